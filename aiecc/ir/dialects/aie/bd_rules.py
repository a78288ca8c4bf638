"""What makes a buffer descriptor wrong, in the order the checks are made.

Most of it is checked only where the descriptor stands in a tile's own DMA program; descriptors of run-time tasks are
checked by the task. Lengths and strides count elements unless a name says words or bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, MemRefType
from xdsl.ir import BlockArgument

from aiecc.ir.dialects.aie.attrs import BdPad
from aiecc.ir.dialects.aie.bd import RUNTIME, DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaOp
from aiecc.ir.dialects.aie.dma_rules import has_packet
from aiecc.ir.dialects.aie.headers import verify_header
from aiecc.ir.dialects.aie.length_rules import verify_length_parameter
from aiecc.ir.dialects.aie.memory import BufferOp, element_bits, element_count
from aiecc.ir.dialects.aie.patterns import is_contiguous
from aiecc.ir.dialects.aie.tiles import placed, target_of
from aiecc.ir.dialects.base import DialectOp
from aiecc.model.targets import Target, TileKind
from aiecc.model.targets.tables import Dma

NO_CONSTANT = "buffer descriptor size/stride is a runtime value; a compile-time constant is required on this path"
BURST_ON_SHIM = "Burst length is only supported in Shim NOC tiles that are connected to the memory-mapped NOC."
AXCACHE_ON_SHIM = "AxCACHE is only supported in Shim NOC tiles that are connected to the memory-mapped NOC."


@dataclass(frozen=True)
class _Place:
    """Where a descriptor stands, and what that gives it."""

    program: DmaProgram
    kind: TileKind
    target: Target
    dma: Dma


def verify_bd(op: DmaBdOp) -> None:
    bits = element_bits(op.buffer.type)
    if op.offset_parameter is not None and bits % 8:
        raise op.error("offset_parameter requires a whole-byte element type")
    if op.length_parameter is not None:
        verify_length_parameter(op, bits)
    _verify_lists(op)
    program = op.parent_op()
    if isinstance(program, DmaOp):
        program = program.parent_op()
    if not isinstance(program, DmaProgram):
        return
    _verify_buffer(op, program, bits)
    tile = program.tile_op
    kind = tile.kind if tile is not None else None
    target = target_of(op)
    dma = target.dma(kind) if kind is not None else None
    if kind is None or dma is None:
        return
    at = _Place(program, kind, target, dma)
    _verify_ids(op, at)
    _verify_length(op, at, bits)
    if len(op.mixed_sizes) != len(op.mixed_strides):
        raise op.error(
            f"expected the same number of sizes ({len(op.mixed_sizes)}) and strides ({len(op.mixed_strides)})"
        )
    sizes, strides = op.sizes, op.strides
    if sizes is None or strides is None:
        raise op.error(NO_CONSTANT)
    _verify_bounds(op, sizes, strides)
    if sizes:
        _verify_pattern(op, at, sizes, strides, bits)
    if op.pad_dimensions is not None:
        _verify_padding(op, at, sizes, bits)
    _verify_address(op, bits)
    _verify_packet_of(op)
    _verify_out_of_order_id(op, at)
    if isinstance(op.buffer.type, MemRefType) and element_count(op.buffer.type) is None and op.len is None:
        raise op.error("buffer with dynamic shape requires static length.")
    _verify_bus(op, at)
    _verify_iteration(op, at, bits)


def _verify_lists(op: DmaBdOp) -> None:
    """As many run-time values as placeholders."""
    for word, key, given in (
        ("sizes", "static_sizes", op.size_operands),
        ("strides", "static_strides", op.stride_operands),
    ):
        static = op.properties.get(key)
        wanted = sum(n == RUNTIME for n in static.get_values()) if isinstance(static, DenseArrayBase) else 0
        if wanted != len(given):
            raise op.error(f"expected {wanted} dynamic {word} values", bare=True)


def _verify_buffer(op: DmaBdOp, program: DmaProgram, bits: int) -> None:
    ranked = isinstance(op.buffer.type, MemRefType)
    if ranked and op.buffer_op is None and not isinstance(op.buffer, BlockArgument):
        raise op.error("BDs only support BufferOp or ExternalBufferOp operands.")
    length = op.len
    if length is not None and length * bits % 32:
        raise op.error("transfer length must be multiple of 4 (i.e., represent 4 byte aligned address)")
    if program.tile_op is None:
        raise op.error("parent tile must implement TileLike interface")
    buffer = op.buffer_op
    if program.name == "aie.mem" and isinstance(buffer, BufferOp):
        here, home = placed(program.operands[0]), placed(buffer.tile)
        if here is not None and home is not None and here.coord != home.coord:
            raise op.error("Core tile DMAs can only access a buffer in the same tile.")


def _verify_ids(op: DmaBdOp, at: _Place) -> None:
    most = at.dma.bds - 1
    if op.bd_id is not None and op.bd_id > most:
        raise op.error(f"bdId attribute exceeds max: {most}")
    if op.next_bd_id is not None and op.next_bd_id > most:
        raise op.error(f"nextBdId attribute exceeds max: {most}")
    if op.bd_id is not None and op.bd_id_val is not None:
        raise op.error("bd_id and bd_id_val are mutually exclusive")


def _verify_length(op: DmaBdOp, at: _Place, bits: int) -> None:
    length = op.len
    if length is None or length <= 0:
        return
    words = length * bits // 32
    if words > at.dma.max_words:
        raise op.error(
            f"buffer descriptor length ({words} 32-bit words) exceeds the maximum of {at.dma.max_words} words "
            "supported by this tile type"
        )


def _verify_bounds(op: DmaBdOp, sizes: list[int], strides: list[int]) -> None:
    total = element_count(op.buffer.type)
    if total is None or isinstance(op.buffer, BlockArgument):
        return
    if sizes:
        last = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        if last >= total:
            raise op.error(
                "Specified stride(s) and size(s) result in out of bounds access in buffer, "
                f"for index {last} in memref of length {total}."
            )
        return
    offset, length = op.offset, op.len
    if op.offset_parameter is not None and op.static_len is None and op.len_operand is None:
        raise op.error(
            "offset_parameter requires an explicit `len` on a local buffer; the default whole-buffer length runs past "
            "the end for any nonzero runtime offset"
        )
    if offset is None or length is None or length <= 0 or offset + length <= total:
        return
    notes = (
        [("an omitted `len` is the whole buffer; give the length to transfer from this offset", op)]
        if op.static_len is None and op.len_operand is None
        else []
    )
    raise op.error(
        f"transfer of {length} elements at offset {offset} runs past the end of the {total}-element buffer", notes
    )


def _verify_pattern(op: DmaBdOp, at: _Place, sizes: list[int], strides: list[int], bits: int) -> None:
    if len(sizes) > at.dma.dims:
        raise op.error(
            f"Cannot give more than {at.dma.dims} dimensions for step sizes and wraps on this tile "
            f"(got {len(sizes)} dimensions)."
        )
    total = element_count(op.buffer.type)
    if not isinstance(op.buffer.type, MemRefType):
        raise op.error("dimensions attribute cannot be used with unranked memref buffer type.")
    shim_scan = at.kind.is_shim and is_contiguous(sizes, strides)
    for size, stride in zip(sizes, strides, strict=True):
        if stride < 0 or (stride == 0 and size != 1):
            raise op.error("Invalid step size; must be a positive integer.")
        if total is not None and stride > total:
            raise op.error(f"Step size {stride} exceeds memref size {total}")
        if size > at.dma.max_wrap and not shim_scan:
            raise op.error(f"Size may not exceed {at.dma.max_wrap}.")
        if stride > at.dma.max_step:
            raise op.error(f"Stride may not exceed {at.dma.max_step}.")
    if bits != 32 and strides[-1] != 1:
        sign = "<" if bits < 32 else ">"
        raise op.error(f"For {sign}32b width datatypes, inner-most dim stride must be 1")
    if bits < 32:
        _verify_granularity(op, sizes, strides, bits)


def _verify_granularity(op: DmaBdOp, sizes: list[int], strides: list[int], bits: int) -> None:
    """Elements narrower than a word move in whole words."""
    wide = [i for i, size in enumerate(sizes) if size > 1]
    width = bits // 8
    for i in wide:
        if i == wide[-1]:
            moved = sizes[i] * bits // 8
            if sizes[i] * bits % 32:
                raise op.error(
                    f"Innermost dim size ({sizes[i]}) * {width}-byte element width = {moved} bytes: innermost dim size "
                    "must be a multiple of 4 bytes for sub-32b element types (the hardware size register is "
                    "32-bit-word granularity)."
                )
        elif strides[i] * bits % 32:
            raise op.error(
                f"Dim {i} stride ({strides[i]}) * {width}-byte element width = {strides[i] * bits // 8} bytes: "
                "non-innermost dim stride must be a multiple of 4 bytes for sub-32b element types (the hardware "
                "stepsize register is 32-bit-word granularity)."
            )


def _verify_padding(op: DmaBdOp, at: _Place, sizes: list[int], bits: int) -> None:
    assert op.pad_dimensions is not None
    pads: tuple[BdPad, ...] = op.pad_dimensions.data
    if not sizes:
        raise op.error("Padding requires n-d data layouts expressed as wrap(s) and stride(s).")
    if at.program.name != "aie.memtile_dma":
        raise op.error("Padding is only supported by memtile dma bds.")
    if len(pads) != len(sizes):
        raise op.error("Mismatch number of dimensions between padding(s) and wrap(s) and stride(s).")
    if op.len_operand is not None and op.len is None:
        raise op.error(
            "Padding with a runtime len operand is not yet supported; use a compile-time constant len with padded BDs."
        )
    padded = math.prod(size + pad.before + pad.after for size, pad in zip(sizes, pads, strict=True))
    if op.len is not None and padded > op.len:
        raise op.error("Data exceeds len after padding.")
    for side, count in (("before", pads[-1].before), ("after", pads[-1].after)):
        if count * bits % 32:
            raise op.error(f"Inner-most padding-{side} count must result in padding in 32-bit words.")


def _verify_address(op: DmaBdOp, bits: int) -> None:
    buffer, offset = op.buffer_op, op.offset
    if not isinstance(buffer, BufferOp) or buffer.address is None or offset is None:
        return
    address = buffer.address + offset * bits // 8
    if address % 4 or offset * bits % 8:
        raise op.error(f"bd address must be 4 byte (32b) aligned; got base+offset: {address} (bytes)")


def verify_packet(op: DialectOp, packet_type: int, packet_id: int) -> None:
    """A header's fields are 3 and 5 bits wide."""
    if not 0 <= packet_type <= 7:
        raise op.error("Packet type field can only hold 3 bits.")
    if not 0 <= packet_id <= 31:
        raise op.error("Packet ID field can only hold 5 bits.")


def _verify_packet_of(op: DmaBdOp) -> None:
    verify_header(op, "packet", op.packet_attr)
    packet = op.packet
    if packet is not None and packet.pkt_id is not None:
        verify_packet(op, packet.pkt_type, packet.pkt_id)


def _verify_out_of_order_id(op: DmaBdOp, at: _Place) -> None:
    if op.out_of_order_id is not None:
        verify_out_of_order_id(op, at.target, at.dma.ooo_bd_max, has_packet(op))


def verify_out_of_order_id(op: DmaBdOp, target: Target, most: int, packet: bool) -> None:
    """The id that a sender writes into its packets, of the receiver's descriptor to use."""
    if not target.out_of_order_dma:
        raise op.error("out_of_order_id is not supported on this device")
    if not packet:
        raise op.error("out_of_order_id requires a packet-enabled BD")
    if op.out_of_order_id is not None and not 0 <= op.out_of_order_id <= most:
        raise op.error(f"out_of_order_id must be in [0, {most}]")


def _verify_bus(op: DmaBdOp, at: _Place) -> None:
    if op.burst_length and at.kind is not TileKind.SHIM_NOC:
        raise op.error(BURST_ON_SHIM)
    if op.axcache is not None:
        if at.kind is not TileKind.SHIM_NOC:
            raise op.error(AXCACHE_ON_SHIM)
        if not 0 <= op.axcache <= 15:
            raise op.error("AxCache value out of 4-bit range.")


def _verify_iteration(op: DmaBdOp, at: _Place, bits: int) -> None:
    if op.iteration is None:
        return
    if not at.target.bd_iteration:
        raise op.error("BD iteration is not supported on this target")
    size, stride, current = op.iteration.data
    if not 1 <= size <= at.dma.max_iteration:
        raise op.error(f"BD iteration size must be in [1, {at.dma.max_iteration}]")
    if stride * bits % 32:
        raise op.error("BD iteration stride must be aligned to 32-bit words")
    if not 1 <= stride * bits // 32 <= at.dma.max_step:
        raise op.error(f"BD iteration stride must be in [1, {at.dma.max_step}] 32-bit words")
    if not 0 <= current < size:
        raise op.error("BD iteration current must be in [0, size)")
