"""A core's hands on its fifos: acquire and release in generated code."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute, Operation

from aiecc.base.diag import refuse
from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp, ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.enums import Port
from aiecc.ir.spans import span_of
from aiecc.sim.core import Program
from aiecc.sim.emit import Emitter
from aiecc.sim.fifo.store import Lease, Store
from aiecc.sim.memory import Buffer, View
from aiecc.sim.memrefs import view_of
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.scalars import NotModelled
from aiecc.sim.schedule import Actor, Gate


class Handle:
    """One end of a fifo as one core has it. Whoever fills a store begins behind its initial contents."""

    def __init__(self, store: Store, name: str, *, fills: bool) -> None:
        self.store = store
        self.name = name
        self.fills = fills
        self.taken = store.initial if fills else 0
        self.leases: deque[Lease] = deque()

    def acquire(
        self, me: Actor, count: int, types: Sequence[Attribute]
    ) -> Generator[Gate | None, None, tuple[View, ...]]:
        """Hold `count` objects in all, and return them, the oldest first."""
        more = count - len(self.leases)
        if more > 0:
            total = self.taken + more
            for part in self.store.parts:
                ready, gate = (part.fits, part.freely) if self.fills else (part.has, part.arrived)
                while not ready(total):
                    me.need = more
                    yield gate
                part.schedule.events += 1
            while self.taken < total:
                buffer = self.store.object(self.taken)
                if self.fills:
                    # What an earlier object left there is nothing the new one may read.
                    buffer.valid[:] = bytes(buffer.size)
                self.leases.append(Lease(buffer))
                self.taken += 1
        yield None
        return tuple(view_of(lease, type) for lease, type in zip(self.leases, types, strict=False))

    def release(self, count: int) -> None:
        """Give the `count` oldest objects up: to the drainer, or to be filled again."""
        if count > len(self.leases):
            raise Trapped(Kind.HELD, f"releases {count} objects of {self.name} and holds {len(self.leases)}")
        for _ in range(count):
            self.leases.popleft().give_back()
        for part in self.store.parts:
            if self.fills:
                part.finish(count)
            else:
                part.free(count)


class FifoEmitter(Emitter):
    """Core bodies that acquire and release."""

    def op(self, op: Operation) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None:
            super().op(op)
        else:
            handler(self, op)

    def _handle(self, op: FifoAccess) -> str:
        world = self.world
        assert isinstance(world, FifoProgram)
        return self.bind(world.handle(op))

    def acquire(self, op: Operation) -> None:
        assert isinstance(op, ObjectFifoAcquireOp)
        for type in op.result_types:
            view_of(Buffer("", 0), type)
        types = self.bind(tuple(op.result_types))
        found = "".join(f"{self.local(r)}, " for r in op.results)
        self.line(f"{found} = yield from {self._handle(op)}.acquire(me, {op.size}, {types})")

    def release(self, op: Operation) -> None:
        assert isinstance(op, ObjectFifoReleaseOp)
        self.line(f"{self._handle(op)}.release({op.size})")
        self.line("yield None")


_HANDLERS: Mapping[str, Callable[[FifoEmitter, Operation], None]] = {
    ObjectFifoAcquireOp.name: FifoEmitter.acquire,
    ObjectFifoReleaseOp.name: FifoEmitter.release,
}


class FifoProgram(Program):
    """The code of one core, with the ends of fifos it works on, by fifo and port."""

    emitter = FifoEmitter
    handles: Mapping[tuple[str, Port], Handle]

    def handle(self, op: FifoAccess) -> Handle:
        port = op.port
        found = None if port is None else self.handles.get((op.fifo_name, port))
        if found is None:
            raise NotModelled(f"core {self._tile} has no such end of @{op.fifo_name}")
        return found

    def start(self) -> Callable[[Actor], Any]:
        for op in self.core.walk():
            if isinstance(op, FifoAccess) and op.port is None:
                refuse("a design is run by its fifos before they are split; this one is split already", span_of(op))
        return super().start()
