"""Access patterns: sizes and strides, outermost dimension first, in elements."""

from __future__ import annotations

import math
from collections.abc import Sequence


def is_contiguous(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a pattern visits neighbouring elements one after the other. Dimensions of size 1 do not matter."""
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if stride != step:
            return False
        step *= size
    return True


def is_linear(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a pattern is contiguous and says so by an innermost stride of 1."""
    return strides[-1] == 1 and is_contiguous(sizes, strides)


def moved(sizes: Sequence[int]) -> int:
    """How many elements a pattern moves."""
    return math.prod(sizes)
