"""The files a link read, opened once: objects, and the members of archives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.elf.archive import Content, Member, members, sniff
from aiecc.elf.data import classify
from aiecc.elf.read import EM_AIE, ElfProblem, Image, SymbolType, read
from aiecc.model.ids import CoreId

_IR_SIGNS = ("; ModuleID", "source_filename", "target triple", "target datalayout", "define ", "declare ", "@", "!llvm")
_AIE_ARCH = {1: "aie", 2: "aie2", 3: "aie2p", 4: "aie2ps"}


@dataclass(frozen=True, slots=True)
class LinkFile:
    """A file for the linker. `name` as messages show it; `thin`: the contents of a thin archive's members."""

    name: str
    data: bytes
    thin: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class InputObject:
    """A relocatable object: `kernel.o`, or `lib.a(kernel.o)`."""

    name: str
    image: Image


@dataclass(frozen=True, slots=True)
class Part:
    """A function or a variable, and the object it comes from (empty if unknown)."""

    symbol: str
    size: int
    object: str = ""

    def __str__(self) -> str:
        return f"{self.symbol} ({self.size} bytes{f', {self.object}' if self.object else ''})"


def objects(files: Iterable[LinkFile]) -> list[InputObject]:
    """Every native object among the files. Files that cannot be read as objects are left out."""
    out: list[InputObject] = []
    for file in files:
        try:
            kind = sniff(file.data)
            if kind is Content.ARCHIVE:
                held = file.thin or members(file.data)
                out.extend(o for m in held for o in _object(f"{file.name}({m.name})", m.data))
            elif kind is Content.OBJECT:
                out.extend(_object(file.name, file.data))
        except ElfProblem:
            continue
    return out


def _object(name: str, data: bytes) -> list[InputObject]:
    try:
        image = read(data)
        # Decoded here so that damage shows now, not where the symbols are used.
        _ = image.symbols
    except ElfProblem:
        return []
    return [InputObject(name, image)]


def check_input(file: LinkFile, core: CoreId, where: Span | None, like: Image | None = None) -> Diagnostic | None:
    """Why a link file cannot be linked, at the core, or None. Said before the linker says it in its own words.

    `like`: an object of the same core, whose machine the file must share.
    """
    try:
        kind = sniff(file.data)
        if kind is Content.BITCODE:
            return None
        if kind is Content.TEXT and _is_ir(file):
            return Diagnostic(Level.ERROR, _TEXTUAL_IR.format(file=file.name, at=core.at), where, "E0702")
        if kind is Content.ARCHIVE:
            held = file.thin or members(file.data)
            pairs = [(f"{file.name}({m.name})", m.data) for m in held if sniff(m.data) is not Content.BITCODE]
        elif kind is Content.LINKED:
            read(file.data)  # a cut file may look like one
            raise ElfProblem("it is a linked ELF, not an object")
        elif not file.data:
            raise ElfProblem("the file is empty")
        elif kind is not Content.OBJECT:
            raise ElfProblem("it is neither an object, an archive nor bitcode")
        else:
            pairs = [(file.name, file.data)]
        for name, data in pairs:
            image = read(data)
            _ = image.symbols
            if like is not None and _build(image) != _build(like):
                raise ElfProblem(f"{name} is built for {_build(image)}, this core for {_build(like)}")
    except ElfProblem as e:
        text = f"link file '{file.name}' cannot be used: {e}"
        return Diagnostic(Level.ERROR, text, where, "E0702", (Note(f"core {core.at} links it"),))
    return None


_TEXTUAL_IR = (
    "aiecc: link file '{file}' on core {at} is textual LLVM IR, which ld.lld cannot link (it reads unrecognized inputs "
    'as linker scripts and fails with "malformed number"). Add link_with_mode = "merge" to the kernel declaration so '
    "aiecc llvm-links it into the core, or assemble it to bitcode (.bc) or an object (.o)."
)


def _is_ir(file: LinkFile) -> bool:
    if file.name.endswith(".ll"):
        return True
    head = file.data[:4096].decode("utf-8", "replace").splitlines()
    first = next((line for line in head if line.strip()), "")
    return first.startswith(_IR_SIGNS)


def _build(image: Image) -> str:
    """`RISC-V`, or `AIE (aie2p)`: objects of different ones cannot be linked."""
    if image.machine == EM_AIE and image.flags & 7 in _AIE_ARCH:
        return f"{image.machine_name} ({_AIE_ARCH[image.flags & 7]})"
    return f"{image.machine_name}{' 64-bit' if image.word == 8 and image.machine_name == 'RISC-V' else ''}"


def functions(source: Image | Sequence[InputObject], origin: Sequence[InputObject] = ()) -> list[Part]:
    """Functions by size, largest first; of a linked image, or of objects before garbage collection.

    `origin`: the objects a linked image was made of, to say where each came from.
    """
    return _parts(source, origin, SymbolType.FUNC, None)


def variables(
    source: Image | Sequence[InputObject], origin: Sequence[InputObject] = (), *, bank: int | None = None
) -> list[Part]:
    """Static variables by size, largest first. `bank` None: ordinary data, else those pinned to that bank."""
    return _parts(source, origin, SymbolType.OBJECT, (bank,))


def defining(origin: Sequence[InputObject], names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Which object defines which of these functions: (object, its functions), both in link order."""
    wanted = set(names)
    out: list[tuple[str, list[str]]] = []
    for o in origin:
        here = [s.name for s in o.image.symbols if s.type == SymbolType.FUNC and s.defined and s.name in wanted]
        if here:
            out.append((o.name, list(dict.fromkeys(here))))
    return out


def _parts(
    source: Image | Sequence[InputObject],
    origin: Sequence[InputObject],
    kind: SymbolType,
    pin: tuple[int | None] | None,
) -> list[Part]:
    if isinstance(source, Image):
        homes = _homes(origin, kind)
        found = [Part(name, size, homes.get((name, size), "")) for name, size in _symbols(source, kind, pin)]
    else:
        found = [Part(name, size, o.name) for o in source for name, size in _symbols(o.image, kind, pin)]
    return sorted(found, key=lambda p: (-p.size, p.symbol, p.object))


def _symbols(image: Image, kind: SymbolType, pin: tuple[int | None] | None) -> list[tuple[str, int]]:
    """Name and size of the sized symbols of a kind, one per address."""
    best: dict[tuple[int, int], tuple[bool, int, str]] = {}
    for s in image.symbols:
        if s.type != kind or s.size == 0 or not 0 < s.section < len(image.sections):
            continue
        if pin is not None:
            home = classify(image.sections[s.section].name)
            if home is None or home.pinned != pin[0]:
                continue
        # Of aliases the exported one, then the larger, then the alphabet.
        rank = (not s.is_exported, -s.size, s.name)
        key = (s.section, s.value)
        best[key] = min(best.get(key, rank), rank)
    return [(name, -size) for _, size, name in best.values()]


def _homes(origin: Sequence[InputObject], kind: SymbolType) -> dict[tuple[str, int], str]:
    """Object by name and size of what it defines; two objects with the same pair are told as both."""
    out: dict[tuple[str, int], str] = {}
    for o in origin:
        for s in o.image.symbols:
            if s.type == kind and s.size and s.defined:
                key = (s.name, s.size)
                known = out.get(key)
                out[key] = o.name if known in (None, o.name) else f"{known} or {o.name}"
    return out
