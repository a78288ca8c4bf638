"""Releases of objects that a core cannot hold, found before it runs.

What code does to the number h of objects a core holds of one endpoint is summed up as `max(h + slope, floor)`: an
acquire of n asks for n in all, so it is max(h, n), and a release takes away. Sums of such steps have the same form.
Where paths differ the larger result counts, so what is reported is wrong on every path that gets there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from xdsl.dialects.scf import ExecuteRegionOp, ForOp, IfOp, IndexSwitchOp
from xdsl.ir import Block, Operation, Region

from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp, ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Port
from aiecc.ir.fold.loops import trip_count

Key = tuple[str, Port | None]
"""An endpoint; or a fifo and the port, where it is not split yet."""

_NONE = -(1 << 60)
"""A floor that no acquire lifts, or a need that anything meets."""


class Effect(NamedTuple):
    """What code makes of h held objects: at most `max(h + slope, floor)`.

    need: the least h with which no release underflows.
    at: the release that needs it.
    """

    slope: int = 0
    floor: int = _NONE
    need: int = _NONE
    at: Operation | None = None

    def then(self, next: Effect) -> Effect:
        """This, and then another."""
        need, at = self.need, self.at
        if self.floor < next.need and next.need - self.slope > need:
            need, at = next.need - self.slope, next.at
        return Effect(self.slope + next.slope, max(self.floor + next.slope, next.floor, _NONE), need, at)

    def times(self, count: int) -> Effect:
        """`count` times in a row."""
        if count == 0:
            return NOTHING
        need = self.need
        if count > 1 and self.floor < self.need:
            need = self.need - (count - 1) * self.slope
        return Effect(count * self.slope, self.floor, need, self.at)

    def perhaps(self) -> Effect:
        """Any number of times. Should it run, it needs what it needs once."""
        return Effect(0, self.floor, self.need, self.at)

    @property
    def runs_dry(self) -> bool:
        """Whether it underflows once it has been repeated often enough, whatever was held before."""
        return self.floor < self.need


NOTHING = Effect()
_Effects = dict[Key, Effect]


def _either(ways: list[_Effects]) -> _Effects:
    """One of several ways: what is needed by any one of them, and the most that any leaves."""
    found: _Effects = {}
    for key in {key: None for way in ways for key in way}:
        effects = [way.get(key, NOTHING) for way in ways]
        worst = max(effects, key=lambda e: e.need)
        found[key] = Effect(max(e.slope for e in effects), max(e.floor for e in effects), worst.need, worst.at)
    return found


def _append(found: _Effects, more: _Effects) -> None:
    for key, effect in more.items():
        found[key] = found.get(key, NOTHING).then(effect)


def key_of(op: FifoAccess) -> Key:
    return op.fifo_name, op.port


class _Reader:
    """Sums up the code of one core; notes what every loop does on the way, inner loops first."""

    def __init__(self) -> None:
        self.loops: list[tuple[ForOp, _Effects]] = []

    def block(self, block: Block) -> _Effects:
        found: _Effects = {}
        for op in block.ops:
            if isinstance(op, ObjectFifoAcquireOp):
                _append(found, {key_of(op): Effect(0, op.size)})
            elif isinstance(op, ObjectFifoReleaseOp):
                _append(found, {key_of(op): Effect(-op.size, _NONE, op.size, op)})
            elif op.regions:
                _append(found, self._nested(op))
        return found

    def _nested(self, op: Operation) -> _Effects:
        if isinstance(op, ForOp):
            body = self.block(op.body.block)
            self.loops.append((op, body))
            trips = trip_count(op)
            if trips is None:
                return {key: effect.perhaps() for key, effect in body.items()}
            return {key: effect.times(trips) for key, effect in body.items()}
        ways = [self.region(region) for region in op.regions]
        if isinstance(op, IfOp | IndexSwitchOp):
            return _either(ways)
        if isinstance(op, ExecuteRegionOp):
            return ways[0]
        # A while, or an op that is not known here: whatever it holds may run, in some order, any number of times.
        found: _Effects = {}
        for way in ways:
            _append(found, {key: effect.perhaps() for key, effect in way.items()})
        return found

    def region(self, region: Region) -> _Effects:
        """A region without blocks does nothing; in one with several blocks nothing is known but its loops."""
        blocks = list(region.blocks)
        if len(blocks) <= 1:
            return self.block(blocks[0]) if blocks else {}
        found: _Effects = {}
        for block in blocks:
            for key in self.block(block):
                found[key] = Effect(0, -_NONE)
        return found


def over_releases(core: CoreOp) -> Iterator[Operation]:
    """Where a core is to be told of a release it cannot make: one op per endpoint.

    A loop that gives back more than it gets is wrong however much the core held before: the place is the first
    acquire in it, or the first release where it acquires nothing. Otherwise it is the release that comes short.
    """
    reader = _Reader()
    effects = reader.region(core.body)
    told: set[Key] = set()
    for loop, body in reader.loops:
        for key, effect in body.items():
            if effect.runs_dry and key not in told:
                told.add(key)
                yield _first(loop, key) or effect.at or loop
    for key, effect in effects.items():
        if effect.need > 0 and key not in told and effect.at is not None:
            yield effect.at


def _first(loop: ForOp, key: Key) -> Operation | None:
    accesses = [op for op in loop.walk() if isinstance(op, FifoAccess) and key_of(op) == key]
    return next(_acquires(accesses), next(iter(accesses), None))


def _acquires(accesses: Iterable[FifoAccess]) -> Iterator[FifoAccess]:
    return (op for op in accesses if isinstance(op, ObjectFifoAcquireOp))
