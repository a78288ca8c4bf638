"""The stages as a graph, derived from names alone: nobody says the order.

`Graph` checks all contracts against each other once. `expand` then makes the tasks: for what is asked, backwards, one
per stage and key, and no others.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from aiecc.base.diag import Note, refuse
from aiecc.base.nearest import did_you_mean
from aiecc.engine.keys import KeySpace, Members
from aiecc.engine.options import is_options
from aiecc.engine.spec import Contract, Param


class Ref(NamedTuple):
    """One product: an artifact, and the key it belongs to (None: the whole design)."""

    artifact: str
    key: Any = None

    def __str__(self) -> str:
        return self.artifact if self.key is None else f"{self.key}/{self.artifact}"


@dataclass(frozen=True, slots=True)
class Need:
    """An artifact that a stage takes. `param` is empty for one that only an ambient looks at.

    `kind`: the kind of key under which the artifact is found, None when it belongs to the whole design.
    """

    param: str
    artifact: str
    kind: str | None
    many: bool = False
    optional: bool = False
    member_optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A stage in the graph. `rank` is its place in the order of stages, `kind` what it runs once per."""

    contract: Contract
    rank: int
    kind: str | None
    keys: tuple[tuple[str, str], ...]
    needs: tuple[Need, ...]
    options: tuple[tuple[str, type], ...]
    ambients: tuple[str, ...]

    @property
    def product_kind(self) -> str | None:
        """The kind of key under which its product is found."""
        return self.contract.spread or self.kind


@dataclass(slots=True, eq=False)
class Task:
    """One stage at one key. `inputs` are in the order of the node's needs; `waits` are the tasks that make them."""

    node: Node
    key: Any
    inputs: tuple[tuple[Ref, ...], ...] = ()
    waits: tuple[Task, ...] = ()
    order: int = 0
    address: str = ""

    @property
    def ref(self) -> Ref:
        return Ref(self.node.contract.gives, self.key)


@dataclass(slots=True)
class Graph:
    """All stages. Raises `Refused` (E0902) for contracts that do not fit together."""

    contracts: Sequence[Contract]
    keys: KeySpace = field(default_factory=KeySpace)
    roots: Collection[str] = ()
    ambients: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The words of the house, each with the artifacts it looks at."""
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    """By artifact, in the order of ranks."""

    def __post_init__(self) -> None:
        makers: dict[str, Contract] = {}
        for contract in self.contracts:
            other = makers.setdefault(contract.gives, contract)
            if contract.gives in self.roots or other is not contract:
                by = "the caller gives it" if contract.gives in self.roots else f"stage {other.hook} makes it, too"
                _bad(contract, f"makes '{contract.gives}', but {by}")
            if contract.spread is not None and contract.spread not in self.keys.kinds:
                _bad(contract, f"spreads over '{contract.spread}', which is no kind of key")
        kinds = {c.gives: self._stage_kind(c) for c in makers.values()}
        found = {c.gives: self._node(c, kinds, makers) for c in makers.values()}
        for rank, artifact in enumerate(_ordered(found)):
            node = found[artifact]
            self.nodes[artifact] = Node(
                node.contract, rank, node.kind, node.keys, node.needs, node.options, node.ambients
            )
        if self.keys.artifact in self.nodes:
            for node in self.reach([self.keys.artifact]):
                if node.kind is not None:
                    _bad(node.contract, f"runs once per {node.kind}, but those are known only from its own product")

    def _stage_kind(self, contract: Contract) -> str | None:
        """What the stage runs once per: the finest of its key parameters."""
        finest: str | None = None
        for param in contract.params:
            kind = self.keys.kind_of(param.type)
            if kind is None or self.keys.contains(kind, finest):
                continue
            if not self.keys.contains(finest, kind):
                _bad(contract, f"runs once per {finest} and once per {kind}, but neither lies within the other")
            finest = kind
        if contract.spread is not None and not self.keys.contains(finest, contract.spread):
            _bad(contract, f"runs once per {finest} and cannot spread over every {contract.spread}")
        return finest

    def _node(self, contract: Contract, kinds: Mapping[str, str | None], makers: Mapping[str, Contract]) -> Node:
        own = kinds[contract.gives]
        keys: list[tuple[str, str]] = []
        needs: list[Need] = []
        options: list[tuple[str, type]] = []
        ambients: list[str] = []
        for param in contract.params:
            kind = self.keys.kind_of(param.type)
            if param.name in self.ambients:
                ambients.append(param.name)
                for artifact in self.ambients[param.name]:
                    needs.append(self._need(contract, Param("", None, True), artifact, own, kinds, makers))
            elif kind is not None:
                keys.append((param.name, kind))
            elif is_options(param.type):
                options.append((param.name, param.type))
            else:
                needs.append(self._need(contract, param, param.name, own, kinds, makers))
        return Node(contract, 0, own, tuple(keys), tuple(needs), tuple(options), tuple(ambients))

    def _need(
        self,
        contract: Contract,
        param: Param,
        artifact: str,
        own: str | None,
        kinds: Mapping[str, str | None],
        makers: Mapping[str, Contract],
    ) -> Need:
        """How a stage that runs once per `own` takes an artifact."""
        if artifact in self.roots:
            return Need(param.name, artifact, None, False, param.optional)
        if artifact not in kinds:
            known = [*kinds, *self.roots, *self.ambients]
            _bad(contract, f"needs '{artifact}', which nobody makes{did_you_mean(artifact, known)}")
        kind = makers[artifact].spread or kinds[artifact]
        if kind is not None and param.member is self.keys.kinds[kind]:
            return Need(param.name, artifact, kind, True, param.optional, param.member_optional)
        if not self.keys.contains(kind, own):
            cls = self.keys.kinds[kind].__name__ if kind is not None else ""
            runs = f"runs once per {own}" if own else "runs once"
            _bad(contract, f"{runs}, but '{artifact}' is made once per {kind}: annotate it dict[{cls}, ...]")
        return Need(param.name, artifact, kind, False, param.optional)

    # Questions

    def reach(self, requested: Iterable[str]) -> list[Node]:
        """The stages that the requested artifacts need, in order of rank; roots are left out."""
        todo, seen = list(requested), set[str]()
        while todo:
            artifact = todo.pop()
            if artifact in self.roots or artifact in seen:
                continue
            if artifact not in self.nodes:
                known = [*self.nodes, *self.roots]
                refuse(
                    f"there is no artifact '{artifact}'{did_you_mean(artifact, known)}",
                    code="E0901",
                    notes=(Note("known: " + ", ".join(sorted(known))),),
                )
            seen.add(artifact)
            todo.extend(need.artifact for need in self.nodes[artifact].needs)
        return sorted((self.nodes[a] for a in seen), key=lambda node: node.rank)

    def is_keyed(self, requested: Iterable[str]) -> bool:
        """True when the tasks of these artifacts cannot be told before the key space's artifact is made."""
        return any(node.product_kind is not None for node in self.reach(requested))

    def dot(self, requested: Sequence[str], label: Callable[[str], str] = str, name: str = "aiecc") -> str:
        """The pruned graph for Graphviz: a box per artifact, an arrow per need, the requested ones light blue."""
        nodes = self.reach(requested)
        made = [node.contract.gives for node in nodes]
        used = {need.artifact for node in nodes for need in node.needs} | set(requested)
        boxes = [*(root for root in self.roots if root in used), *made]
        number = {artifact: i for i, artifact in enumerate(boxes)}
        lines = [f"digraph {name} {{", "  rankdir=LR;", '  node [shape=box, fontname="monospace"];']
        for artifact, i in number.items():
            text = label(artifact).replace("\\", "\\\\").replace('"', '\\"')
            colour = ", style=filled, fillcolor=lightblue" if artifact in requested else ""
            lines.append(f'  n{i} [label="{text}"{colour}];')
        for node in nodes:
            for source in dict.fromkeys(number[need.artifact] for need in node.needs):
                lines.append(f"  n{source} -> n{number[node.contract.gives]};")
        return "\n".join([*lines, "}", ""])

    def expand(
        self, requested: Iterable[str], members: Members, only: Callable[[str, Any], bool] | None = None
    ) -> list[Task]:
        """The tasks for what is asked, in the order of reporting: by rank, then as `members` orders the keys.

        `only(kind, key)` narrows the keys for which artifacts are asked; what those need is made all the same.
        """
        tasks: dict[Ref, Task] = {}
        todo: list[Task] = []

        def task_for(node: Node, key: Any) -> Task:
            key = self.keys.lift(key, node.product_kind, node.kind)
            ref = Ref(node.contract.gives, key)
            task = tasks.get(ref)
            if task is None:
                task = tasks[ref] = Task(node, key, address=str(ref))
                todo.append(task)
            return task

        for artifact in requested:
            if artifact in self.roots:
                continue
            node = self.nodes[artifact]
            kind = node.product_kind
            for key in members(kind, None) if kind is not None else (None,):
                if kind is None or only is None or only(kind, key):
                    task_for(node, key)
        while todo:
            task = todo.pop()
            waits: dict[Task, None] = {}
            inputs: list[tuple[Ref, ...]] = []
            for need in task.node.needs:
                refs = self._refs(need, task, members)
                inputs.append(refs)
                if need.artifact not in self.roots:
                    maker = self.nodes[need.artifact]
                    waits.update((task_for(maker, ref.key), None) for ref in refs)
            task.inputs, task.waits = tuple(inputs), tuple(waits)
        return self._in_order(list(tasks.values()), members)

    def _refs(self, need: Need, task: Task, members: Members) -> tuple[Ref, ...]:
        if not need.many:
            return (Ref(need.artifact, self.keys.lift(task.key, task.node.kind, need.kind)),)
        assert need.kind is not None
        if task.node.kind is not None and self.keys.contains(need.kind, task.node.kind):
            return (Ref(need.artifact, self.keys.lift(task.key, task.node.kind, need.kind)),)
        return tuple(Ref(need.artifact, key) for key in members(need.kind, task.key))

    def _in_order(self, tasks: list[Task], members: Members) -> list[Task]:
        place: dict[tuple[str, Any], int] = {}
        for kind in {task.node.kind for task in tasks} - {None}:
            assert kind is not None
            place.update(((kind, key), i) for i, key in enumerate(members(kind, None)))

        def rank(task: Task) -> tuple[int, int, str]:
            kind = task.node.kind
            return task.node.rank, 0 if kind is None else place.get((kind, task.key), len(place)), task.address

        tasks.sort(key=rank)
        for order, task in enumerate(tasks):
            task.order = order
        return tasks


def _bad(contract: Contract, text: str) -> NoReturn:
    refuse(f"stage {contract.hook} {text}", code="E0902", notes=(Note(f"declared in {contract.where}"),))


def _ordered(nodes: Mapping[str, Node]) -> list[str]:
    """The artifacts so that makers come before takers; among equals as declared. Refuses cycles."""
    index = {artifact: i for i, artifact in enumerate(nodes)}
    names = list(nodes)
    takers: dict[str, list[str]] = {artifact: [] for artifact in nodes}
    left: dict[str, int] = {}
    for artifact, node in nodes.items():
        needs = {need.artifact for need in node.needs if need.artifact in nodes}
        left[artifact] = len(needs)
        for need in needs:
            takers[need].append(artifact)
    ready = [index[a] for a, count in left.items() if count == 0]
    heapq.heapify(ready)
    done: list[str] = []
    while ready:
        artifact = names[heapq.heappop(ready)]
        done.append(artifact)
        for taker in takers[artifact]:
            left[taker] -= 1
            if left[taker] == 0:
                heapq.heappush(ready, index[taker])
    if len(done) < len(nodes):
        _refuse_cycle(nodes, {a for a in nodes if left[a] > 0})
    return done


def _refuse_cycle(nodes: Mapping[str, Node], stuck: set[str]) -> NoReturn:
    path: list[str] = []
    at = min(stuck)
    while at not in path:
        path.append(at)
        at = min(need.artifact for need in nodes[at].needs if need.artifact in stuck)
    ring = [*path[path.index(at) :], at]
    ring.reverse()
    who = [nodes[a].contract for a in dict.fromkeys(ring)]
    notes = [Note(f"{contract.hook} is declared in {contract.where}") for contract in who]
    refuse(f"these stages wait for each other: {' > '.join(ring)}", code="E0902", notes=notes)
