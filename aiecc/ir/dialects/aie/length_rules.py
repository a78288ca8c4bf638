"""`length_parameter`: a descriptor that grows at run time by whole units of a length the host writes."""

from __future__ import annotations

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.patterns import is_contiguous, moved
from aiecc.ir.dialects.base import enclosing

_LINE = 16  # bytes: what the added length, and the length it is added to, are multiples of
_MOST_WORDS = (1 << 32) - 1


def verify_length_parameter(op: DmaBdOp, bits: int) -> None:
    """bits: the width of an element."""
    if enclosing(op, "aie.runtime_sequence") is None:
        raise op.error("length_parameter is only supported on a BD in a runtime sequence")
    sizes, strides = op.sizes, op.strides
    if sizes is None or strides is None:
        raise op.error(
            "length_parameter requires a static pattern: buffer descriptor size/stride is a runtime value; "
            "a compile-time constant is required on this path"
        )
    if len(sizes) > 4:
        raise op.error(f"length_parameter requires at most 4 dimensions, got {len(sizes)}")
    unit = op.length_unit
    if unit is None:
        raise op.error("length_parameter requires length_unit")
    if bits % 8:
        raise op.error("length_parameter requires a whole-byte element type")
    unit_bytes = unit * bits // 8
    if unit_bytes // 4 > _MOST_WORDS:
        raise op.error(f"length_unit ({unit} elements) exceeds the 32-bit word count of a BD length")
    if unit_bytes % _LINE:
        raise op.error(f"length_unit must be a multiple of 16 bytes, got {unit_bytes} bytes")
    length = op.len
    if length is None:
        raise op.error("length_parameter requires a constant length")
    length_bytes = length * bits // 8
    if length_bytes % _LINE:
        raise op.error(
            f"length_parameter requires a static length that is a multiple of 16 bytes, got {length_bytes} bytes"
        )
    if len(sizes) == len(strides) and sizes and not is_contiguous(sizes, strides):
        _verify_continued(op, sizes, unit)


def _verify_continued(op: DmaBdOp, sizes: list[int], unit: int) -> None:
    """The added length continues the outermost of the second and third dimension that repeats at all."""
    inner_first = sizes[::-1]
    continued = next((i for i in (2, 1) if i < len(inner_first) and inner_first[i] > 1), None)
    if continued is None:
        raise op.error(
            "length_parameter on a non-contiguous pattern requires its second or third dimension to have a size above "
            "one: the added length continues it"
        )
    per_step = moved(inner_first[:continued])
    if unit % per_step:
        raise op.error(
            f"length_unit ({unit} elements) must be a multiple of the {per_step} elements moved per step of the "
            "dimension the added length continues"
        )
