"""The memory map, the bank table, and what is left for the linker."""

from __future__ import annotations

from dataclasses import replace

from placement_help import aie1, buf, data, memtile, npu2, placed, prebaked, refused, reserved

from aiecc.model.memory import StackExtent, TileLayout
from aiecc.place.map import BankUse, bank_table, bank_use, memory_map


def test_the_map_of_a_tile_that_is_full() -> None:
    refusal = refused(
        npu2(
            buf("io", 8192, 32768),
            buf("weights", 20480),
            buf("acc", 16384),
            buf("lut", 512, bank=1),
            buf("spill", 16384),
            data(4096),
        )
    )
    assert refusal.diagnostics[0].notes[0].text == (
        "Current configuration of buffers in bank(s) : MemoryMap:\n"
        "\tbank : 0\t0x0-0x3FFF\n"
        "\t\t(stack) \t: 0x0-0x3FF \t(1024 bytes)\n"
        "\t\tacc \t: 0x400-0x43FF \t(16384 bytes) (straddles into bank 1)\n"
        "\tbank : 1\t0x4000-0x7FFF\n"
        "\t\tlut \t: 0x7E00-0x7FFF \t(512 bytes)\n"
        "\tbank : 2\t0x8000-0xBFFF\n"
        "\t\tio \t: 0x8000-0x9FFF \t(8192 bytes)\n"
        "\t\tweights \t: 0xA000-0xEFFF \t(20480 bytes) (straddles into bank 3)\n"
        "\tbank : 3\t0xC000-0xFFFF\n"
    )
    assert refusal.diagnostics[1].text.endswith(
        'could not be placed: buffer "spill" needs 16384 bytes and this tile has no room left for it'
    )


def test_a_map_without_stack() -> None:
    refusal = refused(memtile(buf("a", 528000)))
    lines = refusal.diagnostics[0].notes[0].text.splitlines()
    assert lines[1] == "\t(no stack allocated)"
    assert lines[2:] == [f"\tbank : {b}\t0x{b * 65536:X}-0x{b * 65536 + 65535:X}" for b in range(8)]


def test_a_map_with_only_the_stack() -> None:
    refusal = refused(aie1(buf("a", 16), buf("b", 32768), buf("c", 32)))
    assert refusal.diagnostics[0].notes[0].text.splitlines()[1:] == [
        "\tbank : 0\t0x0-0x1FFF",
        "\t\t(stack) \t: 0x0-0x3FF \t(1024 bytes)",
        "\tbank : 1\t0x2000-0x3FFF",
        "\tbank : 2\t0x4000-0x5FFF",
        "\tbank : 3\t0x6000-0x7FFF",
    ]


def test_labels_and_order() -> None:
    problem = npu2(
        buf("late", 64, 0x900),
        buf("big", 4096),
        buf("empty", 0, 0x800),
        buf("b1", 64, bank=0),
        reserved(0, 128),
        prebaked(0x600, 32),
        buf("b2", 96, bank=0),
        data(256),
        stack=StackExtent(1024, measured=992),
    )
    layout = TileLayout(
        {
            "late": 0x900,
            "big": 0x1000,
            "empty": 0x800,
            "b1": 0x400,
            "bank_reserved_0_2_0": 0x480,
            "prebaked_0_2_1536": 0x600,
            "b2": 0x500,
            "core_data_0_2": 0x2000,
        },
        0,
    )
    lines = memory_map(problem, layout).splitlines()
    assert lines[:2] == [
        "\t(aiecc measured this core's stack requirement as 992 bytes)",
        "\tbank : 0\t0x0-0x3FFF",
    ]
    assert lines[2:11] == [
        "\t\t(stack) \t: 0x0-0x3FF \t(1024 bytes)",
        "\t\t(bank-pinned static data) \t: 0x600-0x61F \t(32 bytes)",
        "\t\tempty \t: 0x800-0x800 \t(0 bytes)",
        "\t\tlate \t: 0x900-0x93F \t(64 bytes)",
        "\t\tb1 \t: 0x400-0x43F \t(64 bytes)",
        "\t\t(bank-pinned static data) \t: 0x480-0x4FF \t(128 bytes)",
        "\t\tb2 \t: 0x500-0x55F \t(96 bytes)",
        "\t\tbig \t: 0x1000-0x1FFF \t(4096 bytes)",
        "\t\t(core data sections) \t: 0x2000-0x20FF \t(256 bytes)",
    ]


def test_a_long_extent_names_the_next_bank_only() -> None:
    problem = npu2(buf("a", 40000), stack=None)
    text = memory_map(problem, TileLayout({"a": 0}))
    assert "\t\ta \t: 0x0-0x9C3F \t(40000 bytes) (straddles into bank 1)\n" in text
    assert text.count("\t\ta ") == 1


def test_a_stack_elsewhere_is_listed_in_its_bank() -> None:
    problem = npu2(buf("a", 64), stack=StackExtent(1024, 16000))
    lines = memory_map(problem, placed(problem)).splitlines()
    assert "(stack)" in lines[1]
    assert "straddles" not in lines[1]


def test_bank_use_and_table() -> None:
    problem = npu2(buf("a", 15360, 1024), buf("b", 512, 20480), buf("c", 20480, 40960))
    layout = placed(problem)
    assert bank_use(problem, layout) == (
        BankUse(0, 16384, 0, (0, 0)),
        BankUse(1, 512, 15872, (20992, 11776)),
        BankUse(2, 8192, 8192, (32768, 8192)),
        BankUse(3, 12288, 4096, (61440, 4096)),
    )
    assert bank_table(problem, layout) == (
        "bank   used   free  largest free run\n"
        "0     16384      0  none\n"
        "1       512  15872  11776 at 0x5200\n"
        "2      8192   8192  8192 at 0x8000\n"
        "3     12288   4096  4096 at 0xF000\n"
        "tile  37376  28160  19968 at 0x5200\n"
    )


def test_a_partial_layout_leaves_what_is_not_placed_free() -> None:
    problem = npu2(buf("a", 64), buf("b", 64))
    layout = placed(problem)
    partial = replace(layout, addresses={"a": layout.addresses["a"]})
    assert sum(use.used for use in bank_use(problem, layout)) == 1024 + 128
    assert sum(use.used for use in bank_use(problem, partial)) == 1024 + 64
