"""Random legal runtime sequences over memory tiles that hand on what they get, and what memory should hold afterwards.

`build` makes a design from choices. Its model knows neither descriptors nor words: every column is a queue of bytes,
tasks that send put elements into it in the order of their loops, tasks that receive take them out again. In some
columns a fifo hands on what comes; in others there is a buffer on a tile, and the sequence programs that tile, too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Protocol

TILE_WORDS = 2048
"""Words of a tile's buffer."""
WIDTHS = {"i8": 1, "i16": 2, "i32": 4, "bf16": 2}


class Choices(Protocol):
    """Where decisions come from: `random.Random` will do, and so do hypothesis's."""

    def randrange(self, stop: int, /) -> int: ...


@dataclass(frozen=True)
class Walk:
    """One descriptor. In elements, outermost first; `times` and `step` are the fourth dimension, `slide` is how far it
    moves on from one round of its loop to the next. `arg`: an argument, or behind them the buffer of a column's tile.
    """

    arg: int
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    times: int = 1
    step: int = 0
    slide: int = 0

    @property
    def length(self) -> int:
        return prod(self.sizes)

    def elements(self, turn: int, loop: int) -> list[int]:
        """The elements of one execution, in order. `turn`: how many there were before in this `loop`."""
        start = self.offset + turn % self.times * self.step + loop * self.slide
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
    """A chain of descriptors on one channel, run `runs` times at every start. `form`: how it is written.

    `sends`: from memory to the stream. `tile`: on the column's tile rather than its shim.
    """

    name: str
    column: int
    sends: bool
    walks: list[Walk]
    runs: int = 1
    starts: int = 1
    token: bool = True
    form: str = "task"
    number: int = 0
    """The descriptor that a transfer with an id of its own asks for."""
    tile: bool = False

    @property
    def late(self) -> bool:
        """What comes from a tile's buffer goes out when everything has come in."""
        return self.sends == self.tile


@dataclass
class Round:
    """What is in flight together: it begins when all before it is done. `loops`: how often it is done over."""

    tasks: list[Task]
    loops: int = 1

    def early(self, design: Design) -> list[Task]:
        """What brings data to tiles, and everything of columns with a fifo."""
        return [t for t in self.tasks if not t.late or design.kinds_of[t.column] == "fifo"]

    def late(self, design: Design) -> list[Task]:
        return [t for t in self.tasks if t.late and design.kinds_of[t.column] != "fifo"]


@dataclass
class Design:
    """`text` is the design, `initial` what the arguments hold at first."""

    device: str
    objects: list[int]
    """Words of one object of each column's fifo."""
    kinds_of: list[str]
    """What each column has: `fifo`, or a buffer on its `mem` or `core` tile."""
    args: list[Arg]
    rounds: list[Round]
    initial: list[bytes] = field(default_factory=list[bytes])

    @property
    def kinds(self) -> set[str]:
        """What it has, for statistics."""
        found: set[str] = {f"{len(self.objects)} columns", self.device, *self.kinds_of}
        for round in self.rounds:
            if round.loops > 1:
                found.add("loop")
            for task in round.tasks:
                found.add(task.form)
                found.update(f"{len(w.sizes) + (w.times > 1)}-D" for w in task.walks)
                if sum(t.starts for t in round.tasks if t.sends and t.column == task.column and not t.tile) > 4:
                    found.add("full queue")
                found.update(self.memory(w.arg).type for w in task.walks)
                if round.loops > 1 and any(w.slide for w in task.walks):
                    found.add("slides")
                if len(task.walks) > 1:
                    found.add("chain")
                if task.starts > 1:
                    found.add("started again")
                if task.runs > 1:
                    found.add("repeat")
        return found

    def memory(self, number: int) -> Arg:
        """An argument, or a column's buffer."""
        return self.args[number] if number < len(self.args) else Arg("i32", TILE_WORDS)

    # --- the model ----------------------------------------------------------------------------------------------------

    def expected(self) -> list[bytes]:
        """What the arguments hold in the end."""
        memory = [bytearray(data) for data in self.initial]
        memory += [bytearray(4 * TILE_WORDS) for _ in self.objects]
        for round in self.rounds:
            for loop in range(round.loops):
                # From shims to tiles first, then from tiles to shims; through a fifo it is one stream.
                for tasks in (round.early(self), round.late(self)):
                    streams: dict[int, deque[int]] = {c: deque() for c in range(len(self.objects))}
                    for task in sorted(tasks, key=lambda task: not task.sends):
                        self._move(task, memory, streams[task.column], loop)
                    assert not any(streams.values())
        return [bytes(m) for m in memory[: len(self.args)]]

    def _move(self, task: Task, memory: list[bytearray], stream: deque[int], loop: int) -> None:
        turns = range(task.starts * task.runs)
        for turn in turns:
            for walk in task.walks:
                width = self.memory(walk.arg).width
                for element in walk.elements(turn, loop):
                    for byte in range(element * width, element * width + width):
                        assert 0 <= byte < len(memory[walk.arg])
                        if task.sends:
                            stream.append(memory[walk.arg][byte])
                        else:
                            memory[walk.arg][byte] = stream.popleft()

    # --- the text -----------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        lines = [f"aie.device({self.device}) {{"]
        for column, words in enumerate(self.objects):
            fifo = f"!aie.objectfifo<memref<{words}xi32>>"
            lines.append(f"  %s{column} = aie.tile({column}, 0)")
            kind = self.kinds_of[column]
            if kind != "fifo":
                zero = f"memref<{TILE_WORDS}xi32> = dense<0>"
                lines += [
                    f"  %m{column} = aie.tile({column}, {1 if kind == 'mem' else 2})",
                    f'  %b{column} = aie.buffer(%m{column}) {{sym_name = "b{column}"}} : {zero}',
                    f"  aie.flow(%s{column}, DMA : 0, %m{column}, DMA : 1)",
                    f"  aie.flow(%m{column}, DMA : 0, %s{column}, DMA : 1)",
                    f"  aie.shim_dma_allocation @in{column}(%s{column}, MM2S, 0)",
                    f"  aie.shim_dma_allocation @out{column}(%s{column}, S2MM, 1)",
                ]
                continue
            lines += [
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
            lines.append(f"    %j{number} = arith.index_cast %i{number} : index to i32")
        for tasks in (round.early(self), round.late(self)):
            for task in tasks:
                lines += self._task(task, number, round)
            for task in tasks:
                lines += self._end(task)
        if round.loops > 1:
            lines.append(f"{pad}}}")
        return lines

    def _fifo(self, task: Task) -> str:
        return f"{'in' if task.sends else 'out'}{task.column}"

    def _where(self, task: Task) -> str:
        """Channel 1 into a tile, channel 0 out of it."""
        return f"(%m{task.column}, MM2S, 0)" if task.sends else f"(%m{task.column}, S2MM, 1)"

    def _slides(self, task: Task, number: int, round: Round) -> tuple[list[str], list[str | None]]:
        """Offsets that depend on the loop: how they come about, and their names."""
        lines: list[str] = []
        names: list[str | None] = []
        for n, walk in enumerate(task.walks):
            name = f"%o{task.name}_{n}"
            names.append(name if walk.slide and round.loops > 1 else None)
            if names[-1]:
                lines += [
                    f"    {name}k = arith.constant {walk.slide} : i32",
                    f"    {name}b = arith.constant {walk.offset} : i32",
                    f"    {name}m = arith.muli %j{number}, {name}k : i32",
                    f"    {name} = arith.addi {name}b, {name}m : i32",
                ]
        return lines, names

    def _blocks(self, task: Task, buffers: list[str], offsets: list[str | None]) -> list[str]:
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
            memref = self.memory(walk.arg).memref
            offset = offsets[n] or walk.offset
            lines.append(f"      aie.dma_bd({buffer} : {memref} offset = {offset} len = {walk.length}{dims})")
            last = n == len(task.walks) - 1
            lines.append("      aie.end" if last else f"      aie.next_bd ^{task.name}_{n + 1}")
        return lines

    def _template(self, task: Task) -> list[str]:
        """A chain for one task. Offsets that slide are arguments, as its buffers are."""
        loops = next(r.loops for r in self.rounds if any(t is task for t in r.tasks))
        names = [f"%x{n}" for n in range(len(task.walks))]
        offsets = [f"%y{n}" if w.slide and loops > 1 else None for n, w in enumerate(task.walks)]
        params = [f"{x}: {self.memory(w.arg).memref}" for x, w in zip(names, task.walks, strict=True)]
        params += [f"{y}: i32" for y in offsets if y]
        return [f"  aie.bd_chain @{task.name}({', '.join(params)}) {{", *self._blocks(task, names, offsets), "  }"]

    def _task(self, task: Task, number: int, round: Round) -> list[str]:
        lines, offsets = self._slides(task, number, round)
        buffers = [f"%a{w.arg}" if w.arg < len(self.args) else f"%b{task.column}" for w in task.walks]
        repeat = [f"repeat_count = {task.runs - 1} : i32"] if task.runs > 1 else []
        attrs = ", ".join([*(["issue_token = true"] if task.token else []), *repeat])
        again = [f"    aiex.dma_start_task(%{task.name})"]
        if task.form == "memcpy":
            return [self._memcpy(task)]
        if task.form == "chain":
            values = ", ".join([*buffers, *(o for o in offsets if o)])
            types = ", ".join([self.memory(w.arg).memref for w in task.walks] + ["i32" for o in offsets if o])
            where = f"on {self._where(task)}" if task.tile else f"for @{self._fifo(task)}"
            starter = "dma_start_bd_chain" if task.tile else "dma_start_bd_chain_for"
            head = f"    %{task.name} = aiex.{starter} @{task.name}({values}) : ({types}) {where}"
            return [*lines, f"{head} {{{attrs}}}", *again * (task.starts - 1)]
        what = f"dma_configure_task{self._where(task)}" if task.tile else f"dma_configure_task_for @{self._fifo(task)}"
        return [
            *lines,
            f"    %{task.name} = aiex.{what} {{",
            *self._blocks(task, buffers, offsets),
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
        self.loops = 1

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
        kinds = [("fifo", "fifo", "mem", "core")[self.below(4)] for _ in range(columns)]
        design = Design(("npu1", "npu2")[self.below(2)], objects, kinds, args, [])
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
        self.loops = loops
        tasks: list[Task] = []
        for column, target in zip(columns, targets, strict=True):
            piece = 4 * design.objects[column]
            inside = len(design.args) + column
            whole = self.pick(1, 6)
            # More than a queue holds, where what is awaited in between can get on.
            many = design.kinds_of[column] == "fifo" and not few and not self.below(4)
            if many:
                self.spare[column], self.copies[column] = 0, 4
                whole = self.pick(5, 8)
            reads = self.tasks(design, column, True, sources, whole, piece, room=8 if many else 4)
            for task in reads if none else reads[:-1]:
                task.token = task.form == "memcpy" or not few
            if design.kinds_of[column] == "fifo":
                writes = self.tasks(design, column, False, [target], whole, piece)
                tasks += writes + reads if many or self.below(2) else reads + writes
                continue
            # Something comes in, and something else, of another size, goes out.
            self.copies[column] = 0
            other = self.pick(1, 6)
            writes = self.tasks(design, column, False, [target], other, piece)
            tasks += self.tasks(design, column, False, [inside], whole, piece, tile=True) + reads
            tasks += writes + self.tasks(design, column, True, [inside], other, piece, tile=True)
        return Round(tasks, loops)

    def tasks(
        self,
        design: Design,
        column: int,
        sends: bool,
        args: list[int],
        objects: int,
        piece: int,
        *,
        tile: bool = False,
        room: int = 4,
    ) -> list[Task]:
        """Up to `room` starts that move so many objects together."""
        found: list[Task] = []

        def make(size: int, starts: int) -> Task:
            return self.task(design, column, sends, args, size, starts, tile)

        while objects:
            mine = objects if room == 1 or not self.below(2) else self.pick(1, 1 if room > 4 else objects)
            starts = next(n for n in (self.pick(1, 3), 1) if mine % n == 0 and n <= room)
            room -= starts
            objects -= mine
            found.append(make(mine // starts * piece, starts))
            if room == 0 and objects:
                found[-1:] = [make((objects + mine // starts) * piece, 1)]
                if starts > 1:
                    found[-1:] = [make((objects + mine) * piece, 1)]
                objects = 0
        return found

    def task(
        self, design: Design, column: int, sends: bool, args: list[int], size: int, starts: int, tile: bool
    ) -> Task:
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
        if copy and fits and not tile and self.copies[column] < 4:
            walks = [replace(walks[0], slide=0)]
            form = "memcpy"
            number = 12 + self.copies[column]
            self.copies[column] += 1
            if runs != walks[0].times:
                walks = [Walk(walks[0].arg, walks[0].offset, walks[0].sizes, walks[0].strides, runs, 0)]
        return Task(f"t{self.count}", column, sends, walks, runs, starts, True, form, number, tile)

    def divisor(self, n: int, most: int) -> int:
        found = [d for d in range(1, most + 1) if n % d == 0]
        return found[self.below(len(found))]

    def walk(self, design: Design, number: int, words: int, executions: int) -> Walk:
        """Some dimensions whose sizes multiply to a number of words, with strides that stay inside the argument."""
        arg = design.memory(number)
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
        slide = 0
        if self.loops > 1 and self.below(2):
            slide = self.step(room // (self.loops - 1)) if room >= self.loops - 1 else 0
            room -= (self.loops - 1) * slide
        offset = self.below(room + 1)
        inner = len(sizes) - 1
        return Walk(
            number,
            offset * per,
            tuple(n * per if i == inner else n for i, n in enumerate(sizes)),
            tuple(1 if i == inner and per > 1 else t * per for i, t in enumerate(reversed(strides))),
            times,
            step * per,
            slide * per,
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
