"""Calls that a RISC-V object makes without a relocation.

Without linker relaxation the assembler resolves a call to a local function of the same section by itself, a
static function's call of itself among them. Such calls show only in the instructions.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from sys import byteorder
from typing import NamedTuple


class Transfer(NamedTuple):
    """A direct transfer of control. `links`: it saves a return address. `loads`: it only computes the address."""

    pc: int
    target: int
    links: bool
    loads: bool = False


def transfers(code: bytes, base: int, *, rv32: bool = True) -> Iterator[Transfer]:
    """Direct jumps and calls in a run of instructions that starts at address `base`.

    `jal`, `c.j`, `c.jal` (RV32), and `auipc` with the `jalr` or `addi` right behind it. Conditional branches never
    leave a function and are left out.
    """
    halves = array("H", code[: len(code) & ~1])
    if byteorder == "big":
        halves.byteswap()
    at, end = 0, len(halves)
    while at < end:
        low = halves[at]
        if low & 3 != 3:
            # Quadrant 1: funct3 101 is c.j; 001 is c.jal, which exists on RV32 only.
            kind = low & 0xE003
            if kind == 0xA001 or (rv32 and kind == 0x2001):
                pc = base + 2 * at
                yield Transfer(pc, pc + _compressed_offset(low), kind == 0x2001)
            at += 1
            continue
        opcode = low & 0x7F
        if opcode == 0x6F and at + 1 < end:
            word, pc = low | halves[at + 1] << 16, base + 2 * at
            yield Transfer(pc, pc + _jal_offset(word), word >> 7 & 31 != 0)
        elif opcode == 0x17 and at + 3 < end:
            found = _pair(low | halves[at + 1] << 16, halves[at + 2] | halves[at + 3] << 16, base + 2 * at)
            if found is not None:
                yield found
        at += 2


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _compressed_offset(half: int) -> int:
    bits = (
        (half >> 12 & 1) << 11
        | (half >> 11 & 1) << 4
        | (half >> 9 & 3) << 8
        | (half >> 8 & 1) << 10
        | (half >> 7 & 1) << 6
        | (half >> 6 & 1) << 7
        | (half >> 3 & 7) << 1
        | (half >> 2 & 1) << 5
    )
    return _signed(bits, 12)


def _jal_offset(word: int) -> int:
    bits = (word >> 31) << 20 | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
    return _signed(bits, 21)


def _pair(upper: int, lower: int, pc: int) -> Transfer | None:
    """`auipc` and its follower, if that one adds to the same register."""
    register = upper >> 7 & 31
    if lower >> 15 & 31 != register:
        return None
    target = (pc + _signed(upper & 0xFFFFF000, 32) + _signed(lower >> 20, 12)) & 0xFFFFFFFF
    if lower & 0x707F == 0x0067:
        return Transfer(pc, target, lower >> 7 & 31 != 0)
    if lower & 0x707F == 0x0013 and lower >> 7 & 31 == register:
        return Transfer(pc, target, False, loads=True)
    return None
