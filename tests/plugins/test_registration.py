"""What plugins register from a file: a dialect, a pass, a device."""

import subprocess
import sys
from pathlib import Path

import pytest

from aiecc.testing.kit import Project

PLUGIN = """
from dataclasses import dataclass, replace
from typing import ClassVar

from aiecc.api import hookimpl, targets


@hookimpl
def aiecc_dialects():
    return [("toy", _dialect)]


def _dialect():
    from xdsl.dialects.builtin import IntegerAttr
    from xdsl.ir import Dialect
    from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
    from xdsl.utils.exceptions import VerifyException

    @irdl_op_definition
    class Mark(IRDLOperation):
        name = "toy.mark"
        value = prop_def(IntegerAttr)
        assembly_format = "$value attr-dict"

        def verify_(self):
            if self.value.value.data > 9:
                raise VerifyException("a mark has one digit")

    return Dialect("toy", [Mark], [])


@hookimpl
def aiecc_passes():
    from aiecc.api import Pass

    @dataclass(frozen=True)
    class Forget(Pass):
        name: ClassVar[str] = "toy-forget"
        summary: ClassVar[str] = "Take all marks away"

        def apply(self, op, sink):
            for each in [o for o in op.walk() if o.name == "toy.mark"]:
                each.detach()

    return [Forget]


@hookimpl
def aiecc_targets():
    return [replace(targets.get("npu2_1col"), name="npu2_tiny", number=99, columns=2)]
"""
DESIGN = """module {
  aie.device(DEVICE) {
    toy.mark MARK : i32
    %tile = aie.tile(1, 2)
    %buf = aie.buffer(%tile) {sym_name = "buf"} : memref<16xi32>
    %core = aie.core(%tile) {
      aie.end
    }
  }
}
"""


@pytest.fixture
def toys(tmp_path: Path, alone: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    made.write("toys.py", PLUGIN)
    return made


def write(project: Project, device: str = "npu2", mark: str = "7", toy: bool = True) -> None:
    text = DESIGN.replace("DEVICE", device).replace("MARK", mark)
    project.write("design.mlir", text if toy else text.replace(f"    toy.mark {mark} : i32\n", ""))


WORDS = ("design.mlir", "-p", "toys.py", "--get=input_with_symbols.mlir")


def test_a_dialect(toys: Project) -> None:
    """It is read, verified and printed like ours, at the user's own lines."""
    write(toys)
    ended = toys.aiecc(*WORDS)
    assert ended.code == 0, ended.err
    assert "toy.mark 7 : i32" in toys.read("input_with_symbols.mlir")
    write(toys, mark="12")
    ended = toys.aiecc(*WORDS)
    assert ended.code == 1 and ended.errors[0].startswith("design.mlir:3:5: error: ")
    assert "a mark has one digit" in ended.errors[0]


def test_a_dialect_that_changes_is_read_with_anew(toys: Project) -> None:
    """Its source is part of what every product depends on: an op that was good may not be any more."""
    write(toys)

    def ran() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "aiecc", *WORDS, "--toolchain=llvm"]
        return subprocess.run(command, cwd=toys.folder, capture_output=True, text=True)

    assert ran().returncode == 0
    toys.write("toys.py", PLUGIN.replace("> 9", "> 5"))
    done = ran()
    assert done.returncode == 1 and "a mark has one digit" in done.stderr


def test_a_pass(toys: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from aiecc.cli.opt import run

    write(toys)
    monkeypatch.chdir(toys.folder)
    assert run(["--toy-forget", "design.mlir"]) == 2  # nobody brings it
    assert "toy-forget" in capsys.readouterr().err
    for words in (["--toy-forget"], ["--pass-pipeline=builtin.module(toy-forget)"]):
        assert run(["-p", "toys.py", *words, "design.mlir"]) == 0
        said = capsys.readouterr().out
        assert "aie.core" in said and "toy.mark" not in said
    assert run(["-p", "toys.py", "--help"]) == 0
    assert "--toy-forget" in capsys.readouterr().out


@pytest.mark.tools
def test_a_device(toys: Project) -> None:
    write(toys, device="npu2_tiny", toy=False)
    ended = toys.aiecc("design.mlir")
    assert ended.code == 1 and ended.errors[0].startswith("design.mlir:2:14: error: ")
    ended = toys.aiecc("design.mlir", "-p", "toys.py")
    assert ended.code == 0, ended.err
    assert toys.elf("main_core_1_2").startswith(b"\x7fELF")
