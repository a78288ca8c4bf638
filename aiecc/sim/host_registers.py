"""The descriptor registers of a tile: words as they are written, read as what a channel then does."""

from __future__ import annotations

from collections.abc import Iterator

from aiecc.base.spans import Span
from aiecc.model.targets import Target, TileKind
from aiecc.npu.bd import layout_of
from aiecc.sim.dma import Descriptor, LockStep
from aiecc.sim.host_memory import HostMemory, TileMemory
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.pattern import Pattern
from aiecc.sim.programs import Channel

Tile = tuple[int, int]
Fields = dict[str, int]


class Table:
    """The descriptors of one tile, by number."""

    def __init__(self, tile: Tile, target: Target, memory: TileMemory, host: HostMemory) -> None:
        kind = target.tile_kind(*tile)
        assert kind is not None
        self.tile = tile
        # Where the descriptor that was read last was written.
        self.site: Span | None = None
        self._kind = kind
        self._layout = layout_of(kind)
        self._memory = memory
        self._host = host
        self._words: dict[int, list[int]] = {}
        self._where: dict[int, Span | None] = {}
        self._own: dict[int, tuple[Descriptor, int | None]] = {}
        self._made: dict[int, tuple[Descriptor, int | None]] = {}

    def own(self, channel: Channel) -> None:
        """The descriptors of the tile's own DMA program can be started from a sequence as well."""
        found = channel.program.descriptors
        for bd in found:
            if bd.id is not None:
                self._own[bd.id] = bd, None if bd.next is None else found[bd.next].id

    def read(self, number: int, word: int) -> int:
        return self._words.get(number, [0] * self._layout.words)[word]

    def write(self, number: int, word: int, value: int, where: Span | None) -> None:
        """Change one word. Of a descriptor of the tile's own program all have to be written, the first one first."""
        if number in self._own:
            if word:
                raise Trapped(
                    Kind.REGISTER,
                    f"changes part of descriptor {number} of tile {self.tile}, which belongs to the tile's own program",
                )
            del self._own[number]
        self._words.setdefault(number, [0] * self._layout.words)[word] = value
        if not word or number not in self._where:
            self._where[number] = where
        self._made.pop(number, None)

    @property
    def words(self) -> int:
        return self._layout.words

    def step(self, number: int) -> tuple[Descriptor, int | None]:
        """What a descriptor does, and which one follows."""
        found = self._own.get(number) or self._made.get(number)
        if found is None:
            found = self._made[number] = self._decode(number)
        return found

    def chain(self, first: int) -> Iterator[int]:
        """The descriptors a start of one of them runs, each once."""
        seen: set[int] = set()
        at: int | None = first
        while at is not None and at not in seen:
            seen.add(at)
            yield at
            at = self.step(at)[1]

    def is_endless(self, first: int) -> bool:
        """Whether a chain leads back into itself."""
        return self.step(list(self.chain(first))[-1])[1] is not None

    # --- decoding -----------------------------------------------------------------------------------------------------

    def _decode(self, number: int) -> tuple[Descriptor, int | None]:
        words = self._words.get(number)
        self.site = self._where.get(number)
        if words is None:
            raise Trapped(Kind.DESCRIPTOR, f"starts descriptor {number} of tile {self.tile}, which nobody has written")
        fields = self._layout.unpack(words)
        if not fields["valid_bd"]:
            raise Trapped(Kind.DESCRIPTOR, f"starts descriptor {number} of tile {self.tile}, which is not valid")
        where = self.site
        bd = Descriptor(where, *self._locks(fields, where), id=number)
        if fields["enable_packet"]:
            bd.packet = (fields["packet_type"], fields["packet_id"])
        if fields["buffer_length"]:
            self._transfer(bd, fields)
        return bd, fields["next_bd"] if fields["use_next_bd"] else None

    def _locks(self, fields: Fields, where: Span | None) -> tuple[list[LockStep], list[LockStep]]:
        acquires: list[LockStep] = []
        releases: list[LockStep] = []
        if fields["lock_acq_enable"]:
            value = fields["lock_acq_val"]
            lock = self._memory.dma_lock(self.tile, fields["lock_acq_id"])
            acquires.append(LockStep(lock, abs(value), value >= 0, where))
        if fields["lock_rel_val"]:
            lock = self._memory.dma_lock(self.tile, fields["lock_rel_id"])
            releases.append(LockStep(lock, fields["lock_rel_val"], False, where))
        return acquires, releases

    def _transfer(self, bd: Descriptor, fields: Fields) -> None:
        if self._kind is TileKind.SHIM_NOC:
            address = fields["buffer_offset"] | fields["address_high"] << 32
            buffer, byte = self._host.find(address)
        else:
            scale = 4 if self._kind is TileKind.MEM else 1
            buffer, byte = self._memory.dma_buffer(self.tile, fields["buffer_offset"] * scale)
        if byte % 4:
            raise Trapped(Kind.BOUNDS, f"moves words from byte {byte} of {buffer.name} on, which is not at a word")
        bd.buffer = buffer
        bd.pattern = _pattern(fields, byte // 4, self.tile)
        if fields["iteration_size"]:
            bd.iteration = (fields["iteration_size"] + 1, fields["iteration_stride"] + 1)
            bd.turn = fields["iteration_current"]


def _pattern(fields: Fields, offset: int, tile: Tile) -> Pattern:
    """In words, outermost first. A dimension of size 0 never wraps: those outside of it are not reached."""
    length = fields["buffer_length"]
    sizes = [fields["d0_size"], fields["d1_size"]]
    strides = [fields[f"d{d}_stride"] + 1 for d in range(3)]
    pads = [(fields.get(f"d{d}_zero_before", 0), fields.get(f"d{d}_zero_after", 0)) for d in range(3)]
    if any(before or after for before, after in pads):
        return _padded(offset, length, sizes, strides, pads, tile)
    if not sizes[0]:
        if strides[0] == 1:
            return Pattern(offset, length, 4)
        return Pattern(offset, length, 4, (length,), (strides[0],))
    if not sizes[1]:
        return Pattern(offset, length, 4, (1, sizes[0]), (strides[1], strides[0]))
    return Pattern(offset, length, 4, (1, sizes[1], sizes[0]), (strides[2], strides[1], strides[0]))


def _padded(
    offset: int, length: int, sizes: list[int], strides: list[int], pads: list[tuple[int, int]], tile: Tile
) -> Pattern:
    """No register has the size of the outermost dimension: it is what the length leaves, padding included."""
    if not sizes[0] or not sizes[1]:
        raise Trapped(Kind.DESCRIPTOR, f"pads on tile {tile} around a dimension that has no size")
    plane = (sizes[0] + sum(pads[0])) * (sizes[1] + sum(pads[1]))
    outer = length // plane - sum(pads[2])
    if length % plane or outer < 1:
        raise Trapped(
            Kind.DESCRIPTOR,
            f"pads on tile {tile} to {plane} words for each of its outermost steps, but its length is {length} words",
        )
    return Pattern(
        offset, length, 4, (outer, sizes[1], sizes[0]), (strides[2], strides[1], strides[0]), tuple(reversed(pads))
    )
