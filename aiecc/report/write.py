"""Writing files for the user: whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from aiecc.base.diag import refuse
from aiecc.base.digest import digest


def write(path: Path, data: bytes) -> str:
    """Put the content at `path` and return its digest.

    A file that has the content already is left alone, so that make sees nothing new; otherwise it is written aside
    and renamed. Raises `Refused` (E0903) when it cannot be written, with what was there before untouched.
    """
    found = digest(data)
    aside = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        if holds(path, data):
            return found
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(data)
        aside.replace(path)
    except OSError as problem:
        refuse(f"aiecc: cannot write '{path}': {problem.strerror or problem}", code="E0903")
    finally:
        with suppress(OSError):
            aside.unlink()
    return found


def holds(path: Path, data: bytes) -> bool:
    """Whether the file is there and has this content."""
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False
