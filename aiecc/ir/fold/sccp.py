"""Which values are the same whenever they are computed: sparse conditional constants, through loops and branches.

A value is *nothing yet*, *one thing* (a number, or a value that exists once for the whole run: one from outside the
program, or from the first block of it) or *anything*. Everything starts as nothing and only rises, and branches that
are never taken contribute nothing; so a count that a loop carries around and brings back to what it was is found to
be constant, which looking at one operation at a time cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from aiecc.ir.fold import scalars
from aiecc.ir.fold.branches import successors
from aiecc.ir.fold.loops import body_of, trip_count, yielded
from aiecc.ir.fold.rewrite import Tidy
from aiecc.ir.fold.structured import case_region


class _Anything:
    def __repr__(self) -> str:
        return "anything"


ANYTHING: Final = _Anything()
Thing = IntegerAttr | SSAValue | _Anything | None
"""None is nothing yet."""


def find_constants(program: Operation) -> dict[SSAValue, IntegerAttr | SSAValue]:
    """The values inside a program that are always one thing, and that thing; in program order.

    A thing that is a value is available wherever the other one is.
    """
    search = _Search(program)
    search.run()
    found: dict[SSAValue, IntegerAttr | SSAValue] = {}
    for value, thing in search.things.items():
        if thing is not None and not isinstance(thing, _Anything) and thing is not value:
            found[value] = thing
    return found


def replace_constants(work: Tidy, things: Mapping[SSAValue, IntegerAttr | SSAValue]) -> bool:
    """Use the things for the values. Says whether anything but the order of constants changed.

    The constants at the program's head are made anew, each before the last: MLIR's pass does so, and readers who
    compare with its output look for that order.
    """
    replaced = False
    pending = list(reversed(work.home.blocks))
    work.renew_constants()
    while pending:
        block = pending.pop()
        for op in list(block.ops):
            for value in op.results:
                replaced |= _replace(work, value, things.get(value), op)
            for region in op.regions:
                pending.extend(reversed(region.blocks))
        around = block.parent_op()
        for value in block.args:
            replaced |= _replace(work, value, things.get(value), around or work.program)
    return replaced


def _replace(work: Tidy, value: SSAValue, thing: IntegerAttr | SSAValue | None, cause: Operation) -> bool:
    if thing is None or value.first_use is None or cause.name == "arith.constant":
        return False
    work.replace_value(value, work.constant(thing, cause) if isinstance(thing, IntegerAttr) else thing)
    return True


class _Search:
    def __init__(self, program: Operation) -> None:
        self.program = program
        self.home: Region = program.regions[0]
        self.things: dict[SSAValue, Thing] = {}
        self.live: set[Block] = set()
        self.pending: list[Operation] = []
        self.waiting: set[Operation] = set()

    def run(self) -> None:
        first = self.home.blocks.first
        if first is None:
            return
        self._enter(first)
        while self.pending:
            op = self.pending.pop()
            self.waiting.discard(op)
            if op.parent in self.live:
                self._visit(op)

    # --- the state ----------------------------------------------------------------------------------------------------

    def thing(self, value: SSAValue) -> Thing:
        found = self.things.get(value)
        if found is None and self._is_outside(value):
            found = self.things[value] = value
        return found

    def _is_outside(self, value: SSAValue) -> bool:
        """Whether a value exists before the program starts: then it was never visited and stands for itself."""
        own = block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        while block is not None:
            if block.parent is self.home:
                return isinstance(value, BlockArgument) and own is self.home.blocks.first
            around = block.parent_op()
            block = None if around is None else around.parent
        return True

    def _rise(self, value: SSAValue, thing: Thing) -> None:
        """Join what is known of a value with what was just learnt."""
        if thing is None:
            return
        old = self.things.get(value)
        if old is None:
            self.things[value] = thing
        elif old is ANYTHING or _same(old, thing):
            return
        else:
            self.things[value] = ANYTHING
        for use in value.uses:
            self._push(use.operation)

    def _push(self, op: Operation) -> None:
        if op not in self.waiting:
            self.waiting.add(op)
            self.pending.append(op)

    def _enter(self, block: Block) -> None:
        """A block is reached."""
        if block not in self.live:
            self.live.add(block)
            for op in reversed(list(block.ops)):
                self._push(op)

    def _anything(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self._rise(value, ANYTHING)

    def _feed(self, targets: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        for target, source in zip(targets, sources, strict=True):
            self._rise(target, self.thing(source))

    def _number(self, value: SSAValue) -> int | None:
        thing = self.thing(value)
        return scalars.attr_number(thing) if isinstance(thing, IntegerAttr) else None

    # --- operations ---------------------------------------------------------------------------------------------------

    def _visit(self, op: Operation) -> None:
        rule = _RULES.get(op.name)
        if rule is not None:
            rule(self, op)
        elif op.successors:
            for block, values in successors(op):
                self._go(block, values)
            for block in op.successors:
                if block not in self.live:  # not a branch of cf
                    self._anything(block.args)
                    self._enter(block)
        elif op.regions:
            self._anything(op.results)
            for region in op.regions:
                for block in region.blocks:
                    self._anything(block.args)
                    self._enter(block)
        elif op.name == "arith.constant" and isinstance(value := op.properties.get("value"), IntegerAttr):
            self._rise(op.results[0], value)
        else:
            self._compute(op)

    def _compute(self, op: Operation) -> None:
        if len(op.results) == 1 and op.name.startswith("arith."):
            things = [self.thing(value) for value in op.operands]
            if any(thing is None for thing in things):
                return
            found = scalars.fold(op, [self._number(value) for value in op.operands])
            result = op.results[0]
            if isinstance(found, int):
                self._rise(result, scalars.number_attr(found, result.type))
                return
            if found is not None:
                self._rise(result, self.thing(found))
                return
        for result in op.results:
            # Made once, before anything inside later operations or blocks runs.
            self._rise(result, result if op.parent is self.home.blocks.first else ANYTHING)

    def _go(self, block: Block, values: Sequence[SSAValue]) -> None:
        self._feed(block.args, values)
        self._enter(block)

    def take_branch(self, op: Operation) -> None:
        ways = list(successors(op))
        if self.thing(op.operands[0]) is None:
            return
        condition = self._number(op.operands[0])
        for block, values in ways if condition is None else [ways[0 if condition else 1]]:
            self._go(block, values)

    def take_all(self, op: Operation) -> None:
        for block, values in successors(op):
            self._go(block, values)

    def loop(self, op: Operation) -> None:
        if any(self.thing(value) is None for value in op.operands[:3]):
            return
        trips = trip_count(op, self._number)
        initial, block = op.operands[3:], body_of(op)
        if trips == 0 or trips is None:
            self._feed(op.results, initial)
        if trips == 0:
            return
        self._rise(block.args[0], self.thing(op.operands[0]) if trips == 1 else ANYTHING)
        self._feed(block.args[1:], initial)
        self._enter(block)
        # What it yields goes around as soon as there is a second round.
        self._push(yielded(block))

    def choose(self, op: Operation) -> None:
        if self.thing(op.operands[0]) is None:
            return
        condition = self._number(op.operands[0])
        for taken, region in zip((1, 0), op.regions, strict=True):
            if (condition is None or bool(condition) == bool(taken)) and region.blocks:
                self._enter(region.block)

    def choose_case(self, op: Operation) -> None:
        if self.thing(op.operands[0]) is None:
            return
        value = self._number(op.operands[0])
        for region in op.regions if value is None else [case_region(op, value)]:
            self._enter(region.block)

    def start_while(self, op: Operation) -> None:
        before = body_of(op)
        self._feed(before.args, op.operands)
        self._enter(before)

    def go_again(self, op: Operation) -> None:
        around = op.parent_op()
        if around is None or self.thing(op.operands[0]) is None:
            return
        again = self._number(op.operands[0])
        if again is None or again:
            after = body_of(around, 1)
            self._feed(after.args, op.operands[1:])
            self._enter(after)
        if not again:
            self._feed(around.results, op.operands[1:])

    def hand_over(self, op: Operation) -> None:
        around = op.parent_op()
        if around is None:
            return
        if isinstance(around, scf.ForOp):
            trips = trip_count(around, self._number)
            if trips != 1:
                self._feed(body_of(around).args[1:], op.operands)
            self._feed(around.results, op.operands)
        elif isinstance(around, scf.WhileOp):
            self._feed(body_of(around).args, op.operands)
        elif isinstance(around, scf.IfOp | scf.IndexSwitchOp):
            self._feed(around.results, op.operands)


def _same(a: Thing, b: Thing) -> bool:
    return a is b or (isinstance(a, IntegerAttr) and isinstance(b, Attribute) and a == b)


_RULES: dict[str, Callable[[_Search, Operation], None]] = {
    "cf.br": _Search.take_all,
    "cf.cond_br": _Search.take_branch,
    "cf.switch": _Search.take_all,
    "scf.for": _Search.loop,
    "scf.if": _Search.choose,
    "scf.index_switch": _Search.choose_case,
    "scf.while": _Search.start_while,
    "scf.condition": _Search.go_again,
    "scf.yield": _Search.hand_over,
}
