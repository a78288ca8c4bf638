"""Measurements on `aie.core`: written before placement and after the link, stripped when they are stale.

Figures are bytes. The attributes are upstream's: `i32` integers, and `array<i32>` with one entry per bank or, for
`measured_data_ranges`, flattened (address, size) pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region

from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp
from aiecc.ir.dialects.constraints import I32
from aiecc.ir.spans import copy_span
from aiecc.model.ids import CoreId
from aiecc.model.measure import CoreMeasure, StackMeasure, StackSource

MEASURED = (
    "measured_stack_size",
    "measured_data_size",
    "measured_data_alignment",
    "measured_bank_sizes",
    "measured_bank_alignments",
    "measured_data_ranges",
)


def cores(op: Operation) -> Iterator[tuple[CoreId, CoreOp]]:
    """Every placed core below a module or a device, in program order."""
    devices = [op] if isinstance(op, DeviceOp) else [d for d in op.walk() if isinstance(d, DeviceOp)]
    for device in devices:
        for core in device.ops_of(CoreOp):
            assert isinstance(core, CoreOp)
            if core.coord is not None:
                yield CoreId(device.symbol, *core.coord), core


def strip(core: Operation) -> None:
    """Take every measurement off one core."""
    for name in MEASURED:
        core.properties.pop(name, None)
        core.attributes.pop(name, None)


def write(op: Operation, measures: Mapping[CoreId, CoreMeasure | None]) -> None:
    """Write what was measured onto the cores below `op`. Cores that are not named keep what they have.

    Bank figures appear only if some bank is not empty, ranges only if there are any; of the stack only an exact
    figure is written, since a lower bound in its place would be believed.
    """
    for key, core in cores(op):
        measure = measures.get(key)
        if measure is not None:
            write_core(core, measure)


def write_core(core: CoreOp, measure: CoreMeasure) -> None:
    """Write one core's measurements; parts that were not measured are left as they are."""
    data = measure.data
    if data is not None:
        if data.sized:
            _number(core, "measured_data_size", data.size)
            _number(core, "measured_data_alignment", data.alignment)
        if any(data.bank_sizes):
            _numbers(core, "measured_bank_sizes", data.bank_sizes)
            _numbers(core, "measured_bank_alignments", data.bank_alignments)
    if measure.ranges:
        _numbers(core, "measured_data_ranges", [n for pair in measure.ranges for n in pair])
    if measure.stack is not None:
        write_stack(core, measure.stack)


def write_stack(core: CoreOp, stack: StackMeasure) -> None:
    """Write `measured_stack_size` when the figure is exact, take a stale one off otherwise."""
    if stack.source is StackSource.MEASURED:
        _number(core, "measured_stack_size", stack.size)
    else:
        core.properties.pop("measured_stack_size", None)


def with_elf_files(module: ModuleOp, elves: Mapping[CoreId, str]) -> ModuleOp:
    """A copy in which every named core is a prebuilt one: `elf_file` set, body emptied."""
    copy = module.clone()
    for key, core in cores(copy):
        path = elves.get(key)
        if path is None:
            continue
        end = EndOp()
        copy_span(core, end)
        body = core.detach_region(core.body)
        body.drop_all_references()
        core.add_region(Region(Block([end])))
        core.properties["elf_file"] = StringAttr(path)
    return copy


def _number(core: CoreOp, name: str, value: int) -> None:
    core.properties[name] = IntegerAttr(value, I32)


def _numbers(core: CoreOp, name: str, values: Sequence[int]) -> None:
    core.properties[name] = DenseArrayBase.from_list(I32, list(values))
