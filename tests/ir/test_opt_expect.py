"""`--verify-diagnostics`: what is wanted, what came, and what differs."""

from __future__ import annotations

import pytest

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.cli.expect import check, expectations


def error(line: int, text: str, level: Level = Level.ERROR, *notes: Note) -> Diagnostic:
    return Diagnostic(level, text, Span("t.mlir", line, 5), "E0101", notes)


def wrong(text: str, *found: Diagnostic, first_line: int = 1) -> list[str]:
    return [f"{one.where.line if one.where else 0}: {one.text}" for one in check(text, "t.mlir", found, first_line)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x // expected-error {{boom}}", 1),
        ("// expected-error@+1 {{boom}}\nx", 2),
        ("// expected-error @+2{{boom}}\ny\nx", 3),
        ("x\n// expected-error @-1 {{boom}}", 1),
        ("x\n// expected-error @above {{boom}}\n", 1),
        ("// expected-error @below {{boom}}\nx", 2),
        ("// expected-error @below {{boom}}\n// expected-note @below {{why}}\nx", 3),
        ("x\n// expected-note @above {{why}}\n// expected-error @above {{boom}}", 1),
    ],
)
def test_places(text: str, line: int):
    note = (Note("why", Span("t.mlir", line, 1)),) if "note" in text else ()
    assert wrong(text, error(line, "a boom b", Level.ERROR, *note)) == []
    assert len(wrong(text, error(line + 1, "boom", Level.ERROR, *note))) >= 2


def test_kinds_must_agree():
    text = "// expected-warning {{boom}}"
    assert wrong(text, error(1, "boom", Level.WARNING)) == []
    assert wrong(text, error(1, "boom", Level.ERROR)) == [
        "1: unexpected error: boom",
        '1: expected warning "boom" was not produced',
    ]
    assert wrong("// expected-remark {{boom}}", error(1, "boom", Level.REMARK)) == []


def test_what_is_missing_and_what_is_too_much():
    assert wrong("// expected-error {{boom}}") == ['1: expected error "boom" was not produced']
    assert wrong("x", error(1, "boom")) == ["1: unexpected error: boom"]
    assert wrong("x", error(1, "boom", Level.WARNING)) == ["1: unexpected warning: boom"]


def test_one_comment_one_diagnostic():
    text = "// expected-error {{boom}}"
    assert wrong(text, error(1, "boom"), error(1, "boom")) == ["1: unexpected error: boom"]
    assert wrong(f"{text}\n// expected-error @-1 {{{{boom}}}}", error(1, "boom"), error(1, "boom")) == []


def test_the_text_is_part_of_the_message_and_literal():
    assert wrong("// expected-error {{a.c (}}", error(1, "xa.c (y")) == []
    assert wrong("// expected-error {{a.c}}", error(1, "abc")) != []
    assert wrong("// expected-error {{'x' {{y}} }}", error(1, "'x' {{y}} z")) == []


def test_regular_expressions():
    text = "// expected-error-re {{id {{[0-9]+}} (of}}"
    assert wrong(text, error(1, "an id 42 (of us")) == []
    assert wrong(text, error(1, "an id x (of us")) != []
    assert wrong("// expected-error-re {{{{(}}}}")[0].startswith("1: invalid regex")


def test_no_place():
    found = Diagnostic(Level.ERROR, "nowhere", None)
    assert wrong("// expected-error @unknown {{nowhere}}", found) == []
    assert wrong("x", found) == ["0: unexpected error: nowhere"]


def test_notes_beyond_the_expected_ones_are_ours_to_add():
    two = (Note("one", Span("t.mlir", 2, 1)), Note("two", Span("t.mlir", 3, 1)))
    assert wrong("// expected-error {{boom}}\n// expected-note {{one}}", error(1, "boom", Level.ERROR, *two)) == []
    assert wrong("// expected-error {{boom}}\n// expected-note {{three}}", error(1, "boom", Level.ERROR, *two)) == [
        '2: expected note "three" was not produced'
    ]


def test_lines_are_those_of_the_whole_file():
    assert wrong("\n// expected-error @+1 {{boom}}\nx", error(42, "boom"), first_line=40) == []


def test_only_the_end_of_a_line_counts():
    assert expectations("// expected-error {{boom}} and more\n")[0] == []
