"""What both cores say together: as many pops as pushes on every path, the k-th of one kind and split as the k-th of the
other, and both Vector lanes in every handshake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from aiecc.api import Sink
from aiecc.plugins.tpush.extract import Programs, alike
from aiecc.plugins.tpush.model import (
    Branch,
    Cluster,
    Direction,
    Free,
    Loop,
    Op,
    Pipe,
    Platform,
    Pop,
    Program,
    Push,
    Tile,
)
from aiecc.plugins.tpush.rules.common import counted, tell, way
from aiecc.plugins.tpush.rules.counts import Count, count, number, said
from aiecc.plugins.tpush.rules.splits import whole_tile

LISTED = 20_000
"""Messages of at most so many are compared one by one."""


def check_messages(cluster: Cluster, diag: Sink) -> None:
    """Pushes and pops of every pipe, direction and lane."""
    for pipe in cluster.pipes:
        for direction in pipe.directions:
            vectors = [cluster.vector, *((cluster.vector1,) if cluster.vector1 is not None else ())]
            for vector in vectors:
                producer, consumer = (cluster.cube, vector) if direction is Direction.C2V else (vector, cluster.cube)
                if not _counts(pipe, direction, producer, consumer, diag):
                    break
                if not _sequence(pipe, direction, producer, consumer, diag):
                    break


# ------------------------------------------------------------------------------------------------------ counts


def _is(kind: type[Push] | type[Pop] | type[Free], pipe: int, direction: Direction) -> Callable[[Op], bool]:
    return lambda op: isinstance(op, kind) and op.pipe == pipe and op.direction is direction


def _counts(pipe: Pipe, direction: Direction, producer: Program, consumer: Program, diag: Sink) -> bool:
    is_push, is_pop = _is(Push, pipe.id, direction), _is(Pop, pipe.id, direction)
    pushed, popped = count(producer.ops, is_push), count(consumer.ops, is_pop)
    if pushed == popped:
        return True
    pushes = [op for op in producer.walk() if is_push(op)]
    pops = [op for op in consumer.walk() if is_pop(op)]
    more, less = number(pushed), number(popped)
    many = more is None or less is None or more > less
    at = _last(pushes, pops) if many else _last(pops, pushes)
    other = [op for op in (pops if at in pushes else pushes) if isinstance(op, Push | Pop)]
    text = (
        f"'{producer.name}' pushes {_tiles(pushed)} {way(direction)} through pipe {pipe.id}, "
        f"but '{consumer.name}' pops {_tiles(popped)}"
    )
    note = [("the other side is here", other[-1].site)] if other else [("the other side is here", consumer.site)]
    assert isinstance(at, Push | Pop)
    tell(diag, at.site, text, note, _cure(more, less, producer, consumer))
    return False


def _last(first: list[Op], second: list[Op]) -> Op:
    return (first or second)[-1]


def _tiles(total: Count) -> str:
    plain = number(total)
    if plain is not None:
        return counted(plain, "tile")
    if len(total) == 1:
        ((factors, times),) = total.items()
        if all(factor.startswith("[") for factor in factors):
            return f"{counted(times, 'tile')} if {' and '.join(factor[1:-1] for factor in factors)}"
    return f"{said(total)} tiles"


def _cure(pushed: int | None, popped: int | None, producer: Program, consumer: Program) -> str:
    if pushed is None or popped is None:
        return "loop as often on both sides, and branch on the same condition, one that both cores know"
    if pushed > popped:
        return f"pop {counted(pushed - popped, 'tile')} more in '{consumer.name}'"
    return f"push {counted(popped - pushed, 'tile')} more in '{producer.name}'"


# -------------------------------------------------------------------------------------------------- one by one


def _sequence(pipe: Pipe, direction: Direction, producer: Program, consumer: Program, diag: Sink) -> bool:
    is_push, is_pop = _is(Push, pipe.id, direction), _is(Pop, pipe.id, direction)
    pushes = [op for op in producer.walk() if isinstance(op, Push) and is_push(op)]
    pops = [op for op in consumer.walk() if isinstance(op, Pop) and is_pop(op)]
    if len(set(map(_plain, pushes))) == 1 and len(set(map(_plain, pops))) == 1:
        return _match(0, pushes[0], pops[0], producer, consumer, diag)
    for k, (push, pop) in enumerate(_zipped(producer.ops, consumer.ops, is_push, is_pop)):
        if push is None or pop is None:
            at = push or pop
            assert at is not None
            text = f"tiles of several kinds move {way(direction)} through pipe {pipe.id}, and which is which depends"
            todo = "loop and branch alike on both sides, or use a pipe for each kind"
            tell(diag, at.site, f"{text} on counts that only the run knows", todo=todo)
            return False
        if not _match(k, push, pop, producer, consumer, diag):
            return False
    return True


def _plain(op: Push | Pop) -> tuple[object, ...]:
    return op.split, op.tile


def _match(k: int, push: Push, pop: Pop, producer: Program, consumer: Program, diag: Sink) -> bool:
    if push.split is not pop.split:
        text = f"tile {k} is pushed with split = {int(push.split)}, but popped with split = {int(pop.split)}"
        tell(diag, pop.site, text, [("it is pushed here", push.site)], f"set split = {int(push.split)}")
        return False
    a, b = whole_tile(push, producer.kind), whole_tile(pop, consumer.kind)
    extents = (a.rows, a.cols, a.element), (b.rows, b.cols, b.element)
    valid = [
        (one, two)
        for one, two in ((push.tile.valid_rows, pop.tile.valid_rows), (push.tile.valid_cols, pop.tile.valid_cols))
        if one is not None and two is not None
    ]
    if extents[0] == extents[1] and (push.split or all(one == two for one, two in valid)):
        return True
    split = " (both lanes together)" if push.split else ""
    text = f"tile {k} is pushed as {_shape(a)}, but popped as {_shape(b)}{split}"
    tell(diag, pop.site, text, [("it is pushed here", push.site)])
    return False


def _shape(tile: Tile) -> str:
    valid = "" if (tile.height, tile.width) == (tile.rows, tile.cols) else f" ({tile.height}x{tile.width} valid)"
    return f"{tile.rows}x{tile.cols}{valid} of {counted(tile.element, 'byte')}"


def _zipped(
    producer: tuple[Op, ...], consumer: tuple[Op, ...], is_push: Callable[[Op], bool], is_pop: Callable[[Op], bool]
) -> Iterator[tuple[Push | None, Pop | None]]:
    """The k-th push with the k-th pop. Where that depends on the run: a pair with None."""
    pushes, pops = _listed(producer, is_push), _listed(consumer, is_pop)
    for _ in range(LISTED):
        push, pop = next(pushes, None), next(pops, None)
        if push is None and pop is None:
            return
        if isinstance(push, Loop | Branch) or isinstance(pop, Loop | Branch):
            if isinstance(push, Loop) and isinstance(pop, Loop) and push.trips == pop.trips:
                yield from _zipped(push.body, pop.body, is_push, is_pop)
                continue
            if isinstance(push, Branch) and isinstance(pop, Branch) and push.condition == pop.condition:
                yield from _zipped(push.then, pop.then, is_push, is_pop)
                yield from _zipped(push.orelse, pop.orelse, is_push, is_pop)
                continue
            yield _first(push, is_push), None
            return
        yield (push if isinstance(push, Push) else None), (pop if isinstance(pop, Pop) else None)


def _first(op: Op | None, wanted: Callable[[Op], bool]) -> Push | None:
    inside = [] if op is None else [op, *_inner(op)]
    return next((each for each in inside if isinstance(each, Push) and wanted(each)), None)


def _inner(op: Op) -> Iterable[Op]:
    bodies = (op.body,) if isinstance(op, Loop) else (op.then, op.orelse) if isinstance(op, Branch) else ()
    for body in bodies:
        for each in body:
            yield each
            yield from _inner(each)


def _listed(ops: tuple[Op, ...], wanted: Callable[[Op], bool]) -> Iterator[Op]:
    """The wanted ops of a run in order; a loop or branch that depends on the run as itself."""
    for op in ops:
        if isinstance(op, Loop) and isinstance(op.trips, int):
            if any(wanted(each) for each in _inner(op)):
                for _ in range(op.trips):
                    yield from _listed(op.body, wanted)
        elif isinstance(op, Loop | Branch):
            if any(wanted(each) for each in _inner(op)):
                yield op
        elif wanted(op):
            yield op


# ------------------------------------------------------------------------------------------------------- lanes


def check_lanes(cluster: Cluster, programs: Programs, diag: Sink) -> None:
    """Both lanes go through every handshake that the Cube counts on.

    A split tile has a part on each lane. A whole one is lane 0's, but on A2A3 the Cube's flags reach and await both.
    """
    _, first, second = programs
    if alike(first, second):
        return
    for pipe in cluster.pipes:
        for direction in pipe.directions:
            for kind in (Push, Pop, Free):
                wanted = _is(kind, pipe.id, direction)
                counts = count(first.ops, wanted), count(second.ops, wanted)
                if counts[0] != counts[1] and _uneven(cluster, programs, wanted, counts, diag):
                    return


def _uneven(
    cluster: Cluster, programs: Programs, wanted: Callable[[Op], bool], counts: tuple[Count, Count], diag: Sink
) -> bool:
    """The lanes do something a different number of times. True when that was reported."""
    todo = "take it out of the branch on pto.get_subblock_idx"
    first, second = ([op for op in _transfers(program) if wanted(op)] for program in programs[1:])
    for op in first:
        if _needed(op, cluster.platform) and all(op.site != other.site for other in second):
            why = "split tiles have a part on each lane" if op.split else "the Cube's flags of A2A3 are both lanes'"
            tell(diag, op.site, f"lane 1 does not run this, but {why}", todo=todo)
            return True
    for op in second:
        if all(op.site != other.site for other in first):
            text = "lane 0 does not run this" + ("" if op.split else ", but whole tiles are lane 0's")
            tell(diag, op.site, text, todo=todo)
            return True
    if first and _needed(first[-1], cluster.platform):
        text = f"lane 0 runs this {said(counts[0])} times, lane 1 {said(counts[1])} times"
        tell(diag, first[-1].site, text, todo="loop as often on both lanes")
        return True
    return False


def _needed(op: Push | Pop | Free, platform: Platform) -> bool:
    return bool(op.split) or platform is Platform.A2A3


def _transfers(program: Program) -> Iterator[Push | Pop | Free]:
    for op in program.walk():
        if isinstance(op, Push | Pop | Free):
            yield op


def consumers(cluster: Cluster) -> Iterator[tuple[Program, Direction]]:
    """Who pops what."""
    yield cluster.cube, Direction.V2C
    yield cluster.vector, Direction.C2V
    if cluster.vector1 is not None:
        yield cluster.vector1, Direction.C2V
