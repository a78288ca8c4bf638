"""Handing over what was asked for: everything is rendered before the first file appears."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiecc.base.diag import refuse
from aiecc.engine.views import Content
from aiecc.report.write import write


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file to be written: where, for which view, and what is in it (None: nothing)."""

    path: Path
    view: str
    content: Content


def deliver(parcels: Sequence[Parcel], inputs: Iterable[str]) -> list[tuple[Path, str]]:
    """Write the files; returns their paths and digests.

    `inputs`: the user's own files, which are never replaced. Raises `Refused` (E0903) before anything is written when
    two parcels want one path.
    """
    seen: set[Path] = set()
    for parcel in parcels:
        if parcel.path in seen:
            refuse(f"aiecc: edge '{parcel.view}' produced duplicate output path '{parcel.path}'", code="E0903")
        seen.add(parcel.path)
    keep = frozenset(os.path.realpath(path) for path in inputs)
    return [(p.path, write(p.path, p.content, keep)) for p in parcels if p.content is not None]
