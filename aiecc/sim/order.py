"""Which accesses are ordered: vector clocks of actors, carried by locks and streams from one to the next.

Two accesses to one byte, one of them a write, have to be ordered by a lock that one actor gives and the other takes,
or by words that go from one to the other. Where they are not, the bytes depend on who happens to be faster; a run
says so whichever way it went this time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aiecc.sim.outcome import Kind, Trapped

if TYPE_CHECKING:
    from aiecc.sim.schedule import Actor, Schedule

Clock = list[int]
"""How far every actor is known to have come, by its number. Never changed in place once shared."""


def joined(a: Clock, b: Clock) -> Clock:
    return [x if x >= y else y for x, y in zip(a, b, strict=True)]


def tick(actor: Actor) -> Clock:
    """What an actor passes on; what it does from now on is not part of it."""
    before = actor.clock
    after = before.copy()
    after[actor.number] += 1
    actor.clock = after
    return before


def learn(actor: Actor, news: Clock | None) -> None:
    if news is not None:
        actor.clock = joined(actor.clock, news)


class _Marks:
    """When one actor last read and wrote each unit of a buffer; 0 is never."""

    __slots__ = ("actor", "others", "reads", "writes")

    def __init__(self, actor: Actor, units: int) -> None:
        self.actor = actor
        self.reads = [0] * units
        self.writes = [0] * units
        self.others: list[_Marks] = []


class Order:
    """The accesses to one buffer. A unit is one element, 1 << `shift` bytes."""

    __slots__ = ("_all", "_shift", "_units", "name", "schedule")

    def __init__(self, schedule: Schedule, name: str, size: int, shift: int) -> None:
        self.schedule = schedule
        self.name = name
        self._shift = shift
        self._units = (size >> shift) + 1
        self._all: dict[Actor, _Marks] = {}

    def _mine(self, me: Actor) -> _Marks:
        mine = _Marks(me, self._units)
        mine.others = list(self._all.values())
        for marks in mine.others:
            marks.others.append(mine)
        self._all[me] = mine
        return mine

    def read(self, low: int, high: int) -> None:
        """The running actor reads bytes `low` to before `high`."""
        me = self.schedule.current
        mine = self._all.get(me) or self._mine(me)
        first, last = low >> self._shift, (high - 1 >> self._shift) + 1
        clock = me.clock
        if last - first == 1:
            for other in mine.others:
                if other.writes[first] > clock[other.actor.number]:
                    self._clash(low, "reads", other.actor, "wrote")
            mine.reads[first] = clock[me.number]
            return
        for other in mine.others:
            if max(other.writes[first:last]) > clock[other.actor.number]:
                self._clash(
                    self._late(other.writes, first, last, clock[other.actor.number]), "reads", other.actor, "wrote"
                )
        mine.reads[first:last] = [clock[me.number]] * (last - first)

    def write(self, low: int, high: int) -> None:
        """The running actor writes bytes `low` to before `high`."""
        me = self.schedule.current
        mine = self._all.get(me) or self._mine(me)
        first, last = low >> self._shift, (high - 1 >> self._shift) + 1
        clock = me.clock
        for other in mine.others:
            known = clock[other.actor.number]
            for marks, did in ((other.writes, "wrote"), (other.reads, "read")):
                if max(marks[first:last]) > known:
                    self._clash(self._late(marks, first, last, known), "writes", other.actor, did)
        mine.writes[first:last] = [clock[me.number]] * (last - first)

    def unknown(self, clock: Clock) -> tuple[int, str] | None:
        """A byte that was written after what a clock knows, and by whom."""
        for marks in self._all.values():
            if max(marks.writes) > clock[marks.actor.number]:
                return self._late(marks.writes, 0, self._units, clock[marks.actor.number]), marks.actor.name
        return None

    def _late(self, marks: Sequence[int], first: int, last: int, known: int) -> int:
        return next(at for at in range(first, last) if marks[at] > known) << self._shift

    def _clash(self, byte: int, doing: str, other: Actor, did: str) -> None:
        raise Trapped(
            Kind.ORDER, f"{doing} byte {byte} of {self.name}, which {other.name} {did} with no lock in between"
        )
