"""The run-time ABI of pipes, in C. Read `pipes.h`: it is the documentation.

`pipes_core.c` is what cores link: flags and copies by memory-mapped registers. `pipes_threads.c` runs a cluster on this
machine, a thread per core, and judges every access by vector clocks. `tile_ops.c` computes on tiles, the same for both.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent

CORE_SOURCES = ("pipes_core.c", "tile_ops.c")
THREAD_SOURCES = ("pipes_threads.c", "tile_ops.c")
HEADERS = ("pipes.h", "pipes_run.h")
