"""What earlier builds made, in one folder, by content. Nothing in it is ever believed unchecked.

    blobs/ab/<digest><suffix>   files: objects, ELFs
    records/ab/<key>            one run of one task: product, diagnostics, commands, what it depended on
    reads/ab/<key>              which files such a task looked at, so that its record's key can be computed
    last                        which record each task used in the last build, for `why`
    snapshots/<key>             see `snapshot.py`
    tmp/                        files being written

Every file is written aside and renamed, and carries or is named by its digest: a build killed at any moment, a full
disk, two builds in one folder or a flipped bit cost a rebuild of some tasks and nothing else. There are no locks.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from aiecc.base.blob import Blob
from aiecc.base.diag import Note, refuse
from aiecc.base.digest import digest
from aiecc.engine.reads import FileStates, Read, content_digest

_MAGIC = b"aiecc-store-1\n"
_DAY = 24 * 3600
_ROOMS = ("blobs", "records", "reads", "snapshots")
_READ_SETS = 16

Address = str


class Component(msgspec.Struct, array_like=True, frozen=True):
    """One thing a product depends on. `label` says what in words, `text` what it is where that is short.

    `shared`: it is not this task's own affair, so work shared between tasks depends on it, too.
    """

    label: str
    digest: str
    text: str = ""
    shared: bool = False


class Part(msgspec.Struct, array_like=True, frozen=True):
    """A product, or one element of a spread one. `body` None: nobody made it."""

    key: bytes
    body: bytes | None
    digest: str


class Record(msgspec.Struct, array_like=True, frozen=True):
    """One successful run of a task. `diagnostics` and `commands` are encoded as the engine's codec does it."""

    components: tuple[Component, ...]
    reads: tuple[Read, ...]
    parts: tuple[Part, ...]
    blobs: tuple[tuple[str, int, str], ...]
    diagnostics: bytes
    commands: bytes
    seconds: float


class _Last(msgspec.Struct, array_like=True):
    used: dict[str, str]


class Store:
    """The folder. Safe to share between threads, and between builds that run at once."""

    def __init__(self, folder: Path) -> None:
        """Open or make the store; raises `Refused` (E0903) when the folder cannot be written to."""
        self.folder = folder.absolute()
        self._counter = itertools.count()
        self._good: set[str] = set()
        self._records = msgspec.msgpack.Decoder(Record)
        self._read_sets = msgspec.msgpack.Decoder(list[list[tuple[str, str]]])
        self._last: dict[Address, str] | None = None
        self._tmp = self.folder / "tmp"
        try:
            self._tmp.mkdir(parents=True, exist_ok=True)
            probe = self._aside()
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as problem:
            self._refuse(problem)
        self._sweep(self._tmp, _DAY)

    # Blobs

    def put(self, source: bytes | str | Path, suffix: str = "") -> Blob:
        """Keep a content (bytes, text, or a copy of the file at a path) and name it.

        `suffix` ends the file's name, since some tools go by it (`.ll`): a dot and what follows. A file's own suffix is
        kept when none is given. Raises `OSError` when the file at the path cannot be read.
        """
        if isinstance(source, Path):
            suffix = suffix or source.suffix
            data = source.read_bytes()
        else:
            data = source.encode() if isinstance(source, str) else source
        if suffix != Path(f"x{suffix}").suffix:
            raise ValueError(f"{suffix!r} is not a suffix")
        found = content_digest(data)
        path = self.blob_path(found, suffix)
        if not self._blob_is_good(found, len(data), suffix):
            self._write(path, data)
            self._good.add(path.name)
        return Blob(found, len(data), path)

    def blob_path(self, found: str, suffix: str) -> Path:
        """Where the blob of this digest lies."""
        return self.folder / "blobs" / found[:2] / f"{found[2:]}{suffix}"

    def _blob_is_good(self, found: str, size: int, suffix: str) -> bool:
        path = self.blob_path(found, suffix)
        if path.name in self._good:
            return path.is_file()
        data = _read_fresh(path)
        if data is None or len(data) != size or content_digest(data) != found:
            return False
        self._good.add(path.name)
        return True

    @contextmanager
    def scratch(self) -> Generator[Path]:
        """A folder of one's own for a tool's outputs, gone afterwards. Leftovers of killed builds go after a day."""
        folder = self._aside()
        try:
            folder.mkdir(parents=True)
        except OSError as problem:
            self._refuse(problem)
        try:
            yield folder
        finally:
            _remove_tree(folder)

    # Records

    def lookup(self, key: str, states: FileStates) -> tuple[str, Record] | None:
        """The record of a run with this cache key whose reads would be the same today, and the record's name.

        Every blob it speaks of is there and whole.
        """
        name = digest(key)
        found = self.record(name)
        if found is not None and self._blobs_are_good(found):
            return name, found
        for read_set in self._load_read_sets(key):
            name = record_name(key, [Read(path, mode, states.state(path, mode)) for path, mode in read_set])
            found = self.record(name)
            if found is not None and self._blobs_are_good(found):
                return name, found
        return None

    def record(self, name: str) -> Record | None:
        """The record of this name, or None when there is none that is whole."""
        data = self._load(self._path("records", name))
        if data is None:
            return None
        try:
            return self._records.decode(data)
        except (msgspec.MsgspecError, ValueError):
            return None

    def keep(self, key: str, record: Record) -> str:
        """Keep a run under its cache key and reads; returns the record's name."""
        name = record_name(key, record.reads)
        try:
            body = msgspec.msgpack.encode(record)
        except UnicodeEncodeError:  # a file name that is no text: it works, but is made anew each time
            return name
        self._save(self._path("records", name), body)
        if record.reads:
            mine = [(read.path, read.mode) for read in record.reads]
            known = self._load_read_sets(key)
            if known[:1] != [mine]:
                others = [other for other in known if other != mine]
                sets = [mine, *others][:_READ_SETS]
                self._save(self._path("reads", key), msgspec.msgpack.encode(sets))
        return name

    def _blobs_are_good(self, record: Record) -> bool:
        return all(self._blob_is_good(*blob) for blob in record.blobs)

    def _load_read_sets(self, key: str) -> list[list[tuple[str, str]]]:
        data = self._load(self._path("reads", key))
        if data is None:
            return []
        try:
            return self._read_sets.decode(data)
        except (msgspec.MsgspecError, ValueError):
            return []

    # The last build

    def last(self, address: Address) -> str | None:
        """The record that the task at this address used in the last build; empty when it failed, None when unknown."""
        if self._last is None:
            data = self._load(self.folder / "last")
            try:
                self._last = {} if data is None else msgspec.msgpack.decode(data, type=_Last).used
            except (msgspec.MsgspecError, ValueError):
                self._last = {}
        return self._last.get(address)

    def set_last(self, used: dict[Address, str]) -> None:
        """Remember which records a build used. Other tasks keep theirs; of two builds at once, one wins."""
        self.last("")
        assert self._last is not None
        merged = {**self._last, **used}
        if merged != self._last:
            self._last = merged
            with suppress(UnicodeEncodeError):
                self._save(self.folder / "last", msgspec.msgpack.encode(_Last(merged)))

    # Cleaning

    def prune(self, days: float) -> int:
        """Remove what no build has used for so many days (two at least, for builds running now). Returns bytes freed.

        Use is marked on the files' time stamps, to the day. Nothing else ever looks at a time stamp.
        """
        age = max(days, 2) * _DAY
        freed = sum(self._sweep(self.folder / room, age) for room in _ROOMS)
        return freed + self._sweep(self._tmp, _DAY)

    def _sweep(self, folder: Path, age: float) -> int:
        freed = 0
        now = time.time()
        for path in _entries(folder):
            try:
                about = path.stat()
                if path.is_dir() and folder != self._tmp:
                    freed += self._sweep(path, age)
                elif now - about.st_mtime > age:
                    freed += about.st_size
                    if path.is_dir():
                        _remove_tree(path)
                    else:
                        path.unlink()
            except OSError:
                continue  # another build was faster, or the file is in use
        return freed

    # Files with a checksum, written aside and renamed

    def _path(self, room: str, name: str) -> Path:
        return self.folder / room / name[:2] / name[2:]

    def _load(self, path: Path) -> bytes | None:
        data = _read_fresh(path)
        start = len(_MAGIC) + 40
        if data is None or not data.startswith(_MAGIC):
            return None
        body = data[start:]
        return body if data[len(_MAGIC) : start] == content_digest(body).encode() else None

    def _save(self, path: Path, body: bytes) -> None:
        self._write(path, b"".join((_MAGIC, content_digest(body).encode(), body)))

    def _write(self, path: Path, data: bytes) -> None:
        aside = self._aside()
        try:
            try:
                aside.write_bytes(data)
            except FileNotFoundError:
                self._tmp.mkdir(parents=True, exist_ok=True)
                aside.write_bytes(data)
            try:
                aside.replace(path)
            except FileNotFoundError:
                path.parent.mkdir(parents=True, exist_ok=True)
                aside.replace(path)
            except PermissionError:
                # Windows refuses to replace a file that another build is reading; the same name has the same content.
                if not path.is_file() or path.read_bytes() != data:
                    raise
                aside.unlink()
        except OSError as problem:
            with suppress(OSError):
                aside.unlink()
            self._refuse(problem)

    def _aside(self) -> Path:
        return self._tmp / f"{os.getpid()}-{next(self._counter)}-{os.urandom(4).hex()}"

    def _refuse(self, problem: OSError) -> NoReturn:
        refuse(
            f"cannot write to the build folder '{self.folder}': {problem.strerror or problem}",
            code="E0903",
            notes=(Note("what earlier builds made is kept there"),),
            todo="make room or give another folder",
        )


def blob_names(blobs: Iterable[Blob]) -> tuple[tuple[str, int, str], ...]:
    """Blobs as a record names them."""
    return tuple(dict.fromkeys((blob.digest, blob.size, blob.path.suffix) for blob in blobs))


def record_name(key: str, reads: Iterable[Read]) -> str:
    """The name of a record: the cache key and all it read."""
    parts: list[Any] = [key]
    for read in reads:
        parts.extend(read)
    return digest(*parts)


def _remove_tree(folder: Path) -> None:
    import shutil  # slow to import, and most builds have no use for it

    shutil.rmtree(folder, ignore_errors=True)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _read_fresh(path: Path) -> bytes | None:
    """The content, or None; marks the file as used today."""
    try:
        with path.open("rb", buffering=0) as file:
            data = file.readall()
            if time.time() - os.fstat(file.fileno()).st_mtime > _DAY:
                with suppress(OSError):
                    os.utime(path)
    except OSError:
        return None
    return data
