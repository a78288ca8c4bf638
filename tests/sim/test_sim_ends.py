"""The host's side: ends that share a channel, external buffers, names of fifos; and how full pools got."""

from __future__ import annotations

import struct

import pytest
from xdsl.dialects.builtin import ModuleOp

from aiecc.base.diag import Refused, Sink
from aiecc.ir.lowering import lower_to_run
from aiecc.ir.text import parse, print_module
from aiecc.sim.array import simulate
from aiecc.sim.outcome import Outcome

SEEDS = range(6)


def run(body: str, **options: object) -> Outcome:
    return simulate(parse(f"aie.device(npu2) {{\n{body}\n}}", "ends.mlir"), **options)  # type: ignore[arg-type]


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def ints(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def passing(tile: str, name: str, direction_in: int = 0, packet: str = "") -> str:
    """One buffer of four words that comes in and goes out again."""
    return f"""
    %{name} = aie.buffer(%{tile}) {{sym_name = "{name}_buff_0"}} : memref<4xi32>
    %{name}p = aie.lock(%{tile}) {{init = 1 : i32, sym_name = "{name}_prod_lock_0"}}
    %{name}c = aie.lock(%{tile}) {{init = 0 : i32, sym_name = "{name}_cons_lock_0"}}
    %{name}m = aie.mem(%{tile}) {{
      %i = aie.dma_start(S2MM, {direction_in}, ^in, ^next)
    ^in:
      aie.use_lock(%{name}p, AcquireGreaterEqual, 1)
      aie.dma_bd(%{name} : memref<4xi32> offset = 0 len = 4)
      aie.use_lock(%{name}c, Release, 1)
      aie.next_bd ^in
    ^next:
      %o = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%{name}c, AcquireGreaterEqual, 1)
      aie.dma_bd(%{name} : memref<4xi32> offset = 0 len = 4) {packet}
      aie.use_lock(%{name}p, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }}"""


def shared() -> str:
    """Two fifos through two cores, which share the shim's one channel each way by packet ids."""
    text = ["%s = aie.tile(0, 0)"]
    for n, name in enumerate("xy"):
        text.append(f"""
        %t{n} = aie.tile({n}, 2)
        aie.shim_dma_allocation @{name}_shim_alloc(%s, MM2S, 0, <pkt_id = {n}>)
        aie.shim_dma_allocation @{name}_back_shim_alloc(%s, S2MM, 0, <pkt_id = {n + 2}>)
        aie.packet_flow({n}) {{ aie.packet_source<%s, DMA : 0> aie.packet_dest<%t{n}, DMA : 0> }}
        aie.packet_flow({n + 2}) {{ aie.packet_source<%t{n}, DMA : 0> aie.packet_dest<%s, DMA : 0> }}
        """)
        text.append(passing(f"t{n}", name, 0, f"{{packet = #aie.packet_info<pkt_type = 0, pkt_id = {n + 2}>}}"))
    return "\n".join(text)


@pytest.mark.parametrize("seed", SEEDS)
def test_ends_that_share_a_channel_part_by_their_packets(seed: int) -> None:
    first, second = words(*range(12)), words(*range(100, 108))
    outcome = run(
        shared(),
        feeds={"x_shim_alloc": first, "y": [second[:16], second[16:]]},
        drains={"x_back": 48, "y_back_shim_alloc": 32},
        seed=seed,
    )
    assert outcome.finished, outcome.report()
    assert outcome.received == {"x_back": first, "y_back_shim_alloc": second}
    assert outcome.names == {"x_back": "x_back", "y_back_shim_alloc": "y_back_shim_alloc"}


def test_an_end_nobody_asked_for_is_drained_under_its_own_name() -> None:
    outcome = run(shared(), feeds={"y": words(1, 2, 3, 4)})
    assert outcome.received["y_back_shim_alloc"] == words(1, 2, 3, 4)
    assert outcome.received["x_back_shim_alloc"] == b""


def test_names_that_lead_the_wrong_way_or_nowhere() -> None:
    with pytest.raises(Refused, match=r"there is no shim end called z; there are: x, y$"):
        run(shared(), feeds={"z": b""})
    with pytest.raises(Refused, match=r"@x leads into the array"):
        run(shared(), drains={"x": None})


SHARING = """
%s = aie.tile(0, 0)
%a = aie.tile(0, 2)
%b = aie.tile(0, 3)
%c = aie.tile(0, 4)
aie.objectfifo @oa(%a, {%s}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
aie.objectfifo @ob(%b, {%s}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
aie.objectfifo @oc(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<4xi32>>
"""


def sharing() -> ModuleOp:
    """Three cores send to a shim with two receiving channels, which a sequence uses one after another; lowered."""
    steps: list[str] = []
    cores: list[str] = []
    for number, name in enumerate("abc"):
        cores.append(f"""
        %{name}core = aie.core(%{name}) {{
          %v = arith.constant {number + 1} : i32
          %o = aie.objectfifo.acquire @o{name} (Produce, 1) : memref<4xi32>
          affine.for %i = 0 to 4 {{ affine.store %v, %o[%i] : memref<4xi32> }}
          aie.objectfifo.release @o{name} (Produce, 1)
          aie.end
        }}""")
        steps.append(f"""
          %t{name} = aiex.dma_configure_task_for @o{name} {{
            aie.dma_bd(%x : memref<4xi32> offset = 0 len = 4)
            aie.end
          }} {{issue_token = true}}
          aiex.dma_start_task(%t{name})
          aiex.dma_await_task(%t{name})""")
    run = f"aie.runtime_sequence @run(%x: memref<4xi32>) {{{''.join(steps)}}}"
    module = parse(f"aie.device(npu2) {{{SHARING}{''.join(cores)}{run}}}", "design.mlir")
    sink = Sink()
    assert lower_to_run(module, sink), sink.items
    return module


@pytest.mark.parametrize("seed", SEEDS)
def test_records_without_ids_know_their_packets_by_the_fifo_they_were_made_for(seed: int) -> None:
    module = sharing()
    assert print_module(module).count("S2MM, 0)") == 2
    outcome = simulate(module, drains={"oa": 16, "ob": 16, "oc": 16}, seed=seed)
    assert outcome.finished, outcome.report()
    assert outcome.received == {f"o{name}": words(*[n + 1] * 4) for n, name in enumerate("abc")}
    outcome = simulate(sharing(), drains={"ob": 16}, seed=seed)
    assert outcome.received["ob"] == words(2, 2, 2, 2)


def test_where_that_is_not_known_nothing_is_mixed_up() -> None:
    """Printed and read back, nothing says any more what was made for what."""
    module = parse(print_module(sharing()), "lowered.mlir")
    with pytest.raises(Refused, match=r"@ob and @oa share a channel, and nothing says whose packets are whose"):
        simulate(module, drains={"oa": 16, "ob": 16})


EXTERNAL = """
%s = aie.tile(0, 0)
%from = aie.external_buffer {sym_name = "from"} : memref<4xi32>
%to = aie.external_buffer {sym_name = "to"} : memref<4xi32>
%fp = aie.lock(%s) {init = 1 : i32, sym_name = "from_free"}
%fc = aie.lock(%s) {init = 0 : i32, sym_name = "from_full"}
%tp = aie.lock(%s) {init = 1 : i32, sym_name = "to_free"}
%tc = aie.lock(%s) {init = 0 : i32, sym_name = "to_full"}
aie.flow(%s, DMA : 0, %s, DMA : 1)
%d = aie.shim_dma(%s) {
  %x = aie.dma_start(MM2S, 0, ^out, ^next)
^out:
  aie.use_lock(%fc, AcquireGreaterEqual, 1)
  aie.dma_bd(%from : memref<4xi32> offset = 0 len = 4)
  aie.use_lock(%fp, Release, 1)
  aie.next_bd ^out
^next:
  %y = aie.dma_start(S2MM, 1, ^in, ^end)
^in:
  aie.use_lock(%tp, AcquireGreaterEqual, 1)
  aie.dma_bd(%to : memref<4xi32> offset = 0 len = 4)
  aie.use_lock(%tc, Release, 1)
  aie.next_bd ^in
^end:
  aie.end
}"""


@pytest.mark.parametrize("seed", SEEDS)
def test_the_host_takes_turns_at_external_buffers(seed: int) -> None:
    data = words(*range(12))
    outcome = run(EXTERNAL, feeds={"from": data}, drains={"to": 48}, seed=seed)
    assert outcome.finished, outcome.report()
    assert outcome.received["to"] == data
    parts = [words(*range(4)), words(5, 6, 7, 8)]
    outcome = run(EXTERNAL, feeds={"from": parts}, drains={"to": None}, seed=seed)
    assert outcome.received["to"] == b"".join(parts)


def test_an_external_buffer_without_locks_is_filled_once() -> None:
    bare = "\n".join(line for line in EXTERNAL.splitlines() if "use_lock" not in line).replace(
        "^out\n^next", "^end\n^next"
    )
    bare = bare.replace("next_bd ^in", "next_bd ^end")
    outcome = run(bare, feeds={"from": words(1, 2, 3, 4)})
    assert outcome.memory["to"] == words(1, 2, 3, 4)
    with pytest.raises(Refused, match="no lock tells when buffer from may be filled again"):
        run(bare, feeds={"from": [words(1, 2, 3, 4), words(5, 6, 7, 8)]})
    with pytest.raises(Refused, match="20 bytes do not fit buffer from"):
        run(bare, feeds={"from": words(1, 2, 3, 4, 5)})


def ring(depth: int, sent: int, taken: int, window: int) -> str:
    """A core that fills `sent` objects of one pool, and a neighbour that takes `taken`, `window` at once."""
    slots = "\n".join(f'%b{i} = aie.buffer(%a) {{sym_name = "r_buff_{i}"}} : memref<4xi32>' for i in range(depth))
    return f"""
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    {slots}
    %p = aie.lock(%a) {{init = {depth} : i32, sym_name = "r_prod_lock_0"}}
    %c = aie.lock(%a) {{init = 0 : i32, sym_name = "r_cons_lock_0"}}
    %go = aie.lock(%a) {{init = 0 : i32, sym_name = "go"}}
    %ca = aie.core(%a) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant {sent} : index
      scf.for %i = %c0 to %n step %c1 {{
        aie.use_lock(%p, AcquireGreaterEqual, 1)
        aie.use_lock(%c, Release, 1)
      }}
      aie.use_lock(%go, Release, 1)
      aie.end
    }}
    %cb = aie.core(%b) {{
      aie.use_lock(%go, AcquireGreaterEqual, 1)
      {f"aie.use_lock(%c, AcquireGreaterEqual, {window})" if taken else ""}
      {f"aie.use_lock(%p, Release, {window})" if taken else ""}
      aie.end
    }}"""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("depth", "sent", "window"), [(4, 3, 2), (2, 2, 1), (3, 1, 1)])
def test_high_water_marks_of_a_pool(depth: int, sent: int, window: int, seed: int) -> None:
    outcome = run(ring(depth, sent, 1, window), seed=seed)
    assert outcome.finished, outcome.report()
    pool = outcome.pools["r"]
    assert (pool.free, pool.full_lock, pool.depth) == ("r_prod_lock_0", "r_cons_lock_0", depth)
    assert (pool.full, pool.used) == (sent, sent)
    assert f"pool r: {sent} of {depth} objects full at most, {sent} in use" in outcome.report()


def test_objects_held_are_in_use_though_not_full() -> None:
    text = ring(2, 2, 0, 1).replace("aie.use_lock(%go, Release, 1)", "aie.use_lock(%p, AcquireGreaterEqual, 1)")
    outcome = run(text.replace("%n = arith.constant 2", "%n = arith.constant 1"))
    pool = outcome.pools["r"]
    assert (pool.full, pool.used) == (1, 2)


def test_pools_of_locks_without_telling_names() -> None:
    body = "%s = aie.tile(0, 0)\n%t = aie.tile(0, 2)" + passing("t", "q").replace("q_prod_lock_0", "one").replace(
        "q_cons_lock_0", "two"
    )
    body += "\naie.flow(%s, DMA : 0, %t, DMA : 0)\naie.flow(%t, DMA : 0, %s, DMA : 0)"
    outcome = run(body, feeds={(0, 0): words(*range(8))}, drains={(0, 0): 32})
    assert outcome.finished
    pool = outcome.pools["q_buff_0"]
    assert (pool.free, pool.full_lock, pool.depth, pool.full, pool.used) == ("one", "two", 1, 1, 1)
