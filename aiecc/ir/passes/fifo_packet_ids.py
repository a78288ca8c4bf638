"""`aie-assign-packet-ids`: every packet header on a route gets its id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import PacketInfo, PacketInfoAttr
from aiecc.ir.dialects.aie.dma import DmaStartOp
from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaStartBdChainForOp
from aiecc.ir.fifo.structure import held_ids, structural_order
from aiecc.ir.fifo.view import FifoView
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.report import OpNote, op_error, warning


@dataclass(frozen=True)
class AssignPacketIds(Pass):
    """Pinned ids stay; the other headers get the lowest ids nothing on the device holds, in structural order."""

    name: ClassVar[str] = "aie-assign-packet-ids"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Give every packet header on a route its id"

    packet_sw: bool = option(False, name="packet-sw-objFifos", help="give every route a packet header")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        view = FifoView(op)
        most = op.target.packets.max_id
        wrong = False
        for route in view.routes:
            packet = route.packet
            if packet is not None and packet.pkt_id is not None and packet.pkt_id > most:
                op_error(sink, route, f"pkt_id {packet.pkt_id} is out of range (max {most})")
                wrong = True
        open_routes = [route for route in view.routes if self._wants_id(route)]
        if wrong:
            return
        if open_routes and not _programs_state_headers(view, open_routes, sink):
            _hand_out(view, open_routes, most, sink)
        if not sink.failed:
            _tell_cores(view, sink)

    def _wants_id(self, route: RouteOp) -> bool:
        packet = route.packet
        return self.packet_sw if packet is None else packet.pkt_id is None


def _hand_out(view: FifoView, routes: list[RouteOp], most: int, sink: Sink) -> None:
    held = held_ids(view.device)
    number = 0
    for route in structural_order(view, routes):
        while number in held:
            number += 1
        if number > most:
            notes: list[OpNote] = [(f"id {n} is held here", held[n]) for n in sorted(held) if n <= most]
            op_error(sink, route, "max number of packet IDs reached", notes)
            return
        held[number] = route
        route.properties["packet"] = PacketInfoAttr((route.packet or PacketInfo())._replace(pkt_id=number))


def _tell_cores(view: FifoView, sink: Sink) -> None:
    """Packets out of a core's stream port get no header from a descriptor; without one they lead nowhere."""
    for route in view.routes:
        for end in (view.stream_ends[name] for name in route.sources):
            if route.packet is None or not isinstance(end, RouteEndpointOp) or end.bundle is not WireBundle.CORE:
                continue
            id = route.packet.pkt_id
            text = f"no DMA writes the headers of these packets: the core has to begin each with the header of id {id}"
            warning(sink, route, text, todo="leave the packet header out, and the stream is a circuit")


def _programs_state_headers(view: FifoView, routes: list[RouteOp], sink: Sink) -> bool:
    """Refuse an open id on a route that a program of the design's own feeds: its descriptors state the header."""
    fed = {
        name: route for route in routes for name in route.sources if isinstance(view.stream_ends[name], RouteEndpointOp)
    }
    if not fed:
        return False
    told: set[RouteOp] = set()
    for op in view.device.walk():
        name = None
        if isinstance(op, DmaStartOp):
            name = op.endpoint
        elif isinstance(op, DmaConfigureTaskForOp | DmaStartBdChainForOp) and not _on_record(view, op.alloc):
            name = op.alloc
        route = fed.get(name) if name is not None else None
        if route is None or route in told:
            continue
        told.add(route)
        op_error(
            sink,
            op,
            f"sources a route over @{name} whose packet id is still open; its descriptors have to state that id",
            [("the route is here", route)],
            todo="pin it on the route: packet = #aie.packet_info<pkt_id = N>, with the N the descriptors state",
        )
    return bool(told)


def _on_record(view: FifoView, name: str) -> bool:
    """Whether tasks for an end take its header from the record that the shim end of a fifo gets."""
    end = view.stream_ends.get(name)
    if not isinstance(end, RouteEndpointOp) or end.fifo_name is None:
        return False
    tile = end.tile_op
    return tile is not None and tile.kind is not None and tile.kind.is_shim
