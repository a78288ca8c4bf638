"""Clusters through the ordinary stages: built, measured, placed, linked and checked; and the examples, simulated."""

import re
import xml.etree.ElementTree as ElementTree
from array import array
from pathlib import Path

import pytest
from pipes_kit import Text

from aiecc.testing.kit import Ended, Project

pytestmark = pytest.mark.tools

EXAMPLES = Path(__file__).parents[3] / "examples"


def small(count: int, seed: int) -> list[float]:
    """Small whole numbers, so that sums of products are exact."""
    return [float((i * 37 + seed * 11) % 9 - 4) for i in range(count)]


def product(a: list[float], b: list[float], n: int, m: int) -> list[float]:
    """Of a matrix with rows of n and one with rows of m."""
    rows = [a[i : i + n] for i in range(0, len(a), n)]
    return [sum(row[k] * b[k * m + j] for k in range(n)) for row in rows for j in range(m)]


def relu(values: list[float]) -> list[float]:
    return [max(x, 0.0) for x in values]


class Simulated:
    def __init__(self, folder: Path, name: str, inputs: list[list[float]], out: int, file: str = "design.mlir") -> None:
        self.project = Project(folder)
        self.project.copy(EXAMPLES / name)
        words: list[str] = []
        for number, values in enumerate(inputs):
            self.project.write(f"{number}.bin", array("f", values).tobytes())
            words += ["--arg", f"{number}={number}.bin"]
        last = len(inputs)
        words += ["--arg", f"{last}={4 * out}", "--arg-out", f"{last}=out.bin"]
        self.ended = self.project.aiecc("simulate", file, *words, toolchain=None)

    @property
    def out(self) -> list[float]:
        assert self.ended.code == 0, self.ended.err + self.ended.out
        return list(array("f", (self.project.folder / "out.bin").read_bytes()))


@pytest.mark.parametrize("file", ("design.mlir", "a2a3.mlir"))
def test_product_bias_and_activation_on_both_platforms(tmp_path: Path, file: str) -> None:
    a, b, bias = small(512 * 16, 1), small(256, 2), small(256, 3)
    run = Simulated(tmp_path, "pipes_matmul", [a, b, bias], 512 * 16, file)
    wanted = relu([x + bias[i % 256] for i, x in enumerate(product(a, b, 16, 16))])
    assert run.out == wanted
    assert run.ended.out.startswith("finished: ")


def test_two_layers_both_ways(tmp_path: Path) -> None:
    x, w1, w2 = small(384 * 16, 1), small(256, 2), small(256, 3)
    run = Simulated(tmp_path, "pipes_two_way", [x, w1, w2], 384 * 16)
    assert run.out == product(relu(product(x, w1, 16, 16)), w2, 16, 16)


def test_two_lanes_each_with_its_half(tmp_path: Path) -> None:
    a, b = small(320 * 16, 1), small(16 * 32, 2)
    run = Simulated(tmp_path, "pipes_split", [a, b], 320 * 32)
    assert run.out == [2 * x for x in relu(product(a, b, 16, 32))]


def test_an_array_that_comes_back_has_the_elements_of_its_argument(tmp_path: Path) -> None:
    run = Simulated(tmp_path, "pipes_matmul", [small(512 * 16, 1), small(256, 2), small(256, 3)], 512 * 16)
    words = [word for n in range(3) for word in ("--arg", f"{n}={n}.bin")]
    ended = run.project.aiecc(
        "simulate", "design.mlir", *words, "--arg", "3=32768", "--arg-out", "3=c.npy", toolchain=None
    )
    assert ended.code == 0, ended.err
    whole = (run.project.folder / "c.npy").read_bytes()
    assert b"'descr': '<f4'" in whole[:128]
    assert list(array("f", whole[128:])) == run.out


# --- the ordinary stages ------------------------------------------------------------------------------------------


def built(folder: Path, text: str, *words: str) -> tuple[Project, Ended]:
    project = Project(folder)
    project.write("design.mlir", text)
    return project, project.aiecc("design.mlir", *words)


def ring(project: Project) -> int:
    found = re.search(r"reserved 'c2v' by @vector: UB 0x([0-9A-F]+)", project.read("pipes.txt"))
    assert found is not None
    return int(found[1], 16)


def script(project: Project, core: str) -> str:
    return next(project.folder.rglob(f"*{core}*.ld.script")).read_text("utf-8")


def pinned(text: str, base: int) -> str:
    return text.replace("auto = true}", f"auto = false, base = {base}}}")


GET = ("--get=ldScripts_{0}.ld.script", "--get=pipes.txt", "--get=elfs_{0}.elf", "--get=timeline.svg")


def test_the_ring_is_placed_around_the_cores_own_data_and_the_producer_has_its_address(tmp_path: Path) -> None:
    """Automatic: behind the stack, among the tiles. What the Cube links is the window of its neighbour plus that."""
    project, ended = built(tmp_path, Text("a5", 1, 16, 8, 32).c2v(), *GET)
    assert ended.code == 0, ended.err
    base = ring(project)
    assert base >= 1024 and base % 32 == 0
    for core, window in (("core_0_2", 3), ("core_0_3", 4)):
        address = re.search(r"\. = (0x[0-9a-fA-F]+);\nvector0_c2v = \.;", script(project, core))
        assert address is not None and int(address[1], 16) == window * 0x100000 + base
    picture = ElementTree.fromstring(project.read("timeline.svg"))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"


def test_a_pinned_ring_stays_and_everything_else_goes_around_it(tmp_path: Path) -> None:
    project, ended = built(tmp_path, pinned(Text("a5", 1, 16, 8, 32).c2v(), 0x1000), *GET)
    assert ended.code == 0, ended.err
    assert ring(project) == 0x1000
    assert "0x1C00" in project.read("pipes.txt"), "slot 3"


@pytest.mark.parametrize(
    ("old", "new", "says", "word"),
    (
        # The set-up of the pipe alone needs more.
        (
            "cube>, stack_size = 1024",
            "cube>, stack_size = 32",
            "stack_size = 32 is insufficient: this core needs",
            "@cube",
        ),
        # The whole of UB, and a tile and the stack besides.
        ("size = 8192", "size = 245760", 'buffer "vector0_c2v" needs 245760 bytes', "reserve_buffer"),
    ),
)
def test_what_a_core_needs_is_measured_and_checked_as_always(
    tmp_path: Path, old: str, new: str, says: str, word: str
) -> None:
    text = Text("a5", 1, 16, 8, 32).c2v()
    assert old in text
    _, ended = built(tmp_path, text.replace(old, new))
    assert ended.code == 1
    line = next(i for i, each in enumerate(text.splitlines(), 1) if word in each)
    error = next(e for e in ended.errors if e.startswith(f"design.mlir:{line}:"))
    assert says in error, ended.err
    assert "shrink or move buffers of this tile by 2048 bytes" in ended.err or "set stack_size = 64" in ended.err


def test_a_ring_pinned_where_the_core_has_no_memory(tmp_path: Path) -> None:
    """UB of A5 ends at 240 KiB, though the device that stands for the cluster has L1's 512 for every core."""
    _, ended = built(tmp_path, pinned(Text("a5", 1, 16, 8, 32).c2v(), 240 * 1024))
    assert ended.code == 1
    assert "ends at 253952, but UB" in ended.errors[0]


def test_an_op_without_code_is_refused_at_its_line(tmp_path: Path) -> None:
    text = Text("a5", 1, 16, 8, 32).c2v()
    line = next(i for i, each in enumerate(text.splitlines(), 1) if "pto.tadd" in each)
    _, ended = built(tmp_path, text.replace("pto.tadd", "pto.tpartadd"))
    assert ended.code == 1
    assert ended.errors[0].startswith(f"design.mlir:{line}:")
    assert "'pto.tpartadd' op has no code here" in ended.errors[0]


def test_arguments_of_a_simulation_that_do_not_fit(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.copy(EXAMPLES / "pipes_split")
    for words, says in (
        (("--arg", "7=x.bin"), "the cluster has 3 arguments; there is no number 7"),
        (("--arg", "0=64", "--arg", "1=64"), "argument 2 is missing"),
        (("--arg", "0=64", "--arg", "0=64"), "argument 0 is given twice"),
        (("--device-name", "other"), "no cluster 'other'; there are product_scale"),
    ):
        ended = project.aiecc("simulate", "design.mlir", *words, toolchain=None)
        assert ended.code == 2 and says in ended.err, ended.err
