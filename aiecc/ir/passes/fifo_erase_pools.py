"""`aie-objectfifo-erase-pools`: pools that nothing names any more go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp
from aiecc.ir.fifo.symbols import used_symbols
from aiecc.ir.passes.base import DEVICE, Pass


@dataclass(frozen=True)
class ErasePools(Pass):
    """Drop the pools without a user, of any kind. Their buffers, locks and programs stay."""

    name: ClassVar[str] = "aie-objectfifo-erase-pools"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Drop objectFifo pools that nothing refers to"

    def apply(self, op: Operation, sink: Sink) -> None:
        pools = [inner for inner in op.walk() if isinstance(inner, ObjectFifoPoolOp)]
        if not pools:
            return
        used = used_symbols(op)
        for pool in pools:
            if pool.symbol not in used:
                pool.detach()
                pool.erase()
