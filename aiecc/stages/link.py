"""link: the core as it will run."""

from __future__ import annotations

from aiecc.base.diag import Refused, Sink
from aiecc.choices import CompileOptions
from aiecc.engine.reads import Files
from aiecc.engine.scope import Memo
from aiecc.engine.spec import hookimpl
from aiecc.engine.store import Store
from aiecc.model.build import CoreElf, CoreObject, LinkInput, LinkScript, Lowered, Runtime
from aiecc.model.design import DeviceFacts
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.prebuilt import find_elf
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop


@hookimpl
def aiecc_link(
    core: CoreId,
    object: CoreObject | None,
    script: LinkScript | None,
    probe: CoreElf | None,
    lowered: Lowered,
    kernel: dict[KernelId, LinkInput],
    runtime: Runtime,
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    search: tuple[str, ...],
    files: Files,
    run: Workshop,
    store: Store,
    memo: Memo,
    diag: Sink,
) -> CoreElf | None:
    """A link that fails is explained with what was measured and what was granted."""
    from aiecc.tools.linking import link
    from aiecc.tools.run import ToolFailure

    facts = lowered.design.core(core)
    if object is None or script is None:
        return CoreElf(store.put(files.read_bytes(find_elf(facts, search, files.first)), ".elf"))
    inputs = [kernel[k] for k in facts.kernels if not k.merge]
    _check_names(lowered.design.device(core.device), runtime, diag)
    if diag.failed:
        return None
    try:
        elf = link(
            object.blob,
            inputs,
            script.text,
            script.stack_end,
            tools=tools,
            arch=target.arch.value,
            opt_level=compiling.opt_level,
            run=run,
            runtime=runtime,
            memo=memo,
        )
    except ToolFailure as failed:
        if failed.ran is None or failed.ran.killed:
            raise
        _refuse_unusable(core, object, lowered, inputs)
        if failed.ran.returncode < 0:
            raise
        _explain(failed.ran.output, core, object, script, probe, lowered, inputs, target, diag)
        return None
    return CoreElf(elf)


def _check_names(device: DeviceFacts, runtime: Runtime, diag: Sink) -> None:
    """The script's symbols win over those of the run-time: a buffer named `memset` would be called as a function."""
    taken = frozenset(runtime.symbols)
    for tile in device.tiles:
        for buffer in tile.buffers:
            if buffer.name in taken:
                text = f"a buffer cannot be named '{buffer.name}': linked cores have a symbol of that name"
                diag.error(f"'aie.buffer' op {text}", buffer.where, code="E0601", todo="rename it")


def _refuse_unusable(core: CoreId, object: CoreObject, lowered: Lowered, inputs: list[LinkInput]) -> None:
    """Link files that no linker can use, each at the line that names it: linkers say less, or crash on them."""
    from aiecc.elf.inputs import LinkFile, check_input
    from aiecc.elf.read import read

    where = lowered.design.core(core).where
    like = read(object.blob.bytes())
    found = [
        check_input(LinkFile(i.kernel.path, i.blob.bytes()), core, lowered.asked_at(i.kernel) or where, like)
        for i in inputs
    ]
    if any(found):
        raise Refused(*(d for d in found if d is not None))


def _explain(
    said: str,
    core: CoreId,
    object: CoreObject,
    script: LinkScript,
    probe: CoreElf | None,
    lowered: Lowered,
    inputs: list[LinkInput],
    target: Target,
    diag: Sink,
) -> None:
    from aiecc.elf.inputs import LinkFile, objects
    from aiecc.elf.link_errors import LinkContext, explain
    from aiecc.elf.read import read

    where = lowered.design.core(core).where
    own = LinkFile(f"{core.label}.o", object.blob.bytes())
    files = [LinkFile(i.kernel.path, i.blob.bytes()) for i in inputs]
    context = LinkContext(
        core,
        where,
        script.data_size,
        target.program_memory_size,
        objects([own, *files]),
        None if probe is None else read(probe.blob.bytes()),
    )
    diag.extend(explain(said, context))
