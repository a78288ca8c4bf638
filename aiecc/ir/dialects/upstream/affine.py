"""affine: indices written as expressions of values, bounds through maps, and the ops xDSL prints generically."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import affine
from xdsl.dialects.affine import Affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.affine import read_expr
from aiecc.ir.attr_printer import expr_text
from aiecc.ir.dialects.upstream.common import PURE, define, extend
from aiecc.ir.dialects.upstream.lists import ints, read_mixed, show_mixed
from aiecc.ir.dialects.upstream.scf import (
    ensure_terminator,
    read_assignments,
    read_results,
    show_assignments,
    show_results,
    yield_form,
)
from aiecc.ir.dialects.upstream.template import (
    I1,
    I32,
    I64,
    INDEX,
    element,
    expect,
    int_value,
    print_dict,
    read_dict,
    types,
    uses,
)
from aiecc.ir.registry import Form

MaxOp = define("affine.max", PURE, props="map")
DelinearizeOp = define("affine.delinearize_index", PURE, props="static_basis")
LinearizeOp = define("affine.linearize_index", PURE, props="static_basis disjoint")
PrefetchOp = define("affine.prefetch", props="isWrite localityHint isDataCache map")
DIALECT = extend(Affine, (MaxOp, DelinearizeOp, LinearizeOp, PrefetchOp))

SEGMENTS = "operandSegmentSizes"


# --- expressions of values --------------------------------------------------------------------------------------------


class _Values:
    """Dimensions and symbols of a map that is written with values in it."""

    def __init__(self, p: Any) -> None:
        self.p = p
        self.dims: dict[str, Any] = {}
        self.symbols: dict[str, Any] = {}

    def primary(self) -> AffineExpr | None:
        p = self.p
        if p.parse_optional_keyword("symbol") is not None:
            p.parse_punctuation("(")
            found = self._one(self.symbols)
            p.parse_punctuation(")")
            return AffineExpr.symbol(found)
        if p.token().kind is not Kind.PERCENT_IDENT:
            return None
        return AffineExpr.dimension(self._one(self.dims))

    def _one(self, names: dict[str, Any]) -> int:
        operand = self.p.parse_unresolved_operand()
        key = f"{operand.operand_name}#{operand.index}"
        names.setdefault(key, operand)
        return list(names).index(key)

    def operands(self) -> list[SSAValue]:
        return [self.p.resolve_operand(value, INDEX) for value in (*self.dims.values(), *self.symbols.values())]

    def map(self, results: Sequence[AffineExpr]) -> AffineMapAttr:
        return AffineMapAttr(AffineMap(len(self.dims), len(self.symbols), tuple(results)))


def _read_index(p: Any) -> tuple[list[SSAValue], AffineMapAttr]:
    """`[%i + 3, %j * 2]`"""
    values = _Values(p)
    results = p.parse_comma_separated_list(p.Delimiter.SQUARE, lambda: read_expr(p, values.primary))
    return values.operands(), values.map(results)


def _namer(p: Any, map: AffineMap, operands: Sequence[SSAValue]) -> Any:
    def name(expr: AffineExpr) -> str:
        if isinstance(expr, AffineSymExpr):
            return f"symbol({p.value_text(operands[map.num_dims + expr.position])})"
        assert isinstance(expr, AffineDimExpr)
        return p.value_text(operands[expr.position])

    return name


def _index_text(p: Any, attr: Attribute | None, operands: Sequence[SSAValue]) -> str:
    if not isinstance(attr, AffineMapAttr):
        return ""
    name = _namer(p, attr.data, operands)
    return ", ".join(expr_text(result, False, name) for result in attr.data.results)


def _access(cls: type[Operation], store: bool, vector: bool) -> Form:
    """Loads and stores: `%v, %m[expr] {dict} : memref, vector`."""

    def read(p: Any) -> Operation:
        stored = p.parse_unresolved_operand() if store else None
        if store:
            p.parse_punctuation(",")
        source = p.parse_unresolved_operand()
        indices, map = _read_index(p)
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
        p.print_string(f"[{_index_text(p, op.get_attr_or_prop('map'), indices)}]")
        print_dict(p, op, frozenset({"map"}))
        p.print_string(" : ")
        p.print_attribute(source.type)
        if vector:
            p.print_string(", ")
            p.print_attribute(operands[0].type if store else op.results[0].type)

    return Form(read, show)


# --- maps applied to values -------------------------------------------------------------------------------------------


def _read_map_operands(p: Any) -> tuple[list[SSAValue], int]:
    """`(%d)[%s]`: the operands and how many of them are dimensions."""
    p.parse_punctuation("(")
    values = uses(p)
    dims = len(values)
    p.parse_punctuation(")")
    if p.parse_optional_punctuation("[") is not None:
        values += uses(p)
        p.parse_punctuation("]")
    return [p.resolve_operand(value, INDEX) for value in values], dims


def _show_map_operands(p: Any, operands: Sequence[SSAValue], dims: int) -> None:
    p.print_string("(")
    p.print_list(operands[:dims], p.print_operand)
    p.print_string(")")
    if len(operands) > dims:
        p.print_string("[")
        p.print_list(operands[dims:], p.print_operand)
        p.print_string("]")


def _read_map(p: Any) -> AffineMapAttr:
    at = p.token().start
    found = p.parse_attribute()
    if not isinstance(found, AffineMapAttr):
        p.raise_error("expected affine map", at)
    return found


def _apply(cls: type[Operation]) -> Form:
    def read(p: Any) -> Operation:
        map = _read_map(p)
        operands, _ = _read_map_operands(p)
        properties, attributes = read_dict(p, cls)
        properties["map"] = map
        return cls.create(operands=operands, result_types=[INDEX], properties=properties, attributes=attributes)

    def show(op: Operation, p: Any) -> None:
        map = op.get_attr_or_prop("map")
        assert isinstance(map, AffineMapAttr)
        p.print_string(" ")
        p.print_attribute(map)
        _show_map_operands(p, op.operands, map.data.num_dims)
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
    map = _read_map(p)
    operands, _ = _read_map_operands(p)
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
    _show_map_operands(p, operands, map.num_dims)


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
    operands, _ = _read_map_operands(p)
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
    _show_map_operands(p, op.operands, condition.data.num_dims)
    if op.results:
        p.print_string(" -> ")
        p.print_list([r.type for r in op.results], p.print_attribute)
    for word, region in zip((" ", " else "), op.regions, strict=False):
        if region.blocks:
            p.print_string(word)
            p.print_region(region, print_block_terminators=bool(op.results))
    print_dict(p, op, frozenset({"condition"}))


# --- parallel ---------------------------------------------------------------------------------------------------------


def _read_bounds(p: Any, word: str, values: _Values) -> tuple[list[AffineExpr], list[int]]:
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
    low_values, high_values = _Values(p), _Values(p)
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
    name = _namer(p, map.data, operands)
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


# --- indices and prefetch ---------------------------------------------------------------------------------------------


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
    indices, map = _read_index(p)
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
    p.print_string(f"[{_index_text(p, op.get_attr_or_prop('map'), indices)}], {word}, ")
    p.print_string(f"locality<{int_value(op.get_attr_or_prop('localityHint'))}>, {cache}")
    print_dict(p, op, frozenset({"map", "isWrite", "localityHint", "isDataCache"}))
    p.print_string(" : ")
    p.print_attribute(source.type)


FORMS: dict[str, Form] = {
    "affine.load": _access(affine.LoadOp, store=False, vector=False),
    "affine.store": _access(affine.StoreOp, store=True, vector=False),
    "affine.vector_load": _access(affine.VectorLoadOp, store=False, vector=True),
    "affine.vector_store": _access(affine.VectorStoreOp, store=True, vector=True),
    "affine.apply": _apply(affine.ApplyOp),
    "affine.min": _apply(affine.MinOp),
    "affine.max": _apply(MaxOp),
    "affine.for": Form(_read_for, _show_for),
    "affine.if": Form(_read_if, _show_if),
    "affine.parallel": Form(_read_parallel, _show_parallel),
    "affine.yield": yield_form(affine.YieldOp),
    "affine.delinearize_index": Form(_read_delinearize, _show_delinearize),
    "affine.linearize_index": Form(_read_linearize, _show_linearize),
    "affine.prefetch": Form(_read_prefetch, _show_prefetch),
}
