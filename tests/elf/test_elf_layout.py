"""What a core sees, and the texts the linkers get: figures worked out by hand from the documented examples."""

from __future__ import annotations

import pytest

from aiecc.base.diag import Refused
from aiecc.base.spans import Span
from aiecc.elf.bcf import bcf
from aiecc.elf.layout import core_layout, probe_layout, symbol_windows
from aiecc.elf.script import linker_script
from aiecc.model.design import BufferFacts, CoreFacts, DeviceFacts, TileFacts
from aiecc.model.ids import CoreId, DeviceId
from aiecc.model.layout import CoreLayout, Region
from aiecc.model.targets import get

TILE_AT = Span("design.mlir", 3, 5)


def buffer(name: str, size: int, address: int | None) -> BufferFacts:
    return BufferFacts(name, size, address)


def device(
    target: str,
    buffers: dict[tuple[int, int], list[BufferFacts]],
    core: CoreFacts | None = None,
) -> DeviceFacts:
    tiles = tuple(TileFacts(c, r, tuple(b), TILE_AT) for (c, r), b in buffers.items())
    return DeviceFacts(DeviceId("main"), target, tiles=tiles, cores=() if core is None else (core,))


def core(col: int = 0, row: int = 2, **facts: int | tuple[str, ...] | None) -> CoreFacts:
    return CoreFacts(CoreId("main", col, row), Span("design.mlir", 9, 3), **facts)  # type: ignore[arg-type]


def layout(facts: DeviceFacts, at: CoreId | None = None, **more: bool | int) -> CoreLayout:
    return core_layout(facts, at or facts.cores[0].id, get(facts.target), **more)  # type: ignore[arg-type]


def memory_lines(found: CoreLayout) -> list[str]:
    lines = linker_script(found).splitlines()
    return [line.strip() for line in lines[lines.index("{") + 1 : lines.index("}")]]


def documented() -> DeviceFacts:
    """npu2: stack 0x800, data 0xC0 and 0x400 in bank B reserved, two buffers, one at the north neighbour."""
    return device(
        "npu2",
        {
            (0, 2): [
                BufferFacts("core_data_0_2", 0xC0, 0x800, core_data=True),
                BufferFacts("bank_reserved_0_2_1", 0x400, 0x4000, mem_bank=1, bank_reserved=True),
                buffer("ping", 0x1000, 0x8000),
                buffer("pong", 0x1000, 0xC000),
            ],
            (0, 3): [buffer("next", 0x40, 0x1000)],
        },
        core(stack_size=0x800, link_files=("kernels/k.o",)),
    )


def test_reserved_regions() -> None:
    assert memory_lines(layout(documented())) == [
        "program (RX) : ORIGIN = 0, LENGTH = 0x4000",
        "data (!RX) : ORIGIN = 0x70800, LENGTH = 0xC0",
        "bank0 (!RX) : ORIGIN = 0x708C0, LENGTH = 0x3740",
        "bank1 (!RX) : ORIGIN = 0x74000, LENGTH = 0x400",
        "bank2 (!RX) : ORIGIN = 0x79000, LENGTH = 0x3000",
        "bank3 (!RX) : ORIGIN = 0x7D000, LENGTH = 0x3000",
    ]


def test_the_rest_of_the_script() -> None:
    script = linker_script(layout(documented()))
    assert script.startswith("\nMEMORY\n{\n")
    tail = script[script.index(". = 0x70000;") :]
    assert tail.splitlines() == [
        ". = 0x70000;",
        "_sp_start_value_DM_stack = .;",
        ". += 0x800; /* stack */",
        "/* No tile with memory exists to the south. */",
        ". = 0x40000;",
        ". += 0x10000;",
        "/* No tile with memory exists to the west. */",
        ". = 0x50000;",
        ". += 0x10000;",
        ". = 0x61000;",
        "next = .;",
        ". += 0x40;",
        ". = 0x78000;",
        "ping = .;",
        ". += 0x1000;",
        ". = 0x7C000;",
        "pong = .;",
        ". += 0x1000;",
        "  .bss : { *(.bss*) *(.sbss*) *(COMMON) } > data",
        "}",
        "INPUT(kernels/k.o)",
        "PROVIDE(main = core_0_2);",
    ]


def test_sections_come_in_the_documented_order() -> None:
    script = linker_script(layout(documented()))
    marks = [
        "ENTRY(__start)",
        "SECTIONS",
        ". = 0x0;",
        ".text : {",
        "*crt0.o(.text*)",
        "_ctors_start = .;",
        "_init_array_start = .;",
        "KEEP(SORT(*.init_array))",
        "_ctors_end = .;",
        "_init_array_end = .;",
        "_dtors_start = .;",
        "_dtors_end = .;",
        "*(.text*)\n",
        "} > program",
        ".aie.bank0 : { *(.aie.bank0 .aie.bank0.*) *(*.DM_bankA*) } > bank0",
        ".aie.bank1 : { *(.aie.bank1 .aie.bank1.*) *(*.DM_bankB*) } > bank1",
        ".aie.bank2 : { *(.aie.bank2 .aie.bank2.*) *(*.DM_bankC*) } > bank2",
        ".aie.bank3 : { *(.aie.bank3 .aie.bank3.*) *(*.DM_bankD*) } > bank3",
        ".data : {",
        "*(.data*)",
        "*(.rodata*)",
        "} > data",
        ".comment : {",
        ".symtab : {",
        ".shstrtab : {",
        ".strtab : {",
        ".stack_sizes : {",
        "/DISCARD/ : { *(.llvmbc) *(.llvmcmd)",
        "_sp_start_value_DM_stack = .;",
        ".bss : {",
        "PROVIDE(main = core_0_2);",
    ]
    positions = [script.index(m) for m in marks]
    assert positions == sorted(positions)


def test_a_leftover_run_gives_way_to_bank_sections() -> None:
    found = layout(device("npu1", {(0, 2): [buffer("a", 0x2000, 0x2000), buffer("b", 0x4000, 0x8000)]}, core()))
    origin = "MAX(0x74000, (SIZEOF(.aie.bank1) != 0 ? MIN(0x78000, (ADDR(.aie.bank1) + SIZEOF(.aie.bank1))) : 0))"
    assert memory_lines(found)[1:] == [
        f"data (!RX) : ORIGIN = {origin}, LENGTH = 0x78000 - {origin}",
        "bank0 (!RX) : ORIGIN = 0x70400, LENGTH = 0x1C00",
        "bank1 (!RX) : ORIGIN = 0x74000, LENGTH = 0x4000",
        "bank2 (!RX) : ORIGIN = 0x78000, LENGTH = 0x0",
        "bank3 (!RX) : ORIGIN = 0x7C000, LENGTH = 0x4000",
    ]


def test_a_leftover_run_over_several_banks_nests() -> None:
    found = layout(device("npu1", {(0, 2): [buffer("three", 3, 0x400)]}, core()))
    data = memory_lines(found)[1]
    # The stack ends at 0x400; three bytes there, then the next multiple of 32.
    assert data.startswith("data (!RX) : ORIGIN = MAX(MAX(MAX(MAX(0x70420, (SIZEOF(.aie.bank0) != 0 ?")
    assert ", LENGTH = 0x80000 - MAX(MAX(MAX(MAX(0x70420," in data
    assert data.count("SIZEOF(.aie.bank3) != 0") == 2


def test_no_bank_regions_on_aie1_and_for_chess() -> None:
    aie1 = device("xcvc1902", {(2, 4): [buffer("v", 0x100, 0x400)]}, core(2, 4))
    assert memory_lines(layout(aie1)) == [
        "program (RX) : ORIGIN = 0, LENGTH = 0x4000",
        "data (!RX) : ORIGIN = 0x28500, LENGTH = 0x7B00",
    ]
    found = layout(documented(), chess=True)
    assert (found.banks, found.data) == ((), Region(0x70800, 0xC0))


def test_a_moved_stack() -> None:
    facts = device(
        "npu1",
        {(0, 2): [buffer("b", 8192, 8192), BufferFacts("core_data_0_2", 4096, 32768, core_data=True)]},
        core(stack_size=1024, stack_address=16384, stack_bank=1),
    )
    found = layout(facts)
    assert found.stack == Region(0x74000, 0x400)
    assert found.data == Region(0x78000, 0x1000)
    assert found.banks == (
        Region(0x70000, 0x2000),
        Region(0x74400, 0x3C00),
        Region(0x79000, 0x3000),
        Region(0x7C000, 0x4000),
    )
    assert ". = 0x74000;\n_sp_start_value_DM_stack = .;\n. += 0x400; /* stack */" in linker_script(found)
    assert "_stack DM_stack 0x74000 0x400 // stack for core" in bcf(found)


def test_the_largest_gap_is_the_data_region() -> None:
    gaps = [buffer("a", 8192, 0x2000), buffer("b", 16384, 0x8000), buffer("c", 16384, 0xC000)]
    facts = device("npu1_1col", {(0, 2): gaps}, core())
    assert layout(facts).data == Region(0x74000, 0x4000)
    # An empty buffer in the middle splits nothing.
    empty = device("npu1_1col", {(0, 2): [*gaps, buffer("none", 0, 0x6000)]}, core())
    assert layout(empty).data == Region(0x74000, 0x4000)


def test_alignment_of_the_leftover_run_is_the_targets_vector() -> None:
    for target, start in (("npu1", 0x70420), ("npu2", 0x70440)):
        assert layout(device(target, {(0, 2): [buffer("b", 0x1F, 0x401)]}, core())).data.start == start


def test_a_full_tile_has_an_empty_data_region() -> None:
    found = layout(device("npu2", {(0, 2): [buffer("all", 0xFC00, 0x400)]}, core()))
    assert found.data.size == 0
    assert [b.size for b in found.banks] == [0, 0, 0, 0]
    assert [b.start for b in found.banks] == [0x70000, 0x74000, 0x78000, 0x7C000]


def test_default_stack_sizes() -> None:
    facts = device("npu2", {(0, 2): []}, core())
    assert layout(facts).stack == Region(0x70000, 1024)
    assert layout(facts, default_stack_size=4096).stack == Region(0x70000, 4096)
    assert layout(device("npu2", {(0, 2): []}, core(stack_size=64)), default_stack_size=4096).stack == Region(
        0x70000, 64
    )


def test_a_tile_without_a_core() -> None:
    found = layout(device("npu2", {(0, 2): []}), CoreId("main", 0, 2))
    assert found.stack is None
    assert ". = 0x70000;\n_sp_start_value_DM_stack = .;\n/* no stack allocated */\n" in linker_script(found)
    assert "_stack" not in bcf(found).replace("_stack_", "")


def test_a_neighbour_that_is_not_declared_leaves_no_line() -> None:
    script = linker_script(layout(device("npu2", {(1, 3): []}, core(1, 3))))
    assert "No tile" not in script
    assert ". = 0x40000;" not in script


def test_reserved_buffers_are_no_symbols() -> None:
    tile = [
        BufferFacts("core_data_0_2", 64, 0x800, core_data=True),
        BufferFacts("bank_reserved_0_2_2", 64, 0x8000, mem_bank=2, bank_reserved=True),
        BufferFacts("prebaked_0_2_49152", 64, 0xC000, mem_bank=3, bank_reserved=True, aligned=False),
    ]
    found = layout(device("npu2", {(0, 2): tile}, core()))
    assert [s for w in found.windows for s in w.slots] == []
    # A prebaked range is occupied, but nobody's region.
    assert found.banks[3] == Region(0x7C040, 0x3FC0)


@pytest.mark.parametrize(
    ("buffers", "stack", "text"),
    [
        (
            [BufferFacts("d", 0x400, 0xFE00, core_data=True)],
            {},
            "'aie.tile' op data region runs past this tile's local memory; the buffer allocator's placement is stale. "
            "Re-run --aie-assign-buffer-addresses",
        ),
        (
            [BufferFacts("d", 4096, 16384, core_data=True)],
            {"stack_size": 1024, "stack_address": 16384},
            "'aie.tile' op data region overlaps the stack; the buffer allocator's placement is stale. "
            "Re-run --aie-assign-buffer-addresses",
        ),
        (
            [BufferFacts("d", 0x1000, 0x4000, core_data=True), BufferFacts("x", 4, 0x4FFC)],
            {},
            "'aie.tile' op data region 0x4000-0x4FFF overlaps buffer 'x' at 0x4FFC; the buffer allocator's placement "
            "is stale. Re-run --aie-assign-buffer-addresses",
        ),
    ],
)
def test_stale_placements_are_refused(buffers: list[BufferFacts], stack: dict[str, int], text: str) -> None:
    with pytest.raises(Refused) as caught:
        layout(device("npu2", {(0, 2): buffers}, core(**stack)))
    (found,) = caught.value.diagnostics
    assert (found.text, found.where) == (text, TILE_AT)


def test_an_empty_buffer_inside_the_reservation_is_fine() -> None:
    inside = [BufferFacts("d", 0x1000, 0x4000, core_data=True), BufferFacts("x", 0, 0x4800)]
    assert layout(device("npu2", {(0, 2): inside}, core())).data == Region(0x74000, 0x1000)


def test_a_stack_bank_without_address_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        layout(device("npu2", {(0, 2): []}, core(stack_bank=1)))
    (found,) = caught.value.diagnostics
    assert found.text == (
        "'aie.core' op stack_bank has no assigned stack_address; run --aie-assign-buffer-addresses with bank-aware "
        "allocation"
    )
    assert found.where == Span("design.mlir", 9, 3)


def test_a_buffer_without_address_is_refused() -> None:
    with pytest.raises(Refused, match="buffer 'late' has no address"):
        layout(device("npu2", {(0, 2): [buffer("late", 4, None)]}, core()))


# -- probe ----------------------------------------------------------------------------------------------


def test_the_probe_is_roomy_and_needs_no_addresses() -> None:
    facts = device(
        "npu2",
        {(0, 2): [buffer("ping", 64, None)], (0, 3): [buffer("next", 64, None)]},
        core(stack_size=2048, stack_bank=1, link_files=("k.o",)),
    )
    found = probe_layout(facts, facts.cores[0].id, get("npu2"))
    assert memory_lines(found) == [
        "program (RX) : ORIGIN = 0, LENGTH = 0x40000",
        "data (!RX) : ORIGIN = 0x70000, LENGTH = 0x90000",
        "bank0 (!RX) : ORIGIN = 0x70000, LENGTH = 0x90000",
        "bank1 (!RX) : ORIGIN = 0x74000, LENGTH = 0x8C000",
        "bank2 (!RX) : ORIGIN = 0x78000, LENGTH = 0x88000",
        "bank3 (!RX) : ORIGIN = 0x7C000, LENGTH = 0x84000",
    ]
    script = linker_script(found)
    assert ". = 0x70000;\nping = .;" in script
    assert ". = 0x60000;\nnext = .;" in script
    assert "INPUT(k.o)" in script


# -- names ----------------------------------------------------------------------------------------------


def test_link_files_are_quoted_where_they_must_be() -> None:
    facts = device("npu2", {(0, 2): []}, core())
    paths = ("/abs/k-1.o", "/my kernels/k.o", "/a(b)/k.o", "-l.o", "/ü/k.o")
    found = core_layout(facts, facts.cores[0].id, get("npu2"), link_files=paths)
    lines = [line for line in linker_script(found).splitlines() if line.startswith("INPUT")]
    assert lines == [
        "INPUT(/abs/k-1.o)",
        'INPUT("/my kernels/k.o")',
        'INPUT("/a(b)/k.o")',
        'INPUT("-l.o")',
        'INPUT("/ü/k.o")',
    ]


@pytest.mark.parametrize("name", ['a"b.o', "a\nb.o", ""])
def test_names_no_script_can_hold_are_refused(name: str) -> None:
    facts = device("npu2", {(0, 2): []}, core())
    with pytest.raises(Refused, match="cannot be written in a linker script"):
        linker_script(core_layout(facts, facts.cores[0].id, get("npu2"), link_files=(name,)))


def test_odd_buffer_names_are_quoted() -> None:
    found = layout(device("npu2", {(0, 2): [buffer("a b", 4, 0x400), buffer("a-b", 4, 0x404)]}, core()))
    script = linker_script(found)
    assert '"a b" = .;' in script
    assert '"a-b" = .;' in script


# -- BCF ------------------------------------------------------------------------------------------------


def test_bcf_of_the_documented_example() -> None:
    assert bcf(layout(documented(), chess=True)).splitlines() == [
        "_entry_point _main_init",
        "_symbol core_0_2 _after _main_init",
        "_symbol _main_init 0",
        "_reserved DMb 0x00000 0x40000 // Don't put data in code memory",
        "_stack DM_stack 0x70000 0x800 // stack for core",
        "",
        "// mapping neighbors tile memory",
        "_reserved DMb 0x40000 0x10000  // No tile with memory exists to the south.",
        "_reserved DMb 0x50000 0x10000  // No tile with memory exists to the west.",
        "// north -------------------------------------------------",
        "_reserved DMb 0x60000 0x10000  // Don't allocate variables in north neighbor",
        "",
        "_symbol next 0x61000 64",
        "_extern next",
        "_reserved DMb 0x61000 64",
        "",
        "// east -------------------------------------------------",
        "_symbol ping 0x78000 4096",
        "_extern ping",
        "_reserved DMb 0x78000 4096",
        "",
        "_symbol pong 0x7C000 4096",
        "_extern pong",
        "_reserved DMb 0x7C000 4096",
        "",
        "// end mapping neighbors tile memory",
        "",
        "_reserved DMb 0x80000 0x80000 // And everything else the core can't see",
        "_include _file kernels/k.o",
        "_resolve _main core_0_2",
    ]


def test_bcf_of_an_aie1_core_on_an_even_row() -> None:
    facts = device(
        "xcvc1902",
        {
            (4, 4): [buffer("a", 16, 0), BufferFacts("b", 64, 0x10, initialized=True)],
            (5, 4): [BufferFacts("y", 32, 0, initialized=True)],
        },
        core(4, 4),
    )
    text = bcf(layout(facts))
    assert "_reserved DMb 0x00000 0x20000 // Don't put data in code memory" in text
    assert "_stack DM_stack 0x28000 0x400 // stack for core" in text
    assert "// west -------------------------------------------------\n_symbol a 0x28000 16\n" in text
    assert "_overlay b 0x28010 // 64 bytes\n" in text
    assert "_symbol b" not in text
    assert "_symbol y" not in text
    assert "// skipping y" in text
    # South and north exist on the array, though nobody declares them.
    assert "_reserved DMb 0x20000 0x8000  // Don't allocate variables in south neighbor" in text
    assert text.endswith(
        "_reserved DMb 0x40000 0xC0000 // And everything else the core can't see\n_resolve _main core_4_4\n"
    )


# -- windows --------------------------------------------------------------------------------------------


def test_windows_of_an_aie1_neighbourhood() -> None:
    facts = device(
        "xcvc1902",
        {
            (3, 4): [buffer("same", 16, 0)],
            (2, 4): [buffer("west", 16, 0)],
            (4, 4): [buffer("east", 16, 0)],
            (3, 3): [buffer("south", 16, 0)],
            (3, 5): [buffer("north", 16, 0)],
        },
    )

    def seen(col: int, row: int) -> list[tuple[str, int]]:
        windows = symbol_windows(facts, CoreId("main", col, row), get("xcvc1902"))
        return [(s.name, s.address) for w in windows for s in w.slots]

    assert seen(3, 4) == [("south", 0x20000), ("same", 0x28000), ("north", 0x30000), ("east", 0x38000)]
    # On an odd row the own memory is the east window, and the west one the neighbour's.
    assert seen(3, 3) == [("same", 0x30000), ("south", 0x38000)]
