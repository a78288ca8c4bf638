"""Cores: what their code can see, and the ports it talks through."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerType, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.base.diag import refuse
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp, element_bits, size_in_bytes
from aiecc.ir.spans import span_of
from aiecc.model.targets import Target
from aiecc.sim import memrefs, numbers, vectors
from aiecc.sim.emit import Emitter
from aiecc.sim.locks import Lock
from aiecc.sim.memory import Buffer, View
from aiecc.sim.order import Clock, joined, learn, tick
from aiecc.sim.outcome import Kind, Trapped
from aiecc.sim.scalars import NotModelled
from aiecc.sim.schedule import Actor, Gate, Schedule
from aiecc.sim.streams import Sink, Source, receive, send

Model = Callable[..., Any]
"""A Python function in place of an external kernel: memrefs come as `View`, scalars as numbers."""

Tile = tuple[int, int]


def initial_bytes(value: Attribute | None, type: Attribute) -> bytes | None:
    """The bytes of an initial value; None when there is none or it is not given as numbers."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    size, bits = size_in_bytes(type), element_bits(type)
    data = bytes(value.data.data)
    kind: Attribute = value.get_element_type()
    if isinstance(kind, IndexType) or (isinstance(kind, IntegerType) and bits % 8):
        # The attribute keeps these wider than memory has them.
        numbers: Any = value.get_values()
        packed = sum((int(n) & (1 << bits) - 1) << i * bits for i, n in enumerate(numbers))
        count = len(numbers)
        if count == 1:
            count = size * 8 // bits
            packed *= sum(1 << i * bits for i in range(count))
        data = packed.to_bytes(-(-count * bits // 8), "little")
    return data if len(data) == size else data * (size // max(len(data), 1))


class Cascade(Gate):
    """The words between two neighbouring cores. Two fit; the third waits."""

    __slots__ = ("clock", "name", "words")

    def __init__(self, schedule: Schedule, name: str) -> None:
        super().__init__(schedule)
        self.name = name
        self.words: deque[Any] = deque()
        self.clock: Clock | None = None

    def wanted(self, need: int) -> str:
        return f"{'room' if need else 'a word'} on the cascade {self.name}"


class Cell:
    """What a core's stream and cascade instructions reach."""

    def __init__(
        self, schedule: Schedule, tile: Tile, sources: Mapping[int, Source], sinks: Mapping[int, Sink]
    ) -> None:
        self.schedule = schedule
        self.tile = tile
        self.sources = sources
        self.sinks = sinks
        self.into: Cascade | None = None
        self.out: Cascade | None = None

    def put(self, me: Actor, channel: int, value: Any, type: str) -> Generator[Gate | None, None, None]:
        source = self.sources.get(channel)
        if source is None:
            raise Trapped(Kind.STREAM, f"writes to stream {channel} of core {self.tile}, where no flow starts")
        word = (
            struct.pack("<f", value)
            if type == "f32"
            else (value % (1 << _bits(type))).to_bytes(_bits(type) // 8, "little")
        )
        yield from send(self.schedule, me, source, word, None)

    def get(self, me: Actor, channel: int, type: str) -> Generator[Gate | None, None, Any]:
        sink = self.sinks.get(channel)
        if sink is None:
            raise Trapped(Kind.STREAM, f"reads stream {channel} of core {self.tile}, where no flow ends")
        word = bytearray()
        yield from receive(me, sink, _bits(type) // 8, word)
        if type == "f32":
            return struct.unpack("<f", word)[0]
        return int.from_bytes(word, "little", signed=True)

    def put_cascade(self, me: Actor, value: Any) -> Generator[Gate | None, None, None]:
        if self.out is None:
            raise Trapped(Kind.STREAM, f"writes to the cascade of core {self.tile}, where no cascade flow starts")
        while len(self.out.words) >= 2:
            me.need = 1
            yield self.out
        self.out.words.append(value)
        if self.schedule.ordered:
            clock = tick(me)
            self.out.clock = clock if self.out.clock is None else joined(self.out.clock, clock)
        self.schedule.events += 1
        self.out.open()
        yield None

    def get_cascade(self, me: Actor) -> Generator[Gate | None, None, Any]:
        if self.into is None:
            raise Trapped(Kind.STREAM, f"reads the cascade of core {self.tile}, where no cascade flow ends")
        while not self.into.words:
            me.need = 0
            yield self.into
        value = self.into.words.popleft()
        learn(me, self.into.clock)
        self.into.open()
        yield None
        return value


def _bits(type: str) -> int:
    return int(type[1:])


class Program:
    """The code of one core and of every function it calls; implements `emit.World`.

    `emitter` writes it; one that knows more ops takes its place in a subclass.
    """

    emitter: type[Emitter] = Emitter

    def __init__(
        self,
        schedule: Schedule,
        core: CoreOp,
        tile: Tile,
        target: Target,
        buffers: Mapping[SSAValue, Buffer],
        locks: Mapping[SSAValue, Lock],
        kernels: Mapping[str, Model],
    ) -> None:
        self.core = core
        self._schedule = schedule
        self._tile = tile
        self._target = target
        self._buffers = buffers
        self._locks = locks
        self._kernels = kernels
        self._globals: dict[str, Buffer] = {}
        self._functions: dict[str, list[Any]] = {}

    def start(self) -> Callable[[Actor], Any]:
        if self.core.elf_file is not None:
            refuse(f"core {self._tile} is prebuilt; the array model needs its code", span_of(self.core))
        return self._compile("core", self.core.body)

    def _compile(self, name: str, region: Any) -> Callable[[Actor], Any]:
        names: dict[str, Any] = {}
        emitter = self.emitter(self, "code", names)
        emitter.function(region)
        file = f"<core {self._tile} {name}>"
        self._schedule.code.spans[file] = emitter.spans
        space: dict[str, Any] = {**numbers.HELPERS, **memrefs.HELPERS, **vectors.HELPERS, **names}
        try:
            code = compile("\n".join(emitter.text), file, "exec")
        except (SyntaxError, RecursionError, MemoryError):
            refuse(f"{name} of tile {self._tile} is nested too deeply for the array model", span_of(self.core))
        exec(code, space)
        return space["code"]

    # --- the world ----------------------------------------------------------------------------------------------------

    def value(self, value: SSAValue) -> object:
        owner = value.owner
        if isinstance(owner, BufferOp):
            buffer = self._buffers[value]
            self._reach(buffer.tile, f"buffer {buffer.name}", self._target.reaches)
            return memrefs.view_of(buffer, owner.result.type)
        if isinstance(owner, LockOp):
            lock = self._locks[value]
            self._reach(lock.tile, f"lock {lock.name}", self._target.reaches_lock)
            return lock
        raise NotModelled("it uses a value from outside that is neither buffer, lock nor constant")

    def _reach(self, owner: Tile | None, what: str, rule: Callable[[Tile, Tile], bool]) -> None:
        if owner is None or not rule(self._tile, owner):
            raise NotModelled(f"core {self._tile} cannot reach {what} of tile {owner}")

    def view_of_global(self, op: Operation, name: str) -> object:
        found = symbol(op, name)
        if not isinstance(found, GlobalOp):
            raise NotModelled(f"there is no memref.global @{name}")
        type = found.type
        if name not in self._globals:
            assert isinstance(type, MemRefType)
            data = initial_bytes(found.initial_value, type)
            self._globals[name] = Buffer(
                f"@{name} of core {self._tile}", size_in_bytes(type), None, data, span_of(found)
            )
        return memrefs.view_of(self._globals[name], type)

    def function(self, op: Operation, name: str) -> tuple[Any, bool]:
        found = symbol(op, name)
        model = self._kernels.get(name)
        if model is not None:
            return _Kernel(name, model, [r.type for r in op.results]), False
        if not isinstance(found, FuncOp) or not found.body.blocks:
            refuse(
                f"core {self._tile} calls @{name}, whose code is not in the design",
                span_of(op),
                todo=f"give the array model a Python function for {name}",
            )
        cell = self._functions.get(name)
        if cell is None:
            # A list, so that a function that calls itself finds its code when it runs.
            cell = self._functions[name] = []
            cell.append(self._compile(f"@{name}", found.body))
        return cell, True


class _Kernel:
    """Calls a model; what goes wrong in it becomes a trap at the call."""

    def __init__(self, name: str, model: Model, results: Sequence[Attribute]) -> None:
        self.name = name
        self.model = model
        self.results = results

    def __call__(self, *args: Any) -> Any:
        try:
            found = self.model(*args)
        except Trapped:
            raise
        except Exception as error:
            raise Trapped(Kind.KERNEL, f"the model of @{self.name} failed: {type(error).__name__}: {error}") from error
        if not self.results:
            return None
        values = [found] if len(self.results) == 1 else list(found) if isinstance(found, tuple) else []
        if len(values) != len(self.results) or not all(isinstance(v, int | float | View) for v in values):
            raise Trapped(Kind.KERNEL, f"the model of @{self.name} gave {found!r} for {len(self.results)} results")
        fitted = [_fitted(v, type) for v, type in zip(values, self.results, strict=True)]
        return fitted[0] if len(fitted) == 1 else fitted


def _fitted(value: Any, type: Attribute) -> Any:
    """What a model returns, as the type holds it."""
    width = numbers.bits(type)
    return value if width is None or isinstance(value, View) else numbers.wrapped(int(value), width)


def symbol(op: Operation, name: str) -> Operation | None:
    """The function or global of a name, from the op's own device outwards."""
    at = op.parent_op()
    while at is not None:
        for region in at.regions:
            if at.name in ("aie.device", "builtin.module"):
                for block in region.blocks:
                    for inner in block.ops:
                        if isinstance(inner, FuncOp | GlobalOp) and inner.sym_name.data == name:
                            return inner
        at = at.parent_op()
    return None
