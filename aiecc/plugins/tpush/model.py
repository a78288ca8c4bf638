"""What a cluster program is, without any IR: pipes, tiles, and what each core does with them, in order.

`extract.py` makes a `Cluster` of a module; everything else here works on it. Bytes everywhere. The numbers are those of
the TPUSH/TPOP specification.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from aiecc.api import Span

FLAGS = 8
"""Flags on each wire: per peer and per direction of travel."""


class Platform(enum.Enum):
    """Where rings live. A2A3: in global memory. A5: in the consumer's on-chip memory."""

    A2A3 = "a2a3"
    A5 = "a5"

    @property
    def number(self) -> int:
        """PLATFORM_ID."""
        return 0 if self is Platform.A2A3 else 1


class Direction(enum.IntEnum):
    """A bit of DIR_MASK."""

    C2V = 1
    V2C = 2

    @property
    def producer(self) -> Kind:
        return Kind.CUBE if self is Direction.C2V else Kind.VECTOR

    @property
    def consumer(self) -> Kind:
        return Kind.VECTOR if self is Direction.C2V else Kind.CUBE


class Kind(enum.Enum):
    """What a function runs on."""

    CUBE = "cube"
    VECTOR = "vector"


class Agent(enum.IntEnum):
    """One instruction stream of a cluster: the Cube core and its two buddies."""

    CUBE = 0
    AIV0 = 1
    AIV1 = 2

    @property
    def kind(self) -> Kind:
        return Kind.CUBE if self is Agent.CUBE else Kind.VECTOR

    @property
    def lane(self) -> int:
        """Number of a Vector core; 0 for the Cube."""
        return self - 1 if self else 0

    @property
    def title(self) -> str:
        """As texts call it."""
        return "Cube" if self is Agent.CUBE else f"Vector {self.lane}"


class Space(enum.Enum):
    """A memory; the value is how the dialect spells it (`#pto.address_space<vec>`)."""

    GM = "gm"
    VEC = "vec"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    BIAS = "bias"
    SCALING = "scaling"


class Split(enum.IntEnum):
    """How a whole tile relates to the tiles of the two Vector lanes. The odd ones go beyond the specification."""

    NONE = 0
    UP_DOWN = 1
    LEFT_RIGHT = 2
    UP_DOWN_ODD = 3
    LEFT_RIGHT_ODD = 4

    @property
    def odd(self) -> bool:
        return self >= Split.UP_DOWN_ODD

    @property
    def by_rows(self) -> bool:
        return self in (Split.UP_DOWN, Split.UP_DOWN_ODD)


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile as the core that holds it sees it: of a split, a Vector lane's is its part (lane 0's if they differ).

    `valid_rows`, `valid_cols`: what of it is data; None: all.
    """

    rows: int
    cols: int
    element: int
    """Bytes of an element."""
    space: Space
    valid_rows: int | None = None
    valid_cols: int | None = None

    @property
    def height(self) -> int:
        return self.rows if self.valid_rows is None else self.valid_rows

    @property
    def width(self) -> int:
        return self.cols if self.valid_cols is None else self.valid_cols

    @property
    def size(self) -> int:
        """Bytes of its data."""
        return self.height * self.width * self.element


@dataclass(frozen=True, slots=True)
class Site:
    """The op something comes from. `op` as texts quote it: `pto.tpush_to_aiv`."""

    op: str
    where: Span | None = None


NOWHERE = Site("", None)


@dataclass(frozen=True, slots=True)
class Reserve:
    """`pto.reserve_buffer`: room for a ring in its consumer's memory. `base` None: to be placed."""

    name: str
    size: int
    space: Space
    base: int | None = None
    function: str = ""
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Pipe:
    """One pipe, both sides agreed.

    `flag_base`: its first flag on every wire. `c2v_base`, `v2c_base`: addresses of its rings: in the consumer's memory
    on A5; on A2A3 in global memory, counted from the workspace's start when that is only known at run time. None: that
    direction is not active, or not placed yet (`size.py` fills it in). `c2v_ring`, `v2c_ring`: names of reservations.
    `workspace`: the pointer, in canonical text, that addresses in global memory count from.
    """

    id: int
    dir_mask: int
    slot_size: int
    slot_num: int
    flag_base: int = 0
    c2v_base: int | None = None
    v2c_base: int | None = None
    c2v_ring: str = ""
    v2c_ring: str = ""
    nosplit: bool = False
    cube: Site = NOWHERE
    vector: Site = NOWHERE
    workspace: str = ""

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(d for d in Direction if self.dir_mask & d)

    @property
    def flags(self) -> int:
        """How many flags of each wire it takes."""
        return self.slot_num * len(self.directions)

    @property
    def ring_size(self) -> int:
        return self.slot_num * self.slot_size

    def base(self, direction: Direction) -> int | None:
        return self.c2v_base if direction is Direction.C2V else self.v2c_base

    def flag(self, direction: Direction, tag: int) -> int:
        """The number of both flags of a slot, ready and free: they differ in the wire."""
        second = self.dir_mask == 3 and direction is Direction.V2C
        return self.flag_base + (self.slot_num if second else 0) + tag


def default_slot_num(dir_mask: int) -> int:
    """SLOT_NUM of the specification: 4 for both directions, else 8."""
    return 4 if dir_mask == 3 else 8


# ------------------------------------------------------------------------------------------------- programs

Trips = int | str
"""A trip count: a number, or the canonical text of what it is computed from (equal texts are equal numbers)."""

Value = int
"""Names a popped tile inside one program; a new one per pop op."""


@dataclass(frozen=True, slots=True)
class Init:
    """The core sets a pipe up, and frees all slots it will consume."""

    pipe: int
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Push:
    """`uses`: popped tiles that the op reads while it copies: the tile itself, when it was popped."""

    pipe: int
    direction: Direction
    tile: Tile
    split: Split = Split.NONE
    uses: tuple[Value, ...] = ()
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Pop:
    pipe: int
    direction: Direction
    tile: Tile
    value: Value
    split: Split = Split.NONE
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Use:
    """An op that reads popped tiles. On A5 a popped tile is the slot itself."""

    values: tuple[Value, ...]
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Free:
    """Releases the oldest slot that is held. `value`: the tile its author means, when he says so."""

    pipe: int
    direction: Direction
    split: Split = Split.NONE
    value: Value | None = None
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Carry:
    """A popped tile handed from one iteration to the next: `inner` in the body, `result` behind the loop."""

    inner: Value
    first: Value | None
    again: Value | None
    result: Value


@dataclass(frozen=True, slots=True)
class Loop:
    trips: Trips
    body: tuple[Op, ...]
    carried: tuple[Carry, ...] = ()
    site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Branch:
    """`condition`: its canonical text; equal texts are equal on both cores (kernel arguments, loop counters)."""

    condition: str
    then: tuple[Op, ...]
    orelse: tuple[Op, ...] = ()
    site: Site = NOWHERE


Op = Init | Push | Pop | Use | Free | Loop | Branch


@dataclass(frozen=True, slots=True)
class Program:
    """What one function does with pipes, in program order."""

    name: str
    kind: Kind
    ops: tuple[Op, ...]
    site: Site = NOWHERE

    def walk(self) -> Iterator[Op]:
        """All ops, each before those inside it."""
        return _walk(self.ops)


def _walk(ops: tuple[Op, ...]) -> Iterator[Op]:
    for op in ops:
        yield op
        if isinstance(op, Loop):
            yield from _walk(op.body)
        elif isinstance(op, Branch):
            yield from _walk(op.then)
            yield from _walk(op.orelse)


@dataclass(frozen=True, slots=True)
class Cluster:
    """One Cube function and one Vector function that run together; the latter on one or both lanes.

    `lanes` 1: every pipe is 1:1 with lane 0, and lane 1 does not run. `vector1`: lane 1's program where it differs.
    `reserves` by name.
    """

    platform: Platform
    pipes: tuple[Pipe, ...]
    cube: Program
    vector: Program
    lanes: int = 1
    vector1: Program | None = None
    reserves: tuple[Reserve, ...] = ()

    @property
    def agents(self) -> tuple[Agent, ...]:
        return tuple(Agent)[: 1 + self.lanes]

    def program(self, agent: Agent) -> Program:
        if agent is Agent.CUBE:
            return self.cube
        return self.vector1 if agent is Agent.AIV1 and self.vector1 is not None else self.vector

    def pipe(self, id: int) -> Pipe:
        """Raises KeyError for an id that no pipe has."""
        for each in self.pipes:
            if each.id == id:
                return each
        raise KeyError(id)
