"""Handing over what was asked for: everything is rendered and looked at before the first file appears."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aiecc.base.blob import Blob
from aiecc.base.diag import refuse
from aiecc.engine.views import Content
from aiecc.report.write import holds, write


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file to be written: where, for which view, and what is in it (None: nothing)."""

    path: Path
    view: str
    content: Content


def deliver(parcels: Sequence[Parcel], inputs: Iterable[str]) -> list[tuple[Path, str]]:
    """Write the files; returns their paths and digests.

    `inputs`: the user's own files, which are never replaced. Raises `Refused` (E0903) before anything is written when
    two parcels want one path, or one wants an input's.
    """
    seen: set[Path] = set()
    for parcel in parcels:
        if parcel.path in seen:
            refuse(f"aiecc: edge '{parcel.view}' produced duplicate output path '{parcel.path}'", code="E0903")
        seen.add(parcel.path)
    ready = [(p.path, _bytes(p.content)) for p in parcels if p.content is not None]
    keep = frozenset(os.path.realpath(path) for path in inputs)
    for path, data in ready:
        # A prebuilt core that is given back as it is overwrites nothing.
        if os.path.realpath(path) in keep and not holds(path, data):
            text = f"aiecc: '{path}' is an input of this build and would be overwritten"
            refuse(text, code="E0903", todo="give another --output-dir")
    return [(path, write(path, data)) for path, data in ready]


def _bytes(content: bytes | str | Blob) -> bytes:
    if isinstance(content, str):
        return content.encode()
    return content.bytes() if isinstance(content, Blob) else content
