"""The allocator's promises on random tiles, at reduced counts (`tests/bench` runs the full ones)."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace

import placement_corpora as corpora
import placement_help
import pytest

from aiecc.model.memory import TileLayout
from aiecc.place.judge import judge
from aiecc.place.refuse import Refusal
from aiecc.place.solve import solve

ORTOOLS = importlib.util.find_spec("ortools") is not None


def test_base() -> None:
    row = corpora.measure("base", map(corpora.base, range(200)))
    assert (row.tiles, row.solved, row.searched) == (200, 200, 0)
    assert (row.illegal, row.unstable, row.crossings) == (0, 0, 0)
    # The independent derivation of the rules gives 0.2694; the published bound is 0.27.
    assert row.sharing == pytest.approx(0.2694, abs=0.00005)


def test_base_spread() -> None:
    row = corpora.measure("base", map(corpora.base, range(200)), ranking="spread")
    assert (row.tiles, row.solved) == (200, 200)
    assert (row.illegal, row.unstable, row.crossings) == (0, 0, 0)
    assert row.sharing is not None
    assert row.sharing <= 0.12


def test_placing_again_changes_nothing() -> None:
    for problem in filter(None, map(corpora.base, range(80))):
        layout = solve(problem)
        assert isinstance(layout, TileLayout)
        fixed = [
            replace(e, address=at, mem_bank=min(at // problem.bank_size, problem.banks - 1))
            for e, at in zip(problem.extents, layout.addresses.values(), strict=True)
        ]
        again = solve(replace(problem, extents=tuple(fixed)))
        assert isinstance(again, TileLayout)
        assert again.addresses == layout.addresses


@pytest.mark.parametrize("seed, feasible", [(252, False), (674, False), (926, False), (932, False), (756, True)])
def test_base_beyond_200(seed: int, feasible: bool) -> None:
    problem = corpora.base(seed)
    assert problem is not None
    answer = solve(problem)
    assert isinstance(answer, TileLayout) == feasible
    if isinstance(answer, Refusal):
        assert answer.proven
    else:
        assert answer.solver == "exact"


def test_bank_reservations() -> None:
    row = corpora.measure("bank reservations", map(corpora.bank_reservation, range(1500)), twice=False)
    assert row.solved == row.tiles > 1300
    assert (row.illegal, row.crossings) == (0, 0)
    assert row.searched > 20


def test_the_generators_lay_out_what_they_hide() -> None:
    sizes = [len(p.extents) for p in map(corpora.bank_reservation, range(300)) if p is not None]
    assert min(sizes) >= 5
    assert max(sizes) <= 34
    assert corpora.base(7) == corpora.base(7)
    assert corpora.borderline(7) == corpora.borderline(7)
    assert corpora.borderline(7) != corpora.borderline(9)


def test_borderline() -> None:
    row = corpora.measure("borderline", map(corpora.borderline, range(200)), twice=False)
    assert row.tiles > 170
    assert row.illegal == 0
    assert row.refuted > 17
    assert row.decided >= 99.6


@pytest.mark.skipif(not ORTOOLS, reason="needs the exact extra")
def test_cp_decides_what_the_exact_search_leaves_open() -> None:
    problem = corpora.borderline(3225)
    assert problem is not None
    undecided = solve(problem)
    assert isinstance(undecided, Refusal)
    assert not undecided.proven
    decided = solve(problem, use_cp=True)
    assert isinstance(decided, Refusal)
    assert decided.proven
    assert solve(problem, use_cp=True) == decided


@pytest.mark.skipif(not ORTOOLS, reason="needs the exact extra")
@pytest.mark.parametrize("seed", [0, 1, 2, 756])
def test_cp_finds_layouts(seed: int) -> None:
    """With one node for the exact search, what the ranked search misses is left to CP-SAT."""
    problem = corpora.base(seed) if seed == 756 else corpora.packed(seed, 14, 0, 0, grain=64)
    assert problem is not None
    answer = solve(problem, budget=100, nodes=1, use_cp=True)
    assert isinstance(answer, TileLayout)
    assert answer.solver == "cp"
    assert judge(problem, answer) == []
    assert answer == solve(problem, budget=100, nodes=1, use_cp=True)


@pytest.mark.parametrize("family", corpora.INFEASIBLE)
def test_infeasible_families_are_proven(family: str) -> None:
    for seed in range(6):
        problem = corpora.infeasible(family, seed)
        answer = solve(problem)
        assert isinstance(answer, Refusal), (family, seed)
        assert answer.proven, (family, seed)
        assert not any("budget" in note.text for d in answer.diagnostics for note in d.notes)


@pytest.mark.parametrize("family", corpora.INFEASIBLE)
def test_infeasible_families_are_infeasible_by_one_extent(family: str) -> None:
    """Without the extent that makes it impossible there is a layout: the refusal is not for another reason."""
    problem = corpora.infeasible(family, 0)
    free = [e for e in problem.extents if e.address is None]
    largest = max(free, key=lambda e: e.size)
    answer = solve(replace(problem, extents=tuple(e for e in problem.extents if e is not largest)))
    assert isinstance(answer, TileLayout)


@pytest.mark.parametrize("core", [True, False])
@pytest.mark.parametrize("count, pins, slack", [(14, 0, 0), (50, 12, 0), (300, 75, 256)])
def test_packed_tiles(core: bool, count: int, pins: int, slack: int) -> None:
    for seed in range(2):
        problem = corpora.packed(seed, count, pins, slack, core=core, grain=64)
        answer = solve(problem)
        assert isinstance(answer, TileLayout)
        assert judge(problem, answer) == []


def test_300_buffers_take_a_choice_each() -> None:
    answer = solve(corpora.crowd(300))
    assert isinstance(answer, TileLayout)
    assert answer.tries == 300 and not answer.searched


def test_metrics() -> None:
    """Sharing and crossings on layouts whose figures are known."""
    buf, npu2 = placement_help.buf, placement_help.npu2
    four = npu2(*[buf(name, 64) for name in "abcd"], buf("e", 0), placement_help.data(64))
    spread = {"a": 1024, "b": 16384, "c": 32768, "d": 49152, "e": 0, "core_data_0_2": 1088}
    assert corpora.sharing(four, TileLayout(spread, 0)) == 0
    heaped = spread | {"b": 2048, "c": 3072, "d": 4096}
    assert corpora.sharing(four, TileLayout(heaped, 0)) == 1
    assert corpora.sharing(four, TileLayout(heaped | {"d": 16384}, 0)) == 0.5
    assert corpora.sharing(npu2(buf("a", 64)), TileLayout({"a": 1024}, 0)) is None
    long = npu2(buf("a", 4096))
    assert corpora.crossings(long, TileLayout({"a": 14336}, 0)) == 1
    assert corpora.crossings(long, TileLayout({"a": 1024}, 0)) == 0
    forced = npu2(buf("a", 14000), *[buf(f"p{i}", 8192, 16384 * i + 8192) for i in range(4)])
    assert (
        corpora.crossings(npu2(*forced.extents[:1], buf("p", 4096, 4096)), TileLayout({"a": 8192, "p": 4096}, 0)) == 1
    )
    assert corpora.crossings(forced, TileLayout({"a": 1024, **{f"p{i}": 16384 * i + 8192 for i in range(4)}}, 0)) == 0


def test_importing_placement_does_not_import_ortools() -> None:
    code = "import sys, aiecc.place.solve; print([m for m in ('ortools', 'xdsl', 'numpy') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.mark.parametrize("seed", ["0", "1", "77"])
def test_the_same_layout_for_any_hash_seed(seed: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {placement_help.BENCH!r})\n"
        "import placement_corpora as c\n"
        "from aiecc.place.solve import solve\n"
        "print([repr(solve(p)) for p in (c.base(756), c.bank_reservation(11), c.borderline(12))])"
    )
    env = {**os.environ, "PYTHONHASHSEED": seed}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
    here = [repr(solve(p)) for p in (corpora.base(756), corpora.bank_reservation(11), corpora.borderline(12))]
    assert out.strip() == str(here)
