"""`aiex-standard-lowering`: what the host does leaves a module that is about to become the cores' code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.passes.base import MODULE, Pass


@dataclass(frozen=True)
class AiexStandardLowering(Pass):
    """Erase every `aiex` op nobody needs the result of: instructions for the host's processor are not a core's."""

    name: ClassVar[str] = "aiex-standard-lowering"
    anchor: ClassVar[str] = MODULE
    summary: ClassVar[str] = "Erase run-time instructions"

    def apply(self, op: Operation, sink: Sink) -> None:
        # Users come after what they use, so going backwards frees the results of chains.
        for inner in reversed(list(op.walk())):
            block = inner.parent_block()
            if inner.name.startswith("aiex.") and block is not None and not any(r.uses for r in inner.results):
                block.erase_op(inner)
