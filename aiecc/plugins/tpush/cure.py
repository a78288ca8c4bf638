"""The smallest change that makes a refused program good, found by trying: moves of one op, of a few, more slots.

Every proposal is checked like the program itself, so none is made that would not help.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from aiecc.plugins.tpush.graph import check
from aiecc.plugins.tpush.model import (
    FLAGS,
    Branch,
    Cluster,
    Direction,
    Free,
    Kind,
    Loop,
    Op,
    Pipe,
    Pop,
    Program,
    Push,
    Use,
)
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.unroll import messages, streams, worlds
from aiecc.plugins.tpush.verdict import Verdict

MOVES = 4
"""At most so many ops are moved."""
COST = 4000
"""Programs of more messages, in all runs that are looked at, are not experimented with."""


def cure(cluster: Cluster, rule: FreeRule = FreeRule.AFTER_USE) -> str:
    """What to change, in words; empty when no small change was found."""
    if rule is FreeRule.IN_POP:
        return "free slots after the last use of their tiles, in pop order"
    cost = sum(messages(p, world).total() for world in worlds(cluster) for p in (cluster.cube, cluster.vector))
    if cost > COST:
        return ""  # each try costs as much as the check itself
    for words, changed in _proposals(cluster):
        if _good(changed):
            return words
    return ""


def _good(cluster: Cluster) -> bool:
    return _verdict(cluster).good


def _verdict(cluster: Cluster) -> Verdict:
    verdict = Verdict()
    for world in worlds(cluster):
        verdict = check(streams(cluster, world=world))
        if not verdict.good:
            return verdict
    return verdict


def _proposals(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    yield from _freed_late(cluster)
    yield from _balanced(cluster)
    yield from _moved(cluster)
    yield from _fused(cluster)
    yield from _deeper(cluster)


# ------------------------------------------------------------------------------------------------- frees


def _freed_late(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """Frees where they belong."""
    for name in ("cube", "vector"):
        program: Program = getattr(cluster, name)
        written = [op for op in program.walk() if isinstance(op, Free)]
        if not written:
            continue
        bare = replace(program, ops=_without_frees(program.ops))
        words = f"in @{program.name}, free every slot right after the last use of its tile, oldest first"
        where = [op.site.where for op in written if op.site.where is not None]
        if len(where) == 1:
            words = f"move the free of line {where[0].line} behind the last use of its tile"
        yield words, replace(cluster, **{name: bare})


def _without_frees(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    found: list[Op] = []
    for op in ops:
        if isinstance(op, Loop):
            found.append(replace(op, body=_without_frees(op.body)))
        elif isinstance(op, Branch):
            found.append(replace(op, then=_without_frees(op.then), orelse=_without_frees(op.orelse)))
        elif not isinstance(op, Free):
            found.append(op)
    return tuple(found)


# ------------------------------------------------------------------------------------------------- counts


def _balanced(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """As many pops as pushes, where one op of the larger side may go."""
    for pipe in cluster.pipes:
        for direction in pipe.directions:
            for kind, cls, verb in ((direction.consumer, Pop, "pop"), (direction.producer, Push, "push")):
                name = "cube" if kind is Kind.CUBE else "vector"
                program: Program = getattr(cluster, name)
                last = _last(program.ops, cls, pipe.id, direction)
                if last is not None:
                    words = f"leave out the last {verb} of {direction.name}, or {_other(verb)} one more"
                    yield words, replace(cluster, **{name: replace(program, ops=_without(program.ops, last))})


def _other(verb: str) -> str:
    return "pop" if verb == "push" else "push"


def _last(ops: tuple[Op, ...], cls: type[Push] | type[Pop], pipe: int, direction: Direction) -> Push | Pop | None:
    """The last such op that stands outside of loops."""
    for op in reversed(ops):
        if isinstance(op, cls) and op.pipe == pipe and op.direction is direction:
            return op
    return None


def _without(ops: tuple[Op, ...], gone: Push | Pop) -> tuple[Op, ...]:
    """Without an op, and without the free and the uses of what it popped."""
    value = gone.value if isinstance(gone, Pop) else None
    found: list[Op] = []
    for op in ops:
        if op is gone or (isinstance(op, Free) and value is not None and op.value == value):
            continue
        found.append(op)
    return tuple(found)


# ------------------------------------------------------------------------------------------------- order


@dataclass(frozen=True, slots=True)
class _Move:
    """In a block of one program, an op that goes before another."""

    name: str
    block: tuple[Op, ...]
    source: int
    target: int


def _moved(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """The op that would pay goes before the op that waits; on one core, up to a few times."""
    for side in (Kind.VECTOR, Kind.CUBE):
        changed, words = cluster, list[str]()
        for _ in range(MOVES):
            move = _next_move(changed, side)
            if move is None:
                break
            changed = _apply(changed, move)
            words.append(_in_words(cluster, move))
            yield " and ".join(dict.fromkeys(words)), changed


def _next_move(cluster: Cluster, side: Kind) -> _Move | None:
    """From the first deadlock there is: what that core should do earlier."""
    for world in worlds(cluster):
        run = streams(cluster, world=world)
        for blocked in check(run).deadlock:
            agent, at = blocked.at
            if agent.kind is not side:
                continue
            stream = run.streams[agent]
            payers = [b.payer for b in check(run).deadlock if b.payer is not None and b.payer[0] is agent]
            if payers:
                return _between(cluster, side, stream.ops[at], stream.ops[payers[0][1]])
    return None


def _between(cluster: Cluster, side: Kind, waits: Op, pays: Op) -> _Move | None:
    name = "cube" if side is Kind.CUBE else "vector"
    program: Program = getattr(cluster, name)
    for block in _blocks(program.ops):
        at = {id(op): index for index, op in enumerate(block)}
        if id(waits) in at and id(pays) in at:
            target, source = at[id(waits)], at[id(pays)]
            # In a loop the op that pays may stand before the one that waits, an iteration later.
            if target < source and _may_pass(block, source, target):
                return _Move(name, block, source, target)
    return None


def _blocks(ops: tuple[Op, ...]) -> Iterator[tuple[Op, ...]]:
    yield ops
    for op in ops:
        if isinstance(op, Loop):
            yield from _blocks(op.body)
        elif isinstance(op, Branch):
            yield from _blocks(op.then)
            yield from _blocks(op.orelse)


def _may_pass(block: tuple[Op, ...], source: int, target: int) -> bool:
    """Whether an op may go before those between: not past one of its own ring, nor past what made its tile.

    What a pushed tile was computed from is not known, so a push passes no use of a popped tile.
    """
    op = block[source]
    for other in block[target:source]:
        if isinstance(op, Push) and (isinstance(other, Use) or (isinstance(other, Pop) and other.value in op.uses)):
            return False
        if isinstance(other, Loop | Branch):
            return False
        if type(other) is type(op) and _ring(other) == _ring(op):
            return False
        if isinstance(op, Free) and isinstance(other, Use | Pop):
            value = op.value
            if value is None or value in (other.values if isinstance(other, Use) else (other.value,)):
                return False
    return isinstance(op, Push | Pop | Free)


def _ring(op: Op) -> tuple[int, Direction] | None:
    return (op.pipe, op.direction) if isinstance(op, Push | Pop | Free) else None


def _apply(cluster: Cluster, move: _Move) -> Cluster:
    block = list(move.block)
    block.insert(move.target, block.pop(move.source))
    program: Program = getattr(cluster, move.name)
    ops = _replaced(program.ops, move.block, tuple(block))
    return replace(cluster, **{move.name: replace(program, ops=ops)})


def _replaced(ops: tuple[Op, ...], old: tuple[Op, ...], new: tuple[Op, ...]) -> tuple[Op, ...]:
    if ops is old:
        return new
    found: list[Op] = []
    for op in ops:
        if isinstance(op, Loop):
            found.append(replace(op, body=_replaced(op.body, old, new)))
        elif isinstance(op, Branch):
            found.append(replace(op, then=_replaced(op.then, old, new), orelse=_replaced(op.orelse, old, new)))
        else:
            found.append(op)
    return tuple(found)


def _in_words(cluster: Cluster, move: _Move) -> str:
    program: Program = getattr(cluster, move.name)
    source, target = move.block[move.source], move.block[move.target]
    return f"in @{program.name}, put {_named(source)} before {_named(target)}"


def _named(op: Op) -> str:
    word = "the push" if isinstance(op, Push) else "the pop" if isinstance(op, Pop) else "the free"
    ring = f" of {op.direction.name}" if isinstance(op, Push | Pop | Free) else ""
    line = f" (line {op.site.where.line})" if op.site.where is not None else ""
    return word + ring + line


def _fused(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """Two loops of one count, one behind the other, become one: what the second does no longer waits for all of the
    first. Nothing of the first can have needed the second."""
    for name in ("vector", "cube"):
        program: Program = getattr(cluster, name)
        for block in _blocks(program.ops):
            for index, (one, two) in enumerate(itertools.pairwise(block)):
                if not (isinstance(one, Loop) and isinstance(two, Loop)) or one.trips != two.trips:
                    continue
                both = replace(one, body=(*one.body, *two.body), carried=(*one.carried, *two.carried))
                ops = _replaced(program.ops, block, (*block[:index], both, *block[index + 2 :]))
                lines = [op.site.where.line for op in (one, two) if op.site.where is not None]
                which = f" of lines {lines[0]} and {lines[1]}" if len(lines) == 2 else ""
                words = f"in @{program.name}, make one loop of the two{which}, so that it pops before it has pushed all"
                yield words, replace(cluster, **{name: replace(program, ops=ops)})


# ------------------------------------------------------------------------------------------------- slots


def _deeper(cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """More slots, as long as there are flags for them."""
    spare = FLAGS - sum(pipe.flags for pipe in cluster.pipes)
    for pipe in cluster.pipes:
        most = pipe.slot_num + spare // len(pipe.directions)
        for slots in range(pipe.slot_num + 1, most + 1):
            first = 0
            pipes: list[Pipe] = []
            for old in cluster.pipes:
                new = replace(old, c2v_base=None, v2c_base=None, flag_base=first)
                pipes.append(replace(new, slot_num=slots) if old is pipe else new)
                first += pipes[-1].flags
            words = f"set slot_num = {slots} on both sides of pipe {pipe.id}"
            yield words, replace(cluster, pipes=tuple(pipes))
