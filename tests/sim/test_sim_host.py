"""Runtime sequences from IR to words, executed on the array model: what host memory holds afterwards."""

from __future__ import annotations

import pytest
from hostsim import PASS, device, ints, ran, sequence, task, words

SEEDS = (0, 1, 2, 3)


def through(args: str, body: str, *, name: str = "npu2") -> str:
    return device(PASS + sequence(args, body), name=name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["npu1", "npu2"])
def test_a_buffer_passes_through(seed: int, name: str) -> None:
    text = through(
        "%a: memref<64xi32>, %b: memref<64xi32>",
        task("t", "in", "%a : memref<64xi32> offset = 0 len = 64")
        + task("u", "out", "%b : memref<64xi32> offset = 0 len = 64", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
        name=name,
    )
    data = words(*range(1, 65))
    found = ran(text, [data, None], seed=seed)
    assert found.outcome.finished, found.outcome.report()
    assert found.args == (data, data)
    assert found.written == (False, True)
    assert found.outcome.notes == ("sequence run finished",)


def test_patterns_read_and_write_what_their_dimensions_say() -> None:
    # 2 x 4 x 4 elements with strides 40, 12, 2 in; written back as rows of 8 words, 20 words apart.
    rows = "%b : memref<128xi32> offset = 3 len = 32 sizes = [4, 8] strides = [20, 1]"
    text = through(
        "%a: memref<128xi32>, %b: memref<128xi32>",
        task("t", "in", "%a : memref<128xi32> offset = 5 len = 32 sizes = [2, 4, 4] strides = [40, 12, 2]")
        + task("u", "out", rows, "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )
    found = ran(text, [words(*range(128)), words(*[-1] * 128)])
    assert found.outcome.finished, found.outcome.report()
    moved = [5 + 40 * i + 12 * j + 2 * k for i in range(2) for j in range(4) for k in range(4)]
    expected = [-1] * 128
    for i in range(4):
        expected[3 + 20 * i : 11 + 20 * i] = moved[8 * i : 8 * i + 8]
    assert ints(found.args[1]) == expected


def test_sixteen_bit_elements() -> None:
    # Four columns of a 16 x 8 matrix of 16-bit elements; two elements are a word.
    text = through(
        "%a: memref<16x8xi16>, %b: memref<64xi16>",
        task("t", "in", "%a : memref<16x8xi16> offset = 2 len = 64 sizes = [16, 4] strides = [8, 1]")
        + task("u", "out", "%b : memref<64xi16> offset = 0 len = 64", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )
    data = [n.to_bytes(2, "little") for n in range(128)]
    # 32 words are two objects of the fifo.
    found = ran(text, [b"".join(data), None])
    assert found.outcome.finished, found.outcome.report()
    assert found.args[1] == b"".join(data[8 * i + 2 + j] for i in range(16) for j in range(4))


def test_the_outermost_dimension_is_walked_by_repeats() -> None:
    text = through(
        "%a: memref<256xi32>, %b: memref<64xi32>",
        task(
            "t", "in", "%a : memref<256xi32> offset = 0 len = 16 sizes = [4, 1, 2, 8] strides = [64, 0, 16, 1]",
            "repeat_count = 3 : i32",
        )
        + task("u", "out", "%b : memref<64xi32> offset = 0 len = 64", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )  # fmt: skip
    found = ran(text, [words(*range(256)), None])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [64 * i + 16 * j + k for i in range(4) for j in range(2) for k in range(8)]


def test_a_repeat_without_a_step_sends_the_same_again() -> None:
    text = through(
        "%a: memref<16xi32>, %b: memref<48xi32>",
        task("t", "in", "%a : memref<16xi32> offset = 0 len = 16", "repeat_count = 2 : i32")
        + task("u", "out", "%b : memref<48xi32> offset = 0 len = 48", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )
    found = ran(text, [words(*range(16)), None])
    assert ints(found.args[1]) == [*range(16)] * 3


def test_an_iteration_goes_on_from_start_to_start() -> None:
    # One task started three times, each time once: the fourth dimension remembers how far it is.
    start = "\n    aiex.dma_start_task(%t)"
    text = through(
        "%a: memref<64xi32>, %b: memref<48xi32>",
        task("t", "in", "%a : memref<64xi32> offset = 0 len = 16 sizes = [3, 1, 1, 16] strides = [20, 0, 0, 1]")
        + start * 2
        + task("u", "out", "%b : memref<48xi32> offset = 0 len = 48", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )
    found = ran(text, [words(*range(64)), None])
    assert ints(found.args[1]) == [20 * i + k for i in range(3) for k in range(16)]


def test_a_chain_runs_in_its_order_and_repeats_as_a_whole() -> None:
    text = through(
        "%a: memref<64xi32>, %b: memref<64xi32>, %c: memref<64xi32>",
        """
    %t = aiex.dma_configure_task_for @in {
      aie.dma_bd(%a : memref<64xi32> offset = 8 len = 8)
      aie.next_bd ^second
    ^second:
      aie.dma_bd(%b : memref<64xi32> offset = 0 len = 4)
      aie.next_bd ^third
    ^third:
      aie.dma_bd(%a : memref<64xi32> offset = 32 len = 4)
      aie.end
    } {repeat_count = 1 : i32}
    aiex.dma_start_task(%t)"""
        + task("u", "out", "%c : memref<64xi32> offset = 16 len = 32", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )
    found = ran(text, [words(*range(64)), words(*range(100, 164)), words(*[0] * 64)])
    assert found.outcome.finished, found.outcome.report()
    once = [*range(8, 16), *range(100, 104), *range(32, 36)]
    assert ints(found.args[2]) == [0] * 16 + once * 2 + [0] * 16


def test_loops_reuse_descriptors() -> None:
    # 40 transfers each way: ids are given back by the awaits, queues never hold more than one.
    text = through(
        "%a: memref<640xi32>, %b: memref<640xi32>",
        """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    scf.for %i = %c0 to %c40 step %c1 {
      %t = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<640xi32> offset = 16 len = 16)
        aie.end
      } {issue_token = true}
      %u = aiex.dma_configure_task_for @out {
        aie.dma_bd(%b : memref<640xi32> offset = 32 len = 16)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%u)
      aiex.dma_start_task(%t)
      aiex.dma_await_task(%t)
      aiex.dma_await_task(%u)
    }""",
    )
    found = ran(text, [words(*range(640)), words(*[7] * 640)])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [7] * 32 + [*range(16, 32)] + [7] * 592


def test_copies_with_ids_by_hand() -> None:
    text = through(
        "%a: memref<64xi32>, %b: memref<64xi32>",
        """
    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 8][2, 1, 2, 4][24, 0, 12, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
    aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
    aiex.npu.dma_wait {symbol = @out}""",
    )
    found = ran(text, [words(*range(64)), None])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1])[:16] == [8 + 24 * i + 12 * j + k for i in range(2) for j in range(2) for k in range(4)]


def test_in_place() -> None:
    text = through(
        "%a: memref<32xi32>",
        task("t", "in", "%a : memref<32xi32> offset = 0 len = 32")
        + task(
            "u", "out", "%a : memref<32xi32> offset = 0 len = 32 sizes = [16, 2] strides = [2, 1]", "issue_token = true"
        )
        + "\n    aiex.dma_await_task(%u)",
    )
    found = ran(text, [words(*range(32))])
    assert ints(found.args[0]) == [*range(32)]
    assert found.written == (True,)


def test_more_than_five_arguments() -> None:
    args = ", ".join(f"%a{n}: memref<16xi32>" for n in range(8))
    text = through(
        args,
        task("t", "in", "%a6 : memref<16xi32> offset = 0 len = 16")
        + task("u", "out", "%a7 : memref<16xi32> offset = 0 len = 16", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)",
    )
    found = ran(text, [words(*range(16 * n, 16 * n + 16)) for n in range(7)])
    assert ints(found.args[7]) == [*range(96, 112)]


PACKETS = """
  %shim = aie.tile(0, 0)
  %near = aie.tile(0, 1)
  %far = aie.tile(1, 1)
  aie.packet_flow(3) { aie.packet_source<%shim, DMA : 0> aie.packet_dest<%near, DMA : 0> }
  aie.packet_flow(5) { aie.packet_source<%shim, DMA : 0> aie.packet_dest<%far, DMA : 0> }
  aie.flow(%near, DMA : 0, %shim, DMA : 0)
  aie.flow(%far, DMA : 0, %shim, DMA : 1)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @one(%shim, S2MM, 0)
  aie.shim_dma_allocation @two(%shim, S2MM, 1)
"""


def held(name: str, tile: str) -> str:
    """A memory tile that sends on what it receives, eight words at a time."""
    return f"""
  %{name}_buf = aie.buffer(%{tile}) {{sym_name = "{name}_buf"}} : memref<8xi32>
  %{name}_free = aie.lock(%{tile}) {{init = 1 : i32, sym_name = "{name}_free"}}
  %{name}_full = aie.lock(%{tile}) {{init = 0 : i32, sym_name = "{name}_full"}}
  %{name}_dma = aie.memtile_dma(%{tile}) {{
    %one = arith.constant 1 : i32
    %a = aie.dma_start(S2MM, 0, ^fill, ^next)
  ^fill:
    aie.use_lock(%{name}_free, AcquireGreaterEqual, %one)
    aie.dma_bd(%{name}_buf : memref<8xi32> offset = 0 len = 8)
    aie.use_lock(%{name}_full, Release, %one)
    aie.next_bd ^fill
  ^next:
    %b = aie.dma_start(MM2S, 0, ^drain, ^end)
  ^drain:
    aie.use_lock(%{name}_full, AcquireGreaterEqual, %one)
    aie.dma_bd(%{name}_buf : memref<8xi32> offset = 0 len = 8)
    aie.use_lock(%{name}_free, Release, %one)
    aie.next_bd ^drain
  ^end:
    aie.end
  }}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_packets_find_their_way_by_the_descriptors_header(seed: int) -> None:
    def send(name: str, offset: int, id: int) -> str:
        header = f"{{packet = #aie.packet_info<pkt_type = 0, pkt_id = {id}>}}"
        return f"""
    %{name} = aiex.dma_configure_task_for @in {{
      aie.dma_bd(%a : memref<64xi32> offset = {offset} len = 8) {header}
      aie.end
    }}
    aiex.dma_start_task(%{name})"""

    body = (
        send("x", 0, 5)
        + send("y", 8, 3)
        + send("z", 16, 5)
        + task("u", "one", "%b : memref<8xi32> offset = 0 len = 8", "issue_token = true")
        + task("v", "two", "%c : memref<16xi32> offset = 0 len = 16", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)\n    aiex.dma_await_task(%v)"
    )
    design = PACKETS + held("near", "near") + held("far", "far")
    text = device(design + sequence("%a: memref<64xi32>, %b: memref<8xi32>, %c: memref<16xi32>", body))
    found = ran(text, [words(*range(64)), None, None], seed=seed)
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [*range(8, 16)]
    assert ints(found.args[2]) == [*range(8), *range(16, 24)]
