"""Random tiles for the allocator.

Four families, each a pure function of its seed. `base` and `bank_reservation` draw their numbers as
mlir-aie's property test of its allocator does (same distributions in the same order, so that its
published bounds can be compared); a layout is built first and then hidden behind pins, bank pins or
nothing, so a tile of these two is feasible unless vector alignment breaks it. `borderline` adds buffers
that ask for most of the bytes left; `infeasible` builds tiles that no layout can satisfy, with the
reason known.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from aiecc.model.memory import Extent, Kind, StackExtent, TileProblem


def core_tile(extents: Iterable[Extent], stack: int = 1024) -> TileProblem:
    """npu2's (0, 2): 64 KiB in 4 banks, with a core."""
    return TileProblem(0, 2, 65536, 4, 32, 64, 64, tuple(extents), StackExtent(stack, declared=True))


def memory_tile(extents: Iterable[Extent]) -> TileProblem:
    """npu2's (0, 1): 512 KiB in 8 banks, no core."""
    return TileProblem(0, 1, 524288, 8, 4, 4, 4, tuple(extents), None, guard=4)


def _empty_tile(seed: int) -> TileProblem:
    return memory_tile(()) if seed % 2 else core_tile(())


def _up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


@dataclass(slots=True)
class _Block:
    """A piece of a finished layout, and how much of its address the allocator is told."""

    name: str
    at: int
    size: int
    aligned: bool = True
    told: str = "nothing"
    kind: Kind = Kind.BUFFER

    def extent(self, bank_size: int) -> Extent:
        return Extent(
            self.name,
            self.kind,
            self.size,
            address=self.at if self.told == "address" else None,
            mem_bank=self.at // bank_size if self.told == "bank" else None,
            aligned=self.aligned,
        )


def _hide(tile: TileProblem, blocks: list[_Block]) -> TileProblem:
    """The problem left when only pins are told. Core data comes last, as its core stands below the buffers."""
    ordered = sorted(blocks, key=lambda block: block.kind is Kind.CORE_DATA)
    return replace(tile, extents=tuple(block.extent(tile.bank_size) for block in ordered))


# --- base ------------------------------------------------------------------------------------------


def base(seed: int) -> TileProblem | None:
    """1 to 14 buffers of all sizes, a few zero-sized or longer than a bank. None: the seed gives no buffer."""
    rng = random.Random(seed)
    tile = _empty_tile(seed)
    low = tile.stack.size if tile.stack else 0
    blocks: list[_Block] = []
    at = low
    for _ in range(rng.randint(1, 14)):
        if rng.random() < 0.30:
            at += rng.randint(1, tile.bank_size // 2)
        aligned = rng.random() > 0.15
        if aligned:
            at = _up(at, tile.bus)
        size = _base_size(rng, tile, tile.memory - low)
        if at + size > tile.memory:
            break
        blocks.append(_Block(f"b{len(blocks)}", at, size, aligned))
        at += size
    if not blocks:
        return None
    for block in blocks:
        choice = rng.random()
        one_bank = not block.size or block.at // tile.bank_size == (block.at + block.size - 1) // tile.bank_size
        if choice < 0.30:
            block.told = "address"
        elif choice < 0.45 and one_bank and block.aligned:
            block.told = "bank"
    untold = [block for block in blocks if block.told == "nothing" and block.size]
    if tile.stack and untold and rng.random() < 0.35:
        data = rng.choice(untold)
        data.name, data.kind, data.aligned = "core_data_0_2", Kind.CORE_DATA, True
    return _hide(tile, blocks)


def _base_size(rng: random.Random, tile: TileProblem, most: int) -> int:
    choice = rng.random()
    if choice < 0.10:
        return 0
    if choice < 0.60:
        return rng.randint(1, 8) * tile.bus
    if choice < 0.88:
        return rng.randint(1, tile.bank_size // (2 * tile.bus)) * tile.bus
    return rng.randint(tile.bank_size + 1, min(3 * tile.bank_size, most))


# --- bank reservations -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Section:
    """Same-named sections of several objects, concatenated as a linker does."""

    size: int = 0
    align: int = 1

    def add(self, size: int, align: int) -> None:
        self.size = _up(self.size, align) + size
        self.align = max(self.align, align)


def _objects(rng: random.Random, banks: int, vector: int) -> tuple[dict[int, _Section], int]:
    """The bank sections and the ordinary data of 1 to 3 kernels linked into one core."""
    sections: dict[int, _Section] = {}
    data = 0
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.45:
            # A pair of lookup tables that are read at once, so in two banks.
            for _ in range(rng.randint(1, 2)):
                pair = rng.sample(range(banks), 2)
                size = rng.choice([256, 512, 1024])
                for bank in pair:
                    sections.setdefault(bank, _Section()).add(size, 64)
        else:
            for bank in rng.sample(range(banks), rng.randint(0, 2)):
                size = rng.randint(1, 8) * 64
                sections.setdefault(bank, _Section()).add(size, rng.choice([vector, vector, 64]))
        if rng.random() < 0.7:
            data = _up(data, vector) + rng.randint(1, 12) * 64
    return sections, data


class _Tiler:
    """Lays a tile out bank by bank around its objects' reservations."""

    def __init__(self, rng: random.Random, tile: TileProblem) -> None:
        self.rng = rng
        self.tile = tile
        self.low = tile.stack.size if tile.stack else 0
        self.blocks: list[_Block] = []
        self.tops: dict[int, int] = {}
        """The end of the reservation (and data) at the bottom of a bank."""
        self.walls: list[int] = []

    def bottom(self, bank: int) -> int:
        return bank * self.tile.bank_size if bank else self.low

    def top(self, bank: int) -> int:
        return (bank + 1) * self.tile.bank_size

    def reserve(self, sections: dict[int, _Section]) -> None:
        """Sections at the bottom of their banks, now and then above a pinned obstacle."""
        vector = self.tile.vector
        for number, bank in enumerate(sorted(sections)):
            section = sections[bank]
            step = max(vector, section.align)
            at = _up(self.bottom(bank), step)
            if self.rng.random() < 0.30:
                size = self.rng.randint(1, 6) * vector
                if at + size < self.top(bank):
                    self.blocks.append(_Block(f"fixed{len(self.blocks)}", at, size, told="address"))
                    at = _up(at + size, step)
            if at + section.size <= self.top(bank):
                self.blocks.append(_Block(f"reserved{number}", at, section.size, told="bank", kind=Kind.BANK_RESERVED))
                self.tops[bank] = at + section.size

    def put_data(self, wanted: int) -> None:
        """Ordinary data right above one of the reservations."""
        if not (self.low and self.tops and wanted):
            return
        vector = self.tile.vector
        bank = self.rng.choice(sorted(self.tops))
        at = _up(self.tops[bank], vector)
        above = min((block.at for block in self.blocks if block.at >= at), default=self.top(bank))
        room = min(self.top(bank), above) - at
        if room <= vector:
            return
        size = min(_up(wanted, vector), _up(room, vector) - vector)
        if size > 0 and at + size <= self.top(bank):
            self.blocks.append(_Block("core_data_0_2", at, size, kind=Kind.CORE_DATA))
            self.tops[bank] = at + size

    def fill(self) -> None:
        """Buffers in all banks: one that fills an unreserved bank, or up to three, some pinned or spanning."""
        self.walls = sorted(block.at for block in self.blocks)
        cursor = self.low
        for bank in range(self.tile.banks):
            at = _up(max(cursor, self.tops.get(bank, self.bottom(bank))), self.tile.vector)
            if at >= self.top(bank):
                cursor = max(cursor, at)
            elif bank not in self.tops and self.rng.random() < 0.45:
                cursor = self.fill_whole(at, self.top(bank), cursor)
            else:
                cursor = self.fill_some(bank, at, cursor)

    def wall(self, at: int) -> int:
        return next((wall for wall in self.walls if wall >= at), self.tile.memory)

    def add(self, at: int, size: int, aligned: bool = True, told: str = "nothing") -> None:
        self.blocks.append(_Block(f"buf{len(self.blocks)}", at, size, aligned, told))

    def fill_whole(self, at: int, top: int, cursor: int) -> int:
        size = min(top, self.wall(at)) - at
        if size <= 0:
            return max(cursor, at)
        if self.rng.random() < 0.5:
            size = _up(int(size * self.rng.uniform(0.8, 1.0)), self.tile.vector)
        self.add(at, size)
        return at + size

    def fill_some(self, bank: int, at: int, cursor: int) -> int:
        rng, vector = self.rng, self.tile.vector
        tight = rng.random() < 0.5
        for _ in range(rng.randint(1, 3)):
            at = _up(max(at, cursor), vector)
            if self.top(bank) - at <= vector:
                break
            spans = rng.random() < 0.20 and bank + 1 < self.tile.banks
            end = min(self.top(bank + 1 if spans else bank), self.wall(at))
            if end <= at:
                break
            if tight:
                size = min(_up(int((end - at) * rng.uniform(0.5, 1.0)), vector), end - at)
            else:
                size = rng.randint(1, max(1, (end - at) // (2 * vector))) * vector
            if size <= 0 or at + size > end:
                break
            told = "address" if rng.random() < 0.35 else "nothing"
            self.add(at, size, rng.random() > 0.15, told)
            at = cursor = at + size
            if not tight and rng.random() < 0.35:
                at = cursor = at + rng.randint(1, 4) * vector
        return cursor


def bank_reservation(seed: int) -> TileProblem | None:
    """Tables pinned to banks by a core's objects contend with buffers. None: the seed has no reservation."""
    rng = random.Random(seed)
    tile = _empty_tile(seed)
    sections, data = _objects(rng, tile.banks, tile.vector)
    if not sections:
        return None
    tiler = _Tiler(rng, tile)
    tiler.reserve(sections)
    if not tiler.tops:
        return None
    tiler.put_data(data)
    tiler.fill()
    return _hide(tile, tiler.blocks)


# --- borderline and infeasible ---------------------------------------------------------------------


def borderline(seed: int) -> TileProblem | None:
    """A bank-reservation tile that also wants 60 to 100 % of its free bytes, in 1 to 3 buffers. May be infeasible."""
    problem = bank_reservation(seed)
    if problem is None:
        return None
    rng = random.Random(f"borderline {seed}")
    stack = problem.stack.size if problem.stack else 0
    free = problem.memory - stack - sum(extent.size for extent in problem.extents)
    wanted = int(free * rng.uniform(0.6, 1.0))
    if wanted < 3 * problem.bus:
        return None
    cuts = sorted(rng.randint(1, wanted - 1) for _ in range(rng.randint(0, 2)))
    sizes = [hi - lo for lo, hi in zip([0, *cuts], [*cuts, wanted], strict=True)]
    extra = [
        Extent(f"extra{i}", Kind.BUFFER, size // problem.bus * problem.bus)
        for i, size in enumerate(sizes)
        if size >= problem.bus
    ]
    return replace(problem, extents=(*problem.extents, *extra))


def _buffers(sizes: Iterable[int], first: int = 0, **more: object) -> list[Extent]:
    return [Extent(f"b{i + first}", Kind.BUFFER, size, **more) for i, size in enumerate(sizes)]  # type: ignore[arg-type]


def _padding(rng: random.Random) -> TileProblem:
    """Sizes of 96 modulo 128: the bytes fit, 32 lost to each vector-aligned start do not."""
    size = 64 * rng.randint(1, 40) + 32
    fits = 64512 // (size + 32)
    return core_tile(_buffers([size] * (fits + 1)))


def _one_word_more(rng: random.Random) -> TileProblem:
    """A full tile, and one word."""
    sizes: list[int] = []
    room = 524288
    count = rng.randint(5, 300)
    while len(sizes) < count - 1:
        sizes.append(rng.randint(1, max(1, room // (4 * (count - len(sizes))) * 2)) * 4)
        room -= sizes[-1]
    return memory_tile(_buffers([*sizes, room + 4]))


def _pigeonhole(rng: random.Random) -> TileProblem:
    """Pins leave n holes of one size and n + 1 buffers just fill one each; the bytes of one more lie in the rest."""
    holes = rng.randint(3, 12)
    width = 524288 // (holes + 1) // 64 * 64
    hole = width // 64 * 32 + 4 * rng.randint(1, 8)
    pins = [Extent(f"pin{i}", Kind.BUFFER, width - hole, address=i * width + hole) for i in range(holes)]
    last = holes * width
    pins.append(Extent("pin_last", Kind.BUFFER, 524288 - last, address=last))
    return memory_tile([*pins, *_buffers([hole // 2 // 4 * 4 + 4] * (holes + 1))])


def _mixed_pigeonhole(rng: random.Random) -> TileProblem:
    """As before, with sizes that differ: all are longer than half a hole, and one more than there are holes."""
    holes = rng.randint(5, 9)
    width = 524288 // (holes + 1) // 64 * 64
    hole = width // 2 // 64 * 64
    pins = [Extent(f"pin{i}", Kind.BUFFER, width - hole, address=i * width + hole) for i in range(holes)]
    last = holes * width
    pins.append(Extent("pin_last", Kind.BUFFER, 524288 - last, address=last))
    big = [hole // 2 // 4 * 4 + 4 * rng.randint(1, 200) for _ in range(holes + 1)]
    small = [4 * rng.randint(1, 100) for _ in range(rng.randint(0, 8))]
    return memory_tile([*pins, *_buffers([*big, *small])])


def _bank_overloaded(rng: random.Random) -> TileProblem:
    """Bank pins ask for 64 bytes more than their bank has."""
    bank = rng.randint(1, 3)
    count = rng.randint(2, 12)
    sizes = [64 * rng.randint(1, 16384 // 64 // count) for _ in range(count - 1)]
    sizes.append(16384 - sum(sizes) + 64)
    return core_tile([*_buffers(sizes, mem_bank=bank), *_buffers([64] * rng.randint(0, 30), first=count)])


def _data_run_too_long(rng: random.Random) -> TileProblem:
    """The core's data needs one run that pins have cut."""
    at = 1024 + 64 * rng.randint(100, 800)
    data = max(at - 1024, 65536 - at - 64) + 64
    pin = Extent("pin", Kind.BUFFER, 64, address=at)
    return core_tile([pin, *_buffers([64] * rng.randint(0, 18)), Extent("core_data_0_2", Kind.CORE_DATA, data)])


INFEASIBLE: dict[str, Callable[[random.Random], TileProblem]] = {
    "padding": _padding,
    "one word more": _one_word_more,
    "pigeonhole": _pigeonhole,
    "mixed pigeonhole": _mixed_pigeonhole,
    "bank overloaded": _bank_overloaded,
    "data run too long": _data_run_too_long,
}


def infeasible(family: str, seed: int) -> TileProblem:
    """A tile that no layout satisfies; `family` (a key of INFEASIBLE) names the reason."""
    return INFEASIBLE[family](random.Random(f"{family} {seed}"))


def crowd(count: int, size: int = 16) -> TileProblem:
    """Many small buffers on one memory tile."""
    return memory_tile(_buffers([size] * count))


def packed(seed: int, count: int, pins: int, slack: int, *, core: bool = True, grain: int = 4) -> TileProblem:
    """A full tile cut into `count` pieces of multiples of `grain`, `pins` of them pinned, `slack` bytes left out.

    Feasible by construction when `grain` is a multiple of the vector alignment.
    """
    rng = random.Random(f"packed {seed} {count} {pins} {slack} {core} {grain}")
    tile = core_tile(()) if core else memory_tile(())
    low = tile.stack.size if tile.stack else 0
    cuts = sorted(rng.sample(range(1, (tile.memory - low) // grain), count - 1))
    edges = [low, *(low + grain * cut for cut in cuts), tile.memory]
    pieces = list(itertools.pairwise(edges))
    pinned = set(rng.sample(range(count), pins))
    short = rng.choice([i for i in range(count) if i not in pinned])
    extents: list[Extent] = []
    for i, (lo, hi) in enumerate(pieces):
        size = max(grain, hi - lo - slack) if i == short else hi - lo
        extents.append(Extent(f"b{i}", Kind.BUFFER, size, address=lo if i in pinned else None))
    rng.shuffle(extents)
    return replace(tile, extents=tuple(extents))
