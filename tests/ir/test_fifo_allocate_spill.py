"""Memory tiles that are full: buffers in a neighbour's memory, and the channels that reach there."""

from __future__ import annotations

import itertools

from allockit import allocated, channels, core, dma, held, locks, notes, outside, pool, refused, route, tiles
from hypothesis import given, settings
from hypothesis import strategies as st
from passkit import Ran

from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.tiles import placed
from aiecc.ir.passes.fifo_allocate import ObjectFifoAllocate

ROW = tiles((0, 1), (1, 1), (2, 1), (1, 2), (0, 2), (1, 3), (2, 2))
SIZE = 524288


def mem(
    name: str, depth: int, size: int, tile: str = "%t11", more: str = "", ends: tuple[str, ...] = ("fills", "drains")
) -> str:
    """A memory-tile pool of bytes with a filling and a draining end."""
    lines = [pool(f"{name}_pool", tile, depth, size, more, type="i8")]
    lines += [dma(f"{name}_{role[0]}", tile, role, f"{name}_pool") for role in ends]
    return "\n".join(lines)


def homes(ran: Ran) -> dict[str, str]:
    found: dict[str, str] = {}
    for op in ran.ops(BufferOp):
        tile = placed(op.tile)
        assert tile is not None and op.symbol is not None
        found[op.symbol] = f"{tile.col},{tile.row}"
    return found


# --- where buffers go -------------------------------------------------------------------------------------------------


def test_what_does_not_fit_goes_to_the_emptier_neighbour() -> None:
    ran = allocated(mem("big", 3, 300000), grid=ROW)
    assert homes(ran) == {"big_buff_0": "1,1", "big_buff_1": "0,1", "big_buff_2": "2,1"}
    assert set(locks(ran)) == {"big_prod_lock_0", "big_cons_lock_0"}
    assert [n for n in held(ran)["1,1"] if "lock" in n] == ["big_prod_lock_0=3", "big_cons_lock_0=0"]


def test_a_neighbour_that_is_not_declared_is_made() -> None:
    ran = allocated(mem("big", 2, 300000), grid=tiles((1, 1), (1, 2)))
    assert homes(ran) == {"big_buff_0": "1,1", "big_buff_1": "0,1"}
    assert "%mem_tile_0_1 = aie.tile(0, 1)" in ran.text
    assert "aie.tile(2, 1)" not in ran.text


def test_one_column_has_no_neighbour() -> None:
    ran = refused(mem("big", 2, 300000, "%t01"), grid=tiles((0, 1), (0, 2)), kind="npu2_1col")
    text = "could not place buffers in accessible memory with available capacity"
    assert ran.only.text == f"'aie.objectfifo.pool' op {text}"
    assert notes(ran)[0] == "needs 2 buffers of 300000 bytes, 600000 bytes; a MemTile holds 524288 bytes"
    assert notes(ran)[1] == "tile(0, 1) is wanted by pool @big_pool (2 x 300000 bytes)"


def test_core_tiles_never_spill() -> None:
    ran = allocated(pool("p", "%t12", 3, 60000, type="i8"), core("c", "%t12", "fills", "p"), grid=ROW)
    assert set(homes(ran).values()) == {"1,2"}


def test_large_objects_are_placed_first_and_equal_ones_in_order() -> None:
    ran = allocated(mem("a", 1, 1000), mem("b", 1, 4000), mem("c", 1, 4000), grid=ROW)
    assert list(homes(ran)) == ["b_buff_0", "c_buff_0", "a_buff_0"]


def test_only_memory_tile_pools_trade_places() -> None:
    ran = allocated(
        mem("a", 1, 1000), pool("k", "%t12", 1, 16), core("kc", "%t12", "fills", "k"), mem("b", 1, 4000), grid=ROW
    )
    assert held(ran)["1,1"][0] == "b_buff_0"


def test_a_buffer_that_was_there_takes_room() -> None:
    ran = allocated('%x = aie.buffer(%t11) {sym_name = "x"} : memref<400000xi8>', mem("a", 1, 200000), grid=ROW)
    assert homes(ran)["a_buff_0"] == "0,1"


def test_a_whole_tile_is_not_too_little() -> None:
    assert homes(allocated(mem("a", 1, SIZE), grid=ROW)) == {"a_buff_0": "1,1"}
    # The second starts at a multiple of 4 bytes, so the odd byte costs 4.
    ran = allocated(mem("a", 1, SIZE // 2 + 1), mem("b", 1, SIZE // 2 - 4), grid=ROW)
    assert set(homes(ran).values()) == {"1,1"}
    ran = allocated(mem("a", 1, SIZE // 2 + 1), mem("b", 1, SIZE // 2 - 3), grid=ROW)
    assert homes(ran)["b_buff_0"] == "0,1"


def test_existing_buffers_that_do_not_fit() -> None:
    ran = refused('%x = aie.buffer(%t11) {sym_name = "x"} : memref<524289xi8>', mem("a", 1, 16), grid=ROW)
    assert ran.only.text == (
        "'aie.tile' op existing buffers require 524289 bytes, exceeding MemTile capacity of 524288 bytes"
    )
    assert notes(ran) == ["buffer @x takes 524289 bytes"]


def test_an_end_on_a_neighbour_limits_where_buffers_go() -> None:
    # The draining end is on (2, 1): it does not reach (0, 1).
    lines = [pool("big_pool", "%t11", 2, 300000, type="i8"), dma("f", "%t11", "fills", "big_pool"),
             dma("d", "%t21", "drains", "big_pool")]  # fmt: skip
    assert homes(allocated(*lines, grid=ROW)) == {"big_buff_0": "1,1", "big_buff_1": "2,1"}


def test_an_earlier_choice_is_thought_over() -> None:
    # @a goes home and @b first to the west, where @c has to be: the other tiles it reaches are too full.
    lines = (
        '%e = aie.buffer(%t21) {sym_name = "e"} : memref<224288xi8>',
        mem("a", 1, 300000), mem("b", 1, 300000), pool("c_pool", "%t01", 1, 290000, type="i8"),
        dma("c_f", "%t01", "fills", "c_pool"), dma("c_d", "%t11", "drains", "c_pool"),
    )  # fmt: skip
    assert homes(allocated(*lines, grid=ROW)) == {
        "e": "2,1", "a_buff_0": "1,1", "b_buff_0": "2,1", "c_buff_0": "0,1",
    }  # fmt: skip


def test_choices_that_have_no_part_in_it_are_left_alone() -> None:
    """@b has to leave the west for @c, with fifty choices made in between that could be other ones as well."""
    held_now = [f'%e{t} = aie.buffer(%t{t}1) {{sym_name = "e{t}"}} : memref<{SIZE - 3000}xi8>' for t in range(3)]
    others = [mem(f"x{i}", 1, 2900, "%t51", ends=()) for i in range(50)]
    lines = (
        *held_now, mem("a", 1, 3000), mem("b", 1, 3000), *others, pool("c_pool", "%t01", 1, 2800, type="i8"),
        dma("c_f", "%t01", "fills", "c_pool"), dma("c_d", "%t11", "drains", "c_pool"),
    )  # fmt: skip
    found = homes(allocated(*lines, grid=tiles((0, 1), (1, 1), (2, 1), (5, 1), (1, 2))))
    assert [found[f"{name}_buff_0"] for name in "abc"] == ["1,1", "2,1", "0,1"]
    assert {found[f"x{i}_buff_0"] for i in range(50)} == {"5,1"}


def test_a_tile_not_placed_yet_keeps_its_buffers() -> None:
    grid = "%m = aie.logical_tile<MemTile>(?, ?)"
    assert refused(mem("big", 2, 300000, "%m"), grid=grid).only.text.endswith("with available capacity")
    allocated(mem("big", 1, 300000, "%m"), grid=grid)


# Sizes in sixteenths of a tile: few enough that every way can be tried.
SIXTEENTH = SIZE // 16


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(1, 16), st.integers(0, 2)), min_size=1, max_size=5),
    st.lists(st.integers(0, 15), min_size=3, max_size=3),
)
def test_a_place_is_found_where_there_is_one(sizes: list[tuple[int, int]], taken: list[int]) -> None:
    """By trying every assignment: one-buffer pools on three tiles in a row, beside what the tiles hold."""
    reach = {0: (0, 1), 1: (0, 1, 2), 2: (1, 2)}
    room = [16 - t for t in taken]

    def fits(way: tuple[int, ...]) -> bool:
        return all(sum(s for (s, _), p in zip(sizes, way, strict=True) if p == t) <= room[t] for t in range(3))

    possible = any(fits(way) for way in itertools.product(*(reach[home] for _, home in sizes)))
    lines = [
        f'%x{t} = aie.buffer(%t{t}1) {{sym_name = "x{t}"}} : memref<{n * SIXTEENTH}xi8>'
        for t, n in enumerate(taken)
        if n
    ]
    lines += [mem(f"p{i}", 1, s * SIXTEENTH, f"%t{home}1", ends=("fills",)) for i, (s, home) in enumerate(sizes)]
    text = "\n".join(["aie.device(xcve2302) {", tiles((0, 1), (1, 1), (2, 1)), *lines, "}"])
    # On this device there is a fourth memory tile east of the third.
    ran = Ran(text.replace("xcve2302", "npu2_3col"), ObjectFifoAllocate())
    assert ran.sink.failed is not possible
    for name, place in homes(ran).items() if possible else ():
        if name.startswith("p"):
            _, home = sizes[int(name[1 : name.index("_")])]
            assert int(place[0]) in reach[home]


# --- the channels that reach a neighbour ------------------------------------------------------------------------------


def with_route(name: str, far: str) -> str:
    """Both ends of a memory-tile pool connected: in from a shim-less core tile, out to another."""
    return "\n".join(
        [
            pool(f"{name}_far_pool", far, 1, 16), dma(f"{name}_far", far, "fills", f"{name}_far_pool"),
            route(f"@{name}_d", f"{name}_far"),
        ]
    )  # fmt: skip


def test_ends_that_reach_a_neighbour_choose_first() -> None:
    small = [mem(f"s{i}", 1, 16 + i, ends=("drains",)) for i in range(4)]
    ran = allocated(*small, mem("big", 2, 300000, ends=("drains",)), grid=ROW)
    assert channels(ran) == {"big_d": 0, "s0_d": 1, "s1_d": 2, "s2_d": 3, "s3_d": 4}


def test_a_pin_too_high_to_reach_a_neighbour() -> None:
    lines = [
        pool("big_pool", "%t11", 3, 300000, type="i8"),
        dma("d", "%t11", "fills", "big_pool", "channelIndex = 4 : i32"),
    ]
    ran = refused(*lines, grid=ROW)
    text = "pinned S2MM DMA channel 4 cannot access adjacent MemTile buffers or locks"
    assert ran.only.text == f"'aie.objectfifo.dma_endpoint' op {text}"
    assert notes(ran) == ["pool @big_pool reaches into tile(0, 1), tile(2, 1); only channels 0 to 3 can"]


def test_a_pin_too_high_is_fine_at_home() -> None:
    lines = [
        pool("big_pool", "%t11", 1, 300000, type="i8"),
        dma("d", "%t11", "fills", "big_pool", "channelIndex = 4 : i32"),
    ]
    assert channels(allocated(*lines, grid=ROW)) == {"d": 4}


def test_pools_stay_at_home_where_too_few_channels_reach_a_neighbour() -> None:
    # Large ones first: @big goes home and leaves no room for the five small ones, so five ends cross for four channels.
    # With the cheapest of them bound to home it is @big that leaves, and all the small ones find room.
    small = [mem(f"s{i}", 1, 100000 - i, ends=("drains",)) for i in range(5)]
    ran = allocated(mem("big", 1, 450000, ends=("drains",)), *small, grid=ROW)
    away = {name.split("_")[0] for name, place in homes(ran).items() if place != "1,1"}
    assert away == {"big"}
    assert all(channels(ran)[f"{name}_d"] < 4 for name in away)


def test_pools_with_more_ends_are_kept_at_home_if_that_saves_channels() -> None:
    # By size @big stays at home and @two leaves with its five ends; by demand it is @two that stays.
    two = pool("two_pool", "%t11", 1, 262144, parts=(65536, 65536, 65536, 32768, 32768), type="i8")
    drains = [dma(f"d{i}", "%t11", "drains", "two_pool", f"segments = [@s{i}]") for i in range(5)]
    ran = allocated(mem("big", 1, 300000, ends=("drains",)), two, *drains, grid=ROW)
    assert homes(ran)["two_buff_0"] == "1,1"
    assert homes(ran)["big_buff_0"] != "1,1"


def test_too_few_channels_reach_a_neighbour() -> None:
    far = '%x = aie.buffer(%t11) {sym_name = "x"} : memref<524288xi8>'
    ran = refused(far, *(mem(f"s{i}", 1, 1000, ends=("drains",)) for i in range(5)), grid=ROW)
    error, remark = ran.sink.items
    assert error.text == (
        "'aie.tile' op number of output DMA channel exceeded! requires at least 5 MM2S channels, but capacity is 4 for "
        "adjacent MemTile access"
    )
    assert [n.text for n in error.notes] == [
        "tile(1, 1) has 4 MM2S channels for adjacent MemTile access, and 5 are wanted",
        *(f"DMA endpoint @s{i}_d requires adjacent MemTile access; occupies channel {i}" for i in range(4)),
        "DMA endpoint @s4_d requires adjacent MemTile access",
    ]
    assert remark.text.endswith("tile placement and buffer packing remain greedy")


def test_locks_in_a_neighbour_need_the_low_channels_too() -> None:
    full = [f'%l{i} = aie.lock(%t11, {i}) {{sym_name = "l{i}"}}' for i in range(64)]
    small = [outside("o", "%t12"), mem("a", 1, 16, more=", disableSynchronization = true", ends=("drains",)),
             mem("b", 1, 16, ends=("drains",))]  # fmt: skip
    ran = allocated(*full, *small, grid=ROW)
    assert channels(ran)["b_d"] == 0 and channels(ran)["a_d"] == 1
    assert held(ran)["0,1"] == ["b_prod_lock_0=1", "b_cons_lock_0=0"]
