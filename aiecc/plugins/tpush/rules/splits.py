"""Tiles and slots: what a split asks of a tile, and what a slot has room for."""

from __future__ import annotations

from aiecc.api import Sink
from aiecc.plugins.tpush.memories import GRANULE
from aiecc.plugins.tpush.model import Cluster, Direction, Kind, Pipe, Platform, Pop, Program, Push, Split, Tile
from aiecc.plugins.tpush.rules.common import tell, up
from aiecc.plugins.tpush.split import doubled


def check_tiles(cluster: Cluster, diag: Sink) -> None:
    """Every tile that is pushed or popped."""
    pipes = {pipe.id: pipe for pipe in cluster.pipes}
    told: set[tuple[int, Direction]] = set()
    for kind in (Push, Pop):  # what is wrong with a push need not be said of its pop
        wrong: set[tuple[int, Direction]] = set()
        for program in (cluster.cube, cluster.vector):
            for op in program.walk():
                if not isinstance(op, kind) or op.pipe not in pipes:
                    continue
                ring = (op.pipe, op.direction)
                if ring in told:
                    continue
                before = len(diag.items)
                if _legal(op, program, cluster.platform, diag):
                    _fits(op, pipes[op.pipe], program, diag)
                if len(diag.items) > before:
                    wrong.add(ring)
        told |= wrong


def whole_tile(op: Push | Pop, kind: Kind) -> Tile:
    """The whole tile of what a core moves: a Vector lane moves its part."""
    return op.tile if kind is Kind.CUBE else doubled(op.split, op.tile)


def _legal(op: Push | Pop, program: Program, platform: Platform, diag: Sink) -> bool:
    if op.split is Split.NONE:
        return True
    before = len(diag.items)
    whole = whole_tile(op, program.kind)
    if program.kind is Kind.CUBE:
        _parity(op, whole, diag)
    if platform is Platform.A5:
        _limits(op, whole, program, diag)
    if op.direction is Direction.V2C and len(diag.items) == before:
        _granule(op, whole, program, diag)
    return len(diag.items) == before


def _parity(op: Push | Pop, whole: Tile, diag: Sink) -> None:
    extent = whole.height if op.split.by_rows else whole.width
    what = "rows" if op.split.by_rows else "columns"
    if extent % 2 == op.split.odd:
        return
    other = {1: 3, 2: 4, 3: 1, 4: 2}[op.split]
    kind = "an odd" if op.split.odd else "an even"
    odd_possible = op.direction is Direction.C2V
    todo = f"set split = {other} on both sides" if odd_possible else f"pad the tile to {extent + 1} {what}"
    tell(diag, op.site, f"split = {int(op.split)} needs {kind} number of {what}; this tile has {extent}", todo=todo)


def _limits(op: Push | Pop, whole: Tile, program: Program, diag: Sink) -> None:
    """What the data paths of A5 can cut."""
    if op.direction is Direction.C2V:
        if whole.element != 4:
            text = f"A5 splits tiles of 4-byte elements only, Cube to Vector; these have {whole.element}"
            tell(diag, op.site, text, todo="push a tile of f32 or i32, or set split = 0 on both sides")
        elif op.split is Split.LEFT_RIGHT and whole.width % 32:
            text = f"A5 splits left-right by whole 32 columns, Cube to Vector; this tile has {whole.width}"
            tell(diag, op.site, text, todo=f"pad it to {up(whole.width, 32)} columns")


def _granule(op: Push | Pop, whole: Tile, program: Program, diag: Sink) -> None:
    """Both lanes write one slot: never one block of it."""
    rows, cols = (whole.height // 2, whole.width) if op.split.by_rows else (whole.height, whole.width // 2)
    run = (rows if op.split.by_rows else 1) * cols * whole.element
    if run % GRANULE == 0:
        return
    part = "part" if op.split.by_rows else "row"
    text = (
        f"both lanes would write one block of {GRANULE} bytes and lose data: a lane's {part} has {run} bytes, "
        f"no multiple of {GRANULE}"
    )
    unit = GRANULE // _gcd(whole.element if not op.split.by_rows else whole.element * cols, GRANULE)
    wanted = up(rows if op.split.by_rows else cols, unit)
    what = "rows" if op.split.by_rows else "columns"
    tell(diag, op.site, text, todo=f"make a lane's tile {wanted} {what}, the whole one {2 * wanted}")


def _gcd(a: int, b: int) -> int:
    from math import gcd

    return gcd(a, b)


def _fits(op: Push | Pop, pipe: Pipe, program: Program, diag: Sink) -> None:
    whole = whole_tile(op, program.kind)
    if whole.size <= pipe.slot_size:
        return
    both = "" if op.split is Split.NONE or program.kind is Kind.CUBE else " (both lanes together)"
    text = f"a tile of {whole.height}x{whole.width}{both} has {whole.size} bytes, "
    text += f"a slot of pipe {pipe.id} {pipe.slot_size}"
    tell(diag, op.site, text, todo=f"set slot_size = {up(whole.size, GRANULE)} on both sides")
