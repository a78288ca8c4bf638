"""The host in the array model: a runtime sequence's words, executed beside cores, memory tiles and switches.

`run_sequence` is the door. It takes the words as `aiecc` would write them, not the IR they come from, so it says
whether they mean what the sequence says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import refuse
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.memory import BufferOp, LockOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.model.targets import DmaDirection
from aiecc.npu import txn
from aiecc.sim.array import Array
from aiecc.sim.core import Model
from aiecc.sim.host_channels import Engine
from aiecc.sim.host_memory import HostBuffer, HostMemory, TileMemory
from aiecc.sim.host_program import ChannelKey, Processor, channels_of, refuse_unknown
from aiecc.sim.host_registers import Table
from aiecc.sim.host_words import Words, words_of
from aiecc.sim.outcome import Outcome
from aiecc.sim.programs import Channel
from aiecc.sim.schedule import Actor, Gate, Schedule, Steps

Tile = tuple[int, int]
Argument = bytes | bytearray | None
"""What an argument holds at first; None: as many bytes as the sequence says, none of them written."""


@dataclass(frozen=True)
class Ran:
    """The end of a sequence: how the run went, what every argument holds now, and which of them were written."""

    outcome: Outcome
    args: tuple[bytes, ...]
    written: tuple[bool, ...]


def run_sequence(
    module: ModuleOp,
    sequence: str = "",
    args: Sequence[Argument] = (),
    *,
    device: str | None = None,
    kernels: Mapping[str, Model] | None = None,
    seed: int = 0,
    slack: int = 0,
    max_events: int = 50_000_000,
    ordered: bool = True,
) -> Ran:
    """Run one runtime sequence of a design, from its words, together with the whole device.

    The module is lowered in place, as far as it is not. `sequence` and `device` are names, the first sequence and the
    only device without. `args` are the bytes of the sequence's arguments; a bytearray gets the result written back.
    The rest is as for `aiecc.sim.array.simulate`. It is finished when the sequence has executed its last operation;
    `Outcome.notes` say what was then left over. Raises Refused for what cannot be lowered, encoded or modelled.
    """
    words = words_of(module, sequence, device)
    found = run_words(
        words, args, kernels=kernels, seed=seed, slack=slack, max_events=max_events, ordered=ordered
    )  # fmt: skip
    for given, result in zip(args, found.args, strict=False):
        if isinstance(given, bytearray):
            given[:] = result
    return found


def run_words(
    words: Words,
    args: Sequence[Argument] = (),
    *,
    kernels: Mapping[str, Model] | None = None,
    seed: int = 0,
    slack: int = 0,
    max_events: int = 50_000_000,
    ordered: bool = True,
) -> Ran:
    """Run a transaction on its device; may be called any number of times. See `run_sequence`."""
    program = txn.decode(words.data)
    if program.stopped is not None:
        refuse(f"the transaction cannot be read: {program.stopped[1]} (byte {program.stopped[0]})")
    ops = [entry.op for entry in program.entries]
    wheres = list(words.wheres) or [None] * len(ops)
    refuse_unknown(ops, wheres)
    schedule = Schedule(seed, max_events, ordered=ordered)
    array = HostArray(words.device, schedule, slack, kernels or {})
    array.host = HostMemory(_arguments(schedule, words, args))
    array.start(words.name, ops, wheres)
    outcome = array.run(False)
    buffers = array.host.buffers
    return Ran(outcome, tuple(bytes(b.data) for b in buffers), tuple(b.changed for b in buffers))


def _arguments(schedule: Schedule, words: Words, args: Sequence[Argument]) -> list[HostBuffer]:
    if len(args) > len(words.sizes):
        refuse(f"sequence {words.name} has {len(words.sizes)} arguments, not {len(args)}", words.where)
    found: list[HostBuffer] = []
    for number, size in enumerate(words.sizes):
        given = args[number] if number < len(args) else None
        if given is None:
            if size is None:
                refuse(f"the type of argument {number} does not say its size: give its bytes", words.where)
            found.append(HostBuffer(schedule, number, size, None))
            continue
        if size is not None and len(given) != size:
            refuse(f"argument {number} of sequence {words.name} has {size} bytes, not {len(given)}", words.where)
        found.append(HostBuffer(schedule, number, len(given), bytes(given)))
    return found


class _Held(Gate):
    """A core that is held in reset."""

    def wanted(self, need: int) -> str:
        return "its reset to end"


class HostArray(Array):
    """A device whose shim ends belong to a sequence."""

    host: HostMemory
    tiles: TileMemory

    def __init__(self, device: DeviceOp, schedule: Schedule, slack: int, kernels: Mapping[str, Model]) -> None:
        super().__init__(device, schedule, slack, kernels)
        self.engines: dict[ChannelKey, Engine] = {}
        self.tables: dict[Tile, Table] = {}
        self._processor: Actor
        self._held: dict[Tile, _Held] = {}

    def _flows(self) -> None:
        self.ends.as_channels()
        super()._flows()

    def start(self, name: str, ops: Sequence[txn.Op], wheres: Sequence[Span | None]) -> None:
        """Everything that runs."""
        found = self.wire()
        for sink in self.sinks.values():
            sink.read = False
        for (port, _), sink in self.sinks.items():
            sink.read = port[2] == "DMA" or (port[2] == "Core" and (port[0], port[1]) in self.cells)
        buffers = {op.result.owner: self.buffers[op.result] for op in self._ops(BufferOp)}
        self.tiles = TileMemory(
            self.target,
            self.schedule,
            {op: buffer for op, buffer in buffers.items() if isinstance(op, BufferOp)},
            {op: self.locks[op.result] for op in self._ops(LockOp)},
        )
        for col, row in self.target.tiles():
            kind = self.target.tile_kind(col, row)
            if kind is not None and self.target.dma(kind) is not None:
                self.tables[col, row] = Table((col, row), self.target, self.tiles, self.host)
        for channel in found:
            self.tables[channel.tile].own(channel)
        self._engines(found, channels_of(self.target, ops))
        self._cores()
        me = self._processor = Actor(f"sequence {name}")
        self.schedule.add(me, Processor(self, me, ops, wheres).steps())

    def _engines(self, found: Iterable[Channel], wanted: set[ChannelKey]) -> None:
        own: dict[ChannelKey, Channel] = {}
        for channel in found:
            way = DmaDirection.MM2S if channel.direction is Direction.MM2S else DmaDirection.S2MM
            own[channel.tile, way, channel.index] = channel
        for key in sorted({*own, *wanted}, key=lambda key: (key[0], key[1].value, key[2])):
            (col, row), way, index = key
            kind = self.target.tile_kind(col, row)
            dma = None if kind is None else self.target.dma(kind)
            assert dma is not None
            port = (col, row, "DMA", index)
            source = sink = None
            if way is DmaDirection.MM2S:
                source = self._source(port)
            else:
                sink = self._sink((port, None))
                sink.read = True
            channel = own.get(key)
            program, site = (None, None) if channel is None else (channel.program, channel.span)
            engine = Engine(self.schedule, self.tables[col, row], way, index, dma, (source, sink), program, site)
            self.engines[key] = engine
            self.schedule.add(engine.actor, engine.steps())

    # --- what a sequence does to it -----------------------------------------------------------------------------------

    def clear(self, engine: Engine) -> None:
        engine.clear()
        self._let_go(engine.actor)

    def core(self, tile: Tile, held: bool) -> None:
        found = self.code.get(tile)
        if found is None:
            return
        me = found[0]
        gate = self._held.get(tile)
        if held and gate is None:
            gate = self._held[tile] = _Held(self.schedule)
            self.schedule.restart(me, self._again(tile, gate))
            self._let_go(me)
        elif not held and gate is not None:
            del self._held[tile]
            gate.open()

    def _again(self, tile: Tile, gate: _Held) -> Steps:
        me, start = self.code[tile]
        while self._held.get(tile) is gate:
            yield gate
        yield from start(me)

    def _let_go(self, actor: Actor) -> None:
        """What an actor that starts over had begun."""
        for sink in self.sinks.values():
            if sink.holder is actor:
                sink.holder = None
                sink.room.open()
        for buffer in self.buffers.values():
            for busy in [busy for busy in buffer.busy if busy.by == actor.name]:
                buffer.end(busy)

    # --- what it says in the end --------------------------------------------------------------------------------------

    def _missing(self, cores_end: bool | None) -> tuple[str, ...]:
        me = self._processor
        return () if me in self.schedule.ended else (f"{me.name} has not reached its end",)

    def _notes(self) -> tuple[str, ...]:
        if self._processor not in self.schedule.ended:
            return ()
        found = [f"{self._processor.name} finished"]
        for engine in self.engines.values():
            if owed := engine.owed():
                found.append(f"{engine.name} still has {owed} pushes that are not done")
        clock = self._processor.clock
        for buffer in self.host.buffers:
            late = None if buffer.order is None else buffer.order.unknown(clock)
            if late is not None:
                text = f"has written byte {late[0]} of {buffer.name}"
                found.append(f"nothing that the sequence waits for says that {late[1]} {text}")
        return tuple(found)
