"""What a design is apart from how it was written down: an order of its routes, and the packet ids it holds.

`structural_order` is the order in which routes get packet ids. It depends on the design alone: on tiles, pools,
access patterns and how things are connected, never on a symbol's name or on which op was declared first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.flows import PacketFlowOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, int_or, tile_like
from aiecc.ir.dialects.aie.trace import TraceOp, TracePacketOp
from aiecc.ir.fifo.symbols import symbols_in
from aiecc.ir.fifo.view import FifoView, StreamEnd

Key = tuple[Any, ...]

# --- packet ids -------------------------------------------------------------------------------------------------------


def held_ids(device: DeviceOp) -> dict[int, Operation]:
    """The packet ids that something on the device holds, each with the first op that holds it.

    Holders are packet flows (every id their mask lets through), headers on routes, on allocated ends and on shim
    records, pinned headers of objectFifos not yet split, and trace packets. Whoever hands out ids asks here.
    """
    held: dict[int, Operation] = {}
    most = device.target.packets.max_id
    for op in device.block.ops:
        for number in _ids_of(op, most):
            held.setdefault(number, op)
    return held


def _ids_of(op: Operation, most: int) -> Iterator[int]:
    if isinstance(op, PacketFlowOp):
        # An i8 prints signed; the header field is unsigned.
        wanted, mask = op.id & 0xFF, op.mask
        if mask is None:
            yield wanted
        else:
            yield from (n for n in range(most + 1) if n & mask == wanted & mask)
    elif isinstance(op, TraceOp):
        yield from (n for inner in op.walk() if isinstance(inner, TracePacketOp) and (n := inner.id) is not None)
    else:
        headers = []
        if isinstance(op, ObjectFifoOp):
            headers = [op.transport.packet]
        elif isinstance(op, DmaEndpointOp):
            headers = [op.packet, *op.dispatch_packets]
        elif isinstance(op, RouteOp | RouteEndpointOp | ShimDmaAllocationOp):
            headers = [op.packet]
        yield from (h.pkt_id for h in headers if h is not None and h.pkt_id is not None)


# --- the order of routes ----------------------------------------------------------------------------------------------


def structural_order(view: FifoView, routes: Iterable[RouteOp]) -> list[RouteOp]:
    """Some of the device's routes, in an order that is a function of the design alone.

    First come, as one would write them down: the source's column, row and port, its turn of a dispatch and its part
    of the object, then the same of the destinations, then what the pools and access patterns at both ends look like,
    then where cores, programs and sequences first mention the ends and their pools. What is still equal is told apart
    by everything the ends and pools are connected to, however far away.

    Routes equal in that, too, can be exchanged for one another without changing the design. Only between them does
    the order of declaration decide, which is harmless: whichever comes first, the designs that result differ in
    nothing but names. Once one of them is taken, the rest of its own surroundings is told apart from its twins'.
    """
    chosen = list(routes)
    keys = {route: _natural_key(view, route) for route in chosen}
    if len(set(keys.values())) == len(chosen):
        return sorted(chosen, key=keys.__getitem__)
    graph = _graph_of(view)
    keys = {route: (key, graph.mentions(view, route)) for route, key in keys.items()}
    graph.number()
    alike: dict[Key, list[RouteOp]] = {}
    for route in chosen:
        alike.setdefault((keys[route], graph.number_of[route]), []).append(route)
    graph.tell_apart([group for group in alike.values() if len(group) > 1])

    def key(route: RouteOp) -> Key:
        return (keys[route], *graph.place(route))

    rest = sorted(chosen, key=key)
    done: list[RouteOp] = []
    while rest:
        first = rest.pop(0)
        done.append(first)
        if rest and key(rest[0]) == key(first):
            graph.mark(first, len(done))
            rest.sort(key=key)
    return done


def _natural_key(view: FifoView, route: RouteOp) -> Key:
    sources = [view.stream_ends[name] for name in route.sources]
    dests = [view.stream_ends[name] for name in route.destinations]
    turn = min(
        (
            source.dispatch.index(name)
            for source in sources
            if isinstance(source, DmaEndpointOp)
            for name in route.destinations
            if name in source.dispatch
        ),
        default=-1,
    )
    return (
        tuple(sorted(_place(end) for end in sources)),
        turn,
        tuple(sorted(_part(view, end) for end in sources)),
        tuple(sorted(_place(end) for end in dests)),
        tuple(sorted(_part(view, end) for end in dests)),
        tuple(sorted((_place(end), _shape(view, end)) for end in sources)),
        tuple(sorted((_place(end), _shape(view, end)) for end in dests)),
        route.packet.pkt_type if route.packet is not None else 0,
    )


def _place(end: StreamEnd) -> Key:
    bundle = end.bundle if isinstance(end, RouteEndpointOp) else WireBundle.DMA
    channel = end.channel_index
    return (*_tile_key(end.tile), int(bundle), -1 if channel is None else channel)


def _tile_key(value: SSAValue) -> Key:
    """Placed tiles by column and row, then unplaced ones by what is known of them."""
    tile = tile_like(value)
    if tile is None:
        return (2, -1, -1, "")
    if tile.coord is not None:
        return (0, *tile.coord, "")
    kind = tile.kind.value if tile.kind is not None else ""
    return (1, int_or(tile.properties.get("col")), int_or(tile.properties.get("row")), kind)


def _part(view: FifoView, end: StreamEnd) -> Key:
    """Which part of the object an end moves."""
    if isinstance(end, RouteEndpointOp):
        return ()
    return tuple((segment.offset, segment.size) for segment in view.segments_of(end))


def _shape(view: FifoView, end: StreamEnd) -> Key:
    """What an end and its pool look like, connections and names left out."""
    if isinstance(end, RouteEndpointOp):
        return (0, "", _plain(end))
    pool = view.pool_of(end)
    return (pool.depth, str(pool.elem_type_attr), _plain(end), _plain(pool))


def _plain(op: Operation) -> Key:
    """An op's attributes as text: without its names and without what it refers to."""
    both: dict[str, Attribute] = {**op.attributes, **op.properties}
    return tuple(
        (key, str(attr))
        for key, attr in sorted(both.items())
        if key not in _NAMES and next(symbols_in(attr), None) is None
    )


_NAMES = ("sym_name", "fifoName")


# --- telling apart by surroundings ------------------------------------------------------------------------------------

_PATIENCE = 200_000
"""How many visits of one op `tell_apart` may cost. Beyond, what refinement left equal counts as exchangeable."""


@dataclass
class _Graph:
    """Ops as a graph with labelled edges, told apart by their labels and by what they are connected to.

    number_of: the same for ops that look alike, in an order that follows from labels and edges alone.
    color: finer still, since marks were set: a digest of structure, so that unconnected parts can be compared.
    touched: the first mark set in the part of the design that an op belongs to.
    uses: the steps at which cores, programs and sequences name an op.
    """

    around: dict[Operation, list[tuple[Key, Operation]]] = field(default_factory=dict[Any, Any])
    labels: dict[Operation, Key] = field(default_factory=dict[Any, Any])
    number_of: dict[Operation, int] = field(default_factory=dict[Any, Any])
    color: dict[Operation, bytes] = field(default_factory=dict[Any, Any])
    touched: dict[Operation, int] = field(default_factory=dict[Any, Any])
    uses: dict[Operation, list[int]] = field(default_factory=dict[Any, Any])

    def add(self, op: Operation, *, on: Key = (), does: bytes = b"") -> None:
        """on: the key of its tile, does: a digest of what it does."""
        self.around[op] = []
        self.labels[op] = (op.name, on, _plain(op), does)

    def link(self, a: Operation, b: Operation, label: str, *numbers: int) -> None:
        self.around[a].append(((">", label, *numbers), b))
        self.around[b].append((("<", label, *numbers), a))

    def number(self) -> None:
        """Number the ops by their labels, then by their neighbours' numbers until that shows nothing new."""
        keys: dict[Operation, Key] = dict(self.labels)
        classes = 0
        while True:
            order = {key: i for i, key in enumerate(sorted(set(keys.values())))}
            self.number_of = {op: order[key] for op, key in keys.items()}
            if len(order) == classes:
                break
            classes = len(order)
            keys = {
                op: (number, tuple(sorted((label, self.number_of[other]) for label, other in self.around[op])))
                for op, number in self.number_of.items()
            }
        self.color = {op: _digest(number) for op, number in self.number_of.items()}

    def place(self, op: Operation) -> Key:
        """Where an op stands among those with equal keys."""
        return (self.number_of[op], self.touched.get(op, len(self.around)), self.color[op])

    def mentions(self, view: FifoView, route: RouteOp) -> Key:
        """At which steps of a core, a program or a sequence the two sides of a route are first named."""
        sides: list[list[int]] = []
        for names in (route.sources, route.destinations):
            ends = [view.stream_ends[name] for name in names]
            pools = [view.pool_of(end) for end in ends if isinstance(end, DmaEndpointOp)]
            ops = [*ends, *pools, *(end for pool in pools for end in view.ends_of(pool))]
            sides.append(sorted(step for op in dict.fromkeys(ops) for step in self.uses.get(op, ())))
        return tuple(tuple(side) for side in sides)

    def refine(self, ops: Iterable[Operation]) -> None:
        """Tell ops apart by their neighbours' colours until that shows nothing new."""
        ops = list(ops)
        classes = len({self.color[op] for op in ops})
        while True:
            new = {
                op: _digest((self.color[op], sorted((label, self.color[other]) for label, other in self.around[op])))
                for op in ops
            }
            self.color.update(new)
            now = len(set(new.values()))
            if now == classes:
                return
            classes = now

    def part_of(self, op: Operation) -> list[Operation]:
        """Everything connected to an op, itself included."""
        found = {op: None}
        waiting = [op]
        while waiting:
            for _, other in self.around[waiting.pop()]:
                if other not in found:
                    found[other] = None
                    waiting.append(other)
        return list(found)

    def mark(self, op: Operation, mark: int) -> None:
        """Make an op one of a kind, and what lies around it with it. Mark 0 is for a look only."""
        part = self.part_of(op)
        self.color[op] = _digest((self.color[op], mark))
        self.refine(part)
        if mark:
            for other in part:
                self.touched.setdefault(other, mark)

    def tell_apart(self, groups: Sequence[Sequence[RouteOp]]) -> None:
        """Look from each equal route at all that is connected to it: rings of different length look alike closer by."""
        spent = 0
        seen: dict[Operation, bytes] = {}
        for group in groups:
            for route in group:
                part = self.part_of(route)
                spent += len(part)
                if spent > _PATIENCE:
                    return
                before = {op: self.color[op] for op in part}
                self.mark(route, 0)
                seen[route] = _digest(sorted(self.color[op] for op in part))
                self.color.update(before)
        self.color.update(seen)
        self.refine(self.around)


def _digest(value: object) -> bytes:
    return hashlib.blake2b(repr(value).encode(), digest_size=12).digest()


def _graph_of(view: FifoView) -> _Graph:
    graph = _Graph()
    named: dict[str, list[tuple[str, Operation]]] = {}
    ends = (*view.core_ends.values(), *view.stream_ends.values())
    for op in (*view.pools.values(), *ends, *view.buffers.values(), *view.locks.values()):
        graph.add(op, on=_tile_key(op.operands[0]) if op.operands else ())
        named.setdefault(_text(op, "sym_name"), []).append(("", op))
        if "fifoName" in op.properties:
            named.setdefault(_text(op, "fifoName"), []).append(("fifo ", op))
    for op in (*view.pools.values(), *ends):
        _link_tile(graph, op)
    for route in view.routes:
        graph.add(route)
        for name in route.sources:
            graph.link(view.stream_ends[name], route, "from")
        for name in route.destinations:
            graph.link(route, view.stream_ends[name], "to")
    for pool in view.pools.values():
        for end in view.ends_of(pool):
            graph.link(end, pool, "works", *(segment.offset for segment in view.segments_of(end)))
    known = set(graph.around)
    for op in view.device.block.ops:
        if op in known:
            if not isinstance(op, RouteOp):
                _link_names(graph, named, op)
        elif op.regions:
            _link_body(graph, named, op)
    return graph


def _attributes(op: Operation) -> list[tuple[str, Attribute]]:
    return sorted((*op.properties.items(), *op.attributes.items()), key=lambda entry: entry[0])


def _text(op: Operation, name: str) -> str:
    return getattr(op.properties.get(name), "data", "")


def _link_tile(graph: _Graph, op: Operation) -> None:
    """Ops on one unplaced tile belong together; a placed tile's coordinates say so already."""
    tile = tile_like(op.operands[0])
    if tile is not None and tile.coord is None:
        if tile not in graph.around:
            graph.add(tile)
        graph.link(op, tile, "tile")


def _link_names(graph: _Graph, named: dict[str, list[tuple[str, Operation]]], op: Operation) -> None:
    """Link an op to what it, or an op inside it, refers to by name."""
    for step, inner in enumerate(op.walk()):
        for key, attr in _attributes(inner):
            if key in ("pool", "segments"):
                continue
            for i, name in enumerate(symbols_in(attr)):
                for kind, other in named.get(name, ()):
                    graph.link(op, other, kind + key, step, i)


def _link_body(graph: _Graph, named: dict[str, list[tuple[str, Operation]]], top: Operation) -> None:
    """A core, a DMA program or a sequence: what it does, and at which step it names which end."""
    numbers: dict[SSAValue, int] = {}
    steps: list[Key] = []
    uses: list[tuple[int, Operation]] = []
    for i, op in enumerate(top.walk()):
        for region in op.regions:
            for block in region.blocks:
                for arg in block.args:
                    numbers[arg] = len(numbers)
        steps.append((op.name, _plain(op), [numbers.get(value, -1) for value in op.operands]))
        for result in op.results:
            numbers[result] = len(numbers)
        if any(name in named for a in (*op.properties.values(), *op.attributes.values()) for name in symbols_in(a)):
            uses.append((i, op))
    if not uses:
        return
    on = _tile_key(top.operands[0]) if top.operands else ()
    graph.add(top, on=on, does=_digest(steps))
    if top.operands:
        _link_tile(graph, top)
    for i, op in uses:
        for key, attr in _attributes(op):
            for j, name in enumerate(symbols_in(attr)):
                for kind, other in named.get(name, ()):
                    graph.link(top, other, kind + key, i, j)
                    graph.uses.setdefault(other, []).append(i)
