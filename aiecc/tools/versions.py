"""What programs say their version is, remembered between runs so that a warm start asks none.

The memory is one JSON file in the user's cache folder; an entry holds for a program's path, size and
modification time. It may be lost, torn or unwritable at any time: then programs are asked again.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from aiecc.tools.run import Runner, ToolFailure

CACHE_VARIABLE = "AIECC_CACHE_DIR"
_SAID = 8192  # characters kept of what a program said
_ENTRIES = 500


def cache_folder() -> Path:
    """The user's cache folder for aiecc; `AIECC_CACHE_DIR` moves it."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "aiecc" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "aiecc"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "aiecc"


def stamp(path: Path) -> str:
    """What tells one program file from another: real path, size, modification time."""
    real = path.resolve()
    state = real.stat()
    return f"{real}|{state.st_size}|{state.st_mtime_ns}"


class Versions:
    """Asks programs for their version and remembers the answers. `save` once, at the end."""

    def __init__(self, runner: Runner | None = None, folder: Path | None = None) -> None:
        self._runner = runner or Runner()
        self._file = (folder or cache_folder()) / "versions.json"
        self._said: dict[str, str] | None = None
        self._new = False
        self.asked = 0
        """How many programs were run."""

    def ask(self, path: Path, prefix: Sequence[str], arguments: Sequence[str]) -> str:
        """What `path prefix arguments` prints; empty for a program that cannot run. Raises `OSError` if it is gone."""
        if not arguments:
            return ""
        key = "|".join((stamp(path), *prefix, *arguments))
        said = self._memory()
        if key not in said:
            said[key] = self._run(path, [*prefix, *arguments])
            self._new = True
        return said[key]

    def _run(self, path: Path, arguments: Sequence[str]) -> str:
        self.asked += 1
        try:
            with tempfile.TemporaryDirectory() as folder:
                return self._runner.run([str(path), *arguments], cwd=Path(folder)).output[:_SAID]
        except ToolFailure:
            if self._runner.cancelled:
                raise
            return ""

    def _memory(self) -> dict[str, str]:
        if self._said is None:
            self._said = {}
            with suppress(OSError, ValueError):
                data: Any = json.loads(self._file.read_text(encoding="utf-8"))
                if isinstance(data, dict):
                    pairs = cast("dict[Any, Any]", data).items()
                    self._said = {k: v for k, v in pairs if isinstance(k, str) and isinstance(v, str)}
        return self._said

    def save(self) -> None:
        """Write what was learnt; a folder that cannot be written to is no problem."""
        if not self._new:
            return
        kept = dict(list(self._memory().items())[-_ENTRIES:])
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._file.parent, prefix="versions.")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(kept, file)
                Path(name).replace(self._file)
            except OSError:
                with suppress(OSError):
                    Path(name).unlink()
        self._new = False


def version_in(said: str, pattern: str) -> str:
    """The version in what a program said: the pattern's first group, else the first line."""
    found = re.search(pattern, said) if pattern else None
    if found:
        return found[found.re.groups and 1]
    return said.strip().partition("\n")[0].strip()
