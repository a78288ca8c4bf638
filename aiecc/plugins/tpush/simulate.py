"""One schedule, step by step, with flags that are set or not: the first judge of `graph.py`.

A deadlock does not depend on the schedule, so this finds every one. A race may not show.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aiecc.plugins.tpush.cells import cells
from aiecc.plugins.tpush.steps import Act, Flag, Streams
from aiecc.plugins.tpush.verdict import Place


@dataclass(slots=True)
class Outcome:
    """`stuck`: the WAITs at which agents stand for good. `bad`, `twice`: as in `explore.Exploration`, of this schedule.

    `flags`: those set at the end. `log`: every step in the order it was made.
    """

    stuck: list[Place] = field(default_factory=list[Place])
    bad: list[Place] = field(default_factory=list[Place])
    twice: list[Place] = field(default_factory=list[Place])
    flags: set[Flag] = field(default_factory=set[Flag])
    log: list[Place] = field(default_factory=list[Place])


def simulate(streams: Streams, seed: int = 0) -> Outcome:
    """Run once. `seed` 0: agents take turns, a step each; else the order is drawn."""
    import random

    draw = random.Random(seed)
    where = cells(streams)
    outcome = Outcome(flags=set(streams.preset))
    content: dict[int, tuple[int, int, int]] = {}
    at = [0] * len(streams.streams)
    turn = 0
    while True:
        ready = [agent for agent in range(len(at)) if _may_go(streams, agent, at, outcome.flags)]
        if not ready:
            break
        agent = min(ready, key=lambda a: (a - turn) % len(at)) if not seed else draw.choice(ready)
        turn = agent + 1
        stream = streams.streams[agent]
        place = (stream.agent, at[agent])
        step, number = stream.steps[at[agent]], stream.messages[at[agent]]
        at[agent] += 1
        outcome.log.append(place)
        if step.flag is not None:
            if step.act is Act.WAIT:
                outcome.flags.remove(step.flag)
            elif step.flag in outcome.flags:
                outcome.twice.append(place)
            else:
                outcome.flags.add(step.flag)
            continue
        message = (step.pipe, int(step.direction), number)
        for access in step.accesses if step.act is not Act.ALIAS else ():
            for cell in where[access]:
                if access.write and step.act is Act.COPY_DONE:
                    content[cell] = message
                elif access.write:
                    content.pop(cell, None)
                elif content.get(cell) != message:
                    outcome.bad.append(place)
    outcome.stuck = [(s.agent, at[a]) for a, s in enumerate(streams.streams) if at[a] < len(s.steps)]
    return outcome


def _may_go(streams: Streams, agent: int, at: list[int], flags: set[Flag]) -> bool:
    steps = streams.streams[agent].steps
    if at[agent] == len(steps):
        return False
    step = steps[at[agent]]
    return step.act is not Act.WAIT or step.flag in flags
