"""check: is what was linked what was declared?"""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.choices import CheckOptions, MeasureOptions
from aiecc.engine.spec import hookimpl
from aiecc.model.build import CoreElf, CoreObject, CoreReport, LinkInput, Lowered, Placement
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.stack import stack_size
from aiecc.model.targets import Target, TileKind
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop


@hookimpl
def aiecc_check(
    core: CoreId,
    elf: CoreElf,
    object: CoreObject | None,
    lowered: Lowered,
    placement: Placement,
    kernel: dict[KernelId, LinkInput],
    target: Target,
    measuring: MeasureOptions,
    checking: CheckOptions,
    tools: Toolchain,
    run: Workshop,
    diag: Sink,
) -> CoreReport:
    """Stack, data, banks, program memory, one after the other; all that is wrong is told in one build."""
    from aiecc.elf import banks, checks, data, program, stack
    from aiecc.elf.inputs import LinkFile, functions, objects, variables
    from aiecc.elf.read import ElfProblem, read

    device = placement.design.device(core.device)
    facts = device.core(core)
    name = f"elfs_{core}.elf"
    prebuilt = object is None
    report = CoreReport(facts, stack_size(facts, target), program_limit=target.program_memory_size, prebuilt=prebuilt)
    try:
        image = read(elf.blob.bytes())
    except ElfProblem:
        if measuring.stack:
            unknown = stack.measure(elf.blob.bytes(), name, {})
            diag.extend(checks.check_stack(facts, unknown, default=target.default_stack_size))
        return report
    inputs: list[LinkFile] = []
    if object is not None:
        inputs.append(LinkFile(f"{core.label}.o", object.blob.bytes()))
    inputs += [LinkFile(k.path, kernel[k].blob.bytes()) for k in facts.kernels if not k.merge]
    given = objects(inputs)
    need = None
    if measuring.stack:
        need = stack.analyse(image, device.overrides, path=name)
        if not prebuilt or facts.stack_size is not None:
            diag.extend(
                checks.check_stack(
                    facts,
                    need,
                    default=target.default_stack_size,
                    assumed=core in lowered.assumed,
                    alignment=target.stack_align,
                    kernels=[f.name for f in device.functions],
                    objects=given,
                )
            )
    linked = None
    if measuring.data:
        linked = data.linked_data(image, target.banks(TileKind.CORE))
        fault = checks.check_data(facts, linked.size, variables(image, given))
        if fault is not None:
            diag.add(fault)
    if checking.bank_placement and not prebuilt:
        memory = banks.Memory(
            target.own_base(core.col, core.row), target.memory_size(TileKind.CORE), target.banks(TileKind.CORE)
        )
        diag.extend(banks.check_banks(core, facts.where, image, given, memory))
    used = program.program_size(image)
    fault = program.check_program(core, facts.where, used, target.program_memory_size, functions(image, given))
    if fault is not None:
        diag.add(fault)
    return CoreReport(
        facts, stack_size(facts, target), need, linked, used, target.program_memory_size, prebuilt=prebuilt
    )
