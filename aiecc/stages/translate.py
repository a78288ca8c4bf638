"""translate: all cores to LLVM IR, in one process of each tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiecc.base.diag import Sink
from aiecc.base.spans import Span
from aiecc.engine.scope import Memo
from aiecc.engine.spec import hookimpl
from aiecc.model.build import LlvmIr, Lowered
from aiecc.model.ids import CoreId
from aiecc.model.program import CoreProgram
from aiecc.model.toolchain import Toolchain
from aiecc.tools.workshop import Workshop

if TYPE_CHECKING:
    from aiecc.tools.run import ToolFailure

_LOCATED = re.compile(r"^(.*?):(\d+):(\d+): error: (.*)$", re.M)


@hookimpl
def aiecc_translate(
    program: dict[CoreId, CoreProgram], lowered: Lowered, tools: Toolchain, run: Workshop, memo: Memo, diag: Sink
) -> dict[CoreId, LlvmIr]:
    """Equal programs go through once. When the batch fails, each program is tried alone, so that one bad core
    stops no other and its error is told at the user's own line."""
    from aiecc.tools.run import ToolFailure

    distinct = tuple(dict.fromkeys(p.text for p in program.values()))
    try:
        texts = memo.get(
            "translate", (tools.fingerprint, *distinct), lambda: _batch(distinct, tools, run), tuple[str, ...]
        )
        lowered_text = dict(zip(distinct, texts, strict=True))
    except ToolFailure:
        lowered_text = {}
        for text in distinct:
            core = next(c for c, p in program.items() if p.text == text)
            alone = _alone(text, core, lowered, tools, run, memo, diag)
            if alone is not None:
                lowered_text[text] = alone
    return {c: LlvmIr(lowered_text[p.text], p.names) for c, p in program.items() if p.text in lowered_text}


def _batch(programs: tuple[str, ...], tools: Toolchain, run: Workshop) -> tuple[str, ...]:
    """LLVM IR of every program, through one mlir-opt and one mlir-translate."""
    from aiecc.ir.outline import MARKER, PIPELINE, split
    from aiecc.tools.commands import mlir_opt_argv, translate_argv

    if not programs:
        return ()
    many = len(programs) > 1
    made = run.job(
        [
            mlir_opt_argv(tools, pipeline=PIPELINE, input="cores.mlir", output="lowered.mlir", split=many),
            translate_argv(tools, input="lowered.mlir", output="cores.ll", split=many),
        ],
        inputs={"cores.mlir": f"{MARKER}\n".join(programs)},
        outputs=("lowered.mlir", "cores.ll"),
    )
    text = made.text("cores.ll")
    return tuple(split(text)) if many else (text,)


def _alone(
    text: str, core: CoreId, lowered: Lowered, tools: Toolchain, run: Workshop, memo: Memo, diag: Sink
) -> str | None:
    """One program after the batch failed."""
    from aiecc.tools.run import ToolFailure

    try:
        return memo.get("translate", (tools.fingerprint, text), lambda: _batch((text,), tools, run), tuple[str, ...])[0]
    except ToolFailure as failed:
        _explain(failed, core, lowered, tools, run, diag)
        return None


def _explain(failed: ToolFailure, core: CoreId, lowered: Lowered, tools: Toolchain, run: Workshop, diag: Sink) -> None:
    """Tell a failure at the user's line, with the help of the text that carries those lines."""
    from aiecc.ir.facts import devices
    from aiecc.ir.outline import Outliner
    from aiecc.ir.text import load
    from aiecc.tools.run import ToolFailure

    where = lowered.design.core(core).where
    if failed.ran is None or failed.ran.returncode < 0 or where is None:
        raise failed
    device = next(d for d in devices(load(lowered.module)) if d.symbol == core.device)
    located = Outliner(device, Sink(), triple="", rename=tools.spec.rename).outline(core, with_locations=True)
    try:
        if located is not None:
            _batch((located.text,), tools, run)
    except ToolFailure as again:
        said = again.ran.output if again.ran is not None else ""
        for match in _LOCATED.finditer(said):
            if match[1] == where.file:
                diag.error(match[4], Span(match[1], int(match[2]), int(match[3])), code="E0102")
                return
    first = failed.diagnostics[0]
    diag.error(f"core {core.at} cannot be lowered to LLVM IR: {first.text}", where, code="E0802", notes=first.notes)
