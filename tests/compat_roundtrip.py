"""How much of a folder of .mlir files is read and printed to a fixed point. Run by hand:

    python tests/compat_roundtrip.py FOLDER [--failures] [--verify]

Files that expect errors are left out; every other file counts when each of its parts (split by `// -----`) is read,
printed, read again and printed to the same text. `--verify` also counts the parts whose verifiers find nothing.
"""

from __future__ import annotations

import collections
import re
import sys
import time
from pathlib import Path

from aiecc.base.diag import Refused, render
from aiecc.ir.text import parse, print_module
from aiecc.ir.verify import verify

_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_WANTS_ERRORS = re.compile(r"expected-error|RUN:.*\bnot\b|CHECK.*error:")


def parts(text: str) -> list[tuple[int, str]]:
    """The parts of a file, each with the number of its first line."""
    found: list[tuple[int, str]] = []
    start, line = 0, 1
    for match in _SPLIT.finditer(text):
        found.append((line, text[start : match.start()]))
        line += text.count("\n", start, match.end())
        start = match.end()
    found.append((line, text[start:]))
    return found


def problem(text: str, file: str, line: int, check: bool) -> str:
    """What keeps a part from a fixed point; empty when nothing does."""
    try:
        module = parse(text, file, first_line=line)
        first = print_module(module)
        second = print_module(parse(first, "printed"))
    except Refused as error:
        return render(error.diagnostics[0])
    if first != second:
        pairs = zip(first.splitlines(), second.splitlines(), strict=False)
        one, two = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        return f"{file}: not a fixed point\n    {one.strip()}\n    {two.strip()}"
    errors = verify(module, first_only=True) if check else []
    return f"{file}: verifier: {render(errors[0])}" if errors else ""


def main(arguments: list[str]) -> int:
    folder = Path(next((a for a in arguments if not a.startswith("--")), "."))
    check = "--verify" in arguments
    files = sorted(folder.rglob("*.mlir"))
    counts: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    start = time.perf_counter()
    for path in files:
        text = path.read_text(encoding="utf-8", errors="surrogateescape").replace("NPUDEVICE", "npu2")
        if _WANTS_ERRORS.search(text):
            counts["expect errors"] += 1
            continue
        counts["files"] += 1
        counts["bytes"] += len(text)
        bad = [why for line, part in parts(text) if (why := problem(part, str(path), line, check))]
        failures += bad
        counts["good files"] += not bad
    seconds = time.perf_counter() - start
    if "--failures" in arguments:
        print("\n".join(failures))
    good, total = counts["good files"], counts["files"]
    print(f"{good} of {total} files ({100 * good / max(total, 1):.1f} %) reach a fixed point")
    print(f"{counts['expect errors']} files that expect errors left out; {seconds:.1f} s, {counts['bytes'] // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
