"""`aie-objectfifo-verify`: whether split fifos are complete, and whether cores keep to what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.memory import ExternalBufferOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error

if TYPE_CHECKING:
    from aiecc.ir.fifo.view import FifoView


@dataclass(frozen=True)
class ObjectFifoVerify(Pass):
    """Check what no single op can say: who fills and drains each segment, who is connected, what cores release.

    Changes nothing. A design that supplies an endpoint by hand, as a DMA program, does without this pass.
    """

    name: ClassVar[str] = "aie-objectfifo-verify"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Check that split objectFifos are complete"

    def apply(self, op: Operation, sink: Sink) -> None:
        from aiecc.ir.fifo.view import FifoView

        assert isinstance(op, DeviceOp)
        view = FifoView(op)
        for pool in view.pools.values():
            _check_actors(view, pool, sink)
        dispatching = {end.symbol: end for end in view.dma_ends() if end.dispatch_attr is not None}
        _check_connections(view, dispatching, sink)
        for route in view.routes:
            _check_roles(view, route, sink)
            _check_dispatched(dispatching, route, sink)
            if len(route.sources) > 1:
                _check_fan_in(view, route, sink)
        _check_turns(view, dispatching, sink)
        _check_shared_channels(view, sink)
        _check_cores(view, sink)


# --- actors -----------------------------------------------------------------------------------------------------------


def _check_actors(view: FifoView, pool: ObjectFifoPoolOp, sink: Sink) -> None:
    fills: dict[str, list[Operation]] = {}
    drains: dict[str, list[Operation]] = {}
    for end in view.ends_of(pool):
        side = fills if end.role is Role.FILLS else drains
        for segment in view.segments_of(end):
            side.setdefault(segment.symbol, []).append(end)
    external = _is_external(view, pool)
    for i, segment in enumerate(pool.segments):
        fillers, drainers = fills.get(segment.symbol, []), drains.get(segment.symbol, [])
        for actors, word in ((fillers, "filled"), (drainers, "drained")):
            if len(actors) > 1:
                notes = [("the endpoint is here", actor) for actor in actors]
                op_error(sink, pool, f"segment {i} is {word} by more than one endpoint", notes)
        if not drainers and not (external and fillers):
            op_error(sink, pool, f"segment {i} has no drainer")
        elif not fillers and not (external and drainers) and not _starts_full(view, pool, segment.consume_lock):
            op_error(sink, pool, f"segment {i} has no filler")


def _is_external(view: FifoView, pool: ObjectFifoPoolOp) -> bool:
    """Whether the host is one of the actors."""
    return any(isinstance(view.buffers.get(name), ExternalBufferOp) for name in pool.buffers)


def _starts_full(view: FifoView, pool: ObjectFifoPoolOp, consume_lock: str | None) -> bool:
    """Whether objects are there before anyone fills one. The zeros around a stream are none."""
    if pool.init_values is not None and pool.stream is None:
        return True
    names = [*pool.locks, *([] if consume_lock is None else [consume_lock])]
    return any((view.locks[name].init or 0) > 0 for name in names if name in view.locks)


# --- routes -----------------------------------------------------------------------------------------------------------


def _check_connections(view: FifoView, dispatching: dict[str, DmaEndpointOp], sink: Sink) -> None:
    """Every end is in exactly one route. A dispatching one is the source of several, which are looked at elsewhere."""
    for name, end in view.stream_ends.items():
        named = view.routes_of(name)
        if not named:
            op_error(sink, end, "is not connected by any flow")
        elif len(named) > 1 and not (name in dispatching and all(name in route.sources for route in named)):
            text = f"drives one channel, so at most one flow may name it, but it is named {len(named)} times"
            op_error(sink, end, text, [("it is named here", route) for route in named])


def _check_roles(view: FifoView, route: RouteOp, sink: Sink) -> None:
    for names, role, what in (
        (route.sources, Role.FILLS, "leaves @{}, which fills its pool"),
        (route.destinations, Role.DRAINS, "reaches @{}, which drains its pool"),
    ):
        for name in names:
            end = view.stream_ends.get(name)
            if isinstance(end, DmaEndpointOp) and end.role is role:
                op_error(sink, route, f"{what.format(name)}; a route leads from draining endpoints to filling ones")


def _check_dispatched(dispatching: dict[str, DmaEndpointOp], route: RouteOp, sink: Sink) -> None:
    for name in route.sources:
        end = dispatching.get(name)
        if end is None:
            continue
        if len(route.sources) != 1 or len(route.destinations) != 1:
            text = f"leaves dispatching endpoint @{name} for one destination, so it has one source and one destination"
            op_error(sink, route, text)
        elif route.packet is None:
            text = f"leaves dispatching endpoint @{name} and needs a packet header to tell its turns apart"
            op_error(sink, route, text)
        elif route.destinations[0] not in end.dispatch:
            text = f"reaches @{route.destinations[0]}, which dispatching endpoint @{name} never takes a turn for"
            op_error(sink, route, text)


def _check_turns(view: FifoView, dispatching: dict[str, DmaEndpointOp], sink: Sink) -> None:
    for name, end in dispatching.items():
        reached = {d for route in view.routes_of(name) if name in route.sources for d in route.destinations}
        for destination in dict.fromkeys(end.dispatch):
            if destination not in reached:
                op_error(sink, end, f"dispatches to @{destination}, but no route from it reaches there")


def _check_shared_channels(view: FifoView, sink: Sink) -> None:
    """Only the order tells apart what one channel moves for several ends, so their partners keep the same order.

    Told once for all ends of a channel.
    """
    from aiecc.ir.fifo.amounts import object_amount
    from aiecc.ir.fifo.periods import shortest

    told: set[str] = set()
    for end in view.dma_ends():
        if set(end.turns) <= {end.symbol} or end.symbol in told:
            continue
        routed = [view.stream_ends[name] for name in dict.fromkeys(end.turns) if view.routes_of(name)]
        partners = {one.symbol: _partner(view, one) for one in routed}
        alone = next((one for one in routed if partners[one.symbol] is None), None)
        other = partners.get(end.symbol)
        order = tuple(found.symbol for name in end.turns if (found := partners.get(name)) is not None)
        if alone is not None:
            text = "takes turns on its channel, so one circuit route joins it to one DMA endpoint"
            named = view.routes_of(alone.symbol)
            op_error(sink, alone, text, [("its route is here", route) for route in named])
            told.update(name for route in named for name in (*route.sources, *route.destinations))
        elif other is not None and shortest(other.turns) != shortest(order):
            text = f"takes turns on its channel, but @{other.symbol} at the other end of its route takes other turns"
            op_error(sink, end, text, [("the other end is here", other)])
        elif other is not None and other.pool in view.pools and end.pool in view.pools:
            mine, theirs = (object_amount(one, view.segments_of(one)) for one in (end, other))
            if mine == theirs:
                continue
            text = (
                "takes turns on its channel, so both ends move objects of the same size, but "
                f"@{end.symbol} moves {mine} elements and @{other.symbol} moves {theirs}"
            )
            op_error(sink, end, text, [("the other end is here", other)])
        else:
            continue
        told.update(end.turns)
        told.update(found.symbol for found in partners.values() if found is not None)


def _partner(view: FifoView, end: Operation) -> DmaEndpointOp | None:
    """The endpoint that one circuit joins to `end` alone."""
    assert isinstance(end, DmaEndpointOp)
    routes = view.routes_of(end.symbol)
    names = [name for route in routes for name in (*route.sources, *route.destinations) if name != end.symbol]
    other = view.stream_ends.get(names[0]) if len(routes) == 1 and len(names) == 1 else None
    return other if isinstance(other, DmaEndpointOp) and routes[0].packet is None else None


def _check_fan_in(view: FifoView, route: RouteOp, sink: Sink) -> None:
    """A packet is one pass of its sender's chain: a shorter one would leave two senders in one object."""
    from aiecc.ir.fifo.amounts import object_amount

    first: tuple[str, int] | None = None
    for name in (*route.sources, *route.destinations):
        end = view.stream_ends.get(name)
        if not isinstance(end, DmaEndpointOp) or end.pool not in view.pools:
            continue
        amount = object_amount(end, view.segments_of(end))
        if first is None:
            first = name, amount
        elif amount != first[1]:
            text = (
                f"fans in, so every end moves one object of the same size, but @{first[0]} moves {first[1]} elements "
                f"and @{name} moves {amount}"
            )
            op_error(sink, route, text)
            return


# --- cores ------------------------------------------------------------------------------------------------------------


def _check_cores(view: FifoView, sink: Sink) -> None:
    from aiecc.ir.dialects.aie.access import ObjectFifoReleaseOp
    from aiecc.ir.fifo.budgets import overspent
    from aiecc.ir.fifo.overrelease import over_releases

    cores = [op for op in view.device.block.ops if isinstance(op, CoreOp)]
    for core in cores:
        for place in over_releases(core):
            op_error(sink, place, "cannot release more elements than are already acquired")
    releases = (op for core in cores for op in core.walk() if isinstance(op, ObjectFifoReleaseOp))
    for found in overspent(view, releases):
        depth = view.pools[found.end.pool].depth
        text = (
            f"releases {found.released} objects through @{found.end.symbol} over the run, but the pool's DMA endpoint "
            f"stops after {found.budget} (iterCount {found.dma.iter_count} x depth {depth}), so the core would wait "
            "forever for the rest"
        )
        op_error(sink, found.at, text, [("the DMA endpoint is here", found.dma)])
