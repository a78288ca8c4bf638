"""Passes of `aiecc-opt`, and the plugin left out."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ptokit import CASES, CUBE, CUBE_GM, FREE_V, POP_V, PUSH_C, USE_V, VECTOR, VECTOR_GM, WS, design, parts

from aiecc.cli.opt import run

Opt = Callable[..., tuple[int, str, str]]


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Opt:
    """`aiecc-opt` on a text: exit code, what it printed, what it said."""

    def call(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "a.mlir"
        path.write_text(text, "utf-8")
        code = run([*arguments, str(path)])
        found = capsys.readouterr()
        return code, found.out, found.err.replace(f"{path}", "a.mlir")

    return call


def test_a_good_design_comes_out_as_it_went_in(opt: Opt) -> None:
    text = design(CUBE, VECTOR)
    code, out, err = opt(text, "--pto-verify-pipes", "--pto-check-pipes")
    assert (code, err) == (0, "")
    assert opt(out)[1] == out
    assert "pto.tpush_to_aiv" in out and "target_arch" not in out


def test_a_broken_rule_is_told_at_its_line(opt: Opt) -> None:
    text = design(CUBE, VECTOR).replace("size = 8192", "size = 4096")
    code, out, err = opt(text, "--pto-verify-pipes")
    assert (code, out.strip()) == (1, "")
    assert err.startswith("a.mlir:10:12: error: 'c2v' has 4096 bytes, but 8 slots of 1024 need 8192  [E1201]\n")
    assert err.rstrip().endswith("todo: set size = 8192")


def test_the_platform_may_be_given(opt: Opt) -> None:
    text = design(CUBE_GM, VECTOR_GM, "", (WS, WS))
    code, out, _ = opt(text, "--pto-verify-pipes=arch=a3")
    assert code == 0
    assert 'pto.target_arch = "a3"' in out
    code, _, err = opt(text, "--pto-verify-pipes=arch=a5")
    assert code == 1
    assert "there is nothing for gm_slot_buffer to say" in err


def test_deadlocks_are_refused_with_the_ops_that_make_them(opt: Opt) -> None:
    code, _, err = opt(parts("w06")[3], "--pto-check-pipes")
    assert code == 1
    assert "[E1202]" in err and "'pto.tpop_from_aiv' op never ends" in err
    assert "todo: " in err


def test_the_literal_form_of_the_pseudocode_is_a_race(opt: Opt) -> None:
    """More tiles than slots, freed inside pop, used behind it."""
    body = ("%n = arith.constant 9 : index", "%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index")
    loop = "scf.for %i = %c0 to %n step %c1 {"
    text = design((*CUBE[:3], *body, loop, PUSH_C, "}"), (*VECTOR[:3], *body, loop, POP_V, USE_V, FREE_V, "}"))
    assert opt(text, "--pto-check-pipes")[0] == 0
    code, _, err = opt(text, "--pto-check-pipes=free=in-pop")
    assert code == 1
    assert "[E1203]" in err and "is a data race" in err


def test_a_way_to_free_there_is_not(opt: Opt) -> None:
    code, _, err = opt(design(CUBE, VECTOR), "--pto-check-pipes=free=never")
    assert code == 1
    assert "free=never is no way to free a slot; say after-use or in-pop" in err


def test_a_check_stops_at_broken_rules(opt: Opt) -> None:
    code, _, err = opt(parts("w10")[1], "--pto-check-pipes")
    assert code == 1
    assert "[E1201]" in err and "[E1202]" not in err


def test_lowering_makes_a_device_of_a_cluster(opt: Opt) -> None:
    code, out, err = opt(parts("w03")[0], "--pto-lower-pipes")
    assert err == ""
    assert code == 0
    assert "aie.device(pto_a5) @cube_vector" in out
    assert "pto.tpush" not in out and "pto.tpop" not in out


def test_lowering_refuses_what_the_rules_refuse(opt: Opt) -> None:
    code, out, err = opt(parts("w07")[0], "--pto-lower-pipes")
    assert (code, out.strip()) == (1, "")
    assert "whose slot was freed before" in err


@pytest.mark.parametrize("path", sorted(CASES.glob("*.mlir")), ids=lambda path: path.stem.partition(".")[0])
def test_cases_round_trip(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["--split-input-file", str(path)]) == 0
    first = capsys.readouterr().out
    again = tmp_path / "again.mlir"
    again.write_text(first, "utf-8")
    assert run(["--split-input-file", str(again)]) == 0
    assert capsys.readouterr().out == first
    assert first.count("module attributes") == len(parts(path.name.partition(".")[0]))


def test_help_names_the_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for word in ("--pto-verify-pipes", "--pto-check-pipes", "--pto-lower-pipes", "a2, a3 or a5"):
        assert word in text


def test_without_the_plugin_its_ops_are_refused_in_its_name(opt: Opt, alone: pytest.MonkeyPatch) -> None:
    text = design(CUBE, VECTOR)
    said = "the dialect 'pto' comes with the plugin 'tpush', left out by -p no:tpush"
    for head, name in ((text, "'#pto.kernel_kind'"), ("func.func private @f(!pto.ptr<f32>)\n", "'!pto.ptr'")):
        code, _, err = opt(head, "-p", "no:tpush")
        assert (code, f"error: {name}: {said}" in err) == (1, True)
    code, _, err = opt('"pto.tfree_from_aic"() {split = 0 : i8} : () -> ()\n', "-p", "no:tpush")
    assert (code, f"error: 'pto.tfree_from_aic': {said}" in err) == (1, True)
    code, _, err = opt(text, "-p", "no:tpush", "--pto-verify-pipes")
    assert "Unknown command line argument '--pto-verify-pipes'" in err
    assert opt("func.func @f() {\n  return\n}\n", "-p", "no:tpush", "--cse")[0] == 0
