"""Tiles, views of tensors, and what the ops around pipes compute, as calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, Float32Type, IntegerType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.api import refuse, span_of
from aiecc.plugins.tpush.boards import WINDOW
from aiecc.plugins.tpush.dialect.attrs import PartitionTensorViewType, PtrType, TileBufType
from aiecc.plugins.tpush.dialect.tile_ops import AllocTileOp, ComputeOp
from aiecc.plugins.tpush.dialect.view_ops import AddPtrOp, MakeTensorViewOp, PartitionViewOp
from aiecc.plugins.tpush.emit_base import PRIVATE, Room, Writer
from aiecc.plugins.tpush.memories import MEMORIES
from aiecc.plugins.tpush.model import Agent, Platform, Space, Tile
from aiecc.plugins.tpush.reading import tile_of
from aiecc.plugins.tpush.values import Values

CODE = "E1205"

BINARY = ("tadd", "tsub", "tmul", "tdiv", "tmax", "tmin")
SCALAR = ("tadds", "tsubs", "tmuls", "tdivs", "tmaxs", "tmins")
UNARY = ("trelu", "tneg", "tabs")
COPIES = ("tload", "tstore", "tmov")
MATRIX = ("tmatmul", "tmatmul.acc")
KNOWN = (*BINARY, *SCALAR, *UNARY, *COPIES, *MATRIX)


@dataclass(frozen=True, slots=True)
class Held:
    """A tile while code is written: its address (i64), the distance of its rows in bytes, and what it is.

    `empty`: the core goes through its handshakes without data, so nothing is computed on it.
    """

    address: SSAValue
    stride: int
    tile: Tile
    type: TileBufType
    empty: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A part of a tensor in global memory: its address (i64), strides and sizes in elements; None: only the run knows.

    `made`: the op that says the strides.
    """

    address: SSAValue
    strides: tuple[SSAValue, ...]
    element: Attribute
    sizes: tuple[int | None, ...]
    made: MakeTensorViewOp


def cannot(op: Operation, text: str, todo: str = "") -> NoReturn:
    refuse(f"'{op.name}' op {text}", span_of(op), code=CODE, todo=todo)


def width_of(element: Attribute) -> int:
    """Bytes of an element."""
    assert isinstance(element, IntegerType | AnyFloat)
    return element.bitwidth // 8


class Tiles:
    """What values that are tiles or views stand for, and the ops on them."""

    def __init__(self, writer: Writer, agent: Agent, platform: Platform, values: Values, prefix: str) -> None:
        self.writer = writer
        self.agent = agent
        self.platform = platform
        self.values = values
        self.prefix = prefix
        self.plain: dict[SSAValue, SSAValue] = {}
        """Values that are numbers: here and in the emitted code. A pointer is an i64."""
        self.held: dict[SSAValue, Held] = {}
        self.views: dict[SSAValue, View] = {}
        self.names: dict[str, int] = {}

    def name(self, word: str) -> str:
        """A name for a buffer of this core."""
        count = self.names[word] = self.names.get(word, 0) + 1
        return f"{self.prefix}_{word}" + (f"_{count}" if count > 1 else "")

    def tile(self, op: Operation, value: SSAValue) -> Held:
        found = self.held.get(value)
        if found is None:
            cannot(op, "works on a tile that comes from nowhere", "make it with pto.alloc_tile, or pop it")
        return found

    def of_type(self, op: Operation, type: TileBufType, valid: Sequence[SSAValue] = ()) -> Tile:
        """What a tile's type says; extents that are operands must be numbers that are known."""
        numbers = [self.values.number(each) for each in valid]
        if None in numbers:
            cannot(op, "has an extent that only the run knows", "write it as a constant")
        if type.bytes_per_element is None:
            cannot(op, "has elements that are no whole bytes")
        return tile_of(op, type, numbers)

    def hold(self, value: SSAValue, held: Held) -> None:
        self.held[value] = held

    # --- where tiles lie ----------------------------------------------------------------------------------------------

    def alloc(self, op: AllocTileOp) -> None:
        valid = [v for v in (op.valid_row, op.valid_col) if v is not None]
        assert isinstance(op.tile.type, TileBufType)
        tile = self.of_type(op, op.tile.type, valid if len(valid) == 2 else ())
        base = None if op.addr is None else self.values.number(op.addr)
        name = self.name(op.tile.name_hint or "tile")
        self.hold(op.tile, self.make(op, op.tile.type, tile, name, base))

    def make(
        self, op: Operation, type: TileBufType, tile: Tile, name: str, base: int | None = None, copies: int = 1
    ) -> Held:
        """Room for a tile, `copies` times, in its memory."""
        size = tile.rows * tile.cols * tile.element
        stride = tile.cols * tile.element
        own = Space.MAT if self.agent is Agent.CUBE else Space.VEC
        if tile.space is own:
            return Held(self.writer.room(Room(name, self.agent, size * copies, base, origin=op)), stride, tile, type)
        if tile.space not in PRIVATE or self.agent is not Agent.CUBE:
            found = MEMORIES[self.platform].get(tile.space)
            where = "global memory" if found is None else found.title
            mine = own.value if self.agent is not Agent.CUBE else ", ".join(s.value for s in (own, *PRIVATE))
            cannot(op, f"wants a tile in {where}, which this core does not have", f"tiles lie in {mine} here")
        memory = MEMORIES[self.platform][tile.space]
        used = self.writer.code.private.get(tile.space, 0) if base is None else base
        end = used + -(-size // memory.alignment) * memory.alignment
        if end > memory.usable:
            cannot(op, f"does not fit: {memory.title} has {memory.usable} bytes, and {used} of them are taken")
        self.writer.code.private[tile.space] = max(end, self.writer.code.private.get(tile.space, 0))
        return Held(self.writer.number(PRIVATE[tile.space] * WINDOW + used), stride, tile, type)

    # --- views --------------------------------------------------------------------------------------------------------

    def addptr(self, op: AddPtrOp) -> None:
        assert isinstance(op.pointer.type, PtrType)
        offset = self.writer.cast(self.plain[op.offset], i64)
        bytes_ = self.writer.times(offset, width_of(op.pointer.type.element))
        self.plain[op.result] = self.writer.plus(self.plain[op.pointer], bytes_)

    def whole_view(self, op: MakeTensorViewOp) -> None:
        assert isinstance(op.source.type, PtrType)
        if len(op.strides) != len(op.shape):
            cannot(op, f"has {len(op.shape)} extents and {len(op.strides)} strides")
        strides = tuple(self.plain[each] for each in op.strides)
        sizes = tuple(self.values.number(each) for each in op.shape)
        self.views[op.result] = View(self.plain[op.source], strides, op.source.type.element, sizes, op)

    def part_view(self, op: PartitionViewOp) -> None:
        view = self.views.get(op.source)
        if view is None or len(op.offsets) != len(view.strides):
            cannot(op, "takes a part of a view that is not made here")
        sizes = self._part_sizes(op, view)
        address = view.address
        for offset, stride in zip(op.offsets, view.strides, strict=True):
            if self.values.number(offset) == 0:
                continue
            elements = self.writer.times(self.writer.cast(self.plain[offset], i64), self.writer.cast(stride, i64))
            address = self.writer.plus(address, self.writer.times(elements, width_of(view.element)))
        self.views[op.result] = View(address, view.strides, view.element, sizes, view.made)

    def _part_sizes(self, op: PartitionViewOp, view: View) -> tuple[int | None, ...]:
        """What a part says of its sizes; where all is known, that it lies within the whole."""
        type = op.result.type
        assert isinstance(type, PartitionTensorViewType)
        said = [None if dim == DYNAMIC_INDEX else dim for dim in type.dimensions]
        given = [self.values.number(each) for each in op.sizes]
        if len(said) != len(given) or len(given) != len(op.offsets):
            cannot(op, f"has {len(op.offsets)} offsets, {len(given)} sizes, and a result of {len(said)} dimensions")
        sizes: list[int | None] = []
        for dim, (one, two, offset, whole) in enumerate(zip(said, given, op.offsets, view.sizes, strict=True)):
            if None not in (one, two) and one != two:
                cannot(op, f"has a size of {two} in dimension {dim}, but its type says {one}")
            size, start = two if one is None else one, self.values.number(offset)
            sizes.append(size)
            if size is None or start is None or whole is None or 0 <= start <= start + size <= whole:
                continue
            cannot(op, f"takes [{start}, {start + size}) in dimension {dim} of a tensor with {whole} there")
        return tuple(sizes)

    # --- ops ----------------------------------------------------------------------------------------------------------

    def compute(self, op: ComputeOp) -> None:
        name = op.name.removeprefix("pto.")
        if name not in KNOWN:
            known = ", ".join(KNOWN)
            cannot(op, "has no code here", f"the run-time knows {known}")
        self._right_core(op, name)
        tiles = [self.tile(op, v) for v in (*op.read, *op.written) if isinstance(v.type, TileBufType)]
        if any(each.empty for each in tiles):
            for value in op.written:
                if value in self.held:
                    old = self.held[value]
                    self.held[value] = Held(old.address, old.stride, old.tile, old.type, True)
            return
        if name in COPIES:
            self._copy(op)
        elif name in MATRIX:
            self._matmul(op, name.endswith("acc"))
        else:
            self._elementwise(op, name)

    def _right_core(self, op: ComputeOp, name: str) -> None:
        """Matrices are the Cube's, from L0A and L0B into L0C; all else that computes is a Vector core's."""
        on_cube = self.agent is Agent.CUBE
        if name not in COPIES and on_cube is not (name in MATRIX):
            where = "a Vector core" if on_cube else "the Cube"
            cannot(op, f"runs on {where} only", f"hand the tile to {where} through a pipe")
        if name not in MATRIX or not op.written or len(op.read) < 2:
            return
        for value, space in zip((op.written[0], *op.read[-2:]), (Space.ACC, Space.LEFT, Space.RIGHT), strict=True):
            if isinstance(value.type, TileBufType) and value.type.memory is not space:
                titles = (MEMORIES[self.platform][each].title for each in (space, value.type.memory))
                cannot(
                    op,
                    "takes a tile of {} here, not of {}".format(*titles),
                    f"pto.tmov it to a tile of {space.value}" if space is not Space.ACC else "",
                )

    def _copy(self, op: ComputeOp) -> None:
        if len(op.read) != 1 or len(op.written) != 1:
            cannot(op, "copies one thing to one place")
        source, target = op.read[0], op.written[0]
        tile = self.held.get(source) or self.held.get(target)
        if tile is None:
            cannot(op, "copies neither to a tile nor from one")
        shape = (tile.tile.height, tile.tile.width)
        ends: list[SSAValue] = []
        for value in (target, source):
            if not isinstance(value.type, TileBufType) and value not in self.views:
                todo = "take it from pto.make_tensor_view and pto.partition_view"
                cannot(op, f"copies {value.type}, which is neither a tile nor a view of a tensor", todo)
            if value in self.views:
                view = self.views[value]
                self._view_of(op, view, shape)
                if width_of(view.element) != tile.tile.element:
                    cannot(op, "copies between elements of different sizes")
                rows = self.writer.cast(view.strides[-2], i32) if len(view.strides) > 1 else self.writer.number(0, i32)
                ends += [view.address, self.writer.times(rows, tile.tile.element)]
            else:
                other = self.tile(op, value)
                if other.type.element != tile.type.element:
                    cannot(op, "copies between elements of different types")
                self._same_shape(op, (other.tile.height, other.tile.width), shape)
                ends += [other.address, self.writer.number(other.stride, i32)]
        extents = (shape[0], shape[1] * tile.tile.element)
        self.writer.call("pto_copy", [*ends, *(self.writer.number(n, i32) for n in extents)])
        self.writer.call("pto_copy_done", [])

    def _view_of(self, op: Operation, view: View, shape: tuple[int, int]) -> None:
        """A view that is copied has the shape of the tile, in rows without gaps between their elements."""
        known = [self.values.number(each) for each in view.made.strides]
        if known and known[-1] != 1:
            far = "a distance that only the run knows" if known[-1] is None else f"a distance of {known[-1]}"
            cannot(op, f"copies rows whose elements have {far}", "make the last stride of the view the constant 1")
        if any(size != 1 for size in view.sizes[:-2]):
            cannot(op, "copies a view with more than rows and columns", "take parts of size 1 in all dimensions before")
        rows, cols = (1, 1, *view.sizes)[-2:]
        self._same_shape(op, (shape[0] if rows is None else rows, shape[1] if cols is None else cols), shape)

    def _same_shape(self, op: Operation, other: tuple[int, int], shape: tuple[int, int]) -> None:
        if other != shape:
            cannot(op, f"copies between {other[0]}x{other[1]} and {shape[0]}x{shape[1]}", "make both of one shape")

    def suffix(self, op: Operation, tiles: Sequence[Held]) -> str:
        """How the functions for these elements end; they must be the same everywhere."""
        element = tiles[0].type.element
        if any(t.type.element != element for t in tiles):
            cannot(op, "works on elements of different types")
        if isinstance(element, Float32Type):
            return "f32"
        if element == i32:
            return "i32"
        cannot(op, "has no code for these elements", "the run-time computes on f32 and i32")

    def _operand(self, held: Held) -> list[SSAValue]:
        return [held.address, self.writer.number(held.stride, i32)]

    def _elementwise(self, op: ComputeOp, name: str) -> None:
        tiles = [self.tile(op, v) for v in (*op.written, *op.read) if isinstance(v.type, TileBufType)]
        scalars = [self.plain[v] for v in op.read if not isinstance(v.type, TileBufType)]
        wanted = (3, 0) if name in BINARY else (2, 1) if name in SCALAR else (2, 0)
        if (len(tiles), len(scalars)) != wanted or len(op.written) != 1:
            cannot(op, "has other operands than its code takes")
        suffix = self.suffix(op, tiles)
        shape = (tiles[0].tile.height, tiles[0].tile.width)
        for other in tiles:
            if other.tile.height < shape[0] or other.tile.width < shape[1]:
                smaller = f"{other.tile.height}x{other.tile.width}"
                text = f"writes a tile of {shape[0]}x{shape[1]}, but reads one of {smaller}"
                cannot(op, text, "make all of one shape")
        if any(s.type != tiles[0].type.element for s in scalars):
            cannot(op, f"takes a number of {tiles[0].type.element}, as the elements are, not of {scalars[0].type}")
        operands = [part for held in tiles for part in self._operand(held)] + scalars
        self.writer.call(f"pto_{name}_{suffix}", [*operands, *(self.writer.number(n, i32) for n in shape)])

    def _matmul(self, op: ComputeOp, accumulate: bool) -> None:
        tiles = [self.tile(op, v) for v in (*op.written, *op.read)]
        if len(tiles) != (4 if accumulate else 3):
            cannot(op, "has other operands than its code takes")
        out, left, right = tiles[0], *tiles[-2:]
        suffix = self.suffix(op, tiles)
        m, n, k = left.tile.height, right.tile.width, left.tile.width
        if (out.tile.height, out.tile.width, right.tile.height) != (m, n, k):
            cannot(op, f"multiplies {m}x{k} by {right.tile.height}x{n} into {out.tile.height}x{out.tile.width}")
        if accumulate and tiles[1].address is not out.address:
            cannot(op, "adds to a tile other than the one it writes")
        operands = [part for held in (out, left, right) for part in self._operand(held)]
        numbers = (m, n, k, int(accumulate))
        self.writer.call(f"pto_tmatmul_{suffix}", [*operands, *(self.writer.number(x, i32) for x in numbers)])
