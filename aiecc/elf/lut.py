"""`--check-lut-banks`: do the two tables of each gather lie in different banks?

A gather loads from two tables at once, so both must be known and apart. Which tables those are is recovered from
LLVM IR: from the gather's address vector back to the selection of two base addresses, and from each of them back to the
object it points at. What cannot be recovered fails; it is never taken for good.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from aiecc.base.diag import Diagnostic, Level
from aiecc.base.spans import Span
from aiecc.elf.archive import Content, sniff
from aiecc.elf.banks import Memory, placed
from aiecc.elf.data import BANK_LETTERS
from aiecc.elf.inputs import LinkFile
from aiecc.elf.llvm_text import Instruction, NotIr, Value
from aiecc.elf.lut_ir import Function, IrModule, parse
from aiecc.elf.read import ElfProblem, Image, SymbolType, read
from aiecc.model.ids import CoreId

_GATHER = re.compile(r"llvm\.aie2p?\.load\.4x(?:16|32|64)\.(?:lo|hi)$")
_INTRINSIC = re.compile(r"llvm\.aie2p?\.(.+)$")
_STEPS = 16
_MAGIC = b"BC\xc0\xde"

Disassemble = Callable[[bytes], "str | None"]


@dataclass(frozen=True, slots=True)
class IrInput:
    """IR of one input of a core. `texts` empty: none could be read. `removed`: functions the link threw away.

    `own`: it is the core's own code, where the names of MLIR buffers are bound.
    """

    name: str
    texts: tuple[str, ...]
    removed: frozenset[str] = frozenset()
    own: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """Where one base address comes from. `kind`: `symbol`, `parameter`, `stack` or `unresolved`."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return {
            "symbol": f"'{self.name}'",
            "parameter": f"parameter {self.name}",
            "stack": "a stack local",
        }.get(self.kind, "an unresolved pointer")


UNRESOLVED = Side("unresolved")


@dataclass(frozen=True, slots=True)
class Pair:
    """The two tables that one gather reads."""

    function: str
    first: Side
    second: Side


def object_ir(file: LinkFile, linked: Image, disassemble: Disassemble) -> IrInput:
    """The IR of a link file: textual, bitcode, or embedded in an object. Archives count as unreadable.

    `disassemble` turns one bitcode module into text, None if it cannot.
    """
    kind = sniff(file.data)
    if kind is Content.TEXT:
        return IrInput(file.name, (file.data.decode("utf-8", "replace"),))
    if kind is Content.BITCODE:
        return IrInput(file.name, _texts([file.data], disassemble))
    if kind is not Content.OBJECT:
        return IrInput(file.name, ())
    try:
        image = read(file.data)
        texts = _texts(embedded_bitcode(image), disassemble)
        removed = _functions(image) - _functions(linked)
    except ElfProblem:
        return IrInput(file.name, ())
    return IrInput(file.name, texts, frozenset(removed))


def embedded_bitcode(image: Image) -> list[bytes]:
    """Every bitcode module in an object's `.llvmbc` sections. Linking objects together concatenates theirs."""
    return [m for s in image.sections_named(".llvmbc") for m in split_bitcode(image.contents(s))]


def split_bitcode(data: bytes) -> list[bytes]:
    """The modules of concatenated bitcode, found by walking the top-level blocks. Damage ends the list early."""
    out: list[bytes] = []
    at = 0
    while data[at : at + 4] == _MAGIC:
        start = at
        at += 4
        # A block: abbreviation id 1 in two bits, padded to a word; then its length in words.
        while at + 8 <= len(data) and data[at] & 3 == 1 and data[at : at + 4] != _MAGIC:
            at += 8 + 4 * int.from_bytes(data[at + 4 : at + 8], "little")
        if at > len(data):
            break
        out.append(data[start:at])
    return out


def _texts(modules: Iterable[bytes], disassemble: Disassemble) -> tuple[str, ...]:
    texts = [disassemble(m) for m in modules]
    # One unreadable module leaves gathers that nobody has seen.
    return () if None in texts else tuple(t for t in texts if t is not None)


def _functions(image: Image) -> set[str]:
    return {s.name for s in image.symbols if s.type == SymbolType.FUNC and s.defined}


def pairs(module: IrModule, removed: frozenset[str] = frozenset()) -> list[Pair]:
    """The table pairs of every gather in a module, each once, in order."""
    out: dict[Pair, None] = {}
    for function in module.functions:
        if function.name in removed:
            continue
        for call in function.calls:
            if _GATHER.match(call.callee):
                for pair in _Gather(module, function).pairs(call):
                    out[pair] = None
    return list(out)


class _Gather:
    """The walk back from one gather."""

    def __init__(self, module: IrModule, function: Function) -> None:
        self._module = module
        self._function = function

    def pairs(self, call: Instruction) -> list[Pair]:
        unknown = Pair(self._function.name, UNRESOLVED, UNRESOLVED)
        if not call.operands:
            return [unknown]
        found: list[Pair] = []
        pending, seen = [call.operands[0]], set[str]()
        while pending:
            value = pending.pop()
            if value.kind == "local":
                if value.name in seen:
                    continue
                seen.add(value.name)
            step = self._instruction(value)
            if step is None:
                continue
            if step.op in ("phi", "select"):
                return [unknown]
            if step.op in ("add", "bitcast"):
                pending.extend(step.operands)
            elif step.op == "shufflevector":
                source = _single_source(step)
                if source is None:
                    return [unknown]
                pending.append(source)
            elif _intrinsic(step) == "ext.I256.I512":
                pending.extend(step.operands[:1])
            elif _intrinsic(step) == "vsel32":
                pair = self._selection(step)
                if pair is not None:
                    found.append(pair)
        return found or [unknown]

    def _instruction(self, value: Value) -> Instruction | None:
        if value.kind == "local":
            return self._function.values.get(value.name)
        return value.instruction

    def _selection(self, call: Instruction) -> Pair | None:
        """The pair a selection mixes; None if neither side has anything of a pointer."""
        sides = [self._side(v) for v in call.operands[:2]]
        if len(sides) < 2 or sides == [None, None]:
            return None
        first, second = (s or UNRESOLVED for s in sides)
        return Pair(self._function.name, first, second)

    def _side(self, value: Value) -> Side | None:
        """What a side's base address points at; None if it is no address at all."""
        offset = 0
        pointer = False
        for _ in range(_STEPS):
            if value.kind == "global":
                size = self._module.globals.get(value.name, 0)
                return Side("symbol", value.name) if 0 <= offset < size else UNRESOLVED
            if value.kind == "vector":
                value = value.elements[0] if len(set(value.elements)) == 1 else Value("other")
                continue
            if value.kind == "local" and value.name in self._function.parameters:
                number = self._function.parameters[value.name]
                if number in self._function.pointers:
                    return Side("parameter", str(number))
            step = self._instruction(value)
            if step is None:
                return UNRESOLVED if pointer else None
            if step.op == "alloca":
                return Side("stack") if 0 <= offset < step.type.size else UNRESOLVED
            if step.op in ("phi", "select"):
                return UNRESOLVED
            pointer = pointer or step.op in ("ptrtoint", "getelementptr", "addrspacecast")
            following = _step(step)
            if step.op == "getelementptr":
                moved = _constant_offset(step)
                if moved is None:
                    return UNRESOLVED
                offset += moved
            elif step.op == "shufflevector":
                following = self._broadcast(step)
            if following is None:
                return UNRESOLVED if pointer else None
            value = following
        return UNRESOLVED

    def _broadcast(self, shuffle: Instruction) -> Value | None:
        """The scalar that a shuffle copies into every lane: element 0 of an insertion at 0."""
        if len(shuffle.operands) < 3 or not _all_zero(shuffle.operands[2]):
            return None
        insertion = self._instruction(shuffle.operands[0])
        if insertion is None or insertion.op != "insertelement" or len(insertion.operands) < 3:
            return None
        index = insertion.operands[2]
        return insertion.operands[1] if index == Value("int") else None


def _step(step: Instruction) -> Value | None:
    """The operand a side's walk goes on with."""
    if step.op in ("zext", "ptrtoint", "bitcast", "addrspacecast", "getelementptr"):
        return step.operands[0] if step.operands else None
    if _intrinsic(step) == "vbroadcast32.I512":
        return step.operands[0] if step.operands else None
    return None


def _intrinsic(step: Instruction) -> str:
    match = _INTRINSIC.match(step.callee) if step.op == "call" else None
    return match.group(1) if match else ""


def _single_source(shuffle: Instruction) -> Value | None:
    """The one vector a shuffle takes lanes from; None if it mixes two."""
    if len(shuffle.operands) < 3:
        return None
    first, second, mask = shuffle.operands
    if second.kind == "undef" or mask.kind == "zero":
        return first
    lanes = shuffle.type.count
    used = {e.number < lanes for e in mask.elements if e.kind == "int"}
    if mask.kind != "vector" or len(used) != 1 or any(e.kind not in ("int", "undef") for e in mask.elements):
        return None
    return first if used == {True} else second


def _all_zero(mask: Value) -> bool:
    return mask.kind == "zero" or (bool(mask.elements) and all(e == Value("int") for e in mask.elements))


def _constant_offset(step: Instruction) -> int | None:
    """Bytes an in-bounds GEP with constant indices moves by; None for any other."""
    if not step.inbounds or any(v.kind not in ("int", "zero") for v in step.operands[1:]):
        return None
    indices = [v.number for v in step.operands[1:]]
    if not indices or not step.type.size:
        return None
    offset, inner = indices[0] * step.type.size, step.type
    for index in indices[1:]:
        try:
            moved, inner = inner.step(index)
        except NotIr:
            return None
        offset += moved
    return offset


def check_luts(
    core: CoreId,
    where: Span | None,
    inputs: Sequence[IrInput],
    image: Image,
    memory: Memory,
    buffers: Mapping[str, tuple[int, int]],
) -> list[Diagnostic]:
    """An error for every input without IR and for every table pair not proven apart.

    `buffers`: tile-relative address and size of the MLIR buffers of the core's own tile.
    """
    out: dict[str, None] = {}
    symbols = placed(image, memory)
    for item in inputs:
        if not item.texts:
            out[
                f"core {core.at}: '{item.name}' carries no readable LLVM IR, so its aie::lut tables cannot be checked. "
                'Rebuild object-linked kernels with embedded LLVM IR, or use link_with_mode = "merge", or drop '
                "--check-lut-banks"
            ] = None
            continue
        extents = {**symbols, **buffers} if item.own else symbols
        for text in item.texts:
            for pair in pairs(parse(text), item.removed):
                problem = _problem(pair, extents, memory)
                if problem:
                    out[
                        f"core {core.at}: the aie::lut tables in '{pair.function}' ({pair.first} and {pair.second}) "
                        f"{problem}"
                    ] = None
    return [Diagnostic(Level.ERROR, text, where, "E0502") for text in out]


def prebuilt_refusal(path: str, where: Span | None) -> Diagnostic:
    """A prebuilt core brings no IR, so the strict check cannot be asked of it."""
    text = f"aiecc: --check-lut-banks cannot verify a prebuilt core elf_file without its compiler IR: {path}"
    return Diagnostic(Level.ERROR, text, where, "E0502")


def _problem(pair: Pair, extents: Mapping[str, tuple[int, int]], memory: Memory) -> str:
    if "stack" in (pair.first.kind, pair.second.kind):
        return (
            "are on the stack, so their bank separation cannot be verified. Use static tables pinned to different banks"
        )
    banks = [_bank(side, extents, memory) for side in (pair.first, pair.second)]
    if None in banks:
        return (
            "have placement that cannot be verified. Use static tables pinned to different banks, or merge the kernel "
            "IR so table bindings can be optimized into the core"
        )
    if banks[0] == banks[1]:
        return (
            f"are both in memory bank {BANK_LETTERS[banks[0] or 0]}. The gather reads them at once, so they must be in "
            "different banks"
        )
    return ""


def _bank(side: Side, extents: Mapping[str, tuple[int, int]], memory: Memory) -> int | None:
    """The bank that holds the whole of a table; None if it is unknown or spans two."""
    found = extents.get(side.name) if side.kind == "symbol" else None
    if found is None or found[1] <= 0:
        return None
    address, size = found
    first, last = memory.bank_of(address), memory.bank_of(address + size - 1)
    return first if first == last and 0 <= first < memory.banks else None
