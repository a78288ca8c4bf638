"""Checks a module as MLIR checks one: the same rules, in the same order, in the same words.

An op is verified before the ops inside it; then its blocks; then the ops inside that are isolated; then what it
requires of all of them together (symbols, isolation); dominance comes last. An op that fails is not looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, VarIRConstruct, verify_variadic_size
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.ir.dialects.upstream.rules import RULES, SYMBOL_USERS, symbol_name
from aiecc.ir.dominance import Dominance
from aiecc.ir.errors import VerifyError
from aiecc.ir.memo import unchanging
from aiecc.ir.raw import RawOp
from aiecc.ir.registry import upstream_dialect
from aiecc.ir.spans import CALLED_FROM, callers, span_of

CODE = "E0101"

# Ops whose region has no order: values may be used above their definition.
GRAPH_REGIONS = frozenset({"builtin.module"})


def verify(op: Operation, *, first_only: bool = False, closed: Collection[str] = ()) -> list[Diagnostic]:
    """The errors of an op and of everything inside, each at its own op; empty when all is well.

    first_only: stop where `mlir-opt` stops, at the first error of each isolated op; otherwise sisters of an op that
    failed are verified as well. closed: names of ops that are verified, but not looked into.
    """
    run = _Run(first_only, closed)
    with unchanging():
        run.op_and_dominance(op)
    return run.found


class _Stop(Exception):
    """An error was found and no more are wanted from here."""


class _Run:
    def __init__(self, first_only: bool, closed: Collection[str]) -> None:
        self.first_only = first_only
        self.closed = closed
        self.found: list[Diagnostic] = []

    # --- errors -------------------------------------------------------------------------------------------------------

    def fail(self, error: VerifyException, op: Operation) -> None:
        self.found.append(diagnostic(error, op))
        if self.first_only:
            raise _Stop

    def check(self, op: Operation, rule: Callable[[Operation], None]) -> bool:
        try:
            rule(op)
        except VerifyException as error:
            self.fail(error, op)
            return False
        return True

    # --- the order ----------------------------------------------------------------------------------------------------

    def op_and_dominance(self, op: Operation) -> bool:
        before = len(self.found)
        try:
            self.operation(op)
            if len(self.found) == before and op.regions:
                self.dominance(op)
        except _Stop:
            pass
        return len(self.found) == before

    def operation(self, op: Operation) -> None:
        before = len(self.found)
        if not self.check(op, _own_rules) or op.name in self.closed:
            return
        for region in op.regions:
            for block in region.blocks:
                self.block(block)
        isolated = [
            inner for region in op.regions for block in region.blocks for inner in block.ops if _is_isolated(inner)
        ]
        well = [self.op_and_dominance(inner) for inner in isolated]
        if self.first_only and not all(well):
            raise _Stop
        if len(self.found) == before:
            self.check(op, _inside_rules)

    def block(self, block: Block) -> None:
        if not self._entry(block):
            return
        for inner in block.ops:
            if not _is_isolated(inner):
                self.operation(inner)
        last = block.last_op
        if last is not None and not _may_end_anyhow(block) and not last.has_trait(IsTerminator):
            from aiecc.ir.text import print_module

            self.fail(VerifyError(f"block with no terminator, has {print_module(last, generic=True)}", bare=True), last)

    def _entry(self, block: Block) -> bool:
        parent = block.parent_op()
        if block.last_op is None:
            if _may_end_anyhow(block) or parent is None:
                return True
            self.fail(VerifyError("empty block: expect at least a terminator", bare=True), parent)
            return False
        for inner in block.ops:
            if inner.successors and inner is not block.last_op:
                text = "operation with block successors must terminate its parent block"
                self.fail(VerifyError(text, bare=True), inner)
                return False
            if inner is not block.last_op and inner.has_trait(IsTerminator, value_if_unregistered=False):
                self.fail(VerifyError("must be the last operation in the parent block"), inner)
                return False
        return True

    # --- dominance ----------------------------------------------------------------------------------------------------

    def dominance(self, op: Operation) -> None:
        info = Dominance(op)
        for region in op.regions:
            self._region_dominance(region, info)

    def _region_dominance(self, region: Region, info: Dominance) -> None:
        parent = region.parent
        ordered = parent is None or parent.name not in GRAPH_REGIONS
        for block in region.blocks:
            for inner in block.ops:
                if ordered and info.reachable(block):
                    for i, value in enumerate(inner.operands):
                        if not info.dominates(value, inner):
                            self.fail(_dominance_error(inner, i, value), inner)
                            break
                if inner.regions and not _is_isolated(inner) and inner.name not in self.closed:
                    for nested in inner.regions:
                        self._region_dominance(nested, info)


def diagnostic(error: VerifyException, op: Operation) -> Diagnostic:
    """A verifier's exception as the user sees it."""
    where: Operation = op
    text = str(error)
    notes: tuple[tuple[str, Operation | None], ...] = ()
    bare = False
    if isinstance(error, VerifyError):
        where = error.op or op
        text, notes, bare = error.text, error.notes, error.bare
    name = where.op_name.data if isinstance(where, UnregisteredOp) else where.name
    prefix = "" if bare else f"'{name}' op "
    shown = tuple(Note(note, None if at is None else span_of(at)) for note, at in notes)
    shown += tuple(Note(CALLED_FROM, at) for at in callers(where))
    return Diagnostic(Level.ERROR, prefix + text, span_of(where), CODE, shown)


# --- rules ------------------------------------------------------------------------------------------------------------


def _own_rules(op: Operation) -> None:
    """What the op requires of itself."""
    if isinstance(op, RawOp | UnregisteredOp):
        return
    if not upstream_dialect(op.name.partition(".")[0]):
        op.verify_()
        return
    _counts(op)
    rule = RULES.get(op.name)
    if rule is not None and op.name not in SYMBOL_USERS:
        rule(op)


def _counts(op: Operation) -> None:
    """As many operands, results, regions and successors as the op must have. Only the generic form can get it wrong."""
    if not isinstance(op, IRDLOperation):
        return
    definition = op.get_irdl_definition()
    for construct in VarIRConstruct:
        try:
            verify_variadic_size(op, definition, construct)
        except VerifyException as error:
            raise VerifyError(_lower(str(error))) from None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _inside_rules(op: Operation) -> None:
    """What the op requires of the ops inside it, taken together."""
    for trait in op.traits:
        check: Any = getattr(trait, "verify_inside", None)
        if check is not None:
            check(op)
        elif isinstance(trait, SymbolTable):
            _one_of_a_name(op)
        elif isinstance(trait, IsolatedFromAbove):
            _isolation(op)
    if op.has_trait(SymbolTable, value_if_unregistered=False):
        _symbol_users(op)


def _symbol_users(op: Operation) -> None:
    """The symbols used below this table and above the next one."""
    pending = list(reversed(op.regions))
    while pending:
        for block in pending.pop().blocks:
            for inner in block.ops:
                if inner.name in SYMBOL_USERS:
                    try:
                        RULES[inner.name](inner)
                    except VerifyError as error:
                        raise VerifyError(error.text, error.op or inner, error.notes, error.bare) from None
                if not inner.has_trait(SymbolTable, value_if_unregistered=False):
                    pending.extend(reversed(inner.regions))


def _one_of_a_name(op: Operation) -> None:
    met: dict[str, Operation] = {}
    for block in op.regions[0].blocks:
        for inner in block.ops:
            name = symbol_name(inner)
            if name is not None and met.setdefault(name, inner) is not inner:
                notes = [("see existing symbol definition here", met[name])]
                raise VerifyError(f"redefinition of symbol named '{name}'", inner, notes, bare=True)


def _isolation(op: Operation) -> None:
    """Every value that is used inside is defined inside."""
    pending = list(reversed(op.regions))
    inside: set[Region] = set(pending)
    while pending:
        for block in pending.pop().blocks:
            for inner in block.ops:
                for value in inner.operands:
                    region = _region_of(value)
                    if region not in inside:
                        raise VerifyError(
                            "using value defined outside the region",
                            inner,
                            [("required by region isolation constraints", op)],
                        )
                if inner.regions and not _is_isolated(inner):
                    inside.update(inner.regions)
                    pending.extend(reversed(inner.regions))


def _region_of(value: SSAValue) -> Region | None:
    owner = value.owner
    return owner.parent if isinstance(owner, Block) else owner.parent_region()


def _is_isolated(op: Operation) -> bool:
    return bool(op.regions) and op.has_trait(IsolatedFromAbove, value_if_unregistered=False)


def _may_end_anyhow(block: Block) -> bool:
    region = block.parent
    if region is None:
        return True
    if len(region.blocks) != 1:
        return False
    return region.parent is None or region.parent.has_trait(NoTerminator)


def _dominance_error(op: Operation, index: int, value: SSAValue) -> VerifyError:
    text = f"operand #{index} does not dominate this use"
    block, region = op.parent, op.parent_region()
    if isinstance(value, BlockArgument):
        home = value.block.parent
        number = next((i for i, b in enumerate(home.blocks) if b is value.block), 0) if home is not None else 0
        note = f"operand defined as a block argument (block #{number}{_relation(region, home, 'region')})"
        return VerifyError(text, op, [(note, value.block.parent_op())], bare=True)
    source = value.owner
    assert isinstance(source, Operation)
    if source.parent is block:
        note = "operand defined here (op in the same block)"
    else:
        note = f"operand defined here (op{_relation(region, source.parent_region(), 'region')})"
    return VerifyError(text, op, [(note, source)], bare=True)


def _relation(use: Region | None, home: Region | None, word: str) -> str:
    if use is home:
        return f" in the same {word}"
    if use is not None and home is not None:
        if home.is_ancestor(use):
            return f" in a parent {word}"
        if use.is_ancestor(home):
            return f" in a child {word}"
    return f" is neither in a parent nor in a child {word}"
