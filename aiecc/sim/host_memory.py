"""What the words of a sequence can address: the host's arguments, and the memory and locks of tiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.model.targets import Arch, Target, TileKind
from aiecc.sim.locks import BinaryLock, Lock
from aiecc.sim.memory import Buffer, Busy, Run, merged
from aiecc.sim.order import Order
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.schedule import Schedule

Tile = tuple[int, int]

_ROOM = 36
"""Arguments lie 1 << 36 bytes apart; nothing lies below the first."""


class HostBuffer(Buffer):
    """One argument of a sequence. Words are read and written as they travel, so no transfer keeps others away."""

    __slots__ = ("changed",)

    def __init__(self, schedule: Schedule, number: int, size: int, initial: bytes | None) -> None:
        super().__init__(f"argument {number}", size, None, initial)
        self.changed = False
        if schedule.ordered:
            self.order = Order(schedule, self.name, size, 2)

    def begin(self, by: str, writes: bool, runs: Sequence[Run]) -> Busy:
        if not writes and self.order is not None:
            for low, high in merged(runs):
                self.order.read(low, high)
        return Busy(by, writes, runs, self.size)

    def end(self, busy: Busy) -> None:
        if not busy.writes:
            return
        self.changed = True
        if self.order is not None:
            for low, high in merged(busy.runs):
                self.order.write(low, high)


class HostMemory:
    """All arguments, each at an address of its own."""

    def __init__(self, buffers: Sequence[HostBuffer]) -> None:
        self.buffers = buffers

    def address(self, argument: int, plus: int) -> int:
        """Traps for an argument the sequence does not have."""
        if argument >= len(self.buffers):
            raise Trapped(
                Kind.BOUNDS, f"wants the address of argument {argument}; the sequence has {len(self.buffers)}"
            )
        return ((argument + 1) << _ROOM) + plus

    def find(self, address: int) -> tuple[Buffer, int]:
        """The argument an address lies in, and how many bytes into it. Ends are checked by who moves the bytes."""
        number = (address >> _ROOM) - 1
        if not 0 <= number < len(self.buffers):
            raise Trapped(Kind.BOUNDS, f"moves bytes at 0x{address:X} of the host, where no argument is")
        return self.buffers[number], address & (1 << _ROOM) - 1


class TileMemory:
    """Buffers and locks by tile and number, as registers know them."""

    def __init__(
        self, target: Target, schedule: Schedule, buffers: Mapping[BufferOp, Buffer], locks: Mapping[LockOp, Lock]
    ) -> None:
        self._target = target
        self._schedule = schedule
        self._buffers: dict[Tile, list[tuple[int, Buffer]]] = {}
        self._locks: dict[tuple[Tile, int], Lock] = {}
        for op, buffer in buffers.items():
            if op.address is not None and buffer.tile is not None:
                self._buffers.setdefault(buffer.tile, []).append((op.address, buffer))
        for op, lock in locks.items():
            if op.id is not None:
                self._locks[lock.tile, op.id] = lock

    def buffer(self, tile: Tile, byte: int) -> tuple[Buffer, int]:
        """The buffer that has a byte of a tile's memory, and how far into it that is."""
        for address, buffer in self._buffers.get(tile, ()):
            if address <= byte < address + buffer.size:
                return buffer, byte - address
        raise Trapped(Kind.BOUNDS, f"uses byte 0x{byte:X} of tile {tile}, where no buffer is")

    def lock(self, tile: Tile, number: int) -> Lock:
        """Locks the design does not name start at 0."""
        found = self._locks.get((tile, number))
        if found is None:
            kind = self._target.tile_kind(*tile)
            if kind is None or number >= self._target.lock_count(kind):
                raise Trapped(Kind.LOCK, f"uses lock {number} of tile {tile}, which it does not have")
            made = Lock if self._target.semaphore_locks else BinaryLock
            limit = self._target.lock_max_value
            found = made(self._schedule, f"{number} of tile {tile}", tile, 0, limit, None)
            self._locks[tile, number] = found
        return found

    def dma_buffer(self, tile: Tile, byte: int) -> tuple[Buffer, int]:
        """A buffer as a tile's DMA addresses it: memory tiles see their neighbours' memory too, in windows.

        On AIE2 runtime sequences write addresses of memory tiles without a window.
        """
        if self._target.tile_kind(*tile) is not TileKind.MEM or self._target.arch is Arch.AIE2:
            return self.buffer(tile, byte)
        for owner in self._around(tile):
            base = self._target.dma_offset(tile, owner)
            if base is not None and base <= byte < base + self._target.memory_size(TileKind.MEM):
                return self.buffer(owner, byte - base)
        raise Trapped(Kind.BOUNDS, f"uses byte 0x{byte:X} of what the DMA of tile {tile} sees, where no memory is")

    def dma_lock(self, tile: Tile, number: int) -> Lock:
        """A lock under the number a tile's DMA knows it by."""
        for owner in self._around(tile):
            base = self._target.dma_lock_offset(tile, owner)
            kind = self._target.tile_kind(*owner)
            if base is not None and kind is not None and base <= number < base + self._target.lock_count(kind):
                return self.lock(owner, number - base)
        raise Trapped(Kind.LOCK, f"uses lock {number}, which the DMA of tile {tile} does not reach")

    @staticmethod
    def _around(tile: Tile) -> Iterable[Tile]:
        col, row = tile
        return (tile, (col - 1, row), (col + 1, row))
