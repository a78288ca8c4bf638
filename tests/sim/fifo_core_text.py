"""Core programs of random designs as MLIR."""

from __future__ import annotations

from collections.abc import Sequence

from fifo_cores import Branch, Give, Hold, Loop, Node, Program, Side, Unit


class Writer:
    def __init__(self, program: Program) -> None:
        self.p = program
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.constants: dict[str, str] = {}
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def index(self, value: int) -> str:
        name = f"%c{value}"
        self.constants[name] = f"{name} = arith.constant {value} : index"
        return name

    def number(self, value: int) -> str:
        name = f"%e{value}".replace("-", "m")
        self.constants[name] = f"{name} = arith.constant {value} : {self.p.element}"
        return name

    def say(self, text: str) -> None:
        self.lines.append(text)

    def whole(self) -> tuple[str, str]:
        p = self.p
        self.nodes(p.nodes, None)
        body = "\n".join("    " + line for line in [*self.constants.values(), *self.lines])
        kind = f"memref<2x{p.element}>"
        counter = f'  %n_{p.name} = aie.buffer(%{p.tile}) {{sym_name = "n_{p.name}"}} : {kind} = dense<0>\n'
        core = f"{counter}  %core_{p.name} = aie.core(%{p.tile}) {{\n{body}\n    aie.end\n  }}\n"
        return "".join(self.functions), core

    def nodes(self, nodes: Sequence[Node], turn: str | None) -> None:
        for node in nodes:
            match node:
                case Unit(at, other, only):
                    self.unit(at, other, only)
                case Hold(side, count):
                    self.acquire(self.p.sides[side], count)
                case Give(side, count):
                    self.release(self.p.sides[side], count)
                case Loop(times, body, form):
                    self.loop(times, body, form)
                case Branch(on, then, other):
                    self.branch(on, then, other, turn)

    def loop(self, times: int, body: Sequence[Node], form: str) -> None:
        turn = self.name("i")
        zero, one = self.index(0), self.index(1)
        if form == "while":
            flag, inner, after = self.name("f"), self.name("i"), self.name("i")
            self.say(f"{self.name('w')} = scf.while ({turn} = {zero}) : (index) -> index {{")
            self.say(f"{flag} = arith.cmpi slt, {turn}, {self.index(times)} : index")
            self.say(f"scf.condition({flag}) {turn} : index")
            self.say("} do {")
            self.say(f"^bb0({inner}: index):")
            self.nodes(body, inner)
            self.say(f"{after} = arith.addi {inner}, {one} : index")
            self.say(f"scf.yield {after} : index")
            self.say("}")
            return
        count, step = times, one
        if form == "forever":
            count = (1 << 31) - 1
        elif form == "step":
            count, step = 3 * times - 1, self.index(3)
        head = f"scf.for {turn} = {zero} to {self.index(count)} step {step}"
        if form == "carry":
            self.carry(head, body, turn)
            return
        self.say(f"{head} {{")
        real = turn
        if form == "step":
            real = self.name("i")
            self.say(f"{real} = arith.divui {turn}, {step} : index")
        self.nodes(body, real)
        self.say("}")

    def carry(self, head: str, body: Sequence[Node], turn: str) -> None:
        """The loop counts its rounds in a value of its own and leaves the number in the core's memory."""
        element = self.p.element
        total, inner, more = self.name("t"), self.name("t"), self.name("t")
        self.say(f"{total} = {head} iter_args({inner} = {self.number(0)}) -> ({element}) {{")
        self.nodes(body, turn)
        self.say(f"{more} = arith.addi {inner}, {self.number(1)} : {element}")
        self.say(f"scf.yield {more} : {element}")
        self.say("}")
        self.say(f"memref.store {total}, %n_{self.p.name}[{self.index(1)}] : memref<2x{element}>")

    def branch(self, on: str, then: Sequence[Node], other: Sequence[Node], turn: str | None) -> None:
        flag = self.name("f")
        turn = turn or self.index(0)
        if on == "even":
            rest = self.name("r")
            self.say(f"{rest} = arith.remui {turn}, {self.index(2)} : index")
            self.say(f"{flag} = arith.cmpi eq, {rest}, {self.index(0)} : index")
        elif on == "early":
            self.say(f"{flag} = arith.cmpi slt, {turn}, {self.index(2)} : index")
        else:
            self.say(f"{flag} = arith.constant {'true' if on == 'always' else 'false'}")
        self.say(f"scf.if {flag} {{")
        self.nodes(then, turn)
        if other:
            self.say("} else {")
            self.nodes(other, turn)
        self.say("}")

    def acquire(self, side: Side, count: int) -> list[str]:
        names = [self.name("o") for _ in range(count)]
        types = ", ".join([side.type] * count)
        self.say(f"{', '.join(names)} = aie.objectfifo.acquire @{side.fifo} ({side.port}, {count}) : {types}")
        return names

    def release(self, side: Side, count: int) -> None:
        if count:
            self.say(f"aie.objectfifo.release @{side.fifo} ({side.port}, {count})")

    def unit(self, at: int, other: bool, only: tuple[int, ...]) -> None:
        sides = [s for i, s in enumerate(self.p.sides) if not only or i in only]
        ins = [s for s in sides if not s.produces]
        outs = [s for s in sides if s.produces]
        objects: dict[str, list[str]] = {}
        for side in outs + ins if self.p.outs_first else ins + outs:
            objects[side.fifo + side.port] = self.acquire(side, side.unit(at, other=other)[0])
        if self.p.selects:
            self.select(ins, objects)
        read = [(s, name) for s in ins for name in objects[s.fifo + s.port]]
        element = self.p.element
        old, new = self.name("n"), self.name("n")
        cell = f"%n_{self.p.name}[{self.index(0)}] : memref<2x{element}>"
        self.say(f"{old} = memref.load {cell}")
        for side in outs:
            _, release = side.unit(at, other=other)
            names = objects[side.fifo + side.port]
            # Where nothing is released yet, and where what was kept goes with the new one, only the newest is written.
            newest = side.cycle == [(1, 0), (2, 2)]
            for number, name in enumerate(names):
                if not newest or number == len(names) - 1:
                    self.work(side, name, read, old, 7 * number + release)
        self.say(f"{new} = arith.addi {old}, {self.number(1)} : {element}")
        self.say(f"memref.store {new}, {cell}")
        for side in ins + outs if not self.p.ins_last else outs + ins:
            self.release(side, side.unit(at, other=other)[1])

    def select(self, ins: Sequence[Side], objects: dict[str, list[str]]) -> None:
        """Which of two objects is read first depends on the round's number."""
        for side in ins:
            names = objects[side.fifo + side.port]
            if len(names) < 2:
                continue
            flag, old, rest = self.name("f"), self.name("n"), self.name("r")
            element = self.p.element
            self.say(f"{old} = memref.load %n_{self.p.name}[{self.index(0)}] : memref<2x{element}>")
            self.say(f"{rest} = arith.andi {old}, {self.number(1)} : {element}")
            self.say(f"{flag} = arith.cmpi eq, {rest}, {self.number(0)} : {element}")
            one, other = self.name("o"), self.name("o")
            self.say(f"{one} = arith.select {flag}, {names[0]}, {names[1]} : {side.type}")
            self.say(f"{other} = arith.select {flag}, {names[1]}, {names[0]} : {side.type}")
            names[:2] = [one, other]

    def work(self, side: Side, name: str, read: Sequence[tuple[Side, str]], count: str, extra: int) -> None:
        if not self.p.calls:
            self.compute(side, name, read, count, extra, self)
            return
        function = f"work_{self.p.name}_{len(self.functions)}"
        inner = Writer(self.p)
        arguments = [f"%x{i}: {s.type}" for i, (s, _) in enumerate(read)]
        arguments += [f"%y: {side.type}", f"%n: {self.p.element}"]
        self.compute(side, "%y", [(s, f"%x{i}") for i, (s, _) in enumerate(read)], "%n", extra, inner)
        body = "\n".join("    " + line for line in [*inner.constants.values(), *inner.lines])
        self.functions.append(f"  func.func private @{function}({', '.join(arguments)}) {{\n{body}\n    return\n  }}\n")
        types = ", ".join([*(s.type for s, _ in read), side.type, self.p.element])
        self.say(f"func.call @{function}({', '.join([*(n for _, n in read), name, count])}) : ({types}) -> ()")

    def compute(
        self, side: Side, name: str, read: Sequence[tuple[Side, str]], count: str, extra: int, w: Writer
    ) -> None:
        """Every element gets a weighted sum of what was read there, its own place, and the unit's number."""
        element = self.p.element
        j, place, total = w.name("j"), w.name("p"), w.name("s")
        w.say(f"scf.for {j} = {w.index(0)} to {w.index(side.size)} step {w.index(1)} {{")
        w.say(f"{place} = arith.index_cast {j} : index to {element}")
        scaled = w.name("m")
        w.say(f"{scaled} = arith.muli {count}, {w.number(19)} : {element}")
        w.say(f"{total} = arith.addi {place}, {scaled} : {element}")
        if extra:
            total = self._plus(w, total, w.number(extra))
        for number, (source, object) in enumerate(read):
            at, value, times = w.name("a"), w.name("v"), w.name("m")
            w.say(f"{at} = arith.remui {j}, {w.index(source.size)} : index")
            w.say(f"{value} = memref.load {object}[{at}] : {source.type}")
            w.say(f"{times} = arith.muli {value}, {w.number(2 * number + 1)} : {element}")
            total = self._plus(w, total, times)
        w.say(f"memref.store {total}, {name}[{j}] : {side.type}")
        w.say("}")
        if self.p.tag is not None:
            w.say(f"memref.store {w.number(self.p.tag)}, {name}[{w.index(0)}] : {side.type}")

    def _plus(self, w: Writer, a: str, b: str) -> str:
        result = w.name("s")
        w.say(f"{result} = arith.addi {a}, {b} : {self.p.element}")
        return result
