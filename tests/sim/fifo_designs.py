"""Random designs with objectFifos, built backwards from what has to come out, so that most of them can finish.

`build(choice)` is one design; `designs()` the hypothesis strategy. Whoever wants a fifo says how many objects of which
size its consumers take; the fifo's producer is chosen then: a shim, a core with inputs of its own, or a link on a
memory tile. Some designs are spoilt at the end, so that they must get stuck.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fifo_cores import Choice, Illegal, Loop, Program, Side, Unit, between, chance, in_cycle, out_cycle, pick, shape
from hypothesis import strategies as st

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
class _Fifo:
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


class _Net:
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

    def write(self, fifo: _Fifo, producer: str, most: int) -> None:
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

    def place_objects(self, fifo: _Fifo, producer: str) -> None:
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

    def decorate(self, fifo: _Fifo, *, linked: bool) -> None:
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

    def produce(self, fifo: _Fifo, *, linked: bool = False, tag: int | None = None) -> None:
        """Choose who fills a fifo, build it, and write the fifo. `linked`: its consumer is a link's tile."""
        ways: list[Callable[[_Fifo, int | None], None]] = [self.from_shim]
        to_shim = any(name.endswith("_0") for name, _, _ in fifo.ends)
        if to_shim:
            ways = []
        if self.budget:
            ways += [self.from_core] * 3
        if self.old and not linked and tag is None and self.budget > 1:
            ways += [self.from_link]
        if not linked and not self.old and tag is None:
            ways += [self.from_link, self.from_link, self.from_join, self.from_windows, self.from_weights]
            if self.budget > 2:
                ways += [self.from_join]
            if to_shim and len(fifo.ends) == 1:
                ways += [self.from_merge] * 2
        if not ways:
            raise Impossible
        way = pick(self.choice, ways)
        self.decorate(fifo, linked=linked or way in (self.from_link, self.from_join, self.from_merge))
        way(fifo, tag)

    def from_shim(self, fifo: _Fifo, tag: int | None) -> None:
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

    def from_core(self, fifo: _Fifo, tag: int | None) -> None:
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
            fifo = _Fifo(side.fifo, side.size, taken, [(tile, place, side.most)], lean=chance(choice, 8))
            self.produce(fifo)
        for side, count in extra:
            shim = self.shim("in")
            fifo = _Fifo(side.fifo, side.size, count, [(shim, self.tiles[shim], 0)])
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
            fifo = _Fifo(side.fifo, side.size, count, [(tile, self.tiles[tile], side.most)])
            if chance(self.choice, 3):
                number = max(1, side.most)
                fifo.depth = f"{number} : i32"
                fifo.initial = [[50 + 10 * n + j for j in range(fifo.size)] for n in range(number)]
                self.write(fifo, mem, 0)
                continue
            self.channels[mem, "in"] = self.channels.get((mem, "in"), 0) + 1
            self.write_linked(_Fifo(self.name(), side.size, count, [(mem, at, 0)]), fifo, mem)

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

    # --- links --------------------------------------------------------------------------------------------------------

    def from_link(self, fifo: _Fifo, tag: int | None) -> None:
        """One fifo into another, perhaps of another size, in another order, padded, or repeated."""
        choice = self.choice
        on_core = self.old or (self.budget > 1 and chance(choice, 8))
        mem = self.core_tile() if on_core else self.mem()
        if on_core:
            self.kinds.add("link on a core tile")
        size, total = fifo.size, fifo.size * fifo.count
        source = _Fifo(self.name(), size, fifo.count, [(mem, self.tiles[mem], 0)])
        what = choice.below(4 if self.old else 8)
        if what in (2, 3):
            fits = [n for n in range(1, 3 * size + 1) if total % n == 0 and not n % self.word]
            source.size = pick(choice, fits)
            source.count = total // source.size
            if total % max(source.size, size):
                raise Impossible
            if source.size != size:
                self.kinds.add("rate")
        elif what == 4:
            fifo.dims_to = self.transposed(size)
        elif what == 5:
            repeats = [n for n in range(1, min(fifo.count, 4) + 1) if fifo.count % n == 0]
            repeat = pick(choice, repeats)
            fifo.options.append(f"repeat_count = {repeat} : i32")
            source.count //= repeat
            self.kinds.add("repeat link")
        elif what == 6 and self.element == "i32" and not on_core:
            self.pad(fifo, source)
        elif what == 7:
            source.dims_from = [self.transposed(size)]
        self.kinds.add("link")
        self.write_linked(source, fifo, mem)

    def pad(self, fifo: _Fifo, source: _Fifo) -> None:
        """Zero (or other) elements around what the link's object holds."""
        choice = self.choice
        shapes = [(r, fifo.size // r) for r in range(1, fifo.size + 1) if fifo.size % r == 0]
        rows, columns = pick(choice, shapes)
        up, down = choice.below(min(rows, 2)), 0
        left, right = choice.below(min(columns, 2)), 0
        if rows - up > 1:
            down = choice.below(2)
        if columns - left > 1:
            right = choice.below(2)
        inner = (rows - up - down, columns - left - right)
        fifo.dims_to = [(inner[0], inner[1]), (inner[1], 1)]
        pads = ", ".join(f"<const_pad_before = {b}, const_pad_after = {a}>" for b, a in ((up, down), (left, right)))
        fifo.options.append(f"padDimensions = #aie<bd_pad_layout_array[{pads}]>")
        source.size = inner[0] * inner[1]
        if self.pad_register and chance(choice, 2):
            fifo.options.append(f"padValue = {between(choice, 1, 9)} : i32")
            self.kinds.add("pad value")
        self.kinds.add("padding")

    def write_linked(self, source: _Fifo, fifo: _Fifo, mem: str) -> None:
        if source.count < 1:
            raise Impossible
        self.write(fifo, mem, 0)
        self.produce(source, linked=True)
        self.lines.append(f"  aie.objectfifo.link [@{source.name}] -> [@{fifo.name}] ([] [])\n")

    def from_windows(self, fifo: _Fifo, tag: int | None) -> None:
        """Windows over a whole stream, in as many streams as it takes."""
        choice = self.choice
        outputs = [n for n in range(2, min(fifo.count, 6) + 1) if fifo.count % n == 0]
        heights = [n for n in range(1, min(fifo.size, 4) + 1) if fifo.size % n == 0]
        rows = pick(choice, heights)
        if not outputs or self.element != "i32" or fifo.options:
            self.from_link(fifo, tag)
            return
        count = pick(choice, outputs)
        advance = between(choice, 1, 2)
        row = fifo.size // rows
        before, after = choice.below(2), choice.below(2)
        length = (count - 1) * advance + rows - before - after
        if length < 1 or rows - before < 1 or rows - after < 1:
            raise Impossible
        mem = self.mem()
        inner = [(rows, row), (row, 1)] if rows > 1 else [(row, 1)]
        fifo.dims_to = [(count, advance * row), *inner]
        if before or after:
            pads = [(before, after)] + [(0, 0)] * len(inner)
            text = ", ".join(f"<const_pad_before = {b}, const_pad_after = {a}>" for b, a in pads)
            fifo.options.append(f"padDimensions = #aie<bd_pad_layout_array[{text}]>")
        source = _Fifo(self.name(), row, length * (fifo.count // count), [(mem, self.tiles[mem], 0)])
        self.kinds.add("windows")
        self.write_linked(source, fifo, mem)

    def from_weights(self, fifo: _Fifo, tag: int | None) -> None:
        """Constant objects on a memory tile that nobody refills: they come round as often as they are wanted."""
        choice = self.choice
        if any(name.endswith("_0") for name, _, _ in fifo.ends):
            # Nothing would ever end; a core has to ask.
            self.from_link(fifo, tag)
            return
        mem = self.mem(ins=0)
        number = max(between(choice, 1, 3), *(m for _, _, m in fifo.ends))
        fifo.depth = f"{number} : i32"
        fifo.initial = [[50 + 10 * n + j for j in range(fifo.size)] for n in range(number)]
        if chance(choice, 3):
            fifo.options.append(f"repeat_count = {between(choice, 2, 3)} : i32")
        self.kinds.add("weights")
        self.write(fifo, mem, 0)

    def split(self, choice: Choice, size: int) -> list[int]:
        """Parts of an object, whole words each."""
        units = size // self.word
        if units < 2:
            raise Impossible
        parts = between(choice, 2, min(3, units))
        cuts = [1] * parts
        for _ in range(units - parts):
            cuts[choice.below(parts)] += 1
        return [n * self.word for n in cuts]

    def from_join(self, fifo: _Fifo, tag: int | None) -> None:
        """Objects put together from parts that come from several places at once."""
        choice = self.choice
        parts = self.split(choice, fifo.size)
        if chance(choice, 2) and not fifo.size % (2 * self.word):
            parts = [fifo.size // 2] * 2
        mem = self.mem(ins=len(parts))
        place = self.tiles[mem]
        count = fifo.count
        what = choice.below(6)
        if what == 4 and len(set(parts)) == 1:
            fifo.dims_to = self.transposed(parts[0])
        elif what == 5:
            repeat = pick(choice, [n for n in range(1, min(count, 4) + 1) if count % n == 0])
            fifo.options.append(f"repeat_count = {repeat} : i32")
            count //= repeat
            self.kinds.add("repeat join")
        self.write(fifo, mem, 0)
        sources = [_Fifo(self.name(), n, count, [(mem, place, 0)]) for n in parts]
        if what == 3:
            sources[0].dims_from = [self.transposed(parts[0])]
        offsets = [sum(parts[:i]) for i in range(len(parts))]
        self.kinds.add("join")
        self.several(sources)
        ins = ", ".join(f"@{s.name}" for s in sources)
        self.lines.append(f"  aie.objectfifo.link [{ins}] -> [@{fifo.name}] ({offsets} [])\n")

    def several(self, sources: list[_Fifo], tags: bool = False) -> None:
        """Producers for several fifos: each on its own, or cores that share one input."""
        choice = self.choice
        way = choice.below(5)
        if way == 0 or len(sources) > self.budget:
            for number, source in enumerate(sources):
                self.produce(source, linked=True, tag=number + 1 if tags else None)
            return
        tiles = [self.core_tile() for _ in sources]
        same = self.word * between(choice, 1, 2)
        cycle = in_cycle(choice, 2)
        sides = []
        needs = []
        for number, (source, tile) in enumerate(zip(sources, tiles, strict=True)):
            name = self.name()
            one = way != 2 or self.old or bool(choice.below(2))
            size = same if one else self.word * between(choice, 1, 2)
            side = Side(name, size, self.element, False, list(cycle))
            out = Side(source.name, source.size, self.element, True, [(1, 1)])
            text, taken, extra = self.program(tile, out, source.count, number + 1 if tags else None, [side])
            if extra or not taken[0]:
                raise Impossible
            self.cores.append(text)
            self.write(source, tile, 1)
            sides.append(side)
            needs.append(taken[0])
        ways = [self.broadcast, self.broadcast, self.distribute, self.dispatch, self.dispatch]
        if self.old:
            ways = [self.broadcast]
        ways[way % len(ways)](sides, tiles, needs)

    def broadcast(self, sides: list[Side], tiles: list[str], needs: list[int]) -> None:
        name = sides[0].fifo
        ends = [(t, self.tiles[t], s.most) for s, t in zip(sides, tiles, strict=True)]
        # The others' cores name fifos that are this one.
        for side in sides[1:]:
            self.cores = [c.replace(f"@{side.fifo} ", f"@{name} ") for c in self.cores]
        self.kinds.add("broadcast")
        if not self.old and chance(self.choice, 5) and len(self.drains) < 4:
            # One more consumer: a memory tile that hands on what it gets.
            mem, shim, on = self.mem(), self.shim("in"), self.name("h")
            size, count = sides[0].size, max(needs)
            ends.append((mem, self.tiles[mem], 0))
            self.write(_Fifo(on, size, count, [(shim, self.tiles[shim], 0)]), mem, 0)
            self.lines.append(f"  aie.objectfifo.link [@{name}] -> [@{on}] ([] [])\n")
            self.drains[on] = len(self.bytes_of([0] * size * count))
            self.kinds.add("broadcast into a link")
        fifo = _Fifo(name, sides[0].size, max(needs), ends, lean=chance(self.choice, 4))
        self.produce(fifo, linked=len(ends) > len(sides))

    def distribute(self, sides: list[Side], tiles: list[str], needs: list[int]) -> None:
        choice = self.choice
        mem = self.mem(outs=len(sides))
        offsets, total, count = [], 0, max(needs)
        repeat = 0
        if chance(choice, 4):
            repeat = pick(choice, [n for n in range(1, min(count, 4) + 1) if count % n == 0])
            count //= repeat
            self.kinds.add("repeat distribute")
        same = len({s.size for s in sides}) == 1
        for side, tile in zip(sides, tiles, strict=True):
            offsets.append(total)
            total += side.size
            fifo = _Fifo(side.fifo, side.size, max(needs), [(tile, self.tiles[tile], side.most)])
            if repeat:
                fifo.options.append(f"repeat_count = {repeat} : i32")
            elif chance(choice, 4):
                fifo.dims_to = self.transposed(side.size)
            self.write(fifo, mem, 0)
        source = _Fifo(self.name(), total, count, [(mem, self.tiles[mem], 0)])
        if same and chance(choice, 3):
            source.dims_from = [self.transposed(sides[0].size)]
        self.kinds.add("distribute")
        self.produce(source, linked=True)
        outs = ", ".join(f"@{s.fifo}" for s in sides)
        self.lines.append(f"  aie.objectfifo.link [@{source.name}] -> [{outs}] ([] {offsets})\n")

    def dispatch(self, sides: list[Side], tiles: list[str], needs: list[int]) -> None:
        if len({s.size for s in sides}) > 1:
            self.distribute(sides, tiles, needs)
            return
        mem = self.mem()
        for side, tile in zip(sides, tiles, strict=True):
            self.write(_Fifo(side.fifo, side.size, max(needs), [(tile, self.tiles[tile], side.most)]), mem, 0)
        order = list(sides)
        if chance(self.choice, 2):
            order.reverse()
        ends = [(mem, self.tiles[mem], 0)]
        source = _Fifo(self.name(), sides[0].size, max(needs) * len(sides), ends, plain=True)
        self.kinds.add("dispatch")
        self.produce(source, linked=True)
        outs = ", ".join(f"@{s.fifo}" for s in order)
        self.lines.append(f"  aie.objectfifo.link [@{source.name}] -> [{outs}] () {{mode = #aie.link_mode<time>}}\n")

    def from_merge(self, fifo: _Fifo, tag: int | None) -> None:
        """Whole objects from several places, in the order they happen to come."""
        choice = self.choice
        numbers = [n for n in (2, 3) if fifo.count % n == 0]
        if not numbers or fifo.size * (4 // self.word) < 8 or fifo.options:
            self.from_join(fifo, tag)
            return
        number = pick(choice, numbers)
        mem = self.mem(ins=1)
        place = self.tiles[mem]
        self.write(fifo, mem, 0)
        sources = [_Fifo(self.name(), fifo.size, fifo.count // number, [(mem, place, 0)]) for _ in range(number)]
        self.kinds.add("merge")
        # How much of each source comes has to be settled.
        self.endless = False
        self.merged[fifo.name] = len(self.bytes_of([0] * fifo.size))
        self.several(sources, tags=True)
        ins = ", ".join(f"@{s.name}" for s in sources)
        self.lines.append(f"  aie.objectfifo.link [{ins}] -> [@{fifo.name}] () {{mode = #aie.link_mode<time>}}\n")

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
            fifo = _Fifo(name, size, number, [(dest, self.tiles[dest], most)], lean=chance(choice, 2))
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
        self.write(_Fifo(inner, size, rounds * ahead, [(tile, place, 1)]), tile, 1)
        self.produce(_Fifo(into, size, rounds * ahead, [(tile, place, 1)]))
        self.sink(out, size, rounds * ahead, tile)

    def spill(self) -> None:
        """More than a memory tile holds, so that its neighbours have to help."""
        choice = self.choice
        if self.old:
            raise Impossible
        self.element, self.word = "i32", 1
        size, count = 44_000 + 1000 * choice.below(10), 3
        mem, out, shim = self.mem(), self.shim("out"), self.shim("in")
        into, from_ = _Fifo(self.name(), size, count, [(mem, self.tiles[mem], 0)]), self.name()
        into.depth = f"{between(choice, 3, 4)} : i32"
        if chance(choice, 2):
            into.dims_from = [[(size // 2, 1), (2, size // 2)]]
        self.write(into, out, 0)
        self.write(_Fifo(from_, size, count, [(shim, self.tiles[shim], 0)]), mem, 0)
        self.lines.append(f"  aie.objectfifo.link [@{into.name}] -> [@{from_}] ([] [])\n")
        self.feeds[into.name] = (self.bytes_of(range(size * count)),)
        self.drains[from_] = 4 * size * count
        self.kinds.add("spill")

    def sink(self, name: str, size: int, count: int, producer: str) -> None:
        """The last fifo, from a core to a shim."""
        shim = self.shim("in")
        fifo = _Fifo(name, size, count, [(shim, self.tiles[shim], 0)])
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
            fifo = _Fifo(self.name(), size, count, [(shim, self.tiles[shim], 0)])
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


def _dims(word: str, dims: Sequence[tuple[int, int]]) -> str:
    if not dims:
        return ""
    return f" {word} [{', '.join(f'<size = {n}, stride = {s}>' for n, s in dims)}]"


def build(choice: Choice, cores: int = 5) -> Design | None:
    """One design of so many cores at most; None where the choices came to nothing."""
    try:
        return _Net(choice, cores).whole()
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
