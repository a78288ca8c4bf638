"""Every diagnostic code and every exit code, in one place.

Hundreds say who speaks: E00 reading, E01 IR and verifiers, E02 stack, E03 core data, E04 placement,
E05 banks, E06 link and program memory, E07 compile, E08 toolchains, E09 driver and plugins,
E10 runtime sequences and their words, E11 designs that cannot run, E12 pipes between cores.
A code is never reused. Warnings share the numbers of their errors and start with W; remarks, which only `-v` shows,
start with R.
"""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """How a command ends."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    TOOL = 3
    INTERRUPTED = 4
    BUG = 70


CODES: dict[str, str] = {
    "E0001": "the input cannot be read",
    "E0002": "the input is not MLIR the reader understands",
    "E0101": "an operation violates its verifier",
    "E0102": "a pass cannot lower the design",
    "W0102": "a pass met something that is probably not meant so",
    "E0201": "the declared stack is too small",
    "E0202": "the default stack is too small",
    "E0203": "the stack requirement cannot be determined",
    "W0203": "the stack requirement cannot be determined; the check is skipped",
    "W0204": "frames are missing; the stack requirement is a lower bound",
    "E0301": "data_size is smaller than the linked sections",
    "E0302": "the core's data does not fit its region",
    "E0401": "an extent cannot be placed",
    "E0402": "a pinned address is illegal",
    "E0403": "bank constraints disagree or cannot be met",
    "E0501": "a bank-pinned symbol is linked elsewhere",
    "E0502": "an aie::lut pair shares a bank or cannot be verified",
    "E0503": "bank-pinned data does not fit its bank",
    "E0601": "the link failed",
    "E0602": "the code does not fit program memory",
    "E0701": "a kernel does not compile",
    "W0701": "a kernel compiles with warnings",
    "E0702": "a link file cannot be used",
    "E0801": "a tool is missing",
    "E0802": "a tool failed",
    "E0803": "a toolchain file cannot be used",
    "W0804": "another toolchain stands in for the one that was not found",
    "E0901": "the command line cannot be used",
    "E0902": "a plugin cannot be used",
    "E0903": "an output cannot be written",
    "E1001": "a transaction cannot be read",
    "E1002": "a runtime sequence cannot be lowered",
    "W1002": "a runtime sequence does what is probably not meant so",
    "E1003": "a tile's descriptors run out",
    "E1004": "a channel's task queue may overflow",
    "E1005": "a sequence moves no whole number of objects",
    "W1004": "a channel's task queue may overflow",
    "E1101": "the design must get stuck",
    "R1101": "whether a design gets stuck is not decided",
    "W1101": "the design gets stuck, perhaps",
    "E1201": "a pipe between cores is not set up or used as it must be",
    "W1201": "cores share a tensor, and nothing orders them",
    "E1202": "cores wait for one another for ever",
    "E1203": "cores race for a slot of a pipe",
    "E1204": "flags of a pipe are set twice, or left over",
    "W1202": "cores wait for one another for ever, perhaps",
    "W1203": "cores race for a slot of a pipe, perhaps",
    "W1204": "flags of a pipe are set twice, or left over, perhaps",
    "E1205": "a kernel with pipes cannot be built",
}
