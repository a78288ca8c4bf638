"""What an attribute, operand or result of an op may be, in the words MLIR uses when it is not."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, AttributeCovT, TypeAttribute
from xdsl.irdl import AttrConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

INDEX = IndexType()
BOOL = IntegerType(1)
I8 = IntegerType(8)
I32 = IntegerType(32)
I64 = IntegerType(64)


@dataclass(frozen=True)
class Described(AttrConstraint[AttributeCovT]):
    """A test with the summary that an error message quotes."""

    summary: str
    test: Callable[[Attribute], bool]

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.test(attr):
            raise VerifyException(f"failed to satisfy constraint: {self.summary}")

    def mapping_type_vars(self, type_var_mapping: Mapping[TypeVar, Any]) -> Described[AttributeCovT]:
        return self


def _instance(summary: str, *classes: type[Attribute]) -> Described[Any]:
    return Described(summary, lambda a: isinstance(a, classes))


def _ranged(bits: int, low: int | None, high: int | None, signless: bool = True) -> Described[Any]:
    kind = "signless" if signless else "unsigned"
    summary = f"{bits}-bit {kind} integer attribute"
    if low is not None:
        summary += f" whose minimum value is {low}"
    if high is not None:
        summary += f" whose maximum value is {high}"
    wanted = IntegerType(bits) if signless else IntegerType(bits, Signedness.UNSIGNED)

    def test(attr: Attribute) -> bool:
        if not isinstance(attr, IntegerAttr) or attr.type != wanted:
            return False
        value = attr.value.data
        return (low is None or value >= low) and (high is None or value <= high)

    return Described(summary, test)


def int_attr(bits: int, low: int | None = None, high: int | None = None) -> Described[IntegerAttr[IntegerType]]:
    """A signless integer of `bits` bits, both bounds included."""
    return cast("Described[IntegerAttr[IntegerType]]", _ranged(bits, low, high))


def unsigned_attr(bits: int) -> Described[IntegerAttr[IntegerType]]:
    return cast("Described[IntegerAttr[IntegerType]]", _ranged(bits, None, None, signless=False))


def dense_ints(bits: int) -> Described[DenseArrayBase[IntegerType]]:
    wanted = IntegerType(bits)
    return Described(
        f"i{bits} dense array attribute", lambda a: isinstance(a, DenseArrayBase) and bool(a.elt_type == wanted)
    )


def array_of(summary: str, item: Callable[[Attribute], bool]) -> Described[ArrayAttr[Attribute]]:
    return Described(summary, lambda a: isinstance(a, ArrayAttr) and all(item(x) for x in a.data))


def is_flat_symbol(attr: Attribute) -> bool:
    return isinstance(attr, SymbolRefAttr) and not attr.nested_references.data


def is_elements(attr: Attribute) -> bool:
    return isinstance(attr, DenseIntOrFPElementsAttr | DenseResourceAttr)


STRING: Described[StringAttr] = _instance("string attribute", StringAttr)
UNIT: Described[UnitAttr] = _instance("unit attribute", UnitAttr)
BOOLEAN: Described[BoolAttr] = Described(
    "bool attribute", lambda a: isinstance(a, IntegerAttr) and bool(a.type == BOOL)
)
SYMBOL: Described[SymbolRefAttr] = Described("flat symbol reference attribute", is_flat_symbol)
SYMBOL_PATH: Described[SymbolRefAttr] = _instance("symbol reference attribute", SymbolRefAttr)
TYPE: Described[TypeAttribute] = _instance("any type attribute", TypeAttribute)
ELEMENTS: Described[DenseIntOrFPElementsAttr] = Described("constant vector/tensor attribute", is_elements)
ANY: Described[Attribute] = Described("any attribute", lambda _: True)
STRINGS = array_of("string array attribute", lambda a: isinstance(a, StringAttr))
SYMBOLS = array_of("flat symbol ref array attribute", is_flat_symbol)

INDEX_TYPE: Described[IndexType] = _instance("index", IndexType)
MEMREF: Described[Attribute] = _instance("ranked or unranked memref of any type values", MemRefType, UnrankedMemRefType)
RANKED_MEMREF: Described[MemRefType[Attribute]] = _instance("memref of any type values", MemRefType)
ANY_TYPE: Described[Attribute] = _instance("any type", TypeAttribute)
ANY_INT: Described[IntegerType] = _instance("integer", IntegerType)


def type_is(wanted: Attribute, summary: str) -> Described[Any]:
    return Described(summary, lambda a: a == wanted)


BIT_TYPE: Described[IntegerType] = type_is(BOOL, "1-bit signless integer")
I32_TYPE: Described[IntegerType] = type_is(I32, "32-bit signless integer")
I64_TYPE: Described[IntegerType] = type_is(I64, "64-bit signless integer")
INT_OR_INDEX: Described[Attribute] = Described(
    "signless integer or index",
    lambda a: isinstance(a, IndexType) or (isinstance(a, IntegerType) and a.signedness.data is Signedness.SIGNLESS),
)


def integers(attr: DenseArrayBase) -> tuple[int, ...]:
    """The values of a dense array of integers of 8, 16, 32 or 64 bits."""
    return _integers(attr.data.data, attr.elt_type.size)


@lru_cache(maxsize=1 << 14)
def _integers(data: bytes, width: int) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // width}{_CODES[width]}", data)


_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}


def number(attr: Attribute | None) -> int | None:
    """The value of an integer attribute; None when absent (or not an integer)."""
    return attr.value.data if isinstance(attr, IntegerAttr) else None


def constant_value(attr: Attribute | None) -> int | float | None:
    if isinstance(attr, FloatAttr):
        return attr.value.data
    return number(attr)
