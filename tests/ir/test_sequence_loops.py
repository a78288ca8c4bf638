"""Loops and branches of sequences: written out where what they count is known, and told where it is not."""

import pytest
from passkit import Ran
from seqkit import device, operations, start, task, to_npu, wait

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.lowering import follow
from aiecc.ir.passes.unroll_sequences import UnrollRuntimeSequenceLoops
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.ir.text import parse
from aiecc.ir.walk import all_in
from aiecc.model.recipe import sequence_recipe
from aiecc.npu import txn

WORDS = "    %n0 = arith.constant 4096 : i32\n    %n1 = arith.constant 7 : i32\n"
WRITE = "      aiex.npu.write32(%n0, %n1) : i32, i32\n"


def loop(rounds: int, body: str, name: str = "i") -> str:
    lines = f"    %{name}0 = arith.constant 0 : index\n    %{name}1 = arith.constant 1 : index\n"
    lines += f"    %{name}n = arith.constant {rounds} : index\n"
    return f"{lines}    scf.for %{name} = %{name}0 to %{name}n step %{name}1 {{\n{body}    }}\n"


@pytest.mark.parametrize(("step", "wrong"), [(0, True), (-1, True), (1, False)])
def test_a_loop_that_never_ends_is_told(step: int, wrong: bool) -> None:
    text = WORDS + loop(3, WRITE).replace("%i1 = arith.constant 1", f"%i1 = arith.constant {step}")
    ran = Ran(device(text), UnrollRuntimeSequenceLoops())
    assert ran.said == ([f"'scf.for' op counts by {step}: the step of a loop must be positive"] if wrong else [])


def test_bounds_made_of_the_counts_of_outer_loops() -> None:
    """A triangle, and a loop that starts where the one around it is."""
    triangle = loop(4, loop(1, WRITE, "j").replace("to %jn", "to %i"))
    assert operations(device(WORDS + triangle)) == [txn.Write(4096, 7)] * (0 + 1 + 2 + 3)
    rest = loop(4, loop(4, WRITE, "j").replace("%j = %j0", "%j = %i"))
    assert operations(device(WORDS + rest)) == [txn.Write(4096, 7)] * (4 + 3 + 2 + 1)


@pytest.mark.parametrize(("step", "offsets"), [(1, [0, 1, 2, 3]), (2, [0, 2])])
def test_affine_loops_are_loops(step: int, offsets: list[int]) -> None:
    text = f"""
    affine.for %i = 0 to 4 step {step} {{
      %at = affine.apply affine_map<(d0) -> (d0 * 64)>(%i)
      %o = arith.index_cast %at : index to i32
{task("t", bd="%a : memref<65536xi32> offset = %o len = 64", token=True)}{start("t")}{wait("t")}
    }}
"""
    patches = [op.plus for op in operations(device(text)) if isinstance(op, txn.Patch)]
    assert patches == [256 * n for n in offsets]


@pytest.mark.parametrize("case", [0, 1, 2])
def test_a_switch_on_a_number_is_its_case(case: int) -> None:
    text = f"""
    %n0 = arith.constant 4096 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %zero = arith.constant 0 : i32
    %case = arith.constant {case} : index
    scf.index_switch %case
    case 1 {{
      aiex.npu.write32(%n0, %one) : i32, i32
      scf.yield
    }}
    case 2 {{
      aiex.npu.write32(%n0, %two) : i32, i32
      scf.yield
    }}
    default {{
      aiex.npu.write32(%n0, %zero) : i32, i32
    }}
"""
    assert operations(device(text)) == [txn.Write(4096, case)]


FLOW = {
    "scf.for": "scf.for %i = %c to %n step %one {{ {} }}",
    "scf.if": "scf.if %yes {{ {} }}",
    "scf.index_switch": "scf.index_switch %n\n case 0 {{ {} scf.yield }}\n default {{ }}",
}


@pytest.mark.parametrize("name", FLOW)
@pytest.mark.parametrize("tasks", [False, True])
def test_flow_known_at_run_time_only_is_told_once_and_at_its_line(name: str, tasks: bool) -> None:
    body = task("t", token=True) + start("t") + wait("t") if tasks else "aiex.npu.preempt {level = 0 : ui8}\n"
    head = "%c = arith.constant 0 : index\n %one = arith.constant 1 : index\n"
    text = device(head + FLOW[name].format(f"\n{body}"), args="%a: memref<65536xi32>, %n: index, %yes: i1")
    line = next(i for i, each in enumerate(text.splitlines(), 1) if name in each)
    module, sink = parse(text, "design.mlir"), Sink()
    if follow(module, sequence_recipe(), sink):
        (made,) = all_in(module, DeviceOp)
        instructions(made, find_sequence(made), sink)
    (only,) = sink.items
    assert only.where is not None and only.where.line == line
    assert "untime" in only.text or "run time" in only.text


def test_what_every_round_does_wrong_is_told_once() -> None:
    four = "%a : memref<65536xi32> offset = 0 len = 64 sizes = [4, 2, 4, 8] strides = [1024, 256, 16, 1]"
    body = task("t", bd=four, token=True) + start("t") + wait("t")
    assert "set repeat_count = 3" in to_npu(device(loop(3, body))).only.text
