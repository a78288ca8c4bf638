"""All ops inside an op as a list: several times faster than a generator for each op that has a region."""

from __future__ import annotations

from typing import TypeVar, cast

from xdsl.ir import Operation

OpT = TypeVar("OpT", bound=Operation)


def ops_in(op: Operation) -> list[Operation]:
    """An op and everything in it, in program order: an op before what stands in it. May be changed meanwhile."""
    found = [op]
    if op.regions:
        _gather(op, found)
    return found


def all_in(op: Operation, kind: type[OpT]) -> list[OpT]:
    """Of an op and everything in it, the ops of one definition, in program order. Its subclasses are other ops."""
    # xDSL's ops are abstract base classes, for which `isinstance` takes ten times as long.
    return cast("list[OpT]", [each for each in ops_in(op) if type(each) is kind])


def _gather(op: Operation, found: list[Operation]) -> None:
    for region in op.regions:
        for block in region.blocks:
            inner = block.first_op
            while inner is not None:
                found.append(inner)
                if inner.regions:
                    _gather(inner, found)
                inner = inner.next_op
