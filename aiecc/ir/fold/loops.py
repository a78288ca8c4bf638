"""What is known of an `scf.for` before it runs: how often, and with which numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aiecc.ir.fold.scalars import attr_number, bits_of

Lookup = Callable[[SSAValue], int | None]


@dataclass(frozen=True)
class Range:
    """The numbers a loop counts through: from low, by step, while below high. In the reading its comparison uses."""

    low: int
    high: int
    step: int

    @property
    def trips(self) -> int:
        return max(0, -(-(self.high - self.low) // self.step))


def known_number(value: SSAValue) -> int | None:
    """The number an `arith.constant` makes; None for any other value."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "arith.constant":
        return None
    return attr_number(owner.properties.get("value"))


def is_unsigned(loop: Operation) -> bool:
    """Whether a loop compares its counter without a sign."""
    return any(isinstance(place.get("unsignedCmp"), UnitAttr) for place in (loop.attributes, loop.properties))


def static_range(loop: Operation, known: Lookup = known_number) -> Range | None:
    """A loop's range when its bounds and its step are known and its counter cannot wrap around; None otherwise."""
    numbers = [known(value) for value in loop.operands[:3]]
    low, high, step = numbers
    bits = bits_of(loop.operands[0].type)
    if low is None or high is None or step is None or bits is None:
        return None
    mask, unsigned = (1 << bits) - 1, is_unsigned(loop)
    if unsigned:
        low, high, step = low & mask, high & mask, step & mask
    if step <= 0:
        return None
    found = Range(low, high, step)
    last = low + step * found.trips
    return found if found.trips == 0 or last <= (mask if unsigned else mask >> 1) else None


def trip_count(loop: Operation, known: Lookup = known_number) -> int | None:
    """How often the body of a loop runs; None when that is not known."""
    if loop.operands[0] is loop.operands[1]:
        return 0
    found = static_range(loop, known)
    return None if found is None else found.trips


def body_of(op: Operation, at: int = 0) -> Block:
    """The only block of a region of a structured operation."""
    return op.regions[at].block


def yielded(block: Block) -> Operation:
    """The terminator of a block that has one."""
    last = block.last_op
    assert last is not None
    return last


def is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether a value is made inside an operation, at any depth."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    while block is not None:
        around: Operation | None = block.parent_op()
        if around is op:
            return True
        block = None if around is None else around.parent
    return False


def make_loop(old: Operation, operands: list[SSAValue], types: list[Attribute], body: Region) -> Operation:
    """A loop with the attributes and the position of another."""
    from xdsl.dialects.scf import ForOp

    return ForOp.create(
        operands=operands,
        result_types=types,
        regions=[body],
        properties=dict(old.properties),
        attributes=dict(old.attributes),
        location=old.location,
    )
