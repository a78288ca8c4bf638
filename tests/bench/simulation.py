"""How many lock uses and DMA words a second the array model moves; called by `bench.py`.

Processor time, the best of three.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.memory import View

EXAMPLES = Path(__file__).parents[2] / "examples"


def stage(source: View, target: View) -> None:
    target.assign(source.tolist())


def fast(name: str, text: str, **options: object) -> float:
    module = parse(text, name)
    best = 0.0
    for _ in range(3):
        start = time.process_time()
        outcome = simulate(module, **options)  # type: ignore[arg-type]
        seconds = time.process_time() - start
        assert outcome.finished, outcome.report()
        best = max(best, outcome.events / seconds)
    return best


def one_core() -> float:
    data = struct.pack("<131072i", *range(131072))
    text = (EXAMPLES / "one_core" / "design.mlir").read_text()
    return fast("one core", text, feeds={"in": data}, drains={"out": len(data)}, kernels={"smooth": stage})


def locks_alone() -> float:
    """Two cores hand a token back and forth: the dearest events there are, each one blocks."""
    core = """%C{n} = aie.core(%{n}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 50000 : index
  scf.for %i = %c0 to %many step %c1 {{
    aie.use_lock(%{take}, AcquireGreaterEqual, 1)
    aie.use_lock(%{give}, Release, 1)
  }}
  aie.end
}}"""
    text = f"""aie.device(npu2) {{
%a = aie.tile(0, 2)
%b = aie.tile(0, 3)
%x = aie.lock(%a) {{init = 1 : i32}}
%y = aie.lock(%a) {{init = 0 : i32}}
{core.format(n="a", take="x", give="y")}
{core.format(n="b", take="y", give="x")}
}}"""
    return fast("locks alone", text)


def scattered_words() -> float:
    """A transpose word by word, through a memory tile."""
    text = """aie.device(npu2) {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%b = aie.buffer(%m) : memref<64x64xi32> = dense<7>
aie.flow(%m, DMA : 0, %s, DMA : 0)
%d = aie.memtile_dma(%m) {
  %x = aie.dma_start(MM2S, 0, ^out, ^end, repeat_count = 63)
^out:
  aie.dma_bd(%b : memref<64x64xi32> offset = 0 len = 4096 sizes = [64, 64] strides = [1, 64])
  aie.next_bd ^end
^end:
  aie.end
}
}"""
    return fast("scattered words", text, drains={(0, 0): 4 * 4096 * 64})


def whole_array() -> float:
    """32 cores in chains of four, a shim at both ends of each."""
    text = (EXAMPLES / "array" / "design.mlir").read_text()
    blocks = bytes(4 * 256 * 64)
    return fast(
        "array",
        text,
        feeds={(col, 0): blocks for col in range(8)},
        drains={(col, 0): len(blocks) for col in range(8)},
        kernels={f"stage_{col}_{row}": stage for col in range(8) for row in range(2, 6)},
    )


def hang_check_of_the_array() -> float:
    """Actions a second; the check looks at each lock use of every core, 4096 blocks of them."""
    from aiecc.sim.hang import hang_check

    module = parse((EXAMPLES / "array" / "design.mlir").read_text(), "array")
    start = time.process_time()
    verdict = hang_check(None, module)
    assert verdict.runs, verdict
    return verdict.steps / (time.process_time() - start)


def rates() -> Iterator[tuple[str, float]]:
    """Events a second of each workload."""
    for work in (one_core, locks_alone, scattered_words, whole_array, hang_check_of_the_array):
        yield work.__name__.replace("_", " "), work()
