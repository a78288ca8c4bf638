"""Where stages run tools: a scratch folder, what a job takes and makes, and a record of every command.

A stage hands over contents, never paths of its own making, and gets contents back; so a command line does
not depend on where the build happens, and can be replayed elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from aiecc.base.blob import Blob
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

    def blob(self, name: str) -> Blob:
        return self.outputs[name]

    def text(self, name: str) -> str:
        return self.outputs[name].bytes().decode("utf-8", "replace")


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
        given = dict(inputs or {})
        with self.store.scratch() as folder:
            origins = self._lay_out(folder, given)
            wanted = tuple(outputs)
            printed: list[str] = []
            made: set[str] = set()
            for step in invocations:
                ran, command = self._run(step, folder, origins, wanted, made, env)
                printed.append(ran.output)
                if not ran.ok:
                    raise ToolFailure(failure(ran), ran)
                self.log(command)
            found = {name: self.store.put(folder / name) for name in wanted if (folder / name).is_file()}
        return Made(found, "".join(printed))

    def _lay_out(self, folder: Path, given: Mapping[str, Blob | str | Path]) -> dict[str, str]:
        """Put the inputs into the folder and say where each came from, as `Command.inputs` does."""
        origins: dict[str, str] = {}
        for name, content in given.items():
            if isinstance(content, Path):
                origins[name] = str(content)
                continue
            blob = self.store.put(content, Path(name).suffix) if isinstance(content, str) else content
            origins[name] = f"blob:{blob.digest}{blob.path.suffix}"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(blob.bytes())
        return origins

    def _run(
        self,
        step: Invocation,
        folder: Path,
        origins: Mapping[str, str],
        wanted: Iterable[str],
        made: set[str],
        env: Mapping[str, str] | None,
    ) -> tuple[Ran, Command]:
        inputs = [(name, origin) for name, origin in origins.items() if name not in made]
        before = {p for p in wanted if (folder / p).exists()}
        ran, _ = self.runner.record(step.argv, cwd=folder, env=env, tool=step.tool)
        fresh = tuple(p for p in wanted if p not in before and (folder / p).exists())
        made.update(fresh)
        command = Command(step.argv, tuple(inputs), fresh, tuple(sorted((env or {}).items())), step.tool)
        return ran, command
