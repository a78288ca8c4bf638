"""A cluster as a device of three tiles, so that its cores are built like any other: the Cube between its two lanes.

What a device says of a core is the larger of both memories, L1; on a Vector core what lies behind UB is taken
(`beyond`). Windows are those of `runtime/pipes.h`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from aiecc.api import Target, targets
from aiecc.plugins.tpush.memories import MEMORIES
from aiecc.plugins.tpush.model import Agent, Platform, Space

WINDOW = 0x100000
"""Bytes of address space that a memory has, see `runtime/pipes.h`."""
COLUMN = 0
ROWS: dict[Agent, int] = {Agent.AIV1: 1, Agent.CUBE: 2, Agent.AIV0: 3}
"""Rows of the cores; the row below them is what every device has there."""

_NUMBERS = {Platform.A2A3: 1201, Platform.A5: 1205}
_SLOTS = {"south": 1, "west": 2, "north": 3, "east": 4}


@cache
def board(platform: Platform) -> Target:
    """The device `pto_a2a3` or `pto_a5`."""
    base = targets.get("npu2_1col")
    core = targets.TileKind.CORE
    memory = MEMORIES[platform]
    alignment = memory[Space.MAT].alignment
    whole = replace(base.family.memory[core], size=memory[Space.MAT].usable, banks=1, bus=alignment, vector=alignment)
    family = replace(
        base.family,
        memory={**base.family.memory, core: whole},
        windows={way: _SLOTS[way.value] * WINDOW for way in base.family.windows},
        program_memory_size=256 * 1024,
        address_space=5 * WINDOW,
    )
    name = f"pto_{platform.value}"
    return replace(base, name=name, number=_NUMBERS[platform], family=family, rows=4, mem_rows=0, product="")


def beyond(platform: Platform) -> tuple[int, int]:
    """Where what a Vector core has ends, and how many bytes follow that it has not."""
    memory = MEMORIES[platform]
    return memory[Space.VEC].usable, memory[Space.MAT].usable - memory[Space.VEC].usable
