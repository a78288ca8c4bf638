"""Ops made by passes, and what they tell passes."""

from __future__ import annotations

from aiekit import device, read
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, ModuleOp, TensorType, i8, i32
from xdsl.ir import Block, Region

from aiecc.ir.dialects.aie import (
    AMSelOp,
    BdChainOp,
    BufferOp,
    CascadeFlowOp,
    ConfigureCascadeOp,
    ConnectOp,
    CoreEndpointOp,
    CoreOp,
    DeviceOp,
    DmaBdOp,
    DmaBdPacketOp,
    DmaEndpointOp,
    DmaOp,
    DmaStartOp,
    EndOp,
    EventOp,
    ExternalBufferOp,
    FlowOp,
    GetCascadeOp,
    LockOp,
    LogicalTileOp,
    MasterSetOp,
    MemOp,
    MemTileDmaOp,
    NextBdOp,
    ObjectFifoAcquireOp,
    ObjectFifoLinkOp,
    ObjectFifoOp,
    ObjectFifoPoolOp,
    ObjectFifoReleaseOp,
    ObjectFifoSegmentOp,
    PacketDestOp,
    PacketFlowOp,
    PacketRuleOp,
    PacketRulesOp,
    PacketSourceOp,
    PutCascadeOp,
    RouteEndpointOp,
    RouteOp,
    RuntimeSequenceOp,
    ShimDmaAllocationOp,
    ShimDmaOp,
    ShimMuxOp,
    SwitchboxOp,
    TileOp,
    TraceOp,
    UseLockOp,
    WireOp,
    device_of,
    target_of,
)
from aiecc.ir.dialects.aie.attrs import BdDim, PacketInfo, TransportAttr
from aiecc.ir.dialects.aie.enums import (
    CascadeDir,
    Device,
    Direction,
    LinkMode,
    LockAction,
    Port,
    Role,
    TileType,
    TransportMode,
    WireBundle,
)
from aiecc.ir.dialects.aie.flows import Port as SwitchPort
from aiecc.ir.dialects.aie.memory import size_in_bytes
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp as Pool
from aiecc.ir.text import print_module
from aiecc.ir.verify import verify
from aiecc.model.targets import TileKind

DMA0 = SwitchPort(WireBundle.DMA, 0)
WORDS = MemRefType(i32, [16])


def module(*ops: object, target: Device = Device.NPU2) -> ModuleOp:
    return ModuleOp([DeviceOp(target, "d", list(ops))])  # type: ignore[arg-type]


def lines(built: ModuleOp) -> list[str]:
    """What a device holds, after it was verified."""
    assert [d.text for d in verify(built)] == []
    return [line.strip() for line in print_module(built).split("\n")[2:-2]]


def test_a_core_with_its_memory() -> None:
    tile = TileOp(0, 2)
    init = DenseIntOrFPElementsAttr.from_list(TensorType(i32, [16]), [7])
    buffer = BufferOp(tile.result, WORDS, "w", address=1024, mem_bank=0, initial_value=init)
    data = BufferOp(tile.result, MemRefType(i8, [64]), core_data=True, bank_reserved=True)
    lock = LockOp(tile.result, 3, 1, "l")
    one = ConstantOp.from_int_and_width(1, 32)
    body = Region(Block([one, UseLockOp(lock.result, LockAction.ACQUIRE, one.result), EventOp(1), EndOp()]))
    core = CoreOp(tile.result, body, stack_size=2048)
    built = module(tile, buffer, data, lock, core)
    assert lines(built) == [
        "%tile_0_2 = aie.tile(0, 2)",
        '%w = aie.buffer(%tile_0_2) {address = 1024 : i32, mem_bank = 0 : i32, sym_name = "w"} : memref<16xi32> '
        "= dense<7>",
        "%buffer_0_2 = aie.buffer(%tile_0_2) {bank_reserved, core_data} : memref<64xi8>",
        '%l = aie.lock(%tile_0_2, 3) {init = 1 : i32, sym_name = "l"}',
        "%core_0_2 = aie.core(%tile_0_2) {",
        "%c1_i32 = arith.constant 1 : i32",
        "aie.use_lock(%l, Acquire, %c1_i32)",
        "aie.event(1)",
        "aie.end",
        "} {stack_size = 2048 : i32}",
    ]
    assert (buffer.size_bytes, buffer.symbol, buffer.address, buffer.tile_op) == (64, "w", 1024, tile)
    assert (data.size_bytes, data.symbol, data.core_data, data.aligned) == (64, None, True, True)
    assert (lock.id, lock.init, lock.tile_op) == (3, 1, tile)
    use = next(op for op in core.walk() if isinstance(op, UseLockOp))
    assert (use.action, use.constant, use.lock_op, use.is_acquire, use.acq_en) == (
        LockAction.ACQUIRE,
        1,
        lock,
        True,
        True,
    )
    assert (core.stack_size, core.stack_bank, core.elf_file, core.link_files, core.coord) == (
        2048,
        None,
        None,
        (),
        (0, 2),
    )
    found = device_of(core)
    assert found is not None and found.symbol == "d" and found.target.name == "npu2" and target_of(core) is found.target


def test_tiles() -> None:
    tile, logical = TileOp(1, 0), LogicalTileOp(TileType.MEM, row=1)
    placed = LogicalTileOp(TileType.CORE, 2, 3)
    module(tile, logical, placed)
    assert (tile.col, tile.row, tile.coord, tile.kind) == (1, 0, (1, 0), TileKind.SHIM_NOC)
    assert (logical.col, logical.row, logical.coord, logical.kind) == (None, 1, None, TileKind.MEM)
    assert placed.coord == (2, 3)
    assert TileOp(60, 2).kind is None


def test_properties_are_read_afresh() -> None:
    tile = TileOp(1, 0)
    tile.col_attr = TileOp(5, 0).col_attr
    assert tile.col == 5


def test_sizes_of_buffers() -> None:
    bfp = next(
        op
        for op in read(device('%b = aie.buffer(%t) : memref<16x!aiex.bfp<"v8bfp16ebs8">>')).walk()
        if isinstance(op, BufferOp)
    )
    assert bfp.size_bytes == 16 * 9
    assert size_in_bytes(MemRefType(i8, [])) == 1
    assert size_in_bytes(MemRefType(i8, [0])) == 0
    assert size_in_bytes(MemRefType(i8, [-1])) == 0


def test_a_dma_program() -> None:
    tile = TileOp(0, 2)
    buffer = BufferOp(tile.result, WORDS, "b")
    bd, end = Block(), Block([EndOp()])
    start = DmaStartOp(Direction.MM2S, 1, bd, end, repeat_count=3)
    descriptor = DmaBdOp(buffer.result, 4, 8, [2, 4], [4, 1])
    bd.add_ops([DmaBdPacketOp(1, 2), descriptor, NextBdOp(end)])
    built = module(tile, buffer, MemOp(tile.result, Region([Block([start]), bd, end])))
    assert lines(built)[2:] == [
        "%mem_0_2 = aie.mem(%tile_0_2) {",
        "%0 = aie.dma_start(MM2S, 1, ^bb1, ^bb2, repeat_count = 3)",
        "^bb1:  // pred: ^bb0",
        "aie.dma_bd_packet(1, 2)",
        "aie.dma_bd(%b : memref<16xi32> offset = 4 len = 8 sizes = [2, 4] strides = [4, 1])",
        "aie.next_bd ^bb2",
        "^bb2:  // 2 preds: ^bb0, ^bb1",
        "aie.end",
        "}",
    ]
    assert (start.direction, start.index, start.endpoint, start.repeat_count, start.out_of_order) == (
        Direction.MM2S, 1, None, 3, False,
    )  # fmt: skip
    assert (descriptor.offset, descriptor.len, descriptor.sizes, descriptor.strides) == (4, 8, [2, 4], [4, 1])
    assert (descriptor.packet, descriptor.bd_id, descriptor.buffer_op) == (None, None, buffer)


def test_other_programs() -> None:
    mem, shim = TileOp(0, 1), TileOp(0, 0)
    external = ExternalBufferOp(WORDS, "e", 4096)
    bds = [Region(Block([DmaBdOp(external.result)]))]
    channel = DmaOp(Direction.S2MM, 0, bds, loop=False, repeat_count=2, name="c")
    built = module(
        mem, shim, external, MemTileDmaOp(mem.result, Region(Block([EndOp()]))),
        ShimDmaOp(shim.result, Region(Block([channel, EndOp()]))),
    )  # fmt: skip
    assert '%c = aie.dma(S2MM, 0) {loop = false, repeat_count = 2 : i32, sym_name = "c"} [{' in print_module(built)
    assert (channel.loop, channel.index, channel.symbol, external.address) == (False, 0, "c", 4096)


def test_switches() -> None:
    tile, shim = TileOp(0, 2), TileOp(0, 0)
    amsel = AMSelOp(5, 3)
    master = MasterSetOp(DMA0, [amsel.result], keep_pkt_header=True)
    plain = MasterSetOp(SwitchPort(WireBundle.DMA, 1), [amsel.result])
    rules = PacketRulesOp(SwitchPort(WireBundle.NORTH, 0), [PacketRuleOp(31, 2, amsel.result)])
    connect = ConnectOp(SwitchPort(WireBundle.SOUTH, 0), SwitchPort(WireBundle.CORE, 0))
    box = SwitchboxOp(tile.result, [connect, amsel, master, plain, rules])
    down = MasterSetOp(SwitchPort(WireBundle.SOUTH, 0), [])
    up = MasterSetOp(SwitchPort(WireBundle.NORTH, 0), [])
    SwitchboxOp(shim.result, [down, up])
    built = module(tile, TileOp(1, 0), box)
    assert lines(built)[2:] == [
        "%switchbox_0_2 = aie.switchbox(%tile_0_2) {",
        "aie.connect<South : 0, Core : 0>",
        "%0 = aie.amsel<5> (3)",
        "%1 = aie.masterset(DMA : 0, %0) {keep_pkt_header = true}",
        "%2 = aie.masterset(DMA : 1, %0)",
        "aie.packet_rules(North : 0) {",
        "aie.rule(31, 2, %0)",
        "}",
        "}",
    ]
    assert master.keep_pkt_header and not plain.keep_pkt_header
    # Packets that leave the array keep no header; others do.
    assert not down.keep_pkt_header and up.keep_pkt_header
    mux = ShimMuxOp(shim.result, [ConnectOp(DMA0, SwitchPort(WireBundle.NORTH, 3))])
    assert mux.coord == (0, 0) and connect.source_port == SwitchPort(WireBundle.SOUTH, 0)


def test_flows() -> None:
    tile, shim, above = TileOp(0, 2), TileOp(0, 0), TileOp(0, 3)
    flow = FlowOp(tile.result, DMA0, shim.result, DMA0)
    packet = PacketFlowOp(
        3,
        [
            PacketSourceOp(tile.result, SwitchPort(WireBundle.TRACE, 0)),
            PacketDestOp(shim.result, SwitchPort(WireBundle.DMA, 1)),
        ],
        keep_pkt_header=True,
    )
    built = module(
        tile, shim, above, flow, packet, CascadeFlowOp(above.result, tile.result),
        ConfigureCascadeOp(tile.result, CascadeDir.NORTH, CascadeDir.SOUTH),
        WireOp(tile.result, WireBundle.CORE, tile.result, WireBundle.DMA),
    )  # fmt: skip
    assert lines(built)[3:] == [
        "aie.flow(%tile_0_2, DMA : 0, %shim_noc_tile_0_0, DMA : 0)",
        "aie.packet_flow(3) {",
        "aie.packet_source<%tile_0_2, Trace : 0>",
        "aie.packet_dest<%shim_noc_tile_0_0, DMA : 1>",
        "} {keep_pkt_header = true}",
        "aie.cascade_flow(%tile_0_3, %tile_0_2)",
        "aie.configure_cascade(%tile_0_2, North, South)",
        "aie.wire(%tile_0_2 : Core, %tile_0_2 : DMA)",
    ]
    assert str(flow.source_port) == "DMA : 0" and flow.vias == []
    assert [op.port.bundle for op in (*packet.sources, *packet.dests)] == [WireBundle.TRACE, WireBundle.DMA]
    assert packet.mask is None and packet.id == 3


def test_vias() -> None:
    flow = next(
        op
        for op in read(device("aie.flow(%t, DMA : 0, %s, DMA : 0) via (%m : North : 0 -> South : 1)")).walk()
        if isinstance(op, FlowOp)
    )
    (via,) = flow.vias
    assert (via.ingress, via.egress) == (SwitchPort(WireBundle.NORTH, 0), SwitchPort(WireBundle.SOUTH, 1))


def test_fifos() -> None:
    mem, tile = TileOp(0, 1), TileOp(0, 2)
    one = ObjectFifoOp("a", mem.result, [tile.result], 2, WORDS)
    two = ObjectFifoOp("b", mem.result, [tile.result, tile.result], [1, 2, 3], WORDS)
    out = ObjectFifoOp("c", tile.result, [mem.result], 2, WORDS)
    acquire = ObjectFifoAcquireOp("a", Port.CONSUME, [WORDS, WORDS])
    release = ObjectFifoReleaseOp("a", Port.CONSUME, 2)
    core = CoreOp(tile.result, Region(Block([acquire, release, EndOp()])))
    link = ObjectFifoLinkOp(["c"], ["a"])
    built = module(mem, tile, one, two, out, link, core)
    text = lines(built)
    assert text[2] == "aie.objectfifo @a(%mem_tile_0_1, {%tile_0_2}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"
    assert "{%tile_0_2, %tile_0_2}, [1, 2, 3])" in text[3]
    assert text[5] == "aie.objectfifo.link [@c] -> [@a]([] [])"
    assert (one.depths, two.depths) == ((2, 2), (1, 2, 3))
    assert (one.elem_type, one.consumer_elem_type, one.transport.mode) == (WORDS, WORDS, TransportMode.AUTO)
    assert (two.cons_ports, two.prod_port, two.pads, two.pad_value) == ((None, None), None, None, 0)
    assert (acquire.size, acquire.port, acquire.fifo_name, release.size) == (2, Port.CONSUME, "a", 2)
    assert (link.inputs, link.outputs, link.mode, link.is_join, link.is_distribute) == (
        ("c",), ("a",), LinkMode.SPACE, False, False,
    )  # fmt: skip


def test_pools_and_routes() -> None:
    tile, mem = TileOp(0, 2), TileOp(0, 1)
    pool = ObjectFifoPoolOp("p", tile.result, WORDS, 2, [ObjectFifoSegmentOp("s", 0, 16, "pl", "cl")])
    core = CoreEndpointOp("w", tile.result, Role.FILLS, "p")
    dma = DmaEndpointOp("r", tile.result, Role.DRAINS, "p", ["s"])
    open_end = RouteEndpointOp("o", mem.result, WireBundle.DMA)
    route = RouteOp(["r"], ["o"], PacketInfo(0, 3))
    built = module(tile, mem, pool, core, dma, open_end, route)
    assert lines(built)[2:] == [
        "aie.objectfifo.pool @p(%tile_0_2) {depth = 2 : i32} : memref<16xi32> {",
        "aie.objectfifo.segment @s {consumeLock = @cl, offset = 0 : i32, produceLock = @pl, size = 16 : i32}",
        "}",
        "aie.objectfifo.core_endpoint @w(%tile_0_2) fills @p",
        "aie.objectfifo.dma_endpoint @r(%tile_0_2) drains @p {segments = [@s]}",
        "aie.route_endpoint @o(%mem_tile_0_1) DMA",
        "aie.route from @r to [@o] {packet = #aie.packet_info<pkt_id = 3>}",
    ]
    assert isinstance(pool, Pool) and [s.symbol for s in pool.segments] == ["s"]
    assert (pool.segments[0].produce_lock, pool.segments[0].consume_lock) == ("pl", "cl")
    assert (core.role, core.pool, core.segments, dma.segments, dma.packet) == (Role.FILLS, "p", (), ("s",), None)
    assert (route.sources, route.destinations, route.packet) == (("r",), ("o",), PacketInfo(0, 3))


def test_run_time() -> None:
    shim = TileOp(0, 0)
    allocation = ShimDmaAllocationOp("a", shim.result, Direction.MM2S, 1, PacketInfo(0, 3), plio=True)
    sequence = RuntimeSequenceOp("run", [WORDS])
    chain = BdChainOp("c", Region(Block([EndOp()])))
    trace = TraceOp("t", shim.result)
    assert lines(module(shim, allocation, sequence, chain, trace))[1:] == [
        "aie.shim_dma_allocation @a(%shim_noc_tile_0_0, MM2S, 1, <pkt_id = 3>) {plio = true}",
        "aie.runtime_sequence @run(%arg0: memref<16xi32>) {",
        "}",
        "aie.bd_chain @c() {",
        "aie.end",
        "}",
        "aie.trace @t(%shim_noc_tile_0_0) {",
        "}",
    ]
    assert (allocation.direction, allocation.channel, allocation.plio) == (Direction.MM2S, 1, True)


def test_streams() -> None:
    get = GetCascadeOp(i32)
    assert PutCascadeOp(get.cascade_value).cascade_value is get.cascade_value


def test_fifo_options_are_values() -> None:
    body = """
    aie.objectfifo @of(%t dimensionsToStream [<size = 4, stride = 2>],
      {%m dimensionsFromStream [<size = 1, stride = 1>]}, 2 : i32) {transport = #aie.transport<dma>,
      cons_ports = [#aie.end_port<DMA : 2>],
      padDimensions = #aie<bd_pad_layout_array[<const_pad_before = 1, const_pad_after = 2>]>}
      : !aie.objectfifo<memref<16xi32>>
    """
    fifo = next(op for op in read(device(body)).walk() if isinstance(op, ObjectFifoOp))
    assert fifo.dims_to_stream.data == (BdDim(4, 2),)
    assert fifo.dims_from_stream == ((BdDim(1, 1),),)
    assert fifo.cons_ports[0] is not None and fifo.cons_ports[0].channel == 2
    assert fifo.pads is not None and fifo.pads[0].after == 2
    assert isinstance(fifo.transport_attr, TransportAttr) and fifo.transport.packet is None
