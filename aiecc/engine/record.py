"""The build record: what every task cost, whether it ran and why, as JSON for people and their tools."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiecc.base.diag import Note, refuse
from aiecc.engine.build import Build, State


def build_record(build: Build, outputs: Mapping[str, str] | None = None, **about: Any) -> dict[str, Any]:
    """The record of a build as plain data.

    `outputs`: path and digest of every file the caller wrote for the user. `about`: more facts for the top level, such
    as the command line. Times are seconds; a task that was not run carries the time it took when it last ran.
    """
    tasks = [
        {
            "task": outcome.address,
            "stage": outcome.task.node.contract.label,
            "state": outcome.state.value,
            "seconds": round(outcome.seconds, 6),
            "reason": outcome.reason,
            "digest": outcome.digest,
            "commands": len(outcome.commands),
            "reads": [read.path for read in outcome.reads if read.state],
        }
        for outcome in build.outcomes
    ]
    return {
        **about,
        "requested": list(build.requested),
        "ok": build.ok,
        "interrupted": build.interrupted,
        "ran": sum(o.state is State.RAN for o in build.outcomes),
        "hit": sum(o.state is State.HIT for o in build.outcomes),
        "seconds_spent": round(sum(o.seconds for o in build.outcomes if o.state is State.RAN), 6),
        "seconds_saved": round(sum(o.seconds for o in build.outcomes if o.state is State.HIT), 6),
        "tasks": tasks,
        "outputs": dict(outputs or {}),
    }


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record, whole or not at all; raises `Refused` (E0903)."""
    text = json.dumps(record, indent=2, ensure_ascii=True) + "\n"
    aside = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text, "utf-8")
        aside.replace(path)
    except OSError as problem:
        with suppress(OSError):
            aside.unlink()
        refuse(
            f"cannot write the build record '{path}': {problem.strerror or problem}",
            code="E0903",
            notes=(Note("the build itself is not affected"),),
        )
