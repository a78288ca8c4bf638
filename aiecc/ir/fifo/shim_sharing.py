"""Shim channels that take turns: which ends of a full shim tile may share one, and the packets that keep them apart."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import PacketInfo, PacketInfoAttr
from aiecc.ir.dialects.aie.enums import WireBundle
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.fifo.arrivals import warn_of_early_objects
from aiecc.ir.fifo.liveness import Liveness
from aiecc.ir.fifo.structure import held_ids
from aiecc.ir.fifo.view import FifoView, place_of
from aiecc.ir.passes.report import OpNote, op_error

Channel = tuple[Hashable, bool, int]
"""A channel of the array: its tile, whether it sends, its number."""


@dataclass(frozen=True)
class Share:
    """The end `member` uses the channel of the end `leader` instead of one of its own."""

    member: str
    leader: str


def shim_shares(view: FifoView, tile: Hashable, sends: bool) -> list[Share]:
    """How the ends of a shim tile in one direction can share channels, in the order in which to try it.

    tile: as `place_of` gives it. Take one share more each time the tile still does not fit. Empty when nothing can be
    shared: ends share only if no sequence has both in flight at once and their routes can carry packet headers.
    """
    ends = [
        end
        for end in view.stream_ends.values()
        if isinstance(end, RouteEndpointOp)
        and end.bundle is WireBundle.DMA
        and end.fifo_name is not None
        and end.channel_index is None
        and place_of(end.tile) == tile
        and view.sends(end) is sends
        and all(_can_carry_headers(view, route) for route in view.routes_of(end.symbol))
    ]
    if len(ends) < 2:
        return []
    live = Liveness(view)
    pinned = {end.symbol: _ids_of(view, end.symbol) for end in ends}

    def may_share(a: str, b: str) -> bool:
        return live.apart(a, b) and pinned[a].isdisjoint(pinned[b])

    groups: list[list[str]] = []
    # By fifo name, as users know them; the order of declaration only decides between ends of one fifo.
    for end in sorted(ends, key=lambda end: end.fifo_name or ""):
        home = next((g for g in groups if all(may_share(end.symbol, other) for other in g)), None)
        if home is None:
            groups.append([end.symbol])
        else:
            home.append(end.symbol)
    return [Share(member, leader) for leader, *members in groups for member in members]


def _ids_of(view: FifoView, end: str) -> set[int]:
    """The packet ids that the routes of an end have already."""
    headers = [route.packet for route in view.routes_of(end)]
    return {h.pkt_id for h in headers if h is not None and h.pkt_id is not None}


def _can_carry_headers(view: FifoView, route: RouteOp) -> bool:
    """Whether a route can be switched by packets: every source has to state the header in its descriptors."""
    if route.packet is not None:
        return True
    for name in route.sources:
        end = view.stream_ends[name]
        if isinstance(end, RouteEndpointOp):
            # A program of the design's own and a core's stream port know of no header.
            if end.bundle is not WireBundle.DMA or end.fifo_name is None:
                return False
        elif view.pool_of(end).iterate_bds or end.turns:
            return False
    return True


def packetize_shared(view: FifoView, channels: Mapping[str, int], sink: Sink) -> bool:
    """Switch the circuit routes of shared shim channels by packets, in place, after the channels were chosen.

    channels: the channel of every shim end, by the end's name. Routes that meet on a channel get ids that differ;
    routes that do not may have the same one, since the router keeps equal ids apart where their destinations differ.
    False, with an error at the route, when no id is left. Warns where a receiving channel may get objects too early.
    """
    on: dict[Channel, list[str]] = {}
    for name, channel in channels.items():
        end = view.stream_ends.get(name)
        if end is not None:
            on.setdefault((place_of(end.tile), view.sends(end), channel), []).append(name)
    shared = {name: key for key, names in on.items() if len(names) > 1 for name in names}
    if not shared:
        return True
    taken: dict[Channel, set[int]] = {}
    circuits = [route for route in view.routes if route.packet is None and _channels_of(route, shared)]
    # What is introduced here differs from all that is held, so from the ids of packet routes on the same channels, too.
    held = held_ids(view.device)
    introduced: list[int] = []
    for route in circuits:
        keys = _channels_of(route, shared)
        used = {number for key in keys for number in taken.get(key, ())}
        number = next((n for n in introduced if n not in used), None)
        if number is None:
            number = next((n for n in range(view.target.packets.max_id + 1) if n not in held), None)
            if number is None:
                notes: list[OpNote] = [(f"id {n} is held here", op) for n, op in sorted(held.items())]
                text = "shares a shim channel, but no packet id is left to tell its transfers apart"
                op_error(sink, route, text, notes)
                return False
            introduced.append(number)
            held[number] = route
        for key in keys:
            taken.setdefault(key, set()).add(number)
        route.properties["packet"] = PacketInfoAttr(PacketInfo(0, number))
    warn_of_early_objects(view, [names for (_, sends, _), names in on.items() if len(names) > 1 and not sends], sink)
    return True


def _channels_of(route: RouteOp, shared: Mapping[str, Channel]) -> list[Channel]:
    """The shared channels a route begins or ends at."""
    return [shared[name] for name in (*route.sources, *route.destinations) if name in shared]
