"""Designs that run out of channels, made to share some and run: every object arrives, in its order, where it should."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import pytest

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.pipeline import make_pass
from aiecc.ir.text import parse
from aiecc.sim.array import simulate
from aiecc.sim.ends import End

NAMES = "abc"
PERIODS = 12
FORM = "memref<4xi32>"
AHEAD = (107, 130, 133, 147)
"""Seeds of designs where no two ends can share without one of them running ahead of the core."""


class Drawn:
    """Three fifos from the shim over a memory tile to a core that has two channels, and a core that writes down what it
    sees: one object out for each period, with the first word of the object of each fifo it acquired last."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.near = {n: rng.choice([1, 2, 2, 4]) for n in NAMES}
        parts: list[list[tuple[str, str, int]]] = []
        for n in NAMES:
            window = rng.randint(1, self.near[n])
            given = rng.randint(1, window)
            parts.append([("take", n, window), *[("give", n, 1)] * given])
        self.body: list[tuple[str, str, int]] = []
        while any(parts):
            self.body.append(rng.choice([part for part in parts if part]).pop(0))

    @property
    def text(self) -> str:
        code: list[str] = []
        for i, (kind, n, size) in enumerate(self.body):
            if kind == "give":
                code.append(f"aie.objectfifo.release @{n}c (Consume, {size})")
                continue
            pack, first = (f"%o{i}:{size}", f"%o{i}#0") if size > 1 else (f"%o{i}", f"%o{i}")
            code.append(f"{pack} = aie.objectfifo.acquire @{n}c (Consume, {size}) : {', '.join([FORM] * size)}")
            code.append(f"%v{i} = memref.load {first}[%c0] : {FORM}")
            code.append(f"memref.store %v{i}, %w[%c{NAMES.index(n)}] : {FORM}")
        fifos = "\n".join(
            f"""aie.objectfifo @{n}(%s, {{%m}}, 2 : i32) : !aie.objectfifo<{FORM}>
            aie.objectfifo @{n}c(%m, {{%t}}, [2, {self.near[n]}]) : !aie.objectfifo<{FORM}>
            aie.objectfifo.link [@{n}] -> [@{n}c] ([] [0])
            aie.runtime_sequence @q{n}(%x : {FORM}) {{
              aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {{id = 0 : i64, metadata = @{n}}} : {FORM}
            }}"""
            for n in NAMES
        )
        constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(4))
        lines = "\n".join(code)
        return f"""aie.device(npu1) {{
          %s = aie.tile(0, 0)
          %m = aie.tile(0, 1)
          %t = aie.tile(0, 2)
          {fifos}
          aie.objectfifo @y(%t, {{%s}}, 2 : i32) : !aie.objectfifo<{FORM}>
          %core = aie.core(%t) {{
            {constants}
            %zero = arith.constant 0 : i32
            %n = arith.constant {PERIODS} : index
            scf.for %i = %c0 to %n step %c1 {{
              %w = aie.objectfifo.acquire @y (Produce, 1) : {FORM}
              memref.store %zero, %w[%c3] : {FORM}
              {lines}
              aie.objectfifo.release @y (Produce, 1)
            }}
            aie.end
          }}
        }}"""

    def taken(self) -> dict[str, int]:
        """How many objects the core takes of each."""
        held, found = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
        for kind, n, size in self.body * PERIODS:
            change = max(size - held[n], 0) if kind == "take" else -size
            held[n] += change
            found[n] += max(change, 0)
        return found

    def seen(self) -> list[int]:
        """What the core writes down: each acquire's front object is the oldest one not yet given back."""
        given = dict.fromkeys(NAMES, 0)
        found: list[int] = []
        for _ in range(PERIODS):
            last: dict[str, int] = {}
            for kind, n, size in self.body:
                if kind == "take":
                    last[n] = given[n]
                else:
                    given[n] += size
            found += [*(1000 * i + last[n] for i, n in enumerate(NAMES)), 0]
        return found


@pytest.mark.parametrize("seed", range(12))
def test_what_arrives_over_shared_channels(seed: int):
    """The shim shares one of its two channels among three ends, and so does the core's tile."""
    drawn = Drawn(seed)
    module = parse(drawn.text, "design.mlir")
    device = next(op for op in module.body.block.ops if isinstance(op, DeviceOp))
    sink = Sink()
    for name in ("split", "verify", "allocate"):
        make_pass(f"aie-objectfifo-{name}", "").apply(device, sink)
    if sink.failed:
        # The two reasons there are: a standstill, or more descriptors than the tile has.
        assert "DMA channel exceeded!" in sink.items[0].text
        return
    assert sum(bool(op.turns) for op in device.block.ops if isinstance(op, DmaEndpointOp)) == 4
    for name in ("lower-dmas", "lower-cores", "erase-pools"):
        make_pass(f"aie-objectfifo-{name}", "").apply(device, sink)
    assert not sink.failed, sink.items
    # More than the core needs of each: a chain of turns goes on only while all of them have objects.
    count = PERIODS * max(drawn.near.values()) + 8
    feeds: dict[End, bytes | Sequence[bytes]] = {
        n: [struct.pack("<4i", 1000 * i + k, 0, 0, 0) for k in range(count)] for i, n in enumerate(NAMES)
    }
    outcome = simulate(module, feeds=feeds, drains={"y": PERIODS * 16}, seed=seed)
    assert list(struct.unpack(f"<{PERIODS * 4}i", outcome.received["y"])) == drawn.seen()


@pytest.mark.parametrize("seed", [*range(8), *AHEAD])
def test_exactly_what_the_core_takes_is_enough_unless_more_is_asked_for(seed: int):
    """And then the more that is asked for is enough, and no less."""
    drawn = Drawn(seed)
    module = parse(drawn.text, "design.mlir")
    sink = Sink()
    device = next(op for op in module.body.block.ops if isinstance(op, DeviceOp))
    for name in ("split", "verify", "allocate", "lower-dmas", "lower-cores", "erase-pools"):
        if not sink.failed:
            make_pass(f"aie-objectfifo-{name}", "").apply(device, sink)
    if sink.failed:
        return
    more = dict.fromkeys(NAMES, 0)
    for said in sink.items:
        count, name = said.todo.removeprefix("send ").split(" more of ")
        more[name[1]] = int(count)
        assert said.where is not None and f"@{name[1]}c" in drawn.text.splitlines()[said.where.line - 1]

    def finishes(extra: dict[str, int]) -> bool:
        feeds: dict[End, bytes | Sequence[bytes]] = {
            n: [bytes(16)] * (drawn.taken()[n] + extra[n]) for n in NAMES
        }  # fmt: skip
        outcome = simulate(module, feeds=feeds, drains={"y": PERIODS * 16}, seed=seed)
        return len(outcome.received["y"]) == PERIODS * 16

    assert any(more.values()) is (seed in AHEAD)
    assert finishes(more)
    for n, count in more.items():
        if count:
            assert not finishes({**more, n: count - 1})


def test_most_of_these_designs_do_share():
    passed = 0
    for seed in range(12):
        module = parse(Drawn(seed).text, "design.mlir")
        device = next(op for op in module.body.block.ops if isinstance(op, DeviceOp))
        sink = Sink()
        for name in ("split", "verify", "allocate"):
            make_pass(f"aie-objectfifo-{name}", "").apply(device, sink)
        passed += not sink.failed
    assert passed >= 6
