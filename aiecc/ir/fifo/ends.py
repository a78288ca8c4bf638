"""Making pools, endpoints and routes out of one fifo."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntegerAttr, MemRefType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.aie.attrs import BdDim, BdDimLayoutArrayArrayAttr, BdPadLayoutArrayArrayAttr, EndPort, symbols
from aiecc.ir.dialects.aie.enums import Port, Role, WireBundle
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.fifo_rules import is_shim
from aiecc.ir.dialects.aie.memory import ExternalBufferOp, element_count
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp, ObjectFifoSegmentOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.dialects.aie.tiles import tile_like
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.fifo.declared import Declared
from aiecc.ir.fifo.view import fresh_name, put_before
from aiecc.ir.spans import copy_span


def suffix(fifo: ObjectFifoOp, k: int) -> str:
    """What the names of consumer `k` add to the fifo's."""
    return "_cons" if len(fifo.consumers) == 1 else f"_{k}_cons"


def whole(type: Attribute) -> list[ObjectFifoSegmentOp]:
    """One segment over the whole object."""
    return [ObjectFifoSegmentOp("s0", 0, element_count(type) or 0)]


class Maker:
    """Puts what is made for a fifo before it, with the fifo's position and names nobody else has."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.pools: dict[str, ObjectFifoPoolOp] = {}

    def put(self, anchor: Operation, new: Operation, source: Operation | None = None) -> None:
        copy_span(source or anchor, *new.walk())
        put_before(anchor, new)

    def name(self, wanted: str) -> str:
        return fresh_name(wanted, self.declared.names)

    # --- pools --------------------------------------------------------------------------------------------------------

    def pool(
        self,
        fifo: ObjectFifoOp,
        name: str,
        tile: SSAValue,
        type: MemRefType[Attribute],
        depth: int,
        segments: Sequence[ObjectFifoSegmentOp] | None = None,
        properties: dict[str, Attribute | None] | None = None,
        source: Operation | None = None,
    ) -> ObjectFifoPoolOp:
        """source: the op whose position the pool gets, where that is not the fifo."""
        new = ObjectFifoPoolOp(
            self.name(name),
            tile,
            type,
            depth,
            whole(type) if segments is None else segments,
            {
                "disableSynchronization": BoolAttr.from_bool(True) if fifo.disable_synchronization else None,
                "fifoName": StringAttr(fifo.symbol),
                **(properties or {}),
            },
        )
        self.put(fifo, new, source)
        self.pools[new.symbol] = new
        return new

    def external_pool(self, fifo: ObjectFifoOp, name: str, tile: SSAValue) -> ObjectFifoPoolOp | None:
        """The pool over the external buffers registered for an end on a shim; None without any."""
        registered = self.declared.externals(tile, fifo)
        if fifo.plio or not registered:
            return None
        buffers: list[str] = []
        for value in registered:
            owner = value.owner
            if not isinstance(owner, ExternalBufferOp):
                return None
            if owner.symbol is None:
                owner.properties["sym_name"] = StringAttr(self.name(f"{fifo.symbol}_ext_buff_{len(buffers)}"))
            buffers.append(owner.symbol or "")
        type = registered[-1].type
        assert isinstance(type, MemRefType)
        return self.pool(fifo, name, tile, type, len(buffers), properties={"buffers": ArrayAttr(symbols(*buffers))})

    # --- endpoints ----------------------------------------------------------------------------------------------------

    def core_end(
        self, fifo: ObjectFifoOp, name: str, tile: SSAValue, port: Port, pool: ObjectFifoPoolOp
    ) -> CoreEndpointOp | None:
        """The endpoint of a core that uses a port of a fifo, whose accesses it takes over; None for an idle tile."""
        accesses = self.declared.accesses
        if not any(accesses.of(fifo.symbol, tile, port)):
            return None
        role = Role.FILLS if port is Port.PRODUCE else Role.DRAINS
        new = CoreEndpointOp(self.name(name), tile, role, pool.symbol)
        self.put(fifo, new)
        accesses.retarget(fifo.symbol, tile, port, new.symbol)
        return new

    def dma_end(
        self,
        fifo: ObjectFifoOp,
        name: str,
        tile: SSAValue,
        role: Role,
        pool: ObjectFifoPoolOp,
        *,
        segments: Sequence[str] | None = None,
        port: EndPort | None = None,
        dims: Sequence[BdDim] = (),
        padded: bool = False,
        iter_count: int | None = None,
        named_after: ObjectFifoOp | None = None,
    ) -> DmaEndpointOp:
        """segments: those it selects of a pool that has several.

        padded: it adds the fifo's padding.
        named_after: the fifo it counts as one of, where that is not the one it is made at.
        """
        rows = len(segments) if segments else 1
        channel = port.channel if port is not None and port.bundle is WireBundle.DMA else None
        pads = fifo.pads if padded else None
        new = DmaEndpointOp(
            self.name(name),
            tile,
            role,
            pool.symbol,
            segments,
            {
                "channelIndex": _i32(channel),
                "dimensions": BdDimLayoutArrayArrayAttr((tuple(dims),) * rows) if dims else None,
                "fifoName": StringAttr((named_after or fifo).symbol),
                "iterCount": _i32(iter_count),
                "padDimensions": BdPadLayoutArrayArrayAttr((tuple(pads),) * rows) if pads else None,
                "padValue": _i32(fifo.pad_value or None) if pads else None,
            },
        )
        self.put(fifo, new)
        return new

    def open_end(self, fifo: ObjectFifoOp, name: str, tile: SSAValue, port: EndPort | None) -> RouteEndpointOp:
        """The end of a fifo that has no pool: a shim's, or a core's stream port."""
        if port is not None and port.bundle is WireBundle.CORE:
            bundle = WireBundle.CORE
        else:
            bundle = WireBundle.PLIO if fifo.plio and is_shim(tile_like(tile)) else WireBundle.DMA
        properties: dict[str, Attribute | None] = {
            "channelIndex": _i32(port.channel) if port is not None else None,
            "fifoName": StringAttr(fifo.symbol),
        }
        new = RouteEndpointOp(self.name(name), tile, bundle, properties)
        self.put(fifo, new)
        return new


def iterating(fifo: ObjectFifoOp) -> dict[str, Attribute | None]:
    """What a pool says of a fifo whose descriptors iterate."""
    return {"iterateBds": UnitAttr() if fifo.iterate_bds else None}


def repeating(count: int | None) -> dict[str, Attribute | None]:
    return {"repeatCount": _i32(count)}


def _i32(value: int | None) -> Attribute | None:
    return None if value is None else IntegerAttr(value, I32)
