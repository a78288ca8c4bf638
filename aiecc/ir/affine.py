"""Reading affine maps, sets and index expressions, simplified as MLIR simplifies them while it reads.

xDSL's own parser refuses products of symbols and keeps what MLIR folds, so equal maps would print differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

_Op = AffineBinaryOpKind
_HIGH = {"*": _Op.Mul, "floordiv": _Op.FloorDiv, "ceildiv": _Op.CeilDiv, "mod": _Op.Mod}
Primary = Callable[[], "AffineExpr | None"]


def fail(p: Any, text: str) -> NoReturn:
    p.raise_error(text)
    raise AssertionError("raise_error returned")


# --- building ---------------------------------------------------------------------------------------------------------


def _value(expr: AffineExpr) -> int | None:
    return expr.value if isinstance(expr, AffineConstantExpr) else None


def _symbolic(expr: AffineExpr) -> bool:
    """Made of symbols and constants only."""
    if isinstance(expr, AffineBinaryOpExpr):
        return _symbolic(expr.lhs) and _symbolic(expr.rhs)
    return isinstance(expr, AffineConstantExpr | AffineSymExpr)


def _split(expr: AffineExpr, kind: AffineBinaryOpKind) -> tuple[AffineExpr, int] | None:
    """`x` and `c` of `x kind c`."""
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is kind and (value := _value(expr.rhs)) is not None:
        return expr.lhs, value
    return None


def _factor(expr: AffineExpr) -> tuple[AffineExpr, int]:
    return _split(expr, _Op.Mul) or (expr, 1)


def add(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    a, b = _value(left), _value(right)
    if a is not None and b is not None:
        return AffineConstantExpr(a + b)
    if a is not None or (_symbolic(left) and not _symbolic(right)):
        return add(right, left)
    if b == 0:
        return left
    inner = _split(left, _Op.Add)
    if inner is not None and b is not None:
        return add(inner[0], AffineConstantExpr(inner[1] + b))
    (x, m), (y, n) = _factor(left), _factor(right)
    if b is None and x == y:
        return mul(x, AffineConstantExpr(m + n))
    if inner is not None:  # keep the constant last: (x + c) + y is x + y + c
        return add(add(inner[0], right), AffineConstantExpr(inner[1]))
    whole = _remainder(left, right)
    return whole if whole is not None else AffineBinaryOpExpr(_Op.Add, left, right)


def _remainder(left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    """`x - (x floordiv c) * c` is `x mod c`."""
    product = _split(right, _Op.Mul)
    quotient = None if product is None else _split(product[0], _Op.FloorDiv)
    if product is not None and quotient is not None and quotient[0] == left and quotient[1] == -product[1]:
        return mod(left, AffineConstantExpr(quotient[1]))
    return None


def mul(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    a, b = _value(left), _value(right)
    if a is not None and b is not None:
        return AffineConstantExpr(a * b)
    if a is not None or (_symbolic(left) and not _symbolic(right)):
        return mul(right, left)
    if b == 1:
        return left
    if b == 0:
        return right
    inner = _split(left, _Op.Mul)
    if inner is not None:
        if b is not None:
            return mul(inner[0], AffineConstantExpr(inner[1] * b))
        return mul(mul(inner[0], right), AffineConstantExpr(inner[1]))
    return AffineBinaryOpExpr(_Op.Mul, left, right)


def _division(kind: AffineBinaryOpKind, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    a, b = _value(left), _value(right)
    if b is not None and b > 0:
        if a is not None:
            return AffineConstantExpr(a // b if kind is _Op.FloorDiv else -(-a // b))
        if b == 1:
            return left
        inner = _split(left, _Op.Mul)
        if inner is not None and inner[1] % b == 0:
            return mul(inner[0], AffineConstantExpr(inner[1] // b))
    return AffineBinaryOpExpr(kind, left, right)


def mod(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    a, b = _value(left), _value(right)
    if b is not None and b > 0:
        if a is not None:
            return AffineConstantExpr(a % b)
        if b == 1 or _factor(left)[1] % b == 0:
            return AffineConstantExpr(0)
    return AffineBinaryOpExpr(_Op.Mod, left, right)


def binary(kind: AffineBinaryOpKind, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    if kind is _Op.Add:
        return add(left, right)
    if kind is _Op.Mul:
        return mul(left, right)
    return mod(left, right) if kind is _Op.Mod else _division(kind, left, right)


def negate(expr: AffineExpr) -> AffineExpr:
    return mul(expr, AffineConstantExpr(-1))


# --- reading ----------------------------------------------------------------------------------------------------------


def read_expr(p: Any, primary: Primary) -> AffineExpr:
    """A sum; `primary` reads what stands for a dimension or symbol, or gives None."""
    left = _product(p, primary)
    while True:
        if p.parse_optional_punctuation("+") is not None:
            left = add(left, _product(p, primary))
        elif p.parse_optional_punctuation("-") is not None:
            left = add(left, negate(_product(p, primary)))
        else:
            return left


def _product(p: Any, primary: Primary) -> AffineExpr:
    left = _primary(p, primary)
    while (kind := _HIGH.get(p.token().text)) is not None:
        at = p.token().start
        p.advance()
        right = _primary(p, primary)
        if kind is _Op.Mul:
            if not (_symbolic(left) or _symbolic(right)):
                p.raise_error(
                    "non-affine expression: at least one of the multiply operands has to be either a constant or "
                    "symbolic",
                    at,
                )
        elif not _symbolic(right):
            p.raise_error(
                f"non-affine expression: right operand of {kind.get_token()} has to be either a constant or symbolic",
                at,
            )
        left = binary(kind, left, right)
    return left


def _primary(p: Any, primary: Primary) -> AffineExpr:
    token = p.token()
    if token.kind is Kind.INTEGER_LIT:
        p.advance()
        return AffineConstantExpr(int(token.text, 0) if "x" in token.text else int(token.text))
    if p.parse_optional_punctuation("(") is not None:
        inner = read_expr(p, primary)
        p.parse_punctuation(")")
        return inner
    if p.parse_optional_punctuation("-") is not None:
        return negate(_primary(p, primary))
    found = primary()
    return fail(p, "expected affine expression") if found is None else found


def _space(p: Any) -> tuple[dict[str, AffineExpr], int, int]:
    """`(d0, d1)[s0]`"""
    names: dict[str, AffineExpr] = {}
    counts = [0, 0]

    def one(index: int, make: Callable[[int], AffineExpr]) -> None:
        token = p.token()
        name = p.parse_optional_identifier()
        if name is None:
            fail(p, "expected bare identifier")
        if name in names:
            p.raise_error(f"redefinition of identifier '{name}'", token.start)
        names[name] = make(counts[index])
        counts[index] += 1

    p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: one(0, AffineExpr.dimension))
    if p.token().kind is Kind.L_SQUARE:
        p.parse_comma_separated_list(p.Delimiter.SQUARE, lambda: one(1, AffineExpr.symbol))
    return names, counts[0], counts[1]


def _named(p: Any, names: dict[str, AffineExpr]) -> Primary:
    def primary() -> AffineExpr | None:
        token = p.token()
        if token.kind is not Kind.BARE_IDENT:
            return None
        if token.text not in names:
            p.raise_error("use of undeclared identifier", token.start)
        p.advance()
        return names[token.text]

    return primary


def read_map(p: Any) -> AffineMap:
    """`(d0)[s0] -> (d0 + s0)`"""
    names, dims, symbols = _space(p)
    p.parse_punctuation("->")
    primary = _named(p, names)
    results = p.parse_comma_separated_list(p.Delimiter.PAREN, lambda: read_expr(p, primary))
    return AffineMap(dims, symbols, tuple(results))


def read_set(p: Any) -> AffineSet:
    """`(d0)[s0] : (d0 - s0 >= 0, d0 == 3)`; every constraint is brought to the form `.. >= 0` or `.. == 0`."""
    names, dims, symbols = _space(p)
    p.parse_punctuation(":")
    primary = _named(p, names)

    def constraint() -> AffineConstraintExpr:
        left = read_expr(p, primary)
        word = p.token().text
        if word not in (">", "<", "="):
            p.raise_error("expected '==', '<=' or '>='")
        p.advance()
        p.parse_punctuation("=", " in affine constraint")
        right = read_expr(p, primary)
        if word == "<":
            left, right = right, left
        kind = AffineConstraintKind.eq if word == "=" else AffineConstraintKind.ge
        return AffineConstraintExpr(kind, add(left, negate(right)), AffineConstantExpr(0))

    constraints = p.parse_comma_separated_list(p.Delimiter.PAREN, constraint)
    return AffineSet(dims, symbols, tuple(constraints))
