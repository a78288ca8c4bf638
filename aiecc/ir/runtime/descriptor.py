"""One descriptor of a task as register fields, and where its address comes from. All of it is known at build time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation

from aiecc.ir.dialects.aie.attrs import BdPad
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.bd_rules import AXCACHE_ON_SHIM
from aiecc.ir.dialects.aie.dma import NextBdOp
from aiecc.ir.dialects.aie.enums import Direction, LockAction
from aiecc.ir.dialects.aie.memory import BufferOp, UseLockOp, element_bits, element_count
from aiecc.ir.dialects.aie.tiles import EndOp, device_of
from aiecc.ir.dialects.aiex.steps import Steps
from aiecc.ir.dialects.aiex.tasks import DmaConfigureTaskOp
from aiecc.ir.dialects.aiex.transfer_rules import PADS, too_many_zeros, verify_burst, verify_header
from aiecc.ir.errors import VerifyError
from aiecc.ir.runtime.report import NO_QUEUE
from aiecc.ir.runtime.sources import HostBuffer, source_of
from aiecc.model.targets import Arch, Target, Tile, TileKind
from aiecc.model.targets.tables import Dma

NO_SOURCE = (
    "Buffer argument must be a constant aie.buffer, a runtime sequence input argument, or a supported chain of "
    "memref.subview, memref.view, memref.cast, or memref.reinterpret_cast operations rooted at a block argument. "
    "Subviews must be static and contiguous; views must have a constant byte shift and no dynamic result sizes."
)
WHILE = "Error encountered while lowering this BD configuration."


@dataclass(frozen=True)
class Place:
    """Where a task runs."""

    task: DmaConfigureTaskOp
    target: Target
    tile: Tile
    kind: TileKind
    dma: Dma


def place_of(task: DmaConfigureTaskOp) -> Place:
    """Raises VerifyError for a tile without a place or without a DMA."""
    tile, device = task.tile_op, device_of(task)
    if tile is None or tile.coord is None or tile.kind is None or device is None:
        raise VerifyError("Cannot lower a DMA task whose tile is not placed; run placement first.", task)
    dma = device.target.dma(tile.kind)
    if dma is None:
        raise VerifyError(f"tile ({tile.coord[0]}, {tile.coord[1]}) has no DMA", task)
    if not dma.queue_depth:
        raise VerifyError(NO_QUEUE, task)
    return Place(task, device.target, tile.coord, tile.kind, dma)


def is_skipped(block: Block) -> bool:
    """An entry without anything but the way into a cycle, or a block from which even that was taken."""
    first = next((op for op in block.ops if op.name != "arith.constant"), None)
    if first is None:
        return True
    return isinstance(first, NextBdOp | EndOp) and first is block.last_op and block.prev_block is None


def descriptor_of(block: Block, task: DmaConfigureTaskOp) -> DmaBdOp:
    """The one descriptor of a block. Raises VerifyError unless there is exactly one, and nothing without a lowering."""
    known = ("aie.dma_bd", "aie.use_lock", "arith.constant", "aie.next_bd", "aie.end")
    for op in block.ops:
        if op.name not in known:
            note = ("No lowering to NPU instructions available for this operation.", op)
            raise VerifyError("Unsupported operation within BD block.", task, [note])
    found = [op for op in block.ops if isinstance(op, DmaBdOp)]
    end = block.last_op
    assert end is not None
    if not found:
        text = "Block ending in this terminator does not contain a required aie.dma_bd operation."
        raise VerifyError(text, end, [(WHILE, task)], bare=True)
    if len(found) > 1:
        text = "This block contains multiple aie.dma_bd operations. Exactly one is required."
        raise VerifyError(text, end, [("Extra aie.dma_bd operation here.", bd) for bd in found[1:]])
    return found[0]


def first_of(task: DmaConfigureTaskOp) -> DmaBdOp | None:
    """The descriptor a task starts with."""
    entry = task.body.blocks.first
    if entry is None:
        return None
    blocks = [entry, *([entry.last_op.successors[0]] if entry.last_op and len(entry.last_op.successors) == 1 else [])]
    return next((op for block in blocks for op in block.ops if isinstance(op, DmaBdOp)), None)


# --- fields -----------------------------------------------------------------------------------------------------------


def fields_of(bd: DmaBdOp, at: Place, next_id: int | None) -> dict[str, int]:
    """The register fields of a descriptor. Raises VerifyError at the descriptor for what registers cannot hold."""
    bits = element_bits(bd.buffer.type)
    sizes, strides = bd.sizes, bd.strides
    length, offset = bd.len or 0, bd.offset
    if sizes is None or strides is None or offset is None or (bd.len is None and bd.len_operand is not None):
        raise VerifyError("runtime-valued BD size/stride/len/bd_id is only supported on shim NOC tiles; use "
                          "compile-time constants on other tiles.", bd)  # fmt: skip
    length &= 0xFFFFFFFF
    size_bytes, offset_bytes = length * bits // 8, offset * bits // 8
    verify_understood(bd)
    if offset < 0:
        raise VerifyError("Offset must not be negative.", bd)
    if offset * bits % 32:
        raise VerifyError("Offset must be aligned to 4 byte boundary.", bd)
    if size_bytes < 4:
        text = f"Transfer size of {size_bytes} bytes falls below minimum hardware transfer unit of 4 bytes."
        raise VerifyError(text, bd, _without_length(bd))
    col, row = at.tile
    fields = {
        "column": col,
        "row": row,
        "bd_id": bd.bd_id or 0,
        "buffer_length": size_bytes // 4,
        "buffer_offset": offset_bytes,
        "valid_bd": 1,
        "burst_length": bd.burst_length,
        "out_of_order_id": bd.out_of_order_id or 0,
    }
    if at.kind is TileKind.SHIM_NOC:
        verify_burst(bd, bd.burst_length, at.target)
    if bd.axcache is not None:
        if at.kind is not TileKind.SHIM_NOC:
            raise VerifyError(AXCACHE_ON_SHIM, bd)
        fields["axcache"] = bd.axcache
    if next_id is not None:
        fields |= {"next_bd": next_id, "use_next_bd": 1}
    packet = bd.packet or at.task.packet
    if packet is not None:
        fields |= {"enable_packet": 1, "packet_id": packet.pkt_id or 0, "packet_type": packet.pkt_type}
        verify_header(bd if bd.packet is not None else at.task, fields["packet_id"], packet.pkt_type)
    pads: tuple[BdPad, ...] = bd.pad_dimensions.data if bd.pad_dimensions is not None else ()
    _verify_pads(bd, at, pads, len(sizes))
    for i, pad in enumerate(reversed(pads)):
        fields |= {f"d{i}_zero_before": pad.before, f"d{i}_zero_after": pad.after}
    if sizes:
        fields |= _steps(bd, at, Steps.outermost_first(sizes, strides, bits), size_bytes, pads)
    elif size_bytes % 4:
        raise VerifyError(f"Transfer size of {size_bytes} bytes is not a whole number of 4-byte words.", bd)
    most = at.dma.max_words
    if fields["buffer_length"] > most:
        text = (
            f"Buffer length of {fields['buffer_length']} words exceeds the [0:{most}] range of this tile's descriptors."
        )
        raise VerifyError(text, bd)
    return fields | _locks(bd, at)


def _without_length(bd: DmaBdOp) -> list[tuple[str, Operation]]:
    """What to write where neither a descriptor nor the type of its buffer says how long it is."""
    if "static_len" in bd.properties or element_count(bd.buffer.type) is not None:
        return []
    lowest = (bd.sizes or ())[-3:]
    todo = f"`len = {math.prod(lowest)}`" if lowest else "`len = ` and the number of elements"
    return [(f"The type of the buffer does not say how long it is: add {todo} to this buffer descriptor.", bd)]


def verify_understood(bd: DmaBdOp) -> None:
    """Nothing that a descriptor says is left out. Raises VerifyError for parameters of the host that no word of the
    scratch pad stands for."""
    for name in ("offset_parameter", "length_parameter", "length_state_table_idx"):
        if name in bd.properties:
            raise VerifyError(f"has an {name} that nothing has lowered to a word of the scratch pad", bd)


def _verify_pads(bd: DmaBdOp, at: Place, pads: Sequence[BdPad], dims: int) -> None:
    if bd.pad_dimensions is None:
        return
    memory = at.kind is TileKind.MEM
    sends = at.task.direction is Direction.MM2S
    if not dims:
        if memory and sends:
            raise VerifyError("Padding requires n-d data layouts expressed as wrap(s) and stride(s).", bd)
        raise VerifyError("Padding is supported only on MemTiles.", bd)
    if not memory:
        raise VerifyError("Padding is only supported by memtile dma bds.", bd)
    if len(pads) > dims:
        raise VerifyError("Mismatch number of dimensions between padding(s) and wrap(s) and stride(s).", bd)
    if not sends:
        raise VerifyError("supports padding only for MM2S direction on MemTiles.", bd)
    for (d, most), pad in zip(PADS, reversed(pads), strict=False):
        if max(pad.before, pad.after) > most:
            raise VerifyError(too_many_zeros(d, most), bd)


def _steps(bd: DmaBdOp, at: Place, steps: Steps, size_bytes: int, pads: Sequence[BdPad]) -> dict[str, int]:
    problem = next(steps.problems(at.dma, at.kind), None)
    one_run = steps.as_one_run(at.kind)
    if problem is not None and steps.is_contiguous and not any(p.before or p.after for p in pads):
        # Too long for the registers of several dimensions, but in truth it is only one.
        problem, one_run = next(steps.problems(at.dma, at.kind, wraps=False), None), True
    if problem is not None:
        raise VerifyError(problem, bd)
    _verify_length(bd, steps, size_bytes, pads)
    s, t = steps.register_sizes, steps.register_strides
    repeats_only = steps.sizes[3] > 1 and steps.strides[3] == 0
    fields = {
        "iteration_size": 0 if repeats_only else s[3],
        "iteration_stride": 0 if repeats_only else t[3],
    }
    if one_run and not any(p.before or p.after for p in pads):
        return fields
    return fields | {
        "d0_size": s[0],
        "d1_size": s[1],
        "d0_stride": t[0],
        "d1_stride": t[1],
        "d2_stride": t[2],
        "d2_size": s[2] if at.kind is TileKind.MEM else 0,
    }


def _verify_length(bd: DmaBdOp, steps: Steps, size_bytes: int, pads: Sequence[BdPad]) -> None:
    moved = steps.words * 4
    if moved == size_bytes:
        return
    around = [(p.before, p.after) for p in reversed(pads)] + [(0, 0)] * 3
    padded = steps.bits
    for i in range(3):
        padded *= steps.sizes[i] + sum(around[i])
    if pads and padded // 8 == size_bytes:
        # What goes out on the stream, zeros included, is as good a way to say the length.
        return
    text = (
        "Buffer descriptor length does not match length of transfer expressed by lowest three dimensions of data "
        f"layout transformation strides/wraps. BD length is {size_bytes} bytes. Lowest three dimensions of data "
        f"layout transformation would result in transfer of {moved} bytes. "
    )
    note = "Do not include the highest dimension size in transfer length, as this is the BD repeat count."
    raise VerifyError(text, bd, [(note, bd)])


def _locks(bd: DmaBdOp, at: Place) -> dict[str, int]:
    """The lock fields: an acquire before the transfer, a release after it."""
    block = bd.parent
    assert block is not None
    locks = [op for op in block.ops if isinstance(op, UseLockOp)]
    if not locks:
        return {}
    acquires = [op for op in locks if op.is_acquire]
    releases = [op for op in locks if not op.is_acquire]
    if len(acquires) != 1 or len(releases) != 1:
        text = (
            "BD blocks must have either 0 or 2 lock operations (acquire and release). "
            f"Found {len(locks)} lock operations."
        )
        raise VerifyError(text, locks[0])
    taken, given = (_lock(op, at) for op in (acquires[0], releases[0]))
    value = taken[1] if acquires[0].action is LockAction.ACQUIRE else -taken[1]
    return {
        "lock_acq_enable": 1,
        "lock_acq_id": taken[0],
        "lock_acq_val": value,
        "lock_rel_id": given[0],
        "lock_rel_val": given[1],
    }


def _lock(op: UseLockOp, at: Place) -> tuple[int, int]:
    """The number under which this tile's DMA knows a lock, and the value."""
    value, lock = op.constant, op.lock_op
    if value is None:
        raise VerifyError("expected the lock value to be a compile-time constant (defined by an arith.constant).", op)
    tile = lock.tile_op if lock is not None else None
    if lock is None or tile is None or tile.coord is None:
        raise VerifyError("uses a lock that is not placed on a tile", op)
    if lock.id is None:
        todo = "run --aie-assign-lock-ids first, or give the lock its number"
        raise VerifyError(f"uses a lock without an ID; {todo}", op, [("the lock is here", lock)])
    most = at.target.lock_max_value
    if not (0 if op.is_acquire else -most) <= value <= most:
        raise VerifyError(f"Lock value {value} is out of range: locks count to {most}", op)
    base = at.target.dma_lock_offset(at.tile, tile.coord)
    if base is not None:
        return base + lock.id, value
    text = f"uses a lock of tile ({tile.coord[0]}, {tile.coord[1]}), which the DMA of tile {at.tile} does not reach"
    raise VerifyError(text, op, [("the lock is here", lock)])


# --- addresses --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Patch:
    """The address is that of a host buffer, plus bytes."""

    argument: int
    plus: int


@dataclass(frozen=True)
class Fixed:
    """The address is known: bytes, as this tile's DMA sees them."""

    address: int


def verify_plus(op: Operation, plus: int) -> int:
    """Bytes from the start of a host buffer, if a patch can say them. Raises VerifyError."""
    if not 0 <= plus < 1 << 32:
        raise VerifyError(f"starts {plus} bytes into its host buffer: transfers start in its first 4 GiB", op)
    return plus


def address_of(bd: DmaBdOp, at: Place) -> Patch | Fixed:
    """Where a transfer's memory is. Raises VerifyError where that is not known."""
    source = source_of(bd.buffer)
    offset = (bd.offset or 0) * element_bits(bd.buffer.type) // 8
    if isinstance(source, HostBuffer):
        if at.kind is not TileKind.SHIM_NOC:
            raise VerifyError("DDR memory (runtime input arguments) can only be referred to on shim tiles.", bd)
        return Patch(source.index, verify_plus(bd, source.offset + offset))
    if not isinstance(source, BufferOp):
        raise VerifyError(NO_SOURCE, bd)
    if source.address is None:
        text = (
            "Cannot lower buffer without associated address. Run pass --aie-assign-buffer-addresses first or manually "
            "assign an address."
        )
        raise VerifyError(text, bd, [("the buffer is here", source)])
    return Fixed(source.address + offset + _window(source, at))


def _window(buffer: BufferOp, at: Place) -> int:
    """Where a memory tile's DMA sees the memory a buffer is in. On AIE2 such addresses are written without it."""
    tile = buffer.tile_op
    if at.kind is not TileKind.MEM or tile is None or tile.coord is None:
        return 0
    if at.target.arch is not Arch.AIE2:
        return at.target.dma_offset(at.tile, tile.coord) or 0
    if tile.coord == at.tile:
        return 0
    text = (
        f"uses a buffer of tile ({tile.coord[0]}, {tile.coord[1]}) from tile ({at.tile[0]}, {at.tile[1]}): on this "
        "device sequences address a memory tile's own memory only"
    )
    raise VerifyError(text, at.task, [("the buffer is here", buffer)])
