"""Objects that come to a shared receiving channel before the host asks for them: who is warned, and who is not."""

from __future__ import annotations

import pytest
from passkit import Ran

from aiecc.ir.passes.fifo_allocate import ObjectFifoAllocate
from aiecc.ir.passes.fifo_packet_ids import AssignPacketIds
from aiecc.ir.passes.fifo_split import ObjectFifoSplit

TYPE = "!aie.objectfifo<memref<16xi32>>"
ARGS = "%x: memref<16xi32>, %y: memref<16xi32>"
TILES = """
  %s0 = aie.tile(0, 0)
  %s1 = aie.tile(1, 0)
  %m = aie.tile(0, 1)
  %a = aie.tile(0, 2)
  %b = aie.tile(0, 3)
  %c = aie.tile(0, 4)
  %d = aie.tile(1, 2)
"""


def fifo(name: str, source: str, dest: str) -> str:
    return f"  aie.objectfifo @{name}(%{source}, {{%{dest}}}, 2 : i32) : {TYPE}\n"


def core(tile: str, takes: str = "", gives: str = "", more: str = "") -> str:
    lines = [f"%{tile}core = aie.core(%{tile}) {{", more]
    for name, port in ((takes, "Consume"), (gives, "Produce")):
        if name:
            lines.append(f"%{port} = aie.objectfifo.acquire @{name} ({port}, 1) : memref<16xi32>")
    for name, port in ((takes, "Consume"), (gives, "Produce")):
        if name:
            lines.append(f"aie.objectfifo.release @{name} ({port}, 1)")
    return "\n    ".join([*lines, "aie.end"]) + "\n  }\n"


def sequence(*steps: str, name: str = "run") -> str:
    """`ia` starts a transfer of that fifo, `?ia` waits for it."""
    lines: list[str] = []
    for step in steps:
        if step.startswith("?"):
            lines.append(f"aiex.dma_await_task(%{step[1:]})")
            continue
        lines += [
            f"%{step} = aiex.dma_configure_task_for @{step} {{",
            f"  aie.dma_bd(%{'x' if step[0] == 'i' else 'y'} : memref<16xi32> offset = 0 len = 16)",
            "  aie.end",
            "} {issue_token = true}",
            f"aiex.dma_start_task(%{step})",
        ]
    return f"  aie.runtime_sequence @{name}({ARGS}) {{\n    " + "\n    ".join(lines) + "\n  }\n"


OUTS = fifo("oa", "a", "s0") + fifo("ob", "b", "s0") + fifo("oc", "c", "s0")
INS = fifo("ia", "s0", "a") + fifo("ib", "s0", "b") + fifo("ic", "s1", "c")
FREE = core("a", gives="oa") + core("b", gives="ob") + core("c", gives="oc")
FED = core("a", "ia", "oa") + core("b", "ib", "ob") + core("c", "ic", "oc")


def early(body: str) -> list[tuple[str, str]]:
    """Whose objects may come while whose are waited for."""
    passes = (ObjectFifoSplit(), AssignPacketIds(), ObjectFifoAllocate())
    ran = Ran(f"aie.device(npu2) {{{TILES}{body}}}\n", *passes)
    assert not ran.sink.failed, ran.said
    assert ran.text.count("S2MM, 0)") == 2
    found: list[tuple[str, str]] = []
    for said in ran.sink.items:
        words = said.text.split("'")
        assert said.text == (
            f"objects of '{words[1]}' may arrive while the host receives '{words[3]}': both share a channel of the "
            "shim, which takes what comes first"
        )
        found.append((words[1], words[3]))
    return found


def test_cores_that_need_nothing_from_the_host_send_when_they_like() -> None:
    order = sequence("oa", "?oa", "ob", "?ob", "oc", "?oc")
    assert early(OUTS + FREE + order) == [("oa", "ob"), ("ob", "oa")]


def test_input_that_comes_after_the_other_was_awaited_holds_a_core_back() -> None:
    assert early(OUTS + INS + FED + sequence("ia", "oa", "?oa", "ib", "ob", "?ob", "ic", "oc", "?oc")) == []


def test_input_that_comes_before_does_not() -> None:
    order = sequence("ia", "ib", "ic", "oa", "?oa", "ob", "?ob", "oc", "?oc")
    assert early(OUTS + INS + FED + order) == [("ob", "oa")]


@pytest.mark.parametrize(("second", "found"), [("ib", []), ("ia", [("oa", "ob"), ("ob", "oa")])])
def test_sequences_of_their_own(second: str, found: list[tuple[str, str]]) -> None:
    """Each with its own input they hold each other's cores back; with one input for both cores neither does."""
    feeds = core("b", second, "ob") if second == "ib" else core("b", "ia", "ob")
    ins = INS if second == "ib" else INS.replace("@ia(%s0, {%a}", "@ia(%s0, {%a, %b}")
    one = sequence("ia", "ic", "oa", "?oa", "oc", "?oc", name="one")
    body = OUTS + ins + core("a", "ia", "oa") + feeds + core("c", "ic", "oc")
    assert early(body + one + sequence(second, "ob", "?ob", name="two")) == found


def test_input_is_found_through_memory_tiles_and_other_cores() -> None:
    ins = (
        fifo("ia", "s0", "m")
        + fifo("ma", "m", "a")
        + "  aie.objectfifo.link [@ia] -> [@ma] ([] [])\n"
        + fifo("ib", "s0", "d")
        + fifo("db", "d", "b")
        + fifo("ic", "s1", "c")
    )
    cores = core("a", "ma", "oa") + core("d", "ib", "db") + core("b", "db", "ob") + core("c", "ic", "oc")
    assert early(OUTS + ins + cores + sequence("ia", "oa", "?oa", "ib", "ob", "?ob", "ic", "oc", "?oc")) == []
    assert early(OUTS + ins + cores + sequence("ia", "ib", "oa", "?oa", "ob", "?ob", "ic", "oc", "?oc")) == [
        ("ob", "oa")
    ]


def test_a_core_with_locks_of_its_own_may_be_held_back_by_them() -> None:
    wait = "%one = arith.constant 1 : i32\naie.use_lock(%l, AcquireGreaterEqual, %one)"
    lock = '  %l = aie.lock(%b, 5) {init = 0 : i32, sym_name = "go"}\n'
    cores = core("a", "ia", "oa") + core("b", "", "ob", wait) + core("c", "ic", "oc")
    assert early(OUTS + INS + lock + cores + sequence("ia", "oa", "?oa", "ob", "?ob", "ic", "oc", "?oc")) == []
    cores = cores.replace(wait, "")
    assert early(OUTS + INS + cores + sequence("ia", "oa", "?oa", "ob", "?ob", "ic", "oc", "?oc")) == [("ob", "oa")]
