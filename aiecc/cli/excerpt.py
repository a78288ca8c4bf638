"""The line of the input that a diagnostic is about, with a caret below the column, as MLIR's tools show it."""

from __future__ import annotations

from aiecc.base.spans import Span

TAB = 8


class Excerpts:
    """Shows places in one text. Called with a place, it gives two lines; None when the place is not in the text.

    A line that is not plain ASCII comes without a caret: how wide its characters are is the terminal's business.
    """

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text
        self._lines: list[str] | None = None

    def __call__(self, where: Span) -> str | None:
        if self._lines is None:
            self._lines = self._text.split("\n")
        if where.file != self._file or not 1 <= where.line <= len(self._lines):
            return None
        line = self._lines[where.line - 1].removesuffix("\r")
        shown = line.expandtabs(TAB)
        if not line.isascii():
            return shown
        before = line[: max(where.col, 1) - 1].expandtabs(TAB)
        return f"{shown}\n{' ' * len(before)}^"
