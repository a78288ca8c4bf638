"""The MLIR reader: xDSL's parser with MLIR's positions, MLIR's words and the forms xDSL cannot read.

Positions: an op stands where its name stands (after `%x =`), as MLIR counts. A syntax error stands where the
last token ended when the next one is wrong, as in MLIR. What differs from op to op is not here but in
`dialects/upstream/`, one file per dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from xdsl.context import Context
from xdsl.dialects.builtin import FusedLoc, LocationAttr, ModuleOp, NoneAttr, StringAttr, UnknownLoc, UnregisteredOp
from xdsl.ir import Attribute, AttributeInvT, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from aiecc.ir.attr_reader import AttrReader
from aiecc.ir.lexer import Tok
from aiecc.ir.parse_words import UNREGISTERED, NotedParseError, show
from aiecc.ir.raw import parse_raw
from aiecc.ir.registry import WITHHELD, Syntax, is_opaque_dialect, known_dialect, op_syntax, withheld_by
from aiecc.ir.spans import file_location, position

Kind = MLIRTokenKind


class Reader(AttrReader):
    """Parses one text. Use it once; `text.parse` is the door."""

    def __init__(self, ctx: Context, text: str, file: str, *, allow_unregistered: bool, first_line: int) -> None:
        super().__init__(ctx, text, file, first_line=first_line)
        self.file = file
        self.filename = StringAttr(file)
        self.allow_unregistered = allow_unregistered
        self.name_end = 0
        self.bound_results = 0
        self.op_start: list[int] = []
        self._uses: dict[tuple[str, int], int] = {}
        self._settled: list[tuple[SSAValue, int]] = []
        self._definitions: dict[SSAValue, int] = {}
        self._aliases_ahead: dict[str, int] | None = None
        self._known_early: set[str] = set()

    # --- locations and aliases ----------------------------------------------------------------------------------------

    def alias(self, name: str) -> Attribute:
        """The attribute behind `#name` or `!name`, defined above or anywhere below."""
        found = self.attribute_aliases.get(name)
        if found is not None:
            return found
        if self._aliases_ahead is None:
            heads = re.finditer(r"^[ \t]*([#!][A-Za-z0-9_$-]+)[ \t]*=(?!=)", self.source, re.MULTILINE)
            self._aliases_ahead = {m.group(1): m.end() for m in heads}
        at = self._aliases_ahead.pop(name, None)
        if at is None:
            raise ParseError(self.here(self.wrong_token_at()), f"undefined symbol alias id '{name[1:]}'")
        back = self.token().start
        self.resume(at)
        self.attribute_aliases[name] = value = self.parse_attribute()
        self.resume(back)
        self._known_early.add(name)
        return value

    def _parse_alias_def(self) -> None:
        name = self.token().text
        start = self.token().start
        if "." in name:
            what = "attribute" if name[0] == "#" else "type"
            self.raise_error(f"{what} names with a '.' are reserved for dialect-defined names")
        self.advance()
        self.parse_punctuation("=", f" in {'attribute' if name[0] == '#' else 'type'} alias definition")
        if name in self._known_early:
            self._known_early.discard(name)
            self.parse_attribute()
            return
        if name in self.attribute_aliases:
            self.raise_error(
                f"redefinition of {'attribute' if name[0] == '#' else 'type'} alias id '{name[1:]}'", start
            )
        self.attribute_aliases[name] = self.parse_attribute() if name[0] == "#" else self.parse_type()

    def _parse_location(self) -> LocationAttr:
        token = self.token()
        if token.kind is Kind.HASH_IDENT and "." not in token.text:
            self.advance()
            found = self.alias(token.text)
            if not isinstance(found, LocationAttr):
                self.raise_error(f"expected location, but found '{token.text}'", token.span)
            return found
        if token.kind is Kind.BARE_IDENT and token.text == "fused":
            self.advance()
            metadata: Attribute = NoneAttr()
            if self.parse_optional_punctuation("<") is not None:
                metadata = self.parse_attribute()
                self.parse_punctuation(">")
            locations = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
            return FusedLoc(tuple(locations), metadata)
        return super()._parse_location()

    def parse_optional_location(self) -> LocationAttr | None:
        token = self.token()
        if token.kind is not Kind.BARE_IDENT or token.text != "loc":
            return None
        self.advance()
        self.parse_punctuation("(")
        location = self._parse_location()
        self.parse_punctuation(")")
        return location

    def parse_optional_argument(self, expect_type: bool = True) -> Any:
        argument = super().parse_optional_argument(cast(Literal[True], expect_type))
        if argument is not None and expect_type:
            argument.location = self.parse_optional_location()
        return argument

    # --- values -------------------------------------------------------------------------------------------------------

    def known_value(self, operand: UnresolvedOperand) -> SSAValue:
        """A value that is already defined, whatever its type."""
        values = self.ssa_values.get(operand.operand_name)
        if values is None:
            raise ParseError(operand.span, "use of undeclared SSA value name")
        if operand.index >= len(values):
            raise ParseError(operand.span, "reference to invalid result number")
        return values[operand.index]

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        name = operand.operand_name
        values = self.ssa_values.get(name)
        if values is None:
            references = self.forward_ssa_references.get(name)
            known = None if references is None else references.get(operand.index)
            if known is None:
                self._uses[name, operand.index] = operand.span.start
                return super().resolve_operand(operand, type)
        else:
            if operand.index >= len(values):
                raise ParseError(operand.span, "reference to invalid result number")
            known = values[operand.index]
        if known.type != type:
            prior = self._definitions.get(known, self._uses.get((name, operand.index), operand.span.start))
            raise NotedParseError(
                operand.span,
                f"use of value '%{name}' expects different type than prior uses: "
                f"'{show(type)}' vs '{show(known.type)}'",
                "prior use here",
                self.here(prior),
            )
        return cast("SSAValue[AttributeInvT]", known)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span[str]) -> None:
        known = self.ssa_values.get(name)
        if known is not None:
            prior = self.here(self._definitions.get(known[0], span.start)) if known else span
            raise NotedParseError(span, f"redefinition of SSA value '%{name}'", "previously defined here", prior)
        self.ssa_values[name] = tuple(values)
        for value in values:
            self._definitions[value] = span.start
        references = self.forward_ssa_references.pop(name, None)
        if not references:
            return
        for index, placeholder in references.items():
            used = self.here(self._uses.get((name, index), span.start))
            if index >= len(values):
                raise ParseError(used, "reference to invalid result number")
            value = values[index]
            if value.type != placeholder.type:
                raise NotedParseError(
                    span,
                    f"definition of SSA value '%{name}#{index}' has type '{show(value.type)}'",
                    f"previously used here with type '{show(placeholder.type)}'",
                    used,
                )
            placeholder.replace_all_uses_with(value)
            self._settled.append((placeholder, self._uses.get((name, index), span.start)))

    def undefined(self) -> list[int]:
        """Where the values stand that are used and nowhere defined, in the order of the text."""
        names = self.forward_ssa_references
        never = [at for (name, index), at in self._uses.items() if index in names.get(name, ())]
        # Defined in a region of the op that uses them: there was no op yet that could have been given the value.
        inside = [at for placeholder, at in self._settled if placeholder.first_use is not None]
        return sorted({*never, *inside})

    def _already_in_use(self, name: Span[str] | Span[bytes], prior: int) -> ParseError:
        text = f"region entry argument '{name.text}' is already in use"
        return NotedParseError(name, text, "previously referenced here", self.here(prior))

    def _parse_block(self) -> Block:
        label = self._current_token
        known = self.blocks.get(label.text[1:])
        # xDSL forgets where a block was defined that was used before, and takes a second definition for its first.
        if known is not None and known[1] is None and label.text[1:] not in self.forward_block_references:
            raise ParseError(label.span, f"redefinition of block '{label.text}'")
        return super()._parse_block()

    def _parse_optional_block_arg_list(self, block: Block) -> Block | None:
        found = super()._parse_optional_block_arg_list(block)
        for argument in block.args:
            if isinstance(argument.location, UnknownLoc):
                argument.location = file_location(self.filename, *self._lex.place(self._definitions[argument]))
        return found

    def parse_optional_region(self, arguments: Sequence[Parser.Argument] | None = None) -> Region | None:
        for argument in arguments or ():
            known = self.ssa_values.get(argument.name.text[1:])
            if known:
                raise self._already_in_use(argument.name, self._definitions[known[0]])
            if argument.location is None:
                argument.location = file_location(self.filename, *self._lex.place(argument.name.start))
        try:
            return super().parse_optional_region(arguments)
        except ParseError as error:
            known = self.ssa_values.get(error.span.text[1:]) if isinstance(error, NotedParseError) else None
            if known and arguments and any(argument.name.start == error.span.start for argument in arguments):
                raise self._already_in_use(error.span, self._definitions[known[0]]) from None
            references = getattr(error, "refs", None)
            if references and error.msg.startswith("region ends with missing block"):
                raise ParseError(references[0][0], "reference to an undefined block") from None
            if references and error.msg.startswith("re-declaration of block"):
                raise ParseError(error.span, f"redefinition of block '{error.span.text}'") from None
            raise

    # --- ops ----------------------------------------------------------------------------------------------------------

    def parse_operation(self) -> Operation:
        results = self._parse_op_result_list() if self.token().kind is Kind.PERCENT_IDENT else []
        token = self.token()
        start = token.start
        self.op_start.append(start)
        bound = self.bound_results = sum(size for _, size in results)
        stack = self._parser_state.dialect_stack
        if token.kind is Kind.BARE_IDENT:
            self.advance()
            self.name_end = token.end
            read, dialect = self._custom(token)
            stack.append(dialect)
            op = read(self)
            location = self.parse_optional_location()
        elif token.kind is Kind.STRING_LIT:
            name = self.parse_str_literal()
            op_type = self._generic(name, token)
            stack.append(Dialect.split_name(name)[0] if "." in name else "builtin")
            op = self._parse_generic_operation(op_type)
            location = op.location
        else:
            self.raise_error("expected operation name in quotes")
        stack.pop()
        self.op_start.pop()
        if location is None or isinstance(location, UnknownLoc) or position(location) is None:
            line, col = self._lex.place(start)
            location = file_location(self.filename, line, col)
        op.location = location
        for region in op.regions:  # what the text leaves out, or says in older words, stands where its op stands
            for block in region.blocks:
                first, last = block.first_op, block.last_op
                if first is not None and isinstance(first.location, UnknownLoc):
                    for inner in block.ops:
                        if isinstance(inner.location, UnknownLoc):
                            inner.location = location
                elif last is not None and isinstance(last.location, UnknownLoc):
                    last.location = location
        if bound:
            self._bind(op, results, bound)
        return op

    def _bind(self, op: Operation, results: list[tuple[Span[str], int]], bound: int) -> None:
        values = op.results
        if len(values) != bound:
            self.raise_error(f"operation defines {len(values)} results but was provided {bound} to bind", results[0][0])
        first = 0
        for span, size in results:
            self._register_ssa_definition(span.text[1:], values[first : first + size], span)
            first += size

    def _custom(self, token: Tok) -> tuple[Callable[[Any], Operation], str]:
        name = token.text
        found = self._find(name)
        if found is not None:
            syntax, full = found
            dialect = Dialect.split_name(full)[0]
            if syntax.parse is not None:
                return syntax.parse, dialect
            if is_opaque_dialect(dialect):
                return (lambda reader: parse_raw(reader, full)), dialect
            raise ParseError(token.span, f"'{full}' op has no custom form; write it in the generic form")
        dialect, dot, _ = name.partition(".")
        if dot and is_opaque_dialect(dialect):
            return (lambda reader: parse_raw(reader, name)), dialect
        if dot and not known_dialect(dialect):
            self._not_withheld(dialect, name, token)
            raise ParseError(token.span, f"Dialect `{dialect}' not found for custom op '{name}'")
        tried = "" if dot else f" (tried '{self._parser_state.dialect_stack[-1]}.{name}' as well)"
        raise ParseError(token.span, f"custom op '{name}' is unknown{tried}")

    def _find(self, name: str) -> tuple[Syntax, str] | None:
        if "." in name:
            found = op_syntax(self.ctx, name)
            if found is not None:
                return found, name
        for dialect in reversed(self._parser_state.dialect_stack):
            full = f"{dialect}.{name}"
            found = op_syntax(self.ctx, full)
            if found is not None:
                return found, full
        # The dialect MLIR allows to leave out everywhere, for the sake of older texts.
        return (syntax, "func.func") if name == "func" and (syntax := op_syntax(self.ctx, "func.func")) else None

    def knows_op(self, name: str) -> bool:
        return self._find(name) is not None

    def _not_withheld(self, dialect: str, op: str, token: Tok) -> None:
        """Ops of a plugin of ours that was left out are refused, even where unregistered ones pass."""
        plugin = withheld_by(dialect)
        if plugin:
            text = WITHHELD.format(f"'{op}'", dialect, plugin)
            raise ParseError(token.span, text)

    def _generic(self, name: str, token: Tok) -> type[Operation]:
        found = op_syntax(self.ctx, name)
        if found is not None:
            return found.cls
        dialect = name.partition(".")[0]
        self._not_withheld(dialect, name, token)
        if not self.allow_unregistered and not is_opaque_dialect(dialect):
            if known_dialect(dialect):
                raise ParseError(token.span, f"unregistered operation '{name}' found in dialect ('{dialect}')")
            raise ParseError(self.here(token.end), UNREGISTERED)
        return UnregisteredOp.with_name(name)

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        arguments = self.parse_op_args_list()
        successors = self.parse_optional_successors() or []
        properties = self.parse_optional_properties_dict()
        regions = self.parse_region_list()
        attributes = self.parse_optional_attr_dict()
        self.parse_punctuation(":", " followed by operation type")
        at = self.token().start
        function_type = self.parse_function_type()
        location = self.parse_optional_location()
        wanted = function_type.inputs.data
        if len(wanted) != len(arguments):
            self.raise_error(f"expected {len(arguments)} operand types but had {len(wanted)}", at)
        operands = [self.resolve_operand(value, type) for value, type in zip(arguments, wanted, strict=True)]
        if issubclass(op_type, IRDLOperation):
            for name in op_type.get_irdl_definition().properties:
                if name in attributes and name not in properties:
                    properties[name] = attributes.pop(name)
        return op_type.create(
            operands=operands,
            result_types=function_type.outputs.data,
            properties=properties,
            attributes=attributes,
            location=location,
            successors=successors,
            regions=regions,
        )

    def parse_top(self) -> ModuleOp:
        """The whole text: one module, or ops that are put into one."""
        ops: list[Operation] = []
        while (token := self.token()).kind is not Kind.EOF:
            if token.kind is Kind.HASH_IDENT or token.kind is Kind.EXCLAMATION_IDENT:
                self._parse_alias_def()
            elif token.kind is Kind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            else:
                ops.append(self.parse_operation())
        if len(ops) == 1 and isinstance(ops[0], ModuleOp):
            return ops[0]
        module = ModuleOp(Region(Block(ops)))
        module.location = file_location(self.filename, *self._lex.place(0))
        return module


def verify_error(reader: Reader, error: VerifyException) -> ParseError:
    """A constraint that failed while an op was being read, at that op."""
    at = reader.op_start[-1] if reader.op_start else reader.token().start
    return ParseError(reader.here(at), str(error))
