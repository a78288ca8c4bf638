"""Where a pool's objects lie: at home, or in a neighbouring memory tile when home is full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aiecc.ir.dialects.aie.memory import BufferOp, element_bits, size_in_bytes
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp
from aiecc.ir.dialects.base import show
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Place, Unplannable, coordinates
from aiecc.ir.fifo.view import tile_text
from aiecc.ir.passes.report import OpNote
from aiecc.model.targets import TileKind

RETRIES = 256
"""How often an earlier buffer's place is thought over before the search ends."""


@dataclass(slots=True)
class _Fill:
    """A memory tile's use, in bytes: what this pass puts there comes first, what was there before after it."""

    size: int
    bus: int
    before: int
    planned: list[int] = field(default_factory=lambda: [0])

    def with_more(self, more: int = 0) -> int:
        """Bytes used with another buffer of `more` bytes."""
        end = self.planned[-1]
        if more:
            end = _up(end, self.bus) + more
        return _up(end, self.bus) + self.before if self.before else end

    def fits(self, more: int) -> bool:
        return self.with_more(more) <= self.size

    def push(self, more: int) -> None:
        self.planned.append(_up(self.planned[-1], self.bus) + more)

    def pop(self) -> None:
        self.planned.pop()


def _up(n: int, to: int) -> int:
    return -(-n // to) * to


def held_bytes(facts: Facts, place: Place, bus: int) -> int:
    """Bytes of the buffers a tile holds already, laid out one after another."""
    end = 0
    for buffer in facts.held_buffers.get(place, ()):
        end = _up(end, bus) + buffer.size_bytes
    return end


def check_held(facts: Facts) -> None:
    """What stands on a memory tile already has to fit. Raises Unplannable."""
    faults: list[Fault] = []
    for place in facts.held_buffers:
        if facts.kind(place) is not TileKind.MEM or place not in facts.tiles:
            continue
        memory = facts.target.memory(TileKind.MEM)
        used = held_bytes(facts, place, memory.bus)
        if used > memory.size:
            text = f"existing buffers require {used} bytes, exceeding MemTile capacity of {memory.size} bytes"
            held = facts.held_buffers[place]
            faults.append(Fault(facts.tiles[place], text, tuple(_buffer_note(b) for b in held)))
    if faults:
        raise Unplannable(faults)


def _buffer_note(buffer: BufferOp) -> OpNote:
    return f"buffer @{buffer.symbol or '?'} takes {buffer.size_bytes} bytes", buffer


def needs_buffers(facts: Facts, pool: ObjectFifoPoolOp) -> bool:
    """Whether a pool is to get buffers: those on a shim hold their objects outside the array."""
    kind = facts.kind(facts.place(pool))
    return pool.buffers_attr is None and (kind is None or not kind.is_shim)


def check_objects(facts: Facts) -> None:
    """A pool has objects, their size is known, and there are not absurdly many. Raises Unplannable."""
    faults: list[Fault] = []
    room = array_bytes(facts)
    for pool in facts.view.pools.values():
        if pool.depth < 1:
            faults.append(Fault(pool, f"has a depth of {pool.depth}, but needs at least one object"))
        elif needs_buffers(facts, pool) and not element_bits(pool.elem_type):
            type = show(pool.elem_type.element_type)
            faults.append(Fault(pool, f"has objects of unknown size: its element type {type} has no width"))
        elif needs_buffers(facts, pool) and (wanted := pool.depth * size_in_bytes(pool.elem_type)) > room:
            # Told before each of them is given a place, which takes time and room.
            text = f"needs {wanted} bytes for its {pool.depth} objects, more than all tiles together have"
            faults.append(Fault(pool, text))
    if faults:
        raise Unplannable(faults)


def array_bytes(facts: Facts) -> int:
    """Data memory of the whole device."""
    kinds = (facts.target.tile_kind(*tile) for tile in facts.target.tiles())
    return sum(facts.target.memory_size(kind) for kind in kinds if kind is not None)


@dataclass(frozen=True, slots=True)
class _Item:
    pool: ObjectFifoPoolOp
    size: int
    home: Place


class BufferPlan:
    """A place for each buffer of each pool that gets some, found by depth-first search over the memory tiles.

    order: the pools, first come first served. local: the pools (by name) that must stay at home.
    """

    def __init__(self, facts: Facts, order: Sequence[ObjectFifoPoolOp], local: frozenset[str] = frozenset()) -> None:
        self._facts = facts
        self._local = local
        self._fills: dict[Place, _Fill] = {}
        self._sides: dict[str, list[Place]] = {}
        self._items: list[_Item] = []
        self.homes: dict[str, list[Place]] = {}
        for pool in order:
            if not needs_buffers(facts, pool):
                continue
            home = facts.place(pool)
            if facts.kind(home) is TileKind.MEM:
                self._items += [_Item(pool, size_in_bytes(pool.elem_type), home)] * pool.depth
                self.homes[pool.symbol] = []
            else:
                self.homes[pool.symbol] = [home] * pool.depth
        self._search()

    def _search(self) -> None:
        """Place the buffers one after another; where one has no place, change the latest choice that has a part in it.

        blamed: for each buffer, the earlier choices because of which some place was none for it.
        """
        items = self._items
        tried: list[list[Place]] = [[] for _ in items]
        blamed: list[set[int]] = [set() for _ in items]
        n = furthest = retries = 0
        while n < len(items):
            choice = next((p for p in self._options(items[n]) if p not in tried[n]), None)
            if choice is not None:
                tried[n].append(choice)
                self._take(items[n], choice)
                n += 1
                continue
            furthest = max(furthest, n)
            retries += not tried[n]
            places = {items[n].home, *self._around(items[n])}
            blamed[n].update(j for j in range(n) if tried[j][-1] in places)
            if retries > RETRIES or not blamed[n]:
                raise Unplannable([self._no_room(items[furthest])])
            back = max(blamed[n])
            blamed[back] |= blamed[n] - {back}
            for j in range(n - 1, back - 1, -1):
                self._undo(items[j], tried[j][-1])
            for j in range(back + 1, n + 1):
                tried[j].clear()
                blamed[j].clear()
            n = back

    def _undo(self, item: _Item, place: Place) -> None:
        self._fill(place).pop()
        self.homes[item.pool.symbol].pop()

    def _take(self, item: _Item, place: Place) -> None:
        self._fill(place).push(item.size)
        self.homes[item.pool.symbol].append(place)

    def _options(self, item: _Item) -> Iterator[Place]:
        """Where a buffer fits now, best first."""
        if self._fill(item.home).fits(item.size):
            yield item.home
        around = self._around(item)
        for place in sorted(around, key=lambda p: self._fill(p).with_more()):
            if self._fill(place).fits(item.size):
                yield place

    def _around(self, item: _Item) -> list[Place]:
        """The neighbours that every user of the pool reaches, west first."""
        name = item.pool.symbol
        if name in self._local or not isinstance(item.home, tuple):
            return []
        if name not in self._sides:
            col, row = coordinates(item.home)
            facts = self._facts
            self._sides[name] = [
                side
                for side in ((col - 1, row), (col + 1, row))
                if facts.target.tile_kind(*side) is TileKind.MEM
                and facts.dma_reaches(item.home, side)
                and all(facts.reaches(user, side) for user in facts.users(item.pool))
            ]
        return self._sides[name]

    def _fill(self, place: Place) -> _Fill:
        found = self._fills.get(place)
        if found is None:
            memory = self._facts.target.memory(TileKind.MEM)
            found = _Fill(memory.size, memory.bus, held_bytes(self._facts, place, memory.bus))
            self._fills[place] = found
        return found

    # -- words -----------------------------------------------------------------------------------

    def _no_room(self, item: _Item) -> Fault:
        pool, facts = item.pool, self._facts
        size = facts.target.memory_size(TileKind.MEM)
        need = item.size * pool.depth
        notes: list[OpNote] = [
            (f"needs {pool.depth} buffers of {item.size} bytes, {need} bytes; a MemTile holds {size} bytes", None)
        ]
        for place in (item.home, *self._around(item)):
            held = facts.held_buffers.get(place, [])
            here = [p for p in facts.view.pools.values() if p.symbol in self.homes and facts.place(p) == place]
            where = tile_text(facts.tiles.get(place)) if place in facts.tiles else f"tile{place}"
            told = [f"@{b.symbol or '?'} ({b.size_bytes} bytes)" for b in held]
            told += [f"pool @{p.symbol} ({p.depth} x {size_in_bytes(p.elem_type)} bytes)" for p in here]
            notes.append(
                (f"{where} is wanted by {', '.join(told) if told else 'nothing else'}", facts.tiles.get(place))
            )
        text = "could not place buffers in accessible memory with available capacity"
        return Fault(pool, text, tuple(notes))


def pool_order(facts: Facts, demand_first: bool = False) -> list[ObjectFifoPoolOp]:
    """Device order, in which the memory-tile pools trade places among themselves: large objects first.

    demand_first: those that more channels work on first, so that fewer channels have to reach a neighbour.
    """

    def rank(pool: ObjectFifoPoolOp) -> tuple[int, int]:
        ends = len(facts.users(pool)) if demand_first else 0
        return -ends, -size_in_bytes(pool.elem_type)

    pools = list(facts.view.pools.values())
    slots = [i for i, pool in enumerate(pools) if facts.kind(facts.place(pool)) is TileKind.MEM]
    for i, pool in zip(slots, sorted((pools[i] for i in slots), key=rank), strict=True):
        pools[i] = pool
    return pools
