"""parse: from the user's text to a module that is known to be good."""

from __future__ import annotations

from dataclasses import replace

from aiecc.base.diag import Diagnostic, Note, Refused, Sink, refuse
from aiecc.engine.spec import hookimpl
from aiecc.model.artifact import Module, Source


@hookimpl
def aiecc_parse(source: Source, diag: Sink) -> Module:
    """Read and verify. The module is the user's own text, so that positions are those in it."""
    from aiecc.ir.facts import devices
    from aiecc.ir.text import load
    from aiecc.ir.verify import verify

    if not source.text.strip():
        refuse(f"aiecc: input file '{source.path}' is empty; expected MLIR containing an aie.device", code="E0001")
    module = Module(source.text, file=source.path)
    try:
        op = load(module)
    except Refused as refused:
        raise Refused(*(_cut_short(d, source.text) for d in refused.diagnostics)) from None
    diag.extend(verify(op))
    if not diag.failed and not any(devices(op)):
        refuse(f"aiecc: input file '{source.path}' contains no aie.device", code="E0001")
    return module


def _cut_short(found: Diagnostic, text: str) -> Diagnostic:
    """An error behind the last word of the text: most likely a part of the file is missing."""
    if found.where is None or found.code != "E0002":
        return found
    lines = text.splitlines()[found.where.line - 1 :]
    if lines and (lines[0][found.where.col :] + "".join(lines[1:])).strip():
        return found
    return replace(found, notes=(*found.notes, Note("the text ends here: is the file complete?")))
