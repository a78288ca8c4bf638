"""Control packets: writes and reads of a tile's registers that travel as packets on the streams.

A packet is two headers and up to four words. Bit 31 of a header makes its number of ones odd. Source: the packet
layouts of mlir-aie's control packets.
"""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.npu.bits import Field, Layout, Unfit

MOST_WORDS = 4
"""What one packet writes or reads at most; a field of two bits counts it, minus one."""
WRITE, READ, WRITE_INCREMENT = 0, 1, 2

STREAM_HEADER = Layout(
    "packet header",
    1,
    (Field("parity", 0, 31, 31), Field("packet_type", 0, 14, 12), Field("packet_id", 0, 4, 0)),
)
CONTROL_HEADER = Layout(
    "control packet header",
    1,
    (
        Field("parity", 0, 31, 31),
        Field("stream_id", 0, 30, 24),
        Field("opcode", 0, 23, 22),
        Field("beats", 0, 21, 20),
        Field("address", 0, 19, 0),
    ),
)


def packet_words(
    header: tuple[int, int], stream_id: int, opcode: int, address: int, data: Sequence[int], length: int = 0
) -> list[int]:
    """One packet. `header`: type and id of the packet, those of the tile's controller; `address` inside the tile.

    data: the words written, 1 to 4; a read has none and says how many it wants: `length`. Raises Unfit.
    """
    count = len(data) or length
    if not 1 <= count <= MOST_WORDS:
        raise Unfit("data" if data else "length", count, 1, MOST_WORDS)
    stream = STREAM_HEADER.pack({"packet_type": header[0], "packet_id": header[1]})
    control = CONTROL_HEADER.pack(
        {"stream_id": stream_id, "opcode": opcode, "beats": count - 1, "address": address & 0xFFFFF}
    )
    return [_odd(stream[0]), _odd(control[0]), *(word & 0xFFFFFFFF for word in data)]


def _odd(word: int) -> int:
    return word if word.bit_count() % 2 else word | 1 << 31
