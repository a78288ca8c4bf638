"""`aie-objectfifo-erase-pools`: pools that nothing names any more go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp
from aiecc.ir.passes.base import DEVICE, Pass


@dataclass(frozen=True)
class ErasePools(Pass):
    """Drop the pools without a user, of any kind. Their buffers, locks and programs stay."""

    name: ClassVar[str] = "aie-objectfifo-erase-pools"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Drop objectFifo pools that nothing refers to"

    def apply(self, op: Operation, sink: Sink) -> None:
        pools = [inner for inner in op.walk() if isinstance(inner, ObjectFifoPoolOp)]
        if not pools:
            return
        used = {
            name
            for inner in op.walk()
            for attr in (*inner.properties.values(), *inner.attributes.values())
            for name in _named(attr)
        }
        for pool in pools:
            if pool.symbol not in used:
                pool.detach()
                pool.erase()


def _named(attr: Attribute) -> Iterator[str]:
    """Every symbol an attribute names, at any depth of lists and dictionaries."""
    if isinstance(attr, SymbolRefAttr):
        yield attr.root_reference.data
        yield from (part.data for part in attr.nested_references.data)
    elif isinstance(attr, ArrayAttr):
        for inner in attr.data:
            yield from _named(inner)
    elif isinstance(attr, DictionaryAttr):
        for inner in attr.data.values():
            yield from _named(inner)
