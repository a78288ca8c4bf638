"""What initialisation, push, pop, use and free are made of: the one page that says the protocol.

A push waits until its slot is free, copies, and says the slot is ready. A pop waits until its slot is ready; on A2A3 it
copies the tile out and frees the slot itself; on A5 the popped tile *is* the slot, which is freed after its last use.
The specification's pseudocode frees inside pop on A5, too, its timing picture after use; the first is a race (`IN_POP`
keeps it, so that it can be shown to be one), so the second holds.
"""

from __future__ import annotations

import enum

from aiecc.plugins.tpush.memories import CONSUMER_SPACE
from aiecc.plugins.tpush.model import (
    Agent,
    Cluster,
    Direction,
    Free,
    Init,
    Pipe,
    Platform,
    Pop,
    Push,
    Space,
    Split,
    Tile,
)
from aiecc.plugins.tpush.split import Part, doubled, halves, lane_tile, part, whole_part
from aiecc.plugins.tpush.steps import Access, Act, Flag, Step


class FreeRule(enum.Enum):
    """When a consumer on A5 says that a slot is free."""

    AFTER_USE = "after-use"
    IN_POP = "in-pop"


class Protocol:
    """The steps of every op of one cluster. Bases that are not there yet count as 0.

    All methods take the agent that runs the op, and a tag; `tag` may be 0 for those who add the rest at run time.
    """

    def __init__(self, cluster: Cluster, rule: FreeRule = FreeRule.AFTER_USE) -> None:
        self.cluster = cluster
        self.platform = cluster.platform
        self.rule = rule
        self.pipes = {pipe.id: pipe for pipe in cluster.pipes}
        self._lanes = {id: self._lanes_of(pipe) for id, pipe in self.pipes.items()}

    def lanes(self, pipe: int) -> tuple[int, ...]:
        """The Vector lanes that shake hands on a pipe.

        A pipe that is not split is lane 0's. On A2A3 a SET of the Cube reaches both lanes and its WAIT waits for both,
        so when both run, lane 1 goes through every handshake of such a pipe, without data.
        """
        return self._lanes[pipe]

    def _lanes_of(self, pipe: Pipe) -> tuple[int, ...]:
        if self.cluster.lanes == 1:
            return (0,)
        split = any(
            isinstance(op, Push | Pop) and op.pipe == pipe.id and op.split
            for program in (self.cluster.cube, self.cluster.vector, self.cluster.vector1)
            if program is not None
            for op in program.walk()
        )
        return (0, 1) if split or self.platform is Platform.A2A3 else (0,)

    # --- ops ----------------------------------------------------------------------------------------------------------

    def init(self, agent: Agent, op: Init) -> tuple[Step, ...]:
        """SET free of every slot of every direction that this core consumes."""
        pipe = self.pipes[op.pipe]
        return tuple(
            step
            for direction in pipe.directions
            if direction.consumer is agent.kind
            for tag in range(pipe.slot_num)
            for step in self._sets(agent, pipe, direction, "free", tag, Split.NONE)
        )

    def push(self, agent: Agent, op: Push, tag: int) -> tuple[Step, ...]:
        """A tile that was popped and is pushed on is read, as by `use`, while the copy runs."""
        pipe = self.pipes[op.pipe]
        sets = self._sets(agent, pipe, op.direction, "ready", tag, op.split)
        waits = self._waits(agent, pipe, op.direction, "free", tag, op.split)
        copies = self._copies(agent, pipe, op, tag, self.writes(agent, op, tag))
        return (*waits, *copies, *sets)

    def pop(self, agent: Agent, op: Pop, tag: int) -> tuple[Step, ...]:
        """On A5 the tile becomes an alias of the slot; see `use` and `free`."""
        pipe = self.pipes[op.pipe]
        waits = self._waits(agent, pipe, op.direction, "ready", tag, op.split)
        reads = self.reads(agent, op, tag)
        if self.platform is Platform.A2A3:
            rest = self._copies(agent, pipe, op, tag, reads)
        elif reads:
            rest = (Step(Act.ALIAS, pipe.id, op.direction, tag, "", None, reads, op.split),)
        else:
            rest = ()
        frees: tuple[Step, ...] = ()
        if self.platform is Platform.A2A3 or self.rule is FreeRule.IN_POP:
            frees = self._sets(agent, pipe, op.direction, "free", tag, op.split)
        return (*waits, *rest, *frees)

    def use(self, agent: Agent, op: Pop, tag: int) -> tuple[Step, ...]:
        """Some op reads the tile that `op` popped. On A2A3 that is the core's own copy."""
        reads = self.reads(agent, op, tag)
        if self.platform is Platform.A2A3 or not reads:
            return ()
        return tuple(
            Step(act, op.pipe, op.direction, tag, "", None, reads, op.split) for act in (Act.USE_START, Act.USE_DONE)
        )

    def free(self, agent: Agent, op: Free, tag: int) -> tuple[Step, ...]:
        """On A2A3 the pop has done it."""
        if self.platform is Platform.A2A3 or self.rule is FreeRule.IN_POP:
            return ()
        return self._sets(agent, self.pipes[op.pipe], op.direction, "free", tag, op.split)

    # --- flags --------------------------------------------------------------------------------------------------------

    def _partners(self, agent: Agent, pipe: Pipe) -> tuple[int, ...]:
        """The lanes whose flags this agent handles: all for the Cube, its own for a lane that takes part."""
        lanes = self._lanes[pipe.id]
        return lanes if agent is Agent.CUBE else tuple(lane for lane in lanes if lane == agent.lane)

    def _sets(
        self, agent: Agent, pipe: Pipe, direction: Direction, role: str, tag: int, split: Split
    ) -> tuple[Step, ...]:
        number = pipe.flag(direction, tag)
        return tuple(
            Step(Act.SET, pipe.id, direction, tag, role, Flag(lane, agent is Agent.CUBE, number), split=split)
            for lane in self._partners(agent, pipe)
        )

    def _waits(
        self, agent: Agent, pipe: Pipe, direction: Direction, role: str, tag: int, split: Split
    ) -> tuple[Step, ...]:
        number = pipe.flag(direction, tag)
        return tuple(
            Step(Act.WAIT, pipe.id, direction, tag, role, Flag(lane, agent is not Agent.CUBE, number), split=split)
            for lane in self._partners(agent, pipe)
        )

    # --- data ---------------------------------------------------------------------------------------------------------

    def _copies(
        self, agent: Agent, pipe: Pipe, op: Push | Pop, tag: int, accesses: tuple[Access, ...]
    ) -> tuple[Step, ...]:
        if not accesses:
            return ()
        start, done = (
            Step(act, pipe.id, op.direction, tag, "", None, accesses, op.split)
            for act in (Act.COPY_START, Act.COPY_DONE)
        )
        return start, done

    def writes(self, agent: Agent, op: Push, tag: int) -> tuple[Access, ...]:
        """What a push writes. On A5 the Cube cuts a split tile: a half into the ring of each lane."""
        pipe = self.pipes[op.pipe]
        if self.platform is Platform.A5 and agent is Agent.CUBE and op.split:
            first, second = halves(op.split, op.tile)
            row = op.tile.cols * op.tile.element
            found: list[Access] = []
            for lane, half in enumerate((first, second)):
                cut = part(op.split, lane, half)
                local = cut.offset // cut.stride * row + cut.offset % cut.stride
                found.append(self._access(pipe, op.direction, lane, tag, whole_part(half), True, local, row))
            return tuple(found)
        return self._own(agent, pipe, op, tag, True)

    def reads(self, agent: Agent, op: Pop, tag: int) -> tuple[Access, ...]:
        """What a pop reads: the Cube the whole tile; a lane its part, which on A5 starts its own slot."""
        return self._own(agent, self.pipes[op.pipe], op, tag, False)

    def _own(self, agent: Agent, pipe: Pipe, op: Push | Pop, tag: int, write: bool) -> tuple[Access, ...]:
        if agent.lane not in self._lanes[pipe.id] or (agent is Agent.AIV1 and not op.split):
            return ()
        tile = lane_tile(op.split, agent.lane, op.tile)
        alone = agent is Agent.CUBE or (self.platform is Platform.A5 and op.direction is Direction.C2V)
        where = whole_part(tile) if alone else part(op.split, agent.lane, tile)
        row = tile.cols * tile.element
        return (self._access(pipe, op.direction, agent.lane, tag, where, write, 0, row),)

    def _access(
        self, pipe: Pipe, direction: Direction, lane: int, tag: int, where: Part, write: bool, local: int, row: int
    ) -> Access:
        address = (pipe.base(direction) or 0) + tag * pipe.slot_size + where.offset
        space, owner = self.home(direction, lane)
        return Access(space, owner, address, where.rows, where.row_bytes, where.stride, write, local, row)

    def home(self, direction: Direction, lane: int = 0) -> tuple[Space, Agent | None]:
        """The memory that holds a direction's ring, and whose it is: a lane has its own C2V ring on A5."""
        if self.platform is Platform.A2A3:
            return Space.GM, None
        owner = Agent.CUBE if direction is Direction.V2C else Agent(1 + lane)
        return CONSUMER_SPACE[direction], owner


def whole_of(op: Push | Pop, kind_is_cube: bool) -> Tile:
    """The whole tile that an op moves, or moves a lane's part of."""
    return op.tile if kind_is_cube else doubled(op.split, op.tile)
