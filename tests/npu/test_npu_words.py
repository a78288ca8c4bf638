"""Descriptor, queue and transaction words. The constants are worked out by hand from the register layouts."""

import random
import struct

import pytest

from aiecc.model.targets import DmaDirection, TileKind, get
from aiecc.npu import bd, txn
from aiecc.npu.bits import Field, Layout, Unfit

NPU1, NPU2 = get("npu1"), get("npu2")


def hexed(words: list[int]) -> str:
    return " ".join(f"{word:08X}" for word in words)


def test_shim_descriptor() -> None:
    # 24 words from byte 16, 2 x 4 x 3 words with steps 1, 4 and 12; chained to descriptor 1.
    first = {"buffer_length": 24, "buffer_offset": 16, "d0_size": 2, "d1_size": 4, "d1_stride": 3, "d2_stride": 11}
    first |= {"burst_code": 3, "axcache": 2, "next_bd": 1, "use_next_bd": 1, "valid_bd": 1}
    assert hexed(bd.SHIM.pack(first)) == ("00000018 00000010 00000000 00200000 C0400003 0200000B 00000000 0E000000")


def test_memory_tile_descriptor() -> None:
    words = {"buffer_length": 32, "d0_size": 8, "d1_size": 4, "d1_stride": 15, "d0_zero_before": 1}
    words |= {"d0_zero_after": 2, "lock_acq_enable": 1, "lock_acq_id": 66, "lock_acq_val": -1, "lock_rel_id": 67}
    words |= {"lock_rel_val": 1, "valid_bd": 1}
    assert hexed(bd.MEM.pack(words)) == "00000020 04000000 00100000 0008000F 00000000 00040000 00000000 8143FF42"


def test_core_descriptor() -> None:
    words = {"buffer_length": 32, "lock_acq_enable": 1, "lock_acq_id": 2, "lock_acq_val": -1}
    words |= {"lock_rel_id": 3, "lock_rel_val": 1, "valid_bd": 1}
    assert hexed(bd.CORE.pack(words)) == "00000020 00000000 00000000 00000000 00000000 02047FE2"
    # Bytes become words: 64 bytes are 16 words, from bit 14 on.
    assert bd.CORE.pack({"buffer_offset": 64})[0] == 16 << 14
    with pytest.raises(Unfit, match="buffer_offset = 66"):
        bd.CORE.pack({"buffer_offset": 66})


@pytest.mark.parametrize("layout", [bd.SHIM, bd.MEM, bd.CORE, bd.QUEUE], ids=lambda layout: layout.name)
def test_every_field_alone(layout: Layout) -> None:
    """The extremes of each field come back, touch nothing else, and one more is refused."""
    for field in layout.fields:
        low, high = field.bounds
        for value in {low, high, high // 2} - {0}:
            words = layout.pack({field.name: value * field.scale})
            back = layout.unpack(words)
            assert back.pop(field.name) == value * field.scale
            assert not any(back.values()), field.name
        for value in (low - 1, high + 1):
            with pytest.raises(Unfit, match=field.name):
                layout.pack({field.name: value * field.scale})


def test_random_descriptors_come_back() -> None:
    rng = random.Random(3)
    for layout in (bd.SHIM, bd.MEM, bd.CORE):
        for _ in range(200):
            values = {f.name: rng.randint(*f.bounds) * f.scale for f in layout.fields}
            words = layout.pack(values)
            assert layout.unpack(words) == values
            assert not layout.reserved(words)


def test_what_no_field_has_is_kept_apart() -> None:
    layout = Layout("toy", 1, (Field("a", 0, 3, 0),))
    assert layout.reserved([0xF3]) == {0: 0xF0}
    with pytest.raises(Unfit, match="b = 1"):
        layout.pack({"a": 1, "b": 1})
    assert layout.pack({"a": 1, "b": 0}) == [1]
    with pytest.raises(ValueError, match="1 words, not 2"):
        layout.unpack([0, 0])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("npu1", {0: 0x80000000, 64: 0, 128: 0x40000000, 256: 0x80000000}),
        ("npu2", {0: 0xC0000000, 64: 0, 128: 0x40000000, 256: 0x80000000, 512: 0xC0000000}),
    ],
)
def test_bursts(name: str, words: dict[int, int]) -> None:
    for length, word in words.items():
        code = bd.burst_code(get(name), length)
        assert code is not None
        assert bd.SHIM.pack({"burst_code": code})[4] == word


def test_burst_lengths_that_do_not_exist() -> None:
    assert bd.burst_code(NPU1, 512) is None
    assert bd.burst_code(NPU2, 100) is None


def test_queue_words() -> None:
    assert bd.queue_word(20, 0, False) == 0x14
    assert bd.queue_word(0, 2, True) == 0x80020000
    for wrong in ((64, 0), (0, 256), (-1, 0)):
        with pytest.raises(Unfit):
            bd.queue_word(*wrong, False)


def test_addresses() -> None:
    """Tile base = column << 25 | row << 20; offsets from the register map."""
    assert NPU2.bd_address(0, 0, 0) == 118784
    assert NPU2.bd_address(0, 2, 0) == 0x0021D000
    assert NPU2.bd_address(0, 1, 3) == 0x1A0060
    assert NPU2.channel_queue(0, 0, DmaDirection.MM2S, 0) == 119316
    assert NPU2.channel_queue(2, 0, DmaDirection.S2MM, 1) == (2 << 25) + 0x1D20C
    assert NPU2.channel_control(0, 1, DmaDirection.MM2S, 5) == 0x1A0630 + 40
    assert NPU2.channel_control(0, 2, DmaDirection.S2MM, 0) == 0x200000 + 122368
    assert NPU2.lock_address(1, 2, 3) == (1 << 25) + (2 << 20) + 0x1F030
    assert NPU2.lock_address(0, 1, 63) == (1 << 20) + 0xC03F0
    assert get("xcvc1902").lock_address(2, 1, 0) is None


def test_layouts_agree_with_the_target_model() -> None:
    """Two sources of one number: the layouts and the tables of what verifiers allow."""
    for device in (NPU1, NPU2):
        for kind in (TileKind.SHIM_NOC, TileKind.MEM, TileKind.CORE):
            dma, layout = device.dma(kind), bd.layout_of(kind)
            assert dma is not None
            fields = layout.by_name
            assert fields["d0_size"].mask == dma.max_wrap
            assert fields["d0_stride"].mask + 1 == dma.max_step
            assert fields["iteration_size"].mask + 1 == dma.max_iteration
            assert fields["buffer_length"].mask == dma.max_words
            assert fields["next_bd"].mask + 1 >= dma.bds
            assert fields["buffer_offset"].word * 4 == dma.bd_address_offset


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("npu1", (0x06030100, 0x104)),
        ("npu1_1col", (0x06030100, 0x101)),
        ("npu2", (0x06040100, 0x108)),
        ("npu2_1col", (0x06040100, 0x101)),
    ],
)
def test_headers(device: str, words: tuple[int, int]) -> None:
    assert struct.unpack("<IIII", txn.encode(get(device), [])) == (*words, 0, 16)


OPS: tuple[txn.Op, ...] = (
    txn.Write(0x1D214, 0x80000003),
    txn.BlockWrite(0x1D000, tuple(range(8))),
    txn.BlockWrite(0x1D000, (5,), (3, 1)),
    txn.MaskWrite(0x21D000, 0x440000, 0x0FFFC000),
    txn.MaskPoll(0x1D228, 0, 0x400000),
    txn.Preempt(2),
    txn.LoadPdi(7, 4096, 0x1_2345_6789),
    txn.CreateScratchpad(64),
    txn.UpdateReg(3, 1, 0, 0x1D004),
    txn.Sync(1, 0, True, 1),
    txn.Sync(2, 0, False, 0, 4, 2),
    txn.Patch(0x1D004, 0, 64),
    txn.Patch(0x1D024, 6, 12),
)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (OPS[0], "00000000 00000000 0001D214 00000000 80000003 00000018"),
        (OPS[2], "00000001 00000103 0001D000 00000014 00000005"),
        (OPS[3], "00000003 00000000 0021D000 00000000 00440000 0FFFC000 0000001C"),
        (OPS[5], "00000206"),
        (OPS[6], "00070008 00001000 23456789 00000001"),
        (OPS[7], "0000000A 00000040 00000000 00000000"),
        (OPS[8], "0001030C 00000000 0001D004"),
        (OPS[9], "00000080 00000010 00010001 01010100"),
        (OPS[10], "00000080 00000010 00020000 00040200"),
        (
            OPS[11],
            "00000081 00000030 00000000 00000000 00000000 00000000 0001D004 00000000 00000000 00000000 "
            "00000040 00000000",
        ),
    ],
)
def test_operations(op: txn.Op, words: str) -> None:
    assert hexed(txn.words_of(op)) == words


def test_patches_of_later_buffers_are_folded() -> None:
    """The firmware translates the first five host buffers only."""
    assert txn.words_of(txn.Patch(0, 4, 12))[10] == 12
    assert txn.words_of(txn.Patch(0, 5, 12))[10] == 0x8000000C
    assert txn.words_of(txn.Patch(0, 5, 12), fold=False)[10] == 12


def test_everything_comes_back() -> None:
    data = txn.encode(NPU2, OPS)
    program = txn.decode(data)
    assert program.stopped is None
    assert tuple(entry.op for entry in program.entries) == OPS
    assert program.header.operations == len(OPS)
    assert program.header.size == len(data)
    assert [e.offset for e in program.entries][:2] == [16, 40]


def test_random_transactions_come_back() -> None:
    rng = random.Random(11)
    for _ in range(100):
        ops: list[txn.Op] = []
        for _ in range(rng.randint(0, 30)):
            ops.append(rng.choice(OPS))
            ops.append(
                txn.BlockWrite(rng.getrandbits(32), tuple(rng.getrandbits(32) for _ in range(rng.randint(0, 9))))
            )
            ops.append(txn.Patch(rng.getrandbits(32), rng.randint(0, 9), rng.getrandbits(31)))
        assert [e.op for e in txn.decode(txn.encode(NPU1, ops)).entries] == ops


def test_values_that_do_not_fit_are_refused() -> None:
    for op in (
        txn.Write(0, 1 << 32),
        txn.Write(-(1 << 40), 0),
        txn.Sync(256, 0, True, 0),
        txn.Sync(0, 0, True, 256),
        txn.Preempt(256),
        txn.LoadPdi(65536, 0, 0),
        txn.UpdateReg(256, 0, 0, 0),
        txn.Patch(0, 5, 1 << 31),
        txn.Patch(0, 0, -4),
    ):
        with pytest.raises(Unfit):
            txn.words_of(op)


def version_1_0(words: list[int], count: int) -> bytes:
    head = [0x06030001, 0x104, count, 16 + 4 * len(words)]
    return struct.pack(f"<{4 + len(words)}I", *head, *words)


def test_the_older_version_is_read() -> None:
    """Version 1.0 has shorter writes."""
    words = [0, 0x1D214, 3, 3, 0x1D000, 5, 7, 1, 0x1D020, 20, 8, 9]
    program = txn.decode(version_1_0(words, 3))
    assert program.stopped is None
    assert [e.op for e in program.entries] == [
        txn.Write(0x1D214, 3),
        txn.MaskWrite(0x1D000, 5, 7),
        txn.BlockWrite(0x1D020, (8, 9)),
    ]


def test_foreign_bytes() -> None:
    for data, text in (
        (b"", "too small for header: 0 of 16"),
        (b"\x7fELF" + bytes(60), "Unsupported TXN binary version: 127.69"),
    ):
        with pytest.raises(txn.NotATransaction, match=text):
            txn.decode(data)


def test_damage_is_told_with_what_is_readable() -> None:
    data = txn.encode(NPU2, OPS[:4])
    whole = txn.decode(data)
    # Cut anywhere: never an exception, never an invented operation, always where it stops.
    for cut in range(16, len(data)):
        program = txn.decode(data[:cut])
        assert program.stopped is not None
        assert whole.entries[: len(program.entries)] == program.entries
    at = whole.entries[1].offset
    wrong = bytearray(data)
    struct.pack_into("<I", wrong, at, 0x63)
    program = txn.decode(bytes(wrong))
    assert program.stopped == (at, "Unhandled opcode: 99")
    assert len(program.entries) == 1
    wrong = bytearray(data)
    struct.pack_into("<I", wrong, whole.entries[0].offset + 20, 28)
    assert txn.decode(bytes(wrong)).stopped == (16, "WRITE32 says it has 28 bytes instead of 24")
    assert txn.decode(data + bytes(4)).stopped == (len(data), "4 bytes follow the last of 4 operations")
    wrong = bytearray(data)
    struct.pack_into("<I", wrong, 12, 8)
    assert txn.decode(bytes(wrong)).stopped == (12, f"the header says 8 bytes, there are {len(data)}")


def test_random_bytes_never_raise() -> None:
    rng = random.Random(5)
    base = bytearray(txn.encode(NPU2, OPS))
    for _ in range(2000):
        data = bytearray(base)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(16, len(data))] = rng.randrange(256)
        txn.decode(bytes(data))
