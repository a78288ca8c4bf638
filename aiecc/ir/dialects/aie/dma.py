"""DMA programs: channels, their descriptor blocks, and what strings blocks together."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import opt_prop_def, prop_def, result_def, successor_def, traits_def, var_region_def
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, IsTerminator

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    op_definition,
    string_field,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    BIT_TYPE,
    BOOL,
    BOOLEAN,
    I32,
    STRING,
    UNIT,
    Described,
    int_attr,
    is_flat_symbol,
    number,
)
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, need, read_int, wrong
from aiecc.ir.dialects.syntax import DICT, Int, Maybe, Succ, Word, syntax
from aiecc.ir.dialects.traits import OpenEnded

CHANNEL: Described[Attribute] = Described(
    "32-bit signless integer attribute whose minimum value is 0 or flat symbol reference attribute",
    lambda a: is_flat_symbol(a) or ((number(a) or 0) >= 0 and isinstance(a, IntegerAttr) and bool(a.type == I32)),
)


class _Channel(Element):
    """A channel number, or the name of the route endpoint that will get one."""

    fixed = ("channel",)

    def parse(self, p: Parser, d: Draft) -> None:
        name = p.parse_optional_symbol_name()
        d.props["channel"] = read_int(p) if name is None else SymbolRefAttr(name)

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties["channel"]
        if isinstance(attr, IntegerAttr):
            out.arg().print_int(attr.value.data)
        else:
            out.arg().print_attribute(attr)


class _CanonicalStart(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from aiecc.ir.dialects.aie.canonical import ShorterCycle

        return (ShorterCycle(),)


class _RepeatCount(Maybe):
    """`, repeat_count = n`."""

    def __init__(self) -> None:
        super().__init__(",", "repeat_count", "=", Int("repeat_count"), unless=0)


class DmaChannel(DialectOp):
    """What `aie.dma_start` and `aie.dma` have in common."""

    direction = word_field("channel_dir", Direction)

    @property
    def index(self) -> int | None:
        """The channel's number; None while a route endpoint stands for it."""
        return number(self.properties.get("channel", self.properties.get("channel_index")))


@op_definition
class DmaStartOp(DmaChannel):
    """Start a channel at a descriptor block, then go on with the next channel."""

    name = "aie.dma_start"
    channel_dir_attr = prop_def(int_attr(32, 0, 1), prop_name="channel_dir")
    channel = prop_def(CHANNEL)
    repeat_count_attr = opt_prop_def(int_attr(32, 0), IntegerAttr(0, I32), prop_name="repeat_count")
    out_of_order_attr = opt_prop_def(UNIT, prop_name="out_of_order")
    pad_value_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="pad_value")
    valid = result_def(BIT_TYPE)
    dest = successor_def()
    chain = successor_def()
    traits = traits_def(IsTerminator(), _CanonicalStart())
    PARENTS = ("aie.mem", "aie.memtile_dma", "func.func", "aie.shim_dma")
    RESULT = BOOL
    OLDER = {"channel_index": "channel"}
    SYNTAX = syntax(
        "(", Word("channel_dir", Direction), ",", _Channel(), ",", Succ(0), ",", Succ(1), _RepeatCount(), ")", DICT
    )

    out_of_order = bool_field("out_of_order")

    def __init__(
        self,
        direction: Direction,
        channel: int | str,
        dest: Block,
        chain: Block,
        repeat_count: int = 0,
    ) -> None:
        super().__init__(
            result_types=[BOOL],
            properties={
                "channel_dir": IntegerAttr(direction.value, I32),
                "channel": SymbolRefAttr(channel) if isinstance(channel, str) else IntegerAttr(channel, I32),
                "repeat_count": IntegerAttr(repeat_count, I32) if repeat_count else None,
            },
            successors=[dest, chain],
        )

    @property
    def repeat_count(self) -> int:
        """How many times more than once each descriptor chain runs."""
        return number(self.repeat_count_attr) or 0

    @property
    def pad_value(self) -> int:
        return number(self.pad_value_attr) or 0

    @property
    def endpoint(self) -> str | None:
        """The route endpoint that stands in place of a channel number."""
        return self.channel.root_reference.data if isinstance(self.channel, SymbolRefAttr) else None

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.dma_rules import verify_start

        verify_start(self)


class _BracketedRegions(Element):
    """`[{..}, {..}]`."""

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "[")
        regions: list[Region] = []
        while True:
            region = p.parse_optional_region()
            if region is None:
                wrong(p, "expected '{' to begin a region")
            regions.append(region)
            if not eat(p, ","):
                break
        need(p, "]")
        d.regions["bds"] = regions

    def print(self, out: Out, op: DialectOp) -> None:
        printer = out.arg()
        printer.print_string("[")
        for i, region in enumerate(op.regions):
            if i:
                printer.print_string(", ")
            printer.print_region(region, print_empty_block=False)
        printer.print_string("]")


@op_definition
class DmaOp(DmaChannel):
    """A channel and its descriptors, one region each, run in order."""

    name = "aie.dma"
    channel_dir_attr = prop_def(int_attr(32, 0, 1), prop_name="channel_dir")
    channel_index_attr = prop_def(int_attr(32, 0), prop_name="channel_index")
    loop_attr = opt_prop_def(BOOLEAN, IntegerAttr(1, 1), prop_name="loop")
    out_of_order_attr = opt_prop_def(UNIT, prop_name="out_of_order")
    pad_value_attr = opt_prop_def(int_attr(32), IntegerAttr(0, I32), prop_name="pad_value")
    repeat_count_attr = opt_prop_def(int_attr(32, 0), IntegerAttr(0, I32), prop_name="repeat_count")
    sym_name = opt_prop_def(STRING)
    bds = var_region_def()
    valid = result_def(BIT_TYPE)
    traits = traits_def(OpenEnded())
    PARENTS = ("aie.mem", "aie.memtile_dma", "aie.shim_dma")
    RESULT = BOOL
    SYNTAX = syntax("(", Word("channel_dir", Direction), ",", Int("channel_index"), ")", DICT, _BracketedRegions())

    loop = bool_field("loop", True)
    out_of_order = bool_field("out_of_order")
    symbol = string_field("sym_name")
    channel_index = int_field("channel_index")

    def __init__(
        self,
        direction: Direction,
        channel: int,
        bds: list[Region],
        *,
        loop: bool = True,
        repeat_count: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(
            result_types=[BOOL],
            properties={
                "channel_dir": IntegerAttr(direction.value, I32),
                "channel_index": IntegerAttr(channel, I32),
                "loop": None if loop else IntegerAttr(0, 1),
                "repeat_count": IntegerAttr(repeat_count, I32) if repeat_count else None,
                "sym_name": None if name is None else StringAttr(name),
            },
            regions=[bds],
        )

    @property
    def repeat_count(self) -> int:
        return number(self.repeat_count_attr) or 0

    @property
    def pad_value(self) -> int:
        return number(self.pad_value_attr) or 0

    def asm_result_names(self) -> list[str | None]:
        return [self.symbol]

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.dma_rules import verify_dma

        verify_dma(self)


@op_definition
class NextBdOp(DialectOp):
    """Go on with the descriptor in another block."""

    name = "aie.next_bd"
    dest = successor_def()
    traits = traits_def(IsTerminator())
    SYNTAX = syntax(Succ(), DICT)

    def __init__(self, dest: Block) -> None:
        super().__init__(successors=[dest])


@op_definition
class DmaBdPacketOp(DialectOp):
    """The packet header of the descriptor in the same block."""

    name = "aie.dma_bd_packet"
    packet_type_attr = prop_def(int_attr(32), prop_name="packet_type")
    packet_id_attr = prop_def(int_attr(32), prop_name="packet_id")
    SYNTAX = syntax("(", Int("packet_type"), ",", Int("packet_id"), ")", DICT)

    packet_type = int_field("packet_type")
    packet_id = int_field("packet_id")

    def __init__(self, packet_type: int, packet_id: int) -> None:
        super().__init__(
            properties={"packet_type": IntegerAttr(packet_type, I32), "packet_id": IntegerAttr(packet_id, I32)}
        )

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.bd_rules import verify_packet

        verify_packet(self, self.packet_type, self.packet_id)
