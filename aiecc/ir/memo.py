"""Answers that hold as long as nobody changes the IR: what one verification asks again and again is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

T = TypeVar("T")

_answers: ContextVar[dict[Hashable, object] | None] = ContextVar("answers", default=None)


@contextmanager
def unchanging() -> Generator[None]:
    """Promise that the IR stays as it is until the end: answers of `remembered` are kept until then."""
    token = _answers.set({})
    try:
        yield
    finally:
        _answers.reset(token)


def remembered(question: Hashable, answer: Callable[[], T]) -> T:
    """The answer to a question, kept where `unchanging` was promised and worked out anew elsewhere."""
    known = _answers.get()
    if known is None:
        return answer()
    if question not in known:
        known[question] = answer()
    return cast(T, known[question])
