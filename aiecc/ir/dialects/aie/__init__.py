"""The `aie` dialect: what stands on the array. One file per subject; `OPS` and `ATTRIBUTES` list everything.

Ops are written as their `SYNTAX` says (see `..syntax`) and verified by the `*_rules` module of their subject.
"""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from aiecc.ir.dialects.aie.access import ObjectFifoAcquireOp, ObjectFifoReleaseOp, ObjectFifoSubviewAccessOp
from aiecc.ir.dialects.aie.attrs import ATTRIBUTES
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chains import DmaStartTaskOp
from aiecc.ir.dialects.aie.cores import CoreOp, MemOp, MemTileDmaOp, ShimDmaOp
from aiecc.ir.dialects.aie.dma import DmaBdPacketOp, DmaOp, DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.flows import CascadeFlowOp, FlowOp, PacketDestOp, PacketFlowOp, PacketSourceOp, WireOp
from aiecc.ir.dialects.aie.links import ObjectFifoAllocateOp, ObjectFifoLinkOp, RegisterExternalBuffersOp
from aiecc.ir.dialects.aie.memory import BufferOp, ExternalBufferOp, LockOp, UseLockOp
from aiecc.ir.dialects.aie.older import settle
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp, ObjectFifoSegmentOp
from aiecc.ir.dialects.aie.routes import OlderDanglingEndpointOp, OlderFlowOp, RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.runtime import (
    BdChainOp,
    ObjectFifoRearmBindingOp,
    RuntimeSequenceOp,
    ShimDmaAllocationOp,
)
from aiecc.ir.dialects.aie.streams import (
    DebugOp,
    EventOp,
    GetCascadeOp,
    GetStreamOp,
    PlioOp,
    PutCascadeOp,
    PutStreamOp,
)
from aiecc.ir.dialects.aie.switch import (
    AMSelOp,
    ConfigureCascadeOp,
    ConnectOp,
    MasterSetOp,
    PacketRuleOp,
    PacketRulesOp,
    ShimMuxOp,
    SwitchboxOp,
)
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp, LogicalTileOp, TileOp, device_of, target_of
from aiecc.ir.dialects.aie.trace import (
    TraceComboEventOp,
    TraceConfigOp,
    TraceEdgeEventOp,
    TraceEventOp,
    TraceHostConfigOp,
    TraceModeOp,
    TraceOp,
    TracePacketOp,
    TracePortOp,
    TraceRegOp,
    TraceStartConfigOp,
    TraceStartEventOp,
    TraceStopEventOp,
)

OPS: list[type[Operation]] = [
    DeviceOp, TileOp, LogicalTileOp, EndOp, CoreOp, MemOp, MemTileDmaOp, ShimDmaOp, DmaStartOp, DmaStartTaskOp, DmaOp,
    DmaBdOp, DmaBdPacketOp, NextBdOp, BufferOp, ExternalBufferOp, LockOp, UseLockOp, SwitchboxOp, ShimMuxOp, ConnectOp,
    AMSelOp, MasterSetOp, PacketRulesOp, PacketRuleOp, WireOp, FlowOp, PacketFlowOp, PacketSourceOp, PacketDestOp,
    CascadeFlowOp, ConfigureCascadeOp, GetCascadeOp, PutCascadeOp, GetStreamOp, PutStreamOp, EventOp, DebugOp, PlioOp,
    BdChainOp, RuntimeSequenceOp, ShimDmaAllocationOp, ObjectFifoRearmBindingOp, ObjectFifoOp, ObjectFifoAllocateOp,
    ObjectFifoLinkOp, RegisterExternalBuffersOp, ObjectFifoAcquireOp, ObjectFifoReleaseOp, ObjectFifoSubviewAccessOp,
    ObjectFifoPoolOp, ObjectFifoSegmentOp, CoreEndpointOp, DmaEndpointOp, RouteEndpointOp, RouteOp,
    OlderDanglingEndpointOp, OlderFlowOp, TraceOp, TraceModeOp, TraceEventOp, TracePacketOp, TracePortOp,
    TraceStartEventOp, TraceStopEventOp, TraceComboEventOp, TraceEdgeEventOp, TraceConfigOp, TraceRegOp,
    TraceHostConfigOp, TraceStartConfigOp,
]  # fmt: skip

AIE = Dialect("aie", OPS, ATTRIBUTES)

__all__ = [
    "AIE", "ATTRIBUTES", "OPS", "AMSelOp", "BdChainOp", "BufferOp", "CascadeFlowOp", "ConfigureCascadeOp", "ConnectOp",
    "CoreEndpointOp", "CoreOp", "DebugOp", "DeviceOp", "DmaBdOp", "DmaBdPacketOp", "DmaEndpointOp", "DmaOp",
    "DmaStartOp", "DmaStartTaskOp", "EndOp", "EventOp", "ExternalBufferOp", "FlowOp", "GetCascadeOp", "GetStreamOp",
    "LockOp", "LogicalTileOp", "MasterSetOp", "MemOp", "MemTileDmaOp", "NextBdOp", "ObjectFifoAcquireOp",
    "ObjectFifoAllocateOp", "ObjectFifoLinkOp", "ObjectFifoOp", "ObjectFifoPoolOp", "ObjectFifoRearmBindingOp",
    "ObjectFifoReleaseOp", "ObjectFifoSegmentOp", "ObjectFifoSubviewAccessOp", "PacketDestOp", "PacketFlowOp",
    "PacketRuleOp", "PacketRulesOp", "PacketSourceOp", "PlioOp", "PutCascadeOp", "PutStreamOp",
    "RegisterExternalBuffersOp", "RouteEndpointOp", "RouteOp", "RuntimeSequenceOp", "ShimDmaAllocationOp", "ShimDmaOp",
    "ShimMuxOp", "SwitchboxOp", "TileOp", "TraceComboEventOp", "TraceConfigOp", "TraceEdgeEventOp", "TraceEventOp",
    "TraceHostConfigOp", "TraceModeOp", "TraceOp", "TracePacketOp", "TracePortOp", "TraceRegOp", "TraceStartConfigOp",
    "TraceStartEventOp", "TraceStopEventOp", "UseLockOp", "WireOp", "device_of", "settle", "target_of",
]  # fmt: skip
