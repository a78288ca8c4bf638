"""Designs that must get stuck, found before anything is built.

`hang_check` is the door. What a core takes and gives is a list (`hang_core`), a design a net of such lists
(`hang_net`), and running the net (`hang_run`) decides: where every order of events leads to the same end, one run
shows them all; where packets of several come together, all their orders are tried (`hang_merge`). Where these differ,
or where data decides, nothing is claimed. `hang_why` finds the words.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.dialects.constraints import I32, I64
from aiecc.sim.hang_core import Undecided
from aiecc.sim.hang_merge import ends
from aiecc.sim.hang_net import build
from aiecc.sim.hang_run import run
from aiecc.sim.hang_why import Stuck, Why

SLACK = 128
"""Bytes a stream surely may hold on its way: a few words in each switch it passes, and in the DMAs at its ends."""

LIMIT = 2_000_000
"""How many actions are looked at, about half a second's worth."""

Relower = Callable[[ModuleOp], "ModuleOp | None"]
"""Lowers a changed design; None when that fails."""

# How often the design is lowered again, how many actions that may cost (in limits), and how much deeper it gets.
_TRIALS = 24
_TRIALS_COST = 8
_MOST = 16


class Kind(enum.Enum):
    """What can be said of a design."""

    RUNS = "runs"
    STUCK = "stuck"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict:
    """What was found. `reason` says who waits for what, or why nothing can be said; `todo` what to type.

    `luck` is set when the design gets stuck with streams that hold nothing on their way, and no longer when they hold
    that many bytes: on the device it may run, or not. `steps` is the work it took.
    """

    kind: Kind
    reason: str = ""
    where: Span | None = None
    notes: tuple[Note, ...] = ()
    todo: str = ""
    luck: int | None = None
    steps: int = 0

    @property
    def runs(self) -> bool:
        return self.kind is Kind.RUNS

    @property
    def stuck(self) -> bool:
        return self.kind is Kind.STUCK

    @property
    def undecided(self) -> bool:
        return self.kind is Kind.UNDECIDED


def hang_check(
    before: ModuleOp | None,
    lowered: ModuleOp,
    device: str | None = None,
    *,
    relower: Relower | None = None,
    slack: int = SLACK,
    limit: int = LIMIT,
) -> Verdict:
    """Whether a lowered design must get stuck: whether a core that has more to do waits for what can never come.

    `before` is the design with its fifos, for their names. `device` names one of several; without it all are looked
    at, and the first that gets stuck counts. `relower`, with `before`, finds the smallest depth that frees the design.
    The host's ends are taken as always ready. `slack` are the bytes a stream may hold at most before it is no longer
    luck, `limit` bounds the actions looked at.
    """
    found = Verdict(Kind.RUNS)
    for op in lowered.body.block.ops:
        if not isinstance(op, DeviceOp) or (device is not None and op.symbol != device):
            continue
        verdict = _Check(before, op, relower, slack, limit).verdict()
        steps = found.steps + verdict.steps
        found = replace(found if verdict.runs else verdict, steps=steps)
        if found.stuck:
            break
    return found


def hang_diagnostics(verdict: Verdict, level: Level = Level.ERROR, *, verbose: bool = False) -> Iterator[Diagnostic]:
    """The verdict as something to report: nothing for designs that run, and a remark, if asked for, where nothing can
    be said. A design that only luck may free is warned about, never refused."""
    if verdict.undecided and verbose:
        yield Diagnostic(
            Level.REMARK, f"whether this design can get stuck is not decided: {verdict.reason}", verdict.where, "R1101"
        )
    if not verdict.stuck:
        return
    if verdict.luck is not None and level is Level.ERROR:
        level = Level.WARNING
    text = "this design must get stuck"
    notes = verdict.notes
    if verdict.luck is not None:
        text = "this design gets stuck unless its streams hold enough"
        notes = (*notes, Note(f"it runs where every stream holds {verdict.luck} bytes on its way"))
    code = "E1101" if level is Level.ERROR else "W1101"
    yield Diagnostic(level, f"{text}: {verdict.reason}", verdict.where, code, notes, verdict.todo)


class _Check:
    def __init__(
        self, before: ModuleOp | None, device: DeviceOp, relower: Relower | None, slack: int, limit: int
    ) -> None:
        self.before = before
        self.device = device
        self.relower = relower
        self.slack = slack
        self.limit = limit
        self.steps = 0
        self.most = _TRIALS_COST * limit
        same = _device_of(before, device.symbol) if before is not None else None
        self.fifos = {op.symbol: op for op in same.walk() if isinstance(op, ObjectFifoOp)} if same is not None else {}

    def verdict(self) -> Verdict:
        try:
            stuck = self._stuck(self.device, 0)
            if stuck is None:
                return Verdict(Kind.RUNS, steps=self.steps)
            luck = self._luck()
        except Undecided as why:
            return Verdict(Kind.UNDECIDED, why.reason, why.where, steps=self.steps)
        todo = self._todo(stuck)
        return Verdict(Kind.STUCK, stuck.text, stuck.where, stuck.notes, todo, luck, self.steps)

    def _stuck(self, device: DeviceOp, slack: int) -> Stuck | None:
        net = build(device, self.limit)
        if not net.merges:
            end = run(net, slack, self.limit)
            self.steps += end.steps
            return Why(net, end, self.fifos).stuck()
        found = ends(net, slack, self.limit)
        self.steps += sum(end.steps for end in found)
        said = [Why(net, end, self.fifos).stuck() for end in found]
        if any(said) and not all(said):
            where = next(sink.name for at, sink in enumerate(net.sinks) if at in net.merges)
            raise Undecided(f"it depends on the order in which packets come together at {where}")
        return said[0]

    def _luck(self) -> int | None:
        """The fewest bytes (a power of two) in streams that free the design; None when no such number is luck."""
        if self.slack <= 0 or self._stuck(self.device, self.slack) is not None:
            return None
        size = 4
        while size < self.slack and self._stuck(self.device, size) is not None:
            size *= 2
        return min(size, self.slack)

    # --- the smallest depth that frees it -----------------------------------------------------------------------------

    def _todo(self, stuck: Stuck) -> str:
        if stuck.todo or self.before is None or self.relower is None:
            return stuck.todo
        trials = _Trials(self.before, self.device.symbol, self.relower, self)
        for name in stuck.fifos[:4]:
            fifo = self.fifos[name]
            found = trials.smallest(fifo)
            if found is not None:
                return f"give @{name} {_spelt(found)}"
        return ""

    def frees(self, lowered: ModuleOp) -> bool:
        device = _device_of(lowered, self.device.symbol)
        try:
            return device is not None and self._stuck(device, 0) is None
        except Undecided:
            return False


Depths = int | tuple[int, ...]


class _Trials:
    """Raises depths and lowers again. More depth never hurts, so the smallest is found by halving."""

    def __init__(self, before: ModuleOp, device: str, relower: Relower, check: _Check) -> None:
        self.before = before
        self.device = device
        self.relower = relower
        self.check = check
        self.left = _TRIALS

    def smallest(self, fifo: ObjectFifoOp) -> Depths | None:
        depths = fifo.depths
        one = not isinstance(fifo.depth_attr, ArrayAttr)
        forms: Sequence[Callable[[int], Depths]] = [lambda k: tuple(d + k for d in depths)]
        if one:
            # One number is what most designs say; it does not reach pools that follow what their core acquires.
            forms = [lambda k: depths[0] + k, *forms]
        for form in forms:
            most = next((k for k in (_MOST, 4, 1) if self._frees(fifo, form(k))), None)
            if most is None:
                continue
            low = 0
            while most - low > 1 and self.left > 0:
                middle = (low + most) // 2
                if self._frees(fifo, form(middle)):
                    most = middle
                else:
                    low = middle
            return form(most)
        return None

    def _frees(self, fifo: ObjectFifoOp, depths: Depths) -> bool:
        if self.left <= 0 or self.check.steps > self.check.most:
            return False
        self.left -= 1
        module = self.before.clone()
        device = _device_of(module, self.device)
        for op in device.walk() if device is not None else ():
            if isinstance(op, ObjectFifoOp) and op.symbol == fifo.symbol:
                op.properties["elemNumber"] = (
                    IntegerAttr(depths, I32)
                    if isinstance(depths, int)
                    else ArrayAttr([IntegerAttr(d, I64) for d in depths])
                )
        lowered = self.relower(module)
        return lowered is not None and self.check.frees(lowered)


def _spelt(depths: Depths) -> str:
    return f"a depth of {depths}" if isinstance(depths, int) else f"the depths [{', '.join(map(str, depths))}]"


def _device_of(module: ModuleOp, name: str) -> DeviceOp | None:
    return next((op for op in module.body.block.ops if isinstance(op, DeviceOp) and op.symbol == name), None)
