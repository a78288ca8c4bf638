"""`aiecc disasm`: registers and fields by name."""

import json
import random
from pathlib import Path

import pytest

from aiecc.base.diag import Refused
from aiecc.cli.disasm import run
from aiecc.model.targets import get
from aiecc.npu import bd, txn
from aiecc.npu.disasm import facts, text
from aiecc.npu.registers import device_of, locate

NPU2 = get("npu2")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (0x1D000, "tile(0, 0) shim DMA descriptor 0"),
        (0x0201D024, "tile(1, 0) shim DMA descriptor 1"),
        (0x1D214, "tile(0, 0) shim DMA MM2S 0 start queue"),
        (0x1D208, "tile(0, 0) shim DMA S2MM 1 control"),
        (0x1D228, "tile(0, 0) shim DMA MM2S 0 status"),
        (0x1A0000 + 0x20 * 47, "tile(0, 1) memory tile DMA descriptor 47"),
        (0x1C0000 + 0x10 * 63, "tile(0, 1) locks lock 63"),
        (0x21F010, "tile(0, 2) locks lock 1"),
        (0x232000, "tile(0, 2) core control"),
        (0x220010, "tile(0, 2) program memory byte 0x10"),
        (0x200400, "tile(0, 2) memory byte 0x400"),
        (0x23F000, "tile(0, 2) register 0x3F000"),
    ],
)
def test_registers(address: int, name: str) -> None:
    assert str(locate(NPU2, address)) == name


def test_off_the_array() -> None:
    assert locate(NPU2, 9 << 25) is None
    assert locate(NPU2, 7 << 20) is None


def test_the_header_says_the_device() -> None:
    for name in ("npu1", "npu1_1col", "npu2", "npu2_3col"):
        header = txn.decode(txn.encode(get(name), [])).header
        found = device_of(header.columns, header.rows, header.mem_rows, header.generation)
        assert found is not None and found.name == name


OPS = (
    txn.BlockWrite(0x0201D000, tuple(bd.SHIM.pack({"buffer_length": 24, "d1_stride": 3, "valid_bd": 1}))),
    txn.Patch(0x0201D004, 0, 16),
    txn.MaskWrite(0x1A0004, 0x400, 0x7FFFF),
    txn.MaskWrite(0x21DE00, 2, 2),
    txn.Write(0x0201D21C, 0x80020000),
    txn.Sync(1, 0, True, 1),
    txn.Write(12, 5),
    txn.Preempt(1),
)


def test_text() -> None:
    # 16 + 48 + 48 + 28 + 28 + 24 + 16 + 24 + 4 bytes.
    shown = text(txn.decode(txn.encode(NPU2, OPS))).splitlines()
    assert shown == [
        "transaction 0.1 for npu2: 8 columns, 6 rows (1 of memory tiles), 8 operations, 236 bytes",
        "    16  blockwrite             tile(1, 0) shim DMA descriptor 0 = buffer_length=24 d1_stride=3 valid_bd=1",
        "    64  address_patch          tile(1, 0) shim DMA descriptor 0 = host buffer 0 + 16",
        "   112  maskwrite32            tile(0, 1) memory tile DMA descriptor 0 = 0x00000400 mask 0x0007FFFF: "
        "buffer_offset=1024",
        "   140  maskwrite32            tile(0, 2) core DMA S2MM 0 control = 0x00000002 mask 0x00000002: reset=1",
        "   168  write32                tile(1, 0) shim DMA MM2S 1 start queue = 0x80020000: issue_token=1 repeat=2",
        "   192  sync                   wait for a token of tile(1, 0) MM2S 1",
        "   208  write32                tile(0, 0) register 0xC = 0x00000005",
        "   232  preempt                level 1",
    ]


def test_json_says_everything() -> None:
    program = txn.decode(txn.encode(NPU2, OPS))
    found = facts(program)
    assert json.loads(json.dumps(found)) == found
    first, patch = found["operations"][:2]
    assert first["fields"]["buffer_length"] == 24 and first["fields"]["d2_stride"] == 0
    assert (patch["argument"], patch["plus"], patch["register"]) == (0, 16, "tile(1, 0) shim DMA descriptor 0")
    assert sum(op["byte_size"] for op in found["operations"]) + 16 == found["size"]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = txn.encode(NPU2, OPS)
    file = tmp_path / "insts.bin"
    file.write_bytes(data)
    assert run([str(file)]) == 0
    shown = capsys.readouterr().out
    assert "start queue" in shown
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    listing = tmp_path / "insts.txt"
    listing.write_text("".join(f"{word:08X}\n" for word in words))
    assert run([str(listing)]) == 0
    assert capsys.readouterr().out == shown
    assert run([str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "npu2"
    assert run([str(file), "--device=npu1"]) == 0
    assert "for npu1" in capsys.readouterr().out


def test_command_on_what_it_cannot_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = txn.encode(NPU2, OPS)
    file = tmp_path / "cut.bin"
    file.write_bytes(data[:130])
    assert run([str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "   112  stopped: Transaction binary truncated while parsing opcode"
    assert len(lines) == 4
    file.write_bytes(b"#!/bin/sh\necho hello world\n")
    for args, word in (
        ([str(file)], "is no transaction: Unsupported TXN binary version"),
        ([str(tmp_path / "none.bin")], "cannot be read: No such file"),
        ([str(file), "--device=npu3"], "there is no device 'npu3'"),
        ([], "wants one file"),
    ):
        with pytest.raises(Refused, match=word):
            run(args)


EVERY = (
    *OPS,
    txn.Patch(0x0201D004, 7, 16),
    txn.LoadPdi(3, 100, 1 << 40),
    txn.CreateScratchpad(16),
    txn.UpdateReg(1, 0, 4, 0x1D004),
    txn.MaskPoll(0x1D228, 0, 0x400000),
)


def as_1_0(data: bytes) -> bytes:
    """The shorter form of writes, masked writes and blocks."""
    head, found = bytearray(data[:16]), bytearray()
    head[0:2] = b"\x01\x00"
    for entry in txn.decode(data).entries:
        match entry.op:
            case txn.Write(address, value):
                words = [txn.WRITE, address, value]
            case txn.MaskWrite(address, value, mask):
                words = [txn.MASKWRITE, address, value, mask]
            case txn.BlockWrite(address, block):
                words = [txn.BLOCKWRITE, address, 12 + 4 * len(block), *block]
            case op:
                words = txn.words_of(op)
        found += b"".join(word.to_bytes(4, "little") for word in words)
    head[12:16] = (16 + len(found)).to_bytes(4, "little")
    return bytes(head + found)


@pytest.mark.parametrize("data", [txn.encode(NPU2, EVERY), as_1_0(txn.encode(NPU2, EVERY))])
def test_no_bit_of_a_binary_goes_unseen(data: bytes) -> None:
    """Whatever bit is flipped: it is shown, or it ends what can be read."""
    whole = txn.decode(data)
    assert whole.stopped is None and not any(entry.unread for entry in whole.entries)
    as_text, as_facts = text(whole), facts(whole)
    unseen: list[tuple[str, int]] = []
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            program = txn.decode(bytes(damaged))
        except txn.NotATransaction:
            continue
        found = facts(program)
        assert json.loads(json.dumps(found)) == found
        if found == as_facts or text(program) == as_text:
            (at,) = (e for e in whole.entries if e.offset <= bit // 8 < e.offset + e.size)
            unseen.append((type(at.op).__name__, bit - 8 * at.offset))
    # The offset of a later buffer's patch is the same, folded or not; a block that names its tile says nothing new.
    folded = ("Patch", 10 * 32 + 31)
    assert set(unseen) <= {folded, ("BlockWrite", 32)}


def test_bits_that_mean_nothing_are_told() -> None:
    words = txn.words_of(txn.Write(0x1D214, 3))
    words[3] = 1
    block = txn.BlockWrite(0x1D000, (4, 0, 0, 1 << 31, 0, 0, 0, 0), (2, 3))
    data = bytearray(txn.encode(NPU2, [txn.Write(0, 0), block]))
    data[6] = 5
    data[16:40] = b"".join(word.to_bytes(4, "little") for word in words)
    assert text(txn.decode(bytes(data))).splitlines() == [
        "transaction 0.1 for npu2: 8 columns, 6 rows (1 of memory tiles), 2 operations, 88 bytes; bits that mean "
        "nothing: word 1 0x00050000",
        "    16  write32                tile(0, 0) shim DMA MM2S 0 start queue = 0x00000003: bd_id=3; bits that mean "
        "nothing: word 3 0x00000001",
        "    40  blockwrite             tile(0, 0) shim DMA descriptor 0 (said to be of tile(2, 3)) = "
        "buffer_length=4; bits that mean nothing: word 7 0x80000000",
    ]


def test_the_word_of_a_descriptor_that_is_written() -> None:
    found = text(
        txn.decode(txn.encode(NPU2, [txn.Write(0x1D00C, 5), txn.Patch(0x1D000, 0, 0), txn.Patch(0x1D004, 0, 0)]))
    )
    assert [" ".join(line.split()[2:]) for line in found.splitlines()[1:]] == [
        "tile(0, 0) shim DMA descriptor 0 word 3 = 0x00000005: d0_stride=5",
        "tile(0, 0) shim DMA descriptor 0 word 0 = host buffer 0 + 0",
        "tile(0, 0) shim DMA descriptor 0 = host buffer 0 + 0",
    ]


def test_damaged_files_never_are_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut anywhere, with any byte overwritten, as bytes and as a listing: read as far as it goes, or refused."""
    draw = random.Random(5)
    data = txn.encode(NPU2, EVERY)
    listing = b"".join(b"%08X\n" % int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4))
    file = tmp_path / "insts.bin"
    ends: set[str] = set()
    for round in range(400):
        found = bytearray(listing if round % 3 == 0 else data)
        if round % 2:
            found = found[: draw.randrange(len(found) + 1)]
        for _ in range(draw.randrange(5)):
            if found:
                found[draw.randrange(len(found))] = draw.choice(b"-+_ 0\xff" + bytes([draw.randrange(256)]))
        file.write_bytes(found)
        try:
            code = run([str(file), *(["--json"] if round % 5 == 0 else [])])
        except Refused as refused:
            assert len(refused.diagnostics) == 1
            ends.add("refused")
            continue
        shown = capsys.readouterr().out
        assert shown.startswith(("transaction", "{"))
        assert (code != 0) == ("stopped" in shown)
        ends.add("stopped" if code else "read")
    assert ends == {"refused", "stopped", "read"}


@pytest.mark.parametrize("word", ["-0000001", "+0000001", "0000_001"])
def test_what_is_no_listing(tmp_path: Path, word: str) -> None:
    file = tmp_path / "insts.txt"
    file.write_text(f"{word}\n" * 4)
    with pytest.raises(Refused, match="is no transaction"):
        run([str(file)])


@pytest.mark.parametrize(
    ("address", "module"),
    [(0x31000, "shim"), (0x191000, "memory_tile"), (0x231500, "core"), (0x211000, "memory")],
)
def test_counters_of_every_module_are_named(address: int, module: str) -> None:
    register = locate(NPU2, address)
    assert register is not None
    assert register.official == (module, "Performance_Control0")
