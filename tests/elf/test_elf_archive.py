"""Archives of every naming scheme, against llvm-ar, and what is wrong with a link file."""

from __future__ import annotations

import random
from pathlib import Path

import elfmaker as em
import portable
import pytest

from aiecc.base.diag import Diagnostic
from aiecc.elf.archive import Content, Member, members, sniff
from aiecc.elf.inputs import LinkFile, check_input, objects
from aiecc.elf.read import ElfProblem, read
from aiecc.model.ids import CoreId

CORE = CoreId("main", 0, 2)


def header(name: str, size: int) -> bytes:
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{size:<10}`\n".encode()


def common(*parts: tuple[str, bytes]) -> bytes:
    return b"!<arch>\n" + b"".join(header(n, len(b)) + b + b"\n" * (len(b) % 2) for n, b in parts)


def test_gnu_names_and_tables() -> None:
    names = b"a_rather_long_member_name.o/\nsub/another_long_member_name.o/\n"
    data = common(("/", b"\0\0\0\0"), ("//", names), ("short.o/", b"abc"), ("/0", b"12"), ("/29", b"x"))
    assert members(data) == (
        Member("short.o", b"abc"),
        Member("a_rather_long_member_name.o", b"12"),
        Member("sub/another_long_member_name.o", b"x"),
    )


def test_bsd_names_and_tables() -> None:
    name = b"a_rather_long_member_name.o\0"
    data = common(("#1/20", b"__.SYMDEF SORTED\0\0\0\0payload"), (f"#1/{len(name)}", name + b"body"), ("k.o", b"yy"))
    assert members(data) == (Member("a_rather_long_member_name.o", b"body"), Member("k.o", b"yy"))


def test_thin_archives_are_read_from_their_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "k.o").write_bytes(b"content")
    data = b"!<thin>\n" + header("//", 12) + b"inner/k.o/\n\n" + header("/0", 7)
    assert members(data, tmp_path) == (Member("inner/k.o", b"content"),)
    (tmp_path / "inner" / "k.o").unlink()
    with pytest.raises(ElfProblem, match=r"member 'inner/k\.o' of the thin archive cannot be read: No such file"):
        members(data, tmp_path)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"!<arch>\n", "the archive has no members"),
        (common(("/", b"abcd")), "the archive has no members"),
        (common(("__.SYMDEF", b"abcd")), "the archive has no members"),
        (b"!<thin>\n", "the archive has no members"),
        (common(("k.o/", b"abcdef"))[:-3], "the archive is cut short: member 'k.o/' ends at byte 74 of 71"),
        (b"!<arch>\nnonsense", "the archive is damaged at byte 8: no member header there"),
        (
            common(("k.o/", b"ab")).replace(b"2         `", b"x         `"),
            "the archive is damaged at byte 8: a member's",
        ),
        (common(("/9", b"ab")), "the archive is damaged: member name /9 lies outside the name table"),
        (b"plain", "not an archive"),
    ],
)
def test_damaged_archives(data: bytes, reason: str) -> None:
    with pytest.raises(ElfProblem) as caught:
        members(data)
    assert str(caught.value).startswith(reason)


@pytest.mark.tools
@pytest.mark.parametrize("form", ["gnu", "bsd", "darwin", "thin"])
def test_agrees_with_llvm_ar(tmp_path: Path, form: str) -> None:
    names = ["k.o", "odd.o", "a_name_that_needs_the_long_name_table.o"]
    for i, name in enumerate(names):
        portable.compile_text(tmp_path, f"s{i}.c", f"int f{i}(int x) {{ return x + {i}; }}").rename(tmp_path / name)
    archive = tmp_path / "lib.a"
    flags = ["--thin"] if form == "thin" else [f"--format={form}"]
    portable.run(portable.wheel("llvm") / "bin" / "llvm-ar", "rcs", *flags, archive, *names, cwd=tmp_path)
    found = members(archive.read_bytes(), tmp_path)
    assert [m.name for m in found] == names
    for member in found:
        # Some writers pad a member to its alignment; an ELF file does not mind a tail of newlines.
        want = (tmp_path / member.name).read_bytes()
        assert member.data.rstrip(b"\n\0") == want.rstrip(b"\n\0")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (em.Maker(type=1).build(), Content.OBJECT),
        (em.Maker(type=1, little=False).build(), Content.OBJECT),
        (em.Maker(type=2).build(), Content.LINKED),
        (b"!<arch>\n", Content.ARCHIVE),
        (b"!<thin>\n", Content.ARCHIVE),
        (b"BC\xc0\xde rest", Content.BITCODE),
        (b"\xde\xc0\x17\x0b rest", Content.BITCODE),
        (b"define void @f() { ret void }", Content.TEXT),
        (b"// " + "ü".encode() * 3000, Content.TEXT),
        (b"\x00\x01", Content.UNKNOWN),
        (b"\xff\xfe\x80", Content.UNKNOWN),
        (b"", Content.UNKNOWN),
    ],
)
def test_sniffing_goes_by_content(data: bytes, kind: Content) -> None:
    assert sniff(data) is kind


OBJECT = em.Maker(type=1, sections=[em.Sec(".text", bytes(8), flags=em.ALLOC | em.EXEC)], symbols=[em.Sym("f", 0, 8)])


def problem(data: bytes, name: str = "kernel.o", like: bytes | None = None) -> Diagnostic | None:
    return check_input(LinkFile(name, data), CORE, None, None if like is None else read(like))


def test_good_inputs_pass() -> None:
    data = OBJECT.build()
    assert problem(data) is None
    assert problem(data, like=data) is None
    assert problem(common(("k.o/", data)), "lib.a", data) is None
    assert problem(b"BC\xc0\xde", "k.bc", data) is None


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "kernel.o", "the file is empty"),
        (b"!<arch>\n", "lib.a", "the archive has no members"),
        (OBJECT.build()[:200], "kernel.o", "the file is cut short: its section table ends at byte"),
        (em.Maker(type=2).build(), "kernel.o", "it is a linked ELF, not an object"),
        (b"\0\1\2", "kernel.o", "it is neither an object, an archive nor bitcode"),
        (b"int f(void);", "kernel.o", "it is neither an object, an archive nor bitcode"),
        (
            em.Maker(type=1, machine=em.X86_64, word=8).build(),
            "kernel.o",
            "kernel.o is built for x86-64, this core for",
        ),
        (
            common(("x.o/", em.Maker(type=1, machine=40).build())),
            "l.a",
            "l.a(x.o) is built for ARM, this core for RISC-V",
        ),
    ],
)
def test_bad_inputs_are_named(data: bytes, name: str, why: str) -> None:
    found = problem(data, name, OBJECT.build())
    assert found is not None
    assert found.text.startswith(f"link file '{name}' cannot be used: {why}")
    assert found.code == "E0702"
    assert found.notes[0].text == "core (0, 2) links it"


def test_aie_generations_are_different_machines() -> None:
    aie2, aie2p = (em.Maker(type=1, machine=em.AIE, flags=f).build() for f in (2, 3))
    found = problem(aie2, like=aie2p)
    assert found is not None
    assert found.text.endswith("kernel.o is built for AIE (aie2), this core for AIE (aie2p)")
    assert problem(aie2p, like=aie2p) is None


def test_textual_ir_is_refused_in_the_specified_words() -> None:
    text = (
        "aiecc: link file '{}' on core (0, 2) is textual LLVM IR, which ld.lld cannot link (it reads unrecognized "
        'inputs as linker scripts and fails with "malformed number"). Add link_with_mode = "merge" to the kernel '
        "declaration so aiecc llvm-links it into the core, or assemble it to bitcode (.bc) or an object (.o)."
    )
    found = problem(b"; ModuleID = 'k'\n", "kernel.o")
    assert found is not None
    assert found.text == text.format("kernel.o")
    named = problem(b"whatever", "kernel.ll")
    assert named is not None
    assert named.text == text.format("kernel.ll")


def test_objects_of_archives_carry_both_names() -> None:
    data = OBJECT.build()
    found = objects(
        [
            LinkFile("kernel.o", data),
            LinkFile("lib.a", common(("a.o/", data), ("broken.o/", data[:100]))),
            LinkFile("thin.a", b"!<thin>\n", (Member("t.o", data),)),
            LinkFile("notes.txt", b"text"),
        ]
    )
    assert [o.name for o in found] == ["kernel.o", "lib.a(a.o)", "thin.a(t.o)"]


def test_damage_never_escapes_as_anything_else() -> None:
    names = ("//", b"a_rather_long_member_name.o/\n")
    whole = common(("/", b"\0\0\0\0"), names, ("short.o/", b"abc"), ("/0", b"12"), ("#1/4", b"ab\0\0x"))
    rng = random.Random(1)
    read_, refused = 0, 0
    for _ in range(3000):
        broken = bytearray(whole)
        for _ in range(rng.choice((1, 3))):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        try:
            members(bytes(broken))
            read_ += 1
        except ElfProblem as e:
            assert "\n" not in str(e)
            refused += 1
    assert min(read_, refused) > 100
