"""What the verifier says of DMA programs and their channels, and of length parameters of run-time descriptors."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints, mem

LOCKS = "%k = aie.lock(%t, 0)\n%l = aie.lock(%t, 1)\n%b = aie.buffer(%t) : memref<4xi32>\n"
BM = "%k = aie.lock(%m, 0)\n%l = aie.lock(%m, 1)\n%b = aie.buffer(%m) : memref<4xi32>\n"
BD = "aie.dma_bd(%b : memref<4xi32>)"
PACKETS = "aie.dma_bd(%b : memref<4xi32>) {packet = #aie.packet_info<pkt_id = 1>}"


def many(count: int, kind: str = "mem", tile: str = "%t") -> str:
    """A program with that many descriptor blocks, on a buffer `%b` of its tile."""
    blocks = "".join(f"^b{i}:\n  {BD}\n  aie.next_bd ^{f'b{i + 1}' if i + 1 < count else 'e'}\n" for i in range(count))
    return (
        f"%b = aie.buffer({tile}) : memref<4xi32>\n%p = aie.{kind}({tile}) {{\n  %d = aie.dma_start(MM2S, 0, ^b0, ^e)\n"
        f"{blocks}^e:\n  aie.end\n}}"
    )


def channels(*starts: str, kind: str = "mem", tile: str = "%t") -> str:
    """A program with a chain of channels."""
    text = f"%p = aie.{kind}({tile}) {{\n"
    for i, start in enumerate(starts):
        text += f"  %d{i} = aie.dma_start({start}, ^x, ^c{i})\n^c{i}:\n"
    return text + "  aie.end\n^x:\n  aie.end\n}"


def dma(attributes: str, *bodies: str, tile: str = "%m", channel: str = "S2MM, 0") -> str:
    kind = "memtile_dma" if tile == "%m" else "mem"
    regions = ", ".join("{\n" + body + "\n}" for body in bodies)
    return f"%p = aie.{kind}({tile}) {{\n%d = aie.dma({channel}) {attributes} [{regions}]\naie.end\n}}"


LOCKED = f"aie.use_lock(%k, AcquireGreaterEqual, 1)\n{BD}\naie.use_lock(%l, Release, 1)"

ERRORS: list[tuple[str, str, Said]] = [
    (
        "program of a core elsewhere",
        "%p = aie.mem(%m) {\n  aie.end\n}",
        Said(1, "'aie.mem' op failed to verify that op exists in a core tile"),
    ),
    (
        "program of a memory tile elsewhere",
        "%p = aie.memtile_dma(%t) {\n  aie.end\n}",
        Said(1, "'aie.memtile_dma' op failed to verify that op exists in a MemTile"),
    ),
    (
        "program of a shim elsewhere",
        "%p = aie.shim_dma(%t) {\n  aie.end\n}",
        Said(1, "'aie.shim_dma' op failed to verify that op exists in a shim tile with NOC connection"),
    ),
    (
        "descriptors of a core",
        many(17),
        Said(2, "'aie.mem' op has more than 16 blocks", ((53, "no space for this BD"),)),
    ),
    (
        "descriptors of a memory tile",
        many(49, "memtile_dma", "%m"),
        Said(2, "'aie.memtile_dma' op has more than 48 blocks", ((149, "no space for this BD"),)),
    ),
    (
        "two descriptors in a block",
        LOCKS + mem(f"{BD}\n{BD}"),
        Said(4, "'aie.mem' op BD block must have exactly one DMABDOp, found 2", ((7, "in this BD block"),)),
    ),
    (
        "two acquires in a block",
        LOCKS + mem(f"aie.use_lock(%k, Acquire, 1)\naie.use_lock(%k, AcquireGreaterEqual, 1)\n{BD}"),
        Said(4, "'aie.mem' op BD block must have at most one acquire UseLockOp, found 2", ((7, "in this BD block"),)),
    ),
    (
        "two releases in a block",
        BM + mem(f"{BD}\naie.use_lock(%k, Release, 1)\naie.use_lock(%l, Release, 1)", "memtile_dma", "%m"),
        Said(
            4,
            "'aie.memtile_dma' op BD block must have at most one release UseLockOp, found 2",
            ((7, "in this BD block"),),
        ),
    ),
    (
        "channels in",
        channels("S2MM, 0", "S2MM, 1", "S2MM, 2"),
        Said(1, "'aie.mem' op uses more input channels than available on this tile"),
    ),
    (
        "channels out",
        channels("MM2S, 0", "MM2S, 1", "MM2S, 2", kind="shim_dma", tile="%s"),
        Said(1, "'aie.shim_dma' op uses more output channels than available on this tile"),
    ),
    (
        "channels by endpoint",
        "aie.route_endpoint @x(%t) DMA\n" + channels("MM2S, 0", "MM2S, 1", "MM2S, @x"),
        Said(2, "'aie.mem' op uses more output channels than available on this tile"),
    ),
    (
        "another terminator",
        "%p = aie.mem(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^e)\n^a:\n  cf.br ^e\n^e:\n  aie.end\n}",
        Said(4, "'cf.br' op is not an allowed terminator", ((1, "in this context: "),)),
    ),
    (
        "memory made in a core's program",
        "%p = aie.mem(%t) {\n  %a = memref.alloc() : memref<4xi32>\n  aie.end\n}",
        Said(2, "'memref.alloc' op allocOp in MemOp region should have an id attribute"),
    ),
    (
        "memory made in a memory tile's program",
        "%p = aie.memtile_dma(%m) {\n  %a = memref.alloc() : memref<4xi32>\n  aie.end\n}",
        Said(2, "'memref.alloc' op allocOp in MemTileDMAOp region should have an id attribute"),
    ),
    (
        "upper channel and the neighbour's buffer",
        """
        %n = aie.tile(1, 1)
        %b = aie.buffer(%n) : memref<4xi32>
        %p = aie.memtile_dma(%m) {
          %d = aie.dma_start(MM2S, 4, ^a, ^e)
        ^a:
          aie.dma_bd(%b : memref<4xi32>)
          aie.next_bd ^e
        ^e:
          aie.end
        }
        """,
        Said(
            6,
            "'aie.dma_bd' op is reachable from DMA channel 4 and attempts to access a non-local buffer",
            ((4, "channel"), (2, "buffer")),
        ),
    ),
    (
        "upper channel and the neighbour's lock",
        """
        %n = aie.tile(1, 1)
        %l = aie.lock(%n, 0)
        %b = aie.buffer(%m) : memref<4xi32>
        %p = aie.memtile_dma(%m) {
          %d = aie.dma_start(S2MM, 5, ^a, ^e)
        ^a:
          aie.dma_bd(%b : memref<4xi32>)
          aie.next_bd ^c
        ^c:
          aie.use_lock(%l, Release, 1)
          aie.next_bd ^e
        ^e:
          aie.end
        }
        """,
        Said(
            10,
            "'aie.use_lock' op is reachable from DMA channel 5 and attempts to access a non-local lock",
            ((5, "channel"), (2, "lock")),
        ),
    ),
    # --- channels
    (
        "channel outside",
        "%c = aie.core(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a)\n^a:\n  aie.end\n}",
        Said(
            2, "'aie.dma_start' op expects parent op to be one of 'aie.mem, aie.memtile_dma, func.func, aie.shim_dma'"
        ),
    ),
    (
        "negative channel",
        channels("MM2S, -1"),
        Said(
            2,
            "'aie.dma_start' op attribute 'channel' failed to satisfy constraint: 32-bit signless integer "
            "attribute whose "
            "minimum value is 0 or flat symbol reference attribute",
        ),
    ),
    (
        "repeat",
        "%p = aie.mem(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a, repeat_count = 256)\n^a:\n  aie.end\n}",
        Said(2, "'aie.dma_start' op repeat_count 256 is out of range [0, 255] for this target"),
    ),
    (
        "pad value of a core",
        "%p = aie.mem(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a) {pad_value = 1 : i32}\n^a:\n  aie.end\n}",
        Said(2, "'aie.dma_start' op pad_value is only supported on memtile DMA channels"),
    ),
    (
        "pad value into a memory tile",
        "%p = aie.memtile_dma(%m) {\n  %d = aie.dma_start(S2MM, 0, ^a, ^a) {pad_value = 1 : i32}\n^a:\n  aie.end\n}",
        Said(2, "'aie.dma_start' op pad_value is only supported on MM2S DMA channels"),
    ),
    ("no such endpoint", channels("MM2S, @x"), Said(2, "'aie.dma_start' op @x is not an aie.route_endpoint")),
    (
        "endpoint of another kind",
        "aie.route_endpoint @x(%s) PLIO\n" + channels("MM2S, @x", kind="shim_dma", tile="%s"),
        Said(3, "'aie.dma_start' op @x names a PLIO port, not a DMA channel"),
    ),
    (
        "endpoint elsewhere",
        "aie.route_endpoint @x(%m) DMA\n" + channels("MM2S, @x"),
        Said(3, "'aie.dma_start' op @x is on a different tile than this DMA program"),
    ),
    (
        "endpoint in a function",
        "func.func @f() {\n  %d = aie.dma_start(MM2S, @x, ^a, ^a)\n^a:\n  aie.end\n}",
        Said(2, "'aie.dma_start' op only a tile's DMA program may name its channel by a route endpoint"),
    ),
    (
        "out of order, sending",
        "%p = aie.mem(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a) {out_of_order}\n^a:\n  aie.end\n}",
        Said(2, "'aie.dma_start' op out_of_order is only valid on an S2MM channel"),
    ),
    (
        "out of order, nothing to receive",
        "%p = aie.mem(%t) {\n  %d = aie.dma_start(S2MM, 0, ^a, ^a) {out_of_order}\n^a:\n  aie.end\n}",
        Said(2, "'aie.dma_start' op out-of-order S2MM channel must have at least one receive buffer descriptor"),
    ),
    (
        "out of order without packets",
        BM + dma("{out_of_order}", LOCKED),
        Said(7, "'aie.dma_bd' op out-of-order S2MM receive buffer descriptor must be packet-enabled"),
    ),
    (
        "out of order, the sender's field",
        BM + dma("{out_of_order}", LOCKED.replace(BD, PACKETS.replace("{", "{out_of_order_id = 1 : i32, "))),
        Said(
            7,
            "'aie.dma_bd' op out_of_order_id belongs on the sender buffer descriptor, not an out-of-order S2MM receive "
            "buffer descriptor",
        ),
    ),
    (
        "out of order, one waits for the other",
        BM
        + dma(
            "{out_of_order}",
            f"aie.use_lock(%k, AcquireGreaterEqual, 1)\n{PACKETS}\naie.use_lock(%k, Release, 1)",
            f"aie.use_lock(%l, AcquireGreaterEqual, 1)\n{PACKETS}\naie.use_lock(%k, Release, 1)",
        ),
        Said(7, "'aie.dma_bd' op out-of-order S2MM prohibits inter-BD lock dependencies; can deadlock"),
    ),
    # --- aie.dma
    (
        "channel op among blocks",
        BM
        + "%p = aie.memtile_dma(%m) {\n%d = aie.dma(S2MM, 0) [{\n"
        + LOCKED
        + "\n}]\naie.next_bd ^a\n^a:\naie.end\n}",
        Said(5, "'aie.dma' op DMAOp can only appear in single block region"),
    ),
    (
        "channel op and blocks of it",
        BM + dma("", f"{BD}\naie.next_bd ^a\n^a:\naie.end"),
        Said(5, "'aie.dma' op DMAOp regions must have only one block"),
    ),
    (
        "channel op without a descriptor",
        BM + dma("", LOCKED.replace(BD + "\n", "")),
        Said(5, "'aie.dma' op DMAOp regions/blocks must have exactly one DMABDOp"),
    ),
    (
        "channel op with one lock",
        BM + dma("", LOCKED, f"aie.use_lock(%k, AcquireGreaterEqual, 1)\n{BD}"),
        Said(5, "'aie.dma' op DMAOp regions/blocks must have exactly two UseLock ops"),
    ),
    (
        "channel op's repeat",
        BM + dma("{repeat_count = 300 : i32}", LOCKED),
        Said(5, "'aie.dma' op repeat_count 300 is out of range [0, 255] for this target"),
    ),
    (
        "channel op's pad value",
        LOCKS + dma("{pad_value = 3 : i32}", LOCKED, tile="%t", channel="MM2S, 0"),
        Said(5, "'aie.dma' op pad_value is only supported on memtile DMA channels"),
    ),
    (
        "channel op outside",
        "%b = aie.external_buffer : memref<4xi32>\n%d = aie.dma(S2MM, 0) [{\n" + BD + "\n}]",
        Said(2, "'aie.dma' op expects parent op to be one of 'aie.mem, aie.memtile_dma, aie.shim_dma'"),
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), ERRORS, ids=[e[0] for e in ERRORS])
def test_error(name: str, body: str, expected: Said) -> None:
    assert complaint(body) == expected


def test_dma_beside_dma_start() -> None:
    body = BM + (
        "%p = aie.memtile_dma(%m) {\n%d = aie.dma(S2MM, 0) [{\n"
        + LOCKED
        + "\n}]\n%e = aie.dma_start(S2MM, 1, ^a, ^a)\n"
        "^a:\naie.end\n}"
    )
    # The region has to have several blocks for a dma_start, which is said first.
    assert complaint(body).text == "'aie.dma' op DMAOp can only appear in single block region"


def test_older_targets() -> None:
    repeat = "%p = aie.mem(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a, repeat_count = 1)\n^a:\n  aie.end\n}"
    assert complaint(repeat, "xcvc1902").text == "'aie.dma_start' op repeat_count is not supported on this target"
    order = "%p = aie.mem(%t) {\n  %d = aie.dma_start(S2MM, 0, ^a, ^a) {out_of_order}\n^a:\n  aie.end\n}"
    assert complaint(order, "xcvc1902").text == (
        "'aie.dma_start' op out-of-order S2MM DMA is not supported on this device"
    )
    pad = "%p = aie.memtile_dma(%m) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a) {pad_value = 1 : i32}\n^a:\n  aie.end\n}"
    assert complaint(pad, "npu1").text == (
        "'aie.dma_start' op pad_value requires the CONSTANT_PAD_VALUE register, unavailable on this target"
    )
    assert complaints(pad, "npu2") == []


GOOD = [
    many(16),
    many(48, "memtile_dma", "%m"),
    channels("S2MM, 0", "S2MM, 1", "MM2S, 0", "MM2S, 1"),
    channels(*(f"MM2S, {i}" for i in range(6)), kind="memtile_dma", tile="%m"),
    "aie.route_endpoint @x(%t) DMA\n" + channels("MM2S, @x"),
    "%p = aie.mem(%t) {\n  %a = memref.alloc() {id = 1 : i32} : memref<4xi32>\n  aie.end\n}",
    BM + dma("{loop = false}", LOCKED, LOCKED),
    BM + dma("{out_of_order}", LOCKED.replace(BD, PACKETS)),
    "%p = aie.mem(%t) {\n  %d = aie.dma_start(MM2S, 0, ^a, ^a, repeat_count = 255)\n^a:\n  aie.end\n}",
]


@pytest.mark.parametrize("body", GOOD)
def test_good(body: str) -> None:
    assert complaints(body) == []


# --- length parameters ------------------------------------------------------------------------------------------------


def task(clauses: str, attributes: str, element: str = "128xi32") -> str:
    return f"""\
aie.runtime_sequence @run(%b: memref<{element}>, %n: i32, %q: i64) {{
  %k = aiex.dma_configure_task(%s, MM2S, 0) {{
    aie.dma_bd(%b : memref<{element}> {clauses}) {{length_parameter = @p{attributes}}}
    aie.end
  }}
}}"""


LENGTHS = [
    (
        task("sizes = [%q] strides = [1]", ""),
        "length_parameter requires a static pattern: buffer descriptor size/stride is a runtime value; a compile-time "
        "constant is required on this path",
    ),
    (
        # A tile without a place: the task cannot say how many dimensions its DMA has.
        task("sizes = [1, 1, 1, 1, 4] strides = [0, 0, 0, 0, 1]", "").replace("%s,", "%open,"),
        "length_parameter requires at most 4 dimensions, got 5",
    ),
    (task("len = 64", ""), "length_parameter requires length_unit"),
    (task("len = 64", ", length_unit = 8 : i32", "128xi4"), "length_parameter requires a whole-byte element type"),
    (task("len = 64", ", length_unit = 3 : i32"), "length_unit must be a multiple of 16 bytes, got 12 bytes"),
    (task("len = %n", ", length_unit = 4 : i32"), "length_parameter requires a constant length"),
    (
        task("len = 63", ", length_unit = 4 : i32"),
        "length_parameter requires a static length that is a multiple of 16 bytes, got 252 bytes",
    ),
    (
        task("len = 64 sizes = [16] strides = [2]", ", length_unit = 4 : i32"),
        "length_parameter on a non-contiguous pattern requires its second or third dimension to have a size above one: "
        "the added length continues it",
    ),
    (
        task("len = 64 sizes = [8, 8] strides = [16, 1]", ", length_unit = 4 : i32"),
        "length_unit (4 elements) must be a multiple of the 8 elements moved per step of the dimension the "
        "added length "
        "continues",
    ),
]


@pytest.mark.parametrize(("body", "expected"), LENGTHS)
def test_length_parameter(body: str, expected: str) -> None:
    opened = "%open = aie.logical_tile<ShimNOCTile>(?, ?)\n" + body
    assert complaint(opened) == Said(4, f"'aie.dma_bd' op {expected}")


def test_length_unit_beyond_the_field() -> None:
    body = task("len = 64", ", length_unit = 2147483647 : i32", "128xi96")
    assert complaint(body).text == (
        "'aie.dma_bd' op length_unit (2147483647 elements) exceeds the 32-bit word count of a BD length"
    )


def test_good_length_parameters() -> None:
    assert complaints(task("len = 64", ", length_unit = 4 : i32")) == []
    assert complaints(task("len = 64 sizes = [8, 8] strides = [16, 1]", ", length_unit = 16 : i32")) == []
    assert complaints(task("len = 64 sizes = [8, 8] strides = [8, 1]", ", length_unit = 4 : i32")) == []
