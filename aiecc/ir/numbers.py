"""How MLIR prints floating point numbers (LLVM's APFloat::toString and what MLIR's printer makes of it)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import AnyFloat

# Bits of the significand, the hidden one included; other formats print in at most 17 digits.
_PRECISION = {"f16": 11, "bf16": 8, "tf32": 11, "f32": 24, "f64": 53, "f80": 64, "f128": 113}


def float_text(value: float, type: AnyFloat) -> str:
    """A number as MLIR prints it in this type: six digits if they say all, more if needed, bits if they must."""
    return _float_text(bits(value, type), value, type)


@lru_cache(maxsize=4096)
def _float_text(pattern: int, value: float, type: AnyFloat) -> str:
    """The pattern is there for the cache: 0.0 and -0.0 are equal numbers, and no NaN is equal to itself."""
    if math.isfinite(value):
        short = _scientific(*_digits(value, 6), fill=True)
        if bits(float(short), type) == pattern:
            return short
        precision = 2 + _PRECISION.get(type.name, 53) * 59 // 196
        longer = _plain(*_digits(value, precision), precision)
        if "." in longer:
            return longer
    return f"0x{pattern:X}"


def bits(value: float, type: AnyFloat) -> int:
    """The bit pattern of a number in its type."""
    packed: Any = type.pack((value,))
    return int.from_bytes(bytes(packed), "little")


def _digits(value: float, precision: int) -> tuple[bool, str, int]:
    """Sign, at most `precision` significant digits without zeros behind, and the exponent of the last digit.

    LLVM first cuts digits off (by an estimate, in tens) and then rounds what is left half up; so do we.
    """
    negative = math.copysign(1.0, value) < 0
    numerator, denominator = abs(value).as_integer_ratio()
    if not numerator:
        return negative, "0", 0
    exponent = denominator.bit_length() - 1
    significand = numerator * 5**exponent
    exponent = -exponent
    spare = significand.bit_length() - (precision * 196 + 58) // 59
    tens = spare * 59 // 196 if spare > 0 else 0
    significand //= 10**tens
    text = str(significand)
    exponent += tens
    cut = len(text) - precision
    if cut > 0:
        up = text[precision] >= "5"
        text = str(int(text[:precision]) + up)
        exponent += cut
    stripped = text.rstrip("0")
    return negative, stripped, exponent + len(text) - len(stripped)


def _scientific(negative: bool, digits: str, exponent: int, *, fill: bool) -> str:
    exponent += len(digits) - 1
    tail = digits[1:].ljust(6, "0") if fill else digits[1:] or "0"
    power = f"{abs(exponent):02d}" if fill else str(abs(exponent))
    letter = "e" if fill else "E"
    return f"{'-' if negative else ''}{digits[0]}.{tail}{letter}{'-' if exponent < 0 else '+'}{power}"


def _plain(negative: bool, digits: str, exponent: int, precision: int) -> str:
    """The default form: plain up to three zeros of padding, otherwise scientific."""
    count = len(digits)
    if exponent >= 0:
        scientific = exponent > 3 or count + exponent > precision
    else:
        top = exponent + count - 1
        scientific = top < 0 and -top > 3
    if scientific:
        return _scientific(negative, digits, exponent, fill=False)
    sign = "-" if negative else ""
    if exponent >= 0:
        return sign + digits + "0" * exponent
    whole = count + exponent
    if whole > 0:
        return f"{sign}{digits[:whole]}.{digits[whole:]}"
    return f"{sign}0.{'0' * -whole}{digits}"
