"""What makes a transfer or a descriptor's registers wrong, in the order the checks are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from aiecc.ir.dialects.aie.bd import RUNTIME
from aiecc.ir.dialects.aie.memory import constant_int, element_bits, element_count
from aiecc.ir.dialects.aie.runtime import ShimDmaAllocationOp
from aiecc.ir.dialects.aie.tiles import device_of, target_of
from aiecc.ir.dialects.aiex.lookup import allocation, dma_of, symbol_in
from aiecc.ir.dialects.aiex.steps import DIMENSIONS, GRANULE, Steps
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuDmaWaitOp
from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.dialects.constraints import number
from aiecc.model.targets import Arch, Target, TileKind
from aiecc.model.targets.tables import Dma

NO_BURST = "Requested burst length is not supported by the target. Supported burst lengths:"
Entry = int | SSAValue


def verify_wait(op: NpuDmaWaitOp) -> None:
    device = device_of(op)
    if device is not None and symbol_in(device, op.symbol) is None:
        raise op.error("couldn't find symbol in parent device")


def mixed_lists(op: NpuDmaMemcpyNdOp) -> tuple[list[Entry], list[Entry], list[Entry]]:
    """Offsets, sizes and strides, outermost first; values where they are computed at run time and no constant."""
    found: list[list[Entry]] = []
    for static, values in zip(op.static_lists, (op.offsets, op.sizes, op.strides), strict=True):
        rest = iter(values)
        entries: list[Entry] = []
        for n in static.get_values():
            value = next(rest, None) if n == RUNTIME else None
            known = constant_int(value) if value is not None else int(n)
            entries.append(known if known is not None else value if value is not None else int(n))
        found.append(entries)
    return found[0], found[1], found[2]


def constants(entries: list[Entry]) -> list[int] | None:
    """The entries as numbers; None when one is computed at run time."""
    numbers = [entry for entry in entries if isinstance(entry, int)]
    return numbers if len(numbers) == len(entries) else None


def verify_memcpy(op: NpuDmaMemcpyNdOp) -> None:
    bits = element_bits(op.memref.type)
    if bits > GRANULE:
        raise op.error("Maximum element bit width allowed is 32bits. ")
    if isinstance(op.memref.type, MemRefType):
        count = element_count(op.memref.type)
        if count is not None and count * bits < GRANULE:
            raise op.error("Minimum data transfer size required is 32bits. ")
    offsets, sizes, strides = mixed_lists(op)
    if not len(offsets) == len(sizes) == len(strides) == DIMENSIONS:
        raise op.error(f"expects {DIMENSIONS} offsets, {DIMENSIONS} sizes and {DIMENSIONS} strides")
    target = target_of(op)
    found = allocation(op, op.metadata)
    static = constants(offsets), constants(sizes), constants(strides)
    if static[1] is None or static[2] is None:
        _verify_runtime(op, found, sizes, strides, bits, target)
        return
    verify_burst(op, number(op.burst_length) or 0, target)
    if target.arch is Arch.AIE1:
        return
    if static[0] is not None:
        start = sum(o * t for o, t in zip(static[0], static[2], strict=True))
        if start * bits // 8 % 4:
            raise op.error("Offset must be 4-byte-aligned.")
    if found is not None:
        _verify_steps(op, found, Steps.outermost_first(static[1], static[2], bits))
    packet = op.packet
    if packet is not None:
        verify_packet(op, packet.data.pkt_type, packet.data.pkt_id or 0)


def verify_packet(op: DialectOp, packet_type: int, packet_id: int) -> None:
    """A header's fields are 3 and 5 bits wide."""
    if not 0 <= packet_type <= 7:
        raise op.error("Packet type field can only hold 3 bits.")
    if not 0 <= packet_id <= 31:
        raise op.error("Packet ID field can only hold 5 bits.")


def _verify_steps(op: NpuDmaMemcpyNdOp, found: ShimDmaAllocationOp, steps: Steps) -> None:
    from aiecc.ir.runtime.decompose import can_be_split

    tile = found.tile_op
    if tile is None:
        raise op.error("shim DMA allocation must reference a valid TileOp")
    if tile.coord is None or tile.kind is None:
        return
    dma = dma_of(op, tile.kind)
    if dma is None:
        raise op.error(f"Unsupported tile type at ({tile.coord[0]}, {tile.coord[1]}) Must be ShimNOC, Mem or Core.")
    problem = next(steps.problems(dma, tile.kind), None)
    if problem is None:
        return
    # One run is not split: what it repeats too often is written too often.
    if op.is_padded or steps.is_contiguous or not can_be_split(steps, dma, tile.kind):
        raise op.error(problem)


def _verify_runtime(
    op: NpuDmaMemcpyNdOp,
    found: ShimDmaAllocationOp | None,
    sizes: list[Entry],
    strides: list[Entry],
    bits: int,
    target: Target,
) -> None:
    if found is None:
        raise op.error("runtime sizes/strides require a shim_dma_allocation to resolve the tile; none found.")
    tile = found.tile_op
    if tile is None:
        raise op.error("shim DMA allocation must reference a valid TileOp")
    if tile.kind is not None and tile.kind is not TileKind.SHIM_NOC:
        raise op.error("runtime sizes/strides are only supported for shim NOC tile DMAs.")
    if op.is_padded:
        raise op.error("zero padding is not supported with runtime sizes/strides.")
    dma = dma_of(op, TileKind.SHIM_NOC)
    assert dma is not None
    verify_runtime_steps(op, sizes, strides, bits, dma)
    verify_burst(op, number(op.burst_length) or 0, target)


def verify_runtime_steps(op: DialectOp, sizes: list[Entry], strides: list[Entry], bits: int, dma: Dma) -> None:
    """The rules for those entries that are constants; lists are outermost first and four long."""
    s: list[Any] = list(reversed(sizes))
    t: list[Any] = list(reversed(strides))
    width = bits // 8
    one_run = is_one_run(s, t)
    hardware = (
        ("d0 size", s[0] * bits // GRANULE if isinstance(s[0], int) and not one_run else None, dma.max_wrap),
        ("d1 size", s[1] if isinstance(s[1], int) and not one_run else None, dma.max_wrap),
        ("iteration size", s[3] - 1 if isinstance(s[3], int) else None, dma.max_iteration - 1),
    )
    for what, value, most in hardware:
        if value is not None and value > most:
            raise op.error(f"{what} hardware value {value} exceeds hardware range [0:{most}].")
    if isinstance(s[0], int) and s[0] * bits % GRANULE:
        raise op.error(
            f"d0 size {s[0]} elements at {width} bytes each is not a multiple of the 4-byte address-gen granule."
        )
    for i in range(DIMENSIONS):
        # A dimension of size 1 never steps.
        if not isinstance(t[i], int) or s[i] == 1 or (i == 0 and t[0] == 1):
            continue
        if t[i] * bits % GRANULE:
            raise op.error(
                f"stride {i} is {t[i]} elements at {width} bytes each, not a multiple of the 4-byte address-gen "
                "granule."
            )
        wide = not isinstance(s[i], int) or s[i] > 1
        if i < 3 and wide and t[i] < 1:
            raise op.error(f"stride {i} must be positive when size > 1.")
        if i == 3 and wide and t[i] < 0:
            raise op.error("stride 3 must be non-negative when size > 1.")


def is_one_run(s: Sequence[Entry], t: Sequence[Entry]) -> bool:
    """Whether only the length matters to a shim, as far as constants tell (or the same value at two places).

    Sizes and strides are innermost first.
    """

    def one(size: Entry) -> bool:
        return isinstance(size, int) and size <= 1

    if t[0] != 1:
        return False
    if not one(s[1]) and t[1] != s[0]:
        return False
    inner = s[0] * s[1] if isinstance(s[0], int) and isinstance(s[1], int) else s[0] if s[1] == 1 else None
    return one(s[2]) or (inner is not None and t[2] == inner)


def verify_burst(op: DialectOp, length: int, target: Target) -> None:
    """A burst length the shim's DMA has; 0 asks for the largest."""
    dma = target.dma(TileKind.SHIM_NOC)
    bursts = dma.bursts if dma is not None else ()
    if length and length not in bursts:
        raise op.error(f"{NO_BURST} {' '.join(map(str, bursts))}")


PADS = ((0, 63), (1, 31), (2, 15))
"""Dimension and the most zeros its fields hold, before and after."""


def too_many_zeros(d: int, most: int) -> str:
    """What is said of padding that a dimension's fields do not hold."""
    return f"D{d} pad_before/pad_after exceeds the [0:{most}] range."


def verify_write_bd(op: Any) -> None:
    """The registers' own limits."""
    target = target_of(op)
    field = op.field
    kind = target.tile_kind(field("column"), field("row"))
    dma = target.dma(kind) if kind is not None else None
    if kind is None or dma is None:
        raise op.error(f"tile ({field('column')}, {field('row')}) has no DMA")
    if field("bd_id") >= dma.bds:
        raise op.error("BD ID exceeds the maximum ID.")
    verify_header(op, field("packet_id"), field("packet_type"))
    if not 0 <= field("out_of_order_id") <= dma.ooo_bd_max:
        raise op.error(f"out_of_order_id must be in [0, {dma.ooo_bd_max}].")
    if field("out_of_order_id") and not field("enable_packet"):
        raise op.error("out_of_order_id requires a packet-enabled BD")
    _verify_fields(op, dma)
    shim = kind is TileKind.SHIM_NOC
    if shim and field("d2_size"):
        raise op.error("ShimTile only supports 3 dimensions of sizes.")
    pads = [(d, field(f"d{d}_zero_{side}"), most) for d, most in PADS for side in ("before", "after")]
    if shim and any(pad for _, pad, _ in pads):
        raise op.error("ShimTile doesn't support zero padding.")
    for d, pad, most in pads:
        if not 0 <= pad <= most:
            raise op.error(too_many_zeros(d, most))
    burst = field("burst_length")
    if burst and not shim:
        raise op.error("Only ShimTiles support burst length.")
    verify_burst(op, burst, target)
    most = dma.max_words
    if not 0 <= field("buffer_length") & 0xFFFFFFFF <= most:
        raise op.error(f"Buffer length exceeds the [0:{most}] range.")


def verify_header(op: Any, id: int, type: int) -> None:
    if not 0 <= id <= 31:
        raise op.error("Packet ID exceeds the maximum supported by 5 bits.")
    if not 0 <= type <= 7:
        raise op.error("Packet Type exceeds the maximum supported by 3 bits.")


def _verify_fields(op: Any, dma: Dma) -> None:
    field = op.field
    step, iteration = dma.max_step - 1, dma.max_iteration - 1
    # A linear transfer says its length in d0_size, where it may be more than the register holds: it is not written.
    linear = field("d0_size") >= 1 and field("d1_size") == 1 and not field("iteration_size")
    limits = (
        ("D0 Size", "d0_size", dma.max_wrap if not linear else None),
        ("D0 Stride", "d0_stride", step),
        ("D1 Size", "d1_size", dma.max_wrap),
        ("D1 Stride", "d1_stride", step),
        ("D2 Stride", "d2_stride", step),
        ("Iteration Size", "iteration_size", iteration),
        ("Iteration Stride", "iteration_stride", step),
    )
    for words, name, most in limits:
        if most is not None and not 0 <= field(name) <= most:
            raise op.error(f"{words} exceeds the [0:{most}] range.")


def product(sizes: list[int]) -> int:
    return math.prod(sizes)
