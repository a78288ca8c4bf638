"""Split objectFifos in short: what the tests of the fifo passes compare, one line an op."""

from __future__ import annotations

from collections.abc import Iterator

from passkit import Ran
from xdsl.ir import Attribute, Operation

from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp, ObjectFifoReleaseOp
from aiecc.ir.dialects.aie.attrs import PacketInfo
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.tiles import TileLike
from aiecc.ir.dialects.base import show
from aiecc.ir.passes.fifo_split import ObjectFifoSplit
from aiecc.ir.verify import verify

# A core tile with neighbours on all sides, and far ones; memory tiles; shims.
TILES = """
  %c02 = aie.tile(0, 2)
  %c03 = aie.tile(0, 3)
  %c04 = aie.tile(0, 4)
  %c12 = aie.tile(1, 2)
  %c13 = aie.tile(1, 3)
  %c23 = aie.tile(2, 3)
  %c33 = aie.tile(3, 3)
  %m0 = aie.tile(0, 1)
  %m1 = aie.tile(1, 1)
  %s0 = aie.tile(0, 0)
  %s1 = aie.tile(1, 0)
"""


def design(body: str, target: str = "npu2", tiles: str = TILES) -> str:
    return f"aie.device({target}) {{{tiles}{body.strip(chr(10))}\n}}\n"


def core(tile: str, *accesses: str, type: str = "memref<8xi32>") -> str:
    """A core's straight-line accesses: `Produce x 1` acquires, `-Produce x 1` releases."""
    lines: list[str] = []
    for i, access in enumerate(accesses):
        port, fifo, count = access.removeprefix("-").split()
        if access.startswith("-"):
            lines.append(f"aie.objectfifo.release @{fifo} ({port}, {count})")
        else:
            names = ", ".join(f"%o{i}_{j}" for j in range(int(count)))
            types = ", ".join([type] * int(count))
            lines.append(f"{names} = aie.objectfifo.acquire @{fifo} ({port}, {count}) : {types}")
    return f"aie.core(%{tile}) {{\n" + "\n".join(f"    {line}" for line in lines) + "\n    aie.end\n  }\n"


def split(body: str, target: str = "npu2", *, tiles: str = TILES, times: int = 1) -> Ran:
    """A correct design after split, which leaves a correct design and says nothing."""
    ran = split_loudly(body, target, tiles=tiles, times=times)
    assert ran.said == []
    return ran


def split_loudly(body: str, target: str = "npu2", *, tiles: str = TILES, times: int = 1) -> Ran:
    """As `split`, where a warning is expected."""
    ran = Ran(design(body, target, tiles))
    assert [d.text for d in verify(ran.module)] == []
    for _ in range(times):
        ObjectFifoSplit().apply(ran.device, ran.sink)
    assert [d.text for d in verify(ran.module)] == []
    return ran


def refused(body: str, target: str = "npu2", *, tiles: str = TILES) -> list[tuple[int, str]]:
    """What split says of a design that only it finds wrong: line within the body, text."""
    ran = Ran(design(body, target, tiles))
    assert [d.text for d in verify(ran.module)] == []
    ObjectFifoSplit().apply(ran.device, ran.sink)
    assert ran.sink.failed
    return spoken(ran, tiles)


def invalid(body: str, target: str = "npu2", *, tiles: str = TILES) -> tuple[int, str]:
    """What the verifier says of a design: line within the body, text."""
    found = verify(Ran(design(body, target, tiles)).module, first_only=True)
    assert len(found) == 1, found
    where = found[0].where
    assert where is not None
    return where.line - tiles.count("\n"), found[0].text


def spoken(ran: Ran, tiles: str = TILES) -> list[tuple[int, str]]:
    return [(-1 if d.where is None else d.where.line - tiles.count("\n"), d.text) for d in ran.sink.items]


def short(ran: Ran) -> list[str]:
    """The pools, endpoints and routes of a device in order, without the names of fifos."""
    return [line for op in ran.device.block.ops if (line := one_line(op))]


def one_line(op: Operation) -> str:
    if isinstance(op, ObjectFifoPoolOp):
        parts = " ".join(f"{s.symbol}={s.offset}+{s.size}" for s in op.segments)
        return f"pool {op.symbol} {_at(op.tile_op)} {op.depth} x {show(op.elem_type)} {parts}{_more(op)}"
    if isinstance(op, CoreEndpointOp):
        return f"core {op.symbol} {_at(op.tile_op)} {op.role.word} {op.pool}{_more(op)}"
    if isinstance(op, DmaEndpointOp):
        return f"dma {op.symbol} {_at(op.tile_op)} {op.role.word} {op.pool}{_more(op)}"
    if isinstance(op, RouteEndpointOp):
        return f"end {op.symbol} {_at(op.tile_op)} {op.bundle.word}{_more(op)}"
    if isinstance(op, RouteOp):
        header = "" if op.packet is None else f" packet {_packet(op.packet)}"
        return f"route {','.join(op.sources)} -> {','.join(op.destinations)}{header}"
    return ""


def _packet(packet: PacketInfo) -> str:
    known = "?" if packet.pkt_id is None else str(packet.pkt_id)
    return known if not packet.pkt_type else f"{packet.pkt_type}:{known}"


def _at(tile: TileLike | None) -> str:
    assert tile is not None and tile.coord is not None
    return f"({tile.coord[0]},{tile.coord[1]})"


_SHOWN = (
    "segments", "channelIndex", "iterCount", "padValue", "dispatch", "repeatCount", "disableSynchronization",
    "initValues", "buffers", "iterateBds", "stream",
)  # fmt: skip


def _more(op: Operation) -> str:
    found: list[str] = []
    for key in _SHOWN:
        if (attr := op.properties.get(key)) is not None:
            found.append(f"{key}={_value(attr)}")
    if isinstance(op, DmaEndpointOp):
        for dims in op.dimensions or ():
            found.append("dims=" + ",".join(f"{d.size}/{d.stride}" for d in dims))
        for pads in op.pad_dimensions or ():
            found.append("pads=" + ",".join(f"{p.before}/{p.after}" for p in pads))
    return "".join(f" {text}" for text in found)


def _value(attr: Attribute) -> str:
    text = show(attr)
    return text.removesuffix(" : i32").replace(" ", "")


def fifo_names(ran: Ran) -> dict[str, str | None]:
    """What fifo each pool and stream end says it belongs to."""
    kinds = (ObjectFifoPoolOp, DmaEndpointOp, RouteEndpointOp)
    return {op.symbol: op.fifo_name for op in ran.device.block.ops if isinstance(op, kinds)}


def accesses(ran: Ran) -> list[str]:
    """What cores acquire (+) and release (-), in order."""
    return [_access(op) for op in ran.module.walk() if isinstance(op, FifoAccess)]


def _access(op: FifoAccess) -> str:
    port = "" if op.port is None else f" {op.port.word}"
    sign = "+" if isinstance(op, ObjectFifoAcquireOp) else "-"
    assert isinstance(op, ObjectFifoAcquireOp | ObjectFifoReleaseOp)
    return f"{sign}{op.size} {op.fifo_name}{port}"


def lines_of(ran: Ran, tiles: str = TILES) -> Iterator[tuple[str, int]]:
    """For each pool, endpoint and route, the line of the body it comes from."""
    from aiecc.ir.spans import span_of

    for op in ran.device.block.ops:
        if (text := one_line(op)) and (span := span_of(op)) is not None:
            yield text.split()[0] + " " + text.split()[1], span.line - tiles.count("\n")
