"""TPUSH/TPOP pipes between a Cube core and its Vector cores. It uses `aiecc.api` and xDSL, nothing else.

A cluster program without IR, and what is known of it:

    model.py      Cluster, Pipe, Tile, Program and its ops: START HERE
    memories.py   the memories of both platforms as tables
    split.py      which part of a tile a Vector lane has, and where it lies in the slot
    steps.py      the words of the protocol: Step, Flag, Access, Stream
    protocol.py   what init, push, pop, use and free are made of: the one page that says the protocol
    frees.py      where a free stands that nobody wrote: after the last use, in pop order
    unroll.py     a program with loops as streams of steps: `streams(cluster) -> Streams`
    cells.py      memory as the accesses of a run cut it
    graph.py      the exact check: `check(streams) -> Verdict` (verdict.py): deadlocks, races, flags
    simulate.py   one schedule, step by step: the check's first judge
    explore.py    all schedules of small programs: its second
    cure.py       the smallest change that makes a refused program good
    analyse.py    `analyse(cluster, diag)`: all of the above, as diagnostics at the user's lines
    size.py       rings, workspaces and flags: sizes, offsets, placement by the placement engine
    views.py      pipes.txt, pipes.json, steps.txt

From IR and back:

    dialect/      the dialect `pto` in its public textual form
    kernels.py    which functions run on which core, which of them together, on which platform; values.py: integers
    extract.py    from IR to the model; reading.py: a kernel as one lane runs it
    rules/        what is decided statically, each rule with its own message at the op's line
    passes.py     pto-verify-pipes, pto-check-pipes, pto-lower-pipes for aiecc-opt

Built and run:

    hooking.py    the hooks: where all of this stands in a build
    build.py      from a module with kernels to devices (boards.py) that the ordinary stages build
    emit.py       a kernel as calls of the run-time ABI, loops kept (emit_base.py, emit_tiles.py, emit_frees.py)
    runtime/      that ABI: pipes.h is its documentation
    native.py     the same code for this machine, a thread per core; run.py: on real arrays, for `aiecc simulate`
    timeline.py   which core waits on which flag when (timing.py: model time), as a picture
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from aiecc.api import hookimpl
from aiecc.plugins.tpush.hooking import (
    aiecc_lower,
    aiecc_parse,
    aiecc_simulators,
    aiecc_stages,
    aiecc_targets,
    aiecc_threads,
    aiecc_views,
)

if TYPE_CHECKING:
    from xdsl.ir import Dialect

    from aiecc.api import Pass


def _pto() -> Dialect:
    from aiecc.plugins.tpush.dialect import PTO

    return PTO


@hookimpl
def aiecc_dialects() -> Iterable[tuple[str, Callable[[], Dialect]]]:
    """The dialect `pto`."""
    return [("pto", _pto)]


@hookimpl
def aiecc_passes() -> Iterable[type[Pass]]:
    """pto-verify-pipes, pto-check-pipes."""
    from aiecc.plugins.tpush.passes import PASSES

    return PASSES


__all__ = [
    "aiecc_dialects",
    "aiecc_lower",
    "aiecc_parse",
    "aiecc_passes",
    "aiecc_simulators",
    "aiecc_stages",
    "aiecc_targets",
    "aiecc_threads",
    "aiecc_views",
]
