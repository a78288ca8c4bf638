"""Control packets: addressed, cut, sent through shims, and as words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from passkit import Ran

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie import RuntimeSequenceOp, TileOp
from aiecc.ir.dialects.aiex.control import ControlPacketOp
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp
from aiecc.ir.passes.control_packets import (
    CtrlPacketInferTiles,
    CtrlPacketToDma,
    LegalizeCtrlPacket,
    TxnToCtrlPacket,
)
from aiecc.ir.runtime.control_packets import words_of
from aiecc.npu.bits import Unfit
from aiecc.npu.ctrlpkt import packet_words


def packet(address: int, *data: int, opcode: int = 0, stream: int = 0, length: int | None = None) -> str:
    words = f"data = array<i32: {', '.join(map(str, data))}>, " if data else ""
    wanted = f"length = {length} : i32, " if length is not None else ""
    return (
        f"aiex.control_packet {{address = {address} : ui32, {words}{wanted}opcode = {opcode} : i32, "
        f"stream_id = {stream} : i32}}\n"
    )


def device(body: str, before: str = "", name: str = "npu2", args: str = "") -> str:
    return f"aie.device({name}) {{\n{before}\n aie.runtime_sequence @s({args}) {{\n{body}\n }}\n}}\n"


def at(col: int, row: int, inside: int) -> int:
    return col << 25 | row << 20 | inside


# --- words ------------------------------------------------------------------------------------------------------------


def test_words_derived_by_hand() -> None:
    """Id 27 = 0b11011 has four ones, so bit 31 makes it five; 0x1F000 has five already."""
    assert packet_words((0, 27), 0, 0, 0x1F000, [2]) == [0x8000001B, 0x0001F000, 2]
    # Type 3 in bits 14 to 12, id 1: three ones. Stream 5, opcode 2, four words, address 4: 2 + 1 + 2 + 1 ones.
    assert packet_words((3, 1), 5, 2, 4, [1, 2, 3, -1]) == [0x00003001, 0x85B00004, 1, 2, 3, 0xFFFFFFFF]
    # A read of two words says so and has no data. 1 + 1 ones, and bit 31.
    assert packet_words((0, 1), 0, 1, 0, [], 2) == [0x00000001, 0x80500000]


@given(
    st.integers(0, 7), st.integers(0, 31), st.integers(0, 127), st.integers(0, 3), st.integers(0, 0xFFFFF),
    st.lists(st.integers(0, 0xFFFFFFFF), min_size=1, max_size=4),
)  # fmt: skip
def test_every_header_has_an_odd_number_of_ones(
    kind: int, id: int, stream: int, opcode: int, address: int, data: list[int]
) -> None:
    first, second, *rest = packet_words((kind, id), stream, opcode, address, data)
    assert bin(first).count("1") % 2 == bin(second).count("1") % 2 == 1
    assert rest == data
    assert first & 0x7FFFFFFF == kind << 12 | id
    assert second & 0x7FFFFFFF == stream << 24 | opcode << 22 | (len(data) - 1) << 20 | address


@pytest.mark.parametrize(
    ("header", "stream", "opcode", "count"), [((8, 1), 0, 0, 1), ((0, 32), 0, 0, 1), ((0, 1), 128, 0, 1),
                                              ((0, 1), 0, 4, 1), ((0, 1), 0, 0, 5)],
)  # fmt: skip
def test_what_does_not_fit_is_refused(header: tuple[int, int], stream: int, opcode: int, count: int) -> None:
    with pytest.raises(Unfit):
        packet_words(header, stream, opcode, 0, [1] * count)


def _words(text: str) -> tuple[list[int], list[str]]:
    ran, sink = Ran(text), Sink()
    found = words_of(ran.device, next(ran.ops(RuntimeSequenceOp)), sink)
    return found, [d.text for d in sink.items]


def test_a_packet_goes_to_the_controller_of_its_tile() -> None:
    before = """%a = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_id = 27>}
    %b = aie.tile(1, 2) {controller_id = #aie.packet_info<pkt_type = 1, pkt_id = 3>}"""
    found, said = _words(device(packet(at(1, 2, 0x1F000), 5) + packet(at(0, 2, 0x10), 6), before))
    assert not said
    assert found == [*packet_words((1, 3), 0, 0, 0x1F000, [5]), *packet_words((0, 27), 0, 0, 0x10, [6])]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (packet(at(0, 2, 0)), "control packet with a write opcode requires a data payload"),
        (packet(at(0, 2, 0), opcode=1), "control packet with a read opcode requires a length"),
        (packet(at(1, 2, 0), 1), "tile (1, 2) has no controller_id to send a control packet to"),
        (packet(at(9, 0, 0), 1), "address 0x12000000 is in tile (9, 0), which the device does not have"),
        (packet(at(0, 2, 0), 1, 2, 3, 4, 5),
         "cannot be encoded: data = 5 does not fit: its field holds 1 to 4; run --aie-legalize-ctrl-packet first"),
    ],
)  # fmt: skip
def test_packets_that_cannot_be_sent(one: str, said: str) -> None:
    found, told = _words(device(one, "%a = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_id = 27>}"))
    assert told == [f"'aiex.control_packet' op {said}"]
    assert not found


# --- tiles ------------------------------------------------------------------------------------------------------------


def test_tiles_are_inferred_with_the_ids_of_their_rows() -> None:
    body = "".join(packet(at(1, row, 0x100), 1) for row in range(6)) + packet(at(1, 2, 0), 2)
    ran = Ran(
        device(body, "%t = aie.tile(1, 3) {controller_id = #aie.packet_info<pkt_id = 8>}"), CtrlPacketInferTiles()
    )
    assert not ran.said
    found = {t.coord: t.attributes["controller_id"].data.pkt_id for t in ran.device.ops_of(TileOp)}  # pyright: ignore
    assert found == {(1, 0): 15, (1, 1): 26, (1, 2): 27, (1, 3): 8, (1, 4): 30, (1, 5): 31}


def test_a_tile_that_is_declared_gets_its_id() -> None:
    ran = Ran(device(packet(at(0, 1, 0), 1), "%t = aie.tile(0, 1)"), CtrlPacketInferTiles())
    assert ran.lines("aie.tile") == ["%mem_tile_0_1 = aie.tile(0, 1) {controller_id = #aie.packet_info<pkt_id = 26>}"]


def test_an_address_off_the_array() -> None:
    assert "does not have" in Ran(device(packet(at(8, 0, 0), 1)), CtrlPacketInferTiles()).only.text


# --- from writes, and cut ---------------------------------------------------------------------------------------------

GLOBAL = 'memref.global "private" constant @w : memref<6xi32> = dense<[1, 2, 3, 4, 5, 0x80000000]>'
BLOCK = """%g = memref.get_global @w : memref<6xi32>
  aiex.npu.blockwrite(%g) {{address = {} : ui32{}}} : memref<6xi32>"""


def _packets(ran: Ran) -> list[tuple[int, list[int]]]:
    return [(p.address, list(p.data or ())) for p in ran.ops(ControlPacketOp)]


def test_block_writes_become_packets() -> None:
    ran = Ran(device(BLOCK.format(at(0, 2, 8), ""), GLOBAL), TxnToCtrlPacket())
    assert _packets(ran) == [(at(0, 2, 8), [1, 2, 3, 4, 5, -0x80000000])]
    assert not ran.lines("get_global")


def test_a_block_write_in_a_tile() -> None:
    ran = Ran(
        device(BLOCK.format(8, ", column = 1 : i32, row = 2 : i32"), GLOBAL), TxnToCtrlPacket(), LegalizeCtrlPacket()
    )
    assert _packets(ran) == [(at(1, 2, 8), [1, 2, 3, 4]), (at(1, 2, 24), [5, -0x80000000])]


@given(st.integers(1, 23), st.integers(0, 1000))
def test_cutting_keeps_every_word_at_its_address(count: int, start: int) -> None:
    ran = Ran(device(packet(4 * start, *range(count), stream=3, opcode=2)), LegalizeCtrlPacket())
    found = {address + 4 * i: word for address, data in _packets(ran) for i, word in enumerate(data)}
    assert found == {4 * (start + i): i for i in range(count)}
    assert all(len(data) <= 4 for _, data in _packets(ran))
    assert all((p.stream_id, p.opcode) == (3, 2) for p in ran.ops(ControlPacketOp))


# --- sent -------------------------------------------------------------------------------------------------------------


def _sent(ran: Ran) -> list[tuple[str, int, int]]:
    """Channel by name, first word, number of words."""
    found: list[tuple[str, int, int]] = []
    for op in ran.ops(NpuDmaMemcpyNdOp):
        start, count = (list(x.get_values()) for x in (op.static_offsets, op.static_sizes))
        assert start[:3] == [0, 0, 0]
        assert count[:3] == [1, 1, 1]
        assert op.issue_token
        found.append((op.metadata, int(start[3]), int(count[3])))
    return found


BODY = "".join(packet(at(*where, 0), *range(n)) for where, n in [((0, 2), 1), ((0, 2), 4), ((0, 4), 2), ((1, 0), 3)])


def test_neighbours_for_one_tile_are_sent_together() -> None:
    ran = Ran(device(BODY), CtrlPacketToDma())
    assert _sent(ran) == [
        ("ctrlpkt_col0_mm2s_chan0", 0, 9),
        ("ctrlpkt_col0_mm2s_chan1", 9, 4),
        ("ctrlpkt_col1_mm2s_chan0", 13, 5),
    ]
    assert len(ran.lines("npu.sync(")) == 3


def test_each_for_itself_on_aie2() -> None:
    ran = Ran(device(BODY, name="npu1"), CtrlPacketToDma())
    assert [(start, count) for _, start, count in _sent(ran)] == [(0, 3), (3, 6), (9, 4), (13, 5)]


def test_whatever_stands_between_stays_between() -> None:
    between = "%x = arith.constant 4 : i32\n %y = arith.constant 5 : i32\n aiex.npu.write32(%x, %y) : i32, i32\n"
    ran = Ran(
        device(packet(0, 1) + "%z = arith.constant 6 : i32\n" + packet(4, 2) + between + packet(8, 3)),
        CtrlPacketToDma(),
    )
    assert [(start, count) for _, start, count in _sent(ran)] == [(0, 6), (6, 3)]
    order = [word for line in ran.text.splitlines() for word in ("memcpy_nd", "npu.sync", "write32") if word in line]
    assert order == ["memcpy_nd", "npu.sync", "write32", "memcpy_nd", "npu.sync"]


def test_the_buffer_of_packets_is_the_last_argument() -> None:
    ran = Ran(device(packet(0, 1), args="%a: memref<4xi32>"), CtrlPacketToDma())
    assert ran.lines("runtime_sequence") == ["aie.runtime_sequence @s(%arg0: memref<4xi32>, %arg1: memref<?xi32>) {"]
    assert ran.lines("memcpy_nd")[0].startswith("aiex.npu.dma_memcpy_nd(%arg1[")


def test_a_sequence_without_packets_stays() -> None:
    text = device("", args="%a: memref<4xi32>")
    assert Ran(text, CtrlPacketToDma()).text == Ran(text).text


def test_packets_that_were_not_cut_are_refused() -> None:
    text = device(packet(0, 1, 2, 3, 4, 5))
    assert Ran(text, CtrlPacketToDma()).only.text == (
        "'aiex.control_packet' op has 5 words, more than the 4 of a packet; run --aie-legalize-ctrl-packet first"
    )
