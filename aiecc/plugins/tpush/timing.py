"""A run in model time: when each step of each core happens, and how long who waits for which flag.

Model time knows no hardware: a SET or WAIT takes 1, a copy 6 to 12 by its size, a use of a slot twice as long.
What it shows is the order that flags enforce, and who stands still because of it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from aiecc.plugins.tpush.model import Agent
from aiecc.plugins.tpush.steps import Act, Flag, Step, Streams

SHORTEST, LONGEST = 6, 12
"""What copies take; a unit more for every 512 bytes in between."""
SHOWN = 16
"""Messages that are shown of a long run, at least."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A step with its times. `asked`: when the core came to it; `begin`: when it could go on; `end`.

    `waited_for`: when the flag was set, of a WAIT that had to stand still. `begin` None: it waits for ever.
    """

    step: Step
    message: int
    asked: int
    begin: int | None
    end: int

    @property
    def waited(self) -> bool:
        return self.begin is None or self.begin > self.asked


@dataclass(frozen=True, slots=True)
class Timing:
    """All steps of all cores; `end`: when the last one is done. `left_out`: messages that were not run."""

    cores: dict[Agent, list[Timed]]
    end: int
    left_out: int = 0


def cost(step: Step) -> int:
    """What a step takes. Of a copy or use the start has all of it."""
    if step.act in (Act.WAIT, Act.SET):
        return 1
    if step.act not in (Act.COPY_START, Act.USE_START):
        return 0
    size = sum(access.size for access in step.accesses)
    found = min(max(SHORTEST, 4 + size // 512), LONGEST)
    return found if step.act is Act.COPY_START else 2 * found


def timing(streams: Streams, slots: dict[int, int] | None = None) -> Timing:
    """Run every step as early as its core and its flags allow.

    `slots`: slots by pipe; when given, only the first messages are run: SHOWN of them, and twice round the ring.
    """
    limit = {pipe: max(2 * count, SHOWN) for pipe, count in (slots or {}).items()}
    queues: dict[Agent, deque[tuple[Step, int]]] = {}
    left_out = 0
    for stream in streams.streams:
        steps = list(zip(stream.steps, stream.messages, strict=True))
        kept = [(step, number) for step, number in steps if number < limit.get(step.pipe, number + 1)]
        left_out = max(left_out, len({(s.pipe, s.direction, n) for s, n in steps if (s, n) not in set(kept)}))
        queues[stream.agent] = deque(kept)
    raised: dict[Flag, deque[int]] = {flag: deque([0]) for flag in streams.preset}
    clock = dict.fromkeys(queues, 0)
    done: dict[Agent, list[Timed]] = {agent: [] for agent in queues}
    while any(_advance(agent, queues[agent], clock, raised, done[agent]) for agent in queues):
        pass
    end = max(clock.values(), default=0)
    for agent, queue in queues.items():
        if queue:
            step, number = queue[0]
            done[agent].append(Timed(step, number, clock[agent], None, end + 2 * LONGEST))
    stuck = any(queues.values())
    return Timing(done, end + (2 * LONGEST if stuck else 0), left_out)


def _advance(
    agent: Agent,
    queue: deque[tuple[Step, int]],
    clock: dict[Agent, int],
    raised: dict[Flag, deque[int]],
    done: list[Timed],
) -> bool:
    """Run one core as far as it comes; whether it came anywhere."""
    moved = False
    while queue:
        step, number = queue[0]
        asked = begin = clock[agent]
        if step.act is Act.WAIT:
            assert step.flag is not None
            there = raised.get(step.flag)
            if not there:
                return moved
            begin = max(asked, there.popleft())
        queue.popleft()
        moved = True
        end = begin + cost(step)
        if step.act is Act.SET:
            assert step.flag is not None
            raised.setdefault(step.flag, deque()).append(end)
        clock[agent] = end
        done.append(Timed(step, number, asked, begin, end))
    return moved
