"""Lock ids, and locks as cores know them."""

from __future__ import annotations

import pytest
from passkit import Ran, line_of

from aiecc.ir.dialects.aie import LockOp
from aiecc.ir.passes.assign_lock_ids import AssignLockIds
from aiecc.ir.passes.localize_locks import LocalizeLocks


def ids(ran: Ran) -> list[int | None]:
    return [lock.id for lock in ran.ops(LockOp)]


def test_free_numbers_are_handed_out_in_program_order_around_the_chosen_ones():
    ran = Ran(
        """
aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  %l0 = aie.lock(%a)
  %l1 = aie.lock(%a, 1)
  %l2 = aie.lock(%b)
  %l3 = aie.lock(%a)
  %l4 = aie.lock(%a, 0)
  %l5 = aie.lock(%a)
}""",
        AssignLockIds(),
    )
    # Tile (0, 2) has taken 1 and 0, so 2, 3, 4 are left; tile (0, 3) starts anew.
    assert ids(ran) == [2, 1, 0, 3, 0, 4]
    assert not ran.said


def test_a_second_run_changes_nothing():
    text = "aie.device(npu2) {\n %a = aie.tile(0, 1)\n %l = aie.lock(%a)\n %m = aie.lock(%a, 0)\n}"
    once = Ran(text, AssignLockIds())
    twice = Ran(once.text, AssignLockIds())
    assert once.text == twice.text


@pytest.mark.parametrize(("device", "row", "count"), [("npu2", 2, 16), ("npu2", 1, 64), ("npu2", 0, 16)])
def test_a_tile_has_so_many_locks_and_no_more(device: str, row: int, count: int):
    locks = "\n".join(f"  %l{i} = aie.lock(%t)" for i in range(count + 2))
    text = f"aie.device({device}) {{\n  %t = aie.tile(0, {row})\n{locks}\n}}"
    ran = Ran(text, AssignLockIds())
    said = ran.only
    assert said.text == "'aie.lock' op not allocated a lock"
    assert said.where is not None and said.where.line == line_of(text, f"%l{count} ")
    assert said.notes[0].text == f"because only {count} locks available in this tile"
    assert said.notes[0].where is not None and said.notes[0].where.line == 2


def test_two_locks_of_one_number_are_refused_at_the_second():
    text = "aie.device(npu1) {\n  %t = aie.tile(2, 2)\n  %a = aie.lock(%t, 7)\n  %b = aie.lock(%t, 7)\n}"
    said = Ran(text, AssignLockIds()).only
    assert said.text == "'aie.lock' op is assigned to the same lock (7) as another op"
    assert said.where is not None and said.where.line == 4
    assert said.notes[0].text == "tile has lock ops assigned to same lock"


def test_a_lock_inside_a_dma_program_counts_as_its_tiles():
    ran = Ran(
        """
aie.device(npu1) {
  %t = aie.tile(0, 1)
  %a = aie.lock(%t)
  %d = aie.memtile_dma(%t) {
    %b = aie.lock(%t)
    aie.end
  }
}""",
        AssignLockIds(),
    )
    assert ids(ran) == [0, 1]


CORE = """
aie.device({device}) {{
  %own = aie.tile({col}, {row})
  %other = aie.tile({ocol}, {orow})
  %l = aie.lock(%other, 3)
  %core = aie.core(%own) {{
    %c1 = arith.constant 1 : i32
    aie.use_lock(%l, Release, %c1)
    aie.end
  }}
}}"""


@pytest.mark.parametrize(
    ("device", "own", "other", "number"),
    [
        # Sixteen locks a window: south, west, north, east; AIE2's own memory is the eastern one.
        ("npu2", (1, 3), (1, 2), 3),
        ("npu2", (1, 3), (0, 3), 19),
        ("npu2", (1, 3), (1, 4), 35),
        ("npu2", (1, 3), (1, 3), 51),
        # AIE1: even rows see their own memory in the west, odd rows in the east.
        ("xcvc1902", (2, 2), (2, 2), 19),
        ("xcvc1902", (2, 3), (2, 3), 51),
        ("xcvc1902", (2, 2), (3, 2), 51),
        ("xcvc1902", (2, 3), (1, 3), 19),
    ],
)
def test_a_core_knows_a_lock_by_the_window_it_sees_it_in(device, own, other, number):
    text = CORE.format(device=device, col=own[0], row=own[1], ocol=other[0], orow=other[1])
    if own == other:
        text = text.replace(f"%other = aie.tile({other[0]}, {other[1]})", "").replace("%other", "%own")
    ran = Ran(text, LocalizeLocks())
    assert not ran.said
    constant = f"%c{number}"
    assert ran.lines("index") == [f"{constant} = arith.constant {number} : index"]
    assert ran.lines("use_lock") == [f"aie.use_lock({constant}, Release, %c1_i32)"]


def test_the_constants_stand_at_the_top_nearest_tile_last():
    ran = Ran(
        """
aie.device(npu2) {
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  %la = aie.lock(%a, 0)
  %lb = aie.lock(%b, 1)
  %core = aie.core(%a) {
    %c1 = arith.constant 1 : i32
    aie.use_lock(%la, Release, %c1)
    aie.use_lock(%lb, Release, %c1)
    aie.end
  }
}""",
        LocalizeLocks(),
    )
    # (0, 3) is north of (0, 2): 32 + 1. The own window starts at 48.
    assert ran.lines("index") == ["%c33 = arith.constant 33 : index", "%c48 = arith.constant 48 : index"]


def test_locks_used_elsewhere_keep_their_name():
    ran = Ran(CORE.format(device="npu2", col=1, row=3, ocol=1, orow=2), LocalizeLocks())
    assert ran.lines("aie.lock") == ["%lock_1_2 = aie.lock(%tile_1_2, 3)"]


def test_a_lock_without_a_number_is_refused():
    text = CORE.format(device="npu2", col=1, row=3, ocol=1, orow=2).replace("%other, 3", "%other")
    said = Ran(text, LocalizeLocks()).only
    assert said.text == "'aie.lock' op has no id yet; run --aie-assign-lock-ids first"


def test_a_lock_out_of_reach_is_refused_with_both_places():
    said = Ran(CORE.format(device="npu2", col=0, row=3, ocol=3, orow=2), LocalizeLocks()).only
    assert said.text == (
        "'aie.lock' op in Column 3 and Row 2 is accessed from an unreachable tile in Column 0 and Row 3"
    )
    assert said.notes[0].text == "user"
