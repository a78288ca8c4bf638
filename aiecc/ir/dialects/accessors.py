"""Operands by name, fast: xDSL decodes the segment sizes of an op at every look; here equal sizes are decoded once."""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, OptionalDef, VariadicDef

SEGMENTS = "operandSegmentSizes"


@lru_cache(maxsize=4096)
def _bounds(sizes: bytes) -> tuple[tuple[int, int], ...]:
    """The first operand of each group, and the one after its last."""
    ends = list(accumulate(struct.unpack(f"<{len(sizes) // 4}i", sizes), initial=0))
    return tuple(pairwise(ends))


class _Segment:
    """One operand, one that may be missing (None), or several, of an op whose segment sizes are a property."""

    __slots__ = ("index", "kind", "usual")

    def __init__(self, index: int, kind: object, usual: Any) -> None:
        self.index = index
        self.kind = kind
        self.usual = usual

    def __get__(self, op: Any, owner: type | None = None) -> Any:
        sizes = op.properties.get(SEGMENTS)
        if not isinstance(sizes, DenseArrayBase):
            return self.usual.__get__(op, owner)
        low, high = _bounds(sizes.data.data)[self.index]
        if self.kind is VariadicDef:
            return op.operands[low:high]
        if high > low:
            return op.operands[low]
        return None if self.kind is OptionalDef else self.usual.__get__(op, owner)

    def __set__(self, op: object, value: object) -> None:
        self.usual.__set__(op, value)


def quicken(cls: type[IRDLOperation]) -> None:
    """Put faster accessors in the place of xDSL's for the operands of an op definition."""
    definition = cls.get_irdl_definition()
    if not any(isinstance(o, AttrSizedOperandSegments) and o.as_property for o in definition.options):
        return
    for index, (name, operand) in enumerate(definition.operands):
        kind = next((k for k in (OptionalDef, VariadicDef) if isinstance(operand, k)), None)
        setattr(cls, name, _Segment(index, kind, cls.__dict__[name]))
