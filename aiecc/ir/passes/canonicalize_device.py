"""`aie-canonicalize-device`: designs of before there were devices get one around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.enums import Device
from aiecc.ir.dialects.aie.tiles import DEFAULT_DEVICE, DeviceOp
from aiecc.ir.passes.base import MODULE, Pass
from aiecc.ir.spans import copy_span


@dataclass(frozen=True)
class CanonicalizeDevice(Pass):
    """Move everything of a module without a device into one of the first generation."""

    name: ClassVar[str] = "aie-canonicalize-device"
    anchor: ClassVar[str] = MODULE
    summary: ClassVar[str] = "Put a design without aie.device into one"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, ModuleOp)
        block = op.body.block
        if any(isinstance(inner, DeviceOp) for inner in block.ops):
            return
        inside = list(block.ops)
        for inner in inside:
            inner.detach()
        word = Device.named(DEFAULT_DEVICE)
        assert word is not None
        device = DeviceOp(word, ops=inside)
        copy_span(op, device)
        block.add_op(device)
