"""Random structured programs for the tests of the folder, and what running one leaves in memory."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from aiecc.ir.dialects.aie import CoreOp
from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.sim.array import simulate

MEMORY = "memref<8xi32>"
BINARY = ("addi", "subi", "muli", "maxsi", "minsi", "andi", "ori", "xori", "maxui", "minui")
DIVISIONS = ("divsi", "remsi", "divui", "remui", "floordivsi", "ceildivsi", "ceildivui")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@dataclass
class Program:
    """Writes the body of a core: arithmetic, loops and branches over numbers, some of which are only known at run time.

    Whatever is computed is stored somewhere, so that nothing wrong goes unnoticed.
    """

    pick: random.Random
    lines: list[str] = field(default_factory=list[str])
    count: int = 0
    left: int = 26

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def number(self, value: int, kind: str = "i32") -> str:
        return self.put(f"arith.constant {value} : {kind}")

    def written(self) -> str:
        numbers, memories = self.block(["%in0", "%in1", self.number(self.pick.randint(-3, 3))], ["%m", "%n"], 0)
        numbers, memories = self.block(numbers, memories, 0)
        for at, value in enumerate(numbers[-6:]):
            self.lines.append(f"memref.store {value}, {memories[-1]}[{self.number(at, 'index')}] : {MEMORY}")
        return "\n".join(self.lines)

    def block(self, numbers: list[str], memories: list[str], depth: int) -> tuple[list[str], list[str]]:
        """Some operations; what is in reach after them."""
        numbers, memories = list(numbers), list(memories)
        for _ in range(self.pick.randint(1, 4)):
            if self.left > 0:
                self.left -= 1
                self.step(numbers, memories, depth)
        return numbers, memories

    def step(self, numbers: list[str], memories: list[str], depth: int) -> None:
        kinds = ["number", "math", "math", "divide", "choose", "store", "load", "cast"]
        if depth < 3:
            kinds += ["loop", "loop", "branch", "branch", "switch", "while"]
        getattr(self, f"do_{self.pick.choice(kinds)}")(numbers, memories, depth)
        if self.pick.random() < 0.4:
            self.note(numbers[-1])

    def note(self, value: str) -> None:
        """Mix a number into what was computed so far, in memory: it shows in the end, whatever else happens."""
        old = self.put("memref.load %sum[] : memref<i32>")
        mixed = self.put(f"arith.muli {old}, %mix : i32")
        self.lines.append(f"memref.store {self.put(f'arith.addi {mixed}, {value} : i32')}, %sum[] : memref<i32>")

    def any(self, values: list[str]) -> str:
        return self.pick.choice(values[-6:])

    def do_number(self, numbers: list[str], memories: list[str], depth: int) -> None:
        numbers.append(self.number(self.pick.choice([-2, -1, 0, 1, 2, 3, 7, -(2**31), 2**31 - 1])))

    def do_math(self, numbers: list[str], memories: list[str], depth: int) -> None:
        word = self.pick.choice(BINARY)
        right = self.any(numbers) if self.pick.random() < 0.6 else self.number(self.pick.randint(-2, 3))
        pair = [self.any(numbers), right]
        self.pick.shuffle(pair)
        numbers.append(self.put(f"arith.{word} {pair[0]}, {pair[1]} : i32"))

    def do_divide(self, numbers: list[str], memories: list[str], depth: int) -> None:
        by = self.number(self.pick.choice([1, 2, 3, 5]))
        numbers.append(self.put(f"arith.{self.pick.choice(DIVISIONS)} {self.any(numbers)}, {by} : i32"))

    def condition(self, numbers: list[str]) -> str:
        right = self.any(numbers) if self.pick.random() < 0.4 else self.number(self.pick.randint(-1, 3))
        pair = [self.any(numbers), right]
        self.pick.shuffle(pair)
        return self.put(f"arith.cmpi {self.pick.choice(PREDICATES)}, {pair[0]}, {pair[1]} : i32")

    def do_choose(self, numbers: list[str], memories: list[str], depth: int) -> None:
        test = self.condition(numbers)
        if self.pick.random() < 0.3:
            memories.append(self.put(f"arith.select {test}, {self.any(memories)}, {self.any(memories)} : {MEMORY}"))
        else:
            numbers.append(self.put(f"arith.select {test}, {self.any(numbers)}, {self.any(numbers)} : i32"))

    def do_cast(self, numbers: list[str], memories: list[str], depth: int) -> None:
        if self.pick.random() < 0.5:
            wide = self.put(f"arith.index_cast {self.any(numbers)} : i32 to index")
            numbers.append(self.put(f"arith.index_cast {wide} : index to i32"))
        else:
            narrow = self.put(f"arith.trunci {self.any(numbers)} : i32 to i8")
            numbers.append(self.put(f"arith.{self.pick.choice(['extsi', 'extui'])} {narrow} : i8 to i32"))

    def place(self, numbers: list[str]) -> str:
        if self.pick.random() < 0.6:
            return self.number(self.pick.randint(0, 7), "index")
        low = self.put(f"arith.andi {self.any(numbers)}, {self.number(7)} : i32")
        return self.put(f"arith.index_cast {low} : i32 to index")

    def do_store(self, numbers: list[str], memories: list[str], depth: int) -> None:
        self.lines.append(f"memref.store {self.any(numbers)}, {self.any(memories)}[{self.place(numbers)}] : {MEMORY}")

    def do_load(self, numbers: list[str], memories: list[str], depth: int) -> None:
        numbers.append(self.put(f"memref.load {self.any(memories)}[{self.place(numbers)}] : {MEMORY}"))

    def bounds(self) -> tuple[str, str, str]:
        low = self.pick.choice([0, 0, 1, -1])
        trips, step = self.pick.choice([0, 1, 1, 2, 3, 4, 5, 7]), self.pick.choice([1, 1, 2, 3])
        high = self.number(low + trips * step - self.pick.randint(0, 1), "index")
        if self.pick.random() < 0.3:
            high = self.pick.choice(["%i1", "%i2"])
        return self.number(low, "index"), high, self.number(step, "index")

    def do_loop(self, numbers: list[str], memories: list[str], depth: int) -> None:
        low, high, step = self.bounds()
        carried = [self.any(numbers) for _ in range(self.pick.randint(0, 3))]
        moved = [self.any(memories) for _ in range(self.pick.randint(0, 2))]
        counter, names = self.name(), [self.name() for _ in carried]
        places = [self.name() for _ in moved]
        pairs = ", ".join(f"{a} = {b}" for a, b in zip(names + places, carried + moved, strict=True))
        types = ", ".join(["i32"] * len(carried) + [MEMORY] * len(moved))
        result = self.name()
        size = len(carried) + len(moved)
        head = f"{result}:{size} = " if size else ""
        tail = f" iter_args({pairs}) -> ({types})" if size else ""
        self.lines.append(f"{head}scf.for {counter} = {low} to {high} step {step}{tail} {{")
        seen = self.put(f"arith.index_cast {counter} : index to i32")
        inner, mems = self.block([*numbers, *names, seen], [*memories, *places], depth + 1)
        self.end("scf.yield", [self.again(inner, names, numbers) for _ in carried], [self.any(mems) for _ in moved])
        self.lines.append("}")
        numbers.extend(f"{result}#{i}" for i in range(len(carried)))
        memories.extend(f"{result}#{len(carried) + i}" for i in range(len(moved)))

    def again(self, inner: list[str], names: list[str], before: list[str]) -> str:
        """What goes round: often what came in, or a counter that comes back to its start."""
        roll = self.pick.random()
        if roll < 0.3:
            return self.pick.choice(names)
        if roll < 0.5:
            up = self.put(f"arith.addi {self.pick.choice(names)}, {self.number(1)} : i32")
            test = self.put(f"arith.cmpi sge, {up}, {self.number(self.pick.randint(1, 2))} : i32")
            return self.put(f"arith.select {test}, {self.number(0)}, {up} : i32")
        return self.any(inner)

    def end(self, word: str, numbers: list[str], memories: list[str]) -> None:
        values = ", ".join(numbers + memories)
        types = ", ".join(["i32"] * len(numbers) + [MEMORY] * len(memories))
        self.lines.append(f"{word} {values} : {types}" if values else word)

    def do_branch(self, numbers: list[str], memories: list[str], depth: int) -> None:
        test = self.condition(numbers)
        count, moved = self.pick.randint(0, 2), self.pick.randint(0, 1)
        result = self.name()
        types = ", ".join(["i32"] * count + [MEMORY] * moved)
        head = f"{result}:{count + moved} = " if types else ""
        self.lines.append(f"{head}scf.if {test}{f' -> ({types})' if types else ''} {{")
        for part in range(2):
            inner, mems = self.block(numbers, memories, depth + 1)
            self.end("scf.yield", [self.any(inner) for _ in range(count)], [self.any(mems) for _ in range(moved)])
            self.lines.append("} else {" if part == 0 else "}")
        numbers.extend(f"{result}#{i}" for i in range(count))
        memories.extend(f"{result}#{count + i}" for i in range(moved))

    def do_switch(self, numbers: list[str], memories: list[str], depth: int) -> None:
        low = self.put(f"arith.andi {self.any(numbers)}, {self.number(self.pick.choice([0, 1, 3]))} : i32")
        at = self.put(f"arith.index_cast {low} : i32 to index")
        result = self.name()
        self.lines.append(f"{result} = scf.index_switch {at} -> i32")
        for part in ("case 0", "case 2", "default"):
            self.lines.append(f"{part} {{")
            inner, _ = self.block(numbers, memories, depth + 1)
            self.end("scf.yield", [self.any(inner)], [])
            self.lines.append("}")
        numbers.append(result)

    def do_while(self, numbers: list[str], memories: list[str], depth: int) -> None:
        start, value, memory = self.number(0), self.any(numbers), self.any(memories)
        a, b, m, x, y, z = (self.name() for _ in range(6))
        kinds = f"(i32, i32, {MEMORY})"
        result = self.name()
        self.lines.append(
            f"{result}:3 = scf.while ({a} = {start}, {b} = {value}, {m} = {memory}) : {kinds} -> {kinds} {{"
        )
        inner, mems = self.block([*numbers, a, b], [*memories, m], depth + 1)
        test = self.put(f"arith.cmpi slt, {a}, {self.number(self.pick.randint(0, 3))} : i32")
        handed = self.any(inner) if self.pick.random() < 0.5 else b
        self.end(f"scf.condition({test})", [a, handed], [self.any(mems) if self.pick.random() < 0.5 else m])
        self.lines.append(f"}} do {{\n^bb0({x}: i32, {y}: i32, {z}: {MEMORY}):")
        inner, mems = self.block([*numbers, x, y], [*memories, z], depth + 1)
        up = self.put(f"arith.addi {x}, {self.number(1)} : i32")
        self.end("scf.yield", [up, self.any(inner) if self.pick.random() < 0.5 else y], [self.any([*mems, z])])
        self.lines.append("}")
        numbers.extend([f"{result}#0", f"{result}#1"])
        memories.append(f"{result}#2")


def design(body: str, before: str = "", after: str = "") -> str:
    """A core around a body, with two memories and four numbers it cannot know: 2 and 5, and as `index` 5 and 0."""
    return f"""
module {{
  aie.device(npu2) {{
    %tile = aie.tile(0, 2)
    %m = aie.buffer(%tile) {{sym_name = "m"}} : {MEMORY} = dense<[2, 5, 3, -1, 4, 0, 9, 7]>
    %n = aie.buffer(%tile) {{sym_name = "n"}} : {MEMORY} = dense<[8, -6, 1, 2, 11, 3, 0, -5]>
    %sum = aie.buffer(%tile) {{sym_name = "sum"}} : memref<i32> = dense<0>
    {before}
    %core = aie.core(%tile) {{
      %at0 = arith.constant 0 : index
      %at1 = arith.constant 1 : index
      %at5 = arith.constant 5 : index
      %in0 = memref.load %m[%at0] : {MEMORY}
      %in1 = memref.load %m[%at1] : {MEMORY}
      %in2 = memref.load %m[%at5] : {MEMORY}
      %i1 = arith.index_cast %in1 : i32 to index
      %i2 = arith.index_cast %in2 : i32 to index
      %mix = arith.constant 31 : i32
      {body}
      {after}
      aie.end
    }}
  }}
}}"""


def core_of(module: ModuleOp) -> CoreOp:
    return next(op for op in module.walk() if isinstance(op, CoreOp))


def memory_after(module: ModuleOp) -> tuple[bytes, ...]:
    """What the core leaves in its memories. The module must be valid."""
    said = verify(module)
    assert not said, [d.text for d in said]
    outcome = simulate(module)
    assert outcome.finished, outcome.report()
    return tuple(outcome.memory[name] for name in ("m", "n", "sum"))


def program(text: str) -> ModuleOp:
    return parse(text, "core.mlir")
