"""What a C or C++ source includes, read off its text: for compilers that cannot write a dependency file.

Errs on the side of too much: conditions are not evaluated, and files that are not there are passed over (a compiler
has headers of its own). A name that a macro makes is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*(?:include|include_next|import|embed)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)


def headers(source: Path, folders: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The files a source includes, directly or not, each once, in the order they are met.

    `folders`: where the compiler looks (`-I`). A quoted name is looked for beside the file that names it first.
    """
    where = tuple(folders)
    found: dict[Path, None] = {}
    waiting = [source]
    while waiting:
        file = waiting.pop(0)
        for quoted, angled in _INCLUDE.findall(_text(file)):
            name = (quoted or angled).decode("utf-8", "surrogateescape")
            tried = [*([file.parent] if quoted else []), *where]
            header = next((f for folder in tried if _is_file(f := folder / name)), None)
            if header is not None and header not in found and header != source:
                found[header] = None
                waiting.append(header)
    return tuple(found)


def _text(file: Path) -> bytes:
    try:
        return file.read_bytes().replace(b"\\\r\n", b"").replace(b"\\\n", b"")
    except OSError:
        return b""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL in it
        return False
