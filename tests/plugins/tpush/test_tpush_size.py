"""Memories, workspaces, rings placed by the placement engine, flags."""

from dataclasses import replace

import pytest
from tpush_clusters import A2A3, A5, AIV0, AIV1, C2V, CUBE, V2C, at, cluster, one_way, pipe

from aiecc.api import Extent, Kind, Sink
from aiecc.plugins.tpush import views
from aiecc.plugins.tpush.memories import CONSUMER_SPACE, MEMORIES
from aiecc.plugins.tpush.model import Cluster, Pipe, Platform, Reserve, Space, Split
from aiecc.plugins.tpush.model import Kind as Core
from aiecc.plugins.tpush.protocol import Protocol
from aiecc.plugins.tpush.size import arranged, in_workspace, with_flags, workspaces

K = 1024


@pytest.mark.parametrize(
    ("space", "owner", "sizes"),
    (
        (Space.VEC, Core.VECTOR, (192 * K, 256 * K)),
        (Space.MAT, Core.CUBE, (512 * K, 512 * K)),
        (Space.LEFT, Core.CUBE, (64 * K, 64 * K)),
        (Space.RIGHT, Core.CUBE, (64 * K, 64 * K)),
        (Space.ACC, Core.CUBE, (128 * K, 256 * K)),
        (Space.BIAS, Core.CUBE, (1 * K, 4 * K)),
        (Space.SCALING, Core.CUBE, (2 * K, 4 * K)),
    ),
)
def test_memories(space: Space, owner: Core, sizes: tuple[int, int]) -> None:
    for platform, size in zip((A2A3, A5), sizes, strict=True):
        memory = MEMORIES[platform][space]
        assert (memory.size, memory.owner) == (size, owner)
        assert memory.usable <= memory.size and memory.usable % memory.alignment == 0


def test_what_may_be_used_and_how_it_is_aligned() -> None:
    assert [MEMORIES[p][Space.VEC].usable for p in (A2A3, A5)] == [184 * K, 240 * K]
    assert [MEMORIES[p][Space.VEC].alignment for p in (A2A3, A5)] == [32, 32]
    assert [MEMORIES[p][Space.MAT].alignment for p in (A2A3, A5)] == [128, 32]
    assert CONSUMER_SPACE == {C2V: Space.VEC, V2C: Space.MAT}


def with_rings(ub: int | None = None, l1: int | None = None, size: int = 2048) -> Cluster:
    made = cluster(A5, replace(pipe(3, 512), c2v_ring="ub", v2c_ring="l1"), [], [])
    rings = (
        Reserve("ub", size, Space.VEC, ub, "vector", at(3, "pto.reserve_buffer")),
        Reserve("l1", size, Space.MAT, l1, "cube", at(9, "pto.reserve_buffer")),
    )
    return replace(made, reserves=rings)


def test_pinned_rings_stay_where_they_are() -> None:
    found = arranged(with_rings(0x1000, 0x2000), Sink())
    assert found is not None
    assert (found.pipes[0].c2v_base, found.pipes[0].v2c_base) == (0x1000, 0x2000)


def test_rings_of_both_directions_may_have_the_same_numbers() -> None:
    """They lie in different memories."""
    found = arranged(with_rings(0x1000, 0x1000), Sink())
    assert found is not None and found.pipes[0].c2v_base == found.pipes[0].v2c_base == 0x1000


def test_automatic_rings_go_around_the_cores_own_data() -> None:
    """The only hole that is left of 240 KiB is found; the producer's constant is the same number."""
    hole = 0x5000
    own = (
        Extent("low", Kind.BUFFER, hole, address=0),
        Extent("high", Kind.BUFFER, 240 * K - hole - 2048, address=hole + 2048),
    )
    found = arranged(with_rings(), Sink(), {Space.VEC: own})
    assert found is not None and found.pipes[0].c2v_base == hole
    assert {r.name: r.base for r in found.reserves}["ub"] == hole
    protocol = Protocol(found)
    assert protocol.home(C2V) == (Space.VEC, AIV0) and protocol.home(V2C) == (Space.MAT, CUBE)


def test_no_room_is_said_in_words() -> None:
    diag = Sink()
    own = (Extent("tiles", Kind.BUFFER, 240 * K - 1024),)
    assert arranged(with_rings(), diag, {Space.VEC: own}) is None
    text = next(d for d in diag.items if d.is_error)
    assert text.text.startswith("'pto.reserve_buffer' op could not be placed:")
    assert any("UB can never hold all of it" in note.text and "short by 1024 bytes" in note.text for note in text.notes)
    assert not any("tile's" in n.text or "this tile" in n.text for d in diag.items for n in d.notes)


@pytest.mark.parametrize(
    ("ub", "l1", "words"),
    (
        (240 * K - 1024, None, "past the end of what may be used of UB"),
        (0x1010, None, "base 4112 is no multiple of 32, as addresses in UB must be"),
        (None, 0x2010, "base 8208 is no multiple of 32, as addresses in L1 must be"),
    ),
)
def test_pins_that_cannot_be(ub: int | None, l1: int | None, words: str) -> None:
    diag = Sink()
    assert arranged(with_rings(ub, l1), diag) is None
    (found,) = [d for d in diag.items if d.is_error]
    assert words in found.text and found.where is not None and found.where.line == (3 if l1 is None else 9)


def test_two_rings_on_one_place() -> None:
    made = with_rings(0x1000)
    other = Reserve("other", 64, Space.VEC, 0x17E0, "vector", at(4, "pto.reserve_buffer"))
    diag = Sink()
    assert arranged(replace(made, reserves=(*made.reserves, other)), diag) is None
    assert any(d.is_error for d in diag.items)
    diag = Sink()
    beside = replace(other, base=0x1800)
    assert arranged(replace(made, reserves=(*made.reserves, beside)), diag) is not None


def test_lanes_have_rings_of_their_own_on_a5() -> None:
    protocol = Protocol(one_way(A5, 8, 1, None, C2V, Split.UP_DOWN, 2))
    assert [protocol.home(C2V, lane)[1] for lane in (0, 1)] == [AIV0, AIV1]
    assert {protocol.home(V2C, lane) for lane in (0, 1)} == {(Space.MAT, CUBE)}


@pytest.mark.parametrize("platform", Platform)
def test_who_shakes_hands(platform: Platform) -> None:
    """A pipe that is not split is lane 0's; where both lanes run, lane 1 goes along on A2A3 only, without data."""
    whole = one_way(platform, 8, 2)
    assert Protocol(whole).lanes(0) == (0,)
    both = replace(whole, lanes=2)
    assert Protocol(both).lanes(0) == ((0, 1) if platform is A2A3 else (0,))
    assert Protocol(one_way(platform, 8, 2, None, C2V, Split.LEFT_RIGHT, 2)).lanes(0) == (0, 1)


def test_pipes_that_start_from_two_pointers() -> None:
    pipes = (
        Pipe(0, 1, 1024, 2, workspace="a"),
        Pipe(1, 3, 512, 2, workspace="b"),
        Pipe(2, 2, 256, 2, workspace="a"),
    )
    found = {space.name: (dict(space.starts), space.size) for space in workspaces(pipes)}
    assert found == {"a": ({0: 0, 2: 2048}, 2560), "b": ({1: 0}, 2048)}


@pytest.mark.parametrize(
    ("masks", "slots", "fits"),
    (
        ((3,), 4, True),
        ((1,), 8, True),
        ((1, 2), 4, True),
        ((3, 1), 4, False),
        ((1, 1), 8, False),
        ((3, 3), 2, True),
        ((3, 3), 3, False),
        ((1,), 9, False),
    ),
)
def test_flags(masks: tuple[int, ...], slots: int, fits: bool) -> None:
    """Eight on each wire; no two pipes share one."""
    pipes = [Pipe(i, mask, 64, slots) for i, mask in enumerate(masks)]
    diag = Sink()
    found = with_flags(cluster(A2A3, pipes, [], []), diag)
    assert diag.failed != fits
    if fits:
        numbers = [p.flag(d, tag) for p in found.pipes for d in p.directions for tag in range(p.slot_num)]
        assert len(set(numbers)) == len(numbers) and max(numbers) < 8


def test_the_table_of_pipes() -> None:
    found = arranged(with_rings(0x1000, 0x2000), Sink())
    assert found is not None
    facts = views.facts(found)
    (made,) = facts["pipes"]
    assert facts["platform_id"] == 1 and facts["workspaces"] == [] and made["bytes"] == 4096
    c2v, v2c = made["rings"]
    assert [s["address"] for s in c2v["slots"]] == [0x1000, 0x1200, 0x1400, 0x1600]
    assert [s["address"] for s in v2c["slots"]] == [0x2000, 0x2200, 0x2400, 0x2600]
    assert [s["flag"] for s in c2v["slots"] + v2c["slots"]] == list(range(8))
    assert (c2v["memory"], c2v["owner"], v2c["memory"], v2c["owner"]) == ("UB", ["Vector 0"], "L1", ["Cube"])
    text = views.as_text([found])
    assert "    C2V: Cube -> Vector 0, UB of Vector 0 0x1000..0x17FF\n" in text and "0     4  0x2000" in text
    gm = views.facts(in_workspace(one_way(A2A3, 8, 1)))
    assert gm["workspaces"] == [{"name": "", "size": 8192}] and gm["pipes"][0]["rings"][0]["memory"] == "global memory"
    assert views.as_json([found]).startswith('{\n  "clusters": [')
