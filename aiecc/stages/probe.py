"""probe: a link against roomy regions, only in order to measure."""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.choices import CompileOptions
from aiecc.engine.scope import Memo
from aiecc.engine.spec import hookimpl
from aiecc.engine.store import Store
from aiecc.model.build import CoreElf, CoreObject, LinkInput, Lowered, Runtime
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop


@hookimpl
def aiecc_probe(
    core: CoreId,
    object: CoreObject,
    lowered: Lowered,
    kernel: dict[KernelId, LinkInput],
    runtime: Runtime,
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    run: Workshop,
    store: Store,
    memo: Memo,
    diag: Sink,
) -> CoreElf | None:
    """None where the toolchain cannot probe, and where the probe does not link: the real link tells that better."""
    from aiecc.elf.layout import probe_layout
    from aiecc.elf.script import linker_script
    from aiecc.tools.linking import link, linked_names
    from aiecc.tools.run import ToolFailure

    if not tools.capabilities.probe:
        return None
    device = lowered.design.device(core.device)
    files = [kernel[k] for k in device.core(core).kernels if not k.merge]
    layout = probe_layout(device, core, target, link_files=linked_names(files))
    end = layout.stack.end if layout.stack is not None else layout.own_base
    try:
        elf = link(
            object.blob,
            files,
            linker_script(layout),
            end,
            tools=tools,
            arch=target.arch.value,
            opt_level=compiling.opt_level,
            run=run,
            runtime=runtime,
            memo=memo,
            probe=True,
        )
    except ToolFailure as failed:
        if failed.ran is None or failed.ran.killed:
            raise
        return None
    return CoreElf(elf)
