"""Small designs with objectFifos, one for each rule of their lowering, with cores that keep what they receive.

A core keeps its objects in a buffer `seen..` of its own tile, where a run can look at them afterwards.
"""

from __future__ import annotations

from fifo_text import (
    acquire,
    const,
    consumer,
    core,
    device,
    dims,
    fifo,
    fill,
    keep,
    loop,
    pads,
    producer,
    release,
    seen,
    tiles,
)

SLIDING_WINDOW = device(
    "\n".join(
        [
            tiles((0, 2), (2, 4)),
            fifo("s", "%t02", "%t24", 3, "memref<8xi16>"),
            producer("%t02", "s", 8, 10, "i16"),
            seen("seen_s", "%t24", 72, "i16"),
            core(
                "%t24",
                loop(
                    "r",
                    9,
                    "\n".join(
                        [
                            acquire("x, y", "s", "Consume", "memref<8xi16>"),
                            keep("x", 8, "seen_s", 72, "r", "i16", plus="y"),
                            release("s", "Consume"),
                        ]
                    ),
                ),
                release("s", "Consume"),
            ),
        ]
    )
)


def shared(source: tuple[int, int], sink: tuple[int, int], values: str = "", times: int = 6) -> str:
    """Neighbours with depths [2, 4]; `values` are initial ones, of which the consumer sees two objects more."""
    a, b = (f"%t{c}{r}" for c, r in (source, sink))
    return device(
        "\n".join(
            [
                tiles(source, sink),
                fifo("of", a, b, "[2 : i32, 4 : i32]", "memref<4xi32>", values),
                producer(a, "of", 4, times, base=100),
                consumer(b, "of", 4, times + (2 if values else 0)),
            ]
        )
    )


TWO_OBJECTS = "= [dense<-5> : memref<4xi32>, dense<-7> : memref<4xi32>]"

DISTRIBUTE_REPEAT = device(
    "\n".join(
        [
            tiles((0, 0), (0, 1), (0, 2), (0, 3)),
            fifo("in", "%t00", "%t01", 2, "memref<24xi32>"),
            fifo("a", "%t01", "%t02", 2, "memref<8xi32>", "{repeat_count = 2 : i32}"),
            fifo("b", "%t01", "%t03", 2, "memref<16xi32>", "{repeat_count = 2 : i32}"),
            "aie.objectfifo.link [@in] -> [@a, @b] ([] [0, 8])",
            consumer("%t02", "a", 8, 8),
            consumer("%t03", "b", 16, 8),
        ]
    )
)


def repeated(kind: str, depth: int) -> str:
    """A core's four objects of 8, each sent three times to a distant core."""
    return device(
        "\n".join(
            [
                tiles((0, 2), (2, 4)),
                fifo("f", "%t02", "%t24", depth, "memref<8xi32>", "{repeat_count = 3 : i32}"),
                producer("%t02", "f", 8, 4),
                consumer("%t24", "f", 8, 12),
            ]
        ),
        kind,
    )


JOIN_BOUNDED = device(
    "\n".join(
        [
            tiles((0, 0), (0, 1), (0, 2), (0, 3)),
            fifo("x", "%t02", "%t01", 1, "memref<16xi32>"),
            fifo("y", "%t03", "%t01", 1, "memref<16xi32>"),
            fifo("z", "%t01", "%t00", 1, "memref<32xi32>", "{iter_count = 3 : i32}"),
            "aie.objectfifo.link [@x, @y] -> [@z] ([0, 16] [])",
            producer("%t02", "x", 16, 3),
            producer("%t03", "y", 16, 3, base=1000),
        ]
    )
)

DISPATCH = device(
    "\n".join(
        [
            tiles((0, 0), (0, 1), (0, 2), (0, 3)),
            fifo("in", "%t00", "%t01", 3, "memref<8xi32>"),
            fifo("p", "%t01", "%t02", 2, "memref<8xi32>"),
            fifo("q", "%t01", "%t03", 2, "memref<8xi32>"),
            "aie.objectfifo.link [@in] -> [@q, @p] ([] []) {mode = #aie.link_mode<time>}",
            consumer("%t02", "p", 8, 6),
            consumer("%t03", "q", 8, 6),
        ]
    )
)

MERGE = device(
    "\n".join(
        [
            tiles((0, 0), (0, 1), (0, 2), (0, 3)),
            fifo("p", "%t02", "%t01", 1, "memref<8xi32>"),
            fifo("q", "%t03", "%t01", 1, "memref<8xi32>"),
            fifo("out", "%t01", "%t00", 2, "memref<8xi32>"),
            "aie.objectfifo.link [@p, @q] -> [@out] ([] []) {mode = #aie.link_mode<time>}",
            producer("%t02", "p", 8, 5),
            producer("%t03", "q", 8, 4, base=1000),
        ]
    )
)


def windows(outputs: int, advance: int, span: int, before: int, after: int, streams: int = 2) -> str:
    """A link that cuts windows of `span` rows of 8 out of its whole input, every `advance` rows, zero rows around."""
    walk = [(outputs, 8 * advance), *([(span, 8)] if span > 1 else []), (8, 1)]
    around = pads((before, after), *[(0, 0)] * (len(walk) - 1))
    return device(
        "\n".join(
            [
                tiles((0, 0), (0, 1), (0, 2)),
                fifo("rows", "%t00", "%t01", 2, "memref<8xi32>"),
                fifo(
                    "windows",
                    f"%t01 dimensionsToStream {dims(*walk)}",
                    "%t02",
                    2,
                    f"memref<{8 * span}xi32>",
                    f"{{padDimensions = {around}}}",
                ),
                "aie.objectfifo.link [@rows] -> [@windows] ([] [])",
                consumer("%t02", "windows", 8 * span, streams * outputs),
            ]
        )
    )


WINDOWS = windows(4, 1, 3, 1, 1)


def binary_window() -> str:
    """On a device with binary locks: two objects held while the next one comes, straight line."""
    steps = [
        acquire("a, b", "of", "Consume", "memref<16xi32>"),
        const("k0", 0),
        keep("a", 16, "seen_of", 32, "k0", plus="b"),
        release("of", "Consume"),
        acquire("c, d", "of", "Consume", "memref<16xi32>"),
        const("k1", 1),
        keep("c", 16, "seen_of", 32, "k1", plus="d"),
        release("of", "Consume"),
        release("of", "Consume"),
    ]
    return device(
        "\n".join(
            [
                tiles((1, 2), (3, 3)),
                fifo("of", "%t12", "%t33", 3, "memref<16xi32>"),
                _straight_producer("%t12", 3),
                seen("seen_of", "%t33", 32),
                core("%t33", *steps),
            ]
        ),
        "xcvc1902",
    )


def _straight_producer(tile: str, times: int) -> str:
    steps: list[str] = []
    for i in range(times):
        steps += [
            acquire(f"o{i}", "of", "Produce", "memref<16xi32>"),
            const(f"r{i}", i),
            fill(f"o{i}", 16, f"r{i}"),
            release("of", "Produce"),
        ]
    return core(tile, *steps)


def _straight_consumer(tile: str, times: int) -> str:
    steps: list[str] = []
    for i in range(times):
        steps += [
            acquire(f"o{i}", "of", "Consume", "memref<16xi32>"),
            const(f"r{i}", i),
            keep(f"o{i}", 16, "seen_of", 16 * times, f"r{i}"),
            release("of", "Consume"),
        ]
    return seen("seen_of", tile, 16 * times) + "\n" + core(tile, *steps)


BINARY_LOCKS = device(
    "\n".join(
        [
            tiles((1, 2), (3, 3)),
            fifo("of", "%t12", "%t33", 2, "memref<16xi32>"),
            _straight_producer("%t12", 2),
            _straight_consumer("%t33", 2),
        ]
    ),
    "xcvc1902",
)


def padded_link(value: int = 0) -> str:
    pad = f", padValue = {value} : i32" if value else ""
    return device(
        "\n".join(
            [
                tiles((0, 0), (0, 1), (0, 2)),
                fifo("in", "%t00", "%t01", 2, "memref<12xi32>"),
                fifo(
                    "out",
                    f"%t01 dimensionsToStream {dims((3, 4), (4, 1))}",
                    "%t02",
                    2,
                    "memref<32xi32>",
                    f"{{padDimensions = {pads((1, 0), (2, 2))}{pad}}}",
                ),
                "aie.objectfifo.link [@in] -> [@out] ([] [])",
                consumer("%t02", "out", 32, 3),
            ]
        )
    )


WEIGHTS = [(7 * i + 3) % 100 for i in range(64)]


def weights(sequence: str = "") -> str:
    values = f"dense<{WEIGHTS}> : memref<64xi8>"
    return device(
        "\n".join(
            [
                tiles((0, 1), (0, 2)),
                fifo("w", "%t01", "%t02", 1, "memref<64xi8>", f"{{repeat_count = 7 : i32}}= [{values}]"),
                consumer("%t02", "w", 64, 7, "i8"),
                sequence,
            ]
        )
    )


RESET_WEIGHTS = "aie.runtime_sequence @again() { aiex.dma_channel_reset_for(@w) }"


def send(name: str) -> str:
    """A transfer of two objects of 8 words into a shim end, and waiting for it."""
    return "\n".join(
        [
            f"%task_{name} = aiex.dma_configure_task_for @{name} {{",
            "aie.dma_bd(%arg : memref<16xi32> offset = 0 len = 16)",
            "aie.end",
            "} {issue_token = true}",
            f"aiex.dma_start_task(%task_{name})",
            f"aiex.dma_await_task(%task_{name})",
        ]
    )


SHIM_RUNS_OUT = device(
    "\n".join(
        [
            tiles((0, 0), (0, 2), (0, 3), (0, 4)),
            *(fifo(name, "%t00", f"%t0{row}", 2, "memref<8xi32>") for name, row in zip("abc", (2, 3, 4), strict=True)),
            *(consumer(f"%t0{row}", name, 8, 2) for name, row in zip("abc", (2, 3, 4), strict=True)),
            f"aie.runtime_sequence @one(%arg : memref<16xi32>) {{\n{send('a')}\n{send('b')}\n}}",
            f"aie.runtime_sequence @two(%arg : memref<16xi32>) {{\n{send('c')}\n}}",
        ]
    )
)


def broadcast(source: tuple[int, int], depths: str | int = 3) -> str:
    """One sender, two receivers, one of which holds two objects at a time. A core sends where `source` has one."""
    tile = f"%t{source[0]}{source[1]}"
    two = [
        acquire("x, y", "m", "Consume", "memref<8xi32>"),
        keep("x", 8, "seen_two", 40, "r", plus="y"),
        release("m", "Consume"),
    ]
    one = consumer("%t02", "m", 8, 6).replace("seen_m", "seen_one")
    made = [
        acquire("o, n", "m", "Produce", "memref<8xi32>"),
        fill("o", 8, "r"),
        release("m", "Produce"),
    ]
    return device(
        "\n".join(
            [
                tiles(source, (0, 2), (0, 3)),
                fifo("m", tile, "%t02, %t03", depths, "memref<8xi32>"),
                one,
                seen("seen_two", "%t03", 40),
                core("%t03", loop("r", 5, "\n".join(two)), release("m", "Consume")),
                core(tile, loop("r", 6, "\n".join(made))) if source[1] > 1 else "",
            ]
        )
    )


EXTERNAL = device(
    "\n".join(
        [
            tiles((2, 0), (2, 2)),
            '%x = aie.external_buffer {sym_name = "x"} : memref<64xi32>',
            fifo("e", "%t20", "%t22", 2, "memref<16xi32>"),
            "aie.objectfifo.register_external_buffers @e (%t20, {%x}) : (memref<64xi32>)",
            consumer("%t22", "e", 16, 4),
        ]
    ),
    "xcve2302",
)

SPILL = device(
    "\n".join(
        [
            tiles((1, 0), (1, 1), (1, 2)),
            fifo("big", "%t10", "%t11", 3, "memref<300000xi8>"),
            fifo("out", "%t11", "%t12", 1, "memref<1000xi8>"),
            "aie.objectfifo.link [@big] -> [@out] ([] [])",
            seen("seen_out", "%t12", 900, "i8"),
            core(
                "%t12",
                const("zero", 0),
                loop(
                    "r",
                    900,
                    "\n".join(
                        [
                            acquire("o", "out", "Consume", "memref<1000xi8>"),
                            "%first = memref.load %o[%zero] : memref<1000xi8>",
                            "memref.store %first, %seen_out[%r] : memref<900xi8>",
                            release("out", "Consume"),
                        ]
                    ),
                ),
            ),
        ]
    )
)


def _pool(name: str, tile: str, depth: int, size: int) -> str:
    segment = f"aie.objectfifo.segment @s0 {{offset = 0 : i32, size = {size} : i32}}"
    return f"aie.objectfifo.pool @{name}({tile}) {{depth = {depth} : i32}} : memref<{size}xi32> {{ {segment} }}"


def _dma(name: str, tile: str, role: str, pool: str, more: str = "") -> str:
    return f"aie.objectfifo.dma_endpoint @{name}({tile}) {role} @{pool} {{{more}}}"


def turns(order: str = "bc") -> str:
    """Already split: two streams through a memory tile, over one channel to a core that takes them in turn."""
    out, into = (f"turns = [{', '.join(f'@{name}_{end}' for name in order)}]" for end in ("out", "in"))
    steps: list[str] = []
    count = {name: order.count(name) for name in "bc"}
    for i, name in enumerate(order):
        steps += [
            f"%o{i} = aie.objectfifo.acquire @{name}_core (1) : memref<4xi32>",
            f"%k{i} = arith.muli %r, %{name}s : index",
            const(f"n{i}", order[:i].count(name)),
            f"%l{i} = arith.addi %k{i}, %n{i} : index",
            keep(f"o{i}", 4, f"seen_{name}", 16 * count[name], f"l{i}"),
            f"aie.objectfifo.release @{name}_core (1)",
        ]
    return device(
        "\n".join(
            [
                tiles((0, 0), (0, 1), (0, 2)),
                _pool("mb", "%t01", 2, 4),
                _pool("mc", "%t01", 1, 4),
                _pool("b", "%t02", 2, 4),
                _pool("c", "%t02", 2, 4),
                *(f'aie.route_endpoint @{n}_host(%t00) DMA {{fifoName = "{n}"}}' for n in "bc"),
                *(_dma(f"m{n}_in", "%t01", "fills", f"m{n}") for n in "bc"),
                *(_dma(f"{n}_out", "%t01", "drains", f"m{n}", out) for n in "bc"),
                *(_dma(f"{n}_in", "%t02", "fills", n, into) for n in "bc"),
                *(f"aie.objectfifo.core_endpoint @{n}_core(%t02) drains @{n}" for n in "bc"),
                *(f"aie.route from @{n}_host to [@m{n}_in]" for n in "bc"),
                *(f"aie.route from @{n}_out to [@{n}_in]" for n in "bc"),
                *(seen(f"seen_{n}", "%t02", 16 * count[n]) for n in "bc"),
                core("%t02", const("bs", count["b"]), const("cs", count["c"]), loop("r", 4, "\n".join(steps))),
            ]
        )
    )


ELEMENT_TYPES = device(
    "\n".join(
        [
            tiles((0, 1), (0, 2), (0, 3)),
            "aie.objectfifo @t(%t02, {%t01}, 2 : i32) : !aie.objectfifo<memref<40xi32>> -> "
            "!aie.objectfifo<memref<10xi32>>",
            fifo("u", "%t01", "%t03", 2, "memref<10xi32>"),
            "aie.objectfifo.link [@t] -> [@u] ([] [])",
            producer("%t02", "t", 40, 3),
            consumer("%t03", "u", 10, 12),
        ]
    )
)

CONDITIONAL_RELEASE = device(
    "\n".join(
        [
            tiles((0, 0), (0, 2)),
            fifo("f", "%t00", "%t02", 3, "memref<4xi32>"),
            seen("seen_f", "%t02", 36),
            core(
                "%t02",
                const("three", 3),
                const("none", 0),
                loop(
                    "r",
                    9,
                    "\n".join(
                        [
                            acquire("x, y", "f", "Consume", "memref<4xi32>"),
                            keep("x", 4, "seen_f", 36, "r", plus="y"),
                            "%rest = arith.remui %r, %three : index",
                            "%c = arith.cmpi eq, %rest, %none : index",
                            "scf.if %c {",
                            release("f", "Consume"),
                            "}",
                        ]
                    ),
                ),
            ),
        ]
    )
)
