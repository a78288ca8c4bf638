"""Simpler forms of ops that mean the same: what the pass `canonicalize` makes of them."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from aiecc.ir.dialects.aie.patterns import is_linear, moved
from aiecc.ir.dialects.aiex.npu import NpuLoadPdiOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.dialects.constraints import I64

DIMENSIONS = 4


class LinearTransfer(RewritePattern):
    """A transfer that visits neighbour after neighbour becomes one dimension, free of the limits on several.

    The outermost dimension says how often the rest runs, and stays.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NpuDmaMemcpyNdOp, rewriter: PatternRewriter, /) -> None:
        if op.offsets or op.sizes or op.strides or op.is_padded:
            return
        offsets, sizes, strides = ([int(v) for v in lst.get_values()] for lst in op.static_lists)
        if not len(offsets) == len(sizes) == len(strides) == DIMENSIONS or not is_linear(sizes[1:], strides[1:]):
            return
        start = sum(offset * stride for offset, stride in zip(offsets[1:], strides[1:], strict=True))
        for name, old, new in (
            ("static_offsets", offsets, [offsets[0], 0, 0, start]),
            ("static_sizes", sizes, [sizes[0], 1, 1, moved(sizes[1:])]),
            ("static_strides", strides, [strides[0], 0, 0, 1]),
        ):
            if new != old:
                op.properties[name] = DenseArrayBase.from_list(I64, new)
                rewriter.notify_op_modified(op)


class LoadOnce(RewritePattern):
    """Of two equal loads with nothing between them the second is enough."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NpuLoadPdiOp, rewriter: PatternRewriter, /) -> None:
        other = op.next_op
        if not isinstance(other, NpuLoadPdiOp):
            return
        if other.properties == op.properties and other.attributes == op.attributes:
            rewriter.erase(op)
