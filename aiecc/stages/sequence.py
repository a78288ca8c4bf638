"""sequence: runtime sequences to plain instructions."""

from __future__ import annotations

from aiecc.base.diag import Sink
from aiecc.choices import SequenceOptions
from aiecc.engine.spec import hookimpl
from aiecc.model.artifact import Module
from aiecc.model.build import Placement


@hookimpl
def aiecc_sequence(placement: Placement, sequencing: SequenceOptions, diag: Sink) -> Module | None:
    """Run the passes of `aiecc.model.recipe.sequence_recipe` on the placed design."""
    from aiecc.ir.lowering import follow
    from aiecc.ir.text import dump, thaw
    from aiecc.model.recipe import sequence_recipe

    op = thaw(placement.module)
    if not follow(op, sequence_recipe(queue_check=sequencing.queue_check), diag):
        return None
    return dump(op)
