"""Channels with their start queues: they run what sequences push, one after the other, and tell when it is done."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from aiecc.base.spans import Span
from aiecc.model.targets import DmaDirection
from aiecc.model.targets.tables import Dma
from aiecc.sim.dma import Program, run_channel, run_descriptor
from aiecc.sim.host_registers import Table
from aiecc.sim.order import Clock, learn, tick
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.schedule import Actor, Gate, Schedule, Steps
from aiecc.sim.streams import Sink, Source, tell


@dataclass(eq=False, slots=True)
class Push:
    """One start. `held`: the descriptors it runs. `done`: the channel's own time when it was over."""

    bd: int
    repeat: int
    token: bool
    where: Span | None
    held: frozenset[int]
    clock: Clock | None
    done: int | None = None


class Tokens(Gate):
    """The completion tokens of a channel that nobody has taken yet, in order."""

    __slots__ = ("arrived", "name")

    def __init__(self, schedule: Schedule, name: str) -> None:
        super().__init__(schedule)
        self.name = name
        self.arrived: deque[Clock | None] = deque()

    def wanted(self, need: int) -> str:
        return f"a token of {self.name}"

    def add(self, clock: Clock | None) -> None:
        self.arrived.append(clock)
        self.open()


class _Changed(Gate):
    """Opens when a channel gets something to do, is done with something, or may go on."""

    __slots__ = ("wants",)

    def __init__(self, schedule: Schedule, wants: str) -> None:
        super().__init__(schedule)
        self.wants = wants

    def wanted(self, need: int) -> str:
        return self.wants


class Engine:
    """One channel. Its own program, if the tile has one for it, comes before everything else."""

    def __init__(
        self,
        schedule: Schedule,
        table: Table,
        direction: DmaDirection,
        index: int,
        dma: Dma,
        ports: tuple[Source | None, Sink | None],
        program: Program | None = None,
        site: Span | None = None,
    ) -> None:
        self.schedule = schedule
        self.table = table
        self.name = f"{direction.value} {index} of tile {table.tile}"
        self.index = index
        self.dma = dma
        self.source, self.sink = ports
        self.program = program
        self.actor = Actor(self.name, site)
        self.queue: deque[Push] = deque()
        self.unknown: deque[Push] = deque()
        self.tokens = Tokens(schedule, self.name)
        self.pushed = _Changed(schedule, "a push")
        self.moved = _Changed(schedule, f"{self.name} to get further")
        self.reset = False
        self.control = 0

    # --- what it does -------------------------------------------------------------------------------------------------

    def steps(self) -> Steps:
        if self.program is not None:
            yield from run_channel(self.schedule, self.actor, self.program, self.source, self.sink)
            self.program = None
            self.moved.open()
        while True:
            while not self.queue or self.reset:
                self.actor.site = None
                yield self.pushed
            push = self.queue[0]
            learn(self.actor, push.clock)
            yield from self._run(push)
            self._finish(push)
            yield None

    def _run(self, push: Push) -> Steps:
        table, me = self.table, self.actor
        for turn in range(push.repeat + 1):
            at: int | None = push.bd
            while at is not None:
                me.site = push.where
                bd, follows = table.step(at)
                yield from run_descriptor(self.schedule, me, table.tile, 0, bd, self.source, self.sink)
                if turn < push.repeat or follows is not None:
                    yield None
                elif self.source is not None and bd.buffer is not None and self.schedule.ordered:
                    tell(me, self.source, None if bd.packet is None else bd.packet[1])
                    push.done = me.clock[me.number] - 1
                at = follows

    def _finish(self, push: Push) -> None:
        self.queue.popleft()
        clock = None
        if self.schedule.ordered:
            # What its last word told is enough to know that it is over; else its token is.
            push.done = push.done or self.actor.clock[self.actor.number]
            clock = tick(self.actor)
        if push.token:
            self.tokens.add(clock)
        self.moved.open()

    # --- what a sequence does to it -----------------------------------------------------------------------------------

    def _forget(self, host: Actor) -> None:
        """Drop the pushes of which the host knows that they are over."""
        while self.unknown:
            done = self.unknown[0].done
            if self.schedule.ordered:
                known = done is not None and host.clock[self.actor.number] >= done
            else:
                known = self.unknown[0] not in self.queue
            if not known:
                return
            self.unknown.popleft()

    def start(self, host: Actor, bd: int, repeat: int, token: bool) -> None:
        """Put a task into the queue. Traps when it may be full, or the descriptor cannot run here."""
        if self.reset:
            raise Trapped(Kind.QUEUE, f"pushes on {self.name} while it is held in reset")
        if bd not in self.dma.bd_ids(self.index):
            reach = self.dma.bd_ids(self.index)
            raise Trapped(
                Kind.DESCRIPTOR,
                f"pushes descriptor {bd} on {self.name}, which reaches {reach.start} to {reach.stop - 1}",
            )
        self._forget(host)
        ahead = len(self.unknown) + (self.program is not None)
        if ahead >= self.dma.queue_depth:
            raise Trapped(
                Kind.QUEUE,
                f"pushes on {self.name}, whose queue holds {self.dma.queue_depth}, while {ahead} pushes are not known "
                "to be done",
            )
        try:
            held = frozenset(self.table.chain(bd))
        except Trapped:
            host.site = self.table.site or host.site
            raise
        push = Push(bd, repeat, token, host.site, held, tick(host) if self.schedule.ordered else None)
        self.queue.append(push)
        self.unknown.append(push)
        self.schedule.events += 1
        self.pushed.open()

    def uses(self, host: Actor, bd: int) -> bool:
        """Whether a descriptor may still be at work here, as far as the host can know."""
        if self.program is not None and any(each.id == bd for each in self.program.descriptors):
            return True
        self._forget(host)
        return any(bd in push.held for push in self.unknown)

    def learnt(self, host: Actor) -> None:
        """The host has seen how far this channel is."""
        if self.schedule.ordered:
            learn(host, tick(self.actor))

    def clear(self) -> None:
        """Drop everything, as a reset does."""
        self.program = None
        self.queue.clear()
        self.unknown.clear()
        self.schedule.restart(self.actor, self.steps())
        if self.sink is not None:
            self.sink.want = 0
        self.moved.open()

    def owed(self) -> int:
        """How many pushes are not done that could be: a chain that leads back into itself never is."""
        return sum(not self.table.is_endless(push.bd) for push in self.queue)

    @property
    def status(self) -> int:
        """The status register: how many tasks wait in bits 22 to 20, whether one runs in bit 19."""
        count = len(self.queue) + (self.program is not None)
        return min(count, 7) << 20 | int(count > 0) << 19
