"""The `aiecc` command: `aiecc design.mlir`, or one of the commands beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from aiecc import __version__

# Words that are commands when they come first; a design of that name is written ./tools.
COMMANDS = {
    "tools": ("aiecc.cli.tools", "which toolchains are here, and what is missing"),
    "plugins": ("aiecc.cli.plugins", "who takes part in a build, stage by stage"),
    "simulate": ("aiecc.cli.simulate", "run a lowered design on the array model"),
    "disasm": ("aiecc.cli.disasm", "a transaction of the NPU in words"),
    "config": ("aiecc.cli.config", "where things are installed"),
}


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit; see `aiecc.base.codes.Exit`."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args and args[0].lstrip("-") in ("version", "aie-version") and args[0].startswith("-"):
        print(f"aiecc {__version__}")
        sys.exit(0)
    from aiecc.cli.guard import guarded

    if args and args[0] in COMMANDS:
        sys.exit(guarded(COMMANDS[args[0]][0], args[1:], args))
    sys.exit(guarded("aiecc.cli.driver", args, args))


if __name__ == "__main__":
    main()
