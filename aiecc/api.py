"""The public door: all that a plugin, a script or our own command line needs.

A plugin implements hooks of `aiecc.hooks` with `@hookimpl`, adds stages with `@stage`, options with `@options`,
views with `@view`. A script calls `build(Request(...))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiecc import __version__, hooks
from aiecc.base.blob import Blob
from aiecc.base.diag import Diagnostic, Level, Note, Refused, Sink, refuse, render
from aiecc.base.spans import Span
from aiecc.engine.build import Build, State
from aiecc.engine.keys import KeySpace
from aiecc.engine.options import option, options
from aiecc.engine.plugins import Plugins
from aiecc.engine.reads import Files
from aiecc.engine.run import Engine, Event
from aiecc.engine.scope import Ambient, Memo
from aiecc.engine.spec import hookimpl, hookspec, stage
from aiecc.engine.store import Store
from aiecc.engine.views import Content, View, plain_view, view
from aiecc.model import targets
from aiecc.model.artifact import Module, Source
from aiecc.model.build import (
    CoreElf,
    CoreObject,
    CoreReport,
    LinkInput,
    LinkKind,
    LinkScript,
    LlvmIr,
    Lowered,
    Placement,
    Runtime,
)
from aiecc.model.command import Command
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId
from aiecc.model.measure import CoreMeasure, DataMeasure, StackMeasure
from aiecc.model.memory import Extent, Kind, StackExtent, TileLayout, TileProblem
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain

__all__ = [
    "KEYS",
    "STAGES",
    "STAGE_WORDS",
    "Blob",
    "Build",
    "Command",
    "Content",
    "CoreElf",
    "CoreId",
    "CoreMeasure",
    "CoreObject",
    "CoreReport",
    "DataMeasure",
    "DeviceId",
    "Diagnostic",
    "Event",
    "Extent",
    "Files",
    "KernelId",
    "Kind",
    "Level",
    "LinkInput",
    "LinkKind",
    "LinkScript",
    "LlvmIr",
    "Lowered",
    "Memo",
    "Module",
    "Note",
    "Output",
    "Placement",
    "Refused",
    "Request",
    "Result",
    "Runtime",
    "SequenceId",
    "Sink",
    "Source",
    "Span",
    "StackExtent",
    "StackMeasure",
    "State",
    "Store",
    "Target",
    "TileLayout",
    "TileProblem",
    "Toolchain",
    "View",
    "build",
    "hookimpl",
    "hookspec",
    "load_plugins",
    "option",
    "options",
    "refuse",
    "render",
    "stage",
    "targets",
    "view",
    "views",
]

# Our own plugins that implement the stages, in the order of the page of hooks.
STAGES = (
    "tools",
    "parse",
    "lower",
    "outline",
    "translate",
    "runtime",
    "kernel",
    "compile",
    "probe",
    "measure",
    "place",
    "script",
    "link",
    "check",
    "emit",
)


# Words any stage may take as a parameter, beside keys, options and artifacts.
STAGE_WORDS = ("diag", "files", "store", "memo", "run", "target", "search")


def _device_of(key: Any) -> DeviceId:
    return DeviceId(key.device)


KEYS = KeySpace(
    artifact="lowered",
    kinds={"device": DeviceId, "core": CoreId, "kernel": KernelId, "sequence": SequenceId},
    parents=dict.fromkeys(("core", "kernel", "sequence"), ("device", _device_of)),
    members=lambda lowered, kind, within: lowered.members(kind, within),
)


def load_plugins(requests: Sequence[str] = (), *, strict: bool = True) -> Plugins:
    """Everybody who takes part: plugins of `-p`, installed ones, and our own stages, asked last.

    With `strict=False` a plugin that cannot be used becomes a row that says why instead of an error.
    """
    plugins = Plugins(requests)
    plugins.add_specs(hooks)
    plugins.load([(name, f"aiecc.stages.{name}") for name in STAGES], version=__version__, strict=strict)
    for found in plugins.hook.aiecc_stages():
        plugins.add_specs(found, by=_owner(plugins, found))
    plugins.check()
    for found in plugins.hook.aiecc_targets():
        for target in found:
            targets.register(target)
    return plugins


def _owner(plugins: Plugins, namespace: Any) -> str:
    module = getattr(namespace, "__module__", None) or getattr(namespace, "__name__", "")
    return next((row.name for row in plugins.rows() if module.partition(".")[0] == row.name), module)


def views(plugins: Plugins) -> dict[str, View]:
    """All views by name; two of one name are refused."""
    found: dict[str, View] = {}
    for group in plugins.hook.aiecc_views():
        for each in group:
            if found.setdefault(each.name, each) is not each:
                refuse(f"two plugins bring a view named '{each.name}'", code="E0902")
    return found


@dataclass(frozen=True)
class Request:
    """What to build. `get`: names of views or artifacts; empty: the core ELFs, checked.

    `options`: instances of `@options` classes, defaults otherwise. `jobs`: 0 means one per CPU. `devices`: only this
    device, and reset devices whose names start with `empty_`.
    """

    source: Source
    work: Path
    output: Path
    get: tuple[str, ...] = ()
    options: tuple[Any, ...] = ()
    jobs: int = 0
    device: str = ""
    sequence: str = ""
    dump: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """A file written for the user."""

    path: Path
    digest: str


@dataclass(slots=True)
class Result:
    """What a build came to. `outputs` are complete; none is half-written."""

    build: Build
    outputs: list[Output] = field(default_factory=list[Output])
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        return self.build.ok and not any(d.is_error for d in self.diagnostics)


DEFAULT = "elfs_{0}.elf"


class Session:
    """A set of plugins and a work folder, ready to build. `runner` starts the external programs."""

    def __init__(
        self,
        plugins: Plugins,
        request: Request,
        *,
        on_event: Callable[[Event], None] = lambda event: None,
        echo: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        from aiecc.tools.run import Runner
        from aiecc.tools.workshop import Workshop

        self.request = request
        self.views = views(plugins)
        self.runner = Runner(echo)
        self.store = Store(request.work)
        ambients = {
            "target": Ambient(
                make=lambda scope: _target(scope.key, scope.get),
                digest=lambda key, get: _target(key, get).fingerprint,
                needs=("lowered",),
            ),
            "run": Ambient(make=lambda scope: Workshop(self.runner, scope.store, scope.log)),
            "search": Ambient(make=lambda scope: _search(request), digest=lambda key, get: repr(_search(request))),
        }
        self.engine = Engine(
            plugins,
            self.store,
            KEYS,
            options=request.options,
            ambients=ambients,
            roots=("source",),
            names={"Files": Files, "Memo": Memo, "Store": Store, "Workshop": Workshop},
            command_type=Command,
            jobs=request.jobs,
            on_event=on_event,
            on_cancel=self.runner.cancel,
        )

    @property
    def wanted(self) -> list[View]:
        """The views asked for, with `dump` all others behind them. An artifact without a view is shown as it is."""
        asked = [self._view(name) for name in self.request.get or (DEFAULT,)]
        return [*asked, *(v for v in self.views.values() if self.request.dump and v not in asked)]

    def _view(self, name: str) -> View:
        if name in self.views:
            return self.views[name]
        node = self.engine.graph.nodes.get(name)
        if node is None:
            known = "\n".join(f"  {n}" for n in sorted([*self.views, *self.engine.graph.nodes]))
            refuse(f"aiecc: --get: unknown output '{name}'; known outputs are:\n{known}", code="E0901")
        return plain_view(name, KEYS.kinds.get(node.product_kind or ""))

    @property
    def artifacts(self) -> tuple[str, ...]:
        """What must be made."""
        return tuple(dict.fromkeys(a for v in self.wanted for a in v.artifacts(KEYS)))

    def run(self) -> Result:
        """Build, then write what was asked for. Everything that goes wrong is in the result."""
        wanted = self.wanted
        built = self.engine.build(self.artifacts, {"source": self.request.source}, self._selected)
        result = Result(built, diagnostics=built.diagnostics)
        if built.ok or self.request.dump:
            self._write(wanted, result)
        return result

    def blob(self, name: str) -> bytes:
        """The content of a blob that a command took: a digest and the file's suffix."""
        found, dot, suffix = name.partition(".")
        return self.store.blob_path(found, dot + suffix).read_bytes()

    def _selected(self, kind: str, key: Any) -> bool:
        device, sequence = self.request.device, self.request.sequence
        name = key.name if kind == "device" else key.device
        if device and name != device and not name.startswith("empty_"):
            return False
        return not (kind == "sequence" and sequence and key.name != sequence)

    def _write(self, wanted: Iterable[View], result: Result) -> None:
        from aiecc.report.write import write

        lowered = result.build.get("lowered")
        kinds = {a: n.product_kind for a, n in self.engine.graph.nodes.items()}
        asked = len(self.request.get) or 1
        done: dict[Path, str] = {}
        for number, each in enumerate(wanted):
            folder = self.request.output if number < asked else self.request.work
            kind = each.kind(KEYS)
            members = [] if lowered is None or kind is None else lowered.members(kind)
            keys = [k for k in members if self._selected(kind or "", k)]
            for file, content in each.contents(result.build, KEYS, kinds, keys):
                path = folder / file
                if done.setdefault(path, each.name) != each.name:
                    refuse(f"aiecc: edge '{each.name}' produced duplicate output path '{path}'", code="E0903")
                if content is not None:
                    result.outputs.append(Output(path, write(path, content)))


def _target(key: Any, get: Callable[[str], Any]) -> Target:
    device = key if isinstance(key, DeviceId) else DeviceId(key.device)
    return targets.get(get("lowered").design.device(device.name).target)


def _search(request: Request) -> tuple[str, ...]:
    """Folders in which link files are looked for, upstream's order: current, work, the design's."""
    return tuple(dict.fromkeys((str(Path.cwd()), str(request.work), str(Path(request.source.path).absolute().parent))))


def build(
    request: Request, plugins: Plugins | None = None, on_event: Callable[[Event], None] = lambda event: None
) -> Result:
    """Build a design. Raises `Refused` for what cannot even be started: unknown names, plugins that do not fit."""
    return Session(plugins or load_plugins(), request, on_event=on_event).run()
