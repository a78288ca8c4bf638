"""Random designs with fifos: by their fifos and lowered they come to the same, and what once differed stays mended."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import fifo_compare
import pytest
from fifo_compare import after, before, compare, difference, load, lower
from fifo_designs import Design, Seeded, build, designs
from hypothesis import HealthCheck, given, settings
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.memory import LockOp, UseLockOp
from aiecc.ir.text import parse

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.mlir"))
SHARDS = 8
PER_SHARD = 20


@pytest.mark.parametrize("shard", range(SHARDS))
def test_both_ways_come_to_the_same(shard: int) -> None:
    ends: Counter[str] = Counter()
    seed = 40_000 + 1000 * shard
    while ends.total() < PER_SHARD:
        seed += 1
        design = build(Seeded(seed), 1 + seed % 3)
        if design is None:
            continue
        verdict = compare(design, (0, seed), whole=seed % 16 == 0, hang=seed % 4 == 1, slack=32 * (seed % 2))
        assert verdict.what != "differs", f"seed {seed}: {verdict.why}\n{verdict.detail}\n{design.text}"
        ends[verdict.what] += 1
    # What is refused proves nothing.
    assert ends["finished"] > PER_SHARD // 3
    assert ends["refused"] < PER_SHARD // 3


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(designs())
def test_both_ways_come_to_the_same_for_what_hypothesis_finds(design: Design) -> None:
    verdict = compare(design, (0, 3), whole=False)
    assert verdict.what != "differs", f"{verdict.why}\n{verdict.detail}"


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_differed_once(path: Path) -> None:
    verdict = compare(load(path), (0, 1, 2, 3))
    wanted = ("turns",) if path.stem.startswith("turns_") else ("finished", "stuck")
    assert verdict.what in wanted, f"{verdict.why}\n{verdict.detail}"


def test_turns_that_stop_a_design_unsaid_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    path = next(path for path in REGRESSIONS if path.stem.startswith("turns_"))
    assert compare(load(path)).what == "turns"
    monkeypatch.setattr(fifo_compare, "RUNS_AHEAD", "a warning that nobody gives")
    assert compare(load(path)).what == "differs"


# --- would a wrong lowering be seen? ----------------------------------------------------------------------------------


def _one_object_less(module: ModuleOp, choice: random.Random) -> bool:
    """A lock starts with one unit less than it should, or one more where it starts empty."""
    lock = choice.choice([op for op in module.walk() if isinstance(op, LockOp)])
    init = lock.init or 0
    lock.properties["init"] = IntegerAttr(init - 1 if init else 1, 32)
    return True


def _other_order(module: ModuleOp, choice: random.Random) -> bool:
    """Two descriptors of one program have each other's buffer."""
    programs: dict[object, list[DmaBdOp]] = {}
    for op in module.walk():
        if isinstance(op, DmaBdOp):
            programs.setdefault((op.buffer.type, op.parent_region()), []).append(op)
    several = [bds for bds in programs.values() if len({bd.buffer for bd in bds}) > 1]
    if not several:
        return False
    bds = choice.choice(several)
    one = bds[0]
    other = next(bd for bd in bds if bd.buffer is not one.buffer)
    one.operands[0], other.operands[0] = other.buffer, one.buffer
    return True


def _without_a_lock(module: ModuleOp, choice: random.Random) -> bool:
    """One acquire or release is missing."""
    lost = choice.choice([op for op in module.walk() if isinstance(op, UseLockOp)])
    lost.detach()
    lost.erase()
    return True


@pytest.mark.parametrize(
    ("spoil", "share"), [(_one_object_less, 0.4), (_other_order, 0.7), (_without_a_lock, 0.6)],
    ids=["a lock's start", "the order of buffers", "a lock use"],
)  # fmt: skip
def test_a_wrong_lowering_is_seen(spoil: Callable[[ModuleOp, random.Random], bool], share: float) -> None:
    """Most of the time: a lock that is never short, or an object that nobody needs, may be wrong and do no harm."""
    seen: list[bool] = []
    seed = 0
    while len(seen) < 8:
        seed += 1
        design = build(Seeded(seed), 1 + seed % 3)
        if design is None or design.merged or "three inputs" in design.kinds:
            continue
        module = parse(design.text, "design.mlir")
        wanted = before(design, module, 0)
        lower(design, module, whole=False)
        assert not difference(design, wanted, after(design, module, 0))
        if spoil(module, random.Random(seed)):
            seen.append(any(difference(design, wanted, after(design, module, other)) for other in (0, seed)))
    assert sum(seen) >= share * len(seen), seen
