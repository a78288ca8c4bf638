"""What a check finds. A place is an agent and the index of a step in its stream."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from aiecc.plugins.tpush.model import Agent
from aiecc.plugins.tpush.steps import Flag

Place = tuple[Agent, int]


@dataclass(frozen=True, slots=True)
class Blocked:
    """An agent that stands at a WAIT for good. `payer`: the SET it waits for, which never comes; None: nobody SETs."""

    at: Place
    payer: Place | None


class RaceKind(enum.Enum):
    """OVERLAP: two accesses that nothing orders. STALE: a read of what another message, or none, wrote there."""

    OVERLAP = "overlap"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Race:
    """`first` and `second`: where the two accesses start; of STALE the last write before the read, or None."""

    kind: RaceKind
    first: Place | None
    second: Place


@dataclass(frozen=True, slots=True)
class Verdict:
    """`deadlock`: the WAITs that wait for one another, each for a SET behind the next; the last for the first, or in
    vain.
    `race`, `twice`: the first of each, as the check meets them; `twice`: a SET of a flag that may be set already.
    `left`: flags that are not as initialisation left them when everybody has ended, in order.
    """

    deadlock: tuple[Blocked, ...] = ()
    race: Race | None = None
    twice: Place | None = None
    left: tuple[Flag, ...] = ()

    @property
    def good(self) -> bool:
        return not self.deadlock and self.race is None and self.twice is None and not self.left
