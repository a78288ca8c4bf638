"""The version of code, as a digest of its source files. Standard library only."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from pathlib import Path
from types import ModuleType

_SKIPPED = {"__pycache__", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache", "node_modules"}


@functools.cache
def tree_digest(path: Path) -> str:
    """The digest of a file, or of all files below a folder (caches apart), names included. Once per process."""
    h = hashlib.blake2b(digest_size=20)
    if path.is_dir():
        for name in _files(path, ""):
            _add(h, name, path / name)
    else:
        _add(h, path.name, path)
    return h.hexdigest()


def _files(root: Path, below: str) -> list[str]:
    found: list[str] = []
    try:
        with os.scandir(root / below) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                if entry.name in _SKIPPED or entry.name.endswith((".pyc", ".pyo")):
                    continue
                name = f"{below}/{entry.name}" if below else entry.name
                if entry.is_dir(follow_symlinks=False):
                    found.extend(_files(root, name))
                elif entry.is_file():
                    found.append(name)
    except OSError:
        pass
    return found


def _add(h: hashlib.blake2b, name: str, path: Path) -> None:
    try:
        with path.open("rb", buffering=0) as file:
            data = file.readall()
    except OSError:
        data = b""
    title = os.fsencode(name)
    h.update(len(title).to_bytes(4, "little") + title + len(data).to_bytes(8, "little"))
    h.update(data)


def package_digest(name: str = "aiecc") -> str:
    """The digest of an imported top-level package's own sources."""
    return module_digest(sys.modules[name])


def module_digest(module: ModuleType) -> str:
    """The digest of all the sources that travel with a module; empty for a module without any."""
    root = source_root(module)
    return "" if root is None else tree_digest(root)


def source_root(module: ModuleType) -> Path | None:
    """The file or folder that holds the sources which travel with a module.

    That is its whole top-level package; for a module below a namespace package, the regular package nearest to the
    namespace; for a module on its own, its file. What it imports from elsewhere is not covered.
    """
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    names = module.__name__.split(".")
    for depth in range(1, len(names) + 1):
        package = sys.modules.get(".".join(names[:depth]))
        init = getattr(package, "__file__", None)
        if init is not None and Path(init).name.startswith("__init__."):
            return Path(init).absolute().parent
    return Path(file).absolute()


def source_files(root: Path) -> list[Path]:
    """The files that `tree_digest` covers."""
    return [root / name for name in _files(root, "")] if root.is_dir() else [root]
