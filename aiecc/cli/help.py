"""`aiecc --help`, made from the same tables the parser reads."""

from __future__ import annotations

from collections.abc import Iterable

from aiecc.cli.flags import SELECTORS, STAGE_OPTIONS, DriverOptions
from aiecc.engine.options import OptionSpec, options_of

_HEAD = """usage: aiecc [options] design.mlir
       aiecc tools | plugins | simulate | config

Measure, place, link and check the cores of an AIE design. With no --get, the core ELFs are written to
elfs_<core>/ in the output folder, once every check has passed.
"""
_COMMANDS = """commands:
  aiecc tools               which toolchains are here, and what is missing
  aiecc plugins             who takes part in a build, stage by stage
  aiecc simulate design.mlir   run a lowered design on the array model
  aiecc config --include-dir   where aie_bank_placement.h is installed
"""
_EXIT = """exit codes: 0 ok, 1 design refused, 2 usage, 3 a tool failed, 4 interrupted, 70 a bug of ours
"""


def driver_help() -> str:
    """The whole page."""
    parts = [_HEAD, "where things go and how they are told:", *_lines(options_of(DriverOptions))]
    for cls in STAGE_OPTIONS:
        title = (cls.__doc__ or "").strip().rstrip(".").lower()
        parts += ["", f"{title}:", *_lines(options_of(cls))]
    parts += ["", "OUTPUT SELECTORS:", *(f"  --get-{name:<22} {edge}" for name, edge in SELECTORS.items())]
    return "\n".join([*parts, "", _COMMANDS, _EXIT]).rstrip()


def _lines(specs: Iterable[OptionSpec]) -> Iterable[str]:
    for spec in specs:
        if not spec.hidden:
            head = "  " + ", ".join(spec.flags) + ("" if spec.switch else f" {spec.metavar or 'VALUE'}")
            extra = f" ({', '.join(spec.choices)})" if spec.choices else ""
            gap = "\n" + " " * 28 if len(head) > 26 else " " * (28 - len(head))
            yield f"{head}{gap}{spec.help}{extra}"
