"""The exact check of streams of steps: deadlocks, races, flags set twice, flags left over.

Every flag has one core that SETs it and one that WAITs for it, and each core runs one stream, so nothing a core does
takes a step away from another. Hence one event graph tells all: the order inside each stream, and from the j-th SET of
each flag to the j-th WAIT (initialisation is the first SET of a free flag). A WAIT that nobody pays for, or a cycle, is
a deadlock, in every schedule; two accesses of a cell that no path orders are a race.

Paths are not searched. Each step carries a clock: how many steps of every other agent come before it. One pass in any
order that respects the graph makes them; where the pass gets stuck, the program does.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from aiecc.plugins.tpush.cells import cells
from aiecc.plugins.tpush.steps import Act, Flag, Step, Streams
from aiecc.plugins.tpush.verdict import Blocked, Place, Race, RaceKind, Verdict

Clock = tuple[int, ...]
Message = tuple[int, int, int]
"""Pipe, direction, number."""


@dataclass(slots=True)
class _Accesses:
    """What one agent does in one cell, in its order: where each starts and is done, what it knows when it starts."""

    starts: list[int] = field(default_factory=list[int])
    dones: list[int] = field(default_factory=list[int])
    clocks: list[Clock] = field(default_factory=list[Clock])
    writes: list[bool] = field(default_factory=list[bool])
    messages: list[Message] = field(default_factory=list[Message])


def check(streams: Streams) -> Verdict:
    """Judge a whole program. Linear in its steps."""
    run = _Run(streams)
    run.pass_over()
    return Verdict(run.deadlock(), run.race(), run.twice(), run.left())


class _Run:
    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        count = len(streams.streams)
        self.at = [0] * count
        self.clocks: list[Clock] = [(0,) * count] * count
        self.cells = cells(streams)
        self.sets: defaultdict[Flag, deque[Clock]] = defaultdict(deque)
        # Of every SET: where it stands, and how many of the flag's WAITs must come before it. Of every WAIT: its index.
        self.set_log: list[tuple[Place, Flag, int, Clock]] = []
        self.set_counts: defaultdict[Flag, int] = defaultdict(int)
        self.waits: defaultdict[Flag, list[int]] = defaultdict(list)
        self.memory: defaultdict[int, dict[int, _Accesses]] = defaultdict(dict)
        for flag in streams.preset:
            self.sets[flag].append((0,) * count)
            self.set_counts[flag] = 1
        self.cells_of_step: dict[int, tuple[int, ...]] = {}

    # --- the pass -----------------------------------------------------------------------------------------------------

    def pass_over(self) -> None:
        """Let each agent go as far as it can, in turn, until nobody can."""
        moved = True
        while moved:
            moved = False
            for agent in range(len(self.at)):
                before = self.at[agent]
                self._go(agent)
                moved |= self.at[agent] != before

    def _go(self, agent: int) -> None:
        stream = self.streams.streams[agent]
        steps, messages = stream.steps, stream.messages
        clock = self.clocks[agent]
        at, end = self.at[agent], len(steps)
        while at < end:
            step = steps[at]
            act = step.act
            if act is Act.WAIT:
                flag = step.flag
                assert flag is not None
                paid = self.sets[flag]
                if not paid:
                    break
                clock = tuple(map(max, clock, paid.popleft()))
                self.waits[flag].append(at)
            elif act is Act.SET:
                self._set(agent, at, step, clock)
            elif act is Act.COPY_START or act is Act.USE_START:
                self._open(agent, at, step, messages[at], clock)
            elif act is not Act.ALIAS:
                self._close(agent, at, step)
            at += 1
        self.at[agent], self.clocks[agent] = at, clock

    def _set(self, agent: int, at: int, step: Step, clock: Clock) -> None:
        flag = step.flag
        assert flag is not None
        self.sets[flag].append((*clock[:agent], at + 1, *clock[agent + 1 :]))
        self.set_log.append(((self.streams.streams[agent].agent, at), flag, self.set_counts[flag], clock))
        self.set_counts[flag] += 1

    def _cells(self, step: Step) -> tuple[int, ...]:
        found = self.cells_of_step.get(id(step))
        if found is None:
            found = tuple(sorted({cell for access in step.accesses for cell in self.cells[access]}))
            self.cells_of_step[id(step)] = found
        return found

    def _open(self, agent: int, at: int, step: Step, number: int, clock: Clock) -> None:
        write = step.accesses[0].write
        message = (step.pipe, int(step.direction), number)
        for cell in self._cells(step):
            line = self.memory[cell].get(agent)
            if line is None:
                line = self.memory[cell][agent] = _Accesses()
            line.starts.append(at)
            line.dones.append(-1)
            line.clocks.append(clock)
            line.writes.append(write)
            line.messages.append(message)

    def _close(self, agent: int, at: int, step: Step) -> None:
        for cell in self._cells(step):
            dones = self.memory[cell][agent].dones
            index = len(dones) - 1
            while dones[index] >= 0:  # a use inside a copy of the same cell is done first
                index -= 1
            dones[index] = at

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def _place(self, agent: int, at: int) -> Place:
        return self.streams.streams[agent].agent, at

    def deadlock(self) -> tuple[Blocked, ...]:
        """Follow those who are stuck, from the first, until the round is closed or nobody is left to pay."""
        stuck = [a for a, stream in enumerate(self.streams.streams) if self.at[a] < len(stream.steps)]
        if not stuck:
            return ()
        chain: list[int] = []
        agent: int | None = stuck[0]
        while agent is not None and agent not in chain:
            chain.append(agent)
            payer = self._payer(agent)
            agent = None if payer is None else payer[0]
        if agent is not None:
            chain = chain[chain.index(agent) :]
        return tuple(self._blocked(each) for each in chain)

    def _blocked(self, agent: int) -> Blocked:
        payer = self._payer(agent)
        return Blocked(self._place(agent, self.at[agent]), None if payer is None else self._place(*payer))

    def _payer(self, agent: int) -> tuple[int, int] | None:
        """The first SET, ahead of its agent, of the flag this one waits for."""
        flag = self.streams.streams[agent].steps[self.at[agent]].flag
        for other, stream in enumerate(self.streams.streams):
            for at in range(self.at[other], len(stream.steps)):
                step = stream.steps[at]
                if step.act is Act.SET and step.flag == flag:
                    return other, at
        return None

    def twice(self) -> Place | None:
        """The first SET before which not all earlier ones are surely consumed."""
        agents = {stream.agent: index for index, stream in enumerate(self.streams.streams)}
        for place, flag, before, clock in self.set_log:
            waits = self.waits[flag]
            if before and (len(waits) < before or clock[agents[flag.waiter]] <= waits[before - 1]):
                return place
        return None

    def left(self) -> tuple[Flag, ...]:
        """Nothing is said of programs that do not end."""
        if any(self.at[a] < len(stream.steps) for a, stream in enumerate(self.streams.streams)):
            return ()
        up = {flag for flag, queue in self.sets.items() if queue}
        return tuple(sorted(up ^ self.streams.initial))

    def race(self) -> Race | None:
        """The race whose later access stands first in its stream."""
        found = [race for lines in self.memory.values() if (race := _race(lines)) is not None]
        if not found:
            return None
        kind, first, second = min(found, key=lambda race: (race[2][1], race[2][0], race[1] or (-1, -1)))
        return Race(kind, None if first is None else self._place(*first), self._place(*second))


# ------------------------------------------------------------------------------------------------- one cell

_Lines = dict[int, _Accesses]
_Found = tuple[RaceKind, tuple[int, int] | None, tuple[int, int]]
"""A race, its places by agent and index."""


def _race(lines: _Lines) -> _Found | None:
    """The first race of a cell."""
    found: list[_Found] = []
    agents = sorted(lines)
    for index, a in enumerate(agents):
        for b in agents[index + 1 :]:
            if (pair := _overlap(lines[a], a, lines[b], b)) is not None:
                found.append(pair)
    for agent in agents:
        if (stale := _stale(lines, agent)) is not None:
            found.append(stale)
    return min(found, key=lambda race: (race[2][1], race[0] is RaceKind.STALE), default=None)


def _overlap(xs: _Accesses, a: int, ys: _Accesses, b: int) -> _Found | None:
    """The first pair, one of them a write, that no path orders.

    Of the other agent's accesses a first part comes before each access and a last part after it; both ends only move
    forward, so one walk over both lists is enough.
    """
    before = after = 0
    count = len(ys.starts)
    for i, start in enumerate(xs.starts):
        clock, done = xs.clocks[i][b], xs.dones[i]
        while before < count and ys.dones[before] < clock:
            before += 1
        while after < count and ys.clocks[after][a] <= done:
            after += 1
        for j in range(before, after):
            if xs.writes[i] or ys.writes[j]:
                mine, other = (a, start), (b, ys.starts[j])
                # A read that is hurt by a write is told second.
                return (RaceKind.OVERLAP, other, mine) if ys.writes[j] else (RaceKind.OVERLAP, mine, other)
    return None


def _stale(lines: _Lines, reader: int) -> _Found | None:
    """The first read that finds something else than its own message."""
    mine = lines[reader]
    heads = dict.fromkeys(lines, 0)
    last: dict[int, int] = {}
    for i, start in enumerate(mine.starts):
        for agent, line in lines.items():
            limit = start if agent == reader else mine.clocks[i][agent]
            head = heads[agent]
            while head < len(line.starts) and line.dones[head] < limit:
                if line.writes[head]:
                    last[agent] = head
                head += 1
            heads[agent] = head
        if mine.writes[i]:
            continue
        latest = _latest(lines, last)
        if latest is None:
            return RaceKind.STALE, None, (reader, start)
        if lines[latest[0]].messages[latest[1]] != mine.messages[i]:
            return RaceKind.STALE, (latest[0], lines[latest[0]].starts[latest[1]]), (reader, start)
    return None


def _latest(lines: _Lines, last: dict[int, int]) -> tuple[int, int] | None:
    """Of each agent's last write, by agent and number, the one that comes after the others."""
    found: tuple[int, int] | None = None
    for agent, number in last.items():
        if found is None or lines[agent].clocks[number][found[0]] > lines[found[0]].dones[found[1]]:
            found = agent, number
    return found
