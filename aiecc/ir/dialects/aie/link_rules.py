"""What makes a link between fifos wrong, in the order it is looked for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from xdsl.ir import SSAValue

from aiecc.ir.dialects.aie.attrs import BdDim
from aiecc.ir.dialects.aie.enums import LinkMode
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.fifo_rules import find_fifo, is_shim
from aiecc.ir.dialects.aie.links import ObjectFifoLinkOp
from aiecc.ir.dialects.aie.memory import element_count
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike, device_of, target_of, tile_like
from aiecc.ir.dialects.aie.windows import MOST_OBJECTS, MOST_OUTPUTS, object_size, walks_stream, window_of
from aiecc.ir.dialects.base import show
from aiecc.ir.memo import remembered
from aiecc.model.targets import TileKind


def verify_link(op: ObjectFifoLinkOp) -> None:
    join, distribute = op.is_join, op.is_distribute
    if join and distribute and op.mode is LinkMode.SPACE:
        raise op.error("ObjectFifoLinkOp does not support 'join' and 'distribute' at the same time", bare=True)
    ins, outs = _fifos(op, op.inputs), _fifos(op, op.outputs)
    if op.mode is LinkMode.TIME:
        _verify_time(op, ins, outs)
    _verify_named_once(op)
    _verify_linked_once(op, [*ins, *outs])
    shared = link_point(op, ins, outs)
    if shared is None:
        raise op.error("ObjectFifoLinkOp must have a link point, i.e., a shared tile between objectFifos", bare=True)
    tile = tile_like(shared)
    if tile is None:
        raise op.error("shared tile must implement TileLike interface", bare=True)
    if op.mode is LinkMode.TIME:
        if is_shim(tile):
            raise op.error("a time link holds its objects on the link point, which a shim tile has no memory for")
    elif join or distribute:
        if is_shim(tile):
            raise op.error("ObjectFifoLinkOp join and distribute are unavailable on shim tiles", bare=True)
        if not target_of(op).semaphore_locks:
            raise op.error(
                "ObjectFifoLinkOp join and distribute require semaphore locks, which this device lacks", bare=True
            )
        if join:
            _verify_join(op, ins, outs[0])
        else:
            _verify_distribute(op, ins[0], outs, shared)
        return
    if op.src_offsets and op.dst_offsets:
        raise op.error("all offsets should be empty if there is no join or distribute")
    if walks_stream(op, ins[0], outs[0]):
        _verify_window(op, ins[0], outs[0], tile)


def _fifos(op: ObjectFifoLinkOp, names: Iterable[str]) -> list[ObjectFifoOp]:
    found: list[ObjectFifoOp] = []
    for name in names:
        fifo = find_fifo(op, name)
        if fifo is None:
            raise op.error("cannot retrieve associated object FIFO", bare=True)
        found.append(fifo)
    if not found:
        raise op.error("ObjectFifoLinkOp must have a link point, i.e., a shared tile between objectFifos", bare=True)
    return found


def _verify_named_once(op: ObjectFifoLinkOp) -> None:
    """A fifo that is linked with itself, or twice on one side, has no end of its own."""
    met: set[str] = set()
    for name in (*op.inputs, *op.outputs):
        if name in met:
            raise op.error(f"names '@{name}' twice; what a link takes on comes from another fifo")
        met.add(name)


def _verify_linked_once(op: ObjectFifoLinkOp, fifos: Iterable[ObjectFifoOp]) -> None:
    """Every link but the first that names a fifo is too many."""
    device = device_of(op)
    if device is None:
        return
    first = remembered(("first links", device), lambda: _first_links(device))
    for fifo in fifos:
        if first.get(fifo.symbol, op) is not op:
            raise fifo.error("objectfifo cannot be in more than one ObjectFifoLinkOp")


def _first_links(device: DeviceOp) -> dict[str, ObjectFifoLinkOp]:
    found: dict[str, ObjectFifoLinkOp] = {}
    for op in device.block.ops:
        if isinstance(op, ObjectFifoLinkOp):
            for name in (*op.inputs, *op.outputs):
                found.setdefault(name, op)
    return found


def _place(value: SSAValue) -> object:
    """What two operands for the same tile have in common."""
    tile = tile_like(value)
    return tile.coord if tile is not None and tile.coord is not None else value


def link_point(op: ObjectFifoLinkOp, ins: Sequence[ObjectFifoOp], outs: Sequence[ObjectFifoOp]) -> SSAValue | None:
    """The tile where inputs end and outputs begin; None when they do not meet."""
    if op.mode is LinkMode.SPACE and op.is_join:
        candidate = outs[0].producer
        meet = all(f.consumers and _place(f.consumers[0]) == _place(candidate) for f in ins)
        return candidate if meet else None
    if op.mode is LinkMode.SPACE and op.is_distribute:
        if not ins[0].consumers:
            return None
        candidate = ins[0].consumers[0]
        return candidate if all(_place(f.producer) == _place(candidate) for f in outs) else None
    candidate = outs[0].producer
    here = _place(candidate)
    arrive = all(any(_place(c) == here for c in f.consumers) for f in ins)
    return candidate if arrive and all(_place(f.producer) == here for f in outs) else None


def _verify_time(op: ObjectFifoLinkOp, ins: Sequence[ObjectFifoOp], outs: Sequence[ObjectFifoOp]) -> None:
    if op.is_join and op.is_distribute:
        raise op.error("a time link merges or dispatches, not both")
    if not op.is_join and not op.is_distribute:
        raise op.error("a time link takes turns, so it needs several inputs or several outputs")
    if op.src_offsets or op.dst_offsets:
        raise op.error("a time link moves whole objects and takes no offsets")
    first = ins[0]
    for fifo in (*ins, *outs):
        if fifo.elem_type != first.elem_type:
            raise op.error(
                f"a time link's participants carry one object type, but '{fifo.symbol}' carries "
                f"'{show(fifo.elem_type)}' and '{first.symbol}' carries '{show(first.elem_type)}'"
            )
    if op.is_distribute:
        for fifo in outs:
            if len(fifo.consumers) != 1:
                raise op.error(
                    f"each turn of a dispatch reaches one consumer, but '{fifo.symbol}' has {len(fifo.consumers)}"
                )
        return
    for fifo in ins:
        if len(fifo.consumers) != 1:
            raise op.error(f"each input of a merge has one consumer, but '{fifo.symbol}' has {len(fifo.consumers)}")
    packets = [fifo.transport.packet for fifo in ins]
    pinned = {packet for packet in packets if packet is not None and packet.pkt_id is not None}
    if len(pinned) > 1:
        raise op.error("a merge is one route with one header, but its inputs pin different ones")


def _verify_window(op: ObjectFifoLinkOp, source: ObjectFifoOp, out: ObjectFifoOp, tile: TileLike) -> None:
    """A link whose output walks the whole stream: what the walk may look like, then its limits."""
    size, wanted = object_size(source, taken=True), object_size(out)
    outer, *inner = out.dims_to_stream.data
    if tile.kind is not TileKind.MEM:
        raise op.error("cuts windows out of the whole stream, which only a MemTile link point can")
    if out.repeat_count is not None or out.iter_count is not None:
        raise op.error(
            f"cuts windows out of the whole stream, so '{out.symbol}' takes neither a `repeat_count` nor an "
            "`iter_count`"
        )
    if out.init_values is not None:
        raise op.error(f"cuts windows out of the whole stream, so '{out.symbol}' takes no initial values")
    if outer.stride % size:
        raise op.error(
            f"window stride {outer.stride} is not a whole number of input objects of {size} elements: the outer "
            "dimension steps from output to output"
        )
    moved = math.prod(dim.size for dim in inner)
    if moved != wanted:
        raise op.error(f"window dimensions move {moved} elements for each output, but its object has {wanted}")
    rows = [dim for dim in inner if dim.stride == size and dim.size > 1]
    if len(rows) > 1:
        raise op.error("only one inner window dimension may step by exactly one input object")
    if _last_index(dim for dim in inner if dim not in rows) >= size:
        raise op.error(
            f"window dimensions leave an input object of {size} elements other than by stepping to the next one"
        )
    _verify_window_pads(op, source, out)
    window = window_of(source, out)
    idle = window.reads_nothing()
    if idle is not None:
        raise op.error(f"window {idle} of {window.outputs} reads no data, only zero objects")
    if window.objects > MOST_OBJECTS:
        raise op.error(
            f"a window's stream holds at most {MOST_OBJECTS} objects, which is what its lock counts to, "
            f"but this one holds {window.objects}"
        )
    if window.outputs > MOST_OUTPUTS:
        raise op.error(
            f"a window yields at most {MOST_OUTPUTS} outputs, a descriptor of one MemTile channel each, but this one "
            f"yields {window.outputs}"
        )


def _verify_window_pads(op: ObjectFifoLinkOp, source: ObjectFifoOp, out: ObjectFifoOp) -> None:
    pads = out.pads or ()
    if pads and len(pads) != len(out.dims_to_stream.data):
        raise op.error("window dimensions and padDimensions have different ranks")
    if any(pad.before or pad.after for pad in pads[1:]):
        raise op.error("only the outer window dimension may be padded")
    if out.pad_value:
        raise op.error("a window's padding is stored as zero objects, so it takes no `padValue`")
    if any(source.dims_from_stream):
        raise op.error(f"a window keeps its stream as it arrives, so '{source.symbol}' takes no `dimensionsFromStream`")


def _smallest_slice(offsets: Sequence[int], whole: ObjectFifoOp) -> int:
    """The shortest part that the offsets cut an object into, in elements."""
    total = element_count(whole.elem_type) or 0
    cuts = [*sorted(offsets), total]
    return min((b - a for a, b in itertools.pairwise(cuts)), default=total)


def _last_index(dims: Iterable[BdDim]) -> int:
    return sum((dim.size - 1) * dim.stride for dim in dims)


def _verify_join(op: ObjectFifoLinkOp, ins: Sequence[ObjectFifoOp], out: ObjectFifoOp) -> None:
    if len(op.src_offsets) != len(ins):
        raise op.error("number of provided src offsets must be equal to the number of input objectFifos")
    if op.dst_offsets:
        raise op.error("dst offsets should be empty for join")
    dims: tuple[BdDim, ...] = out.dims_to_stream.data
    length, last = _smallest_slice(op.src_offsets, out), _last_index(dims)
    if dims and last >= length:
        raise op.error(
            "specified output stride(s) and size(s) result in out of bounds access in join input, for index "
            f"{last} in transfer of length {length}."
        )
    _verify_rows(op, op.src_offsets, out, [(f, element_count(f.consumer_elem_type) or 0) for f in ins])


def _verify_rows(
    op: ObjectFifoLinkOp, offsets: Sequence[int], whole: ObjectFifoOp, parts: Sequence[tuple[ObjectFifoOp, int]]
) -> None:
    """Offsets given in rows, found out by their fitting once they are multiplied. `parts`: elements of each object."""
    cuts = [*offsets, element_count(whole.elem_type) or 0]
    slices = [after - before for before, after in itertools.pairwise(cuts)]
    row = math.prod(whole.elem_type.get_shape()[1:])
    meant = [offset * row for offset in offsets]
    if row == 1 or meant != [0, *itertools.accumulate(size for _, size in parts)][:-1]:
        return
    for size, (fifo, own) in zip(slices, parts, strict=True):
        if own and size % own:
            raise op.error(
                f"offsets count elements, not rows: the part of '{fifo.symbol}' would be {size} elements, no whole "
                f"number of its objects of {own}; {meant} was probably meant"
            )


def _verify_distribute(
    op: ObjectFifoLinkOp, source: ObjectFifoOp, outs: Sequence[ObjectFifoOp], shared: SSAValue
) -> None:
    if len(op.dst_offsets) != len(outs):
        raise op.error("number of provided dst offsets must be equal to the number of output objectFifos")
    if op.src_offsets:
        raise op.error("src offsets should be empty for distribute")
    at = next((i for i, c in enumerate(source.consumers) if _place(c) == _place(shared)), 0)
    dims = source.dims_from_stream[at] if at < len(source.dims_from_stream) else ()
    length, last = _smallest_slice(op.dst_offsets, source), _last_index(dims)
    if dims and last >= length:
        raise op.error(
            "specified input stride(s) and size(s) result in out of bounds access in distribute output, for index "
            f"{last} in transfer of length {length}."
        )
    _verify_rows(op, op.dst_offsets, source, [(f, element_count(f.elem_type) or 0) for f in outs])
    if len({fifo.repeat_count or 0 for fifo in outs}) > 1:
        raise op.error("repeat counts of output object FIFOs must be equal", bare=True)
