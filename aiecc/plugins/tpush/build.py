"""From a module with `pto` kernels to devices that the ordinary stages build.

Each pair of kernels becomes a device of its own (`boards.py`). Tiles and rings are buffers of its tiles, so they are
placed, with everything else a core has, by the same engine; the Cube's code names the rings of its lanes as it would
name any buffer of a neighbour, so its linker script has their addresses.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32, i64
from xdsl.ir import Block, Operation, SSAValue

from aiecc.api import Module, Placement, Refused, Sink, copy_span, dump, load, targets, thaw
from aiecc.plugins.tpush.analyse import analyse, as_warning
from aiecc.plugins.tpush.boards import COLUMN, ROWS, beyond, board
from aiecc.plugins.tpush.dialect.pipe_ops import ImportReservedBufferOp, InitializePipe, PipeOp, ReserveBufferOp
from aiecc.plugins.tpush.emit import PREFIX, emit
from aiecc.plugins.tpush.emit_base import Code, Room
from aiecc.plugins.tpush.extract import cluster_of, pairs_of
from aiecc.plugins.tpush.kernels import Pair, kernels_of, platform_of
from aiecc.plugins.tpush.model import Agent, Cluster, Kind, Platform
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.runtime import FOLDER
from aiecc.plugins.tpush.size import arranged, with_bases

OPS_ON_PIPES = (PipeOp, InitializePipe, ReserveBufferOp, ImportReservedBufferOp)

STACK = "stack_size"
"""What a kernel says about its stack, as an `aie.core` does."""


def is_ours(module: Module) -> bool:
    """Whether a module has pipes, or what is meant to be one."""
    return "pto." in module.text and any(isinstance(op, OPS_ON_PIPES) for op in load(module).walk())


def pairs_in(op: ModuleOp) -> list[Pair]:
    kernels = kernels_of(op)
    return [] if isinstance(platform_of(op, kernels), str) else pairs_of(op, kernels)


def clusters_in(op: ModuleOp, diag: Sink) -> list[tuple[Pair, Cluster]]:
    """Every pair with its program; what cannot be followed is reported and left out."""
    platform = platform_of(op, kernels_of(op))
    assert isinstance(platform, Platform)
    found = [(pair, cluster_of(pair, platform, diag)) for pair in pairs_in(op)]
    return [(pair, cluster) for pair, cluster in found if cluster is not None]


def check(module: Module, diag: Sink, how: str = "error") -> bool:
    """Report rings that do not fit, deadlocks, races, flags; False when there was an error.

    `how`: the last three are an `error`, a `warn`ing, or not looked for at all (`off`).
    """
    for _, cluster in clusters_in(load(module), diag):
        if arranged(cluster, diag) is not None and how != "off":
            said = Sink()
            analyse(cluster, said)
            diag.extend(map(as_warning, said.items) if how == "warn" else said.items)
    return not diag.failed


def device_name(pair: Pair) -> str:
    """What the device of a pair is called."""
    return f"{pair.cube.name}_{pair.vector.name}"


def build_devices(module: Module, diag: Sink, rule: FreeRule = FreeRule.AFTER_USE) -> Module | None:
    """The module with a device per pair; None when something was reported."""
    texts: list[str] = []
    cores: list[tuple[Pair, list[Code]]] = []
    for pair, cluster in clusters_in(load(module), diag):
        targets.register(board(cluster.platform))  # for those who come without a build
        try:
            codes = [emit(pair, cluster, agent, rule) for agent in cluster.agents]
        except Refused as refused:
            diag.extend(refused.diagnostics)
            continue
        texts.append(_skeleton(pair, cluster, codes))
        cores.append((pair, codes))
    if diag.failed or not texts:
        return None
    made = thaw(Module("module {\n" + "".join(texts) + "}\n", file="<pipes>"))
    devices = [op for op in made.body.block.ops if op.name == "aie.device"]
    for device, (pair, codes) in zip(devices, cores, strict=True):
        _fill(device, pair, codes)
    return dump(made)


# --- the device, without code -------------------------------------------------------------------------------------


def rooms_of(codes: Iterable[Code]) -> list[Room]:
    """All buffers of a cluster, each once."""
    return list({room.name: room for code in codes for room in code.rooms}.values())


def _skeleton(pair: Pair, cluster: Cluster, codes: list[Code]) -> str:
    lines = [f"  aie.device({board(cluster.platform).name}) @{device_name(pair)} {{"]
    for code in codes:
        lines.append(f"    %{PREFIX[code.agent]} = aie.tile({COLUMN}, {ROWS[code.agent]})")
    rooms = rooms_of(codes)
    for code in codes:
        if code.agent.kind is Kind.VECTOR:
            end, size = beyond(cluster.platform)
            rooms.append(Room(f"{PREFIX[code.agent]}_behind_ub", code.agent, size, end, origin=pair.vector.function))
    for room in rooms:
        at = "" if room.base is None else f", address = {room.base} : i32"
        where = f"aie.buffer(%{PREFIX[room.owner]}) {{sym_name = {StringAttr(room.name)}{at}}}"
        lines.append(f"    %{room.name} = {where} : memref<{room.size}xi8>")
    for name, (takes, gives) in sorted({n: c for code in codes for n, c in code.calls.items()}.items()):
        source = FOLDER / ("tile_ops.c" if name.startswith("pto_t") else "pipes_core.c")
        types = f"({', '.join(map(str, takes))})" + (f" -> {gives[0]}" if gives else "")
        lines.append(f"    func.func private @{name}{types} attributes {{link_with = {StringAttr(str(source))}}}")
    for code in codes:
        lines.append(f"    %{PREFIX[code.agent]}_core = aie.core(%{PREFIX[code.agent]}) {{\n      aie.end\n    }}")
    return "\n".join(lines) + "\n  }\n"


# --- its code -----------------------------------------------------------------------------------------------------


def _fill(device: Operation, pair: Pair, codes: list[Code]) -> None:
    """Put the code in, and give what stands for something of the user's its position."""
    buffers = {_name(op): op for op in device.walk() if op.name == "aie.buffer"}
    cores = [op for op in device.walk() if op.name == "aie.core"]
    rooms = {room.name: room for room in rooms_of(codes)}
    for op in device.walk():
        room = rooms.get(_name(op))
        origin = room.origin if room is not None else None
        copy_span(pair.cube.function if origin is None else origin, op)
    for core, code in zip(cores, codes, strict=True):
        function = (pair.cube if code.agent is Agent.CUBE else pair.vector).function
        stack = function.attributes.get(STACK)
        if isinstance(stack, IntegerAttr):
            core.properties[STACK] = IntegerAttr(stack.value.data, i32)
        for op in core.walk():
            copy_span(function, op)
        end = core.regions[0].block.last_op
        assert end is not None
        _pour(code, core.regions[0].block, end, [buffers[room.name].results[0] for room in code.rooms])


def _name(op: Operation) -> str:
    found = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return found.data if isinstance(found, StringAttr) else ""


def _pour(code: Code, block: Block, end: Operation, buffers: list[SSAValue]) -> None:
    """A core's code into its block; its rooms become the addresses of buffers."""
    for argument, buffer in zip(code.block.args, buffers, strict=True):
        pointer = memref.ExtractAlignedPointerAsIndexOp.get(buffer)
        address = arith.IndexCastOp(pointer.results[0], i64)
        for op in (pointer, address):
            copy_span(end, op)
        block.insert_ops_before([pointer, address], end)
        argument.replace_all_uses_with(address.results[0])
    for op in list(code.block.ops):
        op.detach()
        block.insert_op_before(op, end)


# --- after placement ----------------------------------------------------------------------------------------------


def addresses(placement: Placement, pair: Pair) -> dict[str, int]:
    """The addresses of a pair's buffers, each in its own memory."""
    device = placement.design.device(device_name(pair))
    return {b.name: b.address for tile in device.tiles for b in tile.buffers if b.address is not None}


def placed(pair: Pair, cluster: Cluster, placement: Placement) -> Cluster:
    """The cluster with its rings where they have been placed (A5)."""
    at = addresses(placement, pair)
    bases: dict[str, int] = {}
    for reserve in cluster.reserves:
        owner = Agent.CUBE if reserve.function == pair.cube.name else Agent.AIV0
        base = at.get(f"{PREFIX[owner]}_{reserve.name}")
        if base is not None:
            bases[reserve.name] = base
    return with_bases(cluster, bases)
