"""Small inputs from user reports about runtime sequences, with what a correct tool must do."""

from pathlib import Path

import pytest

from aiecc.npu.txn import Patch, decode
from aiecc.testing.kit import Project

CASES = Path(__file__).parent / "cases"
pytestmark = pytest.mark.tools


def project(tmp_path: Path, case: str) -> Project:
    made = Project(tmp_path)
    made.copy(next(CASES.glob(f"{case}-*")))
    return made


def lines(made: Project, word: str) -> list[int]:
    return [i for i, line in enumerate(made.read("design.mlir").splitlines(), 1) if word in line]


def test_19_the_second_await_has_no_token(tmp_path: Path) -> None:
    """One token goes through the channel in all; an await of the task without one would wait for ever."""
    made = project(tmp_path, "19")
    ran = made.aiecc("--get-npu-insts", "design.mlir")
    assert ran.code == 1
    assert len(ran.errors) == 1, ran.err
    second, task = lines(made, "dma_await_task")[1], lines(made, "dma_configure_task_for")[1]
    assert f"design.mlir:{second}:" in ran.errors[0]
    assert "is not configured to issue a token" in ran.errors[0]
    assert f"design.mlir:{task}:13: note: Consider adding attribute `issue_token=true` here." in ran.err
    assert "aiex.dma_free_task" in ran.err
    assert not list(made.folder.glob("*.bin"))


@pytest.mark.parametrize(
    "change",
    [
        # Both have tokens and one is awaited; both are awaited; the one without is freed.
        (("      }\n      aiex", "      } {issue_token = true}\n      aiex"), ("      aiex.dma_await_task(%t1)\n", "")),
        (("      }\n      aiex", "      } {issue_token = true}\n      aiex"),),
        (("      aiex.dma_await_task(%t1)\n", "      aiex.dma_free_task(%t0)\n"),),
        (("aiex.dma_await_task(%t1)", "aiex.dma_free_task(%t1)"),),
    ],
)
def test_19_what_is_right_is_not_refused(tmp_path: Path, change: tuple[tuple[str, str], ...]) -> None:
    made = project(tmp_path, "19")
    text = made.read("design.mlir")
    for old, new in change:
        assert old in text
        text = text.replace(old, new)
    made.write("design.mlir", text)
    ran = made.aiecc("--get-npu-insts", "design.mlir")
    assert ran.code == 0, ran.err
    assert list(made.folder.glob("*.bin"))


@pytest.mark.parametrize(("option", "plus"), [("--fold-ddr-addr-offset", 0x80000000), ("--no-fold-ddr-addr-offset", 0)])
def test_21_the_sixth_buffer_is_the_sixth(tmp_path: Path, option: str, plus: int) -> None:
    """The firmware translates the first five only; the others are told by the topmost bit of the offset."""
    made = project(tmp_path, "21")
    ran = made.aiecc("--get-npu-insts", option, "design.mlir")
    assert ran.code == 0, ran.err
    data = (made.folder / "insts_main_six.bin").read_bytes()
    (patch,) = [entry for entry in decode(data).entries if isinstance(entry.op, Patch)]
    assert isinstance(patch.op, Patch) and (patch.op.argument, patch.op.plus) == (5, 0)
    words = memoryview(data).cast("I")[patch.offset // 4 :]
    assert (words[0], words[8], words[10]) == (0x81, 5, plus)
