"""The events that trace units, counters and broadcasts can watch, by name and hardware number.

`EVENTS["CoreEventAIE2"]["LOCK_STALL"]` is 26. Names and numbers are those of the AMD driver (aie-rt), which `aie.trace`
ops use. An enumeration is a kind of module (core, memory of a core tile, shim, memory tile) and an architecture;
AIE1 has no memory tiles, and AIE2ps uses AIE2p's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

# Items take one number after the other; `@n` goes on with n. `{a,b}` stands for each in turn, and `#` for each of the
# range that ends the item, the range being the outer loop.
_DMA = "{S2MM_0,S2MM_1,MM2S_0,MM2S_1}"
_START = "NONE TRUE GROUP_0 TIMER_SYNC TIMER_VALUE_REACHED"
_PORTS = "GROUP_STREAM_SWITCH PORT_{IDLE,RUNNING,STALLED,TLAST}_#[0-7]"
_USER = "GROUP_USER_EVENT USER_EVENT_#[0-3]"
_BROADCAST = "GROUP_BROADCAST BROADCAST_#[0-15]"
_BROADCAST_A = "GROUP_BROADCAST_A BROADCAST_A_#[0-15]"
_LOCK_STATES = "{ACQ_EQ,ACQ_GE,REL,EQUAL_TO_VALUE}"
_ECC = "DM_ECC_ERROR_SCRUB_{CORRECTED,2BIT} DM_ECC_ERROR_{1BIT,2BIT}"
_PM_ECC = "PM_ECC_ERROR_SCRUB_{CORRECTED,2BIT} PM_ECC_ERROR_{1BIT,2BIT}"
_NSU = "AXI_MM_{DECODE_NSU_ERROR,SLAVE_NSU_ERROR,UNSUPPORTED_TRAFFIC,UNSECURE_ACCESS_IN_SECURE_MODE,BYTE_STROBE_ERROR}"


def _activity(channel: str) -> str:
    """What AIE2's DMAs report of two channels each way; `channel` is how the number is written."""
    both = "{S2MM_#0,S2MM_#1,MM2S_#0,MM2S_#1}".replace("#", channel)
    s2mm, mm2s = ("{" + f"{way}_{channel}0,{way}_{channel}1" + "}" for way in ("S2MM", "MM2S"))
    return (
        f"GROUP_DMA_ACTIVITY DMA_{both}_START_TASK DMA_{both}_FINISHED_BD DMA_{both}_FINISHED_TASK "
        f"DMA_{both}_STALLED_LOCK DMA_{s2mm}_STREAM_STARVATION DMA_{mm2s}_STREAM_BACKPRESSURE "
        f"DMA_{s2mm}_MEMORY_BACKPRESSURE DMA_{mm2s}_MEMORY_STARVATION"
    )


_CORE_HEAD = (
    f"{_START} PERF_CNT_#[0-3] COMBO_EVENT_#[0-3] %s @15 GROUP_PC_EVENT PC_#[0-3] PC_RANGE_{{0_1,2_3}} GROUP_STALL "
    "{MEMORY,STREAM,CASCADE,LOCK}_STALL DEBUG_HALTED ACTIVE DISABLED ECC_{ERROR,SCRUBBING}_STALL GROUP_PROGRAM_FLOW "
    "INSTR_EVENT_#[0-1] INSTR_{CALL,RETURN,VECTOR,LOAD,STORE,STREAM_GET,STREAM_PUT,CASCADE_GET,CASCADE_PUT,"
    "LOCK_ACQUIRE_REQ,LOCK_RELEASE_REQ} GROUP_ERRORS_#[0-1]"
)
_CORE_ERRORS = (
    "@55 PM_REG_ACCESS_FAILURE STREAM_PKT_PARITY_ERROR CONTROL_PKT_ERROR AXI_MM_SLAVE_ERROR INSTR_DECOMPRSN_ERROR "
    f"DM_ADDRESS_OUT_OF_RANGE {_PM_ECC} PM_ADDRESS_OUT_OF_RANGE DM_ACCESS_TO_UNAVAILABLE LOCK_ACCESS_TO_UNAVAILABLE"
)
_CORE_TAIL = f"@73 {_PORTS} {_BROADCAST} {_USER}"
_MEM_ERRORS = f"@86 GROUP_ERRORS {_ECC} DM_PARITY_ERROR_BANK_#[2-7] DMA_{_DMA}_ERROR"
_MEM_TAIL = f"@106 {_BROADCAST} {_USER}"
_DMA_AIE1 = (
    f"GROUP_DMA_ACTIVITY DMA_{_DMA}_START_BD DMA_{_DMA}_FINISHED_BD DMA_{_DMA}_GO_TO_IDLE "
    f"DMA_{_DMA}_STALLED_LOCK_ACQUIRE"
)


def _core_aie2(number_70: str) -> str:
    return (
        f"{_CORE_HEAD % 'EDGE_DETECTION_EVENT_#[0-1]'} SRS_OVERFLOW UPS_OVERFLOW FP_HUGE INT_FP_0 FP_INVALID FP_INF "
        f"{_CORE_ERRORS} INSTR_WARNING INSTR_ERROR {number_70} STREAM_SWITCH_PORT_PARITY_ERROR PROCESSOR_BUS_ERROR "
        f"{_CORE_TAIL}"
    )


_CORE_AIE = (
    f"{_CORE_HEAD % ''} SRS_SATURATE UPS_SATURATE FP_OVERFLOW FP_UNDERFLOW FP_INVALID FP_DIV_BY_ZERO "
    f"TLAST_IN_WSS_WORDS_0_2 {_CORE_ERRORS} INSTR_EVENT_#[2-3] {_CORE_TAIL}"
)
_MEM_AIE = (
    f"{_START} PERF_CNT_#[0-1] COMBO_EVENT_#[0-3] @15 GROUP_WATCHPOINT WATCHPOINT_#[0-1] @20 {_DMA_AIE1} "
    f"DMA_{_DMA}_MEMORY_CONFLICT @43 GROUP_LOCK LOCK_#_{{ACQ,REL}}[0-15] GROUP_MEMORY_CONFLICT "
    f"CONFLICT_DM_BANK_#[0-7] {_MEM_ERRORS} {_MEM_TAIL}"
)
_MEM_AIE2 = (
    f"{_START} PERF_CNT_#[0-1] COMBO_EVENT_#[0-3] EDGE_DETECTION_EVENT_#[0-1] @15 GROUP_WATCHPOINT WATCHPOINT_#[0-1] "
    f"{_activity('')} GROUP_LOCK LOCK_{{SEL#_ACQ_EQ,SEL#_ACQ_GE,#_REL,SEL#_EQUAL_TO_VALUE}}[0-7] "
    f"GROUP_MEMORY_CONFLICT CONFLICT_DM_BANK_#[0-7] {_MEM_ERRORS} LOCK_ERROR DMA_TASK_TOKEN_STALL {_MEM_TAIL}"
)
_SHIM_AIE = (
    f"{_START} PERF_CNT_#[0-1] COMBO_EVENT_#[0-3] {_DMA_AIE1} GROUP_LOCK LOCK_#_{{ACQUIRED,RELEASED}}[0-15] "
    f"GROUP_ERRORS AXI_MM_SLAVE_TILE_ERROR CONTROL_PKT_ERROR {_NSU} DMA_{_DMA}_ERROR {_PORTS} {_BROADCAST_A} {_USER}"
)
_SHIM_AIE2 = (
    f"{_START} PERF_CNT_#[0-1] COMBO_EVENT_#[0-3] EDGE_DETECTION_EVENT_#[0-1] {_activity('')} GROUP_LOCK "
    f"LOCK_#_{_LOCK_STATES}[0-5] GROUP_ERRORS AXI_MM_SLAVE_ERROR CONTROL_PKT_ERROR STREAM_SWITCH_PARITY_ERROR {_NSU} "
    f"DMA_{{S2MM,MM2S}}_ERROR LOCK_ERROR DMA_TASK_TOKEN_STALL {_PORTS} {_BROADCAST_A} USER_EVENT_#[0-1]"
)
_MEM_TILE = (
    f"{_START} PERF_CNT#_EVENT[0-3] COMBO_EVENT_#[0-3] EDGE_DETECTION_EVENT_#[0-1] GROUP_WATCHPOINT WATCHPOINT_#[0-3] "
    f"{_activity('SEL')} GROUP_LOCK LOCK_SEL#_{_LOCK_STATES}[0-7] {_PORTS} GROUP_MEMORY_CONFLICT "
    f"CONFLICT_DM_BANK_#[0-15] GROUP_ERRORS {_ECC} DMA_{{S2MM,MM2S}}_ERROR STREAM_SWITCH_PARITY_ERROR STREAM_PKT_ERROR "
    f"CONTROL_PKT_ERROR AXI_MM_SLAVE_ERROR LOCK_ERROR DMA_TASK_TOKEN_STALL {_BROADCAST} GROUP_USER_EVENT "
    "USER_EVENT_#[0-1]"
)


def _expand(item: str) -> Iterator[str]:
    """The names an item stands for, in the order of their numbers."""
    match = re.fullmatch(r"(.*)\[(\d+)-(\d+)\]", item)
    body, indices = (
        (match[1], [str(i) for i in range(int(match[2]), int(match[3]) + 1)]) if match is not None else (item, [""])
    )
    head, brace, rest = body.partition("{")
    choices, _, tail = rest.partition("}")
    for index in indices:
        for choice in choices.split(",") if brace else [""]:
            yield f"{head}{choice}{tail}".replace("#", index)


def _numbered(items: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    number = 0
    for item in items.split():
        if item.startswith("@"):
            number = int(item[1:])
            continue
        for name in _expand(item):
            found[name] = number
            number += 1
    return MappingProxyType(found)


EVENTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "CoreEventAIE": _numbered(_CORE_AIE),
        "CoreEventAIE2": _numbered(_core_aie2("DECOMPRESSION_UNDERFLOW")),
        "CoreEventAIE2P": _numbered(_core_aie2("SPARSITY_OVERFLOW")),
        "MemEventAIE": _numbered(_MEM_AIE),
        "MemEventAIE2": _numbered(_MEM_AIE2),
        "MemEventAIE2P": _numbered(_MEM_AIE2),
        "ShimTileEventAIE": _numbered(_SHIM_AIE),
        "ShimTileEventAIE2": _numbered(_SHIM_AIE2),
        "ShimTileEventAIE2P": _numbered(_SHIM_AIE2),
        "MemTileEventAIE2": _numbered(_MEM_TILE),
        "MemTileEventAIE2P": _numbered(_MEM_TILE),
    }
)
"""Enumeration -> event -> number."""
