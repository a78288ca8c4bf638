"""ub: poison of any type."""

from __future__ import annotations

from xdsl.dialects import ub
from xdsl.dialects.ub import UB

from aiecc.ir.dialects.upstream.template import template
from aiecc.ir.registry import Form

DIALECT = UB
FORMS: dict[str, Form] = {
    "ub.poison": template(ub.PoisonOp, "{dict} : {T}", "-> T"),
}
