"""What makes a chain, or a use of one, wrong."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.chains import DmaStartTaskOp
from aiecc.ir.dialects.aie.named import find_named
from aiecc.ir.dialects.aie.runtime import BdChainOp
from aiecc.ir.dialects.aie.tiles import device_of, tile_like
from aiecc.ir.dialects.base import DialectOp, show
from aiecc.ir.errors import VerifyError


def descriptors(region: Region) -> Iterator[DmaBdOp]:
    """The descriptors of a task or chain, in textual order."""
    return (op for block in region.blocks for op in block.ops if isinstance(op, DmaBdOp))


def successors(block: Block) -> tuple[Block, ...]:
    return tuple(block.last_op.successors) if block.last_op is not None else ()


def verify_chain(region: Region) -> None:
    """Every block but the first is reached from another one."""
    entry = region.blocks.first
    reached = {id(after) for block in region.blocks for after in successors(block)}
    for block in region.blocks:
        if block is entry or block.last_op is None or id(block) in reached:
            continue
        text = "Block ending in this terminator does not form a chain with entry block."
        raise VerifyError(text, block.last_op, bare=True)


def find_chain(op: Operation, name: str) -> BdChainOp | None:
    """The chain of a name in the device around an op."""
    return find_named(op, name, BdChainOp)


def verify_arguments(op: DialectOp, name: str, count: int) -> None:
    """There is a chain of that name, and it takes the first `count` operands of an op."""
    chain = find_chain(op, name)
    if chain is None:
        raise op.error("symbol does not reference valid BD chain")
    entry = chain.body.blocks.first
    wanted = list(entry.args) if entry is not None else []
    if count != len(wanted):
        raise op.error("Number of arguments mismatches.")
    for i, (given, parameter) in enumerate(zip(op.operands[:count], wanted, strict=True), 1):
        if given.type != parameter.type:
            raise op.error(
                f"Argument {i} types mismatch: expected '{show(parameter.type)}' but got '{show(given.type)}'"
            )


def verify_start_task(op: DmaStartTaskOp) -> None:
    """The chain exists and takes these arguments, and a channel may be started here."""
    verify_arguments(op, op.symbol, len(op.operands))
    if "issue_token" in op.attributes:
        raise op.error("issue_token is for sequences: nothing waits for the tokens of a tile's own program")
    block, device = op.parent, device_of(op)
    if block is not None and any(isinstance(other, DmaBdOp) for other in block.ops):
        raise op.error("stands in a descriptor's block; channels are started before the first descriptor or after all")
    program = op.parent_op()
    tile = tile_like(program.operands[0]) if program is not None and program.operands else None
    if device is None or tile is None or tile.kind is None:
        return
    dma = device.target.dma(tile.kind)
    if dma is not None and not op.channel < dma.channels:
        raise op.error(f"channel {op.channel} out of range: the tile has {dma.channels} of each direction")
