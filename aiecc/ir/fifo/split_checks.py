"""What `aie-objectfifo-split` refuses before it makes anything."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType, MemRefType, NoneAttr, VectorType
from xdsl.ir import Attribute

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.access import ObjectFifoAcquireOp
from aiecc.ir.dialects.aie.enums import Port, WireBundle
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.fifo_rules import is_shim, is_stream
from aiecc.ir.dialects.aie.memory import element_bits, element_count
from aiecc.ir.dialects.aie.tiles import placed, tile_like
from aiecc.ir.dialects.base import show
from aiecc.ir.fifo.declared import Declared, Link
from aiecc.ir.fifo.transport import delegate_reached
from aiecc.ir.fifo.view import place_of
from aiecc.ir.passes.report import OpNote, op_error, warning

UNREACHED = "objectfifo has no shared memory access to delegate tile's memory module"
MOST_ELEMENTS = (1 << 31) // 64
"""Elements of an object: as many of them as a lock counts still have 32-bit offsets."""
PLACE_FIRST = "is not a placed aie.tile; run --aie-place-tiles before this pass"


def check_placed(declared: Declared, sink: Sink) -> None:
    for fifo in declared.fifos:
        if placed(fifo.producer) is None:
            op_error(sink, fifo, f"producer tile {PLACE_FIRST}")
        elif any(placed(consumer) is None for consumer in fifo.consumers):
            op_error(sink, fifo, f"consumer tile {PLACE_FIRST}")


def check_objects(declared: Declared, sink: Sink) -> None:
    """Objects have a size, and no end that needs memory is told to hold none of them."""
    for fifo in declared.fifos:
        for type in dict.fromkeys((fifo.elem_type, fifo.consumer_elem_type)):
            if not _has_size(type.element_type):
                op_error(sink, fifo, f"element type '{show(type.element_type)}' has no size in memory")
                break
            if not isinstance(type.layout, NoneAttr):
                text = f"objects of type '{show(type)}' have a layout of their own; DMAs move them row by row"
                op_error(sink, fifo, text, todo="leave the layout out of the type")
                break
            if not element_count(type):
                op_error(sink, fifo, f"objects of type '{show(type)}' hold no element")
                break
            if (element_count(type) or 0) > MOST_ELEMENTS:
                op_error(sink, fifo, f"objects of type '{show(type)}' are larger than any memory they could lie in")
                break
        else:
            _check_depths(fifo, sink)


def _has_size(type: Attribute) -> bool:
    if isinstance(type, VectorType | ComplexType):
        return _has_size(type.element_type)
    return not isinstance(type, MemRefType) and element_bits(type) > 0


def _check_depths(fifo: ObjectFifoOp, sink: Sink) -> None:
    ends = zip(fifo.depths, (fifo.producer, *fifo.consumers), strict=False)
    if any(depth < 1 and not is_shim(tile_like(tile)) for depth, tile in ends):
        op_error(sink, fifo, "has a depth of 0: every end in the array holds at least one object")


def check_streams(declared: Declared, sink: Sink) -> None:
    """A Core stream port hands out no objects."""
    for fifo in declared.fifos:
        ends = [(fifo.producer, Port.PRODUCE, fifo.prod_port_attr)]
        if fifo.cons_ports_attr is not None and fifo.cons_ports_attr.data and fifo.consumers:
            ends.append((fifo.consumers[0], Port.CONSUME, fifo.cons_ports_attr.data[0]))  # pyright: ignore[reportArgumentType]
        for tile, port, end in ends:
            if not is_stream(end):
                continue
            for op in declared.accesses.of(fifo.symbol, tile, port):
                verb = "acquire" if isinstance(op, ObjectFifoAcquireOp) else "release"
                op_error(sink, op, f"cannot {verb} from objectfifo stream port")


def check_links(declared: Declared, sink: Sink) -> None:
    for link in declared.links:
        if is_shim(tile_like(link.point)):
            op_error(sink, link.op, "holds its objects on the link point, which a shim tile has no memory for")
        _check_core(declared, link, sink)
        _check_offsets(link, sink)
        _check_ports(link, sink)
        for out in link.outs:
            if out.init_values is not None and link.owner is not out:
                text = f"`init_values` have no place: the objects at the link are those of '{link.owner.symbol}'"
                op_error(sink, out, text, [("the link is here", link.op)])
        if link.is_merge or link.is_dispatch:
            _check_turns(link, sink)
        if link.is_dispatch and len({out.iter_count for out in link.outs}) > 1:
            op_error(sink, link.op, "takes turns on one channel, so its outputs have one `iter_count` in common")


def _check_offsets(link: Link, sink: Sink) -> None:
    """Every slice begins within the objects it is a slice of."""
    owner = link.owner
    size = element_count(owner.elem_type if link.position is None else owner.consumer_elem_type) or 0
    for fifos, offsets in ((link.ins, link.op.src_offsets), (link.outs, link.op.dst_offsets)):
        for fifo, offset in zip(fifos, offsets, strict=False):
            if not 0 <= offset < size:
                text = f"offset {offset} of '{fifo.symbol}' is outside of the objects at the link, of {size} elements"
                op_error(sink, link.op, text)
                return


def _check_ports(link: Link, sink: Sink) -> None:
    """What a link moves it moves by DMA; those that take turns on a channel do not pin different ones."""
    ends = link.ends_there()
    for fifo, port in ends:
        if port is not None and port.bundle is WireBundle.CORE:
            op_error(sink, link.op, f"moves objects by DMA, so '{fifo.symbol}' cannot use a Core stream port there")
            return
    shared = link.ins if link.is_merge else link.outs if link.is_dispatch else []
    pinned = {port.channel: fifo for fifo, port in ends if fifo in shared and port is not None}
    if len(pinned) > 1:
        notes: list[OpNote] = [(f"'{fifo.symbol}' pins channel {n}", fifo) for n, fifo in pinned.items()]
        op_error(sink, link.op, "takes turns on one channel, but its fifos pin different ones", notes)


def _check_turns(link: Link, sink: Sink) -> None:
    """One channel moves the objects of all in turn, so none of them has a layout of its own."""
    for fifo in link.ins if link.is_merge else link.outs:
        if link.is_merge:
            here = [dims for dims, tile in zip(fifo.dims_from_stream, fifo.consumers, strict=False) if link.meets(tile)]
            what = "`dimensionsFromStream`" if any(here) else None
        else:
            what = "`padDimensions`" if fifo.pads else None
            what = "`dimensionsToStream`" if fifo.dims_to_stream.data else what
        if what is not None:
            text = f"{what} has no place: the link takes turns with whole objects, as they are"
            op_error(sink, fifo, text, [("the link is here", link.op)])


def _check_core(declared: Declared, link: Link, sink: Sink) -> None:
    for fifo, port in [*((f, Port.CONSUME) for f in link.ins), *((f, Port.PRODUCE) for f in link.outs)]:
        if any(declared.accesses.of(fifo.symbol, link.point, port)):
            text = f"core on the shared tile cannot access '{fifo.symbol}': a link moves objects by DMA"
            op_error(sink, link.op, text)
            return


def check_delegates(declared: Declared, sink: Sink) -> None:
    """An allocate counts for a fifo outside of links, and for the owner of one."""
    for fifo in declared.fifos:
        allocate = declared.allocates.get(fifo.symbol)
        link = declared.link_of.get(fifo.symbol)
        if allocate is None or (link is not None and link.owner is not fifo):
            continue
        if not delegate_reached(fifo, allocate):
            op_error(sink, allocate, UNREACHED)


def check_external_buffers(declared: Declared, sink: Sink) -> None:
    """Buffers registered for a fifo stand behind an end of it."""
    for op in declared.registered:
        fifo = declared.by_name.get(op.fifo_name)
        if fifo is None:
            op_error(sink, op, "cannot retrieve associated object FIFO")
        elif not any(place_of(tile) == place_of(op.tile) for tile in (fifo.producer, *fifo.consumers)):
            op_error(
                sink, op, f"registers buffers on a tile where '{fifo.symbol}' does not end", [("it is here", fifo)]
            )
        elif fifo.plio:
            warning(sink, op, f"these buffers are not used: '{fifo.symbol}' passes a PLIO", [("it is here", fifo)])
