"""Nothing to do, told in a fraction of a build: before IR or tools are imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiecc.base.digest import digest
from aiecc.cli.flags import DriverOptions
from aiecc.cli.guard import say
from aiecc.engine.identity import package_digest
from aiecc.engine.snapshot import check_snapshot

if TYPE_CHECKING:
    from aiecc.engine.plugins import Plugins


def key(options: tuple[Any, ...], driver: DriverOptions, source: str, plugins: Plugins | None = None) -> str | None:
    """What a build depends on beside the files it reads: options, folders, our own code, plugins, the tools.

    None when a plugin takes part in a stage that must be asked every time.
    """
    from aiecc.choices import ToolchainOptions
    from aiecc.tools.choose import choose
    from aiecc.tools.find import Surroundings
    from aiecc.tools.load import available, folders

    chain = next(o for o in options if isinstance(o, ToolchainOptions))
    given = {"--peano": chain.peano, "--aietools": chain.aietools}
    offered, parties = _parties(plugins) if plugins is not None else ((), "")
    if parties is None:
        return None
    found, _ = choose(
        available(folders(chain.toolchain_dir), offered),
        Surroundings(given={k: v for k, v in given.items() if v}),
        name=chain.toolchain,
        xchesscc=chain.xchesscc,
        xbridge=chain.xbridge,
    )
    names = (driver.device_name, driver.sequence_name, driver.npu_insts_name)
    told = (driver.get, driver.output_dir, names, source, str(Path.cwd()))
    return digest(package_digest(), parties, found.fingerprint, repr(options), repr(told), sys.version, os.name)


def _parties(plugins: Plugins) -> tuple[tuple[str, ...], str | None]:
    """The toolchain files of plugins, and the version of all who stand in line anywhere."""
    from aiecc.api import STAGE_WORDS, STAGES, identity_of, toolchain_files

    asked = [c.hook for c in plugins.stages(STAGE_WORDS) if c.volatile]
    if any(s.plugin not in STAGES for hook in asked for s in plugins.line(hook)):
        return (), None
    line = [(hook, s.plugin, s.role, s.digest) for hook in plugins.hooks() for s in plugins.line(hook)]
    return toolchain_files(plugins), digest(identity_of(plugins), repr(line))


def replay(work: Path, name: str) -> bool:
    """Say again what the last build of this kind said, if nothing that it read or wrote has changed."""
    found = check_snapshot(work, name)
    if found is None:
        return False
    say(found.diagnostics)
    print(found.text, end="")
    return True
