"""Descriptor chains as templates: what a tile's own DMA program starts by name.

    aie.bd_chain @ping_pong(%ping: memref<64xi32>, %pong: memref<64xi32>, %full: index, %free: index) {
      ...
    }
    aie.mem(%tile) {
      aie.dma_start_task @ping_pong(%a, %b, %full, %free) : (memref<64xi32>, memref<64xi32>, index, index) on (MM2S, 0)
      aie.end
    }

Sequences start the same chain with `aiex.dma_start_bd_chain`. `aie-materialize-bd-chains` puts the chain's blocks in
the place of either.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, var_operand_def

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.base import DialectOp, int_field, name_field, op_definition, word_field
from aiecc.ir.dialects.constraints import ANY_TYPE, I32, SYMBOL, int_attr, number
from aiecc.ir.dialects.many import Many, ManyTypes
from aiecc.ir.dialects.syntax import DICT, Int, Ref, Word, syntax


@op_definition
class DmaStartTaskOp(DialectOp):
    """Start a channel of this program's tile at a chain.

    `repeat_count`: executions beyond the first. `pad_value`: what padding is filled with.
    """

    name = "aie.dma_start_task"
    args_ = var_operand_def(ANY_TYPE)
    symbol_attr = prop_def(SYMBOL, prop_name="symbol")
    direction_attr = prop_def(int_attr(32, 0, 1), prop_name="direction")
    channel_attr = prop_def(int_attr(32, 0), prop_name="channel")
    repeat_count_attr = opt_prop_def(int_attr(32, 0), IntegerAttr(0, I32), prop_name="repeat_count")
    pad_value_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="pad_value")
    PARENTS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
    SYNTAX = syntax(
        Ref("symbol"), "(", Many("args_"), ")", ":", "(", ManyTypes("args_"), ")", "on", "(",
        Word("direction", Direction), ",", Int("channel"), ")", DICT,
    )  # fmt: skip

    symbol = name_field("symbol")
    direction = word_field("direction", Direction)
    channel = int_field("channel")

    def __init__(
        self, symbol: str, args: Sequence[SSAValue], direction: Direction, channel: int, repeat_count: int = 0
    ) -> None:
        properties: dict[str, Attribute] = {
            "symbol": SymbolRefAttr(symbol),
            "direction": IntegerAttr(int(direction), I32),
            "channel": IntegerAttr(channel, I32),
        }
        if repeat_count:
            properties["repeat_count"] = IntegerAttr(repeat_count, I32)
        super().__init__(operands=[list(args)], properties=properties)

    @property
    def repeat_count(self) -> int:
        return number(self.properties.get("repeat_count")) or 0

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.chain_rules import verify_start_task

        verify_start_task(self)
