"""A package by somebody else, installed as pip installs one: it wraps, replaces and adds, and can be left out."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aiecc.testing.kit import Ended, Project

REPO = Path(__file__).parents[2]
OUTSIDER = Path(__file__).parent / "outsider"
PLUGINS = tuple(f"outsider_{name}" for name in ("audit", "census", "firstfit", "frugal", "lab", "marks", "notes"))
pytestmark = pytest.mark.tools


def good(ended: Ended) -> Ended:
    assert ended.code == 0, ended.err
    return ended


def without(*names: str) -> list[str]:
    return [word for name in names for word in ("-p", f"no:{name}")]


def others(name: str) -> list[str]:
    """Options that leave only one of the plugins."""
    return without(*(n for n in PLUGINS if n != name))


def test_all_are_listed_with_their_place_in_line(project: Project) -> None:
    listed = good(project.aiecc("plugins")).out
    for name in PLUGINS:
        assert re.search(rf"^  {name} 2\.3  aiecc-outsider \(entry point\)  loaded  \(aiecc_\w+", listed, re.M), listed
    lines = {line.split()[0]: line.split(None, 3)[3] for line in listed.partition("stages\n")[2].splitlines()}
    assert lines["measure"] == "outsider_notes (wrapper) > measure (implementation)"
    assert lines["place"] == "outsider_firstfit (implementation) > place (fallback)"
    assert lines["check"] == "outsider_audit (wrapper) > check (implementation)"
    assert lines["census"] == "outsider_census (implementation)"
    brought = re.findall(r"^  (\w+) .*\n      brings (.*)$", listed, re.M)
    assert [each for each in brought if each[0] != "tpush"] == [
        ("outsider_census", "view census.txt, option --census-from"),
        ("outsider_frugal", "toolchain frugal"),
        ("outsider_lab", "device lab_board"),
        ("outsider_marks", "dialect lab, pass lab-count-marks"),
    ]


def test_each_can_be_left_out_unseen(project: Project) -> None:
    for name in PLUGINS:
        listed = good(project.aiecc("plugins", *without(name))).out
        assert re.search(rf"^  {name} .*  blocked$", listed, re.M), listed
        assert f"{name} (" not in listed.partition("stages\n")[2]
    code = (
        "import sys\nfrom aiecc.api import load_plugins\n"
        f"load_plugins({[f'no:{n}' for n in PLUGINS]!r})\n"
        "sys.exit(any(m.startswith('aiecc_outsider') for m in sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": sys.path[0]}
    assert subprocess.run([sys.executable, "-c", code], env=env, cwd=project.folder).returncode == 0


def test_wrapping_a_stage(project: Project) -> None:
    """The remark comes with every build, one that has nothing to do included, and goes with the plugin."""
    text = "remark: core (0, 2) wants 0 bytes of data and 0 bytes pinned to banks"
    only = others("outsider_notes")
    assert text in good(project.aiecc("design.mlir", *only)).err
    assert text in good(project.aiecc("design.mlir", *only)).err
    assert text not in good(project.aiecc("design.mlir", *without(*PLUGINS))).err


def addresses(project: Project, *args: str) -> dict[str, int]:
    good(project.aiecc("design.mlir", "--get=input_with_addresses.mlir", *args))
    text = project.read("input_with_addresses.mlir")
    found = re.findall(r'aie\.buffer\(.*?\) \{address = (\d+) : i32.*?sym_name = "(\w+)"', text)
    return {name: int(at) for at, name in found}


def test_replacing_a_stage(project: Project) -> None:
    """First fit puts four buffers of 1024 bytes behind a stack of 2048; our placer spreads them over the banks."""
    first = addresses(project, *others("outsider_firstfit"))
    assert first == {"in_ping": 2048, "in_pong": 3072, "out_ping": 4096, "out_pong": 5120}
    ours = addresses(project, *without(*PLUGINS))
    assert sorted(at // 0x4000 for at in ours.values()) == [0, 1, 2, 3]
    # And back: what one placer made is not taken for the other's.
    assert addresses(project, *others("outsider_firstfit")) == first


def test_replacing_a_stage_works_around_tables(project: Project) -> None:
    """Reservations for bank-pinned tables are extents like others: the figures of the design stay the same."""
    shutil.rmtree(project.folder)
    project.folder.mkdir()
    project.copy(REPO / "examples" / "banked_tables")
    ended = good(project.aiecc("design.mlir", "--get=report.json", *others("outsider_firstfit")))
    assert "error" not in ended.err
    import json

    tiles = json.loads(project.read("report.json"))["tiles"]
    assert {tile["solver"] for tile in tiles} == {"first fit"}
    for tile in tiles:
        at = {e["name"]: e["address"] for e in tile["extents"]}
        assert all(0x4000 <= a < 0x8000 for n, a in at.items() if n.startswith("history"))


def test_a_replacement_may_decline(project: Project) -> None:
    text = project.read("design.mlir").replace(
        "stack_size = 2048 : i32", "stack_size = 2048 : i32, stack_bank = 0 : i32"
    )
    project.write("design.mlir", text)
    at = addresses(project, *others("outsider_firstfit"))
    assert sorted(a // 0x4000 for a in at.values()) == [0, 1, 2, 3]


def test_a_replacement_may_refuse(project: Project) -> None:
    text = project.read("design.mlir").replace('sym_name = "in_ping"}', 'sym_name = "in_ping", mem_bank = 0 : i32}')
    text = text.replace("stack_size = 2048", "stack_size = 16000")
    project.write("design.mlir", text)
    ended = project.aiecc("design.mlir", *others("outsider_firstfit"))
    assert ended.code == 1
    assert ended.errors == ["design.mlir:8:16: error: first fit: no room for 'in_ping' on tile (0, 2)  [X0001]"]


def test_an_illegal_layout_is_not_believed(project: Project) -> None:
    project.write(
        "careless.py",
        "from aiecc.api import TileLayout, hookimpl, place_tiles\n\n"
        "def zero(tile):\n    return TileLayout({e.name: 0 for e in tile.extents}, 0)\n\n"
        "@hookimpl\ndef aiecc_place(lowered, measured):\n    return place_tiles(lowered, measured, zero)\n",
    )
    ended = project.aiecc("design.mlir", "-p", "careless.py", *without(*PLUGINS))
    assert ended.code == 70
    assert "a bug in plugin 'careless': ValueError: tile (0, 2) of device 'main': " in ended.err
    assert "overlaps the stack" in ended.err and not list(project.folder.glob("elfs_*"))


def test_adding_a_stage(project: Project) -> None:
    """Its artifact is there for --get, under its view's name and its own; its options are options like others."""
    good(project.aiecc("design.mlir", "--get=census.txt"))
    assert project.read("census.txt") == "main_core_0_2 4 4096\n"
    good(project.aiecc("design.mlir", "--get=census.txt", "--census-from=2000"))
    assert project.read("census.txt") == "main_core_0_2 0 0\n"
    good(project.aiecc("design.mlir", "--get=census"))
    assert '"count": 4' in project.read("census_main_core_0_2")
    graph = good(project.aiecc("--emit-dot", "--get=census.txt")).out
    assert '[label="census", style=filled' in graph
    plan = good(project.aiecc("design.mlir", "-n", "--get=census.txt")).out
    assert re.search(r"census +per core +census from placement  \[outsider_census\]", plan)


def test_a_stage_that_is_left_out(project: Project) -> None:
    ended = project.aiecc("design.mlir", "--get=census.txt", *without("outsider_census"))
    assert ended.code == 2 and "unknown output 'census.txt'" in ended.err
    ended = project.aiecc("design.mlir", "--census-from=1", *without("outsider_census"))
    assert ended.code == 2 and "Unknown command line argument '--census-from=1'." in ended.err


def test_bringing_a_check(project: Project) -> None:
    only = others("outsider_audit")
    ended = good(project.aiecc("design.mlir", *only))
    assert re.search(r"design\.mlir:25:13: warning: core \(0, 2\) has \d+ bytes of code already  \[X0102\]", ended.err)
    (project.folder / "elfs_main_core_0_2/elfs_main_core_0_2.elf").unlink()
    project.write("smooth.c", project.read("smooth.c") + "\nint big(int x) {\n" + "  x = x * 7 + (x >> 3) % 11;\n" * 200
                  + "  return x;\n}\n")  # fmt: skip
    text = project.read("smooth.c").replace("out[i] = mean_at", "out[i] = big(i) + mean_at")
    project.write("smooth.c", text.replace("static int32_t mean_at", "int big(int x);\nstatic int32_t mean_at"))
    ended = project.aiecc("design.mlir", *only)
    assert ended.code == 1
    assert re.search(
        r"design\.mlir:25:13: error: core \(0, 2\) has \d+ bytes of code, more than our 1024  \[X0101\]", ended.err
    )
    assert "todo: make it smaller, or leave us out: -p no:outsider_audit" in ended.err
    assert not list(project.folder.glob("elfs_*/*"))
    good(project.aiecc("design.mlir", *only, *without("outsider_audit")))


def test_bringing_a_toolchain(project: Project) -> None:
    doctor = project.aiecc("tools").out
    assert "frugal" in doctor and "portable, for size" in doctor
    assert "frugal" not in project.aiecc("tools", *without("outsider_frugal")).out
    ended = good(project.aiecc("design.mlir", "--toolchain=frugal", "-v", toolchain=None))
    assert "-Oz" in ended.out and "frugal_crt0" in ended.out
    ended = project.aiecc("design.mlir", "--toolchain=frugal", *without("outsider_frugal"), toolchain=None)
    assert ended.code == 2 and "unknown toolchain 'frugal'; known toolchains are: chess, llvm, peano" in ended.err


def test_bringing_a_device(project: Project) -> None:
    """Half the memory: what fits npu2 does not fit there, and the figures say which memory that is."""
    text = project.read("design.mlir").replace("aie.device(npu2)", "aie.device(lab_board)")
    project.write("design.mlir", text)
    only = others("outsider_lab")
    ended = good(project.aiecc("design.mlir", "--get=input_with_addresses.mlir,elfs_{0}.elf", *only))
    assert "/8192 " in ended.out and "/16384" not in ended.out.partition("program")[2].replace("/16384          ", "")
    assert "aie.device(lab_board)" in project.read("input_with_addresses.mlir")
    assert project.elf().startswith(b"\x7fELF")
    project.write("design.mlir", text.replace("stack_size = 2048", "stack_size = 30000"))
    ended = project.aiecc("design.mlir", *only)
    assert ended.code == 1 and "32768" in ended.err


def test_a_device_by_its_number(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The generic form names devices by number; what is printed so is read again."""
    from aiecc.cli import opt, translate

    project.write("lab.mlir", "aie.device(lab_board) {\n}\n")
    assert opt.run(["--mlir-print-op-generic", str(project.folder / "lab.mlir")]) == 0
    printed = capsys.readouterr().out
    assert "device = 1001 : i32" in printed
    generic = project.write("generic.mlir", printed)
    assert opt.run([str(generic)]) == 0
    assert "aie.device(lab_board)" in capsys.readouterr().out
    assert translate.run(["--aie-generate-target-arch", str(generic)]) == 0
    assert capsys.readouterr().out == "AIE2p\n"
    project.write("generic.mlir", printed.replace("1001", "1002"))
    assert opt.run([str(generic)]) == 1
    assert "maximum value is 16" in capsys.readouterr().err


def test_a_device_that_is_left_out(project: Project) -> None:
    project.write("design.mlir", project.read("design.mlir").replace("aie.device(npu2)", "aie.device(lab_board)"))
    ended = project.aiecc("design.mlir", *without("outsider_lab"))
    assert ended.code == 1 and len(ended.errors) == 1
    assert "for attribute 'device' [xcvc1902, " in ended.err and ", xcve3858, pto_a2a3, pto_a5]  [E0002]" in ended.err


MARKED = 'lab.mark "ask Ann about the window"\n'


def test_bringing_a_dialect_and_a_pass(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    from aiecc.cli import opt

    text = project.read("design.mlir")
    at = text.index("{", text.index("aie.device(npu2)")) + 1
    project.write("design.mlir", text[:at] + "\n    " + MARKED + text[at:])
    good(project.aiecc("design.mlir", "--get=input_with_addresses.mlir", *others("outsider_marks")))
    assert MARKED in project.read("input_with_addresses.mlir")
    assert opt.run(["--lab-count-marks=first=7", str(project.folder / "design.mlir")]) == 0
    assert 'lab.mark "ask Ann about the window" {number = 7 : i32}' in capsys.readouterr().out


def test_a_dialect_that_is_left_out(project: Project) -> None:
    project.write("design.mlir", "module {\n" + MARKED + "}\n")
    ended = project.aiecc("design.mlir", *without("outsider_marks"))
    assert ended.code == 1
    assert ended.errors == ["design.mlir:2:1: error: Dialect `lab' not found for custom op 'lab.mark'  [E0002]"]


def test_help_has_the_options_of_plugins(project: Project) -> None:
    said = good(project.aiecc("--help", toolchain=None)).out
    assert "what is counted (plugin 'outsider_census'):\n  --census-from BYTES       count only buffers" in said
    assert "census" not in good(project.aiecc("--help", *without("outsider_census"), toolchain=None)).out


def test_a_plugin_that_changes_is_asked_again(project: Project) -> None:
    """Its source is part of the cache key of the stages it stands in line at, and of no other."""
    file = project.write("mine.py", (OUTSIDER / "src" / "aiecc_outsider" / "notes.py").read_text())

    def ran() -> tuple[set[str], str]:
        command = [sys.executable, "-m", "aiecc", "design.mlir", "-p", "mine.py", "-v", "--toolchain=llvm"]
        done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stderr.splitlines() if line.startswith("aiecc: (")]
        return {line[2] for line in lines if line[3] == "ran"}, done.stderr

    assert {"main_core_0_2/measured", "main_core_0_2/object"} <= ran()[0]
    assert ran()[0] == {"tools"}
    file.write_text(file.read_text().replace("wants", "would like"))
    again, said = ran()
    # An equal product stops the wave: nothing is placed or linked again.
    assert again == {"tools", "main_core_0_2/measured"}
    assert "remark: core (0, 2) would like 0 bytes" in said


def test_as_a_user_runs_it(project: Project, installed: Path) -> None:
    """In a process of its own, all five at once."""
    env = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "aiecc", "design.mlir", "--toolchain=frugal", "--get=census.txt,elfs_{0}.elf"]
    done = subprocess.run(command, cwd=project.folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "remark: core (0, 2) wants" in done.stderr and "no Peano" not in done.stderr
    assert (project.folder / "census.txt").read_text() == "main_core_0_2 4 4096\n"
    assert project.elf().startswith(b"\x7fELF")


def test_the_package_uses_the_public_door_only() -> None:
    for file in (OUTSIDER / "src" / "aiecc_outsider").glob("*.py"):
        used = re.findall(r"^ *(?:from|import) (aiecc\b[\w.]*)", file.read_text(), re.M)
        assert set(used) <= {"aiecc.api"}, file.name
