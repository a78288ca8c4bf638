"""Views of tensors in global memory, pointers to it, and the ops that say who runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from aiecc.plugins.tpush.dialect import syntax
from aiecc.plugins.tpush.dialect.attrs import PartitionTensorViewType, PtrType, TensorViewType
from aiecc.plugins.tpush.dialect.syntax import SEGMENTS, print_attributes, read_attributes, segments


@irdl_op_definition
class AddPtrOp(IRDLOperation):
    """`pto.addptr %p, %offset : !pto.ptr<f32> -> !pto.ptr<f32>`: the offset counts elements."""

    name = "pto.addptr"

    pointer = operand_def(PtrType)
    offset = operand_def(IndexType)
    result = result_def(PtrType)

    @classmethod
    def parse(cls, parser: Parser) -> AddPtrOp:
        pointer = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offset = parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())
        attributes = read_attributes(parser)
        parser.parse_punctuation(":")
        base = parser.resolve_operand(pointer, syntax.read_pointer(parser))
        parser.parse_punctuation("->")
        return cls.create(operands=[base, offset], result_types=[syntax.read_pointer(parser)], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        print_attributes(self, printer)
        printer.print_string(" : ")
        printer.print_attribute(self.pointer.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def _read_list(parser: Parser, word: str) -> list[SSAValue]:
    """`word = [%a, %b]`."""
    parser.parse_keyword(word)
    parser.parse_punctuation("=")
    names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
    return [parser.resolve_operand(name, IndexType()) for name in names]


def _print_list(printer: Printer, word: str, values: Sequence[SSAValue]) -> None:
    printer.print_string(f", {word} = [")
    printer.print_list(values, printer.print_operand)
    printer.print_string("]")


class _View(IRDLOperation):
    """`%source, first = [..], second = [..] : ..`. WORDS: those two."""

    WORDS: ClassVar[tuple[str, str]]
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def print_head(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        for word in self.WORDS:
            _print_list(printer, word, getattr(self, word))
        print_attributes(self, printer)
        printer.print_string(" : ")


@irdl_op_definition
class MakeTensorViewOp(_View):
    """`pto.make_tensor_view %p, shape = [..], strides = [..] : !pto.tensor_view<?x?xf32>`."""

    name = "pto.make_tensor_view"
    WORDS: ClassVar[tuple[str, str]] = ("shape", "strides")

    source = operand_def(PtrType)
    shape = var_operand_def(IndexType)
    strides = var_operand_def(IndexType)
    result = result_def(TensorViewType)

    @classmethod
    def parse(cls, parser: Parser) -> MakeTensorViewOp:
        pointer = parser.parse_unresolved_operand()
        at = parser.pos
        parser.parse_punctuation(",")
        shape = _read_list(parser, "shape")
        parser.parse_punctuation(",")
        strides = _read_list(parser, "strides")
        attributes = read_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, TensorViewType):
            syntax.stop(parser, "a view of a tensor is a !pto.tensor_view<..>", at)
        source = parser.resolve_operand(pointer, PtrType(type.element))
        return cls.create(
            operands=[source, *shape, *strides],
            result_types=[type],
            properties={SEGMENTS: segments(1, len(shape), len(strides))},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        self.print_head(printer)
        printer.print_attribute(self.result.type)


@irdl_op_definition
class PartitionViewOp(_View):
    """`pto.partition_view %v, offsets = [..], sizes = [..] : type -> type`."""

    name = "pto.partition_view"
    WORDS: ClassVar[tuple[str, str]] = ("offsets", "sizes")

    source = operand_def(TensorViewType)
    offsets = var_operand_def(IndexType)
    sizes = var_operand_def(IndexType)
    result = result_def(PartitionTensorViewType)

    @classmethod
    def parse(cls, parser: Parser) -> PartitionViewOp:
        view = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets = _read_list(parser, "offsets")
        parser.parse_punctuation(",")
        sizes = _read_list(parser, "sizes")
        attributes = read_attributes(parser)
        parser.parse_punctuation(":")
        source = parser.resolve_operand(view, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.create(
            operands=[source, *offsets, *sizes],
            result_types=[parser.parse_type()],
            properties={SEGMENTS: segments(1, len(offsets), len(sizes))},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        self.print_head(printer)
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


# ------------------------------------------------------------------------------------------------ who and where


class _Number(IRDLOperation):
    """An op that gives an i64, which its name tells."""

    TYPE: ClassVar[IntegerType] = i64

    @classmethod
    def parse(cls, parser: Parser) -> _Number:
        return cls.create(result_types=[cls.TYPE], attributes=read_attributes(parser))

    def print(self, printer: Printer) -> None:
        print_attributes(self, printer)


@irdl_op_definition
class GetBlockIdxOp(_Number):
    """The number of the cluster."""

    name = "pto.get_block_idx"
    result = result_def(i64)


@irdl_op_definition
class GetBlockNumOp(_Number):
    """How many clusters run."""

    name = "pto.get_block_num"
    result = result_def(i64)


@irdl_op_definition
class GetSubBlockIdxOp(_Number):
    """The lane of a Vector core: 0 or 1."""

    name = "pto.get_subblock_idx"
    result = result_def(i64)


@irdl_op_definition
class GetSubBlockNumOp(_Number):
    """How many lanes there are: 2."""

    name = "pto.get_subblock_num"
    result = result_def(i64)


VIEW_OPS: list[type[Operation]] = [
    AddPtrOp,
    MakeTensorViewOp,
    PartitionViewOp,
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
]
"""All of them."""
