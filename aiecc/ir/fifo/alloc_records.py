"""What the runtime finds a fifo by: re-arm bindings, tasks on channels, shim allocations."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.aie.cores import CoreOp, DmaProgram
from aiecc.ir.dialects.aie.enums import Direction, WireBundle
from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp, RouteOp
from aiecc.ir.dialects.aie.runtime import ObjectFifoRearmBindingOp, ShimDmaAllocationOp
from aiecc.ir.dialects.aiex.control import DmaChannelResetForOp
from aiecc.ir.dialects.aiex.tasks import (
    DmaConfigureTaskForOp,
    DmaConfigureTaskOp,
    DmaStartBdChainForOp,
    DmaStartBdChainOp,
)
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.fifo.alloc_emit import at_end
from aiecc.ir.fifo.alloc_facts import Facts, Fault, Unplannable, is_port, record_name
from aiecc.ir.fifo.alloc_plan import Plan
from aiecc.ir.fifo.symbols import rename_uses
from aiecc.ir.fifo.view import StreamEnd, fresh_name, put_before
from aiecc.ir.spans import copy_span

# --- re-arming --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rearm:
    """What a fifo has on the array: the channels and pools to set back, and the ops that ask for it."""

    fifo: str
    resets: list[DmaChannelResetForOp]
    ends: list[StreamEnd]
    pools: list[ObjectFifoPoolOp]


def plan_rearm(facts: Facts) -> list[Rearm]:
    """What every reset of a fifo is about; raises Unplannable where there is nothing to set back."""
    asked: dict[str, list[DmaChannelResetForOp]] = {}
    for op in facts.resets:
        if op.fifo not in facts.bindings:
            asked.setdefault(facts.fifo_of_reset(op), []).append(op)
    if not asked:
        return []
    ends: dict[str, list[StreamEnd]] = {}
    for end in facts.view.stream_ends.values():
        if end.fifo_name in asked and not is_port(end) and _resident(facts, end):
            ends.setdefault(end.fifo_name, []).append(end)
    pools: dict[str, list[ObjectFifoPoolOp]] = {}
    for pool in facts.view.pools.values():
        if pool.fifo_name in asked and _resident(facts, pool) and (facts.needs_locks(pool) or _named_locks(pool)):
            pools.setdefault(pool.fifo_name, []).append(pool)
    faults: list[Fault] = []
    found: list[Rearm] = []
    for fifo, resets in asked.items():
        if fifo not in ends and fifo not in pools:
            text = f"objectFIFO '{fifo}' has no resident core/mem DMA channels or locks to re-arm"
            faults += [Fault(op, text) for op in resets]
        found.append(Rearm(fifo, resets, ends.get(fifo, []), pools.get(fifo, [])))
    if faults:
        raise Unplannable(faults)
    return found


def _resident(facts: Facts, op: StreamEnd | ObjectFifoPoolOp) -> bool:
    """Whether it is on the array, where no host drives it."""
    kind = facts.kind(facts.place(op))
    return kind is not None and not kind.is_shim


def _named_locks(pool: ObjectFifoPoolOp) -> list[str]:
    """A pool's locks by name: binary ones, then each segment's pair."""
    names = list(pool.locks)
    for segment in pool.segments:
        names += [name for name in (segment.produce_lock, segment.consume_lock) if name]
    return names


def emit_rearm(facts: Facts, plans: list[Rearm], names: set[str]) -> None:
    """Make the bindings, at the end of the device, and point the resets at them."""
    if not plans:
        return
    locks = {op.symbol: op for op in facts.device.block.ops if isinstance(op, LockOp) and op.symbol}
    for plan in plans:
        used = [locks[name] for pool in plan.pools for name in _named_locks(pool) if name in locks]
        name = fresh_name(f"{plan.fifo}_rearm", names)
        tiles: list[SSAValue] = [end.tile for end in plan.ends]
        binding = ObjectFifoRearmBindingOp(
            operands=[tiles, [lock.result for lock in used]],
            properties={
                "sym_name": StringAttr(name),
                "channel_dirs": _ints([int(facts.sends(end)) for end in plan.ends]),
                "channel_indices": _ints([end.channel_index or 0 for end in plan.ends]),
                "lock_inits": _ints([lock.init or 0 for lock in used]),
            },
        )
        at_end(facts, binding, plan.resets[0])
        for op in plan.resets:
            op.properties["objfifo"] = SymbolRefAttr(name)


def _ints(values: list[int]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(I32, values)


# --- channels that the design programs itself -------------------------------------------------------------------------


def emit_programs(facts: Facts, plan: Plan, sends: dict[str, bool]) -> None:
    """Write the channels of program-owned endpoints into the programs and tasks that name the endpoints."""
    view = facts.view
    for name, starts in plan.programs.starts.items():
        for start in starts:
            start.properties["channel"] = IntegerAttr(plan.channels.of[name], I32)
    for name, tasks in facts.tasks.items():
        end = view.stream_ends.get(name)
        if end is None or name not in plan.channels.of or not isinstance(end, RouteEndpointOp):
            continue
        if not _resident(facts, end) and end.fifo_name:
            continue
        for task in tasks:
            _settle_task(task, end, plan.channels.of[name], Direction.MM2S if sends[name] else Direction.S2MM)


def _settle_task(
    task: DmaConfigureTaskForOp | DmaStartBdChainForOp, end: RouteEndpointOp, channel: int, direction: Direction
) -> None:
    """Put a task on the channel itself in the place of one on the endpoint's name."""
    properties: dict[str, Attribute] = {
        "direction": IntegerAttr(direction.value, I32),
        "channel": IntegerAttr(channel, I32),
        **{key: task.properties[key] for key in ("issue_token", "repeat_count") if key in task.properties},
    }
    new: DmaConfigureTaskOp | DmaStartBdChainOp
    if isinstance(task, DmaConfigureTaskForOp):
        if end.packet_attr is not None:
            properties["packet"] = end.packet_attr
        new = DmaConfigureTaskOp.build(
            operands=[end.tile, [] if task.repeat is None else [task.repeat], []],
            result_types=[task.result.type],
            properties=properties,
            regions=[task.detach_region(task.body)],
        )
    else:
        new = DmaStartBdChainOp.build(
            operands=[list(task.args_), end.tile],
            result_types=[task.result.type],
            properties={**properties, "symbol": task.properties["symbol"]},
        )
    new.attributes.update(task.attributes)
    copy_span(task, new)
    put_before(task, new)
    task.result.replace_all_uses_with(new.result)
    task.detach()
    task.erase()


# --- shim allocations -------------------------------------------------------------------------------------------------

_NO_RUNTIME = (CoreOp, DmaProgram, CoreEndpointOp, DmaEndpointOp, RouteEndpointOp, RouteOp, ObjectFifoPoolOp)


def emit_records(facts: Facts, names: set[str], sends: dict[str, bool]) -> None:
    """Make a shim allocation for every named shim end, or keep the one it has; the runtime refers to it from now on.

    sends: each end's direction, found while the routes were still there.
    """
    renamed: dict[str, str] = {}
    for end in facts.view.stream_ends.values():
        kind = facts.kind(facts.place(end))
        if kind is None or not kind.is_shim or not end.fifo_name or end.channel_index is None or is_port(end):
            continue
        record = facts.record_of(end)
        if record is None:
            plio = isinstance(end, RouteEndpointOp) and end.bundle is WireBundle.PLIO
            direction = Direction.MM2S if sends[end.symbol] else Direction.S2MM
            name = fresh_name(record_name(end.fifo_name), names)
            record = ShimDmaAllocationOp(name, end.tile, direction, end.channel_index, end.packet, plio)
            at_end(facts, record, end)
        elif end.packet_attr is not None and record.packet_attr is None:
            record.properties["packet"] = end.packet_attr
        renamed[end.symbol] = record.symbol
    if not renamed:
        return
    # Lists of endpoints keep naming endpoints.
    for op in _referring(facts):
        rename_uses(op, renamed)


def _referring(facts: Facts) -> list[Operation]:
    return [op for op in facts.device.block.ops if not isinstance(op, _NO_RUNTIME)]
