"""The figures of README's "Speed" table. Ratios are taken within one run; nothing here is asserted."""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))
AIECC = [sys.executable, "-m", "aiecc"]
Row = tuple[str, str, str]


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*AIECC, *args], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"aiecc {' '.join(args)} failed:\n{done.stderr}")
    return done


def build(folder: Path) -> None:
    run(folder, "design.mlir", "--toolchain=llvm")


def cold(folder: Path) -> None:
    for made in [*folder.glob("*.prj"), *folder.glob("elfs_*")]:
        shutil.rmtree(made)
    build(folder)


def array(folder: Path) -> Path:
    shutil.copytree(REPO / "examples" / "array", folder, dirs_exist_ok=True)
    return folder


def equal(folder: Path) -> Path:
    """32 cores that differ in nothing but their names."""
    folder.mkdir(parents=True)
    shutil.copy(REPO / "examples" / "array" / "dsp.h", folder)
    shutil.copy(REPO / "examples" / "array" / "stage_4_4.cc", folder / "stage.cc")
    lines = ["module {", "  aie.device(npu2) {"]
    b = "memref<256xi32>"
    lines.append(f'    func.func private @stage_4_4({b}, {b}) attributes {{link_with = "stage.cc"}}')
    for col in range(8):
        for row in range(2, 6):
            n = f"{col}_{row}"
            lines += [
                f"    %tile_{n} = aie.tile({col}, {row})",
                f'    %in_{n} = aie.buffer(%tile_{n}) {{sym_name = "in_{n}"}} : {b}',
                f'    %out_{n} = aie.buffer(%tile_{n}) {{sym_name = "out_{n}"}} : {b}',
                f'    %full_{n} = aie.lock(%tile_{n}) {{init = 0 : i32, sym_name = "full_{n}"}}',
                f"    %core_{n} = aie.core(%tile_{n}) {{",
                "      %one = arith.constant 1 : i32",
                f"      aie.use_lock(%full_{n}, AcquireGreaterEqual, %one)",
                f"      func.call @stage_4_4(%in_{n}, %out_{n}) : ({b}, {b}) -> ()",
                "      aie.end",
                "    } {stack_size = 6144 : i32}",
            ]
    (folder / "design.mlir").write_text("\n".join([*lines, "  }", "}", ""]))
    return folder


def replay(folder: Path, jobs: int) -> float:
    """The external commands of a build alone, `jobs` at once, everything they read laid out beforehand."""
    from aiecc.api import Request, Session, Source, load_plugins
    from aiecc.choices import ToolchainOptions

    source = folder / "design.mlir"
    old = Path.cwd()
    os.chdir(folder)
    try:
        request = Request(
            Source("design.mlir", source.read_text()),
            folder / "design.mlir.prj",
            folder,
            options=(ToolchainOptions(toolchain="llvm"),),
        )
        session = Session(load_plugins(), request)
        commands = session.run().build.commands
    finally:
        os.chdir(old)
    with tempfile.TemporaryDirectory() as scratch:
        work: list[tuple[Path, list[list[str]]]] = []
        for number, (_, group) in enumerate(groupby(commands, key=lambda c: c.job)):
            place = Path(scratch) / str(number)
            place.mkdir()
            argvs: list[list[str]] = []
            for command in group:
                for name, origin in command.inputs:
                    if origin.startswith("blob:"):
                        (place / name).write_bytes(session.blob(origin.removeprefix("blob:")))
                argvs.append(list(command.argv))
            work.append((place, argvs))

        def one(job: tuple[Path, list[list[str]]]) -> None:
            for argv in job[1]:
                subprocess.run(argv, cwd=job[0], capture_output=True, check=True)

        def everything() -> None:
            with ThreadPoolExecutor(jobs) as pool:
                list(pool.map(one, work))

        return timed(everything)


def building(runs: int) -> list[Row]:
    """Cold, warm and partial builds of the array, against the replay of its own commands."""
    rows: list[Row] = []
    jobs = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as scratch:
        different, same = array(Path(scratch) / "array"), equal(Path(scratch) / "equal")
        cold(different)
        pairs: list[tuple[float, float, float, float]] = []
        for _ in range(runs):
            whole = timed(lambda: cold(different))
            again = timed(lambda: build(different))
            commands = replay(different, jobs)
            alike = timed(lambda: cold(same))
            pairs.append((whole, commands, again, alike))
        median = [statistics.median(p[i] for p in pairs) for i in range(4)]
        ratio = [statistics.median(p[i] / p[j] for p in pairs) for i, j in ((0, 1), (2, 0), (3, 0))]
        rows.append(
            ("array, cold", f"{median[0]:.2f} s", f"{ratio[0]:.2f} x replay of its commands ({median[1]:.2f} s)")
        )
        rows.append(("array, nothing changed", f"{median[2]:.3f} s", f"{100 * ratio[1]:.1f} % of cold"))
        rows.append(("32 equal cores, cold", f"{median[3]:.2f} s", f"{ratio[2]:.2f} x the 32 different ones"))
        kernel = different / "stage_3_3.cc"
        kernel.write_text(kernel.read_text().replace("(a, out);", "(a, out);\n  out[0] += 1;"))
        started = time.perf_counter()
        said = run(different, "design.mlir", "--toolchain=llvm", "-v")
        seconds = time.perf_counter() - started
        tools = said.stdout.count("aiecc: exec:")
        share = f"{100 * seconds / median[0]:.0f} % of cold, {tools} commands"
        rows.append(("array, one kernel changed", f"{seconds:.2f} s", share))
    return rows


def memory() -> list[Row]:
    """Peak memory of the driver process on the array, without its children."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = array(Path(scratch) / "array")
        code = (
            "import resource, sys, runpy; sys.argv = ['aiecc', 'design.mlir', '--toolchain=llvm']\n"
            "try: runpy.run_module('aiecc', run_name='__main__')\n"
            "except SystemExit: pass\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
        peak = int(done.stderr.split()[-1]) / 1024
    return [("peak memory of the driver, array", f"{peak:.0f} MB", "")]


def starting(runs: int) -> list[Row]:
    """`--version` and `--help` against a Python that does nothing."""
    rows: list[Row] = []
    script = str(Path(sys.executable).with_name("aiecc"))

    def once(*argv: str) -> float:
        return timed(lambda: subprocess.run(argv, capture_output=True, check=True))

    for option in ("--version", "--help"):
        once(script, option)
        pairs = [(once(script, option), once(sys.executable, "-c", "pass")) for _ in range(runs * 5)]
        ratio = statistics.median(a / b for a, b in pairs)
        mine = statistics.median(a for a, _ in pairs)
        rows.append((f"aiecc {option}", f"{mine * 1000:.0f} ms", f"{ratio:.1f} x python -c pass"))
    return rows


def table(title: str, rows: list[Row]) -> None:
    print(f"\n{title}")
    for name, value, ratio in rows:
        print(f"  {name:<36} {value:>10}  {ratio}")
    sys.stdout.flush()


def placing(scale: float, use_cp: bool) -> None:
    from placement_corpora import COLUMNS, cells, measure_all

    print("\nplacement")
    print("  " + "  ".join(f"{c:>12}" for c in COLUMNS))
    for row in measure_all(scale, use_cp=use_cp):
        print("  " + "  ".join(f"{c:>12}" for c in cells(row)))
        sys.stdout.flush()


def simulating() -> list[Row]:
    from simulation import rates

    return [(name, f"{rate / 1e6:.1f} M/s", "events of the array model, processor time") for name, rate in rates()]


def lowering() -> list[Row]:
    from fifo_lowering import rows

    return list(rows())


def sequences() -> list[Row]:
    from sequences import rows

    return rows()


def pipes() -> list[Row]:
    from pipes import rows

    return rows()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="the whole placement corpora")
    parser.add_argument(
        "--only", choices=("build", "start", "memory", "fifos", "sequences", "pipes", "sim", "place"), help="one table"
    )
    asked = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, medians of {asked.runs} runs")
    if asked.only in (None, "start"):
        table("starting", starting(asked.runs))
    if asked.only in (None, "build"):
        table("building", building(asked.runs))
    if asked.only in (None, "memory"):
        table("memory", memory())
    if asked.only in (None, "fifos"):
        table("lowering objectFifos", lowering())
    if asked.only in (None, "sequences"):
        table("runtime sequences", sequences())
    if asked.only in (None, "pipes"):
        table("pipes between cores", pipes())
    if asked.only in (None, "sim"):
        table("array model", simulating())
    if asked.only in (None, "place"):
        placing(1.0 if asked.full else 0.1, use_cp=True)
    print(f"\nchildren's peak memory {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
