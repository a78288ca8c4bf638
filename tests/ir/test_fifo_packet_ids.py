"""Who gets which packet id."""

from __future__ import annotations

import random
import re

import pytest
from passkit import Ran

from aiecc.ir.dialects.aie.routes import RouteOp
from aiecc.ir.fifo.structure import held_ids
from aiecc.ir.passes.fifo_packet_ids import AssignPacketIds

OPEN = " {packet = #aie.packet_info<>}"


def device(*lines: str, name: str = "npu1") -> str:
    return "aie.device(" + name + ") {\n" + "\n".join(lines) + "\n}\n"


def tile(col: int, row: int) -> str:
    return f"%t{col}{row} = aie.tile({col}, {row})"


def pool(name: str, on: str, depth: int = 2) -> str:
    return (
        f"aie.objectfifo.pool @{name}_pool(%t{on}) {{depth = {depth} : i32}} : memref<16xi32> "
        "{ aie.objectfifo.segment @s0 {offset = 0 : i32, size = 16 : i32} }"
    )


def link(name: str, a: str, b: str, tail: str = OPEN, depth: int = 2) -> list[str]:
    """A pool at each end, both worked by cores, and a route between them."""
    return [
        pool(f"{name}_a", a, depth),
        pool(f"{name}_b", b, depth),
        f"aie.objectfifo.core_endpoint @{name}_prod(%t{a}) fills @{name}_a_pool",
        f"aie.objectfifo.core_endpoint @{name}_cons(%t{b}) drains @{name}_b_pool",
        f"aie.objectfifo.dma_endpoint @{name}_out(%t{a}) drains @{name}_a_pool",
        f"aie.objectfifo.dma_endpoint @{name}_in(%t{b}) fills @{name}_b_pool",
        f"aie.route from @{name}_out to [@{name}_in]{tail}",
    ]


def pinned(number: int) -> str:
    return f" {{packet = #aie.packet_info<pkt_id = {number}>}}"


def ids(ran: Ran) -> dict[str, int | None]:
    """The id of each route, by the name of its (first) source and destination."""
    return {
        f"{route.sources[0]}>{route.destinations[0]}": route.packet and route.packet.pkt_id
        for route in ran.ops(RouteOp)
    }


TILES = [tile(c, r) for c in range(4) for r in (0, 1, 2, 3)]


def run(*lines: str, packet_sw: bool = False) -> Ran:
    return Ran(device(*TILES, *lines), AssignPacketIds(packet_sw=packet_sw))


def test_an_open_header_gets_the_lowest_free_id_and_the_others_are_left_alone():
    ran = run(*link("a", "02", "12"), *link("b", "03", "13", ""), *link("c", "22", "32", pinned(0)))
    assert not ran.said
    assert ids(ran) == {"a_out>a_in": 1, "b_out>b_in": None, "c_out>c_in": 0}
    assert ran.lines("aie.route")[0].endswith("{packet = #aie.packet_info<pkt_id = 1>}")


def test_a_packet_type_survives():
    ran = run(*link("a", "02", "12", " {packet = #aie.packet_info<pkt_type = 3>}"))
    assert ran.lines("aie.route")[0].endswith("{packet = #aie.packet_info<pkt_type = 3, pkt_id = 0>}")


def test_with_the_option_every_route_gets_a_header():
    ran = run(*link("a", "02", "12", ""), *link("b", "03", "13", pinned(1)), *link("c", "22", "32"), packet_sw=True)
    assert ids(ran) == {"a_out>a_in": 0, "b_out>b_in": 1, "c_out>c_in": 2}


def test_the_pass_and_its_option_have_upstreams_spelling():
    from aiecc.ir.passes import PASSES
    from aiecc.ir.passes.base import option_name

    assert PASSES["aie-assign-packet-ids"] == "fifo_packet_ids:AssignPacketIds"
    import dataclasses

    assert [option_name(f) for f in dataclasses.fields(AssignPacketIds)] == ["packet-sw-objFifos"]


def test_a_second_run_changes_nothing():
    text = run(*link("a", "02", "12"), *link("b", "03", "13")).text
    assert Ran(text, AssignPacketIds()).text == text


def test_everything_that_holds_an_id_is_passed_over():
    ran = run(
        "aie.packet_flow(0) { aie.packet_source<%t03, Trace : 0> aie.packet_dest<%t00, DMA : 1> }",
        "aie.trace @tr(%t13) { aie.trace.packet id = 1 type = core }",
        "aie.objectfifo @later(%t22, {%t32}, 2 : i32) "
        "{transport = #aie.transport<dma, packet = #aie.packet_info<pkt_id = 2>>} : !aie.objectfifo<memref<16xi32>>",
        *link("b", "03", "13", pinned(3)),
        "aie.shim_dma_allocation @rec(%t10, MM2S, 0, <pkt_id = 4>)",
        # ids 8 to 11: the two low bits are not looked at
        "aie.packet_flow(8, mask = 28) { aie.packet_source<%t23, Trace : 0> aie.packet_dest<%t20, DMA : 1> }",
        *link("a", "02", "12"),
        *link("c", "12", "22"),
        *link("d", "22", "32"),
        *link("e", "32", "33"),
    )
    assert not ran.said
    found = ids(ran)
    assert [found[f"{n}_out>{n}_in"] for n in "acde"] == [5, 6, 7, 12]
    assert sorted(held_ids(ran.device)) == list(range(13))


def test_a_pinned_id_has_to_fit_and_nothing_is_assigned_otherwise():
    ran = run(*link("a", "02", "12"), *link("b", "03", "13", pinned(32)), *link("c", "22", "32", pinned(99)))
    assert ran.said == [
        "'aie.route' op pkt_id 32 is out of range (max 31)",
        "'aie.route' op pkt_id 99 is out of range (max 31)",
    ]
    assert ids(ran)["a_out>a_in"] is None


def test_no_id_left_is_said_once_with_who_holds_them():
    flows = [
        f"aie.packet_flow({n}) {{ aie.packet_source<%t03, Trace : 0> aie.packet_dest<%t00, DMA : 1> }}"
        for n in range(31)
    ]
    ran = run(*flows, *link("a", "02", "12"), *link("b", "22", "32"), *link("c", "22", "33"))
    assert ids(ran)["a_out>a_in"] == 31
    assert ran.only.text == "'aie.route' op max number of packet IDs reached"
    notes = ran.only.notes
    assert [note.text for note in notes] == [f"id {n} is held here" for n in range(32)]
    lines = device(*TILES, *flows, *link("a", "02", "12")).splitlines()
    where = notes[31].where
    assert where is not None and lines[where.line - 1].startswith("aie.route from @a_out")


# --- programs of the design's own -------------------------------------------------------------------------------------

PROGRAM = [
    "aie.route_endpoint @mine(%t01) DMA",
    pool("p", "02"),
    "aie.objectfifo.core_endpoint @p_cons(%t02) drains @p_pool",
    "aie.objectfifo.dma_endpoint @p_in(%t02) fills @p_pool",
]
STARTED = """aie.memtile_dma(%t01) {
  %0 = aie.dma_start(MM2S, @mine, ^bd, ^end)
^bd:
  aie.next_bd ^bd
^end:
  aie.end
}"""
TASK = """aie.runtime_sequence @seq(%x: memref<16xi32>) {
  %0 = aiex.dma_configure_task_for @mine { aie.end }
  aiex.dma_start_task(%0)
}"""


@pytest.mark.parametrize(("program", "op"), [(STARTED, "aie.dma_start"), (TASK, "aiex.dma_configure_task_for")])
def test_a_program_states_its_headers_so_the_route_it_feeds_pins_the_id(program: str, op: str):
    ran = run(*PROGRAM, "aie.route from @mine to [@p_in]" + OPEN, program)
    assert ran.only.text == (
        f"'{op}' op sources a route over @mine whose packet id is still open; its descriptors have to state that id"
    )
    assert "pkt_id = N" in ran.only.todo
    assert ids(ran) == {"mine>p_in": None}


def test_a_program_may_feed_a_pinned_route_or_a_circuit():
    assert not run(*PROGRAM, "aie.route from @mine to [@p_in]" + pinned(7), STARTED).said
    assert not run(*PROGRAM, "aie.route from @mine to [@p_in]", STARTED).said
    ran = run(*PROGRAM, "aie.route from @mine to [@p_in]", STARTED, packet_sw=True)
    assert "still open" in ran.only.text


def test_a_program_at_the_receiving_end_is_no_obstacle():
    ran = run(
        "aie.route_endpoint @mine(%t01) DMA",
        pool("p", "02"),
        "aie.objectfifo.core_endpoint @p_prod(%t02) fills @p_pool",
        "aie.objectfifo.dma_endpoint @p_out(%t02) drains @p_pool",
        "aie.route from @p_out to [@mine]" + OPEN,
        STARTED.replace("MM2S", "S2MM"),
    )
    assert not ran.said and ids(ran) == {"p_out>mine": 0}


def test_a_transfer_over_a_shim_end_takes_its_header_from_the_shims_record():
    ran = run(
        'aie.route_endpoint @mine(%t00) DMA {fifoName = "f"}',
        *PROGRAM[1:],
        "aie.route from @mine to [@p_in]" + OPEN,
        TASK,
    )
    assert not ran.said and ids(ran) == {"mine>p_in": 0}
    started = """aie.shim_dma(%t00) {
      %0 = aie.dma_start(MM2S, @mine, ^bd, ^end)
    ^bd:
      aie.next_bd ^bd
    ^end:
      aie.end
    }"""
    ran = run(
        'aie.route_endpoint @mine(%t00) DMA {fifoName = "f"}',
        *PROGRAM[1:],
        "aie.route from @mine to [@p_in]" + OPEN,
        started,
    )
    assert ran.only.text.startswith("'aie.dma_start' op sources a route over @mine")


# --- structural order -------------------------------------------------------------------------------------------------


def test_a_design_written_down_by_column_and_row_is_numbered_as_written():
    pairs = [(f"{c}{r}", f"{d}{s}") for c in (0, 1, 2) for r in (1, 2) for d, s in ((1, 3), (2, 3), (3, 2))]
    ran = run(*(line for i, (a, b) in enumerate(pairs) for line in link(f"f{i}", a, b)))
    assert list(ids(ran).values()) == list(range(len(pairs)))


def test_the_turns_of_a_dispatch_are_numbered_as_they_are_taken():
    both = [
        pool("q", "01"),
        pool("x", "02"),
        pool("y", "12"),
        "aie.objectfifo.dma_endpoint @q_in(%t01) fills @q_pool",
        "aie.objectfifo.dma_endpoint @hub(%t01) drains @q_pool {dispatch = [@y_in, @x_in]}",
        "aie.objectfifo.dma_endpoint @x_in(%t02) fills @x_pool",
        "aie.objectfifo.dma_endpoint @y_in(%t12) fills @y_pool",
        'aie.route_endpoint @in(%t00) DMA {fifoName = "in"}',
        "aie.route from @in to [@q_in]",
        "aie.route from @hub to [@x_in]" + OPEN,
        "aie.route from @hub to [@y_in]" + OPEN,
    ]
    assert ids(run(*both)) == {"in>q_in": None, "hub>x_in": 1, "hub>y_in": 0}


class Shuffled:
    """A design's ops in another order with other names, and the way back to the old names."""

    def __init__(self, lines: list[str], rng: random.Random) -> None:
        names = sorted({n for line in lines for n in re.findall(r"@(\w+)", line) if n != "s0"})
        numbers = list(range(100, 100 + len(names)))
        rng.shuffle(numbers)
        new = dict(zip(names, (f"n{i}" for i in numbers), strict=True))
        self.back = {v: k for k, v in new.items()}
        self.lines = [re.sub(r"@(\w+)", lambda m: "@" + new.get(m[1], m[1]), line) for line in lines]
        rng.shuffle(self.lines)

    def ids(self, ran: Ran) -> dict[str, int | None]:
        return {">".join(self.back[n] for n in key.split(">")): number for key, number in ids(ran).items()}


def random_design(rng: random.Random) -> list[str]:
    """Random pools on few tiles, so that many routes join the same tiles, with random chains behind the pools."""
    tiles = rng.sample(["01", "11", "02", "12", "03"], rng.randint(2, 3))
    count = rng.randint(2, 7)
    lines = [pool(f"p{i}", rng.choice(tiles), rng.choice([1, 2, 2, 3])) for i in range(count)]
    on = [re.findall(r"%t(\d\d)", line)[0] for line in lines]
    filled, drained = set[int](), set[int]()
    for i in range(rng.randint(1, count)):
        a, b = rng.randrange(count), rng.randrange(count)
        if a == b or a in drained or b in filled or on[a] == on[b]:
            continue
        drained.add(a)
        filled.add(b)
        lines += [
            f"aie.objectfifo.dma_endpoint @out{i}(%t{on[a]}) drains @p{a}_pool",
            f"aie.objectfifo.dma_endpoint @in{i}(%t{on[b]}) fills @p{b}_pool",
            f"aie.route from @out{i} to [@in{i}]" + OPEN,
        ]
    for i in range(count):
        if on[i][1] in "23":
            if i not in filled:
                lines.append(f"aie.objectfifo.core_endpoint @prod{i}(%t{on[i]}) fills @p{i}_pool")
            if i not in drained:
                lines.append(f"aie.objectfifo.core_endpoint @cons{i}(%t{on[i]}) drains @p{i}_pool")
    uses = [i for i in range(count) if on[i] == "02" and i not in drained]
    if uses:
        body = "".join(
            f"%o{k} = aie.objectfifo.acquire @cons{i} (1) : memref<16xi32> aie.objectfifo.release @cons{i} (1) "
            for k, i in enumerate(rng.sample(uses, len(uses)))
        )
        lines.append(f"%core = aie.core(%t02) {{ {body} aie.end }}")
    return lines


def twins(lines: list[str], number: dict[str, int | None]) -> set[tuple[str, ...]]:
    """A design with its ids written in and its names taken away: what is left must not depend on the writing.

    Names are taken away by trying: the texts of the pools' chains, each as one line, sorted.
    """
    ends: dict[str, tuple[str, str]] = {}
    pools: dict[str, str] = {}
    for line in lines:
        if m := re.match(r"aie.objectfifo.(\w+) @(\w+)\(%t(\d\d)\) (\w+) @(\w+)", line):
            ends[m[2]] = (m[5], m[4])
        elif m := re.match(r"aie.objectfifo.pool @(\w+)\(%t(\d\d)\) {depth = (\d)", line):
            pools[m[1]] = f"{m[2]}/{m[3]}"
    next_of = {}
    for line in lines:
        if m := re.match(r"aie.route from @(\w+) to \[@(\w+)\]", line):
            next_of[ends[m[1]][0]] = (ends[m[2]][0], number[f"{m[1]}>{m[2]}"])
    core = [line for line in lines if line.startswith("%core")]
    used = [ends[n][0] for n in re.findall(r"acquire @(\w+)", core[0])] if core else []
    reached = {b for b, _ in next_of.values()}
    chains = set[tuple[str, ...]]()

    def walk(at: str, stop: str) -> tuple[str, ...]:
        text: list[str] = []
        while True:
            text.append(f"{pools[at]}:{used.index(at) if at in used else ''}")
            if at not in next_of:
                return tuple(text)
            at, i = next_of[at]
            text.append(str(i))
            if at == stop:
                return tuple(text)

    for start in pools:
        if start not in reached:
            chains.add(walk(start, ""))
    rings = [start for start in pools if start in reached]
    for start in rings:
        at, seen = start, {start}
        while at in next_of and next_of[at][0] not in seen:
            at = next_of[at][0]
            seen.add(at)
        if at in next_of and next_of[at][0] == start:
            chains.add(min(walk(s, s) for s in seen))
    return chains


@pytest.mark.parametrize("seed", range(60))
def test_neither_names_nor_the_order_of_declaration_decide(seed: int):
    rng = random.Random(seed)
    lines = random_design(rng)
    expected = twins(lines, ids(run(*lines)))
    for _ in range(3):
        other = Shuffled(lines, rng)
        ran = run(*other.lines)
        assert not ran.said
        assert twins(lines, other.ids(ran)) == expected


def test_rings_of_different_length_over_the_same_tiles_are_told_apart():
    """Seen from any of its ends each ring looks like the other two: only going round shows the difference."""
    places = ["01", "11", "21"]

    def ring(name: str, rounds: int) -> list[str]:
        n = 3 * rounds
        lines = [pool(f"{name}{i}", places[i % 3]) for i in range(n)]
        for i in range(n):
            j = (i + 1) % n
            lines += [
                f"aie.objectfifo.dma_endpoint @{name}o{i}(%t{places[i % 3]}) drains @{name}{i}_pool",
                f"aie.objectfifo.dma_endpoint @{name}i{j}(%t{places[j % 3]}) fills @{name}{j}_pool",
                f"aie.route from @{name}o{i} to [@{name}i{j}]" + OPEN,
            ]
        return lines

    short, long = ring("s", 1), ring("l", 2)
    rng = random.Random(1)
    found = {frozenset(ids(run(*short, *long))[f"so{i}>si{(i + 1) % 3}"] for i in range(3))}
    for _ in range(8):
        other = Shuffled(short + long, rng)
        number = other.ids(run(*other.lines))
        found.add(frozenset(number[f"so{i}>si{(i + 1) % 3}"] for i in range(3)))
    assert len(found) == 1


def test_twins_are_numbered_together_with_what_belongs_to_them():
    """Two equal chains of two routes: the first chain's two ids must not depend on which of the four came first."""

    def chain(n: str) -> list[str]:
        return [
            pool(f"{n}x", "02"), pool(f"{n}y", "11"), pool(f"{n}z", "22"),
            f"aie.objectfifo.core_endpoint @{n}p(%t02) fills @{n}x_pool",
            f"aie.objectfifo.dma_endpoint @{n}a(%t02) drains @{n}x_pool",
            f"aie.objectfifo.dma_endpoint @{n}b(%t11) fills @{n}y_pool",
            f"aie.objectfifo.dma_endpoint @{n}c(%t11) drains @{n}y_pool",
            f"aie.objectfifo.dma_endpoint @{n}d(%t22) fills @{n}z_pool",
            f"aie.objectfifo.core_endpoint @{n}q(%t22) drains @{n}z_pool",
        ]  # fmt: skip

    def route(n: str, a: str, b: str) -> str:
        return f"aie.route from @{n}{a} to [@{n}{b}]" + OPEN

    ends = [*chain("u"), *chain("v")]
    first = ids(run(*ends, route("u", "a", "b"), route("v", "a", "b"), route("u", "c", "d"), route("v", "c", "d")))
    other = ids(run(*ends, route("u", "a", "b"), route("v", "a", "b"), route("v", "c", "d"), route("u", "c", "d")))
    assert first == other
    assert list(first.values()) == [0, 1, 2, 3]


def test_routes_into_a_memory_tile_are_numbered_as_the_core_beyond_it_uses_them():
    def chain(n: str) -> list[str]:
        return [
            pool(f"{n}m", "01"), pool(f"{n}n", "02"),
            f'aie.route_endpoint @{n}s(%t00) DMA {{fifoName = "{n}"}}',
            f"aie.objectfifo.dma_endpoint @{n}i(%t01) fills @{n}m_pool",
            f"aie.objectfifo.dma_endpoint @{n}o(%t01) drains @{n}m_pool",
            f"aie.objectfifo.dma_endpoint @{n}x(%t02) fills @{n}n_pool",
            f"aie.objectfifo.core_endpoint @{n}(%t02) drains @{n}n_pool",
            f"aie.route from @{n}s to [@{n}i]{OPEN}", f"aie.route from @{n}o to [@{n}x]{OPEN}",
        ]  # fmt: skip

    lines = [line for n in "abcde" for line in chain(n)]
    body = "".join(
        f"%o{n} = aie.objectfifo.acquire @{n} (1) : memref<16xi32> aie.objectfifo.release @{n} (1) " for n in "dbeac"
    )
    lines.append(f"%core = aie.core(%t02) {{ {body} aie.end }}")
    wanted = {f"{n}s>{n}i": i for i, n in enumerate("dbeac")} | {f"{n}o>{n}x": i + 5 for i, n in enumerate("dbeac")}
    assert ids(run(*lines)) == wanted
    other = Shuffled(lines, random.Random(7))
    assert other.ids(run(*other.lines)) == wanted


def test_unplaced_tiles_are_told_apart_by_what_is_on_them():
    def half(n: str, extra: bool) -> list[str]:
        return [
            f"%{n}1 = aie.logical_tile<CoreTile>(?, ?)",
            f"%{n}2 = aie.logical_tile<CoreTile>(?, ?)",
            *link(n, "AA", "BB"),
            *([f"%c{n} = aie.core(%tBB) {{ aie.objectfifo.release @{n}_cons (1) aie.end }}"] if extra else []),
        ]

    def named(n: str, extra: bool) -> list[str]:
        return [line.replace("%tAA", f"%{n}1").replace("%tBB", f"%{n}2") for line in half(n, extra)]

    one = ids(Ran(device(*named("a", True), *named("b", False)), AssignPacketIds()))
    two = ids(Ran(device(*named("b", False), *named("a", True)), AssignPacketIds()))
    three = ids(Ran(device(*named("b", True), *named("a", False)), AssignPacketIds()))
    assert one == two
    assert (three["b_out>b_in"], three["a_out>a_in"]) == (one["a_out>a_in"], one["b_out>b_in"])


@pytest.mark.parametrize(("tail", "sw"), [(OPEN, False), (pinned(0), False), ("", True)])
def test_a_core_that_sends_packets_over_its_stream_port_is_told_who_writes_their_headers(tail: str, sw: bool):
    lines = (
        pool("a", "12"),
        "aie.route_endpoint @a_out(%t02) Core {channelIndex = 0 : i32}",
        "aie.objectfifo.dma_endpoint @a_in(%t12) fills @a_pool",
        f"aie.route from @a_out to [@a_in]{tail}",
    )
    ran = run(*lines, packet_sw=sw)
    text = "no DMA writes the headers of these packets: the core has to begin each with the header of id 0"
    assert ran.said == [text] and not ran.sink.failed
    assert ids(ran) == {"a_out>a_in": 0}


def test_but_nobody_is_told_anything_about_circuits_and_packets_that_a_core_receives():
    lines = (
        pool("a", "12"),
        "aie.route_endpoint @a_out(%t02) Core {channelIndex = 0 : i32}",
        "aie.objectfifo.dma_endpoint @a_in(%t12) fills @a_pool",
        "aie.route from @a_out to [@a_in]",
        pool("b", "12"),
        "aie.objectfifo.dma_endpoint @b_out(%t12) drains @b_pool",
        "aie.route_endpoint @b_in(%t02) Core {channelIndex = 0 : i32}",
        f"aie.route from @b_out to [@b_in]{OPEN}",
    )
    assert run(*lines).said == []
