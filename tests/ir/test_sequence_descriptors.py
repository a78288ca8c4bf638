"""Descriptors of tasks as words: fields, addresses, locks, lengths, and what no register holds."""

import itertools
import math

import pytest
from passkit import Ran
from seqkit import blocks, device, operations, start, task, to_npu, wait, words

from aiecc.ir.dialects.aiex.steps import Steps
from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp
from aiecc.ir.passes.assign_sequence_ids import AssignRuntimeSequenceBdIds
from aiecc.ir.passes.lower_set_lock import LowerSetLock
from aiecc.ir.passes.tasks_to_npu import DmaTasksToNpu
from aiecc.ir.runtime.decompose import split
from aiecc.model.targets import TileKind, get
from aiecc.npu import txn

WORKED = """
aie.device({name}) {{
  %s = aie.tile(1, 0)
  aie.runtime_sequence @demo(%a: memref<96xi16>, %b: memref<64xi32>) {{
    %t = aiex.dma_configure_task(%s, MM2S, 1) {{
      aie.dma_bd(%a : memref<96xi16> offset = 8 len = 48 sizes = [3, 4, 4] strides = [24, 8, 1])
      aie.next_bd ^n
    ^n:
      aie.dma_bd(%b : memref<64xi32> offset = 0 len = 64)
      aie.end
    }} {{issue_token = true, repeat_count = 2 : i32}}
    aiex.dma_start_task(%t)
    aiex.dma_await_task(%t)
  }}
}}
"""
# Derived by hand from the formats of headers, descriptors, patches, queue words and waits.
WORKED_WORDS = """
06040100 00000108 00000006 000000F8
00000001 00000000 0201D000 00000030
  00000018 00000010 00000000 00200000 C0400003 0200000B 00000000 0E000000
00000081 00000030 00000000 00000000 00000000 00000000
  0201D004 00000000 00000000 00000000 00000010 00000000
00000001 00000000 0201D020 00000030
  00000040 00000000 00000000 00000000 C0000000 02000000 00000000 02000000
00000081 00000030 00000000 00000000 00000000 00000000
  0201D024 00000000 00000001 00000000 00000000 00000000
00000000 00000000 0201D21C 00000000 80020000 00000018
00000080 00000010 00010001 01010100
"""


def test_a_whole_sequence_word_by_word() -> None:
    wanted = [int(w, 16) for w in WORKED_WORDS.split()]
    assert len(wanted) == 62
    assert words(WORKED.format(name="npu2")) == wanted


def test_the_same_sequence_on_the_other_generation() -> None:
    wanted = [int(w, 16) for w in WORKED_WORDS.split()]
    wanted[:2] = [0x06030100, 0x00000104]
    # The longest burst has another code.
    wanted = [{0xC0400003: 0x80400003, 0xC0000000: 0x80000000}.get(w, w) for w in wanted]
    assert words(WORKED.format(name="npu1")) == wanted


A = "%a : memref<65536xi32> "
MB, CB = "%mb : memref<4096xi32> ", "%cb : memref<1024xi32> "


def one(bd: str, on: str = "%shim, MM2S, 0", *, more: str = "", attrs: str = "", name: str = "npu2") -> tuple[int, ...]:
    """The words of the one descriptor of a task."""
    ((_, found),) = list(blocks(device(task("t", on=on, bd=bd, more=more, attrs=attrs), name=name)))
    return found


def written(text: str) -> list[NpuWriteBdOp]:
    ran = to_npu(text, LowerSetLock())
    assert not ran.said, ran.said
    return list(ran.ops(NpuWriteBdOp))


def refused(bd: str, on: str = "%shim, MM2S, 0", *, more: str = "", attrs: str = "") -> str:
    ran = to_npu(device(task("t", on=on, bd=bd, more=more, attrs=attrs)))
    assert ran.sink.failed, "nothing was said"
    return ran.only.text.removeprefix("'aie.dma_bd' op ")


@pytest.mark.parametrize(
    ("name", "burst", "word"),
    [
        *(("npu1", b, w) for b, w in zip((0, 64, 128, 256), (0x80000000, 0, 0x40000000, 0x80000000), strict=True)),
        *(
            ("npu2", b, w)
            for b, w in zip((0, 64, 128, 256, 512), (0xC0000000, 0, 0x40000000, 0x80000000, 0xC0000000), strict=True)
        ),
    ],
)
def test_bursts(name: str, burst: int, word: int) -> None:
    assert one(A + "offset = 0 len = 64", more=f"burst_length = {burst} : i32", name=name)[4] == word


LOCKED = """
    %t = aiex.dma_configure_task({on}) {{
      aie.use_lock({take}, AcquireGreaterEqual, %one)
      aie.dma_bd({bd})
      aie.use_lock({give}, Release, %one)
      aie.end
    }}
"""
ONE = "%one = arith.constant 1 : i32\n"
MORE_LOCKS = """
  %ml2 = aie.lock(%mem, 2) {sym_name = "ml2"}
  %ml3 = aie.lock(%mem, 3) {sym_name = "ml3"}
  %cl2 = aie.lock(%core, 2) {sym_name = "cl2"}
  %cl3 = aie.lock(%core, 3) {sym_name = "cl3"}
  %el5 = aie.lock(%mem1, 5) {sym_name = "el5"}
  %open = aie.lock(%mem) {sym_name = "open"}
"""


def locked(bd: str, on: str, take: str, give: str, name: str = "npu2") -> str:
    return device(ONE + LOCKED.format(on=on, bd=bd, take=take, give=give), before=MORE_LOCKS, name=name)


def test_a_memory_tile_descriptor_with_locks_and_padding() -> None:
    bd = MB + (
        "offset = 0 len = 32 sizes = [4, 8] strides = [16, 1] "
        "pad [<const_pad_before = 0, const_pad_after = 0>, <const_pad_before = 1, const_pad_after = 2>]"
    )
    ((address, found),) = list(blocks(locked(bd, "%mem, MM2S, 0", "%ml2", "%ml3")))
    assert address == 0x1A0000
    # Acquire at least 1 of own lock 2 (66 as the DMA counts), release own lock 3 by 1.
    assert found == (0x20, 0x04000000, 0x00100000, 0x0008000F, 0, 0x00040000, 0, 0x8143FF42)


def test_a_core_descriptor_with_locks() -> None:
    ((address, found),) = list(blocks(locked(CB + "offset = 0 len = 32", "%core, MM2S, 0", "%cl2", "%cl3")))
    assert address == 0x21D000
    assert found == (0x20, 0, 0, 0, 0, 0x02047FE2)


def test_each_lock_has_the_base_of_its_own_tile() -> None:
    """One lock of the tile itself (64 on), one of the tile to the east (128 on)."""
    (bd,) = written(locked(MB + "offset = 0 len = 32", "%mem, MM2S, 0", "%ml2", "%el5"))
    assert (bd.field("lock_acq_id"), bd.field("lock_rel_id")) == (66, 133)
    (bd,) = written(locked(MB + "offset = 0 len = 32", "%mem, MM2S, 0", "%el5", "%ml2"))
    assert (bd.field("lock_acq_id"), bd.field("lock_rel_id")) == (133, 66)


def test_a_lock_without_a_number_is_refused() -> None:
    ran = to_npu(locked(MB + "offset = 0 len = 32", "%mem, MM2S, 0", "%open", "%ml2"))
    assert "uses a lock without an ID" in ran.only.text


@pytest.mark.parametrize(("take", "give", "count"), [("Acquire", "", 1), ("", "Release", 1), ("Acquire", "Acquire", 2)])
def test_locks_come_in_pairs(take: str, give: str, count: int) -> None:
    def use(action: str) -> str:
        return f"aie.use_lock(%cl0, {action}, %one)" if action else ""

    text = f"""{ONE}
    %t = aiex.dma_configure_task(%core, MM2S, 0) {{
      {use(take)}
      aie.dma_bd({CB} offset = 0 len = 32)
      {use(give)}
      aie.end
    }}
"""
    assert to_npu(device(text)).only.text == (
        "'aie.use_lock' op BD blocks must have either 0 or 2 lock operations (acquire and release). "
        f"Found {count} lock operations."
    )


@pytest.mark.parametrize(("name", "value"), [("npu1", 0x400), ("npu2", 0x20400)])
def test_addresses_of_memory_tiles(name: str, value: int) -> None:
    found = operations(device(task("t", on="%mem, MM2S, 0", bd=MB + "offset = 0 len = 32"), name=name))
    assert found[1:] == [txn.MaskWrite(0x1A0004, value, 0x7FFFF)]


def test_addresses_of_cores() -> None:
    found = operations(device(task("t", on="%core, MM2S, 0", bd=CB + "offset = 16 len = 32")))
    assert found[1:] == [txn.MaskWrite(0x21D000, 0x00440000, 0x0FFFC000)]


def test_addresses_of_host_buffers_through_views() -> None:
    views = """
    %s = memref.subview %a[32] [64] [1] : memref<65536xi32> to memref<64xi32, strided<[1], offset: 32>>
    %r = memref.reinterpret_cast %s to offset: [0], sizes: [64], strides: [1] :
      memref<64xi32, strided<[1], offset: 32>> to memref<64xi32>
"""
    bd = "%r : memref<64xi32> offset = 4 len = 16"
    found = operations(device(views + task("t", bd=bd)))
    assert found[1:] == [txn.Patch(0x1D004, 0, 128 + 16)]


def test_the_address_comes_right_after_its_descriptor() -> None:
    text = device(
        """
    %t = aiex.dma_configure_task(%shim, MM2S, 0) {
      aie.dma_bd(%a : memref<65536xi32> offset = 8 len = 64)
      aie.next_bd ^n
    ^n:
      aie.dma_bd(%b : memref<65536xi16> offset = 8 len = 64)
      aie.end
    }
"""
    )
    found = operations(text)
    assert [type(op) for op in found] == [txn.BlockWrite, txn.Patch] * 2
    for block, patch in (found[:2], found[2:]):
        assert isinstance(block, txn.BlockWrite) and isinstance(patch, txn.Patch)
        assert patch.address == block.address + 4


@pytest.mark.parametrize(("argument", "plus"), [(0, 16), (4, 16), (5, 0x80000010), (7, 0x80000010)])
def test_the_sixth_host_buffer_and_those_after_are_folded(argument: int, plus: int) -> None:
    args = ", ".join(f"%x{i}: memref<64xi32>" for i in range(8))
    text = device(task("t", bd=f"%x{argument} : memref<64xi32> offset = 4 len = 16"), args=args)
    found = words(text)
    at = found.index(0x81)
    assert (found[at + 8], found[at + 10]) == (argument, plus)


def test_arguments_are_counted_with_the_scalars() -> None:
    found = operations(device(task("t", bd=A + "offset = 0 len = 16"), args="%n: i32, %m: i64, %a: memref<65536xi32>"))
    assert isinstance(found[1], txn.Patch)
    assert found[1].argument == 2


@pytest.mark.parametrize(
    ("bd", "on", "said"),
    [
        ("%b : memref<65536xi16> offset = 1 len = 64", "%shim, MM2S, 0", "Offset must be aligned to 4 byte boundary."),
        (
            "%b : memref<65536xi16> offset = 0 len = 1",
            "%shim, MM2S, 0",
            "Transfer size of 2 bytes falls below minimum hardware transfer unit of 4 bytes.",
        ),
        (
            "%b : memref<65536xi16> offset = 0 len = 3",
            "%shim, MM2S, 0",
            "Transfer size of 6 bytes is not a whole number of 4-byte words.",
        ),
        (
            "%mb : memref<4096xi32> offset = 0 len = 131072",
            "%mem, MM2S, 0",
            "Buffer length of 131072 words exceeds the [0:131071] range of this tile's descriptors.",
        ),
        (
            "%cb : memref<1024xi32> offset = 0 len = 16384",
            "%core, MM2S, 0",
            "Buffer length of 16384 words exceeds the [0:16383] range of this tile's descriptors.",
        ),
        (
            "%b : memref<65536xi16> offset = 0 len = 9 sizes = [3, 3] strides = [8, 1]",
            "%shim, MM2S, 0",
            "Transfer sizes must be multiples of 4 bytes. 3 elements at 2 bytes each equal 6 bytes, which is not "
            "divisible by 4. ",
        ),
        (
            "%b : memref<65536xi16> offset = 0 len = 8 sizes = [4, 2] strides = [3, 1]",
            "%shim, MM2S, 0",
            "Stride 1 is 3 elements * 2 bytes = 6 bytes, which is not divisible by 4. ",
        ),
        (
            "%a : memref<65536xi32> offset = 0 len = 8 sizes = [4, 2] strides = [4, 0]",
            "%shim, MM2S, 0",
            "Stride 0 must be a positive integer.",
        ),
        (
            "%a : memref<65536xi32> offset = 0 len = 8 sizes = [2, 4, 2] strides = [-1, 4, 1]",
            "%shim, MM2S, 0",
            "Stride 2 must be a positive integer.",
        ),
        (
            "%a : memref<65536xi32> offset = 0 len = 8 sizes = [2, 2, 2, 2] strides = [-4, 8, 4, 1]",
            "%shim, MM2S, 0",
            "Stride 3 must be a non-negative integer.",
        ),
        (
            "%a : memref<65536xi32> offset = 0 len = 0 sizes = [0, 2] strides = [4, 1]",
            "%shim, MM2S, 0",
            "Transfer size of 0 bytes falls below minimum hardware transfer unit of 4 bytes.",
        ),
        (
            "%a : memref<65536xi32> offset = 0 len = 4 sizes = [0, 2] strides = [4, 1]",
            "%shim, MM2S, 0",
            "Size 1 must be a positive integer.",
        ),
        (
            "%cb : memref<1024xi32> offset = 0 len = 600 sizes = [2, 300] strides = [512, 1]",
            "%core, MM2S, 0",
            "Size 0 exceeds the [0:255] range.",
        ),
        (
            "%mb : memref<4096xi32> offset = 0 len = 4 sizes = [2, 2] strides = [131073, 1]",
            "%mem, MM2S, 0",
            "Stride 1 exceeds the [1:131072] range.",
        ),
        (
            "%cb : memref<1024xi32> offset = 0 len = 4 sizes = [65, 2, 1, 2] strides = [0, 4, 1, 1]",
            "%core, MM2S, 0",
            "Size 3 exceeds the [1:64] range.",
        ),
        (
            "%a : memref<65536xi32> offset = 0 len = 16",
            "%mem, MM2S, 0",
            "DDR memory (runtime input arguments) can only be referred to on shim tiles.",
        ),
    ],
)
def test_what_no_register_holds(bd: str, on: str, said: str) -> None:
    # Without the pass that splits what is too big.
    ran = Ran(device(task("t", on=on, bd=bd)), AssignRuntimeSequenceBdIds(), DmaTasksToNpu())
    assert ran.only.text == f"'aie.dma_bd' op {said}"


def test_the_length_has_to_be_that_of_the_inner_three_dimensions() -> None:
    bd = A + "offset = 0 len = 32 sizes = [2, 2, 2, 2] strides = [64, 16, 4, 1]"
    ran = to_npu(device(task("t", bd=bd)))
    assert ran.only.text.startswith(
        "'aie.dma_bd' op Buffer descriptor length does not match length of transfer expressed by lowest three "
        "dimensions of data layout transformation strides/wraps. BD length is 128 bytes. Lowest three dimensions of "
        "data layout transformation would result in transfer of 32 bytes."
    )
    assert [n.text for n in ran.only.notes] == [
        "Do not include the highest dimension size in transfer length, as this is the BD repeat count."
    ]


def test_the_largest_stride_just_fits() -> None:
    most = 1 << 20
    found = one(f"%a : memref<65536xi32> offset = 0 len = 4 sizes = [2, 2] strides = [{most}, 1]")
    assert found[4] & (most - 1) == most - 1


def test_the_largest_stride_of_a_memory_tile_leaves_any_of_its_buffers() -> None:
    """Its registers hold 131072 words, which is all the memory there is: told is that it is too far, not that it is too
    much for a register."""
    for step, said in (
        (1 << 17, "out of bounds access in buffer, for index 131073"),
        ((1 << 17) + 1, "Stride 1 exceeds"),
    ):
        bd = f"{MB}offset = 0 len = 4 sizes = [2, 2] strides = [{step}, 1]"
        assert said in to_npu(device(task("t", on="%mem, MM2S, 0", bd=bd))).only.text


@pytest.mark.parametrize(
    ("bd", "on", "said"),
    [
        (MB + "offset = 0 len = 8 sizes = [2, 4] strides = [8, 1] pad [PAD]", "%mem, S2MM, 0",
         "supports padding only for MM2S direction on MemTiles."),
        (CB + "offset = 0 len = 8 sizes = [2, 4] strides = [8, 1] pad [PAD]", "%core, MM2S, 0",
         "Padding is only supported by memtile dma bds."),
        (MB + "offset = 0 len = 8 pad [PAD]", "%mem, MM2S, 0",
         "Padding requires n-d data layouts expressed as wrap(s) and stride(s)."),
        (CB + "offset = 0 len = 8 pad [PAD]", "%core, MM2S, 0", "Padding is supported only on MemTiles."),
        (MB + "offset = 0 len = 8 sizes = [8] strides = [1] pad [PAD, PAD]", "%mem, MM2S, 0",
         "Mismatch number of dimensions between padding(s) and wrap(s) and stride(s)."),
    ],
)  # fmt: skip
def test_padding_where_there_is_none(bd: str, on: str, said: str) -> None:
    assert refused(bd.replace("PAD", "<const_pad_before = 1, const_pad_after = 1>"), on) == said


def test_padding_goes_to_the_innermost_dimensions() -> None:
    bd = MB + (
        "offset = 0 len = 8 sizes = [2, 2, 2] strides = [64, 16, 1] "
        "pad [<const_pad_before = 3, const_pad_after = 4>, <const_pad_before = 1, const_pad_after = 2>]"
    )
    (op,) = written(device(task("t", on="%mem, MM2S, 0", bd=bd)))
    told = [(op.field(f"d{d}_zero_before"), op.field(f"d{d}_zero_after")) for d in range(3)]
    assert told == [(1, 2), (3, 4), (0, 0)]


def test_packets_of_the_descriptor_win_over_those_of_the_task() -> None:
    on = "%shim, MM2S, 0, <pkt_type = 1, pkt_id = 5>"
    assert one(A + "offset = 0 len = 4", on)[2] == 1 << 30 | 5 << 19 | 1 << 16
    more = "packet = #aie.packet_info<pkt_type = 2, pkt_id = 6>"
    assert one(A + "offset = 0 len = 4", on, more=more)[2] == 1 << 30 | 6 << 19 | 2 << 16


def test_out_of_order_ids() -> None:
    more = "packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>, out_of_order_id = 5 : i32"
    assert one(A + "offset = 0 len = 4", more=more)[2] == 0x45080000


def test_four_gibibytes_and_more() -> None:
    """Lengths are counted in 64 bits: 2^31 halfwords are 2^30 words."""
    found = one(
        "%h : memref<?xi16> offset = 0 len = -2147483648".replace("%h : memref<?xi16>", "%b : memref<65536xi16>")
    )
    assert found[0] == 1 << 30


# --- the meaning of a descriptor's fields -----------------------------------------------------------------------------


def visited(found: tuple[int, ...]) -> list[int]:
    """The words a shim's descriptor visits, by its registers alone; one iteration."""
    length = found[0]
    d0, t0 = found[3] >> 20 & 0x3FF, (found[3] & 0xFFFFF) + 1
    d1, t1 = found[4] >> 20 & 0x3FF, (found[4] & 0xFFFFF) + 1
    t2 = (found[5] & 0xFFFFF) + 1
    seen: list[int] = []
    for n in range(length):
        i0, rest = (n % d0, n // d0) if d0 else (n, 0)
        i1, i2 = (rest % d1, rest // d1) if d1 else (rest, 0)
        seen.append(i0 * t0 + i1 * t1 + i2 * t2)
    return seen


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ([8], [1]),
        ([2, 8], [16, 1]),
        ([3, 2, 8], [64, 16, 1]),
        ([3, 2, 8], [8, 64, 1]),
        ([1, 2, 8], [0, 16, 1]),
        ([4, 2, 8], [16, 8, 1]),
        ([5, 1, 4], [4, 400, 1]),
        ([2, 1, 8], [64, 4, 1]),
    ],
)
def test_a_pattern_visits_what_it_says(sizes: list[int], strides: list[int], bits: int) -> None:
    count = math.prod(sizes)
    bd = f"%x : memref<65536xi{bits}> offset = 0 len = {count} sizes = {sizes} strides = {strides}"
    ((_, found),) = list(blocks(device(task("t", bd=bd), args=f"%x: memref<65536xi{bits}>")))
    elements = [
        sum(i * t for i, t in zip(at, strides, strict=True)) for at in itertools.product(*(range(s) for s in sizes))
    ]
    per = 32 // bits
    assert visited(found) == [e // per for e in elements[::per]]


# --- splitting --------------------------------------------------------------------------------------------------------


SHIM = get("npu2").dma(TileKind.SHIM_NOC)


def order(steps: Steps) -> list[int]:
    """The elements a pattern visits, in order."""
    outer = list(zip(reversed(steps.sizes), reversed(steps.strides), strict=True))
    return [
        sum(i * t for i, (_, t) in zip(at, outer, strict=True))
        for at in itertools.product(*(range(s) for s, _ in outer))
    ]


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((2048, 2, 1, 1), (1, 4096, 0, 0)),
        ((2048, 2, 2, 1), (1, 4096, 16384, 0)),
        ((4, 1500, 1, 1), (1, 8, 0, 0)),
        ((4, 1031, 1, 1), (1, 8, 0, 0)),
        ((4, 2, 3, 70), (1, 8, 16, 64)),
        ((4128, 3, 1, 1), (1, 8192, 0, 0)),
        ((8, 3, 2000, 1), (1, 16, 64, 0)),
    ],
)
def test_parts_visit_the_same_in_the_same_order(sizes: tuple[int, ...], strides: tuple[int, ...], bits: int) -> None:
    assert SHIM is not None
    steps = Steps(sizes, strides, bits)
    parts = split(steps, SHIM, TileKind.SHIM_NOC)
    assert parts is not None and len(parts) <= SHIM.bds
    assert all(next(p.steps.problems(SHIM, TileKind.SHIM_NOC), None) is None for p in parts)
    seen = [p.start + e for p in parts for e in order(p.steps)]
    assert seen == order(steps)


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((4, 0, 1, 1), (1, 8, 0, 0)),
        ((4, 2, 1, 1), (1, 1 << 22, 0, 0)),
        # All dimensions are taken, so that the prime one cannot become two; the outermost is short as it is.
        ((4, 104729, 2, 2), (1, 8, 4, 4)),
    ],
)
def test_what_cannot_be_split(sizes: tuple[int, ...], strides: tuple[int, ...]) -> None:
    assert SHIM is not None
    assert split(Steps(sizes, strides, 32), SHIM, TileKind.SHIM_NOC) is None


def test_a_task_that_is_split_is_a_chain() -> None:
    bd = A + "offset = 64 len = 3093 sizes = [1031, 3] strides = [8, 1]"
    ran = to_npu(device(task("t", bd=bd, token=True) + start("t") + wait("t")), LowerSetLock())
    assert not ran.said
    ops = list(ran.ops(NpuWriteBdOp))
    assert len(ops) > 1
    assert sum(op.field("buffer_length") for op in ops) == 3093
    assert [(op.field("use_next_bd"), op.field("next_bd")) for op in ops] == [
        *((1, i + 1) for i in range(len(ops) - 1)),
        (0, 0),
    ]
    offsets = [op.field("buffer_offset") for op in ops]
    assert offsets[0] == 64 * 4 and offsets == sorted(offsets)


def test_splitting_keeps_packets_and_bursts() -> None:
    more = "packet = #aie.packet_info<pkt_type = 1, pkt_id = 3>, burst_length = 128 : i32"
    ops = written(device(task("t", bd=A + "offset = 0 len = 3093 sizes = [1031, 3] strides = [8, 1]", more=more)))
    assert len(ops) > 1
    assert {(op.field("packet_id"), op.field("packet_type"), op.field("burst_length")) for op in ops} == {(3, 1, 128)}
