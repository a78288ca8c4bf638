"""Renaming objects: what a compile under the final names gives, and nothing else changed."""

from __future__ import annotations

import random
import re
from pathlib import Path

import elfmaker as em
import portable
import pytest

from aiecc.elf.read import ElfProblem, Image, read
from aiecc.elf.rename import rename

NAMES = {"core": "core_10_5", "in0": "a_much_longer_buffer_name", "out0": "o", "table": "t", "state": "next_state"}

SOURCE = """
extern int in0[], out0[]; int helper(int); int state = 3; int zero[4];
static const volatile int table[5] = { 1, 2 };
static int pick(int x) {
  switch (x) { case 0: return 7; case 1: return in0[1]; case 2: return 9; case 3: return table[2];
    case 4: return state; case 5: return 77; case 6: return zero[1]; } return 5; }
void core(void) { out0[0] = helper(in0[0]) + table[in0[1]] + pick(in0[3]); state++; zero[in0[2]]++; }
"""

DERIVED = re.compile(r"\b(core|in0|out0|table|state)\b")


def final(source: str) -> str:
    return DERIVED.sub(lambda m: NAMES[m.group()], source)


def shape(image: Image) -> list[tuple[object, ...]]:
    """All of an object that a linker looks at, without file offsets and string tables."""
    out: list[tuple[object, ...]] = []
    for s in image.sections:
        content = b"" if s.type in (2, 3) else image.contents(s)
        size = 0 if s.type == 3 else s.size
        out.append((s.name, s.type, s.flags, s.address, size, s.link, s.info, s.alignment, s.entry_size, content))
    out.extend(tuple(s) for s in image.symbols)
    return out


def test_names_change_and_nothing_else() -> None:
    maker = em.Maker(
        type=1,
        flags=3,
        machine=em.AIE,
        sections=[
            em.Sec(".text.core", bytes(range(16)), flags=em.ALLOC | em.EXEC, align=16, relocations=[(4, 5, "in0", 8)]),
            em.Sec(".rodata.core.cst", b"abc", flags=em.ALLOC),
            em.Sec(".data.state", bytes(8), flags=em.ALLOC | em.WRITE, align=64),
            em.Sec(".bss.other", type=em.NOBITS, flags=em.ALLOC | em.WRITE, size=99),
            em.Sec(".comment", b"core"),
        ],
        symbols=[
            em.Sym("state", 0, 0, em.FILE, em.LOCAL, "ABS"),
            em.Sym("core", 0, 16, section=".text.core"),
            em.Sym("core2", 8, 4, section=".text.core"),
            em.Sym("state", 0, 8, em.OBJECT, section=".data.state"),
            em.Sym("in0", section=""),
        ],
    )
    before = read(maker.build())
    after = read(rename(before.data, NAMES))
    assert [s.name for s in after.sections] == [
        "",
        ".text.core_10_5",
        ".rodata.core.cst",
        ".data.next_state",
        ".bss.other",
        ".comment",
        ".symtab",
        ".strtab",
        ".rela.text.core_10_5",
        ".shstrtab",
    ]
    assert [s.name for s in after.symbols] == ["", "state", "core_10_5", "core2", "next_state", NAMES["in0"]]
    # A file's name is no symbol's.
    assert after.symbols[1].type == em.FILE
    back = read(rename(after.data, {new: old for old, new in NAMES.items()}))
    assert shape(back) == shape(before)
    assert (back.machine, back.flags, back.type) == (em.AIE, 3, 1)


def test_names_may_trade_places() -> None:
    maker = em.Maker(
        type=1,
        sections=[em.Sec(".text.a", bytes(4), flags=6), em.Sec(".text.b", bytes(8), flags=6)],
        symbols=[em.Sym("a", 0, 4, section=".text.a"), em.Sym("b", 0, 8, section=".text.b")],
    )
    after = read(rename(maker.build(), {"a": "b", "b": "a"}))
    assert [(s.name, s.size) for s in after.symbols[1:]] == [("b", 4), ("a", 8)]
    assert [s.name for s in after.sections[1:3]] == [".text.b", ".text.a"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".text.core", ".text.core_10_5"),
        (".rela.text.core", ".rela.text.core_10_5"),
        (".text.unlikely.core", ".text.unlikely.core_10_5"),
        (".data.rel.ro.state", ".data.rel.ro.next_state"),
        (".text.core2", ".text.core2"),
        (".text", ".text"),
        (".debug_core.core", ".debug_core.core"),
        (".stack_sizes", ".stack_sizes"),
        (".aie.bank0", ".aie.bank0"),
    ],
)
def test_which_sections_are_named_after_symbols(old: str, new: str) -> None:
    after = read(rename(em.Maker(type=1, sections=[em.Sec(old, bytes(4))]).build(), NAMES))
    assert after.sections[1].name == new


def test_what_cannot_be_renamed() -> None:
    with pytest.raises(ElfProblem, match="not an ELF file"):
        rename(b"junk", NAMES)
    with pytest.raises(ElfProblem, match="not a relocatable object"):
        rename(em.Maker(type=2).build(), NAMES)
    whole = em.Maker(type=1, symbols=[em.Sym("core", section="")]).build()
    for length in range(len(whole)):
        with pytest.raises(ElfProblem):
            rename(whole[:length], NAMES)


@pytest.mark.tools
@pytest.mark.parametrize("flags", [(), ("-mrelax",), ("-fno-function-sections", "-fno-data-sections")])
def test_equals_a_compile_under_the_final_names(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "direct").mkdir()
    canonical = portable.compile_text(tmp_path, "core.c", SOURCE, *flags)
    direct = portable.compile_text(tmp_path / "direct", "core.c", final(SOURCE), *flags)
    renamed = tmp_path / "renamed.o"
    renamed.write_bytes(rename(canonical.read_bytes(), NAMES))
    assert shape(read(renamed.read_bytes())) == shape(read(direct.read_bytes()))

    def oracle(path: Path) -> str:
        text = portable.llvm("llvm-readelf", "-sWr", "--stack-sizes", path)
        return re.sub(r"offset 0x[0-9a-f]+", "offset", text.replace(str(path), ""))

    assert oracle(renamed) == oracle(direct)
    # And the linker makes the same file of both.
    script = "SECTIONS { .text : { *(.text*) } .data : { *(.data*) *(.rodata*) *(.bss*) } }"
    rest = portable.compile_text(
        tmp_path, "rest.c", f"int {NAMES['in0']}[9], o[9]; int helper(int x) {{ return x; }} void _start(void) {{}}"
    )
    elfs: list[bytes] = []
    for name, obj in (("one.elf", renamed), ("two.elf", direct)):
        out = tmp_path / name
        (tmp_path / "s.ld").write_text(script)
        zig = portable.wheel("ziglang") / "zig"
        portable.run(zig, "ld.lld", "--emit-relocs", "-e", "core_10_5", "-T", tmp_path / "s.ld", obj, rest, "-o", out)
        elfs.append(out.read_bytes())
    assert elfs[0] == elfs[1]


@pytest.mark.tools
def test_debug_objects_keep_their_relocations(tmp_path: Path) -> None:
    # Debug sections refer to dozens of local symbols that share one name; none may be merged with another.
    canonical = portable.compile_text(tmp_path, "core.c", SOURCE, "-g")
    renamed = tmp_path / "renamed.o"
    renamed.write_bytes(rename(canonical.read_bytes(), NAMES))

    def relocations(path: Path) -> list[object]:
        groups = portable.readelf(path, "-r")["Relocations"]
        items = [(group["SectionIndex"], r["Relocation"]) for group in groups for r in group["Relocs"]]
        return [(index, r["Offset"], r["Type"]["Value"], r["Symbol"]["Value"], r["Addend"]) for index, r in items]

    assert relocations(renamed) == relocations(canonical)
    image = read(canonical.read_bytes())
    assert sum(s.name.startswith(".L0") for s in image.symbols) > 10
    assert [s._replace(name="") for s in read(renamed.read_bytes()).symbols] == [
        s._replace(name="") for s in image.symbols
    ]


def test_damage_never_escapes_as_anything_else() -> None:
    whole = em.Maker(
        type=1,
        sections=[em.Sec(".text.core", bytes(16), flags=6, align=16, relocations=[(4, 5, "in0", 8)])],
        symbols=[em.Sym("core", 0, 16, section=".text.core"), em.Sym("in0", section="")],
    ).build()
    rng = random.Random(1)
    renamed, refused = 0, 0
    for _ in range(3000):
        broken = bytearray(whole)
        for _ in range(rng.choice((1, 3))):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        try:
            rename(bytes(broken), NAMES)
            renamed += 1
        except ElfProblem:
            refused += 1
    assert min(renamed, refused) > 100
