"""Which operations may go when nobody wants their results."""

from __future__ import annotations

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation
from xdsl.traits import (
    ConstantLike,
    IsTerminator,
    MemoryAllocEffect,
    MemoryReadEffect,
    NoMemoryEffect,
    SymbolOpInterface,
)

# `scf.while` is missing: it may never end, and then what comes after it never happens.
_REGION_OPS = frozenset({"scf.for", "scf.if", "scf.index_switch"})
_ALLOCATIONS = frozenset({"memref.alloca", "memref.alloc"})

_harmless: dict[type[Operation], bool] = {}


def is_unused(op: Operation) -> bool:
    """Whether an operation can be removed: no result is used, and running it changes nothing and always ends."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return is_harmless(op)


def is_harmless(op: Operation) -> bool:
    """Whether running an operation only makes its results."""
    kind = type(op)
    found = _harmless.get(kind)
    if found is not None:
        return found
    if op.name in _REGION_OPS:
        return all(
            is_harmless(inner) or inner.name == "scf.yield"
            for region in op.regions
            for block in region.blocks
            for inner in block.ops
        )
    if op.regions:
        return False
    found = _harmless[kind] = _only_makes_results(op)
    return found


def is_stored_only(op: Operation) -> bool:
    """Whether an operation makes memory that is written and never read, nor given away."""
    if op.name not in _ALLOCATIONS:
        return False
    return all(use.operation.name == "memref.store" and use.index == 1 for use in op.results[0].uses)


def _only_makes_results(op: Operation) -> bool:
    if isinstance(op, UnregisteredOp) or op.has_trait(IsTerminator) or op.has_trait(SymbolOpInterface):
        return False
    kinds = (NoMemoryEffect, MemoryReadEffect, MemoryAllocEffect, ConstantLike)
    return any(op.get_traits_of_type(kind) for kind in kinds) and not op.successors
