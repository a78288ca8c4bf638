"""The reader and the printer against mlir-opt: the same text, byte for byte."""

from __future__ import annotations

import random
import struct

import pytest
from textkit import Programs, chunks, mlir_opt, ours

from aiecc.base.diag import Sink
from aiecc.ir.pipeline import parse_pipeline
from aiecc.ir.pipeline import run as run_pipeline
from aiecc.ir.text import parse, print_module

pytestmark = pytest.mark.tools

DIALECTS = ("affine", "arith", "dense", "func", "index", "llvm", "math", "memref", "scf", "vector")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_prints_what_mlir_opt_prints(dialect: str):
    parts = chunks(dialect)
    for part, wanted in zip(parts, mlir_opt(parts), strict=True):
        assert wanted, "mlir-opt refuses our input"
        assert ours(part) == wanted
        assert ours(wanted) == wanted


def test_random_programs_are_named_as_mlir_opt_names_them():
    programs = [Programs(seed).module() for seed in range(60)]
    for program, wanted in zip(programs, mlir_opt(programs), strict=True):
        assert wanted, program
        assert ours(program) == wanted


@pytest.mark.parametrize("dialect", ["func", "math", "index", "memref", "dense"])
def test_generic_form(dialect: str):
    parts = chunks(dialect)
    for part, wanted in zip(parts, mlir_opt(parts, "--mlir-print-op-generic"), strict=True):
        assert ours(part, generic=True) == wanted
        assert ours(wanted) == ours(part)


def test_generic_form_of_random_programs():
    programs = [Programs(seed).module() for seed in range(100, 120)]
    for program, wanted in zip(programs, mlir_opt(programs, "--mlir-print-op-generic"), strict=True):
        assert ours(program, generic=True) == wanted


def test_locations():
    parts = chunks("locations")
    for part, wanted in zip(parts, mlir_opt(parts, "--mlir-print-debuginfo"), strict=True):
        # mlir-opt counts lines through the whole input; alone, each part starts at line 1.
        alone = mlir_opt([part], "--mlir-print-debuginfo")[0]
        assert wanted
        assert ours(part, debuginfo=True) == alone
        assert ours(alone, debuginfo=True) == alone


def _floats() -> dict[str, list[str]]:
    """Bit patterns of every kind: random ones, small decimals, the edges."""
    r = random.Random(7)
    f32 = [struct.unpack("<I", struct.pack("<f", round(r.uniform(-1e4, 1e4), r.randrange(5))))[0] for _ in range(150)]
    f32 += [r.getrandbits(32) for _ in range(150)] + [0, 1 << 31, 1, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001]
    f64 = [struct.unpack("<Q", struct.pack("<d", round(r.uniform(-1e9, 1e9), r.randrange(7))))[0] for _ in range(150)]
    f64 += [r.getrandbits(64) for _ in range(150)] + [0, 1 << 63, 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000]
    small = [r.getrandbits(16) for _ in range(300)] + [0, 0x8000, 1]
    # xDSL keeps numbers as Python floats, which lose the payload of a 16-bit NaN.
    f16 = [bits for bits in small if bits & 0x7C00 != 0x7C00] + [0x7C00, 0xFC00, 0x7E00]
    bf16 = [bits for bits in small if bits & 0x7F80 != 0x7F80] + [0x7F80, 0xFF80, 0x7FC0]
    kinds = {"f32": (f32, 8), "f64": (f64, 16), "f16": (f16, 4), "bf16": (bf16, 4)}
    return {kind: [f"0x{bits:0{digits}X}" for bits in values] for kind, (values, digits) in kinds.items()}


def test_floats():
    for kind, patterns in _floats().items():
        text = "func.func private @f() attributes {x.y = [" + ", ".join(f"{p} : {kind}" for p in patterns) + "]}"
        assert ours(text) == mlir_opt([text])[0]


@pytest.mark.parametrize("element", ["i1", "i4", "i8", "i32", "i64", "index", "f32", "bf16", "f64"])
@pytest.mark.parametrize("count", [1, 100, 101])
def test_dense_elements(element: str, count: int):
    r = random.Random(count)
    numbers = [r.randrange(2) if element == "i1" else r.randrange(-8, 8) for _ in range(count)]
    words = [f"{n}.25" if "f" in element else str(n) for n in numbers]
    if element == "i1":
        words = ["true" if n else "false" for n in numbers]
    text = f"func.func private @f() attributes {{x.y = dense<[{', '.join(words)}]> : tensor<{count}x{element}>}}"
    wanted = mlir_opt([text])[0]
    assert ours(text) == wanted
    assert ours(wanted) == wanted


def test_canonicalize_and_cse_keep_the_meaning():
    """mlir-opt brings a program and what our passes made of it to the same canonical form."""
    programs = [Programs(seed).module() for seed in range(200, 240)]
    reduced: list[str] = []
    for program in programs:
        module, sink = parse(program, "x"), Sink()
        assert run_pipeline(parse_pipeline("canonicalize,cse"), module, sink), sink.items
        reduced.append(print_module(module))
    flag = "--pass-pipeline=builtin.module(canonicalize,cse,canonicalize)"
    assert mlir_opt(reduced, flag) == mlir_opt(programs, flag)
    assert sum(len(text) for text in reduced) < sum(len(ours(program)) for program in programs)
