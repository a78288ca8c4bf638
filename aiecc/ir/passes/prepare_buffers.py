"""`aie-prepare-buffers`: every buffer has a name and stands where the allocator looks for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import MemTileDmaOp
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.base import text_of
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.spans import span_of


@dataclass(frozen=True)
class PrepareBuffers(Pass):
    """Name nameless buffers `_anonymous0`, `_anonymous1`, .. in program order; refuse buffers inside cores."""

    name: ClassVar[str] = "aie-prepare-buffers"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Name every buffer and check where it is defined"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        name_buffers(op)
        for buffer in op.walk():
            if isinstance(buffer, BufferOp) and not isinstance(buffer.parent_op(), DeviceOp | MemTileDmaOp):
                _refuse(buffer, sink)
                return


def name_buffers(op: Operation) -> None:
    """Name the nameless buffers of a device, or of every device of a module."""
    if not isinstance(op, DeviceOp):
        for inner in op.walk():
            if isinstance(inner, DeviceOp):
                name_buffers(inner)
        return
    inside = list(op.walk())
    fresh = _names({name for inner in inside if (name := text_of(inner.properties.get("sym_name"))) is not None})
    for buffer in inside:
        if isinstance(buffer, BufferOp) and buffer.symbol is None:
            buffer.properties["sym_name"] = StringAttr(next(fresh))


def _names(taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        name = f"_anonymous{number}"
        number += 1
        if name not in taken:
            yield name


def _refuse(buffer: BufferOp, sink: Sink) -> None:
    text = (
        f"Buffer '\"{buffer.symbol}\"' must be defined directly under the device scope. "
        "Currently it is nested inside a core tile."
    )
    tile = buffer.tile_op
    here = span_of(buffer)
    op_error(sink, tile if tile is not None else buffer, text, [("the buffer", buffer)] if here else [], code="E0401")
