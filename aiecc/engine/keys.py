"""What stages may be keyed by, told by the caller: the engine itself knows no device and no core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Members = Callable[[str, Any], tuple[Any, ...]]


def _no_members(value: Any, kind: str, within: Any) -> Sequence[Any]:
    return ()


@dataclass(frozen=True, slots=True)
class KeySpace:
    """The kinds of keys, and where their members come from.

    `kinds`: each kind's name and class; keys are frozen, hashable, storable and print as the name of what they stand
    for. `parents`: for a kind its coarser kind and how to get from a key to its parent. Which keys there are is known
    only once `artifact` is made: `members(value of that artifact, kind, within)` lists those of a kind within another
    key, or all for None, in the order in which results are to be reported.
    """

    artifact: str = ""
    kinds: Mapping[str, type] = field(default_factory=dict[str, type])
    parents: Mapping[str, tuple[str, Callable[[Any], Any]]] = field(
        default_factory=dict[str, tuple[str, Callable[[Any], Any]]]
    )
    members: Callable[[Any, str, Any], Sequence[Any]] = _no_members

    def kind_of(self, annotation: Any) -> str | None:
        """The kind whose keys are of this class."""
        for kind, cls in self.kinds.items():
            if cls is annotation:
                return kind
        return None

    def contains(self, coarse: str | None, fine: str | None) -> bool:
        """True when every key of kind `fine` lies within one key of kind `coarse`. None is the whole design."""
        while fine != coarse and fine is not None:
            fine = self.parents[fine][0] if fine in self.parents else None
        return fine == coarse

    def lift(self, key: Any, kind: str | None, to: str | None) -> Any:
        """The key of kind `to` in which a key of kind `kind` lies; None for the whole design."""
        while kind != to:
            if kind is None or kind not in self.parents:
                return None
            parent, up = self.parents[kind]
            key, kind = up(key), parent
        return key
