"""Finding what runtime ops name: the sequence around them, allocations, chains, buffers."""

from __future__ import annotations

from typing import TypeVar

from xdsl.ir import Operation

from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, device_of
from aiecc.ir.dialects.base import DialectOp, text_of
from aiecc.ir.memo import remembered
from aiecc.model.targets import TileKind
from aiecc.model.targets.tables import Dma

OpT = TypeVar("OpT", bound=Operation)


def sequence_of(op: Operation) -> RuntimeSequenceOp | None:
    """The runtime sequence an op stands in, at any depth."""
    at = op.parent_op()
    while at is not None and not isinstance(at, RuntimeSequenceOp):
        at = at.parent_op()
    return at


def verify_in_sequence(op: DialectOp) -> None:
    """Refuse an op outside sequences."""
    if sequence_of(op) is None:
        raise op.error("expects ancestor op 'aie.runtime_sequence'")


def symbol_in(device: DeviceOp | None, name: str) -> Operation | None:
    """What a device's own block declares under a name."""
    return None if device is None else remembered(("symbols", device), lambda: _symbols(device)).get(name)


def _symbols(device: DeviceOp) -> dict[str, Operation]:
    found: dict[str, Operation] = {}
    for op in device.block.ops:
        name = text_of(op.properties.get("sym_name", op.attributes.get("sym_name")))
        if name is not None:
            found.setdefault(name, op)
    return found


def allocation(op: Operation, name: str) -> ShimDmaAllocationOp | None:
    """The shim allocation of a name in the device around an op."""
    found = symbol_in(device_of(op), name)
    return found if isinstance(found, ShimDmaAllocationOp) else None


def dma_of(op: Operation, kind: TileKind | None) -> Dma | None:
    """The DMA of a kind of tile on the device around an op."""
    device = device_of(op)
    return None if device is None or kind is None else device.target.dma(kind)
