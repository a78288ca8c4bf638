"""Reading ELF: what llvm-readelf says, and no exception but `ElfProblem` for anything damaged."""

from __future__ import annotations

import random
from pathlib import Path

import elfmaker as em
import portable
import pytest

from aiecc.elf import read as elf
from aiecc.elf.stack import measure

SOURCE = """
#include <stdint.h>
static int small(int x) { return x + 1; }
static int large(int x) { volatile int t[40]; t[x] = x; return t[0]; }
typedef int (*step)(int);
static const step volatile table[2] = { small, large };
int counter = 3;
static volatile int history[64];
int helper(int);
int kernel(int x) { history[x & 63] = counter; return table[x & 1](x) + helper(x); }
"""


def describe(image: elf.Image) -> list[tuple[object, ...]]:
    return [(s.name, s.type, s.flags, s.address, s.offset, s.size, s.link, s.info, s.alignment) for s in image.sections]


@pytest.mark.tools
def test_agrees_with_readelf(tmp_path: Path) -> None:
    path = portable.compile_text(tmp_path, "k.c", SOURCE, "-g")
    image = elf.read(path.read_bytes())
    oracle = portable.readelf(path, "-hSsr")
    sections = [s["Section"] for s in oracle["Sections"]]
    assert describe(image) == [
        (
            s["Name"]["Name"],
            s["Type"]["Value"],
            s["Flags"]["Value"],
            s["Address"],
            s["Offset"],
            s["Size"],
            s["Link"],
            s["Info"],
            s["AddressAlignment"],
        )
        for s in sections
    ]
    symbols = [s["Symbol"] for s in oracle["Symbols"]]
    assert [(s.name, s.value, s.size, s.type, s.binding, s.section) for s in image.symbols] == [
        # readelf names section symbols after their section; the table holds no name.
        (
            "" if s["Type"]["Value"] == 3 else s["Name"]["Name"],
            s["Value"],
            s["Size"],
            s["Type"]["Value"],
            s["Binding"]["Value"],
            s["Section"]["Value"],
        )
        for s in symbols
    ]
    found = {
        (section.index, r.offset, r.type, r.addend)
        for section, _ in image.relocation_sections()
        for r in image.relocations(section)
    }
    expected = {
        (group["SectionIndex"], r["Offset"], r["Type"]["Value"], signed(r["Addend"]))
        for group in oracle["Relocations"]
        for r in (item["Relocation"] for item in group["Relocs"])
    }
    assert found == expected
    assert found
    assert (image.machine, image.word, image.little, image.linked) == (em.RISCV, 4, True, False)


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


@pytest.mark.parametrize(("word", "little", "machine"), [(4, True, em.RISCV), (8, True, em.X86_64), (4, False, 20)])
@pytest.mark.parametrize("rela", [True, False])
def test_classes_and_byte_orders(word: int, little: bool, machine: int, rela: bool) -> None:
    maker = em.Maker(
        machine=machine,
        word=word,
        little=little,
        rela=rela,
        entry=0x1234,
        flags=0x55,
        sections=[em.Sec(".text", bytes(32), flags=em.ALLOC | em.EXEC, relocations=[(7, 4, "callee", -4)])],
        symbols=[em.Sym("caller", 0, 16), em.Sym("callee", 16, 16, binding=em.WEAK)],
    )
    image = elf.read(maker.build())
    assert (image.word, image.little, image.machine, image.entry, image.flags) == (word, little, machine, 0x1234, 0x55)
    assert [(s.name, s.value, s.size) for s in image.symbols[1:]] == [("caller", 0, 16), ("callee", 16, 16)]
    assert [s.is_exported for s in image.symbols] == [False, True, True]
    ((section, patched),) = image.relocation_sections()
    assert patched is image.section(".text")
    (only,) = image.relocations(section)
    assert only == elf.Relocation(7, 4, 2, -4 if rela else 0)


def test_nobits_occupy_memory_but_no_file() -> None:
    maker = em.Maker(sections=[em.Sec(".bss", type=em.NOBITS, flags=em.ALLOC | em.WRITE, address=0x70000, size=0x900)])
    image = elf.read(maker.build())
    (bss,) = image.sections_named(".bss")
    assert (bss.size, bss.end, image.contents(bss)) == (0x900, 0x70900, b"")
    assert image.section_at(0x708FF) is bss
    assert image.section_at(0x70900) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello", "not an ELF file"),
        (b"\x7fELF", "the ELF header is damaged"),
        (b"\x7fELF\x03\x01" + bytes(60), "the ELF header is damaged"),
        (b"\x7fELF\x01\x01" + bytes(20), "the file is cut short: 26 bytes do not hold an ELF header"),
    ],
)
def test_what_is_no_elf(data: bytes, reason: str) -> None:
    with pytest.raises(elf.ElfProblem) as caught:
        elf.read(data)
    assert str(caught.value) == reason


def test_cut_in_the_middle() -> None:
    whole = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16)]).build()
    for length in range(len(whole)):
        with pytest.raises(elf.ElfProblem):
            elf.read(whole[:length])
    with pytest.raises(elf.ElfProblem, match=f"the file is cut short: its section table ends at byte {len(whole)}"):
        elf.read(whole[:-1])


def test_damage_never_escapes_as_anything_else() -> None:
    whole = em.core([em.Fn("__start", calls=["a"]), em.Fn("a", 16, calls=["b"]), em.Fn("b", 300)]).build()
    rng = random.Random(1)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(3000):
        broken = bytearray(whole)
        for _ in range(rng.choice((1, 2, 8))):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        try:
            image = elf.read(bytes(broken))
            _ = image.symbols
            for section, _ in image.relocation_sections():
                list(image.relocations(section))
            outcomes["read"] += 1
        except elf.ElfProblem as e:
            assert "\n" not in str(e)
            outcomes["refused"] += 1
        measure(bytes(broken), "core.elf", {})
    assert min(outcomes.values()) > 100


def test_a_stripped_file_has_no_symbols() -> None:
    maker = em.Maker(sections=[em.Sec(".text", bytes(4), flags=em.ALLOC | em.EXEC)])
    data = bytearray(maker.build())
    image = elf.read(bytes(data))
    table = next(s for s in image.sections if s.name == ".symtab")
    at = int.from_bytes(data[32:36], "little") + table.index * 40 + 4
    data[at : at + 4] = (0).to_bytes(4, "little")
    assert elf.read(bytes(data)).symbols == ()
