"""Kernels as code: run on this machine on real arrays, a thread per core, and judged while they run."""

import shutil
import subprocess
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipes_kit import Built, Text, floats, tools
from ptokit import parts, verified

from aiecc.plugins.tpush.analyse import find
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.run import arguments
from aiecc.plugins.tpush.runtime import FOLDER
from aiecc.tools.native import PIPELINE

pytestmark = pytest.mark.tools

TILES = 19
"""Twice round the longest ring, and not a multiple of it."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def numbers(count: int) -> bytes:
    return array("f", [(i * 7) % 1000 - 500 for i in range(count)]).tobytes()


# Platform, directions, split, rows, columns, slots. On A5 the Cube cuts a split tile, on A2A3 whoever is a lane.
MOVES = (
    ("a5", 1, 1, 8, 32, 2),
    ("a5", 1, 2, 8, 64, 0),
    ("a5", 2, 2, 8, 32, 0),
    ("a5", 3, 1, 8, 32, 0),
    ("a2a3", 1, 2, 8, 32, 3),
    ("a2a3", 2, 1, 8, 32, 0),
    ("a2a3", 3, 2, 8, 32, 0),
    ("a2a3", 3, 0, 8, 32, 1),
)


@pytest.mark.parametrize(("arch", "mask", "split", "rows", "cols", "slots"), MOVES)
def test_every_way_tiles_move(folder: Path, arch: str, mask: int, split: int, rows: int, cols: int, slots: int) -> None:
    """Doubled on the Vector side, whichever way they go: out = 2 * in."""
    text = Text(arch, mask, TILES, rows, cols, split, slots)
    code = {1: text.c2v, 2: text.v2c, 3: text.both}[mask]()
    assert [d.text for d in verified(code)] == []
    data = numbers(TILES * rows * cols)
    ended = Built(code, folder).run(data, bytes(len(data)))
    assert ended.finished, ended.text
    assert floats(ended.arrays[1]) == [2 * x for x in floats(data)]
    assert bytes(ended.arrays[0]) == data


def test_tags_are_added_when_the_code_runs(folder: Path) -> None:
    """Loops are kept: one push in the text, whatever the trip count; the same text but for the number."""
    few, many = (Built(Text("a5", 1, tiles, 8, 32).c2v(), folder) for tiles in (18, 5000))
    assert few.code.count("call @pto_wait_flag") == 2
    assert few.code.count("call @pto_set_flag") == 8 + 2
    assert few.code.count("scf.for") == 2
    assert len(few.code.splitlines()) == len(many.code.splitlines())


@pytest.mark.parametrize(("mask", "split"), ((1, 0), (1, 1), (3, 0)))
def test_free_inside_pop_on_a5(folder: Path, mask: int, split: int) -> None:
    """The literal pseudocode: a slot that is still read is written, and the judge sees it whatever the threads did.

    With a tile there and one back in turn the flags of the other direction happen to order what these do not; the
    exact check says so, too.
    """
    text = Text("a5", mask, TILES, 8, 32, split)
    data = numbers(TILES * 256)
    built = Built(text.c2v() if mask == 1 else text.both(), folder, FreeRule.IN_POP)
    ended = built.run(data, bytes(len(data)))
    finding = find(built.cluster, FreeRule.IN_POP)
    assert (ended.end == "race") is (mask == 1) is (finding is not None), ended.text
    if mask == 1:
        assert "memory (slot " in ended.text and "of C2V): " in ended.text and " while " in ended.text
    assert find(built.cluster) is None


@pytest.fixture(scope="module")
def counts(folder: Path) -> Built:
    """One direction with four slots; how many are pushed (argument 3) and popped (argument 4), the launch says."""
    pushing, popping = Text("a2a3", 1, 99, 8, 32, slots=4).c2v().split("to %c99", 1)
    text = f"{pushing}to %pushes{popping.replace('to %c99', 'to %pops')}"
    return Built(text.replace("%ws: !pto.ptr<f32>", "%ws: !pto.ptr<f32>, %pushes: index, %pops: index"), folder)


@pytest.mark.parametrize(
    ("pushes", "pops", "end", "says"),
    (
        (5, 4, "left over", "  ready flag 0 of C2V is still set"),
        (5, 4, "left over", "  free flag 0 of C2V is not set\n"),
        (4, 5, "stuck", "Cube has ended\n  Vector 0 waits for ready flag 0 of C2V"),
        (9, 4, "stuck", "Cube waits for free flag 0 of C2V\n  Vector 0 has ended"),
        (8, 4, "left over", "\n".join(f"  free flag {n} of C2V is not set" for n in range(4))),
        (8, 8, "finished", "flags set"),
    ),
)
def test_unequal_counts_end_as_the_worked_example_says(
    counts: Built, pushes: int, pops: int, end: str, says: str
) -> None:
    """Worked example 10."""
    data = numbers(99 * 256)
    ended = counts.run(data, bytes(len(data)), numbers={3: pushes, 4: pops})
    assert ended.end == end and says in ended.text, ended.text


@pytest.mark.parametrize(
    ("example", "part"),
    (("w02", 0), ("w04", 2), ("w05", 0), ("w06", 3), ("w06", 4), ("w08", 0), ("w09", 1), ("w11", 0), ("w12", 3)),
)
def test_worked_examples_end_as_the_exact_check_says(folder: Path, example: str, part: int) -> None:
    """Workspaces at numbers, odd splits, tiles of two sizes, deadlocks, held tiles, lanes, two pipes, branches."""
    built = Built(parts(example)[part], folder)
    wanted = arguments(built.pair)
    numbers = {each.number: 1.0 for each in wanted if not each.element}
    ended = built.run(*(bytes(1 << 18) if each.element else b"" for each in wanted), numbers=numbers)
    assert ended.finished is (find(built.cluster) is None), ended.text
    assert ended.finished or ended.end == "stuck"


def test_both_sides_pop_first(folder: Path) -> None:
    """Worked example 6: everybody waits for ready. The run says who waits for what instead of standing still."""
    text = Text("a5", 3, 6, 8, 32).both()
    push = next(line for line in text.splitlines() if "tpush_to_aiv" in line)
    pop = next(line for line in text.splitlines() if "tpop_from_aiv" in line)
    text = text.replace(push, "//there").replace(pop, push).replace("//there", pop)
    ended = Built(text, folder).run(bytes(6 * 1024), bytes(6 * 1024))
    assert ended.end == "stuck"
    assert "Cube waits for ready flag 4 of V2C\n  Vector 0 waits for ready flag 0 of C2V" in ended.text


def test_a_flag_set_twice(folder: Path) -> None:
    """A pipe that is set up twice: the second pre-set meets the first."""
    text = Text("a5", 1, 0, 8, 32).c2v()
    setup = next(line for line in text.splitlines() if "aiv_initialize" in line)
    ended = Built(text.replace(setup, f"{setup}\n{setup}"), folder).run(bytes(1024), bytes(1024))
    assert ended.end == "double"
    assert ended.text == "Vector 0 sets free flag 0 of C2V, which is still set"


def test_a_tensor_that_is_too_small(folder: Path) -> None:
    """A store behind the end of global memory is said, not done."""
    text = Text("a5", 1, 40, 8, 32).c2v()
    ended = Built(text, folder).run(bytes(40 * 1024), bytes(1024))
    assert ended.end == "outside"
    assert ended.text.startswith("Vector 0 uses address 0x1") and ended.text.endswith("which is in no memory")


# --- ThreadSanitizer ----------------------------------------------------------------------------------------------


MAIN = """
#include "pipes_run.h"
#include <stdio.h>
#include <stdlib.h>
void pto_agent_0(void);
void pto_agent_1(void);
int main(void) {
  int64_t size = 1 << 20, arguments[3] = {PTO_GLOBAL, PTO_GLOBAL + (1 << 18), PTO_GLOBAL + (1 << 19)};
  struct pto_launch launch = {{pto_agent_0, pto_agent_1, 0}, calloc(1, size), size, arguments, 3, 0};
  struct pto_outcome outcome;
  pto_run(&launch, 0, &outcome);
  printf("end %d copies %d\\n", outcome.end, (int)outcome.copies);
  return outcome.end;
}
"""


def sanitizer(folder: Path) -> str | None:
    """A compiler of this machine with ThreadSanitizer's run-time. zig's wheel would first compile it, for minutes."""
    for name in ("clang", "gcc", "cc"):
        found = shutil.which(name)
        if found is not None:
            (folder / "probe.c").write_text("int main(void) { return 0; }\n")
            steps = ([found, "-fsanitize=thread", "probe.c", "-o", "probe"], ["./probe"])
            if all(subprocess.run(s, cwd=folder, capture_output=True, check=False).returncode == 0 for s in steps):
                return found
    return None


@pytest.fixture(scope="module")
def runtime(folder: Path) -> tuple[str, Path]:
    """A compiler, and a folder with the run-time and a main as instrumented objects."""
    compiler = sanitizer(folder)
    if compiler is None:
        pytest.skip("no compiler with ThreadSanitizer here")
    (folder / "main.c").write_text(MAIN)
    sources = ["main.c", str(FOLDER / "pipes_threads.c"), str(FOLDER / "tile_ops.c")]
    subprocess.run([compiler, "-O1", "-g", "-fsanitize=thread", f"-I{FOLDER}", "-c", *sources], cwd=folder, check=True)
    return compiler, folder


@pytest.mark.parametrize(
    ("arch", "mask", "rule"),
    (
        ("a5", 1, FreeRule.AFTER_USE),
        ("a5", 3, FreeRule.AFTER_USE),
        ("a2a3", 3, FreeRule.AFTER_USE),
        ("a5", 1, FreeRule.IN_POP),
    ),
)
def test_thread_sanitizer(runtime: tuple[str, Path], tmp_path: Path, arch: str, mask: int, rule: FreeRule) -> None:
    """Clean as it must be, and a data race with the literal pop of A5. What it sees is the copies and the ops."""
    compiler, objects = runtime
    text = Text(arch, mask, 200, 8, 32)
    built = Built(text.c2v() if mask == 1 else text.both(), tmp_path, rule)
    (tmp_path / "in.mlir").write_text(built.code)
    opt, translate, clang = (tools().tool(name).argv for name in ("mlir-opt", "mlir-translate", "clang"))
    parts = [str(objects / f"{name}.o") for name in ("main", "pipes_threads", "tile_ops")]
    for step in (
        [*opt, f"--pass-pipeline={PIPELINE}", "in.mlir", "-o", "out.mlir"],
        [*translate, "--mlir-to-llvmir", "out.mlir", "-o", "code.ll"],
        [*clang, "-c", "-O2", "-fPIC", "-x", "ir", "-Wno-override-module", "code.ll", "-o", "code.o"],
        [compiler, "-fsanitize=thread", "code.o", *parts, "-o", "run", "-lm", "-pthread"],
    ):
        subprocess.run(step, cwd=tmp_path, check=True, capture_output=True)
    ran = subprocess.run(["./run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "end 0" in ran.stdout
    assert ("WARNING: ThreadSanitizer: data race" in ran.stderr) is (rule is FreeRule.IN_POP), ran.stderr
