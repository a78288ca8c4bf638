"""Replaces a stage: the lowest address that is free, for one extent after the other. No thought is spent on banks."""

from collections.abc import Iterator

from aiecc.api import (
    CoreId,
    CoreMeasure,
    Extent,
    Lowered,
    Placement,
    TileLayout,
    TileProblem,
    hookimpl,
    place_tiles,
    refuse,
)


@hookimpl
def aiecc_place(lowered: Lowered, measured: dict[CoreId, CoreMeasure | None]) -> Placement | None:
    """Ours where it is able to, else the next in line: stacks that want a bank are left to it."""
    for device in lowered.design.devices:
        if any(core.stack_bank is not None for core in device.cores):
            return None
    return place_tiles(lowered, measured, first_fit)


def first_fit(tile: TileProblem) -> TileLayout:
    """Pinned extents first, then those bound to a bank, then the rest as the design lists them."""
    found: dict[str, int] = {}
    taken: list[tuple[int, int]] = []
    start = None
    if tile.stack is not None:
        start = tile.stack.address or 0
        taken.append((start, start + tile.stack.size))
    for extent in sorted(tile.extents, key=lambda e: (e.address is None, e.mem_bank is None)):
        at = extent.address if extent.address is not None else lowest(tile, extent, taken)
        found[extent.name] = at
        taken.append((at, at + extent.size))
    return TileLayout(found, start, solver="first fit")


def lowest(tile: TileProblem, extent: Extent, taken: list[tuple[int, int]]) -> int:
    """The first address that will do."""
    step = extent.alignment
    if extent.aligned:
        step = max(step, tile.vector if extent.size >= tile.vector else tile.bus)
    for low, high in windows(tile, extent):
        at = low + -low % step
        while clash := [end for begin, end in taken if begin < at + extent.size and at < end]:
            at = max(clash) + -max(clash) % step
        if at + extent.size <= high:
            return at
    return refuse(
        f"first fit: no room for '{extent.name}' on tile ({tile.col}, {tile.row})", extent.where, code="X0001"
    )


def windows(tile: TileProblem, extent: Extent) -> Iterator[tuple[int, int]]:
    """Where the extent may lie."""
    if extent.mem_bank is None and not extent.banks:
        yield tile.guard if extent.initialized else 0, tile.memory
        return
    wanted = extent.banks if extent.mem_bank is None else (extent.mem_bank,)
    for bank in range(tile.banks):
        if bank in (wanted or ()):
            yield bank * tile.bank_size, (bank + 1) * tile.bank_size
