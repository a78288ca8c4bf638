"""What the verifier says of DMA programs, channels and descriptors."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints, mem

# The buffer is line 1; `mem` puts the program on line 2 and the descriptor on line 5.
B = "%b = aie.buffer(%t) : memref<128xi32>\n"
BM = "%b = aie.buffer(%m) : memref<256xi32>\n"
BD, START, PROGRAM = 5, 3, 2


def bd(rest: str, kind: str = "mem", element: str = "128xi32") -> str:
    """A descriptor of a buffer in a core's or a memory tile's program."""
    tile = {"mem": "%t", "memtile_dma": "%m", "shim_dma": "%s"}[kind]
    type = f"memref<{element}>"
    buffer = f"aie.external_buffer : {type}" if kind == "shim_dma" else f"aie.buffer({tile}) : {type}"
    at = rest.find("{")
    clauses, dictionary = (rest, "") if at < 0 else (rest[:at], rest[at:])
    return f"%b = {buffer}\n" + mem(f"aie.dma_bd(%b : {type} {clauses}) {dictionary}", kind, tile)


def op(text: str) -> str:
    return f"'aie.dma_bd' op {text}"


DESCRIPTORS: list[tuple[str, str, str]] = [
    (
        "length in bytes",
        bd("len = 3", element="128xi8"),
        "transfer length must be multiple of 4 (i.e., represent 4 byte aligned address)",
    ),
    (
        "default length in bytes",
        bd("", element="3xi8"),
        "transfer length must be multiple of 4 (i.e., represent 4 byte aligned address)",
    ),
    ("id", bd("{bd_id = 16 : i32}"), "bdId attribute exceeds max: 15"),
    ("id of a memory tile", bd("{bd_id = 48 : i32}", "memtile_dma"), "bdId attribute exceeds max: 47"),
    ("next id", bd("{next_bd_id = 16 : i32}"), "nextBdId attribute exceeds max: 15"),
    (
        "length of a core's transfer",
        bd("", element="16384xi32"),
        "buffer descriptor length (16384 32-bit words) exceeds the maximum of 16383 words supported by this tile type",
    ),
    (
        "length of a memory tile's transfer",
        bd("len = 131072", "memtile_dma", "131072xi32"),
        "buffer descriptor length (131072 32-bit words) exceeds the maximum of 131071 words supported by this "
        "tile type",
    ),
    ("sizes and strides", bd("sizes = [2, 2] strides = [1]"), "expected the same number of sizes (2) and strides (1)"),
    (
        "out of bounds",
        bd("len = 128 sizes = [2] strides = [128]"),
        "Specified stride(s) and size(s) result in out of bounds access in buffer, for index 128 in memref of "
        "length 128.",
    ),
    (
        "past the end",
        bd("offset = 4 len = 128"),
        "transfer of 128 elements at offset 4 runs past the end of the 128-element buffer",
    ),
    (
        "offset by a parameter",
        bd("{offset_parameter = @p}"),
        "offset_parameter requires an explicit `len` on a local buffer; the default whole-buffer length runs "
        "past the end "
        "for any nonzero runtime offset",
    ),
    (
        "offset by a parameter, half bytes",
        bd("len = 8 {offset_parameter = @p}", element="128xi4"),
        "offset_parameter requires a whole-byte element type",
    ),
    (
        "dimensions of a core",
        bd("sizes = [1, 1, 1, 1] strides = [1, 1, 1, 1]"),
        "Cannot give more than 3 dimensions for step sizes and wraps on this tile (got 4 dimensions).",
    ),
    (
        "dimensions of a memory tile",
        bd("sizes = [1, 1, 1, 1, 1] strides = [1, 1, 1, 1, 1]", "memtile_dma"),
        "Cannot give more than 4 dimensions for step sizes and wraps on this tile (got 5 dimensions).",
    ),
    ("stride of nothing", bd("sizes = [2, 4] strides = [0, 1]"), "Invalid step size; must be a positive integer."),
    ("negative stride", bd("sizes = [2, 4] strides = [-1, 1]"), "Invalid step size; must be a positive integer."),
    ("stride beyond the buffer", bd("sizes = [1] strides = [129]"), "Step size 129 exceeds memref size 128"),
    (
        "size of a core's dimension",
        bd("len = 256 sizes = [256] strides = [1]", element="256xi32"),
        "Size may not exceed 255.",
    ),
    (
        "size of a memory tile's dimension",
        bd("len = 1024 sizes = [1024] strides = [1]", "memtile_dma", "1024xi32"),
        "Size may not exceed 1023.",
    ),
    (
        "size of a shim's dimension",
        bd("len = 2048 sizes = [1024, 2] strides = [4, 1]", "shim_dma", "4096xi32"),
        "Size may not exceed 1023.",
    ),
    (
        "stride of a core's dimension",
        bd("len = 4 sizes = [2, 2] strides = [8193, 1]", element="16000xi32"),
        "Stride may not exceed 8192.",
    ),
    (
        "inner stride of narrow elements",
        bd("sizes = [32] strides = [2]", element="128xi16"),
        "For <32b width datatypes, inner-most dim stride must be 1",
    ),
    (
        "inner stride of wide elements",
        bd("sizes = [8] strides = [16]", element='128x!aiex.bfp<"v8bfp16ebs8">'),
        "For >32b width datatypes, inner-most dim stride must be 1",
    ),
    (
        "inner size of narrow elements",
        bd("len = 16 sizes = [2, 6] strides = [8, 1]", element="64xi8"),
        "Innermost dim size (6) * 1-byte element width = 6 bytes: innermost dim size must be a multiple of 4 bytes for "
        "sub-32b element types (the hardware size register is 32-bit-word granularity).",
    ),
    (
        "outer stride of narrow elements",
        bd("len = 8 sizes = [2, 2] strides = [3, 1]", element="64xi16"),
        "Dim 0 stride (3) * 2-byte element width = 6 bytes: non-innermost dim stride must be a multiple of 4 bytes for "
        "sub-32b element types (the hardware stepsize register is 32-bit-word granularity).",
    ),
    (
        "padding without dimensions",
        bd("pad [<const_pad_before = 1, const_pad_after = 0>]", "memtile_dma"),
        "Padding requires n-d data layouts expressed as wrap(s) and stride(s).",
    ),
    (
        "padding in a core",
        bd("sizes = [2] strides = [1] pad [<const_pad_before = 1, const_pad_after = 0>]"),
        "Padding is only supported by memtile dma bds.",
    ),
    (
        "padding of another rank",
        bd(
            "sizes = [2, 2] strides = [2, 1] pad [<const_pad_before = 1, const_pad_after = 0>]",
            "memtile_dma",
        ),
        "Mismatch number of dimensions between padding(s) and wrap(s) and stride(s).",
    ),
    (
        "padding beyond the length",
        bd("len = 4 sizes = [2] strides = [1] pad [<const_pad_before = 2, const_pad_after = 1>]", "memtile_dma"),
        "Data exceeds len after padding.",
    ),
    (
        "padding before, half a word",
        bd(
            "len = 8 sizes = [4] strides = [1] pad [<const_pad_before = 2, const_pad_after = 0>]",
            "memtile_dma",
            "128xi8",
        ),
        "Inner-most padding-before count must result in padding in 32-bit words.",
    ),
    (
        "padding after, half a word",
        bd(
            "len = 12 sizes = [4] strides = [1] pad [<const_pad_before = 4, const_pad_after = 2>]",
            "memtile_dma",
            "128xi8",
        ),
        "Inner-most padding-after count must result in padding in 32-bit words.",
    ),
    (
        "open packet",
        bd("{packet = #aie.packet_info<>}"),
        "packet has no pkt_id; allocation assigns one, so a header at this level must carry it",
    ),
    (
        "packet type",
        bd("{packet = #aie.packet_info<pkt_type = 8, pkt_id = 0>}"),
        "Packet type field can only hold 3 bits.",
    ),
    ("packet id", bd("{packet = #aie.packet_info<pkt_id = 32>}"), "Packet ID field can only hold 5 bits."),
    (
        "out-of-order id without a packet",
        bd("{out_of_order_id = 1 : i32}"),
        "out_of_order_id requires a packet-enabled BD",
    ),
    (
        "out-of-order id",
        bd("{out_of_order_id = 64 : i32, packet = #aie.packet_info<pkt_id = 1>}"),
        "out_of_order_id must be in [0, 63]",
    ),
    (
        "negative out-of-order id",
        bd("{out_of_order_id = -1 : i32, packet = #aie.packet_info<pkt_id = 1>}"),
        "out_of_order_id must be in [0, 63]",
    ),
    (
        "burst off the shim",
        bd("{burst_length = 64 : i32}"),
        "Burst length is only supported in Shim NOC tiles that are connected to the memory-mapped NOC.",
    ),
    (
        "cache hint off the shim",
        bd("{axcache = 2 : i32}", "memtile_dma"),
        "AxCACHE is only supported in Shim NOC tiles that are connected to the memory-mapped NOC.",
    ),
    (
        "iteration of nothing",
        bd("len = 64 {iteration = #aie.bd_iteration<size = 0, stride = 16, current = 0>}"),
        "BD iteration size must be in [1, 64]",
    ),
    (
        "long iteration",
        bd("len = 64 {iteration = #aie.bd_iteration<size = 65, stride = 16, current = 0>}"),
        "BD iteration size must be in [1, 64]",
    ),
    (
        "iteration in half words",
        bd("len = 64 {iteration = #aie.bd_iteration<size = 2, stride = 3, current = 0>}", element="128xi16"),
        "BD iteration stride must be aligned to 32-bit words",
    ),
    (
        "iteration that stands still",
        bd("len = 64 {iteration = #aie.bd_iteration<size = 2, stride = 0, current = 0>}", "memtile_dma"),
        "BD iteration stride must be in [1, 131072] 32-bit words",
    ),
    (
        "iteration stride of a core",
        bd("len = 64 {iteration = #aie.bd_iteration<size = 2, stride = 8193, current = 0>}"),
        "BD iteration stride must be in [1, 8192] 32-bit words",
    ),
    (
        "iteration beyond its end",
        bd("len = 64 {iteration = #aie.bd_iteration<size = 4, stride = 16, current = 4>}"),
        "BD iteration current must be in [0, size)",
    ),
    (
        "length parameter in a program",
        bd("len = 64 {length_parameter = @p, length_unit = 4 : i32}"),
        "length_parameter is only supported on a BD in a runtime sequence",
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), DESCRIPTORS, ids=[e[0] for e in DESCRIPTORS])
def test_descriptor(name: str, body: str, expected: str) -> None:
    found = complaint(body)
    assert (found.line, found.text) == (BD, op(expected))


def test_omitted_length_is_explained() -> None:
    assert complaint(bd("offset = 4")) == Said(
        BD,
        op("transfer of 128 elements at offset 4 runs past the end of the 128-element buffer"),
        ((BD, "an omitted `len` is the whole buffer; give the length to transfer from this offset"),),
    )


def test_address_of_a_descriptor() -> None:
    body = "%b = aie.buffer(%t) {address = 2 : i32} : memref<64xi8>\n" + mem(
        "aie.dma_bd(%b : memref<64xi8> offset = 4 len = 8)"
    )
    assert complaint(body) == Said(BD, op("bd address must be 4 byte (32b) aligned; got base+offset: 6 (bytes)"))


def test_foreign_buffers() -> None:
    other = "%n = aie.tile(0, 3)\n%b = aie.buffer(%n) : memref<4xi32>\n" + mem("aie.dma_bd(%b : memref<4xi32>)")
    # The buffer's own rule comes first: it cannot be reached. One that can be reached is refused at the descriptor.
    assert complaint(other) == Said(6, op("Core tile DMAs can only access a buffer in the same tile."))
    made = mem("%b = memref.alloc() {id = 1 : i32} : memref<4xi32>\naie.dma_bd(%b : memref<4xi32>)")
    assert complaint(made) == Said(5, op("BDs only support BufferOp or ExternalBufferOp operands."))


def test_values_computed_at_run_time() -> None:
    body = B + mem(
        """
        %z = arith.constant 0 : i64
        %q = arith.addi %z, %z : i64
        aie.dma_bd(%b : memref<128xi32> sizes = [%q] strides = [1])
        """
    )
    assert complaint(body) == Said(
        7,
        op("buffer descriptor size/stride is a runtime value; a compile-time constant is required on this path"),
    )
    padded = BM + mem(
        """
        %z = arith.constant 0 : i32
        %n = arith.addi %z, %z : i32
        aie.dma_bd(%b : memref<256xi32> len = %n sizes = [2] strides = [1]
          pad [<const_pad_before = 1, const_pad_after = 0>])
        """,
        "memtile_dma",
        "%m",
    )
    assert complaint(padded) == Said(
        7,
        op("Padding with a runtime len operand is not yet supported; use a compile-time constant len with padded BDs."),
    )


def test_unranked_buffers() -> None:
    body = """
    %p = aie.shim_dma(%s) {
      %d = aie.dma_start(MM2S, 0, ^bd, ^end)
    ^bd:
      %g = memref.alloc() : memref<4xi32>
      %u = memref.cast %g : memref<4xi32> to memref<*xi32>
      aie.dma_bd(%u : memref<*xi32> len = 4 sizes = [2] strides = [1])
      aie.next_bd ^end
    ^end:
      aie.end
    }
    """
    assert complaint(body) == Said(6, op("dimensions attribute cannot be used with unranked memref buffer type."))


def test_dynamic_buffers_need_a_length() -> None:
    body = "%b = aie.external_buffer : memref<?xi32>\n" + mem("aie.dma_bd(%b : memref<?xi32>)", "shim_dma", "%s")
    assert complaint(body) == Said(BD, op("buffer with dynamic shape requires static length."))


def test_placeholders_without_values() -> None:
    text = """
    %b = aie.buffer(%t) : memref<128xi32>
    %p = aie.mem(%t) {
      %d = aie.dma_start(MM2S, 0, ^bd, ^end)
    ^bd:
      "aie.dma_bd"(%b) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0>, static_KEY =
        array<i64: -9223372036854775808, 4>}> : (memref<128xi32>) -> ()
      aie.next_bd ^end
    ^end:
      aie.end
    }
    """
    assert complaint(text.replace("KEY", "sizes")) == Said(BD, "expected 1 dynamic sizes values")
    assert complaint(text.replace("KEY", "strides")) == Said(BD, "expected 1 dynamic strides values")


def test_two_ids() -> None:
    body = B + mem("%n = arith.constant 1 : i32\naie.dma_bd(%b : memref<128xi32>) bd_id_val %n : i32 {bd_id = 1 : i32}")
    assert complaint(body) == Said(BD + 1, op("bd_id and bd_id_val are mutually exclusive"))


def test_older_architectures() -> None:
    iteration = bd("len = 64 {iteration = #aie.bd_iteration<size = 4, stride = 16, current = 0>}")
    assert complaint(iteration, "xcvc1902").text == op("BD iteration is not supported on this target")
    sender = bd("{out_of_order_id = 1 : i32, packet = #aie.packet_info<pkt_id = 1>}")
    assert complaint(sender, "xcvc1902").text == op("out_of_order_id is not supported on this device")


def test_header_of_a_descriptor_block() -> None:
    for kind, number, text in (
        (8, 0, "type field can only hold 3"),
        (0, 32, "ID field can only hold 5"),
        (-1, 0, "type field can only hold 3"),
    ):
        body = B + mem(f"aie.dma_bd_packet({kind}, {number})\naie.dma_bd(%b : memref<128xi32>)")
        assert complaint(body) == Said(BD, f"'aie.dma_bd_packet' op Packet {text} bits.")


GOOD = [
    bd("{bd_id = 15 : i32, next_bd_id = 15 : i32}"),
    bd("len = 16380", element="16383xi32"),
    bd("len = 131071", "memtile_dma", "131071xi32"),
    bd("offset = 64 len = 64"),
    bd("sizes = [1, 1, 1] strides = [0, 0, 128]"),
    bd("len = 255 sizes = [255] strides = [1]", element="255xi32"),
    # Narrow elements in whole words; a dimension of size 1 does not count.
    bd("len = 8 sizes = [2, 4] strides = [8, 1]", element="64xi8"),
    bd("len = 2 sizes = [1, 1, 1, 1] strides = [1, 1, 1, 1]", "memtile_dma", "2xi16"),
    bd("len = 2048 sizes = [32, 32, 1, 1] strides = [32, 1, 32, 1]", "memtile_dma", "1024xi16"),
    # A shim that reads one element after the other needs no wraps.
    bd("len = 2073600 sizes = [1080, 1920] strides = [1920, 1]", "shim_dma", "2073600xi32"),
    bd("len = 4 sizes = [2, 2] strides = [1048576, 1]", "shim_dma", "1048580xi32"),
    bd("{burst_length = 64 : i32, axcache = 15 : i32}", "shim_dma"),
    bd(
        "len = 256 sizes = [2] strides = [128] pad [<const_pad_before = 1, const_pad_after = 1>]",
        "memtile_dma",
        "256xi32",
    ),
    bd("{out_of_order_id = 63 : i32, packet = #aie.packet_info<pkt_type = 7, pkt_id = 31>}"),
    bd("len = 64 {iteration = #aie.bd_iteration<size = 64, stride = 131072, current = 63>}", "memtile_dma"),
    B + mem("aie.dma_bd_packet(7, 31)\naie.dma_bd(%b : memref<128xi32>) {out_of_order_id = 0 : i32}"),
]


@pytest.mark.parametrize("body", GOOD)
def test_good(body: str) -> None:
    assert complaints(body) == []
