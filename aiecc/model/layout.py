"""What a linker script or BCF needs to know of one core. Addresses are absolute, as the core sees them."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Direction(enum.Enum):
    SOUTH = "south"
    WEST = "west"
    NORTH = "north"
    EAST = "east"


@dataclass(frozen=True, slots=True)
class SymbolSlot:
    """A buffer's symbol: absolute address and size. `initialized`: it has an initial value."""

    name: str
    address: int
    size: int
    initialized: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """One of the four windows of a core's data address space.

    `present`: such a tile exists on the array. `declared`: the design declares it, and `slots` are its
    buffers in program order (`core_data`, `bank_reserved` and prebaked buffers left out). `own`: it is the core's
    own memory.
    """

    direction: Direction
    base: int
    size: int
    present: bool
    declared: bool = False
    own: bool = False
    slots: tuple[SymbolSlot, ...] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """A run of absolute addresses."""

    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class CoreLayout:
    """The memory of one core, ready to be written as a script.

    `data`: where ordinary sections go. `data_reserved`: it is a `core_data` reservation; else it is the
    largest free run, whose start moves past bank sections that intersect it. `banks`: one region per
    bank, size 0 for a full bank; empty where the toolchain has no bank regions.
    `link_files`: what INPUT() or `_include _file` names, in order.
    """

    label: str
    program_size: int
    own_base: int
    memory: int
    stack: Region | None
    windows: tuple[Window, ...]
    data: Region
    data_reserved: bool
    banks: tuple[Region, ...] = ()
    link_files: tuple[str, ...] = ()
    address_space: int = 0x100000
