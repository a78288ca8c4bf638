"""`aie-dma-to-npu`: transfers, descriptors, pushes and parameters become plain register writes and waits."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.memref import GetGlobalOp, GlobalOp
from xdsl.ir import Attribute, Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import BufferOp, constant_int, element_bits
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp
from aiecc.ir.dialects.aiex.lookup import sequence_of
from aiecc.ir.dialects.aiex.npu import (
    Addressed,
    NpuAddressPatchOp,
    NpuBlockWriteOp,
    NpuBlockWriteValuesOp,
    NpuLoadPdiOp,
    NpuMaskWrite32Op,
    NpuPushQueueOp,
    NpuRtpWriteOp,
    NpuUpdateFromScratchpadOp,
    NpuWrite32Op,
)
from aiecc.ir.dialects.aiex.steps import Steps
from aiecc.ir.dialects.aiex.transfer_rules import constants, mixed_lists, verify_burst
from aiecc.ir.dialects.aiex.transfers import NpuDmaMemcpyNdOp, NpuDmaWaitOp, NpuWriteBdOp
from aiecc.ir.dialects.constraints import I32, number
from aiecc.ir.errors import VerifyError
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import op_error, warning
from aiecc.ir.runtime.addresses import elsewhere, first_word, odd_patch, outside, start_of
from aiecc.ir.runtime.bounds import Bounds
from aiecc.ir.runtime.descriptor import verify_plus
from aiecc.ir.runtime.emit import Before, i32, ui32
from aiecc.ir.runtime.report import CODE, NO_QUEUE, said
from aiecc.ir.runtime.sources import HostBuffer, source_of
from aiecc.ir.runtime.tasks import tells
from aiecc.ir.walk import ops_in
from aiecc.model.targets import Arch, DmaDirection, Target, Tile, TileKind
from aiecc.npu.bd import AXCACHE, QUEUE, burst_code, layout_of
from aiecc.npu.bits import Unfit

NO_ALLOCATION = "couldn't find shim_dma_allocation op."
NO_TILE = "shim_dma_allocation op must reference a valid TileOp."
NO_ARGUMENT = (
    "memref must be a block argument or subview/cast/reinterpret_cast of a block argument with static offsets, sizes, "
    "and strides"
)
_HOME = {DmaDirection.S2MM: 0, DmaDirection.MM2S: 1}
GLOBAL = "blockwrite_data_"


@dataclass(frozen=True)
class DmaToNpu(Pass):
    """What is left is what a transaction holds: writes to addresses, patches, waits."""

    name: ClassVar[str] = "aie-dma-to-npu"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower transfers and descriptors of runtime sequences to register writes"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        work = _Lowering(op, sink)
        # One kind after the other: transfers make descriptors and pushes, those make writes.
        for kinds in _ROUNDS:
            for sequence in list(op.ops_of(RuntimeSequenceOp)):
                for inner in ops_in(sequence):
                    handler = kinds.get(type(inner))
                    if handler is not None and type(inner) in _DESCRIPTORS and self._has_none(op, inner, sink):
                        return
                    if handler is not None:
                        said(sink, inner, lambda inner=inner, handler=handler: handler(work, inner))
            if sink.failed:
                return

    def _has_none(self, device: DeviceOp, op: Operation, sink: Sink) -> bool:
        if device.target.arch is not Arch.AIE1:
            return False
        op_error(sink, op, NO_QUEUE, code=CODE)
        return True


@dataclass
class _Lowering:
    device: DeviceOp
    sink: Sink
    symbols: dict[str, Operation] = field(default_factory=dict[str, Operation])
    controllers: dict[Tile, int] = field(default_factory=dict[Tile, int])
    globals: dict[tuple[Operation, tuple[int, ...]], str] = field(
        default_factory=dict[tuple[Operation, tuple[int, ...]], str]
    )
    count: int = 0
    configured: set[tuple[Tile, int]] | None = None
    """The descriptors that something configures; None where registers are written by address as
    well, or programs have no ids yet."""

    def __post_init__(self) -> None:
        self.bounds = Bounds(self.sink)
        self.target: Target = self.device.target
        for op in self.device.block.ops:
            name = op.properties.get("sym_name", op.attributes.get("sym_name"))
            if isinstance(name, StringAttr):
                self.symbols.setdefault(name.data, op)
                tail = name.data.removeprefix(GLOBAL)
                if tail != name.data and tail.isdecimal():
                    self.count = max(self.count, int(tail) + 1)
            if isinstance(op, TileOp):
                header: Any = op.attributes.get("controller_id")
                if header is not None and header.data.pkt_id is not None:
                    self.controllers[op.coord] = header.data.pkt_id

        within = [inner for sequence in self.device.ops_of(RuntimeSequenceOp) for inner in ops_in(sequence)]
        static = [
            (program.coord, bd.bd_id)
            for program in self.device.block.ops
            if isinstance(program, DmaProgram)
            for bd in program.walk()
            if isinstance(bd, DmaBdOp)
        ]
        known = [(tile, id) for tile, id in static if tile is not None and id is not None]
        if len(known) == len(static) and _BY_ADDRESS.isdisjoint(map(type, within)):
            self.configured = set(known)

    def buffer(self, name: str) -> BufferOp | None:
        found = self.symbols.get(name)
        return found if isinstance(found, BufferOp) else None

    def allocation(self, op: Operation, name: str, *, bare: bool = False) -> tuple[Tile, Direction, int, Any]:
        found: Any = self.symbols.get(name)
        if found is None or found.name != "aie.shim_dma_allocation":
            raise (
                VerifyError("couldn't find shim_dma_allocation op", op, bare=True)
                if bare
                else VerifyError(NO_ALLOCATION, op)
            )
        tile = found.tile_op
        if tile is None or tile.coord is None:
            raise VerifyError(NO_TILE, op, bare=bare)
        return tile.coord, found.direction, found.channel, found.packet

    def block_data(self, op: Operation, words: list[int]) -> tuple[str, MemRefType[Attribute]]:
        """The constant that holds some words, shared by all that write the same."""
        sequence = sequence_of(op)
        anchor: Operation = op if sequence is None else sequence
        type, tensor = _types(len(words))
        key = (self.device, tuple(words))
        name = self.globals.get(key)
        if name is None:
            name = self.globals[key] = f"{GLOBAL}{self.count}"
            self.count += 1
            data = DenseIntOrFPElementsAttr(tensor, BytesAttr(struct.pack(f"<{len(words)}I", *words)))
            made = GlobalOp.create(
                properties={
                    "sym_name": StringAttr(name),
                    "sym_visibility": StringAttr("private"),
                    "type": type,
                    "initial_value": data,
                    "constant": UnitAttr(),
                }
            )
            Before(anchor).put(made)
        return name, type


@cache
def _types(count: int) -> tuple[MemRefType[Attribute], TensorType[Any]]:
    return MemRefType(I32, [count]), TensorType(I32, [count])


Handler = Callable[[_Lowering, Any], None]


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


# --- transfers --------------------------------------------------------------------------------------------------------


def _memcpy(work: _Lowering, op: NpuDmaMemcpyNdOp) -> None:
    tile, direction, channel, header = work.allocation(op, op.metadata)
    if sequence_of(op) is None:
        raise VerifyError("NpuDmaMemcpyNdOps must have RuntimeSequenceOp parent at time of lowering.", op)
    source = source_of(op.memref)
    if not isinstance(source, HostBuffer):
        raise VerifyError(NO_ARGUMENT, op)
    offsets, sizes, strides = mixed_lists(op)
    fixed = constants(offsets), constants(sizes), constants(strides)
    if fixed[0] is None or fixed[1] is None or fixed[2] is None:
        from aiecc.ir.runtime.dynamic import memcpy_at_run_time

        if work.configured is not None:
            work.configured.add((tile, op.id))
        memcpy_at_run_time(op, tile, direction, channel, source, op.packet.data if op.packet is not None else header)
        return
    bits = element_bits(op.memref.type)
    steps = Steps.outermost_first(fixed[1], fixed[2], bits)
    kind = work.target.tile_kind(*tile)
    dma = work.target.dma(kind) if kind is not None else None
    if kind is None or dma is None:
        raise VerifyError(NO_TILE, op)
    if op.is_padded and direction is Direction.S2MM:
        raise VerifyError("MemTile supports zero padding only on MM2S direction", op)
    s, t = steps.register_sizes, steps.register_strides
    packet = op.packet.data if op.packet is not None else header
    fields = {
        "column": tile[0],
        "row": tile[1],
        "bd_id": op.id,
        "buffer_length": steps.words,
        "valid_bd": 1,
        "burst_length": number(op.burst_length) or 0,
        "iteration_size": 0 if steps.strides[3] == 0 else s[3],
        "iteration_stride": 0 if steps.strides[3] == 0 else t[3],
    }
    if packet is not None:
        fields |= {"enable_packet": 1, "packet_id": packet.pkt_id or 0, "packet_type": packet.pkt_type}
    if not steps.as_one_run(kind):
        fields |= {f"d{i}_{what}": v[i] for i in (0, 1) for what, v in (("size", s), ("stride", t))}
        fields |= {"d2_stride": t[2], "d2_size": s[2] if kind is TileKind.MEM else 0}
    for d in range(3):
        for side in ("before", "after"):
            pad = number(op.properties.get(f"d{d}_zero_{side}"))
            if pad:
                fields[f"d{d}_zero_{side}"] = pad
    first = sum(o * d for o, d in zip(fixed[0], fixed[2], strict=True))
    start = verify_plus(op, first * bits // 8 + source.offset)
    work.bounds.of_pattern(op, op.memref.type, first, fixed[1], fixed[2])
    if op.offset_parameter is not None:
        raise VerifyError("has an offset_parameter that nothing has lowered to a word of the scratch pad", op)
    put = Before(op)
    put.write_bd(fields)
    register = work.target.bd_address(*tile, op.id)
    if register is None:
        raise VerifyError("BD ID exceeds the maximum ID.", op)
    put.patch(register + dma.bd_address_offset, source.index, start)
    put.shift_address(register + dma.bd_address_offset, op.offset_state_table_idx, bits // 8)
    put.push(tile, direction, channel, op.id, s[3], tells(op, direction))
    _erase(op)


def _wait(work: _Lowering, op: NpuDmaWaitOp) -> None:
    tile, direction, channel, _ = work.allocation(op, op.symbol, bare=True)
    Before(op).sync(*tile, int(direction), channel)
    _erase(op)


def _rtp(work: _Lowering, op: NpuRtpWriteOp) -> None:
    buffer = work.buffer(op.buffer)
    if buffer is None:
        raise VerifyError(f"buffer '{op.buffer}' not found in device", op, bare=True)
    tile = buffer.tile_op
    if buffer.address is None or tile is None or tile.coord is None:
        raise VerifyError("buffer must have address assigned", op, bare=True)
    problem = outside(op.buffer, buffer, op.index)
    if problem:
        raise VerifyError(problem, op, [("the buffer is here", buffer)])
    put = Before(op)
    place = {"column": i32(tile.coord[0]), "row": i32(tile.coord[1])}
    address = put.number(buffer.address + 4 * op.index)
    put.put(NpuWrite32Op.create(operands=[address, op.value], properties=place))
    _erase(op)


# --- descriptors and pushes -------------------------------------------------------------------------------------------


def _write_bd(work: _Lowering, op: Any) -> None:
    tile = op.field("column"), op.field("row")
    kind = work.target.tile_kind(*tile)
    address = work.target.bd_address(*tile, op.field("bd_id"))
    if kind is None or address is None:
        raise VerifyError("BD ID exceeds the maximum ID.", op)
    if work.configured is not None:
        work.configured.add((tile, op.field("bd_id")))
    layout = layout_of(kind)
    values = {name: attr.value.data for name, attr in op.properties.items() if name not in _OUTSIDE}
    values["buffer_length"] &= 0xFFFFFFFF
    if values["d1_size"] == 1 and values["d0_size"] >= values["buffer_length"] and not values["iteration_size"]:
        # One run, whatever its dimension says: it need not fit the register.
        values["d0_size"] = min(values["d0_size"], layout.by_name["d0_size"].mask)
    if kind is not TileKind.MEM:
        values.pop("d2_size", None)
        if any(values.get(f"d{d}_zero_{side}") for d in range(3) for side in ("before", "after")):
            raise VerifyError("Zero padding is only available on MemTile", op, bare=True)
    else:
        # Not a register of its own: the length bounds the outermost dimension.
        values.pop("d2_size", None)
    if kind is TileKind.SHIM_NOC:
        length = op.field("burst_length")
        verify_burst(op, length, work.target)
        values["burst_code"] = burst_code(work.target, length) or 0
        values.setdefault("axcache", AXCACHE)
        values["buffer_offset"] &= 0xFFFFFFFF
    for name in ("lock_acq_val", "lock_rel_val"):
        # Registers' own values may be written as the bits they are.
        if values[name] in range(64, 128):
            values[name] -= 128
    try:
        words = layout.pack(values)
    except Unfit as problem:
        raise VerifyError(f"cannot be written: {problem}", op) from None
    name, type = work.block_data(op, words)
    put = Before(op)
    data = put.put(GetGlobalOp.create(properties={"name": SymbolRefAttr(name)}, result_types=[type]))
    put.put(NpuBlockWriteOp.create(operands=[data.results[0]], properties={"address": ui32(address)}))
    _erase(op)


_BY_ADDRESS: frozenset[type] = frozenset(
    (NpuWrite32Op, NpuMaskWrite32Op, NpuBlockWriteOp, NpuBlockWriteValuesOp, NpuLoadPdiOp)
)
_OUTSIDE = ("column", "row", "bd_id", "burst_length")


def _push(work: _Lowering, op: NpuPushQueueOp) -> None:
    direction = DmaDirection.S2MM if op.direction is Direction.S2MM else DmaDirection.MM2S
    control = work.target.channel_control(op.column, op.row, direction, op.channel)
    if control is None:
        text = f"tile ({op.column}, {op.row}) has no {op.direction.word} channel {op.channel}"
        raise VerifyError(text, op)
    put = Before(op)
    controller = work.controllers.get((op.column, op.row))
    if op.issue_token and controller is not None:
        # Tokens go where the tile's controller is.
        put.mask_write32(control, controller << 8, 0x1F00)
    bd, repeat = constant_int(op.bd_id), constant_int(op.repeat_count)
    if bd is None or repeat is None:
        from aiecc.ir.runtime.dynamic import push_at_run_time

        push_at_run_time(op, control + 4)
        return
    if work.configured is not None and ((op.column, op.row), bd) not in work.configured:
        text = (
            f"'{op.name}' op pushes buffer descriptor ID {bd} of tile ({op.column}, {op.row}), which nothing before it "
            "configures"
        )
        todo = "write the descriptor first, or use aiex.dma_configure_task and aiex.dma_start_task"
        warning(work.sink, op, text, code="W1002", todo=todo)
    try:
        word = QUEUE.pack({"bd_id": bd, "repeat": repeat, "issue_token": int(op.issue_token)})[0]
    except Unfit as problem:
        raise VerifyError(f"cannot be pushed: {problem}", op) from None
    put.write32(control + 4, word)
    _erase(op)


# --- addresses --------------------------------------------------------------------------------------------------------


def _absolute(work: _Lowering, op: Addressed) -> None:
    """Registers named by a buffer or a tile are named by their address."""
    problem = elsewhere(op, work.target)
    if problem:
        warning(work.sink, op, f"'{op.name}' op {problem}", code="W1002")
    if op.buffer is None:
        return
    first = start_of(op, work.buffer(op.buffer), work.target)
    word, count = first_word(op)
    problem = outside(op.buffer, work.buffer(op.buffer), word, count)
    if problem:
        warning(work.sink, op, f"'{op.name}' op {problem}", code="W1002")
    if isinstance(op, NpuBlockWriteOp):
        op.properties["address"] = ui32(first + 4 * op.address)
        op.attributes.clear()
    elif isinstance(op, NpuUpdateFromScratchpadOp):
        op.properties["address"] = ui32(first + 4 * (number(op.address_attr) or 0))
    else:
        inside = constant_int(op.operands[0])
        if inside is None:
            raise VerifyError("names a register of a buffer or tile by an address known at run time only", op)
        op.operands[0] = Before(op).number(first + 4 * inside)
    for key in ("buffer", "column", "row"):
        op.properties.pop(key, None)


def _look_at_patch(work: _Lowering, op: NpuAddressPatchOp) -> None:
    problem = odd_patch(op, work.target)
    if problem:
        warning(work.sink, op, f"'{op.name}' op {problem}", code="W1002")


_DESCRIPTORS: frozenset[type] = frozenset((NpuDmaMemcpyNdOp, NpuWriteBdOp, NpuPushQueueOp))
_ROUNDS: tuple[dict[type, Handler], ...] = (
    {NpuDmaMemcpyNdOp: _memcpy, NpuDmaWaitOp: _wait, NpuRtpWriteOp: _rtp, NpuAddressPatchOp: _look_at_patch},
    {NpuWriteBdOp: _write_bd, NpuPushQueueOp: _push},
    {
        NpuWrite32Op: _absolute,
        NpuMaskWrite32Op: _absolute,
        NpuBlockWriteOp: _absolute,
        NpuUpdateFromScratchpadOp: _absolute,
    },
)
