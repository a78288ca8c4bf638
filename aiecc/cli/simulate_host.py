"""`aiecc simulate --arg`: a runtime sequence from arrays in files to arrays in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from aiecc.base.codes import Exit
from aiecc.base.diag import refuse

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from aiecc.cli.simulate import SimulateOptions
    from aiecc.sim.core import Model
    from aiecc.sim.host_words import Words


def run_arguments(module: ModuleOp, given: SimulateOptions, kernels: Mapping[str, Model]) -> int:
    """Run one sequence, print the report, and write the arguments it has written."""
    from aiecc.sim.host import run_words
    from aiecc.sim.host_words import words_of
    from aiecc.sim.npy import read_npy

    if given.feeds or given.drains:
        refuse(
            "a sequence moves its arguments itself: --in and --out do not go with --arg and --seq",
            code="E0901",
            todo="see 'aiecc simulate --help'",
        )
    words = words_of(module, given.seq, given.device_name or None)
    both, outs = _numbered(given.args, words), _numbered(given.arg_outs, words)
    data = [read_npy(both[n]) if n in both and both[n].exists() else None for n in range(len(words.sizes))]
    found = run_words(
        words, data, kernels=kernels, seed=given.seed, slack=given.slack, max_events=given.max_events
    )  # fmt: skip
    print(found.outcome.report())
    for number, written in enumerate(found.written):
        file = outs.get(number) or both.get(number)
        if file is None and written:
            print(f"argument {number}: written, but no --arg {number}=FILE says where to")
        elif file is not None and (written or number in outs):
            _write(file, found.args[number], words, number, given.dtype)
            print(f"argument {number}: {len(found.args[number])} bytes written to {file}")
    return Exit.OK if found.outcome.finished else Exit.REFUSED


def _numbered(pairs: tuple[str, ...], words: Words) -> dict[int, Path]:
    found: dict[int, Path] = {}
    for word in pairs:
        name, equals, value = word.partition("=")
        if not name.isdecimal() or not equals or not value:
            refuse(f"'{word}' is not N=FILE", code="E0901", todo="see 'aiecc simulate --help'")
        number = int(name)
        if number >= len(words.sizes):
            refuse(f"sequence {words.name} has {len(words.sizes)} arguments; there is no number {number}", code="E0901")
        if number in found:
            refuse(f"argument {number} is given twice", code="E0901")
        found[number] = Path(value)
    return found


def _write(file: Path, data: bytes, words: Words, number: int, dtype: str) -> None:
    from aiecc.sim.npy import write_npy

    known = words.types[number]
    if dtype:
        write_npy(file, data, dtype)
    elif known is None:
        write_npy(file, data, "uint8")
    else:
        write_npy(file, data, known[0], known[1])
