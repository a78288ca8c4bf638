"""`aie-canonicalize-runtime-sequences`: `canonicalize` for runtime sequences, and for nothing else of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation
from xdsl.traits import HasCanonicalizationPatternsTrait

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.canonical import make_linear
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fold.effects import is_harmless
from aiecc.ir.fold.rewrite import Tidy
from aiecc.ir.fold.structured import RULES
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.generic import Canonicalize
from aiecc.ir.walk import ops_in

_SWITCHES = ("scf.index_switch",)
"""What xDSL does not fold."""
_inert: dict[type[Operation], bool] = {}


def _is_plain(op: Operation) -> bool:
    """Whether an op has no simpler form, but for a descriptor's dimensions, and leaves nothing to fold or to remove."""
    if any(region.blocks.first is not region.blocks.last for region in op.regions):
        return False
    if isinstance(op, DmaBdOp):
        return not op.has_values
    kind = type(op)
    found = _inert.get(kind)
    if found is None:
        found = not op.has_trait(HasCanonicalizationPatternsTrait) and not is_harmless(op)
        if not op.regions:
            _inert[kind] = found
    return found


@dataclass(frozen=True)
class CanonicalizeRuntimeSequences(Pass):
    """Cores and DMA programs are somebody else's business by now, and may be large."""

    name: ClassVar[str] = "aie-canonicalize-runtime-sequences"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Canonicalize runtime sequences"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for sequence in op.ops_of(RuntimeSequenceOp):
            ops = ops_in(sequence)
            if all(map(_is_plain, ops)):
                for bd in ops:
                    if isinstance(bd, DmaBdOp):
                        make_linear(bd)
                continue
            # Arithmetic on the counts of unrolled loops, more of it than xDSL folds.
            Tidy(sequence, {name: RULES[name] for name in _SWITCHES}).run()
            Canonicalize().apply(sequence, sink)
