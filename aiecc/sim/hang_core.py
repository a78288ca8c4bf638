"""A core as the list of what it takes and gives, in order: its code run once, without its data.

What a core synchronises does not depend on when it runs, so the list holds for every run: some actions, then perhaps
a part that repeats for ever. Where data decides about a lock, there is no such list, and `Undecided` says where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from aiecc.base.diag import Refused
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import LockAction
from aiecc.ir.dialects.aie.memory import LockOp, UseLockOp
from aiecc.ir.spans import span_of
from aiecc.sim import affine, numbers
from aiecc.sim.emit import Emitter
from aiecc.sim.hang_slice import SYNC, Slice, callee, is_slot
from aiecc.sim.outcome import Trapped
from aiecc.sim.scalars import NotModelled, scalar

TAKE, GIVE, TAKE_EQUAL, SEND, RECEIVE, PUT, GET = range(7)
"""What an action does: locks by units, streams by bytes, cascades by words."""

FOREVER = (1 << 24) - 2
"""Loops of so many rounds are meant to run for ever: what a descriptor's repeat can count, at most."""

Action = tuple[int, int, int, "Span | None"]
"""What, with which lock, stream or cascade (its number), how much, and where the user wrote it."""


@dataclass(frozen=True)
class Trace:
    """What one actor does, in order; from `loop` on it starts over (None: it ends). `cost` is the work to find it."""

    actions: list[Action]
    loop: int | None
    cost: int = 0


class Undecided(Exception):
    """Why nothing can be said, and where."""

    def __init__(self, reason: str, where: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where


class Ports(Protocol):
    """The numbers of what a core reaches; each raises Undecided when there is none."""

    binary: bool

    def lock(self, op: LockOp) -> int: ...
    def stream_out(self, tile: tuple[int, int], channel: int) -> int: ...
    def stream_in(self, tile: tuple[int, int], channel: int) -> int: ...
    def cascade_out(self, tile: tuple[int, int]) -> int: ...
    def cascade_in(self, tile: tuple[int, int]) -> int: ...


_WAYS = frozenset(["cf.br", "cf.cond_br", "cf.switch", "func.return", "aie.end"])


class LockNumber(int):
    """Which lock, as generated code passes it on. A bare number is a lock at its hardware's index, which says less."""


class _NeedsData(Exception):
    """Something that decides about a lock depends on data."""


class _Unknown:
    """A value that only a run would know. Every use of it that could matter says so."""

    def _asked(self, *_: object) -> NoReturn:
        raise _NeedsData

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __and__ = __rand__ = __or__ = __ror__ = _asked
    __lt__ = __le__ = __gt__ = __ge__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __neg__ = __bool__ = _asked
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __index__ = __int__ = __float__ = __abs__ = _asked
    __eq__ = __ne__ = _asked
    __hash__ = object.__hash__


_U = _Unknown()


class _Over(Exception):
    """More actions than are looked at."""


class _Again(Exception):
    """The code is where it was before, with the same values: from that action on it repeats."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start


class _Recorder:
    """What generated code reports to."""

    def __init__(self, ports: Ports, tile: tuple[int, int], limit: int) -> None:
        self.t: list[Action] = []
        self.ticks = 0
        self.calls = 0
        self._ports = ports
        self._tile = tile
        self._limit = limit
        self._seen: dict[object, int] = {}
        self._heads = 0

    @property
    def cost(self) -> int:
        return max(len(self.t), self.ticks)

    def check(self) -> None:
        if self.cost > self._limit:
            raise _Over

    def head(self, loop: int, frame: int, values: Mapping[str, Any]) -> None:
        """A loop that may never end begins a round; ends the run when it did so before with the same values."""
        key = (
            loop,
            frame,
            *((n, v[0] if isinstance(v, list) else v) for n, v in values.items() if n[0] == "v" or n == "at"),
        )
        before = self._seen.get(key)
        if before is not None:
            raise _Again(before)
        self._seen[key] = len(self.t)
        # A look at all values costs as much as some actions.
        self.ticks += 16 + 2 * len(key)
        if not self._heads & 255:
            self.check()
        self._heads += 1

    def use(self, code: int, lock: int, amount: int, site: Span | None) -> None:
        if not isinstance(lock, LockNumber):
            raise Undecided(f"core {self._tile} uses a lock by a number of the hardware", site)
        # Counting locks do not change by 0; binary ones have it as a value.
        if amount or self._ports.binary:
            self.t.append((code, lock, amount, site))

    def put(self, channel: int, size: int, site: Span | None) -> None:
        self.t.append((SEND, self._ports.stream_out(self._tile, channel), size, site))

    def get(self, channel: int, size: int, site: Span | None) -> None:
        self.t.append((RECEIVE, self._ports.stream_in(self._tile, channel), size, site))

    def cascade(self, out: bool, site: Span | None) -> None:
        if out:
            self.t.append((PUT, self._ports.cascade_out(self._tile), 1, site))
        else:
            self.t.append((GET, self._ports.cascade_in(self._tile), 1, site))


class _World:
    """What the code refers to from outside of itself; implements `emit.World`."""

    def __init__(self, ports: Ports, slice: Slice, tile: tuple[int, int]) -> None:
        self.ports = ports
        self.slice = slice
        self.tile = tile
        self.spans: dict[str, list[Span | None]] = {}
        self._functions: dict[FuncOp, list[Any]] = {}

    def value(self, value: SSAValue) -> object:
        owner = value.owner
        return LockNumber(self.ports.lock(owner)) if isinstance(owner, LockOp) else _U

    def view_of_global(self, op: Operation, name: str) -> object:
        return _U

    def function(self, op: Operation, name: str) -> tuple[Any, bool]:
        found = callee(op)
        assert found is not None
        cell = self._functions.get(found)
        if cell is None:
            cell = self._functions[found] = []
            cell.append(self.compile(f"@{name}", found.body))
        return cell, True

    def compile(self, name: str, region: Any) -> Any:
        names: dict[str, Any] = {"U": _U}
        tracer = _Tracer(self, "code", names)
        tracer.function(region)
        file = f"<locks of core {self.tile} {name}>"
        self.spans[file] = tracer.spans
        space: dict[str, Any] = {**numbers.HELPERS, **names, "trips": _trips}
        exec(compile("\n".join(tracer.text), file, "exec"), space)
        return space["code"]


class _Tracer(Emitter):
    """Writes only what decides about locks and words; everything else is `U`."""

    world: _World

    def __init__(self, world: _World, name: str, names: dict[str, Any]) -> None:
        super().__init__(world, name, names)
        self._heads = 0

    def use(self, value: SSAValue) -> str:
        found = self._locals.get(value)
        if found is not None:
            return found
        owner = value.owner
        if isinstance(owner, ConstantOp) and isinstance(owner.value, IntegerAttr):
            return super().use(value)
        return self.bind(self.world.value(value)) if isinstance(owner, LockOp) else "U"

    def function(self, region: Any) -> None:
        entry = region.blocks[0]
        self.line(f"def {self.name}({', '.join(['me', *map(self.local, entry.args)])}):")
        self._depth += 1
        self.line("me.calls += 1; frame = me.calls")
        if len(region.blocks) == 1:
            self.block(entry)
        else:
            self._graph(region)
        self.line("return")
        self.line("yield None")
        self._depth -= 1

    def _turn(self) -> None:
        self.line(f"me.head({self._heads}, frame, locals())")
        self._heads += 1

    def op(self, op: Operation) -> None:
        slice = self.world.slice
        if op.name in SYNC:
            self._sync(op)
        elif op.name == "func.call":
            if op in slice.kept:
                self.call(op)
        elif op.regions:
            if op in slice.kept:
                self._region(op)
        elif op.name.startswith("memref."):
            self._memref(op)
        elif op.name in _WAYS:
            super().op(op)
        elif any(r in slice.needed for r in op.results):
            self._value(op)

    def _region(self, op: Operation) -> None:
        if op.name.startswith("affine."):
            affine.emit(self, op)
        elif op.name.startswith("scf."):
            super().op(op)
        else:
            raise Undecided(f"'{op.name}' with locks inside is not followed", span_of(op))

    def _memref(self, op: Operation) -> None:
        if op.name in ("memref.alloca", "memref.alloc"):
            if is_slot(op.results[0]):
                self.assign(op.results, ["[U]"])
        elif op.name == "memref.load":
            if op.results[0] in self.world.slice.needed and is_slot(op.operands[0]):
                self.assign(op.results, [f"{self.use(op.operands[0])}[0]"])
        elif op.name == "memref.store" and is_slot(op.operands[1]):
            self.line(f"{self.use(op.operands[1])}[0] = {self.use(op.operands[0])}")

    def _value(self, op: Operation) -> None:
        try:
            if op.name in ("affine.apply", "affine.min", "affine.max"):
                affine.emit(self, op)
                return
            found = scalar(op, self.uses(op.operands))
        except NotModelled:
            return
        if found is not None:
            self.assign(op.results, [found])

    def _rounds(self) -> str:
        self._heads += 1
        return f"n{self._heads}"

    def counted(self, op: Operation, low: str, high: str, step: str, inits: Sequence[str]) -> None:
        body = op.regions[0].block
        index, *carried = body.args
        self.assign(carried, inits)
        rounds, name = self._rounds(), self.local(index)
        self.line(f"{rounds} = trips({low}, {high}, {step})")
        self.line(f"for {name} in range({low}, {high}, {step}):")
        self._depth += 1
        self.line(f"if {rounds} >= {FOREVER}:")
        self._depth += 1
        if index not in self.world.slice.needed:
            # A number that nobody asks for does not keep rounds apart.
            self.line(f"{name} = 0")
        self._turn()
        self._depth -= 1
        self.line("me.ticks += 1")
        self.line("if not me.ticks & 255: me.check()")
        self._depth -= 1
        self.nested(body)
        last = body.last_op
        if carried and last is not None:
            self._depth += 1
            self.assign(carried, self.uses(last.operands))
            self._depth -= 1
        self.assign(op.results, [self.local(c) for c in carried])

    def _sync(self, op: Operation) -> None:
        site = span_of(op) or self._at
        if isinstance(op, UseLockOp):
            if op.action is not LockAction.RELEASE and not op.acq_en:
                return
            code = {LockAction.RELEASE: GIVE, LockAction.ACQUIRE: TAKE_EQUAL}.get(op.action, TAKE)
            lock, value = op.lock_op, op.constant
            if lock is not None and value is not None and value > 0:
                self.line(f"me.t.append({self.bind((code, self.world.ports.lock(lock), value, site))})")
            else:
                self.line(f"me.use({code}, {self.use(op.lock)}, {self.use(op.value)}, {self.bind(site)})")
            return
        self.assign(op.results, ["U"] * len(op.results))
        if op.name.endswith("cascade"):
            self.line(f"me.cascade({op.name == 'aie.put_cascade'}, {self.bind(site)})")
            return
        word = op.operands[1] if op.name == "aie.put_stream" else op.results[0]
        size = (numbers.bits(word.type) or 32) // 8
        verb = "put" if op.name == "aie.put_stream" else "get"
        self.line(f"me.{verb}({self.use(op.operands[0])}, {size}, {self.bind(site)})")


def _trips(low: int, high: int, step: int) -> int:
    return max(0, -(-(high - low) // step))


def trace_core(core: CoreOp, tile: tuple[int, int], ports: Ports, limit: int) -> Trace:
    """What a core takes and gives. Raises Undecided, at the latest after `limit` actions."""
    if core.elf_file is not None:
        raise Undecided(f"core {tile} is prebuilt", span_of(core))
    slice = Slice(core.body)
    if not slice.syncs:
        return Trace([], None)
    world = _World(ports, slice, tile)
    me = _Recorder(ports, tile, limit)
    try:
        for _ in world.compile("core", core.body)(me):
            pass
        me.check()
    except _Again as again:
        return Trace(me.t, again.start if len(me.t) > again.start else None, me.cost)
    except _Over:
        raise Undecided(f"core {tile} takes and gives more often than is looked at", span_of(core)) from None
    except _NeedsData as why:
        raise Undecided(f"what core {tile} waits for depends on its data", _where(world, why)) from None
    except Trapped as trap:
        raise Undecided(f"core {tile} {trap.text}", _where(world, trap)) from None
    except Refused as refused:
        first = refused.diagnostics[0]
        raise Undecided(first.text, first.where) from None
    except (RecursionError, SyntaxError, MemoryError, TypeError):
        raise Undecided(f"the code of core {tile} cannot be followed", span_of(core)) from None
    return Trace(me.t, None, me.cost)


def _where(world: _World, error: BaseException) -> Span | None:
    found: Span | None = None
    trace = error.__traceback__
    while trace is not None:
        table = world.spans.get(trace.tb_frame.f_code.co_filename)
        if table is not None and 0 < trace.tb_lineno <= len(table):
            found = table[trace.tb_lineno - 1] or found
        trace = trace.tb_next
    return found
