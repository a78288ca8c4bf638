"""`kernel.c:12` for a function's address, from DWARF line tables (versions 2 to 5).

Decoded here because pyelftools takes 5 ms for the few rows of one small core. Never needed to build, so any
trouble means no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from aiecc.elf.read import ElfProblem, Image

_STRING, _LINE_STRP, _STRP, _UDATA, _BLOCK, _DATA16 = 0x08, 0x1F, 0x0E, 0x0F, 0x09, 0x1E
_FIXED = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8}
_PATH = 1


def locate(image: Image, addresses: Iterable[int]) -> dict[int, str]:
    """File and line of each address where a row of the line tables starts; empty without debug information."""
    wanted = set(addresses)
    section = image.section(".debug_line")
    if not wanted or section is None:
        return {}
    found: dict[int, str] = {}
    try:
        data = image.contents(section)
        strings = {
            _LINE_STRP: _contents(image, ".debug_line_str"),
            _STRP: _contents(image, ".debug_str"),
        }
        at = 0
        while at < len(data) and not wanted <= found.keys():
            unit = _Unit(_Reader(data, at, len(data), image.little), strings)
            for address, file, line in unit.rows():
                if address in wanted:
                    found.setdefault(address, f"{unit.name(file)}:{line}")
            at = unit.end
    except (IndexError, ValueError, ElfProblem):
        pass
    return found


def _contents(image: Image, name: str) -> bytes:
    section = image.section(name)
    return b"" if section is None else image.contents(section)


@dataclass(slots=True)
class _Reader:
    """A cursor over bytes; reading past `end` is an `IndexError`."""

    data: bytes
    at: int
    end: int
    little: bool

    def number(self, size: int) -> int:
        if self.at + size > self.end:
            raise IndexError
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little" if self.little else "big")

    def leb(self, *, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        stop = self.data.index(b"\0", self.at, self.end)
        raw, self.at = self.data[self.at : stop], stop + 1
        return raw.decode("utf-8", "replace")


class _Unit:
    """One line program: its header, then its rows."""

    def __init__(self, r: _Reader, strings: dict[int, bytes]) -> None:
        self._strings = strings
        length = r.number(4)
        self._wide = 8 if length == 0xFFFFFFFF else 4
        if self._wide == 8:
            length = r.number(8)
        if r.at + length > r.end:
            raise IndexError
        self.end = r.end = r.at + length
        self._version = r.number(2)
        if not 2 <= self._version <= 5:
            raise ValueError
        if self._version >= 5:
            r.number(2)  # address and segment selector sizes
        program = r.number(self._wide)
        program += r.at
        self._unit = r.number(1)
        if self._version >= 4:
            r.number(1)  # operations per instruction: no core's machine packs them
        r.number(1)  # whether rows start as statements
        self._base = r.number(1)
        self._base -= 256 if self._base > 127 else 0
        self._range = max(1, r.number(1))
        self._first_special = r.number(1)
        self._lengths = [0, *(r.number(1) for _ in range(self._first_special - 1))]
        self._files = self._table(r) if self._version >= 5 else self._old_table(r)
        r.at = program
        self._r = r

    def name(self, file: int) -> str:
        """The last part of a file's path. Files count from 0 in version 5, from 1 before."""
        index = file if self._version >= 5 else file - 1
        path = self._files[index] if 0 <= index < len(self._files) else "?"
        return PurePosixPath(path.replace("\\", "/")).name

    def _table(self, r: _Reader) -> list[str]:
        self._entries(r)  # directories
        return self._entries(r)

    def _entries(self, r: _Reader) -> list[str]:
        form = [(r.leb(), r.leb()) for _ in range(r.number(1))]
        out: list[str] = []
        for _ in range(r.leb()):
            path = ""
            for content, kind in form:
                value = self._value(r, kind)
                path = value if content == _PATH else path
            out.append(path)
        return out

    def _value(self, r: _Reader, kind: int) -> str:
        """Read one attribute; only strings are of use."""
        if kind == _STRING:
            return r.text()
        if kind in self._strings:
            at = r.number(self._wide)
            return _Reader(self._strings[kind], at, len(self._strings[kind]), r.little).text()
        if kind == _UDATA:
            r.leb()
        elif kind == _BLOCK:
            r.at += r.leb()
        elif kind == _DATA16:
            r.number(16)
        elif kind in _FIXED:
            r.number(_FIXED[kind])
        else:
            raise ValueError
        return ""

    def _old_table(self, r: _Reader) -> list[str]:
        while r.text():  # directories, up to an empty name
            pass
        out: list[str] = []
        while True:
            path = r.text()
            if not path:
                return out
            out.append(path)
            for _ in ("directory", "time", "length"):
                r.leb()

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """(address, file, line) of every row but those that end a sequence."""
        r = self._r
        address, file, line = 0, 1, 1
        while r.at < r.end:
            op = r.number(1)
            if op >= self._first_special:
                step = op - self._first_special
                address += step // self._range * self._unit
                line += self._base + step % self._range
                yield address, file, line
            elif op == 0:
                length = r.leb()
                following = r.at + length
                kind = r.number(1)
                if kind == 1:
                    address, file, line = 0, 1, 1
                elif kind == 2:
                    address = r.number(length - 1)
                r.at = following
            elif op == 1:
                yield address, file, line
            elif op == 2:
                address += r.leb() * self._unit
            elif op == 3:
                line += r.leb(signed=True)
            elif op == 4:
                file = r.leb()
            elif op == 8:
                address += (255 - self._first_special) // self._range * self._unit
            elif op == 9:
                address += r.number(2)
            else:
                for _ in range(self._lengths[op]):
                    r.leb()
