"""What the plugin does in a build: it reads, checks and lowers modules with `pto` kernels, and adds a stage of its own.

Everything heavy is imported when a module is ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aiecc.api import (
    Blob,
    DeviceId,
    Lowered,
    LowerOptions,
    Memo,
    Module,
    Placement,
    Simulation,
    Simulator,
    Sink,
    Source,
    Target,
    Toolchain,
    View,
    Workshop,
    hookimpl,
    lower_design,
    stage,
    view,
)


@hookimpl
def aiecc_targets() -> Iterable[Target]:
    """The devices clusters are built as."""
    from aiecc.plugins.tpush.boards import board
    from aiecc.plugins.tpush.model import Platform

    return [board(platform) for platform in Platform]


@hookimpl
def aiecc_parse(source: Source, diag: Sink) -> Module | None:
    """Read and check a module with `pto` kernels; others are not ours."""
    if "pto." not in source.text:
        return None
    from aiecc.api import load, verify
    from aiecc.plugins.tpush.build import is_ours
    from aiecc.plugins.tpush.rules import verify_module

    module = Module(source.text, file=source.path)
    if not is_ours(module):
        return None
    op = load(module)
    diag.extend(verify(op))
    if not diag.failed:
        verify_module(op, diag)
    return module


@hookimpl
def aiecc_lower(module: Module, lower: LowerOptions, diag: Sink) -> Lowered | None:
    """Refuse what deadlocks or races; make the rest a design of devices, and lower that as any other."""
    from aiecc.plugins.tpush.build import build_devices, check, is_ours

    if not is_ours(module):
        return None
    if not check(module, diag, lower.hang_check):
        return None
    design = build_devices(module, diag)
    return None if design is None else lower_design(design, lower, diag)


class Stages:
    """What the plugin adds."""

    @staticmethod
    @stage(gives="threads")
    def aiecc_threads(
        device: DeviceId,
        module: Module,
        lowered: Lowered,
        placement: Placement,
        tools: Toolchain,
        run: Workshop,
        memo: Memo,
        diag: Sink,
    ) -> Blob | None:
        """Compile a cluster for this machine, a thread per core: a library that `run.py` knows how to call."""
        raise NotImplementedError


@hookimpl
def aiecc_threads(
    device: DeviceId, module: Module, placement: Placement, tools: Toolchain, run: Workshop, memo: Memo
) -> Blob | None:
    from aiecc.plugins.tpush.build import is_ours
    from aiecc.plugins.tpush.native import library

    return library(device, module, placement, tools, run, memo) if is_ours(module) else None


@hookimpl
def aiecc_stages() -> Any:
    return Stages


def _accepts(module: Module) -> bool:
    from aiecc.plugins.tpush.build import is_ours

    return is_ours(module)


def _run(asked: Simulation) -> bool:
    from aiecc.plugins.tpush.run import simulate

    return simulate(asked)


@hookimpl
def aiecc_simulators() -> Iterable[Simulator]:
    """Clusters run on this machine, a thread per core."""
    return [Simulator("tpush", _accepts, _run)]


@view("pipes.txt")
def pipes_txt(module: Module, placement: Placement) -> str:
    """Pipes between Cube and Vector cores: slots, flags, addresses, sizes."""
    from aiecc.plugins.tpush.views import as_text, shown

    return shown(module, placement, as_text)


@view("pipes.json")
def pipes_json(module: Module, placement: Placement) -> str:
    """The same as JSON."""
    from aiecc.plugins.tpush.views import as_json, shown

    return shown(module, placement, as_json)


@view("steps.txt")
def steps_txt(module: Module, placement: Placement) -> str:
    """What each core does with pipes, step by step, with real flags and addresses."""
    from aiecc.plugins.tpush.views import as_steps, shown

    return shown(module, placement, as_steps)


@view("timeline.svg")
def timeline_svg(module: Module, placement: Placement) -> str:
    """Which core waits on which flag when, in one run, in model time."""
    from aiecc.plugins.tpush.timeline import timelines
    from aiecc.plugins.tpush.views import shown

    return shown(module, placement, timelines)


@hookimpl
def aiecc_views() -> Iterable[View]:
    """pipes.txt, pipes.json, steps.txt, timeline.svg."""
    return [pipes_txt, pipes_json, steps_txt, timeline_svg]
