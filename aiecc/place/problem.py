"""What the placement rules say about one extent, and arithmetic on free runs.

Everything here is a pure function of the contracts in `aiecc.model.memory`. Addresses and sizes are
bytes, relative to the tile's memory. A *run* is a maximal half-open range `[lo, hi)` of free bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from aiecc.model.memory import Extent, Kind, TileProblem

Run = tuple[int, int]
Runs = tuple[Run, ...]


def round_up(value: int, step: int) -> int:
    """The least multiple of `step` that is at least `value`."""
    return value + -value % step


def alignment(problem: TileProblem, extent: Extent) -> int:
    """The alignment of an address the allocator chooses.

    An extent too small for one full vector keeps the bus width; `aligned = false` lifts both, never
    the extent's own demand.
    """
    if not extent.aligned:
        return max(extent.alignment, 1)
    wide = problem.vector > problem.bus and extent.size >= problem.vector
    return max(problem.vector if wide else problem.bus, extent.alignment, 1)


def allowed_banks(extent: Extent) -> tuple[int, ...] | None:
    """The banks an extent is confined to, ascending, or None when it may lie anywhere."""
    if extent.mem_bank is not None:
        return (extent.mem_bank,)
    if not extent.banks:
        return None
    return tuple(sorted(set(extent.banks)))


def bank_of(problem: TileProblem, address: int) -> int:
    """The bank a byte lies in; the end of memory counts as the last bank."""
    return min(address // problem.bank_size, problem.banks - 1)


def banks_touched(problem: TileProblem, address: int, size: int) -> range:
    """Every bank from the first to the last byte; the start's bank for an empty extent."""
    first = bank_of(problem, address)
    return range(first, (bank_of(problem, address + size - 1) if size > 0 else first) + 1)


def in_one_range(banks: tuple[int, ...] | None, bank_size: int, memory: int) -> Runs:
    """The address ranges that `banks` leave, neighbouring banks merged, ascending."""
    if banks is None:
        return ((0, memory),)
    ranges: list[Run] = []
    for bank in banks:
        lo, hi = bank * bank_size, (bank + 1) * bank_size
        if ranges and ranges[-1][1] == lo:
            ranges[-1] = (ranges[-1][0], hi)
        else:
            ranges.append((lo, hi))
    return tuple(ranges)


def free_runs(memory: int, occupied: Iterable[Run]) -> Runs:
    """The maximal free runs of `[0, memory)` around occupied ranges, which may overlap or stick out.

    Empty ranges occupy nothing and split nothing.
    """
    runs: list[Run] = []
    cursor = 0
    for lo, hi in sorted(r for r in occupied if r[0] < r[1]):
        if lo >= memory:
            break
        if lo > cursor:
            runs.append((cursor, lo))
        cursor = max(cursor, hi)
    if cursor < memory:
        runs.append((cursor, memory))
    return tuple(runs)


def take(runs: Runs, address: int, size: int) -> Runs:
    """The runs after `[address, address + size)` of one of them is taken; size 0 takes nothing."""
    if not size:
        return runs
    index = bisect_right(runs, (address, 1 << 62)) - 1
    lo, hi = runs[index]
    end = address + size
    if lo == address:
        middle: Runs = () if end == hi else ((end, hi),)
    elif end == hi:
        middle = ((lo, address),)
    else:
        middle = ((lo, address), (end, hi))
    return runs[:index] + middle + runs[index + 1 :]


@dataclass(frozen=True, slots=True)
class Item:
    """One extent the allocator has to place, with its rules worked out.

    `banks` None: anywhere. `lowest`: the first byte it may cover. `ranges`: where it may lie as a whole.
    """

    name: str
    size: int
    align: int
    banks: tuple[int, ...] | None
    ranges: Runs
    lowest: int = 0
    counts: bool = True
    """It is a buffer the core works on, so the spread ranking counts it."""


def somewhere(item: Item, memory: int) -> int | None:
    """The first address an empty item may have, used or not: it covers no byte. None: its alignment has none."""
    for lo, hi in item.ranges:
        at = round_up(lo, item.align)
        if at < hi or at == hi == memory:
            return at
    return None


def make_item(problem: TileProblem, extent: Extent) -> Item:
    """The rules of an extent that has no address yet."""
    banks = allowed_banks(extent)
    lowest = problem.guard if extent.initialized and extent.size > 0 else 0
    ranges = in_one_range(banks, problem.bank_size, problem.memory)
    if lowest:
        ranges = tuple((max(lo, lowest), hi) for lo, hi in ranges if hi > lowest)
    return Item(extent.name, extent.size, alignment(problem, extent), banks, ranges, lowest, counts_in_spread(extent))


def counts_in_spread(extent: Extent) -> bool:
    """Whether the spread ranking counts this extent. Core data is one region, sized by the linker, not a buffer."""
    return extent.size > 0 and extent.kind is not Kind.CORE_DATA


def preconstrained(problem: TileProblem) -> tuple[Extent, ...]:
    """Extents with an address, a bank or a memory space: addresses first, ascending, then program order."""
    pinned = sorted((e for e in problem.extents if e.address is not None), key=lambda e: e.address or 0)
    banked = (e for e in problem.extents if e.address is None and allowed_banks(e) is not None)
    return (*pinned, *banked)


def search_order(problem: TileProblem) -> tuple[Extent, ...]:
    """The extents without an address, most constrained first.

    Bank-required before free, fewer allowed banks first, larger first, then program order.
    """

    def key(extent: Extent) -> tuple[int, int]:
        banks = allowed_banks(extent)
        return (problem.banks + 1 if banks is None else len(banks), -extent.size)

    return tuple(sorted((e for e in problem.extents if e.address is None), key=key))
