"""Compute and memory tiles that run out of channels: endpoints whose objects are needed in a fixed order take turns."""

from __future__ import annotations

import itertools

from allockit import allocated, channels, core, dma, flows, pool, refused, route, tiles
from passkit import Ran

from aiecc.ir.dialects.aie.pools import DmaEndpointOp

FORM = "memref<16xi32>"
ARRAY = tiles((0, 1), (1, 1), *((c, r) for c in (0, 1) for r in (2, 3, 4, 5)))


def fifo(name: str, dest: str, depth: int = 2) -> str:
    """Objects that come into a memory tile by the DMA of that tile, or of the next one, and that a core takes."""
    source, filler = "%t01", "%t11" if name[-1] in "02b" else "%t01"
    return "\n".join(
        [
            pool(f"{name}_pool", source, depth), dma(f"{name}_fill", filler, "fills", f"{name}_pool"),
            dma(f"{name}_out", source, "drains", f"{name}_pool"),
            pool(f"{name}_cons_pool", dest, depth), core(f"{name}_cons", dest, "drains", f"{name}_cons_pool"),
            dma(f"{name}_in", dest, "fills", f"{name}_cons_pool"), route(f"@{name}_out", f"{name}_in"),
        ]
    )  # fmt: skip


def taker(tile: str, *names: str) -> str:
    """A core that forever takes an object of each fifo in turn."""
    steps: list[str] = []
    for name in names:
        steps.append(f"%{name} = aie.objectfifo.acquire @{name}_cons (1) : {FORM}")
        steps.append(f"aie.objectfifo.release @{name}_cons (1)")
    label = tile.removeprefix("%")
    return f"""
%core_{label} = aie.core({tile}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 4294967295 : index
  scf.for %i = %zero to %n step %one {{
    {chr(10).join(steps)}
  }}
  aie.end
}}"""


def turns(ran: Ran) -> dict[str, tuple[str, ...]]:
    return {op.symbol: op.turns for op in ran.ops(DmaEndpointOp) if op.turns}


def test_a_core_tile_that_runs_out() -> None:
    ran = allocated(*(fifo(n, "%t02") for n in "abc"), taker("%t02", "a", "b", "c"), grid=ARRAY)
    shared = turns(ran)
    # One channel is missing, so two fifos share, both ends alike, in the order in which the core takes them.
    assert len(shared) == 4
    here = next(order for name, order in shared.items() if name.endswith("_in"))
    there = next(order for name, order in shared.items() if name.endswith("_out"))
    assert list(here) == sorted(here)
    assert [name.removesuffix("_in") for name in here] == [name.removesuffix("_out") for name in there]
    assert all(shared[name] == here for name in here) and all(shared[name] == there for name in there)
    assert len({channels(ran)[name] for name in here}) == len({channels(ran)[name] for name in there}) == 1
    assert sorted({channels(ran)[f"{n}_in"] for n in "abc"}) == [0, 1]
    assert len(flows(ran)) == len(set(flows(ran))) == 2


def test_a_memory_tile_that_runs_out() -> None:
    cores = ["%t02", "%t03", "%t04", "%t05"]
    names = [(f"{x}{i}", cores[i]) for i in range(4) for x in "ab"][:7]
    takers = [taker(tile, *(n for n, t in names if t == tile)) for tile in cores]
    ran = allocated(*(fifo(n, t) for n, t in names), *takers, grid=ARRAY)
    assert len(turns(ran)) == 4
    assert {channels(ran)[f"{n}_out"] for n, _ in names} == set(range(6))
    assert len(flows(ran)) == 6


def test_turns_at_one_end_are_what_was_missing_at_the_other() -> None:
    """Seven out of one memory tile, three of them into one core tile: one pair of turns helps both."""
    far = ["%t02", "%t02", "%t02", "%t03", "%t03", "%t04", "%t04"]
    names = [f"f{i}" for i in range(7)]
    takers = [taker(t, *(n for n, at in zip(names, far, strict=True) if at == t)) for t in dict.fromkeys(far)]
    ran = allocated(*(fifo(n, t) for n, t in zip(names, far, strict=True)), *takers, grid=ARRAY)
    shared = turns(ran)
    assert len(shared) == 4
    assert {far[names.index(name.removesuffix("_in"))] for name in shared if name.endswith("_in")} == {"%t02"}


def test_two_core_tiles_that_run_out() -> None:
    names = [f"{x}{i}" for i in range(2) for x in "abc"]
    tile = {0: "%t02", 1: "%t03"}
    takers = [taker(tile[i], *(f"{x}{i}" for x in "abc")) for i in range(2)]
    ran = allocated(*(fifo(n, tile[int(n[1])]) for n in names), *takers, grid=ARRAY)
    assert len(turns(ran)) == 8
    assert len(flows(ran)) == 4


def test_more_is_missing_than_one_channel() -> None:
    names = [f"f{i}" for i in range(5)]
    ran = allocated(*(fifo(n, "%t02") for n in names), taker("%t02", *names), grid=ARRAY)
    used = [channels(ran)[f"{n}_in"] for n in names]
    assert sorted(set(used)) == [0, 1]
    assert len(flows(ran)) == 2
    for a, b in itertools.combinations(names, 2):
        same = channels(ran)[f"{a}_in"] == channels(ran)[f"{b}_in"]
        assert same == (channels(ran)[f"{a}_out"] == channels(ran)[f"{b}_out"])


def test_a_design_that_fits_takes_no_turns() -> None:
    ran = allocated(*(fifo(n, "%t02") for n in "ab"), taker("%t02", "a", "b"), grid=ARRAY)
    assert not turns(ran)
    assert len(flows(ran)) == 2


def test_no_order_no_turns() -> None:
    ran = refused(*(fifo(n, "%t02") for n in "abc"), grid=ARRAY)
    text = "number of input DMA channel exceeded! requires at least 3 S2MM channels, but capacity is 2"
    assert ran.only.text == f"'aie.tile' op {text}"
