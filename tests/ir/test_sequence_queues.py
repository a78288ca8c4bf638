"""Task queues and tokens: what is pushed while how much may be running, and what waits wait for."""

import itertools

import pytest
from seqkit import assigned, device, free, ids, operations, start, task, to_npu, wait

from aiecc.npu import txn

MB = "%mb : memref<4096xi32> offset = 0 len = 64"
CB = "%cb : memref<1024xi32> offset = 0 len = 64"


# --- queues -----------------------------------------------------------------------------------------------------------


FULL = (
    "'aiex.dma_start_task' op pushes a DMA task onto tile (0,0) MM2S channel 0, whose task queue is only 4 deep, with "
    "4 push(es) not yet known to have completed. A push onto a full queue is dropped by hardware and its transfer "
    "never runs, so whatever waits on it blocks forever."
)


def pushed(count: int, *, token: bool = True) -> str:
    return "".join(task(f"t{i}", token=token) for i in range(count)) + start(*(f"t{i}" for i in range(count)))


@pytest.mark.parametrize("check", ["wait", "error", "warn", "off"])
def test_four_pushes_always_fit(check: str) -> None:
    ran = assigned(device(pushed(4)), queue_check=check)
    assert not ran.said
    assert not ran.lines("npu.sync")


def test_the_fifth_waits_for_the_first_token() -> None:
    ran = assigned(device(pushed(6)), queue_check="wait")
    assert not ran.said
    starts = [line.split("(")[0] for line in ran.text.splitlines() if "dma_start_task" in line or "npu.sync" in line]
    kinds = [line.strip().rsplit(".", 1)[1] for line in starts]
    assert kinds == ["dma_start_task"] * 4 + ["sync", "dma_start_task"] * 2


def test_a_token_taken_by_such_a_wait_is_not_waited_for_again() -> None:
    ran = assigned(device(pushed(5) + wait("t0", "t4")), queue_check="wait")
    assert not ran.said
    # t0's token went with the wait; the other four come before t4 is done.
    assert ran.lines("await_task") == [
        "aiex.dma_await_task(%0) {tokens = 0 : i32}",
        "aiex.dma_await_task(%4) {tokens = 4 : i32}",
    ]


def test_without_tokens_the_fifth_is_refused() -> None:
    ran = assigned(device(pushed(5, token=False)), queue_check="error")
    assert ran.only.text == FULL
    assert [n.text for n in ran.only.notes] == ["not known to have completed"] * 4


def kinds(text: str) -> list[str]:
    """What is pushed, with a token or without, and what is waited for, in order."""
    found: list[str] = []
    for op in operations(text, queue_check="wait"):
        if isinstance(op, txn.Sync):
            found.append("wait")
        elif isinstance(op, txn.Write):
            found.append("told" if op.value >> 31 else "push")
    return found


def test_without_tokens_the_fifth_has_the_first_tell() -> None:
    """Of six pushes the first two are waited for before the last two."""
    assert kinds(device(pushed(6, token=False))) == ["told", "told", "push", "push", "wait", "push", "wait", "push"]


@pytest.mark.parametrize(("on", "bd"), [("%mem", MB), ("%core", CB)])
def test_tokens_of_other_tiles_are_only_those_that_are_asked_for(on: str, bd: str) -> None:
    """Nobody knows whether a token of such a tile finds its way to the host."""
    text = "".join(task(f"t{i}", on=f"{on}, MM2S, 0", bd=bd) + start(f"t{i}") for i in range(5))
    assert "task queue is only 4 deep" in assigned(device(text), queue_check="wait").only.text


def test_a_task_told_by_one_start_does_not_tell_by_others() -> None:
    text = task("t") + start("t") * 3 + task("x") + start("x", "x")
    assert kinds(device(text)) == ["told", "push", "push", "push", "wait", "push"]


def test_an_await_of_a_task_without_a_token_stays_an_error() -> None:
    ran = to_npu(device(pushed(5, token=False) + wait("t0")), queue_check="wait")
    assert "not configured to issue a token" in ran.only.text


def test_the_fifth_as_an_error_and_as_a_warning() -> None:
    assert assigned(device(pushed(5)), queue_check="error").only.text == FULL
    ran = assigned(device(pushed(5)), queue_check="warn")
    assert ran.only.text == FULL
    assert not ran.sink.failed


def test_channels_have_queues_of_their_own() -> None:
    text = "".join(
        task(f"{d}{c}{i}", on=f"%shim, {d}, {c}") + start(f"{d}{c}{i}")
        for d, c, i in itertools.product(("MM2S", "S2MM"), (0, 1), range(4))
    )
    assert not assigned(device(text), queue_check="error").said


def test_an_await_makes_room() -> None:
    text = pushed(4) + wait("t1") + task("x") + task("y") + start("x", "y")
    assert not assigned(device(text), queue_check="error").said
    assert assigned(device(text + task("z") + start("z")), queue_check="error").only.text == FULL


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_an_await_takes_the_tokens_of_earlier_starts() -> None:
    """Tokens of a channel are alike: the second one says that the second task is done, the first does not."""
    text = task("x", token=True) + task("y", token=True) + start("x", "y") + wait("y", "x")
    ran = assigned(device(text))
    assert ran.lines("await_task") == [
        "aiex.dma_await_task(%1) {tokens = 2 : i32}",
        "aiex.dma_await_task(%0) {tokens = 0 : i32}",
    ]


def test_waits_written_by_hand_take_tokens_too() -> None:
    sync = """
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    aiex.npu.sync(%c0, %c0, %c1, %c0, %c1, %c1) : i32, i32, i32, i32, i32, i32
"""
    text = task("x", token=True) + task("y", token=True) + start("x", "y") + sync + wait("y")
    ran = assigned(device(text))
    assert ran.lines("await_task") == ["aiex.dma_await_task(%1)"], "one of the two tokens is gone already"


# --- frees and queues -------------------------------------------------------------------------------------------------


def rounds(count: int, *, awaited: bool = True) -> str:
    """What goes in is freed once what comes out has come."""
    text = ""
    for i in range(count):
        text += task(f"i{i}") + task(f"o{i}", on="%shim, S2MM, 0", token=True) + start(f"i{i}", f"o{i}")
        text += (wait(f"o{i}") if awaited else free(f"o{i}")) + free(f"i{i}")
    return text


def test_a_free_after_a_wait_makes_room_in_the_queue() -> None:
    """The usual shape of a loop: many more than four pushes without a token of their own."""
    ran = assigned(device(rounds(20)), queue_check="error")
    assert not ran.said
    assert ids(ran) == [0, 1] * 20


def test_a_free_without_any_wait_makes_none() -> None:
    assert assigned(device(rounds(5, awaited=False)), queue_check="error").only.text == FULL


def test_tokens_of_freed_tasks_are_still_there() -> None:
    """The channel told twice; the later await has to take both tokens to know about the second."""
    text = task("x", token=True) + task("w", on="%shim, S2MM, 0", token=True) + start("x", "w") + wait("w") + free("x")
    ran = assigned(device(text + task("y", token=True) + start("y") + wait("y")))
    assert not ran.said
    assert ran.lines("await_task") == ["aiex.dma_await_task(%1)", "aiex.dma_await_task(%2) {tokens = 2 : i32}"]


def test_making_room_takes_the_tokens_of_freed_tasks_first() -> None:
    text = task("x", token=True) + task("w", on="%shim, S2MM, 0", token=True) + start("x", "w") + wait("w") + free("x")
    ran = assigned(device(text + pushed(5)), queue_check="wait")
    assert not ran.said
    assert len(ran.lines("npu.sync")) == 2, "the token of x, then that of the first of five"


# --- waits for a channel ----------------------------------------------------------------------------------------------


def copy(id: int, name: str = "out", *, token: bool = False) -> str:
    return (
        f"    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {{id = {id} : i64, issue_token = "
        f"{str(token).lower()}, metadata = @{name}}} : memref<65536xi32>\n"
    )


def wait_for(name: str = "out") -> str:
    return f"    aiex.npu.dma_wait {{symbol = @{name}}}\n"


def sync(col: int, row: int, direction: int, channel: int, columns: int = 1, rows: int = 1) -> str:
    values = (col, row, direction, channel, columns, rows)
    names = [f"%n{n}_{abs(hash((values, i)))}" for i, n in enumerate(values)]
    lines = "".join(f"    {name} = arith.constant {n} : i32\n" for name, n in zip(names, values, strict=True))
    return f"{lines}    aiex.npu.sync({', '.join(names)}) : {', '.join(['i32'] * 6)}\n"


def test_what_was_waited_for_to_make_room_is_not_waited_for_again() -> None:
    """Five tokens come, so five waits: one more would never end."""
    text = "".join(copy(i) for i in range(5)) + wait_for() * 5
    assert kinds(device(text)) == ["told"] * 4 + ["wait", "told"] + ["wait"] * 4


def test_an_await_that_takes_the_token_of_a_copy_leaves_nothing_for_its_wait() -> None:
    text = copy(0) + task("t", on="%shim, S2MM, 0", token=True) + start("t") + wait("t") + wait_for()
    assert kinds(device(text)) == ["told", "told", "wait", "wait"]


@pytest.mark.parametrize(
    "text",
    [
        copy(0, "in") + wait_for("in"),
        copy(0) + wait_for() * 2,
        task("t") + start("t") + sync(0, 0, 1, 0),
    ],
)
def test_a_wait_for_a_token_that_never_comes(text: str) -> None:
    ran = assigned(device(text))
    assert "awaits a task-completion token on a channel where no outstanding token" in ran.only.text
    assert ran.sink.failed


@pytest.mark.parametrize(
    "text",
    [
        wait_for(),
        sync(0, 0, 0, 0),
        task("t", token=True) + start("t") + sync(0, 0, 1, 1),
        task("t", token=True) + start("t") + sync(0, 0, 1, 0, columns=2),
    ],
)
def test_a_wait_for_a_channel_nothing_was_pushed_on(text: str) -> None:
    """Another sequence may have; the words are those of the wait."""
    ran = assigned(device(text))
    assert "on which this sequence pushes nothing" in ran.only.text
    assert not ran.sink.failed


def test_a_wait_over_several_columns() -> None:
    both = "".join(
        task(f"t{c}", on=f"%{t}, MM2S, 0", token=True) + start(f"t{c}") for c, t in ((0, "shim"), (1, "shim1"))
    )
    ran = assigned(device(both + sync(0, 0, 1, 0, columns=2) + wait("t0", "t1")))
    assert not ran.said
    assert len(ran.lines("tokens = 0 : i32")) == 2


def test_a_queue_written_by_address_may_bring_tokens() -> None:
    """0x1D214 is the start queue of channel 0 that sends; only of that channel nobody knows what was pushed."""
    push = "%q = arith.constant 119316 : i32\n %w = arith.constant -2147483648 : i32\n"
    push += "aiex.npu.write32(%q, %w) : i32, i32\n"
    assert not assigned(device(push + sync(0, 0, 1, 0))).said
    assert assigned(device(push + sync(0, 0, 1, 1))).said
    inside = push.replace("(%q, %w)", "(%q, %w) {column = 1 : i32, row = 0 : i32}")
    assert not assigned(device(inside + sync(1, 0, 1, 0))).said
    assert assigned(device(inside + sync(0, 0, 1, 0))).said


# --- pushes by hand ---------------------------------------------------------------------------------------------------


def test_pushes_by_hand_fill_queues_too() -> None:
    push = """
    %i{n} = arith.constant 5 : i32
    %z{n} = arith.constant 0 : i32
    aiex.npu.push_queue(0, 0, MM2S : 0) bd_id %i{n} repeat %z{n} {{issue_token = false}} : i32, i32
"""
    text = "".join(push.format(n=n) for n in range(5))
    assert "task queue is only 4 deep" in assigned(device(text), queue_check="error").only.text
    assert kinds(device(text)) == ["told", "push", "push", "push", "wait", "push"]


# --- copies that use their ids again ----------------------------------------------------------------------------------


def rounds_of_copies(count: int) -> str:
    """The usual shape: what goes in tells nothing, what comes out is waited for."""
    return "".join(copy(0, "in") + copy(1) + wait_for() for _ in range(count))


def test_an_id_used_again_after_a_wait_says_that_what_had_it_is_done() -> None:
    ran = assigned(device(rounds_of_copies(20)), queue_check="error")
    assert not ran.said


def test_without_ids_used_again_the_queue_is_waited_for() -> None:
    text = "".join(copy(2 * i, "in") + copy(2 * i + 1) + wait_for() for i in range(6))
    assert "task queue is only 4 deep" in assigned(device(text), queue_check="error").only.text
    found = kinds(device(text))
    assert found.count("wait") == 8, "six written, and two before the fifth and the sixth that go in"
    assert found[:2] == ["told", "told"]
