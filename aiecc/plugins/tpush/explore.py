"""All schedules of a small program: every state it can get into, one by one.

The independent judge of `graph.py`: it knows nothing of clocks or of who pays for what. A state is where every agent
stands, which flags are set, and which message lies in each cell, all packed into one number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aiecc.plugins.tpush.cells import cells
from aiecc.plugins.tpush.steps import Act, Flag, Step, Streams
from aiecc.plugins.tpush.verdict import Place


class TooManyStates(Exception):
    """The bound was reached; nothing is known."""


@dataclass(slots=True)
class Exploration:
    """`states`: how many there are, the first included. `dead`: states that are no end and have no way on.

    `ends`: states where everybody has ended; `left`: whether one of them has flags other than initialisation left.
    `bad`: steps that read, somewhere, what is not their message's, or write what somebody else is writing.
    `twice`: SETs of a flag that was set.
    """

    states: int = 0
    dead: int = 0
    ends: int = 0
    left: bool = False
    bad: set[Place] = field(default_factory=set[Place])
    twice: set[Place] = field(default_factory=set[Place])


# A move: its kind, two numbers, what is added to the state, and the place in the stream.
_ALWAYS, _WAIT, _SET, _WRITE, _READ, _PUT = range(6)


class _Layout:
    """Where everything lies in the number of a state: agents lowest, then flags, then cells."""

    def __init__(self, streams: Streams) -> None:
        self.shifts: list[int] = []
        self.masks: list[int] = []
        at = 0
        self.steps = [_shown(stream.steps, stream.messages) for stream in streams.streams]
        for steps in self.steps:
            width = max(len(steps).bit_length(), 1)
            self.shifts.append(at)
            self.masks.append((1 << width) - 1)
            at += width
        self.pcs = at
        self.flags: dict[Flag, int] = {}
        for steps in self.steps:
            for _, step, _ in steps:
                if step.flag is not None and step.flag not in self.flags:
                    self.flags[step.flag] = 1 << at
                    at += 1
        for flag in sorted(streams.preset | streams.initial):
            if flag not in self.flags:
                self.flags[flag] = 1 << at
                at += 1
        self.flag_mask = (1 << at) - (1 << self.pcs)
        # Contents: 0 nothing, 2n + 2 message n, 2n + 3 message n while it is written; messages of all rings numbered.
        self.numbers: dict[tuple[int, int, int], int] = {}
        for steps in self.steps:
            for _, step, number in steps:
                if step.accesses:
                    key = (step.pipe, int(step.direction), number)
                    self.numbers.setdefault(key, 2 * len(self.numbers) + 2)
        self.width = (2 * len(self.numbers) + 3).bit_length()
        self.base = at
        self.cells = cells(streams)

    def of(self, step: Step) -> list[int]:
        """Where the cells of a step lie."""
        numbers = sorted({cell for access in step.accesses for cell in self.cells[access]})
        return [self.base + self.width * number for number in numbers]


def _shown(steps: list[Step], messages: list[int]) -> list[tuple[int, Step, int]]:
    """The steps that do something, with their index and message."""
    return [
        (index, step, number)
        for index, (step, number) in enumerate(zip(steps, messages, strict=True))
        if step.act is not Act.ALIAS
    ]


_Move = tuple[int, int, int, int, Place]


def _moves(layout: _Layout, streams: Streams) -> list[list[_Move]]:
    """What each agent does where it stands."""
    found: list[list[_Move]] = []
    for agent, steps in enumerate(layout.steps):
        name, one = streams.streams[agent].agent, 1 << layout.shifts[agent]
        line: list[_Move] = []
        for index, step, number in steps:
            place = (name, index)
            if step.flag is not None:
                bit = layout.flags[step.flag]
                line.append((_WAIT if step.act is Act.WAIT else _SET, bit, 0, one, place))
                continue
            content = layout.numbers[step.pipe, int(step.direction), number]
            mask = wanted = 0
            for at in layout.of(step):
                mask |= ((1 << layout.width) - 1) << at
                wanted |= content << at
            ones = sum(1 << at for at in layout.of(step))
            if not step.accesses[0].write:
                line.append((_READ, mask, wanted, one, place))
            elif step.act is Act.COPY_START:
                line.append((_WRITE, mask, wanted | ones, one, place))
            else:
                line.append((_PUT, mask, wanted, one, place))
        found.append(line)
    return found


def explore(streams: Streams, bound: int = 2_000_000) -> Exploration:
    """Visit every state. What goes wrong in a state is noted, and the run goes on as if it had not.

    Raises `TooManyStates` when there are more than `bound`.
    """
    layout = _Layout(streams)
    moves = _moves(layout, streams)
    agents = [(layout.shifts[a], layout.masks[a], line, len(line)) for a, line in enumerate(moves)]
    writing = _writing(layout)
    start = sum(layout.flags[flag] for flag in streams.preset)
    terminal = sum(layout.flags[flag] for flag in streams.initial)
    found = Exploration()
    seen = {start}
    stack = [start]
    while stack:
        state = stack.pop()
        stuck = ended = True
        for shift, mask, line, length in agents:
            pc = state >> shift & mask
            if pc == length:
                continue
            ended = False
            kind, first, second, one, place = line[pc]
            if kind == _WAIT:
                if not state & first:
                    continue
                after = state - first + one
            elif kind == _SET:
                if state & first:
                    found.twice.add(place)
                after = (state | first) + one
            elif kind == _READ:
                if state & first != second:
                    found.bad.add(place)
                after = state + one
            else:
                there = state & first
                # Nobody else may be writing when a write starts, nor have written when it is done.
                if there & writing if kind == _WRITE else there != second | (first & writing):
                    found.bad.add(place)
                after = state - there + second + one
            stuck = False
            if after not in seen:
                seen.add(after)
                stack.append(after)
        if ended:
            found.ends += 1
            found.left |= state & layout.flag_mask != terminal
        elif stuck:
            found.dead += 1
        if len(seen) > bound:
            raise TooManyStates(f"more than {bound} states")
    found.states = len(seen)
    return found


def _writing(layout: _Layout) -> int:
    """The bits that say that a cell is being written."""
    return sum(1 << at for at in {at for steps in layout.steps for _, step, _ in steps for at in layout.of(step)})
