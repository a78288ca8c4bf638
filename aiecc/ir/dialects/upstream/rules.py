"""What MLIR's verifiers require of the upstream ops that designs contain, in MLIR's words.

Only what a user can get wrong in the pretty form and what `mlir-opt` would otherwise report far away from the user's
text; a rule that is missing here is still checked when the cores are lowered.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import SymbolOpInterface, SymbolTable

from aiecc.ir.dialects.upstream.lists import ints
from aiecc.ir.errors import VerifyError


def show(attribute: Attribute) -> str:
    from aiecc.ir.printer import attribute_text

    return attribute_text(attribute)


# --- symbols ----------------------------------------------------------------------------------------------------------


def symbol_name(op: Operation) -> str | None:
    """The name an op enters into the symbol table around it; None when it enters none."""
    name = op.get_attr_or_prop("sym_name")
    if not isinstance(name, StringAttr) or not op.has_trait(SymbolOpInterface, value_if_unregistered=False):
        return None
    return name.data


def look_up(op: Operation, name: str) -> Operation | None:
    """The op a flat symbol means: the nearest symbol table that has it, outwards."""
    scope: Operation | None = op.parent_op()
    while scope is not None:
        if scope.has_trait(SymbolTable, value_if_unregistered=False):
            for block in scope.regions[0].blocks:
                for inner in block.ops:
                    if symbol_name(inner) == name:
                        return inner
        scope = scope.parent_op()
    return None


def _flat(attr: Attribute | None) -> str | None:
    if isinstance(attr, SymbolRefAttr) and not attr.nested_references.data:
        return attr.root_reference.data
    return None


# --- func -------------------------------------------------------------------------------------------------------------


def _call(op: Operation) -> None:
    name = _flat(op.get_attr_or_prop("callee"))
    callee = None if name is None else look_up(op, name)
    kind = None if callee is None else callee.get_attr_or_prop("function_type")
    if name is None or callee is None or callee.name != "func.func" or not isinstance(kind, FunctionType):
        raise VerifyError(f"'{name}' does not reference a valid function")
    inputs, outputs = kind.inputs.data, kind.outputs.data
    if len(inputs) != len(op.operands):
        raise VerifyError("incorrect number of operands for callee")
    for i, (wanted, value) in enumerate(zip(inputs, op.operands, strict=True)):
        if value.type != wanted:
            raise VerifyError(
                f"operand type mismatch: expected operand type '{show(wanted)}', "
                f"but provided '{show(value.type)}' for operand number {i}"
            )
    if len(outputs) != len(op.results):
        raise VerifyError("incorrect number of results for callee")
    for i, (wanted, value) in enumerate(zip(outputs, op.results, strict=True)):
        if value.type != wanted:
            given = ", ".join(f"'{show(result.type)}'" for result in op.results)
            have = ", ".join(f"'{show(output)}'" for output in outputs)
            raise VerifyError(
                f"result type mismatch at index {i}",
                notes=[(f"      op result types: {given}", op), (f"function result types: {have}", op)],
            )


def _return(op: Operation) -> None:
    parent = op.parent_op()
    if parent is None or parent.name != "func.func":
        raise VerifyError("expects parent op 'func.func'")
    kind = parent.get_attr_or_prop("function_type")
    outputs = kind.outputs.data if isinstance(kind, FunctionType) else ()
    name = symbol_name(parent)
    if len(outputs) != len(op.operands):
        raise VerifyError(f"has {len(op.operands)} operands, but enclosing function (@{name}) returns {len(outputs)}")
    for i, (wanted, value) in enumerate(zip(outputs, op.operands, strict=True)):
        if wanted != value.type:
            raise VerifyError(
                f"type of return operand {i} ('{show(value.type)}') doesn't match function result type "
                f"('{show(wanted)}') in function @{name}",
                bare=True,
            )


def _function(op: Operation) -> None:
    parent = op.parent_op()
    if parent is not None and not parent.has_trait(SymbolTable):
        raise VerifyError("symbol's parent must have the SymbolTable trait")
    visibility = op.get_attr_or_prop("sym_visibility")
    if not op.regions[0].blocks and (not isinstance(visibility, StringAttr) or visibility.data == "public"):
        raise VerifyError("symbol declaration cannot have public visibility")


# --- memref -----------------------------------------------------------------------------------------------------------


def _rank(kind: Attribute) -> int | None:
    return len(kind.get_shape()) if isinstance(kind, MemRefType) else None


def _load(op: Operation) -> None:
    rank = _rank(op.operands[0].type)
    if rank is not None and rank != len(op.operands) - 1:
        raise VerifyError(f"incorrect number of indices for load, expected {rank} but got {len(op.operands) - 1}")


def _store(op: Operation) -> None:
    rank = _rank(op.operands[1].type)
    if rank is not None and rank != len(op.operands) - 2:
        raise VerifyError("store index operand count not equal to memref rank")


def _get_global(op: Operation) -> None:
    name = _flat(op.get_attr_or_prop("name"))
    target = None if name is None else look_up(op, name)
    if target is None or target.name != "memref.global":
        raise VerifyError(f"'{name}' does not reference a valid global memref")
    kind = target.get_attr_or_prop("type")
    if kind is not None and kind != op.results[0].type:
        raise VerifyError(
            f"result type '{show(op.results[0].type)}' does not match type '{show(kind)}' of the global memref @{name}"
        )


def _alloc(op: Operation) -> None:
    kind = op.results[0].type
    if not isinstance(kind, MemRefType):
        raise VerifyError("result must be a memref")
    sizes = op.get_attr_or_prop("operandSegmentSizes")
    given = (*ints(sizes), 0)[0] if sizes is not None else len(op.operands)
    wanted = sum(1 for size in kind.get_shape() if size == DYNAMIC_INDEX)
    if given != wanted:
        raise VerifyError(f"incorrect number of dynamic sizes, has {given}, expected {wanted}")


# --- arith ------------------------------------------------------------------------------------------------------------

_INTEGER = "signless-integer-like"
_FLOAT = "floating-point-like"


def _inner(kind: Attribute) -> Attribute:
    return kind.element_type if isinstance(kind, VectorType | TensorType) else kind


def _is_integer(kind: Attribute) -> bool:
    inner = _inner(kind)
    signless = isinstance(inner, IntegerType) and inner.signedness.data is Signedness.SIGNLESS
    return signless or isinstance(inner, IndexType)


def _is_float(kind: Attribute) -> bool:
    return isinstance(_inner(kind), AnyFloat)


def _operands_like(words: str, test: Callable[[Attribute], bool]) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        for i, value in enumerate(op.operands):
            if not test(value.type):
                raise VerifyError(f"operand #{i} must be {words}, but got '{show(value.type)}'")

    return check


def _cast(grows: bool | None) -> Callable[[Operation], None]:
    """Casts between scalars, or shapes of one shape; `grows` says which way the width must change."""

    def check(op: Operation) -> None:
        source, target = op.operands[0].type, op.results[0].type
        fits = _shape(source) == _shape(target)
        if grows is not None:
            low, high = _width(source), _width(target)
            fits = fits and low is not None and high is not None and (low < high if grows else low > high)
        if not fits:
            raise VerifyError(f"operand type '{show(source)}' and result type '{show(target)}' are cast incompatible")

    return check


def _shape(kind: Attribute) -> tuple[int, ...] | None:
    return tuple(kind.get_shape()) if isinstance(kind, VectorType | TensorType) else None


def _width(kind: Attribute) -> int | None:
    inner = _inner(kind)
    if isinstance(inner, IntegerType):
        return inner.width.data
    return inner.bitwidth if isinstance(inner, AnyFloat) else None


# --- control flow -----------------------------------------------------------------------------------------------------


def _if(op: Operation) -> None:
    if op.results and not op.regions[1].blocks:
        raise VerifyError("must have an else block if defining values")
    _yields(op, "scf.yield")


def _yields(op: Operation, word: str) -> None:
    """What the regions of an op yield must be what the op gives."""
    for i, region in enumerate(op.regions):
        last = region.blocks.last.last_op if region.blocks.last is not None else None
        if last is None or last.name != word:
            continue
        if len(last.operands) != len(op.results):
            where = f"Region #{i}" if op.name == "scf.for" else "parent"
            raise VerifyError(
                f"along control flow edge from Operation {word} to {where}: region branch point has "
                f"{len(last.operands)} operands, but region successor needs {len(op.results)} inputs",
                notes=[("region branch point", last)],
            )
        for n, (value, result) in enumerate(zip(last.operands, op.results, strict=True)):
            if value.type != result.type:
                where = f"Region #{i}" if op.name == "scf.for" else "parent"
                raise VerifyError(
                    f"along control flow edge from Operation {word} to {where}: successor operand type #{n} "
                    f"'{show(value.type)}' should match successor input type #{n} '{show(result.type)}'",
                    notes=[("region branch point", last)],
                )


def _for(op: Operation) -> None:
    _yields(op, "scf.yield")


def _branch(op: Operation) -> None:
    """Operands given to a block must be of its arguments' types."""
    operands = list(op.operands)
    if op.name == "cf.br":
        _check_target(0, op.successors[0], [value.type for value in operands])
    elif op.name == "cf.cond_br":
        _, count, _ = ints(op.get_attr_or_prop("operandSegmentSizes"))
        kinds = [value.type for value in operands]
        _check_target(0, op.successors[0], kinds[1 : 1 + count])
        _check_target(1, op.successors[1], kinds[1 + count :])


def _check_target(index: int, block: Block, given: list[Attribute]) -> None:
    wanted = [argument.type for argument in block.args]
    if len(given) != len(wanted):
        raise VerifyError(
            f"branch has {len(given)} operands for successor #{index}, but target block has {len(wanted)}"
        )
    for i, (one, other) in enumerate(zip(given, wanted, strict=True)):
        if one != other:
            raise VerifyError(f"type mismatch for bb argument #{i} of successor #{index}", bare=True)


_INT_OPS = (
    "addi subi muli divsi divui ceildivsi ceildivui floordivsi remsi remui andi ori xori shli shrsi shrui "
    "maxsi maxui minsi minui cmpi addui_extended mului_extended mulsi_extended"
)
_FLOAT_OPS = "addf subf mulf divf remf negf maximumf minimumf maxnumf minnumf cmpf"

RULES: dict[str, Callable[[Operation], None]] = {
    "func.func": _function,
    "func.call": _call,
    "func.return": _return,
    "memref.load": _load,
    "memref.store": _store,
    "memref.get_global": _get_global,
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "scf.for": _for,
    "scf.if": _if,
    "cf.br": _branch,
    "cf.cond_br": _branch,
    **{f"arith.{name}": _operands_like(_INTEGER, _is_integer) for name in _INT_OPS.split()},
    **{f"arith.{name}": _operands_like(_FLOAT, _is_float) for name in _FLOAT_OPS.split()},
    **{f"arith.{name}": _cast(True) for name in ("extsi", "extui", "extf")},
    **{f"arith.{name}": _cast(False) for name in ("trunci", "truncf")},
    **{f"arith.{name}": _cast(None) for name in ("sitofp", "uitofp", "fptosi", "fptoui", "index_cast", "index_castui")},
}

# Rules that look at other ops run when the symbol table around is verified, as MLIR's do.
SYMBOL_USERS = frozenset({"func.call", "memref.get_global"})
