"""`aie-unroll-runtime-sequence-loops`: loops of runtime sequences whose rounds are known are written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fold.loops import is_unsigned, known_number, trip_count
from aiecc.ir.fold.rewrite import Tidy
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
            if any(inner.name.startswith("affine.") for inner in ops_in(sequence)):
                from aiecc.ir.passes.lower_affine import LowerAffine

                LowerAffine().apply(sequence, sink)
                Tidy(sequence, {}).run()
            if not sink.failed:
                _unroll(sequence, sink)


def _unroll(sequence: Operation, sink: Sink) -> None:
    while loops := all_in(sequence, ForOp):
        # Inner ones come last in a pre-order walk, so that backwards every loop is written out once.
        loops.reverse()
        wrong = [loop for loop in loops if _is_wrong(loop, sink)]
        if wrong or _is_too_long(loops, sink):
            return
        unrolled = [unroll_full(loop) for loop in loops]
        if not any(unrolled) or all(unrolled):
            return
        # The bounds of inner loops may have been made of the counts of outer ones.
        Tidy(sequence, {}).run()


def _is_wrong(loop: Operation, sink: Sink) -> bool:
    step = known_number(loop.operands[2])
    if step is None or step > 0 or (step and is_unsigned(loop)):
        return False
    op_error(sink, loop, f"counts by {step}: the step of a loop must be positive", code="E1002")
    return True


def _is_too_long(inner_first: list[ForOp], sink: Sink) -> bool:
    """Whether a loop would be written out as more operations than there may be; the innermost such is told."""
    sizes: dict[Operation, int] = {}
    for loop in inner_first:
        rounds = trip_count(loop)
        made = sizes[loop] = (1 if rounds is None else rounds) * _size(loop, sizes)
        if made > MOST:
            text = f"runs {rounds} times: written out, it would make {made} operations, more than {MOST}"
            op_error(sink, loop, text, code="E1002", todo="let longer transfers or repeat counts do the work")
            return True
    return False


def _size(op: Operation, sizes: dict[Operation, int]) -> int:
    """The operations inside one, loops among them as long as they are written out."""
    return sum(
        sizes[inner] if inner in sizes else 1 + _size(inner, sizes)
        for region in op.regions
        for block in region.blocks
        for inner in block.ops
    )
