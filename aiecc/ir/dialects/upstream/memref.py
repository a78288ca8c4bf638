"""memref: globals in their pretty form, the ops xDSL knows only in the generic one, and the names of results."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
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
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from aiecc.ir.attr_printer import dense_text, map_text
from aiecc.ir.dialects.upstream.common import PURE, TERMINATOR, define, extend
from aiecc.ir.dialects.upstream.lists import read_mixed, show_mixed
from aiecc.ir.dialects.upstream.template import (
    I1,
    I32,
    I64,
    INDEX,
    Codec,
    called,
    expect,
    fail,
    int_value,
    print_dict,
    read_dict,
    symbol,
    template,
    word_enum,
    words,
)
from aiecc.ir.registry import Form

TransposeOp = define("memref.transpose", PURE, props="permutation")
ReshapeOp = define("memref.reshape")
PrefetchOp = define("memref.prefetch", props="isWrite localityHint isDataCache")
GenericAtomicOp = define("memref.generic_atomic_rmw")
AtomicYieldOp = define("memref.atomic_yield", TERMINATOR)
ReallocOp = define("memref.realloc", props="alignment")
DistinctOp = define("memref.distinct_objects")

DIALECT = extend(MemRef, (TransposeOp, ReshapeOp, PrefetchOp, GenericAtomicOp, AtomicYieldOp, ReallocOp, DistinctOp))

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
        sizes, symbols = _segments(op, 2)
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


def _segments(op: Operation, count: int) -> list[list[Any]]:
    sizes = op.get_attr_or_prop("operandSegmentSizes")
    lengths = list(sizes.get_values()) if isinstance(sizes, DenseArrayBase) else [len(op.operands)] + [0] * (count - 1)
    parts: list[list[Any]] = []
    start = 0
    for length in lengths:
        parts.append(list(op.operands[start : start + length]))
        start += length
    return parts


# --- views ------------------------------------------------------------------------------------------------------------

_STATIC = ("static_offsets", "static_sizes", "static_strides")


def _read_view(p: Any, cls: type[Operation], leads: tuple[str, str, str]) -> Operation:
    source = p.parse_unresolved_operand()
    values: list[Any] = []
    sizes = [1]
    properties: dict[str, Attribute] = {}
    for lead, key in zip(leads, _STATIC, strict=True):
        for word in words(lead):
            expect(p, word)
        found, properties[key] = read_mixed(p)
        values += found
        sizes.append(len(found))
    own, attributes = read_dict(p, cls)
    properties |= own
    p.parse_punctuation(":")
    kind = p.parse_type()
    p.parse_keyword("to")
    result = p.parse_type()
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, sizes)
    operands = [p.resolve_operand(source, kind), *(p.resolve_operand(value, INDEX) for value in values)]
    return cls.create(operands=operands, result_types=[result], properties=properties, attributes=attributes)


def _show_view(op: Operation, p: Any, leads: tuple[str, str, str]) -> None:
    source, *groups = _segments(op, 4)
    p.print_string(" ")
    p.print_operand(source[0])
    for lead, key, group in zip(leads, _STATIC, groups, strict=True):
        p.print_string(lead)
        show_mixed(p, group, op.get_attr_or_prop(key))
    print_dict(p, op, frozenset(_STATIC))
    p.print_string(" : ")
    p.print_attribute(source[0].type)
    p.print_string(" to ")
    p.print_attribute(op.results[0].type)


def _view_form(cls: type[Operation], name: str, leads: tuple[str, str, str]) -> Form:
    return Form(lambda p: _read_view(p, cls, leads), lambda op, p: _show_view(op, p, leads), called(name))


def _read_reassociation(p: Any) -> Attribute:
    at = p.token().start
    found = p.parse_attribute()
    if not isinstance(found, ArrayAttr):
        p.raise_error("expected array of reassociation indices", at)
    return found


_REASSOCIATION = Codec("reassociation", _read_reassociation, lambda p, a: None if a is None else p.print_attribute(a))


def _read_expand(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    reassociation = _read_reassociation(p)
    p.parse_keyword("output_shape")
    values, shape = read_mixed(p)
    properties, attributes = read_dict(p, memref.ExpandShapeOp)
    p.parse_punctuation(":")
    kind = p.parse_type()
    p.parse_keyword("into")
    result = p.parse_type()
    properties |= {"reassociation": reassociation, "static_output_shape": shape}
    operands = [p.resolve_operand(source, kind), *(p.resolve_operand(value, INDEX) for value in values)]
    return memref.ExpandShapeOp.create(
        operands=operands, result_types=[result], properties=properties, attributes=attributes
    )


def _show_expand(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    p.print_string(" ")
    p.print_attribute(op.properties["reassociation"])
    p.print_string(" output_shape ")
    show_mixed(p, op.operands[1:], op.properties["static_output_shape"])
    print_dict(p, op, frozenset({"reassociation", "static_output_shape"}))
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)
    p.print_string(" into ")
    p.print_attribute(op.results[0].type)


def _read_permutation(p: Any) -> Attribute:
    """`(i, j) -> (j, i)`"""
    return AffineMapAttr(p.parse_affine_map())


def _show_permutation(p: Any, attr: Attribute | None) -> None:
    if isinstance(attr, AffineMapAttr):
        p.print_string(map_text(attr.data))


def is_permutation(map: AffineMap) -> bool:
    positions = [r.position for r in map.results if isinstance(r, AffineDimExpr)]
    return sorted(positions) == list(range(map.num_dims)) and len(map.results) == map.num_dims


def _read_metadata(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    properties, attributes = read_dict(p, memref.ExtractStridedMetaDataOp)
    p.parse_punctuation(":")
    kind = p.parse_type()
    p.parse_punctuation("->")
    results = [p.parse_type()]
    while p.parse_optional_punctuation(",") is not None:
        results.append(p.parse_type())
    return memref.ExtractStridedMetaDataOp.create(
        operands=[p.resolve_operand(source, kind)],
        result_types=results,
        properties=properties,
        attributes=attributes,
    )


def _show_metadata(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    print_dict(p, op)
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)
    p.print_string(" -> ")
    p.print_list([r.type for r in op.results], p.print_attribute)


def _name_metadata(op: Operation) -> list[str | None]:
    rank = (len(op.results) - 2) // 2
    if rank == 0:
        return ["base_buffer", "offset"]
    rest = [None] * (rank - 1)
    return ["base_buffer", "offset", "sizes", *rest, "strides", *rest]


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


_PERMUTATION = {"permutation": Codec("permutation", _read_permutation, _show_permutation)}

FORMS: dict[str, Form] = {
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
    "memref.extract_strided_metadata": Form(_read_metadata, _show_metadata, _name_metadata),
    "memref.subview": _view_form(memref.SubviewOp, "subview", ("", " ", " ")),
    "memref.reinterpret_cast": _view_form(
        memref.ReinterpretCastOp, "reinterpret_cast", (" to offset: ", ", sizes: ", ", strides: ")
    ),
    "memref.collapse_shape": template(
        memref.CollapseShapeOp,
        " {m} {reassociation}{dict} : {T} into {R}",
        "m:T -> R",
        {"reassociation": _REASSOCIATION},
        called("collapse_shape"),
    ),
    "memref.expand_shape": Form(_read_expand, _show_expand, called("expand_shape")),
    "memref.transpose": template(
        TransposeOp, " {m} {permutation}{dict} : {T} to {R}", "m:T -> R", _PERMUTATION, called("transpose")
    ),
    "memref.alloca_scope": Form(_read_scope, _show_scope),
    "memref.prefetch": Form(_read_prefetch, _show_prefetch),
    "memref.generic_atomic_rmw": Form(_read_generic_atomic, _show_generic_atomic),
}
