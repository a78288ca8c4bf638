"""Which bytes a descriptor moves, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from aiecc.sim.memory import Run
from aiecc.sim.outcome import Kind, Trapped

PAD = -1
"""The start of a run that stands for padding; its end is then the number of bytes."""


@dataclass(frozen=True)
class Pattern:
    """A walk over a buffer. Offset, length, sizes, strides and pads count elements of `width` bytes, outermost first.

    Without sizes it is `length` elements one after the other. A length beyond the product of the sizes goes on in the
    outermost dimension, whose wrap the hardware does not keep; a shorter one stops early. `length` counts padding too.
    """

    offset: int
    length: int
    width: int
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    pads: tuple[tuple[int, int], ...] = ()

    @property
    def nbytes(self) -> int:
        return self.length * self.width

    def runs(self, offset: int, size: int, name: str) -> list[Run]:
        """Byte ranges in order, those that touch made one; (PAD, n) for n bytes of padding.

        `offset` counts elements and replaces the pattern's own (a descriptor that iterates moves on); `size` is that
        of the buffer in bytes. Traps when it leaves the buffer.
        """
        found = self._padded(offset) if self.pads else self._plain(offset)
        runs: list[Run] = []
        width = self.width
        for start, count in found:
            if start == PAD:
                low, high = PAD, count * width
                if runs and runs[-1][0] == PAD:
                    high += runs.pop()[1]
            else:
                low, high = start * width, (start + count) * width
                if high > size or low < 0:
                    raise Trapped(Kind.BOUNDS, f"moves bytes {low} to {high - 1} of {name}, which has {size}")
                if runs and runs[-1][1] == low and runs[-1][0] != PAD:
                    low = runs.pop()[0]
            runs.append((low, high))
        return runs

    def _row(self, sizes: Sequence[int]) -> int:
        """How many elements of the innermost dimension lie one after the other."""
        return sizes[-1] if self.strides[-1] == 1 or sizes[-1] == 1 else 1

    def _plain(self, offset: int) -> list[Run]:
        left = self.length
        if not self.sizes:
            return [(offset, left)] if left else []
        sizes = list(self.sizes)
        inner = prod(sizes[1:])
        if inner <= 0:
            raise Trapped(Kind.BOUNDS, f"has a dimension of no elements: {list(self.sizes)}")
        sizes[0] = -(-left // inner)
        row = self._row(sizes)
        outer = sizes[:-1] if row == sizes[-1] else sizes
        strides = self.strides[: len(outer)]
        found: list[Run] = []
        for index in product(*map(range, outer)):
            start = offset
            for i, stride in zip(index, strides, strict=True):
                start += i * stride
            take = row if row < left else left
            found.append((start, take))
            left -= take
            if not left:
                break
        return found

    def _padded(self, offset: int) -> list[Run]:
        """Padding goes around each dimension; its elements take none of the buffer's."""
        whole = [before + size + after for size, (before, after) in zip(self.sizes, self.pads, strict=True)]
        if prod(whole) != self.length:
            raise Trapped(
                Kind.BOUNDS,
                f"has a length of {self.length} elements, but its dimensions with padding come to {prod(whole)}",
            )
        found: list[Run] = []
        for index in product(*map(range, whole)):
            start = offset
            for i, size, stride, (before, _) in zip(index, self.sizes, self.strides, self.pads, strict=True):
                if not before <= i < before + size:
                    start = PAD
                    break
                start += (i - before) * stride
            found.append((start, 1))
        return found
