"""What an address of the array means: whose register it is, under which name, with which fields."""

from __future__ import annotations

from dataclasses import dataclass

from aiecc.model.targets import Target, TileKind
from aiecc.model.targets import get as target_named
from aiecc.model.targets import names as target_names
from aiecc.npu.bd import CORE, MEM, QUEUE, SHIM, layout_of
from aiecc.npu.bits import Field, Layout

CORE_CONTROL = 0x32000
"""Bit 0 runs a core, bit 1 resets it."""
PROGRAM_MEMORY = 0x20000

CHANNEL_CONTROL = Layout(
    "channel control",
    1,
    (Field("controller_id", 0, 12, 8), Field("out_of_order", 0, 3, 3), Field("reset", 0, 1, 1)),
)
LOCK_VALUE = Layout("lock value", 1, (Field("value", 0, 5, 0),))
CORE_RUN = Layout("core control", 1, (Field("reset", 0, 1, 1), Field("enable", 0, 0, 0)))


@dataclass(frozen=True, slots=True)
class Register:
    """A register by name: `module` of which tile, `word` of what, and the layout of all its words where we know it.

    official: module and name in the vendor's register database; None where we do not know them.
    """

    col: int
    row: int
    module: str
    name: str
    word: int = 0
    layout: Layout | None = None
    official: tuple[str, str] | None = None

    def __str__(self) -> str:
        return f"tile({self.col}, {self.row}) {self.module} {self.name}"


_MODULES = {
    TileKind.SHIM_NOC: "shim DMA",
    TileKind.SHIM_PL: "shim",
    TileKind.MEM: "memory tile DMA",
    TileKind.CORE: "core DMA",
}


def device_of(columns: int, rows: int, mem_rows: int, generation: int) -> Target | None:
    """The NPU that a transaction's header describes."""
    found = (target_named(name) for name in target_names())
    return next(
        (
            t
            for t in found
            if t.npu and (t.columns, t.rows, t.mem_rows, t.txn_generation) == (columns, rows, mem_rows, generation)
        ),
        None,
    )


def locate(target: Target, address: int) -> Register | None:
    """The register at an address; None off the array. Unknown registers are named by their offset."""
    family = target.family
    col, row = address >> family.column_shift, address >> family.row_shift & 0x1F
    kind = target.tile_kind(col, row)
    if kind is None:
        return None
    offset = address & (1 << family.row_shift) - 1
    module = _MODULES[kind]
    found = _dma_register(target, kind, offset)
    database = _DATABASE[kind]
    if found is not None:
        name, word, layout, official = found
        return Register(col, row, module, name, word, layout, (database, official))
    locks = target.locks(kind)
    if locks.base is not None and 0 <= offset - locks.base < locks.count * locks.pitch:
        lock, rest = divmod(offset - locks.base, locks.pitch)
        if not rest:
            return Register(col, row, "locks", f"lock {lock}", 0, LOCK_VALUE, (database, f"Lock{lock}_value"))
    memory = target.memory_size(kind)
    if offset < memory:
        return Register(col, row, "memory", f"byte 0x{offset:X}")
    if kind is TileKind.CORE:
        if offset == CORE_CONTROL:
            return Register(col, row, "core", "control", 0, CORE_RUN, ("core", "Core_Control"))
        if PROGRAM_MEMORY <= offset < PROGRAM_MEMORY + target.program_memory_size:
            return Register(col, row, "program memory", f"byte 0x{offset - PROGRAM_MEMORY:X}")
    counter = _COUNTERS.get((kind, offset))
    if counter is not None:
        return Register(col, row, f"{counter} counters", "control 0", 0, None, (counter, "Performance_Control0"))
    return Register(col, row, "register", f"0x{offset:X}")


_DATABASE = {
    TileKind.SHIM_NOC: "shim",
    TileKind.SHIM_PL: "shim",
    TileKind.MEM: "memory_tile",
    TileKind.CORE: "memory",
}


_COUNTERS = {
    (TileKind.SHIM_NOC, 0x31000): "shim",
    (TileKind.SHIM_PL, 0x31000): "shim",
    (TileKind.MEM, 0x91000): "memory_tile",
    (TileKind.CORE, 0x31500): "core",
    (TileKind.CORE, 0x11000): "memory",
}
"""Where the performance counters of a module are started and stopped."""


def _dma_register(target: Target, kind: TileKind, offset: int) -> tuple[str, int, Layout | None, str] | None:
    dma = target.dma(kind)
    if dma is None or kind not in (TileKind.SHIM_NOC, TileKind.MEM, TileKind.CORE):
        return None
    if 0 <= offset - dma.bd_base < dma.bds * dma.bd_pitch:
        bd, rest = divmod(offset - dma.bd_base, dma.bd_pitch)
        layout = layout_of(kind)
        if rest % 4 == 0 and rest // 4 < layout.words:
            return f"descriptor {bd}", rest // 4, layout, f"DMA_BD{bd}_{rest // 4}"
    queue = "Task_Queue" if kind is TileKind.SHIM_NOC else "Start_Queue"
    for word, first in (("S2MM", dma.s2mm_control), ("MM2S", dma.mm2s_control)):
        inside = offset - first
        if 0 <= inside < dma.channels * dma.control_pitch:
            channel, rest = divmod(inside, dma.control_pitch)
            if rest == 0:
                return f"{word} {channel} control", 0, CHANNEL_CONTROL, f"DMA_{word}_{channel}_Ctrl"
            if rest == 4:
                return f"{word} {channel} start queue", 0, QUEUE, f"DMA_{word}_{channel}_{queue}"
    for word, first in (("S2MM", dma.s2mm_status), ("MM2S", dma.mm2s_status)):
        if first is not None and 0 <= offset - first < dma.channels * dma.status_pitch:
            channel, rest = divmod(offset - first, dma.status_pitch)
            if rest == 0:
                return f"{word} {channel} status", 0, None, f"DMA_{word}_Status_{channel}"
    return None


DESCRIPTORS = (SHIM, MEM, CORE)
