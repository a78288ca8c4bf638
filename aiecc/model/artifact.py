"""Values that stages hand to one another and that the store can keep."""

from __future__ import annotations

from dataclasses import dataclass

from aiecc.base.blob import Blob
from aiecc.base.spans import Span

__all__ = ["Blob", "Module", "Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """The user's input: `path` as given on the command line, `text` decoded from UTF-8."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Module:
    """MLIR text with the user's position of every op.

    `spans[i]` belongs to the i-th op of the text in pre-order (the module itself is op 0); None where
    an op has no position of the user's. Printing a module drops the user's line numbers, so they
    travel beside the text; `aiecc.ir.text.load` puts them back. With `file` the text is the user's own,
    so positions are those in it.
    """

    text: str
    spans: tuple[Span | None, ...] = ()
    file: str = ""
