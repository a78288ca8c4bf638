"""arith: vectors everywhere, quoted predicates, flags, and the names of constants."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.arith import Arith, FastMathFlagsAttr
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation

from aiecc.ir.attr_printer import int_text
from aiecc.ir.dialects.upstream.codecs import Codec, unit_word, word_enum
from aiecc.ir.dialects.upstream.common import PURE, define, extend
from aiecc.ir.dialects.upstream.flags import FAST, OVERFLOW
from aiecc.ir.dialects.upstream.pieces import I1, I32, I64, fail, int_value, print_dict, read_dict
from aiecc.ir.dialects.upstream.template import template
from aiecc.ir.registry import Form

RemFOp = define("arith.remf", PURE, props="fastmath", defaults={"fastmath": FastMathFlagsAttr("none")})
IndexCastUIOp = define("arith.index_castui", PURE)

DIALECT = extend(Arith, (RemFOp, IndexCastUIOp))

_INT_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
)
_ROUNDING = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")


def _predicate(words: tuple[str, ...]) -> Codec:
    return word_enum("predicate", words, lambda n: IntegerAttr(n, I64), int_value)


def _read_rounding(p: Any) -> Attribute | None:
    word = p.parse_optional_keyword_in(_ROUNDING)
    return None if word is None else IntegerAttr(_ROUNDING.index(word), I32)


def _show_rounding(p: Any, attr: Attribute | None) -> None:
    if attr is not None:
        p.print_string(f" {_ROUNDING[int_value(attr)]}")


_CODECS = {
    "fast": FAST,
    "overflow": OVERFLOW,
    "exact": unit_word("isExact", "exact"),
    "rounding": Codec("roundingmode", _read_rounding, _show_rounding),
    "int_predicate": _predicate(_INT_PREDICATES),
    "float_predicate": _predicate(_FLOAT_PREDICATES),
}


def _form(cls: type[Operation], text: str, signature: str) -> Form:
    return template(cls, text, signature, _CODECS)


# --- constant ---------------------------------------------------------------------------------------------------------


def _read_constant(p: Any) -> Operation:
    properties, attributes = read_dict(p, arith.ConstantOp)
    at = p.token().start
    value: Attribute = p.parse_attribute()
    if not isinstance(value, IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr):
        fail(p, "expected attribute value with a type", at)
    kind = value.get_type()
    return arith.ConstantOp.create(
        result_types=[kind], properties={**properties, "value": value}, attributes=attributes
    )


def _show_constant(op: Operation, p: Any) -> None:
    print_dict(p, op, frozenset({"value"}))
    p.print_string(" ")
    p.print_attribute(op.properties["value"])


def _name_constant(op: Operation) -> list[str | None]:
    value = op.get_attr_or_prop("value")
    kind = op.results[0].type
    if isinstance(value, IntegerAttr) and isinstance(kind, IntegerType | IndexType):
        if kind == I1:
            return ["true" if value.value.data else "false"]
        suffix = f"_i{kind.width.data}" if isinstance(kind, IntegerType) else ""
        return [f"c{int_text(value.value.data, kind)}{suffix}"]
    return ["cst"]


# --- the table --------------------------------------------------------------------------------------------------------


def _forms() -> dict[str, Form]:
    forms: dict[str, Form] = {"arith.constant": Form(_read_constant, _show_constant, _name_constant)}
    binary = " {a}, {b}%s{dict} : {T}"
    ops = {op.name: op for op in DIALECT.operations}
    for flags, names in {
        "": "andi ori xori ceildivsi ceildivui floordivsi remsi remui maxsi maxui minsi minui",
        "{exact}": "divsi divui shrsi shrui",
        "{overflow}": "addi subi muli shli",
        "{fast}": "addf subf mulf divf remf maximumf minimumf maxnumf minnumf",
    }.items():
        for name in names.split():
            forms[f"arith.{name}"] = _form(ops[f"arith.{name}"], binary % flags, "a:T b:T -> T")
    for flags, names in {
        "": "extsi extui sitofp uitofp fptosi fptoui index_cast index_castui bitcast",
        "{overflow}": "trunci",
        "{fast}": "extf",
        "{rounding}{fast}": "truncf",
    }.items():
        for name in names.split():
            forms[f"arith.{name}"] = _form(ops[f"arith.{name}"], f" {{a}}{flags}{{dict}} : {{T}} to {{R}}", "a:T -> R")
    forms["arith.negf"] = _form(arith.NegfOp, " {a}{fast}{dict} : {T}", "a:T -> T")
    forms["arith.cmpi"] = _form(arith.CmpiOp, " {int_predicate}, {a}, {b}{dict} : {T}", "a:T b:T -> bool(T)")
    forms["arith.cmpf"] = _form(arith.CmpfOp, " {float_predicate}, {a}, {b}{fast}{dict} : {T}", "a:T b:T -> bool(T)")
    for cls in (arith.MulUIExtendedOp, arith.MulSIExtendedOp):
        forms[cls.name] = template(cls, " {a}, {b}{dict} : {T}", "a:T b:T -> T T", names=lambda _: ["low", "high"])
    forms["arith.addui_extended"] = template(
        arith.AddUIExtendedOp, " {a}, {b}{dict} : {T}, {O}", "a:T b:T -> T O", names=lambda _: ["sum", "overflow"]
    )
    forms["arith.select"] = Form(_read_select, _show_select)
    return forms


def _read_select(p: Any) -> Operation:
    """`%c, %a, %b : T`, or with a vector of conditions `%c, %a, %b : C, T`."""
    names = [p.parse_unresolved_operand()]
    for _ in range(2):
        p.parse_punctuation(",")
        names.append(p.parse_unresolved_operand())
    properties, attributes = read_dict(p, arith.SelectOp)
    p.parse_punctuation(":")
    condition: Attribute = I1
    kind = p.parse_type()
    if p.parse_optional_punctuation(",") is not None:
        condition, kind = kind, p.parse_type()
    operands = [p.resolve_operand(n, t) for n, t in zip(names, (condition, kind, kind), strict=True)]
    return arith.SelectOp.create(operands=operands, result_types=[kind], properties=properties, attributes=attributes)


def _show_select(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_list(op.operands, p.print_operand)
    print_dict(p, op)
    p.print_string(" : ")
    if op.operands[0].type != I1:
        p.print_attribute(op.operands[0].type)
        p.print_string(", ")
    p.print_attribute(op.results[0].type)


FORMS = _forms()
