"""The fast path when there is nothing to do, and the build record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_toy import TEXT, Ours, Toy

from aiecc.base.diag import Diagnostic, Level, Note, Refused
from aiecc.base.spans import Span
from aiecc.engine.reads import CONTENT, KIND, Read, content_digest, state_of
from aiecc.engine.record import build_record, write_record
from aiecc.engine.snapshot import Snapshot, check_snapshot, snapshot_path, write_snapshot


def a_snapshot(folder: Path) -> Snapshot:
    (folder / "k.c").write_text("kernel")
    (folder / "out.elf").write_bytes(b"\x7fELF")
    reads = (
        Read(str(folder / "k.c"), CONTENT, content_digest(b"kernel")),
        Read(str(folder / "k.h"), CONTENT, ""),
        Read(str(folder / "inc"), KIND, ""),
    )
    said = Diagnostic(Level.WARNING, "two\nlines \udcff", Span("d", 1, 2), "W0204", (Note("n", Span("e", 3, 4)),), "do")
    return Snapshot(reads, ((str(folder / "out.elf"), content_digest(b"\x7fELF")),), (said,), "table ü")


def test_a_snapshot_comes_back_whole(tmp_path: Path) -> None:
    snapshot = a_snapshot(tmp_path)
    assert check_snapshot(tmp_path, "key") is None
    assert write_snapshot(tmp_path, "key", snapshot)
    assert check_snapshot(tmp_path, "key") == snapshot
    assert check_snapshot(tmp_path, "other") is None
    assert [p.name for p in (tmp_path / "snapshots").iterdir()] == ["key"]


@pytest.mark.parametrize("change", ["edit", "remove", "appear", "folder", "output", "no output"])
def test_any_change_undoes_it(tmp_path: Path, change: str) -> None:
    write_snapshot(tmp_path, "key", a_snapshot(tmp_path))
    if change == "edit":
        (tmp_path / "k.c").write_text("Kernel")
    elif change == "remove":
        (tmp_path / "k.c").unlink()
    elif change == "appear":
        (tmp_path / "k.h").write_text("")
    elif change == "folder":
        (tmp_path / "inc").mkdir()
    elif change == "output":
        (tmp_path / "out.elf").write_bytes(b"\x7fELE")
    else:
        (tmp_path / "out.elf").unlink()
    assert check_snapshot(tmp_path, "key") is None


def test_damage_undoes_it_too(tmp_path: Path) -> None:
    write_snapshot(tmp_path, "key", a_snapshot(tmp_path))
    path = snapshot_path(tmp_path, "key")
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at])
        assert check_snapshot(tmp_path, "key") is None
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        assert check_snapshot(tmp_path, "key") is None
    body = b'{"form": 1, "reads": 3}'
    for junk in (b"", b"\xff\xfe", b"[]", content_digest(body).encode() + b"\n" + body):
        path.write_bytes(junk)
        assert check_snapshot(tmp_path, "key") is None
    path.write_bytes(good)
    assert check_snapshot(tmp_path, "key") is not None


def test_a_snapshot_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not write_snapshot(tmp_path / "file", "key", Snapshot((), ()))


def test_two_hundred_files_are_checked(tmp_path: Path) -> None:
    reads: list[Read] = []
    for i in range(200):
        path = tmp_path / f"f{i}"
        path.write_bytes(b"%d" % i * 2000)
        reads.append(Read(str(path), CONTENT, state_of(str(path), CONTENT)))
    write_snapshot(tmp_path, "key", Snapshot(tuple(reads), ()))
    assert check_snapshot(tmp_path, "key") is not None
    (tmp_path / "f199").write_bytes(b"other")
    assert check_snapshot(tmp_path, "key") is None


def test_a_build_tells_what_a_snapshot_needs(tmp_path: Path) -> None:
    ours = Ours()
    ours.dictionary = tmp_path / "words"
    build = Toy(tmp_path / "s", ours=ours).build(TEXT)
    assert not build.unsteady
    assert build.reads == (Read(str(tmp_path / "words"), KIND, ""),)
    write_snapshot(tmp_path, "k", Snapshot(build.reads, (), build.diagnostics, "ok"))
    assert check_snapshot(tmp_path, "k") is not None
    ours.dictionary.write_text("fig=kiwi")
    assert check_snapshot(tmp_path, "k") is None


def test_the_record_says_what_ran_and_why(tmp_path: Path) -> None:
    toy = Toy(tmp_path / "s")
    toy.build(TEXT)
    build = toy.build(TEXT.replace("fig", "bad"))
    record = build_record(build, {"out.elf": "d1"}, argv=["aiecc", "x"])
    write_record(tmp_path / "deep" / "record.json", record)
    found = json.loads((tmp_path / "deep" / "record.json").read_text())
    assert found["argv"] == ["aiecc", "x"]
    assert (found["ok"], found["interrupted"], found["requested"]) == (False, False, ["wall"])
    assert (found["ran"], found["hit"]) == (2, 5)
    assert found["outputs"] == {"out.elf": "d1"}
    tasks = {task["task"]: task for task in found["tasks"]}
    assert (tasks["book"]["state"], tasks["book"]["reason"]) == ("ran", "source changed")
    assert tasks["book"]["digest"] == build.digest("book")
    assert tasks["north_apple/shout"]["state"] == "hit"
    assert tasks["north_apple/shout"]["commands"] == 1
    assert tasks["north_apple/shout"]["seconds"] > 0
    assert tasks["south_bad/shout"]["state"] == "failed"
    assert (tasks["wall"]["state"], tasks["wall"]["reason"]) == ("blocked", "south/poster failed")
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["record.json"]
    with pytest.raises(Refused, match="cannot write the build record"):
        write_record(tmp_path / "deep" / "record.json" / "x", record)
