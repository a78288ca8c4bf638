"""The shape of the target tables. Sizes and addresses are bytes; addresses are offsets inside a tile.

Every number in `aie1.py`, `aie2.py` and `devices.py` carries a letter for where it comes from:

* A: the target model of mlir-aie, unchanged over the versions of August 2026
* D: only in the later of those versions
* N: only in newer versions (September 2026, the first to know AIE2PS)
* R: the register database that mlir-aie ships
* S: the specification of core data memory
* I: inferred by us from the above
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aiecc.model.layout import Direction
from aiecc.model.targets.kinds import Arch, Bundle, TileKind

Rule = str | int
"""Which out channels an in channel may drive: `any`, `same` (the same channel number) or one channel's number."""

Connections = dict[Bundle, dict[Bundle, Rule]]
"""In bundle -> out bundle -> rule. A pair that is absent is illegal."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Data memory of one kind of tile.

    `bus`: what every buffer is aligned to. `vector`: what the widest vector access wants.
    """

    size: int
    banks: int
    bus: int
    vector: int

    @property
    def bank_size(self) -> int:
        return self.size // self.banks if self.banks else 0


@dataclass(frozen=True, slots=True)
class Locks:
    """Locks of one kind of tile. `base` None: the registers work differently and are not modelled."""

    count: int
    base: int | None = None
    pitch: int = 0x10


@dataclass(frozen=True, slots=True)
class Dma:
    """The DMA of one kind of tile.

    `channels` is per direction. `dims` does not count the iteration dimension. Lengths are in 32-bit
    words; steps are in words and stored minus one. `parity_split`: even channels use the lower half of the BDs,
    odd ones the upper. `local_from`: channels from this one on see only their own tile's buffers and locks (None: all
    of them do). `zero_pad`, `pad_value`: what an MM2S channel can add around a transfer.
    `bursts`: bytes by register code. `*_control` and `*_status` are the registers of channel 0.
    """

    channels: int
    bds: int
    dims: int
    iteration_bits: int
    max_words: int
    wrap_bits: int
    step_bits: int
    repeat_max: int
    ooo_bd_max: int
    queue_depth: int
    bd_base: int
    bd_pitch: int
    bd_address_offset: int
    s2mm_control: int
    mm2s_control: int
    s2mm_status: int | None = None
    mm2s_status: int | None = None
    control_pitch: int = 8
    status_pitch: int = 4
    parity_split: bool = False
    local_from: int | None = None
    zero_pad: bool = False
    pad_value: bool = False
    bursts: tuple[int, ...] = ()

    @property
    def bds_per_channel(self) -> int:
        return self.bds // 2 if self.parity_split else self.bds

    def bd_ids(self, channel: int) -> range:
        """The descriptors a channel may start, the same in both directions."""
        if not self.parity_split:
            return range(self.bds)
        half = self.bds // 2
        return range(half, self.bds) if channel % 2 else range(half)

    @property
    def max_bytes(self) -> int:
        return self.max_words * 4

    @property
    def max_wrap(self) -> int:
        """The largest size of one dimension."""
        return (1 << self.wrap_bits) - 1

    @property
    def max_step(self) -> int:
        """The largest stride, in words."""
        return 1 << self.step_bits

    @property
    def max_iteration(self) -> int:
        """How often the iteration dimension can repeat; 1 without one."""
        return 1 << self.iteration_bits


@dataclass(frozen=True, slots=True)
class Ports:
    """How many ports a bundle has, inside the array (edges are `Target.ports`'s business)."""

    out: int
    in_: int


@dataclass(frozen=True, slots=True)
class PortIndex:
    """Physical numbers of a bundle's ports: first and how many. Not shortened at array edges."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class ShimMux:
    """Between a shim switchbox's south side and the DMA, the NOC and the programmable logic.

    `into[(bundle, channel)]`: the switchbox's South in port. `out_of[(bundle, channel)]`: the South out port.
    """

    ports: dict[Bundle, Ports] = field(hash=False)
    into: dict[tuple[Bundle, int], int] = field(hash=False)
    out_of: dict[tuple[Bundle, int], int] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Packets:
    """Packet switching, the same everywhere."""

    id_bits: int = 5  # A
    type_bits: int = 3  # A
    rules_per_port: int = 4  # A
    arbiters: int = 6  # A
    msels: int = 4  # A

    @property
    def max_id(self) -> int:
        return (1 << self.id_bits) - 1

    @property
    def max_type(self) -> int:
        return (1 << self.type_bits) - 1


@dataclass(frozen=True, slots=True)
class Family:
    """Everything that an architecture fixes for all its devices.

    `windows`: where a core sees its neighbours' memories. `own_by_parity`: a core's own memory is the west
    window on even rows and the east one on odd rows; otherwise it is always the east window.
    `dma_windows`, `dma_lock_windows`: what a memory tile's DMA sees, by direction; None is the tile itself.
    """

    arch: Arch
    column_shift: int
    row_shift: int
    own_by_parity: bool
    windows: dict[Direction, int] = field(hash=False)
    lock_windows: dict[Direction, int] = field(hash=False)
    memory: dict[TileKind, Memory] = field(hash=False)
    locks: dict[TileKind, Locks] = field(hash=False)
    dma: dict[TileKind, Dma] = field(hash=False)
    switch: dict[TileKind, dict[Bundle, Ports]] = field(hash=False)
    connections: dict[TileKind, Connections] = field(hash=False)
    port_index: dict[TileKind, tuple[dict[Bundle, PortIndex], dict[Bundle, PortIndex]]] = field(hash=False)
    """(out, in) by kind."""
    shim_mux: ShimMux
    stack_align: int
    default_stack_size: int
    program_memory_size: int
    address_space: int
    lock_max_value: int
    semaphore_locks: bool
    acquire_greater_equal: bool
    multi_dim_bds: bool
    bd_iteration: bool
    out_of_order_dma: bool
    cascade_bits: int
    cascade_config: bool
    dma_windows: dict[Direction | None, int] = field(hash=False, default_factory=dict[Direction | None, int])
    dma_lock_windows: dict[Direction | None, int] = field(hash=False, default_factory=dict[Direction | None, int])
    packets: Packets = Packets()
