"""Symbols inside attributes: who is named, and naming another one instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation


def symbols_in(attr: Attribute) -> Iterator[str]:
    """Every symbol an attribute names, at any depth of lists and dictionaries."""
    if isinstance(attr, SymbolRefAttr):
        yield attr.root_reference.data
        yield from (part.data for part in attr.nested_references.data)
    elif isinstance(attr, ArrayAttr):
        for inner in attr.data:
            yield from symbols_in(inner)
    elif isinstance(attr, DictionaryAttr):
        for inner in attr.data.values():
            yield from symbols_in(inner)


def used_symbols(op: Operation) -> set[str]:
    """Every symbol that an op or one inside it names."""
    return {
        name
        for inner in op.walk()
        for attr in (*inner.properties.values(), *inner.attributes.values())
        for name in symbols_in(attr)
    }


def rename_uses(op: Operation, names: Mapping[str, str]) -> None:
    """In `op` and everything inside, every reference to a key of `names` becomes one to its value.

    Only the root of a reference counts; declarations (`sym_name`) stay.
    """
    if not names:
        return
    for inner in op.walk():
        for place in (inner.properties, inner.attributes):
            for key, attr in place.items():
                new = _renamed(attr, names)
                if new is not attr:
                    place[key] = new


def _renamed(attr: Attribute, names: Mapping[str, str]) -> Attribute:
    if isinstance(attr, SymbolRefAttr):
        new = names.get(attr.root_reference.data)
        return attr if new is None else SymbolRefAttr(StringAttr(new), attr.nested_references)
    if isinstance(attr, ArrayAttr):
        parts = [_renamed(inner, names) for inner in attr.data]
        return attr if all(a is b for a, b in zip(parts, attr.data, strict=True)) else ArrayAttr(parts)
    if isinstance(attr, DictionaryAttr):
        entries = {key: _renamed(inner, names) for key, inner in attr.data.items()}
        return attr if all(entries[key] is inner for key, inner in attr.data.items()) else DictionaryAttr(entries)
    return attr
