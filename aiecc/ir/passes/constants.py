"""One constant of a kind per program, at the program's head: what MLIR's folder makes of them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import ConstantLike, IsolatedFromAbove

from aiecc.ir.dialects.traits import KeepsConstants

Key = tuple[str, tuple[tuple[str, Attribute], ...], Attribute]


def gather_constants(op: Operation) -> bool:
    """Move the constants inside an op to the head of the region that keeps them, and merge equal ones.

    That region is the next one out that no value crosses, or whose op keeps constants. A constant is put before those
    that were moved there already, unless it stands right behind one of them or first: then it stays. Says whether
    anything changed.
    """
    gathering = _Gathering()
    moved = [gathering.settle(inner) for region in op.regions for inner in _constants(region)]
    return any(moved)


def constant_key(op: Operation) -> Key | None:
    """What a constant stands for; None for any other op. Equal keys, equal constants."""
    if not op.has_trait(ConstantLike, value_if_unregistered=False) or op.operands or len(op.results) != 1:
        return None
    return op.name, tuple(sorted(op.properties.items())), op.results[0].type


def _constants(region: Region) -> Iterator[Operation]:
    """The constants below a region, an op before the ops inside it. Each may be moved up or erased meanwhile."""
    for block in region.blocks:
        for inner in list(block.ops):
            if constant_key(inner) is not None:
                yield inner
            for nested in inner.regions:
                yield from _constants(nested)


class _Gathering:
    def __init__(self) -> None:
        self.known: dict[tuple[Region, Key], Operation] = {}
        self.settled: set[Operation] = set()

    def settle(self, op: Operation) -> bool:
        """Give a constant its place. Says whether that changed anything."""
        key, home = constant_key(op), _home(op)
        if key is None or home is None:
            return False
        first = self.known.setdefault((home, key), op)
        if first is not op:
            op.results[0].replace_all_uses_with(first.results[0])
            op.detach()
            op.erase()
            return True
        self.settled.add(op)
        head = home.blocks.first
        assert head is not None and head.first_op is not None
        if op.parent is head and (op.prev_op is None or op.prev_op in self.settled):
            return False
        front = head.first_op
        op.detach()
        head.insert_op_before(op, front)
        return True


def _home(op: Operation) -> Region | None:
    """The region that keeps a constant."""
    block: Block | None = op.parent
    while block is not None and (region := block.parent) is not None:
        around = region.parent
        if around is None or around.parent is None or _keeps(around):
            return region
        block = around.parent
    return None


def _keeps(op: Operation) -> bool:
    return isinstance(op, UnregisteredOp) or any(op.has_trait(trait) for trait in (IsolatedFromAbove, KeepsConstants))
