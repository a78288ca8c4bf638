"""The status line on a terminal, and what `-v` says. Quiet in a pipe."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TextIO

from aiecc.cli.flags import DriverOptions
from aiecc.engine.run import Event


class Progress:
    """Told about every task that starts or ends."""

    def __init__(self, driver: DriverOptions, stream: TextIO) -> None:
        self.verbose = driver.verbose
        self.line = driver.progress and not driver.verbose and stream.isatty()
        self.stream = stream
        self.width = 0

    def __call__(self, event: Event) -> None:
        if self.verbose:
            if event.kind != "start":
                self._tell(event)
        elif self.line:
            shown = ", ".join(event.running[:4]) + (", ..." if len(event.running) > 4 else "")
            text = f"({event.done}/{event.total}) {shown}"[:100]
            print("\r" + text.ljust(self.width), end="", file=self.stream, flush=True)
            self.width = len(text)

    def _tell(self, event: Event) -> None:
        took = f" took {event.seconds * 1000:.0f} ms" if event.kind in ("ran", "failed") else ""
        why = f": {event.reason}" if event.reason else ""
        print(f"aiecc: ({event.done}/{event.total}) {event.address} {event.kind}{took}{why}", file=self.stream)

    def echo(self, argv: Sequence[str]) -> None:
        """A command that is about to run."""
        print(f"aiecc: exec: {shlex.join(argv)}", file=sys.stdout, flush=True)

    def close(self) -> None:
        """Take the status line away."""
        if self.line and self.width:
            print("\r" + " " * self.width + "\r", end="", file=self.stream, flush=True)
