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
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.upstream.codecs import Codec
from aiecc.ir.dialects.upstream.pieces import (
    I1,
    I32,
    I64,
    INDEX,
    Printer,
    Reader,
    element,
    expect,
    inherent,
    like,
    print_dict,
    types,
    use,
    uses,
    words,
)
from aiecc.ir.registry import Form

_FUNCTIONS: dict[str, Callable[[Attribute], Attribute]] = {
    "bool": lambda type: like(type, I1),
    "element": element,
}
_FIXED: dict[str, Attribute] = {"index": INDEX, "i1": I1, "i32": I32, "i64": I64}
_PART = re.compile(r"\{([^}]*)\}")


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
            if not is_list and len(places[name]) != 1:
                raise ValueError(f"{op.name} has no operand '{name}'")
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
