"""Plugins: found, loaded, blocked, and who stands in line at each stage.

Entry points of the group `aiecc`, `-p MODULE`, `-p FILE.py`; `-p no:NAME` blocks one without importing it. Nothing in
the current folder runs unasked. The host's own implementations are asked last, whatever a plugin says.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from aiecc.base.diag import Note, Refused, refuse
from aiecc.base.digest import digest
from aiecc.base.nearest import did_you_mean
from aiecc.engine.entrypoints import EntryPoint, entry_points
from aiecc.engine.guest import failed, import_file, last_line, own_frame, returns_nothing
from aiecc.engine.identity import module_digest, package_digest, source_files, source_root
from aiecc.engine.reads import CONTENT, Read, state_of
from aiecc.engine.spec import PROJECT, Contract, is_stage, read_contract

_PREFIX = f"{PROJECT}_"
_SPEC = f"{PROJECT}_spec"


@dataclass(slots=True)
class Row:
    """A plugin as `aiecc plugins` shows it. `status` is `loaded`, `blocked` or `failed`; `why` says why it failed."""

    name: str
    version: str
    origin: str
    status: str
    why: str = ""
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stander:
    """One who stands in line at a hook. `role`: `wrapper`, `implementation`, or `fallback` (asked if those before
    decline). `digest` is its version: the plugin's version and the content of its sources."""

    plugin: str
    role: str
    function: str
    digest: str
    code: Any = field(repr=False, default=None)
    """The code object, to tell from a traceback whose fault it was."""


class _Manager(pluggy.PluginManager):
    """pluggy, except that the host's own implementations are marked `trylast`."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.ours: object = None

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        options = super().parse_hookimpl_opts(plugin, name)
        if options is None or plugin is not self.ours:
            return options
        return {**options, "trylast": True, "tryfirst": False}


class Plugins:
    """The plugin manager of one build.

    `requests` are the values of `-p`. First `add_specs`, then `load`, then `add_specs` for stages that plugins bring,
    then `check`.
    """

    def __init__(self, requests: Sequence[str] = (), group: str = PROJECT) -> None:
        self._manager = _Manager()
        self._group = group
        self._wanted = [r for r in requests if not r.startswith("no:")]
        self._blocked = {r[3:] for r in requests if r.startswith("no:")}
        self._rows: dict[str, Row] = {}
        self._digests: dict[str, str] = {}
        self._hooks: list[str] = []
        self._stages: dict[str, Callable[..., Any]] = {}
        self._added: dict[str, str] = {}
        self._lines: dict[str, tuple[Stander, ...]] = {}

    @property
    def hook(self) -> Any:
        """Call a hook: `plugins.hook.aiecc_probe(core=..., ...)`."""
        return self._manager.hook

    def is_blocked(self, name: str) -> bool:
        """True when `-p no:NAME` was given."""
        return name in self._blocked

    # Specifications

    def add_specs(self, namespace: Any, by: str = PROJECT) -> None:
        """Add the hook specifications of a module or class, in the order they are written there. `by`: whose."""
        members: dict[str, Any] = getattr(namespace, "__dict__", {})
        found = [(name, value) for name, value in members.items() if hasattr(_bare(value), _SPEC)]
        if not found:
            refuse(f"plugin '{by}' adds stages from {_title(namespace)}, but there is none", code="E0902")
        for name, value in found:
            caller = getattr(self._manager.hook, name, None)
            if caller is not None and caller.has_spec():
                refuse(f"plugin '{by}' declares the hook {name}, which exists already", code="E0902")
            self._hooks.append(name)
            if by != PROJECT:
                self._added[name] = by
            if is_stage(_bare(value)):
                self._stages[name] = value
        try:
            self._manager.add_hookspecs(namespace)
        except pluggy.PluginValidationError as problem:
            self._refuse_hook(problem)
        self._lines.clear()

    def stages(self, ambients: Iterable[str], names: Mapping[str, Any] | None = None) -> tuple[Contract, ...]:
        """The contracts of all stages in the order they were declared; see `read_contract`."""
        words = frozenset(ambients)
        return tuple(self._contract(name, function, words, names) for name, function in self._stages.items())

    def _contract(self, name: str, function: Any, words: frozenset[str], names: Mapping[str, Any] | None) -> Contract:
        """A plugin's stage says whose it is: so does what is wrong with it."""
        by = self._added.get(name)
        if by is None:
            return read_contract(_bare(function), words, names)
        try:
            return replace(read_contract(_bare(function), words, names), where=f"plugin '{by}'")
        except Refused as refused:
            first = refused.diagnostics[0]
            raise Refused(replace(first, text=f"plugin '{by}': {first.text}")) from None

    # Loading

    def load(
        self,
        ours: Iterable[tuple[str, Any]] = (),
        *,
        builtin: Iterable[tuple[str, Any]] = (),
        version: str = "",
        installed: bool = True,
        strict: bool = True,
    ) -> None:
        """Load everybody: asked first are the plugins of `-p`, then those installed, `builtin` ones, and `ours`.

        `ours` and `builtin` are names with a module, or with a module's name, which is imported unless blocked;
        `version` is theirs. With `installed=False` no entry point is looked at. A plugin that cannot be used raises
        `Refused` (E0902); with `strict=False` it becomes a row that says why.
        """
        for name, target in builtin:
            self._take(name, target, version, PROJECT, strict)
        if installed:
            for point in entry_points(self._group):
                self._take(point.name, point, point.version, f"{point.dist} (entry point)", strict)
        for request in self._wanted:
            self._take_request(request, strict)
        for name, target in ours:
            self._take(name, target, version, PROJECT, strict, ours=True)
        for name in sorted(self._blocked - set(self._rows)):
            self._rows[name] = Row(name, "", "", "blocked")

    def _take_request(self, request: str, strict: bool) -> None:
        """One value of `-p`. Naming a plugin that is loaded anyway asks for nothing new."""
        if request.endswith(".py") or os.sep in request or "/" in request:
            name, target, origin = Path(request).stem, Path(request), request
        else:
            name, target, origin = request, request, f"-p {request}"
        row = self._rows.get(name)
        if row is not None and row.status == "loaded" and not isinstance(target, Path):
            return
        self._take(name, target, "", origin, strict)

    def _take(self, name: str, target: Any, version: str, origin: str, strict: bool, *, ours: bool = False) -> None:
        row = Row(name, version, origin, "loaded")
        if name in self._blocked:
            row.status = "blocked"
            self._rows.setdefault(name, row)
            return
        try:
            if self._manager.has_plugin(name):
                refuse(f"two plugins are named '{name}': {self._rows[name].origin} and {origin}", code="E0902")
            plugin = self._import(name, target, origin)
            if self._manager.is_registered(plugin):
                return
            row.version = version or str(getattr(plugin, "__version__", ""))
            self._register(plugin, row, ours)
        except Refused as refused:
            if strict:
                raise
            row.status, row.why = "failed", refused.diagnostics[0].text
            self._rows.setdefault(name, row)
            return
        self._rows[name] = row

    def _import(self, name: str, target: Any, origin: str) -> Any:
        try:
            if isinstance(target, EntryPoint):
                module, _, attribute = target.value.partition(":")
                found: Any = importlib.import_module(module.strip())
                for part in filter(None, attribute.split(".")):
                    found = getattr(found, part.strip())
                return found
            if isinstance(target, Path):
                return import_file(target)
            return importlib.import_module(target) if isinstance(target, str) else target
        except (Exception, SystemExit) as problem:  # a plugin's import may do anything
            refuse(
                f"plugin '{name}' cannot be loaded: {last_line(problem)}",
                code="E0902",
                notes=(Note(f"it comes from {origin}"), *own_frame(problem)),
                todo=f"repair or update it, or leave it out with -p no:{name}",
            )

    def _register(self, plugin: Any, row: Row, ours: bool) -> None:
        hooks = self._checked_hooks(plugin, row)
        self._manager.ours = plugin if ours else None
        try:
            self._manager.register(plugin, row.name)
        except pluggy.PluginValidationError as problem:
            self._manager.set_blocked(row.name)
            self._refuse_hook(problem, row.name)
        finally:
            self._manager.ours = None
        row.hooks = hooks
        sources = module_digest(_module(plugin))
        # The engine counts the host's own sources once for all stages; naming them again would only blur `why`.
        self._digests[row.name] = digest(row.version, "" if sources == package_digest() else sources)
        self._lines.clear()

    def _checked_hooks(self, plugin: Any, row: Row) -> tuple[str, ...]:
        """The hooks a plugin implements; refuses functions that look like one and are none."""
        hooks: list[str] = []
        for name in dir(plugin):
            options = self._manager.parse_hookimpl_opts(plugin, name)
            if options is not None:
                hooks.append(options.get("specname") or name)
                self._check_parameters(row.name, hooks[-1], _bare(getattr(plugin, name)))
                if options.get("wrapper") and returns_nothing(_bare(getattr(plugin, name))):
                    refuse(
                        f"plugin '{row.name}': its wrapper of {hooks[-1]} never returns anything",
                        code="E0902",
                        todo="end it with 'return X', X being what its 'yield' gave or something in its place",
                    )
                continue
            function = _bare(getattr(plugin, name, None)) if name.startswith(_PREFIX) else None
            if callable(function) and not isinstance(function, type) and not hasattr(function, _SPEC):
                refuse(
                    f"plugin '{row.name}': {name} is not marked as a hook implementation",
                    code="E0902",
                    todo="put @hookimpl above it, or give it a name that does not start with " + _PREFIX,
                )
        return tuple(hooks)

    def _check_parameters(self, plugin: str, hook: str, function: Any) -> None:
        caller = getattr(self._manager.hook, hook, None)
        if caller is None or not caller.has_spec():
            return
        offered = caller.spec.argnames
        code = function.__code__
        for name in code.co_varnames[: code.co_argcount]:
            if name not in offered and name != "self":
                refuse(
                    f"plugin '{plugin}': {hook} takes '{name}', which that hook does not offer"
                    + did_you_mean(name, offered),
                    code="E0902",
                    notes=(Note("it offers " + ", ".join(offered)),),
                )

    def check(self, *, strict: bool = True) -> None:
        """Refuse implementations of hooks that nobody declares; call it when all specifications are in.

        With `strict=False` their plugins are left out, and their rows say why.
        """
        known = [name for name, caller in vars(self._manager.hook).items() if name[0] != "_" and caller.has_spec()]
        for name, caller in sorted(vars(self._manager.hook).items()):
            if name[0] == "_" or caller.has_spec():
                continue
            for impl in caller.get_hookimpls():
                if impl.optionalhook:
                    continue
                text = f"plugin '{impl.plugin_name}' implements the hook {name}, which does not exist"
                text += did_you_mean(name, known)
                if strict:
                    todo = f"update the plugin, or leave it out with -p no:{impl.plugin_name}"
                    refuse(text, code="E0902", todo=todo)
                self.drop(impl.plugin_name, text)

    def drop(self, name: str, why: str) -> None:
        """Leave a plugin out after all, with the stages it adds; its row says why."""
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)
        for hook in [hook for hook, by in self._added.items() if by == name]:
            self._stages.pop(hook, None)
            self._hooks.remove(hook)
            del self._added[hook]
        row = self._rows[name]
        row.status, row.why = "failed", why
        self._lines.clear()

    def ask(self, hook: str, *, strict: bool = True, without: Collection[str] = ()) -> list[tuple[str, Any]]:
        """Ask everybody at a hook that registers something: (plugin, answer), in the order of the line.

        `without`: names of plugins that are not asked. What a plugin raises is refused in its name (E0902); with
        `strict=False` it is left out instead.
        """
        found: list[tuple[str, Any]] = []
        for impl in reversed(getattr(self._manager.hook, hook).get_hookimpls()):
            if impl.plugin_name in without:
                continue
            try:
                if impl.wrapper or impl.hookwrapper:
                    refuse(f"plugin '{impl.plugin_name}': {hook} cannot be wrapped", code="E0902")
                answer = impl.function()
                found.append((impl.plugin_name, list(answer) if inspect.isgenerator(answer) else answer))
            except (Exception, SystemExit) as problem:  # it is the plugin's code, and may raise anything
                diagnostic = failed(impl.plugin_name, hook, problem)
                if strict:
                    raise Refused(diagnostic) from None
                self.drop(impl.plugin_name, diagnostic.text)
        return found

    def _refuse_hook(self, problem: pluggy.PluginValidationError, name: str = "") -> None:
        name = name or self._manager.get_name(problem.plugin) or _title(problem.plugin)
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        refuse(f"plugin '{name}' cannot be used: {lines[-1]}", code="E0902", notes=[Note(line) for line in lines[:-1]])

    # Questions

    def hooks(self) -> tuple[str, ...]:
        """All hooks that are declared, in that order."""
        return tuple(self._hooks)

    def adder(self, hook: str) -> str:
        """The plugin that declares a hook; the host's own name for those of the host."""
        return self._added.get(hook, PROJECT)

    def rows(self) -> tuple[Row, ...]:
        """All plugins in the order they were met."""
        return tuple(self._rows.values())

    def line(self, hook: str) -> tuple[Stander, ...]:
        """Who stands in line at a hook, in the order they are called."""
        found = self._lines.get(hook)
        if found is None:
            caller = getattr(self._manager.hook, hook)
            found = self._lines[hook] = tuple(self._standers(reversed(caller.get_hookimpls())))
        return found

    def reads(self) -> tuple[Read, ...]:
        """The sources of all plugins but the host's own, for a snapshot."""
        own = source_root(sys.modules[PROJECT])
        roots = dict.fromkeys(source_root(_module(plugin)) for plugin in self._manager.get_plugins())
        files = {str(path) for root in roots if root not in (None, own) for path in source_files(root)}
        return tuple(Read(path, CONTENT, state_of(path, CONTENT)) for path in sorted(files))

    def _standers(self, impls: Iterable[Any]) -> Iterable[Stander]:
        first = True
        for impl in impls:
            wraps = impl.wrapper or impl.hookwrapper
            role = "wrapper" if wraps else "implementation" if first else "fallback"
            first = first and wraps
            function = _bare(impl.function)
            name = f"{function.__module__}.{function.__qualname__}"
            version = digest(self._digests[impl.plugin_name], function.__qualname__, self._elsewhere(impl))
            yield Stander(impl.plugin_name, role, name, version, function.__code__)

    @staticmethod
    def _elsewhere(impl: Any) -> str:
        """The sources of a hook function that a plugin took over from another module."""
        module = sys.modules.get(_bare(impl.function).__module__)
        return "" if module is None or module is _module(impl.plugin) else module_digest(module)


def _bare(value: Any) -> Any:
    return getattr(value, "__func__", value)


def _title(thing: Any) -> str:
    return getattr(thing, "__name__", None) or type(thing).__name__


def _module(plugin: Any) -> ModuleType:
    if isinstance(plugin, ModuleType):
        return plugin
    name = plugin.__module__ if isinstance(plugin, type) else type(plugin).__module__
    return sys.modules.get(name) or ModuleType(name)
