"""DMA tasks of a run-time sequence: configure, start, await, free."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.attrs import PacketInfo, PacketInfoAttr, packet_of
from aiecc.ir.dialects.aie.bd import PACKET
from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.runtime import read_short_packet
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.aiex.parts import Group, GroupTypes, Many, ManyTypes, MaybeTyped
from aiecc.ir.dialects.base import SEGMENTS, DialectOp, bool_field, int_field, name_field, op_definition, word_field
from aiecc.ir.dialects.constraints import ANY_TYPE, BOOLEAN, I32, I32_TYPE, INDEX, INDEX_TYPE, SYMBOL, int_attr, number
from aiecc.ir.dialects.reading import Draft, Element, Out, eat
from aiecc.ir.dialects.syntax import DICT, Body, Int, Ref, Result, Use, Word, syntax

_FALSE, _ZERO = IntegerAttr(0, 1), IntegerAttr(0, I32)


@cache
def _channel(direction: Direction, channel: int) -> dict[str, Attribute]:
    """The properties of a task on a channel that has neither values for its count nor for its id."""
    return {
        SEGMENTS: DenseArrayBase.from_list(I32, [1, 0, 0]),
        "direction": IntegerAttr(int(direction), I32),
        "channel": IntegerAttr(channel, I32),
    }


class MaybePacket(Element):
    """`, <pkt_type = t, pkt_id = i>`, perhaps missing."""

    fixed = ("packet",)

    def parse(self, p: Parser, d: Draft) -> None:
        if eat(p, ","):
            d.props["packet"] = read_short_packet(p)

    def print(self, out: Out, op: DialectOp) -> None:
        packet = op.properties.get("packet")
        if isinstance(packet, PacketInfoAttr):
            out.lit(",")
            packet.print_parameter(out.arg())


class Task(DialectOp):
    """A chain of descriptors on one channel."""

    issue_token = bool_field("issue_token")

    @property
    def repeat_count(self) -> int:
        """How often more than once it runs; a `repeat` operand takes the place of this."""
        return number(self.properties.get("repeat_count")) or 0


@op_definition
class DmaConfigureTaskOp(Task):
    """Write a task's descriptors for a channel of a tile."""

    name = "aiex.dma_configure_task"
    tile = operand_def(INDEX_TYPE)
    repeat = opt_operand_def(I32_TYPE)
    bd_id = opt_operand_def(I32_TYPE)
    direction_attr = prop_def(int_attr(32, 0, 1), prop_name="direction")
    channel_attr = prop_def(int_attr(32), prop_name="channel")
    issue_token_attr = opt_prop_def(BOOLEAN, _FALSE, prop_name="issue_token")
    repeat_count_attr = opt_prop_def(int_attr(32), _ZERO, prop_name="repeat_count")
    packet_attr = opt_prop_def(PACKET, prop_name="packet")
    body = region_def()
    result = result_def(INDEX_TYPE)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    SYNTAX = syntax(
        "(", Use("tile"), ",", Word("direction", Direction), ",", Int("channel"), MaybePacket(), ")",
        MaybeTyped("repeat", "repeat"), MaybeTyped("bd_id", "bd_id"), Body(), DICT,
    )  # fmt: skip

    direction = word_field("direction", Direction)
    channel = int_field("channel")

    def __init__(self, tile: SSAValue, direction: Direction, channel: int, body: Region) -> None:
        super().__init__(
            operands=[[tile], [], []],
            result_types=[INDEX],
            properties={"direction": IntegerAttr(int(direction), I32), "channel": IntegerAttr(channel, I32)},
            regions=[body],
        )

    @classmethod
    def on(cls, tile: SSAValue, direction: Direction, channel: int, body: Region) -> DmaConfigureTaskOp:
        """As the constructor, faster for many tasks of one channel."""
        properties = dict(_channel(direction, channel))
        return cls.create(operands=[tile], result_types=[INDEX], properties=properties, regions=[body])

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    @property
    def packet(self) -> PacketInfo | None:
        return packet_of(self.packet_attr)

    def set_repeat(self, value: SSAValue) -> None:
        """Let a value say how often more than once it runs."""
        ids = [] if self.bd_id is None else [self.bd_id]
        self.operands = [self.tile, value, *ids]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, [1, 1, len(ids)])

    def set_bd_id(self, value: SSAValue) -> None:
        """Let a value say which descriptor it uses."""
        repeat = [] if self.repeat is None else [self.repeat]
        self.operands = [self.tile, *repeat, value]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(I32, [1, len(repeat), 1])

    def set_packet(self, packet: PacketInfo | None) -> None:
        """Give what it sends a header, or none."""
        if packet is None:
            self.properties.pop("packet", None)
        else:
            self.properties["packet"] = PacketInfoAttr(packet)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.task_rules import verify_configure

        verify_configure(self)


@op_definition
class DmaConfigureTaskForOp(Task):
    """Write a task's descriptors for the channel that a shim allocation names."""

    name = "aiex.dma_configure_task_for"
    repeat = opt_operand_def(I32_TYPE)
    alloc_attr = prop_def(SYMBOL, prop_name="alloc")
    issue_token_attr = opt_prop_def(BOOLEAN, _FALSE, prop_name="issue_token")
    repeat_count_attr = opt_prop_def(int_attr(32), _ZERO, prop_name="repeat_count")
    body = region_def()
    result = result_def(INDEX_TYPE)
    SYNTAX = syntax(Ref("alloc"), MaybeTyped("repeat", "repeat"), Body(), DICT)

    alloc = name_field("alloc")

    def __init__(self, alloc: str, body: Region) -> None:
        super().__init__(
            operands=[[]], result_types=[INDEX], properties={"alloc": SymbolRefAttr(alloc)}, regions=[body]
        )

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.task_rules import verify_configure_for

        verify_configure_for(self)


class _OnTask(DialectOp):
    """An op about one task."""

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.task_rules import verify_on_task

        verify_on_task(self)


@op_definition
class DmaStartTaskOp(_OnTask):
    """Push a task on its channel's queue."""

    name = "aiex.dma_start_task"
    task = operand_def(INDEX_TYPE)
    SYNTAX = syntax("(", Use("task"), ")", DICT)


@op_definition
class DmaAwaitTaskOp(_OnTask):
    """Wait for one completion of a task."""

    name = "aiex.dma_await_task"
    task = operand_def(INDEX_TYPE)
    SYNTAX = syntax("(", Use("task"), ")", DICT)


@op_definition
class DmaFreeTaskOp(_OnTask):
    """Promise that a task's descriptors are no longer running."""

    name = "aiex.dma_free_task"
    task = operand_def(INDEX_TYPE)
    SYNTAX = syntax("(", Use("task"), ")", DICT)


class StartChain(Task):
    """A configure and start of a descriptor template."""

    symbol = name_field("symbol")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.task_rules import verify_start_chain

        verify_start_chain(self)


@op_definition
class DmaStartBdChainOp(StartChain):
    """Configure and start a chain on a channel of a tile."""

    name = "aiex.dma_start_bd_chain"
    args_ = var_operand_def(ANY_TYPE)
    tile = operand_def(INDEX_TYPE)
    symbol_attr = prop_def(SYMBOL, prop_name="symbol")
    direction_attr = prop_def(int_attr(32, 0, 1), prop_name="direction")
    channel_attr = prop_def(int_attr(32), prop_name="channel")
    issue_token_attr = opt_prop_def(BOOLEAN, _FALSE, prop_name="issue_token")
    repeat_count_attr = opt_prop_def(int_attr(32), _ZERO, prop_name="repeat_count")
    result = result_def(INDEX_TYPE)
    SYNTAX = syntax(
        Ref("symbol"), "(", Many("args_"), ")", ":", "(", ManyTypes("args_"), ")", "on", "(", Use("tile"), ",",
        Word("direction", Direction), ",", Int("channel"), ")", DICT,
    )  # fmt: skip

    direction = word_field("direction", Direction)
    channel = int_field("channel")

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)


@op_definition
class DmaStartBdChainForOp(StartChain):
    """Configure and start a chain on the channel that a shim allocation names."""

    name = "aiex.dma_start_bd_chain_for"
    args_ = var_operand_def(ANY_TYPE)
    symbol_attr = prop_def(SYMBOL, prop_name="symbol")
    alloc_attr = prop_def(SYMBOL, prop_name="alloc")
    issue_token_attr = opt_prop_def(BOOLEAN, _FALSE, prop_name="issue_token")
    repeat_count_attr = opt_prop_def(int_attr(32), _ZERO, prop_name="repeat_count")
    result = result_def(INDEX_TYPE)
    SYNTAX = syntax(
        Ref("symbol"), "(", Many("args_"), ")", ":", "(", ManyTypes("args_"), ")", "for", Ref("alloc"), DICT
    )

    alloc = name_field("alloc")


@op_definition
class DmaBdPoolPopOp(DialectOp):
    """Take a free descriptor id of a tile, at run time."""

    name = "aiex.dma_bd_pool_pop"
    column_attr = prop_def(int_attr(32), prop_name="column")
    row_attr = prop_def(int_attr(32), prop_name="row")
    bd_id = result_def(I32_TYPE)
    SYNTAX = syntax("(", Int("column"), ",", Int("row"), ")", DICT, ":", Result())

    column = int_field("column")
    row = int_field("row")


@op_definition
class DmaBdPoolPushOp(DialectOp):
    """Give a descriptor id back."""

    name = "aiex.dma_bd_pool_push"
    bd_id = operand_def(I32_TYPE)
    column_attr = prop_def(int_attr(32), prop_name="column")
    row_attr = prop_def(int_attr(32), prop_name="row")
    SYNTAX = syntax("(", Int("column"), ",", Int("row"), ")", "bd_id", Group("bd_id"), DICT, ":", GroupTypes("bd_id"))

    column = int_field("column")
    row = int_field("row")


OPS: list[type[Operation]] = [
    DmaConfigureTaskOp,
    DmaConfigureTaskForOp,
    DmaStartTaskOp,
    DmaAwaitTaskOp,
    DmaFreeTaskOp,
    DmaStartBdChainOp,
    DmaStartBdChainForOp,
    DmaBdPoolPopOp,
    DmaBdPoolPushOp,
]
