"""instructions: the words the NPU executes for one runtime sequence."""

from __future__ import annotations

import json

from aiecc.base.diag import Sink
from aiecc.choices import SequenceOptions
from aiecc.engine.spec import hookimpl
from aiecc.model.artifact import Module
from aiecc.model.build import Instructions
from aiecc.model.ids import SequenceId


@hookimpl
def aiecc_instructions(
    sequence: SequenceId, npu: Module, sequencing: SequenceOptions, diag: Sink
) -> Instructions | None:
    """Every instruction in order; what has no words is refused at the user's line."""
    from aiecc.ir.facts import devices
    from aiecc.ir.runtime.transaction import find_sequence, instructions, location_map
    from aiecc.ir.text import thaw
    from aiecc.npu.txn import encode

    device = next(d for d in devices(thaw(npu)) if d.symbol == sequence.device)
    found = instructions(device, find_sequence(device, sequence.name), diag)
    if diag.failed:
        return None
    data = encode(device.target, [each.op for each in found], fold=sequencing.fold_addresses)
    told = location_map(device, found, f"insts_{sequence}.bin")
    return Instructions(data, json.dumps(told, indent=2) + "\n")
