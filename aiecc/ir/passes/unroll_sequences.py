"""`aie-unroll-runtime-sequence-loops`: loops of runtime sequences whose rounds are known are written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fold.loops import trip_count
from aiecc.ir.fold.unroll import unroll_full
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.walk import all_in, ops_in

MOST = 1 << 20
"""Operations that a loop may be written out to. Their words alone would take tens of megabytes."""


@dataclass(frozen=True)
class UnrollRuntimeSequenceLoops(Pass):
    """Innermost loops first, wherever they stand. Loops of unknown rounds stay."""

    name: ClassVar[str] = "aie-unroll-runtime-sequence-loops"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Unroll the loops of runtime sequences that have constant bounds"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for sequence in op.ops_of(RuntimeSequenceOp):
            # Inner ones come last in a pre-order walk, so that backwards every loop is written out once.
            for loop in reversed(all_in(sequence, ForOp)):
                rounds = trip_count(loop) or 0
                made = rounds * (len(ops_in(loop)) - 1)
                if made > MOST:
                    text = f"runs {rounds} times: written out, it would make {made} operations, more than {MOST}"
                    op_error(sink, loop, text, code="E1002", todo="let longer transfers or repeat counts do the work")
                    return
                unroll_full(loop)
