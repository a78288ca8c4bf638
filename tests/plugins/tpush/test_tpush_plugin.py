"""Our plugin among others: found by default, blocked by name, heard at its stages, and no reach beyond the door."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ptokit import CUBE, CUBE_GM, CUBE_V2C, VECTOR, VECTOR_GM, VECTOR_V2C, WS, changed, design

from aiecc.api import Module, Sink, load_plugins
from aiecc.cli.opt import run as opt
from aiecc.plugins import tpush
from aiecc.testing.kit import Project

EXAMPLES = Path(__file__).parents[3] / "examples"
ONE_CORE = EXAMPLES / "one_core"
GOOD = design(CUBE, VECTOR, "a5")
BOTH_CUBE = changed((*CUBE, *CUBE_V2C[2:]), ("dir_mask = 1", "dir_mask = 3"))
PLUGIN = Path(tpush.__file__).parent


def test_it_is_found_without_being_asked_for(tmp_path: Path) -> None:
    listed = Project(tmp_path).aiecc("plugins").out
    row = re.search(r"^  tpush (\S+)  aiecc  loaded  \((.*)\)\n      brings (.*)$", listed, re.M)
    assert row is not None, listed
    for hook in ("aiecc_dialects", "aiecc_lower", "aiecc_parse", "aiecc_passes", "aiecc_stages", "aiecc_views"):
        assert hook in row[2]
    for brought in ("dialect pto", "pass pto-check-pipes", "view pipes.txt", "view pipes.json", "device pto_a5"):
        assert brought in row[3]
    lines = {line.split()[0]: line.split(None, 3)[3] for line in listed.partition("stages\n")[2].splitlines()}
    assert lines["parse"] == "tpush (implementation) > parse (fallback)"
    assert lines["lower"] == "tpush (implementation) > lower (fallback)"
    assert lines["threads"] == "tpush (implementation)"


@pytest.mark.parametrize("text", (GOOD, 'module { "pto.tfree_from_aic"() {split = 0 : i8} : () -> () }\n'))
def test_blocked_its_ops_are_refused_in_words_that_name_it(tmp_path: Path, text: str) -> None:
    """In its own form and in the generic one, even where ops of unknown dialects pass."""
    project = Project(tmp_path)
    project.write("design.mlir", text)
    ran = project.aiecc("design.mlir", "-p", "no:tpush")
    assert ran.code == 1 and ran.errors
    assert "the dialect 'pto' comes with the plugin 'tpush', left out by -p no:tpush" in ran.errors[0]
    for more in ((), ("--allow-unregistered-dialect",)):
        command = [sys.executable, "-m", "aiecc.cli.opt", "-p", "no:tpush", *more, str(tmp_path / "design.mlir")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1 and "comes with the plugin 'tpush'" in done.stderr


def test_it_comes_back_in_the_same_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Project(tmp_path).write("design.mlir", GOOD)
    project = Project(tmp_path)
    assert project.aiecc("design.mlir", "-p", "no:tpush").code == 1
    assert project.aiecc("plugins").code == 0
    capsys.readouterr()
    assert opt([str(file), "--pto-check-pipes"]) == 0


@pytest.mark.tools
def test_blocked_the_rest_works(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.copy(ONE_CORE)
    ran = project.aiecc("design.mlir", "-p", "no:tpush")
    assert ran.code == 0, ran.err
    assert project.elf()


def test_blocked_it_is_not_imported() -> None:
    code = (
        "import sys\nfrom aiecc.api import load_plugins\nload_plugins(['no:tpush'])\n"
        "sys.exit(any(m.startswith('aiecc.plugins') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_where_nothing_is_its_own_it_brings_no_xdsl() -> None:
    """Every build loads it, so it must be cheap."""
    code = (
        "import sys\nfrom aiecc.api import load_plugins\nload_plugins()\n"
        "sys.exit('aiecc.plugins.tpush' not in sys.modules or any(m.startswith('xdsl') for m in sys.modules))"
    )
    # The devices it brings are part of what it costs; xDSL is not.
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_it_uses_nothing_but_the_door() -> None:
    """What import-linter holds, read once more from the sources."""
    reached: set[str] = set()
    for file in PLUGIN.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, file
                reached.add(node.module or "")
            elif isinstance(node, ast.Import):
                reached |= {alias.name for alias in node.names}
    assert {m for m in reached if m.split(".")[0] == "aiecc" and not m.startswith("aiecc.plugins.tpush")} == {
        "aiecc.api"
    }
    assert {m.split(".")[0] for m in reached} <= {"aiecc", "xdsl", *sys.stdlib_module_names}


def test_it_leaves_others_designs_alone() -> None:
    hook = load_plugins().hook
    text = "module { aie.device(npu2) { %t = aie.tile(0, 2) } }\n"
    from aiecc.api import Source

    found = hook.aiecc_parse(source=Source("a.mlir", text), diag=(diag := Sink()))
    assert isinstance(found, Module) and not diag.items


WRONG = (
    ((CUBE, ()), "there is no function 'vector'"),
    ((changed(CUBE, ("split = 0", "split = 3")), VECTOR), "split"),
)


@pytest.mark.parametrize(("sides", "words"), WRONG)
def test_parse_refuses_what_rules_forbid(
    tmp_path: Path, sides: tuple[tuple[str, ...], tuple[str, ...]], words: str
) -> None:
    project = Project(tmp_path)
    text = design(*sides, "a5")
    if not sides[1]:
        text = text.replace("func.func @vector", "func.func @other")
    project.write("design.mlir", text)
    ran = project.aiecc("design.mlir")
    assert ran.code == 1 and words in ran.errors[0] and ran.errors[0].startswith("design.mlir:")


def test_devices_beside_pipes_are_refused(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("design.mlir", GOOD.rstrip()[:-1] + "  aie.device(npu2) {\n  }\n}\n")
    ran = project.aiecc("design.mlir")
    assert ran.code == 1 and "cannot have devices of its own" in ran.errors[0]


def deadlock() -> str:
    """Both cores pop before they push."""
    cube = changed((*CUBE[:-1], *CUBE_V2C[2:], CUBE[-1]), ("dir_mask = 1", "dir_mask = 3"))
    vector = changed((*VECTOR, *VECTOR_V2C[2:]), ("dir_mask = 1", "dir_mask = 3"))
    both = "(c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)"
    cube = changed((CUBE_V2C[0].replace("8192", "4096"), *cube), ("(c2v_consumer_buf = %c2v : i32)", both))
    vector = changed((VECTOR_V2C[0], *vector), ("(c2v_consumer_buf = %c2v : i32)", both))
    return design(cube, changed(vector, ("8192", "4096")), "a5")


def test_lower_refuses_a_deadlock(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("design.mlir", deadlock())
    ran = project.aiecc("design.mlir")
    assert ran.code == 1
    (error,) = ran.errors
    assert "never ends: the cores wait for one another" in error and "[E1202]" in error
    assert "todo: in @cube, put the push of C2V" in ran.err


@pytest.mark.tools
def test_the_check_can_be_eased(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("design.mlir", deadlock())
    ran = project.aiecc("design.mlir", "--hang-check=warn")
    assert ran.code == 0 and "warning: " in ran.err and "[W1202]" in ran.err
    ran = project.aiecc("design.mlir", "--hang-check=off")
    assert ran.code == 0 and "1202" not in ran.err


@pytest.mark.tools
def test_views_of_a_build(tmp_path: Path) -> None:
    """Addresses are those of the linked cores: the ring lies in the Vector core's memory, around its own data."""
    project = Project(tmp_path)
    project.write("design.mlir", GOOD)
    ran = project.aiecc("design.mlir", "--get=pipes.txt,pipes.json,steps.txt,input_with_addresses.mlir")
    assert ran.code == 0, ran.err
    (ring,) = json.loads(project.read("pipes.json"))["clusters"][0]["pipes"][0]["rings"]
    placed = re.search(
        r"address = (\d+) : i32[^}]*sym_name = \"vector0_c2v\"", project.read("input_with_addresses.mlir")
    )
    assert placed is not None and ring["base"] == int(placed[1])
    assert [slot["address"] - ring["base"] for slot in ring["slots"]] == [1024 * tag for tag in range(8)]
    assert f"UB of Vector 0 0x{ring['base']:X}.." in project.read("pipes.txt")
    steps = project.read("steps.txt")
    assert f"copy start slot[0] vec 0x{ring['base']:x} 1024" in steps
    assert re.search(r"set free: vector 0->cube flag 0  line \d+\n", steps)


@pytest.mark.tools
def test_views_of_a_workspace(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("design.mlir", design(CUBE_GM, VECTOR_GM, "a3", (WS, WS)))
    ran = project.aiecc("design.mlir", "--get=pipes.json")
    assert ran.code == 0, ran.err
    (found,) = json.loads(project.read("pipes.json"))["clusters"]
    assert [space["size"] for space in found["workspaces"]] == [8192]
    assert found["pipes"][0]["rings"][0]["base"] == 0


@pytest.mark.tools
def test_a_design_without_pipes_has_none_to_show(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.copy(ONE_CORE)
    ran = project.aiecc("design.mlir", "--get=pipes.txt")
    assert ran.code == 2 and "the design has no pipes" in ran.err


def test_lowered_to_steps_by_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every call of a push and a pop, in the protocol's order; what comes out is read again."""
    file = Project(tmp_path).write("design.mlir", GOOD)
    assert opt([str(file), "--pto-lower-pipes"]) == 0
    out = capsys.readouterr().out
    cube, vector = out.split("aie.core")[1:]
    calls = [re.findall(r"call @pto_(set_flag|wait_flag|copy_done|copy|alias)", core) for core in (cube, vector)]
    assert calls[0] == ["wait_flag", "copy", "copy_done", "set_flag"]
    assert calls[1][-3:] == ["wait_flag", "alias", "set_flag"]
    again = Project(tmp_path).write("again.mlir", out)
    assert opt([str(again), "-p", "tpush"]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.tools
def test_both_lanes_have_their_rings_at_one_address(tmp_path: Path) -> None:
    """The table shows one address for both: the lanes run one function, so they are placed alike."""
    project = Project(tmp_path)
    project.copy(EXAMPLES / "pipes_split")
    ran = project.aiecc("design.mlir", "--get=input_with_addresses.mlir,pipes.json")
    assert ran.code == 0, ran.err
    text = project.read("input_with_addresses.mlir")
    found = [re.search(rf"address = (\d+) : i32[^}}]*sym_name = \"vector{lane}_halves\"", text) for lane in (0, 1)]
    (ring,) = json.loads(project.read("pipes.json"))["clusters"][0]["pipes"][0]["rings"]
    assert [int(m[1]) for m in found if m] == [ring["base"]] * 2 and ring["owner"] == ["Vector 0", "Vector 1"]
