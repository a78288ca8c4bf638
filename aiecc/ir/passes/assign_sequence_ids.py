"""`aie-assign-runtime-sequence-bd-ids`: the descriptors of a sequence's tasks get numbers while tasks need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import (
    DmaBdPoolPopOp,
)
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.report import op_error
from aiecc.ir.runtime.assignment import Assignment
from aiecc.ir.runtime.holders import IN_FLIGHT
from aiecc.ir.runtime.queues import QUEUE_CHECKS
from aiecc.ir.walk import ops_in

CONTROL_FLOW = (
    "Runtime-valued control flow in a runtime sequence is not supported by this static BD-ID allocation pass. Either "
    "pass only constant-valued predicates to scf.for and scf.if so `aie-unroll-runtime-sequence-loops` can unroll/fold "
    "them, or use the dynamic EmitC path instead."
)


@dataclass(frozen=True)
class AssignRuntimeSequenceBdIds(Pass):
    """Every task gets the lowest ids its channel reaches that nobody holds: no other live task, none that is pinned,
    no descriptor of the tile's own DMA program. An await gives a task's ids back once all its starts are known to be
    done and it is not started again; a free gives them back on the author's word.
    """

    name: ClassVar[str] = "aie-assign-runtime-sequence-bd-ids"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Give the buffer descriptors of runtime sequences their ids"

    queue_check: str = option("off", help=f"a push that may be one too many: {', '.join(QUEUE_CHECKS)}")
    in_flight: str = option("warn", help=f"an id that is reused while its last task may run: {', '.join(IN_FLIGHT)}")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for sequence in list(op.ops_of(RuntimeSequenceOp)):
            assert isinstance(sequence, RuntimeSequenceOp)
            ops = ops_in(sequence)
            if any(isinstance(inner, DmaBdPoolPopOp) for inner in ops):
                continue
            loops = [i for i in ops if i.name in ("scf.for", "scf.if", "scf.while", "scf.index_switch")]
            for loop in loops:
                op_error(sink, loop, CONTROL_FLOW, code="E1002")
            if not loops:
                Assignment(op, sequence, self.queue_check, self.in_flight, sink).run()
