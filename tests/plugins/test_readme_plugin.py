"""The plugin that README prints: taken from there, run as it says."""

import json
import re
from pathlib import Path

import pytest

from aiecc.testing.kit import Project

README = Path(__file__).parents[2] / "README.md"
pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def printed() -> tuple[str, str, list[str]]:
    """The file's name and content, and the words of the command that its first line gives."""
    section = re.search(r"^## Stages and plugins$.*?(?=^## )", README.read_text("utf-8"), re.M | re.S)
    assert section is not None
    (block,) = re.findall(r"^```python\n(.*?)^```$", section[0], re.M | re.S)
    head = re.match(r"# (\w+\.py): aiecc (.*)\n", block)
    assert head is not None
    return head[1], block, head[2].split()


def test_it_works_as_printed(plain: Project, printed: tuple[str, str, list[str]]) -> None:
    name, block, words = printed
    plain.write(name, block)
    ended = plain.aiecc(*words)
    assert ended.code == 0, ended.err
    assert "warning" not in ended.err
    assert plain.aiecc("design.mlir", "--get=report.json").code == 0
    used = {core["program"]["used"] for core in json.loads(plain.read("report.json"))["cores"]}
    assert plain.read("fill.txt") == f"main_core_0_2 {used.pop()} bytes of code\n" and not used


def test_its_check_speaks(plain: Project, printed: tuple[str, str, list[str]]) -> None:
    """With a limit low enough for the example, at the line of the core."""
    name, block, words = printed
    assert "* 3 // 4" in block
    plain.write(name, block.replace("* 3 // 4", "// 100"))
    ended = plain.aiecc(*words)
    assert ended.code == 0
    line = plain.read("design.mlir").splitlines().index("    %core = aie.core(%tile) {") + 1
    assert ended.err.startswith(f"design.mlir:{line}:13: warning: core (0, 2) fills three quarters of its program")


def test_it_is_listed(plain: Project, printed: tuple[str, str, list[str]]) -> None:
    name, block, _ = printed
    plain.write(name, block)
    stem = name.removesuffix(".py")
    listed = plain.aiecc("plugins", "-p", name).out
    assert f"  {stem} -  {name}  loaded  (aiecc_check, aiecc_views)\n      brings view fill.txt\n" in listed
    assert f"gives report       {stem} (wrapper) > check (implementation)" in listed
