"""Tiles whose addresses are known from mlir-aie's tests, or were derived from its rules independently of this code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placement_help import aie1, buf, data, memtile, npu1, npu2, placed, prebaked, ranked_search, reserved

from aiecc.model.memory import StackExtent, TileLayout, TileProblem
from aiecc.place.search import Status
from aiecc.place.solve import solve

K = 1024


def same(prefix: str, count: int, size: int, first: int = 0):
    return [buf(f"{prefix}{i + first}", size) for i in range(count)]


KNOWN: dict[str, tuple[TileProblem, dict[str, int]]] = {
    "a first choice strands the tail": (
        npu2(buf("pin", 43776, 1024), buf("mid", 12800), buf("small", 5000)),
        {"pin": 1024, "mid": 44800, "small": 57600},
    ),
    "a dense pack": (
        npu2(
            buf("bankres0", 512, bank=0),
            buf("bankres1", 768, bank=2),
            buf("buf0", 21696),
            buf("buf1", 8896),
            buf("buf2", 22976),
            buf("buf3", 8320),
            data(640),
        ),
        {
            "bankres0": 1024,
            "bankres1": 32768,
            "buf0": 1536,
            "buf1": 23232,
            "buf2": 33536,
            "buf3": 56512,
            "core_data_0_2": 32128,
        },
    ),
    "a bank pin between two buffers": (
        npu2(
            buf("p0", 3904, 5760),
            buf("p1", 192, 10560),
            buf("small", 7040),
            buf("banked", 64, bank=1),
            buf("big", 42881),
        ),
        {"small": 10752, "banked": 17792, "big": 17856},
    ),
    "the guard word of a column-0 memory tile": (
        memtile(
            buf("p0", 15616, 23040),
            buf("p1", 768, 42240),
            buf("small", 28160),
            buf("banked", 256, bank=1),
            buf("big", 448065),
            buf("init", 256, init=True),
            guard=4,
        ),
        {"init": 4, "small": 43008, "banked": 71168, "big": 71424},
    ),
    "guard: initialized": (memtile(buf("i", 16, init=True), guard=4), {"i": 4}),
    "guard: another column": (memtile(buf("i", 16, init=True)), {"i": 0}),
    "guard: uninitialized": (memtile(buf("u", 16), guard=4), {"u": 0}),
    "guard: pinned at 0": (
        memtile(buf("p", 16, 0, init=True), buf("i", 16, init=True), guard=4),
        {"p": 0, "i": 16},
    ),
    "guard: exact fill": (
        memtile(buf("u", 524272), buf("i", 16, init=True), guard=4),
        {"u": 0, "i": 524272},
    ),
    "core data keeps its measured alignment": (npu2(buf("p", 3, 1024), data(64, 256)), {"core_data_0_2": 1280}),
    "a reservation keeps its measured alignment": (
        npu2(buf("p", 3, 1024), buf("q", 15040, 1344), reserved(0, 64, 256)),
        {"bank_reserved_0_2_0": 1280},
    ),
    "a reservation of a page": (npu2(reserved(0, 4096, 4096)), {"bank_reserved_0_2_0": 4096}),
    "prebuilt ranges": (
        npu2(buf("scratch", 16384), prebaked(48128, 1024), prebaked(16384, 2048)),
        {"prebaked_0_2_48128": 48128, "prebaked_0_2_16384": 16384, "scratch": 49152},
    ),
    "a prebuilt range declared as a pin": (
        npu2(buf("prebaked_data", 4096, 8192), buf("scratch", 8192)),
        {"scratch": 16384},
    ),
    "pairs: one must yield": (
        npu2(buf("pin", 16384, 32768), buf("ab", 16384, space=9), buf("ac", 16384, space=10), stack=None),
        {"ab": 16384, "ac": 0},
    ),
    "pairs: neighbours may be spanned": (npu2(buf("bc", 32768, space=12), stack=None), {"bc": 16384}),
    "pairs: a pin may span its pair": (npu2(buf("s", 64, 16352, space=9), stack=None), {"s": 16352}),
    "pairs: pinned with its bank": (npu2(buf("s", 64, 49152, bank=3, space=13)), {"s": 49152}),
    "pairs: an empty buffer in full banks": (
        npu2(buf("p", 16384, 0), buf("q", 16384, 32768), buf("e", 0, space=10), stack=None),
        {"e": 0},
    ),
    "the stack without hints": (npu2(buf("b", 256)), {"b": 1024}),
    "six buffers, round robin": (
        npu2(*same("b", 6, 8192)),
        {"b0": 1024, "b1": 16384, "b2": 32768, "b5": 49152, "b3": 24576, "b4": 40960},
    ),
    "six buffers around core data": (
        npu2(*same("b", 6, 8192), data(12000)),
        {"core_data_0_2": 1024} | {f"b{i}": 16384 + 8192 * i for i in range(6)},
    ),
    "five buffers": (
        npu2(*same("b", 5, 8192)),
        {"b0": 1024, "b1": 16384, "b2": 32768, "b3": 49152, "b4": 24576},
    ),
    "five buffers pack around a reservation": (
        npu2(*same("b", 5, 8192), data(16384)),
        {"b0": 1024, "b1": 16384, "b2": 24576, "b3": 32768, "b4": 40960, "core_data_0_2": 49152},
    ),
    "three buffers": (npu2(*same("b", 3, 4096)), {"b0": 1024, "b1": 16384, "b2": 32768}),
    "three buffers, long data": (
        npu2(*same("b", 3, 4096), data(40000)),
        {"core_data_0_2": 1024, "b0": 41024, "b1": 49152, "b2": 53248},
    ),
    "three buffers, some data": (
        npu2(*same("b", 3, 4096), data(8192)),
        {"core_data_0_2": 1024, "b0": 16384, "b1": 32768, "b2": 49152},
    ),
    "a bank pin beside core data": (
        npu2(buf("mid", 8192, bank=1), data(30000)),
        {"mid": 16384, "core_data_0_2": 32768},
    ),
    "an empty pin splits nothing": (npu2(buf("z", 0, 4352), data(64512)), {"z": 4352, "core_data_0_2": 1024}),
    "a gap too small for vector alignment": (
        npu2(buf("p", 16, 1024), buf("q", 16, 1200, aligned=False), buf("b", 128)),
        {"b": 1216},
    ),
    "an exact hole at a bus multiple is not one at a vector multiple": (
        npu2(buf("p", 32, 2048), buf("q", 14048, 2336), buf("b", 256)),
        {"b": 1024},
    ),
    "an exact hole": (npu2(buf("p", 14336, 2048), buf("b", 1024)), {"b": 1024}),
    "a whole bank": (npu2(buf("large", 16384)), {"large": 16384}),
    "an empty buffer takes its turn": (npu2(buf("normal", 32), buf("empty", 0)), {"normal": 1024, "empty": 16384}),
    "an empty buffer on a full tile": (npu2(buf("full", 64512), buf("empty", 0)), {"full": 1024, "empty": 0}),
    "an empty buffer pinned to a full bank": (
        npu2(buf("full", 16384, 16384), buf("empty", 0, bank=1)),
        {"empty": 16384},
    ),
    "longer than a bank": (memtile(buf("a", 131072)), {"a": 0}),
    "longer than a bank, beside a pin": (memtile(buf("p", 65536, 0), buf("a", 131072)), {"a": 65536}),
    "a memory tile spreads": (memtile(*same("b", 3, 16384)), {"b0": 0, "b1": 65536, "b2": 131072}),
    "two banks long starts at a bank": (npu2(buf("a", 32768)), {"a": 16384}),
    "a bank pin above a pin that spans": (
        npu2(buf("p", 16384, 8192), buf("b", 1024, bank=1)),
        {"b": 24576},
    ),
    "a bank pin goes before a long buffer": (
        memtile(buf("p0", 7808, 17144), buf("p1", 13536, 194948), buf("b5", 191939), buf("b6", 22216, bank=6)),
        {"b5": 208484, "b6": 436536},
    ),
    "equal buffers keep their order": (
        aie1(*same("s", 4, 32), buf("a", 16384), buf("b", 32), stack=None),
        {"a": 0, "s0": 16384, "s1": 24576, "s2": 16416, "s3": 24608, "b": 16448},
    ),
    "room below pins": (npu2(buf("p", 57344, 8192), buf("b", 4096)), {"b": 1024}),
    "room below a pin, bank required": (memtile(buf("p", 32768, 32768), buf("b", 32768, bank=0)), {"b": 0}),
    "pin first": (npu2(buf("p", 8192, 24576), buf("b", 8192, bank=1)), {"b": 16384}),
    "pin last": (npu2(buf("b", 8192, bank=1), buf("p", 8192, 24576)), {"b": 16384}),
    "all kinds of pins": (
        npu2(
            buf("internal", 256, bank=2),
            buf("in", 256),
            buf("rtp", 256, 1024),
            buf("out", 256),
            buf("out2", 256, 16384, bank=1),
        ),
        {"internal": 32768, "in": 1280, "rtp": 1024, "out": 16640, "out2": 16384},
    ),
    "one unaligned size": (npu2(buf("x", 2000)), {"x": 1024}),
    "two around a pin": (npu2(buf("in", 256), buf("pin", 256, 1024), buf("out", 256)), {"in": 1280, "out": 16384}),
    "AIE1": (aie1(buf("a", 16), buf("b", 2048), buf("c", 32)), {"a": 16384, "b": 1024, "c": 8192}),
    "unaligned in a bank": (
        npu2(buf("a1", 4, 2048), buf("b2", 12, bank=0, aligned=False), buf("b3", 4, bank=0), stack=2048),
        {"a1": 2048, "b2": 2052, "b3": 2080},
    ),
    "vector alignment": (
        npu2(buf("pad", 144), *same("v", 4, 64)),
        {"pad": 1024, "v0": 16384, "v1": 32768, "v2": 49152, "v3": 1216},
    ),
    "vector alignment in a bank": (
        npu2(buf("pad", 144, bank=0), buf("v", 64, bank=0)),
        {"pad": 1024, "v": 1216},
    ),
    "a pin needs the bus width only": (npu2(buf("rtp", 64, 55328)), {"rtp": 55328}),
    "shorter than a vector": (npu2(*same("s", 2, 16)), {"s0": 1024, "s1": 16384}),
    "shorter than a vector, packed": (
        npu2(buf("s", 16, bank=0), buf("t", 16, bank=0), buf("u", 64, bank=0)),
        {"u": 1024, "s": 1088, "t": 1120},
    ),
    "a stack of an odd size": (npu2(*same("v", 2, 64), stack=1028), {"v0": 1088, "v1": 16384}),
    "memory tile alignment": (memtile(buf("a", 3), buf("b", 3)), {"a": 0, "b": 65536}),
    "a large stack": (npu2(*same("b", 2, 1024), stack=18432), {"b0": 18432, "b1": 32768}),
    "a memory tile's bank": (memtile(buf("a", 65536)), {"a": 0}),
    "a small pin to a bank goes to its top": (aie1(buf("b", 256, bank=2)), {"b": 24320}),
    "round robin and cap": (
        npu2(buf("p", 4096, 20480), buf("x", 6000), buf("y", 6000), buf("z", 3000)),
        {"x": 1024, "y": 24576, "z": 32768},
    ),
    "data needs one run": (
        npu2(
            buf("f1", 16384, 0x4000),
            buf("f2", 16384, 0x8000),
            buf("f3", 10240, 0xC000),
            buf("movable", 6144),
            data(14336),
        ),
        {"movable": 0xE800, "core_data_0_2": 0x400},
    ),
    "AIE2 aligns to 32": (npu1(*same("v", 2, 1024), stack=1056), {"v0": 0x420, "v1": 16384}),
    "AIE2P aligns to 64": (npu2(*same("v", 2, 1024), stack=1056), {"v0": 0x440, "v1": 16384}),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_addresses(name: str) -> None:
    problem, expected = KNOWN[name]
    layout = placed(problem)
    assert {key: layout.addresses[key] for key in expected} == expected


@pytest.mark.parametrize("name", KNOWN)
def test_placing_again_changes_nothing(name: str) -> None:
    problem, _ = KNOWN[name]
    layout = placed(problem)
    fixed = tuple(
        replace(e, address=layout.addresses[e.name], mem_bank=min(layout.addresses[e.name] // problem.bank_size, 7))
        for e in problem.extents
    )
    stack = replace(problem.stack, address=layout.stack_address) if problem.stack else None
    again = placed(replace(problem, extents=fixed, stack=stack))
    assert (again.addresses, again.stack_address) == (layout.addresses, layout.stack_address)
    assert again.tries == 0


@pytest.mark.parametrize("full, pair, bank", [(0, 9, 1), (0, 10, 2), (0, 11, 3), (1, 12, 2), (1, 13, 3), (2, 14, 3)])
def test_a_pair_uses_its_other_bank(full: int, pair: int, bank: int) -> None:
    layout = placed(npu2(buf("full", 16384, 16384 * full), buf("b", 64, space=pair), stack=None))
    assert layout.addresses["b"] // 16384 == bank


def test_single_bank_spaces() -> None:
    layout = placed(npu2(buf("b", 64, space=6), buf("d", 64, space=8), buf("n", 64)))
    assert layout.addresses["b"] // 16384 == 1
    assert layout.addresses["d"] // 16384 == 3


def test_a_pair_narrowed_by_its_bank() -> None:
    assert placed(npu2(buf("b", 64, space=10, bank=2))).addresses["b"] // 16384 == 2


@pytest.mark.parametrize("pin, address", [(None, 16384), (buf("p", 1024, 16384), 17408), (buf("p", 32, 16384), 16448)])
def test_stack_in_a_bank(pin, address: int) -> None:
    extents = [buf("b", 4096)] if pin is None else [pin]
    layout = placed(npu2(*extents, stack=StackExtent(1024, bank=1)))
    assert layout.stack_address == address
    if pin is None:
        assert layout.addresses["b"] == 0


@pytest.mark.parametrize("stack", [StackExtent(20480, 0), StackExtent(1024, 16000)])
def test_a_stack_may_cross_banks(stack: StackExtent) -> None:
    layout = placed(npu2(buf("b", 64), stack=stack))
    assert layout.stack_address == stack.address


def test_search_statistics() -> None:
    one = ranked_search(KNOWN["a first choice strands the tail"][0])
    assert (one.run(20000), one.undone) == (Status.SOLVED, 1)
    pairs = ranked_search(KNOWN["pairs: one must yield"][0])
    assert (pairs.run(20000), pairs.undone) == (Status.SOLVED, 1)
    dense = ranked_search(KNOWN["a dense pack"][0])
    assert (dense.run(20000), dense.tries, dense.undone) == (Status.SOLVED, 41, 34)
    stuck = ranked_search(KNOWN["a bank pin between two buffers"][0])
    assert (stuck.run(20000), stuck.tries) == (Status.REFUTED, 4)


SAME_SIZE = npu2(*same("s", 7, 2576), *same("m", 6, 6720), buf("l", 4320))


def test_beyond_the_ranked_budget() -> None:
    ranked = ranked_search(SAME_SIZE)
    assert ranked.run(20000) is Status.PAUSED
    assert (ranked.run(40000), ranked.tries) == (Status.SOLVED, 33102)
    layout = placed(SAME_SIZE)
    assert (layout.solver, layout.searched) == ("exact", True)


@pytest.mark.parametrize("pause", [1, 7, 40])
def test_a_paused_search_goes_on_as_if_it_had_not(pause: int) -> None:
    problem = KNOWN["a dense pack"][0]
    search = ranked_search(problem)
    assert search.run(pause) is Status.PAUSED
    assert search.tries == pause
    assert search.run(20000) is Status.SOLVED
    assert (search.tries, search.undone) == (41, 34)


@pytest.mark.parametrize("budget, fits", [(1000, True), (1, False), (5, False)])
def test_budget(budget: int, fits: bool) -> None:
    answer = solve(KNOWN["a dense pack"][0], budget=budget)
    if fits:
        assert isinstance(answer, TileLayout)
        assert answer.addresses["buf2"] == 33536
        return
    assert not isinstance(answer, TileLayout)
    assert not answer.proven
    assert "could not be placed: " in answer.diagnostics[-1].text
    assert answer.diagnostics[-1].notes[0].text == (
        f"the search hit its {budget}-placement budget with arrangements still untried, "
        "so a layout may exist that it did not reach"
    )


@pytest.mark.parametrize("count", [0, -1])
def test_counts_must_be_positive(count: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        solve(npu2(), budget=count)
    with pytest.raises(ValueError, match="positive"):
        solve(npu2(), nodes=count)


def test_names_must_differ() -> None:
    with pytest.raises(ValueError, match="one name"):
        solve(npu2(buf("a", 4), buf("a", 4)))


def test_work_goes_above_fixed_buffers_wherever_they_are_declared() -> None:
    rtps = [buf(f"rtp_{i}", 1024, address) for i, address in ((1, 0x7C00), (2, 0xBC00), (3, 0xFC00))]
    works = same("work_", 3, 12288, 1)
    layouts = [placed(npu2(*rtps, *works)), placed(npu2(*works, *rtps))]
    assert layouts[0].addresses == layouts[1].addresses
    starts = [layouts[0].addresses[work.name] for work in works]
    assert len({start // 16384 for start in starts}) == 3
    assert all(start >= 0x400 and start % 64 == 0 and start % 16384 + 12288 <= 16384 for start in starts)
    assert layouts[0].addresses["rtp_1"] == 0x7C00


def test_spread_counts_where_pins_start() -> None:
    problem = npu2(buf("p", 64, 1024), buf("q", 64, 2048), buf("r", 64, 16384), buf("b", 64))
    assert placed(problem).addresses["b"] // 16384 == 0
    spread = solve(problem, ranking="spread")
    assert isinstance(spread, TileLayout)
    assert spread.addresses["b"] // 16384 == 2


def test_a_tile_without_memory() -> None:
    shim = TileProblem(0, 0, 0, 0, 4, 4, 4, (), None)
    assert placed(shim).addresses == {}
    for extent in (buf("b", 4), buf("p", 4, 0), buf("e", 0, 0), buf("k", 4, bank=0)):
        assert not isinstance(solve(replace(shim, extents=(extent,))), TileLayout)
