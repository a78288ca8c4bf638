"""Rules for `scf.for`, `scf.if` and `scf.index_switch`."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Block, Operation, Region, SSAValue

from aiecc.ir.fold.loops import body_of, is_inside, known_number, make_loop, trip_count, yielded
from aiecc.ir.fold.rewrite import Rule, Tidy
from aiecc.ir.fold.scalars import bits_of

# --- for --------------------------------------------------------------------------------------------------------------


def _short_loop(op: Operation, tidy: Tidy) -> bool:
    """A loop that never runs leaves its initial values; one that runs once is its body."""
    trips = trip_count(op)
    if trips not in (0, 1):
        return False
    low, _, _, *initial = op.operands
    values = initial if trips == 0 else tidy.inline(body_of(op), op, [low, *initial])
    tidy.replace(op, values)
    return True


def _idle_loop(op: Operation, tidy: Tidy) -> bool:
    """A loop that runs, does nothing and yields values from outside leaves those."""
    block = body_of(op)
    last = yielded(block)
    if block.first_op is not last or not trip_count(op):
        return False
    if any(is_inside(value, op) for value in last.operands):
        return False
    tidy.replace(op, list(last.operands))
    return True


def _constant_carried(op: Operation, tidy: Tidy) -> bool:
    """Carried values that never change are no longer carried, nor are those that nobody looks at."""
    initial = op.operands[3:]
    if not initial:
        return False
    block = body_of(op)
    last = yielded(block)
    kept: list[int] = []
    for i, (start, argument, end, result) in enumerate(
        zip(initial, block.args[1:], last.operands, op.results, strict=True)
    ):
        if end is argument or end is start:
            tidy.replace_value(argument, start)
            tidy.replace_value(result, start)
        elif argument.first_use is not None or result.first_use is not None:
            kept.append(i)
    if len(kept) == len(initial):
        return False
    _rebuild_loop(op, kept, tidy)
    return True


def _rebuild_loop(op: Operation, kept: list[int], tidy: Tidy) -> None:
    """The same loop with only some of its carried values; nobody uses the others."""
    block = body_of(op)
    last = yielded(block)
    ends = list(last.operands)
    dropped = [i for i in range(len(op.results)) if i not in kept]
    last.operands = [ends[i] for i in kept]
    tidy.push_all(owner for i in dropped if isinstance(owner := ends[i].owner, Operation))
    for i in reversed(dropped):
        block.erase_arg(block.args[i + 1])
    region = op.detach_region(op.regions[0])
    operands = [*op.operands[:3], *(op.operands[3 + i] for i in kept)]
    new = make_loop(op, operands, [op.results[i].type for i in kept], region)
    tidy.insert_before(op, new)
    tidy.push(last)
    _move_results(op, new, kept, tidy)


def _move_results(op: Operation, new: Operation, kept: list[int], tidy: Tidy) -> None:
    for at, i in enumerate(kept):
        new.results[at].name_hint = op.results[i].name_hint
        tidy.replace_value(op.results[i], new.results[at])
    tidy.erase(op)


# --- if ---------------------------------------------------------------------------------------------------------------


def _known_if(op: Operation, tidy: Tidy) -> bool:
    condition = known_number(op.operands[0])
    if condition is None:
        return False
    region = op.regions[0 if condition else 1]
    tidy.replace(op, tidy.inline(region.block, op, []) if region.blocks else [])
    return True


def _known_inside(op: Operation, tidy: Tidy) -> bool:
    """Inside a branch its condition is known."""
    condition = op.operands[0]
    changed = False
    for use in list(condition.uses):
        if use.operation is op:
            continue
        for region, value in zip(op.regions, (1, 0), strict=True):
            if _is_in_region(use.operation, region):
                use.operation.operands[use.index] = tidy.number(value, condition.type, op)
                tidy.push(use.operation)
                changed = True
    return changed


def _is_in_region(op: Operation, region: Region) -> bool:
    at: Operation | None = op
    while at is not None:
        if at.parent_region() is region:
            return True
        at = at.parent_op()
    return False


def _chosen_outside(op: Operation, tidy: Tidy) -> bool:
    """What both branches yield from outside is picked without branching."""
    if not op.results:
        return False
    yes, no = (yielded(body_of(op, i)).operands for i in (0, 1))
    changed = False
    for result, a, b in zip(op.results, yes, no, strict=True):
        if result.first_use is None or is_inside(a, op) or is_inside(b, op):
            continue
        if a is b:
            tidy.replace_value(result, a)
        else:
            select = tidy.insert_before(op, arith.SelectOp(op.operands[0], a, b))
            tidy.replace_value(result, select.results[0])
        changed = True
    return changed


def _unused_choice(op: Operation, tidy: Tidy) -> bool:
    """Results that nobody uses are not yielded."""
    kept = [i for i, result in enumerate(op.results) if result.first_use is not None]
    if len(kept) == len(op.results):
        return False
    regions = [op.detach_region(region) for region in list(op.regions)]
    for region in regions:
        if region.blocks:
            last = yielded(region.block)
            values = list(last.operands)
            last.operands = [values[i] for i in kept]
            tidy.push_all(owner for value in values if isinstance(owner := value.owner, Operation))
    new = type(op).create(
        operands=list(op.operands),
        result_types=[op.results[i].type for i in kept],
        regions=regions,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    tidy.insert_before(op, new)
    _move_results(op, new, kept, tidy)
    return True


def _same_as_condition(op: Operation, tidy: Tidy) -> bool:
    """A branch that yields true on one side and false on the other is its condition."""
    if not op.results:
        return False
    yes, no = (yielded(body_of(op, i)).operands for i in (0, 1))
    changed = False
    for result, a, b in zip(op.results, yes, no, strict=True):
        told = result.first_use is not None and bits_of(result.type) == 1
        if told and known_number(a) == -1 and known_number(b) == 0:
            tidy.replace_value(result, op.operands[0])
            changed = True
    return changed


def _empty_else(op: Operation, tidy: Tidy) -> bool:
    if op.results or not op.regions[1].blocks:
        return False
    block = op.regions[1].block
    if len(op.regions[1].blocks) != 1 or block.first_op is not yielded(block):
        return False
    tidy.erase(yielded(block))
    op.regions[1].erase_block(block)
    return True


# --- index_switch -----------------------------------------------------------------------------------------------------


def case_region(op: Operation, value: int) -> Region:
    """The region of a switch that a value selects: the default comes first in the op, then the cases."""
    cases = op.properties["cases"]
    assert isinstance(cases, DenseArrayBase)
    numbers = [int(number) for number in cases.iter_values()]
    return op.regions[1 + numbers.index(value)] if value in numbers else op.regions[0]


def _known_case(op: Operation, tidy: Tidy) -> bool:
    value = known_number(op.operands[0])
    if value is None:
        return False
    tidy.replace(op, tidy.inline(case_region(op, value).block, op, []))
    return True


def _equal_cases(op: Operation, tidy: Tidy) -> bool:
    """What every case yields from outside is that value."""
    ends: list[Block] = [region.block for region in op.regions]
    changed = False
    for i, result in enumerate(op.results):
        values: set[SSAValue] = {yielded(block).operands[i] for block in ends}
        if result.first_use is not None and len(values) == 1 and not is_inside(value := values.pop(), op):
            tidy.replace_value(result, value)
            changed = True
    return changed


# --- anything that ends with a yield ----------------------------------------------------------------------------------


def _ask_around(op: Operation, tidy: Tidy) -> bool:
    """A terminator that changed may let the operation around it change."""
    around = op.parent_op()
    if around is not None and around is not tidy.program:
        tidy.push(around)
    return False


RULES: dict[str, tuple[Rule, ...]] = {
    scf.ForOp.name: (_short_loop, _constant_carried, _idle_loop),
    scf.IfOp.name: (_known_if, _same_as_condition, _chosen_outside, _unused_choice, _known_inside, _empty_else),
    scf.IndexSwitchOp.name: (_known_case, _equal_cases, _unused_choice),
    scf.YieldOp.name: (_ask_around,),
    scf.ConditionOp.name: (_ask_around,),
}
