"""Runs many random designs with fifos both ways, by their fifos and lowered, and says where the two differ.

    python tests/bench/fifo_campaign.py 1000 [--seed 0] [--jobs 2] [--out FOLDER]

Prints what kinds of designs there were, how they ended, what was refused and why, how many share channels, and every
disagreement; each of those is shrunken and written to a file of the folder, which `fifo_compare.load` reads again.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sim"))

from fifo_compare import Verdict, compare, save
from fifo_designs import Design, Seeded, build

SHRINKS = 300
"""How many smaller designs are tried for each kind of disagreement."""


@dataclass
class Result:
    seed: int
    verdict: Verdict | None
    digest: str


def _verdict(design: Design, seed: int) -> Verdict:
    """Two interleavings. One design in eight goes through the driver that checks after each pass, for one in four the
    hang check is asked, and for one in three the streams hold something on their way."""
    seeds, slack = (0, 1 + seed % 1000), (0, 0, 32)[seed % 3]
    return compare(design, seeds, whole=seed % 8 == 0, hang=seed % 4 == 1, slack=slack)


def _ready() -> None:
    # What a design leaves behind is small next to what the imports hold; looking through all of it costs a tenth.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def one(seed: int) -> Result:
    """The design of a seed, both ways. No verdict where the seed gives no design."""
    design = build(Seeded(seed))
    if design is None:
        return Result(seed, None, "")
    verdict = _verdict(design, seed)
    return Result(seed, verdict, hashlib.sha256(design.text.encode()).hexdigest())


def shrink(seed: int, why: str, tries: int = SHRINKS) -> Design:
    """A design that differs in the same way, with as few and as small choices as could be found."""
    source = Seeded(seed)
    best = build(source)
    assert best is not None
    choices = source.made
    left = tries
    improved = True
    while improved and left > 0:
        improved = False
        for smaller in _smaller(choices):
            if left <= 0:
                break
            played = Seeded(None, smaller)
            design = build(played)
            made = _trimmed(played.made)
            if design is None or (len(made), made) >= (len(choices), choices):
                continue
            left -= 1
            verdict = _verdict(design, seed)
            if verdict.what in ("differs", "turns") and verdict.why == why:
                best, choices, improved = design, made, True
                break
    return best


def _trimmed(choices: Sequence[int]) -> list[int]:
    found = list(choices)
    while found and not found[-1]:
        found.pop()
    return found


def _smaller(choices: Sequence[int]) -> Iterator[list[int]]:
    """Without some of the choices, then with some of them 0, halved or one less."""
    size = len(choices)
    width = max(size // 2, 1)
    while width:
        for at in range(0, size, width):
            yield [*choices[:at], *choices[at + width :]]
        for at in range(0, size, width):
            if any(choices[at : at + width]):
                yield [*choices[:at], *[0] * len(choices[at : at + width]), *choices[at + width :]]
        width //= 2
    for at, value in enumerate(choices):
        for less in {value // 2, value - 1}:
            if 0 < less < value:
                yield [*choices[:at], less, *choices[at + 1 :]]


def _table(title: str, counts: Counter[str], most: int | None = None) -> None:
    print(f"\n{title}")
    for name, number in counts.most_common(most):
        print(f"{number:8}  {name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "fifo_campaign")
    parser.add_argument("--minutes", type=float, default=600, help="stop after that long")
    parser.add_argument("--log", type=Path, help="append every result to this file, a JSON object a line")
    parser.add_argument("--shrink", type=int, default=SHRINKS, help="tries for each kind of disagreement")
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    stuck: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    hangs: Counter[str] = Counter()
    sharing: Counter[str] = Counter()
    differing: dict[str, list[int]] = {}
    texts: set[str] = set()
    empty = 0
    start = time.monotonic()
    log = options.log.open("a", encoding="utf-8") if options.log else None
    with get_context("spawn").Pool(options.jobs, initializer=_ready) as pool:
        seeds = iter(range(options.seed, options.seed + 100 * options.number))
        for result in pool.imap_unordered(one, seeds, chunksize=8):
            verdict = result.verdict
            if verdict is None:
                empty += 1
                continue
            texts.add(result.digest)
            if log is not None:
                facts = {"seed": result.seed, "text": result.digest, "what": verdict.what, "why": verdict.why}
                facts["hang"] = verdict.hang
                log.write(json.dumps({**facts, "kinds": sorted(verdict.kinds)}) + "\n")
                log.flush()
            ends[verdict.what] += 1
            kinds.update(verdict.kinds)
            hangs[verdict.hang or "not asked"] += 1
            if verdict.shares:
                said = "warned of" if verdict.warned else "not warned of"
                sharing[f"{said}, {'stopped by it' if verdict.what == 'turns' else verdict.what}"] += 1
            if verdict.what == "stuck":
                stuck.update(verdict.kinds)
            elif verdict.what == "refused":
                refused[verdict.why] += 1
            elif verdict.what == "differs":
                differing.setdefault(verdict.why, []).append(result.seed)
                if len(differing[verdict.why]) == 1:
                    print(f"seed {result.seed} differs: {verdict.why}", flush=True)
            if ends.total() >= options.number:
                break
            if time.monotonic() - start > 60 * options.minutes:
                break
        pool.terminate()
    took = time.monotonic() - start
    print(f"{ends.total()} designs, {len(texts)} of them different, {took:.0f} s ({empty} seeds gave no design)")
    _table("how they ended", ends)
    print(f"\n{'':10}{'all':>8}{'stuck':>8}")
    for name, number in kinds.most_common():
        print(f"{name:20}{number:8}{stuck[name]:8}")
    _table("what the hang check said, with a host that is always ready", hangs)
    _table("where ends take turns on a channel (stopped by it: would finish without)", sharing)
    _table("refused", refused, 40)
    _table("disagreements", Counter({why: len(seeds) for why, seeds in differing.items()}))
    if differing:
        options.out.mkdir(parents=True, exist_ok=True)
    for number, (why, found) in enumerate(sorted(differing.items())):
        design = shrink(min(found), why, options.shrink)
        verdict = _verdict(design, min(found))
        path = options.out / f"{number:02}_{min(found)}.mlir"
        save(design, path, f"seed {min(found)}: {why}\n{verdict.detail}")
        print(f"{path}: {why}; seeds {', '.join(map(str, sorted(found)[:12]))}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
