"""Splitting a pattern that a descriptor cannot hold into some that descriptors can, in the same order on the stream."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from aiecc.ir.dialects.aiex.steps import DIMENSIONS, GRANULE, Steps
from aiecc.model.targets import TileKind
from aiecc.model.targets.tables import Dma


@dataclass(frozen=True)
class Part:
    """A pattern that fits, and the index of its first element, counted in each dimension of the given strides."""

    steps: Steps
    start: int
    """In elements from where the whole begins."""


def can_be_split(steps: Steps, dma: Dma, kind: TileKind) -> bool:
    """Whether a pattern becomes legal by splitting: only sizes and strides that are too big can be split."""
    return split(steps, dma, kind) is not None


@lru_cache(maxsize=1024)
def split(steps: Steps, dma: Dma, kind: TileKind) -> tuple[Part, ...] | None:
    """The parts in order; one part for a pattern that is legal after rearranging. None where nothing helps.

    More parts than the tile has descriptors are refused as well.
    """
    return _checked(steps, dma, kind, 4)


@lru_cache(maxsize=1024)
def split_task(steps: Steps, dma: Dma, kind: TileKind) -> tuple[Part, ...] | None:
    """The same for a task, which says itself how often it repeats: the outermost dimension goes on from one execution
    to the next, in every part, and nothing else can be put there.
    """
    outer = steps.sizes[3], steps.strides[3]
    inner = replace(steps, sizes=(*steps.sizes[:3], 1), strides=(*steps.strides[:3], 0))
    parts = _checked(inner, dma, kind, 3) if min(outer) >= 0 else None
    if parts is None:
        return None
    found: list[Part] = []
    for part in parts:
        whole = replace(
            part.steps, sizes=(*part.steps.sizes[:3], outer[0]), strides=(*part.steps.strides[:3], outer[1])
        )
        if next(whole.problems(dma, kind), None) is not None:
            return None
        found.append(Part(whole, part.start))
    return tuple(found)


def _checked(steps: Steps, dma: Dma, kind: TileKind, dims: int) -> tuple[Part, ...] | None:
    if any(s <= 0 for s in steps.sizes) or any(t < 0 for t in steps.strides):
        return None
    parts = _Search(dma, kind, dims).split(Part(steps, 0))
    return None if parts is None or len(parts) > dma.bds else tuple(parts)


PATIENCE = 50_000
"""Patterns that are looked at before it is given up: about a second. What is asked for in earnest takes hundreds."""
LARGEST = 1 << 32
"""Dimensions of more elements lie in no memory: nobody looks for their divisors."""


@dataclass
class _Search:
    dma: Dma
    kind: TileKind
    dims: int
    """How many dimensions there are to use."""
    left: int = PATIENCE

    def split(self, part: Part) -> list[Part] | None:
        self.left -= 1
        if self.left < 0:
            return None
        if next(part.steps.problems(self.dma, self.kind), None) is None:
            return [part]
        sizes = part.steps.sizes
        active = [d for d in range(DIMENSIONS) if sizes[d] > 1]
        if not active:
            return None
        if sizes[3] == 1:
            for other in _refolded(part, self.dims):
                found = self.split(other)
                if found is not None:
                    return found
                if self.left < 0:
                    return None
        return self._cut(part, active[-1])

    def _cut(self, part: Part, d: int) -> list[Part] | None:
        """The outermost dimension in pieces, each split on its own."""
        steps, dma, most = part.steps, self.dma, self.dma.bds
        limit = dma.max_wrap if d < 3 else dma.max_iteration
        if d == 0:
            limit = dma.max_wrap * GRANULE // steps.bits
            granule = max(GRANULE // steps.bits, 1)
            limit -= limit % granule
        n = steps.sizes[d]
        if limit >= n or n > limit * most:
            return None
        found: list[Part] = []
        for at in range(0, n, limit):
            sizes = (*steps.sizes[:d], min(limit, n - at), *steps.sizes[d + 1 :])
            piece = Part(replace(steps, sizes=sizes), part.start + at * steps.strides[d])
            parts = self.split(piece)
            if parts is None or len(found) + len(parts) > most:
                return None
            found += parts
        return found


def _refolded(part: Part, dims: int) -> Iterator[Part]:
    """The same pattern with one dimension as two, the outer ones moved one step out."""
    steps = part.steps
    if dims < DIMENSIONS and steps.sizes[dims - 1] > 1:
        return
    for d in range(dims - 1):
        n = steps.sizes[d]
        for b in _divisors(n):
            if d == 0 and b * steps.bits % GRANULE:
                continue
            sizes = (*steps.sizes[:d], b, n // b, *steps.sizes[d + 1 : 3])
            strides = (*steps.strides[: d + 1], b * steps.strides[d], *steps.strides[d + 1 : 3])
            yield replace(part, steps=replace(steps, sizes=sizes, strides=strides))


@lru_cache(maxsize=1024)
def _divisors(n: int) -> tuple[int, ...]:
    """The divisors of a number but 1 and itself, the largest first."""
    if n > LARGEST:
        return ()
    small = [d for d in range(2, math.isqrt(max(n, 0)) + 1) if n % d == 0]
    return (*(n // d for d in small if d * d != n), *reversed(small))
