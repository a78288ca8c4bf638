"""Diagnostics as values: what is wrong, where, and what to type.

A diagnostic never prints itself and never ends the program. Code that finds a problem reports it to
a `Sink`; code that cannot go on raises `Refused`. Printing is `render`, done once, at the door.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from aiecc.base.spans import Span


class Level(enum.Enum):
    REMARK = "remark"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Note:
    """A line that belongs to a diagnostic: a chain, a map, the other half of a clash."""

    text: str
    where: Span | None = None

    def __post_init__(self) -> None:
        _typed(self.text, self.where)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, one message.

    `text` is the first line people match on (it may contain newlines, as a memory map does);
    `todo` says what to type to get rid of it; `code` is a stable identifier such as `E0201` from
    `aiecc.base.codes`.
    """

    level: Level
    text: str
    where: Span | None = None
    code: str = ""
    notes: tuple[Note, ...] = ()
    todo: str = ""

    def __post_init__(self) -> None:
        _typed(self.text, self.where)
        _all_are(Note, self.notes)
        _all_are(str, (self.code, self.todo))

    @property
    def is_error(self) -> bool:
        return self.level is Level.ERROR


def _typed(text: object, where: object) -> None:
    """Plugins report, too: what they get wrong is told where they do it, not when it is printed."""
    _all_are(str, (text,))
    _all_are(Span, () if where is None else (where,))


def _all_are(kind: type, values: Iterable[object]) -> None:
    for value in values:
        if not isinstance(value, kind):
            wrong, right = type(value).__name__, kind.__name__
            raise TypeError(f"a {wrong} stands where a {right} is expected in what is reported")


class Refused(Exception):
    """The user's input cannot be used. Carries the diagnostics that say why; never a bug of ours."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.text for d in diagnostics))
        self.diagnostics = diagnostics


@dataclass(slots=True)
class Sink:
    """Collects diagnostics in the order they are reported."""

    items: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def add(self, diagnostic: Diagnostic) -> None:
        self.extend((diagnostic,))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        more = tuple(diagnostics)
        _all_are(Diagnostic, more)
        self.items.extend(more)

    def error(
        self, text: str, where: Span | None = None, *, code: str = "", notes: Iterable[Note] = (), todo: str = ""
    ) -> None:
        self.add(Diagnostic(Level.ERROR, text, where, code, tuple(notes), todo))

    def warning(
        self, text: str, where: Span | None = None, *, code: str = "", notes: Iterable[Note] = (), todo: str = ""
    ) -> None:
        self.add(Diagnostic(Level.WARNING, text, where, code, tuple(notes), todo))

    def remark(self, text: str, where: Span | None = None, *, code: str = "", notes: Iterable[Note] = ()) -> None:
        self.add(Diagnostic(Level.REMARK, text, where, code, tuple(notes)))

    @property
    def failed(self) -> bool:
        return any(d.is_error for d in self.items)


def refuse(
    text: str, where: Span | None = None, *, code: str = "", notes: Iterable[Note] = (), todo: str = ""
) -> NoReturn:
    """Raise `Refused` with one error."""
    raise Refused(Diagnostic(Level.ERROR, text, where, code, tuple(notes), todo))


def render(diagnostic: Diagnostic, excerpt: Callable[[Span], str | None] | None = None) -> str:
    """The diagnostic as MLIR prints one, notes and todo below it, without a final newline.

    `file:line:col: error: text   [E0201]`, then `file:line:col: note: ...`, then `  todo: ...`.
    `excerpt` gives what is shown below the lines that name a place: the user's own line there.
    """
    head = f"{diagnostic.where}: " if diagnostic.where else ""
    tail = f"  [{diagnostic.code}]" if diagnostic.code else ""
    text = diagnostic.text
    first, newline, rest = text.partition("\n")
    lines = [f"{head}{diagnostic.level.value}: {first}{tail}{newline}{rest}"]
    lines += _shown(diagnostic.where, excerpt)
    for note in diagnostic.notes:
        at = f"{note.where}: " if note.where else "  "
        lines.append(f"{at}note: {note.text}")
        lines += _shown(note.where, excerpt)
    if diagnostic.todo:
        lines.append(f"  todo: {diagnostic.todo}")
    return "\n".join(lines)


def _shown(where: Span | None, excerpt: Callable[[Span], str | None] | None) -> list[str]:
    found = excerpt(where) if excerpt is not None and where is not None else None
    return [] if found is None else [found]
