"""Passes for `aiecc-opt`: verify pipes, check them exactly, lower them to steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from aiecc.api import Pass, Sink, dump, pass_option, thaw
from aiecc.plugins.tpush.extract import clusters_of
from aiecc.plugins.tpush.kernels import ARCH
from aiecc.plugins.tpush.model import Cluster
from aiecc.plugins.tpush.protocol import FreeRule
from aiecc.plugins.tpush.rules import verify_pipes
from aiecc.plugins.tpush.rules.common import tell

_ARCH = "a2, a3 or a5; by default what the module says, or what its set-ups need"
_FREE = "when a slot of A5 is free: after-use, or in-pop as the specification's pseudocode has it (a race)"


def _verified(module: Operation, arch: str, sink: Sink) -> list[Cluster]:
    """The clusters of a module without errors; none otherwise. `arch` is written down where it was given."""
    assert isinstance(module, ModuleOp)
    if arch:
        module.attributes[ARCH] = StringAttr(arch)
    said = Sink()
    verify_pipes(module, said)
    sink.extend(said.items)
    return [] if said.failed else clusters_of(module, sink)


@dataclass(frozen=True)
class VerifyPipes(Pass):
    """All that can be decided before anything runs."""

    name: ClassVar[str] = "pto-verify-pipes"
    summary: ClassVar[str] = "Verify pipes between Cube and Vector cores"

    arch: str = pass_option("", help=_ARCH)

    def apply(self, op: Operation, sink: Sink) -> None:
        _verified(op, self.arch, sink)


@dataclass(frozen=True)
class CheckPipes(Pass):
    """Deadlocks and races, exactly."""

    name: ClassVar[str] = "pto-check-pipes"
    summary: ClassVar[str] = "Refuse pipes that deadlock or race"

    arch: str = pass_option("", help=_ARCH)
    free: str = pass_option(FreeRule.AFTER_USE.value, help=_FREE)

    def apply(self, op: Operation, sink: Sink) -> None:
        rule = _rule(self.free, op, sink)
        if rule is None:
            return
        from aiecc.plugins.tpush.analyse import analyse

        for cluster in _verified(op, self.arch, sink):
            analyse(cluster, sink, rule)


def _rule(word: str, op: Operation, sink: Sink) -> FreeRule | None:
    try:
        return FreeRule(word)
    except ValueError:
        known = " or ".join(rule.value for rule in FreeRule)
        tell(sink, op, f"free={word} is no way to free a slot; say {known}")
        return None


@dataclass(frozen=True)
class LowerPipes(Pass):
    """Each cluster becomes a device whose cores call the run-time ABI step by step (`runtime/pipes.h`)."""

    name: ClassVar[str] = "pto-lower-pipes"
    summary: ClassVar[str] = "Make devices of clusters, steps of pushes, pops and frees"

    arch: str = pass_option("", help=_ARCH)
    free: str = pass_option(FreeRule.AFTER_USE.value, help=_FREE)

    def apply(self, op: Operation, sink: Sink) -> None:
        rule = _rule(self.free, op, sink)
        if rule is None or not _verified(op, self.arch, sink):
            return
        from aiecc.plugins.tpush.build import build_devices

        assert isinstance(op, ModuleOp)
        made = build_devices(dump(op.clone()), sink, rule)
        if made is None:
            return
        for old in list(op.body.block.ops):
            old.detach()
        for new in list(thaw(made).body.block.ops):
            new.detach()
            op.body.block.add_op(new)


PASSES: list[type[Pass]] = [VerifyPipes, CheckPipes, LowerPipes]
