"""The device, its tiles, and the terminator `aie.end`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, region_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import IsTerminator, Pure

from aiecc.ir.dialects.aie.enums import OLDER_DEVICES, Device, TileType
from aiecc.ir.dialects.aie.headers import verify_header
from aiecc.ir.dialects.base import (
    DialectOp,
    bool_field,
    int_field,
    name_field,
    op_definition,
    optional_int_field,
    word_field,
)
from aiecc.ir.dialects.constraints import BOOLEAN, I32, INDEX, INDEX_TYPE, STRING, Described, int_attr
from aiecc.ir.dialects.reading import Draft, Element, Out, eat, fail, need, read_int
from aiecc.ir.dialects.syntax import DICT, Body, Int, Sym, Word, syntax
from aiecc.ir.dialects.traits import Isolated, OneBlock, Scope, Symbol
from aiecc.model.targets import Target, TileKind
from aiecc.model.targets import get as target_named

DEFAULT_DEVICE = "xcvc1902"
"""The device that is assumed where no `aie.device` says one."""


@op_definition
class EndOp(DialectOp):
    """The terminator of regions whose last op has nothing to say."""

    name = "aie.end"
    traits = traits_def(IsTerminator())
    SYNTAX = syntax(DICT)

    def __init__(self) -> None:
        super().__init__()


def end_op() -> type[EndOp]:
    return EndOp


def _is_device(attr: Attribute) -> bool:
    return isinstance(attr, IntegerAttr) and attr.type == I32 and Device.numbered(attr.value.data) is not None


# Quoted as upstream does, whose enumeration ends at 16; devices of plugins come after.
_DEVICE: Described[IntegerAttr[IntegerType]] = Described(int_attr(32, 1, 16).summary, _is_device)


@op_definition
class DeviceOp(DialectOp):
    """One device: the array a design is written for, and everything that stands on it."""

    name = "aie.device"
    device_attr = prop_def(_DEVICE, prop_name="device")
    sym_name = prop_def(STRING, StringAttr("main"))
    has_ctrl_pkt_overlay_attr = opt_prop_def(BOOLEAN, IntegerAttr(0, 1), prop_name="has_ctrl_pkt_overlay")
    body = region_def()
    traits = traits_def(Isolated(), OneBlock(), Scope(), Symbol())
    PARENTS = ("builtin.module",)
    SYNTAX = syntax("(", Word("device", Device, OLDER_DEVICES), ")", Sym(default="main"), Body(terminator=end_op), DICT)

    symbol = name_field()
    has_ctrl_pkt_overlay = bool_field("has_ctrl_pkt_overlay")
    device = word_field("device", Device)

    def __init__(self, device: Device, name: str = "main", ops: Sequence[Operation] = ()) -> None:
        super().__init__(
            properties={"device": IntegerAttr(device.value, I32), "sym_name": StringAttr(name)},
            regions=[Region(Block([*ops, EndOp()]))],
        )

    @classmethod
    def finish(cls, parser: Parser, draft: Draft) -> DialectOp:
        from aiecc.ir.dialects.aie.older import settle

        device = cls.from_draft(draft)
        settle(device)
        return device

    @property
    def target(self) -> Target:
        """The tables of this device."""
        return target_named(self.device.word)

    @property
    def block(self) -> Block:
        return self.body.block

    def ops_of(self, *kinds: type[Operation]) -> Iterator[Operation]:
        """The ops of some classes that stand directly in the device."""
        return (op for op in self.block.ops if isinstance(op, kinds))

    def verify_op(self) -> None:
        from aiecc.ir.dialects.aie.device_rules import verify_device

        verify_device(self)


def device_of(op: Operation) -> DeviceOp | None:
    """The device around an op (or the op itself)."""
    at: Operation | None = op
    while at is not None and not isinstance(at, DeviceOp):
        at = at.parent_op()
    return at


def target_of(op: Operation) -> Target:
    """The tables of the device around an op; those of `DEFAULT_DEVICE` where there is none."""
    device = device_of(op)
    if device is None or Device.numbered(int_or(device.properties.get("device"))) is None:
        return target_named(DEFAULT_DEVICE)
    return device.target


def int_or(attr: Attribute | None, otherwise: int = -1) -> int:
    return int(attr.value.data) if isinstance(attr, IntegerAttr) else otherwise


class TileLike(DialectOp):
    """What `aie.tile` and `aie.logical_tile` have in common."""

    @property
    def coord(self) -> tuple[int, int] | None:
        """(column, row); None unless both are known."""
        return None

    @property
    def kind(self) -> TileKind | None:
        """What kind of tile it is on its device; None off the array."""
        return None

    def _verify_range(self, what: str, value: int | None, bound: int) -> None:
        if value is not None and value >= bound:
            long = {"col": "column", "row": "row"}[what]
            raise self.error(f"{long} index ({value}) must be less than the number of {long}s in the device ({bound})")

    def verify_place(self, col: int | None, row: int | None) -> None:
        verify_header(self, "controller_id", self.attributes.get("controller_id"))
        target = target_of(self)
        self._verify_range("col", col, target.columns)
        self._verify_range("row", row, target.rows)


@op_definition
class TileOp(TileLike):
    """One tile of the array, by column and row."""

    name = "aie.tile"
    col_attr = prop_def(int_attr(32, 0), prop_name="col")
    row_attr = prop_def(int_attr(32, 0), prop_name="row")
    result = result_def(INDEX_TYPE)
    traits = traits_def(Pure())
    SYNTAX = syntax("(", Int("col"), ",", Int("row"), ")", DICT)

    col = int_field("col")
    row = int_field("row")

    def __init__(self, col: int, row: int, attributes: Mapping[str, Attribute] | None = None) -> None:
        super().__init__(
            result_types=[INDEX],
            properties={"col": IntegerAttr(col, I32), "row": IntegerAttr(row, I32)},
            attributes=attributes,
        )

    @property
    def coord(self) -> tuple[int, int]:
        return self.col, self.row

    @property
    def kind(self) -> TileKind | None:
        return target_of(self).tile_kind(self.col, self.row)

    def asm_result_names(self) -> list[str | None]:
        stems = {TileKind.MEM: "mem_tile", TileKind.SHIM_NOC: "shim_noc_tile", TileKind.SHIM_PL: "shim_pl_tile"}
        kind = self.kind
        return [f"{stems.get(kind, 'tile') if kind else 'tile'}_{self.col}_{self.row}"]

    def verify_op(self) -> None:
        self.verify_place(self.col, self.row)
        boxes = [use.operation for use in self.result.uses if use.operation.name == "aie.switchbox"]
        if len(boxes) > 1:
            raise self.error("can only have one switchbox")


class _Coordinate(Element):
    """A number, or `?` for one that placement is to choose."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fixed = (name,)

    def parse(self, p: Parser, d: Draft) -> None:
        if not eat(p, "?"):
            d.props[self.name] = read_int(p)

    def print(self, out: Out, op: DialectOp) -> None:
        attr = op.properties.get(self.name)
        out.arg().print_string(str(attr.value.data) if isinstance(attr, IntegerAttr) else "?")


class _TileTypeWord(Element):
    """The kind of a logical tile, a bare keyword."""

    fixed = ("tile_type",)

    def parse(self, p: Parser, d: Draft) -> None:
        need(p, "<")
        at = p.pos
        word = p.parse_optional_identifier()
        if word is None:
            fail(p, "expected valid keyword")
        found = TileType.named(word)
        if found is None:
            fail(p, f"unknown logical tile type: {word}", at)
        d.props["tile_type"] = IntegerAttr(found.value, I32)
        need(p, ">")
        need(p, "(")

    def print(self, out: Out, op: DialectOp) -> None:
        out.lit("<")
        found = TileType.numbered(int_or(op.properties.get("tile_type")))
        out.arg().print_string(found.word if found else "?")
        # Written by hand upstream: no blank between `>` and `(`.
        out.printer.print_string(">(")
        out.glue()


@op_definition
class LogicalTileOp(TileLike):
    """A tile of some kind whose place may still be open."""

    name = "aie.logical_tile"
    tile_type_attr = prop_def(int_attr(32, 0, 3), prop_name="tile_type")
    col_attr = opt_prop_def(int_attr(32, 0), prop_name="col")
    row_attr = opt_prop_def(int_attr(32, 0), prop_name="row")
    result = result_def(INDEX_TYPE)
    traits = traits_def(Pure())
    SYNTAX = syntax(_TileTypeWord(), _Coordinate("col"), ",", _Coordinate("row"), ")", DICT)

    tile_type = word_field("tile_type", TileType)
    col = optional_int_field("col")
    row = optional_int_field("row")

    def __init__(self, tile_type: TileType, col: int | None = None, row: int | None = None) -> None:
        places = {"col": col, "row": row}
        super().__init__(
            result_types=[INDEX],
            properties={
                "tile_type": IntegerAttr(tile_type.value, I32),
                **{k: IntegerAttr(v, I32) for k, v in places.items() if v is not None},
            },
        )

    @property
    def coord(self) -> tuple[int, int] | None:
        return None if self.col is None or self.row is None else (self.col, self.row)

    @property
    def kind(self) -> TileKind | None:
        return TileKind(self.tile_type.word)

    def asm_result_names(self) -> list[str | None]:
        stems = {
            TileType.CORE: "logical_core",
            TileType.MEM: "logical_mem",
            TileType.SHIM_NOC: "logical_shim_noc",
            TileType.SHIM_PL: "logical_shim_pl",
        }
        return [stems[self.tile_type]]

    def verify_op(self) -> None:
        self.verify_place(self.col, self.row)
        target = target_of(self)
        if all(target.tile_kind(c, r) is not self.kind for c, r in target.tiles()):
            raise self.error(f"tile type '{self.tile_type.word}' does not exist on the target device")
        if self.coord is not None and target.tile_kind(*self.coord) is not self.kind:
            raise self.error(
                f"declared logical tile type does not match the tile type at coordinates ({self.col}, {self.row})"
            )


def tile_like(value: SSAValue) -> TileLike | None:
    """The tile op behind a tile operand; None for anything else."""
    owner = value.owner
    return owner if isinstance(owner, TileLike) else None


def placed(value: SSAValue) -> TileOp | None:
    """The `aie.tile` behind a tile operand; None for a logical tile or anything else."""
    owner = value.owner
    return owner if isinstance(owner, TileOp) else None
