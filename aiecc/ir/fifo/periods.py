"""In which order a core needs or gives back the objects of several pools, once and again.

The core's period is the innermost loop around every acquire and release on those pools, with the loops of static trip
count inside it unrolled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Operation, Region, SSAValue

from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp, ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.fold.loops import known_number, static_range, trip_count

LOOPS = ("scf.for", "scf.while")

MOST_STEPS = 4096
"""A period of more accesses than this is not looked at."""


class Step(NamedTuple):
    """One access of a core: through which endpoint, whether it acquires, how many objects it names."""

    end: str
    acquires: bool
    size: int


class Core:
    """The accesses of one core, by endpoint."""

    def __init__(self, core: CoreOp) -> None:
        self.op = core
        self._by_end: dict[str, list[FifoAccess]] = {}
        for op in core.walk():
            if isinstance(op, ObjectFifoAcquireOp | ObjectFifoReleaseOp):
                self._by_end.setdefault(op.fifo_name, []).append(op)

    def period(self, ends: Sequence[str]) -> list[Step] | None:
        """What one period does through some endpoints, in order; None when that is not fixed.

        It is not when there is no loop around the accesses, when one stands under a branch, or in a loop inside the
        period whose trip count is not known.
        """
        accesses = [access for end in ends for access in self._by_end.get(end, ())]
        if not accesses or not all(end in self._by_end for end in ends):
            return None
        chains = [_around(access, self.op) for access in accesses]
        loop: Operation | None = None
        for level in zip(*(reversed(chain) for chain in chains), strict=False):
            if any(op is not level[0] for op in level):
                break
            if level[0].name in LOOPS:
                loop = level[0]
        if loop is None or not all(_is_straight(chain, loop) for chain in chains):
            return None
        try:
            regions = [_unroll(region, set(accesses), {}) for region in loop.regions]
            steps = [step for region in regions for step in region]
        except _Unfixed:
            return None
        return steps


class _Unfixed(Exception):
    """What is done depends on what is not known here, or is too much."""


def _around(access: Operation, core: Operation) -> list[Operation]:
    """The ops around an access, innermost first, the core left out."""
    found: list[Operation] = []
    at = access.parent_op()
    while at is not None and at is not core:
        found.append(at)
        at = at.parent_op()
    return found


def _is_straight(chain: Sequence[Operation], loop: Operation) -> bool:
    """Whether only loops of one block each stand around an access; inside the period, only those that count."""
    inside = True
    for op in chain:
        inside = inside and op is not loop
        if op.name not in LOOPS or any(len(region.blocks) != 1 for region in op.regions):
            return False
        if inside and op.name != "scf.for":
            return False
    return len(chain[-1].parent_region().blocks) == 1  # pyright: ignore[reportOptionalMemberAccess]


def _unroll(region: Region, wanted: set[FifoAccess], known: dict[SSAValue, int]) -> Iterator[Step]:
    """The accesses of a region as they come. known: the counters of the loops around, as far as inside the period."""
    total = 0
    for op in region.block.ops:
        if op in wanted:
            total += 1
            yield _step(op)
        elif op.regions and any(inner in wanted for inner in op.walk()):
            for step in _unroll_loop(op, wanted, known):
                total += 1
                if total > MOST_STEPS:
                    raise _Unfixed
                yield step


def _unroll_loop(loop: Operation, wanted: set[FifoAccess], known: dict[SSAValue, int]) -> Iterator[Step]:
    def lookup(value: SSAValue) -> int | None:
        return known.get(value, known_number(value))

    trips = trip_count(loop, lookup)
    if trips is None or trips > MOST_STEPS:
        raise _Unfixed
    counts = static_range(loop, lookup)
    counter = loop.regions[0].block.args[0]
    for trip in range(trips):
        inner = dict(known)
        if counts is not None:
            inner[counter] = counts.low + trip * counts.step
        yield from _unroll(loop.regions[0], wanted, inner)


def _step(op: Operation) -> Step:
    if isinstance(op, ObjectFifoAcquireOp):
        return Step(op.fifo_name, True, op.size)
    assert isinstance(op, ObjectFifoReleaseOp)
    return Step(op.fifo_name, False, op.size)


# --- holdings ---------------------------------------------------------------------------------------------------------


class Event(NamedTuple):
    """What a core really takes from a pool (`change` > 0) or gives back (< 0), in objects."""

    end: str
    change: int


@dataclass(frozen=True)
class Order:
    """What a core takes and gives: `start` once, while its holdings settle, then `round` forever."""

    start: tuple[Event, ...]
    round: tuple[Event, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The endpoint of each object taken in one round."""
        return tuple(end for end, change in self.round for _ in range(change))

    @property
    def releases(self) -> tuple[str, ...]:
        """The endpoint of each object given back in one round."""
        return tuple(end for end, change in self.round for _ in range(-change))


def settled(steps: Sequence[Step], depths: Mapping[str, int]) -> Order | None:
    """What a period's accesses come to, once each period starts holding the same.

    depths: by endpoint, the objects of its pool. An acquire takes only what is not held yet. None when the core gives
    back what it does not hold, holds more than there is, or takes nothing of an endpoint any more.
    """
    held = dict.fromkeys(depths, 0)
    start: list[Event] = []
    # Holdings only grow or only shrink from one period to the next, so they settle or leave their range.
    for _ in range(max(depths.values(), default=0) + 2):
        before = dict(held)
        events: list[Event] = []
        for end, acquires, size in steps:
            change = max(size - held[end], 0) if acquires else -size
            held[end] += change
            if not 0 <= held[end] <= depths[end]:
                return None
            if change:
                events.append(Event(end, change))
        if held == before:
            order = Order(tuple(start), tuple(events))
            return order if set(order.needs) == set(depths) else None
        start += events
    return None


def ahead(order: Order, chain: Sequence[str]) -> dict[str, int]:
    """By endpoint, the objects that a channel brings beyond those the core has taken whenever a round is over.

    chain: whose object the channel moves next, round and round. A core that needs some objects before the order settles
    gets the last of those only behind objects of the others, which it does not take any more.
    """
    taken: dict[str, int] = {}
    for end, change in (*order.start, *order.round):
        taken[end] = taken.get(end, 0) + max(change, 0)
    at = {end: [i for i, name in enumerate(chain) if name == end] for end in taken}
    moved = max(
        (count - 1) // len(at[end]) * len(chain) + at[end][(count - 1) % len(at[end])] + 1
        for end, count in taken.items()
    )
    rounds, rest = divmod(moved, len(chain))
    found = {end: rounds * len(at[end]) + chain[:rest].count(end) - count for end, count in taken.items()}
    return {end: more for end, more in found.items() if more}


def shortest(order: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest piece that an order repeats."""
    for size in range(1, len(order) + 1):
        if len(order) % size == 0 and order == order[:size] * (len(order) // size):
            return order[:size]
    return order
