"""What templates and hand-written forms are made of: reading and printing operands, types and dictionaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

I1 = IntegerType(1)
I32 = IntegerType(32)
I64 = IntegerType(64)
INDEX = IndexType()

# The property that says how many operands each list of an op has.
SEGMENTS = "operandSegmentSizes"
Reader = Any
Printer = Any
_WORD = re.compile(r"[A-Za-z_][A-Za-z_.0-9]*|->|\S")


def words(text: str) -> list[str]:
    """The words and punctuation of a piece of syntax."""
    return _WORD.findall(text)


def fail(p: Reader, text: str, at: Any = None) -> NoReturn:
    """A syntax error at the current token, or at `at`."""
    p.raise_error(text, at)
    raise AssertionError("raise_error returned")


def expect(p: Reader, word: str) -> None:
    if p.parse_optional_characters(word) is None:
        p.raise_error(f"expected '{word}'")


def use(p: Reader) -> Any:
    found = p.parse_optional_unresolved_operand()
    if found is None:
        p.raise_error("expected SSA operand")
    return found


def uses(p: Reader) -> list[Any]:
    """`%a, %b`, perhaps none."""
    found: list[Any] = []
    if p.token().kind is not Kind.PERCENT_IDENT:
        return found
    found.append(use(p))
    while p.parse_optional_punctuation(",") is not None:
        found.append(use(p))
    return found


def types(p: Reader) -> list[Attribute]:
    """`t, u`, perhaps none."""
    first = p.parse_optional_type()
    found: list[Attribute] = [] if first is None else [first]
    while found and p.parse_optional_punctuation(",") is not None:
        found.append(p.parse_type())
    return found


def resolve(p: Reader, values: Sequence[Any], kinds: Sequence[Attribute]) -> list[SSAValue]:
    if len(values) != len(kinds):
        p.raise_error(f"expected {len(values)} operand types but had {len(kinds)}")
    return [p.resolve_operand(value, kind) for value, kind in zip(values, kinds, strict=True)]


def inherent(cls: type[Operation]) -> frozenset[str]:
    """The names of an op's properties."""
    own = getattr(cls, "PROPS", None)
    if own is not None:
        return frozenset(own)
    if issubclass(cls, IRDLOperation):
        return frozenset(cls.get_irdl_definition().properties)
    return frozenset()


def read_dict(p: Reader, cls: type[Operation]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """An attribute dictionary, sorted into properties and attributes of the op."""
    own = inherent(cls)
    properties: dict[str, Attribute] = {}
    attributes: dict[str, Attribute] = {}
    for key, value in p.parse_optional_attr_dict().items():
        (properties if key in own else attributes)[key] = value
    return properties, attributes


def print_dict(p: Printer, op: Operation, hidden: frozenset[str] = frozenset(), *, keyword: bool = False) -> None:
    """The attribute dictionary with its leading blank, or nothing. `hidden` have a place elsewhere."""
    shown = dict(op.attributes)
    if op.properties:
        defaults = _defaults(type(op))
        for key, value in op.properties.items():
            if key not in hidden and not key.endswith("SegmentSizes") and defaults.get(key) != value:
                shown[key] = value
    for key in hidden:
        shown.pop(key, None)
    if shown:
        p.print_string(" attributes " if keyword else " ")
        p.print_attr_dict(shown)


@cache
def _defaults(cls: type[Operation]) -> dict[str, Attribute]:
    if not issubclass(cls, IRDLOperation):
        return dict(getattr(cls, "DEFAULTS", {}))
    found = {key: d.default_value for key, d in cls.get_irdl_definition().properties.items()}
    return {key: value for key, value in found.items() if value is not None}


def like(type: Attribute, element: Attribute) -> Attribute:
    """A type of the same shape with other elements."""
    if isinstance(type, VectorType):
        return VectorType(element, type.get_shape(), type.scalable_dims)
    if isinstance(type, TensorType):
        return TensorType(element, type.get_shape(), type.encoding)
    if isinstance(type, UnrankedTensorType):
        return UnrankedTensorType(element)
    return element


def element(type: Attribute) -> Attribute:
    inner = getattr(type, "element_type", None)
    return inner if isinstance(inner, Attribute) else type


def int_value(attr: Attribute | None, default: int = 0) -> int:
    return attr.value.data if isinstance(attr, IntegerAttr) else default
