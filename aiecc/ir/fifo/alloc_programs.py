"""Channels that the design programs itself, and how many buffer descriptors a channel is asked to hold."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Block, Operation

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.dma import DmaChannel, DmaOp, DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.enums import Direction, Role, WireBundle
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.dialects.aiex.tasks import StartChain, Task
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Place, Unplannable, direction_word
from aiecc.ir.fifo.view import FifoView, StreamEnd, place_of, tile_text


class Programs:
    """Which endpoints stand for a channel that the design programs itself, in an `aie.dma_start` or in tasks."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.starts: dict[str, list[DmaStartOp]] = {}
        self.fixed: list[tuple[Place, DmaChannel]] = []
        for place, op in facts.starts():
            if isinstance(op, DmaStartOp) and op.endpoint is not None:
                self.starts.setdefault(op.endpoint, []).append(op)
            else:
                self.fixed.append((place, op))

    def owned(self, end: StreamEnd) -> bool:
        """Whether an end's descriptors are the design's own: a DMA port of a tile that no host drives."""
        if not isinstance(end, RouteEndpointOp) or end.bundle is not WireBundle.DMA:
            return False
        if end.symbol in self.starts:
            return True
        kind = self._facts.kind(place_of(end.tile))
        return kind is not None and not kind.is_shim

    def static(self, end: StreamEnd) -> int:
        """How many descriptors an end's channel needs for as long as the design runs."""
        if isinstance(end, DmaEndpointOp):
            return descriptors(self._facts.view, end)
        return sum(chain_length(start) for start in self.starts.get(end.symbol, ()))

    def passing(self, end: StreamEnd) -> int:
        """How many more the largest task on an end's channel needs while it runs."""
        if not self.owned(end):
            return 0
        return max((self._length(task) for task in self._facts.tasks.get(end.symbol, ())), default=0)

    def _length(self, task: Task) -> int:
        """The descriptors of a runtime task: its own, or those of the template it starts."""
        body: Operation | None = self._facts.templates.get(task.symbol) if isinstance(task, StartChain) else task
        return sum(isinstance(op, DmaBdOp) for op in body.walk()) if body is not None else 0

    def check(self) -> None:
        """A program starts its endpoint's channel the way the endpoint's route goes. Raises Unplannable."""
        faults: list[Fault] = []
        for name, starts in self.starts.items():
            end = self._facts.view.stream_ends.get(name)
            for start in starts:
                if end is None:
                    faults.append(Fault(start, f"names @{name}, which is not an endpoint"))
                    continue
                if not isinstance(end, RouteEndpointOp):
                    text = f"names @{name}, whose descriptors are made for it; only a route endpoint can be programmed"
                    faults.append(Fault(start, text, (("the endpoint is here", end),)))
                    continue
                program = start.parent_op()
                if program is not None and place_of(program.operands[0]) != place_of(end.tile):
                    text = f"starts a channel by the name @{name}, which is on {tile_text(end.tile_op)}"
                    faults.append(Fault(start, text, (("the endpoint is here", end),)))
                    continue
                sends = self._facts.sends(end)
                if self._facts.view.routes_of(name) and sends != (start.direction is Direction.MM2S):
                    text = f"starts {start.direction.word} on @{name}, but its route makes it {direction_word(sends)}"
                    faults.append(Fault(start, text, (("the endpoint is here", end),)))
        if faults:
            raise Unplannable(faults)


def chain_length(start: DmaChannel) -> int:
    """The descriptors of a channel's chain."""
    if isinstance(start, DmaOp):
        return len(start.regions)
    assert isinstance(start, DmaStartOp)
    count, met = 0, set[Block]()
    block: Block | None = start.dest
    while block is not None and block not in met:
        met.add(block)
        count += sum(isinstance(op, DmaBdOp) for op in block.ops)
        last = block.last_op
        block = last.dest if isinstance(last, NextBdOp) else None
    return count


def turn_descriptors(view: FifoView, order: Sequence[str]) -> int:
    """The descriptors of the one chain of endpoints that take turns, until each is back at its first object."""
    ends: dict[str, DmaEndpointOp] = {}
    for name in order:
        end = view.stream_ends[name]
        assert isinstance(end, DmaEndpointOp)
        ends[name] = end
    depths = {name: view.pool_of(end).depth for name, end in ends.items()}
    rounds = math.lcm(*(depth // math.gcd(depth, order.count(name)) for name, depth in depths.items()))
    return rounds * sum(len(view.segments_of(ends[name])) for name in order)


def descriptors(view: FifoView, end: DmaEndpointOp, depth: int | None = None) -> int:
    """The descriptors that a DMA endpoint's chain will have, or would have over so many objects."""
    pool = view.pool_of(end)
    depth = pool.depth if depth is None else depth
    draining = end.role is Role.DRAINS
    if pool.stream is not None:
        layouts = end.dimensions or ()
        return layouts[0][0].size if draining and layouts and layouts[0] else 1
    once = depth * len(view.segments_of(end))
    times = (pool.repeat_count or 1) if draining else 1
    if times > 1 and once == 1 and end.iter_count is None and view.target.semaphore_locks:
        times = 1  # The channel's own repeat does it.
    turns = len(end.dispatch)
    passes = math.lcm(depth, turns) // depth if turns else 1
    return once * times * passes
