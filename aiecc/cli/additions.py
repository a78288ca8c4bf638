"""Plugins on the command line: who was invited, what they add to it, and the refusal of what is taken already."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aiecc.base.diag import refuse
from aiecc.cli.flags import SELECTORS, STAGE_OPTIONS, Additions, DriverOptions
from aiecc.cli.parse import spellings
from aiecc.engine.entrypoints import entry_points
from aiecc.engine.options import is_options

if TYPE_CHECKING:
    from aiecc.engine.plugins import Plugins


def invited(requests: Sequence[str], *, strict: bool = True, ours: bool = False) -> Plugins | None:
    """Everybody who takes part, or None, at hardly any cost, when that is only us. `requests`: the values of `-p`.

    `ours`: the plugins that come with the house count as guests, too: what they add to the command line is wanted.
    """
    if not requests and not ours and not entry_points("aiecc"):
        if "aiecc.ir.registry" in sys.modules:  # a process may have run another command before
            from aiecc.ir.registry import withhold

            withhold(())
        return None
    from aiecc.api import load_plugins

    return load_plugins(requests, strict=strict)


def additions(plugins: Plugins, *, strict: bool = True) -> Additions:
    """Options classes of the stages that plugins add, and short words of their views.

    With `strict=False` a plugin that claims what is taken is left out instead of refused.
    """
    return Additions(_options(plugins, strict), _selectors(plugins, strict))


def _options(plugins: Plugins, strict: bool) -> dict[type, str]:
    from aiecc.api import STAGE_WORDS

    ours = (DriverOptions, *STAGE_OPTIONS)
    taken = dict.fromkeys((flag for cls in ours for flag in spellings(cls)), "aiecc")
    taken |= dict.fromkeys(("-h", "--help", "--no-help"), "aiecc")
    found: dict[type, str] = {}
    for contract in plugins.stages(STAGE_WORDS):
        for param in contract.params:
            if not is_options(param.type) or param.type in found or param.type in ours:
                continue
            plugin = plugins.adder(contract.hook)
            for flag in spellings(param.type):
                owner = taken.setdefault(flag, plugin)
                if owner != plugin:
                    whose = "aiecc's own" if owner == "aiecc" else f"also one of plugin '{owner}'"
                    _unfit(plugins, plugin, f"plugin '{plugin}': its option {flag} is {whose}", strict)
                    break
            else:
                found[param.type] = plugin
    return found


def _selectors(plugins: Plugins, strict: bool) -> dict[str, str]:
    from aiecc.api import owned_views

    found: dict[str, str] = {}
    for name, (plugin, view) in owned_views(plugins, strict=strict).items():
        other = {**SELECTORS, **found}.get(view.short, name) if view.short else name
        if other != name:
            text = f"plugin '{plugin}': --get-{view.short} stands for '{other}' already"
            _unfit(plugins, plugin, text, strict)
        elif view.short and view.short not in SELECTORS:
            found[view.short] = name
    return found


def _unfit(plugins: Plugins, plugin: str, text: str, strict: bool) -> None:
    if strict:
        refuse(text, code="E0902", todo=f"leave it out with -p no:{plugin}")
    plugins.drop(plugin, text)
