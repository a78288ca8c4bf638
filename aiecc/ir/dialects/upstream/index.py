"""index: xDSL has no such dialect."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Data, Dialect, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from aiecc.ir.dialects.upstream.codecs import Codec
from aiecc.ir.dialects.upstream.common import CONSTANT, PURE, define
from aiecc.ir.dialects.upstream.pieces import I1, INDEX, int_value, print_dict, read_dict
from aiecc.ir.dialects.upstream.template import template
from aiecc.ir.registry import Form

_BINARY = [
    "add",
    "sub",
    "mul",
    "divs",
    "divu",
    "ceildivs",
    "ceildivu",
    "floordivs",
    "rems",
    "remu",
    "maxs",
    "maxu",
    "mins",
    "minu",
    "shl",
    "shrs",
    "shru",
    "and",
    "or",
    "xor",
]
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@irdl_attr_definition
class PredicateAttr(SpacedOpaqueSyntaxAttribute, Data[str]):
    """`#index<cmp_predicate slt>`"""

    name = "index.cmp_predicate"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        return parser.parse_identifier()

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


_ops: dict[str, type[Operation]] = {name: define(f"index.{name}", PURE) for name in _BINARY}
_ops["casts"] = define("index.casts", PURE)
_ops["castu"] = define("index.castu", PURE)
_ops["sizeof"] = define("index.sizeof", PURE)
_ops["cmp"] = define("index.cmp", PURE, props="pred")
_ops["constant"] = define("index.constant", PURE, CONSTANT, props="value")
_ops["bool.constant"] = define("index.bool.constant", PURE, CONSTANT, props="value")

DIALECT = Dialect("index", list(_ops.values()), [PredicateAttr])


def _read_predicate(p: Any) -> Attribute:
    return PredicateAttr(p.parse_keyword_in(_PREDICATES))


def _show_predicate(p: Any, attr: Attribute | None) -> None:
    if isinstance(attr, PredicateAttr):
        p.print_string(attr.data)


def _read_constant(p: Any) -> Operation:
    properties, attributes = read_dict(p, _ops["constant"])
    value = IntegerAttr(p.parse_integer(allow_boolean=False), INDEX)
    return _ops["constant"].create(
        result_types=[INDEX], properties={**properties, "value": value}, attributes=attributes
    )


def _read_bool(p: Any) -> Operation:
    properties, attributes = read_dict(p, _ops["bool.constant"])
    value = IntegerAttr(int(p.parse_boolean()), I1)
    return _ops["bool.constant"].create(
        result_types=[I1], properties={**properties, "value": value}, attributes=attributes
    )


def _value(op: Operation) -> int:
    return int_value(op.get_attr_or_prop("value"))


def _word(op: Operation) -> str:
    return "true" if _value(op) else "false"


def _shower(text: Any) -> Any:
    def show(op: Operation, p: Any) -> None:
        print_dict(p, op, frozenset({"value"}))
        p.print_string(f" {text(op)}")

    return show


FORMS: dict[str, Form] = {
    f"index.{name}": template(_ops[name], " {a}, {b}{dict}", "a:index b:index -> index") for name in _BINARY
} | {
    "index.casts": template(_ops["casts"], " {a}{dict} : {T} to {R}", "a:T -> R"),
    "index.castu": template(_ops["castu"], " {a}{dict} : {T} to {R}", "a:T -> R"),
    "index.sizeof": template(_ops["sizeof"], "{dict}", "-> index"),
    "index.cmp": template(
        _ops["cmp"],
        " {pred}({a}, {b}){dict}",
        "a:index b:index -> i1",
        {"pred": Codec("pred", _read_predicate, _show_predicate)},
    ),
    "index.constant": Form(_read_constant, _shower(_value), lambda op: [f"idx{_value(op)}"]),
    "index.bool.constant": Form(_read_bool, _shower(_word), lambda op: [_word(op)]),
}
