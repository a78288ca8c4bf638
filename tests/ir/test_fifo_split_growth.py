"""Work grows with the number of fifos and no faster: counted in calls, so that a busy machine says the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

from passkit import Ran

from aiecc.ir.memo import remembered, unchanging
from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.passes.fifo_verify import ObjectFifoVerify
from aiecc.ir.verify import verify

COLUMNS, ROWS = 8, (2, 3, 4, 5)


def crowded(fifos: int) -> str:
    """Fifos between 32 cores, far and near, each core using every end it has in one loop; each fourth one linked."""
    tiles = [(c, r) for c in range(COLUMNS) for r in ROWS]
    lines = [f"%t{c}_{r} = aie.tile({c}, {r})" for c in range(COLUMNS) for r in (0, 1, *ROWS)]
    used: dict[tuple[int, int], list[str]] = {tile: [] for tile in tiles}
    for i in range(fifos):
        (a, b), (c, d) = tiles[i % 32], tiles[(i * 7 + 9) % 32]
        type = "!aie.objectfifo<memref<16xi32>>"
        if i % 4 == 3:
            lines.append(f"aie.objectfifo @f{i}(%t{a}_0, {{%t{a}_1}}, 2 : i32) : {type}")
            lines.append(f"aie.objectfifo @g{i}(%t{a}_1, {{%t{c}_{d}}}, 2 : i32) : {type}")
            lines.append(f"aie.objectfifo.link [@f{i}] -> [@g{i}] ([] [])")
            used[c, d].append(f"@g{i} (Consume, 1)")
        else:
            lines.append(f"aie.objectfifo @f{i}(%t{a}_{b}, {{%t{c}_{d}}}, 2 : i32) : {type}")
            used[a, b].append(f"@f{i} (Produce, 1)")
            used[c, d].append(f"@f{i} (Consume, 1)")
    for (c, r), ends in used.items():
        lines.append(f"aie.core(%t{c}_{r}) {{")
        for n, access in enumerate(ends):
            lines.append(f"%o{n} = aie.objectfifo.acquire {access} : memref<16xi32>")
            lines.append(f"aie.objectfifo.release {access}")
        lines.append("aie.end }")
    return "aie.device(npu2) {\n" + "\n".join(lines) + "\n}\n"


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


def costs(fifos: int) -> list[int]:
    """Calls of split, of the verifier behind it, and of the fifos' own verifier."""
    ran = Ran(crowded(fifos))
    assert verify(ran.module) == []
    found = [
        calls(lambda: ObjectFifoSplit().apply(ran.device, ran.sink)),
        calls(lambda: verify(ran.module)),
        calls(lambda: ObjectFifoVerify().apply(ran.device, ran.sink)),
    ]
    assert ran.said == []
    return found


def test_four_times_the_fifos_are_four_times_the_work() -> None:
    small, large = costs(32), costs(128)
    assert all(b <= 4.2 * a for a, b in zip(small, large, strict=True)), (small, large)


def test_an_answer_is_kept_while_nothing_changes() -> None:
    asked: list[str] = []

    def answer() -> int:
        asked.append("once more")
        return len(asked)

    assert [remembered("q", answer), remembered("q", answer)] == [1, 2]
    with unchanging():
        assert [remembered("q", answer), remembered("q", answer)] == [3, 3]
        with unchanging():
            assert remembered("q", answer) == 4
        assert remembered("q", answer) == 3
    assert remembered("q", answer) == 5
