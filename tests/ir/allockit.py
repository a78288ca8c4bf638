"""Split objectFifos as the tests of allocating them write them: a line an op, no buffer, lock or channel yet."""

from __future__ import annotations

import re

from passkit import Ran

from aiecc.ir.dialects.aie.flows import FlowOp, PacketFlowOp
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.tiles import TileOp, placed
from aiecc.ir.passes.fifo_allocate import ObjectFifoAllocate
from aiecc.ir.text import print_module
from aiecc.ir.verify import verify


def pool(
    name: str, tile: str, depth: int, size: int = 16, more: str = "", *, parts: tuple[int, ...] = (), type: str = "i32"
) -> str:
    """A pool of `depth` objects of `size` elements, cut into `parts` (one whole segment without them)."""
    lines = [f"aie.objectfifo.pool @{name}({tile}) {{depth = {depth} : i32{more}}} : memref<{size}x{type}> {{"]
    at = 0
    for k, part in enumerate(parts or (size,)):
        lines.append(f"aie.objectfifo.segment @s{k} {{offset = {at} : i32, size = {part} : i32}}")
        at += part
    return "\n".join([*lines, "}"])


def dma(name: str, tile: str, role: str, of: str, more: str = "") -> str:
    return f"aie.objectfifo.dma_endpoint @{name}({tile}) {role} @{of} {{{more}}}"


def core(name: str, tile: str, role: str, of: str) -> str:
    return f"aie.objectfifo.core_endpoint @{name}({tile}) {role} @{of}"


def outside(name: str, tile: str, more: str = "", bundle: str = "DMA") -> str:
    return f"aie.route_endpoint @{name}({tile}) {bundle} {{{more}}}"


def fifo(name: str) -> str:
    return f'fifoName = "{name}"'


def route(source: str, *dests: str, packet: str = "") -> str:
    tail = f" {{packet = #aie.packet_info<{packet}>}}" if packet else ""
    return f"aie.route from {source} to [{', '.join('@' + d for d in dests)}]{tail}"


def tiles(*coords: tuple[int, int]) -> str:
    return "\n".join(f"%t{c}{r} = aie.tile({c}, {r})" for c, r in coords)


GRID = tiles((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (2, 3))


def device(*lines: str, kind: str = "npu2", grid: str = GRID) -> str:
    return "\n".join([f"aie.device({kind}) {{", grid, *lines, "}"])


def allocated(*lines: str, kind: str = "npu2", grid: str = GRID, quiet: bool = True) -> Ran:
    """Allocated to valid IR that a second run leaves alone."""
    ran = Ran(device(*lines, kind=kind, grid=grid))
    assert not verify(ran.module), "the test's own design"
    ObjectFifoAllocate().apply(ran.device, ran.sink)
    assert not ran.sink.failed, ran.said
    if quiet:
        assert ran.said == []
    assert not verify(ran.module)
    once = ran.text
    ObjectFifoAllocate().apply(ran.device, ran.sink)
    assert print_module(ran.module) == once
    return ran


def refused(*lines: str, kind: str = "npu2", grid: str = GRID) -> Ran:
    """Refused, and left as it was."""
    ran = Ran(device(*lines, kind=kind, grid=grid))
    before = ran.text
    ObjectFifoAllocate().apply(ran.device, ran.sink)
    assert ran.sink.failed
    assert ran.text == before
    return ran


def notes(ran: Ran, n: int = 0) -> list[str]:
    return [note.text for note in ran.sink.items[n].notes]


def held(ran: Ran) -> dict[str, list[str]]:
    """By tile, its buffers and locks (with their first values) in the order in which they stand below it."""
    found: dict[str, list[str]] = {}
    for op in ran.ops(BufferOp):
        found.setdefault(_place(op), []).append(op.symbol or "?")
    for op in ran.ops(LockOp):
        found.setdefault(_place(op), []).append(f"{op.symbol}={op.init}")
    return found


def _place(op: BufferOp | LockOp) -> str:
    tile = placed(op.tile)
    return "?" if tile is None else f"{tile.col},{tile.row}"


def locks(ran: Ran) -> dict[str, int | None]:
    return {op.symbol or "?": op.init for op in ran.ops(LockOp)}


def channels(ran: Ran) -> dict[str, int]:
    """Every endpoint's channel."""
    found = re.findall(r"endpoint @(\w+)\(.*channelIndex = (\d+)", ran.text)
    return {name: int(n) for name, n in found}


def flows(ran: Ran) -> list[str]:
    """Circuits and packet flows in order, `0,2:0 > 0,3:1` by tile and DMA channel; others with their bundle."""
    found: list[str] = []
    for op in ran.device.block.ops:
        if isinstance(op, FlowOp):
            found.append(f"{_end(op.source.owner, op.source_port)} > {_end(op.dest.owner, op.dest_port)}")
        elif isinstance(op, PacketFlowOp):
            starts = " + ".join(_end(e.tile.owner, e.port) for e in op.sources)
            stops = " + ".join(_end(e.tile.owner, e.port) for e in op.dests)
            found.append(f"{op.id}: {starts} > {stops}")
    return found


def _end(tile: object, port: object) -> str:
    assert isinstance(tile, TileOp)
    bundle, _, channel = str(port).partition(" : ")
    return f"{tile.col},{tile.row}:{channel}" + ("" if bundle == "DMA" else f" {bundle}")
