"""Every op of the `aiex` dialect, read and printed."""

from __future__ import annotations

import pytest
from aiekit import Form, Said, check_form, complaint, complaints, device, printed, read

from aiecc.ir.dialects.aiex.bfp import BfpType
from aiecc.ir.dialects.aiex.npu import ExpandMode, NpuLoadPdiOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuWriteBdOp
from aiecc.ir.text import print_module

S = "%shim_noc_tile_0_0"
T = "%tile_0_2"


def in_sequence(source: str, expected: str | None = None) -> Form:
    """Lines of a run-time sequence with arguments `%m`, `%w` (i32) and `%q` (i64)."""

    def text(lines: str) -> str:
        body = "\n".join("  " + line for line in lines.split("\n"))
        return f"aie.runtime_sequence @run(%a: memref<64xi32>, %w: i32, %q: i64) {{\n{body}\n}}"

    shown = text(expected or source)
    for old, new in (("%a", "%arg0"), ("%w", "%arg1"), ("%q", "%arg2"), ("%s", S), ("%t,", T + ","), ("%t)", T + ")")):
        shown = shown.replace(old, new)
    return text(source), shown


FORMS: dict[str, Form] = {
    # --- tasks
    "configure": in_sequence(
        """\
%k = aiex.dma_configure_task(%s, MM2S, 1, <pkt_id = 3, pkt_type = 1>) repeat %w : i32 bd_id %w : i32 {
  aie.end
} {issue_token = true, repeat_count = 2 : i32}""",
        """\
%0 = aiex.dma_configure_task(%s, MM2S, 1, <pkt_type = 1, pkt_id = 3>) repeat %w : i32 bd_id %w : i32 {
  aie.end
} {issue_token = true, repeat_count = 2 : i32}""",
    ),
    "configure, defaults": in_sequence(
        "%k = aiex.dma_configure_task (%s, S2MM, 0) {\n  aie.end\n} {issue_token = false, repeat_count = 0 : i32}",
        "%0 = aiex.dma_configure_task(%s, S2MM, 0) {\n  aie.end\n}",
    ),
    "configure_for": in_sequence(
        """\
%k = aiex.dma_configure_task_for @in repeat %w : i32 {
  aie.next_bd ^a
^a:
  aie.end
} {issue_token = true}""",
        """\
%0 = aiex.dma_configure_task_for @in repeat %w : i32 {
  aie.next_bd ^bb1
^bb1:  // pred: ^bb0
  aie.end
} {issue_token = true}""",
    ),
    "start, await, free": in_sequence(
        """\
%k = aiex.dma_configure_task_for @in {
  aie.end
}
aiex.dma_start_task(%k) {a}
aiex.dma_await_task(%k)
aiex.dma_free_task(%k)""",
        """\
%0 = aiex.dma_configure_task_for @in {
  aie.end
}
aiex.dma_start_task(%0) {a}
aiex.dma_await_task(%0)
aiex.dma_free_task(%0)""",
    ),
    "start_bd_chain": in_sequence(
        "%k = aiex.dma_start_bd_chain @c(%a, %w) : (memref<64xi32>, i32)\n  on (%s, MM2S, 0) {issue_token = true}",
        "%0 = aiex.dma_start_bd_chain @c(%a, %w) : (memref<64xi32>, i32) on(%s, MM2S, 0) {issue_token = true}",
    ),
    "start_bd_chain_for": in_sequence(
        "%k = aiex.dma_start_bd_chain_for @c(%a) : (memref<64xi32>)\n  for @in {repeat_count = 3 : i32}",
        "%0 = aiex.dma_start_bd_chain_for @c(%a) : (memref<64xi32>) for @in {repeat_count = 3 : i32}",
    ),
    "start_bd_chain_for nothing": in_sequence(
        "%k = aiex.dma_start_bd_chain_for @c() : () for @in",
        "%0 = aiex.dma_start_bd_chain_for @c() : () for @in",
    ),
    "pool": in_sequence(
        "%k = aiex.dma_bd_pool_pop(1, 0) : i32\naiex.dma_bd_pool_push(1, 0) bd_id %k {z} : i32",
        "%0 = aiex.dma_bd_pool_pop(1, 0) : i32\naiex.dma_bd_pool_push(1, 0) bd_id %0 {z} : i32",
    ),
    # --- instructions
    "write32": in_sequence("aiex.npu.write32(%w, %w) {column = 0 : i32, row = 2 : i32} : i32, i32"),
    "write32 of a buffer": in_sequence("aiex.npu.write32(%w, %w) {buffer = @b} : i32, i32"),
    "maskwrite32": in_sequence("aiex.npu.maskwrite32(%w, %w, %w) : i32, i32, i32"),
    "blockwrite": in_sequence(
        "aiex.npu.blockwrite (%a) {buffer = @b, address = 0x10 : ui32} : memref<64xi32>",
        "aiex.npu.blockwrite(%a) {address = 16 : ui32, buffer = @b} : memref<64xi32>",
    ),
    "blockwrite_values": in_sequence("aiex.npu.blockwrite_values(%w : i32) values %w, %w : i32, i32"),
    "address_patch": in_sequence(
        "aiex.npu.address_patch(%w : i32) {arg_idx = 2 : i32, addr = 0x1d004 : ui32}",
        "aiex.npu.address_patch(%w : i32) {addr = 118788 : ui32, arg_idx = 2 : i32}",
    ),
    "address_patch at run time": in_sequence(
        "aiex.npu.address_patch(%w : i32) addr %w : i32 {addr = 0 : ui32, arg_idx = 0 : i32}"
    ),
    "push_queue": in_sequence(
        "aiex.npu.push_queue (0, 0, S2MM:1) bd_id %w repeat %w {issue_token = true} : i32, i32",
        "aiex.npu.push_queue(0, 0, S2MM : 1) bd_id %w repeat %w {issue_token = true} : i32, i32",
    ),
    "sync": in_sequence("aiex.npu.sync(%w, %w, %w, %w, %w, %w) : i32, i32, i32, i32, i32, i32"),
    "dma_wait": in_sequence("aiex.npu.dma_wait {symbol = @out}"),
    "dma_memcpy_nd": in_sequence(
        "aiex.npu.dma_memcpy_nd (%a[0, 0, 0, 0] [1, 1, 1, 64] [0, 0, 0, 1]) { metadata = @in, id = 1 : i64 } : "
        "memref<64xi32>",
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @in} : "
        "memref<64xi32>",
    ),
    "dma_memcpy_nd at run time": in_sequence(
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, %q][1, 1, %q, 64][0, 0, 0, 1], packet = <pkt_id = 2>) "
        "{burst_length = 64 : i64, d0_zero_before = 1 : i64, id = 1 : i64, issue_token = true, metadata = @in, "
        "offset_parameter = @p, offset_state_table_idx = 1 : ui8} : memref<64xi32>"
    ),
    "dma_memcpy_nd, defaults": in_sequence(
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {burst_length = 0 : i64, "
        "d2_zero_after = 0 : i64, issue_token = false, id = 1 : i64, metadata = @in} : memref<64xi32>",
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @in} : "
        "memref<64xi32>",
    ),
    "rtp_write": in_sequence("aiex.npu.rtp_write(@buf, 1, %w) : i32"),
    "load_pdi": in_sequence(
        "aiex.npu.load_pdi {id = 1 : i32, device_ref = @d, size = 3 : i32, address = 2 : ui64, expand_mode = 0 : i32}",
        "aiex.npu.load_pdi {address = 2 : ui64, device_ref = @d, expand_mode = 0 : i32, id = 1 : i32, size = 3 : i32}",
    ),
    "preempt": in_sequence("aiex.npu.preempt {level = 2 : ui8}"),
    "assert_bd_field": in_sequence("aiex.npu.assert_bd_field(%w) {max = 1023 : i32} : i32"),
    "assert_bd_divisible": in_sequence("aiex.npu.assert_bd_divisible(%w) {allow_unit, divisor = 4 : i32} : i32"),
    "create_scratchpad": in_sequence("aiex.npu.create_scratchpad {size = 4 : ui32}"),
    "update_from_scratchpad": in_sequence(
        "aiex.npu.update_from_scratchpad {\n  state_table_idx = 0 : ui8, buffer = @b, address = 0 : ui32}",
        "aiex.npu.update_from_scratchpad {address = 0 : ui32, buffer = @b, state_table_idx = 0 : ui8}",
    ),
    "update_from_scratchpad by product": in_sequence(
        "aiex.npu.update_from_scratchpad<mul> {func_arg = 3 : i32, state_table_idx = 0 : ui8}"
    ),
    # --- control
    "configure and run": in_sequence(
        "aiex.configure @other {\n  aiex.run @go (%a) : (memref<64xi32>)\n  aiex.run @stop() : ()\n} "
        "{expand_mode = 1 : i32}",
        "aiex.configure @other {\n  aiex.run @go(%a) : (memref<64xi32>)\n  aiex.run @stop() : ()\n} "
        "{expand_mode = 1 : i32}",
    ),
    "configure nothing": in_sequence("aiex.configure @other {\n}"),
    "resets": in_sequence(
        "aiex.dma_channel_reset(%t, MM2S, 0)\naiex.dma_channel_reset_for(@of)\naiex.core_reset(%t) {a}"
    ),
    "control_packet": in_sequence(
        "aiex.control_packet {address = 0xABCD : ui32, length = 3 : i32, opcode = 1 : i32, stream_id = 4 : i32}",
        "aiex.control_packet {address = 43981 : ui32, length = 3 : i32, opcode = 1 : i32, stream_id = 4 : i32}",
    ),
    "control_packet with data": in_sequence(
        "aiex.control_packet {address = 5 : ui32, data = array<i32: 22, 42>, opcode = 2 : i32, stream_id = 7 : i32}"
    ),
    "set_lock": (
        "%l = aie.lock(%t, 0)\naie.runtime_sequence() {\n  aiex.set_lock(%l, 1)\n}",
        f"%lock_0_2 = aie.lock({T}, 0)\naie.runtime_sequence() {{\n  aiex.set_lock(%lock_0_2, 1)\n}}",
    ),
    "read_scratchpad_parameter": (
        "%c = aie.core(%t) {\n  %x = aiex.read_scratchpad_parameter @p : bf16\n"
        "  aiex.sync_scratchpad_parameters_from_host\n  aie.end\n}",
        f"%core_0_2 = aie.core({T}) {{\n  %0 = aiex.read_scratchpad_parameter @p : bf16\n"
        "  aiex.sync_scratchpad_parameters_from_host\n  aie.end\n}",
    ),
    # --- jobs
    "cert": (
        """
        aiex.cert.uc_dma_chain @chain {
          aiex.cert.uc_dma_bd @data, 0x600400, 128, true
          aiex.cert.uc_dma_bd @data, 6292736, 256, false
        }
        aiex.cert.attach_to_group(5) {
          aiex.cert.job(2) {
            aiex.cert.write32(0x1000, 42)
            aiex.cert.maskwrite32(0x2000, 42, 0xFF)
            aiex.cert.apply_offset_57(@data, 1, 0xffff)
            aiex.cert.uc_dma_write_des_sync(@chain)
            aiex.cert.wait_tcts(1, 2, 3)
            aiex.cert.local_barrier(1, 2)
            aiex.cert.remote_barrier(1, 0x3)
            aiex.cert.nop
          }
        }
        """,
        """
        aiex.cert.uc_dma_chain @chain {
          aiex.cert.uc_dma_bd @data, 6292480, 128, true
          aiex.cert.uc_dma_bd @data, 6292736, 256, false
        }
        aiex.cert.attach_to_group(5) {
          aiex.cert.job(2) {
            aiex.cert.write32(4096, 42)
            aiex.cert.maskwrite32(8192, 42, 255)
            aiex.cert.apply_offset_57(@data, 1, -1)
            aiex.cert.uc_dma_write_des_sync(@chain)
            aiex.cert.wait_tcts(1, 2, 3)
            aiex.cert.local_barrier(1, 2)
            aiex.cert.remote_barrier(1, 3)
            aiex.cert.nop
          }
        }
        """,
    ),
    # --- the oldest part
    "tokens": (
        """
        aiex.token(0) { sym_name="tok" }
        %b = aie.buffer(%t) {sym_name = "b"} : memref<16xi32>
        %c = aie.core(%t) {
          aiex.useToken @tok(Acquire, 1)
          aiex.useToken @tok("Release", 2) {a}
          aie.end
        }
        aiex.memcpy @tok(1, 2) (%t : <%b, 0, 16>, %m : <%b, 4, 8>) : (memref<16xi32>, memref<16xi32>)
        """,
        f"""
        aiex.token(0) {{sym_name = "tok"}}
        %b = aie.buffer({T}) {{sym_name = "b"}} : memref<16xi32> \n\
        %core_0_2 = aie.core({T}) {{
          aiex.useToken @tok(Acquire, 1)
          aiex.useToken @tok(Release, 2) {{a}}
          aie.end
        }}
        aiex.memcpy @tok(1, 2) ({T} : <%b, 0, 16>, %mem_tile_0_1 : <%b, 4, 8>) : (memref<16xi32>, memref<16xi32>)
        """,
    ),
    "multicast": (
        'aiex.multicast(%t, "DMA" : 0){\n  aiex.multi_dest<%m, "DMA" : 0>\n}',
        f"aiex.multicast({T}, DMA : 0) {{\n  aiex.multi_dest<%mem_tile_0_1, DMA : 0>\n}}",
    ),
    "broadcast_packet": (
        'aiex.broadcast_packet(%t, "DMA" : 0){\n  aiex.bp_id(0x1){\n    aiex.bp_dest<%m, DMA:1>\n  }\n}',
        f"aiex.broadcast_packet({T}, DMA : 0) {{\n  aiex.bp_id(1) {{\n    aiex.bp_dest<%mem_tile_0_1, DMA : "
        f"1>\n  }}\n}}",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    check_form(FORMS[name])


def test_parameters_stand_in_modules() -> None:
    text = "module {\n  aiex.scratchpad_parameter @foo : bf16\n}"
    assert print_module(read(text)) == text


FIELDS = [
    "bd_id",
    "buffer_length",
    "buffer_offset",
    "column",
    "d0_size",
    "d0_stride",
    "d0_zero_after",
    "d0_zero_before",
    "d1_size",
    "d1_stride",
    "d1_zero_after",
    "d1_zero_before",
    "d2_size",
    "d2_stride",
    "d2_zero_after",
    "d2_zero_before",
    "enable_packet",
    "iteration_current",
    "iteration_size",
    "iteration_stride",
    "lock_acq_enable",
    "lock_acq_id",
    "lock_acq_val",
    "lock_rel_id",
    "lock_rel_val",
    "next_bd",
    "out_of_order_id",
    "packet_id",
    "packet_type",
    "row",
    "use_next_bd",
    "valid_bd",
]


def test_writebd() -> None:
    written = ", ".join(f"{name} = {i} : i32" for i, name in enumerate(FIELDS))
    text = f"aie.runtime_sequence() {{\n  aiex.npu.writebd {{{written}}}\n}}"
    assert printed(text) == text
    op = next(op for op in read(device(text)).walk() if isinstance(op, NpuWriteBdOp))
    assert op.field("d0_size") == 4 and op.field("burst_length") == 0
    zeros = ", ".join(f"{name} = 0 : i32" for name in FIELDS)
    assert complaints(f"aie.runtime_sequence() {{\n  aiex.npu.writebd {{{zeros}}}\n}}") == []
    missing = text.replace("valid_bd = 31 : i32", "ddr_id = 31 : i32")
    assert complaint(missing) == Said(2, "'aiex.npu.writebd' op requires attribute 'valid_bd'")


def test_what_a_task_says() -> None:
    form = FORMS["configure"]
    assert isinstance(form, tuple)
    task = next(op for op in read(device(form[0])).walk() if isinstance(op, DmaConfigureTaskOp))
    assert (task.direction.word, task.channel, task.issue_token, task.repeat_count) == ("MM2S", 1, True, 2)
    assert task.packet is not None and task.packet.pkt_id == 3
    assert task.tile_op is not None and task.tile_op.coord == (0, 0)


def test_what_a_copy_says() -> None:
    form = FORMS["dma_memcpy_nd at run time"]
    assert isinstance(form, tuple)
    copy = next(op for op in read(device(form[0])).walk() if isinstance(op, NpuDmaMemcpyNdOp))
    assert (copy.metadata, copy.id, copy.issue_token) == ("in", 1, True)
    assert len(copy.offsets) == 1 and len(copy.sizes) == 1 and len(copy.strides) == 0


def test_block_floats() -> None:
    assert BfpType("v8bfp16ebs8").storage_bits == 72
    assert BfpType("v16bfp16ebs16").storage_bits == 136


PLACES = [
    ("aiex.configure @d {\n}", "'aiex.configure' op expects parent op 'aie.runtime_sequence'"),
    (
        "aie.runtime_sequence() {\naiex.run @r() : ()\n}",
        "'aiex.run' op expects parent op 'aiex.configure'",
    ),
    ("aiex.multi_dest<%t, DMA : 0>", "'aiex.multi_dest' op expects parent op 'aiex.multicast'"),
    ("aiex.bp_dest<%t, DMA : 0>", "'aiex.bp_dest' op expects parent op 'aiex.bp_id'"),
]


@pytest.mark.parametrize(("body", "expected"), PLACES)
def test_place(body: str, expected: str) -> None:
    assert complaint(body).text == expected


def test_buffers_that_a_task_s_tile_cannot_reach() -> None:
    body = """
    %b = aie.buffer(%t) : memref<16xi32>
    aie.runtime_sequence() {
      %k = aiex.dma_configure_task(%s, MM2S, 0) {
        aie.dma_bd(%b : memref<16xi32>)
        aie.end
      }
    }
    """
    assert complaint(body) == Said(
        1,
        "'aie.buffer' op in Column 0 and Row 2 is accessed from an unreachable tile in Column 0 and Row 0",
        ((4, "user"),),
    )
    assert complaints(body.replace("(%s, MM2S", "(%t, MM2S")) == []


def test_buffers_handed_to_a_chain_s_tile() -> None:
    body = """
    %b = aie.buffer(%t) : memref<16xi32>
    aie.bd_chain @c(%x: memref<16xi32>) {
      aie.dma_bd(%x : memref<16xi32>)
      aie.end
    }
    aie.runtime_sequence() {
      %k = aiex.dma_start_bd_chain @c(%b) : (memref<16xi32>) on (%s, MM2S, 0)
    }
    """
    assert complaint(body).text.startswith("'aie.buffer' op in Column 0 and Row 2 is accessed from an unreachable tile")


def test_locks_in_tasks() -> None:
    body = """
    %l = aie.lock(%t, 0)
    aie.runtime_sequence() {
      %k = aiex.dma_configure_task(%t, MM2S, 0) {
        aie.use_lock(%l, Acquire, 1)
        aie.end
      }
    }
    """
    assert complaints(body) == []


def test_what_a_load_says() -> None:
    loads = ["{device_ref = @a}", "{device_ref = @a, expand_mode = 2 : i32, id = 1 : i32, size = 64 : i32}"]
    body = "aie.runtime_sequence @s() {\n" + "\n".join(f"aiex.npu.load_pdi {load}" for load in loads) + "\n}"
    first, second = (op for op in read(device(body)).walk() if isinstance(op, NpuLoadPdiOp))
    assert (first.device_ref, first.expand_mode, first.id) == ("a", ExpandMode.NONE, None)
    assert (second.expand_mode, second.id, second.size) == (ExpandMode.CTRLPKT, 1, 64)
