"""Pieces of random designs: tiles with their channels, fifos with what they may have, and cores that fill them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from fifo_cores import Choice, Illegal, Program, Side, between, chance, in_cycle, out_cycle, pick, shape

from aiecc.model.targets import Sharing, Target, TileKind, get

Tile = tuple[int, int]

_FORMATS = {"i8": "b", "i16": "h", "i32": "i"}


@dataclass(frozen=True)
class Design:
    """A design as text, what goes in and what is to come out, in bytes by the name of the fifo.

    `merged` has the drains whose objects come in no fixed order, with the bytes of one; `kinds` say what is in it.
    """

    text: str
    kinds: frozenset[str]
    feeds: dict[str, tuple[bytes, ...]]
    drains: dict[str, int | None]
    merged: dict[str, int]
    cores_end: bool | None
    dynamic: bool
    packets: bool = False
    """Every flow is packet-switched."""
    peel: str = "auto"


class Impossible(Exception):
    """This way of building does not fit; the design is given up."""


@dataclass
class Fifo:
    name: str
    size: int
    """Elements of a consumer's object."""
    count: int
    """Objects each consumer takes."""
    ends: list[tuple[str, Tile, int]]
    """Consumers: tile name, place, largest acquire (0: no core)."""
    depth: str = ""
    made: int = 0
    """Elements of a producer's object, where it is another."""
    dims_from: list[list[tuple[int, int]]] = field(default_factory=list)
    dims_to: list[tuple[int, int]] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    initial: list[list[int]] = field(default_factory=list)
    lean: bool = False
    """As shallow as its users allow."""
    plain: bool = False
    """One type at both ends."""


class Net:
    """A design while it is built."""

    def __init__(self, choice: Choice, cores: int) -> None:
        self.choice = choice
        kind = choice.below(10)
        self.device = "npu2" if kind < 6 else "npu1" if kind < 9 else "xcvc1902"
        self.target: Target = get(self.device)
        self.old = not self.target.semaphore_locks
        mem = self.target.dma(TileKind.MEM)
        self.pad_register = mem is not None and mem.pad_value
        self.element = "i32" if choice.below(6) < 5 else pick(choice, ["i16", "i8"])
        self.word = 4 // struct.calcsize(_FORMATS[self.element])
        self.kinds: set[str] = {self.device}
        self.tiles: dict[str, Tile] = {}
        self.lines: list[str] = []
        self.after: list[str] = []
        self.functions: list[str] = []
        self.cores: list[str] = []
        self.feeds: dict[str, tuple[bytes, ...]] = {}
        self.drains: dict[str, int | None] = {}
        self.merged: dict[str, int] = {}
        self.count = 0
        self.budget = cores
        self.endless = chance(choice, 8)
        # Nets of their own runtime sequences, whose ends may take turns on the channels of one shim.
        self.apart = not self.old and self.element == "i32" and chance(choice, 12)
        self.free = self._core_tiles()
        self.channels: dict[tuple[str, str], int] = {}
        if self.element != "i32":
            self.kinds.add(self.element)

    # --- places -------------------------------------------------------------------------------------------------------

    def _core_tiles(self) -> list[Tile]:
        """Close together, so that neighbours often share memory."""
        first = 6 if self.old else 0
        rows = range(1, 5) if self.old else range(2, 6)
        return [(first + c, r) for c in range(2) for r in rows]

    def tile(self, place: Tile) -> str:
        name = f"t{place[0]}_{place[1]}"
        self.tiles[name] = place
        return name

    def core_tile(self) -> str:
        if not self.free or not self.budget:
            raise Impossible
        self.budget -= 1
        return self.tile(self.free.pop(self.choice.below(len(self.free))))

    def shim(self, way: str) -> str:
        places = [(6, 0), (7, 0)] if self.old else [(0, 0), (1, 0), (2, 0)]
        if self.apart and way == "out":
            places = places[:1]
        return self._with_channel(places, way, 2)

    def mem(self, ins: int = 1, outs: int = 1) -> str:
        if self.old:
            raise Impossible
        for place in ((0, 1), (1, 1), (2, 1)):
            name = f"t{place[0]}_{place[1]}"
            if all(self.channels.get((name, way), 0) + n <= 6 for way, n in (("in", ins), ("out", outs))):
                self.tile(place)
                for way, n in (("in", ins), ("out", outs)):
                    self.channels[name, way] = self.channels.get((name, way), 0) + n
                return name
        raise Impossible

    def _with_channel(self, places: Sequence[Tile], way: str, most: int) -> str:
        for place in places:
            name = f"t{place[0]}_{place[1]}"
            if self.channels.get((name, way), 0) < most:
                self.channels[name, way] = self.channels.get((name, way), 0) + 1
                return self.tile(place)
        raise Impossible

    # --- fifos --------------------------------------------------------------------------------------------------------

    def name(self, stem: str = "f") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def bytes_of(self, values: Sequence[int]) -> bytes:
        width = 8 * struct.calcsize(_FORMATS[self.element])
        half = 1 << (width - 1)
        wrapped = [(v + half) % (1 << width) - half for v in values]
        return struct.pack(f"<{len(values)}{_FORMATS[self.element]}", *wrapped)

    def write(self, fifo: Fifo, producer: str, most: int) -> None:
        """The fifo's own line. `most` is the producer core's largest acquire, 0 without a core."""
        choice = self.choice
        needs = [max(most, 1), *(max(m, 1) for _, _, m in fifo.ends)]
        if fifo.depth:
            depth = fifo.depth
        elif chance(choice, 3) or fifo.lean:
            extra = 1 if fifo.lean else 3
            numbers = [n + choice.below(extra) for n in needs]
            depth = f"[{', '.join(map(str, numbers))}]"
            self.kinds.add("array depth")
        else:
            depth = f"{max(needs) + choice.below(3)} : i32"
        size = fifo.made or fifo.size
        consumers = ", ".join(
            f"%{name}{_dims('dimensionsFromStream', fifo.dims_from[i] if i < len(fifo.dims_from) else [])}"
            for i, (name, _, _) in enumerate(fifo.ends)
        )
        kind = f"!aie.objectfifo<memref<{size}x{self.element}>>"
        if fifo.made and fifo.made != fifo.size:
            kind += f" -> !aie.objectfifo<memref<{fifo.size}x{self.element}>>"
        if fifo.initial:
            values = [f"dense<{v}> : memref<{size}x{self.element}>" for v in fifo.initial]
            kind += f" = [{', '.join(values)}]"
        options = f" {{{', '.join(fifo.options)}}}" if fifo.options else ""
        self.place_objects(fifo, producer)
        to = _dims("dimensionsToStream", fifo.dims_to)
        self.lines.append(
            f"  aie.objectfifo @{fifo.name}(%{producer}{to}, {{{consumers}}}, {depth}){options} : {kind}\n"
        )

    def place_objects(self, fifo: Fifo, producer: str) -> None:
        """Sometimes say whose memory is to hold the objects, or how often the DMAs go round."""
        choice = self.choice
        plain = not fifo.options and not fifo.dims_to and not any(fifo.dims_from) and len(fifo.ends) == 1
        what = choice.below(16)
        if what in (13, 14) and plain and (fifo.made or fifo.size) == fifo.size:
            ends = [self.tiles[producer], fifo.ends[0][1]]
            shared = (Sharing.FIRST, Sharing.EITHER)
            fits = [
                name for name, at in sorted(self.tiles.items())
                if self.target.is_core(*at) and all(self.target.shared(at, end) in shared for end in ends)
            ]  # fmt: skip
            if fits:
                self.kinds.add("delegate")
                self.after.append(f"  aie.objectfifo.allocate @{fifo.name}(%{pick(choice, fits)})\n")
        elif what == 15 and not self.old and not any("repeat" in o for o in fifo.options) and chance(choice, 2):
            self.kinds.add("iter count")
            fifo.options.append(f"iter_count = {between(choice, 1, 6)} : i32")

    def transposed(self, size: int) -> list[tuple[int, int]]:
        """A walk over all of an object in another order."""
        if self.element != "i32" or self.old:
            return []
        rows = [n for n in range(2, size) if size % n == 0]
        if not rows:
            return []
        n = pick(self.choice, rows)
        self.kinds.add("dims")
        return [(n, 1), (size // n, n)] if chance(self.choice, 2) else [(size // n, n), (n, 1)]

    def decorate(self, fifo: Fifo, *, linked: bool) -> None:
        """Things any fifo between tiles may have."""
        choice = self.choice
        what = choice.below(10)
        if what == 6 and not linked and len(fifo.ends) == 1:
            fifo.options.append("transport = #aie.transport<dma>")
            self.kinds.add("dma")
        elif what == 7 and not self.old:
            fifo.options.append("transport = #aie.transport<dma, packet = #aie.packet_info<>>")
            self.kinds.add("packet")
        elif what == 8 and not fifo.dims_from:
            fifo.dims_from = [
                self.transposed(fifo.size) if self.target.tile_kind(*place) is TileKind.CORE else []
                for _, place, _ in fifo.ends
            ]

    # --- producers ----------------------------------------------------------------------------------------------------

    def produce(self, fifo: Fifo, *, linked: bool = False, tag: int | None = None) -> None:
        """Choose who fills a fifo, build it, and write the fifo. `linked`: its consumer is a link's tile."""
        raise NotImplementedError

    def write_linked(self, source: Fifo, fifo: Fifo, mem: str) -> None:
        """A link from one fifo into another, and what leads to it."""
        raise NotImplementedError

    def from_shim(self, fifo: Fifo, tag: int | None) -> None:
        producer = self.shim("out")
        fifo.options = [o for o in fifo.options if "packet" not in o or tag is None]
        start = 1000 * len(self.feeds)
        objects = []
        for n in range(fifo.count):
            values = [start + (n * fifo.size + j) * 3 for j in range(fifo.size)]
            if tag is not None:
                values[0] = tag
            objects.append(self.bytes_of(values))
        self.feeds[fifo.name] = tuple(objects) if tag is not None else (b"".join(objects),)
        self.write(fifo, producer, 0)

    def from_core(self, fifo: Fifo, tag: int | None) -> None:
        choice = self.choice
        repeat = 1
        wanted = fifo.count
        fifo.made = fifo.size
        what = choice.below(10)
        single = len(fifo.ends) == 1
        if what == 7 and not self.old and tag is None:
            repeat = pick(choice, [n for n in range(1, min(fifo.count, 4) + 1) if fifo.count % n == 0])
            fifo.options.append(f"repeat_count = {repeat} : i32")
            self.kinds.add("repeat")
            wanted //= repeat
        elif what == 8 and single and not fifo.plain and tag is None and not fifo.dims_from and fifo.ends[0][1][1] != 0:
            more = pick(choice, [n for n in (1, 2, 3) if fifo.count % n == 0])
            fifo.made = more * fifo.size
            wanted //= more
            if more > 1:
                self.kinds.add("two types")
        elif what == 9:
            fifo.dims_to = self.transposed(fifo.size)
        tile = self.core_tile()
        cycle = out_cycle(choice, wanted)
        initial = 0
        most = max(a for a, _ in cycle)
        if wanted > 1 and repeat == 1 and tag is None and chance(choice, 8):
            initial = between(choice, 1, min(wanted - 1, 3))
            needs = max(most, max(m for _, _, m in fifo.ends), 1)
            initial = max(initial, needs)
            if initial < wanted and cycle == [(1, 1)]:
                fifo.depth = f"{initial} : i32"
                if chance(choice, 2):
                    fifo.depth = f"[{', '.join(str(initial + choice.below(3)) for _ in fifo.ends)}]"
                    fifo.depth = fifo.depth.replace("[", f"[{initial}, ")
                fifo.initial = [[-5 - 10 * n - j for j in range(fifo.made)] for n in range(initial)]
                wanted -= initial
                self.kinds.add("initial values")
        if wanted % 2 and cycle == [(1, 0), (2, 2)]:
            cycle = [(1, 1)]
        if wanted < 2 and cycle == [(2, 1)]:
            cycle = [(1, 1)]
        out = Side(fifo.name, fifo.made, self.element, True, cycle)
        self.write(fifo, tile, out.most)
        self.core(tile, out, wanted, tag)

    def inputs(self, tile: str) -> list[Side]:
        """What a core takes in: nothing, one or two fifos."""
        choice = self.choice
        number = (1, 1, 1, 2, 2, 0)[choice.below(6)]
        sides = []
        for _ in range(number):
            size = self.word * between(choice, 1, 3) * (2 if self.word == 1 else 1)
            cycle = in_cycle(choice, 3)
            sides.append(Side(self.name(), size, self.element, False, cycle))
        return sides

    def core(self, tile: str, out: Side, wanted: int, tag: int | None, ins: list[Side] | None = None) -> None:
        """A core that gives `wanted` objects, and everything that leads to it."""
        choice = self.choice
        given = ins is not None
        ins = self.inputs(tile) if ins is None else ins
        crowd = not given and not self.old and chance(choice, 12)
        if crowd:
            more = [Side(self.name(), self.word * 2, self.element, False, [(1, 1)]) for _ in range(3 - len(ins))]
            ins += more
        program, totals, extra = self.program(tile, out, wanted, tag, ins)
        self.cores.append(program)
        place = self.tiles[tile]
        if crowd:
            self.crowd(tile, ins, totals)
        for at, side in enumerate(ins):
            if given or crowd:
                continue
            taken = totals[at]
            if not taken:
                raise Impossible
            fifo = Fifo(side.fifo, side.size, taken, [(tile, place, side.most)], lean=chance(choice, 8))
            self.produce(fifo)
        for side, count in extra:
            shim = self.shim("in")
            fifo = Fifo(side.fifo, side.size, count, [(shim, self.tiles[shim], 0)])
            self.write(fifo, tile, side.most)
            self.drains[side.fifo] = len(self.bytes_of([0] * side.size * count))
            self.kinds.add("two outputs")

    def crowd(self, tile: str, ins: list[Side], totals: list[int]) -> None:
        """Three fifos from one memory tile into one core, whose DMA has two channels."""
        mem = self.mem(outs=3)
        at = self.tiles[mem]
        self.kinds.add("three inputs")
        for side, count in zip(ins, totals, strict=True):
            if not count:
                raise Impossible
            fifo = Fifo(side.fifo, side.size, count, [(tile, self.tiles[tile], side.most)])
            if chance(self.choice, 3):
                number = max(1, side.most)
                fifo.depth = f"{number} : i32"
                fifo.initial = [[50 + 10 * n + j for j in range(fifo.size)] for n in range(number)]
                self.write(fifo, mem, 0)
                continue
            self.channels[mem, "in"] = self.channels.get((mem, "in"), 0) + 1
            self.write_linked(Fifo(self.name(), side.size, count, [(mem, at, 0)]), fifo, mem)

    def program(
        self, tile: str, out: Side, wanted: int, tag: int | None, ins: list[Side]
    ) -> tuple[str, list[int], list[tuple[Side, int]]]:
        """The core's text, what it takes of each input, and its other outputs."""
        choice = self.choice
        others: list[Side] = []
        if tag is None and chance(choice, 8) and len(self.drains) < 3:
            others = [Side(self.name("g"), self.word * 2, self.element, True, [(1, 1)])]
        sides = [*ins, out, *others]
        endless = self.endless and out.cycle != [(2, 1)] and all(len(s.cycle) == 1 for s in sides)
        program = Program(self.name("k"), tile, self.element, sides, tag)
        try:
            self.kinds |= shape(choice, program, wanted, endless=endless)
        except Illegal:
            raise Impossible from None
        totals = program.run()
        if totals.released[len(ins)] != wanted:
            raise Impossible
        if not ins:
            self.kinds.add("source core")
        if any(s.most > 1 for s in ins):
            self.kinds.add("held objects")
        if program.calls:
            self.kinds.add("call")
        functions, text = program.text()
        self.functions.append(functions)
        extra = [(s, totals.released[len(ins) + 1 + i]) for i, s in enumerate(others)]
        if not all(n for _, n in extra):
            raise Impossible
        return text, [totals.taken(i) for i in range(len(ins))], extra


def _dims(word: str, dims: Sequence[tuple[int, int]]) -> str:
    if not dims:
        return ""
    return f" {word} [{', '.join(f'<size = {n}, stride = {s}>' for n, s in dims)}]"
