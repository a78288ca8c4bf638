"""A pool of threads, and the one queue on which their results come back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

_STACK = 16 * 1024 * 1024  # address space, not memory: readers of deeply nested input recurse
_TICK = 0.2  # seconds; where a waiting main thread cannot be interrupted (Windows), Ctrl-C waits this long


class Pool(Generic[T]):
    """At most `size` jobs at a time; a job must not raise. Threads start when first needed and die with the process."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.running = 0
        self._threads = 0
        self._jobs: SimpleQueue[Callable[[], T] | None] = SimpleQueue()
        self._done: SimpleQueue[T] = SimpleQueue()

    def submit(self, job: Callable[[], T]) -> None:
        self.running += 1
        if self._threads < min(self.running, self.size):
            self._start()
        self._jobs.put(job)

    def next(self, seconds: float | None = None) -> T | None:
        """The result of a job that ended; None when none did within `seconds`. Waits without end for None."""
        left = seconds
        while True:
            wait = _TICK if left is None else min(_TICK, left)
            try:
                done = self._done.get(timeout=max(wait, 0))
            except Empty:
                if left is None:
                    continue
                left -= wait
                if left <= 0:
                    return None
                continue
            self.running -= 1
            return done

    def close(self) -> None:
        """Let idle threads end. Jobs still running are not waited for."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _start(self) -> None:
        self._threads += 1
        before = threading.stack_size(_STACK)
        try:
            threading.Thread(target=self._work, name=f"aiecc-{self._threads}", daemon=True).start()
        finally:
            threading.stack_size(before)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._done.put(job())
