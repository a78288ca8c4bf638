"""vector: the ops of vectorised kernels, most of which xDSL lacks."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    VectorType,
)
from xdsl.dialects.vector import CombiningKindAttr, Vector
from xdsl.ir import Attribute, Dialect, Operation

from aiecc.ir.dialects.upstream import vector_more
from aiecc.ir.dialects.upstream.codecs import Codec, i64_list
from aiecc.ir.dialects.upstream.common import define, extend
from aiecc.ir.dialects.upstream.flags import FAST
from aiecc.ir.dialects.upstream.lists import read_mixed, show_mixed
from aiecc.ir.dialects.upstream.pieces import INDEX, element, print_dict, read_dict, types, uses
from aiecc.ir.dialects.upstream.template import called, template
from aiecc.ir.dialects.upstream.transfer import READ, WRITE
from aiecc.ir.dialects.upstream.vector_more import IteratorTypeAttr, PunctuationAttr, pure_op
from aiecc.ir.registry import Form

TransposeOp = pure_op("transpose", "permutation")
MultiReductionOp = pure_op("multi_reduction", "kind reduction_dims")
ShapeCastOp = pure_op("shape_cast")
ExtractSliceOp = pure_op("extract_strided_slice", "offsets sizes strides")
InsertSliceOp = pure_op("insert_strided_slice", "offsets strides")
ConstantMaskOp = pure_op("constant_mask", "mask_dim_sizes")
OuterProductOp = pure_op("outerproduct", "kind")
InterleaveOp = pure_op("interleave")
DeinterleaveOp = pure_op("deinterleave")
StepOp = pure_op("step")
FromElementsOp = pure_op("from_elements")
ToElementsOp = pure_op("to_elements")
TypeCastOp = pure_op("type_cast")
VscaleOp = pure_op("vscale")
ScanOp = pure_op("scan", "kind reduction_dim inclusive")
GatherOp = define("vector.gather", props="alignment")
ScatterOp = define("vector.scatter", props="alignment")
ExpandLoadOp = define("vector.expandload", props="alignment")
CompressStoreOp = define("vector.compressstore", props="alignment")

_NEW = (
    TransposeOp, MultiReductionOp, ShapeCastOp, ExtractSliceOp, InsertSliceOp, ConstantMaskOp,
    OuterProductOp, InterleaveOp, DeinterleaveOp, StepOp, FromElementsOp, ToElementsOp, TypeCastOp, VscaleOp, ScanOp,
    GatherOp, ScatterOp, ExpandLoadOp, CompressStoreOp,
)  # fmt: skip


def _dialect() -> Dialect:
    extended = extend(Vector, (*_NEW, *vector_more.OPS))
    return Dialect("vector", list(extended.operations), [*extended.attributes, IteratorTypeAttr, PunctuationAttr])


DIALECT = _dialect()


# --- codecs -----------------------------------------------------------------------------------------------------------


def _read_kind(p: Any) -> Attribute:
    """`<add>`, or the attribute in full."""
    if p.parse_optional_punctuation("<") is None:
        return p.parse_attribute()
    p.resume(p.token().start - 1)
    return CombiningKindAttr(CombiningKindAttr.parse_parameter(p))


def _show_kind(p: Any, attr: Attribute | None) -> None:
    if isinstance(attr, CombiningKindAttr):
        attr.print_parameter(p)


_KIND = {"kind": Codec("kind", _read_kind, _show_kind), "fast": FAST}
_DIMS = {"dims": i64_list("reduction_dims"), **_KIND}


def _t(cls: type[Operation], text: str, signature: str) -> Form:
    return template(cls, text, signature, {"fast": FAST})


# --- reduction --------------------------------------------------------------------------------------------------------


def _read_reduction(p: Any) -> Operation:
    kind = _read_kind(p)
    p.parse_punctuation(",")
    values = uses(p)
    properties: dict[str, Attribute] = {"kind": kind}
    flags = FAST.read(p)
    if flags is not None:
        properties["fastmath"] = flags
    own, attributes = read_dict(p, vector.ReductionOp)
    p.parse_punctuation(":")
    source = p.parse_type()
    p.parse_keyword("into")
    result = p.parse_type()
    kinds = [source, result][: len(values)]
    if not 1 <= len(values) <= 2:
        p.raise_error("expected one or two operands")
    operands = [p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)]
    return vector.ReductionOp.create(
        operands=operands, result_types=[result], properties=properties | own, attributes=attributes
    )


def _show_reduction(op: Operation, p: Any) -> None:
    p.print_string(" ")
    _show_kind(p, op.get_attr_or_prop("kind"))
    p.print_string(", ")
    p.print_list(op.operands, p.print_operand)
    FAST.show(p, op.get_attr_or_prop("fastmath"))
    print_dict(p, op, frozenset({"kind", "fastmath"}))
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)
    p.print_string(" into ")
    p.print_attribute(op.results[0].type)


# --- extract and insert -----------------------------------------------------------------------------------------------


def _read_extract(p: Any) -> Operation:
    source = p.parse_unresolved_operand()
    values, position = read_mixed(p)
    properties, attributes = read_dict(p, vector.ExtractOp)
    p.parse_punctuation(":")
    result = p.parse_type()
    p.parse_keyword("from")
    kind = p.parse_type()
    operands = [p.resolve_operand(source, kind), *(p.resolve_operand(v, INDEX) for v in values)]
    return vector.ExtractOp.create(
        operands=operands,
        result_types=[result],
        properties={**properties, "static_position": position},
        attributes=attributes,
    )


def _show_extract(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    show_mixed(p, op.operands[1:], op.get_attr_or_prop("static_position"))
    print_dict(p, op, frozenset({"static_position"}))
    p.print_string(" : ")
    p.print_attribute(op.results[0].type)
    p.print_string(" from ")
    p.print_attribute(op.operands[0].type)


def _read_insert(p: Any) -> Operation:
    value = p.parse_unresolved_operand()
    p.parse_punctuation(",")
    target = p.parse_unresolved_operand()
    values, position = read_mixed(p)
    properties, attributes = read_dict(p, vector.InsertOp)
    p.parse_punctuation(":")
    inner = p.parse_type()
    p.parse_keyword("into")
    kind = p.parse_type()
    operands = [p.resolve_operand(value, inner), p.resolve_operand(target, kind)]
    operands += [p.resolve_operand(v, INDEX) for v in values]
    return vector.InsertOp.create(
        operands=operands,
        result_types=[kind],
        properties={**properties, "static_position": position},
        attributes=attributes,
    )


def _show_insert(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_list(op.operands[:2], p.print_operand)
    p.print_string(" ")
    show_mixed(p, op.operands[2:], op.get_attr_or_prop("static_position"))
    print_dict(p, op, frozenset({"static_position"}))
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)
    p.print_string(" into ")
    p.print_attribute(op.results[0].type)


# --- ops whose result type follows from the others --------------------------------------------------------------------


def _read_shuffle(p: Any) -> Operation:
    values = uses(p)
    mask = i64_list("mask").read(p)
    properties, attributes = read_dict(p, vector.ShuffleOp)
    p.parse_punctuation(":")
    kinds = types(p)
    if len(values) != 2 or len(kinds) != 2 or mask is None:
        p.raise_error("expected two vectors and their types")
    first = kinds[0]
    assert isinstance(mask, DenseArrayBase)
    shape = [len(mask), *(first.get_shape()[1:] if isinstance(first, VectorType) else ())]
    return vector.ShuffleOp.create(
        operands=[p.resolve_operand(v, t) for v, t in zip(values, kinds, strict=True)],
        result_types=[VectorType(element(first), shape)],
        properties={**properties, "mask": mask},
        attributes=attributes,
    )


def _show_shuffle(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_list(op.operands, p.print_operand)
    p.print_string(" ")
    i64_list("mask").show(p, op.get_attr_or_prop("mask"))
    print_dict(p, op, frozenset({"mask"}))
    p.print_string(" : ")
    p.print_list([v.type for v in op.operands], p.print_attribute)


def _read_outerproduct(p: Any) -> Operation:
    values = uses(p)
    properties, attributes = read_dict(p, OuterProductOp)
    p.parse_punctuation(":")
    kinds = types(p)
    if len(kinds) != 2 or not 2 <= len(values) <= 3:
        p.raise_error("expected at least 2 operands")
    left, right = kinds
    result: Attribute = left
    if isinstance(left, VectorType) and isinstance(right, VectorType):
        result = VectorType(element(left), [*left.get_shape(), *right.get_shape()])
    operands = [p.resolve_operand(v, t) for v, t in zip(values, [left, right, result], strict=False)]
    return OuterProductOp.create(operands=operands, result_types=[result], properties=properties, attributes=attributes)


def _show_outerproduct(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_list(op.operands, p.print_operand)
    print_dict(p, op)
    p.print_string(" : ")
    p.print_list([v.type for v in op.operands[:2]], p.print_attribute)


def _read_elements(p: Any) -> Operation:
    values = uses(p)
    properties, attributes = read_dict(p, FromElementsOp)
    p.parse_punctuation(":")
    kind = p.parse_type()
    operands = [p.resolve_operand(v, element(kind)) for v in values]
    return FromElementsOp.create(operands=operands, result_types=[kind], properties=properties, attributes=attributes)


def _show_elements(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_list(op.operands, p.print_operand)
    print_dict(p, op)
    p.print_string(" : ")
    p.print_attribute(op.results[0].type)


def _read_to_elements(p: Any) -> Operation:
    value = p.parse_unresolved_operand()
    properties, attributes = read_dict(p, ToElementsOp)
    p.parse_punctuation(":")
    kind = p.parse_type()
    count = math.prod(kind.get_shape()) if isinstance(kind, VectorType) else 1
    return ToElementsOp.create(
        operands=[p.resolve_operand(value, kind)],
        result_types=[element(kind)] * count,
        properties=properties,
        attributes=attributes,
    )


def _show_to_elements(op: Operation, p: Any) -> None:
    p.print_string(" ")
    p.print_operand(op.operands[0])
    print_dict(p, op)
    p.print_string(" : ")
    p.print_attribute(op.operands[0].type)


_MASKED = " {m}[{i*}], {k}, {v}{dict} : {T}, {K}, {V}"
_GATHER = " {m}[{i*}] [{x}], {k}, {v}{dict} : {T}, {X}, {K}, {V}"

FORMS: dict[str, Form] = {
    **vector_more.FORMS,
    "vector.transfer_read": READ,
    "vector.transfer_write": WRITE,
    "vector.load": _t(vector.LoadOp, " {m}[{i*}]{dict} : {T}, {R}", "m:T i*:index -> R"),
    "vector.store": _t(vector.StoreOp, " {v}, {m}[{i*}]{dict} : {T}, {V}", "v:V m:T i*:index"),
    "vector.maskedload": _t(vector.MaskedLoadOp, f"{_MASKED} into {{R}}", "m:T i*:index k:K v:V -> R"),
    "vector.maskedstore": _t(vector.MaskedStoreOp, _MASKED, "m:T i*:index k:K v:V"),
    "vector.expandload": _t(ExpandLoadOp, f"{_MASKED} into {{R}}", "m:T i*:index k:K v:V -> R"),
    "vector.compressstore": _t(CompressStoreOp, _MASKED, "m:T i*:index k:K v:V"),
    "vector.gather": _t(GatherOp, f"{_GATHER} into {{R}}", "m:T i*:index x:X k:K v:V -> R"),
    "vector.scatter": _t(ScatterOp, _GATHER, "m:T i*:index x:X k:K v:V"),
    "vector.broadcast": _t(vector.BroadcastOp, " {a}{dict} : {T} to {R}", "a:T -> R"),
    "vector.shape_cast": _t(ShapeCastOp, " {a}{dict} : {T} to {R}", "a:T -> R"),
    "vector.bitcast": _t(vector.BitcastOp, " {a}{dict} : {T} to {R}", "a:T -> R"),
    "vector.type_cast": _t(TypeCastOp, " {a}{dict} : {T} to {R}", "a:T -> R"),
    "vector.extract_strided_slice": _t(ExtractSliceOp, " {a}{dict} : {T} to {R}", "a:T -> R"),
    "vector.insert_strided_slice": _t(InsertSliceOp, " {a}, {b}{dict} : {T} into {U}", "a:T b:U -> U"),
    "vector.fma": _t(vector.FMAOp, " {a}, {b}, {c}{dict} : {T}", "a:T b:T c:T -> T"),
    "vector.transpose": template(
        TransposeOp, " {a}, {perm}{dict} : {T} to {R}", "a:T -> R", {"perm": i64_list("permutation")}
    ),
    "vector.multi_reduction": template(
        MultiReductionOp, " {kind}, {a}, {b} {dims}{dict} : {T} to {R}", "a:T b:R -> R", _DIMS
    ),
    "vector.scan": template(
        ScanOp,
        " {kind}, {a}, {b}{dict} : {T}, {U}",
        "a:T b:U -> T U",
        _KIND,
        lambda op: ["dest", "accumulated_value"],
    ),
    "vector.create_mask": _t(vector.CreateMaskOp, " {i*}{dict} : {R}", "i*:index -> R"),
    "vector.constant_mask": template(
        ConstantMaskOp, " {sizes}{dict} : {R}", "-> R", {"sizes": i64_list("mask_dim_sizes")}
    ),
    "vector.interleave": _t(InterleaveOp, " {a}, {b}{dict} : {T} -> {R}", "a:T b:T -> R"),
    "vector.deinterleave": template(
        DeinterleaveOp, " {a}{dict} : {T} -> {R}", "a:T -> R R", None, lambda op: ["res1", "res2"]
    ),
    "vector.step": _t(StepOp, "{dict} : {R}", "-> R"),
    "vector.vscale": template(VscaleOp, "{dict}", "-> index", None, called("vscale")),
    "vector.reduction": Form(_read_reduction, _show_reduction),
    "vector.extract": Form(_read_extract, _show_extract),
    "vector.insert": Form(_read_insert, _show_insert),
    "vector.shuffle": Form(_read_shuffle, _show_shuffle),
    "vector.outerproduct": Form(_read_outerproduct, _show_outerproduct),
    "vector.from_elements": Form(_read_elements, _show_elements),
    "vector.to_elements": Form(_read_to_elements, _show_to_elements),
}
