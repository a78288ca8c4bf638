"""Registers as named bit fields: packing refuses what does not fit, unpacking gives every bit back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


class Unfit(ValueError):
    """A value that its field cannot hold. `field`, `value`, and the bounds `low` and `high`, both inclusive."""

    def __init__(self, field: str, value: int, low: int, high: int) -> None:
        super().__init__(f"{field} = {value} does not fit: its field holds {low} to {high}")
        self.field, self.value, self.low, self.high = field, value, low, high


@dataclass(frozen=True, slots=True)
class Field:
    """Bits `high` to `low` of word `word`. `signed`: two's complement. `scale`: units of the value per unit stored."""

    name: str
    word: int
    high: int
    low: int
    signed: bool = False
    scale: int = 1

    @property
    def mask(self) -> int:
        return (1 << (self.high - self.low + 1)) - 1

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest value, before scaling."""
        if self.signed:
            return -((self.mask + 1) >> 1), self.mask >> 1
        return 0, self.mask


@dataclass(frozen=True)
class Layout:
    """Some words and their fields. Fields must not overlap; bits of no field are kept as `reserved`."""

    name: str
    words: int
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        taken = [0] * self.words
        for field in self.fields:
            bits = field.mask << field.low
            assert field.high < 32 and not taken[field.word] & bits, f"{self.name}: {field.name} overlaps"
            taken[field.word] |= bits

    @cached_property
    def by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}

    @cached_property
    def _packing(self) -> dict[str, tuple[int, int, int, int, int, int]]:
        """By name: word, lowest bit, mask, smallest and largest value stored, scale."""
        return {f.name: (f.word, f.low, f.mask, *f.bounds, f.scale) for f in self.fields}

    @cached_property
    def _unused(self) -> tuple[int, ...]:
        """The bits of each word that no field has."""
        used = [0] * self.words
        for field in self.fields:
            used[field.word] |= field.mask << field.low
        return tuple(~bits & 0xFFFFFFFF for bits in used)

    def pack(self, values: Mapping[str, int]) -> list[int]:
        """The words for some values; fields not named are 0.

        Raises Unfit for a value that does not fit, or one for a field that is not there and is not 0.
        """
        words = [0] * self.words
        known = self._packing
        for name, value in values.items():
            if not value:
                continue
            found = known.get(name)
            if found is None:
                raise Unfit(name, value, 0, 0)
            word, shift, mask, low, high, scale = found
            stored, rest = (value, 0) if scale == 1 else divmod(value, scale)
            if rest or not low <= stored <= high:
                raise Unfit(name, value, low * scale, high * scale)
            words[word] |= (stored & mask) << shift
        return words

    def unpack(self, words: Sequence[int]) -> dict[str, int]:
        """The value of every field, in their order. Raises ValueError for another number of words."""
        if len(words) != self.words:
            raise ValueError(f"{self.name} has {self.words} words, not {len(words)}")
        found: dict[str, int] = {}
        for field in self.fields:
            value = words[field.word] >> field.low & field.mask
            if field.signed and value > field.mask >> 1:
                value -= field.mask + 1
            found[field.name] = value * field.scale
        return found

    def reserved(self, words: Sequence[int]) -> dict[int, int]:
        """Word index -> bits set there that no field has."""
        return {i: word & free for i, (word, free) in enumerate(zip(words, self._unused, strict=True)) if word & free}
