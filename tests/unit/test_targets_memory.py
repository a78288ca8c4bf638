"""Device tables: arrays, memory, windows and who reaches whom."""

import copy
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from aiecc.model import targets
from aiecc.model.layout import Direction
from aiecc.model.targets import Arch, Sharing, TileKind, UnknownTarget

pytestmark = pytest.mark.usefixtures("only_built_in_devices")
CORE, MEM, NOC, PL = TileKind.CORE, TileKind.MEM, TileKind.SHIM_NOC, TileKind.SHIM_PL
SOUTH, WEST, NORTH, EAST = Direction.SOUTH, Direction.WEST, Direction.NORTH, Direction.EAST

ARRAYS = {  # name: number, arch, columns, rows, (core, mem, NOC, PL) tiles
    "xcvc1902": (1, Arch.AIE1, 50, 9, (400, 0, 16, 34)),
    "xcve2302": (2, Arch.AIE2, 17, 4, (34, 17, 6, 11)),
    "xcve2802": (3, Arch.AIE2, 38, 11, (304, 76, 12, 26)),
    "npu1": (4, Arch.AIE2, 4, 6, (16, 4, 4, 0)),
    "npu1_1col": (5, Arch.AIE2, 1, 6, (4, 1, 1, 0)),
    "npu1_2col": (6, Arch.AIE2, 2, 6, (8, 2, 2, 0)),
    "npu1_3col": (7, Arch.AIE2, 3, 6, (12, 3, 3, 0)),
    "npu2": (8, Arch.AIE2P, 8, 6, (32, 8, 8, 0)),
    "npu2_1col": (9, Arch.AIE2P, 1, 6, (4, 1, 1, 0)),
    "npu2_2col": (10, Arch.AIE2P, 2, 6, (8, 2, 2, 0)),
    "npu2_3col": (11, Arch.AIE2P, 3, 6, (12, 3, 3, 0)),
    "npu2_4col": (12, Arch.AIE2P, 4, 6, (16, 4, 4, 0)),
    "npu2_5col": (13, Arch.AIE2P, 5, 6, (20, 5, 5, 0)),
    "npu2_6col": (14, Arch.AIE2P, 6, 6, (24, 6, 6, 0)),
    "npu2_7col": (15, Arch.AIE2P, 7, 6, (28, 7, 7, 0)),
    "xcve3858": (16, Arch.AIE2PS, 36, 7, (144, 72, 36, 0)),
}


def test_every_device_is_there_and_no_other():
    assert targets.names() == tuple(ARRAYS)


@pytest.mark.parametrize("name", ARRAYS)
def test_array_shape(name):
    target = targets.get(name)
    number, arch, columns, rows, counts = ARRAYS[name]
    assert (target.number, target.arch, target.columns, target.rows) == (number, arch, columns, rows)
    kinds = Counter(target.tile_kind(*t) for t in target.tiles())
    assert (kinds[CORE], kinds[MEM], kinds[NOC], kinds[PL]) == counts
    assert all(target.tile_kind(c, 0) in (NOC, PL) for c in range(columns))


@pytest.mark.parametrize("at", [(-1, 0), (0, -1), (4, 0), (0, 6), (99, 99)])
def test_off_the_array_there_is_nothing(at):
    assert targets.get("npu1").tile_kind(*at) is None


def test_unknown_device_is_named_with_the_known_ones():
    with pytest.raises(UnknownTarget, match=r"unknown device 'npu1_4col'; known devices are: xcvc1902, .*xcve3858$"):
        targets.get("npu1_4col")


def test_noc_columns():
    assert [c for c in range(17) if targets.get("xcve2302").tile_kind(c, 0) is NOC] == [2, 3, 6, 7, 10, 11]
    big = targets.get("xcve2802")
    assert [c for c in range(38) if big.tile_kind(c, 0) is NOC] == [2, 3, 6, 7, 14, 15, 22, 23, 30, 31, 34, 35]
    assert targets.get("xcvc1902").tile_kind(47, 0) is NOC
    assert targets.get("xcvc1902").tile_kind(48, 0) is PL


def test_flags():
    get = targets.get
    assert not get("xcvc1902").semaphore_locks and get("xcve2302").semaphore_locks
    assert not get("xcvc1902").multi_dim_bds and get("npu1").multi_dim_bds
    assert not get("xcvc1902").out_of_order_dma and get("xcve3858").out_of_order_dma
    assert [t for t in targets.names() if get(t).virtual] == [
        t for t in targets.names() if t.startswith("npu") and t != "npu2"
    ]
    assert [t for t in targets.names() if not get(t).npu] == ["xcvc1902", "xcve2302", "xcve2802"]
    assert (get("npu1").txn_generation, get("npu2_3col").txn_generation, get("xcve3858").txn_generation) == (3, 4, 3)
    assert get("npu2").block_floats and not get("npu1").block_floats and not get("xcve3858").block_floats


def test_python_names():
    assert [targets.get(n).python_name for n in ("npu1", "npu1_2col", "npu2_7col", "xcvc1902")] == [
        "NPU1",
        "NPU1Col2",
        "NPU2Col7",
        "XCVC1902",
    ]


@pytest.mark.parametrize(
    ("name", "size", "bank", "bus", "vector", "stack"),
    [
        ("xcvc1902", 0x8000, 0x2000, 16, 16, 32),
        ("npu1", 0x10000, 0x4000, 32, 32, 32),
        ("npu2", 0x10000, 0x4000, 32, 64, 64),
        ("xcve3858", 0x10000, 0x4000, 32, 64, 64),
    ],
)
def test_core_memory(name, size, bank, bus, vector, stack):
    t = targets.get(name)
    assert (t.memory_size(CORE), t.banks(CORE), t.bank_size(CORE)) == (size, 4, bank)
    assert (t.bus_align(CORE), t.vector_align(CORE), t.stack_align) == (bus, vector, stack)
    assert (t.default_stack_size, t.program_memory_size, t.address_space) == (1024, 0x4000, 0x100000)
    assert t.window_size == size


def test_memory_of_other_tiles():
    t = targets.get("npu2")
    assert (t.memory_size(MEM), t.banks(MEM), t.bank_size(MEM), t.bus_align(MEM)) == (0x80000, 8, 0x10000, 4)
    assert (t.memory_size(NOC), t.banks(NOC), t.bank_size(NOC)) == (0, 0, 0)
    assert targets.get("xcvc1902").memory_size(MEM) == 0


def test_windows():
    aie1, aie2 = targets.get("xcvc1902"), targets.get("npu1")
    assert [aie1.window_base(d) for d in (SOUTH, WEST, NORTH, EAST)] == [0x20000, 0x28000, 0x30000, 0x38000]
    assert [aie2.window_base(d) for d in (SOUTH, WEST, NORTH, EAST)] == [0x40000, 0x50000, 0x60000, 0x70000]
    assert (aie1.own_base(2, 4), aie1.own_base(2, 3)) == (0x28000, 0x38000)
    assert {aie2.own_base(c, r) for c in range(4) for r in range(2, 6)} == {0x70000}


def test_core_neighbours_aie2():
    t = targets.get("npu1")
    assert [t.neighbour_memory(1, 3, d) for d in (SOUTH, WEST, NORTH, EAST)] == [(1, 2), (0, 3), (1, 4), (1, 3)]
    assert t.neighbour_memory(1, 2, SOUTH) is None  # a memory tile
    assert t.neighbour_memory(0, 3, WEST) is None
    assert t.neighbour_memory(0, 5, NORTH) is None
    assert targets.get("xcve2802").neighbour_memory(4, 3, SOUTH) is None


def test_core_neighbours_aie1():
    t = targets.get("xcvc1902")
    assert [t.neighbour_memory(5, 4, d) for d in (SOUTH, WEST, NORTH, EAST)] == [(5, 3), (5, 4), (5, 5), (6, 4)]
    assert [t.neighbour_memory(5, 3, d) for d in (SOUTH, WEST, NORTH, EAST)] == [(5, 2), (4, 3), (5, 4), (5, 3)]
    assert t.neighbour_memory(5, 1, SOUTH) is None  # a shim
    assert t.neighbour_memory(49, 4, EAST) is None


def test_shims_see_no_memory():
    t = targets.get("xcvc1902")
    assert [t.neighbour_memory(5, 0, d) for d in Direction] == [None] * 4
    assert not t.reaches((5, 0), (5, 0))
    assert t.reaches_lock((5, 0), (5, 0))
    assert not t.reaches_lock((5, 0), (5, 1))


def test_reaching_is_by_the_table():
    t = targets.get("npu1")
    assert {o for o in t.tiles() if t.reaches((1, 3), o)} == {(1, 3), (1, 2), (1, 4), (0, 3)}
    assert {o for o in t.tiles() if t.reaches((1, 1), o)} == {(0, 1), (1, 1), (2, 1)}
    two_rows = targets.get("xcve2802")
    assert not two_rows.reaches((4, 1), (4, 2))


def test_shared_pairs():
    t = targets.get("npu1")
    assert t.shared((1, 3), (2, 3)) is Sharing.FIRST
    assert t.shared((2, 3), (1, 3)) is Sharing.SECOND
    assert t.shared((1, 3), (1, 4)) is Sharing.EITHER
    assert t.shared((1, 3), (2, 4)) is Sharing.NONE
    assert t.shared((0, 1), (1, 1)) is Sharing.EITHER
    assert t.shared((0, 1), (0, 2)) is Sharing.NONE
    assert t.shared((0, 0), (0, 1)) is Sharing.NONE
    old = targets.get("xcvc1902")
    assert old.shared((5, 4), (6, 4)) is Sharing.SECOND  # even row: the eastern tile's
    assert old.shared((5, 3), (6, 3)) is Sharing.FIRST  # odd row: the western tile's


def test_a_third_tile_can_be_common():
    t = targets.get("npu1")
    assert t.common_memories((1, 2), (1, 4)) == ((1, 3),)
    assert t.common_memories((1, 2), (0, 3)) == ((0, 2),)
    assert t.common_memories((1, 3), (1, 4)) == ((1, 3), (1, 4))
    assert t.common_memories((1, 2), (3, 5)) == ()


def test_absolute_addresses():
    t = targets.get("npu2")
    assert t.core_address((0, 2), (0, 2), 0x8000) == 0x78000
    assert t.core_address((0, 2), (0, 3), 0x1000) == 0x61000
    assert t.core_address((0, 2), (1, 2)) is None
    assert t.core_address((0, 1), (0, 1)) is None
    assert targets.get("xcvc1902").core_address((2, 4), (3, 4)) == 0x38000


def test_memory_space_banks():
    spaces = {5: (0,), 6: (1,), 7: (2,), 8: (3,), 9: (0, 1), 10: (0, 2), 11: (0, 3), 12: (1, 2), 13: (1, 3), 14: (2, 3)}
    assert {s: targets.memory_space_banks(s) for s in range(16) if targets.memory_space_banks(s)} == spaces
    assert targets.memory_space_banks(None) is None


def test_registration():
    mine = replace(targets.get("npu1"), name="test_only_npu", number=99)
    targets.register(mine)
    try:
        assert targets.get("test_only_npu").columns == 4
        targets.register(copy.deepcopy(mine))
        with pytest.raises(ValueError, match="already known"):
            targets.register(replace(mine, columns=3))
    finally:
        targets._registry.pop("test_only_npu")


def test_fingerprints_tell_devices_apart_and_are_stable():
    prints = {targets.get(n).fingerprint for n in targets.names()}
    assert len(prints) == len(targets.names())
    code = "from aiecc.model import targets; print(targets.get('npu2').fingerprint)"
    for seed in ("1", "2"):
        out = subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True)
        assert out.stdout.strip() == targets.get("npu2").fingerprint
