"""Channels of compute and memory tiles that take turns: which ends may share one, and in which order.

DMA endpoints whose objects one core needs in a fixed order (or gives back in one) can do with one channel that moves
their objects in that order. The core may be at either end of their routes. They may not where the channel and a core
could end up waiting for each other; that is decided exactly, by following both through the pools' depths. Whoever is
beyond the pools at the far ends counts as always ready, except for a core that works them: it is followed, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.memory import element_bits
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, Endpoint, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteOp
from aiecc.ir.fifo.alloc_programs import descriptors, turn_descriptors
from aiecc.ir.fifo.amounts import segment_amount
from aiecc.ir.fifo.periods import Core, Event, Order, ahead, settled, shortest
from aiecc.ir.fifo.standstill import Actor, Counter, Move, stands_still
from aiecc.ir.fifo.structure import structural_order
from aiecc.ir.fifo.view import FifoView, place_of


@dataclass(frozen=True)
class Turns:
    """Who moves the k-th object of one channel: here[k mod n] on the tile that ran out, there[k mod n] at the other.

    ahead: ends here whose objects have to come that many beyond those their core takes, or others' last never do.
    """

    here: tuple[str, ...]
    there: tuple[str, ...]
    ahead: tuple[tuple[str, int], ...] = field(default=(), compare=False)


MOST_GROUPS = 2000
"""So many sets of ends are looked at before a tile counts as one that cannot be helped."""


def turn_plans(view: FifoView, tile: Hashable, sends: bool, excess: int) -> list[Turns] | None:
    """The turns that save `excess` channels on a tile in one direction, with as few ends sharing as possible.

    tile: as `place_of` gives it. None when that many cannot be saved. Ends are tried in structural order, so what is
    chosen depends neither on names nor on the order of declaration.
    """
    if excess <= 0 or not view.target.semaphore_locks:
        return None if excess > 0 else []
    return _Planner(view, tile, sends).plan(excess)


@dataclass(frozen=True)
class _Pair:
    """One end on the tile that ran out, and the end that its route joins it to."""

    here: DmaEndpointOp
    there: DmaEndpointOp


@dataclass(frozen=True)
class _Worked:
    """One pair and the core endpoint that works the pool at one of its sides."""

    pair: _Pair
    core_end: CoreEndpointOp
    near: DmaEndpointOp


Group = tuple[_Worked, ...]
Chain = tuple[_Pair, ...]


class _Planner:
    def __init__(self, view: FifoView, tile: Hashable, sends: bool) -> None:
        self.view = view
        self.cores = {place_of(op.tile): op for op in view.device.block.ops if isinstance(op, CoreOp)}
        self._read: dict[Hashable, Core] = {}
        self._known: dict[frozenset[str], Chain | None] = {}
        self._asked = 0
        self._ahead: dict[Chain, tuple[tuple[str, int], ...]] = {}
        self.classes = self._classes(list(self._pairs(tile, sends)))

    def plan(self, excess: int) -> list[Turns] | None:
        """Rather ends of which none has to run ahead of its core."""
        found = self._save(excess, (), even=True) or self._save(excess, (), even=False)
        return None if found is None else [_turns(pairs, self._ahead.get(pairs, ())) for pairs in found]

    def _save(self, excess: int, taken: tuple[Chain, ...], *, even: bool) -> tuple[Chain, ...] | None:
        """Larger groups first: n ends on one channel save n - 1, so one group needs fewer ends than two."""
        if not excess:
            return taken
        used = {pair.here.symbol for pairs in taken for pair in pairs}
        for size in range(excess + 1, 1, -1):
            for members in self.classes:
                free = [member for member in members if member.pair.here.symbol not in used]
                for group in itertools.combinations(free, size):
                    chain = self._chain_of(group)
                    chains = (*taken, chain) if chain is not None else ()
                    if not chains or (taken and (not self._room(chains) or self._waits(chains))):
                        continue
                    if even and chains[-1] in self._ahead:
                        continue
                    found = self._save(excess - (size - 1), chains, even=even)
                    if found is not None:
                        return found
        return None

    # --- who may share ------------------------------------------------------------------------------------------------

    def _pairs(self, tile: Hashable, sends: bool) -> Iterator[_Pair]:
        """The ends of the tile whose only route is a circuit to or from one DMA endpoint, in structural order."""
        routes: dict[RouteOp, _Pair] = {}
        for end in self.view.dma_ends():
            if place_of(end.tile) != tile or self.view.sends(end) is not sends:
                continue
            found = self.view.routes_of(end.symbol)
            if len(found) != 1 or found[0].packet is not None:
                continue
            names = (*found[0].sources, *found[0].destinations)
            if len(names) != 2:
                continue
            other = self.view.stream_ends[next(name for name in names if name != end.symbol)]
            if isinstance(other, DmaEndpointOp) and self._alike(end, other):
                routes[found[0]] = _Pair(end, other)
        return (routes[route] for route in structural_order(self.view, routes))

    def _alike(self, end: DmaEndpointOp, other: DmaEndpointOp) -> bool:
        """Whether both ends may take turns, and move objects of one size, so that turns count the same objects."""
        return all(self._may(one) for one in (end, other)) and self._bits(end) == self._bits(other)

    def _may(self, end: DmaEndpointOp) -> bool:
        pool = self.view.pool_of(end)
        plain = not (end.turns or end.dispatch) and end.packet is None and end.iter_count is None
        repeats = end.role is Role.DRAINS and pool.repeat_count is not None
        counted = not pool.disable_synchronization and not pool.iterate_bds and pool.stream is None
        tile = end.tile_op
        inside = tile is not None and (tile.kind is None or not tile.kind.is_shim)
        return plain and inside and not repeats and counted and end.channel_index is None

    def _bits(self, end: DmaEndpointOp) -> int:
        return sum(size for _, size in _parts(self.view, end))

    def _classes(self, pairs: Sequence[_Pair]) -> list[list[_Worked]]:
        """The pairs by what ends of one channel have in common: the core, its side, and the tile at the other end."""
        found: dict[Hashable, list[_Worked]] = {}
        for pair in pairs:
            for side, near in enumerate((pair.here, pair.there)):
                core_end = self._core_end(near)
                if core_end is not None:
                    key = (side, place_of(core_end.tile), place_of(pair.there.tile))
                    found.setdefault(key, []).append(_Worked(pair, core_end, near))
        return [members for members in found.values() if len(members) > 1]

    def _core_end(self, end: DmaEndpointOp) -> CoreEndpointOp | None:
        """The core endpoint that takes what an end brings, or brings what it takes; None unless there is just one."""
        view, pool = self.view, self.view.pool_of(end)
        parts = {segment.symbol for segment in view.segments_of(end)}
        found = [
            other
            for other in view.ends_of(pool)
            if other.role is not end.role and parts & {segment.symbol for segment in view.segments_of(other)}
        ]
        one = found[0] if len(found) == 1 else None
        return one if isinstance(one, CoreEndpointOp) and place_of(one.tile) in self.cores else None

    # --- one group ----------------------------------------------------------------------------------------------------

    def _chain_of(self, group: Group) -> Chain | None:
        """Whose object the channel of a group moves next, and so on, round and round; None when they cannot share."""
        key = frozenset(end.symbol for member in group for end in (member.pair.here, member.near))
        if key not in self._known:
            if self._asked >= MOST_GROUPS:
                return None
            self._asked += 1
            self._known[key] = self._decide(group)
        return self._known[key]

    def _decide(self, group: Group) -> Chain | None:
        order = self._order([member.core_end for member in group])
        if order is None:
            return None
        drains = group[0].core_end.role is Role.DRAINS
        by_end = {member.core_end.symbol: member.pair for member in group}
        chain = tuple(by_end[name] for name in shortest(order.needs if drains else order.releases))
        fits = _pads_alike([end for pair in chain for end in (pair.here, pair.there)]) and self._room((chain,))
        if not fits or self._waits((chain,)):
            return None
        early = self._runs_ahead(chain)
        if early:
            self._ahead[chain] = early
        return chain

    def _runs_ahead(self, chain: Chain) -> tuple[tuple[str, int], ...]:
        """The ends here whose objects have to come before the core at the receiving side takes them, and how many."""
        by_core: dict[str, _Pair] = {}
        for pair in chain:
            core_end = self._core_end(pair.here if pair.here.role is Role.FILLS else pair.there)
            if core_end is None:
                return ()
            by_core[core_end.symbol] = pair
        ends = [self.view.core_ends[name] for name in by_core]
        order = self._order(ends) if len({place_of(end.tile) for end in ends}) == 1 else None
        if order is None:
            return ()
        names = {id(pair): name for name, pair in by_core.items()}
        early = ahead(order, [names[id(pair)] for pair in chain])
        return tuple((by_core[name].here.symbol, count) for name, count in early.items())

    def _order(self, ends: Sequence[CoreEndpointOp]) -> Order | None:
        """What the core of some endpoints does with their pools; None when that is not fixed, or there is no core."""
        place = place_of(ends[0].tile)
        if place not in self.cores:
            return None
        if place not in self._read:
            self._read[place] = Core(self.cores[place])
        steps = self._read[place].period([end.symbol for end in ends])
        depths = {end.symbol: self.view.pool_of(end).depth for end in ends}
        return None if steps is None else settled(steps, depths)

    def _room(self, chains: Sequence[Chain]) -> bool:
        """Whether the tiles at both ends have descriptors for the chains and for all that does not share.

        A chain goes on until every end is back at its first object.
        """
        here, there = [[p.here for p in chain] for chain in chains], [[p.there for p in chain] for chain in chains]
        for sharing in (here, there):
            names = {end.symbol for ends in sharing for end in ends}
            tile = sharing[0][0].tile_op
            dma = self.view.target.dma(tile.kind) if tile is not None and tile.kind is not None else None
            if dma is None:
                continue
            place = place_of(sharing[0][0].tile)
            needs = [turn_descriptors(self.view, [end.symbol for end in ends]) for ends in sharing]
            rest = [
                descriptors(self.view, end)
                for end in self.view.dma_ends()
                if end.symbol not in names and place_of(end.tile) == place
            ]
            if max(needs) > dma.bds_per_channel or sum(needs) + sum(rest) > dma.bds:
                return False
        return True

    # --- standing still -----------------------------------------------------------------------------------------------

    def _waits(self, chains: Sequence[Chain]) -> bool:
        """Whether a channel and a core could end up waiting for each other; also when that cannot be told."""
        view = self.view
        watched = [Actor([move for pair in chain for move in _move_object(view, pair)]) for chain in chains]
        moved = {end.symbol: end for chain in chains for pair in chain for end in (pair.here, pair.there)}
        pools = {end.pool: view.pool_of(end) for end in moved.values()}
        actors = list(watched)
        works: dict[Hashable, list[CoreEndpointOp]] = {}
        for pool in pools.values():
            for end in view.ends_of(pool):
                if isinstance(end, CoreEndpointOp):
                    works.setdefault(place_of(end.tile), []).append(end)
                elif end.symbol not in moved and (moves := _one_object(view, end)):
                    actors.append(Actor(moves))
        for ends in works.values():
            order = self._order(ends)
            if order is None:
                # Each chain by itself is known to be safe, and several that have but one core in common stay so: where
                # it waits for one of them, the others have no part in that.
                return len(chains) == 1 or len(works) > 1
            actors.append(_core_actor(view, {end.symbol: end for end in ends}, order))
        return stands_still(actors, _counters(pools.values()), watched)


def _pads_alike(ends: Sequence[DmaEndpointOp]) -> bool:
    """Whether a channel, which has one value to pad with, can do for all of them."""
    return len({end.pad_value for end in ends if end.role is Role.DRAINS and any(end.pad_dimensions or ())}) < 2


def _turns(chain: Chain, early: tuple[tuple[str, int], ...]) -> Turns:
    return Turns(tuple(pair.here.symbol for pair in chain), tuple(pair.there.symbol for pair in chain), early)


# --- moves ------------------------------------------------------------------------------------------------------------


def _counters(pools: Iterable[ObjectFifoPoolOp]) -> dict[Counter, int]:
    """For each segment of each pool, the room it has and what it holds, in units of its locks."""
    found: dict[Counter, int] = {}
    for pool in pools:
        full = len(pool.init_values.data) if pool.init_values is not None else 0
        units = pool.repeat_count or 1
        for segment in pool.segments:
            found[(pool.symbol, segment.symbol, False)] = (pool.depth - full) * units
            found[(pool.symbol, segment.symbol, True)] = full * units
    return found


def _locks(view: FifoView, end: Endpoint, segment: str) -> tuple[Counter, Counter, int]:
    """What an end takes from and gives to for one segment, and how many units an object counts."""
    pool = view.pool_of(end)
    fills = end.role is Role.FILLS
    # The end that repeats objects takes them one by one; the other fills a whole batch.
    units = (pool.repeat_count or 1) if fills or isinstance(end, CoreEndpointOp) else 1
    return (pool.symbol, segment, not fills), (pool.symbol, segment, fills), units


def _is_constant(view: FifoView, pool: ObjectFifoPoolOp) -> bool:
    """Whether a pool starts full and nobody refills it: its objects are read again and again, without locks."""
    full = pool.init_values is not None and len(pool.init_values.data) == pool.depth > 0
    return full and all(end.role is not Role.FILLS for end in view.ends_of(pool))


def _one_object(view: FifoView, end: Endpoint) -> list[Move]:
    """An end with someone always ready at its other side moves one object."""
    moves: list[Move] = []
    if _is_constant(view, view.pool_of(end)):
        return moves
    for segment in view.segments_of(end):
        take, give, units = _locks(view, end, segment.symbol)
        moves += [Move(take, -units), Move(give, units)]
    return moves


def _parts(view: FifoView, end: DmaEndpointOp) -> list[tuple[str, int]]:
    """The segments of one of an end's objects and how many bits each puts on the stream."""
    dims, pads = end.dimensions or (), end.pad_dimensions or ()
    bits = element_bits(view.pool_of(end).elem_type.element_type)
    return [
        (
            segment.symbol,
            bits * segment_amount(segment.size, dims[i] if i < len(dims) else (), pads[i] if i < len(pads) else ()),
        )
        for i, segment in enumerate(view.segments_of(end))
    ]


def _move_object(view: FifoView, pair: _Pair) -> list[Move]:
    """The channel moves one object: each end takes a segment's lock before its first bit and gives it after its last.

    The stream between the ends is taken to hold nothing. What it does hold lets the sender run ahead a little, which
    never makes anyone wait who would not have waited otherwise.
    """
    at: list[tuple[int, int, Move]] = []
    for end in (pair.here, pair.there):
        position = 0
        if _is_constant(view, view.pool_of(end)):
            continue
        for symbol, size in _parts(view, end):
            take, give, units = _locks(view, end, symbol)
            at += [(position, 1, Move(take, -units)), (position + size, 0, Move(give, units))]
            position += size
    return [move for _, _, move in sorted(at, key=lambda entry: entry[:2])]


def _core_actor(view: FifoView, ends: dict[str, CoreEndpointOp], order: Order) -> Actor:
    def moves(events: Sequence[Event]) -> list[Move]:
        found: list[Move] = []
        for name, change in events:
            for segment in view.segments_of(ends[name]):
                take, give, units = _locks(view, ends[name], segment.symbol)
                found.append(Move(take if change > 0 else give, -change * units))
        return found

    start = moves(order.start)
    return Actor([*start, *moves(order.round)], back=len(start))
