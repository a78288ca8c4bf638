"""`aie-materialize-bd-chains`: chains are put in the place of what starts them by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.ir import Block, Operation, Region, SSAValue

from aiecc.base.diag import Diagnostic, Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.canonical import fold_constants
from aiecc.ir.dialects.aie.chains import DmaStartTaskOp
from aiecc.ir.dialects.aie.dma import DmaStartOp, NextBdOp
from aiecc.ir.dialects.aie.runtime import BdChainOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.aiex import tasks
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp, DmaStartBdChainForOp, DmaStartBdChainOp
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error
from aiecc.ir.runtime.allocations import Channel, allocations, channel_of
from aiecc.ir.spans import call, copy_span
from aiecc.ir.verify import verify
from aiecc.ir.walk import ops_in


@dataclass(frozen=True)
class MaterializeBdChains(Pass):
    """In sequences a start becomes a task configured and started right there; in a tile's DMA program, a channel.

    Chains stay, so that more can be started later; every start is a copy of its own with the arguments put in. Numbers
    among the arguments become numbers of the descriptors.
    """

    name: ClassVar[str] = "aie-materialize-bd-chains"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Put descriptor chains in the place of what starts them"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        chains = {c.symbol: c for c in op.block.ops if isinstance(c, BdChainOp)}
        kinds = (DmaStartBdChainOp, DmaStartBdChainForOp, DmaStartTaskOp)
        starts = [s for s in ops_in(op) if isinstance(s, kinds)]
        names = allocations(op) if starts else {}
        for start in starts:
            assert isinstance(start, kinds)
            chain = chains.get(start.symbol)
            if chain is None:
                op_error(sink, start, "symbol does not reference valid BD chain", code="E1002")
            elif not any(isinstance(inner, DmaBdOp) for inner in chain.walk()):
                text = "starts a chain without descriptors"
                op_error(sink, start, text, [("the chain is here", chain)], code="E1002")
            elif isinstance(start, DmaStartTaskOp):
                _into_program(start, chain)
            elif isinstance(start, DmaStartBdChainOp):
                _into_sequence(start, chain, Channel(start.tile, start.direction, start.channel))
            elif (channel := channel_of(start, start.alloc, names, sink)) is not None:
                # The header comes along: without it the switches would not know where to send.
                _into_sequence(start, chain, channel)
        if starts and not sink.failed:
            # A chain is right or wrong only with what it is started with.
            sink.extend(_once(verify(op)))


def _once(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What is wrong with every use of a chain is said once, with all the uses."""
    merged: dict[tuple[str, object], Diagnostic] = {}
    for each in found:
        key = each.text, each.where
        known = merged.get(key)
        more = () if known is None else tuple(note for note in each.notes if note not in known.notes)
        merged[key] = each if known is None else replace(known, notes=known.notes + more)
    return list(merged.values())


def _copy(chain: BdChainOp, arguments: Sequence[SSAValue], start: Operation) -> Region:
    """The chain's blocks with arguments in the place of parameters."""
    region = Region()
    chain.body.clone_into(region, clone_name_hints=False)
    entry = region.blocks.first
    if entry is not None:
        for parameter, argument in zip(list(entry.args), arguments, strict=True):
            parameter.replace_all_uses_with(argument)
            entry.erase_arg(parameter)
    for op in region.walk():
        call(op, start)
        if isinstance(op, DmaBdOp):
            fold_constants(op)
    return region


def _into_sequence(start: DmaStartBdChainOp | DmaStartBdChainForOp, chain: BdChainOp, channel: Channel) -> None:
    body = _copy(chain, list(start.args_), start)
    task = DmaConfigureTaskOp(channel.tile, channel.direction, channel.index, body)
    task.set_packet(channel.packet)
    for key in ("issue_token", "repeat_count"):
        if key in start.properties:
            task.properties[key] = start.properties[key]
    go = tasks.DmaStartTaskOp(operands=[task.result])
    copy_span(start, task, go)
    block = start.parent
    assert block is not None
    block.insert_ops_before([task, go], start)
    start.results[0].replace_all_uses_with(task.result)
    start.detach()
    start.erase()


def _into_program(start: DmaStartTaskOp, chain: BdChainOp) -> None:
    """Split the block at the start: it ends by starting the channel, the chain follows, then what came after."""
    block = start.parent
    region = block.parent if block is not None else None
    assert block is not None and region is not None
    body = _copy(chain, list(start.operands), start)
    blocks = list(body.blocks)
    first = _enter(blocks, block, start)
    rest = block.split_before(start)
    for each in list(body.blocks):
        body.detach_block(each)
    region.insert_block_before(blocks, rest)
    begin = DmaStartOp(start.direction, start.channel, first, rest, start.repeat_count)
    if "pad_value" in start.properties:
        begin.properties["pad_value"] = start.properties["pad_value"]
    copy_span(start, begin)
    block.add_op(begin)
    start.detach()
    start.erase()


def _enter(blocks: list[Block], before: Block, start: Operation) -> Block:
    """The block a channel starts at: where an entry without a descriptor leads, which is dropped, or the entry.

    What such an entry computes for the rest of the chain is computed before the channel starts.
    """
    entry = blocks[0]
    last = entry.last_op
    if not isinstance(last, NextBdOp) or any(op.name in ("aie.dma_bd", "aie.use_lock") for op in entry.ops):
        return entry
    first = last.successors[0]
    last.detach()
    last.erase()
    for op in list(entry.ops):
        op.detach()
        before.insert_op_before(op, start)
    del blocks[0]
    return first
