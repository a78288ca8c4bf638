"""Enumerations that the IR stores as numbers and prints as words."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class Words(IntEnum):
    """An integer enumeration whose members are spelt `word` in the text of an op."""

    word: str

    def __new__(cls, value: int, word: str) -> Self:
        self = int.__new__(cls, value)
        self._value_ = value
        self.word = word
        return self

    def __str__(self) -> str:
        return self.word

    def __bool__(self) -> bool:
        """A member is there, whatever its number."""
        return True

    @classmethod
    def named(cls, word: str) -> Self | None:
        """The member spelt `word`."""
        return next((m for m in cls if m.word == word), None)

    @classmethod
    def numbered(cls, value: int) -> Self | None:
        """The member stored as `value`."""
        return next((m for m in cls if m.value == value), None)

    @classmethod
    def listed(cls) -> str:
        return ", ".join(m.word for m in cls)
