"""Clusters written by hand, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aiecc.api import Span
from aiecc.plugins.tpush.model import (
    Agent,
    Cluster,
    Direction,
    Free,
    Init,
    Kind,
    Op,
    Pipe,
    Platform,
    Pop,
    Program,
    Push,
    Site,
    Space,
    Split,
    Tile,
    Use,
    default_slot_num,
)
from aiecc.plugins.tpush.steps import Act, Streams

A2A3, A5 = Platform.A2A3, Platform.A5
C2V, V2C = Direction.C2V, Direction.V2C
CUBE, AIV0, AIV1 = Agent.CUBE, Agent.AIV0, Agent.AIV1


def tile(rows: int = 16, cols: int = 16, space: Space = Space.VEC, element: int = 4) -> Tile:
    return Tile(rows, cols, element, space)


def half(split: Split, whole: Tile) -> Tile:
    """Lane 0's part of a tile with even extents."""
    if not split:
        return whole
    rows, cols = (whole.rows // 2, whole.cols) if split.by_rows else (whole.rows, whole.cols // 2)
    return Tile(rows, cols, whole.element, whole.space)


def at(line: int, op: str = "") -> Site:
    return Site(op, Span("pipes.mlir", line, 5))


def pipe(mask: int, size: int = 1024, slots: int | None = None, c2v: int | None = None, v2c: int | None = None) -> Pipe:
    return Pipe(0, mask, size, slots or default_slot_num(mask), c2v_base=c2v, v2c_base=v2c)


def cluster(
    platform: Platform, pipes: Pipe | Sequence[Pipe], cube: Iterable[Op], vector: Iterable[Op], lanes: int = 1
) -> Cluster:
    """Initialisation comes first on both sides."""
    pipes = (pipes,) if isinstance(pipes, Pipe) else tuple(pipes)
    inits = tuple(Init(p.id) for p in pipes)
    return Cluster(
        platform,
        pipes,
        Program("cube", Kind.CUBE, (*inits, *cube)),
        Program("vector", Kind.VECTOR, (*inits, *vector)),
        lanes,
    )


def one_way(
    platform: Platform,
    slots: int,
    pushes: int,
    pops: int | None = None,
    direction: Direction = C2V,
    split: Split = Split.NONE,
    lanes: int = 1,
) -> Cluster:
    """One direction: pushes on one side; pop, use on the other."""
    whole = tile()
    part = half(split, whole)
    mine, other = (whole, part) if direction is C2V else (part, whole)
    producer = [Push(0, direction, mine, split) for _ in range(pushes)]
    consumer = [op for i in range(pushes if pops is None else pops) for op in taken(i, direction, other, split)]
    sides = (producer, consumer) if direction is C2V else (consumer, producer)
    return cluster(platform, pipe(int(direction), slots=slots), *sides, lanes)


def taken(value: int, direction: Direction, what: Tile | None = None, split: Split = Split.NONE) -> list[Op]:
    """Pop a tile and use it."""
    return [Pop(0, direction, what or tile(), value, split), Use((value,))]


def held(hold: int, tiles: int, slots: int) -> Cluster:
    """The consumer frees the oldest tile as soon as it holds `hold`, and the rest at the end."""
    consumer: list[Op] = []
    for i in range(tiles):
        consumer += taken(i, C2V)
        if i + 1 >= hold:
            consumer.append(Free(0, C2V, value=i + 1 - hold))
    consumer += [Free(0, C2V, value=i) for i in range(max(tiles - hold + 1, 0), tiles)]
    return cluster(A5, pipe(1, slots=slots), [Push(0, C2V, tile())] * tiles, consumer)


def script(streams: Streams, agent: Agent) -> list[str]:
    """The steps as the worked examples write them: `W f0`, `copy 0x100000 1024`, `S r0`, `use 0x1000`."""
    found: list[str] = []
    for step in streams.streams[agent].steps:
        if step.flag is not None:
            letter, role = ("W", "S")[step.act is Act.SET], step.role[0]
            lane = f" lane {step.flag.lane}" if len(streams.streams) > 2 and agent is CUBE else ""
            found.append(f"{letter} {role}{step.flag.number}{lane}")
        elif step.act is Act.COPY_START:
            found += [f"copy 0x{a.address:X} {a.size}" for a in step.accesses]
        elif step.act is Act.USE_START:
            found += [f"use 0x{a.address:X}" for a in step.accesses]
        elif step.act is Act.ALIAS:
            found += [f"alias 0x{a.address:X}" for a in step.accesses]
    return found
