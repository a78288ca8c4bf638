"""Writing files for the user: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from aiecc.base.blob import Blob
from aiecc.base.diag import refuse
from aiecc.base.digest import digest


def write(path: Path, content: bytes | str | Blob, keep: Collection[str] = ()) -> str:
    """Put the content at `path` and return its digest.

    A file that has the content already is left alone, so that make sees nothing new; otherwise it is written aside
    and renamed. Raises `Refused` (E0903) when it cannot be written, and when that would replace one of `keep`
    (real paths); what was there before is untouched then.
    """
    data = content.bytes() if isinstance(content, Blob) else content.encode() if isinstance(content, str) else content
    found = digest(data)
    aside = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        if _holds(path, data):
            return found
        if os.path.realpath(path) in keep:
            refuse(
                f"aiecc: '{path}' is an input of this build and would be overwritten",
                code="E0903",
                todo="give another --output-dir",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(data)
        aside.replace(path)
    except OSError as problem:
        with suppress(OSError):
            aside.unlink()
        refuse(f"aiecc: cannot write '{path}': {problem.strerror or problem}", code="E0903")
    return found


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False
