"""Random core programs that work on fifos: units of acquire, compute, release in loops, branches and calls.

A program is a small tree. `Program.run` walks it as plain counting, which says how many objects it takes and gives, so
that what lies around it can be built to fit; `Program.text` is the core in MLIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choice(Protocol):
    """Where randomness comes from. 0 is the simplest choice everywhere."""

    def below(self, n: int) -> int: ...


def between(choice: Choice, low: int, high: int) -> int:
    return low + choice.below(high - low + 1)


def pick(choice: Choice, options: Sequence[T]) -> T:
    return options[choice.below(len(options))]


def chance(choice: Choice, of: int) -> bool:
    """True once in `of`."""
    return choice.below(of) == of - 1


@dataclass
class Side:
    """A core's end of a fifo. `cycle` are (acquire, release) of its units in turn, `other` those of the else branch."""

    fifo: str
    size: int
    element: str
    produces: bool
    cycle: list[tuple[int, int]]
    other: list[tuple[int, int]] = field(default_factory=list)

    @property
    def type(self) -> str:
        return f"memref<{self.size}x{self.element}>"

    @property
    def port(self) -> str:
        return "Produce" if self.produces else "Consume"

    @property
    def most(self) -> int:
        return max(a for a, _ in self.cycle + self.other)

    def unit(self, at: int, *, other: bool = False) -> tuple[int, int]:
        cycle = self.other if other and self.other else self.cycle
        return cycle[at % len(cycle)]


@dataclass(frozen=True)
class Unit:
    """Acquire, compute, release. `only` are the sides it works on, all of them if empty."""

    at: int
    other: bool = False
    only: tuple[int, ...] = ()


@dataclass(frozen=True)
class Loop:
    """`form` is for, step (counts in threes), carry (with a value of its own), while or forever."""

    times: int
    body: tuple[Node, ...]
    form: str = "for"


@dataclass(frozen=True)
class Branch:
    """On whether the loop's turn is even, is below 2, or always (never)."""

    on: str
    then: tuple[Node, ...]
    other: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Give:
    """A release on its own, after the units."""

    side: int
    count: int


@dataclass(frozen=True)
class Hold:
    """An acquire on its own, before the units."""

    side: int
    count: int


Node = Unit | Loop | Branch | Give | Hold


class Illegal(Exception):
    """The program releases what it does not hold."""


@dataclass
class Totals:
    """Objects each side has released, holds, and has taken in all."""

    released: list[int]
    held: list[int]

    def taken(self, side: int) -> int:
        return self.released[side] + self.held[side]


class Program:
    """The code of one core. `sides` are its inputs, then its outputs."""

    def __init__(self, name: str, tile: str, element: str, sides: Sequence[Side], tag: int | None) -> None:
        self.name = name
        self.tile = tile
        self.element = element
        self.sides = list(sides)
        self.tag = tag
        self.nodes: tuple[Node, ...] = ()
        self.calls = False
        self.selects = False
        self.outs_first = False
        self.ins_last = False

    # --- counting -----------------------------------------------------------------------------------------------------

    def run(self) -> Totals:
        totals = Totals([0] * len(self.sides), [0] * len(self.sides))
        self._run(self.nodes, 0, totals)
        return totals

    def _run(self, nodes: Sequence[Node], turn: int, totals: Totals) -> None:
        for node in nodes:
            match node:
                case Unit(at, other, only):
                    for i, side in enumerate(self.sides):
                        if only and i not in only:
                            continue
                        acquire, release = side.unit(at, other=other)
                        totals.held[i] = max(totals.held[i], acquire)
                        self._release(totals, i, release)
                case Hold(side, count):
                    totals.held[side] = max(totals.held[side], count)
                case Give(side, count):
                    self._release(totals, side, count)
                case Loop(times, body):
                    for inner in range(times):
                        self._run(body, inner, totals)
                case Branch(on, then, other):
                    taken = {"even": turn % 2 == 0, "early": turn < 2, "always": True, "never": False}[on]
                    self._run(then if taken else other, turn, totals)

    def _release(self, totals: Totals, side: int, count: int) -> None:
        if count > totals.held[side]:
            raise Illegal
        totals.held[side] -= count
        totals.released[side] += count

    # --- text ---------------------------------------------------------------------------------------------------------

    def text(self) -> tuple[str, str]:
        """The functions it calls, and the core with its counter."""
        return _Writer(self).whole()


class _Writer:
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
        inner = _Writer(self.p)
        arguments = [f"%x{i}: {s.type}" for i, (s, _) in enumerate(read)]
        arguments += [f"%y: {side.type}", f"%n: {self.p.element}"]
        self.compute(side, "%y", [(s, f"%x{i}") for i, (s, _) in enumerate(read)], "%n", extra, inner)
        body = "\n".join("    " + line for line in [*inner.constants.values(), *inner.lines])
        self.functions.append(f"  func.func private @{function}({', '.join(arguments)}) {{\n{body}\n    return\n  }}\n")
        types = ", ".join([*(s.type for s, _ in read), side.type, self.p.element])
        self.say(f"func.call @{function}({', '.join([*(n for _, n in read), name, count])}) : ({types}) -> ()")

    def compute(
        self, side: Side, name: str, read: Sequence[tuple[Side, str]], count: str, extra: int, w: _Writer
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

    def _plus(self, w: _Writer, a: str, b: str) -> str:
        result = w.name("s")
        w.say(f"{result} = arith.addi {a}, {b} : {self.p.element}")
        return result


# --- shapes of programs -----------------------------------------------------------------------------------------------


def in_cycle(choice: Choice, most: int) -> list[tuple[int, int]]:
    """How a core takes: one by one, in windows, or unevenly."""
    kind = choice.below(8)
    if kind < 3 or most < 2:
        return [(1, 1)]
    if kind < 5:
        window = between(choice, 2, most)
        return [(window, between(choice, 1, window))]
    if kind == 5:
        return [(1, 0), (2, 2)]
    if kind == 6:
        return [(1, 1), (2, 1), (1, 1)]
    return [(2, 1), (most, 2)]


def out_cycle(choice: Choice, wanted: int) -> list[tuple[int, int]]:
    kind = choice.below(8)
    if kind == 6 and wanted % 2 == 0:
        return [(1, 0), (2, 2)]
    if kind == 7 and wanted >= 2:
        return [(2, 1)]
    return [(1, 1)]


def shape(choice: Choice, program: Program, wanted: int, *, endless: bool) -> set[str]:
    """Choose the structure so that the first output gives exactly `wanted` objects. Says in words what it chose."""
    sides = program.sides
    outs = [i for i, s in enumerate(sides) if s.produces]
    main = sides[outs[0]]
    length = lcm(*(len(s.cycle) for s in sides))
    # Every unit gives one object on the whole; a window of two keeps one until the end.
    units = wanted - (main.cycle == [(2, 1)])
    said: set[str] = set()
    program.calls = chance(choice, 6)
    if chance(choice, 8) and any(s.most > 1 for s in sides if not s.produces):
        program.selects = True
        said.add("select")
    program.outs_first = chance(choice, 4)
    program.ins_last = chance(choice, 4)
    nodes: list[Node] = []
    rounds, rest = divmod(units, length)
    body: list[Node] = [Unit(i) for i in range(length)]
    branches = length == 1 and any(not s.produces for s in sides) and chance(choice, 4)
    if branches:
        body = _branch(choice, sides)
        said.add("branch")
    form = "for"
    if endless:
        nodes.append(Loop(rounds, tuple(body), "forever"))
        rest = 0
        said.add("endless")
    else:
        kind = choice.below(7)
        if kind == 0 and units <= 6 and not branches:
            nodes += [Unit(i % length) for i in range(rounds * length)]
            said.add("straight")
        elif kind in (1, 2) and rounds > 1:
            inner = pick(choice, [n for n in range(1, rounds + 1) if rounds % n == 0])
            nodes.append(Loop(rounds // inner, (Loop(inner, tuple(body)),)))
            said.add("nested")
        elif kind == 3 and rounds > 1 and not branches:
            nodes += body
            nodes.append(Loop(rounds - 1, tuple(body)))
            said.add("prologue")
        else:
            form = pick(choice, ["for", "for", "step", "while", "carry"])
            nodes.append(Loop(rounds, tuple(body), form))
            said.add(form)
    nodes += [Unit(i) for i in range(rest)]
    for i, side in enumerate(sides):
        if not side.produces and side.most > 1 and chance(choice, 6):
            nodes.insert(0, Hold(i, between(choice, 1, side.most)))
            said.add("hold")
    program.nodes = tuple(nodes)
    totals = program.run()
    if not endless:
        for i, side in enumerate(sides):
            if side.produces and side.cycle == [(2, 1)]:
                nodes.append(Give(i, totals.held[i]))
            elif not side.produces and totals.held[i] and chance(choice, 2):
                nodes.append(Give(i, between(choice, 1, totals.held[i])))
                said.add("tail")
        program.nodes = tuple(nodes)
    return said


def _branch(choice: Choice, sides: Sequence[Side]) -> list[Node]:
    """A round that takes or gives back another number of objects in some of its turns."""
    main = next(s for s in sides if s.produces)
    on = pick(choice, ["even", "early", "always", "never"])
    at = next(i for i, s in enumerate(sides) if not s.produces)
    kind = choice.below(4)
    if kind == 2:
        # More is taken ahead of the unit, which then finds it held.
        return [Branch(on, (Hold(at, sides[at].most),)), Unit(0)]
    if kind == 3 and len(sides[at].cycle) == 1:
        # Nothing is given back but in some turns, and then all but what the next turn takes anyway.
        acquire, release = sides[at].cycle[0]
        sides[at].cycle = [(acquire, 0)]
        return [Unit(0), Branch(on, (Give(at, release),))]
    for side in sides:
        if side.produces:
            if side is not main and chance(choice, 2):
                side.other = [(1, 0)]
            continue
        acquire, release = side.cycle[0]
        side.other = [pick(choice, [(acquire, release), (acquire, max(acquire - 1, 0)), (1, 1), (acquire, 0)])]
        if side.other[0][1] == 0 and side.cycle[0][1] == 0:
            side.other = [(acquire, acquire)]
    return [Branch(on, (Unit(0),), (Unit(0, other=True),))]
