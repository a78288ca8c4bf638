"""What the verifier says of objectFifos, of links between them and of a core's use of them."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints

OF = "!aie.objectfifo<memref<16xi32>>"
TYPE = "memref<16xi32>"


def fifo(
    attributes: str = "",
    ends: str = "%m, {%t}",
    depth: str = "2 : i32",
    name: str = "of",
    type: str = OF,
    tail: str = "",
) -> str:
    shown = f" {{{attributes}}}" if attributes else ""
    return f"aie.objectfifo @{name}({ends}, {depth}){shown} : {type}{tail}"


def core(body: str, tile: str = "%t") -> str:
    return f"%c = aie.core({tile}) {{\n{body}\naie.end\n}}"


def acquire(port: str = "Consume, ", count: int = 1, type: str = TYPE, name: str = "of") -> str:
    names = ", ".join(f"%o{i}" for i in range(count))
    return f"{names} = aie.objectfifo.acquire @{name}({port}{count}) : {', '.join([type] * count)}"


STREAM = "prod_port = #aie.end_port<Core : 0>"
TO_STREAM = "dimensionsToStream [<size = 4, stride = 1>]"
FROM_STREAM = "dimensionsFromStream [<size = 4, stride = 1>]"

# The fifo, its error and whether that has no op's name in front.
FIFOS: list[tuple[str, str, str, bool]] = [
    (
        "too few depths",
        fifo(depth="[2, 2]", ends="%m, {%t, %s}"),
        "does not have enough depths specified for producer and for each consumer.",
        False,
    ),
    (
        "ports",
        fifo("cons_ports = [#aie.end_port<DMA>]", "%m, {%t, %s}"),
        "`cons_ports` has 1 entries for 2 consumers",
        False,
    ),
    ("no producer tile", fifo(ends="%x, {%t}"), "producer tile must implement TileLike interface", True),
    ("no consumer tile", fifo(ends="%m, {%t, %x}"), "consumer tile must implement TileLike interface", True),
    (
        "layout of a shim producer",
        fifo(ends=f"%s {TO_STREAM}, {{%t}}"),
        "`dimensionsToStream` data layout transformations are not supported on shim tile producers",
        True,
    ),
    (
        "layout of a shim consumer",
        fifo(ends=f"%t, {{%m, %s {FROM_STREAM}}}"),
        "`dimensionsFromStreamPerConsumer` data layout transformations are not supported on shim tile consumers",
        True,
    ),
    ("repeat of a shim", fifo("repeat_count = 2 : i32", "%s, {%t}"), "`repeat_count` unavailable for shim tiles", True),
    ("pad value alone", fifo("padValue = 3 : i32"), "`padValue` requires `padDimensions`", True),
    (
        "stream to two",
        fifo(STREAM, "%t, {%m, %s}"),
        "a Core stream port end can only be used in 1-to-1 object FIFOs",
        True,
    ),
    (
        "stream through memory",
        fifo(f"{STREAM}, transport = #aie.transport<shared_mem>", "%t, {%n}"),
        "a Core stream port end sends over the stream, not through shared memory",
        True,
    ),
    (
        "stream of a shim",
        fifo(STREAM, "%s, {%t}"),
        "a Core stream port end is not available for shim and mem tiles",
        True,
    ),
    (
        "stream into a memory tile",
        fifo("cons_ports = [#aie.end_port<Core : 0>]", "%t, {%m}"),
        "a Core stream port end is not available for shim and mem tiles",
        True,
    ),
    (
        "stream, repeat",
        fifo(f"{STREAM}, repeat_count = 2 : i32", "%t, {%n}"),
        "`repeat_count` unavailable on stream end",
        True,
    ),
    (
        "stream, values",
        fifo(STREAM, "%t, {%n}", "1 : i32", tail=f" = [dense<0> : {TYPE}]"),
        "`init_values` unavailable on stream end",
        True,
    ),
    (
        "stream, iterations",
        fifo(f"{STREAM}, iter_count = 2 : i32", "%t, {%n}"),
        "`iter_count` unavailable on stream end",
        True,
    ),
    (
        "stream, layout",
        fifo(STREAM, f"%t {TO_STREAM}, {{%n}}"),
        "`dimensionsToStream` data layout transformations are unavailable on stream end",
        True,
    ),
    (
        "stream, layout at the other end",
        fifo(STREAM, f"%t, {{%n {FROM_STREAM}}}"),
        "`dimensionsFromStreamPerConsumer` data layout transformations are unavailable on stream end",
        True,
    ),
    (
        "values of a shim",
        fifo(ends="%s, {%t}", depth="1 : i32", tail=f" = [dense<0> : {TYPE}]"),
        "`init_values` unavailable for shim tiles",
        True,
    ),
    (
        "iterations",
        fifo("iter_count = 257 : i32"),
        "`iter_count` must be between 1 and 256",
        True,
    ),
    (
        "repeat of nothing",
        fifo("repeat_count = 0 : i32"),
        "attribute 'repeat_count' failed to satisfy constraint: 32-bit signless integer attribute whose minimum "
        "value is 1",
        False,
    ),
    (
        "repeat and iteration by descriptors",
        fifo("repeat_count = 2 : i32, iterate_bds"),
        "`repeat_count` cannot be combined with `iterate_bds`",
        True,
    ),
    (
        "consumer type",
        fifo(tail=" -> memref<4xi32>"),
        "consumer element type must be an !aie.objectfifo<memref<...>> type",
        True,
    ),
    (
        "consumer scalar",
        fifo(tail=" -> !aie.objectfifo<memref<4xf32>>"),
        "producer and consumer must have the same scalar element type, but got 'i32' vs 'f32'",
        True,
    ),
    (
        "consumer count",
        fifo(tail=" -> !aie.objectfifo<memref<0xi32>>"),
        "consumer element count must be positive",
        True,
    ),
    (
        "consumer multiple",
        fifo(tail=" -> !aie.objectfifo<memref<5xi32>>"),
        "producer element size (16) must be an integer multiple of consumer element size (5)",
        True,
    ),
    (
        "depth without a type",
        fifo(depth="2"),
        "attribute 'elemNumber' failed to satisfy constraint: 32-bit signless integer attribute whose minimum "
        "value is 0 or "
        "integer array attribute",
        False,
    ),
    (
        "contradicting older keys",
        fifo("aie_stream = 0 : i32, aie_stream_port = 0 : i32, prod_dma_channel = 0 : i32", "%t, {%n}"),
        "`aie_stream` has been replaced; write prod_port = #aie.end_port<Core : 0> or cons_ports = "
        "[#aie.end_port<Core : 0>]",
        False,
    ),
    (
        "an older port without a stream",
        fifo("aie_stream_port = 0 : i32", "%t, {%n}"),
        "`aie_stream_port` has been replaced; write prod_port = #aie.end_port<Core : 0> or cons_ports = "
        "[#aie.end_port<Core : 0>]",
        False,
    ),
    (
        "an older packet id without a packet",
        fifo("packet_id = 3 : i8"),
        "`packet_id` has been replaced; write transport = #aie.transport<dma, packet = #aie.packet_info<pkt_id = 3>>",
        False,
    ),
    (
        "an older key beside today's",
        fifo("via_DMA = true, transport = #aie.transport<auto>"),
        "`via_DMA` has been replaced; write transport = #aie.transport<dma>",
        False,
    ),
    (
        "an older packet beside today's",
        fifo("packet, transport = #aie.transport<auto>"),
        "`packet` has been replaced; write transport = #aie.transport<dma, packet = #aie.packet_info<>>",
        False,
    ),
    (
        "an older channel beside today's",
        fifo("prod_dma_channel = 1 : i32, prod_port = #aie.end_port<DMA : 0>"),
        "`prod_dma_channel` has been replaced; write prod_port = #aie.end_port<DMA : 1>",
        False,
    ),
    (
        "older channels beside today's",
        fifo("cons_dma_channels = array<i32: 1>, cons_ports = [#aie.end_port<DMA : 0>]"),
        "`cons_dma_channels` has been replaced; write cons_ports = [#aie.end_port<DMA : 1>]",
        False,
    ),
]
MORE = "%n = aie.tile(0, 3)\n%x = aie.plio(1)\n"


@pytest.mark.parametrize(("name", "body", "expected", "bare"), FIFOS, ids=[e[0] for e in FIFOS])
def test_fifo(name: str, body: str, expected: str, bare: bool) -> None:
    assert complaint(MORE + body) == Said(3, expected if bare else f"'aie.objectfifo' op {expected}")


def test_generic_values_of_another_number() -> None:
    body = fifo(depth="2 : i32", tail=f" = [dense<0> : {TYPE}, dense<1> : {TYPE}]")
    assert complaints(body) == []
    generic = (
        '"aie.objectfifo"(%m, %t) <{sym_name = "of", elemNumber = 2 : i32, elemType = ' + OF + ", "
        f"initValues = [dense<0> : {TYPE}], dimensionsToStream = #aie<bd_dim_layout_array[]>, "
        "dimensionsFromStreamPerConsumer = #aie<bd_dim_layout_array_array[[]]>}> : (index, index) -> ()"
    )
    assert complaint(generic) == Said(1, "`init_values` does not initialize all objects")


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("dense<0> : memref<16xi32>", True),
        ("dense<0> : tensor<16xi32>", True),
        ("dense<0> : memref<4x4xi32>", True),
        ("dense<0> : memref<8xi32>", False),
        ("dense<0> : memref<17xi32>", False),
        ("dense<0> : memref<16xi16>", False),
        ("dense<0> : memref<16xf32>", False),
        ("dense<0> : memref<16xui32>", False),
    ],
)
def test_values_of_another_type(value: str, good: bool) -> None:
    """A buffer as well as a fifo: the elements are copied as they are."""
    type = value.partition(" : ")[2]
    body = fifo(depth="1 : i32", tail=f" = [{value}]")
    told = f"initial value of type '{type}' does not fit objects of type '{TYPE}'"
    assert complaints(body) == ([] if good else [Said(1, f"'aie.objectfifo' op {told}")])
    buffer = f"aie.buffer(%t) {{initial_value = {value}}} : {TYPE}"
    told = f"initial value of type '{type}' does not fit its type '{TYPE}'"
    assert complaints(buffer) == ([] if good else [Said(1, f"'aie.buffer' op {told}")])


def test_pad_value_of_older_devices() -> None:
    pads = "#aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 0>]>"
    body = fifo(f"padValue = 3 : i32, padDimensions = {pads}")
    assert complaints(body) == []
    assert complaint(body, "npu1") == Said(
        1, "`padValue` requires the CONSTANT_PAD_VALUE register, unavailable on this target"
    )


def test_a_fifo_stands_in_a_device() -> None:
    body = "aie.runtime_sequence() {\n" + fifo() + "\n}"
    assert complaint(body) == Said(2, "'aie.objectfifo' op expects parent op 'aie.device'")


# --- allocate, register -----------------------------------------------------------------------------------------------

ALLOCATIONS = [
    ("", "cannot retrieve associated object FIFO"),
    (fifo(ends="%n, {%t, %m}"), "can only be used in 1-to-1 object FIFOs"),
    (
        fifo("transport = #aie.transport<dma>", "%n, {%t}"),
        "cannot allocate a shared memory module to objectfifo that asks for a dma transport",
    ),
    (
        fifo("repeat_count = 2 : i32", "%n, {%t}"),
        "cannot allocate a shared memory module to objectfifo with set `repeat_count` attribute",
    ),
    (
        fifo(ends=f"%n {TO_STREAM}, {{%t}}"),
        "cannot allocate a shared memory module to objectfifo with set dimensions attribute",
    ),
    (fifo(STREAM, "%n, {%t}"), "cannot allocate a shared memory module to objectfifo using stream port"),
]


@pytest.mark.parametrize(("body", "expected"), ALLOCATIONS)
def test_allocate(body: str, expected: str) -> None:
    found = complaint(f"{MORE}{body}\naie.objectfifo.allocate @of(%t)")
    assert (found.line, found.text) == (4, expected)


def test_allocate_twice() -> None:
    body = MORE + fifo(ends="%n, {%t}") + "\naie.objectfifo.allocate @of(%t)\naie.objectfifo.allocate @of(%n)"
    assert complaint(body) == Said(5, "'aie.objectfifo.allocate' op objectfifo @of already has an allocate operation")


def test_external_buffers_of_a_core() -> None:
    body = (
        "%e = aie.external_buffer : memref<4xi32>\n"
        "aie.objectfifo.register_external_buffers @of(%t, {%e}) : (memref<4xi32>)"
    )
    assert complaint(body) == Said(
        2,
        "'aie.objectfifo.register_external_buffers' op failed to verify that op exists in a shim tile with NOC "
        "connection",
    )


# --- links ------------------------------------------------------------------------------------------------------------

SMALL, LARGE = "!aie.objectfifo<memref<8xi32>>", OF
JOIN = (
    fifo(name="a", ends="%t, {%m}", type=SMALL)
    + "\n"
    + fifo(name="b", ends="%n, {%m}", type=SMALL)
    + "\n"
    + fifo(name="c", ends="%m, {%s}")
)
SPLIT = (
    fifo(name="c", ends="%s, {%m}")
    + "\n"
    + fifo(name="a", ends="%m, {%t}", type=SMALL)
    + "\n"
    + fifo(name="b", ends="%m, {%n}", type=SMALL)
)
ONE = fifo(name="a", ends="%t, {%m}") + "\n" + fifo(name="b", ends="%m, {%n}") + "\n" + fifo(name="c", ends="%s, {%n}")
TIME = " {mode = #aie.link_mode<time>}"
PACKET = "transport = #aie.transport<dma, packet = #aie.packet_info<pkt_id = {}>>"

LINKS: list[tuple[str, str, str, bool]] = [
    (
        "both ways",
        JOIN + "\naie.objectfifo.link [@a, @b] -> [@c, @c]([] [])",
        "ObjectFifoLinkOp does not support 'join' and 'distribute' at the same time",
        True,
    ),
    (
        "no such fifo",
        JOIN + "\naie.objectfifo.link [@x] -> [@c]([] [])",
        "cannot retrieve associated object FIFO",
        True,
    ),
    (
        "no shared tile",
        ONE + "\naie.objectfifo.link [@a] -> [@c]([] [])",
        "ObjectFifoLinkOp must have a link point, i.e., a shared tile between objectFifos",
        True,
    ),
    (
        "join elsewhere",
        JOIN.replace("%n, {%m}", "%n, {%t}") + "\naie.objectfifo.link [@a, @b] -> [@c]([0, 8] [])",
        "ObjectFifoLinkOp must have a link point, i.e., a shared tile between objectFifos",
        True,
    ),
    (
        "join on a shim",
        JOIN.replace("{%m}", "{%s}").replace("%m, {%s}", "%s, {%t}")
        + "\naie.objectfifo.link [@a, @b] -> [@c]([0, 8] [])",
        "ObjectFifoLinkOp join and distribute are unavailable on shim tiles",
        True,
    ),
    (
        "join offsets",
        JOIN + "\naie.objectfifo.link [@a, @b] -> [@c]([0] [])",
        "number of provided src offsets must be equal to the number of input objectFifos",
        False,
    ),
    (
        "join, offsets of the other kind",
        JOIN + "\naie.objectfifo.link [@a, @b] -> [@c]([0, 8] [0])",
        "dst offsets should be empty for join",
        False,
    ),
    (
        "join, layout beyond a part",
        JOIN.replace("@c(%m,", "@c(%m dimensionsToStream [<size = 2, stride = 8>],")
        + "\naie.objectfifo.link [@a, @b] -> [@c]([0, 8] [])",
        "specified output stride(s) and size(s) result in out of bounds access in join input, for index 8 in "
        "transfer of "
        "length 8.",
        False,
    ),
    (
        "split offsets",
        SPLIT + "\naie.objectfifo.link [@c] -> [@a, @b]([] [])",
        "number of provided dst offsets must be equal to the number of output objectFifos",
        False,
    ),
    (
        "split, offsets of the other kind",
        SPLIT + "\naie.objectfifo.link [@c] -> [@a, @b]([0] [0, 8])",
        "src offsets should be empty for distribute",
        False,
    ),
    (
        "split, layout beyond a part",
        SPLIT.replace("{%m}", "{%m dimensionsFromStream [<size = 3, stride = 3>]}")
        + "\naie.objectfifo.link [@c] -> [@a, @b]([] [0, 12])",
        "specified input stride(s) and size(s) result in out of bounds access in distribute output, for index 6 "
        "in transfer "
        "of length 4.",
        False,
    ),
    (
        "split, repeats",
        SPLIT.replace("{%t}, 2 : i32)", "{%t}, 2 : i32) {repeat_count = 2 : i32}")
        + "\naie.objectfifo.link [@c] -> [@a, @b]([] [0, 8])",
        "repeat counts of output object FIFOs must be equal",
        True,
    ),
    (
        "one to one, offsets",
        ONE + "\naie.objectfifo.link [@a] -> [@b]([0] [0])",
        "all offsets should be empty if there is no join or distribute",
        False,
    ),
    (
        "time, both ways",
        JOIN + f"\naie.objectfifo.link [@a, @b] -> [@c, @c]([] []){TIME}",
        "a time link merges or dispatches, not both",
        False,
    ),
    (
        "time, one to one",
        ONE + f"\naie.objectfifo.link [@a] -> [@b]([] []){TIME}",
        "a time link takes turns, so it needs several inputs or several outputs",
        False,
    ),
    (
        "time, offsets",
        JOIN + f"\naie.objectfifo.link [@a, @b] -> [@c]([0, 8] []){TIME}",
        "a time link moves whole objects and takes no offsets",
        False,
    ),
    (
        "time, types",
        JOIN + f"\naie.objectfifo.link [@a, @b] -> [@c]([] []){TIME}",
        "a time link's participants carry one object type, but 'c' carries 'memref<16xi32>' and 'a' carries "
        "'memref<8xi32>'",
        False,
    ),
    (
        "time, a turn for two",
        SPLIT.replace("<8x", "<16x").replace("%m, {%t}", "%m, {%t, %s}")
        + f"\naie.objectfifo.link [@c] -> [@a, @b]([] []){TIME}",
        "each turn of a dispatch reaches one consumer, but 'a' has 2",
        False,
    ),
    (
        "time, two headers",
        JOIN.replace("<8x", "<16x")
        .replace("@a(%t, {%m}, 2 : i32)", f"@a(%t, {{%m}}, 2 : i32) {{{PACKET.format(1)}}}")
        .replace("@b(%n, {%m}, 2 : i32)", f"@b(%n, {{%m}}, 2 : i32) {{{PACKET.format(2)}}}")
        + f"\naie.objectfifo.link [@a, @b] -> [@c]([] []){TIME}",
        "a merge is one route with one header, but its inputs pin different ones",
        False,
    ),
    (
        "time, on a shim",
        JOIN.replace("<8x", "<16x").replace("{%m}", "{%s}").replace("%m, {%s}", "%s, {%t}")
        + f"\naie.objectfifo.link [@a, @b] -> [@c]([] []){TIME}",
        "a time link holds its objects on the link point, which a shim tile has no memory for",
        False,
    ),
]


@pytest.mark.parametrize(("name", "body", "expected", "bare"), LINKS, ids=[e[0] for e in LINKS])
def test_link(name: str, body: str, expected: str, bare: bool) -> None:
    assert complaint(MORE + body) == Said(6, expected if bare else f"'aie.objectfifo.link' op {expected}")


def test_a_fifo_in_two_links() -> None:
    body = MORE + ONE + "\naie.objectfifo.link [@a] -> [@b]([] [])\naie.objectfifo.link [@a] -> [@b]([] [])"
    assert complaint(body) == Said(3, "'aie.objectfifo' op objectfifo cannot be in more than one ObjectFifoLinkOp")


def test_links_of_the_first_architecture() -> None:
    body = """
    %a = aie.tile(1, 2)
    %b = aie.tile(2, 2)
    aie.objectfifo @i(%t, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @j(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<8xi32>>
    aie.objectfifo @k(%a, {%t}, 2 : i32) : !aie.objectfifo<memref<8xi32>>
    aie.objectfifo.link [@i] -> [@j, @k]([] [0, 8])
    """
    assert complaint(body, "xcvc1902") == Said(
        6, "ObjectFifoLinkOp join and distribute require semaphore locks, which this device lacks"
    )


GOOD = [
    JOIN + "\naie.objectfifo.link [@a, @b] -> [@c]([0, 8] [])",
    SPLIT + "\naie.objectfifo.link [@c] -> [@a, @b]([] [0, 8])",
    ONE + "\naie.objectfifo.link [@a] -> [@b]([] [])",
    ONE + "\naie.objectfifo.link [@a] -> [@b]([0] [])",
    JOIN.replace("<8x", "<16x") + f"\naie.objectfifo.link [@a, @b] -> [@c]([] []){TIME}",
    fifo(STREAM + ", cons_ports = [#aie.end_port<Core : 1>]", "%t, {%n}"),
    fifo("iter_count = 256 : i32, repeat_count = 1 : i32"),
    fifo(tail=" -> !aie.objectfifo<memref<4xi32>>"),
    fifo(ends="%n, {%t}") + "\naie.objectfifo.allocate @of(%n)",
    fifo(depth="[1, 2, 3]", ends="%m, {%t, %n}"),
]


@pytest.mark.parametrize("body", GOOD)
def test_good(body: str) -> None:
    assert complaints(MORE + body) == []


# --- acquire, release -------------------------------------------------------------------------------------------------

F = fifo(depth="[2, 3]") + "\n"
POOL = f"""\
aie.objectfifo.pool @p(%t) {{depth = 2 : i32}} : {TYPE} {{
aie.objectfifo.segment @a {{offset = 0 : i32, size = 4 : i32}}
aie.objectfifo.segment @b {{offset = 4 : i32, size = 12 : i32}}
}}
"""
END = POOL + "aie.objectfifo.core_endpoint @of(%t) drains @p {segments = [@a, @b]}\n"

ACCESSES: list[tuple[str, str, Said]] = [
    (
        "outside a core",
        F + f"func.func @f() {{\n{acquire()}\nreturn\n}}",
        Said(3, "'aie.objectfifo.acquire' op must be called from inside a CoreOp"),
    ),
    (
        "release outside a core",
        F + "func.func @f() {\naie.objectfifo.release @of(Consume, 1)\nreturn\n}",
        Said(3, "'aie.objectfifo.release' op must be called from inside a CoreOp"),
    ),
    ("of nothing", F + core(acquire(name="x")), Said(3, "cannot retrieve associated object FIFO")),
    (
        "release of nothing",
        F + core("aie.objectfifo.release @x(Consume, 1)"),
        Said(3, "cannot retrieve associated object FIFO"),
    ),
    (
        "no port",
        F + core(acquire("")),
        Said(3, "'aie.objectfifo.acquire' op port is required when accessing an objectFifo"),
    ),
    (
        "port of an endpoint",
        END + core(acquire()),
        Said(7, "'aie.objectfifo.acquire' op port is implied by the endpoint's role"),
    ),
    (
        "another core's endpoint",
        END.replace("@of(%t)", "@of(%n)") + core(acquire("")),
        Said(6, "'aie.core' op objectFifo endpoint accessed by core running on another tile"),
    ),
    (
        "not the producer",
        F + core(acquire("Produce, ")),
        Said(2, "'aie.core' op producer port of objectFifo accessed by core running on non-producer tile"),
    ),
    (
        "not a consumer",
        F + core(acquire(), "%n"),
        Said(2, "'aie.core' op consumer port of objectFifo accessed by core running on non-consumer tile"),
    ),
    (
        "more than there are",
        F + core(acquire(count=4)),
        Said(3, "'aie.objectfifo.acquire' op acquires 4 objects from an objectFifo that holds 3"),
    ),
    (
        "more than a producer has",
        fifo(ends="%t, {%m}", depth="[1, 5]") + "\n" + core(acquire("Produce, ", 2)),
        Said(3, "'aie.objectfifo.acquire' op acquires 2 objects from an objectFifo that holds 1"),
    ),
    (
        "more than a pool has",
        END + core(acquire("", 3)),
        Said(7, "'aie.objectfifo.acquire' op acquires 3 objects from a pool of 2"),
    ),
    (
        "another type",
        F + core(acquire(type="memref<4xi32>")),
        Said(
            3,
            "'aie.objectfifo.acquire' op acquired object type 'memref<4xi32>' does not match the objectFifo's "
            "'memref<16xi32>'",
        ),
    ),
    (
        "another type than the endpoint's segments",
        END.replace("[@a, @b]", "[@b]") + core(acquire("")),
        Said(
            7,
            "'aie.objectfifo.acquire' op acquired object type 'memref<16xi32>' does not match the objectFifo's "
            "'memref<12xi32, strided<[1], offset: 4>>'",
        ),
    ),
    (
        "release of no objects",
        F + core("aie.objectfifo.release @of(Consume, 0)"),
        Said(
            3,
            "'aie.objectfifo.release' op attribute 'size' failed to satisfy constraint: 32-bit signless integer "
            "attribute "
            "whose minimum value is 1",
        ),
    ),
    (
        "acquire of no objects",
        F + core('"aie.objectfifo.acquire"() <{objFifo_name = @of, port = 1 : i32}> : () -> ()'),
        Said(3, "'aie.objectfifo.acquire' op must acquire at least one object"),
    ),
    (
        "a stream port",
        fifo("cons_ports = [#aie.end_port<Core : 0>]", "%n, {%t}") + "\n" + core(acquire()),
        Said(3, "'aie.objectfifo.acquire' op cannot acquire from objectfifo stream port"),
    ),
    (
        "release of a stream port",
        fifo(STREAM, "%t, {%n}") + "\n" + core("aie.objectfifo.release @of(Produce, 1)"),
        Said(3, "'aie.objectfifo.release' op cannot release from objectfifo stream port"),
    ),
    (
        "subview out of range",
        F
        + core(
            f"%v = aie.objectfifo.acquire @of(Consume, 2) : !aie.objectfifosubview<{TYPE}>\n"
            f"%o = aie.objectfifo.subview.access %v[2] : !aie.objectfifosubview<{TYPE}> -> {TYPE}"
        ),
        Said(
            4,
            "'aie.objectfifo.subview.access' op accessed farther than number of acquired elements (index out of "
            "bounds).",
        ),
    ),
    (
        "subview of another type",
        F
        + core(
            "%v = aie.objectfifo.acquire @of(Consume, 2) : !aie.objectfifosubview<memref<4xi32>>\n"
            "%o = aie.objectfifo.subview.access %v[2] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>"
        ),
        Said(3, "'aie.objectfifo.acquire' op ObjectFifo element and ObjectFifoSubview element must match."),
    ),
    (
        "subview that took a detour",
        F
        + core(
            "%y = arith.constant true\n"
            f"%v = aie.objectfifo.acquire @of(Consume, 2) : !aie.objectfifosubview<{TYPE}>\n"
            f"%w = scf.if %y -> (!aie.objectfifosubview<{TYPE}>) {{\nscf.yield %v : !aie.objectfifosubview<{TYPE}>\n"
            f"}} else {{\nscf.yield %v : !aie.objectfifosubview<{TYPE}>\n}}\n"
            f"%o = aie.objectfifo.subview.access %w[0] : !aie.objectfifosubview<{TYPE}> -> {TYPE}"
        ),
        Said(
            10,
            "'aie.objectfifo.subview.access' op subview operand must be the direct result of an "
            "aie.objectfifo.acquire; "
            "flowing the subview through scf.yield / iter_args / region results is not supported",
        ),
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), ACCESSES, ids=[e[0] for e in ACCESSES])
def test_access(name: str, body: str, expected: Said) -> None:
    lines = Said(expected.line + 1, expected.text, expected.notes)
    assert complaint("%n = aie.tile(0, 3)\n" + body) == lines


GOOD_ACCESSES = [
    F + core(acquire(count=3) + "\naie.objectfifo.release @of(Consume, 3)"),
    fifo(ends="%t, {%m}", tail=" -> !aie.objectfifo<memref<4xi32>>") + "\n" + core(acquire("Produce, ")),
    fifo(ends="%m, {%t}", tail=" -> !aie.objectfifo<memref<4xi32>>") + "\n" + core(acquire(type="memref<4xi32>")),
    END + core(acquire("", 2)),
    END.replace("[@a, @b]", "[@a]") + core(acquire("", type="memref<4xi32>")),
]


@pytest.mark.parametrize("body", GOOD_ACCESSES)
def test_good_access(body: str) -> None:
    assert complaints(body) == []
