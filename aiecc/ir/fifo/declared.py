"""What a device declares about its objectFifos before they are split, looked up once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from aiecc.ir.dialects.aie.attrs import EndPort
from aiecc.ir.dialects.aie.enums import LinkMode
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.link_rules import link_point
from aiecc.ir.dialects.aie.links import ObjectFifoAllocateOp, ObjectFifoLinkOp, RegisterExternalBuffersOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aie.windows import output_owns, walks_stream
from aiecc.ir.fifo.accesses import Accesses
from aiecc.ir.fifo.view import names_in, place_of


@dataclass(eq=False)
class Link:
    """One link and what split has made for it so far.

    point: the tile where the fifos meet, as the owner calls it.
    owner: the fifo whose objects the link's pool holds.
    position: which of the owner's consumers the link point is; None where the owner is an output.
    shared_end: the endpoint that the inputs of a merge, or the outputs of a dispatch, have in common.
    turns: the destinations of a dispatch, by output.
    merged: the draining endpoints of a merge's inputs, in the order they were made.
    """

    op: ObjectFifoLinkOp
    ins: list[ObjectFifoOp]
    outs: list[ObjectFifoOp]
    point: SSAValue
    owner: ObjectFifoOp
    position: int | None
    pool: ObjectFifoPoolOp | None = None
    shared_end: DmaEndpointOp | None = None
    turns: dict[str, str] = field(default_factory=dict[str, str])
    merged: list[str] = field(default_factory=list[str])

    @property
    def timed(self) -> bool:
        return self.op.mode is LinkMode.TIME

    @property
    def is_merge(self) -> bool:
        return self.timed and len(self.ins) > 1

    @property
    def is_dispatch(self) -> bool:
        return self.timed and len(self.outs) > 1

    @property
    def is_join(self) -> bool:
        return not self.timed and len(self.ins) > 1

    @property
    def is_distribute(self) -> bool:
        return not self.timed and len(self.outs) > 1

    @property
    def is_window(self) -> bool:
        return walks_stream(self.op, self.ins[0], self.outs[0])

    def meets(self, tile: SSAValue) -> bool:
        """Whether a tile is the link point."""
        return place_of(tile) == place_of(self.point)

    def ends_there(self) -> list[tuple[ObjectFifoOp, EndPort | None]]:
        """Every fifo with the port that drives its end at the link point."""
        found = [
            (fifo, port)
            for fifo in self.ins
            for tile, port in zip(fifo.consumers, fifo.cons_ports, strict=False)
            if self.meets(tile)
        ]
        return [*found, *((fifo, fifo.prod_port) for fifo in self.outs)]


class Declared:
    """The fifos of a device, in device order, and all that refers to them."""

    def __init__(self, device: DeviceOp) -> None:
        self.device = device
        self.fifos = [op for op in device.block.ops if isinstance(op, ObjectFifoOp)]
        self.by_name = {fifo.symbol: fifo for fifo in self.fifos}
        self.accesses = Accesses(device)
        self.names = names_in(device)
        self.links: list[Link] = []
        self.link_of: dict[str, Link] = {}
        self.allocates: dict[str, ObjectFifoAllocateOp] = {}
        self.spent: list[Operation] = [*self.fifos]
        self.registered: list[RegisterExternalBuffersOp] = []
        self._externals: dict[tuple[Hashable, str], list[SSAValue]] = {}
        for op in device.block.ops:
            if isinstance(op, ObjectFifoLinkOp):
                self._add_link(op)
            elif isinstance(op, ObjectFifoAllocateOp):
                self.allocates.setdefault(op.fifo_name, op)
            elif isinstance(op, RegisterExternalBuffersOp):
                self.registered.append(op)
                self._externals.setdefault((place_of(op.tile), op.fifo_name), []).extend(op.external_buffers)
            else:
                continue
            self.spent.append(op)

    def externals(self, tile: SSAValue, fifo: ObjectFifoOp) -> list[SSAValue]:
        """The external buffers registered for a fifo's end on a shim."""
        return self._externals.get((place_of(tile), fifo.symbol), [])

    def _add_link(self, op: ObjectFifoLinkOp) -> None:
        ins = [self.by_name[name] for name in op.inputs if name in self.by_name]
        outs = [self.by_name[name] for name in op.outputs if name in self.by_name]
        point = link_point(op, ins, outs) if ins and outs else None
        if point is None:
            return
        gathers = len(ins) > 1 or (len(outs) == 1 and output_owns(ins[0], outs[0]))
        if gathers and not walks_stream(op, ins[0], outs[0]):
            link = Link(op, ins, outs, outs[0].producer, outs[0], None)
        else:
            owner, here = ins[0], place_of(point)
            position = next((k for k, c in enumerate(owner.consumers) if place_of(c) == here), 0)
            link = Link(op, ins, outs, owner.consumers[position], owner, position)
        self.links.append(link)
        for fifo in (*ins, *outs):
            self.link_of.setdefault(fifo.symbol, link)
