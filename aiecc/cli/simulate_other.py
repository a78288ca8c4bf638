"""`aiecc simulate` of designs that are no `aie.device`: with a simulator that a plugin brings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from aiecc.base.codes import Exit
from aiecc.base.diag import refuse

if TYPE_CHECKING:
    from aiecc.cli.simulate import SimulateOptions
    from aiecc.engine.plugins import Plugins


def run_other(file: str, given: SimulateOptions, plugins: Plugins | None) -> int | None:
    """Run a file with the first simulator that takes it; None when none does."""
    from aiecc.api import Module, Simulation, Simulator, Source, load_plugins

    text = Path(file).read_text(encoding="utf-8")
    everybody = plugins or load_plugins(given.plugins)
    module = Module(text, file=file)
    for name, found in everybody.ask("aiecc_simulators"):
        for each in found:
            if not isinstance(each, Simulator):
                refuse(f"plugin '{name}': aiecc_simulators gives Simulator objects", code="E0902")
            if each.accepts(module):
                asked = Simulation(
                    Source(file, text),
                    everybody,
                    Path(f"{Path(file).name}.prj"),
                    _numbered(given.args),
                    _numbered(given.arg_outs),
                    given.device_name,
                    given.seq,
                    given.dtype,
                )
                return Exit.OK if each.run(asked) else Exit.REFUSED
    return None


def _numbered(words: tuple[str, ...]) -> Mapping[int, str]:
    """`N=VALUE` by number."""
    found: dict[int, str] = {}
    for word in words:
        number, equals, value = word.partition("=")
        if not number.isdecimal() or not equals or not value:
            refuse(f"'{word}' is not N=FILE", code="E0901", todo="see 'aiecc simulate --help'")
        if int(number) in found:
            refuse(f"argument {number} is given twice", code="E0901")
        found[int(number)] = value
    return found
