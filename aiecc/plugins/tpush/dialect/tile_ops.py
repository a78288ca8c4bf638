"""What stands around pipes in a kernel: tiles, views of tensors, and the ops that compute on tiles.

The latter all have one form, `pto.tadd ins(%a, %b : ..) outs(%c : ..)`; what they compute is none of our business: they
read their inputs and write their outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from aiecc.plugins.tpush.dialect import syntax
from aiecc.plugins.tpush.dialect.attrs import PartitionTensorViewType, PtrType, TensorViewType, TileBufType

_SEGMENTS = "operandSegmentSizes"
_INSIDE = ("rmode", "sat_mode", "exhausted", "maskPattern", "rounds", "upperOrLower")
"""Attributes of ops on tiles that stand among their inputs."""


def _segments(*sizes: int) -> Attribute:
    return DenseArrayBase.from_list(i32, list(sizes))


def _attributes(parser: Parser) -> dict[str, Attribute]:
    return dict(parser.parse_optional_attr_dict())


def _print_attributes(op: Operation, printer: Printer) -> None:
    syntax.print_dict(printer, (), {}, op.attributes)


# -------------------------------------------------------------------------------------------------------- tiles


@irdl_op_definition
class AllocTileOp(IRDLOperation):
    """`pto.alloc_tile [addr = %a] [valid_row = %r] [valid_col = %c] : type`."""

    name = "pto.alloc_tile"

    addr = opt_operand_def(i64)
    valid_row = opt_operand_def(IndexType)
    valid_col = opt_operand_def(IndexType)
    tile = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> AllocTileOp:
        operands: list[SSAValue] = []
        sizes: list[int] = []
        types: tuple[tuple[str, Attribute], ...] = (
            ("addr", i64),
            ("valid_row", IndexType()),
            ("valid_col", IndexType()),
        )
        for name, type in types:
            sizes.append(int(parser.parse_optional_keyword(name) is not None))
            if sizes[-1]:
                parser.parse_punctuation("=")
                operands.append(parser.resolve_operand(parser.parse_unresolved_operand(), type))
        attributes = _attributes(parser)
        parser.parse_punctuation(":")
        result = parser.parse_type()
        properties = {_SEGMENTS: _segments(*sizes)}
        return cls.create(operands=operands, result_types=[result], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        for name in ("addr", "valid_row", "valid_col"):
            value: SSAValue | None = getattr(self, name)
            if value is not None:
                printer.print_string(f" {name} = ")
                printer.print_operand(value)
        _print_attributes(self, printer)
        printer.print_string(" : ")
        printer.print_attribute(self.tile.type)


class ComputeOp(IRDLOperation):
    """`ins(%a, %b [{..}] : types) [outs(%c : types)]`."""

    read = var_operand_def()
    written = var_operand_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        attributes: dict[str, Attribute] = {}
        ins = _read_group(parser, "ins", attributes)
        outs = _read_group(parser, "outs", attributes)
        attributes |= _attributes(parser)
        properties = {_SEGMENTS: _segments(len(ins), len(outs))}
        return cls.create(operands=[*ins, *outs], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        inside = {key: value for key, value in self.attributes.items() if key in _INSIDE}
        behind = {key: value for key, value in self.attributes.items() if key not in _INSIDE}
        _print_group(printer, "ins", self.read, inside)
        _print_group(printer, "outs", self.written, {})
        syntax.print_dict(printer, (), {}, behind)


def _read_group(parser: Parser, word: str, attributes: dict[str, Attribute]) -> list[SSAValue]:
    if parser.parse_optional_keyword(word) is None:
        return []
    parser.parse_punctuation("(")
    names = [parser.parse_unresolved_operand()]
    while parser.parse_optional_punctuation(",") is not None:
        if (name := parser.parse_optional_unresolved_operand()) is None:
            break
        names.append(name)
    attributes |= parser.parse_optional_attr_dict()
    at = parser.pos
    parser.parse_punctuation(":")
    types: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parser.parse_type())
    if len(types) != len(names):
        syntax.stop(parser, f"{word}: {len(names)} values have {len(types)} types", at)
    parser.parse_punctuation(")")
    return [parser.resolve_operand(name, type) for name, type in zip(names, types, strict=True)]


def _print_group(printer: Printer, word: str, values: Sequence[SSAValue], attributes: dict[str, Attribute]) -> None:
    if not values:
        return
    printer.print_string(f" {word}(")
    printer.print_list(values, printer.print_operand)
    syntax.print_dict(printer, (), {}, attributes)
    printer.print_string(" : ")
    printer.print_list([value.type for value in values], printer.print_attribute)
    printer.print_string(")")


def _compute(name: str) -> type[ComputeOp]:
    cls = type(
        "".join(part.capitalize() for part in name.replace(".", "_").split("_")) + "Op",
        (ComputeOp,),
        {
            "name": f"pto.{name}",
            "__doc__": f"`pto.{name} ins(..) outs(..)`.",
            "__module__": __name__,
        },
    )
    return irdl_op_definition(cast("type[ComputeOp]", cls))


_COMPUTE = """
tabs tadd taddc tadds taddsc tand tands taxpy tci tcmp tcmps tcolargmax tcolargmin tcolexpand tcolexpandadd
tcolexpanddiv tcolexpandexpdif tcolexpandmax tcolexpandmin tcolexpandmul tcolexpandsub tcolmax tcolmin
tcolprod tcolsum tconcat tcvt tdequant tdiv tdivs texp texpands textract textract_fp tfillpad tfillpad_expand
tfillpad_inplace tfmod tfmods tgather tgatherb tgemv tgemv.acc tgemv.bias tinsert tinsert_fp tload tlog tlrelu
tmatmul tmatmul.acc tmatmul.bias tmax tmaxs tmin tmins tmov tmov.fp tmrgsort tmul tmuls tneg tnot tor tors
tpack tpartadd tpartmax tpartmin tpartmul tprefetch tprelu tprint tquant trecip trelu trem trems trowargmax
trowargmin trowexpand trowexpandadd trowexpanddiv trowexpandexpdif trowexpandmax trowexpandmin trowexpandmul
trowexpandsub trowmax trowmin trowprod trowsum trsqrt tscatter tsel tsels tshl tshls tshr tshrs tsort32 tsqrt
tstore tstore_fp tsub tsubc tsubs tsubsc ttrans ttri txor txors
"""

COMPUTE_OPS = [_compute(name) for name in _COMPUTE.split()]
MATRIX_WORDS = ("tmatmul", "tgemv")
"""How names of ops begin that only a Cube has."""


# -------------------------------------------------------------------------------------------------------- views


class _Recast(IRDLOperation):
    """`%source : type -> type`: the same tile, seen differently."""

    @classmethod
    def parse(cls, parser: Parser) -> _Recast:
        operand = parser.parse_unresolved_operand()
        attributes = _attributes(parser)
        parser.parse_punctuation(":")
        source = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.create(operands=[source], result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        _print_attributes(self, printer)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)


@irdl_op_definition
class TReshapeOp(_Recast):
    name = "pto.treshape"

    source = operand_def(TileBufType)
    result = result_def(TileBufType)


@irdl_op_definition
class BitcastOp(_Recast):
    name = "pto.bitcast"

    source = operand_def(TileBufType)
    result = result_def(TileBufType)


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
        attributes = _attributes(parser)
        parser.parse_punctuation(":")
        base = parser.resolve_operand(pointer, syntax.read_pointer(parser))
        parser.parse_punctuation("->")
        return cls.create(operands=[base, offset], result_types=[syntax.read_pointer(parser)], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        _print_attributes(self, printer)
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
        _print_attributes(self, printer)
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
        attributes = _attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, TensorViewType):
            syntax.stop(parser, "a view of a tensor is a !pto.tensor_view<..>", at)
        source = parser.resolve_operand(pointer, PtrType(type.element))
        return cls.create(
            operands=[source, *shape, *strides],
            result_types=[type],
            properties={_SEGMENTS: _segments(1, len(shape), len(strides))},
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
        attributes = _attributes(parser)
        parser.parse_punctuation(":")
        source = parser.resolve_operand(view, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.create(
            operands=[source, *offsets, *sizes],
            result_types=[parser.parse_type()],
            properties={_SEGMENTS: _segments(1, len(offsets), len(sizes))},
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
        return cls.create(result_types=[cls.TYPE], attributes=_attributes(parser))

    def print(self, printer: Printer) -> None:
        _print_attributes(self, printer)


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


TILE_OPS: list[type[Operation]] = [
    AllocTileOp,
    TReshapeOp,
    BitcastOp,
    AddPtrOp,
    MakeTensorViewOp,
    PartitionViewOp,
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
    *COMPUTE_OPS,
]
"""All ops around pipes. Those in ALIASES make another name for what they take."""

ALIASES: tuple[type[Operation], ...] = (TReshapeOp, BitcastOp)
