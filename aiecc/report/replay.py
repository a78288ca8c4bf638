"""A shell script that does a build's external commands again, anywhere, with nothing of the work folder at hand."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import PurePosixPath

from aiecc.model.command import Command

_HEAD = """#!/bin/sh
# Every external command of one aiecc build, in order. Each job works in a folder of its own below the current one;
# what the build asked for is copied beside them at the end.
set -eu"""


def replay_script(
    commands: Iterable[Command], blob: Callable[[str], bytes], outputs: Mapping[str, str] | None = None
) -> str:
    """The script. `blob` gives the content behind a DIGEST.SUFFIX; `outputs` are files asked for, with their digests.

    An input that an earlier command makes is taken from where that left it; other contents are written out by the
    script; the user's own files are used where they lie.
    """
    out = [_HEAD]
    where: dict[str, str] = {}
    for number, (_, group) in enumerate(groupby(commands, key=lambda c: c.job)):
        job = list(group)
        folder = f"job{number:03d}_{re.sub(r'[^A-Za-z0-9._-]', '_', job[-1].tool)}"
        out.append(_job(folder, job, where, blob))
        for command in job:
            where.update((digest.partition(".")[0], f"{folder}/{name}") for name, digest in command.outputs)
    for name, digest in (outputs or {}).items():
        if digest in where:
            out.append(f"cp {shlex.quote(where[digest])} {shlex.quote(name)}")
    return "\n".join(out) + "\n"


def _job(folder: str, commands: list[Command], where: Mapping[str, str], blob: Callable[[str], bytes]) -> str:
    lines = ["", f"mkdir -p {folder}", f"cd {folder}"]
    for command in commands:
        for name, origin in command.inputs:
            if origin.startswith("blob:"):
                lines.extend(_input(name, origin.removeprefix("blob:"), where, blob))
        env = "".join(f"{k}={shlex.quote(v)} " for k, v in command.env)
        lines.append(env + shlex.join(command.argv))
    lines.append("cd ..")
    return "\n".join(lines)


def _input(name: str, title: str, where: Mapping[str, str], blob: Callable[[str], bytes]) -> list[str]:
    lines: list[str] = []
    parent = str(PurePosixPath(name).parent)
    if parent != ".":
        lines.append(f"mkdir -p {shlex.quote(parent)}")
    quoted = shlex.quote(name)
    made = where.get(title.partition(".")[0])
    if made is not None:
        return [*lines, f"cp {shlex.quote('../' + made)} {quoted}"]
    data = blob(title)
    text = _as_text(data)
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
