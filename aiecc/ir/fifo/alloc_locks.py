"""Which tile's locks guard a pool, and what they count at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp, ObjectFifoSegmentOp
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Place, Unplannable, User
from aiecc.ir.fifo.view import place_of, tile_text
from aiecc.ir.passes.report import OpNote


@dataclass(frozen=True, slots=True)
class LockUnit:
    """Locks that go to one tile together: a segment's pair, or a binary-lock pool's whole set.

    inits: what each counts at first. segment None: binary locks, one a buffer.
    """

    pool: ObjectFifoPoolOp
    segment: ObjectFifoSegmentOp | None
    index: int
    inits: tuple[int, ...]


def units_of(facts: Facts, pool: ObjectFifoPoolOp) -> list[LockUnit]:
    """The locks a pool is still to get."""
    if not facts.needs_locks(pool):
        return []
    kind = facts.kind(facts.place(pool))
    if kind is not None and kind.is_shim and pool.buffers_attr is None:
        # Nobody works on objects that the host holds and does not name.
        return []
    filled = 0 if pool.init_values is None else len(pool.init_values.data)
    if not facts.target.semaphore_locks:
        if pool.locks_attr is not None:
            return []
        return [LockUnit(pool, None, 0, tuple(int(i < filled) for i in range(pool.depth)))]
    times = pool.repeat_count or 1
    inits = ((pool.depth - filled) * times, filled * times)
    if pool.stream is not None:
        # The buffer's zeros are no objects: what arrives is counted.
        inits = pool.stream.objects, 0
    return [
        LockUnit(pool, segment, i, inits)
        for i, segment in enumerate(pool.segments)
        if segment.produce_lock is None or segment.consume_lock is None
    ]


class LockPlan:
    """A tile for each unit of locks. Raises Unplannable with every tile or endpoint that makes it impossible."""

    def __init__(
        self,
        facts: Facts,
        order: Sequence[ObjectFifoPoolOp],
        homes: dict[str, list[Place]],
        local: frozenset[str] = frozenset(),
    ) -> None:
        self._facts = facts
        self._homes = homes
        self._local = local
        self._free: dict[Place, int] = {}
        self._holders: dict[Place, list[tuple[ObjectFifoPoolOp, int]]] = {}
        self.units: dict[str, list[tuple[LockUnit, Place]]] = {}
        self._faults: list[Fault] = []
        self._full: set[Place] = set()
        self._high: set[ObjectFifoPoolOp] = set()
        for pool in order:
            self._check_kept(pool)
            for unit in units_of(facts, pool):
                self._place(unit)
        if self._faults:
            raise Unplannable(self._faults)

    def _users(self, unit: LockUnit) -> list[User]:
        users = self._facts.users(unit.pool)
        if unit.segment is None:
            return users
        name = unit.segment.symbol
        return [user for user in users if "segments" not in user.properties or name in user.segments]

    def _place(self, unit: LockUnit) -> None:
        self._check_range(unit)
        users = self._users(unit)
        need = len(unit.inits)
        home = self._facts.place(unit.pool)
        reachable = False
        for place in self._candidates(unit, users, home):
            if not all(self._facts.reaches(user, place) for user in users):
                continue
            reachable = True
            if self._room(place) >= need:
                self._free[place] -= need
                self._holders.setdefault(place, []).append((unit.pool, need))
                self.units.setdefault(unit.pool.symbol, []).append((unit, place))
                return
        if not reachable:
            far = next((user for user in users if not self._facts.reaches(user, home)), users[0])
            self._faults.append(self._unreachable(far, unit.pool))
        elif home not in self._full:
            self._full.add(home)
            self._faults.append(self._no_room(unit, home))

    def _candidates(self, unit: LockUnit, users: Sequence[User], home: Place) -> Iterator[Place]:
        yield home
        if unit.pool.symbol in self._local:
            return
        met = {home}
        near = [*self._homes.get(unit.pool.symbol, ()), *(self._facts.place(user) for user in users)]
        for place in (*near, *self._facts.tiles):
            if place not in met:
                met.add(place)
                yield place

    def _room(self, place: Place) -> int:
        if place not in self._free:
            kind = self._facts.kind(place)
            count = self._facts.target.lock_count(kind) if kind is not None else 0
            self._free[place] = count - self._facts.held_locks.get(place, 0)
        return self._free[place]

    def _check_kept(self, pool: ObjectFifoPoolOp) -> None:
        """Locks the author named have to be in reach of whoever uses them."""
        locks = self._facts.view.locks
        for user in self._facts.users(pool):
            chosen = set(user.segments) if "segments" in user.properties else None
            names = list(pool.locks)
            for segment in pool.segments:
                if (chosen is None or segment.symbol in chosen) and segment.produce_lock and segment.consume_lock:
                    names += [segment.produce_lock, segment.consume_lock]
            if any(name in locks and not self._facts.reaches(user, place_of(locks[name].tile)) for name in names):
                self._faults.append(self._unreachable(user, pool))

    # -- words -----------------------------------------------------------------------------------

    def _unreachable(self, user: User, pool: ObjectFifoPoolOp) -> Fault:
        where = tile_text(pool.tile_op)
        note = f"pool @{pool.symbol} is on {where}, out of reach of {tile_text(user.tile_op)}"
        return Fault(user, "cannot access pool locks", ((note, pool),))

    def _no_room(self, unit: LockUnit, home: Place) -> Fault:
        facts = self._facts
        kind = facts.kind(home)
        limit = facts.target.lock_count(kind) if kind is not None else 0
        tile = facts.tiles.get(home) or unit.pool
        need = len(unit.inits)
        notes: list[OpNote] = [
            (f"pool @{unit.pool.symbol} needs {need} more lock{'s' * (need != 1)}; the tile has {limit}", unit.pool)
        ]
        if (held := facts.held_locks.get(home, 0)) > 0:
            notes.append((f"{held} {'is' if held == 1 else 'are'} declared in the design", None))
        for pool, count in _summed(self._holders.get(home, [])):
            notes.append((f"pool @{pool.symbol} holds {count}", pool))
        return Fault(tile, "could not place locks within tile lock capacity", tuple(notes))

    def _check_range(self, unit: LockUnit) -> None:
        most = self._facts.target.lock_max_value
        if unit.segment is not None and sum(unit.inits) > most and unit.pool not in self._high:
            pool, total = unit.pool, sum(unit.inits)
            self._high.add(pool)
            times = f", each repeated {pool.repeat_count} times" if (pool.repeat_count or 1) > 1 else ""
            text = (
                f"needs locks that count to {total} ({pool.depth} objects{times}), but a lock counts to at most {most}"
            )
            self._faults.append(Fault(pool, text, todo="make the depth or the repeat count smaller"))


def _summed(holders: Sequence[tuple[ObjectFifoPoolOp, int]]) -> list[tuple[ObjectFifoPoolOp, int]]:
    sums: dict[str, tuple[ObjectFifoPoolOp, int]] = {}
    for pool, count in holders:
        before = sums.get(pool.symbol, (pool, 0))[1]
        sums[pool.symbol] = pool, before + count
    return list(sums.values())
