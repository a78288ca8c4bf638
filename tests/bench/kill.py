"""Kill the array build at random moments, build again, compare. `python tests/bench/kill.py [TIMES]`, run by hand.

Each round starts in the folder the last one left behind (every fifth in a fresh one). The driver is killed with SIGKILL
at a random moment of a cold build, its tools run on unattended, and the next build must give the same ELFs.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "aiecc", "design.mlir", "--toolchain=llvm"]


def digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.glob("elfs_*/*.elf"))}


def clean(folder: Path) -> None:
    for made in [*folder.glob("*.prj"), *folder.glob("elfs_*")]:
        shutil.rmtree(made)


def main() -> int:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    moments = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "array"
        shutil.copytree(REPO / "examples" / "array", folder)
        began = time.monotonic()
        subprocess.run(COMMAND, cwd=folder, check=True, capture_output=True)
        whole = time.monotonic() - began
        right = digests(folder)
        assert len(right) == 32
        wrong = hit = 0
        clean(folder)
        for number in range(times):
            if number % 5 == 0:
                clean(folder)
            else:  # forget some of what is known, so that there is something left to kill
                shutil.rmtree(folder / "design.mlir.prj" / "records", ignore_errors=True)
                shutil.rmtree(folder / "design.mlir.prj" / "snapshots", ignore_errors=True)
            build = subprocess.Popen(
                COMMAND, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
            )
            time.sleep(moments.uniform(0, whole))
            hit += build.poll() is None
            os.killpg(build.pid, signal.SIGKILL) if build.poll() is None else None
            build.wait()
            torn = [n for n, d in digests(folder).items() if right[n] != d]
            done = subprocess.run(COMMAND, cwd=folder, capture_output=True, text=True, check=False)
            same = done.returncode == 0 and digests(folder) == right and not torn
            wrong += not same
            print(f"{number + 1:3d}: {'right' if same else f'WRONG {torn} {done.stderr[-500:]}'}", flush=True)
        print(f"{times} builds killed ({hit} of them still running), {times - wrong} right afterwards, {wrong} wrong")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
