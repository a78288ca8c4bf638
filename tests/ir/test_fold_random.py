"""Random programs do the same before and after they are folded, unrolled or peeled."""

from __future__ import annotations

import random

import pytest
from foldkit import Program, core_of, design, memory_after, program
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation

from aiecc.ir.fold import fold, tidy
from aiecc.ir.fold.loops import trip_count
from aiecc.ir.fold.unroll import peel_first, unroll_by, unroll_full
from aiecc.ir.text import print_module

randoms = st.randoms(use_true_random=False)


def inner_first(op: Operation) -> list[Operation]:
    return [loop for loop in reversed(list(op.walk())) if isinstance(loop, ForOp)]


@settings(max_examples=60, deadline=None)
@given(randoms)
def test_folding_changes_nothing_that_shows(pick: random.Random) -> None:
    module = program(design(Program(pick).written()))
    before = memory_after(module)
    core = core_of(module)
    fold(core)
    assert memory_after(module) == before
    # What is folded is in its canonical form.
    text = print_module(module)
    assert not tidy(core)
    assert print_module(module) == text


@settings(max_examples=50, deadline=None)
@given(randoms, st.integers(2, 5), st.booleans())
def test_unrolling_changes_nothing_that_shows(pick: random.Random, factor: int, folded: bool) -> None:
    module = program(design(Program(pick, left=16).written()))
    before = memory_after(module)
    core = core_of(module)
    for loop in inner_first(core):
        trips = trip_count(loop)
        if pick.random() < 0.3:
            pass
        elif trips is not None and trips <= factor:
            assert unroll_full(loop)
        else:
            rest = unroll_by(loop, factor)
            assert rest is None or trips is None or trip_count(rest) == trips % factor
    if folded:
        fold(core)
    assert memory_after(module) == before


@settings(max_examples=60, deadline=None)
@given(randoms)
def test_peeling_changes_nothing_that_shows(pick: random.Random) -> None:
    module = program(design(Program(pick, left=16).written()))
    before = memory_after(module)
    core = core_of(module)
    for loop in inner_first(core):
        trips = trip_count(loop)
        assert peel_first(loop) == bool(trips)
        assert trips is None or trip_count(loop) == max(0, trips - 1)
    assert memory_after(module) == before
    fold(core)
    assert memory_after(module) == before


@pytest.mark.parametrize("seed", range(8))
def test_the_random_programs_are_worth_running(seed: int) -> None:
    """Both memories are written with values that depend on the program, and the folder has work."""
    module = program(design(Program(random.Random(seed)).written()))
    size = sum(1 for _ in module.walk())
    before = memory_after(module)
    assert before != memory_after(program(design("")))
    fold(core_of(module))
    assert sum(1 for _ in module.walk()) < size
