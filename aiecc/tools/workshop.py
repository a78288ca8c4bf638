"""Where stages run tools: a scratch folder, what a job takes and makes, and a record of every command.

A stage hands over contents, never paths of its own making, and gets contents back; so a command line does
not depend on where the build happens, and can be replayed elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from aiecc.base.blob import Blob
from aiecc.base.digest import digest
from aiecc.model.command import Command
from aiecc.tools.commands import Invocation
from aiecc.tools.run import Ran, Runner, ToolFailure, failure


class Keeper(Protocol):
    """What a workshop wants of a store."""

    def put(self, source: bytes | str | Path, suffix: str = "") -> Blob: ...

    def scratch(self) -> AbstractContextManager[Path]: ...


@dataclass(frozen=True)
class Made:
    """What a job made: the outputs that are there, by name, and what the tools printed."""

    outputs: Mapping[str, Blob]
    output: str = ""
    ran: Ran | None = None
    """The last command."""

    def blob(self, name: str) -> Blob:
        """An output; raises `ToolFailure` when no command made it, although all ended well."""
        found = self.outputs.get(name)
        if found is None:
            assert self.ran is not None
            raise self.failure(f"it made no '{name}'")
        return found

    def text(self, name: str) -> str:
        return self.blob(name).bytes().decode("utf-8", "replace")

    def failure(self, what: str) -> ToolFailure:
        """The last command ended well, but what it made cannot be used: `what` says why."""
        assert self.ran is not None
        return ToolFailure(failure(self.ran, what))


@dataclass
class Workshop:
    """The word `run` of a stage."""

    runner: Runner
    store: Keeper
    log: Callable[[Command], None] = field(default=lambda command: None)

    def job(
        self,
        invocations: Iterable[Invocation],
        *,
        inputs: Mapping[str, Blob | str | Path] | None = None,
        outputs: Iterable[str],
        env: Mapping[str, str] | None = None,
    ) -> Made:
        """Run the commands of a job one after the other in a scratch folder.

        `inputs`: files by the names the commands use: a blob, a text, or for names that are absolute paths the
        user's file itself. `outputs`: names the job may make; those that are there afterwards are kept. The first
        command that fails raises `ToolFailure`, with what it printed.
        """
        steps = list(invocations)
        wanted = tuple(outputs)
        with self.store.scratch() as folder:
            origins = self._lay_out(folder, dict(inputs or {}))
            job = digest(*(part for pair in origins for part in pair), *(arg for step in steps for arg in step.argv))
            printed: list[str] = []
            ran: Ran | None = None
            made: dict[str, Blob] = {}
            for step in steps:
                ran = self.runner.run(step.argv, cwd=folder, env=env, tool=step.tool)
                printed.append(ran.output)
                if not ran.ok:
                    raise ToolFailure(failure(ran), ran)
                fresh = {n: self.store.put(folder / n) for n in wanted if n not in made and (folder / n).is_file()}
                made.update(fresh)
                self._log(step, job, origins if step is steps[0] else (), fresh, env)
        return Made(made, "".join(printed), ran)

    def _lay_out(self, folder: Path, given: Mapping[str, Blob | str | Path]) -> tuple[tuple[str, str], ...]:
        """Put the inputs into the folder and say where each came from, as `Command.inputs` does."""
        origins: list[tuple[str, str]] = []
        for name, content in given.items():
            if isinstance(content, Path):
                origins.append((name, str(content)))
                continue
            blob = self.store.put(content, Path(name).suffix) if isinstance(content, str) else content
            origins.append((name, f"blob:{_title(blob)}"))
            _place(blob, folder / name)
        return tuple(origins)

    def _log(
        self,
        step: Invocation,
        job: str,
        origins: tuple[tuple[str, str], ...],
        made: Mapping[str, Blob],
        env: Mapping[str, str] | None,
    ) -> None:
        outputs = tuple((name, _title(blob)) for name, blob in made.items())
        self.log(Command(step.argv, origins, outputs, tuple(sorted((env or {}).items())), step.tool, job))


def _place(blob: Blob, path: Path) -> None:
    """The blob's file under another name. Linked where the file system can, since cores share most of what they link;
    a tool that wrote to its input would be found out when the store reads the blob again."""
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True)
    try:
        os.link(blob.path, path)
    except OSError:
        path.write_bytes(blob.bytes())


def _title(blob: Blob) -> str:
    return f"{blob.digest}{blob.path.suffix}"
