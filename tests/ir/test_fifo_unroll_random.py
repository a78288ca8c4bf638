"""Random cores on a fifo see the same objects in the same order, however they are unrolled."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie import DeviceOp, UseLockOp
from aiecc.ir.passes.fifo_unroll import ObjectFifoUnroll
from aiecc.ir.pipeline import make_pass
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Outcome

LOWERING = (
    "aie-objectfifo-split",
    "aie-objectfifo-allocate",
    "aie-objectfifo-lower-dmas",
    "aie-objectfifo-lower-cores",
)
ELEMENT = "memref<2xi32>"
SEEN = 192
VARIANTS = {
    "static": ObjectFifoUnroll(),
    "not peeled": ObjectFifoUnroll(peel_first_iteration="false"),
    "dynamic": ObjectFifoUnroll(default_dynamic=True),
    "dynamic and peeled": ObjectFifoUnroll(default_dynamic=True, peel_first_iteration="true"),
}


def note(value: str) -> str:
    """Write a number down behind those before it."""
    return f"func.call @note({value}, %seen, %at) : (i32, memref<{SEEN}xi32>, memref<1xindex>) -> ()\n"


class Consumer:
    """A core that takes objects in windows, in loops and branches, and writes down all it sees."""

    def __init__(self, pick: random.Random, depth: int) -> None:
        self.pick = pick
        self.depth = depth
        self.count = 0
        self.left = 7

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def block(self, level: int) -> str:
        text = ""
        for _ in range(self.pick.randint(1, 3)):
            if self.left > 0:
                self.left -= 1
                kinds = [self.unit, self.unit] + ([self.loop, self.loop, self.branch] if level < 2 else [])
                text += self.pick.choice(kinds)(level)
        return text

    def unit(self, level: int) -> str:
        """Have so many objects, look at them, give some back."""
        wanted = self.pick.randint(1, self.depth)
        names = [self.name() for _ in range(wanted)]
        text = f"{', '.join(names)} = aie.objectfifo.acquire @f(Consume, {wanted}) : {', '.join([ELEMENT] * wanted)}\n"
        for name in names:
            if self.pick.random() < 0.8:
                value = self.name()
                text += f"{value} = memref.load {name}[%c0] : {ELEMENT}\n"
                text += note(value)
        given = self.pick.choice([1, 1, wanted])
        return text + f"aie.objectfifo.release @f(Consume, {given})\n"

    def loop(self, level: int) -> str:
        counter, high = self.name(), self.name()
        step = self.pick.choice([1, 1, 2])
        trips = self.pick.choice([0, 1, 2, 3, 4, 5, 6, 7, 9])
        where = f"{high} = arith.constant {trips * step} : index"
        if self.pick.random() < 0.15:
            where = f"{high} = memref.load %some[%c0] : memref<1xindex>"
        return f"{where}\nscf.for {counter} = %c0 to {high} step %c{step} {{\n{self.block(level + 1)}}}\n"

    def branch(self, level: int) -> str:
        value, test = self.name(), self.name()
        even = f"{value} = memref.load %at[%c0] : memref<1xindex>\n{test} = arith.cmpi ult, {value}, %c9 : index"
        known = f"{test} = arith.cmpi ult, %c1, %c{self.pick.choice([0, 2])} : index"
        text = f"{even if self.pick.random() < 0.6 else known}\nscf.if {test} {{\n{self.block(level + 1)}}}"
        return text + (f" else {{\n{self.block(level + 1)}}}\n" if self.pick.random() < 0.5 else "\n")


def design(consumer: str, depth: int, device: str) -> str:
    return f"""
module {{
  aie.device({device}) {{
    %a = aie.tile(2, 2)
    %b = aie.tile(2, 3)
    aie.objectfifo @f(%a, {{%b}}, {depth} : i32) : !aie.objectfifo<{ELEMENT}>
    %seen = aie.buffer(%b) {{sym_name = "seen"}} : memref<{SEEN}xi32> = dense<-1>
    %at = aie.buffer(%b) {{sym_name = "at"}} : memref<1xindex> = dense<0>
    %some = aie.buffer(%b) {{sym_name = "some"}} : memref<1xindex> = dense<3>
    func.func @note(%v: i32, %list: memref<{SEEN}xi32>, %count: memref<1xindex>) {{
      %z = arith.constant 0 : index
      %one = arith.constant 1 : index
      %most = arith.constant {SEEN - 1} : index
      %n = memref.load %count[%z] : memref<1xindex>
      memref.store %v, %list[%n] : memref<{SEEN}xi32>
      %m = arith.addi %n, %one : index
      %k = arith.minui %m, %most : index
      memref.store %k, %count[%z] : memref<1xindex>
      return
    }}
    %make = aie.core(%a) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c60 = arith.constant 60 : index
      scf.for %i = %c0 to %c60 step %c1 {{
        %o = aie.objectfifo.acquire @f(Produce, 1) : {ELEMENT}
        %v = arith.index_cast %i : index to i32
        memref.store %v, %o[%c0] : {ELEMENT}
        aie.objectfifo.release @f(Produce, 1)
      }}
      aie.end
    }}
    %take = aie.core(%b) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c9 = arith.constant 9 : index
      {consumer}
      aie.end
    }}
  }}
}}"""


def lowered(text: str) -> ModuleOp:
    module = parse(text, "design.mlir")
    for name in LOWERING:
        apply(module, make_pass(name))
    return module


def apply(module: ModuleOp, step: object) -> None:
    sink = Sink()
    device = next(op for op in module.body.block.ops if isinstance(op, DeviceOp))
    step.apply(device, sink)  # type: ignore[attr-defined]
    assert not sink.items, [d.text for d in sink.items]
    said = verify(module)
    assert not said, [d.text for d in said]


def told(outcome: Outcome) -> tuple[tuple[str, ...], bytes]:
    """Which cores ended, and what the consumer saw."""
    return outcome.ended, outcome.memory["seen"]


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4), st.sampled_from(list(VARIANTS)), st.booleans())
def test_the_same_objects_in_the_same_order(pick: random.Random, depth: int, variant: str, counting: bool) -> None:
    text = design(Consumer(pick, depth).block(0), depth, "npu2" if counting else "xcvc1902")
    module = lowered(text)
    before = told(simulate(module))
    apply(module, VARIANTS[variant])
    assert told(simulate(module)) == before
    once = print_module(module)
    apply(module, VARIANTS[variant])
    assert print_module(module) == once


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_window_over_a_long_loop(variant: str) -> None:
    """What is seen is what was made: pairs of neighbours."""
    body = f"""
      %c20 = arith.constant 20 : index
      scf.for %i = %c0 to %c20 step %c1 {{
        %x, %y = aie.objectfifo.acquire @f(Consume, 2) : {ELEMENT}, {ELEMENT}
        %v = memref.load %x[%c0] : {ELEMENT}
        {note("%v")}
        %w = memref.load %y[%c0] : {ELEMENT}
        {note("%w")}
        aie.objectfifo.release @f(Consume, 1)
      }}"""
    module = lowered(design(body, 3, "npu2"))
    apply(module, VARIANTS[variant])
    seen = simulate(module).memory["seen"]
    wanted = [n for i in range(20) for n in (i, i + 1)]
    assert [int.from_bytes(seen[4 * k : 4 * k + 4], "little") for k in range(40)] == wanted
    static = variant in ("static", "dynamic and peeled")
    open_values = [op for op in module.walk() if isinstance(op, UseLockOp) and op.constant is None]
    assert bool(open_values) != static
