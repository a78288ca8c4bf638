"""memref ops that look at a buffer in another shape."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineDimExpr, AffineMap

from aiecc.ir.attr_printer import map_text
from aiecc.ir.dialects.upstream.codecs import Codec
from aiecc.ir.dialects.upstream.common import PURE, define
from aiecc.ir.dialects.upstream.lists import read_mixed, show_mixed
from aiecc.ir.dialects.upstream.pieces import I32, INDEX, expect, print_dict, read_dict, words
from aiecc.ir.dialects.upstream.template import called, template
from aiecc.ir.registry import Form


def segments(op: Operation, count: int) -> list[list[Any]]:
    sizes = op.get_attr_or_prop("operandSegmentSizes")
    lengths = list(sizes.get_values()) if isinstance(sizes, DenseArrayBase) else [len(op.operands)] + [0] * (count - 1)
    parts: list[list[Any]] = []
    start = 0
    for length in lengths:
        parts.append(list(op.operands[start : start + length]))
        start += length
    return parts


TransposeOp = define("memref.transpose", PURE, props="permutation")


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
    source, *groups = segments(op, 4)
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


_PERMUTATION = {"permutation": Codec("permutation", _read_permutation, _show_permutation)}


FORMS: dict[str, Form] = {
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
    "memref.extract_strided_metadata": Form(_read_metadata, _show_metadata, _name_metadata),
}

OPS = (TransposeOp,)
