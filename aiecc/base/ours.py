"""Plugins that come with the house, as any other plugin would announce itself: nothing here imports them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ours:
    """`dialects`: those it brings, by name. The module is imported when a design or a build first needs it."""

    name: str
    module: str
    dialects: tuple[str, ...] = ()


OURS = (Ours("tpush", "aiecc.plugins.tpush", ("pto",)),)


def home(dialect: str) -> Ours | None:
    """Our plugin that brings a dialect."""
    return next((each for each in OURS if dialect in each.dialects), None)
