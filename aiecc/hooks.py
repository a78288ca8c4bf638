"""START HERE: every stage and registration hook, in reading order.

A stage's parameters are what it needs, `gives` names what it makes, and a parameter annotated with a key
(`CoreId`, `KernelId`, ...) makes it run once per such key. The build graph, `--get`, the cache and the order of work
follow from this page; nothing else says them.

Implement a stage to replace it, return None to decline, use `hookimpl(wrapper=True)` to wrap it, and add stages of
your own by returning a class of `@stage` functions from `aiecc_stages`. `aiecc.api` has all you need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from aiecc.base.diag import Sink
from aiecc.choices import (
    CheckOptions,
    CompileOptions,
    LowerOptions,
    MeasureOptions,
    PlaceOptions,
    SequenceOptions,
    ToolchainOptions,
)
from aiecc.engine.spec import hookspec, stage
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
    Runtime,
)
from aiecc.model.ids import CoreId, DeviceId, KernelId, SequenceId
from aiecc.model.measure import CoreMeasure
from aiecc.model.program import CoreProgram
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain

if TYPE_CHECKING:
    from aiecc.engine.reads import Files
    from aiecc.engine.scope import Memo
    from aiecc.engine.store import Store
    from aiecc.tools.workshop import Workshop

# ---------------------------------------------------------------- stages


@stage(gives="tools", volatile=True)
def aiecc_tools(toolchain: ToolchainOptions, diag: Sink) -> Toolchain:
    """Choose a toolchain and find its programs; say so when the choice is a fall-back."""
    raise NotImplementedError


@stage(gives="module")
def aiecc_parse(source: Source, diag: Sink) -> Module:
    """Read the design; every op keeps the position the user wrote it at."""
    raise NotImplementedError


@stage(gives="lowered")
def aiecc_lower(module: Module, lower: LowerOptions, diag: Sink) -> Lowered | None:
    """Bring the design to the level cores are compiled from: buffers named, link files assigned, no addresses."""
    raise NotImplementedError


@stage(gives="program", spread="core")
def aiecc_outline(lowered: Lowered, tools: Toolchain, diag: Sink) -> dict[CoreId, CoreProgram]:
    """Cut every core out of the design as a module of its own, names that tell cores apart replaced."""
    raise NotImplementedError


@stage(gives="llvm", spread="core")
def aiecc_translate(
    program: dict[CoreId, CoreProgram], lowered: Lowered, tools: Toolchain, run: Workshop, memo: Memo, diag: Sink
) -> dict[CoreId, LlvmIr]:
    """Lower all cores to LLVM IR together: one mlir-opt, one mlir-translate."""
    raise NotImplementedError


@stage(gives="runtime")
def aiecc_runtime(
    device: DeviceId, tools: Toolchain, target: Target, run: Workshop, store: Store, memo: Memo, diag: Sink
) -> Runtime:
    """Compile the start-up code and the run-time of a toolchain that brings its own."""
    raise NotImplementedError


@stage(gives="kernel")
def aiecc_kernel(
    kernel: KernelId,
    lowered: Lowered,
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    checking: CheckOptions,
    search: tuple[str, ...],
    files: Files,
    run: Workshop,
    store: Store,
    memo: Memo,
    diag: Sink,
) -> LinkInput:
    """Find a file that cores link; compile it when it is C or C++."""
    raise NotImplementedError


@stage(gives="object")
def aiecc_compile(
    core: CoreId,
    llvm: LlvmIr | None,
    lowered: Lowered,
    kernel: dict[KernelId, LinkInput],
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    checking: CheckOptions,
    run: Workshop,
    store: Store,
    memo: Memo,
    diag: Sink,
) -> CoreObject | None:
    """Compile a core's own code; equal programs share one compile. None: the core comes prebuilt."""
    raise NotImplementedError


@stage(gives="probe")
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
    """Link one core against roomy regions, only in order to measure it. None: the real link will tell."""
    raise NotImplementedError


@stage(gives="measured")
def aiecc_measure(
    core: CoreId,
    probe: CoreElf | None,
    object: CoreObject | None,
    lowered: Lowered,
    kernel: dict[KernelId, LinkInput],
    target: Target,
    measuring: MeasureOptions,
    search: tuple[str, ...],
    files: Files,
    diag: Sink,
) -> CoreMeasure | None:
    """Say how much data and bank room this core wants before it is placed. Decide nothing."""
    raise NotImplementedError


@stage(gives="placement")
def aiecc_place(
    lowered: Lowered, measured: dict[CoreId, CoreMeasure | None], placing: PlaceOptions, diag: Sink
) -> Placement | None:
    """Give every extent of every tile an address, or say in words why none fits."""
    raise NotImplementedError


@stage(gives="script")
def aiecc_script(
    core: CoreId,
    placement: Placement,
    kernel: dict[KernelId, LinkInput],
    tools: Toolchain,
    target: Target,
    diag: Sink,
) -> LinkScript | None:
    """Write what the linker is told about this core's memory."""
    raise NotImplementedError


@stage(gives="elf")
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
    """Link the core for real, or take the ELF it brings."""
    raise NotImplementedError


@stage(gives="report")
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
    search: tuple[str, ...],
    files: Files,
    run: Workshop,
    diag: Sink,
) -> CoreReport:
    """Judge the linked core: stack, data, banks, program. To add a check, wrap this and report to `diag`."""
    raise NotImplementedError


# ---------------------------------------------------------------- registration


@stage(gives="npu")
def aiecc_sequence(placement: Placement, sequencing: SequenceOptions, diag: Sink) -> Module | None:
    """Lower the runtime sequences of all devices to plain instructions: ids chosen, tokens counted, queues checked."""
    raise NotImplementedError


@stage(gives="insts")
def aiecc_instructions(
    sequence: SequenceId, npu: Module, sequencing: SequenceOptions, diag: Sink
) -> Instructions | None:
    """Encode one sequence as a transaction."""
    raise NotImplementedError


@hookspec
def aiecc_stages() -> Any:
    """Bring stages of your own: a class or module of `@stage` functions."""
    raise NotImplementedError


@hookspec
def aiecc_views() -> Iterable[Any]:
    """Bring views: named files made from artifacts, which `--get` finds (`aiecc.api.View`)."""
    raise NotImplementedError


@hookspec
def aiecc_dialects() -> Iterable[Any]:
    """Bring xDSL dialects the reader should know: pairs of a name and a factory."""
    raise NotImplementedError


@hookspec
def aiecc_passes() -> Iterable[Any]:
    """Bring passes for `aiecc-opt`: subclasses of `aiecc.api.Pass`."""
    raise NotImplementedError


@hookspec
def aiecc_targets() -> Iterable[Target]:
    """Bring devices."""
    raise NotImplementedError


@hookspec
def aiecc_toolchains() -> Sequence[str]:
    """Bring toolchains: paths of TOML files."""
    raise NotImplementedError


@hookspec
def aiecc_simulators() -> Iterable[Any]:
    """Bring what `aiecc simulate` runs designs of other dialects with (`aiecc.api.Simulator`)."""
    raise NotImplementedError
