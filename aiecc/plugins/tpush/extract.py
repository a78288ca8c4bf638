"""From IR to the model: who runs with whom, their pipes, and what each of them does (`reading.py`)."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from aiecc.api import Sink
from aiecc.plugins.tpush.dialect.pipe_ops import (
    ImportReservedBufferOp,
    InitializePipe,
    ReserveBufferOp,
)
from aiecc.plugins.tpush.dialect.view_ops import GetSubBlockIdxOp
from aiecc.plugins.tpush.kernels import Kernel, Pair, arguments_of, candidates, kernels_of, platform_of
from aiecc.plugins.tpush.model import (
    Branch,
    Carry,
    Cluster,
    Direction,
    Free,
    Kind,
    Loop,
    Op,
    Pipe,
    Platform,
    Pop,
    Program,
    Push,
    Reserve,
    Use,
    Value,
)
from aiecc.plugins.tpush.reading import read_program, site_of
from aiecc.plugins.tpush.values import Values


def clusters_of(module: ModuleOp, diag: Sink) -> list[Cluster]:
    """Every pair of kernels that share pipes. The IR has been verified (`rules`); what cannot be followed is an error
    at its op, and its cluster is left out."""
    kernels = kernels_of(module)
    platform = platform_of(module, kernels)
    if isinstance(platform, str):
        return []
    found = (cluster_of(pair, platform, diag) for pair in pairs_of(module, kernels))
    return [cluster for cluster in found if cluster is not None]


def pairs_of(module: ModuleOp, kernels: list[Kernel]) -> list[Pair]:
    """Cube and Vector kernels that run together, in the order of the Cube kernels."""
    pairs: list[Pair] = []
    for kernel in kernels:
        if kernel.kind is Kind.CUBE and kernel.has_pipes:
            partners = candidates(kernel, kernels, module)
            pairs += [Pair(kernel, other, caller) for other, caller in partners[:1]]
    return pairs


def cluster_of(pair: Pair, platform: Platform, diag: Sink) -> Cluster | None:
    """One cluster. None when something was reported."""
    said = Sink()
    programs = programs_of(pair, platform, said)
    diag.extend(said.items)
    return None if said.failed else assembled(pair, platform, programs)


Programs = tuple[Program, Program, Program]
"""The Cube's, and those of both lanes of its Vector core."""


def programs_of(pair: Pair, platform: Platform, diag: Sink) -> Programs:
    """What each core does. What cannot be followed is reported."""
    names = arguments_of(pair)
    cube = read_program(pair.cube, platform, names, 0, diag)
    first = read_program(pair.vector, platform, names, 0, diag)
    asks = any(isinstance(op, GetSubBlockIdxOp) for op in pair.vector.function.walk())
    return cube, first, read_program(pair.vector, platform, names, 1, Sink()) if asks else first


def assembled(pair: Pair, platform: Platform, programs: Programs) -> Cluster:
    """The cluster of what its cores do. A tile that is split anywhere makes both lanes run."""
    cube, first, second = programs
    split = any(isinstance(op, Push | Pop | Free) and op.split for program in programs for op in program.walk())
    return Cluster(
        platform,
        pipes_of(pair, platform, arguments_of(pair)),
        cube,
        first,
        2 if split else 1,
        second if split and not alike(first, second) else None,
        tuple(_reserve(op, kernel) for kernel in pair.kernels for op in kernel.reserves),
    )


def alike(first: Program, second: Program) -> bool:
    """Whether two programs do the same."""
    return first is second or _shape(first) == _shape(second)


def _shape(program: Program) -> tuple[Op, ...]:
    """A program without the numbers of its values, which say nothing by themselves."""
    numbers: dict[Value, int] = {}

    def number(value: Value) -> int:
        return numbers.setdefault(value, len(numbers))

    def plain(op: Op) -> Op:
        if isinstance(op, Push):
            return replace(op, uses=tuple(number(v) for v in op.uses))
        if isinstance(op, Pop):
            return replace(op, value=number(op.value))
        if isinstance(op, Use):
            return replace(op, values=tuple(number(v) for v in op.values))
        if isinstance(op, Free):
            return replace(op, value=None if op.value is None else number(op.value))
        if isinstance(op, Loop):
            carried = tuple(
                Carry(
                    number(c.inner),
                    None if c.first is None else number(c.first),
                    None if c.again is None else number(c.again),
                    number(c.result),
                )
                for c in op.carried
            )
            return replace(op, body=tuple(map(plain, op.body)), carried=carried)
        if isinstance(op, Branch):
            return replace(op, then=tuple(map(plain, op.then)), orelse=tuple(map(plain, op.orelse)))
        return op

    return tuple(map(plain, program.ops))


# ------------------------------------------------------------------------------------------------------- pipes


def pipes_of(pair: Pair, platform: Platform, names: dict[SSAValue, str]) -> tuple[Pipe, ...]:
    """The pipes of a pair, by id. Flags are given out in that order."""
    found: list[Pipe] = []
    flags = 0
    for setup in sorted(pair.cube.setups, key=lambda op: op.number):
        other = pair.vector.setup(setup.number)
        if other is None or any(pipe.id == setup.number for pipe in found):
            continue
        bases = {direction: ring_base(pair, setup, direction, platform, names) for direction in setup.directions}
        pipe = Pipe(
            setup.number,
            setup.mask,
            setup.bytes_per_slot,
            setup.slots,
            flags,
            bases.get(Direction.C2V, (None, ""))[0],
            bases.get(Direction.V2C, (None, ""))[0],
            bases.get(Direction.C2V, (None, ""))[1],
            bases.get(Direction.V2C, (None, ""))[1],
            setup.whole_tiles,
            site_of(setup),
            site_of(other),
            _workspace(setup, platform, names),
        )
        flags += pipe.flags
        found.append(pipe)
    return tuple(found)


def _workspace(setup: InitializePipe, platform: Platform, names: dict[SSAValue, str]) -> str:
    """What the addresses of a pipe count from on A2A3."""
    if platform is not Platform.A2A3 or setup.gm_slot_buffer is None:
        return ""
    return Values(lambda argument: names.get(argument, "?")).pointer(setup.gm_slot_buffer)[0]


def ring_base(
    pair: Pair, setup: InitializePipe, direction: Direction, platform: Platform, names: dict[SSAValue, str]
) -> tuple[int | None, str]:
    """Where a ring starts, as far as it is known, and the reservation it lies in."""
    values = Values(lambda argument: names.get(argument, "?"))
    if platform is Platform.A2A3:
        if setup.gm_slot_buffer is None:
            return None, ""
        offset = values.pointer(setup.gm_slot_buffer)[1]
        second = direction is Direction.V2C and setup.mask == 3
        behind = setup.slots * setup.bytes_per_slot if second else 0
        return None if offset is None else offset + behind, ""
    consumer = pair.cube if direction is Direction.V2C else pair.vector
    value = setup.consumer_buffer(direction)
    reserve = reservation(pair, consumer, value)
    if reserve is not None:
        return reserve.fixed, reserve.buffer.data
    return None if value is None else values.number(value), ""


def reservation(pair: Pair, consumer: Kernel, value: SSAValue | None) -> ReserveBufferOp | None:
    """The reservation in the consumer's function behind a buffer of a set-up, on either side."""
    op = None if value is None else value.owner
    if isinstance(op, ReserveBufferOp):
        return op
    if isinstance(op, ImportReservedBufferOp):
        return next((r for r in consumer.reserves if r.buffer.data == op.buffer.data), None)
    return None


def _reserve(op: ReserveBufferOp, kernel: Kernel) -> Reserve:
    return Reserve(op.buffer.data, op.size.value.data, op.memory.space, op.fixed, kernel.name, site_of(op))
