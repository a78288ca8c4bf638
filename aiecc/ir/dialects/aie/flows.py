"""Where data goes, before any switch is set: circuit flows, packet flows, cascades, wires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, region_def, traits_def, var_operand_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.tiles import EndOp, TileLike, end_op, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    ints_field,
    op_definition,
    optional_int_field,
    word_field,
)
from aiecc.ir.dialects.constraints import BOOLEAN, I8, I32, INDEX, INDEX_TYPE, dense_ints, int_attr
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, need, read_int, read_operand
from aiecc.ir.dialects.syntax import DICT, Body, Int, Maybe, Use, Word, read_word, syntax
from aiecc.ir.dialects.traits import OneBlock


class Port(NamedTuple):
    """One stream-switch port of a tile."""

    bundle: WireBundle
    channel: int

    def __str__(self) -> str:
        return f"{self.bundle.word} : {self.channel}"


class Via(NamedTuple):
    """A tile a flow has to pass, and the ports it comes in and goes out by."""

    tile: SSAValue
    ingress: Port
    egress: Port


_VIA_KEYS = ("via_ingress_bundles", "via_ingress_channels", "via_egress_bundles", "via_egress_channels")


def _read_port(p: Parser, what: str) -> tuple[int, int]:
    bundle = read_word(p, what, WireBundle)
    need(p, ":")
    return int(bundle), read_int(p).value.data


class Vias(Element):
    """`via (%m : North : 0 -> South : 0, ..)`, perhaps missing."""

    fixed = _VIA_KEYS

    def parse(self, p: Parser, d: Draft) -> None:
        if not eat(p, "via"):
            return
        need(p, "(")
        tiles: list[SSAValue] = []
        lists: dict[str, list[int]] = {key: [] for key in _VIA_KEYS}
        while True:
            tiles.append(p.resolve_operand(read_operand(p), INDEX))
            need(p, ":")
            ingress = _read_port(p, "via_ingress_bundles")
            need(p, "->")
            egress = _read_port(p, "via_egress_bundles")
            for key, value in zip(_VIA_KEYS, (*ingress, *egress), strict=True):
                lists[key].append(value)
            if not eat(p, ","):
                break
        need(p, ")")
        d.operands["via_tiles"] = tiles
        for key, values in lists.items():
            d.props[key] = DenseArrayBase.from_list(I32, values)

    def print(self, out: Out, op: DialectOp) -> None:
        assert isinstance(op, HasVias)
        vias = op.vias
        if vias:
            printer = out.arg()
            printer.print_string("via (")
            for i, via in enumerate(vias):
                if i:
                    printer.print_string(", ")
                printer.print_operand(via.tile)
                printer.print_string(f" : {via.ingress} -> {via.egress}")
            printer.print_string(")")


class HasVias(DialectOp):
    """A flow that may carry waypoints."""

    @property
    def vias(self) -> list[Via]:
        """The waypoints from source to destination."""
        tiles = self.waypoints
        lists = [_ints(self.properties.get(key)) for key in _VIA_KEYS]
        return [
            Via(tile, Port(_bundle(ib), ic), Port(_bundle(eb), ec))
            for tile, ib, ic, eb, ec in zip(tiles, *lists, strict=False)
        ]

    @property
    def waypoints(self) -> Sequence[SSAValue]:
        """The tiles of `vias`."""
        return cast(Sequence[SSAValue], self.__getattribute__("via_tiles"))


def _ints(attr: Attribute | None) -> list[int]:
    return [int(n) for n in attr.get_values()] if isinstance(attr, DenseArrayBase) else []


def _bundle(value: int) -> WireBundle:
    return WireBundle.numbered(value) or WireBundle.CORE


PORT = int_attr(32, 0, 11)
CHANNEL = int_attr(32, 0)


def port_props(prefix: str, port: Port) -> dict[str, Attribute]:
    """The two properties of a port, named `source_bundle` and `source_channel` for the prefix `source_`."""
    return {
        f"{prefix}bundle": IntegerAttr(int(port.bundle), I32),
        f"{prefix}channel": IntegerAttr(port.channel, I32),
    }


@op_definition
class FlowOp(HasVias):
    """A circuit from one port to another, possibly across the array."""

    name = "aie.flow"
    source = operand_def(INDEX_TYPE)
    dest = operand_def(INDEX_TYPE)
    via_tiles = var_operand_def(INDEX_TYPE)
    source_bundle_attr = prop_def(PORT, prop_name="source_bundle")
    source_channel_attr = prop_def(CHANNEL, prop_name="source_channel")
    dest_bundle_attr = prop_def(PORT, prop_name="dest_bundle")
    dest_channel_attr = prop_def(CHANNEL, prop_name="dest_channel")
    via_ingress_bundles_attr = opt_prop_def(dense_ints(32), prop_name="via_ingress_bundles")
    via_ingress_channels_attr = opt_prop_def(dense_ints(32), prop_name="via_ingress_channels")
    via_egress_bundles_attr = opt_prop_def(dense_ints(32), prop_name="via_egress_bundles")
    via_egress_channels_attr = opt_prop_def(dense_ints(32), prop_name="via_egress_channels")
    SYNTAX = syntax(
        "(", Use("source"), ",", Word("source_bundle", WireBundle), ":", Int("source_channel"),
        ",", Use("dest"), ",", Word("dest_bundle", WireBundle), ":", Int("dest_channel"), ")", Vias(), DICT,
    )  # fmt: skip

    source_bundle = word_field("source_bundle", WireBundle)
    source_channel = int_field("source_channel")
    dest_bundle = word_field("dest_bundle", WireBundle)
    dest_channel = int_field("dest_channel")
    via_ingress_bundles = ints_field("via_ingress_bundles")
    via_ingress_channels = ints_field("via_ingress_channels")
    via_egress_bundles = ints_field("via_egress_bundles")
    via_egress_channels = ints_field("via_egress_channels")

    def __init__(self, source: SSAValue, source_port: Port, dest: SSAValue, dest_port: Port) -> None:
        super().__init__(
            operands=[source, dest, []],
            properties={**port_props("source_", source_port), **port_props("dest_", dest_port)},
        )

    @property
    def source_port(self) -> Port:
        return Port(self.source_bundle, self.source_channel)

    @property
    def dest_port(self) -> Port:
        return Port(self.dest_bundle, self.dest_channel)

    @property
    def source_tile(self) -> TileLike | None:
        return tile_like(self.source)

    @property
    def dest_tile(self) -> TileLike | None:
        return tile_like(self.dest)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_flow

        verify_flow(self)


@op_definition
class PacketFlowOp(HasVias):
    """Packets of one id from several sources to several destinations."""

    name = "aie.packet_flow"
    via_tiles = var_operand_def(INDEX_TYPE)
    id_attr = prop_def(int_attr(8), prop_name="ID")
    mask_attr = opt_prop_def(int_attr(8), prop_name="mask")
    keep_pkt_header_attr = opt_prop_def(BOOLEAN, prop_name="keep_pkt_header")
    priority_route_attr = opt_prop_def(BOOLEAN, prop_name="priority_route")
    via_ingress_bundles_attr = opt_prop_def(dense_ints(32), prop_name="via_ingress_bundles")
    via_ingress_channels_attr = opt_prop_def(dense_ints(32), prop_name="via_ingress_channels")
    via_egress_bundles_attr = opt_prop_def(dense_ints(32), prop_name="via_egress_bundles")
    via_egress_channels_attr = opt_prop_def(dense_ints(32), prop_name="via_egress_channels")
    ports = region_def()
    traits = traits_def(OneBlock())
    SYNTAX = syntax(
        "(", Int("ID", I8), Maybe(",", "mask", "=", Int("mask", I8)), ")", Body("ports", end_op), Vias(), DICT
    )

    id = int_field("ID")
    mask = optional_int_field("mask")
    keep_pkt_header = bool_field("keep_pkt_header")
    priority_route = bool_field("priority_route")
    via_ingress_bundles = ints_field("via_ingress_bundles")
    via_ingress_channels = ints_field("via_ingress_channels")
    via_egress_bundles = ints_field("via_egress_bundles")
    via_egress_channels = ints_field("via_egress_channels")

    def __init__(self, id: int, ops: Sequence[Operation] = (), *, keep_pkt_header: bool | None = None) -> None:
        super().__init__(
            operands=[[]],
            properties={
                "ID": IntegerAttr(id, I8),
                "keep_pkt_header": None if keep_pkt_header is None else IntegerAttr(int(keep_pkt_header), 1),
            },
            regions=[Region(Block([*ops, EndOp()]))],
        )

    @property
    def sources(self) -> list[PacketSourceOp]:
        return [op for op in self.ports.ops if isinstance(op, PacketSourceOp)]

    @property
    def dests(self) -> list[PacketDestOp]:
        return [op for op in self.ports.ops if isinstance(op, PacketDestOp)]

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_packet_flow

        verify_packet_flow(self)


class PacketEnd(DialectOp):
    """One end of a packet flow."""

    bundle = word_field("bundle", WireBundle)
    channel = int_field("channel")

    @property
    def port(self) -> Port:
        return Port(self.bundle, self.channel)

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.operands[0])

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_packet_end

        verify_packet_end(self)


_END = syntax("<", Use("tile"), ",", Word("bundle", WireBundle), ":", Int("channel"), ">", DICT)


@op_definition
class PacketSourceOp(PacketEnd):
    """Where packets come from."""

    name = "aie.packet_source"
    tile = operand_def(INDEX_TYPE)
    bundle_attr = prop_def(PORT, prop_name="bundle")
    channel_attr = prop_def(CHANNEL, prop_name="channel")
    PARENTS = ("aie.packet_flow",)
    SYNTAX = _END

    def __init__(self, tile: SSAValue, port: Port) -> None:
        super().__init__(operands=[tile], properties=port_props("", port))


@op_definition
class PacketDestOp(PacketEnd):
    """Where packets go."""

    name = "aie.packet_dest"
    tile = operand_def(INDEX_TYPE)
    bundle_attr = prop_def(PORT, prop_name="bundle")
    channel_attr = prop_def(CHANNEL, prop_name="channel")
    PARENTS = ("aie.packet_flow",)
    SYNTAX = _END

    def __init__(self, tile: SSAValue, port: Port) -> None:
        super().__init__(operands=[tile], properties=port_props("", port))


@op_definition
class WireOp(DialectOp):
    """Two bundles that are physically connected."""

    name = "aie.wire"
    source = operand_def(INDEX_TYPE)
    dest = operand_def(INDEX_TYPE)
    source_bundle_attr = prop_def(PORT, prop_name="source_bundle")
    dest_bundle_attr = prop_def(PORT, prop_name="dest_bundle")
    SYNTAX = syntax(
        "(", Use("source"), ":", Word("source_bundle", WireBundle), ",",
        Use("dest"), ":", Word("dest_bundle", WireBundle), ")", DICT,
    )  # fmt: skip

    source_bundle = word_field("source_bundle", WireBundle)
    dest_bundle = word_field("dest_bundle", WireBundle)

    def __init__(self, source: SSAValue, source_bundle: WireBundle, dest: SSAValue, dest_bundle: WireBundle) -> None:
        super().__init__(
            operands=[source, dest],
            properties={
                "source_bundle": IntegerAttr(int(source_bundle), I32),
                "dest_bundle": IntegerAttr(int(dest_bundle), I32),
            },
        )


@op_definition
class CascadeFlowOp(DialectOp):
    """A cascade stream between two neighbouring cores."""

    name = "aie.cascade_flow"
    source = operand_def(INDEX_TYPE)
    dest = operand_def(INDEX_TYPE)
    SYNTAX = syntax("(", Use("source"), ",", Use("dest"), ")", DICT)

    def __init__(self, source: SSAValue, dest: SSAValue) -> None:
        super().__init__(operands=[source, dest])

    @property
    def source_tile(self) -> TileLike | None:
        return tile_like(self.source)

    @property
    def dest_tile(self) -> TileLike | None:
        return tile_like(self.dest)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_cascade_flow

        verify_cascade_flow(self)
