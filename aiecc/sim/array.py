"""The array model: runs a lowered design, as it stands, on this machine.

`simulate` is the door. It executes locks, buffers, DMA programs, flows and the cores' own code; what comes from and
goes to the host is fed and drained by the caller. Runtime sequences and switch settings are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from aiecc.ir.dialects.aie.switch import ConfigureCascadeOp, SwitchboxOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.fold.loops import trip_count
from aiecc.ir.spans import span_of
from aiecc.sim.core import Cascade, Cell, Model, Program, initial_bytes
from aiecc.sim.dma import run_channel
from aiecc.sim.ends import End, Ends, Taker, Tile, coord
from aiecc.sim.locks import BinaryLock, Lock
from aiecc.sim.memory import Buffer
from aiecc.sim.order import Order
from aiecc.sim.outcome import Outcome, Status
from aiecc.sim.pools import Pair, pairs, uses
from aiecc.sim.programs import Channel, channels
from aiecc.sim.schedule import Actor, Schedule, Steps
from aiecc.sim.streams import Port, Rule, Sink, Source, port_name

OpT = TypeVar("OpT", bound=Operation)
_NOT_LOWERED = ("aie.objectfifo", "aie.route")


FOREVER = (1 << 24) - 2
"""From so many rounds on a loop is taken to be meant for ever, as the specification does."""
OUTSIDE = 1 << 32
"""The largest buffer outside the array, in bytes, that is given memory here."""


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
    Ends go by the name of their `aie.shim_dma_allocation`, of their fifo, or of an external buffer.
    `kernels` are Python models of external functions. `seed` 0 lets actors take turns, others interleave at random,
    repeatably. `slack` is how many bytes a stream holds on its way. `max_events` bounds lock uses and DMA words.
    `ordered` traps accesses to one byte that neither a lock nor a stream keeps apart, whoever came first this time.

    It is finished when all feeds are sent and all drains have got what they want, and, without a bounded drain or with
    `cores_end`, every core has reached its end. Raises Refused for a design that cannot be executed.
    """
    array = Array(device_named(module, device), Schedule(seed, max_events, ordered=ordered), slack, kernels or {})
    array.build(feeds or {}, drains or {})
    return array.run(cores_end)


def device_named(module: ModuleOp, name: str | None) -> DeviceOp:
    """The device of a name, or the only one. Raises Refused where there is none, or no telling which."""
    found = [op for op in module.body.block.ops if isinstance(op, DeviceOp)]
    named = [op for op in found if name is None or op.symbol == name]
    if len(named) != 1:
        names = ", ".join(op.symbol for op in found)
        refuse(f"the module has these devices: {names}; say which to run" if found else "the module has no device")
    return named[0]


class Array:
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
        self.sinks: dict[Taker, Sink] = {}
        self.ends: Ends
        self.pools: list[tuple[str, Pair]] = []
        self.cores: list[Actor] = []
        self.endless: set[int] = set()
        self.code: dict[Tile, tuple[Actor, Callable[[Actor], Steps]]] = {}
        self.cells: dict[Tile, Cell] = {}
        self.cascades: list[tuple[Tile, Tile]] = []

    def _ops(self, kind: type[OpT]) -> Iterator[OpT]:
        return (op for op in self.device.block.ops if isinstance(op, kind))

    # --- building -----------------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, device: DeviceOp) -> Array:
        """A device to look at rather than to run."""
        return cls(device, Schedule(0, 0), 0, {})

    def wire(self) -> list[Channel]:
        """Memory, locks, streams and cascades, and the channels the device's DMA programs start."""
        self._lowered()
        self._memory()
        self.ends = Ends(self.device, self.schedule, self._source, self._sink, self.buffers.values())
        self._flows()
        self._cascades()
        return [c for op in self._ops(DmaProgram) for c in self._channels(op)]

    def build(self, feeds: Mapping[End, bytes | Sequence[bytes]], drains: Mapping[End, int | None]) -> None:
        """Everything that runs."""
        found = self.wire()
        self.pools = pairs(self.locks.values(), found)
        self.ends.programs(found)
        self.ends.drain(drains)
        taken = {(c.tile, c.direction, c.index) for c in found}
        for (port, id), sink in self.sinks.items():
            if port[1] == 0 and port[2] == "DMA" and ((port[0], 0), Direction.S2MM, port[3]) not in taken:
                self.ends.rest((port, id))
            drained = self.ends.drained((port, id))
            sink.read = drained or (port[2] == "Core" and (port[0], port[1]) in self.cells)
        for channel in found:
            self._start_channel(channel)
        self._cores()
        for end, data in feeds.items():
            self.ends.feed(end, data)
        self.ends.start()

    def _lowered(self) -> None:
        """Refuse what would be passed over in silence."""
        for op in self.device.block.ops:
            # A pool that something still names stays behind, and does nothing any more.
            waits = op.name.startswith("aie.objectfifo.") and op.name != "aie.objectfifo.pool"
            if waits or op.name in _NOT_LOWERED:
                refuse(f"the array model runs lowered designs, and '{op.name}' is not lowered yet", span_of(op))
        flows = any(True for _ in self._ops(FlowOp)) or any(True for _ in self._ops(PacketFlowOp))
        box = next(self._ops(SwitchboxOp), None)
        if box is not None and not flows:
            refuse("the array model follows flows; this design has only switch settings left", span_of(box))

    def _fits(self, op: BufferOp | ExternalBufferOp, name: str, size: int) -> None:
        """Refuse a buffer that its memory cannot hold before this machine's memory is asked for it."""
        kind = op.tile_op.kind if isinstance(op, BufferOp) and op.tile_op is not None else None
        most = self.target.memory_size(kind) if kind is not None else OUTSIDE
        if size > most:
            refuse(f"buffer '{name}' has {size} bytes, its memory {most}", span_of(op))

    def _memory(self) -> None:
        counts: dict[Tile | None, int] = {}
        for op in (*self._ops(BufferOp), *self._ops(ExternalBufferOp)):
            tile = coord(op.tile_op, span_of(op)) if isinstance(op, BufferOp) else None
            number = counts[tile] = counts.get(tile, -1) + 1
            name = op.symbol or f"buffer {number}" + (f" of tile {tile}" if tile else " outside")
            initial = initial_bytes(op.initial_value, op.result.type) if isinstance(op, BufferOp) else None
            size = size_in_bytes(op.result.type)
            self._fits(op, name, size)
            buffer = self.buffers[op.result] = Buffer(name, size, tile, initial, span_of(op))
            if self.schedule.ordered:
                shift = min((element_bits(op.result.type) or 8) // 8, 8).bit_length() - 1
                buffer.order = Order(self.schedule, name, size, max(shift, 0))
        kind = Lock if self.target.semaphore_locks else BinaryLock
        limit = self.target.lock_max_value
        for number, op in enumerate(self._ops(LockOp)):
            tile = coord(op.tile_op, span_of(op))
            init = op.init or 0
            name = op.symbol or f"{number if op.id is None else op.id} of tile {tile}"
            if not 0 <= init <= limit:
                refuse(f"lock {name} starts at {init}; its range is 0 to {limit}", span_of(op))
            self.locks[op.result] = kind(self.schedule, name, tile, init, limit, span_of(op))

    def _source(self, port: Port) -> Source:
        return self.sources.setdefault(port, Source(port_name(port)))

    def _sink(self, taker: Taker) -> Sink:
        found = self.sinks.get(taker)
        if found is None:
            found = self.sinks[taker] = Sink(self.schedule, port_name(taker[0]), self.slack)
        return found

    def _flows(self) -> None:
        for op in self._ops(FlowOp):
            source = _port(op.source_tile, op.source_port, span_of(op))
            dest = _port(op.dest_tile, op.dest_port, span_of(op))
            self._source(source).circuit.append(self._sink((dest, None)))
        for op in self._ops(PacketFlowOp):
            ports = [_port(d.tile_op, d.port, span_of(d)) for d in op.dests]
            # Absent means kept, except where a DMA or the world below the array takes the packet.
            kept = op.properties.get("keep_pkt_header") is not None
            keep = [op.keep_pkt_header if kept else p[2] != "DMA" and (p[2], p[1]) != ("South", 0) for p in ports]
            mask = 31 if op.mask is None else op.mask
            sinks = tuple(self._sink(self.ends.taker(port, op.id)) for port in ports)
            rule = Rule(op.id, mask, sinks, tuple(keep), span_of(op))
            for source in op.sources:
                self._source(_port(source.tile_op, source.port, span_of(source))).rules.append(rule)
        for op in self._ops(CoreOp):
            tile = coord(op.tile_op, span_of(op))
            mine = (tile[0], tile[1], "Core")
            sources = {p[3]: s for p, s in self.sources.items() if p[:3] == mine}
            sinks = {p[3]: s for (p, _), s in self.sinks.items() if p[:3] == mine}
            self.cells[tile] = Cell(self.schedule, tile, sources, sinks)

    def _cascades(self) -> None:
        """From cascade flows, or from the sides the cores' ports are switched to."""
        pairs = [
            (coord(op.source_tile, span_of(op)), coord(op.dest_tile, span_of(op))) for op in self._ops(CascadeFlowOp)
        ]
        switched = {coord(op.tile_op, span_of(op)): op for op in self._ops(ConfigureCascadeOp)}
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
                self.cascades.append((source, dest))

    def _channels(self, op: DmaProgram) -> Iterator[Channel]:
        return channels(op, coord(op.tile_op, span_of(op)), self.target, self.buffers, self.locks)

    def _start_channel(self, channel: Channel) -> None:
        col, row = channel.tile
        port = (col, row, "DMA", channel.index)
        me = Actor(f"{channel.direction.word} {channel.index} of tile {channel.tile}", channel.span)
        source = sink = None
        if channel.direction is Direction.MM2S:
            source = self._source(port)
        else:
            sink = self._sink((port, None))
            sink.read = True
        self.schedule.add(me, run_channel(self.schedule, me, channel.program, source, sink))

    def _cores(self) -> None:
        for op in self._ops(CoreOp):
            tile = coord(op.tile_op, span_of(op))
            me = Actor(f"core {tile}", span_of(op))
            me.cell = self.cells[tile]
            program = Program(self.schedule, op, tile, self.target, self.buffers, self.locks, self.kernels)
            self.cores.append(me)
            if _runs_for_ever(op):
                self.endless.add(id(me))
            start = program.start()
            self.code[tile] = me, start
            self.schedule.add(me, start(me))

    # --- running ------------------------------------------------------------------------------------------------------

    def _missing(self, cores_end: bool | None) -> tuple[str, ...]:
        ended = set(map(id, self.schedule.ended))
        found = [f"{a.name} has bytes left that nobody took" for a in self.ends.feeds if id(a) not in ended]
        bounded = [d for d in self.ends.drains if d.wanted is not None]
        found += [f"{d.name} got {len(d.got)} of {d.wanted} bytes" for d in bounded if len(d.got) < (d.wanted or 0)]
        if cores_end or (cores_end is None and not bounded):
            # With nothing left to feed, a core that is meant to run for ever waits for more, and that is its end.
            fed = cores_end is None and bool(self.ends.feeds)
            waiting = ended | (self.endless if fed else set())
            found += [f"{a.name} has not reached its end" for a in self.cores if id(a) not in waiting]
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
            received={d.name: bytes(d.got) for d in self.ends.drains},
            waits=waits,
            trap=self.schedule.trap,
            locks={lock.name: lock.use() for lock in self.locks.values()},
            written={b.name: b.written for b in self.buffers.values()},
            ended=tuple(sorted(ended)),
            running=tuple(a.name for a in self.schedule.actors if a.name not in idle),
            missing=missing,
            events=self.schedule.events,
            pools=uses(self.pools),
            names=self.ends.names,
            memory={b.name: bytes(b.data) for b in self.buffers.values()},
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        return ()


def _runs_for_ever(core: CoreOp) -> bool:
    """Whether a core has a loop that nobody expects to end: so many rounds that it is a way to say so, or a while."""
    return any(
        inner.name == "scf.while" or (inner.name == "scf.for" and (trip_count(inner) or 0) >= FOREVER)
        for inner in core.walk()
    )


def _port(tile: TileLike | None, port: FlowPort, where: Span | None) -> Port:
    return (*coord(tile, where), port.bundle.word, port.channel)
