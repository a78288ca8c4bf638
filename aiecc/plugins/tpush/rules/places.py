"""Intervals: rings, and tiles that have an address, do not overlap, on chip and in global memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from aiecc.api import Sink
from aiecc.plugins.tpush.dialect.pipe_ops import InitializePipe, ReserveBufferOp
from aiecc.plugins.tpush.dialect.tile_ops import AllocTileOp
from aiecc.plugins.tpush.extract import reservation
from aiecc.plugins.tpush.kernels import Kernel, Pair, arguments_of
from aiecc.plugins.tpush.memories import CONSUMER_SPACE, GRANULE, MEMORIES
from aiecc.plugins.tpush.model import Direction, Platform, Space
from aiecc.plugins.tpush.rules.common import memory_name, tell, up, way
from aiecc.plugins.tpush.values import Values


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes that something has for itself. `ring`: nothing at all may overlap it; tiles may share bytes."""

    title: str
    base: int
    size: int
    op: Operation
    ring: bool

    @property
    def end(self) -> int:
        return self.base + self.size

    def __str__(self) -> str:
        return f"{self.title} [{self.base}, {self.end})"

    def meets(self, other: Room) -> bool:
        return self.base < other.end and other.base < self.end


def check_on_chip(pair: Pair, platform: Platform, diag: Sink) -> None:
    """Buffers and tiles of one memory."""
    _check_shared(pair, platform, diag)
    for kernel in pair.kernels:
        tiles = [op for op in kernel.function.walk() if isinstance(op, AllocTileOp) and op.addr is not None]
        for space in (Space.VEC, Space.MAT, Space.LEFT, Space.RIGHT, Space.ACC):
            rooms = [*_reserved(kernel, space), *_literal(pair, kernel, space, platform), *_tiles(tiles, space)]
            for room in rooms:
                _inside(room, space, platform, diag)
            for room, other in _clashes(rooms):
                free = up(max(each.end for each in rooms if each.ring), MEMORIES[platform][space].alignment)
                where = memory_name(platform, space)
                text = f"{room} overlaps {other} in {where}"
                tell(diag, room.op, text, [("the other one is here", other.op)], f"start it at {free}")


def _inside(room: Room, space: Space, platform: Platform, diag: Sink) -> None:
    """What has an address lies aligned, and within its memory. Reservations have been looked at."""
    memory = MEMORIES[platform][space]
    where = memory_name(platform, space)
    if isinstance(room.op, ReserveBufferOp):
        return
    if room.base % memory.alignment:
        text = f"{room.title} starts at {room.base}, no multiple of {memory.alignment}"
        tell(diag, room.op, text, todo=f"start it at {up(room.base, memory.alignment)}")
    elif room.base < 0 or room.end > memory.usable:
        tell(diag, room.op, f"{room} lies outside of {where}, which has {memory.usable} bytes to give")


def _clashes(rooms: list[Room]) -> Iterable[tuple[Room, Room]]:
    """The first clash of each: a tile gives way to a ring, the later ring to the earlier."""
    for index, room in enumerate(rooms):
        for other in rooms[:index]:
            if (room.ring or other.ring) and room.meets(other):
                yield room, other
                break


def _reserved(kernel: Kernel, space: Space) -> Iterable[Room]:
    for op in kernel.reserves:
        if op.memory.space is space and op.fixed is not None:
            yield Room(f"'{op.buffer.data}'", op.fixed, op.size.value.data, op, True)


def _literal(pair: Pair, kernel: Kernel, space: Space, platform: Platform) -> Iterable[Room]:
    """Rings at addresses that are written down."""
    for op in kernel.setups if platform is Platform.A5 else ():
        for direction in op.directions:
            value = op.consumer_buffer(direction)
            if direction.consumer is not kernel.kind or CONSUMER_SPACE[direction] is not space or value is None:
                continue
            base = None if reservation(pair, kernel, value) else Values(lambda argument: "").number(value)
            if base is not None:
                title = f"the ring {way(direction)} of pipe {op.number}"
                yield Room(title, base, op.slots * op.bytes_per_slot, op, True)


def _tiles(tiles: list[AllocTileOp], space: Space) -> Iterable[Room]:
    for op in tiles:
        base = None if op.addr is None else Values(lambda argument: "").number(op.addr)
        type = op.tile.type
        if type.memory is space and base is not None:
            size = type.rows.data * type.cols.data * (type.bytes_per_element or 0)
            yield Room("this tile", base, size, op, False)


def _check_shared(pair: Pair, platform: Platform, diag: Sink) -> None:
    """No two rings in one reservation."""
    taken: dict[ReserveBufferOp, tuple[InitializePipe, Direction]] = {}
    for kernel in pair.kernels:
        for op in kernel.setups:
            for direction in op.directions:
                if direction.consumer is not kernel.kind:
                    continue
                reserve = reservation(pair, kernel, op.consumer_buffer(direction))
                if reserve is None:
                    continue
                other, _ = taken.setdefault(reserve, (op, direction))
                if other is not op:
                    text = f"pipes {other.number} and {op.number} have one ring, '{reserve.buffer.data}'"
                    tell(diag, op, text, [("the other one is here", other)], "reserve a buffer for each")


# ----------------------------------------------------------------------------------------------- global memory


def check_workspace(pair: Pair, diag: Sink) -> None:
    """Pipes that start from one pointer lie behind one another, all their rings included; and clusters do."""
    names = arguments_of(pair)
    values = Values(lambda argument: names.get(argument, ""), cluster=0)
    rooms: dict[str, list[Room]] = {}
    for op in sorted(pair.cube.setups, key=lambda each: each.number):
        if op.gm_slot_buffer is None:
            continue
        start, offset = values.pointer(op.gm_slot_buffer)
        if offset is None:
            continue
        size = len(op.directions) * op.slots * op.bytes_per_slot
        if offset % GRANULE:
            text = f"pipe {op.number} starts at byte {offset} of its workspace, no multiple of {GRANULE}"
            tell(diag, op, text, todo=_further(op.gm_slot_buffer, up(offset, GRANULE)))
            continue
        room = Room(f"pipe {op.number}", offset, size, op, True)
        mine = rooms.setdefault(start, [])
        clash = next((other for other in mine if room.meets(other)), None)
        if clash is not None:
            text = f"{room} overlaps {clash} in its workspace"
            behind = max(other.end for other in mine)
            tell(diag, op, text, [("the other one is here", clash.op)], _further(op.gm_slot_buffer, behind))
        mine.append(room)
    if not diag.failed:
        _check_clusters(pair, names, list(rooms.values()), diag)


def _check_clusters(pair: Pair, names: dict[SSAValue, str], workspaces: list[list[Room]], diag: Sink) -> None:
    """A workspace that is counted by the cluster's number: the next one starts behind all pipes of this one."""
    values = Values(lambda argument: names.get(argument, ""), cluster=1)
    for rooms in workspaces:
        first, behind = min(room.base for room in rooms), max(room.end for room in rooms)
        for room in rooms:
            pointer = getattr(room.op, "gm_slot_buffer", None)
            further = None if pointer is None else values.pointer(pointer)[1]
            if further is None or further == room.base or abs(further - room.base) >= behind - first:
                continue
            text = (
                f"the next cluster's {room.title} starts {further - room.base} bytes behind this one's, but a cluster"
            )
            size = up(behind - first, GRANULE)
            tell(diag, room.op, f"{text} takes {behind - first}", todo=f"step by {size} bytes per pto.get_block_idx")
            return


def _further(pointer: SSAValue, behind: int) -> str:
    element = getattr(pointer.type, "element", None)
    width = getattr(element, "bitwidth", None)
    if not isinstance(width, int) or behind * 8 % width:
        return f"start it at byte {behind}"
    return f"start it at byte {behind}: pto.addptr with {behind * 8 // width} elements"
