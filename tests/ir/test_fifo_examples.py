"""Whole designs through all passes of the objectFifo lowering, against what the rules say on paper."""

from __future__ import annotations

import fifo_examples as designs
import pytest
from chainkit import Told
from fifokit import Lowered
from passkit import Ran

from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import BufferOp, UseLockOp
from aiecc.ir.passes.fifo_transform import ObjectFifoStatefulTransform


def ring(names: list[str], take: str, give: str, size: int, *, tail: str = "") -> Told:
    """Each buffer in turn, whole, one object at a time."""
    return Told([f"AGE {take} 1 | {name} 0+{size}{tail} | REL {give} 1" for name in names], back=0)


def numbered(base: str, count: int) -> list[str]:
    return [f"{base}_{i}" for i in range(count)]


# --- one fifo ---------------------------------------------------------------------------------------------------------


def test_a_sliding_window_between_distant_cores() -> None:
    got = Lowered(designs.SLIDING_WINDOW)
    assert got.buffers == {"0,2": numbered("s_buff", 2), "2,4": numbered("s_cons_buff", 3)}
    assert got.locks == {
        "0,2": ["s_prod_lock_0=2", "s_cons_lock_0=0"],
        "2,4": ["s_cons_prod_lock_0=3", "s_cons_cons_lock_0=0"],
    }
    assert got.flows == ["0,2 DMA 0 -> 2,4 DMA 0"]
    assert got.programs == {
        "0,2 MM2S 0": ring(numbered("s_buff", 2), "s_cons_lock_0", "s_prod_lock_0", 8),
        "2,4 S2MM 0": ring(numbered("s_cons_buff", 3), "s_cons_prod_lock_0", "s_cons_cons_lock_0", 8),
    }
    assert got.records == []


@pytest.mark.parametrize(("source", "sink"), [((2, 3), (1, 3)), ((1, 3), (2, 3))])
def test_shared_memory_lies_where_both_reach_it(source: tuple[int, int], sink: tuple[int, int]) -> None:
    """A core reaches its western neighbour's memory and not its eastern one's: column 1 both ways."""
    got = Lowered(designs.shared(source, sink))
    assert got.buffers == {"1,3": numbered("of_buff", 4)}
    assert got.locks == {"1,3": ["of_prod_lock_0=4", "of_cons_lock_0=0"]}
    assert got.flows == [] and got.programs == {} and got.records == []
    assert lock_uses(got, *source) == {"of_prod_lock_0": "acquire", "of_cons_lock_0": "release"}
    assert lock_uses(got, *sink) == {"of_cons_lock_0": "acquire", "of_prod_lock_0": "release"}


def test_one_above_the_other_share_the_producers_memory() -> None:
    assert Lowered(designs.shared((1, 3), (1, 4))).buffers == {"1,3": numbered("of_buff", 4)}
    assert Lowered(designs.shared((1, 4), (1, 3))).buffers == {"1,4": numbered("of_buff", 4)}


def test_shared_memory_that_starts_with_two_objects() -> None:
    got = Lowered(designs.shared((2, 3), (1, 3), designs.TWO_OBJECTS))
    assert got.locks == {"1,3": ["of_prod_lock_0=2", "of_cons_lock_0=2"]}
    assert [op.symbol for op in got.ops(BufferOp) if op.initial_value is not None] == [
        "of_buff_0",
        "of_buff_1",
        "seen_of",
    ]


def lock_uses(got: Lowered, col: int, row: int) -> dict[str | None, str]:
    """What a core does with each lock."""
    core = next(op for op in got.ops(CoreOp) if op.coord == (col, row))
    found: dict[str | None, str] = {}
    for op in core.walk():
        if isinstance(op, UseLockOp) and op.lock_op is not None:
            found[op.lock_op.symbol] = "release" if op.action is LockAction.RELEASE else "acquire"
    return found


def test_different_element_types_count_their_own_objects() -> None:
    got = Lowered(designs.ELEMENT_TYPES)
    assert got.programs["0,2 MM2S 0"] == ring(numbered("t_buff", 2), "t_cons_lock_0", "t_prod_lock_0", 40)
    assert got.programs["0,1 S2MM 0"] == ring(
        numbered("t_cons_buff", 2), "t_cons_prod_lock_0", "t_cons_cons_lock_0", 10
    )


def test_broadcast_with_a_depth_for_each_receiver() -> None:
    got = Lowered(designs.broadcast((0, 1)), check=False)
    assert got.buffers == {
        "0,1": numbered("m_buff", 3),
        "0,2": numbered("m_0_cons_buff", 2),
        "0,3": numbered("m_1_cons_buff", 3),
    }
    assert got.locks == {
        "0,1": ["m_prod_lock_0=3", "m_cons_lock_0=0"],
        "0,2": ["m_0_cons_prod_lock_0=2", "m_0_cons_cons_lock_0=0"],
        "0,3": ["m_1_cons_prod_lock_0=3", "m_1_cons_cons_lock_0=0"],
    }
    assert got.flows == ["0,1 DMA 0 -> 0,2 DMA 0", "0,1 DMA 0 -> 0,3 DMA 0"]


def test_stated_depths_of_a_broadcast_are_exact() -> None:
    got = Lowered(designs.broadcast((0, 1), "[3 : i32, 1 : i32, 4 : i32]"), check=False)
    assert [len(got.buffers[tile]) for tile in ("0,1", "0,2", "0,3")] == [3, 1, 4]


def test_external_buffers_have_locks_on_the_shim() -> None:
    got = Lowered(designs.EXTERNAL)
    assert got.buffers == {"2,2": numbered("e_cons_buff", 2)}
    assert got.locks == {
        "2,0": ["e_prod_lock_0=1", "e_cons_lock_0=0"],
        "2,2": ["e_cons_prod_lock_0=2", "e_cons_cons_lock_0=0"],
    }
    assert got.programs == {
        "2,0 MM2S 0": ring(["x"], "e_cons_lock_0", "e_prod_lock_0", 64),
        "2,2 S2MM 0": ring(numbered("e_cons_buff", 2), "e_cons_prod_lock_0", "e_cons_cons_lock_0", 16),
    }
    assert got.records == ["e_shim_alloc MM2S 0"]
    assert got.flows == ["2,0 DMA 0 -> 2,2 DMA 0"]


# --- binary locks -----------------------------------------------------------------------------------------------------


def test_binary_locks_belong_to_their_buffers() -> None:
    got = Lowered(designs.BINARY_LOCKS)
    assert got.buffers == {"1,2": numbered("of_buff", 2), "3,3": numbered("of_cons_buff", 2)}
    assert got.locks == {"1,2": ["of_lock_0=0", "of_lock_1=0"], "3,3": ["of_cons_lock_0=0", "of_cons_lock_1=0"]}
    assert got.flows == ["1,2 DMA 0 -> 3,3 DMA 0"]
    assert got.programs == {
        "1,2 MM2S 0": Told([f"ACQ of_lock_{i} 1 | of_buff_{i} 0+16 | REL of_lock_{i} 0" for i in range(2)], back=0),
        "3,3 S2MM 0": Told(
            [f"ACQ of_cons_lock_{i} 0 | of_cons_buff_{i} 0+16 | REL of_cons_lock_{i} 1" for i in range(2)], back=0
        ),
    }


# --- links ------------------------------------------------------------------------------------------------------------


def test_distributing_with_repeats() -> None:
    got = Lowered(designs.DISTRIBUTE_REPEAT)
    assert got.buffers == {
        "0,1": numbered("in_cons_buff", 2),
        "0,2": numbered("a_cons_buff", 2),
        "0,3": numbered("b_cons_buff", 2),
    }
    assert got.locks == {
        "0,1": ["in_cons_prod_lock_0=4", "in_cons_cons_lock_0=0", "in_cons_prod_lock_1=4", "in_cons_cons_lock_1=0"],
        "0,2": ["a_cons_prod_lock_0=2", "a_cons_cons_lock_0=0"],
        "0,3": ["b_cons_prod_lock_0=2", "b_cons_cons_lock_0=0"],
    }
    assert got.flows == ["0,0 DMA 0 -> 0,1 DMA 0", "0,1 DMA 0 -> 0,2 DMA 0", "0,1 DMA 1 -> 0,3 DMA 0"]
    assert got.records == ["in_shim_alloc MM2S 0"]

    def part(buffer: int, k: int, amount: int, take: str, give: str) -> str:
        place = ("0+8", "8+16")[k]
        return (
            f"AGE in_cons_{take}_lock_{k} {amount} | in_cons_buff_{buffer} {place} | "
            f"REL in_cons_{give}_lock_{k} {amount}"
        )

    fill = [part(b, k, 2, "prod", "cons") for b in (0, 1) for k in (0, 1)]
    drains = [[part(b, k, 1, "cons", "prod") for b in (0, 0, 1, 1)] for k in (0, 1)]
    assert got.programs == {
        "0,1 S2MM 0": Told(fill, back=0),
        "0,1 MM2S 0": Told(drains[0], back=0),
        "0,1 MM2S 1": Told(drains[1], back=0),
        "0,2 S2MM 0": ring(numbered("a_cons_buff", 2), "a_cons_prod_lock_0", "a_cons_cons_lock_0", 8),
        "0,3 S2MM 0": ring(numbered("b_cons_buff", 2), "b_cons_prod_lock_0", "b_cons_cons_lock_0", 16),
    }


def test_a_single_repeated_object_is_repeated_by_the_drains_only() -> None:
    got = Lowered(designs.DISTRIBUTE_REPEAT.replace("%t01}, 2 : i32)", "%t01}, 1 : i32)"))
    assert got.locks["0,1"][0] == "in_cons_prod_lock_0=2"
    for channel, k, place in (("0,1 MM2S 0", 0, "0+8"), ("0,1 MM2S 1", 1, "8+16")):
        chain = ring([f"in_cons_buff_0 {place}"], f"in_cons_cons_lock_{k}", f"in_cons_prod_lock_{k}", 0)
        assert got.programs[channel].bds == [text.replace(" 0+0", "") for text in chain.bds]
        assert (got.programs[channel].repeat, got.programs[channel].back) == (1, 0)
    assert got.programs["0,1 S2MM 0"].repeat == 0
    assert len(got.programs["0,1 S2MM 0"].bds) == 2


def test_joining_into_a_bounded_output() -> None:
    got = Lowered(designs.JOIN_BOUNDED)
    assert got.buffers == {"0,1": ["z_buff_0"], "0,2": ["x_buff_0"], "0,3": ["y_buff_0"]}
    assert got.locks == {
        "0,1": ["z_prod_lock_0=1", "z_cons_lock_0=0", "z_prod_lock_1=1", "z_cons_lock_1=0"],
        "0,2": ["x_prod_lock_0=1", "x_cons_lock_0=0"],
        "0,3": ["y_prod_lock_0=1", "y_cons_lock_0=0"],
    }
    assert got.flows == ["0,2 DMA 0 -> 0,1 DMA 0", "0,3 DMA 0 -> 0,1 DMA 1", "0,1 DMA 0 -> 0,0 DMA 0"]
    assert got.records == ["z_shim_alloc S2MM 0"]
    halves = ("0+16", "16+16")
    told = got.programs
    assert [name for name in told if name.startswith("0,1")] == [
        "0,1 S2MM 0",
        "0,1 S2MM 1",
        "0,1 MM2S 0",
    ]
    for k, half in enumerate(halves):
        assert told[f"0,1 S2MM {k}"] == Told([f"AGE z_prod_lock_{k} 1 | z_buff_0 {half} | REL z_cons_lock_{k} 1"], 0)
    assert told["0,1 MM2S 0"] == Told(
        [f"AGE z_cons_lock_{k} 1 | z_buff_0 {half} | REL z_prod_lock_{k} 1" for k, half in enumerate(halves)],
        back=None,
        repeat=2,
    )


def test_dispatching_in_the_links_order() -> None:
    got = Lowered(designs.DISPATCH)
    assert got.buffers["0,1"] == numbered("in_cons_buff", 3)
    assert got.locks["0,1"] == ["in_cons_prod_lock_0=3", "in_cons_cons_lock_0=0"]
    assert got.flows[0] == "0,0 DMA 0 -> 0,1 DMA 0"
    ids = {flow.partition(" -> ")[2]: int(flow.partition(":")[0]) for flow in got.flows[1:]}
    assert set(ids) == {"0,2 DMA 0", "0,3 DMA 0"} and set(ids.values()) == {0, 1}
    turns = [ids["0,3 DMA 0"], ids["0,2 DMA 0"]] * 3
    assert got.programs["0,1 MM2S 0"] == Told(
        [
            f"AGE in_cons_cons_lock_0 1 | pkt(0,{header}) | in_cons_buff_{buffer} 0+8 | REL in_cons_prod_lock_0 1"
            for buffer, header in zip((0, 1, 2, 0, 1, 2), turns, strict=True)
        ],
        back=0,
    )


def test_dispatch_bounded_by_whole_rounds() -> None:
    bounded = designs.DISPATCH.replace("2 : i32)  :", "2 : i32) {iter_count = 4 : i32} :")
    assert bounded.count("iter_count") == 2
    told = Lowered(bounded).programs["0,1 MM2S 0"]
    assert (len(told.bds), told.repeat, told.back) == (6, 1, None)
    ran = Ran(bounded.replace("iter_count = 4", "iter_count = 3"), ObjectFifoStatefulTransform())
    assert ran.only.text == (
        "'aie.objectfifo.dma_endpoint' op iterCount 3 is not a whole number of dispatch rounds (2 passes over the pool)"
    )


def test_merging_by_arrival() -> None:
    got = Lowered(designs.MERGE)
    assert got.buffers == {"0,1": numbered("out_buff", 2), "0,2": ["p_buff_0"], "0,3": ["q_buff_0"]}
    assert got.locks["0,1"] == ["out_prod_lock_0=2", "out_cons_lock_0=0"]
    assert sorted(got.flows) == ["0,1 DMA 0 -> 0,0 DMA 0", "0: 0,2 DMA 0 + 0,3 DMA 0 -> 0,1 DMA 0"]
    assert got.programs["0,1 S2MM 0"] == ring(numbered("out_buff", 2), "out_prod_lock_0", "out_cons_lock_0", 8)
    for tile, name in (("0,2", "p"), ("0,3", "q")):
        assert got.programs[f"{tile} MM2S 0"] == Told(
            [f"AGE {name}_cons_lock_0 1 | pkt(0,0) | {name}_buff_0 0+8 | REL {name}_prod_lock_0 1"], back=0
        )


def test_windows_over_the_whole_stream() -> None:
    got = Lowered(designs.WINDOWS)
    assert got.buffers["0,1"] == ["rows_cons_buff_0"]
    assert got.locks["0,1"] == ["rows_cons_prod_lock_0=4", "rows_cons_cons_lock_0=0"]
    buffer = next(op for op in got.ops(BufferOp) if op.symbol == "rows_cons_buff_0")
    assert str(buffer.type) == "memref<48xi32>" and buffer.initial_value is not None
    produce, consume = "rows_cons_prod_lock_0", "rows_cons_cons_lock_0"
    assert got.programs["0,1 S2MM 0"] == Told(
        [f"AGE {produce} 1 | rows_cons_buff_0 8+8 iter(4*8) | REL {consume} 1"], back=0
    )
    assert got.programs["0,1 MM2S 0"] == Told(
        [
            f"AGE {consume} 2 | rows_cons_buff_0 0+24 [3*8 8*1]",
            f"AGE {consume} 1 | rows_cons_buff_0 8+24 [3*8 8*1] | REL {produce} 1",
            f"AGE {consume} 1 | rows_cons_buff_0 16+24 [3*8 8*1] | REL {produce} 1",
            f"rows_cons_buff_0 24+24 [3*8 8*1] | REL {produce} 2",
        ],
        back=0,
    )


@pytest.mark.parametrize("value", [0, 7])
def test_padding_on_the_way_out_of_a_link(value: int) -> None:
    got = Lowered(designs.padded_link(value))
    assert got.buffers == {"0,1": numbered("in_cons_buff", 2), "0,2": numbered("out_cons_buff", 2)}
    sizes = {str(op.symbol): str(op.type) for op in got.ops(BufferOp)}
    assert sizes["in_cons_buff_0"] == "memref<12xi32>" and sizes["out_cons_buff_0"] == "memref<32xi32>"
    drain = ring(
        numbered("in_cons_buff", 2), "in_cons_cons_lock_0", "in_cons_prod_lock_0", 32, tail=" [3*4 4*1] pad[1:0 2:2]"
    )
    drain.pad_value = value
    assert got.programs["0,1 MM2S 0"] == drain
    assert got.programs["0,2 S2MM 0"] == ring(
        numbered("out_cons_buff", 2), "out_cons_prod_lock_0", "out_cons_cons_lock_0", 32
    )


def test_a_large_pool_spills_into_the_neighbours() -> None:
    got = Lowered(designs.SPILL)
    assert got.buffers == {
        "1,1": ["big_cons_buff_0"],
        "0,1": ["big_cons_buff_1"],
        "2,1": ["big_cons_buff_2"],
        "1,2": ["out_cons_buff_0"],
    }
    assert got.locks["1,1"] == ["big_cons_prod_lock_0=3", "big_cons_cons_lock_0=0"]
    assert got.programs["1,1 S2MM 0"] == ring(
        numbered("big_cons_buff", 3), "big_cons_prod_lock_0", "big_cons_cons_lock_0", 300000
    )
    assert got.programs["1,1 MM2S 0"] == ring(
        numbered("big_cons_buff", 3), "big_cons_cons_lock_0", "big_cons_prod_lock_0", 300000
    )


def test_a_channel_that_cannot_reach_the_neighbours() -> None:
    pinned = designs.SPILL.replace("{%t11}, 3 : i32) ", "{%t11}, 3 : i32) {cons_ports = [#aie.end_port<DMA : 4>]}", 1)
    assert "DMA : 4" in pinned
    ran = Ran(pinned, ObjectFifoStatefulTransform())
    assert ran.only.text == (
        "'aie.objectfifo.dma_endpoint' op pinned S2MM DMA channel 4 cannot access adjacent MemTile buffers or locks"
    )


# --- objects that are there from the start ----------------------------------------------------------------------------


def test_constant_weights_need_no_locks() -> None:
    got = Lowered(designs.weights())
    assert got.locks == {"0,2": ["w_cons_prod_lock_0=1", "w_cons_cons_lock_0=0"]}
    assert got.programs["0,1 MM2S 0"] == Told(["w_buff_0 0+64"], back=0, repeat=6)
    assert got.programs["0,2 S2MM 0"] == ring(["w_cons_buff_0"], "w_cons_prod_lock_0", "w_cons_cons_lock_0", 64)


def test_constant_weights_that_a_sequence_rearms() -> None:
    got = Lowered(designs.weights(designs.RESET_WEIGHTS))
    assert got.locks["0,1"] == ["w_prod_lock_0=0", "w_cons_lock_0=7"]
    assert got.programs["0,1 MM2S 0"] == Told(["AGE w_cons_lock_0 1 | w_buff_0 0+64 | REL w_prod_lock_0 1"], 0, 6)
    (binding,) = got.lines("objectfifo_rearm_binding")
    for words in (
        "@w_rearm",
        "channels(%mem_tile_0_1, %tile_0_2 :",
        "locks(%w_prod_lock_0, %w_cons_lock_0, %w_cons_prod_lock_0, %w_cons_cons_lock_0 :",
        "channel_dirs = array<i32: 1, 0>",
        "channel_indices = array<i32: 0, 0>",
        "lock_inits = array<i32: 0, 7, 1, 0>",
    ):
        assert words in binding
    assert got.lines("dma_channel_reset_for") == ["aiex.dma_channel_reset_for(@w_rearm)"]


# --- channels that run out --------------------------------------------------------------------------------------------


def test_a_shim_that_runs_out_shares_between_sequences() -> None:
    got = Lowered(designs.SHIM_RUNS_OUT)
    assert sorted(got.records) == ["a_shim_alloc MM2S 0 id 0", "b_shim_alloc MM2S 1", "c_shim_alloc MM2S 0 id 1"]
    assert sorted(got.flows) == [
        "0,0 DMA 1 -> 0,3 DMA 0",
        "0: 0,0 DMA 0 -> 0,2 DMA 0",
        "1: 0,0 DMA 0 -> 0,4 DMA 0",
    ]
    assert sorted(line.partition(" = ")[2] for line in got.lines("configure_task_for")) == [
        f"aiex.dma_configure_task_for @{name}_shim_alloc {{" for name in "abc"
    ]


def test_a_second_sender_beside_the_shared_one_changes_nothing() -> None:
    both = designs.SHIM_RUNS_OUT.replace(designs.send("c"), designs.send("b") + "\n" + designs.send("c"))
    got, plain = Lowered(both), Lowered(designs.SHIM_RUNS_OUT)
    assert (got.records, got.flows) == (plain.records, plain.flows)


def test_a_shim_whose_ends_are_all_in_flight_does_not_share() -> None:
    """The third end is used in the first sequence as well."""
    text = designs.SHIM_RUNS_OUT.replace("aie.runtime_sequence @two(%arg : memref<16xi32>) {", "", 1)
    at = text.index("}", text.index("await_task(%task_b)"))
    text = text[:at] + text[at + 1 :]
    ran = Ran(text, ObjectFifoStatefulTransform())
    assert any("number of output DMA channel exceeded!" in said for said in ran.said)


@pytest.mark.parametrize(
    ("order", "out", "into"),
    [
        ("bc", "mb_buff_0 mc_buff_0 mb_buff_1 mc_buff_0", "b_buff_0 c_buff_0 b_buff_1 c_buff_1"),
        ("bbc", "mb_buff_0 mb_buff_1 mc_buff_0", "b_buff_0 b_buff_1 c_buff_0 b_buff_0 b_buff_1 c_buff_1"),
    ],
)
def test_two_streams_take_turns(order: str, out: str, into: str) -> None:
    got = Lowered(designs.turns(order))

    def chain(buffers: str, take: str, give: str) -> Told:
        names = [(name, name.split("_")[0]) for name in buffers.split()]
        return Told([f"AGE {p}_{take}_lock_0 1 | {name} 0+4 | REL {p}_{give}_lock_0 1" for name, p in names], back=0)

    assert got.programs["0,1 MM2S 0"] == chain(out, "cons", "prod")
    assert got.programs["0,2 S2MM 0"] == chain(into, "prod", "cons")
    assert [flow for flow in got.flows if flow.startswith("0,1")] == ["0,1 DMA 0 -> 0,2 DMA 0"]
