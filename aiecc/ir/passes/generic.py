"""MLIR's passes for any IR, by way of xDSL's: `canonicalize` and `cse`.

They know less than MLIR's and never more: an op whose effects are unknown is left alone, so aie ops are only removed
or merged when their definition says they are pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.passes.base import ANY, Pass, option
from aiecc.ir.spans import copy_span, span_of


@dataclass(frozen=True)
class Canonicalize(Pass):
    """Fold constants, apply the canonicalization patterns of the ops, remove what is dead."""

    name: ClassVar[str] = "canonicalize"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Canonicalize operations"

    max_iterations: int = option(10, name="max-iterations", help="accepted for compatibility")

    def apply(self, op: Operation, sink: Sink) -> None:
        from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
        from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
        from xdsl.transforms.dead_code_elimination import region_dce

        from aiecc.ir.registry import context

        pattern = GreedyRewritePatternApplier([CanonicalizationRewritePattern()], ctx=context(), folding_enabled=True)
        for region in op.regions:
            PatternRewriteWalker(pattern, post_walk_func=region_dce).rewrite_region(region)
        place_new_ops(op)


@dataclass(frozen=True)
class Cse(Pass):
    """Merge equal pure ops and remove unused ones."""

    name: ClassVar[str] = "cse"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Eliminate common sub-expressions"

    def apply(self, op: Operation, sink: Sink) -> None:
        from xdsl.transforms.common_subexpression_elimination import cse

        cse(op)


def place_new_ops(op: Operation) -> None:
    """Give ops that a rewrite made without a position the one of the op they stand before, or stand in."""
    for region in op.regions:
        for block in region.blocks:
            place = op
            for inner in reversed(list(block.ops)):
                if span_of(inner) is None:
                    copy_span(place, inner)
                place = inner
                place_new_ops(inner)
