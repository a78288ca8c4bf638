"""Receiving shim ends that share a channel: whether the array may send one's objects while the host awaits another's.

The channel takes packets in the order they come, whatever their ids. A sequence that waits for one end before it
starts the next keeps its own transfers apart, but not the array's: a core that needs nothing from the host sends as
soon as it has an object.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import permutations

from aiecc.base.diag import Sink
from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.enums import Role, WireBundle
from aiecc.ir.dialects.aie.memory import UseLockOp
from aiecc.ir.dialects.aie.pools import DmaEndpointOp, Endpoint
from aiecc.ir.dialects.aie.routes import RouteEndpointOp
from aiecc.ir.fifo.liveness import FOREVER, Liveness, Span
from aiecc.ir.fifo.view import FifoView, StreamEnd, place_of
from aiecc.ir.passes.report import warning


def warn_of_early_objects(view: FifoView, groups: Sequence[Sequence[str]], sink: Sink) -> None:
    """Warn, at the end whose objects may come too early, once for each.

    groups: receiving shim ends, by channel. What the host has a hand in in other ways than through fifos (locks,
    programs of its own) counts as held back.
    """
    live = Liveness(view)
    sources = _Sources(view)
    for names in groups:
        told: set[str] = set()
        for early, waiting in permutations(names, 2):
            gates = sources.gates(early)
            if early in told or gates is None:
                continue
            if any(_may_come(early, waiting, gates, spans) for spans in live.sequences if waiting in spans):
                told.add(early)
                _tell(view, early, waiting, sink)


def _may_come(early: str, waiting: str, gates: set[str], spans: Mapping[str, Span]) -> bool:
    """Whether objects of one end may come while a sequence has transfers of another in flight."""
    span = spans[waiting]
    if not gates:
        return True
    if any(gate not in spans or (span.over != FOREVER and spans[gate].first > span.over) for gate in gates):
        return False
    # Who was received before has sent what the host asked for.
    return not (early in spans and spans[early].over != FOREVER and spans[early].over < span.first)


def _tell(view: FifoView, early: str, waiting: str, sink: Sink) -> None:
    one, other = view.stream_ends[early], view.stream_ends[waiting]
    text = (
        f"objects of '{one.fifo_name}' may arrive while the host receives '{other.fifo_name}': both share a channel "
        "of the shim, which takes what comes first"
    )
    todo = "let the array send only on data that the host sends it in time, or use another shim tile"
    warning(sink, one, text, [(f"'{other.fifo_name}' is here", other)], todo=todo)


class _Sources:
    """What the host has to send before an end gets anything."""

    def __init__(self, view: FifoView) -> None:
        self._view = view
        self._cores = {place_of(op.tile): op for op in view.device.block.ops if isinstance(op, CoreOp)}

    def gates(self, end: str) -> set[str] | None:
        """The sending shim ends that what arrives at `end` may depend on; None when that cannot be told."""
        found: set[str] = set()
        seen: set[str] = set()
        todo = list(self._senders(end))
        while todo:
            at = todo.pop()
            if at.symbol in seen:
                continue
            seen.add(at.symbol)
            if isinstance(at, DmaEndpointOp):
                more = self._behind(at, frozenset())
            elif at.bundle is WireBundle.CORE:
                more = self._into(place_of(at.tile), frozenset())
            elif at.bundle is WireBundle.DMA and at.fifo_name is not None and _on_shim(at):
                found.add(at.symbol)
                continue
            else:
                more = None
            if more is None:
                return None
            todo += more
        return found

    def _senders(self, end: str) -> list[StreamEnd]:
        """The other sides of the routes that end here."""
        routes = [route for route in self._view.routes_of(end) if end in route.destinations]
        return [self._view.stream_ends[name] for route in routes for name in route.sources]

    def _behind(self, end: Endpoint, cores: frozenset[Hashable]) -> list[StreamEnd] | None:
        """The stream ends that lead to the pool which an end drains, directly or through cores; `cores` are done."""
        found: list[StreamEnd] = []
        for filler in self._view.ends_of(self._view.pool_of(end)):
            if filler.role is not Role.FILLS:
                continue
            if isinstance(filler, DmaEndpointOp):
                found += self._senders(filler.symbol)
                continue
            more = self._into(place_of(filler.tile), cores)
            if more is None:
                return None
            found += more
        return found

    def _into(self, core: Hashable, cores: frozenset[Hashable]) -> list[StreamEnd] | None:
        """The stream ends that lead into a core, through its fifos and the cores whose memory it shares."""
        if core in cores:
            return []
        op = self._cores.get(core)
        if op is None or any(isinstance(inner, UseLockOp) or inner.name.startswith("aie.get_") for inner in op.walk()):
            return None
        found: list[StreamEnd] = []
        for end in self._view.core_ends.values():
            if place_of(end.tile) == core and end.role is Role.DRAINS:
                more = self._behind(end, cores | {core})
                if more is None:
                    return None
                found += more
        return found


def _on_shim(end: RouteEndpointOp) -> bool:
    tile = end.tile_op
    return tile is not None and tile.kind is not None and tile.kind.is_shim
