"""outline: every core as a module of its own."""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.engine.spec import hookimpl
from aiecc.model import targets
from aiecc.model.build import Lowered
from aiecc.model.ids import CoreId
from aiecc.model.program import CoreProgram
from aiecc.model.toolchain import Toolchain


@hookimpl
def aiecc_outline(lowered: Lowered, tools: Toolchain, diag: Sink) -> dict[CoreId, CoreProgram]:
    """All cores that are compiled here. A core with an `elf_file` comes linked, unless Chess links it again."""
    from aiecc.ir.facts import devices
    from aiecc.ir.outline import Outliner
    from aiecc.ir.text import load

    ops = {device.symbol: device for device in devices(load(lowered.module))}
    programs: dict[CoreId, CoreProgram] = {}
    for device in lowered.design.devices:
        arch = targets.get(device.target).arch.value
        triple = tools.spec.words[arch]["triple"] if tools.spec.supports(arch) else ""
        outliner = Outliner(ops[device.id.name], diag, triple=triple, rename=tools.spec.rename)
        for core in device.cores:
            if core.elf_file and not tools.capabilities.bcf:
                continue
            program = outliner.outline(core.id)
            if program is not None:
                programs[core.id] = program
    return programs
