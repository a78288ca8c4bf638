"""What stands between a command and the user: exit codes, refusals in words, and a reproducer for our bugs."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from aiecc.base.codes import Exit
from aiecc.base.diag import Diagnostic, Refused, render


def guarded(module: str, args: Sequence[str], whole: Sequence[str]) -> int:
    """Call `run(args)` of a module. Nothing a user can do ends in a traceback; what does is our bug, exit code 70."""
    try:
        with _ended_in_order():
            return int(importlib.import_module(module).run(list(args)))
    except Refused as refused:
        say(refused.diagnostics)
        return exit_code(refused.diagnostics)
    except KeyboardInterrupt:
        print("aiecc: interrupted", file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; a second error at exit would only confuse.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception:
        import traceback

        return bug(traceback.format_exc(), whole)


@contextmanager
def _ended_in_order() -> Generator[None]:
    """SIGTERM ends a build as Ctrl-C does: with its tools, leaving nothing half-written."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread: whoever runs us there has handlers of its own
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def say(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics on stderr, a bit of colour on a terminal."""
    paint = colored(sys.stderr)
    for diagnostic in diagnostics:
        text = _CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}", render(diagnostic))
        print(_painted(text, diagnostic) if paint else text, file=sys.stderr)


# Names come from designs and output from tools: nothing in them may steer the user's terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def colored(stream: object) -> bool:
    """Whether to use colour: a terminal, and `NO_COLOR` is not set."""
    isatty = getattr(stream, "isatty", lambda: False)
    return bool(isatty()) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_COLOR = {"error": "\033[1;31m", "warning": "\033[1;35m", "remark": "\033[1;34m"}


def _painted(text: str, diagnostic: Diagnostic) -> str:
    word = f"{diagnostic.level.value}: "
    return text.replace(word, f"{_COLOR[diagnostic.level.value]}{word}\033[0m", 1)


def exit_code(diagnostics: Iterable[Diagnostic]) -> Exit:
    """What a failed command ends with: usage, a tool, or the design, in this order."""
    codes = [d.code for d in diagnostics if d.is_error]
    if any(c in ("E0901", "E0902", "E0803") for c in codes):
        return Exit.USAGE
    if any(c in ("E0801", "E0802", "E0903") for c in codes):
        return Exit.TOOL
    return Exit.REFUSED


def bug(
    trace: str, args: Sequence[str], where: Path | None = None, plugin: str = "", files: Iterable[str] = ()
) -> Exit:
    """Say that we have a bug, leave what reproduces it, and return 70. `files`: what the build has read."""
    from aiecc import __version__
    from aiecc.base.digest import digest

    body = [
        f"aiecc {__version__}, Python {sys.version.split()[0]}, {sys.platform}",
        "command line: " + repr(list(args)),
    ]
    folder = (where or Path.cwd()) / f"aiecc-bug-{digest(trace)[:8]}"
    last = trace.strip().splitlines()[-1] if trace.strip() else "?"
    whose = f"a bug in plugin '{plugin}'" if plugin else "a bug in aiecc"
    print(f"aiecc: internal error, {whose}: {last}", file=sys.stderr)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.txt").write_text("\n".join([*body, "", trace]), "utf-8")
        here = Path.cwd()
        told = (a.rpartition("=")[2] for a in args if a.endswith((".mlir", ".py")))  # the design, and plugins
        for name in dict.fromkeys((*told, *files)):
            source = here / name
            # What lies elsewhere belongs to the installation, or is not ours to copy.
            if source.is_relative_to(here) and ".." not in source.parts and source.is_file():
                copy = folder / source.relative_to(here)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(source.read_bytes())
        print(f"aiecc: what reproduces it is in {folder}; please report it", file=sys.stderr)
    except OSError:
        print(trace, file=sys.stderr)
    return Exit.BUG
