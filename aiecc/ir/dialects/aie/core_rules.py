"""What makes a core wrong: a body beside a prebuilt ELF, link lists that clash, a stack that fits nowhere."""

from __future__ import annotations

from aiecc.ir.dialects.aie.cores import CoreOp
from aiecc.ir.dialects.aie.tile_rules import CORE, verify_tile_kind
from aiecc.ir.dialects.aie.tiles import EndOp, target_of
from aiecc.model.targets import TileKind


def verify_core(op: CoreOp) -> None:
    verify_tile_kind(op, op.tile, CORE)
    _verify_body(op)
    _verify_links(op)
    _verify_measured(op)
    _verify_stack(op)


def _verify_body(op: CoreOp) -> None:
    entry = op.body.blocks.first
    if entry is None or entry.first_op is None:
        raise op.error("should have non-empty body")
    if op.elf_file is not None and not (
        len(op.body.blocks) == 1 and entry.first_op is entry.last_op and isinstance(entry.first_op, EndOp)
    ):
        raise op.error(
            "When `elf_file` attribute is specified, core body must be empty (consist of exactly one `aie.end` op)."
        )


def _verify_links(op: CoreOp) -> None:
    for key in ("link_files", "link_merge_files"):
        if op.link_with is not None and key in op.properties:
            raise op.error(
                f"cannot specify both 'link_with' (deprecated) and '{key}' on the same core; "
                "run aie-assign-core-link-files to migrate"
            )
    merged = set(op.link_merge_files)
    for name in op.link_files:
        if name in merged:
            raise op.error(
                f"artifact '{name}' appears in both 'link_files' and 'link_merge_files'; "
                "an artifact must be either merged or linked, not both"
            )


def _verify_measured(op: CoreOp) -> None:
    if op.data_size is not None and op.measured_data_size is not None and op.data_size < op.measured_data_size:
        raise op.error(
            f"data_size {op.data_size} is smaller than the {op.measured_data_size} bytes this core's linked sections "
            "occupy"
        )
    most = target_of(op).memory_size(TileKind.CORE)

    def bad(n: int) -> bool:
        return not 1 <= n <= most or n & (n - 1) != 0

    if op.measured_data_alignment is not None and bad(op.measured_data_alignment):
        raise op.error(f"measured_data_alignment must be a power of two between 1 and {most} bytes")
    if any(bad(n) for n in op.measured_bank_alignments):
        raise op.error(f"measured_bank_alignments must contain only powers of two between 1 and {most} bytes")


def _verify_stack(op: CoreOp) -> None:
    target = target_of(op)
    size = op.stack_size if op.stack_size is not None else target.default_stack_size
    total = target.memory_size(TileKind.CORE)
    if op.stack_bank is not None:
        _verify_stack_bank(op, op.stack_bank, size)
    needed, words = size, f"stack_size {size}"
    if op.stack_size is None and op.measured_stack_size is not None and op.measured_stack_size > size:
        needed, words = op.measured_stack_size, f"measured stack requirement {op.measured_stack_size}"
    if needed >= total:
        raise op.error(f"{words} leaves no local memory for this tile's buffers ({total} bytes total)")
    address = op.stack_address
    if address is None:
        return
    if address + size > total:
        raise op.error(f"a {size}-byte stack at 0x{address:X} runs past this tile's local memory ({total} bytes total)")
    if address % target.stack_align:
        raise op.error(f"stack_address must be aligned to {target.stack_align} bytes for this target's stack ABI")


def _verify_stack_bank(op: CoreOp, bank: int, size: int) -> None:
    target = target_of(op)
    banks, bank_size = target.banks(TileKind.CORE), target.bank_size(TileKind.CORE)
    if bank >= banks:
        raise op.error(f"stack_bank {bank} does not exist; this tile has {banks} banks")
    if size > bank_size:
        raise op.error(
            f"stack_bank pins a {size}-byte stack to bank {bank}, which holds {bank_size} bytes; "
            "omit stack_bank and stack_address for legacy placement"
        )
    address = op.stack_address
    if address is None:
        return
    if address // bank_size != bank:
        raise op.error(
            f"stack_address 0x{address:X} lies in bank {address // bank_size}, but stack_bank requests bank {bank}"
        )
    end = (bank + 1) * bank_size
    if address + size > end:
        raise op.error(f"a {size}-byte stack at 0x{address:X} runs past stack_bank {bank} (ending at 0x{end:X})")
