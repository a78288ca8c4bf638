"""Runs programs: the only module that starts processes.

Argument lists only, never a shell. Output is captured, its middle dropped when it runs to megabytes. Every child
gets a process group of its own, so that `Runner.cancel` ends it with whatever it started; a child that was
killed, failed or is not there becomes a value or a `ToolFailure`, never a traceback.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aiecc.base.diag import Diagnostic, Level, Note, Refused

KEEP = 64 * 1024
"""Bytes of output kept at either end."""

_HIDDEN = (
    # Compilers read these behind the command line's back; no cache key would know.
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "CCC_OVERRIDE_OPTIONS",
    "CCC_ADD_ARGS",
    "QA_OVERRIDE_GCC3_OPTIONS",
    "LLVM_PROFILE_FILE",
)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. `returncode` is negative when a signal ended it (POSIX). `output` is stdout and stderr."""

    argv: tuple[str, ...]
    returncode: int
    output: str
    seconds: float
    tool: str = ""

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def killed(self) -> bool:
        """Somebody ended it: no fault of its own, nor of what it was given."""
        return self.returncode in (-signal.SIGTERM, -signal.SIGINT, -getattr(signal, "SIGKILL", 9))

    @property
    def why(self) -> str:
        """`exited with code 1`, `was killed by SIGKILL`."""
        if self.returncode >= 0:
            return f"exited with code {self.returncode}"
        try:
            name = signal.Signals(-self.returncode).name
        except ValueError:
            name = f"signal {-self.returncode}"
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"was killed by {name}{hint}"


class ToolFailure(Refused):
    """A tool is missing, failed or was killed. `ran` is None when it could not be started. Exit code 3."""

    def __init__(self, diagnostic: Diagnostic, ran: Ran | None = None) -> None:
        super().__init__(diagnostic)
        self.ran = ran


class Cancelled(ToolFailure):
    """The build was interrupted; the command was killed or never started."""

    def __init__(self, tool: str) -> None:
        super().__init__(Diagnostic(Level.ERROR, f"aiecc: '{tool}' failed: interrupted", code="E0802"))


class Runner:
    """Starts programs, from any thread. `echo` is told each argument list before it runs (`-v`)."""

    def __init__(self, echo: Callable[[Sequence[str]], None] | None = None, *, keep: int = KEEP) -> None:
        self._echo = echo
        self._keep = keep
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        """Kill every running command with its children, and let none start from now on. Safe to call twice."""
        with self._lock:
            self._cancelled = True
            for child in self._children:
                _kill(child)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        tool: str = "",
    ) -> Ran:
        """Run a command to its end and say how it ended. `env` is added to the environment.

        Raises `ToolFailure` if it cannot be started, `Cancelled` if the build was interrupted.
        """
        name = tool or Path(argv[0]).stem
        if self._echo:
            self._echo(argv)
        begun = time.monotonic()
        child = self._start(argv, cwd, env, name)
        try:
            output = _drain(child.stdout, self._keep)
            _wait_unreaped(child)
        except BaseException:
            _kill(child)
            raise
        finally:
            with self._lock:  # reaped under the lock: cancel() must not meet a process id that is free again
                self._children.discard(child)
                returncode = child.wait()
            if child.stdout:
                child.stdout.close()
        if self._cancelled:
            raise Cancelled(name)
        return Ran(tuple(argv), returncode, output, time.monotonic() - begun, name)

    def check(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, tool: str = "") -> Ran:
        """As `run`, but a command that fails raises `ToolFailure`."""
        ran = self.run(argv, cwd=cwd, env=env, tool=tool)
        if not ran.ok:
            raise ToolFailure(failure(ran), ran)
        return ran

    def _start(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str] | None, name: str
    ) -> subprocess.Popen[bytes]:
        if self._cancelled:
            raise Cancelled(name)
        flags = subprocess.CREATE_NEW_PROCESS_GROUP if sys.platform == "win32" else 0
        try:
            child = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=environment(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=os.name == "posix",
                creationflags=flags,
            )
        except (OSError, ValueError) as problem:
            raise ToolFailure(_cannot_start(argv, cwd, name, problem)) from None
        with self._lock:
            self._children.add(child)
            if self._cancelled:  # since the first look; cancel() has not seen this child
                _kill(child)
        return child


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment children get: ours, without what compilers would read unasked, messages in English."""
    env = {k: v for k, v in os.environ.items() if k not in _HIDDEN}
    env["LC_ALL"] = "C.UTF-8" if os.name == "posix" else "C"
    return {**env, **(extra or {})}


def failure(ran: Ran, what: str = "") -> Diagnostic:
    """The diagnostic of a command that failed: upstream's first line, its output as a note.

    `what` replaces how it ended, when the caller knows better.
    """
    notes: list[Note] = []
    if ran.output.strip():
        said = (f"    {line}" for line in _shortened(ran.output.rstrip().splitlines()))
        notes.append(Note("\n".join(["the tool said:", *said])))
    notes.append(Note(f"command: {shown(ran.argv)}"))
    return Diagnostic(Level.ERROR, f"aiecc: '{ran.tool}' failed: {what or ran.why}", code="E0802", notes=tuple(notes))


def _shortened(lines: list[str]) -> list[str]:
    """What a person reads of a tool's output: how it began and how it ended."""
    cut = [line if len(line) <= 1000 else f"{line[:1000]}..." for line in lines]
    if len(cut) <= 100:
        return cut
    return [*cut[:60], f"... {len(cut) - 90} lines left out ...", *cut[-30:]]


def shown(argv: Sequence[str]) -> str:
    """An argument list as a POSIX shell would take it."""
    import shlex

    return shlex.join(argv)


def _cannot_start(argv: Sequence[str], cwd: Path, name: str, problem: Exception) -> Diagnostic:
    if not cwd.is_dir():
        return Diagnostic(Level.ERROR, f"aiecc: '{name}' failed: no folder {cwd} to run it in", code="E0802")
    if isinstance(problem, FileNotFoundError):
        text = f"aiecc: ShellCommand: tool '{name}' not found in search paths or PATH"
        return Diagnostic(Level.ERROR, text, code="E0801", notes=(Note(f"there is no {argv[0]}"),))
    reason = getattr(problem, "strerror", None) or str(problem)
    return Diagnostic(
        Level.ERROR,
        f"aiecc: '{name}' failed: it cannot be started: {reason}",
        code="E0802",
        notes=(Note(f"command: {shown(argv)}"),),
    )


def _drain(pipe: IO[bytes] | None, keep: int) -> str:
    """All that comes through the pipe as text, at most `keep` bytes from either end."""
    assert pipe is not None
    head, tail, dropped = bytearray(), bytearray(), 0
    # os.read returns what is there; a buffered read would wait for a full block.
    while block := os.read(pipe.fileno(), 65536):
        room = keep - len(head)
        if room > 0:
            head += block[:room]
            block = block[room:]
        tail += block
        if len(tail) > 2 * keep:
            dropped += len(tail) - keep
            del tail[:-keep]
    if dropped or len(tail) > keep:
        dropped += max(len(tail) - keep, 0)
        tail = tail[-keep:]
        head += f"\n... {dropped} bytes left out ...\n".encode()
    return (head + tail).decode("utf-8", "replace").replace("\r\n", "\n")


def _wait_unreaped(child: subprocess.Popen[bytes]) -> None:
    """Wait for a child's end, leaving its process id taken where the system can."""
    if hasattr(os, "waitid"):
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    else:
        child.wait()


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a child and everything it started."""
    if os.name == "posix":
        # The child leads its own session, so its id is its group's; the group may be gone already.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        return
    with contextlib.suppress(OSError):
        subprocess.run(
            ["taskkill", "/F", "/T", "/PID", str(child.pid)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    with contextlib.suppress(OSError):
        child.kill()
