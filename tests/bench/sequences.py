"""Runtime sequences of many tasks: how long lowering and encoding take, and how it grows; decoding by the second."""

from __future__ import annotations

import time

SIZES = (1000, 3000, 10000)


def design(count: int) -> str:
    """Half of the tasks send tiles, half receive and are awaited; ids go round."""
    lines = [
        "aie.device(npu2) {",
        "  %t = aie.tile(0, 0)",
        "  aie.shim_dma_allocation @in(%t, MM2S, 0)",
        "  aie.shim_dma_allocation @out(%t, S2MM, 0)",
        "  aie.runtime_sequence(%a: memref<65536xi32>, %b: memref<65536xi32>) {",
    ]
    for i in range(count // 2):
        at = i * 16 % 65536
        lines.append(
            f"""    %i{i} = aiex.dma_configure_task_for @in {{
      aie.dma_bd(%a : memref<65536xi32> offset = {at} len = 16 sizes = [2, 8] strides = [64, 1])
      aie.end
    }}
    aiex.dma_start_task(%i{i})
    %o{i} = aiex.dma_configure_task_for @out {{
      aie.dma_bd(%b : memref<65536xi32> offset = {at} len = 16)
      aie.end
    }} {{issue_token = true}}
    aiex.dma_start_task(%o{i})
    aiex.dma_await_task(%o{i})
    aiex.dma_free_task(%i{i})"""
        )
    return "\n".join([*lines, "  }", "}", ""])


def measured(count: int) -> tuple[float, float, bytes]:
    """Processor seconds to read a sequence, and to lower and encode it; and its words."""
    from aiecc.base.diag import Sink
    from aiecc.ir.facts import devices
    from aiecc.ir.lowering import follow
    from aiecc.ir.runtime.transaction import find_sequence, instructions
    from aiecc.ir.text import parse
    from aiecc.model.recipe import sequence_recipe
    from aiecc.npu.txn import encode

    text, sink = design(count), Sink()
    began = time.process_time()
    module = parse(text, "design.mlir")
    read = time.process_time()
    done = follow(module, sequence_recipe(), sink)
    device = next(iter(devices(module)))
    found = instructions(device, find_sequence(device), sink)
    data = encode(device.target, [each.op for each in found])
    ended = time.process_time()
    assert done and not sink.failed, [d.text for d in sink.items]
    return read - began, ended - read, data


def decoding(data: bytes) -> float:
    """Megabytes of words decoded in a second."""
    from aiecc.npu.txn import decode

    began = time.process_time()
    assert decode(data).stopped is None
    return len(data) / 1e6 / (time.process_time() - began)


def rows() -> list[tuple[str, str, str]]:
    """Rows of the table: what, figure, measured how."""
    measured(SIZES[0] // 10)
    found: list[tuple[str, str, str]] = []
    last, data = 0.0, b""
    for count in SIZES:
        read, seconds, data = measured(count)
        ratio = f", {seconds / last:.1f} times" if last else ""
        last = seconds
        words = f"{seconds:.1f} s{ratio}"
        found.append((f"lower and encode {count} tasks", words, f"processor time; read in {read:.1f} s"))
    found.append(("decode words", f"{decoding(data):.1f} MB/s", f"{len(data) / 1e6:.1f} MB"))
    return found


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="  ")
