"""Device tables: locks, DMA, descriptors, registers."""

import pytest

from aiecc.model import targets
from aiecc.model.targets import DmaDirection, TileKind

CORE, MEM, NOC, PL = TileKind.CORE, TileKind.MEM, TileKind.SHIM_NOC, TileKind.SHIM_PL
S2MM, MM2S = DmaDirection.S2MM, DmaDirection.MM2S


def test_lock_counts_and_values():
    aie1, aie2 = targets.get("xcvc1902"), targets.get("npu1")
    assert [aie1.lock_count(k) for k in (CORE, MEM, NOC, PL)] == [16, 0, 16, 16]
    assert [aie2.lock_count(k) for k in (CORE, MEM, NOC)] == [16, 64, 16]
    assert (aie1.lock_max_value, aie2.lock_max_value) == (1, 63)
    assert not aie1.family.acquire_greater_equal and aie2.family.acquire_greater_equal


def test_locks_as_a_core_counts_them():
    aie1, aie2 = targets.get("xcvc1902"), targets.get("npu1")
    assert aie2.core_lock((1, 3), (1, 3), 3) == 51
    assert aie2.core_lock((1, 3), (1, 4), 3) == 35
    assert aie2.core_lock((1, 3), (0, 3), 3) == 19
    assert aie2.core_lock((1, 3), (1, 2), 3) == 3
    assert aie2.core_lock((1, 3), (2, 3), 3) is None
    assert aie1.core_lock((5, 4), (5, 4), 3) == 19
    assert aie1.core_lock((5, 3), (5, 3), 3) == 51


@pytest.mark.parametrize(
    ("name", "at", "lock", "address"),
    [
        ("npu1", (3, 5), 15, 0x0651F0F0),
        ("npu1", (0, 1), 63, 0x001C03F0),
        ("npu1", (0, 0), 0, 0x00014000),
        ("npu1", (3, 5), 16, None),
        ("npu1", (0, 1), 64, None),
        ("npu1", (0, 1), -1, None),
        ("xcvc1902", (3, 5), 0, None),
        ("npu1", (9, 9), 0, None),
    ],
)
def test_lock_addresses(name, at, lock, address):
    assert targets.get(name).lock_address(*at, lock) == address


@pytest.mark.parametrize(
    ("name", "at", "bd", "address"),
    [
        ("xcvc1902", (1, 3), 5, 0x008DD0A0),
        ("xcvc1902", (2, 0), 5, 0x0101D064),
        ("npu1", (1, 2), 5, 0x0221D0A0),
        ("npu1", (1, 1), 47, 0x021A05E0),
        ("npu1", (3, 0), 15, 0x0601D1E0),
        ("xcve3858", (2, 0), 3, (2 << 25) | 0x9090),
        ("npu1", (3, 0), 16, None),
        ("xcve2302", (0, 0), 0, None),
    ],
)
def test_bd_addresses(name, at, bd, address):
    assert targets.get(name).bd_address(*at, bd) == address


@pytest.mark.parametrize(
    ("name", "at", "direction", "channel", "address"),
    [
        ("npu1", (1, 1), MM2S, 5, 0x021A0658),
        ("npu1", (2, 4), MM2S, 1, 0x0441DE18),
        ("npu1", (0, 0), S2MM, 0, 0x0001D200),
        ("npu1", (0, 0), MM2S, 0, 0x0001D210),
        ("xcve3858", (2, 0), S2MM, 1, (2 << 25) | 0x9308),
        ("xcve3858", (2, 0), MM2S, 1, (2 << 25) | 0x9318),
        ("xcvc1902", (1, 3), S2MM, 1, 0x008DDE08),
        ("xcvc1902", (1, 3), MM2S, 0, 0x008DDE10),
        ("npu1", (1, 1), MM2S, 6, None),
        ("xcve2302", (0, 0), S2MM, 0, None),
    ],
)
def test_channel_registers(name, at, direction, channel, address):
    t = targets.get(name)
    assert t.channel_control(*at, direction, channel) == address
    assert t.channel_queue(*at, direction, channel) == (None if address is None else address + 4)


@pytest.mark.usefixtures("only_built_in_devices")
def test_no_two_channels_share_a_register():
    for name in targets.names():
        t = targets.get(name)
        for kind in (CORE, MEM, NOC):
            at = next((tile for tile in t.tiles() if t.tile_kind(*tile) is kind), None)
            if at is None:
                continue
            every = [t.channel_control(*at, d, c) for d in DmaDirection for c in range(t.dma_channels(kind))]
            assert len(set(every)) == len(every) == 2 * t.dma_channels(kind)


def test_status_registers():
    t = targets.get("npu2")
    assert t.channel_status(0, 0, MM2S, 0) == 0x1D228
    assert t.channel_status(0, 1, MM2S, 0) == 0x1A0680
    assert targets.get("xcve3858").channel_status(0, 0, MM2S, 0) is None
    assert targets.get("xcvc1902").channel_status(2, 0, MM2S, 0) is None


def test_base_address_word():
    aie1, aie2 = targets.get("xcvc1902"), targets.get("npu1")
    assert [aie1.bd_address_offset(k) for k in (CORE, NOC)] == [0, 0]
    assert [aie2.bd_address_offset(k) for k in (CORE, MEM, NOC)] == [0, 4, 4]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [  # channels, bds, dims, words, bytes, wrap, step, iteration, repeat, out of order, queue
        ("xcvc1902", CORE, (2, 16, 3, 8192, 32768, 255, 8192, 1, 0, 0, 0)),
        ("xcvc1902", NOC, (2, 16, 3, 2**32 - 1, 17179869180, 1023, 1048576, 1, 0, 0, 0)),
        ("npu1", CORE, (2, 16, 3, 16383, 65532, 255, 8192, 64, 255, 63, 4)),
        ("npu2", MEM, (6, 48, 4, 131071, 524284, 1023, 131072, 64, 255, 63, 4)),
        ("xcve3858", NOC, (2, 16, 3, 2**32 - 1, 17179869180, 1023, 1048576, 64, 255, 63, 4)),
    ],
)
def test_dma_limits(name, kind, expected):
    d = targets.get(name).dma(kind)
    found = (d.channels, d.bds, d.dims, d.max_words, d.max_bytes, d.max_wrap, d.max_step)
    assert (*found, d.max_iteration, d.repeat_max, d.ooo_bd_max, d.queue_depth) == expected


def test_no_dma_in_the_logic():
    assert targets.get("xcve2302").dma(PL) is None
    assert targets.get("xcvc1902").dma(MEM) is None
    assert targets.get("xcve2302").dma_channels(PL) == 0


def test_memory_tile_descriptors_go_by_parity():
    dma = targets.get("npu1").dma(MEM)
    assert dma.bds_per_channel == 24
    assert {c: (dma.bd_ids(c)[0], dma.bd_ids(c)[-1]) for c in range(6)} == {
        0: (0, 23),
        2: (0, 23),
        4: (0, 23),
        1: (24, 47),
        3: (24, 47),
        5: (24, 47),
    }
    assert targets.get("npu1").dma(CORE).bd_ids(1) == range(16)


def test_padding_and_bursts():
    pads = {n: targets.get(n).dma(MEM).pad_value for n in ("npu1", "npu2", "npu2_3col", "xcve3858", "xcve2802")}
    assert pads == {"npu1": False, "npu2": True, "npu2_3col": True, "xcve3858": False, "xcve2802": False}
    assert targets.get("npu1").dma(MEM).zero_pad and not targets.get("npu1").dma(CORE).zero_pad
    assert targets.get("npu1").dma(NOC).bursts == (64, 128, 256)
    assert targets.get("npu2").dma(NOC).bursts == targets.get("xcve3858").dma(NOC).bursts == (64, 128, 256, 512)


def test_memory_tile_windows():
    t = targets.get("npu1")
    assert [t.dma_offset((1, 1), (c, 1)) for c in (0, 1, 2, 3)] == [0, 0x80000, 0x100000, None]
    assert [t.dma_lock_offset((1, 1), (c, 1)) for c in (0, 1, 2, 3)] == [0, 64, 128, None]
    assert t.dma_offset((0, 3), (0, 3)) == 0
    assert t.dma_offset((0, 3), (0, 2)) is None
    assert targets.get("xcve2802").dma_offset((1, 1), (1, 2)) is None


def test_what_channels_reach():
    t = targets.get("npu1")
    assert [t.dma_reaches((1, 1), (2, 1), c) for c in range(7)] == [True] * 4 + [False] * 3
    assert [t.dma_reaches((1, 1), (1, 1), c) for c in range(7)] == [True] * 6 + [False]
    assert t.dma_reaches((1, 2), (1, 2), 0)
    assert not t.dma_reaches((1, 2), (1, 3), 0)  # the core reaches it, its DMA does not
