"""Lowering DMA endpoints grows with their number, not faster: counted in calls, as a busy machine says the same."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from passkit import Ran
from poolkit import end, pool

from aiecc.ir.passes.fifo_lower_dmas import ObjectFifoLowerDmas

TILES = [(col, row) for row in (2, 3, 4, 5) for col in range(8)]


def design(fifos: int) -> str:
    """Fifos from core to core, up to two a tile each way; what a tile sends on a channel it receives on the other's."""
    parts = [f"%t{c}{r} = aie.tile({c}, {r})" for c, r in TILES]
    for i in range(fifos):
        (a, b), (c, d) = TILES[i % 32], TILES[(i + 9) % 32]
        channel = f"channelIndex = {i // 32} : i32"
        parts += [pool(f"p{i}", f"%t{a}{b}", 2, 8), end(f"s{i}", f"%t{a}{b}", "drains", f"p{i}", channel)]
        parts += [pool(f"q{i}", f"%t{c}{d}", 2, 8), end(f"r{i}", f"%t{c}{d}", "fills", f"q{i}", channel)]
    return "\n".join(["aie.device(npu2) {", *parts, "}"])


def calls(fifos: int) -> int:
    ran, count = Ran(design(fifos)), 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        ObjectFifoLowerDmas().apply(ran.device, ran.sink)
    finally:
        sys.setprofile(before)
    assert ran.said == []
    return count


@pytest.fixture(scope="module")
def counted() -> dict[int, int]:
    calls(8)  # What is made once, at first use, does not count.
    return {n: calls(n) for n in (8, 16, 32, 64)}


@pytest.mark.parametrize("n", [8, 16, 32])
def test_twice_the_fifos_are_twice_the_work(counted: dict[int, int], n: int) -> None:
    assert counted[2 * n] < 2.1 * counted[n]
