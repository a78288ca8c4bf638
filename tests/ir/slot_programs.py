"""Random programs over slots, as text: structured, or with blocks and branches, or both mixed.

Every program ends, and everything it does can be seen in the calls it makes to @log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from aiecc.ir.dialects.aie import DeviceOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.text import parse
from aiecc.sim.array import simulate

NUMBERS = ("a", "b", "c")
BUFFERS = ("p", "q")
Statement = tuple[Any, ...]


def bodies(depth: int) -> st.SearchStrategy[list[Statement]]:
    """Programs of up to some depth, made from a seed: drawn choice by choice they would stay too small to be wrong."""

    def made(seed: int, size: int) -> list[Statement]:
        return _body(Random(seed), depth, size)

    return st.builds(made, st.integers(0, 2**32), st.sampled_from((2, 3, 4)))


def _body(random: Random, depth: int, size: int) -> list[Statement]:
    return [_statement(random, depth, size) for _ in range(random.randint(1, size))]


def _statement(random: Random, depth: int, size: int) -> Statement:
    def number() -> str:
        return random.choice(NUMBERS)

    def inner() -> list[Statement]:
        return _body(random, depth - 1, size)

    if not depth or random.random() < 0.4:
        kind = random.choice(("set", "add", "log", "log", "swap", "poke", "peek"))
        if kind == "set":
            return kind, number(), random.randint(0, 5)
        if kind == "add":
            return kind, number(), number()
        if kind == "log":
            return kind, number()
        if kind == "swap":
            return kind, *random.sample(BUFFERS, 2)
        return (kind, random.choice(BUFFERS), number()) if kind == "poke" else (kind, random.choice(BUFFERS))
    kind = random.choice(("for", "if", "if", "switch", "while", "region"))
    blocks = random.random() < 0.7
    if kind == "for":
        return kind, random.randint(0, 3), inner()
    if kind == "if":
        return kind, blocks, number(), inner(), inner() if random.random() < 0.5 else None
    if kind == "switch":
        return kind, blocks, number(), [inner() for _ in range(random.randint(1, 3))]
    return (kind, blocks, random.randint(0, 3), inner(), inner()) if kind == "while" else (kind, inner())


@dataclass
class Writer:
    """Writes a program. Statements that may become blocks do so where the region around them has several."""

    graph: bool = False
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def new(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, text: str) -> None:
        self.lines.append(text)

    def make(self, text: str) -> str:
        name = self.new()
        self.put(f"{name} = {text}")
        return name

    def load(self, slot: str) -> str:
        kind = "i32" if slot in NUMBERS else "memref<4xi32>"
        return self.make(f"memref.load %{slot}[] : memref<{kind}>")

    def store(self, value: str, slot: str) -> None:
        kind = "i32" if slot in NUMBERS else "memref<4xi32>"
        self.put(f"memref.store {value}, %{slot}[] : memref<{kind}>")

    def constant(self, value: int, kind: str = "i32") -> str:
        return self.make(f"arith.constant {value} : {kind}")

    def body(self, statements: list[Statement], graph: bool) -> None:
        for statement in statements:
            getattr(self, f"_{statement[0]}")(graph, *statement[1:])

    def _set(self, graph: bool, slot: str, value: int) -> None:
        self.store(self.constant(value), slot)

    def _add(self, graph: bool, slot: str, other: str) -> None:
        self.store(self.make(f"arith.addi {self.load(slot)}, {self.load(other)} : i32"), slot)

    def _log(self, graph: bool, slot: str) -> None:
        self.put(f"func.call @log({self.load(slot)}) : (i32) -> ()")

    def _swap(self, graph: bool, one: str, two: str) -> None:
        first, second = self.load(one), self.load(two)
        self.store(second, one)
        self.store(first, two)

    def _poke(self, graph: bool, slot: str, number: str) -> None:
        self.put(f"memref.store {self.load(number)}, {self.load(slot)}[%zero] : memref<4xi32>")

    def _peek(self, graph: bool, slot: str) -> None:
        value = self.make(f"memref.load {self.load(slot)}[%zero] : memref<4xi32>")
        self.put(f"func.call @log({value}) : (i32) -> ()")

    def _for(self, graph: bool, trips: int, inner: list[Statement]) -> None:
        end, step = self.constant(trips, "index"), self.constant(1, "index")
        self.put(f"scf.for {self.new()} = %zero to {end} step {step} {{")
        self.body(inner, False)
        self.put("}")

    def _odd(self, slot: str) -> str:
        one = self.constant(1)
        bit = self.make(f"arith.andi {self.load(slot)}, {one} : i32")
        return self.make(f"arith.cmpi eq, {bit}, {one} : i32")

    def _if(self, graph: bool, blocks: bool, slot: str, first: list[Statement], second: list[Statement] | None) -> None:
        odd = self._odd(slot)
        if graph and blocks:
            self._ways(f"cf.cond_br {odd}, {{}}, {{}}", [first, second or []])
            return
        self.put(f"scf.if {odd} {{")
        self.body(first, False)
        if second is not None:
            self.put("} else {")
            self.body(second, False)
        self.put("}")

    def _ways(self, branch: str, ways: list[list[Statement]]) -> None:
        """One block for each way, or none for an empty one, and one where they meet."""
        names = [f"^b{self.count}_{i}" for i in range(len(ways))]
        end = f"^e{self.count}"
        self.count += 1
        self.put(branch.format(*(name if way else end for name, way in zip(names, ways, strict=True))))
        for name, way in zip(names, ways, strict=True):
            if way:
                self.put(f"{name}:")
                self.body(way, True)
                self.put(f"cf.br {end}")
        self.put(f"{end}:")

    def _switch(self, graph: bool, blocks: bool, slot: str, ways: list[list[Statement]]) -> None:
        low = self.make(f"arith.andi {self.load(slot)}, {self.constant(3)} : i32")
        if graph and blocks:
            cases = "".join(f", {i}: {{}}" for i in range(len(ways) - 1))
            self._ways(f"cf.switch {low} : i32, [default: {{}}{cases}]", ways)
            return
        self.put(f"scf.index_switch {self.make(f'arith.index_cast {low} : i32 to index')}")
        for i, way in enumerate(ways[1:]):
            self.put(f"case {i} {{")
            self.body(way, False)
            self.put("scf.yield }")
        self.put("default {")
        self.body(ways[0], False)
        self.put("}")

    def _while(self, graph: bool, blocks: bool, trips: int, test: list[Statement], rest: list[Statement]) -> None:
        zero, one, end = self.constant(0), self.constant(1), self.constant(trips)
        if graph and blocks:
            n = self.count
            self.count += 1
            self.put(f"cf.br ^h{n}({zero} : i32)")
            self.put(f"^h{n}(%n{n}: i32):")
            self.body(test, True)
            more = self.make(f"arith.cmpi slt, %n{n}, {end} : i32")
            self.put(f"cf.cond_br {more}, ^l{n}, ^x{n}")
            self.put(f"^l{n}:")
            self.body(rest, True)
            following = self.make(f"arith.addi %n{n}, {one} : i32")
            self.put(f"cf.br ^h{n}({following} : i32)")
            self.put(f"^x{n}:")
            return
        result, before, after = self.new(), self.new(), self.new()
        self.put(f"{result} = scf.while ({before} = {zero}) : (i32) -> i32 {{")
        self.body(test, False)
        more = self.make(f"arith.cmpi slt, {before}, {end} : i32")
        self.put(f"scf.condition({more}) {before} : i32")
        self.put(f"}} do {{ ^bb0({after}: i32):")
        self.body(rest, False)
        self.put(f"scf.yield {self.make(f'arith.addi {after}, {one} : i32')} : i32 }}")

    def _region(self, graph: bool, inner: list[Statement]) -> None:
        self.put("scf.execute_region {")
        self.body(inner, self.graph)
        self.put("scf.yield }")


def program(
    statements: list[Statement],
    *,
    blocks: bool,
    regions: bool = False,
    unset: tuple[str, ...] = (),
    read: bool = True,
) -> str:
    """A module with one core. `blocks`: in blocks where the statements say so, `regions`: below execute_region, too.

    All slots have a first value but those of `unset`, and are read at the end if `read`.
    """
    writer = Writer(regions)
    for name in NUMBERS:
        writer.put(f"%{name} = memref.alloca() : memref<i32>")
    for name in BUFFERS:
        writer.put(f"%{name} = memref.alloca() : memref<memref<4xi32>>")
    for i, name in enumerate(n for n in NUMBERS if n not in unset):
        writer.store(writer.constant(i + 1), name)
    for i, name in enumerate(n for n in BUFFERS if n not in unset):
        writer.store(f"%buffer{i}", name)
    writer.body(statements, blocks)
    seen = [("log", n) for n in NUMBERS if n not in unset] + [("peek", n) for n in BUFFERS if n not in unset]
    writer.body([*seen] if read else [], blocks)
    body = "\n".join(f"      {line}" for line in writer.lines)
    return f"""module {{
  aie.device(npu2) {{
    func.func private @log(i32)
    %tile = aie.tile(0, 2)
    %buffer0 = aie.buffer(%tile) {{sym_name = "one"}} : memref<4xi32> = dense<10>
    %buffer1 = aie.buffer(%tile) {{sym_name = "two"}} : memref<4xi32> = dense<20>
    %core = aie.core(%tile) {{
      %zero = arith.constant 0 : index
{body}
      aie.end
    }}
  }}
}}"""


def trace(text: str) -> list[int] | None:
    """What a program logs when the array model runs it; None when it reads a slot without a value."""
    log: list[int] = []

    def note(value: int) -> None:
        log.append(value)

    outcome = simulate(parse(text, "program.mlir"), kernels={"log": note})
    if outcome.trap is not None:
        return None
    assert outcome.finished, outcome.report()
    return log


# --- an interpreter, for what the array model does not run: regions of several blocks ---------------------------------


class Steps:
    """Executes a program op by op, with slots as they are: variables."""

    def __init__(self, module: ModuleOp) -> None:
        self.log: list[int] = []
        self.values: dict[SSAValue, Any] = {}
        device = module.body.block.first_op
        assert isinstance(device, DeviceOp)
        for op in device.block.ops:
            if isinstance(op, BufferOp):
                self.values[op.result] = [10 if op.symbol == "one" else 20] * 4
        core = next(op for op in device.block.ops if isinstance(op, CoreOp))
        self.region(core.body)

    def of(self, values: Sequence[SSAValue]) -> list[Any]:
        return [self.values[v] for v in values]

    def give(self, targets: Sequence[SSAValue], values: Sequence[Any]) -> None:
        self.values.update(zip(targets, values, strict=True))

    def region(self, region: Region, arguments: Sequence[Any] = ()) -> list[Any]:
        """What the op that leaves a region gives on."""
        block = region.blocks[0]
        while True:
            self.give(block.args, arguments)
            for op in list(block.ops)[:-1]:
                self.op(op)
            last = block.last_op
            assert last is not None
            if not last.successors:
                return self.of(last.operands)
            block, arguments = self.jump(last)

    def jump(self, op: Operation) -> tuple[Block, list[Any]]:
        operands = self.of(op.operands)
        if isinstance(op, cf.BranchOp):
            return op.successors[0], operands
        if isinstance(op, cf.ConditionalBranchOp):
            first = len(op.then_arguments)
            if operands[0]:
                return op.successors[0], operands[1 : 1 + first]
            return op.successors[1], operands[1 + first :]
        assert isinstance(op, cf.SwitchOp)
        start = 1 + len(op.default_operands)
        cases = [] if op.case_values is None else list(op.case_values.get_values())
        for value, target, size in zip(cases, op.successors[1:], op.case_operand_segments.get_values(), strict=True):
            if value == operands[0]:
                return target, operands[start : start + int(size)]
            start += int(size)
        return op.successors[0], operands[1 : 1 + len(op.default_operands)]

    def op(self, op: Operation) -> None:
        operands = self.of(op.operands)
        match op.name:
            case "arith.constant":
                self.give(op.results, [op.properties["value"].value.data])  # type: ignore[attr-defined]
            case "arith.addi":
                self.give(op.results, [(operands[0] + operands[1] + 2**31) % 2**32 - 2**31])
            case "arith.andi":
                self.give(op.results, [operands[0] & operands[1]])
            case "arith.cmpi":
                equal = op.properties["predicate"].value.data == 0  # type: ignore[attr-defined]
                self.give(op.results, [operands[0] == operands[1] if equal else operands[0] < operands[1]])
            case "arith.index_cast":
                self.give(op.results, operands)
            case "memref.alloca":
                self.give(op.results, [[None]])
            case "memref.load":
                self.give(op.results, [operands[0][operands[1] if len(operands) > 1 else 0]])
            case "memref.store":
                operands[1][operands[2] if len(operands) > 2 else 0] = operands[0]
            case "func.call":
                self.log += operands
            case "scf.for":
                low, high, step, *carried = operands
                for i in range(low, high, step):
                    carried = self.region(op.regions[0], [i, *carried])
                self.give(op.results, carried)
            case "scf.while":
                more, *carried = self.region(op.regions[0], operands)
                while more:
                    more, *carried = self.region(op.regions[0], self.region(op.regions[1], carried))
                self.give(op.results, carried)
            case "scf.if":
                arm = op.regions[0 if operands[0] else 1]
                self.give(op.results, self.region(arm) if arm.blocks else [])
            case "scf.index_switch":
                cases = op.properties["cases"].get_values()  # type: ignore[attr-defined]
                at = list(cases).index(operands[0]) + 1 if operands[0] in cases else 0
                self.give(op.results, self.region(op.regions[at]))
            case "scf.execute_region":
                self.give(op.results, self.region(op.regions[0]))
            case _:
                raise AssertionError(op.name)
