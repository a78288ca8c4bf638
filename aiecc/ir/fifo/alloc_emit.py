"""A plan put into the IR."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DenseResourceAttr, IntegerAttr, SymbolRefAttr
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.attrs import PacketInfoAttr, symbols
from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.flows import FlowOp, PacketDestOp, PacketFlowOp, PacketSourceOp, Port
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.tiles import TileLike, TileOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.fifo.alloc_facts import Facts, Place, base_name, coordinates
from aiecc.ir.fifo.alloc_locks import LockUnit
from aiecc.ir.fifo.alloc_plan import Plan
from aiecc.ir.fifo.view import StreamEnd, fresh_name, place_of, put_before
from aiecc.ir.spans import copy_span


class Emitter:
    """Makes the buffers, locks and flows of a plan and enters them where the pools and endpoints name them."""

    def __init__(self, facts: Facts, plan: Plan) -> None:
        self._facts = facts
        self._plan = plan
        self._names = set(facts.names)
        self._tiles = dict(facts.tiles)
        self._last: dict[Operation, Operation] = {}

    @property
    def names(self) -> set[str]:
        """The device's symbols so far."""
        return self._names

    # -- buffers and locks -----------------------------------------------------------------------

    def storage(self) -> None:
        """Give every pool its buffers and locks, each below the tile that holds it."""
        for pool in self._plan.storage.order:
            homes = self._plan.storage.homes.get(pool.symbol)
            if homes is not None:
                self._buffers(pool, homes)
            units = self._plan.storage.units.get(pool.symbol, [])
            for unit, place in units:
                self._locks(unit, place)

    def _buffers(self, pool: ObjectFifoPoolOp, homes: Sequence[Place]) -> None:
        values = () if pool.init_values is None else pool.init_values.data
        made: list[str] = []
        for i, place in enumerate(homes):
            name = fresh_name(f"{base_name(pool)}_buff_{i}", self._names)
            value = values[i] if i < len(values) else None
            assert value is None or isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr)
            tile = self._tile(pool, place)
            self._below(tile, BufferOp(tile.results[0], pool.elem_type, name, initial_value=value), pool)
            made.append(name)
        pool.properties["buffers"] = ArrayAttr(symbols(*made))

    def _locks(self, unit: LockUnit, place: Place) -> None:
        pool, base = unit.pool, base_name(unit.pool)
        if unit.segment is None:
            names = [self._lock(f"{base}_lock_{i}", pool, place, init) for i, init in enumerate(unit.inits)]
            pool.properties["locks"] = ArrayAttr(symbols(*names))
            return
        for key, word, init in zip(("produceLock", "consumeLock"), ("prod", "cons"), unit.inits, strict=True):
            name = self._lock(f"{base}_{word}_lock_{unit.index}", pool, place, init)
            unit.segment.properties[key] = SymbolRefAttr(name)

    def _lock(self, wanted: str, pool: ObjectFifoPoolOp, place: Place, init: int) -> str:
        name = fresh_name(wanted, self._names)
        tile = self._tile(pool, place)
        self._below(tile, LockOp(tile.results[0], init=init, name=name), pool)
        return name

    def _tile(self, pool: ObjectFifoPoolOp, place: Place) -> TileLike:
        """The op for a place: the pool's own for its home, else the device's first, else a new one."""
        home = pool.tile_op
        if home is not None and place_of(pool.tile) == place:
            return home
        tile = self._tiles.get(place)
        if tile is None:
            tile = TileOp(*coordinates(place))
            copy_span(pool, tile)
            last = list(self._tiles.values())[-1]
            assert last.parent is not None
            last.parent.insert_op_after(tile, self._last.get(last, last))
            self._tiles[place] = tile
        return tile

    def _below(self, tile: TileLike, op: Operation, origin: Operation) -> None:
        copy_span(origin, op)
        assert tile.parent is not None
        tile.parent.insert_op_after(op, self._last.get(tile, tile))
        self._last[tile] = op

    # -- channels and flows ----------------------------------------------------------------------

    def channels(self) -> None:
        """Write every endpoint's channel, and the turns that endpoints take on one."""
        ends = self._facts.view.stream_ends
        for name, channel in self._plan.channels.of.items():
            ends[name].properties["channelIndex"] = IntegerAttr(channel, I32)
        for name, order in self._plan.turns.items():
            ends[name].properties["turns"] = ArrayAttr(symbols(*order))

    def flows(self) -> None:
        """Put a flow in the place of every route, and headers on the endpoints that send packets."""
        headers: dict[str, dict[str, PacketInfoAttr]] = {}
        met: set[tuple[Place, Port, Place, Port]] = set()
        for route in self._facts.view.routes:
            packet = route.packet_attr
            if isinstance(packet, PacketInfoAttr):
                self._packets(route, packet, headers)
            else:
                self._circuit(route, met)
            route.detach()
            route.erase()
        for name, by_destination in headers.items():
            end = self._facts.view.stream_ends[name]
            assert isinstance(end, DmaEndpointOp)
            listed = [by_destination[destination] for destination in end.dispatch if destination in by_destination]
            if len(listed) == len(end.dispatch):
                end.properties["dispatchPackets"] = ArrayAttr(listed)

    def _circuit(self, route: RouteOp, met: set[tuple[Place, Port, Place, Port]]) -> None:
        source = self._facts.view.stream_ends[route.sources[0]]
        for name in route.destinations:
            end = self._facts.view.stream_ends[name]
            if isinstance(source, DmaEndpointOp) and source.turns:
                # One flow carries all that take turns.
                key = place_of(source.tile), _port(source), place_of(end.tile), _port(end)
                if key in met:
                    continue
                met.add(key)
            flow = FlowOp(source.tile, _port(source), end.tile, _port(end))
            copy_span(route, flow)
            put_before(route, flow)

    def _packets(self, route: RouteOp, packet: PacketInfoAttr, headers: dict[str, dict[str, PacketInfoAttr]]) -> None:
        ends = self._facts.view.stream_ends
        sources = [ends[name] for name in route.sources]
        inner: list[Operation] = [PacketSourceOp(end.tile, _port(end)) for end in sources]
        inner += [PacketDestOp(ends[name].tile, _port(ends[name])) for name in route.destinations]
        assert packet.data.pkt_id is not None
        flow = PacketFlowOp(packet.data.pkt_id, inner)
        copy_span(route, flow, *flow.walk())
        put_before(route, flow)
        for end in sources:
            if isinstance(end, DmaEndpointOp) and end.dispatch:
                headers.setdefault(end.symbol, {}).update((name, packet) for name in route.destinations)
            else:
                end.properties["packet"] = packet


def _port(end: StreamEnd) -> Port:
    bundle = end.bundle if isinstance(end, RouteEndpointOp) else WireBundle.DMA
    channel = end.channel_index
    assert channel is not None
    return Port(bundle, channel)


def at_end(facts: Facts, op: Operation, origin: Operation) -> None:
    """Insert an op before the device's terminator."""
    copy_span(origin, op)
    last = facts.device.block.last_op
    assert last is not None
    put_before(last, op)
