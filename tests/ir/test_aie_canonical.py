"""What `canonicalize` makes of descriptors, locks and transfers."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
from aiekit import device, mem, read

from aiecc.base.diag import Sink
from aiecc.ir.passes.generic import Canonicalize
from aiecc.ir.text import print_module
from aiecc.ir.verify import verify


def canonical(body: str, target: str = "npu2") -> list[str]:
    """The lines of a test after the pass, without indentation."""
    module = read(device(body, target))
    Canonicalize().apply(module, Sink())
    assert [d.text for d in verify(module)] == []
    lines = [line.strip() for line in print_module(module).split("\n")]
    return lines[2:-2]


def sequence(body: str, args: str = "%x : memref<4096xi32>") -> str:
    return f"aie.runtime_sequence @s({args}) {{\n{indent(dedent(body).strip(), '  ')}\n}}"


def task(body: str, tile: str = "%s", args: str = "%x : memref<4096xi32>") -> str:
    inside = f"%q = aiex.dma_configure_task({tile}, MM2S, 0) {{\n{body}\naie.end\n}}"
    return sequence(f"{inside}\naiex.dma_start_task(%q)", args)


def bd(lines: list[str]) -> str:
    (found,) = (line for line in lines if line.startswith("aie.dma_bd"))
    return found[len("aie.dma_bd") :]


BUFFER = '%b = aie.buffer(%m) {sym_name = "b"} : memref<4096xi32>\n'
EXTERNAL = '%b = aie.external_buffer {sym_name = "b"} : memref<4096xi32>\n'


# --- constants --------------------------------------------------------------------------------------------------------


def test_constants_become_numbers():
    body = """\
      %o = arith.constant 16 : i32
      %l = arith.constant 64 : i32
      %a = arith.constant 2 : i64
      %i = arith.constant 100 : index
      aie.dma_bd(%x : memref<4096xi32> offset = %o len = %l sizes = [%a, 32] strides = [%i : index, 1])"""
    lines = canonical(task(body))
    assert bd(lines) == "(%arg0 : memref<4096xi32> offset = 16 len = 64 sizes = [2, 32] strides = [100, 1])"
    assert not any("arith.constant" in line for line in lines)


def test_run_time_values_stay_in_their_places():
    body = """\
      %l = arith.constant 64 : i32
      %a = arith.constant 4 : i64
      aie.dma_bd(%x : memref<4096xi32> offset = %o len = %l sizes = [%n, %a, 4] strides = [%a, %n, 1])"""
    assert bd(canonical(task(body, args="%x : memref<4096xi32>, %o : i32, %n : i64"))) == (
        "(%arg0 : memref<4096xi32> offset = %arg1 len = 64 sizes = [%arg2, 4, 4] strides = [4, %arg2, 1])"
    )


def test_a_constant_that_its_field_cannot_hold_stays():
    body = """\
      %o = arith.constant 4294967296 : i64
      aie.dma_bd(%x : memref<4096xi32> offset = %o : i64 len = 64)"""
    lines = canonical(task(body))
    assert bd(lines).startswith("(%arg0 : memref<4096xi32> offset = %c4294967296_i64")


# --- a shim's descriptors that need no dimensions ---------------------------------------------------------------------

LINEAR = [
    ("two dimensions", "len = 1024 sizes = [2, 512] strides = [512, 1]", "len = 1024"),
    ("three dimensions, an offset", "offset = 8 len = 1024 sizes = [4, 8, 32] strides = [256, 32, 1]",
     "offset = 8 len = 1024"),
    ("strides that are never taken", "len = 512 sizes = [1, 1, 512] strides = [7, 99, 1]", "len = 512"),
    ("larger than a dimension may be", "sizes = [2, 2048] strides = [2048, 1]", "len = 4096"),
    ("one dimension already", "len = 512 sizes = [512] strides = [1]", None),
    ("no dimensions already", "len = 512", None),
    ("gaps between rows", "len = 1024 sizes = [2, 512] strides = [513, 1]", None),
    ("every second element", "len = 1024 sizes = [2, 512] strides = [512, 2]", None),
    ("rows in another order", "len = 64 sizes = [8, 8] strides = [1, 8]", None),
    ("a pattern that runs several times", "len = 512 sizes = [2, 512] strides = [512, 1]", None),
    ("a length that is the whole buffer's", "sizes = [2, 512] strides = [512, 1]", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "pattern", "expected"), LINEAR, ids=[e[0] for e in LINEAR])
def test_linear(name: str, pattern: str, expected: str | None):
    printed = f"(%arg0 : memref<4096xi32> {pattern if expected is None else expected})"
    assert bd(canonical(task(f"aie.dma_bd(%x : memref<4096xi32> {pattern})"))) == printed


def test_the_rest_of_the_descriptor_stays():
    rest = "{bd_id = 3 : i32, burst_length = 64 : i32, packet = #aie.packet_info<pkt_id = 1>}"
    line = f"aie.dma_bd(%x : memref<4096xi32> len = 64 sizes = [8, 8] strides = [8, 1]) {rest}"
    assert bd(canonical(task(line))) == f"(%arg0 : memref<4096xi32> len = 64) {rest}"


def test_constants_first():
    body = "%n = arith.constant 8 : i64\naie.dma_bd(%x : memref<4096xi32> len = 64 sizes = [%n, 8] strides = [%n, 1])"
    assert bd(canonical(task(body))) == "(%arg0 : memref<4096xi32> len = 64)"


def test_a_length_known_at_run_time_only():
    pattern = "len = %arg1 sizes = [8, 8] strides = [8, 1]"
    line = "aie.dma_bd(%x : memref<4096xi32> len = %n sizes = [8, 8] strides = [8, 1])"
    assert bd(canonical(task(line, args="%x : memref<4096xi32>, %n : i32"))) == f"(%arg0 : memref<4096xi32> {pattern})"


PLACES = [
    ("shim program", EXTERNAL, "shim_dma", "%s", True),
    ("memory tile", BUFFER, "memtile_dma", "%m", False),
]


@pytest.mark.parametrize(("name", "buffer", "kind", "tile", "folded"), PLACES, ids=[e[0] for e in PLACES])
def test_only_on_shims(name: str, buffer: str, kind: str, tile: str, folded: bool):
    line = "aie.dma_bd(%b : memref<4096xi32> len = 1024 sizes = [2, 512] strides = [512, 1])"
    pattern = "len = 1024" if folded else "len = 1024 sizes = [2, 512] strides = [512, 1]"
    assert bd(canonical(buffer + mem(line, kind, tile))) == f"(%b : memref<4096xi32> {pattern})"


def test_only_in_tasks_on_shims():
    pattern = "len = 64 sizes = [8, 8] strides = [8, 1]"
    line = f"aie.dma_bd(%b : memref<4096xi32> {pattern})"
    assert bd(canonical(BUFFER + task(line, "%m"))) == f"(%b : memref<4096xi32> {pattern})"


# --- locks ------------------------------------------------------------------------------------------------------------


def uses(value: str) -> list[str]:
    body = f"""\
%l = aie.lock(%t, 0) {{sym_name = "l"}}
%c = aie.core(%t) {{
  %v = arith.constant {value} : i32
  aie.use_lock(%l, AcquireGreaterEqual, %v)
  aie.use_lock(%l, Release, %v)
  aie.end
}}"""
    return [line.split(", ")[1] for line in canonical(body) if line.startswith("aie.use_lock")]


def test_nothing_to_take():
    assert uses("0") == ["Release"]
    assert uses("1") == ["AcquireGreaterEqual", "Release"]


# --- cycles of descriptors --------------------------------------------------------------------------------------------


def chain(blocks: str, back: str = "", kind: str = "mem", tile: str = "%t", before: str = "") -> list[str]:
    """What is left of a chain's blocks, in order: a letter is a descriptor, with what it does to locks around it.

    `blocks` names the blocks in the order they run, `back` the number of the one that the last goes back to.
    """
    buffers = (
        "".join(f'%{name} = aie.buffer({tile}) {{sym_name = "{name}"}} : memref<64xi32>\n' for name in "ABC")
        + f'%l = aie.lock({tile}, 0) {{sym_name = "l"}}\n'
    )
    forms = {
        "A": "aie.dma_bd(%A : memref<64xi32>)",
        "B": "aie.dma_bd(%B : memref<64xi32>)",
        "a": "aie.dma_bd(%A : memref<64xi32> offset = 32 len = 32)",
        "p": "aie.dma_bd(%A : memref<64xi32>) {packet = #aie.packet_info<pkt_id = 3>}",
        "i": "aie.dma_bd(%A : memref<64xi32>) {iteration = #aie.bd_iteration<size = 4, stride = 16, current = 0>}",
        "r": "aie.dma_bd(%A : memref<64xi32>)\n%c = arith.constant 1 : i32\naie.use_lock(%l, Release, %c)",
        "R": "aie.dma_bd(%A : memref<64xi32>)\n%c = arith.constant 2 : i32\naie.use_lock(%l, Release, %c)",
        "1": "aie.dma_bd(%A : memref<64xi32>) {bd_id = 1 : i32}",
        "2": "aie.dma_bd(%A : memref<64xi32>) {bd_id = 2 : i32}",
    }
    text = before or "%d = aie.dma_start(MM2S, 0, ^b0, ^end)\n"
    for i, name in enumerate(blocks):
        target = f"^b{i + 1}" if i + 1 < len(blocks) else f"^b{back}" if back else "^end"
        text += f"^b{i}:\n{forms[name].replace('%c', f'%c{i}')}\naie.next_bd {target}\n"
    lines = canonical(f"{buffers}%p = aie.{kind}({tile}) {{\n{text}^end:\naie.end\n}}")
    return [line for line in lines if line.startswith(("aie.dma_bd", "aie.next_bd"))]


def left(blocks: str, back: str = "", **rest: str) -> int:
    """How many descriptors of a chain are left."""
    return sum(line.startswith("aie.dma_bd") for line in chain(blocks, back, **rest))


CYCLES = [
    ("twice the same", "AA", "0", 1),
    ("two, twice", "ABAB", "0", 2),
    ("two, three times", "ABABAB", "0", 2),
    ("no whole number of times", "ABA", "0", 3),
    ("not the same order", "ABBA", "0", 4),
    ("once", "AB", "0", 2),
    ("something before", "BAA", "1", 2),
    ("the first only before", "AAA", "1", 2),
    ("equal locks", "rArA", "0", 2),
    ("other values of a lock", "rARA", "0", 4),
    ("other parts of a buffer", "Aa", "0", 2),
    ("another header", "Ap", "0", 2),
    ("equal headers", "pp", "0", 1),
    ("descriptors with numbers", "12", "0", 2),
    ("descriptors that count their runs", "ii", "0", 2),
    ("a chain that ends", "ABAB", "", 4),
]


@pytest.mark.parametrize(("name", "blocks", "back", "count"), CYCLES, ids=[e[0] for e in CYCLES])
def test_cycles(name: str, blocks: str, back: str, count: int):
    # In a memory tile, whose descriptors may count their runs.
    assert left(blocks, back, kind="memtile_dma", tile="%m") == count


def test_a_shorter_cycle_goes_round_in_itself():
    lines = chain("ABAB", "0")
    assert [line.split(" ")[1] for line in lines if line.startswith("aie.next_bd")] == ["^bb2", "^bb1"]
    assert ["%A" in lines[0], "%B" in lines[2]] == [True, True]


def test_blocks_another_channel_enters_stay():
    # The second channel starts at the second A, runs A B, and goes on in the first channel's cycle: A B for ever.
    before = "%d = aie.dma_start(MM2S, 0, ^b0, ^more)\n^more:\n%e = aie.dma_start(MM2S, 1, ^b2, ^end)\n"
    lines = chain("ABAB", "0", before=before)
    assert [line.split(" ")[1] for line in lines if line.startswith("aie.next_bd")] == ["^bb3", "^bb2", "^bb5", "^bb2"]


# --- the command processor's transfers --------------------------------------------------------------------------------

TRANSFERS = [
    ("two dimensions", "[0, 0, 0, 0][1, 1, 2, 512][0, 0, 512, 1]", "[0, 0, 0, 0][1, 1, 1, 1024][0, 0, 0, 1]"),
    ("three dimensions", "[0, 0, 0, 0][1, 3, 4, 5][0, 20, 5, 1]", "[0, 0, 0, 0][1, 1, 1, 60][0, 0, 0, 1]"),
    ("runs several times", "[5, 0, 0, 0][2, 1, 2, 4][4096, 0, 4, 1]", "[5, 0, 0, 0][2, 1, 1, 8][4096, 0, 0, 1]"),
    # 1 * 64 + 3 * 8 + 2 * 1
    ("starts inside", "[0, 1, 3, 2][1, 2, 8, 8][0, 64, 8, 1]", "[0, 0, 0, 90][1, 1, 1, 128][0, 0, 0, 1]"),
    # The stride is not taken, but its offset is: 3 * 99.
    ("a size of one", "[0, 0, 3, 0][1, 2, 1, 4][0, 4, 99, 1]", "[0, 0, 0, 297][1, 1, 1, 8][0, 0, 0, 1]"),
    ("linear already", "[0, 0, 0, 7][2, 1, 1, 64][64, 0, 0, 1]", None),
    ("gaps between rows", "[0, 0, 0, 0][1, 1, 2, 4][0, 0, 3, 1]", None),
    ("gaps between planes", "[0, 0, 0, 0][1, 2, 3, 4][0, 7, 4, 1]", None),
    ("every second element", "[0, 0, 0, 0][1, 1, 2, 4][0, 0, 8, 2]", None),
    ("computed at run time", "[0, 0, 0, 0][1, 1, %arg1, 4][0, 0, 4, 1]", None),
]


@pytest.mark.parametrize(("name", "before", "after"), TRANSFERS, ids=[e[0] for e in TRANSFERS])
def test_transfer(name: str, before: str, after: str | None):
    rest = "{id = 7 : i64, issue_token = true, metadata = @a} : memref<4096xi32>"
    line = f"aiex.npu.dma_memcpy_nd(%x{before.replace('%arg1', '%n')}, packet = <pkt_id = 5>) {rest}"
    lines = canonical("aie.shim_dma_allocation @a(%s, MM2S, 0)\n" + sequence(line, "%x : memref<4096xi32>, %n : i64"))
    expected = before if after is None else after
    assert f"aiex.npu.dma_memcpy_nd(%arg0{expected}, packet = <pkt_id = 5>) {rest}" in lines


def test_a_padded_transfer_keeps_its_dimensions():
    line = (
        "aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 2, 4][0, 0, 4, 1]) "
        "{d0_zero_after = 1 : i64, id = 7 : i64, metadata = @a} : memref<4096xi32>"
    )
    lines = canonical("aie.shim_dma_allocation @a(%s, MM2S, 0)\n" + sequence(line))
    assert line.replace("%x", "%arg0") in lines


def test_loads_of_one_device():
    one, other = "aiex.npu.load_pdi {device_ref = @a}", "aiex.npu.load_pdi {device_ref = @b}"
    wait = "aiex.npu.preempt {level = 0 : ui8}"
    body = sequence("\n".join([one, one, one, other, one, wait, one]))
    module = read(device(body) + "".join(f"aie.device(npu2) @{name} {{}}\n" for name in "ab"))
    Canonicalize().apply(module, Sink())
    assert verify(module) == []
    lines = [line.strip() for line in print_module(module).split("\n")]
    assert [line for line in lines if line.startswith("aiex")] == [one, other, one, wait, one]
