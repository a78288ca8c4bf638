"""check: is what was linked what was declared?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiecc.base.diag import Diagnostic, Sink
from aiecc.choices import CheckOptions, MeasureOptions
from aiecc.engine.spec import hookimpl
from aiecc.model.build import CoreElf, CoreObject, CoreReport, LinkInput, Lowered, Placement
from aiecc.model.design import CoreFacts, DeviceFacts
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.stack import stack_size
from aiecc.model.targets import Target, TileKind
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop

if TYPE_CHECKING:
    from aiecc.elf.banks import Memory
    from aiecc.elf.inputs import LinkFile
    from aiecc.elf.read import Image


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
    from aiecc.elf import banks, checks, data, names, program, stack
    from aiecc.elf.inputs import LinkFile, functions, objects, variables
    from aiecc.elf.read import ElfProblem, read

    device = placement.design.device(core.device)
    facts = device.core(core)
    name = f"elfs_{core}.elf"
    prebuilt = object is None
    report = CoreReport(facts, stack_size(facts, target), program_limit=target.program_memory_size, prebuilt=prebuilt)
    try:
        image = read(elf.blob.bytes())
        _ = image.symbols
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
    diag.extend(names.check_names(core, facts.where, [b for t in device.tiles for b in t.buffers], image, given))
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
    memory = banks.Memory(
        target.own_base(core.col, core.row), target.memory_size(TileKind.CORE), target.banks(TileKind.CORE)
    )
    if checking.bank_placement and not prebuilt:
        diag.extend(banks.check_banks(core, facts.where, image, given, memory))
    if checking.lut_banks:
        diag.extend(_luts(facts, object, inputs[1:], image, memory, device, tools, target, run))
    used = program.program_size(image)
    fault = program.check_program(core, facts.where, used, target.program_memory_size, functions(image, given))
    if fault is not None:
        diag.add(fault)
    return CoreReport(
        facts, stack_size(facts, target), need, linked, used, target.program_memory_size, prebuilt=prebuilt
    )


def _luts(
    facts: CoreFacts,
    object: CoreObject | None,
    files: list[LinkFile],
    image: Image,
    memory: Memory,
    device: DeviceFacts,
    tools: Toolchain,
    target: Target,
    run: Workshop,
) -> list[Diagnostic]:
    """The opt-in check of table pairs: the core's own IR first, then what each link file carries."""
    from aiecc.elf import lut
    from aiecc.tools.commands import disassemble_argvs
    from aiecc.tools.llvm_text import restore_intrinsics
    from aiecc.tools.run import ToolFailure

    core = facts.id
    if object is None:
        return [lut.prebuilt_refusal(facts.elf_file or "", facts.where)]

    def text_of(bitcode: bytes) -> str | None:
        steps = disassemble_argvs(tools, arch=target.arch.value, input="kernel.bc", output="kernel.ll")
        try:
            made = run.job(steps, inputs={"kernel.bc": run.store.put(bitcode, ".bc")}, outputs=("kernel.ll",))
        except ToolFailure:
            return None
        return restore_intrinsics(made.text("kernel.ll"), tools.spec.rename)

    own = (
        () if object.optimized is None else (restore_intrinsics(object.optimized.bytes().decode(), tools.spec.rename),)
    )
    inputs = [lut.IrInput(f"{core.label}.o", own, own=True)]
    inputs += [lut.object_ir(f, image, text_of) for f in files]
    tile = device.tile(core.col, core.row)
    buffers = {b.name: (b.address, b.size) for b in (tile.buffers if tile else ()) if b.address is not None}
    return lut.check_luts(core, facts.where, inputs, image, memory, buffers)
