"""`aie-objectfifo-verify-transfers`: what a sequence sends into a fifo is a whole number of its objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.memory import element_bits
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaStartTaskOp
from aiecc.ir.dialects.aiex.transfer_rules import constants, mixed_lists
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.fifo.amounts import object_amount
from aiecc.ir.fifo.view import FifoView, StreamEnd
from aiecc.ir.fold.loops import trip_count
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import OpNote, op_error

Moved = tuple[Operation, Operation, int]
"""The op that names the end, the op that says how much, and bytes in all."""


@dataclass(frozen=True)
class VerifyTransfers(Pass):
    """A transfer that ends inside an object leaves a descriptor waiting for the rest, and the design stuck.

    Bytes are compared, since a host buffer may have another element type. A sequence in which a length, a repetition
    or a loop is known at run time only is not judged, for that fifo. Runs between split and allocate.
    """

    name: ClassVar[str] = "aie-objectfifo-verify-transfers"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Check that runtime sequences move whole objects of objectFifos"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        sequences = [s for s in op.ops_of(RuntimeSequenceOp) if isinstance(s, RuntimeSequenceOp)]
        if not sequences:
            return
        view = FifoView(op)
        ends = {name: end for name, end in view.stream_ends.items() if isinstance(end, RouteEndpointOp)}
        sizes = {name: size for name, end in ends.items() if (size := _object_bytes(view, end))}
        for sequence in sequences:
            for name, moved in _moved(sequence, sizes).items():
                _check(view, ends[name], sizes[name], moved, sink)


def _object_bytes(view: FifoView, end: StreamEnd) -> tuple[int, str] | None:
    """Bytes of the objects that the far ends of a shim end move, and the fifo's name; None where they differ."""
    routes = view.routes_of(end.symbol)
    if len(routes) != 1:
        return None
    route = routes[0]
    far = route.destinations if end.symbol in route.sources else route.sources
    found: set[int] = set()
    for name in far:
        other = view.stream_ends.get(name)
        if not isinstance(other, DmaEndpointOp) or other.pool not in view.pools:
            return None
        pool = view.pool_of(other)
        elements = object_amount(other, view.segments_of(other))
        stream = pool.stream
        if stream is not None and other.dimensions is None:
            elements = stream.size
        found.add(elements * element_bits(pool.elem_type) // 8)
    size = found.pop() if len(found) == 1 else 0
    return (size, end.fifo_name or end.symbol) if size else None


def _moved(sequence: RuntimeSequenceOp, ends: dict[str, tuple[int, str]]) -> dict[str, list[Moved]]:
    """What a sequence moves through each end; ends about which something is unknown are left out."""
    found: dict[str, list[Moved]] = {}
    unknown: set[str] = set()
    for op in sequence.walk():
        if isinstance(op, DmaConfigureTaskForOp) and op.alloc in ends:
            starts = [use.operation for use in op.result.uses if isinstance(use.operation, DmaStartTaskOp)]
            rounds = sum(_rounds(start, sequence) or -1 for start in starts)
            known = all(_rounds(start, sequence) is not None for start in starts)
            amounts = list(_task_bytes(op))
            if op.repeat is not None or not known or not amounts or any(n is None for _, n in amounts):
                unknown.add(op.alloc)
                continue
            times = rounds * (op.repeat_count + 1)
            last = amounts[-1][0]
            found.setdefault(op.alloc, []).append((op, last, times * sum(n or 0 for _, n in amounts)))
        elif isinstance(op, NpuDmaMemcpyNdOp) and op.metadata in ends:
            sizes, rounds = constants(mixed_lists(op)[1]), _rounds(op, sequence)
            if sizes is None or rounds is None:
                unknown.add(op.metadata)
                continue
            count = 1
            for size in sizes:
                count *= size
            amount = rounds * count * element_bits(op.memref.type) // 8
            found.setdefault(op.metadata, []).append((op, op, amount))
        elif op.name == "aiex.dma_start_bd_chain_for":
            unknown.update(name for name in ends if name in str(op.properties.get("alloc")))
    return {name: moved for name, moved in found.items() if name not in unknown}


def _task_bytes(task: DmaConfigureTaskForOp) -> Iterator[tuple[DmaBdOp, int | None]]:
    """The bytes of each descriptor of a task; None where they are not known, or where the chain goes in a circle."""
    blocks = list(task.body.blocks)
    place = {id(block): i for i, block in enumerate(blocks)}
    for i, block in enumerate(blocks):
        after = block.last_op.successors if block.last_op is not None else ()
        circle = any(place.get(id(s), 0) <= i for s in after)
        for bd in block.ops:
            if isinstance(bd, DmaBdOp):
                known = bd.len is not None and bd.next_bd_id is None and not circle
                yield bd, (bd.len or 0) * element_bits(bd.buffer.type) // 8 if known else None


def _rounds(op: Operation, sequence: Operation) -> int | None:
    """How often an op runs; None where a loop or branch around it decides that at run time."""
    times = 1
    at = op.parent_op()
    while at is not None and at is not sequence:
        count = trip_count(at) if at.name == "scf.for" else None
        if count is None:
            return None
        times *= count
        at = at.parent_op()
    return times


def _check(view: FifoView, end: RouteEndpointOp, size: tuple[int, str], moved: list[Moved], sink: Sink) -> None:
    each, fifo = size
    total = sum(amount for _, _, amount in moved)
    rest = total % each
    if not rest or not total:
        return
    task, where, last = moved[-1]
    text = (
        f"moves {total} bytes through objectFifo @{fifo}, whose objects have {each}: {total // each} objects and "
        f"{rest} bytes, so the last object is never complete"
    )
    notes: list[OpNote] = [("the other end is here", view.stream_ends[end.symbol])]
    if len(moved) > 1:
        notes = [(f"{amount} bytes here", op) for op, _, amount in moved[:-1]] + notes
    todo = _lengths(where, last, rest, each) if isinstance(where, DmaBdOp) else ""
    op_error(sink, where if isinstance(where, DmaBdOp) else task, text, notes, code="E1005", todo=todo)


def _lengths(bd: DmaBdOp, moved: int, rest: int, each: int) -> str:
    """The next lengths down and up that would do, where the descriptor's own length is all that counts."""
    bits = element_bits(bd.buffer.type)
    if not bd.given_len or bd.given_len * bits // 8 != moved:
        return ""
    choices = [f"{n * 8 // bits}" for n in (moved - rest, moved - rest + each) if n > 0 and n * 8 % bits == 0]
    return f"give it a len of {' or '.join(choices)} elements" if choices else ""
