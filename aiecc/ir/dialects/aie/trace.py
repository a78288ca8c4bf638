"""Tracing: what to record, and the registers that make the hardware record it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.enums import (
    ComboLogic,
    Direction,
    EdgeTrigger,
    TraceMode,
    TracePacketType,
    TraceShimRouting,
    WireBundle,
)
from aiecc.ir.dialects.aie.tiles import EndOp, TileLike, end_op, tile_like
from aiecc.ir.dialects.aie.trace_attrs import TraceEventAttr, read_event_name, show_event_name
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    name_field,
    op_definition,
    optional_int_field,
    string_field,
    word_field,
)
from aiecc.ir.dialects.constraints import BOOLEAN, I32, INDEX_TYPE, STRING, SYMBOL, Described, int_attr, number
from aiecc.ir.dialects.reading import Draft, Element, Out, fail, read_int
from aiecc.ir.dialects.syntax import DICT, Body, Int, Maybe, Property, Ref, Str, Sym, Use, Word, syntax
from aiecc.ir.dialects.traits import OneBlock, Symbol

_EVENT: Described[TraceEventAttr] = Described("trace event", lambda a: isinstance(a, TraceEventAttr))
_VALUE: Described[Attribute] = Described(
    "32-bit signless integer attribute or string attribute",
    lambda a: isinstance(a, StringAttr) or (isinstance(a, IntegerAttr) and bool(a.type == I32)),
)
_TRACE = ("aie.trace",)


class Event(Property):
    """`<"NAME">` or `<Enum::CASE>`."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = TraceEventAttr(TraceEventAttr.parse_parameter(p))

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties[self.name]
        printer = out.arg()
        if isinstance(attr, TraceEventAttr):
            attr.print_parameter(printer)
        else:
            printer.print_attribute(attr)


def event_field(name: str) -> property:
    """An event property as its name; None when absent."""

    def read(op: DialectOp) -> str | None:
        attr = op.properties.get(name)
        return attr.data if isinstance(attr, TraceEventAttr) else None

    return property(read)


@op_definition
class TraceOp(DialectOp):
    """What one tile's trace unit records."""

    name = "aie.trace"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    body = region_def()
    traits = traits_def(Symbol(), OneBlock())
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Sym(), "(", Use("tile"), ")", Body(terminator=end_op), DICT)

    symbol = name_field()

    def __init__(self, name: str, tile: SSAValue, ops: Sequence[Operation] = ()) -> None:
        super().__init__(
            operands=[tile], properties={"sym_name": StringAttr(name)}, regions=[Region(Block([*ops, EndOp()]))]
        )

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.trace_rules import verify_trace

        verify_trace(self)


@op_definition
class TraceModeOp(DialectOp):
    """What each record holds."""

    name = "aie.trace.mode"
    mode_attr = prop_def(int_attr(32, 0, 2), prop_name="mode")
    PARENTS = _TRACE
    SYNTAX = syntax(Word("mode", TraceMode), DICT)

    mode = word_field("mode", TraceMode)


@op_definition
class TraceEventOp(DialectOp):
    """One event to record."""

    name = "aie.trace.event"
    event_attr = prop_def(_EVENT, prop_name="event")
    label_attr = opt_prop_def(STRING, prop_name="label")
    PARENTS = _TRACE
    SYNTAX = syntax(Event("event"), Maybe("label", "=", Str("label")), DICT)

    event = event_field("event")
    label = string_field("label")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.trace_rules import verify_event

        verify_event(self)


@op_definition
class TracePacketOp(DialectOp):
    """The packets records travel in."""

    name = "aie.trace.packet"
    id_attr = opt_prop_def(int_attr(32, 1, 31), prop_name="id")
    type_attr = prop_def(int_attr(32, 0, 3), prop_name="type")
    PARENTS = _TRACE
    SYNTAX = syntax(Maybe("id", "=", Int("id")), "type", "=", Word("type", TracePacketType), DICT)

    id = optional_int_field("id")
    type = word_field("type", TracePacketType)

    def verify_op(self) -> None:
        if self.id is not None and not 1 <= self.id <= 31:
            raise self.error(f"packet ID must be in range [1, 31], got {self.id}")


@op_definition
class TracePortOp(DialectOp):
    """A stream-switch port whose events are watched."""

    name = "aie.trace.port"
    slot_attr = prop_def(int_attr(32, 0, 7), prop_name="slot")
    port_attr = prop_def(int_attr(32, 0, 11), prop_name="port")
    channel_attr = prop_def(int_attr(32), prop_name="channel")
    direction_attr = prop_def(int_attr(32, 0, 1), prop_name="direction")
    PARENTS = _TRACE
    SYNTAX = syntax(
        "<", Int("slot"), ">", "port", "=", Word("port", WireBundle), "channel", "=", Int("channel"),
        "direction", "=", Word("direction", Direction), DICT,
    )  # fmt: skip

    slot = int_field("slot")
    port = word_field("port", WireBundle)
    channel = int_field("channel")
    direction = word_field("direction", Direction)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.trace_rules import verify_port

        verify_port(self)


_SWITCH = syntax(Maybe("broadcast", "=", Int("broadcast")), Maybe("event", "=", Event("event")), DICT)


class TraceSwitch(DialectOp):
    """What starts or stops recording: a broadcast line or an event."""

    broadcast = optional_int_field("broadcast")
    event = event_field("event")

    def verify_op(self) -> None:
        broadcast, event = self.properties.get("broadcast"), self.properties.get("event")
        if broadcast is None and event is None:
            raise self.error("must specify either broadcast or event")
        if broadcast is not None and event is not None:
            raise self.error("cannot specify both broadcast and event")


@op_definition
class TraceStartEventOp(TraceSwitch):
    """When recording starts."""

    name = "aie.trace.start"
    broadcast_attr = opt_prop_def(int_attr(32), prop_name="broadcast")
    event_attr = opt_prop_def(_EVENT, prop_name="event")
    PARENTS = _TRACE
    SYNTAX = _SWITCH


@op_definition
class TraceStopEventOp(TraceSwitch):
    """When recording stops."""

    name = "aie.trace.stop"
    broadcast_attr = opt_prop_def(int_attr(32), prop_name="broadcast")
    event_attr = opt_prop_def(_EVENT, prop_name="event")
    PARENTS = _TRACE
    SYNTAX = _SWITCH


@op_definition
class TraceComboEventOp(DialectOp):
    """An event made of two others."""

    name = "aie.trace.combo_event"
    slot_attr = prop_def(int_attr(32), prop_name="slot")
    event_a_attr = prop_def(_EVENT, prop_name="eventA")
    logic_attr = prop_def(int_attr(32, 0, 3), prop_name="logic")
    event_b_attr = prop_def(_EVENT, prop_name="eventB")
    PARENTS = _TRACE
    SYNTAX = syntax("<", Int("slot"), ">", Event("eventA"), Word("logic", ComboLogic), Event("eventB"), DICT)

    slot = int_field("slot")
    event_a = event_field("eventA")
    event_b = event_field("eventB")
    logic = word_field("logic", ComboLogic)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.trace_rules import verify_combo

        verify_combo(self)


class _Trigger(Word):
    def __init__(self) -> None:
        super().__init__("trigger", EdgeTrigger)

    def parse(self, p: Parser, d: Draft) -> None:
        at = p.pos
        text = p.parse_optional_identifier_or_str_literal()
        if text is None:
            super().parse(p, d)
            return
        found = EdgeTrigger.named(text)
        if found is None:
            fail(p, f"unknown edge trigger: {text}", at)
        d.props["trigger"] = IntegerAttr(int(found), I32)


@op_definition
class TraceEdgeEventOp(DialectOp):
    """An event made of another one's edges."""

    name = "aie.trace.edge_event"
    slot_attr = prop_def(int_attr(32), prop_name="slot")
    event_attr = prop_def(_EVENT, prop_name="event")
    trigger_attr = prop_def(int_attr(32, 1, 3), prop_name="trigger")
    PARENTS = _TRACE
    SYNTAX = syntax("<", Int("slot"), ">", "event", "=", Event("event"), "trigger", "=", _Trigger(), DICT)

    slot = int_field("slot")
    event = event_field("event")
    trigger = word_field("trigger", EdgeTrigger)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.trace_rules import verify_edge

        verify_edge(self)


class _PacketType(Maybe):
    def __init__(self) -> None:
        super().__init__("packet_type", "=", Word("packet_type", TracePacketType))


@op_definition
class TraceConfigOp(DialectOp):
    """The registers of one tile's trace unit."""

    name = "aie.trace.config"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    packet_type_attr = opt_prop_def(int_attr(32, 0, 3), prop_name="packet_type")
    body = region_def()
    traits = traits_def(Symbol(), OneBlock())
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Sym(), "(", Use("tile"), ")", _PacketType(), Body(terminator=end_op), DICT)

    symbol = name_field()

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    @property
    def packet_type(self) -> TracePacketType | None:
        value = number(self.packet_type_attr)
        return None if value is None else TracePacketType(value)


class _RegValue(Element):
    """A number, or an event in words."""

    fixed = ("value",)

    def parse(self, p: Parser, d: Draft) -> None:
        at = p.pos
        text = p.parse_optional_str_literal()
        if text is not None:
            d.props["value"] = StringAttr(text)
        elif p.lexer.input.content[at : at + 1].isalpha():
            d.props["value"] = StringAttr(read_event_name(p))
        else:
            d.props["value"] = read_int(p)

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties["value"]
        printer = out.arg()
        if isinstance(attr, StringAttr):
            show_event_name(printer, attr.data)
        elif isinstance(attr, IntegerAttr):
            printer.print_int(attr.value.data)
        else:
            printer.print_attribute(attr)


@op_definition
class TraceRegOp(DialectOp):
    """One register, or one field of it."""

    name = "aie.trace.reg"
    reg_name_attr = prop_def(STRING, prop_name="reg_name")
    field_attr = opt_prop_def(STRING, prop_name="field")
    value = prop_def(_VALUE)
    mask_attr = opt_prop_def(int_attr(32), prop_name="mask")
    comment_attr = opt_prop_def(STRING, prop_name="comment")
    PARENTS = ("aie.trace.config",)
    SYNTAX = syntax(
        "register", "=", Str("reg_name"), Maybe("field", "=", Str("field")), "value", "=", _RegValue(),
        Maybe("mask", "=", Int("mask")), Maybe("comment", "=", Str("comment")), DICT,
    )  # fmt: skip

    reg_name = name_field("reg_name")
    field = string_field("field")
    mask = optional_int_field("mask")
    comment = string_field("comment")


@op_definition
class TraceHostConfigOp(DialectOp):
    """Where the host finds the records."""

    name = "aie.trace.host_config"
    buffer_size_attr = prop_def(int_attr(32), prop_name="buffer_size")
    egress_shim_col_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="egress_shim_col")
    reuse_output_buffer_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="reuse_output_buffer")
    routing_attr = opt_prop_def(int_attr(32, 0, 0), IntegerAttr(0, I32), prop_name="routing")
    PARENTS = ("aie.runtime_sequence",)
    SYNTAX = syntax(DICT)

    buffer_size = int_field("buffer_size")
    reuse_output_buffer = bool_field("reuse_output_buffer")

    @property
    def egress_shim_col(self) -> int:
        return number(self.egress_shim_col_attr) or 0

    @property
    def routing(self) -> TraceShimRouting:
        return TraceShimRouting(number(self.routing_attr) or 0)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.trace_rules import verify_host_config

        verify_host_config(self)


@op_definition
class TraceStartConfigOp(DialectOp):
    """Write one trace configuration's registers here."""

    name = "aie.trace.start_config"
    trace_config_attr = prop_def(SYMBOL, prop_name="trace_config")
    SYNTAX = syntax(Ref("trace_config"), DICT)

    trace_config = name_field("trace_config")

    def verify_op(self) -> None:
        if not self.trace_config:
            raise self.error("trace config symbol name cannot be empty")
