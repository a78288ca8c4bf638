"""`aiecc-opt` from the outside: arguments, streams, files, exit codes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from mlirtools import outcome

from aiecc.base.diag import Refused
from aiecc.cli.opt import read_arguments, run
from aiecc.ir import registry

GOOD = "func.func @f(%a: i32) -> i32 {\n  %x = arith.addi %a, %a : i32\n  return %x : i32\n}\n"
PRINTED = (
    "module {\n  func.func @f(%arg0: i32) -> i32 {\n    %0 = arith.addi %arg0, %arg0 : i32\n"
    "    return %0 : i32\n  }\n}\n\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(GOOD)
    return path


def test_prints_what_it_read(file: Path, capsys: pytest.CaptureFixture[str]):
    assert run([str(file)]) == 0
    assert capsys.readouterr() == (PRINTED, "")


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for args in ([], ["-"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
        assert run(args) == 0
        assert capsys.readouterr().out == PRINTED


def test_an_output_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out.mlir"
    assert run([str(file), "-o", str(out)]) == 0
    assert out.read_text() == PRINTED
    assert capsys.readouterr() == ("", "")
    assert run([str(file), f"-o={tmp_path / 'no' / 'out'}"]) == 1
    assert "cannot open output file" in capsys.readouterr().err


def test_a_failure_writes_no_file(file: Path, tmp_path: Path):
    file.write_text("module {")
    out = tmp_path / "out.mlir"
    out.write_text("old")
    assert run([str(file), "-o", str(out)]) == 1
    assert out.read_text() == "old"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("module {", ":1:9: error: expected operation name in quotes"),
        ("func.func @f() { return }\nfunc.func @f() { return }", ":2:1: error: redefinition of symbol named 'f'"),
        ('"foo.bar"() : () -> ()', "unregistered dialect"),
    ],
)
def test_errors_end_with_one(text: str, words: str, file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(text)
    assert run([str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "Traceback" not in err


def test_unregistered_dialects_on_request(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text('"foo.bar"() : () -> ()')
    assert run(["-allow-unregistered-dialect", str(file)]) == 0
    assert '"foo.bar"() : () -> ()' in capsys.readouterr().out


def test_parts_stand_alone(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(f"{GOOD}// -----\nmodule {{\n  oops\n}}\n// ----- \n{GOOD}")
    assert run(["--split-input-file", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == f"{PRINTED}// -----\n// -----\n{PRINTED}"
    assert f"{file}:7:3: error: custom op 'oops' is unknown" in err
    assert run([str(file)]) == 1


def test_a_failure_of_one_part_writes_no_file(file: Path, tmp_path: Path):
    out = tmp_path / "out.mlir"
    file.write_text(f"{GOOD}// -----\noops\n")
    assert run(["--split-input-file", str(file), "-o", str(out)]) == 1
    assert not out.exists()
    file.write_text(f"{GOOD}// -----\n")
    assert run(["--split-input-file", str(file), "-o", str(out)]) == 0
    assert out.read_text() == f"{PRINTED}// -----\nmodule {{\n}}\n\n"


def test_a_marker_counts_wherever_it_stands(file: Path, capsys: pytest.CaptureFixture[str]):
    # Behind ops, before a comment; what follows it keeps its column. A longer rule is no marker.
    file.write_text(
        f"{GOOD}// ------\n{GOOD.rstrip().replace('@f', '@g')} // -----// end\nmodule {{}}  // -----  oops\n"
    )
    assert run(["-split-input-file", str(file)]) == 1
    out, err = capsys.readouterr()
    both = PRINTED.removesuffix("}\n\n") + PRINTED.removeprefix("module {\n").replace("@f", "@g")
    assert out == f"{both}// -----\nmodule {{\n}}\n\n// -----\n"
    assert f"{file}:10:22: error: custom op 'oops' is unknown" in err


def test_markers_of_ones_own(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(f"{GOOD}//---- next\n{GOOD}")
    for joint, between in ((None, "// -----\n"), ("//====", "//====\n"), ("", "\n")):
        args = [] if joint is None else ["--output-split-marker", joint]
        assert run(["--split-input-file=//---- next", *args, str(file)]) == 0
        assert capsys.readouterr().out == f"{PRINTED}{between}{PRINTED}"


def test_the_line_an_error_is_about(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(f"{GOOD}// -----\nfunc.func @g() {{\n\toops\r\n}}\n// -----\nfunc.func @a() {{ return }}\n @é\n")
    assert run(["--split-input-file", str(file)]) == 1
    lines = capsys.readouterr().err.split("\n")
    assert lines[0].startswith(f"{file}:7:2: error: ")
    assert lines[1:3] == ["        oops", "        ^"]
    assert lines[3].startswith(f"{file}:11:")
    assert lines[4:] == [" @é", ""]


def test_the_line_a_note_is_about(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text("module {\n  func.func private @f()\n  func.func private @f()\n}\n")
    assert run([str(file)]) == 1
    assert capsys.readouterr().err == (
        f"{file}:3:3: error: redefinition of symbol named 'f'  [E0101]\n"
        "  func.func private @f()\n  ^\n"
        f"{file}:2:3: note: see existing symbol definition here\n"
        "  func.func private @f()\n  ^\n"
    )


@pytest.mark.tools
def test_lines_as_mlir_opt_shows_them(file: Path, capsys: pytest.CaptureFixture[str]):
    wrong = [
        "func.func @f(%a: i32) -> i64 {\n\t return %a : i32\n}\n",
        "module {\n  func.func private @f()\n\tfunc.func\tprivate @f()\n}\n",
        "func.func @f() {\n  %a = arith.constant 1 : i32  // é\n  return %b : i32\n}\n",
        "func.func @f() {\n  return %é : i32\n}\n",
        "func.func @f() {\r\n  return %b : i32\r\n}\r\n",
    ]
    text = "// -----\n".join(wrong)
    theirs = outcome("mlir", "mlir-opt", "-", "--split-input-file", "--mlir-print-op-on-diagnostic=false", text=text)
    file.write_text(text)
    assert run(["--split-input-file", str(file)]) == 1
    ours = capsys.readouterr().err.replace(str(file), "<stdin>").replace("  [E0002]", "").replace("  [E0101]", "")
    assert ours == theirs.stderr


def test_expected_errors(file: Path, capsys: pytest.CaptureFixture[str]):
    wanted = "func.func @f() { return }\n// expected-error @+1 {{redefinition of symbol}}\nfunc.func @f() { return }\n"
    file.write_text(f"{wanted}// -----\n{GOOD}")
    assert run(["--verify-diagnostics", "--split-input-file", str(file)]) == 0
    assert capsys.readouterr().err == ""
    file.write_text(wanted.replace("@+1", "@+2"))
    assert run(["--verify-diagnostics", str(file)]) == 1
    err = capsys.readouterr().err
    assert f"{file}:3:1: error: unexpected error: redefinition of symbol named 'f'" in err
    assert f'{file}:2:4: error: expected error "redefinition of symbol" was not produced\n// expected' in err
    assert err.endswith("\n   ^\n")


def test_only_expected_errors(file: Path, capsys: pytest.CaptureFixture[str]):
    twice = "func.func @f() { return }\nfunc.func @f() { return }\n"
    file.write_text(f"// expected-error @+2 {{{{redefinition}}}}\n{twice}// -----\n{twice}")
    assert run(["--verify-diagnostics", "--split-input-file", str(file)]) == 1
    assert "unexpected error" in capsys.readouterr().err
    assert run(["--verify-diagnostics=only-expected", "--split-input-file", str(file)]) == 0
    assert capsys.readouterr().err == ""
    file.write_text(f"// expected-error @+2 {{{{something else}}}}\n{twice}")
    assert run(["--verify-diagnostics=only-expected", str(file)]) == 1
    assert "unexpected" not in capsys.readouterr().err


def test_passes_in_both_styles(file: Path, capsys: pytest.CaptureFixture[str]):
    design = 'aie.device(npu2) {\n  %t = aie.tile(0, 2)\n  %l = aie.lock(%t) {sym_name = "l"}\n}\n'
    file.write_text(design)
    wanted = "aie.lock(%tile_0_2, 0)"
    for args in (
        ["--aie-assign-lock-ids"],
        ["-aie-assign-lock-ids", "-cse"],
        ["--pass-pipeline=builtin.module(aie.device(aie-assign-lock-ids))"],
        ["-pass-pipeline", "any(aie.device(aie-assign-lock-ids),cse)"],
    ):
        assert run([*args, str(file)]) == 0
        assert wanted in capsys.readouterr().out


def test_a_pass_of_a_higher_floor(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(
        'aie.device(npu2) {\n  %t = aie.tile(0, 1)\n  %b = aie.buffer(%t) {sym_name = "b"} : memref<16xi32>\n}\n'
    )
    assert run(["--aie-assign-buffer-addresses", str(file)]) == 0
    assert "address = 0 : i32" in capsys.readouterr().out


def test_debuginfo_and_generic(file: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["--mlir-print-debuginfo", str(file)]) == 0
    assert f'loc("{file}":2:8)' in capsys.readouterr().out
    assert run(["--mlir-print-op-generic", str(file)]) == 0
    assert '"func.return"(%0) : (i32) -> ()' in capsys.readouterr().out


def test_the_steps_on_the_way(file: Path, capsys: pytest.CaptureFixture[str]):
    unused = "  func.func @f() {\n    %c1_i32 = arith.constant 1 : i32\n    return\n  }\n"
    file.write_text(unused)
    before = f"// -----// IR Dump Before Cse (cse) //----- //\nmodule {{\n{unused}}}\n\n\n"
    after = "// -----// IR Dump After Cse (cse) //----- //\nmodule {\n  func.func @f() {\n    return\n  }\n}\n\n\n"
    for switch, shown in (("before", before), ("after", after)):
        assert run(["--cse", f"--mlir-print-ir-{switch}-all", str(file)]) == 0
        assert capsys.readouterr().err == shown
    nested = "--pass-pipeline=builtin.module(func.func(cse))"
    assert run([nested, "--mlir-print-ir-after-all", str(file)]) == 0
    assert capsys.readouterr().err.endswith("//----- //\nfunc.func @f() {\n  return\n}\n\n")


def test_the_step_that_failed(file: Path, capsys: pytest.CaptureFixture[str]):
    locks = "".join(f"  %l{i} = aie.lock(%t)\n" for i in range(17))
    file.write_text(f"aie.device(npu2) {{\n  %t = aie.tile(0, 2)\n{locks}}}\n")
    assert run(["--aie-assign-lock-ids", "--mlir-print-ir-after-all", str(file)]) == 1
    assert "// -----// IR Dump After AssignLockIds Failed (aie-assign-lock-ids)" in capsys.readouterr().err


@pytest.mark.tools
def test_steps_as_mlir_opt_shows_them(file: Path, capsys: pytest.CaptureFixture[str]):
    file.write_text(GOOD)
    for pipeline in ("builtin.module(cse)", "builtin.module(func.func(cse))"):
        args = [f"--pass-pipeline={pipeline}", "--mlir-print-ir-after-all", "--mlir-print-ir-before-all"]
        assert run([*args, str(file)]) == 0
        shown = outcome("mlir", "mlir-opt", *args, "--mlir-disable-threading", "-", text=GOOD).stderr
        assert capsys.readouterr().err == shown.replace(" CSE ", " Cse ")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--aie-asign-lock-ids"], "Unknown command line argument '--aie-asign-lock-ids'."),
        (["a", "b"], "Too many positional arguments"),
        (["--pass-pipeline=cse", "--cse"], "can't be used with individual pass options"),
        (["-o"], "requires a value"),
        (["--verify-each=maybe"], "invalid value for boolean argument"),
        (["--verify-diagnostics=maybe"], "Cannot find option named 'maybe'!"),
        (["--output-split-marker"], "requires a value"),
        (["--cse=x=1"], "no such option x"),
        (["--pass-pipeline=builtin.module(("], "does not refer to a registered pass"),
        (["-p", "no_such_module_anywhere"], "no_such_module_anywhere"),
    ],
)
def test_wrong_command_lines(args: list[str], words: str, capsys: pytest.CaptureFixture[str]):
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot open input file"), (b"\xff\xfe\x00", "is not a text file")],
)
def test_files_that_cannot_be_read(
    content: bytes | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "f.mlir"
    if content is not None:
        path.write_bytes(content)
    assert run([str(path)]) == 1
    assert words in capsys.readouterr().err
    assert run([str(tmp_path)]) == 1


def test_help_lists_passes_and_options(capsys: pytest.CaptureFixture[str]):
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    for word in (
        "--aie-assign-lock-ids",
        "--aie-assign-buffer-addresses",
        "--canonicalize",
        "max-iterations=",
        "--split-input-file",
    ):
        assert word in out


def test_arguments():
    request = read_arguments(
        ["-split-input-file=false", "--cse", "x.mlir", '--canonicalize="max-iterations=2"', "-o=y"]
    )
    assert request.passes == [("cse", ""), ("canonicalize", '"max-iterations=2"')]
    assert (request.file, request.output, request.split) == ("x.mlir", "y", "")
    assert [read_arguments([f"--split-input-file{v}"]).split for v in ("", "=true", "=0", "=// x")] == [
        "// -----",
        "// -----",
        "",
        "// x",
    ]
    assert [read_arguments([f"--verify-diagnostics{v}"]).expect for v in ("", "=only-expected", "=false")] == [
        "all",
        "only-expected",
        "",
    ]
    with pytest.raises(Refused):
        read_arguments(["--pass-pipeline"])
    assert read_arguments(["--", "--odd.mlir"]).file == "--odd.mlir"


def test_a_plugin_brings_a_dialect_and_a_pass(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    for name, fresh in (("_plugin_dialects", {}), ("_plugin_passes", {}), ("_context", None)):
        monkeypatch.setattr(registry, name, fresh)
    plugin = tmp_path / "myplugin.py"
    plugin.write_text(
        """
from dataclasses import dataclass
from typing import ClassVar
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition
from aiecc.api import hookimpl
from aiecc.ir.passes.base import Pass


@irdl_op_definition
class PingOp(IRDLOperation):
    name = "mine.ping"
    assembly_format = "attr-dict"


@dataclass(frozen=True)
class Pings(Pass):
    name: ClassVar[str] = "mine-pings"

    def apply(self, op, sink):
        for inner in op.walk():
            if isinstance(inner, PingOp):
                inner.attributes["pong"] = UnitAttr()


@hookimpl
def aiecc_dialects():
    return [("mine", lambda: Dialect("mine", [PingOp]))]


@hookimpl
def aiecc_passes():
    return [Pings]
"""
    )
    file.write_text("mine.ping\n")
    assert run(["-p", str(plugin), "--mine-pings", str(file)]) == 0, capsys.readouterr().err
    assert "mine.ping {pong}" in capsys.readouterr().out
