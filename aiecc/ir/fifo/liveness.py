"""When the shim ends of a device have transfers in flight, as far as its runtime sequences tell.

One dispatch runs one sequence and is taken to finish its transfers before the next starts. Within a sequence a
receiving end is in flight from its first transfer until all of them were awaited or freed; a sending end stays in
flight to the end of the sequence, since its task completes before its data have entered the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aiex.control import DmaChannelResetForOp
from aiecc.ir.dialects.aiex.tasks import (
    DmaAwaitTaskOp,
    DmaConfigureTaskForOp,
    DmaFreeTaskOp,
    DmaStartBdChainForOp,
    DmaStartTaskOp,
    StartChain,
    Task,
)
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuDmaWaitOp
from aiecc.ir.fifo.symbols import symbols_in
from aiecc.ir.fifo.view import FifoView
from aiecc.ir.fold.loops import body_of, trip_count

FOREVER = -1
"""A span's end when the sequence does not say that the transfers are over."""

Makers = frozenset[Operation]
"""The ops that may have made a task."""


@dataclass(frozen=True)
class Span:
    """When one end is in flight within one sequence, in steps: the ops directly in its body, counted from 0.

    first: the step of the first transfer. over: the step after which none is left; FOREVER when that is not known.
    """

    first: int
    over: int


class Liveness:
    """For each sequence, in device order, the spans of the shim ends it uses; sending ends are FOREVER."""

    def __init__(self, view: FifoView) -> None:
        ends = [end for end in view.stream_ends.values() if isinstance(end, RouteEndpointOp)]
        self._sends = {end.symbol: view.sends(end) for end in ends}
        named: dict[str, list[str]] = {}
        for end in ends:
            for name in {end.symbol, end.fifo_name or end.symbol}:
                named.setdefault(name, []).append(end.symbol)
        self.sequences: list[dict[str, Span]] = []
        for op in view.device.block.ops:
            if isinstance(op, RuntimeSequenceOp):
                self.sequences.append(_Reader(op, named, self._sends).spans())

    def apart(self, a: str, b: str) -> bool:
        """Whether two ends of one direction are never in flight together. An end no sequence names never is apart."""
        if a == b or not self.is_used(a) or not self.is_used(b):
            return False
        for spans in self.sequences:
            if a not in spans or b not in spans:
                continue
            x, y = sorted((spans[a], spans[b]), key=lambda span: span.first)
            if x.over == FOREVER or x.over >= y.first:
                return False
        return True

    def is_used(self, end: str) -> bool:
        return any(end in spans for spans in self.sequences)


# --- one sequence -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Transfer:
    """One transfer in a channel's queue: the ops that may have configured it, and whether it hands out a token."""

    makers: Makers
    token: bool


@dataclass(frozen=True)
class _Queue:
    """A channel's transfers in flight, oldest first: the hardware works them off in this order.

    stale: tokens of transfers that were freed; awaits get these first. lost: no longer known; in flight for good.
    """

    waiting: tuple[_Transfer, ...] = ()
    stale: int = 0
    lost: bool = False

    def issued(self, transfer: _Transfer) -> _Queue:
        return replace(self, waiting=(*self.waiting, transfer))

    def awaited(self) -> _Queue:
        """After one token: the oldest transfer that hands one out is over, and all before it."""
        if self.stale:
            return replace(self, stale=self.stale - 1)
        at = next((i for i, transfer in enumerate(self.waiting) if transfer.token), None)
        return self if at is None else replace(self, waiting=self.waiting[at + 1 :])

    def freed(self, makers: Makers) -> _Queue:
        """After the promise that a task is over: so are all that were started before it."""
        over = [
            i for i, t in enumerate(self.waiting) if t.makers == makers or (t.makers <= makers and len(makers) == 1)
        ]
        if not over:
            return self
        gone, left = self.waiting[: over[-1] + 1], self.waiting[over[-1] + 1 :]
        return replace(self, waiting=left, stale=self.stale + sum(t.token for t in gone))

    def joined(self, other: _Queue) -> _Queue:
        """What is true of both; lost when they differ in more than in who made a task."""
        if self == other:
            return self
        alike = [a.token for a in self.waiting] == [b.token for b in other.waiting] and self.stale == other.stale
        if self.lost or other.lost or not alike:
            return LOST
        both = zip(self.waiting, other.waiting, strict=True)
        return replace(self, waiting=tuple(replace(a, makers=a.makers | b.makers) for a, b in both))


LOST = _Queue(lost=True)

_MOST_TRIPS = 64
"""Loops of at most so many trips are followed exactly; longer ones until a trip changes nothing."""


class _Reader:
    """Follows the queues of all ends through one sequence."""

    def __init__(self, sequence: RuntimeSequenceOp, named: dict[str, list[str]], sends: dict[str, bool]) -> None:
        self.sequence = sequence
        self.named = named
        self.sends = sends
        self.queues: dict[str, _Queue] = {}
        self.issued: set[str] = set()

    def spans(self) -> dict[str, Span]:
        first: dict[str, int] = {}
        over: dict[str, int] = {}
        for step, op in enumerate(self.sequence.body.block.ops):
            before = dict(self.queues)
            self.issued.clear()
            self._run(op)
            for end in self.issued:
                first.setdefault(end, step)
                over.pop(end, None)
            for end, queue in self.queues.items():
                if (end in self.issued or queue != before.get(end)) and not queue.waiting and not queue.lost:
                    over.setdefault(end, step)
        names = self._mentioned()
        return {
            end: Span(first.get(end, 0), FOREVER if self.sends[end] or end not in first else over.get(end, FOREVER))
            for end in sorted(names | set(first))
        }

    def _mentioned(self) -> set[str]:
        """Every end the sequence names, transfers or not; resetting what a fifo uses inside the array is no use."""
        return {
            end
            for op in self.sequence.walk()
            if not isinstance(op, DmaChannelResetForOp)
            for attr in (*op.properties.values(), *op.attributes.values())
            for name in symbols_in(attr)
            for end in self.named.get(name, ())
        }

    # --- following the ops --------------------------------------------------------------------------------------------

    def _run(self, op: Operation) -> None:
        if isinstance(op, NpuDmaMemcpyNdOp):
            self._issue(self._called(op.metadata_attr), frozenset((op,)), op.issue_token)
        elif isinstance(op, DmaStartBdChainForOp):
            self._issue(self._called(op.alloc), frozenset((op,)), op.issue_token)
        elif isinstance(op, DmaStartTaskOp):
            self._start(makers_of(op.task))
        elif isinstance(op, NpuDmaWaitOp):
            for end in self._called(op.symbol_attr):
                self._change(end, _Queue.awaited)
        elif isinstance(op, DmaAwaitTaskOp):
            self._await(makers_of(op.task))
        elif isinstance(op, DmaFreeTaskOp):
            self._free(makers_of(op.task))
        elif op.regions and not isinstance(op, Task):
            self._branch(op)

    def _called(self, name: str | Attribute) -> list[str]:
        """The ends an op names: by the end's own name, or all of a fifo by the fifo's."""
        if isinstance(name, Attribute):
            name = list(symbols_in(name))[-1]
        return self.named.get(name, [])

    def _change(self, end: str, change: Callable[[_Queue], _Queue]) -> None:
        queue = self.queues.get(end, _Queue())
        self.queues[end] = LOST if queue.lost else change(queue)

    def _issue(self, ends: list[str], makers: Makers, token: bool) -> None:
        for end in ends:
            self.issued.add(end)
            # A receiving channel hands out a token for each memcpy, asked for or not; a sending one is never over.
            always = any(isinstance(op, NpuDmaMemcpyNdOp) for op in makers)
            self._change(end, partial(_Queue.issued, transfer=_Transfer(makers, token or always)))

    def _start(self, makers: Makers | None) -> None:
        if makers is None:
            # A task from who knows where: it may be anyone's.
            for end in self._mentioned():
                self.issued.add(end)
                self.queues[end] = LOST
            return
        ends = self._ends_of(makers)
        if len(ends) == 1:
            self._issue(list(ends), makers, all(isinstance(m, Task) and m.issue_token for m in makers))
        else:
            for end in ends:
                self.issued.add(end)
                self.queues[end] = LOST

    def _await(self, makers: Makers | None) -> None:
        ends = self._ends_of(makers or frozenset())
        if len(ends) == 1:
            for end in ends:
                self._change(end, _Queue.awaited)

    def _free(self, makers: Makers | None) -> None:
        ends = self._ends_of(makers or frozenset())
        if makers and len(ends) == 1:
            for end in ends:
                self._change(end, partial(_Queue.freed, makers=makers))

    def _ends_of(self, makers: Makers) -> set[str]:
        """The ends that tasks made by these ops move data for; a task for a channel by number has none."""
        found: set[str] = set()
        for op in makers:
            if isinstance(op, DmaConfigureTaskForOp | DmaStartBdChainForOp):
                found.update(self._called(op.alloc))
        return found

    # --- loops and branches -------------------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._run(op)

    def _branch(self, op: Operation) -> None:
        if op.name in ("scf.for", "affine.for"):
            self._loop(op)
        elif op.name in ("scf.if", "scf.index_switch"):
            self._either(op)
        elif op.name == "scf.execute_region" and len(op.regions[0].blocks) == 1:
            self._block(body_of(op))
        else:
            # Control flow that is not followed: whatever it starts may be in flight from then on.
            before = dict(self.queues)
            for region in op.regions:
                for block in region.blocks:
                    self._block(block)
            for end in set(self.queues) | set(before):
                if self.queues.get(end) != before.get(end):
                    self.queues[end] = LOST

    def _either(self, op: Operation) -> None:
        before = dict(self.queues)
        results: list[dict[str, _Queue]] = []
        for region in op.regions:
            self.queues = dict(before)
            for block in region.blocks:
                self._block(block)
            results.append(self.queues)
        self.queues = results[0]
        for other in results[1:]:
            self.queues = _join(self.queues, other)

    def _loop(self, op: Operation) -> None:
        trips = trip_count(op) if op.name == "scf.for" else None
        if trips is not None and trips <= _MOST_TRIPS:
            for _ in range(trips):
                self._block(body_of(op))
            return
        # Each round joins what one more trip may leave behind; two rounds settle what can settle.
        for attempt in range(4):
            before = dict(self.queues)
            self._block(body_of(op))
            if attempt or trips is None:
                self.queues = _join(before, self.queues)
            if self.queues == before:
                return
        for end in set(self.issued):
            self.queues[end] = LOST


def _join(a: dict[str, _Queue], b: dict[str, _Queue]) -> dict[str, _Queue]:
    empty = _Queue()
    return {end: a.get(end, empty).joined(b.get(end, empty)) for end in {**a, **b}}


# --- tasks ------------------------------------------------------------------------------------------------------------


def makers_of(task: SSAValue) -> Makers | None:
    """The ops that may have made a task, through loops and branches; None when the value's origin is not known."""
    found: set[Operation] = set()
    seen: set[SSAValue] = set()
    waiting = [task]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Task | StartChain):
            found.add(owner)
            continue
        sources = list(_sources(value))
        if not sources:
            return None
        waiting += sources
    return frozenset(found)


def _sources(value: SSAValue) -> Iterator[SSAValue]:
    """Where a value comes from: what enters and what a loop's body yields, or what the branches yield."""
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if loop is not None and loop.name == "scf.for" and value.index > 0:
            yield loop.operands[2 + value.index]
            yield from _yielded(loop, value.index - 1)
    elif isinstance(value, OpResult):
        op = value.op
        if op.name == "scf.for":
            yield op.operands[3 + value.index]
            yield from _yielded(op, value.index)
        elif op.name in ("scf.if", "scf.index_switch"):
            yield from _yielded(op, value.index)
        elif op.name == "arith.select":
            yield from op.operands[1:]


def _yielded(op: Operation, index: int) -> Iterator[SSAValue]:
    for region in op.regions:
        last = region.blocks.last.last_op if region.blocks.last is not None else None
        if last is not None and index < len(last.operands):
            yield last.operands[index]
