"""Runs that cannot end well: who waits for what, and what hardware would have hidden."""

from __future__ import annotations

import struct

import pytest

from aiecc.base.diag import Refused
from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Kind, Outcome, Status

SEEDS = range(8)


def run(body: str, device: str = "npu2", **options: object) -> Outcome:
    return simulate(parse(f"aie.device({device}) {{\n{body}\n}}", "stuck.mlir"), **options)  # type: ignore[arg-type]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


TWO = """%a = aie.tile(0, 2)
%b = aie.tile(0, 3)
%buf = aie.buffer(%a) {sym_name = "buf"} : memref<4xi32>
%left = aie.lock(%a) {init = 0 : i32, sym_name = "left"}
%right = aie.lock(%a) {init = 0 : i32, sym_name = "right"}
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_two_cores_that_wait_for_one_another(seed: int) -> None:
    body = (
        TWO
        + """%x = aie.core(%a) {
  aie.use_lock(%left, AcquireGreaterEqual, 1)
  aie.use_lock(%right, Release, 1)
  aie.end
}
%y = aie.core(%b) {
  aie.use_lock(%right, AcquireGreaterEqual, 2)
  aie.use_lock(%left, Release, 1)
  aie.end
}"""
    )
    outcome = run(body, seed=seed)
    assert outcome.status is Status.STUCK
    waits = {w.actor: (w.what, w.where.line if w.where else None) for w in outcome.waits}
    assert waits == {
        "core (0, 2)": ("lock left to reach 1 (it is 0)", 8),
        "core (0, 3)": ("lock right to reach 2 (it is 0)", 13),
    }
    assert "stuck.mlir:8:3: core (0, 2) waits for lock left to reach 1 (it is 0)" in outcome.report()
    assert run(body.replace("init = 0", "init = 2"), seed=seed).finished


@pytest.mark.parametrize("seed", SEEDS)
def test_waits_inside_functions_name_the_line_there(seed: int) -> None:
    body = (
        TWO
        + """func.func private @wait(%l: index) {
  %one = arith.constant 1 : i32
  aie.use_lock(%l, AcquireGreaterEqual, %one)
  return
}
%x = aie.core(%a) {
  func.call @wait(%left) : (index) -> ()
  aie.end
}"""
    )
    outcome = run(body, seed=seed)
    assert [(w.what, w.where.line if w.where else None) for w in outcome.waits] == [
        ("lock left to reach 1 (it is 0)", 9)
    ]


def test_a_feed_that_is_too_short_leaves_its_reader_waiting() -> None:
    body = """%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%buf = aie.buffer(%m) {sym_name = "buf"} : memref<4xi32>
aie.flow(%s, DMA : 0, %m, DMA : 0)
%d = aie.memtile_dma(%m) {
  %x = aie.dma_start(S2MM, 0, ^in, ^end)
^in:
  aie.dma_bd(%buf : memref<4xi32> offset = 0 len = 4)
  aie.next_bd ^end
^end:
  aie.end
}
%t = aie.tile(0, 2)
%l = aie.lock(%t) {init = 0 : i32, sym_name = "never"}
%c = aie.core(%t) {
  aie.use_lock(%l, AcquireGreaterEqual, 1)
  aie.end
}"""
    outcome = run(body, feeds={(0, 0): words(1, 2, 3)})
    assert outcome.stuck
    waits = {w.actor: w.what for w in outcome.waits}
    assert waits["S2MM 0 of tile (0, 1)"] == "4 more bytes on stream (0, 1) DMA : 0"
    assert outcome.missing == ("core (0, 2) has not reached its end",)
    # One word too many: the channel has ended and the feed is left with it.
    outcome = run(body, feeds={(0, 0): words(1, 2, 3, 4, 5)})
    assert "feed (0, 0) DMA : 0 has bytes left that nobody took" in outcome.missing


@pytest.mark.parametrize("amount", [63, 64])
def test_a_lock_stops_at_its_limit(amount: int) -> None:
    outcome = run(TWO + f"%x = aie.core(%a) {{\n  aie.use_lock(%left, Release, {amount})\n  aie.end\n}}")
    if amount == 63:
        assert outcome.finished
        assert outcome.locks["left"].high == 63
        return
    assert outcome.status is Status.TRAPPED
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.LOCK
    assert outcome.trap.where is not None
    assert (outcome.trap.actor, outcome.trap.where.line) == ("core (0, 2)", 8)
    assert outcome.trap.text == "releases lock left by 64 at 0; its range is 0 to 63"


@pytest.mark.parametrize(
    ("action", "value"), [("AcquireGreaterEqual", 64), ("AcquireGreaterEqual", -1), ("Release", -1)]
)
def test_amounts_that_no_lock_has_trap(action: str, value: int) -> None:
    outcome = run(TWO + f"%x = aie.core(%a) {{\n  aie.use_lock(%left, {action}, {value})\n  aie.end\n}}")
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.LOCK


def test_an_initial_value_beyond_the_limit_is_refused() -> None:
    with pytest.raises(Refused, match="lock left starts at 64; its range is 0 to 63"):
        run(TWO.replace('{init = 0 : i32, sym_name = "left"}', '{init = 64 : i32, sym_name = "left"}'))


@pytest.mark.parametrize(("start", "finishes"), [(1, False), (2, True), (3, False)])
def test_acquire_waits_for_the_exact_value(start: int, finishes: bool) -> None:
    body = (
        TWO.replace("init = 0", f"init = {start}")
        + """%x = aie.core(%a) {
  aie.use_lock(%left, Acquire, 2)
  aie.end
}"""
    )
    outcome = run(body)
    assert outcome.finished is finishes
    assert outcome.locks["left"].value == (0 if finishes else start)
    assert finishes or outcome.waits[0].what == f"lock left to become 2 (it is {start})"


@pytest.mark.parametrize("seed", SEEDS)
def test_binary_locks_carry_the_state_of_a_buffer(seed: int) -> None:
    body = """%a = aie.tile(3, 3)
%b = aie.tile(3, 4)
%buf = aie.buffer(%a) {sym_name = "buf"} : memref<8xi32>
%l = aie.lock(%a) {init = 0 : i32, sym_name = "l"}
%out = aie.buffer(%b) {sym_name = "out"} : memref<1xi32>
%x = aie.core(%a) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    aie.use_lock(%l, Acquire, 0)
    %v = arith.index_cast %i : index to i32
    memref.store %v, %buf[%c0] : memref<8xi32>
    aie.use_lock(%l, Release, 1)
  }
  aie.end
}
%y = aie.core(%b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (i32) {
    aie.use_lock(%l, Acquire, 1)
    %v = memref.load %buf[%c0] : memref<8xi32>
    %three = arith.constant 3 : i32
    %m = arith.muli %s, %three : i32
    %t = arith.addi %m, %v : i32
    aie.use_lock(%l, Release, 0)
    scf.yield %t : i32
  }
  memref.store %sum, %out[%c0] : memref<1xi32>
  aie.end
}"""
    outcome = run(body, device="xcvc1902", seed=seed)
    assert outcome.finished, outcome.report()
    expected = 0
    for v in range(8):
        expected = 3 * expected + v
    assert struct.unpack("<i", outcome.memory["out"]) == (expected,)


RACE = """%s = aie.tile(0, 0)
%t = aie.tile(0, 2)
%buf = aie.buffer(%t) {sym_name = "buf"} : memref<8xi32> = dense<0>
%go = aie.lock(%t) {init = 0 : i32, sym_name = "go"}
aie.flow(%s, DMA : 0, %t, DMA : 0)
%m = aie.mem(%t) {
  %x = aie.dma_start(S2MM, 0, ^in, ^end)
^in:
  aie.dma_bd(%buf : memref<8xi32> offset = 0 len = 4 sizes = [2, 2] strides = [4, 1])
  aie.use_lock(%go, Release, 1)
  aie.next_bd ^end
^end:
  aie.end
}
%c = aie.core(%t) {
  %i = arith.constant INDEX : index
  %v = arith.constant 1 : i32
  BEFORE
  memref.store %v, %buf[%i] : memref<8xi32>
  aie.end
}"""


@pytest.mark.parametrize(("index", "races"), [(0, True), (1, True), (2, False), (3, False), (4, True), (7, False)])
def test_a_store_into_bytes_a_dma_fills(index: int, races: bool) -> None:
    # The transfer fills words 0, 1, 4 and 5; one word never comes, so it is under way for ever.
    body = RACE.replace("INDEX", str(index)).replace("BEFORE", "")
    outcome = run(body, feeds={(0, 0): words(1, 2, 3)})
    assert (outcome.trap is not None) is races
    if outcome.trap is not None:
        assert outcome.trap.kind is Kind.RACE
        assert "while S2MM 0 of tile (0, 2) is filling them" in outcome.trap.text
        assert outcome.trap.where is not None
        assert outcome.trap.where.line == 20


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_waits_for_the_dma_is_no_race(seed: int) -> None:
    body = RACE.replace("INDEX", "0").replace("BEFORE", "aie.use_lock(%go, AcquireGreaterEqual, 1)")
    outcome = run(body, feeds={(0, 0): words(5, 6, 7, 8)}, seed=seed)
    assert outcome.finished, outcome.report()
    assert struct.unpack("<8i", outcome.memory["buf"]) == (1, 6, 0, 0, 7, 8, 0, 0)


def test_a_descriptor_beyond_its_buffer_traps() -> None:
    outcome = run(
        """%s = aie.tile(0, 0)
%t = aie.tile(0, 2)
%buf = aie.buffer(%t) {sym_name = "buf"} : memref<8xi32> = dense<0>
aie.flow(%t, DMA : 0, %s, DMA : 0)
%m = aie.mem(%t) {
  %x = aie.dma_start(MM2S, 0, ^out, ^end, repeat_count = 9)
^out:
  aie.dma_bd(%buf : memref<8xi32> offset = 0 len = 4) {iteration = #aie.bd_iteration<size = 8, stride = 4, current = 0>}
  aie.next_bd ^end
^end:
  aie.end
}"""
    )
    assert outcome.trap is not None
    assert outcome.trap.kind is Kind.BOUNDS
    assert outcome.trap.text == "moves bytes 32 to 47 of buf, which has 32"
    assert outcome.trap.where is not None
    assert outcome.trap.where.line == 9


def test_the_order_of_events_depends_on_the_seed_and_on_nothing_else() -> None:
    """A core that asks who came first: seeds differ in the answer, runs of one seed do not."""
    body = (
        TWO.replace("memref<4xi32>", "memref<4xi32> = dense<0>")
        + """%x = aie.core(%a) {
  %i = arith.constant 0 : index
  %v = arith.constant 1 : i32
  aie.use_lock(%left, Release, 1)
  memref.store %v, %buf[%i] : memref<4xi32>
  aie.end
}
%y = aie.core(%b) {
  %i = arith.constant 0 : index
  %v = arith.constant 2 : i32
  aie.use_lock(%right, Release, 1)
  memref.store %v, %buf[%i] : memref<4xi32>
  aie.end
}"""
    )
    answers = [run(body, seed=seed).memory["buf"] for seed in range(10)]
    assert answers == [run(body, seed=seed).memory["buf"] for seed in range(10)]
    assert len(set(answers)) == 2


def test_a_design_that_is_not_lowered_is_refused() -> None:
    body = """%a = aie.tile(0, 2)
%b = aie.tile(0, 3)
aie.objectfifo @f(%a, {%b}, 2 : i32) : !aie.objectfifo<memref<4xi32>>"""
    with pytest.raises(Refused, match=r"'aie\.objectfifo' is not lowered yet"):
        run(body)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"feeds": {"nowhere": b""}}, "there is no shim end called nowhere"),
        ({"feeds": {(0, 0): b"abc"}}, "no whole words"),
        ({"feeds": {"buf": bytes(17)}}, "17 bytes do not fit buffer buf"),
    ],
)
def test_what_the_caller_gets_wrong_is_said(options: dict[str, object], text: str) -> None:
    with pytest.raises(Refused, match=text):
        run(TWO, **options)


def test_one_of_several_devices_is_chosen_by_name() -> None:
    one = "aie.device(npu2) @NAME {\n%t = aie.tile(0, 2)\n%c = aie.core(%t) {\naie.end\n}\n}\n"
    module = parse(one.replace("NAME", "first") + one.replace("NAME", "second"), "two.mlir")
    assert simulate(module, "second").finished
    for name in (None, "third"):
        with pytest.raises(Refused, match="these devices: first, second; say which to run"):
            simulate(module, name)


def test_a_dma_that_sends_what_nobody_wrote_traps() -> None:
    body = """%s = aie.tile(0, 0)
%t = aie.tile(0, 2)
%buf = aie.buffer(%t) {sym_name = "buf"} : memref<8xi16>
aie.flow(%t, DMA : 0, %s, DMA : 0)
%m = aie.mem(%t) {
  %x = aie.dma_start(MM2S, 0, ^out, ^end)
^out:
  aie.dma_bd(%buf : memref<8xi16> offset = 2 len = 4)
  aie.next_bd ^end
^end:
  aie.end
}"""
    outcome = run(body)
    assert outcome.trap is not None
    assert (outcome.trap.kind, outcome.trap.actor) == (Kind.UNWRITTEN, "MM2S 0 of tile (0, 2)")
    assert "byte 4 of buf" in outcome.trap.text
    given = struct.pack("<8h", *range(8))
    assert run(body, feeds={"buf": given}).received["(0, 0) DMA : 0"] == given[4:12]
    # The host wrote too little: half of what is sent is still unwritten.
    assert run(body, feeds={"buf": given[:8]}).status is Status.TRAPPED
