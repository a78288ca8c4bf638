"""What is known of integers before anything runs: their number, or a text that equal values have.

Texts are canonical as far as they need be: operands of commutative ops are sorted, conversions of one width into
another are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import BlockArgument, Operation, SSAValue

from aiecc.plugins.tpush.dialect.tile_ops import (
    AddPtrOp,
    GetBlockIdxOp,
    GetBlockNumOp,
    GetSubBlockIdxOp,
    GetSubBlockNumOp,
)

_COMMUTATIVE = {"arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi", "arith.minsi"}
_CONVERSIONS = {"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.trunci"}
_SIGNS = {
    "arith.addi": "+",
    "arith.subi": "-",
    "arith.muli": "*",
    "arith.divsi": "/",
    "arith.divui": "/",
    "arith.floordivsi": "//",
    "arith.remsi": "%",
    "arith.remui": "%",
    "arith.andi": "&",
    "arith.ori": "|",
    "arith.xori": "^",
}
_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
_MIRRORED = {">": "<", ">=": "<="}


class Values:
    """Values of one function. `name_of`: the text of a block argument. `lane`: of the Vector core it runs on."""

    def __init__(self, name_of: Callable[[BlockArgument], str], lane: int = 0) -> None:
        self.name_of = name_of
        self.lane = lane
        self.numbers: dict[SSAValue, int] = {}
        """Numbers of loop counters while their loop is unrolled."""
        self.asked: set[str] = set()
        """Names of the arguments that texts were made of."""

    def number(self, value: SSAValue) -> int | None:
        """The number, when it is known. Integers narrower than 64 bits wrap around as they do on the machine."""
        if isinstance(value, BlockArgument):
            return self.numbers.get(value)
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, arith.ConstantOp):
            return op.value.value.data if isinstance(op.value, IntegerAttr) else None
        if isinstance(op, GetSubBlockIdxOp):
            return self.lane
        if isinstance(op, GetSubBlockNumOp):
            return 2
        if isinstance(op, arith.SelectOp):
            condition = self.truth(op.cond)
            return None if condition is None else self.number(op.lhs if condition else op.rhs)
        if not op.name.startswith("arith.") or not _is_integer(value):
            return None
        operands = [self.number(operand) for operand in op.operands]
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            return self._annihilated(op, operands)
        found = _compute(op, known)
        return None if found is None else _wrapped(found, value)

    def _annihilated(self, op: Operation, operands: list[int | None]) -> int | None:
        """0 and false decide a product and a conjunction by themselves."""
        return 0 if op.name in ("arith.muli", "arith.andi") and 0 in operands else None

    def truth(self, value: SSAValue) -> bool | None:
        """A condition, when it is known."""
        found = self.number(value)
        return None if found is None else bool(found & 1)

    def text(self, value: SSAValue) -> str:
        """What equal values have in common, readable."""
        number = self.number(value)
        if number is not None:
            return str(number)
        if isinstance(value, BlockArgument):
            name = self.name_of(value)
            self.asked.add(name)
            return name
        op = value.owner
        assert isinstance(op, Operation)
        if op.name in _CONVERSIONS:
            return self.text(op.operands[0])
        if isinstance(op, GetBlockIdxOp | GetBlockNumOp):
            return op.name.removeprefix("pto.get_")
        parts = [self.text(operand) for operand in op.operands]
        if isinstance(op, arith.CmpiOp):
            return _comparison(op, parts)
        if op.name in _COMMUTATIVE:
            parts.sort()
        if op.name in _SIGNS:
            return f"({f' {_SIGNS[op.name]} '.join(parts)})"
        if op.name.startswith("arith.") and not op.regions:
            return f"{op.name.removeprefix('arith.')}({', '.join(parts)})"
        # Anything may have been read from memory: equal to nothing but itself.
        return f"{op.name} {id(value):x}"

    def pointer(self, value: SSAValue) -> tuple[str, int | None]:
        """A pointer as what it starts from and bytes behind that; None: not known. A number starts from nothing."""
        number = self.number(value)
        if number is not None:
            return "", number
        op = value.owner
        if isinstance(op, AddPtrOp):
            start, offset = self.pointer(op.pointer)
            element = getattr(op.pointer.type, "element", None)
            width = getattr(element, "bitwidth", None)
            more = self.number(op.offset)
            if offset is None or not isinstance(width, int):
                return start, None
            if more is None:
                return f"{start} + {self.text(op.offset)} * {width // 8}", offset
            return start, offset + more * width // 8
        return self.text(value), 0


def _is_integer(value: SSAValue) -> bool:
    return isinstance(value.type, IntegerType | IndexType)


def _wrapped(number: int, value: SSAValue) -> int:
    width = value.type.bitwidth if isinstance(value.type, IntegerType) else 64
    number &= (1 << width) - 1
    return number if width == 1 or number < 1 << width - 1 else number - (1 << width)


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _compute(op: Operation, known: list[int]) -> int | None:
    """The result of an op on numbers; None when it has none."""
    name = op.name
    if isinstance(op, arith.CmpiOp):
        a, b = known
        if op.predicate.value.data >= 6:
            width = op.lhs.type.bitwidth if isinstance(op.lhs.type, IntegerType) else 64
            a, b = a & (1 << width) - 1, b & (1 << width) - 1
        sign = _PREDICATES[op.predicate.value.data]
        return int({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign])
    if name in _CONVERSIONS:
        source = op.operands[0].type
        sign_bit = isinstance(source, IntegerType) and source.bitwidth == 1 and name == "arith.extsi"
        return -known[0] if sign_bit else known[0]
    if name == "arith.extui":
        source = op.operands[0].type
        return known[0] & (1 << source.bitwidth) - 1 if isinstance(source, IntegerType) else known[0]
    if len(known) != 2:
        return None
    a, b = known
    if name in ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi"):
        if b == 0 or (name.endswith("ui") and (a < 0 or b < 0)):
            return None
        quotient = {"arith.floordivsi": a // b, "arith.ceildivsi": -(-a // b)}.get(name, _quotient(a, b))
        return a - _quotient(a, b) * b if "rem" in name else quotient
    if name in ("arith.shli", "arith.shrsi"):
        if not 0 <= b < 64:
            return None
        return a << b if name == "arith.shli" else a >> b
    table: dict[str, Callable[[int, int], int]] = {
        "arith.addi": lambda a, b: a + b,
        "arith.subi": lambda a, b: a - b,
        "arith.muli": lambda a, b: a * b,
        "arith.andi": lambda a, b: a & b,
        "arith.ori": lambda a, b: a | b,
        "arith.xori": lambda a, b: a ^ b,
        "arith.maxsi": max,
        "arith.minsi": min,
    }
    found = table.get(name)
    return None if found is None else found(a, b)


def _comparison(op: arith.CmpiOp, parts: list[str]) -> str:
    code = op.predicate.value.data
    sign = _PREDICATES[code]
    unsigned = "u" if code >= 6 else ""
    if sign in _MIRRORED:
        sign, parts = _MIRRORED[sign], parts[::-1]
    elif sign in ("==", "!="):
        parts = sorted(parts)
    return f"{parts[0]} {sign}{unsigned} {parts[1]}"
