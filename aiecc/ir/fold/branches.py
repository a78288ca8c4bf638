"""Rules for blocks that branch: conditions that are known, blocks nobody reaches, blocks with one way in."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import cf
from xdsl.ir import Block, Operation, Region, SSAValue

from aiecc.ir.fold.loops import known_number
from aiecc.ir.fold.rewrite import Rule, Tidy


def successors(op: Operation) -> Iterator[tuple[Block, list[SSAValue]]]:
    """Where a branch of `cf` may go, and with which arguments. Empty for other operations."""
    if isinstance(op, cf.BranchOp):
        yield op.successor, list(op.arguments)
    elif isinstance(op, cf.ConditionalBranchOp):
        yield op.then_block, list(op.then_arguments)
        yield op.else_block, list(op.else_arguments)
    elif isinstance(op, cf.SwitchOp):
        yield op.default_block, list(op.default_operands)
        for block, values in zip(op.case_blocks, op.case_operand, strict=True):
            yield block, list(values)


def _decide(op: Operation, tidy: Tidy) -> bool:
    """A branch whose way is known, or whose two ways are one, is a plain one."""
    assert isinstance(op, cf.ConditionalBranchOp)
    (yes, yes_values), (no, no_values) = successors(op)
    condition = known_number(op.cond)
    if condition is None:
        if yes is not no or any(a is not b for a, b in zip(yes_values, no_values, strict=True)):
            return False
        condition = 1
    new = cf.BranchOp(yes if condition else no, *(yes_values if condition else no_values))
    region = op.parent_region()
    tidy.insert_before(op, new)
    tidy.erase(op)
    assert region is not None
    _drop_unreached(region, tidy)
    return True


def _drop_unreached(region: Region, tidy: Tidy) -> None:
    first = region.blocks.first
    if first is None:
        return
    reached, pending = {first}, [first]
    while pending:
        last = pending.pop().last_op
        for block in last.successors if last is not None else ():
            if block not in reached:
                reached.add(block)
                pending.append(block)
    for block in [block for block in region.blocks if block not in reached]:
        for op in list(block.ops):
            # Whoever uses its results is not reached either.
            tidy.erase(op)
        region.detach_block(block)
    for block in region.blocks:
        if block.last_op is not None:
            tidy.push(block.last_op)


def _join(op: Operation, tidy: Tidy) -> bool:
    """A block with one way in, a plain branch, is the end of the block it is reached from."""
    assert isinstance(op, cf.BranchOp)
    block, here, region = op.successor, op.parent, op.parent_region()
    if here is None or region is None or block is here or block is region.blocks.first:
        return False
    if sum(1 for _ in block.uses) != 1:
        return False
    for argument, value in zip(list(block.args), list(op.arguments), strict=True):
        tidy.replace_value(argument, value)
    tidy.erase(op)
    for inner in list(block.ops):
        inner.detach()
        here.add_op(inner)
        tidy.push(inner)
    region.detach_block(block)
    return True


def _always_the_same(op: Operation, tidy: Tidy) -> bool:
    """A block's argument that is one value whichever way it is reached, is that value."""
    changed = False
    for block in dict.fromkeys(block for block, _ in successors(op)):
        if block.parent is None or block is block.parent.blocks.first or not block.args:
            continue
        ways = [use.operation for use in block.uses]
        given = [values for way in dict.fromkeys(ways) for to, values in successors(way) if to is block]
        if len(given) != len(ways):
            continue
        for i, argument in enumerate(block.args):
            values = {row[i] for row in given} - {argument}
            if argument.first_use is not None and len(values) == 1 and _dominates(value := values.pop(), block):
                tidy.replace_value(argument, value)
                changed = True
    return changed


def _dominates(value: SSAValue, block: Block) -> bool:
    """Whether a value is made before any branch of the region: outside it, or in its first block."""
    owner = value.owner
    home = owner if isinstance(owner, Block) else owner.parent
    region = block.parent
    return home is not None and region is not None and (home.parent is not region or home is region.blocks.first)


RULES: dict[str, tuple[Rule, ...]] = {
    cf.BranchOp.name: (_join, _always_the_same),
    cf.ConditionalBranchOp.name: (_decide, _always_the_same),
    cf.SwitchOp.name: (_always_the_same,),
}
