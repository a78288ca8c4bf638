"""The printer: xDSL's, saying what `mlir-opt` says, byte for byte where MLIR has the op too.

Names of values are computed before the first line is printed (`names.py`); attributes come from `attr_printer.py`;
ops that xDSL prints differently have forms in `dialects/upstream/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, LocationAttr, UnitAttr, UnregisteredOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from aiecc.ir.attr_printer import TABLE, int_text
from aiecc.ir.locations import LocationAliases
from aiecc.ir.names import Names, name_values
from aiecc.ir.numbers import float_text
from aiecc.ir.raw import RawOp
from aiecc.ir.registry import Syntax, context, op_syntax

# Ops in whose regions the dialect's own ops are printed without its name.
DEFAULT_DIALECT = {"builtin.module": "builtin", "func.func": "func"}

UNKNOWN_VALUE = "<<UNKNOWN SSA VALUE>>"


class MlirPrinter(Printer):
    """Prints one op and what it contains into a string. Use it once; `text.print_module` is the door.

    generic: the generic form of every op. debuginfo: locations behind every op.
    """

    def __init__(self, *, generic: bool = False, debuginfo: bool = False) -> None:
        super().__init__(StringIO(), print_generic_format=generic, print_debuginfo=debuginfo)
        self._out: list[str] = []
        self._names = Names()
        self._dialects = [""]
        self._attribute_names: dict[Attribute, str] = {}
        self._definitions: dict[str, list[str]] = {}
        self._locations = LocationAliases()
        self._ctx = context()
        self._newline = "\n"

    # --- text ---------------------------------------------------------------------------------------------------------

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            width = self._indent if indent is None else indent
            text = text.replace("\n", "\n" + "  " * width)
        self._out.append(text)

    def print_content(self, text: str, *, indent: int | None = None) -> None:
        self.print_string(text, indent=indent)

    def _write(self, content: str) -> None:
        self._out.append(content)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        self._out.append("\n" + "  " * (self._indent if indent is None else indent))

    def mark(self) -> int:
        """Where printing stands, for `take`."""
        return len(self._out)

    def take(self, mark: int) -> str:
        """Take back what was printed since `mark`."""
        text = "".join(self._out[mark:])
        del self._out[mark:]
        return text

    def attribute_text(self, attribute: Attribute) -> str:
        """An attribute as this printer prints it, aliases included."""
        mark = self.mark()
        self.print_attribute(attribute)
        return self.take(mark)

    def text(self) -> str:
        """What was printed, with the aliases it uses above (locations: below)."""
        head = "".join(line + "\n" for stem in sorted(self._definitions) for line in self._definitions[stem])
        return self._locations.above() + head + "".join(self._out) + self._locations.below()

    # --- the whole ----------------------------------------------------------------------------------------------------

    def print_top(self, op: Operation) -> None:
        """Print an op by itself; values from around it have the names they would have in the whole."""
        top: Operation = op
        while (parent := top.parent_op()) is not None:
            top = parent
        self._names = name_values(top, self._hints, self._argument_hints, unique=self.print_generic_format)
        self._dialects = ["builtin"]
        if self.print_debuginfo:
            self._locations.collect(self._dry_run(op))
        self.print_op(op)

    def _dry_run(self, op: Operation) -> Iterable[tuple[LocationAttr, bool]]:
        """The locations that printing an op prints, in order, and whether each is printed inline."""
        dry = _Locations(generic=self.print_generic_format)
        dry._names, dry._dialects = self._names, list(self._dialects)
        dry.print_op(op)
        return dry.met

    def _hints(self, op: Operation) -> Sequence[str | None] | None:
        if self.print_generic_format:
            return None
        syntax = self._syntax(op)
        return None if syntax is None or syntax.names is None else syntax.names(op)

    def _argument_hints(self, region: Region) -> Sequence[str | None] | None:
        if self.print_generic_format:
            return None
        ask: Callable[[Region], Sequence[str | None]] | None = getattr(region.parent, "asm_argument_names", None)
        return None if ask is None else ask(region)

    def _syntax(self, op: Operation) -> Syntax | None:
        if isinstance(op, RawOp | UnregisteredOp):
            return None
        return op_syntax(self._ctx, op.name)

    # --- values and blocks --------------------------------------------------------------------------------------------

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._names.values.get(value)
        if name is None:
            self._out.append(UNKNOWN_VALUE)
            return UNKNOWN_VALUE
        self._out.append("%" + name)
        return name

    def value_text(self, value: SSAValue) -> str:
        """The name of a value, with its `%`."""
        name = self._names.values.get(value)
        return UNKNOWN_VALUE if name is None else "%" + name

    def print_operand(self, operand: SSAValue) -> None:
        self.print_ssa_value(operand)

    def print_block_name(self, block: Block) -> str:
        name = self._names.blocks.get(block, "INVALIDBLOCK")
        self._out.append("^" + name)
        return name

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        self.print_ssa_value(arg)
        if print_type:
            self._out.append(": ")
            self.print_attribute(arg.type)
            self.print_location(arg.location, inline=True)

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = False,
        print_block_terminators: bool = True,
    ) -> None:
        parent = region.parent
        self._dialects.append(DEFAULT_DIALECT.get(parent.name, "") if parent is not None else "")
        self._out.append("{")
        entry = region.blocks.first
        if entry is not None:
            header = (print_empty_block and entry.first_op is None) or (print_entry_block_args and bool(entry.args))
            self.print_block(entry, header, print_block_terminators)
            block = entry.next_block
            while block is not None:
                self.print_block(block, True, print_block_terminators)
                block = block.next_block
        self._print_new_line()
        self._out.append("}")
        self._dialects.pop()

    def print_block(self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True) -> None:
        if print_block_args:
            self._print_block_header(block)
        self._indent += 1
        start = "\n" + "  " * self._indent
        last = block.last_op
        skip = None
        if (
            not print_block_terminator
            and last is not None
            and last.has_trait(IsTerminator, value_if_unregistered=False)
        ):
            skip = last
        op = block.first_op
        while op is not None:
            if op is not skip:
                self._out.append(start)
                self.print_op(op)
            op = op.next_op
        self._indent -= 1

    def _print_block_header(self, block: Block) -> None:
        self._print_new_line()
        self.print_block_name(block)
        if block.args:
            self._out.append("(")
            self.print_list(block.args, self.print_block_argument)
            self._out.append(")")
        self._out.append(":")
        region = block.parent
        if region is None:
            return
        order = {known: i for i, known in enumerate(region.blocks)}
        sources = (order.get(use.operation.parent_block()) for use in block.uses)  # pyright: ignore[reportArgumentType]
        names = [f"bb{i}" for i in sorted(i for i in sources if i is not None)]
        if len(names) == 1:
            self._out.append(f"  // pred: ^{names[0]}")
        elif names:
            self._out.append(f"  // {len(names)} preds: " + ", ".join(f"^{name}" for name in names))
        elif block is not region.blocks.first:
            self._out.append("  // no predecessors")

    # --- ops ----------------------------------------------------------------------------------------------------------

    def print_op(self, op: Operation) -> None:
        if op.results:
            self._out.append(self._names.heads.get(op, ""))
        self.print_op_without_results(op)
        self.print_location(op.location)

    def print_op_without_results(self, op: Operation) -> None:
        """Print an op as it stands inside another one's text: no `%x =`, no location."""
        if isinstance(op, RawOp) and not self.print_generic_format:
            self._out.append(self._op_name(op.name))
            op.print(self)
        else:
            syntax = self._syntax(op)
            show = None if syntax is None or self.print_generic_format else syntax.print
            if show is None or not self._print_custom(op, show):
                self._print_generic(op)

    def _print_custom(self, op: Operation, show: Callable[[Operation, Any], None]) -> bool:
        """The op's own form; False when the op is not what its form expects (only wrong IR is not)."""
        start, indent, depth = self.mark(), self._indent, len(self._dialects)
        self._out.append(self._op_name(op.name))
        try:
            show(op, self)
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError):
            self.take(start)
            self._indent = indent
            del self._dialects[depth:]
            return False
        return True

    def _op_name(self, name: str) -> str:
        dialect, _, rest = name.partition(".")
        return rest if dialect == self._dialects[-1] and "." not in rest else name

    def _print_generic(self, op: Operation) -> None:
        name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
        attributes = {key: value for key, value in op.attributes.items() if key != "op_name__"}
        self._out.append(f'"{name}"(')
        self.print_list(op.operands, self.print_ssa_value)
        self._out.append(")")
        if op.successors:
            self._out.append("[")
            self.print_list(op.successors, self.print_block_name)
            self._out.append("]")
        if op.properties:
            self._out.append(" <")
            self.print_attr_dict(op.properties)
            self._out.append(">")
        if op.regions:
            self._out.append(" (")
            self.print_list(op.regions, lambda region: self.print_region(region, print_empty_block=True))
            self._out.append(")")
        if attributes:
            self._out.append(" ")
            self.print_attr_dict(attributes)
        self._out.append(" : ")
        self.print_function_type(op.operand_types, op.result_types)

    def print_op_with_default_format(self, op: Operation) -> None:
        raise NotImplementedError("generic forms are printed by print_op")

    def print_operation_type(self, op: Operation) -> None:
        self.print_function_type(op.operand_types, op.result_types)

    # --- attributes ---------------------------------------------------------------------------------------------------

    def print_attribute(self, attribute: Attribute) -> None:
        show = TABLE.get(type(attribute))
        if show is not None:
            show(self, attribute)
        else:
            super().print_attribute(attribute)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        self._out.append("{")
        for i, (key, value) in enumerate(sorted(attr_dict.items())):
            if i:
                self._out.append(", ")
            self.print_identifier_or_string_literal(key)
            if not isinstance(value, UnitAttr):
                self._out.append(" = ")
                self.print_attribute(value)
        self._out.append("}")

    def print_op_attributes(
        self,
        attributes: Mapping[str, Attribute],
        *,
        reserved_attr_names: Iterable[str] = (),
        print_keyword: bool = False,
    ) -> bool:
        reserved = frozenset(reserved_attr_names)
        shown = {key: value for key, value in attributes.items() if key not in reserved}
        if not shown:
            return False
        self._out.append(" attributes " if print_keyword else " ")
        self.print_attr_dict(shown)
        return True

    def print_string_literal(self, string: str) -> None:
        self.print_bytes_literal(string.encode("utf-8", "surrogateescape"))

    def print_int(self, value: int, type: Any = None) -> None:
        self._out.append(str(value) if type is None else int_text(value, type))

    def print_float(self, value: float, type: Any) -> None:
        self._out.append(float_text(value, type))

    def alias(self, stem: str, attribute: Attribute, definition: str) -> str:
        """The `#stem`, `#stem1`, .. that stands for an attribute; its definition is printed above everything."""
        name = self._attribute_names.get(attribute)
        if name is None:
            lines = self._definitions.setdefault(stem, [])
            name = f"#{stem}{len(lines) or ''}"
            self._attribute_names[attribute] = name
            lines.append(f"{name} = {definition}")
        return name

    # --- locations ----------------------------------------------------------------------------------------------------

    def print_location(self, location: LocationAttr, *, inline: bool = False) -> None:
        """The location behind an op, or (`inline`, without its alias) behind a block argument."""
        if not self.print_debuginfo:
            return
        if inline and isinstance(location, FileLineColLoc):
            self._out.append(f" {attribute_text(location)}")
        else:
            self._out.append(f" loc({self._locations.names.get(location, '')})")


class _Locations(MlirPrinter):
    """Prints in order to see which locations are printed."""

    def __init__(self, *, generic: bool) -> None:
        super().__init__(generic=generic)
        self.met: list[tuple[LocationAttr, bool]] = []

    def print_op_without_results(self, op: Operation) -> None:
        self.met.append((op.location, False))
        super().print_op_without_results(op)

    def print_location(self, location: LocationAttr, *, inline: bool = False) -> None:
        if inline:
            self.met.append((location, True))


def attribute_text(attribute: Attribute) -> str:
    """An attribute or type as MLIR prints it where nothing has an alias."""
    printer = _Inline()
    printer.print_attribute(attribute)
    return printer.text()


class _Inline(MlirPrinter):
    def alias(self, stem: str, attribute: Attribute, definition: str) -> str:
        return definition
