"""Plugins that do not do what they should: each is told by name, in words, and without it everything works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aiecc.testing.kit import Ended, Project

HEAD = "from __future__ import annotations\n\nfrom aiecc.api import *\n\n"


def given(project: Project, *bodies: str) -> list[str]:
    """Options that load plugins `one`, `two`, ... with these bodies."""
    words: list[str] = []
    for name, body in zip(("one", "two", "three"), bodies, strict=False):
        project.write(f"{name}.py", HEAD + body)
        words += ["-p", f"{name}.py"]
    return words


def row(project: Project, name: str, *words: str) -> str:
    """What `aiecc plugins` says of one."""
    listed = project.aiecc("plugins", *words)
    assert listed.code == 0, listed.err
    return next(line for line in listed.out.splitlines() if line.startswith(f"  {name} "))


def refused(project: Project, words: list[str], text: str, *, by: str = "one") -> Ended:
    """One refusal with this text; the plugin is a failed row, and without it the build is as ever."""
    ended = project.aiecc("design.mlir", *words)
    assert ended.code == 2, (ended.code, ended.err)
    assert ended.errors == [f"error: {text}  [E0902]"]
    assert not list(project.folder.glob("elfs_*"))
    assert f"failed: {text}" in row(project, by, *words)
    assert project.aiecc("--help", *words, toolchain=None).code == 0
    return ended


STAGE = """
class Stages:
    @staticmethod
    @stage(gives="{gives}")
    def {hook}({params}) -> int: "Something."

@hookimpl
def aiecc_stages():
    return Stages
"""


# -- before a build ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("import no_such\n", "plugin 'one' cannot be loaded: ModuleNotFoundError: No module named 'no_such'"),
        ("@hookimpl\ndef aiecc_mesure(core):\n    pass\n",
         "plugin 'one' implements the hook aiecc_mesure, which does not exist; did you mean 'aiecc_measure'?"),
        ("@hookimpl\ndef aiecc_measure(core, placement):\n    pass\n",
         "plugin 'one': aiecc_measure takes 'placement', which that hook does not offer"),
        ("@hookimpl\ndef aiecc_measure(core, prob):\n    pass\n",
         "plugin 'one': aiecc_measure takes 'prob', which that hook does not offer; did you mean 'probe'?"),
        ("@hookimpl(wrapper=True)\ndef aiecc_measure(core):\n    found = yield\n",
         "plugin 'one': its wrapper of aiecc_measure never returns anything"),
        ("@hookimpl(wrapper=True)\ndef aiecc_measure(core):\n    return 1\n",
         "plugin 'one' cannot be used: Declared as wrapper=True or hookwrapper=True but function is not a generator "
         "function"),
        ("@hookimpl(wrapper=True)\ndef aiecc_views():\n    return (yield)\n",
         "plugin 'one': aiecc_views cannot be wrapped"),
        ("v = View('/abs.txt', lambda placement: '')\n",
         "plugin 'one' cannot be loaded: view '/abs.txt' lies outside the output folder"),
        ("v = View('a/../../b.txt', lambda placement: '')\n",
         "plugin 'one' cannot be loaded: view 'a/../../b.txt' lies outside the output folder"),
        ("a = view('a.txt')(lambda placement: '')\nb = view('a.txt')(lambda lowered: '')\n"
         "@hookimpl\ndef aiecc_views():\n    return [a, b]\n", "plugin 'one' brings two views named 'a.txt'"),
        ("a = view('a.txt', short='core-elfs')(lambda placement: '')\n@hookimpl\ndef aiecc_views():\n    return [a]\n",
         "plugin 'one': --get-core-elfs stands for 'elfs_{0}.elf' already"),
        (STAGE.format(gives="x", hook="aiecc_x", params="core: Key"),
         "plugin 'one': stage aiecc_x: the annotation of parameter 'core' means nothing: name 'Key' is not defined"),
        (STAGE.format(gives="x", hook="aiecc_x", params="core"),
         "plugin 'one': stage aiecc_x: parameter 'core' has no annotation"),
        (STAGE.format(gives="x", hook="aiecc_x", params="*core"),
         "plugin 'one': stage aiecc_x: a stage takes named parameters only, not *core"),
        (STAGE.format(gives="x", hook="aiecc_link", params="core: CoreId"),
         "plugin 'one' declares the hook aiecc_link, which exists already"),
        ("@hookimpl\ndef aiecc_stages():\n    return object()\n",
         "plugin 'one' adds stages from object, but there is none"),
        ("from dataclasses import replace\n@hookimpl\ndef aiecc_targets():\n"
         "    return [replace(targets.get('npu2'), columns=9)]\n", "plugin 'one': device 'npu2' is already known"),
        ("from dataclasses import replace\n@hookimpl\ndef aiecc_targets():\n"
         "    return [replace(targets.get('npu2'), name='mine')]\n",
         "plugin 'one': device 'mine' has the number 8, which is that of 'npu2'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used(plain: Project, body: str, text: str) -> None:
    refused(plain, given(plain, body), text)


def test_the_way_out_is_named(plain: Project) -> None:
    words = given(plain, "1 / 0\n")
    ended = plain.aiecc("design.mlir", *words)
    assert "note: it comes from one.py" in ended.err
    assert f"note: at {plain.folder / 'one.py'}:5" in ended.err
    assert "todo: repair or update it, or leave it out with -p no:one" in ended.err
    listed = plain.aiecc("plugins", *words, "-p", "no:one").out
    assert re.search(r"^  one .*blocked$", listed, re.M)


OPTION = "@options\nclass O:\n    field: {kind} = option({default}, '{flag}')\n\n" + STAGE.format(
    gives="NAME", hook="aiecc_NAME", params="core: CoreId, o: O"
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("@view('same.txt')\ndef a(lowered: Lowered) -> str: return ''\n\n@hookimpl\ndef aiecc_views(): return [a]\n",
         "plugins 'one' and 'two' both bring a view named 'same.txt'"),
        ("@view('NAME.txt', short='same')\ndef a(lowered: Lowered) -> str: return ''\n\n"
         "@hookimpl\ndef aiecc_views(): return [a]\n", "plugin 'one': --get-same stands for 'two.txt' already"),
        (STAGE.format(gives="NAME", hook="aiecc_same", params="core: CoreId"),
         "plugin 'one' declares the hook aiecc_same, which exists already"),
        (OPTION.format(kind="int", default="0", flag="--deep"),
         "plugin 'one': its option --deep is also one of plugin 'two'"),
    ],
)  # fmt: skip
def test_two_that_clash(plain: Project, body: str, text: str) -> None:
    """The one that was asked for last stands first and stays; without either the other is fine."""
    words = given(plain, body.replace("NAME", "one"), body.replace("NAME", "two"))
    refused(plain, words, text)
    assert "loaded" in row(plain, "two", *words)
    for name in ("one", "two"):
        assert "failed" not in plain.aiecc("plugins", *words, "-p", f"no:{name}").out


@pytest.mark.parametrize(
    ("kind", "default", "flag", "taken"),
    [
        ("int", "0", "--get", "--get"),
        ("bool", "False", "--no-progress", "--no-progress"),
        ("bool", "False", "--no-verbose", "--no-verbose"),
        ("bool", "False", "--help", "--help"),
        ("int", "0", "-O", "-O"),
    ],
)
def test_options_that_are_ours(plain: Project, kind: str, default: str, flag: str, taken: str) -> None:
    body = OPTION.format(kind=kind, default=default, flag=flag).replace("NAME", "x")
    refused(plain, given(plain, body), f"plugin 'one': its option {taken} is aiecc's own")


@pytest.mark.tools
def test_what_upstream_has_is_not_taken_while_it_is_not_built(plain: Project) -> None:
    """A word of upstream's that this version only refuses may be a plugin's, and then means the plugin's thing."""
    body = (
        "@options\nclass O:\n    seed: int = option(3, '--sa-seed')\n"
        + STAGE.format(gives="x", hook="aiecc_x", params="core: CoreId, o: O")
        + "\n@hookimpl\ndef aiecc_x(o): return o.seed\n\n"
        "@view('pdi.txt', short='pdi')\ndef a(x: dict[CoreId, int]) -> str: return str(list(x.values()))\n\n"
        "@hookimpl\ndef aiecc_views(): return [a]\n"
    )
    ended = plain.aiecc("design.mlir", *given(plain, body), "--get-pdi", "--sa-seed=5")
    assert ended.code == 0, ended.err
    assert plain.read("pdi.txt") == "[5]"
    assert "--get-pdi                    pdi.txt" in plain.aiecc("--help", "-p", "one.py", toolchain=None).out
    ended = plain.aiecc("design.mlir", "--get-pdi")
    assert ended.code == 2 and "--get-pdi belongs to PDI generation" in ended.err


def test_stages_that_do_not_fit_name_their_plugin(plain: Project) -> None:
    for number, (gives, params, text) in enumerate(
        (
            ("x", "core: CoreId, placment: int", "stage aiecc_x needs 'placment', which nobody makes; did you "
             "mean 'placement'?"),
            ("x", "core: CoreId, x: int", "these stages wait for each other: x > x"),
            ("elf", "core: CoreId", "stage aiecc_x makes 'elf', but stage aiecc_link makes it, too"),
        )
    ):  # fmt: skip
        plain.write(f"odd{number}.py", HEAD + STAGE.format(gives=gives, hook="aiecc_x", params=params))
        ended = plain.aiecc("design.mlir", "-p", f"odd{number}.py")
        assert ended.code == 2 and ended.errors == [f"error: {text}  [E0902]"]
        assert f"plugin 'odd{number}'" in ended.err


# -- in a build --------------------------------------------------------------------------------------------------------

WRAPPED = "@hookimpl(wrapper=True)\ndef aiecc_check(core, diag):\n    report = yield\n    {}\n    return report\n"


@pytest.mark.tools
@pytest.mark.parametrize(
    ("body", "address", "text"),
    [
        ("@hookimpl\ndef aiecc_measure(core): return 17\n", "main_core_0_2/measured",
         "TypeError: the product of stage measure is not what its contract says: a int stands where CoreMeasure is "
         "expected"),
        ("from dataclasses import replace\n@hookimpl(wrapper=True)\ndef aiecc_measure(core):\n"
         "    return replace((yield), data='a lot')\n", "main_core_0_2/measured",
         "TypeError: the product of stage measure is not what its contract says: a str stands where DataMeasure is "
         "expected"),
        ("@hookimpl\ndef aiecc_outline(lowered): return []\n", "program",
         "TypeError: the product of stage outline is not what its contract says: a list stands where a dict is "
         "expected"),
        (WRAPPED.format("report.program = 5"), "main_core_0_2/report",
         "dataclasses.FrozenInstanceError: cannot assign to field 'program'"),
        (WRAPPED.format("diag.warning('text', where='here')"), "main_core_0_2/report",
         "TypeError: a str stands where a Span is expected in what is reported"),
        (WRAPPED.format("diag.add('text')"), "main_core_0_2/report",
         "TypeError: a str stands where a Diagnostic is expected in what is reported"),
        (WRAPPED.format("raise KeyboardInterrupt"), "main_core_0_2/report", "KeyboardInterrupt"),
        ("@hookimpl\ndef aiecc_place(lowered): return aiecc_place(lowered)\n", "placement",
         "RecursionError: maximum recursion depth exceeded"),
        (WRAPPED.format("diag.items.append('text')"), "main_core_0_2/report",
         "AttributeError: 'str' object has no attribute 'is_error'"),
    ],
)  # fmt: skip
def test_what_may_not_be_done(plain: Project, body: str, address: str, text: str) -> None:
    """A bug of the plugin's: exit code 70, its name, what reproduces it; and never a build that waits for ever."""
    ended = plain.aiecc("design.mlir", *given(plain, body))
    assert ended.code == 70, (ended.code, ended.err)
    assert ended.errors[0].startswith(f"error: {address}: {text}")
    assert f"aiecc: internal error, a bug in plugin 'one': {text}" in ended.err
    found = re.search(r"what reproduces it is in (.*);", ended.err)
    assert found and (Path(found[1]) / "design.mlir").is_file() and (Path(found[1]) / "one.py").is_file()
    assert not list(plain.folder.glob("elfs_*"))


@pytest.mark.tools
@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("return 3", "TypeError: view 'v.txt' returns a int, not text, bytes or a Blob"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("return lowered.nothing", "AttributeError: 'Lowered' object has no attribute 'nothing'"),
    ],
)
def test_a_view_that_fails(plain: Project, body: str, text: str) -> None:
    body = f"@view('v.txt')\ndef v(lowered: Lowered):\n    {body}\n\n@hookimpl\ndef aiecc_views(): return [v]\n"
    ended = plain.aiecc("design.mlir", *given(plain, body), "--get=v.txt")
    assert ended.code == 70 and ended.errors == [f"error: view v.txt: {text}"]
    assert f"a bug in plugin 'one': {text}" in ended.err
    assert not (plain.folder / "v.txt").exists()


@pytest.mark.tools
def test_a_wrapper_that_sometimes_swallows(plain: Project) -> None:
    body = WRAPPED.format("if report.program < 10: return None") + ""
    body = body.replace("    return report\n", "    if core.row == 9: return report\n").replace("< 10", "> 10")
    ended = plain.aiecc("design.mlir", *given(plain, body))
    assert ended.code == 2
    assert ended.errors == ["error: nobody makes main_core_0_2/report: every plugin declined the stage check  [E0902]"]
    assert "note: asked, in this order: one, check" in ended.err
    assert "note: a wrapper declines for all when it does not return what it got" in ended.err


@pytest.mark.tools
def test_a_stage_that_nobody_implements(plain: Project) -> None:
    words = given(plain, STAGE.format(gives="x", hook="aiecc_x", params="core: CoreId"))
    assert plain.aiecc("design.mlir", *words).code == 0  # nobody asked for it
    ended = plain.aiecc("design.mlir", *words, "--get=x")
    assert ended.code == 2 and "asked, in this order: nobody" in ended.err


# -- installed ones ----------------------------------------------------------------------------------------------------


def install(folder: Path, name: str, code: str) -> None:
    """What pip leaves of a package with one module."""
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[aiecc]\n{name} = {name}_module\n")
    (folder / f"{name}_module.py").write_text(code)


@pytest.mark.tools
def test_an_installed_one_that_fails_is_not_fatal_where_one_looks_for_help(
    plain: Project, tmp_path: Path, alone: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aiecc.cli import opt, translate

    install(tmp_path / "site", "broken", "import no_such\n")
    alone.syspath_prepend(str(tmp_path / "site"))
    text = "plugin 'broken' cannot be loaded: ModuleNotFoundError: No module named 'no_such'"
    ended = plain.aiecc("design.mlir")
    assert ended.code == 2 and ended.errors == [f"error: {text}  [E0902]"]
    assert "note: it comes from broken (entry point)" in ended.err
    assert plain.aiecc("--version", toolchain=None).code == 0
    said = plain.aiecc("--help", toolchain=None)
    assert said.code == 0 and f"plugins that are left out:\n  {text}\n" in said.out
    assert row(plain, "broken") == f"  broken 1.5  broken (entry point)  failed: {text}"
    assert "llvm" in plain.aiecc("tools").out
    for run in (opt.run, translate.run):
        assert run(["--aie-generate-target-arch"] * (run is translate.run) + [str(plain.folder / "design.mlir")]) == 2
        assert text in capsys.readouterr().err
    ended = plain.aiecc("design.mlir", "-p", "no:broken")
    assert ended.code == 0, ended.err


def test_a_blocked_one_is_not_imported(plain: Project, tmp_path: Path) -> None:
    install(tmp_path / "site", "loud", f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "aiecc", "plugins", "-p", "no:loud"]
    done = subprocess.run(command, cwd=plain.folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"^  loud 1\.5  loud \(entry point\)  blocked$", done.stdout, re.M)
    assert not (tmp_path / "ran").exists()
    subprocess.run(command[:-2], cwd=plain.folder, env=env, check=True, capture_output=True)
    assert (tmp_path / "ran").exists()
