"""`aiecc tools`: the doctor. What was searched, found, which version, what is missing and how to get it."""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.base.codes import Exit

USAGE = """usage: aiecc tools [--toolchain-dir DIR] [--peano DIR] [--aietools DIR] [-p MODULE|FILE.py|no:NAME ...]

Lists every toolchain: where its tools were looked for, what was found, which version, what is missing and how to
get it. Exit code 0 if some toolchain is complete."""


def run(args: Sequence[str]) -> int:
    """Print the report."""
    from aiecc.choices import ToolchainOptions
    from aiecc.cli.additions import invited
    from aiecc.cli.flags import DriverOptions
    from aiecc.cli.parse import parse_command
    from aiecc.tools.doctor import doctor, report
    from aiecc.tools.find import Surroundings
    from aiecc.tools.load import available, folders

    if "--help" in args or "-h" in args:
        print(USAGE)
        return Exit.OK
    parsed = parse_command("aiecc tools", args, (ToolchainOptions, DriverOptions), positional=False)
    given = parsed.options[ToolchainOptions]
    offered: tuple[str, ...] = ()
    plugins = invited(parsed.options[DriverOptions].plugins, strict=False)
    if plugins is not None:
        from aiecc.api import toolchain_files

        offered = toolchain_files(plugins, strict=False)
    around = Surroundings(given={k: v for k, v in (("--peano", given.peano), ("--aietools", given.aietools)) if v})
    rows = doctor(available(folders(given.toolchain_dir), offered), around)
    print(report(rows))
    return Exit.OK if any(row.complete for row in rows) else Exit.TOOL
