"""Why a tile was not placed, in words.

The first line of every diagnostic is the text people know from mlir-aie; what we add comes as notes:
what lies where, whether the refusal is a proof, and what would help. Sizes in bytes, addresses in hex.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.model.memory import Extent, Kind, TileLayout, TileProblem
from aiecc.place.bound import Shortage
from aiecc.place.map import MAP_TITLE, label, layout_runs, memory_map, stack_run
from aiecc.place.problem import allowed_banks, banks_touched

BUFFER_OP = "'aie.buffer' op "
CORE_OP = "'aie.core' op "
NOT_ALL_FIT = "Not all requested buffers fit in the available memory.\n"
LISTED = 8
"""How many extents a note lists by size."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a tile was not placed.

    `proven`: no layout exists, or a demand is illegal in itself; else the diagnostics carry the budget note.
    `deepest`: the closest arrangement reached, None when a pin was refused before any search.
    `tries`: placements and nodes spent.
    """

    diagnostics: tuple[Diagnostic, ...]
    proven: bool
    deepest: TileLayout | None = None
    tries: int = 0


def what(extent: Extent) -> str:
    """How a diagnostic names an extent."""
    if extent.kind is Kind.CORE_DATA:
        return "this core's data sections (data_size)"
    if extent.kind is Kind.BUFFER:
        return f'buffer "{extent.name}"'
    return f"this core's static data pinned to bank {extent.mem_bank or 0}"


def named(extent: Extent) -> str:
    """The same, by its own name where upstream's words are ambiguous."""
    if extent.kind is Kind.PREBAKED:
        return f'"{extent.name}" (data of the prebuilt elf_file)'
    if extent.kind is Kind.BANK_RESERVED:
        return f'"{extent.name}" (static data pinned to bank {extent.mem_bank or 0})'
    return what(extent)


def span_text(lo: int, hi: int) -> str:
    """`0x1000..0x1FFF (4096 bytes)` for a half-open range; an empty one shows its start."""
    return f"0x{lo:X}..0x{max(hi - 1, lo):X} ({hi - lo} bytes)"


def buffer_error(extent: Extent, text: str, code: str, notes: tuple[Note, ...] = (), todo: str = "") -> Diagnostic:
    """An error on the op of one extent."""
    return Diagnostic(Level.ERROR, BUFFER_OP + text, extent.where, code, notes, todo)


def no_room_for_stack(problem: TileProblem) -> Diagnostic:
    """`stack_bank` is set and its bank has no aligned hole for the stack."""
    stack = problem.stack
    assert stack is not None and stack.bank is not None
    width = problem.bank_size
    lo, hi = stack.bank * width, (stack.bank + 1) * width
    notes = tuple(
        Note(f"{named(e)} is at {span_text(e.address, e.address + e.size)}", e.where)
        for e in problem.extents
        if e.address is not None and e.size and e.address < hi and lo < e.address + e.size
    )
    return Diagnostic(
        Level.ERROR,
        f"{CORE_OP}requires a {stack.size}-byte stack in bank {stack.bank}, but no contiguous aligned space "
        "remains after address-pinned buffers",
        stack.where,
        "E0401",
        notes,
        "move those buffers, choose another stack_bank, or give the stack an explicit aligned stack_address",
    )


def not_placed(
    problem: TileProblem,
    extent: Extent,
    deepest: TileLayout,
    budget: int | None,
    shortage: Shortage | None,
    hint: str = "",
) -> tuple[Diagnostic, ...]:
    """Why `extent`, the deepest one without an address, has nowhere to go.

    `budget`: the ranked search's, when the search ended undecided; None when no layout exists.
    `shortage`: the slot count that proves it, when there is one. `hint`: what else might decide the tile.
    """
    banks = allowed_banks(extent)
    if budget is None and banks is not None:
        return (_bank_error(problem, extent, banks, deepest),)
    note = Note(MAP_TITLE + memory_map(problem, deepest), problem.where)
    warning = Diagnostic(Level.WARNING, NOT_ALL_FIT, problem.where, "", (note,))
    notes: list[Note] = []
    if budget is not None:
        notes.append(
            Note(
                f"the search hit its {budget}-placement budget with arrangements still untried, "
                "so a layout may exist that it did not reach"
            )
        )
    else:
        notes.append(Note(_proof(problem, shortage)))
    notes.append(Note(_room(problem, extent, deepest)))
    notes.append(Note(_by_size(problem)))
    error = buffer_error(
        extent,
        f"could not be placed: {what(extent)} needs {extent.size} bytes and this tile has no room left for it",
        "E0401",
        tuple(notes),
        _advice(problem, budget is not None, hint),
    )
    return warning, error


def _bank_error(problem: TileProblem, extent: Extent, banks: tuple[int, ...], deepest: TileLayout) -> Diagnostic:
    """A bank-required extent that no layout can hold where it must lie."""
    width, size = problem.bank_size, extent.size
    code = "E0403" if extent.kind is Kind.BUFFER else "E0503"
    if len(banks) != 1:
        text = (
            f"{what(extent)} requires {size} bytes, but no contiguous aligned space remains within allowed banks "
            + " and ".join(str(bank) for bank in banks)
        )
        return buffer_error(extent, text, code, _inhabitants(problem, deepest, banks))
    bank = banks[0]
    if size > width:
        text = f"{what(extent)} requires {size} bytes, which cannot fit in bank {bank} ({width} bytes total)"
        todo = f"shrink it to {width} bytes or less" + ("" if code == "E0503" else ", or let it span banks")
        return buffer_error(extent, text, code, (), todo)
    free = [
        (max(lo, bank * width), min(hi, (bank + 1) * width))
        for lo, hi in layout_runs(problem, deepest)
        if lo < (bank + 1) * width and bank * width < hi
    ]
    total = sum(hi - lo for lo, hi in free)
    text = f"{what(extent)} requires {size} bytes in bank {bank}, but only {total} of {width} bytes are free there"
    notes = _inhabitants(problem, deepest, banks)
    if total >= size:
        longest = max((hi - lo for lo, hi in free), default=0)
        notes = (Note(f"the largest free run in bank {bank} is {longest} bytes"), *notes)
    return buffer_error(extent, text, code, notes, "choose another bank, or move what is in the way")


def _inhabitants(problem: TileProblem, deepest: TileLayout, banks: tuple[int, ...]) -> tuple[Note, ...]:
    """A note for everything that lies in one of the banks."""
    width = problem.bank_size
    notes: list[Note] = []
    stack = stack_run(problem, deepest)
    if stack is not None and problem.stack is not None and _reaches(stack[0], stack[1], banks, width):
        notes.append(Note(f"the stack is at {span_text(*stack)}", problem.stack.where))
    placed = [(deepest.addresses[e.name], e) for e in problem.extents if e.size and e.name in deepest.addresses]
    for at, extent in sorted(placed, key=lambda pair: pair[0]):
        if _reaches(at, at + extent.size, banks, width):
            notes.append(Note(f"{named(extent)} is at {span_text(at, at + extent.size)}", extent.where))
    return tuple(notes)


def _reaches(lo: int, hi: int, banks: tuple[int, ...], width: int) -> bool:
    return any(lo < (bank + 1) * width and bank * width < hi for bank in banks)


def _stack_bytes(problem: TileProblem) -> int:
    return problem.stack.size if problem.stack is not None else 0


def _needed(problem: TileProblem) -> int:
    return _stack_bytes(problem) + sum(extent.size for extent in problem.extents)


def _proof(problem: TileProblem, shortage: Shortage | None) -> str:
    """What shows that no layout exists."""
    needed = _needed(problem)
    if needed > problem.memory:
        return (
            f"proven: this tile can never hold all of it: {_demand(problem)} = {needed} bytes, "
            f"memory {problem.memory} bytes, short by {needed - problem.memory} bytes"
        )
    if shortage is not None:
        where = (
            "" if (shortage.lo, shortage.hi) == (0, problem.memory) else f" in 0x{shortage.lo:X}..0x{shortage.hi - 1:X}"
        )
        return (
            f"proven: no layout exists: extents aligned to {shortage.step} bytes need {shortage.demand} "
            f"{shortage.step}-byte slots{where}, and only {shortage.supply} are free"
        )
    return "proven: no layout exists: every arrangement was ruled out"


def _demand(problem: TileProblem) -> str:
    parts: list[str] = []
    if _stack_bytes(problem):
        parts.append(f"stack {_stack_bytes(problem)}")
    for kind, words in (
        (Kind.BUFFER, "buffer"),
        (Kind.CORE_DATA, "core data"),
        (Kind.BANK_RESERVED, "bank-pinned static data"),
        (Kind.PREBAKED, "prebuilt data"),
    ):
        sizes = [e.size for e in problem.extents if e.kind is kind and e.size]
        if sizes and kind is Kind.BUFFER:
            parts.append(f"{len(sizes)} {words}{'s' if len(sizes) > 1 else ''} {sum(sizes)}")
        elif sizes:
            parts.append(f"{words} {sum(sizes)}")
    return " + ".join(parts)


def _room(problem: TileProblem, extent: Extent, deepest: TileLayout) -> str:
    """What the closest arrangement leaves."""
    runs = layout_runs(problem, deepest)
    total = sum(hi - lo for lo, hi in runs)
    longest = max((hi - lo for lo, hi in runs), default=0)
    text = f"the arrangement shown leaves {total} bytes free in all, the largest run {longest} bytes"
    unplaced = sum(1 for e in problem.extents if e.name not in deepest.addresses)
    if unplaced > 1:
        text += f", with {unplaced} extents not placed yet"
    elif longest < extent.size:
        text += f", short by {extent.size - longest} bytes"
    return text


def _by_size(problem: TileProblem) -> str:
    ranked = sorted((e for e in problem.extents if e.size), key=lambda e: -e.size)
    text = ", ".join(f"{label(e)} {e.size}" for e in ranked[:LISTED])
    more = f", and {len(ranked) - LISTED} smaller" if len(ranked) > LISTED else ""
    return f"by size: {text}{more}"


def _advice(problem: TileProblem, undecided: bool, hint: str) -> str:
    """What to change, with the shortfall in bytes where it is known; what may help an undecided search comes first."""
    short = _needed(problem) - problem.memory
    by = f" by {short} bytes" if short > 0 else ""
    parts: list[str] = []
    if undecided:
        parts.append("pin a buffer or two with mem_bank, which cuts the search down")
        parts.append("raise placement-budget")
        parts += [hint] if hint else []
    parts.append(f"shrink or move buffers of this tile{by}")
    kinds = {e.kind for e in problem.extents if e.size}
    if Kind.CORE_DATA in kinds:
        parts.append("lower data_size or shrink the core's static data")
    if Kind.BANK_RESERVED in kinds:
        parts.append("shrink the bank-pinned tables")
    if _stack_bytes(problem):
        parts.append("lower stack_size")
    return ", or ".join(parts)


def collision(
    problem: TileProblem, extent: Extent, others: list[Extent], stack: tuple[int, int] | None, lowest: int | None
) -> Diagnostic:
    """A pinned address over bytes that are taken: by `others`, pinned lower, or by the stack's range.

    `lowest`: the lowest legal address for the extent, if there is one.
    """
    assert extent.address is not None
    lo, hi = extent.address, extent.address + extent.size
    notes = [Note(f"{named(extent)} is at {span_text(lo, hi)}", extent.where)]
    if stack is not None and problem.stack is not None:
        default = "" if problem.stack.declared else ", the default size: stack_size is absent"
        notes.append(
            Note(
                f"the stack is at {span_text(*stack)}{default}; "
                f"both claim {span_text(max(lo, stack[0]), min(hi, stack[1]))}",
                problem.stack.where,
            )
        )
    for other in others:
        assert other.address is not None
        end = other.address + other.size
        shared = span_text(max(lo, other.address), min(hi, end))
        notes.append(Note(f"{named(other)} is at {span_text(other.address, end)}; both claim {shared}", other.where))
    todo = "move one of the two"
    if lowest is not None:
        notes.append(Note(f"the lowest legal address for {named(extent)} is 0x{lowest:X} ({lowest})"))
        todo = f"set address = {lowest}, or leave the address out"
    return buffer_error(extent, "would override allocated address", "E0402", tuple(notes), todo)


def outside_space(problem: TileProblem, extent: Extent) -> Diagnostic | None:
    """A pinned address that touches a bank the extent's memory space excludes."""
    assert extent.address is not None
    for bank in banks_touched(problem, extent.address, extent.size):
        if extent.banks and bank not in extent.banks:
            return buffer_error(
                extent,
                f"address attribute places the buffer in bank {bank}, which is excluded by its memory space",
                "E0403",
            )
    return None
