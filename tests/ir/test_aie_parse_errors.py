"""What the reader says when an op of the dialects is misspelt, and where."""

from __future__ import annotations

import pytest
from aiekit import device, parse_error

from aiecc.base.diag import Refused
from aiecc.ir.text import parse

BUNDLES = "Core, DMA, FIFO, South, West, North, East, PLIO, NOC, Trace, TileControl, Controller32"
DEVICES = (
    "xcvc1902, xcve2302, xcve2802, npu1, npu1_1col, npu1_2col, npu1_3col, npu2, npu2_1col, npu2_2col, npu2_3col, "
    "npu2_4col, npu2_5col, npu2_6col, npu2_7col, xcve3858"
)
OF = "!aie.objectfifo<memref<16xi32>>"


def choose(attribute: str, words: str) -> str:
    return (
        f"expected string or keyword containing one of the following enum values for attribute '{attribute}' [{words}]"
    )


def of(op: str, text: str) -> str:
    """An error that the op's own reader reports; the others come from a lower level."""
    return f"custom op '{op}' {text}"


# name, lines, what is said
ERRORS = [
    ("punctuation", "%x = aie.tile[0, 2]", "expected '('"),
    ("comma", "%x = aie.tile(0 2)", "expected ','"),
    ("integer", "%x = aie.tile(zero, 2)", "expected attribute value"),
    ("huge integer", "%x = aie.tile(4294967296, 2)", "integer constant out of range for attribute"),
    ("huge byte", "aie.packet_flow(256) {\n}", "integer constant out of range for attribute"),
    ("operand", "aie.cascade_flow(t, %t)", "expected SSA operand"),
    ("undefined operand", "aie.cascade_flow(%x, %t)", "use of undeclared SSA value name"),
    ("bare enum word", "aie.flow(%t, Dma : 0, %s, DMA : 0)", of("aie.flow", choose("source_bundle", BUNDLES))),
    (
        "quoted enum word",
        'aie.flow(%t, DMA : 0, %s, "Dma" : 0)',
        of("aie.flow", 'invalid dest_bundle attribute specification: "Dma"'),
    ),
    ("no enum word", "aie.flow(%t, 1 : 0, %s, DMA : 0)", of("aie.flow", choose("source_bundle", BUNDLES))),
    (
        "lock action",
        "%l = aie.lock(%t)\naie.use_lock(%l, Take, 1)",
        of("aie.use_lock", choose("action", "Acquire, Release, AcquireGreaterEqual")),
    ),
    (
        "lock blocking",
        "%l = aie.lock(%t)\naie.use_lock(%l, Acquire, 1, Maybe)",
        of("aie.use_lock", choose("blocking", "NonBlocking, Blocking")),
    ),
    (
        "channel direction",
        "%m1 = aie.mem(%t) {\naie.dma_start(UP, 0, ^a, ^a)\n}",
        of("aie.dma_start", choose("channel_dir", "S2MM, MM2S")),
    ),
    ("block name", "%m1 = aie.mem(%t) {\naie.dma_start(MM2S, 0, a, ^a)\n}", "expected block name"),
    ("undefined block", "%m1 = aie.mem(%t) {\naie.next_bd ^a\n}", "reference to an undefined block"),
    (
        "logical tile kind",
        "%x = aie.logical_tile<ComputeTile>(?, ?)",
        of("aie.logical_tile", "unknown logical tile type: ComputeTile"),
    ),
    (
        "logical tile, quoted kind",
        '%x = aie.logical_tile<"CoreTile">(?, ?)',
        of("aie.logical_tile", "expected valid keyword"),
    ),
    ("region", "%c = aie.core(%t)", "expected '{' to begin a region"),
    (
        "buffer of a dynamic shape",
        "%b = aie.buffer(%t) : memref<?xi32>",
        of("aie.buffer", "type should be static shaped memref, but got 'memref<?xi32>'"),
    ),
    (
        "buffer of no memref",
        "%b = aie.buffer(%t) : i32",
        of("aie.buffer", "type should be static shaped memref, but got 'i32'"),
    ),
    (
        "buffer with a number for a value",
        "%b = aie.buffer(%t) : memref<4xi32> = 5",
        of("aie.buffer", "initial value should be an elements attribute"),
    ),
    (
        "value twice",
        '%b = aie.buffer(%t) {sym_name = "a", sym_name = "b"} : memref<4xi32>',
        "duplicate key 'sym_name' in dictionary attribute",
    ),
    (
        "a place and the dictionary",
        "%l = aie.lock(%t, 3) {lockID = 3 : i32}",
        "attribute 'lockID' occurs more than once in the attribute list",
    ),
    (
        "symbol",
        "aie.shim_dma_allocation in(%s, MM2S, 0)",
        of("aie.shim_dma_allocation", "expected valid '@'-identifier for symbol name"),
    ),
    ("packet", "aie.shim_dma_allocation @in(%s, MM2S, 0, <id = 3>)", "duplicate or unknown struct parameter name: id"),
    (
        "another attribute for a packet",
        "aie.shim_dma_allocation @in(%s, MM2S, 0, #aie.end_port<DMA>)",
        of("aie.shim_dma_allocation", "invalid kind of attribute specified"),
    ),
    ("older allocation without column", "aie.shim_dma_allocation @in(MM2S, 0)", "expected ','"),
    ("too many positional numbers", "aie.dma_bd(%x : memref<4xi32>, 0, 1, 2)", "expected '['"),
    ("clause order", "aie.dma_bd(%x : memref<4xi32> len = 4 offset = 0)", "expected ')'"),
    ("list entry", "aie.dma_bd(%x : memref<4xi32> sizes = [a])", of("aie.dma_bd", "expected integer value")),
    ("fifo depth", f"aie.objectfifo @of(%t, {{%m}}, ) : {OF}", "expected attribute value"),
    ("fifo without consumer", f"aie.objectfifo @of(%t, {{}}, 2 : i32) : {OF}", "expected SSA operand"),
    (
        "fifo of a dynamic shape",
        "aie.objectfifo @of(%t, {%m}, 2 : i32) : !aie.objectfifo<memref<?xi32>>",
        of("aie.objectfifo", "type should be static shaped memref, but got 'memref<?xi32>'"),
    ),
    (
        "too few initial values",
        f"aie.objectfifo @of(%m, {{%t}}, 2 : i32) : {OF} = [dense<0> : memref<16xi32>]",
        of("aie.objectfifo", "initial values should initialize all objects"),
    ),
    (
        "initial value of another kind",
        f"aie.objectfifo @of(%m, {{%t}}, 1 : i32) : {OF} = [5 : i32]",
        of("aie.objectfifo", "initial value should be an elements attribute"),
    ),
    ("layout", f"aie.objectfifo @of(%m dimensionsToStream 4, {{%t}}, 1 : i32) : {OF}", "expected '['"),
    ("link arrow", "aie.objectfifo.link [@a] [@b] ()", "expected '->'"),
    ("link offsets", "aie.objectfifo.link [@a] -> [@b]([a] [])", "expected attribute value"),
    (
        "acquire port",
        "%a = aie.objectfifo.acquire @of(Eat, 1) : memref<16xi32>",
        of("aie.objectfifo.acquire", "invalid objectFifo port: Eat"),
    ),
    (
        "acquire count",
        "%a, %b = aie.objectfifo.acquire @of(Consume, 3) : memref<16xi32>, memref<16xi32>",
        of("aie.objectfifo.acquire", "acquires 3 objects but names 2 of them"),
    ),
    (
        "release port",
        "aie.objectfifo.release @of(Drop, 1)",
        of("aie.objectfifo.release", "invalid objectFifo port: Drop"),
    ),
    (
        "external buffer types",
        "%e = aie.external_buffer : memref<4xi32>\n"
        "aie.objectfifo.register_external_buffers @of(%s, {%e}) : (memref<4xi32>, memref<4xi32>)",
        of(
            "aie.objectfifo.register_external_buffers",
            "number of operands and types do not match: got 1 operands and 2 types",
        ),
    ),
    (
        "endpoint role",
        "aie.objectfifo.core_endpoint @rd(%t) empties @p",
        of("aie.objectfifo.core_endpoint", choose("role", "fills, drains")),
    ),
    ("route", "aie.route @a to [@b]", of("aie.route", "expected 'from'")),
    ("route destinations", "aie.route from @a to @b", of("aie.route", "invalid kind of attribute specified")),
    (
        "older flow",
        "aie.objectfifo.flow from @a to [@b] {packet_id = 3 : i8}",
        of("aie.objectfifo.flow", "packet_id is only meaningful on a packet flow"),
    ),
    (
        "trace mode",
        'aie.trace @t(%t) {\naie.trace.mode "Event-Log"\n}',
        of("aie.trace.mode", 'invalid mode attribute specification: "Event-Log"'),
    ),
    (
        "trace edge",
        'aie.trace @t(%t) {\naie.trace.edge_event<0> event = <"TRUE"> trigger = SLOW\n}',
        of("aie.trace.edge_event", "unknown edge trigger: SLOW"),
    ),
    ("trace event", "aie.trace @t(%t) {\naie.trace.event <TRUE>\n}", "expected '::' after enum type name"),
    (
        "binding types",
        "aie.objectfifo_rearm_binding @b channels(%t, %m : index) locks()",
        of("aie.objectfifo_rearm_binding", "number of operands and types do not match: got 2 operands and 1 types"),
    ),
    (
        "block floats",
        '%e = aie.external_buffer : memref<4x!aiex.bfp<"v32bfp16ebz8">>',
        "Invalid block type: v32bfp16ebz8. Known types are: v8bfp16ebs8, v16bfp16ebs16.",
    ),
    ("unknown op", "aie.tyle(0, 0)", "custom op 'aie.tyle' is unknown"),
    (
        "a number that its type cannot hold",
        "%b = aie.buffer(%t) {address = 99999999999 : i32} : memref<4xi32>",
        "integer constant out of range for attribute",
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), ERRORS, ids=[e[0] for e in ERRORS])
def test_error(name: str, body: str, expected: str) -> None:
    assert parse_error(body).text == expected


@pytest.mark.usefixtures("only_built_in_devices")
def test_device_word() -> None:
    with pytest.raises(Refused) as refused:
        parse("aie.device(npu3) {\n}", "t.mlir")
    assert refused.value.diagnostics[0].text == of("aie.device", choose("device", DEVICES))


@pytest.mark.parametrize(
    ("body", "column"),
    [
        # A wrong word is complained of where it stands, a missing token behind the one before it.
        ("aie.flow(%t, Dma : 0, %s, DMA : 0)", 14),
        ('aie.flow(%t, "Dma" : 0, %s, DMA : 0)', 14),
        ("aie.flow(%t, DMA 0, %s, DMA : 0)", 17),
        ("%x = aie.tile(0, 4294967296)", 18),
        ("%x = aie.logical_tile<Core>(?, ?)", 23),
        ("%b = aie.buffer(%t) : memref<?xi32>", 23),
        ("%a = aie.objectfifo.acquire @of(Eat, 1) : memref<16xi32>", 33),
    ],
)
def test_place(body: str, column: int) -> None:
    with pytest.raises(Refused) as refused:
        parse(device(body), "t.mlir")
    assert str(refused.value.diagnostics[0].where) == f"t.mlir:5:{column}"


def test_a_truncated_device() -> None:
    with pytest.raises(Refused) as refused:
        parse("aie.device(npu2) {\n  %t = aie.tile(0, 2)\n  %c = aie.core(%t) {\n", "t.mlir")
    assert refused.value.diagnostics[0].where is not None
