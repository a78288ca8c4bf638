"""Tools that are missing, fail, shout, are killed, or make nothing: stand-in scripts in a toolchain of ours."""

import os
from pathlib import Path

import pytest
from refusekit import KERNEL, broken_toolchain, design, refused, run

from aiecc.testing.kit import Ended, Project

pytestmark = [pytest.mark.tools, pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")]

LAST_ARGUMENT = "for a; do :; done; "


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    made.write("k.c", KERNEL)
    made.write("design.mlir", design())
    monkeypatch.setenv("AIECC_TEST_BROKEN", str(tmp_path / "aside" / "tools"))
    return made


def broken(project: Project, code: int = 3, **scripts: str) -> Ended:
    names = {"lld": "ld.lld", "opt": "mlir-opt", "translate": "mlir-translate", "clang": "clang"}
    options = broken_toolchain(project.folder.parent / "aside", {names[n]: s for n, s in scripts.items()})
    return refused(project, "design.mlir", *options, code=code, toolchain=None)


def test_the_toolchain_of_these_tests_works(project: Project) -> None:
    options = broken_toolchain(project.folder.parent / "aside", {})
    ended = run(project, "design.mlir", *options, toolchain=None)
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("tool", ["opt", "translate"])
def test_a_tool_that_fails(project: Project, tool: str) -> None:
    ended = broken(project, **{tool: "echo no luck >&2; exit 7"})
    name = {"opt": "mlir-opt", "translate": "mlir-translate"}[tool]
    assert f"aiecc: '{name}' failed: exited with code 7" in ended.errors[0] and "[E0802]" in ended.errors[0]
    assert ended.errors[0].startswith("design.mlir:6:13: error: core (0, 2) cannot be lowered to LLVM IR: ")
    assert "note: the tool said:\n    no luck" in ended.err and "note: command: " in ended.err


def test_a_compiler_that_fails(project: Project) -> None:
    options = broken_toolchain(project.folder.parent / "aside", {"clang": "echo no luck; exit 5"})
    ended = run(project, "design.mlir", *options, toolchain=None)
    assert ended.code == 3
    assert "error: aiecc: 'clang' failed: exited with code 5  [E0802]" in ended.err  # the start-up code
    assert f"error: aiecc: kernel '{project.folder / 'k.c'}' does not compile  [E0701]" in ended.err


def test_a_linker_that_fails(project: Project) -> None:
    ended = broken(project, 1, lld="echo no luck; exit 5")
    assert ended.errors[0] == "design.mlir:6:13: error: the link of core (0, 2) failed: no luck  [E0601]"


@pytest.mark.parametrize("signal", ["KILL", "SEGV", "TERM"])
@pytest.mark.parametrize("tool", ["opt", "clang", "lld"])
def test_a_tool_that_is_killed(project: Project, tool: str, signal: str) -> None:
    ended = broken(project, **{tool: f"kill -{signal} $$; sleep 5"})
    name = {"opt": "mlir-opt", "clang": "clang", "lld": "ld.lld"}[tool]
    hint = " (out of memory?)" if signal == "KILL" else ""
    assert f"aiecc: '{name}' failed: was killed by SIG{signal}{hint}  [E0802]" in ended.errors[0]


def test_a_tool_that_prints_megabytes(project: Project) -> None:
    """What is shown is what a person reads: the beginning and the end."""
    shout = "yes 'all is lost, and lost again, and then some more' | head -n 100000; echo the end; exit 1"
    ended = broken(project, opt=shout)
    assert len(ended.err) < 20000
    assert "    all is lost" in ended.err and "lines left out ..." in ended.err
    assert "    the end" in ended.err


def test_one_endless_line(project: Project) -> None:
    ended = broken(project, opt="head -c 3000000 /dev/zero | tr '\\0' x; exit 1")
    assert len(ended.err) < 20000


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("opt", "'mlir-opt' failed: it made no 'lowered.mlir'"),
        ("translate", "'mlir-translate' failed: it made no 'cores.ll'"),
        ("lld", "'ld.lld' failed: it made no 'core.elf'"),
    ],
)
def test_a_tool_that_makes_nothing(project: Project, tool: str, text: str) -> None:
    said = broken(project, **{tool: "exit 0"}).errors[0]
    # What mlir-opt did not write, mlir-translate cannot open.
    assert text in said or "'mlir-translate' failed: exited with code 1" in said


def test_a_compiler_that_makes_nothing(project: Project) -> None:
    options = broken_toolchain(project.folder.parent / "aside", {"clang": "exit 0"})
    ended = run(project, "design.mlir", *options, toolchain=None)
    assert ended.code == 3
    assert "error: aiecc: 'clang' failed: it made no 'crt0.o'  [E0802]" in ended.err
    assert "design.mlir:5:5: error: aiecc: 'clang' failed: it made no 'k.c.o'  [E0802]" in ended.err


@pytest.mark.parametrize(("tool", "code"), [("opt", 3), ("translate", 3), ("clang", 3), ("lld", 3)])
def test_a_tool_that_makes_rubbish(project: Project, tool: str, code: int) -> None:
    """No traceback, whatever a tool leaves behind."""
    ended = broken(project, code, **{tool: LAST_ARGUMENT + "head -c 1000 /dev/urandom > $a"})
    assert "[E0802]" in ended.errors[0]


def test_a_tool_that_is_no_program(project: Project) -> None:
    options = broken_toolchain(project.folder.parent / "aside", {"ld.lld": "exit 0"})
    (project.folder.parent / "aside/tools/bin/ld.lld").write_bytes(b"\x7fELFnot really")
    ended = refused(project, "design.mlir", *options, code=3, toolchain=None)
    assert "aiecc: 'ld.lld' failed: it cannot be started: " in ended.errors[0]


def test_a_tool_that_is_missing(project: Project) -> None:
    options = broken_toolchain(project.folder.parent / "aside", {})
    file = project.folder.parent / "aside/chains/broken.toml"
    text = file.read_text()
    start = text.index("[tools.mlir-translate]")
    end = text.index("[tools.", start + 5)
    gone = '[tools.mlir-translate]\nwhat = "writes LLVM IR"\nplaces = [{ path = ["no-such-tool"] }]\n\n'
    file.write_text(text[:start] + gone + text[end:])
    ended = refused(project, "design.mlir", *options, code=3, toolchain=None)
    assert "tool 'mlir-translate' not found" in ended.errors[0] and "[E0801]" in ended.errors[0]
    assert "no-such-tool" in ended.err
    doctor = project.aiecc("tools", options[0])
    assert "no-such-tool" in doctor.out and "mlir-translate" in doctor.out


def test_a_tool_that_goes_away_between_two_builds(project: Project) -> None:
    """What it made is known, so nothing is missed; once it is needed again, its absence is told."""
    options = broken_toolchain(project.folder.parent / "aside", {})
    assert run(project, "design.mlir", *options, toolchain=None).code == 0
    broken(project, lld="exit 3", code=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "toolchain file"),
        ('name = "broken"\nfrobnicate = 1\n', "frobnicate"),
        ("\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_toolchain_files_that_are_none(project: Project, text: str, message: str) -> None:
    chains = project.folder.parent / "mine"
    chains.mkdir()
    (chains / "mine.toml").write_bytes(text.encode("latin-1"))
    ended = run(project, "design.mlir", f"--toolchain-dir={chains}", "--toolchain=mine", toolchain=None)
    assert ended.code in (2, 3) and message in ended.err
    assert len(ended.errors) == 1, ended.err


def test_a_toolchain_that_can_do_nothing(project: Project) -> None:
    chains = project.folder.parent / "mine"
    chains.mkdir()
    (chains / "mine.toml").touch()
    ended = run(project, "design.mlir", f"--toolchain-dir={chains}", "--toolchain=mine", toolchain=None)
    assert ended.code == 3 and "error: toolchain 'mine' cannot do 'mlir_opt'  [E0801]" in ended.err


def test_toolchains_that_are_not_there(project: Project) -> None:
    ended = refused(project, "design.mlir", code=2, toolchain="gcc")
    assert "aiecc: unknown toolchain 'gcc'; known toolchains are: chess, llvm, peano  [E0803]" in ended.err
    ended = refused(project, "design.mlir", "--toolchain-dir=nowhere", code=2)
    assert "aiecc: toolchain directory does not exist: nowhere  [E0803]" in ended.err
