"""LIEF, which is nothing of ours, reads a renamed object as the same object under other names."""

from __future__ import annotations

from pathlib import Path

import lief
import portable
import pytest

from aiecc.elf.rename import rename

NAMES = {"core": "core_10_5", "in0": "a_much_longer_buffer_name", "table": "t"}
SOURCE = """
extern int in0[]; int helper(int);
static const volatile int table[5] = { 1, 2 };
void core(void) { in0[0] = helper(in0[1]) + table[in0[2]]; }
"""


def view(data: bytes) -> lief.ELF.Binary:
    parsed = lief.ELF.parse(list(data))
    assert parsed is not None
    return parsed


def renamed(name: str) -> str:
    head, dot, tail = name.rpartition(".")
    if name in NAMES:
        return NAMES[name]
    return f"{head}{dot}{NAMES[tail]}" if dot and tail in NAMES else name


@pytest.mark.tools
@pytest.mark.parametrize("flags", [(), ("-g",)], ids=["plain", "debug"])
def test_the_same_object_under_other_names(tmp_path: Path, flags: tuple[str, ...]) -> None:
    before = portable.compile_text(tmp_path, "core.c", SOURCE, *flags).read_bytes()
    old, new = view(before), view(rename(before, NAMES))
    assert [renamed(s.name) for s in old.sections] == [s.name for s in new.sections]
    assert [(s.type, s.flags, s.alignment) for s in old.sections] == [
        (s.type, s.flags, s.alignment) for s in new.sections
    ]
    symbols = [(renamed(str(s.name)), s.value, s.size, s.binding, s.type) for s in old.symbols]
    assert symbols == [(str(s.name), s.value, s.size, s.binding, s.type) for s in new.symbols]
    assert "core_10_5" in {s[0] for s in symbols} and "core" not in {s[0] for s in symbols}
    relocations = [(r.address, r.type, r.addend, renamed(str(r.symbol.name))) for r in old.relocations if r.symbol]
    assert relocations == [(r.address, r.type, r.addend, str(r.symbol.name)) for r in new.relocations if r.symbol]
    assert relocations
    for a, b in zip(old.sections, new.sections, strict=True):
        if a.type not in (lief.ELF.Section.TYPE.STRTAB, lief.ELF.Section.TYPE.SYMTAB):
            assert bytes(a.content) == bytes(b.content), a.name
