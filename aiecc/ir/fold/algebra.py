"""Rules that make one integer operation out of two, and put constants on the right."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from aiecc.ir.dialects.constraints import I64
from aiecc.ir.fold.loops import known_number
from aiecc.ir.fold.rewrite import Rule, Tidy
from aiecc.ir.fold.scalars import COMMUTATIVE, SWAPPED, attr_number, bits_of, number_attr


def _constant_right(op: Operation, tidy: Tidy) -> bool:
    left, right = op.operands
    if known_number(left) is None or known_number(right) is not None:
        return False
    op.operands = [right, left]
    return True


def _compare_right(op: Operation, tidy: Tidy) -> bool:
    predicate = attr_number(op.properties.get("predicate"))
    if predicate is None or not _constant_right(op, tidy):
        return False
    op.properties["predicate"] = number_attr(SWAPPED[predicate], I64)
    tidy.push_users(op.results[0])
    return True


def _linear(value: SSAValue) -> tuple[int, SSAValue, int] | None:
    """A value as sign * x + constant, where one operation makes it so."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in ("arith.addi", "arith.subi"):
        return None
    left, right = owner.operands
    a, b = known_number(left), known_number(right)
    if b is not None and a is None:
        return 1, left, b if owner.name == "arith.addi" else -b
    if a is not None and b is None:
        return 1 if owner.name == "arith.addi" else -1, right, a
    return None


def _sum_of_sum(op: Operation, tidy: Tidy) -> bool:
    """Constants added one after the other are added once."""
    left, right = op.operands
    a, b = known_number(left), known_number(right)
    if bits_of(left.type) is None or (a is None) == (b is None):
        return False
    inner = _linear(right if a is not None else left)
    if inner is None:
        return False
    sign, value, constant = inner
    subtract = op.name == "arith.subi"
    if a is not None:
        sign, constant = (-sign, a - constant) if subtract else (sign, a + constant)
    else:
        assert b is not None
        constant += -b if subtract else b
    number = tidy.number(constant, value.type, op)
    new = arith.AddiOp(value, number) if sign > 0 else arith.SubiOp(number, value)
    tidy.replace(op, [tidy.insert_before(op, new).results[0]])
    return True


def _product_of_product(op: Operation, tidy: Tidy) -> bool:
    left, right = op.operands
    outer, owner = known_number(right), left.owner
    if outer is None or not isinstance(owner, Operation) or owner.name != "arith.muli":
        return False
    inner = known_number(owner.operands[1])
    if inner is None or bits_of(left.type) is None:
        return False
    new = arith.MuliOp(owner.operands[0], tidy.number(outer * inner, left.type, op))
    tidy.replace(op, [tidy.insert_before(op, new).results[0]])
    return True


RULES: dict[str, tuple[Rule, ...]] = {
    **{f"arith.{word}": (_constant_right,) for word in COMMUTATIVE},
    "arith.addi": (_constant_right, _sum_of_sum),
    "arith.subi": (_sum_of_sum,),
    "arith.muli": (_constant_right, _product_of_product),
    "arith.cmpi": (_compare_right,),
}
