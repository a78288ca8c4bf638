"""What is known of integers before anything runs: their number, or a text that equal values have.

Texts are canonical as far as they need be: operands of commutative ops are sorted, conversions of one width into
another are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from hashlib import sha256

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import BlockArgument, Operation, SSAValue

from aiecc.plugins.tpush.dialect.view_ops import (
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
_LONGEST = 400
_MIRRORED = {">": "<", ">=": "<="}


class Values:
    """Values of one function. `name_of`: the text of a block argument. `lane`: of the Vector core it runs on.
    `cluster`: the number of its cluster, where that is to be known.

    What has been computed is kept: `bind` when a block argument gets a number, or another name.
    """

    def __init__(self, name_of: Callable[[BlockArgument], str], lane: int = 0, cluster: int | None = None) -> None:
        self.name_of = name_of
        self.lane = lane
        self.cluster = cluster
        self.asked: set[str] = set()
        """Names of the arguments that texts were made of."""
        self._bound: dict[SSAValue, int] = {}
        self._numbers: dict[SSAValue, int | None] = {}
        self._texts: dict[SSAValue, tuple[str, frozenset[str]]] = {}

    def bind(self, argument: BlockArgument, number: int | None) -> None:
        """Give a loop counter its number, while its loop is unrolled; None takes it away."""
        if number is None:
            self._bound.pop(argument, None)
        else:
            self._bound[argument] = number
        self._numbers.clear()
        self._texts.clear()

    def number(self, value: SSAValue) -> int | None:
        """The number, when it is known. Integers narrower than 64 bits wrap around as they do on the machine."""
        if value not in self._numbers:
            for each in _needed(value, self._numbers):
                self._numbers[each] = self._number(each)
        return self._numbers[value]

    def _number(self, value: SSAValue) -> int | None:
        """Of a value whose operands have been looked at."""
        if isinstance(value, BlockArgument):
            return self._bound.get(value)
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, arith.ConstantOp):
            return op.value.value.data if isinstance(op.value, IntegerAttr) else None
        if isinstance(op, GetBlockIdxOp):
            return self.cluster
        if isinstance(op, GetSubBlockIdxOp):
            return self.lane
        if isinstance(op, GetSubBlockNumOp):
            return 2
        if not op.name.startswith("arith.") or not _is_integer(value):
            return None
        operands = [self._numbers[operand] for operand in op.operands]
        if isinstance(op, arith.SelectOp):
            return None if operands[0] is None else operands[1 if operands[0] & 1 else 2]
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            # 0 decides a product, false a conjunction.
            return 0 if op.name in ("arith.muli", "arith.andi") and 0 in operands else None
        found = _compute(op, known)
        return None if found is None else _wrapped(found, value)

    def truth(self, value: SSAValue) -> bool | None:
        """A condition, when it is known."""
        found = self.number(value)
        return None if found is None else bool(found & 1)

    def text(self, value: SSAValue) -> str:
        """What equal values have in common, readable."""
        if value not in self._texts:
            self.number(value)
            for each in _needed(value, self._texts):
                self._texts[each] = self._text(each)
        text, asked = self._texts[value]
        self.asked |= asked
        return text

    def _text(self, value: SSAValue) -> tuple[str, frozenset[str]]:
        """Of a value whose operands have been looked at, with the names in it."""
        number = self.number(value)
        if number is not None:
            return str(number), frozenset()
        if isinstance(value, BlockArgument):
            name = self.name_of(value)
            return name, frozenset((name,))
        op = value.owner
        assert isinstance(op, Operation)
        if not _followed(op):
            # Anything may have been read from memory: equal to nothing but itself.
            known = isinstance(op, GetBlockIdxOp | GetBlockNumOp)
            return (op.name.removeprefix("pto.get_") if known else f"{op.name} {id(value):x}"), frozenset()
        inner = [self._texts[operand] for operand in op.operands]
        asked = frozenset[str]().union(*(names for _, names in inner))
        return _short(_expression(op, [text for text, _ in inner])), asked

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


def _followed(op: Operation) -> bool:
    """Whether the results of an op say no more than its operands do."""
    return op.name.startswith("arith.") and not op.regions


def _needed(value: SSAValue, known: Container[SSAValue]) -> Iterator[SSAValue]:
    """A value and all it is computed from, operands first, but what is known. Without recursion: chains are long."""
    met: set[SSAValue] = set()
    stack = [value]
    while stack:
        top = stack[-1]
        owner = top.owner
        if top not in met:
            met.add(top)
            if isinstance(owner, Operation) and _followed(owner):
                stack += [each for each in owner.operands if each not in known and each not in met]
                continue
        stack.pop()
        if top in met and top not in known:
            yield top


def _expression(op: Operation, parts: list[str]) -> str:
    if op.name in _CONVERSIONS:
        return parts[0]
    if isinstance(op, arith.CmpiOp):
        return _comparison(op, parts)
    if op.name in _COMMUTATIVE:
        parts = sorted(parts)
    if op.name in _SIGNS and len(parts) == 2:
        return f"({parts[0]} {_SIGNS[op.name]} {parts[1]})"
    return f"{op.name.removeprefix('arith.')}({', '.join(parts)})"


def _short(text: str) -> str:
    """A text that would grow without end, by its digest: equal ones stay equal."""
    return text if len(text) <= _LONGEST else f"expression {sha256(text.encode()).hexdigest()[:16]}"


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
