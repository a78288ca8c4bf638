"""What the verifiers of tasks, of their descriptors and of plain instructions say, word by word."""

import pytest
from seqkit import TILES, device, problems, start, task

from aiecc.base.diag import Sink
from aiecc.ir.lowering import follow
from aiecc.ir.text import parse
from aiecc.model.recipe import sequence_recipe

A = "%a : memref<65536xi32> offset = 0 len = 64"
MB = "%mb : memref<4096xi32> offset = 0 len = 64"
CB = "%cb : memref<1024xi32> offset = 0 len = 64"
PACKET = "packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>"


def five(buffer: str) -> str:
    return f"{buffer} offset = 0 len = 64 sizes = [1, 1, 1, 1, 64] strides = [1, 1, 1, 1, 1]"


@pytest.mark.parametrize(
    ("on", "buffer"),
    [
        ("%shim, MM2S, 0", "%a : memref<65536xi32>"),
        ("%mem, MM2S, 0", "%mb : memref<4096xi32>"),
        ("%core, MM2S, 0", "%cb : memref<1024xi32>"),
    ],
)
def test_five_dimensions_are_too_many_everywhere(on: str, buffer: str) -> None:
    assert problems(device(task("t", on=on, bd=five(buffer)))) == [
        "'aie.dma_bd' op Cannot give more than 4 dimensions for step sizes and wraps on this tile (got 5 dimensions)."
    ]
    assert problems(device(task("t", on=on, bd=five(buffer).replace("[1, 1, 1, 1", "[1, 1, 1")))) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            task("t", more="iteration = #aie.bd_iteration<size = 2, stride = 1, current = 0>"),
            "'aie.dma_bd' op the iteration attribute is not supported on the runtime-sequence path; express iteration "
            "via the outermost sizes/strides dimension instead",
        ),
        (
            task("t", on="%core, MM2S, 0", bd=CB, more="burst_length = 64 : i32"),
            "'aie.dma_bd' op Burst length is only supported in Shim NOC tiles that are connected to the memory-mapped "
            "NOC.",
        ),
        (task("t", more="out_of_order_id = 1 : i32"), "'aie.dma_bd' op out_of_order_id requires a packet-enabled BD"),
        (
            task("t", more=f"out_of_order_id = 64 : i32, {PACKET}"),
            "'aie.dma_bd' op out_of_order_id must be in [0, 63]",
        ),
        (
            """
    %t = aiex.dma_configure_task(%shim, MM2S, 0) {
      aie.dma_bd(%a : memref<65536xi32> offset = 0 len = 64)
      aie.end
    ^lost:
      aie.dma_bd(%a : memref<65536xi32> offset = 0 len = 64)
      aie.end
    }
""",
            "Block ending in this terminator does not form a chain with entry block.",
        ),
    ],
)
def test_descriptors_of_tasks(text: str, said: str) -> None:
    found = problems(device(text))
    assert found == [said]


def test_an_out_of_order_id_goes_with_the_packet_of_the_task() -> None:
    on = "%shim, MM2S, 0, <pkt_type = 0, pkt_id = 1>"
    assert problems(device(task("t", on=on, more="out_of_order_id = 63 : i32"))) == []


@pytest.mark.parametrize("op", ["aiex.dma_start_task(%i)", "aiex.dma_await_task(%i)", "aiex.dma_free_task(%i)"])
def test_tasks_belong_into_sequences(op: str) -> None:
    text = f"aie.device(npu2) {{\n{TILES}\n %i = arith.constant 0 : index\n {op}\n}}"
    assert problems(text) == [f"'{op.split('(')[0]}' op expects ancestor op 'aie.runtime_sequence'"]


def test_a_configure_belongs_into_a_sequence() -> None:
    text = f"aie.device(npu2) {{\n{TILES}\n{task('t', on='%core, MM2S, 0', bd=CB)}\n}}"
    assert problems(text) == ["'aiex.dma_configure_task' op expects ancestor op 'aie.runtime_sequence'"]


@pytest.mark.parametrize(
    ("bd", "on", "where"),
    [(CB, "%shim, MM2S, 0", "Column 0 and Row 0"), (CB, "%mem, MM2S, 0", "Column 0 and Row 1")],
)
def test_buffers_that_a_tile_does_not_reach(bd: str, on: str, where: str) -> None:
    assert problems(device(task("t", on=on, bd=bd))) == [
        f"'aie.buffer' op in Column 0 and Row 2 is accessed from an unreachable tile in {where}"
    ]


def test_unplaced_tiles_are_not_judged_yet() -> None:
    before = "%l = aie.logical_tile<ShimNOCTile>(?, ?)"
    text = device(task("t", on="%l, MM2S, 7", bd=A) + start("t"), before=before)
    assert problems(text) == []


# --- registers of a descriptor ----------------------------------------------------------------------------------------


def writebd(**fields: int) -> str:
    """A descriptor by its registers; what is not named is 0."""
    from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp

    names = [n for n in NpuWriteBdOp.get_irdl_definition().properties if n != "burst_length" or n in fields]
    given = {"buffer_length": 4, "valid_bd": 1, **fields}
    return "aiex.npu.writebd {" + ", ".join(f"{n} = {given.get(n, 0)} : i32" for n in names) + "}"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"packet_id": 32}, "Packet ID exceeds the maximum supported by 5 bits."),
        ({"packet_type": 8}, "Packet Type exceeds the maximum supported by 3 bits."),
        ({"out_of_order_id": 64, "enable_packet": 1}, "out_of_order_id must be in [0, 63]."),
        ({"out_of_order_id": 1}, "out_of_order_id requires a packet-enabled BD"),
        ({"d0_size": 1024, "d1_size": 2}, "D0 Size exceeds the [0:1023] range."),
        ({"d0_stride": 1 << 20}, "D0 Stride exceeds the [0:1048575] range."),
        ({"d1_size": 1024}, "D1 Size exceeds the [0:1023] range."),
        ({"d1_stride": 1 << 20}, "D1 Stride exceeds the [0:1048575] range."),
        ({"d2_stride": 1 << 20}, "D2 Stride exceeds the [0:1048575] range."),
        ({"iteration_size": 64}, "Iteration Size exceeds the [0:63] range."),
        ({"iteration_stride": 1 << 20}, "Iteration Stride exceeds the [0:1048575] range."),
        ({"d2_size": 1}, "ShimTile only supports 3 dimensions of sizes."),
        ({"d0_zero_before": 1}, "ShimTile doesn't support zero padding."),
        ({"burst_length": 65}, "Requested burst length is not supported by the target. Supported burst lengths: 64 128 "
         "256 512"),
        ({"row": 1, "d0_size": 1024, "d1_size": 2}, "D0 Size exceeds the [0:1023] range."),
        ({"row": 1, "d1_stride": 1 << 17}, "D1 Stride exceeds the [0:131071] range."),
        ({"row": 1, "d0_zero_before": 64}, "D0 pad_before/pad_after exceeds the [0:63] range."),
        ({"row": 1, "d1_zero_after": 32}, "D1 pad_before/pad_after exceeds the [0:31] range."),
        ({"row": 1, "d2_zero_after": 16}, "D2 pad_before/pad_after exceeds the [0:15] range."),
        ({"row": 1, "burst_length": 64}, "Only ShimTiles support burst length."),
        ({"row": 1, "buffer_length": 131072}, "Buffer length exceeds the [0:131071] range."),
        ({"row": 2, "d0_size": 256, "d1_size": 2}, "D0 Size exceeds the [0:255] range."),
        ({"row": 2, "d2_stride": 8192}, "D2 Stride exceeds the [0:8191] range."),
        ({"row": 2, "buffer_length": 16384}, "Buffer length exceeds the [0:16383] range."),
        ({"column": 9}, "tile (9, 0) has no DMA"),
    ],
)  # fmt: skip
def test_registers_have_limits(fields: dict[str, int], said: str) -> None:
    assert problems(device(writebd(**fields))) == [f"'aiex.npu.writebd' op {said}"]


@pytest.mark.parametrize(
    "fields",
    [
        {"packet_id": 31, "packet_type": 7, "enable_packet": 1, "out_of_order_id": 63},
        {"d0_size": 1023, "d1_size": 1023, "d0_stride": 1048575, "d2_stride": 1048575, "iteration_size": 63},
        # One run: its length stands in the first dimension, where it is not written.
        {"d0_size": 5000, "d1_size": 1},
        {"row": 1, "d0_zero_before": 63, "d1_zero_after": 31, "d2_zero_after": 15, "buffer_length": 131071},
        {"row": 2, "d0_size": 255, "d1_size": 255, "d2_stride": 8191, "buffer_length": 16383},
        {"burst_length": 512},
    ],
)
def test_at_the_limits_all_is_well(fields: dict[str, int]) -> None:
    assert problems(device(writebd(**fields))) == []


@pytest.mark.parametrize(
    ("repeat", "said"), [(255, []), (256, ["'aiex.npu.push_queue' op Repeat count exceeds the [0:255] range."])]
)
def test_repeats_of_a_push(repeat: int, said: list[str]) -> None:
    push = f"%z = arith.constant 0 : i32\n %r = arith.constant {repeat} : i32\n"
    push += "aiex.npu.push_queue(0, 0, MM2S : 0) bd_id %z repeat %r {issue_token = false} : i32, i32"
    assert problems(device(push)) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("aiex.npu.dma_wait {symbol = @nowhere}", "'aiex.npu.dma_wait' op couldn't find symbol in parent device"),
        ("aiex.npu.assert_bd_field(%v) {max = 6 : i32} : i32",
         "'aiex.npu.assert_bd_field' op constant value 7 exceeds the guarded field range [0:6]."),
        ("aiex.npu.assert_bd_divisible(%v) {divisor = 2 : i32} : i32",
         "'aiex.npu.assert_bd_divisible' op constant value 7 is not divisible by 2 (transfer is not a whole number of "
         "address-gen granules)."),
        ("aiex.npu.assert_bd_divisible(%v) {divisor = 0 : i32} : i32",
         "'aiex.npu.assert_bd_divisible' op divisor must be non-zero."),
        ("aiex.set_lock(%ml0, 64)", "'aiex.set_lock' op Lock value exceeds the maximum value of 63"),
        ("aiex.dma_channel_reset(%shim, MM2S, 0)",
         "'aiex.dma_channel_reset' op tile (0, 0) has no DMA channel reset (only core and mem tiles do; shim NOC DMA "
         "has no reset bit)"),
        ("aiex.dma_channel_reset(%core, MM2S, 2)",
         "'aiex.dma_channel_reset' op channel 2 out of range for this tile and direction (tile has 2 DMA channel(s) in "
         "this direction)"),
        ("aiex.core_reset(%mem)",
         "'aiex.core_reset' op tile (0, 1) has no core to reset (only core tiles have a CORE_CONTROL register)"),
        ("aiex.npu.create_scratchpad {size = 0 : ui32}",
         "'aiex.npu.create_scratchpad' op size must be greater than 0."),
        ("aiex.npu.create_scratchpad {size = 6 : ui32}",
         "'aiex.npu.create_scratchpad' op size (6) must be a multiple of 4 bytes."),
        ("aiex.npu.create_scratchpad {size = 132 : ui32}",
         "'aiex.npu.create_scratchpad' op size (132 bytes) exceeds maximum scratchpad size of 128 bytes."),
    ],
)  # fmt: skip
def test_instructions(text: str, said: str) -> None:
    assert problems(device("%v = arith.constant 7 : i32\n" + text)) == [said]


# --- devices without start queues -------------------------------------------------------------------------------------


AIE1 = """aie.device(xcvc1902) {{
  %t = aie.tile(2, 0)
  aie.shim_dma_allocation @in(%t, MM2S, 0)
  aie.runtime_sequence(%a: memref<64xi32>) {{
    %z = arith.constant 0 : i32
{}
  }}
}}
"""
OF_AIE1 = {
    "aiex.dma_start_task": """
    %x = aiex.dma_configure_task(%t, MM2S, 0) {
      aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64) {bd_id = 0 : i32}
      aie.end
    }
    aiex.dma_start_task(%x)""",
    "aiex.npu.dma_memcpy_nd": "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) "
    "{id = 0 : i64, metadata = @in} : memref<64xi32>",
    "aiex.npu.push_queue": "aiex.npu.push_queue(2, 0, MM2S : 0) bd_id %z repeat %z {issue_token = false} : i32, i32",
}


@pytest.mark.parametrize("name", OF_AIE1)
@pytest.mark.parametrize("alone", [False, True])
def test_aie1_has_nothing_to_push_to(name: str, alone: bool) -> None:
    """Neither the whole way, nor by the passes that would write descriptors of another generation."""
    module, sink = parse(AIE1.format(OF_AIE1[name]), "design.mlir"), Sink()
    alone_steps = ("aie-dma-tasks-to-npu", "aie-dma-to-npu")
    assert not follow(module, alone_steps if alone else sequence_recipe(), sink)
    (only,) = sink.items
    assert only.text.endswith("needs descriptors and queues that a sequence can write: the DMAs of AIE1 have none")
    assert only.where is not None
