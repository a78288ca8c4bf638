"""Random designs with fifos: by their fifos and lowered they come to the same, and what once differed stays mended."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fifo_compare import compare, load
from fifo_designs import Design, Seeded, build, designs
from hypothesis import HealthCheck, given, settings

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.mlir"))
SHARDS = 8
PER_SHARD = 25


@pytest.mark.parametrize("shard", range(SHARDS))
def test_both_ways_come_to_the_same(shard: int) -> None:
    ends: Counter[str] = Counter()
    seed = 40_000 + 1000 * shard
    while ends.total() < PER_SHARD:
        seed += 1
        design = build(Seeded(seed))
        if design is None:
            continue
        verdict = compare(design, (0, seed), whole=seed % 8 == 0)
        assert verdict.what != "differs", f"seed {seed}: {verdict.why}\n{verdict.detail}\n{design.text}"
        ends[verdict.what] += 1
    # What is refused proves nothing.
    assert ends["finished"] > PER_SHARD // 2
    assert ends["refused"] < PER_SHARD // 4


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(designs())
def test_both_ways_come_to_the_same_for_what_hypothesis_finds(design: Design) -> None:
    verdict = compare(design, (0, 3), whole=False)
    assert verdict.what != "differs", f"{verdict.why}\n{verdict.detail}"


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_differed_once(path: Path) -> None:
    verdict = compare(load(path), (0, 1, 2, 3))
    assert verdict.what in ("finished", "stuck"), f"{verdict.why}\n{verdict.detail}"
