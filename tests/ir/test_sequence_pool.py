"""Tasks in loops of run time: ids from a pool, on the way through loops and branches, back when a task is freed."""

from __future__ import annotations

import pytest
from hostkit import Host
from hypothesis import given, settings
from hypothesis import strategies as st
from passkit import Ran, line_of

from aiecc.ir.dialects.aie import RuntimeSequenceOp
from aiecc.ir.dialects.aiex.tasks import DmaBdPoolPopOp, DmaBdPoolPushOp
from aiecc.ir.passes.dma_to_npu import DmaToNpu
from aiecc.ir.passes.dynamic_pool import LowerDynamicBdPool
from aiecc.ir.passes.tasks_to_npu import DmaTasksToNpu

QUEUE = 0x1D214


def configure(name: str, offset: int = 0, *, on: str = "%s0, MM2S, 0", token: bool = True, more: str = "") -> str:
    ends = " {issue_token = true}" if token else ""
    return f"""%{name} = aiex.dma_configure_task({on}) {{
        aie.dma_bd(%a : memref<1024xi32> offset = {offset} len = 64){more}
        aie.end
      }}{ends}
      """


def sequence(body: str, before: str = "") -> str:
    return f"""aie.device(npu1) {{
  %s0 = aie.tile(0, 0)
  %s1 = aie.tile(1, 0)
  {before}
  aie.runtime_sequence @seq(%a: memref<1024xi32>, %n: index, %c: i1, %other: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    {body}
  }}
}}
"""


START, AWAIT, FREE = (f"aiex.dma_{x}_task" for x in ("start", "await", "free"))

ONE_BEHIND = f"""{configure("first")}
    {START}(%first)
    %last = scf.for %i = %c1 to %n step %c1 iter_args(%before = %first) -> (index) {{
      {configure("t", 128)}
      {START}(%t)
      {AWAIT}(%before)
      {FREE}(%before)
      scf.yield %t : index
    }}
    {AWAIT}(%last)
    {FREE}(%last)"""

FOLLOWED = f"""{configure("first")}
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (index) {{
      {START}(%t)
      {AWAIT}(%t)
      scf.yield %t : index
    }}
    {FREE}(%last)"""

EITHER = f"""%t = scf.if %c -> (index) {{
      {configure("x")}
      {START}(%x)
      scf.yield %x : index
    }} else {{
      {configure("y", 256)}
      {START}(%y)
      scf.yield %y : index
    }}
    %r = scf.if %c -> (index) {{
      scf.yield %t : index
    }} else {{
      {START}(%t)
      {AWAIT}(%t)
      scf.yield %t : index
    }}
    {AWAIT}(%r)
    {FREE}(%r)"""

TWO_AT_ONCE = f"""{configure("p")}
    {configure("q", 512)}
    %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p, %y = %q) -> (index, index) {{
      {START}(%x)
      {AWAIT}(%x)
      scf.yield %y, %x : index, index
    }}
    {FREE}(%l#0)
    {FREE}(%l#1)"""


def pooled(body: str) -> Ran:
    ran = Ran(sequence(body), LowerDynamicBdPool())
    assert not ran.said, ran.said
    return ran


def run(body: str, rounds: int = 0, taken: int = 0) -> Host:
    ran = Ran(sequence(body), LowerDynamicBdPool(), DmaTasksToNpu(), DmaToNpu())
    assert not ran.said, ran.said
    return Host().run(next(ran.ops(RuntimeSequenceOp)), {1: rounds, 2: taken})


def pushed(host: Host) -> list[int]:
    """The descriptors started, in order."""
    assert all(address == QUEUE for address, _ in host.writes)
    return [word & 0xF for _, word in host.writes]


def written(host: Host) -> list[tuple[int, int]]:
    """Descriptors written, and the byte of the buffer each starts at."""
    return [((register - 4 - 0x1D000) // 0x20, plus) for register, _, plus in host.patches]


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 7])
def test_one_behind_the_other(rounds: int) -> None:
    """Two ids are enough, however many rounds."""
    host = run(ONE_BEHIND, rounds)
    count = max(rounds, 1)
    assert pushed(host) == [k % 2 for k in range(count)]
    assert written(host) == [(k % 2, 512 if k else 0) for k in range(count)]
    assert len(host.syncs) == count
    assert sorted(host.pool) == list(range(16))


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_one_task_started_again(rounds: int) -> None:
    host = run(FOLLOWED, rounds)
    assert pushed(host) == [0] * rounds
    assert written(host) == [(0, 0)]
    assert host.log == ["pop 0", "push 0"]


@pytest.mark.parametrize(("taken", "offset"), [(1, 0), (0, 1024)])
def test_branches(taken: int, offset: int) -> None:
    host = run(EITHER, taken=taken)
    assert pushed(host) == ([0] if taken else [0, 0])
    assert written(host) == [(0, offset)]
    assert host.log == ["pop 0", "push 0"]


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_tasks_that_change_places(rounds: int) -> None:
    """What is started is the descriptor of the task that is there now, not of the one that was there first."""
    host = run(TWO_AT_ONCE, rounds)
    assert pushed(host) == [k % 2 for k in range(rounds)]
    assert sorted(host.pool) == list(range(16))


def test_without_run_time_control_flow_nothing_changes() -> None:
    body = f"{configure('t')} {START}(%t) {FREE}(%t)"
    assert pooled(body).text == Ran(sequence(body)).text


def test_every_task_of_the_sequence_is_pooled_and_nothing_twice() -> None:
    body = f"{configure('u', 64)} {START}(%u) {FREE}(%u)\n    {ONE_BEHIND}"
    ran = pooled(body)
    assert len(list(ran.ops(DmaBdPoolPopOp))) == 3
    assert len(list(ran.ops(DmaBdPoolPushOp))) == 3
    again = Ran(ran.text, LowerDynamicBdPool())
    assert not again.said
    assert again.text == ran.text


def test_an_unfreed_task_keeps_its_id() -> None:
    host = run(f"scf.for %i = %c0 to %n step %c1 {{ {configure('t')} {START}(%t) }}", 3)
    assert host.log == ["pop 0", "pop 1", "pop 2"]


@st.composite
def programs(draw: st.DrawFn, within: str = "") -> str:
    """Statements about tasks that travel, each freed in the end. `within`: what names begin with."""
    lines: list[str] = []
    for k in range(draw(st.integers(1, 2))):
        name = f"t{within}_{k}"
        lines.append(configure(name, draw(st.integers(0, 8)) * 64))
        at = name
        for j in range(draw(st.integers(0, 2))):
            after = f"{name}_{j}"
            inner = draw(programs(f"{name}_{j}_")) if not within and draw(st.booleans()) else ""
            if draw(st.booleans()):
                lines.append(
                    f"%{after} = scf.for %i{after} = %c0 to %n step %c1 iter_args(%x{after} = %{at}) -> (index) {{\n"
                    f"{inner} {START}(%x{after}) {AWAIT}(%x{after}) scf.yield %x{after} : index }}"
                )
            else:
                lines.append(
                    f"%{after} = scf.if %c -> (index) {{ {inner} scf.yield %{at} : index }}\n"
                    f"else {{ {START}(%{at}) {AWAIT}(%{at}) scf.yield %{at} : index }}"
                )
            at = after
        lines.append(f"{START}(%{at}) {AWAIT}(%{at}) {FREE}(%{at})")
    return "\n".join(lines)


@settings(max_examples=40, deadline=None)
@given(programs(), st.integers(0, 3), st.integers(0, 1))
def test_ids_come_back_and_what_is_started_was_written(body: str, rounds: int, taken: int) -> None:
    host = run(f"scf.for %l = %c0 to %n step %c1 {{}}\n{body}", rounds, taken)
    assert sorted(host.pool) == list(range(16))
    assert set(pushed(host)) <= {id for id, _ in written(host)}


# --- refused ----------------------------------------------------------------------------------------------------------


def refused(body: str, before: str = "") -> str:
    return Ran(sequence(body, before), LowerDynamicBdPool()).only.text


def test_a_while() -> None:
    body = """%z = arith.constant 0 : i32
    scf.while (%i = %z) : (i32) -> (i32) { scf.condition(%c) %i : i32 } do { ^bb0(%i: i32): scf.yield %i : i32 }"""
    assert refused(body) == (
        "'scf.while' op scf.while in a runtime sequence is not supported by the dynamic BD pool path; only scf.for and "
        "scf.if are supported"
    )


def test_a_chain() -> None:
    body = """scf.for %i = %c0 to %n step %c1 {
      %t = aiex.dma_configure_task(%s0, MM2S, 0) {
        aie.dma_bd(%a : memref<1024xi32> offset = 0 len = 64)
        aie.next_bd ^b
      ^b:
        aie.dma_bd(%a : memref<1024xi32> offset = 64 len = 64)
        aie.end
      }
    }"""
    assert refused(body) == (
        "'aiex.dma_configure_task' op dynamic BD pool lowering supports single-BD tasks only; a multi-BD chain under a "
        "runtime-bound loop needs runtime next_bd chaining (not yet implemented)"
    )


def test_a_pinned_id() -> None:
    body = f"{configure('p', more=' {bd_id = 3 : i32}')} scf.for %i = %c0 to %n step %c1 {{ {START}(%p) }}"
    ran = Ran(sequence(body), LowerDynamicBdPool())
    assert ran.only.text == (
        "'aie.dma_bd' op pins a buffer descriptor ID inside a runtime-bound sequence that draws IDs from the dynamic "
        "pool; a pinned ID would collide with a runtime-allocated one. Allocate every BD in this sequence from the "
        "pool (drop the bd_id), or make the sequence straight-line so the static allocator assigns all IDs."
    )
    assert ran.only.where is not None
    assert ran.only.where.line == line_of(sequence(body), "bd_id = 3")


def branches(one: str, other: str) -> str:
    return f"""%t = scf.if %c -> (index) {{
      {configure("x", on=one)}
      scf.yield %x : index
    }} else {{
      {other}
    }}
    {FREE}(%t)"""


def test_a_task_on_one_branch_only() -> None:
    assert refused(branches("%s0, MM2S, 0", "scf.yield %other : index")) == (
        "'scf.if' op yields a pool-allocated task on only one branch of an scf.if; both branches must yield the task "
        "(and its buffer descriptor id) so it can be freed after the if"
    )


@pytest.mark.parametrize("on", ["%s1, MM2S, 0", "%s0, S2MM, 0", "%s0, MM2S, 1"])
def test_tasks_of_different_channels(on: str) -> None:
    other = f"{configure('y', on=on)} scf.yield %y : index"
    assert refused(branches("%s0, MM2S, 0", other)) == (
        "'scf.if' op yields tasks on different physical channels (tile/direction/channel) from its two branches at the "
        "same result; a pooled buffer descriptor id and its completion sync belong to one channel"
    )


def test_tasks_of_different_channels_in_a_loop() -> None:
    body = f"""{configure("p")}
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p) -> (index) {{
      {configure("q", on="%s1, MM2S, 0")}
      scf.yield %q : index
    }}"""
    assert "carries tasks on different physical channels" in refused(body)


def test_a_free_of_something_else() -> None:
    body = f"scf.for %i = %c0 to %n step %c1 {{ {FREE}(%other) }}"
    assert refused(body) == (
        "'aiex.dma_free_task' op does not resolve to a task allocated from the runtime pool; cannot return its buffer "
        "descriptor ID"
    )


def test_ids_of_the_tiles_own_program_cannot_be_kept_back() -> None:
    program = """%eb = aie.external_buffer {sym_name = "eb"} : memref<64xi32>
  %sd = aie.shim_dma(%s0) {
    %d = aie.dma_start(S2MM, 1, ^b, ^e)
  ^b:
    aie.dma_bd(%eb : memref<64xi32> offset = 0 len = 64) {bd_id = 2 : i32}
    aie.next_bd ^e
  ^e:
    aie.end
  }"""
    assert refused(FOLLOWED, program) == (
        "'aiex.dma_configure_task' op draws a buffer descriptor ID at run time from all those of tile (0, 0), whose "
        "own DMA program uses ID 2"
    )


def test_tasks_that_differ_in_what_an_instruction_says() -> None:
    """One push cannot repeat as often as this task or that one says."""
    other = configure("y").replace("{issue_token = true}", "{issue_token = true, repeat_count = 2 : i32}")
    body = branches("%s0, MM2S, 0", f"{other} scf.yield %y : index").replace(FREE, f"{START}(%t) {FREE}")
    ran = Ran(sequence(body), LowerDynamicBdPool(), DmaTasksToNpu())
    assert ran.said[0] == (
        "'aiex.dma_start_task' op may be about tasks that differ in their channel, their repeat count or their token"
    )
