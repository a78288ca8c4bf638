"""TPUSH/TPOP pipes between a Cube core and its Vector cores. It uses `aiecc.api` and xDSL, nothing else.

Reading order; modules marked (planned) are agreed upon and not there yet:

    model.py      a cluster program without IR: Cluster, Pipe, Tile, Program and its ops
    memories.py   the memories of both platforms as tables
    split.py      which part of a tile a Vector lane has, and where it lies in the slot
    steps.py      the words of the protocol: Step, Flag, Access, Stream
    protocol.py   what init, push, pop, use and free are made of: the one page that says the protocol
    frees.py      where a free stands that nobody wrote: after the last use, in pop order
    unroll.py     a program with loops as streams of steps: `streams(cluster) -> Streams`
    graph.py      the exact check: `check(streams) -> Verdict`: deadlocks, races, flags set twice, left over
    simulate.py   one schedule, step by step: the check's first judge
    explore.py    all schedules of small programs: its second
    cure.py       the smallest change that makes a refused program good
    analyse.py    `analyse(cluster, diag)`: all of the above, as diagnostics at the user's lines
    size.py       rings, workspaces and flags: sizes, offsets, placement by the placement engine
    views.py      pipes.txt and pipes.json

    dialect/      (planned) `PTO`, the dialect `pto` in its public textual form: attrs.py, types.py, ops.py
    rules/        (planned) `verify_pipes(module: ModuleOp, diag: Sink) -> None`: what is decided statically,
                  each rule with its own message at the op's line
    extract.py    (planned) `clusters_of(module: ModuleOp, diag: Sink) -> list[Cluster]`: from verified IR to the model
    passes.py     (planned) passes for aiecc-opt: pto-verify-pipes, pto-check-pipes, pto-lower-pipes

    runtime/      (planned) the run-time ABI (set_flag, wait_flag, copy, alias): its header, its threaded implementation
    emit.py       (planned) a pto function as calls of that ABI, loops kept: protocol.py at a tag known at run time
    build.py      (planned) from a module with pto kernels to an aie.device that the ordinary stages build
    run.py        (planned) the cluster on real arrays, a thread per core, for `aiecc simulate`
    timeline.py   (planned) `timeline(cluster: Cluster, streams: Streams) -> str`: an SVG: who waits on which flag when
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
