"""MLIR text in and out: the door of this room.

`parse` reads a text, `print_module` prints one as MLIR does, `load` and `dump` go between the IR and the
`Module` values that stages hand to one another, with the user's positions kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from aiecc.base.collector import paused
from aiecc.base.diag import Diagnostic, Level, Note, Refused
from aiecc.base.spans import Span
from aiecc.ir.printer import MlirPrinter
from aiecc.ir.reader import NotedParseError, Reader, verify_error
from aiecc.ir.registry import context
from aiecc.ir.spans import set_spans, spans_of
from aiecc.model.artifact import Module

CODE = "E0002"

# xDSL's context loads dialects while it parses; parsing is not faster in several threads anyway.
_lock = threading.RLock()


def parse(text: str, file: str, *, allow_unregistered: bool = True, first_line: int = 1) -> ModuleOp:
    """Read one MLIR text; every op gets its place in it (`spans.span_of`).

    A text without `module` is put into one. `first_line` is the number of the text's first line in the file.
    Raises Refused with one diagnostic (E0002) at the user's position when it is not MLIR.
    """
    with _lock, paused():
        return _parse(text, file, allow_unregistered, first_line)


def _parse(text: str, file: str, allow_unregistered: bool, first_line: int) -> ModuleOp:
    reader: Reader | None = None
    try:
        reader = Reader(context(), text, file, allow_unregistered=allow_unregistered, first_line=first_line)
        module = reader.parse_top()
        lost = [_at(reader, "use of undeclared SSA value name", pos) for pos in reader.undefined()]
        if lost:
            raise Refused(*lost)
        return module
    except ParseError as error:
        raise Refused(_diagnostic(error, text, file, first_line)) from None
    except VerifyException as error:
        assert reader is not None
        raise Refused(_diagnostic(verify_error(reader, error), text, file, first_line)) from None
    except RecursionError:
        assert reader is not None
        raise Refused(_at(reader, "nested too deeply to be read")) from None
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        NotImplementedError,
        TypeError,
        ValueError,
    ) as e:
        # xDSL's parsers meet texts their authors did not think of; the user still learns where.
        if reader is None:
            raise
        raise Refused(_at(reader, f"cannot be read ({type(e).__name__}: {e})")) from e


def _diagnostic(error: ParseError, text: str, file: str, first_line: int) -> Diagnostic:
    from aiecc.ir.lexer import FastLexer

    lexer = FastLexer(text, file, first_line)

    def span(pos: int) -> Span:
        line, col = lexer.place(min(pos, len(text)))
        return Span(file, line, col)

    notes: tuple[Note, ...] = ()
    if isinstance(error, NotedParseError):
        notes = (Note(error.note, span(error.note_at.start)),)
    return Diagnostic(Level.ERROR, error.msg, span(error.span.start), CODE, notes)


def _at(reader: Reader, text: str, pos: int | None = None) -> Diagnostic:
    """An error at a place of the text, or at the op that is being read."""
    if pos is None:
        pos = reader.op_start[-1] if reader.op_start else reader.token().start
    return Diagnostic(Level.ERROR, text, reader.file_span(pos), CODE)


def print_module(op: Operation, *, generic: bool = False, debuginfo: bool = False) -> str:
    """The text of an op as MLIR prints it, without a final newline."""
    printer = MlirPrinter(generic=generic, debuginfo=debuginfo)
    printer.print_top(op)
    return printer.text()


# --- modules as values ------------------------------------------------------------------------------------------------

# The last modules, by text and positions. A driver run needs a handful; each costs about a kilobyte per op.
_KEEP = 32
_loaded: OrderedDict[Module, ModuleOp] = OrderedDict()


def load(module: Module) -> ModuleOp:
    """The IR of a module. Shared with everybody who asks for an equal one: do not change it, `thaw` it."""
    with _lock:
        found = _loaded.get(module)
        if found is None:
            found = _parse(module.text, module.file or "<module>", True, 1)
            if not module.file:
                set_spans(found, module.spans)
            _remember(module, found)
        else:
            _loaded.move_to_end(module)
        return found


def thaw(module: Module) -> ModuleOp:
    """A copy of a module's IR that may be changed; positions included."""
    with paused():
        return load(module).clone()


def dump(op: ModuleOp) -> Module:
    """The value of a module: its text and the user's position of each op.

    The op itself is kept for `load`, so do not change it afterwards.
    """
    with paused():
        module = Module(print_module(op) + "\n", spans_of(op))
    with _lock:
        _remember(module, op)
    return module


def _remember(module: Module, op: ModuleOp) -> None:
    _loaded[module] = op
    _loaded.move_to_end(module)
    while len(_loaded) > _KEEP:
        _loaded.popitem(last=False)
