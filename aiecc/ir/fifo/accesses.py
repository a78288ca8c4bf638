"""Who acquires and releases what: the accesses of all cores of a device, found in one walk."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import SSAValue

from aiecc.ir.dialects.aie.access import FifoAccess, ObjectFifoAcquireOp
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Port
from aiecc.ir.dialects.aie.tiles import DeviceOp
from aiecc.ir.fifo.view import place_of


class Accesses:
    """The accesses to fifos (not to endpoints: those name no port), by fifo and by the tile of the core."""

    def __init__(self, device: DeviceOp) -> None:
        self._found: dict[str, dict[Hashable, list[FifoAccess]]] = {}
        for core in device.block.ops:
            if not isinstance(core, CoreOp):
                continue
            here = place_of(core.tile)
            for op in core.walk():
                if isinstance(op, FifoAccess) and op.port is not None:
                    self._found.setdefault(op.fifo_name, {}).setdefault(here, []).append(op)

    def of(self, fifo: str, tile: SSAValue, port: Port | None = None) -> Iterator[FifoAccess]:
        """What a core on a tile does with a fifo, through one port or (None) either, in program order."""
        for op in self._found.get(fifo, {}).get(place_of(tile), ()):
            if port is None or op.port is port:
                yield op

    def largest(self, fifo: str, tile: SSAValue) -> int:
        """The most objects that a core on the tile holds at a time by one acquire; 0 without an acquire."""
        return max((op.size for op in self.of(fifo, tile) if isinstance(op, ObjectFifoAcquireOp)), default=0)

    def retarget(self, fifo: str, tile: SSAValue, port: Port, endpoint: str) -> None:
        """Let the accesses through one port name an endpoint, whose role says the direction from here on."""
        here = self._found.get(fifo, {})
        place = place_of(tile)
        rest: list[FifoAccess] = []
        for op in here.get(place, ()):
            if op.port is not port:
                rest.append(op)
                continue
            op.properties["objFifo_name"] = SymbolRefAttr(endpoint)
            del op.properties["port"]
        here[place] = rest
