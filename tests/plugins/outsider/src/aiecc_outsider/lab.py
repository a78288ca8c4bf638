"""Brings a device: two columns of an NPU whose cores have half of the data memory."""

from dataclasses import replace

from aiecc.api import hookimpl, targets

BASE = targets.get("npu2_2col")


@hookimpl
def aiecc_targets():
    core = targets.TileKind.CORE
    memory = BASE.family.memory
    half = replace(memory[core], size=memory[core].size // 2)
    family = replace(BASE.family, memory={**memory, core: half})
    return [replace(BASE, name="lab_board", number=1001, family=family, product="lab board")]
