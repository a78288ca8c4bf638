"""Access patterns against an index walk written the slow way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.pattern import PAD, Pattern

dims = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 7), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=4
)


def elements(runs: list[tuple[int, int]], width: int) -> list[int | None]:
    """The runs as element numbers, None for padding."""
    found: list[int | None] = []
    for low, high in runs:
        if low == PAD:
            found += [None] * (high // width)
        else:
            assert low % width == 0
            assert high % width == 0
            found += range(low // width, high // width)
    return found


def walk(offset: int, shape: list[tuple[int, int, int, int]]) -> list[int | None]:
    """Every index of the padded box, outermost slowest; outside of the inner box it is padding."""
    if not shape:
        return [offset]
    (size, stride, before, after), *rest = shape
    inside = [walk(offset + i * stride, rest) for i in range(size)]
    row = len(inside[0])
    flat = [x for part in inside for x in part]
    return [None] * (before * row) + flat + [None] * (after * row)


@given(dims, st.integers(0, 5), st.sampled_from([1, 2, 4, 8]))
def test_padded_walks(shape: list[tuple[int, int, int, int]], offset: int, width: int) -> None:
    expected = walk(offset, shape)
    pattern = Pattern(
        offset,
        len(expected),
        width,
        tuple(s[0] for s in shape),
        tuple(s[1] for s in shape),
        tuple((s[2], s[3]) for s in shape),
    )
    assert elements(pattern.runs(offset, 1 << 20, "b"), width) == expected


@given(dims, st.integers(0, 5), st.data())
def test_plain_walks_stop_at_their_length_or_go_on_outermost(
    shape: list[tuple[int, int, int, int]], offset: int, data: st.DataObject
) -> None:
    (size, stride, _, _), *rest = [(s, t, 0, 0) for s, t, _, _ in shape]
    longer = walk(offset, [(2 * size, stride, 0, 0), *rest])
    length = data.draw(st.integers(1, len(longer)))
    pattern = Pattern(offset, length, 4, tuple(s[0] for s in shape), tuple(s[1] for s in shape))
    assert elements(pattern.runs(offset, 1 << 20, "b"), 4) == longer[:length]


def test_neighbouring_rows_become_one_run() -> None:
    assert Pattern(0, 12, 4, (3, 4), (4, 1)).runs(0, 48, "b") == [(0, 48)]
    assert Pattern(2, 8, 4, (2, 4), (8, 1)).runs(2, 64, "b") == [(8, 24), (40, 56)]


@pytest.mark.parametrize(
    "pattern",
    [Pattern(0, 17, 4), Pattern(9, 8, 4), Pattern(0, 8, 4, (2, 4), (13, 1)), Pattern(0, 8, 4, (8,), (3,))],
)
def test_leaving_the_buffer_traps(pattern: Pattern) -> None:
    with pytest.raises(Trapped) as trapped:
        pattern.runs(pattern.offset, 64, "here")
    assert trapped.value.kind is Kind.BOUNDS
    assert "of here, which has 64" in trapped.value.text


def test_a_length_that_padding_does_not_come_to_traps() -> None:
    with pytest.raises(Trapped, match="come to 6"):
        Pattern(0, 8, 4, (4,), (1,), ((1, 1),)).runs(0, 64, "b")
