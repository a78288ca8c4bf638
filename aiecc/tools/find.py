"""Looks for the programs of a toolchain: `resolve` turns a `ToolchainSpec` into a `Toolchain`.

A toolchain's file says where to look; nothing is looked for in the current folder, nothing is imported, and on a
warm start nothing is run.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aiecc.base.diag import refuse
from aiecc.model.toolchain import Place, Searched, Tool, Toolchain, ToolchainSpec, ToolSpec
from aiecc.tools.versions import Versions, stamp, version_in

_SUFFIXES = (".exe", ".bat", ".cmd", "") if os.name == "nt" else ("",)


@dataclass(frozen=True)
class Surroundings:
    """Where a search happens: what the user gave by option (`--peano`), the environment, aiecc's own prefix."""

    given: Mapping[str, str] = field(default_factory=dict[str, str])
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    prefix: Path = field(default_factory=lambda: Path(sys.prefix))

    def path_folders(self) -> Iterator[Path]:
        """The folders on PATH, relative ones left out."""
        for name in self.environ.get("PATH", "").split(os.pathsep):
            if name and Path(name).is_absolute():
                yield Path(name)


@dataclass(frozen=True)
class Findings:
    """A toolchain and everything that was looked at on the way, for the doctor."""

    toolchain: Toolchain
    searched: tuple[Searched, ...]


def resolve(spec: ToolchainSpec, around: Surroundings | None = None, versions: Versions | None = None) -> Toolchain:
    """Find a toolchain's programs. What is not there is simply missing from `tools`.

    Raises `Refused` only for a folder the user named by option and that does not exist.
    """
    return explore(spec, around, versions).toolchain


def explore(spec: ToolchainSpec, around: Surroundings | None = None, versions: Versions | None = None) -> Findings:
    """As `resolve`, and all that was looked at."""
    return _Search(spec, around or Surroundings(), versions or Versions()).go()


class _Search:
    def __init__(self, spec: ToolchainSpec, around: Surroundings, versions: Versions) -> None:
        self.spec, self.around, self.versions = spec, around, versions
        self.searched: list[Searched] = []

    def go(self) -> Findings:
        root = self._root()
        tools = {t.name: tool for t in self.spec.tools if (tool := self._tool(t, root)) is not None}
        self.versions.save()
        looked = tuple(self.searched)
        wanted = {t.name for t in self.spec.tools if t.name not in tools}
        # Only what is said about missing tools: see `Toolchain`.
        kept = tuple(s for s in looked if s.tool in wanted or (not s.tool and not root and wanted))
        return Findings(Toolchain(self.spec, tools, str(root) if root else "", kept), looked)

    # -- the root --------------------------------------------------------------------------------

    def _root(self) -> Path | None:
        rules = self.spec.root
        if given := self.around.given.get(rules.option, ""):
            folder = Path(given).absolute()
            if not folder.is_dir():
                refuse(f"aiecc: {rules.option} directory does not exist: {given}", code="E0901")
            self._note("", f"{rules.option}={given}", folder)
            return folder
        for variable in rules.environment:
            if folder := self._root_in_variable(variable):
                return folder
        guesses = [(f"the wheel '{wheel}'", f) for wheel in rules.wheels for f in _wheel_folders(wheel) or [Path()]]
        guesses += [(str(f), f) for f in (self._beside(rules.beside) if rules.beside else [])]
        for where, folder in guesses:
            found = folder if self._looks_right(folder) else None
            self._note("", where, found)
            if found:
                return found
        return self._root_of_anchor() if rules.anchor else None

    def _looks_right(self, folder: Path) -> bool:
        """A folder nobody named must have the toolchain's own program in it, not only the right name."""
        if folder == Path() or not folder.is_dir():
            return False
        anchor = self.spec.root.anchor
        return not anchor or executable(folder / "bin" / anchor) is not None

    def _root_in_variable(self, variable: str) -> Path | None:
        value = self.around.environ.get(variable, "")
        if not value:
            self._note("", f"${variable} (not set)")
            return None
        folder = Path(value).absolute()
        if folder.is_dir():
            self._note("", f"${variable}", folder)
            return folder
        self._note("", f"${variable}", problem=f"{value} is no folder")
        return None

    def _root_of_anchor(self) -> Path | None:
        rules = self.spec.root
        for folder in self.around.path_folders():
            program = executable(folder / rules.anchor)
            if program is None:
                continue
            if rules.accept and not re.search(rules.accept, self._said(program, (), ("--version",))):
                self._note("", "PATH", problem=f"{program} is not {self.spec.what}")
                continue
            up = 4 if folder.parts[-3:] == ("bin", "unwrapped", "lnx64.o") else rules.up
            root = program.parents[up - 1] if len(program.parents) >= up else program.parent
            self._note("", f"PATH ({rules.anchor})", root)
            return root
        self._note("", f"PATH ({rules.anchor})")
        return None

    def _beside(self, name: str) -> list[Path]:
        return [self.around.prefix / name, self.around.prefix.parent / name]

    # -- tools -----------------------------------------------------------------------------------

    def _tool(self, wanted: ToolSpec, root: Path | None) -> Tool | None:
        for place in wanted.places:
            for where, base, file in self._candidates(place, root):
                path = executable(file) if wanted.program else _existing(file)
                if path is None:
                    self._note(wanted.name, where)
                    continue
                said = self._said(path, place.prefix, wanted.version)
                if place.accept and not re.search(place.accept, said):
                    self._note(wanted.name, where, problem=f"{path} says it is {said.strip().partition(chr(10))[0]!r}")
                    continue
                self._note(wanted.name, where, path)
                variables = tuple((k, str(base / v)) for k, v in place.vars if (base / v).exists())
                version = version_in(said, wanted.version_match)
                return Tool(wanted.name, str(path), version, f"{stamp(path)}|{version}", place.prefix, variables)
        return None

    def _candidates(self, place: Place, root: Path | None) -> Iterator[tuple[str, Path, Path]]:
        """(where in words, the folder `vars` are in, the file) of every place a rule means."""
        if place.root:
            if root is not None:
                yield str(root / place.root), root, root / place.root
        elif place.wheel:
            folders = _wheel_folders(place.wheel)
            for folder in folders:
                yield f"the wheel '{place.wheel}'", folder, folder / place.file
            if not folders:
                yield f"the wheel '{place.wheel}'", Path(), Path()
        elif place.environment:
            value = self.around.environ.get(place.environment, "")
            where = f"${place.environment}" if value else f"${place.environment} (not set)"
            yield where, Path(value), Path(value).absolute() / place.file if value else Path()
        elif place.beside:
            for folder in self._beside(place.beside):
                yield str(folder), folder, folder / place.file
        else:
            for name in place.path:
                hits = [f / name for f in self.around.path_folders() if executable(f / name)]
                for hit in hits:
                    yield f"PATH ({name})", hit.parent, hit
                if not hits:
                    yield f"PATH ({name})", Path(), Path()

    def _said(self, path: Path, prefix: tuple[str, ...], arguments: tuple[str, ...]) -> str:
        try:
            return self.versions.ask(path, prefix, arguments)
        except OSError:
            return ""

    def _note(self, tool: str, where: str, found: Path | None = None, problem: str = "") -> None:
        self.searched.append(Searched(tool, where, str(found) if found else "", problem))


def executable(path: Path) -> Path | None:
    """The program at a path, its Windows suffix added; None when nothing there can be run."""
    if path == Path():
        return None
    for suffix in _SUFFIXES:
        candidate = path.with_name(path.name + suffix) if suffix else path
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def _existing(path: Path) -> Path | None:
    return path if path != Path() and path.exists() else None


def _wheel_folders(package: str) -> list[Path]:
    """The folders of an installed top-level package, found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):
        return []
    if spec is None:
        return []
    return [Path(f) for f in spec.submodule_search_locations or () if Path(f).is_absolute()]
