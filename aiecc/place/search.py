"""The ranked search: depth first in rank order, with a budget counted in placements.

Its first descent is what a one-pass greedy would do; most tiles need nothing else. One unit of the
budget is spent per candidate placed, so the answer does not depend on the machine. The search can be
paused and resumed, which lets a feasibility oracle run in between without changing what it finds.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from aiecc.place.problem import Item, Runs, somewhere, take
from aiecc.place.rank import Geometry, fallbacks, free_candidates, required_candidates


class Status(enum.Enum):
    """SOLVED and REFUTED are final; PAUSED means the count ran out with arrangements untried."""

    SOLVED = "solved"
    REFUTED = "refuted"
    PAUSED = "paused"


class _Frame:
    """One extent being placed: the free runs before it and the addresses it may still try."""

    __slots__ = ("at", "cursor", "fallback", "next", "runs", "tries")

    def __init__(self, runs: Runs, cursor: int, tries: list[int], fallback: bool) -> None:
        self.runs = runs
        self.cursor = cursor
        self.tries = tries
        self.fallback = fallback
        """The unscored addresses have not been asked for yet."""
        self.next = 0
        self.at = 0


class RankedSearch:
    """Places `items` in order into `runs`. REFUTED here means: none of the ranked candidates works out.

    `tries`: placements so far. `undone`: choices taken back. `deepest`: position of the deepest extent
    that had no candidate (or where the budget ended), with the addresses placed before it.
    """

    def __init__(
        self, items: Sequence[Item], runs: Runs, geometry: Geometry, counts: Sequence[int] | None = None
    ) -> None:
        self.items = items
        self.geometry = geometry
        self.tries = 0
        self.undone = 0
        self.deepest: int | None = None
        self.deepest_addresses: tuple[int, ...] = ()
        self._counts = list(counts) if counts is not None else None
        # A failed (position, free runs) fails again whatever the cursor: it only orders the candidates.
        self._failed: set[tuple[int, Runs]] = set()
        self._left = [0] * (len(items) + 1)
        for index in range(len(items) - 1, -1, -1):
            self._left[index] = self._left[index + 1] + items[index].size
        self._frames: list[_Frame] = []
        if items:
            self._enter(runs, 0)

    def addresses(self) -> tuple[int, ...]:
        """What is placed now, in order."""
        return tuple(frame.at for frame in self._frames)

    def give_up(self) -> None:
        """Record the extent the budget ended at, so that there is something to name."""
        if self._frames:
            self._record(len(self._frames) - 1)

    def run(self, limit: int) -> Status:
        """Go on until solved, refuted, or `limit` placements were made in all."""
        if not self.items:
            return Status.SOLVED
        frames, last = self._frames, len(self.items) - 1
        while frames:
            frame = frames[-1]
            position = len(frames) - 1
            if frame.next >= len(frame.tries) and not self._extend(frame, position):
                if not frame.tries:
                    self._record(position)
                self._failed.add((position, frame.runs))
                frames.pop()
                if frames:
                    self._undo()
                continue
            if self.tries >= limit:
                return Status.PAUSED
            self.tries += 1
            frame.at = frame.tries[frame.next]
            frame.next += 1
            runs, cursor = self._place(frame, position)
            if position == last:
                return Status.SOLVED
            if self._failed and (position + 1, runs) in self._failed:
                self._undo()
                continue
            self._enter(runs, cursor)
        return Status.REFUTED

    def _enter(self, runs: Runs, cursor: int) -> None:
        position = len(self._frames)
        item = self.items[position]
        if item.banks is not None:
            tries = required_candidates(runs, item, self.geometry)
        else:
            left = self._left[position + 1]
            tries = free_candidates(runs, item, self.geometry, left, cursor, self._counts)
        if not tries and not item.size:
            anywhere = somewhere(item, self.geometry.memory)
            tries = [] if anywhere is None else [anywhere]
        self._frames.append(_Frame(runs, cursor, tries, item.banks is None))

    def _extend(self, frame: _Frame, position: int) -> bool:
        """Offer the unscored addresses once the scored ones are used up."""
        if not frame.fallback:
            return False
        frame.fallback = False
        known = set(frame.tries)
        frame.tries += [at for at in fallbacks(frame.runs, self.items[position]) if at not in known]
        return frame.next < len(frame.tries)

    def _place(self, frame: _Frame, position: int) -> tuple[Runs, int]:
        item, geometry = self.items[position], self.geometry
        cursor = frame.cursor
        bank = min(frame.at // geometry.bank_size, geometry.banks - 1)
        if item.banks is None:
            cursor = (bank + 1) % geometry.banks
        if self._counts is not None and item.counts:
            self._counts[bank] += 1
        return take(frame.runs, frame.at, item.size), cursor

    def _undo(self) -> None:
        """Take back the choice of the frame now on top."""
        self.undone += 1
        if self._counts is not None and self.items[len(self._frames) - 1].counts:
            self._counts[min(self._frames[-1].at // self.geometry.bank_size, self.geometry.banks - 1)] -= 1

    def _record(self, position: int) -> None:
        if self.deepest is None or position > self.deepest:
            self.deepest = position
            self.deepest_addresses = tuple(frame.at for frame in self._frames[:position])
