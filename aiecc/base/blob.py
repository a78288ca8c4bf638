"""A file of the store as a value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Blob:
    """A file in the store, named by its content; `path` is where it lies on this machine.

    Two blobs are equal when their digests are: the folder never matters.
    """

    digest: str
    size: int
    path: Path

    def bytes(self) -> bytes:
        return self.path.read_bytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blob) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)
