"""objectFifos and what they are split into, read and printed."""

from __future__ import annotations

import pytest
from aiekit import Form, check_form

T, M, S = "%tile_0_2", "%mem_tile_0_1", "%shim_noc_tile_0_0"
OF = "!aie.objectfifo<memref<16xi32>>"

# The blank before each of an objectFifo's two optional ends stays when the end is missing, and `->` brings another one.
FORMS: dict[str, Form] = {
    "fifo": (
        f"aie.objectfifo @of (%t, {{%m}}, 2 : i32) : {OF}",
        f"aie.objectfifo @of({T}, {{{M}}}, 2 : i32) : {OF}  ",
    ),
    "fifo, depth per end": (
        f"aie.objectfifo @of(%t, {{%m, %s}}, [2, 3 : i64, 0x4]) : {OF}",
        f"aie.objectfifo @of({T}, {{{M}, {S}}}, [2, 3, 4]) : {OF}  ",
    ),
    "fifo, layouts": (
        f"""
        aie.objectfifo @of(%t dimensionsToStream [<stride = 8, size = 4>, <size = 8, stride = 1>],
           {{%m, %t dimensionsFromStream [<size = 32, stride = 1>]}}, [2, 2, 3]) {{repeat_count = 2 : i32}} : {OF}
        """,
        f"aie.objectfifo @of({T} dimensionsToStream [<size = 4, stride = 8>, <size = 8, stride = 1>], "
        f"{{{M}, {T} dimensionsFromStream [<size = 32, stride = 1>]}}, [2, 2, 3]) {{repeat_count = 2 : i32}} : {OF}  ",
    ),
    "fifo, full layout": (
        f"aie.objectfifo @of(%m dimensionsToStream #aie<bd_dim_layout_array[<size = 4, stride = 8>]>, {{%t}}, 1 : i32)"
        f" : {OF}",
        f"aie.objectfifo @of({M} dimensionsToStream [<size = 4, stride = 8>], {{{T}}}, 1 : i32) : {OF}  ",
    ),
    "fifo, every attribute": (
        f"""
        aie.objectfifo @of(%m, {{%t}}, 2 : i32) {{transport = #aie.transport<dma, packet = #aie.packet_info<>>,
          prod_port = #aie.end_port<DMA : 1>, cons_ports = [#aie.end_port<DMA>], plio = true, iter_count = 3 : i32,
          disable_synchronization = true, padDimensions = #aie<bd_pad_layout_array[<const_pad_after = 2,
          const_pad_before = 1>]>, padValue = 5 : i32, iterate_bds, z = 1 : i8}} : {OF}
        """,
        f"aie.objectfifo @of({M}, {{{T}}}, 2 : i32) {{cons_ports = [#aie.end_port<DMA>], "
        "disable_synchronization = true, iter_count = 3 : i32, iterate_bds, "
        "padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, "
        "const_pad_after = 2>]>, padValue = 5 : i32, plio = true, prod_port = #aie.end_port<DMA : 1>, "
        f"transport = #aie.transport<dma, packet = #aie.packet_info<>>, z = 1 : i8}} : {OF}  ",
    ),
    "fifo, defaults": (
        f"aie.objectfifo @of(%m, {{%t}}, 2 : i32) {{plio = false, disable_synchronization = false, padValue = 0 : i32}}"
        f" : {OF}",
        f"aie.objectfifo @of({M}, {{{T}}}, 2 : i32) : {OF}  ",
    ),
    "fifo, consumer type": (
        f"aie.objectfifo @of(%m, {{%t}}, 2 : i32) : {OF}->!aie.objectfifo<memref<4xi32>>",
        f"aie.objectfifo @of({M}, {{{T}}}, 2 : i32) : {OF}  -> !aie.objectfifo<memref<4xi32>> ",
    ),
    "fifo, values": (
        """
        aie.objectfifo @of(%m, {%t}, 2 : i32) : !aie.objectfifo<memref<2xi32>>
          = [dense<0> : memref<2xi32>, dense<[1, 2]> : memref<2xi32>]
        """,
        f"aie.objectfifo @of({M}, {{{T}}}, 2 : i32) : !aie.objectfifo<memref<2xi32>>  = "
        "[dense<0> : memref<2xi32>, dense<[1, 2]> : memref<2xi32>]",
    ),
    "fifo, consumer type and values": (
        """
        aie.objectfifo @of(%m, {%t}, [1, 3]) : !aie.objectfifo<memref<2xi32>> -> !aie.objectfifo<memref<1xi32>>
          = [dense<0> : memref<2xi32>]
        """,
        f"aie.objectfifo @of({M}, {{{T}}}, [1, 3]) : !aie.objectfifo<memref<2xi32>>  -> "
        "!aie.objectfifo<memref<1xi32>> = [dense<0> : memref<2xi32>]",
    ),
    "allocate": ("aie.objectfifo.allocate @of (%t) {a}", f"aie.objectfifo.allocate @of({T}) {{a}}"),
    "link": "aie.objectfifo.link [@a] -> [@b]([] [])",
    "join": "aie.objectfifo.link [@a, @b] -> [@c]([0, 16] [])",
    "distribute": (
        "aie.objectfifo.link [@a] -> [@b,@c] ([] [0,0x10])",
        "aie.objectfifo.link [@a] -> [@b, @c]([] [0, 16])",
    ),
    "time link": "aie.objectfifo.link [@a, @b] -> [@c]([] []) {mode = #aie.link_mode<time>}",
    "space link": (
        "aie.objectfifo.link [@a] -> [@c]([] []) {mode = #aie.link_mode<space>}",
        "aie.objectfifo.link [@a] -> [@c]([] [])",
    ),
    "register_external_buffers": (
        """
        %e = aie.external_buffer {sym_name = "e"} : memref<4xi32>
        %f = aie.external_buffer {sym_name = "f"} : memref<8xi32>
        aie.objectfifo.register_external_buffers {a} @of (%s, {%e, %f}) : (memref<4xi32>, memref<8xi32>)
        """,
        f"""
        %e = aie.external_buffer {{sym_name = "e"}} : memref<4xi32>
        %f = aie.external_buffer {{sym_name = "f"}} : memref<8xi32>
        aie.objectfifo.register_external_buffers {{a}} @of({S}, {{%e, %f}}) : (memref<4xi32>, memref<8xi32>)
        """,
    ),
    "acquire and release": (
        """
        %c = aie.core(%t) {
          %a, %b = aie.objectfifo.acquire @of (Consume, 2) : memref<16xi32>, memref<16xi32>
          %e = aie.objectfifo.acquire {a} @end(1) : memref<16xi32>
          aie.objectfifo.release @of ("Consume",2)
          aie.objectfifo.release {b} @end (1)
          aie.end
        }
        """,
        f"""
        %core_0_2 = aie.core({T}) {{
          %0:2 = aie.objectfifo.acquire @of(Consume, 2) : memref<16xi32>, memref<16xi32>
          %1 = aie.objectfifo.acquire {{a}} @end(1) : memref<16xi32>
          aie.objectfifo.release @of(Consume, 2)
          aie.objectfifo.release {{b}} @end(1)
          aie.end
        }}
        """,
    ),
    "pool": (
        """
        aie.objectfifo.pool @p(%t) {fifoName = "of", buffers = [@b0, @b1], depth = 2 : i32} : memref<16xi32> {
          aie.objectfifo.segment @s0 {size = 4 : i32, offset = 0 : i32, produceLock = @pl, consumeLock = @cl}
          aie.objectfifo.segment @s1 {size = 12 : i32, offset = 4 : i32}
        }
        """,
        f"""
        aie.objectfifo.pool @p({T}) {{buffers = [@b0, @b1], depth = 2 : i32, fifoName = "of"}} : memref<16xi32> {{
          aie.objectfifo.segment @s0 {{consumeLock = @cl, offset = 0 : i32, produceLock = @pl, size = 4 : i32}}
          aie.objectfifo.segment @s1 {{offset = 4 : i32, size = 12 : i32}}
        }}
        """,
    ),
    "pool, every attribute": (
        """
        aie.objectfifo.pool @p(%t) {depth = 1 : i32, disableSynchronization = true, repeatCount = 3 : i32, iterateBds,
          initValues = [dense<1> : memref<4xi32>], locks = [@l]} : memref<4xi32> {
        }
        """,
        f"""
        aie.objectfifo.pool @p({T}) {{depth = 1 : i32, disableSynchronization = true, \
initValues = [dense<1> : memref<4xi32>], iterateBds, locks = [@l], repeatCount = 3 : i32}} : memref<4xi32> {{
        }}
        """,
    ),
    "core endpoint": (
        'aie.objectfifo.core_endpoint @rd (%t) "drains" @p {segments = [@s0]}',
        f"aie.objectfifo.core_endpoint @rd({T}) drains @p {{segments = [@s0]}}",
    ),
    "dma endpoint": (
        "aie.objectfifo.dma_endpoint @in(%m) fills @p",
        f"aie.objectfifo.dma_endpoint @in({M}) fills @p",
    ),
    "dma endpoint, every attribute": (
        """
        aie.objectfifo.dma_endpoint @o(%m) drains @p {turns = [@o, @q], segments = [@s0, @s1], padValue = 3 : i32,
          packet = #aie.packet_info<pkt_id = 1>, channelIndex = 2 : i32, fifoName = "of", iterCount = 4 : i32,
          padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 1, const_pad_after = 0>], []]>,
          dimensions = #aie<bd_dim_layout_array_array[[<size = 4, stride = 1>], []]>, dispatch = [@x, @y],
          dispatchPackets = [#aie.packet_info<pkt_id = 1>, #aie.packet_info<pkt_id = 2>]}
        """,
        f"aie.objectfifo.dma_endpoint @o({M}) drains @p {{channelIndex = 2 : i32, "
        "dimensions = #aie<bd_dim_layout_array_array[[<size = 4, stride = 1>], []]>, dispatch = [@x, @y], "
        "dispatchPackets = [#aie.packet_info<pkt_id = 1>, #aie.packet_info<pkt_id = 2>], "
        'fifoName = "of", iterCount = 4 : i32, packet = #aie.packet_info<pkt_id = 1>, '
        "padDimensions = #aie<bd_pad_layout_array_array[[<const_pad_before = 1, const_pad_after = 0>], []]>, "
        "padValue = 3 : i32, segments = [@s0, @s1], turns = [@o, @q]}",
    ),
    "route endpoint": (
        'aie.route_endpoint @in(%s) "PLIO" {packet = #aie.packet_info<pkt_id = 1>, fifoName = "of_in", '
        "channelIndex = 1 : i32}",
        f"aie.route_endpoint @in({S}) PLIO {{channelIndex = 1 : i32, "
        'fifoName = "of_in", packet = #aie.packet_info<pkt_id = 1>}',
    ),
    "route": "aie.route from @a to [@b, @c]",
    "route, bracketed source": ("aie.route from [@a] to [@b]", "aie.route from @a to [@b]"),
    "merging route": "aie.route from [@a, @b] to [@c] {packet = #aie.packet_info<pkt_type = 1, pkt_id = 3>}",
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    check_form(FORMS[name])
