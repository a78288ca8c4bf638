"""What makes an instruction of the command processor wrong."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, IntegerType
from xdsl.ir import Operation

from aiecc.ir.dialects.aie.memory import LockOp, constant_int
from aiecc.ir.dialects.aie.tiles import DeviceOp, TileOp, device_of, target_of
from aiecc.ir.dialects.aiex.control import (
    CoreResetOp,
    DmaChannelResetForOp,
    DmaChannelResetOp,
    ReadScratchpadParameterOp,
    SetLockOp,
)
from aiecc.ir.dialects.aiex.lookup import symbol_in, verify_in_sequence
from aiecc.ir.dialects.aiex.npu import (
    NpuAddressPatchOp,
    NpuAssertBdDivisibleOp,
    NpuAssertBdFieldOp,
    NpuCreateScratchpadOp,
    NpuLoadPdiOp,
    NpuPushQueueOp,
    NpuUpdateFromScratchpadOp,
)
from aiecc.ir.dialects.base import DialectOp, text_of
from aiecc.ir.dialects.constraints import I32, number
from aiecc.model.targets import Arch, TileKind

SCRATCHPAD = 128
"""Bytes of the largest scratch pad: 32 words."""


def verify_push_queue(op: NpuPushQueueOp) -> None:
    target = target_of(op)
    kind = target.tile_kind(op.column, op.row)
    dma = target.dma(kind) if kind is not None else None
    if dma is None:
        raise op.error(f"tile ({op.column}, {op.row}) has no DMA")
    bd, repeat = constant_int(op.bd_id), constant_int(op.repeat_count)
    if bd is not None and not 0 <= bd < dma.bds:
        raise op.error("BD ID exceeds the maximum ID.")
    if repeat is not None and not 0 <= repeat <= dma.repeat_max:
        raise op.error(f"Repeat count exceeds the [0:{dma.repeat_max}] range.")


def verify_address_patch(op: NpuAddressPatchOp) -> None:
    if op.addr_val is not None and op.addr_val.type != I32:
        raise op.error("addr_val must be an i32 value")


def verify_load_pdi(op: NpuLoadPdiOp) -> None:
    if op.id is not None and not 0 <= op.id < 1 << 16:
        raise op.error(f"id {op.id} is out of range: configurations are numbered 0 to 65535")
    if op.size is not None and op.size < 0:
        raise op.error(f"size must not be negative (got {op.size}).")
    name, device = op.device_ref, device_of(op)
    module = device.parent_op() if device is not None else None
    if name is None or module is None:
        return
    named = [other for other in module.regions[0].block.ops if text_of(other.properties.get("sym_name")) == name]
    if not any(isinstance(other, DeviceOp) for other in named):
        what = "Not a device" if named else "No such device"
        raise op.error(f"{what}: '@{name}'", bare=True)


def verify_assert_field(op: NpuAssertBdFieldOp) -> None:
    value, most = constant_int(op.value), number(op.max_attr) or 0
    if value is not None and not 0 <= value <= most:
        raise op.error(f"constant value {value} exceeds the guarded field range [0:{most}].")


def verify_assert_divisible(op: NpuAssertBdDivisibleOp) -> None:
    value, divisor = constant_int(op.value), number(op.divisor_attr) or 0
    if not divisor:
        raise op.error("divisor must be non-zero.")
    if value is not None and value % divisor and not (value == 1 and op.allow_unit is not None):
        raise op.error(
            f"constant value {value} is not divisible by {divisor} (transfer is not a whole number of address-gen "
            "granules)."
        )


# --- locks, channels, cores -------------------------------------------------------------------------------------------


def verify_set_lock(op: SetLockOp) -> None:
    verify_in_sequence(op)
    target = target_of(op)
    if target.arch is Arch.AIE1:
        raise op.error("SetLockOp is not supported on AIE1.")
    if op.value > target.lock_max_value:
        raise op.error(f"Lock value exceeds the maximum value of {target.lock_max_value}")
    lock = op.lock.owner
    if not isinstance(lock, LockOp) or lock.id is None or lock.tile_op is None or lock.tile_op.kind is None:
        return
    count = target.lock_count(lock.tile_op.kind)
    if lock.id >= count:
        raise op.error(f"Lock ID out of range for given tile. Max ID: {count - 1}")


def _reset_tile(op: DmaChannelResetOp | CoreResetOp) -> TileOp:
    tile = op.tile.owner
    if not isinstance(tile, TileOp):
        raise op.error("tile operand must be produced by an aie.tile op")
    return tile


def verify_channel_reset(op: DmaChannelResetOp) -> None:
    tile = _reset_tile(op)
    col, row = tile.coord
    if tile.kind is None or tile.kind.is_shim:
        raise op.error(
            f"tile ({col}, {row}) has no DMA channel reset (only core and mem tiles do; shim NOC DMA has no reset bit)"
        )
    dma = target_of(op).dma(tile.kind)
    count = dma.channels if dma is not None else 0
    if not 0 <= op.channel < count:
        raise op.error(
            f"channel {op.channel} out of range for this tile and direction (tile has {count} DMA channel(s) in this "
            "direction)"
        )


def verify_channel_reset_for(op: DmaChannelResetForOp) -> None:
    if target_of(op).arch is Arch.AIE1:
        raise op.error("is not supported on AIE1 devices (the resident re-arm relies on the aie2p start-queue push)")
    found = symbol_in(device_of(op), op.fifo)
    if found is not None and found.name not in _REARMED:
        raise op.error(f"'{op.fifo}' must reference an aie.objectfifo (or its aie.objectfifo_rearm_binding)")


_REARMED = ("aie.objectfifo", "aie.objectfifo_rearm_binding", "aie.route_endpoint")


def verify_core_reset(op: CoreResetOp) -> None:
    if target_of(op).arch is Arch.AIE1:
        raise op.error("aiex.core_reset is not supported on AIE1.", bare=True)
    tile = _reset_tile(op)
    if tile.kind is not TileKind.CORE:
        col, row = tile.coord
        raise op.error(f"tile ({col}, {row}) has no core to reset (only core tiles have a CORE_CONTROL register)")


# --- the scratch pad --------------------------------------------------------------------------------------------------


def verify_create_scratchpad(op: NpuCreateScratchpadOp) -> None:
    usage = number(op.usage_type_attr) or 0
    if usage:
        raise op.error(f"usage_type must be 0 (got {usage}); other layouts are not supported.")
    if op.size <= 0:
        raise op.error("size must be greater than 0.")
    if op.size % 4:
        raise op.error(f"size ({op.size}) must be a multiple of 4 bytes.")
    if op.size > SCRATCHPAD:
        raise op.error(f"size ({op.size} bytes) exceeds maximum scratchpad size of {SCRATCHPAD} bytes.")
    for other in _others(op):
        if isinstance(other, NpuCreateScratchpadOp):
            note = ("previous 'aiex.npu.create_scratchpad' here", other)
            raise op.error("only one 'aiex.npu.create_scratchpad' is allowed per runtime sequence", [note])


def _others(op: DialectOp) -> list[Operation]:
    """The ops before this one in its block."""
    block = op.parent
    found: list[Operation] = []
    for other in block.ops if block is not None else ():
        if other is op:
            break
        found.append(other)
    return found


def verify_update_from_scratchpad(op: NpuUpdateFromScratchpadOp) -> None:
    index, most = number(op.state_table_idx_attr) or 0, SCRATCHPAD // 4 - 1
    if index > most:
        raise op.error(f"state_table_idx {index} exceeds maximum StateTable index ({most}).")
    for other in _others(op):
        if isinstance(other, NpuCreateScratchpadOp) and index >= other.size // 4:
            raise op.error(
                f"state_table_idx {index} is out of bounds for scratchpad of size {other.size} bytes "
                f"({other.size // 4} entries) created by aiex.npu.create_scratchpad."
            )


F32 = (
    "f32 parameters are not supported: the scratchpad encoding zeroes the top 2 bits, which clobbers the sign bit and "
    "top exponent bit of an f32. Use bf16 or an integer type up to i32 instead."
)


def verify_read_parameter(op: ReadScratchpadParameterOp) -> None:
    device = device_of(op)
    if device is None:
        raise op.error("must be inside an aie.device")
    at = op.parent_op()
    while at is not None and at.name != "aie.core":
        at = at.parent_op()
    if at is None:
        raise op.error("must be inside an aie.core")
    module = device.parent_op()
    block = module.regions[0].block if module is not None else None
    names = {
        text_of(other.properties.get("sym_name"))
        for other in (block.ops if block is not None else ())
        if other.name == "aiex.scratchpad_parameter"
    }
    if op.parameter not in names:
        raise op.error(
            f"references unknown parameter '{op.parameter}' (aiex.scratchpad_parameter ops are declared at module "
            "scope)"
        )
    if isinstance(op.result.type, Float32Type):
        raise op.error(F32)
    if isinstance(op.result.type, IntegerType) and op.result.type.width.data > 32:
        raise op.error("parameters are at most 32 bits wide")
