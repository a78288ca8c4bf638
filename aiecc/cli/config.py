"""`aiecc config`: where things are installed, for makefiles."""

from __future__ import annotations

from collections.abc import Sequence

from aiecc.base.codes import Exit
from aiecc.base.diag import refuse

USAGE = """usage: aiecc config --include-dir | --toolchain-dir

  --include-dir     the folder of aie_bank_placement.h, for your compiler's -I
  --toolchain-dir   the folder of the packaged toolchain files"""


def run(args: Sequence[str]) -> int:
    """Print what was asked for, a line each."""
    from aiecc.tools.load import include_folder, packaged_folder

    known = {"--include-dir": include_folder, "--toolchain-dir": packaged_folder}
    if not args or args[0] in ("--help", "-h"):
        print(USAGE)
        return Exit.OK if args else Exit.USAGE
    for arg in args:
        if arg not in known:
            refuse(f"aiecc config: there is no '{arg}'", code="E0901", todo="see 'aiecc config --help'")
    for arg in args:
        print(known[arg]())
    return Exit.OK
