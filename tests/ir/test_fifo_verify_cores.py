"""Cores that release what they do not hold, or wait for more than a bounded DMA moves."""

from __future__ import annotations

import itertools
import random

import pytest
from passkit import Ran
from splitkit import TILES, design, spoken

from aiecc.ir.fifo.overrelease import NOTHING, Effect
from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.passes.fifo_verify import ObjectFifoVerify
from aiecc.ir.verify import verify

TEXT = "cannot release more elements than are already acquired"
HEAD = (
    "aie.objectfifo @f(%s0, {%c02}, 4 : i32) : !aie.objectfifo<memref<8xi32>>\n"
    "aie.objectfifo @g(%s1, {%c02}, 4 : i32) : !aie.objectfifo<memref<8xi32>>\n"
    "aie.core(%c02) {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    "  %n = arith.constant 3 : index\n  %ever = arith.constant 4294967295 : index\n  %t = arith.constant true\n"
)
FIRST = HEAD.count("\n") + 1


def program(text: str) -> str:
    """`+2 f` acquires, `-1 f` releases, `for n {`, `if {`, `} else {`, `while {` and `}` nest, one word a line."""
    lines: list[str] = []
    for i, raw in enumerate(text.strip().splitlines()):
        line = raw.strip()
        if line.startswith("+"):
            count, fifo = line[1:].split()
            names = ", ".join(f"%o{i}_{j}" for j in range(int(count)))
            types = ", ".join(["memref<8xi32>"] * int(count))
            line = f"{names} = aie.objectfifo.acquire @{fifo} (Consume, {count}) : {types}"
        elif line.startswith("-"):
            count, fifo = line[1:].split()
            line = f"aie.objectfifo.release @{fifo} (Consume, {count})"
        elif line.startswith("for"):
            line = f"scf.for %i{i} = %c0 to %{line.split()[1]} step %c1 {{"
        elif line == "if {":
            line = "scf.if %t {"
        elif line == "while {":
            line = "scf.while : () -> () { scf.condition(%t) } do {"
        elif line == "yield }":
            line = "scf.yield }"
        lines.append(line)
    return HEAD + "\n".join(lines) + "\naie.end\n}\n"


def found(text: str) -> list[int]:
    """The lines of a program that verify complains of, from 1."""
    ran = Ran(design(program(text)), ObjectFifoSplit())
    assert [d.text for d in verify(ran.module)] == [] and ran.said == []
    ObjectFifoVerify().apply(ran.device, ran.sink)
    said = spoken(ran)
    assert all(text.endswith(f"op {TEXT}") for _, text in said), said
    return [line - FIRST + 1 for line, _ in said if line >= FIRST]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # Straight on.
        ("+1 f\n-1 f\n+1 g\n-1 g", []),
        ("+2 f\n-1 f\n+2 f\n-1 f\n-1 f\n+1 g\n-1 g", []),
        ("+2 f\n+2 f\n-3 f\n+1 g\n-1 g", [3]),  # acquires are absolute: two are held
        ("+2 f\n+3 f\n-3 f\n+1 g\n-1 g", []),
        ("+1 f\n-1 f\n-1 f\n+1 g\n-1 g", [3]),
        ("-1 f\n+1 f\n+1 g\n-1 g", [1]),  # nothing is held yet
        ("+1 f\n-1 f\n+1 g\n-2 g", [4]),
        ("+1 g\n-1 f\n+1 f\n-1 g", [2]),  # another fifo's objects do not count
        # A loop that gives back more than it gets, whatever the trip count.
        ("for ever {\n+1 f\n-1 f\n-1 f\n}\n+1 g\n-1 g", [2]),
        ("for n {\n+2 f\n+2 f\n-3 f\n}\n+1 g\n-1 g", [2]),
        ("for ever {\n+1 f\n-1 f\n}\n+1 g\n-1 g", []),
        ("for n {\n+2 f\n-1 f\n}\n-1 f\n+1 g\n-1 g", []),  # a sliding window, drained behind the loop
        ("for n {\n+2 f\n-1 f\n}\n-2 f\n+1 g\n-1 g", [5]),
        ("+1 f\nfor n {\n-1 f\n+1 f\n}\n-1 f\n+1 g\n-1 g", []),  # one ahead
        ("+3 f\nfor n {\n-1 f\n}\n+1 g\n-1 g", [3]),  # the loop for itself gets none
        ("for n {\n-1 f\n+1 f\n}\n+1 g\n-1 g", [2]),  # the first time nothing is held
        # Loops in loops: the inner one alone is in order, the outer one runs dry.
        ("for ever {\n+2 f\nfor n {\n+2 f\n-1 f\n}\n-2 f\n}\n+1 g\n-1 g", [2]),
        ("for ever {\n+2 f\nfor n {\n+2 f\n-1 f\n}\n-1 f\n}\n+1 g\n-1 g", []),
        ("for ever {\n+1 f\n-1 f\nfor n {\n+1 g\n-2 g\n}\n}", [5]),
        # Branches: either may be taken, so the one that leaves more counts.
        ("+1 f\nif {\n-1 f\n} else {\n-1 f\n}\n+1 g\n-1 g", []),
        ("+2 f\nif {\n-1 f\n} else {\n-2 f\n}\n-1 f\n+1 g\n-1 g", []),
        ("+1 f\nif {\n-1 f\n} else {\n-1 f\n}\n-1 f\n+1 g\n-1 g", [7]),
        ("+1 f\nif {\n-2 f\n}\n+1 g\n-1 g", [3]),
        ("if {\n+1 f\n}\nif {\n-1 f\n}\n+1 g\n-1 g", []),  # perhaps the same condition
        ("for ever {\n+2 f\nif {\n-1 f\n}\n}\n+1 g\n-1 g", []),
        ("for ever {\n+1 f\nif {\n-1 f\n}\n-2 f\n}\n+1 g\n-1 g", [2]),
        # A while may run not at all.
        ("+1 f\nwhile {\n-1 f\n+1 f\nyield }\n-1 f\n+1 g\n-1 g", []),
        ("+1 f\nwhile {\n-2 f\nyield }\n+1 g\n-1 g", [3]),
    ],
)
def test_over_release(text: str, lines: list[int]) -> None:
    assert found(text) == lines


def test_every_core_and_fifo_is_told_once() -> None:
    assert found("for ever {\n-1 f\nfor n {\n-1 f\n-1 g\n}\n}\n-1 f\n-1 g") == [4, 5]


def test_the_sum_of_code_is_what_running_it_gives() -> None:
    """Random programs of acquires, releases and loops, against counting them out."""
    random.seed(3)
    for _ in range(3000):
        steps = [(random.choice("+-"), random.randint(1, 4)) for _ in range(random.randint(1, 6))]
        trips = random.randint(0, 4)
        body = NOTHING
        for kind, n in steps:
            body = body.then(Effect(0, n) if kind == "+" else Effect(-n, need=n))
        total = body.times(trips)
        for held in range(8):
            now, under = held, False
            for kind, n in itertools.chain.from_iterable([steps] * trips):
                now = max(now, n) if kind == "+" else now - n
                under = under or now < 0
            assert (held < total.need) == under
            if not under:
                assert now == max(held + total.slope, total.floor)


# --- budgets ----------------------------------------------------------------------------------------------------------


def bounded(iters: str, program_: str, ends: str = "%c02, {%s0}", depth: int = 2) -> list[tuple[int, str]]:
    body = (
        f"aie.objectfifo @f({ends}, {depth} : i32) {{{iters}}} : !aie.objectfifo<memref<8xi32>>\n"
        "aie.core(%c02) {\n%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
        "%n = arith.constant 7 : index\n%two = arith.constant 2 : index\n%ever = arith.constant 16777214 : index\n"
        "%almost = arith.constant 16777213 : index\n%t = arith.constant true\n" + program_ + "aie.end\n}\n"
    )
    ran = Ran(design(body), ObjectFifoSplit())
    assert [d.text for d in verify(ran.module)] == []
    ObjectFifoVerify().apply(ran.device, ran.sink)
    for d in ran.sink.items:
        if "releases" not in d.text:
            continue
        assert [(n.text, n.where.line - TILES.count("\n") if n.where else 0) for n in d.notes] == [
            ("the DMA endpoint is here", 1)
        ]
    return spoken(ran)


PUT = "%o{0} = aie.objectfifo.acquire @f (Produce, 1) : memref<8xi32>\naie.objectfifo.release @f (Produce, 1)\n"


def loop(bound: str, body: str) -> str:
    return f"scf.for %i_{bound} = %c0 to %{bound} step %c1 {{\n{body}}}\n"


def message(released: int, iters: int, end: str = "f_prod") -> str:
    return (
        f"'aie.objectfifo.release' op releases {released} objects through @{end} over the run, but the pool's DMA "
        f"endpoint stops after {iters * 2} (iterCount {iters} x depth 2), so the core would wait forever for the rest"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (loop("n", PUT.format(1)), [(12, message(7, 3))]),
        (PUT.format(0) + loop("n", PUT.format(1)), [(11, message(8, 3))]),  # told at the first that counts
        (loop("two", PUT.format(1)) + PUT.format(2), []),
        (loop("two", loop("n", PUT.format(1))), [(13, message(14, 3))]),
        (loop("ever", PUT.format(1)), []),  # meant never to end
        (loop("almost", PUT.format(1)), [(12, message(16777213, 3))]),
        (f"scf.if %t {{\n{loop('n', PUT.format(1))}}}\n", []),  # perhaps not at all
    ],
)
def test_a_core_beyond_the_budget(body: str, expected: list[tuple[int, str]]) -> None:
    assert bounded("iter_count = 3 : i32", body) == expected


def test_without_a_bound_there_is_no_budget() -> None:
    assert bounded("", loop("n", PUT.format(1))) == []


def test_a_receiver_gets_each_repeat() -> None:
    """Three passes of the sender, twice each, are six for the receiver: twelve objects."""
    get = PUT.replace("Produce", "Consume").format(1)
    more, ends = "iter_count = 3 : i32, repeat_count = 2 : i32", "%c33, {%c02}"
    # Nobody fills the sender's pool here, which is another matter.
    idle = (1, "'aie.objectfifo.pool' op segment 0 has no filler")
    assert bounded(more, loop("n", get), ends) == [idle]
    assert bounded(more, loop("two", loop("n", get)), ends) == [idle, (13, message(14, 6, "f_cons"))]
