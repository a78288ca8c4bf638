"""Canonical forms by one worklist: every operation is looked at once, and again only when something around it changed.

`Tidy(core, RULES).run()` folds constants, simplifies loops and branches and removes what has no effect, all inside one
program. The rules are in `scalars`, `algebra`, `structured`, `whiles` and `branches`; this is what they work with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from aiecc.ir.fold import scalars
from aiecc.ir.fold.effects import is_stored_only, is_unused
from aiecc.ir.fold.loops import known_number
from aiecc.ir.passes.constants import gather_constants
from aiecc.ir.spans import copy_span

Rule = Callable[[Operation, "Tidy"], bool]


class Tidy:
    """A program being simplified.

    program: the op whose first region it is.
    rules: by the name of the op they are for; see `rules.py`.
    home: the region whose head holds the program's constants: the body of a core.
    """

    def __init__(self, program: Operation, rules: Mapping[str, Sequence[Rule]]) -> None:
        self.program = program
        self.home: Region = program.regions[0]
        self.rules = rules
        self._constants: dict[Attribute, Operation] = {}
        self._pending: list[Operation] = []
        self._waiting: set[Operation] = set()
        self._gone: set[Operation] = set()
        self.changed = False

    def run(self) -> bool:
        """Simplify until no rule applies. Says whether anything changed."""
        if not self.home.blocks:
            return False
        self.changed = gather_constants(self.program)
        self._constants = head_constants(self.home)
        self.push_all(reversed([op for op in self.program.walk() if op is not self.program]))
        while self._pending:
            op = self._pending.pop()
            self._waiting.discard(op)
            if op not in self._gone:
                self._visit(op)
        return self.changed

    def _visit(self, op: Operation) -> None:
        if is_unused(op):
            self.erase(op)
            return
        if is_stored_only(op):
            for use in list(op.results[0].uses):
                self.erase(use.operation)
            self.erase(op)
            return
        if len(op.results) == 1 and op.name.startswith("arith.") and op.name != "arith.constant":
            found = scalars.fold(op, [known_number(value) for value in op.operands])
            if found is not None:
                result = op.results[0]
                self.replace(op, [found if isinstance(found, SSAValue) else self.number(found, result.type, op)])
                return
        for rule in self.rules.get(op.name, ()):
            if rule(op, self):
                self.changed = True
                if op not in self._gone:
                    self.push(op)
                return

    # --- what rules ask for -------------------------------------------------------------------------------------------

    def number(self, value: int, kind: Attribute, cause: Operation) -> SSAValue:
        """A constant at the head of the program. `cause` lends its position to a new one."""
        return self.constant(scalars.number_attr(value, kind), cause)

    def constant(self, attr: IntegerAttr, cause: Operation) -> SSAValue:
        """The same for a number and its type in one."""
        found = self._constants.get(attr)
        if found is None or found in self._gone:
            found = ConstantOp(attr)
            copy_span(cause, found)
            insert_first(self.home.blocks[0], found)
            self._constants[attr] = found
            self.push(found)
        return found.results[0]

    def renew_constants(self) -> None:
        """Turn the order of the constants at the program's head around."""
        block = self.home.blocks[0]
        for op in list(block.ops):
            if op.name != "arith.constant":
                break
            op.detach()
            insert_first(block, op)

    def push(self, op: Operation) -> None:
        """Look at an operation (again)."""
        if op not in self._waiting:
            self._waiting.add(op)
            self._pending.append(op)

    def push_all(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            self.push(op)

    def push_users(self, value: SSAValue) -> None:
        """Look again at whoever uses a value."""
        self.push_all(use.operation for use in value.uses)

    def replace_value(self, old: SSAValue, new: SSAValue) -> None:
        """Use one value for another, everywhere."""
        if old is not new:
            self.changed = True
            self.push_users(old)
            old.replace_all_uses_with(new)
            if isinstance(new.owner, Operation):
                self.push(new.owner)

    def replace(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Use values for the results of an operation, and remove it."""
        for old, new in zip(op.results, values, strict=True):
            self.replace_value(old, new)
        self.erase(op)

    def insert_before(self, at: Operation, new: Operation) -> Operation:
        """Put a new operation before another, at its position in the source."""
        assert at.parent is not None
        if new.location != at.location:
            copy_span(at, new)
        at.parent.insert_op_before(new, at)
        self.push(new)
        return new

    def erase(self, op: Operation) -> None:
        """Remove an operation that nobody uses, with everything inside."""
        self.changed = True
        around = op.parent_op()
        for inner in op.walk():
            self._gone.add(inner)
            for value in inner.operands:
                if isinstance(value.owner, Operation):
                    self.push(value.owner)
                else:
                    self._push_owner(value.owner)
        op.detach()
        op.erase(safe_erase=False)
        if around is not None and around is not self.program:
            self.push(around)

    def _push_owner(self, block: Block) -> None:
        """An argument lost a use: the loop or branch that feeds it may drop it."""
        around = block.parent_op()
        if around is not None and around is not self.program:
            self.push(around)

    def inline(self, block: Block, before: Operation, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        """Move what a block holds before an operation, values for its arguments. The terminator goes; its operands."""
        for argument, value in zip(block.args, arguments, strict=True):
            self.replace_value(argument, value)
        last = block.last_op
        assert last is not None
        values = list(last.operands)
        self.erase(last)
        target = before.parent
        assert target is not None
        for op in list(block.ops):
            op.detach()
            target.insert_op_before(op, before)
            self.push(op)
        return values


def head_constants(home: Region) -> dict[Attribute, Operation]:
    """The constants at the head of a region's first block, by what they hold."""
    found: dict[Attribute, Operation] = {}
    for op in home.blocks[0].ops:
        value = op.properties.get("value")
        if op.name == "arith.constant" and isinstance(value, IntegerAttr):
            found.setdefault(value, op)
    return found


def insert_first(block: Block, op: Operation) -> None:
    """Put an operation at the head of a block."""
    first = block.first_op
    if first is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, first)
