"""Generated chains of tiles: whatever the depths, block sizes and seed, a stream comes out as the chain's steps say."""

from __future__ import annotations

import struct
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from aiecc.ir.text import parse
from aiecc.sim.array import simulate

# Each tile of a chain: how many buffers it has, and what its core adds (None: no core, the DMA sends on what came).
tiles = st.lists(st.tuples(st.integers(1, 3), st.none() | st.integers(-9, 9)), min_size=1, max_size=4)


def blocks_of(name: str, direction: str, depth: int, size: int, take: str, give: str, start: str, after: str) -> str:
    text = f"%{start} = aie.dma_start({direction}, 0, ^{start}0, ^{after})\n"
    for at in range(depth):
        text += f"""^{start}{at}:
aie.use_lock(%{take}, AcquireGreaterEqual, 1)
aie.dma_bd(%{name}{at} : memref<{size}xi32> offset = 0 len = {size})
aie.use_lock(%{give}, Release, 1)
aie.next_bd ^{start}{(at + 1) % depth}
"""
    return text + f"^{after}:\n"


def tile(number: int, depth: int, add: int | None, size: int, count: int) -> str:
    """In by DMA, perhaps through a core that adds in place, out by DMA."""
    n = f"n{number}_"
    text = f"%t{number} = aie.tile({number % 4}, {2 + number // 4})\n"
    for at in range(depth):
        text += f'%{n}{at} = aie.buffer(%t{number}) {{sym_name = "{n}{at}"}} : memref<{size}xi32>\n'
    for lock, init in (("free", depth), ("come", 0), ("done", 0)):
        text += f'%{n}{lock} = aie.lock(%t{number}) {{init = {init} : i32, sym_name = "{n}{lock}"}}\n'
    done = f"{n}come" if add is None else f"{n}done"
    text += f"%m{number} = aie.mem(%t{number}) {{\n"
    text += blocks_of(n, "S2MM", depth, size, f"{n}free", f"{n}come", "in", "next")
    text += blocks_of(n, "MM2S", depth, size, done, f"{n}free", "out", "end")
    text += "aie.end\n}\n"
    if add is None:
        return text
    work = ""
    for at in range(count):
        buffer = f"%{n}{at % depth}"
        work += f"""aie.use_lock(%{n}come, AcquireGreaterEqual, 1)
scf.for %i{at} = %c0 to %size step %c1 {{
  %v = memref.load {buffer}[%i{at}] : memref<{size}xi32>
  %w = arith.addi %v, %add : i32
  memref.store %w, {buffer}[%i{at}] : memref<{size}xi32>
}}
aie.use_lock(%{n}done, Release, 1)
"""
    return (
        text
        + f"""%core{number} = aie.core(%t{number}) {{
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%size = arith.constant {size} : index
%add = arith.constant {add} : i32
{work}aie.end
}}
"""
    )


@settings(max_examples=60, deadline=None)
@given(tiles, st.integers(1, 5), st.integers(1, 5), st.integers(0, 1000), st.sampled_from([0, 4, 64]))
def test_chains(chain: list[tuple[int, int | None]], size: int, count: int, seed: int, slack: int) -> None:
    text = "aie.device(npu2) {\n%s = aie.tile(0, 0)\n"
    for number, (depth, add) in enumerate(chain):
        text += tile(number, depth, add, size, count)
    ends = ["%s", *(f"%t{n}" for n in range(len(chain))), "%s"]
    for source, dest in pairwise(ends):
        text += f"aie.flow({source}, DMA : 0, {dest}, DMA : 0)\n"
    text += "}"
    data = [7 * i - 3 for i in range(size * count)]
    raw = struct.pack(f"<{len(data)}i", *data)
    outcome = simulate(
        parse(text, "chain.mlir"),
        feeds={(0, 0): raw},
        drains={(0, 0): len(raw)},
        seed=seed,
        slack=slack,
        cores_end=True,
    )
    assert outcome.finished, outcome.report()
    total = sum(add or 0 for _, add in chain)
    assert list(struct.unpack(f"<{len(data)}i", outcome.received["(0, 0) DMA : 0"])) == [v + total for v in data]
    for number, (depth, _) in enumerate(chain):
        assert 1 <= outcome.locks[f"n{number}_come"].high <= depth
