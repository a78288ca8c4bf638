"""Folders that look like Peano and like aietools, for tests on machines that have neither.

Every program in them is a small script that compares its argument list with what the real tool is given,
refuses anything else (exit code 9), writes a line to `log.jsonl`, and lets the portable toolchain do the work, so that
a whole build runs and yields real ELFs. They do not pretend to generate AI Engine code.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiecc.model.toolchain import Toolchain
from aiecc.tools import commands
from aiecc.tools.find import resolve
from aiecc.tools.load import available, folders, load
from aiecc.tools.run import Runner

PEANO_TOOLS = ("opt", "llc", "clang", "clang++", "ld.lld")
CHESS_TARGETS = {"aie": "target", "aie2": "target_aie_ml", "aie2p": "target_aie2p"}


@dataclass(frozen=True, slots=True)
class Standin:
    """A stand-in folder: what `--peano` or `--aietools` is given."""

    folder: Path

    @property
    def log(self) -> list[dict[str, Any]]:
        """Every call so far: `tool`, `args`, and `problem`, empty if the argument list was right."""
        file = self.folder / "log.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    @property
    def problems(self) -> list[str]:
        return [f"{call['tool']}: {call['problem']}" for call in self.log if call["problem"]]


def portable() -> Toolchain:
    """The portable toolchain, which does the stand-ins' work."""
    files = available(folders(environ={}))
    return resolve(load("llvm", files))


def make_peano(folder: Path, tools: Toolchain | None = None, leave_out: Iterable[str] = ()) -> Standin:
    """A stand-in for an installed Peano. `leave_out`: programs that it shall not have."""
    tools, folder = tools or portable(), folder.absolute()
    _prepare(folder, tools)
    for tool in PEANO_TOOLS:
        if tool not in set(leave_out):
            _script(folder / "bin" / tool, folder, "standin_peano", tool)
    return Standin(folder)


def make_aietools(folder: Path, tools: Toolchain | None = None, leave_out: Iterable[str] = ()) -> Standin:
    """A stand-in for aietools, with mlir-aie's wrapper scripts in it. `leave_out`: programs that it shall not have."""
    tools, folder = tools or portable(), folder.absolute()
    _prepare(folder, tools)
    missing = set(leave_out)
    for tool in ("xchesscc", "xchesscc_wrapper"):
        if tool not in missing:
            _script(folder / "bin" / tool, folder, "standin_chess", tool)
    for arch, target in CHESS_TARGETS.items():
        if "chess-llvm-link" not in missing:
            program = folder / "tps" / "lnx64" / target / "bin" / "LNa64bin" / "chess-llvm-link"
            _script(program, folder, "standin_chess", "chess-llvm-link")
        wrapper = folder / "aie_runtime_lib" / arch.upper() / "chess_intrinsic_wrapper.ll"
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        wrapper.write_text(f"; stand-in for the intrinsics of {arch}\n")
    (folder / "include").mkdir(exist_ok=True)
    for data in ("versal_prod", "aie_ml", "aie2p"):
        (folder / "data" / data / "lib").mkdir(parents=True, exist_ok=True)
    return Standin(folder)


def _prepare(folder: Path, tools: Toolchain) -> None:
    """Start-up code, run-time, and the portable command lines the scripts fill in."""
    library = folder / "lib" / "standin"
    library.mkdir(parents=True, exist_ok=True)
    runner = Runner()
    for _, _, command in commands.runtime_argvs(tools, arch="aie2"):
        runner.check(command.argv, cwd=library, tool=command.tool)
    startup, runtime = (tuple(str(library / o) for o in part) for part in commands.runtime_objects(tools))
    source = {
        name: commands.compile_source_argvs(
            tools, arch="aie2", opt_level=2, input=f"@IN@.{name}", output="@OUT@", includes=["@INCLUDES@"]
        )
        for name in ("c", "cc")
    }
    link = commands.link_argv(
        tools,
        arch="aie2",
        opt_level=2,
        objects=["@OBJECTS@"],
        script="@SCRIPT@",
        output="@OUT@",
        startup=startup,
        runtime=runtime,
    )
    clang = tools.tool("clang").argv
    machine = [a for a in source["c"][0].argv[len(clang) :] if a.startswith(("--target=", "-m", "-fno-pic"))]
    config = {
        "clang": [*clang, *machine],
        "lld": list(tools.tool("ld.lld").argv),
        "c": list(source["c"][0].argv),
        "cc": list(source["cc"][0].argv),
        "link": list(link.argv),
        "rename": [list(pair) for pair in tools.spec.rename],
    }
    (folder / "standin.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _script(path: Path, folder: Path, module: str, tool: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    package = Path(__file__).resolve().parents[2]
    text = (
        f"import sys\nsys.path.insert(0, {str(package)!r})\n"
        f"from aiecc.testing.{module} import main\n"
        f"sys.exit(main({tool!r}, {str(folder)!r}, sys.argv[1:]))\n"
    )
    if os.name == "nt":
        path.with_suffix(".py").write_text(text, encoding="utf-8")
        shim = path.with_name(path.name + ".cmd")
        shim.write_text(f'@"{sys.executable}" "%~dp0{path.with_suffix(".py").name}" %*\n', encoding="utf-8")
        return
    path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
