"""The driver of the objectFifo passes: their order, its options, and where it stops."""

from __future__ import annotations

import fifo_examples as designs
import fifo_text as write
from chainkit import programs
from passkit import Ran

from aiecc.ir.dialects.aie.flows import FlowOp, PacketFlowOp
from aiecc.ir.dialects.aie.pools import ObjectFifoPoolOp
from aiecc.ir.passes.fifo_transform import ObjectFifoStatefulTransform
from aiecc.ir.pipeline import parse_pipeline, run
from aiecc.ir.text import parse, print_module

ORDER = [
    "aie-objectfifo-split",
    "aie-objectfifo-verify",
    "aie-assign-packet-ids",
    "aie-objectfifo-allocate",
    "aie-objectfifo-lower-dmas",
    "aie-objectfifo-lower-cores",
    "aie-objectfifo-erase-pools",
]

ONE_SIDED = write.device(
    "\n".join(
        [
            write.tiles((0, 2), (2, 4)),
            write.fifo("f", "%t02", "%t24", 2, "memref<4xi32>"),
            write.producer("%t02", "f", 4, 3),
        ]
    )
)


def test_the_passes_and_their_order() -> None:
    assert [name for name, _ in ObjectFifoStatefulTransform().steps()] == ORDER
    skipped = ObjectFifoStatefulTransform(skip_verify=True).steps()
    assert [name for name, _ in skipped] == [name for name in ORDER if name != "aie-objectfifo-verify"]


def test_it_is_the_passes_one_after_the_other() -> None:
    together = Ran(designs.DISTRIBUTE_REPEAT, ObjectFifoStatefulTransform())
    apart = parse(designs.DISTRIBUTE_REPEAT, "design.mlir")
    assert run(parse_pipeline(f"builtin.module(aie.device({','.join(ORDER)}))"), apart, together.sink)
    assert together.text == print_module(apart)


def test_a_missing_reader_stops_it_unless_verify_is_skipped() -> None:
    ran = Ran(ONE_SIDED, ObjectFifoStatefulTransform())
    assert ran.only.text == "'aie.objectfifo.pool' op segment 0 has no drainer"
    assert list(ran.ops(ObjectFifoPoolOp)), "nothing after verify has run"
    ran = Ran(ONE_SIDED, ObjectFifoStatefulTransform(skip_verify=True))
    assert ran.said == []
    assert list(programs(ran.module)) == ["0,2 MM2S 0", "2,4 S2MM 0"]


def test_what_a_pass_makes_is_verified_before_the_next() -> None:
    """Slices that do not meet make a pool that no later pass should see."""
    text = designs.DISTRIBUTE_REPEAT.replace("([] [0, 8])", "([] [16, 8])")
    ran = Ran(text, ObjectFifoStatefulTransform())
    assert len(ran.said) == 1
    assert "segment" in ran.only.text
    assert not list(ran.ops(FlowOp))


def test_all_flows_by_packets() -> None:
    ran = Ran(designs.DISTRIBUTE_REPEAT, ObjectFifoStatefulTransform(packet_sw_objfifos=True))
    assert ran.said == []
    assert not list(ran.ops(FlowOp))
    assert sorted(flow.id for flow in ran.ops(PacketFlowOp)) == [0, 1, 2]


def test_options_as_a_pipeline_spells_them() -> None:
    name = ObjectFifoStatefulTransform.name
    module = parse(ONE_SIDED, "design.mlir")
    ran = Ran("module {}")
    text = f"builtin.module(aie.device({name}{{skip-verify=true packet-sw-objFifos=true}}))"
    assert run(parse_pipeline(text), module, ran.sink), ran.said
    assert len([op for op in module.walk() if isinstance(op, PacketFlowOp)]) == 1


def test_devices_one_by_one() -> None:
    """The second device is lowered as if it were alone: names, channels and packet ids start again."""
    one, two = designs.DISPATCH, designs.DISPATCH.replace("aie.device(npu2)", "aie.device(npu2) @other")
    ran = Ran(f"{one}\n{two}", ObjectFifoStatefulTransform())
    alone = Ran(one, ObjectFifoStatefulTransform())
    assert ran.said == []
    first, second = (print_module(device) for device in ran.devices)
    assert first == second.replace(" @other", "") == print_module(alone.device)
