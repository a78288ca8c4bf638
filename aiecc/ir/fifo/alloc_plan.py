"""The whole plan of an allocation, as values: nothing in the IR changes before it stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.memory import size_in_bytes
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.fifo.alloc_buffers import check_held, check_objects
from aiecc.ir.fifo.alloc_channels import ChannelPlanner, Channels, Shortage
from aiecc.ir.fifo.alloc_descriptors import overfull
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Key, Place, Unplannable, coordinates, is_port
from aiecc.ir.fifo.alloc_programs import Programs
from aiecc.ir.fifo.alloc_storage import Storage, plan_storage
from aiecc.ir.fifo.view import StreamEnd
from aiecc.model.targets import Bundle, PortSide, TileKind

if TYPE_CHECKING:
    from aiecc.ir.fifo.shim_sharing import Share
    from aiecc.ir.fifo.turns import Turns

LOCAL_TRIES = 64
"""How many sets of pools are kept at home, one after another, to need fewer of the channels that reach neighbours."""

TURN_ROUNDS = 64
"""How often some tile's turns are chosen before the search ends."""

TurnMap = dict[str, tuple[str, ...]]


@dataclass
class Plan:
    """Where everything goes.

    turns: by endpoint, what this pass writes. ahead: of those, which have to run ahead of their core, and by how many
    objects. together: shim ends, and the end whose channel each of them shares.
    """

    storage: Storage
    channels: Channels
    programs: Programs
    turns: TurnMap = field(default_factory=dict[str, tuple[str, ...]])
    together: dict[str, str] = field(default_factory=dict[str, str])
    ahead: dict[str, int] = field(default_factory=dict[str, int])


def make_plan(facts: Facts) -> Plan:
    """Plan everything; raises Unplannable with what stands in the way."""
    check_held(facts)
    check_objects(facts)
    check_ports(facts)
    check_headers(facts)
    programs = Programs(facts)
    programs.check()
    storage, channels = _with_room(facts, programs)
    if channels.faults:
        raise Unplannable(channels.faults)
    plan = Plan(storage, channels, programs)
    if channels.shortages:
        plan = _Sharing(facts, programs, storage, channels).plan()
    if faults := list(overfull(facts, programs, plan.channels)):
        plan.channels = _channels(facts, programs, storage, plan.together, plan.turns, long_first=True)
        if plan.channels.faults or plan.channels.shortages or any(overfull(facts, programs, plan.channels)):
            raise Unplannable(faults)
    return plan


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
        if missing := _missing_port(facts, end, port):
            faults.append(Fault(end, missing))
            continue
        packets = all(route.packet_attr is not None for route in routes)
        sends = facts.sends(end)
        other, shareable = used.setdefault((facts.place(end), sends, port), (end, packets))
        if other is not end and not (packets and shareable):
            text = f"Core {'output' if sends else 'input'} {port} is already in use on this tile"
            faults.append(Fault(end, text, (("the other stream is here", other),)))
    if faults:
        raise Unplannable(faults)


def _missing_port(facts: Facts, end: StreamEnd, port: int) -> str:
    """What is wrong with a stream port that the tile does not have; empty when it has it, or is not placed yet."""
    place = facts.place(end)
    if not isinstance(place, tuple):
        return ""
    sends = facts.sends(end)
    col, row = coordinates(place)
    count = facts.target.ports(col, row, Bundle.CORE, PortSide.IN if sends else PortSide.OUT)
    if 0 <= port < count:
        return ""
    end_word, way = ("source", "into") if sends else ("destination", "out of")
    ports = f"{count} Core port{'s' * (count != 1)}"
    return f"{end_word} Core:{port} does not exist: tile ({col}, {row}) has {ports} {way} its stream switch"


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
    long_first: bool = False,
) -> Channels:
    return ChannelPlanner(facts, programs, storage, together or {}, turns or {}, long_first).plan()


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
        self._turns: dict[Key, list[Turns]] = {}
        self._rounds = 0

    def plan(self) -> Plan:
        while self._channels.shortages:
            self._shim_steps()
            self._turn_step()
            turns = self._turn_map()
            self._channels = _channels(self._facts, self._programs, self._storage, self._together, turns)
            if self._channels.faults:
                raise Unplannable(self._channels.faults)
        early = dict(entry for plans in self._turns.values() for turns in plans for entry in turns.ahead)
        return Plan(self._storage, self._channels, self._programs, self._turn_map(), self._together, early)

    def _on_shim(self, shortage: Shortage) -> bool:
        kind = self._facts.kind(shortage.key[0])
        return kind is not None and kind.is_shim

    # -- shims -----------------------------------------------------------------------------------

    def _shim_steps(self) -> None:
        """Every shim that is short shares one more end: what one of them does is nothing to another."""
        short = [shortage for shortage in self._channels.shortages if self._on_shim(shortage)]
        stuck = [shortage.fault for shortage in short if not self._share(shortage.key)]
        if stuck:
            raise Unplannable(stuck)

    def _share(self, key: Key) -> bool:
        if key not in self._shares:
            from aiecc.ir.fifo.shim_sharing import shim_shares

            self._shares[key] = list(shim_shares(self._facts.view, *key))
        if not self._shares[key]:
            return False
        share = self._shares[key].pop(0)
        self._together[share.member] = share.leader
        return True

    # -- compute and memory tiles ----------------------------------------------------------------

    def _turn_step(self) -> None:
        """One tile's ends take turns. What it saves at the other end of the routes may be all that was missing there.

        Compute tiles first: there is less to choose from.
        """
        short = [shortage for shortage in self._channels.shortages if not self._on_shim(shortage)]
        if not short:
            return
        self._rounds += 1
        short.sort(key=lambda shortage: self._facts.kind(shortage.key[0]) is TileKind.MEM)
        if self._rounds <= TURN_ROUNDS and self._take_turns(short[0]):
            return
        others = [shortage for shortage in short[1:] if self._asked(shortage) is None]
        raise Unplannable(shortage.fault for shortage in (short[0], *others))

    def _asked(self, shortage: Shortage) -> list[Turns] | None:
        """Turns that save what a tile lacks and what turns planned already save there."""
        from aiecc.ir.fifo.turns import turn_plans

        planned = self._turn_map()
        wants = [want for want in self._channels.wants if want.key == shortage.key and want.first.symbol in planned]
        saved = sum(len(want.ends) - 1 for want in wants)
        return turn_plans(self._facts.view, *shortage.key, shortage.excess + saved)

    def _take_turns(self, shortage: Shortage) -> bool:
        before = self._turn_map()
        plans = self._asked(shortage)
        if not plans:
            return False
        names = {name for turns in plans for name in (*turns.here, *turns.there)}
        for key, others in list(self._turns.items()):
            # Others' turns that these contradict give way: these may save enough there, too.
            kept = [turns for turns in others if turns in plans or names.isdisjoint((*turns.here, *turns.there))]
            self._turns[key] = kept
        self._turns[shortage.key] = plans
        return self._turn_map() != before

    def _turn_map(self) -> TurnMap:
        return {
            name: order
            for plans in self._turns.values()
            for turns in plans
            for order in (turns.here, turns.there)
            for name in order
        }


def spilled(faults: tuple[Fault, ...]) -> bool:
    """Whether what failed is a memory tile's channels, where buffers could have been packed otherwise."""
    return any(
        "DMA channel exceeded!" in fault.text and getattr(fault.op, "kind", None) is TileKind.MEM for fault in faults
    )
