"""The memories of both platforms, in bytes.

`usable`: what may be given out; the rest is the system's. UB of A2A3: the top 8 KiB are reserved; UB of A5: 240 of
256 KiB are given out by the compilers there are.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiecc.plugins.tpush.model import Direction, Kind, Platform, Space

K = 1024
GRANULE = 32
"""Two lanes that write one block of so many bytes of global memory at a time lose data."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One on-chip memory. `alignment`: what an address in it is a multiple of."""

    space: Space
    title: str
    owner: Kind
    size: int
    usable: int
    alignment: int = 32


def _table(ub: int, ub_usable: int, acc: int, bias: int, fixpipe: int, l1_alignment: int) -> dict[Space, Memory]:
    cube = Kind.CUBE
    rows = (
        Memory(Space.VEC, "UB", Kind.VECTOR, ub, ub_usable),
        Memory(Space.MAT, "L1", cube, 512 * K, 512 * K, l1_alignment),
        Memory(Space.LEFT, "L0A", cube, 64 * K, 64 * K),
        Memory(Space.RIGHT, "L0B", cube, 64 * K, 64 * K),
        Memory(Space.ACC, "L0C", cube, acc, acc),
        Memory(Space.BIAS, "the bias table", cube, bias, bias),
        Memory(Space.SCALING, "the fixpipe buffer", cube, fixpipe, fixpipe),
    )
    return {row.space: row for row in rows}


MEMORIES: dict[Platform, dict[Space, Memory]] = {
    Platform.A2A3: _table(192 * K, 184 * K, 128 * K, 1 * K, 2 * K, 128),
    Platform.A5: _table(256 * K, 240 * K, 256 * K, 4 * K, 4 * K, 32),
}

CONSUMER_SPACE: dict[Direction, Space] = {Direction.C2V: Space.VEC, Direction.V2C: Space.MAT}
"""Where a popped tile lies; on A5 the ring, too."""

PUSH_SPACES: dict[Direction, tuple[Space, ...]] = {Direction.C2V: (Space.ACC, Space.MAT), Direction.V2C: (Space.VEC,)}
"""Where a pushed tile may lie, the usual one first."""
