"""Elements narrower than a byte: buffers and DMAs pack them, LLVM gives each a byte of its own."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.memory import BufferOp, element_bits
from aiecc.ir.fold.loops import known_number
from aiecc.ir.passes.report import op_error

_SINGLE = ("memref.load", "memref.store", "affine.load", "affine.store")
_SEVERAL = ("vector.load", "vector.store", "vector.maskedload", "vector.maskedstore", "affine.vector_load",
            "affine.vector_store")  # fmt: skip
_LOCAL = ("memref.alloca", "memref.alloc")


def check_packed(op: Operation, sink: Sink) -> None:
    """Refuse a load or store in core code that would find packed elements in the wrong place.

    The first element is where it should be, so a vector from the start on is right. Memory of the core's own is laid
    out by LLVM alone.
    """
    if op.name not in _SINGLE and op.name not in _SEVERAL:
        return
    at = next(i for i, value in enumerate(op.operands) if isinstance(value.type, MemRefType))
    memory = op.operands[at]
    assert isinstance(memory.type, MemRefType)
    bits = element_bits(memory.type)
    if not bits % 8 or any(owner.name in _LOCAL for owner in _owners(memory)):
        return
    indices = op.operands[at + 1 : at + 1 + len(memory.type.get_shape())]
    if op.name in _SEVERAL and all(known_number(index) == 0 for index in indices):
        return
    text = f"finds elements of {bits} bits in the wrong place: buffers pack them, compiled code takes a byte for each"
    op_error(sink, op, text, todo="use elements of i8, or a C++ kernel that unpacks them")


def check_initial(buffer: BufferOp, sink: Sink) -> None:
    """Refuse an initial value that takes more bytes in the core's ELF than its buffer has."""
    bits = element_bits(buffer.result.type)
    if buffer.initial_value is not None and bits % 8:
        text = f"has initial elements of {bits} bits: the buffer packs them, compiled code takes a byte for each"
        op_error(sink, buffer, text, todo="pack them into elements of i8")


def _owners(value: SSAValue) -> Iterator[Operation]:
    """The ops that a view of memory comes from, as far as one can see."""
    while isinstance(owner := value.owner, Operation):
        yield owner
        if not owner.operands or owner.name in _LOCAL:
            return
        value = owner.operands[0]
