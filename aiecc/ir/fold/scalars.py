"""What an integer operation of `arith` comes to, when enough of its operands are known.

Numbers are Python ints that stand for the signed reading of a two's complement number; `index` is 64 bits wide, as in
MLIR. An operation that traps or has no defined result (division by zero, a shift by too much) is never evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

INDEX_BITS = 64
Folded = int | SSAValue | None
Known = Sequence[int | None]

# The number of a comparison with its sides exchanged.
SWAPPED = {0: 0, 1: 1, 2: 4, 3: 5, 4: 2, 5: 3, 6: 8, 7: 9, 8: 6, 9: 7}


def bits_of(kind: Attribute) -> int | None:
    """How wide an integer type is; None for a type that is none."""
    if isinstance(kind, IntegerType):
        return kind.width.data
    return INDEX_BITS if isinstance(kind, IndexType) else None


def signed(value: int, bits: int) -> int:
    """The lowest bits of a number, read with a sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def number_attr(value: int, kind: Attribute) -> IntegerAttr:
    """A number as an attribute of an integer type, wrapped to its width."""
    assert isinstance(kind, IntegerType | IndexType)
    bits = bits_of(kind)
    assert bits is not None
    return IntegerAttr(signed(value, bits), kind)


def attr_number(attr: Attribute | None) -> int | None:
    """The number an integer attribute holds, read with a sign; None for any other."""
    if not isinstance(attr, IntegerAttr):
        return None
    bits = bits_of(attr.type)
    return None if bits is None else signed(attr.value.data, bits)


def fold(op: Operation, known: Known) -> Folded:
    """The number or the operand that an operation's only result equals; None when nothing is known of it.

    known: per operand its number, or None.
    """
    rule = _RULES.get(op.name)
    return None if rule is None else rule(op, known)


# --- two operands of one type -----------------------------------------------------------------------------------------


def _divide(a: int, b: int) -> int:
    """Division that rounds towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_Wide = Callable[[int, int, int], int | None]


def _by_signed(compute: Callable[[int, int], int]) -> _Wide:
    return lambda a, b, bits: compute(a, b)


def _by_unsigned(compute: Callable[[int, int], int]) -> _Wide:
    def rule(a: int, b: int, bits: int) -> int:
        mask = (1 << bits) - 1
        return compute(a & mask, b & mask)

    return rule


def _signed_division(compute: Callable[[int, int], int]) -> _Wide:
    def rule(a: int, b: int, bits: int) -> int | None:
        overflow = b == -1 and a == -(1 << (bits - 1))
        return None if b == 0 or overflow else compute(a, b)

    return rule


def _unsigned_division(compute: Callable[[int, int], int]) -> _Wide:
    def rule(a: int, b: int, bits: int) -> int | None:
        mask = (1 << bits) - 1
        return None if b == 0 else compute(a & mask, b & mask)

    return rule


def _shift(compute: Callable[[int, int, int], int]) -> _Wide:
    def rule(a: int, b: int, bits: int) -> int | None:
        return compute(a, b, bits) if 0 <= b < bits else None

    return rule


_VALUES: dict[str, _Wide] = {
    "addi": _by_signed(lambda a, b: a + b),
    "subi": _by_signed(lambda a, b: a - b),
    "muli": _by_signed(lambda a, b: a * b),
    "andi": _by_signed(lambda a, b: a & b),
    "ori": _by_signed(lambda a, b: a | b),
    "xori": _by_signed(lambda a, b: a ^ b),
    "maxsi": _by_signed(max),
    "minsi": _by_signed(min),
    "maxui": _by_unsigned(max),
    "minui": _by_unsigned(min),
    "divsi": _signed_division(_divide),
    "remsi": _signed_division(lambda a, b: a - b * _divide(a, b)),
    "floordivsi": _signed_division(lambda a, b: a // b),
    "ceildivsi": _signed_division(lambda a, b: -(-a // b)),
    "divui": _unsigned_division(lambda a, b: a // b),
    "remui": _unsigned_division(lambda a, b: a % b),
    "ceildivui": _unsigned_division(lambda a, b: -(-a // b)),
    "shli": _shift(lambda a, b, bits: a << b),
    "shrsi": _shift(lambda a, b, bits: a >> b),
    "shrui": _shift(lambda a, b, bits: (a & ((1 << bits) - 1)) >> b),
}

# What x op c is, for a constant c: "x", or a number.
_NEUTRAL: dict[str, int] = {
    "addi": 0, "subi": 0, "muli": 1, "ori": 0, "xori": 0, "andi": -1, "divsi": 1, "divui": 1, "floordivsi": 1,
    "ceildivsi": 1, "ceildivui": 1, "shli": 0, "shrsi": 0, "shrui": 0,
}  # fmt: skip
_ABSORBING: dict[str, tuple[int, int]] = {
    "muli": (0, 0), "andi": (0, 0), "ori": (-1, -1), "remsi": (1, 0), "remui": (1, 0),
}  # fmt: skip
# What x op x is.
_SAME: dict[str, int | None] = {
    "subi": 0, "xori": 0, "andi": None, "ori": None, "maxsi": None, "minsi": None, "maxui": None, "minui": None,
}  # fmt: skip

COMMUTATIVE = frozenset({"addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"})


def _binary(word: str) -> Callable[[Operation, Known], Folded]:
    compute = _VALUES[word]

    def rule(op: Operation, known: Known) -> Folded:
        left, right = op.operands
        bits = bits_of(left.type)
        if bits is None:
            return None
        a, b = known
        if a is not None and b is not None:
            value = compute(a, b, bits)
            return None if value is None else signed(value, bits)
        if a is not None and word in COMMUTATIVE:
            left, a, b = right, None, a
        if b is not None:
            return _with_constant(word, left, signed(b, bits), bits)
        if left is right and word in _SAME:
            return left if _SAME[word] is None else _SAME[word]
        return _undone(word, left, right) if a is None else None

    return rule


def _with_constant(word: str, value: SSAValue, constant: int, bits: int) -> Folded:
    # Of one bit, 1 is -1 in the signed reading.
    if signed(_NEUTRAL[word], bits) == constant if word in _NEUTRAL else False:
        # Division by one bit's 1 is division by -1 when it is signed.
        return value if bits > 1 or not word.endswith("divsi") else None
    if word in _ABSORBING and signed(_ABSORBING[word][0], bits) == constant:
        return _ABSORBING[word][1]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    ends = {"maxsi": (low, high), "minsi": (high, low), "maxui": (0, -1), "minui": (-1, 0)}.get(word)
    if ends is not None:
        return value if constant == ends[0] else constant if constant == ends[1] else None
    return None


def _undone(word: str, left: SSAValue, right: SSAValue) -> SSAValue | None:
    """(a + b) - b, (a - b) + b and their like."""
    if word == "subi" and (parts := _parts(left, "arith.addi")):
        return parts[0] if parts[1] is right else parts[1] if parts[0] is right else None
    if word == "addi":
        for one, other in ((left, right), (right, left)):
            if (parts := _parts(one, "arith.subi")) and parts[1] is other:
                return parts[0]
    return None


def _parts(value: SSAValue, name: str) -> Sequence[SSAValue] | None:
    owner = value.owner
    return owner.operands if isinstance(owner, Operation) and owner.name == name else None


# --- comparisons, choices, conversions --------------------------------------------------------------------------------


def compare(predicate: int, a: int, b: int, bits: int) -> bool:
    """What `arith.cmpi` says of two numbers; the predicate by its number."""
    if predicate >= 6:
        mask = (1 << bits) - 1
        a, b = a & mask, b & mask
        predicate -= 4
    return (a == b, a != b, a < b, a <= b, a > b, a >= b)[predicate]


def _cmpi(op: Operation, known: Known) -> Folded:
    predicate, bits = attr_number(op.properties.get("predicate")), bits_of(op.operands[0].type)
    if predicate is None or bits is None:
        return None
    a, b = known
    if a is not None and b is not None:
        return -int(compare(predicate, a, b, bits))
    if op.operands[0] is op.operands[1]:
        return -int(compare(predicate, 0, 0, bits))
    return None


def _select(op: Operation, known: Known) -> Folded:
    condition, yes, no = op.operands
    if bits_of(condition.type) != 1:
        return None
    if yes is no:
        return yes
    if known[0] is not None:
        return _pick(op, known, 1 if known[0] else 2)
    if known[1] is not None and known[1] == known[2]:
        return known[1]
    if bits_of(op.results[0].type) == 1 and known[1] == -1 and known[2] == 0:
        return condition
    return None


def _pick(op: Operation, known: Known, at: int) -> Folded:
    number = known[at]
    return op.operands[at] if number is None else number


def _resize(unsigned: bool) -> Callable[[Operation, Known], Folded]:
    def rule(op: Operation, known: Known) -> Folded:
        old, new = bits_of(op.operands[0].type), bits_of(op.results[0].type)
        if old is None or new is None:
            return None
        value = known[0]
        if value is not None:
            return signed(value & ((1 << old) - 1) if unsigned else value, new)
        return _there_and_back(op)

    return rule


_WIDENING = {"arith.index_cast": "arith.index_cast", "arith.index_castui": "arith.index_castui"}
_NARROWING = {"arith.trunci": ("arith.extsi", "arith.extui")}


def _there_and_back(op: Operation) -> SSAValue | None:
    """A number widened and narrowed again is the number."""
    inner = op.operands[0].owner
    if not isinstance(inner, Operation) or len(inner.operands) != 1 or inner.operands[0].type != op.results[0].type:
        return None
    widths = [bits_of(value.type) for value in (inner.operands[0], inner.results[0])]
    if widths[0] is None or widths[1] is None or widths[0] > widths[1]:
        return None
    # An `index` may be no wider than this on the machine itself.
    if isinstance(inner.results[0].type, IndexType) and widths[0] > 32:
        return None
    same = _WIDENING.get(op.name) == inner.name or inner.name in _NARROWING.get(op.name, ())
    return inner.operands[0] if same else None


_RULES: dict[str, Callable[[Operation, Known], Folded]] = {
    **{f"arith.{word}": _binary(word) for word in _VALUES},
    "arith.cmpi": _cmpi,
    "arith.select": _select,
    "arith.index_cast": _resize(False),
    "arith.index_castui": _resize(True),
    "arith.extsi": _resize(False),
    "arith.extui": _resize(True),
    "arith.trunci": _resize(False),
}
