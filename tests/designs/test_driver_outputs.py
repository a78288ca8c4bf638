"""What the driver writes, where, under which names, and how it tells."""

import hashlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from elf_facts import output

from aiecc.testing.kit import Project

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.tools


@pytest.fixture
def one_core(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "one_core")
    return made


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_the_default_is_the_core_elfs(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir")
    assert ran.code == 0, ran.err
    assert {f for f in files(one_core.folder) if ".prj/" not in f} == {
        "design.mlir",
        "smooth.c",
        "elfs_main_core_0_2/elfs_main_core_0_2.elf",
    }
    assert ran.err == ""
    table = ran.out.splitlines()
    assert table[0] == "main: 1 core, bytes used/available"
    assert re.match(r" \(0, 2\)   \d+/2048 ", table[-1])


def test_every_view_can_be_asked_for(one_core: Project) -> None:
    from aiecc.api import load_plugins, views

    names = list(views(load_plugins(["no:tpush"])))
    text = one_core.read("design.mlir")
    sequence = "    aie.runtime_sequence @run(%a: memref<8xi32>) {\n    }\n"
    one_core.write("design.mlir", sequence.join(text.rsplit("  }\n}", 1)[:1]) + sequence + "  }\n}\n")
    ran = one_core.aiecc("design.mlir", "--check-lut-banks", "--output-dir=all", *(f"--get={n}" for n in names))
    assert ran.code == 0, ran.err
    made = files(one_core.folder / "all")
    for name in names:
        stem = name.replace("{0}", "main_core_0_2")
        found = [f for f in made if Path(f).name in (stem, *(name.replace("{0}", n) for n in ("main", "main_run")))]
        # Two are for other builds: a BCF is Chess's, a prebaked ELF belongs to a core that comes linked.
        assert len(found) == (0 if name in ("{0}.bcf", "preBakedElfs_{0}.elf") else 1), name


def test_get_takes_lists_and_may_be_repeated(one_core: Project) -> None:
    ran = one_core.aiecc(
        "design.mlir", "--get=report.json,perCoreArches_{0}.txt", "-g", "input_with_symbols.mlir", "-output-dir=o"
    )
    assert ran.code == 0, ran.err
    assert files(one_core.folder / "o") == {"report.json", "perCoreArches_main_core_0_2.txt", "input_with_symbols.mlir"}
    assert one_core.read("o/perCoreArches_main_core_0_2.txt") == "aie2p\n"


def test_an_artifact_by_its_own_name(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir", "--get=measured", "--output-dir=o")
    assert ran.code == 0, ran.err
    (file,) = files(one_core.folder / "o")
    measured = json.loads(one_core.read(f"o/{file}"))
    assert measured["data"]["size"] == 0


def test_an_unknown_name_lists_all(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir", "--get=elfs")
    assert ran.code == 2
    assert "aiecc: --get: unknown output 'elfs'; known outputs are:" in ran.err
    listed = [line.strip() for line in ran.err.splitlines() if line.startswith("  ")]
    assert "elfs_{0}.elf" in listed and "measured_stack_sizes.mlir" in listed


@pytest.mark.parametrize(
    ("selector", "made"),
    [
        ("--get-input-with-addresses", "input_with_addresses.mlir"),
        ("--get-input-with-symbols", "input_with_symbols.mlir"),
    ],
)
def test_selectors(one_core: Project, selector: str, made: str) -> None:
    assert one_core.aiecc("design.mlir", selector, "--output-dir=o").code == 0
    assert files(one_core.folder / "o") == {made}


def test_an_unknown_selector_lists_all(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir", "--get-elves")
    assert ran.code == 2
    assert "aiecc: unknown output selector '--get-elves'; available selectors are:" in ran.err
    assert "  --get-core-elfs  (elfs_{0}.elf)" in ran.err


@pytest.mark.parametrize("option", ["--get-xclbin", "--placer=sa_placer", "--unified", "-I.", "--cut=a"])
def test_what_is_not_built_yet_is_refused_in_words(one_core: Project, option: str) -> None:
    ran = one_core.aiecc("design.mlir", option)
    assert ran.code == 2
    assert "which this version does not build yet" in ran.err and option.partition("=")[0][:2] in ran.err


@pytest.mark.parametrize(
    "args",
    [("-output-dir=o",), ("--output-dir", "o"), ("--verify-each=true", "--output-dir=o"), ("-O3", "--output-dir=o")],
)
def test_spellings(one_core: Project, args: tuple[str, ...]) -> None:
    assert one_core.aiecc("design.mlir", *args).code == 0
    assert len(files(one_core.folder / "o")) == 1


def test_an_unknown_option_has_a_nearest_name(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir", "--outputdir=o")
    assert ran.code == 2
    assert "Unknown command line argument '--outputdir=o'" in ran.err and "--output-dir" in ran.err


def test_folders(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir", "--output-dir=deep/er", "--tmpdir=elsewhere/work")
    assert ran.code == 0, ran.err
    assert (one_core.folder / "elsewhere" / "work").is_dir()
    assert not (one_core.folder / "design.mlir.prj").exists()
    assert files(one_core.folder / "deep") == {"er/elfs_main_core_0_2/elfs_main_core_0_2.elf"}


def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path) -> None:
    digests: list[dict[str, str]] = []
    for jobs in ("1", "8"):
        made = Project(tmp_path / jobs)
        made.copy(EXAMPLES / "banked_tables")
        ran = made.aiecc("design.mlir", f"-j{jobs}", "--get=elfs_{0}.elf,input_with_addresses.mlir,report.json")
        assert ran.code == 0, ran.err
        kept = (f for f in sorted(files(made.folder)) if ".prj/" not in f)
        digests.append({f: hashlib.sha256((made.folder / f).read_bytes()).hexdigest() for f in kept})
    assert digests[0] == digests[1]


def test_jobs_from_the_environment(one_core: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIECC_JOBS", "two")
    ran = one_core.aiecc("design.mlir")
    assert ran.code == 2
    assert (
        "aiecc: invalid AIECC_JOBS value 'two': expected a non-negative integer that fits in an unsigned value"
        in ran.err
    )
    monkeypatch.setenv("AIECC_JOBS", "1")
    assert one_core.aiecc("design.mlir").code == 0


def test_dot(one_core: Project) -> None:
    ran = one_core.aiecc("--emit-dot")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:3] == ["digraph aiecc {", "  rankdir=LR;", '  node [shape=box, fontname="monospace"];']
    boxes = {m[2]: m[1] for m in re.finditer(r'  (n\d+) \[label="(\w+)"', ran.out)}
    assert {"source", "lowered", "measured", "placement", "elf", "report"} <= set(boxes)
    assert f"  {boxes['measured']} -> {boxes['placement']};" in lines
    assert "lightblue" in ran.out
    smaller = one_core.aiecc("--emit-dot", "--get=input_with_symbols.mlir").out
    assert "placement" not in smaller and "lowered" in smaller


def test_intermediates_go_to_the_work_folder(one_core: Project) -> None:
    ran = one_core.aiecc("design.mlir", "--dump-intermediates")
    assert ran.code == 0, ran.err
    dumped = files(one_core.folder / "design.mlir.prj")
    assert {
        "input_with_symbols.mlir",
        "llvmIR_main_core_0_2.ll",
        "objects_main_core_0_2/objects_main_core_0_2.o",
    } <= dumped
    assert one_core.elf()
    assert not (one_core.folder / "report.json").exists()


def test_one_device_of_two(tmp_path: Path) -> None:
    made = Project(tmp_path)
    device = """  aie.device(npu2) @{name} {{
    %tile = aie.tile(0, {row})
    %buffer = aie.buffer(%tile) {{sym_name = "kept"}} : memref<64xi32>
    %core = aie.core(%tile) {{
      aie.end
    }}
  }}
"""
    parts = [device.format(name=n, row=r) for n, r in (("left", 2), ("right", 3), ("empty_left", 4))]
    made.write("design.mlir", "module {\n" + "".join(parts) + "}\n")
    both = made.aiecc("design.mlir", "--output-dir=both")
    assert both.code == 0, both.err
    assert {f.split("/")[0] for f in files(tmp_path / "both")} == {
        "elfs_left_core_0_2",
        "elfs_right_core_0_3",
        "elfs_empty_left_core_0_4",
    }
    assert [line for line in both.out.splitlines() if line.endswith("bytes used/available")] == [
        f"{n}: 1 core, bytes used/available" for n in ("left", "right", "empty_left")
    ]
    one = made.aiecc("design.mlir", "--device-name=left", "--output-dir=one")
    assert one.code == 0, one.err
    # Reset devices, whose names start with empty_, come along.
    assert {f.split("/")[0] for f in files(tmp_path / "one")} == {"elfs_left_core_0_2", "elfs_empty_left_core_0_4"}


@pytest.mark.parametrize("example", ["one_core", "banked_tables"])
def test_commands_replayed_elsewhere_give_the_same_bytes(tmp_path: Path, example: str) -> None:
    made = Project(tmp_path / "project")
    made.copy(EXAMPLES / example)
    assert made.aiecc("design.mlir").code == 0
    ran = made.aiecc("design.mlir", "--print-commands")
    assert ran.code == 0 and ran.out.startswith("#!/bin/sh")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(["sh", "-s"], input=ran.out, cwd=empty, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = sorted(made.folder.glob("elfs_*/*.elf"))
    assert built
    for elf in built:
        assert (empty / elf.name).read_bytes() == elf.read_bytes()


def test_verbose_says_what_runs_and_why(one_core: Project) -> None:
    first = one_core.aiecc("design.mlir", "-v")
    assert "aiecc: exec: " in first.out and "first build" in first.err
    again = one_core.aiecc("design.mlir", "-v")
    assert "aiecc: exec: " not in again.out and " hit" in again.err


def test_profile(one_core: Project) -> None:
    said = one_core.aiecc("design.mlir", "--profile").err
    assert "aiecc: profile (per-edge execution time):" in said and said.rstrip().endswith("total")


def test_a_status_line_on_a_terminal_only(one_core: Project) -> None:
    command = [sys.executable, "-m", "aiecc", "design.mlir", "--toolchain=llvm"]
    piped = subprocess.run(command, cwd=one_core.folder, capture_output=True, text=True, check=True)
    assert "\r" not in piped.stdout + piped.stderr and "\033" not in piped.stdout + piped.stderr
    for more, seen in (([], True), (["--no-progress"], False)):
        here, there = pty.openpty()
        line = [*command, f"--tmpdir=t{seen}", *more]
        subprocess.run(line, cwd=one_core.folder, stderr=there, stdout=subprocess.DEVNULL, check=True)
        os.close(there)
        text = b""
        try:
            while block := os.read(here, 65536):
                text += block
        except OSError:
            pass  # Linux says so when the other end is closed
        os.close(here)
        assert (b"/" in text and b"\r(" in text) == seen, text


def test_the_stack_is_the_sum_along_the_chain(one_core: Project) -> None:
    """The figure against llvm-readelf's frames, added by hand; __start counts 0."""
    ran = one_core.aiecc("design.mlir", "--get=measured_stack_sizes.mlir,elfs_{0}.elf")
    assert ran.code == 0, ran.err
    frames: dict[str, int] = {}
    for line in output("llvm-readelf", "--stack-sizes", data=one_core.elf()).splitlines():
        words = line.replace(",", " ").split()
        if words and words[0].isdigit():
            frames.update(dict.fromkeys(words[1:], int(words[0])))
    need = frames["_main_init"] + frames["core_0_2"] + frames["smooth"]
    assert f"measured_stack_size = {need} : i32" in one_core.read("measured_stack_sizes.mlir")
    text = one_core.read("design.mlir")
    one_core.write("less.mlir", text.replace("stack_size = 2048", f"stack_size = {need - 1}"))
    short = one_core.aiecc("less.mlir")
    assert short.code == 1
    assert f"stack_size = {need - 1} is insufficient: this core needs {need} bytes" in short.err
    one_core.write("enough.mlir", text.replace("stack_size = 2048", f"stack_size = {need}"))
    assert one_core.aiecc("enough.mlir").code == 0
