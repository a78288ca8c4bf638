"""What runs on and on, what is stopped, and whose descriptors are whose: wrong code that hangs or overwrites."""

import pytest
from passkit import Ran
from seqkit import assigned, device, free, ids, start, task, to_npu, wait

from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp
from aiecc.ir.passes.assign_bd_ids import AssignBdIds
from aiecc.ir.passes.assign_sequence_ids import AssignRuntimeSequenceBdIds
from aiecc.ir.passes.materialize_sequences import MaterializeRuntimeSequences
from aiecc.ir.passes.shim_allocations import SubstituteShimDmaAllocations

MB = "%mb : memref<4096xi32> offset = 0 len = 64"
A = "%a : memref<65536xi32> offset = 0 len = 64"


def said(text: str, **options: str) -> str:
    ran = assigned(device(text), **options)
    assert ran.sink.failed, "nothing is wrong with it"
    return ran.only.text


def passes(text: str, **options: str) -> list[int | None]:
    ran = assigned(device(text), **options)
    assert not ran.said, ran.said
    return ids(ran)


# --- cycles -----------------------------------------------------------------------------------------------------------


def cycle(name: str, *, on: str = "%mem, MM2S, 0", bd: str = MB, attrs: str = "") -> str:
    """Two descriptors that go round."""
    return f"""
    %{name} = aiex.dma_configure_task({on}) {{
      aie.next_bd ^first
    ^first:
      aie.dma_bd({bd})
      aie.next_bd ^second
    ^second:
      aie.dma_bd({bd})
      aie.next_bd ^first
    }} {{{attrs}}}
"""


def later_cycle(name: str) -> str:
    """The first descriptor runs once, the second for ever."""
    return f"""
    %{name} = aiex.dma_configure_task(%mem, MM2S, 0) {{
      aie.dma_bd({MB})
      aie.next_bd ^second
    ^second:
      aie.dma_bd({MB})
      aie.next_bd ^second
    }} {{issue_token = true}}
"""


def cycle_by_number(name: str) -> str:
    return task(name, on="%mem, MM2S, 0", bd=MB, token=True, more="bd_id = 3 : i32, next_bd_id = 3 : i32")


OTHER = task("w", on="%shim, S2MM, 0", token=True) + start("w") + wait("w")
RESET = "    aiex.dma_channel_reset(%mem, MM2S, 0)\n"
CYCLES = [cycle("t", attrs="issue_token = true"), later_cycle("t"), cycle_by_number("t")]


@pytest.mark.parametrize("text", CYCLES)
def test_a_cycle_is_never_over(text: str) -> None:
    assert "it is never over, so no token comes" in said(text + start("t") + wait("t"))


@pytest.mark.parametrize("text", CYCLES)
def test_nothing_gets_its_turn_behind_a_cycle(text: str) -> None:
    after = task("x", on="%mem, MM2S, 0", bd=MB) + start("x")
    assert "behind a task whose descriptors form a cycle" in said(text + start("t") + after)
    # Other channels, and the same one after a reset, do not care.
    passes(text + start("t") + after.replace("MM2S, 0", "MM2S, 2"))
    passes(text + start("t") + RESET + after)


@pytest.mark.parametrize("in_flight", ["error", "warn", "off"])
def test_descriptors_of_a_cycle_stay_its_own(in_flight: str) -> None:
    """Freed or not, waited for something or not: it goes on running, so others get other ids."""
    text = cycle("t") + start("t") + OTHER + free("t") + task("x", on="%mem, MM2S, 2", bd=MB)
    assert passes(text, in_flight=in_flight) == [0, 1, 0, 2]
    assert passes(text.replace(free("t"), RESET + free("t")), in_flight=in_flight) == [0, 1, 0, 0]
    assert passes(text.replace(free("t"), free("t") + RESET), in_flight=in_flight) == [0, 1, 0, 0]


def test_a_pin_on_a_descriptor_that_goes_round() -> None:
    text = cycle("t") + start("t") + OTHER + free("t") + task("x", on="%mem, MM2S, 2", bd=MB, more="bd_id = 1 : i32")
    assert "while the task that had it still runs: its descriptors form a cycle" in said(
        text.replace(
            "aie.next_bd ^second\n    ^second:\n      aie.dma_bd(" + MB + ")",
            "aie.next_bd ^second\n    ^second:\n      aie.dma_bd(" + MB + ") {bd_id = 1 : i32}",
        )
    )


def test_a_cycle_that_was_not_started_runs_nowhere() -> None:
    assert passes(cycle("t") + free("t") + task("x", on="%mem, MM2S, 2", bd=MB)) == [0, 1, 0]


def test_nothing_gets_its_turn_behind_a_program_that_goes_round() -> None:
    program = f"""
  %p = aie.memtile_dma(%mem) {{
    %0 = aie.dma_start(MM2S, 0, ^bd, ^end)
  ^bd:
    aie.dma_bd({MB})
    aie.next_bd ^LAST
  ^end:
    aie.end
  }}
"""
    x = task("x", on="%mem, MM2S, 0", bd=MB) + start("x")
    endless, once = program.replace("^LAST", "^bd"), program.replace("^LAST", "^end")
    for text, before, fine in ((x, endless, False), (RESET + x, endless, True), (x, once, True)):
        ran = Ran(device(text, before=before), AssignBdIds(), AssignRuntimeSequenceBdIds())
        assert bool(ran.said) is not fine, ran.said
    ran = Ran(device(x, before=endless), AssignBdIds(), AssignRuntimeSequenceBdIds())
    assert [n.where.line if n.where else 0 for n in ran.only.notes] == [
        n for n, line in enumerate(device(x, before=endless).splitlines(), 1) if "dma_start(" in line
    ]


# --- what is stopped --------------------------------------------------------------------------------------------------


LOAD = "    aiex.npu.load_pdi {device_ref = @main}\n"


def told(name: str) -> str:
    return task(name, on="%mem, MM2S, 0", bd=MB, token=True) + start(name)


@pytest.mark.parametrize("stop", [RESET, LOAD])
def test_a_token_may_never_come_once_its_channel_was_stopped(stop: str) -> None:
    assert "channel was stopped after it was started" in said(told("t") + stop + wait("t"))
    passes(told("t") + wait("t") + stop)
    passes(told("t") + stop + free("t"))


@pytest.mark.parametrize("stop", [RESET, LOAD])
def test_a_stopped_channel_has_an_empty_queue(stop: str) -> None:
    text = "".join(told(f"t{i}") for i in range(4)) + stop + "".join(told(f"u{i}") for i in range(4)) + wait("u3")
    ran = assigned(device(text), queue_check="wait")
    assert not ran.said
    assert not ran.lines("npu.sync"), "nothing of what was stopped can be waited for"
    assert ran.lines("await_task")[0].endswith("{tokens = 4 : i32}")


def test_a_reset_makes_descriptors_free_at_once() -> None:
    text = told("t") + RESET + free("t") + task("x", on="%mem, MM2S, 0", bd=MB)
    assert passes(text) == [0, 0]
    assert passes(text.replace(RESET, "")) == [0, 1]


# --- other devices ----------------------------------------------------------------------------------------------------


LOADED = """
aie.device(npu2) @other {
  %shim = aie.tile(0, 0)
  %e = aie.external_buffer {sym_name = "e"} : memref<64xi32>
  aie.shim_dma_allocation @in(%shim, MM2S, 1)
  %p = aie.shim_dma(%shim) {
    %0 = aie.dma_start(MM2S, 0, ^bd, ^end)
  ^bd:
    aie.dma_bd(%e : memref<64xi32> offset = 0 len = 64) {bd_id = 0 : i32}
    aie.next_bd ^bd
  ^end:
    aie.end
  }
  aie.runtime_sequence @work(%a: memref<64xi32>) {
    %t = aiex.dma_configure_task_for @in {
      aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64)
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%t)
    aiex.dma_await_task(%t)
  }
}
aie.device(npu2) @main {
  %shim = aie.tile(0, 0)
  aie.runtime_sequence @go(%a: memref<64xi32>) {
    %t = aiex.dma_configure_task(%shim, MM2S, 0) {
      aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64)
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%t)
    aiex.dma_await_task(%t)
    aiex.configure @other {
      aiex.run @work(%a) : (memref<64xi32>)
    }
  }
}
"""


def test_programs_of_a_device_that_is_loaded_keep_their_ids() -> None:
    """Before the load id 0 is free; from then on it is one of the other device's program."""
    ran = Ran(LOADED, MaterializeRuntimeSequences(), SubstituteShimDmaAllocations(), AssignRuntimeSequenceBdIds())
    assert not ran.said
    assert ids(ran)[-2:] == [0, 1]


# --- descriptors by number --------------------------------------------------------------------------------------------


SAID = ("bd_id", "buffer_length", "column", "row", "valid_bd", "burst_length")
ZERO = [name for name in NpuWriteBdOp.get_irdl_definition().properties if name not in SAID]


def write_bd(id: int, row: int = 0) -> str:
    zeros = ", ".join(f"{name} = 0 : i32" for name in ZERO)
    return (
        f"    aiex.npu.writebd {{bd_id = {id} : i32, buffer_length = 4 : i32, column = 0 : i32, row = {row} : i32, "
        f"valid_bd = 1 : i32, {zeros}}}\n"
    )


def test_tasks_leave_alone_what_is_written_by_register() -> None:
    assert passes(write_bd(0) + task("x")) == [1]
    assert passes(task("x") + write_bd(0)) == [1]


def test_what_a_task_holds_is_not_written_by_register() -> None:
    pinned = task("x", more="bd_id = 2 : i32")
    assert "ID 2 is already in use" in said(pinned + write_bd(2))
    passes(pinned + free("x") + write_bd(2))


def test_a_descriptor_goes_on_with_one_that_is_there() -> None:
    text = task("x", more="bd_id = 0 : i32, next_bd_id = 9 : i32")
    assert "goes on with buffer descriptor ID 9, which nothing asks for by its number" in said(text)
    passes(text + task("y", more="bd_id = 9 : i32"))
    passes(write_bd(9) + text)


@pytest.mark.parametrize("count", [-1, 256])
def test_repeats_are_told_where_the_task_is_started(count: int) -> None:
    ran = to_npu(device(task("x", attrs=f"repeat_count = {count} : i32") + start("x")))
    assert ran.only.text == "'aiex.dma_start_task' op Repeat count exceeds the [0:255] range."
    by_value = task("x").replace("MM2S, 0)", "MM2S, 0) repeat %n : i32")
    ran = to_npu(device(f"    %n = arith.constant {count} : i32\n" + by_value + start("x")))
    assert ran.only.text == "'aiex.dma_start_task' op Repeat count exceeds the [0:255] range."
