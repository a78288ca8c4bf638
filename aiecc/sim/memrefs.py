"""Memref ops in generated code, and what they call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, MemRefType, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from aiecc.ir.dialects.aie.memory import size_in_bytes
from aiecc.sim.memory import Buffer, View
from aiecc.sim.numbers import element
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.scalars import NotModelled

if TYPE_CHECKING:
    from aiecc.sim.emit import Emitter

_DYNAMIC = -(1 << 63)


def view_of(buffer: Buffer, type: Attribute) -> View:
    """A whole buffer as a memref type shows it. Raises NotModelled for elements cores do not compute with."""
    if not isinstance(type, MemRefType):
        raise NotModelled(f"{type} is no memref")
    kind = element(type.element_type)
    if kind is None:
        raise NotModelled(f"elements of type {type.element_type} are only moved, not computed with")
    shape = tuple(type.get_shape())
    return View(buffer, kind, 0, shape, row_major(shape))


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def _mixed(e: Emitter, op: Operation, key: str, group: int) -> str:
    """A static list with run-time values where the marker stands, as a tuple expression."""
    static = op.properties[key]
    segments = op.properties["operandSegmentSizes"]
    assert isinstance(static, DenseArrayBase) and isinstance(segments, DenseArrayBase)
    sizes = [int(n) for n in segments.get_values()]
    dynamic = iter(list(op.operands)[sum(sizes[:group]) :])
    values = [e.use(next(dynamic)) if int(n) == _DYNAMIC else str(int(n)) for n in static.get_values()]
    return f"({''.join(f'{v}, ' for v in values)})"


def _shape(op: Operation) -> tuple[int, ...]:
    type = op.results[0].type
    if not isinstance(type, MemRefType):
        raise NotModelled("its result is no ranked memref")
    return tuple(type.get_shape())


def _load(e: Emitter, op: Operation) -> None:
    base, *index = e.uses(op.operands)
    e.assign(op.results, [f"{base}.load({', '.join(index)})"])


def _store(e: Emitter, op: Operation) -> None:
    value, base, *index = e.uses(op.operands)
    e.line(f"{base}.store({', '.join([value, *index])})")


def _get_global(e: Emitter, op: Operation) -> None:
    name = op.properties["name"]
    assert isinstance(name, SymbolRefAttr)
    e.assign(op.results, [e.bind(e.world.view_of_global(op, name.root_reference.data))])


def _subview(e: Emitter, op: Operation) -> None:
    lists = [
        _mixed(e, op, key, group) for group, key in enumerate(("static_offsets", "static_sizes", "static_strides"), 1)
    ]
    keep = _kept(op)
    e.assign(op.results, [f"subview({e.use(op.operands[0])}, {', '.join(lists)}, {keep!r})"])


def _kept(op: Operation) -> tuple[int, ...]:
    """Which dimensions of the source the result has: all, or without some that have one element."""
    static = op.properties["static_sizes"]
    assert isinstance(static, DenseArrayBase)
    sizes = [int(n) for n in static.get_values()]
    shape = _shape(op)
    drop = len(sizes) - len(shape)
    kept: list[int] = []
    for at, size in enumerate(sizes):
        wanted = shape[len(kept)] if len(kept) < len(shape) else None
        if drop and size == 1 and wanted != 1:
            drop -= 1
        else:
            kept.append(at)
    if drop:
        kept = kept[: len(shape)]
    return tuple(kept)


def _reinterpret(e: Emitter, op: Operation) -> None:
    lists = [
        _mixed(e, op, key, group) for group, key in enumerate(("static_offsets", "static_sizes", "static_strides"), 1)
    ]
    e.assign(op.results, [f"reinterpret({e.use(op.operands[0])}, {', '.join(lists)})"])


def _alias(e: Emitter, op: Operation) -> None:
    if op.results:
        e.assign(op.results, [e.use(op.operands[0])])


def _reshape(e: Emitter, op: Operation) -> None:
    groups = op.properties["reassociation"]
    assert isinstance(groups, ArrayAttr)
    plain = tuple(
        tuple(i.value.data for i in group if isinstance(i, IntegerAttr))
        for group in groups
        if isinstance(group, ArrayAttr)
    )
    name = "collapse" if op.name.endswith("collapse_shape") else "expand"
    e.assign(op.results, [f"{name}({e.use(op.operands[0])}, {plain!r}, {_shape(op)!r})"])


def _alloc(e: Emitter, op: Operation) -> None:
    type = op.results[0].type
    shape = _shape(op)
    if any(n < 0 for n in shape):
        raise NotModelled("its size is not known before it runs")
    if isinstance(type, MemRefType) and isinstance(type.element_type, MemRefType):
        e.assign(op.results, [f"slots({shape!r})"])
        return
    view_of(Buffer("", 0), type)
    e.assign(op.results, [f"fresh({e.bind(type)}, {e.bind(op.name)})"])


def _dim(e: Emitter, op: Operation) -> None:
    base, index = e.uses(op.operands)
    e.assign(op.results, [f"{base}.sizes[{index}]"])


def _copy(e: Emitter, op: Operation) -> None:
    source, target = e.uses(op.operands)
    e.line(f"{target}.assign({source}.tolist())")


def _nothing(e: Emitter, op: Operation) -> None:
    pass


_OPS: dict[str, Callable[[Emitter, Operation], None]] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.get_global": _get_global,
    "memref.subview": _subview,
    "memref.reinterpret_cast": _reinterpret,
    "memref.cast": _alias,
    "memref.memory_space_cast": _alias,
    "memref.assume_alignment": _alias,
    "memref.collapse_shape": _reshape,
    "memref.expand_shape": _reshape,
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "memref.dealloc": _nothing,
    "memref.dim": _dim,
    "memref.copy": _copy,
}


def emit(e: Emitter, op: Operation) -> None:
    handler = _OPS.get(op.name)
    if handler is None:
        raise NotModelled("it has no meaning here yet")
    handler(e, op)


# --- what generated code calls ----------------------------------------------------------------------------------------


def subview(
    base: View, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int], keep: Sequence[int]
) -> View:
    at = base.offset
    for start, size, step, limit, stride in zip(offsets, sizes, strides, base.sizes, base.strides, strict=True):
        if size and not (start >= 0 and start + (size - 1) * step < limit):
            raise Trapped(
                Kind.BOUNDS, f"a view of {size} elements from {start} on is outside of {base.buffer.name} {base.sizes}"
            )
        at += start * stride
    steps = [stride * step for stride, step in zip(base.strides, strides, strict=True)]
    return View(base.buffer, base.element, at, tuple(sizes[i] for i in keep), tuple(steps[i] for i in keep))


def reinterpret(base: View, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> View:
    return View(base.buffer, base.element, offsets[0], tuple(sizes), tuple(strides))


def collapse(base: View, groups: Sequence[Sequence[int]], shape: tuple[int, ...]) -> View:
    for group in groups:
        for a, b in pairwise(group):
            if base.sizes[a] != 1 and base.strides[a] != base.sizes[b] * base.strides[b]:
                raise Trapped(Kind.VALUE, f"{base.buffer.name} {base.sizes} does not lie in one piece")
    sizes = tuple(prod(base.sizes[i] for i in group) for group in groups)
    return View(base.buffer, base.element, base.offset, sizes, tuple(base.strides[group[-1]] for group in groups))


def expand(base: View, groups: Sequence[Sequence[int]], shape: tuple[int, ...]) -> View:
    strides = [0] * len(shape)
    for stride, group in zip(base.strides, groups, strict=True):
        for i in reversed(group):
            strides[i] = stride
            stride *= shape[i]
    return View(base.buffer, base.element, base.offset, shape, tuple(strides))


def fresh(type: Any, name: str) -> View:
    """New memory on the stack."""
    return view_of(Buffer(f"a {name}", size_in_bytes(type)), type)


class Slots:
    """Memory for memrefs: an element holds a view, or nothing yet."""

    __slots__ = ("sizes", "views")

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes
        self.views: dict[tuple[int, ...], View] = {}

    def _at(self, index: tuple[int, ...]) -> tuple[int, ...]:
        if not all(0 <= i < size for i, size in zip(index, self.sizes, strict=True)):
            raise Trapped(Kind.BOUNDS, f"index {', '.join(map(str, index))} is outside of {self.sizes}")
        return index

    def load(self, *index: int) -> View:
        found = self.views.get(self._at(index))
        if found is None:
            raise Trapped(Kind.UNWRITTEN, "reads a slot that holds no buffer yet")
        return found

    def store(self, value: View, *index: int) -> None:
        self.views[self._at(index)] = value


def slots(sizes: tuple[int, ...]) -> Slots:
    """New memory for memrefs on the stack."""
    return Slots(sizes)


def failed(message: str) -> None:
    raise Trapped(Kind.VALUE, f"assertion failed: {message}")


HELPERS: dict[str, Any] = {f.__name__: f for f in (subview, reinterpret, collapse, expand, fresh, slots, failed)}
