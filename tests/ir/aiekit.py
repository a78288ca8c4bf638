"""Small designs around the lines that a test of the dialects is about."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Diagnostic, Refused
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify

# Line 1 is the device's, lines 2 to 4 these tiles': what a test adds starts at line 5.
TILES = """\
%t = aie.tile(0, 2)
%m = aie.tile(0, 1)
%s = aie.tile(0, 0)
"""
FIRST = 5


def device(body: str, target: str = "npu2", tiles: str = TILES) -> str:
    """A device with a core tile `%t`, a memory tile `%m`, a shim tile `%s`, and the lines of a test."""
    return f"aie.device({target}) {{\n{tiles}{dedent(body).strip()}\n}}\n"


def read(text: str) -> ModuleOp:
    return parse(text, "t.mlir")


def printed(body: str, target: str = "npu2") -> str:
    """What is printed for the lines of a test, without the device and the tiles."""
    lines = print_module(read(device(body, target))).split("\n")
    return dedent("\n".join(lines[5:-2]))


def reprinted(body: str, target: str = "npu2") -> str:
    """As `printed`, by way of the generic form."""
    generic = print_module(read(device(body, target)), generic=True)
    lines = print_module(read(generic)).split("\n")
    return dedent("\n".join(lines[5:-2]))


@dataclass(frozen=True)
class Said:
    """A diagnostic as tests compare it: its line counts from the first line of the test's own."""

    line: int
    text: str
    notes: tuple[tuple[int, str], ...] = ()


def said(diagnostic: Diagnostic, first: int = FIRST) -> Said:
    def line(where: object) -> int:
        return getattr(where, "line", first - 1) - first + 1

    notes = tuple((line(note.where), note.text) for note in diagnostic.notes)
    return Said(line(diagnostic.where), diagnostic.text, notes)


def complaints(body: str, target: str = "npu2") -> list[Said]:
    """What the verifier says of a device with the lines of a test, first error only."""
    return [said(d) for d in verify(read(device(body, target)), first_only=True)]


def complaint(body: str, target: str = "npu2") -> Said:
    """The only error of a device with the lines of a test."""
    found = complaints(body, target)
    assert len(found) == 1, found
    return found[0]


def parse_error(body: str, target: str = "npu2") -> Said:
    """The syntax error of a device with the lines of a test."""
    try:
        read(device(body, target))
    except Refused as refused:
        return said(refused.diagnostics[0])
    raise AssertionError("it was read")


def mem(body: str, kind: str = "mem", tile: str = "%t") -> str:
    """A DMA program whose first block starts `^bd` on MM2S 0; `body` is the block."""
    return f"""\
%p = aie.{kind}({tile}) {{
  %d = aie.dma_start(MM2S, 0, ^bd, ^end)
^bd:
{indent(dedent(body).strip(), "  ")}
  aie.next_bd ^end
^end:
  aie.end
}}"""


Form = str | tuple[str, str]
"""What is read and what is printed for it; one string for both."""


def check_form(form: Form, target: str = "npu2") -> None:
    """What is read prints as it should, directly and by way of the generic form."""
    source, expected = (form, form) if isinstance(form, str) else form
    expected = dedent(expected.removeprefix("\n")).rstrip("\n")
    if expected.count("\n") and not expected.rsplit("\n", 1)[1].strip():
        expected = expected.rsplit("\n", 1)[0]
    assert printed(source, target) == expected
    assert reprinted(source, target) == expected
