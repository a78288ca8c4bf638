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
        from fifo_core_text import Writer

        return Writer(self).whole()


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
