"""The trace ops, read and printed."""

from __future__ import annotations

import pytest
from aiekit import Form, check_form

T = "%tile_0_2"


def in_trace(source: str, expected: str | None = None) -> Form:
    """One line inside a trace."""
    return (
        f"aie.trace @tr (%t) {{\n  {source}\n}}",
        f"aie.trace @tr({T}) {{\n  {expected or source}\n}}",
    )


FORMS: dict[str, Form] = {
    "trace": ("aie.trace @tr(%t) {} {a}", f"aie.trace @tr({T}) {{\n}} {{a}}"),
    "mode time": in_trace('aie.trace.mode "Event-Time"'),
    "mode pc": in_trace('aie.trace.mode "Event-PC" {a}'),
    "mode execution": in_trace('aie.trace.mode "Execution"', "aie.trace.mode Execution"),
    "event": in_trace('aie.trace.event<"LOCK_STALL">', 'aie.trace.event <"LOCK_STALL">'),
    "event with label": in_trace(
        'aie.trace.event <CoreEventAIE2P::INSTR_EVENT_0> label="a b" {c}',
        'aie.trace.event <CoreEventAIE2P::INSTR_EVENT_0> label = "a b" {c}',
    ),
    "packet": in_trace("aie.trace.packet id=1 type=core", "aie.trace.packet id = 1 type = core"),
    "packet without id": in_trace("aie.trace.packet type = memtile"),
    "packet of a shim": in_trace(
        'aie.trace.packet id = 31 type = "shimtile"', "aie.trace.packet id = 31 type = shimtile"
    ),
    "packet of a memory": in_trace("aie.trace.packet id = 2 type = mem {a}"),
    "port": in_trace(
        "aie.trace.port<0> port=North channel=1 direction=S2MM",
        "aie.trace.port<0> port = North channel = 1 direction = S2MM",
    ),
    "start": in_trace("aie.trace.start broadcast=15", "aie.trace.start broadcast = 15"),
    "start by event": in_trace('aie.trace.start event=<"TRUE">', 'aie.trace.start event = <"TRUE">'),
    "stop": in_trace("aie.trace.stop broadcast = 14 {a}"),
    "stop by event": in_trace("aie.trace.stop event = <CoreEventAIE2P::USER_EVENT_1>"),
    "combo_event": in_trace(
        'aie.trace.combo_event<2> <"COMBO_EVENT_0"> AND_NOT <"COMBO_EVENT_1">',
    ),
    "edge_event": in_trace(
        'aie.trace.edge_event<1> event=<"LOCK_STALL"> trigger=BOTH',
        'aie.trace.edge_event<1> event = <"LOCK_STALL"> trigger = BOTH',
    ),
    "config": (
        """
        aie.trace.config @c(%t) packet_type=mem {
          aie.trace.reg register="R" field="F" value=0x10 mask=255 comment="what for"
          aie.trace.reg register = "R" value = -1
          aie.trace.reg register = "R" field = "F" value = "LOCK_STALL" {a}
          aie.trace.reg register = "R" value = CoreEventAIE2P::LOCK_STALL
        } {b}
        aie.trace.config @d(%t) {
        }
        """,
        f"""
        aie.trace.config @c({T}) packet_type = mem {{
          aie.trace.reg register = "R" field = "F" value = 16 mask = 255 comment = "what for"
          aie.trace.reg register = "R" value = -1
          aie.trace.reg register = "R" field = "F" value = "LOCK_STALL" {{a}}
          aie.trace.reg register = "R" value = CoreEventAIE2P::LOCK_STALL
        }} {{b}}
        aie.trace.config @d({T}) {{
        }}
        """,
    ),
    "host_config and start_config": (
        """
        aie.runtime_sequence @run() {
          aie.trace.host_config {buffer_size = 8192 : i32, egress_shim_col = 0 : i32, reuse_output_buffer = false,
            routing = 0 : i32}
          aie.trace.host_config {buffer_size = 64 : i32, egress_shim_col = 3 : i32, reuse_output_buffer = true}
          aie.trace.start_config @c {a}
        }
        """,
        """
        aie.runtime_sequence @run() {
          aie.trace.host_config {buffer_size = 8192 : i32}
          aie.trace.host_config {buffer_size = 64 : i32, egress_shim_col = 3 : i32, reuse_output_buffer = true}
          aie.trace.start_config @c {a}
        }
        """,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    check_form(FORMS[name])
