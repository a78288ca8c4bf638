"""The names values get in print: MLIR's numbering, which throws the names of the source away.

An op proposes names for its results with a method `asm_result_names(self) -> list[str | None]` (None: a number);
upstream ops have theirs in `dialects/upstream/`. A name that is taken gets `_N` behind it, N from one
counter of the scope. A region sees the names and counters of the regions around it; sister regions see the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, Region, SSAValue

_PLAIN = re.compile(r"[A-Za-z$._-][A-Za-z0-9$._-]*\Z")
_Hints = Callable[[Operation], "Sequence[str | None] | None"]


def _clean_byte(byte: int) -> str:
    char = chr(byte)
    if byte < 128 and (char.isalnum() or char in "$._-"):
        return char
    return "_" if char == " " else f"{byte:X}"


def clean(name: str) -> str:
    """A proposed name made of what a value's name may be made of; never a plain number."""
    if _PLAIN.match(name):
        return name
    text = "".join(map(_clean_byte, name.encode("utf-8", "surrogatepass")))
    return f"_{text}" if name[0].isdigit() else text


@dataclass(slots=True)
class _Scope:
    """Counters and names of one region; `outer` holds the names that regions around it use."""

    value: int = 0
    argument: int = 0
    conflict: int = 0
    names: set[str] = field(default_factory=set[str])
    outer: tuple[set[str], ...] = ()

    def inner(self) -> _Scope:
        return _Scope(self.value, self.argument, self.conflict, set(), (self.names, *self.outer))

    def taken(self, name: str) -> bool:
        return name in self.names or any(name in names for names in self.outer)

    def unique(self, proposed: str) -> str:
        stem = name = clean(proposed)
        if name in self.names or (self.outer and self.taken(name)):
            while True:
                name = f"{stem}_{self.conflict}"
                self.conflict += 1
                if not self.taken(name):
                    break
        self.names.add(name)
        return name

    def number(self) -> str:
        self.value += 1
        return str(self.value - 1)


@dataclass(slots=True)
class Names:
    """What to print for each value (without `%`) and block (without `^`), and before the `=` of an op."""

    values: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    blocks: dict[Block, str] = field(default_factory=dict[Block, str])
    heads: dict[Operation, str] = field(default_factory=dict[Operation, str])


def name_values(
    top: Operation,
    hints: _Hints,
    arg_hints: Callable[[Region], Sequence[str | None] | None] = lambda _: None,
    *,
    unique: bool = False,
) -> Names:
    """Name everything `top` contains, and its own results.

    hints: the names an op proposes for its results; arg_hints: those a region's op proposes for its entry block.
    unique: no name twice, as in the generic form; regions are then numbered from the last to the first.
    """
    names = Names()
    root = _Scope()
    _name_results(top, root, names, hints)
    pending: list[tuple[Region, _Scope]] = [(region, root) for region in top.regions]
    while pending:
        region, parent = pending.pop()
        scope = parent if unique else parent.inner()
        nested: list[Region] = []
        proposed = arg_hints(region) if region.blocks else None
        for index, block in enumerate(region.blocks):
            names.blocks[block] = f"bb{index}"
            _name_arguments(block, index == 0, proposed, scope, names)
            for op in block.ops:
                if op.results:
                    _name_results(op, scope, names, hints)
                if op.regions:
                    nested.extend(op.regions)
        pending.extend((region, scope) for region in nested)
    return names


def _name_arguments(
    block: Block, entry: bool, proposed: Sequence[str | None] | None, scope: _Scope, names: Names
) -> None:
    if entry and proposed is not None:
        for argument, name in zip(block.args, proposed, strict=False):
            if name is not None:
                names.values[argument] = scope.unique(name)
    for argument in block.args:
        if argument in names.values:
            continue
        if entry:
            scope.argument += 1
            names.values[argument] = scope.unique(f"arg{scope.argument - 1}")
        else:
            names.values[argument] = scope.number()


def _name_results(op: Operation, scope: _Scope, names: Names, hints: _Hints) -> None:
    """Results form groups: the first, and every other one that has a name of its own."""
    results = op.results
    if not results:
        return
    proposed = hints(op)
    if len(results) == 1:
        hint = proposed[0] if proposed else None
        name = scope.unique(hint) if hint else scope.number()
        names.values[results[0]] = name
        names.heads[op] = f"%{name} = "
        return
    wanted = list(proposed or ())
    wanted += [None] * (len(results) - len(wanted))
    starts = [i for i, hint in enumerate(wanted) if i == 0 or hint]
    named = {i: scope.unique(hint) for i in starts if (hint := wanted[i])}
    if 0 not in named:
        named[0] = scope.number()
    heads: list[str] = []
    for start, end in zip(starts, [*starts[1:], len(results)], strict=True):
        name = named[start]
        heads.append(f"%{name}" if end - start == 1 else f"%{name}:{end - start}")
        for i in range(start, end):
            names.values[results[i]] = name if end - start == 1 else f"{name}#{i - start}"
    names.heads[op] = ", ".join(heads) + " = "
