"""Whether actors that take and give objects through pools of fixed depth, forever, ever come to a standstill.

Every actor does one fixed thing after another and no two actors take from the same counter, so what each of them gets
done in the end does not depend on who is faster. One run decides, then: it stands still, or comes back to a state it
was in before and goes on forever.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Counter = Hashable
"""What counts the objects of one kind in one place, say the full ones of one segment of a pool."""

MOST_ROUNDS = 100_000
"""More rounds than this are not tried; what is undecided then counts as a standstill."""


class Move(NamedTuple):
    """Wait until a counter has as much as `change` takes away, then add `change` to it."""

    counter: Counter
    change: int


@dataclass
class Actor:
    """Makes its moves in order, then those from `back` on again, forever."""

    moves: Sequence[Move]
    back: int = 0
    at: int = 0

    def step(self, counters: dict[Counter, int]) -> bool:
        """Make one move if it is possible."""
        counter, change = self.moves[self.at]
        if counters[counter] + change < 0:
            return False
        counters[counter] += change
        self.at += 1
        if self.at == len(self.moves):
            self.at = self.back
        return True


def stands_still(actors: Sequence[Actor], counters: dict[Counter, int], watched: Sequence[Actor]) -> bool:
    """Whether one of the watched actors ever stops for good. Moves the actors and changes the counters.

    Every actor has moves, and a counter that it takes from is no other actor's to take from.
    """
    seen: dict[Hashable, list[int]] = {}
    done = [0] * len(watched)
    for _ in range(MOST_ROUNDS):
        moved = False
        for actor in actors:
            steps = 0
            while steps < len(actor.moves) and actor.step(counters):
                steps += 1
            moved = moved or steps > 0
            for i, one in enumerate(watched):
                done[i] += steps if one is actor else 0
        state = (tuple(actor.at for actor in actors), tuple(counters.values()))
        before = seen.get(state)
        if before is not None:
            return any(now == then for now, then in zip(done, before, strict=True))
        if not moved:
            return True
        seen[state] = list(done)
    return True
