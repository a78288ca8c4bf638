"""MLIR's passes for any IR, by way of xDSL's: `canonicalize` and `cse`.

They know less than MLIR's and never more: an op whose effects are unknown is left alone, so aie ops are only removed
or merged when their definition says they are pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from aiecc.base.diag import Sink
from aiecc.ir.passes.base import ANY, Pass, option
from aiecc.ir.spans import copy_span, span_of


@dataclass(frozen=True)
class Canonicalize(Pass):
    """Fold constants and gather them, apply the canonicalization patterns of the ops, remove what is dead."""

    name: ClassVar[str] = "canonicalize"
    anchor: ClassVar[str] = ANY
    summary: ClassVar[str] = "Canonicalize operations"

    max_iterations: int = option(10, name="max-iterations", help="at most so many rounds over everything; -1: no limit")

    def apply(self, op: Operation, sink: Sink) -> None:
        from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
        from xdsl.transforms.dead_code_elimination import region_dce

        from aiecc.ir.passes.constants import gather_constants
        from aiecc.ir.registry import context

        pattern = GreedyRewritePatternApplier([_CanonicalForms()], ctx=context(), folding_enabled=True)
        walker = PatternRewriteWalker(pattern, post_walk_func=region_dce)
        gather_constants(op)
        for _ in range(self.max_iterations) if self.max_iterations >= 0 else count():
            changed = [walker.rewrite_region(region) for region in op.regions]
            # Folding makes new constants where they are used.
            if not any(changed) or not gather_constants(op):
                break
        place_new_ops(op)


class _CanonicalForms(RewritePattern):
    """The canonicalization patterns of an op, the first that applies.

    xDSL's way of moving constants out of loops is left out: it moves ops it does not know as well, and constants are
    gathered here anyway. Its loops count with signs, so loops that do not are left alone.
    """

    def __init__(self) -> None:
        self._patterns: dict[type[Operation], tuple[RewritePattern, ...]] = {}

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if "unsignedCmp" in op.attributes or "unsignedCmp" in op.properties:
            return
        patterns = self._patterns.get(type(op))
        if patterns is None:
            patterns = self._patterns[type(op)] = tuple(self._of(type(op)))
        for pattern in patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return

    @staticmethod
    def _of(kind: type[Operation]) -> Iterator[RewritePattern]:
        from xdsl.transforms.canonicalization_patterns.scf import RehoistConstInLoops

        for trait in kind.get_traits_of_type(HasCanonicalizationPatternsTrait):
            for pattern in trait.get_patterns(kind):
                if not isinstance(pattern, RehoistConstInLoops):
                    yield pattern


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
