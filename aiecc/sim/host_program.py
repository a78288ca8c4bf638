"""The command processor: executes the operations of a transaction on the registers of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aiecc.base.diag import refuse
from aiecc.base.spans import Span
from aiecc.model.targets import DmaDirection, Target, TileKind
from aiecc.npu import txn
from aiecc.npu.registers import CORE_CONTROL
from aiecc.sim.host_channels import Engine
from aiecc.sim.host_memory import HostMemory, TileMemory
from aiecc.sim.host_registers import Table
from aiecc.sim.order import learn
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.schedule import Actor, Steps

Tile = tuple[int, int]
ChannelKey = tuple[Tile, DmaDirection, int]

_ALL = 0xFFFFFFFF
_RESET, _OUT_OF_ORDER, _CONTROLLER = 0x2, 0x8, 0x1F00
_REFUSED: dict[type, str] = {
    txn.LoadPdi: "loads a configuration",
    txn.CreateScratchpad: "reserves a scratchpad",
    txn.UpdateReg: "updates a register from the scratchpad",
}


class World(Protocol):
    """What the command processor reaches."""

    target: Target
    engines: dict[ChannelKey, Engine]
    tables: dict[Tile, Table]
    tiles: TileMemory
    host: HostMemory

    def clear(self, engine: Engine) -> None:
        """Reset a channel."""
        ...

    def core(self, tile: Tile, held: bool) -> None:
        """Hold a core in reset, or let it start from the beginning."""
        ...


def refuse_unknown(ops: Sequence[txn.Op], wheres: Sequence[Span | None]) -> None:
    """Refuse, before anything runs, what the array model cannot do."""
    for op, where in zip(ops, wheres, strict=True):
        what = _REFUSED.get(type(op))
        if what is not None:
            refuse(f"the array model cannot run a sequence that {what}", where)


def channels_of(target: Target, ops: Sequence[txn.Op]) -> set[ChannelKey]:
    """The channels a transaction pushes on, resets, or waits for."""
    found: set[ChannelKey] = set()
    for op in ops:
        if isinstance(op, txn.Write | txn.MaskWrite | txn.MaskPoll):
            place = Place.of(target, op.address)
            channel = None if place is None else place.channel()
            if place is not None and channel is not None:
                found.add((place.tile, channel[0], channel[1]))
        elif isinstance(op, txn.Sync):
            found.update(_awaited(op))
    return {key for key in found if _exists(target, key)}


def _exists(target: Target, key: ChannelKey) -> bool:
    kind = target.tile_kind(*key[0])
    return kind is not None and 0 <= key[2] < target.dma_channels(kind)


def _awaited(op: txn.Sync) -> list[ChannelKey]:
    way = DmaDirection.MM2S if op.sends else DmaDirection.S2MM
    return [((op.col + c, op.row + r), way, op.channel) for c in range(op.columns) for r in range(op.rows)]


class Place:
    """A register: its tile, and the offset in it."""

    __slots__ = ("_dma", "kind", "offset", "target", "tile")

    def __init__(self, target: Target, tile: Tile, kind: TileKind, offset: int) -> None:
        self.target = target
        self.tile = tile
        self.kind = kind
        self.offset = offset
        self._dma = target.dma(kind)

    @classmethod
    def of(cls, target: Target, address: int) -> Place | None:
        """None off the array."""
        shift = target.family.row_shift
        tile = (address >> target.family.column_shift, address >> shift & 0x1F)
        kind = target.tile_kind(*tile)
        return None if kind is None else cls(target, tile, kind, address & (1 << shift) - 1)

    def descriptor(self) -> tuple[int, int] | None:
        """Number and byte, where this is a word of a descriptor."""
        dma = self._dma
        if dma is None or not 0 <= self.offset - dma.bd_base < dma.bds * dma.bd_pitch:
            return None
        return divmod(self.offset - dma.bd_base, dma.bd_pitch)

    def channel(self) -> tuple[DmaDirection, int, str] | None:
        """Direction, channel, and which of its registers: control, queue or status."""
        dma = self._dma
        if dma is None:
            return None
        firsts = (
            (DmaDirection.S2MM, dma.s2mm_control, dma.s2mm_status),
            (DmaDirection.MM2S, dma.mm2s_control, dma.mm2s_status),
        )
        for way, control, status in firsts:
            index, rest = divmod(self.offset - control, dma.control_pitch)
            if 0 <= index < dma.channels and rest in (0, 4):
                return way, index, "queue" if rest else "control"
            if status is not None:
                index, rest = divmod(self.offset - status, dma.status_pitch)
                if 0 <= index < dma.channels and not rest:
                    return way, index, "status"
        return None

    def lock(self) -> int | None:
        """The lock whose value this is."""
        locks = self.target.locks(self.kind)
        if locks.base is None:
            return None
        number, rest = divmod(self.offset - locks.base, locks.pitch)
        return number if 0 <= number < locks.count and not rest else None

    def __str__(self) -> str:
        return f"0x{self.offset:X} of tile {self.tile}"


class Processor:
    """One transaction while it runs. `me` is its actor; `wheres` are the lines its operations come from."""

    def __init__(self, world: World, me: Actor, ops: Sequence[txn.Op], wheres: Sequence[Span | None]) -> None:
        self.world = world
        self.me = me
        self.ops = ops
        self.wheres = wheres
        self._on: dict[Tile, list[Engine]] = {}
        for (tile, _, _), engine in world.engines.items():
            self._on.setdefault(tile, []).append(engine)

    def steps(self) -> Steps:
        for op, where in zip(self.ops, self.wheres, strict=True):
            self.me.site = where
            if isinstance(op, txn.Sync):
                yield from self._sync(op)
            elif isinstance(op, txn.MaskPoll):
                yield from self._poll(op)
            else:
                self._execute(op)
            yield None

    def _execute(self, op: txn.Op) -> None:
        match op:
            case txn.Write(address, value):
                self._write(address, value, _ALL)
            case txn.MaskWrite(address, value, mask):
                self._write(address, value, mask)
            case txn.BlockWrite(address, data, _):
                for number, value in enumerate(data):
                    self._write(address + 4 * number, value, _ALL)
            case txn.Patch(address, argument, plus):
                self._patch(address, argument, plus)
            case _:
                pass

    # --- waiting ------------------------------------------------------------------------------------------------------

    def _sync(self, op: txn.Sync) -> Steps:
        for key in _awaited(op):
            engine = self.world.engines.get(key)
            if engine is None:
                (col, row), way, index = key
                raise Trapped(
                    Kind.REGISTER, f"waits for {way.value} {index} of tile ({col}, {row}), which is not there"
                )
            tokens = engine.tokens
            while not tokens.arrived:
                yield tokens
            learn(self.me, tokens.arrived.popleft())

    def _poll(self, op: txn.MaskPoll) -> Steps:
        place = self._place(op.address)
        channel = place.channel()
        if channel is None or channel[2] != "status":
            raise Trapped(Kind.REGISTER, f"polls {place}, which the array model does not have")
        engine = self._engine(place, channel)
        while engine.status & op.mask != op.value & op.mask:
            yield engine.moved
        engine.learnt(self.me)

    # --- registers ----------------------------------------------------------------------------------------------------

    def _place(self, address: int) -> Place:
        place = Place.of(self.world.target, address)
        if place is None:
            raise Trapped(Kind.REGISTER, f"uses address 0x{address:X}, which is off the array")
        if address % 4:
            raise Trapped(Kind.REGISTER, f"uses address 0x{address:X}, which is not at a word")
        return place

    def _engine(self, place: Place, channel: tuple[DmaDirection, int, str]) -> Engine:
        return self.world.engines[place.tile, channel[0], channel[1]]

    def _write(self, address: int, value: int, mask: int) -> None:
        place = self._place(address)
        descriptor = place.descriptor()
        if descriptor is not None:
            self._descriptor(place, descriptor[0], descriptor[1] // 4, value, mask)
            return
        channel = place.channel()
        if channel is not None:
            engine = self.world.engines.get((place.tile, channel[0], channel[1]))
            if engine is None or channel[2] == "status":
                raise Trapped(Kind.REGISTER, f"writes {place}, a register the array model does not have")
            change = self._queue if channel[2] == "queue" else self._control
            change(engine, value, mask)
            return
        lock = place.lock()
        if lock is not None:
            self._lock(place, lock, value, mask)
        elif place.offset < self.world.target.memory_size(place.kind):
            self._memory(place, value, mask)
        elif place.kind is TileKind.CORE and place.offset == CORE_CONTROL:
            self._core(place, value, mask)
        else:
            raise Trapped(Kind.REGISTER, f"writes {place}, a register the array model does not have")

    def _table(self, place: Place, number: int, word: int) -> Table:
        """The descriptors of a tile, one of which is about to be changed."""
        table = self.world.tables[place.tile]
        if word >= table.words:
            raise Trapped(Kind.REGISTER, f"writes {place}, which is behind the words of descriptor {number}")
        for engine in self._on.get(place.tile, ()):
            if engine.uses(self.me, number):
                raise Trapped(
                    Kind.REUSE,
                    f"changes descriptor {number} of tile {place.tile}, which {engine.name} may still be running: "
                    "nothing that was waited for says that it is done",
                )
        return table

    def _descriptor(self, place: Place, number: int, word: int, value: int, mask: int) -> None:
        table = self._table(place, number, word)
        if mask != _ALL:
            value = table.read(number, word) & ~mask | value & mask
        table.write(number, word, value, self.me.site)

    def _patch(self, address: int, argument: int, plus: int) -> None:
        place = self._place(address)
        descriptor = place.descriptor()
        if place.kind is not TileKind.SHIM_NOC or descriptor is None or descriptor[1] != 4:
            raise Trapped(Kind.REGISTER, f"puts the address of argument {argument} at {place}, where none belongs")
        number = descriptor[0]
        table = self._table(place, number, 1)
        whole = self.world.host.address(argument, plus)
        table.write(number, 1, whole & _ALL, self.me.site)
        high = table.read(number, 2) & ~0xFFFF | whole >> 32
        table.write(number, 2, high, self.me.site)

    def _queue(self, engine: Engine, value: int, mask: int) -> None:
        if mask != _ALL:
            raise Trapped(Kind.REGISTER, f"writes part of the start queue of {engine.name}")
        engine.start(self.me, value & 0x3F, value >> 16 & 0xFF, bool(value >> 31))

    def _control(self, engine: Engine, value: int, mask: int) -> None:
        value = engine.control & ~mask | value & mask
        if value & ~(_RESET | _CONTROLLER):
            what = "out-of-order descriptors" if value & _OUT_OF_ORDER else f"0x{value:X} in its control register"
            raise Trapped(Kind.REGISTER, f"asks {engine.name} for {what}, which the array model does not have")
        engine.control = value
        reset = bool(value & _RESET)
        if reset and not engine.reset:
            engine.reset = True
            self.world.clear(engine)
        elif not reset and engine.reset:
            engine.reset = False
            engine.pushed.open()

    def _lock(self, place: Place, number: int, value: int, mask: int) -> None:
        lock = self.world.tiles.lock(place.tile, number)
        lock.set(lock.value & ~mask | value & mask)

    def _memory(self, place: Place, value: int, mask: int) -> None:
        buffer, byte = self.world.tiles.buffer(place.tile, place.offset)
        if byte + 4 > buffer.size:
            raise Trapped(Kind.BOUNDS, f"writes bytes {byte} to {byte + 3} of {buffer.name}, which has {buffer.size}")
        if mask != _ALL:
            buffer.known(byte, byte + 4)
            value = int.from_bytes(buffer.data[byte : byte + 4], "little") & ~mask | value & mask
        buffer.poke(byte, value.to_bytes(4, "little"))

    def _core(self, place: Place, value: int, mask: int) -> None:
        if mask & 1 and not value & 1:
            raise Trapped(Kind.REGISTER, f"stops core {place.tile}, which the array model can only reset")
        if mask & _RESET:
            self.world.core(place.tile, bool(value & _RESET))
