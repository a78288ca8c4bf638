"""Random split designs, allocated and judged by rules of their own: what there is, who reaches what, each once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from allockit import dma, fifo, outside, pool, route, tiles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from passkit import Ran

from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.flows import FlowOp
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.pools import CoreEndpointOp, DmaEndpointOp, ObjectFifoPoolOp
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.dialects.aie.tiles import tile_like
from aiecc.ir.passes.fifo_allocate import ObjectFifoAllocate
from aiecc.ir.text import print_module
from aiecc.ir.verify import verify

Tile = tuple[int, int]
COLUMNS = 3
CORES = [(c, r) for c in range(COLUMNS) for r in (2, 3)]
MEM_BYTES, CORE_LOCKS, MEM_LOCKS = 524288, 16, 64
CHANNELS = {0: 2, 1: 6, 2: 2, 3: 2}


@dataclass
class Design:
    """Lines of a device, and how many flows its routes will be."""

    lines: list[str] = field(default_factory=list[str])
    flows: int = 0
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"f{self.names}"

    def add(self, *lines: str) -> None:
        self.lines += lines


def value(tile: Tile) -> str:
    return f"%t{tile[0]}{tile[1]}"


def reaches(a: Tile, b: Tile) -> bool:
    """AIE2: a core its own memory and that to the west, north and south; a memory tile's DMA those to either side."""
    if a == b:
        return True
    dc, dr = b[0] - a[0], b[1] - a[1]
    if a[1] == b[1] == 1:
        return abs(dc) == 1
    return a[1] >= 2 and b[1] >= 2 and (dc, dr) in ((-1, 0), (0, 1), (0, -1))


@st.composite
def designs(draw: st.DrawFn) -> Design:
    design = Design()
    cores = st.sampled_from(CORES)
    columns = st.integers(0, COLUMNS - 1)
    for _ in range(draw(st.integers(1, 8))):
        name, depth = design.name(), draw(st.integers(1, 4))
        kind = draw(st.sampled_from(["core", "in", "out", "shared", "link", "parts"]))
        a, b = draw(cores), draw(cores)
        more = draw(st.sampled_from(["", "", "", ", disableSynchronization = true", ", repeatCount = 2 : i32"]))
        pin = draw(st.sampled_from(["", "", "", "channelIndex = 0 : i32, ", "channelIndex = 1 : i32, "]))
        shim = (draw(columns), 0)
        if kind == "shared":
            _shared(design, name, a, depth)
            continue
        if kind in ("link", "parts"):
            _linked(draw, design, name, (draw(columns), 1), b, depth)
            continue
        if kind == "in":
            design.add(outside(f"{name}_a", value(shim), fifo(name)))
        else:
            design.add(
                pool(f"{name}_pool", value(a), depth, 16, more),
                dma(f"{name}_a", value(a), "drains", f"{name}_pool", pin + fifo(name)),
            )
        if kind == "out":
            design.add(outside(f"{name}_b", value(shim), fifo(name)))
        else:
            design.add(
                pool(f"{name}_cons_pool", value(b), depth),
                dma(f"{name}_b", value(b), "fills", f"{name}_cons_pool", fifo(name)),
            )
        design.add(route(f"@{name}_a", f"{name}_b"))
        design.flows += 1
    return design


def _shared(design: Design, name: str, a: Tile, depth: int) -> None:
    b = next(tile for tile in CORES if tile != a and reaches(tile, a))
    design.add(
        pool(f"{name}_pool", value(a), depth),
        f"aie.objectfifo.core_endpoint @{name}_p({value(a)}) fills @{name}_pool",
        f"aie.objectfifo.core_endpoint @{name}_c({value(b)}) drains @{name}_pool",
    )


def _linked(draw: st.DrawFn, design: Design, name: str, mem: Tile, far: Tile, depth: int) -> None:
    """A memory-tile pool that a core fills; one core drains each of its parts."""
    parts = draw(st.integers(1, 3))
    size = draw(st.sampled_from([16, 30000, 100000, 200000])) * parts
    names = [f"@s{k}" for k in range(parts)]
    source = draw(st.sampled_from(CORES))
    design.add(
        pool(f"{name}_src_pool", value(source), 1),
        dma(f"{name}_src", value(source), "drains", f"{name}_src_pool"),
        pool(f"{name}_pool", value(mem), depth, size, parts=(size // parts,) * parts, type="i8"),
        dma(f"{name}_in", value(mem), "fills", f"{name}_pool", f"segments = [{', '.join(names)}]"),
        route(f"@{name}_src", f"{name}_in"),
    )
    for k in range(parts):
        design.add(
            dma(f"{name}_out{k}", value(mem), "drains", f"{name}_pool", f"segments = [@s{k}]"),
            pool(f"{name}_{k}_pool", value(far), 1),
            dma(f"{name}_{k}_in", value(far), "fills", f"{name}_{k}_pool"),
            route(f"@{name}_out{k}", f"{name}_{k}_in"),
        )
    design.flows += 1 + parts


# --- the judge --------------------------------------------------------------------------------------------------------


def where(op: BufferOp | LockOp | ObjectFifoPoolOp | CoreEndpointOp | DmaEndpointOp | RouteEndpointOp) -> Tile:
    tile = tile_like(op.operands[0])
    assert tile is not None and tile.coord is not None
    return tile.coord


def judge(ran: Ran, flows: int) -> None:
    buffers = {op.symbol: op for op in ran.ops(BufferOp)}
    locks = {op.symbol: op for op in ran.ops(LockOp)}
    pools = {op.symbol: op for op in ran.ops(ObjectFifoPoolOp)}
    assert sum(p.depth for p in pools.values()) == len(buffers) == len({n for p in pools.values() for n in p.buffers})
    used: Counter[Tile] = Counter()
    for buffer in buffers.values():
        used[where(buffer)] += -(-buffer.size_bytes // 4) * 4
    assert all(used[column, 1] <= MEM_BYTES for column in range(16))
    count = Counter(where(lock) for lock in locks.values())
    assert all(n <= (MEM_LOCKS if tile[1] == 1 else CORE_LOCKS) for tile, n in count.items())
    _judge_pools(pools, locks)
    channels: Counter[tuple[Tile, bool, int]] = Counter()
    for end in (*ran.ops(DmaEndpointOp), *ran.ops(RouteEndpointOp)):
        at, channel = where(end), end.channel_index
        assert channel is not None and 0 <= channel < CHANNELS[at[1]]
        sends = end.role is Role.DRAINS if isinstance(end, DmaEndpointOp) else end.symbol.endswith("_a")
        channels[at, sends, channel] += 1
        if isinstance(end, DmaEndpointOp):
            touched = {where(buffers[n]) for n in pools[end.pool].buffers} | _lock_tiles(pools[end.pool], end, locks)
            assert all(reaches(at, tile) if at[1] == 1 else tile == at for tile in touched)
            assert channel < 4 or touched <= {at}
    assert set(channels.values()) <= {1}
    made = [(op.source.owner, op.source_port, op.dest.owner, op.dest_port) for op in ran.ops(FlowOp)]
    assert len(made) == len(set(made)) == flows


def _lock_tiles(owner: ObjectFifoPoolOp, end: DmaEndpointOp, locks: dict[str | None, LockOp]) -> set[Tile]:
    chosen = [s for s in owner.segments if "segments" not in end.properties or s.symbol in end.segments]
    names = [name for s in chosen for name in (s.produce_lock, s.consume_lock) if name]
    return {where(locks[name]) for name in names}


def _judge_pools(pools: dict[str, ObjectFifoPoolOp], locks: dict[str | None, LockOp]) -> None:
    seen: set[str | None] = set()
    for one in pools.values():
        for segment in one.segments:
            pair = segment.produce_lock, segment.consume_lock
            if one.disable_synchronization:
                assert pair == ("", "") or pair == (None, None)
                continue
            assert pair[0] and pair[1] and not seen & set(pair)
            seen |= set(pair)
            assert (locks[pair[0]].init, locks[pair[1]].init) == (one.depth * (one.repeat_count or 1), 0)
    assert len(seen) == len(locks)


ALLOWED = ("DMA channel", "lock capacity", "available capacity")


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(designs())
def test_what_is_allocated_fits_and_what_is_not_is_left_alone(design: Design) -> None:
    grid = tiles(*((c, r) for c in range(COLUMNS) for r in range(4)))
    ran = Ran("\n".join(["aie.device(npu2) {", grid, *design.lines, "}"]))
    before = ran.text
    assert not verify(ran.module)
    ObjectFifoAllocate().apply(ran.device, ran.sink)
    if ran.sink.failed:
        assert ran.text == before
        assert all(any(word in text for word in ALLOWED) for text in ran.said if "spill-aware" not in text)
        return
    assert ran.said == []
    assert not verify(ran.module)
    judge(ran, design.flows)
    once = ran.text
    ObjectFifoAllocate().apply(ran.device, ran.sink)
    assert print_module(ran.module) == once
