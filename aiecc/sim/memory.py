"""Memory with a note on every byte: whether anybody wrote it, and which transfers are busy with it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from aiecc.base.spans import Span
from aiecc.sim.order import Order
from aiecc.sim.outcome import Kind, Trapped

Run = tuple[int, int]

_WIDTHS = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "q": 8, "f": 4, "d": 8}


class Busy:
    """The bytes a DMA transfer reads or writes from its first word to its last."""

    __slots__ = ("_mask", "by", "high", "low", "runs", "size", "writes")

    def __init__(self, by: str, writes: bool, runs: Sequence[Run], size: int) -> None:
        self.by = by
        self.writes = writes
        self.runs = runs
        self.size = size
        self.low = min(lo for lo, _ in runs)
        self.high = max(hi for _, hi in runs)
        self._mask: bytearray | None = None

    def touches(self, low: int, high: int) -> bool:
        if low >= self.high or high <= self.low:
            return False
        if len(self.runs) == 1:
            return True
        if self._mask is None:
            self._mask = bytearray(self.size)
            for lo, hi in self.runs:
                self._mask[lo:hi] = b"\1" * (hi - lo)
        return self._mask.find(1, low, high) >= 0


class Buffer:
    """A piece of memory. Bytes start unwritten unless there is an initial value."""

    __slots__ = ("busy", "cells", "data", "name", "order", "size", "span", "tile", "valid")

    def __init__(
        self,
        name: str,
        size: int,
        tile: tuple[int, int] | None = None,
        initial: bytes | None = None,
        span: Span | None = None,
    ) -> None:
        self.name = name
        self.size = size
        self.tile = tile
        self.span = span
        self.data = bytearray(size if initial is None else initial)
        self.valid = bytearray(size) if initial is None else bytearray(b"\1" * size)
        self.busy: list[Busy] = []
        self.cells: dict[str, memoryview[Any]] = {}
        # None for memory that only one actor can reach.
        self.order: Order | None = None

    def preset(self, data: bytes) -> None:
        """Fill from outside before the run starts."""
        self.data[: len(data)] = data
        self.valid[: len(data)] = b"\1" * len(data)

    @property
    def written(self) -> int:
        return self.valid.count(1)

    def cast(self, format: str) -> memoryview[Any]:
        """The whole buffer as cells of a format of the struct module."""
        found = self.cells.get(format)
        if found is None:
            whole: Any = memoryview(self.data)
            found = whole[: self.size // _WIDTHS[format] * _WIDTHS[format]].cast(format)
            self.cells[format] = found
        return found

    def free(self, low: int, high: int, writing: bool) -> None:
        """Trap if a transfer is busy with these bytes in a way that does not go together."""
        for busy in self.busy:
            if (writing or busy.writes) and busy.touches(low, high):
                doing = "writes" if writing else "reads"
                theirs = "filling" if busy.writes else "reading"
                raise Trapped(
                    Kind.RACE, f"{doing} bytes {low} to {high - 1} of {self.name} while {busy.by} is {theirs} them"
                )

    def known(self, low: int, high: int) -> None:
        at = self.valid.find(0, low, high)
        if at >= 0:
            raise Trapped(Kind.UNWRITTEN, f"reads byte {at} of {self.name}, which nobody has written")

    def begin(self, by: str, writes: bool, runs: Sequence[Run]) -> Busy:
        """A transfer starts. The caller gives the result to `end`."""
        if self.busy:
            for lo, hi in runs:
                self.free(lo, hi, writes)
        if self.order is not None:
            note = self.order.write if writes else self.order.read
            for lo, hi in merged(runs):
                note(lo, hi)
        busy = Busy(by, writes, runs, self.size)
        self.busy.append(busy)
        return busy

    def end(self, busy: Busy) -> None:
        self.busy.remove(busy)

    def poke(self, low: int, data: bytes) -> None:
        """The running actor writes some bytes."""
        high = low + len(data)
        self.free(low, high, True)
        if self.order is not None:
            self.order.write(low, high)
        self.data[low:high] = data
        self.valid[low:high] = b"\1" * len(data)


def merged(runs: Sequence[Run]) -> Sequence[Run]:
    """The same bytes in as few pieces as there are, in order."""
    if len(runs) < 2:
        return runs
    found: list[Run] = []
    for low, high in sorted(runs):
        if found and low <= found[-1][1]:
            low, last = found.pop()
            high = max(high, last)
        found.append((low, high))
    return found


class Element:
    """How an element lies in memory: its format for `memoryview.cast`, and what turns a cell into a value and back."""

    __slots__ = ("decode", "encode", "format", "width")

    def __init__(
        self,
        format: str,
        width: int,
        decode: Callable[[Any], Any] | None = None,
        encode: Callable[[Any], Any] | None = None,
    ) -> None:
        self.format = format
        self.width = width
        self.decode = decode
        self.encode = encode


class View:
    """A memref: elements of a buffer in some shape. What kernel models get, too.

    Indices count elements of each dimension. Reading, writing and `tolist` check bounds, unwritten bytes and transfers
    under way; so a model traps where the compiled kernel would go on in silence.
    """

    __slots__ = ("buffer", "cells", "element", "offset", "sizes", "strides", "valid")

    def __init__(
        self, buffer: Buffer, element: Element, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        self.buffer = buffer
        self.element = element
        self.offset = offset
        self.sizes = sizes
        self.strides = strides
        self.cells = buffer.cast(element.format)
        self.valid = buffer.valid

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sizes

    def _at(self, index: tuple[int, ...]) -> int:
        at = self.offset
        for i, size, stride in zip(index, self.sizes, self.strides, strict=True):
            if not 0 <= i < size:
                raise Trapped(
                    Kind.BOUNDS, f"index {', '.join(map(str, index))} is outside of {self.buffer.name} {self.sizes}"
                )
            at += i * stride
        if not 0 <= at < len(self.cells):
            raise Trapped(Kind.BOUNDS, f"element {at} is outside of {self.buffer.name}")
        return at

    def load(self, *index: int) -> Any:
        at = self._at(index)
        width = self.element.width
        low = at * width
        if self.buffer.busy:
            self.buffer.free(low, low + width, False)
        if self.buffer.order is not None:
            self.buffer.order.read(low, low + width)
        if not (self.valid[low] and self.valid[low + width - 1]):
            self.buffer.known(low, low + width)
        value = self.cells[at]
        decode = self.element.decode
        return value if decode is None else decode(value)

    def store(self, value: Any, *index: int) -> None:
        at = self._at(index)
        width = self.element.width
        low = at * width
        if self.buffer.busy:
            self.buffer.free(low, low + width, True)
        if self.buffer.order is not None:
            self.buffer.order.write(low, low + width)
        encode = self.element.encode
        self.cells[at] = value if encode is None else encode(value)
        if not self.valid[low] or not self.valid[low + width - 1]:
            self.valid[low : low + width] = b"\1" * width

    def __getitem__(self, index: int | tuple[int, ...]) -> Any:
        return self.load(*(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index: int | tuple[int, ...], value: Any) -> None:
        self.store(value, *(index if isinstance(index, tuple) else (index,)))

    def __len__(self) -> int:
        return self.sizes[0] if self.sizes else 1

    def _indices(self) -> Iterator[tuple[int, ...]]:
        return product(*map(range, self.sizes))

    def _dense(self) -> tuple[int, int] | None:
        """First and last element plus one when they lie one after the other in memory."""
        step = 1
        for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if size != 1 and stride != step:
                return None
            step *= size
        return (self.offset, self.offset + step) if step and self.offset + step <= len(self.cells) else None

    def tolist(self) -> list[Any]:
        """All elements in row-major order."""
        dense = self._dense()
        if dense is None:
            return [self.load(*index) for index in self._indices()]
        return self._get(*dense)

    def _get(self, first: int, end: int) -> list[Any]:
        """Elements that lie one after the other."""
        low, high = first * self.element.width, end * self.element.width
        self.buffer.free(low, high, False)
        if self.buffer.order is not None:
            self.buffer.order.read(low, high)
        self.buffer.known(low, high)
        values = self.cells[first:end].tolist()
        decode = self.element.decode
        return values if decode is None else [decode(v) for v in values]

    def _put(self, first: int, end: int, values: Sequence[Any]) -> None:
        low, high = first * self.element.width, end * self.element.width
        self.buffer.free(low, high, True)
        if self.buffer.order is not None:
            self.buffer.order.write(low, high)
        encode = self.element.encode
        coded = values if encode is None else [encode(v) for v in values]
        self.cells[first:end] = array(self.element.format, coded)
        self.valid[low:high] = b"\1" * (high - low)

    def load_row(self, index: tuple[int, ...], count: int) -> tuple[Any, ...]:
        """`count` elements along the last dimension, from an index on."""
        last = (*index[:-1], index[-1] + count - 1)
        first = self._at(index)
        if self._at(last) - first == count - 1:
            return tuple(self._get(first, first + count))
        return tuple(self.load(*index[:-1], index[-1] + i) for i in range(count))

    def store_row(self, values: Sequence[Any], index: tuple[int, ...]) -> None:
        count = len(values)
        last = (*index[:-1], index[-1] + count - 1)
        first = self._at(index)
        if self._at(last) - first == count - 1:
            self._put(first, first + count, values)
            return
        for i, value in enumerate(values):
            self.store(value, *index[:-1], index[-1] + i)

    def assign(self, values: Sequence[Any]) -> None:
        """Write all elements, row-major."""
        if len(values) != prod(self.sizes):
            raise Trapped(
                Kind.KERNEL, f"{len(values)} values for the {prod(self.sizes)} elements of {self.buffer.name}"
            )
        dense = self._dense()
        if dense is None:
            for index, value in zip(self._indices(), values, strict=True):
                self.store(value, *index)
            return
        self._put(*dense, values)
