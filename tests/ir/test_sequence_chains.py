"""Chains as templates: the same one in programs of tiles and in sequences, with buffers, locks and numbers put in."""

import pytest
from passkit import Ran, line_of
from seqkit import device, placed, problems, to_npu

from aiecc.ir.dialects.aie.bd import DmaBdOp
from aiecc.ir.dialects.aie.cores import DmaProgram
from aiecc.ir.dialects.aie.dma import DmaStartOp
from aiecc.ir.dialects.aiex.transfers import NpuWriteBdOp
from aiecc.ir.passes.bd_chains import MaterializeBdChains
from aiecc.ir.verify import verify

TYPES = "(memref<64xi32>, memref<64xi32>, index, index)"
PING_PONG = """
  aie.bd_chain @pp(%x: memref<64xi32>, %y: memref<64xi32>, %take: index, %give: index) {
    %one = arith.constant 1 : i32
    aie.next_bd ^p
  ^p:
    aie.use_lock(%take, AcquireGreaterEqual, %one)
    aie.dma_bd(%x : memref<64xi32> offset = 0 len = 64)
    aie.use_lock(%give, Release, %one)
    aie.next_bd ^q
  ^q:
    aie.use_lock(%take, AcquireGreaterEqual, %one)
    aie.dma_bd(%y : memref<64xi32> offset = 0 len = 64)
    aie.use_lock(%give, Release, %one)
    aie.next_bd ^p
  }
"""


def buffers(tile: str, base: str) -> str:
    return f"""
  %{base}0 = aie.buffer(%{tile}) {{address = 8192 : i32, sym_name = "{base}0"}} : memref<64xi32>
  %{base}1 = aie.buffer(%{tile}) {{address = 8448 : i32, sym_name = "{base}1"}} : memref<64xi32>
  %{base}_full = aie.lock(%{tile}, 4) {{sym_name = "{base}_full"}}
  %{base}_free = aie.lock(%{tile}, 5) {{sym_name = "{base}_free"}}
"""


def ping_pong_written_out(op: str, tile: str, base: str, channel: str) -> str:
    """What a start of the chain on a channel of a tile has to become."""

    def block(buffer: str, label: str, after: str) -> str:
        return f"""
      ^{label}:
        aie.use_lock(%{base}_full, AcquireGreaterEqual, %one)
        aie.dma_bd(%{base}{buffer} : memref<64xi32> offset = 0 len = 64)
        aie.use_lock(%{base}_free, Release, %one)
        aie.next_bd ^{after}"""

    return f"""
    {op}(%{tile}) {{
        %one = arith.constant 1 : i32
        %0 = aie.dma_start({channel}, ^p, ^e){block("0", "p", "q")}{block("1", "q", "p")}
      ^e:
        aie.end
    }}
"""


@pytest.mark.parametrize(("op", "tile"), [("aie.mem", "core"), ("aie.memtile_dma", "mem"), ("aie.shim_dma", "shim")])
def test_a_ping_pong_cycle_in_a_program(op: str, tile: str) -> None:
    """The cycle goes through the first descriptor, so that its entry only leads in: the channel starts behind it."""
    kept = (
        buffers(tile, "x")
        if tile != "shim"
        else buffers(tile, "x")
        .replace('aie.buffer(%shim) {address = 8192 : i32, sym_name = "x0"}', 'aie.external_buffer {sym_name = "x0"}')
        .replace('aie.buffer(%shim) {address = 8448 : i32, sym_name = "x1"}', 'aie.external_buffer {sym_name = "x1"}')
    )
    use = f"""
    {op}(%{tile}) {{
      aie.dma_start_task @pp(%x0, %x1, %x_full, %x_free) : {TYPES} on (MM2S, 1)
      aie.end
    }}
"""
    ran = Ran(device("", before=PING_PONG + kept + use), MaterializeBdChains())
    wanted = Ran(device("", before=PING_PONG + kept + ping_pong_written_out(op, tile, "x", "MM2S, 1")))
    assert not ran.said
    assert ran.text == wanted.text
    assert verify(ran.module) == []


def test_the_same_chain_in_a_sequence() -> None:
    text = device(
        f"""
    %t = aiex.dma_start_bd_chain @pp(%x0, %x1, %x_full, %x_free) : {TYPES} on (%mem, MM2S, 2)
    aiex.dma_free_task(%t)
""",
        before=PING_PONG + buffers("mem", "x"),
    )
    ran = Ran(text, MaterializeBdChains())
    wanted = Ran(
        device(
            """
    %t = aiex.dma_configure_task(%mem, MM2S, 2) {
      %one = arith.constant 1 : i32
      aie.next_bd ^p
    ^p:
      aie.use_lock(%x_full, AcquireGreaterEqual, %one)
      aie.dma_bd(%x0 : memref<64xi32> offset = 0 len = 64)
      aie.use_lock(%x_free, Release, %one)
      aie.next_bd ^q
    ^q:
      aie.use_lock(%x_full, AcquireGreaterEqual, %one)
      aie.dma_bd(%x1 : memref<64xi32> offset = 0 len = 64)
      aie.use_lock(%x_free, Release, %one)
      aie.next_bd ^p
    }
    aiex.dma_start_task(%t)
    aiex.dma_free_task(%t)
""",
            before=PING_PONG + buffers("mem", "x"),
        )
    )
    assert ran.text == wanted.text
    npu = to_npu(text)
    assert not npu.said
    # Each of the two goes on with the other.
    written = list(to_npu(text, MaterializeBdChains()).ops(NpuWriteBdOp))
    assert [(op.field("bd_id"), op.field("use_next_bd"), op.field("next_bd")) for op in written] == [
        (0, 1, 1),
        (1, 1, 0),
    ]  # fmt: skip
    assert [(op.field("lock_acq_id"), op.field("lock_acq_val"), op.field("lock_rel_id")) for op in written] == [
        (68, -1, 69),
        (68, -1, 69),
    ]


def test_several_channels_of_one_program_and_some_written_by_hand() -> None:
    use = f"""
    aie.mem(%core) {{
      %one = arith.constant 1 : i32
      %0 = aie.dma_start(S2MM, 0, ^by_hand, ^more)
    ^by_hand:
      aie.use_lock(%x_free, AcquireGreaterEqual, %one)
      aie.dma_bd(%x0 : memref<64xi32> offset = 0 len = 64)
      aie.use_lock(%x_full, Release, %one)
      aie.next_bd ^by_hand
    ^more:
      aie.dma_start_task @pp(%x0, %x1, %x_full, %x_free) : {TYPES} on (MM2S, 0)
      aie.dma_start_task @pp(%x1, %x0, %x_full, %x_free) : {TYPES} on (MM2S, 1) {{repeat_count = 3 : i32}}
      aie.end
    }}
"""
    ran = Ran(device("", before=PING_PONG + buffers("core", "x") + use), MaterializeBdChains())
    assert not ran.said
    assert verify(ran.module) == []
    starts = list(ran.ops(DmaStartOp))
    assert [(s.direction.word, s.index, s.repeat_count) for s in starts] == [
        ("S2MM", 0, 0),
        ("MM2S", 0, 0),
        ("MM2S", 1, 3),
    ]
    firsts = [next(op for op in s.dest.ops if isinstance(op, DmaBdOp)) for s in starts]
    names = [op.buffer.owner.properties["sym_name"].data for op in firsts]  # pyright: ignore
    assert names == ["x0", "x0", "x1"]


NUMBERS = """
  aie.bd_chain @part(%x: memref<4096xi32>, %at: i32, %n: i32, %s1: i64, %s0: i64, %t1: i64) {
    aie.dma_bd(%x : memref<4096xi32> offset = %at len = %n sizes = [%s1, %s0] strides = [%t1, 1])
    aie.end
  }
"""
NUMBER_TYPES = "(memref<4096xi32>, i32, i32, i64, i64, i64)"


@pytest.mark.parametrize("where", ["device", "place"])
def test_numbers_as_arguments(where: str) -> None:
    """Constants become the descriptor's numbers, in sequences and in programs, without canonicalization."""
    numbers = """
    %at = arith.constant 16 : i32
    %n = arith.constant 32 : i32
    %s1 = arith.constant 4 : i64
    %s0 = arith.constant 8 : i64
    %t1 = arith.constant 64 : i64
"""
    inside = "" if where == "device" else numbers
    program = f"""
  aie.memtile_dma(%mem) {{
    {inside}
    aie.dma_start_task @part(%mb, %at, %n, %s1, %s0, %t1) : {NUMBER_TYPES} on (MM2S, 0)
    aie.end
  }}
"""
    before = NUMBERS + (numbers if where == "device" else "") + program
    sequence = f"""
    {inside}
    %t = aiex.dma_start_bd_chain @part(%mb, %at, %n, %s1, %s0, %t1) : {NUMBER_TYPES} on (%mem, MM2S, 1)
"""
    ran = Ran(device(sequence, before=before), MaterializeBdChains())
    assert not ran.said
    made = placed(ran)
    assert len(made) == 2
    for bd in made:
        assert (bd.offset, bd.len, bd.sizes, bd.strides) == (16, 32, [4, 8], [64, 1])
        assert len(bd.operands) == 1


def test_run_time_numbers_stay_values_in_a_sequence() -> None:
    sequence = """
    %s1 = arith.constant 4 : i64
    %s0 = arith.constant 8 : i64
    %t1 = arith.constant 64 : i64
    %t = aiex.dma_start_bd_chain @part(%mb, %k, %k, %s1, %s0, %t1) : (memref<4096xi32>, i32, i32, i64, i64, i64)
      on (%mem, MM2S, 1)
"""
    ran = Ran(device(sequence, before=NUMBERS, args="%k: i32"), MaterializeBdChains())
    (bd,) = placed(ran)
    assert bd.offset is None and bd.len is None and bd.sizes == [4, 8] and bd.strides == [64, 1]


def test_the_packet_of_an_allocation_comes_along() -> None:
    before = """
  aie.shim_dma_allocation @sent(%shim1, MM2S, 1, <pkt_type = 2, pkt_id = 9>)
  aie.bd_chain @one(%x: memref<65536xi32>) {
    aie.dma_bd(%x : memref<65536xi32> offset = 0 len = 64)
    aie.end
  }
"""
    ran = Ran(
        device(
            "%t = aiex.dma_start_bd_chain_for @one(%a) : (memref<65536xi32>) for @sent {issue_token = true, "
            "repeat_count = 3 : i32}",
            before=before,
        ),
        MaterializeBdChains(),
    )
    assert ran.lines("dma_configure_task") == [
        "%0 = aiex.dma_configure_task(%shim_noc_tile_1_0, MM2S, 1, <pkt_type = 2, pkt_id = 9>) {"
    ]
    assert ran.lines("issue_token") == ["} {issue_token = true, repeat_count = 3 : i32}"]
    assert ran.lines("dma_start_task") == ["aiex.dma_start_task(%0)"]


ONE = """
  aie.bd_chain @one(%x: memref<64xi32>) {
    aie.dma_bd(%x : memref<64xi32> offset = 0 len = 64)
    aie.end
  }
"""


def in_mem(text: str, channel: str = "MM2S, 0") -> str:
    return f"aie.mem(%core) {{\n {text} on ({channel})\n aie.end\n }}"


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (in_mem("aie.dma_start_task @none(%x0) : (memref<64xi32>)"), "symbol does not reference valid BD chain"),
        (in_mem("aie.dma_start_task @x0(%x0) : (memref<64xi32>)"), "symbol does not reference valid BD chain"),
        (in_mem("aie.dma_start_task @one() : ()"), "Number of arguments mismatches."),
        (
            in_mem("aie.dma_start_task @one(%x_full) : (index)"),
            "Argument 1 types mismatch: expected 'memref<64xi32>' but got 'index'",
        ),
        (
            in_mem("aie.dma_start_task @one(%x0) : (memref<64xi32>)", "S2MM, 2"),
            "channel 2 out of range: the tile has 2 of each direction",
        ),
        (
            "aie.mem(%core) {\n aie.dma_start_task @one(%x0) : (memref<64xi32>) on (MM2S, 0) {issue_token = true}\n"
            " aie.end\n }",
            "issue_token is for sequences: nothing waits for the tokens of a tile's own program",
        ),
    ],
)
def test_a_wrong_start_is_refused_where_it_stands(use: str, said: str) -> None:
    assert problems(device("", before=ONE + buffers("core", "x") + use)) == [f"'aie.dma_start_task' op {said}"]


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("@none(%a) : (memref<65536xi32>)", "symbol does not reference valid BD chain"),
        ("@one() : ()", "Number of arguments mismatches."),
        (
            "@one(%a) : (memref<65536xi32>)",
            "Argument 1 types mismatch: expected 'memref<64xi32>' but got 'memref<65536xi32>'",
        ),
    ],
)
def test_a_wrong_start_in_a_sequence(use: str, said: str) -> None:
    sequence = f"%t = aiex.dma_start_bd_chain {use} on (%shim, MM2S, 0)"
    assert problems(device(sequence, before=ONE)) == [f"'aiex.dma_start_bd_chain' op {said}"]


def test_a_start_among_descriptors_is_refused() -> None:
    use = """
  aie.mem(%core) {
      %0 = aie.dma_start(MM2S, 0, ^bd, ^end)
    ^bd:
      aie.dma_bd(%x0 : memref<64xi32> offset = 0 len = 64)
      aie.dma_start_task @one(%x0) : (memref<64xi32>) on (MM2S, 1)
      aie.next_bd ^end
    ^end:
      aie.end
  }
"""
    assert problems(device("", before=ONE + buffers("core", "x") + use)) == [
        "'aie.dma_start_task' op stands in a descriptor's block; channels are started before the first descriptor or "
        "after all"
    ]


def test_a_chain_with_an_unconnected_block_is_refused() -> None:
    chain = """
  aie.bd_chain @one(%x: memref<64xi32>) {
    aie.dma_bd(%x : memref<64xi32> offset = 0 len = 64)
    aie.end
  ^lost:
    aie.dma_bd(%x : memref<64xi32> offset = 0 len = 64)
    aie.end
  }
"""
    assert problems(device("", before=chain)) == [
        "Block ending in this terminator does not form a chain with entry block."
    ]


def test_a_lock_of_another_tile_is_refused_once_the_chain_is_started_with_it() -> None:
    use = in_mem(f"aie.dma_start_task @pp(%x0, %x1, %ml0, %x_free) : {TYPES}")
    ran = Ran(device("", before=PING_PONG + buffers("core", "x") + use), MaterializeBdChains())
    assert ran.said[0] == (
        "'aie.lock' op in Column 0 and Row 1 is accessed from an unreachable tile in Column 0 and Row 2"
    )


def test_an_empty_chain_is_refused() -> None:
    chain = "aie.bd_chain @one(%x: memref<64xi32>) {\n aie.end\n }"
    use = in_mem("aie.dma_start_task @one(%x0) : (memref<64xi32>)")
    ran = Ran(device("", before=chain + buffers("core", "x") + use), MaterializeBdChains())
    assert ran.said == ["'aie.dma_start_task' op starts a chain without descriptors"]


def test_chains_stay_and_a_second_run_changes_nothing() -> None:
    use = in_mem("aie.dma_start_task @one(%x0) : (memref<64xi32>)")
    once = Ran(device("", before=ONE + buffers("core", "x") + use), MaterializeBdChains())
    assert once.lines("aie.bd_chain") and not once.lines("aie.dma_start_task")
    assert sum(isinstance(op, DmaProgram) for op in once.module.walk()) == 1
    assert Ran(once.text, MaterializeBdChains()).text == once.text


# --- where what is wrong is told --------------------------------------------------------------------------------------


SIZED = """
  aie.bd_chain @sized(%x: memref<64xi32>, %n: i32) {
    aie.dma_bd(%x : memref<64xi32> offset = 0 len = %n)
    aie.end
  }
"""


def test_what_an_argument_makes_wrong_is_told_with_the_start() -> None:
    """Once, in the chain, with every start that is wrong and none that is not."""
    numbers = "%ok = arith.constant 64 : i32\n%no = arith.constant 65 : i32\n"
    types = "(memref<64xi32>, i32)"
    starts = [
        f"aie.dma_start_task @sized(%x0, %{n}) : {types} on (MM2S, {c})" for n, c in (("ok", 0), ("no", 1), ("no", 0))
    ]
    programs = f"aie.mem(%core) {{\n {starts[0]}\n {starts[1]}\n aie.end\n }}\n"
    other = f"aie.mem(%core3) {{\n {starts[2].replace('%x0', '%y0')}\n aie.end\n }}\n"
    text = device("", before=SIZED + numbers + buffers("core", "x") + buffers("core3", "y") + programs + other)
    ran = Ran(text, MaterializeBdChains())
    assert "transfer of 65 elements at offset 0 runs past the end" in ran.only.text
    assert ran.only.where is not None and ran.only.where.line == line_of(text, "len = %n")
    assert [(n.text, n.where.line) for n in ran.only.notes if n.where is not None] == [
        ("called from", line_of(text, "@sized(%x0, %no)")),
        ("called from", line_of(text, "@sized(%y0, %no)")),
    ]


def test_a_start_in_a_sequence_is_told_at_every_later_step() -> None:
    """Here a warning of a transfer that leaves its buffer: for each start, not once for the chain's line."""
    chain = SIZED.replace("memref<64xi32>", "memref<65536xi32>")
    starts = "".join(
        f"%n{i} = arith.constant {n} : i32\n"
        f"%t{i} = aiex.dma_start_bd_chain @sized(%a, %n{i}) : (memref<65536xi32>, i32) on (%shim, MM2S, {i % 2})\n"
        for i, n in enumerate((65540, 64, 65544))
    )
    text = device(starts, before=chain)
    ran = to_npu(text)
    told = [(d.text.split("transfer of ")[1].split(" ")[0], d.notes[0].where) for d in ran.sink.items]
    assert [(length, at.line) for length, at in told if at is not None] == [
        ("65540", line_of(text, "%t0 =")),
        ("65544", line_of(text, "%t2 =")),
    ]
