"""The engine: makes what is asked for, and of that only what is not known already.

A task is looked up as soon as all it needs is there; a hit costs some file reads and decodes nothing. What has to run
goes to one pool of threads. A product equal to the last build's stops the wave, since only digests are compared.
"""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiecc.base.diag import Refused
from aiecc.engine.build import GOOD, Build, Outcome, Product, State
from aiecc.engine.codec import Codec
from aiecc.engine.graph import Graph, Ref, Task
from aiecc.engine.identity import package_digest
from aiecc.engine.keys import KeySpace
from aiecc.engine.plugins import Plugins
from aiecc.engine.pool import Pool
from aiecc.engine.reads import FileStates, content_digest
from aiecc.engine.scope import BUILT_IN, Ambient, Desk
from aiecc.engine.store import Component, Record, Store
from aiecc.engine.task import Bench, Done, load_parts
from aiecc.engine.why import explain

_Job = tuple[tuple[Component, ...], str, str]
"""With what a task runs: what its product depends on, the cache key, and why it runs."""

_GRACE = 5.0  # seconds that running tasks get to end after Ctrl-C, their tools having been told to
_NAP = 0.01


@dataclass(frozen=True, slots=True)
class Event:
    """Something for a progress line. `kind`: `start`, or how a task ended (a `State` value).

    `done` of `total` tasks have ended; `total` grows once the keys are known. `running` are the addresses at work.
    """

    kind: str
    address: str
    stage: str
    done: int
    total: int
    running: tuple[str, ...]
    seconds: float = 0.0
    reason: str = ""


def _silent(event: Event) -> None:
    return


def _nothing() -> None:
    return


@dataclass(slots=True)
class Engine:
    """Builds artifacts with the stages of `plugins`, keeping everything in `store`.

    `options`: instances of `@options` classes; a class of which none is given counts with its defaults. `ambients`: the
    caller's words of the house. `roots`: the artifacts that the caller gives to every build. `names`: see
    `read_contract`. `command_type`: the type of what stages `log`, hashable. `jobs`: how many tasks may run at once,
    0 for one per CPU. `identity` stands for the host's own code. `on_event` is called in the thread that builds;
    `on_cancel` when Ctrl-C came, to end running tools. `check_products` makes sure that every product survives
    being kept (for tests of stages). Raises `Refused` when the stages do not fit together.
    """

    plugins: Plugins
    store: Store
    keys: KeySpace = field(default_factory=KeySpace)
    options: Sequence[Any] = ()
    ambients: Mapping[str, Ambient] = field(default_factory=dict[str, Ambient])
    roots: Sequence[str] = ()
    names: Mapping[str, Any] | None = None
    command_type: Any = str
    jobs: int = 0
    identity: str = ""
    on_event: Callable[[Event], None] = _silent
    on_cancel: Callable[[], None] = _nothing
    check_products: bool = False
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        words = {**dict.fromkeys(BUILT_IN, ()), **{name: ambient.needs for name, ambient in self.ambients.items()}}
        contracts = self.plugins.stages(words, self.names)
        self.graph = Graph(contracts, self.keys, self.roots, words)
        self.identity = self.identity or package_digest()

    def build(
        self,
        requested: Sequence[str],
        roots: Mapping[str, Any] | None = None,
        only: Callable[[str, Any], bool] | None = None,
    ) -> Build:
        """Make the requested artifacts from the values of the roots.

        `only(kind, key)` narrows the keys. Raises `Refused` for unknown names; everything that goes wrong later, Ctrl-C
        included, is in the `Build`.
        """
        given = dict(roots or {})
        if missing := set(self.roots) - set(given):
            raise ValueError(f"no value for {', '.join(sorted(missing))}")
        return _Run(self, tuple(requested), given).go(only)


class _Run:
    """One build."""

    def __init__(self, engine: Engine, requested: tuple[str, ...], roots: Mapping[str, Any]) -> None:
        self.engine = engine
        self.graph = engine.graph
        self.store = engine.store
        self.states = FileStates()
        self.build = Build(requested)
        codec = Codec(engine.store.blob_path)
        self.desk = Desk(engine.store, codec, self.states, engine.command_type)
        options = {type(o): o for o in engine.options}
        for node in self.graph.nodes.values():
            for _, cls in node.options:
                options.setdefault(cls, cls())
        self.bench = Bench(
            engine.plugins, engine.keys, self.desk, options, engine.ambients, engine.identity, engine.check_products
        )
        for name, value in roots.items():
            body = codec.encode(value, type(value))[0]
            self.bench.products[Ref(name)] = Product(content_digest(body), value)
        self.outcomes: dict[Ref, Outcome] = {}
        self.ended = 0
        self.pool: Pool[Done] = Pool(engine.jobs if engine.jobs > 0 else os.cpu_count() or 1)
        self.running: dict[Ref, str] = {}
        self.stopping = False
        self.used: dict[str, str] = {}

    def go(self, only: Callable[[str, Any], bool] | None) -> Build:
        try:
            self._make(only)
        except KeyboardInterrupt:
            self._interrupted()
        finally:
            self.pool.close()
        build = self.build
        build.outcomes = sorted(self.outcomes.values(), key=lambda o: (o.task.node.rank, o.task.order))
        found = self.bench.products
        build.products = {ref: found[ref] for ref in found if ref.artifact in self.graph.roots}
        build.products.update((ref, found[ref]) for o in build.outcomes for ref in o.refs)
        with suppress(Refused):  # a full disk: only `why` would have been the wiser
            self.store.set_last(self.used)
        return build

    def _make(self, only: Callable[[str, Any], bool] | None) -> None:
        requested = self.build.requested
        keyed = self.graph.is_keyed(requested)
        source = self.engine.keys.artifact
        if keyed and source not in self.graph.roots:
            self._work(self.graph.expand([source], lambda kind, within: ()))
            if (
                self.stopping
                or self.outcomes[Ref(source)].state not in GOOD
                or not self.bench.product(Ref(source)).exists
            ):
                return
        cache: dict[tuple[str, Any], tuple[Any, ...]] = {}

        def members(kind: str, within: Any) -> tuple[Any, ...]:
            found = cache.get((kind, within))
            if found is None:
                value = self.bench.product(Ref(source)).value()
                found = cache[kind, within] = tuple(self.engine.keys.members(value, kind, within))
            return found

        self._work(self.graph.expand(requested, members, only))

    def _work(self, tasks: list[Task]) -> None:
        """Carry out tasks; those of an earlier round keep their outcomes."""
        takers: dict[Ref, list[Task]] = {}
        left: dict[Ref, int] = {}
        ready: list[tuple[int, Task]] = []
        todo: list[tuple[int, Task, _Job]] = []
        fresh = [task for task in tasks if task.ref not in self.outcomes]
        for task in tasks:
            self.outcomes.setdefault(task.ref, Outcome(task)).task.order = task.order
        for task in fresh:
            waits = [wait.ref for wait in task.waits if self.outcomes[wait.ref].state is State.STOPPED]
            left[task.ref] = len(waits)
            for ref in waits:
                takers.setdefault(ref, []).append(task)
            if not waits:
                ready.append((task.order, task))
        heapq.heapify(ready)

        def ended(ref: Ref) -> None:
            self.ended += 1
            self._tell(self.outcomes[ref].state.value, ref)
            for taker in takers.get(ref, ()):
                left[taker.ref] -= 1
                if left[taker.ref] == 0:
                    heapq.heappush(ready, (taker.order, taker))

        while not self.stopping:
            while ready and not self.stopping:
                _, task = heapq.heappop(ready)
                job = self._prepare(task)
                if job is None:
                    ended(task.ref)
                else:
                    heapq.heappush(todo, (task.order, task, job))
                    self._start(todo)
            self._start(todo)
            if not self.running:
                return
            ended(self._finish(self.pool.next()))
        while self.running:  # a bug: what runs may still end well, and will be known next time
            ended(self._finish(self.pool.next()))

    def _start(self, todo: list[tuple[int, Task, _Job]]) -> None:
        """Hand the first jobs to the pool, as many as it has room for."""
        while todo and self.pool.running < self.pool.size and not self.stopping:
            _, task, (components, key, reason) = heapq.heappop(todo)
            self.outcomes[task.ref].reason = reason
            self.running[task.ref] = task.address
            self.pool.submit(partial(self.bench.run, task, components, key))
            self._tell("start", task.ref)

    def _prepare(self, task: Task) -> _Job | None:
        """End a task that need not run; otherwise say with what, under which key and why it runs."""
        outcome = self.outcomes[task.ref]
        if not self._applies(task, outcome):
            return None
        try:
            components = self.bench.components(task)
        except Refused as refused:
            outcome.state, outcome.diagnostics = State.FAILED, refused.diagnostics
            return None
        except Exception as problem:  # an ambient is the caller's code
            outcome.state, outcome.bug = State.BUG, self.bench.bug(task, problem)
            self.stopping = True
            return None
        key = self.bench.key(components)
        if task.node.contract.volatile:
            return components, key, "it runs in every build"
        found = self.store.lookup(key, self.states)
        if found is None or not self._reuse(outcome, *found):
            return components, key, explain(self.store, task.address, components, self.states)
        return None

    def _reuse(self, outcome: Outcome, name: str, record: Record) -> bool:
        """Take over a record. False when it makes no sense here, which only a meddled-with store can bring about."""
        try:
            diagnostics, commands = self.desk.diagnostics(record), self.desk.commands(record)
            products = load_parts(self.desk.codec, outcome.task, record.parts)
        except (ValueError, TypeError, LookupError):
            return False
        outcome.state = State.HIT
        outcome.seconds = record.seconds
        outcome.diagnostics, outcome.commands, outcome.reads = diagnostics, commands, record.reads
        self.used[outcome.address] = name
        self._provide(outcome, products)
        return True

    def _applies(self, task: Task, outcome: Outcome) -> bool:
        """False, with the outcome set, when something the task needs failed or does not exist."""
        for wait in task.waits:
            state = self.outcomes[wait.ref].state
            if state not in GOOD and not (state is State.FAILED and self._has_elements(task, wait)):
                outcome.state = State.BLOCKED
                outcome.reason = f"{wait.address} failed"
                return False
        for need, refs in zip(task.node.needs, task.inputs, strict=True):
            if not need.many and not need.optional and not self.bench.product(refs[0]).exists:
                outcome.state = State.ABSENT
                outcome.reason = f"there is no {refs[0]}"
                return False
        return True

    def _has_elements(self, task: Task, wait: Task) -> bool:
        """True when all that a task takes was made by a spread stage that failed for other keys."""
        contract = wait.node.contract
        refs = [ref for refs in task.inputs for ref in refs if ref.artifact == contract.gives]
        return contract.spread is not None and all(ref.key and self.bench.product(ref).exists for ref in refs)

    def _finish(self, done: Done) -> Ref:
        """Take in what came of a task that ran."""
        ref = done.task.ref
        outcome = self.outcomes[ref]
        self.running.pop(ref, None)
        outcome.seconds = done.seconds
        if self.build.interrupted and (done.failed or done.bug):
            return ref  # its tool was ended: no fault of anybody's
        outcome.diagnostics, outcome.commands, outcome.reads = done.diagnostics, done.commands, done.reads
        self.build.unsteady |= done.unsteady
        if done.bug is not None:
            outcome.state, outcome.bug = State.BUG, done.bug
            self.stopping = True
        else:
            outcome.state = State.FAILED if done.failed else State.RAN
            if done.parts:
                self._provide(outcome, load_parts(self.desk.codec, done.task, done.parts, done.value))
        if not done.task.node.contract.volatile and not done.unsteady:
            self.used[outcome.address] = done.record_name
        return ref

    def _provide(self, outcome: Outcome, products: dict[Ref, Product]) -> None:
        self.bench.products.update(products)
        outcome.refs = tuple(products)
        outcome.digest = products[outcome.task.ref].digest

    def _tell(self, kind: str, ref: Ref) -> None:
        outcome = self.outcomes[ref]
        stage = outcome.task.node.contract.label
        running = tuple(self.running.values())
        self.engine.on_event(
            Event(
                kind,
                outcome.address,
                stage,
                self.ended,
                len(self.outcomes),
                running,
                outcome.seconds,
                outcome.reason,
            )
        )

    def _interrupted(self) -> None:
        """Ctrl-C: start nothing more, have running tools ended, and wait for their tasks a little."""
        self.stopping = self.build.interrupted = True
        deadline = time.monotonic() + _GRACE
        try:
            self.engine.on_cancel()
            while not self.pool.idle and time.monotonic() < deadline:
                time.sleep(_NAP)
            for done in self.pool.drain():
                self._finish(done)
        except KeyboardInterrupt:
            return
