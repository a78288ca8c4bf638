"""Set-up: once, before use, alike on both sides, with buffers that are there and flags that are enough."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from aiecc.api import Sink
from aiecc.plugins.tpush.dialect.pipe_ops import ImportReservedBufferOp, InitializePipe, ReserveBufferOp
from aiecc.plugins.tpush.extract import reservation
from aiecc.plugins.tpush.kernels import Kernel, Pair, arguments_of, candidates
from aiecc.plugins.tpush.memories import CONSUMER_SPACE
from aiecc.plugins.tpush.model import FLAGS, Direction, Kind, Platform
from aiecc.plugins.tpush.rules.common import counted, memory_name, tell, way
from aiecc.plugins.tpush.values import Values

_OPERANDS = {Direction.C2V: "c2v_consumer_buf", Direction.V2C: "v2c_consumer_buf"}


# -------------------------------------------------------------------------------------------------- one kernel


def check_kernel(kernel: Kernel, diag: Sink) -> None:
    """Every pipe is set up once, at the top of the function, before it is used."""
    first: dict[int, InitializePipe] = {}
    for op in kernel.setups:
        other = first.setdefault(op.number, op)
        if other is not op:
            text = f"pipe {op.number} is set up twice in '{kernel.name}'"
            todo = "leave one of them out, or give the pipes ids of their own"
            tell(diag, op, text, [("the first time here", other)], todo)
        parent = op.parent_op()
        if parent is not None and not isinstance(parent, func.FuncOp):
            text = f"pipe {op.number} is set up inside '{parent.name}', so perhaps not once"
            tell(diag, op, text, todo="set it up at the top of the function")
    order = {op: i for i, op in enumerate(kernel.function.walk())}
    late: set[int] = set()
    for op in kernel.transfers:
        setup = first.get(op.number)
        if setup is not None and order[op] < order[setup] and op.number not in late:
            late.add(op.number)
            text = f"pipe {op.number} is used before it is set up"
            tell(diag, op, text, [("it is set up here", setup)], "set it up at the top of the function")


def check_names(kernel: Kernel, kernels: list[Kernel], module: ModuleOp, diag: Sink) -> None:
    """Names of reserved buffers, and what imports of them lead to."""
    seen: dict[str, ReserveBufferOp] = {}
    for op in kernel.reserves:
        other = seen.setdefault(op.buffer.data, op)
        if other is not op:
            text = f"'{kernel.name}' reserves two buffers named '{op.buffer.data}'"
            tell(diag, op, text, [("the other one is here", other)])
    by_name = {each.name: each for each in kernels}
    imported: dict[tuple[str, str], ImportReservedBufferOp] = {}
    for op in kernel.imports:
        other = imported.setdefault((op.buffer.data, op.peer), op)
        if other is not op:
            text = f"'{op.buffer.data}' of '{op.peer}' is imported twice"
            tell(diag, op, text, [("the first time here", other)], "use the first one")
            continue
        peer = by_name.get(op.peer)
        if peer is None:
            functions = [o.sym_name.data for o in module.walk() if isinstance(o, func.FuncOp)]
            text = f"'{op.peer}' is no kernel" if op.peer in functions else f"there is no function '{op.peer}'"
            others = [k.name for k in kernels if k.kind is not kernel.kind]
            tell(diag, op, text, todo=f"set peer_func = @{others[0]}" if len(others) == 1 else "")
        elif peer.kind is kernel.kind:
            text = (
                f"'{op.peer}' is a {peer.kind.value} kernel as '{kernel.name}' is: pipes join a Cube and Vector cores"
            )
            tell(diag, op, text, [("it is here", peer.function)])
        elif all(r.buffer.data != op.buffer.data for r in peer.reserves):
            there = ", ".join(f"'{r.buffer.data}'" for r in peer.reserves) or "none"
            text = f"'{op.peer}' reserves no buffer named '{op.buffer.data}'; it reserves {there}"
            todo = f'set name = "{peer.reserves[0].buffer.data}"' if len(peer.reserves) == 1 else ""
            tell(diag, op, text, [("the function is here", peer.function)], todo)


def check_partner(kernel: Kernel, kernels: list[Kernel], module: ModuleOp, diag: Sink) -> None:
    """A kernel with pipes runs with exactly one of the other kind."""
    found = candidates(kernel, kernels, module)
    other = Kind.VECTOR if kernel.kind is Kind.CUBE else Kind.CUBE
    if len(found) > 1:
        names = ", ".join(f"'{each.name}'" for each, _ in found)
        text = f"'{kernel.name}' shares pipes with {names}; a cluster has one kernel of a kind"
        tell(diag, kernel.function, text, [("one is here", each.function) for each, _ in found])
    elif not found:
        text = f"nobody says which {other.value} kernel '{kernel.name}' shares its pipes with"
        todo = "call both from one function, or import the buffer (pto.import_reserved_buffer) from the other one"
        tell(diag, kernel.function, text, todo=todo)


# -------------------------------------------------------------------------------------------------- both sides


def check_sides(pair: Pair, diag: Sink) -> None:
    """Both sides say the same of every pipe."""
    for kernel in pair.kernels:
        other = pair.other(kernel)
        for op in kernel.setups:
            if other.setup(op.number) is None:
                text = f"pipe {op.number} is set up in '{kernel.name}', but not in '{other.name}'"
                word = "aic" if other.kind is Kind.CUBE else "aiv"
                keys = f"id = {op.number}, dir_mask = {op.mask}, slot_size = {op.bytes_per_slot}"
                note = ("it runs with this one", other.function)
                tell(diag, op, text, [note], f"write pto.{word}_initialize_pipe {{{keys}}} (..) there")
    for mine in pair.cube.setups:
        theirs = pair.vector.setup(mine.number)
        if theirs is not None and pair.cube.setup(mine.number) is mine:
            _agree(pair, mine, theirs, diag)


_ITEMS: tuple[tuple[str, Callable[[InitializePipe], object]], ...] = (
    ("dir_mask", lambda op: op.mask),
    ("slot_size", lambda op: op.bytes_per_slot),
    ("slot_num", lambda op: op.slots),
    ("local_slot_num", lambda op: op.local_slots),
    ("nosplit", lambda op: str(op.whole_tiles).lower()),
)


def _agree(pair: Pair, mine: InitializePipe, theirs: InitializePipe, diag: Sink) -> None:
    for key, read in _ITEMS:
        a, b = read(mine), read(theirs)
        if a == b or (key == "slot_num" and mine.mask != theirs.mask):
            continue
        text = f"the sides of pipe {mine.number} disagree: {key} is {_said(b)} here, {_said(a)} in '{pair.cube.name}'"
        more = [n for n in (a, b) if isinstance(n, int)]
        wanted = _said(max(more) if key == "slot_size" and more else a)
        todo = f"set {key} = {wanted} on both sides" if a is not None else f"leave {key} out on both sides"
        tell(diag, theirs, text, [("the other side is here", mine)], todo)


def _said(value: object) -> str:
    return "not given" if value is None else str(value)


def check_flags(pair: Pair, diag: Sink) -> None:
    """A wire has 8 flags: slots of all pipes and directions together."""
    taken: list[tuple[InitializePipe, int]] = []
    for op in sorted(pair.cube.setups, key=lambda each: each.number):
        before = sum(count for _, count in taken)
        count = op.slots * len(op.directions)
        if before + count > FLAGS:
            each = (FLAGS - before) // max(len(op.directions), 1)
            text = f"pipe {op.number} needs {counted(count, 'flag')} of each wire; there are {FLAGS}"
            text += f", and {before} are taken" if before else ""
            notes = [(f"pipe {other.number} takes {taken_by}", other) for other, taken_by in taken]
            todo = f"set slot_num = {each} on both sides" if each else _shrink(op, taken)
            tell(diag, op, text, notes, todo)
            return
        taken.append((op, count))


def _shrink(op: InitializePipe, taken: list[tuple[InitializePipe, int]]) -> str:
    directions = len(op.directions) + sum(len(other.directions) for other, _ in taken)
    slots = FLAGS // directions
    if not slots:
        return ""
    ids = " and ".join(str(each.number) for each in (*(other for other, _ in taken), op))
    return f"set slot_num = {slots} on both sides of pipes {ids}"


# ----------------------------------------------------------------------------------------------------- buffers


def check_buffers(pair: Pair, platform: Platform, diag: Sink) -> None:
    """Every ring has a place: in global memory, or in its consumer's memory, which the producer imports."""
    for kernel in pair.kernels:
        for op in kernel.setups:
            if platform is Platform.A2A3:
                _global(op, diag)
                _landing(pair, op, kernel, diag)
            else:
                if op.gm_slot_buffer is not None:
                    text = "A5 has its rings in the consumer's memory: there is nothing for gm_slot_buffer to say"
                    tell(diag, op, text, todo="leave gm_slot_buffer out")
                _local(pair, op, kernel, platform, diag)
    for mine in pair.cube.setups if not diag.failed else ():
        theirs = pair.vector.setup(mine.number)
        if theirs is not None:
            _same_places(pair, mine, theirs, platform, diag)


def _global(op: InitializePipe, diag: Sink) -> None:
    if op.gm_slot_buffer is None:
        size = len(op.directions) * op.slots * op.bytes_per_slot
        text = f"A2A3 has its rings in global memory: pipe {op.number} needs {size} bytes there"
        tell(diag, op, text, todo="write gm_slot_buffer = %workspace : !pto.ptr<..>")


def _landing(pair: Pair, op: InitializePipe, kernel: Kernel, diag: Sink) -> None:
    """The window that popped tiles land in, where one is reserved."""
    for direction in op.directions:
        reserve = reservation(pair, _consumer(pair, direction), op.consumer_buffer(direction))
        if reserve is not None and _consumer(pair, direction) is kernel:
            slots = op.slots if op.local_slots is None else op.local_slots
            _room(op, reserve, slots, diag)


def _consumer(pair: Pair, direction: Direction) -> Kernel:
    return pair.cube if direction.consumer is Kind.CUBE else pair.vector


def _room(op: InitializePipe, reserve: ReserveBufferOp, slots: int, diag: Sink) -> None:
    size, needed = reserve.size.value.data, slots * op.bytes_per_slot
    if 0 < size < needed:
        name = reserve.buffer.data
        text = f"'{name}' has {size} bytes, but {counted(slots, 'slot')} of {op.bytes_per_slot} need {needed}"
        tell(diag, reserve, text, [(f"pipe {op.number} is set up here", op)], f"set size = {needed}")


def _local(pair: Pair, op: InitializePipe, kernel: Kernel, platform: Platform, diag: Sink) -> None:
    for direction in Direction:
        value = op.consumer_buffer(direction)
        if direction not in op.directions:
            if value is not None and not _is_zero(value):
                text = f"pipe {op.number} does not go from {way(direction)}, so {_OPERANDS[direction]} is 0"
                tell(diag, op, text, todo=f"leave {_OPERANDS[direction]} out, or set dir_mask = 3 on both sides")
            continue
        consumer = _consumer(pair, direction)
        if value is None or _is_zero(value):
            _missing(op, direction, consumer, kernel, platform, diag)
            continue
        maker = value.owner
        if isinstance(maker, ReserveBufferOp) and consumer is not kernel:
            text = f"the ring {way(direction)} lies in the consumer's memory, not in that of '{kernel.name}'"
            name = maker.buffer.data
            todo = f'write pto.import_reserved_buffer {{name = "{name}", peer_func = @{consumer.name}}} -> i32'
            tell(diag, op, text, [("this buffer is reserved here", maker)], todo)
        elif isinstance(maker, ImportReservedBufferOp) and consumer is kernel:
            text = f"'{kernel.name}' consumes {way(direction)}, so it reserves the ring itself"
            tell(diag, op, text, [("this buffer is imported here", maker)], _reserve_text(op, direction))
        elif isinstance(maker, ReserveBufferOp):
            _room(op, maker, op.slots, diag)
        elif not isinstance(maker, ImportReservedBufferOp) and _number(value) is None:
            text = f"where the ring {way(direction)} lies must be known: an address that is computed is not"
            tell(diag, op, text, todo=_reserve_text(op, direction))


def _missing(
    op: InitializePipe, direction: Direction, consumer: Kernel, kernel: Kernel, platform: Platform, diag: Sink
) -> None:
    where = memory_name(platform, CONSUMER_SPACE[direction])
    text = f"pipe {op.number} goes from {way(direction)}, but its ring has no place in {where}"
    todo = _reserve_text(op, direction)
    if consumer is not kernel:
        name = next((r.buffer.data for r in consumer.reserves), "..")
        keys = f'name = "{name}", peer_func = @{consumer.name}'
        todo = f"write {_OPERANDS[direction]} = pto.import_reserved_buffer {{{keys}}}"
    tell(diag, op, text, todo=todo)


def _reserve_text(op: InitializePipe, direction: Direction) -> str:
    space, size = CONSUMER_SPACE[direction].value, op.slots * op.bytes_per_slot
    keys = f'name = "{direction.name.lower()}", size = {size}, location = #pto.address_space<{space}>, auto = true'
    return f"write {_OPERANDS[direction]} = pto.reserve_buffer {{{keys}}}"


def _number(value: SSAValue) -> int | None:
    return Values(lambda argument: "").number(value)


def _is_zero(value: SSAValue) -> bool:
    """Whether a buffer is the constant 0, which stands for none."""
    owner = value.owner
    return isinstance(owner, Operation) and isinstance(owner, arith.ConstantOp) and _number(value) == 0


def _same_places(pair: Pair, mine: InitializePipe, theirs: InitializePipe, platform: Platform, diag: Sink) -> None:
    if platform is Platform.A2A3:
        _same_workspace(pair, mine, theirs, diag)
        return
    for direction in mine.directions:
        a, b = mine.consumer_buffer(direction), theirs.consumer_buffer(direction)
        if a is None or b is None:
            continue
        consumer = _consumer(pair, direction)
        one, two = reservation(pair, consumer, a), reservation(pair, consumer, b)
        if one is not two:
            names = [("a fixed address" if r is None else f"'{r.buffer.data}'") for r in (two, one)]
            text = f"the sides of pipe {mine.number} use different rings {way(direction)}: {names[0]} here, {names[1]}"
            tell(diag, theirs, f"{text} in '{pair.cube.name}'", [("the other side is here", mine)])
        elif one is None and _number(a) is not None and _number(b) is not None and _number(a) != _number(b):
            text = f"the sides of pipe {mine.number} use different rings {way(direction)}: {_number(b)} here"
            note = ("the other side is here", mine)
            tell(diag, theirs, f"{text}, {_number(a)} in '{pair.cube.name}'", [note])


def _same_workspace(pair: Pair, mine: InitializePipe, theirs: InitializePipe, diag: Sink) -> None:
    one, two = mine.gm_slot_buffer, theirs.gm_slot_buffer
    if one is None or two is None:
        return
    names = arguments_of(pair)
    values = Values(lambda argument: names.get(argument, ""))
    (start, offset), (other, further) = values.pointer(one), values.pointer(two)
    if any(" of @" in text for text in (start, other)):
        return  # nobody says what the arguments are
    if start != other:
        text = f"the sides of pipe {mine.number} have different workspaces: {other or 'a number'} here"
        note = ("the other side is here", mine)
        tell(diag, theirs, f"{text}, {start or 'a number'} in '{pair.cube.name}'", [note])
    elif offset is not None and further is not None and offset != further:
        text = f"the sides of pipe {mine.number} start at different bytes: {further} here, {offset} in"
        note = ("the other side is here", mine)
        tell(diag, theirs, f"{text} '{pair.cube.name}'", [note], f"start both at {offset}")
