"""Random designs with objectFifos, built backwards from what has to come out, so that most of them can finish.

`build(choice)` is one design; `designs()` the hypothesis strategy. Whoever wants a fifo says how many objects of which
size its consumers take; the fifo's producer is chosen then: a shim, a core with inputs of its own, or a link on a
memory tile. Some designs are spoilt at the end, so that they must get stuck.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fifo_cores import Choice, Loop, Program, Side, Unit, between, chance, in_cycle, pick, shape
from fifo_links import Links
from fifo_nets import Design, Fifo, Impossible
from hypothesis import strategies as st

__all__ = ["Design", "Seeded", "build", "designs"]


class _Whole(Links):
    """A design from its ends on."""

    # --- special nets -------------------------------------------------------------------------------------------------

    def diamond(self) -> None:
        """One core sends two ways, one of them through a third core, and a second core waits for both."""
        choice = self.choice
        tiles = [self.core_tile() for _ in range(3)]
        a, b, c = tiles
        size, number = self.word * 2, between(choice, 2, 8)
        long1, long2, short = self.name(), self.name(), self.name()
        out = self.name()
        window = between(choice, 1, 3)
        ins = [Side(long2, size, self.element, False, [(1, 1)]), Side(short, size, self.element, False, [(window, 1)])]
        self.core(c, Side(out, size, self.element, True, [(1, 1)]), number, None, ins)
        middle = [Side(long1, size, self.element, False, in_cycle(choice, 3))]
        self.core(b, Side(long2, size, self.element, True, [(1, 1)]), number, None, middle)
        made = number + window - 1
        sides = [Side(long1, size, self.element, True, [(1, 1)]), Side(short, size, self.element, True, [(1, 1)])]
        program = Program(self.name("k"), a, self.element, sides, None)
        self.kinds |= {"diamond"} | shape(choice, program, made, endless=False)
        functions, text = program.text()
        self.functions.append(functions)
        self.cores.append(text)
        ends = ((long1, a, b, middle[0].most), (long2, b, c, 1), (short, a, c, window))
        for name, source, dest, most in ends:
            fifo = Fifo(name, size, number, [(dest, self.tiles[dest], most)], lean=chance(choice, 2))
            self.decorate(fifo, linked=False)
            self.write(fifo, source, 1)
        self.sink(out, size, number, c)

    def own_fifo(self) -> None:
        """A core that fills and drains a fifo of its own, some objects ahead: more than fit, and it stands still."""
        choice = self.choice
        tile = self.core_tile()
        size, rounds, ahead = self.word * 2, between(choice, 1, 4), between(choice, 1, 3)
        into, inner, out = self.name(), self.name(), self.name()
        ends = ((into, False), (inner, True), (inner, False), (out, True))
        sides = [Side(name, size, self.element, produces, [(1, 1)]) for name, produces in ends]
        program = Program(self.name("k"), tile, self.element, sides, None)
        fill, drain = Unit(0, only=(0, 1)), Unit(0, only=(2, 3))
        program.nodes = (Loop(rounds, (Loop(ahead, (fill,)), Loop(ahead, (drain,)))),)
        self.kinds.add("own fifo")
        self.cores.append(program.text()[1])
        place = self.tiles[tile]
        self.write(Fifo(inner, size, rounds * ahead, [(tile, place, 1)]), tile, 1)
        self.produce(Fifo(into, size, rounds * ahead, [(tile, place, 1)]))
        self.sink(out, size, rounds * ahead, tile)

    def spill(self) -> None:
        """More than a memory tile holds, so that its neighbours have to help."""
        choice = self.choice
        if self.old:
            raise Impossible
        self.element, self.word = "i32", 1
        size, count = 44_000 + 1000 * choice.below(10), 3
        mem, out, shim = self.mem(), self.shim("out"), self.shim("in")
        into, from_ = Fifo(self.name(), size, count, [(mem, self.tiles[mem], 0)]), self.name()
        into.depth = f"{between(choice, 3, 4)} : i32"
        if chance(choice, 2):
            into.dims_from = [[(size // 2, 1), (2, size // 2)]]
        self.write(into, out, 0)
        self.write(Fifo(from_, size, count, [(shim, self.tiles[shim], 0)]), mem, 0)
        self.lines.append(f"  aie.objectfifo.link [@{into.name}] -> [@{from_}] ([] [])\n")
        self.feeds[into.name] = (self.bytes_of(range(size * count)),)
        self.drains[from_] = 4 * size * count
        self.kinds.add("spill")

    def sink(self, name: str, size: int, count: int, producer: str) -> None:
        """The last fifo, from a core to a shim."""
        shim = self.shim("in")
        fifo = Fifo(name, size, count, [(shim, self.tiles[shim], 0)])
        self.write(fifo, producer, 1)
        self.drains[name] = len(self.bytes_of([0] * size * count))

    def net(self) -> None:
        """Something that ends at a shim, and all that leads to it."""
        choice = self.choice
        net = choice.below(16)
        if net == 12 and chance(choice, 8):
            self.spill()
        elif net >= 14:
            self.diamond()
        elif net == 13:
            self.own_fifo()
        else:
            shim = self.shim("in")
            size = self.word * between(choice, 1, 6)
            count = between(choice, 1, 12)
            fifo = Fifo(self.name(), size, count, [(shim, self.tiles[shim], 0)])
            self.produce(fifo)
            self.drains[fifo.name] = len(self.bytes_of([0] * size * count))

    def sequence(self, number: int, names: Sequence[str]) -> str:
        """What the host does for a net: all transfers at once, then it waits for what comes out."""
        sizes = {n: (sum(map(len, self.feeds[n])) if n in self.feeds else self.drains[n] or 0) // 4 for n in names}
        sizes = {n: size for n, size in sizes.items() if size}
        arguments = ", ".join(f"%a{i}: memref<{size}xi32>" for i, size in enumerate(sizes.values()))
        lines = [
            f"aiex.npu.dma_memcpy_nd(%a{i}[0, 0, 0, 0][1, 1, 1, {size}][0, 0, 0, 1]) "
            f"{{id = {i} : i64, issue_token = true, metadata = @{name}}} : memref<{size}xi32>"
            for i, (name, size) in enumerate(sizes.items())
        ]
        lines += [f"aiex.npu.dma_wait {{symbol = @{name}}}" for name in sizes if name in self.drains]
        body = "".join(f"    {line}\n" for line in lines)
        return f"  aie.runtime_sequence @net{number}({arguments}) {{\n{body}  }}\n"

    def whole(self) -> Design:
        choice = self.choice
        nets = 2 if self.apart or chance(choice, 8) else 1
        if self.apart and chance(choice, 3):
            nets = 3
        sequences: list[str] = []
        for number in range(nets):
            before = set(self.feeds) | set(self.drains)
            self.net()
            if self.apart:
                used = [n for n in (*self.feeds, *self.drains) if n not in before]
                sequences.append(self.sequence(number, used))
                # What ends at shims has channels of its own: nothing in the design says whose packets came.
                self.channels.pop(("t0_0", "out"), None)
                self.kinds.add("sequences")
        if self.apart and len(self.feeds) > 2:
            self.kinds.add("shared shim channel")
        cores_end: bool | None = pick(choice, [None, True])
        if self.endless:
            cores_end = None
            self.kinds.add("never ends")
        if chance(choice, 12) and self.feeds:
            self.spoil()
        elif not self.merged and chance(choice, 6):
            # Somebody stops taking, and everything before it fills up.
            self.kinds.add("cut short")
            out = pick(choice, sorted(self.drains))
            self.drains[out] = choice.below((self.drains[out] or 0) // 4) * 4
        tiles = "".join(f"  %{name} = aie.tile({c}, {r})\n" for name, (c, r) in sorted(self.tiles.items()))
        fifos = "".join(sorted(self.lines, key=lambda line: "link [" in line))
        body = tiles + fifos + "".join(self.after) + "".join(self.functions) + "".join(self.cores) + "".join(sequences)
        dynamic = chance(choice, 2)
        packets = chance(choice, 8)
        peel = pick(choice, ["auto", "auto", "true", "false"])
        self.kinds |= {word for word, is_so in (("dynamic", dynamic), ("all packets", packets)) if is_so}
        return Design(
            f"aie.device({self.device}) {{\n{body}}}\n", frozenset(self.kinds), self.feeds, self.drains, self.merged,
            cores_end, dynamic, packets, peel,
        )  # fmt: skip

    def spoil(self) -> None:
        """Too little goes in, or too much is wanted."""
        choice = self.choice
        self.kinds.add("spoilt")
        name = pick(choice, sorted(self.feeds))
        if chance(choice, 2):
            last = self.feeds[name][-1]
            self.feeds[name] = (*self.feeds[name][:-1], last[: len(last) // 8 * 4])
        else:
            out = pick(choice, sorted(self.drains))
            self.drains[out] = (self.drains[out] or 0) + 4


def build(choice: Choice, cores: int = 5) -> Design | None:
    """One design of so many cores at most; None where the choices came to nothing."""
    try:
        return _Whole(choice, cores).whole()
    except Impossible:
        return None


# --- where choices come from ------------------------------------------------------------------------------------------


class Seeded:
    """Choices from a seed, remembered; or remembered ones played again, then zeros."""

    def __init__(self, seed: int | None, played: Sequence[int] = ()) -> None:
        import random

        self._random = random.Random(seed) if seed is not None else None
        self._played = played
        self.made: list[int] = []

    def below(self, n: int) -> int:
        at = len(self.made)
        if self._random is not None:
            value = int(self._random.random() * n)
        else:
            value = min(self._played[at], n - 1) if at < len(self._played) else 0
        self.made.append(value)
        return value


class _Drawn:
    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return self._draw(st.integers(0, n - 1)) if n > 1 else 0


@st.composite
def designs(draw: Any) -> Design:
    """Random legal designs."""
    from hypothesis import assume

    design = build(_Drawn(draw), draw(st.integers(1, 5)))
    assume(design is not None)
    assert design is not None
    return design
