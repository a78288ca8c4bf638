"""What hardware would do wrong in silence ends a run, at the user's line."""

from __future__ import annotations

import pytest
from hostsim import PASS, device, line_of, ran, sequence, task, trapped, words

from aiecc.base.diag import Refused
from aiecc.base.spans import Span
from aiecc.ir.text import parse
from aiecc.npu import txn
from aiecc.sim.host import Ran, run_sequence, run_words
from aiecc.sim.host_words import Words, words_of
from aiecc.sim.outcome import Kind, Status

TWO = "%a: memref<64xi32>, %b: memref<64xi32>"
WHOLE = "memref<64xi32> offset = 0 len = 64"


def through(body: str, args: str = TWO) -> str:
    return device(PASS + sequence(args, body))


def test_reading_behind_an_argument() -> None:
    text = through(task("t", "in", "%a : memref<64xi32> offset = 8 len = 64") + task("u", "out", f"%b : {WHOLE}"))
    line, said = trapped(text, [bytes(256), None], Kind.BOUNDS)
    assert line == line_of(text, "%t = ")
    assert said == "moves bytes 32 to 287 of argument 0, which has 256"


def test_writing_behind_an_argument() -> None:
    rows = "%b : memref<64xi32> offset = 0 len = 64 sizes = [4, 16] strides = [17, 1]"
    text = through(task("t", "in", f"%a : {WHOLE}") + task("u", "out", rows))
    line, said = trapped(text, [bytes(256), None], Kind.BOUNDS)
    assert line == line_of(text, "%u = ")
    assert said == "moves bytes 204 to 267 of argument 1, which has 256"


def test_an_argument_nobody_filled() -> None:
    text = through(task("t", "in", f"%a : {WHOLE}"))
    line, said = trapped(text, [None, None], Kind.UNWRITTEN)
    assert line == line_of(text, "%t = ")
    assert said == "reads byte 0 of argument 0, which nobody has written"


def test_a_token_that_never_comes() -> None:
    text = through(
        task("t", "in", "%a : memref<64xi32> offset = 0 len = 32")
        + task("u", "out", f"%b : {WHOLE}", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)"
    )
    outcome = ran(text, [bytes(256), None]).outcome
    assert outcome.status is Status.STUCK
    waiting = {wait.actor: wait for wait in outcome.waits}
    mine = waiting["sequence run"]
    assert mine.what == "a token of S2MM 0 of tile (0, 0)"
    assert mine.where is not None
    assert mine.where.line == line_of(text, "dma_await_task")
    assert waiting["S2MM 0 of tile (0, 0)"].what == "128 more bytes on stream (0, 0) DMA : 0"
    assert outcome.missing == ("sequence run has not reached its end",)


def test_what_is_not_waited_for_is_noted() -> None:
    text = through(task("t", "in", f"%a : {WHOLE}") + task("u", "out", f"%b : {WHOLE}"))
    found = ran(text, [words(*range(64)), None])
    assert found.outcome.finished
    assert found.args[1] == words(*range(64))
    late = "nothing that the sequence waits for says that S2MM 0 of tile (0, 0) has written byte 0 of argument 1"
    assert found.outcome.notes == ("sequence run finished", late)


def test_a_push_that_is_never_done_is_noted() -> None:
    text = through(task("t", "in", f"%a : {WHOLE}"))
    outcome = ran(text, [bytes(256), None]).outcome
    assert outcome.finished
    assert outcome.notes == ("sequence run finished", "MM2S 0 of tile (0, 0) still has 1 pushes that are not done")


# --- words that the passes would not write ----------------------------------------------------------------------------

BASE = device(
    """
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  %core = aie.tile(0, 2)
  %buf = aie.buffer(%mem) {address = 0 : i32, sym_name = "buf"} : memref<64xi32>
  %par = aie.buffer(%core) {address = 1024 : i32, sym_name = "par"} : memref<3xi32>
  %lock = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "lock"}
  aie.flow(%shim, DMA : 0, %mem, DMA : 0)
  aie.flow(%mem, DMA : 0, %shim, DMA : 0)
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  %code = aie.core(%core) {
    aie.end
  }
  %dma = aie.memtile_dma(%mem) {
    %one = arith.constant 1 : i32
    %a = aie.dma_start(S2MM, 0, ^fill, ^end)
  ^fill:
    aie.use_lock(%lock, AcquireGreaterEqual, %one)
    aie.dma_bd(%buf : memref<64xi32> offset = 0 len = 64) {bd_id = 3 : i32}
    aie.next_bd ^fill
  ^end:
    aie.end
  }
  aie.runtime_sequence @run(%a: memref<64xi32>) {
  }
"""
)
SHIM_BD, SHIM_S2MM, SHIM_MM2S = 0x1D000, 0x1D200, 0x1D210
MEM = 1 << 20
CORE = 2 << 20


def shim_bd(number: int, length: int = 16, *, next: int | None = None) -> list[txn.Op]:
    last = 1 << 25 | (0 if next is None else next << 27 | 1 << 26)
    return [
        txn.BlockWrite(SHIM_BD + 0x20 * number, (length, 0, 0, 0, 0, 2 << 24, 0, last)),
        txn.Patch(SHIM_BD + 0x20 * number + 4, 0, 0),
    ]


def push(number: int, queue: int = SHIM_MM2S + 4, *, token: bool = False) -> txn.Op:
    return txn.Write(queue, number | int(token) << 31)


def execute(*ops: txn.Op, seed: int = 0, ordered: bool = True) -> Ran:
    """Some operations, each on a line of its own, the first on line 1."""
    base = words_of(parse(BASE, "design.mlir"))
    wheres = [Span("ops", n, 1) for n in range(1, len(ops) + 1)]
    found = Words(base.device, "run", txn.encode(base.device.target, ops), wheres, base.sizes, base.types, None)
    return run_words(found, [words(*range(64))], seed=seed, ordered=ordered)


def trap_of(*ops: txn.Op, seed: int = 0, ordered: bool = True) -> tuple[Kind, int, str]:
    outcome = execute(*ops, seed=seed, ordered=ordered).outcome
    assert outcome.trap is not None, outcome.report()
    assert outcome.trap.where is not None
    return outcome.trap.kind, outcome.trap.where.line, outcome.trap.text


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_fifth_push(seed: int) -> None:
    # The tile takes 64 words and then no more: whether the first is done before the fifth comes is a matter of luck.
    ops = [op for n in range(6) for op in shim_bd(n, 64)] + [push(n) for n in range(6)]
    kind, line, said = trap_of(*ops, seed=seed)
    assert (kind, line) == (Kind.QUEUE, 17)
    assert said == "pushes on MM2S 0 of tile (0, 0), whose queue holds 4, while 4 pushes are not known to be done"
    kind, line, said = trap_of(*ops, seed=seed, ordered=False)
    assert kind is Kind.QUEUE
    assert line in (17, 18)


def test_four_pushes_fit_and_a_token_makes_room() -> None:
    ops = [op for n in range(5) for op in shim_bd(n, 16)]
    ops += [push(n, token=n == 0) for n in range(4)]
    assert execute(*ops).outcome.finished
    assert execute(*ops, txn.Sync(0, 0, True, 0), push(4)).outcome.finished
    # Without the wait there is no telling, even where everything happens to be done already.
    assert trap_of(*ops, push(4))[:2] == (Kind.QUEUE, 15)


def test_a_descriptor_changed_while_it_may_run() -> None:
    again = (*shim_bd(0), push(0))
    assert trap_of(*again, *shim_bd(0))[:2] == (Kind.REUSE, 4)
    kind, line, said = trap_of(*again, *shim_bd(1), txn.Patch(SHIM_BD + 4, 0, 16))
    assert (kind, line) == (Kind.REUSE, 6)
    assert said.startswith("changes descriptor 0 of tile (0, 0), which MM2S 0 of tile (0, 0) may still be running")


def test_one_changed_in_the_middle_of_a_chain() -> None:
    ops = (*shim_bd(2), *shim_bd(1, next=2), push(1, token=True))
    assert trap_of(*ops, txn.Write(SHIM_BD + 0x40, 8))[:2] == (Kind.REUSE, 6)
    assert execute(*ops, txn.Sync(0, 0, True, 0), txn.Write(SHIM_BD + 0x40, 8)).outcome.finished


def test_one_of_the_tiles_own_program_that_runs() -> None:
    kind, line, said = trap_of(txn.BlockWrite(MEM + 0xA0000 + 3 * 0x20, (1, 0, 0, 0, 0, 0, 0, 1 << 31)))
    assert (kind, line) == (Kind.REUSE, 1)
    assert "descriptor 3 of tile (0, 1), which S2MM 0 of tile (0, 1)" in said


@pytest.mark.parametrize(
    ("ops", "kind", "line", "said"),
    [
        ([push(7)], Kind.DESCRIPTOR, 1, "starts descriptor 7 of tile (0, 0), which nobody has written"),
        ([txn.BlockWrite(SHIM_BD, (4,)), push(0)], Kind.DESCRIPTOR, 1, "which is not valid"),
        ([*shim_bd(0, next=9), push(0)], Kind.DESCRIPTOR, 3, "starts descriptor 9 of tile (0, 0), which nobody"),
        ([push(2, MEM + 0xA0604 + 8)], Kind.DESCRIPTOR, 1, "descriptor 2 on S2MM 1 of tile (0, 1), which reaches 24"),
        ([*shim_bd(0), txn.Patch(SHIM_BD + 4, 0, 2), push(0)], Kind.BOUNDS, 1, "not at a word"),
        ([*shim_bd(0), txn.Patch(SHIM_BD + 4, 1, 0)], Kind.BOUNDS, 3, "argument 1; the sequence has 1"),
        ([shim_bd(0)[0], push(0)], Kind.BOUNDS, 1, "bytes at 0x0 of the host, where no argument is"),
        ([txn.Patch(SHIM_BD, 0, 0)], Kind.REGISTER, 1, "where none belongs"),
        ([txn.Patch(MEM + 0xA0004, 0, 0)], Kind.REGISTER, 1, "where none belongs"),
        ([txn.Write(CORE + 1024 + 12, 1)], Kind.BOUNDS, 1, "uses byte 0x40C of tile (0, 2), where no buffer is"),
        ([txn.Write(MEM + 0xC0000, 64)], Kind.LOCK, 1, "sets lock lock to 64; its range is 0 to 63"),
        ([txn.Write(CORE + 0x34000, 1)], Kind.REGISTER, 1, "writes 0x34000 of tile (0, 2)"),
        ([txn.Write(CORE + 0x32000, 0)], Kind.REGISTER, 1, "stops core (0, 2)"),
        ([txn.Write(9 << 25, 0)], Kind.REGISTER, 1, "off the array"),
        ([txn.Write(SHIM_BD + 2, 0)], Kind.REGISTER, 1, "not at a word"),
        ([txn.Write(SHIM_MM2S, 8)], Kind.REGISTER, 1, "out-of-order descriptors"),
        ([txn.Sync(0, 0, True, 3)], Kind.REGISTER, 1, "waits for MM2S 3 of tile (0, 0), which is not there"),
        ([*shim_bd(0), txn.MaskWrite(SHIM_MM2S, 2, 2), push(0)], Kind.QUEUE, 4, "while it is held in reset"),
        ([txn.Write(MEM + 0xA0000 + 4, 0)], None, 0, ""),
        ([txn.Write(CORE + 1024 + 8, 1), txn.Write(MEM + 0xC0000, 63)], None, 0, ""),
    ],
)  # fmt: skip
def test_words_that_make_no_sense(ops: list[txn.Op], kind: Kind | None, line: int, said: str) -> None:
    if kind is None:
        assert execute(*ops).outcome.finished
        return
    found = trap_of(*ops)
    assert found[:2] == (kind, line)
    assert said in found[2]


def test_polls_wait_for_room() -> None:
    # Bit 22 of the status says that four are waiting; a poll for 0 lets the fifth one in.
    ops = [op for n in range(5) for op in shim_bd(n, 4)] + [push(n) for n in range(4)]
    assert execute(*ops, txn.MaskPoll(0x1D228, 0, 0x400000), push(4)).outcome.finished
    more = execute(*ops[:-1], push(3, SHIM_S2MM + 4), txn.MaskPoll(0x1D220, 0, 0x78003C))
    assert more.outcome.stuck


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (txn.LoadPdi(1, 0, 0), "loads a configuration"),
        (txn.CreateScratchpad(4), "reserves a scratchpad"),
        (txn.UpdateReg(0, 1, 0, SHIM_BD), "updates a register from the scratchpad"),
    ],
)
def test_what_cannot_be_modelled_is_refused_before_it_runs(op: txn.Op, said: str) -> None:
    with pytest.raises(Refused) as refused:
        execute(push(7), op)
    first = refused.value.diagnostics[0]
    assert said in first.text
    assert first.where is not None
    assert first.where.line == 2


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "given", "said"),
    [
        (TWO, [bytes(256), bytes(8)], "argument 1 of sequence run has 256 bytes, not 8"),
        (TWO, [None, None, None], "sequence run has 2 arguments, not 3"),
        ("%a: memref<?xi32>", [None], "the type of argument 0 does not say its size"),
    ],
)
def test_arguments_that_do_not_fit(args: str, given: list[bytes | None], said: str) -> None:
    text = device(PASS + sequence(args, ""))
    with pytest.raises(Refused) as refused:
        ran(text, given)
    assert said in refused.value.diagnostics[0].text


def test_results_come_back_in_bytearrays() -> None:
    text = through(
        task("t", "in", f"%a : {WHOLE}")
        + task("u", "out", f"%b : {WHOLE}", "issue_token = true")
        + "\n    aiex.dma_await_task(%u)"
    )
    data, result = words(*range(64)), bytearray(256)
    assert run_sequence(parse(text, "design.mlir"), "run", [data, result]).outcome.finished
    assert bytes(result) == data
    with pytest.raises(Refused, match="No such runtime sequence: other"):
        run_sequence(parse(text, "design.mlir"), "other", [])
