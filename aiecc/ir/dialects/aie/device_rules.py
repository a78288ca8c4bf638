"""Rules about a device as a whole: what may stand on it once, what ports may carry, who may have which name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolOpInterface

from aiecc.ir.dialects.aie.cores import CoreOp, DmaProgram
from aiecc.ir.dialects.aie.dma import DmaOp
from aiecc.ir.dialects.aie.flow_rules import ALL_ID_BITS
from aiecc.ir.dialects.aie.flows import FlowOp, PacketFlowOp, Port
from aiecc.ir.dialects.aie.memory import BufferOp, ExternalBufferOp, LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.errors import VerifyError

End = tuple[tuple[int, int], Port]
Ends = frozenset[End | None]


def verify_device(device: DeviceOp) -> None:
    _verify_cores(device)
    flows = [op for op in device.block.ops if isinstance(op, FlowOp)]
    packets = [op for op in device.block.ops if isinstance(op, PacketFlowOp)]
    _verify_duplicate_flows(flows)
    _verify_duplicate_packets(packets)
    _verify_shared_ports(flows, packets)
    _verify_names(device)


def _verify_cores(device: DeviceOp) -> None:
    met: dict[tuple[int, int], CoreOp] = {}
    for op in device.block.ops:
        tile = op.tile.owner if isinstance(op, CoreOp) else None
        coord = tile.coord if isinstance(tile, TileLike) else None
        if coord is None or not isinstance(op, CoreOp):
            continue
        first = met.setdefault(coord, op)
        if first is not op:
            col, row = coord
            raise VerifyError(
                f"tile ({col}, {row}) already has a core; each compute tile can host only one core",
                op,
                [("the other core is here", first)],
            )


def _end(tile: TileLike | None, port: Port) -> End | None:
    """A port of a placed tile; None while its place is open."""
    return None if tile is None or tile.coord is None else (tile.coord, port)


def end_text(end: End) -> str:
    (col, row), port = end
    return f"({col}, {row}) {port}"


def _ends(flow: FlowOp) -> tuple[End | None, End | None]:
    return _end(flow.source_tile, flow.source_port), _end(flow.dest_tile, flow.dest_port)


def _verify_duplicate_flows(flows: Iterable[FlowOp]) -> None:
    met: dict[tuple[End, End], FlowOp] = {}
    for flow in flows:
        source, dest = _ends(flow)
        if source is None or dest is None:
            continue
        first = met.setdefault((source, dest), flow)
        if first is not flow:
            raise VerifyError(
                f"duplicates an earlier flow; {end_text(source)} -> {end_text(dest)} is already declared",
                flow,
                [("the other flow is here", first)],
            )


def _packet_ends(flow: PacketFlowOp) -> tuple[Ends, Ends]:
    return (
        frozenset(_end(op.tile_op, op.port) for op in flow.sources),
        frozenset(_end(op.tile_op, op.port) for op in flow.dests),
    )


def _verify_duplicate_packets(flows: Iterable[PacketFlowOp]) -> None:
    met: dict[tuple[int, int, Ends, Ends], PacketFlowOp] = {}
    for flow in flows:
        if not flow.ports.blocks:
            continue
        sources, dests = _packet_ends(flow)
        if None in sources or None in dests:
            continue
        mask = ALL_ID_BITS if flow.mask is None else flow.mask & 0xFF
        first = met.setdefault((flow.id, mask, sources, dests), flow)
        if first is not flow:
            raise VerifyError(
                f"duplicates an earlier packet flow; ID {flow.id} under mask 0x{mask:X} is already declared between "
                "the same sources and destinations",
                flow,
                [("the other packet flow is here", first)],
            )


def _verify_shared_ports(flows: Iterable[FlowOp], packets: Iterable[PacketFlowOp]) -> None:
    starts: dict[End, FlowOp] = {}
    stops: dict[End, FlowOp] = {}
    for flow in flows:
        source, dest = _ends(flow)
        if source is not None:
            starts.setdefault(source, flow)
        if dest is None:
            continue
        first = stops.setdefault(dest, flow)
        if first is not flow:
            raise VerifyError(
                f"ends at {end_text(dest)}, where another circuit flow ends; a port takes one circuit",
                flow,
                [("the other circuit flow is here", first)],
            )
    for packet in packets:
        if not packet.ports.blocks:
            continue
        for verb, ops, circuits in (("starts", packet.sources, starts), ("ends", packet.dests, stops)):
            for op in ops:
                end = _end(op.tile_op, op.port)
                circuit = circuits.get(end) if end is not None else None
                if circuit is not None and end is not None:
                    raise VerifyError(
                        f"{verb} at {end_text(end)}, where a circuit flow {verb}; a port carries either one circuit or "
                        "packets",
                        packet,
                        [("the circuit flow is here", circuit)],
                    )


def _named_ops(device: DeviceOp) -> Iterator[Operation]:
    for op in device.block.ops:
        yield op
        if isinstance(op, DmaProgram):
            for block in op.regions[0].blocks:
                yield from block.ops


def _verify_names(device: DeviceOp) -> None:
    """Locks, buffers and channels are no symbols, yet references find them by name."""
    met: dict[str, Operation] = {}
    for op in _named_ops(device):
        symbol = op.has_trait(SymbolOpInterface, value_if_unregistered=False)
        if not symbol and not isinstance(op, BufferOp | ExternalBufferOp | LockOp | DmaOp):
            continue
        name = op.properties.get("sym_name", op.attributes.get("sym_name"))
        if not isinstance(name, StringAttr):
            continue
        first = met.setdefault(name.data, op)
        # Two symbols of one name are the symbol table's business.
        if first is not op and not (symbol and first.has_trait(SymbolOpInterface)):
            raise VerifyError(
                f"redefinition of symbol named '{name.data}'",
                op,
                [("see existing symbol definition here", first)],
                bare=True,
            )
