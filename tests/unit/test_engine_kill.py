"""Whole processes: killed, interrupted, at once in one folder, with other thread counts and hash seeds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from engine_toy import Toy

from aiecc.engine.build import State

HERE = Path(__file__).parent
TEXT = "\n".join(f"r{i}: " + " ".join(f"odd{i}w{j}" for j in range(4)) for i in range(12))


def start(folder: Path, jobs: int = 2, seed: str = "0", text: str = TEXT) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "engine_toy.py"), str(folder), str(jobs), text],
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    out = process.communicate(timeout=60)[0]
    assert process.returncode == 0
    return out


def test_same_words_for_any_number_of_threads_and_any_hash_seed(tmp_path: Path) -> None:
    cold = [finish(start(tmp_path / f"{jobs}-{seed}", jobs, seed)) for jobs, seed in ((1, "0"), (4, "1"), (7, "271"))]
    assert len(set(cold)) == 1
    assert "warning r0_odd0w0 is an odd word" in cold[0]
    warm = finish(start(tmp_path / "1-0", 3, "99"))  # and when all of it is known already
    assert warm == cold[0]
    records = [{p.name for p in (tmp_path / f / "records").rglob("*") if p.is_file()} for f in ("1-0", "4-1", "7-271")]
    assert records[0] == records[1] == records[2]


def test_killed_at_any_moment_the_next_build_comes_out_right(tmp_path: Path) -> None:
    expected = finish(start(tmp_path / "good"))
    began = time.monotonic()
    finish(start(tmp_path / "timing"))
    whole = time.monotonic() - began
    rng = random.Random(7)
    for _ in range(12):
        process = start(tmp_path / "killed")
        time.sleep(whole * (0.25 + 0.7 * rng.random()))
        process.kill()
        process.communicate()
        for path in (tmp_path / "killed").glob("records/*/*"):
            if rng.random() < 0.5:  # so that there is something left to do
                path.unlink()
    assert finish(start(tmp_path / "killed")) == expected
    assert finish(start(tmp_path / "killed")) == expected


def test_two_builds_in_one_folder_at_once(tmp_path: Path) -> None:
    expected = finish(start(tmp_path / "good"))
    other = TEXT.replace("r3:", "r3: more")
    for _ in range(2):
        processes = [start(tmp_path / "shared"), start(tmp_path / "shared"), start(tmp_path / "shared", text=other)]
        outs = [finish(p) for p in processes]
        assert outs[0] == outs[1] == expected
        assert "MORE!" in outs[2]
    assert list((tmp_path / "shared/tmp").iterdir()) == []


SLOW = """
    import os, sys, threading, time
    from pathlib import Path
    sys.path.insert(0, {here!r})
    from engine_toy import Toy, hookimpl, Any
    from aiecc.base.diag import refuse

    stop = threading.Event()

    class Slow:
        @hookimpl(wrapper=True)
        def aiecc_measure(self, word) -> Any:
            result = yield
            os.write(1, b"measuring\\n")  # one call: threads must not mix their lines
            if stop.wait(30):
                refuse("the tool was killed")
            return result

    build = Toy(Path(sys.argv[1]), Slow(), jobs=2, on_cancel=stop.set).build("north: a b c d e")
    states = {{o.address: o.state.value for o in build.outcomes}}
    print(build.interrupted, build.ok, [d.text for d in build.diagnostics], sorted(set(states.values())))
    print([a for a, s in states.items() if s == "ran"])
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_an_interrupt_ends_the_build_quickly_and_keeps_what_was_made(tmp_path: Path) -> None:
    code = textwrap.dedent(SLOW.format(here=str(HERE)))
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(2):  # both threads are at it, so all that comes before is done
        assert process.stdout.readline() == "measuring\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=30)[0].splitlines()
    assert time.monotonic() - began < 4
    assert process.returncode == 0
    assert out == [
        "True False [] ['ran', 'stopped']",
        "['book', 'item', 'north_a/shout', 'north_b/shout', 'north_c/shout', 'north_d/shout', 'north_e/shout']",
    ]
    toy = Toy(tmp_path)
    build = toy.build("north: a b c d e", "shout")
    assert toy.calls == []
    assert {o.state for o in build.outcomes} == {State.HIT}


STUBBORN = """
    import os, sys, time
    from pathlib import Path
    sys.path.insert(0, {here!r})
    from engine_toy import Toy, hookimpl, Any

    class Stubborn:
        @hookimpl
        def aiecc_measure(self, word) -> Any:
            os.write(1, b"measuring\\n")  # one call: threads must not mix their lines
            time.sleep(60)

    build = Toy(Path(sys.argv[1]), Stubborn(), jobs=1).build("north: a")
    print("interrupted", build.interrupted)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_second_interrupt_does_not_wait_at_all(tmp_path: Path) -> None:
    code = textwrap.dedent(STUBBORN.format(here=str(HERE)))
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "measuring\n"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted True\n"
    assert time.monotonic() - began < 4


FULL = """
    import resource, signal, sys
    from pathlib import Path
    sys.path.insert(0, {here!r})
    from engine_toy import Toy

    toy = Toy(Path(sys.argv[1]), jobs=2)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
    build = toy.build("north: " + "x" * 900 + " b")
    print(build.ok, len(build.bugs), [d.text for d in build.diagnostics], {{d.code for d in build.diagnostics}})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_disk_that_takes_no_more_is_one_clean_error(tmp_path: Path) -> None:
    code = textwrap.dedent(FULL.format(here=str(HERE)))
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == (f"False 0 [\"cannot write to the build folder '{tmp_path}': File too large\"] {{'E0903'}}\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    build = Toy(tmp_path).build("north: " + "x" * 900 + " b")
    assert build.ok
