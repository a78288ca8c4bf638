"""How what runs on a core becomes functions, globals and calls: shared by the standard lowering and by outlining.

A core's region becomes the body of a function: `aie.end` a return, locks the numbers under which the core knows them,
buffers globals, and everything that talks to the hardware a call of an intrinsic of the architecture. Which functions
are called that way is remembered, so that they can be declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.arith import BitcastOp, ConstantOp, IndexCastOp, SubiOp
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float32Type,
    FunctionType,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.vector import BitcastOp as VectorBitcastOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import is_side_effect_free

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp, UseLockOp
from aiecc.ir.dialects.constraints import I32, INDEX, number
from aiecc.ir.passes.localize_locks import local_number
from aiecc.ir.passes.report import op_error
from aiecc.model.targets import Arch, Target

F32 = Float32Type()
I128 = IntegerType(128)
WORDS = VectorType(I32, [16])
"""What a cascade carries from AIE2 on, as the intrinsics see it."""

StandIn = Callable[[BufferOp], Sequence[Operation]]
"""Make the ops whose last result stands for a buffer."""


@dataclass(slots=True)
class CoreLowering:
    """Lowers the ops of one device's cores and functions in place.

    rename: (prefix, replacement) pairs for intrinsics the back end does not know; the dots of the rest become
    underscores. `called` collects the declarations that are needed, by name.
    """

    target: Target
    sink: Sink
    rename: Sequence[tuple[str, str]] = ()
    called: dict[str, FunctionType] = field(default_factory=dict[str, FunctionType])

    @property
    def arch(self) -> Arch:
        return self.target.arch

    # --- functions ----------------------------------------------------------------------------------------------------

    def lower_core(self, region: Region, core: CoreOp) -> None:
        """Lower a core's region, which has become the body of a function."""
        self.lower(op for block in region.blocks for op in block.walk())
        for block in region.blocks:
            end = block.last_op
            if end is not None and end.name == "aie.end":
                self._replace(end, ReturnOp())
        self._set_rounding(region, core)

    def lower(self, ops: Iterable[Operation]) -> None:
        """Lower every op that has a lowering; the others stay."""
        for op in list(ops):
            handler = _HANDLERS.get(op.name)
            if handler is not None:
                handler(self, op)

    # --- values from outside ------------------------------------------------------------------------------------------

    def stand_in(
        self, value: SSAValue, core: CoreOp, mapper: dict[SSAValue, SSAValue], made: list[Operation], buffer: StandIn
    ) -> bool:
        """Make what stands inside a core for a value from outside: a lock's number, a buffer, a copy of a constant.

        The new ops are appended to `made`, the value is entered into `mapper`. False if nothing can stand for it.
        """
        if value in mapper:
            return True
        owner = value.owner
        if isinstance(owner, LockOp):
            number = local_number(owner, core, self.target, self.sink)
            new: Sequence[Operation] = [ConstantOp(IntegerAttr(number or 0, INDEX))]
        elif isinstance(owner, BufferOp):
            new = buffer(owner)
        elif isinstance(owner, Operation) and _can_be_copied(owner):
            if not all(self.stand_in(operand, core, mapper, made, buffer) for operand in owner.operands):
                return False
            made.append(owner.clone(mapper))
            return True
        else:
            return False
        for op in new:
            op.location = owner.location
        made += new
        mapper[value] = made[-1].results[0]
        return True

    def refuse_outer(self, value: SSAValue, user: Operation) -> None:
        """Report a value that a core uses and cannot have."""
        owner = value.owner
        what = f"the result of an '{owner.name}'" if isinstance(owner, Operation) else "an argument"
        text = f"uses {what} from outside the core; only locks, buffers and constants can be used there"
        op_error(self.sink, user, text, [("it is made here", owner)] if isinstance(owner, Operation) else [])

    # --- intrinsics ---------------------------------------------------------------------------------------------------

    def call(self, name: str, operands: Sequence[SSAValue], results: Sequence[Attribute] = ()) -> CallOp:
        """A call of an intrinsic, by its own name or by what the tool chain has in its place."""
        for prefix, replacement in self.rename:
            if name.startswith(prefix):
                name = replacement + name[len(prefix) :].replace(".", "_")
                break
        self.called[name] = FunctionType.from_lists([v.type for v in operands], list(results))
        return CallOp(name, operands, results)

    def intrinsic(self, name: str) -> str:
        return f"llvm.{self.arch.value}.{name}"

    def declarations(self) -> list[FuncOp]:
        """Declarations of what `call` was asked for, in that order."""
        return [FuncOp.external(name, type.inputs.data, type.outputs.data) for name, type in self.called.items()]

    def _replace(self, op: Operation, *made: Operation, results: Sequence[SSAValue] = ()) -> None:
        """Put `made` in the place of `op`; they take its position."""
        block = op.parent_block()
        assert block is not None
        for new in made:
            new.location = op.location
            block.insert_op_before(new, op)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
        block.erase_op(op)

    # --- ops ----------------------------------------------------------------------------------------------------------

    def use_lock(self, op: Operation) -> None:
        assert isinstance(op, UseLockOp)
        name = "acquire" if op.is_acquire else "release"
        if self.arch is Arch.AIE1:
            name = f"lock.{name}.reg"
        lock = IndexCastOp(op.lock, I32)
        made: list[Operation] = [lock]
        value = op.value
        if op.action is LockAction.ACQUIRE_GREATER_EQUAL:
            # "At least n" is written as the negative of n.
            made += self._negated(op)
            value = made[-1].results[0]
        call = self.call(self.intrinsic(name), [lock.result, value])
        self._replace(op, *made, call)

    def _negated(self, op: UseLockOp) -> list[Operation]:
        known = op.constant
        if known is not None:
            return [ConstantOp(IntegerAttr(-known, I32))]
        zero = ConstantOp(IntegerAttr(0, I32))
        return [zero, SubiOp(zero.result, op.value)]

    def put_stream(self, op: Operation) -> None:
        channel, value = op.operands
        if self.arch is Arch.AIE1:
            kind = "wms" if value.type == I128 else "fms" if value.type == F32 else "ms"
            self._replace(op, self.call(self.intrinsic(f"put.{kind}"), [channel, value]))
            return
        made: list[Operation] = []
        if value.type == F32:
            made.append(BitcastOp(value, I32))
            value = made[0].results[0]
        if value.type != I32:
            self._no_intrinsic(op, "put.wms")
            return
        last = ConstantOp(IntegerAttr(0, I32))
        self._replace(op, *made, last, self.call(self.intrinsic("put.ms"), [value, last.result]))

    def get_stream(self, op: Operation) -> None:
        wanted = op.results[0].type
        if self.arch is Arch.AIE1:
            kind = "wss" if wanted == I128 else "fss" if wanted == F32 else "ss"
            call = self.call(self.intrinsic(f"get.{kind}"), [op.operands[0]], [wanted])
            self._replace(op, call, results=[call.results[0]])
            return
        if wanted not in (I32, F32):
            self._no_intrinsic(op, "get.wss")
            return
        # The second result says whether this was the last word of a packet.
        made: list[Operation] = [self.call(self.intrinsic("get.ss"), [], [I32, I32])]
        if wanted == F32:
            made.append(BitcastOp(made[0].results[0], F32))
        self._replace(op, *made, results=[made[-1].results[0]])

    def _no_intrinsic(self, op: Operation, name: str) -> None:
        op_error(self.sink, op, f"Could not find the intrinsic function {self.intrinsic(name)}")

    def put_cascade(self, op: Operation) -> None:
        value = op.operands[0]
        if self.arch is Arch.AIE1:
            self._replace(op, self.call(self.intrinsic("put.mcd"), [value]))
            return
        made: list[Operation] = []
        if value.type != WORDS:
            if not self._is_vector(op, value.type):
                return
            made.append(VectorBitcastOp(value, WORDS))
            value = made[0].results[0]
        enable = ConstantOp(IntegerAttr(1, I32))
        self._replace(op, *made, enable, self.call(self.intrinsic("mcd.write.vec"), [value, enable.result]))

    def get_cascade(self, op: Operation) -> None:
        wanted = op.results[0].type
        if self.arch is Arch.AIE1:
            call = self.call(self.intrinsic("get.scd"), [], [wanted])
            self._replace(op, call, results=[call.results[0]])
            return
        enable = ConstantOp(IntegerAttr(1, I32))
        made: list[Operation] = [enable, self.call(self.intrinsic("scd.read.vec"), [enable.result], [WORDS])]
        if wanted != WORDS:
            if not self._is_vector(op, wanted):
                return
            made.append(VectorBitcastOp(made[1].results[0], cast("VectorType[Attribute]", wanted)))
        self._replace(op, *made, results=[made[-1].results[0]])

    def _is_vector(self, op: Operation, type: Attribute) -> bool:
        if isinstance(type, VectorType):
            return True
        op_error(self.sink, op, f"must carry a vector on {self.arch.display}, got {type}")
        return False

    def event(self, op: Operation) -> None:
        which = number(op.properties.get("val")) or 0
        if self.arch is Arch.AIE1:
            self._replace(op, self.call(self.intrinsic(f"event{which}"), []))
            return
        value = ConstantOp(IntegerAttr(which, I32))
        self._replace(op, value, self.call(self.intrinsic("event"), [value.result]))

    def debug(self, op: Operation) -> None:
        value = op.operands[0]
        if value.type != I32:
            op_error(self.sink, op, f"can print an i32 only, got {value.type}")
            return
        self._replace(op, self.call("debug_i32", [value]))

    # --- rounding -----------------------------------------------------------------------------------------------------

    def _set_rounding(self, region: Region, core: CoreOp) -> None:
        """Vector code that narrows accumulators relies on the core's saturation and rounding modes: set them first."""
        mode = _rounding(region.walk())
        if mode is None or self.arch is Arch.AIE1:
            return
        rounding = 1 if self.arch is not Arch.AIE2 else 6
        block = region.blocks[0]
        first = block.first_op
        assert first is not None
        for register, value in ((9, 1), (rounding, mode)):
            numbers = [ConstantOp(IntegerAttr(n, I32)) for n in (register, value)]
            call = self.call(self.intrinsic("set.ctrl.reg"), [n.result for n in numbers])
            for made in (*numbers, call):
                made.location = core.location
                block.insert_op_before(made, first)


def outer_uses(core: CoreOp) -> dict[SSAValue, list[tuple[Operation, int]]]:
    """The values from outside that a core uses, in the order of first use, with every use (op, operand number)."""
    found: dict[SSAValue, list[tuple[Operation, int]]] = {}
    ops = list(core.body.walk())
    inside = set(ops)
    for op in ops:
        for i, value in enumerate(op.operands):
            owner = value.owner
            # A device has no block arguments: any that is used is the core's own.
            if isinstance(owner, Operation) and owner not in inside:
                found.setdefault(value, []).append((op, i))
    return found


def _can_be_copied(op: Operation) -> bool:
    return is_side_effect_free(op) and not op.regions and not op.name.startswith("aie.")


_FLOOR, _POSITIVE_INFINITY, _CONVERGENT_EVEN = 0, 9, 12


def _rounding(ops: Iterable[Operation]) -> int | None:
    """The rounding mode a core's vector code wants; None when it does not care."""
    mode: int | None = None
    for op in ops:
        if op.name in ("aievec.matmul", "aievec.matmul_aie2p") and op.operands:
            if _element(op.operands[0].type) == BFloat16Type():
                return _CONVERGENT_EVEN
        elif op.name == "aievec.srs" and op.results:
            whole = isinstance(_element(op.results[0].type), IntegerType)
            mode = _POSITIVE_INFINITY if whole else (_FLOOR if mode is None else mode)
    return mode


def _element(type: Attribute) -> Attribute:
    return type.element_type if isinstance(type, VectorType) else type


_HANDLERS: dict[str, Callable[[CoreLowering, Operation], None]] = {
    "aie.use_lock": CoreLowering.use_lock,
    "aie.put_stream": CoreLowering.put_stream,
    "aie.get_stream": CoreLowering.get_stream,
    "aie.put_cascade": CoreLowering.put_cascade,
    "aie.get_cascade": CoreLowering.get_cascade,
    "aie.event": CoreLowering.event,
    "aie.debug": CoreLowering.debug,
}
