"""Random sequences: the words' meaning on the array model against a model that knows neither descriptors nor words."""

from __future__ import annotations

import random
import re
import struct
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sequence_compare import compare
from sequence_designs import Arg, Design, Round, Task, Walk, build

from aiecc.ir.text import parse
from aiecc.npu.txn import BlockWrite, decode, encode
from aiecc.sim.host import run_words
from aiecc.sim.host_words import words_of

BATCH = 15


def good(design: Design, seeds: tuple[int, ...]) -> None:
    verdict = compare(design, seeds)
    # A chain whose descriptors are too long for their registers is not split up, so far.
    if verdict.refused and re.search(r"Size \d exceeds the \[0:(1023|255)\] range", str(verdict.problem)):
        return
    assert verdict.problem is None, f"{verdict.problem}\n{design.text}"


@pytest.mark.parametrize("first", range(0, 120, BATCH))
def test_memory_holds_what_the_sequence_says(first: int) -> None:
    for seed in range(first, first + BATCH):
        good(build(random.Random(seed)), (seed,))


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)
@given(st.randoms(use_true_random=False))
def test_found_by_hypothesis(choices: random.Random) -> None:
    good(build(choices), (0,))


@pytest.mark.parametrize("first", range(1000, 1032, 8))
def test_a_copy_and_the_task_of_the_same_transfer(first: int) -> None:
    """`npu.dma_memcpy_nd` writes the outermost dimension's size as its repeats; a task says both."""
    copies = 0
    for seed in range(first, first + 8):
        design = build(random.Random(seed), memcpy=True)
        copies += sum(task.form == "memcpy" for round in design.rounds for task in round.tasks)
        good(design, (0,))
        good(without_copies(design), (0,))
    assert copies > 8


def without_copies(design: Design) -> Design:
    rounds = [
        Round([replace(t, form="task") if t.form == "memcpy" else t for t in r.tasks], r.loops) for r in design.rounds
    ]
    return replace(design, rounds=rounds)


def test_the_kinds_of_designs() -> None:
    """All there is to a sequence comes up in a few hundred of them."""
    seen: set[str] = set()
    for seed in range(150):
        seen |= build(random.Random(seed)).kinds
    assert seen >= {
        "1 columns", "2 columns", "3 columns", "npu1", "npu2", "loop", "task", "chain", "memcpy", "1-D", "2-D", "3-D",
        "4-D", "i8", "i16", "i32", "bf16", "started again", "repeat", "fifo", "mem", "core", "slides",
        "full queue",
    }  # fmt: skip


def test_the_model_by_hand() -> None:
    # One column with a fifo.
    args = [Arg("i16", 16), Arg("i32", 8)]
    # Rows of two, 6 apart, twice, the second time 2 further on; written back as four words with a hole.
    read = Task("r", 0, True, [Walk(0, 2, (2, 2), (6, 1), 2, 2)], runs=2)
    write = Task("w", 0, False, [Walk(1, 1, (2, 2), (4, 1))])
    design = Design("npu2", [4], ["fifo"], args, [Round([read, write])], [struct.pack("<16h", *range(16)), bytes(32)])
    pairs = [(2, 3), (8, 9), (4, 5), (10, 11)]
    words = [low | high << 16 for low, high in pairs]
    assert design.expected()[0] == design.initial[0]
    assert struct.unpack("<8i", design.expected()[1]) == (0, words[0], words[1], 0, 0, words[2], words[3], 0)
    good(design, (0, 1, 2))


def does_something(data: tuple[int, ...], word: int) -> bool:
    """Strides mean nothing in dimensions of size 1. The iteration may be longer than what is run of it."""
    if word in (3, 4):
        return data[word] >> 20 & 0x3FF > 1
    return word < 2 or data[word] & 0xFFFFF > 0


@pytest.mark.parametrize("word", [0, 1, 3, 4, 5, 6])
def test_a_wrong_word_is_seen(word: int) -> None:
    """One bit of one descriptor, where that bit matters: length, address, sizes, strides, iteration.

    Now and then what it spoils is overwritten later.
    """
    seen = total = seed = 0
    while total < 8:
        seed += 1
        design = build(random.Random(seed))
        verdict = compare(design)
        if verdict.problem is not None:
            continue
        words = words_of(parse(design.text, "design.mlir"))
        ops = [entry.op for entry in decode(words.data).entries]
        shims = [(at, op) for at, op in enumerate(ops) if isinstance(op, BlockWrite) and not op.address >> 20 & 0x1F]
        matters = [at for at, op in shims if does_something(op.data, word)]
        if not matters:
            continue
        total += 1
        at = random.Random(seed).choice(matters)
        op = ops[at]
        assert isinstance(op, BlockWrite)
        data = list(op.data)
        if word == 1:
            # The address is in the patch that follows.
            after = ops[at + 1]
            ops[at + 1] = replace(after, plus=after.plus + 4)  # type: ignore[call-arg, union-attr]
        else:
            data[word] ^= 1
            ops[at] = replace(op, data=tuple(data))
        found = run_words(replace(words, data=encode(words.device.target, ops)), design.initial)
        seen += not found.outcome.finished or list(found.args) != design.expected()
    assert seen >= total - (4 if word == 6 else 2), (seen, total)
