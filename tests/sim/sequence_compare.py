"""What becomes of a random sequence: its words run on the array model, against what memory should hold."""

from __future__ import annotations

from dataclasses import dataclass

from sequence_designs import Design

from aiecc.base.diag import Refused
from aiecc.ir.text import parse
from aiecc.ir.verify import verify
from aiecc.sim.host import run_words
from aiecc.sim.host_words import words_of


@dataclass
class Verdict:
    """`problem` is None where memory holds what it should; `refused` where there are no words. `events`: its size."""

    problem: str | None
    refused: bool = False
    events: int = 0
    words: int = 0


def compare(design: Design, seeds: tuple[int, ...] = (0,)) -> Verdict:
    """Lower, run under some interleavings, and look at every argument."""
    try:
        module = parse(design.text, "design.mlir")
        errors = verify(module)
        if errors:
            return Verdict(str(errors[0]), refused=True)
        words = words_of(module)
    except Refused as refused:
        return Verdict("\n".join(str(d) for d in refused.diagnostics), refused=True)
    wanted = design.expected()
    events = 0
    for seed in seeds:
        found = run_words(words, design.initial, seed=seed)
        events = found.outcome.events
        if not found.outcome.finished:
            return Verdict(f"seed {seed}: {found.outcome.report()}", events=events, words=len(words.data) // 4)
        if len(found.outcome.notes) != 1:
            return Verdict(f"seed {seed}: {found.outcome.notes}", events=events, words=len(words.data) // 4)
        for number, (got, want) in enumerate(zip(found.args, wanted, strict=True)):
            if got != want:
                at = next(n for n, (a, b) in enumerate(zip(got, want, strict=True)) if a != b)
                bad = sum(a != b for a, b in zip(got, want, strict=True))
                text = f"seed {seed}: argument {number}: {bad} bytes differ, the first is byte {at}"
                return Verdict(text, events=events, words=len(words.data) // 4)
    return Verdict(None, events=events, words=len(words.data) // 4)
