#!/usr/bin/env python3
"""Write the array example: one design over the whole npu2 array and the 32 kernels it links.

Every column is a chain: the shim's DMA fills the lowest core, each core writes into the memory of the
core north of it, and the highest one goes back to the shim. usage: generate.py [FOLDER]
"""

import pathlib
import sys

COLUMNS, ROWS, BLOCK = 8, range(2, 6), 256
# (template, argument) by row, one column after the other: 32 different programs.
STEPS = {
    2: [("fir", 12 + 2 * c) for c in range(COLUMNS)],
    3: [("biquads", 3 + c) for c in range(4)] + [("horner", 7 + c) for c in range(4)],
    4: [("hadamard", 3 + c) for c in range(4)] + [("matmul", 4), ("matmul", 8), ("sorted", 3), ("sorted", 4)],
    5: [("activate", 8 + c % 3) for c in range(4)] + [("ranked", 5 + c) for c in range(4)],
}


def kernel(col: int, row: int) -> str:
    step, argument = STEPS[row][col]
    seed = 1 + 40 * col + row
    return f"""#include "dsp.h"

// Column {col}, row {row}: filter, dsp::{step}, transform, activation.
extern "C" void stage_{col}_{row}(const int32_t *__restrict in, int32_t *__restrict out) {{
  int32_t a[dsp::kBlock], b[dsp::kBlock];
  dsp::fir<{8 + (col + row) % 5}, {seed}u>(in, a);
  dsp::{step}<{argument}, {seed}u>(a, b);
  dsp::matmul<{4 if (col + row) % 2 else 8}, {seed}u>(b, a);
  dsp::activate<11, {7 + 31 * col + row}u>(a, out);
}}
"""


def tile(col: int, row: int) -> list[str]:
    b = f"memref<{BLOCK}xi32>"
    name = f"{col}_{row}"
    out = [f"    %tile_{name} = aie.tile({col}, {row})"]
    for side in ("ping", "pong"):
        out.append(f'    %in_{side}_{name} = aie.buffer(%tile_{name}) {{sym_name = "in_{side}_{name}"}} : {b}')
    if row == max(ROWS):
        out.append(f'    %result_{name} = aie.buffer(%tile_{name}) {{sym_name = "result_{name}"}} : {b}')
        for lock, value in (("result_free", 1), ("result_full", 0)):
            held = f'{{init = {value} : i32, sym_name = "{lock}_{name}"}}'
            out.append(f"    %{lock}_{name} = aie.lock(%tile_{name}) {held}")
    out.append(f'    %free_{name} = aie.lock(%tile_{name}) {{init = 2 : i32, sym_name = "free_{name}"}}')
    out.append(f'    %full_{name} = aie.lock(%tile_{name}) {{init = 0 : i32, sym_name = "full_{name}"}}')
    return out


def core(col: int, row: int) -> list[str]:
    b = f"memref<{BLOCK}xi32>"
    name, north = f"{col}_{row}", f"{col}_{row + 1}"
    last = row == max(ROWS)
    body = []
    for side in ("ping", "pong"):
        target = f"%result_{name}" if last else f"%in_{side}_{north}"
        free, full = (f"%result_free_{name}", f"%result_full_{name}") if last else (f"%free_{north}", f"%full_{north}")
        body += [
            f"        aie.use_lock(%full_{name}, AcquireGreaterEqual, %one)",
            f"        aie.use_lock({free}, AcquireGreaterEqual, %one)",
            f"        func.call @stage_{name}(%in_{side}_{name}, {target}) : ({b}, {b}) -> ()",
            f"        aie.use_lock(%free_{name}, Release, %one)",
            f"        aie.use_lock({full}, Release, %one)",
        ]
    return [
        f'    func.func private @stage_{name}({b}, {b}) attributes {{link_with = "stage_{name}.cc"}}',
        f"    %core_{name} = aie.core(%tile_{name}) {{",
        "      %c0 = arith.constant 0 : index",
        "      %c1 = arith.constant 1 : index",
        "      %blocks = arith.constant 4096 : index",
        "      %one = arith.constant 1 : i32",
        "      scf.for %block = %c0 to %blocks step %c1 {",
        *body,
        "      }",
        "      aie.end",
        "    } {stack_size = 8192 : i32}",
    ]


def block(label: str, acquire: str, buffer: str, release: str, following: str) -> list[str]:
    return [
        f"    ^{label}:",
        f"      aie.use_lock(%{acquire}, AcquireGreaterEqual, %one)",
        f"      aie.dma_bd(%{buffer} : memref<{BLOCK}xi32> offset = 0 len = {BLOCK})",
        f"      aie.use_lock(%{release}, Release, %one)",
        f"      aie.next_bd ^{following}",
    ]


def mems(col: int) -> list[str]:
    low, high = f"{col}_{min(ROWS)}", f"{col}_{max(ROWS)}"
    return [
        f"    aie.flow(%shim_{col}, DMA : 0, %tile_{low}, DMA : 0)",
        f"    aie.flow(%tile_{high}, DMA : 0, %shim_{col}, DMA : 0)",
        f"    aie.shim_dma_allocation @in_{col}(%shim_{col}, MM2S, 0)",
        f"    aie.shim_dma_allocation @out_{col}(%shim_{col}, S2MM, 0)",
        f"    %mem_{low} = aie.mem(%tile_{low}) {{",
        "      %one = arith.constant 1 : i32",
        "      %fill = aie.dma_start(S2MM, 0, ^ping, ^end)",
        *block("ping", f"free_{low}", f"in_ping_{low}", f"full_{low}", "pong"),
        *block("pong", f"free_{low}", f"in_pong_{low}", f"full_{low}", "ping"),
        "    ^end:",
        "      aie.end",
        "    }",
        f"    %mem_{high} = aie.mem(%tile_{high}) {{",
        "      %one = arith.constant 1 : i32",
        "      %drain = aie.dma_start(MM2S, 0, ^out, ^end)",
        *block("out", f"result_full_{high}", f"result_{high}", f"result_free_{high}", "out"),
        "    ^end:",
        "      aie.end",
        "    }",
    ]


def design() -> str:
    out = ["// The whole npu2 array: 32 cores, 32 different kernels. Written by generate.py."]
    out += ["module {", "  aie.device(npu2) {"]
    for col in range(COLUMNS):
        out.append(f"    %shim_{col} = aie.tile({col}, 0)")
        for row in ROWS:
            out += tile(col, row)
    for col in range(COLUMNS):
        for row in ROWS:
            out += ["", *core(col, row)]
        out += ["", *mems(col)]
    return "\n".join([*out, "  }", "}", ""])


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    (folder / "design.mlir").write_text(design())
    for col in range(COLUMNS):
        for row in ROWS:
            (folder / f"stage_{col}_{row}.cc").write_text(kernel(col, row))


if __name__ == "__main__":
    main()
