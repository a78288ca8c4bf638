"""emit: artifacts under upstream's file names. Each view is made only when asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aiecc.base.blob import Blob
from aiecc.base.diag import Sink
from aiecc.engine.spec import hookimpl
from aiecc.engine.views import View, view
from aiecc.model.artifact import Module, Source
from aiecc.model.build import (
    CoreElf,
    CoreObject,
    CoreReport,
    Instructions,
    LinkInput,
    LinkScript,
    LlvmIr,
    Lowered,
    Placement,
)
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId
from aiecc.model.program import CoreProgram
from aiecc.model.recipe import FIFO_PASSES, until


@view("default_stack_size.mlir")
def default_stack_size(module: Module, lowered: Lowered) -> str:
    """The design as written, stale measurements gone, `--default-stack-size` on the cores it is for."""
    from aiecc.ir.measures import cores
    from aiecc.ir.passes.default_stack_size import DefaultStackSize
    from aiecc.ir.text import print_module, thaw

    op = thaw(module)
    DefaultStackSize().apply(op, Sink())
    sizes = {c.id: c.stack_size for d in lowered.design.devices for c in d.cores if c.id in lowered.assumed}
    for core, each in cores(op):
        size = sizes.get(core)
        if size is not None:
            DefaultStackSize(size=size).apply(each, Sink())
    return print_module(op) + "\n"


@view("input_with_symbols.mlir", short="input-with-symbols")
def input_with_symbols(lowered: Lowered) -> str:
    """The design lowered, buffers named, link files assigned; no addresses."""
    return lowered.module.text


def _after(step: str) -> View:
    """The view of the design after one pass of `lower`."""

    @view(f"after_{step}.mlir")
    def after(module: Module, lowered: Lowered) -> str:
        from aiecc.ir.lowering import follow
        from aiecc.ir.text import print_module, thaw

        op = thaw(module)
        follow(op, until(lowered.recipe, step), Sink())
        return print_module(op) + "\n"

    after.render.__doc__ = f"The design after {step}."
    return after


AFTER = tuple(map(_after, FIFO_PASSES))


@view("input_with_addresses.mlir", short="input-with-addresses")
def input_with_addresses(placement: Placement) -> str:
    """The design with measurements and addresses."""
    return placement.module.text


@view("perCore_{0}.mlir")
def per_core(core: CoreId, program: CoreProgram) -> str:
    """One core as a module of its own, names that tell cores apart replaced."""
    return program.text


@view("llvmIR_{0}.ll")
def llvm_ir(core: CoreId, llvm: LlvmIr) -> str:
    """One core's LLVM IR, names that tell cores apart replaced."""
    return llvm.text


@view("peano-compat_{0}.ll")
def peano_compat(core: CoreId, llvm: LlvmIr) -> str:
    """The same in the words of Peano's older LLVM."""
    from aiecc.tools.llvm_text import for_peano

    return for_peano(llvm.text)


@view("perCoreStackSpace_{0}.txt")
def stack_spaces(core: CoreId, lowered: Lowered) -> str:
    """The address space a core's own code may assume for its stack; empty where the stack spans banks."""
    from aiecc.model import targets
    from aiecc.model.stack import FIRST_SPACE, stack_bank

    bank = stack_bank(lowered.design.core(core), targets.get(lowered.design.device(core.device).target))
    return "" if bank is None else f"{FIRST_SPACE + bank}"


@view("probeScripts_{0}.ld.script")
def probe_script(core: CoreId, lowered: Lowered, kernel: dict[KernelId, LinkInput]) -> str | None:
    """The linker script of the probe: every region whole."""
    from aiecc.elf.layout import probe_layout
    from aiecc.elf.script import linker_script
    from aiecc.model import targets
    from aiecc.tools.linking import linked_names

    device = lowered.design.device(core.device)
    facts = device.core(core)
    if facts.elf_file:
        return None
    files = linked_names([kernel[k] for k in facts.kernels if not k.merge])
    return linker_script(probe_layout(device, core, targets.get(device.target), link_files=files))


@view("preBakedElfs_{0}.elf", folder=True)
def prebaked_elf(core: CoreId, object: CoreObject | None, elf: CoreElf) -> Blob | None:
    """The image of a core that comes linked."""
    return elf.blob if object is None else None


@view("perCoreArches_{0}.txt")
def arches(core: CoreId, lowered: Lowered) -> str:
    """The architecture a core is compiled for."""
    from aiecc.model import targets

    return targets.get(lowered.design.device(core.device).target).arch.value + "\n"


@view("objects_{0}.o", folder=True)
def object_file(core: CoreId, object: CoreObject) -> Blob:
    """The core's own code."""
    return object.blob


@view("opted_{0}.ll")
def optimized_ir(core: CoreId, object: CoreObject) -> Blob | None:
    """The core's IR after the middle end, where `--check-lut-banks` keeps it."""
    return object.optimized


@view("probeElfs_{0}.elf", folder=True)
def probe_elf(core: CoreId, probe: CoreElf) -> Blob:
    """The core linked against roomy regions."""
    return probe.blob


@view("ldScripts_{0}.ld.script")
def final_script(core: CoreId, script: LinkScript) -> str | None:
    """The linker script of the final link."""
    return None if script.bcf else script.text


@view("{0}.bcf")
def bcf(core: CoreId, script: LinkScript) -> str | None:
    """What Chess's linker is told instead of a script."""
    return script.text if script.bcf else None


@view("linkwith_{0}.txt")
def link_with(core: CoreId, lowered: Lowered, kernel: dict[KernelId, LinkInput]) -> str:
    """The files a core links, a path a line."""
    return "".join(f"{kernel[k].path}\n" for k in lowered.design.core(core).kernels if not k.merge)


@view("elfs_{0}.elf", folder=True, short="core-elfs", also=("report",))
def elf_file(core: CoreId, elf: CoreElf) -> Blob:
    """The core as it will run, once every check has passed."""
    return elf.blob


def _measured(placement: Placement, report: dict[CoreId, CoreReport], *, stack: bool, data: bool) -> Any:
    """The placed module with what the linked cores say about themselves."""
    from dataclasses import replace

    from aiecc.ir.measures import write
    from aiecc.ir.text import thaw
    from aiecc.model.measure import CoreMeasure, DataMeasure

    op = thaw(placement.module)
    found: dict[CoreId, CoreMeasure | None] = {}
    for core, each in report.items():
        # Banks keep what the probe measured: after the link only the sum of the ordinary sections is news.
        sized = None if each.data is None or not data else replace(DataMeasure(), size=each.data.size)
        found[core] = CoreMeasure(data=sized, stack=each.stack if stack else None)
    write(op, found)
    return op


def _printed(op: Any) -> str:
    from aiecc.ir.text import print_module

    return print_module(op) + "\n"


@view("measured_stack_sizes.mlir")
def measured_stack_sizes(placement: Placement, report: dict[CoreId, CoreReport]) -> str:
    """The placed design with `measured_stack_size` on every core whose stack is known exactly."""
    return _printed(_measured(placement, report, stack=True, data=False))


@view("measured_data_sizes.mlir")
def measured_data_sizes(placement: Placement, report: dict[CoreId, CoreReport]) -> str:
    """The placed design with the stack and data figures of the linked cores."""
    return _printed(_measured(placement, report, stack=True, data=True))


@view("checked_bank_placement.mlir")
def checked_bank_placement(placement: Placement, report: dict[CoreId, CoreReport]) -> str:
    """As `measured_data_sizes.mlir`, after the check of bank-annotated data."""
    return _printed(_measured(placement, report, stack=True, data=True))


@view("physical_with_elfs.mlir")
def physical_with_elfs(placement: Placement, report: dict[CoreId, CoreReport]) -> str:
    """The placed and measured design, every core replaced by its ELF."""
    from aiecc.ir.measures import with_elf_files

    op = _measured(placement, report, stack=True, data=True)
    return _printed(with_elf_files(op, {core: str(elf_file.file(core)) for core in report}))


@view("npu_lowered.mlir")
def npu_lowered(npu: Module) -> str:
    """The design with its runtime sequences as plain instructions."""
    return npu.text


@view("insts_{0}.bin", short="npu-insts")
def npu_insts(sequence: SequenceId, insts: Instructions) -> bytes:
    """A runtime sequence as the NPU executes it."""
    return insts.data


@view("insts_{0}.bin.locmap.json", short="locmap")
def npu_locmap(sequence: SequenceId, insts: Instructions) -> str:
    """Which bytes of the instructions come from which line."""
    return insts.locations


@view("report.json")
def report_json(source: Source, placement: Placement, report: dict[CoreId, CoreReport]) -> bytes:
    """Every figure of the build, for tools."""
    from aiecc.report.facts import report_facts

    return report_facts(source.path, report, placement)


@view("memory_map_{0}.txt")
def memory_map_text(device: DeviceId, placement: Placement) -> str:
    """Where everything of a device lies."""
    from aiecc.place.map import bank_table, memory_map

    tiles = [(p, y) for d, p, y in placement.tiles if d == device]
    parts = [f"tile ({p.col}, {p.row})\n{memory_map(p, y)}{bank_table(p, y)}" for p, y in tiles]
    return "\n".join(parts)


@hookimpl
def aiecc_views() -> Iterable[View]:
    """All of the above."""
    return [*(v for v in globals().values() if isinstance(v, View)), *AFTER]
