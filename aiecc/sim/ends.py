"""The host's side of an array: what is fed into shim ends and external buffers, and what is drained out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aiecc.base.diag import refuse
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.enums import Direction, WireBundle
from aiecc.ir.dialects.aie.flows import PacketFlowOp
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.spans import span_of
from aiecc.sim.dma import Descriptor
from aiecc.sim.locks import Lock
from aiecc.sim.memory import Buffer
from aiecc.sim.programs import Channel
from aiecc.sim.schedule import Actor, Schedule, Steps
from aiecc.sim.streams import Port, Sink, Source, header_word, port_name, receive, send

Tile = tuple[int, int]
End = str | tuple[int, int]
"""One end: the name of a shim end, of a fifo that has one, or of an external buffer; or (column, channel)."""
Taker = tuple[Port, int | None]
"""Where a stream ends. Packets of different ids that take turns at one shim channel end at different takers."""

_ENDLESS = 1 << 62
_SUFFIX = "_shim_alloc"


def coord(tile: TileLike | None, where: Span | None) -> Tile:
    """The place of a tile; refuses one that has none yet."""
    found = None if tile is None else tile.coord
    if found is None:
        refuse("the array model needs a tile whose place is known", where)
    return found


@dataclass
class Drain:
    """What comes out at one end, and how much of it is waited for (None: whatever comes)."""

    name: str
    wanted: int | None
    got: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True)
class _Outside:
    """An external buffer, and the locks the host takes turns with its DMA by."""

    buffer: Buffer
    free: Lock | None
    full: Lock | None


class Ends:
    """All ends of a device. `feeds` are the actors that send, `drains` what came out, in the order asked for."""

    def __init__(
        self,
        device: DeviceOp,
        schedule: Schedule,
        sources: Callable[[Port], Source],
        sinks: Callable[[Taker], Sink],
        buffers: Iterable[Buffer],
    ) -> None:
        self.schedule = schedule
        self.feeds: list[Actor] = []
        self.drains: list[Drain] = []
        self.names: dict[End, str] = {}
        self._source = sources
        self._sink = sinks
        self._buffers = {b.name: b for b in buffers}
        self._inner = {op.symbol for op in device.block.ops if isinstance(op, BufferOp)}
        self._outside: dict[str, _Outside] = {}
        self._records = {op.symbol: op for op in device.block.ops if isinstance(op, ShimDmaAllocationOp)}
        self._drained: dict[Taker, Drain] = {}
        self._ids = _packet_ids(device, [op for op in self._records.values() if op.direction is Direction.S2MM])
        at: dict[Port, list[int | None]] = {}
        for op in self._records.values():
            if op.direction is Direction.S2MM:
                at.setdefault(self._port(op), []).append(self._ids.get(op.symbol))
        self._shared = {port for port, ids in at.items() if len(ids) > 1 and None not in ids}

    @staticmethod
    def _port(op: ShimDmaAllocationOp) -> Port:
        col, row = coord(op.tile_op, span_of(op))
        return (col, row, "DMA", op.channel)

    def taker(self, port: Port, id: int | None) -> Taker:
        """Where packets of an id end that arrive at a port."""
        return (port, id if port in self._shared else None)

    def as_channels(self) -> None:
        """All packets that arrive at a channel end there, whatever their ids: its descriptors take them in turn."""
        self._shared = set()

    # --- names --------------------------------------------------------------------------------------------------------

    def _find(self, end: End, direction: Direction) -> tuple[Port, str, ShimDmaAllocationOp | None]:
        if isinstance(end, tuple):
            port = (end[0], 0, "DMA", end[1])
            return port, self.name(port), None
        found = self._records.get(end) or self._records.get(f"{end}{_SUFFIX}")
        if found is None:
            records = [op for op in self._records.values() if op.direction is direction]
            known = ", ".join(op.symbol.removesuffix(_SUFFIX) for op in records)
            refuse(f"there is no shim end called {end}; there are: {known or 'none'}")
        if found.direction is not direction:
            way = "out of" if found.direction is Direction.S2MM else "into"
            refuse(f"@{end} leads {way} the array", span_of(found))
        return self._port(found), end, found

    def name(self, port: Port) -> str:
        for op in self._records.values():
            if op.direction is Direction.S2MM and self._port(op) == port:
                return op.symbol
        return port_name(port)

    # --- external buffers ---------------------------------------------------------------------------------------------

    def programs(self, channels: Iterable[Channel]) -> None:
        """Learn which locks guard the buffers that shim DMAs move."""
        for channel in channels:
            for bd in channel.program.descriptors:
                if bd.buffer is not None and bd.buffer.tile is None and bd.buffer.name not in self._outside:
                    self._outside[bd.buffer.name] = _outside(bd, bd.buffer, channel.direction)

    # --- feeding and draining -----------------------------------------------------------------------------------------

    def drain(self, wants: Mapping[End, int | None]) -> None:
        """Drain what the caller asks for."""
        for end, wanted in wants.items():
            outside = self._outside.get(end) if isinstance(end, str) else None
            if outside is not None and outside.full is not None:
                self._collect(Drain(outside.buffer.name, wanted), outside)
                self.names[end] = outside.buffer.name
                continue
            port, name, record = self._find(end, Direction.S2MM)
            taker = self.taker(port, None if record is None else self._ids.get(record.symbol))
            other = self._drained.get(taker)
            if other is not None and other.name != name:
                text = f"@{name} and @{other.name} share a channel, and nothing says whose packets are whose"
                refuse(text, span_of(record) if record is not None else None, todo="run a sequence: --seq NAME")
            self._drained[taker] = Drain(name, wanted)
            self.names[end] = name

    def rest(self, taker: Taker) -> None:
        """Drain a shim end that nobody asked for."""
        if taker not in self._drained:
            port, id = taker
            names = [
                op.symbol
                for op in self._records.values()
                if op.direction is Direction.S2MM
                and self._port(op) == port
                and (id is None or self._ids.get(op.symbol) == id)
            ]
            self._drained[taker] = Drain(names[0] if names else port_name(port), None)

    def drained(self, taker: Taker) -> bool:
        return taker in self._drained

    def start(self) -> None:
        """Add the actors that drain."""
        for taker, drain in self._drained.items():
            wanted = _ENDLESS if drain.wanted is None else drain.wanted
            me = Actor(f"drain {drain.name}")
            self.schedule.add(me, receive(me, self._sink(taker), wanted, drain.got))
            self.drains.append(drain)

    def feed(self, end: End, data: bytes | Sequence[bytes]) -> None:
        """Send transfers into an end, or fill a buffer before the run starts."""
        buffer = self._buffers.get(end) if isinstance(end, str) else None
        if buffer is None:
            self._send(end, [data] if isinstance(data, bytes) else data)
            return
        outside = self._outside.get(buffer.name)
        locked = outside is not None and outside.full is not None and outside.full.value == 0
        if locked or not isinstance(data, bytes):
            if outside is None or outside.full is None:
                refuse(f"no lock tells when buffer {buffer.name} may be filled again", buffer.span)
            size = buffer.size
            whole = isinstance(data, bytes)
            self._fill(outside, [data[at : at + size] for at in range(0, len(data), size)] if whole else data)
            return
        if len(data) > buffer.size:
            refuse(f"{len(data)} bytes do not fit buffer {buffer.name}, which has {buffer.size}", buffer.span)
        buffer.preset(data)

    def _send(self, end: End, transfers: Sequence[bytes]) -> None:
        port, name, record = self._find(end, Direction.MM2S)
        for data in transfers:
            if len(data) % 4:
                refuse(f"{len(data)} bytes for {name} are no whole words")
        me = Actor(f"feed {name}")
        packet = None
        if record is not None and record.packet is not None:
            id = record.packet.pkt_id or 0
            packet = (id, header_word(port[0], port[1], record.packet.pkt_type, id))
        source = self._source(port)

        def steps() -> Steps:
            for data in transfers:
                yield from send(self.schedule, me, source, data, packet)

        self.feeds.append(me)
        self.schedule.add(me, steps())

    def _fill(self, outside: _Outside, parts: Sequence[bytes]) -> None:
        buffer, free, full = outside.buffer, outside.free, outside.full
        me = Actor(f"feed {buffer.name}")
        for part in parts:
            if len(part) > buffer.size:
                refuse(f"{len(part)} bytes do not fit buffer {buffer.name}, which has {buffer.size}", buffer.span)

        def steps() -> Steps:
            for part in parts:
                if free is not None:
                    yield from _taken(me, free)
                if buffer.order is not None:
                    buffer.order.write(0, buffer.size)
                buffer.preset(part)
                if full is not None:
                    full.give(1)
                yield None

        self.feeds.append(me)
        self.schedule.add(me, steps())

    def _collect(self, drain: Drain, outside: _Outside) -> None:
        buffer, free, full = outside.buffer, outside.free, outside.full
        me = Actor(f"drain {drain.name}")
        self.drains.append(drain)

        def steps() -> Steps:
            while drain.wanted is None or len(drain.got) < drain.wanted:
                if full is not None:
                    yield from _taken(me, full)
                if buffer.order is not None:
                    buffer.order.read(0, buffer.size)
                drain.got += buffer.data
                if free is not None:
                    free.give(1)
                yield None

        self.schedule.add(me, steps())


def _packet_ids(device: DeviceOp, records: Iterable[ShimDmaAllocationOp]) -> dict[str, int]:
    """The ids of the packets that are for each receiving end: its record says, or a flow made for the same fifo does.

    What was made for one fifo is known by the line it comes from.
    """
    found: dict[str, int] = {}
    flows = [op for op in device.block.ops if isinstance(op, PacketFlowOp)]
    for record in records:
        where = span_of(record)
        if record.packet is not None and record.packet.pkt_id is not None:
            found[record.symbol] = record.packet.pkt_id
        elif where is not None:
            mine = {flow.id for flow in flows if span_of(flow) == where and _ends_at(flow, record)}
            if len(mine) == 1:
                found[record.symbol] = mine.pop()
    return found


def _ends_at(flow: PacketFlowOp, record: ShimDmaAllocationOp) -> bool:
    return any(
        dest.tile == record.tile and dest.port.bundle is WireBundle.DMA and dest.port.channel == record.channel
        for dest in flow.dests
    )


def _outside(bd: Descriptor, buffer: Buffer, direction: Direction) -> _Outside:
    """A sending DMA takes what is full and gives it back free; a receiving one the other way around."""
    takes = bd.acquires[0].lock if len(bd.acquires) == 1 else None
    gives = bd.releases[0].lock if len(bd.releases) == 1 else None
    return _Outside(buffer, gives, takes) if direction is Direction.MM2S else _Outside(buffer, takes, gives)


def _taken(me: Actor, lock: Lock) -> Steps:
    me.need = 1
    while not lock.take(1):
        yield lock
    yield None
