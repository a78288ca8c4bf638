"""What can be decided before anything runs, each rule with its own message at the op's line.

ops.py     an op by itself: where it stands, its numbers, its types
setup.py   set-up: once, before use, alike on both sides; buffers; flags
places.py  intervals that must not overlap, on chip and in global memory
splits.py  what a split asks of a tile; what fits a slot
order.py   counts and kinds of messages on both sides; both lanes in every handshake
counts.py  counts as polynomials of what only the run knows
frees.py   frees in pop order, behind the last use
traffic.py other tensors in global memory that both cores touch
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from aiecc.api import Sink
from aiecc.plugins.tpush.dialect.pipe_ops import FreeOp
from aiecc.plugins.tpush.extract import assembled, pairs_of, programs_of
from aiecc.plugins.tpush.kernels import ARCH, Kernel, Pair, kernels_of, platform_of
from aiecc.plugins.tpush.model import Platform
from aiecc.plugins.tpush.rules import frees, ops, order, places, setup, splits, traffic
from aiecc.plugins.tpush.rules.common import tell


def verify_pipes(module: ModuleOp, diag: Sink) -> None:
    """Report what is wrong with the pipes of a module. Later rules rely on earlier ones, so they stop in between."""
    said = Sink()
    kernels = kernels_of(module)
    platform = platform_of(module, kernels)
    if isinstance(platform, str):
        text = f"'{platform}' is no platform that pipes are known of; there are a2, a3 and a5"
        tell(diag, module, text, todo=f'write module attributes {{{ARCH} = "a5"}}')
        return
    ops.check_places(module, said)
    for kernel in kernels if not said.failed else ():
        _check_kernel(kernel, kernels, platform, module, said)
    pairs = [] if said.failed else pairs_of(module, kernels)
    for pair in pairs:
        _check_pair(pair, platform, said)
    diag.extend(said.items)


def verify_module(module: ModuleOp, diag: Sink) -> None:
    """For a build: beside pipes, a module must have a cluster, and nothing that is built in another way."""
    for op in module.body.block.ops:
        if op.name == "aie.device":
            tell(
                diag,
                op,
                "a module with pipes cannot have devices of its own: they would not be built",
                todo="move it to another file",
            )
            return
    verify_pipes(module, diag)
    if not diag.failed and not pairs_of(module, kernels_of(module)):
        tell(diag, module, "no Cube and no Vector kernel of this module share a pipe", todo="set one up on both sides")


def _check_kernel(kernel: Kernel, kernels: list[Kernel], platform: Platform, module: ModuleOp, diag: Sink) -> None:
    for op in kernel.setups:
        ops.check_setup(op, platform, diag)
    for op in kernel.reserves:
        ops.check_reservation(op, kernel, platform, diag)
    for op in kernel.transfers:
        ops.check_transfer(op, kernel, platform, diag)
        if isinstance(op, FreeOp):
            ops.check_free(op, diag)
    if not diag.failed:
        ops.check_mixing(kernel, diag)
    setup.check_kernel(kernel, diag)
    setup.check_names(kernel, kernels, module, diag)
    if kernel.has_pipes and not diag.failed:
        setup.check_partner(kernel, kernels, module, diag)


def _check_pair(pair: Pair, platform: Platform, diag: Sink) -> None:
    said = Sink()
    setup.check_sides(pair, said)
    if not said.failed:
        setup.check_buffers(pair, platform, said)
        setup.check_flags(pair, said)
        places.check_on_chip(pair, platform, said)
        places.check_workspace(pair, said)
    if not said.failed:
        _check_programs(pair, platform, said)
    diag.extend(said.items)


def _check_programs(pair: Pair, platform: Platform, diag: Sink) -> None:
    programs = programs_of(pair, platform, diag)
    if diag.failed:
        return
    cluster = assembled(pair, platform, programs)
    splits.check_tiles(cluster, diag)
    if diag.failed:
        return
    order.check_lanes(cluster, programs, diag)
    if not diag.failed:
        order.check_messages(cluster, diag)
    if not diag.failed:
        frees.check_frees(cluster, diag)
    if not diag.failed:
        if platform is Platform.A5:
            traffic.check_layouts(pair, diag)
        traffic.check_traffic(pair, diag)
