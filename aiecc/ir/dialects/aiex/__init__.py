"""The `aiex` dialect: what runs on the host's side. Here is its syntax; its meaning is the business of passes.

`tasks.py`: DMA tasks of run-time sequences; `npu.py`: instructions of the NPU's command processor, `transfers.py` those
that move data; `control.py`: devices, parameters, resets; `cert.py`: jobs of the other command processor; `legacy.py`:
tokens and broadcasts; `canonical.py`: simpler forms of the same.
"""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from aiecc.ir.dialects.aiex import cert, control, legacy, npu, tasks, transfers
from aiecc.ir.dialects.aiex.bfp import BfpType

OPS: list[type[Operation]] = [*tasks.OPS, *npu.OPS, *transfers.OPS, *control.OPS, *cert.OPS, *legacy.OPS]

AIEX = Dialect("aiex", OPS, [BfpType])
