"""Buffers and locks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FixedBitwidthType,
    IntegerAttr,
    MemRefType,
    ShapedType,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import HasCanonicalizationPatternsTrait

from aiecc.ir.dialects.aie.enums import LockAction, LockBlocking
from aiecc.ir.dialects.aie.tiles import TileLike, tile_like
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    op_definition,
    optional_int_field,
    show,
    string_field,
    word_field,
)
from aiecc.ir.dialects.constraints import (
    BOOLEAN,
    ELEMENTS,
    I32,
    I32_TYPE,
    I64,
    INDEX,
    INDEX_TYPE,
    RANKED_MEMREF,
    STRING,
    UNIT,
    int_attr,
    number,
)
from aiecc.ir.dialects.elements import read_elements, show_elements
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, need, read_type
from aiecc.ir.dialects.syntax import DICT, Int, Maybe, Result, Use, Word, read_word, show_word, syntax

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern


def element_bits(type: Attribute) -> int:
    """Width of a memref's element in bits; 0 when it has none."""
    return _bits(type.element_type if isinstance(type, MemRefType) else getattr(type, "element_type", type))


def _bits(element: Attribute) -> int:
    if isinstance(element, VectorType):
        return math.prod(element.get_shape()) * _bits(element.element_type)
    if isinstance(element, ComplexType):
        return 2 * _bits(element.element_type)
    if isinstance(element, FixedBitwidthType):
        return element.bitwidth
    bits = getattr(element, "storage_bits", None)
    if isinstance(bits, int):
        return bits
    # As compiled code has it: an address, which is a word.
    return 32 if element == INDEX else 0


def element_count(type: Attribute) -> int | None:
    """How many elements a memref holds; None when that is not known."""
    if not isinstance(type, MemRefType):
        return None
    shape = type.get_shape()
    return None if any(n < 0 for n in shape) else math.prod(shape)


def size_in_bytes(type: Attribute) -> int:
    """Bytes of a statically shaped memref, 0 otherwise. Elements narrower than a byte are packed."""
    count = element_count(type) or 0
    return -(-count * element_bits(type) // 8)


def fits(value: Attribute, type: MemRefType[Attribute]) -> bool:
    """Whether an initial value has as many elements as a memref, of its element type; so does what has no type."""
    own = value.type if isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr) else None
    if not isinstance(own, ShapedType):
        return True
    element = getattr(own, "element_type", None)
    return element == type.element_type and math.prod(own.get_shape()) == element_count(type)


class _NamedType(Element):
    """`: memref`, statically shaped, then perhaps `= elements` without a type."""

    fixed = ("initial_value",)

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, ":")
        at = p.pos
        type = read_type(p)
        if not isinstance(type, MemRefType) or any(n < 0 for n in type.get_shape()):
            fail(p, f"type should be static shaped memref, but got '{show(type)}'", at)
        d.results = [type]
        if eat(p, "="):
            tensor = TensorType(type.element_type, type.get_shape())
            d.props["initial_value"] = read_elements(p, tensor)

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit(":")
        out.arg().print_attribute(op.results[0].type)
        printer = out.arg()
        value = op.properties.get("initial_value")
        if value is not None:
            printer.print_string("= ")
            show_elements(printer, value)


@op_definition
class BufferOp(DialectOp):
    """A piece of a tile's data memory."""

    name = "aie.buffer"
    tile = operand_def(INDEX_TYPE)
    sym_name = opt_prop_def(STRING)
    address_attr = opt_prop_def(int_attr(32), prop_name="address")
    aligned_attr = opt_prop_def(BOOLEAN, IntegerAttr(1, 1), prop_name="aligned")
    bank_reserved_attr = opt_prop_def(UNIT, prop_name="bank_reserved")
    core_data_attr = opt_prop_def(UNIT, prop_name="core_data")
    initial_value = opt_prop_def(ELEMENTS)
    mem_bank_attr = opt_prop_def(int_attr(32), prop_name="mem_bank")
    result = result_def(RANKED_MEMREF)
    SYNTAX = syntax("(", Use("tile"), ")", DICT, _NamedType())

    symbol = string_field("sym_name")
    address = optional_int_field("address")
    mem_bank = optional_int_field("mem_bank")
    aligned = bool_field("aligned", True)
    bank_reserved = bool_field("bank_reserved")
    core_data = bool_field("core_data")

    def __init__(
        self,
        tile: SSAValue,
        type: MemRefType[Attribute],
        name: str | None = None,
        *,
        address: int | None = None,
        mem_bank: int | None = None,
        initial_value: DenseIntOrFPElementsAttr | DenseResourceAttr | None = None,
        core_data: bool = False,
        bank_reserved: bool = False,
    ) -> None:
        super().__init__(
            operands=[tile],
            result_types=[type],
            properties={
                "sym_name": None if name is None else StringAttr(name),
                "address": None if address is None else IntegerAttr(address, I32),
                "mem_bank": None if mem_bank is None else IntegerAttr(mem_bank, I32),
                "initial_value": initial_value,
                "core_data": UnitAttr() if core_data else None,
                "bank_reserved": UnitAttr() if bank_reserved else None,
            },
        )

    @property
    def type(self) -> MemRefType[Attribute]:
        return self.result.type

    @property
    def size_bytes(self) -> int:
        return size_in_bytes(self.result.type)

    @property
    def tile_op(self) -> TileLike | None:
        """The tile whose memory it is part of."""
        return tile_like(self.tile)

    def asm_result_names(self) -> list[str | None]:
        return [_name_at("buffer", self.symbol, self.tile_op)]

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.memory_rules import verify_buffer

        verify_buffer(self)


def _name_at(stem: str, name: str | None, tile: TileLike | None) -> str | None:
    """The result name of something on a tile: its own, or one made of the tile's place."""
    if name is not None:
        return name
    if tile is None or tile.name != "aie.tile" or tile.coord is None:
        return None
    return f"{stem}_{tile.coord[0]}_{tile.coord[1]}"


@op_definition
class ExternalBufferOp(DialectOp):
    """A piece of memory outside the array."""

    name = "aie.external_buffer"
    sym_name = opt_prop_def(STRING)
    address_attr = opt_prop_def(int_attr(64), prop_name="address")
    result = result_def(RANKED_MEMREF)
    SYNTAX = syntax(DICT, ":", Result())

    symbol = string_field("sym_name")
    address = optional_int_field("address")

    def __init__(self, type: MemRefType[Attribute], name: str | None = None, address: int | None = None) -> None:
        super().__init__(
            result_types=[type],
            properties={
                "sym_name": None if name is None else StringAttr(name),
                "address": None if address is None else IntegerAttr(address, I64),
            },
        )

    def asm_result_names(self) -> list[str | None]:
        return [self.symbol]


@op_definition
class LockOp(DialectOp):
    """One lock of a tile."""

    name = "aie.lock"
    tile = operand_def(INDEX_TYPE)
    lock_id_attr = opt_prop_def(int_attr(32, 0), prop_name="lockID")
    init_attr = opt_prop_def(int_attr(32), prop_name="init")
    sym_name = opt_prop_def(STRING)
    result = result_def(INDEX_TYPE)
    SYNTAX = syntax("(", Use("tile"), Maybe(",", Int("lockID")), ")", DICT)

    id = optional_int_field("lockID")
    init = optional_int_field("init")
    symbol = string_field("sym_name")

    def __init__(self, tile: SSAValue, id: int | None = None, init: int | None = None, name: str | None = None) -> None:
        super().__init__(
            operands=[tile],
            result_types=[INDEX],
            properties={
                "lockID": None if id is None else IntegerAttr(id, I32),
                "init": None if init is None else IntegerAttr(init, I32),
                "sym_name": None if name is None else StringAttr(name),
            },
        )

    @property
    def tile_op(self) -> TileLike | None:
        """The tile whose lock it is."""
        return tile_like(self.tile)

    def asm_result_names(self) -> list[str | None]:
        return [_name_at("lock", self.symbol, self.tile_op)]

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.memory_rules import verify_lock

        verify_lock(self)


class _LockValue(Element):
    """The value operand. Older texts write a number, or nothing for 1: it becomes a constant before the op."""

    fixed = ("blocking",)

    def parse(self, p: Parser, d: Draft) -> None:
        value: SSAValue | None = None
        if eat(p, ","):
            unresolved = p.parse_optional_unresolved_operand()
            if unresolved is not None:
                value = p.resolve_operand(unresolved, I32)
            elif (literal := p.parse_optional_integer(allow_boolean=False)) is not None:
                value = ConstantOp(IntegerAttr(literal, I32)).result
            else:
                d.props["blocking"] = IntegerAttr(read_word(p, "blocking", LockBlocking).value, I32)
        if value is not None and eat(p, ","):
            d.props["blocking"] = IntegerAttr(read_word(p, "blocking", LockBlocking).value, I32)
        d.operands["value"] = [ConstantOp(IntegerAttr(1, I32)).result if value is None else value]

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit(",")
        out.arg().print_operand(op.operands[1])
        blocking = op.properties.get("blocking")
        if blocking is not None:
            out.lit(",")
            show_word(out.arg(), blocking, LockBlocking)


class _CanonicalUse(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from aiecc.ir.dialects.aie.canonical import TakeNothing

        return (TakeNothing(),)


@op_definition
class UseLockOp(DialectOp):
    """Take or give a lock."""

    name = "aie.use_lock"
    lock = operand_def(INDEX_TYPE)
    value = operand_def(I32_TYPE)
    action_attr = prop_def(int_attr(32, 0, 2), prop_name="action")
    blocking_attr = opt_prop_def(int_attr(32, 0, 1), prop_name="blocking")
    acq_en_attr = opt_prop_def(BOOLEAN, IntegerAttr(1, 1), prop_name="acq_en")
    traits = traits_def(_CanonicalUse())
    SYNTAX = syntax("(", Use("lock"), ",", Word("action", LockAction), _LockValue(), ")", DICT)

    action = word_field("action", LockAction)
    acq_en = bool_field("acq_en", True)

    def __init__(self, lock: SSAValue, action: LockAction, value: SSAValue) -> None:
        super().__init__(operands=[lock, value], properties={"action": IntegerAttr(action.value, I32)})

    @property
    def lock_op(self) -> LockOp | None:
        owner = self.lock.owner
        return owner if isinstance(owner, LockOp) else None

    @property
    def constant(self) -> int | None:
        """The value when it is known; None when it is computed at run time."""
        return constant_int(self.value)

    @property
    def is_acquire(self) -> bool:
        return self.action is not LockAction.RELEASE

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.memory_rules import verify_use_lock

        verify_use_lock(self)


def constant_int(value: SSAValue) -> int | None:
    """The number an SSA value stands for when an `arith.constant` makes it."""
    owner = value.owner
    return number(owner.value) if isinstance(owner, ConstantOp) else None
