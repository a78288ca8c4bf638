"""What the author fixed: addresses and banks are checked before anything is chosen.

The first failing check of a tile is its diagnosis; nothing pinned is ever moved.
"""

from __future__ import annotations

from aiecc.base.diag import Diagnostic
from aiecc.model.memory import Extent, Kind, TileProblem
from aiecc.place.problem import Run, bank_of, free_runs, preconstrained, round_up
from aiecc.place.refuse import buffer_error, collision, outside_space


def space_conflicts(problem: TileProblem) -> tuple[Diagnostic, ...]:
    """Every extent whose `mem_bank` disagrees with its memory space; all are reported, before any placing."""
    found: list[Diagnostic] = []
    for extent in problem.extents:
        if not extent.banks or extent.mem_bank is None or extent.mem_bank in extent.banks:
            continue
        banks = " or ".join(str(bank) for bank in extent.banks)
        text = f"has address space for bank {banks} but is pinned to bank {extent.mem_bank}. These constraints disagree"
        found.append(buffer_error(extent, text, "E0403"))
    return tuple(found)


def check_pins(problem: TileProblem, stack: Run | None) -> Diagnostic | None:
    """The first illegal pin: addresses ascending, then banks in program order; None when all are legal.

    `stack`: the bytes the stack takes, as a half-open range.
    """
    pinned: list[Extent] = []
    for extent in preconstrained(problem):
        if extent.address is None:
            fault = _check_bank(problem, extent)
        else:
            fault = _check_address(problem, extent, stack, pinned)
            pinned.append(extent)
        if fault is not None:
            return fault
    return None


def _check_bank(problem: TileProblem, extent: Extent) -> Diagnostic | None:
    if extent.banks and any(not 0 <= bank < problem.banks for bank in extent.banks):
        return buffer_error(extent, "memory space requests a bank that does not exist", "E0403")
    if extent.mem_bank is not None and not 0 <= extent.mem_bank < problem.banks:
        return buffer_error(extent, "mem_bank attribute value is out of range", "E0403", (), _banks_text(problem))
    return None


def _banks_text(problem: TileProblem) -> str:
    return f"use a bank from 0 to {problem.banks - 1}"


def _check_address(problem: TileProblem, extent: Extent, stack: Run | None, pinned: list[Extent]) -> Diagnostic | None:
    address = extent.address
    assert address is not None
    return (
        _check_alignment(problem, extent, address)
        or _check_inside(problem, extent, address)
        or outside_space(problem, extent)
        or _check_bank_of_address(problem, extent, address)
        or _check_free(problem, extent, address, stack, pinned)
    )


def _check_alignment(problem: TileProblem, extent: Extent, address: int) -> Diagnostic | None:
    if extent.alignment > 1 and address % extent.alignment:
        return buffer_error(
            extent,
            f"data reservation address must be aligned to {extent.alignment} bytes to satisfy its measured "
            "section alignment",
            "E0402",
            (),
            _nearest(address, extent.alignment),
        )
    if extent.aligned and address % problem.bus:
        return buffer_error(
            extent,
            f"address attribute value must be aligned to {8 * problem.bus} bits when the aligned attribute is set",
            "E0402",
            (),
            _nearest(address, problem.bus) + ", or aligned = false",
        )
    return None


def _nearest(address: int, step: int) -> str:
    below = address // step * step
    choices = [value for value in (below, below + step) if value >= 0]
    return "use address = " + " or ".join(str(value) for value in choices)


def _check_inside(problem: TileProblem, extent: Extent, address: int) -> Diagnostic | None:
    at_the_end = extent.size == 0 and address == problem.memory > 0
    if not 0 <= address < problem.memory and not at_the_end:
        return buffer_error(extent, "address attribute does not fall within any bank range", "E0402")
    if address + extent.size > problem.memory:
        return buffer_error(
            extent, "address attribute would place the buffer past the end of the tile's memory", "E0402"
        )
    return None


def _check_bank_of_address(problem: TileProblem, extent: Extent, address: int) -> Diagnostic | None:
    bank = bank_of(problem, address)
    if extent.mem_bank is None or extent.mem_bank == bank:
        return None
    return buffer_error(
        extent, f"address attribute lies in bank {bank}, but mem_bank requests bank {extent.mem_bank}", "E0403"
    )


def _check_free(
    problem: TileProblem, extent: Extent, address: int, stack: Run | None, pinned: list[Extent]
) -> Diagnostic | None:
    end = address + extent.size
    if not extent.size:
        return None
    on_stack = stack if stack is not None and address < stack[1] and stack[0] < end else None
    others = [
        other for other in pinned if other.size and other.address is not None and address < other.address + other.size
    ]
    if on_stack is None and not others:
        return None
    lowest = None if extent.kind is Kind.PREBAKED else _lowest_legal(problem, extent, stack)
    return collision(problem, extent, others, on_stack, lowest)


def _lowest_legal(problem: TileProblem, extent: Extent, stack: Run | None) -> int | None:
    """The lowest address the author could write instead, every other pin staying where it is."""
    taken = [
        (other.address, other.address + other.size)
        for other in problem.extents
        if other is not extent and other.address is not None
    ]
    if stack is not None:
        taken.append(stack)
    step = max(extent.alignment, problem.bus if extent.aligned else 1)
    for lo, hi in free_runs(problem.memory, taken):
        at = round_up(lo, step)
        while at + extent.size <= hi:
            if extent.mem_bank is None or bank_of(problem, at) == extent.mem_bank:
                return at
            at = round_up((bank_of(problem, at) + 1) * problem.bank_size, step)
    return None
