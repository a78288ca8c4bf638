"""From a placed design to the memory one core sees: what a linker script or a BCF is written from.

`core_layout` describes the real link, `probe_layout` the one that only measures. Addresses of facts are relative to a
tile's own memory; those of a layout are absolute, as the core sees them.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.base.diag import refuse
from aiecc.model import runs
from aiecc.model.design import BufferFacts, CoreFacts, DeviceFacts
from aiecc.model.ids import CoreId
from aiecc.model.layout import CoreLayout, Direction, Region, SymbolSlot, Window
from aiecc.model.targets import Target, TileKind

STALE = "; the buffer allocator's placement is stale. Re-run --aie-assign-buffer-addresses"


def core_layout(
    device: DeviceFacts,
    core: CoreId,
    target: Target,
    *,
    chess: bool = False,
    default_stack_size: int | None = None,
    link_files: Sequence[str] | None = None,
) -> CoreLayout:
    """The memory of a placed core. Raises `Refused` where the placement does not hold together.

    `chess`: no bank regions, Chess has constraints of its own. `default_stack_size` None: the target's.
    `link_files` None: as the design names them; else the paths the linker is to read. A tile without a
    core gets a layout without a stack.
    """
    facts = _core(device, core)
    memory = target.window_size
    stack = None if facts is None else _stack(facts, target, default_stack_size)
    buffers = _buffers(device, core)
    reserved = next((b for b in buffers if b.core_data), None)
    occupied = [runs.extent(_address(b), b.size) for b in buffers if not b.core_data]
    if stack is not None:
        occupied.append(stack)
    align = target.vector_align(TileKind.CORE)
    if reserved is None:
        data = runs.largest(runs.free((0, memory), occupied), align) or (memory, memory)
    else:
        data = runs.extent(_address(reserved), reserved.size)
        _check_reservation(device, core, data, memory, stack, buffers)
    banks = [] if chess or not _has_bank_sections(target) else _banks(target, buffers, occupied, data, reserved, align)
    own = target.own_base(core.col, core.row)
    return CoreLayout(
        label=core.label,
        program_size=target.program_memory_size,
        own_base=own,
        memory=memory,
        stack=None if stack is None else _region(own, stack),
        windows=_windows(device, core, target, placed=True),
        data=_region(own, data),
        data_reserved=reserved is not None,
        banks=tuple(_region(own, b) for b in banks),
        link_files=_link_files(facts, link_files),
        address_space=target.address_space,
    )


def probe_layout(
    device: DeviceFacts,
    core: CoreId,
    target: Target,
    *,
    default_stack_size: int | None = None,
    link_files: Sequence[str] | None = None,
) -> CoreLayout:
    """A layout that any core links against, from a design without addresses, so that its sections can be measured.

    Every region starts where its memory starts and is far longer than it, so that a table larger than its bank, or
    code larger than program memory, is measured instead of stopping the link; they overlap, so the link needs
    `--no-check-sections`. Buffers lie at their memory's base.
    """
    facts = _core(device, core)
    own, end = target.own_base(core.col, core.row), target.address_space
    size = 0 if facts is None else _stack_size(facts, target, default_stack_size)
    width = target.bank_size(TileKind.CORE)
    starts = [own + b * width for b in range(target.banks(TileKind.CORE))] if _has_bank_sections(target) else []
    return CoreLayout(
        label=core.label,
        program_size=min(target.window_base(d) for d in Direction),
        own_base=own,
        memory=target.window_size,
        stack=None if facts is None else Region(own, size),
        windows=_windows(device, core, target, placed=False),
        data=Region(own, end - own),
        data_reserved=True,
        banks=tuple(Region(s, end - s) for s in starts),
        link_files=_link_files(facts, link_files),
        address_space=end,
    )


def symbol_windows(device: DeviceFacts, core: CoreId, target: Target) -> tuple[Window, ...]:
    """The four windows of a tile's core, south, west, north, east, with the buffers in each."""
    return _windows(device, core, target, placed=True)


def _has_bank_sections(target: Target) -> bool:
    """Whether kernels may pin tables to banks: the AIE2 family."""
    return target.arch.is_aie2_family


def _core(device: DeviceFacts, core: CoreId) -> CoreFacts | None:
    return next((c for c in device.cores if c.id == core), None)


def _link_files(facts: CoreFacts | None, given: Sequence[str] | None) -> tuple[str, ...]:
    if given is not None:
        return tuple(given)
    return () if facts is None else facts.link_files


def _buffers(device: DeviceFacts, core: CoreId) -> tuple[BufferFacts, ...]:
    tile = device.tile(core.col, core.row)
    return () if tile is None else tile.buffers


def _stack_size(facts: CoreFacts, target: Target, default: int | None) -> int:
    if facts.stack_size is not None:
        return facts.stack_size
    return target.default_stack_size if default is None else default


def _stack(facts: CoreFacts, target: Target, default: int | None) -> runs.Run:
    if facts.stack_bank is not None and facts.stack_address is None:
        refuse(
            "'aie.core' op stack_bank has no assigned stack_address; run --aie-assign-buffer-addresses with "
            "bank-aware allocation",
            facts.where,
            code="E0402",
        )
    return runs.extent(facts.stack_address or 0, _stack_size(facts, target, default))


def _address(buffer: BufferFacts) -> int:
    if buffer.address is None:
        refuse(
            f"'aie.buffer' op buffer '{buffer.name}' has no address",
            buffer.where,
            code="E0402",
            todo="run --aie-assign-buffer-addresses first",
        )
    return buffer.address


def _region(base: int, run: runs.Run) -> Region:
    return Region(base + run[0], runs.size(run))


def _check_reservation(
    device: DeviceFacts,
    core: CoreId,
    data: runs.Run,
    memory: int,
    stack: runs.Run | None,
    buffers: Sequence[BufferFacts],
) -> None:
    """A reservation that something moved under would make the core and that buffer overwrite each other."""
    tile = device.tile(core.col, core.row)
    where = None if tile is None else tile.where
    if data[1] > memory:
        refuse(f"'aie.tile' op data region runs past this tile's local memory{STALE}", where, code="E0402")
    if stack is not None and runs.overlap(data, stack):
        refuse(f"'aie.tile' op data region overlaps the stack{STALE}", where, code="E0402")
    for b in buffers:
        if not b.core_data and runs.overlap(data, runs.extent(_address(b), b.size)):
            refuse(
                f"'aie.tile' op data region 0x{data[0]:X}-0x{data[1] - 1:X} overlaps buffer '{b.name}' "
                f"at 0x{_address(b):X}{STALE}",
                where,
                code="E0402",
            )


def _banks(
    target: Target,
    buffers: Sequence[BufferFacts],
    occupied: Sequence[runs.Run],
    data: runs.Run,
    reserved: BufferFacts | None,
    align: int,
) -> list[runs.Run]:
    """Per bank its reservation, else its largest aligned free run; empty at the bank's start where it is full.

    An ordinary-data reservation is taken; the leftover run is not, since its start gives way to pinned sections.
    """
    width = target.bank_size(TileKind.CORE)
    held = {b.mem_bank: b for b in buffers if b.bank_reserved and b.aligned and b.mem_bank is not None}
    taken = [*occupied, data] if reserved is not None else list(occupied)
    out: list[runs.Run] = []
    for bank in range(target.banks(TileKind.CORE)):
        start = bank * width
        reservation = held.get(bank)
        if reservation is not None:
            out.append(runs.extent(_address(reservation), reservation.size))
            continue
        window = runs.extent(start, width)
        out.append(runs.largest(runs.free(window, taken), align) or (start, start))
    return out


def _windows(device: DeviceFacts, core: CoreId, target: Target, *, placed: bool) -> tuple[Window, ...]:
    out: list[Window] = []
    for direction in Direction:
        owner = target.neighbour_memory(core.col, core.row, direction)
        base = target.window_base(direction)
        tile = None if owner is None else device.tile(*owner)
        slots: tuple[SymbolSlot, ...] = ()
        if tile is not None:
            slots = tuple(
                SymbolSlot(b.name, base + _address(b) if placed else base, b.size, b.initialized)
                for b in tile.buffers
                if not b.core_data and not b.bank_reserved
            )
        out.append(
            Window(
                direction=direction,
                base=base,
                size=target.window_size,
                present=owner is not None,
                declared=tile is not None,
                own=owner == (core.col, core.row),
                slots=slots,
            )
        )
    return tuple(out)
