"""What plugins register: a dialect, a pass, a device. Each run is a process of its own: Python forgets nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    from aiecc.ir.passes.base import MODULE, Pass

    @dataclass(frozen=True)
    class Forget(Pass):
        name: ClassVar[str] = "toy-forget"
        anchor: ClassVar[str] = MODULE
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
def folder(tmp_path: Path) -> Path:
    (tmp_path / "toys.py").write_text(PLUGIN)
    return tmp_path


def run(folder: Path, module: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", module, *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def write(folder: Path, device: str = "npu2", mark: str = "7", toy: bool = True) -> None:
    text = DESIGN.replace("DEVICE", device).replace("MARK", mark)
    (folder / "design.mlir").write_text(text if toy else text.replace(f"    toy.mark {mark} : i32\n", ""))


def test_a_dialect(folder: Path) -> None:
    write(folder)
    args = ("design.mlir", "--get=input_with_symbols.mlir")
    done = run(folder, "aiecc", *args, "-p", "toys.py")
    assert done.returncode == 0, done.stderr
    assert "toy.mark 7 : i32" in (folder / "input_with_symbols.mlir").read_text()
    done = run(folder, "aiecc", *args)
    assert done.returncode == 1 and "design.mlir:3:5: error: " in done.stderr and "toy.mark" in done.stderr
    write(folder, mark="12")
    done = run(folder, "aiecc", *args, "-p", "toys.py")
    assert done.returncode == 1 and "design.mlir:3:5: error: " in done.stderr
    assert "a mark has one digit" in done.stderr


def test_a_dialect_that_changes_is_read_with_anew(folder: Path) -> None:
    """Its source is part of what every product depends on: an op that was good may not be any more."""
    write(folder)
    args = ("design.mlir", "--get=input_with_symbols.mlir", "-p", "toys.py")
    assert run(folder, "aiecc", *args).returncode == 0
    (folder / "toys.py").write_text(PLUGIN.replace("> 9", "> 5"))
    done = run(folder, "aiecc", *args)
    assert done.returncode == 1 and "a mark has one digit" in done.stderr


def test_a_pass(folder: Path) -> None:
    write(folder)
    done = run(folder, "aiecc.cli.opt", "-p", "toys.py", "--toy-forget", "design.mlir")
    assert done.returncode == 0, done.stderr
    assert "aie.core" in done.stdout and "toy.mark" not in done.stdout
    done = run(folder, "aiecc.cli.opt", "-p", "toys.py", "--pass-pipeline=builtin.module(toy-forget)", "design.mlir")
    assert done.returncode == 0 and "toy.mark" not in done.stdout
    assert "--toy-forget" in run(folder, "aiecc.cli.opt", "-p", "toys.py", "--help").stdout
    done = run(folder, "aiecc.cli.opt", "--toy-forget", "design.mlir")
    assert done.returncode == 2 and "toy-forget" in done.stderr


@pytest.mark.tools
def test_a_device(folder: Path) -> None:
    write(folder, device="npu2_tiny", toy=False)
    done = run(folder, "aiecc", "design.mlir", "-p", "toys.py", "--toolchain=llvm")
    assert done.returncode == 0, done.stderr
    assert (folder / "elfs_main_core_1_2/elfs_main_core_1_2.elf").is_file()
    done = run(folder, "aiecc", "design.mlir", "--toolchain=llvm")
    assert done.returncode == 1 and "design.mlir:2:14: error: " in done.stderr
    (folder / "other.py").write_text(PLUGIN.replace('name="npu2_tiny"', 'name="npu2"'))
    done = run(folder, "aiecc", "design.mlir", "-p", "other.py")
    assert done.returncode == 2 and "plugin 'other': device 'npu2' is already known  [E0902]" in done.stderr
