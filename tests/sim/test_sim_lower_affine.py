"""`lower-affine` against the array model, which has a meaning of its own for affine ops: the same memory either way."""

from __future__ import annotations

import pytest

from aiecc.base.diag import Sink
from aiecc.ir.pipeline import parse_pipeline, run
from aiecc.ir.spans import span_of
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify
from aiecc.sim.array import simulate

BODIES = {
    "negative dimensions of mod and divisions": """
      affine.for %i = 0 to 16 {
        %m = affine.apply affine_map<(d0) -> (((d0 - 9) mod 4) * 100 + (d0 - 9) floordiv 4)>(%i)
        %v = affine.apply affine_map<(d0, d1) -> (d1 * 100 + (d0 - 9) ceildiv 4)>(%i, %m)
        %w = arith.index_cast %v : index to i32
        affine.store %w, %out[%i] : memref<16xi32>
      }""",
    "indices that wrap": """
      affine.for %i = 0 to 16 {
        %w = arith.index_cast %i : index to i32
        affine.store %w, %out[(%i - 5) mod 16] : memref<16xi32>
      }""",
    "symbols": """
      affine.for %i = 0 to 10 {
        %w = arith.index_cast %i : index to i32
        affine.store %w, %out[%i + symbol(%n)] : memref<16xi32>
        %r = affine.load %out[symbol(%n) + %i] : memref<16xi32>
        affine.store %r, %out[%i] : memref<16xi32>
      }""",
    "bounds that are values": """
      affine.for %i = 0 to %n {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%n] step 2 {
          %old = affine.load %out[%j] : memref<16xi32>
          %new = arith.addi %old, %k7 : i32
          affine.store %new, %out[%j] : memref<16xi32>
        }
      }""",
    "the least and the most of several bounds": """
      affine.for %i = max affine_map<(d0) -> (d0, 2)>(%n) to min affine_map<(d0) -> (d0 * 9, 11)>(%n) {
        affine.store %k7, %out[%i] : memref<16xi32>
      }
      %l = affine.min affine_map<(d0) -> (d0 - 7, 1, d0)>(%n)
      %m = affine.max affine_map<(d0) -> (d0 - 7, 1, d0)>(%n)
      %li = arith.index_cast %l : index to i32
      %mi = arith.index_cast %m : index to i32
      affine.store %li, %out[0] : memref<16xi32>
      affine.store %mi, %out[1] : memref<16xi32>""",
    "values that loops and branches give on": """
      %sum = affine.for %i = 0 to 9 iter_args(%s = %k7) -> i32 {
        %t = affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, -d0 + 7 >= 0)>(%i)[%n] -> i32 {
          affine.yield %k7 : i32
        } else {
          %w = arith.index_cast %i : index to i32
          affine.yield %w : i32
        }
        affine.store %t, %out[%i] : memref<16xi32>
        %u = arith.addi %s, %t : i32
        affine.yield %u : i32
      }
      affine.if affine_set<(d0) : (d0 - 5 == 0)>(%n) {
        affine.store %sum, %out[15] : memref<16xi32>
      }
      affine.if affine_set<(d0) : (d0 - 4 == 0)>(%n) {
        affine.store %sum, %out[14] : memref<16xi32>
      }""",
}


def design(body: str) -> str:
    return f"""
aie.device(npu2) {{
  %tile = aie.tile(0, 2)
  %out = aie.buffer(%tile) {{sym_name = "out"}} : memref<16xi32> = dense<-1>
  %core = aie.core(%tile) {{
    %k7 = arith.constant 7 : i32
    %n = arith.constant 5 : index
    {body}
    aie.end
  }}
}}"""


def lowered(text: str, sink: Sink | None = None) -> tuple[str, bytes]:
    module = parse(text, "design.mlir")
    said = sink or Sink()
    run(parse_pipeline("builtin.module(lower-affine)"), module, said)
    assert not verify(module)
    assert all(span_of(op) for op in module.walk())
    if said.failed:
        return print_module(module), b""
    return print_module(module), simulate(module).memory["out"]


@pytest.mark.parametrize("name", BODIES)
def test_the_same_memory(name: str) -> None:
    text = design(BODIES[name])
    meant = simulate(parse(text, "design.mlir"))
    assert meant.finished, meant.report()
    printed, got = lowered(text)
    assert "affine" not in printed
    assert got == meant.memory["out"]
    assert got != b"\xff" * 64


def test_a_parallel_loop_runs_one_round_after_the_other() -> None:
    printed, got = lowered(
        design("""
      affine.parallel (%i, %j) = (0, 1) to (symbol(%n), min(4, %n)) step (1, 2) {
        %old = affine.load %out[%i * 3 + %j] : memref<16xi32>
        %new = arith.addi %old, %k7 : i32
        affine.store %new, %out[%i * 3 + %j] : memref<16xi32>
      }""")
    )
    assert printed.count("scf.for") == 2
    expected = [-1] * 16
    for i in range(5):
        for j in range(1, 4, 2):
            expected[i * 3 + j] += 7
    assert list(memoryview(got).cast("i")) == expected


def test_vectors_and_prefetches() -> None:
    printed, _ = lowered(
        design("""
      affine.for %i = 0 to 2 {
        affine.prefetch %out[%i], read, locality<3>, data : memref<16xi32>
        %v = affine.vector_load %out[%i * 8] : memref<16xi32>, vector<8xi32>
        affine.vector_store %v, %out[-%i * 8 + 8] : memref<16xi32>, vector<8xi32>
      }""")
    )
    assert "vector.load" in printed and "vector.store" in printed and "affine" not in printed


def test_reductions_are_refused_at_their_line() -> None:
    sink = Sink()
    text = design("""
      %s = affine.parallel (%i) = (0) to (4) reduce ("addi") -> i32 {
        affine.yield %k7 : i32
      }""")
    lowered(text, sink)
    [said] = sink.items
    assert said.text == "'affine.parallel' op has no lowering here"
    assert said.where is not None and said.where.line == 9
