"""What a core says to the streams around it, and odds and ends."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def

from aiecc.ir.dialects.base import DialectOp, int_field, op_definition
from aiecc.ir.dialects.constraints import ANY_INT, ANY_TYPE, I32, INDEX_TYPE, Described, int_attr
from aiecc.ir.dialects.syntax import DICT, Int, Result, TypedUse, syntax

_WORD: Described[Attribute] = Described(
    "32-bit float or 32-bit signless integer or 128-bit signless integer",
    lambda a: isinstance(a, Float32Type) or a in (IntegerType(32), IntegerType(128)),
)


@op_definition
class GetCascadeOp(DialectOp):
    """Read one word from the cascade."""

    name = "aie.get_cascade"
    cascade_value = result_def(ANY_TYPE)
    SYNTAX = syntax("(", ")", DICT, ":", Result())

    def __init__(self, type: Attribute) -> None:
        super().__init__(result_types=[type])

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_get_cascade

        verify_get_cascade(self)


@op_definition
class PutCascadeOp(DialectOp):
    """Write one word to the cascade."""

    name = "aie.put_cascade"
    cascade_value = operand_def(ANY_TYPE)
    SYNTAX = syntax("(", TypedUse("cascade_value"), ")", DICT)

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value])

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.flow_rules import verify_put_cascade

        verify_put_cascade(self)


@op_definition
class GetStreamOp(DialectOp):
    """Read from a stream port of the core."""

    name = "aie.get_stream"
    channel = operand_def(ANY_INT)
    stream_value = result_def(_WORD)
    PARENTS = ("aie.core",)
    SYNTAX = syntax("(", TypedUse("channel"), ")", DICT, ":", Result())


@op_definition
class PutStreamOp(DialectOp):
    """Write to a stream port of the core."""

    name = "aie.put_stream"
    channel = operand_def(ANY_INT)
    stream_value = operand_def(_WORD)
    PARENTS = ("aie.core",)
    SYNTAX = syntax("(", TypedUse("channel"), ",", TypedUse("stream_value"), ")", DICT)


@op_definition
class EventOp(DialectOp):
    """Raise one of the core's two instruction events."""

    name = "aie.event"
    val_attr = prop_def(int_attr(32, 0, 1), prop_name="val")
    SYNTAX = syntax("(", Int("val"), ")", DICT)

    val = int_field("val")

    def __init__(self, val: int) -> None:
        super().__init__(properties={"val": IntegerAttr(val, I32)})


@op_definition
class DebugOp(DialectOp):
    """Show a value while simulating."""

    name = "aie.debug"
    arg = operand_def(ANY_TYPE)
    SYNTAX = syntax("(", TypedUse("arg"), ")", DICT)


@op_definition
class PlioOp(DialectOp):
    """A column's connection to the programmable logic."""

    name = "aie.plio"
    col_attr = prop_def(int_attr(32), prop_name="col")
    result = result_def(INDEX_TYPE)
    SYNTAX = syntax("(", Int("col"), ")", DICT)

    col = int_field("col")
