"""Attributes and types of `pto` in their public textual form: memories, kinds of kernels, tiles, pointers, views.

A tile is written in the long form (`loc=vec, dtype=f32, rows=16, ..`) or the short one (`vec, 16x16xf32, ..`); the
short one is printed, with what differs from the defaults.
"""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from aiecc.plugins.tpush.model import Kind, Space

# Words for the parts of a tile's layout, and the numbers some of them have.
_BLAYOUT = ("row_major", "col_major")
_SLAYOUT = ("none_box", "row_major", "col_major")
_PAD = 4
_COMPACT = 3


class Keyword(ParametrizedAttribute):
    """`#pto.name<word>`. WORDS: those there are; none: any."""

    WORDS: ClassVar[tuple[str, ...]] = ()

    word: StringAttr

    @classmethod
    def of(cls, word: str) -> Self:
        return cls.new([StringAttr(word)])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        # `#pto<name word>` is the same attribute in the other spelling of dialect attributes.
        if parser.parse_optional_punctuation("<") is None:
            return [StringAttr(cls.read(parser))]
        word = cls.read(parser)
        parser.parse_punctuation(">")
        return [StringAttr(word)]

    @classmethod
    def read(cls, parser: AttrParser) -> str:
        at = parser.pos
        word = parser.parse_identifier()
        if cls.WORDS and word not in cls.WORDS:
            known = ", ".join(cls.WORDS)
            parser.raise_error(f"'{word}' is no {cls.name.removeprefix('pto.')}; there are {known}", at, parser.pos)
        return word

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.word.data}>")


@irdl_attr_definition
class AddressSpaceAttr(Keyword):
    """`#pto.address_space<vec>`: a memory."""

    name = "pto.address_space"
    WORDS: ClassVar[tuple[str, ...]] = tuple(space.value for space in Space)

    @property
    def space(self) -> Space:
        return Space(self.word.data)


@irdl_attr_definition
class KernelKindAttr(Keyword):
    """`#pto.kernel_kind<cube>`: what a function runs on."""

    name = "pto.kernel_kind"
    WORDS: ClassVar[tuple[str, ...]] = tuple(kind.value for kind in Kind)

    @property
    def kind(self) -> Kind:
        return Kind(self.word.data)


@irdl_attr_definition
class LayoutAttr(Keyword):
    """`#pto.layout<nd>`: how a tensor lies in global memory."""

    name = "pto.layout"


@irdl_attr_definition
class RoundModeAttr(Keyword):
    """`#pto<round_mode ROUND>`."""

    name = "pto.round_mode"


@irdl_attr_definition
class SaturationModeAttr(Keyword):
    """`#pto<saturation_mode ON>`."""

    name = "pto.saturation_mode"


@irdl_attr_definition
class MaskPatternAttr(Keyword):
    """`#pto.mask_pattern<P1111>`."""

    name = "pto.mask_pattern"


# ------------------------------------------------------------------------------------------------------- types


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!pto.ptr<f32>`: a pointer to global memory."""

    name = "pto.ptr"

    element: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            return [parser.parse_type()]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element)


class Shaped(ParametrizedAttribute, TypeAttribute):
    """`!pto.name<?x16xf32>`. A dimension known at run time only is `DYNAMIC_INDEX`."""

    shape: StringAttr
    element: Attribute

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(DYNAMIC_INDEX if d == "?" else int(d) for d in self.shape.data.split("x") if d)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            dims: list[str] = []
            while (element := parser.parse_optional_type()) is None:
                dims.append(_dim_text(parser.parse_shape_dimension()))
                parser.parse_shape_delimiter()
            return [StringAttr("x".join(dims)), element]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.shape.data + ("x" if self.shape.data else ""))
            printer.print_attribute(self.element)


@irdl_attr_definition
class TensorViewType(Shaped):
    """`!pto.tensor_view<?x?xf32>`: a tensor in global memory."""

    name = "pto.tensor_view"


@irdl_attr_definition
class PartitionTensorViewType(Shaped):
    """`!pto.partition_tensor_view<16x16xf32>`: a part of one."""

    name = "pto.partition_tensor_view"


def _dim_text(dim: int) -> str:
    return "?" if dim == DYNAMIC_INDEX else str(dim)


@irdl_attr_definition
class TileBufType(ParametrizedAttribute, TypeAttribute):
    """`!pto.tile_buf<vec, 16x16xf32>`: a tile in an on-chip memory.

    `valid_row`, `valid_col`: what of it is data; `DYNAMIC_INDEX` when only known at run time.
    """

    name = "pto.tile_buf"

    space: AddressSpaceAttr
    element: Attribute
    rows: IntAttr
    cols: IntAttr
    valid_row: IntAttr
    valid_col: IntAttr
    blayout: StringAttr
    slayout: StringAttr
    fractal: IntAttr
    pad: IntAttr
    compact: IntAttr

    @staticmethod
    def of(space: Space, rows: int, cols: int, element: Attribute, **more: int | str) -> TileBufType:
        """`more`: valid_row, valid_col, blayout, slayout, fractal, pad, compact; the defaults otherwise."""
        found: dict[str, Attribute | int | str] = {"loc": space.value, "dtype": element, "rows": rows, "cols": cols}
        return TileBufType.new(_parameters(found | more))

    @property
    def memory(self) -> Space:
        return self.space.space

    @property
    def bytes_per_element(self) -> int | None:
        """None for element types that have no size in bytes."""
        if isinstance(self.element, IntegerType | AnyFloat) and self.element.bitwidth % 8 == 0:
            return self.element.bitwidth // 8
        return None

    @property
    def layout(self) -> str:
        """How it lies in memory, as texts say it."""
        return f"blayout={self.blayout.data}, slayout={self.slayout.data}"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            at = parser.pos
            first = parser.parse_identifier()
            found: dict[str, Attribute | int | str] = {}
            if first == "loc":
                parser.parse_punctuation("=")
                found["loc"] = parser.parse_identifier()
            else:
                found["loc"] = first
                parser.parse_punctuation(",")
                found["rows"], found["cols"] = _dimension(parser, True), _dimension(parser, True)
                found["dtype"] = parser.parse_type()
            while parser.parse_optional_punctuation(",") is not None:
                _read_key(parser, found)
        try:
            return _parameters(found)
        except VerifyException as error:
            parser.raise_error(str(error), at, parser.pos)

    def print_parameters(self, printer: Printer) -> None:
        rows, cols = self.rows.data, self.cols.data
        with printer.in_angle_brackets():
            printer.print_string(f"{self.space.word.data}, {rows}x{cols}x")
            printer.print_attribute(self.element)
            valid = (self.valid_row.data, self.valid_col.data)
            if valid != (rows, cols):
                printer.print_string(f", valid={_dim_text(valid[0])}x{_dim_text(valid[1])}")
            for key, value, default in (
                ("blayout", self.blayout.data, _DEFAULTS["blayout"]),
                ("slayout", self.slayout.data, _DEFAULTS["slayout"]),
                ("fractal", self.fractal.data, _DEFAULTS["fractal"]),
                ("pad", self.pad.data, _DEFAULTS["pad"]),
                ("compact", self.compact.data, _DEFAULTS["compact"]),
            ):
                if value != default:
                    printer.print_string(f", {key}={value}")


_DEFAULTS: dict[str, int | str] = {
    "blayout": "row_major",
    "slayout": "none_box",
    "fractal": 512,
    "pad": 0,
    "compact": 0,
}
_WORDS = {"loc", "blayout", "slayout"}
_NUMBERS = {"rows", "cols", "v_row", "v_col", "fractal", "pad", "compact"}


def _dimension(parser: AttrParser, delimited: bool) -> int:
    found = parser.parse_shape_dimension()
    if delimited:
        parser.parse_shape_delimiter()
    return found


def _read_key(parser: AttrParser, found: dict[str, Attribute | int | str]) -> None:
    at = parser.pos
    key = parser.parse_identifier()
    known = {"v_row": "valid_row", "v_col": "valid_col", "valid": "valid_row"}.get(key, key)
    if known in found:
        parser.raise_error(f"'{key}' stands twice in a tile's type", at, parser.pos)
    parser.parse_punctuation("=")
    if key == "dtype":
        found["dtype"] = parser.parse_type()
    elif key == "valid":
        found["valid_row"], found["valid_col"] = _dimension(parser, True), _dimension(parser, False)
    elif key in _WORDS:
        found[key] = parser.parse_identifier()
    elif key in _NUMBERS:
        found[known] = _dimension(parser, False)
    else:
        words = ", ".join(sorted(_WORDS | _NUMBERS | {"dtype", "valid"}))
        parser.raise_error(f"'{key}' is no part of a tile's type; there are {words}", at, parser.pos)


def _parameters(found: dict[str, Attribute | int | str]) -> list[Attribute]:
    """The parameters in their order. Raises VerifyException for what no tile has."""
    for key in ("loc", "dtype", "rows", "cols"):
        if key not in found:
            raise VerifyException(f"a tile's type lacks '{key}'")
    space, dtype = found["loc"], found["dtype"]
    if space not in AddressSpaceAttr.WORDS or space == "gm":
        known = ", ".join(w for w in AddressSpaceAttr.WORDS if w != "gm")
        raise VerifyException(f"'{space}' is no memory of a tile; there are {known}")
    assert isinstance(dtype, Attribute)
    rows, cols = found["rows"], found["cols"]
    assert isinstance(rows, int) and isinstance(cols, int)
    if rows < 1 or cols < 1:
        raise VerifyException("rows and cols of a tile are numbers of at least 1")
    numbers = {"valid_row": rows, "valid_col": cols, "fractal": 512, "pad": 0, "compact": 0}
    numbers |= {key: value for key in numbers if isinstance(value := found.get(key), int)}
    for key, most in (("valid_row", rows), ("valid_col", cols)):
        if numbers[key] > most:
            raise VerifyException(f"a tile of {rows}x{cols} has no {numbers[key]} valid {key[6:]}s")
    words = {"blayout": _BLAYOUT, "slayout": _SLAYOUT}
    for key, known in words.items():
        word = found.setdefault(key, str(_DEFAULTS[key]))
        if word not in known:
            raise VerifyException(f"'{word}' is no {key}; there are {', '.join(known)}")
    for key, most in (("pad", _PAD), ("compact", _COMPACT)):
        if not 0 <= numbers[key] < most:
            raise VerifyException(f"{key}={numbers[key]} is none of 0 to {most - 1}")
    return [
        AddressSpaceAttr.of(str(space)),
        dtype,
        IntAttr(rows),
        IntAttr(cols),
        IntAttr(numbers["valid_row"]),
        IntAttr(numbers["valid_col"]),
        StringAttr(str(found["blayout"])),
        StringAttr(str(found["slayout"])),
        IntAttr(numbers["fractal"]),
        IntAttr(numbers["pad"]),
        IntAttr(numbers["compact"]),
    ]
