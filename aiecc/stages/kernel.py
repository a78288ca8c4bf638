"""kernel: a file that cores link, found, and compiled when it is C or C++."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from aiecc.base.blob import Blob
from aiecc.base.diag import Diagnostic, Level, Note, Refused, Sink, refuse
from aiecc.base.spans import Span
from aiecc.choices import CheckOptions, CompileOptions
from aiecc.engine.reads import Files
from aiecc.engine.scope import Memo
from aiecc.engine.spec import hookimpl
from aiecc.engine.store import Store
from aiecc.model.build import LinkInput, LinkKind, Lowered
from aiecc.model.ids import KernelId
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop


@hookimpl
def aiecc_kernel(
    kernel: KernelId,
    lowered: Lowered,
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    checking: CheckOptions,
    search: tuple[str, ...],
    files: Files,
    run: Workshop,
    store: Store,
    memo: Memo,
    diag: Sink,
) -> LinkInput:
    """Objects, archives, bitcode and IR as they are; sources compiled with the frames the checks need."""
    from aiecc.tools.commands import is_source

    where = lowered.asked_at(kernel)
    if kernel.merge and not tools.capabilities.merge_ir:
        _refuse_merge(kernel.device, lowered)
    path = _find(kernel, search, files, where)
    if not is_source(str(path)):
        return _take(kernel, path, where, files, store)
    name = _plain_name(path, ".ll" if kernel.merge else ".o")
    embed = checking.lut_banks and not kernel.merge

    def compiled() -> Blob:
        return _compile(path, name, kernel.merge, embed, tools, target, compiling, files, run, diag)

    parts = (tools.fingerprint, str(path.absolute()), name, str(embed), str(compiling.opt_level))
    blob = memo.get("kernel", parts, _told_at(where, compiled), Blob)
    return LinkInput(kernel, LinkKind.IR if kernel.merge else LinkKind.OBJECT, str(path), name, blob)


def _refuse_merge(device: str, lowered: Lowered) -> NoReturn:
    """Said once for all merge-mode kernels of a device: every one of them says the same."""
    merged = list(dict.fromkeys(k for c in lowered.design.device(device).cores for k in c.kernels if k.merge))
    listing = "\n".join(f"  {k.path}" for k in merged)
    refuse(
        'aiecc: --xchesscc cannot consume merge-mode link artifacts (link_with_mode = "merge"): the Chess front-end '
        f"cannot llvm-link them into the core. Offending link_with entries:\n{listing}\n"
        'Drop link_with_mode = "merge" and compile these kernels to objects (.o) instead, or build with the Peano '
        "front-end (drop --xchesscc).",
        lowered.asked_at(merged[0]),
        code="E0702",
    )


def _told_at(where: Span | None, make: Callable[[], Blob]) -> Callable[[], Blob]:
    """`make`, its errors at the line that asked. The position is no part of the work, so it is added outside."""

    def told() -> Blob:
        try:
            return make()
        except Refused as refused:
            first, *rest = refused.diagnostics
            if not first.code.startswith(("E07", "E08")):
                raise
            at = Diagnostic(first.level, first.text, first.where or where, first.code, first.notes, first.todo)
            raise Refused(at, *rest) from None

    return told


def _find(kernel: KernelId, search: tuple[str, ...], files: Files, where: Span | None) -> Path:
    given = Path(kernel.path)
    tried = [given] if given.is_absolute() else [Path(folder, given) for folder in search]
    found = files.first(tried)
    if found is None:
        refuse(
            f"aiecc: link file '{kernel.path}' not found",
            where,
            code="E0702",
            notes=[Note(f"looked for {p}") for p in tried],
            todo="build it first, or name a C or C++ source and aiecc compiles it",
        )
    return found


def _take(kernel: KernelId, path: Path, where: Span | None, files: Files, store: Store) -> LinkInput:
    from aiecc.elf.archive import NAMES, Content, members, sniff
    from aiecc.elf.pack import pack
    from aiecc.elf.read import ElfProblem

    try:
        data = files.read_bytes(path)
    except OSError as problem:
        refuse(f"aiecc: cannot read link file '{path}': {problem.strerror or problem}", where, code="E0702")
    kind = sniff(data)
    if kernel.merge and kind not in (Content.BITCODE, Content.TEXT):
        said = f"it is {NAMES[kind]}, not LLVM IR" if data else "the file is empty"
        text = f"aiecc: peano-linked: cannot read merge-mode link artifact '{kernel.path}': {said}"
        todo = 'drop link_with_mode = "merge" to link it as it is' if kind in (Content.OBJECT, Content.ARCHIVE) else ""
        refuse(text, where, code="E0702", todo=todo)
    if kind is Content.ARCHIVE:
        try:
            inside = members(data, path.parent)
        except ElfProblem as problem:
            refuse(f"aiecc: link file '{path}' cannot be used: {problem}", where, code="E0702")
        if data.startswith(b"!<thin>"):
            files.used(*(path.parent / member.name for member in inside))
            data = pack(inside)
    kinds = {Content.ARCHIVE: LinkKind.ARCHIVE, Content.BITCODE: LinkKind.BITCODE, Content.TEXT: LinkKind.IR}
    kept = store.put(data, path.suffix)
    return LinkInput(kernel, kinds.get(kind, LinkKind.OBJECT), str(path), _plain_name(path), kept)


def _plain_name(path: Path, suffix: str = "") -> str:
    """A name that neither a linker script nor a shell can misread."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", path.name + suffix)


def _compile(
    path: Path,
    name: str,
    to_ir: bool,
    embed_ir: bool,
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    files: Files,
    run: Workshop,
    diag: Sink,
) -> Blob:
    from aiecc.tools.commands import compile_source_argvs
    from aiecc.tools.depfile import parse
    from aiecc.tools.includes import headers
    from aiecc.tools.run import ToolFailure

    if not tools.capabilities.sources:
        refuse(f"toolchain '{tools.name}' does not compile C or C++: build '{path}' first", code="E0702")
    source = path.absolute()
    steps = compile_source_argvs(
        tools,
        arch=target.arch.value,
        opt_level=compiling.opt_level,
        input=str(source),
        output=name,
        depfile=f"{name}.d",
        embed_ir=embed_ir,
        to_ir=to_ir,
    )
    try:
        made = run.job(steps, inputs={str(source): source}, outputs=(name, f"{name}.d"))
    except ToolFailure as failed:
        if failed.ran is None or failed.ran.returncode < 0:
            raise
        notes = failed.diagnostics[0].notes
        raise Refused(
            Diagnostic(Level.ERROR, f"aiecc: kernel '{path}' does not compile", code="E0701", notes=notes)
        ) from None
    read = [source]
    if f"{name}.d" in made.outputs:
        read += [Path(p) for p in parse(made.text(f"{name}.d")) if Path(p).is_absolute()]
    else:
        read += headers(source, tools.include_folders)
    files.used(*dict.fromkeys(read))
    _missed(read[1:], (source.parent, *tools.include_folders), files)
    if made.output.strip():
        diag.warning(f"aiecc: compiling kernel '{path}':\n{made.output.rstrip()}", code="W0701")
    return made.blob(name)


def _missed(found: list[Path], folders: tuple[Path, ...], files: Files) -> None:
    """Write down where headers were looked for in vain: one that appears there would be taken from then on."""
    for header in found:
        home = next((i for i, folder in enumerate(folders) if header.is_relative_to(folder)), 0)
        for earlier in folders[:home]:
            files.is_file(earlier / header.relative_to(folders[home]))
