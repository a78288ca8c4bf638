"""Split fifos that are incomplete: segments without an actor, endpoints without a route, turns that lead nowhere."""

from __future__ import annotations

import pytest
from passkit import Ran
from splitkit import TILES, design, spoken

from aiecc.ir.passes.fifo_verify import ObjectFifoVerify
from aiecc.ir.verify import verify


def pool(name: str, tile: str = "c02", cuts: tuple[int, ...] = (16,), more: str = "", locks: str = "") -> str:
    parts: list[str] = []
    at = 0
    for i, size in enumerate(cuts):
        parts.append(f"  aie.objectfifo.segment @s{i} {{offset = {at} : i32, size = {size} : i32{locks}}}\n")
        at += size
    keys = f"depth = 2 : i32{more}" if "depth" not in more else more.removeprefix(", ")
    return f"aie.objectfifo.pool @{name}(%{tile}) {{{keys}}} : memref<{at}xi32> {{\n{''.join(parts)}}}\n"


def end(kind: str, name: str, role: str, of: str, tile: str = "c02", more: str = "") -> str:
    return f"aie.objectfifo.{kind}_endpoint @{name}(%{tile}) {role} @{of} {{{more}}}\n"


def said(body: str, target: str = "npu2", tiles: str = TILES) -> list[tuple[int, str]]:
    """What the pass says; lines count within the body. It changes nothing."""
    ran = Ran(design(body, target, tiles))
    assert [d.text for d in verify(ran.module)] == []
    before = ran.text
    ObjectFifoVerify().apply(ran.device, ran.sink)
    assert ran.text == before
    return spoken(ran, tiles)


CORES = end("core", "a", "fills", "p") + end("core", "b", "drains", "p", "c03")
BOTH = (
    pool("p")
    + end("core", "a", "fills", "p")
    + end("dma", "d", "drains", "p")
    + pool("q", "c33")
    + end("dma", "e", "fills", "q", "c33")
    + end("core", "b", "drains", "q", "c33")
)
"""Line 1 to 3 pool p, then a, d, three lines of pool q, e, b."""


def test_a_complete_design_is_silent() -> None:
    assert said(pool("p") + CORES) == []
    assert said(BOTH + "aie.route from @d to [@e]\n") == []
    assert said("") == []


# --- actors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ("", ["segment 0 has no drainer"]),
        (end("core", "a", "fills", "p"), ["segment 0 has no drainer"]),
        (end("core", "a", "drains", "p"), ["segment 0 has no filler"]),
        (CORES + end("core", "c", "fills", "p"), ["segment 0 is filled by more than one endpoint"]),
        (CORES + end("core", "c", "drains", "p"), ["segment 0 is drained by more than one endpoint"]),
    ],
)
def test_every_segment_has_one_filler_and_one_drainer(ends: str, texts: list[str]) -> None:
    assert said(pool("p") + ends) == [(1, f"'aie.objectfifo.pool' op {text}") for text in texts]


def test_segments_are_told_apart() -> None:
    """One drains all of them, but nobody fills the second."""
    body = (
        pool("p", "m0", (16, 20))
        + end("dma", "d", "fills", "p", "m0", "segments = [@s0]")
        + end("dma", "e", "drains", "p", "m0", "segments = [@s0, @s1]")
        + "aie.route_endpoint @x(%s0) DMA {}\naie.route_endpoint @y(%s1) DMA {}\n"
        + "aie.route from @x to [@d]\naie.route from @e to [@y]\n"
    )
    assert said(body) == [(1, "'aie.objectfifo.pool' op segment 1 has no filler")]


def test_the_endpoints_that_meet_are_named() -> None:
    ran = Ran(design(pool("p") + CORES + end("core", "c", "fills", "p")), ObjectFifoVerify())
    lines = [note.where.line - TILES.count("\n") for note in ran.only.notes if note.where]
    assert lines == [4, 6]


@pytest.mark.parametrize("first", [True, False])
def test_objects_that_start_full_need_no_filler(first: bool) -> None:
    """Initial values say so, or the locks of a pool that was written by hand."""
    if first:
        body = pool("p", more=", initValues = [dense<1> : memref<16xi32>]")
    else:
        body = (
            '%x = aie.lock(%c02) {sym_name = "x", init = 0 : i32}\n'
            '%y = aie.lock(%c02) {sym_name = "y", init = 2 : i32}\n'
            + pool("p", locks=", produceLock = @x, consumeLock = @y")
        )
    assert said(body + end("core", "b", "drains", "p")) == []
    assert said(body.replace("init = 2", "init = 0") + end("core", "b", "drains", "p")) == (
        [] if first else [(3, "'aie.objectfifo.pool' op segment 0 has no filler")]
    )


def test_binary_locks_say_so_too() -> None:
    for value, expected in ((1, []), (0, [(3, "'aie.objectfifo.pool' op segment 0 has no filler")])):
        body = (
            f'%x = aie.lock(%c02) {{sym_name = "x", init = {value} : i32}}\n'
            '%y = aie.lock(%c02) {sym_name = "y", init = 0 : i32}\n'
            + pool("p", more=", locks = [@x, @y]")
            + end("core", "b", "drains", "p")
        )
        tiles = "\n  %c02 = aie.tile(2, 2)\n"
        assert said(body, "xcvc1902", tiles) == expected


def test_zeros_around_a_stream_fill_nothing() -> None:
    body = (
        pool("p", "m0", (48,), ", depth = 1 : i32, stream = array<i64: 8, 4, 1>, "
             "initValues = [dense<0> : memref<48xi32>]")
        + end("dma", "e", "drains", "p", "m0")
        + "aie.route_endpoint @y(%s1) DMA {}\naie.route from @e to [@y]\n"
    )  # fmt: skip
    assert said(body) == [(1, "'aie.objectfifo.pool' op segment 0 has no filler")]


@pytest.mark.parametrize(
    ("role", "route", "texts"),
    [
        ("drains", "aie.route from @d to [@y]\n", []),  # the host fills
        ("fills", "aie.route from @y to [@d]\n", []),  # the host drains
        ("", "", ["segment 0 has no drainer"]),  # the host alone moves nothing
    ],
)
def test_the_host_is_an_actor_of_external_buffers(role: str, route: str, texts: list[str]) -> None:
    body = pool("p", "s0", more=", depth = 1 : i32, buffers = [@x]")
    body += '%x = aie.external_buffer {sym_name = "x"} : memref<16xi32>\n'
    if role:
        body += end("dma", "d", role, "p", "s0") + "aie.route_endpoint @y(%c02) Core {channelIndex = 0 : i32}\n" + route
    assert said(body) == [(1, f"'aie.objectfifo.pool' op {text}") for text in texts]


# --- routes -----------------------------------------------------------------------------------------------------------


def test_endpoints_without_a_route() -> None:
    body = BOTH + "aie.route_endpoint @x(%s0) DMA {}\n"
    assert said(body) == [
        (5, "'aie.objectfifo.dma_endpoint' op is not connected by any flow"),
        (9, "'aie.objectfifo.dma_endpoint' op is not connected by any flow"),
        (11, "'aie.route_endpoint' op is not connected by any flow"),
    ]


def test_an_endpoint_of_two_routes() -> None:
    body = BOTH + "aie.route_endpoint @x(%s0) DMA {}\naie.route from @d to [@e]\naie.route from @d to [@x]\n"
    text = "drives one channel, so at most one flow may name it, but it is named 2 times"
    assert said(body) == [(5, f"'aie.objectfifo.dma_endpoint' op {text}")]


def test_a_route_leads_from_drains_to_fills() -> None:
    body = BOTH + "aie.route from @e to [@d]\n"
    rest = "; a route leads from draining endpoints to filling ones"
    assert said(body) == [
        (11, f"'aie.route' op leaves @e, which fills its pool{rest}"),
        (11, f"'aie.route' op reaches @d, which drains its pool{rest}"),
    ]


# --- fan-in -----------------------------------------------------------------------------------------------------------


def fan_in(sizes: tuple[int, int, int], dims: str = "") -> str:
    body = ""
    for name, tile, size, role in zip("pqr", ("c02", "c03", "m0"), sizes, ("drains", "drains", "fills"), strict=True):
        other = "fills" if role == "drains" else "drains"
        more = dims if name == "q" else ""
        body += pool(name, tile, (size,)) + end("dma", f"d{name}", role, name, tile, more)
        if name == "r":
            body += end("dma", "out", "drains", "r", tile)
        else:
            body += end("core", f"c{name}", other, name, tile)
    body += "aie.route_endpoint @x(%s0) DMA {}\naie.route from @out to [@x]\n"
    return body + "aie.route from [@dp, @dq] to [@dr] {packet = #aie.packet_info<pkt_id = 1>}\n"


def test_fan_in() -> None:
    assert said(fan_in((16, 16, 16))) == []
    text = "'aie.route' op fans in, so every end moves one object of the same size, but "
    assert said(fan_in((16, 8, 16))) == [(18, text + "@dp moves 16 elements and @dq moves 8")]
    assert said(fan_in((16, 16, 8))) == [(18, text + "@dp moves 16 elements and @dr moves 8")]


def test_what_an_end_moves_is_what_its_layout_names() -> None:
    layout = "dimensions = #aie<bd_dim_layout_array_array[[<size = 2, stride = 16>, <size = 8, stride = 1>]]>"
    assert said(fan_in((16, 32, 16), layout)) == []
    pads = (
        ", padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 0, const_pad_after = 0>, "
        "<const_pad_before = 0, const_pad_after = 4>]]>"
    )
    text = "'aie.route' op fans in, so every end moves one object of the same size, but "
    assert said(fan_in((16, 32, 16), layout + pads)) == [(18, text + "@dp moves 16 elements and @dq moves 24")]


# --- turns ------------------------------------------------------------------------------------------------------------


def turns(
    here: str = "@a, @b", there: str = "@x, @y", sizes: tuple[int, ...] = (16, 8, 16, 8), routes: str = ""
) -> str:
    """Two pools on each of two tiles; lines 17 to 20 are the ends a, b, x, y, then come the core's, then the routes."""
    names = ("a", "b", "x", "y")
    body = "".join(pool(f"p{n}", "m0" if n in "ab" else "c02", (size,)) for n, size in zip(names, sizes, strict=True))
    body += "".join(
        end("dma", f"i{n}", "fills", f"p{n}", "m0") + f"aie.route_endpoint @s{n}(%s0) DMA {{}}\n" for n in "ab"
    )
    for n in names:
        order = here if n in "ab" else there
        more = f"turns = [{order}]" if f"@{n}" in order else ""
        role, tile = ("drains", "m0") if n in "ab" else ("fills", "c02")
        body += end("dma", n, role, f"p{n}", tile, more)
    body += "".join(end("core", f"k{n}", "drains", f"p{n}") for n in "xy")
    body += "aie.route from @sa to [@ia]\naie.route from @sb to [@ib]\n"
    return body + (routes or "aie.route from @a to [@x]\naie.route from @b to [@y]\n")


ORDER = "takes turns on its channel, but @{} at the other end of its route takes other turns"
CIRCUIT = "takes turns on its channel, so one circuit route joins it to one DMA endpoint"
AMOUNT = (
    "takes turns on its channel, so both ends move objects of the same size, but @b moves 8 elements and @y moves 4"
)
TO_Y = "aie.route from @a to [@x]\naie.route from @b to [@y]"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (turns(), None),
        (turns("@b, @a", "@y, @x"), None),
        (turns("@a, @b, @b", "@x, @y, @y"), None),
        (turns("@a, @b", "@x, @y, @x, @y"), None),  # the same, said twice
        (turns("@a", "@y"), None),  # nobody shares
        (turns("@a, @b", ""), (17, ORDER.format("x"))),
        (turns("", "@x, @y"), (19, ORDER.format("a"))),
        (turns("@a, @b", "@y, @x"), (17, ORDER.format("x"))),
        (turns("@a, @b, @b", "@x, @y"), (17, ORDER.format("x"))),
        (turns("@a, @b, @b", "@x, @x, @y"), (17, ORDER.format("x"))),
        (turns(sizes=(16, 8, 16, 4)), (18, AMOUNT)),
        (turns(routes=TO_Y + " {packet = #aie.packet_info<>}\n"), (18, CIRCUIT)),
        (
            turns(there="", routes=TO_Y.replace("@y]", "@y, @z]") + "\naie.route_endpoint @z(%c33) DMA {}\n"),
            (18, CIRCUIT),
        ),
    ],
)
def test_ends_of_a_shared_channel_keep_one_order(body: str, expected: tuple[int, str] | None) -> None:
    """Once for each channel; a circuit from it reaches everybody, so any other order lands in the wrong pool."""
    wanted = [] if expected is None else [(expected[0], f"'aie.objectfifo.dma_endpoint' op {expected[1]}")]
    assert said(body) == wanted


# --- dispatch ---------------------------------------------------------------------------------------------------------


def dispatch(routes: str, listed: str = "@x, @y") -> str:
    body = pool("p", "m0") + end("dma", "in", "fills", "p", "m0") + "aie.route_endpoint @s(%s0) DMA {}\n"
    body += "aie.route from @s to [@in]\n" + end("dma", "hub", "drains", "p", "m0", f"dispatch = [{listed}]")
    for name, tile in (("x", "c02"), ("y", "c03"), ("z", "c33")):
        body += f"aie.route_endpoint @{name}(%{tile}) DMA {{}}\n"
    return body + routes


def to(destination: str, packet: str = " {packet = #aie.packet_info<>}", source: str = "@hub") -> str:
    return f"aie.route from {source} to [{destination}]{packet}\n"


USED = "aie.route_endpoint @w(%c04) DMA {}\naie.route from @w to [@z]\n"


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        (USED + to("@x") + to("@y"), []),
        (
            to("@x, @z") + to("@y"),
            [(11, "aie.route", "leaves dispatching endpoint @hub for one destination, so it has one source and one "
              "destination")],
        ),
        (
            USED + to("@x", "") + to("@y"),
            [(13, "aie.route", "leaves dispatching endpoint @hub and needs a packet header to tell its turns apart")],
        ),
        (
            to("@x") + to("@y") + to("@z"),
            [(13, "aie.route", "reaches @z, which dispatching endpoint @hub never takes a turn for")],
        ),
        (
            USED + to("@x") + "aie.route_endpoint @v(%c12) DMA {}\n" + to("@y", source="@v"),
            [(7, "aie.objectfifo.dma_endpoint", "dispatches to @y, but no route from it reaches there")],
        ),
    ],
)  # fmt: skip
def test_dispatch(routes: str, expected: list[tuple[int, str, str]]) -> None:
    assert said(dispatch(routes)) == [(line, f"'{op}' op {text}") for line, op, text in expected]


def test_a_dispatching_endpoint_sends_to_somebody() -> None:
    found = said(dispatch(USED + to("@x", source="@v", packet="") + "aie.route_endpoint @v(%c12) DMA {}\n", "@x"))
    assert found == [
        (7, "'aie.objectfifo.dma_endpoint' op is not connected by any flow"),
        (9, "'aie.route_endpoint' op is not connected by any flow"),
        (7, "'aie.objectfifo.dma_endpoint' op dispatches to @x, but no route from it reaches there"),
    ]
