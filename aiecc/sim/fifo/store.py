"""Places that hold objects of a fifo in rotation, and what their users wait for.

A store counts objects, never locks: an object is full from the moment its filler gives it up until its drainer does,
and a filler may go at most `depth` objects ahead of the drainer. The objects of a join or distribute are cut into
parts, each with counts of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.base.spans import Span
from aiecc.sim.memory import Buffer, Busy
from aiecc.sim.outcome import Kind, LockUse, Trapped
from aiecc.sim.schedule import Gate, Schedule


class Arrived(Gate):
    """Opens when a filler has finished objects."""

    __slots__ = ("part",)

    def __init__(self, schedule: Schedule, part: Part) -> None:
        super().__init__(schedule)
        self.part = part

    def wanted(self, need: int) -> str:
        return f"{_objects(need)} to come in {self.part.name} ({self.part.full} of {self.part.depth} are full)"


class Freed(Gate):
    """Opens when a drainer is done with objects."""

    __slots__ = ("part",)

    def __init__(self, schedule: Schedule, part: Part) -> None:
        super().__init__(schedule)
        self.part = part

    def wanted(self, need: int) -> str:
        return f"room for {_objects(need)} in {self.part.name} ({self.part.full} of {self.part.depth} are full)"


def _objects(count: int) -> str:
    return f"{count} object{'' if count == 1 else 's'}"


class Part:
    """A slice of every object, bytes `low` to `high`. `filled` and `freed` count objects since the start.

    One that is `endless` starts full and is never refilled: its objects come round for ever.
    """

    __slots__ = ("arrived", "depth", "endless", "filled", "freed", "freely", "high", "least", "low", "most", "name",
                 "schedule", "uses")  # fmt: skip

    def __init__(
        self, schedule: Schedule, name: str, low: int, high: int, depth: int, initial: int, endless: bool
    ) -> None:
        self.schedule = schedule
        self.name = name
        self.low = low
        self.high = high
        self.depth = depth
        self.filled = self.most = self.least = initial
        self.freed = 0
        self.endless = endless
        self.uses = 0
        self.arrived = Arrived(schedule, self)
        self.freely = Freed(schedule, self)

    @property
    def full(self) -> int:
        return self.filled - self.freed

    def has(self, total: int) -> bool:
        """Whether the first `total` objects have been finished."""
        return self.endless or self.filled >= total

    def fits(self, total: int) -> bool:
        """Whether there is, or was, room for the first `total` objects."""
        return self.freed + self.depth >= total

    def finish(self, count: int) -> None:
        self.filled += count
        self.most = max(self.most, self.full)
        self._used(self.arrived)

    def free(self, count: int) -> None:
        if self.endless:
            return
        if self.freed + count > self.filled:
            raise Trapped(Kind.HELD, f"gives back {_objects(count)} of {self.name}, of which {self.full} are full")
        self.freed += count
        self.least = min(self.least, self.full)
        self._used(self.freely)

    def _used(self, gate: Gate) -> None:
        self.uses += 1
        self.schedule.events += 1
        gate.open()

    def use(self) -> LockUse:
        return LockUse(self.full, self.least, self.most, self.uses)


class Store:
    """`depth` objects of `size` bytes, in rotation. `cuts` are the byte ranges of the parts.

    `initial` are the contents of the first objects; `repeat` says how often a draining stream gets each of them.
    """

    def __init__(
        self,
        schedule: Schedule,
        name: str,
        depth: int,
        size: int,
        cuts: Sequence[tuple[int, int]],
        initial: Sequence[bytes | None],
        *,
        repeat: int = 1,
        endless: bool = False,
        tile: tuple[int, int] | None = None,
        span: Span | None = None,
    ) -> None:
        self.name = name
        self.depth = depth
        self.size = size
        self.repeat = repeat
        self.tile = tile
        contents = [*initial, *[None] * depth][:depth]
        self.objects = [Buffer(f"object {i} of {name}", size, tile, data, span) for i, data in enumerate(contents)]
        self.initial = len(initial)
        many = len(cuts) > 1
        self.parts = [
            Part(schedule, f"part {i} of {name}" if many else name, low, high, depth, len(initial), endless)
            for i, (low, high) in enumerate(cuts)
        ]

    def object(self, number: int) -> Buffer:
        """Where the object of that number, counted from the start, lies."""
        return self.objects[number % self.depth]


class Lease(Buffer):
    """An object in the hands of a core. Once given back, every touch of it is a trap."""

    __slots__ = ("gone",)

    def __init__(self, owner: Buffer) -> None:
        super().__init__(owner.name, 0, owner.tile, b"", owner.span)
        self.size = owner.size
        self.data = owner.data
        self.valid = owner.valid
        self.cells = owner.cells
        self.gone = False

    def free(self, low: int, high: int, writing: bool) -> None:
        if self.gone:
            doing = "writes" if writing else "reads"
            raise Trapped(Kind.HELD, f"{doing} bytes {low} to {high - 1} of {self.name}, which it has given back")

    def give_back(self) -> None:
        self.gone = True
        # Views look here before they touch anything.
        self.busy.append(Busy("nobody", False, [(0, self.size)], self.size))
