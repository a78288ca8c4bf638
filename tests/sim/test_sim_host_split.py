"""Transfers whose sizes no register holds: what is made of them moves the same, and is waited for to its end."""

from __future__ import annotations

import pytest
from hostsim import PASS, device, ints, ran, sequence, task, words

COUNT = 20000


def run(body: str, piece: int) -> list[int]:
    args = f"%a: memref<{COUNT}xi32>, %b: memref<{COUNT}xi32>"
    text = device(PASS.replace("16xi32", f"{piece}xi32") + sequence(args, body))
    found = ran(text, [words(*range(COUNT)), words(*[-1] * COUNT)])
    assert found.outcome.finished, found.outcome.report()
    # Nothing is written later than the sequence knows.
    assert found.outcome.notes == ("sequence run finished",)
    return ints(found.args[1])


def copy(buffer: str, count: int, stride: int, id: int, fifo: str) -> str:
    pattern = f"%{buffer}[0, 0, 0, 0][1, 1, 1, {count}][0, 0, 0, {stride}]"
    return f"\n    aiex.npu.dma_memcpy_nd({pattern}) {{id = {id} : i64, metadata = @{fifo}}} : memref<{COUNT}xi32>"


# 2074 = 2 x 17 x 61 goes into more dimensions; 1229 is prime, so there are two parts.
@pytest.mark.parametrize(("count", "piece"), [(2074, 61), (1229, 1229)])
def test_copies(count: int, piece: int) -> None:
    body = copy("a", count, 2, 0, "in") + copy("b", count, 3, 8, "out") + "\n    aiex.npu.dma_wait {symbol = @out}"
    got = run(body, piece)
    assert got[: 3 * count : 3] == [2 * i for i in range(count)]
    assert sum(v >= 0 for v in got) == count


@pytest.mark.parametrize(("count", "piece"), [(2074, 61), (1229, 1229)])
def test_tasks(count: int, piece: int) -> None:
    def bd(buffer: str, stride: int) -> str:
        return f"%{buffer} : memref<{COUNT}xi32> offset = 1 len = {count} sizes = [{count}] strides = [{stride}]"

    body = task("t", "in", bd("a", 2)) + task("u", "out", bd("b", 3), "issue_token = true")
    got = run(body + "\n    aiex.dma_await_task(%u)", piece)
    assert got[1 : 3 * count : 3] == [2 * i + 1 for i in range(count)]
    assert sum(v >= 0 for v in got) == count


@pytest.mark.parametrize(("count", "piece"), [(2074, 61), (1229, 1229)])
def test_repeats_go_on_in_every_part(count: int, piece: int) -> None:
    strides = f"sizes = [3, 1, 1, {count}] strides = [10, 0, 0, 2]"
    read = f"%a : memref<{COUNT}xi32> offset = 0 len = {count} {strides}"
    write = f"%b : memref<{COUNT}xi32> offset = 0 len = {3 * count}"
    body = task("t", "in", read, "repeat_count = 2 : i32") + task("u", "out", write, "issue_token = true")
    got = run(body + "\n    aiex.dma_await_task(%u)", piece)
    assert got[: 3 * count] == [10 * k + 2 * i for k in range(3) for i in range(count)]


def test_on_a_core_a_task_has_three_dimensions_to_be_put_into() -> None:
    """512 = 2 x 256, and 256 does not fit: 4 x 128 does, in two dimensions, not in three and a repeat."""
    design = """
  %shim = aie.tile(0, 0)
  %tile = aie.tile(0, 2)
  %buf = aie.buffer(%tile) {sym_name = "buf"} : memref<2048xi32>
  aie.flow(%shim, DMA : 0, %tile, DMA : 0)
  aie.flow(%tile, DMA : 0, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
"""
    body = """
    %x = aiex.dma_configure_task(%tile, S2MM, 0) {
      aie.dma_bd(%buf : memref<2048xi32> offset = 9 len = 512 sizes = [512, 1] strides = [3, 1])
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%x)"""
    body += task("t", "in", "%a : memref<512xi32> offset = 0 len = 512") + "\n    aiex.dma_await_task(%x)"
    body += """
    %y = aiex.dma_configure_task(%tile, MM2S, 0) {
      aie.dma_bd(%buf : memref<2048xi32> offset = 9 len = 256 sizes = [256] strides = [6])
      aie.end
    }
    aiex.dma_start_task(%y)"""
    body += task("u", "out", "%b : memref<256xi32> offset = 0 len = 256", "issue_token = true")
    text = device(design + sequence("%a: memref<512xi32>, %b: memref<256xi32>", body + "\n    aiex.dma_await_task(%u)"))
    found = ran(text, [words(*range(512)), None])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [*range(0, 512, 2)]
