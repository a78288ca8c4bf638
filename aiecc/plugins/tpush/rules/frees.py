"""Frees: as many as pops on every path, in pop order, each after the last use of what it releases.

A free says no slot: it releases the oldest tile that is held. On A5 the check follows a queue of held tiles through the
program, and loops until nothing new can happen. On A2A3 the pop has freed the slot, so only counts matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from aiecc.api import Sink
from aiecc.plugins.tpush.frees import freed
from aiecc.plugins.tpush.model import (
    Branch,
    Cluster,
    Direction,
    Free,
    Loop,
    Op,
    Pipe,
    Platform,
    Pop,
    Program,
    Push,
    Site,
    Use,
    Value,
)
from aiecc.plugins.tpush.rules.common import counted, tell, way
from aiecc.plugins.tpush.rules.counts import count, number, said
from aiecc.plugins.tpush.rules.order import consumers

Ring = tuple[int, Direction]


@dataclass(frozen=True, slots=True)
class Tile:
    """A popped tile that is held. `number` tells pops of one op apart."""

    pop: Pop
    number: int


@dataclass(slots=True)
class State:
    """`held`: per ring, oldest first. `gone`: tiles released, with the free. `names`: which tile a value is now."""

    held: dict[Ring, tuple[Tile, ...]] = field(default_factory=dict[Ring, tuple[Tile, ...]])
    gone: dict[Tile, Site] = field(default_factory=dict[Tile, Site])
    names: dict[Value, Tile] = field(default_factory=dict[Value, Tile])

    def copy(self) -> State:
        return State(dict(self.held), dict(self.gone), dict(self.names))

    def lengths(self) -> dict[Ring, int]:
        return {ring: len(tiles) for ring, tiles in self.held.items() if tiles}


class _Stop(Exception):
    """Something was reported; what follows from it is not."""


def check_frees(cluster: Cluster, diag: Sink) -> None:
    """All popped tiles of a cluster."""
    done: list[Program] = []
    for program, direction in consumers(cluster):
        if program in done:
            continue
        done.append(program)
        rings = {(pipe.id, direction): pipe for pipe in cluster.pipes if pipe.dir_mask & direction}
        _Checker(freed(program), rings, cluster.platform, _written(program), diag).run()


def _written(program: Program) -> set[Ring]:
    return {(op.pipe, op.direction) for op in program.walk() if isinstance(op, Free)}


class _Checker:
    def __init__(
        self, program: Program, rings: dict[Ring, Pipe], platform: Platform, written: set[Ring], diag: Sink
    ) -> None:
        self.program = program
        self.rings = rings
        self.in_place = platform is Platform.A5
        self.written = written
        self.diag = diag
        self.number = 0

    def run(self) -> None:
        state = State()
        try:
            if not self.in_place:
                self.counts()
                return
            self.block(self.program.ops, state)
            for ring, tiles in state.held.items():
                for tile in tiles[:1] if ring in self.written else ():
                    pops, frees = self._totals(ring)
                    text = f"this tile is never freed: '{self.program.name}' pops {pops} and frees {frees}"
                    self.stop(tile.pop.site, text, todo=f"write {self._free_text(tile.pop)} behind its last use")
        except _Stop:
            pass

    def counts(self) -> None:
        """A2A3: the pop has freed the slot, so a free only has to have its pop, and be of its split."""
        for ring in self.rings:
            if ring not in self.written:
                continue
            ops = [op for op in self.program.walk() if isinstance(op, Pop | Free) and (op.pipe, op.direction) == ring]
            pops, frees = self._totals(ring)
            if pops != frees:
                text = f"'{self.program.name}' pops {pops} tiles of pipe {ring[0]} {way(ring[1])}, and frees {frees}"
                self.stop(ops[-1].site, text, todo="free every tile once, or write no free at all")
            popped = [op.split for op in ops if isinstance(op, Pop)]
            for op in ops:
                if op.split not in popped:
                    text = f"split = {int(op.split)} here, but no tile is popped with it"
                    self.stop(op.site, text, todo=f"set split = {int(popped[0])}")

    def stop(self, at: Site, text: str, notes: Iterable[tuple[str, Site]] = (), todo: str = "") -> None:
        tell(self.diag, at, text, notes, todo)
        raise _Stop

    def _totals(self, ring: Ring) -> tuple[str, str]:
        found: list[str] = []
        for kind in (Pop, Free):
            total = count(
                self.program.ops, lambda op, kind=kind: isinstance(op, kind) and (op.pipe, op.direction) == ring
            )
            plain = number(total)
            found.append(said(total) if plain is None else str(plain))
        return found[0], found[1]

    def _free_text(self, pop: Pop) -> str:
        word = "aic" if pop.direction is Direction.C2V else "aiv"
        id = f"id = {pop.pipe}, " if pop.pipe else ""
        return f"pto.tfree_from_{word} {{{id}split = {int(pop.split)}}}"

    # --- ops ----------------------------------------------------------------------------------------------------------

    def block(self, ops: tuple[Op, ...], state: State) -> None:
        for op in ops:
            if isinstance(op, Pop):
                self.pop(op, state)
            elif isinstance(op, Free):
                self.free(op, state)
            elif isinstance(op, Use):
                self.use(op.values, op.site, state)
            elif isinstance(op, Push):
                self.use(op.uses, op.site, state)
            elif isinstance(op, Loop):
                self.loop(op, state)
            elif isinstance(op, Branch):
                self.branch(op, state)

    def pop(self, op: Pop, state: State) -> None:
        ring = (op.pipe, op.direction)
        if ring not in self.rings:
            return
        held = state.held.get(ring, ())
        slots = self.rings[ring].slot_num
        if len(held) >= slots:
            text = f"all {counted(slots, 'slot')} of pipe {op.pipe} {way(op.direction)} are held: this pop never ends"
            notes = [("the oldest tile held was popped here", held[0].pop.site)]
            self.stop(op.site, text, notes, f"free a tile before: {self._free_text(op)}")
        self.number += 1
        tile = Tile(op, self.number)
        state.held[ring] = (*held, tile)
        state.names[op.value] = tile

    def free(self, op: Free, state: State) -> None:
        ring = (op.pipe, op.direction)
        if ring not in self.rings:
            return
        held = state.held.get(ring, ())
        if not held:
            text = f"there is nothing to free: no tile of pipe {op.pipe} {way(op.direction)} is held here"
            self.stop(op.site, text, todo="leave it out")
        oldest = held[0]
        meant = None if op.value is None or ring not in self.written else state.names.get(op.value)
        if meant is not None and meant != oldest:
            text = "a free releases the oldest tile that is held, which is not the one it names"
            notes = [("the oldest one was popped here", oldest.pop.site), ("this one is named", meant.pop.site)]
            self.stop(op.site, text, notes, "free tiles in the order they were popped in")
        if op.split is not oldest.pop.split:
            text = f"split = {int(op.split)} here, but the tile was popped with split = {int(oldest.pop.split)}"
            todo = f"set split = {int(oldest.pop.split)}"
            self.stop(op.site, text, [("it was popped here", oldest.pop.site)], todo)
        state.held[ring] = held[1:]
        state.gone[oldest] = op.site

    def use(self, values: tuple[Value, ...], at: Site, state: State) -> None:
        for value in values:
            tile = state.names.get(value)
            if tile is not None and tile in state.gone:
                text = "this reads a tile whose slot was freed before: it may hold the next tile by now"
                notes = [("it was popped here", tile.pop.site), ("and freed here", state.gone[tile])]
                self.stop(at, text, notes, "free it behind this op")

    # --- loops and branches -------------------------------------------------------------------------------------------

    def loop(self, op: Loop, state: State) -> None:
        if op.trips == 0:
            return
        times = op.trips if isinstance(op.trips, int) else 2
        handed = [None if c.first is None else state.names.get(c.first) for c in op.carried]
        still = 0
        for index in range(times):
            before = state.lengths()
            self._bind([c.inner for c in op.carried], handed, state)
            self.block(op.body, state)
            handed = [None if c.again is None else state.names.get(c.again) for c in op.carried]
            still = still + 1 if state.lengths() == before else 0
            if not still and not isinstance(op.trips, int) and index:
                self._uneven(op, before, state)
            if still > 1:
                break
        self._bind([c.result for c in op.carried], handed, state)

    def _uneven(self, op: Loop, before: dict[Ring, int], state: State) -> None:
        after = state.lengths()
        ring = next(r for r in {**before, **after} if before.get(r, 0) != after.get(r, 0))
        difference = after.get(ring, 0) - before.get(ring, 0)
        verbs = ("pops", "frees") if difference > 0 else ("frees", "pops")
        text = f"every iteration {verbs[0]} {counted(abs(difference), 'tile')} more than it {verbs[1]}"
        text += f", and how many there are ({op.trips}) only the run knows"
        self.stop(op.site, text, todo="free as many tiles in the loop as are popped in it")

    def _bind(self, names: list[Value], tiles: list[Tile | None], state: State) -> None:
        for name, tile in zip(names, tiles, strict=True):
            if tile is None:
                state.names.pop(name, None)
            else:
                state.names[name] = tile

    def branch(self, op: Branch, state: State) -> None:
        other = state.copy()
        self.block(op.then, state)
        self.block(op.orelse, other)
        one, two = state.lengths(), other.lengths()
        if one != two:
            ring = next(r for r in {**one, **two} if one.get(r, 0) != two.get(r, 0))
            text = (
                f"{counted(one.get(ring, 0), 'tile')} of pipe {ring[0]} held if {op.condition}, else {two.get(ring, 0)}"
            )
            self.stop(op.site, text, todo="pop and free as many tiles on both ways")
        # Where the ways hold different tiles, nothing is known of either.
        for ring, tiles in state.held.items():
            theirs = other.held.get(ring, ())
            state.held[ring] = tuple(
                a if a == b else Tile(replace(a.pop, value=-1), -a.number) for a, b in zip(tiles, theirs, strict=True)
            )
        state.gone |= other.gone
        state.names |= {value: tile for value, tile in other.names.items() if value not in state.names}
