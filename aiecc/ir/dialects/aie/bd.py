"""`aie.dma_bd`: one buffer descriptor.

Offsets, lengths, sizes and strides count elements of the buffer; dimensions are written outermost first. Each of them
is a constant in a static attribute or an operand computed at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.traits import HasCanonicalizationPatternsTrait

from aiecc.ir.dialects.aie.attrs import (
    BdDimLayoutArrayAttr,
    BdIterationAttr,
    BdPadLayoutArrayAttr,
    PacketInfo,
    PacketInfoAttr,
    packet_of,
)
from aiecc.ir.dialects.aie.bd_clauses import RUNTIME, Clauses, Entry, RuntimeId, mixed
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
from aiecc.ir.dialects.reading import Draft
from aiecc.ir.dialects.syntax import DICT, syntax

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern

_PADS: Described[BdPadLayoutArrayAttr] = Described(
    "array of constant padding", lambda a: isinstance(a, BdPadLayoutArrayAttr)
)
_ITERATION: Described[BdIterationAttr] = Described("BD iteration", lambda a: isinstance(a, BdIterationAttr))
PACKET: Described[PacketInfoAttr] = Described("packet header", lambda a: isinstance(a, PacketInfoAttr))
_STEP_LIST = dense_ints(64)


class _Canonical(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from aiecc.ir.dialects.aie.canonical import LinearBd, StaticBd

        return (StaticBd(), LinearBd())


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
    traits = traits_def(_Canonical())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    SYNTAX = syntax("(", Clauses(), ")", RuntimeId(), DICT)

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
    def has_values(self) -> bool:
        """Whether any of its numbers, or its id, is a value."""
        return len(self.operands) > 1

    @property
    def offset(self) -> int | None:
        """The first element; 0 when not given, None when computed at run time."""
        if self.has_values and self.offset_operand is not None:
            return constant_int(self.offset_operand)
        return number(self.static_offset) or 0

    @property
    def len(self) -> int | None:
        """How many elements; the whole buffer when not given. None when computed at run time or unknown."""
        if self.static_len is not None or (self.has_values and self.len_operand is not None):
            return self.given_len
        return element_count(self.buffer.type)

    @property
    def given_len(self) -> int | None:
        """The written length; None when none is written or it is computed at run time."""
        if self.has_values and self.len_operand is not None:
            return constant_int(self.len_operand)
        return number(self.static_len)

    @property
    def mixed_sizes(self) -> list[Entry]:
        """Sizes, outermost first: numbers, and values where they are computed at run time."""
        return mixed(self.properties.get("static_sizes"), self.size_operands if self.has_values else ())

    @property
    def mixed_strides(self) -> list[Entry]:
        """Strides, outermost first: numbers, and values where they are computed at run time."""
        return mixed(self.properties.get("static_strides"), self.stride_operands if self.has_values else ())

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
            Clauses.dimensions(draft, dims.data)
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


def _constants(entries: list[Entry]) -> list[int] | None:
    if all(isinstance(e, int) for e in entries):
        return cast("list[int]", entries)
    values = [e if isinstance(e, int) else constant_int(e) for e in entries]
    return None if any(v is None for v in values) else [v for v in values if v is not None]
