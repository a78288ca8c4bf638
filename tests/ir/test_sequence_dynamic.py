"""Descriptors computed at run time: the words that a host finds for given values, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hostkit import Host, Stopped
from hypothesis import given, settings
from hypothesis import strategies as st
from passkit import Ran

from aiecc.ir.dialects.aie import RuntimeSequenceOp
from aiecc.ir.passes.dma_to_npu import DmaToNpu
from aiecc.ir.passes.tasks_to_npu import DmaTasksToNpu
from aiecc.ir.text import parse
from aiecc.ir.verify import verify

BASE, QUEUE = 0x1D000, 0x1D214
BURST = {"npu1": 2, "npu2": 3}


def host(text: str, args: dict[int, int]) -> Host:
    ran = Ran(text, DmaTasksToNpu(), DmaToNpu())
    assert not ran.said, ran.said
    return Host().run(next(ran.ops(RuntimeSequenceOp)), args)


@dataclass
class Transfer:
    """A pattern, outermost first, of which some entries are computed at run time."""

    bits: int
    sizes: list[int]
    strides: list[int]
    offset: int
    runtime: frozenset[int]
    """Places among the 4 sizes, the 4 strides and the offset."""

    @property
    def args(self) -> dict[int, int]:
        found = [*self.sizes, *self.strides, self.offset]
        return {1 + k: found[i] for k, i in enumerate(sorted(self.runtime))}

    def entry(self, i: int, value: int) -> str:
        return f"%v{i}" if i in self.runtime else str(value)

    def memcpy(self) -> str:
        sizes = ", ".join(self.entry(i, s) for i, s in enumerate(self.sizes))
        strides = ", ".join(self.entry(4 + i, t) for i, t in enumerate(self.strides))
        params = "".join(f", %v{i} : i64" for i in sorted(self.runtime))
        return f"""aie.device(npu1) {{
          %t = aie.tile(0, 0)
          aie.shim_dma_allocation @a(%t, MM2S, 0)
          aie.runtime_sequence @s(%m: memref<?xi{self.bits}>{params}) {{
            aiex.npu.dma_memcpy_nd(%m[0, 0, 0, {self.entry(8, self.offset)}][{sizes}][{strides}])
              {{id = 3 : i64, metadata = @a}} : memref<?xi{self.bits}>
          }}
        }}"""

    @property
    def start(self) -> int:
        """The first element."""
        return self.offset * self.strides[3]

    # --- what the registers should hold, from the formulas as they are written down ----------------------------------

    def known(self, i: int) -> bool:
        return i not in self.runtime

    @property
    def one_run(self) -> bool:
        """Neighbour after neighbour, as far as what is known at build time tells."""
        (_, s2, s1, s0), (_, t2, t1, t0) = self.sizes, self.strides
        k = self.known
        if not (k(7) and t0 == 1):
            return False
        if not (k(2) and s1 == 1) and not (k(6) and k(3) and t1 == s0):
            return False
        if k(1) and s2 == 1:
            return True
        return k(5) and k(3) and k(2) and t2 == s0 * s1

    def fields(self) -> dict[str, int]:
        s, t = self.sizes[::-1], self.strides[::-1]
        words = [x * self.bits // 32 for x in t]
        size3 = s[3] - 1 if s[3] > 1 else 0
        found = {
            "length": s[0] * self.bits // 32 * s[1] * s[2],
            "it_size": size3 if t[3] > 0 else 0,
            "it_stride": words[3] - 1 if s[3] > 1 and t[3] > 0 else 0,
            "s0": s[0] * self.bits // 32,
            "s1": s[1],
            "t0": 0 if words[0] < 1 else words[0] - 1,
            "t1": words[1] - 1 if s[1] > 1 else 0,
            "t2": words[2] - 1 if s[2] > 1 else 0,
        }
        if self.one_run:
            found |= dict.fromkeys(("s0", "s1", "t0", "t1", "t2"), 0)
        return found

    def words(self) -> tuple[int, ...]:
        f = self.fields()
        return (
            f["length"],
            0,
            0,
            f["s0"] << 20 | f["t0"],
            2 << 30 | f["s1"] << 20 | f["t1"],
            2 << 24 | f["t2"],
            f["it_size"] << 20 | f["it_stride"],
            1 << 25,
        )

    @property
    def legal(self) -> bool:
        """Whether a shim's registers can do this, and say so."""
        s, t = self.sizes[::-1], self.strides[::-1]
        if s[0] * self.bits % 32 or self.start * self.bits % 32 or s[3] > 64:
            return False
        if self.bits < 32 and s[0] > 1 and t[0] > 1:
            # Whole words only: what lies between two elements would come along.
            return False
        for i in range(4):
            stepping = s[i] > 1 or not self.known(3 - i)
            if stepping and not (i == 0 and t[0] == 1) and t[i] * self.bits % 32:
                return False
            if s[i] > 1 and t[i] < (1 if i < 3 else 0):
                return False
        f = self.fields()
        fits = all(f[x] < 1 << 10 for x in ("s0", "s1")) and all(f[x] < 1 << 20 for x in ("t0", "t1", "t2"))
        return fits and f["it_stride"] < 1 << 20


@st.composite
def transfers(draw: st.DrawFn) -> Transfer:
    bits = draw(st.sampled_from((8, 16, 32)))
    unit = 32 // bits
    inner = draw(st.integers(1, 64)) * unit
    sizes = [draw(st.integers(1, 70)), draw(st.integers(1, 9)), draw(st.integers(1, 1100)), inner]
    strides = [draw(st.integers(0, 1 << 21)) * unit for _ in range(3)] + [1]
    strides[1:3] = [max(t, unit) for t in strides[1:3]]
    if draw(st.booleans()):
        strides[2] = inner
    if draw(st.integers(0, 5)) == 0:
        strides[3] = draw(st.integers(0, 9)) * unit
    if draw(st.integers(0, 5)) == 0:
        # One entry that is no whole number of words.
        at = draw(st.integers(0, 3))
        strides[at] += draw(st.integers(1, 3))
    runtime = draw(st.sets(st.integers(0, 8), min_size=1))
    return Transfer(bits, sizes, strides, draw(st.integers(0, 99)) * unit, frozenset(runtime))


@settings(max_examples=150, deadline=None)
@given(transfers())
def test_transfers_get_the_words_of_the_formulas_or_none(t: Transfer) -> None:
    # What is known at build time is refused there, and then no host is asked.
    if verify(parse(t.memcpy(), "t.mlir")) or Ran(t.memcpy(), DmaToNpu()).said:
        assert not t.legal, "refused, though registers hold it"
        return
    try:
        found = host(t.memcpy(), t.args)
    except Stopped:
        assert not t.legal, "a guard refuses what registers hold"
        return
    assert t.legal, "neither the build nor a guard refused it"
    assert found.blocks == [(BASE + 3 * 0x20, t.words())]
    assert found.patches == [(BASE + 3 * 0x20 + 4, 0, t.start * t.bits // 8)]
    repeat = t.sizes[0] - 1 if t.sizes[0] > 1 else 0
    assert found.writes == [(QUEUE, repeat << 16 | 3)]


def test_both_kinds_come_up_in_the_generated_transfers() -> None:
    """Otherwise the test above proves little."""
    assert Transfer(8, [2, 3, 4, 8], [64, 32, 8, 1], 4, frozenset({0})).legal
    assert not Transfer(8, [2, 3, 4, 8], [64, 32, 9, 1], 4, frozenset({6})).legal
    assert not Transfer(32, [2, 3, 1100, 8], [64, 32, 9, 1], 4, frozenset({2})).legal
    assert Transfer(32, [2, 1, 1100, 8], [64, 32, 8, 1], 4, frozenset({2})).one_run


# --- tasks ------------------------------------------------------------------------------------------------------------


def task(bd: str, params: str = "", more: str = "", kind: str = "npu1", bits: int = 32) -> str:
    return f"""aie.device({kind}) {{
      %t = aie.tile(0, 0)
      %m1 = aie.tile(0, 1)
      aie.runtime_sequence @s(%m: memref<4096xi{bits}>{params}) {{
        %x = aiex.dma_configure_task(%t, MM2S, 1) {more} {{
          aie.dma_bd(%m : memref<4096xi{bits}> {bd}
          aie.end
        }} {{issue_token = true}}
        aiex.dma_start_task(%x)
      }}
    }}"""


def test_a_length_in_elements_becomes_words() -> None:
    text = task("offset = 8 len = %n) {bd_id = 2 : i32}", ", %n : i32", bits=16)
    found = host(text, {1: 40})
    assert found.blocks == [(BASE + 0x40, (20, 0, 0, 0, 2 << 30, 2 << 24, 0, 1 << 25))]
    assert found.patches == [(BASE + 0x44, 0, 16)]
    assert found.writes == [(0x1D21C, 1 << 31 | 2)]


def test_half_a_word_is_refused() -> None:
    text = task("offset = 0 len = %n) {bd_id = 2 : i32}", ", %n : i32", bits=16)
    with pytest.raises(Stopped, match="divisible"):
        host(text, {1: 41})


def test_a_length_whose_bytes_overflow_is_refused() -> None:
    text = task("offset = 0 len = %n) {bd_id = 2 : i32}", ", %n : i32")
    assert host(text, {1: (1 << 30) - 1}).blocks[0][1][0] == (1 << 30) - 1
    with pytest.raises(Stopped, match="field"):
        host(text, {1: 1 << 30})


def test_offsets_computed_at_run_time() -> None:
    text = task("offset = %n len = 64) {bd_id = 2 : i32}", ", %n : i32", bits=8)
    assert host(text, {1: 12}).patches == [(BASE + 0x44, 0, 12)]
    with pytest.raises(Stopped, match="divisible"):
        host(text, {1: 13})


def test_the_number_of_a_descriptor_computed_at_run_time() -> None:
    text = task("offset = 0 len = 64)", ", %i : i32", "bd_id %i : i32", "npu2")
    for id in (0, 7, 15):
        found = host(text, {1: id})
        assert found.blocks == [(BASE + id * 0x20, (64, 0, 0, 0, 3 << 30, 2 << 24, 0, 1 << 25))]
        assert found.patches == [(BASE + id * 0x20 + 4, 0, 0)]
        assert found.writes == [(0x1D21C, 1 << 31 | id)]
    for id in (16, -1):
        with pytest.raises(Stopped, match="max = 15"):
            host(text, {1: id})


def test_repeats_computed_at_run_time() -> None:
    text = task("offset = 0 len = 64) {bd_id = 1 : i32}", ", %r : i32", "repeat %r : i32")
    assert host(text, {1: 255}).writes == [(0x1D21C, 1 << 31 | 255 << 16 | 1)]
    with pytest.raises(Stopped, match="max = 255"):
        host(text, {1: 256})


def test_packets_and_lengths_of_chains() -> None:
    text = """aie.device(npu1) {
      %t = aie.tile(0, 0)
      aie.runtime_sequence @s(%m: memref<4096xi32>, %n: i32) {
        %x = aiex.dma_configure_task(%t, MM2S, 0, <pkt_type = 2, pkt_id = 5>) {
          aie.dma_bd(%m : memref<4096xi32> offset = 0 len = %n) {bd_id = 4 : i32}
          aie.next_bd ^b
        ^b:
          aie.dma_bd(%m : memref<4096xi32> offset = 64 len = %n) {bd_id = 9 : i32, burst_length = 128 : i32}
          aie.end
        }
      }
    }"""
    found = host(text, {1: 32})
    header = 1 << 30 | 5 << 19 | 2 << 16
    first = (32, 0, header, 0, 2 << 30, 2 << 24, 0, 9 << 27 | 1 << 26 | 1 << 25)
    second = (32, 0, header, 0, 1 << 30, 2 << 24, 0, 1 << 25)
    assert found.blocks == [(BASE + 4 * 0x20, first), (BASE + 9 * 0x20, second)]
    assert found.patches == [(BASE + 4 * 0x20 + 4, 0, 0), (BASE + 9 * 0x20 + 4, 0, 256)]


# --- refused when built -----------------------------------------------------------------------------------------------


def refused(text: str) -> str:
    return Ran(text, DmaTasksToNpu(), DmaToNpu()).only.text


def test_other_tiles_take_constants_only() -> None:
    text = """aie.device(npu1) {
      %t = aie.tile(0, 1)
      %b = aie.buffer(%t) {address = 0 : i32} : memref<64xi32>
      aie.runtime_sequence @s(%n: i32) {
        %x = aiex.dma_configure_task(%t, MM2S, 0) {
          aie.dma_bd(%b : memref<64xi32> offset = 0 len = %n) {bd_id = 0 : i32}
          aie.end
        }
      }
    }"""
    assert refused(text) == (
        "'aie.dma_bd' op runtime-valued BD size/stride/len/bd_id is only supported on shim NOC tiles; use compile-time "
        "constants on other tiles."
    )


def test_a_length_is_needed() -> None:
    text = task("offset = 0 sizes = [1, 1, %n, 8] strides = [0, 0, 16, 1]) {bd_id = 0 : i32}", ", %n : i64")
    assert refused(text) == (
        "'aie.dma_bd' op runtime-valued BD requires an explicit transfer length; provide a `len` for this buffer "
        "descriptor."
    )


def test_no_padding() -> None:
    pads = "pad [<const_pad_before = 1, const_pad_after = 1>]"
    text = task(f"offset = 0 len = %n sizes = [8] strides = [1] {pads}) {{bd_id = 0 : i32}}", ", %n : i32")
    assert refused(text) == "'aie.dma_bd' op zero padding is not supported with runtime sizes/strides/len."


@pytest.mark.parametrize(
    ("bits", "pattern", "said"),
    [
        (8, "sizes = [1, 1, 4, 6] strides = [0, 0, 8, 1]",
         "d0 size 6 elements at 1 bytes each is not a multiple of the 4-byte address-gen granule."),
        (8, "sizes = [1, 1, 4, 8] strides = [0, 0, 9, 1]",
         "stride 1 is 9 elements at 1 bytes each, not a multiple of the 4-byte address-gen granule."),
        (32, "sizes = [1, 1, 4, 8] strides = [0, 0, 0, 1]", "stride 1 must be positive when size > 1."),
        (32, "sizes = [1, 1, 1024, 8] strides = [0, 0, 9, 1]",
         "d1 size hardware value 1024 exceeds hardware range [0:1023]."),
        (32, "sizes = [65, 1, 4, 8] strides = [0, 0, 9, 1]",
         "iteration size hardware value 64 exceeds hardware range [0:63]."),
        (32, "sizes = [1, 1, 4, 8] strides = [0, 0, 1048577, 1]", "Stride 1 exceeds the [1:1048576] range."),
    ],
)  # fmt: skip
def test_constants_beside_values_are_checked(bits: int, pattern: str, said: str) -> None:
    repeat = "%r = arith.constant 64 : i32"
    text = task(f"offset = 0 len = %n {pattern}) {{bd_id = 0 : i32}}", ", %n : i32", "repeat %r : i32", bits=bits)
    text = text.replace("%x =", f"{repeat}\n        %x =") if "[65" in pattern else text.replace("repeat %r : i32", "")
    assert refused(text) == f"'aie.dma_bd' op {said}"


def test_an_offset_between_words() -> None:
    text = task("offset = 3 len = %n) {bd_id = 0 : i32}", ", %n : i32", bits=8)
    assert refused(text) == "'aie.dma_bd' op Offset must be aligned to 4 byte boundary."
