"""Transfers, pushes, waits, parameters and resets as plain instructions, and what a transaction refuses."""

from dataclasses import replace

import pytest
from passkit import Ran, line_of
from seqkit import blocks, device, operations, problems, start, task, to_npu, words

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp
from aiecc.ir.passes.dma_to_npu import DmaToNpu
from aiecc.ir.passes.lower_resets import LowerCoreReset, LowerDmaChannelReset
from aiecc.ir.passes.lower_set_lock import LowerSetLock
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.npu import txn


def copy(
    pattern: str = "[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]",
    *,
    id: int = 0,
    to: str = "in",
    more: str = "",
    buffer: str = "%a",
    type: str = "memref<65536xi32>",
    packet: str = "",
) -> str:
    told = ", ".join(x for x in (f"id = {id} : i64", f"metadata = @{to}", more) if x)
    return f"aiex.npu.dma_memcpy_nd({buffer}{pattern}{packet}) {{{told}}} : {type}\n"


def lowered(text: str, *passes: object, name: str = "npu2") -> list[txn.Op]:
    ran = Ran(device(text, name=name), *(passes or (DmaToNpu(),)))  # type: ignore[arg-type]
    assert not ran.said, ran.said
    sink = Sink()
    found = instructions(ran.device, find_sequence(ran.device), sink)
    assert not sink.items, [d.text for d in sink.items]
    return [each.op for each in found]


# --- transfers --------------------------------------------------------------------------------------------------------


def test_a_transfer_is_a_descriptor_an_address_and_a_push() -> None:
    """2048 words in one run: only the length says so."""
    found = lowered(copy("[0, 0, 8, 0][1, 1, 1, 2048][0, 0, 512, 1]", id=2, to="out"))
    assert found == [
        txn.BlockWrite(0x1D040, (2048, 0, 0, 0, 0xC0000000, 0x02000000, 0, 0x02000000)),
        txn.Patch(0x1D044, 0, 16384),
        # A transfer that receives always tells.
        txn.Write(0x1D204, 0x80000002),
    ]


def test_a_pattern_of_rows() -> None:
    """64 rows of 32 words, 64 apart: 33556479 is 32 << 20 | 0 strides minus one, and so on."""
    found = lowered(copy("[0, 0, 0, 0][1, 1, 64, 32][0, 0, 64, 1]"), name="npu1")
    assert found[0] == txn.BlockWrite(
        0x1D000, (2048, 0, 0, 32 << 20, 2 << 30 | 64 << 20 | 63, 0x02000000, 0, 0x02000000)
    )


def test_the_outermost_dimension_repeats() -> None:
    found = lowered(copy("[0, 0, 0, 0][4, 1, 8, 16][1024, 0, 64, 1]"))
    block, _, push = found
    assert isinstance(block, txn.BlockWrite) and isinstance(push, txn.Write)
    assert block.data[0] == 128
    assert block.data[6] == 3 << 20 | 1023
    assert push.value == 3 << 16


def test_pure_repetition_moves_nothing_on() -> None:
    block, _, push = lowered(copy("[0, 0, 0, 0][4, 1, 8, 16][0, 0, 64, 1]"))
    assert isinstance(block, txn.BlockWrite) and isinstance(push, txn.Write)
    assert block.data[6] == 0 and push.value == 3 << 16


@pytest.mark.parametrize("name", ["npu1", "npu2"])
@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [
        ([1, 1, 1, 64], [0, 0, 0, 1], 0),
        ([1, 1, 8, 16], [0, 0, 64, 1], 32),
        ([1, 4, 8, 16], [0, 1024, 64, 1], 0),
        ([3, 4, 8, 16], [16, 1024, 64, 1], 128),
        ([2, 1, 1, 4096], [8192, 0, 0, 1], 4),
    ],
)
def test_a_transfer_and_a_task_of_the_same_are_the_same_words(
    name: str, sizes: list[int], strides: list[int], offset: int
) -> None:
    length = sizes[1] * sizes[2] * sizes[3]
    one = lowered(copy(f"[0, 0, 0, {offset}]{sizes}{strides}", more="issue_token = true"), name=name)
    repeat = f"repeat_count = {sizes[0] - 1} : i32"
    bd = f"%a : memref<65536xi32> offset = {offset} len = {length} sizes = {sizes} strides = {strides}"
    other = operations(device(task("t", bd=bd, token=True, attrs=repeat) + start("t"), name=name))
    # A task's descriptor holds its offset until the address is patched in.
    assert isinstance(other[0], txn.BlockWrite) and other[0].data[1] == offset * 4
    other[0] = replace(other[0], data=(other[0].data[0], 0, *other[0].data[2:]))
    assert one == other


def test_headers_of_transfers() -> None:
    (block, *_) = lowered(copy(packet=", packet = <pkt_type = 2, pkt_id = 7>"))
    assert isinstance(block, txn.BlockWrite)
    assert block.data[2] == 1 << 30 | 7 << 19 | 2 << 16


def test_a_wait_by_name() -> None:
    assert lowered("aiex.npu.dma_wait {symbol = @out}") == [txn.Sync(0, 0, False, 0, 1, 1)]
    assert lowered("aiex.npu.dma_wait {symbol = @in}") == [txn.Sync(0, 0, True, 0, 1, 1)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (copy("[0, 0, 0, 1][1, 1, 1, 64][0, 0, 0, 1]", buffer="%b", type="memref<65536xi16>"),
         "Offset must be 4-byte-aligned."),
        (copy("[0, 0, 0, 0][1, 1, 3, 3][0, 0, 4, 1]", buffer="%b", type="memref<65536xi16>"),
         "Transfer sizes must be multiples of 4 bytes. 3 elements at 2 bytes each equal 6 bytes, which is not "
         "divisible by 4. "),
        (copy("[0, 0, 0, 0][1, 1, 4, 2][0, 0, 3, 1]", buffer="%b", type="memref<65536xi16>"),
         "Stride 1 is 3 elements * 2 bytes = 6 bytes, which is not divisible by 4. "),
        (copy("[0, 0, 0, 0][1, 1, 0, 2][0, 0, 4, 1]"), "Size 1 must be a positive integer."),
        (copy("[0, 0, 0, 0][1, 1, 2, 2][0, 0, 0, 1]"), "Stride 1 must be a positive integer."),
        (copy("[0, 0, 0, 0][2, 1, 2, 2][-4, 0, 4, 1]"), "Stride 3 must be a non-negative integer."),
        (copy("[0, 0, 0, 0][1, 1, 2, 2][0, 0, 1048577, 1]"), "Stride 1 exceeds the [1:1048576] range."),
        (copy(more="burst_length = 65 : i64"),
         "Requested burst length is not supported by the target. Supported burst lengths: 64 128 256 512"),
        (copy(packet=", packet = <pkt_type = 8, pkt_id = 7>"), "Packet type field can only hold 3 bits."),
        (copy(packet=", packet = <pkt_type = 0, pkt_id = 32>"), "Packet ID field can only hold 5 bits."),
    ],
)  # fmt: skip
def test_transfers_that_cannot_be(text: str, said: str) -> None:
    assert problems(device(text)) == [f"'aiex.npu.dma_memcpy_nd' op {said}"]


@pytest.mark.parametrize(
    ("type", "said"),
    [
        ("memref<64xi64>", "Maximum element bit width allowed is 32bits. "),
        ("memref<1xi16>", "Minimum data transfer size required is 32bits. "),
    ],
)
def test_elements_and_buffers_that_are_too_wide_or_too_small(type: str, said: str) -> None:
    text = device(copy("[0, 0, 0, 0][1, 1, 1, 2][0, 0, 0, 1]", buffer="%x", type=type), args=f"%x: {type}")
    assert problems(text) == [f"'aiex.npu.dma_memcpy_nd' op {said}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (copy(to="nowhere"), "'aiex.npu.dma_memcpy_nd' op couldn't find shim_dma_allocation op."),
        (
            copy(buffer="%mb", type="memref<4096xi32>"),
            "'aiex.npu.dma_memcpy_nd' op memref must be a block argument or subview/cast/reinterpret_cast of a block "
            "argument with static offsets, sizes, and strides",
        ),
        ("aiex.npu.rtp_write(@nowhere, 0, %v) : i32", "buffer 'nowhere' not found in device"),
        ("aiex.npu.rtp_write(@bare, 0, %v) : i32", "buffer must have address assigned"),
        (
            "%z = arith.constant 0 : i32\n aiex.npu.push_queue(0, 0, MM2S : 5) bd_id %z repeat %z "
            "{issue_token = false} : i32, i32",
            "'aiex.npu.push_queue' op tile (0, 0) has no MM2S channel 5",
        ),
    ],
)
def test_what_lowering_refuses(text: str, said: str) -> None:
    bare = '%bare = aie.buffer(%core) {sym_name = "bare"} : memref<4xi32>'
    ran = Ran(device("%v = arith.constant 7 : i32\n" + text, before=bare), DmaToNpu())
    assert ran.said == [said]


def test_parameters_are_words_of_a_buffer() -> None:
    assert lowered("%v = arith.constant 7 : i32\n aiex.npu.rtp_write(@cb, 3, %v) : i32") == [
        txn.Write((2 << 20) + 1024 + 12, 7)
    ]


@pytest.mark.parametrize(
    ("tile", "value", "token", "wanted"),
    [("0, 1", 20, "false", 0x14), ("0, 1", 20, "true", 0x80000014), ("0, 2", 3, "true", 0x80000003)],
)
def test_queue_words(tile: str, value: int, token: str, wanted: int) -> None:
    push = (
        f"%i = arith.constant {value} : i32\n %r = arith.constant 0 : i32\n"
        f"aiex.npu.push_queue({tile}, MM2S : 0) bd_id %i repeat %r {{issue_token = {token}}} : i32, i32\n"
    )
    base = {"0, 1": 0x1A0634, "0, 2": 0x21DE14}[tile]
    written = writebd(value, int(tile[-1]))
    assert lowered(written + push)[-1] == txn.Write(base, wanted)


def writebd(id: int, row: int) -> str:
    names = [n for n in NpuWriteBdOp.get_irdl_definition().properties if n != "burst_length"]
    given = {"bd_id": id, "row": row, "buffer_length": 4, "valid_bd": 1}
    return "aiex.npu.writebd {" + ", ".join(f"{n} = {given.get(n, 0)} : i32" for n in names) + "}\n"


PUSH = (
    "%i = arith.constant 3 : i32\n %r = arith.constant 0 : i32\n"
    "aiex.npu.push_queue(0, 2, MM2S : 0) bd_id %i repeat %r {issue_token = false} : i32, i32\n"
)


@pytest.mark.parametrize("before", ["", writebd(2, 2), writebd(3, 1)])
def test_a_push_of_what_nothing_configures_is_told(before: str) -> None:
    ran = Ran(device(before + PUSH), DmaToNpu())
    assert ran.only.text == (
        "'aiex.npu.push_queue' op pushes buffer descriptor ID 3 of tile (0, 2), which nothing before it configures"
    )
    assert ran.only.where is not None and ran.only.where.line == line_of(device(before + PUSH), "push_queue")


PROGRAM = """
  %p = aie.mem(%core) {
    %0 = aie.dma_start(MM2S, 0, ^bd, ^end)
  ^bd:
    aie.dma_bd(%cb : memref<1024xi32> offset = 0 len = 64) {bd_id = 3 : i32}
    aie.next_bd ^end
  ^end:
    aie.end
  }
"""


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("", writebd(3, 2) + PUSH),
        (PROGRAM, PUSH),
        (PROGRAM.replace("{bd_id = 3 : i32}", ""), PUSH),
        ("", "%v = arith.constant 4 : i32\n aiex.npu.write32(%v, %v) : i32, i32\n" + PUSH),
    ],
)
def test_a_push_of_what_something_configures_or_may(before: str, text: str) -> None:
    assert not Ran(device(text, before=before), DmaToNpu()).said


def test_a_controller_is_told_where_tokens_go() -> None:
    push = (
        "%i = arith.constant 3 : i32\n"
        "aiex.npu.push_queue(0, 0, S2MM : 1) bd_id %i repeat %i {issue_token = true} : i32, i32\n"
    )
    text = device(writebd(3, 0) + push).replace(
        "%shim = aie.tile(0, 0)", "%shim = aie.tile(0, 0) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 15>}"
    )
    ran = Ran(text, DmaToNpu())
    assert not ran.said
    found = [each.op for each in instructions(ran.device, find_sequence(ran.device), Sink())]
    assert found[1:] == [txn.MaskWrite(0x1D208, 15 << 8, 0x1F00), txn.Write(0x1D20C, 0x80030003)]


def test_equal_descriptors_share_their_words() -> None:
    ran = Ran(device(copy(id=0) + copy(id=1) + copy(id=2, to="out")), DmaToNpu())
    assert len(ran.lines("memref.global")) == 1
    assert len(ran.lines("aiex.npu.blockwrite")) == 3


def test_names_of_constants_go_on_after_those_there_are() -> None:
    there = 'memref.global "private" constant @blockwrite_data_4 : memref<1xi32> = dense<3>'
    ran = Ran(device(copy(), before=there), DmaToNpu())
    assert [line.split("@")[1].split(" ")[0] for line in ran.lines("memref.global")] == [
        "blockwrite_data_4",
        "blockwrite_data_5",
    ]


def test_writes_inside_buffers_and_tiles() -> None:
    text = """
    %at = arith.constant 8 : i32
    %v = arith.constant 7 : i32
    %m = arith.constant 15 : i32
    aiex.npu.write32(%at, %v) {buffer = @cb} : i32, i32
    aiex.npu.maskwrite32(%at, %v, %m) {buffer = @mb} : i32, i32, i32
    aiex.npu.write32(%at, %v) {column = 1 : i32, row = 3 : i32} : i32, i32
    aiex.npu.write32(%at, %v) : i32, i32
"""
    assert lowered(text) == [
        txn.Write((2 << 20) + 1024 + 32, 7),
        txn.MaskWrite((1 << 20) + 4096 + 32, 7, 15),
        txn.Write((1 << 25) + (3 << 20) + 8, 7),
        txn.Write(8, 7),
    ]


# --- locks, resets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lock", "address"), [("%ml1", (1 << 20) + 0xC0010), ("%cl1", (2 << 20) + 0x1F010), ("%sl2", 0x14020)]
)
def test_locks_are_set(lock: str, address: int) -> None:
    ran = Ran(device(f"aiex.set_lock({lock}, 5)", before="%sl2 = aie.lock(%shim, 2)"), LowerSetLock())
    assert not ran.said
    found = [each.op for each in instructions(ran.device, find_sequence(ran.device), Sink())]
    assert found == [txn.Write(address, 5)]


def test_a_lock_without_a_number_cannot_be_set() -> None:
    ran = Ran(device("aiex.set_lock(%l, 5)", before="%l = aie.lock(%core)"), LowerSetLock())
    assert ran.said == ["Tried to lower a SetLockOp on an unassigned lock"]


@pytest.mark.parametrize(
    ("use", "address"),
    [
        ("aiex.dma_channel_reset(%core, S2MM, 0)", (2 << 20) + 122368),
        ("aiex.dma_channel_reset(%core, MM2S, 0)", (2 << 20) + 122384),
        ("aiex.dma_channel_reset(%mem, S2MM, 0)", (1 << 20) + 656896),
        ("aiex.core_reset(%core)", (2 << 20) + 204800),
    ],
)
def test_resets_are_pulses(use: str, address: int) -> None:
    found = lowered(use, LowerDmaChannelReset(), LowerCoreReset(), DmaToNpu())
    assert found == [txn.MaskWrite(address, 2, 2), txn.MaskWrite(address, 0, 2)]


# --- the transaction --------------------------------------------------------------------------------------------------


CONSTANTS = "%c = arith.constant 1 : i32\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("aiex.npu.sync(%k, %c, %c, %c, %c, %c) : i32, i32, i32, i32, i32, i32",
         "Cannot translate sync with non-constant operands to a static TXN binary"),
        ("aiex.npu.write32(%c, %c) {buffer = @cb} : i32, i32", "Cannot translate symbolic address"),
        ("aiex.npu.maskwrite32(%c, %c, %c) {buffer = @cb} : i32, i32, i32", "Cannot translate symbolic address"),
        ("aiex.npu.write32(%c, %k) : i32, i32",
         "Cannot translate write32 with non-constant address or value to a static TXN binary"),
        ("aiex.npu.maskwrite32(%c, %k, %c) : i32, i32, i32",
         "Cannot translate maskwrite32 with non-constant address, value, or mask to a static TXN binary"),
        ("aiex.npu.address_patch(%k : i32) {addr = 4 : ui32, arg_idx = 0 : i32}",
         "Cannot translate address_patch with non-constant arg_plus to a static TXN binary"),
    ],
)  # fmt: skip
def test_run_time_values_have_no_words(text: str, said: str) -> None:
    ran = Ran(device(CONSTANTS + text, args="%k: i32"))
    sink = Sink()
    assert instructions(ran.device, find_sequence(ran.device), sink) == []
    (only,) = sink.items
    assert only.text.split(" op ")[1] == said


def test_all_that_is_wrong_is_told_at_once() -> None:
    text = CONSTANTS + "aiex.npu.write32(%c, %k) : i32, i32\n" * 3
    ran = Ran(device(text, args="%k: i32"))
    sink = Sink()
    instructions(ran.device, find_sequence(ran.device), sink)
    assert len(sink.items) == 3
    assert len({d.where.line for d in sink.items if d.where is not None}) == 3


def test_preemption_and_configurations() -> None:
    load = "{device_ref = @main, id = 3 : i32, size = 64 : i32, address = 4294967300 : ui64}"
    text = f"aiex.npu.preempt {{level = 2 : ui8}}\n aiex.npu.load_pdi {load}"
    found = words(device(text))
    assert found[4:] == [6 | 2 << 8, 8 | 3 << 16, 64, 4, 1]


def test_globals_of_blocks_are_found() -> None:
    ((address, data),) = list(blocks(device(task("t"))))
    assert address == 0x1D000 and data[0] == 64


def test_deviceless_addresses_of_blocks() -> None:
    """A block inside a tile names it in its second word; an absolute one does not."""
    before = 'memref.global "private" constant @w : memref<2xi32> = dense<[1, 2]>'
    text = (
        "%w = memref.get_global @w : memref<2xi32>\n"
        "aiex.npu.blockwrite(%w) {address = 16 : ui32, column = 3 : i32, row = 4 : i32} : memref<2xi32>\n"
        "aiex.npu.blockwrite(%w) {address = 16 : ui32} : memref<2xi32>\n"
    )
    found = words(device(text, before=before))
    assert found[4:10] == [1, 3 | 4 << 8, (3 << 25) + (4 << 20) + 16, 24, 1, 2]
    assert found[10:] == [1, 0, 16, 24, 1, 2]


def test_a_sequence_that_does_not_exist() -> None:
    from aiecc.base.diag import Refused

    ran = Ran(device(""))
    with pytest.raises(Refused, match="No such runtime sequence: other"):
        find_sequence(ran.device, "other")
    assert to_npu(device("")).said == []
