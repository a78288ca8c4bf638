"""Tasks that travel through loops and branches: where they come from, and what travels along."""

from __future__ import annotations

from xdsl.dialects.scf import ForOp, IfOp
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue

from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp
from aiecc.ir.fold.loops import body_of, yielded

Source = DmaConfigureTaskOp | SSAValue


def steps(value: SSAValue) -> list[SSAValue] | None:
    """The values that a loop or a branch may hand on as this one; None for a value that nothing hands on."""
    owner = value.owner
    if isinstance(value, OpResult) and isinstance(owner, IfOp):
        return [yielded(region.block).operands[value.index] for region in owner.regions if region.blocks]
    if isinstance(value, OpResult) and isinstance(owner, ForOp):
        return [owner.operands[3 + value.index], yielded(body_of(owner)).operands[value.index]]
    if isinstance(value, BlockArgument) and isinstance(owner, Block):
        loop = owner.parent_op()
        if isinstance(loop, ForOp) and value.index > 0:
            return [loop.operands[2 + value.index], yielded(owner).operands[value.index - 1]]
    return None


def sources(value: SSAValue) -> list[Source]:
    """Every task a value may be, each once; values that are no tasks as they are."""
    found: list[Source] = []
    seen: set[SSAValue] = set()
    todo = [value]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        more = steps(at)
        if more is not None:
            todo += reversed(more)
        else:
            found.append(at.owner if isinstance(at.owner, DmaConfigureTaskOp) else at)
    return found


def channel_of_task(task: DmaConfigureTaskOp) -> tuple[SSAValue | tuple[int, int], int, int]:
    """The one channel a task runs on: its tile, direction and index."""
    tile = task.tile_op
    place = tile.coord if tile is not None and tile.coord is not None else task.tile
    return place, int(task.direction), task.channel


def id_of(value: SSAValue) -> SSAValue | None:
    """The number, computed at run time, of the descriptor of the task that a value is; None where none goes along.

    A loop or branch that hands on a task hands on its number as well, at some other place: the one where every value
    that comes in is the number of the task that comes in with it.
    """
    return _Companions().find(value)


class _Companions:
    def __init__(self) -> None:
        self.found: dict[SSAValue, SSAValue] = {}

    def find(self, value: SSAValue) -> SSAValue | None:
        known = self.found.get(value)
        if known is not None:
            return known
        owner = value.owner
        if isinstance(owner, DmaConfigureTaskOp):
            return owner.bd_id
        more = steps(value)
        if more is None:
            return None
        for candidate in _places(value):
            if candidate is value:
                continue
            others = steps(candidate)
            if others is None or len(others) != len(more):
                continue
            before = dict(self.found)
            # Taken for granted on the way round the loop.
            self.found[value] = candidate
            if all(self.find(task) is id for task, id in zip(more, others, strict=True)):
                return candidate
            self.found = before
        return None


def _places(value: SSAValue) -> list[SSAValue]:
    """The other values that come out of where a value comes out, each handed on in the same way."""
    if isinstance(value, OpResult):
        return list(value.op.results)
    assert isinstance(value, BlockArgument)
    return list(value.block.args[1:])
