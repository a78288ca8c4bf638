"""Where `canonicalize` puts constants, and which of them it merges."""

from __future__ import annotations

import random

import pytest
from passkit import Ran
from textkit import mlir_opt

from aiecc.ir.passes.constants import gather_constants
from aiecc.ir.passes.generic import Canonicalize

DESIGN = """\
aie.device(npu2) {
  %t = aie.tile(0, 2)
  %m = aie.tile(0, 1)
  %s = aie.tile(0, 0)
  %b = aie.buffer(%t) {sym_name = "b"} : memref<64xi32>
  %x = aie.external_buffer {sym_name = "x"} : memref<64xi32>
  %l = aie.lock(%t, 0) {sym_name = "l"}
  %k = aie.lock(%s, 0) {sym_name = "k"}
  BODY
}
"""


def after(body: str) -> list[str]:
    """The lines behind the locks of a design with these ops, without indentation."""
    lines = [line.strip() for line in Ran(DESIGN.replace("BODY", body), Canonicalize()).text.splitlines()]
    return lines[lines.index('%k = aie.lock(%shim_noc_tile_0_0, 0) {sym_name = "k"}') + 1 : -2]


def test_a_program_keeps_its_constants():
    body = """\
  %c = aie.core(%t) {
    %one = arith.constant 1 : i32
    aie.use_lock(%l, AcquireGreaterEqual, %one)
    aie.end
  }
  aie.runtime_sequence @s(%a : memref<8xi32>) {
    %at = arith.constant 64 : i32
    %one = arith.constant 1 : i32
    aiex.npu.write32(%at, %one) : i32, i32
  }
"""
    assert after(body) == [
        "%core_0_2 = aie.core(%tile_0_2) {",
        "%c1_i32 = arith.constant 1 : i32",
        "aie.use_lock(%l, AcquireGreaterEqual, %c1_i32)",
        "aie.end",
        "}",
        "aie.runtime_sequence @s(%arg0: memref<8xi32>) {",
        "%c64_i32 = arith.constant 64 : i32",
        "%c1_i32 = arith.constant 1 : i32",
        "aiex.npu.write32(%c64_i32, %c1_i32) : i32, i32",
        "}",
    ]


BLOCK = """\
    %one = arith.constant 1 : i32
    aie.use_lock(LOCK, Acquire, %one)
    aie.dma_bd(BUFFER : memref<64xi32>)
    %zero = arith.constant 0 : i32
    aie.use_lock(LOCK, Release, %zero)
"""


@pytest.mark.parametrize(
    ("kind", "tile", "buffer", "lock"),
    [("mem", "%t", "%b", "%l"), ("shim_dma", "%s", "%x", "%k"), ("memtile_dma", "%m", "%mb", "%ml")],
)
def test_dma_programs_keep_theirs_in_front_of_the_first_channel(kind: str, tile: str, buffer: str, lock: str):
    # 1 is met first and goes to the head; 0 is met next and goes before it.
    own = '%mb = aie.buffer(%m) {sym_name = "mb"} : memref<64xi32>\n%ml = aie.lock(%m, 0) {sym_name = "ml"}\n'
    block = BLOCK.replace("LOCK", lock).replace("BUFFER", buffer)
    body = (
        f"{own}%p = aie.{kind}({tile}) {{\n%d = aie.dma_start(S2MM, 0, ^bd, ^end)\n^bd:\n{block}aie.next_bd ^bd\n"
        "^end:\naie.end\n}"
    )
    lines = after(body)[2:]
    assert lines[1:5] == [
        "%c0_i32 = arith.constant 0 : i32",
        "%c1_i32 = arith.constant 1 : i32",
        "%0 = aie.dma_start(S2MM, 0, ^bb1, ^bb2)",
        "^bb1:  // 2 preds: ^bb0, ^bb1",
    ]
    assert not any("arith.constant" in line for line in lines[5:])


def test_regions_of_a_program_have_none_of_their_own():
    # Channels written as `aie.dma`, and tasks of a sequence.
    dma = """{
    %one = arith.constant 1 : i32
    aie.use_lock(%l, Acquire, %one)
    aie.dma_bd(%b : memref<64xi32>)
    aie.use_lock(%l, Release, %one)
  }"""
    lines = after(f"%p = aie.mem(%t) {{\n  %d = aie.dma(S2MM, 0) [{dma}, {dma}]\n  aie.end\n}}")
    assert lines[1] == "%c1_i32 = arith.constant 1 : i32"
    assert sum("arith.constant" in line for line in lines) == 1
    task = """\
  %q = aiex.dma_configure_task(%s, MM2S, 0) {
    %one = arith.constant 1 : i32
    aie.use_lock(%k, Acquire, %one)
    aie.dma_bd(%a : memref<64xi32>)
    aie.use_lock(%k, Release, %one)
    aie.end
  }
  aiex.dma_start_task(%q)
"""
    lines = after(f"aie.runtime_sequence @s(%a : memref<64xi32>) {{\n{task}}}")
    assert lines[1:3] == [
        "%c1_i32 = arith.constant 1 : i32",
        "%0 = aiex.dma_configure_task(%shim_noc_tile_0_0, MM2S, 0) {",
    ]
    assert sum("arith.constant" in line for line in lines) == 1


def test_a_chain_to_be_copied_keeps_its_own():
    body = """\
  aie.bd_chain @c(%a : memref<64xi32>, %n : i32) {
    aie.dma_bd(%a : memref<64xi32> offset = %n len = 8)
    aie.next_bd ^next
  ^next:
    %z = arith.constant 7 : i32
    %o = arith.addi %n, %z : i32
    aie.dma_bd(%a : memref<64xi32> offset = %o len = 8)
    aie.end
  }
"""
    lines = after(body)
    assert lines[0].startswith("aie.bd_chain @c(")
    assert lines[1] == "%c7_i32 = arith.constant 7 : i32"


def test_kinds_of_constants_are_told_apart():
    text = """\
func.func @f(%p : i1) -> (i32, i64, f32, f32) {
  %a = arith.constant 0 : i32
  %b = arith.constant 0 : i64
  %c = arith.constant 0.0 : f32
  %d = arith.constant -0.0 : f32
  return %a, %b, %c, %d : i32, i64, f32, f32
}
"""
    assert len(Ran(text, Canonicalize()).lines("arith.constant")) == 4


def test_whether_anything_changed():
    text = """\
func.func @f(%n : index) {
  scf.for %i = %n to %n step %n {
    %a = arith.constant 1 : index
    "t.use"(%a) : (index) -> ()
  }
  return
}
"""
    module = Ran(text).module
    assert gather_constants(module)
    assert not gather_constants(module)


def test_constants_that_folding_makes_are_gathered_too():
    text = """\
func.func @f(%n : index, %m : index) {
  "t.use"(%n) : (index) -> ()
  scf.for %i = %n to %m step %n {
    %a = arith.constant 20 : i32
    %b = arith.constant 22 : i32
    %c = arith.addi %a, %b : i32
    "t.use"(%c) : (i32) -> ()
  }
  return
}
"""
    lines = [line.strip() for line in Ran(text, Canonicalize()).text.splitlines()]
    assert lines[2:4] == ["%c42_i32 = arith.constant 42 : i32", '"t.use"(%arg0) : (index) -> ()']
    assert sum("arith.constant" in line for line in lines) == 1


# --- against mlir-opt -------------------------------------------------------------------------------------------------


class Constants:
    """Random functions of constants, ops that use them, and regions of every kind: isolated or not, of many blocks."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.lines: list[str] = []

    def module(self) -> str:
        for i in range(2):
            self.lines.append(f"func.func @f{i}(%n{i}: index, %m{i}: index) {{")
            self.blocks(i, 0)
            self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def blocks(self, function: int, depth: int) -> None:
        """The blocks of a function, each reached from the one before it."""
        count = self.random.choice((1, 1, 3))
        mark = self.fresh()
        for b in range(count):
            if b:
                self.lines.append(f"^b{mark}x{b}:")
            self.body(function, depth)
            targets = ", ".join(f"^b{mark}x{t}" for t in range(b + 1, count))
            self.lines.append(f'"t.go"()[{targets}] : () -> ()' if targets else "func.return")

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def body(self, function: int, depth: int) -> None:
        """Ops of one block. A use stands before and between regions, so that mlir-opt does not merge those."""
        self.use(f"%n{function}", "index")
        for _ in range(self.random.randrange(1, 5)):
            choice = self.random.randrange(8 if depth < 3 else 4)
            if choice < 4:
                self.constants()
            elif choice < 6:
                step = self.fresh()
                self.lines.append(f"scf.for %i{step} = %n{function} to %m{function} step %n{function} {{")
                self.nested(function, depth, "}")
            elif choice == 6:
                condition = f"%p{self.fresh()}"
                self.lines += [f'{condition} = "t.ask"() : () -> i1', f"scf.if {condition} {{"]
                self.nested(function, depth, "}")
            else:
                self.lines.append('"t.box"() ({')
                self.nested(function, depth, "}) : () -> ()")
            if choice >= 4:
                self.use(f"%n{function}", "index")

    def nested(self, function: int, depth: int, end: str) -> None:
        self.body(function, depth + 1)
        self.lines.append(end)

    def constants(self) -> None:
        value, kind = self.random.choice(
            [("0", "i32"), ("1", "i32"), ("1", "i64"), ("2", "index"), ("1.5", "f32"), ("-0.0", "f32"), ("0.0", "f32")]
        )
        name = f"%c{self.fresh()}"
        self.lines.append(f"{name} = arith.constant {value} : {kind}")
        for _ in range(self.random.randrange(3)):
            self.use(name, kind)

    def use(self, name: str, kind: str) -> None:
        self.lines.append(f'"t.use"({name}) : ({kind}) -> ()')


@pytest.mark.tools
def test_random_programs_become_what_mlir_opt_makes_of_them():
    programs = [Constants(seed).module() for seed in range(40)]
    wanted = mlir_opt(programs, "--canonicalize", "--allow-unregistered-dialect")
    assert all(wanted)
    for program, expected in zip(programs, wanted, strict=True):
        assert Ran(program, Canonicalize()).text == expected
