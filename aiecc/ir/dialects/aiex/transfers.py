"""Transfers between host memory and the array, as the command processor makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Operation
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.traits import HasCanonicalizationPatternsTrait

from aiecc.ir.dialects.aie.attrs import PacketInfoAttr
from aiecc.ir.dialects.aie.bd import PACKET
from aiecc.ir.dialects.aie.runtime import read_short_packet
from aiecc.ir.dialects.aiex.parts import Group, GroupTypes, IndexList
from aiecc.ir.dialects.base import DialectOp, bool_field, int_field, name_field, op_definition
from aiecc.ir.dialects.constraints import (
    ANY_INT,
    BOOLEAN,
    I32,
    I64,
    MEMREF,
    SYMBOL,
    SYMBOL_PATH,
    dense_ints,
    int_attr,
    number,
    unsigned_attr,
)
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, need
from aiecc.ir.dialects.syntax import DICT, syntax

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern

_LIST = dense_ints(64)
_I64_ZERO = IntegerAttr(0, I64)


@op_definition
class NpuDmaWaitOp(DialectOp):
    """Wait for the channel that a shim allocation names."""

    name = "aiex.npu.dma_wait"
    symbol_attr = prop_def(SYMBOL_PATH, prop_name="symbol")
    SYNTAX = syntax(DICT)

    symbol = name_field("symbol")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.transfer_rules import verify_wait

        verify_wait(self)


class _Patterns(Element):
    """`(%m[..][..][..], packet = <..>)`, the type to follow."""

    fixed = ("static_offsets", "static_sizes", "static_strides", "packet")

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "(")
        _MEMREF.parse(p, d)
        for element in _LISTS:
            element.parse(p, d)
        if eat(p, ","):
            need(p, "packet")
            need(p, "=")
            d.props["packet"] = read_short_packet(p)
        need(p, ")")

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit("(")
        _MEMREF.print(out, op)
        for element in _LISTS:
            element.print(out, op)
        packet = op.properties.get("packet")
        if isinstance(packet, PacketInfoAttr):
            out.lit(",")
            out.lit("packet")
            out.lit("=")
            packet.print_parameter(out.arg())
        out.lit(")")


_MEMREF = Group("memref")
_LISTS = (
    IndexList("offsets", "static_offsets"),
    IndexList("sizes", "static_sizes"),
    IndexList("strides", "static_strides"),
)


class _Canonical(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from aiecc.ir.dialects.aiex.canonical import LinearTransfer

        return (LinearTransfer(),)


@op_definition
class NpuDmaMemcpyNdOp(DialectOp):
    """Move a pattern of a host buffer through a shim channel."""

    name = "aiex.npu.dma_memcpy_nd"
    memref = operand_def(MEMREF)
    offsets = var_operand_def(ANY_INT)
    sizes = var_operand_def(ANY_INT)
    strides = var_operand_def(ANY_INT)
    static_offsets = prop_def(_LIST, DenseArrayBase.from_list(I64, []))
    static_sizes = prop_def(_LIST, DenseArrayBase.from_list(I64, []))
    static_strides = prop_def(_LIST, DenseArrayBase.from_list(I64, []))
    packet = opt_prop_def(PACKET)
    metadata_attr = prop_def(SYMBOL_PATH, prop_name="metadata")
    id_attr = prop_def(int_attr(64), prop_name="id")
    issue_token_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="issue_token")
    d0_zero_before = opt_prop_def(int_attr(64), _I64_ZERO)
    d1_zero_before = opt_prop_def(int_attr(64), _I64_ZERO)
    d2_zero_before = opt_prop_def(int_attr(64), _I64_ZERO)
    d0_zero_after = opt_prop_def(int_attr(64), _I64_ZERO)
    d1_zero_after = opt_prop_def(int_attr(64), _I64_ZERO)
    d2_zero_after = opt_prop_def(int_attr(64), _I64_ZERO)
    burst_length = opt_prop_def(int_attr(64), _I64_ZERO)
    offset_parameter = opt_prop_def(SYMBOL)
    offset_state_table_idx = opt_prop_def(unsigned_attr(8))
    traits = traits_def(_Canonical())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    SYNTAX = syntax(_Patterns(), DICT, ":", GroupTypes("memref"))

    metadata = name_field("metadata")
    id = int_field("id")
    issue_token = bool_field("issue_token")

    @property
    def is_padded(self) -> bool:
        """Whether zeros are added around a dimension."""
        return any(number(self.properties.get(f"d{d}_zero_{side}")) for d in range(3) for side in ("before", "after"))

    @property
    def static_lists(self) -> tuple[DenseArrayBase[IntegerType], ...]:
        """Offsets, sizes, strides, outermost first; entries computed at run time are placeholders."""
        return (self.static_offsets, self.static_sizes, self.static_strides)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.transfer_rules import verify_memcpy

        verify_memcpy(self)


_WRITE_BD = (
    "bd_id", "buffer_length", "buffer_offset", "column", "d0_size", "d0_stride", "d0_zero_after", "d0_zero_before",
    "d1_size", "d1_stride", "d1_zero_after", "d1_zero_before", "d2_size", "d2_stride", "d2_zero_after",
    "d2_zero_before", "enable_packet", "iteration_current", "iteration_size", "iteration_stride", "lock_acq_enable",
    "lock_acq_id", "lock_acq_val", "lock_rel_id", "lock_rel_val", "next_bd", "out_of_order_id", "packet_id",
    "packet_type", "row", "use_next_bd", "valid_bd",
)  # fmt: skip


class _WriteBd(DialectOp):
    """Fields are read by name: `op.field("d0_size")`."""

    def field(self, name: str) -> int:
        """The raw value of a register field; 0 when it is not written."""
        attr = self.properties.get(name)
        return attr.value.data if isinstance(attr, IntegerAttr) else 0

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.transfer_rules import verify_write_bd

        verify_write_bd(self)


NpuWriteBdOp = op_definition(
    type(
        "NpuWriteBdOp",
        (_WriteBd,),
        {
            "__doc__": "Write one descriptor's registers. Values are those of the register fields.",
            "__module__": __name__,
            "__annotations__": {},
            "name": "aiex.npu.writebd",
            "SYNTAX": syntax(DICT),
            "axcache": opt_prop_def(int_attr(32), IntegerAttr(2, I32)),
            "burst_length": opt_prop_def(int_attr(32), IntegerAttr(0, I32)),
            **{key: prop_def(int_attr(32)) for key in _WRITE_BD},
        },
    )
)


OPS: list[type[Operation]] = [NpuDmaWaitOp, NpuDmaMemcpyNdOp, NpuWriteBdOp]
