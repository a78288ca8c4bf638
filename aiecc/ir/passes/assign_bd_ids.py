"""`aie-assign-bd-ids`: every buffer descriptor of a tile gets a number, and knows the number of the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Block, Operation, Region

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram, MemOp, MemTileDmaOp, ShimDmaOp
from aiecc.ir.dialects.aie.dma import DmaChannel, DmaOp, DmaStartOp
from aiecc.ir.dialects.aie.runtime import ObjectFifoRearmBindingOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp, placed
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.runtime.pins import pinned_ids
from aiecc.model.targets import Tile
from aiecc.model.targets.tables import Dma

_RESERVED = "aiex.reserved_bd_ids"


@dataclass(frozen=True)
class AssignBdIds(Pass):
    """Numbers the author chose are kept; the others get the lowest free one their channel reaches.

    Those that runtime sequences name come last. On a memory tile even channels reach the lower half of the descriptors,
    odd ones the upper half.
    """

    name: ClassVar[str] = "aie-assign-bd-ids"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Give every buffer descriptor an id and chain them"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        found = _programs(op)
        pinned = pinned_ids(op) if found else {}
        for at, programs in found.items():
            kind = op.target.tile_kind(*at)
            dma = op.target.dma(kind) if kind else None
            if dma is None:
                op_error(sink, programs[0], "stands on a tile without a DMA")
                continue
            _Numbering(dma, _reserved(op, at), pinned.get(at, set()), sink).run(programs)
        if not sink.failed:
            for binding in op.ops_of(ObjectFifoRearmBindingOp):
                assert isinstance(binding, ObjectFifoRearmBindingOp)
                _populate(binding, op)


def _programs(device: DeviceOp) -> dict[Tile, list[DmaProgram]]:
    """The DMA programs by tile: ids are the tile's, and a tile may be described by more than one op."""
    found: dict[Tile, list[DmaProgram]] = {}
    for kind in (MemOp, MemTileDmaOp, ShimDmaOp):
        for program in device.ops_of(kind):
            assert isinstance(program, DmaProgram)
            if program.coord is not None:
                found.setdefault(program.coord, []).append(program)
    return found


def _reserved(device: DeviceOp, at: Tile) -> set[int]:
    """Ids that run-time code keeps for itself."""
    found: set[int] = set()
    for tile in device.ops_of(TileOp):
        assert isinstance(tile, TileOp)
        ids = tile.attributes.get(_RESERVED)
        if tile.coord == at and isinstance(ids, DenseArrayBase):
            found.update(int(n) for n in ids.get_values())
    return found


@dataclass(slots=True)
class _Numbering:
    """The descriptors of one tile."""

    dma: Dma
    taken: set[int]
    wanted: set[int]
    """What runtime sequences name: last to be given out."""
    sink: Sink
    failed: bool = field(default=False)

    def run(self, programs: list[DmaProgram]) -> None:
        for program in programs:
            for bd in program.walk():
                if isinstance(bd, DmaBdOp) and bd.bd_id is not None:
                    if bd.bd_id in self.taken:
                        self._fail(bd, f"assigned bd_id {bd.bd_id} is already used by another BD on this tile")
                    self.taken.add(bd.bd_id)
        for program in programs:
            for bd, channel in _descriptors(program):
                if not self.failed:
                    self._number(bd, channel)
        if not self.failed:
            for program in programs:
                _chain(program)

    def _number(self, bd: DmaBdOp, channel: DmaChannel) -> None:
        index = channel.index
        if index is None:
            end = channel.endpoint if isinstance(channel, DmaStartOp) else None
            text = f"names route endpoint @{end} in place of a channel index; "
            self._fail(channel, f"{text}run --aie-objectfifo-allocate to assign one")
            return
        reach = self.dma.bd_ids(index)
        if bd.bd_id is not None:
            if bd.bd_id not in reach:
                self._fail(bd, f"assigned bd_id {bd.bd_id} is not accessible from channel {index} on this tile")
            return
        free = [n for n in reach if n not in self.taken]
        number = next((n for n in free if n not in self.wanted), free[0] if free else None)
        if number is None:
            most = self.dma.bds_per_channel
            text = f"Allocator exhausted available BD IDs (maximum {most} available for channel {index})."
            self._fail(bd, text)
            return
        self.taken.add(number)
        bd.properties["bd_id"] = IntegerAttr(number, I32)

    def _fail(self, op: Operation, text: str) -> None:
        self.failed = True
        op_error(self.sink, op, text)


def _bd(holder: Region | Block) -> DmaBdOp | None:
    block = holder.blocks.first if isinstance(holder, Region) else holder
    return next((op for op in block.ops if isinstance(op, DmaBdOp)), None) if block is not None else None


def _descriptors(program: DmaProgram) -> Iterator[tuple[DmaBdOp, DmaChannel]]:
    """Every descriptor with its channel, in the order they stand. Blocks no channel leads to are dead."""
    region = program.regions[0]
    channels = [op for block in region.blocks for op in block.ops if isinstance(op, DmaOp)]
    for channel in channels:
        for inner in channel.regions:
            if (bd := _bd(inner)) is not None:
                yield bd, channel
    if channels:
        return
    owners = _owners(region)
    for block in region.blocks:
        bd, channel = _bd(block), owners.get(block)
        if bd is not None and channel is not None:
            yield bd, channel


def _owners(region: Region) -> dict[Block, DmaStartOp]:
    """Which channel runs the descriptor of a block."""
    owners: dict[Block, DmaStartOp] = {}
    for block in region.blocks:
        start = block.last_op
        if not isinstance(start, DmaStartOp):
            continue
        at: Block | None = start.dest
        while at is not None and at not in owners:
            owners[at] = start
            last = at.last_op
            at = last.successors[0] if last is not None and last.successors else None
    return owners


def _chain(program: DmaProgram) -> None:
    """Write `next_bd_id`."""
    region = program.regions[0]
    channels = [op for block in region.blocks for op in block.ops if isinstance(op, DmaOp)]
    for channel in channels:
        bds = [bd for inner in channel.regions if (bd := _bd(inner)) is not None]
        for bd, after in zip(bds, [*bds[1:], bds[0] if channel.loop else None], strict=True):
            _link(bd, after)
    if channels:
        return
    for block in region.blocks:
        bd, last = _bd(block), block.last_op
        if bd is not None and last is not None and last.successors:
            _link(bd, _bd(last.successors[0]))


def _link(bd: DmaBdOp, after: DmaBdOp | None) -> None:
    if after is None or after.bd_id is None:
        bd.properties.pop("next_bd_id", None)
    else:
        bd.properties["next_bd_id"] = IntegerAttr(after.bd_id, I32)


# --- re-arm bindings --------------------------------------------------------------------------------------------------


def _populate(binding: ObjectFifoRearmBindingOp, device: DeviceOp) -> None:
    """Write the first descriptor and the repeat count of each channel a binding restarts.

    A binding that has them already was written by hand and stays. One whose channels are not all in the device's
    programs stays open; lowering its use reports that.
    """
    if "head_bd_ids" in binding.properties or "repeat_counts" in binding.properties:
        return
    heads: list[int] = []
    repeats: list[int] = []
    places = [placed(value) for value in binding.channel_tiles]
    for tile, direction, index in zip(places, binding.channel_dirs, binding.channel_indices, strict=False):
        start = None if tile is None else _resident(device, tile.coord, direction, index)
        head = None if start is None else _bd(start.dest)
        if start is None or head is None or head.bd_id is None:
            return
        heads.append(head.bd_id)
        repeats.append(start.repeat_count)
    binding.properties["head_bd_ids"] = DenseArrayBase.from_list(I32, heads)
    binding.properties["repeat_counts"] = DenseArrayBase.from_list(I32, repeats)


def _resident(device: DeviceOp, at: Tile, direction: int, index: int) -> DmaStartOp | None:
    for program in device.ops_of(MemOp, MemTileDmaOp):
        assert isinstance(program, DmaProgram)
        if program.coord != at:
            continue
        for block in program.regions[0].blocks:
            start = block.last_op
            if isinstance(start, DmaStartOp) and start.direction.value == direction and start.index == index:
                return start
    return None
