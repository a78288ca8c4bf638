"""Instructions of the NPU's command processor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.traits import HasCanonicalizationPatternsTrait

from aiecc.ir.dialects.aie.enums import Direction
from aiecc.ir.dialects.aiex.parts import Group, GroupTypes, Many, ManyTypes, MaybeTyped
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    name_field,
    op_definition,
    optional_int_field,
    string_field,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    ANY_INT,
    BOOLEAN,
    I32,
    I64,
    MEMREF,
    SYMBOL,
    UNIT,
    Described,
    dense_ints,
    int_attr,
    number,
    unsigned_attr,
)
from aiecc.ir.dialects.reading import Draft, Out, eat, need
from aiecc.ir.dialects.syntax import DICT, Int, Ref, TypedUse, Word, syntax
from aiecc.ir.dialects.words import Words

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern

_LIST = dense_ints(64)
_I64_ZERO = IntegerAttr(0, I64)
_ANY: Described[Attribute] = Described("any attribute", lambda _: True)


DEEPEST = 3
"""The last level of preemption."""


class ScratchpadOp(Words):
    """How a register is updated from a word of the scratch pad."""

    MUL = 0, "mul"
    INCR = 1, "incr"
    DECR = 2, "decr"


class ExpandMode(Words):
    """What a load of a device becomes."""

    NONE = 0, "none"
    WRITE32 = 1, "write32"
    CTRLPKT = 2, "ctrlpkt"


class Addressed(DialectOp):
    """An op that names registers: absolute, in a tile, or in a buffer."""

    buffer = string_field("buffer")
    column = optional_int_field("column")
    row = optional_int_field("row")


@op_definition
class NpuWrite32Op(Addressed):
    """Write a register."""

    name = "aiex.npu.write32"
    address = operand_def(ANY_INT)
    value = operand_def(ANY_INT)
    buffer_attr = opt_prop_def(SYMBOL, prop_name="buffer")
    column_attr = opt_prop_def(int_attr(32), prop_name="column")
    row_attr = opt_prop_def(int_attr(32), prop_name="row")
    SYNTAX = syntax("(", Group("address", "value"), ")", DICT, ":", GroupTypes("address", "value"))


@op_definition
class NpuMaskWrite32Op(Addressed):
    """Write some bits of a register."""

    name = "aiex.npu.maskwrite32"
    address = operand_def(ANY_INT)
    value = operand_def(ANY_INT)
    mask = operand_def(ANY_INT)
    buffer_attr = opt_prop_def(SYMBOL, prop_name="buffer")
    column_attr = opt_prop_def(int_attr(32), prop_name="column")
    row_attr = opt_prop_def(int_attr(32), prop_name="row")
    SYNTAX = syntax("(", Group("address", "value", "mask"), ")", DICT, ":", GroupTypes("address", "value", "mask"))


@op_definition
class NpuBlockWriteOp(Addressed):
    """Write a run of registers from constant data."""

    name = "aiex.npu.blockwrite"
    data = operand_def(MEMREF)
    address_attr = prop_def(unsigned_attr(32), prop_name="address")
    buffer_attr = opt_prop_def(SYMBOL, prop_name="buffer")
    column_attr = opt_prop_def(int_attr(32), prop_name="column")
    row_attr = opt_prop_def(int_attr(32), prop_name="row")
    SYNTAX = syntax("(", Group("data"), ")", DICT, ":", GroupTypes("data"))

    address = int_field("address")


@op_definition
class NpuBlockWriteValuesOp(DialectOp):
    """Write a run of registers from values computed at run time."""

    name = "aiex.npu.blockwrite_values"
    address = operand_def(ANY_INT)
    values = var_operand_def(ANY_INT)
    SYNTAX = syntax("(", TypedUse("address"), ")", "values", Many("values"), DICT, ":", ManyTypes("values"))


@op_definition
class NpuAddressPatchOp(DialectOp):
    """Put the address of a host buffer into a descriptor."""

    name = "aiex.npu.address_patch"
    arg_plus = operand_def(ANY_INT)
    addr_val = opt_operand_def(ANY_INT)
    addr_attr = prop_def(unsigned_attr(32), prop_name="addr")
    arg_idx_attr = prop_def(int_attr(32), prop_name="arg_idx")
    SYNTAX = syntax("(", TypedUse("arg_plus"), ")", MaybeTyped("addr", "addr_val"), DICT)

    addr = int_field("addr")
    arg_idx = int_field("arg_idx")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_address_patch

        verify_address_patch(self)


@op_definition
class NpuPushQueueOp(DialectOp):
    """Start a descriptor on a channel."""

    name = "aiex.npu.push_queue"
    bd_id = operand_def(ANY_INT)
    repeat_count = operand_def(ANY_INT)
    column_attr = prop_def(int_attr(32), prop_name="column")
    row_attr = prop_def(int_attr(32), prop_name="row")
    direction_attr = prop_def(int_attr(32, 0, 1), prop_name="direction")
    channel_attr = prop_def(int_attr(32), prop_name="channel")
    issue_token_attr = prop_def(BOOLEAN, prop_name="issue_token")
    SYNTAX = syntax(
        "(", Int("column"), ",", Int("row"), ",", Word("direction", Direction), ":", Int("channel"), ")",
        "bd_id", Group("bd_id"), "repeat", Group("repeat_count"), DICT, ":", GroupTypes("bd_id", "repeat_count"),
    )  # fmt: skip

    column = int_field("column")
    row = int_field("row")
    direction = word_field("direction", Direction)
    channel = int_field("channel")
    issue_token = bool_field("issue_token")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_push_queue

        verify_push_queue(self)


_SYNC = ("column", "row", "direction", "channel", "column_num", "row_num")


@op_definition
class NpuSyncOp(DialectOp):
    """Wait for completion tokens of a channel."""

    name = "aiex.npu.sync"
    column = operand_def(ANY_INT)
    row = operand_def(ANY_INT)
    direction = operand_def(ANY_INT)
    channel = operand_def(ANY_INT)
    column_num = operand_def(ANY_INT)
    row_num = operand_def(ANY_INT)
    SYNTAX = syntax("(", Group(*_SYNC), ")", DICT, ":", GroupTypes(*_SYNC))


@op_definition
class NpuRtpWriteOp(DialectOp):
    """Write one word of a core's buffer."""

    name = "aiex.npu.rtp_write"
    value = operand_def(ANY_INT)
    buffer_attr = prop_def(SYMBOL, prop_name="buffer")
    index_attr = prop_def(_ANY, prop_name="index")
    SYNTAX = syntax("(", Ref("buffer"), ",", Int("index"), ",", Group("value"), ")", DICT, ":", GroupTypes("value"))

    buffer = name_field("buffer")
    index = int_field("index")


class _CanonicalLoad(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from aiecc.ir.dialects.aiex.canonical import LoadOnce

        return (LoadOnce(),)


@op_definition
class NpuLoadPdiOp(DialectOp):
    """Load a device's configuration."""

    name = "aiex.npu.load_pdi"
    device_ref_attr = opt_prop_def(SYMBOL, prop_name="device_ref")
    id_attr = opt_prop_def(int_attr(32), prop_name="id")
    size_attr = opt_prop_def(int_attr(32), prop_name="size")
    address_attr = opt_prop_def(unsigned_attr(64), prop_name="address")
    expand_mode_attr = opt_prop_def(int_attr(32, 0, 2), prop_name="expand_mode")
    traits = traits_def(_CanonicalLoad())
    SYNTAX = syntax(DICT)

    device_ref = string_field("device_ref")
    id = optional_int_field("id")
    size = optional_int_field("size")
    address = optional_int_field("address")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_load_pdi

        verify_load_pdi(self)

    @property
    def expand_mode(self) -> ExpandMode:
        """What the load becomes: by default an instruction that loads."""
        return ExpandMode(number(self.expand_mode_attr) or 0)


@op_definition
class NpuPreemptOp(DialectOp):
    """Allow the sequence to be interrupted here."""

    name = "aiex.npu.preempt"
    level_attr = prop_def(unsigned_attr(8), prop_name="level")
    SYNTAX = syntax(DICT)

    level = int_field("level")

    def verify_op(self) -> None:
        if self.level > DEEPEST:
            raise self.error(
                f"level {self.level} is none: 0 is no preemption, 1 that of memory tiles, 2 of core tiles, 3 of their "
                "registers"
            )


@op_definition
class NpuAssertBdFieldOp(DialectOp):
    """Refuse at build time a value that its field cannot hold."""

    name = "aiex.npu.assert_bd_field"
    value = operand_def(ANY_INT)
    max_attr = prop_def(int_attr(32), prop_name="max")
    SYNTAX = syntax("(", Group("value"), ")", DICT, ":", GroupTypes("value"))

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_assert_field

        verify_assert_field(self)


@op_definition
class NpuAssertBdDivisibleOp(DialectOp):
    """Refuse at build time a value that is no whole number of address granules."""

    name = "aiex.npu.assert_bd_divisible"
    value = operand_def(ANY_INT)
    divisor_attr = prop_def(int_attr(32), prop_name="divisor")
    allow_unit = opt_prop_def(UNIT)
    SYNTAX = syntax("(", Group("value"), ")", DICT, ":", GroupTypes("value"))

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_assert_divisible

        verify_assert_divisible(self)


@op_definition
class NpuCreateScratchpadOp(DialectOp):
    """Reserve the scratch pad."""

    name = "aiex.npu.create_scratchpad"
    size_attr = prop_def(unsigned_attr(32), prop_name="size")
    usage_type_attr = opt_prop_def(unsigned_attr(8), prop_name="usage_type")
    SYNTAX = syntax(DICT)

    size = int_field("size")

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_create_scratchpad

        verify_create_scratchpad(self)


class _UpdateWord(Word):
    """`<mul>`, missing for `incr`."""

    def parse(self, p: Parser, d: Draft) -> None:
        if eat(p, "<"):
            super().parse(p, d)
            need(p, ">")

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties.get(self.name)
        if isinstance(attr, IntegerAttr) and attr.value.data != int(ScratchpadOp.INCR):
            out.lit("<")
            super().print(out, op)
            out.lit(">")


@op_definition
class NpuUpdateFromScratchpadOp(Addressed):
    """Add a value made of a scratch-pad word to an address register pair."""

    name = "aiex.npu.update_from_scratchpad"
    func_attr = opt_prop_def(int_attr(32, 0, 2), IntegerAttr(1, I32), prop_name="func")
    func_arg_attr = opt_prop_def(_ANY, prop_name="func_arg")
    state_table_idx_attr = prop_def(unsigned_attr(8), prop_name="state_table_idx")
    address_attr = opt_prop_def(unsigned_attr(32), prop_name="address")
    buffer_attr = opt_prop_def(SYMBOL, prop_name="buffer")
    column_attr = opt_prop_def(int_attr(32), prop_name="column")
    row_attr = opt_prop_def(int_attr(32), prop_name="row")
    SYNTAX = syntax(_UpdateWord("func", ScratchpadOp), DICT)

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aiex.npu_rules import verify_update_from_scratchpad

        verify_update_from_scratchpad(self)


OPS: list[type[Operation]] = [
    NpuWrite32Op, NpuMaskWrite32Op, NpuBlockWriteOp, NpuBlockWriteValuesOp, NpuAddressPatchOp, NpuPushQueueOp,
    NpuSyncOp, NpuRtpWriteOp, NpuLoadPdiOp, NpuPreemptOp,
    NpuAssertBdFieldOp, NpuAssertBdDivisibleOp, NpuCreateScratchpadOp, NpuUpdateFromScratchpadOp,
]  # fmt: skip
