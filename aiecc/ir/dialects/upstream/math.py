"""math: ops xDSL lacks."""

from __future__ import annotations

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.math import Math
from xdsl.ir import Operation

from aiecc.ir.dialects.upstream.common import PURE, define, extend
from aiecc.ir.dialects.upstream.flags import FAST
from aiecc.ir.dialects.upstream.template import template
from aiecc.ir.registry import Form

_FLOAT = (
    "absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 floor log log10 log1p log2 "
    "round roundeven rsqrt sin sinh sqrt tan tanh trunc"
)
_TESTS = "isfinite isinf isnan isnormal"
_INT = "absi ctlz cttz ctpop"
_DEFAULTS = {"fastmath": FastMathFlagsAttr("none")}

_missing: dict[str, type[Operation]] = {
    name: define(f"math.{name}", PURE, props="fastmath", defaults=dict(_DEFAULTS))
    for name in ("erfc", "sincos", "clampf", *_TESTS.split())
}
DIALECT = extend(Math, _missing.values())


def _forms() -> dict[str, Form]:
    ops = {op.name.removeprefix("math."): op for op in DIALECT.operations}
    codecs = {"fast": FAST}

    def add(names: str, text: str, signature: str) -> None:
        for name in names.split():
            forms[f"math.{name}"] = template(ops[name], text, signature, codecs)

    forms: dict[str, Form] = {}
    add(_FLOAT, " {a}{fast}{dict} : {T}", "a:T -> T")
    add(_TESTS, " {a}{fast}{dict} : {T}", "a:T -> bool(T)")
    add(_INT, " {a}{dict} : {T}", "a:T -> T")
    add("atan2 copysign powf", " {a}, {b}{fast}{dict} : {T}", "a:T b:T -> T")
    add("ipowi", " {a}, {b}{dict} : {T}", "a:T b:T -> T")
    add("fpowi", " {a}, {b}{fast}{dict} : {T}, {E}", "a:T b:E -> T")
    add("fma", " {a}, {b}, {c}{fast}{dict} : {T}", "a:T b:T c:T -> T")
    add("clampf", " {a} to [{b}, {c}]{fast}{dict} : {T}", "a:T b:T c:T -> T")
    forms["math.sincos"] = template(
        ops["sincos"], " {a}{fast}{dict} : {T}", "a:T -> T T", codecs, lambda op: ["sin", "cos"]
    )
    return forms


FORMS = _forms()
