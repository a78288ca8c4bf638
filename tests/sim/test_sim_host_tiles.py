"""What sequences do to tiles: parameters, locks, resets, and descriptors of memory tiles and cores."""

from __future__ import annotations

import pytest
from hostsim import PASS, device, ints, line_of, ran, sequence, task, words

from aiecc.base.diag import Refused

SEEDS = (0, 1, 2)

CORE = """
  %shim = aie.tile(0, 0)
  %tile = aie.tile(0, 2)
  %rtp = aie.buffer(%tile) {sym_name = "rtp"} : memref<4xi32>
  %go = aie.lock(%tile, 0) {init = 0 : i32, sym_name = "go"}
  aie.objectfifo @out(%tile, {%shim}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
  %core = aie.core(%tile) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %many = arith.constant 1000 : index
    %one = arith.constant 1 : i32
    %ten = arith.constant 10 : i32
    scf.for %round = %c0 to %many step %c1 {
      aie.use_lock(%go, AcquireGreaterEqual, %one)
      %o = aie.objectfifo.acquire @out(Produce, 1) : memref<4xi32>
      scf.for %i = %c0 to %c4 step %c1 {
        %v = memref.load %rtp[%i] : memref<4xi32>
        %w = arith.muli %v, %ten : i32
        memref.store %w, %o[%i] : memref<4xi32>
      }
      aie.objectfifo.release @out(Produce, 1)
    }
    aie.end
  }
"""
"""A core that sends its four parameters, ten times each, whenever it is told to."""

WRITE = """
    %v{n}_0 = arith.constant {a} : i32
    %v{n}_1 = arith.constant {b} : i32
    aiex.npu.rtp_write(@rtp, 0, %v{n}_0) : i32
    aiex.npu.rtp_write(@rtp, 1, %v{n}_1) : i32
    aiex.npu.rtp_write(@rtp, 2, %v{n}_0) : i32
    aiex.npu.rtp_write(@rtp, 3, %v{n}_1) : i32
"""
GO = "    aiex.set_lock(%go, 1)"
AWAIT = "\n    aiex.dma_await_task(%{})"


@pytest.mark.parametrize("seed", SEEDS)
def test_parameters_reach_a_core(seed: int) -> None:
    body = WRITE.format(n=0, a=7, b=-3) + GO
    body += task("t", "out", "%a : memref<8xi32> offset = 0 len = 4", "issue_token = true") + AWAIT.format("t")
    body += WRITE.format(n=1, a=2, b=1) + GO
    body += task("u", "out", "%a : memref<8xi32> offset = 4 len = 4", "issue_token = true") + AWAIT.format("u")
    found = ran(device(CORE + sequence("%a: memref<8xi32>", body)), [None], seed=seed)
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[0]) == [70, -30, 70, -30, 20, 10, 20, 10]


def test_a_parameter_written_while_the_core_may_read_it() -> None:
    body = WRITE.format(n=0, a=7, b=-3) + GO + WRITE.format(n=1, a=2, b=1)
    body += task("t", "out", "%a : memref<4xi32> offset = 0 len = 4", "issue_token = true") + AWAIT.format("t")
    text = device(CORE + sequence("%a: memref<4xi32>", body))
    for seed in SEEDS:
        outcome = ran(text, [None], seed=seed).outcome
        assert outcome.trap is not None
        assert "of rtp, which" in outcome.trap.text


def test_a_core_that_is_reset_starts_over() -> None:
    # One round only: without the reset there is no second result. One object only: with two, the DMA would be at the
    # second one when the core comes back to the first.
    first = CORE.replace("arith.constant 1000 : index", "arith.constant 1 : index").replace(
        "}, 2 : i32)", "}, 1 : i32)"
    )
    start = WRITE.format(n=0, a=1, b=2) + GO
    got = task("t", "out", "%a : memref<8xi32> offset = 0 len = 4", "issue_token = true") + AWAIT.format("t")
    again = "\n    aiex.core_reset(%tile)\n" + GO
    more = task("u", "out", "%a : memref<8xi32> offset = 4 len = 4", "issue_token = true") + AWAIT.format("u")
    found = ran(device(first + sequence("%a: memref<8xi32>", start + got + again + more)), [None])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[0]) == [10, 20, 10, 20, 10, 20, 10, 20]
    stuck = ran(device(first + sequence("%a: memref<8xi32>", start + got + GO + more)), [None])
    assert stuck.outcome.stuck


def test_a_core_that_is_reset_forgets_which_object_was_next() -> None:
    once = CORE.replace("arith.constant 1000 : index", "arith.constant 1 : index")
    body = WRITE.format(n=0, a=1, b=2) + GO
    body += task("t", "out", "%a : memref<8xi32> offset = 0 len = 4", "issue_token = true") + AWAIT.format("t")
    body += "\n    aiex.core_reset(%tile)\n" + GO
    body += task("u", "out", "%a : memref<8xi32> offset = 4 len = 4", "issue_token = true") + AWAIT.format("u")
    outcome = ran(device(once + sequence("%a: memref<8xi32>", body)), [None]).outcome
    assert outcome.trap is not None
    assert outcome.trap.text == "reads byte 0 of out_buff_1, which nobody has written"


MEM = """
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %buf = aie.buffer(%mem) {sym_name = "buf"} : memref<64xi32>
  %free = aie.lock(%mem, 4) {init = 1 : i32, sym_name = "free"}
  %full = aie.lock(%mem, 5) {init = 0 : i32, sym_name = "full"}
  aie.flow(%shim, DMA : 0, %mem, DMA : 0)
  aie.flow(%mem, DMA : 1, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
"""


def mem_task(name: str, channel: str, bd: str, attrs: str = "", locks: tuple[str, str] | None = None) -> str:
    before = after = one = ""
    if locks is not None:
        one = "%one = arith.constant 1 : i32\n"
        before = f"aie.use_lock(%{locks[0]}, AcquireGreaterEqual, %one)\n"
        after = f"aie.use_lock(%{locks[1]}, Release, %one)\n"
    return f"""
    %{name} = aiex.dma_configure_task(%mem, {channel}) {{
      {one}{before}aie.dma_bd({bd})
      {after}aie.end
    }} {{{attrs}}}
    aiex.dma_start_task(%{name})"""


@pytest.mark.parametrize("name", ["npu1", "npu2"])
@pytest.mark.parametrize("seed", SEEDS)
def test_descriptors_of_a_memory_tile(name: str, seed: int) -> None:
    # In as it comes, out as columns of the 4 x 8 block that starts at word 16; locks keep them apart.
    body = mem_task("x", "S2MM, 0", "%buf : memref<64xi32> offset = 16 len = 32", locks=("free", "full"))
    turned = "%buf : memref<64xi32> offset = 16 len = 32 sizes = [8, 4] strides = [1, 8]"
    body += mem_task("y", "MM2S, 1", turned, locks=("full", "free"))
    body += task("t", "in", "%a : memref<32xi32> offset = 0 len = 32")
    body += task("u", "out", "%b : memref<32xi32> offset = 0 len = 32", "issue_token = true") + AWAIT.format("u")
    found = ran(
        device(MEM + sequence("%a: memref<32xi32>, %b: memref<32xi32>", body), name=name),
        [words(*range(32)), None],
        seed=seed,
    )
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [8 * i + j for j in range(8) for i in range(4)]
    assert found.outcome.locks["free"].value == 1


def test_padding_of_a_memory_tile() -> None:
    # 3 rows of 4 words become 4 of 8: two zeros before, two behind, a row of zeros above.
    body = mem_task("x", "S2MM, 0", "%buf : memref<64xi32> offset = 0 len = 12", "issue_token = true")
    body += task("t", "in", "%a : memref<12xi32> offset = 0 len = 12") + AWAIT.format("x")
    pads = "[<const_pad_before = 1, const_pad_after = 0>, <const_pad_before = 2, const_pad_after = 2>]"
    padded = f"%buf : memref<64xi32> offset = 0 len = 32 sizes = [3, 4] strides = [4, 1] pad {pads}"
    body += mem_task("y", "MM2S, 1", padded)
    body += task("u", "out", "%b : memref<32xi32> offset = 0 len = 32", "issue_token = true") + AWAIT.format("u")
    found = ran(device(MEM + sequence("%a: memref<12xi32>, %b: memref<32xi32>", body)), [words(*range(1, 13)), None])
    assert found.outcome.finished, found.outcome.report()
    rows = [[0] * 8] + [[0, 0, *range(4 * i + 1, 4 * i + 5), 0, 0] for i in range(3)]
    assert ints(found.args[1]) == [v for row in rows for v in row]


def test_a_task_on_a_cores_dma() -> None:
    design = """
  %shim = aie.tile(0, 0)
  %tile = aie.tile(0, 2)
  %buf = aie.buffer(%tile) {sym_name = "buf"} : memref<64xi32>
  aie.flow(%shim, DMA : 0, %tile, DMA : 1)
  aie.flow(%tile, DMA : 0, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
"""
    body = """
    %x = aiex.dma_configure_task(%tile, S2MM, 1) {
      aie.dma_bd(%buf : memref<64xi32> offset = 4 len = 16 sizes = [2, 8] strides = [16, 1])
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%x)"""
    body += task("t", "in", "%a : memref<16xi32> offset = 0 len = 16") + AWAIT.format("x")
    body += """
    %y = aiex.dma_configure_task(%tile, MM2S, 0) {
      aie.dma_bd(%buf : memref<64xi32> offset = 20 len = 8)
      aie.next_bd ^n
    ^n:
      aie.dma_bd(%buf : memref<64xi32> offset = 4 len = 8)
      aie.end
    }
    aiex.dma_start_task(%y)"""
    body += task("u", "out", "%b : memref<16xi32> offset = 0 len = 16", "issue_token = true") + AWAIT.format("u")
    found = ran(device(design + sequence("%a: memref<16xi32>, %b: memref<16xi32>", body)), [words(*range(16)), None])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [*range(8, 16), *range(8)]


def test_a_channel_reset_drops_what_it_was_doing() -> None:
    # The first task waits for data that never comes; after the reset the second one gets them.
    body = mem_task("x", "S2MM, 0", "%buf : memref<64xi32> offset = 0 len = 32")
    body += "\n    aiex.dma_channel_reset(%mem, S2MM, 0)"
    body += mem_task("z", "S2MM, 0", "%buf : memref<64xi32> offset = 32 len = 16", "issue_token = true")
    body += task("t", "in", "%a : memref<16xi32> offset = 0 len = 16") + AWAIT.format("z")
    body += mem_task("y", "MM2S, 1", "%buf : memref<64xi32> offset = 32 len = 16")
    body += task("u", "out", "%b : memref<16xi32> offset = 0 len = 16", "issue_token = true") + AWAIT.format("u")
    for seed in SEEDS:
        found = ran(
            device(MEM + sequence("%a: memref<16xi32>, %b: memref<16xi32>", body)),
            [words(*range(16)), None],
            seed=seed,
        )
        assert found.outcome.finished, found.outcome.report()
        assert ints(found.args[1]) == [*range(16)]


@pytest.mark.parametrize("seed", SEEDS)
def test_fifos_armed_again(seed: int) -> None:
    """After one object of two both ends stand at the second; the reset puts them back, and their locks."""

    def move(number: int) -> str:
        bd = f"memref<64xi32> offset = {16 * number} len = 16"
        both = task(f"t{number}", "in", f"%a : {bd}") + task(f"u{number}", "out", f"%b : {bd}", "issue_token = true")
        return both + AWAIT.format(f"u{number}") + f"\n    aiex.dma_free_task(%t{number})"

    again = "\n    aiex.dma_channel_reset_for(@in)\n    aiex.dma_channel_reset_for(@out)"
    body = move(0) + again + move(1) + move(2) + again + move(3)
    text = device(PASS + sequence("%a: memref<64xi32>, %b: memref<64xi32>", body))
    found = ran(text, [words(*range(64)), None], seed=seed)
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [*range(64)]
    assert found.outcome.notes == ("sequence run finished",)


NEIGHBOURS = """
  %shim = aie.tile(1, 0)
  %west = aie.tile(0, 1)
  %mem = aie.tile(1, 1)
  %east = aie.tile(2, 1)
  %wb = aie.buffer(%west) {address = 256 : i32, sym_name = "wb"} : memref<16xi32>
  %mb = aie.buffer(%mem) {address = 256 : i32, sym_name = "mb"} : memref<16xi32>
  %eb = aie.buffer(%east) {address = 256 : i32, sym_name = "eb"} : memref<16xi32>
  %wl = aie.lock(%west, 3) {init = 1 : i32, sym_name = "wl"}
  %el = aie.lock(%east, 3) {init = 0 : i32, sym_name = "el"}
  aie.flow(%shim, DMA : 0, %mem, DMA : 0)
  aie.flow(%mem, DMA : 0, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
"""


def neighbours() -> str:
    order = ("%wb", "%mb", "%eb")
    body = "".join(
        mem_task(
            f"x{n}", "S2MM, 0", f"{b} : memref<16xi32> offset = 0 len = 16", locks=("wl", "el") if n == 2 else None
        )
        for n, b in enumerate(order)
    )
    body += mem_task("y", "MM2S, 0", "%eb : memref<16xi32> offset = 0 len = 16", locks=("el", "wl"))
    body += mem_task("z", "MM2S, 0", "%wb : memref<16xi32> offset = 0 len = 16")
    body += mem_task("v", "MM2S, 0", "%mb : memref<16xi32> offset = 0 len = 16")
    body += task("t", "in", "%a : memref<48xi32> offset = 0 len = 48")
    body += task("u", "out", "%b : memref<48xi32> offset = 0 len = 48", "issue_token = true") + AWAIT.format("u")
    return NEIGHBOURS + sequence("%a: memref<48xi32>, %b: memref<48xi32>", body)


def test_a_memory_tile_reaches_its_neighbours() -> None:
    found = ran(device(neighbours()), [words(*range(48)), None])
    assert found.outcome.finished, found.outcome.report()
    assert ints(found.args[1]) == [*range(32, 48), *range(32)]
    assert found.outcome.locks["wl"].uses == 2
    assert found.outcome.locks["el"].uses == 2


def test_on_npu1_sequences_address_a_memory_tiles_own_memory_only() -> None:
    with pytest.raises(Refused) as refused:
        ran(device(neighbours(), name="npu1"), [words(*range(48)), None])
    first = refused.value.diagnostics[0]
    assert "uses a buffer of tile (0, 1) from tile (1, 1)" in first.text
    assert first.where is not None
    assert first.where.line == line_of(device(neighbours()), "%x0 = ")
