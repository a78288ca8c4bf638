"""What the verifier says of devices, tiles, cores, buffers and locks: words, place, notes, and what comes first."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints, device, read, said

from aiecc.ir.verify import verify

FAR = "%f = aie.tile(3, 5)\n"


def core(*attributes: str, body: str = "aie.end") -> str:
    return f"%c = aie.core(%t) {{\n{body}\n}} {{{', '.join(attributes)}}}"


ERRORS: list[tuple[str, str, Said]] = [
    # --- tiles
    (
        "column",
        "%x = aie.tile(8, 0)",
        Said(1, "'aie.tile' op column index (8) must be less than the number of columns in the device (8)"),
    ),
    (
        "row",
        "%x = aie.tile(0, 6)",
        Said(1, "'aie.tile' op row index (6) must be less than the number of rows in the device (6)"),
    ),
    (
        "negative column",
        "%x = aie.tile(-1, 0)",
        Said(
            1,
            "'aie.tile' op attribute 'col' failed to satisfy constraint: 32-bit signless integer attribute "
            "whose minimum "
            "value is 0",
        ),
    ),
    (
        "open controller id",
        "%x = aie.tile(1, 0) {controller_id = #aie.packet_info<pkt_type = 0>}",
        Said(
            1,
            "'aie.tile' op controller_id has no pkt_id; allocation assigns one, so a header at this level must "
            "carry it",
        ),
    ),
    (
        "two switchboxes",
        "%x = aie.tile(1, 2)\n%a = aie.switchbox(%x) {\n}\n%b = aie.switchbox(%x) {\n}",
        Said(1, "'aie.tile' op can only have one switchbox"),
    ),
    (
        "logical column",
        "%x = aie.logical_tile<CoreTile>(9, ?)",
        Said(1, "'aie.logical_tile' op column index (9) must be less than the number of columns in the device (8)"),
    ),
    (
        "logical row",
        "%x = aie.logical_tile<CoreTile>(?, 7)",
        Said(1, "'aie.logical_tile' op row index (7) must be less than the number of rows in the device (6)"),
    ),
    (
        "logical kind and place",
        "%x = aie.logical_tile<MemTile>(0, 2)",
        Said(
            1,
            "'aie.logical_tile' op declared logical tile type does not match the tile type at coordinates (0, 2)",
        ),
    ),
    (
        "logical kind that is not there",
        "%x = aie.logical_tile<ShimPLTile>(?, ?)",
        Said(1, "'aie.logical_tile' op tile type 'ShimPLTile' does not exist on the target device"),
    ),
    # --- devices
    (
        "two cores on two ops for one tile",
        "%a = aie.tile(1, 3)\n%b = aie.tile(1, 3)\n"
        "%c = aie.core(%a) {\n  aie.end\n}\n%d = aie.core(%b) {\n  aie.end\n}",
        Said(
            6,
            "'aie.core' op tile (1, 3) already has a core; each compute tile can host only one core",
            ((3, "the other core is here"),),
        ),
    ),
    (
        "two cores on logical tiles of one place",
        "%a = aie.logical_tile<CoreTile>(1, 3)\n%b = aie.logical_tile<CoreTile>(1, 3)\n"
        "%c = aie.core(%a) {\n  aie.end\n}\n%d = aie.core(%b) {\n  aie.end\n}",
        Said(
            6,
            "'aie.core' op tile (1, 3) already has a core; each compute tile can host only one core",
            ((3, "the other core is here"),),
        ),
    ),
    (
        "two cores on a tile",
        "%c = aie.core(%t) {\n  aie.end\n}\n%d = aie.core(%t) {\n  aie.end\n}",
        Said(
            4,
            "'aie.core' op tile (0, 2) already has a core; each compute tile can host only one core",
            ((1, "the other core is here"),),
        ),
    ),
    (
        "a flow twice",
        "aie.flow(%t, DMA : 0, %m, DMA : 0)\naie.flow(%t, DMA : 0, %m, DMA : 0)",
        Said(
            2,
            "'aie.flow' op duplicates an earlier flow; (0, 2) DMA : 0 -> (0, 1) DMA : 0 is already declared",
            ((1, "the other flow is here"),),
        ),
    ),
    (
        "two circuits into one port",
        "aie.flow(%t, DMA : 0, %m, DMA : 0)\naie.flow(%t, DMA : 1, %m, DMA : 0)",
        Said(
            2,
            "'aie.flow' op ends at (0, 1) DMA : 0, where another circuit flow ends; a port takes one circuit",
            ((1, "the other circuit flow is here"),),
        ),
    ),
    (
        "a packet flow twice, ends in another order",
        """
        aie.packet_flow(3) {
          aie.packet_source<%t, DMA : 0>
          aie.packet_source<%t, DMA : 1>
          aie.packet_dest<%m, DMA : 0>
        }
        aie.packet_flow(3, mask = 31) {
          aie.packet_source<%t, DMA : 1>
          aie.packet_dest<%m, DMA : 0>
          aie.packet_source<%t, DMA : 0>
        }
        """,
        Said(
            6,
            "'aie.packet_flow' op duplicates an earlier packet flow; ID 3 under mask 0x1F is already declared "
            "between the "
            "same sources and destinations",
            ((1, "the other packet flow is here"),),
        ),
    ),
    (
        "packets from a circuit's port",
        """
        aie.packet_flow(3) {
          aie.packet_source<%t, DMA : 0>
          aie.packet_dest<%m, DMA : 1>
        }
        aie.flow(%t, DMA : 0, %m, DMA : 0)
        """,
        Said(
            1,
            "'aie.packet_flow' op starts at (0, 2) DMA : 0, where a circuit flow starts; a port carries either "
            "one circuit "
            "or packets",
            ((5, "the circuit flow is here"),),
        ),
    ),
    (
        "packets into a circuit's port",
        """
        aie.packet_flow(3) {
          aie.packet_source<%t, DMA : 1>
          aie.packet_dest<%m, DMA : 0>
        }
        aie.flow(%t, DMA : 0, %m, DMA : 0)
        """,
        Said(
            1,
            "'aie.packet_flow' op ends at (0, 1) DMA : 0, where a circuit flow ends; a port carries either one "
            "circuit or "
            "packets",
            ((5, "the circuit flow is here"),),
        ),
    ),
    (
        "a lock and a buffer of one name",
        '%l = aie.lock(%t) {sym_name = "x"}\n%b = aie.buffer(%t) {sym_name = "x"} : memref<4xi32>',
        Said(2, "redefinition of symbol named 'x'", ((1, "see existing symbol definition here"),)),
    ),
    (
        "a symbol and a channel of one name",
        """
        aie.shim_dma_allocation @x(%s, MM2S, 0)
        %b = aie.buffer(%t) : memref<4xi32>
        %p = aie.mem(%t) {
          %d = aie.dma(S2MM, 0) {sym_name = "x"} [{
            aie.dma_bd(%b : memref<4xi32>)
          }]
          aie.end
        }
        """,
        Said(4, "redefinition of symbol named 'x'", ((1, "see existing symbol definition here"),)),
    ),
    (
        "two symbols of one name",
        "aie.shim_dma_allocation @x(%s, MM2S, 0)\naie.shim_dma_allocation @x(%s, MM2S, 1)",
        Said(2, "redefinition of symbol named 'x'", ((1, "see existing symbol definition here"),)),
    ),
    # --- cores
    ("no body", "%c = aie.core(%t) {\n}", Said(1, "'aie.core' op should have non-empty body")),
    (
        "body beside an ELF",
        core('elf_file = "a.elf"', body="%z = arith.constant 0 : i32\naie.end"),
        Said(
            1,
            "'aie.core' op When `elf_file` attribute is specified, core body must be empty (consist of exactly one "
            "`aie.end` op).",
        ),
    ),
    (
        "link_with and link_files",
        core('link_with = "k.o"', 'link_files = ["k.o"]'),
        Said(
            1,
            "'aie.core' op cannot specify both 'link_with' (deprecated) and 'link_files' on the same core; run "
            "aie-assign-core-link-files to migrate",
        ),
    ),
    (
        "link_with and link_merge_files",
        core('link_with = "k.o"', 'link_merge_files = ["k.bc"]'),
        Said(
            1,
            "'aie.core' op cannot specify both 'link_with' (deprecated) and 'link_merge_files' on the same core; run "
            "aie-assign-core-link-files to migrate",
        ),
    ),
    (
        "merged and linked",
        core('link_files = ["a.o", "b.o"]', 'link_merge_files = ["c.bc", "b.o"]'),
        Said(
            1,
            "'aie.core' op artifact 'b.o' appears in both 'link_files' and 'link_merge_files'; an artifact must "
            "be either "
            "merged or linked, not both",
        ),
    ),
    (
        "data that does not fit its reserve",
        core("data_size = 64 : i32", "measured_data_size = 68 : i32"),
        Said(1, "'aie.core' op data_size 64 is smaller than the 68 bytes this core's linked sections occupy"),
    ),
    (
        "alignment that is no power of two",
        core("measured_data_alignment = 12 : i32"),
        Said(1, "'aie.core' op measured_data_alignment must be a power of two between 1 and 65536 bytes"),
    ),
    (
        "alignment beyond the memory",
        core("measured_data_alignment = 131072 : i32"),
        Said(1, "'aie.core' op measured_data_alignment must be a power of two between 1 and 65536 bytes"),
    ),
    (
        "bank alignments",
        core("measured_bank_alignments = array<i32: 1, 0>"),
        Said(1, "'aie.core' op measured_bank_alignments must contain only powers of two between 1 and 65536 bytes"),
    ),
    (
        "no such bank",
        core("stack_bank = 4 : i32"),
        Said(1, "'aie.core' op stack_bank 4 does not exist; this tile has 4 banks"),
    ),
    (
        "stack larger than its bank",
        core("stack_bank = 1 : i32", "stack_size = 16448 : i32"),
        Said(
            1,
            "'aie.core' op stack_bank pins a 16448-byte stack to bank 1, which holds 16384 bytes; omit stack_bank and "
            "stack_address for legacy placement",
        ),
    ),
    (
        "stack address in another bank",
        core("stack_bank = 1 : i32", "stack_address = 32768 : i32"),
        Said(1, "'aie.core' op stack_address 0x8000 lies in bank 2, but stack_bank requests bank 1"),
    ),
    (
        "stack past its bank",
        core("stack_bank = 1 : i32", "stack_address = 31808 : i32", "stack_size = 1024 : i32"),
        Said(1, "'aie.core' op a 1024-byte stack at 0x7C40 runs past stack_bank 1 (ending at 0x8000)"),
    ),
    (
        "stack as large as the memory",
        core("stack_size = 65536 : i32"),
        Said(1, "'aie.core' op stack_size 65536 leaves no local memory for this tile's buffers (65536 bytes total)"),
    ),
    (
        "measured stack as large as the memory",
        core("measured_stack_size = 70000 : i32"),
        Said(
            1,
            "'aie.core' op measured stack requirement 70000 leaves no local memory for this tile's buffers "
            "(65536 bytes "
            "total)",
        ),
    ),
    (
        "stack past the memory",
        core("stack_address = 65472 : i32"),
        Said(1, "'aie.core' op a 1024-byte stack at 0xFFC0 runs past this tile's local memory (65536 bytes total)"),
    ),
    (
        "stack alignment",
        core("stack_address = 32 : i32"),
        Said(1, "'aie.core' op stack_address must be aligned to 64 bytes for this target's stack ABI"),
    ),
    (
        "stack of nothing",
        core("stack_size = 0 : i32"),
        Said(
            1,
            "'aie.core' op attribute 'stack_size' failed to satisfy constraint: 32-bit signless integer "
            "attribute whose "
            "minimum value is 1",
        ),
    ),
    (
        "core elsewhere",
        "%c = aie.core(%m) {\n  aie.end\n}",
        Said(1, "'aie.core' op failed to verify that op exists in a core tile"),
    ),
    # --- buffers
    (
        "buffer on a shim",
        "%b = aie.buffer(%s) : memref<4xi32>",
        Said(1, "'aie.buffer' op failed to verify that op exists in a tile with local memory"),
    ),
    (
        "buffer out of reach",
        FAR + "%b = aie.buffer(%f) : memref<4xi32>\n%c = aie.core(%t) {\n%z = arith.constant 0 : index\n"
        "%v = memref.load %b[%z] : memref<4xi32>\naie.end\n}",
        Said(
            2,
            "'aie.buffer' op in Column 3 and Row 5 is accessed from an unreachable tile in Column 0 and Row 2",
            ((5, "user"),),
        ),
    ),
    (
        "buffer used on no tile",
        "%b = aie.buffer(%t) : memref<4xi32>\nscf.execute_region {\n%z = arith.constant 0 : index\n"
        "%v = memref.load %b[%z] : memref<4xi32>\nscf.yield\n}",
        Said(1, "'aie.buffer' op is accessed outside of a tile", ((4, "user"),)),
    ),
    (
        "second core data",
        "%a = aie.buffer(%t) {core_data} : memref<4xi8>\n%b = aie.buffer(%t) {core_data} : memref<4xi8>",
        Said(
            2,
            "'aie.buffer' op is a second core_data buffer on tile (0, 2); the core's data region is one extent",
        ),
    ),
    (
        "address in another bank",
        "%b = aie.buffer(%t) {address = 16384 : i32, mem_bank = 0 : i32} : memref<4xi8>",
        Said(1, "'aie.buffer' op address 0x4000 lies in bank 1, but mem_bank requests bank 0"),
    ),
    # --- locks
    (
        "lock out of reach",
        FAR + "%l = aie.lock(%f, 0)\n%c = aie.core(%t) {\naie.use_lock(%l, Acquire, 1)\naie.end\n}",
        Said(
            2,
            "'aie.lock' op in Column 3 and Row 5 is accessed from an unreachable tile in Column 0 and Row 2",
            ((4, "user"),),
        ),
    ),
    (
        "lock on no tile",
        "%x = aie.plio(1)\n%l = aie.lock(%x, 0)",
        Said(2, "'aie.lock' op tile operand must implement TileLike interface"),
    ),
    ("lock id", "%l = aie.lock(%t, 16)", Said(1, "'aie.lock' op lock assigned invalid id (maximum is 15)")),
    (
        "lock id of a memory tile",
        "%l = aie.lock(%m, 64)",
        Said(1, "'aie.lock' op lock assigned invalid id (maximum is 63)"),
    ),
    (
        "lock used in the device",
        "%l = aie.lock(%t, 0)\naie.use_lock(%l, Acquire, 1)",
        Said(2, "'aie.use_lock' op must be used in a core or memory operation."),
    ),
    (
        "run-time value in a program",
        """
        %l = aie.lock(%t, 0)
        %b = aie.buffer(%t) : memref<4xi32>
        %p = aie.mem(%t) {
          %one = arith.constant 1 : i32
          %two = arith.addi %one, %one : i32
          %d = aie.dma_start(MM2S, 0, ^a, ^e)
        ^a:
          aie.use_lock(%l, Release, %two)
          aie.dma_bd(%b : memref<4xi32>)
          aie.next_bd ^e
        ^e:
          aie.end
        }
        """,
        Said(
            8,
            "'aie.use_lock' op lock value in a DMA/BD block must be a compile-time constant (defined by an "
            "arith.constant).",
        ),
    ),
    (
        "two states in a block without a descriptor",
        """
        %l = aie.lock(%t, 0)
        %p = aie.mem(%t) {
          %d = aie.dma_start(MM2S, 0, ^a, ^e)
        ^a:
          aie.use_lock(%l, Acquire, 1)
          aie.use_lock(%l, Acquire, 2)
          aie.next_bd ^e
        ^e:
          aie.end
        }
        """,
        Said(5, "'aie.use_lock' op acquires/releases the lock in a DMA block from/to multiple states."),
    ),
    (
        "lock of the neighbour in a core's program",
        """
        %n = aie.tile(0, 3)
        %l = aie.lock(%n, 0)
        %b = aie.buffer(%t) : memref<4xi32>
        %p = aie.mem(%t) {
          %d = aie.dma_start(MM2S, 0, ^a, ^e)
        ^a:
          aie.use_lock(%l, Acquire, 1)
          aie.dma_bd(%b : memref<4xi32>)
          aie.next_bd ^e
        ^e:
          aie.end
        }
        """,
        Said(7, "'aie.use_lock' op can only access a lock in the same tile"),
    ),
    (
        "lock in a sequence",
        "aie.runtime_sequence @c(%l : index) {\n  aie.use_lock(%l, Acquire, 1)\n  aie.end\n}",
        Said(
            2,
            "'aie.use_lock' op expects some parent op to be one of AIE::device, AIE::core, func::func, AIE::mem, "
            "AIE::shimDMA, or AIEX::dma_configure_task",
        ),
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), ERRORS, ids=[e[0] for e in ERRORS])
def test_error(name: str, body: str, expected: Said) -> None:
    assert complaint(body) == expected


def test_errors_of_the_first_architecture() -> None:
    acquire = "%l = aie.lock(%t, 0)\n%c = aie.core(%t) {\n  aie.use_lock(%l, AcquireGreaterEqual, 1)\n  aie.end\n}"
    assert complaint(acquire, "xcvc1902").text == "'aie.use_lock' op AcquireGreaterEqual is not supported in AIE1."
    two = """
    %k = aie.lock(%t, 0)
    %l = aie.lock(%t, 1)
    %b = aie.buffer(%t) : memref<4xi32>
    %p = aie.mem(%t) {
      %d = aie.dma_start(MM2S, 0, ^a, ^e)
    ^a:
      aie.use_lock(%k, Acquire, 1)
      aie.dma_bd(%b : memref<4xi32>)
      aie.use_lock(%l, Release, 0)
      aie.next_bd ^e
    ^e:
      aie.end
    }
    """
    assert complaint(two, "xcvc1902") == Said(7, "'aie.use_lock' op used in a DMA block that have multiple locks.")
    align = "%c = aie.core(%t) {\n  aie.end\n} {stack_address = 16 : i32}"
    assert complaint(align, "xcvc1902").text == (
        "'aie.core' op stack_address must be aligned to 32 bytes for this target's stack ABI"
    )


GOOD = [
    core("stack_bank = 3 : i32", "stack_address = 49152 : i32", "stack_size = 16384 : i32"),
    core("stack_address = 16320 : i32"),
    core("data_size = 0 : i32"),
    core("data_size = 68 : i32", "measured_data_size = 68 : i32"),
    core('elf_file = "a.elf"', 'link_files = ["a.o"]'),
    "%l = aie.lock(%t, 15)\n%k = aie.lock(%m, 63)\n%j = aie.lock(%s, 15)",
    # Each side of a core reaches its neighbours' memories.
    "%n = aie.tile(0, 3)\n%b = aie.buffer(%n) : memref<4xi32>\n%c = aie.core(%t) {\n%z = arith.constant 0 : index\n"
    "%v = memref.load %b[%z] : memref<4xi32>\naie.end\n}",
    # A template is checked where it is used; a logical tile once it is placed.
    FAR + "%b = aie.buffer(%f) : memref<4xi32>\naie.bd_chain @c() {\n  aie.dma_bd(%b : memref<4xi32>)\n  aie.end\n}",
    "%x = aie.logical_tile<CoreTile>(?, ?)\n%l = aie.lock(%x, 0)\n%c = aie.core(%t) {\n"
    "  aie.use_lock(%l, Acquire, 1)\n  aie.end\n}",
    # The host may write any lock.
    "%l = aie.lock(%t, 0)\naie.runtime_sequence() {\n  aiex.set_lock(%l, 1)\n}",
    # Broadcast: one port to several; several packets from one port.
    "aie.flow(%t, DMA : 0, %m, DMA : 0)\naie.flow(%t, DMA : 0, %m, DMA : 1)",
    "aie.packet_flow(1) {\n  aie.packet_source<%t, DMA : 0>\n  aie.packet_dest<%m, DMA : 0>\n}\n"
    "aie.packet_flow(2) {\n  aie.packet_source<%t, DMA : 0>\n  aie.packet_dest<%m, DMA : 0>\n}",
    "%x = aie.tile(1, 0) {controller_id = #aie.packet_info<pkt_id = 3>}",
]


@pytest.mark.parametrize("body", GOOD)
def test_good(body: str) -> None:
    assert complaints(body) == []


def test_visibility() -> None:
    text = 'aie.device(npu2) @d {\n} {sym_visibility = "privte"}\n'
    assert [said(d, 1) for d in verify(read(text))] == [
        Said(
            1,
            '\'aie.device\' op visibility expected to be one of ["public", "private", "nested"], but got "privte"',
        )
    ]
    text = "aie.device(npu2) @d {\n} {sym_visibility = 42 : i32}\n"
    assert [d.text for d in verify(read(text))] == [
        "'aie.device' op requires visibility attribute 'sym_visibility' to be a string attribute, but got 42 : i32"
    ]


def test_two_devices_of_one_name() -> None:
    text = "aie.device(npu2) {\n}\naie.device(npu1) {\n}\n"
    assert [said(d, 1) for d in verify(read(text))] == [
        Said(3, "redefinition of symbol named 'main'", ((1, "see existing symbol definition here"),))
    ]


def test_a_device_s_own_rules_come_before_those_inside() -> None:
    body = "%x = aie.tile(9, 9)\n%c = aie.core(%t) {\n  aie.end\n}\n%d = aie.core(%t) {\n  aie.end\n}"
    assert complaint(body).text.startswith("'aie.core' op tile (0, 2) already has a core")


def test_symbol_clashes_come_after_the_ops_inside() -> None:
    body = "%x = aie.tile(9, 0)\naie.shim_dma_allocation @x(%s, MM2S, 0)\naie.shim_dma_allocation @x(%s, MM2S, 1)"
    assert complaint(body).text.startswith("'aie.tile' op column index (9)")


def test_values_from_outside_a_device() -> None:
    text = "%t = aie.tile(0, 2)\naie.device(npu2) {\n  %l = aie.lock(%t, 0)\n}\n"
    assert [said(d, 1) for d in verify(read(text))] == [
        Said(
            3,
            "'aie.lock' op using value defined outside the region",
            ((2, "required by region isolation constraints"),),
        )
    ]


def test_the_default_device_around_nothing() -> None:
    assert [d.text for d in verify(read("%t = aie.tile(50, 0)\n"))] == [
        "'aie.tile' op column index (50) must be less than the number of columns in the device (50)"
    ]


def test_device_inside_a_device() -> None:
    assert complaint("aie.device(npu2) @x {\n}").text == "'aie.device' op expects parent op 'builtin.module'"


def test_every_sister_is_told_when_all_errors_are_wanted() -> None:
    found = verify(read(device("%x = aie.tile(9, 0)\n%y = aie.tile(0, 9)")))
    assert [said(d).line for d in found] == [1, 2]
