"""Plugins and the short way: a build that has nothing to do is told without being run, and only then."""

import json
import os
import subprocess
import sys

import pytest

from aiecc.testing.kit import Ended, Project

pytestmark = pytest.mark.tools

REMARK = """
from aiecc.api import CoreId, Sink, hookimpl, view, Lowered

@hookimpl(wrapper=True)
def aiecc_check(core: CoreId, diag: Sink):
    report = yield
    diag.remark("seen by a plugin")
    return report
"""


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A word for every build that was really run."""
    from aiecc.cli import build

    ran: list[str] = []
    real = build.build

    def counted(*args: object) -> int:
        ran.append("built")
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(build, "build", counted)
    return ran


def good(ended: Ended) -> Ended:
    assert ended.code == 0, ended.err
    return ended


def test_it_is_told_again(plain: Project, builds: list[str]) -> None:
    plain.write("mine.py", REMARK)
    words = ("design.mlir", "-p", "mine.py")
    first = good(plain.aiecc(*words))
    again = good(plain.aiecc(*words))
    assert builds == ["built"]
    assert (again.out, again.err) == (first.out, first.err) and "seen by a plugin" in again.err
    # With another set of plugins it is another build; back again, it is not.
    assert "seen by" not in good(plain.aiecc("design.mlir")).err
    plain.write("other.py", REMARK.replace("a plugin", "another"))
    assert "seen by another" in good(plain.aiecc(*words, "-p", "other.py")).err
    assert builds == ["built"] * 3
    assert good(plain.aiecc(*words)).err == first.err
    assert builds == ["built"] * 3


def test_an_option_of_a_plugin_counts(project: Project, builds: list[str]) -> None:
    words = ("design.mlir", "--get=census.txt")
    good(project.aiecc(*words))
    good(project.aiecc(*words, "--census-from=2000"))
    assert builds == ["built"] * 2
    assert project.read("census.txt") == "main_core_0_2 0 0\n"
    good(project.aiecc(*words, "--census-from=2000"))
    assert builds == ["built"] * 2
    # Outputs that are not what the build wrote are written again.
    good(project.aiecc(*words))
    assert builds == ["built"] * 3 and project.read("census.txt") == "main_core_0_2 4 4096\n"


def test_who_must_be_asked_is_asked(plain: Project, builds: list[str]) -> None:
    """`tools` looks at the world: a plugin that takes part there may answer differently every time."""
    plain.write(
        "mine.py",
        "from aiecc.api import hookimpl\n\n@hookimpl(wrapper=True)\ndef aiecc_tools(diag):\n"
        "    found = yield\n    diag.remark('asked')\n    return found\n",
    )
    for _ in range(2):
        assert "remark: asked" in good(plain.aiecc("design.mlir", "-p", "mine.py")).err
    assert builds == ["built"] * 2


def test_a_device_from_a_file_beside_its_plugin(plain: Project) -> None:
    """What a plugin computes its device from need not lie among its sources: the numbers themselves count."""
    plain.write(
        "board.py",
        "import json\nfrom dataclasses import replace\nfrom pathlib import Path\n"
        "from aiecc.api import hookimpl, targets\n\n@hookimpl\ndef aiecc_targets():\n"
        "    size = json.loads((Path(__file__).parent / 'board.json').read_text())\n"
        "    base = targets.get('npu2_1col')\n    core = targets.TileKind.CORE\n"
        "    memory = {**base.family.memory, core: replace(base.family.memory[core], size=size)}\n"
        "    return [replace(base, name='board', number=2000, family=replace(base.family, memory=memory))]\n",
    )
    plain.write("design.mlir", plain.read("design.mlir").replace("aie.device(npu2)", "aie.device(board)"))

    def built(size: int) -> subprocess.CompletedProcess[str]:
        plain.write("board.json", json.dumps(size))
        command = [sys.executable, "-m", "aiecc", "design.mlir", "-p", "board.py", "--toolchain=llvm"]
        return subprocess.run(command, cwd=plain.folder, capture_output=True, text=True)

    done = built(32768)
    assert done.returncode == 0 and "/8192" in done.stdout, done.stderr
    done = built(4096)
    assert done.returncode == 1 and "4096" in done.stderr


def test_only_plugins_that_bring_xdsl_pay_for_it(installed: object) -> None:
    code = (
        "import sys\nfrom aiecc.api import load_plugins\nplugins = load_plugins(sys.argv[1:])\n"
        "print(any(r.name == 'outsider_lab' for r in plugins.rows()), 'xdsl' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": str(installed)}
    for words, answer in (((), "True True"), (("no:outsider_marks",), "True False")):
        done = subprocess.run([sys.executable, "-c", code, *words], env=env, capture_output=True, text=True)
        assert done.stdout.strip() == answer, done.stderr


def test_a_file_is_run_as_it_is_now(plain: Project) -> None:
    """Within a second and with equal length, where Python's own cache of compiled files sees no change."""
    from aiecc.engine.guest import import_file

    file = plain.write("mine.py", "value = 1\n")
    stat = file.stat()
    first = import_file(file)
    assert first.value == 1 and import_file(file) is first
    del sys.modules[first.__name__]
    file.write_text("value = 2\n")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert import_file(file).value == 2
    assert not (plain.folder / "__pycache__").exists()
