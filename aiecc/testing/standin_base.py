"""What the stand-in scripts share: reading an argument list strictly, the log, handing over to a real tool."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

WRONG = 9
"""The exit code of a stand-in that was given the wrong arguments."""


class WrongArguments(Exception):
    """The argument list is not what the real tool is given."""


class Arguments:
    """An argument list, taken from the left; anything unexpected raises `WrongArguments`."""

    def __init__(self, args: Sequence[str]) -> None:
        self.left = list(args)

    def fail(self, wanted: str) -> NoReturn:
        found = repr(self.left[0]) if self.left else "the end"
        raise WrongArguments(f"expected {wanted}, found {found}")

    def peek(self) -> str:
        return self.left[0] if self.left else ""

    def word(self, *wanted: str) -> str:
        """The next argument, one of `wanted`."""
        if self.peek() not in wanted or not self.left:
            self.fail(" or ".join(wanted))
        return self.left.pop(0)

    def maybe(self, wanted: str) -> bool:
        if self.left and self.left[0] == wanted:
            self.left.pop(0)
            return True
        return False

    def match(self, pattern: str, what: str) -> re.Match[str]:
        """The next argument, which matches as a whole."""
        found = re.fullmatch(pattern, self.peek()) if self.left else None
        if found is None:
            self.fail(what)
        self.left.pop(0)
        return found

    def file(self, *suffixes: str) -> str:
        """The next argument, a file that is there and ends so."""
        name = self.peek()
        if not name or name.startswith(("-", "+")) or (suffixes and not name.endswith(suffixes)):
            self.fail(f"a file {' or '.join(suffixes)}".rstrip())
        if not Path(name).is_file():
            raise WrongArguments(f"there is no file {name}")
        return self.left.pop(0)

    def output(self, *suffixes: str) -> str:
        """`-o NAME`."""
        self.word("-o")
        name = self.peek()
        if not name or name.startswith("-") or (suffixes and not name.endswith(suffixes)):
            self.fail(f"an output {' or '.join(suffixes)}".rstrip())
        return self.left.pop(0)

    def end(self) -> None:
        if self.left:
            self.fail("the end")


Handler = Callable[[Arguments, dict[str, Any]], "list[str] | None"]
"""Checks the arguments; returns the real command to run, None if there is nothing more to do."""


def run(tool: str, folder: str, args: Sequence[str], handler: Handler, version: str) -> int:
    """Log the call, check it, and become the real tool."""
    if list(args) in (["--version"], ["+v"]):
        print(version)
        return 0
    config: dict[str, Any] = json.loads(Path(folder, "standin.json").read_text(encoding="utf-8"))
    config["folder"] = folder
    problem, command = "", None
    try:
        command = handler(Arguments(args), config)
    except WrongArguments as wrong:
        problem = str(wrong)
    line = json.dumps({"tool": tool, "args": list(args), "problem": problem}) + "\n"
    with Path(folder, "log.jsonl").open("ab", buffering=0) as log:  # one write, so that lines do not mix
        log.write(line.encode())
    if problem:
        print(f"stand-in {tool}: {problem}\narguments: {' '.join(args)}", file=sys.stderr)
        return WRONG
    return become(command) if command else 0


def become(command: Sequence[str]) -> int:
    """Replace this process by another program."""
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(command[0], list(command))
    return os.spawnv(os.P_WAIT, command[0], list(command))


def with_level(command: Sequence[str], level: str) -> list[str]:
    """A portable command line at another optimization level."""
    return [f"-O{level}" if re.fullmatch(r"-O\d", a) else a for a in command]
