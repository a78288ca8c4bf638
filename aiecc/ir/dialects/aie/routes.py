"""Routes between the endpoints of split objectFifos, and their ends at what is no pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    PacketInfo,
    PacketInfoAttr,
    packet_of,
    symbols,
)
from aiecc.ir.dialects.aie.bd import PACKET
from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    name_field,
    names_field,
    op_definition,
    optional_int_field,
    string_field,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    I32,
    INDEX_TYPE,
    STRING,
    SYMBOLS,
    int_attr,
    number,
)
from aiecc.ir.dialects.reading import Draft, Out, fail, read_list, read_symbol
from aiecc.ir.dialects.syntax import DICT, Property, RefList, Sym, Use, Word, syntax
from aiecc.ir.dialects.traits import Symbol


@op_definition
class RouteEndpointOp(DialectOp):
    """The end of a route at something the runtime, the PL or a core drives."""

    name = "aie.route_endpoint"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    bundle_attr = prop_def(int_attr(32, 0, 11), prop_name="bundle")
    channel_index_attr = opt_prop_def(int_attr(32), prop_name="channelIndex")
    fifo_name_attr = opt_prop_def(STRING, prop_name="fifoName")
    packet_attr = opt_prop_def(PACKET, prop_name="packet")
    traits = traits_def(Symbol())
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Sym(), "(", Use("tile"), ")", Word("bundle", WireBundle), DICT)

    symbol = name_field()
    bundle = word_field("bundle", WireBundle)
    channel_index = optional_int_field("channelIndex")
    fifo_name = string_field("fifoName")

    def __init__(
        self,
        name: str,
        tile: SSAValue,
        bundle: WireBundle,
        properties: dict[str, Attribute | None] | None = None,
    ) -> None:
        super().__init__(
            operands=[tile],
            properties={"sym_name": StringAttr(name), "bundle": IntegerAttr(int(bundle), I32), **(properties or {})},
        )

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    @property
    def packet(self) -> PacketInfo | None:
        return packet_of(self.packet_attr)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.route_rules import verify_route_endpoint

        verify_route_endpoint(self)


class _Sources(Property):
    """One bare `@name`, or several in brackets."""

    def parse(self, p: Parser, d: Draft) -> None:
        first = p.parse_optional_symbol_name()
        if first is not None:
            d.props[self.name] = ArrayAttr([SymbolRefAttr(first)])
        else:
            d.props[self.name] = ArrayAttr(read_list(p, lambda: SymbolRefAttr(read_symbol(p))))

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties[self.name]
        if isinstance(attr, ArrayAttr) and len(attr.data) == 1:
            out.arg().print_attribute(attr.data[0])
        else:
            out.arg().print_attribute(attr)


@op_definition
class RouteOp(DialectOp):
    """What endpoints are connected, by a circuit or by packets."""

    name = "aie.route"
    sources_attr = prop_def(SYMBOLS, prop_name="sources")
    destinations_attr = prop_def(SYMBOLS, prop_name="destinations")
    packet_attr = opt_prop_def(PACKET, prop_name="packet")
    PARENTS = ("aie.device",)
    SYNTAX = syntax("from", _Sources("sources"), "to", RefList("destinations"), DICT)

    sources = names_field("sources")
    destinations = names_field("destinations")

    def __init__(self, sources: Sequence[str], destinations: Sequence[str], packet: PacketInfo | None = None) -> None:
        super().__init__(
            properties={
                "sources": ArrayAttr(symbols(*sources)),
                "destinations": ArrayAttr(symbols(*destinations)),
                "packet": None if packet is None else PacketInfoAttr(packet),
            }
        )

    @property
    def packet(self) -> PacketInfo | None:
        return packet_of(self.packet_attr)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.route_rules import verify_route

        verify_route(self)


# --- older names ------------------------------------------------------------------------------------------------------


class OlderDanglingEndpointOp(RouteEndpointOp):
    """Read as `aie.route_endpoint`."""

    name = "aie.objectfifo.dangling_endpoint"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        return RouteEndpointOp.parse(parser)


class OlderFlowOp(RouteOp):
    """Read as `aie.route`; `packet` and `packet_id` become one header."""

    name = "aie.objectfifo.flow"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        at = parser.pos
        draft = Draft(_FlowDict)
        for element in RouteOp.SYNTAX:
            element.parse(parser, draft)
        packet, packet_id = draft.attributes.get("packet"), draft.attributes.get("packet_id")
        if isinstance(packet, UnitAttr):
            del draft.attributes["packet"]
            draft.attributes.pop("packet_id", None)
            draft.props["packet"] = PacketInfoAttr(PacketInfo(0, number(packet_id)))
        elif packet_id is not None and packet is None:
            fail(parser, "packet_id is only meaningful on a packet flow", at)
        elif packet is not None:
            draft.props["packet"] = draft.attributes.pop("packet")
        return RouteOp.from_draft(draft)


class _FlowDict(RouteOp):
    @classmethod
    def take(cls, draft: Draft, key: str, value: Attribute) -> None:
        draft.attributes[key] = value
