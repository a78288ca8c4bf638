"""A cluster program as streams of steps: loops unrolled, branches taken.

Tags repeat every SLOT_NUM messages, so a long loop shows all it has to show within 2 * SLOT_NUM iterations and the
lead that one core may have over the other; `worlds` cuts trip counts there, and picks some for those that only the run
knows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import lcm

from aiecc.plugins.tpush.frees import with_frees
from aiecc.plugins.tpush.model import (
    Agent,
    Branch,
    Cluster,
    Direction,
    Free,
    Init,
    Loop,
    Op,
    Pipe,
    Pop,
    Program,
    Push,
    Trips,
    Use,
    Value,
)
from aiecc.plugins.tpush.protocol import FreeRule, Protocol
from aiecc.plugins.tpush.steps import Act, Flag, Step, Stream, Streams

MESSAGES = 40_000
"""Programs of at most so many messages are unrolled as they are; longer ones are cut."""
LIMIT = 400_000
"""What cannot be cut to at most so many messages is not looked at."""
CONDITIONS = 4
"""At most so many conditions are tried in all combinations."""

Ring = tuple[int, Direction]


class TooLong(Exception):
    """A program has more messages than anybody would look at, and its loops cannot be cut."""


@dataclass(frozen=True)
class World:
    """What the run would decide: trip counts and conditions by their texts, and how constant trip counts are cut.

    `cap` None: not at all. A cut count keeps its remainder modulo `period`, so that tags come out as in the long run.
    """

    trips: Mapping[str, int] = field(default_factory=dict[str, int])
    conditions: Mapping[str, bool] = field(default_factory=dict[str, bool])
    cap: int | None = None
    period: int = 1

    def count(self, trips: Trips) -> int:
        if isinstance(trips, str):
            return self.trips.get(trips, 0)
        if self.cap is None or trips <= self.cap:
            return trips
        return self.cap + (trips - self.cap) % self.period

    def __str__(self) -> str:
        """What was assumed, for texts: empty when nothing was."""
        words = [f"{text} = {count}" for text, count in self.trips.items()]
        words += [text if holds else f"not {text}" for text, holds in self.conditions.items()]
        return ", ".join(words)


def streams(cluster: Cluster, rule: FreeRule = FreeRule.AFTER_USE, world: World | None = None) -> Streams:
    """Unroll a cluster. Frees that nobody wrote are put in first (`frees.py`)."""
    cluster = with_frees(_apart(coalesced(cluster)))
    protocol = Protocol(cluster, rule)
    preset: set[Flag] = set()
    initial: set[Flag] = set()
    found = tuple(
        _Runner(agent, protocol, world or World(), preset, initial).run(cluster.program(agent))
        for agent in cluster.agents
    )
    return Streams(cluster.platform, found, frozenset(preset), frozenset(initial))


def _apart(cluster: Cluster) -> Cluster:
    """Rings without an address get some that nobody shares, and so does each workspace but the first."""
    at = 1 << 40
    pipes: list[Pipe] = []
    starts = {name: index << 44 for index, name in enumerate(dict.fromkeys(pipe.workspace for pipe in cluster.pipes))}
    for pipe in cluster.pipes:
        start = starts[pipe.workspace]
        c2v = at if pipe.c2v_base is None else start + pipe.c2v_base
        v2c = at + pipe.ring_size if pipe.v2c_base is None else start + pipe.v2c_base
        pipes.append(replace(pipe, c2v_base=c2v, v2c_base=v2c))
        at += 2 * pipe.ring_size
    return replace(cluster, pipes=tuple(pipes))


# ------------------------------------------------------------------------------------------------- which runs


def messages(program: Program, world: World | None = None) -> Counter[tuple[int, Direction, bool]]:
    """How many messages a run moves: by pipe and direction, and whether they are pushed."""
    total: Counter[tuple[int, Direction, bool]] = Counter()
    _count(program.ops, world or World(), 1, total)
    return total


def _count(ops: tuple[Op, ...], world: World, times: int, total: Counter[tuple[int, Direction, bool]]) -> None:
    for op in ops:
        if isinstance(op, Push | Pop):
            total[op.pipe, op.direction, isinstance(op, Push)] += times
        elif isinstance(op, Loop):
            trips = times * world.count(op.trips)
            if trips:
                _count(op.body, world, trips, total)
        elif isinstance(op, Branch):
            _count(op.then if world.conditions.get(op.condition) else op.orelse, world, times, total)


def _uneven(cluster: Cluster, world: World) -> bool:
    """Whether a lane pops another number of messages than are pushed, or the other way round."""
    cube = messages(cluster.cube, world)
    for program in {cluster.vector, cluster.vector1 or cluster.vector}:
        vector = messages(program, world)
        if any(cube[p, d, b] != vector[p, d, not b] for p, d, b in {*cube, *((p, d, not b) for p, d, b in vector)}):
            return True
    return False


def worlds(cluster: Cluster) -> Iterator[World]:
    """The runs that stand for all runs of a cluster.

    One when nothing is left to the run. Trip counts that only the run knows are tried at 0, 1, SLOT_NUM and where
    longer ones show nothing new, and each apart from the others; conditions in all combinations, or all true and all
    false when there are too many. Trip counts of long programs are cut, unless the loops of the two cores are nested so
    differently that what is left would not match. Raises `TooLong` when more than `LIMIT` messages are left.
    """
    cluster = coalesced(cluster)
    programs = [p for p in (cluster.cube, cluster.vector, cluster.vector1) if p is not None]
    ops = [op for program in programs for op in program.walk()]
    texts = list(dict.fromkeys(op.trips for op in ops if isinstance(op, Loop) and isinstance(op.trips, str)))
    conditions = list(dict.fromkeys(op.condition for op in ops if isinstance(op, Branch)))
    deepest = max((pipe.slot_num for pipe in cluster.pipes), default=1)
    period = lcm(*(pipe.slot_num for pipe in cluster.pipes))
    limit = 2 * deepest + skew(cluster)
    picks = [dict.fromkeys(texts, count) for count in (0, 1, deepest, limit, limit + 1)] if texts else [{}]
    for text in texts if len(texts) > 1 else ():  # nobody knows that two texts are the same number
        picks += [{**picks[0], text: deepest}, {**picks[2], text: 0}]
    choices = itertools.product((True, False), repeat=len(conditions))
    if len(conditions) > CONDITIONS:
        choices = iter(((True,) * len(conditions), (False,) * len(conditions)))
    for taken in choices:
        for trips in picks:
            world = World(trips, dict(zip(conditions, taken, strict=True)))
            if sum(messages(program, world).total() for program in programs) > MESSAGES:
                cut = replace(world, cap=limit, period=period)
                if _uneven(cluster, world) == _uneven(cluster, cut):
                    world = cut
            if sum(messages(program, world).total() for program in programs) > LIMIT:
                raise TooLong
            yield world


def coalesced(cluster: Cluster) -> Cluster:
    """Loops that hold nothing but a loop become one, so that cuts leave the same on both cores."""
    return replace(
        cluster,
        cube=replace(cluster.cube, ops=_coalesced(cluster.cube.ops)),
        vector=replace(cluster.vector, ops=_coalesced(cluster.vector.ops)),
        vector1=cluster.vector1 and replace(cluster.vector1, ops=_coalesced(cluster.vector1.ops)),
    )


def _coalesced(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    found: list[Op] = []
    for op in ops:
        if isinstance(op, Branch):
            op = replace(op, then=_coalesced(op.then), orelse=_coalesced(op.orelse))
        elif isinstance(op, Loop):
            op = replace(op, body=_coalesced(op.body))
            inner = op.body[0] if len(op.body) == 1 and not op.carried else None
            if isinstance(inner, Loop) and not inner.carried and isinstance(op.trips, int):
                op = replace(inner, trips=op.trips * inner.trips) if isinstance(inner.trips, int) else op
        found.append(op)
    return tuple(found)


def skew(cluster: Cluster) -> int:
    """The most messages that stand outside of loops, or in one iteration: how far one core may lead the other."""
    largest = 0
    for program in (cluster.cube, cluster.vector):
        bodies = [program.ops, *(op.body for op in program.walk() if isinstance(op, Loop))]
        for body in bodies:
            largest = max(largest, sum(isinstance(op, Push | Pop) for op in body))
    return largest


# ------------------------------------------------------------------------------------------------- one run


@dataclass(slots=True)
class _Popped:
    """One popped tile of the run."""

    op: Pop
    tag: int
    number: int


class _Runner:
    """Runs one program on one agent."""

    def __init__(self, agent: Agent, protocol: Protocol, world: World, preset: set[Flag], initial: set[Flag]) -> None:
        self.agent = agent
        self.protocol = protocol
        self.world = world
        self.preset = preset
        self.initial = initial
        self.stream = Stream(agent)
        self.pushed: Counter[Ring] = Counter()
        self.popped: Counter[Ring] = Counter()
        self.freed: Counter[Ring] = Counter()
        self.values: dict[Value, _Popped] = {}
        # Ops that move the same tiles have the same steps at a tag, and the same objects.
        self.known: dict[tuple[object, ...], tuple[Step, ...]] = {}

    def run(self, program: Program) -> Stream:
        self._block(program.ops)
        return self.stream

    def _block(self, ops: tuple[Op, ...]) -> None:
        for op in ops:
            if isinstance(op, Push):
                self._push(op)
            elif isinstance(op, Pop):
                self._pop(op)
            elif isinstance(op, Use):
                for value in op.values:
                    if value in self.values:
                        self._use(self.values[value], op)
            elif isinstance(op, Free):
                self._free(op)
            elif isinstance(op, Loop):
                self._loop(op)
            elif isinstance(op, Branch):
                self._block(op.then if self.world.conditions.get(op.condition) else op.orelse)
            else:
                self._init(op)

    def _add(self, steps: tuple[Step, ...], number: int, op: Op) -> None:
        self.stream.steps.extend(steps)
        self.stream.messages.extend((number,) * len(steps))
        self.stream.ops.extend((op,) * len(steps))

    def _next(self, op: Push | Pop | Free, counts: Counter[Ring]) -> tuple[int, int]:
        """Number and tag of the next message."""
        ring = (op.pipe, op.direction)
        number = counts[ring]
        counts[ring] = number + 1
        return number, number % self.protocol.pipes[op.pipe].slot_num

    def _init(self, op: Init) -> None:
        first = not self.stream.steps
        for step in self.protocol.init(self.agent, op):
            assert step.flag is not None
            if first and step.flag not in self.preset:
                self.preset.add(step.flag)
            else:
                self._add((step,), step.tag, op)
            self.initial.add(step.flag)

    def _push(self, op: Push) -> None:
        number, tag = self._next(op, self.pushed)
        key = ("push", op.pipe, op.direction, op.tile, op.split, tag)
        steps = self.known.get(key)
        if steps is None:
            steps = self.known[key] = self.protocol.push(self.agent, op, tag)
        read = [self.values[value] for value in op.uses if value in self.values]
        if not read:
            self._add(steps, number, op)
            return
        at = next((i for i, step in enumerate(steps) if step.act is Act.COPY_START), len(steps) - 1) + 1
        self._add(steps[:at], number, op)
        for each in read:
            self._use(each, op)
        self._add(steps[at:], number, op)

    def _pop(self, op: Pop) -> None:
        number, tag = self._next(op, self.popped)
        self.values[op.value] = _Popped(op, tag, number)
        key = ("pop", op.pipe, op.direction, op.tile, op.split, tag)
        steps = self.known.get(key)
        if steps is None:
            steps = self.known[key] = self.protocol.pop(self.agent, op, tag)
        self._add(steps, number, op)

    def _use(self, popped: _Popped, by: Op) -> None:
        op = popped.op
        key = ("use", op.pipe, op.direction, op.tile, op.split, popped.tag)
        steps = self.known.get(key)
        if steps is None:
            steps = self.known[key] = self.protocol.use(self.agent, op, popped.tag)
        self._add(steps, popped.number, by)

    def _free(self, op: Free) -> None:
        number, tag = self._next(op, self.freed)
        key = ("free", op.pipe, op.direction, op.split, tag)
        steps = self.known.get(key)
        if steps is None:
            steps = self.known[key] = self.protocol.free(self.agent, op, tag)
        self._add(steps, number, op)

    def _loop(self, op: Loop) -> None:
        times = self.world.count(op.trips)
        held = [None if c.first is None else self.values.get(c.first) for c in op.carried]
        for _ in range(times):
            self._bind([c.inner for c in op.carried], held)
            self._block(op.body)
            held = [None if c.again is None else self.values.get(c.again) for c in op.carried]
        self._bind([c.result for c in op.carried], held)

    def _bind(self, names: list[Value], held: list[_Popped | None]) -> None:
        for name, value in zip(names, held, strict=True):
            if value is None:
                self.values.pop(name, None)
            else:
                self.values[name] = value
