"""`aie-objectfifo-split`: fifos and links become pools, the endpoints that fill and drain them, and routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.passes.base import DEVICE, Pass


@dataclass(frozen=True)
class ObjectFifoSplit(Pass):
    """Decide which tiles hold objects and which ends need DMAs.

    Everything made for a fifo stands where the fifo stood, at the fifo's position. What is split already stays as it
    is, so a second run changes nothing.
    """

    name: ClassVar[str] = "aie-objectfifo-split"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Split objectFifos and their links into pools, endpoints and routes"

    def apply(self, op: Operation, sink: Sink) -> None:
        from aiecc.ir.fifo import split_checks as checks
        from aiecc.ir.fifo.coverage import check_slices
        from aiecc.ir.fifo.declared import Declared
        from aiecc.ir.fifo.links import finish_time_link, make_pool
        from aiecc.ir.fifo.split import Splitter
        from aiecc.ir.fifo.symbols import rename_uses

        assert isinstance(op, DeviceOp)
        declared = Declared(op)
        if not declared.spent:
            return
        for check in (
            checks.check_placed,
            checks.check_objects,
            checks.check_streams,
            checks.check_external_buffers,
            checks.check_links,
        ):
            check(declared, sink)
            if sink.failed:
                return
        splitter = Splitter(declared, sink)
        for link in declared.links:
            make_pool(splitter.make, link)
            check_slices(link, sink)
        checks.check_delegates(declared, sink)
        if sink.failed:
            return
        for fifo in declared.fifos:
            splitter.split(fifo)
        if sink.failed:
            return
        for link in declared.links:
            finish_time_link(splitter.make, link)
        for spent in declared.spent:
            spent.detach()
            spent.erase()
        rename_uses(op, splitter.shim_ends)
