"""What a build came to: the outcome of every task, its products, and all that was said and run on the way."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiecc.base.diag import Diagnostic
from aiecc.engine.graph import Ref, Task
from aiecc.engine.reads import Read

NOTHING = "none"  # the digest of a product that nobody made


class State(enum.Enum):
    """How a task ended."""

    HIT = "hit"
    RAN = "ran"
    FAILED = "failed"
    BUG = "bug"
    BLOCKED = "blocked"
    """Something it needs failed."""
    ABSENT = "absent"
    """It does not apply: something that it needs does not exist for its key, and need not."""
    STOPPED = "stopped"
    """The build ended before its turn."""


GOOD = frozenset({State.HIT, State.RAN, State.ABSENT})


@dataclass(frozen=True, slots=True)
class Bug:
    """An exception that nobody may raise. `plugin` is whose code raised it; empty when it cannot be told.

    `line` names everybody in line at the stage, in the order of calls.
    """

    address: str
    stage: str
    plugin: str
    text: str
    traceback: str
    line: tuple[str, ...]


class Product:
    """An artifact's value, decoded when first asked for. Equal digests mean equal values."""

    __slots__ = ("_load", "_loaded", "_value", "digest")

    def __init__(self, digest: str, value: Any = None, load: Callable[[], Any] | None = None) -> None:
        self.digest = digest
        self._value = value
        self._load = load
        self._loaded = load is None

    def value(self) -> Any:
        # Two threads may both decode: the values are equal and immutable, so either will do.
        if not self._loaded:
            assert self._load is not None
            self._value = self._load()
            self._loaded = True
        return self._value

    @property
    def exists(self) -> bool:
        return self.digest != NOTHING


ABSENT_PRODUCT = Product(NOTHING)


@dataclass(slots=True)
class Outcome:
    """One task of the build. `reason` says why it ran or did not, `seconds` what it took when it last ran."""

    task: Task
    state: State = State.STOPPED
    reason: str = ""
    seconds: float = 0.0
    digest: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    commands: tuple[Any, ...] = ()
    reads: tuple[Read, ...] = ()
    bug: Bug | None = None
    refs: tuple[Ref, ...] = ()
    """The products it made: one, or the whole and every element of a spread one."""

    @property
    def address(self) -> str:
        return self.task.address


@dataclass(slots=True)
class Build:
    """The result of `Engine.build`. Everything is in the order of stages, then keys; never in the order of finish."""

    requested: tuple[str, ...]
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    products: dict[Ref, Product] = field(default_factory=dict[Ref, Product])
    interrupted: bool = False
    unsteady: bool = False
    """Some file changed while the build ran: the result is good for now, but no later build may rely on it unseen."""

    @property
    def ok(self) -> bool:
        """Everything asked for was made, and nothing was refused."""
        return not self.interrupted and all(o.state in GOOD for o in self.outcomes)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All that was said, each thing once."""
        return tuple(dict.fromkeys(d for outcome in self.outcomes for d in outcome.diagnostics))

    @property
    def commands(self) -> tuple[Any, ...]:
        """All external commands behind the products, run now or earlier, each once; makers before takers."""
        return tuple(dict.fromkeys(c for outcome in self.outcomes for c in outcome.commands))

    @property
    def reads(self) -> tuple[Read, ...]:
        """All files that the products depend on."""
        return tuple(sorted({read for outcome in self.outcomes for read in outcome.reads}))

    @property
    def bugs(self) -> tuple[Bug, ...]:
        return tuple(outcome.bug for outcome in self.outcomes if outcome.bug is not None)

    def get(self, artifact: str, key: Any = None) -> Any:
        """The value of an artifact; None when nobody made it, or when it failed before it was made."""
        found = self.products.get(Ref(artifact, key))
        return None if found is None else found.value()

    def items(self, artifact: str) -> dict[Any, Any]:
        """All values of a keyed artifact that exist, by key."""
        return {
            ref.key: product.value()
            for ref, product in self.products.items()
            if ref.artifact == artifact and ref.key is not None and product.exists
        }

    def digest(self, artifact: str, key: Any = None) -> str | None:
        """The digest of a product, without decoding it."""
        found = self.products.get(Ref(artifact, key))
        return found.digest if found is not None and found.exists else None
