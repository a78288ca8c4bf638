"""The array model: runs a lowered design, as it stands, on this machine.

`simulate` is the door. It executes locks, buffers, DMA programs, flows and the cores' own code; what comes from and
goes to the host is fed and drained by the caller. Runtime sequences and switch settings are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import refuse
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.cores import CoreOp, DmaProgram
from aiecc.ir.dialects.aie.enums import CascadeDir, Direction
from aiecc.ir.dialects.aie.flows import CascadeFlowOp, FlowOp, PacketFlowOp
from aiecc.ir.dialects.aie.flows import Port as FlowPort
from aiecc.ir.dialects.aie.memory import BufferOp, ExternalBufferOp, LockOp, element_bits, size_in_bytes
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.switch import ConfigureCascadeOp, SwitchboxOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.spans import span_of
from aiecc.sim.core import Cascade, Cell, Model, Program, initial_bytes
from aiecc.sim.dma import run_channel
from aiecc.sim.locks import BinaryLock, Lock
from aiecc.sim.memory import Buffer
from aiecc.sim.order import Order
from aiecc.sim.outcome import Outcome, Status
from aiecc.sim.programs import Channel, channels
from aiecc.sim.schedule import Actor, Schedule, Steps
from aiecc.sim.streams import Port, Rule, Sink, Source, header_word, port_name, receive, send

OpT = TypeVar("OpT", bound=Operation)
Tile = tuple[int, int]
End = str | tuple[int, int]
"""One shim end: the name of an `aie.shim_dma_allocation`, or (column, channel)."""

_ENDLESS = 1 << 62
_NOT_LOWERED = ("aie.objectfifo", "aie.route")


def simulate(
    module: ModuleOp,
    device: str | None = None,
    *,
    feeds: Mapping[End, bytes | Sequence[bytes]] | None = None,
    drains: Mapping[End, int | None] | None = None,
    kernels: Mapping[str, Model] | None = None,
    seed: int = 0,
    slack: int = 0,
    cores_end: bool | None = None,
    max_events: int = 50_000_000,
    ordered: bool = True,
) -> Outcome:
    """Run one device of a lowered module until everything stands still.

    `device` is a name where there are several. `feeds` are the bytes each shim end sends in; a list of bytes is one
    transfer, and one packet, each; for the name of a buffer they are its first contents. `drains` says how many bytes
    have to come out of each end (None: whatever comes); all other shim ends that a flow reaches are drained, too.
    `kernels` are Python models of external functions. `seed` 0 lets actors take turns, others interleave at random,
    repeatably. `slack` is how many bytes a stream holds on its way. `max_events` bounds lock uses and DMA words.
    `ordered` traps accesses to one byte that neither a lock nor a stream keeps apart, whoever came first this time.

    It is finished when all feeds are sent and all drains have got what they want, and, without a bounded drain or with
    `cores_end`, every core has reached its end. Raises Refused for a design that cannot be executed.
    """
    array = _Array(_device(module, device), Schedule(seed, max_events, ordered=ordered), slack, kernels or {})
    array.build(feeds or {}, drains or {})
    return array.run(cores_end)


def _device(module: ModuleOp, name: str | None) -> DeviceOp:
    found = [op for op in module.body.block.ops if isinstance(op, DeviceOp)]
    named = [op for op in found if name is None or op.symbol == name]
    if len(named) != 1:
        names = ", ".join(op.symbol for op in found)
        refuse(f"the module has these devices: {names}; say which to run" if found else "the module has no device")
    return named[0]


@dataclass
class _Drain:
    name: str
    wanted: int | None
    got: bytearray = field(default_factory=bytearray)


class _Array:
    """A device while it is built and run."""

    def __init__(self, device: DeviceOp, schedule: Schedule, slack: int, kernels: Mapping[str, Model]) -> None:
        self.device = device
        self.target = device.target
        self.slack = slack
        self.kernels = kernels
        self.schedule = schedule
        self.buffers: dict[SSAValue, Buffer] = {}
        self.locks: dict[SSAValue, Lock] = {}
        self.sources: dict[Port, Source] = {}
        self.sinks: dict[Port, Sink] = {}
        self.drains: dict[Port, _Drain] = {}
        self.names: dict[End, str] = {}
        self.feeds: list[Actor] = []
        self.cores: list[Actor] = []
        self.cells: dict[Tile, Cell] = {}

    def _ops(self, kind: type[OpT]) -> Iterator[OpT]:
        return (op for op in self.device.block.ops if isinstance(op, kind))

    # --- building -----------------------------------------------------------------------------------------------------

    def build(self, feeds: Mapping[End, bytes | Sequence[bytes]], drains: Mapping[End, int | None]) -> None:
        self._lowered()
        self._memory()
        self._flows()
        self._cascades()
        found = [c for op in self._ops(DmaProgram) for c in self._channels(op)]
        presets = {b.name: b for b in self.buffers.values()}
        taken = {(c.tile, c.direction, c.index) for c in found}
        for end, wanted in drains.items():
            port, name, _ = self._end(end, Direction.S2MM)
            self.drains[port] = _Drain(name, wanted)
            self.names[end] = name
        for port, sink in self.sinks.items():
            if port[1] == 0 and port[2] == "DMA" and ((port[0], 0), Direction.S2MM, port[3]) not in taken:
                self.drains.setdefault(port, _Drain(self._name(port), None))
            sink.read = port in self.drains or (port[2] == "Core" and (port[0], port[1]) in self.cells)
        for channel in found:
            self._start_channel(channel)
        self._cores()
        for end, data in feeds.items():
            buffer = presets.get(end) if isinstance(end, str) else None
            if not isinstance(data, bytes):
                self._feed(end, data)
            elif buffer is not None:
                if len(data) > buffer.size:
                    refuse(f"{len(data)} bytes do not fit buffer {buffer.name}, which has {buffer.size}", buffer.span)
                buffer.preset(data)
            else:
                self._feed(end, [data])
        for port, drain in self.drains.items():
            self._drain(port, drain)

    def _lowered(self) -> None:
        """Refuse what would be passed over in silence."""
        for op in self.device.block.ops:
            if op.name in _NOT_LOWERED or op.name.startswith("aie.objectfifo."):
                refuse(f"the array model runs lowered designs, and '{op.name}' is not lowered yet", span_of(op))
        flows = any(True for _ in self._ops(FlowOp)) or any(True for _ in self._ops(PacketFlowOp))
        box = next(self._ops(SwitchboxOp), None)
        if box is not None and not flows:
            refuse("the array model follows flows; this design has only switch settings left", span_of(box))

    def _memory(self) -> None:
        counts: dict[Tile | None, int] = {}
        for op in (*self._ops(BufferOp), *self._ops(ExternalBufferOp)):
            tile = _coord(op.tile_op, span_of(op)) if isinstance(op, BufferOp) else None
            number = counts[tile] = counts.get(tile, -1) + 1
            name = op.symbol or f"buffer {number}" + (f" of tile {tile}" if tile else " outside")
            initial = initial_bytes(op.initial_value, op.result.type) if isinstance(op, BufferOp) else None
            size = size_in_bytes(op.result.type)
            buffer = self.buffers[op.result] = Buffer(name, size, tile, initial, span_of(op))
            if self.schedule.ordered:
                shift = min((element_bits(op.result.type) or 8) // 8, 8).bit_length() - 1
                buffer.order = Order(self.schedule, name, size, max(shift, 0))
        kind = Lock if self.target.semaphore_locks else BinaryLock
        limit = self.target.lock_max_value
        for number, op in enumerate(self._ops(LockOp)):
            tile = _coord(op.tile_op, span_of(op))
            init = op.init or 0
            name = op.symbol or f"{number if op.id is None else op.id} of tile {tile}"
            if not 0 <= init <= limit:
                refuse(f"lock {name} starts at {init}; its range is 0 to {limit}", span_of(op))
            self.locks[op.result] = kind(self.schedule, name, tile, init, limit, span_of(op))

    def _source(self, port: Port) -> Source:
        return self.sources.setdefault(port, Source(port_name(port)))

    def _sink(self, port: Port) -> Sink:
        found = self.sinks.get(port)
        if found is None:
            found = self.sinks[port] = Sink(self.schedule, port_name(port), self.slack)
        return found

    def _flows(self) -> None:
        for op in self._ops(FlowOp):
            source = _port(op.source_tile, op.source_port, span_of(op))
            dest = _port(op.dest_tile, op.dest_port, span_of(op))
            self._source(source).circuit.append(self._sink(dest))
        for op in self._ops(PacketFlowOp):
            ports = [_port(d.tile_op, d.port, span_of(d)) for d in op.dests]
            # Absent means kept, except where a DMA or the world below the array takes the packet.
            kept = op.properties.get("keep_pkt_header") is not None
            keep = [op.keep_pkt_header if kept else p[2] != "DMA" and (p[2], p[1]) != ("South", 0) for p in ports]
            mask = 31 if op.mask is None else op.mask
            rule = Rule(op.id, mask, tuple(map(self._sink, ports)), tuple(keep), span_of(op))
            for source in op.sources:
                self._source(_port(source.tile_op, source.port, span_of(source))).rules.append(rule)
        for op in self._ops(CoreOp):
            tile = _coord(op.tile_op, span_of(op))
            mine = (tile[0], tile[1], "Core")
            sources = {p[3]: s for p, s in self.sources.items() if p[:3] == mine}
            sinks = {p[3]: s for p, s in self.sinks.items() if p[:3] == mine}
            self.cells[tile] = Cell(self.schedule, tile, sources, sinks)

    def _cascades(self) -> None:
        """From cascade flows, or from the sides the cores' ports are switched to."""
        pairs = [
            (_coord(op.source_tile, span_of(op)), _coord(op.dest_tile, span_of(op))) for op in self._ops(CascadeFlowOp)
        ]
        switched = {_coord(op.tile_op, span_of(op)): op for op in self._ops(ConfigureCascadeOp)}
        for (col, row), op in switched.items():
            south = op.output_dir is CascadeDir.SOUTH
            dest = (col, row - 1) if south else (col + 1, row)
            into = switched.get(dest)
            if into is not None and into.input_dir is (CascadeDir.NORTH if south else CascadeDir.WEST):
                pairs.append(((col, row), dest))
        for source, dest in dict.fromkeys(pairs):
            if source in self.cells and dest in self.cells:
                cascade = Cascade(self.schedule, f"from core {source} to core {dest}")
                self.cells[source].out = self.cells[dest].into = cascade

    def _channels(self, op: DmaProgram) -> Iterator[Channel]:
        return channels(op, _coord(op.tile_op, span_of(op)), self.target, self.buffers, self.locks)

    def _start_channel(self, channel: Channel) -> None:
        col, row = channel.tile
        port = (col, row, "DMA", channel.index)
        me = Actor(f"{channel.direction.word} {channel.index} of tile {channel.tile}", channel.span)
        source = sink = None
        if channel.direction is Direction.MM2S:
            source = self._source(port)
        else:
            sink = self._sink(port)
            sink.read = True
        self.schedule.add(me, run_channel(self.schedule, me, channel.program, source, sink))

    def _cores(self) -> None:
        for op in self._ops(CoreOp):
            tile = _coord(op.tile_op, span_of(op))
            me = Actor(f"core {tile}", span_of(op))
            me.cell = self.cells[tile]
            program = Program(self.schedule, op, tile, self.target, self.buffers, self.locks, self.kernels)
            self.cores.append(me)
            self.schedule.add(me, program.start()(me))

    # --- the host's side ----------------------------------------------------------------------------------------------

    def _end(self, end: End, direction: Direction) -> tuple[Port, str, tuple[int, int] | None]:
        """The port, the name and the packet header of a shim end."""
        if isinstance(end, tuple):
            port = (end[0], 0, "DMA", end[1])
            return port, self._name(port), None
        found = next((op for op in self._ops(ShimDmaAllocationOp) if op.symbol == end), None)
        if found is None:
            known = ", ".join(op.symbol for op in self._ops(ShimDmaAllocationOp) if op.direction is direction)
            refuse(f"there is no shim end called {end}; there are: {known or 'none'}")
        if found.direction is not direction:
            way = "out of" if found.direction is Direction.S2MM else "into"
            refuse(f"@{end} leads {way} the array", span_of(found))
        col, row = _coord(found.tile_op, span_of(found))
        packet = found.packet
        header = None if packet is None else (packet.pkt_type, packet.pkt_id or 0)
        return (col, row, "DMA", found.channel), end, header

    def _name(self, port: Port) -> str:
        for op in self._ops(ShimDmaAllocationOp):
            at = op.tile_op
            if op.direction is Direction.S2MM and at is not None and at.coord == port[:2] and op.channel == port[3]:
                return op.symbol
        return port_name(port)

    def _feed(self, end: End, transfers: Sequence[bytes]) -> None:
        port, name, header = self._end(end, Direction.MM2S)
        for data in transfers:
            if len(data) % 4:
                refuse(f"{len(data)} bytes for {name} are no whole words")
        me = Actor(f"feed {name}")
        packet = None if header is None else (header[1], header_word(port[0], port[1], *header))
        source = self._source(port)

        def steps() -> Steps:
            for data in transfers:
                yield from send(self.schedule, me, source, data, packet)

        self.feeds.append(me)
        self.schedule.add(me, steps())

    def _drain(self, port: Port, drain: _Drain) -> None:
        sink = self._sink(port)
        wanted = _ENDLESS if drain.wanted is None else drain.wanted
        me = Actor(f"drain {drain.name}")
        self.schedule.add(me, receive(me, sink, wanted, drain.got))

    # --- running ------------------------------------------------------------------------------------------------------

    def _missing(self, cores_end: bool | None) -> tuple[str, ...]:
        ended = set(map(id, self.schedule.ended))
        found = [f"{a.name} has bytes left that nobody took" for a in self.feeds if id(a) not in ended]
        bounded = [d for d in self.drains.values() if d.wanted is not None]
        found += [f"{d.name} got {len(d.got)} of {d.wanted} bytes" for d in bounded if len(d.got) < (d.wanted or 0)]
        if cores_end or (cores_end is None and not bounded):
            found += [f"{a.name} has not reached its end" for a in self.cores if id(a) not in ended]
        return tuple(found)

    def run(self, cores_end: bool | None) -> Outcome:
        rest = self.schedule.run()
        missing = self._missing(cores_end)
        if self.schedule.trap is not None:
            status = Status.TRAPPED
        elif not missing:
            status = Status.FINISHED
        else:
            status = Status.STUCK if rest else Status.LIMIT
        ended = [a.name for a in self.schedule.ended]
        waits = self.schedule.waits()
        idle = {w.actor for w in waits} | set(ended)
        return Outcome(
            status=status,
            received={d.name: bytes(d.got) for d in self.drains.values()},
            waits=waits,
            trap=self.schedule.trap,
            locks={lock.name: lock.use() for lock in self.locks.values()},
            written={b.name: b.written for b in self.buffers.values()},
            ended=tuple(sorted(ended)),
            running=tuple(a.name for a in self.schedule.actors if a.name not in idle),
            missing=missing,
            events=self.schedule.events,
            names=self.names,
            memory={b.name: bytes(b.data) for b in self.buffers.values()},
        )


def _coord(tile: TileLike | None, where: Span | None) -> Tile:
    found = None if tile is None else tile.coord
    if found is None:
        refuse("the array model needs a tile whose place is known", where)
    return found


def _port(tile: TileLike | None, port: FlowPort, where: Span | None) -> Port:
    return (*_coord(tile, where), port.bundle.word, port.channel)
