"""AIE1 (Versal AI Engine). The letters are explained in `tables.py`."""

from __future__ import annotations

from aiecc.model.layout import Direction
from aiecc.model.targets.kinds import Arch, Bundle, TileKind
from aiecc.model.targets.tables import Connections, Dma, Family, Locks, Memory, PortIndex, Ports, Rule, ShimMux

WORD_MAX = (1 << 32) - 1

SHIM_MUX = ShimMux(
    ports={  # A
        Bundle.DMA: Ports(2, 2),
        Bundle.NOC: Ports(4, 4),
        Bundle.PLIO: Ports(6, 8),
        Bundle.SOUTH: Ports(8, 6),
    },
    into={  # A
        (Bundle.DMA, 0): 3,
        (Bundle.DMA, 1): 7,
        **{(Bundle.NOC, i): port for i, port in enumerate((2, 3, 6, 7))},
        **{(Bundle.PLIO, i): i for i in range(8)},
    },
    out_of={  # A
        (Bundle.DMA, 0): 2,
        (Bundle.DMA, 1): 3,
        **{(Bundle.NOC, i): port for i, port in enumerate((2, 3, 4, 5))},
        **{(Bundle.PLIO, i): i for i in range(6)},
    },
)

_CORE = {  # A
    Bundle.CORE: Ports(2, 2),
    Bundle.DMA: Ports(2, 2),
    Bundle.FIFO: Ports(2, 2),
    Bundle.NORTH: Ports(6, 4),
    Bundle.SOUTH: Ports(4, 6),
    Bundle.WEST: Ports(4, 4),
    Bundle.EAST: Ports(4, 4),
    Bundle.TRACE: Ports(0, 2),
    Bundle.TILE_CONTROL: Ports(1, 1),
}
_SHIM_PL = {  # A
    Bundle.FIFO: Ports(2, 2),
    Bundle.NORTH: Ports(6, 4),
    Bundle.SOUTH: Ports(6, 8),
    Bundle.WEST: Ports(4, 4),
    Bundle.EAST: Ports(4, 4),
    Bundle.TRACE: Ports(0, 1),
}
_SHIM_NOC = {**_SHIM_PL, Bundle.TILE_CONTROL: Ports(1, 1)}  # A


def _everything(ports: dict[Bundle, Ports]) -> Connections:
    """Any in port drives any out port; only trace is bound to the south. (A)"""
    outs: dict[Bundle, Rule] = {b: "any" for b, p in ports.items() if p.out}
    return {b: {Bundle.SOUTH: "any"} if b is Bundle.TRACE else outs for b, p in ports.items() if p.in_}


def _indexes(*runs: tuple[Bundle, int, int]) -> dict[Bundle, PortIndex]:
    return {bundle: PortIndex(first, count) for bundle, first, count in runs}


_CORE_OUT = _indexes(  # A
    (Bundle.CORE, 0, 2),
    (Bundle.DMA, 2, 2),
    (Bundle.TILE_CONTROL, 4, 1),
    (Bundle.FIFO, 5, 2),
    (Bundle.SOUTH, 7, 4),
    (Bundle.WEST, 11, 4),
    (Bundle.NORTH, 15, 6),
    (Bundle.EAST, 21, 4),
)
_CORE_IN = _indexes(  # A
    (Bundle.CORE, 0, 2),
    (Bundle.DMA, 2, 2),
    (Bundle.TILE_CONTROL, 4, 1),
    (Bundle.FIFO, 5, 2),
    (Bundle.SOUTH, 7, 6),
    (Bundle.WEST, 13, 4),
    (Bundle.NORTH, 17, 4),
    (Bundle.EAST, 21, 4),
    (Bundle.TRACE, 25, 2),
)
_SHIM_OUT = _indexes(  # A
    (Bundle.TILE_CONTROL, 0, 1),
    (Bundle.FIFO, 1, 2),
    (Bundle.SOUTH, 3, 6),
    (Bundle.WEST, 9, 4),
    (Bundle.NORTH, 13, 6),
    (Bundle.EAST, 19, 4),
)
_SHIM_IN = _indexes(  # A
    (Bundle.TILE_CONTROL, 0, 1),
    (Bundle.FIFO, 1, 2),
    (Bundle.SOUTH, 3, 8),
    (Bundle.WEST, 11, 4),
    (Bundle.NORTH, 15, 4),
    (Bundle.EAST, 19, 4),
    (Bundle.TRACE, 23, 1),
)

AIE1 = Family(
    arch=Arch.AIE1,
    column_shift=23,  # A
    row_shift=18,  # A
    own_by_parity=True,  # A
    windows={  # A
        Direction.SOUTH: 0x20000,
        Direction.WEST: 0x28000,
        Direction.NORTH: 0x30000,
        Direction.EAST: 0x38000,
    },
    lock_windows={Direction.SOUTH: 0, Direction.WEST: 16, Direction.NORTH: 32, Direction.EAST: 48},  # A
    memory={
        TileKind.CORE: Memory(size=0x8000, banks=4, bus=16, vector=16),  # A, vector N
        TileKind.SHIM_NOC: Memory(0, 0, 4, 4),  # A
        TileKind.SHIM_PL: Memory(0, 0, 4, 4),  # A
    },
    locks={TileKind.CORE: Locks(16), TileKind.SHIM_NOC: Locks(16), TileKind.SHIM_PL: Locks(16)},  # A
    dma={
        TileKind.CORE: Dma(
            channels=2,  # A
            bds=16,  # A
            dims=3,  # A, historic: the hardware is two-dimensional
            iteration_bits=0,  # A answers 6, but the architecture has no BD iteration
            max_words=8192,  # A: 13 bits, stored minus one
            wrap_bits=8,  # A
            step_bits=13,  # A
            repeat_max=0,  # D
            ooo_bd_max=0,  # D
            queue_depth=0,  # N
            bd_base=0x1D000,  # A
            bd_pitch=0x20,  # A
            bd_address_offset=0,  # A
            s2mm_control=0x1DE00,  # A
            mm2s_control=0x1DE10,  # R: the model says 8 by an octal slip
        ),
        TileKind.SHIM_NOC: Dma(
            channels=2,  # A
            bds=16,  # A
            dims=3,  # A
            iteration_bits=0,  # as above
            max_words=WORD_MAX,  # A
            wrap_bits=10,  # A
            step_bits=20,  # A
            repeat_max=0,  # D
            ooo_bd_max=0,  # D
            queue_depth=0,  # N
            bd_base=0x1D000,  # A
            bd_pitch=0x14,  # A
            bd_address_offset=0,  # A
            s2mm_control=0x1D140,  # A
            mm2s_control=0x1D150,  # R
            bursts=(64, 128, 256),  # A
        ),
    },
    switch={TileKind.CORE: _CORE, TileKind.SHIM_NOC: _SHIM_NOC, TileKind.SHIM_PL: _SHIM_PL},
    connections={
        TileKind.CORE: _everything(_CORE),
        TileKind.SHIM_NOC: _everything(_SHIM_NOC),
        TileKind.SHIM_PL: _everything(_SHIM_PL),
    },
    port_index={
        TileKind.CORE: (_CORE_OUT, _CORE_IN),
        TileKind.SHIM_NOC: (_SHIM_OUT, _SHIM_IN),
        TileKind.SHIM_PL: (_SHIM_OUT, _SHIM_IN),
    },
    shim_mux=SHIM_MUX,
    stack_align=32,  # N, S
    default_stack_size=1024,  # A, S
    program_memory_size=0x4000,  # N, R
    address_space=0x100000,  # A: where the BCF's last reservation ends
    lock_max_value=1,  # A
    semaphore_locks=False,  # A
    acquire_greater_equal=False,  # A
    multi_dim_bds=False,  # A
    bd_iteration=False,  # A
    out_of_order_dma=False,  # D
    cascade_bits=384,  # A
    cascade_config=False,  # A
)
