"""What runs on a tile: its core, and the DMA programs of its three kinds."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, region_def, result_def, traits_def

from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    ints_field,
    names_field,
    op_definition,
    optional_int_field,
    string_field,
)
from aiecc.ir.dialects.constraints import (
    BOOLEAN,
    I32,
    INDEX,
    INDEX_TYPE,
    STRING,
    STRINGS,
    dense_ints,
    int_attr,
)
from aiecc.ir.dialects.syntax import DICT, Body, Use, syntax
from aiecc.ir.dialects.traits import KeepsConstants

__all__ = ["CoreOp", "DmaProgram", "MemOp", "MemTileDmaOp", "OnTile", "ShimDmaOp"]


class OnTile(DialectOp):
    """An op about one tile, named after it: `core_0_2`."""

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.operands[0])

    @property
    def coord(self) -> tuple[int, int] | None:
        """(column, row) of its tile; None while that is not known."""
        tile = self.tile_op
        return tile.coord if tile is not None else None

    def asm_result_names(self) -> list[str | None]:
        tile = self.tile_op
        if tile is None or tile.name != "aie.tile" or tile.coord is None:
            return [None]
        return [f"{self.name.partition('.')[2]}_{tile.coord[0]}_{tile.coord[1]}"]


@op_definition
class CoreOp(OnTile):
    """The program of one core, and what is known about its memory."""

    name = "aie.core"
    tile = operand_def(INDEX_TYPE)
    body = region_def()
    result = result_def(INDEX_TYPE)
    data_size_attr = opt_prop_def(int_attr(32, 0), prop_name="data_size")
    dynamic_objfifo_lowering_attr = opt_prop_def(BOOLEAN, prop_name="dynamic_objfifo_lowering")
    elf_file_attr = opt_prop_def(STRING, prop_name="elf_file")
    emit_parameter_sync_preamble_attr = opt_prop_def(BOOLEAN, prop_name="emit_parameter_sync_preamble")
    link_files_attr = opt_prop_def(STRINGS, prop_name="link_files")
    link_merge_files_attr = opt_prop_def(STRINGS, prop_name="link_merge_files")
    link_with_attr = opt_prop_def(STRING, prop_name="link_with")
    measured_bank_alignments_attr = opt_prop_def(dense_ints(32), prop_name="measured_bank_alignments")
    measured_bank_sizes_attr = opt_prop_def(dense_ints(32), prop_name="measured_bank_sizes")
    measured_data_alignment_attr = opt_prop_def(int_attr(32, 1), prop_name="measured_data_alignment")
    measured_data_ranges_attr = opt_prop_def(dense_ints(32), prop_name="measured_data_ranges")
    measured_data_size_attr = opt_prop_def(int_attr(32, 0), prop_name="measured_data_size")
    measured_stack_size_attr = opt_prop_def(int_attr(32, 0), prop_name="measured_stack_size")
    stack_address_attr = opt_prop_def(int_attr(32, 0), prop_name="stack_address")
    stack_bank_attr = opt_prop_def(int_attr(32, 0), prop_name="stack_bank")
    stack_size_attr = opt_prop_def(int_attr(32, 1), prop_name="stack_size")
    traits = traits_def(KeepsConstants())
    SYNTAX = syntax("(", Use("tile"), ")", Body(), DICT)

    data_size = optional_int_field("data_size")
    dynamic_objfifo_lowering = bool_field("dynamic_objfifo_lowering")
    elf_file = string_field("elf_file")
    emit_parameter_sync_preamble = bool_field("emit_parameter_sync_preamble")
    link_files = names_field("link_files")
    link_merge_files = names_field("link_merge_files")
    link_with = string_field("link_with")
    measured_bank_alignments = ints_field("measured_bank_alignments")
    measured_bank_sizes = ints_field("measured_bank_sizes")
    measured_data_alignment = optional_int_field("measured_data_alignment")
    measured_data_ranges = ints_field("measured_data_ranges")
    measured_data_size = optional_int_field("measured_data_size")
    measured_stack_size = optional_int_field("measured_stack_size")
    stack_address = optional_int_field("stack_address")
    stack_bank = optional_int_field("stack_bank")
    stack_size = optional_int_field("stack_size")

    def __init__(self, tile: SSAValue, body: Region | None = None, *, stack_size: int | None = None) -> None:
        super().__init__(
            operands=[tile],
            result_types=[INDEX],
            properties={"stack_size": None if stack_size is None else IntegerAttr(stack_size, I32)},
            regions=[Region(Block()) if body is None else body],
        )

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.core_rules import verify_core

        verify_core(self)


class DmaProgram(OnTile):
    """A tile's DMA program: a graph of blocks, or one block of `aie.dma` ops."""

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.dma_rules import verify_program

        verify_program(self)


@op_definition
class MemOp(DmaProgram):
    """The DMA program of a core tile."""

    name = "aie.mem"
    tile = operand_def(INDEX_TYPE)
    body = region_def()
    result = result_def(INDEX_TYPE)
    traits = traits_def(KeepsConstants())
    SYNTAX = syntax("(", Use("tile"), ")", Body(), DICT)

    def __init__(self, tile: SSAValue, body: Region | None = None) -> None:
        super().__init__(operands=[tile], result_types=[INDEX], regions=[body or Region(Block())])


@op_definition
class MemTileDmaOp(DmaProgram):
    """The DMA program of a memory tile."""

    name = "aie.memtile_dma"
    tile = operand_def(INDEX_TYPE)
    body = region_def()
    result = result_def(INDEX_TYPE)
    traits = traits_def(KeepsConstants())
    SYNTAX = syntax("(", Use("tile"), ")", Body(), DICT)

    def __init__(self, tile: SSAValue, body: Region | None = None) -> None:
        super().__init__(operands=[tile], result_types=[INDEX], regions=[body or Region(Block())])


@op_definition
class ShimDmaOp(DmaProgram):
    """The DMA program of a shim tile."""

    name = "aie.shim_dma"
    tile = operand_def(INDEX_TYPE)
    body = region_def()
    result = result_def(INDEX_TYPE)
    traits = traits_def(KeepsConstants())
    SYNTAX = syntax("(", Use("tile"), ")", Body(), DICT)

    def __init__(self, tile: SSAValue, body: Region | None = None) -> None:
        super().__init__(operands=[tile], result_types=[INDEX], regions=[body or Region(Block())])
