"""What the host does at run time: sequences, descriptor chains, names for shim channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import PacketInfo, PacketInfoAttr, packet_of
from aiecc.ir.dialects.aie.bd import PACKET
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.tiles import TileLike, TileOp, tile_like
from aiecc.ir.dialects.aie.trace_attrs import TraceBufferAttr, TraceSliceAttr
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    ints_field,
    name_field,
    op_definition,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    BOOLEAN,
    I32,
    I64,
    INDEX,
    INDEX_TYPE,
    STRING,
    Described,
    array_of,
    dense_ints,
    int_attr,
)
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, need, wrong
from aiecc.ir.dialects.syntax import DICT, Dict, Int, Sym, TypedUses, Word, syntax
from aiecc.ir.dialects.traits import KeepsConstants, OneBlock, OpenEnded, Symbol


class HeaderedBody(Element):
    """`(%a: t, %b: u)`, then perhaps `attributes {..}`, then a region whose entry block has these arguments."""

    def __init__(self, dictionary: bool) -> None:
        self.dictionary = Dict(keyword=True) if dictionary else None

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "(")
        arguments: list[Any] = []
        if not eat(p, ")"):
            while True:
                argument = p.parse_optional_argument()
                if argument is None:
                    wrong(p, "expected SSA operand")
                argument.location = p.parse_optional_location()
                arguments.append(argument)
                if not eat(p, ","):
                    break
            need(p, ")")
        if self.dictionary is not None:
            self.dictionary.parse(p, d)
        region = p.parse_optional_region(arguments)
        if region is None:
            wrong(p, "expected '{' to begin a region")
        d.regions["body"] = [region]

    def print(self, out: Out, op: DialectOp) -> None:
        region = op.regions[0]
        entry = region.blocks.first
        printer = out.printer
        printer.print_string("(")
        if entry is not None:
            printer.print_list(entry.args, printer.print_block_argument)
        printer.print_string(")")
        if self.dictionary is not None:
            self.dictionary.print(out, op)
        printer.print_string(" ")
        printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


@op_definition
class BdChainOp(DialectOp):
    """A template of descriptors, cloned where a sequence starts it."""

    name = "aie.bd_chain"
    sym_name = prop_def(STRING)
    body = region_def()
    traits = traits_def(Symbol(), KeepsConstants())
    SYNTAX = syntax(Sym(), HeaderedBody(dictionary=False))

    symbol = name_field()

    def __init__(self, name: str, body: Region) -> None:
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[body])

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.chain_rules import verify_chain

        verify_chain(self.body)


@op_definition
class RuntimeSequenceOp(DialectOp):
    """The instructions the host hands to the array's command processor."""

    name = "aie.runtime_sequence"
    sym_name = prop_def(STRING, StringAttr("sequence"))
    emit_parameter_sync_preamble_attr = opt_prop_def(BOOLEAN, prop_name="emit_parameter_sync_preamble")
    trace_buffer = opt_prop_def(Described[TraceBufferAttr]("trace buffer", lambda a: isinstance(a, TraceBufferAttr)))
    trace_slices: ArrayAttr[Attribute] | None = opt_prop_def(
        array_of("array of trace slices", lambda a: isinstance(a, TraceSliceAttr))
    )
    body = region_def()
    traits = traits_def(Symbol(), OneBlock(), OpenEnded(), KeepsConstants())
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Sym(default="sequence"), HeaderedBody(dictionary=True))

    symbol = name_field()
    emit_parameter_sync_preamble = bool_field("emit_parameter_sync_preamble")

    def __init__(self, name: str = "sequence", arg_types: Sequence[Attribute] = (), body: Region | None = None) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name)},
            regions=[Region(Block(arg_types=arg_types)) if body is None else body],
        )

    def verify_op(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name != "aie.device":
            raise self.error("must be inside AIE device operation.")


class _AllocationPlace(Element):
    """`(%tile, MM2S, 0, <pkt_id = 3>)`; older texts write `(MM2S, 0, 2)` with the column last."""

    fixed = ("channel_dir", "channel_index", "packet")

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "(")
        operand = p.parse_optional_unresolved_operand()
        if operand is not None:
            d.operands["tile"] = [p.resolve_operand(operand, INDEX)]
            need(p, ",")
        _DIRECTION.parse(p, d)
        need(p, ",")
        _INDEX.parse(p, d)
        if operand is None:
            need(p, ",")
            column = p.parse_optional_integer(allow_boolean=False, allow_negative=False)
            if column is None:
                fail(p, "expected integer value")
            # A tile without a place in the IR yet: `older.settle` finds the device's own, or puts this one in.
            d.operands["tile"] = [TileOp(column, 0).result]
        elif eat(p, ","):
            d.props["packet"] = read_short_packet(p)
        need(p, ")")

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit("(")
        out.arg().print_operand(op.operands[0])
        out.lit(",")
        _DIRECTION.print(out, op)
        out.lit(",")
        _INDEX.print(out, op)
        packet = op.properties.get("packet")
        if isinstance(packet, PacketInfoAttr):
            out.lit(",")
            packet.print_parameter(out.arg())
        out.lit(")")


_DIRECTION = Word("channel_dir", Direction)
_INDEX = Int("channel_index", I64)


def read_short_packet(p: Parser) -> PacketInfoAttr:
    """A packet header, short (`<pkt_id = 3>`) or in full."""
    at = p.pos
    full = p.parse_optional_attribute()
    if full is None:
        return PacketInfoAttr(PacketInfoAttr.parse_parameter(p))
    if not isinstance(full, PacketInfoAttr):
        fail(p, "invalid kind of attribute specified", at)
    return full


@op_definition
class ShimDmaAllocationOp(DialectOp):
    """A name for one channel of a shim tile's DMA."""

    name = "aie.shim_dma_allocation"
    tile = operand_def(INDEX_TYPE)
    sym_name = prop_def(STRING)
    channel_dir_attr = prop_def(int_attr(32, 0, 1), prop_name="channel_dir")
    channel_index_attr = prop_def(int_attr(64), prop_name="channel_index")
    plio_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="plio")
    packet_attr = opt_prop_def(PACKET, prop_name="packet")
    traits = traits_def(Symbol())
    PARENTS = ("aie.device",)
    SYNTAX = syntax(Sym(), _AllocationPlace(), DICT)

    symbol = name_field()
    direction = word_field("channel_dir", Direction)
    channel = int_field("channel_index")
    plio = bool_field("plio")

    def __init__(
        self,
        name: str,
        tile: SSAValue,
        direction: Direction,
        channel: int,
        packet: PacketInfo | None = None,
        plio: bool = False,
    ) -> None:
        super().__init__(
            operands=[tile],
            properties={
                "sym_name": StringAttr(name),
                "channel_dir": IntegerAttr(direction.value, I32),
                "channel_index": IntegerAttr(channel, I64),
                "packet": None if packet is None else PacketInfoAttr(packet),
                "plio": IntegerAttr(1, 1) if plio else None,
            },
        )

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    @property
    def packet(self) -> PacketInfo | None:
        return packet_of(self.packet_attr)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.runtime_rules import verify_allocation

        verify_allocation(self)


@op_definition
class ObjectFifoRearmBindingOp(DialectOp):
    """What has to be reset so that a fifo can run again: channels on tiles, and locks with their first values."""

    name = "aie.objectfifo_rearm_binding"
    sym_name = prop_def(STRING)
    channel_tiles = var_operand_def(INDEX_TYPE)
    locks = var_operand_def(INDEX_TYPE)
    channel_dirs_attr = prop_def(dense_ints(32), prop_name="channel_dirs")
    channel_indices_attr = prop_def(dense_ints(32), prop_name="channel_indices")
    head_bd_ids_attr = opt_prop_def(dense_ints(32), prop_name="head_bd_ids")
    lock_inits_attr = prop_def(dense_ints(32), prop_name="lock_inits")
    repeat_counts_attr = opt_prop_def(dense_ints(32), prop_name="repeat_counts")
    traits = traits_def(Symbol())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    PARENTS = ("aie.device",)
    SYNTAX = syntax(
        Sym(), "channels", "(", TypedUses("channel_tiles"), ")", "locks", "(", TypedUses("locks"), ")", DICT
    )

    symbol = name_field()
    channel_dirs = ints_field("channel_dirs")
    channel_indices = ints_field("channel_indices")
    head_bd_ids = ints_field("head_bd_ids")
    lock_inits = ints_field("lock_inits")
    repeat_counts = ints_field("repeat_counts")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.runtime_rules import verify_rearm

        verify_rearm(self)
