"""The meaning of a design with objectFifos: run before any of it is lowered.

`meaning` is the door; it takes and gives what `aiecc.sim.array.simulate` does for the lowered design, under the same
names, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from aiecc.base.diag import refuse
from aiecc.ir.dialects.aie.cores import CoreOp, DmaProgram
from aiecc.ir.dialects.aie.flows import CascadeFlowOp, FlowOp, PacketFlowOp
from aiecc.ir.dialects.aie.links import RegisterExternalBuffersOp
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp, size_in_bytes
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.spans import span_of
from aiecc.sim.core import Cascade, Cell, Model, initial_bytes
from aiecc.sim.fifo.access import FifoProgram
from aiecc.sim.fifo.plan import Plan, Tile, cannot, ops_of, place
from aiecc.sim.fifo.wiring import Wiring
from aiecc.sim.locks import BinaryLock, Lock
from aiecc.sim.memory import Buffer
from aiecc.sim.outcome import Outcome, Status
from aiecc.sim.schedule import Actor, Schedule, Steps
from aiecc.sim.streams import receive, send

End = str | tuple[int, int]

_ENDLESS = 1 << 62


def meaning(
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
    turns: Sequence[Sequence[str]] = (),
) -> Outcome:
    """Run one device of a module by its fifos until everything stands still.

    The options are those of `aiecc.sim.array.simulate`. A shim end goes by the name its allocation will have
    (`F_shim_alloc`), or by that of its fifo. Bytes are counted, objects come from the element types. In the outcome,
    `locks` has the fill level of every store, in objects.

    turns: fifos that share a channel because a tile has too few, by name: the k-th object on it belongs to
    order[k mod n]. Fifos say nothing of that, so it has to be told.

    Raises Refused for what is no design with fifos, and for what has no meaning here: hand-written DMA programs and
    flows beside fifos, external buffers, `plio`, fifos without synchronization.
    """
    found = [op for op in module.body.block.ops if isinstance(op, DeviceOp)]
    named = [op for op in found if device is None or op.symbol == device]
    if len(named) != 1:
        names = ", ".join(op.symbol for op in found)
        refuse(f"the module has these devices: {names}; say which to run" if found else "the module has no device")
    run = _Run(named[0], seed, slack, max_events, kernels or {}, turns)
    run.build(feeds or {}, drains or {})
    return run.run(cores_end)


class _Run:
    """A device while it is built and run."""

    def __init__(
        self,
        device: DeviceOp,
        seed: int,
        slack: int,
        limit: int,
        kernels: Mapping[str, Model],
        turns: Sequence[Sequence[str]],
    ) -> None:
        for op in device.ops_of(DmaProgram, FlowOp, PacketFlowOp, RegisterExternalBuffersOp):
            cannot(op, "it is programmed by hand")
        for op in device.ops_of(ObjectFifoPoolOp, CoreEndpointOp, DmaEndpointOp, RouteEndpointOp, RouteOp):
            cannot(op, "the design is split already")
        self.device = device
        self.target = device.target
        self.schedule = Schedule(seed, limit)
        self.kernels = kernels
        self.wiring = Wiring(self.schedule, Plan.of(device), slack, turns)
        self.buffers: dict[SSAValue, Buffer] = {}
        self.locks: dict[SSAValue, Lock] = {}
        self.cells: dict[Tile, Cell] = {}
        self.feeds: list[Actor] = []
        self.cores: list[Actor] = []
        self.names: dict[End, str] = {}

    # --- building -----------------------------------------------------------------------------------------------------

    def build(self, feeds: Mapping[End, bytes | Sequence[bytes]], drains: Mapping[End, int | None]) -> None:
        self._memory()
        outs = self.wiring.shim_out
        for end, wanted in drains.items():
            name = self.names[end] = self._named(end, list(outs))
            outs[name].wanted = wanted
        self._cores()
        for end, data in feeds.items():
            self._feed(end, [data] if isinstance(data, bytes) else data)
        for drain in outs.values():
            drain.sink.read = True
            me = Actor(f"drain {drain.name}")
            wanted = _ENDLESS if drain.wanted is None else drain.wanted
            self.schedule.add(me, receive(me, drain.sink, wanted, drain.got))

    def _memory(self) -> None:
        """What cores keep beside their fifos."""
        for number, op in enumerate(ops_of(self.device, BufferOp)):
            initial = initial_bytes(op.initial_value, op.result.type)
            name = op.symbol or f"buffer {number}"
            size = size_in_bytes(op.result.type)
            self.buffers[op.result] = Buffer(name, size, place(op.tile_op, op), initial, span_of(op))
        kind = Lock if self.target.semaphore_locks else BinaryLock
        limit = self.target.lock_max_value
        for number, op in enumerate(ops_of(self.device, LockOp)):
            name = op.symbol or f"lock {number}"
            lock = kind(self.schedule, name, place(op.tile_op, op), op.init or 0, limit, span_of(op))
            self.locks[op.result] = lock

    # --- cores and the host -------------------------------------------------------------------------------------------

    def _cores(self) -> None:
        ops = ops_of(self.device, CoreOp)
        for op in ops:
            tile = place(op.tile_op, op)
            sources, sinks = self.wiring.ports.get(tile, ({}, {}))
            for sink in sinks.values():
                sink.read = True
            self.cells[tile] = Cell(self.schedule, tile, sources, sinks)
        for op in ops_of(self.device, CascadeFlowOp):
            source, dest = place(op.source_tile, op), place(op.dest_tile, op)
            if source in self.cells and dest in self.cells:
                cascade = Cascade(self.schedule, f"from core {source} to core {dest}")
                self.cells[source].out = self.cells[dest].into = cascade
        for op in ops:
            tile = place(op.tile_op, op)
            me = Actor(f"core {tile}", span_of(op))
            me.cell = self.cells[tile]
            program = FifoProgram(self.schedule, op, tile, self.target, self.buffers, self.locks, self.kernels)
            program.handles = self.wiring.handles.get(tile, {})
            self.cores.append(me)
            self.schedule.add(me, program.start()(me))

    def _named(self, end: End, known: Sequence[str]) -> str:
        mine = self.wiring.aliases.get(end, []) if isinstance(end, str) else []
        found = [name for name in known if name == end or name in mine]
        if len(found) != 1:
            refuse(f"there is no shim end called {end}; there are: {', '.join(known) or 'none'}")
        return found[0]

    def _feed(self, end: End, transfers: Sequence[bytes]) -> None:
        name = self._named(end, list(self.wiring.shim_in))
        fifo, source = self.wiring.shim_in[name]
        packet = self.wiring.packet(fifo)
        if any(len(data) % 4 for data in transfers):
            refuse(f"the bytes for {name} are no whole words")
        me = Actor(f"feed {name}")

        def steps() -> Steps:
            for data in transfers:
                yield from send(self.schedule, me, source, data, packet)

        self.feeds.append(me)
        self.schedule.add(me, steps())

    # --- running ------------------------------------------------------------------------------------------------------

    def _missing(self, cores_end: bool | None) -> tuple[str, ...]:
        ended = set(map(id, self.schedule.ended))
        found = [f"{a.name} has bytes left that nobody took" for a in self.feeds if id(a) not in ended]
        bounded = [(d.name, len(d.got), d.wanted) for d in self.wiring.shim_out.values() if d.wanted is not None]
        found += [f"{name} got {got} of {wanted} bytes" for name, got, wanted in bounded if got < wanted]
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
        objects = [o for store in self.wiring.stores for o in store.objects]
        return Outcome(
            status=status,
            received={d.name: bytes(d.got) for d in self.wiring.shim_out.values()},
            waits=waits,
            trap=self.schedule.trap,
            locks={part.name: part.use() for part in self.wiring.parts},
            written={b.name: b.written for b in (*objects, *self.buffers.values())},
            ended=tuple(sorted(ended)),
            running=tuple(a.name for a in self.schedule.actors if a.name not in idle),
            missing=missing,
            events=self.schedule.events,
            names=self.names,
            memory={b.name: bytes(b.data) for b in (*objects, *self.buffers.values())},
        )
