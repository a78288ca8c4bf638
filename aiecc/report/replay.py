"""A shell script that does a build's external commands again, anywhere, with nothing of the work folder at hand."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from aiecc.model.command import Command

_HEAD = """#!/bin/sh
# Every external command of one aiecc build, in order; each step works in a folder of its own.
set -eu
"""


def replay_script(commands: Iterable[Command], blob: Callable[[str], bytes]) -> str:
    """The script. `blob` gives the content behind a digest.

    What a command takes is written out by the script, except what an earlier step has just made; the user's own files
    are used where they lie.
    """
    out = [_HEAD]
    for number, command in enumerate(commands):
        out.append(_step(number, command, blob))
    return "\n".join(out)


def _step(number: int, command: Command, blob: Callable[[str], bytes]) -> str:
    folder = f"step{number:04d}_{re.sub(r'[^A-Za-z0-9._-]', '_', command.tool)}"
    lines = [f"echo {folder}", f"mkdir -p {folder}", f"cd {folder}"]
    for name, origin in command.inputs:
        if origin.startswith("blob:"):
            lines.extend(_written(name, blob(origin.removeprefix("blob:"))))
    env = "".join(f"{k}={shlex.quote(v)} " for k, v in command.env)
    lines.append(env + shlex.join(command.argv))
    lines.append("cd ..")
    return "\n".join(lines) + "\n"


def _written(name: str, data: bytes) -> list[str]:
    """Shell lines that write a file: text as it is, anything else as base64."""
    lines: list[str] = []
    parent = str(PurePosixPath(name).parent)
    if parent != ".":
        lines.append(f"mkdir -p {shlex.quote(parent)}")
    text = _as_text(data)
    quoted = shlex.quote(name)
    if text is not None:
        return [*lines, f"cat >{quoted} <<'AIECC_END'", text.removesuffix("\n"), "AIECC_END"]
    coded = base64.encodebytes(data).decode().removesuffix("\n")
    return [*lines, f"base64 -d >{quoted} <<'AIECC_END'", coded, "AIECC_END"]


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    plain = text.endswith("\n") and "\0" not in text and "\r" not in text and "AIECC_END" not in text
    return text if plain else None
