"""script: what the linker is told about a core's memory."""

from __future__ import annotations

from aiecc.engine.spec import hookimpl
from aiecc.model.build import LinkInput, LinkScript, Placement
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain


@hookimpl
def aiecc_script(
    core: CoreId, placement: Placement, kernel: dict[KernelId, LinkInput], tools: Toolchain, target: Target
) -> LinkScript | None:
    """A linker script, or a BCF for Chess. None for a core that comes linked."""
    from aiecc.elf.bcf import bcf
    from aiecc.elf.layout import core_layout
    from aiecc.elf.script import linker_script
    from aiecc.tools.linking import linked_names

    device = placement.design.device(core.device)
    facts = device.core(core)
    chess = tools.capabilities.bcf
    if facts.elf_file and not chess:
        return None
    files = linked_names([kernel[k] for k in facts.kernels if not k.merge])
    layout = core_layout(device, core, target, chess=chess, link_files=files)
    end = layout.stack.end if layout.stack is not None else layout.own_base
    return LinkScript(bcf(layout) if chess else linker_script(layout), chess, layout.data.size, end)
