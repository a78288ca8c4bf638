"""`aiecc simulate`: run a design on the array model, lowered first where it has objectFifos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiecc.base.codes import Exit
from aiecc.base.diag import refuse
from aiecc.engine.options import option, options

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

USAGE = """usage: aiecc simulate DESIGN.mlir [--in NAME=FILE ...] [--out NAME=FILE|BYTES ...] [options]
       aiecc simulate DESIGN.mlir [--seq NAME] --arg N=FILE ... [--arg-out N=FILE ...] [options]

Runs a design (tiles, buffers, locks, DMA programs, flows, cores; objectFifos are lowered first) on this machine and
says how it ended: finished, stuck (who waits for what, and where), or trapped at something hardware would hide.
With --arg or --seq a runtime sequence of the design is the host: it is lowered to the words the NPU gets, and those
run; else the shim ends are fed and drained from here.

  --seq NAME          which runtime sequence (the first)
  --arg N=FILE        argument N of the sequence, from 0: read from FILE if there is one, and written back to it when
                      the sequence has written it. Without FILE it holds what its type says, and nothing at first
  --arg-out N=FILE    where to write argument N instead
  --in NAME=FILE      what goes into a shim end (or what a buffer holds at first): .npy, or any file as it is
  --out NAME=BYTES    how many bytes have to come out of a shim end
  --out NAME=FILE     where to write what came out: .npy of --dtype, or any file for the bare bytes
  --kernels FILE.py   Python functions in place of external kernels, by name
  --dtype TYPE        element type of .npy outputs (that of the fifo or argument, else int32)
  --seed N            0: actors take turns; others: interleave at random, repeatably
  --slack N           bytes a stream holds on its way (0)
  --device-name NAME  which device, where there are several
  --max-events N      stop after so many lock uses and DMA words (50000000)
  -p MODULE|FILE.py   load a plugin (devices, dialects); -p no:NAME blocks one

A design of another dialect runs with what a plugin brings for it: clusters with TPUSH/TPOP pipes, a thread per core.
Their arguments are those of the kernels: --arg N=FILE, N=BYTES of zeros, or a number; --arg-out N=FILE writes one back.

NAME is that of a fifo that ends at a shim, of an aie.shim_dma_allocation, or of a buffer; or COLUMN:CHANNEL.
Exit code 0 if it finished."""


def _number(word: str) -> int:
    value = int(word)
    if value < 0:
        raise ValueError(f"expected a non-negative integer, not {word}")
    return value


@options
class SimulateOptions:
    """What goes in, what comes out, and in which order things happen."""

    feeds: tuple[str, ...] = option((), "--in", kind=str, metavar="NAME=FILE", help="what goes into a shim end")
    drains: tuple[str, ...] = option((), "--out", kind=str, metavar="NAME=FILE|BYTES", help="what comes out of one")
    seq: str = option("", "--seq", metavar="NAME", help="which runtime sequence is the host")
    args: tuple[str, ...] = option((), "--arg", kind=str, metavar="N=FILE", help="an argument of it")
    arg_outs: tuple[str, ...] = option((), "--arg-out", kind=str, metavar="N=FILE", help="where one is written")
    kernels: str = option("", "--kernels", metavar="FILE.py", help="models of external kernels")
    dtype: str = option("", "--dtype", metavar="TYPE", help="element type of .npy outputs")
    seed: int = option(0, "--seed", kind=_number, metavar="N", help="which interleaving")
    slack: int = option(0, "--slack", kind=_number, metavar="N", help="bytes a stream holds on its way")
    device_name: str = option("", "--device-name", metavar="NAME", help="which device")
    max_events: int = option(50_000_000, "--max-events", kind=_number, metavar="N", help="when to stop")
    plugins: tuple[str, ...] = option((), "-p", "--plugin", kind=str, metavar="MODULE|FILE.py|no:NAME", help="load one")


def run(args: Sequence[str]) -> int:
    """Run one design and print the report."""
    from aiecc.cli.additions import invited
    from aiecc.cli.parse import parse_command

    if "--help" in args or "-h" in args:
        print(USAGE)
        return Exit.OK
    parsed = parse_command("aiecc simulate", args, (SimulateOptions,))
    given: SimulateOptions = parsed.options[SimulateOptions]
    if len(parsed.words) != 1:
        refuse("aiecc simulate wants one design", code="E0901", todo="see 'aiecc simulate --help'")
    from aiecc.sim.npy import TYPES, read_npy, write_npy

    if given.dtype and given.dtype not in TYPES:
        refuse(f"--dtype {given.dtype} is not one of {', '.join(TYPES)}", code="E0901")
    feeds = {_end(name): read_npy(Path(value)) for name, value in map(_pair, given.feeds)}
    drains: dict[str | tuple[int, int], int | None] = {}
    files: dict[str | tuple[int, int], Path] = {}
    for name, value in map(_pair, given.drains):
        end = _end(name)
        if value.isdecimal():
            drains[end] = int(value)
        else:
            files[end] = Path(value)
            drains.setdefault(end, None)
    plugins = invited(given.plugins)
    module = _read(parsed.words[0])
    if not any(op.name == "aie.device" for op in module.walk()):
        from aiecc.cli.simulate_other import run_other

        ended = run_other(parsed.words[0], given, plugins)
        if ended is not None:
            return ended
    models = _models(given.kernels) if given.kernels else {}
    if given.seq or given.args or given.arg_outs:
        from aiecc.cli.simulate_host import run_arguments

        return run_arguments(module, given, models)
    types = _element_types(module)
    module = _lowered(module)
    from aiecc.sim.array import simulate

    outcome = simulate(
        module,
        given.device_name or None,
        feeds=feeds,
        drains=drains,
        kernels=models,
        seed=given.seed,
        slack=given.slack,
        max_events=given.max_events,
    )
    print(outcome.report())
    for end, file in files.items():
        write_npy(file, outcome.received[outcome.names[end]], given.dtype or types.get(end, "int32"))
    return Exit.OK if outcome.finished else Exit.REFUSED


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals or not value:
        refuse(f"'{word}' is not NAME=FILE", code="E0901", todo="see 'aiecc simulate --help'")
    return name, value


def _end(name: str) -> str | tuple[int, int]:
    column, colon, channel = name.partition(":")
    return (int(column), int(channel)) if colon and column.isdecimal() and channel.isdecimal() else name


def _read(file: str) -> ModuleOp:
    from aiecc.base.diag import Refused
    from aiecc.ir.text import parse
    from aiecc.ir.verify import verify

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        refuse(f"{file} cannot be read: {reason}", code="E0001")
    module = parse(text, file)
    errors = verify(module)
    if errors:
        raise Refused(*errors)
    return module


def _element_types(module: ModuleOp) -> Mapping[str | tuple[int, int], str]:
    """What the objects of fifos are made of, by the fifos' names."""
    from aiecc.ir.dialects.aie.fifo import ObjectFifoOp
    from aiecc.sim.npy_types import npy_type

    fifos = [op for op in module.walk() if isinstance(op, ObjectFifoOp)]
    found = {op.symbol: npy_type(op.consumer_elem_type.element_type) for op in fifos}
    return {name: type for name, type in found.items() if type}


def _lowered(module: ModuleOp) -> ModuleOp:
    """A design with objectFifos as the array runs it; others are taken as they are."""
    from aiecc.base.diag import Level, Refused, Sink
    from aiecc.cli.guard import say
    from aiecc.ir.lowering import has_fifos, lower_to_run

    if not has_fifos(module) and not any(op.name == "aie.dma_start_task" for op in module.walk()):
        return module
    sink = Sink()
    if not lower_to_run(module, sink):
        raise Refused(*(d for d in sink.items if d.level is Level.ERROR))
    say(sink.items)
    return module


def _models(file: str) -> Mapping[str, Callable[..., Any]]:
    """The public functions of a Python file. It runs: the user asked for it by name."""
    import runpy

    try:
        names = runpy.run_path(file)
    except Exception as error:
        refuse(f"{file} cannot be used: {type(error).__name__}: {error}", code="E0901")
    return {name: thing for name, thing in names.items() if callable(thing) and not name.startswith("_")}
