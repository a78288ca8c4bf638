"""What the tests of runtime sequences share: a device around a sequence, the whole way to words, and what was said."""

from __future__ import annotations

from collections.abc import Iterator

from passkit import Ran

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.runtime import BdChainOp
from aiecc.ir.passes.assign_sequence_ids import AssignRuntimeSequenceBdIds
from aiecc.ir.passes.base import Pass
from aiecc.ir.passes.bd_chains import MaterializeBdChains
from aiecc.ir.passes.canonicalize_sequences import CanonicalizeRuntimeSequences
from aiecc.ir.passes.decompose_bds import DecomposeLargeDmaBd
from aiecc.ir.passes.dma_to_npu import DmaToNpu
from aiecc.ir.passes.shim_allocations import SubstituteShimDmaAllocations
from aiecc.ir.passes.tasks_to_npu import DmaTasksToNpu
from aiecc.ir.passes.unroll_sequences import UnrollRuntimeSequenceLoops
from aiecc.ir.runtime.transaction import find_sequence, instructions
from aiecc.npu import txn

TILES = """
  %shim = aie.tile(0, 0)
  %shim1 = aie.tile(1, 0)
  %mem = aie.tile(0, 1)
  %mem1 = aie.tile(1, 1)
  %core = aie.tile(0, 2)
  %core3 = aie.tile(0, 3)
  %mb = aie.buffer(%mem) {address = 4096 : i32, sym_name = "mb"} : memref<4096xi32>
  %cb = aie.buffer(%core) {address = 1024 : i32, sym_name = "cb"} : memref<1024xi32>
  %ml0 = aie.lock(%mem, 0) {sym_name = "ml0"}
  %ml1 = aie.lock(%mem, 1) {sym_name = "ml1"}
  %cl0 = aie.lock(%core, 0) {sym_name = "cl0"}
  %cl1 = aie.lock(%core, 1) {sym_name = "cl1"}
  aie.shim_dma_allocation @in(%shim, MM2S, 0)
  aie.shim_dma_allocation @out(%shim, S2MM, 0)
"""
"""Shims of two columns, memory tiles, cores; a buffer on the memory tile and on the core; two shim channels by name."""

ARGS = "%a: memref<65536xi32>, %b: memref<65536xi16>"


def device(sequence: str, *, before: str = "", args: str = ARGS, name: str = "npu2") -> str:
    """A device with `TILES` and one runtime sequence."""
    return f"aie.device({name}) {{\n{TILES}\n{before}\n  aie.runtime_sequence({args}) {{\n{sequence}\n  }}\n}}\n"


def task(
    name: str,
    *,
    on: str = "%shim, MM2S, 0",
    bd: str = "%a : memref<65536xi32> offset = 0 len = 64",
    token: bool = False,
    more: str = "",
    attrs: str = "",
) -> str:
    """A task of one descriptor. `more`: attributes of the descriptor; `attrs`: more of the task's."""
    inner = f" {{{more}}}" if more else ""
    told = ", ".join(x for x in ("issue_token = true" if token else "", attrs) if x)
    return f"""    %{name} = aiex.dma_configure_task({on}) {{
      aie.dma_bd({bd}){inner}
      aie.end
    }} {{{told}}}
"""


def start(*names: str) -> str:
    return "".join(f"    aiex.dma_start_task(%{n})\n" for n in names)


def wait(*names: str) -> str:
    return "".join(f"    aiex.dma_await_task(%{n})\n" for n in names)


def free(*names: str) -> str:
    return "".join(f"    aiex.dma_free_task(%{n})\n" for n in names)


def placed(ran: Ran) -> list[DmaBdOp]:
    """The descriptors outside templates, in order."""
    return [bd for bd in ran.ops(DmaBdOp) if not isinstance(bd.parent_op(), BdChainOp)]


def ids(ran: Ran) -> list[int | None]:
    """The numbers of all descriptors outside templates, in order."""
    return [bd.bd_id for bd in placed(ran)]


def assigned(text: str, *, queue_check: str = "off", in_flight: str = "error") -> Ran:
    """A text after ids were assigned."""
    first = (MaterializeBdChains(), SubstituteShimDmaAllocations(), UnrollRuntimeSequenceLoops())
    return Ran(text, *first, AssignRuntimeSequenceBdIds(queue_check=queue_check, in_flight=in_flight))


def to_npu(text: str, *passes: Pass, queue_check: str = "off", in_flight: str = "error") -> Ran:
    """A text as plain instructions."""
    return Ran(
        text,
        MaterializeBdChains(),
        SubstituteShimDmaAllocations(),
        UnrollRuntimeSequenceLoops(),
        CanonicalizeRuntimeSequences(),
        DecomposeLargeDmaBd(),
        AssignRuntimeSequenceBdIds(queue_check=queue_check, in_flight=in_flight),
        DmaTasksToNpu(),
        *(passes or (DmaToNpu(),)),
    )


def operations(text: str, name: str = "", *, queue_check: str = "off", in_flight: str = "error") -> list[txn.Op]:
    """The transaction's operations of a sequence."""
    ran = to_npu(text, queue_check=queue_check, in_flight=in_flight)
    assert not ran.sink.failed, ran.said
    sink = Sink()
    found = instructions(ran.device, find_sequence(ran.device, name), sink)
    assert not sink.failed, [d.text for d in sink.items]
    return [each.op for each in found]


def words(text: str, name: str = "") -> list[int]:
    """The transaction of a sequence, word by word."""
    ran = to_npu(text)
    assert not ran.sink.failed, ran.said
    sink = Sink()
    found = instructions(ran.device, find_sequence(ran.device, name), sink)
    assert not sink.failed, [d.text for d in sink.items]
    data = txn.encode(ran.device.target, [each.op for each in found])
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


def blocks(text: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Address and words of each descriptor that is written."""
    for op in operations(text):
        if isinstance(op, txn.BlockWrite):
            yield op.address, op.data


def problems(text: str) -> list[str]:
    """What is said about a text by the verifier, in order."""
    from aiecc.ir.text import parse
    from aiecc.ir.verify import verify

    return [d.text for d in verify(parse(text, "design.mlir"))]
