"""Which part of a core's code decides when it takes and gives locks and words: everything else is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import MemRefType, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

from aiecc.sim.core import symbol
from aiecc.sim.numbers import bits

SYNC = frozenset(["aie.use_lock", "aie.put_stream", "aie.get_stream", "aie.put_cascade", "aie.get_cascade"])
_LOOPS = ("scf.for", "affine.for")


def is_slot(value: SSAValue) -> bool:
    """A scalar of a core's own that is only read and written: a variable."""
    owner, type = value.owner, value.type
    if not isinstance(owner, Operation) or owner.name not in ("memref.alloca", "memref.alloc"):
        return False
    if not isinstance(type, MemRefType) or len(type.get_shape()) or bits(type.element_type) is None:
        return False
    return all(
        use.operation.name == "memref.load" or (use.operation.name == "memref.store" and use.index == 1)
        for use in value.uses
    )


def callee(op: Operation) -> FuncOp | None:
    """The function a call calls, when its code is there."""
    name = op.properties.get("callee")
    found = symbol(op, name.root_reference.data) if isinstance(name, SymbolRefAttr) else None
    return found if isinstance(found, FuncOp) and found.body.blocks else None


class Slice:
    """`kept` are the ops with regions, and the calls, that have to be walked; `needed` the values to compute.

    `syncs` says whether there is anything to walk for.
    """

    def __init__(self, region: Region) -> None:
        self.kept: set[Operation] = set()
        self.needed: set[SSAValue] = set()
        self._work: list[SSAValue] = []
        self._functions: dict[FuncOp, bool] = {}
        self._calls: dict[FuncOp, list[Operation]] = {}
        self.syncs = self._syncs(region)
        while self._work:
            self._trace(self._work.pop())

    # --- what takes and gives -----------------------------------------------------------------------------------------

    def _syncs(self, region: Region) -> bool:
        """Whether anything inside takes or gives; keeps what leads there."""
        found = False
        for block in region.blocks:
            for op in block.ops:
                found = self._sync(op) or found
        if found and len(region.blocks) > 1:
            self._branches(region)
        return found

    def _sync(self, op: Operation) -> bool:
        if op.name in SYNC:
            self._need(op.operands[:2] if op.name == "aie.use_lock" else op.operands[:1])
            return True
        if op.name == "func.call":
            function = callee(op)
            if function is None:
                return False
            self._calls.setdefault(function, []).append(op)
            if function not in self._functions:
                # A function that calls itself is looked at once.
                self._functions[function] = False
                self._functions[function] = self._syncs(function.body)
            if self._functions[function]:
                self.kept.add(op)
            return self._functions[function]
        inside = [self._syncs(region) for region in op.regions]
        if any(inside):
            self._keep(op)
        return any(inside)

    def _branches(self, region: Region) -> None:
        for block in region.blocks:
            last = block.last_op
            if last is not None and last.name in ("cf.cond_br", "cf.switch"):
                self._need(last.operands[:1])

    def _keep(self, op: Operation) -> None:
        if op in self.kept:
            return
        self.kept.add(op)
        if op.name == "scf.for":
            self._need(op.operands[:3])
        elif op.name == "scf.while":
            last = op.regions[0].block.last_op
            assert last is not None
            self._need(last.operands[:1])
        elif op.name == "affine.for":
            self._need(op.operands[: len(op.operands) - len(op.results)])
        elif op.name in ("scf.if", "scf.index_switch", "affine.if"):
            self._need(op.operands)
        for region in op.regions:
            if len(region.blocks) > 1:
                self._branches(region)

    # --- what that depends on -----------------------------------------------------------------------------------------

    def _need(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            if value not in self.needed:
                self.needed.add(value)
                self._work.append(value)

    def _trace(self, value: SSAValue) -> None:
        if isinstance(value, BlockArgument):
            self._need(self._argument(value))
        elif isinstance(value, OpResult):
            self._result(value.op, value.index)

    def _result(self, op: Operation, at: int) -> None:
        if op.name == "memref.load" and is_slot(op.operands[0]):
            self._need(use.operation.operands[0] for use in op.operands[0].uses if use.operation.name == "memref.store")
        elif op.name == "func.call":
            function = callee(op)
            if function is not None:
                self.kept.add(op)
                self._syncs_of(function)
                for block in function.body.blocks:
                    last = block.last_op
                    if last is not None and last.name == "func.return":
                        self._need(last.operands[at : at + 1])
        elif op.regions:
            self._keep(op)
            for region in op.regions:
                self._need(self._yielded(region, at))
            if op.name in _LOOPS:
                inits = len(op.operands) - len(op.results)
                self._need(op.operands[inits + at : inits + at + 1])
        elif op.name.startswith(("arith.", "index.", "affine.")):
            self._need(op.operands)

    def _syncs_of(self, function: FuncOp) -> None:
        if len(function.body.blocks) > 1:
            self._branches(function.body)

    def _yielded(self, region: Region, at: int) -> Iterator[SSAValue]:
        for block in region.blocks:
            last = block.last_op
            if last is None:
                continue
            if last.name in ("scf.yield", "affine.yield"):
                yield from last.operands[at : at + 1]
            elif last.name == "scf.condition":
                yield from last.operands[at + 1 : at + 2]

    def _argument(self, value: BlockArgument) -> Iterator[SSAValue]:
        """Where a block's argument comes from."""
        block, at = value.block, value.index
        op = block.parent_op()
        region = block.parent_region()
        if op is None or region is None:
            return
        if block is not region.blocks[0]:
            yield from _incoming(region, block, at)
        elif isinstance(op, FuncOp):
            for call in self._calls.get(op, ()):
                yield call.operands[at]
        elif op.name in _LOOPS:
            self._keep(op)
            if at:
                inits = len(op.operands) - len(op.results)
                yield op.operands[inits + at - 1]
                yield from self._yielded(region, at - 1)
        elif op.name == "scf.while":
            self._keep(op)
            if region is op.regions[0]:
                yield op.operands[at]
                yield from self._yielded(op.regions[1], at)
            else:
                yield from self._yielded(op.regions[0], at)


def _incoming(region: Region, block: Block, at: int) -> Iterator[SSAValue]:
    for other in region.blocks:
        last = other.last_op
        if last is None or block not in last.successors:
            continue
        if last.name == "cf.br":
            yield last.operands[at]
        else:
            # Which operands belong to which way is not worth telling apart here.
            yield from last.operands[1:]
