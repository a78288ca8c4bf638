"""The attributes and types of the `aie` dialect, in full and short."""

from __future__ import annotations

import pytest
from aiekit import read
from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Refused
from aiecc.ir.dialects.aie.attrs import (
    BdDim,
    BdDimLayoutArrayArrayAttr,
    BdDimLayoutArrayAttr,
    BdIteration,
    BdIterationAttr,
    EndPort,
    EndPortAttr,
    LinkModeAttr,
    PacketInfo,
    PacketInfoAttr,
    Transport,
    TransportAttr,
)
from aiecc.ir.dialects.aie.enums import LinkMode, TransportMode, WireBundle
from aiecc.ir.printer import attribute_text
from aiecc.model.events import EVENTS


def attribute(text: str) -> object:
    module = read(f"module attributes {{a = {text}}} {{\n}}")
    assert isinstance(module, ModuleOp)
    return module.attributes["a"]


FORMS = [
    ("#aie.bd_dim_layout<size = 4, stride = 8>", None),
    ("#aie.bd_dim_layout<stride = 8, size = 0x4>", "#aie.bd_dim_layout<size = 4, stride = 8>"),
    ("#aie<bd_dim_layout_array[]>", None),
    ("#aie<bd_dim_layout_array[<size = 4, stride = 8>, <size = 1, stride = 0>]>", None),
    ("#aie<bd_dim_layout_array_array[]>", None),
    ("#aie<bd_dim_layout_array_array[[<size = 4, stride = 8>], []]>", None),
    ("#aie.bd_pad_layout<const_pad_before = 1, const_pad_after = 2>", None),
    ("#aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 65535>]>", None),
    ("#aie<bd_pad_layout_array_array[[], [<const_pad_before = 0, const_pad_after = 0>]]>", None),
    ("#aie.packet_info<>", None),
    ("#aie.packet_info<pkt_id = 3>", None),
    ("#aie.packet_info<pkt_type = 0, pkt_id = 3>", "#aie.packet_info<pkt_id = 3>"),
    ("#aie.packet_info<pkt_id = 0, pkt_type = 1>", "#aie.packet_info<pkt_type = 1, pkt_id = 0>"),
    ("#aie.packet_info<pkt_type = 4>", None),
    ("#aie.bd_iteration<size = 4, stride = 16, current = 0>", None),
    ("#aie.objectfifo_segment<offset = 0, size = 16>", None),
    (
        "#aie.objectfifo_segment<consumeLock = @c, produceLock = @p, size = 16, offset = 1>",
        "#aie.objectfifo_segment<offset = 1, size = 16, produceLock = @p, consumeLock = @c>",
    ),
    ("#aie.link_mode<time>", None),
    ("#aie.link_mode<space>", None),
    ("#aie.transport<auto>", None),
    ("#aie.transport<shared_mem>", None),
    ("#aie.transport<dma>", None),
    ("#aie.transport<auto, packet = #aie.packet_info<pkt_id = 7>>", None),
    ("#aie.end_port<DMA>", None),
    ("#aie.end_port<DMA:1>", "#aie.end_port<DMA : 1>"),
    ("#aie.end_port<Core : 0>", None),
    ("#aie.trace_buffer<arg_index = 1, offset = 0, size = 4096, dedicated = true>", None),
    ('#aie.trace_slice<device = "d", sequence = "s", offset = 0, size = 64>', None),
    ('#aie.trace_event<"LOCK_STALL">', None),
    ("#aie.trace_event<CoreEventAIE2::INSTR_EVENT_0>", None),
    ("#aie.trace_event<MemTileEventAIE2P::TRUE>", None),
    ('!aie.objectfifo<memref<4x!aiex.bfp<"v8bfp16ebs8">>>', None),
    ("!aie.objectfifosubview<memref<16xi32>>", None),
]


@pytest.mark.parametrize(("text", "shown"), FORMS)
def test_form(text: str, shown: str | None) -> None:
    found = attribute(text)
    assert attribute_text(found) == (shown or text)  # type: ignore[arg-type]
    assert attribute(shown or text) == found


ERRORS = [
    ("#aie.bd_dim_layout<size = 4>", "struct is missing required parameter: stride"),
    ("#aie.bd_dim_layout<>", "struct is missing required parameter: size"),
    ("#aie.bd_dim_layout<size = 4, size = 4>", "duplicate or unknown struct parameter name: size"),
    ("#aie.bd_dim_layout<sice = 4>", "duplicate or unknown struct parameter name: sice"),
    ("#aie.bd_dim_layout<16, 1>", "expected a parameter name in struct"),
    ("#aie.bd_dim_layout<size = -1, stride = 1>", "negative integer literal not valid here"),
    ("#aie.bd_dim_layout<size = 4294967296, stride = 1>", "integer value too large"),
    ("#aie.bd_pad_layout<const_pad_before = 65536, const_pad_after = 0>", "integer value too large"),
    ("#aie.bd_dim_layout<size = x, stride = 1>", "expected integer value"),
    ("#aie.bd_iteration<size = 4, stride = 16>", "struct is missing required parameter: current"),
    ("#aie.packet_info", "expected '<'"),
    ("#aie.packet_info<pkt_id 3>", "expected '='"),
    ("#aie.link_mode<zeit>", "expected one of: space, time"),
    ("#aie.transport<tcp>", "expected one of: auto, shared_mem, dma"),
    (
        "#aie.transport<shared_mem, packet = #aie.packet_info<>>",
        "`packet` belongs to a dma or auto transport, not shared_mem",
    ),
    ("#aie.transport<dma, paket = 1>", "expected 'packet'"),
    ("#aie.transport<dma, packet = 1>", "expected an #aie.packet_info attribute"),
    (
        "#aie.end_port<North : 1>",
        "an objectFifo end is driven by a DMA channel or a Core stream port, not North",
    ),
    ("#aie.end_port<Core>", "a Core end needs its stream port"),
    ("#aie.trace_event<3>", "expected string or enum event"),
    ("#aie.trace_event<CoreEventAIE2>", "expected '::' after enum type name"),
    ("#aie.trace_event<CoreEventAIE2:X>", "expected '::' after enum type name"),
    ("#aie.trace_event<CoreEventAIE2::>", "expected enum case name"),
    ("#aie.trace_event<CoreEventAIE2::SLEEPY>", "unknown CoreEventAIE2 value: SLEEPY"),
    ("#aie.trace_event<CoreEventAIE9::TRUE>", "unknown event enum type: CoreEventAIE9"),
    ("#aie.trace_buffer<arg_index = 1, offset = 0, size = 4096, dedicated = 1>", "expected true or false"),
    ('#aie.trace_slice<device = d, sequence = "s", offset = 0, size = 64>', "expected string"),
    ("!aie.objectfifo<i32>", "expected a ranked memref, but got i32"),
    ("!aie.objectfifo", "expected '<'"),
]


@pytest.mark.parametrize(("text", "expected"), ERRORS)
def test_error(text: str, expected: str) -> None:
    with pytest.raises(Refused) as refused:
        attribute(text)
    assert refused.value.diagnostics[0].text == expected


def test_values() -> None:
    assert attribute("#aie.packet_info<pkt_type = 2>") == PacketInfoAttr(PacketInfo(2))
    assert attribute("#aie.bd_iteration<current = 1, size = 4, stride = 16>") == BdIterationAttr(BdIteration(4, 16, 1))
    dims = (BdDim(4, 8), BdDim(1, 0))
    short = "[<size = 4, stride = 8>, <size = 1, stride = 0>]"
    assert attribute(f"#aie<bd_dim_layout_array{short}>") == BdDimLayoutArrayAttr(dims)
    assert attribute(f"#aie<bd_dim_layout_array_array[{short}, []]>") == BdDimLayoutArrayArrayAttr((dims, ()))
    assert attribute("#aie.link_mode<time>") == LinkModeAttr(LinkMode.TIME)
    assert attribute("#aie.end_port<DMA : 3>") == EndPortAttr(EndPort(WireBundle.DMA, 3))
    packet = PacketInfo(0, 7)
    assert attribute("#aie.transport<dma, packet = #aie.packet_info<pkt_id = 7>>") == TransportAttr(
        Transport(TransportMode.DMA, packet)
    )


def test_words_are_there_whatever_their_number() -> None:
    assert WireBundle.CORE == 0
    assert bool(WireBundle.CORE)
    assert WireBundle.named("Core") is WireBundle.CORE
    assert WireBundle.named("core") is None
    assert WireBundle.numbered(99) is None
    assert str(WireBundle.TILE_CONTROL) == "TileControl"


@pytest.mark.parametrize(
    ("enum", "name", "number"),
    [
        ("CoreEventAIE2", "TRUE", 1),
        ("CoreEventAIE2", "INSTR_EVENT_0", 33),
        ("CoreEventAIE2", "USER_EVENT_3", 127),
        ("MemEventAIE2", "GROUP_WATCHPOINT", 15),
    ],
)
def test_events_have_the_hardware_s_numbers(enum: str, name: str, number: int) -> None:
    assert EVENTS[enum][name] == number
