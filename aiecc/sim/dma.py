"""DMA channels: they walk chains of descriptors, take and give locks, and move bytes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from aiecc.base.spans import Span
from aiecc.sim.locks import Lock
from aiecc.sim.memory import Buffer, Run
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.pattern import PAD, Pattern
from aiecc.sim.schedule import Actor, Gate, Schedule
from aiecc.sim.streams import Sink, Source, header_word, receive, send

Steps = Generator[Gate | None, None, None]


@dataclass(frozen=True)
class LockStep:
    """One lock use of a descriptor."""

    lock: Lock
    value: int
    equal: bool
    span: Span | None


NOTHING = Pattern(0, 0, 4)


@dataclass
class Descriptor:
    """One descriptor block. `iteration` is (size, stride in elements); `turn` counts its uses."""

    span: Span | None
    acquires: list[LockStep]
    releases: list[LockStep]
    buffer: Buffer | None = None
    pattern: Pattern = NOTHING
    packet: tuple[int, int] | None = None
    iteration: tuple[int, int] | None = None
    turn: int = 0
    next: int | None = None
    # The number of its registers, where it has one.
    id: int | None = None

    def runs(self) -> list[Run]:
        """The byte ranges of this use; moves the iteration on."""
        assert self.buffer is not None
        if self.iteration is None:
            if self._runs is None:
                self._runs = self._checked(self.pattern.offset, self.buffer)
            return self._runs
        size, stride = self.iteration
        offset = self.pattern.offset + self.turn * stride
        self.turn = (self.turn + 1) % size
        return self._checked(offset, self.buffer)

    def _checked(self, offset: int, buffer: Buffer) -> list[Run]:
        if self.pattern.nbytes % 4:
            raise Trapped(Kind.BOUNDS, f"moves {self.pattern.nbytes} bytes, which are no whole words")
        return self.pattern.runs(offset, buffer.size, buffer.name)

    def __post_init__(self) -> None:
        self._runs: list[Run] | None = None


@dataclass(frozen=True)
class Program:
    """What one channel does: chains of descriptors, `rounds` times from the first (None: for ever)."""

    descriptors: list[Descriptor]
    rounds: int | None
    tile: tuple[int, int]
    pad_value: int = 0


def run_channel(schedule: Schedule, me: Actor, program: Program, source: Source | None, sink: Sink | None) -> Steps:
    """The life of one channel; `source` for MM2S, `sink` for S2MM."""
    turn = 0
    while program.rounds is None or turn < program.rounds:
        turn += 1
        at: int | None = 0 if program.descriptors else None
        if at is None:
            return
        while at is not None:
            bd = program.descriptors[at]
            yield from run_descriptor(schedule, me, program.tile, program.pad_value, bd, source, sink)
            yield None
            at = bd.next


def run_descriptor(
    schedule: Schedule,
    me: Actor,
    tile: tuple[int, int],
    pad_value: int,
    bd: Descriptor,
    source: Source | None,
    sink: Sink | None,
) -> Steps:
    """One descriptor of a channel. When it returns, it is over; nobody else has had a turn since its last word."""
    for step in bd.acquires:
        take = step.lock.take_equal if step.equal else step.lock.take
        me.site, me.need = step.span, ~step.value if step.equal else step.value
        while not take(step.value):
            yield step.lock
        yield None
    me.site = bd.span
    if bd.buffer is not None:
        if source is not None:
            yield from _read(schedule, me, tile, pad_value, bd, bd.buffer, source)
        elif sink is not None:
            yield from _write(me, bd, bd.buffer, sink)
    for step in bd.releases:
        me.site = step.span
        step.lock.give(step.value)


def _read(
    schedule: Schedule,
    me: Actor,
    tile: tuple[int, int],
    pad_value: int,
    bd: Descriptor,
    buffer: Buffer,
    source: Source,
) -> Steps:
    runs = bd.runs()
    real = [run for run in runs if run[0] != PAD]
    for low, high in real:
        buffer.known(low, high)
    pad = (pad_value & 0xFFFFFFFF).to_bytes(4, "little")
    data = buffer.data
    parts = [pad * (high // 4) + pad[: high % 4] if low == PAD else data[low:high] for low, high in runs]
    payload = bytes(parts[0]) if len(parts) == 1 else b"".join(parts)
    packet = None
    if bd.packet is not None:
        kind, id = bd.packet
        packet = (id, header_word(*tile, kind, id))
    busy = buffer.begin(me.name, False, real) if real else None
    yield from send(schedule, me, source, payload, packet, turn=False)
    if busy is not None:
        buffer.end(busy)


def _write(me: Actor, bd: Descriptor, buffer: Buffer, sink: Sink) -> Steps:
    runs = bd.runs()
    if not runs:
        return
    if bd.pattern.pads:
        raise Trapped(Kind.BOUNDS, "pads while it receives; only a sending memory-tile channel can")
    busy = buffer.begin(me.name, True, runs)
    got = bytearray()
    yield from receive(me, sink, bd.pattern.nbytes, got)
    at = 0
    data, valid = buffer.data, buffer.valid
    for low, high in runs:
        size = high - low
        data[low:high] = got[at : at + size]
        valid[low:high] = b"\1" * size
        at += size
    buffer.end(busy)
