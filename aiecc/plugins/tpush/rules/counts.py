"""How often something runs, as a polynomial in trip counts and conditions: equal ones are equal on every path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from aiecc.plugins.tpush.model import Branch, Loop, Op

Term = tuple[str, ...]
"""A product of trip counts and conditions, sorted; the empty one is 1. A condition is 1 where it holds, else 0."""
Count = Counter[Term]


def count(ops: tuple[Op, ...], wanted: Callable[[Op], bool]) -> Count:
    """How many of the wanted ops a run meets."""
    total: Count = Counter()
    _add(ops, wanted, (), 1, total)
    return Counter({term: number for term, number in total.items() if number})


def _add(ops: tuple[Op, ...], wanted: Callable[[Op], bool], factors: Term, times: int, total: Count) -> None:
    for op in ops:
        if isinstance(op, Loop):
            if isinstance(op.trips, int):
                _add(op.body, wanted, factors, times * op.trips, total)
            else:
                _add(op.body, wanted, tuple(sorted((*factors, op.trips))), times, total)
        elif isinstance(op, Branch):
            # p * then + (1 - p) * else; p * p is p.
            holds = tuple(sorted({*factors, f"[{op.condition}]"})) if _condition(factors, op) else factors
            _add(op.then, wanted, holds, times, total)
            _add(op.orelse, wanted, factors, times, total)
            _add(op.orelse, wanted, holds, -times, total)
        elif wanted(op):
            total[factors] += times


def _condition(factors: Term, op: Branch) -> bool:
    return f"[{op.condition}]" not in factors


def said(total: Count) -> str:
    """`2 * n + 1`; conditions as `[p]`."""
    if not total:
        return "0"
    parts: list[str] = []
    for term, number in sorted(total.items(), key=lambda item: (-len(item[0]), item[0])):
        text = " * ".join((*(() if abs(number) == 1 and term else (str(abs(number)),)), *term))
        sign = "-" if number < 0 else "+"
        parts.append(f"{sign} {text}" if parts else f"{'-' if number < 0 else ''}{text}")
    return " ".join(parts)


def number(total: Count) -> int | None:
    """The count when it is one."""
    if not total:
        return 0
    return total[()] if set(total) == {()} else None
