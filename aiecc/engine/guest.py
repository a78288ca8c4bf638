"""Running a plugin's code before a build, and what is said when that goes wrong."""

from __future__ import annotations

import dis
import importlib.util
import inspect
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from aiecc.base.diag import Diagnostic, Level, Note, Refused
from aiecc.base.digest import digest
from aiecc.engine.spec import PROJECT


class _Fresh(SourceFileLoader):
    """Runs what a file says now and leaves nothing beside it: Python's own cache tells times by the second, our keys
    go by content, and the two must not disagree."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def import_file(path: Path) -> ModuleType:
    """The module in a file. Its name says whose it is and is no other file's."""
    name = f"{PROJECT}_plugin_{path.stem}_{digest(str(path.absolute()))[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise FileNotFoundError(f"there is no file '{path}'")
    spec = importlib.util.spec_from_file_location(name, path, loader=_Fresh(name, str(path.absolute())))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def last_line(problem: BaseException) -> str:
    """What was raised, in a line."""
    if isinstance(problem, Refused):
        return problem.diagnostics[0].text.partition("\n")[0]
    return "".join(traceback.format_exception_only(problem)).strip().splitlines()[-1]


def failed(plugin: str, hook: str, problem: BaseException) -> Diagnostic:
    """What a plugin raised when it was asked what it brings."""
    if isinstance(problem, Refused):
        return problem.diagnostics[0]
    text = f"plugin '{plugin}' failed in {hook}: {last_line(problem)}"
    todo = f"repair or update it, or leave it out with -p no:{plugin}"
    return Diagnostic(Level.ERROR, text, code="E0902", notes=own_frame(problem), todo=todo)


def own_frame(problem: BaseException) -> tuple[Note, ...]:
    """Where in the plugin an import went wrong."""
    if isinstance(problem, SyntaxError):
        return (Note(f"at {problem.filename}:{problem.lineno}"),)
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if "importlib" not in f.filename]
    own = [f for f in frames if Path(f.filename).parent != Path(__file__).parent]
    return (Note(f"at {own[-1].filename}:{own[-1].lineno}"),) if own else ()


def returns_nothing(function: Any) -> bool:
    """True for a generator function that only ever returns None: a wrapper that swallows what it wraps."""
    if not inspect.isgeneratorfunction(function):
        return False
    before: dis.Instruction | None = None
    ends: list[bool] = []
    for each in dis.get_instructions(function):
        if each.opname == "RETURN_CONST":
            ends.append(each.argval is None)
        elif each.opname == "RETURN_VALUE":
            ends.append(before is not None and before.opname == "LOAD_CONST" and before.argval is None)
        before = each
    return bool(ends) and all(ends)
