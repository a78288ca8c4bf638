"""Random legal runtime sequences over memory tiles that hand on what they get, and what memory should hold afterwards.

`build` makes a design from choices. Its model knows neither descriptors nor words: every column is a queue of bytes,
tasks that read put elements into it in the order of their loops, tasks that write take them out again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Protocol

WIDTHS = {"i8": 1, "i16": 2, "i32": 4, "bf16": 2}


class Choices(Protocol):
    """Where decisions come from: `random.Random` will do, and so do hypothesis's."""

    def randrange(self, stop: int, /) -> int: ...


@dataclass(frozen=True)
class Walk:
    """One descriptor. In elements, outermost first; `times` and `step` are the fourth dimension."""

    arg: int
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    times: int = 1
    step: int = 0

    @property
    def length(self) -> int:
        return prod(self.sizes)

    def elements(self, turn: int) -> list[int]:
        """The elements of one execution, in order. `turn`: how many there were before."""
        start = self.offset + turn % self.times * self.step
        return [
            start + sum(i * t for i, t in zip(at, self.strides, strict=True)) for at in product(*map(range, self.sizes))
        ]


@dataclass(frozen=True)
class Arg:
    """One argument, an array of `count` elements."""

    type: str
    count: int

    @property
    def width(self) -> int:
        return WIDTHS[self.type]

    @property
    def memref(self) -> str:
        return f"memref<{self.count}x{self.type}>"


@dataclass
class Task:
    """A chain of descriptors on one channel, run `runs` times at every start. `form`: how it is written."""

    name: str
    column: int
    reads: bool
    walks: list[Walk]
    runs: int = 1
    starts: int = 1
    token: bool = True
    form: str = "task"
    number: int = 0
    """The descriptor that a transfer with an id of its own asks for."""

    def size(self, args: list[Arg]) -> int:
        """Bytes of all starts."""
        return self.starts * self.runs * sum(w.length * args[w.arg].width for w in self.walks)


@dataclass
class Round:
    """What is in flight together: it begins when all before it is done. `loops`: how often it is done over."""

    tasks: list[Task]
    loops: int = 1


@dataclass
class Design:
    """`text` is the design, `initial` what the arguments hold at first."""

    device: str
    objects: list[int]
    """Words of one object of each column's fifo."""
    args: list[Arg]
    rounds: list[Round]
    initial: list[bytes] = field(default_factory=list[bytes])

    @property
    def kinds(self) -> set[str]:
        """What it has, for statistics."""
        found: set[str] = {f"{len(self.objects)} columns", self.device}
        for round in self.rounds:
            if round.loops > 1:
                found.add("loop")
            for task in round.tasks:
                found.add(task.form)
                found.update(f"{len(w.sizes) + (w.times > 1)}-D" for w in task.walks)
                found.update(self.args[w.arg].type for w in task.walks)
                if len(task.walks) > 1:
                    found.add("chain")
                if task.starts > 1:
                    found.add("started again")
                if task.runs > 1:
                    found.add("repeat")
        return found

    # --- the model ----------------------------------------------------------------------------------------------------

    def expected(self) -> list[bytes]:
        """What the arguments hold in the end."""
        memory = [bytearray(data) for data in self.initial]
        for round in self.rounds:
            for _ in range(round.loops):
                streams: dict[int, deque[int]] = {c: deque() for c in range(len(self.objects))}
                for task in (t for t in round.tasks if t.reads):
                    self._move(task, memory, streams[task.column])
                for task in (t for t in round.tasks if not t.reads):
                    self._move(task, memory, streams[task.column])
                assert not any(streams.values())
        return [bytes(m) for m in memory]

    def _move(self, task: Task, memory: list[bytearray], stream: deque[int]) -> None:
        turns = range(task.starts * task.runs)
        for turn in turns:
            for walk in task.walks:
                width = self.args[walk.arg].width
                for element in walk.elements(turn):
                    for byte in range(element * width, element * width + width):
                        assert 0 <= byte < len(memory[walk.arg])
                        if task.reads:
                            stream.append(memory[walk.arg][byte])
                        else:
                            memory[walk.arg][byte] = stream.popleft()

    # --- the text -----------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        lines = [f"aie.device({self.device}) {{"]
        for column, words in enumerate(self.objects):
            fifo = f"!aie.objectfifo<memref<{words}xi32>>"
            lines += [
                f"  %s{column} = aie.tile({column}, 0)",
                f"  %m{column} = aie.tile({column}, 1)",
                f"  aie.objectfifo @in{column}(%s{column}, {{%m{column}}}, 2 : i32) : {fifo}",
                f"  aie.objectfifo @out{column}(%m{column}, {{%s{column}}}, 2 : i32) : {fifo}",
                f"  aie.objectfifo.link [@in{column}] -> [@out{column}] ([] [])",
            ]
        lines += [line for r in self.rounds for t in r.tasks if t.form == "chain" for line in self._template(t)]
        args = ", ".join(f"%a{n}: {arg.memref}" for n, arg in enumerate(self.args))
        lines.append(f"  aie.runtime_sequence @run({args}) {{")
        lines.append("    %c0 = arith.constant 0 : index")
        lines.append("    %c1 = arith.constant 1 : index")
        for number, round in enumerate(self.rounds):
            lines += self._round(number, round)
        return "\n".join([*lines, "  }", "}", ""])

    def _round(self, number: int, round: Round) -> list[str]:
        pad = "    "
        lines: list[str] = []
        if round.loops > 1:
            lines.append(f"{pad}%n{number} = arith.constant {round.loops} : index")
            lines.append(f"{pad}scf.for %i{number} = %c0 to %n{number} step %c1 {{")
        for task in round.tasks:
            lines += self._task(task)
        for task in round.tasks:
            lines += self._end(task)
        if round.loops > 1:
            lines.append(f"{pad}}}")
        return lines

    def _fifo(self, task: Task) -> str:
        return f"{'in' if task.reads else 'out'}{task.column}"

    def _blocks(self, task: Task, buffers: list[str]) -> list[str]:
        lines: list[str] = []
        for n, (walk, buffer) in enumerate(zip(task.walks, buffers, strict=True)):
            if n:
                lines.append(f"    ^{task.name}_{n}:")
            sizes, strides = list(walk.sizes), list(walk.strides)
            if walk.times > 1:
                missing = 3 - len(sizes)
                sizes = [walk.times, *[1] * missing, *sizes]
                strides = [walk.step, *[0] * missing, *strides]
            dims = f" sizes = {sizes} strides = {strides}" if sizes != [walk.length] or strides != [1] else ""
            memref = self.args[walk.arg].memref
            lines.append(f"      aie.dma_bd({buffer} : {memref} offset = {walk.offset} len = {walk.length}{dims})")
            last = n == len(task.walks) - 1
            lines.append("      aie.end" if last else f"      aie.next_bd ^{task.name}_{n + 1}")
        return lines

    def _template(self, task: Task) -> list[str]:
        names = [f"%x{n}" for n in range(len(task.walks))]
        params = ", ".join(f"{x}: {self.args[w.arg].memref}" for x, w in zip(names, task.walks, strict=True))
        return [f"  aie.bd_chain @{task.name}({params}) {{", *self._blocks(task, names), "  }"]

    def _task(self, task: Task) -> list[str]:
        buffers = [f"%a{w.arg}" for w in task.walks]
        repeat = [f"repeat_count = {task.runs - 1} : i32"] if task.runs > 1 else []
        attrs = ", ".join([*(["issue_token = true"] if task.token else []), *repeat])
        again = [f"    aiex.dma_start_task(%{task.name})"]
        if task.form == "memcpy":
            return [self._memcpy(task)]
        if task.form == "chain":
            types = ", ".join(self.args[w.arg].memref for w in task.walks)
            head = f"    %{task.name} = aiex.dma_start_bd_chain_for @{task.name}({', '.join(buffers)}) : ({types}) for"
            return [f"{head} @{self._fifo(task)} {{{attrs}}}", *again * (task.starts - 1)]
        return [
            f"    %{task.name} = aiex.dma_configure_task_for @{self._fifo(task)} {{",
            *self._blocks(task, buffers),
            f"    }} {{{attrs}}}",
            *again * task.starts,
        ]

    def _memcpy(self, task: Task) -> str:
        walk = task.walks[0]
        missing = 3 - len(walk.sizes)
        sizes = [walk.times, *[1] * missing, *walk.sizes]
        strides = [walk.step, *[0] * missing, *walk.strides]
        # Offsets count strides; only the innermost one need not be a whole number of them.
        inner = walk.strides[-1]
        where = f"%a{walk.arg}[0, 0, 0, {walk.offset // inner}]"
        more = f"id = {task.number} : i64, issue_token = true, metadata = @{self._fifo(task)}"
        return f"    aiex.npu.dma_memcpy_nd({where}{sizes}{strides}) {{{more}}} : {self.args[walk.arg].memref}"

    def _end(self, task: Task) -> list[str]:
        if task.form == "memcpy":
            return [f"    aiex.npu.dma_wait {{symbol = @{self._fifo(task)}}}"]
        if task.token:
            return [f"    aiex.dma_await_task(%{task.name})"] * task.starts
        return [f"    aiex.dma_free_task(%{task.name})"]


# --- building ---------------------------------------------------------------------------------------------------------


class _Build:
    def __init__(self, choose: Choices, memcpy: bool | None) -> None:
        self.below = choose.randrange
        self.memcpy = memcpy
        self.count = 0
        # Per column of one round: descriptors beyond one a task, and transfers with ids of their own.
        self.spare: dict[int, int] = {}
        self.copies: dict[int, int] = {}

    def pick(self, low: int, high: int) -> int:
        """Both included."""
        return low + self.below(high - low + 1)

    def design(self) -> Design:
        columns = self.pick(1, 3)
        big = not self.below(10)
        objects = [4 * self.pick(1, 6) if not big or self.below(2) else 256 for _ in range(columns)]
        types = [list(WIDTHS)[self.below(4)] for _ in range(self.pick(2, 7))]
        least, most = (9000, 20000) if big else (150, 600)
        args = [Arg(type, 4 // WIDTHS[type] * self.pick(least, most)) for type in types]
        design = Design(("npu1", "npu2")[self.below(2)], objects, args, [])
        count = self.pick(1, 4)
        for number in range(count):
            design.rounds.append(self.round(design, last=number == count - 1))
        design.initial = [
            bytes((7 * number + 31 * at + at // 251) % 256 for at in range(arg.count * arg.width))
            for number, arg in enumerate(args)
        ]
        return design

    def round(self, design: Design, *, last: bool) -> Round:
        """Reads from some arguments, writes into others, no two columns into the same.

        Not all reads are awaited: that what they sent has arrived says enough. But the queues have to be known to be
        empty again, so the last read of a channel is, except in the end.
        """
        columns = [c for c in range(len(design.objects)) if self.below(3)] or [0]
        order = list(range(len(design.args)))
        for at in range(len(order) - 1, 0, -1):
            other = self.below(at + 1)
            order[at], order[other] = order[other], order[at]
        columns = columns[: len(order) - 1]
        targets, sources = order[: len(columns)], order[len(columns) :]
        few = self.below(3) == 0
        loops = 1 if self.below(4) else self.pick(2, 3)
        none = few and last and loops == 1
        self.spare, self.copies = dict.fromkeys(columns, 4), dict.fromkeys(columns, 0)
        tasks: list[Task] = []
        for column, target in zip(columns, targets, strict=True):
            piece = 4 * design.objects[column]
            whole = self.pick(1, 6)
            reads = self.tasks(design, column, True, sources, whole, piece)
            writes = self.tasks(design, column, False, [target], whole, piece)
            for task in reads if none else reads[:-1]:
                task.token = task.form == "memcpy" or not few
            tasks += writes + reads if self.below(2) else reads + writes
        return Round(tasks, loops)

    def tasks(self, design: Design, column: int, reads: bool, args: list[int], objects: int, piece: int) -> list[Task]:
        """Up to four starts that move so many objects together."""
        found: list[Task] = []
        room = 4
        while objects:
            mine = objects if room == 1 or not self.below(2) else self.pick(1, objects)
            starts = next(n for n in (self.pick(1, 3), 1) if mine % n == 0 and n <= room)
            room -= starts
            objects -= mine
            found.append(self.task(design, column, reads, args, mine // starts * piece, starts))
            if room == 0 and objects:
                found[-1:] = [self.task(design, column, reads, args, (objects + mine // starts) * piece, 1)]
                if starts > 1:
                    found[-1:] = [self.task(design, column, reads, args, (objects + mine) * piece, 1)]
                objects = 0
        return found

    def task(self, design: Design, column: int, reads: bool, args: list[int], size: int, starts: int) -> Task:
        self.count += 1
        words = size // 4
        runs = self.divisor(words, 6) if self.below(3) == 0 else 1
        words //= runs
        lengths = [words]
        while self.below(3) == 0 and len(lengths) < 3 and lengths[-1] > 1 and self.spare[column]:
            self.spare[column] -= 1
            cut = self.pick(1, lengths[-1] - 1)
            lengths[-1:] = [cut, lengths[-1] - cut]
        walks = [self.walk(design, args[self.below(len(args))], n, runs * starts) for n in lengths]
        form = ("task", "task", "chain")[self.below(3)]
        if any(w.offset % w.strides[-1] for w in walks) and self.memcpy:
            walks = [replace(w, offset=w.offset - w.offset % w.strides[-1]) for w in walks]
        copy = self.memcpy if self.memcpy is not None else not self.below(8)
        fits = (
            all(w.offset % w.strides[-1] == 0 for w in walks)
            and starts == 1
            and len(walks) == 1
            and (runs == walks[0].times or walks[0].times == 1)
        )
        number = 0
        if copy and fits and self.copies[column] < 4:
            form = "memcpy"
            number = 12 + self.copies[column]
            self.copies[column] += 1
            if runs != walks[0].times:
                walks = [Walk(walks[0].arg, walks[0].offset, walks[0].sizes, walks[0].strides, runs, 0)]
        return Task(f"t{self.count}", column, reads, walks, runs, starts, True, form, number)

    def divisor(self, n: int, most: int) -> int:
        found = [d for d in range(1, most + 1) if n % d == 0]
        return found[self.below(len(found))]

    def walk(self, design: Design, number: int, words: int, executions: int) -> Walk:
        """Some dimensions whose sizes multiply to a number of words, with strides that stay inside the argument."""
        arg = design.args[number]
        per = 4 // arg.width
        sizes = [words]
        for _ in range(self.below(3)):
            factor = self.divisor(sizes[0], 12)
            sizes[:1] = [sizes[0] // factor, factor]
        times = executions if executions < 40 and self.below(2) else self.pick(1, 4)
        if executions == 1 and self.below(3):
            times = 1
        # In words, innermost first; the innermost of elements that share words has to be one run.
        room = arg.count // per - 1
        strides: list[int] = []
        for at, n in enumerate(reversed(sizes)):
            most = room // max(n - 1, 1)
            step = 1 if at == 0 and (per > 1 or self.below(2)) else self.step(most)
            if (n - 1) * step > room:
                step = 1
            room -= (n - 1) * step
            strides.append(step)
        if room < 0:
            return self.plain(arg, number, words)
        step = self.step(room // (times - 1)) if times > 1 and room >= times - 1 else 0
        times = times if step or times == 1 else 1
        room -= (times - 1) * step
        offset = self.below(room + 1)
        inner = len(sizes) - 1
        return Walk(
            number,
            offset * per,
            tuple(n * per if i == inner else n for i, n in enumerate(sizes)),
            tuple(1 if i == inner and per > 1 else t * per for i, t in enumerate(reversed(strides))),
            times,
            step * per,
        )

    def step(self, most: int) -> int:
        """A stride in words: small ones, and all that fit."""
        if most < 1:
            return 1
        return self.pick(1, min(most, 20) if self.below(2) else most)

    def plain(self, arg: Arg, number: int, words: int) -> Walk:
        per = 4 // arg.width
        assert words <= arg.count // per
        return Walk(number, 0, (words * per,), (1,))


def build(choose: Choices, *, memcpy: bool | None = None) -> Design:
    """A design. `memcpy`: whether what can be written as `npu.dma_memcpy_nd` is; None: now and then."""
    return _Build(choose, memcpy).design()
