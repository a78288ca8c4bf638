"""Folding of core code: what is known before the program runs is computed now.

`fold(core)` is the door; read `rewrite.py` first, then the rules it applies (`scalars`, `algebra`, `structured`,
`whiles`, `branches`), then `sccp.py`, which follows values around loops. `unroll.py` copies loop bodies.
Everything works on one program, the op whose first region is given: an `aie.core` or a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation

__all__ = ["fold", "tidy"]


def tidy(program: Operation) -> bool:
    """Bring a program into its canonical form: constants folded and gathered at its head, loops that run once or never
    and branches that are decided gone, values that no loop changes no longer carried, nothing computed for nothing.
    Says whether anything changed.
    """
    from aiecc.ir.fold.rewrite import Tidy
    from aiecc.ir.fold.rules import RULES

    return Tidy(program, RULES).run()


def fold(program: Operation) -> bool:
    """`tidy`, then replace the values that are the same in every run, and `tidy` again.

    Says whether anything changed.
    """
    from aiecc.ir.fold.rewrite import Tidy
    from aiecc.ir.fold.rules import RULES
    from aiecc.ir.fold.sccp import find_constants, replace_constants

    if not program.regions or not program.regions[0].blocks:
        return False
    work = Tidy(program, RULES)
    changed = work.run()
    replaced = replace_constants(work, find_constants(program))
    return (work.run() if replaced else False) or changed
