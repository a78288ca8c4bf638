"""Which part of a whole tile a Vector lane has, and where that part lies in the slot. Slots hold tiles row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aiecc.plugins.tpush.model import Split, Tile


@dataclass(frozen=True, slots=True)
class Part:
    """Runs of bytes in a slot: `rows` of `row_bytes`, `stride` apart, from `offset` on."""

    offset: int
    rows: int
    row_bytes: int
    stride: int

    @property
    def size(self) -> int:
        return self.rows * self.row_bytes

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + (self.stride * (self.rows - 1) + self.row_bytes if self.rows and self.row_bytes else 0)


def lane_tile(split: Split, lane: int, first: Tile) -> Tile:
    """A lane's own tile, from that of lane 0: one row or column less on lane 1 of an odd split."""
    if lane == 0 or not split.odd:
        return first
    if split is Split.UP_DOWN_ODD:
        return replace(first, rows=first.rows - 1, valid_rows=None if first.valid_rows is None else first.height - 1)
    return replace(first, cols=first.cols - 1, valid_cols=None if first.valid_cols is None else first.width - 1)


def whole_part(tile: Tile) -> Part:
    """A whole tile in its slot, from the slot's start."""
    row = tile.width * tile.element
    return Part(0, tile.height, row, row)


def part(split: Split, lane: int, own: Tile) -> Part:
    """Where a lane's own tile lies in the slot of the whole one.

    All is computed from the lane's own extent: lane 1 of an odd split skips one row or column more than it has.
    """
    rows, cols, size = own.height, own.width, own.element
    row = cols * size
    if split is Split.NONE:
        return whole_part(own)
    if split is Split.UP_DOWN:
        return Part(lane * rows * row, rows, row, row)
    if split is Split.LEFT_RIGHT:
        return Part(lane * row, rows, row, 2 * row)
    if split is Split.UP_DOWN_ODD:
        return Part(lane * (rows + lane) * row, rows, row, row)
    return Part(lane * (cols + lane) * size, rows, row, (2 * cols + 2 * lane - 1) * size)


def halves(split: Split, whole: Tile) -> tuple[Tile, Tile]:
    """What each lane gets of a whole tile; the first lane the larger half of an odd split.

    An extent that the split does not divide as its name says is a ValueError.
    """
    if split is Split.NONE:
        raise ValueError("a tile that is not split has no halves")
    extent = whole.height if split.by_rows else whole.width
    if extent % 2 != split.odd:
        raise ValueError(f"{extent} {'rows' if split.by_rows else 'columns'} cannot be split {split.name}")
    first = (extent + 1) // 2
    if split.by_rows:
        tile = replace(whole, rows=first, valid_rows=None, cols=whole.width, valid_cols=None)
    else:
        tile = replace(whole, cols=first, valid_cols=None, rows=whole.height, valid_rows=None)
    return tile, lane_tile(split, 1, tile)


def doubled(split: Split, first: Tile) -> Tile:
    """The whole tile, from what lane 0 has of it."""
    second = lane_tile(split, 1, first)
    if split is Split.NONE:
        return first
    if split.by_rows:
        return replace(first, rows=first.height + second.height, valid_rows=None)
    return replace(first, cols=first.width + second.width, valid_cols=None)
