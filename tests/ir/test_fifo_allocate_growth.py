"""Allocating grows with the number of fifos and no faster: counted in calls, so that a busy machine says the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from allockit import core, device, dma, fifo, outside, pool, route, tiles
from passkit import Ran

from aiecc.ir.passes.fifo_allocate import ObjectFifoAllocate

CORES = [(c, r) for c in range(8) for r in (2, 3, 4, 5)]
GRID = tiles(*((c, r) for c in range(8) for r in range(6)))


def in_memory(n: int) -> list[str]:
    """Fifos inside one core's memory, up to eight a core."""
    found: list[str] = []
    for i in range(n):
        tile = "%t{}{}".format(*CORES[i % 32])
        found += [pool(f"p{i}", tile, 1), core(f"a{i}", tile, "fills", f"p{i}"), core(f"b{i}", tile, "drains", f"p{i}")]
    return found


def by_dma(n: int) -> list[str]:
    """Fifos from core to core, up to two a core."""
    found: list[str] = []
    for i in range(n):
        (a, b), (c, d) = CORES[i % 32], CORES[(i * 7 + 9) % 32]
        found += [pool(f"p{i}", f"%t{a}{b}", 1), dma(f"s{i}", f"%t{a}{b}", "drains", f"p{i}")]
        found += [pool(f"q{i}", f"%t{c}{d}", 1), dma(f"r{i}", f"%t{c}{d}", "fills", f"q{i}"), route(f"@s{i}", f"r{i}")]
    return found


def through_memory_tiles(n: int) -> list[str]:
    """Fifos from the shims over memory tiles, up to two a column, with many objects each."""
    found: list[str] = []
    for i in range(n):
        col = i % 8
        found += [outside(f"a{i}", f"%t{col}0", fifo(f"f{i}")), pool(f"p{i}", f"%t{col}1", 4, 14000)]
        found += [dma(f"b{i}", f"%t{col}1", "fills", f"p{i}"), dma(f"c{i}", f"%t{col}1", "drains", f"p{i}")]
        found += [route(f"@a{i}", f"b{i}")]
    return found


def calls(work: Callable[[], object]) -> int:
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def cost(lines: list[str]) -> int:
    ran = Ran(device(*lines, grid=GRID))
    found = calls(lambda: ObjectFifoAllocate().apply(ran.device, ran.sink))
    assert ran.said == []
    return found


@pytest.mark.parametrize(("made", "few", "times"), [(in_memory, 32, 8), (by_dma, 16, 4), (through_memory_tiles, 4, 4)])
def test_more_fifos_are_as_much_more_work(made: Callable[[int], list[str]], few: int, times: int) -> None:
    cost(made(few))  # What is read once for all devices is no fifo's work.
    small, large = cost(made(few)), cost(made(few * times))
    assert large <= 1.05 * times * small, (small, large)
