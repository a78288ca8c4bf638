"""`aiecc plugins`: who takes part in a build, and who stands in line at each stage."""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.base.codes import Exit

USAGE = """usage: aiecc plugins [-p MODULE|FILE.py|no:NAME ...]

Lists plugins (name, version, where from, loaded or why not), then every stage with those who are asked, in order:
wrappers, the implementation, and fallbacks that are asked when it declines."""


def run(args: Sequence[str]) -> int:
    """Print both tables. A plugin that cannot be loaded is a row, never an error: this is where one looks then."""
    if "--help" in args or "-h" in args:
        print(USAGE)
        return Exit.OK
    from aiecc.api import STAGE_WORDS, STAGES, load_plugins
    from aiecc.cli.flags import DriverOptions
    from aiecc.cli.parse import parse_command

    parsed = parse_command("aiecc plugins", args, (DriverOptions,), positional=False)
    plugins = load_plugins(parsed.options[DriverOptions].plugins, strict=False)
    print("plugins")
    for row in plugins.rows():
        if row.name in STAGES and row.status == "loaded":
            continue
        state = f"{row.status}: {row.why}" if row.why else row.status
        hooks = f"  ({', '.join(row.hooks)})" if row.hooks else ""
        print(f"  {row.name} {row.version or '-'}  {row.origin or '-'}  {state}{hooks}")
    print(f"  aiecc: {len(STAGES)} stages of our own, asked last")
    print("\nstages")
    for contract in plugins.stages(STAGE_WORDS):
        line = [f"{s.plugin} ({s.role})" for s in plugins.line(contract.hook)]
        print(f"  {contract.label:<12} gives {contract.gives:<12} {' > '.join(line) or 'nobody'}")
    return Exit.OK
