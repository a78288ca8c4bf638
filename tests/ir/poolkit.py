"""Pools, endpoints and devices as the tests of lowering their DMAs write them."""

from __future__ import annotations

from chainkit import Told, programs
from passkit import Ran

from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.passes.fifo_lower_dmas import ObjectFifoLowerDmas
from aiecc.ir.text import print_module
from aiecc.ir.verify import verify


def pool(name: str, tile: str, depth: int, size: int, *, segments: tuple[int, ...] = (), more: str = "") -> str:
    """A pool with its buffers `name0..` and, per segment, locks `namePk` (produce) and `nameCk` (consume)."""
    sizes = segments or (size,)
    lines = [f'%{name}{i} = aie.buffer({tile}) {{sym_name = "{name}{i}"}} : memref<{size}xi32>' for i in range(depth)]
    for k in range(len(sizes)):
        lines.append(f'%{name}P{k} = aie.lock({tile}) {{sym_name = "{name}P{k}", init = {depth} : i32}}')
        lines.append(f'%{name}C{k} = aie.lock({tile}) {{sym_name = "{name}C{k}", init = 0 : i32}}')
    held = ", ".join(f"@{name}{i}" for i in range(depth))
    entries = f"depth = {depth} : i32, buffers = [{held}]{more}"
    lines.append(f"aie.objectfifo.pool @{name}({tile}) {{{entries}}} : memref<{size}xi32> {{")
    at = 0
    for k, part in enumerate(sizes):
        locks = f"produceLock = @{name}P{k}, consumeLock = @{name}C{k}"
        lines.append(f"aie.objectfifo.segment @s{k} {{offset = {at} : i32, size = {part} : i32, {locks}}}")
        at += part
    return "\n".join([*lines, "}"])


def device(*parts: str, kind: str = "npu2") -> str:
    tiles = [f"%t{c}{r} = aie.tile({c}, {r})" for c, r in ((0, 0), (0, 1), (0, 2), (1, 3))]
    return "\n".join([f"aie.device({kind}) {{", *tiles, *parts, "}"])


def end(name: str, tile: str, role: str, of: str, more: str = "channelIndex = 0 : i32") -> str:
    return f"aie.objectfifo.dma_endpoint @{name}({tile}) {role} @{of} {{{more}}}"


def lowered(*parts: str, kind: str = "npu2") -> Ran:
    """Lowered without complaint, to valid IR that a second run leaves alone."""
    ran = Ran(device(*parts, kind=kind), ObjectFifoLowerDmas())
    assert ran.said == []
    assert not verify(ran.module)
    once = ran.text
    for again in ran.devices:
        ObjectFifoLowerDmas().apply(again, ran.sink)
    assert print_module(ran.module) == once
    assert not [op for op in ran.module.walk() if isinstance(op, DmaEndpointOp | RouteEndpointOp)]
    return ran


def chains(*parts: str, kind: str = "npu2") -> dict[str, Told]:
    return programs(lowered(*parts, kind=kind).module)


def bd(acquire: str, transfer: str, release: str, amount: int = 1) -> str:
    return f"AGE {acquire} {amount} | {transfer} | REL {release} {amount}"
