"""Scalar ops as Python expressions: what the arith and index dialects mean, an entry an op."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr, VectorType
from xdsl.ir import Attribute, Operation

from aiecc.sim.numbers import bits, rounding, wrapped


class NotModelled(Exception):
    """The op has no meaning here; the text says why."""


def wrap(text: str, type: Attribute) -> str:
    """An integer expression brought back to its width."""
    width = bits(type)
    if width is None:
        raise NotModelled("only scalars are computed")
    if type.name == "index":
        return text
    if width == 1:
        return f"(({text}) & 1)"
    half = 1 << (width - 1)
    return f"((({text}) + {half} & {2 * half - 1}) - {half})"


def unsigned(text: str, type: Attribute) -> str:
    width = bits(type)
    if width is None:
        raise NotModelled("only scalars are computed")
    return f"({text} & {(1 << width) - 1})"


def rounded(text: str, type: Attribute) -> str:
    name = rounding(type)
    if name is None:
        raise NotModelled("only scalars are computed")
    return f"{name}({text})"


def literal(value: Attribute) -> str:
    """A constant attribute in Python."""
    if isinstance(value, IntegerAttr):
        if isinstance(value.type, IndexType):
            # Loops that mean for ever count to more than a word holds; compiled code counts those in 64 bits.
            return repr(value.value.data)
        width = bits(value.type)
        return repr(wrapped(value.value.data, width or 64))
    if isinstance(value, FloatAttr):
        number = value.value.data
        return rounded(f"float({str(number)!r})", value.type)
    if isinstance(value, DenseIntOrFPElementsAttr) and isinstance(value.type, VectorType):
        kind: Attribute = value.type.element_type
        count = prod(value.type.get_shape())
        numbers = list(value.get_values())
        lanes = [_lane(n, kind) for n in (numbers * count if len(numbers) == 1 else numbers)]
        return f"({''.join(f'{lane}, ' for lane in lanes)})"
    raise NotModelled("only scalar constants are computed")


def _lane(value: float, type: Attribute) -> str:
    width = bits(type)
    return rounded(f"float({str(value)!r})", type) if width is None else repr(wrapped(int(value), width))


Args = list[str]
Expr = Callable[[Operation, Args], str]


def _int(form: str) -> Expr:
    return lambda op, a: wrap(form.format(*a), op.results[0].type)


def _uint(form: str) -> Expr:
    def make(op: Operation, a: Args) -> str:
        type = op.results[0].type
        return wrap(form.format(*(unsigned(x, type) for x in a)), type)

    return make


def _float(form: str) -> Expr:
    return lambda op, a: rounded(form.format(*a), op.results[0].type)


def _plain(form: str) -> Expr:
    return lambda op, a: form.format(*a)


def _shifted(form: str, of_unsigned: bool = False) -> Expr:
    def make(op: Operation, a: Args) -> str:
        type = op.results[0].type
        value = unsigned(a[0], type) if of_unsigned else a[0]
        return wrap(form.format(value, f"shift({a[1]}, {bits(type)})"), type)

    return make


_SIGNED = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">=", 6: "<", 7: "<=", 8: ">", 9: ">="}
_FLOAT = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 6: "!="}
_INDEX = {
    "eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5, "ult": 6, "ule": 7, "ugt": 8, "uge": 9,
}  # fmt: skip


def _attribute(op: Operation, *keys: str) -> Attribute | None:
    """The first there is. (An attribute may be false: no `or` here.)"""
    return next((d[key] for key in keys for d in (op.properties, op.attributes) if key in d), None)


def _predicate(op: Operation) -> int:
    value = _attribute(op, "predicate", "pred")
    if isinstance(value, IntegerAttr):
        return value.value.data
    word = str(value).rpartition("predicate ")[2].strip("<> ")
    if word not in _INDEX:
        raise NotModelled("its predicate is not known")
    return _INDEX[word]


def _cmpi(op: Operation, a: Args) -> str:
    predicate = _predicate(op)
    type = op.operands[0].type
    if bits(type) is None:
        raise NotModelled("only scalars are computed")
    if bits(type) == 1 and 2 <= predicate <= 5:
        a = [f"-{x}" for x in a]
    if predicate >= 6:
        a = [unsigned(x, type) for x in a]
    return f"({a[0]} {_SIGNED[predicate]} {a[1]})"


def _cmpf(op: Operation, a: Args) -> str:
    predicate = _predicate(op)
    unordered = f"({a[0]} != {a[0]} or {a[1]} != {a[1]})"
    if predicate in (0, 15):
        return "False" if predicate == 0 else "True"
    if predicate == 7:
        return f"(not {unordered})"
    if predicate == 14:
        return unordered
    if predicate < 7:
        return f"(not {unordered} and {a[0]} {_FLOAT[predicate]} {a[1]})"
    return f"({unordered} or {a[0]} {_FLOAT[predicate - 7]} {a[1]})"


def _extsi(op: Operation, a: Args) -> str:
    return f"(-{a[0]})" if bits(op.operands[0].type) == 1 else a[0]


def _extui(op: Operation, a: Args) -> str:
    return unsigned(a[0], op.operands[0].type)


def _cast(op: Operation, a: Args) -> str:
    """index_cast: sign-extends or cuts; an i1 is -1 when set."""
    return wrap(_extsi(op, a), op.results[0].type)


def _castu(op: Operation, a: Args) -> str:
    return wrap(unsigned(a[0], op.operands[0].type), op.results[0].type)


def _sitofp(op: Operation, a: Args) -> str:
    return rounded(f"float({_extsi(op, a)})", op.results[0].type)


def _uitofp(op: Operation, a: Args) -> str:
    return rounded(f"float({_extui(op, a)})", op.results[0].type)


def _constant(op: Operation, a: Args) -> str:
    value = _attribute(op, "value")
    if value is None:
        raise NotModelled("it has no value")
    return literal(value)


def _word(type: Attribute) -> str:
    return f"i{bits(type)}" if bits(type) is not None else rounding(type) or "f64"


def _bitcast(op: Operation, a: Args) -> str:
    return f"bitcast({a[0]}, {_word(op.operands[0].type)!r}, {_word(op.results[0].type)!r})"


_SHARED: dict[str, Expr] = {
    "constant": _constant,
    "ceildivsi": _int("ceildivs({0}, {1})"),
    "ceildivui": _uint("ceildivs({0}, {1})"),
    "shli": _shifted("{0} << {1}"),
    "shrsi": _shifted("{0} >> {1}"),
    "shrui": _shifted("{0} >> {1}", True),
    "maxsi": _plain("max({0}, {1})"),
    "minsi": _plain("min({0}, {1})"),
    "maxui": _uint("max({0}, {1})"),
    "minui": _uint("min({0}, {1})"),
}

_REALS = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor",
    "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip

EXPRESSIONS: dict[str, Expr] = {
    **{f"arith.{name}": make for name, make in _SHARED.items()},
    "arith.addi": _int("{0} + {1}"),
    "arith.subi": _int("{0} - {1}"),
    "arith.muli": _int("{0} * {1}"),
    "arith.divsi": _int("divs({0}, {1})"),
    "arith.divui": _uint("floordivs({0}, {1})"),
    "arith.remsi": _int("rems({0}, {1})"),
    "arith.remui": _uint("rems({0}, {1})"),
    "arith.floordivsi": _int("floordivs({0}, {1})"),
    "arith.andi": _plain("({0} & {1})"),
    "arith.ori": _plain("({0} | {1})"),
    "arith.xori": _plain("({0} ^ {1})"),
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _plain("({1} if {0} else {2})"),
    "arith.extsi": _extsi,
    "arith.extui": _extui,
    "arith.trunci": _int("{0}"),
    "arith.index_cast": _cast,
    "arith.index_castui": _castu,
    "arith.sitofp": _sitofp,
    "arith.uitofp": _uitofp,
    "arith.fptosi": _int("fptosi({0})"),
    "arith.fptoui": _int("fptosi({0})"),
    "arith.extf": _plain("{0}"),
    "arith.truncf": _float("{0}"),
    "arith.bitcast": _bitcast,
    "arith.addf": _float("{0} + {1}"),
    "arith.subf": _float("{0} - {1}"),
    "arith.mulf": _float("{0} * {1}"),
    "arith.divf": _float("divf({0}, {1})"),
    "arith.remf": _float("remf({0}, {1})"),
    "arith.negf": _plain("(-{0})"),
    "arith.maximumf": _plain("maximumf({0}, {1})"),
    "arith.minimumf": _plain("minimumf({0}, {1})"),
    "arith.maxnumf": _plain("maxnumf({0}, {1})"),
    "arith.minnumf": _plain("minnumf({0}, {1})"),
    **{f"math.{name}": _float(f"real({name!r}, {{0}})") for name in _REALS},
    "math.absf": _plain("abs({0})"),
    "math.absi": _int("abs({0})"),
    "math.fma": _float("{0} * {1} + {2}"),
    "math.powf": _float("power({0}, {1})"),
    "math.atan2": _float("atan2({0}, {1})"),
    "math.copysign": _float("copysign({0}, {1})"),
    "index.constant": _constant,
    "index.add": _int("{0} + {1}"),
    "index.sub": _int("{0} - {1}"),
    "index.mul": _int("{0} * {1}"),
    "index.divs": _int("divs({0}, {1})"),
    "index.divu": _uint("floordivs({0}, {1})"),
    "index.rems": _int("rems({0}, {1})"),
    "index.remu": _uint("rems({0}, {1})"),
    "index.cmp": _cmpi,
    "index.casts": _cast,
    "index.castu": _castu,
}


@dataclass(frozen=True)
class _Typed:
    type: Attribute


class _Lane:
    """One lane of an op on vectors: the same op on elements."""

    def __init__(self, op: Operation) -> None:
        self.name = op.name
        self.properties = op.properties
        self.attributes = op.attributes
        self.operands = [_Typed(_lane_type(v.type)) for v in op.operands]
        self.results = [_Typed(_lane_type(v.type)) for v in op.results]


def _lane_type(type: Attribute) -> Attribute:
    return type.element_type if isinstance(type, VectorType) else type


def scalar(op: Operation, args: Args) -> str | None:
    """The op as an expression over its operands' names, lane by lane for vectors; None when it is no op of ours."""
    make = EXPRESSIONS.get(op.name)
    if make is None:
        return None
    lanes = [at for at, v in enumerate(op.operands) if isinstance(v.type, VectorType)]
    if not lanes or (op.name == "arith.select" and 0 not in lanes):
        return make(op, args)
    inner = [f"a{at}" if at in lanes else text for at, text in enumerate(args)]
    lane: Any = _Lane(op)
    heads = ", ".join(inner[at] for at in lanes)
    tails = ", ".join(args[at] for at in lanes)
    return f"tuple([{make(lane, inner)} for {heads}, in zip({tails})])"
