"""How many objects each pool of a fifo holds."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import SSAValue

from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.fifo.accesses import Accesses


def stated(fifo: ObjectFifoOp) -> int:
    """The depth a fifo states for its producer; all there is when it states only one."""
    return next(iter(fifo.depths), 0)


def needed(fifo: ObjectFifoOp, tile: SSAValue, accesses: Accesses) -> int:
    """What a tile needs: what its core holds at most, and one more, which moves meanwhile.

    A fifo one deep stays one deep; without an acquire on the tile the stated depth counts.
    """
    size = stated(fifo)
    held = accesses.largest(fifo.symbol, tile)
    if size == 0 or held == 0:
        return size
    return 1 if held == size == 1 else held + 1


def shared_depth(fifo: ObjectFifoOp) -> int:
    """The only pool of a fifo in shared memory: the deepest of what is stated."""
    return max(fifo.depths, default=0)


def producer_depth(fifo: ObjectFifoOp, accesses: Accesses) -> int:
    """The pool at the producer, which drains into a DMA. Objects with initial values are all there."""
    return stated(fifo) if fifo.init_values is not None else needed(fifo, fifo.producer, accesses)


def consumer_depth(fifo: ObjectFifoOp, k: int, accesses: Accesses) -> int:
    """The pool at consumer `k`, which a DMA fills. Depths stated one by one are taken at their word."""
    if isinstance(fifo.depth_attr, ArrayAttr):
        return fifo.depths[k + 1]
    return needed(fifo, fifo.consumers[k], accesses)
