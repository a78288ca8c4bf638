"""Buffer descriptors, start queues and other DMA registers of AIE2 and AIE2P, to the bit.

Fields are named as `aiex.npu.writebd` names them and hold the register's own values: sizes in words, strides in words
minus one, `buffer_length` in words, `buffer_offset` in bytes. Source: the register database shipped with mlir-aie, and
its target model.
"""

from __future__ import annotations

from collections.abc import Iterator

from aiecc.model.targets import Target, TileKind
from aiecc.npu.bits import Field, Layout

AXCACHE = 2
"""What shim descriptors always carry: the memory attributes of their accesses to host memory."""


def _locks(word: int, *, wide: bool) -> Iterator[Field]:
    """The lock fields: 8-bit numbers on memory tiles, which see three tiles' locks; 4-bit ones elsewhere."""
    if wide:
        yield Field("lock_rel_val", word, 30, 24, signed=True)
        yield Field("lock_rel_id", word, 23, 16)
        yield Field("lock_acq_enable", word, 15, 15)
        yield Field("lock_acq_val", word, 14, 8, signed=True)
        yield Field("lock_acq_id", word, 7, 0)
    else:
        yield Field("lock_rel_val", word, 24, 18, signed=True)
        yield Field("lock_rel_id", word, 16, 13)
        yield Field("lock_acq_enable", word, 12, 12)
        yield Field("lock_acq_val", word, 11, 5, signed=True)
        yield Field("lock_acq_id", word, 3, 0)


SHIM = Layout(
    "shim descriptor",
    8,
    (
        Field("buffer_length", 0, 31, 0),
        Field("buffer_offset", 1, 31, 0),
        Field("enable_packet", 2, 30, 30),
        Field("out_of_order_id", 2, 29, 24),
        Field("packet_id", 2, 23, 19),
        Field("packet_type", 2, 18, 16),
        Field("address_high", 2, 15, 0),
        Field("d0_size", 3, 29, 20),
        Field("d0_stride", 3, 19, 0),
        Field("burst_code", 4, 31, 30),
        Field("d1_size", 4, 29, 20),
        Field("d1_stride", 4, 19, 0),
        Field("axcache", 5, 27, 24),
        Field("d2_stride", 5, 19, 0),
        Field("iteration_current", 6, 31, 26),
        Field("iteration_size", 6, 25, 20),
        Field("iteration_stride", 6, 19, 0),
        Field("next_bd", 7, 30, 27),
        Field("use_next_bd", 7, 26, 26),
        Field("valid_bd", 7, 25, 25),
        *_locks(7, wide=False),
    ),
)

MEM = Layout(
    "memory tile descriptor",
    8,
    (
        Field("enable_packet", 0, 31, 31),
        Field("packet_type", 0, 30, 28),
        Field("packet_id", 0, 27, 23),
        Field("out_of_order_id", 0, 22, 17),
        Field("buffer_length", 0, 16, 0),
        Field("d0_zero_before", 1, 31, 26),
        Field("next_bd", 1, 25, 20),
        Field("use_next_bd", 1, 19, 19),
        Field("buffer_offset", 1, 18, 0),
        Field("d0_size", 2, 26, 17),
        Field("d0_stride", 2, 16, 0),
        Field("d1_zero_before", 3, 31, 27),
        Field("d1_size", 3, 26, 17),
        Field("d1_stride", 3, 16, 0),
        Field("d2_zero_before", 4, 30, 27),
        Field("d2_stride", 4, 16, 0),
        Field("d2_zero_after", 5, 31, 28),
        Field("d1_zero_after", 5, 27, 23),
        Field("d0_zero_after", 5, 22, 17),
        Field("iteration_current", 6, 28, 23),
        Field("iteration_size", 6, 22, 17),
        Field("iteration_stride", 6, 16, 0),
        Field("valid_bd", 7, 31, 31),
        *_locks(7, wide=True),
    ),
)

CORE = Layout(
    "core descriptor",
    6,
    (
        # Core memory is addressed in words; `buffer_offset` stays one of bytes, as everywhere.
        Field("buffer_offset", 0, 27, 14, scale=4),
        Field("buffer_length", 0, 13, 0),
        Field("enable_packet", 1, 30, 30),
        Field("out_of_order_id", 1, 29, 24),
        Field("packet_id", 1, 23, 19),
        Field("packet_type", 1, 18, 16),
        Field("d1_stride", 2, 25, 13),
        Field("d0_stride", 2, 12, 0),
        Field("d1_size", 3, 28, 21),
        Field("d0_size", 3, 20, 13),
        Field("d2_stride", 3, 12, 0),
        Field("iteration_current", 4, 24, 19),
        Field("iteration_size", 4, 18, 13),
        Field("iteration_stride", 4, 12, 0),
        Field("next_bd", 5, 30, 27),
        Field("use_next_bd", 5, 26, 26),
        Field("valid_bd", 5, 25, 25),
        *_locks(5, wide=False),
    ),
)

QUEUE = Layout(
    "start queue",
    1,
    (
        Field("issue_token", 0, 31, 31),
        Field("repeat", 0, 23, 16),
        # Memory tiles have 48 descriptors, other tiles 16: `queue_word` checks against the tile.
        Field("bd_id", 0, 5, 0),
    ),
)


def layout_of(kind: TileKind) -> Layout:
    """The descriptor of one kind of tile. Raises KeyError for a tile without a DMA of this generation."""
    return {TileKind.SHIM_NOC: SHIM, TileKind.MEM: MEM, TileKind.CORE: CORE}[kind]


def queue_word(bd_id: int, repeat: int, issue_token: bool) -> int:
    """What is written to a channel's start queue. `repeat`: executions beyond the first, 0 to 255."""
    return QUEUE.pack({"bd_id": bd_id, "repeat": repeat, "issue_token": int(issue_token)})[0]


def burst_code(target: Target, length: int) -> int | None:
    """The register code of a shim burst length in bytes; 0 asks for the largest. None: there is no such length."""
    dma = target.dma(TileKind.SHIM_NOC)
    bursts = () if dma is None else dma.bursts
    if not length:
        return len(bursts) - 1 if bursts else 0
    return bursts.index(length) if length in bursts else None
