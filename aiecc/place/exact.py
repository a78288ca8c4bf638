"""A complete search: it finds a layout or proves that none exists, within a count of nodes.

Any layout can be slid down, run by run, until every extent sits at the lowest legal address above
its predecessor. So the search fills one free run after the other from the bottom and only chooses
which extent comes next. It is cut by four facts, each of which keeps some layout if there is one:

* extents of equal size, alignment and ranges are interchangeable;
* a run is left only when nothing still to place fits in it (moving one in never hurts);
* of two neighbours that may be swapped without moving their end, one order is enough;
* what failed with these extents left at some address of a run also fails higher up in it.

Slot counting (see `bound`) prunes the rest. The addresses are packed and ignore the ranking.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.place.bound import ranges_to_check
from aiecc.place.problem import Item, Run, Runs, round_up, somewhere
from aiecc.place.search import Status

BY_ADDRESS = 2000
"""Nodes spent on filling runs in address order, which gives the tidier layouts, before small runs go first."""


class _Class:
    """Interchangeable extents: which ones, and the rules they share."""

    __slots__ = ("align", "free", "members", "pad", "ranges", "size")

    def __init__(self, item: Item, free: bool) -> None:
        self.size = item.size
        self.align = item.align
        self.ranges = item.ranges
        self.free = free
        """May lie anywhere in memory."""
        self.pad = -item.size % item.align
        self.members: list[int] = []

    def lowest(self, position: int, end: int) -> int:
        """The lowest legal start at or above `position` in a run that ends at `end`, or -1."""
        size, align = self.size, self.align
        for lo, hi in self.ranges:
            at = max(position, lo)
            at += -at % align
            if at + size > end:
                return -1
            if at + size <= hi:
                return at
        return -1

    def capacity(self, run: Run) -> int:
        """How many of its members one empty run can hold."""
        total, position = 0, run[0]
        step = round_up(self.size, self.align)
        for lo, hi in self.ranges:
            start, end = max(position, lo), min(run[1], hi)
            start += -start % self.align
            if start + self.size <= end:
                total += (end - start - self.size) // step + 1
        return total


class _Frame:
    """A state of the walk: a position in a run, and the next class to try there."""

    __slots__ = ("chosen", "fits", "key", "last", "next", "position", "run", "skipped")

    def __init__(self, run: int, position: int, last: int, chosen: int, key: int) -> None:
        self.run = run
        self.position = position
        self.last = last
        """The class just placed below, if a swap with it could be redundant; else -1."""
        self.chosen = chosen
        """The class whose placement led here; -1 for a fresh run."""
        self.key = key
        self.next = 0
        self.fits = False
        self.skipped = False


class ExactSearch:
    """Places every non-empty item into `runs`, or refutes it. `nodes` counts placements tried."""

    def __init__(self, items: Sequence[Item], runs: Runs, memory: int, *, small_first: bool = False) -> None:
        self.nodes = 0
        self._items = items
        # The order of the runs is free. Small ones first shows early what cannot be filled exactly.
        self._runs = sorted(runs, key=lambda r: (r[1] - r[0], r)) if small_first else sorted(runs)
        self._classes = self._group(memory)
        self._left = [len(c.members) for c in self._classes]
        self._remaining = sum(self._left)
        self._bounds(memory)
        self._capacities()
        # What is left, as one exact number: mixed radix over the classes.
        self._weight: list[int] = []
        weight = 1
        for count in self._left:
            self._weight.append(weight)
            weight *= count + 1
        self._code = sum(w * n for w, n in zip(self._weight, self._left, strict=True))
        self._failed: dict[tuple[int, int, int], int] = {}
        self._frames: list[_Frame] = []
        self._chosen: list[tuple[int, int]] = []
        self._empty: dict[int, int] = {}
        self._impossible = not self._place_empty(runs, memory) or not self._start()

    def _group(self, memory: int) -> list[_Class]:
        groups: dict[tuple[int, int, Runs], _Class] = {}
        for index, item in enumerate(self._items):
            if not item.size:
                continue
            key = (item.size, item.align, item.ranges)
            if key not in groups:
                groups[key] = _Class(item, item.ranges == ((0, memory),))
            groups[key].members.append(index)
        return sorted(groups.values(), key=lambda c: (-c.size, -c.align, c.ranges))

    def _bounds(self, memory: int) -> None:
        """Slot demand by class and slot supply by run, for every alignment and range that matters."""
        steps = sorted({c.align for c in self._classes})
        ranges = ranges_to_check((item for item in self._items if item.size), memory)
        self._checks: list[tuple[int, int, int]] = []
        self._demand: list[int] = []
        self._supply: list[list[int]] = []
        needs: list[list[int]] = []
        for lo, hi in ranges:
            for step in steps:
                need = [
                    -(-c.size // step) if c.align % step == 0 and lo <= c.ranges[0][0] and c.ranges[-1][1] <= hi else 0
                    for c in self._classes
                ]
                if not any(need):
                    continue
                self._checks.append((step, lo, hi))
                needs.append(need)
                self._demand.append(sum(n * len(c.members) for n, c in zip(need, self._classes, strict=True)))
                supply = [0]
                for run_lo, run_hi in reversed(self._runs):
                    supply.append(supply[-1] + _slots(max(run_lo, lo), min(run_hi, hi), step))
                self._supply.append(supply[::-1])
        self._need = [tuple((j, need[c]) for j, need in enumerate(needs) if need[c]) for c in range(len(self._classes))]

    def _capacities(self) -> None:
        """How many members of each class the runs from a given one on can hold, if they were alone."""
        self._capacity: list[list[int]] = []
        for c in self._classes:
            capacity = [0]
            for run in reversed(self._runs):
                capacity.append(capacity[-1] + c.capacity(run))
            self._capacity.append(capacity[::-1])

    def _place_empty(self, runs: Runs, memory: int) -> bool:
        for index, item in enumerate(self._items):
            if not item.size:
                at = _empty_address(item, runs, memory)
                if at is None:
                    return False
                self._empty[index] = at
        return True

    def _start(self) -> bool:
        if not self._remaining:
            return True
        if not self._runs or not self._promising(0, self._runs[0][0]) or not self._roomy(0):
            return False
        self._frames.append(_Frame(0, self._runs[0][0], -1, -1, self._code))
        return True

    def _promising(self, run: int, position: int) -> bool:
        """Slot counting over what is free from `position` of `run` on."""
        end = self._runs[run][1]
        after = run + 1
        for (step, lo, hi), demand, supply in zip(self._checks, self._demand, self._supply, strict=True):
            if demand > supply[after]:
                low, high = position if position > lo else lo, end if end < hi else hi
                if low >= high or demand > supply[after] - -high // step + -low // step:
                    return False
        return True

    def _roomy(self, run: int) -> bool:
        """Every class alone still fits in the runs from `run` on."""
        return all(not left or cap[run] >= left for left, cap in zip(self._left, self._capacity, strict=True))

    def run(self, limit: int) -> Status:
        """Go on until solved, refuted, or `limit` nodes were spent in all."""
        if self._impossible:
            return Status.REFUTED
        if not self._remaining:
            return Status.SOLVED
        frames = self._frames
        while frames:
            frame = frames[-1]
            found = self._next_choice(frame)
            if found is not None:
                if self.nodes >= limit:
                    frame.next -= 1
                    return Status.PAUSED
                self.nodes += 1
                if self._descend(frame, *found):
                    return Status.SOLVED
            elif frame.fits or frame.skipped or not self._skip(frame):
                self._fail(frame)
        return Status.REFUTED

    def _next_choice(self, frame: _Frame) -> tuple[int, int] | None:
        """The next class worth trying at this position, with its address."""
        end = self._runs[frame.run][1]
        classes, left, last = self._classes, self._left, frame.last
        for index in range(frame.next, len(classes)):
            if not left[index]:
                continue
            c = classes[index]
            at = c.lowest(frame.position, end)
            if at < 0:
                continue
            frame.fits = True
            if last > index and c.free and c.align == classes[last].align and c.pad == classes[last].pad:
                continue
            frame.next = index + 1
            return index, at
        frame.next = len(classes)
        return None

    def _descend(self, frame: _Frame, index: int, at: int) -> bool:
        """Place one member; enter the state above it unless that is hopeless. True when all are placed."""
        c = self._classes[index]
        self._take(index)
        self._chosen.append((index, at))
        if not self._remaining:
            return True
        position = at + c.size
        last = index if c.free else -1
        key = (frame.run, self._code, last)
        if position >= self._failed.get(key, 1 << 62) or not self._promising(frame.run, position):
            self._give_back(index)
            self._chosen.pop()
        else:
            self._frames.append(_Frame(frame.run, position, last, index, self._code))
        return False

    def _skip(self, frame: _Frame) -> bool:
        """Go on to the next run, nothing left fitting in this one."""
        frame.skipped = True
        run = frame.run + 1
        if run >= len(self._runs) or not self._roomy(run):
            return False
        position = self._runs[run][0]
        if position >= self._failed.get((run, self._code, -1), 1 << 62) or not self._promising(run, position):
            return False
        self._frames.append(_Frame(run, position, -1, -1, self._code))
        return True

    def _fail(self, frame: _Frame) -> None:
        key = (frame.run, frame.key, frame.last)
        known = self._failed.get(key)
        if known is None or frame.position < known:
            self._failed[key] = frame.position
        self._frames.pop()
        if frame.chosen >= 0:
            self._give_back(frame.chosen)
            self._chosen.pop()

    def _take(self, index: int) -> None:
        self._left[index] -= 1
        self._remaining -= 1
        self._code -= self._weight[index]
        for j, need in self._need[index]:
            self._demand[j] -= need

    def _give_back(self, index: int) -> None:
        self._left[index] += 1
        self._remaining += 1
        self._code += self._weight[index]
        for j, need in self._need[index]:
            self._demand[j] += need

    def addresses(self) -> dict[int, int]:
        """The layout found, by index into the items; members of a class in their order, ascending."""
        by_class: dict[int, list[int]] = {}
        for index, at in self._chosen:
            by_class.setdefault(index, []).append(at)
        result: dict[int, int] = {}
        for index, found in by_class.items():
            result.update(zip(self._classes[index].members, sorted(found), strict=True))
        return {**result, **self.empty_addresses()}

    def empty_addresses(self) -> dict[int, int]:
        """Where empty extents go: they cover nothing and never collide."""
        return self._empty


def search_exactly(items: Sequence[Item], runs: Runs, memory: int, nodes: int) -> tuple[Status, dict[int, int], int]:
    """The outcome, the addresses by index into `items`, and the nodes spent.

    REFUTED is a proof; PAUSED means that `nodes` were not enough. Empty items always get an address,
    the others when SOLVED.
    """
    search = ExactSearch(items, runs, memory)
    status, spent = search.run(min(nodes, BY_ADDRESS)), search.nodes
    if status is Status.PAUSED and nodes > spent:
        search = ExactSearch(items, runs, memory, small_first=True)
        status = search.run(nodes - spent)
        spent += search.nodes
    return status, search.addresses() if status is Status.SOLVED else search.empty_addresses(), spent


def _slots(lo: int, hi: int, step: int) -> int:
    return -(-hi // step) - -(-lo // step) if lo < hi else 0


def _empty_address(item: Item, runs: Runs, memory: int) -> int | None:
    """An empty extent: the first hole its ranges reach, else anywhere it may be."""
    for run_lo, run_hi in runs:
        for lo, hi in item.ranges:
            at = round_up(max(run_lo, lo), item.align)
            if at < min(run_hi, hi):
                return at
    return somewhere(item, memory)
