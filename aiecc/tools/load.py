"""Reads toolchain files: TOML to `ToolchainSpec`, every slip a diagnostic at the file.

A file is looked for as `NAME.toml` in the folders of `folders()`: those of `--toolchain-dir`, those of
`AIECC_TOOLCHAIN_PATH`, those plugins bring, and ours. Never in the current folder: the file names programs to run.

What a template may say: `{word}` is replaced, `{*flags}` standing alone is replaced by the list of that name in
`[flags]`, `{{` is a brace. `{ when = "x", args = [...] }` appears only when the value x is given and not
empty (several words: all of them), `unless` only when it is not (several: none of them), `each` once for every
item of a list value, which is `{it}` inside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

from aiecc.base.diag import refuse
from aiecc.base.digest import digest
from aiecc.base.spans import Span
from aiecc.model.toolchain import (
    Capabilities,
    Group,
    Place,
    Recipe,
    RootSpec,
    Step,
    ToolchainSpec,
    ToolSpec,
)

PATH_VARIABLE = "AIECC_TOOLCHAIN_PATH"

_TOP = {
    "name",
    "what",
    "standin",
    "get",
    "startup",
    "runtime",
    "include",
    "uses",
    "rename",
    "middle_level",
    "ir_dialect",
    "borrow",
    "capabilities",
    "root",
    "words",
    "tools",
    "flags",
    "recipe",
}


def packaged_folder() -> Path:
    """Where our own toolchain files lie: in the wheel inside the package, in a checkout beside it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_toolchains"
    return inside if inside.is_dir() else package.parent / "toolchains"


def include_folder() -> Path:
    """Where `aie_bank_placement.h` lies: what `aiecc config --include-dir` prints."""
    return packaged_folder() / "include"


def folders(given: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """Where toolchain files are looked for, in order. `given`: the values of `--toolchain-dir`."""
    environ = os.environ if environ is None else environ
    listed = [p for p in environ.get(PATH_VARIABLE, "").split(os.pathsep) if p]
    return tuple(Path(p) for p in dict.fromkeys((*given, *listed, str(packaged_folder()))))


def available(where: Sequence[Path], extra: Iterable[str] = ()) -> dict[str, Path]:
    """Toolchain files by the name of the toolchain; the first folder that has a name wins.

    `extra`: files of plugins, which come before ours.

    A folder of `where` that does not exist is refused: it was asked for by name.
    """
    ours = packaged_folder()
    found: dict[str, Path] = {}
    for folder in where:
        if folder == ours:
            for file in extra:
                found.setdefault(Path(file).stem, Path(file))
        if not folder.is_dir():
            refuse(f"aiecc: toolchain directory does not exist: {folder}", code="E0803")
        for file in sorted(folder.glob("*.toml")):
            found.setdefault(file.stem, file)
    return found


def load(name: str, files: Mapping[str, Path]) -> ToolchainSpec:
    """The toolchain of that name, what it borrows included; `Refused` for one that is not there."""
    if name not in files:
        refuse(f"aiecc: unknown toolchain '{name}'; known toolchains are: {', '.join(sorted(files))}", code="E0803")
    return load_file(files[name], files)


def load_file(path: Path, files: Mapping[str, Path] | None = None) -> ToolchainSpec:
    """A toolchain from its file. `files` is where it may borrow from (by default, its own folder)."""
    files = available([path.parent]) if files is None else files
    return _Reader(path, files, ()).spec()


class _Reader:
    """One file being read."""

    def __init__(self, path: Path, files: Mapping[str, Path], borrowers: tuple[Path, ...]) -> None:
        self.path, self.files, self.borrowers = path, files, borrowers
        self.data = self._parse()
        self.flags: dict[str, list[str | Group]] = {}

    def fail(self, text: str, where: Span | None = None) -> NoReturn:
        refuse(f"toolchain file '{self.path}': {text}", where, code="E0803")

    def _parse(self) -> dict[str, Any]:
        import tomli

        try:
            self.text = self.path.read_bytes()
            return tomli.loads(self.text.decode())
        except OSError as problem:
            self.fail(f"cannot be read: {problem.strerror or problem}")
        except UnicodeDecodeError:
            self.fail("is not UTF-8 text")
        except tomli.TOMLDecodeError as problem:
            at = re.search(r"\(at line (\d+), column (\d+)\)", str(problem))
            self.fail(str(problem), Span(str(self.path), int(at[1]), int(at[2])) if at else None)

    def spec(self) -> ToolchainSpec:
        data = self.data
        self._known(data, _TOP, "the file")
        for name, flags in self.table(data, "flags").items():
            self.flags[name] = self._args(flags, f"flags.{name}")
        words = {a: self._strings(w, f"words.{a}") for a, w in self.table(data, "words").items()}
        tools = [t for name, tool in self.table(data, "tools").items() for t in self._tool(name, tool, words)]
        recipes: dict[str, tuple[Recipe, ...]] = {}
        borrowed: dict[str, tuple[Recipe, ...]] = {}
        identities = [self._identity(self.names(data, "uses"))]
        for lender, names in self.table(data, "borrow").items():
            lent = self._borrow(lender)
            wanted = self._list(names, f"borrow.{lender}")
            tools.extend(t for t in lent.tools if t.name in wanted)
            for job, each in lent.recipes.items():
                if all(set(r.tools) <= set(wanted) for r in each):
                    borrowed[job] = each
            identities.append(lent.identity)
        for entry in data.get("recipe", ()):
            self._recipe(entry, {t.name.partition("@")[0] for t in tools}, recipes)
        for job, each in borrowed.items():  # what the file says itself comes first
            recipes[job] = (*recipes.get(job, ()), *each)
        return ToolchainSpec(
            name=self.string(data, "name") or self.path.stem,
            what=self.string(data, "what"),
            folder=str(self.path.parent.absolute()),
            root=self._root(self.table(data, "root")),
            tools=tuple(tools),
            recipes=recipes,
            words=words,
            capabilities=self._capabilities(self.table(data, "capabilities")),
            startup=self.names(data, "startup"),
            runtime=self.names(data, "runtime"),
            include=self.names(data, "include"),
            rename=self._pairs(data.get("rename", [])),
            middle_level=self._integer(data, "middle_level", 3),
            ir_dialect=self.string(data, "ir_dialect"),
            standin=self.string(data, "standin"),
            get=self.string(data, "get"),
            identity=digest(*identities),
        )

    # -- parts -----------------------------------------------------------------------------------

    def _borrow(self, lender: str) -> ToolchainSpec:
        if lender not in self.files:
            self.fail(f"borrows from '{lender}', which is not there")
        chain = (*self.borrowers, self.path)
        if self.files[lender] in chain:
            self.fail(f"borrows from '{lender}', which borrows from it")
        return _Reader(self.files[lender], self.files, chain).spec()

    def _identity(self, uses: Sequence[str]) -> str:
        parts: list[bytes] = [self.text]
        for name in uses:
            used = self.path.parent / name
            inside = sorted(p for p in used.rglob("*") if p.is_file()) if used.is_dir() else [used]
            for file in inside:
                try:
                    parts.extend((file.relative_to(self.path.parent).as_posix().encode(), file.read_bytes()))
                except OSError as problem:
                    self.fail(f"uses '{name}', which cannot be read: {problem.strerror or problem}")
        return digest(*parts)

    def _root(self, table: dict[str, Any]) -> RootSpec:
        self._known(table, {f.name for f in fields(RootSpec)}, "root")
        return RootSpec(
            option=self.string(table, "option"),
            environment=self.names(table, "environment"),
            wheels=self.names(table, "wheels"),
            beside=self.string(table, "beside"),
            anchor=self.string(table, "anchor"),
            accept=self._pattern(self.string(table, "accept")),
            up=self._integer(table, "up", 2),
        )

    def _tool(self, name: str, table: Any, words: dict[str, dict[str, str]]) -> list[ToolSpec]:
        where = f"tools.{name}"
        if not isinstance(table, dict):
            self.fail(f"{where} must be a table")
        self._known(table, {*(f.name for f in fields(ToolSpec)), "per_arch"} - {"name"}, where)
        places = [self._place(p, where) for p in table.get("places", [])]
        if not places:
            self.fail(f"{where} says no places to look in")

        def made(label: str, places: Iterable[Place], optional: bool) -> ToolSpec:
            return ToolSpec(
                name=label,
                what=self.string(table, "what"),
                places=tuple(places),
                version=self.names(table, "version"),
                version_match=self._pattern(self.string(table, "version_match")),
                program=table.get("program", True) is True,
                optional=optional,
                get=self.string(table, "get"),
            )

        optional = table.get("optional", False) is True
        if not table.get("per_arch", False):
            return [made(name, places, optional)]
        # Which architecture will be wanted is not known yet, so none of them is missing by itself.
        return [made(f"{name}@{arch}", [_filled(p, w) for p in places], True) for arch, w in words.items()]

    def _place(self, entry: Any, where: str) -> Place:
        if not isinstance(entry, dict):
            self.fail(f'{where}: a place is a table such as {{ path = ["clang"] }}')
        self._known(entry, {f.name for f in fields(Place)}, f"a place of {where}")
        kinds = [k for k in ("root", "wheel", "path", "environment", "beside") if entry.get(k)]
        if len(kinds) != 1:
            self.fail(f"{where}: a place has one of root, wheel, path, environment, beside")
        return Place(
            root=self.string(entry, "root"),
            wheel=self.string(entry, "wheel"),
            path=self.names(entry, "path"),
            environment=self.string(entry, "environment"),
            beside=self.string(entry, "beside"),
            file=self.string(entry, "file"),
            prefix=self.names(entry, "prefix"),
            vars=tuple(self._strings(entry.get("vars", {}), f"{where}.vars").items()),
            accept=self._pattern(self.string(entry, "accept")),
        )

    def _recipe(self, entry: Any, tools: set[str], recipes: dict[str, tuple[Recipe, ...]]) -> None:
        job = self.string(entry, "job") if isinstance(entry, dict) else ""
        if not job:
            self.fail("a recipe has no job")
        self._known(entry, {"job", "step"}, f"recipe {job}")
        steps: list[Step] = []
        for step in entry.get("step", []):
            self._known(step, {f.name for f in fields(Step)}, f"a step of recipe {job}")
            tool = self.string(step, "tool")
            if tool not in tools:
                self.fail(f"recipe {job} uses tool '{tool}', which [tools] does not have")
            args = self._args(step.get("args", []), f"recipe {job}")
            steps.append(Step(tool, tuple(args), **{k: self.string(step, k) for k in ("when", "unless", "each")}))
        if not steps:
            self.fail(f"recipe {job} has no step")
        recipes[job] = (*recipes.get(job, ()), Recipe(tuple(steps)))

    def _args(self, value: Any, where: str) -> list[str | Group]:
        """Arguments, `{*flags}` replaced by what they stand for."""
        if not isinstance(value, list):
            self.fail(f"{where}: arguments are a list")
        made: list[str | Group] = []
        for arg in value:  # pyright: ignore[reportUnknownVariableType] - TOML
            if isinstance(arg, str):
                made.extend(self._spliced(arg, where))
            elif isinstance(arg, dict) and set(arg) <= {"when", "unless", "each", "args"}:
                made.extend(self._group(arg, where))
            else:
                self.fail(f"{where}: an argument is a string or {{ when|unless|each = ..., args = [...] }}")
        return made

    def _group(self, entry: dict[str, Any], where: str) -> list[Group]:
        keys = {k: self.string(entry, k) for k in ("when", "unless", "each")}
        if not any(keys.values()):
            self.fail(f"{where}: a group has when, unless or each")
        made: list[Group] = []
        plain: list[str] = []
        for arg in (*self._args(entry.get("args", []), where), None):
            if isinstance(arg, str):
                plain.append(arg)
                continue
            if plain:
                made.append(Group(tuple(plain), **keys))
                plain = []
            if arg is not None:
                if keys["each"]:
                    self.fail(f"{where}: a group inside one with 'each'")
                made.append(Group(arg.args, **{k: f"{keys[k]} {getattr(arg, k)}".strip() for k in keys}))
        return made

    def _spliced(self, arg: str, where: str) -> list[str | Group]:
        name = re.fullmatch(r"\{\*(\w+)\}", arg)
        if name is None:
            return [arg]
        if name[1] not in self.flags:
            self.fail(f"{where}: there are no flags '{name[1]}' (flags are listed before their use)")
        return self.flags[name[1]]

    def _capabilities(self, table: dict[str, Any]) -> Capabilities:
        self._known(table, {f.name for f in fields(Capabilities)}, "capabilities")
        for name, value in table.items():
            if not isinstance(value, bool):
                self.fail(f"capabilities.{name} is true or false")
        return Capabilities(**table)

    # -- values ----------------------------------------------------------------------------------

    def _known(self, table: Mapping[str, Any], keys: set[str], where: str) -> None:
        for key in table:
            if key not in keys:
                self.fail(f"{where} has an unknown key '{key}'")

    def table(self, data: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        return value if isinstance(value, dict) else self.fail(f"'{key}' must be a table")

    def string(self, data: Mapping[str, Any], key: str) -> str:
        value = data.get(key, "")
        return value if isinstance(value, str) else self.fail(f"'{key}' must be a string")

    def names(self, data: Mapping[str, Any], key: str) -> tuple[str, ...]:
        return self._list(data.get(key, []), key)

    def _list(self, value: Any, where: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.fail(f"'{where}' must be a list of strings")
        return tuple(value)

    def _strings(self, value: Any, where: str) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            self.fail(f"'{where}' must be a table of strings")
        return value

    def _pairs(self, value: Any) -> tuple[tuple[str, str], ...]:
        pairs = [self._list(v, "rename") for v in value] if isinstance(value, list) else self.fail("'rename' is a list")
        return tuple((p[0], p[1]) if len(p) == 2 else self.fail("'rename' has pairs") for p in pairs)

    def _integer(self, data: Mapping[str, Any], key: str, default: int) -> int:
        value = data.get(key, default)
        return value if type(value) is int and value >= 0 else self.fail(f"'{key}' must be a number")

    def _pattern(self, text: str) -> str:
        try:
            re.compile(text)
        except re.error as problem:
            self.fail(f"'{text}' is no regular expression: {problem}")
        return text


def _filled(place: Place, words: dict[str, str]) -> Place:
    """A place whose paths name an architecture."""
    root, file = place.root, place.file
    for word, value in words.items():
        root, file = root.replace(f"{{{word}}}", value), file.replace(f"{{{word}}}", value)
    return replace(place, root=root, file=file)
