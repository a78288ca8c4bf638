"""An external command as a value: what ran, on what, and what came out of it.

A stage keeps these beside its product, so that a cache hit can still tell what was run and
`--print-commands` can write a script that does it again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One run of a tool in a scratch folder.

    `argv[0]` is the tool's absolute path; files are named relative to the scratch folder wherever they lie in it.
    `inputs` are (name, origin) pairs: the origin is `blob:DIGEST.SUFFIX` for content of the store, the absolute path
    for a file of the user's. `outputs` are (name, DIGEST.SUFFIX) pairs. Commands of one `job` ran in one folder, one
    after the other. `env` is what was added to the environment. `tool` is the tool's name in its toolchain file.
    """

    argv: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    tool: str = ""
    job: str = ""
