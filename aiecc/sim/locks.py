"""Locks: counting ones with a ceiling, and the binary ones of AIE1."""

from __future__ import annotations

from collections import deque

from aiecc.base.spans import Span
from aiecc.sim.order import Clock, joined, learn, tick
from aiecc.sim.outcome import Kind, LockUse, Trapped
from aiecc.sim.schedule import Gate, Schedule


class Lock(Gate):
    """A counting semaphore, 0 to `limit`. `take` and `take_equal` say whether they got it; nothing blocks here."""

    __slots__ = ("_given", "_known", "first", "high", "limit", "low", "name", "span", "tile", "uses", "value")

    def __init__(
        self, schedule: Schedule, name: str, tile: tuple[int, int], value: int, limit: int, span: Span | None
    ) -> None:
        super().__init__(schedule)
        self.name = name
        self.tile = tile
        self.first = self.value = self.low = self.high = value
        self.limit = limit
        self.span = span
        self.uses = 0
        # What the units in it say about those who gave them, in the order given; and what all units taken so far said.
        self._given: deque[tuple[int, Clock | None]] = deque([(value, None)] if value else [])
        self._known: Clock | None = None

    def wanted(self, need: int) -> str:
        """`need` is what has to be reached; ~value where it has to be met exactly."""
        goal = f"become {~need}" if need < 0 else f"reach {need}"
        return f"lock {self.name} to {goal} (it is {self.value})"

    def use(self) -> LockUse:
        return LockUse(self.value, self.low, self.high, self.uses)

    def take(self, need: int) -> bool:
        """Acquire when greater or equal: subtract `need`, or say no."""
        if self.value < need or need < 0:
            self._possible(need)
            return False
        self._took(need)
        return True

    def take_equal(self, need: int) -> bool:
        """Acquire when exactly equal, which leaves 0."""
        if self.value != need:
            self._possible(need)
            return False
        self._took(need)
        return True

    def _took(self, need: int) -> None:
        self.value -= need
        if self.schedule.ordered:
            self._learnt(need)
        if self.value < self.low:
            self.low = self.value
        self.uses += 1
        self.schedule.events += 1
        if self.waiters:
            self.open()

    def give(self, amount: int) -> None:
        """Release: add `amount`."""
        value = self.value + amount
        if not 0 <= value <= self.limit or amount < 0:
            raise Trapped(
                Kind.LOCK, f"releases lock {self.name} by {amount} at {self.value}; its range is 0 to {self.limit}"
            )
        self.value = value
        if self.schedule.ordered and amount:
            self._given.append((amount, tick(self.schedule.current)))
        if value > self.high:
            self.high = value
        self.uses += 1
        self.schedule.events += 1
        if self.waiters:
            self.open()

    def set(self, value: int) -> None:
        """Whatever it was: from now on it is `value`."""
        if not 0 <= value <= self.limit:
            raise Trapped(Kind.LOCK, f"sets lock {self.name} to {value}; its range is 0 to {self.limit}")
        self.value = value
        self.low, self.high = min(self.low, value), max(self.high, value)
        self._given.clear()
        if value:
            self._given.append((value, tick(self.schedule.current) if self.schedule.ordered else None))
        self.uses += 1
        self.schedule.events += 1
        self.open()

    def _learnt(self, need: int) -> None:
        """Units are alike: who takes some knows that as many, and no more, were given."""
        if not need:
            return
        given, known = self._given, self._known
        while need:
            amount, clock = given[0]
            if amount > need:
                given[0] = (amount - need, clock)
                need = 0
            else:
                given.popleft()
                need -= amount
            if clock is not None:
                known = clock if known is None else joined(known, clock)
        self._known = known
        learn(self.schedule.current, known)

    def _possible(self, need: int) -> None:
        if not 0 <= need <= self.limit:
            raise Trapped(
                Kind.LOCK, f"acquires lock {self.name} with {need}, which never comes; its range is 0 to {self.limit}"
            )


class BinaryLock(Lock):
    """AIE1: an acquire waits for a value and holds the lock; a release sets a value and lets go."""

    __slots__ = ("held",)

    def __init__(
        self, schedule: Schedule, name: str, tile: tuple[int, int], value: int, limit: int, span: Span | None
    ) -> None:
        super().__init__(schedule, name, tile, value, limit, span)
        self.held = False

    def wanted(self, need: int) -> str:
        state = "held" if self.held else f"{self.value}"
        return f"lock {self.name} to become {~need if need < 0 else need} (it is {state})"

    def take_equal(self, need: int) -> bool:
        if self.held or self.value != need:
            self._possible(need)
            return False
        self.held = True
        if self.schedule.ordered:
            learn(self.schedule.current, self._known)
        self.uses += 1
        self.schedule.events += 1
        return True

    take = take_equal

    def give(self, amount: int) -> None:
        if not 0 <= amount <= self.limit:
            raise Trapped(Kind.LOCK, f"sets lock {self.name} to {amount}; its range is 0 to {self.limit}")
        self.held = False
        self.value = amount
        if self.schedule.ordered:
            clock = tick(self.schedule.current)
            self._known = clock if self._known is None else joined(self._known, clock)
        self.low, self.high = min(self.low, amount), max(self.high, amount)
        self.uses += 1
        self.schedule.events += 1
        self.open()
