"""Running programs: output, failures, signals, interruption."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aiecc.base.diag import render
from aiecc.engine.store import Store
from aiecc.model.command import Command
from aiecc.tools.commands import Invocation
from aiecc.tools.run import Cancelled, Runner, ToolFailure, failure
from aiecc.tools.workshop import Workshop

posix = pytest.mark.skipif(os.name != "posix", reason="signals and groups of POSIX")


def python(code: str, *args: str) -> list[str]:
    return [sys.executable, "-S", "-c", code, *args]


def test_output_of_both_streams_in_order(tmp_path):
    code = "import sys; print('one', flush=True); print('two', file=sys.stderr, flush=True); print('three')"
    ran = Runner().run(python(code), cwd=tmp_path, tool="speaker")
    assert (ran.ok, ran.output, ran.tool) == (True, "one\ntwo\nthree\n", "speaker")
    assert ran.seconds > 0


def test_arguments_arrive_as_they_are(tmp_path):
    odd = ["a b", "$(touch x)", "`id`", "it's", 'say "hi"', "a\nb", "*", "../..", "ünïcødé", "", "%PATH%", ";", "|"]
    ran = Runner().run(python("import sys, json; print(json.dumps(sys.argv[1:]))", *odd), cwd=tmp_path)
    import json

    assert json.loads(ran.output) == odd
    assert list(tmp_path.iterdir()) == []


def test_a_failure_is_a_value_and_a_diagnostic(tmp_path):
    argv = python("print('kernel.c:3:1: error: no'); raise SystemExit(7)")
    runner = Runner()
    ran = runner.run(argv, cwd=tmp_path, tool="clang")
    assert (ran.ok, ran.returncode, ran.why) == (False, 7, "exited with code 7")
    text = render(failure(ran))
    assert text.startswith("error: aiecc: 'clang' failed: exited with code 7  [E0802]\n")
    assert "kernel.c:3:1: error: no" in text
    with pytest.raises(ToolFailure) as caught:
        runner.check(argv, cwd=tmp_path, tool="clang")
    assert caught.value.ran is not None
    assert caught.value.ran.returncode == 7
    assert caught.value.diagnostics[0].code == "E0802"


def test_a_missing_program(tmp_path):
    with pytest.raises(ToolFailure) as caught:
        Runner().run([str(tmp_path / "nothing"), "-v"], cwd=tmp_path, tool="llc")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.text == "aiecc: ShellCommand: tool 'llc' not found in search paths or PATH"
    assert diagnostic.code == "E0801"
    assert caught.value.ran is None


@posix
def test_a_file_that_is_no_program(tmp_path):
    for name, mode in (("plain", 0o644), ("garbage", 0o755)):
        file = tmp_path / name
        file.write_bytes(b"\x00\x01\x02")
        file.chmod(mode)
        with pytest.raises(ToolFailure, match=f"aiecc: '{name}' failed: it cannot be started: "):
            Runner().run([str(file)], cwd=tmp_path)


def test_a_missing_work_folder_is_not_a_missing_tool(tmp_path):
    with pytest.raises(ToolFailure, match=r"no folder .*gone to run it in"):
        Runner().run(python("pass"), cwd=tmp_path / "gone")


def test_an_argument_with_a_nul(tmp_path):
    with pytest.raises(ToolFailure, match="cannot be started"):
        Runner().run([sys.executable, "a\0b"], cwd=tmp_path)


def test_megabytes_of_output_keep_both_ends(tmp_path):
    code = "print('first'); print(('x' * 79 + '\\n') * 200_000); print('last')"
    ran = Runner(keep=10_000).run(python(code), cwd=tmp_path)
    assert ran.output.startswith("first\n")
    assert ran.output.endswith("last\n")
    # What is said to be missing is missing: 6 + 200000 * 80 + 1 + 5 bytes were printed.
    note = next(line for line in ran.output.splitlines() if "bytes left out" in line)
    assert int(note.split()[1]) == 6 + 200_000 * 80 + 1 + 5 - 2 * 10_000
    assert len(ran.output) < 21_000


@pytest.mark.parametrize("size", [0, 1, 9_999, 10_000, 10_001, 19_999, 20_000])
def test_output_up_to_twice_the_limit_is_whole(tmp_path, size):
    ran = Runner(keep=10_000).run(python(f"import sys; sys.stdout.write('y' * {size})"), cwd=tmp_path)
    assert ran.output == "y" * size


def test_bytes_that_are_no_text(tmp_path):
    ran = Runner().run(python(r"import os; os.write(1, b'a\xff\xfe\r\nb')"), cwd=tmp_path)
    assert ran.output == "a\ufffd\ufffd\nb"


def test_nothing_to_read(tmp_path):
    assert Runner().run(python("import sys; print(repr(sys.stdin.read()))"), cwd=tmp_path).output == "''\n"


@posix
def test_killed_by_a_signal(tmp_path):
    ran = Runner().run(python("import os; os.kill(os.getpid(), 9)"), cwd=tmp_path, tool="opt")
    assert (ran.ok, ran.returncode) == (False, -signal.SIGKILL)
    assert failure(ran).text == "aiecc: 'opt' failed: was killed by SIGKILL (out of memory?)"
    ran = Runner().run(python("import os; os.kill(os.getpid(), 11)"), cwd=tmp_path)
    assert ran.why == "was killed by SIGSEGV"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


@posix
def test_cancel_ends_children_and_grandchildren(tmp_path):
    code = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])
with open('pids.part', 'w') as f:
    f.write(f'{os.getpid()} {child.pid}')
os.rename('pids.part', 'pids')
time.sleep(60)
"""
    runner = Runner()
    with ThreadPoolExecutor() as pool:
        running = pool.submit(runner.run, python(code), cwd=tmp_path, tool="slow")
        deadline = time.monotonic() + 20
        while not (tmp_path / "pids").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        pids = [int(p) for p in (tmp_path / "pids").read_text().split()]
        begun = time.monotonic()
        runner.cancel()
        with pytest.raises(Cancelled, match="'slow' failed: interrupted"):
            running.result(timeout=10)
        assert time.monotonic() - begun < 5
    deadline = time.monotonic() + 5
    while any(_alive(p) for p in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(_alive(p) for p in pids)
    runner.cancel()
    with pytest.raises(Cancelled):
        runner.run(python("open('started', 'w')"), cwd=tmp_path)
    assert not (tmp_path / "started").exists()


@posix
def test_cancel_while_many_start(tmp_path):
    """Whatever was started when `cancel` came is gone at the end, and nobody waits for a sleeper."""
    runner = Runner()

    def work(_: int) -> str:
        try:
            runner.run(python("import time; time.sleep(30)"), cwd=tmp_path)
        except Cancelled:
            return "cancelled"
        return "ended"

    with ThreadPoolExecutor(8) as pool:
        threading.Timer(0.05, runner.cancel).start()
        begun = time.monotonic()
        assert set(pool.map(work, range(24))) == {"cancelled"}
        assert time.monotonic() - begun < 10


def test_environment(tmp_path, monkeypatch):
    for name in ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "CCC_OVERRIDE_OPTIONS"):
        monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("AIECC_TEST_KEPT", "kept")
    names = ("CPATH", "CCC_OVERRIDE_OPTIONS", "AIECC_TEST_KEPT", "EXTRA")
    code = f"import os; print(*(os.environ.get(k, '-') for k in {names}))"
    ran = Runner().run(python(code), cwd=tmp_path, env={"EXTRA": "more"})
    assert ran.output == "- - kept more\n"
    assert os.environ["CPATH"] == "/somewhere"


def test_a_job_is_recorded_command_by_command(tmp_path):
    logged: list[Command] = []
    store = Store(tmp_path / "work")
    shop = Workshop(Runner(), store, logged.append)
    first = Invocation("writer", tuple(python("open('mid', 'w').write(open('in.txt').read() + '!')")))
    second = Invocation("copier", tuple(python("open('out', 'w').write(open('mid').read() * 2)")))
    made = shop.job([first, second], inputs={"in.txt": "x"}, outputs=("mid", "out"), env={"B": "2", "A": "1"})
    assert made.text("out") == "x!x!"
    a, b = logged
    assert a.inputs == (("in.txt", f"blob:{store.put('x', '.txt').digest}.txt"),) and b.inputs == ()
    assert a.outputs == (("mid", made.blob("mid").digest),) and b.outputs == (("out", made.blob("out").digest),)
    assert a.job == b.job and a.env == (("A", "1"), ("B", "2")) and (a.tool, b.tool) == ("writer", "copier")


def test_from_many_threads(tmp_path):
    runner = Runner()
    with ThreadPoolExecutor(4) as pool:
        rans = list(pool.map(lambda n: runner.run(python(f"print({n})"), cwd=tmp_path), range(12)))
    assert [r.output for r in rans] == [f"{n}\n" for n in range(12)]
