"""A cluster on real arrays: a thread per core, the memory it would have, and a judge of every access."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from aiecc.api import (
    Blob,
    DeviceId,
    Diagnostic,
    Level,
    Module,
    Placement,
    Refused,
    Request,
    Simulation,
    Sink,
    ToolchainOptions,
    build,
    load,
    npy_type,
    read_npy,
    refuse,
    span_of,
    write_npy,
)
from aiecc.plugins.tpush.build import addresses, clusters_in, device_name, placed
from aiecc.plugins.tpush.dialect.attrs import PtrType
from aiecc.plugins.tpush.emit import PREFIX, argument_names
from aiecc.plugins.tpush.emit_base import GLOBAL
from aiecc.plugins.tpush.kernels import Pair, arguments_of
from aiecc.plugins.tpush.model import Agent, Cluster, Direction, Init, Kind
from aiecc.plugins.tpush.protocol import Protocol
from aiecc.plugins.tpush.rules import verify_module
from aiecc.plugins.tpush.size import workspace

_AGENTS = 3
_FLAGS = 8
_ALIGN = 512
_LARGEST = 1 << 30
_ENDS = ("finished", "stuck", "race", "double", "outside", "left over")


class _Launch(ctypes.Structure):
    _fields_ = [
        ("entry", ctypes.c_void_p * _AGENTS),
        ("memory", ctypes.c_void_p),
        ("memory_size", ctypes.c_int64),
        ("arguments", ctypes.POINTER(ctypes.c_int64)),
        ("argument_count", ctypes.c_int32),
        ("judge", ctypes.c_int32),
    ]


class _Outcome(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int32) for name in ("end", "agent", "other", "wrote", "other_wrote")),
        ("address", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in ("owner", "lane", "number", "from_cube")),
        ("waits", ctypes.c_int32 * _AGENTS),
        *((name, ctypes.c_int64) for name in ("sets", "copies", "bytes")),
        ("flags", ctypes.c_uint8 * (4 * _FLAGS)),
    ]


@dataclass(frozen=True)
class Argument:
    """One argument of a launch. `element`: bytes of what a pointer points to; 0: a number. `dtype`: in a file."""

    number: int
    name: str
    element: int
    is_float: bool = False
    is_workspace: bool = False
    dtype: str = ""


@dataclass
class Outcome:
    """How a run ended, in words; and the arrays afterwards, by argument."""

    end: str
    text: str
    arrays: dict[int, bytearray] = field(default_factory=dict[int, bytearray])
    tiles: int = 0
    bytes: int = 0

    @property
    def finished(self) -> bool:
        return self.end == _ENDS[0]


def arguments(pair: Pair) -> list[Argument]:
    """The arguments of a pair's launch, in order."""
    texts = arguments_of(pair)
    by_name: dict[str, SSAValue] = {}
    spaces: set[str] = set()
    for kernel in pair.kernels:
        for argument in () if kernel.entry is None else kernel.entry.args:
            by_name.setdefault(texts[argument], argument)
        spaces |= {texts[b] for s in kernel.setups if (b := s.gm_slot_buffer) is not None and b in texts}
    found: list[Argument] = []
    for number, name in enumerate(argument_names(pair)):
        type = by_name[name].type
        element = type.element if isinstance(type, PtrType) else None
        width = getattr(element, "bitwidth", 8) // 8 if element is not None else 0
        found.append(Argument(number, name, width, isinstance(type, AnyFloat), name in spaces, _dtype(element)))
    return found


def _dtype(element: Attribute | None) -> str:
    return "" if element is None else npy_type(element)


# --- one run ------------------------------------------------------------------------------------------------------


def run_cluster(
    library: Path,
    pair: Pair,
    cluster: Cluster,
    arrays: Mapping[int, bytes],
    numbers: Mapping[int, float] | None = None,
    *,
    judge: bool = True,
    names: Mapping[str, int] | None = None,
) -> Outcome:
    """Run a library of `native.py`. `arrays`: what pointers point to, by argument; a workspace need not be given.

    `numbers`: the other arguments. `names`: addresses of buffers, for texts.
    """
    wanted = arguments(pair)
    places: dict[int, int] = {}
    end = _reserved(pair, cluster)
    for each in wanted:
        if each.element:
            size = len(arrays.get(each.number, b""))
            if each.is_workspace:
                size = max(size, workspace(cluster.pipes).size)
            places[each.number] = end
            end += -(-max(size, 1) // _ALIGN) * _ALIGN
    memory = ctypes.create_string_buffer(end + _ALIGN)
    shift = -ctypes.addressof(memory) % _ALIGN
    base = ctypes.addressof(memory) + shift
    for number, data in arrays.items():
        ctypes.memmove(base + places[number], bytes(data), len(data))
    given = [GLOBAL + places[a.number] if a.element else _bits(a, (numbers or {}).get(a.number, 0)) for a in wanted]
    outcome = _call(library, cluster, base, end, given, judge)
    arrays_after = {n: bytearray(ctypes.string_at(base + places[n], len(data))) for n, data in arrays.items()}
    end_word = _ENDS[outcome.end]
    text = _words(outcome, cluster, dict(names or {}))
    return Outcome(end_word, text, arrays_after, int(outcome.copies), int(outcome.bytes))


def _reserved(pair: Pair, cluster: Cluster) -> int:
    """The end of those rings in global memory whose addresses are numbers; arrays lie behind them."""
    end = 0
    for setup in pair.cube.setups:
        if setup.gm_slot_buffer is not None and not isinstance(setup.gm_slot_buffer.type, PtrType):
            pipe = cluster.pipe(setup.number)
            end = max(end, *((pipe.base(direction) or 0) + pipe.ring_size for direction in pipe.directions))
    if end > _LARGEST:
        where = span_of(pair.cube.setups[0])
        refuse(f"the workspace ends at 0x{end:x}, but a simulation has 1 GiB of global memory", where, code="E1205")
    return -(-end // _ALIGN) * _ALIGN


def _bits(argument: Argument, number: float) -> int:
    if not argument.is_float:
        return int(number)
    return ctypes.c_int32.from_buffer(ctypes.c_float(number)).value


def _call(library: Path, cluster: Cluster, base: int, size: int, given: Sequence[int], judge: bool) -> _Outcome:
    loaded = ctypes.CDLL(str(library))
    entries = [ctypes.cast(getattr(loaded, f"pto_agent_{int(a)}"), ctypes.c_void_p).value for a in cluster.agents]
    launch = _Launch(
        (ctypes.c_void_p * _AGENTS)(*entries),
        base,
        size,
        (ctypes.c_int64 * max(len(given), 1))(*given),
        len(given),
        int(judge),
    )
    outcome = _Outcome()
    loaded.pto_run.restype = None
    loaded.pto_run(ctypes.byref(launch), clean_flags(cluster), ctypes.byref(outcome))
    return outcome


def clean_flags(cluster: Cluster) -> ctypes.Array[ctypes.c_uint8]:
    """The state of every flag after initialisation, and again in the end: [from the Cube][lane][number]."""
    state = (ctypes.c_uint8 * (4 * _FLAGS))()
    protocol = Protocol(cluster)
    for agent in cluster.agents:
        for pipe in cluster.pipes:
            for step in protocol.init(agent, Init(pipe.id)):
                if step.flag is not None:
                    state[(step.flag.from_cube * 2 + step.flag.lane) * _FLAGS + step.flag.number] = 1
    return state


# --- in words -----------------------------------------------------------------------------------------------------


def _words(outcome: _Outcome, cluster: Cluster, names: Mapping[str, int]) -> str:
    agent = Agent(outcome.agent).title
    end = _ENDS[outcome.end]
    if end == "finished":
        return f"finished: {outcome.copies} copies of {outcome.bytes} bytes, {outcome.sets} flags set"
    if end == "stuck":
        lines = ["stuck: no core can go on"]
        for each in cluster.agents:
            waits = outcome.waits[each]
            lane, number = divmod(max(waits, 0), _FLAGS)
            says = "has ended" if waits < 0 else f"waits for {_flag(cluster, each is not Agent.CUBE, lane, number)}"
            lines.append(f"  {each.title} {says}")
        return "\n".join(lines)
    if end == "race":
        did = ("reads", "writes")
        where = _place(outcome, cluster, names)
        other = Agent(outcome.other).title
        return f"race at {where}: {agent} {did[outcome.wrote]} it while {other} {did[outcome.other_wrote]} it"
    if end == "outside":
        return f"{agent} uses address 0x{outcome.address:x}, which is in no memory"
    if end == "double":
        return (
            f"{agent} sets {_flag(cluster, bool(outcome.from_cube), outcome.lane, outcome.number)}, which is still set"
        )
    lines = ["all cores have ended, but the next kernel on these flags would see what they left:"]
    for index, (clean, found) in enumerate(zip(clean_flags(cluster), outcome.flags, strict=True)):
        if clean != found:
            wire, number = divmod(index, _FLAGS)
            said = _flag(cluster, wire >= 2, wire % 2, number)
            lines.append(f"  {said} is {'still' if found else 'not'} set")
    return "\n".join(lines)


def _flag(cluster: Cluster, from_cube: bool, lane: int, number: int) -> str:
    """A flag as its role: `ready 3 of C2V`."""
    for pipe in cluster.pipes:
        for direction in pipe.directions:
            first = pipe.flag(direction, 0)
            if first <= number < first + pipe.slot_num:
                role = "ready" if from_cube == (direction.producer is Kind.CUBE) else "free"
                of = f"{direction.name} of lane {lane}" if cluster.lanes > 1 else direction.name
                return f"{role} flag {number} of {of}"
    return f"flag {number}"


def _place(outcome: _Outcome, cluster: Cluster, names: Mapping[str, int]) -> str:
    if outcome.owner < 0:
        return f"byte 0x{outcome.address - GLOBAL:x} of global memory"
    owner = Agent(outcome.owner)
    offset = outcome.address % 0x100000
    for direction in Direction:
        for pipe in cluster.pipes:
            base = names.get(f"{PREFIX[owner]}_{pipe.c2v_ring if direction is Direction.C2V else pipe.v2c_ring}")
            if base is not None and direction in pipe.directions and 0 <= offset - base < pipe.ring_size:
                slot = (offset - base) // pipe.slot_size
                return f"0x{offset:x} of {owner.title}'s memory (slot {slot} of {direction.name})"
    return f"0x{offset:x} of {owner.title}'s memory"


# --- aiecc simulate -----------------------------------------------------------------------------------------------


def simulate(asked: Simulation) -> bool:
    """Build the cluster for this machine, run it on the arrays of `--arg`, write those that were asked for."""
    op = load(Module(asked.source.text, file=asked.source.path))
    said = Sink()
    verify_module(op, said)
    pairs = {} if said.failed else {device_name(p): (p, cluster) for p, cluster in clusters_in(op, said)}
    if said.failed or not pairs:
        raise Refused(*(d for d in said.items if d.is_error))
    chosen = asked.device or next(iter(pairs))
    if chosen not in pairs:
        refuse(f"aiecc simulate: no cluster '{chosen}'; there are {', '.join(pairs)}", code="E0901")
    wanted = arguments(pairs[chosen][0])
    arrays, numbers = _read(asked, wanted)
    # The portable toolchain compiles for this machine. (pyright sees no defaults that stand first in a field.)
    options = (ToolchainOptions(toolchain="llvm"),)  # pyright: ignore[reportCallIssue]
    request = Request(asked.source, asked.work, asked.work, get=("threads", "placement"), options=options)
    result = build(request, asked.plugins)
    if not result.ok:
        bugs = [Diagnostic(Level.ERROR, f"{bug.address}: {bug.text}") for bug in result.bugs]
        raise Refused(*(d for d in result.diagnostics if d.is_error), *bugs)
    pair, cluster = pairs[chosen]
    placement: Placement = result.build.get("placement")
    library: Blob = result.build.get("threads", DeviceId(chosen))
    outcome = run_cluster(
        library.path, pair, placed(pair, cluster, placement), arrays, numbers, names=addresses(placement, pair)
    )
    print(outcome.text)
    _write(asked, wanted, outcome)
    return outcome.finished


def _read(asked: Simulation, wanted: Sequence[Argument]) -> tuple[dict[int, bytes], dict[int, float]]:
    """Arrays from files, or so many bytes of zeros; numbers as they are."""
    arrays: dict[int, bytes] = {}
    numbers: dict[int, float] = {}
    for number in {*asked.args, *asked.arg_outs}:
        if number >= len(wanted):
            refuse(f"the cluster has {len(wanted)} arguments; there is no number {number}", code="E0901")
    for each in wanted:
        value = asked.args.get(each.number)
        if value is None:
            if not each.is_workspace:
                what = "FILE, or BYTES of zeros" if each.element else "its value"
                refuse(f"argument {each.number} is missing", code="E0901", todo=f"--arg {each.number}={what}")
        elif not each.element:
            numbers[each.number] = _number(each, value)
        elif value.isdecimal():
            arrays[each.number] = bytes(int(value))
        else:
            arrays[each.number] = read_npy(Path(value))
    return arrays, numbers


def _number(argument: Argument, word: str) -> float:
    try:
        return float(word) if argument.is_float else int(word)
    except ValueError:
        refuse(f"argument {argument.number} is a number, not '{word}'", code="E0901")


def _write(asked: Simulation, wanted: Sequence[Argument], outcome: Outcome) -> None:
    types = {each.number: each.dtype for each in wanted}
    for number, file in sorted(asked.arg_outs.items()):
        if number not in outcome.arrays:
            refuse(f"argument {number} is no array", code="E0901")
        write_npy(Path(file), bytes(outcome.arrays[number]), asked.dtype or types[number] or "uint8")
        print(f"argument {number}: {len(outcome.arrays[number])} bytes written to {file}")
