"""`aie-assign-core-link-files`: which files a core links, from the kernels it calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.base import text_of
from aiecc.ir.passes.base import DEVICE, Pass
from aiecc.ir.passes.report import error, warning

_MERGE = "merge"
_INDIRECT = (
    "indirect call in core body \N{EM DASH} link_with attributes on indirectly-called functions are not automatically "
    "resolved; add a direct func.call to the required func.func declaration so that aie-assign-core-link-files can "
    "trace the dependency"
)
_DEPRECATED = "link_with on aie.core is deprecated; attach link_with to the func.func declaration instead"


@dataclass(slots=True)
class _Files:
    """The files of one core, in the order of first use."""

    linked: dict[str, None] = field(default_factory=dict[str, None])
    merged: dict[str, None] = field(default_factory=dict[str, None])


@dataclass(frozen=True)
class AssignCoreLinkFiles(Pass):
    """Follow the direct calls of a core to declarations with `link_with`.

    The files go to `link_files`, or to `link_merge_files` where the declaration says `link_with_mode = "merge"`: its
    metadata decides, never the name of the file. A core that carries lists already is left alone.
    """

    name: ClassVar[str] = "aie-assign-core-link-files"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Write the files each core links onto it"

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        kernels = _kernels(op, sink)
        if sink.failed:
            return
        called: set[str] = set()
        for core in op.ops_of(CoreOp):
            assert isinstance(core, CoreOp)
            calls = [name for call in core.walk() if (name := _callee(call)) is not None]
            called.update(calls)
            listed = "link_files" in core.properties or "link_merge_files" in core.properties
            if listed and core.link_with is None:
                continue
            _assign(core, calls, kernels, sink)
        _check_modes(op, sink)
        for name, (function, _, _) in kernels.items():
            if name not in called:
                tail = "has link_with but is never called from any core; its artifact will not be linked or merged"
                warning(sink, function, f"func '{name}' {tail}")


def _callee(op: Operation) -> str | None:
    return text_of(op.callee) if isinstance(op, CallOp) else None


def _kernels(device: DeviceOp, sink: Sink) -> dict[str, tuple[FuncOp, str, bool]]:
    """Declarations that name a file: the function, the file, and whether it is to be merged."""
    found: dict[str, tuple[FuncOp, str, bool]] = {}
    for function in device.ops_of(FuncOp):
        assert isinstance(function, FuncOp)
        name = function.sym_name.data
        path = text_of(function.attributes.get("link_with"))
        mode = text_of(function.attributes.get("link_with_mode"))
        if mode is not None and path is None:
            tail = "link_with_mode only describes how the link_with artifact is linked"
            error(sink, function, f"func '{name}' has link_with_mode but no link_with; {tail}", code="E0702")
        elif mode is not None and mode != _MERGE:
            tail = f"has unknown link_with_mode '{mode}'; the only supported value is '{_MERGE}'"
            error(sink, function, f"func '{name}' {tail}", code="E0702")
        elif path is not None:
            found[name] = (function, path, mode == _MERGE)
    return found


def _assign(core: CoreOp, calls: Iterable[str], kernels: dict[str, tuple[FuncOp, str, bool]], sink: Sink) -> None:
    files = _Files()
    files.linked.update(dict.fromkeys(core.link_files))
    files.merged.update(dict.fromkeys(core.link_merge_files))
    if core.link_with is not None:
        warning(sink, core, _DEPRECATED)
        files.linked[core.link_with] = None
        del core.properties["link_with"]
    for name in calls:
        if name in kernels:
            _, path, merge = kernels[name]
            (files.merged if merge else files.linked)[path] = None
    for inner in core.walk():
        if inner.name == "func.call_indirect":
            warning(sink, inner, _INDIRECT)
    _set(core, "link_files", files.linked)
    _set(core, "link_merge_files", files.merged)


def _set(core: CoreOp, name: str, paths: dict[str, None]) -> None:
    if paths:
        core.properties[name] = ArrayAttr([StringAttr(path) for path in paths])


def _check_modes(device: DeviceOp, sink: Sink) -> None:
    """A file is merged by all cores of a device or by none: merged and linked, its symbols would exist twice."""
    linkers: dict[str, CoreOp] = {}
    mergers: dict[str, CoreOp] = {}
    for core in device.ops_of(CoreOp):
        assert isinstance(core, CoreOp)
        for path in core.link_files:
            linkers.setdefault(path, core)
        for path in core.link_merge_files:
            mergers.setdefault(path, core)
    for path, core in mergers.items():
        if path in linkers:
            text = (
                f"artifact '{path}' is merged into an LLVM module here but object-linked in the same aie.device; an "
                "artifact must use a single link mode across all cores of a device"
            )
            error(sink, core, text, [(f"artifact '{path}' is object-linked here", linkers[path])], code="E0702")
