"""The BCF of one core: what the Chess linker is told."""

from __future__ import annotations

from collections.abc import Iterator

from aiecc.model.layout import CoreLayout, Direction, SymbolSlot, Window

_RULE = "-" * 49


def bcf(layout: CoreLayout) -> str:
    """The file's text. Addresses in hex, byte counts decimal; link files are named as they are."""
    return "\n".join(_lines(layout)) + "\n"


def _lines(layout: CoreLayout) -> Iterator[str]:
    bases = {w.direction: w.base for w in layout.windows}
    yield "_entry_point _main_init"
    yield f"_symbol {layout.label} _after _main_init"
    yield "_symbol _main_init 0"
    yield f"_reserved DMb 0x00000 0x{bases[Direction.SOUTH]:X} // Don't put data in code memory"
    if layout.stack is not None:
        yield f"_stack DM_stack 0x{layout.stack.start:X} 0x{layout.stack.size:X} // stack for core"
    yield ""
    yield "// mapping neighbors tile memory"
    for window in layout.windows:
        yield from _window(window)
    yield "// end mapping neighbors tile memory"
    yield ""
    # Windows lie side by side, the last one to the east.
    end = max(w.base + w.size for w in layout.windows)
    yield f"_reserved DMb 0x{end:X} 0x{layout.address_space - end:X} // And everything else the core can't see"
    for path in layout.link_files:
        yield f"_include _file {path}"
    yield f"_resolve _main {layout.label}"


def _window(window: Window) -> Iterator[str]:
    side = window.direction.value
    reserve = f"_reserved DMb 0x{window.base:X} 0x{window.size:X} "
    if not window.present:
        yield f"{reserve} // No tile with memory exists to the {side}."
        return
    yield f"// {side} {_RULE}"
    if not window.own:
        yield f"{reserve} // Don't allocate variables in {side} neighbor"
        yield ""
    for slot in window.slots:
        yield from _slot(slot, own=window.own)
        yield ""


def _slot(slot: SymbolSlot, *, own: bool) -> Iterator[str]:
    if slot.initialized and own:
        # The core's own object defines the symbol, with its start value.
        yield f"_overlay {slot.name} 0x{slot.address:X} // {slot.size} bytes"
    elif slot.initialized:
        yield f"// skipping {slot.name}: its initial value belongs to the neighbor's core"
    else:
        yield f"_symbol {slot.name} 0x{slot.address:X} {slot.size}"
        yield f"_extern {slot.name}"
        yield f"_reserved DMb 0x{slot.address:X} {slot.size}"
