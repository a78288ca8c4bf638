"""What the command line understands, refuses, and says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aiecc.cli.flags import LATER
from aiecc.testing.kit import Project

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def one_core(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.copy(EXAMPLES / "one_core")
    return made


def refused(project: Project, *args: str) -> str:
    ended = project.aiecc("design.mlir", *args)
    assert ended.code == 2, (ended.code, ended.err)
    assert len(ended.errors) == 1 and ended.errors[0].endswith("[E0901]"), ended.err
    assert sorted(p.name for p in project.folder.iterdir()) == ["design.mlir", "smooth.c"]
    return ended.err


@pytest.mark.parametrize("name", LATER)
def test_options_of_later_versions_are_known_and_refused(one_core: Project, name: str) -> None:
    """With one dash or two, with its value joined or apart: refused in words, never misread."""
    takes, subject = LATER[name]
    spellings = [[name + ("=x" if takes and name.startswith("--") else "x" if takes else "")]]
    if takes:
        spellings.append([name, "x"])
    if name.startswith("--") and not name.startswith("--get-"):
        spellings.append([name[1:] + ("=x" if takes else "")])
    for words in spellings:
        said = refused(one_core, *words)
        assert f"aiecc: {name} belongs to {subject}, which this version does not build yet" in said


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("-jx",), "'x' is not a number"),
        (("-j", "1.5"), "'1.5' is not a number"),
        (("-j=-3",), "expected a non-negative integer, not -3"),
        (("-j4294967296",), "expected a non-negative integer, not 4294967296"),
        (("-O4",), "an optimization level is 0 to 3, not 4"),
        (("-O",), "Option '-O' requires an argument"),
        (("--default-stack-size=-1",), "a size is 0 to 2147483647 bytes, not -1"),
        (("--default-stack-size=1k",), "'1k' is not a number"),
        (("--placement-budget=0",), "placement-budget must be positive, got 0"),
        (("--placement=best",), "'best' is not one of ranked, spread"),
        (("--verify-each=maybe",), "a switch is true or false, not 'maybe'"),
        (("--frobnicate",), "Unknown command line argument '--frobnicate'."),
        (("-frobnicate",), "Unknown command line argument '-frobnicate'."),
        (("--output-dir",), "requires an argument"),
        (("more.mlir",), "aiecc: only one input MLIR file is allowed before '--'"),
        (("--", "host.cpp"), "words after '--' belong to host programs"),
        (("--device-name=left",), "no device 'left' in 'design.mlir'; it has main"),
    ],
)
def test_what_makes_no_sense_is_refused(one_core: Project, args: tuple[str, ...], text: str) -> None:
    ended = one_core.aiecc("design.mlir", *args, toolchain=None)
    assert ended.code == 2, (ended.code, ended.err)
    assert len(ended.errors) == 1 and text in ended.err, ended.err
    assert not list(one_core.folder.glob("elfs_*"))


def test_no_input(one_core: Project) -> None:
    for args in ((), ("-v",), ("--get=report.json",)):
        ended = one_core.aiecc(*args)
        assert ended.code == 2
        assert "aiecc: no input file specified; expected an input .mlir" in ended.err


def test_a_device_that_is_not_there(one_core: Project) -> None:
    ended = one_core.aiecc("design.mlir", "--sequence-name=go", "--get=input_with_symbols.mlir")
    assert ended.code == 2 and "no runtime sequence 'go' in 'design.mlir'; it has none" in ended.err


def test_the_input_may_come_through_a_pipe(one_core: Project) -> None:
    command = [sys.executable, "-m", "aiecc", "-", "--get=default_stack_size.mlir"]
    text = (one_core.folder / "design.mlir").read_bytes()
    done = subprocess.run(command, cwd=one_core.folder, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (one_core.folder / "default_stack_size.mlir").is_file()


def test_a_dry_run_does_nothing(one_core: Project) -> None:
    ended = one_core.aiecc("design.mlir", "-n", "--get=elfs_{0}.elf,report.json", "--output-dir=out")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0] == "aiecc: plan for 'design.mlir' (nothing is run)"
    order = [line.split()[0] for line in lines[1 : lines.index("writes")]]
    assert order[:3] == ["tools", "parse", "lower"] and order[-1] == "check"
    assert order.index("measure") < order.index("place") < order.index("link") < order.index("check")
    assert lines[lines.index("writes") + 1 :] == ["  out/elfs_{core}/elfs_{core}.elf", "  out/report.json"]
    assert sorted(p.name for p in one_core.folder.iterdir()) == ["design.mlir", "smooth.c"]
    less = one_core.aiecc("design.mlir", "--dry-run", "--get=input_with_symbols.mlir").out
    assert [line.split()[0] for line in less.splitlines()[1:4]] == ["parse", "lower", "writes"]
    assert one_core.aiecc("nowhere.mlir", "-n").code == 1
    assert one_core.aiecc("design.mlir", "-n", "--get=nothing").code == 2


@pytest.mark.tools
def test_switches_have_opposites(one_core: Project) -> None:
    """The last one wins, as with LLVM's tools."""
    text = one_core.read("design.mlir").replace("stack_size = 2048", "stack_size = 64")
    one_core.write("small.mlir", text)
    for args, code in (
        (("--no-measure-stack-size",), 0),
        (("--no-measure-stack-size=true",), 0),
        (("-no-measure-stack-size=1",), 0),
        (("--no-measure-stack-size=false",), 1),
        (("--no-measure-stack-size", "--measure-stack-size"), 1),
        (("--measure-stack-size=false",), 0),
    ):
        assert one_core.aiecc("small.mlir", *args).code == code, args


@pytest.mark.tools
def test_warnings_come_before_errors(one_core: Project) -> None:
    one_core.write("smooth.c", "#warning look here\n" + one_core.read("smooth.c"))
    text = one_core.read("design.mlir").replace("stack_size = 2048", "stack_size = 64")
    one_core.write("design.mlir", text)
    ended = one_core.aiecc("design.mlir")
    levels = re.findall(r"^(?:design\.mlir:\d+:\d+: )?(warning|error): ", ended.err, re.M)
    assert levels == ["warning", "error"]
    assert ended.err.splitlines()[-1] == "aiecc: pipeline failed"


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX")
@pytest.mark.parametrize(("more", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_color_on_terminals_that_want_it(one_core: Project, more: dict[str, str], colored: bool) -> None:
    import pty

    here, there = pty.openpty()
    env = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **more}
    command = [sys.executable, "-m", "aiecc", "nowhere.mlir"]
    assert subprocess.run(command, cwd=one_core.folder, env=env, stderr=there, check=False).returncode == 1
    os.close(there)
    said = os.read(here, 65536).decode()
    os.close(here)
    assert ("\033[" in said) == colored and "could not open input file 'nowhere.mlir'" in said


def test_version_and_help_come_at_once(one_core: Project) -> None:
    from aiecc import __version__

    for option in ("--version", "-version", "--aie-version"):
        assert one_core.aiecc(option, toolchain=None).out == f"aiecc {__version__}\n"
    page = one_core.aiecc("design.mlir", "--help").out
    assert "OUTPUT SELECTORS:" in page and "exit codes: 0 ok, 1 design refused, 2 usage" in page
    heavy = "import sys; sys.argv = ['aiecc', sys.argv[1]]\nfrom aiecc.cli.main import main\n"
    heavy += "try: main()\nexcept SystemExit: pass\n"
    heavy += "print([m for m in ('xdsl', 'elftools', 'lief', 'ortools', 'pluggy', 'rich') if m in sys.modules])"
    for option in ("--version", "--help"):
        done = subprocess.run([sys.executable, "-c", heavy, option], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


def test_config_and_tools(one_core: Project) -> None:
    ended = one_core.aiecc("config", "--include-dir")
    assert ended.code == 0 and (Path(ended.out.strip()) / "aie_bank_placement.h").is_file()
    assert one_core.aiecc("config", "--nothing").code == 2
    assert one_core.aiecc("config").code == 2
    assert one_core.aiecc("tools", "extra").code == 2
    assert one_core.aiecc("plugins", "extra").code == 2
    for word in ("tools", "plugins", "config"):
        ended = one_core.aiecc(word, "--help")
        assert ended.code == 0 and ended.out.startswith(f"usage: aiecc {word}")


def test_a_reader_that_goes_away_is_no_error(one_core: Project) -> None:
    command = [sys.executable, "-m", "aiecc", "--emit-dot"]
    build = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert build.stdout is not None and build.stderr is not None
    build.stdout.close()
    assert build.wait() in (0, 1) and b"Traceback" not in build.stderr.read()
    build.stderr.close()
