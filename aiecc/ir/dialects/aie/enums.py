"""The enumerations of the `aie` dialect. Numbers are those of the generic form."""

from __future__ import annotations

from typing import Self

from aiecc.ir.dialects.words import Words
from aiecc.model import targets


class WireBundle(Words):
    """A kind of stream-switch port."""

    CORE = 0, "Core"
    DMA = 1, "DMA"
    FIFO = 2, "FIFO"
    SOUTH = 3, "South"
    WEST = 4, "West"
    NORTH = 5, "North"
    EAST = 6, "East"
    PLIO = 7, "PLIO"
    NOC = 8, "NOC"
    TRACE = 9, "Trace"
    TILE_CONTROL = 10, "TileControl"
    CONTROLLER32 = 11, "Controller32"


class CascadeDir(Words):
    SOUTH = 3, "South"
    WEST = 4, "West"
    NORTH = 5, "North"
    EAST = 6, "East"


class LockAction(Words):
    ACQUIRE = 0, "Acquire"
    RELEASE = 1, "Release"
    ACQUIRE_GREATER_EQUAL = 2, "AcquireGreaterEqual"


class LockBlocking(Words):
    NON_BLOCKING = 0, "NonBlocking"
    BLOCKING = 1, "Blocking"


class Arch(Words):
    """An architecture, as messages spell it."""

    AIE1 = 1, "AIE1"
    AIE2 = 2, "AIE2"
    AIE2P = 3, "AIE2p"
    AIE2PS = 4, "AIE2ps"


class TileType(Words):
    """What a logical tile asks for."""

    CORE = 0, "CoreTile"
    MEM = 1, "MemTile"
    SHIM_NOC = 2, "ShimNOCTile"
    SHIM_PL = 3, "ShimPLTile"


class Device(Words):
    """A device. Those that plugins bring are members too, although the class cannot list them."""

    XCVC1902 = 1, "xcvc1902"
    XCVE2302 = 2, "xcve2302"
    XCVE2802 = 3, "xcve2802"
    NPU1 = 4, "npu1"
    NPU1_1COL = 5, "npu1_1col"
    NPU1_2COL = 6, "npu1_2col"
    NPU1_3COL = 7, "npu1_3col"
    NPU2 = 8, "npu2"
    NPU2_1COL = 9, "npu2_1col"
    NPU2_2COL = 10, "npu2_2col"
    NPU2_3COL = 11, "npu2_3col"
    NPU2_4COL = 12, "npu2_4col"
    NPU2_5COL = 13, "npu2_5col"
    NPU2_6COL = 14, "npu2_6col"
    NPU2_7COL = 15, "npu2_7col"
    XCVE3858 = 16, "xcve3858"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        found = targets.numbered(value) if isinstance(value, int) else None
        if found is None:
            return None
        made = int.__new__(cls, found.number)
        made._name_, made._value_, made.word = found.name.upper(), found.number, found.name
        return made

    @classmethod
    def named(cls, word: str) -> Self | None:
        """The device of that name."""
        return cls(targets.get(word).number) if word in targets.names() else None

    @classmethod
    def numbered(cls, value: int) -> Self | None:
        """The device of that number."""
        return cls(value) if targets.numbered(value) else None

    @classmethod
    def listed(cls) -> str:
        return ", ".join(targets.names())


# Spelt so until the four columns became the device itself.
OLDER_DEVICES = {"npu1_4col": Device.NPU1}


class Port(Words):
    """Which end of an objectFifo a core uses."""

    PRODUCE = 0, "Produce"
    CONSUME = 1, "Consume"


class Direction(Words):
    """Which way a DMA channel moves data."""

    S2MM = 0, "S2MM"
    MM2S = 1, "MM2S"


class Role(Words):
    """What an endpoint does to its pool."""

    FILLS = 0, "fills"
    DRAINS = 1, "drains"


class LinkMode(Words):
    SPACE = 0, "space"
    TIME = 1, "time"


class TransportMode(Words):
    AUTO = 0, "auto"
    SHARED_MEM = 1, "shared_mem"
    DMA = 2, "dma"


class TraceMode(Words):
    EVENT_TIME = 0, "Event-Time"
    EVENT_PC = 1, "Event-PC"
    EXECUTION = 2, "Execution"


class TracePacketType(Words):
    CORE = 0, "core"
    MEM = 1, "mem"
    SHIM_TILE = 2, "shimtile"
    MEM_TILE = 3, "memtile"


class ComboLogic(Words):
    AND = 0, "AND"
    AND_NOT = 1, "AND_NOT"
    OR = 2, "OR"
    OR_NOT = 3, "OR_NOT"


class EdgeTrigger(Words):
    RISING = 1, "RISING"
    FALLING = 2, "FALLING"
    BOTH = 3, "BOTH"


class TraceShimRouting(Words):
    SINGLE = 0, "single"
