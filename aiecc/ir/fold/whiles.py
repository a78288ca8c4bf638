"""Rules for `scf.while`: what never changes is not carried, and what nobody uses is not handed on."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from aiecc.ir.fold.loops import body_of, is_inside, known_number, yielded
from aiecc.ir.fold.rewrite import Rule, Tidy


def _never(op: Operation, tidy: Tidy) -> bool:
    """A condition that is false from the start: its operations run once."""
    before = body_of(op)
    if known_number(yielded(before).operands[0]) != 0:
        return False
    values = tidy.inline(before, op, list(op.operands))
    tidy.replace(op, values[1:])
    return True


def _unchanging(op: Operation, tidy: Tidy) -> bool:
    """Values that are the same in every round, on either side of the condition."""
    before, after = body_of(op, 0), body_of(op, 1)
    condition, again = yielded(before), yielded(after)
    changed = False
    for argument, start, end in zip(before.args, op.operands, again.operands, strict=True):
        if argument.first_use is not None and (end is start or _handed_on(end, argument, after, condition)):
            tidy.replace_value(argument, start)
            changed = True
    for argument, result, value in zip(after.args, op.results, condition.operands[1:], strict=True):
        if not is_inside(value, op):
            for old in (argument, result):
                if old.first_use is not None:
                    tidy.replace_value(old, value)
                    changed = True
    return changed


def _handed_on(end: SSAValue, argument: SSAValue, after: Block, condition: Operation) -> bool:
    """Whether the value for the next round is the one of this round, unchanged."""
    where = [i for i, given in enumerate(after.args) if given is end]
    return bool(where) and condition.operands[1 + where[0]] is argument


def _unused(op: Operation, tidy: Tidy) -> bool:
    """Drop arguments of the first region, and results, that nobody uses."""
    before, after = body_of(op, 0), body_of(op, 1)
    ins = [i for i, argument in enumerate(before.args) if argument.first_use is not None]
    outs = [
        i
        for i, (argument, result) in enumerate(zip(after.args, op.results, strict=True))
        if argument.first_use is not None or result.first_use is not None
    ]
    if len(ins) == len(before.args) and len(outs) == len(op.results):
        return False
    condition, again = yielded(before), yielded(after)
    for last, kept, first in ((condition, outs, 1), (again, ins, 0)):
        values = list(last.operands)
        last.operands = [*values[:first], *(values[first + i] for i in kept)]
        tidy.push_all(owner for value in values if isinstance(owner := value.owner, Operation))
    for block, kept in ((before, ins), (after, outs)):
        for i in reversed(range(len(block.args))):
            if i not in kept:
                block.erase_arg(block.args[i])
    new = scf.WhileOp.create(
        operands=[op.operands[i] for i in ins],
        result_types=[op.results[i].type for i in outs],
        regions=[op.detach_region(region) for region in list(op.regions)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    tidy.insert_before(op, new)
    for at, i in enumerate(outs):
        new.results[at].name_hint = op.results[i].name_hint
        tidy.replace_value(op.results[i], new.results[at])
    tidy.erase(op)
    return True


RULES: dict[str, tuple[Rule, ...]] = {scf.WhileOp.name: (_never, _unchanging, _unused)}
