"""The passes over control packets: made from block writes, cut to size, addressed, and sent by a shim's DMA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    SymbolRefAttr,
)
from xdsl.dialects.memref import GetGlobalOp, GlobalOp
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import PacketInfo, PacketInfoAttr
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.aiex.control import ControlPacketOp
from aiecc.ir.dialects.aiex.npu import NpuBlockWriteOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.dialects.constraints import I32, I64
from aiecc.ir.errors import VerifyError
from aiecc.ir.fold.effects import is_harmless
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.runtime.control_packets import CONTROLLER, check_packet, tile_of
from aiecc.ir.runtime.emit import UI32, Before, i32
from aiecc.ir.runtime.report import said
from aiecc.ir.spans import copy_span
from aiecc.model.targets import Arch, Tile
from aiecc.npu.ctrlpkt import MOST_WORDS, WRITE

HEADERS = 2
"""Words of a packet besides its data."""


@dataclass(frozen=True)
class CtrlPacketInferTiles(Pass):
    """A packet's address says its tile. Tiles that have an id already keep it."""

    name: ClassVar[str] = "aie-ctrl-packet-infer-tiles"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Declare the tiles that control packets are for, with the ids of their controllers"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        tiles = {tile.coord: tile for tile in op.block.ops if isinstance(tile, TileOp)}
        for packet in [inner for inner in op.walk() if isinstance(inner, ControlPacketOp)]:
            said(sink, packet, lambda packet=packet: _infer(packet, op, tiles))


def _infer(packet: ControlPacketOp, device: DeviceOp, tiles: dict[Tile, TileOp]) -> None:
    at = tile_of(packet, device.target)
    tile = tiles.get(at)
    if tile is None:
        tile = tiles[at] = TileOp(*at)
        copy_span(packet, tile)
        first = device.block.first_op
        assert first is not None
        device.block.insert_op_before(tile, first)
    number = device.target.controller_id(*at)
    if CONTROLLER in tile.attributes:
        return
    if number is None:
        raise VerifyError(f"tile ({at[0]}, {at[1]}) has no controller to send a control packet to", packet)
    tile.attributes[CONTROLLER] = PacketInfoAttr(PacketInfo(pkt_id=number))


@dataclass(frozen=True)
class TxnToCtrlPacket(Pass):
    """One packet for a block, however large. Single writes and all else stay instructions."""

    name: ClassVar[str] = "aie-txn-to-ctrl-packet"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Turn block writes into control packets"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        globals = {g.sym_name.data: g for g in op.block.ops if isinstance(g, GlobalOp)}
        for sequence in op.ops_of(RuntimeSequenceOp):
            for inner in list(sequence.walk()):
                if isinstance(inner, NpuBlockWriteOp):
                    said(sink, inner, lambda inner=inner: _packet(inner, op, globals))


def _packet(op: NpuBlockWriteOp, device: DeviceOp, globals: dict[str, GlobalOp]) -> None:
    get = op.data.owner
    found = globals.get(get.name_.root_reference.data) if isinstance(get, GetGlobalOp) else None
    value = found.properties.get("initial_value") if found is not None else None
    if not isinstance(get, GetGlobalOp) or not isinstance(value, DenseIntOrFPElementsAttr):
        raise VerifyError("Global symbol initial value is not a dense int array", op, bare=True)
    if op.buffer is not None:
        raise VerifyError("Cannot translate blockwrite with unresolved address to a control packet", op)
    address = op.address
    if op.column is not None and op.row is not None:
        address = device.target.tile_base(op.column, op.row) | address & 0xFFFFF
    data = [i32(int(word) & 0xFFFFFFFF).value.data for word in value.get_values()]
    Before(op).put(_write(address, data, 0))
    op.detach()
    op.erase()
    if not get.results[0].uses:
        get.detach()
        get.erase()


def _write(address: int, data: list[int], stream: int, opcode: int = WRITE) -> ControlPacketOp:
    return ControlPacketOp.create(
        properties={
            "address": IntegerAttr(address, UI32),
            "opcode": i32(opcode),
            "stream_id": i32(stream),
            "data": DenseArrayBase.from_list(I32, data),
        }
    )


@dataclass(frozen=True)
class LegalizeCtrlPacket(Pass):
    """At most four words a packet, the rest in packets that follow."""

    name: ClassVar[str] = "aie-legalize-ctrl-packet"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Cut control packets to what one packet holds"

    def apply(self, op: Operation, sink: Sink) -> None:
        for packet in [inner for inner in op.walk() if isinstance(inner, ControlPacketOp)]:
            data = list(packet.data or ())
            if len(data) <= MOST_WORDS:
                continue
            put = Before(packet)
            for at in range(0, len(data), MOST_WORDS):
                part = data[at : at + MOST_WORDS]
                put.put(_write(packet.address + 4 * at, part, packet.stream_id, packet.opcode))
            packet.detach()
            packet.erase()


@dataclass(frozen=True)
class CtrlPacketToDma(Pass):
    """The packets lie one after the other in one more buffer of the host; a shim sends each batch, and is waited for.

    On AIE2 every packet is a batch of its own, since a packet ends with the transfer that sends it. AIE2P sends
    packets for one tile that follow one another in one transfer.
    """

    name: ClassVar[str] = "aie-ctrl-packet-to-dma"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Send control packets from a host buffer through shim DMAs"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        for sequence in op.ops_of(RuntimeSequenceOp):
            assert isinstance(sequence, RuntimeSequenceOp)
            packets = [inner for inner in sequence.body.block.ops if isinstance(inner, ControlPacketOp)]
            for packet in packets:
                said(sink, packet, lambda packet=packet: _sendable(packet, op))
            if packets and not sink.failed:
                _send(sequence, op)


def _sendable(packet: ControlPacketOp, device: DeviceOp) -> None:
    check_packet(packet)
    tile_of(packet, device.target)
    if len(packet.data or ()) > MOST_WORDS:
        text = f"has {len(packet.data or ())} words, more than the {MOST_WORDS} of a packet"
        raise VerifyError(f"{text}; run --aie-legalize-ctrl-packet first", packet)


def _send(sequence: RuntimeSequenceOp, device: DeviceOp) -> None:
    block = sequence.body.block
    extra = block.insert_arg(MemRefType(I32, [DYNAMIC_INDEX]), len(block.args))
    joins = device.target.arch is not Arch.AIE2
    batch: list[ControlPacketOp] = []
    at = 0
    for op in [*block.ops, None]:
        if isinstance(op, ControlPacketOp):
            if batch and not (joins and tile_of(op, device.target) == tile_of(batch[0], device.target)):
                at = _transfer(batch, extra, at, device)
            batch.append(op)
        elif batch and (op is None or not is_harmless(op)):
            at = _transfer(batch, extra, at, device)


def _transfer(batch: list[ControlPacketOp], extra: SSAValue, at: int, device: DeviceOp) -> int:
    """Send some packets, in the place of the last of them. Gives where the next ones lie, in words."""
    col, row = tile_of(batch[0], device.target)
    channel = 0 if row <= 2 else 1
    count = sum(HEADERS + len(op.data or ()) for op in batch)
    put = Before(batch[-1])
    properties: dict[str, Attribute] = {
        "static_offsets": DenseArrayBase.from_list(I64, [0, 0, 0, at]),
        "static_sizes": DenseArrayBase.from_list(I64, [1, 1, 1, count]),
        "static_strides": DenseArrayBase.from_list(I64, [0, 0, 0, 1]),
        "metadata": SymbolRefAttr(f"ctrlpkt_col{col}_mm2s_chan{channel}"),
        "id": IntegerAttr(0, I64),
        "issue_token": IntegerAttr(1, 1),
        "operandSegmentSizes": DenseArrayBase.from_list(I32, [1, 0, 0, 0]),
    }
    put.put(NpuDmaMemcpyNdOp.create(operands=[extra], properties=properties))
    put.sync(col, 0, 1, channel)
    for op in batch:
        op.detach()
        op.erase()
    batch.clear()
    return at + count
