"""Twenty ways in which lowering of runtime sequences is known to go wrong without a word; each has the right value or
a refusal here."""

import pytest
from passkit import Ran
from seqkit import assigned, blocks, device, free, ids, operations, problems, start, task, to_npu, wait

from aiecc.base.diag import Refused, Sink
from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp
from aiecc.ir.passes.assign_sequence_ids import AssignRuntimeSequenceBdIds
from aiecc.ir.passes.bd_chains import MaterializeBdChains
from aiecc.ir.passes.dma_to_npu import DmaToNpu
from aiecc.ir.passes.lower_set_lock import LowerSetLock
from aiecc.ir.passes.shim_allocations import SubstituteShimDmaAllocations
from aiecc.ir.passes.tasks_to_npu import DmaTasksToNpu
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.npu import txn

MB = "%mb : memref<4096xi32> offset = 0 len = 64"
CB = "%cb : memref<1024xi32> offset = 0 len = 64"
A = "%a : memref<65536xi32> offset = 0 len = 64"
ONE = "%one = arith.constant 1 : i32\n"


def locked(*, on: str, bd: str, take: str, give: str, before: str = "") -> str:
    return device(
        f"""{ONE}
    %t = aiex.dma_configure_task({on}) {{
      aie.use_lock({take}, AcquireGreaterEqual, %one)
      aie.dma_bd({bd})
      aie.use_lock({give}, Release, %one)
      aie.end
    }}
""",
        before=before,
    )


# --- 1: an id equal to the number of descriptors ----------------------------------------------------------------------

SAID = ("bd_id", "buffer_length", "column", "row", "valid_bd", "burst_length")
ZERO = [name for name in NpuWriteBdOp.get_irdl_definition().properties if name not in SAID]
WRITEBD = (
    "aiex.npu.writebd {{bd_id = {id} : i32, buffer_length = 4 : i32, column = 0 : i32, row = {row} : i32, "
    "valid_bd = 1 : i32, " + ", ".join(f"{name} = 0 : i32" for name in ZERO) + "}}"
)


@pytest.mark.parametrize(("row", "count"), [(0, 16), (1, 48), (2, 16)])
def test_trap_01_the_id_after_the_last_in_writebd(row: int, count: int) -> None:
    assert problems(device(WRITEBD.format(id=count - 1, row=row))) == []
    assert problems(device(WRITEBD.format(id=count, row=row))) == [
        "'aiex.npu.writebd' op BD ID exceeds the maximum ID."
    ]


@pytest.mark.parametrize(("row", "count"), [(0, 16), (1, 48), (2, 16)])
def test_trap_01_the_id_after_the_last_in_a_push(row: int, count: int) -> None:
    push = f"""
    %id = arith.constant {count} : i32
    %z = arith.constant 0 : i32
    aiex.npu.push_queue(0, {row}, MM2S : 0) bd_id %id repeat %z {{issue_token = false}} : i32, i32
"""
    assert problems(device(push)) == ["'aiex.npu.push_queue' op BD ID exceeds the maximum ID."]
    assert problems(device(push.replace(f"constant {count}", f"constant {count - 1}"))) == []


def test_trap_01_the_id_after_the_last_as_a_pin() -> None:
    """Written, it would overwrite the control register of a channel."""
    text = device(task("t", bd=A, more="bd_id = 16 : i32"))
    assert "cannot be submitted on this channel (it reaches 0 to 15)" in assigned(text).only.text
    ran = Ran(text, DmaTasksToNpu())
    assert ran.only.text == "'aie.dma_bd' op BD ID exceeds the maximum ID."


# --- 2: channels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("on", "bd", "count"), [("%shim", A, 2), ("%mem", MB, 6), ("%core", CB, 2)])
@pytest.mark.parametrize("direction", ["MM2S", "S2MM"])
def test_trap_02_a_channel_that_the_tile_does_not_have(on: str, bd: str, count: int, direction: str) -> None:
    assert problems(device(task("t", on=f"{on}, {direction}, {count - 1}", bd=bd))) == []
    assert problems(device(task("t", on=f"{on}, {direction}, {count}", bd=bd))) == [
        f"'aiex.dma_configure_task' op channel {count} out of range for this tile and direction (tile has {count} DMA "
        "channel(s) in this direction)"
    ]


def test_trap_02_a_channel_by_a_name() -> None:
    before = "aie.shim_dma_allocation @far(%shim, MM2S, 2)"
    text = f"%t = aiex.dma_configure_task_for @far {{\n aie.dma_bd({A})\n aie.end\n }}\n aiex.dma_start_task(%t)\n"
    assert any("channel 2" in said for said in problems(device(text, before=before)))


# --- 3: halves of memory tiles ----------------------------------------------------------------------------------------


def test_trap_03_odd_channels_of_memory_tiles_get_ids_they_reach() -> None:
    text = "".join(task(f"t{c}", on=f"%mem, MM2S, {c}", bd=MB) for c in range(6))
    assert ids(assigned(device(text))) == [0, 24, 1, 25, 2, 26]


def test_trap_03_both_halves_are_used_up_by_themselves() -> None:
    """48 in all, 24 for each parity; the message tells the number that counts."""
    full = "".join(task(f"t{i}", on=f"%mem, MM2S, {i % 2}", bd=MB) for i in range(48))
    assert not assigned(device(full)).said
    ran = assigned(device(full + task("more", on="%mem, MM2S, 1", bd=MB)))
    assert "supports up to 24" in ran.only.text


# --- 4: static programs and other sequences ---------------------------------------------------------------------------


def test_trap_04_ids_of_the_tiles_own_programs_are_taken() -> None:
    program = f"""
  %p = aie.memtile_dma(%mem) {{
    %0 = aie.dma_start(S2MM, 0, ^bd, ^end)
  ^bd:
    aie.dma_bd({MB}) {{bd_id = 0 : i32, next_bd_id = 0 : i32}}
    aie.next_bd ^bd
  ^end:
    aie.end
  }}
"""
    text = device(task("t", on="%mem, S2MM, 2", bd=MB), before=program)
    assert ids(assigned(text)) == [0, 1]
    # The second sequence of a device knows as much as the first.
    sequence = text[text.index("  aie.runtime_sequence") :]
    both = text.rstrip().removesuffix("}") + sequence.replace("runtime_sequence", "runtime_sequence @again")
    assert ids(assigned(both)) == [0, 1, 1]


# --- 5: pins ----------------------------------------------------------------------------------------------------------


def test_trap_05_a_pin_further_down_is_not_given_away() -> None:
    text = task("x") + task("y") + task("pinned", more="bd_id = 1 : i32")
    assert ids(assigned(device(text))) == [0, 2, 1]


# --- 6: free right after start ----------------------------------------------------------------------------------------


def test_trap_06_a_descriptor_that_may_be_running_is_not_overwritten() -> None:
    flood = "".join(task(f"t{i}") + start(f"t{i}") + free(f"t{i}") for i in range(17))
    ran = assigned(device(flood))
    assert "reuses buffer descriptor ID 0 while the task that had it may still be running" in ran.only.text


# --- 7: release by number ---------------------------------------------------------------------------------------------


def test_trap_07_a_late_free_does_not_release_the_next_owner() -> None:
    text = task("x", token=True) + start("x") + wait("x") + task("y") + free("x") + task("z")
    assert ids(assigned(device(text))) == [0, 0, 1]


def test_trap_07_a_second_await_does_not_release_the_next_owner() -> None:
    text = task("x", token=True) + start("x") + wait("x") + task("y") + wait("x")
    assert "awaits a task-completion token" in assigned(device(text)).only.text


def test_trap_07_the_first_await_of_two_starts_releases_nothing() -> None:
    text = task("x", token=True) + start("x", "x") + wait("x") + task("y")
    assert ids(assigned(device(text))) == [0, 1]


def test_trap_07_a_double_free_is_seen_though_somebody_else_has_the_id() -> None:
    text = task("x") + free("x") + task("y") + free("x")
    assert "already completed by an earlier aiex.dma_free_task" in assigned(device(text)).only.text


# --- 8, 9: locks ------------------------------------------------------------------------------------------------------


def test_trap_08_a_lock_without_an_id_is_not_no_lock() -> None:
    text = locked(on="%core, MM2S, 0", bd=CB, take="%open", give="%cl1", before="%open = aie.lock(%core)")
    ran = to_npu(text)
    assert ran.only.text.startswith("'aie.use_lock' op uses a lock without an ID")


@pytest.mark.parametrize(
    ("take", "give", "wanted"), [("%ml0", "%west3", (64, 3)), ("%west3", "%ml0", (3, 64)), ("%ml1", "%ml0", (65, 64))]
)
def test_trap_09_the_released_lock_counts_from_its_own_tile(take: str, give: str, wanted: tuple[int, int]) -> None:
    before = """
  %mem_a = aie.tile(3, 1)
  %mem_b = aie.tile(4, 1)
  %west3 = aie.lock(%mem_a, 3)
  %ml = aie.lock(%mem_b, 0)
  %ml_ = aie.lock(%mem_b, 1)
  %bb = aie.buffer(%mem_b) {address = 0 : i32, sym_name = "bb"} : memref<64xi32>
"""
    here = {"%ml0": "%ml", "%ml1": "%ml_"}
    bd = "%bb : memref<64xi32> offset = 0 len = 64"
    text = locked(on="%mem_b, MM2S, 0", bd=bd, take=here.get(take, take), give=here.get(give, give), before=before)
    ran = to_npu(text, LowerSetLock())
    assert not ran.said
    (bd_op,) = list(ran.ops(NpuWriteBdOp))
    assert (bd_op.field("lock_acq_id"), bd_op.field("lock_rel_id")) == wanted


# --- 10: repeats and the fourth dimension -----------------------------------------------------------------------------


FOUR = "%a : memref<65536xi32> offset = 0 len = 64 sizes = [4, 2, 4, 8] strides = [1024, 256, 16, 1]"


def test_trap_10_a_fourth_dimension_without_repeats_is_told() -> None:
    ran = to_npu(device(task("t", bd=FOUR) + start("t")))
    assert not ran.sink.failed
    assert ran.only.text.endswith(
        "iteration dimension of size 4 is pushed with repeat_count 0, so only its first iteration runs; set "
        "repeat_count = 3"
    )


def test_trap_10_with_as_many_repeats_it_is_fine() -> None:
    assert not to_npu(device(task("t", bd=FOUR, attrs="repeat_count = 3 : i32") + start("t"))).said


@pytest.mark.parametrize(("repeat", "starts", "told"), [(0, 4, False), (1, 2, False), (1, 1, True), (3, 1, False)])
def test_trap_10_iterations_go_on_over_several_starts(repeat: int, starts: int, told: bool) -> None:
    text = task("t", bd=FOUR, attrs=f"repeat_count = {repeat} : i32") + start(*["t"] * starts)
    assert bool(to_npu(device(text)).said) is told


def test_trap_10_the_same_number_runs_in_words() -> None:
    found = operations(device(task("t", bd=FOUR, attrs="repeat_count = 3 : i32") + start("t")))
    block, _, push = found
    assert isinstance(block, txn.BlockWrite) and isinstance(push, txn.Write)
    assert block.data[6] >> 20 & 0x3F == 3
    assert push.value >> 16 & 0xFF == 3


# --- 11: packets of allocations ---------------------------------------------------------------------------------------

SENT = "aie.shim_dma_allocation @sent(%shim, MM2S, 1, <pkt_type = 1, pkt_id = 5>)\n"
CHAIN = f"aie.bd_chain @c(%x: memref<65536xi32>) {{\n aie.dma_bd({A.replace('%a', '%x')})\n aie.end\n }}\n"


@pytest.mark.parametrize(
    "use",
    [
        f"%t = aiex.dma_configure_task_for @sent {{\n aie.dma_bd({A})\n aie.end\n }}",
        "%t = aiex.dma_start_bd_chain_for @c(%a) : (memref<65536xi32>) for @sent",
    ],
)
def test_trap_11_both_ways_keep_the_header(use: str) -> None:
    ((_, found),) = list(blocks(device(use, before=SENT + CHAIN)))
    assert found[2] == 1 << 30 | 5 << 19 | 1 << 16


# --- 12: tokens of transfers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "told", "token"), [("in", "", 0), ("out", "", 1), ("in", "issue_token = true, ", 1)])
def test_trap_12_received_transfers_tell_when_they_are_done(name: str, told: str, token: int) -> None:
    """A wait for one is legal without asking for a token: transfers that receive have always given theirs."""
    copy = (
        f"aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {{{told}id = 3 : i64, metadata = @{name}}} : "
        "memref<65536xi32>\n"
    )
    push = operations(device(copy))[-1]
    assert isinstance(push, txn.Write)
    assert push.value == token << 31 | 3


@pytest.mark.parametrize(("direction", "asked"), [("S2MM", False), ("S2MM", True), ("MM2S", False)])
def test_trap_12_tasks_tell_only_when_asked(direction: str, asked: bool) -> None:
    push = operations(device(task("t", on=f"%shim, {direction}, 0", token=asked) + start("t")))[-1]
    assert isinstance(push, txn.Write)
    assert push.value >> 31 == asked


def test_trap_12_an_await_without_a_token_is_refused() -> None:
    ran = to_npu(device(task("t", on="%shim, S2MM, 0") + start("t") + wait("t")))
    assert ran.only.text.endswith("op Cannot wait on a BD that is not configured to issue a token.")
    assert ran.only.notes[0].text == "Consider adding attribute `issue_token=true` here."


# --- 13: leftovers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        task("t"),
        "aiex.npu.dma_wait {symbol = @in}",
        "aiex.set_lock(%ml0, 1)",
        "aiex.dma_channel_reset(%mem, MM2S, 0)",
        "scf.for %i = %x to %x step %x {\n aiex.npu.preempt {level = 0 : ui8}\n }",
        '"somebody.else"() : () -> ()',
    ],
)
def test_trap_13_nothing_vanishes_from_the_binary(text: str) -> None:
    ran = Ran(device(text, args="%x: index, %a: memref<65536xi32>"))
    sink = Sink()
    assert instructions(ran.device, find_sequence(ran.device), sink) == []
    (only,) = sink.items
    assert only.text.split(" op ")[1].startswith(
        "depends on what is known at run time only, and a transaction has neither loops nor branches"
        if text.startswith("scf.")
        else "has no place in a transaction: lower it first, or take it out of the sequence"
    )


def test_trap_13_constants_and_the_end_may_stay() -> None:
    ran = Ran(device("%c = arith.constant 1 : i32\n aie.end"))
    sink = Sink()
    assert instructions(ran.device, find_sequence(ran.device), sink) == []
    assert not sink.items


# --- 14: locks in templates -------------------------------------------------------------------------------------------


def test_trap_14_locks_in_tasks_for_a_name_and_in_chains() -> None:
    block = """
      aie.use_lock({lock}, AcquireGreaterEqual, %one)
      aie.dma_bd({bd})
      aie.use_lock({lock}, Release, %one)
      aie.end
"""
    before = (
        ONE
        + "%sl = aie.lock(%shim, 3)\n"
        + (
            "aie.bd_chain @c(%x: memref<65536xi32>, %l: index) {\n"
            + block.format(lock="%l", bd=A.replace("%a", "%x"))
            + "}\n"
        )
    )
    uses = f"%t = aiex.dma_configure_task_for @in {{\n {block.format(lock='%sl', bd=A)} }}\n" + (
        "%c = aiex.dma_start_bd_chain @c(%a, %sl) : (memref<65536xi32>, index) on (%shim, MM2S, 1)"
    )
    text = device(uses, before=before)
    assert problems(text) == []
    lock_words = [found[7] for _, found in blocks(text)]
    # Valid, release lock 3 by 1, acquire at least 1 of lock 3.
    assert lock_words == [1 << 25 | 1 << 18 | 3 << 13 | 1 << 12 | 0x7F << 5 | 3] * 2


# --- 15: texts --------------------------------------------------------------------------------------------------------


def test_trap_15_the_pass_that_is_named_exists() -> None:
    from aiecc.ir.passes import PASSES

    ran = Ran(device(task("t") + start("t")), DmaTasksToNpu())
    (note,) = ran.only.notes
    name = note.text.split("`")[1]
    assert name in PASSES


def test_trap_15_no_run_of_blanks_in_a_text() -> None:
    two = f"""
    %t = aiex.dma_configure_task(%shim, MM2S, 0) {{
      aie.dma_bd({A}) {{bd_id = 0 : i32}}
      aie.dma_bd({A}) {{bd_id = 1 : i32}}
      aie.end
    }}
"""
    pad = CB + " pad [<const_pad_before = 1, const_pad_after = 1>]"
    for text in (two, task("t", on="%core, MM2S, 0", bd=pad, more="bd_id = 0 : i32")):
        ran = Ran(device(text), DmaTasksToNpu())
        assert ran.sink.failed
        assert "  " not in ran.only.text


# --- 16, 18: patterns -------------------------------------------------------------------------------------------------


def test_trap_16_a_dimension_of_size_one_has_no_stride_to_speak_of() -> None:
    text = device(
        task("t", bd="%x : memref<64xi8> offset = 0 len = 4 sizes = [1, 4] strides = [2, 1]"), args="%x: memref<64xi8>"
    )
    ran = Ran(text, AssignRuntimeSequenceBdIds(), DmaTasksToNpu())
    assert not ran.said
    ((_, found),) = list(blocks(text))
    assert found[0] == 1


@pytest.mark.parametrize(("row", "most"), [("%mem", 131071), ("%core", 16383)])
def test_trap_17_a_length_that_does_not_fit_is_not_cut(row: str, most: int) -> None:
    before = f'%whole = aie.buffer({row}) {{address = 0 : i32, sym_name = "whole"}} : memref<{most + 1}xi32>\n'
    bd = f"%whole : memref<{most + 1}xi32> offset = 0 len = "
    fits = device(task("t", on=f"{row}, MM2S, 0", bd=f"{bd}{most}"), before=before)
    ((_, found),) = list(blocks(fits))
    assert found[0] & most == most
    ran = to_npu(device(task("t", on=f"{row}, MM2S, 0", bd=f"{bd}{most + 1}"), before=before))
    assert f"exceeds the [0:{most}] range" in ran.only.text


@pytest.mark.parametrize(("on", "buffer"), [("%mem", "%mb : memref<4096xi32>"), ("%core", "%cb : memref<1024xi32>")])
def test_trap_18_a_pattern_without_gaps_is_free_of_the_limits_of_dimensions(on: str, buffer: str) -> None:
    """Two rows of 2048 that follow one another: more than the register of a dimension holds, but one run in truth."""
    n = 1024 if on == "%mem" else 300
    text = device(
        task("t", on=f"{on}, MM2S, 0", bd=f"{buffer} offset = 0 len = {2 * n} sizes = [2, {n}] strides = [{n}, 1]")
    )
    ran = to_npu(text, LowerSetLock())
    assert not ran.said
    (op,) = list(ran.ops(NpuWriteBdOp))
    assert op.field("buffer_length") == 2 * n
    assert [op.field(f"d{d}_{what}") for d in (0, 1) for what in ("size", "stride")] == [0, 0, 0, 0]


# --- 19: order --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("on", "bd"), [("%shim, MM2S, 0", A), ("%mem, MM2S, 0", MB), ("%core, MM2S, 0", CB)])
def test_trap_19_a_descriptor_and_then_its_address(on: str, bd: str) -> None:
    found = operations(device(task("x", on=on, bd=bd) + task("y", on=on, bd=bd)))
    kinds = [type(op).__name__ for op in found]
    assert kinds in (["BlockWrite", "Patch"] * 2, ["BlockWrite", "MaskWrite"] * 2)
    for block, address in (found[:2], found[2:]):
        assert isinstance(block, txn.BlockWrite) and isinstance(address, txn.Patch | txn.MaskWrite)
        assert address.address == block.address + (0 if on.startswith("%core") else 4)


# --- 20: an older form ------------------------------------------------------------------------------------------------


def test_trap_20_the_form_with_two_leading_numbers_is_refused_with_a_position() -> None:
    text = device(
        "aiex.npu.dma_memcpy_nd(0, 0, %a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : "
        "memref<65536xi32>"
    )
    with pytest.raises(Refused) as refused:
        Ran(text)
    (said,) = refused.value.diagnostics
    assert said.where is not None and said.where.line == next(
        i for i, line in enumerate(text.splitlines(), 1) if "dma_memcpy_nd" in line
    )


def test_passes_can_be_named_in_any_order_without_a_traceback() -> None:
    """Half-lowered sequences are refused or kept, never a defect of the tool."""
    every = (MaterializeBdChains(), SubstituteShimDmaAllocations(), DmaTasksToNpu(), DmaToNpu())
    for first in every:
        for then in every:
            Ran(device(task("t", token=True) + start("t") + wait("t")), first, then)
