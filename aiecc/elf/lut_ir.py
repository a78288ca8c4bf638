"""Just enough of an LLVM module to walk from a gather back to its tables.

Reads type definitions, globals, and in functions the handful of instructions that carry a table's address. Any
other instruction, and whatever does not parse, becomes `opaque`: an answer nobody trusts, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aiecc.elf.llvm_text import (
    CASTS,
    OPAQUE_TYPE,
    OTHER,
    Cursor,
    Instruction,
    NotIr,
    Type,
    Value,
    split,
    try_tokens,
    unquoted,
)


@dataclass(slots=True)
class Function:
    """A definition. `parameters`: number by local name; `pointers`: which of them are pointers."""

    name: str
    parameters: dict[str, int] = field(default_factory=dict[str, int])
    pointers: set[int] = field(default_factory=set[int])
    values: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    calls: list[Instruction] = field(default_factory=list[Instruction])


@dataclass(slots=True)
class IrModule:
    """`globals`: size in bytes of each variable's type (0: unknown). `functions`: definitions in order."""

    globals: dict[str, int] = field(default_factory=dict[str, int])
    functions: list[Function] = field(default_factory=list[Function])


def parse(text: str) -> IrModule:
    """Read a module. Lines that do not parse are opaque."""
    return _Reader(text).module()


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._types: dict[str, list[str]] = {}
        self._known: dict[str, Type] = {}

    def module(self) -> IrModule:
        module = IrModule()
        globals_: list[list[str]] = []
        for line in self._lines:
            if line.startswith("%") and "= type" in line:
                tokens = try_tokens(line)
                if len(tokens) > 3:
                    self._types[tokens[0]] = tokens[3:]
            elif line.startswith("@"):
                globals_.append(try_tokens(line))
        for tokens in globals_:
            self._global(module, tokens)
        function: Function | None = None
        for line in self._joined():
            if line.startswith("define "):
                function = self._header(line)
                module.functions.append(function)
            elif line.startswith("}"):
                function = None
            elif function is not None:
                self._body(function, line)
        return module

    def _joined(self) -> Iterator[str]:
        """Lines, those whose brackets stay open glued to what follows (a header or call may be wrapped)."""
        pending = ""
        for line in self._lines:
            plain = line.split(";", 1)[0] if '"' not in line else line
            pending = f"{pending} {plain}" if pending else plain
            if pending.count("(") > pending.count(")") and '"' not in pending:
                continue
            yield pending
            pending = ""
        if pending:
            yield pending

    def _global(self, module: IrModule, tokens: Sequence[str]) -> None:
        if len(tokens) < 4 or tokens[1] != "=":
            return
        for i, word in enumerate(tokens):
            if word in ("global", "constant"):
                try:
                    size = Cursor(self.named_type, tokens[i + 1 :]).type().size
                except (NotIr, RecursionError):
                    size = 0
                module.globals[unquoted(tokens[0])] = size
                return

    def _header(self, line: str) -> Function:
        tokens = try_tokens(line)
        at = next((i for i, t in enumerate(tokens) if t.startswith("@") and tokens[i + 1 : i + 2] == ["("]), None)
        if at is None:
            return Function("?")
        function = Function(unquoted(tokens[at]))
        implicit = 0
        for number, argument in enumerate(split(tokens, at + 1)):
            if argument[:1] == ["..."]:
                continue
            if argument[0] == "ptr" or "*" in argument:
                function.pointers.add(number)
            if argument[-1].startswith("%") and len(argument) > 1:
                name = unquoted(argument[-1])
            else:
                name, implicit = str(implicit), implicit + 1
            if name.isdigit() and argument[-1].startswith("%"):
                implicit = int(name) + 1
            function.parameters[name] = number
        return function

    def _body(self, function: Function, line: str) -> None:
        tokens = try_tokens(line)
        if not tokens:
            return
        result = None
        if len(tokens) > 2 and tokens[0].startswith("%") and tokens[1] == "=":
            result, tokens = unquoted(tokens[0]), tokens[2:]
        try:
            instruction = self._instruction(tokens)
        except (NotIr, RecursionError):
            instruction = Instruction("opaque")
        if result is not None:
            function.values[result] = instruction
        if instruction.op == "call":
            function.calls.append(instruction)

    def _instruction(self, tokens: Sequence[str]) -> Instruction:
        op = tokens[0]
        if op in ("call", "tail", "musttail", "notail"):
            return self._call(tokens)
        cursor = Cursor(self.named_type, tokens)
        cursor.take()
        if op in CASTS:
            cursor.skip("nneg", "nuw", "nsw")
            cursor.type()
            return Instruction(op, (cursor.value(),))
        if op == "add":
            cursor.skip("nuw", "nsw")
            cursor.type()
            first = cursor.value()
            cursor.expect(",")
            return Instruction(op, (first, cursor.value()))
        if op in ("shufflevector", "insertelement"):
            kind = cursor.type()
            operands = [cursor.value()]
            while cursor.peek() == ",":
                cursor.take()
                if cursor.peek() == "!":
                    break
                operands.append(cursor.typed())
            return Instruction(op, tuple(operands), type=kind)
        if op == "getelementptr":
            return cursor.element_pointer()
        if op == "alloca":
            cursor.skip("inalloca", "swifterror")
            return Instruction(op, type=cursor.type())
        if op in ("phi", "select"):
            return Instruction(op)
        return Instruction("opaque")

    def _call(self, tokens: Sequence[str]) -> Instruction:
        at = next((i for i, t in enumerate(tokens) if t.startswith("@") and tokens[i + 1 : i + 2] == ["("]), None)
        if at is None:
            return Instruction("opaque")
        operands: list[Value] = []
        for argument in split(tokens, at + 1):
            try:
                operands.append(Cursor(self.named_type, argument).argument())
            except NotIr:
                operands.append(OTHER)
        return Instruction("call", tuple(operands), callee=unquoted(tokens[at]))

    def named_type(self, name: str) -> Type:
        if name not in self._known:
            # A structure that names itself (through memory it points to) has no size of its own here.
            self._known[name] = OPAQUE_TYPE
            tokens = self._types.get(name)
            if tokens:
                self._known[name] = Cursor(self.named_type, tokens).type()
        return self._known[name]
