"""`aie.dma_bd`: one buffer descriptor.

Offsets, lengths, sizes and strides count elements of the buffer; dimensions are written outermost first. Each of them
is a constant in a static attribute or an operand computed at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    var_operand_def,
)
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import (
    BdDimLayoutArrayAttr,
    BdIterationAttr,
    BdPadLayoutArrayAttr,
    PacketInfo,
    PacketInfoAttr,
    packet_of,
)
from aiecc.ir.dialects.aie.memory import BufferOp, ExternalBufferOp, constant_int, element_count
from aiecc.ir.dialects.base import (
    SEGMENTS,
    DialectOp,
    op_definition,
    optional_int_field,
    string_field,
)
from aiecc.ir.dialects.constraints import (
    I32,
    I64,
    INT_OR_INDEX,
    MEMREF,
    SYMBOL,
    UNIT,
    Described,
    dense_ints,
    int_attr,
    number,
    unsigned_attr,
)
from aiecc.ir.dialects.reading import (
    Draft,
    Element,
    Out,
    eat,
    in_range,
    need,
    read_int,
    read_list,
    read_operand,
    read_type,
    wrong,
)
from aiecc.ir.dialects.syntax import DICT, syntax

RUNTIME = -(1 << 63)
"""Stands in a static list where the value is an operand."""

Entry = int | SSAValue

_PADS: Described[BdPadLayoutArrayAttr] = Described(
    "array of constant padding", lambda a: isinstance(a, BdPadLayoutArrayAttr)
)
_ITERATION: Described[BdIterationAttr] = Described("BD iteration", lambda a: isinstance(a, BdIterationAttr))
PACKET: Described[PacketInfoAttr] = Described("packet header", lambda a: isinstance(a, PacketInfoAttr))
_STEP_LIST = dense_ints(64)


def _read_entry(p: Parser, type: Any) -> IntegerAttr[Any] | SSAValue:
    operand = p.parse_optional_unresolved_operand()
    if operand is None:
        return read_int(p, type)
    return p.resolve_operand(operand, read_type(p) if eat(p, ":") else type)


def _show_operand(out: Out, value: SSAValue, usual: Attribute) -> None:
    out.arg().print_operand(value)
    if value.type != usual:
        out.lit(":")
        out.arg().print_attribute(value.type)


class _Clauses(Element):
    """The buffer and everything in the parentheses."""

    fixed = ("pad_dimensions", "static_len", "static_offset", "static_sizes", "static_strides")

    def parse(self, p: Parser, d: Draft) -> None:
        operand = read_operand(p)
        need(p, ":")
        d.operands["buffer"] = [p.resolve_operand(operand, read_type(p))]
        if eat(p, ","):
            self._older(p, d)
            return
        for name in ("offset", "len"):
            if eat(p, name):
                need(p, "=")
                self._scalar(d, name, _read_entry(p, I32))
        for name in ("sizes", "strides"):
            if eat(p, name):
                need(p, "=")
                self._list(d, name, read_list(p, lambda: _read_entry(p, I64)))
        if eat(p, "pad"):
            d.props["pad_dimensions"] = BdPadLayoutArrayAttr(BdPadLayoutArrayAttr.parse_parameter(p))

    @staticmethod
    def _scalar(d: Draft, name: str, value: IntegerAttr[Any] | SSAValue) -> None:
        if isinstance(value, SSAValue):
            d.operands[name] = [value]
        else:
            d.props[f"static_{name}"] = value

    @staticmethod
    def _list(d: Draft, name: str, values: Sequence[IntegerAttr[Any] | SSAValue]) -> None:
        d.operands[name] = [v for v in values if isinstance(v, SSAValue)]
        static = [RUNTIME if isinstance(v, SSAValue) else int(v.value.data) for v in values]
        d.props[f"static_{name}"] = DenseArrayBase.from_list(I64, static)

    def _older(self, p: Parser, d: Draft) -> None:
        """`, offset, len, [<size = .., stride = ..>], [<const_pad_before = ..>], pad_value = n`, cut off anywhere."""
        scalars = iter(("offset", "len"))
        lists = iter(("dimensions", "pad"))
        while True:
            at = p.pos
            if eat(p, "pad_value"):
                need(p, "=")
                d.attributes["pad_value"] = read_int(p)
            elif eat(p, "offset"):
                need(p, "=")
                self._scalar(d, "offset", _read_entry(p, I32))
            elif eat(p, "len"):
                need(p, "=")
                self._scalar(d, "len", _read_entry(p, I32))
            elif (value := p.parse_optional_integer(allow_boolean=False)) is not None:
                name = next(scalars, None)
                if name is None:
                    wrong(p, "expected '['", at)
                self._scalar(d, name, in_range(p, value, I32, at))
            elif next(lists, None) == "dimensions":
                dims = BdDimLayoutArrayAttr.parse_parameter(p)
                self.dimensions(d, dims)
            else:
                d.props["pad_dimensions"] = BdPadLayoutArrayAttr(BdPadLayoutArrayAttr.parse_parameter(p))
            if not eat(p, ","):
                return

    @classmethod
    def dimensions(cls, d: Draft, dims: Sequence[Any]) -> None:
        """Sizes and strides out of the older list of pairs."""
        cls._list(d, "sizes", [IntegerAttr(dim.size, I64) for dim in dims])
        cls._list(d, "strides", [IntegerAttr(dim.stride, I64) for dim in dims])

    def print(self, out: Out, op: DialectOp) -> None:
        assert isinstance(op, DmaBdOp)
        out.arg().print_operand(op.buffer)
        out.lit(":")
        out.arg().print_attribute(op.buffer.type)
        for name, operand in (("offset", op.offset_operand), ("len", op.len_operand)):
            static = op.properties.get(f"static_{name}")
            if operand is not None or static is not None:
                out.lit(name)
                out.lit("=")
                if operand is not None:
                    _show_operand(out, operand, I32)
                else:
                    out.arg().print_int(number(static) or 0)
        for name, entries in (("sizes", op.mixed_sizes), ("strides", op.mixed_strides)):
            if entries:
                out.lit(name)
                out.lit("=")
                out.arg().print_string("[")
                out.glue()
                for i, entry in enumerate(entries):
                    if i:
                        out.lit(",")
                    if isinstance(entry, int):
                        out.arg().print_int(entry)
                    else:
                        _show_operand(out, entry, I64)
                out.lit("]")
        if op.pad_dimensions is not None:
            out.lit("pad")
            op.pad_dimensions.print_parameter(out.arg())


class _RuntimeId(Element):
    """`bd_id_val %id : i32` after the parentheses."""

    def parse(self, p: Parser, d: Draft) -> None:
        if eat(p, "bd_id_val"):
            operand = read_operand(p)
            need(p, ":")
            d.operands["bd_id_val"] = [p.resolve_operand(operand, read_type(p))]

    def print(self, out: Out, op: DialectOp) -> None:
        assert isinstance(op, DmaBdOp)
        if op.bd_id_val is not None:
            out.lit("bd_id_val")
            out.arg().print_operand(op.bd_id_val)
            out.lit(":")
            out.arg().print_attribute(op.bd_id_val.type)


@op_definition
class DmaBdOp(DialectOp):
    """One transfer: what part of which buffer, in what order, with what around it."""

    name = "aie.dma_bd"
    buffer = operand_def(MEMREF)
    offset_operand = opt_operand_def(INT_OR_INDEX)
    len_operand = opt_operand_def(INT_OR_INDEX)
    size_operands = var_operand_def(INT_OR_INDEX)
    stride_operands = var_operand_def(INT_OR_INDEX)
    bd_id_val = opt_operand_def(INT_OR_INDEX)
    static_offset = opt_prop_def(int_attr(32))
    static_len = opt_prop_def(int_attr(32))
    static_sizes = opt_prop_def(_STEP_LIST, DenseArrayBase.from_list(I64, []))
    static_strides = opt_prop_def(_STEP_LIST, DenseArrayBase.from_list(I64, []))
    pad_dimensions = opt_prop_def(_PADS)
    axcache_attr = opt_prop_def(int_attr(32, 0, 15), prop_name="axcache")
    bd_id_attr = opt_prop_def(int_attr(32), prop_name="bd_id")
    burst_length_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="burst_length")
    iteration = opt_prop_def(_ITERATION)
    length_core_encoded = opt_prop_def(UNIT)
    length_parameter_attr = opt_prop_def(SYMBOL, prop_name="length_parameter")
    length_state_table_idx = opt_prop_def(unsigned_attr(8))
    length_unit_attr = opt_prop_def(int_attr(32, 1), prop_name="length_unit")
    next_bd_id_attr = opt_prop_def(int_attr(32), prop_name="next_bd_id")
    offset_parameter_attr = opt_prop_def(SYMBOL, prop_name="offset_parameter")
    offset_state_table_idx = opt_prop_def(unsigned_attr(8))
    out_of_order_id_attr = opt_prop_def(int_attr(32), prop_name="out_of_order_id")
    packet_attr = opt_prop_def(PACKET, prop_name="packet")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    SYNTAX = syntax("(", _Clauses(), ")", _RuntimeId(), DICT)

    axcache = optional_int_field("axcache")
    bd_id = optional_int_field("bd_id")
    next_bd_id = optional_int_field("next_bd_id")
    out_of_order_id = optional_int_field("out_of_order_id")
    length_unit = optional_int_field("length_unit")
    length_parameter = string_field("length_parameter")
    offset_parameter = string_field("offset_parameter")

    def __init__(
        self,
        buffer: SSAValue,
        offset: Entry | None = None,
        len: Entry | None = None,
        sizes: Sequence[Entry] = (),
        strides: Sequence[Entry] = (),
        properties: Mapping[str, Attribute | None] | None = None,
    ) -> None:
        def static(value: Entry | None) -> Attribute | None:
            return IntegerAttr(value, I32) if isinstance(value, int) else None

        def operand(value: Entry | None) -> list[SSAValue]:
            return [value] if isinstance(value, SSAValue) else []

        def listed(values: Sequence[Entry]) -> Attribute | None:
            ints = [v if isinstance(v, int) else RUNTIME for v in values]
            return DenseArrayBase.from_list(I64, ints) if ints else None

        super().__init__(
            operands=[
                [buffer],
                operand(offset),
                operand(len),
                [v for v in sizes if isinstance(v, SSAValue)],
                [v for v in strides if isinstance(v, SSAValue)],
                [],
            ],
            properties={
                "static_offset": static(offset),
                "static_len": static(len),
                "static_sizes": listed(sizes),
                "static_strides": listed(strides),
                **(properties or {}),
            },
        )

    def __post_init__(self) -> None:
        """Generic forms from before the run-time id have one operand group less."""
        sizes = self.properties.get(SEGMENTS)
        if isinstance(sizes, DenseArrayBase) and len(sizes) == len(_GROUPS) + 1:
            self.properties[SEGMENTS] = DenseArrayBase.from_list(I32, [*map(int, sizes.get_values()), 0])
        super().__post_init__()

    # --- what it says -------------------------------------------------------------------------------------------------

    @property
    def offset(self) -> int | None:
        """The first element; 0 when not given, None when computed at run time."""
        if self.offset_operand is not None:
            return constant_int(self.offset_operand)
        return number(self.static_offset) or 0

    @property
    def len(self) -> int | None:
        """How many elements; the whole buffer when not given. None when computed at run time or unknown."""
        if self.len_operand is not None or self.static_len is not None:
            return self.given_len
        return element_count(self.buffer.type)

    @property
    def given_len(self) -> int | None:
        """The written length; None when none is written or it is computed at run time."""
        if self.len_operand is not None:
            return constant_int(self.len_operand)
        return number(self.static_len)

    @property
    def mixed_sizes(self) -> list[Entry]:
        """Sizes, outermost first: numbers, and values where they are computed at run time."""
        return _merge(self.properties.get("static_sizes"), self.size_operands)

    @property
    def mixed_strides(self) -> list[Entry]:
        """Strides, outermost first: numbers, and values where they are computed at run time."""
        return _merge(self.properties.get("static_strides"), self.stride_operands)

    @property
    def sizes(self) -> list[int] | None:
        """Sizes, outermost first, empty for a plain run of elements. None when one is computed at run time."""
        return _constants(self.mixed_sizes)

    @property
    def strides(self) -> list[int] | None:
        """Strides, outermost first. None when one is computed at run time."""
        return _constants(self.mixed_strides)

    @property
    def burst_length(self) -> int:
        return number(self.properties.get("burst_length")) or 0

    @property
    def packet(self) -> PacketInfo | None:
        return packet_of(self.packet_attr)

    @property
    def buffer_op(self) -> BufferOp | ExternalBufferOp | None:
        owner = self.buffer.owner
        return owner if isinstance(owner, BufferOp | ExternalBufferOp) else None

    @classmethod
    def finish(cls, parser: Parser, draft: Draft) -> DialectOp:
        """Older dictionary keys: `offset`, `len`, `dimensions`."""
        for key in ("offset", "len"):
            old = draft.attributes.get(key)
            if isinstance(old, IntegerAttr) and f"static_{key}" not in draft.props and key not in draft.operands:
                draft.props[f"static_{key}"] = draft.attributes.pop(key)
        dims = draft.attributes.get("dimensions")
        if isinstance(dims, BdDimLayoutArrayAttr):
            del draft.attributes["dimensions"]
            _Clauses.dimensions(draft, dims.data)
        for long, short in _GROUPS.items():
            draft.operands[long] = draft.operands.pop(short, [])
        return cls.from_draft(draft)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.bd_rules import verify_bd

        verify_bd(self)


_GROUPS = {
    "offset_operand": "offset",
    "len_operand": "len",
    "size_operands": "sizes",
    "stride_operands": "strides",
}


def _merge(static: Attribute | None, operands: Sequence[SSAValue]) -> list[Entry]:
    values: list[Entry] = []
    rest = iter(operands)
    for n in static.get_values() if isinstance(static, DenseArrayBase) else ():
        operand = next(rest, None) if n == RUNTIME else None
        values.append(int(n) if operand is None else operand)
    return values


def _constants(entries: Sequence[Entry]) -> list[int] | None:
    values = [e if isinstance(e, int) else constant_int(e) for e in entries]
    return None if any(v is None for v in values) else [v for v in values if v is not None]
