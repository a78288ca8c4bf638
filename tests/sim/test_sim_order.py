"""Accesses that nothing keeps apart are caught whichever way a run happens to go."""

from __future__ import annotations

import pytest

from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Kind, Outcome

SEEDS = range(8)


def run(first: str, second: str, more: str = "", seed: int = 0, **options: object) -> Outcome:
    """Two neighbouring cores that reach one buffer and the locks %full and %free."""
    text = f"""aie.device(npu2) {{
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    %x = aie.buffer(%a) {{sym_name = "x"}} : memref<4xi32> = dense<0>
    %free = aie.lock(%a) {{init = 1 : i32, sym_name = "free"}}
    %full = aie.lock(%a) {{init = 0 : i32, sym_name = "full"}}
    {more}
    %ca = aie.core(%a) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %k = arith.constant 7 : i32
      {first}
      aie.end
    }}
    %cb = aie.core(%b) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %k = arith.constant 5 : i32
      {second}
      aie.end
    }}
    }}"""
    return simulate(parse(text, "order.mlir"), seed=seed, **options)  # type: ignore[arg-type]


STORE = "memref.store %k, %x[%c0] : memref<4xi32>"
OTHER = "memref.store %k, %x[%c1] : memref<4xi32>"
LOAD = "%v = memref.load %x[%c0] : memref<4xi32>"


def take(lock: str) -> str:
    return f"aie.use_lock(%{lock}, AcquireGreaterEqual, 1)"


def give(lock: str) -> str:
    return f"aie.use_lock(%{lock}, Release, 1)"


def loop(*lines: str) -> str:
    body = "\n".join(lines)
    return f"scf.for %i = %c0 to %c9 step %c1 {{\n{body}\n}}"


@pytest.mark.parametrize("seed", SEEDS)
def test_two_writers_of_one_byte(seed: int) -> None:
    trap = run(STORE, STORE, seed=seed).trap
    assert trap is not None
    assert trap.kind is Kind.ORDER
    assert trap.where is not None
    early = {"core (0, 3)": "core (0, 2)", "core (0, 2)": "core (0, 3)"}[trap.actor]
    assert trap.text == f"writes byte 0 of x, which {early} wrote with no lock in between"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reader_that_does_not_wait(seed: int) -> None:
    trap = run(STORE, LOAD, seed=seed).trap
    assert trap is not None
    assert trap.kind is Kind.ORDER


@pytest.mark.parametrize("seed", SEEDS)
def test_different_elements_do_not_meet(seed: int) -> None:
    assert run(STORE, OTHER, seed=seed).finished


@pytest.mark.parametrize("seed", SEEDS)
def test_two_readers_need_nothing(seed: int) -> None:
    assert run(LOAD, LOAD, seed=seed).finished


@pytest.mark.parametrize("seed", SEEDS)
def test_locks_taken_in_turns_keep_apart(seed: int) -> None:
    outcome = run(loop(take("free"), STORE, give("full")), loop(take("full"), LOAD, give("free")), seed=seed)
    assert outcome.finished, outcome.report()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("late", ["writer", "reader"])
def test_touching_an_object_after_giving_it_away(seed: int, late: str) -> None:
    write = [take("free"), give("full"), STORE] if late == "writer" else [take("free"), STORE, give("full")]
    read = [take("full"), give("free"), LOAD] if late == "reader" else [take("full"), LOAD, give("free")]
    trap = run(loop(*write), loop(*read), seed=seed).trap
    assert trap is not None
    assert trap.kind is Kind.ORDER


def test_a_lock_of_somebody_else_does_not_help() -> None:
    more = '%own = aie.lock(%a) {init = 1 : i32, sym_name = "own"}'
    trap = run("\n".join([take("own"), STORE, give("own")]), "\n".join([take("free"), LOAD, give("free")]), more).trap
    assert trap is not None
    assert trap.kind is Kind.ORDER


def test_a_unit_that_was_there_from_the_start_says_nothing() -> None:
    # The reader takes the unit the lock starts with, not the writer's.
    more = '%two = aie.lock(%a) {init = 1 : i32, sym_name = "two"}'
    outcomes = [run("\n".join([STORE, give("two")]), "\n".join([take("two"), LOAD]), more, seed=s) for s in SEEDS]
    assert all(o.trap is not None and o.trap.kind is Kind.ORDER for o in outcomes)
    assert run("\n".join([STORE, give("two")]), f"aie.use_lock(%two, AcquireGreaterEqual, 2)\n{LOAD}", more).finished


def test_words_on_a_stream_and_a_cascade_keep_apart() -> None:
    put = "%ch = arith.constant 0 : i32\naie.put_stream(%ch : i32, %k : i32)"
    get = "%ch = arith.constant 0 : i32\n%w = aie.get_stream(%ch : i32) : i32"
    flow = "aie.flow(%a, Core : 0, %b, Core : 0)"
    for seed in SEEDS:
        assert run(f"{STORE}\n{put}", f"{get}\n{LOAD}", flow, seed=seed).finished
        trap = run(f"{put}\n{STORE}", f"{get}\n{LOAD}", flow, seed=seed).trap
        assert trap is not None
        assert trap.kind is Kind.ORDER


def test_a_dma_that_nobody_asked_to_wait() -> None:
    more = """
    %s = aie.tile(0, 0)
    aie.flow(%a, DMA : 0, %s, DMA : 0)
    %m = aie.mem(%a) {
      %d = aie.dma_start(MM2S, 0, ^send, ^end)
    ^send:
      aie.dma_bd(%x : memref<4xi32> offset = 0 len = 4)
      aie.next_bd ^end
    ^end:
      aie.end
    }"""
    for seed in SEEDS:
        trap = run(STORE, "", more, seed=seed).trap
        assert trap is not None
        assert trap.kind in (Kind.ORDER, Kind.RACE)
        if trap.kind is Kind.ORDER:
            assert "with no lock in between" in trap.text


def test_the_check_can_be_left_out() -> None:
    assert run(STORE, STORE, ordered=False).finished


def test_binary_locks_keep_apart() -> None:
    body = """aie.device(xcvc1902) {
    %a = aie.tile(1, 2)
    %b = aie.tile(1, 3)
    %x = aie.buffer(%a) {sym_name = "x"} : memref<4xi32>
    %l = aie.lock(%a) {init = 0 : i32, sym_name = "l"}
    %ca = aie.core(%a) {
      %c0 = arith.constant 0 : index
      %k = arith.constant 5 : i32
      aie.use_lock(%l, Acquire, 0)
      memref.store %k, %x[%c0] : memref<4xi32>
      aie.use_lock(%l, Release, 1)
      aie.end
    }
    %cb = aie.core(%b) {
      %c0 = arith.constant 0 : index
      aie.use_lock(%l, Acquire, 1)
      %v = memref.load %x[%c0] : memref<4xi32>
      aie.use_lock(%l, Release, 0)
      LATE
      aie.end
    }
    }"""
    assert simulate(parse(body.replace("LATE", ""), "binary.mlir")).finished
    late = body.replace("LATE", "memref.store %v, %x[%c0] : memref<4xi32>")
    assert simulate(parse(late, "binary.mlir")).finished
    early = late.replace("aie.use_lock(%l, Acquire, 1)", "").replace("aie.use_lock(%l, Release, 0)", "")
    assert any(simulate(parse(early, "binary.mlir"), seed=s).trap is not None for s in SEEDS)
