"""`aie-normalize-address-spaces`: memory spaces said where buffers may lie; compiled code has one space only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, FunctionType, MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.passes.base import ANY, Pass


@dataclass(frozen=True)
class NormalizeAddressSpaces(Pass):
    """Take the memory space off every memref type: of values, globals, functions and other attributes.

    To run after placement has read them, on what goes to the compiler.
    """

    name: ClassVar[str] = "aie-normalize-address-spaces"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Remove memory spaces from memref types"

    def apply(self, op: Operation, sink: Sink) -> None:
        normalize(op)


def normalize(op: Operation) -> None:
    """Take memory spaces off an op and everything inside it."""
    plain = _Plain()
    for inner in op.walk():
        for value in inner.results:
            _retype(value, plain)
        for region in inner.regions:
            for block in region.blocks:
                for argument in block.args:
                    _retype(argument, plain)
        for held in (inner.properties, inner.attributes):
            for key, attr in held.items():
                flat = plain.of(attr)
                if flat is not attr:
                    held[key] = flat


def _retype(value: SSAValue, plain: _Plain) -> None:
    flat = plain.of(value.type)
    if flat is not value.type:
        value._type = flat  # pyright: ignore[reportPrivateUsage]  (xDSL has no public way that keeps the value)


@dataclass
class _Plain:
    """Attributes without memory spaces. Hands back the very attribute when there is none in it."""

    known: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def of(self, attr: Attribute) -> Attribute:
        if not isinstance(attr, MemRefType | FunctionType | ArrayAttr):
            return attr
        found = self.known.get(attr)
        if found is None:
            found = self.known[attr] = self._make(attr)
        return found

    def _make(self, attr: Attribute) -> Attribute:
        if isinstance(attr, MemRefType):
            # A slot that holds a buffer is a memref of memrefs.
            element = self.of(attr.element_type)
            if isinstance(attr.memory_space, NoneAttr) and element is attr.element_type:
                return attr
            return MemRefType(element, attr.shape, attr.layout)
        if isinstance(attr, FunctionType):
            inputs, outputs = self._all(attr.inputs.data), self._all(attr.outputs.data)
            if inputs == attr.inputs.data and outputs == attr.outputs.data:
                return attr
            return FunctionType.from_lists(inputs, outputs)
        if isinstance(attr, ArrayAttr):
            inside = self._all(attr.data)
            return attr if inside == attr.data else ArrayAttr(inside)
        return attr

    def _all(self, attrs: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        return tuple(self.of(a) for a in attrs)
