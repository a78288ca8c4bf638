"""The words target tables are written in. Values are the words of the `aie` dialect; `number` is its enum number."""

from __future__ import annotations

import enum


class Arch(enum.Enum):
    """An AI-Engine generation. The value is the lower-case word of triples and of `--march`."""

    AIE1 = "aie"
    AIE2 = "aie2"
    AIE2P = "aie2p"
    AIE2PS = "aie2ps"

    @property
    def display(self) -> str:
        """`AIE1`, `AIE2`, `AIE2p`, `AIE2ps`: as messages and `--aie-generate-target-arch` print it."""
        return {"aie": "AIE1", "aie2": "AIE2", "aie2p": "AIE2p", "aie2ps": "AIE2ps"}[self.value]

    @property
    def number(self) -> int:
        return {"aie": 1, "aie2": 2, "aie2p": 3, "aie2ps": 4}[self.value]

    @property
    def macro(self) -> int:
        """The value of `__AIEARCH__` in kernel and host headers."""
        return {"aie": 10, "aie2": 20, "aie2p": 21, "aie2ps": 22}[self.value]

    @property
    def is_aie2_family(self) -> bool:
        return self is not Arch.AIE1

    @property
    def triple(self) -> str:
        """Peano's target triple."""
        return f"{self.value}-none-unknown-elf"


class TileKind(enum.Enum):
    CORE = "CoreTile"
    MEM = "MemTile"
    SHIM_NOC = "ShimNOCTile"
    SHIM_PL = "ShimPLTile"

    @property
    def number(self) -> int:
        return list(TileKind).index(self)

    @property
    def is_shim(self) -> bool:
        return self in (TileKind.SHIM_NOC, TileKind.SHIM_PL)


class Bundle(enum.Enum):
    """A group of stream-switch ports."""

    CORE = "Core"
    DMA = "DMA"
    FIFO = "FIFO"
    SOUTH = "South"
    WEST = "West"
    NORTH = "North"
    EAST = "East"
    PLIO = "PLIO"
    NOC = "NOC"
    TRACE = "Trace"
    TILE_CONTROL = "TileControl"
    CONTROLLER = "Controller32"

    @property
    def number(self) -> int:
        return list(Bundle).index(self)


class PortSide(enum.Enum):
    """`OUT`: the switch drives it (destination, master). `IN`: the switch reads it (source, slave)."""

    OUT = "out"
    IN = "in"


class DmaDirection(enum.Enum):
    S2MM = "S2MM"
    MM2S = "MM2S"

    @property
    def number(self) -> int:
        return list(DmaDirection).index(self)


class Sharing(enum.Enum):
    """Which of two tiles' own memories both can reach."""

    NONE = "None"
    FIRST = "First"
    SECOND = "Second"
    EITHER = "Either"
