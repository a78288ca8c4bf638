"""The base of our dialects' ops: reading and printing by `SYNTAX`, verifying in MLIR's order and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OptionalDef,
    OptPropertyDef,
    SingleBlockRegionDef,
    VariadicDef,
    irdl_op_definition,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from aiecc.ir.dialects.accessors import SEGMENTS, quicken
from aiecc.ir.dialects.constraints import I32, INDEX, Described, integers
from aiecc.ir.dialects.reading import Draft, Element, Out
from aiecc.ir.dialects.words import Words
from aiecc.ir.errors import VerifyError

OpT = TypeVar("OpT", bound="type[DialectOp]")
WordsT = TypeVar("WordsT", bound=Words)

_CONSTANTS = {"SYNTAX", "PARENTS", "RESULT", "OLDER"}
_FIXED: dict[type, frozenset[str]] = {}


class DialectOp(IRDLOperation):
    """An op that is written as its `SYNTAX` says.

    PARENTS: names of the ops it may stand in directly; empty means anywhere.
    RESULT: the type of results the syntax does not spell.
    OLDER: attributes that were spelt differently, with today's spelling.
    """

    SYNTAX: ClassVar[tuple[Element, ...]] = ()
    PARENTS: ClassVar[tuple[str, ...]] = ()
    RESULT: ClassVar[Attribute] = INDEX
    OLDER: ClassVar[dict[str, str]] = {}

    def __post_init__(self) -> None:
        for old, new in self.OLDER.items():
            for place in (self.properties, self.attributes):
                if old in place and new not in self.properties:
                    self.properties[new] = place.pop(old)
        super().__post_init__()

    # --- text ---------------------------------------------------------------------------------------------------------

    @classmethod
    def fixed_places(cls) -> frozenset[str]:
        """The properties that stand in the syntax itself."""
        if (found := _FIXED.get(cls)) is None:
            found = _FIXED[cls] = frozenset(name for element in cls.SYNTAX for name in element.fixed)
        return found

    @classmethod
    def take(cls, draft: Draft, key: str, value: Attribute) -> None:
        """Sort one dictionary entry in: a property of the op, or something that is only carried along."""
        key = cls.OLDER.get(key, key)
        inherent = key in cls.get_irdl_definition().properties
        (draft.props if inherent else draft.attributes)[key] = value

    @classmethod
    def parse(cls: type[DialectOp], parser: Parser) -> DialectOp:
        draft = Draft(cls)
        for element in cls.SYNTAX:
            element.parse(parser, draft)
        return cls.finish(parser, draft)

    @classmethod
    def finish(cls, parser: Parser, draft: Draft) -> DialectOp:
        """Make the op out of what was read. Ops with older spellings translate them here."""
        return cls.from_draft(draft)

    @classmethod
    def from_draft(cls, draft: Draft) -> DialectOp:
        definition = cls.get_irdl_definition()
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for name, _ in definition.operands:
            group = draft.operands.get(name, [])
            operands += group
            sizes.append(len(group))
        if any(isinstance(o, AttrSizedOperandSegments) for o in definition.options):
            draft.props[SEGMENTS] = DenseArrayBase.from_list(I32, sizes)
        results = draft.results if draft.results is not None else [cls.RESULT] * len(definition.results)
        return cls.create(
            operands=operands,
            result_types=results,
            properties=draft.props,
            attributes=draft.attributes,
            successors=draft.successors,
            regions=[region for name, _ in definition.regions for region in draft.regions.get(name, [])],
        )

    def print(self, printer: Printer) -> None:
        out = Out(printer)
        for element in self.SYNTAX:
            element.print(out, self)

    def dictionary(self) -> dict[str, Attribute]:
        """What the attribute dictionary shows: discardable attributes and properties without a place, no defaults."""
        shown = dict(self.attributes)
        fixed = self.fixed_places()
        definitions = self.get_irdl_definition().properties
        for key, value in self.properties.items():
            if key in fixed or key == SEGMENTS:
                continue
            definition = definitions.get(key)
            if definition is not None and definition.default_value == value:
                continue
            shown[key] = value
        return shown

    def asm_result_names(self) -> list[str | None]:
        """The names its results would like to have in print."""
        return [None] * len(self.results)

    # --- verification -------------------------------------------------------------------------------------------------

    def verify_(self) -> None:
        """The definition first, then the parent, then traits, then the op's own rules."""
        self.verify_definition()
        self.verify_parent()
        for trait in self.traits:
            trait.verify(self)
        try:
            self.verify_op()
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # Rules look at other ops as well. One that is malformed has an error of its own; anything else is our bug.
            if not _any_malformed(self):
                raise

    def verify_op(self) -> None:
        """The op's own rules, in the order MLIR reports them."""

    def error(
        self, text: str, notes: Sequence[tuple[str, Operation | None]] = (), *, bare: bool = False
    ) -> VerifyError:
        """The error to raise at this op."""
        return VerifyError(text, self, notes, bare)

    def verify_parent(self) -> None:
        parent = self.parent_op()
        if not self.PARENTS or parent is None or parent.name in self.PARENTS:
            return
        if len(self.PARENTS) == 1:
            raise self.error(f"expects parent op '{self.PARENTS[0]}'")
        raise self.error(f"expects parent op to be one of '{', '.join(self.PARENTS)}'")

    def verify_definition(self) -> None:
        """Counts and kinds of operands, results, regions, successors and properties."""
        definition = self.get_irdl_definition()
        self._verify_operands()
        results = definition.results
        if not any(isinstance(r, VariadicDef) for _, r in results) and len(self.results) != len(results):
            raise self.error(f"requires {_count(len(results), 'result')}")
        for i, result in enumerate(self.results):
            _verify_type(self, "result", i, result.type, results[min(i, len(results) - 1)][1].constr)
        if len(self.successors) != len(definition.successors):
            raise self.error(f"requires {_count(len(definition.successors), 'successor')}")
        regions = definition.regions
        if not any(isinstance(r, VariadicDef) for _, r in regions) and len(self.regions) != len(regions):
            raise self.error(f"requires {_count(len(regions), 'region')}")
        for i, region in enumerate(self.regions):
            name, region_def = regions[min(i, len(regions) - 1)]
            if isinstance(region_def, SingleBlockRegionDef) and len(region.blocks) != 1:
                raise self.error(f"region #{i} ('{name}') failed to verify constraint: region with 1 blocks")
        self._verify_properties()

    def _verify_operands(self) -> None:
        definition = self.get_irdl_definition()
        defs = definition.operands
        sized = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
        if sized:
            counts = self._segments()
        else:
            fixed = sum(not isinstance(d, VariadicDef) for _, d in defs)
            open_ended = len(defs) - fixed
            rest = len(self.operands) - fixed
            optional = any(isinstance(d, OptionalDef) for _, d in defs)
            if rest < 0 or (not open_ended and rest) or (optional and rest > 1):
                least = " or more" if open_ended else ""
                plural = "" if fixed == 1 else "s"
                raise self.error(f"expected {fixed}{least} operand{plural}, but found {len(self.operands)}")
            counts = [rest if isinstance(d, VariadicDef) else 1 for _, d in defs]
        at = 0
        for (_, operand_def), count in zip(defs, counts, strict=True):
            for _ in range(count):
                _verify_type(self, "operand", at, self.operands[at].type, operand_def.constr)
                at += 1

    def _segments(self) -> list[int]:
        defs = self.get_irdl_definition().operands
        attr = self.properties.get(SEGMENTS)
        if not isinstance(attr, DenseArrayBase) or attr.elt_type != I32:
            raise self.error(f"requires attribute '{SEGMENTS}'")
        counts = [int(n) for n in attr.get_values()]
        if len(counts) != len(defs):
            raise self.error(
                f"'{SEGMENTS}' attribute for specifying operand segments must have {len(defs)} elements, "
                f"but got {len(counts)}"
            )
        if sum(counts) != len(self.operands) or any(n < 0 for n in counts):
            raise self.error(
                f"operand count ({len(self.operands)}) does not match with the total size "
                f"({sum(counts)}) specified in attribute '{SEGMENTS}'"
            )
        for group, ((name, operand_def), count) in enumerate(zip(defs, counts, strict=True)):
            single = not isinstance(operand_def, VariadicDef)
            if (single and count != 1) or (isinstance(operand_def, OptionalDef) and count > 1):
                kind = "one" if single else "0 or 1"
                raise self.error(
                    f"operand group starting at #{group} ('{name}') requires {kind} element, found {count}"
                )
        return counts

    def _verify_properties(self) -> None:
        definitions = self.get_irdl_definition().properties
        names = sorted(definitions)
        for name in names:
            if name not in self.properties and not isinstance(definitions[name], OptPropertyDef):
                raise self.error(f"requires attribute '{name}'")
        for name in names:
            attr = self.properties.get(name)
            constraint = definitions[name].constr
            if attr is not None and not constraint.verifies(attr):
                summary = constraint.summary if isinstance(constraint, Described) else str(constraint)
                raise self.error(f"attribute '{name}' failed to satisfy constraint: {summary}")


def _count(n: int, what: str) -> str:
    return {0: f"zero {what}s", 1: f"one {what}"}.get(n, f"{n} {what}s")


def _verify_type(op: DialectOp, what: str, index: int, type: Attribute, constraint: object) -> None:
    # xDSL wraps what a definition says of one operand into ranges.
    while constraint is not None and not isinstance(constraint, Described):
        constraint = getattr(constraint, "constr", getattr(constraint, "constraint", None))
    if constraint is not None and not constraint.test(type):
        raise op.error(f"{what} #{index} must be {constraint.summary}, but got '{show(type)}'")


def _any_malformed(op: Operation) -> bool:
    """Whether any of our ops in the same module breaks its own definition."""
    top: Operation = op
    while (parent := top.parent_op()) is not None:
        top = parent
    for other in top.walk():
        if isinstance(other, DialectOp):
            try:
                other.verify_definition()
            except VerifyError:
                return True
    return False


def op_definition(cls: OpT) -> OpT:
    """Define an op. xDSL builds the accessors; verification stays ours, because its words and order are MLIR's."""
    for parent in cls.mro():
        if issubclass(parent, DialectOp):
            # xDSL takes class variables only if each class that sets one says so.
            parent.__annotations__.update(dict.fromkeys(_CONSTANTS & parent.__dict__.keys(), "ClassVar"))
    defined = irdl_op_definition(cls)
    defined.verify_ = DialectOp.verify_
    quicken(defined)
    return cast(OpT, defined)


# --- typed views of properties ----------------------------------------------------------------------------------------


def int_field(name: str) -> int:
    """An integer property as an int. Reading one that is absent is an error; see `optional_int_field`."""

    def read(op: DialectOp) -> int:
        return cast("IntegerAttr[IntegerType]", op.properties[name]).value.data

    return cast(int, property(read))


def optional_int_field(name: str) -> int | None:
    """An integer property as an int; None when absent."""

    def read(op: DialectOp) -> int | None:
        attr = op.properties.get(name)
        return attr.value.data if isinstance(attr, IntegerAttr) else None

    return cast("int | None", property(read))


def bool_field(name: str, default: bool = False) -> bool:
    """A boolean or unit property as a bool."""

    def read(op: DialectOp) -> bool:
        attr = op.properties.get(name)
        if attr is None:
            return default
        return bool(attr.value.data) if isinstance(attr, IntegerAttr) else True

    return cast(bool, property(read))


def string_field(name: str) -> str | None:
    """A string or symbol property as a str; None when absent."""

    def read(op: DialectOp) -> str | None:
        return text_of(op.properties.get(name))

    return cast("str | None", property(read))


def show(attr: Attribute) -> str:
    """An attribute or type as it is printed, for messages."""
    from aiecc.ir.printer import attribute_text

    return attribute_text(attr)


def text_of(attr: Attribute | None) -> str | None:
    if isinstance(attr, StringAttr):
        return attr.data
    if isinstance(attr, SymbolRefAttr):
        return attr.root_reference.data
    return None


def name_field(name: str = "sym_name") -> str:
    """A string or symbol property that is always there, as a str."""

    def read(op: DialectOp) -> str:
        return text_of(op.properties.get(name)) or ""

    return cast(str, property(read))


def word_field(name: str, words: type[WordsT]) -> WordsT:
    """An enumeration property as its member."""

    def read(op: DialectOp) -> WordsT:
        return words(int(cast("IntegerAttr[IntegerType]", op.properties[name]).value.data))

    return cast(WordsT, property(read))


def names_field(name: str) -> tuple[str, ...]:
    """An array of strings or symbols as strs; empty when absent."""

    def read(op: DialectOp) -> tuple[str, ...]:
        attr = op.properties.get(name)
        return tuple(text_of(a) or "" for a in attr.data) if isinstance(attr, ArrayAttr) else ()

    return cast("tuple[str, ...]", property(read))


def ints_field(name: str) -> tuple[int, ...]:
    """A dense integer array, or an array of integers, as ints; empty when absent."""

    def read(op: DialectOp) -> tuple[int, ...]:
        attr = op.properties.get(name)
        if isinstance(attr, DenseArrayBase):
            return integers(attr)
        return tuple(int(a.value.data) for a in getattr(attr, "data", ()) if isinstance(a, IntegerAttr))

    return cast("tuple[int, ...]", property(read))


def enclosing(op: Operation, *names: str) -> Operation | None:
    """The closest op around `op` (not itself) with one of the names."""
    parent = op.parent_op()
    while parent is not None and parent.name not in names:
        parent = parent.parent_op()
    return parent


__all__ = [
    "DialectOp", "bool_field", "enclosing", "int_field", "ints_field", "name_field", "names_field",
    "op_definition", "optional_int_field", "show", "string_field", "text_of", "word_field",
]  # fmt: skip
