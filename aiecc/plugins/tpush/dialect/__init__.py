"""The dialect `pto`. pipe_ops.py: what pipes are made of; tile_ops.py: what stands around them; attrs.py; syntax.py."""

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

PTO = Dialect(
    "pto",
    [*PIPE_OPS, *TILE_OPS],
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
