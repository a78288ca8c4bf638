"""Core code beyond the plain: affine loops, vectors, functions of numbers, slots that hold buffers, switches."""

from __future__ import annotations

import math
import struct

import pytest

from aiecc.base.diag import Refused
from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Kind, Outcome


def core(body: str, before: str = "", result: str = "memref<16xi32>", initial: str = "") -> Outcome:
    text = f"""
module {{
  aie.device(npu2) {{
    %tile = aie.tile(0, 2)
    %out = aie.buffer(%tile) {{sym_name = "out"}} : {result} {initial}
    {before}
    %core = aie.core(%tile) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %k0 = arith.constant 0 : i32
      %k7 = arith.constant 7 : i32
      {body}
    }}
  }}
}}"""
    return simulate(parse(text, "core.mlir"))


def out(outcome: Outcome, count: int, form: str = "i") -> list[float]:
    assert outcome.finished, outcome.report()
    return list(struct.unpack_from(f"<{count}{form}", outcome.memory["out"]))


def test_affine_loops_maps_and_conditions() -> None:
    outcome = core("""
      affine.for %i = 0 to 8 {
        %v = arith.index_cast %i : index to i32
        affine.store %v, %out[%i * 2 + 1 - %i] : memref<16xi32>
      }
      %s = affine.for %i = 1 to 9 step 2 iter_args(%a = %k0) -> (i32) {
        %x = affine.load %out[%i] : memref<16xi32>
        %t = arith.addi %a, %x : i32
        affine.yield %t : i32
      }
      affine.for %i = 0 to 8 {
        affine.if affine_set<(d0) : (d0 - 3 >= 0, d0 mod 2 == 0)>(%i) {
          affine.store %k7, %out[%i] : memref<16xi32>
        } else {
          affine.store %s, %out[0] : memref<16xi32>
        }
      }
      %n = affine.min affine_map<(d0)[s0] -> (d0 * 3, s0 floordiv 2)>(%c4)[%c4]
      %m = affine.apply affine_map<(d0) -> (d0 ceildiv 3 + 8)>(%c4)
      %w = arith.index_cast %n : index to i32
      affine.store %w, %out[%m] : memref<16xi32>
      aie.end""")
    # out[1..8] = 0..7; the sum of out[1, 3, 5, 7] is 12; then 7 wherever the index is even and 3 or more;
    # min(12, 2) goes to element ceil(4 / 3) + 8.
    assert out(outcome, 9) == [12, 0, 1, 2, 7, 4, 7, 6, 7]
    assert struct.unpack_from("<i", outcome.memory["out"], 40) == (2,)


def test_vectors_compute_lane_by_lane() -> None:
    outcome = core(
        """
      %p = vector.load %out[%c1] : memref<16xi32>, vector<4xi32>
      %q = vector.broadcast %k7 : i32 to vector<4xi32>
      %r = arith.muli %p, %q : vector<4xi32>
      %cv = arith.constant dense<[1, 2, 3, 2147483647]> : vector<4xi32>
      %s = arith.addi %r, %cv : vector<4xi32>
      vector.store %s, %out[%c4] : memref<16xi32>, vector<4xi32>
      %sum = vector.reduction <add>, %p : vector<4xi32> into i32
      %top = vector.reduction <maxsi>, %p, %k7 : vector<4xi32> into i32
      %least = vector.reduction <minui>, %s : vector<4xi32> into i32
      %gt = arith.cmpi sgt, %p, %cv : vector<4xi32>
      %sel = arith.select %gt, %p, %q : vector<4xi1>, vector<4xi32>
      %e = vector.extract %sel[2] : i32 from vector<4xi32>
      %f = vector.from_elements %sum, %top, %least, %e : vector<4xi32>
      %c8 = arith.constant 8 : index
      vector.store %f, %out[%c8] : memref<16xi32>, vector<4xi32>
      %g = vector.insert %k0, %f[1] : i32 into vector<4xi32>
      %c14 = arith.constant 14 : index
      vector.transfer_write %g, %out[%c14] : vector<4xi32>, memref<16xi32>
      %h = vector.transfer_read %out[%c14], %k7 : memref<16xi32>, vector<4xi32>
      %c0i = vector.extract %h[3] : i32 from vector<4xi32>
      memref.store %c0i, %out[%c0] : memref<16xi32>
      aie.end""",
        initial="= dense<[9, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]>",
    )
    # p = 1 2 3 4; s = 7 + 1, 14 + 2, 21 + 3, 28 + (2^31 - 1) wrapped. Unsigned, the last is the largest.
    wrapped = 28 + 2147483647 - (1 << 32)
    assert out(outcome, 16) == [7, 1, 2, 3, 8, 16, 24, wrapped, 10, 7, 8, 7, 0, 0, 10, 0]


def test_floats_of_vectors_round_after_every_step() -> None:
    outcome = core(
        """
      %a = vector.load %out[%c0] : memref<16xf32>, vector<4xf32>
      %f = vector.fma %a, %a, %a : vector<4xf32>
      vector.store %f, %out[%c4] : memref<16xf32>, vector<4xf32>
      %s = vector.reduction <add>, %a : vector<4xf32> into f32
      %c8 = arith.constant 8 : index
      memref.store %s, %out[%c8] : memref<16xf32>
      aie.end""",
        result="memref<16xf32>",
        initial="= dense<[16777216.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]>",
    )
    values = out(outcome, 9, "f")
    assert values[5:8] == [2.0, 2.0, 0.75]
    # Each step falls back to 2^24: two odd ones in between get lost, in this order.
    assert values[8] == 16777216.0


def test_vectors_of_two_dimensions_lie_along_rows() -> None:
    outcome = core(
        """
      %a = vector.load %out[%c0, %c1] : memref<4x4xi32>, vector<2x2xi32>
      %b = vector.broadcast %k7 : i32 to vector<2x2xi32>
      %s = arith.addi %a, %b : vector<2x2xi32>
      %c2 = arith.constant 2 : index
      vector.store %s, %out[%c2, %c0] : memref<4x4xi32>, vector<2x2xi32>
      %col = vector.transfer_read %out[%c0, %c0], %k0
        {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<4x4xi32>, vector<4xi32>
      vector.store %col, %out[%c1, %c0] : memref<4x4xi32>, vector<4xi32>
      aie.end""",
        result="memref<4x4xi32>",
        initial="= dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]>",
    )
    assert out(outcome, 16) == [0, 1, 2, 3, 0, 4, 8, 12, 8, 9, 10, 11, 12, 13, 14, 15]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("sqrt", 9.0, 3.0), ("rsqrt", 4.0, 0.5), ("exp", 0.0, 1.0), ("exp2", 3.0, 8.0), ("log2", 8.0, 3.0),
        ("tanh", 0.0, 0.0), ("floor", -1.5, -2.0), ("ceil", -1.5, -1.0), ("round", 2.5, 3.0), ("roundeven", 2.5, 2.0),
        ("trunc", -1.5, -1.0), ("absf", -2.0, 2.0), ("log", 0.0, -math.inf), ("rsqrt", 0.0, math.inf),
        ("exp", 1000.0, math.inf),
    ],
)  # fmt: skip
def test_functions_of_numbers(name: str, value: float, expected: float) -> None:
    outcome = core(
        f"%x = arith.constant {value} : f32\n%y = math.{name} %x : f32\n"
        "memref.store %y, %out[%c0] : memref<1xf32>\naie.end",
        result="memref<1xf32>",
    )
    assert out(outcome, 1, "f") == [expected]


def test_a_root_of_less_than_nothing_is_no_number() -> None:
    outcome = core(
        "%x = arith.constant -1.0 : f32\n%y = math.sqrt %x : f32\n%z = math.powf %y, %x : f32\n"
        "memref.store %z, %out[%c0] : memref<1xf32>\naie.end",
        result="memref<1xf32>",
    )
    assert math.isnan(out(outcome, 1, "f")[0])


SLOTS = """
      %front = memref.alloca() : memref<memref<4xi32>>
      %back = memref.alloca() : memref<memref<4xi32>>
      memref.store %x, %front[] : memref<memref<4xi32>>
      memref.store %y, %back[] : memref<memref<4xi32>>
      %c5 = arith.constant 5 : index
      scf.for %i = %c0 to %c5 step %c1 {
        %o = memref.load %front[] : memref<memref<4xi32>>
        %v = arith.index_cast %i : index to i32
        memref.store %v, %o[%c0] : memref<4xi32>
        %a = memref.load %front[] : memref<memref<4xi32>>
        %b = memref.load %back[] : memref<memref<4xi32>>
        memref.store %b, %front[] : memref<memref<4xi32>>
        memref.store %a, %back[] : memref<memref<4xi32>>
      }
      aie.end"""
PAIR = """%x = aie.buffer(%tile) {sym_name = "x"} : memref<4xi32>
    %y = aie.buffer(%tile) {sym_name = "y"} : memref<4xi32>"""


def test_slots_hold_buffers_that_rotate() -> None:
    outcome = core(SLOTS, PAIR)
    assert outcome.finished, outcome.report()
    assert struct.unpack_from("<i", outcome.memory["x"]) == (4,)
    assert struct.unpack_from("<i", outcome.memory["y"]) == (3,)


def test_a_slot_that_holds_nothing_yet_traps() -> None:
    outcome = core(SLOTS.replace("memref.store %x, %front", "memref.store %x, %back"), PAIR)
    assert outcome.trap is not None
    assert (outcome.trap.kind, outcome.trap.text) == (Kind.UNWRITTEN, "reads a slot that holds no buffer yet")


def test_slots_of_views_with_an_offset() -> None:
    outcome = core("""
      %v = memref.subview %out[4] [4] [2] : memref<16xi32> to memref<4xi32, strided<[2], offset: 4>>
      %slot = memref.alloca() : memref<memref<4xi32, strided<[2], offset: 4>>>
      memref.store %v, %slot[] : memref<memref<4xi32, strided<[2], offset: 4>>>
      %w = memref.load %slot[] : memref<memref<4xi32, strided<[2], offset: 4>>>
      memref.store %k7, %w[%c1] : memref<4xi32, strided<[2], offset: 4>>
      %held = memref.alloca() : memref<i32>
      memref.store %k7, %held[] : memref<i32>
      %h = memref.load %held[] : memref<i32>
      memref.store %h, %out[%c0] : memref<16xi32>
      aie.end""")
    assert outcome.finished, outcome.report()
    assert struct.unpack_from("<i", outcome.memory["out"], 24) == (7,)
    assert struct.unpack_from("<i", outcome.memory["out"]) == (7,)


@pytest.mark.parametrize(("flag", "expected"), [(0, 100), (4, 40), (7, 70), (-1, 100)])
def test_a_switch_between_blocks(flag: int, expected: int) -> None:
    outcome = core(f"""
      %f = arith.constant {flag} : i32
      %k100 = arith.constant 100 : i32
      %k40 = arith.constant 40 : i32
      %k70 = arith.constant 70 : i32
      cf.switch %f : i32, [default: ^a(%k100 : i32), 4: ^a(%k40 : i32), 7: ^b]
    ^a(%x: i32):
      memref.store %x, %out[%c0] : memref<16xi32>
      aie.end
    ^b:
      cf.br ^a(%k70 : i32)""")
    assert out(outcome, 1) == [expected]


def test_what_vectors_cannot_do_is_refused_where_it_stands() -> None:
    with pytest.raises(Refused, match=r"cannot execute 'vector\.transpose'"):
        core(
            "%a = vector.load %out[%c0, %c0] : memref<4x4xi32>, vector<4x4xi32>\n"
            "%b = vector.transpose %a, [1, 0] : vector<4x4xi32> to vector<4x4xi32>\naie.end",
            result="memref<4x4xi32>",
        )
