"""A pool of threads, and the one queue on which their results come back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

_STACK = 16 * 1024 * 1024  # address space, not memory: readers of deeply nested input recurse
_TICK = 0.2  # seconds; where a waiting main thread cannot be interrupted (Windows), Ctrl-C waits this long


class Pool(Generic[T]):
    """At most `size` jobs at a time; a job must not raise. Threads start when first needed and die with the process.

    All methods belong to one thread, which may be interrupted (Ctrl-C) anywhere: then `idle` and `drain` still work.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._threads = 0
        self._submitted = 0
        self._taken = 0
        self._ended: list[None] = []  # one for each job that has ended; appending is atomic
        self._jobs: SimpleQueue[Callable[[], T] | None] = SimpleQueue()
        self._done: SimpleQueue[T] = SimpleQueue()

    @property
    def running(self) -> int:
        """Jobs submitted whose results were not taken yet."""
        return self._submitted - self._taken

    @property
    def idle(self) -> bool:
        """True when every job has ended."""
        return len(self._ended) >= self._submitted

    def submit(self, job: Callable[[], T]) -> None:
        if self._threads < min(self.running + 1, self.size):
            self._start()
        self._jobs.put(job)
        self._submitted += 1

    def next(self) -> T:
        """The result of a job that ended; waits for one."""
        while True:
            try:
                done = self._done.get(timeout=_TICK)
            except Empty:
                continue
            self._taken += 1
            return done

    def drain(self) -> list[T]:
        """The results that are there."""
        found: list[T] = []
        with suppress(Empty):
            while True:
                found.append(self._done.get_nowait())
        return found

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
            self._ended.append(None)
