#!/usr/bin/env python3
"""Write the array example with objectFifos: 32 cores, three fifos each. usage: generate.py [FOLDER]

Every column is a chain: data comes in at the shim, goes north from core to core through shared memory, and leaves
at the top. Each core has coefficients of its own, handed out by the memory tile, and reports a sum per block, which
the memory tile gathers.
"""

import pathlib
import sys

COLUMNS, ROWS, BLOCK, TAPS = 8, range(2, 6), 256, 16


def fifo(name: str, source: str, target: str, elements: int, depth: int = 2) -> str:
    return (
        f"    aie.objectfifo @{name}(%{source}, {{%{target}}}, {depth} : i32) : !aie.objectfifo<memref<{elements}xi32>>"
    )


def column(col: int) -> list[str]:
    names = [f"tile_{col}_{row}" for row in ROWS]
    count = len(names)
    taps = ", ".join(f"@taps_{col}_{row}" for row in ROWS)
    sums = ", ".join(f"@sum_{col}_{row}" for row in ROWS)
    out = [f"    %shim_{col} = aie.tile({col}, 0)", f"    %mem_{col} = aie.tile({col}, 1)"]
    out += [f"    %{name} = aie.tile({col}, {row})" for name, row in zip(names, ROWS, strict=True)]
    out.append(fifo(f"data_{col}_2", f"shim_{col}", names[0], BLOCK))
    out += [
        fifo(f"data_{col}_{row + 1}", name, f"tile_{col}_{row + 1}", BLOCK)
        for name, row in zip(names[:-1], ROWS, strict=False)
    ]
    out.append(fifo(f"result_{col}", names[-1], f"shim_{col}", BLOCK))
    out.append(fifo(f"taps_{col}", f"shim_{col}", f"mem_{col}", TAPS * count, 1))
    out += [fifo(f"taps_{col}_{row}", f"mem_{col}", name, TAPS, 1) for name, row in zip(names, ROWS, strict=True)]
    offsets = ", ".join(str(TAPS * i) for i in range(count))
    out.append(f"    aie.objectfifo.link [@taps_{col}] -> [{taps}] ([] [{offsets}])")
    out += [fifo(f"sum_{col}_{row}", name, f"mem_{col}", 1) for name, row in zip(names, ROWS, strict=True)]
    out.append(fifo(f"sums_{col}", f"mem_{col}", f"shim_{col}", count))
    offsets = ", ".join(str(i) for i in range(count))
    out.append(f"    aie.objectfifo.link [{sums}] -> [@sums_{col}] ([{offsets}] [])")
    return out


def core(col: int, row: int) -> list[str]:
    data, taps, one = f"memref<{BLOCK}xi32>", f"memref<{TAPS}xi32>", "memref<1xi32>"
    target = f"result_{col}" if row == max(ROWS) else f"data_{col}_{row + 1}"
    return [
        f"    %core_{col}_{row} = aie.core(%tile_{col}_{row}) {{",
        "      %c0 = arith.constant 0 : index",
        "      %c1 = arith.constant 1 : index",
        "      %forever = arith.constant 9223372036854775807 : index",
        f"      %taps = aie.objectfifo.acquire @taps_{col}_{row}(Consume, 1) : {taps}",
        "      scf.for %block = %c0 to %forever step %c1 {",
        f"        %in = aie.objectfifo.acquire @data_{col}_{row}(Consume, 1) : {data}",
        f"        %out = aie.objectfifo.acquire @{target}(Produce, 1) : {data}",
        f"        %sum = aie.objectfifo.acquire @sum_{col}_{row}(Produce, 1) : {one}",
        f"        func.call @fir(%in, %taps, %out, %sum) : ({data}, {taps}, {data}, {one}) -> ()",
        f"        aie.objectfifo.release @data_{col}_{row}(Consume, 1)",
        f"        aie.objectfifo.release @{target}(Produce, 1)",
        f"        aie.objectfifo.release @sum_{col}_{row}(Produce, 1)",
        "      }",
        "      aie.end",
        "    }",
    ]


def design() -> str:
    data, taps = f"memref<{BLOCK}xi32>", f"memref<{TAPS}xi32>"
    out = ["// The whole npu2 array with objectFifos. Written by generate.py.", "module {", "  aie.device(npu2) {"]
    out.append(f'    func.func private @fir({data}, {taps}, {data}, memref<1xi32>) attributes {{link_with = "fir.c"}}')
    for col in range(COLUMNS):
        out += ["", *column(col)]
        for row in ROWS:
            out += ["", *core(col, row)]
    return "\n".join([*out, "  }", "}", ""])


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    (folder / "design.mlir").write_text(design())


if __name__ == "__main__":
    main()
