"""The command line of `aiecc design.mlir` as tables: what exists, what is not built yet, what `--get-<name>` means."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from aiecc import choices
from aiecc.base.diag import refuse
from aiecc.engine.options import option, options


def _count(word: str) -> int:
    value = int(word)
    if not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"expected a non-negative integer, not {word}")
    return value


@options
class DriverOptions:
    """Where things go and how they are told. None of this changes what is built."""

    output_dir: str = option(".", "--output-dir", metavar="DIR", help="where requested artifacts go")
    tmpdir: str = option(
        "", "--tmpdir", metavar="DIR", help="work folder; default: <input name>.prj in the current folder"
    )
    get: tuple[str, ...] = option(
        (), "-g", "--get", kind=str, metavar="NAME[,NAME...]", help="build these artifacts; an unknown name lists all"
    )
    device_name: str = option("", "--device-name", metavar="NAME", help="build only this device")
    npu_insts_name: str = option(
        "", "--npu-insts-name", metavar="NAME", help="what insts_{0}.bin is called; {0} is DEVICE_SEQUENCE"
    )
    sequence_name: str = option("", "--sequence-name", metavar="NAME", help="build only this runtime sequence")
    nthreads: int = option(
        0,
        "-j",
        "--nthreads",
        kind=_count,
        metavar="N",
        help="workers; 0 means one per CPU (default: $AIECC_JOBS, else 0)",
    )
    verbose: bool = option(False, "-v", "--verbose", help="say what runs, why, and how long it takes")
    progress: bool = option(True, "--progress", help="one status line while building, on a terminal")
    emit_dot: bool = option(False, "--emit-dot", help="print the build graph and exit")
    dump_intermediates: bool = option(False, "--dump-intermediates", help="write every artifact to the work folder")
    print_commands: bool = option(
        False, "--print-commands", help="print a shell script that replays every external command of this build"
    )
    dry_run: bool = option(False, "-n", "--dry-run", help="plan only: print what would run")
    profile: bool = option(False, "--profile", help="print the time of every step at the end")
    plugins: tuple[str, ...] = option(
        (),
        "-p",
        "--plugin",
        kind=str,
        metavar="MODULE|FILE.py|no:NAME",
        help="load a plugin, or block one (repeatable)",
    )


STAGE_OPTIONS: tuple[type, ...] = (
    choices.ToolchainOptions,
    choices.LowerOptions,
    choices.CompileOptions,
    choices.MeasureOptions,
    choices.PlaceOptions,
    choices.CheckOptions,
    choices.SequenceOptions,
)

# `--get-<name>`: upstream's shorthands, and the view each stands for.
SELECTORS: Mapping[str, str] = {
    "input-with-addresses": "input_with_addresses.mlir",
    "input-with-symbols": "input_with_symbols.mlir",
    "core-elfs": "elfs_{0}.elf",
    "npu-insts": "insts_{0}.bin",
    "locmap": "insts_{0}.bin.locmap.json",
}


@dataclass(frozen=True)
class Additions:
    """What plugins add to the command line: options classes and `--get-NAME` words."""

    options: Mapping[type, str] = field(default_factory=dict[type, str])
    """Each with the plugin that brings it."""
    selectors: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each word selects."""


# Options and selectors of upstream's driver whose subject this version does not build: recognized, and refused in
# words. The value says whether the option takes a value, and what it belongs to.
LATER: Mapping[str, tuple[bool, str]] = {
    "--get-scratchpad-parameters": (False, "scratchpad parameters"),
    "--get-npu-cpp": (False, "the C++ form of runtime sequences"),
    "--get-elf": (False, "the instruction ELF"),
    "--get-cdo": (False, "CDO generation"),
    "--get-pdi": (False, "PDI generation"),
    "--get-txn": (False, "configuration transactions"),
    "--get-ctrlpkt": (False, "control packets"),
    "--get-xclbin": (False, "xclbin packaging"),
    "--get-full-elf": (False, "the full ELF"),
    "--get-host": (False, "host programs"),
    "--get-aiesim": (False, "the AIE simulator"),
    "-o": (True, "host programs"),
    "--cores-per-col": (True, "tile placement"),
    "--placer": (True, "tile placement"),
    "--sa-seed": (True, "tile placement"),
    "--sa-effort": (True, "tile placement"),
    "--generate-ctrl-pkt-overlay": (False, "control packets"),
    "--bf16-emulation": (False, "vector lowering"),
    "--expand-load-pdis": (False, "runtime sequences"),
    "--load-pdi-to-ctrl-pkt": (False, "control packets"),
    "--unified": (False, "the unified flow; cores are always lowered together here"),
    "--no-unified": (False, "the unified flow; cores are always lowered together here"),
    "--no-materialize": (False, "runtime sequences"),
    "--no-enforce-dma-queue-depth": (False, "runtime sequences"),
    "--allow-deadlock-prone-routing": (False, "routing"),
    "--reclaim-runtime-bds": (False, "runtime sequences"),
    "--host-target": (True, "host programs"),
    "--sysroot": (True, "host programs"),
    "-I": (True, "host programs"),
    "-L": (True, "host programs"),
    "-l": (True, "host programs"),
    "--npu-cpp-name": (True, "the C++ form of runtime sequences"),
    "--npu-cpp-emit-dispatch-shim": (False, "the C++ form of runtime sequences"),
    "--elf-name": (True, "the instruction ELF"),
    "--pdi-name": (True, "PDI generation"),
    "--txn-name": (True, "configuration transactions"),
    "--ctrlpkt-name": (True, "control packets"),
    "--ctrlpkt-dma-seq-name": (True, "control packets"),
    "--ctrlpkt-elf-name": (True, "control packets"),
    "--xclbin-name": (True, "xclbin packaging"),
    "--xclbin-kernel-name": (True, "xclbin packaging"),
    "--xclbin-instance-name": (True, "xclbin packaging"),
    "--xclbin-kernel-id": (True, "xclbin packaging"),
    "--xclbin-input": (True, "xclbin packaging"),
    "--xclbinutil-path": (True, "xclbin packaging"),
    "--full-elf-name": (True, "the full ELF"),
    "--cut": (True, "checkpoints"),
    "--checkpoint": (True, "checkpoints"),
    "--resume": (True, "checkpoints"),
    "--device-cache": (True, "the device cache; every build keeps what it made in its work folder"),
    "--await-link-files": (False, "waiting for link files"),
    "--enable-repeater-scripts": (False, "repeater scripts; a bug leaves a reproducer by itself"),
    "--disable-repeater-scripts": (False, "repeater scripts; a bug leaves a reproducer by itself"),
    "--repeater-output-dir": (True, "repeater scripts; a bug leaves a reproducer by itself"),
}


def refuse_later(token: str, known: Collection[str]) -> None:
    """Refuse an option whose subject is not built yet; return when `token` is none of those, or one of `known`."""
    name, _, _ = token.partition("=")
    long = "--" + name.lstrip("-")
    if long in known:
        return
    short = name[:2] if name[:2] in LATER and not name.startswith("--") and long not in LATER else None
    found = short or (long if long in LATER else None)
    if found is not None:
        refuse(f"aiecc: {found} belongs to {LATER[found][1]}, which this version does not build yet", code="E0901")


def default_jobs() -> int:
    """Workers when `-j` is not given: `$AIECC_JOBS`, else 0 (one per CPU)."""
    value = os.environ.get("AIECC_JOBS", "")
    if not value:
        return 0
    if not (value.isascii() and value.isdigit()) or int(value) > 0xFFFFFFFF:
        refuse(
            f"aiecc: invalid AIECC_JOBS value '{value}': "
            "expected a non-negative integer that fits in an unsigned value",
            code="E0901",
        )
    return int(value)
