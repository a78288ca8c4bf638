"""What makes a trace wrong."""

from __future__ import annotations

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.tiles import TileLike, placed, target_of, tile_like
from aiecc.ir.dialects.aie.trace import (
    TraceComboEventOp,
    TraceEdgeEventOp,
    TraceEventOp,
    TraceHostConfigOp,
    TraceOp,
    TracePortOp,
)
from aiecc.ir.dialects.base import DialectOp
from aiecc.ir.errors import VerifyError
from aiecc.model.targets import Bundle, PortSide, TileKind

MAX_EVENTS = 8

_PREFIXES = {
    TileKind.CORE: ("CoreEvent", "MemEvent"),
    TileKind.MEM: ("MemTileEvent",),
    TileKind.SHIM_NOC: ("ShimTileEvent",),
    TileKind.SHIM_PL: ("ShimTileEvent",),
}
_SUFFIXES = {"AIE1": "AIE", "AIE2": "AIE2", "AIE2p": "AIE2P", "AIE2ps": "AIE2P"}
_WORDS = {TileKind.CORE: "core", TileKind.MEM: "mem", TileKind.SHIM_NOC: "shim", TileKind.SHIM_PL: "shim"}


def _trace_of(op: DialectOp) -> TraceOp | None:
    parent = op.parent_op()
    return parent if isinstance(parent, TraceOp) else None


def verify_trace(op: TraceOp) -> None:
    events = sum(isinstance(inner, TraceEventOp) for inner in op.body.ops)
    if events > MAX_EVENTS:
        raise op.error(f"trace unit supports maximum {MAX_EVENTS} events, got {events}")
    if tile_like(op.tile) is None:
        raise op.error("tile operand must be a TileOp or LogicalTileOp")
    combos: set[int] = set()
    edges: set[int] = set()
    for inner in op.body.ops:
        if isinstance(inner, TraceComboEventOp):
            met, what = combos, "combo event"
        elif isinstance(inner, TraceEdgeEventOp):
            met, what = edges, "edge detection"
        else:
            continue
        if inner.slot in met:
            raise VerifyError(f"{what} slot {inner.slot} already in use in this trace", inner)
        met.add(inner.slot)


def _fits(op: DialectOp, event: str, tile: TileLike) -> bool:
    """Whether an `Enum::CASE` is of the tile's kind and architecture; plain names are looked up when lowered."""
    kind, separator, _ = event.partition("::")
    if not separator or tile.kind is None:
        return True
    suffix = _SUFFIXES[target_of(op).arch.display]
    return kind in {prefix + suffix for prefix in _PREFIXES[tile.kind]}


def verify_event(op: TraceEventOp) -> None:
    event = op.event or ""
    if not event:
        raise op.error("event name cannot be empty")
    trace = _trace_of(op)
    if trace is None:
        raise op.error("must be nested in aie.trace")
    tile = trace.tile_op
    if tile is None:
        raise op.error("trace tile must be a TileOp or LogicalTileOp")
    if _fits(op, event, tile):
        return
    col, row = getattr(tile, "col", None), getattr(tile, "row", None)
    place = f"({'?' if col is None else col}, {'?' if row is None else row})"
    word = _WORDS[tile.kind] if tile.kind is not None else "core"
    raise op.error(f"event '{event}' is not valid for {word} tile ({target_of(op).arch.display}) at {place}")


def verify_port(op: TracePortOp) -> None:
    trace = _trace_of(op)
    if trace is None:
        return
    tile = placed(trace.tile)
    if tile is not None and tile.kind is not None:
        side = PortSide.OUT if op.direction is Direction.S2MM else PortSide.IN
        target = target_of(op)
        index = target.port_index(tile.kind, Bundle(op.port.word), op.channel, side)
        if index is None:
            raise op.error(f"invalid stream switch port configuration for tile ({tile.col}, {tile.row})")
    for other in trace.body.ops:
        if other is not op and isinstance(other, TracePortOp) and other.slot == op.slot:
            raise op.error(f"duplicate port slot {op.slot} in trace {trace.symbol}")


def _case(event: str | None) -> str:
    return (event or "").rpartition("::")[2]


def verify_combo(op: TraceComboEventOp) -> None:
    slot = op.slot
    if not 0 <= slot <= 2:
        raise op.error(f"combo event slot must be 0, 1, or 2, got {slot}")
    trace = _trace_of(op)
    tile = trace.tile_op if trace is not None else None
    if tile is not None:
        for word, event in (("eventA", op.event_a), ("eventB", op.event_b)):
            if not _fits(op, event or "", tile):
                raise op.error(f"{word} is not valid for this tile type")
    first, second = _case(op.event_a), _case(op.event_b)
    if slot == 2:
        for word, name, wanted in (("first", first, "COMBO_EVENT_0"), ("second", second, "COMBO_EVENT_1")):
            if name != wanted:
                raise op.error(f"combo slot 2 {word} event must be {wanted} (hierarchical), got {name}")
    elif first.startswith("COMBO_EVENT_") or second.startswith("COMBO_EVENT_"):
        pair = "eventA/B" if slot == 0 else "eventC/D"
        raise op.error(f"combo slot {slot} should use regular events, not COMBO_EVENT_* (uses {pair})")


def verify_edge(op: TraceEdgeEventOp) -> None:
    if op.slot not in (0, 1):
        raise op.error(f"edge detection slot must be 0 or 1, got {op.slot}")
    trace = _trace_of(op)
    tile = trace.tile_op if trace is not None else None
    if tile is not None and not _fits(op, op.event or "", tile):
        raise op.error("event is not valid for this tile type")
    name = _case(op.event)
    if name.startswith("EDGE_DETECTION_EVENT"):
        raise op.error("edge detection source should be a regular event, not another EDGE_DETECTION_EVENT")
    if name.startswith("COMBO_EVENT_"):
        raise op.error(
            "edge detection source should be a regular event, not a COMBO_EVENT "
            "(combo events can be used but may have unexpected behavior)"
        )


def verify_host_config(op: TraceHostConfigOp) -> None:
    if op.reuse_output_buffer and op.routing.word != "single":
        raise op.error(
            "reuse_output_buffer (append trace after last tensor) only works with single shim destination strategy "
            "(routing=single)"
        )
    if op.buffer_size <= 0:
        raise op.error("buffer_size must be positive")
    if op.egress_shim_col < 0:
        raise op.error("egress_shim_col must be >= 0")
