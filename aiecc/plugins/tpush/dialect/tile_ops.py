"""What stands around pipes in a kernel: tiles, views of tensors, and the ops that compute on tiles.

The latter all have one form, `pto.tadd ins(%a, %b : ..) outs(%c : ..)`; what they compute is none of our business: they
read their inputs and write their outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, i64
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
from aiecc.plugins.tpush.dialect.attrs import TileBufType
from aiecc.plugins.tpush.dialect.syntax import SEGMENTS, print_attributes, read_attributes, segments

_INSIDE = ("rmode", "sat_mode", "exhausted", "maskPattern", "rounds", "upperOrLower")
"""Attributes of ops on tiles that stand among their inputs."""


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
        attributes = read_attributes(parser)
        parser.parse_punctuation(":")
        result = parser.parse_type()
        properties = {SEGMENTS: segments(*sizes)}
        return cls.create(operands=operands, result_types=[result], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        for name in ("addr", "valid_row", "valid_col"):
            value: SSAValue | None = getattr(self, name)
            if value is not None:
                printer.print_string(f" {name} = ")
                printer.print_operand(value)
        print_attributes(self, printer)
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
        attributes |= read_attributes(parser)
        properties = {SEGMENTS: segments(len(ins), len(outs))}
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
        attributes = read_attributes(parser)
        parser.parse_punctuation(":")
        source = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_punctuation("->")
        return cls.create(operands=[source], result_types=[parser.parse_type()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        print_attributes(self, printer)
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


TILE_OPS: list[type[Operation]] = [
    AllocTileOp,
    TReshapeOp,
    BitcastOp,
    *COMPUTE_OPS,
]
"""All ops around pipes. Those in ALIASES make another name for what they take."""

ALIASES: tuple[type[Operation], ...] = (TReshapeOp, BitcastOp)
