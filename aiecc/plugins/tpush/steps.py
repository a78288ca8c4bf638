"""Explicit steps: what a push, a pop and a free are made of, with real flag numbers and addresses.

One page says the protocol (`protocol.py`); the analysis, the views, the picture and the code that runs are made from
it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from aiecc.plugins.tpush.model import Agent, Direction, Op, Platform, Site, Space, Split


class Act(enum.Enum):
    """WAIT consumes: it blocks until the flag is set, and clears it. SET never blocks.

    A copy runs between its start and its done; the core itself waits for its end (the local mte flag), so the two
    follow one another in the stream. A use is an op that reads a slot in place (a popped tile on A5); an alias gives a
    slot a name.
    """

    WAIT = "wait"
    SET = "set"
    COPY_START = "copy start"
    COPY_DONE = "copy done"
    USE_START = "use start"
    USE_DONE = "use done"
    ALIAS = "alias"


@dataclass(frozen=True, slots=True, order=True)
class Flag:
    """A physical flag: it travels on the wire from or to the Cube of one lane. `ready` and `free` are roles, not
    identity: C2V ready and V2C free share the Cube's wire."""

    lane: int
    from_cube: bool
    number: int

    @property
    def setter(self) -> Agent:
        return Agent.CUBE if self.from_cube else Agent(1 + self.lane)

    @property
    def waiter(self) -> Agent:
        return Agent(1 + self.lane) if self.from_cube else Agent.CUBE

    def __str__(self) -> str:
        way = f"cube->vector {self.lane}" if self.from_cube else f"vector {self.lane}->cube"
        return f"{way} flag {self.number}"


@dataclass(frozen=True, slots=True)
class Access:
    """A rectangle of a slot: `rows` runs of `row_bytes`, `stride` bytes apart, from `address` on.

    `owner`: whose on-chip memory it is; None in global memory. `write`: a producer's. The other end of a copy is the
    core's own tile, from `local_offset` on with `local_stride`.
    """

    space: Space
    owner: Agent | None
    address: int
    rows: int
    row_bytes: int
    stride: int
    write: bool
    local_offset: int = 0
    local_stride: int = 0

    @property
    def size(self) -> int:
        return self.rows * self.row_bytes


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one core. `flag` with WAIT and SET; `accesses` with the others.

    `role`: `ready` or `free`. All steps of an op at tag t are those at tag 0 with t added to every flag number and
    t * SLOT_SIZE to every slot address.
    """

    act: Act
    pipe: int
    direction: Direction
    tag: int
    role: str = ""
    flag: Flag | None = None
    accesses: tuple[Access, ...] = ()
    split: Split = Split.NONE

    def __str__(self) -> str:
        if self.flag is not None:
            return f"{self.act.value} {self.role}: {self.flag}"
        at = ", ".join(f"{a.space.value} 0x{a.address:x} {a.size}" for a in self.accesses)
        return f"{self.act.value} slot[{self.tag}] {at}"


@dataclass(slots=True)
class Stream:
    """The steps of one agent in program order, loops unrolled.

    `messages[i]`: the number, from 0, of step i's message in its pipe and direction (of the one used or freed).
    `ops[i]`: what it comes from.
    """

    agent: Agent
    steps: list[Step] = field(default_factory=list[Step])
    messages: list[int] = field(default_factory=list[int])
    ops: list[Op] = field(default_factory=list[Op])

    def site(self, index: int) -> Site:
        """The op of the user's that a step comes from."""
        return self.ops[index].site


@dataclass(slots=True)
class Streams:
    """A whole cluster, unrolled. `preset`: flags that initialisation has set before the first step of anybody.

    An initialisation that comes after other steps of its core stands in its stream instead, as SETs. `initial`: what
    all initialisations set; the flags must be the same again when everybody has ended, for whatever runs next.
    """

    platform: Platform
    streams: tuple[Stream, ...]
    preset: frozenset[Flag]
    initial: frozenset[Flag] = frozenset()
