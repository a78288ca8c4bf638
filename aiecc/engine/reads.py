"""What a build looked at outside its parameters: files read, and places where no file was found.

A read is remembered as path, mode and *state*. In mode `CONTENT` the state is the digest of the content; in mode
`KIND` it is `f`, `d` or nothing, for a question that only asked whether something is there. The empty state means
absent, so that a file which appears later, earlier on a search path, is a change too. Never a time stamp.
Standard library only: the check before anything is imported uses it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

CONTENT, KIND = "content", "kind"
ABSENT = ""


class Read(NamedTuple):
    """One look at the file system; `path` as the asker spelled it."""

    path: str
    mode: str
    state: str


def content_digest(data: bytes) -> str:
    """The state of a file with this content; the same as `aiecc.base.digest.digest(data)`."""
    h = hashlib.blake2b(len(data).to_bytes(8, "little"), digest_size=20)
    h.update(data)
    return h.hexdigest()


def state_of(path: str, mode: str) -> str:
    """The state of the world at `path` now."""
    try:
        if mode == KIND:
            return "d" if stat.S_ISDIR(Path(path).stat().st_mode) else "f"
        with Path(path).open("rb", buffering=0) as file:
            return content_digest(file.readall())
    except (OSError, ValueError):  # ValueError: a path with a NUL in it
        return ABSENT


class FileStates:
    """The states seen by one build, each file hashed once. Shared by all threads."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], str] = {}
        self._stamped: dict[str, tuple[tuple[int, int, int], str]] = {}

    def state(self, path: str, mode: str) -> str:
        """The state of `path`, as this build first saw it."""
        key = (path, mode)
        found = self._seen.get(key)
        if found is None:
            found = self._seen[key] = state_of(path, mode)
        return found

    def fresh(self, path: str) -> tuple[str, int]:
        """The state of `path` now and its last change in nanoseconds, for a file that a tool has just read."""
        try:
            about = Path(path).stat()
        except (OSError, ValueError):
            return ABSENT, 0
        stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
        known = self._stamped.get(path)
        if known is not None and known[0] == stamp:
            return known[1], about.st_mtime_ns
        found = state_of(path, CONTENT)
        self._stamped[path] = (stamp, found)
        self._seen.setdefault((path, CONTENT), found)
        return found, about.st_mtime_ns


class Files:
    """The user's files, as a stage sees them: every question is written down and asked again by the next build.

    One per task. A stage that reads a file any other way is not rebuilt when the file changes.
    """

    def __init__(self, states: FileStates) -> None:
        self._states = states
        self._frames: list[dict[tuple[str, str], str]] = [{}]
        self._began = time.time_ns()
        self.unsteady = False
        """A file changed while the task looked at it: the product is good, but must not be kept."""

    def read_bytes(self, path: str | Path) -> bytes:
        """The content; raises `OSError`, and then the file counts as absent."""
        name = os.fspath(path)
        try:
            data = Path(name).read_bytes()
        except OSError:
            self._note(name, CONTENT, ABSENT)
            raise
        self._note(name, CONTENT, content_digest(data))
        return data

    def read_text(self, path: str | Path) -> str:
        """The content as UTF-8; raises `OSError` or `UnicodeDecodeError`."""
        return self.read_bytes(path).decode()

    def is_file(self, path: str | Path) -> bool:
        return self._kind(path) == "f"

    def is_dir(self, path: str | Path) -> bool:
        return self._kind(path) == "d"

    def exists(self, path: str | Path) -> bool:
        return self._kind(path) != ABSENT

    def first(self, candidates: Iterable[str | Path]) -> Path | None:
        """The first candidate that is a file. Those before it are remembered as absent."""
        for path in candidates:
            if self.is_file(path):
                return Path(path)
        return None

    def used(self, *paths: str | Path) -> None:
        """Say that a tool, which ended just now, has read these files (from a depfile, say).

        Files that the task made itself do not belong here.
        """
        for path in paths:
            name = os.fspath(path)
            state, changed = self._states.fresh(name)
            if changed >= self._began:
                self.unsteady = True
            self._note(name, CONTENT, state)

    def _kind(self, path: str | Path) -> str:
        name = os.fspath(path)
        state = self._states.state(name, KIND)
        self._note(name, KIND, state)
        return state

    def _note(self, path: str, mode: str, state: str) -> None:
        if self._frames[-1].setdefault((path, mode), state) != state:
            self.unsteady = True

    def replay(self, reads: Iterable[Read]) -> None:
        """Take over the reads of work done by somebody else, whose result is used here."""
        for read in reads:
            self._note(*read)

    def begin(self) -> None:
        """Collect the reads from here to the matching `end` apart, too."""
        self._frames.append({})

    def end(self) -> tuple[Read, ...]:
        """The reads since the matching `begin`, sorted."""
        inner = self._frames.pop()
        reads = tuple(sorted(Read(path, mode, state) for (path, mode), state in inner.items()))
        self.replay(reads)
        return reads

    @property
    def reads(self) -> tuple[Read, ...]:
        """All reads so far, sorted."""
        return tuple(sorted(Read(path, mode, state) for (path, mode), state in self._frames[0].items()))
