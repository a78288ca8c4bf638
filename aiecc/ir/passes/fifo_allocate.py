"""`aie-objectfifo-allocate`: buffers, locks, channels, flows and shim allocations for split objectFifos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fifo.alloc_emit import Emitter
from aiecc.ir.fifo.alloc_facts import Facts, Unplannable
from aiecc.ir.fifo.alloc_plan import Plan, make_plan, spilled
from aiecc.ir.fifo.alloc_records import Rearm, emit_programs, emit_rearm, emit_records, plan_rearm
from aiecc.ir.fifo.view import FifoView
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error, warning
from aiecc.ir.spans import span_of

_NO_PACKING = (
    "could not find a spill-aware allocation with size-first and demand-first packing and bounded local-pool retries; "
    "tile placement and buffer packing remain greedy"
)


@dataclass(frozen=True)
class ObjectFifoAllocate(Pass):
    """Give pools their buffers and locks, endpoints their channels, routes their flows, shim ends their records.

    Everything is planned before the first op is made: a design that cannot be allocated is left as it was. What the
    author wrote (buffers, locks, channels) stays; so does what an earlier run made.
    """

    name: ClassVar[str] = "aie-objectfifo-allocate"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Allocate buffers, locks, DMA channels and flows for objectFifo pools"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        view = FifoView(op)
        if not view.pools and not view.stream_ends:
            return
        facts = Facts(view)
        try:
            plan = make_plan(facts)
            rearm = plan_rearm(facts)
        except Unplannable as wrong:
            for fault in wrong.faults:
                op_error(sink, fault.op, fault.text, fault.notes, todo=fault.todo)
            if spilled(wrong.faults):
                sink.remark(_NO_PACKING, span_of(op))
            return
        if plan.together and not _packetize(view, plan, facts, sink):
            return
        _emit(facts, plan, rearm)
        for fault in plan.channels.crowded:
            warning(sink, fault.op, fault.text, fault.notes)
        for name, count in plan.ahead.items():
            _warn_ahead(view, name, count, plan.turns[name], sink)


def _warn_ahead(view: FifoView, name: str, count: int, order: tuple[str, ...], sink: Sink) -> None:
    """Say which objects nobody takes have to come all the same."""
    fifos = {other: view.stream_ends[other].fifo_name or other for other in order}
    mine, others = fifos[name], dict.fromkeys(fifo for other, fifo in fifos.items() if other != name)
    objects = f"{count} object" if count == 1 else f"{count} objects"
    text = (
        f"'{mine}' takes turns on a channel with {', '.join(map(repr, others))}, which the core needs ahead of it: "
        f"without {objects} of '{mine}' beyond those the core takes, the last of the others never come"
    )
    warning(sink, view.stream_ends[name], text, todo=f"send {count} more of '{mine}'")


def _packetize(view: FifoView, plan: Plan, facts: Facts, sink: Sink) -> bool:
    """Give the transfers on shared shim channels headers to tell them apart."""
    from aiecc.ir.fifo.shim_sharing import packetize_shared

    on_shim = {
        name: channel
        for name, channel in plan.channels.of.items()
        if (kind := facts.kind(facts.place(view.stream_ends[name]))) is not None and kind.is_shim
    }
    return packetize_shared(view, on_shim, sink)


def _emit(facts: Facts, plan: Plan, rearm: list[Rearm]) -> None:
    emitter = Emitter(facts, plan)
    sends = {name: facts.sends(end) for name, end in facts.view.stream_ends.items()}
    emitter.storage()
    emitter.channels()
    emit_rearm(facts, rearm, emitter.names)
    emitter.flows()
    emit_programs(facts, plan, sends)
    emit_records(facts, emitter.names, sends)
