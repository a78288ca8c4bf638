"""Where in the user's file an op was written.

A position is kept as the op's MLIR location (`op.location`, a FileLineColLoc), so it survives
`op.clone()`, costs nothing to copy and is what `--mlir-print-debuginfo` prints. Passes that make an op
out of another one give it the other one's position: `copy_span(old, new)`.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from aiecc.base.spans import Span

CALLED_FROM = "called from"
"""The note about each place a template was used at."""
UNKNOWN: LocationAttr = UnknownLoc()


def file_location(filename: StringAttr, line: int, col: int) -> FileLineColLoc:
    """A FileLineColLoc without the checks of its constructor: the reader makes one per op."""
    loc = object.__new__(FileLineColLoc)
    object.__setattr__(loc, "filename", filename)
    object.__setattr__(loc, "line", IntAttr(line))
    object.__setattr__(loc, "column", IntAttr(col))
    return loc


def position(location: Attribute) -> Span | None:
    """The first place in a file that an MLIR location names; None when it names none."""
    if isinstance(location, FileLineColLoc):
        return Span(location.filename.data, location.line.data, location.column.data)
    if isinstance(location, NameLoc):
        return position(location.location)
    if isinstance(location, CallSiteLoc):
        return position(location.callee) or position(location.caller)
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        return next((at for part in location.locations if (at := position(part))), None)
    return None


def span_of(op: Operation) -> Span | None:
    """The user's position of an op; None when it has none (made by a pass that had nothing to copy)."""
    return position(op.location)


def set_span(op: Operation, span: Span | None) -> None:
    """Give an op its position in the user's file (None takes it away)."""
    op.location = UNKNOWN if span is None else file_location(StringAttr(span.file), span.line, span.col)


def copy_span(source: Operation, *targets: Operation) -> None:
    """Give ops that a pass made the position of the op they stand for."""
    for target in targets:
        target.location = source.location


def call(inner: Operation, caller: Operation) -> None:
    """Let an op's position be known as one inside something that `caller` puts in its own place."""
    if inner.location == UNKNOWN:
        inner.location = caller.location
    elif caller.location != UNKNOWN:
        inner.location = CallSiteLoc(inner.location, caller.location)


def callers(op: Operation) -> tuple[Span, ...]:
    """Where the template that an op stands in was put in its place, the closest first."""
    found: list[Span] = []
    location: Attribute = op.location
    while isinstance(location, CallSiteLoc):
        at = position(location.caller)
        if at is not None:
            found.append(at)
        location = location.caller
    return tuple(found)


def spans_of(op: Operation) -> tuple[Span | None, ...]:
    """The positions of an op and everything inside it, in pre-order."""
    return tuple(position(inner.location) for inner in op.walk())


def set_spans(op: Operation, spans: Iterable[Span | None]) -> None:
    """The inverse of `spans_of`. Ops beyond the end of `spans` keep what they have."""
    files: dict[str, StringAttr] = {}
    for inner, span in zip(op.walk(), spans, strict=False):
        if span is None:
            inner.location = UNKNOWN
        else:
            name = files.get(span.file) or files.setdefault(span.file, StringAttr(span.file))
            inner.location = file_location(name, span.line, span.col)
