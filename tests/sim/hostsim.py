"""What the tests of the host share: small devices that sequences run on, and a run from IR to bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.sim.host import Ran, run_words
from aiecc.sim.host_words import words_of
from aiecc.sim.outcome import Kind

PASS = """
  %shim = aie.tile(0, 0)
  %mem = aie.tile(0, 1)
  aie.objectfifo @in(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @out(%mem, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo.link [@in] -> [@out] ([] [])
"""
"""What goes into @in comes out of @out, in pieces of 16 words."""


def device(body: str, *, name: str = "npu2") -> str:
    return f"aie.device({name}) {{{body}\n}}\n"


def sequence(args: str, body: str) -> str:
    return f"\n  aie.runtime_sequence @run({args}) {{\n{body}\n  }}"


def task(name: str, fifo: str, bd: str, attrs: str = "") -> str:
    """A task of one descriptor, configured and started."""
    return f"""
    %{name} = aiex.dma_configure_task_for @{fifo} {{
      aie.dma_bd({bd})
      aie.end
    }} {{{attrs}}}
    aiex.dma_start_task(%{name})"""


def ran(text: str, args: Sequence[bytes | bytearray | None], **options: object) -> Ran:
    """Verify, lower to words, run."""
    module = parse(text, "design.mlir")
    assert not verify(module)
    return run_words(words_of(module), args, **options)  # type: ignore[arg-type]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def ints(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def trapped(text: str, args: Sequence[bytes | bytearray | None], kind: Kind, **options: object) -> tuple[int, str]:
    """The line and the words of the trap a run ends with."""
    outcome = ran(text, args, **options).outcome
    assert outcome.trap is not None, outcome.report()
    assert outcome.trap.kind is kind, outcome.report()
    assert outcome.trap.where is not None
    return outcome.trap.where.line, outcome.trap.text


def line_of(text: str, part: str, *, last: bool = False) -> int:
    """The line something stands on."""
    found = [n for n, line in enumerate(text.splitlines(), 1) if part in line]
    return found[-1 if last else 0]
