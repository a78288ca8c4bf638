"""vector.transfer_read and vector.transfer_write: masks and maps that follow from the types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from aiecc.ir.dialects.upstream.pieces import I1, I32, INDEX, SEGMENTS, int_value, print_dict, read_dict, uses
from aiecc.ir.registry import Form


def default_map(shaped: Attribute, vector_type: Attribute) -> AffineMap:
    """The map that is meant when none is written: the last dimensions, in order."""
    rank = len(shaped.get_shape()) if isinstance(shaped, MemRefType | TensorType) else 0
    shape = vector_type.get_shape() if isinstance(vector_type, VectorType) else ()
    if rank == 0 and tuple(shape) == (1,):
        return AffineMap(0, 0, (AffineConstantExpr(0),))
    inner = getattr(shaped, "element_type", None)
    count = len(shape) - (len(inner.get_shape()) if isinstance(inner, VectorType) else 0)
    return AffineMap(rank, 0, tuple(AffineExpr.dimension(rank - count + i) for i in range(count)))


def mask_type(vector_type: Attribute, map: AffineMap) -> Attribute:
    """A bit per element that the map really reads or writes, in the order of memory."""
    shape = vector_type.get_shape() if isinstance(vector_type, VectorType) else ()
    used = sorted((expr.position, shape[i]) for i, expr in enumerate(map.results) if isinstance(expr, AffineDimExpr))
    return VectorType(I1, [size for _, size in used])


def _read_tail(
    p: Any, cls: type[Operation], write: bool
) -> tuple[Attribute, Attribute, dict[str, Attribute], dict[str, Attribute]]:
    """Dictionary and the two types; gives the shaped type, the vector type, properties and attributes."""
    properties, attributes = read_dict(p, cls)
    p.parse_punctuation(":")
    first = p.parse_type()
    p.parse_punctuation(",")
    second = p.parse_type()
    shaped, vector_type = (second, first) if write else (first, second)
    if "permutation_map" not in properties:
        properties["permutation_map"] = AffineMapAttr(default_map(shaped, vector_type))
    if "in_bounds" not in properties:
        map = properties["permutation_map"]
        rank = len(map.data.results) if isinstance(map, AffineMapAttr) else 0
        properties["in_bounds"] = ArrayAttr([BoolAttr.from_bool(False)] * rank)
    return shaped, vector_type, properties, attributes


def _mask(p: Any, names: list[Any], vector_type: Attribute, properties: dict[str, Attribute]) -> list[SSAValue]:
    map = properties["permutation_map"]
    if not names or not isinstance(map, AffineMapAttr):
        return []
    return [p.resolve_operand(names[0], mask_type(vector_type, map.data))]


def _read_indices(p: Any) -> list[Any]:
    p.parse_punctuation("[")
    found = uses(p)
    p.parse_punctuation("]")
    return found


def _read_read(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    indices = _read_indices(p)
    p.parse_punctuation(",")
    padding, *mask = uses(p)
    shaped, vector_type, properties, attributes = _read_tail(p, vector.TransferReadOp, write=False)
    element: Attribute = getattr(shaped, "element_type", shaped)
    masks = _mask(p, mask, vector_type, properties)
    properties[SEGMENTS] = DenseArrayBase.from_list(I32, [1, len(indices), 1, len(masks)])
    operands = [p.resolve_operand(source, shaped), *(p.resolve_operand(i, INDEX) for i in indices)]
    operands += [p.resolve_operand(padding, element), *masks]
    return vector.TransferReadOp.create(
        operands=operands, result_types=[vector_type], properties=properties, attributes=attributes
    )


def _read_write(p: Any) -> Operation:
    value = p.parse_unresolved_operand()
    p.parse_punctuation(",")
    target = p.parse_unresolved_operand()
    indices = _read_indices(p)
    mask = [p.parse_unresolved_operand()] if p.parse_optional_punctuation(",") is not None else []
    shaped, vector_type, properties, attributes = _read_tail(p, vector.TransferWriteOp, write=True)
    masks = _mask(p, mask, vector_type, properties)
    properties[SEGMENTS] = DenseArrayBase.from_list(I32, [1, 1, len(indices), len(masks)])
    operands = [p.resolve_operand(value, vector_type), p.resolve_operand(target, shaped)]
    operands += [*(p.resolve_operand(i, INDEX) for i in indices), *masks]
    results = [shaped] if isinstance(shaped, TensorType) else []
    return vector.TransferWriteOp.create(
        operands=operands, result_types=results, properties=properties, attributes=attributes
    )


def _show_tail(
    p: Any,
    op: Operation,
    shaped: Attribute,
    vector_type: Attribute,
    shown: Sequence[Attribute],
    mask: Sequence[SSAValue],
) -> None:
    if mask:
        p.print_string(", ")
        p.print_list(mask, p.print_operand)
    hidden: set[str] = set()
    map = op.get_attr_or_prop("permutation_map")
    if isinstance(map, AffineMapAttr) and map.data == default_map(shaped, vector_type):
        hidden.add("permutation_map")
    bounds = op.get_attr_or_prop("in_bounds")
    if isinstance(bounds, ArrayAttr) and not any(int_value(b) for b in bounds.data if isinstance(b, IntegerAttr)):
        hidden.add("in_bounds")
    print_dict(p, op, frozenset(hidden))
    p.print_string(" : ")
    p.print_list(shown, p.print_attribute)


def _show_read(op: Operation, p: Any) -> None:
    shaped, vector_type = op.operands[0].type, op.results[0].type
    rank = len(shaped.get_shape()) if isinstance(shaped, MemRefType | TensorType) else 0
    p.print_string(" ")
    p.print_operand(op.operands[0])
    p.print_string("[")
    p.print_list(op.operands[1 : 1 + rank], p.print_operand)
    p.print_string("], ")
    p.print_operand(op.operands[1 + rank])
    _show_tail(p, op, shaped, vector_type, [shaped, vector_type], op.operands[2 + rank :])


def _show_write(op: Operation, p: Any) -> None:
    vector_type, shaped = op.operands[0].type, op.operands[1].type
    rank = len(shaped.get_shape()) if isinstance(shaped, MemRefType | TensorType) else 0
    p.print_string(" ")
    p.print_list(op.operands[:2], p.print_operand)
    p.print_string("[")
    p.print_list(op.operands[2 : 2 + rank], p.print_operand)
    p.print_string("]")
    _show_tail(p, op, shaped, vector_type, [vector_type, shaped], op.operands[2 + rank :])


READ = Form(_read_read, _show_read)
WRITE = Form(_read_write, _show_write)
