"""Simpler forms of ops that mean the same: what the pass `canonicalize` makes of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from aiecc.ir.dialects.aie.bd import RUNTIME, DmaBdOp, Entry
from aiecc.ir.dialects.aie.cores import ShimDmaOp
from aiecc.ir.dialects.aie.dma import DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import ExternalBufferOp, UseLockOp, constant_int
from aiecc.ir.dialects.aie.patterns import is_linear, moved
from aiecc.ir.dialects.aie.tiles import tile_like
from aiecc.ir.dialects.base import SEGMENTS, enclosing
from aiecc.ir.dialects.constraints import I32, I64

_PLACES = ("aiex.dma_configure_task", "aie.shim_dma", "aie.device")


class StaticBd(RewritePattern):
    """Offset, length, sizes and strides that constants make become numbers of the descriptor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DmaBdOp, rewriter: PatternRewriter, /) -> None:
        if fold_constants(op):
            rewriter.notify_op_modified(op)


def fold_constants(op: DmaBdOp) -> bool:
    """Make numbers of the operands of a descriptor that are constants. Whether there were any."""
    if not op.has_values:
        return False
    offset, length = _folded(op.offset_operand, 32), _folded(op.len_operand, 32)
    sizes = [_folded(e, 64) for e in op.mixed_sizes]
    strides = [_folded(e, 64) for e in op.mixed_strides]
    kept = [[v] if isinstance(v, SSAValue) else [] for v in (offset, length)]
    kept += [[v for v in values if isinstance(v, SSAValue)] for values in (sizes, strides)]
    groups = [[op.buffer], *kept, [op.bd_id_val] if op.bd_id_val is not None else []]
    operands = [v for group in groups for v in group]
    if len(operands) == len(op.operands):
        return False
    for name, value in (("static_offset", offset), ("static_len", length)):
        if isinstance(value, int):
            op.properties[name] = IntegerAttr(value, I32)
    op.properties["static_sizes"] = _static(sizes)
    op.properties["static_strides"] = _static(strides)
    op.properties[SEGMENTS] = DenseArrayBase.from_list(I32, [len(group) for group in groups])
    op.operands = operands
    return True


def _folded(entry: Entry | None, bits: int) -> Entry | None:
    """A constant's number where the field holds it, anything else as it is."""
    value = constant_int(entry) if isinstance(entry, SSAValue) else None
    return entry if value is None or not -(1 << (bits - 1)) < value < 1 << (bits - 1) else value


def _static(entries: Sequence[Entry | None]) -> DenseArrayBase:
    return DenseArrayBase.from_list(I64, [e if isinstance(e, int) else RUNTIME for e in entries])


class LinearBd(RewritePattern):
    """A shim's descriptor that visits neighbour after neighbour needs no dimensions, and is free of their limits.

    One whose length is not that of its dimensions runs them several times, and is left alone.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DmaBdOp, rewriter: PatternRewriter, /) -> None:
        if make_linear(op):
            rewriter.notify_op_modified(op)


def make_linear(op: DmaBdOp) -> bool:
    """Take the dimensions away where they say no more than the length. Whether that was so."""
    sizes, strides = op.sizes, op.strides
    if not sizes or not strides or len(sizes) != len(strides) or (len(sizes) == 1 and strides == [1]):
        return False
    if not is_linear(sizes, strides) or op.size_operands or op.stride_operands or op.pad_dimensions is not None:
        return False
    count = moved(sizes)
    if op.len != count or not _on_shim(op):
        return False
    op.properties["static_len"] = IntegerAttr(count, I32)
    for name in ("static_sizes", "static_strides"):
        op.properties[name] = DenseArrayBase.from_list(I64, [])
    return True


def _on_shim(op: DmaBdOp) -> bool:
    if isinstance(op.buffer.owner, ExternalBufferOp):
        return True
    place = enclosing(op, *_PLACES)
    if place is None or not place.operands:
        return False
    tile = tile_like(place.operands[0])
    return isinstance(place, ShimDmaOp) or (tile is not None and tile.kind is not None and tile.kind.is_shim)


class ShorterCycle(RewritePattern):
    """A channel that runs the same descriptors over and over needs each of them once.

    Only what goes round for ever can be shortened: a chain that ends moves less when it is. A descriptor that counts
    its own runs (`iteration`) is not the same as another like it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DmaStartOp, rewriter: PatternRewriter, /) -> None:
        cycle = _cycle(op.dest)
        for period in range(1, len(cycle)):
            if len(cycle) % period or not all(_same(block, cycle[i % period]) for i, block in enumerate(cycle)):
                continue
            last = cycle[period - 1].last_op
            assert last is not None
            last.successors = [cycle[0]]
            rewriter.notify_op_modified(last)
            return


def _cycle(block: Block) -> list[Block]:
    """The descriptor blocks that a chain goes round in, in order; empty when it ends."""
    met: dict[Block, None] = {}
    while block not in met:
        met[block] = None
        if not isinstance(last := block.last_op, NextBdOp):
            return []
        block = last.dest
    blocks = list(met)
    return blocks[blocks.index(block) :]


def _same(one: Block, other: Block) -> bool:
    """Whether two descriptor blocks mean the same; where they go on does not count."""
    if one is other:
        return True
    pairs = [[op for op in block.ops if not isinstance(op, ConstantOp)] for block in (one, other)]
    return len(pairs[0]) == len(pairs[1]) and all(map(_same_op, *pairs))


def _same_op(one: Operation, other: Operation) -> bool:
    """Whether two ops of descriptor blocks do the same."""
    if one.name != other.name or one.properties != other.properties or one.attributes != other.attributes:
        return False
    if one.regions or one.results or (isinstance(one, DmaBdOp) and one.iteration is not None):
        return False
    return len(one.operands) == len(other.operands) and all(map(_same_value, one.operands, other.operands))


def _same_value(one: SSAValue, other: SSAValue) -> bool:
    if one is other:
        return True
    a, b = one.owner, other.owner
    return isinstance(a, ConstantOp) and isinstance(b, ConstantOp) and a.properties == b.properties


class TakeNothing(RewritePattern):
    """Waiting until a lock is at least zero is no waiting."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: UseLockOp, rewriter: PatternRewriter, /) -> None:
        if op.action is LockAction.ACQUIRE_GREATER_EQUAL and op.constant == 0:
            rewriter.erase(op)
