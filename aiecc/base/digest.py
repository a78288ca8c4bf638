"""Content digests: the only notion of "changed" in the house."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(*parts: str | bytes) -> str:
    """A hex digest (160 bits) of the parts; their boundaries count."""
    h = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()


def file_digest(path: Path) -> str | None:
    """The digest of a file's content, or None when there is no readable file."""
    try:
        return digest(path.read_bytes())
    except OSError:
        return None
