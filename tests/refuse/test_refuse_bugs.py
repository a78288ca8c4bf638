"""Bugs, ours and those of plugins: exit code 70, one line that says whose, and what reproduces it on disk."""

import re
from pathlib import Path

import pytest
from refusekit import KERNEL, design

from aiecc.testing.kit import Ended, Project

pytestmark = pytest.mark.tools

PLUGIN = """
from aiecc.api import CoreId, Lowered, Sink, hookimpl, view

{body}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("k.c", KERNEL)
    made.write("design.mlir", design())
    return made


def reproducer(project: Project, ended: Ended) -> Path:
    assert ended.code == 70, (ended.code, ended.err)
    assert "Traceback" not in ended.err
    found = re.search(r"aiecc: what reproduces it is in (.*); please report it", ended.err)
    assert found, ended.err
    folder = Path(found[1])
    assert (folder / "design.mlir").read_text() == project.read("design.mlir")
    report = (folder / "report.txt").read_text()
    assert "command line: ['design.mlir'" in report and "Traceback" in report and "aiecc 0" in report
    assert not list(project.folder.glob("elfs_*"))
    return folder


def with_plugin(project: Project, body: str, *args: str) -> Ended:
    project.write("mine.py", PLUGIN.format(body=body))
    return project.aiecc("design.mlir", "-p", "mine.py", *args)


def test_a_stage_of_ours_that_raises(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from aiecc.place import solve

    def oops(*_: object, **__: object) -> None:
        raise AssertionError("no such thing as an empty tile")

    with monkeypatch.context() as patched:
        patched.setattr(solve, "solve", oops)
        ended = project.aiecc("design.mlir")
    folder = reproducer(project, ended)
    assert "aiecc: internal error, a bug in aiecc: AssertionError: no such thing as an empty tile" in ended.err
    assert "error: placement: AssertionError: no such thing as an empty tile" in ended.err
    assert (folder / "k.c").read_text() == KERNEL
    assert project.aiecc("design.mlir").code == 0


def test_a_bug_before_the_build_starts(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from aiecc.cli import driver

    def oops(path: str) -> str:
        raise RuntimeError("boom")

    monkeypatch.setattr(driver, "_read", oops)
    ended = project.aiecc("design.mlir")
    reproducer(project, ended)
    assert "aiecc: internal error, a bug in aiecc: RuntimeError: boom" in ended.err


def test_a_reproducer_that_cannot_be_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the traceback is shown: better than nothing."""
    from aiecc.cli import driver

    def oops(path: str) -> str:
        raise RuntimeError("boom")

    def full(path: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(driver, "_read", oops)
    monkeypatch.setattr(Path, "write_text", full)
    ended = project.aiecc("design.mlir")
    assert ended.code == 70 and "RuntimeError: boom" in ended.err and "Traceback" in ended.err


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("@hookimpl\ndef aiecc_place(lowered: Lowered):\n    return 1 / 0\n", "ZeroDivisionError: division by zero"),
        ("@hookimpl\ndef aiecc_place(lowered: Lowered):\n    return 'a string'\n", "is not what its contract says"),
        ("@hookimpl(wrapper=True)\ndef aiecc_check(core):\n    report = yield\n    return report.nothing\n", "nothing"),
        ("@hookimpl\ndef aiecc_place(lowered: Lowered):\n    raise SystemExit(0)\n", "SystemExit"),
        ("@hookimpl(wrapper=True)\ndef aiecc_check(core):\n    return (yield), (yield)\n", "aiecc_check"),
    ],
)
def test_a_plugin_that_raises_is_blamed_by_name(project: Project, body: str, text: str) -> None:
    ended = with_plugin(project, body)
    reproducer(project, ended)
    assert "aiecc: internal error, a bug in plugin 'mine': " in ended.err and text in ended.err
    assert "note: in line: mine, " in ended.err
    assert project.aiecc("design.mlir").code == 0


def test_a_view_of_a_plugin_that_raises(project: Project) -> None:
    body = (
        "@view('mine_{0}.txt')\ndef mine(core: CoreId, lowered: Lowered) -> str:\n    return lowered.nothing\n\n"
        "@hookimpl\ndef aiecc_views():\n    return [mine]\n"
    )
    ended = with_plugin(project, body, "--get=report.json,mine_{0}.txt")
    assert "a bug in plugin 'mine': AttributeError: 'Lowered' object has no attribute 'nothing'" in ended.err
    reproducer(project, ended)
    assert not (project.folder / "report.json").exists()


def test_a_plugin_that_refuses_is_no_bug(project: Project) -> None:
    body = (
        "from aiecc.api import refuse\n\n@hookimpl\ndef aiecc_place(lowered: Lowered):\n"
        "    refuse('not on a Sunday', code='X0001')\n"
    )
    ended = with_plugin(project, body)
    assert ended.code == 1 and ended.errors == ["error: not on a Sunday  [X0001]"]


# -- plugins that cannot even be used ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("import no_such_module\n", "plugin 'mine' cannot be loaded: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)\n", "plugin 'mine' cannot be loaded: SystemExit: 3"),
        ("def oops(:\n", "plugin 'mine' cannot be loaded: SyntaxError"),
        ("@view('../up.txt')\ndef up() -> str:\n    return ''\n", "plugin 'mine' cannot be loaded: "),
        ("@hookimpl\ndef aiecc_plase(lowered):\n    pass\n", "implements the hook aiecc_plase, which does not exist"),
        (
            "@hookimpl\ndef aiecc_place(lowerd):\n    pass\n",
            "aiecc_place takes 'lowerd', which that hook does not offer",
        ),
        ("def aiecc_place(lowered):\n    pass\n", "aiecc_place is not marked as a hook implementation"),
        ("@hookimpl\ndef aiecc_views():\n    return 1 / 0\n", "plugin 'mine' failed in aiecc_views: ZeroDivisionError"),
        (
            "@hookimpl\ndef aiecc_views():\n    return ['x.txt']\n",
            "plugin 'mine': aiecc_views gives View objects, not a",
        ),
        ("@hookimpl\ndef aiecc_views():\n    return None or 7\n", "plugin 'mine': aiecc_views gives a list, not a int"),
        ("@hookimpl\ndef aiecc_toolchains():\n    return 'x.toml'\n", "aiecc_toolchains gives a list, not a str"),
        ("@hookimpl\ndef aiecc_targets():\n    return ['npu9']\n", "aiecc_targets gives Target objects, not a str"),
        (
            "@hookimpl\ndef aiecc_passes():\n    return [int]\n",
            "aiecc_passes gives subclasses of aiecc.api.Pass",
        ),
        (
            "@hookimpl\ndef aiecc_dialects():\n    return [('x', 1)]\n",
            "aiecc_dialects gives pairs of a name and a func",
        ),
        (
            "@hookimpl\ndef aiecc_stages():\n    raise OSError('gone')\n",
            "plugin 'mine' failed in aiecc_stages: OSError",
        ),
        (
            "@view('elfs_{0}.elf')\ndef e() -> str:\n    return ''\n\n@hookimpl\ndef aiecc_views():\n    return [e]\n",
            "'mine' and 'emit' both bring a view named 'elfs_{0}.elf'",
        ),
    ],
)
def test_a_plugin_that_cannot_be_used(project: Project, body: str, text: str) -> None:
    """One clear refusal, exit code 2, in the plugin's name; without it everything works."""
    ended = with_plugin(project, body)
    assert ended.code == 2, (ended.code, ended.err)
    assert len(ended.errors) == 1 and text in ended.err and "[E0902]" in ended.err, ended.err
    assert "Traceback" not in ended.err and "'mine'" in ended.errors[0]
    listed = project.aiecc("plugins", "-p", "mine.py")
    assert listed.code == 0, listed.err
    row = next(line for line in listed.out.splitlines() if line.strip().startswith("mine "))
    assert "failed: " in row, row
    assert project.aiecc("design.mlir", "-p", "mine.py", "-p", "no:mine").code == 0


def test_a_view_that_asks_for_what_nobody_makes(project: Project) -> None:
    body = (
        "@view('mine.txt')\ndef mine(placment: object) -> str:\n    return ''\n\n"
        "@hookimpl\ndef aiecc_views():\n    return [mine]\n"
    )
    ended = with_plugin(project, body, "--get=mine.txt")
    assert ended.code == 2
    assert "plugin 'mine': view 'mine.txt' needs 'placment', which nobody makes; did you mean 'placement'?" in ended.err
    assert with_plugin(project, body).code == 0  # nobody asked for it


def test_plugins_that_are_not_there(project: Project) -> None:
    ended = project.aiecc("design.mlir", "-p", "nowhere.py")
    assert ended.code == 2 and "plugin 'nowhere' cannot be loaded: FileNotFoundError" in ended.err
    ended = project.aiecc("design.mlir", "-p", "no_such_module")
    assert ended.code == 2 and "plugin 'no_such_module' cannot be loaded: ModuleNotFoundError" in ended.err


def test_nothing_in_the_current_folder_runs_unasked(project: Project) -> None:
    """Neither a module with a tempting name, nor one that claims an entry point."""
    spoil = "raise SystemExit('this ran')\n"
    for name in ("aiecc_plugin.py", "conftest.py", "sitecustomize.py", "xdsl.py", "msgspec.py", "parse.py"):
        project.write(name, spoil)
    project.write("mine-1.0.dist-info/entry_points.txt", "[aiecc]\nmine = parse\n")
    project.write("mine-1.0.dist-info/METADATA", "Name: mine\nVersion: 1.0\n")
    ended = project.aiecc("design.mlir")
    assert ended.code == 0, ended.err
    import subprocess
    import sys

    for command in ([sys.executable, "-m", "aiecc"], [str(Path(sys.executable).with_name("aiecc"))]):
        if "-m" in command:
            for name in ("xdsl.py", "msgspec.py", "sitecustomize.py"):
                (project.folder / name).unlink(missing_ok=True)  # Python itself prefers these there
        ran = subprocess.run([*command, "design.mlir", "--toolchain=llvm"], cwd=project.folder, capture_output=True)
        assert ran.returncode == 0, ran.stderr
