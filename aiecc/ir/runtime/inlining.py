"""A sequence of one device put into a sequence of another: what it names there comes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from aiecc.ir.dialects.aie.memory import LockOp
from aiecc.ir.dialects.aie.runtime import RuntimeSequenceOp
from aiecc.ir.dialects.aie.tiles import DeviceOp, EndOp, TileOp
from aiecc.ir.dialects.base import text_of
from aiecc.ir.errors import VerifyError
from aiecc.ir.fifo.view import fresh_name
from aiecc.ir.spans import copy_span


def symbols_of(device: DeviceOp) -> dict[str, Operation]:
    """What a device's own block declares, by name."""
    found: dict[str, Operation] = {}
    for op in device.block.ops:
        name = symbol_of(op)
        if name:
            found.setdefault(name, op)
    return found


def symbol_of(op: Operation) -> str | None:
    return text_of(op.properties.get("sym_name", op.attributes.get("sym_name")))


def references(op: Operation) -> list[str]:
    """The symbols an op names itself, in the order of its attributes."""
    found: list[str] = []
    todo: list[Attribute] = [*op.properties.values(), *op.attributes.values()]
    for attr in todo:
        if isinstance(attr, SymbolRefAttr):
            found.append(attr.root_reference.data)
        elif isinstance(attr, ArrayAttr):
            todo += list(attr.data)
    return found


@dataclass
class Guests:
    """What of other devices stands in a device by now, so that what is named twice comes along once."""

    device: DeviceOp
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    symbols: dict[Operation, str] = field(default_factory=dict[Operation, str])
    taken: set[str] | None = None
    tiles: dict[tuple[int, int], TileOp] | None = None

    def put(self, at: Operation, called: RuntimeSequenceOp, home: DeviceOp, arguments: Sequence[SSAValue]) -> None:
        """Copy a sequence's instructions in front of `at`. Raises VerifyError where something cannot come along."""
        sequence = _sequence_around(at)
        mapping: dict[SSAValue, SSAValue] = dict(zip(called.body.block.args, arguments, strict=True))
        inside = [op for op in called.body.block.ops if not isinstance(op, EndOp)]
        if home is not self.device:
            for op in inside:
                for inner in op.walk():
                    for value in inner.operands:
                        if not _is_inside(value, called):
                            mapping[value] = self._value(value, inner, sequence)
        symbols = symbols_of(home) if home is not self.device else {}
        for op in inside:
            new = _copy(op, mapping)
            assert at.parent is not None
            at.parent.insert_op_before(new, at)
            for inner in new.walk():
                self._rename(inner, symbols, sequence)

    def _value(self, value: SSAValue, user: Operation, before: Operation) -> SSAValue:
        """The value of this device that stands for one of another."""
        known = self.values.get(value)
        if known is not None:
            return known
        owner = value.owner
        if not isinstance(owner, Operation):
            raise VerifyError("Referenced value is not defined by an operation", user)
        if isinstance(owner, TileOp):
            found = self._tile(owner, user)
            if found is not None:
                self.values[value] = found
                return found
        elif not isinstance(owner, LockOp):
            text = (
                f"Referenced SSA value defined by unsupported operation type: {owner.name}. Currently only aie.tile "
                "and aie.lock operations are supported."
            )
            raise VerifyError(text, user)
        if isinstance(owner, TileOp):
            # Where tiles stand, so that whatever comes along can be of it.
            before = self._first_after_tiles()
        new = self._guest(owner, before)
        if isinstance(new, TileOp) and self.tiles is not None:
            self.tiles[new.coord] = new
        self.values[value] = new.results[0]
        return new.results[0]

    def _tile(self, tile: TileOp, user: Operation) -> SSAValue | None:
        """The tile at the same place, which has to be the same."""
        if self.tiles is None:
            self.tiles = {op.coord: op for op in reversed(list(self.device.block.ops)) if isinstance(op, TileOp)}
        found = self.tiles.get(tile.coord)
        if found is None:
            return None
        if _plain(found) != _plain(tile):
            col, row = tile.coord
            text = f"aie.tile({col}, {row}) already exists in the device with different attributes"
            raise VerifyError(text, user, [("it exists here", found), ("the other one is here", tile)])
        return found.results[0]

    def _first_after_tiles(self) -> Operation:
        """The op of the device before which a tile is declared."""
        ops = list(self.device.block.ops)
        last = max((i for i, op in enumerate(ops) if isinstance(op, TileOp)), default=-1)
        return ops[last + 1]

    def _guest(self, op: Operation, before: Operation) -> Operation:
        """A copy of an op of another device in this one, under a name that is free here."""
        mapping = {value: self._value(value, op, before) for value in op.operands}
        new = _copy(op, mapping)
        name = symbol_of(op)
        if name is not None:
            fresh = fresh_name(name, self._names())
            holder = new.properties if "sym_name" in new.properties else new.attributes
            holder["sym_name"] = StringAttr(fresh)
            self.symbols[op] = fresh
        assert before.parent is not None
        before.parent.insert_op_before(new, before)
        return new

    def _names(self) -> set[str]:
        if self.taken is None:
            self.taken = set(symbols_of(self.device))
        return self.taken

    def _rename(self, op: Operation, symbols: dict[str, Operation], before: Operation) -> None:
        """Let an op name what stands for the symbols of its own device."""
        for holder in (op.properties, op.attributes):
            for key, attr in holder.items():
                holder[key] = self._renamed(attr, symbols, before)

    def _renamed(self, attr: Attribute, symbols: dict[str, Operation], before: Operation) -> Attribute:
        if isinstance(attr, ArrayAttr):
            return ArrayAttr([self._renamed(each, symbols, before) for each in attr.data])
        if not isinstance(attr, SymbolRefAttr):
            return attr
        meant = symbols.get(attr.root_reference.data)
        if meant is None or isinstance(meant, RuntimeSequenceOp):
            return attr
        if meant not in self.symbols:
            inner = self._guest(meant, before)
            for each in inner.walk():
                if each is not inner or each.regions:
                    self._rename(each, symbols, before)
        return SymbolRefAttr(self.symbols[meant], attr.nested_references)


def _plain(tile: TileOp) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    return tile.properties, tile.attributes


def _is_inside(value: SSAValue, sequence: RuntimeSequenceOp) -> bool:
    owner = value.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    while block is not None:
        around = block.parent_op()
        if around is sequence:
            return True
        block = around.parent if around is not None else None
    return False


def _sequence_around(op: Operation) -> Operation:
    at: Operation | None = op
    while at is not None and not isinstance(at, RuntimeSequenceOp):
        at = at.parent_op()
    assert at is not None
    return at


def _copy(op: Operation, mapping: dict[SSAValue, SSAValue]) -> Operation:
    """A copy with everything inside, each op at the position of the one it stands for."""
    new = op.clone(mapping)
    for old, made in zip(op.walk(), new.walk(), strict=True):
        copy_span(old, made)
    return new
