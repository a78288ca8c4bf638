"""Numbers as the cores compute them: integers as signed Python ints of their width, floats rounded after every step."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from aiecc.sim.memory import Element
from aiecc.sim.outcome import Kind, Trapped

INDEX_BITS = 32
"""Width of `index` in memory and where it matters (shifts, comparisons without sign), that of compiled code; sums and
products of indices do not wrap."""


def bits(type: Attribute) -> int | None:
    """Width of an integer type; None for anything else."""
    if isinstance(type, IntegerType):
        return type.width.data
    return INDEX_BITS if isinstance(type, IndexType) else None


def wrapped(value: int, width: int) -> int:
    """The signed value of the low bits; one bit is 0 or 1."""
    value &= (1 << width) - 1
    return value - (1 << width) if width > 1 and value >> (width - 1) else value


def f32(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def f16(value: float) -> float:
    try:
        return struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bf16_bits(value: float) -> int:
    """To nearest, ties to even."""
    if math.isnan(value):
        return 0x7FC0
    word: int = struct.unpack("<I", struct.pack("<f", f32(value)))[0]
    return (word + 0x7FFF + (word >> 16 & 1)) >> 16 & 0xFFFF


def bf16_value(word: int) -> float:
    return struct.unpack("<f", struct.pack("<I", word << 16))[0]


def bf16(value: float) -> float:
    return bf16_value(bf16_bits(value))


def _f16_value(word: int) -> float:
    return struct.unpack("<e", word.to_bytes(2, "little"))[0]


def _f16_bits(value: float) -> int:
    return int.from_bytes(struct.pack("<e", f16(value)), "little")


def rounding(type: Attribute) -> str | None:
    """The name of the function that rounds to a float type; empty for f64, None for what is no float."""
    for kind, name in ((Float32Type, "f32"), (BFloat16Type, "bf16"), (Float16Type, "f16"), (Float64Type, "")):
        if isinstance(type, kind):
            return name
    return None


_INTS = {8: Element("b", 1), 16: Element("h", 2), 32: Element("i", 4), 64: Element("q", 8)}
_UNSIGNED = {
    8: Element("B", 1, None, lambda v: int(v) & 0xFF),
    16: Element("H", 2, None, lambda v: int(v) & 0xFFFF),
    32: Element("I", 4, None, lambda v: int(v) & 0xFFFFFFFF),
    64: Element("Q", 8, None, lambda v: int(v) & 0xFFFFFFFFFFFFFFFF),
}
_BIT = Element("B", 1, lambda v: v & 1, lambda v: int(v) & 1)
_F32 = Element("f", 4, None, f32)
_F64 = Element("d", 8)
_BF16 = Element("H", 2, bf16_value, bf16_bits)
_F16 = Element("H", 2, _f16_value, _f16_bits)


def element(type: Attribute) -> Element | None:
    """How elements of a type lie in memory; None for types that only DMAs can move."""
    width = bits(type)
    if isinstance(type, IntegerType) and type.signedness.data is Signedness.UNSIGNED and width in _UNSIGNED:
        return _UNSIGNED[width]
    if width is not None:
        return _BIT if width == 1 else _INTS.get(width)
    floats = {"f32": _F32, "": _F64, "bf16": _BF16, "f16": _F16}
    name = rounding(type)
    return None if name is None else floats[name]


# --- what generated code calls ----------------------------------------------------------------------------------------


def _by_zero(b: int) -> None:
    if b == 0:
        raise Trapped(Kind.VALUE, "divides by zero")


def divs(a: int, b: int) -> int:
    _by_zero(b)
    return -(-a // b) if (a < 0) != (b < 0) else a // b


def rems(a: int, b: int) -> int:
    return a - b * divs(a, b)


def floordivs(a: int, b: int) -> int:
    _by_zero(b)
    return a // b


def ceildivs(a: int, b: int) -> int:
    _by_zero(b)
    return -(-a // b)


def divf(a: float, b: float) -> float:
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def remf(a: float, b: float) -> float:
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


def fptosi(value: float) -> int:
    if not math.isfinite(value):
        raise Trapped(Kind.VALUE, f"makes an integer of {value}")
    return int(value)


def maximumf(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def minimumf(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else min(a, b)


def maxnumf(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def minnumf(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


_SPECIAL: dict[str, Callable[[float], float]] = {
    "exp2": lambda v: 2.0**v,
    "rsqrt": lambda v: 1 / math.sqrt(v),
    "ceil": lambda v: float(math.ceil(v)),
    "floor": lambda v: float(math.floor(v)),
    "trunc": lambda v: float(math.trunc(v)),
    "roundeven": lambda v: float(round(v)),
    # Halves go away from zero; adding 0.5 to the largest number below 0.5 would already give 1.
    "round": lambda v: math.copysign(float(math.floor(abs(v)) + (abs(v) - math.floor(abs(v)) >= 0.5)), v),
}


def real(name: str, value: float) -> float:
    """A function of the math dialect; outside of its domain the result is no number, as IEEE 754 has it."""
    if math.isnan(value):
        return math.nan
    try:
        return _SPECIAL[name](value) if name in _SPECIAL else getattr(math, name)(value)
    except OverflowError:
        if math.isinf(value):
            return value
        return math.copysign(math.inf, value) if name in ("sinh",) else math.inf
    except (ValueError, ZeroDivisionError):
        if name in ("log", "log2", "log10", "rsqrt") and value == 0:
            return math.copysign(math.inf, 1.0 if name == "rsqrt" else -1.0)
        return math.nan


def power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.copysign(math.inf, base) if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def shift(amount: int, width: int) -> int:
    if not 0 <= amount < width:
        raise Trapped(Kind.VALUE, f"shifts {width} bits by {amount}")
    return amount


def positive(step: int) -> int:
    if step <= 0:
        raise Trapped(Kind.VALUE, f"loops with a step of {step}")
    return step


_FORMATS = {16: ("<h", "<e"), 32: ("<i", "<f"), 64: ("<q", "<d")}


def bitcast(value: Any, source: str, target: str) -> Any:
    """`source` and `target` are `i32`, `f32`, `bf16` and so on, of one width."""
    if source == "bf16":
        raw = bf16_bits(value).to_bytes(2, "little")
    else:
        raw = struct.pack(_FORMATS[int(source[1:])][source[0] == "f"], value)
    if target == "bf16":
        return bf16_value(int.from_bytes(raw, "little"))
    return struct.unpack(_FORMATS[int(target[1:])][target[0] == "f"], raw)[0]


HELPERS: dict[str, Any] = {
    f.__name__: f
    for f in (
        f32, f16, bf16, divs, rems, floordivs, ceildivs, divf, remf, fptosi, maximumf, minimumf, maxnumf, minnumf,
        shift, positive, bitcast, real, power,
    )
} | {"atan2": math.atan2, "copysign": math.copysign}  # fmt: skip
