"""How much stack a linked core needs: the deepest of all paths from the ELF entry down.

The answer is a `StackMeasure`, never an exception: a core that cannot be measured says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from aiecc.elf import compiler_rt
from aiecc.elf.calls import CallGraph, build, has_relocations
from aiecc.elf.frames import MalformedStackSizes, frames
from aiecc.elf.lines import locate
from aiecc.elf.read import ElfProblem, Image, read
from aiecc.model.measure import Frame, StackMeasure, StackSource

_MAX = (1 << 63) - 1


def measure(
    data: bytes,
    path: str,
    overrides: Mapping[str, int],
    fallback: Mapping[str, int] | None = None,
    *,
    lines: bool = True,
) -> StackMeasure:
    """`analyse` for the bytes of a linked core; `path` is how messages name it."""
    try:
        return analyse(read(data), overrides, fallback, path=path, lines=lines)
    except ElfProblem:
        return _unknown(f"cannot read the linked core '{path}'")


def analyse(
    image: Image,
    overrides: Mapping[str, int],
    fallback: Mapping[str, int] | None = None,
    *,
    path: str = "",
    lines: bool = True,
) -> StackMeasure:
    """The stack requirement of a linked core, bytes.

    `overrides`: declared requirement of a function's whole call subtree, by exported name; 0 is legal. `fallback`:
    frames of functions without frame data, by name (default: those known for the image's machine). `lines`: look up
    file and line of the chain's frames where there is debug information. Raises `ElfProblem` only for a damaged file.
    """
    if not image.linked:
        return _unknown(f"the linked core '{path}' has no entry point")
    graph = build(image)
    root = graph.spans.at(image.entry)
    if root is None:
        return _unknown(f"the linked core '{path}' declares no function at its entry point")
    if not has_relocations(image):
        return _unknown(f"the linked core '{path}' retains no relocations, so its call graph is unavailable")
    try:
        sizes = frames(image, graph.spans)
    except MalformedStackSizes:
        return _unknown(f"the linked core '{path}' carries malformed .stack_sizes data")
    known = compiler_rt.frames(image) if fallback is None else fallback
    walk = _Walk(graph, root, sizes, _given(graph, overrides), known)
    found = walk.result()
    return _with_lines(found, image, walk.shown) if lines else found


def _unknown(problem: str) -> StackMeasure:
    return StackMeasure(StackSource.UNKNOWN, problem=problem)


def _given(graph: CallGraph, overrides: Mapping[str, int]) -> dict[int, int]:
    """Overrides by function start. Aliases with different values: the larger one, whatever their order."""
    out: dict[int, int] = {}
    for name, value in overrides.items():
        address = graph.exported.get(name)
        node = None if address is None else graph.spans.at(address)
        if node is not None and node == address:
            out[node] = max(value, out.get(node, value))
    return out


@dataclass(slots=True)
class _Walk:
    """The search below one root. Recursive designs are found before any sum is made, and nothing here recurses."""

    graph: CallGraph
    root: int
    sizes: Mapping[int, int]
    given: Mapping[int, int]
    fallback: Mapping[str, int]
    shown: list[int] = field(default_factory=list[int])
    """Addresses of the frames of the answer's chain, in its order."""

    def result(self) -> StackMeasure:
        order, cycles = self._order()
        missing = sorted(a for a in order if a not in self.given and self._frame(a) is None)
        names = tuple(sorted(self.graph.functions[a].name for a in missing))
        if cycles:
            self.shown = cycles[0]
            text = " -> ".join(f"{self._name(a)}@0x{a:X}" for a in cycles[0])
            return StackMeasure(
                StackSource.UNBOUNDED,
                chain=self._frames(cycles[0]),
                unmeasured=names,
                problem=f"recursion detected: {text}",
                cycles=tuple(self._frames(c) for c in cycles[1:]),
            )
        need: dict[int, int] = {}
        deepest: dict[int, int] = {}
        for a in order:
            need[a], below = self._need(a, need)
            if below is not None:
                deepest[a] = below
            if need[a] > _MAX:
                return _unknown(
                    f"stack requirement for '{self._name(a)}' overflows a signed 64-bit byte count; "
                    "the core's .stack_sizes data is not believable"
                )
        chain = [self.root]
        while chain[-1] in deepest:
            chain.append(deepest[chain[-1]])
        self.shown = chain
        source = StackSource.LOWER_BOUND if missing else StackSource.MEASURED
        return StackMeasure(source, need[self.root], self._frames(chain), names)

    def _callees(self, address: int) -> list[int]:
        """An override speaks for the whole subtree: nothing below it is looked at."""
        return [] if address in self.given else self.graph.callees(address)

    def _need(self, address: int, need: Mapping[int, int]) -> tuple[int, int | None]:
        """What `address` needs, its own frame included, and the callee that decides it."""
        if address in self.given:
            return self.given[address], None
        own = self._frame(address) or 0
        callees = self._callees(address)
        if not callees:
            return own, None
        # Ties: a direct call is the clearer witness, then the lower address.
        best = min(callees, key=lambda c: (-need[c], self.graph.via_pointer(address, c), c))
        return own + need[best], best

    def _frame(self, address: int) -> int | None:
        """A function's own frame; None if nothing tells it. The entry sets the stack pointer up, so it has none."""
        if address == self.root:
            return 0
        found = self.sizes.get(address)
        if found is not None:
            return found
        names = self.graph.functions[address].names
        return max((self.fallback[n] for n in names if n in self.fallback), default=None)

    def _order(self) -> tuple[list[int], list[list[int]]]:
        """Every function below the root, callees first; and each recursion as the path from the root to its repeat."""
        order: list[int] = []
        state: dict[int, bool] = {self.root: False}
        cycles: dict[int, list[int]] = {}
        path = [self.root]
        pending = [iter(self._callees(self.root))]
        while path:
            callee = next(pending[-1], None)
            if callee is None:
                state[path[-1]] = True
                order.append(path.pop())
                pending.pop()
            elif callee not in state:
                state[callee] = False
                path.append(callee)
                pending.append(iter(self._callees(callee)))
            elif not state[callee]:
                cycles.setdefault(callee, [*path, callee])
        return order, list(cycles.values())

    def _name(self, address: int) -> str:
        return self.graph.functions[address].name

    def _frames(self, chain: list[int]) -> tuple[Frame, ...]:
        out: list[Frame] = []
        for i, a in enumerate(chain):
            given = a in self.given
            size = self.given[a] if given else self._frame(a)
            pointer = i > 0 and self.graph.via_pointer(chain[i - 1], a)
            out.append(Frame(self._name(a), size, given, pointer))
        return tuple(out)


def _with_lines(measure: StackMeasure, image: Image, shown: list[int]) -> StackMeasure:
    """The same measure, its chain's frames with file and line where debug information has them."""
    where = locate(image, shown)
    if not where:
        return measure
    chain = tuple(replace(f, where=where.get(a, "")) for f, a in zip(measure.chain, shown, strict=True))
    return replace(measure, chain=chain)
