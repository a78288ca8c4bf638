"""Which descriptor ids are free, which are held by what, and which cannot be used again yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.passes.report import OpNote, op_error, warning
from aiecc.ir.runtime.tasks import ChannelKey, Holder, TileIds
from aiecc.model.targets import Tile

CODE = "E1002"
IN_FLIGHT = ("error", "warn", "off")


class Descriptors:
    """The ids of all tiles while a sequence goes on.

    pinned: ids by tile that ops of the sequence ask for by number. in_flight: what is done about an id that is used
    again while what had it may still run. waits: how many waits there were so far.
    """

    def __init__(self, pinned: dict[Tile, set[int]], in_flight: str, waits: Callable[[], int], sink: Sink) -> None:
        self.pinned, self.in_flight, self.waits, self.sink = pinned, in_flight, waits, sink
        self.reserved: dict[Tile, set[int]] = {}
        self.tiles: dict[Tile, TileIds] = {}
        self.owners: dict[Operation, Holder] = {}

    def load(self, reserved: dict[Tile, set[int]]) -> None:
        """A configuration is loaded: nobody holds anything but its own programs."""
        self.reserved = reserved
        self.tiles.clear()
        self.owners.clear()

    def of(self, tile: Tile) -> TileIds:
        found = self.tiles.get(tile)
        if found is None:
            kept, pinned = self.reserved.get(tile, set()), self.pinned.get(tile, set())
            found = self.tiles[tile] = TileIds(frozenset(kept), frozenset(pinned))
        return found

    def configured(self, tile: Tile) -> set[int]:
        """The ids under which something can be found: those asked for by number and those of the tile's program."""
        return self.reserved.get(tile, set()) | self.pinned.get(tile, set())

    # --- giving out ---------------------------------------------------------------------------------------------------

    def pin(self, op: Operation, bd: Operation, tile: Tile, number: int, reach: range, mine: Holder) -> bool:
        """Give the id that is asked for. False, and an error said, where that cannot be."""
        ids = self.of(tile)
        holder = ids.held.get(number)
        if holder is not None:
            text = (
                f"Specified buffer descriptor ID {number} is already in use. Emit an aiex.dma_free_task operation to "
                "reuse BDs."
            )
            op_error(self.sink, op, text, [("held by this task", holder.op)], code=CODE)
            return False
        if number not in reach:
            text = f"pins buffer descriptor ID {number}, which cannot be submitted on this channel"
            op_error(self.sink, bd, f"{text} (it reaches {reach.start} to {reach.stop - 1})", code=CODE)
            return False
        if number in ids.reserved:
            text = f"pins buffer descriptor ID {number}, which the tile's own DMA program uses"
            op_error(self.sink, bd, text, code=CODE)
            return False
        return self.take(op, ids, number, mine)

    def pick(self, op: Operation, tile: Tile, reach: range, mine: Holder) -> int | None:
        """The lowest id that is free and can be used again; where none is safe, the lowest. None, and an error said,
        where there is none."""
        ids = self.of(tile)
        first: int | None = None
        for number in ids.free(reach):
            if first is None:
                first = number
            if self._is_safe(ids, number):
                first = number
                break
        if first is None:
            return None
        return first if self.take(op, ids, first, mine) else None

    def take(self, op: Operation, ids: TileIds, number: int, mine: Holder) -> bool:
        """Give an id to a task. False, and an error said, where what had it last may still run."""
        before = ids.left.get(number)
        if before is not None:
            if self._may_run(before) and not self._tell_in_flight(op, number, before):
                return False
            del ids.left[number]
        ids.held[number] = mine
        mine.ids = ids
        mine.numbers.append(number)
        self.owners[mine.op] = mine
        return True

    def _is_safe(self, ids: TileIds, number: int) -> bool:
        before = ids.left.get(number)
        if before is None:
            return True
        # Where reuse is let pass, ids go round as they are freed; a cycle is never over.
        return not self._may_run(before) if self.in_flight == "error" else before.endless is None

    def _may_run(self, before: Holder) -> bool:
        """Whether what had an id last may still run: it was given up without any wait since it started."""
        return before.endless is not None or before.waits == self.waits()

    def _tell_in_flight(self, op: Operation, number: int, before: Holder) -> bool:
        """Whether reuse in flight is let pass."""
        if self.in_flight == "off":
            return True
        text = f"reuses buffer descriptor ID {number} while the task that had it "
        if before.endless is not None:
            text += "still runs: its descriptors form a cycle"
            todo = "reset its channel before (aiex.dma_channel_reset)"
        else:
            text += "may still be running: nothing was awaited since it started"
            todo = "await a task that cannot finish before that one has, or free it later"
        notes: list[OpNote] = [("that task is here", before.op)]
        if self.in_flight == "warn":
            warning(self.sink, op, f"'{op.name}' op {text}", notes, code="W1002", todo=todo)
            return True
        op_error(self.sink, op, text, notes, code=CODE, todo=todo)
        return False

    # --- giving back --------------------------------------------------------------------------------------------------

    def holder(self, task: Operation) -> Holder | None:
        """What stands for a task that holds something."""
        return self.owners.get(task)

    def release(self, task: Operation, *, promise: bool = False) -> None:
        """Give back what a task holds, by owner: ids that others have by now stay with them.

        promise: on the author's word only.
        """
        holder = self.owners.pop(task, None)
        if holder is None or holder.ids is None:
            return
        for number in holder.numbers:
            if holder.ids.held.get(number) is holder:
                del holder.ids.held[number]
                if promise:
                    holder.ids.left[number] = holder

    def stop(self, key: ChannelKey) -> None:
        """A channel was stopped, and with it what ran on it in a cycle."""
        for ids in self.tiles.values():
            for holder in (*ids.held.values(), *ids.left.values()):
                if holder.endless == key:
                    holder.endless, holder.waits = None, -1

    # --- no more ------------------------------------------------------------------------------------------------------

    def exhausted(self, task: Operation, tile: Tile, reach: range, last_start: Callable[[Operation], bool]) -> None:
        """Say that a tile has no more ids, who has them, and who could give some back.

        last_start: whether a task is not started any more.
        """
        ids = self.of(tile)
        holders: dict[Operation, list[int]] = {}
        for number in reach:
            holder = ids.held.get(number) or ids.left.get(number)
            if holder is not None:
                holders.setdefault(holder.op, []).append(number)
        kept = [n for n in reach if n in ids.reserved]
        text = (
            f"Too many simultaneously active buffer descriptors on tile ({tile[0]},{tile[1]}), which supports up to "
            f"{len(reach)}. Emit an aiex.dma_free_task / aiex.dma_await_task to reuse BDs."
        )
        notes: list[OpNote] = []
        for holder, numbers in holders.items():
            where = "; it is not started again: free or await it" if last_start(holder) else ""
            notes.append((f"this task holds {_counted(numbers)}{where}", holder))
        if kept:
            notes.append((f"the tile's own DMA program holds {_counted(kept)}", None))
        op_error(self.sink, task, text, notes[:24], code="E1003")


def _counted(numbers: Iterable[int]) -> str:
    found = list(numbers)
    return f"ID {found[0]}" if len(found) == 1 else f"{len(found)} IDs ({', '.join(map(str, found))})"
