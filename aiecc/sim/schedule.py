"""Who runs next: actors are generators, a seeded choice picks among those that can go on."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator
from types import FrameType
from typing import Any

from aiecc.base.spans import Span
from aiecc.sim.outcome import Kind, Trap, Trapped, Wait

# Turns an actor may take for each event of the limit: code that only computes has turns, but no events.
_STEPS = 4


class Gate:
    """Something actors wait for. `open` lets all of them look again."""

    __slots__ = ("schedule", "waiters")

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.waiters: list[Actor] = []

    def open(self) -> None:
        if self.waiters:
            self.schedule.ready(self.waiters)
            self.waiters = []

    def wanted(self, need: int) -> str:
        """What a waiting actor waits for, in words; `need` is what it asked for."""
        raise NotImplementedError


Steps = Generator[Gate | None, None, None]


class Code:
    """Where the lines of generated code come from: file name of the code to a span a line (the first line is 1)."""

    spans: dict[str, list[Span | None]]

    def __init__(self) -> None:
        self.spans = {}

    def at(self, frame: FrameType | None) -> Span | None:
        if frame is None:
            return None
        return self.line(frame.f_code.co_filename, frame.f_lineno)

    def line(self, file: str, number: int) -> Span | None:
        table = self.spans.get(file)
        return table[number - 1] if table is not None and 0 < number <= len(table) else None


class Actor:
    """A core or a DMA channel. `site` and `need` say what it is doing, for those who ask when it stands still."""

    __slots__ = ("cell", "clock", "name", "need", "number", "site", "steps", "ticks", "wait")

    def __init__(self, name: str, site: Span | None = None) -> None:
        self.name = name
        self.site = site
        self.need = 0
        self.ticks = 0
        self.wait: Gate | None = None
        self.steps: Steps
        # Its place among the actors, and how far it knows each of them to have come (see `order`).
        self.number = 0
        self.clock: list[int] = []
        # Where a core's cascade and streams end up, for its own code.
        self.cell: Any = None


class Schedule:
    """Runs actors until nobody can go on, something traps, or the limit is reached.

    Seed 0 takes turns; every other seed picks at random, the same way each time.
    """

    def __init__(self, seed: int, limit: int, *, ordered: bool = False) -> None:
        self.events = 0
        # Whether locks and streams carry clocks, so that buffers can tell accesses that nothing keeps apart.
        self.ordered = ordered
        self.current: Actor
        self.limit = limit
        self.code = Code()
        self.actors: list[Actor] = []
        self.ended: list[Actor] = []
        self.trap: Trap | None = None
        self._seed = seed
        self._queue: deque[Actor] = deque()
        self._pool: list[Actor] = []

    def add(self, actor: Actor, steps: Steps) -> None:
        actor.steps = steps
        actor.number = len(self.actors)
        self.actors.append(actor)
        self.ready([actor])

    def ready(self, actors: list[Actor]) -> None:
        if self._seed:
            self._pool.extend(actors)
        else:
            self._queue.extend(actors)

    def restart(self, actor: Actor, steps: Steps) -> None:
        """Drop what an actor that is not running now was doing, and let it do something else."""
        actor.steps.close()
        actor.steps = steps
        if actor in self.ended:
            self.ended.remove(actor)
        elif actor.wait is not None and actor in actor.wait.waiters:
            actor.wait.waiters.remove(actor)
        else:
            return
        self.ready([actor])

    def run(self) -> bool:
        """Whether it came to rest (True), or ran into the limit (False). Look at `trap` first."""
        if self.ordered:
            for actor in self.actors:
                actor.clock = [0] * len(self.actors)
                actor.clock[actor.number] = 1
        try:
            return self._random() if self._seed else self._in_turn()
        except Trapped as trapped:
            actor = self.current
            self.trap = Trap(trapped.kind, actor.name, trapped.text, self._where(trapped) or actor.site)
        except RecursionError:
            actor = self.current
            self.trap = Trap(Kind.VALUE, actor.name, "calls functions too deeply within one another", actor.site)
        return True

    def _in_turn(self) -> bool:
        queue, limit, steps = self._queue, self.limit, _STEPS * self.limit
        while queue:
            actor = queue.popleft()
            self.current = actor
            try:
                gate = next(actor.steps)
            except StopIteration:
                self.ended.append(actor)
                continue
            if gate is None:
                queue.append(actor)
            else:
                gate.waiters.append(actor)
                actor.wait = gate
            steps -= 1
            if self.events > limit or steps < 0:
                return False
        return True

    def _random(self) -> bool:
        pool, limit, steps = self._pool, self.limit, _STEPS * self.limit
        draw = random.Random(self._seed).random
        while pool:
            at = int(draw() * len(pool))
            actor = pool[at]
            self.current = actor
            try:
                gate = next(actor.steps)
            except StopIteration:
                self.ended.append(actor)
                gate = _GONE
            if gate is not None:
                # `ready` may have grown the pool while the actor ran; its own place is still `at`.
                last = pool.pop()
                if last is not actor:
                    pool[at] = last
                if gate is not _GONE:
                    gate.waiters.append(actor)
                    actor.wait = gate
            steps -= 1
            if self.events > limit or steps < 0:
                return False
        return True

    def _where(self, error: BaseException) -> Span | None:
        found: Span | None = None
        trace = error.__traceback__
        while trace is not None:
            found = self.code.line(trace.tb_frame.f_code.co_filename, trace.tb_lineno) or found
            trace = trace.tb_next
        return found

    def waits(self) -> tuple[Wait, ...]:
        """Who stands still and why, in the order the actors were made."""
        ended = set(map(id, self.ended))
        runnable = set(map(id, self._pool)) | set(map(id, self._queue))
        return tuple(
            Wait(a.name, a.wait.wanted(a.need), self._stands(a))
            for a in self.actors
            if id(a) not in ended and id(a) not in runnable and a.wait is not None and a in a.wait.waiters
        )

    def _stands(self, actor: Actor) -> Span | None:
        found = None
        steps: Any = actor.steps
        while steps is not None and getattr(steps, "gi_frame", None) is not None:
            found = self.code.at(steps.gi_frame) or found
            steps = steps.gi_yieldfrom
        return found or actor.site


class _Gone(Gate):
    """Stands for an actor that has reached its end."""


_GONE = _Gone.__new__(_Gone)
