"""`aie-standard-lowering`: cores become functions of a plain module; everything else of the device goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AssumeAlignmentOp, GetGlobalOp, GlobalOp
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import BufferOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.facts import buffers_of, devices
from aiecc.ir.passes.base import MODULE, Pass, option
from aiecc.ir.passes.core_lowering import CoreLowering, outer_uses
from aiecc.ir.passes.report import op_error
from aiecc.model.targets import Tile

_ALIGNMENT = 32
_ANY = -1


@dataclass(frozen=True)
class StandardLowering(Pass):
    """Make a function of every selected core, a global of every buffer, a call of every talk with the hardware.

    Initial values stay with the globals of the selected core's own tile only: a neighbour's object has them already.
    Globals and cores come out last one first, as upstream prints them.
    """

    name: ClassVar[str] = "aie-standard-lowering"
    anchor: ClassVar[str] = MODULE
    summary: ClassVar[str] = "Lower cores to functions, buffers to globals"

    device: str = option("", help="the device to lower; default: the first")
    tilecol: int = option(_ANY, help="column of the core to lower; -1: every core")
    tilerow: int = option(_ANY, help="row of the core to lower; -1: every core")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, ModuleOp)
        device = self._device(op, sink)
        if device is None:
            return
        lowering = CoreLowering(device.target, sink)
        functions = list(device.ops_of(FuncOp))
        globals = list(device.ops_of(GlobalOp))
        cores = [c for c in device.ops_of(CoreOp) if isinstance(c, CoreOp) and self._selected(c.coord)]
        buffers = self._buffers(device)
        for function in functions:
            lowering.lower(function.walk())
        lowered = [_core_function(core, lowering) for core in cores]
        if sink.failed:
            return
        for moved in (*functions, *globals):
            moved.detach()
        _erase_devices(op)
        op.attributes["llvm.target_triple"] = StringAttr(device.target.arch.value)
        new = [*reversed(buffers), *lowering.declarations(), *globals, *functions, *reversed(lowered)]
        block = op.body.block
        if block.first_op is None:
            block.add_ops(new)
        else:
            block.insert_ops_before(new, block.first_op)

    def _device(self, module: ModuleOp, sink: Sink) -> DeviceOp | None:
        found = list(devices(module))
        if not found:
            op_error(sink, module, "expected AIE.device operation at toplevel")
            return None
        if not self.device:
            return found[0]
        named = next((d for d in found if d.symbol == self.device), None)
        if named is None:
            op_error(sink, module, f"No such device: {self.device}")
        return named

    def _selected(self, at: Tile | None) -> bool:
        return at is not None and self.tilecol in (_ANY, at[0]) and self.tilerow in (_ANY, at[1])

    def _buffers(self, device: DeviceOp) -> list[GlobalOp]:
        made: list[GlobalOp] = []
        for buffer in buffers_of(device):
            tile = buffer.tile_op
            own = tile is not None and self._selected(tile.coord)
            made.append(global_of(buffer, buffer.symbol or "", initialized=own))
        return made


def global_of(buffer: BufferOp, name: str, *, initialized: bool) -> GlobalOp:
    """The global that stands for a buffer; without `initialized` another object defines it."""
    properties: dict[str, Attribute | None] = {
        "sym_name": StringAttr(name),
        "sym_visibility": StringAttr("public"),
        "type": buffer.result.type,
        "initial_value": buffer.initial_value if initialized else None,
    }
    made = GlobalOp.create(properties={k: v for k, v in properties.items() if v is not None})
    made.location = buffer.location
    return made


def get_global(buffer: BufferOp, name: str) -> GetGlobalOp:
    assert isinstance(buffer.result.type, MemRefType)
    return GetGlobalOp(name, buffer.result.type)


def _core_function(core: CoreOp, lowering: CoreLowering) -> FuncOp:
    """The function made of a core, which loses its body."""
    assert core.coord is not None
    _bring_in(core, lowering)
    region = core.detach_region(core.body)
    function = FuncOp(f"core_{core.coord[0]}_{core.coord[1]}", ((), ()), region)
    function.location = core.location
    if not lowering.sink.failed:
        lowering.lower_core(region, core)
    return function


def _bring_in(core: CoreOp, lowering: CoreLowering) -> None:
    """Replace what a core uses from outside: buffers where they are used, the rest at its top."""
    made: list[Operation] = []
    mapper: dict[SSAValue, SSAValue] = {}
    for value, uses in outer_uses(core).items():
        if isinstance(value.owner, BufferOp):
            for user, index in uses:
                new = _aligned(value.owner)
                for op in new:
                    op.location = user.location
                block = user.parent_block()
                assert block is not None
                block.insert_ops_before(new, user)
                user.operands[index] = new[0].results[0]
        elif lowering.stand_in(value, core, mapper, made, _aligned):
            for user, index in uses:
                user.operands[index] = mapper[value]
        else:
            lowering.refuse_outer(value, uses[0][0])
    block = core.body.blocks[0]
    if made and block.first_op is not None:
        block.insert_ops_before(made, block.first_op)


def _aligned(buffer: BufferOp) -> Sequence[Operation]:
    """A buffer's global and what may be assumed of its address."""
    got = get_global(buffer, buffer.symbol or "")
    return got, AssumeAlignmentOp(got.memref, _ALIGNMENT)


def _erase_devices(module: ModuleOp) -> None:
    for device in list(devices(module)):
        device.detach()
        device.drop_all_references()
