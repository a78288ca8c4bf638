"""What a link file is, and the members of an archive.

Reads common (`!<arch>`) and thin (`!<thin>`) archives with GNU (`/`, `//`, `/123`) and BSD (`#1/20`,
`__.SYMDEF`) naming. A thin archive holds only names, relative to its own folder.
"""

from __future__ import annotations

import codecs
import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aiecc.elf.read import ElfProblem

_COMMON, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60
_SYMBOL_TABLES = ("__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64", "__.SYMDEF_64 SORTED")


class Content(enum.Enum):
    """What a file is by its first bytes; its suffix never decides."""

    OBJECT = "object"
    LINKED = "linked ELF"
    ARCHIVE = "archive"
    BITCODE = "bitcode"
    TEXT = "text"
    UNKNOWN = "unknown"


NAMES = {
    Content.OBJECT: "an object",
    Content.LINKED: "a linked ELF",
    Content.ARCHIVE: "an archive",
    Content.BITCODE: "bitcode",
    Content.TEXT: "text",
    Content.UNKNOWN: "neither text nor anything a linker reads",
}


def sniff(data: bytes) -> Content:
    """Say what a link file is. Text may be LLVM IR, C or anything else that people write."""
    if data[:4] == b"\x7fELF":
        little = data[5:6] != b"\x02"
        return Content.OBJECT if data[16:18] == (b"\1\0" if little else b"\0\1") else Content.LINKED
    if data[:8] in (_COMMON, _THIN):
        return Content.ARCHIVE
    if data[:4] in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        return Content.BITCODE
    head = data[:4096]
    if not head or b"\0" in head:
        return Content.UNKNOWN
    try:
        # Incrementally: the window may end inside a character.
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(data) <= len(head))
    except UnicodeDecodeError:
        return Content.UNKNOWN
    return Content.TEXT


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive."""

    name: str
    data: bytes


def members(data: bytes, folder: Path | None = None) -> tuple[Member, ...]:
    """The files of an archive, symbol and name tables left out.

    `folder` is where a thin archive lies; its members are read from there. An archive without members is an
    `ElfProblem`: it links nothing, and nobody means that.
    """
    found = tuple(_walk(data, _reader(folder)))
    if not found:
        raise ElfProblem("the archive has no members")
    return found


def _reader(folder: Path | None) -> Callable[[str], bytes]:
    def load(name: str) -> bytes:
        path = Path(name) if folder is None else folder / name
        try:
            return path.read_bytes()
        except OSError as e:
            raise ElfProblem(f"member '{name}' of the thin archive cannot be read: {e.strerror or e}") from None

    return load


def _walk(data: bytes, load: Callable[[str], bytes]) -> Iterator[Member]:
    thin = data[:8] == _THIN
    if not thin and data[:8] != _COMMON:
        raise ElfProblem("not an archive")
    names = b""
    at = 8
    while at < len(data):
        header = data[at : at + _HEADER]
        if len(header) < _HEADER or header[58:60] != b"`\n":
            raise ElfProblem(f"the archive is damaged at byte {at}: no member header there")
        raw = header[:16].decode("latin-1").rstrip(" ")
        size = _number(header[48:58], at)
        start = at + _HEADER
        special = raw in ("/", "//", "/SYM64/")
        held = special or not thin
        if held and start + size > len(data):
            raise ElfProblem(f"the archive is cut short: member '{raw}' ends at byte {start + size} of {len(data)}")
        body = data[start : start + size] if held else b""
        at = start + (size + size % 2 if held else 0)
        if raw == "//":
            names = body
            continue
        if special:
            continue
        name, skip = _name(raw, names, body)
        if name in _SYMBOL_TABLES:
            continue
        yield Member(name, body[skip:] if held else load(name))


def _number(text: bytes, at: int) -> int:
    try:
        value = int(text.decode("latin-1").strip() or "0")
    except ValueError:
        value = -1
    if value < 0:
        raise ElfProblem(f"the archive is damaged at byte {at}: a member's size is no number")
    return value


def _name(raw: str, names: bytes, body: bytes) -> tuple[str, int]:
    """The member's name, and how many bytes of the body it takes (BSD)."""
    if raw.startswith("#1/") and raw[3:].isdecimal():
        length = int(raw[3:])
        return body[:length].rstrip(b"\0").decode("utf-8", "surrogateescape"), length
    if raw.startswith("/") and raw[1:].isdecimal():
        start = int(raw[1:])
        if start >= len(names):
            raise ElfProblem(f"the archive is damaged: member name {raw} lies outside the name table")
        # GNU ends a name with a slash and a newline; some writers with a null.
        end = min((e for e in (names.find(b"\n", start), names.find(b"\0", start)) if e >= 0), default=len(names))
        return names[start:end].decode("utf-8", "surrogateescape").removesuffix("/"), 0
    return raw.removesuffix("/"), 0
