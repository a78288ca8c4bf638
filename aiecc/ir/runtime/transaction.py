"""A lowered sequence as a transaction: its instructions in order, each with the user's line it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IntegerType,
    MemRefType,
    NameLoc,
    UnitAttr,
)
from xdsl.dialects.memref import GetGlobalOp, GlobalOp
from xdsl.ir import Attribute, Operation

from aiecc.base.collector import paused
from aiecc.base.diag import Sink, refuse
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.memory import constant_int
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.npu import (
    Addressed,
    NpuAddressPatchOp,
    NpuAssertBdDivisibleOp,
    NpuAssertBdFieldOp,
    NpuBlockWriteOp,
    NpuBlockWriteValuesOp,
    NpuCreateScratchpadOp,
    NpuLoadPdiOp,
    NpuMaskWrite32Op,
    NpuPreemptOp,
    NpuSyncOp,
    NpuUpdateFromScratchpadOp,
    NpuWrite32Op,
)
from aiecc.ir.dialects.constraints import number
from aiecc.ir.errors import VerifyError
from aiecc.ir.fold.effects import is_harmless, is_unused
from aiecc.ir.passes.report import op_error, warning
from aiecc.ir.runtime.report import said
from aiecc.ir.spans import position, span_of
from aiecc.npu import txn
from aiecc.npu.bits import Unfit

CODE = "E1002"


@dataclass(frozen=True)
class Instruction:
    """One operation of a transaction, the IR op it was, and where that comes from."""

    op: txn.Op
    source: str
    location: Attribute

    @property
    def where(self) -> Span | None:
        """The user's line."""
        return position(self.location)


def find_sequence(device: DeviceOp, name: str = "") -> RuntimeSequenceOp:
    """The sequence of a name; the first one without. Raises Refused where there is none."""
    found = [op for op in device.block.ops if isinstance(op, RuntimeSequenceOp)]
    chosen = next((each for each in found if not name or each.symbol == name), None)
    if chosen is None:
        text = f"No such runtime sequence: {name}" if name else "No runtime sequence in device"
        refuse(text, span_of(device), code=CODE)
    return chosen


def instructions(device: DeviceOp, sequence: RuntimeSequenceOp, sink: Sink) -> list[Instruction]:
    """The transaction's operations. What has none is an error: nothing of a sequence is left out silently."""
    work = _Translation(device)
    found: list[Instruction] = []
    flow = [op for block in sequence.body.blocks for op in block.ops if op.name in _FLOW]
    for op in flow:
        text = (
            "depends on what is known at run time only, and a transaction has neither loops nor branches: give it "
            "constants, or make a C++ function of the sequence instead"
        )
        op_error(sink, op, text, code=CODE)
    if flow:
        # What else has no words is in there, or comes of it.
        return []
    with paused():
        for block in sequence.body.blocks:
            for op in block.ops:
                # Most of a sequence are constants.
                if type(op) is ConstantOp:
                    continue
                said(sink, op, lambda op=op: found.extend(work.translate(op, sink)))
    if not sink.failed:
        for op in work.guards:
            said(sink, op, lambda op=op: work.refuse(op))
    return found


class _Translation:
    def __init__(self, device: DeviceOp) -> None:
        self.device = device
        self.guards: list[Operation] = []
        """Checks of values known at run time only: told where nothing else is that such values are part of."""
        self.globals: dict[str, GlobalOp] = {}
        for op in device.block.ops:
            if isinstance(op, GlobalOp):
                self.globals[op.sym_name.data] = op

    def translate(self, op: Operation, sink: Sink) -> Iterator[Instruction]:
        handler = _HANDLERS.get(type(op))
        if handler is None:
            self._leftover(op)
            return
        made = handler(self, op, sink)
        if made is not None:
            try:
                txn.words_of(made)
            except Unfit as problem:
                raise VerifyError(f"cannot be encoded: {problem}", op) from None
            yield Instruction(made, op.name, op.location)

    def _leftover(self, op: Operation) -> None:
        """Values nobody needs any more go without a word; anything else would be lost."""
        if isinstance(op, NpuAssertBdFieldOp | NpuAssertBdDivisibleOp):
            if constant_int(op.value) is None:
                self.guards.append(op)
            return
        if op.name in _SILENT or is_unused(op) or (op.results and not op.regions and op.name.startswith("memref.")):
            return
        if is_harmless(op):
            # What uses its value is told, in whose words the value would be.
            return
        self.refuse(op)

    def refuse(self, op: Operation) -> None:
        """Raises VerifyError for an op that would be lost."""
        raise VerifyError("has no place in a transaction: lower it first, or take it out of the sequence", op)


_FLOW = ("scf.for", "scf.if", "scf.while", "scf.index_switch")
_SILENT = ("aie.end", "memref.get_global")


def _constant(op: Operation, index: int, text: str) -> int:
    value = constant_int(op.operands[index])
    if value is None:
        raise VerifyError(text, op)
    if not -(1 << 31) <= value < 1 << 32:
        raise VerifyError(f"value {value} does not fit 32 bits", op)
    return value & 0xFFFFFFFF


def _absolute(work: _Translation, op: Addressed, inside: int, text: str) -> int:
    """The address of a register: as it is, or inside a tile."""
    if op.buffer is not None:
        raise VerifyError(text, op)
    if op.column is None or op.row is None:
        return inside
    return work.device.target.tile_base(op.column, op.row) | inside & 0xFFFFF


def _write(work: _Translation, op: NpuWrite32Op, sink: Sink) -> txn.Op:
    text = "Cannot translate write32 with non-constant address or value to a static TXN binary"
    symbolic = "Cannot translate symbolic address"
    if op.buffer is not None:
        raise VerifyError(symbolic, op)
    return txn.Write(_absolute(work, op, _constant(op, 0, text), symbolic), _constant(op, 1, text))


def _mask(work: _Translation, op: NpuMaskWrite32Op, sink: Sink) -> txn.Op:
    text = "Cannot translate maskwrite32 with non-constant address, value, or mask to a static TXN binary"
    symbolic = "Cannot translate symbolic address"
    if op.buffer is not None:
        raise VerifyError(symbolic, op)
    address = _absolute(work, op, _constant(op, 0, text), symbolic)
    return txn.MaskWrite(address, _constant(op, 1, text), _constant(op, 2, text))


def _block(work: _Translation, op: NpuBlockWriteOp, sink: Sink) -> txn.Op:
    text = "Cannot translate blockwrite with unresolved address to a static TXN binary"
    address = _absolute(work, op, op.address, text)
    tile = None if op.column is None or op.row is None else (op.column, op.row)
    return txn.BlockWrite(address, _payload(work, op, sink), tile)


def _payload(work: _Translation, op: NpuBlockWriteOp, sink: Sink) -> tuple[int, ...]:
    get = op.data.owner
    if not isinstance(get, GetGlobalOp):
        raise VerifyError("Only MemRefs from memref.get_global are supported", op, bare=True)
    found = work.globals.get(get.name_.root_reference.data)
    if found is None:
        raise VerifyError("Global symbol not found", op, bare=True)
    type: Any = op.data.type
    if isinstance(type, MemRefType) and type.element_type != IntegerType(32):
        warning(sink, op, "Only 32-bit data type is supported for now", code="W1002")
        raise VerifyError("Global symbol initial value is not a dense int array", op, bare=True)
    value: Attribute | None = found.properties.get("initial_value")
    if value is None or isinstance(value, UnitAttr):
        raise VerifyError("Global symbol has no initial value", op, bare=True)
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise VerifyError("Global symbol initial value is not a dense int array", op, bare=True)
    values: Any = value.get_values()
    return tuple(int(v) & 0xFFFFFFFF for v in values)


def _patch(work: _Translation, op: NpuAddressPatchOp, sink: Sink) -> txn.Op:
    if op.addr_val is not None:
        raise VerifyError(
            "Cannot translate address_patch with a runtime register address (addr_val) to a static TXN binary; the "
            "runtime-bd_id pool path targets the C++ TXN target only",
            op,
        )
    plus = _constant(op, 0, "Cannot translate address_patch with non-constant arg_plus to a static TXN binary")
    if op.arg_idx >= txn.FIRMWARE_BUFFERS and plus >= txn.FOLD:
        raise VerifyError(
            f"starts {plus} bytes into argument {op.arg_idx}: of arguments after the first {txn.FIRMWARE_BUFFERS}, "
            "only the first 2 GiB are reached",
            op,
        )
    return txn.Patch(op.addr, op.arg_idx, plus)


def _sync(work: _Translation, op: NpuSyncOp, sink: Sink) -> txn.Op:
    text = "Cannot translate sync with non-constant operands to a static TXN binary"
    col, row, direction, channel, columns, rows = (_constant(op, i, text) for i in range(6))
    return txn.Sync(col, row, bool(direction), channel, columns, rows)


def _load(work: _Translation, op: NpuLoadPdiOp, sink: Sink) -> txn.Op:
    return txn.LoadPdi(op.id or 0, op.size or 0, op.address or 0)


def _preempt(work: _Translation, op: NpuPreemptOp, sink: Sink) -> txn.Op:
    return txn.Preempt(op.level)


def _scratchpad(work: _Translation, op: NpuCreateScratchpadOp, sink: Sink) -> txn.Op:
    return txn.CreateScratchpad(op.size, number(op.usage_type_attr) or 0)


def _update(work: _Translation, op: NpuUpdateFromScratchpadOp, sink: Sink) -> txn.Op:
    text = "Cannot translate update_from_scratchpad with unresolved address to a static TXN binary"
    address = number(op.address_attr)
    if address is None or op.buffer is not None:
        raise VerifyError(text, op)
    function = number(op.properties.get("func"))
    return txn.UpdateReg(
        number(op.state_table_idx_attr) or 0,
        1 if function is None else function,
        number(op.func_arg_attr) or 0,
        _absolute(work, op, address, text),
    )


def _values(work: _Translation, op: NpuBlockWriteValuesOp, sink: Sink) -> txn.Op:
    raise VerifyError(
        "cannot translate a runtime-valued blockwrite payload to a static TXN binary; this op is supported only by the "
        "C++ TXN target (--aie-npu-to-cpp)",
        op,
    )


_HANDLERS: dict[type, Callable[[_Translation, Any, Sink], txn.Op | None]] = {
    NpuWrite32Op: _write,
    NpuMaskWrite32Op: _mask,
    NpuBlockWriteOp: _block,
    NpuBlockWriteValuesOp: _values,
    NpuAddressPatchOp: _patch,
    NpuSyncOp: _sync,
    NpuLoadPdiOp: _load,
    NpuPreemptOp: _preempt,
    NpuCreateScratchpadOp: _scratchpad,
    NpuUpdateFromScratchpadOp: _update,
}


def location_map(device: DeviceOp, found: list[Instruction], binary: str) -> dict[str, Any]:
    """Which bytes come from which line: what `insts_*.bin.locmap.json` holds."""
    from aiecc.npu.disasm import opcode_name
    from aiecc.npu.registers import locate

    entries: list[dict[str, Any]] = []
    at = 16
    for each in found:
        size = 4 * len(txn.words_of(each.op))
        entry: dict[str, Any] = {
            "byte_offset": at,
            "byte_size": size,
            "opcode": opcode_name(each.op),
            "source_op": each.source,
        }
        address = getattr(each.op, "address", None)
        if isinstance(address, int):
            entry["address"] = f"0x{address:X}"
            register = locate(device.target, address)
            if register is not None and register.official:
                entry["register_module"], entry["register"] = register.official
        entry["loc"] = _location(each.location)
        entries.append(entry)
        at += size
    return {"version": 1, "device": device.symbol, "binary": binary, "operations": entries}


def _location(attr: Attribute) -> dict[str, Any]:
    """An MLIR location as plain values."""
    if isinstance(attr, FileLineColLoc):
        return {"kind": "file", "file": attr.filename.data, "line": attr.line.data, "column": attr.column.data}
    if isinstance(attr, NameLoc):
        return {"kind": "name", "name": attr.desc.data, "child": _location(attr.location)}
    if isinstance(attr, CallSiteLoc):
        return {"kind": "callsite", "callee": _location(attr.callee), "caller": _location(attr.caller)}
    if isinstance(attr, FusedLoc) and isinstance(attr.locations, ArrayAttr):
        return {"kind": "fused", "locations": [_location(part) for part in attr.locations.data]}
    return {"kind": "unknown"}
