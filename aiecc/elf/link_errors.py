"""What lld's refusal means for a core: one diagnostic per problem, with what to do about it.

All of the linker's messages are read, not the first one only, and those that merely follow from another one are
dropped. What nobody recognizes is passed on as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.elf.inputs import InputObject, Part, functions, variables
from aiecc.elf.program import PROGRAM_TODO, largest_note
from aiecc.elf.read import Image, SymbolType
from aiecc.model.ids import CoreId

_HEAD = re.compile(r"^(?:\S*[/\\])?[A-Za-z0-9_.+-]+: (error|warning|note): (.*)$")
_OVERFLOW = re.compile(r"section '([^']+)' will not fit in region '([^']+)'(?:.*overflowed by (\d+) bytes)?")
_BANK = re.compile(r"bank(\d)$")
_CONSEQUENCES = (
    re.compile(r"section \S+ (?:virtual|load|file) (?:address|range).*overlaps with"),
    re.compile(r"linker command failed with exit code"),
    re.compile(r"too many errors emitted"),
)


@dataclass(frozen=True, slots=True)
class LinkContext:
    """What is known of a link that failed.

    `data_size`: bytes the script grants the data region; `program_size`: of program memory. `objects`: what was linked.
    `linked`: an image of the same core that did link (the probe), which tells what garbage collection leaves.
    """

    core: CoreId
    where: Span | None
    data_size: int
    program_size: int
    objects: Sequence[InputObject] = ()
    linked: Image | None = None
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the linker: its text, and the `>>>` lines below it without the marks."""

    text: str
    details: tuple[str, ...] = ()


def messages(stderr: str) -> list[Message]:
    """The errors in the linker's output, in order."""
    out: list[tuple[str, list[str]]] = []
    current: list[str] | None = None
    for line in stderr.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            current = None
            if head.group(1) == "error":
                current = []
                out.append((head.group(2).strip(), current))
        elif line.startswith(">>>") and current is not None:
            current.append(line.removeprefix(">>>").strip())
    return [Message(text, tuple(details)) for text, details in out]


def explain(stderr: str, context: LinkContext) -> list[Diagnostic]:
    """Diagnostics for the output of a failed link; never empty."""
    found = messages(stderr)
    real = [m for m in found if not any(c.match(m.text) for c in _CONSEQUENCES)] or found
    out: list[Diagnostic] = []
    overflows = [(m, o) for m in real if (o := _OVERFLOW.match(m.text)) is not None]
    for region in dict.fromkeys(o.group(2) for _, o in overflows):
        here = [(m.text, int(o.group(3)) if o.group(3) else None) for m, o in overflows if o.group(2) == region]
        out.append(_overflow(region, here, context))
    for message in real:
        if _OVERFLOW.match(message.text) is None:
            out.append(_other(message, context))
    if not out:
        out.append(_failed(Message(stderr.strip().splitlines()[-1] if stderr.strip() else "no message"), context))
    return list(dict.fromkeys(out))


def _parts(
    context: LinkContext, pick: Callable[[Image | Sequence[InputObject], Sequence[InputObject]], list[Part]]
) -> list[Part]:
    if context.linked is not None:
        return pick(context.linked, context.objects)
    return pick(context.objects, ())


def _overflow(region: str, lines: Sequence[tuple[str, int | None]], context: LinkContext) -> Diagnostic:
    """One diagnostic for a region, however many sections ran past its end."""
    over = max((n for _, n in lines if n is not None), default=None)
    said = "\n".join(text for text, _ in lines)
    bank = _BANK.match(region)
    if region == "program":
        return _program(said, over, context)
    if bank is not None:
        return _bank(said, int(bank.group(1)), over, context)
    if region == "data":
        return _data(said, over, context)
    return _failed(Message(said), context)


def _data(said: str, over: int | None, context: LinkContext) -> Diagnostic:
    core = context.core
    # Overflows accumulate: the last section's counts all before it.
    need = context.data_size + (over or 0)
    hint = (
        f"aiecc: core {core} needs space for up to {need} bytes of static data (constant arrays such as lookup tables "
        "and strings). That does not fit in the space left after buffer allocation, but it may fit if you reserve it "
        f"explicitly. Set data_size on the core: aie.core(%tile) {{ ... }} {{ data_size = {need} : i32 }}, or "
        f"Worker(..., data_size={need}) in IRON."
    )
    short = "" if over is None else f", {over} bytes short"
    notes = [Note(f"core {core.at}: the data region has {context.data_size} bytes{short}")]
    largest = largest_note(_parts(context, variables), "variables")
    if largest is not None:
        notes.append(largest)
    todo = f"set data_size = {need} : i32 on this aie.core; if that does not fit, shrink or move buffers"
    return Diagnostic(Level.ERROR, f"{said}\n{hint}", context.where, "E0302", tuple(notes), todo)


def _bank(said: str, bank: int, over: int | None, context: LinkContext) -> Diagnostic:
    core = context.core
    by = "" if over is None else f", by {over} bytes"
    hint = (
        f"aiecc: core {core}: a static pinned to bank{bank} does not fit there{by}. Placement reserves what a core's "
        "objects measure, so either that measurement was unavailable for this core, or something outside it grew "
        "afterwards."
    )
    largest = largest_note(
        _parts(context, lambda source, origin: variables(source, origin, bank=bank)), f"variables pinned to bank {bank}"
    )
    return Diagnostic(
        Level.ERROR,
        f"{said}\n{hint}",
        context.where,
        "E0503",
        () if largest is None else (largest,),
        f"shrink or repin these tables, or move buffers, the stack or a data_size reservation out of bank {bank}",
    )


def _program(said: str, over: int | None, context: LinkContext) -> Diagnostic:
    core, limit = context.core, context.program_size
    hint = (
        f"aiecc: core {core}: its code exceeds the tile's program memory. That region covers all of the program "
        "memory, so only the code itself can shrink. Split the work across more cores, remove unused kernels from "
        "link_files, or build the core at a lower optimization level."
    )
    notes: list[Note] = []
    if over is not None:
        notes.append(
            Note(
                f"core {core.at}: this core's code exceeds the tile's program memory: {limit + over} bytes, {limit} "
                f"available, {over} too many"
            )
        )
    largest = largest_note(_parts(context, functions))
    if largest is not None:
        notes.append(largest)
    return Diagnostic(Level.ERROR, f"{said}\n{hint}", context.where, "E0602", tuple(notes), PROGRAM_TODO)


def _failed(message: Message, context: LinkContext) -> Diagnostic:
    return Diagnostic(
        Level.ERROR,
        f"the link of core {context.core.at} failed: {message.text}",
        context.where,
        "E0601",
        tuple(Note(d) for d in message.details),
    )


def _other(message: Message, context: LinkContext) -> Diagnostic:
    for pattern, build in _KNOWN:
        match = re.match(pattern, message.text)
        if match is not None:
            return build(match, message, context)
    return _failed(message, context)


def _undefined(match: re.Match[str], message: Message, context: LinkContext) -> Diagnostic:
    name = match.group(1)
    # The details come in pairs: a source position if known, then object and section.
    uses = (d for d in message.details if not d.startswith(("did you mean", "defined in:")))
    users = dict.fromkeys(d.removeprefix("referenced by ") for d in uses)
    notes = [Note(f"core {context.core.at}: wanted by {user}") for user in users]
    notes.extend(Note(d) for d in message.details if d.startswith("did you mean"))
    searched = list(context.files) or [o.name for o in context.objects]
    if searched:
        notes.append(Note(f"searched: {', '.join(searched)}"))
    todo = f"name the file that defines it: link_with on func.func @{name}"
    mangled = _mangled(name, context.objects)
    if mangled is not None:
        symbol, home = mangled
        notes.append(Note(f"{home} defines {symbol}, which is {name} under its C++ name"))
        todo = f'declare {name} extern "C" in its source'
    return Diagnostic(Level.ERROR, f"undefined symbol: {name}", context.where, "E0601", tuple(notes), todo)


def _mangled(name: str, objects: Sequence[InputObject]) -> tuple[str, str] | None:
    """A definition of `name` that only lacks C linkage."""
    prefix = f"_Z{len(name)}{name}"
    for o in objects:
        for s in o.image.symbols:
            if s.type == SymbolType.FUNC and s.defined and s.name.startswith(prefix):
                return s.name, o.name
    return None


def _duplicate(match: re.Match[str], message: Message, context: LinkContext) -> Diagnostic:
    name = match.group(1)
    notes = [Note(f"core {context.core.at}: {d}") for d in message.details]
    todo = "keep one of the definitions, or make them static"
    return Diagnostic(Level.ERROR, f"duplicate symbol: {name}", context.where, "E0601", tuple(notes), todo)


def _orphan(match: re.Match[str], message: Message, context: LinkContext) -> Diagnostic:
    home, section = match.group(1), match.group(2)
    if section.startswith((".init_array", ".ctors", ".preinit_array")):
        return Diagnostic(
            Level.ERROR,
            f"{home} has static constructors ({section}), and nothing runs them on a core",
            context.where,
            "E0601",
            (Note(f"core {context.core.at}: the linker says: {message.text}"),),
            "initialize these objects at compile time (constexpr, constinit) or in the kernel",
        )
    return Diagnostic(
        Level.ERROR,
        f"section '{section}' of {home} has no place in this core's memory",
        context.where,
        "E0601",
        (Note(f"core {context.core.at}: the linker says: {message.text}"),),
        "drop the section attribute, or use AIE_BANK_A to AIE_BANK_D to choose a bank",
    )


def _unusable(match: re.Match[str], message: Message, context: LinkContext) -> Diagnostic:
    why = match.group("why")
    if why.startswith("is "):
        why = f"it {why}"
    elif why == "unable to find":
        why = "it cannot be found"
    return Diagnostic(
        Level.ERROR,
        f"link file '{match.group('file')}' cannot be used: {why}",
        context.where,
        "E0702",
        (Note(f"core {context.core.at} links it"), *(Note(d) for d in message.details)),
    )


_KNOWN: tuple[tuple[str, Callable[[re.Match[str], Message, LinkContext], Diagnostic]], ...] = (
    (r"undefined symbol: (.+)$", _undefined),
    (r"duplicate symbol: (.+)$", _duplicate),
    (r"(.+):\(([^()]+)\) is being placed in '[^']*'$", _orphan),
    (r"(?P<file>\S+) (?P<why>is incompatible with .+)$", _unusable),
    (r"cannot open (?P<file>.+?): (?P<why>.+)$", _unusable),
    (r"\S+:\d+: (?P<why>unable to find) (?P<file>.+)$", _unusable),
    (r"(?P<file>.+?\.(?:o|a|bc|ll|obj|elf)):(?:\d+:)? (?P<why>.+)$", _unusable),
)
