"""parse: from the user's text to a module that is known to be good."""

from __future__ import annotations

from aiecc.base.diag import Sink, refuse
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
    op = load(module)
    diag.extend(verify(op))
    if not diag.failed and not any(devices(op)):
        refuse(f"aiecc: input file '{source.path}' contains no aie.device", code="E0001")
    return module
