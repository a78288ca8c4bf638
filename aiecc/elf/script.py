"""The linker script of one core.

The order of what is written is mlir-aie's, which tools and people read: memory regions, sections, the stack, the
buffers of the four windows, `.bss`, the files to link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from aiecc.base.diag import refuse
from aiecc.model import runs
from aiecc.model.layout import CoreLayout, Region, Window

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+-]*")
_PLAIN_SYMBOL = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$]*")

# Sections that are no part of the core's memory. `--orphan-handling=error` wants each named, those the linker
# makes included, or a kernel built with -g could not be linked.
_KEPT = """
    .debug_abbrev .debug_addr .debug_aranges .debug_cu_index .debug_frame .debug_gdb_scripts .debug_gnu_pubnames
    .debug_gnu_pubtypes .debug_info .debug_line .debug_line_str .debug_loc .debug_loclists .debug_macinfo .debug_macro
    .debug_names .debug_pubnames .debug_pubtypes .debug_ranges .debug_rnglists .debug_str .debug_str_offsets
    .debug_sup .debug_tu_index .debug_types .riscv.attributes
"""

_OWN_SYMBOLS = (
    *("__start", "_main_init", "main", "_sp_start_value_DM_stack", "_sp_end_value_DM_stack"),
    *("_ctors_start", "_ctors_end", "_init_array_start", "_init_array_end", "_dtors_start", "_dtors_end"),
)

# Unwind tables, notes and embedded IR: nothing on a core reads them.
_DROPPED = "*(.llvmbc) *(.llvmcmd) *(.eh_frame*) *(.gcc_except_table*) *(.note*) *(.llvm_addrsig)"


def linker_script(layout: CoreLayout) -> str:
    """The script for a layout of `core_layout` or `probe_layout`. Raises `Refused` for a path it cannot name."""
    return "\n".join(_lines(layout)) + "\n"


def _lines(layout: CoreLayout) -> Iterator[str]:
    yield from ("", "MEMORY", "{")
    yield from _memory(layout)
    yield from ("}", "ENTRY(__start)", "SECTIONS", "{")
    yield from _sections(layout)
    yield from _stack(layout)
    for window in layout.windows:
        yield from _window(window)
    # .sbss is where compilers put small zeros; COMMON is C's tentative definitions.
    yield "  .bss : { *(.bss*) *(.sbss*) *(COMMON) } > data"
    yield "}"
    for path in layout.link_files:
        yield f"INPUT({_path(path)})"
    yield f"PROVIDE(main = {layout.label});"


def _memory(layout: CoreLayout) -> Iterator[str]:
    yield f"   program (RX) : ORIGIN = 0, LENGTH = 0x{layout.program_size:X}"
    yield f"   data (!RX) : {_data_region(layout)}"
    for i, bank in enumerate(layout.banks):
        yield f"   bank{i} (!RX) : {_span(bank)}"


def _span(region: Region) -> str:
    return f"ORIGIN = 0x{region.start:X}, LENGTH = 0x{region.size:X}"


def _data_region(layout: CoreLayout) -> str:
    """A reservation as it is; a leftover run gives its start to pinned sections that need it, its end never moves."""
    data = layout.data
    origin = f"0x{data.start:X}"
    for i, bank in enumerate(layout.banks):
        if layout.data_reserved or not runs.overlap((data.start, data.end), (bank.start, bank.end)):
            continue
        name = f".aie.bank{i}"
        after = f"MIN(0x{data.end:X}, (ADDR({name}) + SIZEOF({name})))"
        origin = f"MAX({origin}, (SIZEOF({name}) != 0 ? {after} : 0))"
    if origin.startswith("0x"):
        return _span(data)
    return f"ORIGIN = {origin}, LENGTH = 0x{data.end:X} - {origin}"


def _sections(layout: CoreLayout) -> Iterator[str]:
    yield from (
        "  . = 0x0;",
        "  .text : {",
        "     /* the __start symbol has to come at address zero. */",
        "     *crt0.o(.text*)",
        "     _ctors_start = .;",
        "     _init_array_start = .;",
        # As mlir-aie writes it. It selects nothing, so a static constructor is an orphan and stops the link: start-up
        # code runs none, and an object that is silently never constructed would be worse.
        "     KEEP(SORT(*.init_array))",
        "     _ctors_end = .;",
        "     _init_array_end = .;",
        "     _dtors_start = .;",
        "     _dtors_end = .;",
        "     *(.text*)",
        "  } > program",
    )
    # Before .data: the first rule that matches a section wins.
    for i, letter in zip(range(len(layout.banks)), "ABCD", strict=False):
        yield f"  .aie.bank{i} : {{ *(.aie.bank{i} .aie.bank{i}.*) *(*.DM_bank{letter}*) }} > bank{i}"
    yield from (
        "  .data : {",
        "     *(.data*)",
        "     *(.rodata*)",
        # The small-data sections of RISC-V: patterns on .data and .rodata do not match them.
        "     *(.sdata*) *(.srodata*)",
        "  } > data",
    )
    for name in (".comment", ".symtab", ".shstrtab", ".strtab", ".stack_sizes"):
        yield from (f"  {name} : {{", f"     *({name}{'*' if name == '.comment' else ''})", "  }")
    yield from (f"  {name} 0 : {{ *({name}) }}" for name in _KEPT.split())
    yield f"  /DISCARD/ : {{ {_DROPPED} }}"


def _stack(layout: CoreLayout) -> Iterator[str]:
    start = layout.own_base if layout.stack is None else layout.stack.start
    yield f". = 0x{start:X};"
    yield "_sp_start_value_DM_stack = .;"
    if layout.stack is None:
        yield "/* no stack allocated */"
    else:
        yield f". += 0x{layout.stack.size:X}; /* stack */"


def _window(window: Window) -> Iterable[str]:
    if not window.present:
        yield f"/* No tile with memory exists to the {window.direction.value}. */"
        yield f". = 0x{window.base:X};"
        yield f". += 0x{window.size:X};"
        return
    for slot in window.slots:
        yield f". = 0x{slot.address:X};"
        yield f"{_symbol(slot.name)} = .;"
        yield f". += 0x{slot.size:X};"


def _path(path: str) -> str:
    if _PLAIN_PATH.fullmatch(path):
        return path
    _refuse_unquotable("link file", path, "E0702")
    return f'"{path}"'


def _symbol(name: str) -> str:
    if _PLAIN_SYMBOL.fullmatch(name):
        return name
    _refuse_unquotable("buffer", name, "E0601")
    return f'"{name}"'


def _refuse_unquotable(what: str, name: str, code: str) -> None:
    if not quotable(name):
        refuse(f"the name of {what} {name!r} cannot be written in a linker script", code=code, todo="rename it")


def quotable(name: str) -> bool:
    """Whether a linker script can say this name at all: its strings have no escapes."""
    return re.fullmatch(r'[^"\x00-\x1f\x7f\ud800-\udfff]+', name) is not None


def own_symbols(labels: Iterable[str]) -> frozenset[str]:
    """Names that scripts and start-up code need for themselves. `labels`: the cores' functions, `core_0_2`."""
    return frozenset((*_OWN_SYMBOLS, *labels))
