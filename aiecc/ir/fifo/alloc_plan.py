"""The whole plan of an allocation, as values: nothing in the IR changes before it stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.memory import size_in_bytes
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.fifo.alloc_buffers import check_held, check_sizes
from aiecc.ir.fifo.alloc_channels import ChannelPlanner, Channels, Shortage
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Key, Place, Unplannable, is_port
from aiecc.ir.fifo.alloc_programs import Programs
from aiecc.ir.fifo.alloc_storage import Storage, plan_storage
from aiecc.model.targets import TileKind

if TYPE_CHECKING:
    from aiecc.ir.fifo.shim_sharing import Share
    from aiecc.ir.fifo.turns import Turns

LOCAL_TRIES = 64
"""How many sets of pools are kept at home, one after another, to need fewer of the channels that reach neighbours."""

TurnMap = dict[str, tuple[str, ...]]


@dataclass
class Plan:
    """Where everything goes. turns: by endpoint, what this pass writes. shared: whether shim ends share channels."""

    storage: Storage
    channels: Channels
    programs: Programs
    turns: TurnMap = field(default_factory=dict[str, tuple[str, ...]])
    shared: bool = False


def make_plan(facts: Facts) -> Plan:
    """Plan everything; raises Unplannable with what stands in the way."""
    check_held(facts)
    check_sizes(facts)
    check_ports(facts)
    check_headers(facts)
    programs = Programs(facts)
    programs.check()
    storage, channels = _with_room(facts, programs)
    if channels.faults:
        raise Unplannable(channels.faults)
    if not channels.shortages:
        return Plan(storage, channels, programs)
    return _Sharing(facts, programs, storage, channels).plan()


# --- what is wrong whatever the plan ----------------------------------------------------------------------------------


def check_ports(facts: Facts) -> None:
    """A core's stream port carries one circuit, or packets. Raises Unplannable."""
    used: dict[tuple[Place, bool, int], tuple[Operation, bool]] = {}
    faults: list[Fault] = []
    for end in facts.view.stream_ends.values():
        if not is_port(end):
            continue
        port = end.channel_index
        routes = facts.view.routes_of(end.symbol)
        if port is None:
            faults.append(Fault(end, "a stream port names its own channel"))
            continue
        if not routes:
            continue
        packets = all(route.packet_attr is not None for route in routes)
        sends = facts.sends(end)
        other, shareable = used.setdefault((facts.place(end), sends, port), (end, packets))
        if other is not end and not (packets and shareable):
            text = f"Core {'output' if sends else 'input'} {port} is already in use on this tile"
            faults.append(Fault(end, text, (("the other stream is here", other),)))
    if faults:
        raise Unplannable(faults)


def check_headers(facts: Facts) -> None:
    """Every packet route knows its id by now. Raises Unplannable."""
    faults = [
        Fault(route, "has a packet header with no pkt_id; run --aie-assign-packet-ids before this pass")
        for route in facts.view.routes
        if route.packet is not None and route.packet.pkt_id is None
    ]
    if faults:
        raise Unplannable(faults)


# --- storage that leaves enough channels ------------------------------------------------------------------------------


def _with_room(facts: Facts, programs: Programs) -> tuple[Storage, Channels]:
    """The first storage plan whose channels suffice; the plain one, with what it lacks, where none does."""
    tried: list[tuple[Storage, Channels]] = []
    refusals: list[Unplannable] = []
    for demand_first in (False, True):
        try:
            storage = plan_storage(facts, demand_first)
        except Unplannable as wrong:
            refusals.append(wrong)
            continue
        channels = _channels(facts, programs, storage)
        if not channels.crossing:
            return storage, channels
        tried.append((storage, channels))
        for local in _local_sets(facts, storage, channels):
            try:
                closer = plan_storage(facts, demand_first, local)
            except Unplannable:
                continue
            found = _channels(facts, programs, closer)
            if not found.crossing:
                return closer, found
    if not tried:
        raise refusals[0]
    return tried[0]


def _channels(
    facts: Facts,
    programs: Programs,
    storage: Storage,
    together: Mapping[str, str] | None = None,
    turns: Mapping[str, tuple[str, ...]] | None = None,
) -> Channels:
    return ChannelPlanner(facts, programs, storage, together or {}, turns or {}).plan()


def _local_sets(facts: Facts, storage: Storage, channels: Channels) -> Iterator[frozenset[str]]:
    """Which pools to keep at home: those that compete for channels, small ones first, one, then two, and so on."""
    keys = channels.crossing
    names: dict[str, int] = {}
    for want in channels.wants:
        for end in want.ends if want.key in keys and want.restricted else ():
            if isinstance(end, DmaEndpointOp) and storage.strays(pool := facts.view.pool_of(end)):
                names[pool.symbol] = pool.depth * size_in_bytes(pool.elem_type)
    ranked = sorted(names, key=lambda name: names[name])
    sets = itertools.chain.from_iterable(itertools.combinations(ranked, n) for n in range(1, len(ranked) + 1))
    return (frozenset(chosen) for chosen in itertools.islice(sets, LOCAL_TRIES))


# --- channels that several ends share ---------------------------------------------------------------------------------


class _Sharing:
    """Lets ends share channels where a tile has too few, one step at a time, until everything fits."""

    def __init__(self, facts: Facts, programs: Programs, storage: Storage, channels: Channels) -> None:
        self._facts = facts
        self._programs = programs
        self._storage = storage
        self._channels = channels
        self._shares: dict[Key, list[Share]] = {}
        self._together: dict[str, str] = {}
        self._asked: dict[Key, int] = {}
        self._turns: dict[Key, list[Turns]] = {}

    def plan(self) -> Plan:
        while self._channels.shortages:
            # Every tile goes one step on: what one of them decides is nothing to another.
            steps = [self._step(shortage) for shortage in self._channels.shortages]
            if not all(steps):
                raise Unplannable(
                    s.fault for s, moved in zip(self._channels.shortages, steps, strict=True) if not moved
                )
            turns = self._turn_map()
            self._channels = _channels(self._facts, self._programs, self._storage, self._together, turns)
            if self._channels.faults:
                raise Unplannable(self._channels.faults)
        return Plan(self._storage, self._channels, self._programs, self._turn_map(), bool(self._together))

    def _step(self, shortage: Shortage) -> bool:
        kind = self._facts.kind(shortage.key[0])
        if kind is not None and kind.is_shim:
            return self._share(shortage.key)
        return self._take_turns(shortage)

    def _share(self, key: Key) -> bool:
        if key not in self._shares:
            from aiecc.ir.fifo.shim_sharing import shim_shares

            self._shares[key] = list(shim_shares(self._facts.view, *key))
        if not self._shares[key]:
            return False
        share = self._shares[key].pop(0)
        self._together[share.member] = share.leader
        return True

    def _take_turns(self, shortage: Shortage) -> bool:
        from aiecc.ir.fifo.turns import turn_plans

        key = shortage.key
        self._asked[key] = self._asked.get(key, 0) + shortage.excess
        plans = turn_plans(self._facts.view, *key, self._asked[key])
        if not plans:
            return False
        self._turns[key] = plans
        return self._turn_map_fits()

    def _turn_map(self) -> TurnMap:
        return {
            name: order
            for plans in self._turns.values()
            for turns in plans
            for order in (turns.here, turns.there)
            for name in order
        }

    def _turn_map_fits(self) -> bool:
        """Whether no end takes part in two different orders."""
        found = self._turn_map()
        orders = [o for plans in self._turns.values() for turns in plans for o in (turns.here, turns.there)]
        return all(found[name] == order for order in orders for name in order)


def spilled(faults: tuple[Fault, ...]) -> bool:
    """Whether what failed is a memory tile's channels, where buffers could have been packed otherwise."""
    return any(
        "DMA channel exceeded!" in fault.text and getattr(fault.op, "kind", None) is TileKind.MEM for fault in faults
    )
