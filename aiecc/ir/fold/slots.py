"""What a program does with its rank-0 slots: which can become values, and where each is live.

A slot is a `memref.alloca` without dimensions. `Slots` holds the facts that `promote` needs, found once: for every
block and every structured op that touches slots, which of them it may read before writing them, which it surely
writes, which it may write; and which are read after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import cf
from xdsl.dialects.memref import AllocaOp, LoadOp, StoreOp
from xdsl.dialects.scf import ConditionOp, ExecuteRegionOp, ForOp, IfOp, IndexSwitchOp, WhileOp, YieldOp
from xdsl.ir import Block, Operation, Region

STRUCTURED = (ForOp, WhileOp, IfOp, IndexSwitchOp, ExecuteRegionOp)
BRANCHES = (cf.BranchOp, cf.ConditionalBranchOp, cf.SwitchOp)
Slot = Operation
SlotSet = set[Slot]


@dataclass
class Uses:
    """Of some code: slots it may read before it writes them, surely writes, may write."""

    reads: SlotSet = field(default_factory=set[Slot])
    writes: SlotSet = field(default_factory=set[Slot])
    touches: SlotSet = field(default_factory=set[Slot])

    def then(self, other: Uses) -> None:
        """Add what follows."""
        self.reads |= other.reads - self.writes
        self.writes |= other.writes
        self.touches |= other.touches


_NONE = Uses()


class Slots:
    """The facts about some slots of a program, `chosen` being those that can become values.

    after[op]: of the slots a structured op may write, those that are read after it.
    live_in[block]: for a block among several, the slots that are read in it or later, before they are written.
    """

    def __init__(self, core: Operation, slots: Sequence[Operation]) -> None:
        self.core = core
        self.order: dict[Slot, int] = {slot: i for i, slot in enumerate(slots)}
        self.after: dict[Operation, SlotSet] = {}
        self.live_in: dict[Block, SlotSet] = {}
        self.flows: dict[Region, Flow] = {}
        self.touched: set[Operation] = set()
        self._uses: dict[Block | Operation, Uses] = {}
        self._fit: dict[Region, bool] = {}
        self._unset: SlotSet = set()
        for region in self._graphs(slots):
            drop_unreachable(region)
        self._homes: dict[Region, list[Slot]] = {}
        self.chosen: SlotSet = {slot for slot in slots if self._eligible(slot)}
        for slot in sorted(self.chosen, key=self.order.__getitem__):
            self._note(slot)
        for region in core.regions:
            self._live(region, set())
        self.chosen -= self._unset

    def ordered(self, slots: Iterable[Slot]) -> list[Slot]:
        """Those of some slots that become values, in the order the caller gave them."""
        return sorted(self.chosen.intersection(slots), key=self.order.__getitem__)

    # --- which slots --------------------------------------------------------------------------------------------------

    def _graphs(self, slots: Sequence[Operation]) -> Iterator[Region]:
        """The regions of several blocks in which slots are used, each once."""
        seen: set[Region] = set()
        for slot in slots:
            for use in slot.results[0].uses if slot.results else ():
                at = use.operation.parent
                while at is not None and (region := at.parent) is not None and region not in seen:
                    seen.add(region)
                    if len(region.blocks) > 1:
                        yield region
                    around = region.parent
                    at = None if around is None or around is self.core else around.parent

    def _eligible(self, slot: Operation) -> bool:
        """Whether a slot is only loaded and stored, from where values can follow."""
        home = slot.parent_region()
        if not isinstance(slot, AllocaOp) or slot.operands or home is None or not self._inside(slot):
            return False
        if slot.memref.type.get_shape() or not self._fits(home):
            return False
        return all(self._direct(use.operation, use.index, home) for use in slot.memref.uses)

    def _inside(self, op: Operation) -> bool:
        at = op.parent_op()
        while at is not None and at is not self.core:
            at = at.parent_op()
        return at is self.core

    def _direct(self, op: Operation, index: int, home: Region) -> bool:
        """Whether a use is a load or a store of the slot, below nothing but scf branches and loops."""
        if not (isinstance(op, LoadOp) or (isinstance(op, StoreOp) and index == 1)):
            return False
        region = op.parent_region()
        while region is not None and region is not home:
            around = region.parent
            if not isinstance(around, STRUCTURED) or not self._fits(region):
                return False
            region = around.parent_region()
        return region is home

    def _fits(self, region: Region) -> bool:
        """Whether values can follow the control flow among a region's blocks and out of it."""
        known = self._fit.get(region)
        if known is None:
            known = self._fit[region] = _followed(region)
        return known

    def _note(self, slot: Slot) -> None:
        home = slot.parent_region()
        assert home is not None
        self._homes.setdefault(home, []).append(slot)
        for op in (slot, *(use.operation for use in slot.results[0].uses)):
            around = op.parent_op()
            while around is not None and around is not self.core and around not in self.touched:
                self.touched.add(around)
                around = around.parent_op()

    # --- what code does, inside out -----------------------------------------------------------------------------------

    def uses(self, code: Block | Operation) -> Uses:
        """What a block, or one op with all that is inside it, does with the slots."""
        known = self._uses.get(code)
        if known is None:
            known = self._uses[code] = self._of_block(code) if isinstance(code, Block) else self._of_op(code)
        return known

    def accessed(self, op: Operation) -> Slot | None:
        """The slot that an op loads, stores or makes."""
        if isinstance(op, LoadOp | StoreOp):
            owner = op.memref.owner
            return owner if isinstance(owner, AllocaOp) and owner in self.chosen else None
        return op if op in self.chosen else None

    def _of_block(self, block: Block) -> Uses:
        found = Uses()
        for op in block.ops:
            slot = self.accessed(op)
            if slot is not None:
                if isinstance(op, LoadOp):
                    if slot not in found.writes:
                        found.reads.add(slot)
                else:
                    # Making a slot ends what was there before, as writing does.
                    found.writes.add(slot)
                    if isinstance(op, StoreOp):
                        found.touches.add(slot)
            elif op in self.touched:
                found.then(self.uses(op))
        return found

    def _of_op(self, op: Operation) -> Uses:
        parts = [self._of_region(region) for region in op.regions]
        if isinstance(op, ForOp):
            return Uses(parts[0].reads, set(), parts[0].touches)
        if isinstance(op, WhileOp):
            before, after = parts
            reads = before.reads | (after.reads - before.writes)
            return Uses(reads, before.writes, before.touches | after.touches)
        if isinstance(op, IfOp | IndexSwitchOp | ExecuteRegionOp):
            return Uses(
                set[Slot]().union(*(p.reads for p in parts)),
                set[Slot].intersection(*(p.writes for p in parts)),
                set[Slot]().union(*(p.touches for p in parts)),
            )
        return _NONE

    def _of_region(self, region: Region) -> Uses:
        """What a region does with slots from outside of it."""
        if not region.blocks:
            return _NONE
        if len(region.blocks) == 1:
            whole = self.uses(region.blocks[0])
        else:
            flow = self.flow(region)
            live = self._flow_live(flow, set())
            touches = set[Slot]().union(*(self.uses(block).touches for block in flow.order))
            whole = Uses(live[flow.order[0]], self._sure(flow), touches)
        own = self._homes.get(region)
        if own is None:
            return whole
        return Uses(whole.reads.difference(own), whole.writes.difference(own), whole.touches.difference(own))

    def flow(self, region: Region) -> Flow:
        known = self.flows.get(region)
        if known is None:
            known = self.flows[region] = Flow(region)
        return known

    def _sure(self, flow: Flow) -> SlotSet:
        """Slots written on every way from a region's entry out of it."""
        done: dict[Block, SlotSet] = {}
        changed = True
        while changed:
            changed = False
            for block in flow.order:
                into = [done[source] for source in flow.sources[block] if source in done]
                found = (set[Slot].intersection(*into) if into else set[Slot]()) | self.uses(block).writes
                if done.get(block) != found:
                    done[block] = found
                    changed = True
        ends = [done[block] for block in flow.order if not flow.targets[block]]
        return set[Slot].intersection(*ends) if ends else set()

    def _flow_live(self, flow: Flow, out: SlotSet) -> dict[Block, SlotSet]:
        """What is live at the start of each block, when `out` is live behind the region."""
        live: dict[Block, SlotSet] = {}
        waiting = dict.fromkeys(reversed(flow.order))
        while waiting:
            block = next(iter(waiting))
            del waiting[block]
            uses = self.uses(block)
            found = uses.reads | (self._live_behind(flow, live, block, out) - uses.writes)
            if live.get(block) != found:
                live[block] = found
                waiting.update(dict.fromkeys(flow.sources[block]))
        return live

    def _live_behind(self, flow: Flow, live: dict[Block, SlotSet], block: Block, out: SlotSet) -> SlotSet:
        targets = flow.targets[block]
        if not targets:
            return set(out)
        return set[Slot]().union(*(live.get(target, ()) for target in targets))

    # --- what is read later, outside in -------------------------------------------------------------------------------

    def _live(self, region: Region, out: SlotSet) -> None:
        if not region.blocks:
            return
        if len(region.blocks) == 1:
            self._live_block(region.blocks[0], set(out))
            return
        flow = self.flow(region)
        live = self._flow_live(flow, out)
        self.live_in.update(live)
        for block in flow.order:
            self._live_block(block, self._live_behind(flow, live, block, out))

    def _live_block(self, block: Block, live: SlotSet) -> None:
        """Go backward through a block; `live` is what is read behind it, and becomes what is read from its start."""
        for op in reversed(list(block.ops)):
            slot = self.accessed(op)
            if slot is not None:
                if isinstance(op, LoadOp):
                    live.add(slot)
                else:
                    if not isinstance(op, StoreOp) and slot in live:
                        # Somewhere it is read without having been written: that is nothing a value could be.
                        self._unset.add(slot)
                    live.discard(slot)
            elif op in self.touched:
                self._live_op(op, live)
                uses = self.uses(op)
                live -= uses.writes
                live |= uses.reads

    def _live_op(self, op: Operation, live: SlotSet) -> None:
        uses = self.uses(op)
        after = self.after[op] = live & uses.touches
        if isinstance(op, ForOp):
            self._live(op.body, after | (uses.reads & uses.touches))
        elif isinstance(op, WhileOp):
            head, tail = self.round(op)
            self._live(op.before_region, tail)
            self._live(op.after_region, head)
        else:
            for region in op.regions:
                self._live(region, after)

    def round(self, op: WhileOp) -> tuple[SlotSet, SlotSet]:
        """Of the slots a while loop may write: those live where its test starts, and those live where that ends."""
        whole = self.uses(op)
        test, rest = self._of_region(op.before_region), self._of_region(op.after_region)
        tail = self.after[op] | ((rest.reads | (test.reads - rest.writes)) & whole.touches)
        return (test.reads & whole.touches) | (tail - test.writes), tail


class Flow:
    """The blocks of a region, all of them reachable, in reverse postorder, the ways between them and dominators.

    parents: the block that comes last on every way to a block. frontiers: where a block's dominance ends.
    """

    def __init__(self, region: Region) -> None:
        self.order = reverse_postorder(region)
        self.targets: dict[Block, list[Block]] = {block: _targets(block) for block in self.order}
        self.sources: dict[Block, list[Block]] = {block: [] for block in self.order}
        for block in self.order:
            for target in dict.fromkeys(self.targets[block]):
                self.sources[target].append(block)
        self.parents = self._parents()
        self.frontiers: dict[Block, list[Block]] = {block: [] for block in self.order}
        for block in self.order:
            for source in self.sources[block]:
                at: Block | None = source
                while at is not None and at is not self.parents[block]:
                    if block not in self.frontiers[at]:
                        self.frontiers[at].append(block)
                    at = self.parents[at]

    def _parents(self) -> dict[Block, Block | None]:
        """The immediate dominator of each block (Cooper, Harvey and Kennedy)."""
        number = {block: i for i, block in enumerate(self.order)}
        tree = [0] + [-1] * (len(self.order) - 1)
        changed = True
        while changed:
            changed = False
            for i, block in enumerate(self.order[1:], 1):
                new = -1
                for source in self.sources[block]:
                    j = number[source]
                    if tree[j] < 0:
                        continue
                    if new < 0:
                        new = j
                    while new != j:
                        new, j = (tree[new], j) if new > j else (new, tree[j])
                if new != tree[i]:
                    tree[i], changed = new, True
        return {block: self.order[tree[i]] if i else None for i, block in enumerate(self.order)}


def _targets(block: Block) -> list[Block]:
    last = block.last_op
    return [] if last is None else list(last.successors)


def reverse_postorder(region: Region) -> list[Block]:
    """The blocks that can be reached from a region's entry, each after at least one that leads to it."""
    entry = region.blocks[0]
    found: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_targets(entry)))]
    while stack:
        block, targets = stack[-1]
        following = next((t for t in targets if t not in seen), None)
        if following is None:
            found.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_targets(following))))
    return found[::-1]


def drop_unreachable(region: Region) -> None:
    """Erase the blocks of a region to which no way leads."""
    alive = set(reverse_postorder(region))
    dead = [block for block in region.blocks if block not in alive]
    for block in dead:
        for op in block.ops:
            op.drop_all_references()
    for block in dead:
        region.detach_block(block)
        block.erase(safe_erase=False)


def _followed(region: Region) -> bool:
    if not region.blocks:
        return True
    around = region.parent
    if len(region.blocks) == 1:
        last = region.blocks[0].last_op
        return not isinstance(around, STRUCTURED) or isinstance(last, YieldOp | ConditionOp)
    if isinstance(around, STRUCTURED) and not isinstance(around, ExecuteRegionOp):
        return False
    for block in region.blocks:
        last = block.last_op
        if last is None or (last.successors and not isinstance(last, BRANCHES)):
            return False
        if not last.successors and isinstance(around, ExecuteRegionOp) and not isinstance(last, YieldOp):
            return False
    return True
