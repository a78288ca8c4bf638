"""Fifos and links of a design as stores, streams, and the ends that move objects between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from aiecc.ir.dialects.aie.enums import Port
from aiecc.ir.spans import span_of
from aiecc.sim.core import initial_bytes
from aiecc.sim.fifo.access import Handle
from aiecc.sim.fifo.ends import (
    Target,
    Turn,
    Turns,
    Walk,
    Windows,
    receive_objects,
    receive_rows,
    send_objects,
    send_windows,
)
from aiecc.sim.fifo.plan import Fifo, Link, Plan, Tile, cannot
from aiecc.sim.fifo.store import Part, Store
from aiecc.sim.memory import Buffer
from aiecc.sim.schedule import Actor, Schedule
from aiecc.sim.streams import Rule, Sink, Source

_PACKET = (0, b"")
"""The packet of a merge: which of its senders it comes from, nobody is told."""


@dataclass
class Drain:
    name: str
    sink: Sink
    wanted: int | None = None
    got: bytearray = field(default_factory=bytearray)


@dataclass
class _Held:
    """What a link holds: a store of objects, or a whole stream to cut windows out of."""

    store: Store | None = None
    windows: tuple[Windows, Buffer, Part] | None = None


class Wiring:
    """Everything that fifos and links come to; its senders and receivers are actors of the schedule already."""

    def __init__(self, schedule: Schedule, plan: Plan, slack: int, turns: Sequence[Sequence[str]] = ()) -> None:
        self.schedule = schedule
        self.plan = plan
        self.slack = slack
        self.stores: list[Store] = []
        self.parts: list[Part] = []
        self.handles: dict[Tile, dict[tuple[str, Port], Handle]] = {}
        # The stream ports of cores that are ends of fifos: out of the core, and into it.
        self.ports: dict[Tile, tuple[dict[int, Source], dict[int, Sink]]] = {}
        self.shim_in: dict[str, tuple[Fifo, Source]] = {}
        self.shim_out: dict[str, Drain] = {}
        # The names of a fifo's ends at shims, the producer's first.
        self.aliases: dict[str, list[str]] = {}
        self._held: dict[int, _Held] = {}
        self._sources: dict[str, Source] = {}
        self._turns: dict[int, dict[str, Source]] = {}
        self._merges: dict[int, Sink] = {}
        # For fifos that share a channel with others: their turns at both ends, and the stream they share.
        self._sending: dict[str, Turn] = {}
        self._receiving: dict[str, tuple[Turn, Sink]] = {}
        for order in turns:
            self._share_channel(order)
        for link in plan.links:
            self._link(link)
        for fifo in plan.fifos.values():
            if plan.through_memory(fifo):
                self._in_memory(fifo)
            else:
                self._producer(fifo)
                for at in range(len(fifo.consumers)):
                    self._consumer(fifo, at)
        for link in plan.links:
            if link.dispatches:
                self._dispatch(link)

    def _store(self, fifo: Fifo, name: str, depth: int, width: int, cuts: Sequence[tuple[int, int]], tile: Tile,
               *, initial: bool = False, repeat: int = 1, refilled: bool = True) -> Store:  # fmt: skip
        """A place for objects. `width` is that of an element in bytes, `cuts` count elements."""
        values = fifo.op.init_values if initial else None
        data = [initial_bytes(v, fifo.op.elem_type) for v in values.data] if values is not None else []
        if any(d is None for d in data):
            cannot(fifo.op, "its initial values are not given as numbers")
        endless = bool(data) and len(data) == depth and not refilled and fifo.name not in self.plan.rearmed
        store = Store(
            self.schedule,
            name,
            depth,
            cuts[-1][1] * width,
            [(low * width, high * width) for low, high in cuts],
            data[:depth],
            repeat=repeat,
            endless=endless,
            tile=tile,
            span=span_of(fifo.op),
        )
        self.stores.append(store)
        self.parts += store.parts
        return store

    def _share_channel(self, order: Sequence[str]) -> None:
        senders, receivers = Turns(self.schedule, order), Turns(self.schedule, order)
        sink = self._sink("that " + ", ".join(f"@{name}" for name in dict.fromkeys(order)) + " share")
        for name in order:
            self._sending[name] = Turn(senders, name)
            self._receiving[name] = Turn(receivers, name), sink

    def _sink(self, name: str) -> Sink:
        return Sink(self.schedule, name, self.slack)

    def _handle(self, tile: Tile, fifo: Fifo, port: Port, store: Store) -> None:
        if (tile, fifo.name, port) in self.plan.used:
            handle = Handle(store, f"@{fifo.name}", fills=port is Port.PRODUCE)
            self.handles.setdefault(tile, {})[fifo.name, port] = handle

    def _walk(self, fifo: Fifo, dims: Sequence[tuple[int, int]], size: int, *, pads: bool = False) -> Walk:
        """A walk over `size` elements, which it has to cover in number."""
        op = fifo.op
        sizes, strides = tuple(d[0] for d in dims), tuple(d[1] for d in dims)
        padding = tuple((p.before, p.after) for p in op.pads or ()) if pads else ()
        if padding and len(padding) != len(sizes):
            cannot(op, "its padding and its dimensions differ in number")
        total = prod(sizes)
        if sizes and (total > size if padding else total != size):
            cannot(op, f"its dimensions cover {total} elements of {size}")
        return Walk(fifo.width, sizes, strides, padding, op.pad_value if padding else 0)

    # --- links --------------------------------------------------------------------------------------------------------

    def _link(self, link: Link) -> None:
        held = self._held[id(link)] = _Held()
        first = link.inputs[0]
        if link.windows:
            windows = self._windows(link)
            held.windows = (windows, *windows.make(self.schedule, f"the link of @{first.name}"))
            self.parts.append(held.windows[2])
            return
        owner = link.owner
        repeat = link.repeat
        if link.dispatches and repeat > 1:
            cannot(link.op, "it dispatches objects that repeat")
        cuts = link.cuts()
        initial = owner in link.outputs
        held.store = self._store(
            owner, f"the link of @{owner.name}", self.plan.link_depth(link), owner.width, cuts, link.tile,
            initial=initial, repeat=repeat,
        )  # fmt: skip
        if link.merges:
            self._merges[id(link)] = self._merged(link, held.store)

    def _windows(self, link: Link) -> Windows:
        source, out = link.inputs[0], link.outputs[0]
        (count, stride), *inner = [(d.size, d.stride) for d in out.op.dims_to_stream.data]
        size = source.in_size
        if stride % size or out.op.iter_count is not None or out.op.repeat_count is not None:
            cannot(link.op, "its windows do not step by whole objects, or repeat")
        before, after = out.op.pads[0] if out.op.pads else (0, 0)
        height = next((n for n, step in inner if step == size), 1)
        walk = Walk(out.width, tuple(n for n, _ in inner), tuple(step for _, step in inner))
        return Windows(count, stride // size, height, before, after, size * source.width, walk)

    def _merged(self, link: Link, store: Store) -> Sink:
        """The one receiver that all inputs of a merge send to, packet by packet."""
        sink = self._sink(f"the merge into {store.name}")
        sink.read = True
        out = link.outputs[0].op
        passes = None if out.iter_count is None else out.iter_count * (out.repeat_count or 1)
        me = Actor(f"receiver of @{link.outputs[0].name}", span_of(link.op))
        walk = Walk(link.outputs[0].width)
        self.schedule.add(me, receive_objects(self.schedule, me, store, store.parts, walk, passes, sink))
        return sink

    def _dispatch(self, link: Link) -> None:
        """The one sender whose objects go to the outputs in turn."""
        store = self._held[id(link)].store
        assert store is not None
        targets: list[Target] = [(self._turns[id(link)][f.name], None) for f in link.outputs]
        declared = next(f for f in self.plan.fifos.values() if f in link.outputs)
        me = Actor(f"sender of @{link.inputs[0].name}", span_of(link.op))
        walk = Walk(link.inputs[0].width)
        passes = declared.op.iter_count
        self.schedule.add(me, send_objects(self.schedule, me, store, store.parts, walk, passes, targets))

    # --- fifos --------------------------------------------------------------------------------------------------------

    def _in_memory(self, fifo: Fifo) -> None:
        producer, consumer = fifo.producer, fifo.consumers[0]
        if fifo.link is not None:
            store = self._held[id(fifo.link)].store
            assert store is not None
        else:
            store = self._store(
                fifo, f"@{fifo.name}", max(fifo.op.depths), fifo.width, [(0, fifo.out_size)], producer,
                initial=True, refilled=(producer, fifo.name, Port.PRODUCE) in self.plan.used,
            )  # fmt: skip
        self._handle(producer, fifo, Port.PRODUCE, store)
        self._handle(consumer, fifo, Port.CONSUME, store)

    def _shim_name(self, fifo: Fifo) -> str:
        taken = self.aliases.setdefault(fifo.name, [])
        name = f"{fifo.name}_shim_alloc" + (f"_{len(taken) - 1}" if taken else "")
        taken.append(name)
        return name

    def _producer(self, fifo: Fifo) -> None:
        source = self._sources[fifo.name] = Source(f"@{fifo.name}")
        tile, link, op = fifo.producer, fifo.link, fifo.op
        port = fifo.core_port(-1)
        if link is not None and fifo in link.outputs:
            self._out_of_link(fifo, link, source)
        elif self.plan.is_shim(tile):
            self.shim_in[self._shim_name(fifo)] = (fifo, source)
        elif port is not None:
            self.ports.setdefault(tile, ({}, {}))[0][port] = source
        else:
            store = self._store(
                fifo, f"@{fifo.name}", self.plan.producer_depth(fifo), fifo.width, [(0, fifo.out_size)], tile,
                initial=True, repeat=op.repeat_count or 1,
                refilled=(tile, fifo.name, Port.PRODUCE) in self.plan.used,
            )  # fmt: skip
            self._handle(tile, fifo, Port.PRODUCE, store)
            self._sender(fifo, store, store.parts, source, fifo.out_size)

    def packet(self, fifo: Fifo) -> tuple[int, bytes] | None:
        merges = fifo.link is not None and fifo in fifo.link.inputs and fifo.link.merges
        return _PACKET if merges else None

    def _sender(self, fifo: Fifo, store: Store, parts: Sequence[Part], source: Source, size: int) -> None:
        walk = self._walk(fifo, fifo.op.dims_to_stream.data, size, pads=True)
        me = Actor(f"sender of @{fifo.name}", span_of(fifo.op))
        target = (source, self.packet(fifo))
        turn = self._sending.get(fifo.name)
        steps = send_objects(self.schedule, me, store, parts, walk, fifo.op.iter_count, [target], turn)
        self.schedule.add(me, steps)

    def _out_of_link(self, fifo: Fifo, link: Link, source: Source) -> None:
        held = self._held[id(link)]
        if held.windows is not None:
            windows, buffer, part = held.windows
            me = Actor(f"sender of @{fifo.name}", span_of(fifo.op))
            self.schedule.add(me, send_windows(self.schedule, me, windows, buffer, part, source, None))
        elif link.dispatches:
            self._turns.setdefault(id(link), {})[fifo.name] = source
        else:
            store = held.store
            assert store is not None
            parts, size = self._share(link, fifo, store)
            self._sender(fifo, store, parts, source, size)

    def _share(self, link: Link, fifo: Fifo, store: Store) -> tuple[list[Part], int]:
        """The parts a participant moves, and how many elements each of them has."""
        at = link.part_of(fifo)
        parts = store.parts if at is None else [store.parts[at]]
        sizes = {(p.high - p.low) // fifo.width for p in parts}
        has_dims = bool(fifo.op.dims_to_stream.data if fifo in link.outputs else any(fifo.op.dims_from_stream))
        if len(sizes) > 1 and has_dims:
            cannot(fifo.op, "its dimensions are meant for parts of different sizes")
        return parts, min(sizes)

    def _consumer(self, fifo: Fifo, at: int) -> None:
        tile, link, op = fifo.consumers[at], fifo.link, fifo.op
        into = link if link is not None and fifo in link.inputs and tile == link.tile else None
        source = self._sources[fifo.name]
        if into is not None and into.merges:
            sink = self._merges[id(into)]
            source.rules.append(Rule(0, 31, (sink,), (False,), span_of(op)))
            return
        shared = self._receiving.get(fifo.name)
        sink = shared[1] if shared is not None else self._sink(f"@{fifo.name} at {tile}")
        source.circuit.append(sink)
        port = fifo.core_port(at)
        if into is not None:
            self._into_link(fifo, at, into, sink)
        elif self.plan.is_shim(tile):
            name = self._shim_name(fifo)
            self.shim_out[name] = Drain(name, sink)
        elif port is not None:
            self.ports.setdefault(tile, ({}, {}))[1][port] = sink
        else:
            many = len(fifo.consumers) > 1
            name = f"@{fifo.name} at {tile}" if not many else f"@{fifo.name} at {tile} (consumer {at})"
            store = self._store(
                fifo, name, self.plan.consumer_depth(fifo, at), fifo.width, [(0, fifo.in_size)], tile
            )  # fmt: skip
            self._handle(tile, fifo, Port.CONSUME, store)
            self._receiver(fifo, at, store, store.parts, sink, fifo.in_size)

    def _receiver(self, fifo: Fifo, at: int, store: Store, parts: Sequence[Part], sink: Sink, size: int) -> None:
        op = fifo.op
        dims = op.dims_from_stream[at] if at < len(op.dims_from_stream) else ()
        walk = self._walk(fifo, dims, size)
        passes = None if op.iter_count is None else op.iter_count * (op.repeat_count or 1)
        me = Actor(f"receiver {at} of @{fifo.name}", span_of(op))
        sink.read = True
        turn = self._receiving[fifo.name][0] if fifo.name in self._receiving else None
        self.schedule.add(me, receive_objects(self.schedule, me, store, parts, walk, passes, sink, turn))

    def _into_link(self, fifo: Fifo, at: int, link: Link, sink: Sink) -> None:
        held = self._held[id(link)]
        if held.windows is not None:
            windows, buffer, part = held.windows
            sink.read = True
            me = Actor(f"receiver {at} of @{fifo.name}", span_of(fifo.op))
            self.schedule.add(me, receive_rows(self.schedule, me, windows, buffer, part, sink))
        else:
            store = held.store
            assert store is not None
            parts, size = self._share(link, fifo, store)
            self._receiver(fifo, at, store, parts, sink, size)
