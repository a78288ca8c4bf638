"""The dialect `pto`. pipe_ops.py: what pipes are made of; tile_ops.py and view_ops.py: what stands around them."""

from __future__ import annotations

from xdsl.ir import Dialect

from aiecc.plugins.tpush.dialect.attrs import (
    AddressSpaceAttr,
    KernelKindAttr,
    LayoutAttr,
    MaskPatternAttr,
    PartitionTensorViewType,
    PtrType,
    RoundModeAttr,
    SaturationModeAttr,
    TensorViewType,
    TileBufType,
)
from aiecc.plugins.tpush.dialect.pipe_ops import PIPE_OPS
from aiecc.plugins.tpush.dialect.tile_ops import TILE_OPS
from aiecc.plugins.tpush.dialect.view_ops import VIEW_OPS

PTO = Dialect(
    "pto",
    [*PIPE_OPS, *TILE_OPS, *VIEW_OPS],
    [
        AddressSpaceAttr,
        KernelKindAttr,
        LayoutAttr,
        MaskPatternAttr,
        PartitionTensorViewType,
        PtrType,
        RoundModeAttr,
        SaturationModeAttr,
        TensorViewType,
        TileBufType,
    ],
)
