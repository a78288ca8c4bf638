"""affine.parallel, affine.prefetch and the ops that split and join indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from aiecc.ir.affine import read_expr
from aiecc.ir.attr_printer import expr_text
from aiecc.ir.dialects.upstream.affine_values import (
    Values,
    index_text,
    namer,
    read_index,
)
from aiecc.ir.dialects.upstream.common import PURE, define
from aiecc.ir.dialects.upstream.lists import ints, read_mixed, show_mixed
from aiecc.ir.dialects.upstream.pieces import (
    I1,
    I32,
    I64,
    INDEX,
    SEGMENTS,
    expect,
    int_value,
    print_dict,
    read_dict,
    types,
    uses,
)
from aiecc.ir.dialects.upstream.scf import (
    ensure_terminator,
    read_results,
    show_results,
)
from aiecc.ir.registry import Form

DelinearizeOp = define("affine.delinearize_index", PURE, props="static_basis")


LinearizeOp = define("affine.linearize_index", PURE, props="static_basis disjoint")


PrefetchOp = define("affine.prefetch", props="isWrite localityHint isDataCache map")


def _read_bounds(p: Any, word: str, values: Values) -> tuple[list[AffineExpr], list[int]]:
    """`(0, max(%a, 3))`: all expressions, and how many belong to each dimension."""
    results: list[AffineExpr] = []
    groups: list[int] = []

    def one() -> None:
        if p.parse_optional_keyword(word) is not None:
            inner = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: read_expr(p, values.primary))
        else:
            inner = [read_expr(p, values.primary)]
        results.extend(inner)
        groups.append(len(inner))

    p.parse_comma_separated_list(p.Delimiter.PAREN, one)
    return results, groups


def _groups_attr(groups: list[int]) -> Attribute:
    return DenseIntOrFPElementsAttr.from_list(VectorType(I32, [len(groups)]), groups)


def _read_parallel(p: Any) -> Operation:
    arguments = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: p.parse_argument(expect_type=False))
    p.parse_punctuation("=")
    low_values, high_values = Values(p), Values(p)
    low, low_groups = _read_bounds(p, "max", low_values)
    p.parse_keyword("to")
    high, high_groups = _read_bounds(p, "min", high_values)
    steps = [1] * len(arguments)
    if p.parse_optional_keyword("step") is not None:
        steps = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: p.parse_integer(allow_boolean=False))
    reductions: list[Attribute] = []
    if p.parse_optional_keyword("reduce") is not None:
        reductions = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: StringAttr(p.parse_str_literal()))
    results = read_results(p)
    region = ensure_terminator(p.parse_region([a.resolve(INDEX) for a in arguments]), affine.YieldOp)
    properties, attributes = read_dict(p, affine.ParallelOp)
    properties |= {
        "reductions": ArrayAttr(reductions),
        "lowerBoundsMap": low_values.map(low),
        "lowerBoundsGroups": _groups_attr(low_groups),
        "upperBoundsMap": high_values.map(high),
        "upperBoundsGroups": _groups_attr(high_groups),
        "steps": ArrayAttr([IntegerAttr(step, I64) for step in steps]),
    }
    return affine.ParallelOp.create(
        operands=[*low_values.operands(), *high_values.operands()],
        result_types=results,
        regions=[region],
        properties=properties,
        attributes=attributes,
    )


def _show_bounds(p: Any, map: Attribute, groups: Attribute, operands: Sequence[SSAValue], word: str) -> None:
    assert isinstance(map, AffineMapAttr)
    assert isinstance(groups, DenseIntOrFPElementsAttr)
    name = namer(p, map.data, operands)
    words = [expr_text(result, False, name) for result in map.data.results]
    parts: list[str] = []
    for size in groups.get_values():
        count = int(str(size))
        group, words = words[:count], words[count:]
        parts.append(group[0] if count == 1 else f"{word}({', '.join(group)})")
    p.print_string(f"({', '.join(parts)})")


_PARALLEL = frozenset(
    ("reductions", "lowerBoundsMap", "lowerBoundsGroups", "upperBoundsMap", "upperBoundsGroups", "steps")
)


def _show_parallel(op: Operation, p: Any) -> None:
    props = op.properties
    low = props["lowerBoundsMap"]
    assert isinstance(low, AffineMapAttr)
    count = low.data.num_dims + low.data.num_symbols
    p.print_string(" (")
    p.print_list(op.regions[0].block.args, p.print_ssa_value)
    p.print_string(") = ")
    _show_bounds(p, low, props["lowerBoundsGroups"], op.operands[:count], "max")
    p.print_string(" to ")
    _show_bounds(p, props["upperBoundsMap"], props["upperBoundsGroups"], op.operands[count:], "min")
    steps = props.get("steps")
    numbers = [int_value(step) for step in steps.data] if isinstance(steps, ArrayAttr) else []
    if any(number != 1 for number in numbers):
        p.print_string(f" step ({', '.join(map(str, numbers))})")
    reductions = props.get("reductions")
    if isinstance(reductions, ArrayAttr) and reductions.data:
        p.print_string(" reduce (")
        p.print_list(reductions.data, p.print_attribute)
        p.print_string(")")
    show_results(op, p)
    p.print_string(" ")
    p.print_region(op.regions[0], print_entry_block_args=False, print_block_terminators=bool(op.results))
    print_dict(p, op, _PARALLEL)


def _read_delinearize(p: Any) -> Operation:
    value = p.resolve_operand(p.parse_unresolved_operand(), INDEX)
    p.parse_keyword("into")
    sizes, basis = read_mixed(p, "(", ")")
    properties, attributes = read_dict(p, DelinearizeOp)
    properties["static_basis"] = basis
    p.parse_punctuation(":")
    results = types(p)
    operands = [value, *(p.resolve_operand(size, INDEX) for size in sizes)]
    return DelinearizeOp.create(operands=operands, result_types=results, properties=properties, attributes=attributes)


def _show_delinearize(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    p.print_string(" into ")
    show_mixed(p, op.operands[1:], op.get_attr_or_prop("static_basis"), "(", ")")
    print_dict(p, op, frozenset({"static_basis"}))
    p.print_string(" : ")
    p.print_list([r.type for r in op.results], p.print_attribute)


def _read_linearize(p: Any) -> Operation:
    disjoint = p.parse_optional_keyword("disjoint") is not None
    p.parse_punctuation("[")
    values = uses(p)
    p.parse_punctuation("]")
    p.parse_keyword("by")
    sizes, basis = read_mixed(p, "(", ")")
    properties, attributes = read_dict(p, LinearizeOp)
    properties |= {
        "static_basis": basis,
        SEGMENTS: DenseArrayBase.from_list(I32, [len(values), len(sizes)]),
    }
    if disjoint:
        properties["disjoint"] = UnitAttr()
    p.parse_punctuation(":")
    kind = p.parse_type()
    operands = [p.resolve_operand(value, INDEX) for value in (*values, *sizes)]
    return LinearizeOp.create(operands=operands, result_types=[kind], properties=properties, attributes=attributes)


def _show_linearize(op: Operation, p: Any) -> None:
    count, _ = ints(op.get_attr_or_prop(SEGMENTS))
    p.print_string(" disjoint [" if op.get_attr_or_prop("disjoint") is not None else " [")
    p.print_list(op.operands[:count], p.print_operand)
    p.print_string("] by ")
    show_mixed(p, op.operands[count:], op.get_attr_or_prop("static_basis"), "(", ")")
    print_dict(p, op, frozenset({"static_basis", "disjoint"}))
    p.print_string(" : ")
    p.print_attribute(op.results[0].type)


def _read_prefetch(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    indices, map = read_index(p)
    p.parse_punctuation(",")
    write = p.parse_keyword_in(("read", "write")) == "write"
    for word in (",", "locality", "<"):
        expect(p, word)
    locality = p.parse_integer()
    p.parse_punctuation(">")
    p.parse_punctuation(",")
    data = p.parse_keyword_in(("data", "instr")) == "data"
    properties, attributes = read_dict(p, PrefetchOp)
    p.parse_punctuation(":")
    kind = p.parse_type()
    properties |= {
        "map": map,
        "isWrite": IntegerAttr(int(write), I1),
        "localityHint": IntegerAttr(locality, I32),
        "isDataCache": IntegerAttr(int(data), I1),
    }
    operands = [p.resolve_operand(source, kind), *indices]
    return PrefetchOp.create(operands=operands, properties=properties, attributes=attributes)


def _show_prefetch(op: Operation, p: Any) -> None:
    source, *indices = op.operands
    word = ("read", "write")[int_value(op.get_attr_or_prop("isWrite"))]
    cache = ("instr", "data")[int_value(op.get_attr_or_prop("isDataCache"))]
    p.print_string(" ")
    p.print_operand(source)
    p.print_string(f"[{index_text(p, op.get_attr_or_prop('map'), indices)}], {word}, ")
    p.print_string(f"locality<{int_value(op.get_attr_or_prop('localityHint'))}>, {cache}")
    print_dict(p, op, frozenset({"map", "isWrite", "localityHint", "isDataCache"}))
    p.print_string(" : ")
    p.print_attribute(source.type)


FORMS: dict[str, Form] = {
    "affine.parallel": Form(_read_parallel, _show_parallel),
    "affine.delinearize_index": Form(_read_delinearize, _show_delinearize),
    "affine.linearize_index": Form(_read_linearize, _show_linearize),
    "affine.prefetch": Form(_read_prefetch, _show_prefetch),
}

OPS = (
    DelinearizeOp,
    LinearizeOp,
    PrefetchOp,
)
