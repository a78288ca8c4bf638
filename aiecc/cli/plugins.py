"""`aiecc plugins`: who takes part in a build, and who stands in line at each stage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiecc.base.codes import Exit

if TYPE_CHECKING:
    from aiecc.cli.flags import Additions
    from aiecc.engine.plugins import Plugins

USAGE = """usage: aiecc plugins [-p MODULE|FILE.py|no:NAME ...]

Lists plugins (name, version, where from, loaded or why not, what they bring), then every stage with those who are
asked, in order: wrappers, the implementation, and fallbacks that are asked when it declines."""


def run(args: Sequence[str]) -> int:
    """Print both tables. A plugin that cannot be loaded is a row, never an error: this is where one looks then."""
    if "--help" in args or "-h" in args:
        print(USAGE)
        return Exit.OK
    from aiecc.api import STAGE_WORDS, STAGES, load_plugins
    from aiecc.cli.additions import additions
    from aiecc.cli.flags import DriverOptions
    from aiecc.cli.parse import parse_command

    parsed = parse_command("aiecc plugins", args, (DriverOptions,), positional=False)
    plugins = load_plugins(parsed.options[DriverOptions].plugins, strict=False)
    more = additions(plugins, strict=False)  # first, since it leaves out who brings what is taken
    brought = _brought(plugins, more)
    print("plugins")
    for row in plugins.rows():
        if row.name in STAGES and row.status == "loaded":
            continue
        state = f"{row.status}: {row.why}" if row.why else row.status
        hooks = f"  ({', '.join(row.hooks)})" if row.hooks else ""
        print(f"  {row.name} {row.version or '-'}  {row.origin or '-'}  {state}{hooks}")
        if brought.get(row.name) and row.status == "loaded":
            print(f"      brings {', '.join(brought[row.name])}")
    print(f"  aiecc: {len(STAGES)} stages of our own, asked last")
    print("\nstages")
    for contract in plugins.stages(STAGE_WORDS):
        line = [f"{s.plugin} ({s.role})" for s in plugins.line(contract.hook)]
        print(f"  {contract.label:<12} gives {contract.gives:<12} {' > '.join(line) or 'nobody'}")
    return Exit.OK


def _brought(plugins: Plugins, more: Additions) -> dict[str, list[str]]:
    """What each plugin brings beside its stages, in words."""
    from aiecc.api import owned_views
    from aiecc.engine.options import options_of

    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, (plugin, _) in owned_views(plugins, strict=False).items():
        found[plugin].append(f"view {name}")
    for cls, plugin in more.options.items():
        found[plugin] += [f"option {spec.flags[0]}" for spec in options_of(cls) if not spec.hidden]
    titles: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
        ("aiecc_toolchains", "toolchain", lambda file: Path(file).stem),
        ("aiecc_targets", "device", lambda target: target.name),
        ("aiecc_dialects", "dialect", lambda pair: pair[0]),
        ("aiecc_passes", "pass", lambda cls: cls.name),
    )
    for hook, word, name_of in titles:
        for plugin, things in plugins.ask(hook, strict=False):
            found[plugin] += [f"{word} {name_of(thing)}" for thing in things]
    return found
