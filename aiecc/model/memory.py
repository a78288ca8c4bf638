"""The placement problem of one tile, and its answer. Bytes; addresses relative to the tile's memory."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from aiecc.base.spans import Span


class Kind(enum.Enum):
    """Where an extent comes from; decides its label in texts."""

    BUFFER = "buffer"
    CORE_DATA = "core data"
    BANK_RESERVED = "bank reserved"
    PREBAKED = "prebaked"


@dataclass(frozen=True, slots=True)
class Extent:
    """Something that needs a run of bytes. Listed in program order; ties are broken by it.

    `address`: pinned. `mem_bank`: hard pin to one bank. `banks`: banks the buffer's memory space
    allows (None: all). `alignment`: extra demand in bytes beside the bus and vector rule (measured
    section alignment), 1 if none. `aligned` False lifts the bus and vector rule, never `alignment`.
    """

    name: str
    kind: Kind
    size: int
    address: int | None = None
    mem_bank: int | None = None
    banks: tuple[int, ...] | None = None
    alignment: int = 1
    aligned: bool = True
    initialized: bool = False
    where: Span | None = None


@dataclass(frozen=True, slots=True)
class StackExtent:
    """The stack of the tile's core. `size` is effective (declared, assumed or default).

    `address` None with `bank` set: to be chosen. Both None: at offset 0. `declared`: the author wrote it.
    `measured`: `measured_stack_size`, only for the memory map.
    """

    size: int
    address: int | None = None
    bank: int | None = None
    declared: bool = False
    measured: int | None = None
    where: Span | None = None


@dataclass(frozen=True, slots=True)
class TileProblem:
    """One tile's memory and everything that must lie in it.

    `bus` and `vector` in bytes; `stack_align` the stack ABI's; `guard` bytes at offset 0 that an
    initialized, allocator-placed buffer must avoid (npu2 memory tiles of column 0: 4).
    `stack` None: the tile has no core.
    """

    col: int
    row: int
    memory: int
    banks: int
    bus: int
    vector: int
    stack_align: int
    extents: tuple[Extent, ...]
    stack: StackExtent | None = None
    guard: int = 0
    where: Span | None = None

    @property
    def bank_size(self) -> int:
        return self.memory // self.banks if self.banks else 0


@dataclass(frozen=True, slots=True)
class TileLayout:
    """Addresses by extent name; `stack_address` None when the tile has no core."""

    addresses: dict[str, int]
    stack_address: int | None = None
    searched: bool = False
    """A choice had to be undone."""
    tries: int = 0
    """Placements (ranked) plus nodes (exact) spent."""
    solver: str = "ranked"
    """Which engine found it: `ranked`, `exact` or `cp`."""
