"""Locks: counting ones with a ceiling, and the binary ones of AIE1."""

from __future__ import annotations

from aiecc.base.spans import Span
from aiecc.sim.outcome import Kind, LockUse, Trapped
from aiecc.sim.schedule import Gate, Schedule


class Lock(Gate):
    """A counting semaphore, 0 to `limit`. `take` and `take_equal` say whether they got it; nothing blocks here."""

    __slots__ = ("high", "limit", "low", "name", "span", "tile", "uses", "value")

    def __init__(
        self, schedule: Schedule, name: str, tile: tuple[int, int], value: int, limit: int, span: Span | None
    ) -> None:
        super().__init__(schedule)
        self.name = name
        self.tile = tile
        self.value = self.low = self.high = value
        self.limit = limit
        self.span = span
        self.uses = 0

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
        if value > self.high:
            self.high = value
        self.uses += 1
        self.schedule.events += 1
        if self.waiters:
            self.open()

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
        self.uses += 1
        self.schedule.events += 1
        return True

    take = take_equal

    def give(self, amount: int) -> None:
        if not 0 <= amount <= self.limit:
            raise Trapped(Kind.LOCK, f"sets lock {self.name} to {amount}; its range is 0 to {self.limit}")
        self.held = False
        self.value = amount
        self.low, self.high = min(self.low, amount), max(self.high, amount)
        self.uses += 1
        self.schedule.events += 1
        self.open()
