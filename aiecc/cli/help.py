"""`aiecc --help`, made from the same tables the parser reads."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence

from aiecc.cli.additions import additions, invited
from aiecc.cli.flags import SELECTORS, STAGE_OPTIONS, Additions, DriverOptions
from aiecc.engine.options import OptionSpec, options_of

_HEAD = """usage: aiecc [options] design.mlir
       aiecc tools | plugins | simulate | disasm | config

Measure, place, link and check the cores of an AIE design. With no --get, the core ELFs are written to
elfs_<core>/ in the output folder, once every check has passed.
"""
_COMMANDS = """commands:
  aiecc tools               which toolchains are here, and what is missing
  aiecc plugins             who takes part in a build, stage by stage
  aiecc simulate design.mlir   run a lowered design on the array model
  aiecc disasm insts.bin       what the NPU is told, in words
  aiecc config --include-dir   where aie_bank_placement.h is installed
"""
_EXIT = """exit codes: 0 ok, 1 design refused, 2 usage, 3 a tool failed, 4 interrupted, 70 a bug of ours
"""


def driver_help(requests: Sequence[str] = ()) -> str:
    """The whole page. `requests`: the values of `-p`; plugins that take part have their options on it."""
    more, missing = _more(requests)
    parts = [_HEAD, "where things go and how they are told:", *_lines(options_of(DriverOptions))]
    for cls in STAGE_OPTIONS:
        parts += ["", f"{_title(cls)}:", *_lines(options_of(cls))]
    for cls, plugin in more.options.items():
        parts += ["", f"{_title(cls)} (plugin '{plugin}'):", *_lines(options_of(cls))]
    words = {**SELECTORS, **more.selectors}
    parts += ["", "OUTPUT SELECTORS:", *(f"  --get-{name:<22} {edge}" for name, edge in words.items())]
    if missing:
        parts += ["", "plugins that are left out:", *(f"  {text}" for text in missing)]
    return "\n".join([*parts, "", _COMMANDS, _EXIT]).rstrip()


def _title(cls: type) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0].rstrip(".").lower()


def _more(requests: Sequence[str]) -> tuple[Additions, list[str]]:
    """What plugins add, and what is wrong with those that add nothing: help must be had in any case."""
    plugins = invited(requests, strict=False)
    if plugins is None:
        return Additions(), []
    more = additions(plugins, strict=False)
    return more, [row.why for row in plugins.rows() if row.status == "failed"]


def _lines(specs: Iterable[OptionSpec]) -> Iterable[str]:
    for spec in specs:
        if not spec.hidden:
            head = "  " + ", ".join(spec.flags) + ("" if spec.switch else f" {spec.metavar or 'VALUE'}")
            extra = f" ({', '.join(spec.choices)})" if spec.choices else ""
            gap = "\n" + " " * 28 if len(head) > 26 else " " * (28 - len(head))
            yield f"{head}{gap}{spec.help}{extra}"
