"""Frame sizes out of `.stack_sizes`: repeated (address, ULEB128 frame) pairs."""

from __future__ import annotations

from aiecc.elf.calls import Spans
from aiecc.elf.read import ElfProblem, Image

_MAX = (1 << 63) - 1


class MalformedStackSizes(ElfProblem):
    """The section's bytes are not (address, frame) pairs."""


def frames(image: Image, functions: Spans) -> dict[int, int]:
    """Frame size in bytes by function start, the largest where several entries name one function.

    Entries outside every function are ignored. `MalformedStackSizes` for a truncated address, a bad or missing
    ULEB128, or a frame beyond a signed 64-bit number.
    """
    out: dict[int, int] = {}
    for section in image.sections_named(".stack_sizes"):
        for address, size in entries(image.contents(section), image.word, image.little):
            owner = functions.at(address)
            if owner is not None:
                out[owner] = max(size, out.get(owner, 0))
    return out


def entries(data: bytes, word: int, little: bool) -> list[tuple[int, int]]:
    """The pairs in file order."""
    out: list[tuple[int, int]] = []
    order = "little" if little else "big"
    at, end = 0, len(data)
    while at < end:
        if at + word >= end:
            raise MalformedStackSizes("an entry of .stack_sizes is cut short")
        address = int.from_bytes(data[at : at + word], order)
        at += word
        value = shift = 0
        while True:
            if at >= end:
                raise MalformedStackSizes("a frame size in .stack_sizes does not end")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if value > _MAX:
                raise MalformedStackSizes("a frame size in .stack_sizes is not believable")
            if byte < 0x80:
                break
        out.append((address, value))
    return out
