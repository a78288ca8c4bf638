"""A device's split objectFifos, looked up by name instead of searched for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.memory import BufferOp, ExternalBufferOp, LockOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, Endpoint, ObjectFifoPoolOp, ObjectFifoSegmentOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike, tile_like

StreamEnd: TypeAlias = DmaEndpointOp | RouteEndpointOp
"""What a route may name."""


class FifoView:
    """What one device holds of pools, endpoints, routes, buffers and locks, in device order.

    A snapshot made by one walk over the device's own block: make a new one after ops were added or erased.
    Attributes of the ops are read live.
    """

    def __init__(self, device: DeviceOp) -> None:
        self.device = device
        self.target = device.target
        self.pools: dict[str, ObjectFifoPoolOp] = {}
        self.core_ends: dict[str, CoreEndpointOp] = {}
        self.stream_ends: dict[str, StreamEnd] = {}
        self.routes: list[RouteOp] = []
        self.buffers: dict[str, BufferOp | ExternalBufferOp] = {}
        self.locks: dict[str, LockOp] = {}
        for op in device.block.ops:
            if isinstance(op, ObjectFifoPoolOp):
                self.pools[op.symbol] = op
            elif isinstance(op, CoreEndpointOp):
                self.core_ends[op.symbol] = op
            elif isinstance(op, DmaEndpointOp | RouteEndpointOp):
                self.stream_ends[op.symbol] = op
            elif isinstance(op, RouteOp):
                self.routes.append(op)
            elif isinstance(op, BufferOp | ExternalBufferOp):
                if op.symbol:
                    self.buffers[op.symbol] = op
            elif isinstance(op, LockOp) and op.symbol:
                self.locks[op.symbol] = op
        self._on: dict[str, list[CoreEndpointOp | DmaEndpointOp]] = {}
        for end in (*self.core_ends.values(), *self.stream_ends.values()):
            if isinstance(end, CoreEndpointOp | DmaEndpointOp):
                self._on.setdefault(end.pool, []).append(end)
        self._named: dict[str, list[RouteOp]] = {}
        for route in self.routes:
            for name in (*route.sources, *route.destinations):
                self._named.setdefault(name, []).append(route)

    def dma_ends(self) -> Iterator[DmaEndpointOp]:
        """The DMA endpoints, in device order."""
        return (end for end in self.stream_ends.values() if isinstance(end, DmaEndpointOp))

    def ends_of(self, pool: ObjectFifoPoolOp) -> list[CoreEndpointOp | DmaEndpointOp]:
        """Who fills or drains a pool: core endpoints first, then DMA endpoints, each in device order."""
        return self._on.get(pool.symbol, [])

    def pool_of(self, end: Endpoint) -> ObjectFifoPoolOp:
        """The pool an endpoint names. Verified IR has one; KeyError otherwise."""
        return self.pools[end.pool]

    def segments_of(self, end: Endpoint) -> list[ObjectFifoSegmentOp]:
        """The segments an endpoint selects, by increasing offset; all of the pool's where it lists none."""
        segments = self.pool_of(end).segments
        if "segments" not in end.properties:
            return segments
        chosen = set(end.segments)
        return [segment for segment in segments if segment.symbol in chosen]

    def routes_of(self, end: str) -> list[RouteOp]:
        """The routes that name a stream end, on either side, in device order."""
        return self._named.get(end, [])

    def sends(self, end: StreamEnd) -> bool:
        """Whether an end puts data on the stream (MM2S): a DMA endpoint by its role, another by its side of a route."""
        if isinstance(end, DmaEndpointOp):
            return end.role is Role.DRAINS
        return any(end.symbol in route.sources for route in self.routes_of(end.symbol))


def place_of(tile: SSAValue) -> Hashable:
    """What two operands for one tile have in common: coordinates where they are known, else the tile op itself."""
    found = tile_like(tile)
    if found is None:
        return tile
    return found.coord if found.coord is not None else found


def tile_text(tile: TileLike | None) -> str:
    """`tile(col, row)` for messages; a logical tile by its kind."""
    if tile is None:
        return "a tile"
    if tile.coord is not None:
        return f"tile({tile.coord[0]}, {tile.coord[1]})"
    return f"a logical {tile.kind.value if tile.kind is not None else ''} tile"


def names_in(device: DeviceOp) -> set[str]:
    """Every symbol the device's own block declares: what a new name must not be."""
    found: set[str] = set()
    for op in device.block.ops:
        name = op.properties.get("sym_name", op.attributes.get("sym_name"))
        text = getattr(name, "data", None)
        if isinstance(text, str):
            found.add(text)
    return found


def fresh_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or `wanted_0`, `wanted_1`, .. where that is taken; the answer is entered into `taken`."""
    name, n = wanted, 0
    while name in taken:
        name, n = f"{wanted}_{n}", n + 1
    taken.add(name)
    return name


def put_before(op: Operation, new: Operation) -> None:
    """Insert `new` right before `op`."""
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
