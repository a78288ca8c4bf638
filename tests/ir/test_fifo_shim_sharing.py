"""Which shim ends may share a channel, in which order, and the packets their routes become."""

from __future__ import annotations

import pytest

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.routes import RouteOp
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fifo.liveness import FOREVER, Liveness, Span
from aiecc.ir.fifo.shim_sharing import Share, packetize_shared, shim_shares
from aiecc.ir.fifo.view import FifoView
from aiecc.ir.text import parse
from aiecc.ir.verify import verify

SHIM = (0, 0)
FORM = "memref<16xi32>"


def fifo(name: str, row: int, *, sends: bool, tail: str = "", col: int = 0) -> str:
    """A shim end and, on a core's tile, the pool it fills (or drains)."""
    fills, takes = ("fills", "drains") if sends else ("drains", "fills")
    a, b = (f"@{name}_shim", f"@{name}_dma") if sends else (f"@{name}_dma", f"@{name}_shim")
    return f"""
  aie.route_endpoint @{name}_shim(%shim) DMA {{fifoName = "{name}"}}
  aie.objectfifo.pool @{name}_pool(%t{col}{row}) {{depth = 2 : i32}} : {FORM} {{
    aie.objectfifo.segment @s0 {{offset = 0 : i32, size = 16 : i32}}
  }}
  aie.objectfifo.core_endpoint @{name}_core(%t{col}{row}) {takes} @{name}_pool
  aie.objectfifo.dma_endpoint @{name}_dma(%t{col}{row}) {fills} @{name}_pool
  aie.route from {a} to [{b}]{tail}"""


def view_of(*parts: str) -> FifoView:
    tiles = "%shim = aie.tile(0, 0)\n" + "\n".join(
        f"%t{c}{r} = aie.tile({c}, {r})" for c in (0, 1) for r in (2, 3, 4, 5)
    )
    module = parse("aie.device(npu1) {\n" + tiles + "\n".join(parts) + "\n}", "design.mlir")
    assert not verify(module), "the test's own design"
    device = next(op for op in module.body.block.ops if isinstance(op, DeviceOp))
    return FifoView(device)


def sequence(name: str, *steps: str) -> str:
    return f"aie.runtime_sequence @{name}(%m: {FORM}, %n: index, %c: i1) {{\n" + "\n".join(steps) + "\n}"


class Steps:
    """Numbers for SSA values: each step of a sequence as one line or a few."""

    def __init__(self) -> None:
        self.n = 0

    def start(self, name: str, token: bool = True, by: str = "_shim") -> tuple[str, str]:
        """Configure and start; the task's value."""
        self.n += 1
        task = f"%k{self.n}"
        flag = " {issue_token = true}" if token else ""
        text = f"{task} = aiex.dma_configure_task_for @{name}{by} {{ aie.end }}{flag}\naiex.dma_start_task({task})"
        return text, task

    def send(self, *names: str) -> list[str]:
        return [self.start(name, token=False)[0] for name in names]

    def receive(self, name: str) -> list[str]:
        text, task = self.start(name)
        return [text, await_(task)]


def await_(task: str) -> str:
    return f"aiex.dma_await_task({task})"


def free(task: str) -> str:
    return f"aiex.dma_free_task({task})"


def memcpy(name: str, number: int = 0) -> str:
    return (
        f"aiex.npu.dma_memcpy_nd(%m[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {{id = {number} : i64, metadata = @{name}}} "
        f": {FORM}"
    )


def wait(name: str) -> str:
    return f"aiex.npu.dma_wait {{symbol = @{name}}}"


ABC = [fifo(n, row, sends=True) for n, row in (("a", 2), ("b", 3), ("c", 4))]
XY = [fifo("x", 2, sends=False), fifo("y", 3, sends=False)]


def pairs(view: FifoView, sends: bool) -> list[tuple[str, str]]:
    return [(share.member, share.leader) for share in shim_shares(view, SHIM, sends)]


def packets(view: FifoView) -> dict[str, int | None]:
    return {
        (route.sources + route.destinations)[0].split("_")[0]: None if route.packet is None else route.packet.pkt_id
        for route in view.device.block.ops
        if isinstance(route, RouteOp)
    }


# --- sending ends -----------------------------------------------------------------------------------------------------


def test_ends_that_different_sequences_use_share_one_channel_and_get_packets():
    """Three fifos leave a shim with two channels; one sequence uses two of them, another the third."""
    s = Steps()
    view = view_of(*ABC, sequence("one", *s.send("a", "b")), sequence("two", *s.send("c")))
    assert shim_shares(view, SHIM, True) == [Share("c_shim", "a_shim")]
    assert packetize_shared(view, {"a_shim": 0, "b_shim": 1, "c_shim": 0}, Sink())
    assert packets(view) == {"a": 0, "b": None, "c": 1}


def test_a_sender_is_in_flight_to_the_end_of_its_sequence_even_if_awaited():
    s = Steps()
    one = [line for name in "abc" for line in s.receive(name)]
    assert pairs(view_of(*ABC, sequence("one", *one)), True) == []


def test_the_same_sender_in_both_sequences_does_not_change_the_rest():
    s = Steps()
    view = view_of(*ABC, sequence("one", *s.send("a", "b")), sequence("two", *s.send("b", "c")))
    assert pairs(view, True) == [("c_shim", "a_shim")]


def test_an_end_that_no_sequence_names_never_shares():
    s = Steps()
    assert pairs(view_of(*ABC, sequence("one", *s.send("a")), sequence("two", *s.send("b"))), True) == [
        ("b_shim", "a_shim")
    ]
    assert pairs(view_of(*ABC), True) == []


def test_groups_are_made_by_fifo_name_and_members_come_group_by_group():
    """Sequences: a d, b e, c. By name: a takes b's and c's company, d cannot join a but leads e."""
    s = Steps()
    five = [fifo(n, 2 + i % 4, sends=True, col=i // 4) for i, n in enumerate("ebdac")]
    view = view_of(
        *five, sequence("one", *s.send("a", "d")), sequence("two", *s.send("b", "e")), sequence("three", *s.send("c"))
    )
    assert pairs(view, True) == [("b_shim", "a_shim"), ("c_shim", "a_shim"), ("e_shim", "d_shim")]


def test_a_pinned_channel_is_not_shared():
    s = Steps()
    text = [*ABC[:2], ABC[2].replace('{fifoName = "c"}', '{fifoName = "c", channelIndex = 0 : i32}')]
    assert pairs(view_of(*text, sequence("one", *s.send("a")), sequence("two", *s.send("c"))), True) == []


def test_ends_with_one_pinned_id_are_not_put_on_one_channel():
    s = Steps()
    pin = " {packet = #aie.packet_info<pkt_id = 5>}"
    both = [fifo("a", 2, sends=True, tail=pin), fifo("b", 3, sends=True, tail=pin)]
    uses = [sequence("one", *s.send("a")), sequence("two", *s.send("b"))]
    assert pairs(view_of(*both, *uses), True) == []
    both[1] = both[1].replace("= 5", "= 6")
    assert pairs(view_of(*both, *uses), True) == [("b_shim", "a_shim")]


def test_other_tiles_and_the_other_direction_do_not_come_in():
    s = Steps()
    view = view_of(*ABC, sequence("one", *s.send("a")), sequence("two", *s.send("c")))
    assert shim_shares(view, (1, 0), True) == [] and shim_shares(view, SHIM, False) == []


# --- receiving ends ---------------------------------------------------------------------------------------------------


def received(*steps: str) -> bool:
    """Whether @y may share with @x, when one sequence makes these steps."""
    found = pairs(view_of(*XY, sequence("one", *steps)), False)
    assert found in ([], [("y_shim", "x_shim")])
    return bool(found)


def two(token: bool = True) -> tuple[str, str, str]:
    s = Steps()
    x, t = s.start("x", token)
    y, _ = s.start("y")
    return x, t, y


def test_a_receiver_is_over_once_awaited():
    x, t, y = two()
    assert received(x, await_(t), y)
    assert not received(x, y, await_(t))


def test_a_receiver_is_over_once_freed():
    x, t, y = two(token=False)
    assert received(x, free(t), y)
    assert not received(x, y, free(t))
    assert not received(x, y)


def test_what_is_freed_after_the_await_does_not_matter():
    x, t, y = two()
    assert received(x, await_(t), y, free(t))


def test_configuring_early_is_no_transfer():
    x, t, y = two()
    configure, start = y.split("\n")
    assert received(configure, x, await_(t), start)


def test_the_order_of_the_two_does_not_matter():
    s = Steps()
    assert received(*s.receive("y"), *s.receive("x"))


def test_every_transfer_of_the_first_has_to_be_over():
    s = Steps()
    one, t1 = s.start("x")
    again, t2 = s.start("x")
    y, _ = s.start("y")
    assert not received(one, again, await_(t1), y)
    assert received(one, again, await_(t1), await_(t2), y)
    assert not received(one, await_(t1), y, again, await_(t2))


def test_a_channel_works_off_its_queue_in_order():
    """The first transfer hands out no token, so the second one's says that both are over."""
    s = Steps()
    one, _ = s.start("x", token=False)
    again, t2 = s.start("x")
    y, _ = s.start("y")
    assert received(one, again, await_(t2), y)
    assert received(one, again, free(t2), y)


def test_an_await_takes_the_token_of_a_freed_task_first():
    s = Steps()
    one, t1 = s.start("x")
    again, t2 = s.start("x")
    y, _ = s.start("y")
    assert not received(one, free(t1), again, await_(t2), y)


def test_transfers_by_memcpy_and_wait():
    assert received(memcpy("x_shim"), wait("x_shim"), memcpy("y_shim", 1))
    assert not received(memcpy("x_shim"), memcpy("y_shim", 1), wait("x_shim"))
    assert not received(memcpy("x_shim"), memcpy("x_shim", 2), wait("x_shim"), memcpy("y_shim", 1))
    assert received(memcpy("x_shim"), memcpy("x_shim", 2), wait("x_shim"), wait("x_shim"), memcpy("y_shim", 1))


def test_a_fifo_may_be_named_instead_of_its_shim_end():
    s = Steps()
    x, t = s.start("x", by="")
    assert received(x, await_(t), s.start("y", by="")[0])


def loop(*steps: str, bounds: str = "%z to %n step %o", by: str = "%i") -> str:
    return f"scf.for {by} = {bounds} {{\n" + "\n".join(steps) + "\n}"


CONSTANTS = "%z = arith.constant 0 : index\n%o = arith.constant 1 : index\n%q = arith.constant 4 : index"


def test_a_loop_counts_whole():
    s = Steps()
    both = loop(*s.receive("x"), *s.receive("y"))
    assert not received(CONSTANTS, both)
    assert received(CONSTANTS, loop(*s.receive("x")), loop(*s.receive("y")))
    assert received(CONSTANTS, loop(loop(*s.receive("x"), bounds="%z to %q step %o", by="%j")), *s.receive("y"))


def test_a_loop_that_leaves_transfers_behind_is_never_over():
    x, t, y = two()
    assert not received(CONSTANTS, loop(x), y)
    assert not received(CONSTANTS, x, loop(await_(t)), y)


def test_a_loop_of_known_length_is_followed():
    x, _, y = two()
    waits = [wait("x_shim")] * 4
    assert received(CONSTANTS, loop(x, bounds="%z to %q step %o"), *waits, y)
    assert not received(CONSTANTS, loop(x, bounds="%z to %q step %o"), *waits[1:], y)


def test_one_transfer_ahead_of_the_loop_that_awaits_it():
    """Each trip starts a transfer and awaits the one before, whose task the loop carries."""
    s = Steps()
    x, t = s.start("x")
    again, u = s.start("x")
    y, _ = s.start("y")
    turn = f"%r = scf.for %i = %z to %n step %o iter_args(%p = {t}) -> (index) {{\n{again}\n{await_('%p')}\n"
    turn += f"scf.yield {u} : index\n}}"
    assert received(CONSTANTS, x, turn, await_("%r"), y)
    assert not received(CONSTANTS, x, turn, y)


def either(then: str, other: str) -> str:
    return f"scf.if %c {{\n{then}\n}} else {{\n{other}\n}}"


def test_branches_have_to_agree():
    x, t, y = two()
    assert received(x, either(await_(t), await_(t)), y)
    assert not received(x, either(await_(t), ""), y)
    assert received(either(x + "\n" + await_(t), ""), y)
    assert not received(either(x, ""), y)
    assert not received(either(x + "\n" + await_(t) + "\n" + y, ""))


def test_a_task_that_may_belong_to_either_end_is_no_ones_completion():
    s = Steps()
    x, t = s.start("x")
    y, u = s.start("y")
    configure, start = y.split("\n")
    pick = f"%w = arith.select %c, {t}, {u} : index"
    assert not received(configure, x, pick, await_("%w"), start)
    assert received(configure, x, pick, await_(t), start)


def test_a_task_from_nowhere_may_be_anyones():
    s = Steps()
    assert received(*s.receive("x"), *s.receive("y"))
    assert not received("aiex.dma_start_task(%n)", *s.receive("x"), *s.receive("y"))


def test_spans_are_counted_in_the_steps_of_the_sequence():
    s = Steps()
    x, t = s.start("x")
    view = view_of(*XY, ABC[2], sequence("one", x, await_(t), *s.receive("y"), *s.send("c")))
    assert Liveness(view).sequences == [{"x_shim": Span(1, 2), "y_shim": Span(4, 5), "c_shim": Span(7, FOREVER)}]


# --- packets ----------------------------------------------------------------------------------------------------------


def test_other_shared_channels_use_the_same_ids_again():
    s = Steps()
    four = [fifo(n, 2 + i, sends=True) for i, n in enumerate("abcd")]
    uses = [sequence("one", *s.send("a", "b")), sequence("two", *s.send("c", "d"))]
    view = view_of(
        *four, *uses, "aie.packet_flow(0) { aie.packet_source<%t05, Trace : 0> aie.packet_dest<%shim, South : 2> }"
    )
    assert pairs(view, True) == [("c_shim", "a_shim"), ("d_shim", "b_shim")]
    assert packetize_shared(view, {"a_shim": 0, "c_shim": 0, "b_shim": 1, "d_shim": 1}, Sink())
    assert packets(view) == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_a_pinned_route_on_a_shared_channel_keeps_its_id_and_the_circuit_beside_it_gets_another():
    s = Steps()
    both = [fifo("a", 2, sends=True), fifo("b", 3, sends=True, tail=" {packet = #aie.packet_info<pkt_id = 0>}")]
    view = view_of(*both, sequence("one", *s.send("a")), sequence("two", *s.send("b")))
    assert packetize_shared(view, {"a_shim": 0, "b_shim": 0}, Sink())
    assert packets(view) == {"a": 1, "b": 0}


def test_channels_in_two_directions_are_two():
    view = view_of(fifo("a", 2, sends=True), fifo("x", 3, sends=False))
    assert packetize_shared(view, {"a_shim": 0, "x_shim": 0}, Sink())
    assert set(packets(view).values()) == {None}


def test_no_id_left_is_an_error_at_the_route_with_who_holds_them():
    flows = [
        f"aie.packet_flow({n}) {{ aie.packet_source<%t05, Trace : 0> aie.packet_dest<%shim, South : 2> }}"
        for n in range(31)
    ]
    view = view_of(*ABC, *flows)
    sink = Sink()
    assert not packetize_shared(view, {"a_shim": 0, "b_shim": 1, "c_shim": 0}, sink)
    (said,) = sink.items
    assert said.text == ("'aie.route' op shares a shim channel, but no packet id is left to tell its transfers apart")
    assert len(said.notes) == 32


PROGRAM = """
  aie.route_endpoint @x_dma(%t02) DMA
  aie.route_endpoint @x_shim(%shim) DMA {fifoName = "x"}
  aie.route from @x_dma to [@x_shim]"""
STREAM = """
  aie.route_endpoint @x_core(%t02) Core {channelIndex = 0 : i32}
  aie.route_endpoint @x_shim(%shim) DMA {fifoName = "x"}
  aie.route from @x_core to [@x_shim]"""


@pytest.mark.parametrize("source", [PROGRAM, STREAM])
def test_a_source_that_cannot_state_a_header_keeps_its_circuit(source: str):
    s = Steps()
    steps = sequence("one", *s.receive("x"), *s.receive("y"))
    assert pairs(view_of(source, XY[1], steps), False) == []
    assert pairs(view_of(*XY, steps), False) == [("y_shim", "x_shim")]
