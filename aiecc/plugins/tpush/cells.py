"""Memory as the accesses of a run cut it: two accesses meet where they share a cell.

A cell is a set of bytes that no access tells apart, so any overlap counts, be it of the parts of one slot, of slots of
another size, or of two rings that were given the same addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from aiecc.plugins.tpush.model import Agent, Space
from aiecc.plugins.tpush.steps import Access, Streams

Home = tuple[Space, Agent | None]


def cells(streams: Streams) -> dict[Access, tuple[int, ...]]:
    """The cells of every access, numbered from 0. An access without a byte has none."""
    homes: defaultdict[Home, dict[Access, None]] = defaultdict(dict)
    for stream in streams.streams:
        # Steps repeat, and comparing identities first is what makes long programs cheap.
        for step in {id(step): step for step in stream.steps if step.accesses}.values():
            for access in step.accesses:
                homes[access.space, access.owner][access] = None
    found: dict[Access, tuple[int, ...]] = {}
    first = 0
    for accesses in homes.values():
        first = _cut(accesses, first, found)
    return found


def _cut(accesses: Iterable[Access], first: int, found: dict[Access, tuple[int, ...]]) -> int:
    """One memory. Returns the next free number."""
    shapes: defaultdict[tuple[int, int, int, int], list[Access]] = defaultdict(list)
    for access in accesses:
        shapes[access.address, access.rows, access.row_bytes, access.stride].append(access)
    marks: list[tuple[int, bool, int]] = []
    for index, shape in enumerate(shapes):
        for lo, hi in _runs(*shape):
            marks += [(lo, True, index), (hi, False, index)]
    marks.sort()
    groups: dict[frozenset[int], int] = {}
    covered: defaultdict[int, set[int]] = defaultdict(set)
    active: set[int] = set()
    last = 0
    for at, opens, index in marks:
        if at > last and active:
            group = frozenset(active)
            number = groups.setdefault(group, first + len(groups))
            for each in group:
                covered[each].add(number)
        last = at
        if opens:
            active.add(index)
        else:
            active.discard(index)
    for index, group in enumerate(shapes.values()):
        numbers = tuple(sorted(covered[index]))
        found.update(dict.fromkeys(group, numbers))
    return first + len(groups)


def _runs(address: int, rows: int, row_bytes: int, stride: int) -> list[tuple[int, int]]:
    if rows * row_bytes <= 0:
        return []
    if stride == row_bytes:
        return [(address, address + rows * row_bytes)]
    return [(address + row * stride, address + row * stride + row_bytes) for row in range(rows)]
