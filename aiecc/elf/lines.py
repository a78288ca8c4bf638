"""`kernel.c:12` for a function's address, from DWARF. Never needed to build, so any trouble means no answer."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from aiecc.elf.read import Image


def locate(image: Image, addresses: Iterable[int]) -> dict[int, str]:
    """File and line of each address that the line tables know; empty without debug information."""
    wanted = set(addresses)
    if not wanted or image.section(".debug_line") is None:
        return {}
    try:
        return _from_line_tables(image, wanted)
    except Exception:  # pyelftools raises whatever damaged DWARF trips it with; a report without lines is still one
        return {}


def _from_line_tables(image: Image, wanted: set[int]) -> dict[int, str]:
    from elftools.elf.elffile import ELFFile

    # The linker has applied the relocations it kept; applying them again would shift every address.
    dwarf: Any = ELFFile(BytesIO(image.data)).get_dwarf_info(relocate_dwarf_sections=False)
    found: dict[int, str] = {}
    for unit in dwarf.iter_CUs():
        if wanted <= found.keys():
            break
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        for entry in program.get_entries():
            state = entry.state
            if state is None or state.end_sequence or state.address not in wanted:
                continue
            found.setdefault(state.address, f"{_file(program, state.file)}:{state.line}")
    return found


def _file(program: Any, index: int) -> str:
    names = program["file_entry"]
    # DWARF 5 counts files from 0, earlier versions from 1.
    entry = names[index if program["version"] >= 5 else index - 1]
    return PurePosixPath(entry.name.decode("utf-8", "replace")).name
