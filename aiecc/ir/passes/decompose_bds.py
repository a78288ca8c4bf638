"""`aie-decompose-large-dma-bd`: patterns that no descriptor holds become some that descriptors do hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr
from xdsl.ir import Block, Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.dma import NextBdOp
from aiecc.ir.dialects.aie.memory import element_bits
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp, TileLike
from aiecc.ir.dialects.aiex.steps import DIMENSIONS, Steps
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskForOp, DmaConfigureTaskOp
from aiecc.ir.dialects.aiex.transfer_rules import constants, mixed_lists
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.dialects.base import enclosing
from aiecc.ir.dialects.constraints import I32, I64
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error, remark
from aiecc.ir.runtime.allocations import allocations
from aiecc.ir.runtime.decompose import Part, split, split_task
from aiecc.ir.runtime.descriptor import is_skipped
from aiecc.ir.runtime.tasks import PART
from aiecc.ir.spans import copy_span
from aiecc.ir.walk import ops_in
from aiecc.model.targets import TileKind
from aiecc.model.targets.tables import Dma


@dataclass(frozen=True)
class DecomposeLargeDmaBd(Pass):
    """Constant patterns only, in the same order on the stream. What cannot be split is left for others to refuse."""

    name: ClassVar[str] = "aie-decompose-large-dma-bd"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Split transfers whose sizes or strides exceed a descriptor's registers"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        names = allocations(op)
        for sequence in op.ops_of(RuntimeSequenceOp):
            for inner in ops_in(sequence):
                if isinstance(inner, NpuDmaMemcpyNdOp):
                    _memcpy(inner, op, names)
                elif isinstance(inner, DmaConfigureTaskOp):
                    _task(inner, inner.tile_op, op, sink)
                elif isinstance(inner, DmaConfigureTaskForOp) and (named := names.get(inner.alloc)) is not None:
                    _task(inner, named.tile_op, op, sink)


def _dma(device: DeviceOp, tile: TileLike | None) -> tuple[Dma, TileKind] | None:
    kind = tile.kind if tile is not None and tile.coord is not None else None
    dma = device.target.dma(kind) if kind is not None else None
    return None if dma is None or kind is None else (dma, kind)


def _parts(steps: Steps, dma: Dma, kind: TileKind, *, task: bool) -> Sequence[Part] | None:
    """The parts of a pattern that has to be split; None for one that is fine, or that nothing helps."""
    if steps.is_contiguous or next(steps.problems(dma, kind), None) is None:
        return None
    return (split_task if task else split)(steps, dma, kind)


def _memcpy(op: NpuDmaMemcpyNdOp, device: DeviceOp, names: dict[str, ShimDmaAllocationOp]) -> None:
    found = names.get(op.metadata)
    place = _dma(device, found.tile_op) if found is not None else None
    offsets, sizes, strides = (constants(entries) for entries in mixed_lists(op))
    if place is None or offsets is None or sizes is None or strides is None or op.is_padded:
        return
    steps = Steps.outermost_first(sizes, strides, element_bits(op.memref.type))
    parts = _parts(steps, *place, task=False)
    if parts is None:
        return
    base = sum(o * t for o, t in zip(offsets, strides, strict=True))
    sequence = enclosing(op, "aie.runtime_sequence")
    others = [o for o in (sequence.walk() if sequence is not None else ()) if isinstance(o, NpuDmaMemcpyNdOp)]
    taken = {o.id for o in others if o is not op and o.metadata == op.metadata}
    block = op.parent
    assert block is not None
    id = op.id
    for i, part in enumerate(parts):
        while id in taken:
            id += 1
        new = op.clone()
        copy_span(op, new)
        starts, factor = _as_offsets(base + part.start, part.steps)
        for name, values in (
            ("static_offsets", starts),
            ("static_sizes", list(reversed(part.steps.sizes))),
            ("static_strides", [*reversed(part.steps.strides[1:]), factor]),
        ):
            new.properties[name] = DenseArrayBase.from_list(I64, values)
        new.properties["id"] = IntegerAttr(id, I64)
        if i + 1 < len(parts):
            new.properties.pop("issue_token", None)
            new.attributes[PART] = UnitAttr()
        block.insert_op_before(new, op)
        id += 1
    op.detach()
    op.erase()


def _as_offsets(start: int, steps: Steps) -> tuple[list[int], int]:
    """An element index as four offsets, outermost first, that the strides multiply to it; and the inner stride."""
    strides = list(reversed(steps.strides))
    found = [0] * DIMENSIONS
    for i, stride in enumerate(strides):
        if stride > 0 and (i == DIMENSIONS - 1 or stride > 1):
            found[i], start = divmod(start, stride)
    assert start == 0 or strides[-1] == 1
    return found, strides[-1]


def _task(op: DmaConfigureTaskOp | DmaConfigureTaskForOp, tile: TileLike | None, device: DeviceOp, sink: Sink) -> None:
    place = _dma(device, tile)
    blocks = [block for block in op.body.blocks if not is_skipped(block)]
    bds = [bd for block in blocks for bd in block.ops if isinstance(bd, DmaBdOp)]
    if place is None or len(bds) != 1:
        return
    bd = bds[0]
    sizes, strides, offset = bd.sizes, bd.strides, bd.offset
    if not sizes or strides is None or offset is None or bd.pad_dimensions is not None or len(sizes) > DIMENSIONS:
        return
    if len(sizes) != len(strides):
        return
    parts = _parts(Steps.outermost_first(sizes, strides, element_bits(bd.buffer.type)), *place, task=True)
    if parts is None:
        return
    if len(parts) > 1:
        if bd.out_of_order_id is not None:
            text = "splitting an out-of-order buffer descriptor into multiple descriptors is not implemented"
            op_error(sink, bd, text, code="E1002")
            return
        if enclosing(op, "scf.for") is not None or enclosing(op, "scf.if") is not None:
            text = (
                "deferring multi-BD decomposition under runtime control flow (dynamic BD pool supports single-BD tasks "
                "only)"
            )
            remark(sink, op, text)
            return
    _chain(bd, offset, parts)


def _chain(bd: DmaBdOp, offset: int, parts: Sequence[Part]) -> None:
    """One descriptor after the other in the place of one."""
    block = bd.parent
    assert block is not None and block.parent is not None
    region, end = block.parent, block.last_op
    made: list[DmaBdOp] = []
    for part in parts:
        new = bd.clone()
        copy_span(bd, new)
        steps = part.steps
        new.properties["static_offset"] = IntegerAttr(offset + part.start, I32)
        new.properties["static_sizes"] = DenseArrayBase.from_list(I64, list(reversed(steps.sizes)))
        new.properties["static_strides"] = DenseArrayBase.from_list(I64, list(reversed(steps.strides)))
        if len(parts) > 1:
            length = steps.sizes[0] * steps.sizes[1] * steps.sizes[2]
            new.properties["static_len"] = IntegerAttr(length, I32)
        made.append(new)
    block.insert_op_before(made[0], bd)
    bd.detach()
    bd.erase()
    at = block
    for new in made[1:]:
        following = Block([new])
        region.insert_block_after(following, at)
        last = at.last_op
        if isinstance(last, EndOp | NextBdOp):
            last.detach()
            following.add_op(last)
        go = NextBdOp(following)
        copy_span(new, go)
        at.add_op(go)
        at = following
    if at.last_op is made[-1] and end is None:
        at.add_op(EndOp())
