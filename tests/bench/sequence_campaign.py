"""Runs the words of many random sequences on the array model and says where memory is not what it should be.

    python tests/bench/sequence_campaign.py 2000 [--seed 0] [--out FOLDER]

Each runs under two interleavings; those with transfers that have ids of their own run as tasks, too. Prints what kinds
there were, what was refused and why, and every disagreement; their designs are written to the folder.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sim"))

from sequence_compare import compare
from sequence_designs import Design, Round, build


def as_tasks(design: Design) -> Design:
    """The same transfers without ids of their own."""
    rounds = [
        Round([replace(t, form="task") if t.form == "memcpy" else t for t in r.tasks], r.loops) for r in design.rounds
    ]
    return replace(design, rounds=rounds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    ended: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    events = words = wrong = 0
    start = time.process_time()
    for seed in range(given.seed, given.seed + given.count):
        design = build(random.Random(seed), memcpy=True if seed % 5 == 4 else None)
        forms = [design, as_tasks(design)] if "memcpy" in design.kinds else [design]
        for form in forms:
            verdict = compare(form, (0, 1 + seed % 1000))
            events += verdict.events
            words += verdict.words
            if verdict.problem is None:
                ended["as it should be"] += 1
                kinds.update(form.kinds)
            elif verdict.refused:
                ended["refused"] += 1
                reasons[re.sub(r"\d+", "N", verdict.problem)[:100]] += 1
            else:
                ended["wrong"] += 1
                wrong += 1
                print(f"seed {seed}: {verdict.problem.splitlines()[0]}")
                if given.out is not None:
                    given.out.mkdir(parents=True, exist_ok=True)
                    (given.out / f"sequence_{seed}.mlir").write_text(form.text, encoding="utf-8")
    took = time.process_time() - start
    print(f"{sum(ended.values())} sequences in {took:.0f} s: " + ", ".join(f"{n} {what}" for what, n in ended.items()))
    print(f"{words} words, {events} events")
    print("kinds: " + ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items())))
    for reason, n in reasons.most_common():
        print(f"refused {n} times: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
