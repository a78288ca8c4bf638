"""From a device to the placement problems of its tiles, and from their answers back.

`problems` first makes room visible: what the cores' own sections need becomes ordinary `aie.buffer` ops (`core_data`,
`bank_reserved`, prebaked ranges), so that one allocator sees every extent. `apply` writes addresses. Both may run again
on their own result and then change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Operation

from aiecc.base.diag import Diagnostic, Level, Refused
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.base import text_of
from aiecc.ir.dialects.constraints import BOOL, I32
from aiecc.ir.facts import buffers_by_tile, measured, memory_space
from aiecc.ir.spans import copy_span, span_of
from aiecc.model.memory import Extent, Kind, StackExtent, TileLayout, TileProblem
from aiecc.model.targets import Arch, Target, Tile, TileKind, memory_space_banks

_BYTE = IntegerType(8)
_PREBAKED = "prebaked_"
_GUARD = 4


def problems(device: DeviceOp, target: Target, *, default_stack: int | None = None) -> tuple[TileProblem, ...]:
    """The placement problem of every tile with a core or a buffer, in program order.

    `default_stack`: bytes for cores without `stack_size`, in place of the device's default. Changes the device:
    writes `mem_bank` where a memory space allows one bank only, and inserts the reservations of every core before it.
    Raises `Refused` with every buffer whose memory space and `mem_bank` disagree.
    """
    constrain(device)
    cores = _cores(device)
    reserve(device)
    buffers = buffers_by_tile(device)
    found: list[TileProblem] = []
    met: set[Tile] = set()
    for tile in device.ops_of(TileOp):
        assert isinstance(tile, TileOp)
        at = tile.coord
        if at in met or (at not in cores and at not in buffers):
            continue
        met.add(at)
        kind = target.tile_kind(*at)
        if kind is not None and target.memory_size(kind):
            found.append(_problem(tile, kind, target, buffers.get(at, ()), cores.get(at), default_stack))
    return tuple(found)


def apply(device: DeviceOp, problem: TileProblem, layout: TileLayout) -> None:
    """Write one tile's addresses and banks; `stack_address` only where it was chosen for a `stack_bank`."""
    stack = problem.stack
    chosen = stack is not None and stack.bank is not None and stack.address is None
    for op in _on_tile(device, (problem.col, problem.row)):
        if isinstance(op, CoreOp) and chosen:
            assert layout.stack_address is not None
            op.properties["stack_address"] = IntegerAttr(layout.stack_address, I32)
        elif isinstance(op, BufferOp) and (address := layout.addresses.get(op.symbol or "")) is not None:
            bank = min(address // problem.bank_size, problem.banks - 1)
            op.properties["address"] = IntegerAttr(address, I32)
            op.properties["mem_bank"] = IntegerAttr(bank, I32)


def _on_tile(device: DeviceOp, at: Tile) -> Iterator[Operation]:
    """The ops that stand on a tile."""
    for tile in device.ops_of(TileOp):
        assert isinstance(tile, TileOp)
        if tile.coord == at:
            yield from (use.operation for use in tile.result.uses)


# --- memory spaces ----------------------------------------------------------------------------------------------------


def constrain(device: DeviceOp) -> None:
    """Turn memory spaces of one bank into `mem_bank`. Raises `Refused` with every disagreement of the device."""
    conflicts: list[Diagnostic] = []
    for group in buffers_by_tile(device).values():
        for buffer in group:
            banks = memory_space_banks(memory_space(buffer.result.type))
            if banks is None:
                continue
            if buffer.mem_bank is not None and buffer.mem_bank not in banks:
                conflicts.append(_disagree(buffer, banks))
            elif len(banks) == 1 and buffer.mem_bank is None:
                buffer.properties["mem_bank"] = IntegerAttr(banks[0], I32)
    if conflicts:
        raise Refused(*conflicts)


def _disagree(buffer: BufferOp, banks: tuple[int, ...]) -> Diagnostic:
    wanted = " or ".join(str(bank) for bank in banks)
    text = (
        f"'aie.buffer' op has address space for bank {wanted} but is pinned to bank {buffer.mem_bank}. "
        "These constraints disagree"
    )
    return Diagnostic(Level.ERROR, text, span_of(buffer), "E0403", todo=f"set mem_bank = {banks[0]}, or leave it out")


# --- what the cores' own sections need --------------------------------------------------------------------------------


def reserve(device: DeviceOp) -> None:
    """Insert the reservations of every core immediately before it: core data, banks ascending, prebaked ranges."""
    taken = {name for op in device.walk() if (name := text_of(op.properties.get("sym_name"))) is not None}
    buffers = buffers_by_tile(device)
    for at, core in _cores(device).items():
        held = any(buffer.core_data for buffer in buffers.get(at, ()))
        for buffer in _reservations(core, at, held, taken):
            copy_span(core, buffer)
            device.block.insert_op_before(buffer, core)


def _reservations(core: CoreOp, at: Tile, data_held: bool, taken: set[str]) -> Iterable[BufferOp]:
    figures = measured(core)
    place = f"{at[0]}_{at[1]}"
    size = core.data_size if core.data_size is not None else figures.data_size or 0
    if size > 0 and not data_held:
        yield _buffer(core, _unique(f"core_data_{place}", taken), size, core_data=True)
    for bank, room in enumerate(figures.bank_sizes or ()):
        name = f"bank_reserved_{place}_{bank}"
        if room > 0 and name not in taken:
            taken.add(name)
            yield _buffer(core, name, room, bank=bank)
    for address, length in figures.data_ranges or ():
        name = f"{_PREBAKED}{place}_{address}"
        if length > 0 and name not in taken:
            taken.add(name)
            yield _buffer(core, name, length, address=address)


def _buffer(
    core: CoreOp, name: str, size: int, *, core_data: bool = False, bank: int | None = None, address: int | None = None
) -> BufferOp:
    buffer = BufferOp(
        core.tile,
        MemRefType(_BYTE, [size]),
        name,
        core_data=core_data,
        bank_reserved=not core_data,
        mem_bank=bank,
        address=address,
    )
    if address is not None:
        buffer.properties["aligned"] = IntegerAttr(0, BOOL)
    return buffer


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


# --- problems ---------------------------------------------------------------------------------------------------------


def _cores(device: DeviceOp) -> dict[Tile, CoreOp]:
    found: dict[Tile, CoreOp] = {}
    for core in device.ops_of(CoreOp):
        assert isinstance(core, CoreOp)
        if core.coord is not None:
            found.setdefault(core.coord, core)
    return found


def _problem(
    tile: TileOp,
    kind: TileKind,
    target: Target,
    buffers: Iterable[BufferOp],
    core: CoreOp | None,
    default_stack: int | None,
) -> TileProblem:
    memory = target.memory(kind)
    guarded = kind is TileKind.MEM and tile.col == 0 and target.npu and target.arch is Arch.AIE2P
    return TileProblem(
        col=tile.col,
        row=tile.row,
        memory=memory.size,
        banks=memory.banks,
        bus=memory.bus,
        vector=memory.vector,
        stack_align=target.stack_align,
        extents=tuple(_extent(buffer, core) for buffer in buffers),
        stack=None if core is None else _stack(core, target, default_stack),
        guard=_GUARD if guarded else 0,
        where=span_of(tile),
    )


def _stack(core: CoreOp, target: Target, default_stack: int | None) -> StackExtent:
    declared = core.stack_size
    return StackExtent(
        size=declared or default_stack or target.default_stack_size,
        address=core.stack_address,
        bank=core.stack_bank,
        declared=declared is not None,
        measured=core.measured_stack_size,
        where=span_of(core),
    )


def _extent(buffer: BufferOp, core: CoreOp | None) -> Extent:
    kind = _kind(buffer)
    return Extent(
        name=buffer.symbol or "",
        kind=kind,
        size=buffer.size_bytes,
        address=buffer.address,
        mem_bank=buffer.mem_bank,
        banks=memory_space_banks(memory_space(buffer.result.type)),
        alignment=_alignment(kind, buffer, core),
        aligned=buffer.aligned,
        initialized=buffer.initial_value is not None,
        where=span_of(buffer),
    )


def _kind(buffer: BufferOp) -> Kind:
    if buffer.core_data:
        return Kind.CORE_DATA
    if not buffer.bank_reserved:
        return Kind.BUFFER
    return Kind.PREBAKED if (buffer.symbol or "").startswith(_PREBAKED) else Kind.BANK_RESERVED


def _alignment(kind: Kind, buffer: BufferOp, core: CoreOp | None) -> int:
    """What the core's sections were measured to want beside the bus and vector rule."""
    if core is None:
        return 1
    if kind is Kind.CORE_DATA:
        return core.measured_data_alignment or 1
    alignments = core.measured_bank_alignments
    if kind is Kind.BANK_RESERVED and buffer.mem_bank is not None and 0 <= buffer.mem_bank < len(alignments):
        return alignments[buffer.mem_bank] or 1
    return 1
