"""Interval arithmetic against a byte-by-byte oracle."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from aiecc.model import runs

SMALL = st.tuples(st.integers(-8, 40), st.integers(-8, 40))


@given(st.tuples(st.integers(0, 16), st.integers(16, 32)), st.lists(SMALL, max_size=6))
def test_free_is_what_is_not_taken(window: runs.Run, taken: list[runs.Run]) -> None:
    bytes_left = {b for b in range(*window) if not any(s <= b < e for s, e in taken)}
    found = runs.free(window, taken)
    assert {b for s, e in found for b in range(s, e)} == bytes_left
    assert found == sorted(found)
    # Maximal: no two of them touch.
    assert all(a[1] < b[0] for a, b in itertools.pairwise(found))
    assert runs.total(found) == len(bytes_left)


@given(st.lists(SMALL, max_size=6), st.integers(1, 9))
def test_largest_is_the_largest_and_lowest(taken: list[runs.Run], alignment: int) -> None:
    left = runs.free((0, 40), taken)
    best = runs.largest(left, alignment)
    sizes = dict.fromkeys(range(0, 40, alignment), 0)
    for start in sizes:
        end = next((e for s, e in left if s <= start < e), start)
        sizes[start] = end - start
    longest = max(sizes.values())
    if longest == 0:
        assert best is None
    else:
        assert best is not None
        assert runs.size(best) == longest
        assert best[0] == min(s for s, n in sizes.items() if n == longest)


def test_zero_sized_extent_does_not_split() -> None:
    assert runs.free((0, 100), [(50, 50)]) == [(0, 100)]


def test_rounding_may_use_a_run_up() -> None:
    assert runs.aligned((65, 100), 64) == (100, 100)
    assert runs.aligned((65, 200), 64) == (128, 200)
    assert runs.largest([(65, 100)], 64) is None


@given(SMALL, SMALL)
def test_overlap_and_holds(a: runs.Run, b: runs.Run) -> None:
    in_a, in_b = set(range(*a)), set(range(*b))
    assert runs.overlap(a, b) == bool(in_a & in_b)
    if in_b:
        assert runs.holds(a, b) == (in_b <= in_a)


@given(st.integers(-1000, 1000), st.integers(-1, 70))
def test_align_up(address: int, alignment: int) -> None:
    found = runs.align_up(address, alignment)
    step = max(1, alignment)
    assert found % step == 0
    assert 0 <= found - address < step
