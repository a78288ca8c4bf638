"""Pausing Python's search for reference cycles while much is made that stays: the search costs more than the making."""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0


@contextmanager
def paused() -> Generator[None]:
    """No cycles are looked for inside; may be nested, and entered by several threads. Leaves a collector that somebody
    else has switched off alone."""
    global _pauses
    with _lock:
        ours = _pauses > 0 or gc.isenabled()
        if ours:
            _pauses += 1
            gc.disable()
    try:
        yield
    finally:
        if ours:
            with _lock:
                _pauses -= 1
                if not _pauses:
                    _settle()
                    gc.enable()


def _settle() -> None:
    """Count what was made as old at once: else the search goes through all of it three times before it does."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
