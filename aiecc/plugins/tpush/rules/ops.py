"""What an op says by itself: where it stands, its numbers, its types, and the pipe it names."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from aiecc.api import Sink
from aiecc.plugins.tpush.dialect.attrs import TileBufType
from aiecc.plugins.tpush.dialect.pipe_ops import (
    FreeOp,
    ImportReservedBufferOp,
    InitializePipe,
    PipeOp,
    PopOp,
    PushOp,
    ReserveBufferOp,
)
from aiecc.plugins.tpush.kernels import KIND, Kernel, function_around, kind_of
from aiecc.plugins.tpush.memories import CONSUMER_SPACE, GRANULE, MEMORIES, PUSH_SPACES
from aiecc.plugins.tpush.model import Direction, Kind, Platform, Space, Split
from aiecc.plugins.tpush.rules.common import core, memory_name, tell, up, way

_PAIRS = {
    "pto.aic_initialize_pipe": "pto.aiv_initialize_pipe",
    "pto.tpush_to_aiv": "pto.tpush_to_aic",
    "pto.tpop_from_aic": "pto.tpop_from_aiv",
    "pto.tfree_from_aic": "pto.tfree_from_aiv",
}
_OTHERS = _PAIRS | {theirs: ours for ours, theirs in _PAIRS.items()}
_SPLITS = "0 none, 1 up-down, 2 left-right, 3 and 4 the same for an odd number of rows or columns"


def check_places(module: ModuleOp, diag: Sink) -> None:
    """Every op stands in a function that says which core it runs on, and it is that of the op."""
    told: set[func.FuncOp] = set()
    for op in module.walk():
        if not isinstance(op, PipeOp | InitializePipe | ReserveBufferOp | ImportReservedBufferOp):
            continue
        function = function_around(op)
        if function in told:
            continue
        if function is None:
            tell(diag, op, f"'{op.name}' stands in no function")
            continue
        kind = kind_of(function)
        name = function.sym_name.data
        if kind is None:
            told.add(function)
            todo = f"write func.func @{name}(..) attributes {{{KIND} = #pto.kernel_kind<{_wanted(function)}>}}"
            tell(diag, op, f"'{op.name}' stands in '{name}', which does not say what it runs on", todo=todo)
        elif isinstance(op, PipeOp | InitializePipe) and op.KIND is not kind:
            text = f"'{op.name}' runs on {core(op.KIND)}, but '{name}' is a {kind.value} kernel"
            tell(diag, op, text, todo=f"write {_OTHERS[op.name]}")


def _wanted(function: func.FuncOp) -> str:
    """The kind that the ops of a function ask for."""
    kinds = [op.KIND.value for op in function.walk() if isinstance(op, PipeOp | InitializePipe)]
    return kinds[0] if kinds else "cube or vector"


def check_setup(op: InitializePipe, platform: Platform, diag: Sink) -> None:
    """The numbers of a set-up."""
    if op.number < 0:
        tell(diag, op, f"a pipe's id is at least 0, not {op.number}")
    if op.mask not in (1, 2, 3):
        tell(diag, op, f"dir_mask = {op.mask} is no direction: 1 is Cube to Vector, 2 Vector to Cube, 3 both")
    size = op.bytes_per_slot
    if size < 1:
        tell(diag, op, f"slot_size = {size}: a slot holds at least one tile, counted in bytes")
    elif size % GRANULE:
        todo = f"set slot_size = {up(size, GRANULE)} on both sides"
        tell(diag, op, f"slot_size = {size} is no multiple of {GRANULE}, so slots do not start aligned", todo=todo)
    if op.slots < 1:
        tell(diag, op, f"slot_num = {op.slots}: a ring has at least one slot")
    local = op.local_slots
    if local is None:
        return
    if platform is Platform.A5:
        todo = "leave local_slot_num out"
        tell(diag, op, "local_slot_num is of A2A3 only: on A5 a popped tile is the slot itself", todo=todo)
    elif not 1 <= local <= op.slots:
        todo = f"set local_slot_num = {max(op.slots, 1)} or less"
        tell(diag, op, f"local_slot_num = {local} is not within 1 and slot_num = {op.slots}", todo=todo)


def check_transfer(op: PipeOp, kernel: Kernel, platform: Platform, diag: Sink) -> None:
    """A push, pop or free: its split, its pipe, and the memory of its tile."""
    if op.code not in set(Split):
        tell(diag, op, f"split = {op.code} is no split: {_SPLITS}")
        return
    setup = kernel.setup(op.number)
    if setup is None:
        known = sorted({each.number for each in kernel.setups})
        there = f"there is {', '.join(map(str, known))}" if known else "there is none"
        word = "aic" if kernel.kind is Kind.CUBE else "aiv"
        todo = f"write pto.{word}_initialize_pipe {{id = {op.number}, dir_mask = {int(op.DIRECTION)}, slot_size = ..}}"
        tell(diag, op, f"'{kernel.name}' sets up no pipe {op.number}; {there}", todo=todo)
        return
    if not setup.mask & op.DIRECTION and setup.mask in (1, 2, 3):
        text = f"pipe {op.number} does not go from {way(op.DIRECTION)}: its dir_mask is {setup.mask}"
        todo = f"set dir_mask = {setup.mask | op.DIRECTION} on both sides"
        tell(diag, op, text, [("the pipe is set up here", setup)], todo)
    if setup.whole_tiles and op.code:
        todo = "set split = 0, or leave nosplit out on both sides"
        tell(diag, op, f"pipe {op.number} moves whole tiles only", [("it is set up with nosplit here", setup)], todo)
    if op.parting.odd:
        if op.DIRECTION is Direction.V2C:
            text = f"split = {op.code} (odd) is of Cube to Vector only: Vector to Cube, both lanes have equal parts"
            tell(diag, op, text, todo="pad the tile to an even extent")
        elif platform is Platform.A5:
            todo = "pad the tile to an even extent"
            tell(diag, op, f"split = {op.code} (odd) needs a ring in global memory; A5 has none", todo=todo)
    if isinstance(op, PushOp):
        _memory(op, op.source.type, PUSH_SPACES[op.DIRECTION], platform, diag)
    elif isinstance(op, PopOp):
        _memory(op, op.taken.type, (CONSUMER_SPACE[op.DIRECTION],), platform, diag)


def _memory(op: PipeOp, type: object, spaces: tuple[Space, ...], platform: Platform, diag: Sink) -> None:
    assert isinstance(type, TileBufType)
    if type.memory not in spaces:
        where = " or ".join(memory_name(platform, space) for space in spaces)
        verb = "pushed from" if isinstance(op, PushOp) else "popped into"
        text = f"a tile is {verb} {where} {way(op.DIRECTION)}, not {memory_name(platform, type.memory)}"
        tell(diag, op, text, todo=f"write !pto.tile_buf<loc={spaces[0].value}, ..>")
    if type.bytes_per_element is None:
        tell(diag, op, "an element of this tile has no whole number of bytes, so its place in a slot cannot be told")


def check_mixing(kernel: Kernel, diag: Sink) -> None:
    """On one pipe tiles are all split or all whole."""
    first: dict[int, PipeOp] = {}
    for op in kernel.transfers:
        other = first.setdefault(op.number, op)
        if bool(other.code) != bool(op.code):
            text = f"pipe {op.number} moves whole tiles (split = 0) and split ones; who shakes hands would change"
            note = (f"split = {other.code} here", other)
            tell(diag, op, text, [note], f"set split = {other.code}, or use a pipe of its own")
            break


def check_reservation(op: ReserveBufferOp, kernel: Kernel, platform: Platform, diag: Sink) -> None:
    """A buffer lies in the memory of the core it stands on, aligned and within it."""
    space, size = op.memory.space, op.size.value.data
    name = op.buffer.data
    wanted = Space.VEC if kernel.kind is Kind.VECTOR else Space.MAT
    if space is not wanted:
        text = f"'{name}' cannot lie in {memory_name(platform, space)}: '{kernel.name}' is a {kernel.kind.value} kernel"
        tell(diag, op, text, todo=f"set location = #pto.address_space<{wanted.value}>")
        return
    memory = MEMORIES[platform][space]
    if size < 1:
        tell(diag, op, f"'{name}' has {size} bytes: a buffer has at least one slot")
        return
    base = op.fixed
    if base is None:
        if not op.is_auto:
            todo = "write auto = true, or base = .. behind it"
            tell(diag, op, f"'{name}' is neither placed by itself (auto = true) nor has it a base", todo=todo)
        elif size > memory.usable:
            text = f"'{name}' has {size} bytes, but {memory_name(platform, space)} has {memory.usable} to give"
            tell(diag, op, text)
        return
    if base < 0 or base % memory.alignment:
        todo = f"set base = {up(max(base, 0), memory.alignment)}"
        text = f"'{name}' starts at {base}, no multiple of {memory.alignment}"
        tell(diag, op, text, todo=todo)
    elif base + size > memory.usable:
        text = f"'{name}' ends at {base + size}, but {memory_name(platform, space)} has {memory.usable} bytes to give"
        last = (memory.usable - size) // memory.alignment * memory.alignment
        tell(diag, op, text, todo=f"set base = {last} or less" if last >= 0 else "")


def check_free(op: FreeOp, diag: Sink) -> None:
    """What a free names is a popped tile of its own pipe and direction."""
    if op.meant is None:
        return
    popped = op.meant.owner
    if not isinstance(popped, PopOp) or (popped.number, popped.DIRECTION) != (op.number, op.DIRECTION):
        text = f"what is freed here was not popped from pipe {op.number} {way(op.DIRECTION)}"
        tell(diag, op, text, todo="leave the tile out: the oldest one that is held is freed")
