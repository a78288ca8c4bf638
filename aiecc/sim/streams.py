"""Streams from ports to ports: circuits with broadcast, packets with fan-in.

A word leaves a source only when every sink it goes to has room: what the sink's reader still asks for, and `slack`
more. With the slack of 0 nothing is ever in between, so a design that finishes needs no luck with buffering on the way.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from aiecc.base.spans import Span
from aiecc.sim.order import Clock, joined, learn, tick
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.schedule import Actor, Gate, Schedule

Port = tuple[int, int, str, int]
"""Column, row, bundle, channel."""

_CHUNK = 512
"""The most bytes that move at once; between two moves others get their turn."""


def port_name(port: Port) -> str:
    return f"({port[0]}, {port[1]}) {port[2]} : {port[3]}"


class Sink:
    """Where a stream ends: what has arrived, and how much more its reader wants."""

    __slots__ = ("clock", "filled", "holder", "name", "queue", "read", "room", "slack", "want")

    def __init__(self, schedule: Schedule, name: str, slack: int) -> None:
        self.name = name
        self.queue = bytearray()
        self.want = 0
        self.slack = slack
        self.read = False
        # The source whose packet is on its way here.
        self.holder: object = None
        # What the words that arrived say about those who sent them.
        self.clock: Clock | None = None
        self.filled = Filled(schedule, self)
        self.room = Room(schedule, self)

    def space(self) -> int:
        return self.want + self.slack - len(self.queue)


class Filled(Gate):
    """Opens when words arrive at a sink."""

    __slots__ = ("sink",)

    def __init__(self, schedule: Schedule, sink: Sink) -> None:
        super().__init__(schedule)
        self.sink = sink

    def wanted(self, need: int) -> str:
        return f"{self.sink.want} more bytes on stream {self.sink.name}"


class Room(Gate):
    """Opens when a sink takes more, or is done with a packet."""

    __slots__ = ("sink",)

    def __init__(self, schedule: Schedule, sink: Sink) -> None:
        super().__init__(schedule)
        self.sink = sink

    def wanted(self, need: int) -> str:
        if self.sink.holder is not None and self.sink.space() > 0:
            return f"the end of another packet at stream {self.sink.name}"
        return f"{self.sink.name} to take {need} more bytes from the stream"


@dataclass(frozen=True)
class Rule:
    """Packets whose id under `mask` is `id` go to these sinks; `keep` says which of them get the header word."""

    id: int
    mask: int
    sinks: tuple[Sink, ...]
    keep: tuple[bool, ...]
    span: Span | None


class Source:
    """Where a stream begins."""

    __slots__ = ("circuit", "name", "rules")

    def __init__(self, name: str) -> None:
        self.name = name
        self.circuit: list[Sink] = []
        self.rules: list[Rule] = []


def header_word(col: int, row: int, kind: int, id: int) -> bytes:
    """A packet header: id in bits 0-4, type 12-14, source row 16-20, source column 21-27, odd parity in bit 31."""
    word = (id & 31) | (kind & 7) << 12 | (row & 31) << 16 | (col & 127) << 21
    return (word | (bin(word).count("1") + 1) % 2 << 31).to_bytes(4, "little")


def send(
    schedule: Schedule,
    me: Actor,
    source: Source,
    data: bytes | memoryview,
    packet: tuple[int, bytes] | None,
    *,
    turn: bool = True,
) -> Generator[Gate | None, None, None]:
    """Push one transfer into a stream. `packet` is the id and the header word of a packet-switched one.

    `turn`: let others have theirs after a packet; a caller that says no does so itself.
    """
    if packet is None:
        sinks = source.circuit
        if not sinks:
            why = (
                "sends without a packet header into a packet flow"
                if source.rules
                else "sends, but no flow starts there"
            )
            raise Trapped(Kind.STREAM, f"{source.name} {why}")
        yield from _push(schedule, me, sinks, data)
        return
    id, word = packet
    rules = [rule for rule in source.rules if id & rule.mask == rule.id & rule.mask]
    if not rules:
        if not source.circuit:
            raise Trapped(Kind.STREAM, f"{source.name} sends packets of id {id}, but no flow takes them")
        # A circuit does not look at headers: the word travels as data.
        yield from _push(schedule, me, source.circuit, word + bytes(data))
        return
    pairs = [pair for rule in rules for pair in zip(rule.sinks, rule.keep, strict=True)]
    sinks = [sink for sink, _ in pairs]
    me.need = len(data)
    while (held := next((s for s in sinks if s.holder is not None), None)) is not None:
        yield held.room
    for sink in sinks:
        sink.holder = me
    keepers = [sink for sink, keep in pairs if keep]
    if keepers:
        yield from _push(schedule, me, keepers, word)
    yield from _push(schedule, me, sinks, data)
    for sink in sinks:
        sink.holder = None
        sink.room.open()
    # Those who waited get their chance before this source's next packet.
    if turn:
        yield None


def tell(me: Actor, source: Source, id: int | None) -> None:
    """Let those who took a transfer's last word know that it is over. `id`: that of its packet."""
    sinks = source.circuit
    if id is not None:
        rules = [rule for rule in source.rules if id & rule.mask == rule.id & rule.mask]
        sinks = [sink for rule in rules for sink in rule.sinks] or sinks
    clock = tick(me)
    for sink in sinks:
        sink.clock = clock if sink.clock is None else joined(sink.clock, clock)


def _push(
    schedule: Schedule, me: Actor, sinks: list[Sink], data: bytes | memoryview
) -> Generator[Gate | None, None, None]:
    at, end = 0, len(data)
    for sink in sinks:
        if not sink.read:
            raise Trapped(Kind.STREAM, f"{sink.name} is the end of a stream, but nobody reads it")
    if schedule.ordered:
        clock = tick(me)
        for sink in sinks:
            sink.clock = clock if sink.clock is None else joined(sink.clock, clock)
    first = sinks[0]
    single = len(sinks) == 1
    while at < end:
        tightest = first if single else min(sinks, key=Sink.space)
        space = tightest.space()
        if space <= 0:
            me.need = end - at
            yield tightest.room
            continue
        take = min(space, end - at, _CHUNK)
        piece = data[at : at + take]
        for sink in sinks:
            sink.queue += piece
            sink.filled.open()
        at += take
        schedule.events += take >> 2
        if at < end:
            yield None


def receive(me: Actor, sink: Sink, count: int, into: bytearray) -> Generator[Gate | None, None, None]:
    """Append the next `count` bytes of a stream to `into`."""
    sink.want = count
    sink.room.open()
    queue = sink.queue
    while count:
        if not queue:
            yield sink.filled
            continue
        if len(queue) <= count:
            into += queue
            count -= len(queue)
            queue.clear()
        else:
            into += queue[:count]
            del queue[:count]
            count = 0
        sink.want = count
        sink.room.open()
    sink.want = 0
    if sink.clock is not None:
        learn(me, sink.clock)
