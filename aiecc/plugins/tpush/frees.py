"""Frees that nobody wrote: after the last use of a popped tile, in pop order.

The specification has no free op; its timing picture shows the flag set after the use. A function that frees a direction
of a pipe itself is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from aiecc.plugins.tpush.model import (
    Branch,
    Cluster,
    Direction,
    Free,
    Loop,
    Op,
    Pop,
    Program,
    Push,
    Use,
    Value,
)

Ring = tuple[int, Direction]


def with_frees(cluster: Cluster) -> Cluster:
    """The cluster with every free written out."""
    return replace(
        cluster,
        cube=freed(cluster.cube),
        vector=freed(cluster.vector),
        vector1=None if cluster.vector1 is None else freed(cluster.vector1),
    )


def freed(program: Program) -> Program:
    """The program with a free for every pop of those directions that have none."""
    popped = {op.value: op for op in program.walk() if isinstance(op, Pop)}
    written = {(op.pipe, op.direction) for op in program.walk() if isinstance(op, Free)}
    wanted = {(op.pipe, op.direction) for op in popped.values()} - written
    if not wanted:
        return program
    return replace(program, ops=_Writer(dict(popped), wanted).block(program.ops, []))


@dataclass(slots=True)
class _Held:
    """A tile that a block must free: from where it is there, and the last op that reads it (indices in the block)."""

    value: Value
    last: int


@dataclass(slots=True)
class _Writer:
    pops: dict[Value, Pop]
    """The pop behind every value, those that loops carry included."""
    wanted: set[Ring]
    handed_on: set[Value] = field(default_factory=set[Value])

    def block(self, ops: tuple[Op, ...], held: list[Value]) -> tuple[Op, ...]:
        """`held`: what the block owns from its start, oldest first. What it hands on to a loop is the loop's."""
        owned = {value: _Held(value, -1) for value in held}
        made: list[Op] = []
        for index, op in enumerate(ops):
            if isinstance(op, Loop):
                for carry in op.carried:
                    owned.pop(-1 if carry.first is None else carry.first, None)
            for value in _read(op):
                if value in owned:
                    owned[value].last = index
            made.append(self._inside(op))
            if isinstance(op, Pop) and (op.pipe, op.direction) in self.wanted:
                owned[op.value] = _Held(op.value, index)
            elif isinstance(op, Loop):
                owned |= {c.result: _Held(c.result, index) for c in op.carried if self._ours(c.result)}
        return self._placed(made, [h for h in owned.values() if h.value not in self.handed_on])

    def _ours(self, value: Value) -> bool:
        pop = self.pops.get(value)
        return pop is not None and (pop.pipe, pop.direction) in self.wanted

    def _inside(self, op: Op) -> Op:
        if isinstance(op, Branch):
            return replace(op, then=self.block(op.then, []), orelse=self.block(op.orelse, []))
        if not isinstance(op, Loop):
            return op
        for carry in op.carried:
            source = self.pops.get(carry.first if carry.first is not None else -1)
            source = source or self.pops.get(carry.again if carry.again is not None else -1)
            if source is not None:
                self.pops[carry.inner] = self.pops[carry.result] = source
        self.handed_on |= {carry.again for carry in op.carried if carry.again is not None}
        return replace(op, body=self.block(op.body, [c.inner for c in op.carried if self._ours(c.inner)]))

    def _placed(self, ops: list[Op], owned: list[_Held]) -> tuple[Op, ...]:
        """Behind the last use of each, but never before the free of an older tile of its ring."""
        after: dict[int, list[Op]] = {}
        latest: dict[Ring, int] = {}
        for each in owned:
            pop = self.pops[each.value]
            ring = (pop.pipe, pop.direction)
            latest[ring] = at = max(each.last, latest.get(ring, -1))
            after.setdefault(at, []).append(Free(pop.pipe, pop.direction, pop.split, each.value, pop.site))
        placed = list(after.get(-1, ()))
        for index, op in enumerate(ops):
            placed.append(op)
            placed += after.get(index, ())
        return tuple(placed)


def _read(op: Op) -> set[Value]:
    """The values an op reads, those inside it included."""
    if isinstance(op, Use):
        return set(op.values)
    if isinstance(op, Push):
        return set(op.uses)
    inner: tuple[Op, ...] = ()
    found: set[Value] = set()
    if isinstance(op, Loop):
        inner = op.body
        found = {c.again for c in op.carried if c.again is not None}
    elif isinstance(op, Branch):
        inner = (*op.then, *op.orelse)
    for each in inner:
        found |= _read(each)
    return found
