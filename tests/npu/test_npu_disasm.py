"""`aiecc disasm`: registers and fields by name."""

import json
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


@pytest.mark.parametrize(
    ("address", "module"),
    [(0x31000, "shim"), (0x191000, "memory_tile"), (0x231500, "core"), (0x211000, "memory")],
)
def test_counters_of_every_module_are_named(address: int, module: str) -> None:
    register = locate(NPU2, address)
    assert register is not None
    assert register.official == (module, "Performance_Control0")
