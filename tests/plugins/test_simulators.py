"""What plugins bring for `aiecc simulate`, and the door for those who lower or compile themselves."""

import ctypes
from pathlib import Path

import pytest

from aiecc.testing.kit import Ended, Project

TOY = "module {\n  func.func private @toy() attributes {toy.length = 3 : i32}\n}\n"
PLUGIN = """
from pathlib import Path
from aiecc.api import Module, Simulation, Simulator, hookimpl, refuse


def run(asked: Simulation) -> bool:
    if asked.device:
        refuse(f"toys have no device {asked.device}", code="E0901")
    print(asked.source.path, dict(asked.args), dict(asked.arg_outs), asked.sequence, asked.dtype)
    return "stuck" not in asked.source.text


@hookimpl
def aiecc_simulators():
    return [Simulator("toys", lambda module: "toy." in module.text, run)]
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write("toys.py", PLUGIN)
    made.write("design.mlir", TOY)
    made.write("stuck.mlir", TOY.replace("length", "stuck"))
    return made


def simulate(project: Project, *words: str) -> Ended:
    return project.aiecc("simulate", *words, toolchain=None)


def test_a_simulator_gets_what_the_user_asked_for(project: Project) -> None:
    words = ("--arg", "1=a.npy", "--arg", "0=12", "--arg-out", "1=b.npy", "--seq", "s", "--dtype", "int16")
    ended = simulate(project, "design.mlir", "-p", "toys.py", *words)
    assert ended.code == 0, ended.err
    assert ended.out == "design.mlir {1: 'a.npy', 0: '12'} {1: 'b.npy'} s int16\n"


def test_how_it_ended_is_the_exit_code(project: Project) -> None:
    assert simulate(project, "stuck.mlir", "-p", "toys.py").code == 1
    refused = simulate(project, "design.mlir", "-p", "toys.py", "--device-name", "d")
    assert refused.code == 2 and "toys have no device d" in refused.err


def test_without_one_it_is_no_design(project: Project) -> None:
    ended = simulate(project, "design.mlir")
    assert ended.code != 0 and ended.err


@pytest.mark.parametrize("word", ("a=b", "1", "1="))
def test_arguments_are_numbered(project: Project, word: str) -> None:
    ended = simulate(project, "design.mlir", "-p", "toys.py", "--arg", word)
    assert ended.code == 2 and f"'{word}' is not N=FILE" in ended.err


def test_anything_else_than_a_simulator_is_refused_in_the_plugins_name(project: Project) -> None:
    project.write("toys.py", PLUGIN.replace('return [Simulator("toys", ', 'return [("toys", '))
    ended = simulate(project, "design.mlir", "-p", "toys.py")
    assert ended.code == 2 and "'toys': aiecc_simulators gives Simulator objects" in ended.err


LOWERING = """
from aiecc.api import LowerOptions, Lowered, Module, Sink, Source, hookimpl, lower_design

DESIGN = '''module {
  aie.device(npu2) {
    %t = aie.tile(0, 2)
    aie.core(%t) {
      aie.end
    }
  }
}
'''


@hookimpl
def aiecc_parse(source: Source) -> Module | None:
    return Module(source.text, file=source.path) if "toy." in source.text else None


@hookimpl
def aiecc_lower(module: Module, lower: LowerOptions, diag: Sink) -> Lowered | None:
    return lower_design(Module(DESIGN), lower, diag) if "toy." in module.text else None
"""


@pytest.mark.tools
def test_a_design_can_be_made_of_something_else(project: Project) -> None:
    """The plugin hands a design to our own lowering; all other stages go on from there."""
    project.write("lowering.py", LOWERING)
    ended = project.aiecc("design.mlir", "-p", "lowering.py", "--default-stack-size=2048")
    assert ended.code == 0, ended.err
    assert project.elf()[:4] == b"\x7fELF"
    assert "/2048" in ended.out


NATIVE = """
from aiecc.api import Blob, Module, Source, Toolchain, Workshop, hookimpl, native_library, stage, view


class Stages:
    @staticmethod
    @stage(gives="toy")
    def aiecc_toy(source: Source, tools: Toolchain, run: Workshop) -> Blob:
        raise NotImplementedError


@hookimpl
def aiecc_toy(source: Source, tools: Toolchain, run: Workshop) -> Blob:
    text = '''module {
      func.func private @half(i64) -> i64
      func.func @toy(%n: i64) -> i64 {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %many = arith.index_cast %n : i64 to index
        %start = arith.constant 0 : i64
        %sum = scf.for %i = %zero to %many step %one iter_args(%s = %start) -> (i64) {
          %x = arith.index_cast %i : index to i64
          %next = arith.addi %s, %x : i64
          scf.yield %next : i64
        }
        %h = func.call @half(%sum) : (i64) -> i64
        func.return %h : i64
      }
    }'''
    files = {"half.c": "#include <stdint.h>\\nint64_t half(int64_t n) { return n / DIVISOR; }\\n"}
    return native_library(text, [], tools, run, flags=["-DDIVISOR=2"], files=files)


@hookimpl
def aiecc_stages():
    return Stages


@view("toy.so")
def toy(toy: Blob) -> Blob:
    return toy


@hookimpl
def aiecc_views():
    return [toy]
"""


@pytest.mark.tools
def test_mlir_and_c_become_a_library_of_this_machine(project: Project) -> None:
    project.write("native.py", NATIVE)
    ended = project.aiecc("design.mlir", "-p", "native.py", "--get=toy.so")
    assert ended.code == 0, ended.err
    function = ctypes.CDLL(str(project.folder / "toy.so")).toy
    function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64
    assert function(100_001) == 2_500_025_000
