"""What is said of texts that are wrong: MLIR's words, at MLIR's places."""

from __future__ import annotations

import re

import pytest
from mlirtools import outcome
from textkit import chunks, refusal, said

from aiecc.base.diag import render
from aiecc.base.spans import Span

TOO_MANY = "elements; more than 16777216 are not supported"
_LINE = re.compile(r"<stdin>:(\d+):\d+: (?:error|note): ")


def _lines(text: str, first_line: int) -> list[str]:
    found = "\n".join(render(d) for d in said(text, first_line))
    return re.sub(r"  \[E0\d+\]", "", found).splitlines()


@pytest.mark.tools
@pytest.mark.parametrize("name", ["wrong_ir", "wrong_text"])
def test_same_errors_as_mlir_opt(name: str):
    parts = chunks(name)
    flags = ("-", "--mlir-print-op-on-diagnostic=false", "--split-input-file")
    done = outcome("mlir", "mlir-opt", *flags, text="// -----\n".join(parts))
    heard = [line for line in done.stderr.splitlines() if _LINE.match(line) and "Available dialects" not in line]
    line = 1
    for part in parts:
        after = line + part.count("\n") + 1
        wanted = [w.rstrip() for w in heard if line <= int(_LINE.match(w)[1]) < after]  # type: ignore[index]
        assert _lines(part, line) == wanted, part
        line = after


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("func.func @f() {\n  return", (2, 9), "expected operation name in quotes"),
        ("func.func @f() {\n  %x = arith.addi %y, %y : i32\n  return\n}", (2, 19), "use of undeclared SSA value name"),
        ("module {\n  // a comment\n  aie.device(npu2)\n}", (3, 19), "expected '{' to begin a region"),
        ("module {\n  aie.tlie(0, 2)\n}", (2, 3), "custom op 'aie.tlie' is unknown"),
        ("module {\n  tile(0, 2)\n}", (2, 3), "custom op 'tile' is unknown (tried 'builtin.tile' as well)"),
        ("foo.bar %x", (1, 1), "Dialect `foo' not found for custom op 'foo.bar'"),
        ('module { %x = "a\nb" }', (1, 17), "expected '\"' in string literal"),
        ("memref.global @x : i32", (1, 20), "type should be static shaped memref, but got something else"),
        ("\n\n   }", (3, 4), "expected operation name in quotes"),
        # At once, rather than when memory runs out.
        (
            f'"a.b"() {{v = dense<1> : tensor<{1 << 40}xi8>}} : () -> ()',
            (1, 19),
            f"dense literal of {1 << 40} {TOO_MANY}",
        ),
        (
            f'"a.b"() {{v = dense<"0x07"> : tensor<{1 << 40}xi8>}} : () -> ()',
            (1, 19),
            f"dense literal of {1 << 40} {TOO_MANY}",
        ),
        (
            f'"a.b"() {{v = dense<"0xFF"> : tensor<{1 << 40}xi1>}} : () -> ()',
            (1, 19),
            f"dense literal of {1 << 40} {TOO_MANY}",
        ),
        (
            '"a.b"() {v = dense<"0x0707"> : tensor<3xi8>} : () -> ()',
            (1, 19),
            "elements hex data size is invalid for provided type",
        ),
    ],
)
def test_syntax_errors(text: str, place: tuple[int, int], words: str):
    found = refusal(text)
    assert (found.where, found.text, found.code) == (Span("x.mlir", *place), words, "E0002")


def test_the_line_of_a_part_is_the_line_in_its_file():
    from aiecc.base.diag import Refused
    from aiecc.ir.text import parse

    with pytest.raises(Refused) as caught:
        parse("module {\n  %x = \n}", "big.mlir", first_line=41)
    assert caught.value.diagnostics[0].where == Span("big.mlir", 42, 7)


def test_columns_count_bytes():
    found = refusal('module attributes {a.é = "日本"} { foo.bar }')
    assert found.text == "unexpected character"
    assert found.where == Span("x.mlir", 1, 22)
    assert refusal('module attributes {a.b = "日本"} { foo.bar }').where == Span("x.mlir", 1, 38)


def test_errors_of_constraints_stand_at_their_op():
    text = "module {\n  aie.device(npu2) {\n    %t = aie.tile(0, 2) {x = #aie.packet_info<pkt_typo = 1>}\n  }\n}"
    found = refusal(text)
    assert found.where is not None
    assert found.where.line == 3
