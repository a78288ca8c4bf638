"""One fifo's share of `aie-objectfifo-split`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import PacketInfo
from aiecc.ir.dialects.aie.enums import Port, Role, TransportMode, WireBundle
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.fifo_rules import is_shim, is_stream
from aiecc.ir.dialects.aie.routes import RouteOp
from aiecc.ir.dialects.aie.tiles import tile_like
from aiecc.ir.fifo import depths
from aiecc.ir.fifo.coverage import check_layouts
from aiecc.ir.fifo.declared import Declared, Link
from aiecc.ir.fifo.ends import Maker, iterating, repeating, suffix
from aiecc.ir.fifo.iterations import check_passes
from aiecc.ir.fifo.links import dispatch_end, merge_end, object_pool, selected
from aiecc.ir.fifo.transport import delegate_reached, home, reaches, why_dmas
from aiecc.ir.passes.report import op_error, warning

if TYPE_CHECKING:
    from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp
    from aiecc.ir.fifo.view import StreamEnd


class Splitter:
    """Splits fifos one by one; the pools of links exist already.

    shim_ends: by fifo, the endpoint that stands for it in runtime sequences: the first one on a shim.
    """

    def __init__(self, declared: Declared, sink: Sink) -> None:
        self.declared = declared
        self.sink = sink
        self.make = Maker(declared)
        self.shim_ends: dict[str, str] = {}

    def split(self, fifo: ObjectFifoOp) -> None:
        link = self.declared.link_of.get(fifo.symbol)
        near = self._near_pool(fifo, link)
        why = why_dmas(fifo, linked=link is not None and near is None)
        allocate = self.declared.allocates.get(fifo.symbol)
        if why is None:
            self._say_unused(fifo)
            self._through_memory(fifo, near)
        elif fifo.transport.mode is TransportMode.SHARED_MEM:
            op_error(self.sink, fifo, f"asks for a shared_mem transport, but {why}")
        else:
            if allocate is not None and link is None:
                text = f"this has no effect: objectFifo '{fifo.symbol}' needs DMAs, because {why}"
                warning(self.sink, allocate, text, [("it is here", fifo)])
            self._through_dmas(fifo, link)

    def _say_unused(self, fifo: ObjectFifoOp) -> None:
        """Tell what is asked of DMAs where there are none."""
        if fifo.transport.packet is not None:
            text = "the packet header of this fifo has no effect: its ends share memory, so nothing travels"
            todo = "write transport = #aie.transport<dma, packet = ..> to send the objects as packets"
            warning(self.sink, fifo, text, todo=todo)
        unused = {
            "`padDimensions` have": fifo.pads is not None,
            "`iter_count` has": fifo.iter_count is not None,
            "a pinned DMA channel has": fifo.prod_port is not None or any(fifo.cons_ports),
        }
        for what in (what for what, asked in unused.items() if asked):
            text = f"{what} no effect: the ends of this fifo share memory, so nothing travels"
            warning(self.sink, fifo, text, todo="write transport = #aie.transport<dma> to send the objects")

    def _near_pool(self, fifo: ObjectFifoOp, link: Link | None) -> ObjectFifoPoolOp | None:
        """The pool of the link, where an allocate lets the cores of a linked fifo use it without DMAs."""
        allocate = self.declared.allocates.get(fifo.symbol)
        if link is None or allocate is None or not delegate_reached(fifo, allocate):
            return None
        pool = object_pool(link)
        if pool is None or pool.elem_type != fifo.elem_type or link.timed:
            return None
        ends = (fifo.producer, *fifo.consumers[:1])
        return pool if all(reaches(end, pool.tile) for end in ends) else None

    # --- shared memory ------------------------------------------------------------------------------------------------

    def _through_memory(self, fifo: ObjectFifoOp, near: ObjectFifoPoolOp | None) -> None:
        name, make = fifo.symbol, self.make
        pool = near
        if pool is not None and fifo.init_values is not None and pool.init_values is None:
            op_error(self.sink, fifo, f"`init_values` have no place: its ends work on the link's pool @{pool.symbol}")
        if pool is None:
            tile = home(fifo, self.declared.allocates.get(name))
            properties = {"initValues": fifo.init_values, **iterating(fifo)}
            depth = depths.shared_depth(fifo)
            pool = make.pool(fifo, f"{name}_pool", tile, fifo.elem_type, depth, properties=properties)
        make.core_end(fifo, f"{name}_prod", fifo.producer, Port.PRODUCE, pool)
        make.core_end(fifo, f"{name}_cons", fifo.consumers[0], Port.CONSUME, pool)

    # --- DMAs ---------------------------------------------------------------------------------------------------------

    def _through_dmas(self, fifo: ObjectFifoOp, link: Link | None) -> None:
        source = self._producer_end(fifo, link)
        if is_shim(tile_like(fifo.producer)):
            self.shim_ends.setdefault(fifo.symbol, source.symbol)
        ends: list[StreamEnd] = []
        for k, tile in enumerate(fifo.consumers):
            end = self._consumer_end(fifo, k, link)
            ends.append(end)
            if is_shim(tile_like(tile)):
                self.shim_ends.setdefault(fifo.symbol, end.symbol)
        check_passes(fifo, source, ends, self.make.pools, self.sink)
        check_layouts(fifo, (source, *ends), self.make.pools, self.sink)
        packet = fifo.transport.packet
        if link is not None and link.is_merge and fifo in link.ins:
            link.merged.append(source.symbol)
            return
        if link is not None and link.is_dispatch and fifo in link.outs:
            link.turns[fifo.symbol] = ends[0].symbol
            packet = packet or PacketInfo()
        self.make.put(fifo, RouteOp([source.symbol], [end.symbol for end in ends], packet))

    def _producer_end(self, fifo: ObjectFifoOp, link: Link | None) -> StreamEnd:
        make, name, tile = self.make, fifo.symbol, fifo.producer
        at_link = link if link is not None and fifo in link.outs else None
        pool: ObjectFifoPoolOp | None = None
        if at_link is not None:
            pool = at_link.pool
        elif is_shim(tile_like(tile)):
            pool = make.external_pool(fifo, f"{name}_pool", tile)
        elif not is_stream(fifo.prod_port_attr):
            properties = {"initValues": fifo.init_values, **iterating(fifo), **repeating(fifo.repeat_count)}
            depth = depths.producer_depth(fifo, self.declared.accesses)
            pool = make.pool(fifo, f"{name}_pool", tile, fifo.elem_type, depth, properties=properties)
        if pool is None:
            return make.open_end(fifo, f"{name}_prod_dma", tile, fifo.prod_port)
        make.core_end(fifo, f"{name}_prod", tile, Port.PRODUCE, pool)
        if at_link is not None and at_link.is_dispatch:
            return dispatch_end(make, at_link, fifo)
        window = at_link is not None and at_link.is_window
        return make.dma_end(
            fifo,
            f"{name}_prod_dma",
            tile,
            Role.DRAINS,
            pool,
            segments=None if at_link is None else selected(at_link, fifo),
            port=fifo.prod_port,
            dims=fifo.dims_to_stream.data,
            padded=not window,
            iter_count=fifo.iter_count,
        )

    def _consumer_end(self, fifo: ObjectFifoOp, k: int, link: Link | None) -> StreamEnd:
        make, tile, port = self.make, fifo.consumers[k], fifo.cons_ports[k]
        name = f"{fifo.symbol}{suffix(fifo, k)}"
        at_link = link if link is not None and fifo in link.ins and link.meets(tile) else None
        pool: ObjectFifoPoolOp | None = None
        if at_link is not None:
            pool = at_link.pool
        elif is_shim(tile_like(tile)):
            pool = make.external_pool(fifo, f"{name}_pool", tile)
        elif port is None or port.bundle is not WireBundle.CORE:
            depth = depths.consumer_depth(fifo, k, self.declared.accesses)
            pool = make.pool(fifo, f"{name}_pool", tile, fifo.consumer_elem_type, depth, properties=iterating(fifo))
        if pool is None:
            return make.open_end(fifo, f"{name}_dma", tile, port)
        make.core_end(fifo, name, tile, Port.CONSUME, pool)
        if at_link is not None and at_link.is_merge:
            return merge_end(make, at_link, fifo, k)
        passes = None if fifo.iter_count is None else fifo.iter_count * (fifo.repeat_count or 1)
        layouts = fifo.dims_from_stream
        return make.dma_end(
            fifo,
            f"{name}_dma",
            tile,
            Role.FILLS,
            pool,
            segments=None if at_link is None else selected(at_link, fifo),
            port=port,
            dims=layouts[k] if k < len(layouts) else (),
            iter_count=passes,
        )
