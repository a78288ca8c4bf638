"""`aie-substitute-shim-dma-allocations`: tasks for a channel's name become tasks for the channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaConfigureTaskOp
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.runtime.allocations import allocations, channel_of
from aiecc.ir.spans import copy_span
from aiecc.ir.walk import all_in


@dataclass(frozen=True)
class SubstituteShimDmaAllocations(Pass):
    """The allocation's tile, direction, channel and packet header take the place of its name."""

    name: ClassVar[str] = "aie-substitute-shim-dma-allocations"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Replace names of shim DMA channels in tasks by the channels"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        tasks = all_in(op, DmaConfigureTaskForOp)
        names = allocations(op) if tasks else {}
        for old in tasks:
            channel = channel_of(old, old.alloc, names, sink)
            if channel is None:
                continue
            body = old.regions[0]
            old.detach_region(body)
            new = DmaConfigureTaskOp.on(channel.tile, channel.direction, channel.index, body)
            new.set_packet(channel.packet)
            for key in ("issue_token", "repeat_count"):
                if key in old.properties:
                    new.properties[key] = old.properties[key]
            new.attributes.update(old.attributes)
            if old.repeat is not None:
                new.set_repeat(old.repeat)
            copy_span(old, new)
            block = old.parent
            assert block is not None
            block.insert_op_before(new, old)
            old.result.replace_all_uses_with(new.result)
            old.detach()
            old.erase()
