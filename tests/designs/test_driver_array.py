"""The whole npu2 array: 32 cores, 32 kernels. One cold build, looked at from all sides, in one test: it is the only
build here that takes seconds, and workers of the suite share nothing."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from aiecc.testing.kit import Project

EXAMPLES = Path(__file__).parents[2] / "examples"
CORES = [f"main_core_{col}_{row}" for col in range(8) for row in range(2, 6)]


def elfs(project: Project) -> dict[str, bytes]:
    return {core: project.elf(core) for core in CORES}


@pytest.mark.tools
def test_the_whole_array(tmp_path: Path) -> None:
    array = Project(tmp_path / "project")
    array.copy(EXAMPLES / "array")
    built = array.aiecc("design.mlir", "--print-commands", "--get=elfs_{0}.elf,report.json")
    assert built.code == 0, built.err
    good = elfs(array)
    check_every_core_is_its_own(array, good)
    check_commands_replayed_elsewhere(built.out, good, tmp_path / "elsewhere")
    check_one_kernel_changed(array, good)
    check_bad_cores_stop_no_other(array, good)


def check_every_core_is_its_own(array: Project, good: dict[str, bytes]) -> None:
    assert len(set(good.values())) == 32
    report = json.loads(array.read("report.json"))
    assert [c["core"] for c in report["cores"]] == CORES
    assert all(c["stack"]["exact"] and c["stack"]["needed"] <= c["stack"]["reserved"] for c in report["cores"])
    assert len(list(array.folder.glob("elfs_*/*.elf"))) == 32


def check_commands_replayed_elsewhere(script: str, good: dict[str, bytes], empty: Path) -> None:
    """The same bytes, from an empty folder. One process each of the MLIR tools for all cores."""
    empty.mkdir()
    done = subprocess.run(["sh", "-s"], input=script, cwd=empty, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {core: (empty / f"elfs_{core}.elf").read_bytes() for core in CORES} == good
    for tool in ("mlir-opt", "mlir-translate"):
        assert len(re.findall(rf"^\S*/{tool} ", script, re.M)) == 1


def check_one_kernel_changed(array: Project, good: dict[str, bytes]) -> None:
    """Only its core is compiled and linked again. Of a variable that nobody reads nothing is left in the end."""
    before = array.read("stage_3_4.cc")
    array.write("stage_3_4.cc", before + "\nint never_read;\n")
    again = array.aiecc("design.mlir", "-v", "--get=elfs_{0}.elf,report.json")
    array.write("stage_3_4.cc", before)
    assert again.code == 0, again.err
    ran = {line.split()[2] for line in again.err.splitlines() if re.match(r"aiecc: \(\d+/\d+\) \S+ ran", line)}
    assert {r for r in ran if r.endswith("/kernel")} == {"main_stage_3_4.cc/kernel"}
    touched = {r.partition("/")[0] for r in ran if re.match(r"main_core_\d_\d/", r)}
    assert touched == {"main_core_3_4"}
    assert elfs(array) == good


def check_bad_cores_stop_no_other(array: Project, good: dict[str, bytes]) -> None:
    """Two kernels that do not compile are both told, in the order of cores; what was built before stays."""
    names = ("stage_0_2.cc", "stage_7_5.cc")
    for name in names:
        array.write(name, array.read(name) + "\noops\n")
    ended = array.aiecc("design.mlir")
    assert ended.code == 1 and len(ended.errors) == 2
    for name, error in zip(names, ended.errors, strict=True):
        assert re.match(r"design\.mlir:\d+:\d+: error: aiecc: kernel '", error) and f"{name}' does not compile" in error
    assert elfs(array) == good
