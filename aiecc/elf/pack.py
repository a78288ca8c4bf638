"""Writing an archive, in order to make a thin one whole."""

from __future__ import annotations

from collections.abc import Iterable

from aiecc.elf.archive import Member


def pack(members: Iterable[Member]) -> bytes:
    """A common archive (GNU names, no dates, no symbol table: lld reads the members themselves)."""
    files = list(members)
    table, at = bytearray(), dict[int, int]()
    for i, member in enumerate(files):
        if len(member.name.encode()) > 15 or "/" in member.name:
            at[i] = len(table)
            table += member.name.encode("utf-8", "surrogateescape") + b"/\n"
    out = bytearray(b"!<arch>\n")
    if table:
        out += _entry("//", bytes(table))
    for i, member in enumerate(files):
        out += _entry(f"/{at[i]}" if i in at else f"{member.name}/", member.data)
    return bytes(out)


def _entry(name: str, body: bytes) -> bytes:
    head = f"{name:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(body):<10}`\n".encode("latin-1", "replace")
    return head + body + (b"\n" if len(body) % 2 else b"")
