"""Builtin attributes and types as MLIR prints them. `printer.py` asks `TABLE` before it asks xDSL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    NoneType,
    Signedness,
    UnrankedMemRefType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

from aiecc.ir.numbers import bits, float_text

if TYPE_CHECKING:
    from aiecc.ir.printer import MlirPrinter

# More elements than this are printed as one hexadecimal string (unless all are equal).
HEX_LIMIT = 100


def signed(value: int, type: IntegerType | IndexType) -> int:
    """An integer as MLIR shows it: signless ones as two's complement."""
    if isinstance(type, IndexType):
        width = 64
    elif type.signedness.data is Signedness.UNSIGNED:
        return value
    else:
        width = type.width.data
    return value - (1 << width) if width and value >= 1 << (width - 1) else value


def int_text(value: int, type: Attribute) -> str:
    if isinstance(type, IntegerType):
        if type.width.data == 1 and type.signedness.data is Signedness.SIGNLESS:
            return "true" if value else "false"
        return str(signed(value, type))
    return str(signed(value, type)) if isinstance(type, IndexType) else str(value)


def number_text(value: Any, type: Attribute) -> str:
    """One element of a dense attribute or array."""
    if isinstance(type, AnyFloat):
        return float_text(value, type)
    if isinstance(type, ComplexType):
        inner = cast(Attribute, type.element_type)
        return f"({number_text(value[0], inner)},{number_text(value[1], inner)})"
    return int_text(value, type)


# --- numbers ----------------------------------------------------------------------------------------------------------


def _integer(p: MlirPrinter, attr: IntegerAttr) -> None:
    type = attr.type
    text = int_text(attr.value.data, type)
    p.print_string(text)
    if text not in ("true", "false"):
        p.print_string(" : ")
        p.print_attribute(type)


def _float(p: MlirPrinter, attr: FloatAttr) -> None:
    p.print_string(float_text(attr.value.data, attr.type))
    p.print_string(" : ")
    p.print_attribute(attr.type)


def untyped(p: MlirPrinter, attr: Attribute) -> None:
    """An attribute where MLIR may leave the type out: i64 and f64 are understood."""
    if isinstance(attr, IntegerAttr):
        type = attr.type
        if isinstance(type, IntegerType) and type.width.data == 64 and type.signedness.data is Signedness.SIGNLESS:
            p.print_string(int_text(attr.value.data, type))
            return
    elif isinstance(attr, FloatAttr) and attr.type.name == "f64":
        text = float_text(attr.value.data, attr.type)
        if not text.startswith("0x"):  # without a type, bits would be an integer
            p.print_string(text)
            return
    p.print_attribute(attr)


def _array(p: MlirPrinter, attr: ArrayAttr[Attribute]) -> None:
    p.print_string("[")
    for i, item in enumerate(attr.data):
        if i:
            p.print_string(", ")
        untyped(p, item)
    p.print_string("]")


def _dictionary(p: MlirPrinter, attr: DictionaryAttr) -> None:
    p.print_attr_dict(attr.data)


def _dense_array(p: MlirPrinter, attr: DenseArrayBase) -> None:
    p.print_string("array<")
    p.print_attribute(attr.elt_type)
    values = cast(Iterable[Any], cast(Any, attr).get_values())
    text = ", ".join(number_text(value, attr.elt_type) for value in values)
    p.print_string(f": {text}>" if text else ">")


# --- dense elements ---------------------------------------------------------------------------------------------------


def dense_text(attr: DenseIntOrFPElementsAttr) -> str:
    """`dense<..>` without its type."""
    type = cast(Any, attr.type)
    element = cast(Attribute, type.element_type)
    data = attr.data.data
    if not data:
        return "dense<>"
    packed = cast(Any, attr.get_element_type())
    one = cast(int, packed.compile_time_size)
    if data == data[:one] * (len(data) // one):
        return f"dense<{number_text(packed.unpack(data[:one], 1)[0], element)}>"
    values = list(cast(Iterable[Any], attr.get_values()))
    if len(values) > HEX_LIMIT:
        return f'dense<"0x{_hex(values, element)}">'
    words = [number_text(value, element) for value in values]
    for size in reversed(cast("tuple[int, ...]", type.get_shape())[1:]):
        words = [f"[{', '.join(words[i : i + size])}]" for i in range(0, len(words), size)]
    return f"dense<[{', '.join(words)}]>" if type.get_shape() else f"dense<{words[0]}>"


def _hex(values: list[Any], element: Attribute) -> str:
    if isinstance(element, IntegerType) and element.width.data == 1:
        packed = bytearray((len(values) + 7) // 8)
        for i, value in enumerate(values):
            packed[i // 8] |= bool(value) << (i % 8)
        return packed.hex().upper()
    return b"".join(_bytes(value, element) for value in values).hex().upper()


def _bytes(value: Any, element: Attribute) -> bytes:
    if isinstance(element, ComplexType):
        inner = cast(Attribute, element.element_type)
        return _bytes(value[0], inner) + _bytes(value[1], inner)
    if isinstance(element, AnyFloat):
        return bits(value, element).to_bytes((element.bitwidth + 7) // 8, "little")
    width = cast(int, element.width.data) if isinstance(element, IntegerType) else 64
    return (value & ((1 << width) - 1)).to_bytes((width + 7) // 8, "little")


def _resource(p: MlirPrinter, attr: DenseResourceAttr) -> None:
    p.print_string("dense_resource<")
    p.print_identifier_or_string_literal(attr.resource_handle.data)
    p.print_string("> : ")
    p.print_attribute(cast(Attribute, attr.type))


def _dense(p: MlirPrinter, attr: DenseIntOrFPElementsAttr) -> None:
    p.print_string(dense_text(attr) + " : ")
    p.print_attribute(cast(Attribute, attr.type))


# --- types ------------------------------------------------------------------------------------------------------------


def _memref(p: MlirPrinter, attr: MemRefType[Attribute]) -> None:
    dims = "".join("?x" if d == DYNAMIC_INDEX else f"{d}x" for d in attr.get_shape())
    p.print_string(f"memref<{dims}")
    p.print_attribute(attr.element_type)
    layout = attr.layout
    if not isinstance(layout, NoneAttr) and not is_identity(layout):
        p.print_string(", ")
        p.print_attribute(layout)
    _memory_space(p, attr.memory_space)
    p.print_string(">")


def _unranked_memref(p: MlirPrinter, attr: UnrankedMemRefType) -> None:
    p.print_string("memref<*x")
    p.print_attribute(attr.element_type)
    _memory_space(p, attr.memory_space)
    p.print_string(">")


def _memory_space(p: MlirPrinter, space: Attribute) -> None:
    if isinstance(space, NoneAttr) or (isinstance(space, IntegerAttr) and space.value.data == 0):
        return
    p.print_string(", ")
    untyped(p, space)


def is_identity(layout: Attribute) -> bool:
    if not isinstance(layout, AffineMapAttr):
        return False
    map = layout.data
    return map.num_symbols == 0 and map.results == tuple(AffineExpr.dimension(i) for i in range(map.num_dims))


def _vector(p: MlirPrinter, attr: VectorType[Attribute]) -> None:
    shape, scalable = attr.get_shape(), attr.get_scalable_dims()
    dims = "".join(f"[{d}]x" if s else f"{d}x" for d, s in zip(shape, scalable, strict=True))
    p.print_string(f"vector<{dims}")
    p.print_attribute(attr.element_type)
    p.print_string(">")


def _function(p: MlirPrinter, attr: FunctionType) -> None:
    p.print_function_type(attr.inputs.data, attr.outputs.data)


def _none(p: MlirPrinter, attr: NoneType) -> None:
    p.print_string("none")


def _bytes_attr(p: MlirPrinter, attr: BytesAttr) -> None:
    p.print_bytes_literal(attr.data)


def _fused(p: MlirPrinter, attr: FusedLoc) -> None:
    with p.in_location():
        p.print_string("fused")
        if not isinstance(attr.metadata, NoneAttr):
            p.print_string("<")
            p.print_attribute(attr.metadata)
            p.print_string(">")
        p.print_string("[")
        for i, part in enumerate(cast("ArrayAttr[Attribute]", attr.locations).data):
            if i:
                p.print_string(", ")
            p.print_attribute(part)
        p.print_string("]")


# --- affine -----------------------------------------------------------------------------------------------------------

_WORDS = {
    AffineBinaryOpKind.Mod: " mod ",
    AffineBinaryOpKind.FloorDiv: " floordiv ",
    AffineBinaryOpKind.CeilDiv: " ceildiv ",
}


def expr_text(expr: AffineExpr, strong: bool = False, name: Callable[[AffineExpr], str] | None = None) -> str:
    """An affine expression as MLIR writes it; `strong` puts parentheses around what binds weakly."""
    if isinstance(expr, AffineConstantExpr):
        return str(expr.value)
    if isinstance(expr, AffineDimExpr):
        return name(expr) if name is not None else f"d{expr.position}"
    if isinstance(expr, AffineSymExpr):
        return name(expr) if name is not None else f"s{expr.position}"
    assert isinstance(expr, AffineBinaryOpExpr)
    left, right = expr.lhs, expr.rhs
    if expr.kind is not AffineBinaryOpKind.Add:
        if expr.kind is AffineBinaryOpKind.Mul and _constant(right) == -1:
            return _wrapped(f"-{expr_text(left, True, name)}", strong)
        word = " * " if expr.kind is AffineBinaryOpKind.Mul else _WORDS[expr.kind]
        return _wrapped(f"{expr_text(left, True, name)}{word}{expr_text(right, True, name)}", strong)
    if isinstance(right, AffineBinaryOpExpr) and right.kind is AffineBinaryOpKind.Mul:
        factor = _constant(right.rhs)
        if factor == -1:
            inner = right.lhs
            weak = isinstance(inner, AffineBinaryOpExpr) and inner.kind is AffineBinaryOpKind.Add
            return _wrapped(f"{expr_text(left, False, name)} - {expr_text(inner, weak, name)}", strong)
        if factor is not None and factor < -1:
            inner = expr_text(right.lhs, True, name)
            return _wrapped(f"{expr_text(left, False, name)} - {inner} * {-factor}", strong)
    addend = _constant(right)
    if addend is not None and addend < 0:
        return _wrapped(f"{expr_text(left, False, name)} - {-addend}", strong)
    return _wrapped(f"{expr_text(left, False, name)} + {expr_text(right, False, name)}", strong)


def _constant(expr: AffineExpr) -> int | None:
    return expr.value if isinstance(expr, AffineConstantExpr) else None


def _wrapped(text: str, strong: bool) -> str:
    return f"({text})" if strong else text


def _space_text(dims: int, symbols: int) -> str:
    text = f"({', '.join(f'd{i}' for i in range(dims))})"
    return f"{text}[{', '.join(f's{i}' for i in range(symbols))}]" if symbols else text


def map_text(map: AffineMap) -> str:
    results = ", ".join(expr_text(result) for result in map.results)
    return f"{_space_text(map.num_dims, map.num_symbols)} -> ({results})"


def set_text(affine_set: AffineSet) -> str:
    parts: list[str] = []
    for constraint in affine_set.constraints:
        sides = constraint.lhs, constraint.rhs
        zero = _constant(sides[1]) == 0
        left = sides[0] if zero else sides[0] - sides[1]
        if constraint.kind is AffineConstraintKind.le:
            left = -left
        parts.append(f"{expr_text(left)} {'==' if constraint.kind is AffineConstraintKind.eq else '>='} 0")
    return f"{_space_text(affine_set.num_dims, affine_set.num_symbols)} : ({', '.join(parts)})"


def _map(p: MlirPrinter, attr: AffineMapAttr) -> None:
    p.print_string(p.alias("map", attr, f"affine_map<{map_text(attr.data)}>"))


def _set(p: MlirPrinter, attr: AffineSetAttr) -> None:
    p.print_string(p.alias("set", attr, f"affine_set<{set_text(attr.data)}>"))


TABLE: dict[type[Attribute], Callable[[Any, Any], None]] = {
    AffineMapAttr: _map,
    AffineSetAttr: _set,
    ArrayAttr: _array,
    BytesAttr: _bytes_attr,
    DenseArrayBase: _dense_array,
    DenseIntOrFPElementsAttr: _dense,
    DenseResourceAttr: _resource,
    DictionaryAttr: _dictionary,
    FloatAttr: _float,
    FunctionType: _function,
    FusedLoc: _fused,
    IntegerAttr: _integer,
    MemRefType: _memref,
    NoneType: _none,
    UnrankedMemRefType: _unranked_memref,
    VectorType: _vector,
}
