"""What the slots of a program hold, where that is one value each time they are read.

The slots of an objectFifo hold buffers in rotation. After unrolling, a loop brings each of them back to what it was,
and every load reads the same buffer in every round: then the loads are those buffers, and the slots can go.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from aiecc.ir.fold.loops import body_of, known_number, trip_count
from aiecc.ir.fold.structured import case_region

State = dict[Operation, SSAValue | None]
"""By slot, the value it holds; None is one of several, or nobody knows."""


def resolve(program: Operation, slots: Sequence[Operation]) -> bool:
    """Put what slots hold in place of the loads that read them, and remove the slots.

    False, and nothing changed, unless every load that anyone but the slots themselves sees reads one value that exists
    before the program starts, or is made in its first block. The program has to be structured: `scf.for`, `if`,
    `while` and `index_switch`, one block each.
    """
    if not slots:
        return True
    reading = _Reading(program, slots)
    if not all(reading.is_eligible(slot) for slot in slots) or not reading.run():
        return False
    for load, value in reading.loads.items():
        if value is not None:
            load.results[0].replace_all_uses_with(value)
    for slot in slots:
        for use in list(slot.results[0].uses):
            use.operation.detach()
            use.operation.erase(safe_erase=False)
        slot.detach()
        slot.erase()
    return True


class _Reading:
    def __init__(self, program: Operation, slots: Sequence[Operation]) -> None:
        self.program = program
        self.first = program.regions[0].blocks[0]
        self.slots = set(slots)
        self.loads: State = {}
        self.touching: set[Operation] = set()
        """The operations with regions that have a use of a slot inside."""

    def is_eligible(self, slot: Operation) -> bool:
        """Whether a slot is only loaded and stored, inside operations whose order is known."""
        for use in slot.results[0].uses:
            op = use.operation
            if not (op.name == "memref.load" or (op.name == "memref.store" and use.index == 1)):
                return False
            around = op.parent_op()
            while around is not None and around is not self.program and around not in self.touching:
                if around.name not in _RULES or any(len(region.blocks) > 1 for region in around.regions):
                    return False
                self.touching.add(around)
                around = around.parent_op()
        return slot.parent is self.first

    def run(self) -> bool:
        """Read through the program. Says whether all that is seen of the slots is known."""
        if self.first.next_block is not None:
            return False
        self._block(self.first, {})
        # A load that is missing is in code that never runs: tidying removes it.
        return all(
            (use.operation in self.loads and self.loads[use.operation] is not None) or not self._is_seen(use.operation)
            for slot in self.slots
            for use in slot.results[0].uses
        )

    def _is_seen(self, load: Operation) -> bool:
        """Whether what a load reads goes anywhere but into slots."""
        return any(
            use.operation.name != "memref.store" or use.index != 0 or use.operation.operands[1].owner not in self.slots
            for result in load.results
            for use in result.uses
        )

    def _block(self, block: Block, state: State) -> State:
        """What the slots hold after a block."""
        for op in block.ops:
            if op.name == "memref.load":
                slot = op.operands[0].owner
                if slot in self.slots and isinstance(slot, Operation):
                    self.loads[op] = self._join(self.loads.get(op, state.get(slot)), state.get(slot))
            elif op.name == "memref.store":
                slot = op.operands[1].owner
                if slot in self.slots and isinstance(slot, Operation):
                    state[slot] = self._value(op.operands[0])
            elif op in self.touching:
                state = _RULES[op.name](self, op, state)
        return state

    def _value(self, value: SSAValue) -> SSAValue | None:
        """What a value is that is stored: itself, if it is the same whenever it is looked at."""
        owner = value.owner
        if isinstance(owner, Operation) and owner in self.loads:
            return self.loads[owner]
        block = owner if isinstance(owner, Block) else owner.parent
        if block is self.first:
            return value
        while block is not None:
            around = block.parent_op()
            if around is self.program:
                return None
            block = None if around is None else around.parent
        return value

    @staticmethod
    def _join(one: SSAValue | None, other: SSAValue | None) -> SSAValue | None:
        return one if one is other else None

    def _joined(self, states: Sequence[State]) -> State:
        first, *others = states
        return {slot: value for slot, value in first.items() if all(other.get(slot) is value for other in others)}

    def for_loop(self, op: Operation, state: State) -> State:
        trips = trip_count(op)
        if trips == 0:
            return state
        after = self._around(op, state)
        return after if trips else self._joined([state, after])

    def _around(self, op: Operation, state: State, region: int = 0) -> State:
        """The state at the end of a block that may be entered again with the state at its end."""
        while True:
            after = self._block(body_of(op, region), dict(state))
            if op.name == "scf.for" and trip_count(op) == 1:
                return after
            entry = self._joined([state, after])
            if entry == state:
                return after
            state = entry

    def while_loop(self, op: Operation, state: State) -> State:
        while True:
            middle = self._block(body_of(op, 0), dict(state))
            after = self._block(body_of(op, 1), dict(middle))
            entry = self._joined([state, after])
            if entry == state:
                return middle
            state = entry

    def branch(self, op: Operation, state: State) -> State:
        condition = known_number(op.operands[0])
        ends: list[State] = []
        for taken, region in zip((True, False), op.regions, strict=True):
            if condition is None or bool(condition) is taken:
                ends.append(self._block(region.block, dict(state)) if region.blocks else state)
        return self._joined(ends)

    def switch(self, op: Operation, state: State) -> State:
        value = known_number(op.operands[0])
        regions = list(op.regions) if value is None else [case_region(op, value)]
        return self._joined([self._block(region.block, dict(state)) for region in regions])


_RULES = {
    "scf.for": _Reading.for_loop,
    "scf.while": _Reading.while_loop,
    "scf.if": _Reading.branch,
    "scf.index_switch": _Reading.switch,
}
