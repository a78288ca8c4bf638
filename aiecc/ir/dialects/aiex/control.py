"""Devices and what changes them at run time: configurations, parameters, locks, resets, control packets."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, opt_prop_def, prop_def, region_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.aiex.parts import Many, ManyTypes
from aiecc.ir.dialects.base import (
    DialectOp,
    int_field,
    ints_field,
    name_field,
    op_definition,
    optional_int_field,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    ANY_TYPE,
    INDEX_TYPE,
    STRING,
    SYMBOL,
    TYPE,
    dense_ints,
    int_attr,
    unsigned_attr,
)
from aiecc.ir.dialects.reading import Draft, Out, read_type
from aiecc.ir.dialects.syntax import DICT, Body, Int, Property, Ref, Result, Sym, Use, Word, syntax
from aiecc.ir.dialects.traits import OneBlock, OpenEnded, Symbol


class _RuntimeSequence(RuntimeSequenceOp):
    """The sequence's name of 2024, read as `aie.runtime_sequence`."""

    name = "aiex.runtime_sequence"

    @classmethod
    def parse(cls, parser: Parser) -> DialectOp:
        return RuntimeSequenceOp.parse(parser)


@op_definition
class ConfigureOp(DialectOp):
    """Load another device and run its sequences."""

    name = "aiex.configure"
    symbol_attr = prop_def(SYMBOL, prop_name="symbol")
    expand_mode_attr = opt_prop_def(int_attr(32, 0, 2), prop_name="expand_mode")
    body = region_def()
    traits = traits_def(OneBlock(), OpenEnded())
    PARENTS = ("aie.runtime_sequence",)
    SYNTAX = syntax(Ref("symbol"), Body(one_block=True), DICT)

    symbol = name_field("symbol")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.configure_rules import verify_configure_device

        verify_configure_device(self)


@op_definition
class RunOp(DialectOp):
    """Run a sequence of the configured device."""

    name = "aiex.run"
    args_ = var_operand_def(ANY_TYPE)
    sequence_attr = prop_def(SYMBOL, prop_name="runtime_sequence_symbol")
    PARENTS = ("aiex.configure",)
    SYNTAX = syntax(Ref("runtime_sequence_symbol"), "(", Many("args_"), ")", ":", "(", ManyTypes("args_"), ")", DICT)

    sequence = name_field("runtime_sequence_symbol")


@op_definition
class SetLockOp(DialectOp):
    """Write a lock's value."""

    name = "aiex.set_lock"
    lock = operand_def(INDEX_TYPE)
    value_attr = prop_def(int_attr(32, 0), prop_name="value")
    SYNTAX = syntax("(", Use("lock"), ",", Int("value"), ")", DICT)

    value = int_field("value")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_set_lock

        verify_set_lock(self)


@op_definition
class DmaChannelResetOp(DialectOp):
    """Reset one DMA channel."""

    name = "aiex.dma_channel_reset"
    tile = operand_def(INDEX_TYPE)
    direction_attr = prop_def(int_attr(32, 0, 1), prop_name="direction")
    channel_attr = prop_def(int_attr(32), prop_name="channel")
    SYNTAX = syntax("(", Use("tile"), ",", Word("direction", Direction), ",", Int("channel"), ")", DICT)

    direction = word_field("direction", Direction)
    channel = int_field("channel")

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_channel_reset

        verify_channel_reset(self)


@op_definition
class DmaChannelResetForOp(DialectOp):
    """Reset and start again what an objectFifo uses on its tiles."""

    name = "aiex.dma_channel_reset_for"
    fifo_attr = prop_def(SYMBOL, prop_name="objfifo")
    SYNTAX = syntax("(", Ref("objfifo"), ")", DICT)

    fifo = name_field("objfifo")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_channel_reset_for

        verify_channel_reset_for(self)


@op_definition
class CoreResetOp(DialectOp):
    """Reset a core."""

    name = "aiex.core_reset"
    tile = operand_def(INDEX_TYPE)
    SYNTAX = syntax("(", Use("tile"), ")", DICT)

    @property
    def tile_op(self) -> TileLike | None:
        return tile_like(self.tile)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_core_reset

        verify_core_reset(self)


@op_definition
class ControlPacketOp(DialectOp):
    """Read or write registers through a packet to a tile's control port."""

    name = "aiex.control_packet"
    address_attr = prop_def(unsigned_attr(32), prop_name="address")
    length_attr = opt_prop_def(int_attr(32), prop_name="length")
    opcode_attr = prop_def(int_attr(32, 0), prop_name="opcode")
    stream_id_attr = prop_def(int_attr(32, 0), prop_name="stream_id")
    data_attr = opt_prop_def(dense_ints(32), prop_name="data")
    SYNTAX = syntax(DICT)

    address = int_field("address")
    length = optional_int_field("length")
    opcode = int_field("opcode")
    stream_id = int_field("stream_id")
    data = ints_field("data")


class _TypeProperty(Property):
    """A type."""

    def parse(self, p: Parser, d: Draft) -> None:
        d.props[self.name] = read_type(p)

    def print(self, out: Out, op: DialectOp) -> None:
        out.arg().print_attribute(op.properties[self.name])


@op_definition
class ScratchpadParameterOp(DialectOp):
    """A value that the host may change between runs."""

    name = "aiex.scratchpad_parameter"
    sym_name = prop_def(STRING)
    type_attr = prop_def(TYPE, prop_name="type")
    traits = traits_def(Symbol())
    SYNTAX = syntax(Sym(), ":", _TypeProperty("type"), DICT)

    symbol = name_field()

    def __init__(self, name: str, type: Attribute) -> None:
        super().__init__(properties={"sym_name": StringAttr(name), "type": type})


@op_definition
class ReadScratchpadParameterOp(DialectOp):
    """Read such a value in a core."""

    name = "aiex.read_scratchpad_parameter"
    parameter_attr = prop_def(SYMBOL, prop_name="parameter")
    result = result_def(ANY_TYPE)
    SYNTAX = syntax(Ref("parameter"), ":", Result(), DICT)

    parameter = name_field("parameter")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_read_parameter

        verify_read_parameter(self)


@op_definition
class SyncScratchpadParametersOp(DialectOp):
    """Make the host's newest values visible."""

    name = "aiex.sync_scratchpad_parameters_from_host"
    SYNTAX = syntax(DICT)


OPS: list[type[Operation]] = [
    _RuntimeSequence, ConfigureOp, RunOp, SetLockOp, DmaChannelResetOp, DmaChannelResetForOp, CoreResetOp,
    ControlPacketOp, ScratchpadParameterOp, ReadScratchpadParameterOp, SyncScratchpadParametersOp,
]  # fmt: skip
