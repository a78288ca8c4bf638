"""From a design to the words of one of its sequences, by the same passes that a build runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute

from aiecc.base.diag import Level, Refused, Sink
from aiecc.base.spans import Span
from aiecc.ir import placement
from aiecc.ir.dialects.aie.memory import BufferOp, element_bits, element_count, size_in_bytes
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.lowering import follow, lower_to_run
from aiecc.ir.passes.prepare_buffers import PrepareBuffers
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.ir.spans import span_of
from aiecc.model.memory import TileLayout
from aiecc.model.recipe import sequence_recipe
from aiecc.npu import txn
from aiecc.place.solve import solve
from aiecc.sim.array import device_named
from aiecc.sim.npy_types import npy_type


@dataclass(frozen=True)
class Words:
    """A transaction, the lowered device it is for, and the line each of its operations comes from.

    `sizes`: bytes of the sequence's arguments, None where the type does not say. `types`: their element types as
    numpy spells them, and their shapes; None for what is no such array.
    """

    device: DeviceOp
    name: str
    data: bytes
    wheres: Sequence[Span | None]
    sizes: tuple[int | None, ...]
    types: tuple[tuple[str, tuple[int, ...]] | None, ...]
    where: Span | None


def words_of(module: ModuleOp, sequence: str = "", device: str | None = None) -> Words:
    """Lower a module in place and encode one sequence. Raises Refused with what stands in the way."""
    chosen = device_named(module, device)
    asked = find_sequence(chosen, sequence)
    sink = Sink()
    _check(lower_to_run(module, sink), sink)
    if _names_a_buffer(chosen, asked):
        _place(chosen, sink)
    _check(follow(module, sequence_recipe(), sink), sink)
    found = instructions(chosen, asked, sink)
    _check(True, sink)
    types = [arg.type for arg in asked.body.block.args]
    return Words(
        chosen,
        asked.symbol or "sequence",
        txn.encode(chosen.target, [each.op for each in found]),
        [each.where for each in found],
        tuple(_size(type) for type in types),
        tuple(_array(type) for type in types),
        span_of(asked),
    )


def _check(done: bool, sink: Sink) -> None:
    if not done or sink.failed:
        raise Refused(*(d for d in sink.items if d.level is Level.ERROR))


def _size(type: Attribute) -> int | None:
    if not isinstance(type, MemRefType):
        # A scalar: it has a number, but no memory.
        return None if type.name.startswith(("memref", "unranked")) else 0
    return None if element_count(type) is None else size_in_bytes(type)


def _array(type: Attribute) -> tuple[str, tuple[int, ...]] | None:
    if not isinstance(type, MemRefType) or element_count(type) is None or element_bits(type) % 8:
        return None
    name = npy_type(type.element_type)
    return (name, tuple(type.get_shape())) if name else None


def _names_a_buffer(device: DeviceOp, sequence: RuntimeSequenceOp) -> bool:
    """Whether a sequence uses a buffer that has no address yet."""
    open_ones = {op.symbol: op for op in device.block.ops if isinstance(op, BufferOp) and op.address is None}
    for op in sequence.walk():
        for operand in op.operands:
            if isinstance(operand.owner, BufferOp) and operand.owner.address is None:
                return True
        for value in op.properties.values():
            name = value.root_reference.data if isinstance(value, SymbolRefAttr) else None
            name = value.data if isinstance(value, StringAttr) else name
            if name is not None and name in open_ones:
                return True
    # A chain is a template beside the sequence: what it names is seen once it is in place.
    return bool(open_ones) and any(op.name.startswith("aiex.dma_start_bd_chain") for op in sequence.walk())


def _place(device: DeviceOp, sink: Sink) -> None:
    """Give buffers addresses, as far as that can be said without the cores' own sections."""
    PrepareBuffers().apply(device, sink)
    _check(True, sink)
    for problem in placement.problems(device, device.target):
        answer = solve(problem)
        if not isinstance(answer, TileLayout):
            raise Refused(*(d for d in answer.diagnostics if d.level is Level.ERROR))
        placement.apply(device, problem, answer)
