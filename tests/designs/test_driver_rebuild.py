"""What a second build does: nothing when nothing changed, and otherwise what the change reaches."""

import re
import threading
from pathlib import Path

import pytest

from aiecc.testing.kit import Ended, Project

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.tools


@pytest.fixture
def banked(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "banked_tables")
    assert made.aiecc("design.mlir").code == 0
    return made


def ran(project: Project, *args: str) -> tuple[list[str], Ended]:
    """The tasks that ran, volatile ones left out, and how it ended."""
    ended = project.aiecc("design.mlir", "-v", *args)
    assert ended.code == 0, ended.err
    tasks = re.findall(r"^aiecc: \(\d+/\d+\) (\S+) ran ", ended.err, re.M)
    return [t for t in tasks if t != "tools"], ended


def elfs(project: Project) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(project.folder.glob("elfs_*/*.elf"))}


def test_nothing_changed(banked: Project) -> None:
    before = elfs(banked)
    tasks, ended = ran(banked)
    assert tasks == [] and "aiecc: exec:" not in ended.out
    first, again = banked.aiecc("design.mlir"), banked.aiecc("design.mlir")
    assert first.out == again.out and "4 cores" in again.out
    assert elfs(banked) == before


def test_a_lost_output_comes_back(banked: Project) -> None:
    before = elfs(banked)
    next(banked.folder.glob("elfs_*/*.elf")).unlink()
    tasks, _ = ran(banked)
    assert tasks == [] and elfs(banked) == before


def test_an_output_that_somebody_changed_is_put_right(banked: Project) -> None:
    before = elfs(banked)
    next(banked.folder.glob("elfs_*/*.elf")).write_bytes(b"not an ELF")
    assert banked.aiecc("design.mlir").code == 0
    assert elfs(banked) == before


def test_time_stamps_mean_nothing(banked: Project) -> None:
    for path in banked.folder.glob("*.c"):
        path.touch()
    assert ran(banked)[0] == []


def test_one_kernel_changed(banked: Project) -> None:
    before = elfs(banked)
    banked.write("lookup_3.c", '#define SEED 33u\n#define LOOKUP lookup_3\n#include "lookup.c"\n')
    tasks, _ = ran(banked)
    assert {t.split("/")[0] for t in tasks} <= {"main_lookup_3.c", "main_core_0_4"}
    assert {"main_lookup_3.c/kernel", "main_core_0_4/elf"} <= set(tasks)
    after = elfs(banked)
    assert [n for n in before if before[n] != after[n]] == ["elfs_main_core_0_4.elf"]


def test_an_included_file_changed(banked: Project) -> None:
    banked.write("lookup.c", banked.read("lookup.c").replace("x & 1023", "x & 511"))
    tasks, _ = ran(banked)
    assert sum(t.endswith("/kernel") for t in tasks) == 4 and sum(t.endswith("/elf") for t in tasks) == 4


def test_a_header_that_appears_earlier_on_the_path(banked: Project) -> None:
    """The compiler would find it first from now on; the one that was read has not changed."""
    header = "#define AIE_BANK_A\n#define AIE_BANK_B\n"
    before = elfs(banked)
    banked.write("aie_bank_placement.h", header)
    ended = banked.aiecc("design.mlir", "--get=input_with_addresses.mlir")
    assert ended.code == 0, ended.err
    if "measured_bank_sizes" in banked.read("input_with_addresses.mlir"):
        pytest.fail("a new header in front of the one that was read went unnoticed")
    assert elfs(banked) == before  # this build did not ask for them


def test_a_comment_in_the_design_compiles_nothing(banked: Project) -> None:
    before = elfs(banked)
    banked.write("design.mlir", "// a new first line\n" + banked.read("design.mlir"))
    tasks, ended = ran(banked)
    assert "aiecc: exec:" not in ended.out, tasks
    assert elfs(banked) == before


def test_an_option_that_matters(banked: Project) -> None:
    tasks, _ = ran(banked, "-O1")
    assert sum(t.endswith("/kernel") for t in tasks) == 4
    tasks, _ = ran(banked, "--output-dir=other")
    assert tasks == []


def test_warnings_are_said_again(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "one_core")
    made.write("smooth.c", made.read("smooth.c").replace("int32_t sum = 0;", "int32_t sum = 0, unused = -1u >> 99;"))
    first, again = made.aiecc("design.mlir"), made.aiecc("design.mlir")
    assert first.code == again.code == 0
    assert "warning: aiecc: compiling kernel" in first.err and "shift count" in first.err
    assert again.err == first.err


def test_errors_are_said_again_and_the_cure_is_seen(tmp_path: Path) -> None:
    made = Project(tmp_path)
    made.copy(EXAMPLES / "one_core")
    good = made.read("smooth.c")
    made.write("smooth.c", good.replace("return sum / TAPS;", "return sum / TAPS"))
    first, again = made.aiecc("design.mlir"), made.aiecc("design.mlir")
    assert first.code == again.code == 1 and first.err == again.err
    assert "kernel" in first.err and "expected ';'" in first.err
    made.write("smooth.c", good)
    assert made.aiecc("design.mlir").code == 0


def test_two_builds_in_one_folder(tmp_path: Path) -> None:
    import subprocess
    import sys

    made = Project(tmp_path)
    made.copy(EXAMPLES / "banked_tables")
    codes: list[int] = []

    def build() -> None:
        line = [sys.executable, "-m", "aiecc", "design.mlir", "--toolchain=llvm"]
        codes.append(subprocess.run(line, cwd=tmp_path, capture_output=True, check=False).returncode)

    threads = [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0, 0]
    together = elfs(made)
    alone = Project(tmp_path / "alone")
    alone.copy(EXAMPLES / "banked_tables")
    assert alone.aiecc("design.mlir").code == 0
    assert together == elfs(alone)


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_any_hash_seed_gives_the_same_bytes(tmp_path: Path, seed: str) -> None:
    import os
    import subprocess
    import sys

    made, other = Project(tmp_path / "a"), Project(tmp_path / "b")
    for project, value in ((made, seed), (other, "99")):
        project.copy(EXAMPLES / "banked_tables")
        env = {**os.environ, "PYTHONHASHSEED": value}
        line = [sys.executable, "-m", "aiecc", "design.mlir", "--toolchain=llvm", "--get=elfs_{0}.elf,report.json"]
        subprocess.run(line, cwd=project.folder, env=env, capture_output=True, check=True)
    assert elfs(made) == elfs(other)
    assert made.read("report.json") == other.read("report.json")


def test_a_killed_build_leaves_nothing_that_is_taken_for_good(tmp_path: Path) -> None:
    """SIGKILL at a few moments; the next build is right. `tests/bench/kill.py` does it fifty times on the array."""
    import subprocess
    import sys
    import time

    made = Project(tmp_path / "a")
    made.copy(EXAMPLES / "banked_tables")
    right = Project(tmp_path / "b")
    right.copy(EXAMPLES / "banked_tables")
    began = time.monotonic()
    line = [sys.executable, "-m", "aiecc", "design.mlir", "--toolchain=llvm"]
    subprocess.run(line, cwd=right.folder, capture_output=True, check=True)
    whole = time.monotonic() - began
    for share in (0.5, 0.7, 0.9):
        build = subprocess.Popen(line, cwd=made.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * share)
        build.kill()
        build.wait()
        torn = {n: e for n, e in elfs(made).items() if elfs(right)[n] != e}
        assert not torn
    assert made.aiecc("design.mlir").code == 0
    assert elfs(made) == elfs(right)
