"""Every option that changes what a build makes, stage by stage. The instance a stage gets is part of its cache key.

Options that only say where things go and how they are told (`--output-dir`, `-j`, `-v`) are in `aiecc.cli.driver`.
"""

from __future__ import annotations

from aiecc.engine.options import option, options


def _optimization(word: str) -> int:
    level = int(word)
    if not 0 <= level <= 3:
        raise ValueError(f"an optimization level is 0 to 3, not {word}")
    return level


def _size(word: str) -> int:
    value = int(word, 0)
    if not 0 <= value <= 0x7FFFFFFF:
        raise ValueError(f"a size is 0 to 2147483647 bytes, not {word}")
    return value


def _budget(word: str) -> int:
    value = int(word)
    if value <= 0:
        raise ValueError(f"placement-budget must be positive, got {word}")
    return value


@options
class ToolchainOptions:
    """Which compilers build the cores."""

    toolchain: str = option(
        "",
        "--toolchain",
        metavar="NAME",
        help="llvm, peano, chess or one of your own; default: Peano if found, else llvm",
    )
    toolchain_dir: tuple[str, ...] = option(
        (), "--toolchain-dir", metavar="DIR", help="look for toolchain files here first (repeatable)"
    )
    peano: str = option("", "--peano", metavar="DIR", help="Peano installation")
    aietools: str = option("", "--aietools", metavar="DIR", help="aietools (Vitis) installation")
    xchesscc: bool | None = option(None, "--xchesscc", kind=bool, help="compile with Chess; implies --xbridge")
    xbridge: bool | None = option(None, "--xbridge", kind=bool, help="link with Chess; implies --xchesscc")
    offered: tuple[str, ...] = ()
    """Toolchain files that plugins bring; not on the command line."""


@options
class LowerOptions:
    """How the design is brought down to cores."""

    default_stack_size: int = option(
        0,
        "--default-stack-size",
        kind=_size,
        metavar="BYTES",
        help="stack of cores that declare none (0: the device's)",
    )
    verify_each: bool = option(False, "--verify-each", help="verify the IR after every pass")
    dynamic_fifos: bool = option(
        True, "--dynamic-objFifos", help="keep loops over objectFifos as loops; --no-dynamic-objFifos unrolls them"
    )
    packet_fifos: bool = option(False, "--packet-sw-objFifos", help="packet-switched flows for all objectFifos")
    bd_chains: bool = option(
        False,
        "--bd-chains",
        help="write the descriptors of objectFifos as templates first: one aie.bd_chain for each shape",
    )
    skip_fifo_verify: bool = option(
        False, "--skip-objectFifo-verify", help="let designs program one end of an objectFifo by hand"
    )
    hang_check: str = option(
        "error",
        "--hang-check",
        choices=("error", "warn", "off"),
        help="a design that must get stuck: refuse it, warn, do not look",
    )


@options
class CompileOptions:
    """How cores and kernels are compiled."""

    opt_level: int = option(
        2, "-O", "--opt-level", kind=_optimization, metavar="LEVEL", help="optimization level, 0 to 3"
    )


@options
class MeasureOptions:
    """What is measured."""

    stack: bool = option(True, "--no-measure-stack-size", help="neither measure nor check the stack")
    data: bool = option(True, "--no-measure-data-size", help="neither measure nor check ordinary static data")


@options
class PlaceOptions:
    """How buffers get their addresses."""

    ranking: str = option(
        "ranked",
        "--placement",
        choices=("ranked", "spread"),
        help="ranked: as specified; spread: put buffers where fewest others start",
    )
    budget: int = option(
        20000, "--placement-budget", kind=_budget, metavar="N", help="placements tried per tile by the ranked search"
    )
    exact: bool = option(
        True, "--no-exact", help="do not ask CP-SAT (extra `exact`) about tiles the searches leave open"
    )


@options
class CheckOptions:
    """Which checks the linked cores must pass."""

    bank_placement: bool = option(
        True, "--no-check-bank-placement", help="do not check that bank-annotated data lies in its bank"
    )
    lut_banks: bool = option(False, "--check-lut-banks", help="check that aie::lut pairs lie in different banks")


@options
class SequenceOptions:
    """How runtime sequences become instructions."""

    queue_check: str = option(
        "wait",
        "--queue-check",
        choices=("wait", "error", "warn", "off"),
        help="a push that may be one too many for its channel's queue: wait for an earlier task's token, or refuse; "
        "refuse; warn; do not look",
    )
    fold_addresses: bool = option(
        True,
        "--fold-ddr-addr-offset",
        help="fold the addresses of the sixth and later host buffers into the instructions",
    )
