"""What is in flight while a runtime sequence runs: pushes on channels, tokens, descriptors and who holds them.

A channel runs what is pushed on it in order, and a token says that one push is done; so is, then, every earlier push on
that channel. Nothing else proves anything about descriptors: only the author knows, and says so by freeing a task. That
is believed where something was waited for in between, for want of which nothing can be known to be over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.model.targets import Tile

PART = "part"
"""On a transfer that was split: this is not the last of its parts, so nobody waits for it."""

ChannelKey = tuple[Tile, int, int]
"""Tile, direction (0 S2MM, 1 MM2S), channel."""


def tells(op: NpuDmaMemcpyNdOp, direction: Direction) -> bool:
    """Whether a transfer's end is told by a token; that of one that receives always is."""
    return PART not in op.attributes and (op.issue_token or direction is Direction.S2MM)


@dataclass(eq=False, slots=True)
class Push:
    """One start of a task. `token`: completion is told. `done`: it is known to be over."""

    owner: Hashable
    op: Operation
    token: bool
    waits: int = 0
    """How many waits there had been before."""
    done: bool = False
    consumed: bool = False
    """Its token was waited for."""


@dataclass(eq=False, slots=True)
class ChannelState:
    """What was pushed on a channel, oldest first: what is not known to be done, and whose token nobody has taken."""

    outstanding: deque[Push] = field(default_factory=deque[Push])
    tokens: deque[Push] = field(default_factory=deque[Push])

    def push(self, push: Push) -> None:
        self.outstanding.append(push)
        if push.token:
            self.tokens.append(push)

    def finish(self, push: Push) -> int:
        """The token of a push is waited for: it and all before it are done. Gives how many tokens that takes."""
        self.promise(push)
        taken = 0
        while not push.consumed and self.tokens:
            self.tokens.popleft().consumed = True
            taken += 1
            if push.consumed:
                break
        return taken

    def promise(self, push: Push) -> None:
        """A push is done, and so is all before it; tokens are where they were."""
        while not push.done and self.outstanding:
            self.outstanding.popleft().done = True

    def oldest_running(self) -> Push | None:
        """The first push that is not known to be done and will tell."""
        return next((p for p in self.outstanding if p.token), None)


@dataclass(eq=False, slots=True)
class Holder:
    """Who has a descriptor, or had it last. `waits`: how many waits there had been when it was started last."""

    op: Operation
    waits: int = -1


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
