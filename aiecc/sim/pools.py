"""How full pools got: a pair of locks counts the free and the full objects of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.sim.locks import BinaryLock, Lock
from aiecc.sim.outcome import PoolUse
from aiecc.sim.programs import Channel

Pair = tuple[Lock, Lock]
"""The lock of the free objects, and that of the full ones."""


def pairs(locks: Iterable[Lock], channels: Iterable[Channel]) -> list[tuple[str, Pair]]:
    """Pools by name: pairs of locks called so by the lowering, then those that descriptors show to be pairs."""
    named = {lock.name: lock for lock in locks if not isinstance(lock, BinaryLock)}
    found: list[tuple[str, Pair]] = []
    taken: set[Lock] = set()
    for name, free in named.items():
        pool, mark, number = name.rpartition("_prod_lock_")
        full = named.get(f"{pool}_cons_lock_{number}")
        if mark and full is not None:
            several = f"{pool}_prod_lock_{0 if number != '0' else 1}" in named
            found.append((f"{pool} segment {number}" if several else pool, (free, full)))
            taken |= {free, full}
    for channel in channels:
        for bd in channel.program.descriptors:
            if len(bd.acquires) != 1 or len(bd.releases) != 1:
                continue
            pair = (bd.acquires[0].lock, bd.releases[0].lock)
            free, full = pair if channel.direction is Direction.S2MM else pair[::-1]
            if free is full or not taken.isdisjoint(pair) or isinstance(free, BinaryLock):
                continue
            found.append((bd.buffer.name if bd.buffer is not None else full.name, (free, full)))
            taken |= {free, full}
    return found


def uses(found: Iterable[tuple[str, Pair]]) -> Mapping[str, PoolUse]:
    """High-water marks, once a run is over. Full objects are those nobody has taken; others may be held."""
    return {
        name: PoolUse(free.name, full.name, free.first + full.first, full.high, free.first + full.first - free.low)
        for name, (free, full) in found
    }
