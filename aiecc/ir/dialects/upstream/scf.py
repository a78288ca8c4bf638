"""scf: loops over integers, single result types without parentheses, loops without operands, forall, parallel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, UnitAttr
from xdsl.dialects.scf import Scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream.common import TERMINATOR, define, extend
from aiecc.ir.dialects.upstream.lists import ints, read_mixed, show_mixed
from aiecc.ir.dialects.upstream.template import I1, I32, I64, INDEX, print_dict, read_dict, types, uses
from aiecc.ir.registry import Form

_FORALL_PROPS = "mapping staticLowerBound staticUpperBound staticStep"
ForallOp = define("scf.forall", RecursiveMemoryEffect(), props=_FORALL_PROPS)
InParallelOp = define("scf.forall.in_parallel", TERMINATOR, NoTerminator())
DIALECT = extend(Scf, (ForallOp, InParallelOp))

SEGMENTS = "operandSegmentSizes"


# --- shared pieces ----------------------------------------------------------------------------------------------------


def ensure_terminator(region: Region, cls: type[Operation]) -> Region:
    """Add the terminator the text may leave out of each block that has none."""
    if not region.blocks:
        region.add_block(Block())
    for block in region.blocks:
        last = block.last_op
        if last is None or not last.has_trait(type(TERMINATOR), value_if_unregistered=False):
            block.add_op(cls.create(location=None))
    return region


def read_results(p: Any) -> list[Attribute]:
    """`-> (t, u)` or `-> t`, if there."""
    if p.parse_optional_punctuation("->") is None:
        return []
    if p.token().kind is not Kind.L_PAREN:
        return [p.parse_type()]
    found = p.parse_comma_separated_list(p.Delimiter.PAREN, p.parse_type)
    if p.token().kind is Kind.ARROW:
        p.raise_error("expected '('")
    return found


def show_results(op: Operation, p: Any) -> None:
    if op.results:
        p.print_string(" -> (")
        p.print_list([r.type for r in op.results], p.print_attribute)
        p.print_string(")")


def read_assignments(p: Any) -> tuple[list[Any], list[Any]]:
    """`(%a = %x, ..)`: block arguments without types, and unresolved operands."""
    arguments: list[Any] = []
    values: list[Any] = []

    def one() -> None:
        arguments.append(p.parse_argument(expect_type=False))
        p.parse_punctuation("=")
        values.append(p.parse_unresolved_operand())

    p.parse_comma_separated_list(p.Delimiter.PAREN, one)
    return arguments, values


def show_assignments(p: Any, arguments: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    p.print_string("(")
    for i, (argument, value) in enumerate(zip(arguments, values, strict=False)):
        if i:
            p.print_string(", ")
        p.print_ssa_value(argument)
        p.print_string(" = ")
        p.print_operand(value)
    p.print_string(")")


def _uses_in_parens(p: Any) -> list[Any]:
    p.parse_punctuation("(")
    found = uses(p)
    p.parse_punctuation(")")
    return found


def _show_uses(p: Any, lead: str, values: Sequence[SSAValue]) -> None:
    p.print_string(f"{lead}(")
    p.print_list(values, p.print_operand)
    p.print_string(")")


def _show_arguments(p: Any, block: Block) -> None:
    p.print_string(" (")
    p.print_list(block.args, p.print_ssa_value)
    p.print_string(")")


# --- for --------------------------------------------------------------------------------------------------------------


def _read_for(p: Any) -> Operation:
    unsigned = p.parse_optional_keyword("unsigned") is not None
    variable = p.parse_argument(expect_type=False)
    p.parse_punctuation("=")
    bounds = [p.parse_unresolved_operand()]
    for word in ("to", "step"):
        p.parse_keyword(word)
        bounds.append(p.parse_unresolved_operand())
    arguments: list[Any] = []
    values: list[Any] = []
    results: list[Attribute] = []
    if p.parse_optional_keyword("iter_args") is not None:
        arguments, values = read_assignments(p)
        results = read_results(p)
        if len(results) != len(arguments):
            p.raise_error("mismatch in number of loop-carried values and defined values", p.token().start)
    kind: Attribute = INDEX
    if p.parse_optional_punctuation(":") is not None:
        kind = p.parse_type()
    operands = [p.resolve_operand(bound, kind) for bound in bounds]
    operands += [p.resolve_operand(value, type) for value, type in zip(values, results, strict=True)]
    resolved = [a.resolve(t) for a, t in zip([variable, *arguments], [kind, *results], strict=True)]
    region = ensure_terminator(p.parse_region(resolved), scf.YieldOp)
    properties, attributes = read_dict(p, scf.ForOp)
    if unsigned:
        attributes["unsignedCmp"] = UnitAttr()
    return scf.ForOp.create(
        operands=operands, result_types=results, regions=[region], properties=properties, attributes=attributes
    )


def _show_for(op: Operation, p: Any) -> None:
    low, high, step, *values = op.operands
    region = op.regions[0]
    variable, *arguments = region.block.args
    if "unsignedCmp" in op.attributes:
        p.print_string(" unsigned")
    for lead, value in ((" ", variable), (" = ", low), (" to ", high), (" step ", step)):
        p.print_string(lead)
        p.print_ssa_value(value)
    if values:
        p.print_string(" iter_args")
        show_assignments(p, arguments, values)
        show_results(op, p)
    p.print_string(" ")
    if variable.type != INDEX:
        p.print_string(" : ")
        p.print_attribute(variable.type)
        p.print_string(" ")
    p.print_region(region, print_entry_block_args=False, print_block_terminators=bool(values))
    print_dict(p, op, frozenset({"unsignedCmp"}))


# --- if, execute_region, while ----------------------------------------------------------------------------------------


def _read_if(p: Any) -> Operation:
    condition = p.resolve_operand(p.parse_unresolved_operand(), I1)
    results = read_results(p)
    first = ensure_terminator(p.parse_region(), scf.YieldOp)
    second = Region()
    if p.parse_optional_keyword("else") is not None:
        second = ensure_terminator(p.parse_region(), scf.YieldOp)
    properties, attributes = read_dict(p, scf.IfOp)
    return scf.IfOp.create(
        operands=[condition],
        result_types=results,
        regions=[first, second],
        properties=properties,
        attributes=attributes,
    )


def _show_if(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    show_results(op, p)
    for word, region in zip((" ", " else "), op.regions, strict=False):
        if region.blocks:
            p.print_string(word)
            p.print_region(region, print_entry_block_args=False, print_block_terminators=bool(op.results))
    print_dict(p, op)


def _read_execute(p: Any) -> Operation:
    results = read_results(p)
    attributes: dict[str, Attribute] = {}
    if p.parse_optional_keyword("no_inline") is not None:
        attributes["no_inline"] = UnitAttr()
    region = p.parse_region()
    attributes |= p.parse_optional_attr_dict()
    return scf.ExecuteRegionOp.create(result_types=results, regions=[region], attributes=attributes)


def _show_execute(op: Operation, p: Any) -> None:
    if op.results:
        p.print_string(" -> ")
        single = len(op.results) == 1
        p.print_string("" if single else "(")
        p.print_list([r.type for r in op.results], p.print_attribute)
        p.print_string("" if single else ")")
    p.print_string(" no_inline " if "no_inline" in op.attributes else " ")
    p.print_region(op.regions[0], print_entry_block_args=False)
    print_dict(p, op, frozenset({"no_inline"}))


def _read_while(p: Any) -> Operation:
    arguments: list[Any] = []
    values: list[Any] = []
    if p.token().kind is Kind.L_PAREN:
        arguments, values = read_assignments(p)
    p.parse_punctuation(":")
    at = p.token().start
    kind = p.parse_function_type()
    inputs = kind.inputs.data
    if len(inputs) != len(values):
        p.raise_error(f"expected as many input types as operands (expected {len(values)} got {len(inputs)})", at)
    operands = [p.resolve_operand(value, type) for value, type in zip(values, inputs, strict=True)]
    before = p.parse_region([a.resolve(t) for a, t in zip(arguments, inputs, strict=True)])
    p.parse_keyword("do")
    after = p.parse_region()
    attributes: dict[str, Attribute] = {}
    if p.parse_optional_keyword("attributes") is not None:
        attributes = p.parse_optional_attr_dict()
    for region in (before, after):
        if not region.blocks:
            region.add_block(Block())
    return scf.WhileOp.create(
        operands=operands, result_types=kind.outputs.data, regions=[before, after], attributes=attributes
    )


def _show_while(op: Operation, p: Any) -> None:
    before, after = op.regions
    if op.operands:
        p.print_string(" ")
        show_assignments(p, before.block.args, op.operands)
    p.print_string(" : ")
    p.print_function_type([v.type for v in op.operands], [r.type for r in op.results])
    p.print_string(" ")
    p.print_region(before, print_entry_block_args=False)
    p.print_string(" do ")
    p.print_region(after)
    print_dict(p, op, keyword=True)


# --- yield and its like -----------------------------------------------------------------------------------------------


def yield_form(cls: type[Operation]) -> Form:
    """`{dict} %a, %b : t, u`, the values left out when there are none."""

    def read(p: Any) -> Operation:
        attributes = p.parse_optional_attr_dict()
        return _finish(p, attributes)

    def _finish(p: Any, attributes: dict[str, Attribute]) -> Operation:
        values = uses(p)
        kinds: list[Attribute] = []
        at = p.token().start
        if values:
            p.parse_punctuation(":")
            kinds = types(p)
        if len(kinds) != len(values):
            p.raise_error(
                f"number of operands and types do not match: got {len(values)} operands and {len(kinds)} types", at
            )
        operands = [p.resolve_operand(value, type) for value, type in zip(values, kinds, strict=True)]
        return cls.create(operands=operands, attributes=attributes)

    def show(op: Operation, p: Any) -> None:
        print_dict(p, op)
        if op.operands:
            p.print_string(" ")
            p.print_list(op.operands, p.print_operand)
            p.print_string(" : ")
            p.print_list([v.type for v in op.operands], p.print_attribute)

    return Form(read, show)


def _read_condition(p: Any) -> Operation:
    p.parse_punctuation("(")
    condition = p.resolve_operand(p.parse_unresolved_operand(), I1)
    p.parse_punctuation(")")
    attributes = p.parse_optional_attr_dict()
    values = uses(p)
    kinds: list[Attribute] = []
    if values:
        p.parse_punctuation(":")
        kinds = types(p)
    if len(kinds) != len(values):
        p.raise_error(f"number of operands and types do not match: got {len(values)} operands and {len(kinds)} types")
    operands = [condition, *(p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True))]
    return scf.ConditionOp.create(operands=operands, attributes=attributes)


def _show_condition(op: Operation, p: Any) -> None:
    p.print_string("(")
    p.print_operand(op.operands[0])
    p.print_string(")")
    print_dict(p, op)
    if len(op.operands) > 1:
        p.print_string(" ")
        p.print_list(op.operands[1:], p.print_operand)
        p.print_string(" : ")
        p.print_list([v.type for v in op.operands[1:]], p.print_attribute)


# --- index_switch -----------------------------------------------------------------------------------------------------


def _read_switch(p: Any) -> Operation:
    value = p.resolve_operand(p.parse_unresolved_operand(), INDEX)
    attributes = p.parse_optional_attr_dict()
    results: list[Attribute] = []
    if p.parse_optional_punctuation("->") is not None:
        results = types(p)
    cases: list[int] = []
    regions: list[Region] = []
    while p.parse_optional_keyword("case") is not None:
        cases.append(p.parse_integer(allow_boolean=False))
        regions.append(p.parse_region())
    p.parse_keyword("default")
    default = ensure_terminator(p.parse_region(), scf.YieldOp)
    return scf.IndexSwitchOp.create(
        operands=[value],
        result_types=results,
        properties={"cases": DenseArrayBase.from_list(I64, cases)},
        attributes=attributes,
        regions=[default, *regions],
    )


def _show_switch(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    print_dict(p, op, frozenset({"cases"}))
    if op.results:
        p.print_string(" -> ")
        p.print_list([r.type for r in op.results], p.print_attribute)
    p.print_string(" ")
    default, *regions = op.regions
    for number, region in zip(ints(op.get_attr_or_prop("cases")), regions, strict=True):
        p.print_string(f"\ncase {number} ")
        p.print_region(region)
    p.print_string("\ndefault ")
    last = default.blocks.last.last_op if default.blocks.last is not None else None
    p.print_region(default, print_block_terminators=last is None or bool(last.operands or last.attributes))


# --- parallel, reduce, forall -----------------------------------------------------------------------------------------


def _read_parallel(p: Any) -> Operation:
    arguments = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: p.parse_argument(expect_type=False))
    p.parse_punctuation("=")
    groups = [_uses_in_parens(p)]
    for word in ("to", "step"):
        p.parse_keyword(word)
        groups.append(_uses_in_parens(p))
    groups.append(_uses_in_parens(p) if p.parse_optional_keyword("init") is not None else [])
    results = read_results(p)
    region = p.parse_region([a.resolve(INDEX) for a in arguments])
    ensure_terminator(region, scf.ReduceOp)
    properties, attributes = read_dict(p, scf.ParallelOp)
    if len(results) != len(groups[3]):
        p.raise_error("expected as many results as initial values")
    operands = [p.resolve_operand(value, INDEX) for group in groups[:3] for value in group]
    operands += [p.resolve_operand(value, type) for value, type in zip(groups[3], results, strict=True)]
    properties[SEGMENTS] = DenseArrayBase.from_list(I32, [len(group) for group in groups])
    return scf.ParallelOp.create(
        operands=operands, result_types=results, regions=[region], properties=properties, attributes=attributes
    )


def _groups(op: Operation) -> list[Sequence[SSAValue]]:
    groups: list[Sequence[SSAValue]] = []
    start = 0
    for size in ints(op.get_attr_or_prop(SEGMENTS)):
        groups.append(op.operands[start : start + size])
        start += size
    return groups


def _show_parallel(op: Operation, p: Any) -> None:
    low, high, step, init = _groups(op)
    _show_arguments(p, op.regions[0].block)
    _show_uses(p, " = ", low)
    _show_uses(p, " to ", high)
    _show_uses(p, " step ", step)
    if init:
        _show_uses(p, " init ", init)
    show_results(op, p)
    p.print_string(" ")
    p.print_region(op.regions[0], print_entry_block_args=False)
    print_dict(p, op)


def _read_reduce(p: Any) -> Operation:
    operands: list[SSAValue] = []
    if p.parse_optional_punctuation("(") is not None:
        values = uses(p)
        p.parse_punctuation(":")
        kinds = types(p)
        p.parse_punctuation(")")
        if len(kinds) != len(values):
            p.raise_error("expected as many types as operands")
        operands = [p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)]
    regions: list[Region] = []
    first = p.parse_optional_region()
    if first is not None:
        regions.append(first)
        while p.parse_optional_punctuation(",") is not None:
            regions.append(p.parse_region())
    attributes = p.parse_optional_attr_dict()
    return scf.ReduceOp.create(operands=operands, regions=regions, attributes=attributes)


def _show_reduce(op: Operation, p: Any) -> None:
    if op.operands:
        p.print_string("(")
        p.print_list(op.operands, p.print_operand)
        p.print_string(" : ")
        p.print_list([v.type for v in op.operands], p.print_attribute)
        p.print_string(")")
    p.print_string(" ")
    p.print_list(op.regions, p.print_region)
    print_dict(p, op)


_BOUNDS = ("staticLowerBound", "staticUpperBound", "staticStep")


def _read_forall(p: Any) -> Operation:
    arguments = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: p.parse_argument(expect_type=False))
    normalized = p.parse_optional_keyword("in") is not None
    if not normalized:
        p.parse_punctuation("=")
    values: list[Any] = []
    sizes: list[int] = []
    properties: dict[str, Attribute] = {}
    rank = len(arguments)
    for key, word, default in zip(_BOUNDS, ("", "to", "step"), (0, None, 1), strict=True):
        if normalized and default is not None:
            found: list[Any] = []
            properties[key] = DenseArrayBase.from_list(I64, [default] * rank)
        else:
            if word and not normalized:
                p.parse_keyword(word)
            found, properties[key] = read_mixed(p, "(", ")")
        values += found
        sizes.append(len(found))
    shared: list[Any] = []
    initial: list[Any] = []
    results: list[Attribute] = []
    if p.parse_optional_keyword("shared_outs") is not None:
        shared, initial = read_assignments(p)
        results = read_results(p)
        if len(results) != len(initial):
            p.raise_error("mismatch between the number of outputs and result types")
    kinds = [INDEX] * rank + results
    region = p.parse_region([a.resolve(t) for a, t in zip([*arguments, *shared], kinds, strict=True)])
    terminator = region.block.last_op if region.blocks else None
    if terminator is None or terminator.name != "scf.forall.in_parallel":
        region.block.add_op(InParallelOp.create(regions=[Region(Block())]))
    own, attributes = read_dict(p, ForallOp)
    properties |= own
    properties[SEGMENTS] = DenseArrayBase.from_list(I32, [*sizes, len(initial)])
    operands = [p.resolve_operand(value, INDEX) for value in values]
    operands += [p.resolve_operand(value, type) for value, type in zip(initial, results, strict=True)]
    return ForallOp.create(
        operands=operands, result_types=results, regions=[region], properties=properties, attributes=attributes
    )


def _show_forall(op: Operation, p: Any) -> None:
    low, high, step, outputs = _groups(op)
    block = op.regions[0].block
    rank = len(block.args) - len(outputs)
    p.print_string(" (")
    p.print_list(block.args[:rank], p.print_ssa_value)
    p.print_string(")")
    bounds = [op.get_attr_or_prop(key) for key in _BOUNDS]
    normalized = ints(bounds[0]) == (0,) * rank and ints(bounds[2]) == (1,) * rank
    if normalized:
        p.print_string(" in ")
        show_mixed(p, high, bounds[1], "(", ")")
    else:
        for word, values, numbers in zip((" = ", " to ", " step "), (low, high, step), bounds, strict=True):
            p.print_string(word)
            show_mixed(p, values, numbers, "(", ")")
    if outputs:
        p.print_string(" shared_outs")
        show_assignments(p, block.args[rank:], outputs)
        show_results(op, p)
    p.print_string(" ")
    p.print_region(op.regions[0], print_entry_block_args=False, print_block_terminators=bool(outputs))
    print_dict(p, op, frozenset(_BOUNDS))


def _read_in_parallel(p: Any) -> Operation:
    region = p.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return InParallelOp.create(regions=[region], attributes=p.parse_optional_attr_dict())


def _show_in_parallel(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_region(op.regions[0], print_empty_block=False)
    print_dict(p, op)


FORMS: dict[str, Form] = {
    "scf.for": Form(_read_for, _show_for),
    "scf.if": Form(_read_if, _show_if),
    "scf.execute_region": Form(_read_execute, _show_execute),
    "scf.while": Form(_read_while, _show_while),
    "scf.yield": yield_form(scf.YieldOp),
    "scf.condition": Form(_read_condition, _show_condition),
    "scf.index_switch": Form(_read_switch, _show_switch),
    "scf.parallel": Form(_read_parallel, _show_parallel),
    "scf.reduce": Form(_read_reduce, _show_reduce),
    "scf.forall": Form(_read_forall, _show_forall),
    "scf.forall.in_parallel": Form(_read_in_parallel, _show_in_parallel),
}
