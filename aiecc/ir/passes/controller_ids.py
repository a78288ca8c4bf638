"""`aie-assign-tile-controller-ids`: every tile gets the packet id its controller answers to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.attrs import PacketInfo, PacketInfoAttr, packet_of
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.report import op_error

_KEY = "controller_id"


@dataclass(frozen=True)
class AssignTileControllerIds(Pass):
    """Ids come from the target's table, by row. Those the author chose are kept."""

    name: ClassVar[str] = "aie-assign-tile-controller-ids"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Give every tile the packet id of its controller"

    column_wise_unique_ids: bool = option(True, help="ids differ within a column only; false: across the device")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        owners: dict[tuple[int | None, int], TileOp] = {}
        # The author's own first: what clashes with one of those is the id that is given here.
        tiles = [inner for inner in op.block.ops if isinstance(inner, TileOp)]
        for tile in sorted(tiles, key=lambda tile: _id_of(tile) is None):
            number = _id_of(tile)
            if number is None:
                number = op.target.controller_id(*tile.coord, device_wide=not self.column_wise_unique_ids)
            if number is None:
                text = f"has no controller id that differs from all others of device {op.device.word}"
                op_error(sink, tile, text, todo="set column-wise-unique-ids=true")
                return
            first = owners.setdefault((tile.col if self.column_wise_unique_ids else None, number), tile)
            if first.coord != tile.coord:
                where = "column" if self.column_wise_unique_ids else "device"
                text = f"would answer to controller id {number}, as another tile of its {where} does"
                op_error(sink, tile, text, [("the other tile is here", first)])
                return
            tile.attributes.setdefault(_KEY, PacketInfoAttr(PacketInfo(pkt_id=number)))


def _id_of(tile: TileOp) -> int | None:
    """The id the author gave a tile; None without one."""
    header = packet_of(tile.attributes.get(_KEY))
    return None if header is None else header.pkt_id
