"""Nothing to do: the fast path taken before anything heavy is imported.

After a good build one file says which inputs were read, which outputs were written and what was said, all by content.
When every one of them is as it was, the next build has only to say it again. Standard library and `base` only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.engine.reads import CONTENT, Read, content_digest, state_of

_FORM = 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A build that came out well. `outputs` are paths and the digests of their contents; `text` is the summary."""

    reads: tuple[Read, ...]
    outputs: tuple[tuple[str, str], ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    text: str = ""


def snapshot_path(folder: Path, key: str) -> Path:
    return folder / "snapshots" / key


def check_snapshot(folder: Path, key: str) -> Snapshot | None:
    """The snapshot kept under `key` in the build folder, if all it speaks of is unchanged.

    `key` is a digest of whatever else matters: options, versions of plugins and of the host's own code, identities of
    the tools. Costs the reading of every file named.
    """
    try:
        head, _, body = snapshot_path(folder, key).read_bytes().partition(b"\n")
        if head.decode() != content_digest(body):
            return None
        found = _read(json.loads(body))
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if any(state_of(path, mode) != state for path, mode, state in found.reads):
        return None
    if any(state_of(path, CONTENT) != digest for path, digest in found.outputs):
        return None
    return found


def write_snapshot(folder: Path, key: str, snapshot: Snapshot) -> bool:
    """Keep a snapshot; false when it cannot be written, which costs time and nothing else.

    The digests of the outputs must be those of what the build wrote, not of what lies there now.
    """
    body = json.dumps(_write(snapshot), ensure_ascii=True, separators=(",", ":")).encode()
    path = snapshot_path(folder, key)
    aside = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(b"\n".join((content_digest(body).encode(), body)))
        aside.replace(path)
    except OSError:
        with suppress(OSError):
            aside.unlink()
        return False
    return True


def _write(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "form": _FORM,
        "reads": snapshot.reads,
        "outputs": snapshot.outputs,
        "diagnostics": [
            [d.level.value, d.text, _place(d.where), d.code, [[n.text, _place(n.where)] for n in d.notes], d.todo]
            for d in snapshot.diagnostics
        ],
        "text": snapshot.text,
    }


def _read(plain: dict[str, Any]) -> Snapshot:
    if plain["form"] != _FORM:
        raise ValueError(plain["form"])
    diagnostics = tuple(
        Diagnostic(Level(level), text, _span(where), code, tuple(Note(t, _span(w)) for t, w in notes), todo)
        for level, text, where, code, notes, todo in plain["diagnostics"]
    )
    reads = tuple(Read(*read) for read in plain["reads"])
    return Snapshot(reads, tuple((path, digest) for path, digest in plain["outputs"]), diagnostics, plain["text"])


def _place(where: Span | None) -> Sequence[Any] | None:
    return None if where is None else (where.file, where.line, where.col)


def _span(place: Iterable[Any] | None) -> Span | None:
    return None if place is None else Span(*place)
