"""Random designs: who fills a fifo, and the links on memory tiles among those who do."""

from __future__ import annotations

from collections.abc import Callable

from fifo_cores import Choice, Side, between, chance, in_cycle, pick
from fifo_nets import Fifo, Impossible, Net


class Links(Net):
    """Everything that can lead to a fifo. `tag` is the number a source writes into each of its objects."""

    def produce(self, fifo: Fifo, *, linked: bool = False, tag: int | None = None) -> None:
        """Choose who fills a fifo, build it, and write the fifo. `linked`: its consumer is a link's tile."""
        ways: list[Callable[[Fifo, int | None], None]] = [self.from_shim]
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

    # --- links --------------------------------------------------------------------------------------------------------

    def from_link(self, fifo: Fifo, tag: int | None) -> None:
        """One fifo into another, perhaps of another size, in another order, padded, or repeated."""
        choice = self.choice
        on_core = self.old or (self.budget > 1 and chance(choice, 8))
        mem = self.core_tile() if on_core else self.mem()
        if on_core:
            self.kinds.add("link on a core tile")
        size, total = fifo.size, fifo.size * fifo.count
        source = Fifo(self.name(), size, fifo.count, [(mem, self.tiles[mem], 0)])
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

    def pad(self, fifo: Fifo, source: Fifo) -> None:
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

    def write_linked(self, source: Fifo, fifo: Fifo, mem: str) -> None:
        if source.count < 1:
            raise Impossible
        self.write(fifo, mem, 0)
        self.produce(source, linked=True)
        self.lines.append(f"  aie.objectfifo.link [@{source.name}] -> [@{fifo.name}] ([] [])\n")

    def from_windows(self, fifo: Fifo, tag: int | None) -> None:
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
        source = Fifo(self.name(), row, length * (fifo.count // count), [(mem, self.tiles[mem], 0)])
        self.kinds.add("windows")
        self.write_linked(source, fifo, mem)

    def from_weights(self, fifo: Fifo, tag: int | None) -> None:
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

    def from_join(self, fifo: Fifo, tag: int | None) -> None:
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
        sources = [Fifo(self.name(), n, count, [(mem, place, 0)]) for n in parts]
        if what == 3:
            sources[0].dims_from = [self.transposed(parts[0])]
        offsets = [sum(parts[:i]) for i in range(len(parts))]
        self.kinds.add("join")
        self.several(sources)
        ins = ", ".join(f"@{s.name}" for s in sources)
        self.lines.append(f"  aie.objectfifo.link [{ins}] -> [@{fifo.name}] ({offsets} [])\n")

    def several(self, sources: list[Fifo], tags: bool = False) -> None:
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
            self.write(Fifo(on, size, count, [(shim, self.tiles[shim], 0)]), mem, 0)
            self.lines.append(f"  aie.objectfifo.link [@{name}] -> [@{on}] ([] [])\n")
            self.drains[on] = len(self.bytes_of([0] * size * count))
            self.kinds.add("broadcast into a link")
        fifo = Fifo(name, sides[0].size, max(needs), ends, lean=chance(self.choice, 4))
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
            fifo = Fifo(side.fifo, side.size, max(needs), [(tile, self.tiles[tile], side.most)])
            if repeat:
                fifo.options.append(f"repeat_count = {repeat} : i32")
            elif chance(choice, 4):
                fifo.dims_to = self.transposed(side.size)
            self.write(fifo, mem, 0)
        source = Fifo(self.name(), total, count, [(mem, self.tiles[mem], 0)])
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
            self.write(Fifo(side.fifo, side.size, max(needs), [(tile, self.tiles[tile], side.most)]), mem, 0)
        order = list(sides)
        if chance(self.choice, 2):
            order.reverse()
        ends = [(mem, self.tiles[mem], 0)]
        source = Fifo(self.name(), sides[0].size, max(needs) * len(sides), ends, plain=True)
        self.kinds.add("dispatch")
        self.produce(source, linked=True)
        outs = ", ".join(f"@{s.fifo}" for s in order)
        self.lines.append(f"  aie.objectfifo.link [@{source.name}] -> [{outs}] () {{mode = #aie.link_mode<time>}}\n")

    def from_merge(self, fifo: Fifo, tag: int | None) -> None:
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
        sources = [Fifo(self.name(), fifo.size, fifo.count // number, [(mem, place, 0)]) for _ in range(number)]
        self.kinds.add("merge")
        # How much of each source comes has to be settled.
        self.endless = False
        self.merged[fifo.name] = len(self.bytes_of([0] * fifo.size))
        self.several(sources, tags=True)
        ins = ", ".join(f"@{s.name}" for s in sources)
        self.lines.append(f"  aie.objectfifo.link [{ins}] -> [@{fifo.name}] () {{mode = #aie.link_mode<time>}}\n")
