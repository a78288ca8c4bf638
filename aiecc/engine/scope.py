"""What a running task has at hand besides its parameters: the words of the house, and work shared between tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiecc.base.diag import Diagnostic, Sink
from aiecc.base.digest import digest
from aiecc.engine.codec import Codec
from aiecc.engine.reads import Files, FileStates, Read, content_digest
from aiecc.engine.store import Part, Record, Store, blob_names

T = TypeVar("T")

BUILT_IN = ("diag", "files", "store", "memo")
DIAGNOSTICS = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Ambient:
    """A word of the house that the caller registers: any stage may name it as a parameter.

    `make(scope)` gives the value to one running task. `digest(key, get)` is what of it counts for the cache key, with
    the task's key and `get(artifact)` for one of `needs`; without it the word must not matter to any product.
    `needs`: artifacts that must be made before.
    """

    make: Callable[[Scope], Any]
    digest: Callable[[Any, Callable[[str], Any]], str] | None = None
    needs: tuple[str, ...] = ()


@dataclass(slots=True)
class Scope:
    """One run of one task. `label` is its address, as progress lines show it."""

    key: Any
    label: str
    diag: Sink
    files: Files
    store: Store
    memo: Memo
    get: Callable[[str], Any]
    """The value of an artifact that the task or one of its ambients needs."""
    commands: list[Any] = field(default_factory=list[Any])

    def log(self, command: Any) -> None:
        """Keep an external command with the product; replayed when the product is used again."""
        self.commands.append(command)


@dataclass(slots=True)
class Flight:
    """Shared work: done by whoever asks first, waited for by the others."""

    done: threading.Event = field(default_factory=threading.Event)
    value: Any = None
    error: BaseException | None = None
    reads: tuple[Read, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    commands: tuple[Any, ...] = ()
    unsteady: bool = False


@dataclass(slots=True)
class Desk:
    """What all tasks of a build share."""

    store: Store
    codec: Codec
    states: FileStates
    command_type: Any
    flights: dict[str, Flight] = field(default_factory=dict[str, Flight])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def pack(self, diagnostics: tuple[Diagnostic, ...], commands: tuple[Any, ...]) -> tuple[bytes, bytes, Any]:
        """Diagnostics and commands as a record keeps them, and the blobs in the commands."""
        said = self.codec.encode(diagnostics, DIAGNOSTICS)[0] if diagnostics else b""
        if not commands:
            return said, b"", ()
        done, blobs = self.codec.encode(commands, tuple[self.command_type, ...])
        return said, done, blobs

    def diagnostics(self, record: Record) -> tuple[Diagnostic, ...]:
        return self.codec.decode(record.diagnostics, DIAGNOSTICS) if record.diagnostics else ()

    def commands(self, record: Record) -> tuple[Any, ...]:
        return self.codec.decode(record.commands, tuple[self.command_type, ...]) if record.commands else ()


class Memo:
    """Work that several tasks have in common: done once in a build, kept for the next.

    For one compile of equal programs, say, or the pieces of a batch. What the work says (diagnostics), runs (commands)
    and reads counts for every task that uses it.
    """

    def __init__(self, desk: Desk, salt: str) -> None:
        self._desk = desk
        self._salt = salt
        self.scope: Scope | None = None

    def get(self, name: str, key_parts: tuple[str, ...], make: Callable[[], T], type: Any) -> T:
        """The result of `make()`, which must depend on nothing but `key_parts`, the stage's options and its ambients.

        `make` reports to, runs with and reads through the words of the task that calls it. `type` is the type of
        the result, as in an annotation. Raises what `make` raised, for every task that asks; failures are not kept.
        Work may ask for other work, but not in a circle.
        """
        scope = self.scope
        assert scope is not None
        key = digest("memo", self._salt, name, *key_parts)
        desk = self._desk
        with desk.lock:
            flight = desk.flights.get(key)
            mine = flight is None
            if flight is None:
                flight = desk.flights[key] = Flight()
        if mine:
            try:
                if self._recall(flight, key, type):
                    self._replay(flight, scope)
                else:
                    self._work(flight, scope, key, make, type)
            except BaseException as problem:  # whatever it is, those who wait must hear of it
                flight.error = problem
            finally:
                flight.done.set()
        else:
            flight.done.wait()
            self._replay(flight, scope)
        if flight.error is not None:
            raise flight.error
        return flight.value

    @staticmethod
    def _replay(flight: Flight, scope: Scope) -> None:
        scope.files.replay(flight.reads)
        scope.files.unsteady |= flight.unsteady
        scope.diag.extend(flight.diagnostics)
        scope.commands.extend(flight.commands)

    def _recall(self, flight: Flight, key: str, type: Any) -> bool:
        """Fill the flight from the store."""
        found = self._desk.store.lookup(key, self._desk.states)
        if found is None or found[1].parts[0].body is None:
            return False
        record = found[1]
        try:
            value = self._desk.codec.decode(record.parts[0].body or b"", type)
            diagnostics, commands = self._desk.diagnostics(record), self._desk.commands(record)
        except (ValueError, TypeError, LookupError):  # only a meddled-with store can bring this about
            return False
        flight.value, flight.reads, flight.diagnostics, flight.commands = value, record.reads, diagnostics, commands
        return True

    def _work(self, flight: Flight, scope: Scope, key: str, make: Callable[[], Any], type: Any) -> None:
        said, done = len(scope.diag.items), len(scope.commands)
        scope.files.begin()
        try:
            flight.value = make()
        except BaseException as problem:
            flight.error = problem
        finally:
            flight.reads = scope.files.end()
            flight.diagnostics = tuple(scope.diag.items[said:])
            flight.commands = tuple(scope.commands[done:])
            flight.unsteady = scope.files.unsteady
        if flight.error is not None or flight.unsteady or any(d.is_error for d in flight.diagnostics):
            return
        body, blobs = self._desk.codec.encode(flight.value, type)
        diagnostics, commands, more = self._desk.pack(flight.diagnostics, flight.commands)
        parts = (Part(b"", body, content_digest(body)),)
        self._desk.store.keep(
            key, Record((), flight.reads, parts, blob_names((*blobs, *more)), diagnostics, commands, 0.0)
        )
