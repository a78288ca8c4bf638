"""Did you mean ...? The one place that guesses what a misspelled name should have been."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name most like `name`, or None when none is like it."""
    import difflib  # slow to import, and only a failing build comes here

    found = difflib.get_close_matches(name, sorted(set(names)), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing."""
    guess = nearest(name, names)
    return f"; did you mean '{guess}'?" if guess else ""
