"""Forms of upstream ops from one line each.

`template(" {a}, {b}{overflow}{dict} : {T}", "a:T b:T -> T")` reads and prints `%x, %y overflow<nsw> {k = 1} : i32`.
The text is what is printed; in braces stand operands (`{a}`, `{a*}` for a list), types (`{T}`, `{T*}`), the
attribute dictionary (`{dict}`) and properties by codec. The signature says the type of each operand and
result: a type of the text, `index`, `i1` or a function of a type, as in `bool(T)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.registry import Form

I1 = IntegerType(1)
I32 = IntegerType(32)
I64 = IntegerType(64)
INDEX = IndexType()

Reader = Any
Printer = Any


@dataclass(frozen=True)
class Codec:
    """How one property is read and printed where it has a place of its own.

    read gives None when it is not there; show prints its leading blank itself and nothing for a default.
    """

    key: str
    read: Callable[[Reader], Attribute | None]
    show: Callable[[Printer, Attribute | None], None]


def inherent(cls: type[Operation]) -> frozenset[str]:
    """The names of an op's properties."""
    own = getattr(cls, "PROPS", None)
    if own is not None:
        return frozenset(own)
    if issubclass(cls, IRDLOperation):
        return frozenset(cls.get_irdl_definition().properties)
    return frozenset()


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


_FUNCTIONS: dict[str, Callable[[Attribute], Attribute]] = {
    "bool": lambda type: like(type, I1),
    "element": element,
}
_FIXED: dict[str, Attribute] = {"index": INDEX, "i1": I1, "i32": I32, "i64": I64}
_PART = re.compile(r"\{([^}]*)\}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_.0-9]*|->|\S")


@dataclass(frozen=True)
class _Signature:
    operands: tuple[tuple[str, str, bool], ...]
    results: tuple[str, ...]

    @staticmethod
    def read(text: str) -> _Signature:
        left, _, right = text.partition("->")
        operands = [part.split(":") for part in left.split()]
        return _Signature(
            tuple((name.rstrip("*"), type, name.endswith("*")) for name, type in operands), tuple(right.split())
        )


@dataclass
class _Draft:
    cls: type[Operation]
    operands: dict[str, list[Any]]
    types: dict[str, list[Attribute]]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


class Template:
    """A compiled text and signature."""

    def __init__(self, cls: type[Operation], text: str, signature: str, codecs: dict[str, Codec]) -> None:
        self.cls = cls
        self.signature = _Signature.read(signature)
        self.names = {name for name, _, _ in self.signature.operands}
        self.codecs = codecs
        parts = _PART.split(text)
        self.steps: list[tuple[str, str]] = []
        for i, part in enumerate(parts):
            if i % 2:
                self.steps.append((self._kind(part), part.rstrip("*")))
            elif part:
                self.steps.append(("text", part))
        self.shown = frozenset(codecs[name].key for kind, name in self.steps if kind == "property")
        self.literals = {text: words(text) for kind, text in self.steps if kind == "text"}

    def _kind(self, part: str) -> str:
        name = part.rstrip("*")
        if name == "dict":
            return "dict"
        if name in self.names:
            return "uses" if part.endswith("*") else "use"
        if name[0].isupper():
            return "types" if part.endswith("*") else "type"
        return "property"

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, p: Reader) -> Operation:
        draft = _Draft(self.cls, {}, {}, {}, {})
        for kind, name in self.steps:
            if kind == "text":
                for word in self.literals[name]:
                    expect(p, word)
            elif kind == "use":
                draft.operands[name] = [use(p)]
            elif kind == "type":
                draft.types[name] = [p.parse_type()]
            elif kind == "uses":
                draft.operands[name] = uses(p)
            elif kind == "types":
                draft.types[name] = types(p)
            elif kind == "dict":
                self._dictionary(p, draft)
            else:
                codec = self.codecs[name]
                found = codec.read(p)
                if found is not None:
                    draft.properties[codec.key] = found
        return self._finish(p, draft)

    def _dictionary(self, p: Reader, draft: _Draft) -> None:
        own = inherent(self.cls)
        for key, value in p.parse_optional_attr_dict().items():
            (draft.properties if key in own else draft.attributes)[key] = value

    def _finish(self, p: Reader, draft: _Draft) -> Operation:
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for name, type, many in self.signature.operands:
            given = draft.operands.get(name, [])
            wanted = self._types(draft.types, type, len(given) if many else 1)
            if len(wanted) != len(given):
                p.raise_error(f"expected {len(given)} operand types but had {len(wanted)}")
            operands += [p.resolve_operand(value, kind) for value, kind in zip(given, wanted, strict=True)]
            sizes.append(len(given))
        results = [kind for type in self.signature.results for kind in self._types(draft.types, type, 1)]
        if sum(many for _, _, many in self.signature.operands) > 1:
            draft.properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, sizes)
        return self.cls.create(
            operands=operands, result_types=results, properties=draft.properties, attributes=draft.attributes
        )

    def _types(self, known: dict[str, list[Attribute]], type: str, count: int) -> list[Attribute]:
        if type in _FIXED:
            return [_FIXED[type]] * count
        if type.endswith(")"):
            function, _, inner = type[:-1].partition("(")
            return [_FUNCTIONS[function](kind) for kind in self._types(known, inner, count)]
        if type.endswith("*"):
            return known.get(type[:-1], [])
        return known[type] * count

    # --- printing -----------------------------------------------------------------------------------------------------

    def show(self, op: Operation, p: Printer) -> None:
        places = self._places(op)
        for kind, name in self.steps:
            if kind == "text":
                p.print_string(name)
            elif kind == "use" or kind == "uses":
                p.print_list(places[name], p.print_operand)
            elif kind == "type" or kind == "types":
                shown = self._shown_types(op, places, name)
                p.print_list(shown if kind == "types" else shown[:1], p.print_attribute)
            elif kind == "dict":
                print_dict(p, op, self.shown)
            else:
                codec = self.codecs[name]
                codec.show(p, op.get_attr_or_prop(codec.key))

    def _places(self, op: Operation) -> dict[str, Sequence[SSAValue]]:
        operands = self.signature.operands
        many = sum(1 for _, _, m in operands if m)
        spare = len(op.operands) - (len(operands) - many)
        sizes = op.get_attr_or_prop("operandSegmentSizes")
        known = list(cast(Any, sizes).get_values()) if isinstance(sizes, DenseArrayBase) else None
        places: dict[str, Sequence[SSAValue]] = {}
        start = 0
        for i, (name, _, is_list) in enumerate(operands):
            size = known[i] if known is not None else (spare if is_list else 1)
            places[name] = op.operands[start : start + size]
            start += size
        return places

    def _shown_types(self, op: Operation, places: dict[str, Sequence[SSAValue]], name: str) -> list[Attribute]:
        for operand, type, _ in self.signature.operands:
            if type == name or type == name + "*":
                found = [value.type for value in places[operand]]
                if found:
                    return found
        for i, type in enumerate(self.signature.results):
            if type == name:
                return [op.results[i].type]
            if type == name + "*":
                return [value.type for value in op.results[i:]]
        return []


def fail(p: Reader, text: str, at: Any = None) -> NoReturn:
    """A syntax error at the current token, or at `at`."""
    p.raise_error(text, at)
    raise AssertionError("raise_error returned")


# --- pieces that hand-written forms use as well -----------------------------------------------------------------------


def words(text: str) -> list[str]:
    """The words and punctuation of a piece of syntax."""
    return _WORD.findall(text)


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


def read_dict(p: Reader, cls: type[Operation]) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """An attribute dictionary, sorted into properties and attributes of the op."""
    own = inherent(cls)
    properties: dict[str, Attribute] = {}
    attributes: dict[str, Attribute] = {}
    for key, value in p.parse_optional_attr_dict().items():
        (properties if key in own else attributes)[key] = value
    return properties, attributes


def template(
    cls: type[Operation],
    text: str,
    signature: str,
    codecs: dict[str, Codec] | None = None,
    names: Callable[[Any], list[str | None]] | None = None,
) -> Form:
    """The form of an op from its text and signature; compiled on first use."""

    @cache
    def made() -> Template:
        return Template(cls, text, signature, codecs or {})

    return Form(lambda p: made().read(p), lambda op, p: made().show(op, p), names)


def called(name: str) -> Callable[[Any], list[str | None]]:
    """The hint of an op whose first result always likes the same name."""
    return lambda op: [name, *[None] * (len(op.results) - 1)]


# --- codecs -----------------------------------------------------------------------------------------------------------


def keyword_flags(
    key: str, word: str, make: Callable[[str], Attribute], text: Callable[[Attribute], str], default: str
) -> Codec:
    """` word<a,b>`, left out when it says `default`."""

    def read(p: Reader) -> Attribute | None:
        if p.parse_optional_keyword(word) is None:
            return None
        expect(p, "<")
        words = [p.parse_identifier()]
        while p.parse_optional_punctuation(",") is not None:
            words.append(p.parse_identifier())
        expect(p, ">")
        return make(",".join(words))

    def show(p: Printer, attr: Attribute | None) -> None:
        shown = default if attr is None else text(attr)
        if shown != default:
            p.print_string(f" {word}<{shown}>")

    return Codec(key, read, show)


def word_enum(
    key: str, choices: Sequence[str], make: Callable[[int], Attribute], number: Callable[[Attribute], int]
) -> Codec:
    """An enumeration as a keyword, bare or quoted, with no blank in front."""

    def read(p: Reader) -> Attribute:
        at = p.token().start
        word = p.parse_optional_identifier_or_str_literal()
        if word not in choices:
            listed = ", ".join(choices)
            p.raise_error(
                "expected string or keyword containing one of the following enum values for attribute "
                f"'{key}' [{listed}]",
                at,
            )
        return make(choices.index(word))

    def show(p: Printer, attr: Attribute | None) -> None:
        if attr is not None:
            p.print_string(choices[number(attr)])

    return Codec(key, read, show)


def symbol(key: str) -> Codec:
    """`@name`, flat or nested."""

    def read(p: Reader) -> Attribute:
        found = p.parse_optional_attribute() if p.token().kind is Kind.AT_IDENT else None
        if not isinstance(found, SymbolRefAttr):
            p.raise_error("expected valid '@'-identifier for symbol name")
        return cast(Attribute, found)

    return Codec(key, read, lambda p, attr: None if attr is None else p.print_attribute(attr))


def i64_list(key: str) -> Codec:
    """`[1, 0]`, stored as a dense array."""

    def read(p: Reader) -> Attribute:
        items = p.parse_comma_separated_list(p.Delimiter.SQUARE, lambda: p.parse_integer(allow_boolean=False))
        return DenseArrayBase.from_list(I64, items)

    def show(p: Printer, attr: Attribute | None) -> None:
        values = [] if attr is None else cast(Any, attr).get_values()
        p.print_string(f"[{', '.join(map(str, values))}]")

    return Codec(key, read, show)


def attribute(key: str) -> Codec:
    """Any attribute, in full."""
    return Codec(key, lambda p: p.parse_attribute(), lambda p, attr: None if attr is None else p.print_attribute(attr))


def string(key: str) -> Codec:
    return Codec(
        key,
        lambda p: StringAttr(p.parse_str_literal()),
        lambda p, attr: None if attr is None else p.print_attribute(attr),
    )


def unit_word(key: str, word: str) -> Codec:
    """` word` when the flag is set."""
    return Codec(
        key,
        lambda p: UnitAttr() if p.parse_optional_keyword(word) is not None else None,
        lambda p, attr: None if attr is None else p.print_string(f" {word}"),
    )


def int_value(attr: Attribute | None, default: int = 0) -> int:
    return attr.value.data if isinstance(attr, IntegerAttr) else default
