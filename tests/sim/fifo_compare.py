"""Runs a design twice, by its fifos and lowered, and says where the two differ. Keeps designs as files."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fifo_designs import Design
from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Level, Refused, Sink
from aiecc.ir.dialects.aie.enums import Role
from aiecc.ir.dialects.aie.pools import DmaEndpointOp
from aiecc.ir.passes.fifo_transform import ObjectFifoStatefulTransform
from aiecc.ir.pipeline import parse_pipeline, run
from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.sim.array import End, simulate
from aiecc.sim.fifo.meaning import meaning
from aiecc.sim.hang import hang_check
from aiecc.sim.outcome import Outcome, Status

LIMIT = 400_000
Turns = Sequence[Sequence[str]]
RUNS_AHEAD = "takes turns on a channel with"
"""From the warning of turns that can stop a design."""


@dataclass
class Verdict:
    """`what` is finished, stuck, refused, limit, turns or differs; `why` a reason to count by, `detail` one to read.

    turns: ends that take turns on one channel stop a design that would finish on channels of their own, and lowering
    has warned of that.

    `hang` is what the hang check said, where it was asked: runs, stuck or undecided. `shares`: ends take turns.
    `warned`: lowering says that one of them runs ahead of its core.
    """

    what: str
    why: str = ""
    detail: str = ""
    kinds: frozenset[str] = field(default_factory=frozenset[str])
    hang: str = ""
    shares: bool = False
    warned: bool = False


def checked(design: Design, name: str = "design.mlir") -> ModuleOp:
    """The design as it stands. Raises Refused where the verifier has something to say."""
    module = parse(design.text, name)
    found = verify(module)
    if found:
        raise Refused(*found)
    return module


def lower(design: Design, module: ModuleOp, *, whole: bool = True) -> list[str]:
    """Through the passes, in place: the driver that checks after each pass, or, faster, its passes without checks.

    Gives the texts of their warnings. Raises Refused with what they say.
    """
    sink = Sink()
    dynamic = "true" if design.dynamic else "false"
    unroll = f"aie-objectFifo-unroll{{default-dynamic={dynamic} peel-first-iteration={design.peel}}}"
    options = "packet-sw-objFifos=true" if design.packets else ""
    steps = ObjectFifoStatefulTransform(packet_sw_objfifos=design.packets).steps()
    if whole:
        steps = iter([(ObjectFifoStatefulTransform.name, options)])
    texts = [f"{name}{{{options}}}" if options else name for name, options in steps]
    pipeline = parse_pipeline(f"builtin.module(aie.device({','.join([*texts, unroll])}))")
    run(pipeline, module, sink, verify_each=whole)
    if sink.failed:
        raise Refused(*(d for d in sink.items if d.level is Level.ERROR))
    return [d.text for d in sink.items]


def turns_of(design: Design) -> Turns:
    """The fifos that lowering lets share a channel, for each such channel in the order of their objects."""
    module = parse(design.text, "design.mlir")
    sink = Sink()
    steps = [f"aie-objectfifo-{name}" for name in ("split", "allocate")]
    if design.packets:
        steps.insert(1, "aie-assign-packet-ids{packet-sw-objFifos=true}")
    else:
        steps.insert(1, "aie-assign-packet-ids")
    run(parse_pipeline(f"builtin.module(aie.device({','.join(steps)}))"), module, sink, verify_each=False)
    if sink.failed:
        return []
    senders = [op for op in module.walk() if isinstance(op, DmaEndpointOp) and op.role is Role.DRAINS]
    fifos = {end.symbol: end.fifo_name or "" for end in senders}
    return [[fifos[name] for name in end.turns] for end in senders if end.turns and end.turns[0] == end.symbol]


def before(design: Design, module: ModuleOp, seed: int, slack: int = 0, turns: Turns = ()) -> Outcome:
    """By its fifos."""
    feeds: dict[End, bytes | Sequence[bytes]] = dict(design.feeds.items())
    drains: dict[End, int | None] = dict(design.drains.items())
    return meaning(
        module, feeds=feeds, drains=drains, cores_end=design.cores_end, seed=seed, slack=slack, max_events=LIMIT,
        turns=turns,
    )  # fmt: skip


def after(design: Design, module: ModuleOp, seed: int, slack: int = 0) -> Outcome:
    """Lowered."""
    feeds: dict[End, bytes | Sequence[bytes]] = {f"{name}_shim_alloc": data for name, data in design.feeds.items()}
    drains: dict[End, int | None] = {f"{name}_shim_alloc": size for name, size in design.drains.items()}
    return simulate(
        module, feeds=feeds, drains=drains, cores_end=design.cores_end, seed=seed, slack=slack, max_events=8 * LIMIT
    )


def compare(
    design: Design, seeds: Sequence[int] = (0, 1), *, whole: bool = True, hang: bool = False, slack: int = 0
) -> Verdict:
    """Run both and compare: finished or stuck, every byte that came out, and how far each core got.

    Not `whole` is twice as fast, and leaves out the verifier and what other interleavings of the meaning say. `hang`
    asks the hang check as well. `slack` are the bytes that a stream holds on its way, in both.
    """
    try:
        verdict = _compare(design, seeds, whole, hang, slack)
    except Refused as refused:
        first = refused.diagnostics[0]
        verdict = Verdict("refused", _general(first.text), str(first))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__} in {Path(last.filename).name}:{last.name}"
        verdict = Verdict("differs", why, traceback.format_exc())
    verdict.kinds = design.kinds
    return verdict


def _compare(design: Design, seeds: Sequence[int], whole: bool, hang: bool, slack: int) -> Verdict:
    module = checked(design) if whole else parse(design.text, "design.mlir")
    apart = before(design, module, seeds[0], slack)
    if apart.trap is not None:
        return Verdict("differs", f"the meaning traps: {apart.trap.kind.value}", apart.report())
    if apart.status is Status.LIMIT:
        return Verdict("limit")
    turns = turns_of(design) if "three inputs" in design.kinds else []
    wanted = before(design, module, seeds[0], slack, turns) if turns else apart
    others = [("meaning", before(design, module, seed, slack, turns)) for seed in seeds[1:] if whole]
    fate = _fate(design, module, turns) if hang else ""
    warned = any(RUNS_AHEAD in text for text in lower(design, module, whole=whole))
    others += [("lowered", after(design, module, seed, slack)) for seed in seeds]
    for who, got in others:
        why = difference(design, wanted, got)
        if why:
            return Verdict("differs", f"{who}: {why}", f"wanted:\n{wanted.report()}\n{who}:\n{got.report()}")
    verdict = _judged_turns(design, apart, wanted, warned=warned) or Verdict(wanted.status.value)
    verdict.shares, verdict.warned = bool(turns), warned
    if fate:
        said = hang_check(None, module)
        verdict.hang = said.kind.value
        if not said.undecided and said.kind.value != fate:
            return Verdict("differs", f"hang check: {fate} against {said.kind.value}", said.reason, hang=verdict.hang)
    return verdict


def _judged_turns(design: Design, apart: Outcome, shared: Outcome, *, warned: bool) -> Verdict | None:
    """What turns do to a design beside what its fifos say: they may only stop it, and that is warned of."""
    for name in design.drains:
        one, other = (o.received[f"{name}_shim_alloc"] for o in (apart, shared))
        if name not in design.merged and not one.startswith(other):
            return Verdict("differs", "turns: other bytes", shared.report())
    if shared.status is apart.status:
        return None
    why = f"turns: {apart.status.value} against {shared.status.value}"
    return Verdict("turns" if warned and apart.finished and shared.stuck else "differs", why, shared.report())


def _fate(design: Design, module: ModuleOp, turns: Turns) -> str:
    """Whether all cores come to their end when the host's ends are always ready; empty where that proves nothing.

    Always is thirty times what the design was made for.
    """
    if "endless" in design.kinds:
        return ""
    feeds: dict[End, bytes | Sequence[bytes]] = {name: data * 30 for name, data in design.feeds.items()}
    outcome = meaning(module, feeds=feeds, cores_end=True, max_events=LIMIT, turns=turns)
    if outcome.status is Status.LIMIT or outcome.trap is not None:
        return ""
    return "stuck" if any(text.startswith("core") for text in outcome.missing) else "runs"


def difference(design: Design, wanted: Outcome, got: Outcome) -> str:
    """In what the two differ; empty where they do not."""
    if got.status is not wanted.status:
        trap = f" ({got.trap.kind.value})" if got.trap else ""
        return f"{wanted.status.value} against {got.status.value}{trap}"
    for name in design.drains:
        if not wanted.finished and name in design.merged:
            # What has come by then depends on who was faster.
            continue
        one, other = (_ordered(design, name, o.received[f"{name}_shim_alloc"]) for o in (wanted, got))
        if one != other:
            return f"{wanted.status.value}, but other bytes" if len(one) == len(other) else "another number of bytes"
    if not design.merged:
        # Everything has gone as far as it can; how far tells how much fits in between.
        if set(wanted.missing) != set(got.missing):
            return "other things are missing"
        if _progress(wanted) != _progress(got):
            return "cores got to other places"
    return ""


def _progress(outcome: Outcome) -> dict[str, bytes]:
    """How many rounds each core has done, from its counter."""
    return {name: data for name, data in outcome.memory.items() if name.startswith("n_")}


def _ordered(design: Design, name: str, data: bytes) -> Any:
    """What came out; for a merge the objects of each source, whose number is their first element, in their order."""
    size = design.merged.get(name)
    if size is None:
        return data
    objects = [data[at : at + size] for at in range(0, len(data), size)]
    width = 1 if "i8" in design.kinds else 2 if "i16" in design.kinds else 4
    return sorted(objects, key=lambda o: o[:width])


def _general(text: str) -> str:
    return re.sub(r"[@'\"][\w.]+['\"]?", "@..", re.sub(r"\d+", "N", text))


# --- designs as files -------------------------------------------------------------------------------------------------


def save(design: Design, path: Path, note: str = "") -> None:
    facts = {
        "feeds": {name: [d.hex() for d in data] for name, data in design.feeds.items()},
        "drains": design.drains,
        "merged": design.merged,
        "cores_end": design.cores_end,
        "dynamic": design.dynamic,
        "packets": design.packets,
        "peel": design.peel,
        "kinds": sorted(design.kinds),
    }
    notes = "".join(f"// {line}\n" for line in note.splitlines())
    path.write_text(f"// run: {json.dumps(facts)}\n{notes}{design.text}", encoding="utf-8")


def load(path: Path) -> Design:
    text = path.read_text(encoding="utf-8")
    facts = json.loads(text.partition("\n")[0].removeprefix("// run: "))
    feeds = {name: tuple(bytes.fromhex(d) for d in data) for name, data in facts["feeds"].items()}
    return Design(
        text, frozenset(facts["kinds"]), feeds, facts["drains"], facts["merged"], facts["cores_end"], facts["dynamic"],
        facts.get("packets", False), facts.get("peel", "auto"),
    )  # fmt: skip
