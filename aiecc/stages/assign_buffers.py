"""`aie-assign-buffer-addresses` for `aiecc-opt`: the allocator as a pass.

It lies here and not among the passes because it needs the solver, which the IR must not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Refused, Sink
from aiecc.ir import placement
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.passes.base import DEVICE, Pass, option
from aiecc.ir.passes.prepare_buffers import PrepareBuffers
from aiecc.ir.passes.report import op_error
from aiecc.model.memory import TileLayout
from aiecc.place.solve import BUDGET, solve

RANKINGS = ("ranked", "spread")


@dataclass(frozen=True)
class AssignBufferAddresses(Pass):
    """Give every extent of every tile an address and a bank. Stops at the first tile where that cannot be done."""

    name: ClassVar[str] = "aie-assign-buffer-addresses"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Place the buffers, the stack and the core's own data of every tile"

    placement_budget: int = option(BUDGET, help="placements tried per tile by the ranked search")
    placement: str = option("ranked", help="ranked, or spread: put buffers where fewest others start")
    alloc_scheme: str = option("bank-aware", help="for old command lines; bank-aware is the only scheme there is")

    def apply(self, op: Operation, sink: Sink) -> None:
        assert isinstance(op, DeviceOp)
        if not self._usable(op, sink):
            return
        PrepareBuffers().apply(op, sink)
        if sink.failed:
            return
        try:
            problems = placement.problems(op, op.target)
        except Refused as refused:
            sink.extend(refused.diagnostics)
            return
        for problem in problems:
            answer = solve(
                problem,
                ranking="spread" if self.placement == "spread" else "ranked",
                budget=self.placement_budget,
            )
            if not isinstance(answer, TileLayout):
                sink.extend(answer.diagnostics)
                return
            placement.apply(op, problem, answer)

    def _usable(self, op: Operation, sink: Sink) -> bool:
        if self.placement_budget <= 0:
            op_error(sink, op, f"placement-budget must be positive, got {self.placement_budget}", code="E0901")
        if self.placement not in RANKINGS:
            op_error(sink, op, f"placement is {' or '.join(RANKINGS)}, not '{self.placement}'", code="E0901")
        if self.alloc_scheme != "bank-aware":
            text = (
                f"there is no alloc-scheme '{self.alloc_scheme}': one allocator, which is bank-aware, places everything"
            )
            op_error(sink, op, text, code="E0901", todo="leave alloc-scheme out")
        return not sink.failed
