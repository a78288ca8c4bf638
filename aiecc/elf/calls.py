"""Who calls whom in a linked core.

Nodes are function addresses: aliases share one. Edges come from the relocations the linker kept. Nothing here
depends on the order of the symbol table or of the relocations.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from aiecc.elf import riscv
from aiecc.elf.read import EM_RISCV, Binding, Image, Section, Symbol, SymbolType
from aiecc.elf.relocs import Table, Use
from aiecc.model import runs


@dataclass(frozen=True, slots=True)
class Function:
    """Code that starts at `address`. `name` is the best of its `names`: exported before local, sized before not.

    `sized` False: the symbol gave no size, and the function is taken to reach to the next one. `part`: a label inside
    a routine without a size, which only a call made a function of its own.
    """

    address: int
    size: int
    name: str
    names: tuple[str, ...]
    sized: bool = True
    part: bool = False

    @property
    def end(self) -> int:
        return self.address + self.size


class Spans:
    """Address ranges, looked up by an address in them. Of nested ones the innermost start wins."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._ends: dict[int, int] = {}
        for start, end in ranges:
            self._ends[start] = max(end, self._ends.get(start, end))
        self._starts = sorted(self._ends)
        # The farthest end among all ranges up to each one: lets a search stop where nothing earlier can reach.
        self._reach: list[int] = []
        for start in self._starts:
            self._reach.append(max(self._ends[start], self._reach[-1] if self._reach else 0))

    def at(self, address: int) -> int | None:
        """The start of the range that holds `address`."""
        i = bisect_right(self._starts, address) - 1
        while i >= 0 and self._reach[i] > address:
            if address < self._ends[self._starts[i]]:
                return self._starts[i]
            i -= 1
        return None

    def starts_at(self, address: int) -> bool:
        return address in self._ends


@dataclass(slots=True)
class CallGraph:
    """Functions by address, and for each the functions it may enter.

    `calls[f][g]` is True where g is reached through a pointer only. `exported` maps a name an override can use to
    its function's address.
    """

    functions: dict[int, Function]
    calls: dict[int, dict[int, bool]]
    exported: dict[str, int]
    spans: Spans

    def callees(self, address: int) -> list[int]:
        """Sorted by address."""
        return sorted(self.calls.get(address, {}))

    def via_pointer(self, caller: int, callee: int) -> bool:
        return self.calls.get(caller, {}).get(callee, False)


def build(image: Image) -> CallGraph:
    """The call graph of a linked image whose relocations were kept."""
    functions = _functions(image)
    spans = Spans((f.address, f.end) for f in functions.values())
    graph = CallGraph(functions, {}, _exported(image), spans)
    edges = _Edges(image, graph)
    edges.collect()
    for f in functions.values():
        # Where a label cut a routine in two, the first half may run on into the second.
        following = functions.get(f.end)
        if not f.sized and following is not None and following.part:
            edges.add(f.address, following.address, through_pointer=False)
    return graph


def has_relocations(image: Image) -> bool:
    """Whether the link kept relocations at all."""
    return any(s.is_relocation for s in image.sections)


def _rank(symbol: Symbol) -> tuple[bool, int, str]:
    """Orders the names of one address: sized first, exported before weak before local, then the alphabet."""
    order = {Binding.GLOBAL: 0, Binding.WEAK: 1}
    return symbol.size == 0, order.get(Binding(symbol.binding), 2) if symbol.binding in (0, 1, 2) else 3, symbol.name


def _functions(image: Image) -> dict[int, Function]:
    by_address: dict[int, list[Symbol]] = {}
    for s in image.symbols:
        if s.type == SymbolType.FUNC and s.defined:
            by_address.setdefault(s.value, []).append(s)
    sized = Spans((a, a + max(s.size for s in group)) for a, group in by_address.items() if any(s.size for s in group))
    starts = {a for a in by_address if sized.starts_at(a) or sized.at(a) is None}
    labels = {a: group for a, group in _called_code(image).items() if a not in by_address and sized.at(a) is None}
    starts |= labels.keys()
    ordered = sorted(starts)
    functions: dict[int, Function] = {}
    for i, address in enumerate(ordered):
        group = sorted(by_address.get(address) or labels[address], key=_rank)
        size = max((s.size for s in group), default=0)
        known = size > 0
        if not known:
            section = image.section_at(address)
            limit = section.end if section is not None and section.executable else address
            following = ordered[i + 1] if i + 1 < len(ordered) else limit
            size = max(0, min(limit, following) - address)
        names = tuple(dict.fromkeys(s.name for s in group))
        part = not any(s.is_exported or s.type == SymbolType.FUNC for s in group)
        if size > 0:
            functions[address] = Function(address, size, names[0], names, known, part)
    return functions


def _called_code(image: Image) -> dict[int, set[Symbol]]:
    """Addresses in code that calls name by untyped symbols (assembly often leaves the type out), with the symbols."""
    table = Table(image)
    code = [s for s in image.sections if s.executable and s.allocated]
    found: dict[int, set[Symbol]] = {}
    for section, patched in _code_and_data(image):
        if not patched.executable:
            continue
        symbols = image.symbols_for(section)
        body = image.contents(patched)
        for r in image.relocations(section):
            if table.use(r.type) is not Use.CALL or r.symbol >= len(symbols):
                continue
            symbol = symbols[r.symbol]
            if symbol.type != SymbolType.NOTYPE or not symbol.defined:
                continue
            at = r.offset - patched.address
            if not symbol.is_exported and (not table.tells_jumps or table.is_jump(r.type, body[at : at + 8])):
                continue
            target = table.target(r.type, symbol.value, r.addend, section=False)
            if any(s.address <= target < s.end for s in code):
                found.setdefault(target, set()).add(symbol)
    return found


def _exported(image: Image) -> dict[str, int]:
    """Names that an override can use: exported functions, those of size 0 included; the first of a name wins."""
    out: dict[str, int] = {}
    for s in image.symbols:
        if s.type == SymbolType.FUNC and s.defined and s.is_exported:
            out.setdefault(s.name, s.value)
    return out


def _code_and_data(image: Image) -> Iterable[tuple[Section, Section]]:
    """Relocation sections that patch memory of the core, with the section patched."""
    for section, patched in image.relocation_sections():
        if patched is not None and patched.allocated:
            yield section, patched


class _Edges:
    """Collects the edges of one image."""

    def __init__(self, image: Image, graph: CallGraph) -> None:
        self.image = image
        self.graph = graph
        self.table = Table(image)
        self.objects = _data_objects(image, graph.functions.values())
        self.reads: dict[int, set[int]] = {}
        """Function -> data objects its code names."""
        self.holds: dict[int, set[int]] = {}
        """Data object -> functions whose address it holds."""
        self.patched: set[int] = set()
        """Addresses in code that a relocation speaks for."""

    def collect(self) -> None:
        for section, patched in _code_and_data(self.image):
            if patched.executable:
                self._in_code(section, patched)
            else:
                self._in_data(section)
        if self.image.machine == EM_RISCV:
            self._in_instructions()
        for reader, objects in self.reads.items():
            for target in set[int]().union(*(self.holds.get(o, set()) for o in objects)):
                self.add(reader, target, through_pointer=True)

    def add(self, caller: int, callee: int, *, through_pointer: bool) -> None:
        known = self.graph.calls.setdefault(caller, {})
        known[callee] = known.get(callee, True) and through_pointer

    def _in_code(self, section: Section, patched: Section) -> None:
        image, table, spans = self.image, self.table, self.graph.spans
        symbols = image.symbols_for(section)
        code = image.contents(patched)
        for r in image.relocations(section):
            self.patched.add(r.offset)
            use = table.use(r.type)
            if use is Use.NONE or r.symbol >= len(symbols):
                continue
            symbol = symbols[r.symbol]
            if not symbol.defined:
                continue
            if use is Use.WORD and symbol.type == SymbolType.FUNC and symbol.size == 0:
                continue
            target = table.target(r.type, symbol.value, r.addend, section=symbol.type == SymbolType.SECTION)
            owner = spans.at(r.offset)
            if owner is None:
                # Words between the functions: the linker collects pointers to constructors there.
                self._hold(r.offset, target)
                continue
            at = r.offset - patched.address
            jump = use is Use.LINKLESS or (use is Use.CALL and table.is_jump(r.type, code[at : at + 8]))
            callee = self._callee(owner, symbol, target, use, jump)
            if callee is None:
                self._read(owner, symbol, target)
            elif callee != owner or not self._is_loop(symbol, use, jump):
                self.add(owner, callee, through_pointer=use in (Use.ADDRESS, Use.WORD))

    def _callee(self, owner: int, symbol: Symbol, target: int, use: Use, jump: bool) -> int | None:
        """The function that code of `owner` enters at `target`, if any."""
        spans = self.graph.spans
        if spans.starts_at(target):
            taken = use in (Use.ADDRESS, Use.WORD) and symbol.type == SymbolType.NOTYPE
            # `_init_array_end` marks a place, and what happens to start there is not what it points to.
            return None if taken and symbol.name not in self.graph.functions[target].names else target
        # A second entry point, in the middle of another function.
        named = symbol.type == SymbolType.FUNC or (self.table.tells_jumps and not jump)
        inside = spans.at(target) if use is Use.CALL and named else None
        return inside if inside != owner else None

    def _is_loop(self, symbol: Symbol, use: Use, jump: bool) -> bool:
        """Whether a function's reference to its own start is where a loop goes back to, not a call."""
        told = use is Use.CALL and self.table.tells_jumps
        return jump or (symbol.type == SymbolType.NOTYPE and not told)

    def _in_instructions(self) -> None:
        """Edges that left no relocation."""
        functions, image = self.graph.functions, self.image
        for section in image.sections:
            if not (section.executable and section.allocated):
                continue
            code = image.contents(section)
            for function in functions.values():
                if not section.address <= function.address < section.end:
                    continue
                body = code[function.address - section.address : function.end - section.address]
                for t in riscv.transfers(body, function.address, rv32=image.word == 4):
                    if t.pc in self.patched or t.target not in functions:
                        continue
                    owner = self.graph.spans.at(t.pc)
                    if owner is None or (t.target == owner and not t.links):
                        continue
                    self.add(owner, t.target, through_pointer=t.loads)

    def _read(self, reader: int, symbol: Symbol, target: int) -> None:
        # A pointer derived from a sized object belongs to it even one past its end, where loops stop.
        home = symbol.value if symbol.type == SymbolType.OBJECT and symbol.size > 0 else target
        found = self.objects.at(home)
        if found is not None:
            self.reads.setdefault(reader, set()).add(found)

    def _in_data(self, section: Section) -> None:
        symbols = self.image.symbols_for(section)
        for r in self.image.relocations(section):
            if self.table.use(r.type) is Use.NONE or r.symbol >= len(symbols):
                continue
            symbol = symbols[r.symbol]
            if not symbol.defined:
                continue
            target = self.table.target(r.type, symbol.value, r.addend, section=symbol.type == SymbolType.SECTION)
            self._hold(r.offset, target)

    def _hold(self, at: int, target: int) -> None:
        """Note that the word at an address points to a function."""
        home = self.objects.at(at)
        if home is not None and self.graph.spans.starts_at(target):
            self.holds.setdefault(home, set()).add(target)


def _data_objects(image: Image, functions: Iterable[Function]) -> Spans:
    """Sized data symbols, and each gap between them as one object: compilers leave private tables unnamed.

    In code, the gaps between functions.
    """
    objects = {
        (s.value, s.value + s.size) for s in image.symbols if s.type == SymbolType.OBJECT and s.size and s.defined
    }
    sized, code = sorted(objects), sorted((f.address, f.end) for f in functions)
    ranges = list(sized)
    for section in image.sections:
        if section.allocated and section.size:
            ranges += runs.free((section.address, section.end), code if section.executable else sized)
    return Spans(ranges)
