"""A lowered design as a net: actors with their lists of actions, and the locks, streams and cascades in between.

Ends of the host are always ready: shim channels that no program starts send and take without end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from aiecc.base.diag import Refused
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.spans import span_of
from aiecc.sim.array import Array
from aiecc.sim.ends import Tile, coord
from aiecc.sim.hang_core import GIVE, RECEIVE, SEND, TAKE, TAKE_EQUAL, Action, Trace, Undecided, trace_core
from aiecc.sim.locks import Lock
from aiecc.sim.programs import Channel
from aiecc.sim.streams import Port, Sink, Source

ENDLESS = 1 << 62
"""An amount that never comes to an end."""

_OF_A_FIFO = re.compile(r".+_(?:(?:prod|cons)_)?lock_\d+")
"""Names that the lowering of fifos gives."""

_RAW_WRITES = frozenset(
    ["aiex.set_lock", "aiex.npu.write32", "aiex.npu.maskwrite32", "aiex.npu.blockwrite", "aiex.control_packet"]
)
"""What the host may set locks with, at addresses that are not looked at."""


@dataclass
class Member:
    """An actor: what it does, and who it is to the user. `core` is None for DMA channels and the host's ends."""

    name: str
    trace: Trace
    where: Span | None
    core: Tile | None = None
    host: bool = False


@dataclass
class Net:
    """`streams` are the sinks of each, by number; `cascades` the tiles they lead from and to.

    At `open` sinks the host takes whatever comes, `host_locks` it gives and takes; at `merges` several streams end.
    """

    members: list[Member] = field(default_factory=list[Member])
    locks: list[Lock] = field(default_factory=list[Lock])
    streams: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    sinks: list[Sink] = field(default_factory=list[Sink])
    open: list[bool] = field(default_factory=list[bool])
    cascades: list[tuple[Tile, Tile]] = field(default_factory=list[tuple[Tile, Tile]])
    host_locks: set[int] = field(default_factory=set[int])
    merges: set[int] = field(default_factory=set[int])
    binary: bool = False

    _users: dict[tuple[int, int], dict[int, list[int]]] = field(
        default_factory=dict[tuple[int, int], dict[int, list[int]]]
    )

    def users(self, number: int, *codes: int) -> list[int]:
        """The members that do one of these with a lock, stream or cascade."""
        found = (m for code in codes for members in self._users.get((code, number), {}).values() for m in members)
        return list(dict.fromkeys(found))

    def takers(self, lock: int) -> dict[int, list[int]]:
        """The members that take a lock, by how much."""
        found: dict[int, list[int]] = {}
        for code in (TAKE, TAKE_EQUAL):
            for amount, members in self._users.get((code, lock), {}).items():
                found[amount] = list(dict.fromkeys((*found.get(amount, ()), *members)))
        return found

    def givers(self, lock: int, amount: int) -> list[int]:
        """The members that end a wait for a lock: those that give it, a binary one with that value."""
        given = self._users.get((GIVE, lock), {})
        parts = [given.get(amount, [])] if self.binary else given.values()
        return list(dict.fromkeys(m for members in parts for m in members))

    def index(self) -> None:
        """Note who does what; once all members are there."""
        for at, member in enumerate(self.members):
            # Actions are shared where code repeats; so look at each only once.
            for code, number, amount, _ in {id(a): a for a in member.trace.actions}.values():
                members = self._users.setdefault((code, number), {}).setdefault(amount, [])
                if not members or members[-1] != at:
                    members.append(at)


class _Builder:
    """Makes the net of a device; implements `hang_core.Ports`."""

    def __init__(self, device: DeviceOp, limit: int) -> None:
        self.device = device
        self.limit = limit
        self.array = Array.of(device)
        self.binary = not device.target.semaphore_locks
        self.net = Net(binary=self.binary)
        self._locks: dict[Lock, int] = {}
        self._sinks: dict[int, int] = {}
        self._streams: dict[tuple[int, ...], int] = {}

    def build(self) -> Net:
        channels = self.array.wire()
        taken = {(c.tile, c.direction, c.index) for c in channels}
        for lock in self.array.locks.values():
            self._locks[lock] = len(self.net.locks)
            self.net.locks.append(lock)
        self._note_merges()
        for channel in channels:
            self._channel(channel)
        for op in self.device.block.ops:
            if isinstance(op, CoreOp):
                tile = coord(op.tile_op, span_of(op))
                trace = trace_core(op, tile, self, self.limit)
                self.limit -= trace.cost
                self.net.members.append(Member(f"core {_place(tile)}", trace, span_of(op), tile))
        self._host(taken)
        # Where the host takes everything at once, nobody has to wait for anybody else's packet.
        held = {s for sinks in self.net.streams if not all(self.net.open[s] for s in sinks) for s in sinks}
        self.net.merges &= held
        self.net.index()
        self._all_streams_read()
        self._set_by_the_host()
        self._one_taker_each()
        return self.net

    # --- numbers ------------------------------------------------------------------------------------------------------

    def lock(self, op: LockOp) -> int:
        return self._locks[self.array.locks[op.result]]

    def _sink(self, sink: Sink) -> int:
        at = self._sinks.get(id(sink))
        if at is None:
            at = self._sinks[id(sink)] = len(self.net.sinks)
            self.net.sinks.append(sink)
            self.net.open.append(False)
        return at

    def _stream(self, sinks: list[Sink]) -> int:
        key = tuple(map(self._sink, sinks))
        at = self._streams.get(key)
        if at is None:
            at = self._streams[key] = len(self.net.streams)
            self.net.streams.append(key)
        return at

    def _out(self, source: Source | None, packet: int | None, where: Span | None) -> int:
        """The stream a transfer goes to."""
        if source is None or not (source.circuit or source.rules):
            raise Undecided("a stream leads nowhere", where)
        if packet is None:
            if not source.circuit:
                raise Undecided("a packet flow is sent into without a header", where)
            return self._stream(source.circuit)
        rules = [rule for rule in source.rules if packet & rule.mask == rule.id & rule.mask]
        if not rules or any(any(rule.keep) for rule in rules):
            raise Undecided("where these packets go is not followed", where)
        return self._stream([sink for rule in rules for sink in rule.sinks])

    def stream_out(self, tile: Tile, channel: int) -> int:
        return self._out(self.array.sources.get((*tile, "Core", channel)), None, None)

    def stream_in(self, tile: Tile, channel: int) -> int:
        sink = self.array.sinks.get(((*tile, "Core", channel), None))
        if sink is None:
            raise Undecided(f"core {_place(tile)} reads a stream that comes from nowhere")
        return self._sink(sink)

    def cascade_out(self, tile: Tile) -> int:
        return self._cascade(next((p for p in self.array.cascades if p[0] == tile), None), tile)

    def cascade_in(self, tile: Tile) -> int:
        return self._cascade(next((p for p in self.array.cascades if p[1] == tile), None), tile)

    def _cascade(self, pair: tuple[Tile, Tile] | None, tile: Tile) -> int:
        if pair is None:
            raise Undecided(f"the cascade of core {_place(tile)} leads nowhere")
        if pair not in self.net.cascades:
            self.net.cascades.append(pair)
        return self.net.cascades.index(pair)

    # --- members ------------------------------------------------------------------------------------------------------

    def _channel(self, channel: Channel) -> None:
        """A channel's descriptors, written out: what comes before they start over, and the part that does."""
        port: Port = (*channel.tile, "DMA", channel.index)
        sends = channel.direction is Direction.MM2S
        once: list[list[Action]] = []
        for bd in channel.program.descriptors:
            found: list[Action] = []
            for step in bd.acquires:
                code = TAKE_EQUAL if step.equal or self.net.binary else TAKE
                if step.value or self.net.binary:
                    found.append((code, self._locks[step.lock], step.value, step.span or channel.span))
            size = bd.pattern.nbytes if bd.buffer is not None else 0
            where = bd.span or channel.span
            if size and sends:
                packet = None if bd.packet is None else bd.packet[1]
                found.append((SEND, self._out(self.array.sources.get(port), packet, where), size, where))
            elif size:
                sink = self.array.sinks.get((port, None))
                if sink is None:
                    raise Undecided("a stream comes from nowhere", where)
                found.append((RECEIVE, self._sink(sink), size, where))
            found += [
                (GIVE, self._locks[step.lock], step.value, step.span or channel.span)
                for step in bd.releases
                if step.value or self.net.binary
            ]
            once.append(found)
        trace = _written_out(once, [bd.next for bd in channel.program.descriptors], channel.program.rounds, self.limit)
        name = f"{channel.direction.word} {channel.index} of tile {_place(channel.tile)}"
        self.net.members.append(Member(name, trace, channel.span))

    def _host(self, taken: set[tuple[Tile, Direction, int]]) -> None:
        """Endless feeds and drains at the shim channels that nothing in the design drives."""
        for (port, _), sink in self.array.sinks.items():
            driven = port[2] == "DMA" and ((port[0], 0), Direction.S2MM, port[3]) in taken
            if port[1] == 0 and port[2] != "Core" and not driven:
                self.net.open[self._sink(sink)] = True
        for port, source in self.array.sources.items():
            driven = port[2] == "DMA" and ((port[0], 0), Direction.MM2S, port[3]) in taken
            if port[1] != 0 or port[2] == "Core" or driven:
                continue
            parts = [source.circuit] if source.circuit else []
            parts += [list(rule.sinks) for rule in source.rules]
            for sinks in parts:
                trace = Trace([(SEND, self._stream(sinks), ENDLESS, None)], None)
                self.net.members.append(Member(f"the host at {source.name}", trace, None, host=True))

    # --- what makes every order of events lead to the same end --------------------------------------------------------

    def _note_merges(self) -> None:
        senders: dict[int, int] = {}
        for source in self.array.sources.values():
            sinks = {id(s): s for s in source.circuit}
            sinks |= {id(s): s for rule in source.rules for s in rule.sinks}
            for key, sink in sinks.items():
                senders[key] = senders.get(key, 0) + 1
                if senders[key] > 1:
                    self.net.merges.add(self._sink(sink))

    def _all_streams_read(self) -> None:
        for at, sink in enumerate(self.net.sinks):
            if not self.net.open[at] and not self.net.users(at, RECEIVE):
                raise Undecided(f"{sink.name} is the end of a stream, but nobody reads it")

    def _one_taker_each(self) -> None:
        binary = self.net.binary
        for at, lock in enumerate(self.net.locks):
            if not binary and self.net.users(at, TAKE_EQUAL):
                raise Undecided(f"lock {lock.name} is waited for to have one value exactly", lock.span)
            if at in self.net.host_locks:
                continue
            # A binary lock goes to whoever waits for its value; a counting one to anybody.
            takers = self.net.takers(at)
            groups = list(takers.values()) if binary else [[m for t in takers.values() for m in t]]
            if any(len(set(group)) > 1 for group in groups):
                raise Undecided(f"lock {lock.name} is taken by several, by whoever comes first", lock.span)

    def _set_by_the_host(self) -> None:
        """Locks that nobody else in the array gives are the host's: those of shim tiles, and those it can know of.

        That is every lock the user made; and those of fifos, too, where it writes to addresses that are not looked at.
        """
        writes = any(op.name in _RAW_WRITES for op in self.device.walk())
        for at, lock in enumerate(self.net.locks):
            takers = self.net.takers(at)
            known = lock.tile[1] == 0 or not _OF_A_FIFO.fullmatch(lock.name) or writes
            alone = any(not set(self.net.givers(at, amount)) - set(who) for amount, who in takers.items())
            if (alone and known) or (not takers and lock.tile[1] == 0):
                self.net.host_locks.add(at)


def _written_out(once: list[list[Action]], nexts: list[int | None], rounds: int | None, limit: int) -> Trace:
    actions: list[Action] = []
    turn = 0
    while once and (rounds is None or turn < rounds):
        if rounds is None and turn:
            return Trace(actions, 0)
        turn += 1
        starts: dict[int, int] = {}
        at: int | None = 0
        while at is not None:
            if at in starts:
                return Trace(actions, starts[at] if len(actions) > starts[at] else None)
            starts[at] = len(actions)
            actions += once[at]
            at = nexts[at]
        if len(actions) > limit:
            raise Undecided("a DMA channel takes and gives more often than is looked at")
    return Trace(actions, None)


def _place(tile: Tile) -> str:
    return f"({tile[0]}, {tile[1]})"


def build(device: DeviceOp, limit: int) -> Net:
    """The net of a lowered device. Raises Undecided where order or data matter, or where something is not followed."""
    try:
        return _Builder(device, limit).build()
    except Refused as refused:
        first = refused.diagnostics[0]
        raise Undecided(first.text, first.where) from None
