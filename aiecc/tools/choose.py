"""Which toolchain builds the cores: the one asked for, Peano where it is found, else the portable one, said aloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aiecc.base.diag import Diagnostic, Level, Note, refuse
from aiecc.base.digest import digest
from aiecc.model.toolchain import Capabilities, Searched, Toolchain
from aiecc.tools.find import Surroundings, resolve
from aiecc.tools.load import load
from aiecc.tools.versions import Versions

NO_AIETOOLS = "aiecc: --xchesscc/--xbridge require aietools; set --aietools or put xchesscc on PATH"


def chess_flags(xchesscc: bool | None, xbridge: bool | None) -> tuple[bool, bool]:
    """(compile, link) with Chess: each flag implies the other unless that one is written, too."""
    if xchesscc is None and xbridge is None:
        return False, False
    compiling = xchesscc if xchesscc is not None else bool(xbridge)
    linking = xbridge if xbridge is not None else bool(xchesscc)
    return compiling, linking


def choose(
    files: Mapping[str, Path],
    around: Surroundings | None = None,
    *,
    name: str = "",
    xchesscc: bool | None = None,
    xbridge: bool | None = None,
    versions: Versions | None = None,
) -> tuple[Toolchain, tuple[Diagnostic, ...]]:
    """The toolchain of a build, and what the user should hear about the choice.

    `files`: `load.available()`. `name`: `--toolchain`. `around.given` maps `--peano` and `--aietools` to what was
    written there. Raises `Refused` for folders that do not exist, unknown names and contradictions.
    """
    around = around or Surroundings()
    versions = versions or Versions()
    for option in ("--peano", "--aietools"):
        given = around.given.get(option, "")
        if given and not Path(given).is_dir():
            refuse(f"aiecc: {option} directory does not exist: {given}", code="E0901")
    compiling, linking = chess_flags(xchesscc, xbridge)
    if compiling or linking:
        if name and name != "chess":
            refuse(f"aiecc: --toolchain={name} and --xchesscc/--xbridge are mutually exclusive", code="E0901")
        chess = _chess(files, around, versions)
        if compiling and linking:
            return chess, ()
        other, said = _without_chess(files, around, versions)
        return mixed(chess, other) if compiling else mixed(other, chess), said
    if name == "chess":
        return _chess(files, around, versions), ()
    if name:
        return resolve(load(name, files), around, versions), ()
    return _without_chess(files, around, versions)


def _chess(files: Mapping[str, Path], around: Surroundings, versions: Versions) -> Toolchain:
    chess = resolve(load("chess", files), around, versions)
    if not chess.root:
        refuse(NO_AIETOOLS, code="E0801", notes=_notes(chess.searched), todo=chess.spec.get)
    return chess


def _without_chess(
    files: Mapping[str, Path], around: Surroundings, versions: Versions
) -> tuple[Toolchain, tuple[Diagnostic, ...]]:
    """Peano if it was named or found, else the portable toolchain with a word about it."""
    peano = resolve(load("peano", files), around, versions)
    if peano.root:
        return peano, ()
    llvm = resolve(load("llvm", files), around, versions)
    told = Diagnostic(
        Level.WARNING,
        f"no Peano was found, so cores are built with the portable toolchain '{llvm.name}': {llvm.spec.standin}",
        code="W0804",
        todo=f"{peano.spec.get}; or --toolchain=llvm to say that you mean it",
    )
    return llvm, (told,)


def mixed(compiler: Toolchain, linker: Toolchain) -> Toolchain:
    """Compile with one toolchain, link with another (`--xchesscc --xbridge=false` and the reverse).

    There is no probe link then, and no region of the stack can be promised to the compiler.
    """
    a, b = compiler.spec, linker.spec
    can = Capabilities(
        stack_sizes=compiler.capabilities.stack_sizes and linker.capabilities.stack_sizes,
        relocations=linker.capabilities.relocations,
        bank_sections=linker.capabilities.bank_sections,
        merge_ir=compiler.capabilities.merge_ir,
        bcf=linker.capabilities.bcf,
        sources=compiler.capabilities.sources,
    )
    spec = replace(
        a,
        name=f"{a.name}+{b.name}",
        what=f"compile with {a.name}, link with {b.name}",
        tools=tuple({t.name: t for t in (*b.tools, *a.tools)}.values()),
        recipes={**a.recipes, "link": b.recipes.get("link", ())},
        words={arch: {**b.words[arch], **a.words[arch]} for arch in a.words if arch in b.words},
        capabilities=can,
        startup=b.startup,
        runtime=b.runtime,
        identity=digest(a.identity, b.identity),
    )
    chess = compiler if a.name == "chess" else linker
    return Toolchain(spec, {**linker.tools, **compiler.tools}, chess.root, (*compiler.searched, *linker.searched))


def _notes(searched: tuple[Searched, ...]) -> list[Note]:
    looked = [s for s in searched if not s.tool]
    return [Note(f"looked in {s.where}{f': {s.problem}' if s.problem else ''}") for s in looked]
