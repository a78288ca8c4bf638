"""An independent check of a layout against its problem.

Written from the rules alone: it shares no code with the searches, so that a mistake there cannot hide
here. `solve` believes no answer that does not pass.
"""

from __future__ import annotations

from aiecc.model.memory import Extent, Kind, TileLayout, TileProblem


def judge(problem: TileProblem, layout: TileLayout) -> list[str]:
    """Every violation of the rules, in words; empty for a legal layout. Addresses in the texts are hex."""
    faults = _names(problem, layout)
    for extent in problem.extents:
        if extent.name in layout.addresses:
            faults += _extent(problem, extent, layout.addresses[extent.name])
    faults += _stack(problem, layout)
    faults += _overlaps(problem, layout)
    return faults


def _names(problem: TileProblem, layout: TileLayout) -> list[str]:
    wanted = [extent.name for extent in problem.extents]
    faults = [f"{_what(e)} has no address" for e in problem.extents if e.name not in layout.addresses]
    faults += [f'"{name}" is not an extent of this tile' for name in layout.addresses if name not in wanted]
    return faults


def _extent(problem: TileProblem, extent: Extent, at: int) -> list[str]:
    what, faults = f"{_what(extent)} at address 0x{at:X}", list[str]()
    if at < 0 or at + extent.size > problem.memory:
        return [f"{what} does not lie in the tile's memory ({problem.memory} bytes)"]
    pinned = extent.address is not None
    if pinned and at != extent.address:
        faults.append(f"{what} was moved from its pinned address 0x{extent.address:X}")

    for demand in _demands(problem, extent, pinned):
        if at % demand:
            faults.append(f"{what} is not aligned to the required {8 * demand} bits")

    width = problem.memory // problem.banks
    start = min(at // width, problem.banks - 1)
    end = (at + extent.size - 1) // width if extent.size else start
    if extent.mem_bank is not None and start != extent.mem_bank:
        faults.append(f"{what} lies in bank {start}, not in bank {extent.mem_bank}")
    if extent.mem_bank is not None and not pinned and end != start:
        faults.append(f"{what} leaves bank {extent.mem_bank}")
    if extent.banks:
        faults += [
            f"{what} touches bank {bank}, which its memory space excludes"
            for bank in range(start, end + 1)
            if bank not in extent.banks
        ]
    if problem.guard and extent.initialized and extent.size and not pinned and at < problem.guard:
        faults.append(f"{what} covers the first {problem.guard} bytes")
    return faults


def _demands(problem: TileProblem, extent: Extent, pinned: bool) -> list[int]:
    """A pin answers to its own demand and the bus width; a chosen address to the strictest of all."""
    demands = [max(extent.alignment, 1)]
    if extent.aligned:
        demands.append(problem.bus)
    if pinned or not extent.aligned:
        return demands
    if extent.size >= problem.vector:
        demands.append(problem.vector)
    return [max(demands)]


def _stack(problem: TileProblem, layout: TileLayout) -> list[str]:
    stack, at = problem.stack, layout.stack_address
    if stack is None:
        return [] if at is None else ["the layout has a stack but the tile has no core"]
    if at is None:
        return ["the stack has no address"]
    if stack.address is not None:
        return [] if at == stack.address else [f"the stack was moved to 0x{at:X}"]
    if stack.bank is None:
        return [] if at == 0 else [f"the stack was moved to 0x{at:X}"]
    faults: list[str] = []
    width = problem.memory // problem.banks
    if at < stack.bank * width or at + stack.size > (stack.bank + 1) * width:
        faults.append(f"the stack ({stack.size} bytes at 0x{at:X}) leaves bank {stack.bank}")
    if at % problem.stack_align:
        faults.append(f"the stack at 0x{at:X} is not aligned to {problem.stack_align} bytes")
    return faults


def _overlaps(problem: TileProblem, layout: TileLayout) -> list[str]:
    faults: list[str] = []
    solid = sorted(
        (
            (layout.addresses[extent.name], extent)
            for extent in problem.extents
            if extent.size and extent.name in layout.addresses
        ),
        key=lambda pair: pair[0],
    )
    if problem.stack is not None and layout.stack_address is not None:
        lo = layout.stack_address
        hi = min(lo + problem.stack.size, problem.memory)
        faults += [
            f"{_what(extent)} at address 0x{at:X} overlaps the stack ({problem.stack.size} bytes at 0x{lo:X})"
            for at, extent in solid
            if at < hi and lo < at + extent.size
        ]
    reach: tuple[int, Extent] | None = None
    for at, extent in solid:
        if reach is not None and at < reach[0] + reach[1].size:
            faults.append(
                f"{_what(extent)} at address 0x{at:X} overlaps with {_what(reach[1])} at address 0x{reach[0]:X} "
                f"(size: {reach[1].size} bytes)"
            )
        if reach is None or at + extent.size > reach[0] + reach[1].size:
            reach = (at, extent)
    return faults


def _what(extent: Extent) -> str:
    if extent.kind is Kind.CORE_DATA:
        return "this core's data sections (data_size)"
    if extent.kind is Kind.BUFFER:
        return f'buffer "{extent.name}"'
    return f"this core's static data pinned to bank {extent.mem_bank or 0}"
