"""The public door: all that a plugin, a script or our own command line needs.

A plugin implements hooks of `aiecc.hooks` with `@hookimpl`, adds stages with `@stage`, options with `@options`,
views with `@view`. A script calls `build(Request(...))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiecc.base.blob import Blob
from aiecc.base.diag import Diagnostic, Level, Note, Refused, Sink, refuse, render
from aiecc.base.spans import Span
from aiecc.choices import LowerOptions, ToolchainOptions
from aiecc.engine.build import Bug, Build, State
from aiecc.engine.options import option, options
from aiecc.engine.plugins import Plugins
from aiecc.engine.reads import CONTENT, Files
from aiecc.engine.run import Engine, Event
from aiecc.engine.scope import Ambient, Memo
from aiecc.engine.spec import hookimpl, hookspec, stage
from aiecc.engine.store import Store
from aiecc.engine.views import Content, View, plain_view, view
from aiecc.lineup import (
    KEYS,
    STAGE_WORDS,
    STAGES,
    identity_of,
    load_plugins,
    owned_views,
    toolchain_files,
    views,
    with_toolchains,
)
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

if TYPE_CHECKING:
    from aiecc.ir.passes.base import Pass
    from aiecc.ir.passes.base import option as pass_option
    from aiecc.ir.spans import copy_span, span_of
    from aiecc.ir.text import dump, load, print_module, thaw
    from aiecc.ir.verify import verify
    from aiecc.sim.npy import read_npy, write_npy
    from aiecc.sim.npy_types import npy_type
    from aiecc.tools.native import native_library
    from aiecc.tools.workshop import Workshop

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
    "LowerOptions",
    "Lowered",
    "Memo",
    "Module",
    "Note",
    "Output",
    "Pass",
    "Placement",
    "Refused",
    "Request",
    "Result",
    "Runtime",
    "SequenceId",
    "Simulation",
    "Simulator",
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
    "ToolchainOptions",
    "View",
    "Workshop",
    "build",
    "copy_span",
    "dump",
    "hookimpl",
    "hookspec",
    "load",
    "load_plugins",
    "lower_design",
    "native_library",
    "npy_type",
    "option",
    "options",
    "pass_option",
    "place_tile",
    "place_tiles",
    "print_module",
    "read_npy",
    "refuse",
    "render",
    "span_of",
    "stage",
    "targets",
    "thaw",
    "toolchain_files",
    "verify",
    "view",
    "views",
    "write_npy",
]


_LATER = {
    "Pass": "aiecc.ir.passes.base",
    "copy_span": "aiecc.ir.spans",
    "Workshop": "aiecc.tools.workshop",
    "dump": "aiecc.ir.text",
    "load": "aiecc.ir.text",
    "native_library": "aiecc.tools.native",
    "npy_type": "aiecc.sim.npy_types",
    "pass_option": "aiecc.ir.passes.base:option",
    "print_module": "aiecc.ir.text",
    "read_npy": "aiecc.sim.npy",
    "span_of": "aiecc.ir.spans",
    "thaw": "aiecc.ir.text",
    "verify": "aiecc.ir.verify",
    "write_npy": "aiecc.sim.npy",
}
"""What comes with xDSL, or starts tools: only plugins that work on IR, or run something, should wait for it. A name
behind a colon is what it is called there.
"""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        module, _, theirs = _LATER[name].partition(":")
        return getattr(import_module(module), theirs or name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def place_tiles(
    lowered: Lowered,
    measured: Mapping[CoreId, CoreMeasure | None],
    solve: Callable[[TileProblem], TileLayout],
) -> Placement:
    """For placers of one's own (`aiecc_place`): the design placed with `solve`, which is asked for one tile at a time.

    `solve` calls `refuse` where a tile cannot be placed. Every layout is checked by the judge, which shares no code
    with any search; an illegal one is a ValueError.
    """
    from aiecc.ir.place_design import place_design
    from aiecc.place.judge import judge

    def solved(device: DeviceId, problem: TileProblem) -> TileLayout | Iterable[Diagnostic]:
        try:
            layout = solve(problem)
        except Refused as refused:
            return refused.diagnostics
        if faults := judge(problem, layout):
            raise ValueError(f"tile ({problem.col}, {problem.row}) of device '{device}': " + "; ".join(faults))
        return layout

    found = place_design(lowered, measured, solved)
    if not isinstance(found, Placement):
        raise Refused(*found)
    return found


def place_tile(problem: TileProblem) -> TileLayout:
    """For plugins with memories of their own: one memory placed by our search. Raises `Refused` in words why not."""
    from aiecc.place.solve import solve

    answer = solve(problem)
    if not isinstance(answer, TileLayout):
        raise Refused(*answer.diagnostics)
    return answer


def lower_design(module: Module, lower: LowerOptions, diag: Sink) -> Lowered | None:
    """For plugins that make a design of something else (`aiecc_lower`): what our own lowering makes of the design."""
    from aiecc.stages.lower import aiecc_lower

    return aiecc_lower(module, lower, diag)


@dataclass(frozen=True)
class Simulation:
    """What `aiecc simulate` was asked to run. `args`, `arg_outs`: by number, as given: a file, or what else the
    simulator takes. `device`, `sequence`: which, when the user names one. `work`: where builds may keep what they make.
    """

    source: Source
    plugins: Plugins
    work: Path
    args: Mapping[int, str] = field(default_factory=dict[int, str])
    arg_outs: Mapping[int, str] = field(default_factory=dict[int, str])
    device: str = ""
    sequence: str = ""
    dtype: str = ""


@dataclass(frozen=True)
class Simulator:
    """What `aiecc simulate` runs designs with that have no `aie.device` (`aiecc_simulators`).

    `accepts`: whether it runs this module. `run`: does so, prints its report, and says whether all ended well; raises
    `Refused` for what cannot be run.
    """

    name: str
    accepts: Callable[[Module], bool]
    run: Callable[[Simulation], bool]


@dataclass(frozen=True)
class Request:
    """What to build. `get`: names of views or artifacts; empty: the core ELFs, checked.

    `options`: instances of `@options` classes, defaults otherwise. `jobs`: 0 means one per CPU. `devices`: only this
    device, and reset devices whose names start with `empty_`. `names`: what files of views are called instead, with
    `{0}` for the key, by the view's name.
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
    names: Mapping[str, str] = field(default_factory=dict[str, str])


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
    bugs: tuple[Bug, ...] = ()
    """What stages and views raised and must not raise."""

    @property
    def ok(self) -> bool:
        return self.build.ok and not self.bugs and not any(d.is_error for d in self.diagnostics)


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
        owned = owned_views(plugins)
        self.views = {
            name: replace(found, name=request.names.get(name, found.name)) for name, (_, found) in owned.items()
        }
        self._owners = {name: plugin for name, (plugin, _) in owned.items()}
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
            options=with_toolchains(request.options, toolchain_files(plugins)),
            ambients=ambients,
            roots=("source",),
            names={"Files": Files, "Memo": Memo, "Store": Store, "Workshop": Workshop},
            command_type=Command,
            jobs=request.jobs,
            identity=identity_of(plugins),
            on_event=on_event,
            on_cancel=self.runner.cancel,
        )

    @property
    def wanted(self) -> list[View]:
        """The views asked for, with `dump` all others behind them. An artifact without a view is shown as it is."""
        asked = self._asked
        return [*asked, *(v for v in self.views.values() if self.request.dump and v not in asked)]

    @cached_property
    def _asked(self) -> list[View]:
        return [self._view(name) for name in dict.fromkeys(self.request.get or (DEFAULT,))]

    def _view(self, name: str) -> View:
        nodes = self.engine.graph.nodes
        found = self.views.get(name)
        if found is None and name not in nodes:
            known = "\n".join(f"  {n}" for n in sorted([*self.views, *nodes]))
            refuse(f"aiecc: --get: unknown output '{name}'; known outputs are:\n{known}", code="E0901")
        if found is None:
            return plain_view(name, KEYS.kinds.get(nodes[name].product_kind or ""))
        found.check(KEYS, {a: n.product_kind for a, n in nodes.items()}, ("source",), self._owners[name])
        return found

    @property
    def artifacts(self) -> tuple[str, ...]:
        """What must be made."""
        return tuple(dict.fromkeys(a for v in self.wanted for a in v.artifacts(KEYS)))

    def run(self) -> Result:
        """Build, then write what was asked for. Everything that goes wrong is in the result."""
        wanted = self.artifacts  # unknown names are refused before anything runs
        built = self.engine.build(wanted, {"source": self.request.source}, self._selected)
        result = Result(built, diagnostics=built.diagnostics, bugs=built.bugs)
        if built.interrupted or built.bugs:
            return result
        try:
            self._check_selection(result)
            self._deliver(result)
        except Refused as refused:
            result.diagnostics = (*result.diagnostics, *refused.diagnostics)
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

    def _check_selection(self, result: Result) -> None:
        """A device or sequence that was named must be there."""
        lowered: Lowered | None = result.build.get("lowered")
        if lowered is None:
            return
        devices = [d.id.name for d in lowered.design.devices]
        among = [d for d in lowered.design.devices if self._selected("device", d.id)]
        # Devices may have sequences of the same name.
        sequences = list(dict.fromkeys(s.name for d in among for s in d.sequences))
        for flag, what, name, there in (
            ("--device-name", "device", self.request.device, devices),
            ("--sequence-name", "runtime sequence", self.request.sequence, sequences),
        ):
            if name and name not in there:
                known = f"it has {', '.join(there)}" if there else "it has none"
                text = f"aiecc: {flag}: no {what} '{name}' in '{self.request.source.path}'; {known}"
                refuse(text, code="E0901")

    def _deliver(self, result: Result) -> None:
        """Write the views. When the build failed, a dump shows how far it came; nothing goes to the output folder."""
        from aiecc.report.deliver import Parcel, deliver

        asked = self._asked
        parcels: list[Parcel] = []
        for each in self.wanted:
            if not result.build.ok and (each in asked or each.also):
                continue
            folder = self.request.output if each in asked else self.request.work
            try:
                parcels += [Parcel(folder / file, each.name, c) for file, c in self._contents(each, result.build)]
            except Refused:
                if each in asked:  # a dump has what there is
                    raise
            except (Exception, SystemExit) as problem:  # a view may be a plugin's code
                result.bugs = (*result.bugs, self._bug(each, problem))
        if not result.bugs:
            inputs = [self.request.source.path, *(r.path for r in result.build.reads if r.mode == CONTENT)]
            result.outputs += [Output(path, found) for path, found in deliver(parcels, inputs)]

    def _contents(self, each: View, built: Build) -> list[tuple[Path, Content]]:
        lowered: Lowered | None = built.get("lowered")
        kind = each.kind(KEYS)
        members = [] if lowered is None or kind is None else lowered.members(kind)
        kinds = {a: n.product_kind for a, n in self.engine.graph.nodes.items()}
        found = list(each.contents(built, KEYS, kinds, [k for k in members if self._selected(kind or "", k)]))
        if len({path for path, _ in found}) < len(found):
            todo = "put {0} into the name: it stands for what tells them apart"
            refuse(f"aiecc: {len(found)} files would all be called '{found[0][0]}'", code="E0901", todo=todo)
        return found

    def _bug(self, each: View, problem: BaseException) -> Bug:
        import traceback

        owner = self._owners.get(each.name, "")
        text = "".join(traceback.format_exception_only(problem)).strip()
        return Bug(f"view {each.name}", "", owner, text, "".join(traceback.format_exception(problem)), (owner,))


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
