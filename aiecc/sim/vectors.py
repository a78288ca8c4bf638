"""Vector ops in generated code. A vector is a tuple of its elements, row-major; lanes are computed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, IntegerAttr, VectorType
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from aiecc.sim.memory import View
from aiecc.sim.scalars import NotModelled, rounded, unsigned, wrap

if TYPE_CHECKING:
    from aiecc.sim.emit import Emitter

_DYNAMIC = -(1 << 63)


def _shape(type: Attribute) -> tuple[int, ...]:
    if not isinstance(type, VectorType) or any(s.value.data for s in type.scalable_dims.data):
        raise NotModelled("only vectors of a fixed size are computed")
    return tuple(type.get_shape())


def _element(type: Attribute) -> Attribute:
    return type.element_type if isinstance(type, VectorType) else type


# --- memory -----------------------------------------------------------------------------------------------------------


def _load(e: Emitter, op: Operation) -> None:
    base, *index = e.uses(op.operands)
    shape = _shape(op.results[0].type)
    e.assign(op.results, [f"lanes({base}, ({''.join(f'{i}, ' for i in index)}), {shape!r})"])


def _store(e: Emitter, op: Operation) -> None:
    value, base, *index = e.uses(op.operands)
    e.line(f"put_lanes({value}, {base}, ({''.join(f'{i}, ' for i in index)}), {_shape(op.operands[0].type)!r})")


def _transfer(op: Operation) -> tuple[tuple[int | None, ...], tuple[bool, ...]]:
    """Which dimension of the memref each of the vector's walks (None: it stands still), and which stay inside."""
    found, inside = op.properties["permutation_map"], op.properties.get("in_bounds")
    segments = op.properties["operandSegmentSizes"]
    assert isinstance(found, AffineMapAttr) and isinstance(segments, DenseArrayBase)
    if int(segments.get_values()[3]):
        raise NotModelled("it has a mask")
    dims: list[int | None] = []
    for result in found.data.results:
        if not isinstance(result, AffineDimExpr | AffineConstantExpr):
            raise NotModelled("its map is no permutation")
        dims.append(result.position if isinstance(result, AffineDimExpr) else None)
    flags = [bool(i.value.data) for i in inside if isinstance(i, IntegerAttr)] if isinstance(inside, ArrayAttr) else []
    return tuple(dims), tuple(flags) or (False,) * len(dims)


def _read(e: Emitter, op: Operation) -> None:
    dims, inside = _transfer(op)
    base, *index, padding = e.uses(op.operands)
    at = f"({''.join(f'{i}, ' for i in index)})"
    e.assign(op.results, [f"take({base}, {at}, {_shape(op.results[0].type)!r}, {dims!r}, {inside!r}, {padding})"])


def _write(e: Emitter, op: Operation) -> None:
    if op.results:
        raise NotModelled("it writes a tensor")
    dims, inside = _transfer(op)
    value, base, *index = e.uses(op.operands)
    at = f"({''.join(f'{i}, ' for i in index)})"
    e.line(f"put({value}, {base}, {at}, {_shape(op.operands[0].type)!r}, {dims!r}, {inside!r})")


# --- lanes ------------------------------------------------------------------------------------------------------------


def _broadcast(e: Emitter, op: Operation) -> None:
    source, target = op.operands[0].type, _shape(op.results[0].type)
    value = e.use(op.operands[0])
    if not isinstance(source, VectorType):
        e.assign(op.results, [f"({value},) * {prod(target)}"])
        return
    shape = (1,) * (len(target) - len(_shape(source))) + _shape(source)
    e.assign(op.results, [f"spread({value}, {shape!r}, {target!r})"])


def _fma(e: Emitter, op: Operation) -> None:
    kind = _element(op.results[0].type)
    e.assign(
        op.results,
        [f"tuple([{rounded('a * b + c', kind)} for a, b, c in zip({', '.join(e.uses(op.operands))})])"],
    )


_INTS = {
    "add": "{0} + {1}", "mul": "{0} * {1}", "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}",
    "minsi": "min({0}, {1})", "maxsi": "max({0}, {1})", "minui": "min({0}, {1})", "maxui": "max({0}, {1})",
}  # fmt: skip
_FLOATS = {
    "add": "{0} + {1}", "mul": "{0} * {1}", "minimumf": "minimumf({0}, {1})", "maximumf": "maximumf({0}, {1})",
    "minnumf": "minnumf({0}, {1})", "maxnumf": "maxnumf({0}, {1})",
}  # fmt: skip


def _reduction(e: Emitter, op: Operation) -> None:
    """From the first lane to the last: floats round after every step."""
    kind = op.properties["kind"]
    assert isinstance(kind, CombiningKindAttr)
    word, type = kind.data.value, op.results[0].type
    floats = type.name in ("f16", "bf16", "f32", "f64")
    form = (_FLOATS if floats else _INTS).get(word)
    if form is None:
        raise NotModelled(f"it reduces by {word}")
    names = ["a", "b"]
    if word.endswith("ui"):
        names = [unsigned(n, type) for n in names]
    step = form.format(*names)
    step = rounded(step, type) if floats else wrap(step, type)
    values = e.uses(op.operands)
    first = f"({values[1]}, *{values[0]})" if len(values) == 2 else values[0]
    e.assign(op.results, [f"fold(lambda a, b: {step}, {first})"])


def _position(e: Emitter, op: Operation, skip: int, shape: Sequence[int]) -> tuple[str, int]:
    """Where an element or a part starts, as an expression, and how many elements it has."""
    static = op.properties["static_position"]
    assert isinstance(static, DenseArrayBase)
    dynamic = iter(list(op.operands)[skip:])
    indices = [e.use(next(dynamic)) if int(n) == _DYNAMIC else str(int(n)) for n in static.get_values()]
    count = prod(shape[len(indices) :])
    terms = [f"{i} * {prod(shape[at + 1 :])}" for at, i in enumerate(indices)]
    return " + ".join(terms) or "0", count


def _extract(e: Emitter, op: Operation) -> None:
    at, count = _position(e, op, 1, _shape(op.operands[0].type))
    source = e.use(op.operands[0])
    part = isinstance(op.results[0].type, VectorType)
    e.assign(op.results, [f"{source}[{at}:{at} + {count}]" if part else f"{source}[{at}]"])


def _insert(e: Emitter, op: Operation) -> None:
    at, count = _position(e, op, 2, _shape(op.results[0].type))
    value, into = e.uses(op.operands[:2])
    part = value if isinstance(op.operands[0].type, VectorType) else f"({value},)"
    e.assign(op.results, [f"{into}[:{at}] + {part} + {into}[{at} + {count}:]"])


def _same(e: Emitter, op: Operation) -> None:
    e.assign(op.results, [e.use(op.operands[0])])


def _gather(e: Emitter, op: Operation) -> None:
    e.assign(op.results, [f"({''.join(f'{v}, ' for v in e.uses(op.operands))})"])


_OPS: dict[str, Callable[[Emitter, Operation], None]] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
    "vector.broadcast": _broadcast,
    "vector.splat": _broadcast,
    "vector.fma": _fma,
    "vector.reduction": _reduction,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.shape_cast": _same,
    "vector.from_elements": _gather,
}


def emit(e: Emitter, op: Operation) -> None:
    handler = _OPS.get(op.name)
    if handler is None:
        raise NotModelled("it has no meaning here yet")
    handler(e, op)


# --- what generated code calls ----------------------------------------------------------------------------------------


def _indices(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return product(*map(range, shape))


def lanes(base: View, index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A vector that lies along the last dimensions of a memref."""
    skip = len(index) - len(shape)
    if len(shape) == 1:
        return base.load_row(index, shape[0])
    head = index[:skip]
    rows = [
        base.load_row((*head, *(i + o for i, o in zip(index[skip:-1], outer, strict=True)), index[-1]), shape[-1])
        for outer in _indices(shape[:-1])
    ]
    return tuple(v for row in rows for v in row)


def put_lanes(value: tuple[Any, ...], base: View, index: tuple[int, ...], shape: tuple[int, ...]) -> None:
    skip = len(index) - len(shape)
    width = shape[-1] if shape else 1
    for at, outer in enumerate(_indices(shape[:-1])):
        inner = (i + o for i, o in zip(index[skip:-1], outer, strict=True))
        base.store_row(value[at * width : (at + 1) * width], (*index[:skip], *inner, index[-1]))


def _walk(
    index: tuple[int, ...],
    shape: tuple[int, ...],
    dims: tuple[int | None, ...],
    inside: tuple[bool, ...],
    sizes: tuple[int, ...],
) -> Iterator[tuple[int, ...] | None]:
    """The element of each lane; None where it lies outside and may."""
    for offsets in _indices(shape):
        at = list(index)
        out = False
        for dim, offset, sure in zip(dims, offsets, inside, strict=True):
            if dim is not None:
                at[dim] += offset
                out = out or (not sure and not 0 <= at[dim] < sizes[dim])
        yield None if out else tuple(at)


def take(
    base: View,
    index: tuple[int, ...],
    shape: tuple[int, ...],
    dims: tuple[int | None, ...],
    inside: tuple[bool, ...],
    padding: Any,
) -> tuple[Any, ...]:
    if len(shape) == 1 and dims[0] == len(index) - 1 and index[-1] + shape[0] <= base.sizes[-1]:
        return base.load_row(index, shape[0])
    walk = _walk(index, shape, dims, inside, base.sizes)
    return tuple(padding if at is None else base.load(*at) for at in walk)


def put(
    value: tuple[Any, ...],
    base: View,
    index: tuple[int, ...],
    shape: tuple[int, ...],
    dims: tuple[int | None, ...],
    inside: tuple[bool, ...],
) -> None:
    if len(shape) == 1 and dims[0] == len(index) - 1 and index[-1] + shape[0] <= base.sizes[-1]:
        base.store_row(value, index)
        return
    for lane, at in zip(value, _walk(index, shape, dims, inside, base.sizes), strict=True):
        if at is not None:
            base.store(lane, *at)


def spread(value: tuple[Any, ...], shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[Any, ...]:
    """Stretch dimensions of one element."""
    steps = [0 if size == 1 else prod(shape[at + 1 :]) for at, size in enumerate(shape)]
    return tuple(value[sum(i * s for i, s in zip(index, steps, strict=True))] for index in _indices(target))


def fold(step: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:
    found = values[0]
    for value in values[1:]:
        found = step(found, value)
    return found


HELPERS: dict[str, Any] = {f.__name__: f for f in (lanes, put_lanes, take, put, spread, fold)}
