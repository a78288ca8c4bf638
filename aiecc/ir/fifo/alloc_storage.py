"""Buffers and locks planned together: one try at where everything of a pool lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.fifo.alloc_buffers import BufferPlan, pool_order
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Place, Unplannable
from aiecc.ir.fifo.alloc_locks import LockPlan, LockUnit
from aiecc.ir.fifo.view import place_of, tile_text


@dataclass(frozen=True)
class Storage:
    """A place for each buffer and each unit of locks.

    order: the pools in the order in which their buffers and locks are to be made.
    homes, units: by pool, only what is to be made.
    """

    facts: Facts
    order: list[ObjectFifoPoolOp]
    homes: dict[str, list[Place]]
    units: dict[str, list[tuple[LockUnit, Place]]]

    def buffer_places(self, pool: ObjectFifoPoolOp) -> Iterator[Place]:
        """The tiles of a pool's buffers, planned or there already; what is outside the array has none."""
        yield from self.homes.get(pool.symbol, ())
        for name in pool.buffers:
            buffer = self.facts.view.buffers.get(name)
            if isinstance(buffer, BufferOp):
                yield place_of(buffer.tile)

    def places_of(self, end: DmaEndpointOp) -> Iterator[Place]:
        """Every tile whose memory or locks an endpoint's descriptors use."""
        view = self.facts.view
        pool = view.pool_of(end)
        yield from self.buffer_places(pool)
        planned = {unit.segment: place for unit, place in self.units.get(pool.symbol, ())}
        names = list(pool.locks)
        if None in planned:
            yield planned[None]
        for segment in view.segments_of(end):
            if segment in planned:
                yield planned[segment]
            else:
                names += [name for name in (segment.produce_lock, segment.consume_lock) if name]
        for name in names:
            if name in view.locks:
                yield place_of(view.locks[name].tile)

    def strays(self, pool: ObjectFifoPoolOp) -> bool:
        """Whether something planned for a pool lies away from home."""
        home = self.facts.place(pool)
        planned = [*self.homes.get(pool.symbol, ()), *(place for _, place in self.units.get(pool.symbol, ()))]
        return any(place != home for place in planned)


def plan_storage(facts: Facts, demand_first: bool = False, local: frozenset[str] = frozenset()) -> Storage:
    """Give every buffer and lock a tile; raises Unplannable.

    local: pools (by name) all of whose buffers and locks must be on their own tile.
    """
    order = pool_order(facts, demand_first)
    homes = BufferPlan(facts, order, local).homes
    storage = Storage(facts, order, homes, LockPlan(facts, order, homes, local).units)
    check_reach(storage)
    return storage


def check_reach(storage: Storage) -> None:
    """Whoever uses a pool reaches its buffers. Raises Unplannable."""
    facts, faults = storage.facts, list[Fault]()
    for pool in storage.order:
        places = dict.fromkeys(storage.buffer_places(pool))
        for user in facts.users(pool) if places else ():
            far = next((place for place in places if not facts.reaches(user, place)), None)
            if far is not None:
                where = tile_text(facts.tiles.get(far))
                note = f"pool @{pool.symbol} has a buffer on {where}, out of reach of {tile_text(user.tile_op)}"
                faults.append(Fault(user, "cannot access pool buffers", ((note, pool),)))
    if faults:
        raise Unplannable(faults)
