"""How a pass says what it found: at the user's line, in the words of MLIR's `emitOpError` or `emitError`."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from aiecc.base.diag import Diagnostic, Level, Note, Sink
from aiecc.ir.spans import CALLED_FROM, callers, span_of

OpNote = tuple[str, Operation | None]


def op_error(
    sink: Sink, op: Operation, text: str, notes: Iterable[OpNote] = (), *, code: str = "E0102", todo: str = ""
) -> None:
    """Report `'op.name' op <text>` at the op."""
    error(sink, op, f"'{op.name}' op {text}", notes, code=code, todo=todo)


def error(
    sink: Sink, op: Operation, text: str, notes: Iterable[OpNote] = (), *, code: str = "E0102", todo: str = ""
) -> None:
    """Report `<text>` at the op, without its name."""
    sink.add(_diagnostic(Level.ERROR, op, text, notes, code, todo))


def warning(
    sink: Sink, op: Operation, text: str, notes: Iterable[OpNote] = (), *, code: str = "W0102", todo: str = ""
) -> None:
    """Warn of `<text>` at the op, without its name."""
    sink.add(_diagnostic(Level.WARNING, op, text, notes, code, todo))


def remark(sink: Sink, op: Operation, text: str, notes: Iterable[OpNote] = ()) -> None:
    """Remark on something at the op, without its name."""
    sink.add(_diagnostic(Level.REMARK, op, text, notes, "", ""))


def _diagnostic(level: Level, op: Operation, text: str, notes: Iterable[OpNote], code: str, todo: str) -> Diagnostic:
    told = tuple(Note(words, None if where is None else span_of(where)) for words, where in notes)
    told += tuple(Note(CALLED_FROM, at) for at in callers(op))
    return Diagnostic(level, text, span_of(op), code, told, todo)
