"""Nothing to do, told in a fraction of a build: before plugins, IR or tools are imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from aiecc.base.digest import digest
from aiecc.cli.flags import DriverOptions
from aiecc.cli.guard import say
from aiecc.engine.identity import package_digest
from aiecc.engine.snapshot import check_snapshot


def key(options: tuple[Any, ...], driver: DriverOptions, source: str) -> str:
    """What a build depends on beside the files it reads: options, folders, our own code, the tools."""
    from aiecc.choices import ToolchainOptions
    from aiecc.tools.choose import choose
    from aiecc.tools.find import Surroundings
    from aiecc.tools.load import available, folders

    chain = next(o for o in options if isinstance(o, ToolchainOptions))
    given = {"--peano": chain.peano, "--aietools": chain.aietools}
    found, _ = choose(
        available(folders(chain.toolchain_dir)),
        Surroundings(given={k: v for k, v in given.items() if v}),
        name=chain.toolchain,
        xchesscc=chain.xchesscc,
        xbridge=chain.xbridge,
    )
    told = (driver.get, driver.output_dir, driver.device_name, driver.sequence_name, source, str(Path.cwd()))
    return digest(package_digest(), found.fingerprint, repr(options), repr(told), sys.version, os.name)


def replay(work: Path, name: str) -> bool:
    """Say again what the last build of this kind said, if nothing that it read or wrote has changed."""
    found = check_snapshot(work, name)
    if found is None:
        return False
    say(found.diagnostics)
    print(found.text, end="")
    return True
