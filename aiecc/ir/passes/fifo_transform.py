"""`aie-objectFifo-stateful-transform`: the passes from objectFifos to what the array runs, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from aiecc.base.diag import Sink
from aiecc.ir.passes.base import DEVICE, Pass, option


@dataclass(frozen=True)
class ObjectFifoStatefulTransform(Pass):
    """Split, verify, assign packet ids, allocate, lower DMAs, lower cores, erase pools.

    The device is verified after each of them; the first error ends it.
    """

    name: ClassVar[str] = "aie-objectFifo-stateful-transform"
    anchor: ClassVar[str] = DEVICE
    summary: ClassVar[str] = "Lower objectFifos to buffers, locks, flows and DMA programs"

    skip_verify: bool = option(default=False, help="do not check that every pool and endpoint is used as it must be")
    packet_sw_objfifos: bool = option(default=False, name="packet-sw-objFifos", help="every flow is packet-switched")

    def steps(self) -> Iterator[tuple[str, str]]:
        """The passes by name, each with the text of its options."""
        yield "aie-objectfifo-split", ""
        if not self.skip_verify:
            yield "aie-objectfifo-verify", ""
        yield "aie-assign-packet-ids", "packet-sw-objFifos=true" if self.packet_sw_objfifos else ""
        yield "aie-objectfifo-allocate", ""
        yield "aie-objectfifo-lower-dmas", ""
        yield "aie-objectfifo-lower-cores", ""
        yield "aie-objectfifo-erase-pools", ""

    def apply(self, op: Operation, sink: Sink) -> None:
        from aiecc.ir.pipeline import make_pass
        from aiecc.ir.verify import verify

        for name, options in self.steps():
            make_pass(name, options).apply(op, sink)
            if not sink.failed:
                sink.extend(verify(op, first_only=True))
            if sink.failed:
                return
