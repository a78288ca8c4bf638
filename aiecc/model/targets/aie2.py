"""The AIE2 family: AIE2 (AIE-ML), AIE2p and AIE2ps. The letters are explained in `tables.py`."""

from __future__ import annotations

from dataclasses import replace

from aiecc.model.layout import Direction
from aiecc.model.targets.aie1 import SHIM_MUX, WORD_MAX
from aiecc.model.targets.kinds import Arch, Bundle, TileKind
from aiecc.model.targets.tables import Connections, Dma, Family, Locks, Memory, PortIndex, Ports, Rule

_CORE = {  # A
    Bundle.CORE: Ports(1, 1),
    Bundle.DMA: Ports(2, 2),
    Bundle.FIFO: Ports(1, 1),
    Bundle.NORTH: Ports(6, 4),
    Bundle.SOUTH: Ports(4, 6),
    Bundle.WEST: Ports(4, 4),
    Bundle.EAST: Ports(4, 4),
    Bundle.TRACE: Ports(0, 2),
    Bundle.TILE_CONTROL: Ports(1, 1),
}
_MEM = {  # A
    Bundle.DMA: Ports(6, 6),
    Bundle.NORTH: Ports(6, 4),
    Bundle.SOUTH: Ports(4, 6),
    Bundle.TRACE: Ports(0, 1),
    Bundle.TILE_CONTROL: Ports(1, 1),
}
_SHIM_PL = {  # A
    Bundle.FIFO: Ports(1, 1),
    Bundle.NORTH: Ports(6, 4),
    Bundle.SOUTH: Ports(6, 8),
    Bundle.WEST: Ports(4, 4),
    Bundle.EAST: Ports(4, 4),
    Bundle.TRACE: Ports(0, 1),
}
_SHIM_NOC = {**_SHIM_PL, Bundle.TILE_CONTROL: Ports(1, 1)}  # A

_SIDES = (Bundle.SOUTH, Bundle.WEST, Bundle.NORTH, Bundle.EAST)


def _core_connections() -> Connections:
    outs = (Bundle.CORE, Bundle.DMA, Bundle.TILE_CONTROL, Bundle.FIFO, *_SIDES)
    table: dict[Bundle, dict[Bundle, Rule]] = {
        b: {o: "same" if o is b else "any" for o in outs} for b in (Bundle.DMA, Bundle.FIFO, *_SIDES)
    }
    table[Bundle.CORE] = {o: "any" for o in outs if o is not Bundle.CORE}
    table[Bundle.TILE_CONTROL] = {o: "any" for o in outs if o not in (Bundle.TILE_CONTROL, Bundle.DMA)}
    table[Bundle.TRACE] = {Bundle.DMA: 0, Bundle.FIFO: "any", Bundle.SOUTH: "any"}
    return table


def _shim_connections() -> Connections:
    outs = (Bundle.TILE_CONTROL, Bundle.FIFO, *_SIDES)
    table: dict[Bundle, dict[Bundle, Rule]] = {
        Bundle.TILE_CONTROL: {o: "any" for o in outs if o is not Bundle.TILE_CONTROL},
        Bundle.FIFO: dict.fromkeys(outs, "any"),
        Bundle.SOUTH: dict.fromkeys(outs, "any"),
        Bundle.TRACE: {Bundle.FIFO: "any", Bundle.SOUTH: "any", Bundle.WEST: 0, Bundle.EAST: 0},
    }
    for b in (Bundle.WEST, Bundle.NORTH, Bundle.EAST):
        table[b] = {o: "same" if o is b else "any" for o in outs}
    return table


_MEM_CONNECTIONS: Connections = {  # A
    Bundle.DMA: {Bundle.DMA: "same", Bundle.TILE_CONTROL: "any", Bundle.SOUTH: "any", Bundle.NORTH: "any"},
    Bundle.TILE_CONTROL: {Bundle.DMA: 5, Bundle.SOUTH: "any", Bundle.NORTH: "any"},
    Bundle.SOUTH: {Bundle.DMA: "any", Bundle.TILE_CONTROL: "any", Bundle.SOUTH: "same", Bundle.NORTH: "same"},
    Bundle.NORTH: {Bundle.DMA: "any", Bundle.TILE_CONTROL: "any", Bundle.SOUTH: "same", Bundle.NORTH: "same"},
    Bundle.TRACE: {Bundle.DMA: 5, Bundle.SOUTH: "any"},
}


def _indexes(*runs: tuple[Bundle, int, int]) -> dict[Bundle, PortIndex]:
    return {bundle: PortIndex(first, count) for bundle, first, count in runs}


_CORE_OUT = _indexes(  # A
    (Bundle.CORE, 0, 1),
    (Bundle.DMA, 1, 2),
    (Bundle.TILE_CONTROL, 3, 1),
    (Bundle.FIFO, 4, 1),
    (Bundle.SOUTH, 5, 4),
    (Bundle.WEST, 9, 4),
    (Bundle.NORTH, 13, 6),
    (Bundle.EAST, 19, 4),
)
_CORE_IN = _indexes(  # A
    (Bundle.CORE, 0, 1),
    (Bundle.DMA, 1, 2),
    (Bundle.TILE_CONTROL, 3, 1),
    (Bundle.FIFO, 4, 1),
    (Bundle.SOUTH, 5, 6),
    (Bundle.WEST, 11, 4),
    (Bundle.NORTH, 15, 4),
    (Bundle.EAST, 19, 4),
    (Bundle.TRACE, 23, 2),
)
_MEM_OUT = _indexes(  # A
    (Bundle.DMA, 0, 6), (Bundle.TILE_CONTROL, 6, 1), (Bundle.SOUTH, 7, 4), (Bundle.NORTH, 11, 6)
)
_MEM_IN = _indexes(  # A
    (Bundle.DMA, 0, 6),
    (Bundle.TILE_CONTROL, 6, 1),
    (Bundle.SOUTH, 7, 6),
    (Bundle.NORTH, 13, 4),
    (Bundle.TRACE, 17, 1),
)
_SHIM_OUT = _indexes(  # A
    (Bundle.TILE_CONTROL, 0, 1),
    (Bundle.FIFO, 1, 1),
    (Bundle.SOUTH, 2, 6),
    (Bundle.WEST, 8, 4),
    (Bundle.NORTH, 12, 6),
    (Bundle.EAST, 18, 4),
)
_SHIM_IN = _indexes(  # A
    (Bundle.TILE_CONTROL, 0, 1),
    (Bundle.FIFO, 1, 1),
    (Bundle.SOUTH, 2, 8),
    (Bundle.WEST, 10, 4),
    (Bundle.NORTH, 14, 4),
    (Bundle.EAST, 18, 4),
    (Bundle.TRACE, 22, 2),  # two numbers although there is one port
)

_CORE_DMA = Dma(
    channels=2,  # A
    bds=16,  # A
    dims=3,  # A
    iteration_bits=6,  # A
    max_words=16383,  # A: 14 bits
    wrap_bits=8,  # A
    step_bits=13,  # A
    repeat_max=255,  # D
    ooo_bd_max=63,  # D
    queue_depth=4,  # N
    bd_base=0x1D000,  # A
    bd_pitch=0x20,  # A
    bd_address_offset=0,  # A
    s2mm_control=0x1DE00,  # A
    mm2s_control=0x1DE10,  # A
    s2mm_status=0x1DF00,  # R
    mm2s_status=0x1DF10,  # R
)
_MEM_DMA = Dma(
    channels=6,  # A
    bds=48,  # A
    dims=4,  # A
    iteration_bits=6,  # A
    max_words=131071,  # A: 17 bits
    wrap_bits=10,  # A
    step_bits=17,  # A
    repeat_max=255,  # D
    ooo_bd_max=63,  # D
    queue_depth=4,  # N
    bd_base=0xA0000,  # A
    bd_pitch=0x20,  # A
    bd_address_offset=4,  # A
    s2mm_control=0xA0600,  # A
    mm2s_control=0xA0630,  # A
    s2mm_status=0xA0660,  # R
    mm2s_status=0xA0680,  # R
    parity_split=True,  # A
    local_from=4,  # A
    zero_pad=True,  # A
)
_SHIM_DMA = Dma(
    channels=2,  # A
    bds=16,  # A
    dims=3,  # A
    iteration_bits=6,  # A
    max_words=WORD_MAX,  # A
    wrap_bits=10,  # A
    step_bits=20,  # A
    repeat_max=255,  # D
    ooo_bd_max=63,  # D
    queue_depth=4,  # N
    bd_base=0x1D000,  # A
    bd_pitch=0x20,  # A
    bd_address_offset=4,  # A
    s2mm_control=0x1D200,  # A
    mm2s_control=0x1D210,  # A
    s2mm_status=0x1D220,  # R
    mm2s_status=0x1D228,  # R
    bursts=(64, 128, 256),  # A
)

AIE2 = Family(
    arch=Arch.AIE2,
    column_shift=25,  # A
    row_shift=20,  # A
    own_by_parity=False,  # A
    windows={  # A
        Direction.SOUTH: 0x40000,
        Direction.WEST: 0x50000,
        Direction.NORTH: 0x60000,
        Direction.EAST: 0x70000,
    },
    lock_windows={Direction.SOUTH: 0, Direction.WEST: 16, Direction.NORTH: 32, Direction.EAST: 48},  # A
    memory={
        TileKind.CORE: Memory(size=0x10000, banks=4, bus=32, vector=32),  # A, vector N
        TileKind.MEM: Memory(size=0x80000, banks=8, bus=4, vector=4),  # A
        TileKind.SHIM_NOC: Memory(0, 0, 4, 4),  # A
        TileKind.SHIM_PL: Memory(0, 0, 4, 4),  # A
    },
    locks={  # A
        TileKind.CORE: Locks(16, 0x1F000),
        TileKind.MEM: Locks(64, 0xC0000),
        TileKind.SHIM_NOC: Locks(16, 0x14000),
        TileKind.SHIM_PL: Locks(16, 0x14000),
    },
    dma={TileKind.CORE: _CORE_DMA, TileKind.MEM: _MEM_DMA, TileKind.SHIM_NOC: _SHIM_DMA},
    switch={
        TileKind.CORE: _CORE,
        TileKind.MEM: _MEM,
        TileKind.SHIM_NOC: _SHIM_NOC,
        TileKind.SHIM_PL: _SHIM_PL,
    },
    connections={
        TileKind.CORE: _core_connections(),
        TileKind.MEM: _MEM_CONNECTIONS,
        TileKind.SHIM_NOC: _shim_connections(),
        TileKind.SHIM_PL: _shim_connections(),
    },
    port_index={
        TileKind.CORE: (_CORE_OUT, _CORE_IN),
        TileKind.MEM: (_MEM_OUT, _MEM_IN),
        TileKind.SHIM_NOC: (_SHIM_OUT, _SHIM_IN),
        TileKind.SHIM_PL: ({}, {}),
    },
    shim_mux=SHIM_MUX,
    stack_align=32,  # N, S
    default_stack_size=1024,  # A, S
    program_memory_size=0x4000,  # N, R
    address_space=0x100000,  # N
    lock_max_value=63,  # A
    semaphore_locks=True,  # A
    acquire_greater_equal=True,  # A
    multi_dim_bds=True,  # A
    bd_iteration=True,  # A
    out_of_order_dma=True,  # D
    cascade_bits=512,  # A
    cascade_config=True,  # A
    dma_windows={Direction.WEST: 0, None: 0x80000, Direction.EAST: 0x100000},  # A
    dma_lock_windows={Direction.WEST: 0, None: 64, Direction.EAST: 128},  # A
)

_WIDE_CORE = Memory(size=0x10000, banks=4, bus=32, vector=64)  # A, vector N

AIE2P = replace(
    AIE2,
    arch=Arch.AIE2P,
    memory={**AIE2.memory, TileKind.CORE: _WIDE_CORE},
    stack_align=64,  # N, S
    dma={
        **AIE2.dma,
        TileKind.MEM: replace(_MEM_DMA, pad_value=True),  # A
        TileKind.SHIM_NOC: replace(_SHIM_DMA, bursts=(64, 128, 256, 512)),  # A
    },
)

AIE2PS = replace(
    AIE2,
    arch=Arch.AIE2PS,
    memory={**AIE2.memory, TileKind.CORE: _WIDE_CORE},
    stack_align=64,  # N, S
    dma={
        TileKind.CORE: replace(_CORE_DMA, s2mm_status=None, mm2s_status=None),  # I, status N: none given
        TileKind.MEM: replace(_MEM_DMA, s2mm_status=None, mm2s_status=None),  # I, status N
        TileKind.SHIM_NOC: replace(
            _SHIM_DMA,
            bd_base=0x9000,  # N
            bd_pitch=0x30,  # N
            s2mm_control=0x9300,  # N
            mm2s_control=0x9310,  # N
            s2mm_status=None,  # N
            mm2s_status=None,  # N
            bursts=(64, 128, 256, 512),  # N
        ),
    },
    switch={**AIE2.switch, TileKind.SHIM_NOC: {**_SHIM_NOC, Bundle.CONTROLLER: Ports(1, 1)}},  # N
    port_index={
        **AIE2.port_index,
        TileKind.SHIM_NOC: (
            {**_SHIM_OUT, Bundle.CONTROLLER: PortIndex(22, 1)},  # N
            {**_SHIM_IN, Bundle.TRACE: PortIndex(22, 1), Bundle.CONTROLLER: PortIndex(23, 1)},  # N
        ),
    },
)
