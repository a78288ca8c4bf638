"""Names that mean two things: what a script calls a buffer, and what an object calls a function or a variable.

The linker lets the script win without a word, and everybody who meant the other one reads or calls the wrong address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aiecc.base.diag import Diagnostic, Level, Note
from aiecc.base.spans import Span
from aiecc.elf.inputs import InputObject
from aiecc.elf.read import Image
from aiecc.model.design import BufferFacts
from aiecc.model.ids import CoreId


def check_names(
    core: CoreId, where: Span | None, buffers: Iterable[BufferFacts], image: Image, inputs: Sequence[InputObject]
) -> list[Diagnostic]:
    """Buffers whose names some input defines, at the buffer; and a `main` that is not the core, at the core.

    `buffers`: those of the core's device; `inputs`: the objects it was linked from, the core's own first.
    """
    homes: dict[str, str] = {}
    for each in inputs:
        for s in each.image.symbols:
            if s.defined and s.is_exported:
                homes.setdefault(s.name, each.name)
    found = [
        Diagnostic(
            Level.ERROR,
            f"'aie.buffer' op a buffer cannot be named '{b.name}': {homes[b.name]} defines a symbol of that name, and "
            "the linker would put the one in place of the other",
            b.where,
            "E0601",
            todo="rename the buffer, or make the symbol static",
        )
        for b in buffers
        if b.name in homes
    ]
    if "main" in homes and inputs and homes["main"] != inputs[0].name:
        values = {s.name: s.value for s in image.symbols if s.name in ("main", core.label)}
        if values.get("main") != values.get(core.label):
            found.append(
                Diagnostic(
                    Level.ERROR,
                    f"core {core.at} never runs: {homes['main']} defines 'main', which start-up code calls instead",
                    where,
                    "E0601",
                    (Note(f"the core is '{core.label}'"),),
                    "rename that function",
                )
            )
    return found
