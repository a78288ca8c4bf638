"""What makes a flow, a cascade or one of their ends wrong."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import FixedBitwidthType, ShapedType, VectorType
from xdsl.ir import Attribute, SSAValue

from aiecc.ir.dialects.aie.enums import CascadeDir, WireBundle
from aiecc.ir.dialects.aie.flows import CascadeFlowOp, FlowOp, HasVias, PacketDestOp, PacketEnd, PacketFlowOp, Port
from aiecc.ir.dialects.aie.streams import GetCascadeOp, PutCascadeOp
from aiecc.ir.dialects.aie.switch import ConfigureCascadeOp
from aiecc.ir.dialects.aie.tiles import EndOp, placed, target_of, tile_like
from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.errors import VerifyError
from aiecc.model.targets import Bundle, PortSide, TileKind

ALL_ID_BITS = 0x1F
_CHECKED = (WireBundle.CORE, WireBundle.DMA)


def verify_flow(op: FlowOp) -> None:
    verify_port(op, op.source, op.source_port, PortSide.IN)
    verify_port(op, op.dest, op.dest_port, PortSide.OUT)
    _verify_vias(op)


def verify_port(op: DialectOp, tile: SSAValue, port: Port, side: PortSide) -> None:
    """A Core or DMA port of a placed tile that its stream switch does not have."""
    home = placed(tile)
    if home is None or home.kind is None or port.bundle not in _CHECKED:
        return
    target, bundle = target_of(op), Bundle(port.bundle.word)
    count = target.ports(home.col, home.row, bundle, side)
    if home.kind.is_shim:
        count = max(count, target.shim_mux_ports(home.col, home.row, bundle, side))
    if port.channel < count:
        return
    end, way = ("source", "into") if side is PortSide.IN else ("destination", "out of")
    plural = "" if count == 1 else "s"
    raise op.error(
        f"{end} {port.bundle.word}:{port.channel} does not exist: tile ({home.col}, {home.row}) has {count} "
        f"{port.bundle.word} port{plural} {way} its stream switch"
    )


def _verify_vias(op: HasVias) -> None:
    tiles = list(op.waypoints)
    lists: dict[str, tuple[int, ...]] = {
        "ingress bundle": _list(op, "via_ingress_bundles"),
        "ingress channel": _list(op, "via_ingress_channels"),
        "egress bundle": _list(op, "via_egress_bundles"),
        "egress channel": _list(op, "via_egress_channels"),
    }
    for values in lists.values():
        if len(values) != len(tiles):
            raise op.error(f"has {len(tiles)} via tile(s) but a via port array of size {len(values)}")
    for i, tile in enumerate(tiles):
        if tile_like(tile) is None:
            raise op.error(f"has via operand at index {i} that is not defined by a tile-like operation")
        for way in ("ingress", "egress"):
            bundle, channel = lists[f"{way} bundle"][i], lists[f"{way} channel"][i]
            if WireBundle.numbered(bundle) is None:
                raise op.error(f"has invalid via {way} bundle {bundle} at index {i}")
            if channel < 0:
                raise op.error(f"has negative via {way} channel {channel} at index {i}")


def _list(op: DialectOp, key: str) -> tuple[int, ...]:
    attr: Any = op.properties.get(key)
    return tuple(int(n) for n in attr.get_values()) if attr is not None else ()


def verify_packet_flow(op: PacketFlowOp) -> None:
    block = op.ports.blocks.first
    if block is None:
        raise op.error("should have non-empty body")
    for inner in block.ops:
        if not isinstance(inner, PacketEnd | EndOp):
            raise VerifyError("cannot be contained in a PacketFlow op", inner)
    if not op.sources:
        raise op.error("must have at least one aie.packet_source")
    if not op.dests:
        raise op.error("must have at least one aie.packet_dest")
    if op.mask is not None:
        mask, number = op.mask & 0xFF, op.id & 0xFF
        if number & ~mask:
            raise op.error(f"has ID 0x{number:X} outside mask 0x{mask:X}, which no packet can match")
    _verify_vias(op)
    if op.waypoints:
        if len(op.sources) != 1:
            raise op.error("with via waypoints must have exactly one aie.packet_source")
        if len(op.dests) != 1:
            raise op.error("with via waypoints must have exactly one aie.packet_dest")


def verify_packet_end(op: PacketEnd) -> None:
    verify_port(op, op.operands[0], op.port, PortSide.OUT if isinstance(op, PacketDestOp) else PortSide.IN)


# --- cascade ----------------------------------------------------------------------------------------------------------


def _verify_cascade_row(op: DialectOp, tile: SSAValue) -> None:
    owner = tile_like(tile)
    kind = owner.kind if owner is not None else None
    if kind is not None and kind.is_shim:
        raise op.error("shimTile row has no cascade stream interface")
    if kind is TileKind.MEM:
        raise op.error("memTile row has no cascade stream interface")


def verify_cascade_flow(op: CascadeFlowOp) -> None:
    if op.source_tile is None or op.dest_tile is None:
        raise op.error("source and dest must be tile-like operations")
    _verify_cascade_row(op, op.source)
    _verify_cascade_row(op, op.dest)
    source, dest = op.source_tile.coord, op.dest_tile.coord
    if source is not None and dest is not None and abs(source[0] - dest[0]) + abs(source[1] - dest[1]) != 1:
        raise op.error("tiles must be adjacent")


def verify_configure_cascade(op: ConfigureCascadeOp) -> None:
    if placed(op.tile) is None:
        raise op.error("requires a placed tile (aie.tile), not a logical tile")
    _verify_cascade_row(op, op.tile)
    target = target_of(op)
    arch = target.arch.display
    if not target.family.cascade_config:
        raise op.error(f"cascade not supported in {arch}")
    if op.input_dir not in (CascadeDir.NORTH, CascadeDir.WEST):
        raise op.error(f"input direction of cascade must be North or West on {arch}")
    if op.output_dir not in (CascadeDir.SOUTH, CascadeDir.EAST):
        raise op.error(f"output direction of cascade must be South or East on {arch}")


def type_bits(type: Attribute) -> int:
    """Width of a scalar or a vector in bits; 0 when it has none."""
    if isinstance(type, VectorType):
        return math.prod(type.get_shape()) * type_bits(type.element_type)
    if isinstance(type, FixedBitwidthType) and not isinstance(type, ShapedType):
        return type.bitwidth
    return 0


def verify_get_cascade(op: GetCascadeOp) -> None:
    bits = target_of(op).cascade_bits
    if type_bits(op.cascade_value.type) != bits:
        raise op.error(f"must be a {bits}-bit type")


def verify_put_cascade(op: PutCascadeOp) -> None:
    target = target_of(op)
    if type_bits(op.cascade_value.type) != target.cascade_bits:
        raise op.error(
            f"type must match architecture cascade width ({target.cascade_bits} bits in {target.arch.display})"
        )
