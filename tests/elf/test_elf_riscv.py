"""RISC-V transfers, against the encodings of the ISA manual and the real assembler."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import portable
import pytest

from aiecc.elf.read import read
from aiecc.elf.riscv import Transfer, transfers


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


@pytest.mark.parametrize(
    ("code", "base", "expected"),
    [
        (words(0x0000006F), 0x100, [Transfer(0x100, 0x100, False)]),  # j .
        (words(0x008000EF), 0x100, [Transfer(0x100, 0x108, True)]),  # jal ra, .+8
        (words(0xFF9FF06F), 0x100, [Transfer(0x100, 0xF8, False)]),  # j .-8
        (words(0x00001097, 0x00408093, 0x13), 0x100, [Transfer(0x100, 0x1104, False, loads=True)]),  # la ra, .+0x1004
        (words(0x00000097, 0x010080E7), 0x40, [Transfer(0x40, 0x50, True)]),  # call .+16
        (words(0x00000317, 0x01030067), 0x40, [Transfer(0x40, 0x50, False)]),  # tail .+16
        (words(0x00000097, 0x010300E7), 0x40, []),  # jalr through another register
        (struct.pack("<H", 0xA001), 0x10, [Transfer(0x10, 0x10, False)]),  # c.j .
        (struct.pack("<H", 0x2001), 0x10, [Transfer(0x10, 0x10, True)]),  # c.jal .
        (struct.pack("<H", 0x0001), 0x10, []),  # c.nop
        (b"\x6f", 0, []),
        (b"\x6f\x00", 0, []),
        (words(0x00000097), 0, []),
        (b"", 0, []),
    ],
)
def test_encodings(code: bytes, base: int, expected: list[Transfer]) -> None:
    assert list(transfers(code, base)) == expected


def test_c_jal_is_another_instruction_on_rv64() -> None:
    assert list(transfers(struct.pack("<H", 0x2001), 0, rv32=False)) == []


@pytest.mark.tools
def test_targets_of_the_real_assembler(tmp_path: Path) -> None:
    rng = random.Random(3)
    lines, kinds = [".text", ".option norelax"], ["call", "tail", "j", "jal ra,", "nop", "addi a0, a0, 1", "lui a1, 77"]
    expected: list[tuple[str, str]] = []
    for i in range(300):
        kind = rng.choice(kinds)
        target = f"l{rng.randrange(300)}"
        direct = kind in ("call", "tail", "j", "jal ra,")
        lines.append(f"l{i}: {kind} {target}" if direct else f"l{i}: {kind}")
        if direct:
            expected.append((f"l{i}", target))
    source = tmp_path / "jumps.S"
    source.write_text("\n".join(lines) + "\n")
    image = read(portable.clang(source).read_bytes())
    text = image.section(".text")
    assert text is not None
    at = {s.name: s.value for s in image.symbols}
    # Labels of the file are local, so `.L`-less names stay in the symbol table.
    found = [(t.pc, t.target) for t in transfers(image.contents(text), 0)]
    assert found == [(at[a], at[b]) for a, b in expected]
