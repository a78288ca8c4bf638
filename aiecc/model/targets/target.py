"""A device: the questions the rest of the compiler asks, answered from the tables.

Coordinates are (column, row); row 0 is the shim row at the bottom, columns grow to the east. Sizes and
addresses are bytes. A question about a tile off the array is answered with None, False or 0, never with an exception.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property

from aiecc.base.digest import digest
from aiecc.model.layout import Direction
from aiecc.model.targets.kinds import Arch, Bundle, DmaDirection, PortSide, Sharing, TileKind
from aiecc.model.targets.tables import Dma, Family, Locks, Memory, Packets, Ports, Rule, ShimMux

Tile = tuple[int, int]

_STEP = {
    Direction.SOUTH: (0, -1),
    Direction.WEST: (-1, 0),
    Direction.NORTH: (0, 1),
    Direction.EAST: (1, 0),
}

# Controller ids of control packets by row, unique in a column; and device-wide ones by column. (A)
_COLUMN_IDS = (15, 26, 27, 29, 30, 31)
_DEVICE_IDS = (
    _COLUMN_IDS,
    (14, 21, 22, 23, 24, 25),
    (13, 11, 17, 18, 19, 20),
    (12, 28, 7, 8, 9, 10),
)

_NO_MEMORY = Memory(0, 0, 4, 4)


@dataclass(frozen=True)
class Target:
    """One device.

    `noc_columns` None: every column's shim has a NOC. `virtual`: a partition that may start at any column.
    `physical_columns` 0: not an NPU with partitions. `txn_generation`: the generation byte of a transaction
    header. `container`: `cdo`, `cert` (firmware ELF) or empty.
    """

    name: str
    number: int
    family: Family
    columns: int
    rows: int
    mem_rows: int = 0
    noc_columns: tuple[int, ...] | None = None
    npu: bool = False
    virtual: bool = False
    physical_columns: int = 0
    txn_generation: int = 3
    container: str = ""
    controllers_per_column: int = 0
    block_floats: tuple[str, ...] = ()
    product: str = ""

    # -- what it is ------------------------------------------------------------------------------

    @property
    def arch(self) -> Arch:
        return self.family.arch

    @property
    def triple(self) -> str:
        return self.arch.triple

    @property
    def python_name(self) -> str:
        """The class name of Python frontends: `NPU1`, `NPU1Col2`, `XCVC1902`."""
        head, _, tail = self.name.partition("_")
        return head.upper() + (f"Col{tail.removesuffix('col')}" if tail else "")

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every number of this device: what a cache key needs."""
        return digest(repr(_plain(self)))

    @property
    def semaphore_locks(self) -> bool:
        return self.family.semaphore_locks

    @property
    def multi_dim_bds(self) -> bool:
        return self.family.multi_dim_bds

    @property
    def bd_iteration(self) -> bool:
        return self.family.bd_iteration

    @property
    def out_of_order_dma(self) -> bool:
        return self.family.out_of_order_dma

    @property
    def packets(self) -> Packets:
        return self.family.packets

    @property
    def shim_mux(self) -> ShimMux:
        return self.family.shim_mux

    # -- the array -------------------------------------------------------------------------------

    def tile_kind(self, col: int, row: int) -> TileKind | None:
        """None off the array."""
        if not (0 <= col < self.columns and 0 <= row < self.rows):
            return None
        if row == 0:
            return TileKind.SHIM_NOC if self.noc_columns is None or col in self.noc_columns else TileKind.SHIM_PL
        return TileKind.MEM if row <= self.mem_rows else TileKind.CORE

    def is_core(self, col: int, row: int) -> bool:
        return self.tile_kind(col, row) is TileKind.CORE

    def tiles(self) -> tuple[Tile, ...]:
        """Every tile, column by column from the south."""
        return tuple((c, r) for c in range(self.columns) for r in range(self.rows))

    # -- data memory -----------------------------------------------------------------------------

    def memory(self, kind: TileKind) -> Memory:
        return self.family.memory.get(kind, _NO_MEMORY)

    def memory_size(self, kind: TileKind) -> int:
        return self.memory(kind).size

    def banks(self, kind: TileKind) -> int:
        return self.memory(kind).banks

    def bank_size(self, kind: TileKind) -> int:
        return self.memory(kind).bank_size

    def bus_align(self, kind: TileKind) -> int:
        """What a buffer's address is a multiple of, pinned ones included."""
        return self.memory(kind).bus

    def vector_align(self, kind: TileKind) -> int:
        """What an address the allocator chooses is a multiple of besides."""
        return self.memory(kind).vector

    @property
    def stack_align(self) -> int:
        return self.family.stack_align

    @property
    def default_stack_size(self) -> int:
        return self.family.default_stack_size

    @property
    def program_memory_size(self) -> int:
        return self.family.program_memory_size

    @property
    def address_space(self) -> int:
        """End of the data addresses a core can name."""
        return self.family.address_space

    # -- what a core sees ------------------------------------------------------------------------

    def own_direction(self, row: int) -> Direction:
        """Through which window a core sees its own memory."""
        if self.family.own_by_parity and row % 2 == 0:
            return Direction.WEST
        return Direction.EAST

    def window_base(self, direction: Direction) -> int:
        return self.family.windows[direction]

    @property
    def window_size(self) -> int:
        return self.memory_size(TileKind.CORE)

    def own_base(self, col: int, row: int) -> int:
        """The absolute address of offset 0 of a core's own memory."""
        del col  # the rule is one of rows, yet callers think in tiles
        return self.window_base(self.own_direction(row))

    def neighbour_memory(self, col: int, row: int, direction: Direction) -> Tile | None:
        """Whose memory this tile reaches in that direction: the tile itself in its own window, None if nobody's.

        For a core the directions are its four windows; for a memory tile, what its DMA sees to either side.
        """
        kind = self.tile_kind(col, row)
        if kind not in (TileKind.CORE, TileKind.MEM):
            return None
        if kind is TileKind.CORE and direction is self.own_direction(row):
            return col, row
        dc, dr = _STEP[direction]
        other = col + dc, row + dr
        if kind is TileKind.MEM and direction not in (Direction.WEST, Direction.EAST):
            return None
        return other if self.tile_kind(*other) is kind else None

    def reaches(self, accessor: Tile, owner: Tile) -> bool:
        """Whether a core (or a memory tile's DMA) may load, store and lock in `owner`'s memory."""
        if accessor == owner:
            kind = self.tile_kind(*owner)
            return kind is TileKind.CORE or kind is TileKind.MEM
        return any(self.neighbour_memory(*accessor, d) == owner for d in Direction)

    def reaches_lock(self, accessor: Tile, owner: Tile) -> bool:
        """As `reaches`, and a shim may use its own locks."""
        if accessor == owner:
            return self.tile_kind(*owner) is not None
        return self.reaches(accessor, owner)

    def core_address(self, core: Tile, owner: Tile, offset: int = 0) -> int | None:
        """The address under which `core` sees `offset` of `owner`'s memory; None if it does not."""
        direction = self._window_of(core, owner)
        return None if direction is None else self.window_base(direction) + offset

    def core_lock(self, core: Tile, owner: Tile, lock: int) -> int | None:
        """The number under which `core` knows lock `lock` of `owner`; None if it does not."""
        direction = self._window_of(core, owner)
        return None if direction is None else self.family.lock_windows[direction] + lock

    def _window_of(self, core: Tile, owner: Tile) -> Direction | None:
        if not self.is_core(*core):
            return None
        return next((d for d in Direction if self.neighbour_memory(*core, d) == owner), None)

    def shared(self, a: Tile, b: Tile) -> Sharing:
        """Which of two tiles' own memories both of them reach."""
        kinds = self.tile_kind(*a), self.tile_kind(*b)
        if kinds[0] is not kinds[1] or kinds[0] not in (TileKind.CORE, TileKind.MEM):
            return Sharing.NONE
        first, second = self.reaches(b, a), self.reaches(a, b)
        if first and second:
            return Sharing.EITHER
        if first:
            return Sharing.FIRST
        return Sharing.SECOND if second else Sharing.NONE

    def common_memories(self, a: Tile, b: Tile) -> tuple[Tile, ...]:
        """Every tile whose memory both reach: their own first, then a third tile's."""
        around = {a, b}
        for tile in (a, b):
            around.update(t for d in Direction if (t := self.neighbour_memory(*tile, d)) is not None)
        both = [t for t in around if self.reaches(a, t) and self.reaches(b, t)]
        return tuple(sorted(both, key=lambda t: (t not in (a, b), t)))

    # -- locks -----------------------------------------------------------------------------------

    def locks(self, kind: TileKind) -> Locks:
        return self.family.locks.get(kind, Locks(0))

    def lock_count(self, kind: TileKind) -> int:
        return self.locks(kind).count

    @property
    def lock_max_value(self) -> int:
        return self.family.lock_max_value

    def lock_address(self, col: int, row: int, lock: int) -> int | None:
        """The lock's value register; None for an id the tile does not have or an architecture not modelled."""
        kind = self.tile_kind(col, row)
        table = self.locks(kind) if kind else Locks(0)
        if table.base is None or not 0 <= lock < table.count:
            return None
        return self.tile_base(col, row) + table.base + table.pitch * lock

    # -- DMA -------------------------------------------------------------------------------------

    def dma(self, kind: TileKind) -> Dma | None:
        """None where there is no DMA: a PL shim, an AIE1 memory tile."""
        return self.family.dma.get(kind)

    def dma_channels(self, kind: TileKind) -> int:
        """Channels in each direction."""
        dma = self.dma(kind)
        return dma.channels if dma else 0

    def dma_reaches(self, accessor: Tile, owner: Tile, channel: int) -> bool:
        """Whether a channel of `accessor`'s DMA may use buffers and locks of `owner`.

        A core's DMA sees its own tile; a memory tile's low channels see their horizontal neighbours too.
        """
        kind = self.tile_kind(*accessor)
        dma = self.dma(kind) if kind else None
        if dma is None or not 0 <= channel < dma.channels:
            return False
        if accessor == owner:
            return True
        local = dma.local_from is not None and channel >= dma.local_from
        return kind is TileKind.MEM and not local and self.reaches(accessor, owner)

    def dma_offset(self, accessor: Tile, owner: Tile) -> int | None:
        """What a memory tile's DMA adds to an offset in `owner`'s memory; 0 for a core's own."""
        return self._dma_window(accessor, owner, self.family.dma_windows)

    def dma_lock_offset(self, accessor: Tile, owner: Tile) -> int | None:
        """What a memory tile's DMA adds to a lock id of `owner`; 0 for other tiles' own."""
        return self._dma_window(accessor, owner, self.family.dma_lock_windows)

    def _dma_window(self, accessor: Tile, owner: Tile, windows: Mapping[Direction | None, int]) -> int | None:
        kind = self.tile_kind(*accessor)
        if kind is None or self.dma(kind) is None:
            return None
        if kind is not TileKind.MEM:
            return 0 if accessor == owner else None
        if accessor == owner:
            return windows[None]
        sides = (Direction.WEST, Direction.EAST)
        return next((windows[d] for d in sides if self.neighbour_memory(*accessor, d) == owner), None)

    # -- register addresses ----------------------------------------------------------------------

    def tile_base(self, col: int, row: int) -> int:
        return (col & 0xFF) << self.family.column_shift | (row & 0xFF) << self.family.row_shift

    def bd_address(self, col: int, row: int, bd: int) -> int | None:
        """Address of a buffer descriptor's first word."""
        dma = self._dma_at(col, row)
        if dma is None or not 0 <= bd < dma.bds:
            return None
        return self.tile_base(col, row) + dma.bd_base + dma.bd_pitch * bd

    def bd_address_offset(self, kind: TileKind) -> int:
        """Byte offset, inside a descriptor, of the word that holds the buffer's address."""
        dma = self.dma(kind)
        return dma.bd_address_offset if dma else 0

    def channel_control(self, col: int, row: int, direction: DmaDirection, channel: int) -> int | None:
        """Address of a channel's control register."""
        dma = self._dma_at(col, row)
        if dma is None or not 0 <= channel < dma.channels:
            return None
        first = dma.s2mm_control if direction is DmaDirection.S2MM else dma.mm2s_control
        return self.tile_base(col, row) + first + dma.control_pitch * channel

    def channel_queue(self, col: int, row: int, direction: DmaDirection, channel: int) -> int | None:
        """Address of a channel's task queue: writing it starts a descriptor."""
        control = self.channel_control(col, row, direction, channel)
        return None if control is None else control + 4

    def channel_status(self, col: int, row: int, direction: DmaDirection, channel: int) -> int | None:
        """Address of a channel's status register; None where it is not known."""
        dma = self._dma_at(col, row)
        if dma is None or not 0 <= channel < dma.channels:
            return None
        first = dma.s2mm_status if direction is DmaDirection.S2MM else dma.mm2s_status
        return None if first is None else self.tile_base(col, row) + first + dma.status_pitch * channel

    def _dma_at(self, col: int, row: int) -> Dma | None:
        kind = self.tile_kind(col, row)
        return self.dma(kind) if kind else None

    # -- stream switch ---------------------------------------------------------------------------

    def ports(self, col: int, row: int, bundle: Bundle, side: PortSide) -> int:
        """How many ports of a bundle the tile's stream switch has; none towards the array's edge."""
        kind = self.tile_kind(col, row)
        if kind is None:
            return 0
        edges = {
            Bundle.WEST: col == 0,
            Bundle.EAST: col == self.columns - 1,
            Bundle.NORTH: row == self.rows - 1,
        }
        if edges.get(bundle):
            return 0
        ports = self.family.switch.get(kind, {}).get(bundle, Ports(0, 0))
        return ports.out if side is PortSide.OUT else ports.in_

    def shim_mux_ports(self, col: int, row: int, bundle: Bundle, side: PortSide) -> int:
        kind = self.tile_kind(col, row)
        if kind is None or not kind.is_shim:
            return 0
        ports = self.shim_mux.ports.get(bundle, Ports(0, 0))
        return ports.out if side is PortSide.OUT else ports.in_

    def connection_rule(self, kind: TileKind, source: Bundle, dest: Bundle) -> Rule | None:
        """`any`, `same` channel, one channel's number, or None: never."""
        return self.family.connections.get(kind, {}).get(source, {}).get(dest)

    def legal_connection(
        self, col: int, row: int, source: Bundle, source_channel: int, dest: Bundle, dest_channel: int
    ) -> bool:
        """Whether a tile's stream switch can lead an in port to an out port."""
        kind = self.tile_kind(col, row)
        if kind is None:
            return False
        if not 0 <= source_channel < self.ports(col, row, source, PortSide.IN):
            return False
        if not 0 <= dest_channel < self.ports(col, row, dest, PortSide.OUT):
            return False
        rule = self.connection_rule(kind, source, dest)
        if rule == "same":
            return source_channel == dest_channel
        return rule == "any" or rule == dest_channel

    def port_index(self, kind: TileKind, bundle: Bundle, channel: int, side: PortSide) -> int | None:
        """The physical number of a port, as event selection wants it."""
        tables = self.family.port_index.get(kind)
        if tables is None:
            return None
        run = tables[0 if side is PortSide.OUT else 1].get(bundle)
        return run.first + channel if run and 0 <= channel < run.count else None

    # -- cascade ---------------------------------------------------------------------------------

    @property
    def cascade_bits(self) -> int:
        return self.family.cascade_bits

    def cascade_neighbours(self, a: Tile, b: Tile) -> bool:
        """Whether two tiles are cores that share an edge."""
        near = abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1
        return near and self.is_core(*a) and self.is_core(*b)

    @property
    def cascade_inputs(self) -> tuple[Direction, ...]:
        """Sides a cascade can be configured to come from; empty where it cannot be configured. (A)"""
        return (Direction.NORTH, Direction.WEST) if self.family.cascade_config else ()

    @property
    def cascade_outputs(self) -> tuple[Direction, ...]:
        return (Direction.SOUTH, Direction.EAST) if self.family.cascade_config else ()

    # -- control packets -------------------------------------------------------------------------

    def controller_id(self, col: int, row: int, *, device_wide: bool = False) -> int | None:
        """The tile's control-packet id; unique in its column, or with `device_wide` in the first four columns.

        None where no such id exists.
        """
        if self.tile_kind(col, row) is None:
            return None
        if self.rows > len(_COLUMN_IDS):
            return None if device_wide else row
        if not device_wide:
            return _COLUMN_IDS[row]
        return _DEVICE_IDS[col][row] if col < len(_DEVICE_IDS) else None


def _plain(value: object) -> object:
    """The value as nested tuples whose `repr` does not depend on the process."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple((f.name, _plain(getattr(value, f.name))) for f in fields(value))
    if isinstance(value, Mapping):
        return tuple(sorted(((repr(_plain(k)), _plain(v)) for k, v in value.items()), key=lambda kv: kv[0]))
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return f"{type(value).__name__}.{value.name}" if isinstance(value, enum.Enum) else value
