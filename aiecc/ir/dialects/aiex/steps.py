"""Sizes and strides as the registers of a descriptor hold them, and what they cannot hold.

Lists are innermost first here, four entries long, in elements of `bits` bits; registers count words of 32 bits and hold
strides minus one. The fourth dimension is the iteration: it advances the start with each execution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiecc.ir.dialects.aie.patterns import is_contiguous
from aiecc.model.targets import TileKind
from aiecc.model.targets.tables import Dma

DIMENSIONS = 4
GRANULE = 32
"""Bits of what the address generator counts."""


@dataclass(frozen=True)
class Steps:
    """A pattern: sizes and strides in elements, innermost first."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    bits: int

    @staticmethod
    def outermost_first(sizes: Sequence[int], strides: Sequence[int], bits: int) -> Steps:
        """From lists as they are written; missing dimensions are outer ones of size 1."""
        missing = DIMENSIONS - len(sizes)
        return Steps((*reversed(sizes), *[1] * missing), (*reversed(strides), *[0] * missing), bits)

    @property
    def is_linear(self) -> bool:
        """One run, and said so: only the innermost dimension does anything."""
        s, t = self.sizes, self.strides
        return s[1] == 1 and s[2] == 1 and t[0] == 1 and t[1] == 0 and t[2] == 0

    @property
    def is_contiguous(self) -> bool:
        """Neighbour after neighbour, whatever the outermost dimension does."""
        return self.strides[0] == 1 and is_contiguous(self.sizes[2::-1], self.strides[2::-1])

    def as_one_run(self, kind: TileKind) -> bool:
        """Whether only the length matters, so that no dimension has to be written.

        Shims take every contiguous pattern so. On other tiles the dimensions are written as long as they fit.
        """
        return self.is_linear or (kind is TileKind.SHIM_NOC and self.is_contiguous)

    # --- registers ----------------------------------------------------------------------------------------------------

    @property
    def register_sizes(self) -> tuple[int, ...]:
        """Words of the innermost dimension, counts of the next two, the iteration minus one."""
        s = self.sizes
        if not s[0]:
            return (0, 0, 0, 0)
        return (s[0] * self.bits // GRANULE, s[1], s[2], s[3] - 1 if s[3] > 1 else 0)

    @property
    def register_strides(self) -> tuple[int, ...]:
        """Words minus one; 0 where there is nothing to step over."""
        s, t, bits = self.sizes, self.strides, self.bits
        if not s[0]:
            return (0, 0, 0, 0)
        inner = 0 if bits > GRANULE or t[0] * bits < GRANULE else t[0] * bits // GRANULE - 1
        middle = [t[i] * bits // GRANULE - 1 if s[i] > 1 else 0 for i in (1, 2)]
        outer = t[3] * bits // GRANULE - 1 if s[3] > 1 and t[3] > 0 else 0
        return (inner, *middle, outer)

    @property
    def words(self) -> int:
        """Words that the three inner dimensions move."""
        s = self.register_sizes
        return s[0] * s[1] * s[2]

    # --- rules --------------------------------------------------------------------------------------------------------

    def problems(self, dma: Dma, kind: TileKind, *, wraps: bool = True) -> Iterator[str]:
        """What a tile's registers cannot hold, in the order it is told. `wraps`: look at the sizes as well."""
        s, t, width = self.sizes, self.strides, self.bits // 8
        for i in range(DIMENSIONS):
            if s[i] <= 0:
                yield f"Size {i} must be a positive integer."
        if s[0] * self.bits % GRANULE:
            yield (
                f"Transfer sizes must be multiples of 4 bytes. {s[0]} elements at {width} bytes each equal "
                f"{s[0] * width} bytes, which is not divisible by 4. "
            )
        for i in range(3):
            if s[i] > 1 and t[i] < 1:
                yield f"Stride {i} must be a positive integer."
        if s[3] > 1 and t[3] < 0:
            yield "Stride 3 must be a non-negative integer."
        for i in range(DIMENSIONS):
            # A dimension of size 1 never steps, so its stride is nothing to the hardware.
            if s[i] > 1 and not (i == 0 and t[0] == 1) and t[i] * self.bits % GRANULE:
                yield (
                    f"Stride {i} is {t[i]} elements * {width} bytes = {t[i] * width} bytes, which is not divisible "
                    "by 4. "
                )
        if self.bits > GRANULE and s[0] > 1 and t[0] != 1:
            yield f"Stride 0 must be 1: an element of {width} bytes is {self.bits // GRANULE} words in a row."
        if self.bits < GRANULE and s[0] > 1 and t[0] > 1 and t[0] * self.bits % GRANULE == 0:
            # Registers step from word to word, so what lies between two of these elements would come along.
            yield f"Stride 0 must be 1: elements of {width} bytes share a word, and only whole words are moved."
        yield from self._too_big(dma, kind, wraps)

    def _too_big(self, dma: Dma, kind: TileKind, wraps: bool) -> Iterator[str]:
        sizes, strides = self.register_sizes, self.register_strides
        if wraps and not self.as_one_run(kind):
            for i in (0, 1):
                if sizes[i] > dma.max_wrap:
                    yield f"Size {i} exceeds the [0:{dma.max_wrap}] range."
        if sizes[3] > dma.max_iteration - 1:
            yield f"Size 3 exceeds the [1:{dma.max_iteration}] range."
        for i in range(DIMENSIONS):
            if strides[i] > dma.max_step - 1 and (i < 3 or sizes[3] > 0):
                yield f"Stride {i} exceeds the [1:{dma.max_step}] range."
