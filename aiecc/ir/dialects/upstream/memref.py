"""memref: globals in their pretty form, the ops xDSL knows only in the generic one, and the names of results."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.dialects.memref import MemRef
from xdsl.ir import Attribute, Operation
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.attr_printer import dense_text
from aiecc.ir.dialects.upstream import memref_views
from aiecc.ir.dialects.upstream.codecs import symbol, word_enum
from aiecc.ir.dialects.upstream.common import TERMINATOR, define, extend
from aiecc.ir.dialects.upstream.memref_views import segments
from aiecc.ir.dialects.upstream.pieces import I1, I32, I64, INDEX, fail, int_value, print_dict, read_dict
from aiecc.ir.dialects.upstream.template import called, template
from aiecc.ir.registry import Form

ReshapeOp = define("memref.reshape")
PrefetchOp = define("memref.prefetch", props="isWrite localityHint isDataCache")
GenericAtomicOp = define("memref.generic_atomic_rmw")
AtomicYieldOp = define("memref.atomic_yield", TERMINATOR)
ReallocOp = define("memref.realloc", props="alignment")
DistinctOp = define("memref.distinct_objects")

DIALECT = extend(
    MemRef, (*memref_views.OPS, ReshapeOp, PrefetchOp, GenericAtomicOp, AtomicYieldOp, ReallocOp, DistinctOp)
)

_ATOMIC = [
    "addf",
    "addi",
    "assign",
    "maximumf",
    "maxs",
    "maxu",
    "minimumf",
    "mins",
    "minu",
    "mulf",
    "muli",
    "ori",
    "andi",
    "maxnumf",
    "minnumf",
    "xori",
]
_CODECS = {"kind": word_enum("kind", _ATOMIC, lambda n: IntegerAttr(n, I64), int_value), "name": symbol("name")}


# --- global -----------------------------------------------------------------------------------------------------------


def _read_global(p: Any) -> Operation:
    properties: dict[str, Attribute] = {}
    visibility = p.parse_optional_str_literal()
    if visibility is not None:
        properties["sym_visibility"] = StringAttr(visibility)
    if p.parse_optional_keyword("constant") is not None:
        properties["constant"] = UnitAttr()
    properties["sym_name"] = p.parse_symbol_name()
    p.parse_punctuation(":")
    at = p.token().start
    kind = p.parse_type()
    if not isinstance(kind, MemRefType):
        p.raise_error("type should be static shaped memref, but got something else", at)
    properties["type"] = kind
    if p.parse_optional_punctuation("=") is not None:
        properties["initial_value"] = _read_initial(p, kind)
    own, attributes = read_dict(p, memref.GlobalOp)
    return memref.GlobalOp.create(properties=properties | own, attributes=attributes)


def _read_initial(p: Any, kind: MemRefType[Attribute]) -> Attribute:
    if p.parse_optional_keyword("uninitialized") is not None:
        return UnitAttr()
    tensor = TensorType(kind.element_type, kind.get_shape())
    return read_elements(p, tensor)


def read_elements(p: Any, kind: Attribute) -> Attribute:
    """`dense<..>` with its type or, as after a memref's type, without."""
    if p.parse_optional_keyword("dense") is not None:
        value = p.parse_dense_int_or_fp_elements_attr(kind)
        if p.parse_optional_punctuation(":") is not None:
            p.parse_type()
        return value
    return p.parse_attribute()


def _show_global(op: Operation, p: Any) -> None:
    visibility = op.get_attr_or_prop("sym_visibility")
    if isinstance(visibility, StringAttr):
        p.print_string(" ")
        p.print_attribute(visibility)
    if op.get_attr_or_prop("constant") is not None:
        p.print_string(" constant")
    name = op.get_attr_or_prop("sym_name")
    p.print_string(" ")
    if isinstance(name, StringAttr):
        p.print_symbol_name(name)
    p.print_string(" : ")
    kind = op.get_attr_or_prop("type")
    if kind is not None:
        p.print_attribute(kind)
    value = op.get_attr_or_prop("initial_value")
    if isinstance(value, UnitAttr):
        p.print_string(" = uninitialized")
    elif isinstance(value, DenseIntOrFPElementsAttr):
        p.print_string(f" = {dense_text(value)}")
    elif value is not None:
        p.print_string(" = ")
        p.print_attribute(value)
    print_dict(p, op, frozenset({"sym_visibility", "constant", "sym_name", "type", "initial_value"}))


# --- allocation -------------------------------------------------------------------------------------------------------


def _alloc_form(cls: type[Operation], name: str) -> Form:
    def read(p: Any) -> Operation:
        sizes = _read_values(p, Kind.L_PAREN, "(", ")")
        if sizes is None:
            fail(p, "expected '('")
        symbols = _read_values(p, Kind.L_SQUARE, "[", "]") or []
        properties, attributes = read_dict(p, cls)
        p.parse_punctuation(":")
        kind = p.parse_type()
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, [len(sizes), len(symbols)])
        operands = [p.resolve_operand(value, INDEX) for value in (*sizes, *symbols)]
        return cls.create(operands=operands, result_types=[kind], properties=properties, attributes=attributes)

    def show(op: Operation, p: Any) -> None:
        sizes, symbols = segments(op, 2)
        p.print_string("(")
        p.print_list(sizes, p.print_operand)
        p.print_string(")")
        if symbols:
            p.print_string("[")
            p.print_list(symbols, p.print_operand)
            p.print_string("]")
        print_dict(p, op)
        p.print_string(" : ")
        p.print_attribute(op.results[0].type)

    return Form(read, show, called(name))


def _read_values(p: Any, kind: Kind, open: str, close: str) -> list[Any] | None:
    """Unresolved operands in brackets; None when there are no brackets."""
    if p.token().kind is not kind:
        return None
    p.parse_punctuation(open)
    values: list[Any] = []
    if p.parse_optional_punctuation(close) is None:
        values.append(p.parse_unresolved_operand())
        while p.parse_optional_punctuation(",") is not None:
            values.append(p.parse_unresolved_operand())
        p.parse_punctuation(close)
    return values


# --- alloca_scope, prefetch, atomics ----------------------------------------------------------------------------------


def _read_scope(p: Any) -> Operation:
    results: list[Attribute] = []
    if p.parse_optional_punctuation("->") is not None:
        results = p.parse_comma_separated_list(p.Delimiter.PAREN, p.parse_type)
    region = p.parse_region()
    for block in region.blocks:
        last = block.last_op
        if last is None or last.name != "memref.alloca_scope.return":
            block.add_op(memref.AllocaScopeReturnOp.create())
    _, attributes = read_dict(p, memref.AllocaScopeOp)
    return memref.AllocaScopeOp.create(result_types=results, regions=[region], attributes=attributes)


def _show_scope(op: Operation, p: Any) -> None:
    p.print_string(" ")
    if op.results:
        p.print_string(" -> (")
        p.print_list([r.type for r in op.results], p.print_attribute)
        p.print_string(")")
    p.print_string(" ")
    p.print_region(op.regions[0], print_block_terminators=bool(op.results))
    print_dict(p, op)


def _read_prefetch(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    indices = _read_values(p, Kind.L_SQUARE, "[", "]") or []
    p.parse_punctuation(",")
    write = p.parse_keyword_in(("read", "write")) == "write"
    p.parse_punctuation(",")
    p.parse_keyword("locality")
    p.parse_punctuation("<")
    locality = p.parse_integer()
    p.parse_punctuation(">")
    p.parse_punctuation(",")
    data = p.parse_keyword_in(("data", "instr")) == "data"
    properties, attributes = read_dict(p, PrefetchOp)
    p.parse_punctuation(":")
    kind = p.parse_type()
    properties |= {
        "isWrite": IntegerAttr(int(write), I1),
        "localityHint": IntegerAttr(locality, I32),
        "isDataCache": IntegerAttr(int(data), I1),
    }
    operands = [p.resolve_operand(source, kind), *(p.resolve_operand(value, INDEX) for value in indices)]
    return PrefetchOp.create(operands=operands, properties=properties, attributes=attributes)


def _show_prefetch(op: Operation, p: Any) -> None:
    words = ("read", "write")[int_value(op.get_attr_or_prop("isWrite"))]
    cache = ("instr", "data")[int_value(op.get_attr_or_prop("isDataCache"))]
    p.print_string(" ")
    p.print_operand(op.operands[0])
    p.print_string("[")
    p.print_list(op.operands[1:], p.print_operand)
    p.print_string(f"], {words}, locality<{int_value(op.get_attr_or_prop('localityHint'))}>, {cache}")
    print_dict(p, op, frozenset({"isWrite", "localityHint", "isDataCache"}))
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)


def _read_generic_atomic(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    indices = _read_values(p, Kind.L_SQUARE, "[", "]") or []
    p.parse_punctuation(":")
    kind = p.parse_type()
    region = p.parse_region()
    _, attributes = read_dict(p, GenericAtomicOp)
    element = kind.element_type if isinstance(kind, MemRefType | UnrankedMemRefType) else kind
    operands = [p.resolve_operand(source, kind), *(p.resolve_operand(value, INDEX) for value in indices)]
    return GenericAtomicOp.create(operands=operands, result_types=[element], regions=[region], attributes=attributes)


def _show_generic_atomic(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    p.print_string("[")
    p.print_list(op.operands[1:], p.print_operand)
    p.print_string("] : ")
    p.print_attribute(op.operands[0].type)
    p.print_string(" ")
    p.print_region(op.regions[0])
    print_dict(p, op)


def _t(cls: type[Operation], text: str, signature: str, name: str | None = None) -> Form:
    return template(cls, text, signature, _CODECS, None if name is None else called(name))


FORMS: dict[str, Form] = {
    **memref_views.FORMS,
    "memref.global": Form(_read_global, _show_global),
    "memref.alloc": _alloc_form(memref.AllocOp, "alloc"),
    "memref.alloca": _alloc_form(memref.AllocaOp, "alloca"),
    "memref.get_global": _t(memref.GetGlobalOp, " {name}{dict} : {T}", "-> T"),
    "memref.load": _t(memref.LoadOp, " {m}[{i*}]{dict} : {T}", "m:T i*:index -> element(T)"),
    "memref.store": _t(memref.StoreOp, " {v}, {m}[{i*}]{dict} : {T}", "v:element(T) m:T i*:index"),
    "memref.dealloc": _t(memref.DeallocOp, " {m}{dict} : {T}", "m:T"),
    "memref.copy": _t(memref.CopyOp, " {a}, {b}{dict} : {T} to {U}", "a:T b:U"),
    "memref.cast": _t(memref.CastOp, " {a}{dict} : {T} to {R}", "a:T -> R", "cast"),
    "memref.memory_space_cast": _t(memref.MemorySpaceCastOp, " {a}{dict} : {T} to {R}", "a:T -> R", "memspacecast"),
    "memref.dim": _t(memref.DimOp, " {m}, {i}{dict} : {T}", "m:T i:index -> index", "dim"),
    "memref.rank": _t(memref.RankOp, " {m}{dict} : {T}", "m:T -> index"),
    "memref.view": _t(memref.ViewOp, " {m}[{s}][{i*}]{dict} : {T} to {R}", "m:T s:index i*:index -> R", "view"),
    "memref.reshape": _t(ReshapeOp, " {a}({b}){dict} : ({T}, {U}) -> {R}", "a:T b:U -> R", "reshape"),
    "memref.atomic_rmw": _t(
        memref.AtomicRMWOp, " {kind} {v}, {m}[{i*}]{dict} : ({V}, {T}) -> {R}", "v:V m:T i*:index -> R"
    ),
    "memref.atomic_yield": _t(AtomicYieldOp, " {v}{dict} : {T}", "v:T"),
    "memref.extract_aligned_pointer_as_index": _t(
        memref.ExtractAlignedPointerAsIndexOp, " {m}{dict} : {T} -> {R}", "m:T -> R", "intptr"
    ),
    "memref.assume_alignment": Form(names=called("assume_align")),
    "memref.alloca_scope": Form(_read_scope, _show_scope),
    "memref.prefetch": Form(_read_prefetch, _show_prefetch),
    "memref.generic_atomic_rmw": Form(_read_generic_atomic, _show_generic_atomic),
}
