"""Ctrl-C and SIGTERM: exit code 4, no process left behind, nothing half-written, and the next build is a good one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from refusekit import KERNEL, broken_toolchain, design, files_of

from aiecc.testing.kit import Project

pytestmark = [pytest.mark.tools, pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")]

AIECC = [sys.executable, "-m", "aiecc"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("k.c", KERNEL)
    made.write("design.mlir", design())
    return made


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has reaped yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def interrupted(project: Project, number: int, tool: str) -> tuple[subprocess.CompletedProcess[str], list[int]]:
    """A build whose tool sleeps, with a grandchild, ended by a signal; and the process ids of both."""
    aside = project.folder.parent / "aside"
    pids = project.folder.parent / "pids"
    pids.mkdir()
    script = f"sleep 100 & echo $! > {pids}/child.$$; mv {pids}/child.$$ {pids}/done.$$; wait"
    options = broken_toolchain(aside, {tool: script})
    env = {**os.environ, "AIECC_TEST_BROKEN": str(aside / "tools")}
    build = subprocess.Popen(
        [*AIECC, "design.mlir", *options, "-j2"],
        cwd=project.folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(pids.glob("done.*")):
        assert time.monotonic() < deadline and build.poll() is None
        time.sleep(0.01)
    began = time.monotonic()
    build.send_signal(number)
    out, err = build.communicate(timeout=30)
    assert time.monotonic() - began < 10
    found = [int(p.suffix[1:]) for p in pids.glob("done.*")] + [int(p.read_text()) for p in pids.glob("done.*")]
    return subprocess.CompletedProcess(build.args, build.returncode, out, err), found


@pytest.mark.parametrize(
    ("number", "tool"), [(signal.SIGINT, "clang"), (signal.SIGTERM, "ld.lld"), (signal.SIGINT, "mlir-opt")]
)
def test_a_signal_ends_the_build_and_its_tools(project: Project, number: int, tool: str) -> None:
    ended, pids = interrupted(project, number, tool)
    assert ended.returncode == 4, ended.stderr
    assert "aiecc: interrupted" in ended.stderr and "Traceback" not in ended.stderr
    assert "error: " not in ended.stderr
    deadline = time.monotonic() + 5
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert pids and not any(map(alive, pids))
    assert set(files_of(project.folder)) == {"k.c", "design.mlir"}
    again = project.aiecc("design.mlir")
    assert again.code == 0, again.err
    fresh = Project(project.folder.parent / "fresh")
    fresh.write("k.c", KERNEL)
    fresh.write("design.mlir", design())
    assert fresh.aiecc("design.mlir").code == 0
    assert fresh.elf() == project.elf()


def test_an_interrupt_while_outputs_are_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from aiecc.report import deliver

    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(deliver, "write", stop)
        ended = project.aiecc("design.mlir")
    assert ended.code == 4 and "interrupted" in ended.err
    assert project.aiecc("design.mlir").code == 0
