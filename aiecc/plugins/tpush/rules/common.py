"""What rules have in common: how they report, and the words for directions and places."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from aiecc.api import Note, Sink, span_of
from aiecc.plugins.tpush.memories import MEMORIES
from aiecc.plugins.tpush.model import Direction, Kind, Platform, Site, Space

CODE = "E1201"


def tell(
    diag: Sink, at: Operation | Site, text: str, notes: Iterable[tuple[str, Operation | Site]] = (), todo: str = ""
) -> None:
    """An error at an op, with notes at others."""
    made = [Note(words, _where(place)) for words, place in notes]
    diag.error(text, _where(at), code=CODE, notes=made, todo=todo)


def _where(place: Operation | Site):
    return place.where if isinstance(place, Site) else span_of(place)


def way(direction: Direction) -> str:
    return "Cube to Vector" if direction is Direction.C2V else "Vector to Cube"


def core(kind: Kind) -> str:
    return "the Cube" if kind is Kind.CUBE else "a Vector core"


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def memory_name(platform: Platform, space: Space) -> str:
    """As the hardware calls it, with the dialect's word: `UB (vec)`."""
    found = MEMORIES[platform].get(space)
    return "global memory" if found is None else f"{found.title} ({space.value})"


def up(number: int, multiple: int) -> int:
    """The next multiple."""
    return -(-number // multiple) * multiple
