"""What the verifier says of flows, switches, cascades and traces."""

from __future__ import annotations

import pytest
from aiekit import Said, complaint, complaints


def packets(body: str, head: str = "aie.packet_flow(3)", tail: str = "") -> str:
    return f"{head} {{\n{body}\n}}{tail}"


ENDS = "aie.packet_source<%t, DMA : 0>\naie.packet_dest<%s, DMA : 0>"


def box(body: str, tile: str = "%t", op: str = "switchbox") -> str:
    return f"%w = aie.{op}({tile}) {{\n{body}\n}}"


def core(body: str) -> str:
    return f"%c = aie.core(%t) {{\n{body}\naie.end\n}}"


def trace(body: str, tile: str = "%t") -> str:
    return f"aie.trace @tr({tile}) {{\n{body}\n}}"


VIA = '"aie.flow"(%t, %s, {tiles}) <{{source_bundle = 1 : i32, source_channel = 0 : i32, dest_bundle = 1 : i32, \
dest_channel = 0 : i32, via_ingress_bundles = array<i32: {ib}>, via_ingress_channels = array<i32: {ic}>, \
via_egress_bundles = array<i32: {eb}>, via_egress_channels = array<i32: {ec}>}}>'


def via(tiles: str = "%m", ib: str = "5", ic: str = "0", eb: str = "3", ec: str = "0") -> str:
    types = ", ".join(["index"] * (2 + tiles.count("%")))
    return f"%x = aie.plio(1)\n{VIA.format(tiles=tiles, ib=ib, ic=ic, eb=eb, ec=ec)} : ({types}) -> ()"


ERRORS: list[tuple[str, str, Said]] = [
    # --- flows
    (
        "source port",
        "aie.flow(%t, DMA : 2, %s, DMA : 0)",
        Said(1, "'aie.flow' op source DMA:2 does not exist: tile (0, 2) has 2 DMA ports into its stream switch"),
    ),
    (
        "destination port",
        "aie.flow(%s, DMA : 0, %t, Core : 1)",
        Said(
            1, "'aie.flow' op destination Core:1 does not exist: tile (0, 2) has 1 Core port out of its stream switch"
        ),
    ),
    (
        "a bundle the tile has not",
        "aie.flow(%t, DMA : 0, %m, Core : 0)",
        Said(
            1, "'aie.flow' op destination Core:0 does not exist: tile (0, 1) has 0 Core ports out of its stream switch"
        ),
    ),
    (
        "port of a shim",
        "aie.flow(%s, DMA : 2, %m, DMA : 0)",
        Said(1, "'aie.flow' op source DMA:2 does not exist: tile (0, 0) has 2 DMA ports into its stream switch"),
    ),
    (
        "negative channel",
        "aie.flow(%t, DMA : -1, %s, DMA : 0)",
        Said(
            1,
            "'aie.flow' op attribute 'source_channel' failed to satisfy constraint: 32-bit signless integer attribute "
            "whose minimum value is 0",
        ),
    ),
    ("via count", via(ib="5, 5"), Said(2, "'aie.flow' op has 1 via tile(s) but a via port array of size 2")),
    (
        "via that is no tile",
        via("%x"),
        Said(2, "'aie.flow' op has via operand at index 0 that is not defined by a tile-like operation"),
    ),
    (
        "via bundle in",
        via("%m, %m", "5, 40", "0, 0", "3, 3", "0, 0"),
        Said(2, "'aie.flow' op has invalid via ingress bundle 40 at index 1"),
    ),
    ("via bundle out", via(eb="-1"), Said(2, "'aie.flow' op has invalid via egress bundle -1 at index 0")),
    ("via channel in", via(ic="-2"), Said(2, "'aie.flow' op has negative via ingress channel -2 at index 0")),
    ("via channel out", via(ec="-2"), Said(2, "'aie.flow' op has negative via egress channel -2 at index 0")),
    # --- packet flows
    (
        "no source",
        packets("aie.packet_dest<%s, DMA : 0>"),
        Said(1, "'aie.packet_flow' op must have at least one aie.packet_source"),
    ),
    (
        "no destination",
        packets("aie.packet_source<%t, DMA : 0>"),
        Said(1, "'aie.packet_flow' op must have at least one aie.packet_dest"),
    ),
    (
        "something else inside",
        packets("%k = aie.tile(1, 1)\n" + ENDS),
        Said(2, "'aie.tile' op cannot be contained in a PacketFlow op"),
    ),
    (
        "no body",
        '"aie.packet_flow"() <{ID = 1 : i8}> ({\n}) : () -> ()',
        Said(1, "'aie.packet_flow' op should have non-empty body"),
    ),
    (
        "id outside its mask",
        packets(ENDS, "aie.packet_flow(5, mask = 0x1A)"),
        Said(1, "'aie.packet_flow' op has ID 0x5 outside mask 0x1A, which no packet can match"),
    ),
    (
        "waypoints and several sources",
        packets("aie.packet_source<%t, DMA : 1>\n" + ENDS, tail=" via (%m : North : 0 -> South : 0)"),
        Said(1, "'aie.packet_flow' op with via waypoints must have exactly one aie.packet_source"),
    ),
    (
        "waypoints and several destinations",
        packets(ENDS + "\naie.packet_dest<%s, DMA : 1>", tail=" via (%m : North : 0 -> South : 0)"),
        Said(1, "'aie.packet_flow' op with via waypoints must have exactly one aie.packet_dest"),
    ),
    (
        "packet source port",
        packets(ENDS.replace("%t, DMA : 0", "%t, DMA : 7")),
        Said(
            2, "'aie.packet_source' op source DMA:7 does not exist: tile (0, 2) has 2 DMA ports into its stream switch"
        ),
    ),
    (
        "packet destination port",
        packets(ENDS.replace("%s, DMA : 0", "%m, DMA : 6")),
        Said(
            3,
            "'aie.packet_dest' op destination DMA:6 does not exist: tile (0, 1) has 6 DMA ports out of its "
            "stream switch",
        ),
    ),
    (
        "packet source outside",
        "aie.packet_source<%t, DMA : 0>",
        Said(1, "'aie.packet_source' op expects parent op 'aie.packet_flow'"),
    ),
    (
        "packet dest outside",
        "aie.packet_dest<%t, DMA : 0>",
        Said(1, "'aie.packet_dest' op expects parent op 'aie.packet_flow'"),
    ),
    # --- switches
    (
        "two circuits to one port",
        box("aie.connect<North : 0, Core : 0>\naie.connect<East : 1, DMA : 0>\naie.connect<DMA : 0, Core : 0>"),
        Said(
            4,
            "'aie.connect' op ; connecting (DMA: 0) to (Core: 0) on TileID(0, 2) targets same dst as another "
            "connect op; "
            "existing destinations: (Core: 0), (DMA: 0)",
        ),
    ),
    (
        "source channel",
        box("aie.connect<DMA : 2, Core : 0>"),
        Said(2, "'aie.connect' op index 2 for source bundle DMA must be less than 2"),
    ),
    (
        "dest channel",
        box("aie.connect<DMA : 0, Core : 3>"),
        Said(2, "'aie.connect' op index 3 for dest bundle Core must be less than 1"),
    ),
    (
        "source bundle",
        box("aie.connect<PLIO : 0, Core : 0>"),
        Said(2, "'aie.connect' op source bundle PLIO not supported; index: 0, bound: 0"),
    ),
    (
        "dest bundle",
        box("aie.connect<DMA : 0, NOC : 1>"),
        Said(2, "'aie.connect' op dest bundle NOC not supported; index: 1, bound: 0"),
    ),
    (
        "impossible connection",
        box("aie.connect<DMA : 0, DMA : 1>", "%m"),
        Said(2, "'aie.connect' op illegal stream switch connection"),
    ),
    (
        "impossible arbitration",
        box(
            "%a = aie.amsel<0>(0)\n%o = aie.masterset(DMA : 1, %a)\naie.packet_rules(DMA : 0) {\naie.rule(31, "
            "1, %a)\n}",
            "%m",
        ),
        Said(2, "'aie.amsel' op illegal stream switch connection"),
    ),
    (
        "master of a circuit's port",
        box("aie.connect<North : 0, DMA : 0>\n%a = aie.amsel<0>(0)\n%o = aie.masterset(DMA : 0, %a)"),
        Said(4, "'aie.masterset' op targets same destination DMA: 0 as another connect or masterset operation"),
    ),
    (
        "master channel",
        box("%a = aie.amsel<0>(0)\n%o = aie.masterset(DMA : 9, %a)"),
        Said(3, "'aie.masterset' op index 9 for dest bundle DMA must be less than 2"),
    ),
    (
        "two arbiters for a master",
        box("%a = aie.amsel<0>(0)\n%b = aie.amsel<1>(0)\n%o = aie.masterset(DMA : 0, %a, %b)"),
        Said(4, "'aie.masterset' op a master port can only be tied to one arbiter"),
    ),
    (
        "master without arbiter",
        box("%o = aie.masterset(DMA : 0, %t)"),
        Said(2, "'aie.masterset' op amsel operand must be produced by an 'aie.amsel' op"),
    ),
    (
        "packets of a circuit's port",
        box("aie.connect<North : 1, DMA : 0>\naie.packet_rules(North : 1) {\n}"),
        Said(
            3, "'aie.packet_rules' op packet switched source North1 cannot match another connect or masterset operation"
        ),
    ),
    (
        "something else in a switch",
        box("%k = aie.tile(1, 1)"),
        Said(2, "'aie.tile' op cannot be contained in a Switchbox op"),
    ),
    (
        "no switch body",
        '%w = "aie.switchbox"(%t) ({\n}) : (index) -> index',
        Said(1, "'aie.switchbox' op should have non-empty body"),
    ),
    (
        "no rules body",
        box('"aie.packet_rules"() <{source_bundle = 5 : i32, source_channel = 0 : i32}> ({\n}) : () -> ()'),
        Said(2, "'aie.packet_rules' op should have non-empty body"),
    ),
    (
        "arbiter",
        box("%a = aie.amsel<6>(0)"),
        Said(
            2,
            "'aie.amsel' op attribute 'arbiterID' failed to satisfy constraint: 8-bit signless integer attribute whose "
            "minimum value is 0 whose maximum value is 5",
        ),
    ),
    (
        "selection",
        box("%a = aie.amsel<5>(4)"),
        Said(
            2,
            "'aie.amsel' op attribute 'msel' failed to satisfy constraint: 8-bit signless integer attribute "
            "whose minimum "
            "value is 0 whose maximum value is 3",
        ),
    ),
    (
        "connect outside",
        "aie.connect<DMA : 0, Core : 0>",
        Said(1, "'aie.connect' op expects parent op to be one of 'aie.switchbox, aie.shim_mux'"),
    ),
    (
        "rule outside",
        box("%a = aie.amsel<0>(0)\naie.rule(31, 1, %a)"),
        Said(3, "'aie.rule' op cannot be contained in a Switchbox op"),
    ),
    ("arbiter outside", "%a = aie.amsel<0>(0)", Said(1, "'aie.amsel' op expects parent op 'aie.switchbox'")),
    (
        "multiplexer elsewhere",
        box("", "%m", "shim_mux"),
        Said(1, "'aie.shim_mux' op failed to verify that op exists in a shim tile"),
    ),
    (
        "multiplexer, one port twice",
        box("aie.connect<DMA : 0, North : 3>\naie.connect<DMA : 1, North : 3>", "%s", "shim_mux"),
        Said(3, "'aie.connect' op targets same destination North: 3 as another connect operation"),
    ),
    (
        "something else in a multiplexer",
        box("%k = aie.tile(1, 1)", "%s", "shim_mux"),
        Said(2, "'aie.tile' op cannot be contained in a Switchbox op"),
    ),
    # --- cascades and streams
    (
        "cascade of a shim",
        "aie.cascade_flow(%s, %t)",
        Said(1, "'aie.cascade_flow' op shimTile row has no cascade stream interface"),
    ),
    (
        "cascade of a memory tile",
        "aie.cascade_flow(%t, %m)",
        Said(1, "'aie.cascade_flow' op memTile row has no cascade stream interface"),
    ),
    (
        "cascade of distant tiles",
        "%f = aie.tile(2, 2)\naie.cascade_flow(%t, %f)",
        Said(2, "'aie.cascade_flow' op tiles must be adjacent"),
    ),
    (
        "cascade of no tile",
        "%x = aie.plio(1)\naie.cascade_flow(%t, %x)",
        Said(2, "'aie.cascade_flow' op source and dest must be tile-like operations"),
    ),
    (
        "cascade of a logical tile",
        "%x = aie.logical_tile<CoreTile>(?, ?)\naie.configure_cascade(%x, North, South)",
        Said(2, "'aie.configure_cascade' op requires a placed tile (aie.tile), not a logical tile"),
    ),
    (
        "cascade from below",
        "aie.configure_cascade(%t, South, South)",
        Said(1, "'aie.configure_cascade' op input direction of cascade must be North or West on AIE2p"),
    ),
    (
        "cascade to above",
        "aie.configure_cascade(%t, North, West)",
        Said(1, "'aie.configure_cascade' op output direction of cascade must be South or East on AIE2p"),
    ),
    (
        "configured cascade of a memory tile",
        "aie.configure_cascade(%m, North, South)",
        Said(1, "'aie.configure_cascade' op memTile row has no cascade stream interface"),
    ),
    (
        "configured cascade of a shim",
        "aie.configure_cascade(%s, North, South)",
        Said(1, "'aie.configure_cascade' op shimTile row has no cascade stream interface"),
    ),
    (
        "cascade width in",
        core("%v = aie.get_cascade() : vector<16xi16>"),
        Said(2, "'aie.get_cascade' op must be a 512-bit type"),
    ),
    (
        "cascade width out",
        core("%v = arith.constant 1 : i64\naie.put_cascade(%v : i64)"),
        Said(3, "'aie.put_cascade' op type must match architecture cascade width (512 bits in AIE2p)"),
    ),
    (
        "stream word",
        core("%v = arith.constant 1 : i64\naie.put_stream(%v : i64, %v : i64)"),
        Said(
            3,
            "'aie.put_stream' op operand #1 must be 32-bit float or 32-bit signless integer or 128-bit signless "
            "integer, "
            "but got 'i64'",
        ),
    ),
    (
        "stream outside a core",
        "%v = arith.constant 1 : i32\n%x = aie.get_stream(%v : i32) : i32",
        Said(2, "'aie.get_stream' op expects parent op 'aie.core'"),
    ),
    (
        "event",
        core("aie.event(2)"),
        Said(
            2,
            "'aie.event' op attribute 'val' failed to satisfy constraint: 32-bit signless integer attribute "
            "whose minimum "
            "value is 0 whose maximum value is 1",
        ),
    ),
    # --- traces
    (
        "nine events",
        trace('aie.trace.event <"TRUE">\n' * 9),
        Said(1, "'aie.trace' op trace unit supports maximum 8 events, got 9"),
    ),
    (
        "trace of no tile",
        "%x = aie.plio(1)\naie.trace @tr(%x) {\n}",
        Said(2, "'aie.trace' op tile operand must be a TileOp or LogicalTileOp"),
    ),
    (
        "combo slot twice",
        trace('aie.trace.combo_event<0> <"TRUE"> AND <"TRUE">\n' * 2),
        Said(3, "'aie.trace.combo_event' op combo event slot 0 already in use in this trace"),
    ),
    (
        "edge slot twice",
        trace('aie.trace.edge_event<1> event = <"TRUE"> trigger = RISING\n' * 2),
        Said(3, "'aie.trace.edge_event' op edge detection slot 1 already in use in this trace"),
    ),
    ("nameless event", trace('aie.trace.event <"">'), Said(2, "'aie.trace.event' op event name cannot be empty")),
    (
        "event outside",
        'aie.trace.event <"TRUE">',
        Said(1, "'aie.trace.event' op expects parent op 'aie.trace'"),
    ),
    (
        "event of another architecture",
        trace("aie.trace.event <CoreEventAIE2::INSTR_EVENT_0>"),
        Said(
            2, "'aie.trace.event' op event 'CoreEventAIE2::INSTR_EVENT_0' is not valid for core tile (AIE2p) at (0, 2)"
        ),
    ),
    (
        "event of another kind",
        trace("aie.trace.event <CoreEventAIE2P::INSTR_EVENT_0>", "%m"),
        Said(
            2, "'aie.trace.event' op event 'CoreEventAIE2P::INSTR_EVENT_0' is not valid for mem tile (AIE2p) at (0, 1)"
        ),
    ),
    (
        "event on a logical tile",
        "%x = aie.logical_tile<ShimNOCTile>(3, ?)\n" + trace("aie.trace.event <MemTileEventAIE2P::TRUE>", "%x"),
        Said(3, "'aie.trace.event' op event 'MemTileEventAIE2P::TRUE' is not valid for shim tile (AIE2p) at (3, ?)"),
    ),
    (
        "trace packet id",
        trace("aie.trace.packet id = 32 type = core"),
        Said(
            2,
            "'aie.trace.packet' op attribute 'id' failed to satisfy constraint: 32-bit signless integer "
            "attribute whose "
            "minimum value is 1 whose maximum value is 31",
        ),
    ),
    (
        "trace slot",
        trace("aie.trace.port<8> port = North channel = 0 direction = S2MM"),
        Said(
            2,
            "'aie.trace.port' op attribute 'slot' failed to satisfy constraint: 32-bit signless integer "
            "attribute whose "
            "minimum value is 0 whose maximum value is 7",
        ),
    ),
    (
        "trace port",
        trace("aie.trace.port<0> port = North channel = 99 direction = S2MM"),
        Said(2, "'aie.trace.port' op invalid stream switch port configuration for tile (0, 2)"),
    ),
    (
        "trace slot twice",
        trace("aie.trace.port<0> port = North channel = 0 direction = S2MM\n" * 2),
        Said(2, "'aie.trace.port' op duplicate port slot 0 in trace tr"),
    ),
    (
        "start of nothing",
        trace("aie.trace.start"),
        Said(2, "'aie.trace.start' op must specify either broadcast or event"),
    ),
    (
        "stop twice over",
        trace('aie.trace.stop broadcast = 1 event = <"TRUE">'),
        Said(2, "'aie.trace.stop' op cannot specify both broadcast and event"),
    ),
    (
        "combo slot",
        trace('aie.trace.combo_event<5> <"TRUE"> AND <"TRUE">'),
        Said(2, "'aie.trace.combo_event' op combo event slot must be 0, 1, or 2, got 5"),
    ),
    (
        "combo, first event elsewhere",
        trace('aie.trace.combo_event<0> <MemTileEventAIE2P::TRUE> AND <"TRUE">'),
        Said(2, "'aie.trace.combo_event' op eventA is not valid for this tile type"),
    ),
    (
        "combo, second event elsewhere",
        trace('aie.trace.combo_event<0> <"TRUE"> OR <MemTileEventAIE2P::TRUE>'),
        Said(2, "'aie.trace.combo_event' op eventB is not valid for this tile type"),
    ),
    (
        "combo of combos in slot 0",
        trace('aie.trace.combo_event<0> <"COMBO_EVENT_0"> AND <"TRUE">'),
        Said(
            2,
            "'aie.trace.combo_event' op combo slot 0 should use regular events, not COMBO_EVENT_* (uses eventA/B)",
        ),
    ),
    (
        "combo of combos in slot 1",
        trace('aie.trace.combo_event<1> <"TRUE"> AND <CoreEventAIE2P::COMBO_EVENT_1>'),
        Said(
            2,
            "'aie.trace.combo_event' op combo slot 1 should use regular events, not COMBO_EVENT_* (uses eventC/D)",
        ),
    ),
    (
        "combo hierarchy, first",
        trace('aie.trace.combo_event<2> <"LOCK_STALL"> AND <"COMBO_EVENT_1">'),
        Said(
            2,
            "'aie.trace.combo_event' op combo slot 2 first event must be COMBO_EVENT_0 (hierarchical), got LOCK_STALL",
        ),
    ),
    (
        "combo hierarchy, second",
        trace('aie.trace.combo_event<2> <"COMBO_EVENT_0"> AND <"TRUE">'),
        Said(2, "'aie.trace.combo_event' op combo slot 2 second event must be COMBO_EVENT_1 (hierarchical), got TRUE"),
    ),
    (
        "edge slot",
        trace('aie.trace.edge_event<2> event = <"TRUE"> trigger = BOTH'),
        Said(2, "'aie.trace.edge_event' op edge detection slot must be 0 or 1, got 2"),
    ),
    (
        "edge elsewhere",
        trace("aie.trace.edge_event<0> event = <ShimTileEventAIE2P::TRUE> trigger = BOTH"),
        Said(2, "'aie.trace.edge_event' op event is not valid for this tile type"),
    ),
    (
        "edge of an edge",
        trace('aie.trace.edge_event<0> event = <"EDGE_DETECTION_EVENT_1"> trigger = BOTH'),
        Said(
            2,
            "'aie.trace.edge_event' op edge detection source should be a regular event, not another "
            "EDGE_DETECTION_EVENT",
        ),
    ),
    (
        "edge of a combo",
        trace('aie.trace.edge_event<0> event = <"COMBO_EVENT_1"> trigger = BOTH'),
        Said(
            2,
            "'aie.trace.edge_event' op edge detection source should be a regular event, not a COMBO_EVENT "
            "(combo events "
            "can be used but may have unexpected behavior)",
        ),
    ),
    (
        "trace buffer of nothing",
        "aie.runtime_sequence() {\n  aie.trace.host_config {buffer_size = 0 : i32}\n}",
        Said(2, "'aie.trace.host_config' op buffer_size must be positive"),
    ),
    (
        "trace column",
        "aie.runtime_sequence() {\n  aie.trace.host_config {buffer_size = 8 : i32, egress_shim_col = -1 : i32}\n}",
        Said(2, "'aie.trace.host_config' op egress_shim_col must be >= 0"),
    ),
    (
        "trace buffer unsaid",
        "aie.runtime_sequence() {\n  aie.trace.host_config\n}",
        Said(2, "'aie.trace.host_config' op requires attribute 'buffer_size'"),
    ),
    (
        "trace configuration without a name",
        'aie.runtime_sequence() {\n  aie.trace.start_config @""\n}',
        Said(2, "'aie.trace.start_config' op trace config symbol name cannot be empty"),
    ),
    (
        "register outside",
        'aie.trace.reg register = "R" value = 1',
        Said(1, "'aie.trace.reg' op expects parent op 'aie.trace.config'"),
    ),
]


@pytest.mark.parametrize(("name", "body", "expected"), ERRORS, ids=[e[0] for e in ERRORS])
def test_error(name: str, body: str, expected: Said) -> None:
    assert complaint(body) == expected


def test_the_first_architecture_s_cascade() -> None:
    get = core("%v = aie.get_cascade() : vector<16xi32>")
    assert complaint(get, "xcvc1902").text == "'aie.get_cascade' op must be a 384-bit type"
    assert (
        complaints(core("%v = aie.get_cascade() : vector<8xi48>\naie.put_cascade(%v : vector<8xi48>)"), "xcvc1902")
        == []
    )
    put = core("%v = arith.constant 1 : i64\naie.put_cascade(%v : i64)")
    assert complaint(put, "xcvc1902").text == (
        "'aie.put_cascade' op type must match architecture cascade width (384 bits in AIE1)"
    )
    assert complaint("aie.configure_cascade(%t, North, South)", "xcvc1902").text == (
        "'aie.configure_cascade' op cascade not supported in AIE1"
    )


GOOD = [
    "aie.flow(%t, DMA : 1, %s, DMA : 1)\naie.flow(%s, PLIO : 7, %t, Core : 0)",
    "%x = aie.logical_tile<CoreTile>(?, ?)\naie.flow(%x, DMA : 9, %t, DMA : 0)",
    via(),
    packets(ENDS, "aie.packet_flow(0x12, mask = 0x1E)"),
    packets(ENDS, tail=" via (%m : North : 0 -> South : 0)"),
    box("aie.connect<DMA : 0, North : 0>\naie.connect<DMA : 0, North : 1>"),
    box(
        "%a = aie.amsel<0>(0)\n%b = aie.amsel<0>(1)\n%o = aie.masterset(DMA : 0, %a, %b)\n"
        "aie.packet_rules(North : 0) {\naie.rule(31, 1, %a)\naie.rule(31, 2, %b)\n}"
    ),
    "%x = aie.logical_tile<CoreTile>(?, ?)\n" + box("aie.connect<PLIO : 0, NOC : 9>", "%x"),
    box("aie.connect<DMA : 0, North : 3>", "%s", "shim_mux"),
    "%n = aie.tile(0, 3)\naie.cascade_flow(%n, %t)\naie.configure_cascade(%t, North, East)",
    core("%v = aie.get_cascade() : vector<16xi32>\naie.put_cascade(%v : vector<16xi32>)"),
    trace("aie.trace.event <CoreEventAIE2P::INSTR_EVENT_0>\naie.trace.event <MemEventAIE2P::TRUE>"),
    trace("aie.trace.event <MemTileEventAIE2P::TRUE>", "%m"),
    trace("aie.trace.event <ShimTileEventAIE2P::TRUE>", "%s"),
    trace('aie.trace.event <"NOT_LOOKED_UP_YET">'),
    trace(
        "aie.trace.port<0> port = North channel = 0 direction = S2MM\n"
        "aie.trace.port<1> port = North channel = 0 direction = S2MM"
    ),
    trace('aie.trace.combo_event<2> <"COMBO_EVENT_0"> AND <CoreEventAIE2P::COMBO_EVENT_1>'),
]


@pytest.mark.parametrize("body", GOOD)
def test_good(body: str) -> None:
    assert complaints(body) == []
