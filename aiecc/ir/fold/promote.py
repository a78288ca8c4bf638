"""Slots in memory become SSA values: what MLIR calls mem2reg, through structured control flow and blocks alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, MemRefType
from xdsl.dialects.memref import LoadOp, StoreOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aiecc.ir.dialects.constraints import I32
from aiecc.ir.fold.slots import STRUCTURED, Flow, Slot, Slots
from aiecc.ir.spans import copy_span


def promote(core: Operation, slots: Sequence[Operation]) -> list[Operation]:
    """Turn slots inside `core` into SSA values; gives back those that cannot be, which stay as they are.

    A slot is a `memref.alloca` of a rank-0 memref, of any element type. It can be promoted when it is only loaded and
    stored, when between it and those ops stand only `scf.for`, `while`, `if`, `index_switch` and `execute_region`,
    when blocks lead to each other by `cf` branches, and when on every way to a load it was stored before. Loops get
    iteration values, branches get results and blocks get arguments, at the end of those they have, in the order of
    `slots`, and only where the value both changes and is read later.

    Ops that get results are replaced by new ones: do not keep references to loops and branches across this. Blocks
    that nothing leads to are erased where slots are used among them. Time grows with the size of the code the slots
    are used in, times its nesting.
    """
    facts = Slots(core, slots)
    if facts.chosen:
        _Promotion(facts).run()
    return [slot for slot in slots if slot not in facts.chosen and slot.parent is not None]


_Values: TypeAlias = dict[Slot, SSAValue]


class _Promotion:
    """Goes forward through the program, knowing the value of every slot that is live."""

    def __init__(self, facts: Slots) -> None:
        self._facts = facts
        self._now: _Values = {}

    def run(self) -> None:
        for region in self._facts.core.regions:
            self._region(region, [])
        for slot in self._facts.chosen:
            slot.detach()
            slot.erase()

    def _kind(self, slot: Slot) -> Attribute:
        type = slot.results[0].type
        assert isinstance(type, MemRefType)
        return type.element_type

    def _block(self, block: Block) -> None:
        for op in list(block.ops):
            slot = self._facts.accessed(op)
            if slot is None:
                if op in self._facts.touched:
                    self._op(op)
            elif isinstance(op, LoadOp):
                op.res.replace_all_uses_with(self._now[slot])
                _erase(op)
            elif isinstance(op, StoreOp):
                self._now[slot] = op.value
                _erase(op)

    def _region(self, region: Region, out: Sequence[Slot]) -> None:
        """Rewrite a region; where it ends, it gives on the values of `out`."""
        if len(region.blocks) > 1:
            _Graph(self._facts.flow(region), self._facts, self._now, self._kind).rewrite(self._block, out)
        elif region.blocks:
            block = region.blocks[0]
            self._block(block)
            if out:
                _yield_more(block.last_op, [self._now[slot] for slot in out])

    def _op(self, op: Operation) -> None:
        if not isinstance(op, STRUCTURED):
            for region in op.regions:
                self._region(region, [])
            return
        changed = self._facts.ordered(self._facts.uses(op).touches)
        before = {slot: self._now[slot] for slot in changed if slot in self._now}
        if isinstance(op, ForOp):
            results = self._for(op, before)
        elif isinstance(op, WhileOp):
            results = self._while(op, before)
        else:
            results = self._arms(op, before)
        self._now.update(before)
        self._now.update(results)

    def _for(self, op: ForOp, before: _Values) -> _Values:
        uses = self._facts.uses(op)
        carried = self._facts.ordered((self._facts.after[op] | uses.reads) & uses.touches)
        self._enter(op.body.block, carried)
        self._region(op.body, carried)
        return self._widened(op, carried, [before[slot] for slot in carried])

    def _while(self, op: WhileOp, before: _Values) -> _Values:
        head, tail = (self._facts.ordered(live) for live in self._facts.round(op))
        self._enter(op.before_region.block, head)
        self._region(op.before_region, tail)
        self._enter(op.after_region.block, tail)
        self._region(op.after_region, head)
        return self._widened(op, tail, [before[slot] for slot in head])

    def _enter(self, block: Block, slots: Sequence[Slot]) -> None:
        for slot in slots:
            self._now[slot] = block.insert_arg(self._kind(slot), len(block.args))

    def _arms(self, op: Operation, before: _Values) -> _Values:
        """Branches and regions that run once."""
        results = self._facts.ordered(self._facts.after[op])
        for region in op.regions:
            if results and not region.blocks and isinstance(op, IfOp):
                region.add_block(Block([last := YieldOp()]))
                copy_span(op, last)
            self._region(region, results)
            self._now.update(before)
        return self._widened(op, results, [])

    def _widened(self, op: Operation, results: Sequence[Slot], operands: Sequence[SSAValue]) -> _Values:
        """Give an op more operands, and a result for each slot: a new op in its place."""
        if not results:
            op.operands = [*op.operands, *operands]
            return {}
        new = type(op).create(
            operands=[*op.operands, *operands],
            result_types=[*op.result_types, *map(self._kind, results)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        copy_span(op, new)
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        _erase(op)
        return dict(zip(results, new.results[len(new.results) - len(results) :], strict=True))


class _Graph:
    """A region of several blocks. Where different values meet, a block gets an argument."""

    def __init__(self, flow: Flow, facts: Slots, now: _Values, kind: Callable[[Slot], Attribute]) -> None:
        self._flow = flow
        self._facts = facts
        self._now = now
        self._kind = kind
        touched = set[Slot]().union(*(facts.uses(block).touches for block in flow.order))
        self._slots = facts.ordered(touched)
        self._arguments: dict[Block, _Values] = {block: {} for block in flow.order}

    def _meeting(self, slot: Slot) -> list[Block]:
        """The blocks where different values of a slot arrive and one is read: the frontiers of its stores, repeated."""
        waiting = [block for block in self._flow.order if slot in self._facts.uses(block).touches]
        found: dict[Block, None] = {}
        while waiting:
            for block in self._flow.frontiers[waiting.pop()]:
                if block not in found and slot in self._facts.live_in[block]:
                    found[block] = None
                    waiting.append(block)
        return list(found)

    def rewrite(self, rewrite: Callable[[Block], None], out: Sequence[Slot]) -> None:
        """Rewrite the blocks; where the region ends, it gives on the values of `out`."""
        flow = self._flow
        outside = {slot: self._now[slot] for slot in self._slots if slot in self._now}
        for slot in self._slots:
            for block in self._meeting(slot):
                self._arguments[block][slot] = block.insert_arg(self._kind(slot), len(block.args))
        ends: dict[Block, _Values] = {}
        for block in flow.order:
            above = flow.parents[block]
            start = dict(outside if above is None else ends[above])
            start.update(self._arguments[block])
            self._now.update(start)
            rewrite(block)
            ends[block] = {slot: self._now[slot] for slot in self._slots if slot in self._now}
        for block in flow.order:
            targets = flow.targets[block]
            if targets:
                _branch_more(block.last_op, [[ends[block][slot] for slot in self._arguments[t]] for t in targets])
            elif out:
                _yield_more(block.last_op, [ends[block][slot] for slot in out])
        self._now.update(outside)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _yield_more(last: Operation | None, values: Sequence[SSAValue]) -> None:
    assert last is not None
    last.operands = [*last.operands, *values]


def _branch_more(op: Operation | None, values: Sequence[Sequence[SSAValue]]) -> None:
    """Give a branch more operands: for each successor, at the end of those it has."""
    if op is None or not any(values):
        return
    if isinstance(op, cf.BranchOp):
        op.operands = [*op.operands, *values[0]]
    elif isinstance(op, cf.ConditionalBranchOp):
        first = [*op.then_arguments, *values[0]]
        second = [*op.else_arguments, *values[1]]
        op.operands = [op.cond, *first, *second]
        op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, [1, len(first), len(second)])
    else:
        assert isinstance(op, cf.SwitchOp)
        default = [*op.default_operands, *values[0]]
        sizes = [int(n) for n in op.case_operand_segments.get_values()]
        given = iter(list(op.case_operands))
        cases = [[*(next(given) for _ in range(n)), *more] for n, more in zip(sizes, values[1:], strict=True)]
        everything = [value for case in cases for value in case]
        op.operands = [op.flag, *default, *everything]
        op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, [1, len(default), len(everything)])
        op.properties["case_operand_segments"] = DenseArrayBase.from_list(I32, [len(case) for case in cases])
