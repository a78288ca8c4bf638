"""affine: indices written as expressions of values, bounds through maps, and the ops xDSL prints generically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import affine
from xdsl.dialects.affine import Affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    DenseArrayBase,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.dialects.upstream import affine_more
from aiecc.ir.dialects.upstream.affine_values import (
    index_text,
    read_index,
    read_map_attr,
    read_map_operands,
    show_map_operands,
)
from aiecc.ir.dialects.upstream.common import PURE, define, extend
from aiecc.ir.dialects.upstream.lists import ints
from aiecc.ir.dialects.upstream.pieces import I32, INDEX, SEGMENTS, element, int_value, print_dict, read_dict, types
from aiecc.ir.dialects.upstream.scf import (
    ensure_terminator,
    read_assignments,
    read_results,
    show_assignments,
    show_results,
    yield_form,
)
from aiecc.ir.registry import Form

MaxOp = define("affine.max", PURE, props="map")
DIALECT = extend(Affine, (MaxOp, *affine_more.OPS))


# --- expressions of values --------------------------------------------------------------------------------------------


def _access(cls: type[Operation], store: bool, vector: bool) -> Form:
    """Loads and stores: `%v, %m[expr] {dict} : memref, vector`."""

    def read(p: Any) -> Operation:
        stored = p.parse_unresolved_operand() if store else None
        if store:
            p.parse_punctuation(",")
        source = p.parse_unresolved_operand()
        indices, map = read_index(p)
        properties, attributes = read_dict(p, cls)
        properties["map"] = map
        p.parse_punctuation(":")
        kind = p.parse_type()
        other = element(kind)
        if vector:
            p.parse_punctuation(",")
            other = p.parse_type()
        operands = [p.resolve_operand(source, kind), *indices]
        if stored is not None:
            operands.insert(0, p.resolve_operand(stored, other))
        results = [] if store else [other]
        return cls.create(operands=operands, result_types=results, properties=properties, attributes=attributes)

    def show(op: Operation, p: Any) -> None:
        operands = list(op.operands)
        p.print_string(" ")
        if store:
            p.print_operand(operands[0])
            p.print_string(", ")
        source, *indices = operands[1:] if store else operands
        p.print_operand(source)
        p.print_string(f"[{index_text(p, op.get_attr_or_prop('map'), indices)}]")
        print_dict(p, op, frozenset({"map"}))
        p.print_string(" : ")
        p.print_attribute(source.type)
        if vector:
            p.print_string(", ")
            p.print_attribute(operands[0].type if store else op.results[0].type)

    return Form(read, show)


# --- maps applied to values -------------------------------------------------------------------------------------------


def _apply(cls: type[Operation]) -> Form:
    def read(p: Any) -> Operation:
        map = read_map_attr(p)
        operands, _ = read_map_operands(p)
        properties, attributes = read_dict(p, cls)
        properties["map"] = map
        return cls.create(operands=operands, result_types=[INDEX], properties=properties, attributes=attributes)

    def show(op: Operation, p: Any) -> None:
        map = op.get_attr_or_prop("map")
        assert isinstance(map, AffineMapAttr)
        p.print_string(" ")
        p.print_attribute(map)
        show_map_operands(p, op.operands, map.data.num_dims)
        print_dict(p, op, frozenset({"map"}))

    return Form(read, show)


# --- for --------------------------------------------------------------------------------------------------------------


def _read_bound(p: Any, word: str) -> tuple[list[SSAValue], AffineMapAttr]:
    """`5`, `%n`, `#map(%n)` or `max #map(%n)`."""
    many = p.parse_optional_keyword(word) is not None
    token = p.token()
    if token.kind is Kind.PERCENT_IDENT:
        value = p.resolve_operand(p.parse_unresolved_operand(), INDEX)
        return [value], AffineMapAttr(AffineMap(0, 1, (AffineExpr.symbol(0),)))
    if token.kind in (Kind.INTEGER_LIT, Kind.MINUS):
        return [], AffineMapAttr(AffineMap(0, 0, (AffineConstantExpr(p.parse_integer(allow_boolean=False)),)))
    map = read_map_attr(p)
    operands, _ = read_map_operands(p)
    if len(map.data.results) > 1 and not many:
        side = "lower" if word == "max" else "upper"
        p.raise_error(f"{side} loop bound affine map with multiple results requires '{word}' prefix", token.start)
    return operands, map


def _show_bound(p: Any, operands: Sequence[SSAValue], attr: Attribute, word: str) -> None:
    assert isinstance(attr, AffineMapAttr)
    map = attr.data
    if len(map.results) == 1:
        result = map.results[0]
        if isinstance(result, AffineConstantExpr) and not operands:
            p.print_string(str(result.value))
            return
        if map.num_dims == 0 and map.num_symbols == 1 and isinstance(result, AffineSymExpr):
            p.print_operand(operands[0])
            return
    else:
        p.print_string(f"{word} ")
    p.print_attribute(attr)
    show_map_operands(p, operands, map.num_dims)


def _read_for(p: Any) -> Operation:
    variable = p.parse_argument(expect_type=False)
    location = p.parse_optional_location()
    p.parse_punctuation("=")
    low, low_map = _read_bound(p, "max")
    p.parse_keyword("to")
    high, high_map = _read_bound(p, "min")
    step = p.parse_integer(allow_boolean=False) if p.parse_optional_keyword("step") is not None else 1
    arguments: list[Any] = []
    values: list[Any] = []
    results: list[Attribute] = []
    if p.parse_optional_keyword("iter_args") is not None:
        arguments, values = read_assignments(p)
        results = read_results(p)
        if len(results) != len(arguments):
            p.raise_error("mismatch between the number of loop-carried values and results")
    initial = [p.resolve_operand(v, t) for v, t in zip(values, results, strict=True)]
    resolved = [a.resolve(t) for a, t in zip([variable, *arguments], [INDEX, *results], strict=True)]
    resolved[0].location = location
    region = ensure_terminator(p.parse_region(resolved), affine.YieldOp)
    properties, attributes = read_dict(p, affine.ForOp)
    properties |= {
        "lowerBoundMap": low_map,
        "upperBoundMap": high_map,
        "step": IntegerAttr(step, INDEX),
        SEGMENTS: DenseArrayBase.from_list(I32, [len(low), len(high), len(initial)]),
    }
    return affine.ForOp.create(
        operands=[*low, *high, *initial],
        result_types=results,
        regions=[region],
        properties=properties,
        attributes=attributes,
    )


def _show_for(op: Operation, p: Any) -> None:
    sizes = ints(op.get_attr_or_prop(SEGMENTS))
    operands = list(op.operands)
    low, high, values = operands[: sizes[0]], operands[sizes[0] : sizes[0] + sizes[1]], operands[sizes[0] + sizes[1] :]
    variable, *arguments = op.regions[0].block.args
    p.print_string(" ")
    p.print_ssa_value(variable)
    p.print_location(variable.location, inline=True)
    p.print_string(" = ")
    _show_bound(p, low, op.properties["lowerBoundMap"], "max")
    p.print_string(" to ")
    _show_bound(p, high, op.properties["upperBoundMap"], "min")
    step = int_value(op.properties.get("step"), 1)
    if step != 1:
        p.print_string(f" step {step}")
    if values:
        p.print_string(" iter_args")
        show_assignments(p, arguments, values)
        show_results(op, p)
    p.print_string(" ")
    p.print_region(op.regions[0], print_entry_block_args=False, print_block_terminators=bool(values))
    print_dict(p, op, frozenset({"lowerBoundMap", "upperBoundMap", "step"}))


# --- if ---------------------------------------------------------------------------------------------------------------


def _read_if(p: Any) -> Operation:
    at = p.token().start
    condition = p.parse_attribute()
    if not isinstance(condition, AffineSetAttr):
        p.raise_error("expected integer set", at)
    operands, _ = read_map_operands(p)
    results: list[Attribute] = []
    if p.parse_optional_punctuation("->") is not None:
        results = types(p)
    first = ensure_terminator(p.parse_region(), affine.YieldOp)
    second = Region()
    if p.parse_optional_keyword("else") is not None:
        second = ensure_terminator(p.parse_region(), affine.YieldOp)
    properties, attributes = read_dict(p, affine.IfOp)
    properties["condition"] = condition
    return affine.IfOp.create(
        operands=operands,
        result_types=results,
        regions=[first, second],
        properties=properties,
        attributes=attributes,
    )


def _show_if(op: Operation, p: Any) -> None:
    condition = op.properties["condition"]
    assert isinstance(condition, AffineSetAttr)
    p.print_string(" ")
    p.print_attribute(condition)
    show_map_operands(p, op.operands, condition.data.num_dims)
    if op.results:
        p.print_string(" -> ")
        p.print_list([r.type for r in op.results], p.print_attribute)
    for word, region in zip((" ", " else "), op.regions, strict=False):
        if region.blocks:
            p.print_string(word)
            p.print_region(region, print_block_terminators=bool(op.results))
    print_dict(p, op, frozenset({"condition"}))


FORMS: dict[str, Form] = {
    **affine_more.FORMS,
    "affine.load": _access(affine.LoadOp, store=False, vector=False),
    "affine.store": _access(affine.StoreOp, store=True, vector=False),
    "affine.vector_load": _access(affine.VectorLoadOp, store=False, vector=True),
    "affine.vector_store": _access(affine.VectorStoreOp, store=True, vector=True),
    "affine.apply": _apply(affine.ApplyOp),
    "affine.min": _apply(affine.MinOp),
    "affine.max": _apply(MaxOp),
    "affine.for": Form(_read_for, _show_for),
    "affine.if": Form(_read_if, _show_if),
    "affine.yield": yield_form(affine.YieldOp),
}
