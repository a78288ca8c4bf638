"""One task: what its product depends on, and running it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, get_args

from aiecc.base.blob import Blob
from aiecc.base.diag import Diagnostic, Level, Note, Refused, Sink
from aiecc.base.digest import digest
from aiecc.engine.build import ABSENT_PRODUCT, NOTHING, Bug, Product
from aiecc.engine.codec import Codec, Unstorable
from aiecc.engine.graph import Node, Ref, Task
from aiecc.engine.keys import KeySpace
from aiecc.engine.plugins import Plugins
from aiecc.engine.reads import Files, Read, content_digest
from aiecc.engine.scope import Ambient, Desk, Memo, Scope
from aiecc.engine.spec import PROJECT, without_none
from aiecc.engine.store import Component, Part, Record, blob_names


@dataclass(slots=True)
class Done:
    """What came of running a task."""

    task: Task
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()
    commands: tuple[Any, ...] = ()
    reads: tuple[Read, ...] = ()
    failed: bool = False
    bug: Bug | None = None
    unsteady: bool = False
    record_name: str = ""
    parts: tuple[Part, ...] = ()
    blobs: list[Blob] = field(default_factory=list[Blob])
    value: Any = None


@dataclass(slots=True)
class Bench:
    """Where tasks are prepared (by the main thread) and run (by any)."""

    plugins: Plugins
    keys: KeySpace
    desk: Desk
    options: Mapping[type, Any]
    ambients: Mapping[str, Ambient]
    identity: str
    check_products: bool
    products: dict[Ref, Product] = field(default_factory=dict[Ref, Product])
    _common: dict[str, tuple[Component, ...]] = field(default_factory=dict[str, tuple[Component, ...]])

    def product(self, ref: Ref) -> Product:
        return self.products.get(ref, ABSENT_PRODUCT)

    # What a product depends on

    def components(self, task: Task) -> tuple[Component, ...]:
        """Everything known beforehand that the product depends on, each with a label for people."""
        found = [*self._common_of(task.node), *self._ambients_of(task)]
        if task.node.kind is not None:
            found.append(Component("key", digest(repr(task.key))))
        for need, refs in zip(task.node.needs, task.inputs, strict=True):
            if not need.param:
                continue
            for ref in refs:
                product = self.product(ref)
                mark = digest(repr(ref.key), product.digest) if need.many else product.digest
                found.append(Component(str(ref), mark))
        return tuple(found)

    def key(self, components: Sequence[Component]) -> str:
        """The cache key."""
        return digest(*[part for c in components for part in (c.label, c.digest)])

    def _common_of(self, node: Node) -> tuple[Component, ...]:
        """What all tasks of a stage have in common: code and options."""
        contract = node.contract
        found = self._common.get(contract.hook)
        if found is None:
            mark = digest(str(contract.version), contract.gives)
            parts = [
                Component(f"{PROJECT} itself", self.identity, shared=True),
                Component(f"stage {contract.label}", mark, shared=True),
            ]
            for stander in self.plugins.line(contract.hook):
                role = " (wrapper)" if stander.role == "wrapper" else ""
                parts.append(Component(f"plugin {stander.plugin}{role}", stander.digest, shared=True))
            for _, cls in node.options:
                text = "\n".join(f"{name}={value!r}" for name, value in _fields(self.options[cls]))
                parts.append(Component(f"options {cls.__name__}", digest(cls.__qualname__, text), text, True))
            found = self._common[contract.hook] = tuple(parts)
        return found

    def _ambients_of(self, task: Task) -> list[Component]:
        found: list[Component] = []
        for name in task.node.ambients:
            ambient = self.ambients.get(name)
            if ambient is not None and ambient.digest is not None:
                found.append(Component(name, ambient.digest(task.key, self._getter(task)), shared=True))
        return found

    def _getter(self, task: Task) -> Any:
        refs = {need.artifact: refs for need, refs in zip(task.node.needs, task.inputs, strict=True) if not need.many}

        def get(artifact: str) -> Any:
            return self.product(refs[artifact][0]).value()

        return get

    # Running it

    def run(self, task: Task, components: tuple[Component, ...], key: str) -> Done:
        """Call the stage and keep what it made. Never raises: what went wrong is part of the answer."""
        try:
            return self._run(task, components, key)
        except BaseException as problem:  # this thread must answer, or the build would wait for ever
            return Done(task, failed=True, bug=self.bug(task, problem))

    def _run(self, task: Task, components: tuple[Component, ...], key: str) -> Done:
        done = Done(task)
        memo = Memo(self.desk, digest(*[c.digest for c in components if c.shared]))
        files = Files(self.desk.states)
        scope = Scope(task.key, task.address, Sink(), files, self.desk.store, memo, self._getter(task))
        memo.scope = scope
        began = time.perf_counter()
        try:
            hook = getattr(self.plugins.hook, task.node.contract.hook)
            done.value = hook(**self._arguments(task, scope))
            self._accept(done, scope)
        except Refused as refused:
            done.failed = True
            scope.diag.extend(d for d in refused.diagnostics if d not in scope.diag.items)
            if not scope.diag.failed:
                scope.diag.error(f"stage {task.node.contract.label} refused without saying why", code="E0902")
        except BaseException as problem:  # a plugin may raise anything
            done.failed = True
            done.bug = self.bug(task, problem)
        done.seconds = time.perf_counter() - began
        done.failed = done.failed or scope.diag.failed
        done.diagnostics = tuple(scope.diag.items)
        done.commands = tuple(scope.commands)
        done.reads = files.reads
        done.unsteady = files.unsteady
        if not done.failed and not done.unsteady and not task.node.contract.volatile:
            self._keep(done, components, key)
        return done

    def _arguments(self, task: Task, scope: Scope) -> dict[str, Any]:
        node = task.node
        values: dict[str, Any] = {}
        for name in node.ambients:
            ambient = self.ambients.get(name)
            values[name] = getattr(scope, name) if ambient is None else ambient.make(scope)
        for name, kind in node.keys:
            values[name] = self.keys.lift(task.key, node.kind, kind)
        for name, cls in node.options:
            values[name] = self.options[cls]
        for need, refs in zip(node.needs, task.inputs, strict=True):
            if not need.param:
                continue
            if need.many:
                members = {ref.key: self.product(ref) for ref in refs}
                values[need.param] = {k: p.value() for k, p in members.items() if p.exists or need.member_optional}
            else:
                values[need.param] = self.product(refs[0]).value()
        return values

    def _accept(self, done: Done, scope: Scope) -> None:
        """Turn the value into the parts of a record."""
        contract = done.task.node.contract
        if done.value is None:
            if not contract.optional and not scope.diag.failed:
                line = self.plugins.line(contract.hook)
                notes = [Note("asked, in this order: " + (", ".join(s.plugin for s in line) or "nobody"))]
                if any(s.role == "wrapper" for s in line):
                    notes.append(Note("a wrapper declines for all when it does not return what it got"))
                text = f"nobody makes {done.task.address}: every plugin declined the stage {contract.label}"
                scope.diag.add(Diagnostic(Level.ERROR, text, code="E0902", notes=tuple(notes)))
            done.parts = (Part(b"", None, NOTHING),)
            return
        try:
            done.parts = self._parts(done, contract.type)
        except Unstorable as problem:
            raise TypeError(f"the product of stage {contract.label} is not what its contract says: {problem}") from None

    def _parts(self, done: Done, hint: Any) -> tuple[Part, ...]:
        if done.task.node.contract.spread is None:
            return (self._part(done, b"", done.value, hint),)
        if type(done.value) is not dict:
            raise Unstorable(f"a {type(done.value).__name__} stands where a dict is expected")
        of, inner = get_args(hint)
        bare = without_none(inner)[0]
        elements: dict[Any, Any] = done.value
        return tuple(
            self._part(done, self.desk.codec.encode(key, of)[0], value, bare) for key, value in elements.items()
        )

    def _part(self, done: Done, key: bytes, value: Any, hint: Any) -> Part:
        if value is None:
            return Part(key, None, NOTHING)
        body, blobs = self.desk.codec.encode(value, hint)
        if self.check_products and self.desk.codec.decode(body, hint) != value:
            raise Unstorable(f"a {type(value).__name__} is not the same after it was kept")
        for blob in blobs:
            if blob.path != self.desk.store.blob_path(blob.digest, blob.path.suffix):
                raise Unstorable(f"the blob '{blob.path}' was not made with store.put")
        done.blobs.extend(blobs)
        return Part(key, body, content_digest(body))

    def _keep(self, done: Done, components: tuple[Component, ...], key: str) -> None:
        try:
            said, run, more = self.desk.pack(done.diagnostics, done.commands)
            named = blob_names((*done.blobs, *more))
            record = Record(components, done.reads, done.parts, named, said, run, done.seconds)
            done.record_name = self.desk.store.keep(key, record)
        except Refused as refused:
            done.failed = True
            done.diagnostics = (*done.diagnostics, *refused.diagnostics)

    def bug(self, task: Task, problem: BaseException) -> Bug:
        """An exception that a task raised, as a value."""
        line = self.plugins.line(task.node.contract.hook)
        own = problem.__traceback__.tb_next if problem.__traceback__ is not None else None
        text = "".join(traceback.format_exception_only(problem)).strip()
        trace = "".join(traceback.format_exception(type(problem), problem, own))
        plugin = _culprit(own, {s.code: s.plugin for s in line})
        if not plugin and len({s.plugin for s in line}) == 1:
            plugin = line[0].plugin
        return Bug(task.address, task.node.contract.hook, plugin, text, trace, tuple(s.plugin for s in line))


def _culprit(frame: TracebackType | None, codes: Mapping[Any, str]) -> str:
    """The plugin whose hook function stands deepest in a traceback."""
    found = ""
    while frame is not None:
        found = codes.get(frame.tb_frame.f_code, found)
        frame = frame.tb_next
    return found


def _fields(options: Any) -> list[tuple[str, Any]]:
    return [(name, getattr(options, name)) for name in type(options).__dataclass_fields__]


def load_parts(codec: Codec, task: Task, parts: Sequence[Part], value: Any = None) -> dict[Ref, Product]:
    """The products of a task from its record's parts; `value` is at hand when the task has just run."""
    contract = task.node.contract
    if contract.spread is None:
        part = parts[0]
        if part.body is None or value is not None:
            return {task.ref: Product(part.digest, value)}
        return {task.ref: Product(part.digest, load=_loader(codec, part.body, contract.type))}
    if parts and parts[0].digest == NOTHING and not parts[0].key:
        return {task.ref: ABSENT_PRODUCT}
    of, inner = get_args(contract.type)
    bare = without_none(inner)[0]
    found: dict[Any, Product] = {}
    for part in parts:
        load = None if part.body is None else _loader(codec, part.body, bare)
        found[codec.decode(part.key, of)] = Product(part.digest, load=load)
    whole = digest(*[text for part in parts for text in (part.key, part.digest)])
    products = {Ref(contract.gives, key): product for key, product in found.items()}
    products[task.ref] = Product(whole, load=lambda: {key: product.value() for key, product in found.items()})
    return products


def _loader(codec: Codec, body: bytes, hint: Any) -> Any:
    return lambda: codec.decode(body, hint)
