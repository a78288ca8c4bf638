"""The stack of a core: how large it is taken to be, and which bank its code may count on."""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.model.design import CoreFacts
from aiecc.model.targets import Target, TileKind
from aiecc.model.toolchain import Toolchain

FIRST_SPACE = 5  # memory space of bank A
_OUTSIDE_A = (
    "'aie.core' op a stack outside memory bank A requires Peano compilation with no separately compiled link_files: "
    "their stack bank assumptions cannot be verified. Use stack bank A, or compile kernels as LLVM IR with "
    'link_with_mode = "merge" and without --xchesscc/--xbridge'
)


def stack_size(core: CoreFacts, target: Target) -> int:
    """Bytes reserved: what the author declared, else the device's default."""
    return target.default_stack_size if core.stack_size is None else core.stack_size


def stack_bank(core: CoreFacts, target: Target) -> int | None:
    """The declared bank, else the one that the whole stack lies in; None when it spans banks."""
    if core.stack_bank is not None:
        return core.stack_bank
    width = target.bank_size(TileKind.CORE)
    start = core.stack_address or 0
    last = start + max(stack_size(core, target), 1) - 1
    return start // width if start // width == last // width else None


def stack_space(core: CoreFacts, target: Target, tools: Toolchain, diag: Sink) -> int | None:
    """The address space the compiler may assume for the stack, None to assume nothing.

    A stack outside bank A is an error for code that was compiled elsewhere, since that may count on bank A.
    """
    bank = stack_bank(core, target)
    starts_in = core.stack_bank or (core.stack_address or 0) // target.bank_size(TileKind.CORE)
    if starts_in != 0 and (core.link_files or tools.capabilities.bcf):
        diag.error(_OUTSIDE_A, core.where, code="E0202")
    return None if bank is None else FIRST_SPACE + bank
