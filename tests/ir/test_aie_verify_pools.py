"""What the verifier says of pools, endpoints, routes, shim allocations and re-arm bindings."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints

TYPE = "memref<16xi32>"
HALVES = """\
aie.objectfifo.segment @a {offset = 0 : i32, size = 8 : i32}
aie.objectfifo.segment @b {offset = 8 : i32, size = 8 : i32}"""
WHOLE = "aie.objectfifo.segment @a {offset = 0 : i32, size = 16 : i32}"
TWO = "#aie<bd_dim_layout_array_array[[<size = 4, stride = 2>], []]>"


def pool(attributes: str = "", segments: str = WHOLE, tile: str = "%t", name: str = "p") -> str:
    more = f", {attributes}" if attributes else ""
    return f"aie.objectfifo.pool @{name}({tile}) {{depth = 2 : i32{more}}} : {TYPE} {{\n{segments}\n}}\n"


def end(
    attributes: str = "", kind: str = "dma", role: str = "drains", name: str = "e", tile: str = "%t", of: str = "p"
) -> str:
    shown = f" {{{attributes}}}" if attributes else ""
    return f"aie.objectfifo.{kind}_endpoint @{name}({tile}) {role} @{of}{shown}"


POOLS = [
    (
        "locks of another architecture",
        pool("locks = [@l, @l]"),
        "'locks' names binary locks, which this device has no use for",
    ),
    ("buffers", pool("buffers = [@b]"), "expects 'depth' buffers"),
    (
        "values",
        pool("initValues = [dense<0> : memref<16xi32>, dense<0> : memref<16xi32>, dense<0> : memref<16xi32>]"),
        "has more 'init_values' than 'depth' objects",
    ),
    ("no segment", pool(segments=""), "expects at least one segment"),
    (
        "order",
        pool(
            segments="\n".join(reversed(HALVES.split("\n")))
            .replace("offset = 8", "offset = 0", 1)
            .replace("size = 8", "size = 16", 1)
        ),
        "segments must be ordered by increasing offset",
    ),
    (
        "coverage",
        pool(segments=WHOLE.replace("16", "12")),
        "segments cover 12 of 16 elements",
    ),
    (
        "iteration and repeat",
        pool("iterateBds, repeatCount = 2 : i32", tile="%m"),
        "iterate_bds cannot be combined with 'repeatCount'",
    ),
    ("iteration elsewhere", pool("iterateBds"), "iterate_bds applies only to a link through a MemTile"),
]


@pytest.mark.parametrize(("name", "body", "expected"), POOLS, ids=[e[0] for e in POOLS])
def test_pool(name: str, body: str, expected: str) -> None:
    assert complaint(body) == Said(1, f"'aie.objectfifo.pool' op {expected}")


@pytest.mark.parametrize("offset", [4, 9])
def test_gaps_and_overlaps(offset: int) -> None:
    body = pool(segments=HALVES.replace("offset = 8", f"offset = {offset}"))
    assert complaint(body) == Said(
        3,
        "'aie.objectfifo.segment' op leaves a gap or overlaps the segment before it; segments must tile the object",
    )


def test_pools_of_the_first_architecture() -> None:
    def say(body: str) -> str:
        return complaint(body, "xcvc1902").text.removeprefix("'aie.objectfifo.pool' op ")

    assert say(pool("locks = [@l]")) == "expects one lock per buffer"
    assert say(pool(segments=WHOLE.replace("{", "{produceLock = @l, "))) == (
        "segment locks are counting locks, which this device has no use for"
    )
    assert say(pool(segments=HALVES)) == "multi-segment pools are unsupported on binary lock architectures"
    assert complaints(pool("locks = [@l, @k]"), "xcvc1902") == []


def test_segments_stand_in_pools() -> None:
    assert complaint(WHOLE) == Said(1, "'aie.objectfifo.segment' op expects parent op 'aie.objectfifo.pool'")


def test_segments_of_one_name() -> None:
    body = pool(segments=HALVES.replace("@b", "@a"))
    assert complaint(body) == Said(3, "redefinition of symbol named 'a'", ((2, "see existing symbol definition here"),))


ENDPOINTS = [
    ("no pool", end(of="x"), "references undefined pool 'x'"),
    ("segments unsaid", end(of="q"), "must list segments explicitly for a multi-segment pool"),
    ("no segments", end("segments = []", of="q"), "expects at least one segment"),
    ("no such segment", end("segments = [@a, @x]", of="q"), "references undefined segment 'x' in pool 'q'"),
    ("segment order", end("segments = [@b, @a]", of="q"), "segments must be named in increasing offset order"),
    ("segment twice", end("segments = [@a, @a]", of="q"), "segments must be named in increasing offset order"),
    ("segment index", end("segments = array<i32: 2>", of="q"), "segment index 2 out of range"),
    (
        "open packet",
        end("packet = #aie.packet_info<>"),
        "packet has no pkt_id; allocation assigns one, so a header at this level must carry it",
    ),
    ("dispatch in", end("dispatch = [@x]", role="fills"), "only a draining endpoint can dispatch"),
    ("dispatch to nobody", end("dispatch = []"), "dispatch names no destination"),
    (
        "dispatch with one header",
        end("dispatch = [@x], packet = #aie.packet_info<pkt_id = 1>"),
        "a dispatching endpoint carries a header per turn in `dispatchPackets`, not one `packet`",
    ),
    ("dispatch of repeats", end("dispatch = [@x]", of="r"), "cannot dispatch a pool that repeats its objects"),
    (
        "dispatch rounds",
        end("dispatch = [@x, @y, @z], iterCount = 4 : i32"),
        "iterCount 4 is not a whole number of dispatch rounds (3 passes over the pool)",
    ),
    (
        "dispatch headers",
        end("dispatch = [@x, @y], dispatchPackets = [#aie.packet_info<pkt_id = 1>]"),
        "dispatchPackets needs one header per dispatch turn",
    ),
    (
        "open dispatch header",
        end("dispatch = [@x], dispatchPackets = [#aie.packet_info<>]"),
        "dispatchPackets has no pkt_id; allocation assigns one, so a header at this level must carry it",
    ),
    ("dimensions", end(f"dimensions = {TWO}"), "dimensions has 2 entries for 1 selected segments"),
    (
        "padding",
        end("padDimensions = #aie<bd_pad_layout_array_array[[], []]>"),
        "padDimensions has 2 entries for 1 selected segments",
    ),
    (
        "padding in",
        end("padDimensions = #aie<bd_pad_layout_array_array[[]]>", role="fills"),
        "padDimensions is only valid on a draining endpoint",
    ),
    ("pad value alone", end("padValue = 1 : i32"), "nonzero padValue requires a non-empty padDimensions entry"),
    (
        "padding of nothing",
        end("padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 1, const_pad_after = 0>]]>"),
        "padDimensions entry 0 requires dimensions for the same segment",
    ),
    (
        "padding of another rank",
        end(
            "dimensions = #aie<bd_dim_layout_array_array[[<size = 2, stride = 2>, <size = 2, stride = 1>]]>, "
            "padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 1, const_pad_after = 0>]]>"
        ),
        "dimensions and padDimensions entry 0 have different ranks",
    ),
    (
        "dimensions beyond their segment",
        end("segments = [@a, @b], dimensions = #aie<bd_dim_layout_array_array[[], [<size = 5, stride = 2>]]>", of="q"),
        "dimensions entry 1 exceeds selected segment 'b' of size 8",
    ),
    (
        "packet of an iterating pool",
        end("packet = #aie.packet_info<pkt_id = 1>", of="i", tile="%m"),
        "packet header cannot be combined with a pool using iterate_bds",
    ),
    ("turns without itself", end("turns = [@x]"), "turns must name the endpoint itself"),
    (
        "turns and dispatch",
        end("turns = [@e], dispatch = [@x]"),
        "an endpoint that takes turns cannot also dispatch",
    ),
    (
        "turns and packets",
        end("turns = [@e], packet = #aie.packet_info<pkt_id = 1>"),
        "an endpoint that takes turns carries no packet header of its own",
    ),
    (
        "turns and an end",
        end("turns = [@e], iterCount = 2 : i32"),
        "an endpoint that takes turns cannot have an iterCount",
    ),
    (
        "turns and repeats",
        end("turns = [@e]", of="r"),
        "an endpoint that takes turns cannot drain a pool that repeats its objects",
    ),
    ("turns of nobody", end("turns = [@e, @x]"), "turns names 'x', which is not a DMA endpoint"),
    ("turns of a core", end("turns = [@e, @k]"), "turns names 'k', which is not a DMA endpoint"),
    ("turns elsewhere", end("turns = [@e, @far]"), "turns names 'far', which is on another channel"),
    ("turns unanswered", end("turns = [@e, @near]"), "turns names 'near', which does not list the same turns"),
]
AROUND = (
    pool()
    + pool(segments=HALVES, name="q")
    + pool("repeatCount = 2 : i32", name="r")
    + pool("iterateBds", tile="%m", name="i")
    + end(kind="core", name="k")
    + "\n"
    + end(name="far", tile="%m")
    + "\n"
    + end(name="near")
    + "\n"
)
AFTER = AROUND.count("\n") + 1


@pytest.mark.parametrize(("name", "body", "expected"), ENDPOINTS, ids=[e[0] for e in ENDPOINTS])
def test_dma_endpoint(name: str, body: str, expected: str) -> None:
    assert complaint(AROUND + body) == Said(AFTER, f"'aie.objectfifo.dma_endpoint' op {expected}")


CORE_ENDPOINTS = [
    (end(kind="core", of="x"), "references undefined pool 'x'"),
    (end(kind="core", of="q"), "must list segments explicitly for a multi-segment pool"),
    (end("segments = []", "core", of="q"), "expects at least one segment"),
    (end("segments = [@x]", "core", of="q"), "references undefined segment 'x' in pool 'q'"),
    (end("segments = [@b, @a]", "core", of="q"), "segments must be named in increasing offset order"),
    (
        end(kind="core", of="i"),
        "cannot access pool 'i': its iterate_bds objects are addressed only by a DMA",
    ),
]


@pytest.mark.parametrize(("body", "expected"), CORE_ENDPOINTS)
def test_core_endpoint(body: str, expected: str) -> None:
    assert complaint(AROUND + body) == Said(AFTER, f"'aie.objectfifo.core_endpoint' op {expected}")


def test_a_core_sees_one_run_of_elements() -> None:
    thirds = "\n".join(
        f"aie.objectfifo.segment @{n} {{offset = {o} : i32, size = {s} : i32}}"
        for n, o, s in (("a", 0, 4), ("b", 4, 4), ("c", 8, 8))
    )
    body = pool(segments=thirds) + end("segments = [@a, @c]", "core")
    assert complaint(body) == Said(6, "'aie.objectfifo.core_endpoint' op a core endpoint's segments must be contiguous")
    assert complaints(pool(segments=thirds) + end("segments = [@b, @c]", "core")) == []


# --- routes -----------------------------------------------------------------------------------------------------------

ROUTES = [
    ("no source", "aie.route from [] to [@e]", "expects at least one source"),
    ("no destination", "aie.route from @e to []", "expects at least one destination"),
    ("no such source", "aie.route from @x to [@e]", "source 'x' is not an endpoint"),
    ("a pool as source", "aie.route from @p to [@e]", "source 'p' is not an endpoint"),
    ("a source twice", "aie.route from [@e, @e] to [@f]", "names '@e' as a source twice"),
    ("no such destination", "aie.route from @e to [@x]", "destination 'x' is not an endpoint"),
    (
        "a circle",
        "aie.route from @e to [@f, @e]",
        "names '@e' more than once; an end is a source or a destination, and only one of each",
    ),
    (
        "a destination twice",
        "aie.route from @e to [@f, @f]",
        "names '@f' more than once; an end is a source or a destination, and only one of each",
    ),
    (
        "merged circuits",
        "aie.route from [@e, @f] to [@g]",
        "has several sources, so it needs a `packet` header; a circuit cannot merge streams",
    ),
]
ENDS = pool() + end() + "\n" + end(name="f") + "\n" + end(name="g") + "\n"


@pytest.mark.parametrize(("name", "body", "expected"), ROUTES, ids=[e[0] for e in ROUTES])
def test_route(name: str, body: str, expected: str) -> None:
    assert complaint(ENDS + body) == Said(ENDS.count("\n") + 1, f"'aie.route' op {expected}")


ROUTE_ENDS = [
    ("aie.route_endpoint @o(%x) DMA", "tile operand is not an aie.tile or aie.logical_tile"),
    (
        "aie.route_endpoint @o(%s) DMA {packet = #aie.packet_info<>}",
        "packet has no pkt_id; allocation assigns one, so a header at this level must carry it",
    ),
    (
        "aie.route_endpoint @o(%s) DMA\naie.route from @e to [@o]\naie.route from @f to [@o]",
        "drives one channel, so at most one flow may name it, but it is named 2 times",
    ),
    ("aie.route_endpoint @o(%s) North", "bundle must be DMA, PLIO or Core"),
    ("aie.route_endpoint @o(%t) PLIO", "a PLIO end is on a shim"),
]


@pytest.mark.parametrize(("body", "expected"), ROUTE_ENDS)
def test_route_endpoint(body: str, expected: str) -> None:
    text = "%x = aie.plio(1)\n" + ENDS + body
    assert complaint(text) == Said(ENDS.count("\n") + 2, f"'aie.route_endpoint' op {expected}")


# --- shim allocations and bindings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tile", "packet", "expected"),
    [
        ("%x", "", "tile operand must implement TileLike interface"),
        ("%m", "", "tile must be a shim tile, but got tile(0, 1)"),
        ("%y", "", "tile must be a shim tile"),
        (
            "%s",
            ", <pkt_type = 1>",
            "packet has no pkt_id; allocation assigns one, so a header at this level must carry it",
        ),
    ],
)
def test_shim_allocation(tile: str, packet: str, expected: str) -> None:
    body = (
        f"%x = aie.plio(1)\n%y = aie.logical_tile<CoreTile>(?, ?)\naie.shim_dma_allocation @a({tile}, MM2S, 0{packet})"
    )
    assert complaint(body) == Said(3, f"'aie.shim_dma_allocation' op {expected}")


def binding(
    tiles: str = "%t : index",
    locks: str = "%l : index",
    dirs: str = ": 0",
    indices: str = ": 0",
    inits: str = ": 1",
    more: str = "",
) -> str:
    return (
        "%l = aie.lock(%t, 0)\n%y = aie.logical_tile<CoreTile>(?, ?)\n"
        f"aie.objectfifo_rearm_binding @b channels({tiles}) locks({locks}) {{channel_dirs = array<i32{dirs}>, "
        f"channel_indices = array<i32{indices}>, lock_inits = array<i32{inits}>{more}}}"
    )


BINDINGS = [
    (binding(dirs=": 0, 1"), "expected one channel_dirs entry per channel tile (1 tiles, 2 dirs)"),
    (binding(indices=""), "expected one channel_indices entry per channel tile (1 tiles, 0 indices)"),
    (binding(inits=""), "expected one lock_inits entry per lock (1 locks, 0 inits)"),
    (
        binding(more=", head_bd_ids = array<i32: 0>"),
        "head_bd_ids and repeat_counts must both be set or both be absent",
    ),
    (
        binding(more=", head_bd_ids = array<i32: 0, 1>, repeat_counts = array<i32: 0>"),
        "expected one head_bd_ids entry per channel tile (1 tiles, 2 ids)",
    ),
    (
        binding(more=", head_bd_ids = array<i32: 0>, repeat_counts = array<i32: 0, 1>"),
        "expected one repeat_counts entry per channel tile (1 tiles, 2 counts)",
    ),
    (binding(dirs=": 2"), "channel_dirs entries must be 0 (S2MM) or 1 (MM2S), got 2"),
    (binding("%y : index"), "channel_tiles operands must be aie.tile values"),
    (
        binding("%s : index"),
        "channel_tiles must be non-shim tiles; a shim DMA endpoint is host-managed and is not re-armed here",
    ),
    (binding(locks="%t : index"), "locks operands must be aie.lock values"),
]


@pytest.mark.parametrize(("body", "expected"), BINDINGS)
def test_binding(body: str, expected: str) -> None:
    assert complaint(body) == Said(3, f"'aie.objectfifo_rearm_binding' op {expected}")


def test_sequences_stand_in_devices() -> None:
    body = "%c = aie.core(%t) {\naie.runtime_sequence() {\n}\naie.end\n}"
    assert complaint(body) == Said(2, "'aie.runtime_sequence' op expects parent op 'aie.device'")


def test_an_access_through_an_endpoint_that_is_wrong_itself() -> None:
    """The endpoint is told, the access that asks for its segments is not."""
    core = f"%k = aie.core(%t) {{\n%o = aie.objectfifo.acquire @c (1) : {TYPE}\naie.end\n}}"
    body = pool() + end("segments = array<i32: 64, 1>", kind="core", name="c") + "\n" + core
    texts = [said.text for said in complaints(body)]
    assert texts == ["'aie.objectfifo.core_endpoint' op segment index 64 out of range"]


GOOD = [
    binding(),
    binding(more=", head_bd_ids = array<i32: 3>, repeat_counts = array<i32: 0>"),
    AROUND + end("dispatch = [@x, @y], iterCount = 3 : i32"),
    AROUND + end("segments = [@a, @b], dimensions = " + TWO, of="q"),
    pool()
    + end("turns = [@e, @f], channelIndex = 1 : i32")
    + "\n"
    + end("turns = [@e, @f], channelIndex = 1 : i32", name="f"),
    ENDS + "aie.route from [@e, @f] to [@g] {packet = #aie.packet_info<>}",
    ENDS + "aie.route_endpoint @o(%s) PLIO\naie.route from @e to [@o, @f]",
    # A channel that the design programs itself may be anywhere.
    "aie.route_endpoint @o(%t) DMA",
    pool("iterateBds", tile="%m"),
    pool("initValues = [dense<0> : memref<16xi32>], buffers = [@a, @b]"),
    "aie.shim_dma_allocation @a(%s, MM2S, 0, <pkt_id = 3>)",
]


@pytest.mark.parametrize("body", GOOD)
def test_good(body: str) -> None:
    assert complaints(body) == []
