"""A project in a folder of its own, and the command line run on it: for tests of designs and of plugins.

def test_my_stage(tmp_path):
    project = Project(tmp_path)
    project.write("design.mlir", DESIGN)
    ran = project.aiecc("design.mlir", "-p", "my_plugin")
    assert ran.code == 0, ran.err
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The first lines of all errors."""
        return [line for line in self.err.splitlines() if ": error: " in f": {line}" and not line.startswith("  ")]


class Project:
    """A folder with designs and kernels."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, content: str | bytes) -> Path:
        """A file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def copy(self, source: Path) -> None:
        """Everything in a folder becomes part of the project."""
        shutil.copytree(source, self.folder, dirs_exist_ok=True)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def elf(self, core: str = "main_core_0_2") -> bytes:
        """A core ELF as a default build leaves it."""
        return (self.folder / f"elfs_{core}" / f"elfs_{core}.elf").read_bytes()

    def object(self, source: str, name: str = "", *options: str) -> Path:
        """Compile a C file to an object with the portable toolchain, as a user's makefile would."""
        from aiecc.tools.commands import compile_source_argvs
        from aiecc.tools.find import resolve
        from aiecc.tools.load import available, folders, load
        from aiecc.tools.run import Runner

        tools = resolve(load("llvm", available(folders())))
        output = name or str(Path(source).with_suffix(".o"))
        for step in compile_source_argvs(tools, arch="aie2p", opt_level=2, input=source, output=output):
            Runner().check([*step.argv, *options], cwd=self.folder)
        return self.folder / output

    def aiecc(self, *args: str, toolchain: str | None = "llvm") -> Ended:
        """Run `aiecc` in the project's folder, in this process. With a toolchain of None, none is named."""
        from aiecc.cli.main import main

        chosen = (
            []
            if toolchain is None or args[:1] in (("plugins",), ("tools",), ("config",))
            else ["--toolchain", toolchain]
        )
        return self._run(main, [*args, *chosen])

    def _run(self, main: Callable[[list[str]], object], args: list[str]) -> Ended:
        out, err = io.StringIO(), io.StringIO()
        code = 0
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            _argv(args),
        ):
            try:
                main(args)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Ended(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _argv(args: list[str]) -> Generator[None]:
    before, sys.argv = sys.argv, ["aiecc", *args]
    try:
        yield
    finally:
        sys.argv = before
