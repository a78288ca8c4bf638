"""A kernel in the model: what one lane does with pipes, in order.

Loops stay loops; one whose counter decides a branch or an inner trip count is unrolled when its own count is known.
What a popped tile is handed to keeps being that tile.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from aiecc.api import Note, Sink, span_of
from aiecc.plugins.tpush.dialect.attrs import PtrType, TileBufType
from aiecc.plugins.tpush.dialect.pipe_ops import FreeOp, InitializePipe, PipeOp, PopOp, PushOp
from aiecc.plugins.tpush.dialect.tile_ops import ALIASES
from aiecc.plugins.tpush.kernels import Kernel
from aiecc.plugins.tpush.model import (
    Branch,
    Carry,
    Free,
    Init,
    Loop,
    Op,
    Platform,
    Pop,
    Program,
    Push,
    Site,
    Tile,
    Trips,
    Use,
    Value,
)
from aiecc.plugins.tpush.values import Values

CODE = "E1201"
UNROLLED = 20_000
"""A loop whose counter decides something is unrolled to at most so many ops."""

Held = frozenset[Value]
_NONE: Held = frozenset()


def site_of(op: Operation) -> Site:
    return Site(op.name, span_of(op))


def read_program(kernel: Kernel, platform: Platform, names: dict[SSAValue, str], lane: int, diag: Sink) -> Program:
    """What a kernel does, run on a lane. `names`: of its arguments."""
    reader = _Reader(kernel, platform, names, lane, diag)
    entry = kernel.entry
    ops = () if entry is None else reader.block(entry)
    if len(kernel.function.body.blocks) > 1:
        reader.fail(kernel.function, f"'{kernel.name}' jumps between blocks, so its pipes cannot be followed")
    return Program(kernel.name, kernel.kind, ops, site_of(kernel.function))


def tile_of(op: Operation, type: TileBufType, valid: Iterable[int | None] = ()) -> Tile:
    """A tile's type in the model. Extents known at run time only count in full; `valid` has those that are known."""
    given = [*valid, None, None]
    height, width = (
        number if said == DYNAMIC_INDEX else said
        for said, number in zip((type.valid_row.data, type.valid_col.data), given[:2], strict=True)
    )
    rows, cols = type.rows.data, type.cols.data
    return Tile(
        rows,
        cols,
        type.bytes_per_element or 0,
        type.memory,
        None if height is None or height >= rows else height,
        None if width is None or width >= cols else width,
    )


class _Reader:
    """Reads one kernel as one lane runs it."""

    def __init__(self, kernel: Kernel, platform: Platform, names: dict[SSAValue, str], lane: int, diag: Sink) -> None:
        self.kernel = kernel
        self.platform = platform
        self.names = dict(names)
        self.values = Values(self._name, lane)
        self.diag = diag
        self.held: dict[SSAValue, Held] = {}
        self.next = 0
        self.size = 0
        self.depth = 0
        self.failed: set[Operation] = set()

    def _name(self, argument: BlockArgument) -> str:
        return self.names.get(argument) or f"a value of @{self.kernel.name} {id(argument):x}"

    def fail(self, op: Operation, text: str, notes: Iterable[Note] = (), todo: str = "") -> None:
        if op not in self.failed:
            self.failed.add(op)
            self.diag.error(text, span_of(op), code=CODE, notes=notes, todo=todo)

    def fresh(self) -> Value:
        self.next += 1
        return self.next

    def read_by(self, values: Iterable[SSAValue]) -> Held:
        return _NONE.union(*(self.held.get(value, _NONE) for value in values))

    def block(self, block: Block) -> tuple[Op, ...]:
        ops: list[Op] = []
        for op in block.ops:
            if not op.has_trait(IsTerminator, value_if_unregistered=False):
                ops += self.op(op)
        self.size += len(ops)
        return tuple(ops)

    def op(self, op: Operation) -> Iterable[Op]:
        if isinstance(op, PipeOp):
            return self.transfer(op)
        if isinstance(op, InitializePipe):
            return [Init(op.number, site_of(op))]
        if isinstance(op, scf.ForOp):
            return self.loop(op)
        if isinstance(op, scf.IfOp):
            return self.branch(op)
        if op.regions:
            return self.opaque(op)
        read = self.read_by(op.operands)
        if read:
            for result in op.results:
                if isinstance(result.type, TileBufType | PtrType) or result.type.name == "memref":
                    self.held[result] = read
            if not isinstance(op, ALIASES):
                return [Use(tuple(sorted(read)), site_of(op))]
        return []

    def opaque(self, op: Operation) -> Iterable[Op]:
        """An op with regions that are not followed: it must have nothing to do with pipes, but may read tiles."""
        inside = list(op.walk())
        pipes = [each for each in inside if isinstance(each, PipeOp | InitializePipe)]
        if pipes:
            text = f"'{pipes[0].name}' stands in '{op.name}', where nobody can say how often it runs"
            self.fail(pipes[0], text, todo="write the loop as scf.for, the branch as scf.if")
        read = self.read_by(operand for each in inside for operand in each.operands)
        return [Use(tuple(sorted(read)), site_of(op))] if read else []

    def transfer(self, op: PipeOp) -> Iterable[Op]:
        split, where = op.parting, site_of(op)
        if isinstance(op, PushOp):
            assert isinstance(op.source.type, TileBufType)
            tile = tile_of(op, op.source.type)
            uses = tuple(sorted(self.read_by([op.source])))
            return [Push(op.number, op.DIRECTION, tile, split, uses, where)]
        if isinstance(op, PopOp):
            assert isinstance(op.taken.type, TileBufType)
            value = self.fresh()
            self.held[op.taken] = frozenset((value,))
            valid = [self.values.number(operand) for operand in op.operands]
            return [Pop(op.number, op.DIRECTION, tile_of(op, op.taken.type, valid), value, split, where)]
        assert isinstance(op, FreeOp)
        meant = self.read_by([op.meant]) if op.meant is not None else _NONE
        return [Free(op.number, op.DIRECTION, split, min(meant, default=None), where)]

    # --- loops and branches -------------------------------------------------------------------------------------------

    def loop(self, op: scf.ForOp) -> Iterable[Op]:
        trips = self.trips(op)
        if trips == 0:
            self._hand_on(op.results, [self.held.get(value, _NONE) for value in op.iter_args])
            return []
        counter = op.body.block.args[0]
        name = self.names[counter] = (
            f"counter {self.depth} from {self.values.text(op.lb)} by {self.values.text(op.step)}"
        )
        before = self.values.asked
        self.values.asked = set()
        self.depth += 1
        size = self.size
        found = self._rolled(op, trips)
        self.depth -= 1
        decides, self.values.asked = name in self.values.asked, before | (self.values.asked - {name})
        if decides and isinstance(trips, int):
            each = max(self.size - size, 1)
            if trips * each > UNROLLED:
                text = f"the counter of this loop decides what happens on pipes, and {trips} iterations are too many"
                self.fail(op, f"{text} to be followed one by one")
                return []
            return self._unrolled(op, trips)
        return found

    def trips(self, op: scf.ForOp) -> Trips:
        lower, upper, step = (self.values.number(value) for value in (op.lb, op.ub, op.step))
        if step is not None and step <= 0:
            self.fail(op, f"this loop has a step of {step}", todo="count upwards: a step of at least 1")
            return 0
        if lower is not None and upper is not None and step is not None:
            return max(0, -((lower - upper) // step))
        if lower == 0 and step == 1:
            return self.values.text(op.ub)
        first, last, by = (self.values.text(value) for value in (op.lb, op.ub, op.step))
        return f"({last} - {first}) / {by}"

    def _rolled(self, op: scf.ForOp, trips: Trips) -> Iterable[Op]:
        block = op.body.block
        first = [self.held.get(value, _NONE) for value in op.iter_args]
        inner = [frozenset((self.fresh(),)) for _ in op.iter_args]
        while True:
            self._hand_on(block.args[1:], inner)
            body = self.block(block)
            again = [self.held.get(value, _NONE) for value in self._yielded(block)]
            # What no iteration gets a popped tile for is none.
            idle = [bool(i) and not f and not a - i for f, i, a in zip(first, inner, again, strict=True)]
            if not any(idle):
                break
            inner = [_NONE if no else i for no, i in zip(idle, inner, strict=True)]
        carried: list[Carry] = []
        results: list[Held] = []
        for f, i, a in zip(first, inner, again, strict=True):
            if not i:
                results.append(_NONE)
                continue
            if max(len(f), len(a)) > 1:
                text = "this loop hands on one of several popped tiles, so their frees cannot be followed"
                self.fail(op, text, todo="pto.tmov the one into a tile of your own (pto.alloc_tile), and hand that on")
            result = self.fresh()
            carried.append(Carry(min(i), min(f, default=None), min(a, default=None), result))
            results.append(frozenset((result,)))
        self._hand_on(op.results, results)
        return [Loop(trips, body, tuple(carried), site_of(op))] if body or carried else []

    def _unrolled(self, op: scf.ForOp, trips: int) -> Iterable[Op]:
        block = op.body.block
        lower, step = self.values.number(op.lb), self.values.number(op.step)
        assert lower is not None and step is not None
        handed = [self.held.get(value, _NONE) for value in op.iter_args]
        ops: list[Op] = []
        for index in range(trips):
            self.values.bind(block.args[0], lower + index * step)
            self._hand_on(block.args[1:], handed)
            ops += self.block(block)
            handed = [self.held.get(value, _NONE) for value in self._yielded(block)]
        self.values.bind(block.args[0], None)
        self._hand_on(op.results, handed)
        return ops

    def branch(self, op: scf.IfOp) -> Iterable[Op]:
        condition = self.values.truth(op.cond)
        regions = [op.true_region, op.false_region]
        if condition is not None:
            chosen = regions[0 if condition else 1]
            block = chosen.blocks.first
            ops = () if block is None else self.block(block)
            if block is not None:
                self._hand_on(op.results, [self.held.get(value, _NONE) for value in self._yielded(block)])
            return ops
        made: list[tuple[Op, ...]] = []
        given: list[list[Held]] = []
        for region in regions:
            block = region.blocks.first
            made.append(() if block is None else self.block(block))
            given.append([] if block is None else [self.held.get(v, _NONE) for v in self._yielded(block)])
        for index, result in enumerate(op.results):
            held = _NONE.union(*(each[index] for each in given if index < len(each)))
            self.held[result] = held
            same = all(each[index] == held for each in given if index < len(each))
            if held and not same and self.platform is Platform.A5:
                text = "a popped tile leaves this scf.if, so nobody knows which slot it is"
                self.fail(op, text, todo="pop before the scf.if, or use the tile inside it")
        if not any(made):
            return []
        return [Branch(self.values.text(op.cond), made[0], made[1], site_of(op))]

    def _yielded(self, block: Block) -> tuple[SSAValue, ...]:
        last = block.last_op
        return tuple(last.operands) if isinstance(last, scf.YieldOp) else ()

    def _hand_on(self, values: Iterable[SSAValue], held: Iterable[Held]) -> None:
        for value, each in zip(values, held, strict=False):
            self.held[value] = each
