"""Device tables: stream switches, shim muxes, packets, cascades."""

import pytest

from aiecc.model import targets
from aiecc.model.layout import Direction
from aiecc.model.targets import Bundle, PortSide, TileKind

B = Bundle
IN, OUT = PortSide.IN, PortSide.OUT
CORE, MEM, NOC, PL = TileKind.CORE, TileKind.MEM, TileKind.SHIM_NOC, TileKind.SHIM_PL


def _ports(target, at, side):
    return [(b, i) for b in Bundle for i in range(target.ports(*at, b, side))]


@pytest.mark.parametrize(
    ("name", "at", "ins", "outs", "pairs"),
    [
        ("xcvc1902", (5, 4), 27, 25, 633),
        ("xcvc1902", (0, 8), 19, 15, 263),
        ("xcvc1902", (6, 0), 24, 23, 535),
        ("xcvc1902", (5, 0), 23, 22, 490),
        ("npu1", (1, 3), 25, 23, 471),
        ("npu1", (1, 5), 21, 17, 285),
        ("npu1", (0, 3), 21, 19, 315),
        ("npu1", (0, 5), 17, 13, 169),
        ("npu1_1col", (0, 3), 17, 15, 191),
        ("npu1_1col", (0, 5), 13, 9, 85),
        ("npu1", (1, 1), 18, 17, 176),
        ("npu1", (1, 0), 23, 22, 448),
        ("npu1", (0, 0), 19, 18, 299),
        ("npu1_1col", (0, 0), 15, 14, 182),
        ("xcve2802", (5, 0), 22, 21, 406),
        ("xcve3858", (5, 3), 25, 23, 471),
    ],
)
def test_ports_and_legal_pairs(name, at, ins, outs, pairs):
    t = targets.get(name)
    sources, dests = _ports(t, at, IN), _ports(t, at, OUT)
    assert (len(sources), len(dests)) == (ins, outs)
    assert sum(t.legal_connection(*at, *s, *d) for s in sources for d in dests) == pairs


@pytest.mark.parametrize("name", ["xcvc1902", "xcve2302", "xcve2802", "npu1", "npu2", "npu1_1col", "xcve3858"])
def test_wires_match_across_every_border(name):
    t = targets.get(name)
    for col, row in t.tiles():
        if row + 1 < t.rows:
            assert t.ports(col, row, B.NORTH, OUT) == t.ports(col, row + 1, B.SOUTH, IN)
            assert t.ports(col, row, B.NORTH, IN) == t.ports(col, row + 1, B.SOUTH, OUT)
        if col + 1 < t.columns:
            assert t.ports(col, row, B.EAST, OUT) == t.ports(col + 1, row, B.WEST, IN)
            assert t.ports(col, row, B.EAST, IN) == t.ports(col + 1, row, B.WEST, OUT)
        assert t.ports(col, row, B.FIFO, IN) == t.ports(col, row, B.FIFO, OUT)
    for row in range(t.rows):
        assert t.ports(0, row, B.WEST, OUT) == t.ports(t.columns - 1, row, B.EAST, IN) == 0
    assert t.ports(0, t.rows - 1, B.NORTH, OUT) == 0


def test_controller_port():
    assert targets.get("xcve3858").ports(3, 0, B.CONTROLLER, OUT) == 1
    assert targets.get("npu2").ports(3, 0, B.CONTROLLER, OUT) == 0
    assert len(_ports(targets.get("xcve3858"), (5, 0), IN)) == 24


@pytest.mark.parametrize(
    ("at", "source", "dest", "legal"),
    [
        ((1, 1), (B.SOUTH, 3), (B.NORTH, 3), True),
        ((1, 1), (B.SOUTH, 3), (B.NORTH, 2), False),
        ((1, 1), (B.SOUTH, 3), (B.SOUTH, 3), True),
        ((1, 1), (B.SOUTH, 5), (B.SOUTH, 5), False),  # four wires down
        ((1, 1), (B.DMA, 2), (B.DMA, 2), True),
        ((1, 1), (B.DMA, 2), (B.DMA, 3), False),
        ((1, 1), (B.TILE_CONTROL, 0), (B.DMA, 5), True),
        ((1, 1), (B.TILE_CONTROL, 0), (B.DMA, 4), False),
        ((1, 1), (B.TRACE, 0), (B.NORTH, 0), False),
        ((1, 3), (B.CORE, 0), (B.CORE, 0), False),
        ((1, 3), (B.CORE, 0), (B.DMA, 1), True),
        ((1, 3), (B.TRACE, 0), (B.DMA, 0), True),
        ((1, 3), (B.TRACE, 0), (B.DMA, 1), False),
        ((1, 3), (B.NORTH, 2), (B.NORTH, 2), True),
        ((1, 3), (B.NORTH, 2), (B.NORTH, 3), False),
        ((1, 3), (B.TILE_CONTROL, 0), (B.DMA, 0), False),
        ((1, 3), (B.CORE, 0), (B.CORE, 7), False),
        ((1, 0), (B.SOUTH, 3), (B.SOUTH, 2), True),
        ((1, 0), (B.NORTH, 3), (B.NORTH, 2), False),
        ((1, 0), (B.TRACE, 0), (B.WEST, 0), True),
        ((1, 0), (B.TRACE, 0), (B.WEST, 1), False),
        ((9, 9), (B.CORE, 0), (B.DMA, 0), False),
    ],
)
def test_connections_of_npu1(at, source, dest, legal):
    assert targets.get("npu1").legal_connection(*at, *source, *dest) is legal


def test_aie1_trace_goes_south_only():
    t = targets.get("xcvc1902")
    assert t.legal_connection(5, 4, B.TRACE, 1, B.SOUTH, 3)
    assert not t.legal_connection(5, 4, B.TRACE, 1, B.FIFO, 0)
    assert t.legal_connection(5, 4, B.CORE, 0, B.CORE, 1)


def test_shim_mux():
    t = targets.get("npu1")
    assert [t.shim_mux_ports(0, 0, b, OUT) for b in (B.DMA, B.NOC, B.PLIO, B.SOUTH)] == [2, 4, 6, 8]
    assert [t.shim_mux_ports(0, 0, b, IN) for b in (B.DMA, B.NOC, B.PLIO, B.SOUTH)] == [2, 4, 8, 6]
    assert t.shim_mux_ports(0, 2, B.DMA, OUT) == 0
    assert [t.shim_mux.into[B.DMA, i] for i in range(2)] == [3, 7]
    assert [t.shim_mux.into[B.NOC, i] for i in range(4)] == [2, 3, 6, 7]
    assert [t.shim_mux.out_of[B.DMA, i] for i in range(2)] == [2, 3]
    assert [t.shim_mux.out_of[B.NOC, i] for i in range(4)] == [2, 3, 4, 5]
    assert [t.shim_mux.into[B.PLIO, i] for i in range(8)] == list(range(8))
    assert [t.shim_mux.out_of[B.PLIO, i] for i in range(6)] == list(range(6))


@pytest.mark.parametrize(
    ("name", "kind", "bundle", "channel", "into", "out"),
    [
        ("xcvc1902", CORE, B.CORE, 1, 1, 1),
        ("xcvc1902", CORE, B.SOUTH, 5, 12, None),
        ("xcvc1902", CORE, B.NORTH, 0, 17, 15),
        ("xcvc1902", CORE, B.TRACE, 1, 26, None),
        ("xcvc1902", PL, B.EAST, 3, 22, 22),
        ("xcvc1902", NOC, B.TRACE, 0, 23, None),
        ("npu1", CORE, B.DMA, 1, 2, 2),
        ("npu1", CORE, B.WEST, 0, 11, 9),
        ("npu1", CORE, B.TRACE, 1, 24, None),
        ("npu1", MEM, B.NORTH, 3, 16, 14),
        ("npu1", MEM, B.TRACE, 0, 17, None),
        ("npu1", MEM, B.EAST, 0, None, None),
        ("npu1", NOC, B.EAST, 3, 21, 21),
        ("npu1", NOC, B.TRACE, 1, 23, None),
        ("xcve2802", PL, B.EAST, 0, None, None),
        ("xcve3858", NOC, B.CONTROLLER, 0, 23, 22),
        ("xcve3858", NOC, B.TRACE, 1, None, None),
    ],
)
def test_physical_port_numbers(name, kind, bundle, channel, into, out):
    t = targets.get(name)
    assert t.port_index(kind, bundle, channel, IN) == into
    assert t.port_index(kind, bundle, channel, OUT) == out


@pytest.mark.parametrize("name", ["xcvc1902", "npu1", "xcve3858"])
def test_physical_port_numbers_run_without_gap_or_overlap(name):
    t = targets.get(name)
    for kind in (CORE, MEM, NOC):
        if kind not in t.family.port_index:
            continue
        for side, table in zip((OUT, IN), t.family.port_index[kind], strict=True):
            numbers = [n for run in table.values() for n in range(run.first, run.first + run.count)]
            assert sorted(numbers) == list(range(len(numbers))), (kind, side)


def test_packets():
    p = targets.get("npu1").packets
    assert (p.max_id, p.max_type, p.rules_per_port, p.arbiters, p.msels) == (31, 7, 4, 6, 4)


def test_controller_ids():
    t = targets.get("npu2")
    assert [t.controller_id(7, r) for r in range(6)] == [15, 26, 27, 29, 30, 31]
    assert [t.controller_id(1, r, device_wide=True) for r in range(6)] == [14, 21, 22, 23, 24, 25]
    assert t.controller_id(4, 0, device_wide=True) is None
    wide = [t.controller_id(c, r, device_wide=True) for c in range(4) for r in range(6)]
    assert len(set(wide)) == 24
    assert all(t.controller_id(c, 0, device_wide=True) < 16 for c in range(4))
    assert targets.get("xcve3858").controller_id(35, 6) == 6
    assert targets.get("xcvc1902").controller_id(0, 8) == 8
    assert targets.get("xcvc1902").controller_id(0, 9) is None
    assert targets.get("xcve2302").controller_id(0, 3) == 29


def test_cascade():
    t = targets.get("npu1")
    assert (targets.get("xcvc1902").cascade_bits, t.cascade_bits) == (384, 512)
    assert t.cascade_neighbours((1, 3), (1, 4)) and t.cascade_neighbours((1, 3), (0, 3))
    assert not t.cascade_neighbours((1, 2), (1, 1))
    assert not t.cascade_neighbours((1, 3), (2, 4))
    assert t.cascade_inputs == (Direction.NORTH, Direction.WEST)
    assert t.cascade_outputs == (Direction.SOUTH, Direction.EAST)
    assert targets.get("xcvc1902").cascade_inputs == ()


def test_enum_numbers():
    assert [b.number for b in Bundle] == list(range(12))
    assert [k.number for k in TileKind] == [0, 1, 2, 3]
    assert [a.number for a in targets.Arch] == [1, 2, 3, 4]
    assert [a.display for a in targets.Arch] == ["AIE1", "AIE2", "AIE2p", "AIE2ps"]
    assert targets.get("npu2").triple == "aie2p-none-unknown-elf"
