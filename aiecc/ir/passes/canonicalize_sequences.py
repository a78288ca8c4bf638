"""`aie-canonicalize-runtime-sequences`: `canonicalize` for runtime sequences, and for nothing else of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fold.rewrite import Tidy
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.generic import Canonicalize


@dataclass(frozen=True)
class CanonicalizeRuntimeSequences(Pass):
    """Cores and DMA programs are somebody else's business by now, and may be large."""

    name: ClassVar[str] = "aie-canonicalize-runtime-sequences"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Canonicalize runtime sequences"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for sequence in op.ops_of(RuntimeSequenceOp):
            # Arithmetic on the counts of unrolled loops, more of it than xDSL folds.
            Tidy(sequence, {}).run()
            Canonicalize().apply(sequence, sink)
