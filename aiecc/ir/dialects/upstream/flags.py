"""The flags of arithmetic: `fastmath<..>` and `overflow<..>`."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute

from aiecc.ir.attr_printer import TABLE
from aiecc.ir.dialects.upstream.codecs import Codec, keyword_flags


def _fast(text: str) -> Attribute:
    if text in ("none", "fast"):
        return FastMathFlagsAttr(cast(Any, text))
    return FastMathFlagsAttr([FastMathFlag(word) for word in text.split(",")])


def _overflow(text: str) -> Attribute:
    if text == "none":
        return IntegerOverflowAttr("none")
    return IntegerOverflowAttr([IntegerOverflowFlag(word) for word in text.split(",")])


def _fast_text(attr: Attribute) -> str:
    flags = set(cast(Any, attr).data)
    if len(flags) == len(FastMathFlag):
        return "fast"
    return ",".join(str(flag) for flag in FastMathFlag if flag in flags) or "none"


def _overflow_text(attr: Attribute) -> str:
    flags = set(cast(Any, attr).data)
    return ", ".join(str(flag) for flag in IntegerOverflowFlag if flag in flags) or "none"


def _show_overflow(p: Any, attr: IntegerOverflowAttr) -> None:
    p.print_string(f"#arith.overflow<{_overflow_text(attr)}>")


TABLE[IntegerOverflowAttr] = _show_overflow

FAST: Codec = keyword_flags("fastmath", "fastmath", _fast, _fast_text, "none")
OVERFLOW: Codec = keyword_flags("overflowFlags", "overflow", _overflow, _overflow_text, "none")
