"""The house rules that no type checker knows."""

import ast
import re
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PACKAGE = REPO / "aiecc"
MODULES = sorted(PACKAGE.rglob("*.py"))
# Tables are exempt from the size of rooms.
TABLES = {"model/targets/target.py", "elf/compiler_rt.py"}


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_codes_in_use_are_listed_and_listed_codes_are_in_use() -> None:
    from aiecc.base.codes import CODES

    used: set[str] = set()
    for path in MODULES:
        if path.name != "codes.py":
            used |= set(re.findall(r'"([EWR]\d{4})"', path.read_text("utf-8")))
    assert used - set(CODES) == set()
    assert set(CODES) - used == set()


def test_every_stage_has_a_file_of_its_word() -> None:
    from aiecc import hooks
    from aiecc.api import STAGES
    from aiecc.engine.spec import is_stage

    stages = [n.removeprefix("aiecc_") for n, f in vars(hooks).items() if n.startswith("aiecc_") and is_stage(f)]
    assert [s for s in STAGES if s in stages] == stages
    for stage in stages:
        text = (PACKAGE / "stages" / f"{stage}.py").read_text("utf-8")
        assert text.startswith(f'"""{stage}: '), stage
        assert f"def aiecc_{stage}(" in text, stage


def test_every_public_hook_says_what_it_is_for() -> None:
    from aiecc import hooks

    for hook, function in vars(hooks).items():
        if hook.startswith("aiecc_"):
            assert function.__doc__ and function.__doc__.strip().endswith("."), hook


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_rooms_are_small(path: Path) -> None:
    text = path.read_text("utf-8")
    if name(path) not in TABLES:
        assert text.count("\n") <= 500
    assert not re.search(r"(?<![\w.])/(?:work|root|farm|home)/", text), "a path of one machine"
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "every room says what lives in it"
    if name(path) not in TABLES:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                assert lines <= 90, f"{node.name} has {lines} lines"


def test_floors_hold() -> None:
    import subprocess
    import sys

    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_test_is_excused() -> None:
    excuse = re.compile("mark." + "xfail|assert " + "True$")
    for path in sorted((REPO / "tests").rglob("test_*.py")):
        for line in path.read_text("utf-8").splitlines():
            assert not excuse.search(line), f"{path.name}: {line.strip()}"
