"""All rules of the folder, by the name of the op they are for."""

from __future__ import annotations

from aiecc.ir.fold import algebra, branches, locks, structured, whiles
from aiecc.ir.fold.rewrite import Rule

RULES: dict[str, tuple[Rule, ...]] = {
    **algebra.RULES,
    **structured.RULES,
    **whiles.RULES,
    **branches.RULES,
    **locks.RULES,
}
