"""What is in flight while a runtime sequence runs: pushes on channels, tokens, descriptors and who holds them.

A channel runs what is pushed on it in order, and a token says that one push is done; so is, then, every earlier push on
that channel. Nothing else proves anything about descriptors: only the author knows, and says so by freeing a task, or
by using the number of a transfer's descriptor again. That is believed where something was waited for in between, for
want of which nothing can be known to be over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.model.targets import Tile

PART = "part"
"""On a transfer that was split: this is not the last of its parts, so nobody waits for it."""
TELL = "tell"
"""On a start or a transfer: it is waited for to make room in its queue, so it tells when it is done."""

ChannelKey = tuple[Tile, int, int]
"""Tile, direction (0 S2MM, 1 MM2S), channel."""


def tells(op: NpuDmaMemcpyNdOp, direction: Direction) -> bool:
    """Whether a transfer's end is told by a token; that of one that receives always is."""
    return TELL in op.attributes or (PART not in op.attributes and (op.issue_token or direction is Direction.S2MM))


@dataclass(eq=False, slots=True)
class Push:
    """One start of a task. `owner`: the task, or the op itself where it names its descriptor by number."""

    owner: Operation
    op: Operation
    key: ChannelKey
    token: bool
    """Completion is told."""
    endless: bool = False
    """Its descriptors form a cycle: it is never over."""
    waits: int = 0
    """How many waits there had been before."""
    done: bool = False
    """It is known to be over."""
    consumed: bool = False
    """Its token was waited for."""
    lost: Operation | None = None
    """What stopped its channel after it was pushed."""

    @property
    def is_task(self) -> bool:
        """Whether its token is waited for by an await of its task; else any wait for its channel means it."""
        return isinstance(self.owner, DmaConfigureTaskOp)


@dataclass(eq=False, slots=True)
class ChannelState:
    """What was pushed on a channel, oldest first: what is not known to be done, and whose token nobody has taken."""

    outstanding: deque[Push] = field(default_factory=deque[Push])
    tokens: deque[Push] = field(default_factory=deque[Push])
    ahead: list[Push] = field(default_factory=list[Push])
    """Pushes whose tokens were taken ahead of the wait that is meant to."""

    def push(self, push: Push) -> None:
        self.outstanding.append(push)
        if push.token:
            self.tokens.append(push)

    def finish(self, push: Push, *, asked: bool = True) -> int:
        """The token of a push is waited for: it and all before it are done. Gives how many tokens that takes.

        asked: by what the author wrote for it, so that nothing waits for it again.
        """
        self.promise(push)
        taken = 0
        while not push.consumed and self.tokens:
            one = self.tokens.popleft()
            one.consumed = True
            taken += 1
            if one is not push or not asked:
                self.ahead.append(one)
        if asked and not taken and push in self.ahead:
            self.ahead.remove(push)
        return taken

    def take(self) -> bool | None:
        """A wait for any token of the channel. Whether there is one to wait for; False where the one that is meant was
        taken ahead, so that the wait is over already; None where none comes."""
        early = next((push for push in self.ahead if not push.is_task), None)
        if early is None and self.tokens:
            self.finish(self.tokens[0])
            return True
        early = early or next(iter(self.ahead), None)
        if early is None:
            return None
        self.ahead.remove(early)
        return False

    def promise(self, push: Push) -> None:
        """A push is done, and so is all before it; tokens are where they were."""
        while not push.done and self.outstanding:
            self.outstanding.popleft().done = True

    def stop(self, op: Operation) -> None:
        """Whatever runs is stopped; its tokens may come or not."""
        for push in self.outstanding:
            push.done, push.lost = True, op
        for push in self.tokens:
            push.lost = op

    @property
    def endless(self) -> Push | None:
        """The push behind which nothing runs."""
        return next((push for push in self.outstanding if push.endless), None)

    def oldest_running(self) -> Push | None:
        """The first push that is not known to be done and will tell."""
        return next((push for push in self.outstanding if push.token), None)


@dataclass(eq=False, slots=True)
class Holder:
    """Who has descriptors, or had them last. `waits`: how many waits there had been when it was started last."""

    op: Operation
    waits: int = -1
    endless: ChannelKey | None = None
    """The channel on which it runs in a cycle, until that is stopped."""
    ids: TileIds | None = None
    numbers: list[int] = field(default_factory=list[int])


@dataclass(eq=False, slots=True)
class TileIds:
    """The descriptors of one tile. `reserved`: those of the tile's own DMA program; `pinned`: some task asks for."""

    reserved: frozenset[int]
    pinned: frozenset[int]
    held: dict[int, Holder] = field(default_factory=dict[int, Holder])
    left: dict[int, Holder] = field(default_factory=dict[int, Holder])
    """Given back by promise only, while what ran there was not known to be done."""

    def free(self, reach: Iterable[int]) -> Iterator[int]:
        """The ids that may be given out, in the order in which they are: lowest first, pinned ones last."""
        last: list[int] = []
        for number in reach:
            if number in self.held or number in self.reserved:
                continue
            if number in self.pinned:
                last.append(number)
            else:
                yield number
        yield from last
