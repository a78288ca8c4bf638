"""Control packets of a sequence: which tile each is for, and the words it is sent as."""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import packet_of
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.aiex.control import ControlPacketOp
from aiecc.ir.errors import VerifyError
from aiecc.ir.runtime.report import said
from aiecc.model.targets import Target, Tile
from aiecc.npu.bits import Unfit
from aiecc.npu.ctrlpkt import MOST_WORDS, READ, packet_words

CONTROLLER = "controller_id"
NO_DATA = "control packet with a write opcode requires a data payload"


def tile_of(op: ControlPacketOp, target: Target) -> Tile:
    """The tile whose registers a packet is for. Raises VerifyError for an address off the array."""
    family, address = target.family, op.address
    col = address >> family.column_shift
    row = (address & ((1 << family.column_shift) - 1)) >> family.row_shift
    if target.tile_kind(col, row) is None:
        raise VerifyError(f"address {address:#x} is in tile ({col}, {row}), which the device does not have", op)
    return col, row


def controllers(device: DeviceOp) -> dict[Tile, tuple[int, int]]:
    """Packet type and id of the tiles' controllers."""
    found: dict[Tile, tuple[int, int]] = {}
    for op in device.block.ops:
        header = packet_of(op.attributes.get(CONTROLLER)) if isinstance(op, TileOp) else None
        if isinstance(op, TileOp) and header is not None and header.pkt_id is not None:
            found[op.coord] = header.pkt_type, header.pkt_id
    return found


def check_packet(op: ControlPacketOp) -> None:
    """A write says what it writes, a read how much it wants. Raises VerifyError."""
    if op.opcode != READ and not op.data:
        raise VerifyError(NO_DATA, op)
    if op.opcode == READ and not op.length:
        raise VerifyError("control packet with a read opcode requires a length", op)


def words_of(device: DeviceOp, sequence: RuntimeSequenceOp, sink: Sink) -> list[int]:
    """The words of all packets of a sequence, in order. Anything wrong is reported."""
    found: list[int] = []
    headers = controllers(device)

    def send(op: ControlPacketOp) -> None:
        check_packet(op)
        tile = tile_of(op, device.target)
        header = headers.get(tile)
        if header is None:
            raise VerifyError(f"tile ({tile[0]}, {tile[1]}) has no controller_id to send a control packet to", op)
        data = list(op.data) if op.opcode != READ else []
        try:
            found.extend(packet_words(header, op.stream_id, op.opcode, op.address, data, op.length or 0))
        except Unfit as problem:
            todo = "; run --aie-legalize-ctrl-packet first" if len(data) > MOST_WORDS else ""
            raise VerifyError(f"cannot be encoded: {problem}{todo}", op) from None

    for op in sequence.walk():
        if isinstance(op, ControlPacketOp):
            said(sink, op, lambda op=op: send(op))
    return found
