"""Designs that must get stuck are told before they are built; others are let pass, or said to be undecided."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Diagnostic, Level, Sink, render
from aiecc.ir.lowering import follow
from aiecc.ir.text import parse, print_module
from aiecc.model.recipe import recipe
from aiecc.sim.array import simulate
from aiecc.sim.hang import Kind, Verdict, hang_check, hang_diagnostics

HANGS = Path(__file__).parents[1] / "designs" / "hangs"
EXAMPLES = Path(__file__).parents[2] / "examples"
STUCK = sorted(p.stem for p in HANGS.glob("*.mlir") if not p.stem.endswith("_repaired"))
SEEDS = range(3)


def lower(module: ModuleOp, dynamic: bool = True) -> ModuleOp | None:
    sink = Sink()
    steps = [s for s in recipe(dynamic_fifos=dynamic) if "link-files" not in s]
    return module if follow(module, steps, sink) else None


def design(name: str, dynamic: bool = True) -> tuple[ModuleOp, ModuleOp]:
    file = HANGS / f"{name}.mlir"
    before = parse(file.read_text(), file.name)
    lowered = lower(before.clone(), dynamic)
    assert lowered is not None
    return before, lowered


def report(verdict: Verdict, level: Level = Level.ERROR, *, verbose: bool = False) -> list[Diagnostic]:
    return list(hang_diagnostics(verdict, level, verbose=verbose))


# --- the six ----------------------------------------------------------------------------------------------------------

REASONS = {
    "cyclic_wait": "core (0, 2) waits for an object of fifo @back (acquire Consume 1, it holds 0)",
    "missing_release": "core (0, 2) waits for room for an object in fifo @line (acquire Produce 1, it holds 0)",
    "partial_object": "core (0, 4) waits for an object of fifo @whole (acquire Consume 1, it holds 0)",
    "two_paths": "core (0, 2) waits for room for an object in fifo @skip (acquire Produce 1, it holds 0)",
    "unequal_rates": "core (0, 3) waits for an object of fifo @line (acquire Consume 1, it holds 0)",
    "window_one_deep": "core (0, 2) waits for room for an object in fifo @weights (acquire Produce 1, it holds 0)",
}
# The line of the acquire that waits for ever, and what its wait hangs on in the end.
LINES = {
    "cyclic_wait": ("aie.objectfifo.acquire @back(Consume", "none of them can go on"),
    "missing_release": ("aie.objectfifo.acquire @line(Produce", "core (0, 3) acquires objects and never releases one"),
    "partial_object": ("aie.objectfifo.acquire @whole(Consume", "core (0, 2) has nothing more to do"),
    "two_paths": ("aie.objectfifo.acquire @skip(Produce", "none of them can go on"),
    "unequal_rates": ("aie.objectfifo.acquire @line(Consume", "core (0, 2) has nothing more to do"),
    "window_one_deep": ("aie.objectfifo.acquire @weights(Produce", "none of them can go on"),
}
TODO = {
    "missing_release": "release what core (0, 3) acquires of @line",
    "two_paths": "give @skip a depth of 2",
    "window_one_deep": "give @weights a depth of 2",
}


def test_there_are_six_and_each_has_its_twin() -> None:
    assert set(STUCK) == set(REASONS)
    assert all((HANGS / f"{name}_repaired.mlir").exists() for name in STUCK)


@pytest.mark.parametrize("dynamic", [True, False], ids=["rolled", "unrolled"])
@pytest.mark.parametrize("name", STUCK)
def test_a_design_that_hangs_is_told_with_its_reason(name: str, dynamic: bool) -> None:
    before, lowered = design(name, dynamic)
    verdict = hang_check(before, lowered, relower=lambda m: lower(m, dynamic))
    (found,) = report(verdict)
    assert found.code == "E1101"
    assert found.is_error
    assert found.text == f"this design must get stuck: {REASONS[name]}"
    assert found.where is not None
    line, last = LINES[name]
    assert line in (HANGS / found.where.file).read_text().splitlines()[found.where.line - 1]
    assert last in found.notes[-1].text
    assert found.todo == TODO.get(name, "")


@pytest.mark.parametrize("name", STUCK)
def test_it_really_gets_stuck_and_its_twin_does_not(name: str) -> None:
    for seed in SEEDS:
        _, lowered = design(name)
        outcome = simulate(lowered, cores_end=True, seed=seed)
        assert outcome.stuck, outcome.report()
        _, repaired = design(f"{name}_repaired")
        outcome = simulate(repaired, cores_end=True, seed=seed)
        assert outcome.finished, outcome.report()


@pytest.mark.parametrize("dynamic", [True, False], ids=["rolled", "unrolled"])
@pytest.mark.parametrize("name", STUCK)
def test_nothing_is_said_of_its_twin(name: str, dynamic: bool) -> None:
    before, lowered = design(f"{name}_repaired", dynamic)
    verdict = hang_check(before, lowered)
    assert verdict.kind is Kind.RUNS
    assert report(verdict, verbose=True) == []


def test_all_who_wait_in_turn_are_named_with_their_lines() -> None:
    before, lowered = design("two_paths")
    (found,) = report(hang_check(before, lowered))
    said = [note.text for note in found.notes]
    order = ["MM2S 0 of tile (0, 2)", "S2MM 0 of tile (0, 5)", "core (0, 5)", "MM2S 0 of tile (0, 3)", "core (0, 3)"]
    places = [next(at for at, text in enumerate(said) if text.startswith(who)) for who in order]
    assert places == sorted(places)
    assert "core (0, 3) waits for 4 objects of fifo @in (acquire Consume 4, it holds 0, 2 are there)" in said
    assert all(note.where is not None for note in found.notes[:-1])


def test_a_depth_that_helps_is_the_smallest() -> None:
    before, lowered = design("two_paths")
    verdict = hang_check(before, lowered, relower=lower)
    assert verdict.todo == "give @skip a depth of 2"
    assert hang_check(before, lowered, relower=lambda _: None).todo == ""


def test_warnings_and_silence() -> None:
    before, lowered = design("unequal_rates")
    verdict = hang_check(before, lowered)
    (found,) = report(verdict, Level.WARNING)
    assert (found.level, found.code) == (Level.WARNING, "W1101")
    assert "must get stuck" in render(found)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/design.mlir")), ids=lambda f: f.parent.name)
def test_nothing_is_said_of_the_examples(file: Path) -> None:
    before = parse(file.read_text(), file.name)
    lowered = lower(before.clone())
    assert lowered is not None
    verdict = hang_check(before, lowered)
    assert not verdict.stuck, verdict
    assert verdict.runs or verdict.reason.endswith("is prebuilt")


# --- locks by hand ----------------------------------------------------------------------------------------------------


def cores(*bodies: str, device: str = "npu2", more: str = "", locks: str = "") -> ModuleOp:
    """Cores one above the other. Locks are `NAME:VALUE`, named as the lowering names those of fifos."""
    lines = [f"%t{n} = aie.tile(0, {n + 2})" for n in range(max(len(bodies), 1))]
    for lock in locks.split():
        name, _, value = lock.partition(":")
        lines.append(f'%{name} = aie.lock(%t{len(bodies) // 2}) {{init = {value} : i32, sym_name = "{name}_lock_0"}}')
    lines.append(more)
    for n, body in enumerate(bodies):
        lines.append(f"""
        %core{n} = aie.core(%t{n}) {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          %c5 = arith.constant 5 : index
          %many = arith.constant 2147483647 : index
          %true = arith.constant true
          {body}
          aie.end
        }}""")
    return parse(f"aie.device({device}) {{\n" + "\n".join(lines) + "\n}", "cores.mlir")


def take(lock: str, value: int | str = 1) -> str:
    return f"aie.use_lock(%{lock}, AcquireGreaterEqual, {value})\n"


def give(lock: str, value: int | str = 1) -> str:
    return f"aie.use_lock(%{lock}, Release, {value})\n"


NUMBERS = count()


def loop(body: str, to: str = "%c5") -> str:
    return f"scf.for %i{next(NUMBERS)} = %c0 to {to} step %c1 {{\n{body}\n}}\n"


FILL = take("p_prod") + give("p_cons")
EMPTY = take("p_cons") + give("p_prod")


def both(module: ModuleOp) -> Verdict:
    """The verdict, which the array model has to agree with, whoever comes first."""
    verdict = hang_check(None, module, slack=0)
    for seed in SEEDS:
        outcome = simulate(module, cores_end=True, seed=seed, max_events=20_000)
        if verdict.stuck:
            assert outcome.stuck, outcome.report()
        elif verdict.runs:
            assert outcome.status.value != "trapped", outcome.report()
    return verdict


def test_turns_that_fit() -> None:
    module = cores(loop(FILL), loop(EMPTY), locks="p_prod:2 p_cons:0")
    assert both(module).runs


def test_more_is_wanted_than_comes() -> None:
    module = cores(loop(FILL, "%c3"), loop(EMPTY), locks="p_prod:2 p_cons:0")
    verdict = both(module)
    assert verdict.stuck
    assert verdict.reason == "core (0, 3) waits for lock p_cons_lock_0 to reach 1 (it is 0)"
    assert [n.text for n in verdict.notes] == ["core (0, 2) has nothing more to do"]


def test_a_core_that_serves_for_ever_may_wait_when_all_is_done() -> None:
    module = cores(
        loop(FILL, "%c3"),
        loop(EMPTY, "%many"),
        locks="p_prod:2 p_cons:0",
    )
    assert both(module).runs
    module = cores(
        loop(FILL, "%many"),
        loop(EMPTY, "%c3"),
        locks="p_prod:2 p_cons:0",
    )
    assert both(module).runs


def test_two_that_run_for_ever_and_one_that_starves() -> None:
    ring = FILL, EMPTY
    module = cores(
        loop(ring[0], "%many"),
        loop(ring[1] + take("q_cons") + give("q_cons"), "%many"),
        loop(take("q_prod")) + give("q_prod", 5),
        locks="p_prod:2 p_cons:0 q_prod:3 q_cons:1",
    )
    verdict = hang_check(None, module)
    assert verdict.stuck
    assert verdict.reason == "core (0, 4) waits for lock q_prod_lock_0 to reach 1 (it is 0)"


def test_endless_loops_that_block_one_another() -> None:
    module = cores(
        loop(take("a_cons") + give("b_cons"), "%many"),
        loop(take("b_cons") + give("a_cons"), "%many"),
        locks="a_cons:0 b_cons:0",
    )
    verdict = both(module)
    assert verdict.stuck
    assert verdict.notes[-1].text == "which waits for core (0, 2), so none of them can go on"
    primed = cores(
        loop(take("a_cons") + give("b_cons"), "%many"),
        loop(take("b_cons") + give("a_cons"), "%many"),
        locks="a_cons:1 b_cons:0",
    )
    assert both(primed).runs


def test_a_while_that_never_ends() -> None:
    body = FILL
    forever = f"scf.while : () -> () {{\nscf.condition(%true)\n}} do {{\n{body}\nscf.yield\n}}\n"
    module = cores(forever, loop(EMPTY, "%c3"), locks="p_prod:2 p_cons:0")
    assert both(module).runs


def test_a_while_that_counts() -> None:
    counting = f"""
    %n = scf.while (%k = %c0) : (index) -> index {{
      %go = arith.cmpi slt, %k, %c5 : index
      scf.condition(%go) %k : index
    }} do {{
    ^bb0(%j: index):
      {take("p_prod")}{give("p_cons")}
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }}
    """
    ends = cores(counting, loop(EMPTY), locks="p_prod:2 p_cons:0")
    assert both(ends).runs
    more = cores(counting, loop(loop(EMPTY), "%c3"), locks="p_prod:2 p_cons:0")
    assert both(more).stuck


def test_amounts_that_are_counted_in_loops() -> None:
    # Takes 0, 1, 2, 3, 4: ten in all.
    counted = """
    %z = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%n = %z) -> (i32) {
      aie.use_lock(%p_cons, AcquireGreaterEqual, %n)
      %m = arith.addi %n, %one : i32
      scf.yield %m : i32
    }
    """
    assert both(cores(loop(give("p_cons", 2)), counted, locks="p_cons:0")).runs
    verdict = both(cores(loop(give("p_cons", 2), "%c3"), counted, locks="p_cons:3"))
    assert verdict.stuck
    assert verdict.reason.endswith("lock p_cons_lock_0 to reach 4 (it is 3)")


def test_a_variable_in_memory() -> None:
    body = """
    %slot = memref.alloca() : memref<i32>
    %one = arith.constant 1 : i32
    memref.store %one, %slot[] : memref<i32>
    scf.for %i = %c0 to %c3 step %c1 {
      %n = memref.load %slot[] : memref<i32>
      aie.use_lock(%p_cons, AcquireGreaterEqual, %n)
      %m = arith.addi %n, %n : i32
      memref.store %m, %slot[] : memref<i32>
    }
    """
    assert both(cores(give("p_cons", 7), body, locks="p_cons:0")).runs
    assert both(cores(give("p_cons", 6), body, locks="p_cons:0")).stuck


def test_functions_that_take_and_give() -> None:
    more = """
    func.func @turn(%lock: index, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        aie.use_lock(%lock, AcquireGreaterEqual, 1)
      }
      return
    }"""
    calls = "func.call @turn(%p_cons, %c3) : (index, index) -> ()\nfunc.call @turn(%q_cons, %c1) : (index, index) -> ()"
    assert both(cores(give("p_cons", 3) + give("q_cons"), calls, more=more, locks="p_cons:0 q_cons:0")).runs
    assert both(cores(give("p_cons", 4) + give("q_cons", 0), calls, more=more, locks="p_cons:0 q_cons:0")).stuck


def test_blocks_that_branch() -> None:
    graph = f"""
      cf.br ^head(%c0 : index)
    ^head(%k: index):
      %go = arith.cmpi slt, %k, %c3 : index
      cf.cond_br %go, ^body, ^out
    ^body:
      {take("p_cons")}
      %next = arith.addi %k, %c1 : index
      cf.br ^head(%next : index)
    ^out:
    """
    assert both(cores(give("p_cons", 3), graph, locks="p_cons:0")).runs
    assert both(cores(give("p_cons", 2), graph, locks="p_cons:0")).stuck
    endless = graph.replace("cf.br ^head(%next : index)", "cf.br ^head(%k : index)")
    assert both(cores(loop(take("q_cons")) + give("p_cons", 2), endless, locks="p_cons:0 q_cons:5")).runs


def test_data_decides_about_a_lock() -> None:
    more = '%x = aie.buffer(%t1) {sym_name = "x"} : memref<4xi32> = dense<1>'
    decides = f"""
    %v = memref.load %x[%c0] : memref<4xi32>
    %k = arith.constant 0 : i32
    %go = arith.cmpi sgt, %v, %k : i32
    scf.if %go {{ {take("p_cons")} }}
    """
    verdict = hang_check(None, cores(give("p_cons"), decides, more=more, locks="p_cons:0"))
    assert verdict.undecided
    assert verdict.reason == "what core (0, 3) waits for depends on its data"
    assert verdict.where is not None
    assert report(verdict) == []
    (said,) = report(verdict, verbose=True)
    assert said.level is Level.REMARK
    assert said.text.endswith("is not decided: what core (0, 3) waits for depends on its data")


def test_data_that_decides_about_no_lock_does_not_matter() -> None:
    more = '%x = aie.buffer(%t1) {sym_name = "x"} : memref<4xi32> = dense<1>'
    body = f"""
    %v = memref.load %x[%c0] : memref<4xi32>
    %k = arith.constant 0 : i32
    %top = scf.for %i = %c0 to %c3 step %c1 iter_args(%best = %v) -> (i32) {{
      {take("p_cons")}
      %w = memref.load %x[%i] : memref<4xi32>
      %go = arith.cmpi sgt, %w, %best : i32
      %max = scf.if %go -> (i32) {{ scf.yield %w : i32 }} else {{ scf.yield %best : i32 }}
      %n = arith.index_cast %max : i32 to index
      scf.for %j = %c0 to %n step %c1 {{ memref.store %w, %x[%c0] : memref<4xi32> }}
      scf.yield %max : i32
    }}
    """
    assert both(cores(give("p_cons", 3), body, more=more, locks="p_cons:0")).runs
    assert both(cores(give("p_cons", 2), body, more=more, locks="p_cons:0")).stuck


def test_a_lock_that_two_take() -> None:
    verdict = hang_check(None, cores(take("p_cons"), take("p_cons"), give("p_cons"), locks="p_cons:0"))
    assert verdict.undecided
    assert "p_cons_lock_0 is taken by several" in verdict.reason


def test_a_lock_of_the_users_own_may_be_the_hosts() -> None:
    text = """aie.device(npu2) {
    %t = aie.tile(0, 2)
    %go = aie.lock(%t) {init = 0 : i32, sym_name = "go"}
    %c = aie.core(%t) { aie.use_lock(%go, AcquireGreaterEqual, 1) aie.end }
    }"""
    assert hang_check(None, parse(text, "go.mlir")).runs
    fifos = text.replace('"go"', '"of_cons_lock_0"')
    assert hang_check(None, parse(fifos, "go.mlir")).stuck
    writes = "aie.runtime_sequence() { aiex.set_lock(%go, 1) }"
    assert hang_check(None, parse(fifos.rstrip("}") + writes + "}", "go.mlir")).runs


def test_more_than_is_looked_at() -> None:
    module = cores(
        loop(loop(FILL)),
        loop(loop(EMPTY)),
        locks="p_prod:2 p_cons:0",
    )
    assert hang_check(None, module, limit=30).undecided
    assert hang_check(None, module).runs


def test_a_lock_beyond_its_range_is_left_to_others() -> None:
    verdict = hang_check(None, cores(give("p_cons", 60) + give("p_cons", 60), take("p_cons"), locks="p_cons:0"))
    assert verdict.undecided
    assert "goes over its range" in verdict.reason


# --- streams ----------------------------------------------------------------------------------------------------------


def through(words_out: int, words_in: int, sends: int, receives: int) -> ModuleOp:
    """A core that gives `sends` objects to a stream, and one that wants `receives` of another size."""
    return parse(
        f"""aie.device(npu2) {{
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 4)
    %x = aie.buffer(%a) {{sym_name = "x"}} : memref<{words_out}xi32> = dense<1>
    %y = aie.buffer(%b) {{sym_name = "y"}} : memref<{words_in}xi32>
    %xp = aie.lock(%a) {{init = 1 : i32, sym_name = "x_prod_lock_0"}}
    %xc = aie.lock(%a) {{init = 0 : i32, sym_name = "x_cons_lock_0"}}
    %yp = aie.lock(%b) {{init = 1 : i32, sym_name = "y_prod_lock_0"}}
    %yc = aie.lock(%b) {{init = 0 : i32, sym_name = "y_cons_lock_0"}}
    aie.flow(%a, DMA : 0, %b, DMA : 0)
    %ma = aie.mem(%a) {{
      %s = aie.dma_start(MM2S, 0, ^bd, ^end)
    ^bd:
      aie.use_lock(%xc, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<{words_out}xi32> offset = 0 len = {words_out})
      aie.use_lock(%xp, Release, 1)
      aie.next_bd ^bd
    ^end:
      aie.end
    }}
    %mb = aie.mem(%b) {{
      %s = aie.dma_start(S2MM, 0, ^bd, ^end)
    ^bd:
      aie.use_lock(%yp, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<{words_in}xi32> offset = 0 len = {words_in})
      aie.use_lock(%yc, Release, 1)
      aie.next_bd ^bd
    ^end:
      aie.end
    }}
    %ca = aie.core(%a) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {sends} : index
      scf.for %i = %c0 to %n step %c1 {{ {take("xp")} {give("xc")} }}
      aie.end
    }}
    %cb = aie.core(%b) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {receives} : index
      scf.for %i = %c0 to %n step %c1 {{ {take("yc")} {give("yp")} }}
      aie.end
    }}
    }}""",
        "through.mlir",
    )


@pytest.mark.parametrize("out", [1, 2, 3, 5])
@pytest.mark.parametrize("into", [1, 2, 3, 4])
@pytest.mark.parametrize("sends", [1, 4, 7])
@pytest.mark.parametrize("receives", [1, 3, 6])
def test_objects_of_different_sizes(out: int, into: int, sends: int, receives: int) -> None:
    # All words are there in the end; and whoever sends may have one object at the DMA and one part of it taken.
    starves = sends * out < receives * into
    # The receiver's last object, and one more in the buffer nobody empties any more.
    taken = (receives + 1) * into
    blocked = (sends - 1) * out > taken if not starves else False
    module = through(out, into, sends, receives)
    verdict = both(module)
    assert verdict.stuck == (starves or blocked), (verdict, starves, blocked)


def test_words_on_their_way_may_be_luck() -> None:
    # The sender has one object of two words too many: a stream that holds some lets it end.
    module = through(2, 2, 4, 1)
    exact = hang_check(None, module, slack=0)
    assert exact.stuck
    assert exact.luck is None
    verdict = hang_check(None, module)
    assert verdict.stuck
    assert verdict.luck == 8
    (found,) = report(verdict)
    assert (found.level, found.code) == (Level.WARNING, "W1101")
    assert found.text.startswith("this design gets stuck unless its streams hold enough: core (0, 2) waits for")
    assert found.notes[-1].text == "it runs where every stream holds 8 bytes on its way"


def test_the_hosts_ends_are_always_ready() -> None:
    text = """aie.device(npu2) {
    %s = aie.tile(0, 0)
    %b = aie.tile(0, 4)
    %y = aie.buffer(%b) {sym_name = "y"} : memref<4xi32>
    %yp = aie.lock(%b) {init = 1 : i32, sym_name = "y_prod_lock_0"}
    %yc = aie.lock(%b) {init = 0 : i32, sym_name = "y_cons_lock_0"}
    aie.flow(%s, DMA : 0, %b, DMA : 0)
    aie.flow(%b, DMA : 0, %s, DMA : 0)
    %mb = aie.mem(%b) {
      %s0 = aie.dma_start(S2MM, 0, ^bd, ^next)
    ^bd:
      aie.use_lock(%yp, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<4xi32> offset = 0 len = 4)
      aie.use_lock(%yc, Release, 1)
      aie.next_bd ^bd
    ^next:
      %s1 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%yc, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<4xi32> offset = 0 len = 4)
      aie.use_lock(%yp, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    }"""
    verdict = hang_check(None, parse(text, "host.mlir"))
    assert verdict.runs
    # It goes on for ever, and is seen to: not step by step.
    assert verdict.steps < 1000


def merge(first: int | str, second: int, takes: int | str, depth: int = 1) -> ModuleOp:
    """Two cores whose packets come together at a third, one object of four words each."""
    text = ["aie.device(npu2) {", "%c = aie.tile(1, 4)"]
    for name, tile, objects in (("a", "(0, 2)", first), ("b", "(2, 2)", second)):
        text.append(f"""
        %{name} = aie.tile{tile}
        %{name}x = aie.buffer(%{name}) {{sym_name = "{name}_buff_0"}} : memref<4xi32> = dense<1>
        %{name}p = aie.lock(%{name}) {{init = 1 : i32, sym_name = "{name}_prod_lock_0"}}
        %{name}c = aie.lock(%{name}) {{init = 0 : i32, sym_name = "{name}_cons_lock_0"}}
        %{name}m = aie.mem(%{name}) {{
          %s = aie.dma_start(MM2S, 0, ^bd, ^end)
        ^bd:
          aie.use_lock(%{name}c, AcquireGreaterEqual, 1)
          aie.dma_bd(%{name}x : memref<4xi32> offset = 0 len = 4)
            {{packet = #aie.packet_info<pkt_type = 0, pkt_id = 3>}}
          aie.use_lock(%{name}p, Release, 1)
          aie.next_bd ^bd
        ^end:
          aie.end
        }}
        %{name}k = aie.core(%{name}) {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %n = arith.constant {objects} : index
          scf.for %i = %c0 to %n step %c1 {{ {take(f"{name}p")} {give(f"{name}c")} }}
          aie.end
        }}""")
    text.append(f"""
    aie.packet_flow(3) {{
      aie.packet_source<%a, DMA : 0>
      aie.packet_source<%b, DMA : 0>
      aie.packet_dest<%c, DMA : 0>
    }}
    %y = aie.buffer(%c) {{sym_name = "y"}} : memref<4xi32>
    %yp = aie.lock(%c) {{init = {depth} : i32, sym_name = "y_prod_lock_0"}}
    %yc = aie.lock(%c) {{init = 0 : i32, sym_name = "y_cons_lock_0"}}
    %m = aie.mem(%c) {{
      %s = aie.dma_start(S2MM, 0, ^bd, ^end)
    ^bd:
      aie.use_lock(%yp, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<4xi32> offset = 0 len = 4)
      aie.use_lock(%yc, Release, 1)
      aie.next_bd ^bd
    ^end:
      aie.end
    }}
    %k = aie.core(%c) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {takes} : index
      scf.for %i = %c0 to %n step %c1 {{ {take("yc")} {give("yp")} }}
      aie.end
    }}
    }}""")
    return parse("\n".join(text), "merge.mlir")


@pytest.mark.parametrize(
    ("first", "second", "takes", "kind"),
    [
        (3, 3, 6, Kind.RUNS),
        (3, 3, 7, Kind.STUCK),
        # One fits the last buffer, and one waits at each sender, whose core has ended by then.
        (3, 3, 4, Kind.RUNS),
        (3, 3, 2, Kind.STUCK),
        # The only object of the second core comes first, or stays where it is.
        (3, 1, 1, Kind.UNDECIDED),
        # Both of one core first: then the other's second finds no place.
        (2, 2, 1, Kind.UNDECIDED),
        (8, 7, 15, Kind.RUNS),
        (8, 7, 16, Kind.STUCK),
    ],
)
def test_packets_that_come_together(first: int, second: int, takes: int, kind: Kind) -> None:
    module = merge(first, second, takes)
    verdict = hang_check(None, module, slack=0)
    assert verdict.kind is kind, verdict
    ends = {simulate(module, cores_end=True, seed=seed).stuck for seed in range(12)}
    assert ends == {Kind.RUNS: {False}, Kind.STUCK: {True}, Kind.UNDECIDED: {False, True}}[kind]
    if kind is Kind.UNDECIDED:
        assert verdict.reason == "it depends on the order in which packets come together at (1, 4) DMA : 0"


def test_packets_that_come_together_without_end_are_not_guessed_at() -> None:
    verdict = hang_check(None, merge(2147483647, 2147483647, 2147483647))
    assert verdict.undecided
    assert "together" in verdict.reason


def test_packets_that_come_together_at_the_host_wait_for_nobody() -> None:
    text = print_module(merge(2147483647, 2147483647, 0)).replace("(1, 4)", "(1, 0)")
    at = text.index("aie.packet_flow")
    flow = text[at : text.index("}", at) + 1]
    module = parse(text[: text.index("aie.packet_flow")] + flow + "\n}\n}", "host.mlir")
    assert hang_check(None, module).runs


@pytest.mark.parametrize("reads", [2, 3, 4])
def test_words_between_cores(reads: int) -> None:
    put = "%ch = arith.constant 0 : i32\n" + loop("aie.put_stream(%ch : i32, %ch : i32)", "%c3")
    get = f"%ch = arith.constant 0 : i32\n%n = arith.constant {reads} : index\n" + loop(
        "%w = aie.get_stream(%ch : i32) : i32", "%n"
    )
    verdict = both(cores(put, get, more="aie.flow(%t0, Core : 0, %t1, Core : 0)"))
    assert verdict.stuck == (reads != 3)


@pytest.mark.parametrize(("puts", "gets", "stuck"), [(3, 3, False), (5, 3, False), (6, 3, True), (3, 4, True)])
def test_words_on_a_cascade(puts: int, gets: int, stuck: bool) -> None:
    # Two words fit in between.
    bound = "%n = arith.constant {} : index\n"
    put = "%w = arith.constant 7 : i512\n" + bound.format(puts) + loop("aie.put_cascade(%w : i512)", "%n")
    get = bound.format(gets) + loop("%w = aie.get_cascade() : i512", "%n")
    verdict = both(cores(get, put, more="aie.cascade_flow(%t1, %t0)"))
    assert verdict.stuck == stuck


# --- AIE1 -------------------------------------------------------------------------------------------------------------


def binary(makes: int, wants: int) -> ModuleOp:
    first = "aie.use_lock(%l, Acquire, 0)\naie.use_lock(%l, Release, 1)\n" * makes
    second = "aie.use_lock(%l, Acquire, 1)\naie.use_lock(%l, Release, 0)\n" * wants
    return cores(first, second, device="xcvc1902", locks="l:0")


@pytest.mark.parametrize(("makes", "wants", "stuck"), [(3, 3, False), (4, 3, False), (5, 3, True), (3, 4, True)])
def test_binary_locks(makes: int, wants: int, stuck: bool) -> None:
    assert both(binary(makes, wants)).stuck == stuck


def test_a_binary_lock_the_host_sets() -> None:
    text = """aie.device(xcvc1902) {
    %t = aie.tile(1, 3)
    %go = aie.lock(%t, 0) {sym_name = "input_lock"}
    %c = aie.core(%t) {
      aie.use_lock(%go, Acquire, 1)
      aie.use_lock(%go, Release, 0)
      aie.end
    }
    }"""
    assert hang_check(None, parse(text, "go.mlir")).runs


def test_a_binary_lock_of_a_fifo_has_its_name() -> None:
    text = """aie.device(xcvc1902) {
    %a = aie.tile(1, 2)
    %b = aie.tile(3, 3)
    %c = aie.tile(4, 4)
    aie.objectfifo @of(%a, {%b, %c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    %ca = aie.core(%a) {
      %x = aie.objectfifo.acquire @of(Produce, 1) : memref<16xi32>
      aie.objectfifo.release @of(Produce, 1)
      aie.end
    }
    %cb = aie.core(%b) {
      %x = aie.objectfifo.acquire @of(Consume, 1) : memref<16xi32>
      aie.objectfifo.release @of(Consume, 1)
      aie.end
    }
    %cc = aie.core(%c) {
      %x = aie.objectfifo.acquire @of(Consume, 1) : memref<16xi32>
      aie.objectfifo.release @of(Consume, 1)
      %y = aie.objectfifo.acquire @of(Consume, 1) : memref<16xi32>
      aie.end
    }
    }"""
    before = parse(text, "old.mlir")
    lowered = lower(before.clone())
    assert lowered is not None
    verdict = hang_check(before, lowered)
    assert verdict.reason == "core (4, 4) waits for lock of_1_cons_lock_1 of fifo @of to become 1 (it is 0)"
    assert verdict.where is not None
    assert verdict.where.line == 19


def test_locks_by_their_number_are_not_followed() -> None:
    text = """aie.device(npu2) {
    %t = aie.tile(0, 2)
    %l = aie.lock(%t) {init = 0 : i32, sym_name = "of_cons_lock_0"}
    %c = aie.core(%t) {
      %n = arith.constant 53 : index
      %one = arith.constant 1 : i32
      aie.use_lock(%n, Release, %one)
      aie.end
    }
    }"""
    verdict = hang_check(None, parse(text, "numbers.mlir"))
    assert verdict.undecided
    assert verdict.reason == "core (0, 2) uses a lock by a number of the hardware"


# --- at random --------------------------------------------------------------------------------------------------------

# Whether it takes (seldom, or hardly anything would run), which lock, and how much.
STEPS = st.tuples(st.sampled_from([False, False, True]), st.integers(0, 5), st.integers(1, 3))
PROGRAMS = st.lists(st.lists(STEPS, max_size=8), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(PROGRAMS, st.lists(st.integers(0, 2), min_size=6, max_size=6), st.integers(1, 3))
def test_three_cores_at_random(programs: list[list[tuple[bool, int, int]]], values: list[int], rounds: int) -> None:
    """Lock n is taken by core n mod 3 only, and given by all: then everybody's order ends alike."""
    bodies: list[str] = []
    for core, program in enumerate(programs):
        text = ""
        for takes, lock, amount in program:
            text += take(f"l{3 * (lock % 2) + core}", amount) if takes else give(f"l{lock}", amount)
        bodies.append(f"%rounds = arith.constant {rounds} : index\n" + loop(text, "%rounds"))
    module = cores(*bodies, locks=" ".join(f"l{n}:{v}" for n, v in enumerate(values)))
    verdict = hang_check(None, module)
    outcomes = [simulate(module, cores_end=True, seed=seed) for seed in SEEDS]
    if verdict.undecided:
        assert any(o.trap is not None for o in outcomes) or "range" in verdict.reason
    else:
        assert {o.stuck for o in outcomes} == {verdict.stuck}, (verdict, outcomes[0].report())
