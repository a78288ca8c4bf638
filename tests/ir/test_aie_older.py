"""Older spellings are read, and today's are printed."""

from __future__ import annotations

import pytest
from aiekit import check_form, device, printed, read
from xdsl.dialects.arith import ConstantOp

from aiecc.ir.dialects.aie import ShimDmaAllocationOp, TileOp, UseLockOp
from aiecc.ir.spans import span_of
from aiecc.ir.text import print_module

T, M, S = "%tile_0_2", "%mem_tile_0_1", "%shim_noc_tile_0_0"
OF = "!aie.objectfifo<memref<16xi32>>"


@pytest.mark.parametrize(
    ("written", "value", "rest"),
    [
        ("Acquire, 1", 1, "Acquire"),
        ("Release", 1, "Release"),
        ("AcquireGreaterEqual, 0x2", 2, "AcquireGreaterEqual"),
        ("Acquire, -1", -1, "Acquire"),
    ],
)
def test_lock_values_were_numbers(written: str, value: int, rest: str) -> None:
    body = f"%l = aie.lock(%t, 0)\n%c = aie.core(%t) {{\n  aie.use_lock(%l, {written})\n  aie.end\n}}"
    name = f"%c{value}_i32"
    assert printed(body).split("\n")[2:4] == [
        f"  {name} = arith.constant {value} : i32",
        f"  aie.use_lock(%lock_0_2, {rest}, {name})",
    ]


def test_blocking_after_a_number_and_without() -> None:
    body = """
    %l = aie.lock(%t, 0)
    %c = aie.core(%t) {
      aie.use_lock(%l, Acquire, 1, NonBlocking)
      aie.use_lock(%l, Release, Blocking)
      aie.end
    }
    """
    uses = [line.strip() for line in printed(body).split("\n") if "use_lock" in line]
    assert uses == [
        "aie.use_lock(%lock_0_2, Acquire, %c1_i32, NonBlocking)",
        "aie.use_lock(%lock_0_2, Release, %c1_i32_0, Blocking)",
    ]


def test_the_constant_of_a_lock_value_stands_before_it_at_its_place() -> None:
    module = read(device("%l = aie.lock(%t, 0)\n%c = aie.core(%t) {\n  aie.use_lock(%l, Acquire, 1)\n  aie.end\n}"))
    use = next(op for op in module.walk() if isinstance(op, UseLockOp))
    constant = use.value.owner
    assert isinstance(constant, ConstantOp) and constant.next_op is use
    assert span_of(constant) == span_of(use)
    assert str(span_of(use)) == "t.mlir:7:3"


def test_lock_values_in_control_flow() -> None:
    body = """
    %l = aie.lock(%t, 0)
    %c = aie.core(%t) {
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      scf.for %i = %z to %o step %o {
        aie.use_lock(%l, Acquire, 1)
      }
      aie.end
    }
    """
    text = printed(body).split("\n")
    at = next(i for i, line in enumerate(text) if "use_lock" in line)
    assert text[at - 1].strip() == "%c1_i32 = arith.constant 1 : i32"
    assert "scf.for" in text[at - 2]


def test_devices() -> None:
    assert "aie.device(npu1) {" in print_module(read("aie.device(npu1_4col) {\n}"))
    assert "aie.device(npu1) @x {" in print_module(read('aie.device("npu1_4col") @x {\n}'))


def test_shim_allocation_by_column_uses_the_tile_there() -> None:
    check_form(("aie.shim_dma_allocation @a(MM2S, 1, 0)", f"aie.shim_dma_allocation @a({S}, MM2S, 1)"))


def test_shim_allocation_by_column_brings_a_missing_tile() -> None:
    body = "aie.shim_dma_allocation @a(S2MM, 0, 2)\naie.shim_dma_allocation @b(MM2S, 1, 2)"
    assert printed(body) == (
        "%shim_noc_tile_2_0 = aie.tile(2, 0)\n"
        "aie.shim_dma_allocation @a(%shim_noc_tile_2_0, S2MM, 0)\n"
        "aie.shim_dma_allocation @b(%shim_noc_tile_2_0, MM2S, 1)"
    )


def test_shim_allocation_before_its_tile() -> None:
    module = read("aie.device(npu2) {\n  aie.shim_dma_allocation @a(S2MM, 0, 2)\n  %s = aie.tile(2, 0)\n}")
    tiles = [op for op in module.walk() if isinstance(op, TileOp)]
    allocation = next(op for op in module.walk() if isinstance(op, ShimDmaAllocationOp))
    assert len(tiles) == 1 and allocation.tile_op is tiles[0]
    assert tiles[0].is_before_in_block(allocation)


def test_runtime_sequence_of_the_other_dialect() -> None:
    assert printed("aiex.runtime_sequence @run(%a : memref<4xi32>) {\n}") == (
        "aie.runtime_sequence @run(%arg0: memref<4xi32>) {\n}"
    )
    assert printed("aiex.runtime_sequence(%a : memref<4xi32>) {\n}") == (
        "aie.runtime_sequence(%arg0: memref<4xi32>) {\n}"
    )


def test_generic_channel_index() -> None:
    body = """
    %p = aie.mem(%t) {
      %d = "aie.dma_start"() [^a, ^e] <{channel_dir = 1 : i32, channel_index = 1 : i32}> : () -> i1
    ^a:
      aie.end
    ^e:
      aie.end
    }
    """
    assert "%0 = aie.dma_start(MM2S, 1, ^bb1, ^bb2)" in printed(body)


# --- objectFifos ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("via_DMA = true", "transport = #aie.transport<dma>"),
        ("via_DMA = false", ""),
        ("packet", "transport = #aie.transport<dma, packet = #aie.packet_info<>>"),
        ("packet, packet_id = 3 : i8", "transport = #aie.transport<dma, packet = #aie.packet_info<pkt_id = 3>>"),
        (
            "packet, via_DMA = true, packet_id = 0 : i8",
            "transport = #aie.transport<dma, packet = #aie.packet_info<pkt_id = 0>>",
        ),
        ("aie_stream = 0 : i32, aie_stream_port = 1 : i32", "prod_port = #aie.end_port<Core : 1>"),
        ("aie_stream = 1 : i32, aie_stream_port = 0 : i32", "cons_ports = [#aie.end_port<Core : 0>]"),
        (
            "aie_stream = 2 : i32, aie_stream_port = 1 : i32",
            "cons_ports = [#aie.end_port<Core : 1>], prod_port = #aie.end_port<Core : 1>",
        ),
        ("prod_dma_channel = 1 : i32", "prod_port = #aie.end_port<DMA : 1>"),
        ("cons_dma_channels = array<i32: 1>", "cons_ports = [#aie.end_port<DMA : 1>]"),
        ("cons_dma_channels = array<i32: -1>", "cons_ports = [#aie.end_port<DMA>]"),
    ],
)
def test_keys_of_an_objectfifo(old: str, new: str) -> None:
    shown = f" {{{new}}}" if new else ""
    check_form(
        (
            f"aie.objectfifo @of(%t, {{%m}}, 2 : i32) {{{old}}} : {OF}",
            f"aie.objectfifo @of({T}, {{{M}}}, 2 : i32){shown} : {OF}  ",
        )
    )


def test_keys_for_two_consumers() -> None:
    check_form(
        (
            f"aie.objectfifo @of(%t, {{%m, %s}}, 2 : i32) {{cons_dma_channels = array<i32: 1, -1>}} : {OF}",
            f"aie.objectfifo @of({T}, {{{M}, {S}}}, 2 : i32) "
            f"{{cons_ports = [#aie.end_port<DMA : 1>, #aie.end_port<DMA>]}} : {OF}  ",
        )
    )


def test_link_without_offsets() -> None:
    assert printed("aie.objectfifo.link [@a] -> [@b] ()") == "aie.objectfifo.link [@a] -> [@b]([] [])"


def test_subviews_become_one_result_an_object() -> None:
    body = """
    %c = aie.core(%t) {
      %v = aie.objectfifo.acquire @of(Consume, 2) : !aie.objectfifosubview<memref<16xi32>>
      %a = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      %b = aie.objectfifo.subview.access %v[1] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      %z = arith.constant 0 : index
      %x = memref.load %b[%z] : memref<16xi32>
      memref.store %x, %a[%z] : memref<16xi32>
      aie.objectfifo.release @of(Consume, 2)
      aie.end
    }
    """
    assert (
        printed(body)
        == f"""\
%core_0_2 = aie.core({T}) {{
  %0:2 = aie.objectfifo.acquire @of(Consume, 2) : memref<16xi32>, memref<16xi32>
  %c0 = arith.constant 0 : index
  %1 = memref.load %0#1[%c0] : memref<16xi32>
  memref.store %1, %0#0[%c0] : memref<16xi32>
  aie.objectfifo.release @of(Consume, 2)
  aie.end
}}"""
    )


def test_a_subview_with_an_access_out_of_range_stays() -> None:
    body = """
    %c = aie.core(%t) {
      %v = aie.objectfifo.acquire @of(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
      %a = aie.objectfifo.subview.access %v[1] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
      aie.end
    }
    """
    assert (
        printed(body)
        == f"""\
%core_0_2 = aie.core({T}) {{
  %0 = aie.objectfifo.acquire @of(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
  %1 = aie.objectfifo.subview.access %0[1] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
  aie.end
}}"""
    )


@pytest.mark.parametrize(
    ("keys", "segments"),
    [
        ("", ["@s0 {offset = 0 : i32, size = 16 : i32}"]),
        (
            ", segments = [#aie.objectfifo_segment<offset = 0, size = 4>, "
            "#aie.objectfifo_segment<consumeLock = @c, produceLock = @p, offset = 4, size = 12>]",
            [
                "@s0 {offset = 0 : i32, size = 4 : i32}",
                "@s1 {consumeLock = @c, offset = 4 : i32, produceLock = @p, size = 12 : i32}",
            ],
        ),
    ],
)
def test_pools_without_a_region(keys: str, segments: list[str]) -> None:
    body = f"aie.objectfifo.pool @p(%t) {{depth = 2 : i32{keys}}} : memref<16xi32>"
    assert printed(body).split("\n") == [
        f"aie.objectfifo.pool @p({T}) {{depth = 2 : i32}} : memref<16xi32> {{",
        *(f"  aie.objectfifo.segment {segment}" for segment in segments),
        "}",
    ]
    [pool] = [op for op in read(device(body)).walk() if op.name == "aie.objectfifo.pool"]
    assert all(span_of(op) == span_of(pool) for op in pool.walk())


def test_repeat_count_of_a_pool() -> None:
    body = "aie.objectfifo.pool @p(%t) {depth = 1 : i32, repeat_count = 3 : i32} : memref<16xi32>"
    assert "{depth = 1 : i32, repeatCount = 3 : i32}" in printed(body)


def test_segments_by_index() -> None:
    body = """
    aie.objectfifo.core_endpoint @w(%t) fills @p {segments = array<i32: 1>}
    aie.objectfifo.pool @p(%t) {depth = 2 : i32} : memref<16xi32> {
      aie.objectfifo.segment @a {offset = 0 : i32, size = 8 : i32}
      aie.objectfifo.segment @b {offset = 8 : i32, size = 8 : i32}
    }
    aie.objectfifo.dma_endpoint @r(%t) drains @p {segments = array<i32: 0, 1>}
    """
    text = printed(body).split("\n")
    assert text[0] == f"aie.objectfifo.core_endpoint @w({T}) fills @p {{segments = [@b]}}"
    assert text[-1] == f"aie.objectfifo.dma_endpoint @r({T}) drains @p {{segments = [@a, @b]}}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("aie.objectfifo.flow from @a to [@b]", "aie.route from @a to [@b]"),
        (
            "aie.objectfifo.flow from @a to [@b] {packet, packet_id = 3 : i8, x}",
            "aie.route from @a to [@b] {packet = #aie.packet_info<pkt_id = 3>, x}",
        ),
        ("aie.objectfifo.flow from @a to [@b] {packet}", "aie.route from @a to [@b] {packet = #aie.packet_info<>}"),
        (
            'aie.objectfifo.dangling_endpoint @in(%s) DMA {fifoName = "of_in"}',
            f'aie.route_endpoint @in({S}) DMA {{fifoName = "of_in"}}',
        ),
    ],
)
def test_routes(old: str, new: str) -> None:
    assert printed(old) == new
