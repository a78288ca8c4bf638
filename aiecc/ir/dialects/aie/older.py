"""Older spellings: what could not be translated while reading because it needs the ops around it."""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.rewriter import InsertPoint, Rewriter

from aiecc.ir.dialects.aie.access import ObjectFifoAcquireOp, ObjectFifoSubviewAccessOp
from aiecc.ir.dialects.aie.attrs import (
    EndPort,
    EndPortAttr,
    ObjectFifoSubviewType,
    PacketInfo,
    Transport,
    TransportAttr,
    symbols,
)
from aiecc.ir.dialects.aie.enums import TransportMode, WireBundle
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import TileOp
from aiecc.ir.dialects.constraints import number
from aiecc.ir.spans import copy_span


def settle(root: Operation) -> None:
    """Give the helper ops that readers of older forms made their place, and translate older pairs of ops.

    Called on every device as it is read; the text layer calls it on a whole module for what stands outside devices.
    """
    for op in list(root.walk()):
        if isinstance(op, UseLockOp):
            _adopt_constant(op)
        elif isinstance(op, ShimDmaAllocationOp):
            _adopt_tile(op, root)
        elif isinstance(op, ObjectFifoAcquireOp):
            _split_subview(op)
        elif op.name in _ENDPOINTS:
            _name_segments(op, root)


def _maker(value: SSAValue) -> Operation | Block | None:
    """What makes a value; None for one that is used but nowhere defined, which the reader reports at the end."""
    return None if isinstance(value, ForwardDeclaredValue) else value.owner


_ENDPOINTS = ("aie.objectfifo.core_endpoint", "aie.objectfifo.dma_endpoint")


def _adopt_constant(op: UseLockOp) -> None:
    """The constant of a literal lock value goes right before the op."""
    owner = _maker(op.value)
    if isinstance(owner, ConstantOp) and owner.parent is None and op.parent is not None:
        copy_span(op, owner)
        op.parent.insert_op_before(owner, op)


def _adopt_tile(op: ShimDmaAllocationOp, root: Operation) -> None:
    """The older form names a column: use the device's tile there, or put one before the op."""
    owner = _maker(op.tile)
    if not isinstance(owner, TileOp) or owner.parent is not None or op.parent is None:
        return
    for other in op.parent.ops:
        if isinstance(other, TileOp) and other.coord == owner.coord:
            owner.result.replace_all_uses_with(other.result)
            if other.parent is op.parent and not other.is_before_in_block(op):
                other.detach()
                op.parent.insert_op_before(other, op)
            return
    copy_span(op, owner)
    op.parent.insert_op_before(owner, op)


def _split_subview(op: ObjectFifoAcquireOp) -> None:
    """An acquire of a subview whose every use is an access in range becomes one result per object."""
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, ObjectFifoSubviewType):
        return
    uses = [use.operation for use in op.results[0].uses]
    accesses = [u for u in uses if isinstance(u, ObjectFifoSubviewAccessOp) and u.index < op.size]
    if len(accesses) != len(uses) or op.size < 1:
        return
    results: list[OpResult] = []
    new = ObjectFifoAcquireOp(op.fifo_name, op.port, [type.element_type] * op.size)
    new.attributes.update(op.attributes)
    copy_span(op, new)
    Rewriter.insert_op(new, InsertPoint.before(op))
    results += new.results
    for access in accesses:
        access.results[0].replace_all_uses_with(results[access.index])
        access.detach()
        access.erase()
    op.detach()
    op.erase()


def _name_segments(op: Operation, root: Operation) -> None:
    """Segment indices of an endpoint become the names of its pool's segments."""
    from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp

    indices = op.properties.get("segments")
    if not isinstance(indices, DenseArrayBase) or op.parent is None:
        return
    pool_name = getattr(op, "pool", None)
    pools = [p for p in op.parent.ops if isinstance(p, ObjectFifoPoolOp) and p.symbol == pool_name]
    if not pools:
        return
    names = [s.symbol for s in pools[0].segments]
    wanted = [int(i) for i in indices.get_values()]
    if all(0 <= i < len(names) for i in wanted):
        op.properties["segments"] = ArrayAttr(symbols(*(names[i] for i in wanted)))


# --- objectFifo keys --------------------------------------------------------------------------------------------------

OLD_FIFO_KEYS = {
    "via_DMA": "transport = #aie.transport<dma>",
    "packet": "transport = #aie.transport<dma, packet = #aie.packet_info<>>",
    "packet_id": "transport = #aie.transport<dma, packet = #aie.packet_info<pkt_id = 3>>",
    "aie_stream": "prod_port = #aie.end_port<Core : 0> or cons_ports = [#aie.end_port<Core : 0>]",
    "aie_stream_port": "prod_port = #aie.end_port<Core : 0> or cons_ports = [#aie.end_port<Core : 0>]",
    "prod_dma_channel": "prod_port = #aie.end_port<DMA : 1>",
    "cons_dma_channels": "cons_ports = [#aie.end_port<DMA : 1>]",
}
"""What an `aie.objectfifo` used to say, and what says it today."""


def translate_fifo_keys(props: dict[str, Attribute], old: dict[str, Attribute], consumers: int) -> None:
    """Turn older keys of a fifo into today's. Ones that contradict each other stay, for the verifier to refuse."""
    if not OLD_FIFO_KEYS.keys() & old.keys():
        return
    _translate_transport(props, old)
    _translate_stream(props, old, consumers)
    channel = number(old.get("prod_dma_channel"))
    if channel is not None and channel >= 0 and "prod_port" not in props:
        del old["prod_dma_channel"]
        props["prod_port"] = EndPortAttr(EndPort(WireBundle.DMA, channel))
    channels = old.get("cons_dma_channels")
    if isinstance(channels, DenseArrayBase) and "cons_ports" not in props:
        del old["cons_dma_channels"]
        free = [None if int(c) < 0 else int(c) for c in channels.get_values()]
        props["cons_ports"] = ArrayAttr([EndPortAttr(EndPort(WireBundle.DMA, c)) for c in free])


def _translate_transport(props: dict[str, Attribute], old: dict[str, Attribute]) -> None:
    if "transport" in props:
        return
    via_dma = old.get("via_DMA")
    wants_dma = isinstance(via_dma, IntegerAttr) and bool(via_dma.value.data)
    if via_dma is not None and isinstance(via_dma, IntegerAttr):
        del old["via_DMA"]
    if "packet" in old:
        packet_id = number(old.pop("packet_id", None))
        del old["packet"]
        props["transport"] = TransportAttr(Transport(TransportMode.DMA, PacketInfo(0, packet_id)))
    elif wants_dma:
        props["transport"] = TransportAttr(Transport(TransportMode.DMA))


def _translate_stream(props: dict[str, Attribute], old: dict[str, Attribute], consumers: int) -> None:
    ends, port = number(old.get("aie_stream")), number(old.get("aie_stream_port"))
    if ends not in (0, 1, 2) or port is None or port < 0 or "prod_port" in props or "cons_ports" in props:
        return
    if (ends != 1 and "prod_dma_channel" in old) or (ends != 0 and "cons_dma_channels" in old):
        return
    del old["aie_stream"], old["aie_stream_port"]
    core = EndPortAttr(EndPort(WireBundle.CORE, port))
    if ends != 1:
        props["prod_port"] = core
    if ends != 0:
        props["cons_ports"] = ArrayAttr([core] * consumers)
