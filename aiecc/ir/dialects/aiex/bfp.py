"""Block floating point: several mantissas that share one exponent, moved as one element."""

from __future__ import annotations

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

# Bits of one block: mantissas and the exponent. The number after `v` is how many values share it.
BLOCKS = {"v8bfp16ebs8": 72, "v16bfp16ebs16": 136}


@irdl_attr_definition
class BfpType(Data[str], TypeAttribute):
    """`!aiex.bfp<"v8bfp16ebs8">`."""

    name = "aiex.bfp"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        parser.parse_characters("<")
        at = parser.pos
        block = parser.parse_str_literal()
        if block not in BLOCKS:
            parser.raise_error(f"Invalid block type: {block}. Known types are: {', '.join(BLOCKS)}.", at)
        parser.parse_characters(">")
        return block

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_string_literal(self.data)
        printer.print_string(">")

    @property
    def storage_bits(self) -> int:
        """Bits that one element takes in memory."""
        return BLOCKS[self.data]
