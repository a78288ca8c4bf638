"""Kernels that do not compile, link files and prebuilt cores that are none."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from refusekit import KERNEL, PREBUILT, design, refused, run

from aiecc.testing.kit import Project

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """An object, an x86 object, an archive and a linked core."""
    made = Project(tmp_path_factory.mktemp("built") / "project")
    made.write("k.c", KERNEL)
    made.object("k.c", "k.o")
    native = [sys.executable, "-m", "ziglang", "clang", "-target", "x86_64-linux-gnu", "-c", "k.c", "-o", "x86.o"]
    subprocess.run(native, cwd=made.folder, check=True, capture_output=True)
    made.write("design.mlir", design())
    ended = made.aiecc("design.mlir")
    assert ended.code == 0, ended.err
    objects = {name: (made.folder / name).read_bytes() for name in ("k.o", "x86.o")}
    return {**objects, "core.elf": made.elf()}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def told(project: Project, name: str, content: bytes, *, merge: bool = False) -> str:
    text = design(kernel=name, merge=merge)
    return refused(project, "design.mlir", files={name: content, "design.mlir": text}).err


def test_a_kernel_that_does_not_compile(project: Project) -> None:
    said = told(project, "k.c", b"void k(int *b) { b[0] = ; }\n")
    assert f"design.mlir:5:5: error: aiecc: kernel '{project.folder / 'k.c'}' does not compile  [E0701]" in said
    assert f"{project.folder / 'k.c'}:1:25: error: expected expression" in said
    assert "note: command: " in said


def test_a_header_that_is_missing_then_there(project: Project) -> None:
    """A failure is not kept: once the header exists, the build goes on."""
    text = b'#include "gone.h"\nvoid k(int *b) { b[0] = GONE; }\n'
    assert "fatal error: 'gone.h' file not found" in told(project, "k.c", text)
    project.write("gone.h", "#define GONE 7\n")
    assert run(project, "design.mlir").code == 0


def test_two_kernels_that_do_not_compile_are_both_told(project: Project) -> None:
    text = design().replace("    %core", '    func.func private @m() attributes {link_with = "m.c"}\n    %core')
    text = text.replace("      aie.end", "      func.call @m() : () -> ()\n      aie.end")
    files = {"design.mlir": text, "k.c": "void k(int *b) { oh }\n", "m.c": "void m( {}\n"}
    ended = run(project, "design.mlir", files=files)
    assert ended.code == 1
    assert [e.split(": error")[0] for e in ended.errors] == ["design.mlir:5:5", "design.mlir:6:5"]


def test_a_kernel_without_the_function(project: Project) -> None:
    said = told(project, "k.c", b"void other(void) {}\n")
    assert "design.mlir:6:13: error: undefined symbol: k  [E0601]" in said
    assert "todo: name the file that defines it: link_with on func.func @k" in said


def test_a_function_under_its_cxx_name(project: Project) -> None:
    said = told(project, "k.cc", b"void k(int *b) { b[0] = 1; }\n")
    assert 'todo: declare k extern "C" in its source' in said and "k.cc defines _Z1kPi" in said


def test_an_object_of_another_machine(project: Project, built: dict[str, bytes]) -> None:
    said = told(project, "k.o", built["x86.o"])
    assert (
        "design.mlir:5:5: error: link file 'k.o' cannot be used: k.o is built for x86-64, this core for RISC-V" in said
    )
    assert "note: core (0, 2) links it" in said


def test_a_linked_program_is_no_link_file(project: Project, built: dict[str, bytes]) -> None:
    said = told(project, "k.o", built["core.elf"])
    assert "design.mlir:5:5: error: link file 'k.o' cannot be used: it is a linked ELF, not an object" in said


@pytest.mark.parametrize("length", [0, 2, 4, 20, 51, 52, 60, 300, 500, -1])
def test_an_object_cut_in_the_middle(project: Project, built: dict[str, bytes], length: int) -> None:
    said = told(project, "k.o", built["k.o"][:length])
    assert "design.mlir:5:5: error: link file 'k.o' cannot be used: " in said
    why = {0: "the file is empty", 2: "it is neither an object, an archive nor bitcode", 4: "header is damaged"}
    assert why.get(length, "the file is cut short") in said


@pytest.mark.parametrize("magic", ["!<arch>\n", "!<thin>\n"])
def test_an_archive_without_members(project: Project, magic: str) -> None:
    assert "design.mlir:5:5: error: aiecc: link file" in (said := told(project, "k.a", magic.encode()))
    assert "cannot be used: the archive has no members  [E0702]" in said


def test_an_archive_cut_in_the_middle(project: Project) -> None:
    said = told(project, "k.a", b"!<arch>\nk.o/            0     0     0     644     9")
    assert "design.mlir:5:5: error: aiecc: link file" in said and "the archive is damaged at byte 8" in said


def test_a_thin_archive_whose_member_is_gone(project: Project) -> None:
    header = b"k.o/            0           0     0     644     900       `\n"
    said = told(project, "k.a", b"!<thin>\n" + header)
    assert "member 'k.o' of the thin archive cannot be read: No such file or directory" in said


def test_text_that_is_no_object(project: Project) -> None:
    said = told(project, "k.o", b"not at all\n")
    assert (
        "design.mlir:5:5: error: link file 'k.o' cannot be used: it is neither an object, an archive nor bitcode"
        in said
    )


def test_textual_ir_among_link_files(project: Project) -> None:
    said = told(project, "k.ll", b"define void @k(ptr %b) {\n  ret void\n}\n")
    assert (
        "error: aiecc: link file 'k.ll' on core (0, 2) is textual LLVM IR, which ld.lld cannot link (it reads "
        'unrecognized inputs as linker scripts and fails with "malformed number"). Add link_with_mode = "merge" to the '
        "kernel declaration so aiecc llvm-links it into the core, or assemble it to bitcode (.bc) or an object (.o)."
    ) in said


def test_merged_ir_that_is_none(project: Project) -> None:
    said = told(project, "k.ll", b"define void @k(ptr %b) {\n  rt void\n}\n", merge=True)
    assert (
        'design.mlir:5:5: error: aiecc: peano-linked: cannot merge link_with_mode = "merge" artifacts into the core '
        "module  [E0702]"
    ) in said
    assert "note: merged here: k.ll" in said and "expected instruction opcode" in said


def test_merged_bitcode_that_is_damaged(project: Project) -> None:
    said = told(project, "k.bc", b"BC\xc0\xde12345678", merge=True)
    assert "design.mlir:5:5: error: aiecc: peano-linked: cannot read merge-mode link artifact 'k.bc': " in said


@pytest.mark.parametrize(("name", "what"), [("k.o", "an object"), ("core.elf", "a linked ELF")])
def test_merged_objects(project: Project, built: dict[str, bytes], name: str, what: str) -> None:
    said = told(project, name, built[name], merge=True)
    text = f"cannot read merge-mode link artifact '{name}': it is {what}, not LLVM IR"
    assert f"design.mlir:5:5: error: aiecc: peano-linked: {text}" in said


def test_a_merged_kernel_without_the_function(project: Project) -> None:
    said = told(project, "k.ll", b"define void @other(ptr %b) {\n  ret void\n}\n", merge=True)
    assert "design.mlir:6:13: error: undefined symbol: k  [E0601]" in said


# -- cores built ahead of time -------------------------------------------------------------------------------------


def prebuilt(project: Project, content: bytes | None) -> str:
    files: dict[str, str | bytes] = {"design.mlir": PREBUILT}
    if content is not None:
        files["core.elf"] = content
    return refused(project, "design.mlir", files=files).err


def test_no_prebuilt_file(project: Project) -> None:
    said = prebuilt(project, None)
    assert "design.mlir:4:13: error: aiecc: elf_file 'core.elf' of core (0, 2) not found  [E0702]" in said
    assert f"note: looked for {project.folder / 'core.elf'}" in said


def test_a_prebuilt_folder(project: Project) -> None:
    (project.folder / "core.elf").mkdir()
    assert "design.mlir:4:13: error: aiecc: elf_file 'core.elf' of core (0, 2) not found" in prebuilt(project, None)


@pytest.mark.parametrize("share", [0, 1, 3, 10, 200, 500, 999])
def test_a_prebuilt_core_cut_in_the_middle(project: Project, built: dict[str, bytes], share: int) -> None:
    data = built["core.elf"]
    said = prebuilt(project, data[: len(data) * share // 1000])
    assert "design.mlir:4:13: error: aiecc: elf_file 'core.elf' of core (0, 2) cannot be used: " in said
    assert any(word in said for word in ("the file is empty", "cut short", "header is damaged"))


def test_prebuilt_files_that_are_no_cores(project: Project, built: dict[str, bytes]) -> None:
    for content, why in (
        (b"just text\n", "not an ELF file"),
        (built["k.o"], "it is an object, not a linked core"),
        (built["x86.o"], "it is an object, not a linked core"),
        (built["core.elf"].replace(b"\xf3\x00", b"\x3e\x00", 1), "it is built for x86-64, which no core is"),
    ):
        said = prebuilt(project, content)
        assert f"design.mlir:4:13: error: aiecc: elf_file 'core.elf' of core (0, 2) cannot be used: {why}" in said


def test_a_good_prebuilt_core_is_taken_as_it_is(project: Project, built: dict[str, bytes]) -> None:
    ended = run(project, "design.mlir", files={"design.mlir": PREBUILT, "core.elf": built["core.elf"]})
    assert ended.code == 0, ended.err
    assert project.elf() == built["core.elf"]


def test_bytes_of_a_prebuilt_core_changed_at_random(built: dict[str, bytes]) -> None:
    """Whatever a damaged ELF says, it is refused as damaged, or what is read of it can be worked with."""
    from aiecc.elf import checks, data, program, stack
    from aiecc.elf.read import ElfProblem, read_linked
    from aiecc.model.design import CoreFacts
    from aiecc.model.ids import CoreId

    moves = random.Random(7)
    refused = 0
    for _ in range(800):
        content = bytearray(built["core.elf"])
        for _ in range(moves.choice((1, 1, 2, 8))):
            # Headers and tables lie at both ends; they are where damage hurts.
            at = moves.choice(
                (moves.randrange(64), moves.randrange(len(content)), len(content) - 1 - moves.randrange(900))
            )
            content[at] = moves.choice((0, 0xFF, content[at] ^ 1, moves.randrange(256)))
        try:
            image = read_linked(bytes(content))
        except ElfProblem as problem:
            assert str(problem) and "\n" not in str(problem)
            refused += 1
            continue
        need = stack.analyse(image, {}, path="core.elf")
        checks.check_stack(CoreFacts(CoreId("main", 0, 2)), need, default=1024)
        data.prebuilt_ranges(image, 0x70000, 0x10000)
        program.program_size(image)
    assert 50 < refused < 750


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="only others than root are refused")
def test_a_link_file_that_may_not_be_read(project: Project, built: dict[str, bytes]) -> None:
    project.write("k.o", built["k.o"]).chmod(0)
    project.write("design.mlir", design(kernel="k.o"))
    ended = project.aiecc("design.mlir")
    assert ended.code == 1 and "Permission denied" in ended.err
