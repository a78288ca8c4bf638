"""The store: believes nothing unchecked, survives everything, and two builds in it do not hurt each other."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

import pytest

from aiecc.base.diag import Refused
from aiecc.base.digest import digest, file_digest
from aiecc.engine.reads import ABSENT, CONTENT, KIND, Files, FileStates, Read, content_digest, state_of
from aiecc.engine.store import Component, Part, Record, Store, record_name

EMPTY = FileStates()


def record(text: str = "x", reads: tuple[Read, ...] = (), blobs: tuple[tuple[str, int, str], ...] = ()) -> Record:
    body = text.encode()
    parts = (Part(b"", body, content_digest(body)),)
    return Record((Component("need", "d", "t"),), reads, parts, blobs, b"", b"", 0.5)


def test_put_names_a_content_and_keeps_it_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    blob = store.put(b"abc", ".o")
    assert blob.bytes() == b"abc"
    assert blob.path.suffix == ".o"
    assert blob == store.put("abc", ".txt")
    assert blob.digest == digest(b"abc")
    source = tmp_path / "in.elf"
    source.write_bytes(b"abc")
    assert store.put(source).path.suffix == ".elf"
    assert store.put(source, ".o").path == blob.path
    with pytest.raises(ValueError, match="not a suffix"):
        store.put(b"", "../x")
    with pytest.raises(OSError, match="No such file"):
        store.put(tmp_path / "missing")


def test_a_damaged_blob_is_mended_by_the_next_put(tmp_path: Path) -> None:
    blob = Store(tmp_path).put(b"abc", ".o")
    for junk in (b"", b"abX", b"abcd"):
        blob.path.write_bytes(junk)
        assert Store(tmp_path).put(b"abc", ".o").bytes() == b"abc"


def test_a_record_is_found_again_by_another_process(tmp_path: Path) -> None:
    name = Store(tmp_path).keep("k" * 40, record())
    found = Store(tmp_path).lookup("k" * 40, EMPTY)
    assert found is not None
    assert found[0] == name
    assert found[1] == record()
    assert Store(tmp_path).lookup("j" * 40, EMPTY) is None


@pytest.mark.parametrize("cut", [0, 1, 20, 54, 60, 80, -1])
def test_a_truncated_record_is_no_record(tmp_path: Path, cut: int) -> None:
    store = Store(tmp_path)
    store.keep("k" * 40, record())
    path = next(p for p in (tmp_path / "records").rglob("*") if p.is_file())
    path.write_bytes(path.read_bytes()[:cut])
    assert store.lookup("k" * 40, EMPTY) is None
    store.keep("k" * 40, record())
    assert store.lookup("k" * 40, EMPTY) is not None


def test_any_flipped_byte_is_noticed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep("k" * 40, record("some product"))
    path = next(p for p in (tmp_path / "records").rglob("*") if p.is_file())
    good = path.read_bytes()
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert store.lookup("k" * 40, EMPTY) is None
    path.write_bytes(good)
    assert store.lookup("k" * 40, EMPTY) is not None


def test_a_record_without_its_blob_is_no_record(tmp_path: Path) -> None:
    store = Store(tmp_path)
    blob = store.put(b"object", ".o")
    store.keep("k" * 40, record(blobs=((blob.digest, blob.size, ".o"),)))
    assert Store(tmp_path).lookup("k" * 40, EMPTY) is not None
    blob.path.write_bytes(b"0bject")
    assert Store(tmp_path).lookup("k" * 40, EMPTY) is None
    blob.path.unlink()
    assert Store(tmp_path).lookup("k" * 40, EMPTY) is None
    assert store.lookup("k" * 40, EMPTY) is None


def test_records_follow_the_files_they_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    kernel = tmp_path / "kernel.c"
    products: dict[str, str] = {"one": "ONE", "two": "TWO"}
    for text, product in products.items():
        kernel.write_text(text)
        reads = (Read(str(kernel), CONTENT, state_of(str(kernel), CONTENT)),)
        store.keep("k" * 40, record(product, reads))
    for text, product in products.items():  # both versions are known, as after switching branches
        kernel.write_text(text)
        found = store.lookup("k" * 40, FileStates())
        assert found is not None
        assert found[1].parts[0].body == product.encode()
    kernel.write_text("three")
    assert store.lookup("k" * 40, FileStates()) is None
    kernel.unlink()
    assert store.lookup("k" * 40, FileStates()) is None


def test_read_sets_are_bounded_and_damage_to_them_is_harmless(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    for i in range(40):
        path = tmp_path / f"f{i}"
        path.write_text(str(i))
        store.keep("k" * 40, record(str(i), (Read(str(path), CONTENT, state_of(str(path), CONTENT)),)))
    found = store.lookup("k" * 40, FileStates())
    assert found is not None
    assert found[1].parts[0].body == b"39"
    (sets,) = (p for p in (tmp_path / "s/reads").rglob("*") if p.is_file())
    assert sets.read_bytes().count(b"content") == 16
    sets.write_bytes(sets.read_bytes()[:-3])
    assert store.lookup("k" * 40, FileStates()) is None


def test_record_names_tell_reads_apart() -> None:
    names = {
        record_name("k", ()),
        record_name("k", (Read("a", CONTENT, "1"),)),
        record_name("k", (Read("a", CONTENT, ABSENT),)),
        record_name("k", (Read("a", KIND, "f"),)),
        record_name("k", (Read("a", CONTENT, "1"), Read("b", CONTENT, "1"))),
        record_name("l", ()),
    }
    assert len(names) == 6


def test_last_build_is_remembered_and_damage_forgets_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.last("a/elf") is None
    store.set_last({"a/elf": "r1", "b/elf": ""})
    store.set_last({"a/elf": "r2"})
    again = Store(tmp_path)
    assert (again.last("a/elf"), again.last("b/elf")) == ("r2", "")
    (tmp_path / "last").write_bytes(b"junk")
    assert Store(tmp_path).last("a/elf") is None


def test_a_folder_that_cannot_be_written_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused) as caught:
        Store(tmp_path / "file" / "store")
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0903"
    assert problem.text.startswith(f"cannot write to the build folder '{tmp_path}/file/store': ")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_read_only_folder_is_refused_in_words(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(Refused, match="cannot write to the build folder"):
        Store(tmp_path / "s")


def test_a_full_disk_is_refused_in_words_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    good = store.put(b"before")
    real = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        real(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Refused, match="No space left on device"):
        store.put(b"after")
    with pytest.raises(Refused, match="No space left on device"):
        store.keep("k" * 40, record())
    monkeypatch.undo()
    assert list((tmp_path / "tmp").iterdir()) == []
    assert store.lookup("k" * 40, FileStates()) is None
    assert good.bytes() == b"before"
    assert store.put(b"after").bytes() == b"after"


def test_rooms_removed_under_our_feet_are_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (tmp_path / "tmp").rmdir()
    assert store.put(b"x").bytes() == b"x"


def test_scratch_folders_are_apart_and_go_away(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.scratch() as one, store.scratch() as two:
        assert one != two
        (one / "deep").mkdir()
        (one / "deep/file").write_text("x")
    assert not one.exists()
    assert not two.exists()


def test_leftovers_of_killed_builds_are_swept_after_a_day(tmp_path: Path) -> None:
    Store(tmp_path)
    old, new = tmp_path / "tmp/old", tmp_path / "tmp/new"
    folder = tmp_path / "tmp/folder"
    folder.mkdir()
    (folder / "x").write_text("x")
    for path in (old, new):
        path.write_text("half")
    ago = time.time() - 2 * 24 * 3600
    os.utime(old, (ago, ago))
    os.utime(folder, (ago, ago))
    Store(tmp_path)
    assert [p.name for p in (tmp_path / "tmp").iterdir()] == ["new"]


def test_prune_takes_what_nobody_used_and_use_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    used, unused = store.put(b"used", ".o"), store.put(b"unused", ".o")
    store.keep("k" * 40, record(blobs=((used.digest, used.size, ".o"),)))
    ago = time.time() - 40 * 24 * 3600
    for path in tmp_path.rglob("*"):
        if path.is_file():
            os.utime(path, (ago, ago))
    assert Store(tmp_path).lookup("k" * 40, FileStates()) is not None
    assert store.prune(30) == len(b"unused")
    assert not unused.path.exists()
    assert Store(tmp_path).lookup("k" * 40, FileStates()) is not None
    assert store.prune(0) == 0  # never what a build running now may have found


def test_many_threads_writing_the_same_things(tmp_path: Path) -> None:
    stores = [Store(tmp_path), Store(tmp_path)]
    problems: list[BaseException] = []

    def work(store: Store) -> None:
        try:
            for i in range(60):
                assert store.put(b"%d" % (i % 7), ".o").bytes() == b"%d" % (i % 7)
                key = digest(str(i % 5))
                store.keep(key, record(str(i % 5)))
                found = store.lookup(key, EMPTY)
                assert found is not None
                assert found[1].parts[0].body == str(i % 5).encode()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert list((tmp_path / "tmp").iterdir()) == []


# Reads


def test_states_tell_files_folders_and_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x")
    assert state_of(str(path), CONTENT) == content_digest(b"x") == file_digest(path)
    assert state_of(str(tmp_path), CONTENT) == ABSENT
    assert [state_of(str(p), KIND) for p in (path, tmp_path, tmp_path / "no")] == ["f", "d", ABSENT]
    assert state_of("bad\0name", CONTENT) == ABSENT


def test_files_writes_every_question_down(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("text")
    files = Files(FileStates())
    assert files.first([tmp_path / "a", tmp_path / "b", tmp_path / "c"]) == tmp_path / "b"
    assert files.read_text(tmp_path / "b") == "text"
    assert files.is_dir(tmp_path)
    assert files.exists(tmp_path)
    with pytest.raises(FileNotFoundError):
        files.read_bytes(tmp_path / "d")
    assert set(files.reads) == {
        Read(str(tmp_path / "a"), KIND, ABSENT),
        Read(str(tmp_path / "b"), KIND, "f"),
        Read(str(tmp_path / "b"), CONTENT, content_digest(b"text")),
        Read(str(tmp_path), KIND, "d"),
        Read(str(tmp_path / "d"), CONTENT, ABSENT),
    }
    assert list(files.reads) == sorted(files.reads)
    assert not files.unsteady


def test_reads_can_be_collected_apart(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name)
    files = Files(FileStates())
    files.read_bytes(tmp_path / "a")
    files.begin()
    files.read_bytes(tmp_path / "a")
    files.read_bytes(tmp_path / "b")
    assert [Path(read.path).name for read in files.end()] == ["a", "b"]
    assert [Path(read.path).name for read in files.reads] == ["a", "b"]


def test_a_file_that_changes_while_it_is_used_makes_the_task_unsteady(tmp_path: Path) -> None:
    path = tmp_path / "k.c"
    path.write_text("one")
    files = Files(FileStates())
    files.used(path)
    assert not files.unsteady
    time.sleep(0.02)
    path.write_text("two")
    files.used(path)
    assert files.unsteady
    files = Files(FileStates())
    files.read_bytes(path)
    path.write_text("three")
    files.read_bytes(path)
    assert files.unsteady


def test_one_build_hashes_a_file_once_however_many_tasks_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "h.h"
    path.write_text("x")
    opened: list[str] = []
    monkeypatch.setattr("aiecc.engine.reads.state_of", lambda p, mode: opened.append(p) or "s")
    states = FileStates()
    for _ in range(5):
        Files(states).used(path)
    assert states.state(str(path), CONTENT) == "s"
    assert len(opened) == 1
