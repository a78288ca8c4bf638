"""Which definition comes before which use, on every way through the blocks."""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue


class Dominance:
    """Answers for everything inside one op; valid while that op does not change."""

    def __init__(self, op: Operation) -> None:
        self._order: dict[Operation, int] = {inner: i for i, inner in enumerate(op.walk())}
        self._parents: dict[Region, dict[Block, Block | None]] = {}

    def reachable(self, block: Block) -> bool:
        """Whether the block can be reached from the entry of its region."""
        region = block.parent
        if region is None or region.blocks.first is block:
            return True
        return block in self._tree(region)

    def dominates(self, value: SSAValue, use: Operation) -> bool:
        """Whether the value is defined whenever `use` runs."""
        owner = value.owner
        home = owner if isinstance(owner, Block) else owner.parent
        if home is None:
            return False
        at: Operation | None = use
        while at is not None and (at.parent is None or at.parent.parent is not home.parent):
            at = at.parent_op()
        if at is None or at.parent is None:
            return False
        if at.parent is home:
            return isinstance(owner, Block) or self._order.get(owner, -1) < self._order.get(at, -1)
        return self._block_dominates(home, at.parent)

    def _block_dominates(self, first: Block, second: Block) -> bool:
        region = second.parent
        if region is None:
            return False
        tree = self._tree(region)
        if second not in tree:
            return True
        block: Block | None = second
        while block is not None:
            if block is first:
                return True
            block = tree[block]
        return False

    def _tree(self, region: Region) -> dict[Block, Block | None]:
        """The immediate dominator of each reachable block (Cooper, Harvey and Kennedy)."""
        known = self._parents.get(region)
        if known is not None:
            return known
        order = _reverse_postorder(region)
        number = {block: i for i, block in enumerate(order)}
        sources: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for target in _successors(block):
                sources[target].append(block)
        tree: list[int] = [-1] * len(order)
        if order:
            tree[0] = 0
        changed = True
        while changed:
            changed = False
            for i, block in enumerate(order[1:], 1):
                new = -1
                for source in sources[block]:
                    j = number[source]
                    if tree[j] >= 0:
                        new = j if new < 0 else _common(tree, new, j)
                if new != tree[i]:
                    tree[i] = new
                    changed = True
        found: dict[Block, Block | None] = {b: order[tree[i]] if i else None for i, b in enumerate(order)}
        self._parents[region] = found
        return found


def _common(tree: list[int], one: int, other: int) -> int:
    while one != other:
        while one > other:
            one = tree[one]
        while other > one:
            other = tree[other]
    return one


def _successors(block: Block) -> list[Block]:
    last = block.last_op
    return [] if last is None else [target for target in last.successors if target.parent is block.parent]


def _reverse_postorder(region: Region) -> list[Block]:
    entry = region.blocks.first
    if entry is None:
        return []
    seen = {entry}
    done: list[Block] = []
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(_successors(target))))
                break
        else:
            done.append(block)
            stack.pop()
    return done[::-1]
