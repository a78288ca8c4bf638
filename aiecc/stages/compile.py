"""compile: a core's own code as an object."""

from __future__ import annotations

from aiecc.base.blob import Blob
from aiecc.base.diag import Note, Sink, refuse
from aiecc.choices import CheckOptions, CompileOptions
from aiecc.engine.scope import Memo
from aiecc.engine.spec import hookimpl
from aiecc.engine.store import Store
from aiecc.model.build import CoreObject, LinkInput, LlvmIr, Lowered
from aiecc.model.ids import CoreId, KernelId
from aiecc.model.stack import stack_space
from aiecc.model.targets import Target
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop


@hookimpl
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
    """One compile per distinct program; each core gets its own copy with its own names."""
    from aiecc.elf.rename import rename

    if llvm is None:
        return None
    facts = lowered.design.core(core)
    space = stack_space(facts, target, tools, diag)
    if diag.failed:
        return None
    merged = [kernel[k] for k in facts.kernels if k.merge]
    parts = (
        tools.fingerprint,
        target.arch.value,
        str(compiling.opt_level),
        str(space),
        str(checking.lut_banks),
        llvm.text,
        *(f"{m.name}={m.blob.digest}" for m in merged),
    )

    def compiled() -> tuple[Blob, Blob | None]:
        text = _merged(llvm.text, merged, lowered, tools, target, run)
        return _compile(text, bool(merged), space, tools, target, compiling, checking.lut_banks, run)

    canonical, optimized = memo.get("compile", parts, compiled, tuple[Blob, Blob | None])
    own = rename(canonical.bytes(), dict(llvm.names)) if llvm.names else canonical.bytes()
    if optimized is not None and llvm.names:
        optimized = store.put(_renamed(optimized.bytes().decode(), llvm.names), ".ll")
    return CoreObject(store.put(own, ".o"), optimized)


def _merged(
    text: str, kernels: list[LinkInput], lowered: Lowered, tools: Toolchain, target: Target, run: Workshop
) -> str:
    """The core's IR with its merge-mode kernels linked in."""
    from aiecc.tools.commands import merge_ir_argvs
    from aiecc.tools.llvm_text import keep_definitions, rename_intrinsics
    from aiecc.tools.run import ToolFailure

    ready = _fitted(text, tools)
    if not kernels:
        return ready
    inputs: dict[str, Blob | str] = {"core.ll": ready}
    for i, kernel in enumerate(kernels):
        inputs[f"merge{i}_{kernel.name}.ll"] = keep_definitions(
            rename_intrinsics(_as_text(kernel, lowered, tools, target, run), tools.spec.rename)
        )
    steps = merge_ir_argvs(tools, arch=target.arch.value, inputs=tuple(inputs), output="merged.ll")
    try:
        made = run.job(steps, inputs=inputs, outputs=("merged.ll",))
    except ToolFailure as failed:
        if failed.ran is None or failed.ran.returncode < 0:
            raise
        refuse(
            'aiecc: peano-linked: cannot merge link_with_mode = "merge" artifacts into the core module',
            lowered.asked_at(kernels[0].kernel),
            code="E0702",
            notes=(Note("merged here: " + ", ".join(k.kernel.path for k in kernels)), *failed.diagnostics[0].notes),
        )
    return _fitted(made.text("merged.ll"), tools, merged=True)


def _fitted(text: str, tools: Toolchain, *, merged: bool = False) -> str:
    """The text in the words of the compiler's own LLVM, which is older than the one that wrote it."""
    from aiecc.tools.llvm_text import for_chess, for_peano

    if tools.spec.ir_dialect == "peano":
        return for_peano(text, merged=merged)
    return for_chess(text) if tools.spec.ir_dialect == "chess" else text


def _as_text(kernel: LinkInput, lowered: Lowered, tools: Toolchain, target: Target, run: Workshop) -> str:
    """A merge-mode kernel as IR text: told by its content, not by its suffix."""
    from aiecc.tools.commands import disassemble_argvs
    from aiecc.tools.run import ToolFailure

    data = kernel.blob.bytes()
    if not data.startswith((b"BC\xc0\xde", b"\xde\xc0\x17\x0b")):
        return data.decode("utf-8", "replace")
    steps = disassemble_argvs(tools, arch=target.arch.value, input="kernel.bc", output="kernel.ll")
    try:
        return run.job(steps, inputs={"kernel.bc": kernel.blob}, outputs=("kernel.ll",)).text("kernel.ll")
    except ToolFailure as failed:
        if failed.ran is None or failed.ran.returncode < 0:
            raise
        where = lowered.asked_at(kernel.kernel)
        text = f"aiecc: peano-linked: cannot read merge-mode link artifact '{kernel.kernel.path}': it is damaged"
        refuse(text, where, code="E0702", notes=failed.diagnostics[0].notes)


def _compile(
    text: str,
    merged: bool,
    space: int | None,
    tools: Toolchain,
    target: Target,
    compiling: CompileOptions,
    keep_ir: bool,
    run: Workshop,
) -> tuple[Blob, Blob | None]:
    from aiecc.elf.read import ElfProblem, read
    from aiecc.tools.commands import compile_ir_argvs

    steps = compile_ir_argvs(
        tools,
        arch=target.arch.value,
        opt_level=compiling.opt_level,
        input="core.ll",
        output="core.o",
        optimized="core.opt.ll",
        stack_space=space,
        keep_ir=keep_ir,
    )
    made = run.job(steps, inputs={"core.ll": text}, outputs=("core.opt.ll", "core.o"))
    try:
        read(made.blob("core.o").bytes())
    except ElfProblem as problem:
        raise made.failure(f"what it made is no object: {problem}") from None
    return made.blob("core.o"), made.outputs.get("core.opt.ll") if keep_ir else None


def _renamed(text: str, names: tuple[tuple[str, str], ...]) -> str:
    """The optimized IR with the core's own names, for checks that look names up in the linked core."""
    import re

    known = dict(names)
    return re.sub(r"@([A-Za-z_$.][\w$.]*)", lambda m: "@" + known.get(m[1], m[1]), text)
