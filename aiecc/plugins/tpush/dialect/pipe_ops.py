"""The ops that pipes are made of: buffers, set-up, push, pop and free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i1,
    i8,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from aiecc.plugins.tpush.dialect import syntax
from aiecc.plugins.tpush.dialect.attrs import AddressSpaceAttr, TileBufType
from aiecc.plugins.tpush.dialect.syntax import BOOL, FUNC, I8, I32, SPACE, STR
from aiecc.plugins.tpush.model import Direction, Kind, Split, default_slot_num

_I8 = IntegerAttr[IntegerType].constr(i8)
_I32 = IntegerAttr[IntegerType].constr(i32)
_BOOL = IntegerAttr[IntegerType].constr(i1)


def _int(attr: IntegerAttr[IntegerType] | None, default: int = 0) -> int:
    return default if attr is None else attr.value.data


class _Keyed(IRDLOperation):
    """An op with a dictionary of typed keys. KEYS: their kinds; NEEDED: those that must be there."""

    KEYS: ClassVar[dict[str, str]] = {}
    NEEDED: ClassVar[tuple[str, ...]] = ()

    def print_keys(self, printer: Printer) -> None:
        syntax.print_dict(printer, tuple(self.KEYS), self.properties, self.attributes)


# ------------------------------------------------------------------------------------------------------ buffers


class _Address(_Keyed):
    """An op whose only result is an address, an i32."""

    @classmethod
    def parse(cls, parser: Parser) -> _Address:
        properties, others = syntax.read_dict(parser, cls.name, cls.KEYS, cls.NEEDED)
        parser.parse_punctuation("->")
        return cls.create(result_types=[parser.parse_type()], properties=properties, attributes=others)

    def print(self, printer: Printer) -> None:
        self.print_keys(printer)
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)


@irdl_op_definition
class ReserveBufferOp(_Address):
    """`pto.reserve_buffer {name = "..", size = N, location = #pto.address_space<vec>, auto = true} -> i32`."""

    name = "pto.reserve_buffer"
    KEYS: ClassVar[dict[str, str]] = {"name": STR, "size": I32, "location": SPACE, "auto": BOOL, "base": I32}
    NEEDED: ClassVar[tuple[str, ...]] = ("name", "size", "location", "auto")

    buffer = prop_def(StringAttr, prop_name="name")
    size = prop_def(_I32)
    memory = prop_def(AddressSpaceAttr, prop_name="location")
    auto = prop_def(_BOOL)
    base = opt_prop_def(_I32)
    address = result_def(i32)

    @property
    def is_auto(self) -> bool:
        return bool(self.auto.value.data)

    @property
    def fixed(self) -> int | None:
        """Its address, when it has been written down."""
        return None if self.base is None else self.base.value.data


@irdl_op_definition
class ImportReservedBufferOp(_Address):
    """`pto.import_reserved_buffer {name = "..", peer_func = @f} -> i32`."""

    name = "pto.import_reserved_buffer"
    KEYS: ClassVar[dict[str, str]] = {"name": STR, "peer_func": FUNC}
    NEEDED: ClassVar[tuple[str, ...]] = ("name", "peer_func")

    buffer = prop_def(StringAttr, prop_name="name")
    peer_func = prop_def(SymbolRefAttr)
    address = result_def(i32)

    @property
    def peer(self) -> str:
        return self.peer_func.root_reference.data


# ------------------------------------------------------------------------------------------------------- set-up

_BUFFERS = ("gm_slot_buffer", "c2v_consumer_buf", "v2c_consumer_buf")


class InitializePipe(_Keyed):
    """`{[id,] dir_mask, slot_size [, slot_num] [, local_slot_num] [, nosplit]}` and the buffers by name."""

    KIND: ClassVar[Kind]
    KEYS: ClassVar[dict[str, str]] = {
        "id": I32,
        "dir_mask": I8,
        "slot_size": I32,
        "slot_num": I32,
        "local_slot_num": I32,
        "nosplit": BOOL,
    }
    NEEDED: ClassVar[tuple[str, ...]] = ("dir_mask", "slot_size")

    id = opt_prop_def(_I32)
    dir_mask = prop_def(_I8)
    slot_size = prop_def(_I32)
    slot_num = opt_prop_def(_I32)
    local_slot_num = opt_prop_def(_I32)
    nosplit = opt_prop_def(_BOOL)
    gm_slot_buffer = opt_operand_def()
    c2v_consumer_buf = opt_operand_def(i32)
    v2c_consumer_buf = opt_operand_def(i32)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> InitializePipe:
        properties, others = syntax.read_dict(parser, cls.name, cls.KEYS, cls.NEEDED)
        found: dict[str, SSAValue] = {}
        parser.parse_punctuation("(")
        if parser.parse_optional_punctuation(")") is None:
            while True:
                at = parser.pos
                name = parser.parse_identifier()
                if name not in _BUFFERS or name in found:
                    what = f"there is no '{name}'" if name not in _BUFFERS else f"'{name}' stands twice"
                    syntax.stop(parser, f"'{cls.name}' op: {what}; its buffers are {', '.join(_BUFFERS)}", at)
                parser.parse_punctuation("=")
                found[name] = syntax.read_typed(parser)
                if parser.parse_optional_punctuation(",") is None:
                    break
            parser.parse_punctuation(")")
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [int(n in found) for n in _BUFFERS])
        operands = [found[n] for n in _BUFFERS if n in found]
        return cls.create(operands=operands, properties=properties, attributes=others)

    def print(self, printer: Printer) -> None:
        self.print_keys(printer)
        printer.print_string(" (")
        there = [(name, value) for name in _BUFFERS if (value := self.buffer(name)) is not None]
        for i, (name, value) in enumerate(there):
            printer.print_string(f"{', ' if i else ''}{name} = ")
            syntax.print_typed(printer, value)
        printer.print_string(")")

    def buffer(self, name: str) -> SSAValue | None:
        """One of its operands, by name."""
        return getattr(self, name)

    def consumer_buffer(self, direction: Direction) -> SSAValue | None:
        return self.buffer("c2v_consumer_buf" if direction is Direction.C2V else "v2c_consumer_buf")

    @property
    def number(self) -> int:
        """The pipe's id; 0 when it is not written."""
        return _int(self.id)

    @property
    def mask(self) -> int:
        return _int(self.dir_mask)

    @property
    def directions(self) -> tuple[Direction, ...]:
        return tuple(d for d in Direction if self.mask & d)

    @property
    def bytes_per_slot(self) -> int:
        return _int(self.slot_size)

    @property
    def slots(self) -> int:
        """Per direction: as written, else 8 for one direction and 4 for both."""
        return _int(self.slot_num, default_slot_num(self.mask))

    @property
    def local_slots(self) -> int | None:
        """Slots of the landing window on A2A3, when written."""
        return None if self.local_slot_num is None else _int(self.local_slot_num)

    @property
    def whole_tiles(self) -> bool:
        """`nosplit = true`."""
        return bool(_int(self.nosplit))


@irdl_op_definition
class AicInitializePipeOp(InitializePipe):
    """Sets a pipe up on the Cube."""

    name = "pto.aic_initialize_pipe"
    KIND: ClassVar[Kind] = Kind.CUBE


@irdl_op_definition
class AivInitializePipeOp(InitializePipe):
    """Sets a pipe up on a Vector core."""

    name = "pto.aiv_initialize_pipe"
    KIND: ClassVar[Kind] = Kind.VECTOR


# ---------------------------------------------------------------------------------------------- push, pop, free


class PipeOp(_Keyed):
    """An op on one direction of one pipe, which its name tells."""

    KIND: ClassVar[Kind]
    DIRECTION: ClassVar[Direction]
    KEYS: ClassVar[dict[str, str]] = {"id": I32, "split": I8}
    NEEDED: ClassVar[tuple[str, ...]] = ("split",)

    id = opt_prop_def(_I32)
    split = prop_def(_I8)

    @property
    def number(self) -> int:
        """The pipe's id; 0 when it is not written."""
        return _int(self.id)

    @property
    def code(self) -> int:
        """The split as written, right or not."""
        return _int(self.split)

    @property
    def parting(self) -> Split:
        """The split. Raises ValueError for a code there is not."""
        return Split(self.code)


class PushOp(PipeOp):
    """`(%tile : type) {[id,] split = k}`."""

    source = operand_def(TileBufType)

    @classmethod
    def parse(cls, parser: Parser) -> PushOp:
        parser.parse_punctuation("(")
        tile = syntax.read_typed(parser)
        parser.parse_punctuation(")")
        properties, others = syntax.read_dict(parser, cls.name, cls.KEYS, cls.NEEDED)
        return cls.create(operands=[tile], properties=properties, attributes=others)

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        syntax.print_typed(printer, self.source)
        printer.print_string(")")
        self.print_keys(printer)


@irdl_op_definition
class TPushToAivOp(PushOp):
    """The Cube gives a tile to its Vector cores."""

    name = "pto.tpush_to_aiv"
    KIND: ClassVar[Kind] = Kind.CUBE
    DIRECTION: ClassVar[Direction] = Direction.C2V


@irdl_op_definition
class TPushToAicOp(PushOp):
    """A Vector core gives a tile, or its part of one, to the Cube."""

    name = "pto.tpush_to_aic"
    KIND: ClassVar[Kind] = Kind.VECTOR
    DIRECTION: ClassVar[Direction] = Direction.V2C


class PopOp(PipeOp):
    """`[(%rows, %cols)] {[id,] split = k} -> type`: the operands say what of the tile is data."""

    valid_row = opt_operand_def(IndexType)
    valid_col = opt_operand_def(IndexType)
    taken = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> PopOp:
        valid: Sequence[SSAValue] = ()
        if parser.parse_optional_punctuation("(") is not None:
            row = parser.parse_unresolved_operand()
            parser.parse_punctuation(",")
            col = parser.parse_unresolved_operand()
            parser.parse_punctuation(")")
            valid = [parser.resolve_operand(each, IndexType()) for each in (row, col)]
        properties, others = syntax.read_dict(parser, cls.name, cls.KEYS, cls.NEEDED)
        parser.parse_punctuation("->")
        type = parser.parse_type()
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(valid) // 2] * 2)
        return cls.create(operands=valid, result_types=[type], properties=properties, attributes=others)

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string("(")
            printer.print_list(self.operands, printer.print_operand)
            printer.print_string(")")
        self.print_keys(printer)
        printer.print_string(" -> ")
        printer.print_attribute(self.taken.type)


@irdl_op_definition
class TPopFromAicOp(PopOp):
    """A Vector core takes a tile, or its part of one, from the Cube."""

    name = "pto.tpop_from_aic"
    KIND: ClassVar[Kind] = Kind.VECTOR
    DIRECTION: ClassVar[Direction] = Direction.C2V


@irdl_op_definition
class TPopFromAivOp(PopOp):
    """The Cube takes a tile from its Vector cores."""

    name = "pto.tpop_from_aiv"
    KIND: ClassVar[Kind] = Kind.CUBE
    DIRECTION: ClassVar[Direction] = Direction.V2C


class FreeOp(PipeOp):
    """`[(%tile : type)] {[id,] split = k}`: the tile says which one its author means; the oldest is released."""

    meant = opt_operand_def(TileBufType)

    @classmethod
    def parse(cls, parser: Parser) -> FreeOp:
        operands: list[SSAValue] = []
        if parser.parse_optional_punctuation("(") is not None:
            operands.append(syntax.read_typed(parser))
            parser.parse_punctuation(")")
        properties, others = syntax.read_dict(parser, cls.name, cls.KEYS, cls.NEEDED)
        return cls.create(operands=operands, properties=properties, attributes=others)

    def print(self, printer: Printer) -> None:
        if (tile := self.meant) is not None:
            printer.print_string("(")
            syntax.print_typed(printer, tile)
            printer.print_string(")")
        self.print_keys(printer)


@irdl_op_definition
class TFreeFromAicOp(FreeOp):
    """A Vector core releases the oldest tile it holds."""

    name = "pto.tfree_from_aic"
    KIND: ClassVar[Kind] = Kind.VECTOR
    DIRECTION: ClassVar[Direction] = Direction.C2V


@irdl_op_definition
class TFreeFromAivOp(FreeOp):
    """The Cube releases the oldest tile it holds."""

    name = "pto.tfree_from_aiv"
    KIND: ClassVar[Kind] = Kind.CUBE
    DIRECTION: ClassVar[Direction] = Direction.V2C


PIPE_OPS = [
    ReserveBufferOp,
    ImportReservedBufferOp,
    AicInitializePipeOp,
    AivInitializePipeOp,
    TPushToAivOp,
    TPushToAicOp,
    TPopFromAicOp,
    TPopFromAivOp,
    TFreeFromAicOp,
    TFreeFromAivOp,
]
"""All of them. `InitializePipe`, `PushOp`, `PopOp`, `FreeOp` and `PipeOp` are what they have in common."""
