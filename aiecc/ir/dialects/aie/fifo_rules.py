"""What makes an objectFifo, or an op about a whole fifo, wrong."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, MemRefType
from xdsl.ir import Attribute, Operation

from aiecc.ir.dialects.aie.attrs import EndPortAttr, ObjectFifoType
from aiecc.ir.dialects.aie.enums import TransportMode, WireBundle
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp, producer_depth
from aiecc.ir.dialects.aie.links import ObjectFifoAllocateOp, RegisterExternalBuffersOp
from aiecc.ir.dialects.aie.memory import element_count, fits
from aiecc.ir.dialects.aie.named import find_named
from aiecc.ir.dialects.aie.older import OLD_FIFO_KEYS
from aiecc.ir.dialects.aie.tile_rules import SHIM_NOC, verify_tile_kind
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike, device_of, target_of
from aiecc.ir.dialects.base import show
from aiecc.ir.memo import remembered
from aiecc.model.targets import TileKind

NO_PAD_REGISTER = "`padValue` requires the CONSTANT_PAD_VALUE register, unavailable on this target"


def find_fifo(op: Operation, name: str) -> ObjectFifoOp | None:
    """The fifo of that name in the device around an op."""
    return find_named(op, name, ObjectFifoOp)


def is_shim(tile: TileLike | None) -> bool:
    return tile is not None and tile.kind is not None and tile.kind.is_shim


def is_stream(port: Attribute | None) -> bool:
    """Whether a fifo's end is a Core stream port instead of a DMA channel or memory."""
    return isinstance(port, EndPortAttr) and port.data.bundle is WireBundle.CORE


def stream_ends(fifo: ObjectFifoOp) -> bool:
    """Whether either end of a fifo is a Core stream port."""
    ports = fifo.cons_ports_attr.data if fifo.cons_ports_attr is not None else ()
    return is_stream(fifo.prod_port_attr) or any(is_stream(p) for p in ports)


def verify_fifo(op: ObjectFifoOp) -> None:
    for old, new in OLD_FIFO_KEYS.items():
        if old in op.attributes:
            raise op.error(f"`{old}` has been replaced; write {new}")
    if isinstance(op.depth_attr, ArrayAttr) and len(op.depth_attr.data) != len(op.consumers) + 1:
        raise op.error("does not have enough depths specified for producer and for each consumer.")
    ports = op.cons_ports_attr
    if ports is not None and len(ports.data) != len(op.consumers):
        raise op.error(f"`cons_ports` has {len(ports.data)} entries for {len(op.consumers)} consumers")
    if op.producer_tile is None:
        raise op.error("producer tile must implement TileLike interface", bare=True)
    if any(tile is None for tile in op.consumer_tiles):
        raise op.error("consumer tile must implement TileLike interface", bare=True)
    _verify_shims(op)
    _verify_padding(op)
    if stream_ends(op):
        _verify_stream(op)
    _verify_init(op)
    if op.iter_count is not None and not 1 <= op.iter_count <= 256:
        raise op.error("`iter_count` must be between 1 and 256", bare=True)
    if op.iterate_bds and op.repeat_count is not None:
        raise op.error("`repeat_count` cannot be combined with `iterate_bds`", bare=True)
    if op.consumer_elem_type_attr is not None:
        _verify_asymmetric(op)


def _verify_shims(op: ObjectFifoOp) -> None:
    if is_shim(op.producer_tile) and op.dims_to_stream.data:
        raise op.error(
            "`dimensionsToStream` data layout transformations are not supported on shim tile producers", bare=True
        )
    for tile, dims in zip(op.consumer_tiles, op.dims_from_stream, strict=False):
        if is_shim(tile) and dims:
            raise op.error(
                "`dimensionsFromStreamPerConsumer` data layout transformations are not supported on shim tile "
                "consumers",
                bare=True,
            )
    if op.repeat_count is not None and is_shim(op.producer_tile):
        raise op.error("`repeat_count` unavailable for shim tiles", bare=True)


def _verify_padding(op: ObjectFifoOp) -> None:
    if not op.pad_value:
        return
    if op.pad_dimensions is None:
        raise op.error("`padValue` requires `padDimensions`", bare=True)
    dma = target_of(op).dma(TileKind.MEM)
    if dma is None or not dma.pad_value:
        raise op.error(NO_PAD_REGISTER, bare=True)


def _verify_stream(op: ObjectFifoOp) -> None:
    if len(op.consumers) != 1:
        raise op.error("a Core stream port end can only be used in 1-to-1 object FIFOs", bare=True)
    if op.transport.mode is TransportMode.SHARED_MEM:
        raise op.error("a Core stream port end sends over the stream, not through shared memory", bare=True)
    ends = [(op.producer_tile, op.prod_port_attr)]
    if op.cons_ports_attr is not None:
        ends += list(zip(op.consumer_tiles, op.cons_ports_attr.data, strict=False))  # pyright: ignore[reportArgumentType]
    for tile, port in ends:
        if is_stream(port) and tile is not None and tile.kind is not None and tile.kind is not TileKind.CORE:
            raise op.error("a Core stream port end is not available for shim and mem tiles", bare=True)
    if is_stream(op.prod_port_attr):
        for key, word in (
            ("repeat_count", "repeat_count"),
            ("initValues", "init_values"),
            ("iter_count", "iter_count"),
        ):
            if key in op.properties:
                raise op.error(f"`{word}` unavailable on stream end", bare=True)
    if is_stream(op.prod_port_attr) and op.dims_to_stream.data:
        raise op.error("`dimensionsToStream` data layout transformations are unavailable on stream end", bare=True)
    if op.dims_from_stream and op.dims_from_stream[0]:
        raise op.error(
            "`dimensionsFromStreamPerConsumer` data layout transformations are unavailable on stream end", bare=True
        )


def _verify_init(op: ObjectFifoOp) -> None:
    if op.init_values is None:
        return
    if is_shim(op.producer_tile):
        raise op.error("`init_values` unavailable for shim tiles", bare=True)
    if len(op.init_values.data) != producer_depth(op.depth_attr):
        raise op.error("`init_values` does not initialize all objects", bare=True)
    for value in op.init_values.data:
        if not fits(value, op.elem_type):
            own = show(value.type)  # pyright: ignore[reportAttributeAccessIssue]
            raise op.error(f"initial value of type '{own}' does not fit objects of type '{show(op.elem_type)}'")


def _verify_asymmetric(op: ObjectFifoOp) -> None:
    other = op.consumer_elem_type_attr
    if not isinstance(other, ObjectFifoType):
        raise op.error("consumer element type must be an !aie.objectfifo<memref<...>> type", bare=True)
    produced, consumed = op.elem_type, other.element_type
    if _scalar(produced) != _scalar(consumed):
        raise op.error(
            "producer and consumer must have the same scalar element type, but got "
            f"'{show(_scalar(produced))}' vs '{show(_scalar(consumed))}'",
            bare=True,
        )
    many, few = element_count(produced) or 0, element_count(consumed) or 0
    if few < 1:
        raise op.error("consumer element count must be positive", bare=True)
    if many % few:
        raise op.error(
            f"producer element size ({many}) must be an integer multiple of consumer element size ({few})", bare=True
        )


def _scalar(type: MemRefType[Attribute]) -> Attribute:
    return type.element_type


def verify_allocate(op: ObjectFifoAllocateOp) -> None:
    fifo = find_fifo(op, op.fifo_name)
    if fifo is None:
        raise op.error("cannot retrieve associated object FIFO", bare=True)
    if len(fifo.consumers) != 1:
        raise op.error("can only be used in 1-to-1 object FIFOs", bare=True)
    prefix = "cannot allocate a shared memory module to objectfifo"
    if fifo.transport.mode is TransportMode.DMA:
        raise op.error(f"{prefix} that asks for a dma transport", bare=True)
    if fifo.repeat_count is not None:
        raise op.error(f"{prefix} with set `repeat_count` attribute", bare=True)
    if fifo.dims_to_stream.data:
        raise op.error(f"{prefix} with set dimensions attribute", bare=True)
    if stream_ends(fifo):
        raise op.error(f"{prefix} using stream port", bare=True)
    device = device_of(op)
    if device is None:
        return
    first = remembered(("first allocates", device), lambda: _first_allocates(device))
    if first.get(op.fifo_name, op) is not op:
        raise op.error(f"objectfifo @{op.fifo_name} already has an allocate operation")


def _first_allocates(device: DeviceOp) -> dict[str, ObjectFifoAllocateOp]:
    found: dict[str, ObjectFifoAllocateOp] = {}
    for op in device.block.ops:
        if isinstance(op, ObjectFifoAllocateOp):
            found.setdefault(op.fifo_name, op)
    return found


def verify_external(op: RegisterExternalBuffersOp) -> None:
    verify_tile_kind(op, op.tile, SHIM_NOC)
