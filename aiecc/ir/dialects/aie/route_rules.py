"""What makes a route or one of its open ends wrong."""

from __future__ import annotations

from collections import Counter

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.headers import verify_header
from aiecc.ir.dialects.aie.named import find_named
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, device_of
from aiecc.ir.memo import remembered

ENDS = (WireBundle.DMA, WireBundle.PLIO, WireBundle.CORE)


def _mentions(op: Operation) -> Counter[str]:
    """How often the routes of a device name each endpoint, on either side."""
    device = device_of(op)
    if device is None:
        return Counter()
    return remembered(("mentions", device), lambda: _count(device))


def _count(device: DeviceOp) -> Counter[str]:
    routes = (op for op in device.block.ops if isinstance(op, RouteOp))
    return Counter(name for route in routes for name in (*route.sources, *route.destinations))


def _is_end(op: Operation, name: str) -> bool:
    return (find_named(op, name, DmaEndpointOp) or find_named(op, name, RouteEndpointOp)) is not None


def verify_route_endpoint(op: RouteEndpointOp) -> None:
    tile = op.tile_op
    if tile is None:
        raise op.error("tile operand is not an aie.tile or aie.logical_tile")
    verify_header(op, "packet", op.packet_attr)
    used = _mentions(op)[op.symbol]
    if used > 1:
        raise op.error(f"drives one channel, so at most one flow may name it, but it is named {used} times")
    if op.bundle not in ENDS:
        raise op.error("bundle must be DMA, PLIO or Core")
    if op.bundle is WireBundle.PLIO and tile.kind is not None and not tile.kind.is_shim:
        raise op.error("a PLIO end is on a shim")


def verify_route(op: RouteOp) -> None:
    sources, destinations = op.sources, op.destinations
    if not sources:
        raise op.error("expects at least one source")
    if not destinations:
        raise op.error("expects at least one destination")
    met: set[str] = set()
    for name in sources:
        if not _is_end(op, name):
            raise op.error(f"source '{name}' is not an endpoint")
        if name in met:
            raise op.error(f"names '@{name}' as a source twice")
        met.add(name)
    for name in destinations:
        if not _is_end(op, name):
            raise op.error(f"destination '{name}' is not an endpoint")
        if name in met:
            raise op.error(f"names '@{name}' more than once; an end is a source or a destination, and only one of each")
        met.add(name)
    if len(sources) > 1 and op.packet_attr is None:
        raise op.error("has several sources, so it needs a `packet` header; a circuit cannot merge streams")
