"""The memory map of a device as text: the buffers each tile's core sees, by absolute address."""

from __future__ import annotations

from aiecc.elf.layout import symbol_windows
from aiecc.model.design import DeviceFacts
from aiecc.model.ids import CoreId
from aiecc.model.targets import Target


def memory_map(device: DeviceFacts, target: Target) -> str:
    """One block for each declared core tile, by column and row: `_symbol name address bytes`, south to east."""
    lines: list[str] = []
    for tile in sorted(device.tiles, key=lambda t: (t.col, t.row)):
        if not target.is_core(tile.col, tile.row):
            continue
        lines.append(f"// Tile({tile.col}, {tile.row})")
        lines.append("// Memory map: name base_address num_bytes")
        for window in symbol_windows(device, CoreId(device.id.name, tile.col, tile.row), target):
            lines.extend(f"_symbol {s.name} 0x{s.address:X} {s.size}" for s in window.slots)
    return "".join(f"{line}\n" for line in lines)
