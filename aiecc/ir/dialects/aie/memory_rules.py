"""What makes a buffer, a lock or the use of a lock wrong."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation

from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp, UseLockOp, fits
from aiecc.ir.dialects.aie.tile_rules import LOCAL_MEMORY, is_tile, verify_accessible, verify_tile_kind
from aiecc.ir.dialects.aie.tiles import placed, target_of
from aiecc.ir.dialects.base import show
from aiecc.model.targets import Arch

TASKS = ("aiex.dma_configure_task", "aiex.dma_configure_task_for", "aie.bd_chain")
PROGRAMS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")


def verify_buffer(op: BufferOp) -> None:
    verify_tile_kind(op, op.tile, LOCAL_MEMORY)
    verify_accessible(op, op.tile)
    value = op.initial_value
    if value is not None and not fits(value, op.type):
        raise op.error(f"initial value of type '{show(value.type)}' does not fit its type '{show(op.type)}'")
    tile = op.tile_op
    if tile is None or tile.kind is None:
        return
    if op.core_data:
        for use in op.tile.uses:
            other = use.operation
            if isinstance(other, BufferOp) and other is not op and other.core_data and _before(other, op):
                col, row = tile.coord or ("?", "?")
                raise op.error(
                    f"is a second core_data buffer on tile ({col}, {row}); the core's data region is one extent"
                )
    size = target_of(op).bank_size(tile.kind)
    address, wanted = op.address, op.mem_bank
    if address is not None and wanted is not None and size and address // size != wanted:
        raise op.error(f"address 0x{address:X} lies in bank {address // size}, but mem_bank requests bank {wanted}")


def _before(a: Operation, b: Operation) -> bool:
    return a.parent is b.parent and a.is_before_in_block(b)


def verify_lock(op: LockOp) -> None:
    verify_accessible(op, op.tile)
    if not is_tile(op.tile):
        raise op.error("tile operand must implement TileLike interface")
    kind = op.tile_op.kind if op.tile_op is not None else None
    if op.id is None or kind is None:
        return
    count = target_of(op).lock_count(kind)
    if op.id >= count:
        raise op.error(f"lock assigned invalid id (maximum is {count - 1})")


def verify_use_lock(op: UseLockOp) -> None:
    parent = op.parent_op()
    if parent is None:
        return
    if parent.name in ("aie.device", "builtin.module"):
        raise op.error("must be used in a core or memory operation.")
    aie1 = target_of(op).arch is Arch.AIE1
    if aie1 and op.action is LockAction.ACQUIRE_GREATER_EQUAL:
        raise op.error("AcquireGreaterEqual is not supported in AIE1.")
    program = _ancestor(op, PROGRAMS)
    if program is not None:
        _verify_in_program(op, program, aie1)
    elif _ancestor(op, ("aie.core", "func.func", *TASKS)) is None:
        raise op.error(
            "expects some parent op to be one of AIE::device, AIE::core, func::func, AIE::mem, AIE::shimDMA, or "
            "AIEX::dma_configure_task"
        )


def _verify_in_program(op: UseLockOp, program: Operation, aie1: bool) -> None:
    if op.constant is None:
        raise op.error("lock value in a DMA/BD block must be a compile-time constant (defined by an arith.constant).")
    block = op.parent
    assert block is not None
    others = list(_use_locks(block))
    if aie1 and any(other.lock is not op.lock for other in others):
        raise op.error("used in a DMA block that have multiple locks.")
    for acquire in (True, False):
        states = {other.constant for other in others if other.is_acquire is acquire}
        if len(states) > 1:
            raise op.error("acquires/releases the lock in a DMA block from/to multiple states.")
    if program.name == "aie.mem":
        lock = op.lock_op
        home = placed(lock.tile) if lock is not None else None
        here = placed(program.operands[0])
        if home is not None and here is not None and home.coord != here.coord:
            raise op.error("can only access a lock in the same tile")


def _use_locks(block: Block) -> Iterator[UseLockOp]:
    return (op for op in block.ops if isinstance(op, UseLockOp))


def _ancestor(op: Operation, names: tuple[str, ...]) -> Operation | None:
    at = op.parent_op()
    while at is not None and at.name not in names:
        at = at.parent_op()
    return at
