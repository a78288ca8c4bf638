"""Which DMA channel each endpoint gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.dma import DmaChannel
from aiecc.ir.dialects.aie.enums import Direction, WireBundle
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Key, Place, coordinates, direction_word, is_port
from aiecc.ir.fifo.alloc_programs import Programs, chain_length, turn_descriptors
from aiecc.ir.fifo.alloc_storage import Storage
from aiecc.ir.fifo.view import StreamEnd, place_of, tile_text
from aiecc.ir.passes.report import OpNote
from aiecc.model.targets import Bundle, PortSide, TileKind


@dataclass
class Want:
    """One channel that is wanted: by one endpoint, or by several that take turns on it.

    restricted: its descriptors touch a neighbour's memory or locks, which only the low channels can.
    static, passing: descriptors needed for good, and how many more at times.
    """

    ends: list[StreamEnd]
    place: Place
    sends: bool
    restricted: bool = False
    program: bool = False
    static: int = 0
    passing: int = 0
    pinned: int | None = None
    channel: int | None = None

    @property
    def demand(self) -> int:
        return self.static + self.passing

    @property
    def key(self) -> Key:
        return self.place, self.sends

    @property
    def first(self) -> StreamEnd:
        return self.ends[0]


@dataclass(frozen=True)
class Shortage:
    """A tile whose channels of one direction are too few. excess: how many more are wanted."""

    key: Key
    excess: int
    fault: Fault


@dataclass
class Channels:
    """What came out: a channel for every end, or what stood in the way.

    crowded: warnings. crossing: where channels that reach a neighbour's memory were missing.
    """

    of: dict[str, int] = field(default_factory=dict[str, int])
    wants: list[Want] = field(default_factory=list[Want])
    shortages: list[Shortage] = field(default_factory=list[Shortage])
    faults: list[Fault] = field(default_factory=list[Fault])
    crowded: list[Fault] = field(default_factory=list[Fault])
    crossing: set[Key] = field(default_factory=set[Key])


class ChannelPlanner:
    """Gives out channels against one storage plan.

    together: for an end, the end whose channel it takes (transfers that are never in flight together).
    turns: for an end, the order in which it and others take turns on a channel, beside what the IR says.
    long_first: among equals, long chains choose first instead of those declared first.
    """

    def __init__(
        self,
        facts: Facts,
        programs: Programs,
        storage: Storage,
        together: Mapping[str, str],
        turns: Mapping[str, tuple[str, ...]],
        long_first: bool = False,
    ) -> None:
        self._facts = facts
        self._programs = programs
        self._storage = storage
        self._together = together
        self._turns = turns
        self._long_first = long_first
        self._taken: dict[tuple[Place, bool, int], Operation | Want] = {}
        self._load: dict[Place, dict[int, int]] = {}
        self._out = Channels()

    def plan(self) -> Channels:
        out = self._out
        self._reserve()
        out.wants = self._wants()
        for want in out.wants:
            if want.pinned is not None:
                self._pin(want, want.pinned)
        failed: dict[Key, list[Want]] = {}
        open_wants = [want for want in out.wants if want.pinned is None]
        for want in sorted(open_wants, key=self._rank):
            channel = self._choose(want)
            if channel is None:
                failed.setdefault(want.key, []).append(want)
            else:
                self._give(want, channel)
        for wants in failed.values():
            out.shortages.append(self._shortage(wants))
            if wants[0].restricted:
                out.crossing.add(wants[0].key)
        for want in out.wants:
            if want.channel is not None:
                out.of.update((end.symbol, want.channel) for end in want.ends)
        out.crowded = [] if out.shortages else list(self._crowded())
        return out

    # -- who wants what --------------------------------------------------------------------------

    def _reserve(self) -> None:
        for place, op in self._programs.fixed:
            if op.index is None:
                continue
            self._taken.setdefault((place, op.direction is Direction.MM2S, op.index), op)
            self._add_load(place, op.index, chain_length(op))
        for record in self._facts.records.values():
            key = place_of(record.tile), record.direction is Direction.MM2S, record.channel
            self._taken.setdefault(key, record)

    def _wants(self) -> list[Want]:
        found: dict[str, Want] = {}
        for name, end in self._facts.view.stream_ends.items():
            if is_port(end):
                continue
            leader = self._leader(name, end)
            want = found.get(leader)
            if want is None:
                want = found[leader] = Want([], self._facts.place(end), self._facts.sends(end))
            want.ends.append(end)
            want.program = want.program or self._programs.owned(end)
            want.restricted = want.restricted or self._touches_neighbour(end)
            want.static += self._programs.static(end)
            want.passing += self._programs.passing(end)
            if want.pinned is None:
                record = self._facts.record_of(end)
                want.pinned = end.channel_index if end.channel_index is not None or record is None else record.channel
        for want in found.values():
            if order := self._order(want.first):
                want.static = turn_descriptors(self._facts.view, order)
        return list(found.values())

    def _order(self, end: StreamEnd) -> tuple[str, ...]:
        """The order in which an end and others take turns; empty where it does not."""
        return self._turns.get(end.symbol) or (end.turns if isinstance(end, DmaEndpointOp) else ())

    def _leader(self, name: str, end: StreamEnd) -> str:
        order = self._order(end)
        return min(order) if order else self._together.get(name, name)

    def _touches_neighbour(self, end: StreamEnd) -> bool:
        if not isinstance(end, DmaEndpointOp):
            return False
        place = self._facts.place(end)
        if self._facts.kind(place) is not TileKind.MEM:
            return False
        return any(other != place for other in self._storage.places_of(end))

    def _rank(self, want: Want) -> tuple[int, int]:
        """Who chooses first: those with the fewest channels to choose from, self-programmed ones last."""
        long = -want.demand if self._long_first else 0
        if want.restricted:
            return 0, long
        return (2, -want.demand) if want.program else (1, long)

    # -- giving them out -------------------------------------------------------------------------

    def _limit(self, want: Want) -> int:
        dma = self._facts.dma(want.place)
        limit = dma.channels if dma is not None else 0
        if want.restricted and dma is not None and dma.local_from is not None:
            return min(limit, dma.local_from)
        end = want.first
        if isinstance(end, RouteEndpointOp) and end.bundle is WireBundle.PLIO and isinstance(want.place, tuple):
            side = PortSide.IN if want.sends else PortSide.OUT
            col, row = coordinates(want.place)
            limit = max(limit, self._facts.target.shim_mux_ports(col, row, Bundle.PLIO, side))
        return limit

    def _pin(self, want: Want, channel: int) -> None:
        end, word = want.first, direction_word(want.sends)
        routed = isinstance(end, DmaEndpointOp) or bool(self._facts.view.routes_of(end.symbol))
        if not routed:
            # Its route has become a flow already: what it holds was settled then.
            self._give(want, channel)
            return
        own = self._facts.record_of(end)
        owner = self._taken.get((want.place, want.sends, channel))
        if isinstance(owner, DmaChannel) and want.program:
            owner = None
        if own is not None and own.channel == channel and not isinstance(owner, Want):
            owner = None
        dma = self._facts.dma(want.place)
        most = dma.channels if dma is not None else 0
        limit = self._limit(want)
        if not 0 <= channel < max(most, limit) or owner is not None:
            notes = () if owner is None else (self._held_by(owner),)
            text = f"pinned {word} DMA channel {channel} is out of range or already in use on this tile"
            self._out.faults.append(Fault(end, text, notes))
            return
        if channel >= limit:
            text = f"pinned {word} DMA channel {channel} cannot access adjacent MemTile buffers or locks"
            self._out.faults.append(Fault(end, text, (self._neighbour_note(want, limit),)))
            self._out.crossing.add(want.key)
            return
        self._give(want, channel)

    def _give(self, want: Want, channel: int) -> None:
        want.channel = channel
        self._taken.setdefault((want.place, want.sends, channel), want)
        self._add_load(want.place, channel, want.demand)

    def _add_load(self, place: Place, channel: int, demand: int) -> None:
        """Count descriptors wanted of the ids that a channel may use."""
        loads = self._load.setdefault(place, {})
        bank = self._bank(place, channel)
        loads[bank] = loads.get(bank, 0) + demand

    def _bank(self, place: Place, channel: int) -> int:
        """The first descriptor of those a channel may use: channels with the same one share them all."""
        dma = self._facts.dma(place)
        return dma.bd_ids(channel).start if dma is not None else 0

    def _room(self, place: Place, channel: int) -> int:
        dma = self._facts.dma(place)
        size = dma.bds_per_channel if dma is not None else 0
        return size - self._load.get(place, {}).get(self._bank(place, channel), 0)

    def _choose(self, want: Want) -> int | None:
        """The lowest free channel with enough descriptors left; for a program, or if none has, that with the most."""
        free = [c for c in range(self._limit(want)) if (want.place, want.sends, c) not in self._taken]
        fits = [] if want.program else [c for c in free if self._room(want.place, c) >= want.demand]
        if fits:
            return fits[0]
        return max(free, key=lambda c: (self._room(want.place, c), -c), default=None)

    def _crowded(self) -> Iterable[Fault]:
        """Self-programmed channels whose descriptors do not all fit beside the others'."""
        for want in self._out.wants:
            if not want.program or want.channel is None:
                continue
            room = self._room(want.place, want.channel)
            dma = self._facts.dma(want.place)
            if room < 0 and dma is not None:
                size = dma.bds_per_channel
                yield Fault(
                    want.first,
                    f"channel {want.channel} can use {size} BDs, but it and the channels sharing them need "
                    f"{size - room} at once; BD id assignment fails unless tasks free their BDs before others start",
                )

    # -- words -----------------------------------------------------------------------------------

    def _shortage(self, wants: Sequence[Want]) -> Shortage:
        want = wants[0]
        capacity = self._limit(want)
        word = direction_word(want.sends)
        near = " for adjacent MemTile access" if want.restricted else ""
        text = (
            f"number of {'output' if want.sends else 'input'} DMA channel exceeded! "
            f"requires at least {capacity + 1} {word} channels, but capacity is {capacity}{near}"
        )
        total = capacity + len(wants)
        notes: list[OpNote] = [
            (f"{tile_text(want.first.tile_op)} has {capacity} {word} channels{near}, and {total} are wanted", None),
            *self._holders(want.key, capacity),
            *(self._want_note(end, one, None) for one in wants for end in one.ends),
        ]
        tile = want.first.tile_op or want.first
        return Shortage(want.key, len(wants), Fault(tile, text, tuple(notes), _ways_out(self._facts, want)))

    def _holders(self, key: Key, capacity: int) -> list[OpNote]:
        notes: list[OpNote] = []
        for channel in range(capacity):
            owner = self._taken.get((*key, channel))
            if isinstance(owner, Want):
                notes += [self._want_note(end, owner, channel) for end in owner.ends]
            elif owner is not None:
                notes.append((f"pre-existing {owner.name} reserves DMA channel {channel}", owner))
        return notes

    def _want_note(self, end: StreamEnd, want: Want, channel: int | None) -> OpNote:
        fifo = f" for ObjectFifo @{end.fifo_name}" if end.fifo_name else ""
        near = " requires adjacent MemTile access" if want.restricted else ""
        held = f"; occupies channel {channel}" if channel is not None else ""
        return f"DMA endpoint @{end.symbol}{fifo}{near}{held}", end

    def _held_by(self, owner: Operation | Want) -> OpNote:
        if isinstance(owner, Want):
            return self._want_note(owner.first, owner, owner.channel)
        return f"pre-existing {owner.name} is here", owner

    def _neighbour_note(self, want: Want, limit: int) -> OpNote:
        end = want.first
        assert isinstance(end, DmaEndpointOp)
        there = sorted({str(p) for p in self._storage.places_of(end) if p != want.place})
        text = f"pool @{end.pool} reaches into tile{', tile'.join(there)}; only channels 0 to {limit - 1} can"
        return text, self._facts.view.pools.get(end.pool)


def _ways_out(facts: Facts, want: Want) -> str:
    """What a designer can do where a tile has too few channels."""
    kind = facts.kind(want.place)
    if kind is TileKind.MEM:
        return "move some of the fifos to another memory tile"
    if kind is not None and kind.is_shim:
        return "move some of the fifos to another shim tile, or use them in different runtime sequences"
    link = "distribute one of them on a memory tile" if want.sends else "join some of them on a memory tile"
    merge = "" if want.sends else ", merge them by packets (mode = #aie.link_mode<time>)"
    return f"{link}{merge}, or pass objects through a neighbour's memory"
