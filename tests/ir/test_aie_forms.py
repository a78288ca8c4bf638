"""Every op of the `aie` dialect, read and printed: the printed text is MLIR's, blanks included."""

from __future__ import annotations

import pytest
from aiekit import Form, check_form, device, printed, read

from aiecc.ir.text import print_module

T, M, S = "%tile_0_2", "%mem_tile_0_1", "%shim_noc_tile_0_0"

# name -> (what is read, what is printed). One string: it is printed as it stands.
FORMS: dict[str, Form] = {
    "tile": ("%x = aie.tile(1,3)", "%tile_1_3 = aie.tile(1, 3)"),
    "tile with a controller": (
        "%x = aie.tile(1, 3) {controller_id = #aie.packet_info<pkt_id = 3, pkt_type = 1>, a}",
        "%tile_1_3 = aie.tile(1, 3) {a, controller_id = #aie.packet_info<pkt_type = 1, pkt_id = 3>}",
    ),
    "logical tile, open": ("%x = aie.logical_tile<CoreTile>(?, ?)", "%logical_core = aie.logical_tile<CoreTile>(?, ?)"),
    "logical tile, row": ("%x = aie.logical_tile<MemTile>(?, 1)", "%logical_mem = aie.logical_tile<MemTile>(?, 1)"),
    "logical tile, placed": (
        "%x = aie.logical_tile<ShimNOCTile> ( 0 , 0 ) {b = 1 : i64}",
        "%logical_shim_noc = aie.logical_tile<ShimNOCTile>(0, 0) {b = 1 : i64}",
    ),
    "logical PL shim": (
        "%x = aie.logical_tile<ShimPLTile>(1, ?)",
        "%logical_shim_pl = aie.logical_tile<ShimPLTile>(1, ?)",
    ),
    "core": (
        """
        %c = aie.core(%t) {
          aie.end
        } {stack_size = 2048 : i32, elf_file = "core.elf", data_size = 0 : i32}
        """,
        f"""
        %core_0_2 = aie.core({T}) {{
          aie.end
        }} {{data_size = 0 : i32, elf_file = "core.elf", stack_size = 2048 : i32}}
        """,
    ),
    "core, every attribute": (
        """
        %c = aie.core(%t) { aie.end } {stack_bank = 1 : i32, stack_address = 16384 : i32,
          dynamic_objfifo_lowering = true,
          measured_stack_size = 96 : i32, measured_data_size = 4 : i32, measured_data_alignment = 8 : i32,
          measured_bank_sizes = array<i32: 0, 16, 0, 0>, measured_bank_alignments = array<i32: 1, 8, 1, 1>,
          measured_data_ranges = array<i32: 1024, 16>, link_with = "k.o", emit_parameter_sync_preamble = false}
        """,
        f"""
        %core_0_2 = aie.core({T}) {{
          aie.end
        }} {{dynamic_objfifo_lowering = true, emit_parameter_sync_preamble = false, link_with = "k.o", \
measured_bank_alignments = array<i32: 1, 8, 1, 1>, measured_bank_sizes = array<i32: 0, 16, 0, 0>, \
measured_data_alignment = 8 : i32, measured_data_ranges = array<i32: 1024, 16>, measured_data_size = 4 : i32, \
measured_stack_size = 96 : i32, stack_address = 16384 : i32, stack_bank = 1 : i32}}
        """,
    ),
    "core, link lists": (
        '%c = aie.core(%t) { aie.end } {link_merge_files = ["b.bc"], link_files = ["a.o", "c.a"]}',
        f"""
        %core_0_2 = aie.core({T}) {{
          aie.end
        }} {{link_files = ["a.o", "c.a"], link_merge_files = ["b.bc"]}}
        """,
    ),
    "buffer": ("%b = aie.buffer(%t) : memref<4 x i32>", f"%buffer_0_2 = aie.buffer({T}) : memref<4xi32> "),
    "buffer, named and initialized": (
        '%b = aie.buffer(%t) {sym_name = "w", address = 0x400 : i32} : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>',
        f'%w = aie.buffer({T}) {{address = 1024 : i32, sym_name = "w"}} : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>',
    ),
    "buffer, value in the dictionary": (
        "%b = aie.buffer(%t) {initial_value = dense<3> : tensor<4xi16>} : memref<4xi16>",
        f"%buffer_0_2 = aie.buffer({T}) : memref<4xi16> = dense<3>",
    ),
    "buffer, every attribute": (
        "%b = aie.buffer(%m) {mem_bank = 2 : i32, core_data, bank_reserved, aligned = false} : memref<4xf32>",
        f"%buffer_0_1 = aie.buffer({M}) {{aligned = false, bank_reserved, core_data, mem_bank = 2 : i32}} : "
        "memref<4xf32> ",
    ),
    "buffer, default left out": (
        "%b = aie.buffer(%m) {aligned = true} : memref<4xf32>",
        f"%buffer_0_1 = aie.buffer({M}) : memref<4xf32> ",
    ),
    "external buffer": (
        '%b = aie.external_buffer {sym_name = "e", address = 4096 : i64} : memref<16xi32>',
        '%e = aie.external_buffer {address = 4096 : i64, sym_name = "e"} : memref<16xi32>',
    ),
    "external buffer, bare": ("%b = aie.external_buffer : memref<?xi32>", "%0 = aie.external_buffer : memref<?xi32>"),
    "lock": ("%l = aie.lock(%t, 3) {init = 1 : i32}", f"%lock_0_2 = aie.lock({T}, 3) {{init = 1 : i32}}"),
    "lock without id": ('%l = aie.lock(%t) {sym_name = "a_0"}', f'%a_0 = aie.lock({T}) {{sym_name = "a_0"}}'),
    "use_lock": (
        """
        %l = aie.lock(%t, 3)
        %c = aie.core(%t) {
          %one = arith.constant 1 : i32
          aie.use_lock(%l, "Acquire", %one)
          aie.use_lock(%l, AcquireGreaterEqual, %one, Blocking) {acq_en = true}
          aie.use_lock(%l, Release, %one, "NonBlocking") {acq_en = false}
          aie.end
        }
        """,
        f"""
        %lock_0_2 = aie.lock({T}, 3)
        %core_0_2 = aie.core({T}) {{
          %c1_i32 = arith.constant 1 : i32
          aie.use_lock(%lock_0_2, Acquire, %c1_i32)
          aie.use_lock(%lock_0_2, AcquireGreaterEqual, %c1_i32, Blocking)
          aie.use_lock(%lock_0_2, Release, %c1_i32, NonBlocking) {{acq_en = false}}
          aie.end
        }}
        """,
    ),
    "mem": (
        """
        %b = aie.buffer(%t) {sym_name = "b"} : memref<16xi32>
        %p = aie.mem(%t) {
          %d = aie.dma_start("S2MM", 0, ^a, ^e, repeat_count = 2) {out_of_order}
        ^a:
          aie.dma_bd_packet(0x4, 0xD)
          aie.dma_bd(%b : memref<16xi32>)
          aie.next_bd ^a
        ^e:
          aie.end
        }
        """,
        f"""
        %b = aie.buffer({T}) {{sym_name = "b"}} : memref<16xi32> \n\
        %mem_0_2 = aie.mem({T}) {{
          %0 = aie.dma_start(S2MM, 0, ^bb1, ^bb2, repeat_count = 2) {{out_of_order}}
        ^bb1:  // 2 preds: ^bb0, ^bb1
          aie.dma_bd_packet(4, 13)
          aie.dma_bd(%b : memref<16xi32>)
          aie.next_bd ^bb1
        ^bb2:  // pred: ^bb0
          aie.end
        }}
        """,
    ),
    "memtile_dma by endpoint": (
        """
        aie.route_endpoint @in(%m) DMA
        %p = aie.memtile_dma(%m) {
          aie.dma_start(MM2S, @in, ^a, ^e) {pad_value = 7 : i32}
        ^a:
          aie.end
        ^e:
          aie.end
        }
        """,
        f"""
        aie.route_endpoint @in({M}) DMA
        %memtile_dma_0_1 = aie.memtile_dma({M}) {{
          %0 = aie.dma_start(MM2S, @in, ^bb1, ^bb2) {{pad_value = 7 : i32}}
        ^bb1:  // pred: ^bb0
          aie.end
        ^bb2:  // pred: ^bb0
          aie.end
        }}
        """,
    ),
    "dma": (
        """
        %b = aie.buffer(%m) {sym_name = "b"} : memref<16xi32>
        %p = aie.memtile_dma(%m) {
          %d = aie.dma(S2MM, 0) {sym_name = "player", loop = false, repeat_count = 10 : i32} [{
            aie.dma_bd(%b : memref<16xi32>)
          },{
            aie.dma_bd(%b : memref<16xi32> offset = 8 len = 8)
            aie.end
          }]
          %e = aie.dma(MM2S, 1) {loop = true} [{
            aie.dma_bd(%b : memref<16xi32>)
          }]
          aie.end
        }
        """,
        f"""
        %b = aie.buffer({M}) {{sym_name = "b"}} : memref<16xi32> \n\
        %memtile_dma_0_1 = aie.memtile_dma({M}) {{
          %player = aie.dma(S2MM, 0) {{loop = false, repeat_count = 10 : i32, sym_name = "player"}} [{{
            aie.dma_bd(%b : memref<16xi32>)
          }}, {{
            aie.dma_bd(%b : memref<16xi32> offset = 8 len = 8)
            aie.end
          }}]
          %0 = aie.dma(MM2S, 1) [{{
            aie.dma_bd(%b : memref<16xi32>)
          }}]
          aie.end
        }}
        """,
    ),
    "shim_dma": (
        """
        %p = aie.shim_dma(%s) {
          aie.end
        }
        """,
        f"""
        %shim_dma_0_0 = aie.shim_dma({S}) {{
          aie.end
        }}
        """,
    ),
    "bd_chain": (
        """
        aie.bd_chain @ping(%a: memref<64xi32>, %l : index) {
          aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64)
          aie.next_bd ^n
        ^n:
          aie.end
        }
        aie.bd_chain @none() {
          aie.end
        }
        """,
        """
        aie.bd_chain @ping(%arg0: memref<64xi32>, %arg1: index) {
          aie.dma_bd(%arg0 : memref<64xi32> offset = 0 len = 64)
          aie.next_bd ^bb1
        ^bb1:  // pred: ^bb0
          aie.end
        }
        aie.bd_chain @none() {
          aie.end
        }
        """,
    ),
    "runtime_sequence": (
        """
        aie.runtime_sequence @run(%a: memref<4xi32>, %b: i32) attributes {emit_parameter_sync_preamble = true, z} {
        }
        """,
        """
        aie.runtime_sequence @run(%arg0: memref<4xi32>, %arg1: i32) attributes \
{emit_parameter_sync_preamble = true, z} {
        }
        """,
    ),
    "runtime_sequence, default name": (
        "aie.runtime_sequence @sequence() {}",
        """
        aie.runtime_sequence() {
        }
        """,
    ),
    "runtime_sequence, traced": (
        """
        aie.runtime_sequence @s() attributes {
          trace_buffer = #aie.trace_buffer<size = 4096, arg_index = 1, offset = 0, dedicated = true>,
          trace_slices = [#aie.trace_slice<device = "d", sequence = "s", offset = 0, size = 64>]} {
        }
        """,
        """
        aie.runtime_sequence @s() attributes \
{trace_buffer = #aie.trace_buffer<arg_index = 1, offset = 0, size = 4096, dedicated = true>, \
trace_slices = [#aie.trace_slice<device = "d", sequence = "s", offset = 0, size = 64>]} {
        }
        """,
    ),
    "shim_dma_allocation": (
        "aie.shim_dma_allocation @a (%s, MM2S, 1, <pkt_id = 3, pkt_type = 0>) {plio = true}",
        f"aie.shim_dma_allocation @a({S}, MM2S, 1, <pkt_id = 3>) {{plio = true}}",
    ),
    "shim_dma_allocation, full packet": (
        "aie.shim_dma_allocation @a(%s, S2MM, 0, #aie.packet_info<pkt_type = 2, pkt_id = 3>) {plio = false}",
        f"aie.shim_dma_allocation @a({S}, S2MM, 0, <pkt_type = 2, pkt_id = 3>)",
    ),
    "objectfifo_rearm_binding": (
        """
        %p = aie.lock(%t, 0)
        %c = aie.lock(%t, 1)
        aie.objectfifo_rearm_binding @b channels(%t : index) locks(%p, %c : index, index) {
          lock_inits = array<i32: 2, 0>, channel_indices = array<i32: 0>, channel_dirs = array<i32: 0>}
        aie.objectfifo_rearm_binding @n channels() locks() {channel_dirs = array<i32>, channel_indices = array<i32>,
          lock_inits = array<i32>}
        """,
        f"""
        %lock_0_2 = aie.lock({T}, 0)
        %lock_0_2_0 = aie.lock({T}, 1)
        aie.objectfifo_rearm_binding @b channels({T} : index) locks(%lock_0_2, %lock_0_2_0 : index, index) \
{{channel_dirs = array<i32: 0>, channel_indices = array<i32: 0>, lock_inits = array<i32: 2, 0>}}
        aie.objectfifo_rearm_binding @n channels() locks() \
{{channel_dirs = array<i32>, channel_indices = array<i32>, lock_inits = array<i32>}}
        """,
    ),
    "switchbox": (
        """
        %w = aie.switchbox(%t) {
          aie.connect<West:0, "Core":0>
          %a = aie.amsel<5>(3)
          %b = aie.amsel<0> (1)
          %o = aie.masterset(DMA : 0, %a) {keep_pkt_header = true}
          %q = aie.masterset(DMA : 1, %b, %b)
          aie.packet_rules(North : 1) {
            aie.rule(0x1F, 0x10, %a)
            aie.rule(31, 2, %b)
          }
        }
        """,
        f"""
        %switchbox_0_2 = aie.switchbox({T}) {{
          aie.connect<West : 0, Core : 0>
          %0 = aie.amsel<5> (3)
          %1 = aie.amsel<0> (1)
          %2 = aie.masterset(DMA : 0, %0) {{keep_pkt_header = true}}
          %3 = aie.masterset(DMA : 1, %1, %1)
          aie.packet_rules(North : 1) {{
            aie.rule(31, 16, %0)
            aie.rule(31, 2, %1)
          }}
        }}
        """,
    ),
    "shim_mux": (
        """
        %w = aie.shim_mux(%s) {
          aie.connect<DMA : 0, North : 3> {a}
          aie.end
        }
        %v = aie.switchbox(%s) {
        }
        """,
        f"""
        %shim_mux_0_0 = aie.shim_mux({S}) {{
          aie.connect<DMA : 0, North : 3> {{a}}
        }}
        %switchbox_0_0 = aie.switchbox({S}) {{
        }}
        """,
    ),
    "wire": ("aie.wire(%t : Core, %m : DMA)", f"aie.wire({T} : Core, {M} : DMA)"),
    "flow": ('aie.flow(%t, DMA:1, %s, "DMA" : 0) {b}', f"aie.flow({T}, DMA : 1, {S}, DMA : 0) {{b}}"),
    "flow with vias": (
        "aie.flow(%t, DMA : 0, %s, DMA : 0) via (%m:North:0->South:1, %m : East : 2 -> West : 3)",
        f"aie.flow({T}, DMA : 0, {S}, DMA : 0) via ({M} : North : 0 -> South : 1, {M} : East : 2 -> West : 3)",
    ),
    "packet_flow": (
        """
        aie.packet_flow(0x3) {
          aie.packet_source<%t, Trace:0>
          aie.packet_dest<%s, DMA : 1> {c}
          aie.end
        } {priority_route = false, keep_pkt_header = true}
        """,
        f"""
        aie.packet_flow(3) {{
          aie.packet_source<{T}, Trace : 0>
          aie.packet_dest<{S}, DMA : 1> {{c}}
        }} {{keep_pkt_header = true, priority_route = false}}
        """,
    ),
    "packet_flow with mask and vias": (
        """
        aie.packet_flow(2, mask = 30) {
          aie.packet_source<%t, DMA : 0>
          aie.packet_dest<%s, DMA : 1>
        } via (%m : North : 0 -> South : 0)
        """,
        f"""
        aie.packet_flow(2, mask = 30) {{
          aie.packet_source<{T}, DMA : 0>
          aie.packet_dest<{S}, DMA : 1>
        }} via ({M} : North : 0 -> South : 0)
        """,
    ),
    "cascade_flow": ("aie.cascade_flow(%t, %t) {a}", f"aie.cascade_flow({T}, {T}) {{a}}"),
    "configure_cascade": (
        'aie.configure_cascade(%t, North, "South")',
        f"aie.configure_cascade({T}, North, South)",
    ),
    "cascade and streams in a core": (
        """
        %c = aie.core(%t) {
          %v = aie.get_cascade() : vector<16xi32>
          aie.put_cascade(%v : vector<16xi32>)
          %z = arith.constant 0 : i32
          %x = aie.get_stream(%z : i32) : i128
          aie.put_stream(%z : i32, %x : i128) {a}
          aie.event(1)
          aie.debug(%z : i32)
          aie.end
        }
        """,
        f"""
        %core_0_2 = aie.core({T}) {{
          %0 = aie.get_cascade() : vector<16xi32>
          aie.put_cascade(%0 : vector<16xi32>)
          %c0_i32 = arith.constant 0 : i32
          %1 = aie.get_stream(%c0_i32 : i32) : i128
          aie.put_stream(%c0_i32 : i32, %1 : i128) {{a}}
          aie.event(1)
          aie.debug(%c0_i32 : i32)
          aie.end
        }}
        """,
    ),
    "plio": ("%x = aie.plio(3)", "%0 = aie.plio(3)"),
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    check_form(FORMS[name])


def test_device() -> None:
    text = """\
module {
  aie.device(npu1) {
  }
  aie.device("npu2_7col") @left {
  } {sym_visibility = "private", has_ctrl_pkt_overlay = true, dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>}
  aie.device(xcvc1902) @main {
  } {has_ctrl_pkt_overlay = false}
}
"""
    assert (
        print_module(read(text))
        == """\
module {
  aie.device(npu1) {
  }
  aie.device(npu2_7col) @left {
  } {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>, has_ctrl_pkt_overlay = true, sym_visibility = "private"}
  aie.device(xcvc1902) {
  }
}"""
    )


def test_a_file_without_module() -> None:
    assert print_module(read("aie.device(xcve3858) @only {\n}\n")) == (
        "module {\n  aie.device(xcve3858) @only {\n  }\n}"
    )


def test_generic_device_shows_numbers() -> None:
    generic = print_module(read(device("%l = aie.lock(%t, 1)", tiles="%t = aie.tile(0, 2)\n")), generic=True)
    assert (
        generic
        == """\
"builtin.module"() ({
  "aie.device"() <{device = 8 : i32, sym_name = "main"}> ({
    %0 = "aie.tile"() <{col = 0 : i32, row = 2 : i32}> : () -> index
    %1 = "aie.lock"(%0) <{lockID = 1 : i32}> : (index) -> index
    "aie.end"() : () -> ()
  }) : () -> ()
}) : () -> ()"""
    )


def test_generic_form_of_enumerations_is_read() -> None:
    text = """
    %b = aie.external_buffer : memref<4xi32>
    "aie.flow"(%t, %s) <{source_bundle = 1 : i32, source_channel = 0 : i32, dest_bundle = 7 : i32,
      dest_channel = 2 : i32}>
      : (index, index) -> ()
    """
    assert printed(text).endswith(f"aie.flow({T}, DMA : 0, {S}, PLIO : 2)")


@pytest.mark.parametrize(
    ("coordinates", "target", "name"),
    [
        ((0, 2), "npu2", "tile_0_2"),
        ((3, 1), "npu2", "mem_tile_3_1"),
        ((0, 0), "npu2", "shim_noc_tile_0_0"),
        ((0, 0), "xcvc1902", "shim_pl_tile_0_0"),
        ((2, 0), "xcvc1902", "shim_noc_tile_2_0"),
        ((1, 1), "xcvc1902", "tile_1_1"),
    ],
)
def test_names_of_tiles(coordinates: tuple[int, int], target: str, name: str) -> None:
    col, row = coordinates
    text = print_module(read(device(f"%x = aie.tile({col}, {row})", target, tiles="")))
    assert f"    %{name} = aie.tile({col}, {row})" in text.split("\n")


def test_no_name_on_a_logical_tile() -> None:
    body = """
    %x = aie.logical_tile<CoreTile>(0, 3)
    %c = aie.core(%x) { aie.end }
    %l = aie.lock(%x, 0)
    %b = aie.buffer(%x) : memref<4xi32>
    """
    assert [line.split(" =")[0] for line in printed(body).split("\n") if " = " in line] == [
        "%logical_core",
        "%0",
        "%1",
        "%2",
    ]
