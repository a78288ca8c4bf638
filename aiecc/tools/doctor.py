"""What `aiecc tools` shows of every toolchain: what was searched, found, in which version, how to get the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiecc.base.diag import Refused
from aiecc.model.toolchain import Searched, Toolchain
from aiecc.tools.find import Surroundings, explore
from aiecc.tools.load import load
from aiecc.tools.versions import Versions


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool. `path` empty: not found; then `searched` says where it was looked for and `get` how to get it."""

    name: str
    what: str
    path: str = ""
    version: str = ""
    optional: bool = False
    searched: tuple[str, ...] = ()
    get: str = ""


@dataclass(frozen=True, slots=True)
class ToolchainRow:
    """One toolchain. `complete`: it can build. `root`: where it is installed, if it is in one folder.

    `problem`: its file cannot be read or the folder given for it does not exist. `remarks`: what will bite later.
    """

    name: str
    what: str
    file: str
    complete: bool
    root: str = ""
    searched: tuple[str, ...] = ()
    tools: tuple[ToolRow, ...] = ()
    get: str = ""
    problem: str = ""
    remarks: tuple[str, ...] = ()


def doctor(
    files: Mapping[str, Path], around: Surroundings | None = None, versions: Versions | None = None
) -> tuple[ToolchainRow, ...]:
    """A row for every toolchain of `load.available()`; never raises for one that cannot be used."""
    around, versions = around or Surroundings(), versions or Versions()
    return tuple(_row(name, file, files, around, versions) for name, file in files.items())


def _row(name: str, file: Path, files: Mapping[str, Path], around: Surroundings, versions: Versions) -> ToolchainRow:
    try:
        spec = load(name, files)
        findings = explore(spec, around, versions)
    except Refused as refused:
        return ToolchainRow(name, "", str(file), False, problem=str(refused))
    chain = findings.toolchain
    rows: list[ToolRow] = []
    for tool in spec.tools:
        found = chain.tools.get(tool.name)
        looked = tuple(_looked(s) for s in findings.searched if s.tool == tool.name and not s.found)
        rows.append(
            ToolRow(
                tool.name,
                tool.what,
                found.path if found else "",
                found.version if found else "",
                tool.optional,
                looked,
                "" if found else tool.get or spec.get,
            )
        )
    complete = not chain.missing
    looked = tuple(_looked(s) for s in findings.searched if not s.tool and (not s.found or not complete))
    get = "" if complete else spec.get
    return ToolchainRow(
        spec.name, spec.what, str(file), complete, chain.root, looked, tuple(rows), get, remarks=_remarks(chain)
    )


def _looked(searched: Searched) -> str:
    return f"{searched.where}: {searched.problem}" if searched.problem else searched.where


def _remarks(chain: Toolchain) -> tuple[str, ...]:
    """Versions that do not go together: the compiler reads what mlir-translate writes."""
    writer, reader = chain.tools.get("mlir-translate"), chain.tools.get("clang")
    if chain.spec.ir_dialect or writer is None or reader is None:
        return ()
    newer, older = _major(writer.version), _major(reader.version)
    if newer and older and newer > older:
        return (f"mlir-translate {writer.version} may write IR that clang {reader.version} cannot read",)
    return ()


def _major(version: str) -> int:
    found = re.match(r"\d+", version)
    return int(found[0]) if found else 0


def report(rows: tuple[ToolchainRow, ...]) -> str:
    """The rows as text, without a final newline."""
    lines: list[str] = []
    for row in rows:
        state = "ready" if row.complete else "not usable" if row.problem else "incomplete"
        lines.append(f"{row.name}: {state}" + (f" - {row.what}" if row.what else ""))
        lines.append(f"  file: {row.file}")
        if row.problem:
            lines.append(f"  problem: {row.problem}")
        if row.root:
            lines.append(f"  root: {row.root}")
        lines += [f"  looked in {where}" for where in row.searched]
        for tool in row.tools:
            if tool.path:
                lines.append(f"  {tool.name} {tool.version}".rstrip() + f": {tool.path}")
                continue
            lines.append(f"  {tool.name}: {'not found (optional)' if tool.optional else 'MISSING'} - {tool.what}")
            lines += [f"    looked in {where}" for where in tool.searched]
            if tool.get and tool.get != row.get:
                lines.append(f"    to get it: {tool.get}")
        if row.get:
            lines.append(f"  to get it: {row.get}")
        lines += [f"  warning: {remark}" for remark in row.remarks]
        lines.append("")
    return "\n".join(lines).rstrip()
