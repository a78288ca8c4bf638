"""What a run of the array model says in the end."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiecc.base.spans import Span


class Status(enum.Enum):
    """How a run ended."""

    FINISHED = "finished"
    STUCK = "stuck"
    TRAPPED = "trapped"
    LIMIT = "limit"


class Kind(enum.Enum):
    """What went wrong where hardware would have gone on in silence."""

    LOCK = "lock out of range"
    UNWRITTEN = "read of bytes nobody wrote"
    RACE = "access to bytes a DMA is busy with"
    ORDER = "accesses that nothing keeps apart"
    BOUNDS = "access outside of a buffer"
    HELD = "access to an object that is not held"
    STREAM = "stream that leads nowhere"
    KERNEL = "kernel model failed"
    VALUE = "operation without a result"
    QUEUE = "push on a full start queue"
    DESCRIPTOR = "descriptor that cannot run"
    REUSE = "change of a descriptor in flight"
    REGISTER = "access to a register that is not modelled"


class Trapped(Exception):
    """Raised inside an actor; the scheduler adds who and where."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text


@dataclass(frozen=True, slots=True)
class Trap:
    """The first thing hardware would have hidden; the run stops there."""

    kind: Kind
    actor: str
    text: str
    where: Span | None

    def __str__(self) -> str:
        at = f"{self.where}: " if self.where else ""
        return f"{at}trap: {self.actor}: {self.text} ({self.kind.value})"


@dataclass(frozen=True, slots=True)
class Wait:
    """An actor that cannot go on: what it waits for, by name, and the source line it stands at."""

    actor: str
    what: str
    where: Span | None

    def __str__(self) -> str:
        at = f"{self.where}: " if self.where else ""
        return f"{at}{self.actor} waits for {self.what}"


@dataclass(frozen=True, slots=True)
class LockUse:
    """A lock over the whole run: its last, lowest and highest value, and how often it was taken or given."""

    value: int
    low: int
    high: int
    uses: int


@dataclass(frozen=True, slots=True)
class PoolUse:
    """The high-water marks of a pool, in objects: its locks, how many objects it has (counted with their repeats), how
    many were full at most, and how many were in use (full or held by somebody) at most."""

    free: str
    full_lock: str
    depth: int
    full: int
    used: int


@dataclass(frozen=True)
class Outcome:
    """The end of one run.

    `received` has the bytes that came out of the array, by the drain's name; `waits` who stands still at the end (cores
    and channels that loop forever wait even in a finished run); `locks`, `pools` and `written` (bytes of each buffer
    that anybody wrote) are the high-water marks; `ended` the actors that reached their end, `running` those the limit
    cut short, `missing` what a finished run would have done besides. `events` counts lock uses and DMA words.
    `names` leads from the caller's drains to the names in `received`, `memory` is what every buffer holds at the end.
    `notes` say what else is worth knowing.
    """

    status: Status
    received: Mapping[str, bytes]
    waits: tuple[Wait, ...]
    trap: Trap | None
    locks: Mapping[str, LockUse]
    written: Mapping[str, int]
    ended: tuple[str, ...]
    running: tuple[str, ...]
    missing: tuple[str, ...]
    events: int
    pools: Mapping[str, PoolUse] = field(default_factory=dict[str, PoolUse])
    names: Mapping[str | tuple[int, int], str] = field(repr=False, default_factory=dict[str | tuple[int, int], str])
    memory: Mapping[str, bytes] = field(repr=False, default_factory=dict[str, bytes])
    notes: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        return self.status is Status.FINISHED

    @property
    def stuck(self) -> bool:
        return self.status is Status.STUCK

    def report(self) -> str:
        """The run in words, a line a fact, without a final newline."""
        lines = [f"{self.status.value} after {self.events} events"]
        if self.trap is not None:
            lines.append(str(self.trap))
        lines += [f"missing: {text}" for text in self.missing]
        lines += [f"note: {text}" for text in self.notes]
        lines += [f"received {name}: {len(data)} bytes" for name, data in self.received.items()]
        if self.status is not Status.FINISHED:
            lines += [str(wait) for wait in self.waits]
        lines += [
            f"lock {name}: at {use.value}, between {use.low} and {use.high}, used {use.uses} times"
            for name, use in self.locks.items()
            if use.uses
        ]
        lines += [
            f"pool {name}: {pool.full} of {pool.depth} objects full at most, {pool.used} in use"
            for name, pool in self.pools.items()
            if pool.used
        ]
        return "\n".join(lines)
