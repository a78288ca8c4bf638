"""`--verify-diagnostics`: comments in the input say which diagnostics must come, and where.

`// expected-error @+1 {{text}}`, likewise `expected-warning`, `expected-note`, `expected-remark`; `@-2`, `@above`,
`@below`, `@unknown`; `expected-error-re` takes regular expressions in inner `{{..}}`. One comment, one diagnostic, as
in MLIR: every comment must be met and every diagnostic (notes excepted) expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aiecc.base.diag import Diagnostic, Level
from aiecc.base.spans import Span

_COMMENT = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<re>-re)? *(?:@(?P<at>[+-][0-9]+|above|below|unknown))? *"
    r"\{\{(?P<text>.*)\}\}\s*$"
)


@dataclass(slots=True)
class Expectation:
    """One comment: `where` is the line it means (0: a diagnostic without a place), `line` and `col` its own."""

    kind: str
    where: int
    line: int
    col: int
    text: str
    pattern: re.Pattern[str] | None
    met: bool = field(default=False)

    def fits(self, kind: str, line: int, text: str) -> bool:
        if self.met or kind != self.kind or line != self.where:
            return False
        return self.text in text if self.pattern is None else self.pattern.search(text) is not None


@dataclass(frozen=True, slots=True)
class Said:
    """One line of what was reported: a diagnostic or one of its notes."""

    kind: str
    where: Span | None
    text: str


def expectations(text: str, first_line: int = 1) -> tuple[list[Expectation], list[tuple[int, str]]]:
    """The comments of an input, and (line, words) of comments that cannot be understood."""
    found: list[Expectation] = []
    bad: list[tuple[int, str]] = []
    waiting: list[Expectation] = []  # those with @below
    last_plain = first_line
    for number, line in enumerate(text.split("\n"), first_line):
        match = _COMMENT.search(line.removesuffix("\r"))
        if match is None:
            for one in waiting:
                one.where = number
            waiting.clear()
            last_plain = number
            continue
        at = match["at"] or ""
        pattern = None
        if match["re"]:
            try:
                pattern = _pattern(match["text"])
            except re.error as error:
                bad.append((number, f"invalid regex: {error}"))
                continue
        one = Expectation(match["kind"], number, number, match.start() + 1, match["text"], pattern)
        if at == "below":
            waiting.append(one)
        elif at == "above":
            one.where = last_plain
        elif at == "unknown":
            one.where = 0
        elif at:
            one.where = number + int(at)
        found.append(one)
    return found, bad


def _pattern(text: str) -> re.Pattern[str]:
    """`plain {{regex}} plain` as one expression."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(part if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def said(diagnostics: Iterable[Diagnostic]) -> Iterator[Said]:
    """Every diagnostic and note on its own, as MLIR hands them to its verifier."""
    kinds = {Level.ERROR: "error", Level.WARNING: "warning", Level.REMARK: "remark"}
    for diagnostic in diagnostics:
        yield Said(kinds[diagnostic.level], diagnostic.where, diagnostic.text)
        for note in diagnostic.notes:
            if note.where is not None:
                yield Said("note", note.where, note.text)


def check(
    text: str, file: str, diagnostics: Iterable[Diagnostic], first_line: int = 1, *, only_expected: bool = False
) -> list[Said]:
    """What is wrong between comments and diagnostics, as errors to print; empty when they agree.

    only_expected: what no comment speaks of is no fault.

    Unlike MLIR we do not ask that every note is expected: our diagnostics say more in notes than upstream's, whose
    tests are to pass unchanged. An expected note must come.
    """
    wanted, bad = expectations(text, first_line)
    wrong = [Said("error", Span(file, line, 1), words) for line, words in bad]
    for one in said(diagnostics):
        line = one.where.line if one.where is not None else 0
        match = next((e for e in wanted if e.fits(one.kind, line, one.text)), None)
        if match is not None:
            match.met = True
        elif one.kind != "note" and not only_expected:
            wrong.append(Said("error", one.where, f"unexpected {one.kind}: {one.text}"))
    for one in wanted:
        if not one.met:
            where = Span(file, one.line, one.col)
            wrong.append(Said("error", where, f'expected {one.kind} "{one.text}" was not produced'))
    return wrong
