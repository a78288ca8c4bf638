"""Which ids descriptors get, who holds them how long, and what is refused about tasks."""

import pytest
from passkit import Ran
from seqkit import assigned, device, free, ids, start, task, wait

from aiecc.ir.passes.assign_bd_ids import AssignBdIds
from aiecc.ir.passes.assign_sequence_ids import AssignRuntimeSequenceBdIds


def run(text: str, **options: str) -> list[int | None]:
    ran = assigned(device(text), **options)
    assert not ran.said, ran.said
    return ids(ran)


# --- which ids --------------------------------------------------------------------------------------------------------


def test_the_lowest_first_for_each_tile() -> None:
    text = task("x") + task("y", on="%shim1, S2MM, 1") + task("z") + task("w", on="%shim1, MM2S, 0")
    assert run(text) == [0, 0, 1, 1]


MB = "%mb : memref<4096xi32> offset = 0 len = 64"
CB = "%cb : memref<1024xi32> offset = 0 len = 64"


@pytest.mark.parametrize(("channel", "first"), [(0, 0), (1, 24), (2, 0), (3, 24), (4, 0), (5, 24)])
def test_memory_tiles_have_a_half_for_each_parity(channel: int, first: int) -> None:
    text = task("x", on=f"%mem, MM2S, {channel}", bd=MB) + task("y", on=f"%mem, S2MM, {channel}", bd=MB)
    assert run(text) == [first, first + 1]


@pytest.mark.parametrize(
    ("on", "bd", "tile", "count"),
    [
        ("%shim, MM2S, 0", "%a : memref<65536xi32> offset = 0 len = 64", "(0,0)", 16),
        ("%core, MM2S, 0", CB, "(0,2)", 16),
        ("%mem, S2MM, 2", MB, "(0,1)", 24),
        ("%mem, S2MM, 3", MB, "(0,1)", 24),
    ],
)
def test_as_many_live_as_the_channel_reaches(on: str, bd: str, tile: str, count: int) -> None:
    text = "".join(task(f"t{i}", on=on, bd=bd) for i in range(count))
    first = 24 if on.endswith("3") else 0
    assert run(text) == list(range(first, first + count))
    ran = assigned(device(text + task("more", on=on, bd=bd)))
    said = ran.only
    assert said.text == (
        f"'aiex.dma_configure_task' op Too many simultaneously active buffer descriptors on tile {tile}, which "
        f"supports up to {count}. Emit an aiex.dma_free_task / aiex.dma_await_task to reuse BDs."
    )
    # Every task that holds some is named, at its line, each with its id.
    assert [n.text.split(";")[0] for n in said.notes] == [f"this task holds ID {first + i}" for i in range(count)]
    assert said.where is not None and said.notes[0].where is not None
    assert said.notes[0].where.line < said.where.line


def test_exhaustion_says_which_tasks_could_be_freed() -> None:
    text = task("x", token=True) + "".join(task(f"t{i}") for i in range(15)) + start("x") + task("more") + start("t0")
    ran = assigned(device(text))
    notes = [n.text for n in ran.only.notes]
    assert notes[0] == "this task holds ID 0; it is not started again: free or await it"
    assert notes[1] == "this task holds ID 1", "it is started further down"


def test_exhaustion_counts_the_program_of_the_tile() -> None:
    program = """
  %m = aie.mem(%core) {
    %0 = aie.dma_start(S2MM, 0, ^bd, ^end)
  ^bd:
    aie.dma_bd(%cb : memref<1024xi32> offset = 0 len = 64) {bd_id = 0 : i32, next_bd_id = 1 : i32}
    aie.next_bd ^bd1
  ^bd1:
    aie.dma_bd(%cb : memref<1024xi32> offset = 0 len = 64) {bd_id = 3 : i32}
    aie.next_bd ^end
  ^end:
    aie.end
  }
"""
    on = "%core, MM2S, 0"
    few = "".join(task(f"t{i}", on=on, bd=CB) for i in range(14))
    ran = assigned(device(few, before=program))
    assert ids(ran)[2:] == [1, 2, *range(4, 16)], "0 and 3 belong to the program"
    ran = assigned(device(few + task("more", on=on, bd=CB), before=program))
    assert ran.only.notes[-1].text == "the tile's own DMA program holds 2 IDs (0, 3)"


def test_ids_kept_back_by_hand() -> None:
    text = device(task("x") + task("y")).replace(
        "%shim = aie.tile(0, 0)", "%shim = aie.tile(0, 0) {aiex.reserved_bd_ids = array<i32: 0, 2>}"
    )
    assert ids(assigned(text)) == [1, 3]


def test_pins_are_known_ahead() -> None:
    """The automatic one comes first and does not take what a later one asks for."""
    text = task("x") + task("y", more="bd_id = 0 : i32") + task("z")
    assert run(text) == [1, 0, 2]


def test_a_pinned_id_is_used_where_nothing_else_is_left() -> None:
    text = "".join(task(f"t{i}") for i in range(16)) + free("t0", "t15") + task("p", more="bd_id = 7 : i32")
    ran = assigned(device(text.replace("aiex.dma_free_task(%t0)", "").replace("aiex.dma_free_task(%t15)", "")))
    assert ran.only.text == (
        "'aiex.dma_configure_task' op Specified buffer descriptor ID 7 is already in use. Emit an aiex.dma_free_task "
        "operation to reuse BDs."
    )
    ran = assigned(device("".join(task(f"t{i}") for i in range(16)) + free("t15") + task("p", more="bd_id = 7 : i32")))
    assert not ran.said
    assert ids(ran) == [*range(7), *range(8, 16), 7, 7], "the sixteenth got 7, and was gone when it was wanted"


@pytest.mark.parametrize(
    ("on", "bd", "pin", "said"),
    [
        ("%shim, MM2S, 0", "%a : memref<65536xi32> offset = 0 len = 64", 16, "(it reaches 0 to 15)"),
        ("%mem, MM2S, 0", MB, 24, "(it reaches 0 to 23)"),
        ("%mem, MM2S, 1", MB, 23, "(it reaches 24 to 47)"),
        ("%mem, MM2S, 1", MB, 48, "(it reaches 24 to 47)"),
    ],
)
def test_a_pin_out_of_reach(on: str, bd: str, pin: int, said: str) -> None:
    ran = assigned(device(task("x", on=on, bd=bd, more=f"bd_id = {pin} : i32")))
    assert ran.only.text == (
        f"'aie.dma_bd' op pins buffer descriptor ID {pin}, which cannot be submitted on this channel {said}"
    )


def test_a_pin_that_the_program_of_the_tile_uses() -> None:
    program = """
  %m = aie.shim_dma(%shim) {
    %0 = aie.dma_start(S2MM, 1, ^bd, ^end)
  ^bd:
    aie.dma_bd(%ext : memref<64xi32> offset = 0 len = 64) {bd_id = 5 : i32}
    aie.next_bd ^end
  ^end:
    aie.end
  }
"""
    before = '%ext = aie.external_buffer {sym_name = "ext"} : memref<64xi32>' + program
    ran = assigned(device(task("x", more="bd_id = 5 : i32"), before=before))
    assert ran.only.text == "'aie.dma_bd' op pins buffer descriptor ID 5, which the tile's own DMA program uses"


def test_two_tasks_with_one_pin() -> None:
    pin = "bd_id = 7 : i32"
    ran = assigned(device(task("x", more=pin) + task("y", more=pin)))
    assert ran.only.text.endswith("ID 7 is already in use. Emit an aiex.dma_free_task operation to reuse BDs.")
    assert [n.text for n in ran.only.notes] == ["held by this task"]
    done = task("x", more=pin, token=True) + start("x") + wait("x") + task("y", more=pin)
    assert run(done) == [7, 7]


def test_one_task_with_a_pin_twice() -> None:
    body = """
    %x = aiex.dma_configure_task(%shim, MM2S, 0) {
      aie.dma_bd(%a : memref<65536xi32> offset = 0 len = 64) {bd_id = 3 : i32}
      aie.next_bd ^n
    ^n:
      aie.dma_bd(%a : memref<65536xi32> offset = 64 len = 64) {bd_id = 3 : i32}
      aie.end
    }
"""
    assert "ID 3 is already in use" in assigned(device(body)).only.text


def test_each_sequence_starts_anew_but_for_the_programs() -> None:
    one = device(task("x") + task("y"))
    two = one.replace("aie.runtime_sequence", "aie.runtime_sequence @first").rstrip().removesuffix("}")
    two += one[one.index("  aie.runtime_sequence") :]
    assert ids(assigned(two)) == [0, 1, 0, 1]


# --- how long ---------------------------------------------------------------------------------------------------------


def test_ids_come_back_with_an_await() -> None:
    text = task("x", token=True) + start("x") + wait("x") + task("y")
    assert run(text) == [0, 0]


def test_ids_come_back_with_a_free() -> None:
    text = task("x") + task("y", token=True) + start("x", "y") + wait("y") + free("x") + task("z")
    assert run(text) == [0, 1, 0]


def test_a_task_that_is_started_again_keeps_its_ids() -> None:
    text = task("x", token=True) + start("x") + wait("x") + task("y") + start("x") + wait("x") + task("z")
    assert run(text) == [0, 1, 0]


def test_an_await_of_one_of_two_starts_keeps_them() -> None:
    two = task("x", token=True) + start("x", "x") + wait("x") + task("y")
    assert run(two) == [0, 1]
    assert run(two.replace(task("y"), wait("x") + task("y"))) == [0, 0]


def test_an_await_ends_all_earlier_starts_on_the_channel() -> None:
    """A channel runs in order, so that a later token says the earlier task is done; it still has to be freed."""
    text = task("x") + task("y", token=True) + start("x", "y") + wait("y") + free("x") + task("z") + task("w")
    ran = assigned(device(text))
    assert not ran.said
    assert ids(ran) == [0, 1, 0, 1]


def test_a_release_leaves_what_others_have_by_now() -> None:
    text = task("x", token=True) + start("x") + wait("x") + task("y") + free("x") + task("z")
    assert run(text) == [0, 0, 1], "id 0 is the second task's by the time the first is freed"


def test_unrolled_rounds_alternate() -> None:
    """A loop that is one round behind with its frees: two ids in turn."""
    rounds = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %first = aiex.dma_configure_task(%shim, MM2S, 0) {
      aie.dma_bd(%a : memref<65536xi32> offset = 0 len = 64)
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%first)
    %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %first) -> (index) {
      %t = aiex.dma_configure_task(%shim, MM2S, 0) {
        aie.dma_bd(%a : memref<65536xi32> offset = 0 len = 64)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_await_task(%before)
      scf.yield %t : index
    }
    aiex.dma_await_task(%last)
"""
    assert run(rounds) == [0, 1, 0, 1, 0]


# --- reuse in flight --------------------------------------------------------------------------------------------------


def many(count: int) -> str:
    """Tasks that are started and freed at once, without anything being awaited."""
    return "".join(task(f"t{i}") + start(f"t{i}") + free(f"t{i}") for i in range(count))


def test_ids_freed_without_a_wait_are_the_last_to_be_reused() -> None:
    assert run(many(16)) == list(range(16))


def test_reuse_in_flight_is_an_error_at_the_task_that_would_overwrite() -> None:
    ran = assigned(device(many(17)))
    assert ran.only.text == (
        "'aiex.dma_configure_task' op reuses buffer descriptor ID 0 while the task that had it may still be running: "
        "nothing was awaited since it started"
    )
    assert [n.text for n in ran.only.notes] == ["that task is here"]
    assert ran.only.todo


def test_a_wait_in_between_makes_it_the_authors_word() -> None:
    text = task("x") + task("y", on="%shim, S2MM, 0", token=True) + start("x", "y") + free("x")
    assert run(text + wait("y") + "".join(task(f"t{i}") for i in range(16))) == [0, 1, *range(16)]


def test_reuse_in_flight_as_a_warning_or_not_at_all() -> None:
    text = device(many(2))
    ran = assigned(text, in_flight="warn")
    assert ids(ran) == [0, 0]
    assert [d.level.name for d in ran.sink.items] == ["WARNING"]
    assert not assigned(text, in_flight="off").said


def test_a_task_freed_before_it_was_started_is_no_danger() -> None:
    assert run(task("x") + free("x") + task("y")) == [0, 0]


def test_transfers_with_ids_of_their_own_are_seen() -> None:
    copy = (
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {{id = {id} : i64, issue_token = true, "
        "metadata = @in}} : memref<65536xi32>\n"
    )
    twice = copy.format(id=0) + copy.format(id=0)
    ran = assigned(device(twice))
    assert "reuses buffer descriptor ID 0" in ran.only.text
    waited = copy.format(id=0) + "aiex.npu.dma_wait {symbol = @in}\n" + copy.format(id=0)
    assert not assigned(device(waited)).said
    assert ids(assigned(device(copy.format(id=0) + task("x") + copy.format(id=2) + task("y")))) == [1, 3]


# --- misuse -----------------------------------------------------------------------------------------------------------


FREED_TWICE = (
    "'aiex.dma_free_task' op frees buffer descriptor ID 0, which is not currently in use; it was already completed by "
    "an earlier aiex.dma_free_task or aiex.dma_await_task"
)
NO_TOKEN = (
    "'aiex.dma_await_task' op awaits a task-completion token on a channel where no outstanding token is guaranteed to "
    "have been produced; the runtime sequence would block here forever. Ensure a prior issue_token dma_start_task on "
    "the same tile, direction and channel reaches this await"
)


@pytest.mark.parametrize(
    ("text", "said", "note"),
    [
        (task("x") + free("x") + free("x"), FREED_TWICE, "freed here"),
        (task("x") + task("y") + free("x") + task("z") + free("x"), FREED_TWICE, "freed here"),
        (
            task("x", token=True) + start("x") + free("x") + wait("x"),
            "'aiex.dma_await_task' op awaits a task that an earlier aiex.dma_free_task released",
            "freed here",
        ),
        (
            task("x") + free("x") + start("x"),
            "'aiex.dma_start_task' op starts a task whose buffer descriptors an earlier aiex.dma_free_task released",
            "freed here",
        ),
        (task("x", token=True) + wait("x"), NO_TOKEN, ""),
        (task("x", token=True) + start("x") + wait("x", "x"), NO_TOKEN, ""),
        (task("x", token=True) + task("y", token=True) + start("y") + wait("x"), NO_TOKEN, ""),
        (
            task("x") + "aiex.npu.load_pdi {device_ref = @main}\n" + start("x"),
            "'aiex.dma_start_task' op starts a task configured before an aiex.npu.load_pdi, which resets the "
            "descriptors",
            "configured here",
        ),
    ],
)
def test_misuse_is_one_error_at_the_line(text: str, said: str, note: str) -> None:
    whole = device(text)
    ran = assigned(whole)
    assert ran.only.text == said
    assert [n.text for n in ran.only.notes] == ([note] if note else [])
    assert ran.only.where is not None
    word = said.split("'")[1]
    last = max(i for i, line in enumerate(whole.splitlines(), 1) if word in line)
    assert ran.only.where.line == last


def test_await_then_free_is_fine() -> None:
    assert run(task("x", token=True) + start("x") + wait("x") + free("x") + task("y")) == [0, 0]


def test_more_tokens_than_awaits_are_fine() -> None:
    assert run(task("x", token=True) + task("y", token=True) + start("x", "y") + wait("x")) == [0, 1]


def test_a_free_that_is_left_over_is_taken_out() -> None:
    ran = assigned(device(task("x") + start("x") + free("x")))
    assert not ran.lines("dma_free_task")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "%t = aiex.dma_start_bd_chain @c(%a) : (memref<65536xi32>) on (%shim, MM2S, 0)\n aiex.dma_await_task(%t)",
            "Lower this operation first using the --aie-materialize-bd-chains pass.",
        ),
        (
            """%t = aiex.dma_configure_task_for @in {
              aie.dma_bd(%a : memref<65536xi32> offset = 0 len = 64)
              aie.end
            }
            aiex.dma_start_task(%t)""",
            "Lower this operation first using the --aie-substitute-shim-dma-allocations pass.",
        ),
    ],
)
def test_what_is_no_task_yet(text: str, note: str) -> None:
    chain = """aie.bd_chain @c(%x: memref<65536xi32>) {
      aie.dma_bd(%x : memref<65536xi32> offset = 0 len = 64)
      aie.end
    }"""
    ran = Ran(device(text, before=chain), AssignRuntimeSequenceBdIds())
    assert ran.only.text.endswith("op does not reference a valid configure_task operation.")
    assert [n.text for n in ran.only.notes] == [note]


@pytest.mark.parametrize("loop", ["scf.for %i = %z to %n step %one {\n }", "scf.if %c {\n }"])
def test_control_flow_that_stays_is_refused(loop: str) -> None:
    constants = "%z = arith.constant 0 : index\n %one = arith.constant 1 : index\n"
    ran = assigned(device(constants + loop, args="%n: index, %c: i1"))
    assert ran.only.text.startswith(f"'{loop.split()[0]}' op Runtime-valued control flow in a runtime sequence is not")


# --- ids of programs --------------------------------------------------------------------------------------------------


PROGRAM = """
  %p = aie.mem(%core) {
    %0 = aie.dma_start(MM2S, 0, ^bd, ^end)
  ^bd:
    aie.dma_bd(%cb : memref<1024xi32> offset = 0 len = 64)
    aie.next_bd ^bd1
  ^bd1:
    aie.dma_bd(%cb : memref<1024xi32> offset = 0 len = 64)
    aie.next_bd ^bd
  ^end:
    aie.end
  }
"""


def test_programs_leave_alone_what_sequences_name() -> None:
    text = device(task("x", on="%core, MM2S, 1", bd=CB, more="bd_id = 0 : i32"), before=PROGRAM)
    ran = Ran(text, AssignBdIds(), AssignRuntimeSequenceBdIds())
    assert not ran.said
    assert ids(ran) == [1, 2, 0]


def test_programs_take_it_all_the_same_where_nothing_else_is_left() -> None:
    every = "".join(task(f"t{i}", on="%core, MM2S, 1", bd=CB, more=f"bd_id = {i} : i32") for i in range(15))
    ran = Ran(device(every, before=PROGRAM), AssignBdIds())
    assert not ran.said
    assert ids(ran)[:2] == [15, 0]


def test_transfers_and_descriptors_by_register_are_seen_by_programs() -> None:
    copy = (
        "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : "
        "memref<65536xi32>\n"
    )
    program = PROGRAM.replace("aie.mem(%core)", "aie.shim_dma(%shim)").replace(
        "%cb : memref<1024xi32>", "%e : memref<64xi32>"
    )
    before = '%e = aie.external_buffer {sym_name = "e"} : memref<64xi32>' + program
    ran = Ran(device(copy + task("x", more="bd_id = 2 : i32"), before=before), AssignBdIds())
    assert not ran.said
    assert ids(ran)[:2] == [1, 3]
