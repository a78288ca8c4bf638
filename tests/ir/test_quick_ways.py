"""Short ways through the IR find what the long ones find."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.fold.rewrite import Tidy
from aiecc.ir.passes.canonicalize_sequences import CanonicalizeRuntimeSequences
from aiecc.ir.passes.generic import Canonicalize
from aiecc.ir.text import parse, print_module
from aiecc.ir.walk import all_in, ops_in

DESIGN = """
aie.device(npu2) {
  %t = aie.tile(0, 0)
  %m = aie.tile(0, 1)
  %b = aie.buffer(%m) : memref<64xi32>
  aie.runtime_sequence(%a: memref<4096xi32>, %n: i64, %id: i32) {
    %x = aiex.dma_configure_task(%t, MM2S, 0) {
      aie.dma_bd(%a : memref<4096xi32> offset = 16 len = 64 sizes = [4, 16] strides = [16, 1])
      aie.next_bd ^bb1
    ^bb1:
      aie.dma_bd(%a : memref<4096xi32> len = 64 sizes = [4, 16] strides = [64, 1]) {bd_id = 3 : i32}
      aie.end
    } {issue_token = true}
    %y = aiex.dma_configure_task(%m, S2MM, 1) {
      aie.dma_bd(%b : memref<64xi32> len = 64 sizes = [8, 8] strides = [8, 1])
      aie.end
    }
    %z = aiex.dma_configure_task(%t, S2MM, 0) repeat %id : i32 {
      aie.dma_bd(%a : memref<4096xi32> sizes = [2, %n, 8] strides = [%n, 8, 1])
      aie.end
    }
    aiex.dma_start_task(%x)
    aiex.dma_start_task(%y)
    aiex.dma_await_task(%x)
  }
}
"""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.mlir"))


def test_everything_inside_in_program_order() -> None:
    module = parse(DESIGN, "d.mlir")
    assert ops_in(module) == list(module.walk())
    assert len(all_in(module, DmaBdOp)) == 4
    assert all_in(module, DmaBdOp) == [op for op in module.walk() if isinstance(op, DmaBdOp)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_operands_by_name(path: Path) -> None:
    compared = 0
    for text in (path.read_text(encoding="utf-8"), DESIGN):
        for op in parse(text, "d.mlir").walk():
            for name, accessor in vars(type(op)).items():
                usual = getattr(accessor, "usual", None)
                if usual is not None:
                    found, wanted = getattr(op, name), usual.__get__(op, type(op))
                    assert found is wanted or tuple(found) == tuple(wanted), (op.name, name)
                    compared += 1
    assert compared > 30


def test_an_operand_that_is_missing_and_has_to_be_there() -> None:
    module = parse(
        '"aiex.dma_configure_task"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> ({}) : () -> index', "d.mlir"
    )
    [task] = module.body.block.ops
    with pytest.raises(IndexError):
        _ = task.tile  # type: ignore[attr-defined]


def without_cycle(text: str) -> str:
    """Only tasks of one descriptor, and nothing computed."""
    kept = text.replace("aie.next_bd ^bb1\n    ^bb1:\n", "")
    lines = [line for line in kept.split("\n") if "bd_id = 3" not in line]
    start = next(i for i, line in enumerate(lines) if "%z =" in line)
    return "\n".join(lines[:start] + lines[start + 4 :])


@pytest.mark.parametrize("text", [DESIGN, without_cycle(DESIGN)], ids=["computed", "plain"])
def test_sequences_without_anything_to_fold_are_as_canonical(text: str) -> None:
    quick, whole = parse(text, "d.mlir"), parse(text, "d.mlir")
    device = quick.body.block.first_op
    assert device is not None
    CanonicalizeRuntimeSequences().apply(device, Sink())
    for sequence in all_in(whole, RuntimeSequenceOp):
        Tidy(sequence, {}).run()
        Canonicalize().apply(sequence, Sink())
    assert print_module(quick) == print_module(whole)
    assert "len = 64 sizes = [4, 16] strides = [16, 1]" not in print_module(quick)
