"""What others got wrong, from text: found where it is wrong, and not complained about where it is right."""

import pytest
from ptokit import (
    CUBE,
    CUBE_GM,
    FREE_V,
    GM_C,
    GM_V,
    POP_V,
    PUSH_C,
    TILE_A,
    TILE_O,
    USE_V,
    VEC,
    VECTOR,
    VECTOR_GM,
    WS,
    clusters,
    design,
    verified,
)

from aiecc.api import Sink
from aiecc.plugins.tpush.analyse import analyse
from aiecc.plugins.tpush.model import Agent
from aiecc.plugins.tpush.steps import Act
from aiecc.plugins.tpush.unroll import streams

BOUNDS = ("%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index")
LOOP = "scf.for %i = %c0 to %n step %c1 {"
LANE = (
    "%lane = pto.get_subblock_idx",
    "%zero = arith.constant 0 : i64",
    "%first = arith.cmpi eq, %lane, %zero : i64",
)
SMALL_ACC = "!pto.tile_buf<acc, 8x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
SMALL_VEC = "!pto.tile_buf<vec, 8x16xf32>"


def texts(text: str) -> list[str]:
    """What the rules say, and behind them the exact check."""
    found = verified(text)
    diag = Sink()
    if not any(d.is_error for d in found):
        for cluster in clusters(text):
            analyse(cluster, diag)
    return [d.text for d in (*found, *diag.items)]


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 17, 40])
@pytest.mark.parametrize("cube", [CUBE, CUBE_GM], ids=["a5", "a2a3"])
def test_no_count_leaves_anything_to_drain(count: int, cube: tuple[str, ...]) -> None:
    """A fixed number of credits drained at the end was too many for some counts, too few for others."""
    vector = VECTOR if cube is CUBE else VECTOR_GM
    ops = (*BOUNDS, f"%n = arith.constant {count} : index", LOOP)
    text = design(
        (*cube[:-1], *ops, PUSH_C, "}"),
        (*vector[:-3], *ops, POP_V, USE_V, FREE_V, "}"),
        "",
        ("", "") if cube is CUBE else (WS, WS),
    )
    assert texts(text) == []


@pytest.mark.parametrize("held", [1, 2, 3, 8])
def test_pops_and_frees_apart(held: int) -> None:
    """Several tiles held at a time, freed together: pairs by age."""
    names = [f"%p{i}" for i in range(held)]
    pops = [POP_V.replace("%p", name) for name in names]
    uses = [USE_V.replace("%p", name) for name in names]
    text = design((*CUBE[:3], *[PUSH_C] * held), (*VECTOR[:3], *pops, *uses, *[FREE_V] * held))
    assert texts(text) == []


def test_one_message_moved_before_another() -> None:
    """Skewing a loop with several messages per direction changes which tile is which."""
    push = f"pto.tpush_to_aiv(%b : {SMALL_ACC}) {{split = 0}}"
    small = f"%s = pto.tpop_from_aic {{split = 0}} -> {SMALL_VEC}"
    cube = (GM_C, TILE_A, f"%b = pto.alloc_tile : {SMALL_ACC}", PUSH_C, push)
    good = design(cube, (GM_V, POP_V, FREE_V, small, FREE_V), "", (WS, WS))
    assert texts(good) == []
    moved = design(cube, (GM_V, small, FREE_V, POP_V, FREE_V), "", (WS, WS))
    assert texts(moved) == ["tile 0 is pushed as 16x16 of 4 bytes, but popped as 8x16 of 4 bytes"]


def test_rows_are_those_of_what_is_valid() -> None:
    """The valid part may be smaller than the tile: the copy has its rows, its own tile keeps its own stride."""
    acc = "!pto.tile_buf<acc, 16x16xf32, valid=5x7, blayout=col_major, slayout=row_major, fractal=1024>"
    vec = "!pto.tile_buf<vec, 16x16xf32, valid=5x7>"
    cube = (GM_C, f"%a = pto.alloc_tile : {acc}", f"pto.tpush_to_aiv(%a : {acc}) {{split = 0}}")
    text = design(cube, (GM_V, POP_V.replace(VEC, vec), FREE_V), "", (WS, WS))
    (cluster,) = clusters(text)
    for stream in streams(cluster).streams:
        (access,) = next(s.accesses for s in stream.steps if s.act is Act.COPY_START)
        assert (access.rows, access.row_bytes, access.stride, access.local_stride) == (5, 28, 28, 64)


def test_lane_one_replays_with_empty_tiles_on_a2a3() -> None:
    """Flags of A2A3 reach and await both lanes: lane 1 goes along, with tiles of no data."""
    empty = POP_V.replace("%p", "%e").replace(VEC, "!pto.tile_buf<vec, 16x16xf32, valid=0x0>")
    branch = ("scf.if %first {", POP_V, FREE_V, "} else {", empty, FREE_V, "}")
    assert texts(design(CUBE_GM, (GM_V, *LANE, *branch), "a3", (WS, WS))) == []
    alone = ("scf.if %first {", POP_V, FREE_V, "}")
    assert texts(design(CUBE_GM, (GM_V, *LANE, *alone), "a3", (WS, WS))) == [
        "lane 1 does not run this, but the Cube's flags of A2A3 are both lanes'"
    ]


def test_lanes_that_loop_differently() -> None:
    half = "!pto.tile_buf<vec, 8x16xf32>"
    pop, free = f"%p = pto.tpop_from_aic {{split = 1}} -> {half}", "pto.tfree_from_aic {split = 1}"
    times = ("%one = arith.constant 1 : index", "%two = arith.constant 2 : index")
    choose = "%n = arith.select %first, %two, %one : index"
    cube = (*CUBE[:3], *[PUSH_C.replace("= 0", "= 1")] * 2)
    text = design(cube, (*VECTOR[:2], *LANE, *times, choose, *BOUNDS, LOOP, pop, free, "}"))
    assert texts(text) == ["lane 0 runs this 2 times, lane 1 1 times"]


def test_both_lanes_of_a_split_tile_are_apart() -> None:
    half = "!pto.tile_buf<vec, 8x16xf32>"
    pop, free = f"%p = pto.tpop_from_aic {{split = 1}} -> {half}", "pto.tfree_from_aic {split = 1}"
    text = design((GM_C, TILE_A, PUSH_C.replace("= 0", "= 1")), (GM_V, TILE_O, pop, free), "", (WS, WS))
    (cluster,) = clusters(text)
    found: list[range] = []
    for agent in (Agent.AIV0, Agent.AIV1):
        stream = next(s for s in streams(cluster).streams if s.agent is agent)
        (access,) = next(s.accesses for s in stream.steps if s.act is Act.COPY_START)
        found.append(range(access.address, access.address + access.size))
    assert found == [range(512), range(512, 1024)]


@pytest.mark.parametrize("count", [9, 1000])
def test_all_pops_before_all_frees(count: int) -> None:
    """On A2A3 a popped tile is the core's own: nothing is held. On A5 the ring runs out."""
    ops = (*BOUNDS, f"%n = arith.constant {count} : index", LOOP)
    again = "scf.for %j = %c0 to %n step %c1 {"
    vector = (GM_V, *ops, POP_V, "}", again, FREE_V, "}")
    assert texts(design((*CUBE_GM[:-1], *ops, PUSH_C, "}"), vector, "", (WS, WS))) == []
    assert texts(design((*CUBE_GM[:-1], *ops, PUSH_C, "}"), (*vector, FREE_V), "", (WS, WS))) == [
        f"'vector' pops {count} tiles of pipe 0 Cube to Vector, and frees {count + 1}"
    ]
    held = design((*CUBE[:-1], *ops, PUSH_C, "}"), (*VECTOR[:2], *vector[1:]))
    assert texts(held) == ["all 8 slots of pipe 0 Cube to Vector are held: this pop never ends"]


def test_frees_of_a2a3_are_of_a_split_that_is_popped() -> None:
    half = "!pto.tile_buf<vec, 8x16xf32>"
    pop, free = f"%p = pto.tpop_from_aic {{split = 1}} -> {half}", "pto.tfree_from_aic {split = 2}"
    text = design((GM_C, TILE_A, PUSH_C.replace("= 0", "= 1")), (GM_V, TILE_O, pop, free), "", (WS, WS))
    (found,) = verified(text)
    assert (found.text, found.todo) == ("split = 2 here, but no tile is popped with it", "set split = 1")
