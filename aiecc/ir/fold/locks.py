"""Rules for `aie.use_lock`: taking nothing is no operation, and what a block holds already is not taken again."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.fold.loops import known_number
from aiecc.ir.fold.rewrite import Rule, Tidy


def _take_nothing(op: Operation, tidy: Tidy) -> bool:
    assert isinstance(op, UseLockOp)
    if op.action is not LockAction.ACQUIRE_GREATER_EQUAL or known_number(op.value) != 0:
        return False
    tidy.erase(op)
    return True


def open_locks(program: Operation) -> int:
    """How many uses of locks are only decided at run time: how much a counting lock is asked for, whether a binary one
    is taken.
    """
    return sum(1 for use in uses_of_locks(program) if _is_open(use))


def _is_open(use: UseLockOp) -> bool:
    if known_number(use.value) is None:
        return True
    around = use.parent_op()
    return use.action is LockAction.ACQUIRE and around is not None and around.name == "scf.if"


def uses_of_locks(op: Operation) -> Iterator[UseLockOp]:
    """The uses of locks inside an op, at any depth."""
    return (inner for inner in op.walk() if isinstance(inner, UseLockOp))


def drop_held(program: Operation) -> None:
    """Remove each `Acquire` of a binary lock that its block has taken before and not given back since.

    A block starts with nothing; what operations inside it give back, at any depth, is no longer held.
    """
    for region in program.regions:
        for block in region.blocks:
            held: set[SSAValue] = set()
            for op in list(block.ops):
                if isinstance(op, UseLockOp):
                    if not op.is_acquire:
                        held.discard(op.lock)
                    elif op.action is LockAction.ACQUIRE and op.lock in held:
                        op.detach()
                        op.erase()
                    else:
                        held.add(op.lock)
                elif op.regions:
                    held -= {use.lock for use in uses_of_locks(op) if not use.is_acquire}
                    drop_held(op)


RULES: dict[str, tuple[Rule, ...]] = {UseLockOp.name: (_take_nothing,)}
