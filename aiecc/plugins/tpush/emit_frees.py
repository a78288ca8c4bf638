"""Where frees stand in the code that nobody wrote: the same places as in `frees.py`, found in the IR."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from aiecc.api import refuse, span_of
from aiecc.plugins.tpush.dialect.pipe_ops import FreeOp, PopOp
from aiecc.plugins.tpush.dialect.tile_ops import ALIASES
from aiecc.plugins.tpush.model import Direction

CODE = "E1205"


def last_uses(function: func.FuncOp) -> dict[Operation, list[PopOp]]:
    """Behind which ops tiles are freed, oldest first, in those directions that the function does not free itself."""
    written = {(op.number, op.DIRECTION) for op in function.walk() if isinstance(op, FreeOp)}
    after: dict[Operation, list[PopOp]] = {}
    latest: dict[tuple[Block, int, Direction], Operation] = {}
    for op in function.walk():
        if not isinstance(op, PopOp) or (op.number, op.DIRECTION) in written:
            continue
        block = op.parent_block()
        assert block is not None
        at = _last(op, op.taken, block)
        ring = (block, op.number, op.DIRECTION)
        older = latest.get(ring)
        if older is not None and _later(block, older, at):
            at = older
        latest[ring] = at
        after.setdefault(at, []).append(op)
    return after


def _last(pop: PopOp, value: SSAValue, block: Block) -> Operation:
    """The last op of a block that reads a tile, itself or under another name."""
    found: Operation = pop
    for use in value.uses:
        user = use.operation
        if user.has_trait(IsTerminator, value_if_unregistered=False):
            refuse(
                f"'{pop.name}' op gives a tile that outlives its iteration, and nobody says when it is free",
                span_of(pop),
                code=CODE,
                todo="write the frees: pto.tfree_from_aic or pto.tfree_from_aiv",
            )
        places = [_inside(user, block)]
        if isinstance(user, ALIASES):
            places += [_last(pop, result, block) for result in user.results]
        for place in places:
            if _later(block, place, found):
                found = place
    return found


def _inside(op: Operation, block: Block) -> Operation:
    """The op of a block that an op is, or lies in."""
    while op.parent_block() is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _later(block: Block, a: Operation, b: Operation) -> bool:
    for op in block.ops:
        if op is b:
            return True
        if op is a:
            return False
    return False
