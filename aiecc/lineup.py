"""Who takes part in a build: our stages, plugins, and all that plugins bring. Read `load_plugins` first."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiecc import __version__, hooks
from aiecc.base.diag import Refused, refuse
from aiecc.base.digest import digest
from aiecc.base.ours import OURS
from aiecc.choices import ToolchainOptions
from aiecc.engine.keys import KeySpace
from aiecc.engine.plugins import Plugins
from aiecc.engine.views import View
from aiecc.model import targets
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId
from aiecc.model.targets import Target

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
    "sequence",
    "instructions",
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
    builtin = [(each.name, each.module) for each in OURS]
    stages = [(name, f"aiecc.stages.{name}") for name in STAGES]
    plugins.load(stages, builtin=builtin, version=__version__, strict=strict)
    for name, found in plugins.ask("aiecc_stages", strict=strict):
        with _blamed(plugins, name, strict):
            plugins.add_specs(found, by=name)
            plugins.stages(STAGE_WORDS)  # so that annotations which mean nothing are told now
    plugins.check(strict=strict)
    _register(plugins, strict)
    return plugins


def _register(plugins: Plugins, strict: bool) -> None:
    """Devices, toolchain files, dialects and passes that plugins bring. The reader asks ours itself, when it must."""
    blocked = [each.name for each in OURS if plugins.is_blocked(each.name)]
    if blocked or "aiecc.ir.registry" in sys.modules:  # else nothing is withheld, and xDSL need not come for that
        from aiecc.ir.registry import withhold

        withhold(blocked)
    for name, found in plugins.ask("aiecc_targets", strict=strict):
        with _blamed(plugins, name, strict):
            for target in _listed(name, "aiecc_targets", found, Target):
                try:
                    targets.register(target)
                except ValueError as problem:
                    refuse(f"plugin '{name}': {problem}", code="E0902")
    toolchain_files(plugins, strict=strict)
    for hook, install in (("aiecc_dialects", _install_dialects), ("aiecc_passes", _install_passes)):
        for name, found in plugins.ask(hook, strict=strict, without=[each.name for each in OURS]):
            with _blamed(plugins, name, strict):
                install(name, found)


def toolchain_files(plugins: Plugins, *, strict: bool = True) -> tuple[str, ...]:
    """The toolchain files that plugins bring."""
    files: list[str] = []
    for name, found in plugins.ask("aiecc_toolchains", strict=strict):
        with _blamed(plugins, name, strict):
            files += [str(path) for path in _listed(name, "aiecc_toolchains", found, str | Path)]
    return tuple(files)


def _install_dialects(plugin: str, found: Any) -> None:
    from aiecc.ir.registry import install

    pairs = _listed(plugin, "aiecc_dialects", found, tuple)
    if any(len(p) != 2 or not isinstance(p[0], str) or not callable(p[1]) for p in pairs):
        refuse(f"plugin '{plugin}': aiecc_dialects gives pairs of a name and a function", code="E0902")
    install([pairs], [])


def _install_passes(plugin: str, found: Any) -> None:
    from aiecc.ir.passes.base import Pass
    from aiecc.ir.registry import install

    classes = _listed(plugin, "aiecc_passes", found, type)
    if any(not issubclass(c, Pass) for c in classes):
        refuse(f"plugin '{plugin}': aiecc_passes gives subclasses of aiecc.api.Pass", code="E0902")
    install([], [classes])


def _listed(plugin: str, hook: str, found: Any, kind: Any) -> list[Any]:
    """What a registration hook answered, as a list; a wrong answer is the plugin's."""
    if isinstance(found, str | bytes) or not isinstance(found, Iterable):
        refuse(f"plugin '{plugin}': {hook} gives a list, not a {type(found).__name__}", code="E0902")
    items = list(found)
    for item in items:
        if not isinstance(item, kind):
            wanted = getattr(kind, "__name__", str(kind))
            refuse(f"plugin '{plugin}': {hook} gives {wanted} objects, not a {type(item).__name__}", code="E0902")
    return items


@contextmanager
def _blamed(plugins: Plugins, name: str, strict: bool) -> Generator[None]:
    """A refusal of what a plugin brings; without `strict` the plugin is left out instead."""
    try:
        yield
    except Refused as refused:
        if strict:
            raise
        plugins.drop(name, refused.diagnostics[0].text)


def views(plugins: Plugins) -> dict[str, View]:
    """All views by name; two of one name are refused."""
    return {name: found for name, (_, found) in owned_views(plugins).items()}


def owned_views(plugins: Plugins, *, strict: bool = True) -> dict[str, tuple[str, View]]:
    """All views by name, ours first, each with the plugin that brings it."""
    found: dict[str, tuple[str, View]] = {}
    for plugin, group in sorted(plugins.ask("aiecc_views", strict=strict), key=lambda answer: answer[0] not in STAGES):
        with _blamed(plugins, plugin, strict):
            theirs: dict[str, View] = {}
            for each in _listed(plugin, "aiecc_views", group, View):
                if theirs.setdefault(each.name, each) is not each:
                    refuse(f"plugin '{plugin}' brings two views named '{each.name}'", code="E0902")
                if each.name in found:
                    other = found[each.name][0]
                    refuse(f"plugins '{plugin}' and '{other}' both bring a view named '{each.name}'", code="E0902")
            found |= {name: (plugin, each) for name, each in theirs.items()}
    return found


def with_toolchains(options: Iterable[Any], files: tuple[str, ...]) -> list[Any]:
    """The options of the build, with the toolchain files of plugins among them."""
    cls: type[Any] = ToolchainOptions
    given = {type(o): o for o in options}
    return list({**given, cls: replace(given.get(cls, cls()), offered=files)}.values())


def identity_of(plugins: Plugins) -> str:
    """What every product depends on beside its stage: our own code, and plugins that change how designs are read."""
    from aiecc.engine.identity import package_digest

    hooks = ("aiecc_dialects", "aiecc_targets")
    # A device may come from a file that lies apart from its plugin's sources.
    devices = targets.names() if plugins.line("aiecc_targets") else ()
    parts = [s.digest for hook in hooks for s in plugins.line(hook)]
    return digest(package_digest(), *parts, *(targets.get(name).fingerprint for name in devices))
