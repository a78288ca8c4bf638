"""Ends of fifos that move objects over streams: senders, receivers, and the two ends of a window over a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from aiecc.sim.fifo.store import Part, Store
from aiecc.sim.memory import Buffer
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.schedule import Actor, Gate, Schedule, Steps
from aiecc.sim.streams import Sink, Source, receive, send

Target = tuple[Source, tuple[int, bytes] | None]
"""Where a sender puts an object, and the packet it goes in."""

_NOWHERE = -1


@dataclass(frozen=True)
class Walk:
    """In which order the elements of a part pass, `width` bytes each: sizes, strides and (before, after) padding.

    Without dimensions they pass as they lie. Padding stands around each dimension and takes nothing from the part.
    """

    width: int
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    pads: tuple[tuple[int, int], ...] = ()
    pad_value: int = 0

    def spans(self, low: int, high: int) -> list[tuple[int, int]]:
        """The bytes of a part in the order they pass, as ranges; (-1, n) are n bytes of padding."""
        if not self.sizes:
            return [(low, high)]
        pads = self.pads or ((0, 0),) * len(self.sizes)
        found: list[tuple[int, int]] = []
        for index in product(*(range(b + n + a) for n, (b, a) in zip(self.sizes, pads, strict=True))):
            at = low
            for i, size, stride, (before, _) in zip(index, self.sizes, self.strides, pads, strict=True):
                if not before <= i < before + size:
                    at = _NOWHERE
                    break
                at += (i - before) * stride * self.width
            if at != _NOWHERE and at + self.width > high:
                raise Trapped(Kind.BOUNDS, f"element {(at - low) // self.width} is outside of the object")
            last = found[-1] if found else None
            if last is not None and at == _NOWHERE == last[0]:
                found[-1] = (_NOWHERE, last[1] + self.width)
            elif last is not None and at == last[1] and last[0] != _NOWHERE:
                found[-1] = (last[0], at + self.width)
            else:
                found.append((at, self.width if at == _NOWHERE else at + self.width))
        return found


def _bytes(spans: Sequence[tuple[int, int]]) -> int:
    total = sum(high if low == _NOWHERE else high - low for low, high in spans)
    if total % 4:
        raise Trapped(Kind.BOUNDS, f"moves {total} bytes at a time, which are no whole words")
    return total


def _gather(buffer: Buffer, spans: Sequence[tuple[int, int]], pad: int) -> bytes:
    word = (pad & 0xFFFFFFFF).to_bytes(4, "little")
    found = bytearray()
    for low, high in spans:
        if low == _NOWHERE:
            found += (word * (high // 4 + 1))[:high]
        else:
            buffer.known(low, high)
            found += buffer.data[low:high]
    return bytes(found)


def _scatter(buffer: Buffer, spans: Sequence[tuple[int, int]], data: bytes | bytearray) -> None:
    at = 0
    for low, high in spans:
        buffer.data[low:high] = data[at : at + high - low]
        buffer.valid[low:high] = b"\1" * (high - low)
        at += high - low


class Turns(Gate):
    """Opens when the next of those who share a channel may move an object: order[0] first, then round and round."""

    __slots__ = ("moved", "order")

    def __init__(self, schedule: Schedule, order: Sequence[str]) -> None:
        super().__init__(schedule)
        self.order = tuple(order)
        self.moved = 0

    @property
    def whose(self) -> str:
        return self.order[self.moved % len(self.order)]

    def done(self) -> None:
        self.moved += 1
        self.open()

    def wanted(self, need: int) -> str:
        return f"an object of @{self.whose}, whose turn it is"


@dataclass(frozen=True)
class Turn:
    """The turns that one fifo's end takes part in, under its name."""

    turns: Turns
    name: str


def _await_turn(turn: Turn | None) -> Steps:
    while turn is not None and turn.turns.whose != turn.name:
        yield turn.turns


def send_objects(
    schedule: Schedule,
    me: Actor,
    store: Store,
    parts: Sequence[Part],
    walk: Walk,
    passes: int | None,
    targets: Sequence[Target],
    turn: Turn | None = None,
) -> Steps:
    """Put the objects of a store (or some parts of each) on the stream, one after the other, each `repeat` times.

    `passes` over the store, for ever if None. Several targets take turns with whole objects; `turn` is for several
    senders that do.
    """
    spans = [walk.spans(part.low, part.high) for part in parts]
    for these in spans:
        _bytes(these)
    number = 0
    while passes is None or number < passes * store.depth:
        yield from _await_turn(turn)
        buffer = store.object(number)
        source, packet = targets[number % len(targets)]
        for again in range(store.repeat):
            for part, these in zip(parts, spans, strict=True):
                me.need = 1
                while not part.has(number + 1):
                    yield part.arrived
                schedule.events += 1
                yield from send(schedule, me, source, _gather(buffer, these, walk.pad_value), packet)
                if again == store.repeat - 1:
                    part.free(1)
                yield None
        if turn is not None:
            turn.turns.done()
        number += 1


def receive_objects(
    schedule: Schedule,
    me: Actor,
    store: Store,
    parts: Sequence[Part],
    walk: Walk,
    passes: int | None,
    sink: Sink,
    turn: Turn | None = None,
) -> Steps:
    """Fill the objects of a store (or some parts of each) from a stream. `passes` over the store, for ever if None.

    Several receivers may take turns on one stream.
    """
    spans = [walk.spans(part.low, part.high) for part in parts]
    sizes = [_bytes(these) for these in spans]
    number = store.initial
    last = None if passes is None else number + passes * store.depth
    while last is None or number < last:
        yield from _await_turn(turn)
        buffer = store.object(number)
        for part, these, size in zip(parts, spans, sizes, strict=True):
            me.need = 1
            while not part.fits(number + 1):
                yield part.freely
            schedule.events += 1
            got = bytearray()
            yield from receive(me, sink, size, got)
            _scatter(buffer, these, got)
            part.finish(1)
            yield None
        if turn is not None:
            turn.turns.done()
        number += 1


@dataclass(frozen=True)
class Windows:
    """Overlapping windows over a whole stream of objects; sizes in bytes, rows are objects of the stream.

    `count` windows start `advance` rows after one another and read `height` rows each. The stream has `rows` rows, with
    `before` zero rows ahead of them; `inner` is the walk of one window from its first row on.
    """

    count: int
    advance: int
    height: int
    before: int
    after: int
    row: int
    inner: Walk

    @property
    def rows(self) -> int:
        return (self.count - 1) * self.advance + self.height - self.before - self.after

    @property
    def stored(self) -> int:
        return self.rows + self.before + self.after

    def needs(self, at: int) -> int:
        """How many rows of the stream must have come for window `at`."""
        return self._real(at * self.advance + self.height)

    def done(self, at: int) -> int:
        """How many rows no window after `at` reads. A row that none reads is done when it has come."""
        end = at * self.advance + self.height
        return self._real(min(end, (at + 1) * self.advance) if at + 1 < self.count else end)

    def _real(self, row: int) -> int:
        return min(max(row - self.before, 0), self.rows)

    def make(self, schedule: Schedule, name: str) -> tuple[Buffer, Part]:
        """The memory for the stream, its zero rows included, and the count of its rows."""
        size = self.stored * self.row
        buffer = Buffer(f"the stream of {name}", size, None, None)
        edge, end = self.before * self.row, (self.before + self.rows) * self.row
        buffer.valid[:edge] = b"\1" * edge
        buffer.valid[end:] = b"\1" * (size - end)
        return buffer, Part(schedule, name, 0, size, self.rows, 0, False)


def receive_rows(schedule: Schedule, me: Actor, windows: Windows, buffer: Buffer, part: Part, sink: Sink) -> Steps:
    """Fill the stream's memory row by row, round and round."""
    number = 0
    while True:
        me.need = 1
        while not part.fits(number + 1):
            yield part.freely
        schedule.events += 1
        got = bytearray()
        yield from receive(me, sink, windows.row, got)
        low = (windows.before + number % windows.rows) * windows.row
        _scatter(buffer, [(low, low + windows.row)], got)
        part.finish(1)
        yield None
        number += 1


def send_windows(
    schedule: Schedule, me: Actor, windows: Windows, buffer: Buffer, part: Part, source: Source, passes: int | None
) -> Steps:
    """Send every window as soon as its rows are there; rows go when no later window reads them."""
    step = windows.advance * windows.row
    spans = [windows.inner.spans(at * step, buffer.size) for at in range(windows.count)]
    turn = 0
    while passes is None or turn < passes:
        base = turn * windows.rows
        for at, these in enumerate(spans):
            need = base + windows.needs(at)
            me.need = need - part.filled
            while not part.has(need):
                yield part.arrived
                me.need = need - part.filled
            schedule.events += 1
            yield from send(schedule, me, source, _gather(buffer, these, 0), None)
            done = base + windows.done(at) - part.freed
            if done:
                part.free(done)
            yield None
        turn += 1
