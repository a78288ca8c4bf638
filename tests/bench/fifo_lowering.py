"""How long designs with objectFifos take to lower, and how that grows; called by `bench.py`.

Processor time of the passes alone, the best of three; reading and printing are not counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from aiecc.base.diag import Sink
from aiecc.ir.lowering import follow
from aiecc.ir.text import parse
from aiecc.model.recipe import recipe

EXAMPLE = Path(__file__).parents[2] / "examples" / "array_fifos"


def lowering(text: str) -> float:
    """Seconds for all passes of `lower`, as the driver runs them."""
    best = float("inf")
    for _ in range(3):
        module, sink = parse(text, "design.mlir"), Sink()
        start = time.process_time()
        done = follow(module, recipe(), sink)
        best = min(best, time.process_time() - start)
        assert done, [d.text for d in sink.items]
    return best


def chains(fifos: int) -> str:
    """Cores in columns of xcve2802, each handing objects to itself and to its northern neighbour: `fifos` in all."""
    lines = ["aie.device(xcve2802) {"]
    tiles = [(col, row) for col in range(38) for row in range(3, 11)][: fifos // 2]
    for col, row in tiles:
        lines.append(f"%t{col}_{row} = aie.tile({col}, {row})")
    fed = {(col, row) for col, row in tiles if (col, row - 1) in tiles}
    for col, row in tiles:
        lines.append(fifo(f"own{col}_{row}", f"t{col}_{row}", f"t{col}_{row}"))
        north = (col, row + 1) if (col, row + 1) in tiles else (col, row)
        lines.append(fifo(f"up{col}_{row}", f"t{col}_{row}", f"t{north[0]}_{north[1]}"))
    for col, row in tiles:
        ports = [(f"own{col}_{row}", "Produce"), (f"own{col}_{row}", "Consume"), (f"up{col}_{row}", "Produce")]
        if (col, row) in fed:
            ports.append((f"up{col}_{row - 1}", "Consume"))
        if (col, row + 1) not in tiles:
            ports.append((f"up{col}_{row}", "Consume"))
        lines += core(f"t{col}_{row}", ports)
    return "\n".join([*lines, "}"])


def fifo(name: str, source: str, target: str) -> str:
    return f"aie.objectfifo @{name}(%{source}, {{%{target}}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"


def core(tile: str, ports: list[tuple[str, str]]) -> list[str]:
    body = [
        line
        for i, (name, port) in enumerate(ports)
        for line in (
            f"%o{i} = aie.objectfifo.acquire @{name}({port}, 1) : memref<16xi32>",
            f"aie.objectfifo.release @{name}({port}, 1)",
        )
    ]
    return [
        f"%c{tile} = aie.core(%{tile}) {{",
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c8 = arith.constant 8 : index",
        "scf.for %i = %c0 to %c8 step %c1 {",
        *body,
        "}",
        "aie.end",
        "}",
    ]


def rows() -> Iterator[tuple[str, str, str]]:
    """The rows of the table: what, how long, and how that compares."""
    example = lowering((EXAMPLE / "design.mlir").read_text())
    yield "32 cores, 120 fifos: all passes", f"{example:.2f} s", "processor time; at most 1 s"
    before = 0.0
    for count in (32, 64, 128, 256):
        seconds = lowering(chains(count))
        yield f"{count} fifos", f"{1000 * seconds:.0f} ms", f"{seconds / before:.2f} x half as many" if before else ""
        before = seconds
