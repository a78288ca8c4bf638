"""The names of values in print."""

from __future__ import annotations

from aiecc.ir.names import clean
from aiecc.ir.text import parse, print_module


def printed(text: str) -> str:
    return print_module(parse(text, "x"))


def test_source_names_are_thrown_away():
    text = printed("func.func @f(%who: i32) { %what = arith.addi %who, %who : i32\n return }")
    assert "%0 = arith.addi %arg0, %arg0 : i32" in text


def test_conflicts_share_one_counter():
    text = printed(
        """func.func @f() {
          %a = arith.constant 1 : i32
          %b = arith.constant 1 : i32
          %c = arith.constant 1.0 : f32
          %d = arith.constant 2.0 : f32
          %e = arith.constant 1 : i32
          return
        }"""
    )
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if " = arith" in line]
    assert names == ["%c1_i32", "%c1_i32_0", "%cst", "%cst_1", "%c1_i32_2"]


def test_tiles_buffers_and_locks_have_their_own():
    text = printed(
        """aie.device(npu2) {
          %x = aie.tile(0, 2)
          %y = aie.tile(0, 1)
          %z = aie.tile(3, 0)
          %w = aie.tile(0, 2)
          %b = aie.buffer(%x) {sym_name = "of_0"} : memref<4xi32>
          %c = aie.buffer(%x) : memref<4xi32>
          %l = aie.lock(%x, 3) {sym_name = "a b"}
        }"""
    )
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if " = aie" in line]
    assert names == [
        "%tile_0_2", "%mem_tile_0_1", "%shim_noc_tile_3_0", "%tile_0_2_0", "%of_0", "%buffer_0_2", "%a_b",
    ]  # fmt: skip


def test_sister_regions_reuse_numbers_and_inner_ones_go_on():
    text = printed(
        """func.func @f(%c: i1, %v: i32) {
          scf.if %c { %a = arith.addi %v, %v : i32 } else { %b = arith.muli %v, %v : i32 }
          %z = arith.subi %v, %v : i32
          return
        }
        func.func @g(%c: i1) { return }"""
    )
    assert "%1 = arith.addi" in text
    assert "%1 = arith.muli" in text
    assert "%0 = arith.subi" in text
    assert "func.func @g(%arg0: i1)" in text


def test_results_come_in_groups():
    text = printed(
        """func.func @f(%m: memref<4x8xi32>) -> index {
          %a, %b, %c:2, %d:2 = memref.extract_strided_metadata %m
              : memref<4x8xi32> -> memref<i32>, index, index, index, index, index
          %e, %f = "some.op"() : () -> (index, index)
          %g = arith.addi %f, %c#1 : index
          return %g : index
        }"""
    )
    assert "%base_buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata" in text
    assert '%0:2 = "some.op"()' in text
    assert "%1 = arith.addi %0#1, %sizes#1 : index" in text


def test_arguments_of_later_blocks_are_numbers():
    text = printed("func.func @f(%a: i32) {\n cf.br ^x(%a : i32)\n^x(%b: i32):\n return\n}")
    assert "  ^bb1(%0: i32):  // pred: ^bb0" in text


def test_names_are_made_of_what_names_may_be_made_of():
    assert clean("of_0") == "of_0"
    assert clean("a b") == "a_b"
    assert clean("0x") == "_0x"
    assert clean("é") == "C3A9"
    assert clean('a"b') == "a22b"
    assert clean("x.$-y") == "x.$-y"


def test_an_op_by_itself_keeps_the_names_of_the_whole():
    module = parse(
        "func.func @f(%a: i32) { %x = arith.addi %a, %a : i32\n %y = arith.muli %x, %a : i32\n return }", "x"
    )
    ops = list(module.walk())
    assert print_module(ops[3]) == "%1 = arith.muli %0, %arg0 : i32"
