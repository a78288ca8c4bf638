"""`aie-objectFifo-unroll`: loops over objectFifos are unrolled until each object is one buffer, and all is folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import MemRefType, UnitAttr
from xdsl.dialects.memref import AllocaOp
from xdsl.dialects.scf import ForOp
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp, DmaProgram
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.constraints import number
from aiecc.ir.fifo.marks import OBJECT, UNROLL
from aiecc.ir.fold import fold, tidy
from aiecc.ir.fold.locks import drop_held, open_locks, uses_of_locks
from aiecc.ir.fold.loops import known_number, trip_count
from aiecc.ir.fold.promote import promote
from aiecc.ir.fold.rotation import resolve
from aiecc.ir.fold.trial import Trial
from aiecc.ir.fold.unroll import peel_first, unroll_by, unroll_full
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.constants import gather_constants
from aiecc.ir.passes.report import op_error, warning

PEELED = "aie.objectfifo.peel_tried"
"""On a loop, while the pass runs: its first round was taken out, or that did not help."""

MOST_COPIED = 20_000
"""How many operations one loop may be unrolled into. Beyond that its objects are picked at run time."""


@dataclass(frozen=True)
class ObjectFifoUnroll(Pass):
    """Copy the bodies of loops until the rotation of their objects comes round, and fold what is known then.

    Cores that are lowered dynamically keep their loops. Either way the objects' slots become SSA values where every
    object then is one buffer, and stay in memory otherwise.
    """

    name: ClassVar[str] = "aie-objectFifo-unroll"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Unroll loops over objectFifos and fold their bookkeeping"

    default_dynamic: bool = option(default=False, help="leave loops rolled in cores that do not say otherwise")
    peel_first_iteration: str = option(
        default="auto", help="take a loop's first round out where that makes lock values constant: true, false or auto"
    )

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        if self.peel_first_iteration not in ("true", "false", "auto"):
            text = f'invalid peel-first-iteration value \'{self.peel_first_iteration}\'; expected "true", "false" or '
            op_error(sink, op, text + '"auto"')
            return
        peel = not self.default_dynamic if self.peel_first_iteration == "auto" else self.peel_first_iteration == "true"
        for inner in list(op.block.ops):
            if isinstance(inner, CoreOp) and inner.body.blocks:
                self._core(inner, peel, op.target.semaphore_locks, sink)
            elif isinstance(inner, DmaProgram):
                gather_constants(inner)

    def _core(self, core: CoreOp, peel: bool, counting: bool, sink: Sink) -> None:
        slots = [op for op in core.walk() if isinstance(op, AllocaOp) and OBJECT in op.attributes]
        hinted = [op for op in _inner_first(core) if UNROLL in op.attributes]
        if not slots and not hinted:
            if next(uses_of_locks(core), None) is None:
                gather_constants(core)
                return
            # What this pass made is in this form, and stays as it is.
            if not tidy(core):
                return
        own = core.properties.get("dynamic_objfifo_lowering")
        dynamic = self.default_dynamic if own is None else core.dynamic_objfifo_lowering
        if not dynamic:
            unroll_hinted(core, sink)
        for op in core.walk():
            op.attributes.pop(UNROLL, None)
        settle_objects(core, [slot for slot in slots if not dynamic or _is_straight(core, slot)])
        if peel:
            peel_open_loops(core)
        if not counting:
            drop_held(core)
        for op in core.walk():
            op.attributes.pop(OBJECT, None)
        tidy(core)


# --- unrolling --------------------------------------------------------------------------------------------------------


def unroll_hinted(core: Operation, sink: Sink) -> None:
    """Unroll the loops of a core that have a hint, inner ones first."""
    for loop in list(_inner_first(core)):
        factor = number(loop.attributes.pop(UNROLL, None)) or 1
        if factor <= 1:
            continue
        trips = trip_count(loop)
        copies = factor if trips is None else min(factor, trips)
        size = sum(1 for _ in loop.walk())
        if copies * size > MOST_COPIED:
            text = f"objectFifo loop stays rolled: its {size} operations would be copied {copies} times"
            warning(sink, loop, text)
        elif trips is not None and trips <= factor:
            if not unroll_full(loop):
                op_error(sink, loop, f"failed to fully unroll objectFifo loop (trip count {trips})")
        else:
            rest = unroll_by(loop, factor)
            if rest is not None and trip_count(rest) is not None:
                unroll_full(rest)


def _inner_first(core: Operation) -> Iterator[Operation]:
    """The `scf.for` loops of a core, each after those inside it."""
    for region in core.regions:
        for block in region.blocks:
            for op in block.ops:
                yield from _inner_first(op)
                if isinstance(op, ForOp):
                    yield op


# --- objects ----------------------------------------------------------------------------------------------------------


def _is_straight(core: CoreOp, slot: Operation) -> bool:
    """Whether a slot is only used by straight-line code."""
    block = core.body.blocks[0]
    alone = block.next_block is None
    return alone and slot.parent is block and all(use.operation.parent is block for use in slot.results[0].uses)


def settle_objects(core: CoreOp, slots: list[AllocaOp]) -> None:
    """Fold a core with its objects as SSA values, where each of them is one buffer then; otherwise with them in memory.
    Slots that are not given stay in memory.
    """
    if core.body.blocks[0].next_block is not None:
        _try_promoting(core, slots)
        return
    settled = resolve(core, slots)
    fold(core)
    # What decides where objects go may itself have had to be folded.
    if not settled and resolve(core, [slot for slot in slots if slot.parent is not None]):
        tidy(core)


def _try_promoting(core: CoreOp, slots: list[AllocaOp]) -> None:
    """The same for a core whose blocks branch."""
    if not slots:
        fold(core)
        return
    before = picked(core)
    trial = Trial(core)
    left = promote(core, slots)
    fold(core)
    if left or picked(core) > before:
        trial.undo()
        fold(core)
    else:
        trial.keep()


def picked(program: Operation) -> int:
    """How many memrefs are chosen at run time: by a block's or loop's arguments, by branches and selects."""
    count = 0
    for op in program.walk():
        if op is program:
            continue
        if op.regions or op.name == "arith.select":
            count += _memrefs(op.results)
        for region in op.regions:
            count += sum(_memrefs(block.args) for block in region.blocks)
    return count + sum(_memrefs(block.args) for region in program.regions for block in region.blocks)


def _memrefs(values: Sequence[SSAValue]) -> int:
    return sum(1 for value in values if isinstance(value.type, MemRefType))


# --- peeling ----------------------------------------------------------------------------------------------------------


def peel_open_loops(core: CoreOp) -> None:
    """Take the first round out of loops whose lock values depend on it, where they no longer do so then."""
    while open_now := open_locks(core):
        loop = next((loop for loop in _inner_first(core) if _worth_peeling(loop)), None)
        if loop is None:
            break
        loop.attributes[PEELED] = UnitAttr()
        trial = Trial(core)
        if peel_first(loop) and fold(core) and open_locks(core) < open_now:
            trial.keep()
        else:
            trial.undo()
    for op in core.walk():
        op.attributes.pop(PEELED, None)


def _worth_peeling(loop: Operation) -> bool:
    """Whether a loop is known to run more than once, starts with something known, and uses a lock in a way that is not.

    One whose count is not known may not run at all: its first round could only be taken out together with that
    question, and then what the rest starts with depends on the answer. And where nothing is known of what the first
    round starts with, taking it out only makes a second copy of what is open.
    """
    if PEELED in loop.attributes or all(known_number(value) is None for value in loop.operands[3:]):
        return False
    trips = trip_count(loop)
    return trips is not None and trips > 1 and open_locks(loop) > 0
