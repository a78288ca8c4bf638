"""Designs that somebody broke: whatever is left of them gets diagnostics at its lines, never a traceback."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptokit import CASES, CUBE, CUBE_GM, CUBE_V2C, VECTOR, VECTOR_GM, VECTOR_V2C, WS, design, parts

from aiecc.api import Refused, Sink, verify
from aiecc.ir.text import parse
from aiecc.plugins.tpush.analyse import analyse
from aiecc.plugins.tpush.extract import clusters_of
from aiecc.plugins.tpush.rules import verify_pipes

DESIGNS = [
    design(CUBE, VECTOR),
    design(CUBE_GM, VECTOR_GM, "a3", (WS, WS)),
    design(CUBE_V2C, VECTOR_V2C),
    *(part for path in sorted(CASES.glob("*.mlir")) for part in parts(path.name.partition(".")[0])),
]
NUMBERS = ("0", "1", "2", "3", "4", "7", "8", "9", "15", "16", "17", "64", "100", "1024", "100000", "-1")
WORDS = ("vec", "mat", "acc", "cube", "vector", "f32", "f16", "i4", "aic", "aiv", "%p", "%a", "@cube", "@vector")


def judged(text: str) -> list[str] | None:
    """What is said of a text; None when it cannot be read. Nothing may be raised."""
    try:
        module = parse(text, "a.mlir")
    except Refused:
        return None
    if verify(module):
        return None
    diag = Sink()
    verify_pipes(module, diag)
    if not diag.failed:
        for cluster in clusters_of(module, diag):
            analyse(cluster, diag)
        # The rules have seen to it that every flag is back where it was, and that what is read is what was pushed.
        assert not {d.code for d in diag.items} - {"E1202", "W1201"}
    assert all(d.where is not None and d.text for d in diag.items)
    return [d.text for d in diag.items]


def changed(text: str, draw: st.DataObject) -> str:
    """A text with a number (perhaps everywhere), a word or a line that is another, or a line less or twice."""
    kind = draw.draw(st.sampled_from(["number", "all", "word", "drop", "twice", "swap"]))
    if kind == "number":
        found = list(re.finditer(r"(?<![%\w.])\d+", text))
        at = draw.draw(st.sampled_from(found))
        return text[: at.start()] + draw.draw(st.sampled_from(NUMBERS)) + text[at.end() :]
    if kind == "all":
        old = draw.draw(st.sampled_from(sorted(set(re.findall(r"\b\d+\b|\d+(?=x)|(?<=x)\d+(?=x)", text)))))
        return re.sub(rf"(?<![%\w.]){old}\b|\b{old}(?=x)|(?<=x){old}(?=x)", draw.draw(st.sampled_from(NUMBERS)), text)
    if kind == "word":
        found = [m for word in WORDS for m in re.finditer(re.escape(word) + r"\b", text)]
        at = draw.draw(st.sampled_from(found))
        return text[: at.start()] + draw.draw(st.sampled_from(WORDS)) + text[at.end() :]
    lines = text.split("\n")
    index = draw.draw(st.integers(2, len(lines) - 2))
    if kind == "drop":
        del lines[index]
    elif kind == "twice":
        lines.insert(index, lines[index])
    else:
        lines[index - 1], lines[index] = lines[index], lines[index - 1]
    return "\n".join(lines)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_broken_designs_are_told_never_raised(draw: st.DataObject) -> None:
    text = draw.draw(st.sampled_from(DESIGNS))
    for _ in range(draw.draw(st.integers(1, 3))):
        text = changed(text, draw)
    judged(text)


@pytest.mark.parametrize("text", DESIGNS[:3])
def test_every_line_may_be_missing(text: str) -> None:
    """Without any one line of its kernels a design cannot be read, or is refused, or still is a design."""
    lines = text.split("\n")
    verdicts = [judged("\n".join(lines[:i] + lines[i + 1 :])) for i in range(2, len(lines) - 3)]
    assert any(verdict for verdict in verdicts)


@pytest.mark.parametrize("text", DESIGNS[:3])
@pytest.mark.parametrize("number", NUMBERS)
def test_every_number_may_be_another(text: str, number: str) -> None:
    for at in re.finditer(r"(?<![%\w.])\d+", text):
        judged(text[: at.start()] + number + text[at.end() :])
