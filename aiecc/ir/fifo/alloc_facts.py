"""What `--aie-objectfifo-allocate` knows of a device before it decides anything."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaChannel, DmaStartOp
from aiecc.ir.dialects.aie.enums import Direction, WireBundle
from aiecc.ir.dialects.aie.flows import FlowOp, PacketFlowOp, Port
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.dialects.aie.runtime import BdChainOp, ObjectFifoRearmBindingOp, RuntimeSequenceOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.dialects.aiex.control import DmaChannelResetForOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaStartBdChainForOp
from aiecc.ir.fifo.view import FifoView, StreamEnd, names_in, place_of
from aiecc.ir.passes.report import OpNote
from aiecc.model.targets import TileKind
from aiecc.model.targets.tables import Dma

Place: TypeAlias = Hashable
"""A hardware tile: its coordinates, or the op that stands for a tile not placed yet."""

Key: TypeAlias = tuple[Place, bool]
"""The channels of one tile in one direction; True sends (MM2S)."""

User: TypeAlias = CoreEndpointOp | DmaEndpointOp


@dataclass(frozen=True)
class Fault:
    """What makes a plan impossible, to be told at an op."""

    op: Operation
    text: str
    notes: tuple[OpNote, ...] = ()
    todo: str = ""


class Unplannable(Exception):
    """A plan that cannot be made."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        super().__init__()
        self.faults = tuple(faults)


class Facts:
    """A device's split objectFifos beside what it held already; found by one walk, changed by nobody."""

    def __init__(self, view: FifoView) -> None:
        self.view = view
        self.device: DeviceOp = view.device
        self.target = view.target
        self.names = names_in(self.device)
        self.tiles: dict[Place, TileLike] = {}
        self.held_buffers: dict[Place, list[BufferOp]] = {}
        self.held_locks: dict[Place, int] = {}
        self.programs: list[DmaProgram] = []
        self.sequences: list[RuntimeSequenceOp] = []
        self.records: dict[str, ShimDmaAllocationOp] = {}
        self.bindings: dict[str, ObjectFifoRearmBindingOp] = {}
        self.templates: dict[str, BdChainOp] = {}
        self._flows: list[FlowOp | PacketFlowOp] = []
        for op in self.device.block.ops:
            self._enter(op)
        self.resets: list[DmaChannelResetForOp] = []
        self.tasks: dict[str, list[DmaConfigureTaskForOp | DmaStartBdChainForOp]] = {}
        for sequence in self.sequences:
            for op in sequence.walk():
                if isinstance(op, DmaChannelResetForOp):
                    self.resets.append(op)
                elif isinstance(op, DmaConfigureTaskForOp | DmaStartBdChainForOp):
                    self.tasks.setdefault(op.alloc, []).append(op)
        self.rearmed = {self.fifo_of_reset(op) for op in self.resets if op.fifo not in self.bindings}
        self.started = {
            op.endpoint: op.direction for _, op in self.starts() if isinstance(op, DmaStartOp) and op.endpoint
        }
        self._records_of = self._claim_records()
        self._ports: dict[tuple[Place, Port], bool] | None = None

    def _enter(self, op: Operation) -> None:
        if isinstance(op, TileLike):
            self.tiles.setdefault(place_of(op.results[0]), op)
        elif isinstance(op, BufferOp):
            self.held_buffers.setdefault(place_of(op.tile), []).append(op)
        elif isinstance(op, LockOp):
            place = place_of(op.tile)
            self.held_locks[place] = self.held_locks.get(place, 0) + 1
        elif isinstance(op, DmaProgram):
            self.programs.append(op)
        elif isinstance(op, RuntimeSequenceOp):
            self.sequences.append(op)
        elif isinstance(op, ShimDmaAllocationOp):
            self.records[op.symbol] = op
        elif isinstance(op, ObjectFifoRearmBindingOp):
            self.bindings[op.symbol] = op
        elif isinstance(op, BdChainOp):
            self.templates[op.symbol] = op
        elif isinstance(op, FlowOp | PacketFlowOp):
            self._flows.append(op)

    # -- places ----------------------------------------------------------------------------------

    def place(self, op: User | StreamEnd | ObjectFifoPoolOp) -> Place:
        """The hardware tile an endpoint or a pool is on."""
        return place_of(op.operands[0])

    def kind(self, place: Place) -> TileKind | None:
        """What kind of tile a place is; None off the array."""
        if isinstance(place, tuple):
            return self.target.tile_kind(*coordinates(place))
        return place.kind if isinstance(place, TileLike) else None

    def dma(self, place: Place) -> Dma | None:
        """The DMA of a tile.

        Shim tiles without one count as if they had that of the others: mlir-aie hands out their channels as well.
        """
        kind = self.kind(place)
        if kind is TileKind.SHIM_PL:
            kind = TileKind.SHIM_NOC
        return self.target.dma(kind) if kind is not None else None

    def core_reaches(self, user: Place, owner: Place) -> bool:
        """Whether a core may use memory and locks of a place. Between tiles not placed yet: taken to be so."""
        if user == owner:
            return True
        if isinstance(user, tuple) and isinstance(owner, tuple):
            return self.target.reaches(coordinates(user), coordinates(owner))
        return self.kind(user) is self.kind(owner)

    def dma_reaches(self, user: Place, owner: Place) -> bool:
        """Whether a tile's DMA, in some channel, may use memory and locks of a place."""
        if user == owner:
            return True
        both = isinstance(user, tuple) and isinstance(owner, tuple)
        if not both or self.kind(user) is not TileKind.MEM:
            return False
        return self.target.reaches(coordinates(user), coordinates(owner))

    def reaches(self, user: User, owner: Place) -> bool:
        """Whether an endpoint may use memory and locks of a place."""
        at = self.place(user)
        return self.core_reaches(at, owner) if isinstance(user, CoreEndpointOp) else self.dma_reaches(at, owner)

    # -- what uses a pool ------------------------------------------------------------------------

    def users(self, pool: ObjectFifoPoolOp) -> list[User]:
        """The endpoints of a pool."""
        return self.view.ends_of(pool)

    def needs_locks(self, pool: ObjectFifoPoolOp) -> bool:
        """Whether access to a pool's objects is guarded.

        Not so where the author said so, nor where the objects start full and are never filled again: locks would let
        them be read only as often as they count. A fifo that the host arms again is filled again. A whole stream in one
        buffer is nothing without its counts.
        """
        if pool.stream is not None:
            return True
        if pool.disable_synchronization:
            return False
        filled = 0 if pool.init_values is None else len(pool.init_values.data)
        if filled != pool.depth or not filled:
            return True
        if any(end.role.word == "fills" for end in self.users(pool)):
            return True
        return bool(pool.fifo_name) and pool.fifo_name in self.rearmed

    # -- the shim's records and directions -------------------------------------------------------

    def fifo_of_reset(self, op: DmaChannelResetForOp) -> str:
        """The fifo that a reset is about: named itself, or by its shim end."""
        end = self.view.stream_ends.get(op.fifo)
        return op.fifo if end is None else end.fifo_name or op.fifo

    def _claim_records(self) -> dict[str, ShimDmaAllocationOp]:
        """For each shim end that has one already, its allocation record; a record belongs to one end."""
        found: dict[str, ShimDmaAllocationOp] = {}
        claimed: set[str] = set()
        for end in self.view.stream_ends.values() if self.records else ():
            if not end.fifo_name:
                continue
            for record in self._records_named(end.fifo_name):
                if record.symbol not in claimed and self._fits(end, record):
                    claimed.add(record.symbol)
                    found[end.symbol] = record
                    break
        return found

    def _records_named(self, fifo: str) -> Iterator[ShimDmaAllocationOp]:
        name, n = record_name(fifo), 0
        while name in self.names:
            if name in self.records:
                yield self.records[name]
            name, n = f"{record_name(fifo)}_{n}", n + 1

    def _fits(self, end: StreamEnd, record: ShimDmaAllocationOp) -> bool:
        if place_of(record.tile) != self.place(end):
            return False
        if end.channel_index is not None and end.channel_index != record.channel:
            return False
        if isinstance(end, RouteEndpointOp) and not self.view.routes_of(end.symbol):
            return True
        return (record.direction is Direction.MM2S) == self.view.sends(end)

    def record_of(self, end: StreamEnd) -> ShimDmaAllocationOp | None:
        """The shim allocation that an end has already."""
        return self._records_of.get(end.symbol)

    def sends(self, end: StreamEnd) -> bool:
        """Whether an end sends, also where its route has become a flow already."""
        if isinstance(end, DmaEndpointOp) or self.view.routes_of(end.symbol):
            return self.view.sends(end)
        record = self.record_of(end)
        if record is not None:
            return record.direction is Direction.MM2S
        if end.symbol in self.started:
            return self.started[end.symbol] is Direction.MM2S
        if end.channel_index is None:
            return False
        return self._flow_ports().get((self.place(end), Port(end.bundle, end.channel_index)), False)

    def _flow_ports(self) -> dict[tuple[Place, Port], bool]:
        if self._ports is None:
            self._ports = {}
            for flow in self._flows:
                if isinstance(flow, FlowOp):
                    starts, stops = [(flow.source, flow.source_port)], [(flow.dest, flow.dest_port)]
                else:
                    starts = [(end.tile, end.port) for end in flow.sources]
                    stops = [(end.tile, end.port) for end in flow.dests]
                for sends, ports in ((True, starts), (False, stops)):
                    for tile, port in ports:
                        self._ports.setdefault((place_of(tile), port), sends)
        return self._ports

    # -- channels --------------------------------------------------------------------------------

    def starts(self) -> Iterator[tuple[Place, DmaChannel]]:
        """Every channel that a DMA program of the device starts."""
        for program in self.programs:
            place = place_of(program.operands[0])
            for block in program.regions[0].blocks:
                for op in block.ops:
                    if isinstance(op, DmaChannel):
                        yield place, op


def coordinates(place: Place) -> tuple[int, int]:
    """A place's column and row. Call it only for one that is placed."""
    assert isinstance(place, tuple)
    col, row = place
    return int(col), int(row)


def base_name(pool: ObjectFifoPoolOp) -> str:
    """What a pool's buffers and locks are named after."""
    return pool.symbol.removesuffix("_pool") or pool.symbol


def record_name(fifo: str) -> str:
    """What a fifo's shim allocation is called."""
    return f"{fifo}_shim_alloc"


def direction_word(sends: bool) -> str:
    return "MM2S" if sends else "S2MM"


def is_port(end: StreamEnd) -> bool:
    """Whether an end is a core's stream port, which no DMA drives."""
    return isinstance(end, RouteEndpointOp) and end.bundle is WireBundle.CORE
