"""Windows: a one-to-one link whose output walks the whole stream of its input objects instead of one object.

All numbers count elements of the stream, or whole input objects, which here are called rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aiecc.ir.dialects.aie.attrs import BdDim, BdPad
from aiecc.ir.dialects.aie.enums import LinkMode
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.links import ObjectFifoLinkOp
from aiecc.ir.dialects.aie.memory import element_count

MOST_OUTPUTS = 24
"""Descriptors of one MemTile channel: each output is one."""
MOST_OBJECTS = 63
"""What one lock counts to."""


@dataclass(frozen=True)
class Window:
    """The walk of an output over a stream.

    size: elements of one input object.
    outputs: how many objects the output makes of one stream.
    advance: rows between the starts of two outputs.
    span: rows that one output reads.
    before, after: zero rows ahead of the stream and behind it.
    """

    size: int
    outputs: int
    advance: int
    span: int
    before: int
    after: int

    @property
    def rows(self) -> int:
        """Rows stored, zero rows included."""
        return (self.outputs - 1) * self.advance + self.span

    @property
    def objects(self) -> int:
        """Objects that arrive in one stream."""
        return self.rows - self.before - self.after

    def reads_nothing(self) -> int | None:
        """The first output that lies in zero rows only; None where each reads some data."""
        end = self.before + self.objects
        for j in range(self.outputs):
            first = j * self.advance
            if max(first, self.before) >= min(first + self.span, end):
                return j
        return None


def reach(dims: Sequence[BdDim]) -> int:
    """The largest index that a layout touches."""
    return sum((dim.size - 1) * dim.stride for dim in dims)


def object_size(fifo: ObjectFifoOp, *, taken: bool = False) -> int:
    """Elements of one object: as it is put in, or as it is taken out."""
    return element_count(fifo.consumer_elem_type if taken else fifo.elem_type) or 0


def one_to_one(op: ObjectFifoLinkOp) -> bool:
    return op.mode is LinkMode.SPACE and len(op.inputs) == 1 and len(op.outputs) == 1


def output_owns(source: ObjectFifoOp, out: ObjectFifoOp) -> bool:
    """Whether the pool of a one-to-one link holds the output's objects rather than the input's.

    An output that starts full has to; one that gathers several input objects as well, unless what it has more is
    padding, which is added only on the way out.
    """
    if out.init_values is not None:
        return True
    return object_size(out) > object_size(source, taken=True) and out.pad_dimensions is None


def walks_stream(op: ObjectFifoLinkOp, source: ObjectFifoOp, out: ObjectFifoOp) -> bool:
    """Whether a link is a window: its output's layout leaves the object that the link's pool would hold."""
    if not one_to_one(op) or not out.dims_to_stream.data:
        return False
    held = object_size(out) if output_owns(source, out) else object_size(source, taken=True)
    return reach(out.dims_to_stream.data) >= held > 0


def window_of(source: ObjectFifoOp, out: ObjectFifoOp) -> Window:
    """The window that an output which walks the stream cuts. Verified links only."""
    dims: Sequence[BdDim] = out.dims_to_stream.data
    size = object_size(source, taken=True)
    pad: BdPad = out.pads[0] if out.pads else BdPad(0, 0)
    span = max((dim.size for dim in dims[1:] if dim.stride == size), default=1)
    return Window(size, dims[0].size, dims[0].stride // size, span, pad.before, pad.after)
