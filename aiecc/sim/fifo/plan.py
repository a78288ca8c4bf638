"""What holds the objects of each fifo, and how many: read from the source and the specification's rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation

from aiecc.base.diag import refuse
from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import LinkMode, Port, TransportMode, WireBundle
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.links import ObjectFifoAllocateOp, ObjectFifoLinkOp
from aiecc.ir.dialects.aie.memory import element_bits, element_count
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileLike
from aiecc.ir.spans import span_of
from aiecc.model.targets import Sharing, TileKind

OpT = TypeVar("OpT", bound=Operation)
Tile = tuple[int, int]


def ops_of(device: DeviceOp, kind: type[OpT]) -> list[OpT]:
    return [op for op in device.block.ops if isinstance(op, kind)]


def cannot(op: Operation, why: str) -> NoReturn:
    refuse(f"the meaning of '{op.name}' is not modelled here: {why}", span_of(op))


def place(tile: TileLike | None, op: Operation) -> Tile:
    found = None if tile is None else tile.coord
    if found is None:
        cannot(op, "it needs a tile whose place is known")
    return found


@dataclass
class Fifo:
    """A fifo, and what the design does with it. Sizes and offsets count elements."""

    op: ObjectFifoOp
    producer: Tile
    consumers: list[Tile]
    width: int
    link: Link | None = None
    delegate: Tile | None = None

    @property
    def name(self) -> str:
        return self.op.symbol

    @property
    def out_size(self) -> int:
        return element_count(self.op.elem_type) or 0

    @property
    def in_size(self) -> int:
        return element_count(self.op.consumer_elem_type) or 0

    @property
    def size(self) -> int:
        """The depth as such: the first where there are several."""
        return self.op.depths[0]

    @property
    def exact(self) -> bool:
        """Whether each consumer's depth is stated."""
        return self.op.properties["elemNumber"].name == "array"

    def core_port(self, end: int) -> int | None:
        """The stream port of a core that an end is (-1: the producer), None if it is none."""
        port = self.op.prod_port if end < 0 else self.op.cons_ports[end]
        return port.channel or 0 if port is not None and port.bundle is WireBundle.CORE else None


@dataclass
class Link:
    """Fifos that meet on a tile, in the link's order."""

    op: ObjectFifoLinkOp
    tile: Tile
    inputs: list[Fifo]
    outputs: list[Fifo]

    @property
    def timed(self) -> bool:
        return self.op.mode is LinkMode.TIME

    @property
    def merges(self) -> bool:
        return self.timed and len(self.inputs) > 1

    @property
    def dispatches(self) -> bool:
        return self.timed and len(self.outputs) > 1

    @property
    def owner(self) -> Fifo:
        """The fifo whose objects the link holds."""
        one, other = self.inputs[0], self.outputs[0]
        if len(self.inputs) > 1:
            return other
        if len(self.outputs) > 1:
            return one
        grows = other.out_size > one.in_size and other.op.pads is None
        return other if other.op.init_values is not None or grows else one

    @property
    def object_type(self) -> MemRefType[Attribute]:
        owner = self.owner
        return owner.op.elem_type if owner in self.outputs else owner.op.consumer_elem_type

    @property
    def object_size(self) -> int:
        return element_count(self.object_type) or 0

    @property
    def repeat(self) -> int:
        return next((f.op.repeat_count for f in self.outputs if f.op.repeat_count is not None), 1)

    @property
    def windows(self) -> bool:
        """Whether the output walks over the whole stream instead of staying inside of one object."""
        dims = self.outputs[0].op.dims_to_stream.data
        single = len(self.inputs) == len(self.outputs) == 1
        return single and bool(dims) and sum(d.stride * (d.size - 1) for d in dims) >= self.object_size

    def cuts(self) -> list[tuple[int, int]]:
        """The parts of an object: one per participant of the many side of a join or distribute."""
        size = self.object_size
        offsets = list(self.op.src_offsets if len(self.inputs) > 1 else self.op.dst_offsets)
        if self.timed or len(self.inputs) == len(self.outputs) == 1:
            return [(0, size)]
        ends = [*offsets[1:], size]
        found = list(zip(offsets, ends, strict=True))
        if offsets[:1] != [0] or any(low >= high for low, high in found):
            cannot(self.op, "its offsets do not cut the object into parts")
        return found

    def part_of(self, fifo: Fifo) -> int | None:
        """Which part a participant moves; None for all of them."""
        if self.timed:
            return None
        side = self.inputs if len(self.inputs) > 1 else self.outputs
        return side.index(fifo) if len(side) > 1 and fifo in side else None


@dataclass
class Plan:
    """A device's fifos and links, who acquires how much, and who fills what."""

    device: DeviceOp
    fifos: dict[str, Fifo] = field(default_factory=dict[str, Fifo])
    links: list[Link] = field(default_factory=list[Link])
    most: dict[tuple[Tile, str], int] = field(default_factory=dict[tuple[Tile, str], int])
    used: set[tuple[Tile, str, Port]] = field(default_factory=set[tuple[Tile, str, Port]])
    rearmed: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, device: DeviceOp) -> Plan:
        plan = cls(device)
        for op in ops_of(device, ObjectFifoOp):
            plan._fifo(op)
        for op in ops_of(device, ObjectFifoLinkOp):
            plan._link(op)
        for op in ops_of(device, ObjectFifoAllocateOp):
            fifo = plan.fifo(op.fifo_name, op)
            fifo.delegate = place(op_tile(op), op)
        for op in ops_of(device, CoreOp):
            tile = place(op.tile_op, op)
            for access in _accesses(op):
                if access.port is not None:
                    plan.used.add((tile, access.fifo_name, access.port))
                if isinstance(access, ObjectFifoAcquireOp):
                    key = (tile, access.fifo_name)
                    plan.most[key] = max(plan.most.get(key, 0), access.size)
        for op in device.walk():
            if op.name == "aiex.dma_channel_reset_for":
                plan.rearmed |= {str(a).strip('@"') for a in op.properties.values()}
        return plan

    def fifo(self, name: str, op: Operation) -> Fifo:
        found = self.fifos.get(name)
        if found is None:
            cannot(op, f"there is no fifo @{name}")
        return found

    def _fifo(self, op: ObjectFifoOp) -> None:
        if op.disable_synchronization:
            cannot(op, "without synchronization nothing says what a core finds in its objects")
        if op.iterate_bds or op.plio:
            cannot(op, "`iterate_bds` and `plio` belong to one device's own ways")
        bits = element_bits(op.elem_type)
        if not bits or bits % 8:
            cannot(op, f"its elements have {bits} bits")
        consumers = [place(t, op) for t in op.consumer_tiles]
        if len(op.depths) != 1 + len(consumers) or any(depth < 1 for depth in op.depths):
            cannot(op, "its depths are not one or more objects for each end")
        self.fifos[op.symbol] = Fifo(op, place(op.producer_tile, op), consumers, bits // 8)

    def _link(self, op: ObjectFifoLinkOp) -> None:
        inputs = [self.fifo(name, op) for name in op.inputs]
        outputs = [self.fifo(name, op) for name in op.outputs]
        link = Link(op, outputs[0].producer, inputs, outputs)
        if any(link.tile not in f.consumers for f in inputs) or any(f.producer != link.tile for f in outputs):
            cannot(op, "its fifos do not meet on one tile")
        for fifo in inputs + outputs:
            if fifo.link is not None:
                cannot(op, f"@{fifo.name} is in another link, too")
            fifo.link = link
        self.links.append(link)

    # --- where objects lie --------------------------------------------------------------------------------------------

    def is_shim(self, tile: Tile) -> bool:
        kind = self.device.target.tile_kind(*tile)
        return kind is not None and kind.is_shim

    def through_memory(self, fifo: Fifo) -> bool:
        """Whether both ends work on the same objects, with no stream in between."""
        op = fifo.op
        if op.transport.mode is TransportMode.DMA or op.repeat_count is not None:
            return False
        ports = [op.prod_port, *op.cons_ports]
        if any(p is not None and p.bundle is WireBundle.CORE for p in ports):
            return False
        if op.consumer_elem_type_attr is not None or len(fifo.consumers) > 1 or op.dims_to_stream.data:
            return False
        producer, consumer = fifo.producer, fifo.consumers[0]
        target = self.device.target
        if target.shared(producer, consumer) is Sharing.NONE or any(op.dims_from_stream):
            return False
        kinds = (target.tile_kind(*producer), target.tile_kind(*consumer))
        if kinds != (TileKind.CORE, TileKind.CORE):
            # Only cores work in memory; what leaves a memory tile leaves it on a stream.
            return False
        return fifo.link is None or self._on_link(fifo, fifo.link)

    def _on_link(self, fifo: Fifo, link: Link) -> bool:
        """Whether an allocate lets the core of a linked fifo work on the link's own objects: they are what it wants."""
        at = fifo.delegate
        if at is None or link.timed or link.windows or len(link.cuts()) > 1 or fifo.op.elem_type != link.object_type:
            return False
        target = self.device.target
        ends = (fifo.producer, fifo.consumers[0])
        return all(target.shared(t, end) in (Sharing.FIRST, Sharing.EITHER) for t in (at, link.tile) for end in ends)

    def count(self, tile: Tile, fifo: Fifo) -> int:
        """The depth on a tile: the largest acquire there, and one more, so that the next object can come meanwhile."""
        most = self.most.get((tile, fifo.name), 0)
        if most == 0:
            return fifo.size
        return 1 if most == fifo.size == 1 else most + 1

    def producer_depth(self, fifo: Fifo) -> int:
        return fifo.size if fifo.op.init_values is not None else self.count(fifo.producer, fifo)

    def consumer_depth(self, fifo: Fifo, at: int) -> int:
        return fifo.op.depths[at + 1] if fifo.exact else self.count(fifo.consumers[at], fifo)

    def link_depth(self, link: Link) -> int:
        owner = link.owner
        if owner in link.outputs:
            return owner.size
        return self.consumer_depth(owner, owner.consumers.index(link.tile))


def op_tile(op: ObjectFifoAllocateOp) -> TileLike | None:
    owner = op.delegate.owner
    return owner if isinstance(owner, TileLike) else None


def _accesses(core: CoreOp) -> Iterator[FifoAccess]:
    return (op for op in core.walk() if isinstance(op, FifoAccess))
