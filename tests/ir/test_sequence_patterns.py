"""Patterns whose registers would move something else than what they say."""

from __future__ import annotations

import time

import pytest
from seqkit import blocks, device, operations, problems, task, to_npu

from aiecc.npu.txn import Patch

ROWS = "%b : memref<65536xi16> offset = 0 len = {n} sizes = {sizes} strides = {strides}"


@pytest.mark.parametrize(("sizes", "strides", "n"), [([8], [2], 8), ([4, 4], [16, 2], 16), ([2, 2, 2], [64, 8, 4], 8)])
def test_elements_that_share_a_word_cannot_be_picked_out(sizes: list[int], strides: list[int], n: int) -> None:
    """Every other 16-bit element would come along: registers count words."""
    text = device(task("t", bd=ROWS.format(n=n, sizes=sizes, strides=strides)))
    said = "Stride 0 must be 1: elements of 2 bytes share a word, and only whole words are moved."
    assert to_npu(text).said == [f"'aie.dma_bd' op {said}"]


def test_copies_neither() -> None:
    copy = "aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 2]) {id = 0 : i64, metadata = @in}"
    (said,) = problems(device(f"    {copy} : memref<65536xi16>"))
    assert "Stride 0 must be 1: elements of 2 bytes share a word" in said


def test_whole_words_with_holes_are_fine() -> None:
    assert not to_npu(device(task("t", bd=ROWS.format(n=16, sizes=[8, 2], strides=[4, 1])))).said
    whole = "%a : memref<65536xi32> offset = 0 len = 8 sizes = [8] strides = [2]"
    assert not to_npu(device(task("t", bd=whole))).said


def test_padding_around_one_dimension_has_a_dimension_to_go_around() -> None:
    """One run needs no sizes, but zeros in front of it and behind it do."""
    pad = "pad [<const_pad_before = 2, const_pad_after = 1>]"
    bd = f"%mb : memref<4096xi32> offset = 0 len = 11 sizes = [8] strides = [1] {pad}"
    ((_, words),) = blocks(device(task("t", on="%mem, MM2S, 0", bd=bd)))
    # Length, then D0: 2 before (bits 31:26), size 8 (26:17); D1: size 1; 1 after D0 (22:17).
    assert words[0] == 11
    assert words[1] >> 26 == 2
    assert words[2] == 8 << 17
    assert words[3] == 1 << 17
    assert words[5] == 1 << 17


def test_offsets_computed_from_the_count_of_a_loop() -> None:
    """Unrolled and folded: every round has the offset its count gives."""
    body = f"""
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c2 {{
      %n = arith.index_cast %i : index to i32
      %k = arith.constant 100 : i32
      %base = arith.constant 7 : i32
      %m = arith.muli %n, %k : i32
      %o = arith.addi %base, %m : i32
      {task("t", bd="%a : memref<65536xi32> offset = %o len = 64", token=True)}
      aiex.dma_start_task(%t)
      aiex.dma_await_task(%t)
    }}"""
    found = [op.plus for op in operations(device(body)) if isinstance(op, Patch)]
    assert found == [4 * (7 + 100 * n) for n in (0, 2, 4, 6)]


HUGE = [2**21, 735134400, 2**31 - 1, 2**32 + 1, 2**62, 2**63 - 1]


@pytest.mark.parametrize("n", HUGE)
@pytest.mark.parametrize(
    ("pattern", "strides"),
    [
        ("[1, 1, {}, 64]", "[0, 0, 0, 1]"),
        ("[1, 1, 64, {}]", "[0, 0, 1, 2000000]"),
        ("[1, {0}, {0}, {0}]", "[0, 3, 2, 2]"),
        ("[1, 1, 2, 64]", "[0, 0, {}, 1]"),
    ],
)
def test_no_number_keeps_the_search_for_parts_busy(n: int, pattern: str, strides: str) -> None:
    """Nothing of this fits, and saying so takes a moment."""
    sizes, steps = pattern.format(n), strides.format(n)
    copy = f"aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0]{sizes}{steps}) {{id = 0 : i64, metadata = @in}} : memref<?xi32>"
    start = time.process_time()
    ran = to_npu(device(copy, args="%a: memref<?xi32>"))
    assert ran.sink.failed or problems(device(copy, args="%a: memref<?xi32>"))
    assert time.process_time() - start < 3
