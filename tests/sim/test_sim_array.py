"""Whole small designs on the array model: what comes out, and that no interleaving changes it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.hang import hang_check
from aiecc.sim.memory import View
from aiecc.sim.outcome import Outcome, Status

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = range(6)


def run(text: str, **options: object) -> Outcome:
    return simulate(parse(text, "design.mlir"), **options)  # type: ignore[arg-type]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def ints(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


PASS = """
aie.device(npu2) {
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %buf = aie.buffer(%mem) {sym_name = "buf"} : memref<8xi32>
  %free = aie.lock(%mem) {init = 1 : i32, sym_name = "free"}
  %full = aie.lock(%mem) {init = 0 : i32, sym_name = "full"}
  aie.flow(%shim, DMA : 0, %mem, DMA : 0)
  aie.flow(%mem, DMA : 0, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
  %dma = aie.memtile_dma(%mem) {
    %one = arith.constant 1 : i32
    %a = aie.dma_start(S2MM, 0, ^fill, ^next)
  ^fill:
    aie.use_lock(%free, AcquireGreaterEqual, %one)
    aie.dma_bd(%buf : memref<8xi32> offset = 0 len = 8)
    aie.use_lock(%full, Release, %one)
    aie.next_bd ^fill
  ^next:
    %b = aie.dma_start(MM2S, 0, ^drain, ^end)
  ^drain:
    aie.use_lock(%full, AcquireGreaterEqual, %one)
    aie.dma_bd(%buf : memref<8xi32> offset = 0 len = 8)
    aie.use_lock(%free, Release, %one)
    aie.next_bd ^drain
  ^end:
    aie.end
  }
}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_bytes_pass_through_a_memory_tile(seed: int) -> None:
    data = words(*range(40))
    outcome = run(PASS, feeds={"in": data}, drains={"out": len(data)}, seed=seed)
    assert outcome.status is Status.FINISHED
    assert outcome.received["out"] == data
    assert outcome.locks["full"].high == 1
    assert outcome.locks["free"].low == 0
    assert outcome.written["buf"] == 32
    # 40 words into the array from the shim and 40 out of the tile; five rounds of four lock uses, the sixth acquire.
    assert outcome.events == 80 + 20 + 1


def test_starts_in_a_circle_count_once() -> None:
    circle = PASS.replace("MM2S, 0, ^drain, ^end", "MM2S, 0, ^drain, ^next")
    data = words(*range(40))
    outcome = run(circle, feeds={"in": data}, drains={"out": len(data)})
    assert outcome.received["out"] == data
    assert hang_check(None, parse(circle, "d.mlir")).runs


def test_shim_ends_go_by_column_and_channel_too() -> None:
    outcome = run(PASS, feeds={(0, 0): words(*range(8))}, drains={(0, 0): 32})
    assert ints(outcome.received["out"]) == list(range(8))


def test_what_no_drain_was_asked_for_is_received_as_well() -> None:
    outcome = run(PASS, feeds={"in": words(*range(16))})
    assert ints(outcome.received["out"]) == list(range(16))


def smooth(source: View, target: View) -> None:
    values = source.tolist()
    last = len(values) - 1
    target.assign([(values[max(i - 1, 0)] + 2 * v + values[min(i + 1, last)]) // 4 for i, v in enumerate(values)])


@pytest.mark.parametrize("seed", SEEDS)
def test_one_core_with_a_model_of_its_kernel(seed: int) -> None:
    module = parse((EXAMPLES / "one_core" / "design.mlir").read_text(), "design.mlir")
    blocks = [[(7 * i + 13 * b) % 101 for i in range(256)] for b in range(5)]
    data = b"".join(words(*block) for block in blocks)
    outcome = simulate(module, feeds={"in": data}, drains={"out": len(data)}, kernels={"smooth": smooth}, seed=seed)
    assert outcome.finished, outcome.report()
    got = ints(outcome.received["out"])
    for number, block in enumerate(blocks):
        ends = [block[0], *block, block[-1]]
        expected = [(ends[i] + 2 * ends[i + 1] + ends[i + 2]) // 4 for i in range(256)]
        assert got[256 * number : 256 * number + 256] == expected
    assert outcome.locks["in_full"].high <= 2
    waiting = {wait.actor: wait for wait in outcome.waits}
    assert waiting["core (0, 2)"].what == "lock in_full to reach 1 (it is 0)"


def test_a_kernel_without_a_model_is_refused_at_its_call() -> None:
    from aiecc.base.diag import Refused

    module = parse((EXAMPLES / "one_core" / "design.mlir").read_text(), "design.mlir")
    with pytest.raises(Refused) as refused:
        simulate(module)
    first = refused.value.diagnostics[0]
    assert "calls @smooth" in first.text
    assert first.where is not None
    assert first.where.line == 33


def test_the_whole_array() -> None:
    module = parse((EXAMPLES / "array" / "design.mlir").read_text(), "design.mlir")
    names = [f"stage_{c}_{r}" for c in range(8) for r in range(2, 6)]

    def stage(source: View, target: View) -> None:
        target.assign([v + 1 for v in source.tolist()])

    feeds = {f"in_{c}": words(*range(1000 * c, 1000 * c + 512)) for c in range(8)}
    outcome = simulate(
        module,
        feeds=feeds,
        drains={f"out_{c}": 2048 for c in range(8)},
        kernels=dict.fromkeys(names, stage),
        seed=3,
    )
    assert outcome.finished, outcome.report()
    for c in range(8):
        assert ints(outcome.received[f"out_{c}"]) == [v + 4 for v in range(1000 * c, 1000 * c + 512)]
