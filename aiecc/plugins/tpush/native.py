"""A cluster's code for this machine: the same calls of the ABI, around addresses that placement has found."""

from __future__ import annotations

from functools import partial

from xdsl.dialects import func
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Region

from aiecc.api import (
    Blob,
    DeviceId,
    Memo,
    Module,
    Placement,
    Sink,
    Toolchain,
    Workshop,
    load,
    native_library,
    print_module,
)
from aiecc.plugins.tpush.boards import WINDOW
from aiecc.plugins.tpush.build import addresses, clusters_in, device_name
from aiecc.plugins.tpush.emit import emit
from aiecc.plugins.tpush.emit_base import Code
from aiecc.plugins.tpush.kernels import Pair
from aiecc.plugins.tpush.model import Agent, Cluster
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.runtime import FOLDER, HEADERS, THREAD_SOURCES

OWN, NORTH, SOUTH = 4, 3, 1
_WINDOWS = {
    (Agent.CUBE, Agent.AIV0): NORTH,
    (Agent.CUBE, Agent.AIV1): SOUTH,
    (Agent.AIV0, Agent.CUBE): SOUTH,
    (Agent.AIV1, Agent.CUBE): NORTH,
}


def window(agent: Agent, owner: Agent) -> int:
    """Where a core sees a core's memory, see `runtime/pipes.h`."""
    return WINDOW * (OWN if agent is owner else _WINDOWS[agent, owner])


def native_code(pair: Pair, cluster: Cluster, at: dict[str, int], rule: FreeRule = FreeRule.AFTER_USE) -> str:
    """MLIR with a function per core: `pto_agent_0` is the Cube's. `at`: addresses of buffers by name."""
    ops: list[func.FuncOp] = []
    calls: dict[str, func.FuncOp] = {}
    for agent in cluster.agents:
        code = emit(pair, cluster, agent, rule)
        for name, (takes, gives) in code.calls.items():
            calls.setdefault(name, func.FuncOp.external(name, list(takes), list(gives)))
        ops.append(_function(code, at))
    return print_module(ModuleOp([*calls.values(), *ops])) + "\n"


def _function(code: Code, at: dict[str, int]) -> func.FuncOp:
    block = code.block
    first = block.first_op
    for room, argument in zip(code.rooms, block.args, strict=True):
        number = ConstantOp(IntegerAttr(window(code.agent, room.owner) + at[room.name], i64))
        if first is None:
            block.add_op(number)
        else:
            block.insert_op_before(number, first)
        argument.replace_all_uses_with(number.results[0])
    for argument in reversed(list(block.args)):
        block.erase_arg(argument)
    block.add_op(func.ReturnOp())
    return func.FuncOp(f"pto_agent_{int(code.agent)}", FunctionType.from_lists([], []), Region(block))


def library(
    device: DeviceId, module: Module, placement: Placement, tools: Toolchain, run: Workshop, memo: Memo
) -> Blob | None:
    """The cluster of a device, compiled with its run-time. None when there is no such cluster."""
    for pair, cluster in clusters_in(load(module), Sink()):
        if device_name(pair) == device.name:
            text = native_code(pair, cluster, addresses(placement, pair))
            sources = [FOLDER / name for name in THREAD_SOURCES]
            texts = [(FOLDER / name).read_text(encoding="utf-8") for name in (*THREAD_SOURCES, *HEADERS)]

            key = (tools.fingerprint, text, *texts)
            return memo.get("threads", key, partial(native_library, text, sources, tools, run), Blob)
    return None
