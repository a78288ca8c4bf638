"""scf.parallel, scf.reduce and scf.forall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import NoTerminator, RecursiveMemoryEffect

from aiecc.ir.dialects.upstream.common import TERMINATOR, define
from aiecc.ir.dialects.upstream.lists import ints, read_mixed, show_mixed
from aiecc.ir.dialects.upstream.loops import (
    ensure_terminator,
    read_assignments,
    read_results,
    show_arguments,
    show_assignments,
    show_results,
    show_uses,
    uses_in_parens,
)
from aiecc.ir.dialects.upstream.pieces import I32, I64, INDEX, SEGMENTS, print_dict, read_dict, types, uses
from aiecc.ir.registry import Form

_FORALL_PROPS = "mapping staticLowerBound staticUpperBound staticStep"


ForallOp = define("scf.forall", RecursiveMemoryEffect(), props=_FORALL_PROPS)


InParallelOp = define("scf.forall.in_parallel", TERMINATOR, NoTerminator())


def _read_parallel(p: Any) -> Operation:
    arguments = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: p.parse_argument(expect_type=False))
    p.parse_punctuation("=")
    groups = [uses_in_parens(p)]
    for word in ("to", "step"):
        p.parse_keyword(word)
        groups.append(uses_in_parens(p))
    groups.append(uses_in_parens(p) if p.parse_optional_keyword("init") is not None else [])
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
    show_arguments(p, op.regions[0].block)
    show_uses(p, " = ", low)
    show_uses(p, " to ", high)
    show_uses(p, " step ", step)
    if init:
        show_uses(p, " init ", init)
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
    "scf.parallel": Form(_read_parallel, _show_parallel),
    "scf.reduce": Form(_read_reduce, _show_reduce),
    "scf.forall": Form(_read_forall, _show_forall),
    "scf.forall.in_parallel": Form(_read_in_parallel, _show_in_parallel),
}

OPS = (
    ForallOp,
    InParallelOp,
)
