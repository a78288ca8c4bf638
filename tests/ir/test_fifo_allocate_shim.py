"""What the runtime finds fifos by: shim allocations, shared shim channels, re-arm bindings, external buffers."""

from __future__ import annotations

from allockit import (
    allocated,
    channels,
    core,
    dma,
    fifo,
    flows,
    held,
    locks,
    notes,
    outside,
    pool,
    refused,
    route,
    tiles,
)

FORM = "memref<16xi32>"


def into(name: str, tile: str, shim: str = "%t00") -> str:
    """A fifo from a shim to a core's tile."""
    return "\n".join(
        [
            outside(f"{name}_prod_dma", shim, fifo(name)),
            pool(f"{name}_cons_pool", tile, 2, 16, f", {fifo(name)}"),
            dma(f"{name}_cons_dma", tile, "fills", f"{name}_cons_pool", fifo(name)),
            route(f"@{name}_prod_dma", f"{name}_cons_dma"),
        ]
    )


def out_of(name: str, tile: str, shim: str = "%t00") -> str:
    return "\n".join(
        [
            pool(f"{name}_pool", tile, 2, 16, f", {fifo(name)}"),
            dma(f"{name}_prod_dma", tile, "drains", f"{name}_pool", fifo(name)),
            outside(f"{name}_cons_dma", shim, fifo(name)),
            route(f"@{name}_prod_dma", f"{name}_cons_dma"),
        ]
    )


def sequence(name: str, *ends: str) -> str:
    walk = "[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]"
    uses = [
        f"aiex.npu.dma_memcpy_nd(%m{walk}) {{id = {i} : i64, metadata = @{end}}} : {FORM}" for i, end in enumerate(ends)
    ]
    return f"aie.runtime_sequence @{name}(%m: {FORM}) {{\n" + "\n".join(uses) + "\n}"


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_record_for_every_shim_end_and_the_runtime_uses_it() -> None:
    ran = allocated(into("x", "%t02"), out_of("y", "%t02"), sequence("s", "x_prod_dma", "y_cons_dma"))
    assert ran.lines("aie.shim_dma_allocation") == [
        "aie.shim_dma_allocation @x_shim_alloc(%shim_noc_tile_0_0, MM2S, 0)",
        "aie.shim_dma_allocation @y_shim_alloc(%shim_noc_tile_0_0, S2MM, 0)",
    ]
    assert [line.split("metadata = ")[1].split("}")[0] for line in ran.lines("metadata")] == [
        "@x_shim_alloc", "@y_shim_alloc",
    ]  # fmt: skip


def test_records_stand_at_the_end_of_the_device() -> None:
    ran = allocated(into("x", "%t02"), sequence("s", "x_prod_dma"))
    last = list(ran.device.block.ops)[-2]
    assert last.name == "aie.shim_dma_allocation"


def test_a_shim_end_without_a_fifo_has_no_record() -> None:
    ran = allocated(outside("e", "%t00"), pool("p", "%t02", 1), dma("d", "%t02", "fills", "p"), route("@e", "d"))
    assert not ran.lines("aie.shim_dma_allocation")
    assert flows(ran) == ["0,0:0 > 0,2:0"]


def test_a_second_shim_end_of_a_fifo_has_a_name_of_its_own() -> None:
    ran = allocated(
        pool("x_pool", "%t02", 1), dma("x_prod_dma", "%t02", "drains", "x_pool", fifo("x")),
        outside("x_0_cons_dma", "%t00", fifo("x")), outside("x_1_cons_dma", "%t00", fifo("x")),
        route("@x_prod_dma", "x_0_cons_dma", "x_1_cons_dma"),
        sequence("s", "x_0_cons_dma", "x_1_cons_dma"),
    )  # fmt: skip
    assert ran.lines("aie.shim_dma_allocation") == [
        "aie.shim_dma_allocation @x_shim_alloc(%shim_noc_tile_0_0, S2MM, 0)",
        "aie.shim_dma_allocation @x_shim_alloc_0(%shim_noc_tile_0_0, S2MM, 1)",
    ]
    assert "metadata = @x_shim_alloc}" in ran.text and "metadata = @x_shim_alloc_0}" in ran.text


def test_a_record_that_is_there_is_used_with_its_channel() -> None:
    there = "aie.shim_dma_allocation @x_shim_alloc(%t00, MM2S, 1)"
    ran = allocated(there, into("x", "%t02"), into("y", "%t03"))
    assert channels(ran)["x_prod_dma"] == 1
    assert channels(ran)["y_prod_dma"] == 0
    assert len(ran.lines("aie.shim_dma_allocation @x_shim_alloc")) == 1


def test_another_record_of_that_name_is_left_alone() -> None:
    ran = allocated("aie.shim_dma_allocation @x_shim_alloc(%t00, S2MM, 1)", into("x", "%t02"))
    assert ran.lines("@x_shim_alloc")[-1] == "aie.shim_dma_allocation @x_shim_alloc_0(%shim_noc_tile_0_0, MM2S, 0)"


def test_a_records_name_that_something_else_has() -> None:
    ran = allocated('%b = aie.buffer(%t03) {sym_name = "x_shim_alloc"} : memref<4xi32>', into("x", "%t02"))
    assert len(ran.lines("aie.shim_dma_allocation @x_shim_alloc_0(")) == 1


def test_foreign_records_hold_their_channels() -> None:
    ran = allocated("aie.shim_dma_allocation @mine(%t00, MM2S, 0)", into("x", "%t02"))
    assert channels(ran)["x_prod_dma"] == 1
    two = ("aie.shim_dma_allocation @mine(%t00, MM2S, 0)", "aie.shim_dma_allocation @other(%t00, MM2S, 1)")
    gone = refused(*two, into("x", "%t02"))
    assert gone.only.text.startswith("'aie.tile' op number of output DMA channel exceeded!")
    assert notes(gone)[1:3] == [f"pre-existing aie.shim_dma_allocation reserves DMA channel {i}" for i in range(2)]


def test_plio() -> None:
    ran = allocated(
        outside("x_prod_dma", "%t20", fifo("x"), bundle="PLIO"), pool("p", "%t22", 1), dma("d", "%t22", "fills", "p"),
        route("@x_prod_dma", "d"), kind="xcvc1902", grid=tiles((2, 0), (2, 2)),
    )  # fmt: skip
    assert flows(ran) == ["2,0:0 PLIO > 2,2:0"]
    (record,) = ran.lines("aie.shim_dma_allocation")
    assert record.endswith("MM2S, 0) {plio = true}")


def test_plio_where_the_shim_has_no_dma() -> None:
    ran = allocated(
        outside("x_prod_dma", "%t00", fifo("x"), bundle="PLIO"), pool("p", "%t02", 1), dma("d", "%t02", "fills", "p"),
        route("@x_prod_dma", "d"), kind="xcvc1902", grid=tiles((0, 0), (0, 2)),
    )  # fmt: skip
    assert flows(ran) == ["0,0:0 PLIO > 0,2:0"]


def test_external_buffers() -> None:
    ran = allocated(
        '%x = aie.external_buffer {sym_name = "x"} : memref<64xi32>',
        pool("e_pool", "%t20", 1, 64, ", buffers = [@x]"), dma("e_prod_dma", "%t20", "drains", "e_pool", fifo("e")),
        pool("e_cons_pool", "%t22", 2), dma("e_cons_dma", "%t22", "fills", "e_cons_pool", fifo("e")),
        route("@e_prod_dma", "e_cons_dma"), kind="xcve2302", grid=tiles((2, 0), (2, 2)),
    )  # fmt: skip
    assert held(ran) == {
        "2,0": ["e_prod_lock_0=1", "e_cons_lock_0=0"],
        "2,2": ["e_cons_buff_0", "e_cons_buff_1", "e_cons_prod_lock_0=2", "e_cons_cons_lock_0=0"],
    }
    assert ran.lines("aie.shim_dma_allocation") == [
        "aie.shim_dma_allocation @e_shim_alloc(%shim_noc_tile_2_0, MM2S, 0)"
    ]


def test_a_pool_of_the_host_has_no_buffers_and_no_locks() -> None:
    ran = allocated(
        pool("e_pool", "%t00", 2), dma("e", "%t00", "drains", "e_pool", fifo("e")),
        pool("p", "%t02", 2), dma("d", "%t02", "fills", "p", fifo("e")), route("@e", "d"),
    )  # fmt: skip
    assert "0,0" not in held(ran)
    assert ran.lines("aie.shim_dma_allocation @e_shim_alloc")


def test_lists_of_endpoints_keep_naming_endpoints() -> None:
    ran = allocated(
        pool("y_pool", "%t01", 2), dma("hub", "%t01", "drains", "y_pool", "dispatch = [@z_cons_dma, @p]"),
        outside("z_cons_dma", "%t00", fifo("z")), pool("p_pool", "%t02", 2), dma("p", "%t02", "fills", "p_pool"),
        route("@hub", "z_cons_dma", packet="pkt_id = 0"), route("@hub", "p", packet="pkt_id = 1"),
    )  # fmt: skip
    assert "dispatch = [@z_cons_dma, @p]" in ran.text


# --- shared channels --------------------------------------------------------------------------------------------------


def test_ends_of_different_sequences_share_a_channel_when_the_shim_runs_out() -> None:
    ran = allocated(
        into("a", "%t02"), into("b", "%t03"), into("c", "%t04"),
        sequence("one", "a_prod_dma", "b_prod_dma"), sequence("two", "c_prod_dma"),
    )  # fmt: skip
    assert [channels(ran)[f"{x}_prod_dma"] for x in "abc"] == [0, 1, 0]
    assert flows(ran) == ["0: 0,0:0 > 0,2:0", "0,0:1 > 0,3:0", "1: 0,0:0 > 0,4:0"]
    assert ran.lines("aie.shim_dma_allocation") == [
        "aie.shim_dma_allocation @a_shim_alloc(%shim_noc_tile_0_0, MM2S, 0, <pkt_id = 0>)",
        "aie.shim_dma_allocation @b_shim_alloc(%shim_noc_tile_0_0, MM2S, 1)",
        "aie.shim_dma_allocation @c_shim_alloc(%shim_noc_tile_0_0, MM2S, 0, <pkt_id = 1>)",
    ]


def test_a_design_that_fits_shares_nothing() -> None:
    ran = allocated(into("a", "%t02"), into("c", "%t04"), sequence("one", "a_prod_dma"), sequence("two", "c_prod_dma"))
    assert flows(ran) == ["0,0:0 > 0,2:0", "0,0:1 > 0,4:0"]


def test_ends_of_one_sequence_cannot_share() -> None:
    ran = refused(
        into("a", "%t02"),
        into("b", "%t03"),
        into("c", "%t04"),
        sequence("one", "a_prod_dma", "b_prod_dma", "c_prod_dma"),
    )
    text = "number of output DMA channel exceeded! requires at least 3 MM2S channels, but capacity is 2"
    assert ran.only.text == f"'aie.tile' op {text}"
    assert notes(ran)[-1] == "DMA endpoint @c_prod_dma for ObjectFifo @c"


def test_no_packet_id_is_left_to_share_with() -> None:
    taken = [
        f"aie.packet_flow({i}) {{ aie.packet_source<%t13, DMA : 0> aie.packet_dest<%t23, DMA : 0> }}" for i in range(32)
    ]
    ran = refused(
        *taken, into("a", "%t02"), into("b", "%t03"), into("c", "%t04"),
        sequence("one", "a_prod_dma", "b_prod_dma"), sequence("two", "c_prod_dma"),
    )  # fmt: skip
    assert ran.said[0].endswith("shares a shim channel, but no packet id is left to tell its transfers apart")


def test_two_shims_share_each_for_itself() -> None:
    grid = tiles((0, 0), (1, 0), *((c, r) for c in (0, 1) for r in (2, 3, 4)))
    ran = allocated(
        *(into(f"a{i}", f"%t0{i + 2}", "%t00") for i in range(3)),
        *(into(f"b{i}", f"%t1{i + 2}", "%t10") for i in range(3)),
        sequence("one", "a0_prod_dma", "a1_prod_dma", "b0_prod_dma", "b1_prod_dma"),
        sequence("two", "a2_prod_dma", "b2_prod_dma"), grid=grid,
    )  # fmt: skip
    assert [channels(ran)[f"{x}{i}_prod_dma"] for x in "ab" for i in range(3)] == [0, 1, 0, 0, 1, 0]


# --- re-arming --------------------------------------------------------------------------------------------------------


def weights() -> tuple[str, ...]:
    value = ", initValues = [dense<1> : tensor<16xi32>], repeatCount = 7 : i32"
    return (
        pool("w_pool", "%t01", 1, 16, f", {fifo('w')}{value}"),
        dma("w_prod_dma", "%t01", "drains", "w_pool", fifo("w")),
        pool("w_cons_pool", "%t02", 1, 16, f", {fifo('w')}"),
        core("w_cons", "%t02", "drains", "w_cons_pool"),
        dma("w_cons_dma", "%t02", "fills", "w_cons_pool", fifo("w")),
        route("@w_prod_dma", "w_cons_dma"),
    )


def resets(*names: str) -> str:
    return "aie.runtime_sequence @s() {\n" + "\n".join(f"aiex.dma_channel_reset_for(@{n})" for n in names) + "\n}"


def test_a_fifo_that_is_armed_again_has_locks_and_a_binding() -> None:
    ran = allocated(*weights(), resets("w", "w"))
    assert locks(ran) == {"w_prod_lock_0": 0, "w_cons_lock_0": 7, "w_cons_prod_lock_0": 1, "w_cons_cons_lock_0": 0}
    (binding,) = ran.lines("aie.objectfifo_rearm_binding")
    assert binding == (
        "aie.objectfifo_rearm_binding @w_rearm channels(%mem_tile_0_1, %tile_0_2 : index, index) "
        "locks(%w_prod_lock_0, %w_cons_lock_0, %w_cons_prod_lock_0, %w_cons_cons_lock_0 : index, index, index, index) "
        "{channel_dirs = array<i32: 1, 0>, channel_indices = array<i32: 0, 0>, lock_inits = array<i32: 0, 7, 1, 0>}"
    )
    assert ran.lines("aiex.dma_channel_reset_for") == ["aiex.dma_channel_reset_for(@w_rearm)"] * 2


def test_a_fifo_named_by_its_shim_end_is_armed_again() -> None:
    ran = allocated(into("x", "%t02"), resets("x_prod_dma"))
    (binding,) = ran.lines("aie.objectfifo_rearm_binding")
    assert "@x_rearm channels(%tile_0_2 : index) locks(%x_cons_prod_lock_0, %x_cons_cons_lock_0" in binding
    assert ran.lines("aiex.dma_channel_reset_for") == ["aiex.dma_channel_reset_for(@x_rearm)"]


def test_a_binding_stands_before_the_records() -> None:
    ran = allocated(into("x", "%t02"), resets("x_prod_dma"))
    assert [op.name for op in list(ran.device.block.ops)[-3:-1]] == [
        "aie.objectfifo_rearm_binding", "aie.shim_dma_allocation",
    ]  # fmt: skip


def test_nothing_to_arm_again() -> None:
    ran = refused(into("x", "%t02"), resets("other"))
    text = "objectFIFO 'other' has no resident core/mem DMA channels or locks to re-arm"
    assert ran.only.text == f"'aiex.dma_channel_reset_for' op {text}"
