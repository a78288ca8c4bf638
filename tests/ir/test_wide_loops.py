"""Loops that count past what an index of 32 bits holds: they must run, and run as often as written."""

from __future__ import annotations

import re

import mlirtools
import pytest
from passkit import FILE

from aiecc.base.diag import Sink
from aiecc.ir.outline import outline
from aiecc.ir.text import parse
from aiecc.model.ids import CoreId


def core(body: str) -> str:
    return (
        "aie.device(npu2) {\n%t = aie.tile(0, 2)\n%l = aie.lock(%t, 0)\nfunc.func private @f(index)\n"
        f"%core = aie.core(%t) {{\n%one = arith.constant 1 : i32\n{body}\naie.end\n}}\n}}"
    )


def loop(lower: int, upper: int, step: int, inside: str = "") -> str:
    return core(
        f"%a = arith.constant {lower} : index\n%b = arith.constant {upper} : index\n"
        f"%c = arith.constant {step} : index\n"
        f"scf.for %i = %a to %b step %c {{\naie.use_lock(%l, Release, %one)\n{inside}\n}}"
    )


def cut(text: str) -> tuple[str, Sink]:
    sink = Sink()
    made = outline(parse(text, FILE), CoreId("main", 0, 2), sink=sink, triple="riscv32-unknown-elf")
    return (made.text if made is not None else ""), sink


@pytest.mark.parametrize(
    ("bounds", "wide"),
    [
        ((0, 10, 1), False),
        ((0, (1 << 31) - 1, 1), False),
        # The counter goes from 2147483646 to 2147483648, which is negative as a word.
        ((0, (1 << 31) - 1, 2), True),
        ((0, (1 << 31) - 2, 2), False),
        ((0, 1 << 31, 1), True),
        ((0, 0xFFFFFFFF, 1), True),
        ((0, (1 << 63) - 1, 1), True),
        ((0, (1 << 63) - 4, 4), True),
        ((-(1 << 31) - 1, 0, 1), True),
    ],
)
def test_which_loops_count_in_64_bits(bounds: tuple[int, int, int], wide: bool) -> None:
    text, sink = cut(loop(*bounds))
    assert not sink.items
    head = next(line for line in text.splitlines() if "scf.for" in line)
    assert head.rstrip().endswith(": i64 {") is wide, head


def test_the_counter_is_still_an_index_inside() -> None:
    text, sink = cut(loop(0, (1 << 63) - 1, 1, "func.call @f(%i) : (index) -> ()"))
    assert not sink.items
    assert re.search(r"(%\S+) = arith.index_cast %\S+ : i64 to index\n(.*\n)*.*func.call @f\(\1\)", text), text


def test_bounds_known_at_run_time_only() -> None:
    text, sink = cut(
        core(
            "%a = arith.constant 0 : index\n%b = arith.constant 9223372036854775807 : index\n"
            "%n = arith.index_cast %one : i32 to index\n"
            "scf.for %i = %n to %b step %n {\naie.use_lock(%l, Release, %one)\n}"
        )
    )
    assert not sink.items
    assert text.count(": index to i64") == 2


@pytest.mark.parametrize(
    "body",
    [
        "%b = arith.constant 4294967296 : index\nfunc.call @f(%b) : (index) -> ()",
        "affine.for %i = 0 to 9223372036854775807 {\naie.use_lock(%l, Release, %one)\n}",
    ],
)
def test_other_numbers_that_do_not_fit_are_refused(body: str) -> None:
    text, sink = cut(core(body))
    assert not text
    (said,) = sink.items
    assert "but an index has 32 bits on a core" in said.text
    assert said.where is not None and said.where.line == 7


@pytest.mark.tools
def test_what_is_compiled_runs_for_ever() -> None:
    """LLVM judges: with a bound cut to a word the loop's body would be dead, and gone from the code."""
    text, _ = cut(loop(0, (1 << 63) - 1, 1))
    ir = mlirtools.to_llvm(text)
    assert "9223372036854775807" in ir
    assert re.search(r"icmp slt i64", ir)
