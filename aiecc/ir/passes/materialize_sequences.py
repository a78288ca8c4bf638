"""`aie-materialize-runtime-sequences`: sequences that other sequences run are put in their place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp, device_of
from aiecc.ir.dialects.aiex.control import ConfigureOp, RunOp
from aiecc.ir.dialects.aiex.npu import NpuCreateScratchpadOp, NpuLoadPdiOp
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.base import MODULE, Pass
from aiecc.ir.passes.report import error
from aiecc.ir.runtime.inlining import Guests, references, symbols_of
from aiecc.ir.runtime.report import CODE, said
from aiecc.ir.spans import copy_span
from aiecc.ir.walk import all_in, ops_in

CYCLE = "Runtime sequence call graph contains a cycle"
UNPLACED = "Unallocated buffer; fixed addresses are required before runtime sequence materialization."
_NAMED = {
    "aie.shim_dma_allocation",
    "aie.device",
    "aie.runtime_sequence",
    "aie.buffer",
    "aie.objectfifo_rearm_binding",
    "memref.global",
    # Chains are put in their place by the pass that follows.
    "aie.bd_chain",
}


@dataclass(frozen=True)
class MaterializeRuntimeSequences(Pass):
    """`aiex.configure` becomes a load of the other device, `aiex.run` what the sequence it names does.

    Tiles, locks, buffers and names that the other device's sequence uses come along into this one.
    """

    name: ClassVar[str] = "aie-materialize-runtime-sequences"
    anchor: ClassVar[str] = MODULE
    summary: ClassVar[str] = "Put runtime sequences in the place of what runs them"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, ModuleOp)
        devices = {device.symbol: device for device in op.body.block.ops if isinstance(device, DeviceOp)}
        sequences = [s for d in devices.values() for s in d.ops_of(RuntimeSequenceOp)]
        for sequence in sequences:
            _check_symbols(sequence, devices, sink)
        runs = {s: all_in(s, RunOp) for s in sequences}
        called: dict[Operation, RuntimeSequenceOp] = {}
        for run in [run for each in runs.values() for run in each]:
            said(sink, run, lambda run=run: called.__setitem__(run, _called(run, devices)))
        if sink.failed:
            return
        order = _order(runs, called, sink)
        guests = {device.symbol: Guests(device) for device in devices.values()}
        for sequence in order:
            assert isinstance(sequence, RuntimeSequenceOp)
            said(sink, sequence, lambda sequence=sequence: _inline(sequence, called, guests))
            if sink.failed:
                return


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_symbols(sequence: Operation, devices: dict[str, DeviceOp], sink: Sink) -> None:
    """Every name a sequence uses is one of something that sequences may name."""
    device = device_of(sequence)
    assert device is not None
    symbols: dict[str, Operation] = symbols_of(device)
    for op in ops_in(sequence):
        # What is run is looked up in the device that was configured.
        names = [] if isinstance(op, RunOp) else references(op)
        for name in names:
            found = symbols.get(name, devices.get(name))
            if found is not None:
                said(sink, op, lambda op=op, name=name, found=found: _check_symbol(op, name, found))


def _check_symbol(op: Operation, name: str, found: Operation) -> None:
    if found.name not in _NAMED:
        raise VerifyError(
            f"references symbol '{name}' which must be either a ShimDMAAllocationOp, DeviceOp, RuntimeSequenceOp, "
            f"BufferOp, ObjectFifoRearmBindingOp, or GlobalOp, but got: {found.name}",
            op,
        )
    if isinstance(found, BufferOp) and found.address is None:
        raise VerifyError(UNPLACED, op, [("the buffer is here", found)])


def _called(run: RunOp, devices: dict[str, DeviceOp]) -> RuntimeSequenceOp:
    """The sequence that is run. Raises VerifyError where it is none, or takes something else."""
    around = run.parent_op()
    name = around.symbol if isinstance(around, ConfigureOp) else ""
    device = devices.get(name)
    if device is None:
        raise VerifyError("Referenced symbol is not a device", run, bare=True)
    found = symbols_of(device).get(run.sequence)
    if found is None:
        note = (f"This device does not have a '{run.sequence}' runtime sequence", device)
        text = f"No such runtime sequence for device '{name}': '{run.sequence}'"
        raise VerifyError(text, run, [note], bare=True)
    if not isinstance(found, RuntimeSequenceOp):
        raise VerifyError(f"'{run.sequence}' is not a runtime sequence", run, [("it is here", found)], bare=True)
    takes, given = list(found.body.block.args), list(run.args_)
    if len(takes) != len(given):
        raise VerifyError(f"argument count mismatch: expected {len(takes)} but got {len(given)}", run, bare=True)
    for i, (a, b) in enumerate(zip(takes, given, strict=True)):
        if a.type != b.type:
            raise VerifyError(f"argument {i} type mismatch: expected {a.type} but got {b.type}", run, bare=True)
    return found


def _order(
    runs: dict[Operation, list[RunOp]], called: dict[Operation, RuntimeSequenceOp], sink: Sink
) -> list[Operation]:
    """The sequences, those that are run before those that run them. One that leads into a cycle is an error."""
    done: dict[Operation, None] = {}
    for start in runs:
        path: dict[Operation, Iterator[RunOp]] = {start: iter(runs[start])} if start not in done else {}
        while path:
            at = next(reversed(path))
            run = next(path[at], None)
            if run is None:
                done[at] = None
                del path[at]
                continue
            target = called[run]
            if target in path:
                error(sink, start, CYCLE, [("it is run again here", run)], code=CODE)
                return []
            if target not in done:
                path[target] = iter(runs[target])
    return list(done)


# --- putting in place -------------------------------------------------------------------------------------------------


def _inline(sequence: RuntimeSequenceOp, called: dict[Operation, RuntimeSequenceOp], guests: dict[str, Guests]) -> None:
    device = device_of(sequence)
    assert device is not None
    configures = [op for op in sequence.body.block.ops if isinstance(op, ConfigureOp)]
    if not configures:
        return
    home = guests[device.symbol]
    for configure in reversed(configures):
        for op in list(configure.body.block.ops):
            if isinstance(op, RunOp):
                target = called[op]
                other = device_of(target)
                assert other is not None
                home.put(op, target, other, list(op.args_))
                _erase(op)
            elif isinstance(op, EndOp):
                _erase(op)
        _open(configure)
    _constants_first(sequence)
    _one_scratchpad(sequence)


def _open(configure: ConfigureOp) -> None:
    """The load of the device, unless it is there already, and what is done then."""
    block = configure.parent
    assert block is not None
    inside = list(configure.body.block.ops)
    first = next((op for op in inside if not isinstance(op, ConstantOp)), None)
    if not (isinstance(first, NpuLoadPdiOp) and first.device_ref == configure.symbol):
        properties: dict[str, Attribute] = {"device_ref": SymbolRefAttr(configure.symbol)}
        if configure.expand_mode_attr is not None:
            properties["expand_mode"] = configure.expand_mode_attr
        load = NpuLoadPdiOp.create(properties=properties)
        copy_span(configure, load)
        block.insert_op_before(load, configure)
    for op in inside:
        op.detach()
        block.insert_op_before(op, configure)
    _erase(configure)


def _constants_first(sequence: RuntimeSequenceOp) -> None:
    """Constants stand once, at the head, so that what is run after one another follows one another."""
    block = sequence.body.block
    found: dict[Attribute, ConstantOp] = {}
    for op in list(block.ops):
        if not isinstance(op, ConstantOp):
            continue
        first = found.setdefault(op.value, op)
        if first is not op:
            op.results[0].replace_all_uses_with(first.results[0])
            _erase(op)
    for op in reversed(found.values()):
        op.detach()
        head = block.first_op
        if head is None:
            block.add_op(op)
        else:
            block.insert_op_before(op, head)


def _one_scratchpad(sequence: RuntimeSequenceOp) -> None:
    pads = [op for op in sequence.body.block.ops if isinstance(op, NpuCreateScratchpadOp)]
    for other in pads[1:]:
        if other.size != pads[0].size:
            text = f"create_scratchpad size mismatch after inlining: {pads[0].size} != {other.size}"
            raise VerifyError(text, other, [("the first one is here", pads[0])])
        _erase(other)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
