"""`aiecc-opt`: reads MLIR, runs passes by their upstream names, prints MLIR. Mirrors `aie-opt` and `mlir-opt`.

The order of passes on the command line is the order they run in, which is why the arguments are read here and not
by a library that sorts options by name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from aiecc.base.codes import Exit
from aiecc.base.diag import Diagnostic, Refused, Sink, refuse, render
from aiecc.base.spans import Span
from aiecc.cli.additions import invited
from aiecc.cli.excerpt import Excerpts

if TYPE_CHECKING:
    from aiecc.ir.passes.base import Pass
    from aiecc.ir.pipeline import Nest, Watch


def _assign_buffers() -> type[Pass]:
    from aiecc.stages.assign_buffers import AssignBufferAddresses

    return AssignBufferAddresses


# Passes of higher floors, by name, with functions that give their classes.
EXTRA_PASSES: dict[str, Callable[[], type[Pass]]] = {"aie-assign-buffer-addresses": _assign_buffers}

_STDIN = "-"
_MARKER = "// -----"

# Options with a value, and switches; names without dashes. The silent ones change nothing here.
_VALUES = {"o": "output", "pass-pipeline": "pipeline", "p": "plugin", "output-split-marker": "joint"}
_SWITCHES = {
    "allow-unregistered-dialect": "unregistered",
    "mlir-print-debuginfo": "debuginfo",
    "mlir-print-op-generic": "generic",
    "mlir-print-ir-before-all": "dump_before",
    "mlir-print-ir-after-all": "dump_after",
    "verify-each": "verify_each",
    "help": "help",
    "h": "help",
    "help-list": "help",
    "version": "version",
    "show-dialects": "dialects",
}
_TRUE, _FALSE = ("", "true", "1"), ("false", "0")
_EXPECT = {"": "all", "true": "all", "1": "all", "all": "all", "only-expected": "only-expected", "false": "", "0": ""}
_SILENT = frozenset(
    (
        "mlir-disable-threading",
        "mlir-print-op-on-diagnostic",
        "mlir-print-stacktrace-on-diagnostic",
        "mlir-print-local-scope",
        "no-implicit-module",
    )
)

_USAGE = """usage: aiecc-opt [options] [FILE]

Read MLIR (FILE, or standard input), run passes in the given order, print MLIR.

  -o FILE                       where to write; default: standard output
  --pass-pipeline=TEXT          builtin.module(aie.device(pass{option=value},..),..)
  --split-input-file[=MARKER]   treat the parts between markers as files of their own; default: '// -----'
  --output-split-marker=MARKER  what is printed between the parts; default: '// -----'
  --verify-diagnostics[=all|only-expected]
                                check 'expected-error {{..}}' comments instead of failing on errors
  --allow-unregistered-dialect  take the generic form of ops of any dialect
  --mlir-print-debuginfo        print locations
  --mlir-print-op-generic       print the generic form
  --mlir-print-ir-before-all    show the IR before every pass, on standard error
  --mlir-print-ir-after-all     show the IR after every pass, on standard error
  --verify-each=BOOL            verify after every pass; default: true
  -p MODULE|FILE.py             load a plugin (dialects, passes)
  --show-dialects               list the dialects

passes (--NAME or --NAME="option=value ..."):
"""


@dataclass(slots=True)
class Request:
    """What the command line asks for."""

    file: str = _STDIN
    output: str = _STDIN
    pipeline: str = ""
    plugins: list[str] = field(default_factory=list[str])
    passes: list[tuple[str, str]] = field(default_factory=list["tuple[str, str]"])
    split: str = ""
    joint: str = _MARKER
    expect: str = ""
    unregistered: bool = False
    debuginfo: bool = False
    generic: bool = False
    dump_before: bool = False
    dump_after: bool = False
    verify_each: bool = True
    help: bool = False
    version: bool = False
    dialects: bool = False


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """The command. Ends the process with one of the exit codes of `aiecc.base.codes`."""
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(argv: Sequence[str]) -> int:
    """As `main`, but returns the exit code."""
    try:
        return _run(read_arguments(argv))
    except Refused as refused:
        for diagnostic in refused.diagnostics:
            print(render(diagnostic), file=sys.stderr)
        usage = any(d.code in ("E0901", "E0902") for d in refused.diagnostics)
        return Exit.USAGE if usage else Exit.REFUSED
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return Exit.OK
    except RecursionError:
        print("error: the input is nested too deeply", file=sys.stderr)
        return Exit.REFUSED
    except Exception as error:  # the user gets a sentence, never a traceback
        print(f"error: aiecc-opt itself failed, please report it: {type(error).__name__}: {error}", file=sys.stderr)
        return Exit.BUG


# --- the command line -------------------------------------------------------------------------------------------------


def read_arguments(argv: Sequence[str]) -> Request:
    """The request of a command line in LLVM's style: one dash or two, `=value` or the next word."""
    request = Request()
    files: list[str] = []
    rest = iter(argv)
    for token in rest:
        if token == _STDIN or not token.startswith("-"):
            files.append(token)
            continue
        name, equals, value = token.lstrip("-").partition("=")
        if token == "--":
            files.extend(rest)
        elif name in _VALUES:
            if not equals:
                value = next(rest, None)
                if value is None:
                    refuse(f"{token}: requires a value!", code="E0901")
            if name == "p":
                request.plugins.append(value)
            else:
                setattr(request, _VALUES[name], value)
        elif name == "split-input-file":
            request.split = _marker(value)
        elif name == "verify-diagnostics":
            if value not in _EXPECT:
                refuse(f"{token}: Cannot find option named '{value}'!", code="E0901", todo="say all or only-expected")
            request.expect = _EXPECT[value]
        elif name in _SWITCHES:
            setattr(request, _SWITCHES[name], _truth(token, value))
        elif name not in _SILENT:
            request.passes.append((name, value))
    if len(files) > 1:
        refuse("Too many positional arguments specified!", code="E0901", todo="aiecc-opt reads one file")
    request.file = files[0] if files else _STDIN
    if request.pipeline and request.passes:
        refuse("'-pass-pipeline' option can't be used with individual pass options", code="E0901")
    return request


def _truth(token: str, value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        refuse(f"{token}: '{value}' is invalid value for boolean argument! Try 0 or 1", code="E0901")
    return value.lower() in _TRUE


def _marker(value: str) -> str:
    """What parts a text; empty when nothing does."""
    if value.lower() in _FALSE:
        return ""
    return _MARKER if value.lower() in _TRUE else value


def _pipeline(request: Request) -> Nest:
    from aiecc.ir.passes.base import MODULE
    from aiecc.ir.pipeline import Nest, make_pass, parse_pipeline
    from aiecc.ir.registry import find_pass, pass_names

    if request.pipeline:
        return parse_pipeline(request.pipeline)
    for name, _ in request.passes:
        if find_pass(name) is None:
            from aiecc.base.nearest import nearest

            others = ("split-input-file", "verify-diagnostics", *_VALUES, *_SWITCHES)
            close = nearest(name, [*pass_names(), *others])
            todo = f"did you mean '--{close}'?" if close else f"the passes are: {', '.join(pass_names())}"
            refuse(f"Unknown command line argument '--{name}'.", code="E0901", todo=todo)
    return Nest(MODULE, tuple(make_pass(name, _unquoted(options)) for name, options in request.passes))


def _unquoted(options: str) -> str:
    """Options may come with braces or quotes around them."""
    inner = options.strip()
    return inner[1:-1] if len(inner) > 1 and inner[0] + inner[-1] in ('""', "''", "{}") else inner


def _help() -> str:
    import dataclasses

    from aiecc.ir.passes.base import option_name
    from aiecc.ir.registry import find_pass, pass_names

    lines = [_USAGE.rstrip("\n")]
    for name in pass_names():
        cls = find_pass(name)
        if cls is None:
            continue
        lines.append(f"  --{name:<42} {cls.summary}".rstrip())
        for one in dataclasses.fields(cls):
            words = one.metadata.get("help", "")
            lines.append(f"      {option_name(one)}=.. {words} (default: {one.default})")
    return "\n".join(lines) + "\n"


# --- running ----------------------------------------------------------------------------------------------------------


def _run(request: Request) -> int:
    from aiecc.ir.registry import dialect_names, register_pass

    for name, factory in EXTRA_PASSES.items():
        register_pass(name, factory)
    invited(request.plugins)
    if request.help or request.version or request.dialects:
        from aiecc import __version__

        text = _help() if request.help else f"aiecc-opt {__version__}\n"
        sys.stdout.write("\n".join(dialect_names()) + "\n" if request.dialects and not request.help else text)
        return Exit.OK
    pipeline = _pipeline(request)
    name = "<stdin>" if request.file == _STDIN else request.file
    text = _read(request.file)
    excerpts = Excerpts(name, text)
    outputs: list[str] = []
    good = True
    for line, part in _parts(text, request.split):
        said, printed = _one(request, pipeline, part, name, line)
        outputs.append(printed or "")
        if request.expect:
            good &= _expected(request, part, name, line, said, excerpts)
        else:
            good &= printed is not None
            for diagnostic in said:
                print(render(diagnostic, excerpts), file=sys.stderr)
    if good or request.output == _STDIN:
        _write(request.output, f"{request.joint}\n".join(outputs))
    return Exit.OK if good else Exit.REFUSED


def _one(request: Request, pipeline: Nest, text: str, name: str, line: int) -> tuple[list[Diagnostic], str | None]:
    """One part of the input: what was said, and what it became (None when something went wrong)."""
    from aiecc.ir.pipeline import run as run_passes
    from aiecc.ir.text import parse, print_module
    from aiecc.ir.verify import verify

    try:
        module = parse(text, name, allow_unregistered=request.unregistered, first_line=line)
    except Refused as refused:
        return list(refused.diagnostics), None
    sink = Sink(verify(module, first_only=True))
    watch = _dumper(request) if request.dump_before or request.dump_after else None
    if sink.failed or not run_passes(pipeline, module, sink, verify_each=request.verify_each, watch=watch):
        return sink.items, None
    return sink.items, print_module(module, generic=request.generic, debuginfo=request.debuginfo) + "\n\n"


def _dumper(request: Request) -> Watch:
    """Shows the op a pass runs on, under MLIR's headings."""
    from aiecc.ir.text import print_module

    titles = {"before": "Before {}", "after": "After {}", "failed": "After {} Failed"}

    def show(when: str, step: Pass, op: Any) -> None:
        if request.dump_before if when == "before" else request.dump_after:
            text = print_module(op, generic=request.generic, debuginfo=request.debuginfo)
            blank = "\n" if op.name == "builtin.module" else ""
            title = titles[when].format(type(step).__name__)
            print(f"// -----// IR Dump {title} ({step.name}) //----- //\n{text}\n{blank}", file=sys.stderr)

    return show


def _expected(
    request: Request, text: str, name: str, line: int, diagnostics: list[Diagnostic], excerpts: Excerpts
) -> bool:
    from aiecc.cli.expect import check

    wrong = check(text, name, diagnostics, line, only_expected=request.expect == "only-expected")
    for one in wrong:
        at: Span | str = one.where if one.where is not None else name
        print(f"{at}: {one.kind}: {one.text}", file=sys.stderr)
        shown = excerpts(one.where) if one.where is not None else None
        if shown is not None:
            print(shown, file=sys.stderr)
    return not wrong


def _parts(text: str, marker: str) -> Iterator[tuple[int, str]]:
    """The parts of the input, each with the number of its first line.

    A marker counts wherever it stands, as in MLIR, unless it goes on with its last character: then it is a rule drawn
    across the page. What follows a marker on its line belongs to the next part, in its column.
    """
    if not marker:
        yield 1, text
        return
    start, line, indent = 0, 1, 0
    for found in re.finditer(f"{re.escape(marker)}(?!{re.escape(marker[-1])})", text):
        yield line, " " * indent + text[start : found.start()]
        line += text.count("\n", start, found.end())
        start = found.end()
        indent = start - (text.rfind("\n", 0, start) + 1)
    yield line, " " * indent + text[start:]


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
    except OSError as error:
        refuse(f"cannot open input file '{file}': {error.strerror}", code="E0001")
    try:
        return data.decode()
    except UnicodeDecodeError:
        refuse(f"'{file}' is not a text file", code="E0001")


def _write(output: str, text: str) -> None:
    if output == _STDIN:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(output).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        refuse(f"cannot open output file '{output}': {error.strerror}", code="E0903")


if __name__ == "__main__":
    main()
