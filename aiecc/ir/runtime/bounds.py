"""Transfers that leave the buffer they are about."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from aiecc.base.diag import Sink
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.memory import BufferOp, element_count
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.report import warning
from aiecc.ir.runtime.sources import source_of
from aiecc.ir.spans import callers, span_of


class Bounds:
    """Tells of transfers that leave their buffers, once for each line, and each start of a chain that has it.

    What follows a tile's buffer is another one, so leaving it is an error. A host buffer may be longer than its type
    says, which is the author's affair, and a warning.
    """

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.told: set[tuple[Span | None, tuple[Span, ...]]] = set()

    def of_task(self, bd: DmaBdOp, task: DmaConfigureTaskOp) -> None:
        """Check a descriptor of a task, as far as its pattern is known. Raises VerifyError."""
        sizes, strides, offset, length = bd.sizes, bd.strides, bd.offset, bd.len
        if (
            sizes is None
            or strides is None
            or offset is None
            or length is None
            or "offset_state_table_idx" in bd.properties
        ):
            return
        on_tile = isinstance(source_of(bd.buffer), BufferOp)
        length &= 0xFFFFFFFF
        if length >> 31 and element_count(bd.buffer.type) is None:
            self._tell(bd, f"transfer of {length} elements", on_tile)
        if not sizes:
            total = element_count(bd.buffer.type)
            if total is not None and offset + length > total:
                text = _past_the_end(length, offset, total)
                self._tell(bd, text, isinstance(source_of(bd.buffer), BufferOp))
            return
        # Of the outermost dimension, as many steps are certain as one start runs.
        runs = task.repeat_count + 1 if task.repeat is None else 1
        made = [min(sizes[0], runs), *sizes[1:]] if len(sizes) == 4 else sizes
        self.of_pattern(bd, bd.buffer.type, offset, made, strides, on_tile=on_tile)

    def of_pattern(
        self,
        op: Operation,
        type: Attribute,
        offset: int,
        sizes: Sequence[int],
        strides: Sequence[int],
        *,
        on_tile: bool = False,
    ) -> None:
        """Check a pattern in a buffer of a type; offset and strides in elements. Raises VerifyError."""
        total = element_count(type)
        last = offset + sum((size - 1) * max(stride, 0) for size, stride in zip(sizes, strides, strict=True))
        if total is not None and last >= total:
            text = (
                "Specified stride(s) and size(s) result in out of bounds access in buffer, for index "
                f"{last} in memref of length {total}."
            )
            self._tell(op, text, on_tile)

    def _tell(self, op: Operation, text: str, on_tile: bool) -> None:
        if on_tile:
            raise VerifyError(text, op)
        where = span_of(op), callers(op)
        if where not in self.told:
            self.told.add(where)
            todo = "let the argument's type say how long the host's buffer is"
            warning(self.sink, op, f"'{op.name}' op {text}", code="W1002", todo=todo)


def _past_the_end(length: int, offset: int, total: int) -> str:
    return f"transfer of {length} elements at offset {offset} runs past the end of the {total}-element buffer"
