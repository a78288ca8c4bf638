"""`aiecc design.mlir`: build what was asked for, say what is wrong, end with the figures."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiecc.base.codes import Exit
from aiecc.base.diag import Note, refuse
from aiecc.base.ours import OURS
from aiecc.cli.additions import additions, invited
from aiecc.cli.flags import SELECTORS, STAGE_OPTIONS, Additions, DriverOptions, default_jobs, refuse_later

if TYPE_CHECKING:
    from aiecc.api import Request
    from aiecc.engine.plugins import Plugins


@dataclass(frozen=True)
class Asked:
    """A command line of the driver, understood."""

    source: str
    driver: DriverOptions
    options: tuple[Any, ...]


def run(args: Sequence[str]) -> int:
    """Build. Returns the exit code; refusals are raised."""
    if _wants_help(args):
        from aiecc.cli.help import driver_help

        print(driver_help(_plugin_requests(args)))
        return Exit.OK
    named = any(word.lstrip("-").startswith(each.name) for word in args for each in OURS)
    plugins = invited(_plugin_requests(args), ours=named)
    more = additions(plugins) if plugins is not None else Additions()
    asked = _understood(args, more)
    if asked.driver.emit_dot:
        return _emit_dot(asked, plugins)
    text = _read(asked.source)
    from aiecc.cli import fast

    quick = None if _must_run(asked) else fast.key(asked.options, asked.driver, asked.source, plugins)
    if quick is not None and fast.replay(_work(asked), quick):
        return Exit.OK
    from aiecc.cli.build import build

    return build(asked, text, plugins, quick)


def _wants_help(args: Sequence[str]) -> bool:
    before = args[: args.index("--")] if "--" in args else args
    return any(a in ("--help", "-help", "-h") for a in before)


def _plugin_requests(args: Sequence[str]) -> list[str]:
    """The values of `-p`, before anything else is understood: plugins bring options."""
    found: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in ("-p", "--plugin", "-plugin"):
            found.append(value if equals else next(words, ""))
    return found


def _understood(args: Sequence[str], more: Additions) -> Asked:
    from aiecc.cli.parse import parse_command
    from aiecc.engine.options import options_of

    classes = (*STAGE_OPTIONS, *more.options)
    known = {flag for cls in (DriverOptions, *classes) for spec in options_of(cls) for flag in spec.flags}
    known |= {f"--get-{word}" for word in more.selectors}
    for word in args:
        if "\0" in word:
            refuse(f"aiecc: {word!r}: a command line has no NUL characters", code="E0901")
        if word == "--":
            break
        if word.startswith("-"):
            refuse_later(word, known)
    parsed = parse_command("aiecc", args, (DriverOptions, *classes), short={**SELECTORS, **more.selectors})
    driver = parsed.options[DriverOptions]
    if len(parsed.words) > 1:
        refuse(
            "aiecc: only one input MLIR file is allowed before '--'; "
            "pass host source files and host-compiler flags after '--'",
            code="E0901",
        )
    if parsed.rest:
        refuse("aiecc: words after '--' belong to host programs, which this version does not build yet", code="E0901")
    if not parsed.words and not driver.emit_dot:
        refuse("aiecc: no input file specified; expected an input .mlir", code="E0901")
    names = tuple(n.strip() for group in driver.get for n in group.split(",") if n.strip())
    driver = replace(driver, get=names, nthreads=driver.nthreads or default_jobs())
    _refuse_combinations(parsed.options)
    return Asked(parsed.words[0] if parsed.words else "", driver, tuple(parsed.options[c] for c in classes))


def _refuse_combinations(options: dict[type, Any]) -> None:
    from aiecc.choices import CheckOptions, ToolchainOptions

    chain: ToolchainOptions = options[ToolchainOptions]
    if options[CheckOptions].lut_banks and (chain.xchesscc or chain.xbridge or chain.toolchain == "chess"):
        refuse(
            "aiecc: --check-lut-banks requires Peano compilation and linking; it cannot verify Chess LLVM IR",
            code="E0901",
        )
    for option, folder in (("--peano", chain.peano), ("--aietools", chain.aietools)):
        if folder and not Path(folder).is_dir():
            refuse(f"aiecc: {option} directory does not exist: {folder}", code="E0901")


def _must_run(asked: Asked) -> bool:
    """Options whose output is about the build itself, so that there must be one."""
    d = asked.driver
    return d.verbose or d.dump_intermediates or d.print_commands or d.dry_run or d.profile


def _read(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as problem:
        reason = "it is a directory" if os.path.isdir(path) else problem.strerror or str(problem)  # noqa: PTH112
        refuse(f"aiecc: could not open input file '{path}'", code="E0001", notes=(Note(reason),))
    except ValueError as problem:
        refuse(f"aiecc: could not open input file {path!r}", code="E0001", notes=(Note(str(problem)),))
    if not data.strip():
        refuse(f"aiecc: input file '{path}' is empty; expected MLIR containing an aie.device", code="E0001")
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        refuse(
            f"aiecc: input file '{path}' is not MLIR text: byte {problem.start} is not UTF-8",
            code="E0001",
        )
    if "\0" in text:
        at = text.index("\0")
        refuse(f"aiecc: input file '{path}' is not MLIR text: byte {at} is a NUL", code="E0001")
    return text


def _work(asked: Asked) -> Path:
    """The work folder: `<input name>.prj` in the current folder, unless the user says otherwise."""
    if asked.driver.tmpdir:
        return Path(asked.driver.tmpdir).absolute()
    return Path.cwd() / f"{Path(asked.source).name}.prj"


def request_of(asked: Asked, text: str) -> Request:
    """What the command line asks of the builder."""
    from aiecc.api import Request, Source

    d = asked.driver
    return Request(
        source=Source(asked.source, text),
        work=_work(asked),
        output=Path(d.output_dir),
        get=d.get,
        options=asked.options,
        jobs=d.nthreads,
        device=d.device_name,
        sequence=d.sequence_name,
        dump=d.dump_intermediates,
        names={"insts_{0}.bin": d.npu_insts_name} if d.npu_insts_name else {},
    )


def _emit_dot(asked: Asked, plugins: Plugins | None) -> int:
    """Print the graph behind what was asked for; no input is needed and nothing is built."""
    import tempfile

    from aiecc.api import Session, load_plugins

    with tempfile.TemporaryDirectory() as folder:
        request = replace(request_of(asked, ""), work=Path(folder))
        session = Session(plugins or load_plugins(), request)
        print(session.engine.graph.dot(session.artifacts), end="")
    return Exit.OK
