"""Cores with acquires and releases, lowered and run on the array model: the right objects, in order, and no hang."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie import DeviceOp
from aiecc.ir.passes.fifo_lower_cores import ObjectFifoLowerCores
from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Outcome

TYPE = "memref<4xi32>"
SHARES = {"npu2": ("0, 2", "0, 3"), "xcvc1902": ("1, 2", "1, 3")}


def pool(device: str, depth: int, repeat: int, full: int) -> str:
    """A pool with its buffers and locks, in the memory of the producer. `full` objects are there from the start."""
    values = [f" = dense<{900 + i}>" if i < full else "" for i in range(depth)]
    lines = [f'%b{i} = aie.buffer(%one) {{sym_name = "b{i}"}} : {TYPE}{values[i]}' for i in range(depth)]
    extra, segment = "", "{offset = 0 : i32, size = 4 : i32"
    if device == "xcvc1902":
        lines += [f'%l{i} = aie.lock(%one) {{init = {int(i < full)} : i32, sym_name = "l{i}"}}' for i in range(depth)]
        extra = f", locks = [{', '.join(f'@l{i}' for i in range(depth))}]"
    else:
        lines.append(f'%free = aie.lock(%one) {{init = {(depth - full) * repeat} : i32, sym_name = "free"}}')
        lines.append(f'%full = aie.lock(%one) {{init = {full * repeat} : i32, sym_name = "full"}}')
        segment += ", produceLock = @free, consumeLock = @full"
    if repeat > 1:
        extra += f", repeatCount = {repeat} : i32"
    if full:
        extra += f", initValues = [{', '.join(f'dense<{900 + i}> : tensor<4xi32>' for i in range(full))}]"
    buffers = ", ".join(f"@b{i}" for i in range(depth))
    lines.append(f"aie.objectfifo.pool @pool(%one) {{depth = {depth} : i32, buffers = [{buffers}]{extra}}} : {TYPE} {{")
    lines.append(f"  aie.objectfifo.segment @s0 {segment}}} }}")
    return "\n    ".join(lines)


def design(
    producer: str, consumer: str, depth: int, *, device: str = "npu2", repeat: int = 1, full: int = 0, more: str = ""
) -> str:
    constants = """
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %k0 = arith.constant 0 : i32
      %k1 = arith.constant 1 : i32"""
    one, two = SHARES[device]
    return f"""module {{
  aie.device({device}) {{
    func.func private @log(i32)
    func.func private @next() -> i32
    func.func private @flag() -> i1
    func.func @use(%object: {TYPE}) {{
      %zero = arith.constant 0 : index
      %value = memref.load %object[%zero] : {TYPE}
      func.call @log(%value) : (i32) -> ()
      return
    }}
    func.func @fill(%object: {TYPE}) {{
      %zero = arith.constant 0 : index
      %value = func.call @next() : () -> i32
      memref.store %value, %object[%zero] : {TYPE}
      return
    }}
    %one = aie.tile({one})
    %two = aie.tile({two})
    {more}
    {pool(device, depth, repeat, full)}
    aie.objectfifo.core_endpoint @prod(%one) fills @pool
    aie.objectfifo.core_endpoint @cons(%two) drains @pool
    %p = aie.core(%one) {{{constants}
{producer}
      aie.end
    }}
    %c = aie.core(%two) {{{constants}
{consumer}
      aie.end
    }}
  }}
}}"""


def run(text: str, flags: list[bool] | None = None, seed: int = 0) -> tuple[Outcome, list[int]]:
    """Lower the cores and run. Gives what @log got; @next counts from 0, @flag gives `flags` over and over."""
    module = parse(text, "cores.mlir")
    sink = Sink()
    for op in list(module.walk()):
        if isinstance(op, DeviceOp):
            ObjectFifoLowerCores().apply(op, sink)
            for inner in [i for i in op.block.ops if i.name == "aie.objectfifo.pool"]:
                inner.detach()
                inner.erase()
    assert not sink.items, sink.items
    assert verify(module) == []
    log: list[int] = []
    count = [0, 0]

    def note(value: int) -> None:
        log.append(value)

    def following() -> int:
        count[0] += 1
        return count[0] - 1

    def flag() -> int:
        count[1] += 1
        return int(flags[(count[1] - 1) % len(flags)]) if flags else 0

    return simulate(module, kernels={"log": note, "next": following, "flag": flag}, seed=seed, cores_end=True), log


# --- random programs --------------------------------------------------------------------------------------------------

Statement = tuple[Any, ...]


def programs(depth: int) -> st.SearchStrategy[tuple[int, list[Statement]]]:
    """A pool's depth and a program: takes of n objects that give back up to n, so never what is not held.

    Made from a seed: drawn choice by choice they would stay too small to be wrong.
    """

    def made(seed: int, most: int) -> tuple[int, list[Statement]]:
        return most, _body(Random(seed), depth, most)

    return st.builds(made, st.integers(0, 2**32), st.sampled_from((1, 2, 3, 3, 4)))


def _body(random: Random, depth: int, most: int) -> list[Statement]:
    return [_statement(random, depth, most) for _ in range(random.randint(1, 3))]


def _statement(random: Random, depth: int, most: int) -> Statement:
    if not depth or random.random() < 0.5:
        n = random.randint(1, most)
        return "take", n, random.randint(0, n)
    kind = random.choice(("for", "if", "while"))
    if kind == "for":
        return kind, random.randint(0, 4), _body(random, depth - 1, most)
    return kind, _body(random, depth - 1, most), _body(random, depth - 1, most)


class _TooLongError(Exception):
    """A program that goes on and on."""


@dataclass
class Meaning:
    """What a list of statements does to a queue: which objects it sees, how many it has taken and given back."""

    flags: list[bool]
    asked: int = 0
    held: int = 0
    given: int = 0
    seen: list[list[int]] = field(default_factory=list[list[int]])

    def flag(self) -> bool:
        self.asked += 1
        return self.flags[(self.asked - 1) % len(self.flags)]

    def short(self, statements: list[Statement]) -> bool:
        """Run, and say whether that ended before it became too long for a test."""
        try:
            self.run(statements)
        except _TooLongError:
            return False
        return True

    def run(self, statements: list[Statement]) -> None:
        for kind, *rest in statements:
            if kind == "take":
                if len(self.seen) > 100 or self.asked > 100:
                    raise _TooLongError
                n, back = rest
                self.held = max(self.held, n)
                self.seen.append([self.given + i for i in range(n)])
                self.held -= back
                self.given += back
            elif kind == "for":
                for _ in range(rest[0]):
                    self.run(rest[1])
            elif kind == "if":
                self.run(rest[0] if self.flag() else rest[1])
            else:
                self.run(rest[0])
                while self.flag():
                    self.run(rest[1])
                    self.run(rest[0])
                    if self.asked > 100:
                        raise _TooLongError


class Text:
    """Statements as a core's code. A taken object is worked on by a function, which gets it as an argument."""

    def __init__(self, end: str, fills: bool) -> None:
        self.end = end
        self.fills = fills
        self.count = 0
        self.lines: list[str] = []

    def new(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def write(self, statements: list[Statement]) -> None:
        for kind, *rest in statements:
            if kind == "take":
                self.take(*rest)
            elif kind == "for":
                end = self.new()
                self.lines.append(f"{end} = arith.constant {rest[0]} : index")
                self.lines.append(f"scf.for {self.new()} = %c0 to {end} step %c1 {{")
                self.write(rest[1])
                self.lines.append("}")
            elif kind == "if":
                flag = self.flag()
                self.lines.append(f"scf.if {flag} {{")
                self.write(rest[0])
                self.lines.append("} else {")
                self.write(rest[1])
                self.lines.append("}")
            else:
                self.lines.append("scf.while : () -> () {")
                self.write(rest[0])
                self.lines.append(f"scf.condition({self.flag()})")
                self.lines.append("} do {")
                self.write(rest[1])
                self.lines.append("scf.yield }")

    def flag(self) -> str:
        name = self.new()
        self.lines.append(f"{name} = func.call @flag() : () -> i1")
        return name

    def take(self, n: int, back: int) -> None:
        name = self.new()
        objects = [name] if n == 1 else [f"{name}#{i}" for i in range(n)]
        head = name if n == 1 else f"{name}:{n}"
        types = ", ".join([TYPE] * n)
        self.lines.append(f"{head} = aie.objectfifo.acquire @{self.end} ({n}) : {types}")
        function = "fill" if self.fills else "use"
        for one in objects[:back] if self.fills else objects:
            self.lines.append(f"func.call @{function}({one}) : ({TYPE}) -> ()")
        if back:
            self.lines.append(f"aie.objectfifo.release @{self.end} ({back})")


def code(end: str, statements: list[Statement], fills: bool) -> str:
    text = Text(end, fills)
    text.write(statements)
    return "\n".join(f"      {line}" for line in text.lines)


FLAGS = st.lists(st.booleans(), min_size=1, max_size=5).filter(lambda f: not all(f))
PROGRAMS = programs(3)


@pytest.mark.parametrize(("device", "repeat"), [("npu2", 1), ("npu2", 3), ("xcvc1902", 1)])
@given(PROGRAMS, FLAGS, st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_a_consumer_sees_what_a_queue_would_give(
    device: str, repeat: int, program: tuple[int, list[Statement]], flags: list[bool], seed: int
) -> None:
    depth, statements = program
    meaning = Meaning(flags)
    assume(meaning.short(statements))
    needed = meaning.given + meaning.held
    producer = code("prod", [("for", needed, [("take", 1, 1)])], True)
    outcome, log = run(
        design(producer, code("cons", statements, False), depth, device=device, repeat=repeat), flags, seed
    )
    assert outcome.finished, outcome.report()
    assert log == [n for objects in meaning.seen for n in objects]


@pytest.mark.parametrize(("device", "repeat"), [("npu2", 1), ("npu2", 2), ("xcvc1902", 1)])
@given(PROGRAMS, FLAGS, st.integers(0, 3))
@settings(max_examples=15, deadline=None)
def test_a_producer_fills_what_a_queue_would_take(
    device: str, repeat: int, program: tuple[int, list[Statement]], flags: list[bool], seed: int
) -> None:
    depth, statements = program
    meaning = Meaning(flags)
    assume(meaning.short(statements))
    consumer = code("cons", [("for", meaning.given, [("take", 1, 1)])], False)
    outcome, log = run(
        design(code("prod", statements, True), consumer, depth, device=device, repeat=repeat), flags, seed
    )
    assert outcome.finished, outcome.report()
    assert log == list(range(meaning.given))


# --- one by one -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["npu2", "xcvc1902"])
def test_a_window_slides(device: str) -> None:
    """Three at a time, one back each time, over ten objects; the rest is given back at the end."""
    window = [("for", 8, [("take", 3, 1)]), ("take", 2, 2)]
    outcome, log = run(
        design(code("prod", [("for", 10, [("take", 1, 1)])], True), code("cons", window, False), 4, device=device)
    )
    assert outcome.finished, outcome.report()
    assert log == [i + k for i in range(8) for k in range(3)] + [8, 9]


@pytest.mark.parametrize("device", ["npu2", "xcvc1902"])
def test_nested_loops_that_do_not_fit_the_depth(device: str) -> None:
    """Four rounds of five objects through a pool of three: each outer round starts with another buffer."""
    rounds = [("for", 4, [("for", 5, [("take", 1, 1)])])]
    outcome, log = run(design(code("prod", rounds, True), code("cons", rounds, False), 3, device=device))
    assert outcome.finished, outcome.report()
    assert log == list(range(20))


@pytest.mark.parametrize("device", ["npu2", "xcvc1902"])
def test_objects_given_back_now_and_then(device: str) -> None:
    """An object is released only when a flag says so: the same window is seen again otherwise."""
    loop = [("for", 6, [("take", 2, 0), ("if", [("take", 1, 1)], [])]), ("take", 2, 2)]
    outcome, log = run(
        design(code("prod", [("for", 5, [("take", 1, 1)])], True), code("cons", loop, False), 3, device=device),
        [True, False],
    )
    assert outcome.finished, outcome.report()
    assert log == [0, 1, 0, 1, 2, 1, 2, 1, 2, 3, 2, 3, 2, 3, 4, 3, 4]


@pytest.mark.parametrize("device", ["npu2", "xcvc1902"])
def test_a_filler_starts_behind_what_is_there(device: str) -> None:
    outcome, log = run(
        design(
            code("prod", [("for", 5, [("take", 1, 1)])], True),
            code("cons", [("for", 7, [("take", 1, 1)])], False),
            3,
            device=device,
            full=2,
        )
    )
    assert outcome.finished, outcome.report()
    assert log == [900, 901, 0, 1, 2, 3, 4]


def test_blocks_and_branches() -> None:
    """A loop of blocks: the count of held objects goes from block to block."""
    consumer = """
      cf.br ^head(%c0 : index)
    ^head(%i: index):
      %x:2 = aie.objectfifo.acquire @cons (2) : memref<4xi32>, memref<4xi32>
      func.call @use(%x#0) : (memref<4xi32>) -> ()
      func.call @use(%x#1) : (memref<4xi32>) -> ()
      %f = func.call @flag() : () -> i1
      cf.cond_br %f, ^one, ^next
    ^one:
      aie.objectfifo.release @cons (1)
      cf.br ^next
    ^next:
      %j = arith.addi %i, %c1 : index
      %five = arith.constant 5 : index
      %more = arith.cmpi slt, %j, %five : index
      cf.cond_br %more, ^head(%j : index), ^out
    ^out:"""
    for device in SHARES:
        outcome, log = run(
            design(code("prod", [("for", 4, [("take", 1, 1)])], True), consumer, 3, device=device), [True, False]
        )
        assert outcome.finished, outcome.report()
        assert log == [0, 1, 1, 2, 1, 2, 2, 3, 2, 3]


def test_giving_back_too_much_takes_no_more_than_is_returned() -> None:
    """The count of held objects stays at zero: the next acquire of one takes one, and the lock shows it."""
    consumer = """
      aie.objectfifo.release @cons (2)
      %x = aie.objectfifo.acquire @cons (1) : memref<4xi32>
      func.call @use(%x) : (memref<4xi32>) -> ()
      %y = aie.objectfifo.acquire @cons (1) : memref<4xi32>
      func.call @use(%y) : (memref<4xi32>) -> ()"""
    outcome, log = run(design(code("prod", [("take", 2, 2)], True), consumer, 2))
    assert outcome.finished, outcome.report()
    assert log == [0, 0]


@pytest.mark.parametrize("shape", ["16xi32", "4x4xi32"])
def test_two_cores_fill_the_halves_of_an_object(shape: str) -> None:
    """Each sees a view of its own segment; a third core reads the whole."""
    whole = f"memref<{shape}>"
    view = "memref<8xi32, strided<[1], offset: 8>>"
    fill = """
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      scf.for %n = %c0 to %c3 step %c1 {{
        %o = aie.objectfifo.acquire @{end} (1) : {type}
        scf.for %i = %c0 to %c8 step %c1 {{
          %v = func.call @next() : () -> i32
          memref.store %v, %o[%i] : {type}
        }}
        aie.objectfifo.release @{end} (1)
      }}
      aie.end"""
    flat = "%o" if shape == "16xi32" else "%flat"
    collapse = "" if flat == "%o" else f"%flat = memref.collapse_shape %o [[0, 1]] : {whole} into memref<16xi32>"
    text = f"""module {{
  aie.device(npu2) {{
    func.func private @log(i32)
    func.func private @next() -> i32
    %mid = aie.tile(0, 3)
    %low = aie.tile(0, 2)
    %high = aie.tile(0, 4)
    %b0 = aie.buffer(%mid) {{sym_name = "b0"}} : {whole}
    %b1 = aie.buffer(%mid) {{sym_name = "b1"}} : {whole}
    %p0 = aie.lock(%mid) {{init = 2 : i32, sym_name = "p0"}}
    %q0 = aie.lock(%mid) {{init = 0 : i32, sym_name = "q0"}}
    %p1 = aie.lock(%mid) {{init = 2 : i32, sym_name = "p1"}}
    %q1 = aie.lock(%mid) {{init = 0 : i32, sym_name = "q1"}}
    aie.objectfifo.pool @pool(%mid) {{depth = 2 : i32, buffers = [@b0, @b1]}} : {whole} {{
      aie.objectfifo.segment @s0 {{offset = 0 : i32, size = 8 : i32, produceLock = @p0, consumeLock = @q0}}
      aie.objectfifo.segment @s1 {{offset = 8 : i32, size = 8 : i32, produceLock = @p1, consumeLock = @q1}}
    }}
    aie.objectfifo.core_endpoint @first(%low) fills @pool {{segments = [@s0]}}
    aie.objectfifo.core_endpoint @second(%high) fills @pool {{segments = [@s1]}}
    aie.objectfifo.core_endpoint @all(%mid) drains @pool {{segments = [@s0, @s1]}}
    %x = aie.core(%low) {{{fill.format(end="first", type="memref<8xi32>")}
    }}
    %y = aie.core(%high) {{{fill.format(end="second", type=view)}
    }}
    %z = aie.core(%mid) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c16 = arith.constant 16 : index
      scf.for %n = %c0 to %c3 step %c1 {{
        %o = aie.objectfifo.acquire @all (1) : {whole}
        {collapse}
        scf.for %i = %c0 to %c16 step %c1 {{
          %v = memref.load {flat}[%i] : memref<16xi32>
          func.call @log(%v) : (i32) -> ()
        }}
        aie.objectfifo.release @all (1)
      }}
      aie.end
    }}
  }}
}}"""
    outcome, log = run(text)
    assert outcome.finished, outcome.report()
    assert sorted(log) == list(range(48))
    for n in range(3):
        for half in (log[16 * n : 16 * n + 8], log[16 * n + 8 : 16 * n + 16]):
            assert half == sorted(half)
