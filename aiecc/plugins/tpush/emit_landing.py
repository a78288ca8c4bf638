"""How long a popped tile is needed on A2A3, where a pop copies it out of its slot: in so many places pops land in turn.

A place that is used again too early would hold the next tile while somebody still reads the last one.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.ir import SSAValue

from aiecc.api import refuse, span_of
from aiecc.plugins.tpush.dialect.pipe_ops import PopOp
from aiecc.plugins.tpush.dialect.tile_ops import ALIASES

CODE = "E1205"
_TODO = "pto.tmov it into a tile of your own (pto.alloc_tile), and hand that on"


def places(pop: PopOp) -> int:
    """One more than the iterations of its loop that a tile outlives. Raises `Refused` when only the run knows."""
    most = 0
    rounds: dict[SSAValue, int] = {pop.taken: 0}
    left: list[SSAValue] = [pop.taken]
    while left:
        value = left.pop()
        for other, more in _handed_on(pop, value):
            total = rounds[value] + more
            if total <= rounds.get(other, -1):
                continue
            if total > _longest(pop):
                _refuse(pop, "may be kept for any number of iterations of its loop")
            rounds[other] = total
            most = max(most, total)
            left.append(other)
    return most + 1


def _handed_on(pop: PopOp, value: SSAValue) -> Iterator[tuple[SSAValue, int]]:
    """What else a tile is called, and how many iterations of the pop's loop later."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, ALIASES):
            yield op.results[0], 0
        elif isinstance(op, scf.ForOp):
            if (index := use.index - 3) >= 0:
                yield op.body.block.args[1 + index], 0
                yield op.results[index], 0  # a loop that does not run hands it through
        elif isinstance(op, scf.YieldOp):
            parent = op.parent_op()
            if isinstance(parent, scf.IfOp):
                yield parent.results[use.index], 0
            elif isinstance(parent, scf.ForOp):
                around = parent.is_ancestor(pop)
                if around and parent is not _loop(pop):
                    _refuse(pop, "is handed on by a loop around its own")
                yield parent.body.block.args[1 + use.index], int(around)
                yield parent.results[use.index], 0


def _loop(pop: PopOp) -> scf.ForOp | None:
    """The innermost loop around a pop."""
    parent = pop.parent_op()
    while parent is not None and not isinstance(parent, scf.ForOp):
        parent = parent.parent_op()
    return parent


def _longest(pop: PopOp) -> int:
    """Each value that a loop carries is one iteration; a tile that lives longer goes round in a circle."""
    loop = _loop(pop)
    return 0 if loop is None else len(loop.iter_args)


def _refuse(pop: PopOp, text: str) -> None:
    refuse(f"'{pop.name}' op gives a tile that {text}", span_of(pop), code=CODE, todo=_TODO)
