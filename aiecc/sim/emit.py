"""Core bodies as Python: every function becomes a generator that yields where the core may stand still.

Generated code runs many times faster than an interpreter over ops. Each line remembers the op it came from, so a trap
or a wait names the user's line at no cost while running.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from aiecc.base.diag import refuse
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.spans import span_of
from aiecc.sim import affine, memrefs, vectors
from aiecc.sim.scalars import NotModelled, literal, scalar


class World(Protocol):
    """What code refers to from outside of itself."""

    def value(self, value: SSAValue) -> object:
        """The buffer view or lock behind a value made outside; raises NotModelled."""
        ...

    def view_of_global(self, op: Operation, name: str) -> object: ...

    def function(self, op: Operation, name: str) -> tuple[Any, bool]:
        """What a call calls, and whether it is a generator of ours rather than a kernel model."""
        ...


class Emitter:
    """Writes one function. `text` and `spans` go together line by line, `names` are the objects it refers to."""

    def __init__(self, world: World, name: str, names: dict[str, Any]) -> None:
        self.world = world
        self.name = name
        self.names = names
        self.text: list[str] = []
        self.spans: list[Span | None] = []
        self._depth = 0
        self._at: Span | None = None
        self._locals: dict[SSAValue, str] = {}
        self._blocks: dict[Block, int] = {}

    # --- lines and names ----------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.text.append("    " * self._depth + text)
        self.spans.append(self._at)

    def local(self, value: SSAValue) -> str:
        """A name for a value made here."""
        return self._locals.setdefault(value, f"v{len(self._locals)}")

    def use(self, value: SSAValue) -> str:
        """What a use of a value reads."""
        found = self._locals.get(value)
        if found is None:
            owner = value.owner
            found = literal(owner.value) if isinstance(owner, ConstantOp) else self.bind(self.world.value(value))
            self._locals[value] = found
        return found

    def uses(self, values: Sequence[SSAValue]) -> list[str]:
        return [self.use(v) for v in values]

    def bind(self, thing: object) -> str:
        """A name for an object of the model."""
        name = f"k{len(self.names)}"
        self.names[name] = thing
        return name

    def assign(self, targets: Sequence[SSAValue], values: Sequence[str]) -> None:
        if targets:
            self.line(f"{', '.join(map(self.local, targets))} = {', '.join(values)}")

    # --- structure ----------------------------------------------------------------------------------------------------

    def function(self, region: Region) -> None:
        """The whole function, from its `def` on."""
        entry = region.blocks[0]
        self.line(f"def {self.name}({', '.join(['me', *map(self.local, entry.args)])}):")
        self._depth += 1
        if len(region.blocks) == 1:
            self.block(entry)
        else:
            self._graph(region)
        self.line("return")
        self.line("yield None")
        self._depth -= 1

    def _graph(self, region: Region) -> None:
        blocks = list(region.blocks)
        self._blocks = {block: i for i, block in enumerate(blocks)}
        self.line("at = 0")
        self.line("while True:")
        self._depth += 1
        self._turn()
        self._choice(blocks, 0, len(blocks))
        self._depth -= 1

    def _choice(self, blocks: Sequence[Block], low: int, high: int) -> None:
        """One of the blocks from `low` to before `high`, found by halving: long chains of `elif` nest too deeply."""
        if high - low == 1:
            self.block(blocks[low])
            return
        middle = (low + high) // 2
        for head, first, last in ((f"if at < {middle}:", low, middle), ("else:", middle, high)):
            self.line(head)
            self._depth += 1
            self._choice(blocks, first, last)
            self._depth -= 1

    def _turn(self) -> None:
        """A loop without locks must let others run, too, and must not outlive the limit."""
        self.line("me.ticks += 1")
        self.line("if not me.ticks & 1023: yield None")

    def block(self, block: Block) -> None:
        """All ops of a block but a structured terminator, which the op around it handles."""
        before = self._at
        for op in block.ops:
            self._at = span_of(op) or before
            try:
                self.op(op)
            except NotModelled as why:
                refuse(f"the array model cannot execute '{op.name}': {why}", span_of(op))
        self._at = before

    def nested(self, block: Block) -> None:
        self._depth += 1
        start = len(self.text)
        self.block(block)
        if len(self.text) == start:
            self.line("pass")
        self._depth -= 1

    def op(self, op: Operation) -> None:
        dialect, _, _ = op.name.partition(".")
        if dialect in ("arith", "index", "math"):
            expression = scalar(op, self.uses(op.operands))
            if expression is not None:
                self.assign(op.results, [expression])
                return
        emit = _DIALECTS.get(dialect)
        if emit is not None:
            emit(self, op)
            return
        handler = _HANDLERS.get(op.name)
        if handler is None:
            hint = "lower it first" if "objectfifo" in op.name else "it has no meaning here yet"
            raise NotModelled(hint)
        handler(self, op)

    # --- functions ----------------------------------------------------------------------------------------------------

    def call(self, op: Operation) -> None:
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        target, ours = self.world.function(op, callee.root_reference.data)
        name = self.bind(target)
        args = ", ".join(self.uses(op.operands))
        call = f"(yield from {name}[0](me, {args}))" if ours else f"{name}({args})"
        if op.results:
            self.line(
                f"{', '.join(map(self.local, op.results))}{',' if len(op.results) == 1 and ours else ''} = {call}"
            )
        else:
            self.line(call)

    def ret(self, op: Operation) -> None:
        values = "".join(f"{name}, " for name in self.uses(op.operands))
        self.line(f"return ({values})" if values else "return ()")

    def end(self, op: Operation) -> None:
        self.line("return")

    # --- branches -----------------------------------------------------------------------------------------------------

    def _go(self, block: Block, values: Sequence[SSAValue]) -> None:
        self.assign(block.args, self.uses(values))
        self.line(f"at = {self._blocks[block]}")

    def branch(self, op: Operation) -> None:
        self._go(op.successors[0], op.operands)

    def cond_branch(self, op: Operation) -> None:
        first = len(op.successors[0].args)
        operands = list(op.operands)
        self.line(f"if {self.use(operands[0])}:")
        for number, values in enumerate((operands[1 : 1 + first], operands[1 + first :])):
            if number:
                self.line("else:")
            self._depth += 1
            self._go(op.successors[number], values)
            self._depth -= 1

    def switch(self, op: Operation) -> None:
        """The flag, then the default's operands, then those of each case in turn."""
        values, counts = op.properties.get("case_values"), op.properties["case_operand_segments"]
        assert isinstance(counts, DenseArrayBase)
        cases = [int(v) for v in values.get_values()] if isinstance(values, DenseIntOrFPElementsAttr) else []
        flag = self.use(op.operands[0])
        at = 1 + len(op.successors[0].args)
        fallback = op.operands[1:at]
        word = "if"
        for value, count, block in zip(cases, counts.get_values(), op.successors[1:], strict=True):
            self.line(f"{word} {flag} == {value}:")
            self._depth += 1
            self._go(block, op.operands[at : at + int(count)])
            self._depth -= 1
            at += int(count)
            word = "elif"
        self.line("if True:" if word == "if" else "else:")
        self._depth += 1
        self._go(op.successors[0], fallback)
        self._depth -= 1

    # --- structured control flow --------------------------------------------------------------------------------------

    def loop(self, op: Operation) -> None:
        low, high, step, *inits = self.uses(op.operands)
        self.counted(op, low, high, f"positive({step})", inits)

    def counted(self, op: Operation, low: str, high: str, step: str, inits: Sequence[str]) -> None:
        """A loop over a range; its values are `inits`, then what the body yields."""
        body = op.regions[0].block
        index, *carried = body.args
        self.assign(carried, inits)
        self.line(f"for {self.local(index)} in range({low}, {high}, {step}):")
        self._depth += 1
        self._turn()
        self._depth -= 1
        self.nested(body)
        last = body.last_op
        if carried and last is not None:
            self._depth += 1
            self.assign(carried, self.uses(last.operands))
            self._depth -= 1
        self.assign(op.results, [self.local(c) for c in carried])

    def while_(self, op: Operation) -> None:
        before, after = op.regions[0].block, op.regions[1].block
        self.assign(before.args, self.uses(op.operands))
        self.line("while True:")
        self._depth += 1
        self._turn()
        self.block(before)
        condition = before.last_op
        assert condition is not None
        flag, *values = self.uses(condition.operands)
        self.line(f"if not {flag}:")
        self._depth += 1
        self.assign(op.results, values)
        self.line("break")
        self._depth -= 1
        self.assign(after.args, values)
        self.block(after)
        last = after.last_op
        assert last is not None
        self.assign(before.args, self.uses(last.operands))
        self._depth -= 1

    def arm(self, op: Operation, region: Region) -> None:
        """One region of a choice; what it yields becomes the op's results."""
        if region.blocks:
            self.nested(region.block)
            last = region.block.last_op
            if last is not None and op.results:
                self._depth += 1
                self.assign(op.results, self.uses(last.operands))
                self._depth -= 1
        else:
            self._depth += 1
            self.line("pass")
            self._depth -= 1

    def if_(self, op: Operation) -> None:
        self.choice(op, self.use(op.operands[0]))

    def choice(self, op: Operation, condition: str) -> None:
        """Two regions, the second perhaps empty."""
        self.line(f"if {condition}:")
        self.arm(op, op.regions[0])
        self.line("else:")
        self.arm(op, op.regions[1])

    def index_switch(self, op: Operation) -> None:
        cases = op.properties["cases"]
        assert isinstance(cases, DenseArrayBase)
        word = "if"
        for value, region in zip(cases.get_values(), op.regions[1:], strict=True):
            self.line(f"{word} {self.use(op.operands[0])} == {int(value)}:")
            self.arm(op, region)
            word = "elif"
        self.line("if True:" if word == "if" else "else:")
        self.arm(op, op.regions[0])

    def region(self, op: Operation) -> None:
        if len(op.regions[0].blocks) != 1:
            raise NotModelled("it has more than one block")
        self.line("if True:")
        self.arm(op, op.regions[0])

    # --- the array ----------------------------------------------------------------------------------------------------

    def use_lock(self, op: Operation) -> None:
        assert isinstance(op, UseLockOp)
        lock, value = self.use(op.lock), self.use(op.value)
        if op.action is LockAction.RELEASE:
            self.line(f"{lock}.give({value})")
        elif op.acq_en:
            equal = op.action is LockAction.ACQUIRE
            take = "take_equal" if equal else "take"
            self.line(f"while not {lock}.{take}({value}):")
            self._depth += 1
            self.line(f"me.need = {'~' if equal else ''}{value}; yield {lock}")
            self._depth -= 1
        self.line("yield None")

    def put_stream(self, op: Operation) -> None:
        channel, value = self.uses(op.operands)
        self.line(f"yield from me.cell.put(me, {channel}, {value}, {_word(op.operands[1])!r})")

    def get_stream(self, op: Operation) -> None:
        target = self.local(op.results[0])
        self.line(f"{target} = yield from me.cell.get(me, {self.use(op.operands[0])}, {_word(op.results[0])!r})")

    def put_cascade(self, op: Operation) -> None:
        self.line(f"yield from me.cell.put_cascade(me, {self.use(op.operands[0])})")

    def get_cascade(self, op: Operation) -> None:
        self.line(f"{self.local(op.results[0])} = yield from me.cell.get_cascade(me)")

    def nothing(self, op: Operation) -> None:
        """Terminators that the op around them handles, and ops that leave no trace here."""

    def assert_(self, op: Operation) -> None:
        message = op.properties["msg"] if "msg" in op.properties else op.attributes.get("msg", "")
        self.line(f"if not {self.use(op.operands[0])}: failed({str(message)!r})")


def _word(value: SSAValue) -> str:
    return str(value.type)


_DIALECTS: dict[str, Callable[[Emitter, Operation], None]] = {
    "memref": memrefs.emit,
    "affine": affine.emit,
    "vector": vectors.emit,
}

_HANDLERS: dict[str, Callable[[Emitter, Operation], None]] = {
    "func.call": Emitter.call,
    "func.return": Emitter.ret,
    "aie.end": Emitter.end,
    "cf.br": Emitter.branch,
    "cf.cond_br": Emitter.cond_branch,
    "cf.switch": Emitter.switch,
    "cf.assert": Emitter.assert_,
    "scf.for": Emitter.loop,
    "scf.while": Emitter.while_,
    "scf.if": Emitter.if_,
    "scf.index_switch": Emitter.index_switch,
    "scf.execute_region": Emitter.region,
    "scf.yield": Emitter.nothing,
    "scf.condition": Emitter.nothing,
    "aie.use_lock": Emitter.use_lock,
    "aie.put_stream": Emitter.put_stream,
    "aie.get_stream": Emitter.get_stream,
    "aie.put_cascade": Emitter.put_cascade,
    "aie.get_cascade": Emitter.get_cascade,
    "aie.event": Emitter.nothing,
    "aie.debug": Emitter.nothing,
}
