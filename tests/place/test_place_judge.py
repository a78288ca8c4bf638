"""The judge accepts what the searches find and rejects every way of spoiling it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placement_help import buf, data, memtile, npu2, placed, reserved

from aiecc.model.memory import Extent, StackExtent, TileLayout, TileProblem
from aiecc.place import solve as solve_module
from aiecc.place.judge import judge
from aiecc.place.search import RankedSearch

PROBLEM = npu2(
    buf("pin", 256, 0x800),
    buf("bank", 512, bank=1),
    buf("pair", 512, space=14),
    buf("free", 9000),
    buf("small", 16),
    buf("loose", 13, aligned=False),
    buf("none", 0),
    reserved(2, 128, 1024),
    data(700, 256),
)
LAYOUT = placed(PROBLEM)


def moved(name: str, address: int) -> TileLayout:
    return replace(LAYOUT, addresses={**LAYOUT.addresses, name: address})


def test_accepts_the_layout() -> None:
    assert judge(PROBLEM, LAYOUT) == []


FREE = 0xF000
"""Nothing lies from here to the end of memory."""


def test_the_spare_room_is_spare() -> None:
    assert all(LAYOUT.addresses[e.name] + e.size <= FREE for e in PROBLEM.extents)
    assert judge(PROBLEM, moved("small", FREE)) == []


MUTATIONS = {
    "outside": ("free", 65536 - 8960, "does not lie in the tile's memory"),
    "below": ("free", -64, "does not lie in the tile's memory"),
    "a pin moved": ("pin", FREE, "moved from its pinned address 0x800"),
    "a pin moved a little": ("pin", 0x820, "moved from its pinned address"),
    "vector alignment": ("bank", LAYOUT.addresses["bank"] + 32, "512 bits"),
    "bus alignment": ("small", FREE + 16, "256 bits"),
    "measured alignment": ("core_data_0_2", FREE + 64, "2048 bits"),
    "reservation alignment": ("bank_reserved_0_2_2", LAYOUT.addresses["bank_reserved_0_2_2"] + 64, "8192 bits"),
    "bank": ("bank", FREE, "lies in bank 3, not in bank 1"),
    "leaving the bank": ("bank", 0x7F00, "leaves bank 1"),
    "entering the bank": ("bank", 0x3F00, "lies in bank 0, not in bank 1"),
    "pair": ("pair", 0x1000, "touches bank 0, which its memory space excludes"),
    "pair, one byte": ("pair", 0x7E40, "touches bank 1, which its memory space excludes"),
    "stack": ("small", 0x3E0, "overlaps the stack (1024 bytes at 0x0)"),
    "overlap": ("small", LAYOUT.addresses["free"] + 8960, "overlaps with"),
    "overlap by a byte": ("loose", LAYOUT.addresses["free"] + 8999, "overlaps with"),
    "the same place": ("small", LAYOUT.addresses["bank"], "overlaps with"),
    "empty, misaligned": ("none", 8, "256 bits"),
    "empty, outside": ("none", 65568, "does not lie in the tile's memory"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_rejects_a_moved_extent(name: str) -> None:
    extent, address, reason = MUTATIONS[name]
    faults = judge(PROBLEM, moved(extent, address))
    assert any(reason in fault for fault in faults), faults


def test_rejects_missing_and_unknown_names() -> None:
    missing = {name: at for name, at in LAYOUT.addresses.items() if name != "small"}
    assert judge(PROBLEM, replace(LAYOUT, addresses=missing)) == ['buffer "small" has no address']
    assert judge(PROBLEM, moved("stranger", 0)) == ['"stranger" is not an extent of this tile']


def test_backstop_texts() -> None:
    problem = npu2(buf("a", 128), buf("b", 64))
    overlapping = judge(problem, TileLayout({"a": 2048, "b": 2112}, 0))
    assert overlapping == ['buffer "b" at address 0x840 overlaps with buffer "a" at address 0x800 (size: 128 bytes)']
    assert judge(problem, TileLayout({"a": 2080, "b": 4096}, 0)) == [
        'buffer "a" at address 0x820 is not aligned to the required 512 bits'
    ]
    assert judge(problem, TileLayout({"a": 960, "b": 4096}, 0)) == [
        'buffer "a" at address 0x3C0 overlaps the stack (1024 bytes at 0x0)'
    ]


def test_finds_an_overlap_past_a_short_neighbour() -> None:
    problem = npu2(buf("long", 4096), buf("in", 64), buf("late", 64))
    faults = judge(problem, TileLayout({"long": 4096, "in": 4160, "late": 8128}, 0))
    assert len(faults) == 2
    assert all("overlaps with" in fault and '"long"' in fault for fault in faults)


@pytest.mark.parametrize(
    "stack, address, reason",
    [
        (StackExtent(1024), 1024, "was moved"),
        (StackExtent(1024), None, "has no address"),
        (StackExtent(1024, 2048), 0, "was moved"),
        (StackExtent(1024, bank=1), 0, "leaves bank 1"),
        (StackExtent(1024, bank=1), 32768 - 512, "leaves bank 1"),
        (StackExtent(1024, bank=1), 16384 + 32, "not aligned to 64 bytes"),
        (None, 0, "no core"),
    ],
)
def test_rejects_a_wrong_stack(stack: StackExtent | None, address: int | None, reason: str) -> None:
    faults = judge(npu2(stack=stack), TileLayout({}, address))
    assert any(reason in fault for fault in faults), faults


def test_guards_the_first_word() -> None:
    problem = memtile(buf("i", 16, init=True), buf("e", 0, init=True), guard=4)
    assert judge(problem, TileLayout({"i": 4, "e": 0})) == []
    assert judge(problem, TileLayout({"i": 0, "e": 0})) == ['buffer "i" at address 0x0 covers the first 4 bytes']
    pinned = memtile(buf("i", 16, 0, init=True), guard=4)
    assert judge(pinned, TileLayout({"i": 0})) == []


def test_empty_extents_never_collide() -> None:
    problem = npu2(buf("a", 128), buf("e", 0), buf("f", 0, 64))
    assert judge(problem, TileLayout({"a": 2048, "e": 2112, "f": 64}, 0)) == []


def test_shares_no_code_with_the_searches() -> None:
    names = vars(__import__("aiecc.place.judge", fromlist=["judge"]))
    assert not [
        name
        for name, value in names.items()
        if getattr(value, "__module__", "").startswith("aiecc.place.") and value.__module__ != "aiecc.place.judge"
    ]


def test_solve_believes_no_illegal_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = RankedSearch.addresses
    monkeypatch.setattr(RankedSearch, "addresses", lambda self: tuple(at + 1 for at in honest(self)))
    with pytest.raises(solve_module.PlacementBug, match=r"tile \(0, 2\): .*not aligned"):
        solve_module.solve(PROBLEM)


def test_every_pair_swap_is_noticed() -> None:
    """Two extents of different sizes cannot trade places in a full tile."""
    sizes = [1024 * n for n in (3, 5, 7, 9, 11, 13, 15)]
    problem: TileProblem = npu2(*[Extent(f"b{n}", buf("x", 1).kind, size) for n, size in enumerate(sizes)])
    layout = placed(problem)
    for i in range(len(sizes)):
        for j in range(i):
            swapped = dict(layout.addresses)
            swapped[f"b{i}"], swapped[f"b{j}"] = swapped[f"b{j}"], swapped[f"b{i}"]
            assert judge(problem, replace(layout, addresses=swapped))
