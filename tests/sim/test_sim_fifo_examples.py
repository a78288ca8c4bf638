"""Whole objectFifo designs, lowered and run on the array model: the right objects arrive, whatever comes first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import fifo_examples as designs
import numpy as np
import pytest
from numpy.typing import NDArray

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.pipeline import make_pass
from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Outcome

Array = NDArray[np.generic]
Start = Callable[[LockOp], int | None]

WAYS = ["rolled", "static", "dynamic"]
"""The cores as they come out of the lowering, and after unrolling with static or dynamic cores."""


def lowered(text: str, way: str = "static"):  # type: ignore[no-untyped-def]
    module, sink = parse(text, "design.mlir"), Sink()
    (device,) = (op for op in module.body.block.ops if isinstance(op, DeviceOp))
    make_pass("aie-objectFifo-stateful-transform").apply(device, sink)
    if way != "rolled":
        make_pass("aie-objectFifo-unroll", f"default-dynamic={str(way == 'dynamic').lower()}").apply(device, sink)
    assert [d.text for d in sink.items] == []
    assert not verify(module)
    return module


def run(
    text: str,
    way: str = "static",
    *,
    feeds: Mapping[str, Array | Sequence[Array]] | None = None,
    drains: Mapping[str, int] | None = None,
    seeds: Sequence[int] = range(3),
    host: Mapping[str, int] | None = None,
    **options: object,
) -> list[Outcome]:
    """Run under several interleavings. `host` sets locks to what the host would have done before the start."""
    module = lowered(text, way)
    for op in module.walk():
        if isinstance(op, LockOp) and host is not None and op.symbol in host:
            replaced = LockOp(op.tile, op.id, host[op.symbol], op.symbol)
            op.properties.update(replaced.properties)
            replaced.erase()
    sent = {
        name: data.tobytes() if isinstance(data, np.ndarray) else [part.tobytes() for part in data]
        for name, data in (feeds or {}).items()
    }
    found = [simulate(module, feeds=sent, drains=drains or {}, seed=seed, **options) for seed in seeds]  # type: ignore[arg-type]
    for outcome in found:
        assert outcome.finished, outcome.report()
    return found


def kept(outcome: Outcome, name: str, type: str = "<i4") -> Array:
    return np.frombuffer(outcome.memory[f"seen_{name}"], type)


def same(outcomes: Sequence[Outcome], name: str, want: Array, type: str = "<i4") -> None:
    for outcome in outcomes:
        np.testing.assert_array_equal(kept(outcome, name, type), want.reshape(-1))


def count(*shape: int, start: int = 0, type: str = "<i4") -> Array:
    """Elements that count up."""
    return np.arange(start, start + int(np.prod(shape)), dtype=type).reshape(shape)


# --- one fifo ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_window_slides_over_ten_objects(way: str) -> None:
    objects = count(10, 8, type="<i2")
    same(run(designs.SLIDING_WINDOW, way), "s", objects[:-1] + objects[1:], "<i2")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("places", [((2, 3), (1, 3)), ((1, 3), (2, 3)), ((1, 3), (1, 4)), ((1, 4), (1, 3))])
def test_neighbours_share_their_objects(way: str, places: tuple[tuple[int, int], tuple[int, int]]) -> None:
    same(run(designs.shared(*places), way), "of", count(6, 4, start=100))


@pytest.mark.parametrize("way", WAYS)
def test_initial_objects_come_first(way: str) -> None:
    want = np.concatenate([np.repeat(np.int32([-5, -7]), 4), count(24, start=100)])
    same(run(designs.shared((2, 3), (1, 3), designs.TWO_OBJECTS), way), "of", want)


@pytest.mark.parametrize("way", WAYS)
def test_one_large_object_is_four_small_ones(way: str) -> None:
    same(run(designs.ELEMENT_TYPES, way), "u", count(12, 10))


@pytest.mark.parametrize("way", WAYS)
def test_a_broadcast_reaches_both_at_their_own_pace(way: str) -> None:
    objects = count(6, 8)
    outcomes = run(designs.broadcast((0, 4)), way)
    same(outcomes, "one", objects)
    same(outcomes, "two", objects[:-1] + objects[1:])


def test_an_external_buffer_that_the_host_has_filled() -> None:
    """One object of 64 outside is four of the fifo; the host took the produce lock and gave the consume lock."""
    data = count(4, 16, start=7)
    outcomes = run(designs.EXTERNAL, feeds={"x": data}, host={"e_prod_lock_0": 0, "e_cons_lock_0": 1})
    same(outcomes, "e", data)
    for outcome in outcomes:
        assert (outcome.locks["e_prod_lock_0"].value, outcome.locks["e_cons_lock_0"].value) == (1, 0)


# --- binary locks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_binary_locks_hand_over_two_objects(way: str) -> None:
    same(run(designs.BINARY_LOCKS, way), "of", count(2, 16))


@pytest.mark.parametrize("way", WAYS)
def test_a_window_on_binary_locks_does_not_take_twice(way: str) -> None:
    objects = count(3, 16)
    same(run(designs.binary_window(), way), "of", objects[:-1] + objects[1:])


@pytest.mark.parametrize("way", WAYS)
def test_a_window_slides_on_binary_locks_in_a_loop(way: str) -> None:
    """What is held when a round starts is not taken again: a held binary lock never comes free for its holder."""
    objects = count(10, 8, type="<i2")
    text = designs.SLIDING_WINDOW.replace("npu2", "xcvc1902")
    same(run(text, way), "s", objects[:-1] + objects[1:], "<i2")


@pytest.mark.parametrize("way", WAYS)
def test_a_broadcast_on_binary_locks(way: str) -> None:
    objects = count(6, 8)
    outcomes = run(designs.broadcast((0, 4)).replace("npu2", "xcvc1902"), way)
    same(outcomes, "one", objects)
    same(outcomes, "two", objects[:-1] + objects[1:])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("kind", ["npu2", "xcvc1902"])
def test_a_core_object_is_sent_three_times(kind: str, depth: int, way: str) -> None:
    same(run(designs.repeated(kind, depth), way), "f", np.repeat(count(4, 8), 3, axis=0))


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_each_part_is_sent_twice(way: str) -> None:
    data = count(4, 24)
    outcomes = run(designs.DISTRIBUTE_REPEAT, way, feeds={"in_shim_alloc": data})
    same(outcomes, "a", np.repeat(data[:, :8], 2, axis=0))
    same(outcomes, "b", np.repeat(data[:, 8:], 2, axis=0))


def test_each_part_of_a_single_object_is_sent_twice() -> None:
    data = count(4, 24)
    text = designs.DISTRIBUTE_REPEAT.replace("%t01}, 2 : i32)", "%t01}, 1 : i32)")
    outcomes = run(text, feeds={"in_shim_alloc": data})
    same(outcomes, "a", np.repeat(data[:, :8], 2, axis=0))
    same(outcomes, "b", np.repeat(data[:, 8:], 2, axis=0))


@pytest.mark.parametrize("way", WAYS)
def test_a_join_sends_its_three_objects(way: str) -> None:
    want = np.concatenate([count(3, 16), count(3, 16, start=1000)], axis=1)
    for outcome in run(designs.JOIN_BOUNDED, way, drains={"z_shim_alloc": want.nbytes}):
        assert outcome.received["z_shim_alloc"] == want.tobytes()


def test_a_bounded_join_sends_no_fourth_object() -> None:
    """Its producers go on until all room behind them is full: one object each at home, one in the memory tile."""
    text = designs.JOIN_BOUNDED.replace("arith.constant 3 : index", "arith.constant 6 : index")
    assert text.count("constant 6 : index") == 2
    outcome = simulate(lowered(text), drains={"z_shim_alloc": None})
    assert len(outcome.received["z_shim_alloc"]) == 3 * 32 * 4
    assert outcome.stuck


@pytest.mark.parametrize("way", WAYS)
def test_objects_go_to_their_turns(way: str) -> None:
    data = count(12, 8)
    outcomes = run(designs.DISPATCH, way, feeds={"in_shim_alloc": data})
    same(outcomes, "q", data[0::2])
    same(outcomes, "p", data[1::2])


def test_a_merge_keeps_every_senders_order() -> None:
    """Who comes first is the switch's choice; no object is lost or torn."""
    sent = {0: count(5, 8), 1000: count(4, 8, start=1000)}
    orders: set[tuple[int, ...]] = set()
    for outcome in run(designs.MERGE, drains={"out_shim_alloc": 9 * 32}, seeds=range(8)):
        got = np.frombuffer(outcome.received["out_shim_alloc"], "<i4").reshape(9, 8)
        for low, want in sent.items():
            mine = got[(got[:, 0] >= low) & (got[:, 0] < low + 1000)]
            np.testing.assert_array_equal(mine, want)
        orders.add(tuple(int(row[0] >= 1000) for row in got))
    assert len(orders) > 1


@pytest.mark.parametrize("way", WAYS)
def test_windows_read_zeros_around_the_stream(way: str) -> None:
    data = count(2, 4, 8, start=1)
    padded = np.pad(data, ((0, 0), (1, 1), (0, 0)))
    want = np.stack([padded[s, j : j + 3] for s, j in itertools.product(range(2), range(4))])
    same(run(designs.WINDOWS, way, feeds={"rows_shim_alloc": data}), "windows", want)


@pytest.mark.parametrize(
    ("outputs", "advance", "span", "before", "after"),
    [
        (4, 1, 1, 0, 0),
        (3, 2, 2, 0, 0),
        (5, 1, 4, 2, 1),
        (3, 2, 3, 1, 0),
        (2, 3, 5, 0, 2),
        (3, 3, 2, 0, 0),
        (2, 4, 1, 0, 0),
    ],
)
def test_windows_of_any_shape(outputs: int, advance: int, span: int, before: int, after: int) -> None:
    """Overlapping, side by side, or with rows between them that none reads."""
    rows = (outputs - 1) * advance + span - before - after
    data = count(3, rows, 8, start=1)
    padded = np.pad(data, ((0, 0), (before, after), (0, 0)))
    first = [advance * j for j in range(outputs)]
    want = np.stack([padded[s, row : row + span] for s, row in itertools.product(range(3), first)])
    text = designs.windows(outputs, advance, span, before, after, streams=3)
    same(run(text, feeds={"rows_shim_alloc": data}), "windows", want)


def test_rows_of_a_window_are_laid_out_as_they_arrive() -> None:
    """The filling end of the stream has a layout of its own: here it interleaves the halves of every row."""
    data = count(2, 4, 8, start=1)
    rows = data.reshape(2, 4, 2, 4).swapaxes(2, 3).reshape(2, 4, 8)
    padded = np.pad(rows, ((0, 0), (1, 1), (0, 0)))
    want = np.stack([padded[s, j : j + 3] for s, j in itertools.product(range(2), range(4))])
    layout = "[<size = 2, stride = 1>, <size = 4, stride = 2>]"
    text = designs.WINDOWS.replace("(%t00, {%t01}, 2", f"(%t00, {{%t01 dimensionsFromStream {layout}}}, 2")
    assert layout in text
    same(run(text, feeds={"rows_shim_alloc": data}), "windows", want)


@pytest.mark.parametrize("value", [0, 7])
def test_padding_is_added_on_the_way_out(value: int) -> None:
    data = count(3, 3, 4, start=1)
    want = np.pad(data, ((0, 0), (1, 0), (2, 2)), constant_values=value)
    same(run(designs.padded_link(value), feeds={"in_shim_alloc": data}), "out", want)


def test_objects_in_three_memory_tiles() -> None:
    data = (count(900_000, type="<i8") * 31 // 1000 % 251).astype("<i1")
    outcomes = run(designs.SPILL, feeds={"big_shim_alloc": data}, seeds=[0], ordered=False)
    same(outcomes, "out", data[::1000], "<i1")


# --- objects that are there from the start ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sequence", ["", designs.RESET_WEIGHTS])
def test_weights_are_sent_seven_times(way: str, sequence: str) -> None:
    want = np.tile(np.int8(designs.WEIGHTS), 7)
    same(run(designs.weights(sequence), way), "w", want, "<i1")


# --- channels that run out --------------------------------------------------------------------------------------------


def test_a_shared_shim_channel_serves_one_sequence_after_the_other() -> None:
    data = {name: count(2, 8, start=100 * i) for i, name in enumerate("abc")}
    first = run(designs.SHIM_RUNS_OUT, feeds={f"{n}_shim_alloc": [data[n]] for n in "ab"}, cores_end=False)
    for name in "ab":
        same(first, name, data[name])
    second = run(designs.SHIM_RUNS_OUT, feeds={"c_shim_alloc": [data["c"]]}, cores_end=False)
    same(second, "c", data["c"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", ["bc", "bbc", "cb"])
def test_a_channel_that_two_streams_share(way: str, order: str) -> None:
    data = {name: count(4 * order.count(name), 4, start=start) for name, start in (("b", 0), ("c", 500))}
    outcomes = run(designs.turns(order), way, feeds={f"{n}_shim_alloc": data[n] for n in "bc"})
    for name in "bc":
        same(outcomes, name, data[name])


# --- cores ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_window_that_moves_on_every_third_round(way: str) -> None:
    """Rounds 0, 3 and 6 give an object back."""
    data = count(5, 4, start=1)
    first = [sum(r % 3 == 0 for r in range(round)) for round in range(9)]
    want = np.stack([data[i] + data[i + 1] for i in first])
    same(run(designs.CONDITIONAL_RELEASE, way, feeds={"f_shim_alloc": data}), "f", want)
